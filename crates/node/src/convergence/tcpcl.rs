//! Bundles over TCPCLv4 (RFC 9174) and the kernel's TCP: a thread for each connection that comes.

use super::outgoing::Item;
use super::store::{Part, Unkept};
use super::tcpcl_wire::{RefuseReason, TermReason};
use super::{Bundle, BundleStore, Error, Event, Listening, Progress, Sending, Tag};
use crate::clock::{Clock, of_std, to_std};
use crate::places::{Newcomer, PLACES_MAX, Place};
use crate::refusals::Refusals;
use crate::socket::wait_any;
use crate::streams::{self, FAREWELL, OPENING, Streams, connect, said, say_farewell};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::tcpcl::{Config, Ending, Event as Told, Piece, Session};
use rustix::event::{PollFd, PollFlags};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Bytes read at once, and bytes buffered for writing at most.
const CHUNK: usize = 256 << 10;
/// Data of a segment that leaves: each is acknowledged by itself.
const SEGMENT: u64 = 64 << 10;
const KEEPALIVE_S: u16 = 30;
/// How long a sender waits for the opening of a listener, which may be busy; also how long either side waits for the
/// end of a session or, without keep-alives, for data.
const PATIENCE: Duration = Duration::from_secs(120);
/// A transfer without progress for this time is ended, as its data take space.
const STALL: std::time::Duration = std::time::Duration::from_secs(60);
const TICK: Duration = Duration::from_nanos(100_000_000);
/// Bundles that wait to be acknowledged.
const UNACKED_MOST: usize = 256;
/// How long a side that is done waits for the peer to end the session.
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
        let mut wants = if self.session.is_choked() { PollFlags::empty() } else { PollFlags::IN };
        if self.written < self.out.len() {
            wants |= PollFlags::OUT;
        }
        wait_any(&mut [PollFd::new(&self.io, wants)], until - now)
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
    /// Whether there is nothing more to read or write.
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
    fn note(&mut self, told: Told, peer_term: Option<TermReason>) {
        match told {
            Told::Opened { node } => self.node = node,
            Told::Refused { transfer, reason: RefuseReason::SessionTerminating } if peer_term.is_some() => {
                let why = peer_term.map(|why| Ending::Peer(why).to_string()).unwrap_or_default();
                self.end(transfer, Err(format!("it did not leave: {why}")));
            }
            Told::Sent { transfer } => self.end(transfer, Ok(())),
            Told::Refused { transfer, reason } => {
                self.end(transfer, Err(format!("the receiver refused it: {reason}")));
            }
            Told::TooLong { transfer, most } => {
                let why = format!("the receiver takes bundles of {most} bytes at most over TCPCL");
                self.end(transfer, Err(format!("{why}; send it over ltp-udp, or as fragments")));
            }
            Told::Ended(how) => self.ending = Some(how),
            Told::Coming { .. } | Told::Data { .. } | Told::Whole { .. } => {}
            Told::Declined { .. } | Told::Acked { .. } => {}
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

/// As [`super::Layer::send`].
pub fn send(
    sending: Sending,
    items: Vec<Item>,
    check: &dyn Fn() -> Result<(), Error>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Bundle>, Error> {
    let (to, give_up) = (sending.options.to, sending.options.give_up.map(to_std));
    let all = items.iter().map(|item| item.length).sum();
    let fates = items.iter().map(|_| None).collect();
    let config = config(true, &sending.node, 0);
    let stream = connect(to, give_up).and_then(|stream| Stream::new(stream, config));
    let mut stream = stream.map_err(|why| said(to, &why, give_up))?;
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
            leaving.note(told, stream.session.peer_term());
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
                return Err(crate::transports::stopped());
            }
            if let Some(most) = sending.options.give_up.filter(|most| now - heard > *most) {
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
        opening: if is_active { PATIENCE } else { of_std(OPENING) },
        patience: PATIENCE,
    }
}

// --- receiving ------------------------------------------------------------------------------

/// Bundles that come by a session.
struct Coming {
    store: BundleStore,
    peer: SocketAddr,
    node: String,
    part: Option<(u64, Part)>,
    out: Sender<Event>,
    place: Arc<Place>,
}

impl Coming {
    fn tell(&self, event: Event) {
        // The send fails only if the listener has ended.
        let _ = self.out.send(event);
    }
    fn refuse(&mut self, session: &mut Session, transfer: u64, why: &Unkept) {
        self.part = None;
        let reason = match why {
            Unkept::NoBundle(_) => RefuseReason::NotAcceptable,
            Unkept::NoRoom(_) => RefuseReason::NoResources,
        };
        session.refuse(transfer, reason);
        self.tell(Event::Refused(format!("a bundle from {}: {why}", self.peer)));
    }
    fn note(&mut self, session: &mut Session, told: Told) {
        match told {
            Told::Opened { node } => self.node = node.replace(char::is_control, " "),
            Told::Coming { transfer, .. } => match Part::new(&self.store, self.peer) {
                Ok(part) => self.part = Some((transfer, part)),
                Err(why) => self.refuse(session, transfer, &why.into()),
            },
            Told::Data { transfer, bytes } => {
                let Some((_, part)) = self.part.as_mut().filter(|part| part.0 == transfer) else { return };
                self.place.add(bytes.len() as u64);
                if let Err(why) = part.write(part.extent().0, &bytes) {
                    self.refuse(session, transfer, &why.into());
                }
            }
            Told::Whole { transfer } => self.keep(session, transfer),
            Told::Declined { reason, .. } => self.decline(reason),
            Told::Ended(Ending::Closed) => {}
            Told::Ended(how) => self.tell(Event::Refused(format!("{}: {how}", self.peer))),
            Told::Acked { .. } | Told::Sent { .. } | Told::Refused { .. } | Told::TooLong { .. } => {}
        }
    }
    /// The session has refused a bundle by itself.
    fn decline(&mut self, reason: RefuseReason) {
        self.part = None;
        let why = match reason {
            RefuseReason::SessionTerminating => return,
            RefuseReason::NoResources => {
                format!("it has more than {} bytes (--max-size)", self.store.size_most)
            }
            RefuseReason::NotAcceptable => "it has another length than its sender announced".to_owned(),
            other => other.to_string(),
        };
        self.tell(Event::Refused(format!("a bundle from {}: {why}", self.peer)));
    }
    /// Why the session must end now, if it must.
    fn dismissal(&self) -> Option<TermReason> {
        if self.place.is_dismissed() {
            return Some(TermReason::ResourceExhaustion);
        }
        let part = self.part.as_ref();
        let stalls = part.is_some_and(|(_, part)| part.age().min(self.place.still()) > STALL);
        if stalls {
            let seconds = STALL.as_secs();
            self.tell(Event::Refused(format!("{}: its bundle made no progress for {seconds} s", self.peer)));
        }
        stalls.then_some(TermReason::IdleTimeout)
    }
    /// It is acknowledged when it has its name.
    fn keep(&mut self, session: &mut Session, transfer: u64) {
        let Some((_, part)) = self.part.take().filter(|part| part.0 == transfer) else {
            return session.refuse(transfer, RefuseReason::Retransmit);
        };
        if part.extent().0 == 0 {
            return self.refuse(session, transfer, &"it is empty".to_owned().into());
        }
        match part.keep(Tag::Tcpcl { node: self.node.clone(), transfer }) {
            Ok(bundle) => {
                session.accept(transfer);
                self.place.add_unit();
                self.tell(Event::Bundle(bundle));
            }
            Err(why) => self.refuse(session, transfer, &why),
        }
    }
}

/// Runs a connection until it is over, or the listener ends.
fn serve(io: TcpStream, config: Config, coming: &mut Coming, ends: &AtomicBool) -> io::Result<()> {
    let mut stream = Stream::new(io, config)?;
    let mut until = Instant::MAX;
    while !stream.is_over() && stream.clock.now() < until {
        if ends.load(Ordering::Acquire) {
            stream.session.finish(stream.clock.now());
        }
        if until == Instant::MAX
            && let Some(reason) = coming.dismissal()
        {
            stream.session.dismiss(stream.clock.now(), reason);
            until = stream.clock.now() + of_std(FAREWELL);
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
    // Free the space of an incomplete bundle at once.
    coming.part = None;
    if until < Instant::MAX {
        // The thread ends anyway.
        let _ = say_farewell(&mut stream.io, FAREWELL);
    }
    Ok(())
}

/// As [`super::Layer::listen`].
pub fn listen(listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let mut streams = Streams::listen(listening.options.at)?;
    let mut refusals = Refusals::default();
    let mut goes_on = watch(Event::Listening(streams.address()?));
    let (ends, out) = (Arc::new(AtomicBool::new(false)), streams.out());
    let mut awaited = listening.count;
    while goes_on && awaited != Some(0) {
        if let Some(event) = streams.turn(|newcomer| admit(newcomer, &listening, &out, &ends)) {
            if let (Event::Bundle(_), Some(count)) = (&event, &mut awaited) {
                *count -= 1;
            }
            goes_on = refusals.pass(event, watch);
        }
    }
    // What was accepted is acknowledged before the end.
    ends.store(true, Ordering::Release);
    let clock = Clock::start();
    while !streams.places().are_empty() && clock.now() < Instant::ZERO + LINGER {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(())
}

fn admit(newcomer: Newcomer, listening: &Listening, out: &Sender<Event>, ends: &Arc<AtomicBool>) {
    let Newcomer { stream, peer, place, dropped } = newcomer;
    if let Some((dropped, idle)) = dropped {
        let seconds = idle.as_secs();
        let line = format!("{dropped}: dropped for another: no bundle made progress for {seconds} s");
        let _ = out.send(Event::Refused(line));
    }
    if place.is_dismissed() {
        let line = format!("{peer}: refused, as bundles come by all {PLACES_MAX} connections");
        let _ = out.send(Event::Refused(line));
    }
    let config = config(false, &listening.node, listening.store.size_most);
    let (store, out, ends) = (listening.store.clone(), out.clone(), ends.clone());
    streams::spawn(move || {
        let mut coming = Coming { store, peer, node: String::new(), part: None, out, place };
        if let Err(why) = serve(stream, config, &mut coming, &ends) {
            coming.tell(Event::Refused(format!("{peer}: the connection: {why}")));
        }
    });
}
