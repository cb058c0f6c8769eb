//! Westwood+: Reno's growth; at a loss the window becomes what the path was carrying, estimated from
//! the acknowledgements once per round trip (Grieco and Mascolo, "Performance evaluation and
//! comparison of Westwood+, New Reno and Vegas TCP congestion control", CCR 34(2), 2004, section 2).

use super::reno::{INITIAL_THRESHOLD, Reno, initial_window};
use super::{Ack, Cause, Controller, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "westwood_plus",
    paper: "Grieco and Mascolo, Performance evaluation and comparison of Westwood+, New Reno and Vegas (2004)",
    parameters: &[
        initial_window(3.0),
        INITIAL_THRESHOLD,
        Parameter::flag(
            "after_recovery",
            true,
            "Halve the window while a loss is repaired, and set it by the estimate then (Linux); else at once (the paper).",
        ),
        Parameter::flag(
            "linux_2_6",
            false,
            "As Linux 2.6.22 in ns-2: rates in whole bytes per ms, at least half the window, growth by bytes (RFC 3465).",
        ),
        Parameter::number("weight", "", 0.875, (0.0, 0.999), "Of the old estimate in the filter."),
        Parameter::number(
            "sample_min",
            "s",
            0.05,
            (0.0, 3600.0),
            "Shortest time over which a sample is taken.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| {
        Box::new(WestwoodPlus {
            reno: Reno::new(parameters, &flow),
            after_recovery: parameters.flag("after_recovery"),
            linux_2_6: parameters.flag("linux_2_6"),
            weight: parameters.number("weight"),
            sample_min: Duration::from_secs_f64(parameters.number("sample_min")),
            rtt: None,
            rtt_min: None,
            sample: None,
            estimate: None,
        })
    },
};

struct WestwoodPlus {
    reno: Reno,
    after_recovery: bool,
    linux_2_6: bool,
    weight: f64,
    sample_min: Duration,
    rtt: Option<Duration>,
    rtt_min: Option<Duration>,
    /// When the sample began, and what had been delivered then.
    sample: Option<(Instant, u64)>,
    /// Bytes per second: filtered once, and twice.
    estimate: Option<(f64, f64)>,
}

impl WestwoodPlus {
    fn measure(&mut self, ack: &Ack) {
        let Some((since, before)) = self.sample else {
            self.sample = Some((ack.now, ack.delivered.0));
            return;
        };
        let span = ack.now - since;
        if span <= self.rtt.unwrap_or_default().max(self.sample_min) {
            return;
        }
        let rate = self.whole((ack.delivered.0 - before) as f64 / span.as_secs_f64());
        let filter = |old: f64, new: f64| self.whole(self.weight * old + (1.0 - self.weight) * new);
        self.estimate = Some(match self.estimate {
            None => (rate, rate),
            Some((once, twice)) => {
                let once = filter(once, rate);
                (once, filter(twice, once))
            }
        });
        self.sample = Some((ack.now, ack.delivered.0));
    }
    /// A rate, in whole bytes per millisecond where Linux 2.6 keeps it so: the filter then loses up to 7 of them at
    /// each of its two steps, and a rate below 8 kbit/s is zero.
    fn whole(&self, bytes_per_s: f64) -> f64 {
        if self.linux_2_6 { (bytes_per_s / 1e3).floor() * 1e3 } else { bytes_per_s }
    }
    /// What the path carries in its least round-trip time.
    fn pipe(&self) -> Option<f64> {
        Some(self.estimate?.1 * self.rtt_min?.as_secs_f64())
    }
}

impl Controller for WestwoodPlus {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = Some(rtt);
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        self.measure(ack);
        if ack.recovered
            && self.after_recovery
            && !self.linux_2_6
            && let Some(pipe) = self.pipe()
        {
            self.reno.reduce(pipe);
        }
        if !ack.recovering && ack.limited {
            if self.linux_2_6 && !self.reno.in_slow_start() {
                let acked = ack.acked.0 as f64;
                self.reno.window += self.reno.segment * acked / self.reno.window;
            } else {
                self.reno.grow();
            }
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        let threshold = self.pipe().unwrap_or(self.reno.window / 2.0);
        match loss.cause {
            Cause::Timeout if self.linux_2_6 => self.reno.collapse(self.reno.window / 2.0),
            Cause::Timeout => self.reno.collapse(threshold),
            Cause::Gap | Cause::Mark if loss.episode && self.linux_2_6 => {
                self.reno.reduce(threshold.max(self.reno.window / 2.0));
            }
            Cause::Gap | Cause::Mark if loss.episode && self.after_recovery => {
                self.reno.reduce(self.reno.window / 2.0)
            }
            // A larger estimate than the window would make a loss open it.
            Cause::Gap | Cause::Mark if loss.episode => self.reno.reduce(threshold.min(self.reno.window)),
            Cause::Gap | Cause::Mark => {}
        }
    }
    fn window(&self) -> Bytes {
        self.reno.bytes()
    }
    fn observe(&self, seen: &mut Observation) {
        self.reno.observe(seen);
        seen.push(("bandwidth", self.estimate.map_or(f64::NAN, |estimate| estimate.1 * 8.0)));
    }
}
