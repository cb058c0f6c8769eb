//! The daemon's status report.

use super::config::Choice;
use super::peer::Peer;
use super::proxy::Router;
use super::stack;
use super::stack::udpdtn::Refused;
use lightlag_protocols::session::{Connection, State};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::session::ConnectionId;
use serde::{Deserialize, Serialize};

/// A daemon at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    /// Its version.
    pub version: String,
    /// Who it is.
    pub key: String,
    /// Seconds since it began.
    pub age_s: f64,
    /// The others.
    pub peers: Vec<PeerStatus>,
    /// Bytes that durable connections have stored.
    pub custody: u64,
    /// Memory of connections.
    #[serde(default)]
    pub memory: MemoryStatus,
    /// Why what they accept cannot be stored now, and waits.
    #[serde(default)]
    pub trouble: Option<String>,
    /// What was lost of what durable connections accepted: one line each, until its owner has seen to it.
    #[serde(default)]
    pub lost: Vec<String>,
    /// Connections that go by plain TCP, and that ever did.
    pub direct: (u64, u64),
    /// Applications that doors have refused for want of the right password.
    #[serde(default)]
    pub intruders: u64,
}

/// The memory that all connections share (`[limits] memory`), in bytes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct MemoryStatus {
    /// Bytes that connections have, or may have by windows that were advertised to the peer.
    pub used: u64,
    /// The budget.
    pub limit: u64,
    /// Connections for which there is room.
    pub connections_max: u64,
}

/// Another daemon, as seen from here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PeerStatus {
    /// What it is called here.
    pub name: String,
    /// Whether anything was ever heard of it.
    pub is_known: bool,
    /// What its owner wants to carry connections.
    #[serde(default)]
    pub wanted: Choice,
    /// What carries connections.
    pub stack: String,
    /// Why.
    pub why: String,
    /// For how long, in seconds.
    pub since_s: f64,
    /// Switches in all.
    pub switches: u64,
    /// The last of them: seconds ago, stack, reason.
    pub history: Vec<(f64, String, String)>,
    /// TLS over TCP, if it is connected.
    pub tcp: Option<TcpStatus>,
    /// Why it is not, if that is known.
    #[serde(default)]
    pub tcp_trouble: Option<String>,
    /// Datagrams under its name that were dropped, by the reason.
    #[serde(default)]
    pub refused_datagrams: Refused,
    /// The version of its program, if it was heard by TCP.
    #[serde(default)]
    pub version: Option<String>,
    /// Segments of TCP that were sent again since the daemon began.
    #[serde(default)]
    pub retransmitted: u64,
    /// Bytes of frames and their records that left and came, by stack.
    #[serde(default)]
    pub bytes: Vec<(String, u64, u64)>,
    /// Connections that applications here have opened, and those that the other daemon has.
    #[serde(default)]
    pub opened: (u64, u64),
    /// Connections of the other daemon whose target it may not reach from here.
    #[serde(default)]
    pub refused: u64,
    /// UDPDTN, if it is set up.
    pub udpdtn: Option<DatagramsStatus>,
    /// Shared connections.
    pub connections: Vec<ConnectionStatus>,
}

/// TCP, as the kernel reports it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TcpStatus {
    /// Smoothed, in seconds.
    pub round_trip_s: f64,
    /// Doublings of the timer.
    pub backoff: u32,
    /// Segments sent again.
    pub retransmitted: u32,
    /// Bytes a second.
    pub delivery_rate: u64,
    /// Bytes that were acknowledged.
    pub acknowledged: u64,
}

/// Datagrams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DatagramsStatus {
    /// Where the other daemon is.
    pub address: String,
    /// The last one, in seconds.
    pub round_trip_s: Option<f64>,
    /// Bytes a second that leave at most, with the headers of the link.
    #[serde(default)]
    pub rate: Option<u64>,
    /// How many left.
    pub left: u64,
    /// How many of them were given up, so that what they carried was carried again.
    pub given_up: u64,
    /// How many came.
    pub came: u64,
    /// Seconds since the last came.
    pub heard_s: Option<f64>,
}

/// A connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConnectionStatus {
    /// Its number among those of its opener's epoch.
    pub id: String,
    /// Whether it was opened from here.
    pub is_ours: bool,
    /// To what.
    pub target: String,
    /// How far it is.
    pub state: String,
    /// What carries it.
    pub stack: String,
    /// Its priority.
    pub priority: u8,
    /// Whether what is accepted is stored.
    pub durable: bool,
    /// If it is durable: bytes that the application here gave and that are stored, and whether the end is.
    pub accepted: Option<(u64, bool)>,
    /// Bytes that the far side has acknowledged.
    pub delivered: u64,
    /// Bytes that wait here until they are.
    pub backlog: u64,
    /// Bytes that came.
    pub received: u64,
    /// For how long there is it, in seconds.
    pub age_s: f64,
}

impl Status {
    /// Why no connection can be carried now; `None` if one can. Without peers there is nothing to wait for.
    pub fn unready(&self) -> Option<String> {
        if let Some(why) = &self.trouble {
            return Some(format!("what durable connections accept cannot be stored: {why}"));
        }
        let is_heard = |peer: &PeerStatus| {
            peer.tcp.is_some() || peer.udpdtn.as_ref().is_some_and(|udpdtn| udpdtn.heard_s.is_some())
        };
        (!self.peers.is_empty() && !self.peers.iter().any(is_heard)).then(|| {
            let names: Vec<&str> = self.peers.iter().map(|peer| peer.name.as_str()).collect();
            format!("no peer was heard: {}", names.join(", "))
        })
    }
}

fn seconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e6
}

/// The others, and the connections that are shared with them.
pub fn peers(router: &Router) -> Vec<PeerStatus> {
    router.peers.borrow().iter().map(|peer| of_peer(peer)).collect()
}

fn of_peer(peer: &Peer) -> PeerStatus {
    let now = peer.clock.now();
    let history = peer.history.borrow();
    let tcp = peer.tcp.info().map(|info| TcpStatus {
        round_trip_s: seconds(info.round_trip),
        backoff: info.backoff,
        retransmitted: info.retransmitted,
        delivery_rate: info.delivery_rate,
        acknowledged: info.acknowledged,
    });
    let (left, came) = peer.udpdtn.counts();
    let udpdtn = peer.udpdtn.address().map(|address| DatagramsStatus {
        address: address.to_string(),
        round_trip_s: peer.udpdtn.round_trip().map(seconds),
        rate: peer.udpdtn.rate().map(|rate| rate.0 / 8),
        left,
        given_up: peer.udpdtn.given_up(),
        came,
        heard_s: peer.udpdtn.heard_at().map(|at| seconds(now - at)),
    });
    let of = |(id, connection): (ConnectionId, &Connection)| of_connection(peer, now, id, connection);
    PeerStatus {
        name: peer.config.name.clone(),
        is_known: peer.look(|session| session.peer()).is_some(),
        wanted: peer.choice(),
        stack: stack::name(history.now().stack).to_owned(),
        why: history.now().why.clone(),
        since_s: seconds(now - history.now().at),
        switches: history.count(),
        history: history
            .iter()
            .map(|switch| {
                (seconds(now - switch.at), stack::name(switch.stack).to_owned(), switch.why.clone())
            })
            .collect(),
        tcp,
        tcp_trouble: peer.tcp.trouble(),
        udpdtn,
        refused_datagrams: peer.udpdtn.refused(),
        version: peer.version.borrow().clone(),
        retransmitted: peer.tcp.retransmitted(),
        bytes: peer
            .traffic
            .all()
            .map(|(stack, left, came)| (stack::name(stack).to_owned(), left, came))
            .collect(),
        opened: (peer.counts.opened.get(), peer.counts.taken.get()),
        refused: peer.counts.refused.get(),
        connections: peer.look(|session| session.connections().map(of).collect()),
    }
}

fn of_connection(peer: &Peer, now: Instant, id: ConnectionId, connection: &Connection) -> ConnectionStatus {
    let state = match connection.state {
        State::Unnamed | State::Opening => "opening",
        State::Open => "open",
    };
    ConnectionStatus {
        id: id.to_string(),
        is_ours: id.incarnation == peer.epoch.number,
        target: connection.target.clone(),
        state: state.to_owned(),
        stack: stack::name(connection.stack).to_owned(),
        priority: connection.hints.priority,
        durable: connection.hints.durable,
        accepted: peer.accepted.borrow().get(&id).copied(),
        delivered: connection.outgoing.acknowledged(),
        backlog: connection.outgoing.kept(),
        received: connection.incoming.taken(),
        age_s: peer.since(id).map_or(0.0, |since| seconds(now - since)),
    }
}
