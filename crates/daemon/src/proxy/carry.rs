//! An application's socket at one end, a connection of the session at the other.

use crate::durable::DurableConnection;
use crate::peer::{ConnectionWaker, Peer};
use crate::stack::tcp;
use crate::store::End;
use crate::tcp_info::{TcpInfo, keep_unsent_low, leave_unpaced_within_machine};
use bytes::BufMut;
use lightlag_protocols::session::Session;
use lightlag_protocols::wire::session::{CloseReason, ConnectionId};
use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind, IoSlice};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Bytes per read or write: enough to fill several frames.
const MUCH: usize = 4 * tcp::PIECE;
/// Bytes that wait in the kernel for an application to read: they pass for read, and let the window grow.
const UNSENT: u32 = 128 * 1024;
/// While there is no room in the store.
const PAUSE: Duration = Duration::from_millis(200);

thread_local! {
    /// What is being read. It is empty whenever anybody waits, so one does for all.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The same, of what is stored.
    static DURABLE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// One end of a connection.
pub struct ProxiedConnection {
    /// With whom it is shared.
    pub peer: Rc<Peer>,
    /// Which.
    pub id: ConnectionId,
    /// What is waited for.
    pub waker: Rc<ConnectionWaker>,
    /// Both streams are carried to their ends without a task here.
    is_settled: Cell<bool>,
}

impl Drop for ProxiedConnection {
    fn drop(&mut self) {
        self.peer.forget_waker(self.id);
        if !self.is_settled.get() && self.waker.over.get().is_none() {
            self.peer.with(|session| session.reset(self.id, CloseReason::Aborted));
        }
    }
}

impl ProxiedConnection {
    /// A connection without a task yet; dropped like that, it is reset.
    pub fn new(peer: Rc<Peer>, id: ConnectionId, waker: Rc<ConnectionWaker>) -> Self {
        Self { peer, id, waker, is_settled: Cell::new(false) }
    }
    /// Ends the connection.
    pub fn reset(&self, why: CloseReason) {
        self.is_settled.set(true);
        self.peer.with(|session| session.reset(self.id, why));
    }
    /// The rest of it needs no task here.
    pub fn settle(&self) {
        self.is_settled.set(true);
    }
    /// Waits until the target was reached.
    ///
    /// # Errors
    /// Why it was not.
    pub async fn opened(&self) -> Result<(), CloseReason> {
        loop {
            if let Some(over) = self.waker.over.get() {
                return over;
            }
            if self.waker.is_open.get() {
                return Ok(());
            }
            self.waker.reads.notified().await;
        }
    }
    /// Carries both streams until both have ended, or the connection is over: then the application sees a reset.
    ///
    /// # Errors
    /// Why it was over before.
    pub async fn carry(&self, socket: TcpStream) -> Result<(), CloseReason> {
        begin(&socket);
        let done = tokio::try_join!(self.take_in(&socket), self.give_out(&socket));
        match done {
            Ok(_) => {
                self.settle();
                end_well(&socket);
            }
            Err(why) if self.waker.over.get().is_none() => self.reset(why),
            Err(_) => {}
        }
        done.map(|_| ())
    }
    async fn take_in(&self, socket: &TcpStream) -> Result<(), CloseReason> {
        loop {
            if self.peer.look(|session| session.room(self.id)) == 0 {
                tokio::select! {
                    () = self.waker.writes.notified() => self.check()?,
                    // A reset is noticed also while there is no room.
                    _ = socket.ready(Interest::ERROR) => return Err(CloseReason::Aborted),
                }
                continue;
            }
            tokio::select! {
                ready = socket.readable() => ready.map_err(|_| CloseReason::Aborted)?,
                () = self.waker.writes.notified() => {
                    self.check()?;
                    continue;
                }
            }
            match self.peer.with(|session| read_some(socket, session, self.id)) {
                Ok(0) => {
                    self.peer.with(|session| session.finish(self.id));
                    return Ok(());
                }
                // There is more: others first.
                Ok(MUCH) => tokio::task::yield_now().await,
                Err(why) if why.kind() != ErrorKind::WouldBlock => return Err(CloseReason::Aborted),
                _ => {}
            }
        }
    }
    fn check(&self) -> Result<(), CloseReason> {
        match self.waker.over.get() {
            Some(Err(why)) => Err(why),
            _ => Ok(()),
        }
    }
    async fn give_out(&self, socket: &TcpStream) -> Result<(), CloseReason> {
        let mut offset = 0;
        loop {
            let parts = self.peer.with(|session| read_parts(session, self.id));
            if !parts.is_empty() {
                self.write(socket, &parts).await?;
                offset += parts.iter().map(|part| part.len() as u64).sum::<u64>();
                self.peer.with(|session| session.take(self.id, offset));
            } else if self.peer.look(|session| session.is_at_end(self.id)) {
                socket2::SockRef::from(socket)
                    .shutdown(std::net::Shutdown::Write)
                    .map_err(|_| CloseReason::Aborted)?;
                self.peer.with(|session| session.take_end(self.id));
                return Ok(());
            } else {
                self.check()?;
                self.waker.reads.notified().await;
            }
        }
    }
    async fn write(&self, socket: &TcpStream, parts: &[Vec<u8>]) -> Result<(), CloseReason> {
        let mut slices: Vec<IoSlice> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let mut left = &mut slices[..];
        while !left.is_empty() {
            match socket.try_write_vectored(left) {
                Ok(written) => IoSlice::advance_slices(&mut left, written),
                Err(why) if why.kind() == ErrorKind::WouldBlock => tokio::select! {
                    ready = socket.writable() => ready.map_err(|_| CloseReason::Aborted)?,
                    () = self.waker.reads.notified() => self.check()?,
                },
                Err(_) => return Err(CloseReason::Aborted),
            }
        }
        Ok(())
    }
}

/// Whatever ends this daemon, an application must not take what it got for all: so its socket is reset when it is
/// closed, unless [`end_well`].
fn begin(socket: &TcpStream) {
    let _ = socket.set_nodelay(true);
    let _ = socket.set_zero_linger();
    keep_unsent_low(socket, UNSENT);
    leave_unpaced_within_machine(socket);
}

/// The application has been given all, and the end of it.
fn end_well(socket: &TcpStream) {
    let _ = socket2::SockRef::from(socket).set_linger(None);
}

/// Carries both streams of a durable connection: until both have ended, or the application here is gone.
pub async fn carry_durable(durable: &DurableConnection, socket: TcpStream) {
    begin(&socket);
    // Neither may be dropped before its end: what it has done is known when it has ended.
    let (accepts, gives) = (accept_all(durable, &socket), give_all(durable, &socket));
    tokio::pin!(accepts, gives);
    tokio::select! {
        () = &mut accepts => {
            gives.await;
        }
        // Data that an application gave before it left are accepted, unless they cannot be delivered.
        after = &mut gives => if after == After::Accept {
            accepts.await;
        },
    }
}

/// What is left to do when an application was given all that it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Accept,
    Nothing,
}

async fn accept_all(durable: &DurableConnection, socket: &TcpStream) {
    if durable.has_ended() {
        // A target that says again what an earlier epoch has accepted.
        return discard_all(socket).await;
    }
    loop {
        let room = usize::try_from(durable.room()).unwrap_or(usize::MAX);
        if room == 0 {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let read = match socket.readable().await {
            Ok(()) => read_exactly(socket, room),
            Err(why) => Err(why),
        };
        match read {
            Ok(bytes) if bytes.is_empty() => return durable.end(End::Whole).await,
            Ok(bytes) => durable.accept(bytes).await,
            Err(why) if why.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return durable.end(End::Cut).await,
        }
    }
}

/// Reads what there is, without memory for what is not.
fn read_exactly(socket: &TcpStream, room: usize) -> io::Result<Vec<u8>> {
    DURABLE.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.reserve_exact(room);
        let length = socket.try_read_buf(&mut buffer.limit(room))?;
        Ok(buffer[..length].to_vec())
    })
}

async fn discard_all(socket: &TcpStream) {
    let is_silent = |read: io::Result<usize>| match read {
        Ok(length) => length == 0,
        Err(why) => why.kind() != ErrorKind::WouldBlock,
    };
    while socket.readable().await.is_ok() {
        if is_silent(socket.try_read(&mut [0; 4096])) {
            return;
        }
    }
}

async fn give_all(durable: &DurableConnection, socket: &TcpStream) -> After {
    // Some kernels count the opening as a byte.
    let at_start = TcpInfo::of(socket).map_or(0, |info| info.acknowledged);
    let mut written = 0;
    loop {
        if let Some(bytes) = durable.next() {
            if write_all(socket, &bytes).await.is_err() {
                return on_gone(durable).await;
            }
            written += bytes.len() as u64;
            durable.given(bytes.len() as u64).await;
        } else if let Some(end) = durable.is_at_end() {
            if end == End::Whole {
                end_well(socket);
                let _ = socket2::SockRef::from(socket).shutdown(std::net::Shutdown::Write);
                if acknowledged(socket).await.is_some_and(|bytes| bytes < at_start + written) {
                    return on_gone(durable).await;
                }
                durable.settle().await;
                return After::Accept;
            }
            durable.settle().await;
            return After::Nothing;
        } else {
            durable.more().await;
        }
    }
}

/// Waits until the application's kernel has acknowledged all bytes and the end, or has reset the connection: until then,
/// they may be lost with this daemon; after it, a later epoch that does not know of it would give them twice.
///
/// Returns the bytes acknowledged on this socket, fewer than were written after a reset; `None` if the kernel does not say.
async fn acknowledged(socket: &TcpStream) -> Option<u64> {
    let mut pause = Duration::from_micros(100);
    loop {
        let info = TcpInfo::of(socket)?;
        if !info.is_ending {
            return Some(info.acknowledged);
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(PAUSE);
    }
}

/// An application that opened a connection may leave; a target that does is no target.
async fn on_gone(durable: &DurableConnection) -> After {
    if durable.record().is_ours {
        durable.settle().await;
        After::Accept
    } else {
        durable.reset(CloseReason::Aborted).await;
        After::Nothing
    }
}

async fn write_all(socket: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        socket.writable().await?;
        match socket.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(why) if why.kind() == ErrorKind::WouldBlock => {}
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

/// Reads as much as the session has room for. What is much is not copied.
fn read_some(socket: &TcpStream, session: &mut Session, id: ConnectionId) -> io::Result<usize> {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.reserve_exact(MUCH);
        let room = session.room(id).min(MUCH);
        if room == 0 {
            // The connection may have gone while it was waited for bytes: nothing read is not an end.
            return Err(ErrorKind::WouldBlock.into());
        }
        let read = socket.try_read_buf(&mut buffer.limit(room))?;
        if read > MUCH / 2 {
            session.give(id, std::mem::take(buffer));
        } else {
            session.write(id, buffer);
        }
        Ok(read)
    })
}

/// Reads up to [`MUCH`] bytes and the end of a part.
fn read_parts(session: &mut Session, id: ConnectionId) -> Vec<Vec<u8>> {
    let mut left = MUCH;
    let next = || {
        let part = (left > 0).then(|| session.read(id))??;
        left = left.saturating_sub(part.len());
        Some(part)
    };
    std::iter::from_fn(next).collect()
}
