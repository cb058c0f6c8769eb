//! Another daemon: the connections that are shared with it, and what carries them.

use super::config::Choice;
use super::history::History;
use super::known::Known;
use super::plan::Contact;
use super::proxy::{access::Access, mappings};
use super::stack::{STACKS, TCP, UDPDTN, tcp, udpdtn};
use super::target::Pattern;
use super::traffic::Traffic;
use super::{config, keys::PublicKey};
use lightlag_node::clock::Clock;
use lightlag_protocols::session::{Budget, Config, Connection, Event, Session, Stack, State};
use lightlag_protocols::time::Instant;
use lightlag_protocols::wire::session::{CloseReason, ConnectionId, Epoch, Hints};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;
use tracing::warn;

/// Bytes of a stream that may leave before the other daemon has said anything; both must mean the same.
const WINDOW_FIRST: u64 = 1 << 20;
/// Bytes of a stream that wait here to be sent: several batches.
pub const UNSENT_MOST: u64 = 2 << 20;
/// Connections of which bytes came before what they are for.
const UNNAMED_MAX: usize = 4096;

/// A connection that the other daemon wants made here.
pub struct Wanted {
    /// By whom.
    pub peer: Rc<Peer>,
    /// Which.
    pub id: ConnectionId,
    /// To what.
    pub target: String,
    /// How it is carried.
    pub hints: Hints,
}

/// What an application's side of a connection waits for.
#[derive(Default)]
pub struct ConnectionWaker {
    /// There is something to read, or it is over.
    pub reads: Notify,
    /// There is room to write, or it is over.
    pub writes: Notify,
    /// The target was reached.
    pub is_open: Cell<bool>,
    /// It is over: how.
    pub over: Cell<Option<Result<(), CloseReason>>>,
}

/// All other daemons, as the settings have them now.
pub type Peers = Rc<RefCell<Vec<Rc<Peer>>>>;

/// What has happened since the daemon began.
#[derive(Default)]
pub struct Counts {
    /// Connections that applications here have opened.
    pub opened: Cell<u64>,
    /// Connections that the other daemon has opened.
    pub taken: Cell<u64>,
    /// Of those, the ones whose target it may not reach from here.
    pub refused: Cell<u64>,
}

/// Another daemon.
pub struct Peer {
    /// What the settings say of it.
    pub config: config::Peer,
    /// Which targets are reached by it, and which it may have reached from here.
    pub access: RefCell<Rc<Access>>,
    /// When it can be reached, where that is planned.
    pub contacts: RefCell<Vec<Contact>>,
    /// What has happened.
    pub counts: Counts,
    /// What runs for it as long as it is in the settings.
    pub tasks: RefCell<Vec<AbortHandle>>,
    /// What calls it.
    pub calls: RefCell<Option<AbortHandle>>,
    /// It is in the settings no more.
    is_removed: Cell<bool>,
    /// The clock of this daemon.
    pub clock: Clock,
    /// This epoch of this daemon.
    pub epoch: Epoch,
    known: Rc<Known>,
    /// Its epoch that was kept last.
    kept: Cell<Option<Epoch>>,
    /// Its stack of streams.
    pub tcp: tcp::State,
    /// Its stack of datagrams.
    pub udpdtn: udpdtn::State,
    /// Of durable connections: bytes that applications here gave and that are stored, and whether the end is.
    pub accepted: RefCell<BTreeMap<ConnectionId, (u64, bool)>>,
    /// What carried connections, since when and why.
    pub history: RefCell<History>,
    /// Whether the interface by which it is reached is up, if that is known.
    pub link: Cell<Option<bool>>,
    /// How much leaves and comes.
    pub traffic: Traffic,
    /// What its owner asked for, over what the settings say.
    choice: Cell<Choice>,
    session: RefCell<Session>,
    wakers: RefCell<BTreeMap<ConnectionId, Rc<ConnectionWaker>>>,
    since: RefCell<BTreeMap<ConnectionId, Instant>>,
    wakes: [Notify; STACKS.len()],
    tend: Notify,
    must_follow: Cell<Option<Epoch>>,
    /// The version of its program, if it was heard.
    pub version: RefCell<Option<String>>,
    wanted: mpsc::UnboundedSender<Wanted>,
}

impl Peer {
    /// Without a connection.
    pub fn new(
        config: config::Peer,
        (limits, budget, deny): (&config::Limits, Arc<Budget>, &[Pattern]),
        (clock, epoch, known): (Clock, Epoch, Rc<Known>),
        (tcp, udpdtn): (tcp::State, udpdtn::State),
        wanted: mpsc::UnboundedSender<Wanted>,
    ) -> Rc<Self> {
        let bounds = Config {
            incarnation: epoch.number,
            window: WINDOW_FIRST,
            window_most: limits.window.0,
            connections_max: limits.connections,
            unnamed_max: UNNAMED_MAX,
        };
        let choice = config.stack;
        let first = if choice == Choice::Udpdtn { UDPDTN } else { TCP };
        let mut session = Session::with_budget(bounds, first, budget);
        session.limit_unsent(UNSENT_MOST);
        Rc::new(Self {
            clock,
            epoch,
            known,
            kept: Cell::new(None),
            tcp,
            udpdtn,
            accepted: RefCell::default(),
            history: RefCell::new(History::new(clock.now(), first)),
            link: Cell::new(None),
            traffic: Traffic::default(),
            choice: Cell::new(choice),
            session: RefCell::new(session),
            wakers: RefCell::default(),
            since: RefCell::default(),
            wakes: std::array::from_fn(|_| Notify::new()),
            tend: Notify::new(),
            must_follow: Cell::new(None),
            version: RefCell::default(),
            wanted,
            access: RefCell::new(Rc::new(Access::of(&config, deny))),
            contacts: RefCell::new(config.contact.clone()),
            counts: Counts::default(),
            tasks: RefCell::default(),
            calls: RefCell::default(),
            is_removed: Cell::new(false),
            config,
        })
    }
    /// Who it is.
    pub fn key(&self) -> PublicKey {
        self.config.key
    }

    // --- connections --------------------------------------------------------------------------

    /// Does something with the session, then passes on its events and wakes the stacks with data to send.
    pub fn with<R>(self: &Rc<Self>, work: impl FnOnce(&mut Session) -> R) -> R {
        self.with_but(None, work)
    }
    /// The same, by a stack, which knows itself what it has to send.
    pub fn with_by<R>(self: &Rc<Self>, by: Stack, work: impl FnOnce(&mut Session) -> R) -> R {
        self.with_but(Some(by), work)
    }
    fn with_but<R>(self: &Rc<Self>, by: Option<Stack>, work: impl FnOnce(&mut Session) -> R) -> R {
        let mut session = self.session.borrow_mut();
        let result = work(&mut session);
        while let Some(event) = session.poll_event() {
            self.on_event(event);
        }
        for (at, (stack, _)) in STACKS.iter().enumerate() {
            if by != Some(*stack) && session.waits(*stack) {
                self.wakes[at].notify_one();
            }
        }
        result
    }
    fn on_event(self: &Rc<Self>, event: Event) {
        match event {
            Event::Open { id, target, hints } => {
                self.counts.taken.set(self.counts.taken.get() + 1);
                // Who takes them goes when the daemon does.
                let _ = self.wanted.send(Wanted { peer: self.clone(), id, target, hints });
            }
            Event::Opened(id) => self.tell(id, |waker| waker.is_open.set(true)),
            Event::Readable(id) => self.tell(id, |_| ()),
            Event::Writable(id) => self.tell(id, |_| ()),
            Event::Over(id, how) => {
                self.tell(id, |waker| waker.over.set(Some(how)));
                self.since.borrow_mut().remove(&id);
            }
        }
    }
    fn tell(&self, id: ConnectionId, what: impl FnOnce(&ConnectionWaker)) {
        if let Some(waker) = self.wakers.borrow().get(&id) {
            what(waker);
            waker.reads.notify_one();
            waker.writes.notify_one();
        }
    }
    /// Makes a connection; none if there are too many.
    pub fn open(self: &Rc<Self>, target: &str, hints: Hints) -> Option<(ConnectionId, Rc<ConnectionWaker>)> {
        if self.is_removed() {
            return None;
        }
        mappings::make_room(self);
        let id = self.with(|session| session.open(target, hints))?;
        self.counts.opened.set(self.counts.opened.get() + 1);
        Some((id, self.waker(id)))
    }
    /// What an application's side of a connection waits for; until [`Peer::forget_waker`].
    pub fn waker(&self, id: ConnectionId) -> Rc<ConnectionWaker> {
        let waker = Rc::new(ConnectionWaker::default());
        self.wakers.borrow_mut().insert(id, waker.clone());
        self.since.borrow_mut().insert(id, self.clock.now());
        waker
    }
    /// It is in the settings no more: applications at both ends of its connections see a reset, and it is
    /// refused. Durable connections keep what they have accepted, and resume if it returns to the settings.
    /// The stacks still run, to carry the resets; see [`Peer::has_farewells`] and [`Peer::stop`].
    pub fn remove(self: &Rc<Self>) {
        self.is_removed.set(true);
        *self.access.borrow_mut() = Rc::default();
        self.end_connections(|_| true, (CloseReason::Forbidden, CloseReason::Aborted));
    }
    /// Whether it must still be informed of connections that are over.
    pub fn has_farewells(&self) -> bool {
        self.look(Session::has_farewells)
    }
    /// Nothing runs for it any more.
    pub fn stop(self: &Rc<Self>) {
        self.tasks.borrow_mut().drain(..).for_each(|task| task.abort());
        self.calls.borrow_mut().take().inspect(AbortHandle::abort);
        self.tcp.close();
        self.on_failed(TCP);
        self.on_failed(UDPDTN);
    }
    /// It does not take the key of this daemon any more: it has reset its connections, or will when it hears of them.
    pub fn on_refused(self: &Rc<Self>) {
        self.end_connections(|_| true, (CloseReason::Aborted, CloseReason::Forbidden));
    }
    /// Ends connections that are not durable: for what reason there, and here.
    fn end_connections(
        self: &Rc<Self>,
        which: impl Fn(&Connection) -> bool,
        (there, here): (CloseReason, CloseReason),
    ) {
        let passing = |(_, one): &(ConnectionId, &Connection)| !one.hints.durable && which(one);
        let ended: Vec<ConnectionId> =
            self.look(|session| session.connections().filter(passing).map(|(id, _)| id).collect());
        for id in ended {
            self.with(|session| session.reset(id, there));
            self.on_event(Event::Over(id, Err(here)));
        }
    }
    /// Whether no stack can carry anything, as keys do not match. Datagrams with another key are never heard.
    pub fn is_hopeless(&self) -> bool {
        self.tcp.is_mismatched() && self.udpdtn.heard_at().is_none()
    }
    /// Applications whose targets were not reached learn that they will not be: the keys do not match.
    pub fn refuse_waiting(self: &Rc<Self>) {
        if self.is_hopeless() {
            self.end_connections(
                |one| one.state != State::Open,
                (CloseReason::Unreachable, CloseReason::Unreachable),
            );
        }
    }
    /// It is in the settings again.
    pub fn restore(&self) {
        self.is_removed.set(false);
    }
    /// Whether it is in the settings no more.
    pub fn is_removed(&self) -> bool {
        self.is_removed.get()
    }
    /// Stops notifications for a connection.
    pub fn forget_waker(&self, id: ConnectionId) {
        self.wakers.borrow_mut().remove(&id);
    }
    /// Looks at the session.
    pub fn look<R>(&self, at: impl FnOnce(&Session) -> R) -> R {
        at(&self.session.borrow())
    }
    /// Whether a connection may have reached the other daemon and nothing has been heard of it since: a later epoch of that
    /// daemon could not take it over, as its target may have been reached already.
    pub fn is_in_doubt(&self, id: ConnectionId) -> bool {
        let was_carried = self.look(|session| session.connection(id).is_some_and(|one| one.was_carried));
        was_carried && self.tcp.is_unheard() && self.udpdtn.is_unheard(self.clock.now())
    }
    /// Since when there is a connection.
    pub fn since(&self, id: ConnectionId) -> Option<Instant> {
        self.since.borrow().get(&id).copied()
    }

    // --- stacks -------------------------------------------------------------------------------

    /// Waits until a stack may have something to send.
    pub async fn woken(&self, stack: Stack) {
        let at = STACKS.iter().position(|(known, _)| *known == stack).unwrap_or_default();
        self.wakes[at].notified().await;
    }
    /// A stack carries nothing any more of what it had.
    pub fn on_failed(self: &Rc<Self>, stack: Stack) {
        self.with(|session| session.on_failed(stack, stack));
        self.tend.notify_one();
    }
    /// The other daemon was heard in an epoch, in a message that is no recording, and knows this one of this
    /// daemon.
    ///
    /// # Errors
    /// One of the two epochs does not follow what the other side knows.
    pub fn on_hello(self: &Rc<Self>, epoch: Epoch, known: Option<Epoch>) -> Result<(), String> {
        if let Some(known) = known {
            self.on_known(known)?;
        }
        let now = self.clock.now();
        if !self.with(|session| self.udpdtn.meet(now, epoch, session)) {
            return Err(
                "its epoch does not follow the one that is known here: it must be started again".to_owned()
            );
        }
        self.keep_epoch();
        Ok(())
    }
    /// The other daemon knows this epoch of this one.
    ///
    /// # Errors
    /// The present one does not follow it.
    pub fn on_known(&self, known: Epoch) -> Result<(), String> {
        if known == self.epoch || known.precedes(self.epoch) {
            return Ok(());
        }
        self.must_follow.set(Some(known));
        self.tend.notify_one();
        let (known, own) = (known.number, self.epoch.number);
        Err(format!("it knows epoch {known} of this daemon, which the present one, {own}, does not follow"))
    }
    /// Its latest epoch is kept for the next epoch of this daemon.
    pub fn keep_epoch(&self) {
        let epoch = self.udpdtn.peer();
        // Each datagram comes by here; few begin an epoch.
        if self.kept.replace(epoch) != epoch
            && let Some(epoch) = epoch
        {
            self.known.keep(&self.key(), epoch);
        }
    }
    /// An epoch of this daemon that the other one knows and that the present one does not follow: it believes nothing of this
    /// one.
    pub fn must_follow(&self) -> Option<Epoch> {
        self.must_follow.get()
    }
    /// No honest daemon knows such an epoch.
    pub fn disbelieve(&self, known: Epoch) {
        if self.must_follow.get() == Some(known) {
            self.must_follow.set(None);
            warn!(
                peer = self.config.name,
                epoch = known.number,
                "ignored a peer that claims an impossible epoch of this daemon"
            );
        }
    }
    /// Whether the other daemon was heard and knows of no epoch that this one would have to follow.
    pub fn goes_on(&self) -> bool {
        self.must_follow.get().is_none() && self.look(|session| session.peer()).is_some()
    }
    /// Something has changed that may be a reason for another stack.
    pub fn on_changed(&self) {
        self.tend.notify_one();
    }
    /// Its owner wants this to carry connections.
    pub fn choose(&self, choice: Choice) {
        self.choice.set(choice);
        self.tend.notify_one();
    }
    /// What its owner wants to carry connections.
    pub fn choice(&self) -> Choice {
        self.choice.get()
    }
    /// What carries connections now.
    pub fn carrier(&self) -> Stack {
        self.history.borrow().now().stack
    }
    /// Another stack carries connections from now on: those for which `takes` says so.
    pub fn carry_by(self: &Rc<Self>, of: impl Fn(&Connection) -> Stack, preferred: Stack) {
        let now = self.clock.now();
        let left = if preferred == TCP { self.udpdtn.grace() } else { self.tcp.grace() };
        self.with(|session| {
            session.prefer(preferred);
            let all: Vec<(ConnectionId, Stack)> =
                session.connections().map(|(id, connection)| (id, of(connection))).collect();
            for (id, stack) in all {
                session.carry_by(now, id, stack, left);
            }
        });
    }
    /// Waits until something has changed that may be a reason for another stack.
    pub async fn changed(&self) {
        self.tend.notified().await;
    }
}
