//! LEDBAT: yields to everything else by keeping the queueing delay at a target (RFC 6817).

use super::delay_history::DelayHistory;
use super::reno::{INITIAL_THRESHOLD, Reno, initial_window};
use super::{Ack, Cause, Controller, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::Duration;
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "ledbat",
    paper: "RFC 6817",
    parameters: &[
        initial_window(2.0),
        INITIAL_THRESHOLD,
        Parameter::number(
            "target",
            "s",
            0.1,
            (0.001, 0.1),
            "Target queueing delay (TARGET; RFC 6817 allows at most 100 ms).",
        ),
        Parameter::number("gain", "", 1.0, (0.01, 1.0), "Window growth relative to Reno (GAIN)."),
        Parameter::integer(
            "base_history",
            10.0,
            (2.0, 60.0),
            "Minutes of base-delay history: one minimum delay is kept for each (BASE_HISTORY).",
        ),
        Parameter::integer(
            "current_filter",
            4.0,
            (1.0, 64.0),
            "Number of latest delay samples; their minimum is the current delay (CURRENT_FILTER).",
        ),
        Parameter::flag(
            "slow_start",
            false,
            "Begin with Reno's slow start instead of the delay-based increase.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| {
        Box::new(Ledbat {
            reno: Reno::new(parameters, &flow),
            target: parameters.number("target"),
            gain: parameters.number("gain"),
            delays: DelayHistory::new(
                parameters.number("base_history") as usize,
                parameters.number("current_filter") as usize,
            ),
            slow_start: parameters.flag("slow_start"),
        })
    },
};

struct Ledbat {
    reno: Reno,
    target: f64,
    gain: f64,
    delays: DelayHistory,
    slow_start: bool,
}

/// May be in flight whatever the delay (MIN_CWND).
const SEGMENTS_MIN: f64 = 2.0;

impl Controller for Ledbat {
    fn on_ack(&mut self, ack: &Ack) {
        // Without one-way delays the round trip is used, which includes queues on the return path.
        if let Some(delay) = ack.one_way.or(ack.rtt) {
            self.delays.learn(ack.now, delay);
        }
        let Some(queueing) = self.delays.queueing() else { return };
        if ack.recovering || ack.acked.0 == 0 {
            return;
        }
        if self.slow_start && self.reno.in_slow_start() {
            self.reno.grow();
            return;
        }
        // Section 2.4.2: cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd.
        let off_target = (self.target - queueing.as_secs_f64()) / self.target;
        let segment = self.reno.segment;
        let change = self.gain * off_target * ack.acked.0 as f64 * segment / self.reno.window;
        // The window may not run away from what is used.
        let allowed = ack.in_flight.0 as f64 + ack.acked.0 as f64 + segment;
        let grown = if change > 0.0 {
            (self.reno.window + change).min(allowed.max(self.reno.window))
        } else {
            self.reno.window + change
        };
        self.reno.window = grown.max(SEGMENTS_MIN * segment);
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.slow_start &= loss.cause == Cause::Timeout;
        self.reno.halve(loss);
    }
    fn window(&self) -> Bytes {
        self.reno.bytes()
    }
    fn observe(&self, seen: &mut Observation) {
        self.reno.observe(seen);
        seen.push(("queueing_delay", self.delays.queueing().map_or(f64::NAN, Duration::as_secs_f64)));
    }
}
