//! Bundles to and from other implementations: `lightlag bundles`.
//!
//! A file is a bundle, as opaque bytes; nothing of our own is added to what the RFCs say. Datagrams are
//! those of RFC 7122, streams those of RFC 9174. There is one [`Layer`] constant for each convergence layer.
//!
//! | file | what |
//! |---|---|
//! | `outgoing` | bundles to send |
//! | `books` | bytes that are kept and still may be |
//! | `store` | where bundles are kept that have come |
//! | `again` | blocks of LTP that are sent again after the receiver gave them up |
//! | `ltp` | a bundle is a block of LTP, over UDP or DCCP |
//! | `datagram` | a bundle is a datagram of UDP or DCCP |
//! | `tcpcl` | TCPCLv4 over the kernel's TCP |

mod again;
mod books;
mod datagram;
mod ltp;
mod outgoing;
mod store;
mod tcpcl;

pub use crate::error::Error;
pub use crate::transfer::{Event, Progress};
pub use store::BundleStore;

use crate::transports::driver::{Endpoint, Status};
use crate::transports::header::Receipt;
use crate::transports::{ListenOptions, SendOptions};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::BitRate;
use lightlag_protocols::wire::ltp::aggregation::BUNDLE_SERVICE;
use lightlag_protocols::wire::ltp::auth::Key;
use lightlag_protocols::wire::tcpcl as tcpcl_wire;
use outgoing::Item;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The port of bundles in UDP and in DCCP (RFC 7122, sections 3.2 and 4).
pub const PORT: u16 = tcpcl_wire::PORT;
/// What paces bundles in UDP if nothing else is said.
pub const UDP_RATE: BitRate = BitRate(1_000_000);

/// What to send, and how.
pub struct Sending {
    /// The bundles.
    pub files: Vec<PathBuf>,
    /// To whom, and how fast.
    pub options: SendOptions,
    /// Of LTP.
    pub ltp: LtpSending,
    /// What this node calls itself, over TCP.
    pub node: String,
    /// Bundles that the receiver sends meanwhile are kept, over LTP in UDP; `None`: they are refused.
    pub keeping: Option<Keeping>,
}

/// How bundles are kept that come while others are sent.
pub struct Keeping {
    /// Where.
    pub store: BundleStore,
    /// It ends when this many have come and all are sent; `None`: when all are sent and none is in transit.
    pub count: Option<u64>,
    /// A block is given up after this time without a segment from its sender.
    pub idle: Duration,
    /// Gets those that have come, and what was refused.
    pub watch: Box<dyn FnMut(Event)>,
}

/// How blocks of LTP are sent.
#[derive(Clone, Debug)]
pub struct LtpSending {
    /// Our engine number; `None`: a random one.
    pub engine: Option<u64>,
    /// The client service.
    pub service: u64,
    /// Bytes at the end of each block that are green.
    pub green: u64,
    /// Bundles are aggregated in blocks of about this many bytes (CCSDS 734.1-B-1); `None`: one block each.
    pub aggregate: Option<u64>,
    /// By what segments are authenticated.
    pub key: Option<Key>,
}

impl Default for LtpSending {
    fn default() -> Self {
        Self { engine: None, service: BUNDLE_SERVICE, green: 0, aggregate: None, key: None }
    }
}

/// How to listen.
pub struct Listening {
    /// Where, and in what packets.
    pub options: ListenOptions,
    /// Where bundles are kept.
    pub store: BundleStore,
    /// Stop after this many bundles; `None`: never.
    pub count: Option<u64>,
    /// Where reports of LTP go; none: to where data come from.
    pub reply_to: Option<SocketAddr>,
    /// A block of LTP is given up after this time without a segment from its sender.
    pub idle: Duration,
    /// By what segments of LTP are authenticated.
    pub key: Option<Key>,
    /// What this node calls itself, over TCP.
    pub node: String,
}

/// A bundle that has come, or gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The file that it is.
    pub path: PathBuf,
    /// Bytes of it.
    pub bytes: u64,
    /// BLAKE3 of it.
    pub digest: [u8; 32],
    /// The other side.
    pub peer: SocketAddr,
    /// Source or destination in the convergence layer.
    pub tag: Tag,
    /// How long it took.
    pub seconds: f64,
    /// Of one that was sent: whether the other side has it; or, over UDP, that it has left.
    pub outcome: Result<(), String>,
}

/// Where a bundle comes from or went to, as its convergence layer names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// It was a datagram.
    Datagram,
    /// It was a block, or a part of one.
    Ltp {
        /// The engine that sent it.
        engine: u64,
        /// The number of the session.
        session: u64,
        /// The client service.
        service: u64,
        /// Missing bytes: the green part is not repaired.
        lacks: u64,
    },
    /// It was a transfer.
    Tcpcl {
        /// What the other side calls itself.
        node: String,
        /// The number of the transfer.
        transfer: u64,
    },
}

/// A convergence layer.
#[derive(Clone, Copy)]
pub struct Layer {
    send: Send,
    listen: Listen,
}

type Send = fn(
    Sending,
    Vec<Item>,
    &dyn Fn() -> Result<(), Error>,
    &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Bundle>, Error>;
type Listen = fn(Listening, &mut dyn FnMut(Event) -> bool) -> Result<(), Error>;

impl Layer {
    /// Sends bundles; returns the outcome of each.
    ///
    /// # Errors
    /// [`Error::Input`] if it could not begin, [`Error::Failed`] if it failed before the fate of each was
    /// known.
    pub fn send(
        &self,
        sending: Sending,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Vec<Bundle>, Error> {
        let items = outgoing::open(&sending.files, watch)?;
        let check = outgoing::checker(&items);
        (self.send)(sending, items, &check, watch)
    }
    /// Stores bundles until `listening.count` have arrived, or `watch` returns false.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot listen, [`Error::Failed`] if the socket failed.
    pub fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        (self.listen)(listening, watch)
    }
}

/// Blocks of LTP in UDP (RFC 7122, section 3.3).
pub const LTP_UDP: Layer = Layer { send: ltp::send_over_udp, listen: ltp::listen_over_udp };
/// Blocks of LTP in DCCP (RFC 7122, section 3.3).
pub const LTP_DCCP: Layer = Layer { send: ltp::send_over_dccp, listen: ltp::listen_over_dccp };
/// Datagrams of UDP (RFC 7122, section 3.2).
pub const UDP: Layer = Layer { send: datagram::send_over_udp, listen: datagram::listen_over_udp };
/// Datagrams of DCCP (RFC 7122, section 3.2).
pub const DCCP: Layer = Layer { send: datagram::send_over_dccp, listen: datagram::listen_over_dccp };
/// TCPCLv4 (RFC 9174).
pub const TCP: Layer = Layer { send: tcpcl::send, listen: tcpcl::listen };

/// What became of bundles that an end has sent, in this time.
fn sent(end: &mut dyn Endpoint, seconds: f64) -> Vec<Bundle> {
    let events = end.take_events().into_iter().filter_map(|event| match event {
        Event::Bundle(bundle) => Some(Bundle { seconds, ..bundle }),
        _ => None,
    });
    events.collect()
}

/// An end of which every bundle has met its fate is over, as one whose receipt is here.
fn status(done: bool, progress: (u64, u64)) -> Status {
    let receipt = done.then_some(Receipt { digest: [0; 32], outcome: Ok(()), measured: None });
    Status { progress: Some(progress), receipt, over: done, ..Status::default() }
}
