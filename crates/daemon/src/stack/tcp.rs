//! Frames in records over TLS over TCP.
//!
//! A record is its length in four bytes, big-endian, and that number of bytes: the first in each direction is
//! a [`Hello`], all others are frames.

use super::TCP;
use super::pipe::{self, Pipe};
use crate::keys::PublicKey;
use crate::peer::Peer;
use crate::tcp_info::{TcpInfo, keep_unsent_low, leave_unpaced_within_machine};
use crate::tls;
use lightlag_protocols::time::Duration as Span;
use lightlag_protocols::units::BitRate;
use lightlag_protocols::wire::session::{Epoch, Frame};
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, spawn_local};
use tokio_rustls::{TlsConnector, TlsStream};
use tracing::{debug, info, warn};

/// Time for data in transit to arrive, beside two round trips.
const GRACE: Span = Span::from_secs(2);
/// Bytes of a record with one full frame at most: four records of TLS.
const RECORD: usize = 64 * 1024;
/// No record is longer.
const RECORD_MAX: usize = 2 * RECORD;
/// Bytes of a record before its frames.
const LENGTH: usize = 4;
/// Bytes of a frame at most.
const FRAME: usize = RECORD - LENGTH;
/// Bytes of a frame's data at most. A record is filled up to this.
pub const PIECE: usize = FRAME - Frame::OVERHEAD_MAX;
/// Bytes that leave together, at least and at most: as many as the kernel takes within [`BATCH_LONGEST`]. A record is of
/// use only when it has come as a whole. The least has room in one record of TLS.
const BATCH: (usize, usize) = (16 * 1024 - 64, 4 * PIECE);
const BATCH_LONGEST: Duration = Duration::from_millis(20);
/// Bytes that wait unsent in the kernel, at least and at most.
const UNSENT: (u32, u32) = (16 * 1024, 256 * 1024);
/// Unsent bytes leave within this many seconds, at the recent rate.
const UNSENT_S: f64 = 0.25;
/// A call that takes longer is given up.
const CALL_MOST: Duration = Duration::from_secs(60);
/// Characters of another daemon's version that are kept.
const VERSION_MOST: usize = 40;
/// Between calls, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// What a daemon says first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its epoch.
    epoch: Epoch,
    /// The latest epoch of the other daemon that it knows.
    known: Option<Epoch>,
    /// The version of its program.
    version: String,
}

/// The connection that there is.
struct Current {
    generation: u64,
    we_called: bool,
    /// To ask the kernel of it.
    socket: OwnedFd,
    task: AbortHandle,
    /// Whether the other daemon has said anything: only then it has taken our key.
    is_taken: bool,
}

/// The stack of one peer.
pub struct State {
    own: PublicKey,
    client: Arc<ClientConfig>,
    current: RefCell<Option<Current>>,
    generation: Cell<u64>,
    call: Notify,
    /// Why there is no connection.
    trouble: RefCell<Option<String>>,
    /// One of the two daemons does not take the key of the other: waiting does not help.
    is_mismatched: Cell<bool>,
    /// Segments sent again on connections that have ended.
    retransmitted: Cell<u64>,
}

impl State {
    /// Without a connection; `own` is this daemon's key.
    pub fn new(own: PublicKey, client: Arc<ClientConfig>) -> Self {
        let (current, generation, call) = (RefCell::new(None), Cell::new(0), Notify::new());
        Self {
            own,
            client,
            current,
            generation,
            call,
            trouble: RefCell::new(None),
            is_mismatched: Cell::new(false),
            retransmitted: Cell::new(0),
        }
    }
    fn is_connected(&self) -> bool {
        self.current.borrow().is_some()
    }
    /// What the kernel knows of the connection that there is, once the other daemon has taken it.
    pub fn info(&self) -> Option<TcpInfo> {
        let current = self.current.borrow();
        current.as_ref().filter(|current| current.is_taken).and_then(|current| TcpInfo::of(&current.socket))
    }
    /// Data in transit arrive within this time, or are lost: two seconds and two round trips.
    pub fn grace(&self) -> Span {
        let round_trip = self.info().map(|info| info.round_trip).unwrap_or_default();
        GRACE.saturating_add(round_trip).saturating_add(round_trip)
    }
    /// Whether the other daemon has accepted no connection, or does not acknowledge its segments.
    pub fn is_unheard(&self) -> bool {
        self.info().is_none_or(|info| info.backoff > 0)
    }
    /// Whether there is one that the other daemon has yet to take, and that does not back off.
    pub fn begins(&self) -> bool {
        let current = self.current.borrow();
        let info = current.as_ref().filter(|current| !current.is_taken);
        info.and_then(|current| TcpInfo::of(&current.socket)).is_some_and(|info| info.backoff == 0)
    }
    /// Why there is no connection, if that is known.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.borrow().clone()
    }
    /// Whether one of the two daemons has refused the key of the other, as far as is known.
    pub fn is_mismatched(&self) -> bool {
        self.is_mismatched.get()
    }
    /// Segments that the kernel has sent again, on all connections so far.
    pub fn retransmitted(&self) -> u64 {
        let current = self.current.borrow();
        let now = current.as_ref().and_then(|current| TcpInfo::of(&current.socket));
        self.retransmitted.get() + now.map_or(0, |info| info.retransmitted.into())
    }
    fn count(&self, ended: &Current) {
        let of_it = TcpInfo::of(&ended.socket).map_or(0, |info| info.retransmitted.into());
        self.retransmitted.set(self.retransmitted.get() + of_it);
    }
    /// Lets no more wait unsent in the kernel than leaves soon at this rate.
    pub fn keep_ahead(&self, rate: BitRate) {
        let bytes = (rate.0 as f64 / 8.0 * UNSENT_S) as u32;
        if let Some(current) = self.current.borrow().as_ref() {
            keep_unsent_low(&current.socket, bytes.clamp(UNSENT.0, UNSENT.1));
        }
    }
    /// Ends the connection that there is, if any.
    pub fn close(&self) {
        if let Some(current) = self.current.borrow_mut().take() {
            current.task.abort();
            self.count(&current);
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
    fn on_taken(&self) {
        if let Some(current) = self.current.borrow_mut().as_mut() {
            current.is_taken = true;
        }
        *self.trouble.borrow_mut() = None;
        self.is_mismatched.set(false);
    }
    /// What has ended, if it is the connection that there was.
    fn end(&self, generation: u64) -> Option<Current> {
        self.current.borrow_mut().take_if(|current| current.generation == generation)
    }
}

/// Takes a connection on which both sides have shown their keys.
pub fn adopt(peer: &Rc<Peer>, stream: TlsStream<TcpStream>, we_called: bool) {
    let state = &peer.tcp;
    if !state.is_better(we_called, peer.key()) {
        debug!(peer = peer.config.name, "closed a redundant TCP connection");
        return;
    }
    let socket = &stream.get_ref().0;
    let Ok(copy) = socket.as_fd().try_clone_to_owned() else { return };
    let _ = socket.set_nodelay(true);
    keep_unsent_low(socket, UNSENT.1);
    leave_unpaced_within_machine(socket);
    let generation = state.generation.get() + 1;
    state.generation.set(generation);
    let runs = peer.clone();
    let task = spawn_local(async move {
        let why = run(&runs, stream, we_called).await.err().unwrap_or_else(|| "closed".to_owned());
        if let Some(ended) = runs.tcp.end(generation) {
            runs.tcp.count(&ended);
            if ended.is_taken {
                info!(peer = runs.config.name, why, "TCP connection closed");
            } else {
                *runs.tcp.trouble.borrow_mut() = Some(why);
            }
            runs.on_failed(TCP);
            runs.tcp.call_again();
        }
    });
    let new = Current { generation, we_called, socket: copy, task: task.abort_handle(), is_taken: false };
    if let Some(old) = state.current.borrow_mut().replace(new) {
        old.task.abort();
        state.count(&old);
    }
    // What the old one carried is carried again.
    peer.on_failed(TCP);
}

/// Keeps calling, as long as there is no connection or the one that there is hangs.
pub async fn call(peer: Rc<Peer>, address: String) {
    let mut pause = PAUSE.0;
    let mut silent = false;
    loop {
        let called = tokio::select! {
            called = tokio::time::timeout(CALL_MOST, dial(&peer, &address)) => called,
            // The path has changed: the SYN in progress may be minutes away from its next retry.
            () = peer.tcp.call.notified() => continue,
        };
        let why = match called {
            Ok(Ok(stream)) => {
                adopt(&peer, TlsStream::from(stream), true);
                // This connection also answers calls requested meanwhile.
                tokio::select! { biased; () = peer.tcp.call.notified() => {} () = std::future::ready(()) => {} }
                peer.tcp.call.notified().await;
                let Some(why) = peer.tcp.trouble() else {
                    (pause, silent) = (PAUSE.0, false);
                    // Whatever it was that ended it may not be over.
                    tokio::time::sleep(pause).await;
                    continue;
                };
                why
            }
            Ok(Err(why)) => why,
            Err(_) => "no answer".to_owned(),
        };
        tell(&peer, &address, why, &mut silent);
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE.1),
            () = peer.tcp.call.notified() => pause = PAUSE.0,
        }
        if peer.tcp.is_connected() {
            peer.tcp.call.notified().await;
        }
    }
}

fn tell(peer: &Peer, address: &str, why: String, silent: &mut bool) {
    if !std::mem::replace(silent, true) {
        warn!(
            peer = peer.config.name,
            address, why, "TCP connection failed; further failures are not logged"
        );
    }
    *peer.tcp.trouble.borrow_mut() = Some(why);
}

/// The other daemon, which has shown its key, has refused ours, if that is what went wrong.
fn refused(peer: &Rc<Peer>, why: &std::io::Error) -> String {
    if is_denied(why) {
        peer.on_refused();
    }
    told(peer, why)
}

fn is_denied(why: &std::io::Error) -> bool {
    let of_tls = why.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(of_tls, Some(rustls::Error::AlertReceived(AlertDescription::AccessDenied)))
}

/// What went wrong, as the owner of the settings needs it.
fn told(peer: &Rc<Peer>, why: &std::io::Error) -> String {
    let of_tls = why.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let is_mismatched = matches!(
        of_tls,
        Some(
            rustls::Error::AlertReceived(AlertDescription::AccessDenied)
                | rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
        )
    );
    peer.tcp.is_mismatched.set(is_mismatched);
    if is_mismatched {
        peer.refuse_waiting();
    }
    match of_tls {
        Some(rustls::Error::AlertReceived(AlertDescription::AccessDenied)) => {
            format!("the peer does not know our key; add {} to its settings", peer.tcp.own)
        }
        Some(rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
            format!(
                "the peer speaks another protocol version than {}; run the same lightlagd on both",
                tls::version()
            )
        }
        Some(rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)) => {
            format!("the peer has another key than {}, which our settings name", peer.key())
        }
        _ => why.to_string(),
    }
}

async fn dial(peer: &Rc<Peer>, address: &str) -> Result<tokio_rustls::client::TlsStream<TcpStream>, String> {
    let socket = TcpStream::connect(address).await.map_err(|why| told(peer, &why))?;
    let name = ServerName::try_from("lightlag").expect("it is a name");
    let connector = TlsConnector::from(peer.tcp.client.clone());
    connector.connect(name, socket).await.map_err(|why| format!("TLS: {}", told(peer, &why)))
}

async fn run(peer: &Rc<Peer>, stream: TlsStream<TcpStream>, we_called: bool) -> Result<(), String> {
    let pipe = Pipe::new(stream);
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let hello = Hello { epoch: peer.epoch, known: peer.udpdtn.peer(), version };
    let bytes = postcard::to_allocvec(&hello).expect("a hello can be written");
    let mut record = (bytes.len() as u32).to_be_bytes().to_vec();
    record.extend(bytes);
    pipe.send(&record).map_err(|why| refused(peer, &why))?;
    pipe.flush().await.map_err(|why| refused(peer, &why))?;
    let mut came = Vec::new();
    let hello = loop {
        pipe.receive(&mut came).await.map_err(|why| refused(peer, &why))?;
        if let Some((record, behind)) = read_record(&came)? {
            let hello = read_hello(record)?;
            came = behind.to_vec();
            break hello;
        }
    };
    peer.on_hello(hello.epoch, hello.known)?;
    *peer.version.borrow_mut() = Some(hello.version.chars().take(VERSION_MOST).collect());
    peer.tcp.on_taken();
    info!(peer = peer.config.name, we_called, "TCP connected");
    tokio::select! {
        done = write(peer, &pipe) => done,
        done = read(peer, &pipe, (hello.epoch.number, came)) => done,
    }
}

async fn write(peer: &Rc<Peer>, pipe: &Pipe) -> Result<(), String> {
    let mut record = Vec::with_capacity(RECORD_MAX);
    let mut most = BATCH.1;
    let mut is_bulk = false;
    loop {
        let piece = most.min(PIECE);
        let mut filled = 0;
        while filled < most && fill(peer, piece, &mut record) {
            pipe.send(&record).map_err(|why| why.to_string())?;
            peer.traffic.on_left(TCP, record.len());
            filled += piece;
        }
        if is_bulk != (filled >= most) {
            is_bulk = filled >= most;
            pipe.expect_more(is_bulk);
        }
        let begun = Instant::now();
        pipe.flush().await.map_err(|why| why.to_string())?;
        let taken = begun.elapsed();
        if !is_bulk {
            peer.woken(TCP).await;
        } else {
            // There is more: others first.
            tokio::task::yield_now().await;
        }
        // Bytes that wait here can use no other stack any more, and more urgent ones queue behind them.
        let wanted = most as f64 * BATCH_LONGEST.as_secs_f64() / taken.as_secs_f64();
        most = (wanted as usize).min(2 * most).clamp(BATCH.0, BATCH.1);
    }
}

/// Makes a record of data to send, of about `piece` bytes; false if there is nothing to send.
fn fill(peer: &Rc<Peer>, piece: usize, record: &mut Vec<u8>) -> bool {
    record.clear();
    record.extend([0; LENGTH]);
    let room = piece + Frame::OVERHEAD_MAX;
    peer.with_by(TCP, |session| while record.len() < piece && session.poll(TCP, room, record).is_some() {});
    let length = record.len() - LENGTH;
    record[..LENGTH].copy_from_slice(&(length as u32).to_be_bytes());
    length > 0
}

async fn read(peer: &Rc<Peer>, pipe: &Pipe, (life, mut came): (u32, Vec<u8>)) -> Result<(), String> {
    loop {
        let is_much = came.len() >= pipe::READ;
        let mut rest = &came[..];
        while let Some((record, behind)) = read_record(rest)? {
            take(peer, life, record)?;
            rest = behind;
        }
        let left = rest.len();
        came.drain(..came.len() - left);
        if is_much {
            // There is more: others first.
            tokio::task::yield_now().await;
        }
        pipe.receive(&mut came).await.map_err(|why| why.to_string())?;
    }
}

fn take(peer: &Rc<Peer>, life: u32, record: &[u8]) -> Result<(), String> {
    peer.traffic.on_came(TCP, record.len());
    peer.with(|session| {
        let mut rest = record;
        while !rest.is_empty() {
            let (frame, behind) = Frame::read(life, rest).map_err(|why| why.to_string())?;
            if !session.handle(&frame) {
                // The sender will carry it again, as all data of a stack that ended.
                return Err("no memory for received data".to_owned());
            }
            rest = behind;
        }
        Ok(())
    })
}

/// Reads the first record.
///
/// # Errors
/// It is no hello.
pub fn read_hello(record: &[u8]) -> Result<Hello, String> {
    postcard::from_bytes(record).map_err(|_| "the first record is not a hello".to_owned())
}

/// Bytes, and what follows them.
type Split<'a> = (&'a [u8], &'a [u8]);

/// The record at the beginning, and what follows it; none if it has not come as a whole.
///
/// # Errors
/// It is too long.
pub fn read_record(bytes: &[u8]) -> Result<Option<Split<'_>>, String> {
    let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    if length > RECORD_MAX {
        return Err(format!("a record of {length} bytes; at most {RECORD_MAX} are accepted"));
    }
    Ok(rest.split_at_checked(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_protocols::wire::session::{ConnectionId, OFFSET_MAX};

    #[test]
    fn a_record_is_read_once_it_has_come_as_a_whole() {
        let bytes = [0, 0, 0, 2, 7, 8, 9];
        for cut in 0..6 {
            assert_eq!(read_record(&bytes[..cut]), Ok(None));
        }
        assert_eq!(read_record(&bytes), Ok(Some((&bytes[4..6], &bytes[6..]))));
        assert!(read_record(&u32::MAX.to_be_bytes()).unwrap_err().contains("are accepted"));
    }

    #[test]
    fn a_full_frame_fills_a_record_and_one_more_has_room_beside_others() {
        let id = ConnectionId { incarnation: u32::MAX, number: u32::MAX };
        let mut record = vec![0; LENGTH];
        let offset = OFFSET_MAX - PIECE as u64 - 1;
        Frame::Data { id, offset, ends: true, bytes: &[7; PIECE] }.write(0, &mut record);
        assert!((PIECE..=RECORD).contains(&record.len()));
        assert!(PIECE - 1 + record.len() - LENGTH <= RECORD_MAX);
    }
}
