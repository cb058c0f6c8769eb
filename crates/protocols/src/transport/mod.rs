//! Who carries data from one end to the other.

pub mod dccp;
pub mod ltp;
pub mod ranges;
pub mod rto;
pub mod tcp;
pub mod udpdtn;

use crate::time::Instant;

/// A protocol endpoint. One input, then poll until `None`, then come back at the deadline or with the
/// next input.
pub trait Machine {
    /// What comes from the other end.
    type Input;
    /// What goes to the other end.
    type Output;
    /// Something came.
    fn handle(&mut self, now: Instant, input: Self::Input);
    /// The next thing to send.
    fn poll(&mut self, now: Instant) -> Option<Self::Output>;
    /// When to poll though nothing comes.
    fn deadline(&self) -> Option<Instant>;
}
