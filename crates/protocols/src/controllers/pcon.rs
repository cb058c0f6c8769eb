//! PCON's consumer: a TCP law that is cut at congestion marks and at timeouts, once per window
//! (Schneider, Yi, Zhang and Zhang, "A Practical Congestion Control Scheme for Named Data Networking",
//! ACM ICN 2016, sections 4.4 and 5). The marks come from the routers' queues.

use super::reno::{Reno, initial_window};
use super::{Ack, Controller, Flow, Loss};
use crate::math;
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "pcon",
    paper: "Schneider et al., A Practical Congestion Control Scheme for Named Data Networking (2016)",
    parameters: &[
        initial_window(2.0),
        Parameter::word("law", &["bic", "cubic", "aimd"], "How the window grows after slow start."),
        Parameter::number("beta", "", 0.8, (0.1, 0.99), "Share that bic and cubic keep after a cut."),
        Parameter::number("aimd_beta", "", 0.5, (0.1, 0.99), "Share that aimd keeps after a cut."),
        Parameter::number("c", "", 0.4, (0.001, 100.0), "Segments per second cubed, of cubic."),
        Parameter::number("low_window", "", 14.0, (1.0, 1e6), "Window in segments below which bic is Reno."),
        Parameter::number(
            "max_increment",
            "",
            16.0,
            (1.0, 1e6),
            "Segments by which bic grows at most in a round trip.",
        ),
        Parameter::flag("fast_convergence", false, "Leave room to newcomers."),
        Parameter::number(
            "suppress",
            "",
            0.5,
            (0.0, 100.0),
            "Round trips, beyond the first, after a cut in which there is no other.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| {
        let number = |name| parameters.number(name);
        let law = match parameters.word("law") {
            "aimd" => Law::Aimd,
            "cubic" => Law::Cubic { c: number("c") },
            _ => Law::Bic { low: number("low_window"), most: number("max_increment") },
        };
        let segment = flow.segment.0 as f64;
        let window = number("initial_window") * segment;
        Box::new(Pcon {
            reno: Reno { segment, window, threshold: f64::INFINITY },
            window_min: window,
            keep: number(if law == Law::Aimd { "aimd_beta" } else { "beta" }),
            law,
            fast_convergence: parameters.flag("fast_convergence"),
            suppress: number("suppress"),
            rtt: 0.0,
            cut_at: Instant::ZERO,
            held_until: Instant::ZERO,
            before: 0.0,
            w_max: 0.0,
        })
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// Xu, Harfoush and Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance
    /// Networks", IEEE INFOCOM 2004.
    Bic {
        low: f64,
        most: f64,
    },
    /// RFC 8312, without its region of Reno.
    Cubic {
        c: f64,
    },
    Aimd,
}

struct Pcon {
    reno: Reno,
    window_min: f64,
    keep: f64,
    law: Law,
    fast_convergence: bool,
    suppress: f64,
    rtt: f64,
    cut_at: Instant,
    held_until: Instant,
    /// The window at the last cut, in segments.
    before: f64,
    /// Where growth is slowest, in segments.
    w_max: f64,
}

impl Pcon {
    /// By how many segments the window would grow in a round trip.
    fn increment(&self, now: Instant) -> f64 {
        let window = self.reno.window / self.reno.segment;
        match self.law {
            Law::Aimd => 1.0,
            Law::Cubic { c } => {
                let k = math::pow(self.w_max * (1.0 - self.keep) / c, 1.0 / 3.0);
                let ahead = (now - self.cut_at).as_secs_f64() - k;
                (c * ahead * ahead * ahead + self.w_max - window).max(0.0)
            }
            Law::Bic { low, .. } if window < low => 1.0,
            // Half the distance to the window before the cut; beyond it, growth mirrors the approach.
            Law::Bic { most, .. } => ((self.w_max - window).abs() / 2.0).clamp(1.0, most),
        }
    }
    fn cut(&mut self, now: Instant) {
        let window = self.reno.window / self.reno.segment;
        let shrinking = self.fast_convergence && window < self.before;
        self.w_max = if shrinking { window * (1.0 + self.keep) / 2.0 } else { window };
        self.before = window;
        self.reno.window = (self.reno.window * self.keep).max(self.window_min);
        self.reno.threshold = self.reno.window;
        self.cut_at = now;
        self.held_until = now.saturating_add(Duration::from_secs_f64((1.0 + self.suppress) * self.rtt));
    }
}

impl Controller for Pcon {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt.as_secs_f64();
        }
        if ack.recovering || !ack.limited || ack.acked.0 == 0 {
            return;
        }
        let segment = self.reno.segment;
        // Never by more than slow start.
        let share = self.increment(ack.now) * segment / self.reno.window;
        self.reno.window += if self.reno.in_slow_start() { segment } else { segment * share.min(1.0) };
    }
    fn on_loss(&mut self, loss: &Loss) {
        if loss.episode && loss.now >= self.held_until {
            self.cut(loss.now);
        }
    }
    fn window(&self) -> Bytes {
        self.reno.bytes()
    }
    fn observe(&self, seen: &mut Observation) {
        self.reno.observe(seen);
        seen.push(("w_max", self.w_max * self.reno.segment));
    }
}
