//! Transports: what carries files (`lightlag transfer`), noise (`lightlag bench-link`) and bundles (`lightlag bundles`).
//! A row of [`TRANSPORTS`] says what each carries.
//!
//! All but UDPDTN carry the same message for a file: a header of [`header::HEADER_BYTES`] with name, length and BLAKE3
//! digest, then the file; and back a receipt that says that the file is here whole, or why not. Files over UDPDTN have a
//! form of their own, by which a transfer is resumed: [`crate::transfer`]. Bundles: [`crate::convergence`].
//!
//! | file | what |
//! |---|---|
//! | `driver` | the loops that run an [`driver::Endpoint`] on a socket |
//! | `plan` | the contact plan that a sender follows |
//! | `options` | what all that is sent or received has in common |
//! | `header` | header and receipt as bytes |
//! | `message` | what is sent: header, then file |
//! | `incoming` | data of a message, until it is complete and has its name |
//! | `bench` | noise instead of a file, which is counted and thrown away |
//! | `tcp` | the kernel's TCP |
//! | `ltp` | LTP: a block is a message |
//! | `dccp` | DCCP in UDP (RFC 6773), and what sends datagrams over it |
//! | `pieces` | a message over DCCP alone: what is lost is sent again |
//! | `udpdtn` | files and noise over UDPDTN, by [`crate::transfer`] |

pub mod bench;
mod claims;
pub(crate) mod dccp;
pub(crate) mod driver;
pub mod header;
mod incoming;
pub(crate) mod ltp;
pub(crate) mod message;
mod options;
mod pieces;
mod plan;
mod tcp;
mod udpdtn;

pub use crate::error::Error;
pub use crate::transfer::{Counted, Event, Finished, Progress};
pub use incoming::{FileInbox, Inbox, Incoming};
pub use options::{ListenOptions, SendOptions};
pub use plan::{ContactPlan, ReadPlan, Step};

use crate::convergence;
use crate::transfer::Key;
use driver::Status;
use lightlag_protocols::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

/// What is sent.
pub enum Payload {
    /// A file.
    File(PathBuf),
    /// Noise without end, until the receiver has counted it for a time.
    Noise(bench::Plan),
}

/// A file or noise to send, and how.
pub struct Sending {
    /// What.
    pub payload: Payload,
    /// To whom, and how fast.
    pub options: SendOptions,
    /// Files over UDPDTN; other transports know none of it.
    pub udpdtn: UdpdtnOptions,
}

/// How files are sent over UDPDTN.
#[derive(Default)]
pub struct UdpdtnOptions {
    /// Repair each block before the next one begins.
    pub in_order: bool,
    /// Authenticates datagrams.
    pub key: Option<Key>,
    /// Folder for what is learned of listeners under a key; made if it is not there. Without it the listener needs one
    /// round trip more before it believes that the transfer is no recording.
    pub memory: Option<PathBuf>,
}

/// How to listen for files or noise.
pub struct Listening {
    /// Where, and in what packets.
    pub options: ListenOptions,
    /// Where messages go: a [`FileInbox`] for files, [`bench::Tallies`] for measurements.
    pub inbox: Arc<dyn Inbox>,
    /// End after the first transfer that ends.
    pub once: bool,
}

/// A file or noise that was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Bytes of the file.
    pub bytes: u64,
    /// BLAKE3 of the file.
    pub digest: [u8; 32],
    /// From the first datagram to the receipt.
    pub seconds: f64,
    /// Datagrams with data of the file; `None` over TCP.
    pub datagrams: Option<u64>,
    /// Those among them that were sent again; `None` over TCP.
    pub repairs: Option<u64>,
    /// Timeouts; `None` where they are not counted.
    pub timeouts: Option<u64>,
    /// Bytes that the receiver had before.
    pub resumed: u64,
    /// Datagrams that came and were no part of it; `None` where they are not counted.
    pub ignored: Option<u64>,
    /// Round trip, where it is measured.
    pub rtt: Option<Duration>,
    /// What the receiver counted, if it was no file.
    pub measured: Option<bench::Measured>,
}

impl Sent {
    /// Nothing of it has been sent yet.
    pub(crate) fn new(bytes: u64, digest: [u8; 32]) -> Self {
        Self {
            bytes,
            digest,
            seconds: 0.0,
            datagrams: None,
            repairs: None,
            timeouts: None,
            resumed: 0,
            ignored: None,
            rtt: None,
            measured: None,
        }
    }
    fn of(message: &message::Message) -> Self {
        Self::new(message.length(), message.content().digest())
    }
    pub(crate) fn with(self, status: &Status, seconds: f64) -> Self {
        let [datagrams, repairs] = status.sent.map(Some);
        let Status { rtt, timeouts, resumed, ignored, .. } = *status;
        let measured = status.receipt.as_ref().and_then(|receipt| receipt.measured);
        Self { seconds, datagrams, repairs, timeouts, resumed, ignored, rtt, measured, ..self }
    }
}

/// Carries files and noise.
pub trait Carrier: Sync {
    /// Sends until the receiver says that it has it whole, or until `watch` says false, which is asked ten
    /// times a second at least.
    ///
    /// # Errors
    /// [`Error::Input`] if it could not begin, [`Error::Failed`] if it failed or was stopped.
    fn send(&self, sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error>;
    /// Receives until the first transfer has ended, if `listening` says so, or until `watch` returns false,
    /// which is called ten times a second at least.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot listen, [`Error::Failed`] if the first transfer failed or the socket did.
    fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error>;
}

/// Our user has said that it is enough.
pub(crate) fn stopped() -> Error {
    Error::Failed("it was stopped before its end".to_owned())
}

/// A transport, and what it carries.
pub struct Transport {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in the table of controllers; `None`: it takes no controller.
    pub controlled_as: Option<&'static str>,
    /// The default controllers: without a planned rate, and with one.
    pub controllers: [&'static str; 2],
    /// How it carries files and noise.
    pub files: Option<Service<&'static dyn Carrier>>,
    /// How it carries bundles: it is a convergence layer.
    pub bundles: Option<Service<convergence::Layer>>,
}

/// What carries something over a transport, and where it listens.
pub struct Service<C> {
    /// The default port of a listener.
    pub port: u16,
    /// The same of DCCP in IP packets of its own (`--raw`); `None`: that cannot carry it.
    pub raw_port: Option<u16>,
    /// What carries it.
    pub by: C,
}

impl<C> Service<C> {
    const fn new(port: u16, by: C) -> Option<Self> {
        Some(Self { port, raw_port: None, by })
    }
    /// Over DCCP: the port of UDP, and that of DCCP.
    const fn over_dccp(raw_port: u16, by: C) -> Option<Self> {
        Some(Self { port: dccp::PORT, raw_port: Some(raw_port), by })
    }
    /// The default port of a listener.
    pub fn port(&self, raw: bool) -> u16 {
        self.raw_port.filter(|_| raw).unwrap_or(self.port)
    }
}

impl Transport {
    /// Its datagrams are packets of DCCP.
    pub fn is_dccp(&self) -> bool {
        self.controlled_as == Some("dccp")
    }
    /// Its senders follow a contact plan ([`SendOptions::plan`]).
    pub fn follows_plan(&self) -> bool {
        matches!(self.controlled_as, Some("udpdtn" | "ltp"))
    }
    /// It carries blocks of LTP, with engines, services, keys and colours.
    pub fn is_ltp(&self) -> bool {
        self.name.starts_with("ltp-")
    }
}

/// The service of DCCP by which files are carried without LTP: "LLfi".
const SERVICE_FILES: u32 = u32::from_be_bytes(*b"LLfi");
const LTP_PORT: u16 = lightlag_protocols::wire::ltp::PORT;
const FILES_PORT: u16 = crate::transfer::PORT;
const BUNDLES_PORT: u16 = convergence::PORT;

/// All of them.
pub const TRANSPORTS: &[Transport] = &[
    Transport {
        name: "udpdtn",
        controlled_as: Some("udpdtn"),
        controllers: ["contact_rate"; 2],
        files: Service::new(FILES_PORT, &udpdtn::OverUdpdtn),
        bundles: None,
    },
    Transport {
        name: "ltp-udp",
        controlled_as: Some("ltp"),
        controllers: ["cubic", "contact_rate"],
        files: Service::new(LTP_PORT, &ltp::OverUdp),
        bundles: Service::new(LTP_PORT, convergence::LTP_UDP),
    },
    Transport {
        name: "udp",
        controlled_as: None,
        controllers: [""; 2],
        files: None,
        bundles: Service::new(BUNDLES_PORT, convergence::UDP),
    },
    Transport {
        name: "ltp-dccp",
        controlled_as: Some("dccp"),
        controllers: ["ccid2"; 2],
        files: Service::over_dccp(LTP_PORT, &dccp::OverDccp::Blocks),
        bundles: Service::over_dccp(LTP_PORT, convergence::LTP_DCCP),
    },
    Transport {
        name: "dccp",
        controlled_as: Some("dccp"),
        controllers: ["ccid2"; 2],
        files: Service::over_dccp(FILES_PORT, &dccp::OverDccp::Pieces),
        bundles: Service::over_dccp(BUNDLES_PORT, convergence::DCCP),
    },
    Transport {
        name: "tcp",
        controlled_as: None,
        controllers: [""; 2],
        files: Service::new(FILES_PORT, &tcp::Tcp),
        bundles: Service::new(BUNDLES_PORT, convergence::TCP),
    },
];

/// The transport of a name.
pub fn find(name: &str) -> Option<&'static Transport> {
    TRANSPORTS.iter().find(|transport| transport.name == name)
}
