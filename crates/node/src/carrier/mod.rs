//! Ways to carry a file beside UDPDTN: `lightlag transfer --over`; and to measure what all carry, UDPDTN too:
//! `lightlag bench-link`.
//!
//! Every way carries the same: a header of [`header::HEADER_BYTES`] with name, length and BLAKE3 digest, then
//! the file; and back a receipt that says that the file is here whole, or why not. A [`Carrier`] is a way; a
//! row of [`WAYS`] names it.
//!
//! | file | what |
//! |---|---|
//! | `header` | header and receipt as bytes |
//! | `parcel` | what is sent: header, then file |
//! | `landing` | what comes in, until it is whole and has its name |
//! | `bench` | noise instead of a file, which is counted and thrown away |
//! | `tcp` | the kernel's TCP |
//! | `exchange` | datagrams between this socket and others, for all ways below |
//! | `ltp` | LTP: a block is a parcel |
//! | `dccp` | DCCP in UDP (RFC 6773), with whatever sends datagrams over it |
//! | `pieces` | a parcel over DCCP alone: what is lost is sent again |
//! | `udpdtn` | noise over UDPDTN; files go there by [`crate::transfer`] |

pub mod bench;
mod claims;
pub(crate) mod dccp;
pub(crate) mod exchange;
pub mod header;
mod landing;
pub(crate) mod ltp;
mod parcel;
mod pieces;
mod tcp;
mod udpdtn;

pub use crate::error::Error;
pub use crate::transfer::{Counted, Event, Finished, Progress};
pub use landing::{Dock, Inbox, Landing};

use crate::tap::Tap;
use lightlag_protocols::controllers::{Factory, Flow};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// What is to be sent.
pub enum Cargo {
    /// A file.
    File(PathBuf),
    /// Noise without end, until the receiver has counted it for a time.
    Noise(bench::Plan),
}

/// What is to be sent, and how.
pub struct Sending {
    /// What.
    pub cargo: Cargo,
    /// To whom.
    pub to: SocketAddr,
    /// Bytes of a packet, headers of IP and UDP included; nothing to TCP.
    pub packet: Bytes,
    /// What the plan promises.
    pub rate: Option<BitRate>,
    /// Round trip of light that the plan promises.
    pub light: Option<Duration>,
    /// Give up after so long a silence.
    pub give_up: Option<Duration>,
    /// DCCP in IP packets of its own, not in UDP.
    pub raw: bool,
    /// What paces it, by name; the kernel's TCP has its own.
    pub controller: Option<Factory>,
    /// Sees all datagrams; TCP shows none.
    pub tap: Option<Tap>,
}

/// How to listen.
pub struct Listening {
    /// Where.
    pub at: SocketAddr,
    /// Where parcels go: an [`Inbox`] for files, [`bench::Tallies`] for measurements.
    pub dock: Arc<dyn Dock>,
    /// Exit after the first transfer that ends.
    pub once: bool,
    /// Bytes of a packet, headers of IP and UDP included.
    pub packet: Bytes,
    /// DCCP in IP packets of its own, not in UDP.
    pub raw: bool,
    /// Sees all datagrams; TCP shows none.
    pub tap: Option<Tap>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Bytes of the file.
    pub bytes: u64,
    /// BLAKE3 of the file.
    pub digest: [u8; 32],
    /// From the first datagram to the receipt.
    pub seconds: f64,
    /// Datagrams with data of the file; TCP does not tell.
    pub datagrams: Option<u64>,
    /// Those among them that were sent again; TCP does not tell.
    pub repairs: Option<u64>,
    /// Round trip, where it is measured.
    pub rtt: Option<Duration>,
    /// What the receiver counted, if it was no file.
    pub measured: Option<bench::Measured>,
}

impl Sending {
    /// What its controller is built for.
    fn flow(&self, segment: Bytes) -> Result<Flow, Error> {
        let seed = crate::transfer::sender::random()?.into();
        Ok(Flow::new(segment, self.packet).planned(self.rate, self.light).seeded(seed, 0))
    }
}

impl Sent {
    /// Nothing has been sent yet.
    fn of(parcel: &parcel::Parcel) -> Self {
        let (bytes, digest) = (parcel.length(), parcel.digest());
        Self { bytes, digest, seconds: 0.0, datagrams: None, repairs: None, rtt: None, measured: None }
    }
    fn with(self, told: &exchange::Told, seconds: f64) -> Self {
        let [datagrams, repairs] = told.sent.map(Some);
        let measured = told.receipt.as_ref().and_then(|receipt| receipt.measured);
        Self { seconds, datagrams, repairs, rtt: told.rtt, measured, ..self }
    }
}

/// A way to carry files.
pub trait Carrier: Sync {
    /// Sends until the receiver says that it has it whole, or until `watch` says false, which is asked ten
    /// times a second at least.
    ///
    /// # Errors
    /// [`Error::Input`] if it could not begin, [`Error::Failed`] if it failed or was stopped.
    fn send(&self, sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error>;
    /// Receives until the first transfer has ended, if it is to end then, or until `watch` says false, which
    /// is asked ten times a second at least.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot listen, [`Error::Failed`] if the first transfer failed or the socket did.
    fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error>;
}

/// Our user has said that it is enough.
pub(crate) fn stopped() -> Error {
    Error::Failed("it was stopped before its end".to_owned())
}

/// A way and what is to be known of it.
pub struct Way {
    /// What it is called.
    pub name: &'static str,
    /// Where a listener is found if nothing else is said.
    pub port: u16,
    /// The same of DCCP in IP packets of its own; none: that cannot carry it.
    pub raw_port: Option<u16>,
    /// As controllers name what carries it; none: the kernel's TCP, which has its own.
    pub transport: Option<&'static str>,
    /// What paces it if nothing else is said: without a planned rate, and with one.
    pub controllers: [&'static str; 2],
    /// Itself.
    pub carrier: &'static dyn Carrier,
}

impl Way {
    /// Its datagrams are packets of DCCP.
    pub fn is_dccp(&self) -> bool {
        self.transport == Some("dccp")
    }
}

/// The service of DCCP by which files are carried without LTP: "LLfi".
const SERVICE_FILES: u32 = u32::from_be_bytes(*b"LLfi");

/// All of them.
pub const WAYS: &[Way] = &[
    Way {
        name: "udpdtn",
        port: crate::transfer::PORT,
        raw_port: None,
        transport: Some("udpdtn"),
        controllers: ["contact_rate", "contact_rate"],
        carrier: &udpdtn::OverUdpdtn,
    },
    Way {
        name: "ltp-udp",
        port: lightlag_protocols::wire::ltp::PORT,
        raw_port: None,
        transport: Some("ltp"),
        controllers: ["cubic", "contact_rate"],
        carrier: &ltp::OverUdp,
    },
    Way {
        name: "ltp-dccp",
        port: dccp::PORT,
        raw_port: Some(lightlag_protocols::wire::ltp::PORT),
        transport: Some("dccp"),
        controllers: ["ccid2", "ccid2"],
        carrier: &dccp::OverDccp::Blocks,
    },
    Way {
        name: "dccp",
        port: dccp::PORT,
        raw_port: Some(crate::transfer::PORT),
        transport: Some("dccp"),
        controllers: ["ccid2", "ccid2"],
        carrier: &dccp::OverDccp::Pieces,
    },
    Way {
        name: "tcp",
        port: crate::transfer::PORT,
        raw_port: None,
        transport: None,
        controllers: [""; 2],
        carrier: &tcp::Tcp,
    },
];

/// The way of a name.
pub fn find(name: &str) -> Option<&'static Way> {
    WAYS.iter().find(|way| way.name == name)
}
