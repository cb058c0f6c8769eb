//! An application's socket at one end, a connection of the session at the other.

use crate::daemon::peer::{Peer, Tap};
use lightlag_protocols::adaptive::Session;
use lightlag_protocols::wire::adaptive::{ConnectionId, Why};
use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::rc::Rc;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Bytes that are read at once.
const READ: usize = 64 * 1024;

thread_local! {
    /// What is being read. It is empty whenever anybody waits, so one does for all.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

/// One end of a connection.
pub struct Line {
    /// With whom it is shared.
    pub peer: Rc<Peer>,
    /// Which.
    pub id: ConnectionId,
    /// What is waited for.
    pub tap: Rc<Tap>,
    /// Both streams are carried to their ends though nobody waits here any more.
    is_settled: Cell<bool>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.peer.untap(self.id);
        if !self.is_settled.get() && self.tap.over.get().is_none() {
            self.peer.with(|session| session.reset(self.id, Why::Aborted));
        }
    }
}

impl Line {
    /// One that nobody carries yet; dropped like that, the connection is over.
    pub fn new(peer: Rc<Peer>, id: ConnectionId, tap: Rc<Tap>) -> Self {
        Self { peer, id, tap, is_settled: Cell::new(false) }
    }
    /// Ends the connection.
    pub fn reset(&self, why: Why) {
        self.is_settled.set(true);
        self.peer.with(|session| session.reset(self.id, why));
    }
    /// What is left of it needs nobody here.
    pub fn settle(&self) {
        self.is_settled.set(true);
    }
    /// Waits until the target was reached.
    ///
    /// # Errors
    /// Why it was not.
    pub async fn opened(&self) -> Result<(), Why> {
        loop {
            if let Some(over) = self.tap.over.get() {
                return over;
            }
            if self.tap.is_open.get() {
                return Ok(());
            }
            self.tap.reads.notified().await;
        }
    }
    /// Carries both streams until both have ended, or the connection is over: then the application sees a reset.
    ///
    /// # Errors
    /// Why it was over before.
    pub async fn carry(&self, socket: TcpStream) -> Result<(), Why> {
        let _ = socket.set_nodelay(true);
        let done = tokio::try_join!(self.take_in(&socket), self.give_out(&socket));
        match done {
            Ok(_) => self.settle(),
            Err(why) => {
                if self.tap.over.get().is_none() {
                    self.reset(why);
                }
                let _ = socket.set_zero_linger();
            }
        }
        done.map(|_| ())
    }
    async fn take_in(&self, socket: &TcpStream) -> Result<(), Why> {
        loop {
            if self.peer.look(|session| session.room(self.id)) == 0 {
                tokio::select! {
                    () = self.tap.writes.notified() => self.check()?,
                    // Whoever waits for room sees a reset nevertheless.
                    _ = socket.ready(Interest::ERROR) => return Err(Why::Aborted),
                }
                continue;
            }
            tokio::select! {
                ready = socket.readable() => ready.map_err(|_| Why::Aborted)?,
                () = self.tap.writes.notified() => {
                    self.check()?;
                    continue;
                }
            }
            match self.peer.with(|session| read_some(socket, session, self.id)) {
                Ok(0) => {
                    self.peer.with(|session| session.finish(self.id));
                    return Ok(());
                }
                Err(why) if why.kind() != ErrorKind::WouldBlock => return Err(Why::Aborted),
                _ => {}
            }
        }
    }
    fn check(&self) -> Result<(), Why> {
        match self.tap.over.get() {
            Some(Err(why)) => Err(why),
            _ => Ok(()),
        }
    }
    async fn give_out(&self, socket: &TcpStream) -> Result<(), Why> {
        let mut offset = 0;
        loop {
            if let Some(bytes) = self.peer.with(|session| session.read(self.id)) {
                self.write(socket, &bytes).await?;
                offset += bytes.len() as u64;
                self.peer.with(|session| session.take(self.id, offset));
            } else if self.peer.look(|session| session.is_at_end(self.id)) {
                socket2::SockRef::from(socket)
                    .shutdown(std::net::Shutdown::Write)
                    .map_err(|_| Why::Aborted)?;
                self.peer.with(|session| session.take_end(self.id));
                return Ok(());
            } else {
                self.check()?;
                self.tap.reads.notified().await;
            }
        }
    }
    async fn write(&self, socket: &TcpStream, mut bytes: &[u8]) -> Result<(), Why> {
        while !bytes.is_empty() {
            match socket.try_write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(why) if why.kind() == ErrorKind::WouldBlock => tokio::select! {
                    ready = socket.writable() => ready.map_err(|_| Why::Aborted)?,
                    () = self.tap.reads.notified() => self.check()?,
                },
                Err(_) => return Err(Why::Aborted),
            }
        }
        Ok(())
    }
}

/// Reads as much as the session has room for.
fn read_some(socket: &TcpStream, session: &mut Session, id: ConnectionId) -> io::Result<usize> {
    BUFFER.with_borrow_mut(|buffer| {
        let room = session.room(id).min(buffer.len());
        let read = socket.try_read(&mut buffer[..room])?;
        session.write(id, &buffer[..read]);
        Ok(read)
    })
}
