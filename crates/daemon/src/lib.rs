//! `lightlagd`: connections of applications that stay while what carries them changes (Petz and Julien, "An Adaptive
//! Architecture to Support Delay Tolerant Networking", 2008).
//!
//! Applications come in by [`proxy`], connections are shared with other daemons by a [`peer`]'s session, and frames are
//! carried by a [`stack`]. Everything runs in one thread.

mod budget;
pub mod config;
mod context;
pub mod control;
mod controller;
mod descriptors;
mod durable;
mod epoch;
mod events;
pub mod example;
#[doc(hidden)]
pub mod fuzzing;
mod history;
pub mod keys;
mod known;
mod links;
mod log_limit;
mod metrics;
mod page_server;
mod peer;
mod plan;
mod private;
mod proxy;
mod reload;
mod seal;
mod services;
mod stack;
pub mod status;
mod store;
mod target;
mod tcp_info;
mod tls;
mod traffic;
pub mod view;

pub use target::{Pattern, Target};

use config::{Choice, Config};
use control::Command;
use durable::DurableConnection;
use epoch::EpochState;
use keys::{Identity, PublicKey};
use lightlag_node::Error;
use lightlag_node::clock::Clock;
use lightlag_node::places::oldest_of_the_largest_host;
use lightlag_protocols::session::Budget;
use lightlag_protocols::wire::session::CloseReason;
use peer::{Peer, Peers, Wanted};
use proxy::Router;
use proxy::access::Access;
use proxy::serve::Services;
use reload::Acceptors;
use rustix::process::{Resource, getrlimit, setrlimit};
use rustls::ServerConfig;
use seal::Seal;
use stack::{tcp, udpdtn};
use status::Status;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Key, Record, Store};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, LocalSet, spawn_local};
use tokio_rustls::{TlsAcceptor, TlsStream};
use tracing::{info, warn};

/// Bytes of the stack of a thread that resolves names.
const NAMES_STACK: usize = 1 << 20;
/// A caller that has not shown a key within this time is closed.
const SHOW_KEY: Duration = Duration::from_secs(60);
/// Accept backlog, as large as the kernel allows (`net.core.somaxconn`). On overflow the kernel sends SYN
/// cookies and forgets callers, and a forgotten caller that has sent data is reset.
const CALLERS: u32 = 4096;
/// Interval of checks for changes without a notification.
const LOOK: Duration = Duration::from_secs(1);
/// Connections have this time to end when the daemon is stopped.
const FAREWELL: Duration = Duration::from_secs(5);

/// A daemon that runs.
struct Daemon {
    clock: Clock,
    key: PublicKey,
    /// As it was started; of what [`reload`] takes, as it was taken last.
    config: RefCell<Config>,
    router: Rc<Router>,
    services: Services,
    doors: RefCell<Acceptors>,
    tls: Keys,
    identity: Identity,
    life: EpochState,
    wants: mpsc::UnboundedSender<Wanted>,
    /// Of the memory of all connections.
    budget: Arc<Budget>,
    /// What all datagrams go by.
    socket: RefCell<Option<Rc<UdpSocket>>>,
    /// Peers removed from the settings: if they return, their sessions and datagram numbers continue.
    removed: RefCell<Vec<Rc<Peer>>>,
}

/// Whose keys TLS takes now.
type Keys = Rc<RefCell<Arc<ServerConfig>>>;

/// What goes by plain TCP.
fn direct(config: &Config) -> Access {
    Access { reach: Vec::new(), serve: config.direct.clone(), deny: config.deny.clone() }
}

/// Runs a daemon until it is stopped.
///
/// # Errors
/// What it needs is not there: one line.
pub fn run(path: &Path) -> Result<(), Error> {
    let config = Config::read(path)?;
    allow_files();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // One more than applications and peers can keep busy: for the addresses of the peers themselves.
    let threads = budget::threads() + 1;
    let runtime = runtime.enable_all().max_blocking_threads(threads).thread_stack_size(NAMES_STACK).build();
    let runtime = runtime.map_err(|why| Error::Failed(format!("the runtime: {why}")))?;
    LocalSet::new().block_on(&runtime, live(config, path))
}

/// Each connection is a file: as many as the system lets it have.
fn allow_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With fewer, some applications are not let in.
    let _ = setrlimit(Resource::Nofile, limit);
}

async fn live(config: Config, path: &Path) -> Result<(), Error> {
    // A file that may not grow is an error of a write, not the end.
    let _grown = signal(SignalKind::from_raw(nix::libc::SIGXFSZ));
    let identity = Identity::read(&config.key)?;
    let opened = private::tighten(&config.state)?;
    let life = EpochState::begin(&config.state)?;
    let (asks, asked) = mpsc::unbounded_channel();
    control::serve(&config.control(), asks.clone())?;
    if let Some(address) = config.page {
        control::serve_page(listen("page", address)?, asks);
    }
    let (wants, wanted) = mpsc::unbounded_channel();
    let clock = Clock::start();
    let budget = Arc::new(Budget::new(config.limits.memory.0));
    let peers: Peers =
        Rc::new(RefCell::new(meet(&config, &identity, (clock, &life), (&wants, &budget)).await?));
    let services = Rc::new(RefCell::new(services::Services::begin(&config.state, config.services.clone())));
    let (store, found) = Store::open(&config.state, config.limits.custody.0)?;
    inherit(found, &peers.borrow(), &store, &services);
    spawn_local(proxy::serve::serve(wanted, services.clone(), store.clone()));
    start(&peers);
    let tls =
        Rc::new(RefCell::new(tls::server(&identity, config.peer.iter().map(|peer| peer.key).collect())?));
    if let Some(address) = config.listen.tcp {
        let listener = listen("[listen] tcp", address)?;
        spawn_local(let_in(listener, tls.clone(), peers.clone(), config.limits.handshakes));
    }
    let router = Rc::new(Router {
        peers,
        store,
        direct: RefCell::new(direct(&config)),
        intruders: Cell::new(0),
        directly: Cell::new((0, 0)),
        applications: RefCell::default(),
    });
    let doors = RefCell::new(Acceptors::default());
    let prepared = doors.borrow().prepare(&config)?;
    doors.borrow_mut().open(prepared, &router);
    let socket = router.peers.borrow().iter().find_map(|peer| peer.udpdtn.socket());
    let daemon = Daemon {
        clock,
        key: identity.public(),
        config: RefCell::new(config),
        router,
        services,
        doors,
        tls,
        identity,
        life,
        wants,
        budget,
        socket: RefCell::new(socket),
        removed: RefCell::default(),
    };
    info!(key = %daemon.key, peers = daemon.router.peers.borrow().len(), "lightlagd started");
    opened.iter().for_each(|file| warn!(file, "other users had access: changed the file mode"));
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    daemon.obey(asked, path).await
}

fn listen(setting: &str, address: SocketAddr) -> Result<TcpListener, Error> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let listener = socket.and_then(|socket| {
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(CALLERS)
    });
    listener.map_err(|why| Error::Input(format!("{setting} = {address}: {why}")))
}

/// Begins with all other daemons.
async fn meet(
    config: &Config,
    identity: &Identity,
    (clock, life): (Clock, &EpochState),
    (wants, budget): (&mpsc::UnboundedSender<Wanted>, &Arc<Budget>),
) -> Result<Vec<Rc<Peer>>, Error> {
    let bind = async |address: SocketAddr| {
        let socket = UdpSocket::bind(address).await;
        socket.map(Rc::new).map_err(|why| Error::Input(format!("[listen] udpdtn = {address}: {why}")))
    };
    let speaks = config.peer.iter().any(|peer| peer.udpdtn.is_some());
    let socket = match config.listen.udpdtn {
        Some(address) => Some(bind(address).await?),
        // A daemon that only calls needs no address of its own; an IPv6 socket serves both families.
        None if speaks => match bind(SocketAddr::from(([0_u16; 8], 0))).await {
            Ok(socket) => Some(socket),
            Err(_) => Some(bind(SocketAddr::from(([0_u8; 4], 0))).await?),
        },
        None => None,
    };
    let mut peers = Vec::new();
    for other in &config.peer {
        let with = (socket.clone(), wants.clone(), budget.clone());
        peers.push(know(config, other, identity, (clock, life), with)?);
    }
    Ok(peers)
}

/// One other daemon, of which nothing is known yet.
fn know(
    config: &Config,
    other: &config::Peer,
    identity: &Identity,
    (clock, life): (Clock, &EpochState),
    (socket, wants, budget): (Option<Rc<UdpSocket>>, mpsc::UnboundedSender<Wanted>, Arc<Budget>),
) -> Result<Rc<Peer>, Error> {
    if other.key == identity.public() {
        let right = "name that of the other one (`lightlagd key` there)";
        return Err(Error::Input(format!("peer {:?}: its key is this daemon's own; {right}", other.name)));
    }
    let client = tls::client(identity, other.key)?;
    let epoch = life.epoch(&identity.public(), &other.key);
    let seal = Seal::new(identity, &other.key, epoch)
        .ok_or_else(|| Error::Input(format!("peer {:?}: its key is weak", other.name)))?;
    let udpdtn = udpdtn::State::new(socket, seal, udpdtn::datagrams(other, epoch, life.known.of(&other.key)));
    let tcp = tcp::State::new(identity.public(), client);
    let rules = (&config.limits, budget, &config.deny[..]);
    Ok(Peer::new(other.clone(), rules, (clock, epoch, life.known.clone()), (tcp, udpdtn), wants))
}

/// Begins to speak with all other daemons.
fn start(peers: &Peers) {
    for peer in peers.borrow().iter() {
        reload::begin(peer, &peer.config);
    }
    spawn_local(links::watch(peers.clone()));
    // All have the same one, if they have any.
    if let Some(socket) = peers.borrow().iter().find_map(|peer| peer.udpdtn.socket()) {
        spawn_local(udpdtn::receive(socket, peers.clone()));
    }
}

/// Resumes the durable connections of earlier epochs. It waits for no write, as the disk may be full.
fn inherit(found: Vec<(Key, Record)>, peers: &[Rc<Peer>], store: &Store, services: &Services) {
    let known = |key: &Key| peers.iter().find(|peer| peer.key() == key.peer);
    let inherited = durable::inherit(found);
    for (key, complete) in &inherited.over {
        if let Some(peer) = known(key) {
            peer.with(|session| session.remember(key.id, *complete));
        }
    }
    let latest: BTreeMap<PublicKey, u32> =
        peers.iter().filter_map(|peer| Some((peer.key(), peer.udpdtn.peer()?.number))).collect();
    spawn_local(durable::forget_old(store.clone(), inherited.over, move |key| latest.get(key).copied()));
    for (key, record) in inherited.alive {
        let Some(peer) = known(&key) else {
            warn!(peer = %key.peer, target = record.target, "kept a durable connection of a peer that is not in the settings");
            continue;
        };
        info!(peer = peer.config.name, target = record.target, "resumed a durable connection");
        let (is_ours, is_settled, is_over) = (record.is_ours, record.is_settled, record.over);
        let (accepted, given, _) = record.into;
        match is_over {
            Some(complete) => peer.with(|session| session.remember(key.id, complete)),
            None => DurableConnection::restore(peer, key, &record),
        }
        let custody = DurableConnection::resume(peer, store, key.id, record);
        if is_ours || is_settled {
            // The application here is gone; a target that was given all is not given it again.
            spawn_local(async move { custody.leave().await });
        } else if custody.begin_again() {
            spawn_local(proxy::serve::reach_durable(custody, services.clone()));
        } else {
            let target = custody.record().target;
            warn!(
                peer = peer.config.name,
                target,
                given,
                accepted,
                "reset a durable connection: its target was answering when this daemon was killed"
            );
            spawn_local(async move { custody.reset(CloseReason::Aborted).await });
        }
    }
}

/// A connection that has not shown a key.
struct Handshake {
    from: IpAddr,
    since: Instant,
    /// Whether any of its bytes have come: those of a daemon come with the connection.
    has_spoken: Rc<Cell<bool>>,
    task: AbortHandle,
}

/// Accepts other daemons. With too many handshakes at once, one goes for the newcomer.
async fn let_in(listener: TcpListener, tls: Keys, peers: Peers, most: usize) {
    let mut handshakes: Vec<Handshake> = Vec::new();
    loop {
        let socket = proxy::accept(&listener).await;
        let Ok(from) = socket.peer_addr().map(|from| from.ip()) else { continue };
        handshakes.retain(|one| !one.task.is_finished());
        if handshakes.len() >= most {
            drop_one(&mut handshakes);
        }
        let (acceptor, peers) = (TlsAcceptor::from(tls.borrow().clone()), peers.clone());
        let has_spoken = Rc::new(Cell::new(false));
        let spoken = has_spoken.clone();
        let task = descriptors::spawn(|caller| async move {
            let _ = tokio::time::timeout(SHOW_KEY, async {
                if socket.peek(&mut [0]).await.is_ok_and(|bytes| bytes > 0) {
                    spoken.set(true);
                    shake(acceptor, socket, &peers).await;
                }
            })
            .await;
            drop(caller);
        });
        handshakes.push(Handshake { from, since: Instant::now(), has_spoken, task });
    }
}

/// Drops a silent one, if there is any; of the host that has most of them, the oldest.
fn drop_one(handshakes: &mut Vec<Handshake>) {
    let any_is_silent = handshakes.iter().any(|one| !one.has_spoken.get());
    let may_go: Vec<usize> =
        (0..handshakes.len()).filter(|at| !(any_is_silent && handshakes[*at].has_spoken.get())).collect();
    let ages: Vec<_> =
        may_go.iter().map(|at| (handshakes[*at].from, handshakes[*at].since.elapsed())).collect();
    if let Some(at) = oldest_of_the_largest_host(&ages) {
        handshakes.remove(may_go[at]).task.abort();
    }
}

async fn shake(acceptor: TlsAcceptor, socket: TcpStream, peers: &Peers) {
    let Ok(stream) = acceptor.accept(socket).await else { return };
    let key = tls::shown_key(stream.get_ref().1.peer_certificates());
    // It may have been removed from the settings meanwhile.
    let known = key.and_then(|key| peers.borrow().iter().find(|peer| peer.key() == key).cloned());
    if let Some(peer) = known {
        tcp::adopt(&peer, TlsStream::from(stream), false);
    }
}

impl Daemon {
    fn status(&self) -> Status {
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            key: self.key.to_string(),
            age_s: self.clock.now().as_secs_f64(),
            peers: status::peers(&self.router),
            custody: self.router.store.used(),
            memory: status::MemoryStatus {
                used: self.budget.used(),
                limit: self.budget.limit(),
                connections_max: self.budget.connections_max(),
            },
            trouble: self.router.store.trouble(),
            lost: self.router.store.losses(),
            direct: self.router.directly.get(),
            intruders: self.router.intruders.get(),
        }
    }
    /// Ends the daemon where its epoch does not follow those that the others know, as its state was lost and its clock
    /// stepped back. One of them alone cannot end it while others continue with it.
    fn check_life(&self) -> Result<(), Error> {
        let peers = self.router.peers.borrow();
        let Some(known) = peers.iter().filter_map(|peer| peer.must_follow()).max() else { return Ok(()) };
        if !self.life.follow(known.number)? {
            peers.iter().for_each(|peer| peer.disbelieve(known));
            return Ok(());
        }
        if peers.iter().any(|peer| peer.goes_on()) {
            return Ok(());
        }
        Err(Error::Failed(
            "another daemon knows a later epoch of this one: restart it to begin a later one, unless another \
             daemon runs with the same key"
                .to_owned(),
        ))
    }
    fn choose(&self, name: &str, choice: Choice) -> Result<(), String> {
        let peers = self.router.peers.borrow();
        let known: Vec<&str> = peers.iter().map(|peer| peer.config.name.as_str()).collect();
        let peer = peers.iter().find(|peer| peer.config.name == name);
        let peer = peer.ok_or_else(|| format!("unknown peer {name:?}; known: {known:?}"))?;
        peer.choose(choice);
        Ok(())
    }
    /// Executes the owner's commands, until the daemon must end.
    async fn obey(&self, mut asked: mpsc::UnboundedReceiver<Command>, path: &Path) -> Result<(), Error> {
        let failed = |why: std::io::Error| Error::Failed(format!("signals: {why}"));
        let mut ends = signal(SignalKind::terminate()).map_err(failed)?;
        let mut breaks = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut hangs_up = signal(SignalKind::hangup()).map_err(failed)?;
        let mut looks = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                _ = looks.tick() => {
                    self.check_life()?;
                    // Only a loop that goes round says so (`WatchdogSec` of systemd, which is longer than this).
                    let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
                }
                _ = ends.recv() => break,
                _ = breaks.recv() => break,
                _ = hangs_up.recv() => {
                    if let Err(why) = self.reload(path).await {
                        warn!(why, "reload failed; the settings are unchanged");
                    }
                }
                command = asked.recv() => match command {
                    Some(Command::Status(answer)) => drop(answer.send(self.status())),
                    Some(Command::Choose(peer, choice, answer)) => drop(answer.send(self.choose(&peer, choice))),
                    Some(Command::Lead(name, lead, answer)) => drop(answer.send(self.services.borrow_mut().lead(&name, lead))),
                    Some(Command::Leave(name, answer)) => drop(answer.send(self.services.borrow_mut().leave(&name))),
                    Some(Command::Hint(from, changes, answer)) => drop(answer.send(self.router.hint(from, &changes))),
                    Some(Command::Reload(answer)) => drop(answer.send(self.reload(path).await)),
                    Some(Command::Stop) | None => break,
                },
            }
        }
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
        info!("lightlagd stops");
        let all_gone = async {
            while self
                .router
                .peers
                .borrow()
                .iter()
                .any(|peer| peer.look(|session| session.connections().next().is_some()))
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            _ = tokio::time::timeout(FAREWELL, all_gone) => {}
            _ = ends.recv() => {}
            _ = breaks.recv() => {}
        }
        Ok(())
    }
}
