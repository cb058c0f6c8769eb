//! BBR, version 1: paces at the highest delivery rate seen in ten round trips, and bounds what is in
//! flight by that rate and the least round-trip time (Cardwell et al., "BBR: Congestion-Based
//! Congestion Control", ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00).

use super::reno::initial_window;
use super::sent_log::SentLog;
use super::{Ack, Cause, Controller, Flow, Loss, RateSample, Sent};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "bbr",
    paper: "Cardwell et al., BBR: Congestion-Based Congestion Control (2016)",
    parameters: &[
        initial_window(10.0),
        Parameter::number(
            "rtt_window",
            "s",
            10.0,
            (0.1, 1e7),
            "How long the least round-trip time is believed.",
        ),
        Parameter::integer(
            "rtt_rounds",
            10.0,
            (0.0, 1e6),
            "The same in round trips, if that is longer; 0: as published.",
        ),
        Parameter::integer("rate_window", 10.0, (1.0, 1000.0), "Round trips whose highest rate counts."),
    ],
    only_with: &[],
    build: |parameters, flow| {
        Box::new(Bbr {
            segment: flow.segment.0 as f64,
            header: (flow.packet.0 as f64) / (flow.segment.0 as f64),
            initial: parameters.number("initial_window") * flow.segment.0 as f64,
            rtt_window: Duration::from_secs_f64(parameters.number("rtt_window")),
            rtt_rounds: parameters.number("rtt_rounds") as i64,
            rate_window: parameters.number("rate_window") as u64,
            phase: Phase::Startup,
            log: SentLog::default(),
            rates: VecDeque::new(),
            rtt_min: None,
            rtt_min_at: Instant::ZERO,
            round: 0,
            round_ends: 0,
            full_rate: 0.0,
            full_rounds: 0,
            cycle: 0,
            cycle_at: Instant::ZERO,
            window: parameters.number("initial_window") * flow.segment.0 as f64,
            before_probe: 0.0,
            probe_began: Instant::ZERO,
            probe_ends: None,
            delivered: 0,
            conserves: false,
        })
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

struct Bbr {
    segment: f64,
    /// Bytes on the link per byte of payload.
    header: f64,
    initial: f64,
    rtt_window: Duration,
    rtt_rounds: i64,
    rate_window: u64,
    phase: Phase,
    log: SentLog,
    /// Delivery rates in bytes/s, each with its round, descending.
    rates: VecDeque<(u64, f64)>,
    rtt_min: Option<Duration>,
    rtt_min_at: Instant,
    round: u64,
    /// The round ends when what was delivered by now has been acknowledged.
    round_ends: u64,
    full_rate: f64,
    full_rounds: u32,
    cycle: usize,
    cycle_at: Instant,
    window: f64,
    before_probe: f64,
    probe_began: Instant,
    probe_ends: Option<Instant>,
    delivered: u64,
    /// After a timeout, until the next round: sends only as much as is acknowledged.
    conserves: bool,
}

/// 2 / ln 2: the least gain that doubles the rate every round trip.
const HIGH_GAIN: f64 = 2.885;
/// Gains of the eight phases of probing.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Two round trips of window while probing for bandwidth: delayed and lost acknowledgements.
const WINDOW_GAIN: f64 = 2.0;
/// How long the queue is drained to see the least round-trip time.
const PROBE_RTT: Duration = Duration::from_nanos(200_000_000);
const SEGMENTS_MIN: f64 = 4.0;

impl Bbr {
    fn rate(&self) -> Option<f64> {
        self.rates.front().map(|front| front.1)
    }
    /// Bytes in flight at the estimated rate and least round-trip time.
    fn pipe(&self, gain: f64) -> Option<f64> {
        Some(gain * self.rate()? * self.rtt_min?.as_secs_f64())
    }
    fn gain(&self) -> f64 {
        match self.phase {
            Phase::Startup => HIGH_GAIN,
            Phase::Drain => 1.0 / HIGH_GAIN,
            Phase::ProbeBandwidth => CYCLE[self.cycle],
            Phase::ProbeRtt => 1.0,
        }
    }
    /// Rounds and rates are those of the transport, and by the order of sending where it has none, as in recoveries: the
    /// cumulative acknowledgement may stand for many round trips.
    fn learn_rate(&mut self, ack: &Ack) {
        let least = self.rtt_min.unwrap_or(Duration::ZERO);
        let sent = self.log.judged(ack.now, ack.in_flight.0, least);
        let delivered = ack.delivered.0;
        if ack.acked == Bytes(0) {
            return;
        }
        let logged = self.log.rate(ack.now, &sent, delivered, least);
        let sample = ack.sample.as_ref();
        let rate = sample.and_then(RateSample::bytes_per_s).or(logged);
        if sample.map_or(sent.delivered, |sample| sample.before.0) >= self.round_ends {
            self.round_ends = delivered;
            self.round += 1;
            self.conserves = false;
            self.check_full();
        }
        let Some(rate) = rate else { return };
        while self.rates.back().is_some_and(|back| back.1 <= rate) {
            self.rates.pop_back();
        }
        self.rates.push_back((self.round, rate));
        while self.rates.front().is_some_and(|front| front.0 + self.rate_window < self.round) {
            self.rates.pop_front();
        }
    }
    /// Three round trips without a quarter more: the pipe is full.
    fn check_full(&mut self) {
        let Some(rate) = self.rate().filter(|_| self.phase == Phase::Startup) else { return };
        if rate >= self.full_rate * 1.25 {
            self.full_rate = rate;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        if self.full_rounds >= 3 {
            self.phase = Phase::Drain;
        }
    }
    fn learn_rtt(&mut self, now: Instant, rtt: Option<Duration>) {
        let longer = self.rtt_min.map_or(Duration::ZERO, |rtt| rtt * self.rtt_rounds);
        let expired = now - self.rtt_min_at > self.rtt_window.max(longer);
        if let Some(rtt) = rtt
            && (expired || self.rtt_min.is_none_or(|least| rtt <= least))
        {
            self.rtt_min = Some(rtt);
            self.rtt_min_at = now;
        }
        if expired && self.phase != Phase::ProbeRtt && self.rate().is_some() {
            self.phase = Phase::ProbeRtt;
            self.before_probe = self.window;
            self.probe_began = now;
            self.probe_ends = None;
        }
    }
    fn advance(&mut self, ack: &Ack) {
        match self.phase {
            Phase::Startup => {}
            Phase::Drain => {
                if self.pipe(1.0).is_some_and(|pipe| ack.in_flight.0 as f64 <= pipe) {
                    self.enter_probing(ack.now);
                }
            }
            Phase::ProbeBandwidth => {
                let full = self.rtt_min.is_some_and(|rtt| ack.now - self.cycle_at > rtt);
                let drained = self.pipe(1.0).is_some_and(|pipe| ack.in_flight.0 as f64 <= pipe);
                if full || (CYCLE[self.cycle] < 1.0 && drained) {
                    self.cycle = (self.cycle + 1) % CYCLE.len();
                    self.cycle_at = ack.now;
                }
            }
            Phase::ProbeRtt => {
                // A transport may have a least window that is larger.
                let late = self.rtt_min.is_some_and(|rtt| ack.now - self.probe_began > rtt + rtt);
                let low = ack.in_flight.0 as f64 <= SEGMENTS_MIN * self.segment;
                if (low || late) && self.probe_ends.is_none() {
                    self.probe_ends = Some(ack.now + PROBE_RTT);
                }
                if self.probe_ends.is_some_and(|ends| ends <= ack.now) {
                    self.rtt_min_at = ack.now;
                    self.window = self.window.max(self.before_probe);
                    if self.full_rounds >= 3 {
                        self.enter_probing(ack.now);
                    } else {
                        self.phase = Phase::Startup;
                    }
                }
            }
        }
    }
    fn enter_probing(&mut self, now: Instant) {
        self.phase = Phase::ProbeBandwidth;
        // Any phase but the one that drains; always the same, as runs are reproducible.
        self.cycle = 2;
        self.cycle_at = now;
    }
    fn set_window(&mut self, ack: &Ack) {
        let acked = ack.acked.0 as f64;
        let gain = if self.phase == Phase::ProbeBandwidth { WINDOW_GAIN } else { HIGH_GAIN };
        match self.pipe(gain) {
            _ if self.conserves => self.window = self.window.max(ack.in_flight.0 as f64 + acked),
            Some(target) if self.full_rounds >= 3 => self.window = (self.window + acked).min(target),
            Some(target) if self.window < target || (ack.delivered.0 as f64) < self.initial => {
                self.window += acked
            }
            Some(_) => {}
            None => self.window += acked,
        }
        self.window = self.window.max(SEGMENTS_MIN * self.segment);
    }
}

impl Controller for Bbr {
    fn on_ack(&mut self, ack: &Ack) {
        self.delivered = ack.delivered.0;
        self.learn_rate(ack);
        self.learn_rtt(ack.now, ack.rtt);
        self.advance(ack);
        self.set_window(ack);
    }
    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Timeout {
            self.window = self.segment * SEGMENTS_MIN;
            self.conserves = true;
        }
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.log.on_sent(sent, self.delivered, 0);
    }
    fn window(&self) -> Bytes {
        match self.phase {
            Phase::ProbeRtt => Bytes((SEGMENTS_MIN * self.segment) as u64),
            _ => Bytes(self.window as u64),
        }
    }
    fn rate(&self) -> Option<BitRate> {
        let rate = match (self.rate(), self.rtt_min) {
            (Some(rate), _) => rate,
            // Nothing was delivered yet: the initial window over the round trip of the handshake.
            (None, Some(rtt)) => self.initial / rtt.as_secs_f64(),
            (None, None) => return None,
        };
        let floor = self.rtt_min.map_or(0.0, |rtt| self.initial / rtt.as_secs_f64());
        let rate =
            if self.phase == Phase::Startup { (rate * self.gain()).max(floor) } else { rate * self.gain() };
        Some(BitRate((rate * self.header * 8.0).max(1.0) as u64))
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window().0 as f64));
        seen.push(("bandwidth", self.rate().unwrap_or(f64::NAN) * 8.0));
        seen.push(("rtt_min", self.rtt_min.map_or(f64::NAN, Duration::as_secs_f64)));
    }
}
