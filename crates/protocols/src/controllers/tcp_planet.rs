//! TCP-Planet: a rate that grows and shrinks by how many packets of low priority get through beside
//! those of normal priority, as Grieco and Mascolo describe it ("A Congestion Control Algorithm for
//! the Planetary Internet", IFAC 2005, section 1) after Akyildiz, Akan and Fang ("TCP-Planet", IEEE
//! JSAC 22(2), 2004).
//!
//! Every packet is followed by `low_share` copies of low priority. At the end of each period, a round
//! trip, phi = Nlow/Nhigh of the arrivals: below `phi_decrease` the rate is multiplied by `decrease`,
//! above `phi_increase` it grows, in between it stays. A packet that is lost at random leaves phi as it
//! is. Growth is that of a connection whose round trip is `reference_rtt`: one packet per reference
//! round trip in each of them, and at most to the double, so that a long path does not slow it.
//!
//! Before the first report one packet leaves every `start_step`, and copies of low priority whose rate
//! doubles as often, up to `rate_max` (immediate start); how fast they arrive is the first rate of data.
//! Needs queues with priorities: where copies are as good as data, phi says nothing.

use super::{Ack, Advice, ArrivalCounts, Cause, Controller, ControllerEvent, Flow, Loss};
use crate::math;
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "tcp_planet",
    paper: "Akyildiz, Akan and Fang, TCP-Planet: a reliable transport protocol for InterPlaNetary Internet (2004)",
    parameters: &[
        Parameter::number("phi_decrease", "", 0.1, (0.0, 10.0), "The rate shrinks below this Nlow/Nhigh."),
        Parameter::number("phi_increase", "", 0.3, (0.0, 10.0), "The rate grows above this Nlow/Nhigh."),
        Parameter::number("low_share", "", 1.0, (0.01, 8.0), "Copies of low priority for each packet."),
        Parameter::number("decrease", "", 0.875, (0.1, 0.999), "What the rate is multiplied by."),
        Parameter::number(
            "reference_rtt",
            "s",
            0.2,
            (0.001, 1000.0),
            "The rate grows as at this round trip.",
        ),
        Parameter::number("start_step", "s", 0.5, (0.001, 1e6), "Time in which the first rate doubles."),
        Parameter::number("rate_max", "bit/s", 1e7, (1e3, 1e12), "The rate is cut here."),
    ],
    only_with: &["tcp"],
    build: |parameters, flow| {
        Box::new(TcpPlanet {
            packet_bits: flow.packet.0 as f64 * 8.0,
            phi_decrease: parameters.number("phi_decrease"),
            phi_increase: parameters.number("phi_increase"),
            low_share: parameters.number("low_share"),
            decrease: parameters.number("decrease"),
            reference_rtt: parameters.number("reference_rtt"),
            start_step: parameters.number("start_step"),
            rate_max: parameters.number("rate_max"),
            rtt: None,
            phase: Phase::Opening,
            arrivals: ArrivalCounts::default(),
            // Also where the round trip of the opening is no measurement, as that was lost once.
            rate: flow.packet.0 as f64 * 8.0 / parameters.number("start_step"),
            phi: f64::NAN,
        })
    },
};

struct TcpPlanet {
    packet_bits: f64,
    phi_decrease: f64,
    phi_increase: f64,
    low_share: f64,
    decrease: f64,
    reference_rtt: f64,
    start_step: f64,
    rate_max: f64,
    rtt: Option<Duration>,
    phase: Phase,
    /// The most that was reported of.
    arrivals: ArrivalCounts,
    /// Of data, in bit/s.
    rate: f64,
    phi: f64,
}

#[derive(Clone, Copy)]
enum Phase {
    /// The round trip is not known.
    Opening,
    /// Immediate start, since then; the steps behind, and what the newest span began with.
    Start { since: Instant, steps: u32, arrivals: Option<Arrival> },
    /// A measurement period that began so.
    Steady(Arrival),
}

/// What had arrived when an acknowledgement came.
#[derive(Clone, Copy)]
struct Arrival {
    at: Instant,
    arrivals: ArrivalCounts,
}

/// Time over which the first rate is taken, in steps of the start.
const START_SPAN: f64 = 2.0;

impl TcpPlanet {
    fn step(&self) -> Duration {
        Duration::from_secs_f64(self.start_step)
    }
    /// Steps in which copies leave ever faster.
    fn steps(&self) -> u32 {
        let doublings =
            math::log(self.rate_max * self.start_step / self.packet_bits) / core::f64::consts::LN_2;
        doublings.max(1.0) as u32
    }
    /// The fastest that anything arrived over [`START_SPAN`] is what the link has to give.
    fn watch_start(
        &mut self,
        now: Instant,
        arrivals: ArrivalCounts,
        since: Option<Arrival>,
    ) -> Option<Arrival> {
        let Some(begun) = since else { return Some(Arrival { at: now, arrivals }) };
        let span = (now - begun.at).as_secs_f64();
        if span < START_SPAN * self.start_step {
            return since;
        }
        let packets = (arrivals.high + arrivals.low) - (begun.arrivals.high + begun.arrivals.low);
        self.rate = self.rate.max(packets as f64 * self.packet_bits / span);
        Some(Arrival { at: now, arrivals })
    }
    fn end_of_period(&mut self, begun: Arrival, arrivals: ArrivalCounts, span: f64) {
        let high = arrivals.high - begun.arrivals.high;
        if high == 0 {
            return;
        }
        self.phi = (arrivals.low - begun.arrivals.low) as f64 / high as f64;
        let phi = self.phi / self.low_share;
        if phi < self.phi_decrease {
            self.rate *= self.decrease;
        } else if phi > self.phi_increase {
            let gain = self.packet_bits / (self.reference_rtt * self.reference_rtt) * span;
            self.rate += gain.min(self.rate * (self.phi / (1.0 + self.low_share)).min(1.0));
        }
        self.rate = self.rate.max(self.packet_bits / span.max(1e-3)).min(self.rate_max);
    }
}

impl Controller for TcpPlanet {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = Some(self.rtt.map_or(rtt, |least| least.min(rtt)));
        }
        // A smaller count is from a reordered report.
        let arrivals = ack.arrivals.map(|reported| {
            let ArrivalCounts { high, low } = self.arrivals;
            self.arrivals = ArrivalCounts { high: high.max(reported.high), low: low.max(reported.low) };
            self.arrivals
        });
        let Some(rtt) = self.rtt else { return };
        match self.phase {
            Phase::Opening => {
                self.rate = self.packet_bits / self.start_step;
                self.phase = Phase::Start { since: ack.now, steps: 0, arrivals: None };
            }
            Phase::Start { since, steps, arrivals: begun } => {
                let Some(fresh) = arrivals else { return };
                let arrivals = self.watch_start(ack.now, fresh, begun);
                let length = self.start_step * (f64::from(self.steps()) + 2.0 * START_SPAN);
                self.phase = if ack.now - since < rtt + Duration::from_secs_f64(length) {
                    Phase::Start { since, steps, arrivals }
                } else {
                    Phase::Steady(Arrival { at: ack.now, arrivals: fresh })
                };
            }
            Phase::Steady(begun) => {
                let Some(arrivals) = arrivals.filter(|_| ack.now - begun.at >= rtt) else { return };
                self.end_of_period(begun, arrivals, (ack.now - begun.at).as_secs_f64());
                self.phase = Phase::Steady(Arrival { at: ack.now, arrivals });
            }
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Timeout {
            self.rate *= self.decrease;
        }
    }
    fn on_event(&mut self, _: Instant, event: &ControllerEvent) {
        if let (ControllerEvent::Deadline, Phase::Start { steps, .. }) = (event, &mut self.phase) {
            *steps += 1;
        }
    }
    fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Start { since, steps, .. } if steps < self.steps() => {
                Some(since + self.step() * i64::from(steps + 1))
            }
            _ => None,
        }
    }
    fn window(&self) -> Bytes {
        Bytes::MAX
    }
    fn rate(&self) -> Option<BitRate> {
        Some(BitRate(self.rate as u64))
    }
    fn advice(&self) -> Advice {
        let low_priority_copies = match self.phase {
            Phase::Start { steps, .. } if steps < self.steps() => math::pow(2.0, f64::from(steps)),
            _ => self.low_share,
        };
        Advice { low_priority_copies, ..Advice::NONE }
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("rate", self.rate));
        seen.push(("phi", self.phi));
    }
}
