//! TCPCLv4 (RFC 9174): bundles over a stream, without I/O.
//!
//! A [`Session`] is one end of a TCP connection. It takes bytes as they arrive ([`Session::receive`]) and
//! reports events ([`Session::take_event`]); it returns messages to write ([`Session::poll`]). It holds
//! no bundle: received data are passed on at once, and a sent segment names the bytes that the
//! driver appends. A bundle is acknowledged whole when the driver says that it is kept
//! ([`Session::accept`]), not before.
//!
//! Left out by decision: TLS (section 4.4): the contact header says that it cannot be used, and a peer that
//! asks for it ends the session. What does not fit a session of this kind ends it: bytes that are no
//! message, data out of turn.
//!
//! | file | what |
//! |---|---|
//! | `incoming` | messages and data that come |
//! | `outgoing` | messages and data that leave, keep-alives, the end |

mod incoming;
mod outgoing;

use super::Machine;
use crate::time::{Duration, Instant};
use crate::wire::tcpcl::{
    Contact, Init, Malformed, Message, RefuseReason, RejectReason, Segment, TermReason, VERSION,
};
use std::collections::{BTreeMap, VecDeque};
use thiserror::Error;

/// How an end behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// It opened the TCP connection, so it speaks first.
    pub is_active: bool,
    /// Its name, as an endpoint of the Bundle Protocol.
    pub node: String,
    /// Keepalive interval in seconds; zero: none. The smaller value of both ends counts.
    pub keepalive_s: u16,
    /// Most data of a segment that it sends, in bytes.
    pub segment: u64,
    /// Longest bundle that it takes, in bytes; zero: none.
    pub transfer_mru: u64,
    /// Most time until the contact header and SESS_INIT of the peer; the header must arrive within a minute
    /// in any case (section 4.1).
    pub opening: Duration,
    /// Timeout of the session's end, and of a session without keepalives.
    pub patience: Duration,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Both ends know each other: bundles can go.
    Opened {
        /// What the peer calls itself.
        node: String,
    },
    /// A bundle begins to come.
    Coming {
        /// Which.
        transfer: u64,
        /// How long it says it is.
        total: Option<u64>,
    },
    /// The next bytes of the bundle that comes.
    Data {
        /// Which.
        transfer: u64,
        /// These.
        bytes: Vec<u8>,
    },
    /// It is here whole: [`Session::accept`] it or [`Session::refuse`] it.
    Whole {
        /// Which.
        transfer: u64,
    },
    /// A bundle of the peer was refused by the session itself: too long, or against the protocol.
    Declined {
        /// Which.
        transfer: u64,
        /// Why.
        reason: RefuseReason,
    },
    /// A bundle of our own has come so far.
    Acked {
        /// Which.
        transfer: u64,
        /// Bytes of it.
        length: u64,
    },
    /// A bundle of our own is with the peer.
    Sent {
        /// Which.
        transfer: u64,
    },
    /// A bundle of our own is not taken.
    Refused {
        /// Which.
        transfer: u64,
        /// Why.
        reason: RefuseReason,
    },
    /// A bundle of our own is longer than the peer takes: nothing of it has left.
    TooLong {
        /// Which.
        transfer: u64,
        /// What the peer takes, in bytes.
        most: u64,
    },
    /// The session is over; bundles in flight are not with the peer.
    Ended(Ending),
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Ending {
    /// As one end asked, when all was done.
    #[error("the session was closed")]
    Closed,
    /// The peer did not want it.
    #[error("the peer ended the session: {0}")]
    Peer(TermReason),
    /// The peer refused it before it began: it is full, or requires something, often TLS.
    #[error("{}", unwanted(*.0))]
    Unwanted(TermReason),
    /// The peer speaks another version.
    #[error("the peer speaks version {0} of TCPCL, not {VERSION}")]
    Version(u8),
    /// The bytes are no message.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// A message where none of its kind can be.
    #[error("a message of type {0} came where it cannot be")]
    Unexpected(u8),
    /// An extension of the session that must be understood.
    #[error("the peer insists on extension {0} of the session, which is not known here")]
    Extension(u16),
    /// The peer rejected a message.
    #[error("the peer rejected a message of type {1}: {0}")]
    Rejected(RejectReason, u8),
    /// A timeout.
    #[error("the peer said nothing for too long")]
    Silent,
    /// The connection broke before the session began.
    #[error(
        "the peer closed the connection without an answer: it may be full, or require TLS, which is not spoken here"
    )]
    Unopened,
    /// The connection broke.
    #[error("the connection ended in the middle of the session")]
    Cut,
}

/// Why a peer did not want a session, from its SESS_TERM (section 6.1).
fn unwanted(reason: TermReason) -> String {
    match reason {
        TermReason::ResourceExhaustion => "the listener is full; try again later".to_owned(),
        TermReason::Busy => "the listener is busy; try again later".to_owned(),
        TermReason::ContactFailure => format!(
            "the peer refused the session: {reason}; if it requires TLS, which is not spoken here, let it do without"
        ),
        _ => format!("the peer refused the session: {reason}"),
    }
}

/// Output to write: bytes, then data of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// A message.
    pub bytes: Vec<u8>,
    /// What follows it.
    pub data: Option<Piece>,
}

/// Bytes of a bundle of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which bundle.
    pub transfer: u64,
    /// Where they begin in it.
    pub offset: u64,
    /// How many.
    pub length: u64,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// The peer's contact header has not come.
    Contact,
    /// Its SESS_INIT has not.
    Init,
    /// Bundles go.
    Open,
    /// Only queued messages are still sent.
    Ended,
}

/// A bundle that comes.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    transfer: u64,
    total: Option<u64>,
    here: u64,
    /// Of the segment that comes: its data that have not come yet, and its place.
    left: u64,
    flags: crate::wire::tcpcl::Flags,
    /// Why it is refused, if it is; its further data are skipped.
    refused: Option<RefuseReason>,
}

/// A bundle that leaves.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    transfer: u64,
    length: u64,
    sent: u64,
    begun: bool,
}

/// One end of a TCP connection.
pub struct Session {
    config: Config,
    phase: Phase,
    began: Instant,
    heard: Instant,
    spoke: Instant,
    keepalive: Option<Duration>,
    peer: Option<Init>,
    /// Bytes that make no message yet.
    buffer: Vec<u8>,
    incoming: Option<Incoming>,
    /// Bundles that are whole and neither accepted nor refused: the place of their last segment, and bytes.
    whole: BTreeMap<u64, (crate::wire::tcpcl::Flags, u64)>,
    /// Refusals that wait until the bundles before them are accepted or refused.
    held: Vec<(u64, RefuseReason)>,
    /// Bundles that have not left whole.
    outgoing: VecDeque<Outgoing>,
    /// Those that have, and are not acknowledged: their bytes.
    unacked: BTreeMap<u64, u64>,
    /// The first is zero (section 5.2.1).
    next_transfer: u64,
    /// Messages queued for sending.
    waiting: VecDeque<Vec<u8>>,
    events: VecDeque<Event>,
    /// When each end said that it ends, our own first.
    term_at: Option<Instant>,
    peer_term: Option<TermReason>,
    /// Why it ends as soon as the peer's contact header is here.
    dismissed: Option<TermReason>,
}

/// More answers than this wait only if the peer does not read.
const WAITING_MOST: usize = 1024;

impl Session {
    /// The TCP connection has just been made.
    pub fn new(now: Instant, config: Config) -> Self {
        let mut session = Self {
            phase: Phase::Contact,
            began: now,
            heard: now,
            spoke: now,
            keepalive: None,
            peer: None,
            buffer: Vec::new(),
            incoming: None,
            whole: BTreeMap::new(),
            held: Vec::new(),
            outgoing: VecDeque::new(),
            unacked: BTreeMap::new(),
            next_transfer: 0,
            waiting: VecDeque::new(),
            events: VecDeque::new(),
            term_at: None,
            peer_term: None,
            dismissed: None,
            config,
        };
        if session.config.is_active {
            session.say_contact();
        }
        session
    }
    /// The next event; call it after everything received and after every poll, until it returns `None`.
    pub fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    /// Queues a bundle of `length` bytes behind earlier ones; returns its transfer ID.
    pub fn send(&mut self, length: u64) -> u64 {
        let transfer = self.next_transfer;
        self.next_transfer += 1;
        self.outgoing.push_back(Outgoing { transfer, length, sent: 0, begun: false });
        self.drop_unsendable();
        transfer
    }
    /// A bundle reported by [`Event::Whole`] is kept: the peer may forget it.
    pub fn accept(&mut self, transfer: u64) {
        if let Some((flags, length)) = self.whole.remove(&transfer) {
            self.say(&Message::Ack { flags, transfer, length });
            self.say_held();
        }
        self.end_if_done();
    }
    /// Refuses a bundle that is arriving or has arrived.
    pub fn refuse(&mut self, transfer: u64, reason: RefuseReason) {
        let comes = self.incoming.as_mut().filter(|one| one.transfer == transfer && one.refused.is_none());
        if let Some(incoming) = comes {
            incoming.refused = Some(reason);
        } else if self.whole.remove(&transfer).is_none() {
            return;
        }
        self.say_refusal(transfer, reason);
        self.end_if_done();
    }
    /// Refuses a bundle by itself.
    fn decline(&mut self, transfer: u64, reason: RefuseReason) {
        self.events.push_back(Event::Declined { transfer, reason });
        self.refuse(transfer, reason);
    }
    /// Why the peer ends the session, if it does.
    pub fn peer_term(&self) -> Option<TermReason> {
        self.peer_term
    }
    /// Ends the session when bundles in flight are done; later ones are not sent.
    pub fn finish(&mut self, now: Instant) {
        if self.phase < Phase::Open {
            self.end(Ending::Closed);
        } else if self.phase == Phase::Open && self.term_at.is_none() {
            self.say_term(now, false, TermReason::Unknown);
            self.drop_unsendable();
        }
    }
    /// Ends the session at once, and sends the peer the reason; bundles in flight are lost to it (section
    /// 6.1). Before the peer's contact header has arrived nothing may be sent: the reason follows it.
    pub fn dismiss(&mut self, now: Instant, reason: TermReason) {
        match self.phase {
            Phase::Contact => self.dismissed = Some(reason),
            Phase::Init | Phase::Open => {
                if self.term_at.is_none() {
                    self.say_term(now, false, reason);
                }
                self.end(Ending::Closed);
            }
            Phase::Ended => {}
        }
    }
    /// The peer has closed the connection, or it broke.
    pub fn cut(&mut self) {
        self.end(match self.peer_term {
            Some(_) if self.unfinished() == 0 && self.incoming.is_none() => Ending::Closed,
            Some(reason) => Ending::Peer(reason),
            None if self.phase < Phase::Open => Ending::Unopened,
            None => Ending::Cut,
        });
    }
    /// Whether reading and writing are done.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Ended && self.waiting.is_empty()
    }
    /// The peer does not read: stop reading from it.
    pub fn is_choked(&self) -> bool {
        self.waiting.len() >= WAITING_MOST
    }
    /// Bundles of our own that the peer has not taken or refused.
    pub fn unfinished(&self) -> usize {
        self.outgoing.len() + self.unacked.len()
    }

    fn say(&mut self, message: &Message) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        self.waiting.push_back(bytes);
    }
    /// Bundles before this one are accepted or refused first (section 5.2.4).
    fn say_refusal(&mut self, transfer: u64, reason: RefuseReason) {
        self.held.push((transfer, reason));
        self.say_held();
    }
    fn say_held(&mut self) {
        if self.whole.is_empty() {
            for (transfer, reason) in std::mem::take(&mut self.held) {
                self.say(&Message::Refuse { reason, transfer });
            }
        }
    }
    fn say_contact(&mut self) {
        self.waiting.push_back(Contact { version: VERSION, can_tls: false }.to_bytes().to_vec());
    }
    fn say_init(&mut self) {
        self.say(&Message::Init(Init {
            keepalive_s: self.config.keepalive_s,
            // Data are handed on as they come: a segment may be as long as a bundle.
            segment_mru: self.config.transfer_mru.max(1),
            // HDTN 1.3.1 divides by it.
            transfer_mru: self.config.transfer_mru.max(1),
            node: self.config.node.clone(),
            items: Vec::new(),
        }));
    }
    fn say_term(&mut self, now: Instant, reply: bool, reason: TermReason) {
        self.term_at = Some(now);
        self.say(&Message::Term { reply, reason });
    }
    fn end(&mut self, how: Ending) {
        if self.phase < Phase::Ended {
            self.phase = Phase::Ended;
            self.events.push_back(Event::Ended(how));
        }
    }
    /// Ends the session if both ends have sent SESS_TERM and nothing is in flight.
    fn end_if_done(&mut self) {
        let comes = self.incoming.is_some_and(|incoming| incoming.refused.is_none());
        let busy = comes || !self.whole.is_empty() || self.unfinished() > 0;
        if self.term_at.is_some() && self.peer_term.is_some() && !busy {
            self.end(Ending::Closed);
        }
    }
}

impl Machine for Session {
    type Input = Vec<u8>;
    type Output = Output;

    fn handle(&mut self, now: Instant, bytes: Vec<u8>) {
        self.receive(now, &bytes);
    }
    fn poll(&mut self, now: Instant) -> Option<Output> {
        self.on_time(now);
        let output = match self.waiting.pop_front() {
            Some(bytes) => Some(Output { bytes, data: None }),
            None => self.next_segment(),
        };
        if output.is_some() {
            self.spoke = now;
        }
        output
    }
    fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Contact | Phase::Init => Some(self.opens_until()),
            Phase::Open => {
                let speaks = self.keepalive.map(|span| self.spoke.saturating_add(span));
                let ends = self.term_at.map(|at| at.max(self.heard).saturating_add(self.config.patience));
                [speaks, ends, Some(self.silent_at())].into_iter().flatten().min()
            }
            Phase::Ended => None,
        }
    }
}
