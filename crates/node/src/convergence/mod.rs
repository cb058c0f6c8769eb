//! Bundles to and from other implementations: `lightlag bundles`.
//!
//! A file is a bundle, as opaque bytes; nothing of our own is added to what the RFCs say. Datagrams are
//! those of RFC 7122, streams those of RFC 9174. A row of [`WAYS`] names a way.
//!
//! | file | what |
//! |---|---|
//! | `stock` | bundles that are to be sent |
//! | `books` | bytes that are kept and still may be |
//! | `shelf` | where bundles are kept that have come |
//! | `ltp` | a bundle is a block of LTP, over UDP or DCCP |
//! | `datagram` | a bundle is a datagram of UDP or DCCP |
//! | `tcpcl` | TCPCLv4 over the kernel's TCP |

mod books;
mod datagram;
mod ltp;
mod shelf;
mod stock;
mod tcpcl;

pub use crate::error::Error;
pub use crate::transfer::{Event, Progress};
pub use shelf::Shelf;

use crate::carrier::dccp;
use crate::carrier::exchange::Told;
use crate::carrier::header::Receipt;
use crate::refusals::Refusals;
use lightlag_protocols::controllers::{Factory, Flow};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::ltp::aggregation::BUNDLE_SERVICE;
use lightlag_protocols::wire::ltp::auth::Key;
use lightlag_protocols::wire::{ltp as ltp_wire, tcpcl as tcpcl_wire};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The port of bundles in UDP and in DCCP (RFC 7122, sections 3.2 and 4).
pub const PORT: u16 = tcpcl_wire::PORT;
/// What paces bundles in UDP if nothing else is said.
pub const UDP_RATE: BitRate = BitRate(1_000_000);

/// What is to be sent, and how.
pub struct Sending {
    /// The bundles.
    pub files: Vec<PathBuf>,
    /// To whom.
    pub to: SocketAddr,
    /// From where; none: from any port. Peers that answer to a fixed place need one.
    pub from: Option<SocketAddr>,
    /// Bytes of a packet, headers of IP and UDP included; nothing to TCP.
    pub packet: Bytes,
    /// What the plan promises; over UDP at which datagrams leave.
    pub rate: Option<BitRate>,
    /// Round trip of light that the plan promises.
    pub light: Option<Duration>,
    /// Give up after so long a silence.
    pub give_up: Option<Duration>,
    /// DCCP in IP packets of its own, not in UDP.
    pub raw: bool,
    /// What paces it; UDP and the kernel's TCP have none.
    pub controller: Option<Factory>,
    /// Of LTP.
    pub ltp: LtpSending,
    /// What this node calls itself, over TCP.
    pub node: String,
}

/// How blocks of LTP are sent.
#[derive(Clone, Debug)]
pub struct LtpSending {
    /// Our engine; none: one by chance.
    pub engine: Option<u64>,
    /// The client service.
    pub service: u64,
    /// Bytes at the end of each block that are green.
    pub green: u64,
    /// Bundles are collected in blocks of so many bytes (CCSDS 734.1-B-1); none: each is a block.
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
    /// Where.
    pub at: SocketAddr,
    /// Where bundles are kept.
    pub shelf: Shelf,
    /// End when so many have come.
    pub count: Option<u64>,
    /// Bytes of a packet, headers of IP and UDP included.
    pub packet: Bytes,
    /// DCCP in IP packets of its own, not in UDP.
    pub raw: bool,
    /// Where reports of LTP go; none: to where data come from.
    pub reply_to: Option<SocketAddr>,
    /// A block of LTP whose sender is silent for so long is given up.
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
    /// What the way tells of it.
    pub tag: Tag,
    /// How long it took.
    pub seconds: f64,
    /// Of one that was sent: whether the other side has it; or, over UDP, that it has left.
    pub outcome: Result<(), String>,
}

/// What the way tells of a bundle.
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
        /// Bytes that lack within it: green ones are not repaired.
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

/// A way and what is to be known of it.
pub struct Way {
    /// What it is called.
    pub name: &'static str,
    /// Where a listener is found if nothing else is said.
    pub port: u16,
    /// The same of DCCP in IP packets of its own; none: that cannot carry it.
    pub raw_port: Option<u16>,
    /// As controllers name what carries it; none: it takes no controller.
    pub transport: Option<&'static str>,
    /// What paces it if nothing else is said: without a planned rate, and with one.
    pub controllers: [&'static str; 2],
    /// Whether it is LTP, which has engines, services, keys and colours.
    pub is_ltp: bool,
    send: Send,
    listen: Listen,
}

type Send = fn(Sending, &mut dyn FnMut(Progress) -> bool) -> Result<Vec<Bundle>, Error>;
type Listen = fn(Listening, &mut dyn FnMut(Event) -> bool) -> Result<(), Error>;

impl Way {
    /// Sends bundles; tells what became of each.
    ///
    /// # Errors
    /// [`Error::Input`] if it could not begin, [`Error::Failed`] if it failed before the fate of each was
    /// known.
    pub fn send(
        &self,
        sending: Sending,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Vec<Bundle>, Error> {
        (self.send)(sending, watch)
    }
    /// Keeps bundles until as many have come as are to come, or `watch` says false.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot listen, [`Error::Failed`] if the socket failed.
    pub fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let mut refusals = Refusals::default();
        (self.listen)(listening, &mut |event| refusals.pass(event, watch))
    }
}

/// All of them.
pub const WAYS: &[Way] = &[
    Way {
        name: "ltp-udp",
        port: ltp_wire::PORT,
        raw_port: None,
        transport: Some("ltp"),
        controllers: ["cubic", "contact_rate"],
        is_ltp: true,
        send: ltp::send_over_udp,
        listen: ltp::listen_over_udp,
    },
    Way {
        name: "udp",
        port: PORT,
        raw_port: None,
        transport: None,
        controllers: [""; 2],
        is_ltp: false,
        send: datagram::send_over_udp,
        listen: datagram::listen_over_udp,
    },
    Way {
        name: "ltp-dccp",
        port: dccp::PORT,
        raw_port: Some(ltp_wire::PORT),
        transport: Some("dccp"),
        controllers: ["ccid2"; 2],
        is_ltp: true,
        send: ltp::send_over_dccp,
        listen: ltp::listen_over_dccp,
    },
    Way {
        name: "dccp",
        port: dccp::PORT,
        raw_port: Some(PORT),
        transport: Some("dccp"),
        controllers: ["ccid2"; 2],
        is_ltp: false,
        send: datagram::send_over_dccp,
        listen: datagram::listen_over_dccp,
    },
    Way {
        name: "tcp",
        port: tcpcl_wire::PORT,
        raw_port: None,
        transport: None,
        controllers: [""; 2],
        is_ltp: false,
        send: tcpcl::send,
        listen: tcpcl::listen,
    },
];

/// The way of a name.
pub fn find(name: &str) -> Option<&'static Way> {
    WAYS.iter().find(|way| way.name == name)
}

/// An end of which every bundle has met its fate is over, as one whose receipt is here.
fn told(done: bool, progress: (u64, u64)) -> Told {
    let receipt = done.then_some(Receipt { digest: [0; 32], outcome: Ok(()), measured: None });
    Told { progress: Some(progress), receipt, over: done, ..Told::default() }
}

/// What a controller is built for.
fn flow(sending: &Sending, segment: Bytes) -> Result<Flow, Error> {
    let seed = crate::transfer::sender::random()?.into();
    Ok(Flow::new(segment, sending.packet).planned(sending.rate, sending.light).seeded(seed, 0))
}

/// A socket of UDP that can reach a peer, from the place that it knows if it needs one.
fn socket(sending: &Sending) -> Result<crate::socket::Socket, Error> {
    let (to, from) = (sending.to, sending.from);
    let opened = from.map_or_else(|| crate::socket::Socket::towards(to), crate::socket::Socket::bind);
    opened.map_err(|why| match from {
        Some(from) => Error::Input(format!("--from: {from}: {why}; name a free address of this machine")),
        None => Error::Failed(format!("cannot open a socket to {to}: {why}")),
    })
}
