//! Vegas: keeps between `alpha` and `beta` segments in the queues of the path, by the difference
//! between the rate that it expects and the one it gets (Brakmo and Peterson, "TCP Vegas: End to End
//! Congestion Avoidance on a Global Internet", IEEE JSAC 13(8), 1995, sections 3.2 and 3.3).

use super::reno::{INITIAL_THRESHOLD, Reno, initial_window};
use super::{Ack, Cause, Controller, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::Duration;
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "vegas",
    paper: "Brakmo and Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet (1995)",
    parameters: &[
        initial_window(2.0),
        INITIAL_THRESHOLD,
        Parameter::number("alpha", "", 1.0, (0.0, 1e6), "Fewer segments than this queued: grow."),
        Parameter::number("beta", "", 3.0, (0.0, 1e6), "More segments than this queued: shrink."),
        Parameter::number("gamma", "", 1.0, (0.0, 1e6), "More segments than this queued end slow start."),
        Parameter::number("keep", "", 0.75, (0.1, 1.0), "Share of the window that is left after a loss."),
    ],
    only_with: &[],
    build: |parameters, flow| {
        Box::new(Vegas {
            reno: Reno::new(parameters, &flow),
            alpha: parameters.number("alpha"),
            beta: parameters.number("beta"),
            gamma: parameters.number("gamma"),
            keep: parameters.number("keep"),
            base: None,
            round: Round::default(),
            slow_start: true,
            step: 0.0,
            grows: true,
        })
    },
};

struct Vegas {
    reno: Reno,
    alpha: f64,
    beta: f64,
    gamma: f64,
    keep: f64,
    /// The least round-trip time seen.
    base: Option<Duration>,
    round: Round,
    slow_start: bool,
    /// What each acknowledgement adds in congestion avoidance.
    step: f64,
    /// In slow start the window grows in every other round trip.
    grows: bool,
}

/// What was measured since the round trip began.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    ends_at_delivered: u64,
    rtt_sum: Duration,
    rtts: i64,
    last_rtt: Duration,
}

impl Vegas {
    fn end_of_round(&mut self, ack: &Ack) {
        let Some(base) = self.base else { return };
        let mean = if self.round.rtts > 0 {
            Duration::from_nanos(self.round.rtt_sum.as_nanos() / self.round.rtts)
        } else {
            self.round.last_rtt
        };
        let (base_s, rtt_s) = (base.as_secs_f64(), mean.as_secs_f64());
        // Segments in queues: (expected - actual) * base.
        let queued = self.reno.window / self.reno.segment * (1.0 - base_s / rtt_s);
        let per_ack = self.reno.segment * self.reno.segment / self.reno.window;
        if self.slow_start {
            if queued > self.gamma {
                self.slow_start = false;
                self.reno.window = (self.reno.window * 7.0 / 8.0).max(2.0 * self.reno.segment);
                self.step = 0.0;
            } else {
                self.grows = !self.grows;
                self.step = if self.grows { self.reno.segment } else { 0.0 };
            }
        } else if queued > self.beta {
            self.reno.window = (self.reno.window - self.reno.segment).max(2.0 * self.reno.segment);
            self.step = 0.0;
        } else {
            self.step = if queued < self.alpha { per_ack } else { 0.0 };
        }
        let next = ack.delivered.0 + ack.in_flight.0;
        self.round = Round { ends_at_delivered: next, last_rtt: mean, ..Round::default() };
    }
}

impl Controller for Vegas {
    fn on_ack(&mut self, ack: &Ack) {
        // The handshake's round trip is shorter than any segment's: it says nothing of queues.
        if let Some(rtt) = ack.rtt.filter(|_| ack.acked.0 > 0) {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.round.rtt_sum = self.round.rtt_sum + rtt;
            self.round.rtts += 1;
        }
        if ack.acked.0 > 0 && ack.delivered.0 >= self.round.ends_at_delivered {
            self.end_of_round(ack);
        }
        if !ack.recovering && ack.limited {
            self.reno.window += self.step;
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.slow_start = false;
        self.step = 0.0;
        match loss.cause {
            Cause::Timeout => {
                self.slow_start = true;
                self.grows = true;
                self.reno.collapse(self.reno.window / 2.0);
                self.reno.window = 2.0 * self.reno.segment;
            }
            Cause::Gap | Cause::Mark if loss.episode => {
                let keep = if loss.again { 0.5 } else { self.keep };
                self.reno.reduce(self.reno.window * keep);
            }
            Cause::Gap | Cause::Mark => {}
        }
    }
    fn window(&self) -> Bytes {
        self.reno.bytes()
    }
    fn observe(&self, seen: &mut Observation) {
        self.reno.observe(seen);
        seen.push(("base_rtt", self.base.map_or(f64::NAN, Duration::as_secs_f64)));
    }
}
