//! Frames in sealed datagrams over UDP.

use super::UDPDTN;
use crate::clock::to_std;
use crate::daemon::config;
use crate::daemon::peer::Peer;
use crate::daemon::seal::{self, Name, Seal};
use lightlag_protocols::adaptive::{DATAGRAM_LEAST, Datagrams, DatagramsConfig, DatagramsContext};
use lightlag_protocols::controllers::{self, Controller, Flow};
use lightlag_protocols::parameter::{Parameters, Value};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tracing::{debug, info};

/// Heads of IPv4 and UDP.
const HEADERS: usize = 28;
/// No datagram is longer.
const LONGEST: usize = 65_536;
/// A name that is not known is asked for again after this.
const ASK_AGAIN: std::time::Duration = std::time::Duration::from_secs(5);

/// The stack of one peer.
pub struct State {
    socket: Option<Rc<UdpSocket>>,
    seal: RefCell<Seal>,
    datagrams: RefCell<Datagrams>,
    /// Where the other daemon is: as its last datagram came from, or as the settings say.
    address: Cell<Option<SocketAddr>>,
    heard: Notify,
    heard_at: Cell<Option<Instant>>,
    probed_at: Cell<Option<Instant>>,
    /// Datagrams, there and back.
    counts: Cell<(u64, u64)>,
}

impl State {
    /// Before anything was sent; without a socket nothing ever is.
    pub fn new(socket: Option<Rc<UdpSocket>>, seal: Seal, datagrams: Datagrams) -> Self {
        Self {
            socket,
            seal: RefCell::new(seal),
            datagrams: RefCell::new(datagrams),
            address: Cell::new(None),
            heard: Notify::new(),
            heard_at: Cell::new(None),
            probed_at: Cell::new(None),
            counts: Cell::new((0, 0)),
        }
    }
    /// Whether datagrams can be sent.
    pub fn is_there(&self) -> bool {
        self.socket.is_some() && self.address.get().is_some()
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
        self.socket.clone()
    }
    /// Where the other daemon is.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address.get()
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
    /// Goes on where a stream has left off: at its rate, if it had found one that is higher than what is known here, from
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
        datagrams.continue_from(
            now,
            if knows { Ok(controller(peer, Some((rate, round_trip)))) } else { Err(rate) },
        );
    }
    /// What is under way has come after so long, or is lost.
    pub fn grace(&self) -> Duration {
        self.datagrams.borrow().grace()
    }
    /// What a policy is to know of it, if it can be used.
    pub fn context(&self, now: Instant) -> Option<DatagramsContext> {
        self.is_there().then(|| self.datagrams.borrow().context(now))
    }
    /// Asks the other daemon to say something, if it was not asked for so long.
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
pub fn datagrams(peer: &config::Peer, incarnation: u32) -> Datagrams {
    let (datagram, headers) = sizes(peer);
    let config = DatagramsConfig { stack: UDPDTN, incarnation, datagram, headers };
    Datagrams::new(config, controller(peer, None))
}

/// Bytes of a datagram before it is sealed, and those that are added on the way.
fn sizes(peer: &config::Peer) -> (usize, Bytes) {
    let headers = HEADERS + seal::OVERHEAD;
    let datagram = usize::from(peer.datagram).saturating_sub(headers).max(DATAGRAM_LEAST);
    (datagram, Bytes(headers as u64))
}

/// Begins with a rate and a round trip that a stream had, or, where there was none, slowly; and keeps to what arrives.
fn controller(peer: &config::Peer, handed: Option<(BitRate, Option<Duration>)>) -> Box<dyn Controller> {
    let (datagram, headers) = sizes(peer);
    let entry = controllers::find("loss_tolerant").expect("it is in the table");
    let first = peer.first_rate.as_u64().saturating_mul(8) as f64;
    let first = BTreeMap::from([("initial_rate".to_owned(), Value::Number(first))]);
    let parameters = Parameters::resolve("loss_tolerant", entry.algorithm.parameters, &first);
    let flow = Flow {
        segment: Bytes(datagram as u64),
        packet: Bytes(datagram as u64 + headers.0),
        planned_rate: handed.map(|(rate, _)| rate),
        planned_round_trip: handed.and_then(|(_, round_trip)| round_trip),
        seed: 0,
        index: 0,
    };
    entry.build(&parameters.expect("a rate that the settings may have is in range"), flow)
}

/// Sends what there is to send, for as long as the daemon lives.
pub async fn run(peer: Rc<Peer>) {
    let state = &peer.udpdtn;
    let Some(socket) = state.socket.clone() else { return };
    if let Some(host) = &peer.config.udpdtn {
        state.address.set(Some(resolve(host).await));
        peer.on_changed();
    }
    let (mut plain, mut sealed) = (Vec::new(), Vec::new());
    loop {
        let Some(address) = state.address.get() else {
            state.heard.notified().await;
            continue;
        };
        let now = peer.clock.now();
        peer.with_by(UDPDTN, |session| state.datagrams.borrow_mut().on_deadline(now, session));
        while let Some(serial) = peer.with_by(UDPDTN, |session| {
            state.datagrams.borrow_mut().poll(peer.clock.now(), session, &mut plain)
        }) {
            peer.traffic.on_left(UDPDTN, plain.len());
            state.seal.borrow_mut().seal(serial, &plain, &mut sealed);
            // What the system does not take now is lost as on the way.
            if let Err(why) = socket.send_to(&sealed, address).await {
                debug!(peer = peer.config.name, %address, %why, "a datagram could not be sent");
            }
            let (left, came) = state.counts.get();
            state.counts.set((left + 1, came));
        }
        let deadline = peer.look(|session| state.datagrams.borrow().deadline(session));
        let pause = deadline.map(|at| to_std(at - peer.clock.now()));
        tokio::select! {
            () = sleep(pause) => {}
            () = peer.woken(UDPDTN) => {}
            () = state.heard.notified() => {}
        }
    }
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
            Ok(None) => debug!(host, "no address"),
            Err(why) => debug!(host, %why, "no address"),
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// Takes what comes by a socket to whom it is from, for as long as the daemon lives.
pub async fn receive(socket: Rc<UdpSocket>, peers: BTreeMap<Name, Rc<Peer>>) {
    let mut buffer = vec![0; LONGEST];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            // An answer that nobody is there to what was sent, as ICMP brings it.
            tokio::task::yield_now().await;
            continue;
        };
        let datagram = &mut buffer[..length];
        let named = |name| {
            peers
                .get(&name)
                .or_else(|| peers.values().find(|peer| peer.udpdtn.seal.borrow().is_short_name(name)))
        };
        let Some(peer) = seal::sender(datagram).and_then(named) else { continue };
        on_datagram(peer, datagram, from);
    }
}

fn on_datagram(peer: &Rc<Peer>, datagram: &mut [u8], from: SocketAddr) {
    let state = &peer.udpdtn;
    let mut seal = state.seal.borrow_mut();
    let Some(opened) = seal.open(datagram) else { return };
    let now = peer.clock.now();
    peer.traffic.on_came(UDPDTN, opened.plain.len());
    if opened.is_newest && state.address.replace(Some(from)) != Some(from) {
        info!(peer = peer.config.name, address = %from, "udpdtn heard");
        peer.on_changed();
    }
    let handled =
        peer.with(|session| state.datagrams.borrow_mut().handle(now, (opened.serial, opened.plain), session));
    if let Err(why) = handled {
        debug!(peer = peer.config.name, %why, "a datagram is wrong");
    }
    let (left, came) = state.counts.get();
    state.counts.set((left, came + 1));
    state.heard_at.set(Some(now));
    state.heard.notify_one();
}
