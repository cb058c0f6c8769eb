//! What a daemon takes from its settings while it runs: peers, doors, contacts, rules and services. All of it or, where
//! anything is wrong, nothing. Connections that the new settings still allow continue.

use super::config::{self, Acceptor, Config, Forward};
use super::peer::Peer;
use super::proxy::access::Access;
use super::proxy::{self, Router};
use super::stack::{tcp, udpdtn};
use super::{Daemon, context, direct, know, listen, tls};
use lightlag_node::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::{AbortHandle, spawn_local};
use tracing::info;

/// Time for a removed peer to confirm that its connections are over, and how often that is checked.
const FAREWELL: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);

/// Begins to speak with another daemon, where the settings say.
pub fn begin(peer: &Rc<Peer>, config: &config::Peer) {
    call(peer, config);
    let datagrams = spawn_local(udpdtn::run(peer.clone(), config.udpdtn.clone()));
    let tends = spawn_local(context::tend(peer.clone()));
    peer.tasks.borrow_mut().extend([datagrams.abort_handle(), tends.abort_handle()]);
}

fn call(peer: &Rc<Peer>, config: &config::Peer) {
    let calls =
        config.tcp.clone().map(|address| spawn_local(tcp::call(peer.clone(), address)).abort_handle());
    if let Some(before) = peer.calls.replace(calls) {
        before.abort();
    }
}

/// A door as the settings have it.
#[derive(Clone, PartialEq, Eq)]
enum Kind {
    Socks(Rc<Acceptor>),
    Http(Rc<Acceptor>),
    Redirected(Rc<Acceptor>),
    Forward(Forward),
}

impl Kind {
    fn address(&self) -> SocketAddr {
        match self {
            Self::Socks(door) | Self::Http(door) | Self::Redirected(door) => door.listen,
            Self::Forward(forward) => forward.listen,
        }
    }
    fn setting(&self) -> &'static str {
        match self {
            Self::Socks(_) => "[[socks]] listen",
            Self::Http(_) => "[[http]] listen",
            Self::Redirected(_) => "[[redirected]] listen",
            Self::Forward(_) => "[[forward]] listen",
        }
    }
    fn all(config: &Config) -> Vec<Self> {
        let of = |doors: &[Acceptor], kind: fn(Rc<Acceptor>) -> Self| -> Vec<Self> {
            doors.iter().cloned().map(Rc::new).map(kind).collect()
        };
        let forwards = config.forward.iter().cloned().map(Self::Forward).collect();
        let doors = [of(&config.socks, Self::Socks), of(&config.http, Self::Http)];
        let [socks, http] = doors;
        [socks, http, of(&config.redirected, Self::Redirected), forwards].concat()
    }
    fn serve(&self, router: &Rc<Router>, listener: Rc<TcpListener>) -> AbortHandle {
        let router = router.clone();
        let task = match self.clone() {
            Self::Socks(door) => spawn_local(proxy::socks::serve(router, listener, door)),
            Self::Http(door) => spawn_local(proxy::http::serve(router, listener, door)),
            Self::Redirected(door) => spawn_local(proxy::forward::serve_redirected(router, listener, door)),
            Self::Forward(forward) => spawn_local(proxy::forward::serve(router, listener, forward)),
        };
        task.abort_handle()
    }
}

/// A door that is open.
struct Opened {
    kind: Kind,
    listener: Rc<TcpListener>,
    accepts: Option<AbortHandle>,
}

/// All doors that are open.
#[derive(Default)]
pub struct Acceptors {
    open: Vec<Opened>,
}

/// Acceptors that can be opened: all their addresses are there.
pub struct Prepared(Vec<(Kind, Rc<TcpListener>)>);

impl Acceptors {
    /// Listens for what is new; nothing is let in yet.
    ///
    /// # Errors
    /// An address cannot be bound.
    pub fn prepare(&self, config: &Config) -> Result<Prepared, Error> {
        let mut left: Vec<&Opened> = self.open.iter().collect();
        let mut prepared = Vec::new();
        for kind in Kind::all(config) {
            let known = left.iter().position(|one| one.kind.address() == kind.address());
            let listener = match known.map(|at| left.swap_remove(at)) {
                Some(one) => one.listener.clone(),
                None => Rc::new(listen(kind.setting(), kind.address())?),
            };
            prepared.push((kind, listener));
        }
        Ok(Prepared(prepared))
    }
    /// Opens these, and closes all others. Accepted connections continue.
    pub fn open(&mut self, Prepared(prepared): Prepared, router: &Rc<Router>) {
        let mut before = std::mem::take(&mut self.open);
        for (kind, listener) in prepared {
            let same = |one: &Opened| one.kind == kind && Rc::ptr_eq(&one.listener, &listener);
            let accepts = match before.iter().position(same).map(|at| before.swap_remove(at)) {
                Some(mut one) => one.accepts.take(),
                None => Some(kind.serve(router, listener.clone())),
            };
            self.open.push(Opened { kind, listener, accepts });
        }
        before.into_iter().filter_map(|one| one.accepts).for_each(|task| task.abort());
    }
}

impl Daemon {
    /// Takes what can change while it runs.
    ///
    /// # Errors
    /// What is wrong with the settings; then nothing has changed.
    pub(super) async fn reload(&self, path: &Path) -> Result<String, String> {
        let config = Config::read(path).map_err(|why| why.to_string())?;
        let told = |why: Error| why.to_string();
        let doors = self.doors.borrow().prepare(&config).map_err(told)?;
        let keys = config.peer.iter().map(|peer| peer.key).collect();
        let server = tls::server(&self.identity, keys).map_err(told)?;
        let (socket, is_new) = self.speak(&config).await?;
        let mut peers = Vec::new();
        let mut added = Vec::new();
        for new in &config.peer {
            let same = |peer: &&Rc<Peer>| peer.key() == new.key;
            let known = self.router.peers.borrow().iter().find(same).cloned();
            let peer = match (known, self.removed.borrow().iter().find(same).cloned()) {
                (Some(peer), _) => peer,
                (None, Some(peer)) => {
                    added.push((peer.clone(), new));
                    peer
                }
                (None, None) => {
                    let with = (socket.clone(), self.wants.clone(), self.budget.clone());
                    let made = know(&config, new, &self.identity, (self.clock, &self.life), with);
                    let peer = made.map_err(told)?;
                    added.push((peer.clone(), new));
                    peer
                }
            };
            peers.push(peer);
        }
        // From here on nothing fails.
        self.dismiss(&config).await;
        self.take_peers(&config, peers, &added);
        if let Some(socket) = socket.filter(|_| is_new) {
            self.router.peers.borrow().iter().for_each(|peer| peer.udpdtn.take(socket.clone()));
            *self.socket.borrow_mut() = Some(socket.clone());
            spawn_local(udpdtn::receive(socket, self.router.peers.clone()));
        }
        for (peer, new) in added {
            begin(&peer, new);
        }
        *self.tls.borrow_mut() = server;
        *self.router.direct.borrow_mut() = direct(&config);
        self.doors.borrow_mut().open(doors, &self.router);
        self.services.borrow_mut().configure(config.services.clone());
        let said = self.tell(&config);
        info!("{said}");
        Ok(format!("{said}\n"))
    }
    /// The socket of datagrams, and whether it is new.
    async fn speak(&self, config: &Config) -> Result<(Option<Rc<UdpSocket>>, bool), String> {
        let known = self.socket.borrow().clone();
        if known.is_some() || config.peer.iter().all(|peer| peer.udpdtn.is_none()) {
            return Ok((known, false));
        }
        let bound = match UdpSocket::bind(SocketAddr::from(([0_u16; 8], 0))).await {
            Ok(socket) => Ok(socket),
            Err(_) => UdpSocket::bind(SocketAddr::from(([0_u8; 4], 0))).await,
        };
        let socket = bound.map_err(|why| format!("udpdtn: {why}"))?;
        Ok((Some(Rc::new(socket)), true))
    }
    /// Resets the connections of peers that are removed, and waits until these know, if they can be reached.
    async fn dismiss(&self, config: &Config) {
        let peers = self.router.peers.borrow().clone();
        let is_left = |peer: &Rc<Peer>| config.peer.iter().all(|new| new.key != peer.key());
        let removed: Vec<Rc<Peer>> = peers.into_iter().filter(is_left).collect();
        removed.iter().for_each(Peer::remove);
        let told = async {
            while removed.iter().any(|peer| peer.has_farewells()) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, told).await;
    }
    fn take_peers(&self, config: &Config, peers: Vec<Rc<Peer>>, added: &[(Rc<Peer>, &config::Peer)]) {
        let before = self.router.peers.replace(peers);
        for (peer, _) in added {
            peer.restore();
            self.removed.borrow_mut().retain(|one| one.key() != peer.key());
        }
        let started = self.config.borrow();
        for peer in before {
            let Some(new) = config.peer.iter().find(|new| new.key == peer.key()) else {
                info!(peer = peer.config.name, "peer removed");
                peer.stop();
                self.removed.borrow_mut().push(peer);
                continue;
            };
            let old = started.peer.iter().find(|old| old.key == peer.key());
            if old.is_none_or(|old| old.tcp != new.tcp) {
                call(&peer, new);
            }
            if old.is_none_or(|old| old.udpdtn != new.udpdtn) && new.udpdtn.is_some() {
                peer.tasks.borrow_mut().drain(..).for_each(|task| task.abort());
                let datagrams = spawn_local(udpdtn::run(peer.clone(), new.udpdtn.clone()));
                let tends = spawn_local(context::tend(peer.clone()));
                peer.tasks.borrow_mut().extend([datagrams.abort_handle(), tends.abort_handle()]);
            }
        }
        for peer in self.router.peers.borrow().iter() {
            let Some(new) = config.peer.iter().find(|new| new.key == peer.key()) else { continue };
            *peer.access.borrow_mut() = Rc::new(Access::of(new, &config.deny));
            *peer.contacts.borrow_mut() = new.contact.clone();
            peer.choose(new.stack);
        }
    }
    /// What was taken, and what was not. The settings that count from now on are these, where they were taken.
    fn tell(&self, config: &Config) -> String {
        let mut started = self.config.borrow_mut();
        let changed: Vec<String> = config.fixed_changes(&started).into_iter().map(str::to_owned).collect();
        started.take_changes(config);
        let mut said = "reloaded peers, listeners, direct, deny and services".to_owned();
        if !changed.is_empty() {
            said += &format!("; changes in {} need a restart", changed.join(", "));
        }
        said
    }
}
