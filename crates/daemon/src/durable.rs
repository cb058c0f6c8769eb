//! Durable connections: data from an application are stored before they are sent, data from the peer before
//! they are acknowledged, and both are delivered though the application leaves or this daemon is killed.
//!
//! A stream that its application has ended arrives whole. One whose application was cut off, as its process
//! died or this daemon was killed, arrives as far as it was accepted, and then the other side sees a reset.
//! How often a target may receive it is described in `docs/guide/daemon.md`, "Durable connections".

use super::keys::PublicKey;
use super::peer::{ConnectionWaker, Peer};
use super::store::{Direction, End, Key, Record, Store, Write};
use lightlag_protocols::session::Stored;
use lightlag_protocols::wire::session::{CloseReason, ConnectionId, Hints};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tracing::info;

/// Acknowledged bytes are dropped from the store once there are this many.
const DROP: u64 = 256 << 10;
/// As many bytes are stored at once, and hardly more.
const KEEP: usize = 256 << 10;
/// So often acknowledgements are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Connections that are over are remembered for as many seconds.
const REMEMBERED_S: u32 = 30 * 24 * 3600;

/// A durable connection of this daemon.
pub struct DurableConnection {
    /// With whom it is shared.
    pub peer: Rc<Peer>,
    /// Which.
    pub id: ConnectionId,
    store: Store,
    record: RefCell<Record>,
    /// The session's side of it.
    waker: Rc<ConnectionWaker>,
    /// Bytes on disk of each stream; writes in progress are not counted.
    readable: [Cell<u64>; 2],
    /// Bytes for the application here that were dropped to make room.
    dropped: Cell<u64>,
    /// Something was stored.
    stored: [Notify; 2],
}

/// What became of durable connections of earlier epochs.
pub struct Inherited {
    /// Those that are not over, or whose applications were not given all.
    pub alive: Vec<(Key, Record)>,
    /// Those that are.
    pub over: Vec<(Key, bool)>,
}

/// Sorts what was found in the store.
pub fn inherit(found: Vec<(Key, Record)>) -> Inherited {
    let (over, alive): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, record)| record.is_done());
    Inherited {
        alive,
        over: over.into_iter().map(|(key, record)| (key, record.over == Some(true))).collect(),
    }
}

impl Record {
    /// A new one.
    pub fn new(target: String, hints: Hints, is_ours: bool) -> Self {
        let nothing = (0, 0, None);
        Self {
            target,
            hints,
            is_ours,
            is_open: false,
            out: nothing,
            into: nothing,
            over: None,
            is_settled: false,
        }
    }
    /// Nothing is left to do for it.
    fn is_done(&self) -> bool {
        self.over.is_some() && self.is_settled
    }
}

impl DurableConnection {
    /// Takes a connection that is new, and has stored that when it comes back.
    pub async fn begin(peer: &Rc<Peer>, store: &Store, id: ConnectionId, record: Record) -> Rc<Self> {
        let custody = Self::resume(peer, store, id, record);
        custody.store(vec![]).await;
        custody
    }
    /// Takes one of an earlier epoch.
    pub fn resume(peer: &Rc<Peer>, store: &Store, id: ConnectionId, record: Record) -> Rc<Self> {
        let custody = Rc::new(Self {
            peer: peer.clone(),
            id,
            store: store.clone(),
            readable: [Cell::new(record.out.0), Cell::new(record.into.0)],
            record: RefCell::new(record),
            waker: peer.waker(id),
            dropped: Cell::new(0),
            stored: [Notify::new(), Notify::new()],
        });
        let over = custody.record.borrow().over;
        custody
            .waker
            .over
            .set(over.map(|complete| if complete { Ok(()) } else { Err(CloseReason::Unknown) }));
        tokio::task::spawn_local(custody.clone().live());
        custody
    }
    /// Restores a connection of an earlier epoch in the session.
    pub fn restore(peer: &Rc<Peer>, key: Key, record: &Record) {
        let (had, acknowledged, _) = record.out;
        let (taken, _, end) = record.into;
        let stored = Stored {
            target: record.target.clone(),
            hints: record.hints,
            is_open: record.is_open,
            acknowledged,
            had,
            taken,
            ended: end == Some(End::Whole),
        };
        peer.with(|session| session.restore(key.id, stored));
    }
    /// What is remembered of it.
    pub fn record(&self) -> Record {
        self.record.borrow().clone()
    }
    fn key(&self) -> Key {
        Key { peer: self.peer.key(), id: self.id }
    }
    /// Writes what is remembered, after other things.
    async fn store(&self, mut writes: Vec<Write>) {
        let record = self.record();
        let (stored, _, end) = record.out;
        writes.push(Write::Record(self.key(), record));
        self.store.write(writes).await;
        self.peer.accepted.borrow_mut().insert(self.id, (stored, end == Some(End::Whole)));
    }
    /// Bytes that an application may give now.
    pub fn room(&self) -> u64 {
        self.store.room_to_accept().min(self.store.step())
    }
    /// Accepts bytes of the application here.
    pub async fn accept(&self, bytes: Vec<u8>) {
        let (at, length) = (self.record.borrow().out.0, bytes.len() as u64);
        self.record.borrow_mut().out.0 += length;
        self.store(vec![Write::Bytes(self.key(), Direction::Out, at, bytes)]).await;
        self.readable[0].set(at + length);
        self.stored[0].notify_one();
    }
    /// The application here has ended its stream, or was cut off.
    pub async fn end(&self, how: End) {
        if self.record.borrow().out.2.is_none() {
            self.record.borrow_mut().out.2 = Some(how);
            self.store(vec![]).await;
            self.stored[0].notify_one();
        }
    }
    /// The target here was reached.
    pub async fn opened(&self) {
        self.record.borrow_mut().is_open = true;
        self.store(vec![]).await;
        self.peer.with(|session| session.accept(self.id));
    }
    /// The next bytes for the application here; `None`: it has them all, or no more are stored yet.
    pub fn next(&self) -> Option<Vec<u8>> {
        let (_, given, _) = self.record.borrow().into;
        if given >= self.readable[1].get() { None } else { self.store.read(self.key(), Direction::In, given) }
    }
    /// Waits until there may be more for the application here.
    pub async fn more(&self) {
        let stored = self.stored[1].notified();
        if self.record.borrow().into.1 < self.readable[1].get() {
            // There is, and the store could not be read.
            let _ = tokio::time::timeout(LOOK, stored).await;
        } else {
            stored.await;
        }
    }
    /// The application here was given some.
    pub async fn given(&self, bytes: u64) {
        self.record.borrow_mut().into.1 += bytes;
        let (_, given, _) = self.record.borrow().into;
        // A target that must be reached again is given all again, as long as there is room to keep it.
        if self.record.borrow().is_ours && given / DROP > (given - bytes) / DROP {
            self.store(vec![Write::Drop(self.key(), Direction::In, given)]).await;
        }
    }
    /// What a target was given is not kept where others need its room.
    async fn make_room(&self) {
        let (_, given, _) = self.record.borrow().into;
        if self.store.is_tight() && given >= self.dropped.get() + DROP {
            self.dropped.set(given);
            self.store(vec![Write::Drop(self.key(), Direction::In, given)]).await;
        }
    }
    /// How the stream for the application here ended, if it has, and all of it was given.
    pub fn is_at_end(&self) -> Option<End> {
        let (stored, given, end) = self.record.borrow().into;
        end.filter(|_| stored == given)
    }
    /// The application here has all and knows how it ended, or is gone: what still comes is not stored.
    pub async fn settle(&self) {
        self.record.borrow_mut().is_settled = true;
        if self.record.borrow().over.is_none() {
            // A later epoch must not give it again.
            self.store(vec![]).await;
        }
        self.finish_if_done().await;
    }
    /// The application here is gone, and cannot receive data: resets the connection at the other side.
    pub async fn reset(&self, why: CloseReason) {
        self.peer.with(|session| session.reset(self.id, why));
        self.waker.over.set(self.waker.over.get().or(Some(Err(why))));
        self.waker.writes.notify_one();
        self.settle().await;
    }
    /// The application here went with an earlier epoch of this daemon.
    pub async fn leave(&self) {
        self.end(End::Cut).await;
        self.settle().await;
    }
    /// A target that is reached again is given all again; one that has answered in part cannot be, nor one of whose stream
    /// the beginning was dropped.
    pub fn begin_again(&self) -> bool {
        let mut record = self.record.borrow_mut();
        record.into.1 = 0;
        let is_there = record.into.0 == 0 || self.store.read(self.key(), Direction::In, 0).is_some();
        is_there && (record.out.0 == 0 || record.out.2 == Some(End::Whole))
    }
    /// The application here has given all that it wanted to, in this epoch or an earlier one.
    pub fn has_ended(&self) -> bool {
        self.record.borrow().out.2.is_some()
    }
    /// Nothing more is heard of it.
    pub fn is_over(&self) -> bool {
        self.waker.over.get().is_some()
    }

    // --- between the store and the session ----------------------------------------------------

    async fn live(self: Rc<Self>) {
        tokio::select! {
            () = self.feed() => {}
            () = self.keep() => {}
            () = self.over() => {}
        }
        let over = self.waker.over.get().unwrap_or(Err(CloseReason::Aborted));
        let end = over.map_or_else(|why| format!("{why:?}").to_lowercase(), |()| "whole".to_owned());
        info!(peer = self.peer.config.name, id = %self.id, target = self.record.borrow().target, end, "durable connection ended");
        self.record.borrow_mut().over = Some(over.is_ok());
        if over.is_err() {
            // A reader of the received data sees that they are incomplete.
            let mut record = self.record.borrow_mut();
            record.into.2 = record.into.2.or(Some(End::Cut));
        }
        self.store(vec![]).await;
        self.stored[1].notify_one();
        self.peer.forget_waker(self.id);
        self.finish_if_done().await;
    }
    async fn over(&self) {
        while self.waker.over.get().is_none() {
            self.waker.writes.notified().await;
            self.stored[0].notify_one();
        }
    }
    /// Moves what is stored into the session, as there is room.
    async fn feed(&self) {
        let mut dropped = 0;
        loop {
            let (all, _, end) = self.record.borrow().out;
            let stored = self.readable[0].get();
            let end = end.filter(|_| stored == all);
            let state = self.peer.look(|session| {
                let connection = session.connection(self.id)?;
                Some((connection.outgoing.given(), connection.outgoing.acknowledged()))
            });
            let Some((given, acknowledged)) = state else { return std::future::pending().await };
            self.record.borrow_mut().out.1 = acknowledged;
            if acknowledged >= dropped + DROP {
                dropped = acknowledged;
                self.store(vec![Write::Drop(self.key(), Direction::Out, acknowledged)]).await;
                // What was acknowledged meanwhile may be more than was given: an earlier epoch had sent it.
                continue;
            }
            let room = self.peer.look(|session| session.room(self.id));
            if given < stored && room > 0 {
                if let Some(bytes) = self.store.read(self.key(), Direction::Out, given) {
                    self.peer.with(|session| session.write(self.id, &bytes));
                    continue;
                }
            } else if given == stored && end == Some(End::Whole) {
                self.peer.with(|session| session.finish(self.id));
            } else if given == stored && acknowledged == stored && end == Some(End::Cut) {
                self.peer.with(|session| session.reset(self.id, CloseReason::Aborted));
                self.waker.over.set(Some(Err(CloseReason::Aborted)));
                return;
            }
            self.make_room().await;
            // Acknowledgements that make no room send no notification.
            let _ = tokio::time::timeout(LOOK, self.stored[0].notified()).await;
        }
    }
    /// Stores received data, then acknowledges them.
    async fn keep(&self) {
        loop {
            let mut bytes = Vec::new();
            while bytes.len() < KEEP
                && let Some(more) = self.peer.with(|session| session.read(self.id))
            {
                bytes.extend(more);
            }
            let ends =
                self.peer.look(|session| session.is_at_end(self.id)) && self.record.borrow().into.2.is_none();
            if bytes.is_empty() && !ends {
                self.waker.reads.notified().await;
                continue;
            }
            while self.store.room() < bytes.len() as u64 {
                tokio::time::sleep(LOOK).await;
            }
            self.on_bytes(bytes, ends).await;
        }
    }
    async fn on_bytes(&self, bytes: Vec<u8>, ends: bool) {
        let (at, length) = (self.record.borrow().into.0, bytes.len() as u64);
        let nobody = self.record.borrow().is_settled;
        {
            let mut record = self.record.borrow_mut();
            record.into.0 += length;
            if ends {
                record.into.2 = Some(End::Whole);
            }
            if nobody {
                record.into.1 = record.into.0;
            }
        }
        let writes = if nobody || length == 0 {
            vec![]
        } else {
            vec![Write::Bytes(self.key(), Direction::In, at, bytes)]
        };
        self.store(writes).await;
        self.readable[1].set(at + length);
        self.peer.with(|session| {
            session.take(self.id, at + length);
            if ends {
                session.take_end(self.id);
            }
        });
        self.stored[1].notify_one();
    }
    /// What is over and was given is not kept; of one that the other daemon opened, that it is over.
    async fn finish_if_done(&self) {
        if !self.record.borrow().is_done() {
            return;
        }
        self.peer.accepted.borrow_mut().remove(&self.id);
        if self.record.borrow().is_ours {
            self.store.write(vec![Write::Forget(self.key())]).await;
        } else {
            self.record.borrow_mut().target.clear();
            self.store(vec![
                Write::Drop(self.key(), Direction::In, u64::MAX),
                Write::Drop(self.key(), Direction::Out, u64::MAX),
            ])
            .await;
        }
    }
}

/// Those that were over long ago are forgotten.
///
/// `latest`: the latest known epoch of another daemon. Only that daemon's own numbers show how old its
/// connections are: no clock here, and no step of one, makes them older.
pub async fn forget_old(store: Store, over: Vec<(Key, bool)>, latest: impl Fn(&PublicKey) -> Option<u32>) {
    // Epochs are counted in seconds, twice.
    let is_old = |key: &Key| {
        latest(&key.peer).is_some_and(|latest| key.id.incarnation / 2 + REMEMBERED_S < latest / 2)
    };
    let old: Vec<Write> =
        over.iter().filter(|(key, _)| is_old(key)).map(|(key, _)| Write::Forget(*key)).collect();
    if !old.is_empty() {
        store.write(old).await;
    }
}
