//! Frames in records over TLS over TCP.
//!
//! A record is its length in four bytes, the highest first, and so many bytes: the first one each way is a
//! [`Hello`], all others are frames.

use super::TCP;
use crate::daemon::keys::PublicKey;
use crate::daemon::peer::Peer;
use crate::daemon::tcp_info::{TcpInfo, keep_unsent_low};
use lightlag_protocols::wire::adaptive::Frame;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, spawn_local};
use tokio_rustls::{TlsConnector, TlsStream};
use tracing::{debug, info, warn};

/// A record is filled up to this.
const RECORD: usize = 64 * 1024;
/// No record is longer.
const RECORD_MAX: usize = 2 * RECORD;
/// Bytes of a frame's data at most.
const PIECE: usize = RECORD;
/// Bytes that wait unsent in the kernel.
const UNSENT: u32 = 256 * 1024;
/// A call that takes longer is given up.
const CALL_MOST: Duration = Duration::from_secs(60);
/// Between calls, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// What a daemon says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its life.
    incarnation: u32,
    /// The life of the other that it knows.
    known: Option<u32>,
}

/// The connection that there is.
struct Current {
    generation: u64,
    we_called: bool,
    /// To ask the kernel of it.
    socket: OwnedFd,
    task: AbortHandle,
}

/// The stack of one peer.
pub struct State {
    own: PublicKey,
    client: Arc<ClientConfig>,
    current: RefCell<Option<Current>>,
    generation: Cell<u64>,
    call: Notify,
}

impl State {
    /// Without a connection; `own` is this daemon's key.
    pub fn new(own: PublicKey, client: Arc<ClientConfig>) -> Self {
        Self { own, client, current: RefCell::new(None), generation: Cell::new(0), call: Notify::new() }
    }
    /// Whether there is a connection.
    pub fn is_connected(&self) -> bool {
        self.current.borrow().is_some()
    }
    /// What the kernel knows of it.
    pub fn info(&self) -> Option<TcpInfo> {
        self.current.borrow().as_ref().and_then(|current| TcpInfo::of(&current.socket))
    }
    /// Ends the connection that there is, if any.
    pub fn close(&self) {
        if let Some(current) = self.current.borrow_mut().take() {
            current.task.abort();
            self.call.notify_one();
        }
    }
    /// Calls again, whether there is a connection or not: this one may hang.
    pub fn call_again(&self) {
        self.call.notify_one();
    }
    /// Whether a new connection takes the place of the one that there is. Of two that cross, both sides keep the one
    /// that the lesser key has called; of two the same way, the newer.
    fn is_better(&self, we_called: bool, other: PublicKey) -> bool {
        let current = self.current.borrow();
        let Some(current) = current.as_ref() else { return true };
        current.we_called == we_called || we_called == (self.own < other)
    }
    fn ended(&self, generation: u64) -> bool {
        let mut current = self.current.borrow_mut();
        let was = current.as_ref().is_some_and(|current| current.generation == generation);
        if was {
            *current = None;
        }
        was
    }
}

/// Takes a connection on which both sides have shown their keys.
pub fn adopt(peer: &Rc<Peer>, stream: TlsStream<TcpStream>, we_called: bool) {
    let state = &peer.tcp;
    if !state.is_better(we_called, peer.key()) {
        debug!(peer = peer.config.name, "a crossing connection is not needed");
        return;
    }
    let socket = &stream.get_ref().0;
    let Ok(copy) = socket.as_fd().try_clone_to_owned() else { return };
    let _ = socket.set_nodelay(true);
    keep_unsent_low(socket, UNSENT);
    let generation = state.generation.get() + 1;
    state.generation.set(generation);
    let runs = peer.clone();
    let task = spawn_local(async move {
        let why = run(&runs, stream).await.err().unwrap_or_else(|| "closed".to_owned());
        if runs.tcp.ended(generation) {
            info!(peer = runs.config.name, why, "tcp ended");
            runs.on_failed(TCP);
            runs.tcp.call_again();
        }
    });
    let new = Current { generation, we_called, socket: copy, task: task.abort_handle() };
    if let Some(old) = state.current.borrow_mut().replace(new) {
        old.task.abort();
    }
    // What the old one carried is carried again.
    peer.on_failed(TCP);
    info!(peer = peer.config.name, we_called, "tcp connected");
}

/// Keeps calling, as long as there is no connection or the one that there is hangs.
pub async fn call(peer: Rc<Peer>, address: String) {
    let mut pause = PAUSE.0;
    let mut silent = false;
    loop {
        let called = tokio::select! {
            called = tokio::time::timeout(CALL_MOST, dial(&peer, &address)) => called,
            // The way is another one now: what was sent to open a connection may be minutes away.
            () = peer.tcp.call.notified() => continue,
        };
        match called {
            Ok(Ok(stream)) => {
                (pause, silent) = (PAUSE.0, false);
                adopt(&peer, TlsStream::from(stream), true);
                peer.tcp.call.notified().await;
                // Whatever it was that ended it may not be over.
                tokio::time::sleep(pause).await;
                continue;
            }
            Ok(Err(why)) => tell(&peer, &address, &why, &mut silent),
            Err(_) => tell(&peer, &address, "no answer", &mut silent),
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE.1),
            () = peer.tcp.call.notified() => pause = PAUSE.0,
        }
        if peer.tcp.is_connected() {
            peer.tcp.call.notified().await;
        }
    }
}

fn tell(peer: &Peer, address: &str, why: &str, silent: &mut bool) {
    if !std::mem::replace(silent, true) {
        warn!(peer = peer.config.name, address, why, "tcp cannot be had; more tries are not told");
    }
}

async fn dial(peer: &Peer, address: &str) -> Result<tokio_rustls::client::TlsStream<TcpStream>, String> {
    let socket = TcpStream::connect(address).await.map_err(|why| why.to_string())?;
    let name = ServerName::try_from("lightlag").expect("it is a name");
    let connector = TlsConnector::from(peer.tcp.client.clone());
    connector.connect(name, socket).await.map_err(|why| format!("TLS: {why}"))
}

async fn run(peer: &Rc<Peer>, stream: TlsStream<TcpStream>) -> Result<(), String> {
    let (mut from, mut to) = tokio::io::split(stream);
    let hello = Hello { incarnation: peer.incarnation, known: peer.look(|session| session.peer()) };
    let bytes = postcard::to_allocvec(&hello).expect("a hello can be written");
    let mut record = (bytes.len() as u32).to_be_bytes().to_vec();
    record.extend(bytes);
    to.write_all(&record).await.map_err(|why| why.to_string())?;
    to.flush().await.map_err(|why| why.to_string())?;
    read_record(&mut from, &mut record).await?;
    let hello = read_hello(&record)?;
    peer.on_hello(hello.incarnation, hello.known)?;
    tokio::select! {
        done = write(peer, &mut to) => done,
        done = read(peer, &mut from) => done,
    }
}

async fn write(peer: &Rc<Peer>, to: &mut (impl AsyncWrite + Unpin)) -> Result<(), String> {
    let mut record = Vec::with_capacity(RECORD_MAX);
    loop {
        record.clear();
        record.extend([0; 4]);
        peer.with_by(
            TCP,
            |session| {
                while record.len() < RECORD && session.poll(TCP, PIECE, &mut record).is_some() {}
            },
        );
        if record.len() == 4 {
            peer.woken(TCP).await;
            continue;
        }
        let length = (record.len() - 4) as u32;
        record[..4].copy_from_slice(&length.to_be_bytes());
        to.write_all(&record).await.map_err(|why| why.to_string())?;
        to.flush().await.map_err(|why| why.to_string())?;
    }
}

async fn read(peer: &Rc<Peer>, from: &mut (impl AsyncRead + Unpin)) -> Result<(), String> {
    let mut record = Vec::new();
    loop {
        read_record(from, &mut record).await?;
        peer.with(|session| {
            let mut rest = &record[..];
            while !rest.is_empty() {
                let (frame, behind) = Frame::read(rest).map_err(|why| why.to_string())?;
                if !session.handle(&frame) {
                    // Whoever sent it carries it again, as all that a stack carried that ended.
                    return Err("there is no room for what came".to_owned());
                }
                rest = behind;
            }
            Ok(())
        })?;
    }
}

/// Reads what came first.
///
/// # Errors
/// It is no hello.
pub fn read_hello(record: &[u8]) -> Result<Hello, String> {
    postcard::from_bytes(record).map_err(|_| "what came first is no hello".to_owned())
}

/// Reads the next record in place of what `record` held.
///
/// # Errors
/// It is too long, or the stream has ended.
pub async fn read_record(from: &mut (impl AsyncRead + Unpin), record: &mut Vec<u8>) -> Result<(), String> {
    let length = from.read_u32().await.map_err(|why| why.to_string())? as usize;
    if length > RECORD_MAX {
        return Err(format!("a record of {length} bytes; {RECORD_MAX} are the most"));
    }
    record.resize(length, 0);
    from.read_exact(record).await.map_err(|why| why.to_string())?;
    Ok(())
}
