//! Bundles over TCPCLv4 (RFC 9174) and the kernel's TCP: a thread for each connection that comes.

use super::shelf::Part;
use super::stock::{self, Item};
use super::tcpcl_wire::RefuseReason;
use super::{Bundle, Error, Event, Listening, Progress, Sending, Shelf, Tag};
use crate::clock::{Clock, to_std};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::tcpcl::{Config, Ending, Event as Told, Piece, Session};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};

/// What is read at once, and what waits to be written at most.
const CHUNK: usize = 256 << 10;
/// Data of a segment that leaves: each is acknowledged by itself.
const SEGMENT: u64 = 64 << 10;
const KEEPALIVE_S: u16 = 30;
/// Opening, ending, and silence where nobody wants keep-alives.
const PATIENCE: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_nanos(100_000_000);
/// Connections at a time.
const STREAMS_MAX: usize = 64;
/// Bundles that wait to be acknowledged.
const UNACKED_MOST: usize = 256;
/// Whoever has what it wants waits so long at most for the other side to end.
const LINGER: Duration = Duration::from_secs(2);

/// A connection and its session.
struct Stream {
    io: TcpStream,
    clock: Clock,
    session: Session,
    out: Vec<u8>,
    written: usize,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(io: TcpStream, config: Config) -> io::Result<Self> {
        io.set_nonblocking(true)?;
        // Acknowledgements are small, and somebody waits for them.
        io.set_nodelay(true)?;
        let clock = Clock::start();
        let session = Session::new(clock.now(), config);
        Ok(Self { io, clock, session, out: Vec::new(), written: 0, bytes: vec![0; CHUNK] })
    }
    /// Reads and writes what can be, or waits for it until the deadline, at most a tick; `data` appends
    /// bytes of a bundle.
    fn turn(&mut self, data: &mut dyn FnMut(Piece, &mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        self.fill(data)?;
        let moved = self.write()? | self.read()?;
        if moved || self.session.is_over() {
            return Ok(());
        }
        let now = self.clock.now();
        let until = self.session.deadline().unwrap_or(Instant::MAX).min(now + TICK);
        let span = to_std(until - now);
        let timeout = Timespec { tv_sec: span.as_secs() as i64, tv_nsec: span.subsec_nanos().into() };
        let mut wants = if self.session.is_choked() { PollFlags::empty() } else { PollFlags::IN };
        if self.written < self.out.len() {
            wants |= PollFlags::OUT;
        }
        match poll(&mut [PollFd::new(&self.io, wants)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(why) => Err(why.into()),
        }
    }
    fn fill(&mut self, data: &mut dyn FnMut(Piece, &mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        }
        while self.out.len() < CHUNK {
            let Some(output) = self.session.poll(self.clock.now()) else { break };
            self.out.extend_from_slice(&output.bytes);
            if let Some(piece) = output.data {
                data(piece, &mut self.out)?;
            }
        }
        Ok(())
    }
    fn write(&mut self) -> io::Result<bool> {
        if self.written == self.out.len() {
            return Ok(false);
        }
        match self.io.write(&self.out[self.written..]) {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                self.written += count;
                Ok(true)
            }
            Err(why) if is_passing(&why) => Ok(false),
            Err(why) => Err(why),
        }
    }
    fn read(&mut self) -> io::Result<bool> {
        if self.session.is_choked() {
            return Ok(false);
        }
        match self.io.read(&mut self.bytes) {
            Ok(0) => {
                self.session.cut();
                Ok(true)
            }
            Ok(count) => {
                self.session.receive(self.clock.now(), &self.bytes[..count]);
                Ok(true)
            }
            Err(why) if is_passing(&why) => Ok(false),
            Err(why) => Err(why),
        }
    }
    /// Whether nothing more is to be read or written.
    fn is_over(&self) -> bool {
        self.session.is_over() && self.written == self.out.len()
    }
}

fn is_passing(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

// --- sending --------------------------------------------------------------------------------

/// Bundles that leave by a session.
struct Leaving {
    items: Vec<Item>,
    peer: SocketAddr,
    /// What the other side calls itself.
    node: String,
    /// The next that the session is given.
    next: usize,
    fates: Vec<Option<Result<(), String>>>,
    done_bytes: u64,
    ending: Option<Ending>,
}

impl Leaving {
    fn is_done(&self) -> bool {
        self.fates.iter().all(Option::is_some)
    }
    /// Gives the session what it may have.
    fn give(&mut self, session: &mut Session) {
        while self.next < self.items.len() && session.unfinished() < UNACKED_MOST {
            session.send(self.items[self.next].length);
            self.next += 1;
        }
    }
    fn note(&mut self, told: Told) {
        match told {
            Told::Opened { node } => self.node = node,
            Told::Sent { transfer } => self.end(transfer, Ok(())),
            Told::Refused { transfer, reason } => {
                self.end(transfer, Err(format!("the receiver refused it: {reason}")));
            }
            Told::TooLong { transfer, most } => {
                let why = format!("the receiver takes bundles of {most} bytes at most over TCPCL");
                self.end(transfer, Err(format!("{why}; send it over ltp-udp, or as fragments")));
            }
            Told::Ended(how) => self.ending = Some(how),
            Told::Coming { .. } | Told::Data { .. } | Told::Whole { .. } | Told::Acked { .. } => {}
        }
    }
    /// The transfers of a session are numbered from zero, in the order of the bundles.
    fn end(&mut self, transfer: u64, outcome: Result<(), String>) {
        let at = transfer as usize;
        self.done_bytes += self.items[at].length;
        self.items[at].close();
        self.fates[at] = Some(outcome);
    }
    fn bundles(&self, seconds: f64) -> Vec<Bundle> {
        let lost = || {
            let why = self.ending.map_or_else(|| "it did not leave".to_owned(), |how| how.to_string());
            Err(format!("it is not known to have arrived: {why}"))
        };
        let mut bundles = Vec::new();
        for (at, (item, fate)) in self.items.iter().zip(&self.fates).enumerate() {
            let tag = Tag::Tcpcl { node: self.node.clone(), transfer: at as u64 };
            bundles.push(item.bundle(self.peer, tag, seconds, fate.clone().unwrap_or_else(lost)));
        }
        bundles
    }
}

fn connect(sending: &Sending) -> Result<TcpStream, Error> {
    let to = sending.to;
    let stream = match sending.give_up {
        Some(most) => TcpStream::connect_timeout(&to, to_std(most)),
        None => TcpStream::connect(to),
    };
    stream.map_err(|why| match why.kind() {
        io::ErrorKind::ConnectionRefused => Error::Failed(format!("{to}: nobody listens there, over TCP")),
        io::ErrorKind::TimedOut => Error::Failed(format!("{to} did not answer")),
        _ => Error::Failed(format!("{to}: {why}")),
    })
}

/// As [`super::Way::send`].
pub fn send(sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Vec<Bundle>, Error> {
    let items = stock::open(&sending.files, watch)?;
    let check = stock::checker(&items);
    let to = sending.to;
    let broken = |why: io::Error| Error::Failed(format!("{to}: {why}"));
    let all = items.iter().map(|item| item.length).sum();
    let fates = items.iter().map(|_| None).collect();
    let config = config(true, &sending.node, 0);
    let mut stream = Stream::new(connect(&sending)?, config).map_err(broken)?;
    let mut leaving =
        Leaving { items, peer: to, node: String::new(), next: 0, fates, done_bytes: 0, ending: None };
    let (mut next_tick, mut done) = (Instant::ZERO, None);
    let (mut heard, mut acked) = (Instant::ZERO, 0);
    loop {
        leaving.give(&mut stream.session);
        let items = &mut leaving.items;
        let mut data = |piece: Piece, out: &mut Vec<u8>| {
            let start = out.len();
            out.resize(start + piece.length as usize, 0);
            items[piece.transfer as usize].read(piece.offset, &mut out[start..])
        };
        let turned = stream.turn(&mut data);
        if turned.is_err() {
            stream.session.cut();
        }
        let now = stream.clock.now();
        while let Some(told) = stream.session.take_event() {
            heard = now;
            if let Told::Acked { length, .. } = told {
                acked = length;
            }
            if matches!(told, Told::Sent { .. }) {
                acked = 0;
            }
            leaving.note(told);
        }
        if leaving.is_done() && done.is_none() {
            done = Some(now);
            stream.session.finish(now);
        }
        if turned.is_err() || stream.is_over() || done.is_some_and(|done| now - done > LINGER) {
            break;
        }
        if now >= next_tick {
            next_tick = now + TICK;
            check()?;
            if !watch(Progress::Sending((leaving.done_bytes + acked).min(all), all)) {
                return Err(crate::carrier::stopped());
            }
            if let Some(most) = sending.give_up.filter(|most| now - heard > *most) {
                return Err(Error::Failed(format!("{to} did not answer for {} s", most.as_secs_f64())));
            }
        }
    }
    match leaving.ending {
        Some(how) if leaving.fates.iter().all(Option::is_none) => Err(Error::Failed(format!("{to}: {how}"))),
        _ => Ok(leaving.bundles(done.unwrap_or(stream.clock.now()).as_secs_f64())),
    }
}

fn config(is_active: bool, node: &str, transfer_mru: u64) -> Config {
    Config {
        is_active,
        node: node.to_owned(),
        keepalive_s: KEEPALIVE_S,
        segment: SEGMENT,
        transfer_mru,
        patience: PATIENCE,
    }
}

// --- receiving ------------------------------------------------------------------------------

/// Bundles that come by a session.
struct Coming {
    shelf: Shelf,
    peer: SocketAddr,
    node: String,
    part: Option<(u64, Part)>,
    out: Sender<Event>,
    /// Its session is open: it is no longer dropped for another.
    is_open: Arc<AtomicBool>,
}

impl Coming {
    fn tell(&self, event: Event) {
        // Whoever no longer listens has ended.
        let _ = self.out.send(event);
    }
    fn refuse(&mut self, session: &mut Session, transfer: u64, why: &str) {
        self.part = None;
        session.refuse(transfer, RefuseReason::NoResources);
        self.tell(Event::Refused(format!("a bundle from {}: {why}", self.peer)));
    }
    fn note(&mut self, session: &mut Session, told: Told) {
        match told {
            Told::Opened { node } => {
                self.node = node.replace(char::is_control, " ");
                self.is_open.store(true, Ordering::Release);
            }
            Told::Coming { transfer, .. } => match Part::new(&self.shelf, self.peer) {
                Ok(part) => self.part = Some((transfer, part)),
                Err(why) => self.refuse(session, transfer, &why),
            },
            Told::Data { transfer, bytes } => {
                let Some((_, part)) = self.part.as_mut().filter(|part| part.0 == transfer) else { return };
                if let Err(why) = part.write(part.extent().0, &bytes) {
                    self.refuse(session, transfer, &why);
                }
            }
            Told::Whole { transfer } => self.keep(session, transfer),
            Told::Ended(Ending::Closed) => {}
            Told::Ended(how) => self.tell(Event::Refused(format!("{}: {how}", self.peer))),
            Told::Acked { .. } | Told::Sent { .. } | Told::Refused { .. } | Told::TooLong { .. } => {}
        }
    }
    /// It is acknowledged when it has its name.
    fn keep(&mut self, session: &mut Session, transfer: u64) {
        let Some((_, part)) = self.part.take().filter(|part| part.0 == transfer) else {
            return session.refuse(transfer, RefuseReason::Retransmit);
        };
        if part.extent().0 == 0 {
            return self.refuse(session, transfer, "it is empty");
        }
        match part.keep(Tag::Tcpcl { node: self.node.clone(), transfer }) {
            Ok(bundle) => {
                session.accept(transfer);
                self.tell(Event::Bundle(bundle));
            }
            Err(why) => self.refuse(session, transfer, &why),
        }
    }
}

/// Runs a connection until it is over, or everybody is to end.
fn serve(io: TcpStream, config: Config, coming: &mut Coming, ends: &AtomicBool) -> io::Result<()> {
    let mut stream = Stream::new(io, config)?;
    while !stream.is_over() {
        if ends.load(Ordering::Acquire) {
            stream.session.finish(stream.clock.now());
        }
        let turned = stream.turn(&mut |_, _| Ok(()));
        if turned.is_err() {
            stream.session.cut();
        }
        while let Some(told) = stream.session.take_event() {
            coming.note(&mut stream.session, told);
        }
        turned?;
    }
    Ok(())
}

/// As [`super::Way::listen`].
pub fn listen(listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let at = listening.at;
    let cannot = |why: io::Error| {
        Error::Input(format!("cannot listen at {at}: {why}; name a free address of this machine"))
    };
    let listener = TcpListener::bind(at).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let mut goes_on = watch(Event::Listening(listener.local_addr().map_err(cannot)?));
    let (out, news) = channel();
    let (open, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let mut awaited = listening.count;
    let mut guests = Vec::new();
    while goes_on && awaited != Some(0) {
        match listener.accept() {
            Ok((io, peer)) => {
                make_room(&mut guests, &out);
                admit(io, peer, &listening, &out, &open, &ends, &mut guests);
            }
            // Whoever came is gone again, or there are too many files open: others come later.
            Err(why) if !is_passing(&why) => std::thread::sleep(to_std(TICK)),
            Err(_) => {}
        }
        match news.recv_timeout(std::time::Duration::from_millis(20)) {
            Ok(event) => {
                if let (Event::Bundle(_), Some(count)) = (&event, &mut awaited) {
                    *count -= 1;
                }
                goes_on = watch(event);
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
    // What was accepted is acknowledged before the end.
    ends.store(true, Ordering::Release);
    let clock = Clock::start();
    while open.load(Ordering::Acquire) > 0 && clock.now() < Instant::ZERO + LINGER {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(())
}

fn admit(
    io: TcpStream,
    peer: SocketAddr,
    listening: &Listening,
    out: &Sender<Event>,
    open: &Arc<AtomicUsize>,
    ends: &Arc<AtomicBool>,
    guests: &mut Vec<Guest>,
) {
    if guests.len() >= STREAMS_MAX {
        // All have open sessions: this one is closed, and its sender told why by the end of the connection.
        let line = format!("{peer}: closed, as {STREAMS_MAX} others have open sessions");
        let _ = out.send(Event::Refused(line));
        return;
    }
    // Without a second handle (no descriptor is left) it could not be dropped for another.
    let Ok(handle) = io.try_clone() else {
        let _ = out.send(Event::Refused(format!("{peer}: closed, as no file descriptor is left")));
        return;
    };
    open.fetch_add(1, Ordering::AcqRel);
    let is_open = Arc::new(AtomicBool::new(false));
    let alive = Arc::new(());
    guests.push(Guest { handle, peer, is_open: is_open.clone(), alive: Arc::downgrade(&alive) });
    let config = config(false, &listening.node, listening.shelf.size_most);
    let (shelf, out, counted, ends) = (listening.shelf.clone(), out.clone(), open.clone(), ends.clone());
    let spawned = std::thread::Builder::new().spawn(move || {
        let mut coming = Coming { shelf, peer, node: String::new(), part: None, out, is_open };
        if let Err(why) = serve(io, config, &mut coming, &ends) {
            coming.tell(Event::Refused(format!("{peer}: the connection: {why}")));
        }
        drop(coming);
        drop(alive);
        counted.fetch_sub(1, Ordering::AcqRel);
    });
    if spawned.is_err() {
        open.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A connection that was accepted.
struct Guest {
    handle: TcpStream,
    peer: SocketAddr,
    /// Whether it has opened a session.
    is_open: Arc<AtomicBool>,
    /// Gone when its thread has ended.
    alive: Weak<()>,
}

/// Where all places are taken, drops the oldest connection that has not opened a session: whoever connects and
/// says nothing keeps nobody out.
fn make_room(guests: &mut Vec<Guest>, out: &Sender<Event>) {
    guests.retain(|guest| guest.alive.strong_count() > 0);
    if guests.len() < STREAMS_MAX {
        return;
    }
    if let Some(at) = guests.iter().position(|guest| !guest.is_open.load(Ordering::Acquire)) {
        let guest = guests.remove(at);
        // It may be closed already; its thread sees the end.
        let _ = guest.handle.shutdown(Shutdown::Both);
        let line = format!("{}: dropped for another, as it opened no session", guest.peer);
        let _ = out.send(Event::Refused(line));
    }
}
