//! The window law that new_reno, sack and fack share (RFC 5681, sections 3.1 and 3.2): slow start,
//! then one segment per round trip; half the window at a loss, one segment after a timeout.

use super::{Ack, Cause, Controller, Flow, Loss};
use crate::parameter::{Parameter, Parameters};
use crate::record::Observation;
use crate::units::Bytes;

/// The initial window of a controller, `default` segments where a scenario does not set it.
pub const fn initial_window(default: f64) -> Parameter {
    Parameter::integer("initial_window", default, (1.0, 1e6), "Initial window, in segments.")
}
/// The initial slow-start threshold, none where a scenario does not set it.
pub const INITIAL_THRESHOLD: Parameter = Parameter::integer(
    "initial_threshold",
    0.0,
    (0.0, 1e9),
    "Initial slow-start threshold, in segments; 0: none.",
);

/// Parameters of everything that starts and grows as Reno does.
pub const PARAMETERS: &[Parameter] = &[initial_window(2.0), INITIAL_THRESHOLD];

/// Window and threshold, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reno {
    /// Payload of a full segment.
    pub segment: f64,
    /// Congestion window.
    pub window: f64,
    /// Slow start ends here.
    pub threshold: f64,
}

impl Reno {
    /// At the start of a flow.
    pub fn new(parameters: &Parameters, flow: &Flow) -> Self {
        let segment = flow.segment.0 as f64;
        let threshold = parameters.number("initial_threshold") * segment;
        Self {
            segment,
            window: parameters.number("initial_window") * segment,
            threshold: if threshold > 0.0 { threshold } else { f64::INFINITY },
        }
    }
    /// Below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }
    /// An acknowledgement: one segment in slow start, else segment²/window (RFC 5681, equations 2 and 3).
    pub fn grow(&mut self) {
        self.window +=
            if self.in_slow_start() { self.segment } else { self.segment * self.segment / self.window };
    }
    /// A timeout: slow start from one segment, up to `threshold`.
    pub fn collapse(&mut self, threshold: f64) {
        self.threshold = threshold.max(2.0 * self.segment);
        self.window = self.segment;
    }
    /// A loss under repair: continue from `threshold`.
    pub fn reduce(&mut self, threshold: f64) {
        self.threshold = threshold.max(2.0 * self.segment);
        self.window = self.threshold;
    }
    /// Loss response of delay-based controllers: half at the first loss of an episode, one segment after a
    /// timeout (RFC 6817, section 2.4.2).
    pub fn halve(&mut self, loss: &Loss) {
        match loss.cause {
            Cause::Timeout => self.collapse(self.window / 2.0),
            Cause::Gap | Cause::Mark if loss.episode => self.reduce(self.window / 2.0),
            Cause::Gap | Cause::Mark => {}
        }
    }
    /// The window in bytes.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.window as u64)
    }
    /// Shows both.
    pub fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window));
        seen.push(("threshold", self.threshold));
    }
}

impl Controller for Reno {
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.recovering && ack.limited {
            self.grow();
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        // RFC 5681, equation 4; but in a recovery the window, as FlightSize counts what has arrived too.
        let half = self.window.min(loss.flight_size.0 as f64) / 2.0;
        match loss.cause {
            Cause::Timeout if loss.again => self.collapse(self.threshold),
            Cause::Timeout => self.collapse(half),
            Cause::Gap | Cause::Mark if loss.episode => self.reduce(half),
            Cause::Gap | Cause::Mark => {}
        }
    }
    fn window(&self) -> Bytes {
        self.bytes()
    }
    fn observe(&self, seen: &mut Observation) {
        self.observe(seen);
    }
}
