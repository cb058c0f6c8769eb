//! All connections between two daemons, as one of them sees them.

use super::connection::{Connection, Notice, State, Telling};
use super::over::{Farewell, Over};
use super::ready::Ready;
use super::{Budget, Incoming, Outgoing, Piece, Stack, UNADVERTISED_MOST, WINDOW_LEAST};
use crate::time::{Duration, Instant};
use crate::transport::ranges::Range;
use crate::wire::session::{CloseReason, ConnectionId, Frame, Hints, TARGET_MAX};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Bytes that wait here beyond the window, so that there are some when it opens.
const AHEAD: u64 = 64 * 1024;

/// Bounds of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// This epoch of the daemon, greater than any before.
    pub incarnation: u32,
    /// Bytes of a stream that may leave before anything is heard of it. At the far daemon it must be as
    /// large.
    pub window: u64,
    /// Bytes of a stream that may wait for the application here, once it has taken enough to deserve it.
    pub window_most: u64,
    /// Connections at a time.
    pub connections_max: usize,
    /// Of them, those of which bytes came before what they are for.
    pub unnamed_max: usize,
}

/// A durable connection as an earlier epoch of this daemon left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// To what.
    pub target: String,
    /// How it is carried.
    pub hints: Hints,
    /// Its target had been reached.
    pub is_open: bool,
    /// Bytes that the other side is known to have.
    pub acknowledged: u64,
    /// Bytes that are stored for it, those included.
    pub had: u64,
    /// Bytes that came and are stored here, or were taken.
    pub taken: u64,
    /// The stream to here ended behind them.
    pub ended: bool,
}

/// What the session reports to the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The far daemon wants a connection made: answer by [`Session::accept`] or [`Session::reset`].
    Open {
        /// Which.
        id: ConnectionId,
        /// To what.
        target: String,
        /// How to carry it.
        hints: Hints,
    },
    /// The target has been reached.
    Opened(ConnectionId),
    /// [`Session::read`] has something, or the stream has ended.
    Readable(ConnectionId),
    /// [`Session::write`] takes bytes again.
    Writable(ConnectionId),
    /// It is over: both streams came to their ends, or the reason why not.
    Over(ConnectionId, Result<(), CloseReason>),
}

/// Contents of a frame, for [`Session::on_arrived`] and [`Session::on_lost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    id: ConnectionId,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A notice and its number among all notices.
    Notice(Notice, u64),
    Data(Range),
    Farewell,
}

/// One daemon's side of all connections between two.
///
/// The driver moves bytes: from applications by [`Session::write`], to them by [`Session::read`] and
/// [`Session::take`], and frames by [`Session::poll`] and [`Session::handle`]. A stack that loses frames
/// calls [`Session::on_lost`] and [`Session::on_arrived`]; a reliable one only [`Session::on_failed`].
pub struct Session {
    config: Config,
    /// The epoch of the far daemon, if it is known.
    peer: Option<u32>,
    connections: BTreeMap<ConnectionId, Connection>,
    unnamed: usize,
    over: Over,
    opened: u32,
    /// What carries new connections, and answers of none.
    stack: Stack,
    ready: Ready,
    /// Notices that were sent.
    notices: u64,
    /// Connections that left a stack, and when their frames still in flight there count as lost.
    left: BTreeSet<(Instant, ConnectionId, Stack)>,
    /// The stack that holds back new connections, if one does, and those that it holds back.
    holding: Option<Stack>,
    held: BTreeSet<ConnectionId>,
    events: VecDeque<Event>,
    /// The memory of all connections, of other sessions too.
    budget: Arc<Budget>,
    /// Bytes that may be sent, or were, though the other side has not said that it takes them.
    unadvertised: u64,
    /// Bytes of a stream that may wait to be sent for the first time; see [`Session::limit_unsent`].
    unsent_most: u64,
}

impl Session {
    /// Without connections, and with as much memory as they need.
    pub fn new(config: Config, stack: Stack) -> Self {
        Self::with_budget(config, stack, Arc::default())
    }
    /// The same, with memory that is shared with other sessions.
    pub fn with_budget(config: Config, stack: Stack, budget: Arc<Budget>) -> Self {
        Self {
            budget,
            unadvertised: 0,
            unsent_most: u64::MAX,
            config,
            peer: None,
            connections: BTreeMap::new(),
            unnamed: 0,
            over: Over::default(),
            opened: 0,
            stack,
            ready: Ready::default(),
            notices: 0,
            left: BTreeSet::new(),
            holding: None,
            held: BTreeSet::new(),
            events: VecDeque::new(),
        }
    }

    // --- the driver's side --------------------------------------------------------------------

    /// Makes a connection. None if there are too many, or the target is empty or longer than [`TARGET_MAX`]
    /// bytes.
    pub fn open(&mut self, target: &str, hints: Hints) -> Option<ConnectionId> {
        let can_be_named = (1..=TARGET_MAX).contains(&target.len());
        if !can_be_named || self.is_full() {
            return None;
        }
        let id = ConnectionId { incarnation: self.config.incarnation, number: self.opened };
        self.opened = self.opened.checked_add(1)?;
        let mut made = self.make(State::Opening);
        target.clone_into(&mut made.target);
        made.hints = hints;
        self.insert(id, made);
        self.tell(id, Notice::Open);
        Some(id)
    }
    /// Carries this side's bytes by these hints from now on; the far side keeps its own.
    pub fn hint(&mut self, id: ConnectionId, hints: Hints) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.hints = hints;
        }
    }
    /// The target of a connection has been reached.
    pub fn accept(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.state == State::Opening {
            connection.state = State::Open;
            self.tell(id, Notice::Opened);
        }
    }
    /// Ends a connection at once.
    pub fn reset(&mut self, id: ConnectionId, why: CloseReason) {
        if let Some(connection) = self.remove(id, false) {
            self.over.say(id, Farewell::Reset(why), connection.stack);
        }
    }
    /// Takes as many of the bytes as there is room for, and returns their number.
    pub fn write(&mut self, id: ConnectionId, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room(id));
        if self.change(id, |connection| connection.outgoing.write(&bytes[..taken])).is_none() {
            return 0;
        }
        self.schedule(id);
        taken
    }
    /// The same, without a copy of them.
    pub fn give(&mut self, id: ConnectionId, mut bytes: Vec<u8>) -> usize {
        bytes.truncate(self.room(id));
        let taken = bytes.len();
        if self.change(id, |connection| connection.outgoing.give(bytes)).is_none() {
            return 0;
        }
        self.schedule(id);
        taken
    }
    /// Takes at most `most` bytes of a stream ahead of the bytes sent, however wide the window is: queued
    /// bytes cost memory and make no stack faster. By default the window alone is the limit.
    pub fn limit_unsent(&mut self, most: u64) {
        self.unsent_most = most;
    }
    /// How many bytes [`Session::write`] would take.
    pub fn room(&self, id: ConnectionId) -> usize {
        let Some(connection) = self.connections.get(&id) else { return 0 };
        let room = self.room_of(connection);
        connection.is_blocked.set(room == 0);
        usize::try_from(room).unwrap_or(usize::MAX)
    }
    fn room_of(&self, connection: &Connection) -> u64 {
        let outgoing = &connection.outgoing;
        let ahead = self.unsent_most.saturating_sub(outgoing.unsent());
        outgoing.room(AHEAD, self.budget.share()).min(ahead)
    }
    /// The application has ended its stream; the other direction stays open.
    pub fn finish(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.outgoing.finish();
            self.schedule(id);
        }
    }
    /// The next bytes for the application. They are acknowledged when it has taken them.
    pub fn read(&mut self, id: ConnectionId) -> Option<Vec<u8>> {
        let is_named = |connection: &Connection| connection.state != State::Unnamed;
        self.change(id, |connection| is_named(connection).then(|| connection.incoming.read())?)?
    }
    /// Whether all bytes of the stream were read, and it ends there.
    pub fn is_at_end(&self, id: ConnectionId) -> bool {
        self.connections.get(&id).is_some_and(|connection| connection.incoming.is_at_end())
    }
    /// Everything before `offset` is with the application, or stored.
    pub fn take(&mut self, id: ConnectionId, offset: u64) {
        let is_more = self.change(id, |connection| {
            let before = connection.incoming.taken();
            connection.incoming.take(offset);
            connection.incoming.taken() > before
        });
        if is_more == Some(true) {
            self.tell(id, Notice::Ack);
        }
    }
    /// The application knows of the end of its stream.
    pub fn take_end(&mut self, id: ConnectionId) {
        if self.change(id, |connection| connection.incoming.take_end()).is_none() {
            return;
        }
        self.tell(id, Notice::Ack);
        self.complete(id);
    }
    /// A connection, to look at.
    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(&id)
    }
    /// The epoch of the far daemon, if it was heard.
    pub fn peer(&self) -> Option<u32> {
        self.peer
    }
    /// All connections.
    pub fn connections(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        self.connections.iter().map(|(id, connection)| (*id, connection))
    }
    /// Whether the end of a connection has still to be sent to the other side, or acknowledged by it.
    pub fn has_farewells(&self) -> bool {
        self.over.has_farewells()
    }
    /// What has happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Restores a durable connection of an earlier epoch of this daemon; bytes after [`Outgoing::given`] must
    /// be written again.
    pub fn restore(&mut self, id: ConnectionId, stored: Stored) {
        let Stored { target, hints, is_open, acknowledged, had, taken, ended } = stored;
        let Config { window, window_most, .. } = self.config;
        let state = if is_open { State::Open } else { State::Opening };
        let mut made = self.make(state);
        (made.target, made.hints) = (target, hints);
        made.outgoing = Outgoing::resumed(acknowledged, had, self.first_window());
        made.incoming = Incoming::resumed(taken, ended, window, window_most);
        self.insert(id, made);
        if is_open && !self.is_ours(id) {
            self.tell(id, Notice::Opened);
        }
        self.tell_anew(id);
    }
    /// The other side may not know it yet, or must answer if it has lost it.
    fn tell_anew(&mut self, id: ConnectionId) {
        let stored = self.connections.get(&id).is_some_and(Connection::was_stored);
        self.tell(id, if self.is_ours(id) && !stored { Notice::Open } else { Notice::Ack });
    }
    /// A connection was over in an earlier epoch of this daemon: its late frames are answered so.
    pub fn remember(&mut self, id: ConnectionId, complete: bool) {
        self.over.insert(id, complete, true);
    }
    fn is_ours(&self, id: ConnectionId) -> bool {
        // Epochs of two daemons never have the same number: those of one are all even, of the other all odd.
        id.incarnation % 2 == self.config.incarnation % 2
    }

    // --- stacks -------------------------------------------------------------------------------

    /// Another stack carries a connection from now on. What the one before still carries has `grace` to
    /// arrive.
    pub fn carry_by(&mut self, now: Instant, id: ConnectionId, stack: Stack, grace: Duration) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let before = std::mem::replace(&mut connection.stack, stack);
        if before != stack {
            self.left.insert((now.saturating_add(grace), id, before));
            self.left.retain(|(_, other, left)| *other != id || *left != stack);
            self.schedule(id);
        }
    }
    /// What carries new connections from now on, and farewells that wait: what would have carried them may never come.
    pub fn prefer(&mut self, stack: Stack) {
        if self.stack != stack {
            self.stack = stack;
            self.over.prefer(stack);
        }
    }
    /// Everything unacknowledged on this stack is lost; its connections move to `instead`.
    pub fn on_failed(&mut self, stack: Stack, instead: Stack) {
        if self.stack == stack {
            self.stack = instead;
        }
        self.over.reclaim(stack, instead);
        self.left.retain(|(_, _, left)| *left != stack);
        let all: Vec<ConnectionId> = self.connections.keys().copied().collect();
        for id in all {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.reclaim(stack);
                if connection.stack == stack {
                    connection.stack = instead;
                }
                self.schedule(id);
            }
        }
    }
    /// The far daemon reports its epoch. In a later one only durable connections remain: their unacknowledged
    /// bytes are carried again. A report from an earlier epoch is ignored.
    pub fn on_peer(&mut self, incarnation: u32) {
        let Some(before) = self.peer.replace(self.peer.unwrap_or(0).max(incarnation)) else { return };
        if incarnation <= before {
            return;
        }
        let all: Vec<ConnectionId> = self.connections.keys().copied().collect();
        for id in all {
            let Some(connection) = self.connections.get_mut(&id) else { continue };
            if connection.hints.durable {
                // What it might send goes first: there may be more for it.
                self.change(id, |connection| connection.outgoing.on_forgotten(0));
                let first = self.first_window();
                self.change(id, |connection| connection.on_forgotten(first));
                self.tell_anew(id);
            } else if connection.state == State::Unnamed {
                // If it was durable, it is opened again.
                self.drop_connection(id);
            } else if !self.is_new(id) {
                // It may have heard of it before this epoch of it was heard of.
                self.break_off(id, CloseReason::Unknown);
            }
        }
        let lives: BTreeSet<u32> = self.connections.keys().map(|id| id.incarnation).collect();
        let ours = self.config.incarnation;
        self.over.retain(|life| life == ours || life == incarnation || lives.contains(&life));
    }
    /// When to come back though nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        self.left.first().map(|(at, ..)| *at)
    }
    /// The deadline has come.
    pub fn on_deadline(&mut self, now: Instant) {
        while let Some((_, id, stack)) = self.left.first().copied().filter(|(at, ..)| *at <= now) {
            self.left.pop_first();
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.reclaim(stack);
                self.schedule(id);
            }
        }
    }

    /// The epoch of the daemon whose side this is.
    pub fn incarnation(&self) -> u32 {
        self.config.incarnation
    }

    // --- frames -------------------------------------------------------------------------------

    /// Holds back connections that were never carried, or carries them: while the other side does not answer,
    /// none of their frames leaves by this stack. A later epoch of the other side then cannot know them, and
    /// they stay.
    pub fn hold_new(&mut self, stack: Stack, hold: bool) {
        let holding = hold.then_some(stack);
        if self.holding != holding {
            self.holding = holding;
            std::mem::take(&mut self.held).into_iter().for_each(|id| self.schedule(id));
        }
    }
    /// Whether it was opened here, is not durable, and nothing of it was ever carried.
    fn is_new(&self, id: ConnectionId) -> bool {
        let is_new = |one: &Connection| !one.was_carried && !one.hints.durable;
        self.is_ours(id) && self.connections.get(&id).is_some_and(is_new)
    }
    /// Whether [`Session::poll`] may have something for a stack, now or once it holds back nothing.
    pub fn waits(&self, stack: Stack) -> bool {
        self.has_frames(stack) || self.holds(stack)
    }
    /// Whether [`Session::poll`] may have something for a stack now.
    pub fn has_frames(&self, stack: Stack) -> bool {
        self.ready.waits(stack) || self.over.waits(stack)
    }
    /// Whether a stack holds back a connection.
    pub fn holds(&self, stack: Stack) -> bool {
        self.holding == Some(stack) && !self.held.is_empty()
    }
    /// Whether [`Session::poll`] may have data for a stack, not only notices.
    pub fn has_data(&self, stack: Stack) -> bool {
        self.ready.has_data(stack)
    }
    /// Appends the next frame for a stack to `out`, of at most `room` bytes; `None` if nothing fits. A frame
    /// that fills `room` is the last of its datagram.
    pub fn poll(&mut self, stack: Stack, room: usize, out: &mut Vec<u8>) -> Option<Ticket> {
        // With room for a byte, a connection with data has a piece that fits.
        if room <= Frame::OVERHEAD_MAX {
            return None;
        }
        if let Some((id, farewell)) = self.over.next(stack) {
            farewell.frame(id).write(self.config.incarnation, out);
            return Some(Ticket { id, what: What::Farewell });
        }
        self.poll_notice(stack, room, out).or_else(|| self.poll_data(stack, room, out))
    }
    fn poll_notice(&mut self, stack: Stack, room: usize, out: &mut Vec<u8>) -> Option<Ticket> {
        let life = self.config.incarnation;
        while let Some(id) = self.ready.next_notice(stack) {
            if self.hold(id, stack) {
                continue;
            }
            let Some(connection) = self.connections.get_mut(&id).filter(|one| one.stack == stack) else {
                continue;
            };
            let Some(notice) = connection.due() else { continue };
            if notice == Notice::Open && room < Frame::OVERHEAD_MAX + connection.target.len() {
                self.ready.with_notice(stack, id);
                return None;
            }
            let lent = connection.lent();
            match notice {
                Notice::Open => {
                    Frame::Open { id, target: &connection.target, hints: connection.hints }.write(life, out);
                }
                Notice::Opened => Frame::Opened { id }.write(life, out),
                Notice::Ack => {
                    let below = connection.incoming.taken();
                    let window = connection.incoming.advertise(self.budget.share());
                    Frame::Ack { id, below, window }.write(life, out);
                }
            }
            self.budget.change(lent, connection.lent());
            connection.was_carried = true;
            self.notices += 1;
            *connection.notice(notice) = Telling::Carried(stack, self.notices);
            self.schedule(id);
            return Some(Ticket { id, what: What::Notice(notice, self.notices) });
        }
        None
    }
    fn poll_data(&mut self, stack: Stack, room: usize, out: &mut Vec<u8>) -> Option<Ticket> {
        let life = self.config.incarnation;
        while let Some(id) = self.ready.next_data(stack) {
            if self.hold(id, stack) {
                continue;
            }
            let Some(connection) = self.connections.get_mut(&id).filter(|one| one.stack == stack) else {
                continue;
            };
            let outgoing = &mut connection.outgoing;
            let space = |overhead: usize| room.saturating_sub(overhead) as u64;
            let rest = space(Frame::rest_overhead(life, id, outgoing.next()));
            let fills = |piece: &Piece| piece.range().1 - piece.offset == rest && !piece.ends;
            let piece = match outgoing.next_piece(rest).filter(fills) {
                Some(piece) => {
                    Frame::write_rest(life, id, piece.offset, outgoing.bytes(&piece), out);
                    piece
                }
                None => {
                    let space = space(Frame::data_overhead(life, id, outgoing.next(), room));
                    let Some(piece) = outgoing.next_piece(space) else { continue };
                    let Piece { offset, ends, .. } = piece;
                    Frame::Data { id, offset, ends, bytes: outgoing.bytes(&piece) }.write(life, out);
                    piece
                }
            };
            outgoing.on_carried(stack, &piece);
            connection.was_carried = true;
            self.tell_writable(id);
            self.schedule(id);
            return Some(Ticket { id, what: What::Data(piece.range()) });
        }
        None
    }
    /// A frame came there by `stack`.
    pub fn on_arrived(&mut self, ticket: Ticket, stack: Stack) {
        let Ticket { id, what } = ticket;
        match (what, self.connections.get_mut(&id)) {
            (What::Data(range), Some(connection)) => connection.outgoing.on_arrived(stack, range),
            (What::Notice(notice, number), Some(connection)) => {
                connection.settle(notice, Telling::Carried(stack, number), Telling::Nothing);
            }
            (What::Farewell, _) if matches!(self.over.farewell(id), Some(Farewell::Gone(_))) => {
                self.over.forget(id)
            }
            _ => {}
        }
    }
    /// A frame was lost by `stack`.
    pub fn on_lost(&mut self, ticket: Ticket, stack: Stack) {
        let Ticket { id, what } = ticket;
        match (what, self.connections.get_mut(&id)) {
            (What::Data(range), Some(connection)) => connection.outgoing.on_lost(stack, range),
            (What::Notice(notice, number), Some(connection)) => {
                connection.settle(notice, Telling::Carried(stack, number), Telling::Due);
            }
            (What::Farewell, _) => self.over.on_lost(id, self.stack),
            _ => {}
        }
        self.schedule(id);
    }
    /// A frame came. False if there was no room for what it carries, so that it must come again.
    pub fn handle(&mut self, frame: &Frame) -> bool {
        let id = frame.id();
        match *frame {
            Frame::Reset { why, .. } => self.on_reset(id, why),
            Frame::Gone { complete, .. } => self.on_gone(id, complete),
            Frame::Open { target, hints, .. } => return self.on_open(id, target, hints),
            Frame::Data { offset, ends, bytes, .. } => return self.on_data(id, offset, ends, bytes),
            Frame::Opened { .. } => self.on_opened(id),
            Frame::Ack { below, window, .. } => self.on_ack(id, below, window),
        }
        true
    }
    fn on_open(&mut self, id: ConnectionId, target: &str, hints: Hints) -> bool {
        if !self.find_or_make(id) {
            return false;
        }
        let Some(connection) = self.connections.get_mut(&id) else { return true };
        if connection.state == State::Unnamed
            && !hints.durable
            && self.peer.is_some_and(|peer| peer > id.incarnation)
        {
            self.break_off(id, CloseReason::Unknown);
            return true;
        }
        if connection.state == State::Unnamed {
            self.unnamed -= 1;
            connection.state = State::Opening;
            target.clone_into(&mut connection.target);
            connection.hints = hints;
            self.events.push_back(Event::Open { id, target: target.to_owned(), hints });
            self.tell_readable(id);
        }
        // Any frame about it confirms this one to the other side.
        self.tell(id, Notice::Ack);
        true
    }
    fn on_opened(&mut self, id: ConnectionId) {
        let ours = self.is_ours(id);
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.on_heard();
        if ours && connection.state == State::Opening {
            connection.state = State::Open;
            self.events.push_back(Event::Opened(id));
        }
    }
    fn on_data(&mut self, id: ConnectionId, offset: u64, ends: bool, bytes: &[u8]) -> bool {
        if !self.find_or_make(id) {
            return false;
        }
        let Some(kept) = self.change(id, |connection| connection.on_data(offset, bytes, ends)) else {
            return true;
        };
        match kept.and_then(|kept| if self.is_too_much(id) { Err(CloseReason::Full) } else { Ok(kept) }) {
            Err(why) => {
                self.break_off(id, why);
                true
            }
            Ok(kept) => {
                self.tell_readable(id);
                self.schedule(id);
                kept
            }
        }
    }
    fn on_ack(&mut self, id: ConnectionId, below: u64, window: u64) {
        // An acknowledgement answers something sent from here: the connection was known once.
        let known = self.connections.get_mut(&id).filter(|connection| connection.state != State::Unnamed);
        let Some(connection) = known else {
            self.remove(id, false);
            if !self.is_ours(id) {
                // Its later frames must not make a new one.
                self.over.insert(id, false, false);
            }
            let complete = self.over.is_over(id).unwrap_or(false);
            return self.over.say(id, Farewell::Gone(complete), self.stack);
        };
        connection.on_heard();
        if self.change(id, |connection| connection.outgoing.on_ack(below, window)) == Some(false) {
            return self.break_off(id, CloseReason::Broken);
        }
        self.tell_writable(id);
        self.schedule(id);
        self.complete(id);
    }
    fn on_reset(&mut self, id: ConnectionId, why: CloseReason) {
        self.end(id, Err(why));
        if self.is_known_life(id) {
            self.over.insert(id, false, false);
        }
        self.over.say(id, Farewell::Gone(false), self.stack);
    }
    fn on_gone(&mut self, id: ConnectionId, complete: bool) {
        self.over.forget(id);
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let sent = connection.outgoing.next();
        if complete && connection.outgoing.on_ack(sent, 0) && connection.is_complete() {
            self.end(id, Ok(()));
        } else {
            self.end(id, Err(CloseReason::Unknown));
        }
    }

    // --- inside -------------------------------------------------------------------------------

    /// Makes a connection of the far daemon known, if it can be. True if it is known now, or is answered that
    /// it is over; false if there is no room.
    fn find_or_make(&mut self, id: ConnectionId) -> bool {
        if self.connections.contains_key(&id) {
            return true;
        }
        // A durable one of an earlier epoch may not have been heard of yet.
        let may_be_new = !self.is_ours(id) && self.peer.is_none_or(|peer| peer >= id.incarnation);
        let over = self.over.is_over(id);
        if over.is_some() || !may_be_new {
            self.over.say(id, Farewell::Gone(over.unwrap_or(false)), self.stack);
            return true;
        }
        if self.is_full() {
            self.over.insert(id, false, false);
            self.over.say(id, Farewell::Reset(CloseReason::Full), self.stack);
            return true;
        }
        if self.unnamed >= self.config.unnamed_max {
            return false;
        }
        self.unnamed += 1;
        let made = self.make(State::Unnamed);
        self.insert(id, made);
        true
    }
    /// Of others nothing is remembered: anybody could name any.
    fn is_known_life(&self, id: ConnectionId) -> bool {
        id.incarnation == self.config.incarnation || Some(id.incarnation) == self.peer
    }
    fn is_full(&self) -> bool {
        self.connections.len() >= self.config.connections_max || self.budget.is_full()
    }
    /// Whether at most one place in eight is free: connections that can be opened again should make room.
    pub fn is_short(&self) -> bool {
        let most = self.config.connections_max;
        self.connections.len() >= most - most.div_ceil(8)
    }
    /// The memory that it shares with other sessions.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
    /// Bytes that a connection may send before anything is heard of it.
    fn first_window(&self) -> u64 {
        let least = self.config.window.min(WINDOW_LEAST);
        let more = UNADVERTISED_MOST.saturating_sub(self.unadvertised);
        self.config.window.min(least.saturating_add(more))
    }
    fn make(&self, state: State) -> Connection {
        let Config { window, window_most, .. } = self.config;
        Connection::new(state, self.stack, self.first_window(), (window, window_most))
    }
    fn insert(&mut self, id: ConnectionId, connection: Connection) {
        self.drop_connection(id);
        self.budget.enter(self.connections.is_empty());
        self.budget.change(0, connection.lent());
        self.unadvertised += connection.outgoing.unadvertised();
        self.connections.insert(id, connection);
    }
    fn drop_connection(&mut self, id: ConnectionId) -> Option<Connection> {
        let connection = self.connections.remove(&id)?;
        self.budget.leave(connection.lent(), self.connections.is_empty());
        self.unadvertised -= connection.outgoing.unadvertised();
        self.unnamed -= usize::from(connection.state == State::Unnamed);
        self.held.remove(&id);
        Some(connection)
    }
    /// Does something with a connection, and counts the memory that it takes.
    fn change<R>(&mut self, id: ConnectionId, work: impl FnOnce(&mut Connection) -> R) -> Option<R> {
        let connection = self.connections.get_mut(&id)?;
        let (lent, unadvertised) = (connection.lent(), connection.outgoing.unadvertised());
        let result = work(connection);
        self.budget.change(lent, connection.lent());
        self.unadvertised = self.unadvertised - unadvertised + connection.outgoing.unadvertised();
        Some(result)
    }
    /// Whether it has sent more than was advertised while there is no memory: another version, or one that
    /// means harm.
    fn is_too_much(&self, id: ConnectionId) -> bool {
        let is_beyond = |connection: &Connection| connection.incoming.is_beyond();
        self.budget.is_overdrawn() && self.connections.get(&id).is_some_and(is_beyond)
    }
    /// The driver waits for room, and there is some.
    fn tell_writable(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get(&id).filter(|one| one.is_blocked.get()) else { return };
        // Half of what may wait is enough to be sent until more comes.
        if connection.outgoing.unsent() <= self.unsent_most / 2 && self.room_of(connection) > 0 {
            connection.is_blocked.set(false);
            self.events.push_back(Event::Writable(id));
        }
    }
    fn remove(&mut self, id: ConnectionId, complete: bool) -> Option<Connection> {
        let connection = self.drop_connection(id)?;
        self.over.insert(id, complete, connection.hints.durable);
        Some(connection)
    }
    /// Ends a connection and reports that to the driver, unless the driver does not know it yet.
    fn end(&mut self, id: ConnectionId, how: Result<(), CloseReason>) {
        if self.remove(id, how.is_ok()).is_some_and(|connection| connection.state != State::Unnamed) {
            self.events.push_back(Event::Over(id, how));
        }
    }
    fn break_off(&mut self, id: ConnectionId, why: CloseReason) {
        self.end(id, Err(why));
        self.over.say(id, Farewell::Reset(why), self.stack);
    }
    fn complete(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get(&id).filter(|connection| connection.is_complete()) else {
            return;
        };
        let stack = connection.stack;
        self.end(id, Ok(()));
        // In place of the last acknowledgement.
        self.over.say(id, Farewell::Gone(true), stack);
    }
    fn tell(&mut self, id: ConnectionId, notice: Notice) {
        if let Some(connection) = self.connections.get_mut(&id) {
            *connection.notice(notice) = Telling::Due;
            self.schedule(id);
        }
    }
    fn tell_readable(&mut self, id: ConnectionId) {
        let named = self.connections.get(&id).filter(|connection| connection.state != State::Unnamed);
        if named.is_some_and(|one| one.incoming.is_readable() || one.incoming.is_at_end()) {
            self.events.push_back(Event::Readable(id));
        }
    }
    /// Whether a connection whose turn it is on a stack is held back by it.
    fn hold(&mut self, id: ConnectionId, stack: Stack) -> bool {
        let holds = self.holding == Some(stack) && self.is_new(id);
        if holds {
            self.held.insert(id);
        }
        holds
    }
    /// Queues a connection that has something to send.
    fn schedule(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get(&id) else { return };
        if self.holding == Some(connection.stack) && self.is_new(id) {
            self.held.insert(id);
            return;
        }
        if connection.due().is_some() {
            self.ready.with_notice(connection.stack, id);
        }
        if connection.outgoing.next_piece(u64::MAX).is_some() {
            self.ready.with_data(connection.stack, id, connection.hints.priority);
        }
    }
}
