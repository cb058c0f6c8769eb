//! DCCP: datagrams that are not repaired, under congestion control (RFC 4340), without I/O.
//!
//! A [`Connection`] is a machine at either end. It takes data with [`Connection::send`], returns received
//! data with [`Connection::receive`], and its [`crate::controllers::Controller`] decides how much of its own
//! data may be in flight. A [`Listener`] answers requests and keeps no state: it seals that into an Init
//! Cookie. [`Passive`] is a listener that waits for one connection.
//!
//! | file | what |
//! |---|---|
//! | `connection` | states, reception (section 8.5, step by step) |
//! | `departure` | transmission |
//! | `features` | negotiation (section 6) |
//! | `arrivals` | received packets: Ack Vectors, duplicates (section 11.4) |
//! | `flight` | packets in flight: losses, pipe |
//! | `sender` | the sending half: controller, timer, pace |
//! | `fullness` | whether data or the rate limited it (RFC 5348, section 8.2.1) |
//! | `ack_ratio` | how often the other end acknowledges (RFC 4341, section 6.1) |
//! | `ccid3_receiver` | the receiving half of CCID 3: loss events, receive rate (RFC 4342; RFC 5348) |
//! | `listener` | requests and cookies |
//!
//! Left out by decision: mobility and multihoming, sending short sequence numbers (they are understood), and the ECN
//! nonce, which is historic (RFC 8311): packets leave as ECT(0), and the ECN Nonce Echo is zero and not
//! verified.
//!
//! What an end keeps is bounded whatever its peer says: [`RUNS_MAX`] runs of arrivals, [`FLIGHT_MAX`]
//! packets sent, [`Config::queue`] packets that wait to leave and [`Config::inbox`] that wait to be taken,
//! one entry for each feature, [`DROPS_MAX`] reports of dropped data.

mod ack_ratio;
mod arrivals;
mod asking;
mod ccid3_receiver;
mod connection;
mod departure;
mod features;
mod flight;
mod fullness;
mod limiter;
mod listener;
mod sender;

pub use ack_ratio::AckRatio;
pub use arrivals::{DROPS_MAX, RUNS_MAX};
pub use ccid3_receiver::{Ccid3Receiver, loss_event_rate};
pub use connection::{Connection, Refused, State};
pub use flight::FLIGHT_MAX;
pub use listener::{Answer, Listener, Passive, refuse};
pub use sender::Counts;

use super::rto::Timers;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use crate::wire::dccp::{self as wire, Addresses, Header, Malformed};
use std::sync::Arc;

/// Bytes of an IPv4 header.
pub const IP_HEADER: Bytes = Bytes(20);
/// Bytes of an IPv4 and a UDP header (RFC 6773).
pub const UDP_HEADER: Bytes = Bytes(28);
/// Bytes of a DataAck without options: what every data packet has room for.
pub const HEADER: Bytes = Bytes(24);
/// Bytes of a Data Checksum option, in whole words.
const CHECKSUM_BYTES: Bytes = Bytes(8);
/// The Sequence Window of a connection before anybody asks (RFC 4340, section 7.5.2).
pub const SEQUENCE_WINDOW_FIRST: u64 = 100;
/// Service code of LTP (RFC 7122, sections 3.3.1 and 4): "ltp" and a space.
pub const SERVICE_LTP: u32 = 7_107_696;
/// Service code of bundles (RFC 7122, sections 3.2.1 and 4): "dtn1".
pub const SERVICE_BUNDLES: u32 = 1_685_351_985;

/// The ECN field of the IP header around a packet (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: a queue can only drop it.
    #[default]
    NotCapable,
    /// ECT(0), or ECT(1), which nothing here sends: a queue may mark it.
    Capable,
    /// CE: a queue has marked it.
    Marked,
}

impl Ecn {
    /// From the lowest two bits of the traffic class; higher ones are ignored.
    pub fn of_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotCapable,
            3 => Self::Marked,
            _ => Self::Capable,
        }
    }
    /// The two bits.
    pub fn bits(self) -> u8 {
        match self {
            Self::NotCapable => 0,
            Self::Capable => 2,
            Self::Marked => 3,
        }
    }
}

/// A packet that owns its bytes. What several packets carry alike may be shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Everything before the options.
    pub header: Header,
    /// Bytes of the options, in whole words.
    pub options: Vec<u8>,
    /// Data of the application.
    pub data: Arc<[u8]>,
    /// Of the IP header around it; not among its own bytes.
    pub ecn: Ecn,
}

impl Packet {
    /// Reads the bytes of a datagram; [`Packet::ecn`] is that of its IP header, and left to the caller.
    ///
    /// # Errors
    /// Why they are no packet.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let read = wire::Packet::read(bytes)?;
        Ok(Self {
            header: read.header,
            options: read.options.to_vec(),
            data: read.data.into(),
            ecn: Ecn::default(),
        })
    }
    /// The same, borrowed.
    pub fn borrow(&self) -> wire::Packet<'_> {
        wire::Packet { header: self.header, options: &self.options, data: &self.data }
    }
    /// Appends its bytes; with a checksum where there are addresses.
    pub fn write(&self, addresses: Option<&Addresses>, out: &mut Vec<u8>) {
        self.borrow().write(addresses, out);
    }
    /// Bytes of DCCP, without the headers of IP and UDP.
    pub fn size(&self) -> Bytes {
        Bytes(self.borrow().size() as u64)
    }
}

/// The kind of congestion control of a half-connection, as it is negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ccid {
    /// Ack Vectors report each packet's fate (RFC 4341): for every controller that has a window or measures.
    Two = 2,
    /// The receiver reports loss event rate and receive rate once a round trip (RFC 4342): for `ccid3`.
    Three = 3,
}

impl Ccid {
    /// The one that a controller of this name needs.
    pub fn of(controller: &str) -> Self {
        if controller == "ccid3" { Self::Three } else { Self::Two }
    }
}

/// Faults that DCCP in Linux had before version 3.2, each reproduced on demand. The fifth,
/// a window that does not open again after a timeout, is a parameter of `ccid2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The Ack Ratio may exceed the window and no acknowledgement is sent for a time: the sender waits for
    /// its timer, 200 ms at the least.
    pub pauses: bool,
    /// Each Ack Vector with a new loss causes a response, not each window of data; a loss that is not the
    /// newest gap causes none.
    pub inconsistent_loss: bool,
    /// The Sequence Window is neither adapted nor respected: more packets in flight than it allows lead to
    /// Syncs and drops that no controller sees.
    pub small_sequence_window: bool,
}

/// Something is tried again: after `first`, then twice that, at most `most`; in the end it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Until the second try.
    pub first: Duration,
    /// Between tries at most.
    pub most: Duration,
    /// From the first try on.
    pub gives_up: Duration,
}

/// How an end of a connection behaves, but for its controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Ports of this end and of the other.
    pub ports: [u16; 2],
    /// What the connection is for (section 8.1.2).
    pub service: u32,
    /// Bytes of a packet on the link at most.
    pub packet: Bytes,
    /// Bytes of the headers below DCCP.
    pub below: Bytes,
    /// For the data that this end sends.
    pub ccid: Ccid,
    /// Sequence Window at the start (section 7.5.2).
    pub sequence_window: u64,
    /// Later packets that must have arrived before one counts as lost (NUMDUPACK; RFC 4341, section 5).
    pub duplicates: u32,
    /// How long an acknowledgement may wait.
    pub ack_delay: Duration,
    /// The timer of the sending half (RFC 4341, section 5, takes TCP's).
    pub timers: Timers,
    /// Requests, closes, and changes of features.
    pub retry: Retry,
    /// Longest life of a packet in the network (section 3.4); a closed connection is remembered for two.
    pub lifetime: Duration,
    /// How long a cookie is good.
    pub cookie_life: Duration,
    /// Data carry a CRC, and the other end is asked to check it (section 9.3).
    pub check_data: bool,
    /// How much of the data the header's checksum covers: 0 all, n the first 4·(n−1) bytes (section 9.2).
    pub coverage: u8,
    /// What this end accepts at least; 0: all must be covered.
    pub coverage_least: u8,
    /// Reports the fate of each datagram ([`Connection::take_fate`]). Requests Ack Vectors under CCID 3 too
    /// (RFC 4342, section 6).
    pub tells_fates: bool,
    /// Packets that wait to leave, at most.
    pub queue: usize,
    /// Packets that have come and wait to be taken, at most.
    pub inbox: usize,
    /// Drawn by the driver: the first sequence number.
    pub initial: u64,
    /// Explicit Congestion Notification (RFC 4340, section 12): this end reads marks, and its packets may be marked
    /// where the other end reads them too. False: this end says that it is ECN incapable.
    pub ecn: bool,
    /// Faults to be reproduced.
    pub faults: Faults,
}

impl Config {
    /// Packets of `packet` bytes on the link, headers of `below` bytes under DCCP; the rest as usual.
    pub fn new(packet: Bytes, below: Bytes, ccid: Ccid, timers: Timers) -> Self {
        let s = Duration::from_secs;
        Self {
            ports: [5001, 5002],
            service: 0,
            packet,
            below,
            ccid,
            sequence_window: 1000,
            duplicates: 3,
            ack_delay: Duration::from_nanos(100_000_000),
            timers,
            // Section 8.1.1: after a second, then half as often each time, to every 64 s; for three minutes.
            retry: Retry {
                first: timers.first.max(s(1)),
                most: s(64).max(timers.first),
                gives_up: (timers.first * 10).max(s(180)),
            },
            lifetime: s(120),
            cookie_life: (timers.first * 20).max(s(360)),
            check_data: false,
            coverage: 0,
            coverage_least: 0,
            tells_fates: false,
            queue: 256,
            inbox: 4096,
            initial: 0,
            ecn: false,
            faults: Faults::default(),
        }
    }
    /// Most data of a packet: what fits beside the header of a DataAck.
    pub fn segment(&self) -> Bytes {
        let checksum = if self.check_data { CHECKSUM_BYTES } else { Bytes(0) };
        self.packet.saturating_sub(self.below + HEADER + checksum)
    }
    /// The same for the other end of a simulated connection.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self { ports: [self.ports[1], self.ports[0]], initial: self.initial ^ 0x5a5a_5a5a_5a5a, ..*self }
    }
}

/// Tries of something, further and further apart.
#[derive(Clone, Copy, Debug)]
struct Tries {
    retry: Retry,
    span: Duration,
    next: Instant,
    began: Instant,
    count: u32,
}

impl Tries {
    /// The first is now.
    fn new(now: Instant, retry: Retry) -> Self {
        Self { retry, span: retry.first, next: now, began: now, count: 0 }
    }
    fn is_due(&self, now: Instant) -> bool {
        self.next <= now
    }
    fn is_over(&self, now: Instant) -> bool {
        self.count > 0 && now - self.began >= self.retry.gives_up
    }
    /// It is tried.
    fn on_try(&mut self, now: Instant) {
        self.next = now.saturating_add(self.span);
        self.span = Duration::from_nanos(self.span.as_nanos().saturating_mul(2)).min(self.retry.most);
        self.count += 1;
    }
}
