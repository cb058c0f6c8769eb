//! Frames in sealed datagrams over UDP.

use super::UDPDTN;
use crate::config;
use crate::peer::{Peer, Peers};
use crate::seal::{self, Name, Seal};
use lightlag_node::clock::to_std;
use lightlag_protocols::controllers::{Controller, Flow};
use lightlag_protocols::session::{
    DATAGRAM_LEAST, DatagramArrival, Datagrams, DatagramsConfig, DatagramsContext, Path, Session,
};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::session::{Epoch, Note, Serial};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tracing::{debug, info};

/// Heads of IPv4 and UDP.
const HEADERS: usize = 28;
/// No datagram is longer.
const LONGEST: usize = 65_536;
/// Datagrams that are taken before others have their turn.
const AT_ONCE: usize = 16;
/// A name that is not known is asked for again after this.
const ASK_AGAIN: std::time::Duration = std::time::Duration::from_secs(5);

/// The stack of one peer.
pub struct State {
    socket: RefCell<Option<Rc<UdpSocket>>>,
    seal: RefCell<Seal>,
    datagrams: RefCell<Datagrams>,
    /// Where the other daemon is: where it answered from, or as the settings say.
    path: RefCell<Path<SocketAddr>>,
    heard: Notify,
    heard_at: Cell<Option<Instant>>,
    probed_at: Cell<Option<Instant>>,
    /// Datagrams sent and received.
    counts: Cell<(u64, u64)>,
    refused: Cell<Refused>,
}

/// Datagrams under the other daemon's name that were dropped.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Refused {
    /// It did not make them, or they were changed.
    pub forged: u64,
    /// They were made for another epoch than the present one: recorded before, or the other daemon does not know the present
    /// one yet.
    pub stale: u64,
    /// They came before.
    pub repeated: u64,
    /// They are of another version of the format.
    pub of_other_version: u64,
}

impl State {
    /// Before anything was sent; without a socket nothing ever is.
    pub fn new(socket: Option<Rc<UdpSocket>>, seal: Seal, datagrams: Datagrams) -> Self {
        Self {
            socket: RefCell::new(socket),
            seal: RefCell::new(seal),
            datagrams: RefCell::new(datagrams),
            path: RefCell::new(Path::new(None)),
            heard: Notify::new(),
            heard_at: Cell::new(None),
            probed_at: Cell::new(None),
            counts: Cell::new((0, 0)),
            refused: Cell::default(),
        }
    }
    /// Whether datagrams can be sent.
    pub fn is_there(&self) -> bool {
        self.socket.borrow().is_some() && self.address().is_some()
    }
    /// The last round trip.
    pub fn round_trip(&self) -> Option<Duration> {
        self.datagrams.borrow().round_trip()
    }
    /// At which they leave.
    pub fn rate(&self) -> Option<BitRate> {
        self.datagrams.borrow().rate()
    }
    /// What datagrams go by; the same for all peers.
    pub fn socket(&self) -> Option<Rc<UdpSocket>> {
        self.socket.borrow().clone()
    }
    /// From now on datagrams go by this.
    pub fn take(&self, socket: Rc<UdpSocket>) {
        *self.socket.borrow_mut() = Some(socket);
    }
    /// Where the other daemon is.
    pub fn address(&self) -> Option<SocketAddr> {
        self.path.borrow().address()
    }
    /// Datagrams under the other daemon's name that were dropped.
    pub fn refused(&self) -> Refused {
        self.refused.get()
    }
    fn refuse(&self, count: impl FnOnce(&mut Refused)) {
        let mut refused = self.refused.get();
        count(&mut refused);
        self.refused.set(refused);
    }
    /// The latest epoch of the other daemon that is known.
    pub fn peer(&self) -> Option<Epoch> {
        self.datagrams.borrow().peer()
    }
    /// The other daemon was heard in an epoch; see [`Datagrams::meet`].
    pub fn meet(&self, now: Instant, epoch: Epoch, session: &mut Session) -> bool {
        let is_latest = self.datagrams.borrow_mut().meet(now, epoch, session);
        self.heard.notify_one();
        is_latest
    }
    /// When anything came last.
    pub fn heard_at(&self) -> Option<Instant> {
        self.heard_at.get()
    }
    /// Datagrams that left, and that came.
    pub fn counts(&self) -> (u64, u64) {
        self.counts.get()
    }
    /// Those with frames that were given up, rightly or not.
    pub fn given_up(&self) -> u64 {
        self.datagrams.borrow().counts().lost
    }
    /// Continues from a stream: at its rate, if it had found one that is higher than what is known here, from
    /// its round trip.
    pub fn continue_from(
        &self,
        now: Instant,
        peer: &config::Peer,
        (rate, round_trip): (BitRate, Option<Duration>),
        is_found: bool,
    ) {
        let mut datagrams = self.datagrams.borrow_mut();
        let knows = is_found && datagrams.is_outdone(rate);
        datagrams.continue_from(now, knows.then(|| controller(peer, round_trip)), rate);
    }
    /// Data in transit arrive within this time, or are lost.
    pub fn grace(&self) -> Duration {
        self.datagrams.borrow().grace()
    }
    /// Whether the other daemon is silent for longer than the path takes; see [`Datagrams::is_unheard`].
    pub fn is_unheard(&self, now: Instant) -> bool {
        !self.is_there() || self.datagrams.borrow().is_unheard(now)
    }
    /// The policy's view of it, if it can be used.
    pub fn context(&self, now: Instant) -> Option<DatagramsContext> {
        self.is_there().then(|| self.datagrams.borrow().context(now))
    }
    /// Requests an answer from the other daemon, if none was requested for `every`.
    pub fn probe(&self, now: Instant, every: Duration) {
        let idle = !self.datagrams.borrow().is_waiting();
        let rested = self.probed_at.get().is_none_or(|at| now - at >= every);
        if self.is_there() && idle && rested {
            self.probed_at.set(Some(now));
            self.datagrams.borrow_mut().probe();
            self.heard.notify_one();
        }
    }
}

/// The machine of a peer that nothing is known of yet.
pub fn datagrams(peer: &config::Peer, epoch: Epoch, known: Option<Epoch>) -> Datagrams {
    let (datagram, headers) = sizes(peer);
    let config = DatagramsConfig { stack: UDPDTN, epoch, peer: known, datagram, headers };
    Datagrams::new(config, controller(peer, None))
}

/// Bytes of a datagram before it is sealed, and the overhead that is added.
fn sizes(peer: &config::Peer) -> (usize, Bytes) {
    let headers = HEADERS + seal::OVERHEAD;
    let datagram = usize::from(peer.datagram).saturating_sub(headers).max(DATAGRAM_LEAST);
    (datagram, Bytes(headers as u64))
}

/// One that knows no more than the round trip of a stream.
fn controller(peer: &config::Peer, round_trip: Option<Duration>) -> Box<dyn Controller> {
    let (datagram, headers) = sizes(peer);
    let segment = Bytes(datagram as u64);
    let flow = Flow::new(segment, segment + headers).planned(None, round_trip);
    peer.controller.build(peer.first_rate, flow)
}

/// Sends frames, for as long as the daemon runs.
pub async fn run(peer: Rc<Peer>, host: Option<String>) {
    let state = &peer.udpdtn;
    let Some(socket) = state.socket() else { return };
    if let Some(host) = &host {
        let address = resolve(host).await;
        state.path.borrow_mut().configure(address);
        peer.on_changed();
    }
    let (mut plain, mut sealed) = (Vec::new(), Vec::new());
    let longest = longest(&peer.config);
    loop {
        let Some(address) = state.address() else {
            state.heard.notified().await;
            continue;
        };
        let now = peer.clock.now();
        peer.with_by(UDPDTN, |session| state.datagrams.borrow_mut().on_deadline(now, session));
        while state.path.borrow().may_send(longest)
            && let Some(serial) = peer.with_by(UDPDTN, |session| {
                state.datagrams.borrow_mut().poll(peer.clock.now(), session, &mut plain)
            })
        {
            peer.traffic.on_left(UDPDTN, plain.len());
            state.seal.borrow_mut().seal(serial, &plain, &mut sealed);
            state.path.borrow_mut().on_sent(sealed.len() as u64);
            // A datagram that the system refuses now counts as lost.
            if let Err(why) = socket.send_to(&sealed, address).await {
                debug!(peer = peer.config.name, %address, %why, "cannot send a datagram");
            }
            let (left, came) = state.counts.get();
            state.counts.set((left + 1, came));
        }
        // Where no more may be sent before the other daemon is heard, that wakes it.
        let may_send = state.path.borrow().may_send(longest);
        let deadline = peer.look(|session| state.datagrams.borrow().deadline(session)).filter(|_| may_send);
        let pause = deadline.map(|at| to_std(at - peer.clock.now()));
        tokio::select! {
            () = sleep(pause) => {}
            () = peer.woken(UDPDTN) => {}
            () = state.heard.notified() => {}
        }
    }
}

/// Bytes of a sealed datagram at most.
fn longest(peer: &config::Peer) -> u64 {
    let (datagram, headers) = sizes(peer);
    datagram as u64 + headers.0
}

async fn sleep(pause: Option<std::time::Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}

async fn resolve(host: &str) -> SocketAddr {
    loop {
        match tokio::net::lookup_host(host).await.map(|mut found| found.next()) {
            Ok(Some(address)) => return address,
            Ok(None) => debug!(host, "cannot resolve the peer's address"),
            Err(why) => debug!(host, %why, "cannot resolve the peer's address"),
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// Passes received datagrams of a socket to their senders' peers, for as long as the daemon runs.
pub async fn receive(socket: Rc<UdpSocket>, peers: Peers) {
    let mut buffer = vec![0; LONGEST];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            // An ICMP error for an earlier datagram.
            tokio::task::yield_now().await;
            continue;
        };
        on_named(&peers, &mut buffer[..length], from);
        // Those that have come meanwhile are taken without asking whether there are any.
        for _ in 1..AT_ONCE {
            let Ok((length, from)) = socket.try_recv_from(&mut buffer) else { break };
            on_named(&peers, &mut buffer[..length], from);
        }
    }
}

fn on_named(peers: &Peers, datagram: &mut [u8], from: SocketAddr) {
    let peer = seal::sender(datagram).and_then(|name| named(&peers.borrow(), name));
    if let Some(peer) = peer {
        on_datagram(&peer, datagram, from);
    }
}

/// Whom a datagram names.
fn named(peers: &[Rc<Peer>], name: Name) -> Option<Rc<Peer>> {
    let other_version = seal::of_other_version(name);
    let is_named = |peer: &&Rc<Peer>| {
        let seal = peer.udpdtn.seal.borrow();
        if other_version.is_some_and(|name| seal.is_name(name)) {
            peer.udpdtn.refuse(|refused| refused.of_other_version += 1);
        }
        seal.is_name(name) || seal.is_short_name(name)
    };
    peers.iter().find(is_named).cloned()
}

fn on_datagram(peer: &Rc<Peer>, datagram: &mut [u8], from: SocketAddr) {
    let state = &peer.udpdtn;
    let (now, length) = (peer.clock.now(), datagram.len());
    let mut seal = state.seal.borrow_mut();
    let Some(opened) = seal.open(datagram) else {
        return state.refuse(|refused| refused.forged += 1);
    };
    let (serial, carried) = (opened.serial, opened.plain.len());
    let handle =
        |session: &mut Session| state.datagrams.borrow_mut().handle(now, (serial, opened.plain), session);
    match peer.with(handle) {
        Ok(DatagramArrival::Stale) => {
            drop(seal);
            state.refuse(|refused| refused.stale += 1);
            greet(peer, now, serial.epoch, from);
        }
        Ok(DatagramArrival::Repeated) => state.refuse(|refused| refused.repeated += 1),
        Ok(DatagramArrival::Accepted { is_newest, note }) => {
            seal.accept(serial);
            drop(seal);
            peer.traffic.on_came(UDPDTN, carried);
            peer.keep_epoch();
            let (left, came) = state.counts.get();
            state.counts.set((left, came + 1));
            state.heard_at.set(Some(now));
            on_path(peer, now, (from, length), is_newest, note);
            state.heard.notify_one();
        }
        Err(why) => debug!(peer = peer.config.name, %why, "dropped a malformed datagram"),
    }
}

/// Says which epoch this is to one of the other daemon that does not know it, or that is not its latest.
fn greet(peer: &Peer, now: Instant, to: Epoch, from: SocketAddr) {
    let mut plain = Vec::new();
    let serial = peer.udpdtn.datagrams.borrow_mut().greet(now, to, &mut plain);
    if let Some(serial) = serial {
        send_single(peer, serial, &plain, from);
    }
}

/// Follows the other daemon to another address once it has answered from there, and answers where it asks.
fn on_path(
    peer: &Rc<Peer>,
    now: Instant,
    (from, length): (SocketAddr, usize),
    is_newest: bool,
    note: Option<Note>,
) {
    let state = &peer.udpdtn;
    let before = state.address();
    let challenge = state.path.borrow_mut().on_came(now, from, length as u64, is_newest);
    match note {
        Some(Note::PathChallenge(token)) => send_note(peer, Note::PathResponse(token), from),
        Some(Note::PathResponse(token)) => drop(state.path.borrow_mut().on_response(token, from)),
        Some(Note::Known(known)) => {
            if let Err(why) = peer.on_known(known) {
                debug!(peer = peer.config.name, why, "udpdtn");
            }
        }
        None => {}
    }
    if let Some(token) = challenge {
        send_note(peer, Note::PathChallenge(token), from);
    }
    if state.address() != before {
        info!(peer = peer.config.name, address = %from, "udpdtn: peer heard at a new address");
        peer.on_changed();
    }
}

fn send_note(peer: &Peer, note: Note, to: SocketAddr) {
    let mut plain = Vec::new();
    let serial = peer.udpdtn.datagrams.borrow_mut().note(note, &mut plain);
    if let Some(serial) = serial {
        send_single(peer, serial, &plain, to);
    }
}

/// A datagram that the system refuses now counts as lost: it is sent again where it matters.
fn send_single(peer: &Peer, serial: Serial, plain: &[u8], to: SocketAddr) {
    let state = &peer.udpdtn;
    let Some(socket) = state.socket() else { return };
    let mut sealed = Vec::new();
    state.seal.borrow_mut().seal(serial, plain, &mut sealed);
    if state.address() == Some(to) {
        state.path.borrow_mut().on_sent(sealed.len() as u64);
    }
    if let Err(why) = socket.try_send_to(&sealed, to) {
        debug!(peer = peer.config.name, address = %to, %why, "cannot send a datagram");
    }
    let (left, came) = state.counts.get();
    state.counts.set((left + 1, came));
}
