//! LEDBAT++: LEDBAT by round trips that gives up its standing queue from time to time, so that every
//! flow sees the empty path (draft-irtf-iccrg-ledbat-plus-plus, section 4).

use super::delay_history::DelayHistory;
use super::reno::{Reno, initial_window};
use super::{Ack, Controller, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "ledbat_plus_plus",
    paper: "draft-irtf-iccrg-ledbat-plus-plus",
    parameters: &[
        initial_window(2.0),
        Parameter::number("target", "s", 0.06, (0.001, 0.1), "Target queueing delay (section 4.5)."),
        Parameter::integer(
            "base_history",
            10.0,
            (2.0, 60.0),
            "Minutes of base-RTT history: one minimum RTT is kept for each.",
        ),
        Parameter::integer(
            "current_filter",
            4.0,
            (1.0, 64.0),
            "Number of latest RTT samples; their minimum is the current RTT.",
        ),
        Parameter::number(
            "decrease",
            "",
            1.0,
            (0.01, 10.0),
            "How strongly it yields above the target (Constant of section 4.3).",
        ),
        Parameter::flag("slowdowns", true, "Give the queue up from time to time (section 4.4)."),
    ],
    only_with: &[],
    build: |parameters, flow| {
        let segment = flow.segment.0 as f64;
        let window = parameters.number("initial_window") * segment;
        Box::new(LedbatPlusPlus {
            reno: Reno { segment, window, threshold: f64::INFINITY },
            target: parameters.number("target"),
            decrease: parameters.number("decrease"),
            delays: DelayHistory::new(
                parameters.number("base_history") as usize,
                parameters.number("current_filter") as usize,
            ),
            rtt: Duration::ZERO,
            slowdowns: parameters.flag("slowdowns"),
            slowdown: Slowdown::AfterStart,
        })
    },
};

/// In flight during a slowdown, and at least.
const SEGMENTS_MIN: f64 = 2.0;
/// Slow start ends at this share of the target (section 4.1).
const START_SHARE: f64 = 0.75;
/// The gain is at least one over this (section 4.2).
const GAIN_DIVISOR_MAX: f64 = 16.0;
/// Round trips before the first slowdown, and round trips that one lasts (section 4.4).
const SLOWDOWN_ROUNDS: i64 = 2;
/// The next slowdown comes after this multiple of the duration of the last one.
const SLOWDOWN_INTERVAL: i64 = 9;

/// Where the flow is between slowdowns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slowdown {
    /// The initial slow start decides when.
    AfterStart,
    At(Instant),
    /// Two segments at most.
    Frozen {
        began: Instant,
        until: Instant,
    },
    /// Back to the threshold.
    Ramp {
        began: Instant,
    },
}

struct LedbatPlusPlus {
    reno: Reno,
    target: f64,
    decrease: f64,
    delays: DelayHistory,
    rtt: Duration,
    slowdowns: bool,
    slowdown: Slowdown,
}

impl LedbatPlusPlus {
    /// Section 4.2.
    fn gain(&self) -> f64 {
        let base = self.delays.base().map_or(0.0, Duration::as_secs_f64);
        let divisor = libm::ceil(2.0 * self.target / base);
        1.0 / divisor.clamp(1.0, GAIN_DIVISOR_MAX)
    }
    fn initial_start_over(&mut self, now: Instant) {
        if self.slowdown == Slowdown::AfterStart {
            self.reno.threshold = self.reno.window;
            self.slowdown = if self.slowdowns {
                Slowdown::At(now.saturating_add(self.rtt * SLOWDOWN_ROUNDS))
            } else {
                Slowdown::At(Instant::MAX)
            };
        }
    }
    /// Section 4.4.
    fn turn(&mut self, now: Instant) {
        match self.slowdown {
            Slowdown::At(at) if now >= at => {
                self.reno.threshold = self.reno.window.max(SEGMENTS_MIN * self.reno.segment);
                self.reno.window = SEGMENTS_MIN * self.reno.segment;
                let until = now.saturating_add(self.rtt * SLOWDOWN_ROUNDS);
                self.slowdown = Slowdown::Frozen { began: now, until };
            }
            Slowdown::Frozen { began, until } if now >= until => self.slowdown = Slowdown::Ramp { began },
            Slowdown::Ramp { began } if !self.reno.in_slow_start() => {
                let took = now - began;
                let wait = Duration::from_nanos(took.as_nanos().saturating_mul(SLOWDOWN_INTERVAL));
                self.slowdown = Slowdown::At(now.saturating_add(wait));
            }
            _ => {}
        }
    }
    /// What a round trip changes, in segments (sections 4.2 and 4.3).
    fn change(&self, queueing: f64) -> f64 {
        let window = self.reno.window / self.reno.segment;
        let above = queueing / self.target - 1.0;
        if above < 0.0 {
            return self.gain();
        }
        (self.gain() - self.decrease * window * above).max(-window / 2.0)
    }
    fn adapt(&mut self, acked: f64, queueing: f64) {
        if self.reno.in_slow_start() {
            self.reno.window += acked * self.gain();
            return;
        }
        let segment = self.reno.segment;
        let changed = self.reno.window + self.change(queueing) * segment * acked / self.reno.window;
        self.reno.window = changed.max(SEGMENTS_MIN * segment);
    }
}

impl Controller for LedbatPlusPlus {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.delays.learn(ack.now, rtt);
        }
        let Some(queueing) = self.delays.queueing().map(Duration::as_secs_f64) else { return };
        if ack.acked.0 == 0 {
            return;
        }
        if queueing > START_SHARE * self.target {
            self.initial_start_over(ack.now);
        }
        self.turn(ack.now);
        let frozen = matches!(self.slowdown, Slowdown::Frozen { .. });
        if !ack.recovering && !frozen && (ack.limited || queueing > self.target) {
            self.adapt(ack.acked.0 as f64, queueing);
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.initial_start_over(loss.now);
        self.reno.halve(loss);
    }
    fn window(&self) -> Bytes {
        self.reno.bytes()
    }
    fn observe(&self, seen: &mut Observation) {
        self.reno.observe(seen);
        seen.push(("queueing_delay", self.delays.queueing().map_or(f64::NAN, Duration::as_secs_f64)));
        seen.push(("gain", self.gain()));
    }
}
