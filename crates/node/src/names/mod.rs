//! Files as named data: `lightlag names`.
//!
//! [`put`] answers Interests for the segments of a file, [`get`] asks for them through the state machine
//! that simulated consumers run, [`lightlag_protocols::ndn::Consumer`]. Both work with any forwarder of
//! NDN, and directly with each other.

mod ask;
mod faces;
mod forged;
mod get;
mod keys;
mod publication;
mod put;
mod sink;
mod uri;

pub use get::{Getting, Got, Progress, Verified, get};
pub use keys::{make_key, read_key, read_trust};
pub use put::{Published, Putting, Where, put};
pub use sink::Sink;
pub use uri::FaceUri;

use lightlag_protocols::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

/// Default size of a UDP datagram in bytes, as in ndnd: fits every path of 1500-byte packets, tunnels
/// included.
pub const MTU: usize = 1420;
/// Default content of a segment in bytes: as others put into a packet of 8800 bytes.
pub const SEGMENT: u32 = 8000;

/// The time of day: between nodes with synchronised clocks, send times give the one-way delay.
fn since_1970() -> Duration {
    let span = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Duration::from_nanos(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX))
}

/// Bytes drawn at random.
fn random<const N: usize>() -> Result<[u8; N], crate::Error> {
    let mut bytes = [0; N];
    let drawn = getrandom::fill(&mut bytes);
    drawn.map_err(|why| crate::Error::Failed(format!("no random numbers: {why}")))?;
    Ok(bytes)
}
