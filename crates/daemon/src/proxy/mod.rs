//! How applications come in, and how targets are reached for the other daemons.

pub mod access;
mod carry;
pub mod datagrams;
pub mod forward;
pub mod http;
pub mod mappings;
pub mod serve;
pub mod socks;

use access::{Access, Addresses};
pub use carry::{ProxiedConnection, carry_durable};

use super::durable::DurableConnection;
use super::peer::{Peer, Peers};
use super::store::{Record, Store};
use super::target::Target;
use super::{descriptors, log_limit};
use lightlag_protocols::wire::session::{CloseReason, ConnectionId, Hints, TARGET_MAX};
use socks::RequestedHints;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tracing::{info, warn};

/// An application that waits longer for its target gets a positive answer early: it may give up otherwise.
const ANSWER_AFTER: Duration = Duration::from_secs(5);
/// Tries of a connection that a restart of the far daemon ends before its application was answered.
const OPENINGS: usize = 3;

/// Knows which targets go by whom.
pub struct Router {
    /// The other daemons.
    pub peers: Peers,
    /// What durable connections have accepted.
    pub store: Store,
    /// Targets that none of them reaches and that go by plain TCP.
    pub direct: RefCell<Access>,
    /// Applications that doors have refused, with a wrong password or without one.
    pub intruders: Cell<u64>,
    /// Connections by plain TCP, now and ever.
    pub directly: Cell<(u64, u64)>,
    /// Which connection an application's socket is at the end of.
    pub applications: RefCell<BTreeMap<SocketAddr, (Rc<Peer>, ConnectionId)>>,
}

/// Who chooses by which of the other daemons a connection goes.
#[derive(Clone, Copy, Debug)]
pub enum Via<'a> {
    /// No choice: the first that reaches the target.
    Any,
    /// The application, which may use only what the settings let it reach.
    Asked(&'a str),
    /// The settings.
    Setting(&'a str),
}

impl<'a> Via<'a> {
    /// As an application has asked.
    pub fn of(requested: &'a RequestedHints) -> Self {
        requested.by.as_deref().map_or(Self::Any, Self::Asked)
    }
}

/// A connection for an application.
pub enum Upstream {
    /// Shared with another daemon.
    By(ProxiedConnection),
    /// The same, and durable.
    Durable(Rc<DurableConnection>),
    /// By plain TCP, as no peer reaches the target.
    Direct(TcpStream),
}

impl Router {
    /// The peer that reaches a target; `None`: no peer does.
    ///
    /// # Errors
    /// A peer is asked for that there is not, or that may not be used for this target.
    pub fn peer(&self, target: &Target, via: Via) -> Result<Option<Rc<Peer>>, CloseReason> {
        let reaches = |peer: &Peer| peer.access.borrow().reach.iter().any(|pattern| pattern.contains(target));
        let peers = self.peers.borrow();
        let named = |name: &str| peers.iter().find(|peer| peer.config.name == name);
        match via {
            Via::Any => Ok(peers.iter().find(|peer| reaches(peer)).cloned()),
            Via::Setting(name) => named(name).cloned().map(Some).ok_or(CloseReason::Unreachable),
            Via::Asked(name) => match named(name) {
                Some(peer) if reaches(peer) => Ok(Some(peer.clone())),
                Some(_) => {
                    warn!(peer = name, %target, "refused: `reach` of this peer does not contain the target");
                    Err(CloseReason::Forbidden)
                }
                None => Err(CloseReason::Unreachable),
            },
        }
    }
    /// Makes a connection, and waits until the target is reached or the application must be answered.
    ///
    /// # Errors
    /// Why it failed.
    pub async fn connect(
        &self,
        target: &Target,
        hints: Hints,
        via: Via<'_>,
    ) -> Result<Upstream, CloseReason> {
        if let Some(peer) = self.peer(target, via)? {
            return self.connect_by(&peer, target, hints).await;
        }
        let rules = self.direct.borrow().clone();
        if rules.serve.is_empty() || matches!(target, Target::Service(_)) {
            if let Some(suppressed) = log_limit::allow("no route") {
                warn!(%target, suppressed, "refused: no peer reaches the target, and `direct` is off");
            }
            return Err(CloseReason::Unreachable);
        }
        let Addresses::Tcp(addresses) = rules.find(target).await.inspect_err(|why| {
            if let Some(suppressed) = log_limit::allow("direct refused") {
                warn!(%target, ?why, suppressed, "refused: not allowed by `direct` and `deny`");
            }
        })?
        else {
            return Err(CloseReason::Unreachable);
        };
        if let Some(suppressed) = log_limit::allow("direct") {
            info!(%target, suppressed, "connecting directly: no peer reaches the target");
        }
        let reached = descriptors::connect(&addresses).await;
        reached.map(Upstream::Direct).map_err(|why| serve::reason(&why))
    }
    async fn connect_by(
        &self,
        peer: &Rc<Peer>,
        target: &Target,
        hints: Hints,
    ) -> Result<Upstream, CloseReason> {
        let name = target.to_string();
        if name.len() > TARGET_MAX {
            return Err(CloseReason::Unreachable);
        }
        if peer.is_hopeless() {
            let why = peer.tcp.trouble().unwrap_or_default();
            warn!(peer = peer.config.name, target = name, why, "refused: the keys do not match");
            return Err(CloseReason::Unreachable);
        }
        if hints.durable {
            let (id, _) = peer.open(&name, hints).ok_or(CloseReason::Full)?;
            let record = Record::new(name, hints, true);
            return Ok(Upstream::Durable(DurableConnection::begin(peer, &self.store, id, record).await));
        }
        for _ in 0..OPENINGS {
            let (id, waker) = peer.open(&name, hints).ok_or(CloseReason::Full)?;
            let line = ProxiedConnection::new(peer.clone(), id, waker);
            match tokio::time::timeout(ANSWER_AFTER, line.opened()).await {
                // The far daemon has restarted unnoticed. The application has sent nothing yet: no target hears it twice.
                Ok(Err(CloseReason::Unknown)) => {}
                Ok(Err(why)) => return Err(why),
                // The far daemon may have ended. What the application sends from now on goes by a connection of which nothing
                // leaves until it is heard: one that has restarted opens that, where it could only refuse this one.
                Err(_) if peer.is_in_doubt(id) => {
                    line.reset(CloseReason::Aborted);
                    let (id, waker) = peer.open(&name, hints).ok_or(CloseReason::Full)?;
                    return Ok(Upstream::By(ProxiedConnection::new(peer.clone(), id, waker)));
                }
                Ok(Ok(())) | Err(_) => return Ok(Upstream::By(line)),
            }
        }
        Err(CloseReason::Unknown)
    }
    /// How the connection of an application's socket is carried, after the changes that are asked for: as applications
    /// write their hints.
    ///
    /// # Errors
    /// There is no such connection, or what is asked for is wrong.
    pub fn hint(&self, from: SocketAddr, changes: &str) -> Result<String, String> {
        let applications = self.applications.borrow();
        let (peer, id) = applications
            .get(&canonical(from))
            .ok_or_else(|| format!("no connection with another daemon comes from {from}"))?;
        let is = peer.look(|session| session.connection(*id).map(|connection| connection.hints));
        let is = is.ok_or_else(|| format!("the connection from {from} is over"))?;
        let wanted = RequestedHints::read(changes, is)?;
        if wanted.by.is_some() || wanted.hints.durable != is.durable {
            return Err("peer and durable must be said before the connection is made".to_owned());
        }
        peer.with(|session| session.hint(*id, wanted.hints));
        Ok(RequestedHints { by: Some(peer.config.name.clone()), ..wanted }.to_string())
    }
    /// Carries an application's streams until they have ended.
    pub async fn carry(&self, way: Upstream, socket: TcpStream) {
        self.carry_after(way, socket, &[]).await;
    }
    /// The same, where some bytes of the application were read already.
    pub async fn carry_after(&self, way: Upstream, mut socket: TcpStream, read: &[u8]) {
        match way {
            Upstream::By(line) => {
                // Few: there is room for them in a connection that is new.
                line.peer.with(|session| session.write(line.id, read));
                let from = socket.peer_addr().ok().map(canonical);
                if let Some(from) = from {
                    self.applications.borrow_mut().insert(from, (line.peer.clone(), line.id));
                }
                // An application that left needs no word of it.
                let _ = line.carry(socket).await;
                if let Some(from) = from {
                    self.applications.borrow_mut().remove(&from);
                }
            }
            Upstream::Durable(durable) => {
                if !read.is_empty() {
                    durable.accept(read.to_vec()).await;
                }
                carry_durable(&durable, socket).await;
            }
            Upstream::Direct(mut target) => {
                let (now, ever) = self.directly.get();
                self.directly.set((now + 1, ever + 1));
                if target.write_all(read).await.is_ok() {
                    let _ = tokio::io::copy_bidirectional(&mut socket, &mut target).await;
                }
                let (now, ever) = self.directly.get();
                self.directly.set((now - 1, ever));
            }
        }
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The next connection that there are file descriptors for. Waits a little after an error that concerns the daemon, such as too many open files.
pub async fn accept(listener: &tokio::net::TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((socket, _)) => {
                if let Some(socket) = descriptors::make_room(socket).await {
                    return socket;
                }
                if let Some(suppressed) = log_limit::allow("descriptors") {
                    warn!(suppressed, "closed a new connection: too few file descriptors are free");
                }
            }
            Err(why) => {
                if let Some(suppressed) = log_limit::allow("accept") {
                    warn!(%why, suppressed, "cannot accept connections");
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}
