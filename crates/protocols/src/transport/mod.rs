//! Who carries data from one end to the other.

pub mod dccp;
pub mod ltp;
pub mod ranges;
pub(crate) mod report_interval;
pub mod rto;
pub mod tcp;
pub mod tcpcl;
pub mod udpdtn;

use crate::controllers::Controller;
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// A protocol endpoint. One input, then poll until `None`, then come back at the deadline or with the
/// next input.
pub trait Machine {
    /// Packets from the other end.
    type Input;
    /// Packets to the other end.
    type Output;
    /// A packet has arrived.
    fn handle(&mut self, now: Instant, input: Self::Input);
    /// The next thing to send.
    fn poll(&mut self, now: Instant) -> Option<Self::Output>;
    /// When to poll if nothing arrives before.
    fn deadline(&self) -> Option<Instant>;
}

/// What plots see of a sender with a window and of its controller: bytes in flight, the round trip in
/// seconds.
pub(crate) fn observe(
    controller: &dyn Controller,
    in_flight: f64,
    rtt: Option<Duration>,
    seen: &mut Observation,
) {
    seen.push(("in_flight", in_flight));
    if let Some(rtt) = rtt {
        seen.push(("rtt", rtt.as_secs_f64()));
    }
    let window = controller.window();
    if window < Bytes::MAX {
        seen.push(("window", window.0 as f64));
    }
    if let Some(rate) = controller.rate() {
        seen.push(("rate", rate.0 as f64));
    }
    controller.observe(seen);
}
