//! CUBIC: the window is a cubic function of the time since the last reduction (RFC 9438).

use super::reno::{INITIAL_THRESHOLD, Reno, initial_window};
use super::{Ack, Cause, Controller, Flow, Loss};
use crate::math;
use crate::parameter::{self, Parameter, Parameters};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "cubic",
    paper: "RFC 9438",
    parameters: &[initial_window(3.0), INITIAL_THRESHOLD, C, BETA, FAST_CONVERGENCE, RENO_FRIENDLY],
    only_with: &[],
    build: |parameters, flow| Box::new(Cubic::new(parameters, &flow)),
};

/// The constant C of RFC 9438, section 5.
pub const C: Parameter =
    Parameter::number("c", "", 0.4, (0.001, 100.0), "Segments per second cubed: how fast it grows.");
/// The factor of RFC 9438, section 4.6.
pub const BETA: Parameter =
    Parameter::number("beta", "", 0.7, (0.1, 0.99), "Share of the window that is left after a loss.");
/// RFC 9438, section 4.7.
pub const FAST_CONVERGENCE: Parameter =
    Parameter::flag("fast_convergence", true, "Leave room to newcomers (RFC 9438, section 4.7).");
/// RFC 9438, section 4.3.
pub const RENO_FRIENDLY: Parameter =
    Parameter::flag("reno_friendly", true, "Never be slower than Reno (RFC 9438, section 4.3).");

/// The window law of RFC 9438.
pub struct Cubic {
    /// Window and threshold.
    pub reno: Reno,
    c: f64,
    /// Share of the window that is left after a loss.
    pub beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    rtt: Duration,
    /// In segments.
    w_max: f64,
    /// Seconds until the window is `w_max` again.
    k: f64,
    epoch: Option<Instant>,
    /// Reno's window in segments, had it been reduced as this one (W_est).
    estimate: f64,
}

impl Cubic {
    /// At the start of a flow.
    pub fn new(parameters: &Parameters, flow: &Flow) -> Self {
        Self {
            reno: Reno::new(parameters, flow),
            c: parameters.number("c"),
            beta: parameters.number("beta"),
            fast_convergence: parameters.flag("fast_convergence"),
            reno_friendly: parameters.flag("reno_friendly"),
            rtt: Duration::ZERO,
            w_max: 0.0,
            k: 0.0,
            epoch: None,
            estimate: 0.0,
        }
    }
    /// Growth starts again from a window, and `saturation` bytes are where it slows down (W_max).
    pub fn restart(&mut self, saturation: f64) {
        self.w_max = saturation / self.reno.segment;
        self.epoch = None;
    }
    fn begin_epoch(&mut self, now: Instant) {
        let window = self.reno.window / self.reno.segment;
        self.epoch = Some(now);
        self.w_max = self.w_max.max(window);
        // Equation 2.
        self.k = math::pow((self.w_max - window) / self.c, 1.0 / 3.0);
        self.estimate = window;
    }
    fn avoid(&mut self, ack: &Ack) {
        if self.epoch.is_none() {
            self.begin_epoch(ack.now);
        }
        let Some(epoch) = self.epoch else { return };
        let segment = self.reno.segment;
        let window = self.reno.window / segment;
        let acked = ack.acked.0 as f64 / segment;
        // Equation 1, one round trip ahead; at most half again as much per round trip (section 4.2).
        let ahead = (ack.now - epoch).as_secs_f64() + self.rtt.as_secs_f64() - self.k;
        let target = (self.c * ahead * ahead * ahead + self.w_max).clamp(window, 1.5 * window);
        // Equation 4.
        let alpha =
            if self.estimate >= self.w_max { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) };
        self.estimate += alpha * acked / window;
        // Section 4.4: for each acknowledgement, however many segments it covers.
        let grown = window + (target - window) / window;
        let grown = if self.reno_friendly { grown.max(self.estimate) } else { grown };
        self.reno.window = grown * segment;
    }
    fn remember(&mut self) {
        let window = self.reno.window / self.reno.segment;
        let shrinking = self.fast_convergence && window < self.w_max;
        self.w_max = if shrinking { window * (1.0 + self.beta) / 2.0 } else { window };
        self.epoch = None;
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
        }
        if ack.recovering || !ack.limited {
            return;
        }
        if self.reno.in_slow_start() {
            self.reno.grow();
        } else {
            self.avoid(ack);
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        if !loss.episode && loss.cause != Cause::Timeout {
            return;
        }
        self.remember();
        let threshold = self.reno.window * self.beta;
        match loss.cause {
            Cause::Timeout => self.reno.collapse(threshold),
            Cause::Gap | Cause::Mark => self.reno.reduce(threshold),
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
