//! Receives files.

use super::Error;
use super::auth::{self, Key};
use super::incoming::{Incoming, Refusal, Stage, exists};
use super::name::file_name;
use super::sender::random;
use super::store::Place;
use crate::carrier::bench::{Interval, Measured, Plan};
use crate::clock::Clock;
use crate::socket::Socket;
use crate::tap::Tap;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::udpdtn::{Body, Opening, Packet, Reason};
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// How to listen.
pub struct Listening {
    /// Where.
    pub at: SocketAddr,
    /// Where files go.
    pub folder: PathBuf,
    /// Exit after the first transfer that ends.
    pub once: bool,
    /// Replace files of the same name.
    pub overwrite: bool,
    /// Largest file that is taken.
    pub size_most: Option<u64>,
    /// Authenticates datagrams.
    pub key: Option<Key>,
    /// Sees all datagrams.
    pub tap: Option<Tap>,
}

/// What came of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// What the file is called here.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes of it.
    pub bytes: u64,
    /// BLAKE3 of it.
    pub digest: [u8; 32],
    /// From the first datagram of this session.
    pub seconds: f64,
    /// Bytes that were here before.
    pub resumed: u64,
    /// Who sent it.
    pub from: SocketAddr,
}

/// Something happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It listens.
    Listening(SocketAddr),
    /// A transfer begins: its name, its bytes, those that are here, and from whom.
    Began(String, u64, u64, SocketAddr),
    /// All transfers under way have so many bytes of so many; nothing of nothing where none is.
    Progress(u64, u64),
    /// A file is here.
    Finished(Finished),
    /// A bundle has come or gone ([`crate::convergence`]).
    Bundle(crate::convergence::Bundle),
    /// A transfer is refused or has failed: one line.
    Refused(String),
    /// An interval of a measurement is over.
    Interval(SocketAddr, Interval),
    /// A measurement is over.
    Measured(SocketAddr, Measured),
}

impl Event {
    /// Whether it ends a transfer, and then whether well.
    pub fn ends(&self) -> Option<bool> {
        match self {
            Self::Finished(_) | Self::Bundle(_) | Self::Measured(..) => Some(true),
            Self::Refused(_) => Some(false),
            Self::Listening(_) | Self::Began(..) | Self::Progress(..) | Self::Interval(..) => None,
        }
    }
}

/// Transfers at a time.
const SESSIONS_MAX: usize = 64;
/// Transfers that are remembered, those that are over among them.
const REMEMBERED_MAX: usize = 4 * SESSIONS_MAX;
/// Files whose digest is remembered.
const DIGESTS_MAX: usize = 64;
/// What has not been heard for so long leaves memory; what is here of it stays.
const IDLE_MOST: Duration = Duration::from_secs(600);
/// Nobody is sent away for a transfer that was heard so recently.
const IDLE_LEAST: Duration = Duration::from_secs(30);
/// Another sender may take over a name of which nothing was heard for so long.
const TAKE_OVER: Duration = Duration::from_secs(3);
/// Unknown sessions are told so at most so often, all together.
const UNKNOWN_EVERY: Duration = Duration::from_nanos(5_000_000);
const TICK: Duration = Duration::from_nanos(100_000_000);
/// Left free on the disk.
const SPARE_BYTES: u64 = 1 << 20;

/// Receives files until it is told to stop.
pub struct Listener {
    listening: Listening,
    socket: Socket,
    clock: Clock,
    sessions: BTreeMap<u32, Incoming>,
    /// Who is to be told that his session is not known, and when somebody was.
    unknown: Option<(SocketAddr, u32)>,
    next_unknown: Instant,
    next_tick: Instant,
    events: Vec<Event>,
    /// The first transfer that ended well (true) or badly, and when its sender may still ask.
    ended: Option<(bool, u32)>,
    ignored: u64,
    digests: BTreeMap<PathBuf, (Stamp, [u8; 32])>,
}

/// Length and time of change of a file.
type Stamp = (u64, Option<std::time::SystemTime>);

impl Listener {
    /// Binds its socket.
    ///
    /// # Errors
    /// One line.
    pub fn new(mut listening: Listening) -> Result<Self, Error> {
        let folder = listening.folder.display();
        fs::create_dir_all(&listening.folder).map_err(|why| {
            Error::Input(format!("{folder}: {why}; name a folder that can be written with --folder"))
        })?;
        let mut socket = Socket::bind(listening.at).map_err(|why| {
            let at = listening.at;
            Error::Input(format!("cannot listen at {at}: {why}; name a free address of this machine"))
        })?;
        let broken = |why: std::io::Error| Error::Failed(format!("the socket: {why}"));
        socket.set_tap(listening.tap.take()).map_err(broken)?;
        let at = socket.address().map_err(broken)?;
        Ok(Self {
            listening,
            socket,
            clock: Clock::start(),
            sessions: BTreeMap::new(),
            unknown: None,
            next_unknown: Instant::ZERO,
            next_tick: Instant::ZERO,
            events: vec![Event::Listening(at)],
            ended: None,
            ignored: 0,
            digests: BTreeMap::new(),
        })
    }
    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.socket.address()
    }
    /// Datagrams that were dropped: malformed, without a valid tag, from others than their session's.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
    /// Receives until the first transfer has ended, if it is to end then, or until `watch` says false.
    ///
    /// # Errors
    /// One line.
    pub fn run(&mut self, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let broken = |why: std::io::Error| Error::Failed(format!("the socket: {why}"));
        loop {
            let came = self.receive().map_err(broken)?;
            let now = self.clock.now();
            let mut more = came > 0;
            for incoming in self.sessions.values_mut() {
                more |= incoming.work(now, came == 0);
            }
            self.note_ends(now);
            self.transmit(now).map_err(broken)?;
            self.tick(now);
            if !self.events.drain(..).collect::<Vec<_>>().into_iter().all(&mut *watch) || self.is_over(now) {
                break;
            }
            if !more {
                self.sleep(now).map_err(broken)?;
            }
        }
        let now = self.clock.now();
        for incoming in self.sessions.values_mut() {
            // What cannot be written down now is received again later.
            let _ = incoming.save(now);
        }
        match self.ended {
            Some((false, _)) => Err(Error::Failed("the transfer failed".to_owned())),
            _ => Ok(()),
        }
    }

    fn receive(&mut self) -> std::io::Result<usize> {
        let Self { socket, clock, listening, sessions, unknown, ignored, .. } = self;
        let key = listening.key.as_ref();
        let mut openings: Vec<(SocketAddr, Vec<u8>, Instant)> = Vec::new();
        let came = socket.receive(clock, |from, bytes, at| {
            let packet = auth::open(key, bytes).and_then(|bytes| Packet::read(bytes).ok());
            let Some(packet) = packet else {
                *ignored += 1;
                return;
            };
            match (sessions.get_mut(&packet.session), &packet.body) {
                (Some(incoming), _) => incoming.take(at, from, &packet, key.is_some()),
                (None, Body::Open(_)) => openings.push((from, packet.to_bytes(), at)),
                (None, Body::Data(..)) => *unknown = Some((from, packet.session)),
                _ => *ignored += 1,
            }
        })?;
        for (from, bytes, at) in openings {
            if let Ok(packet) = Packet::read(&bytes)
                && let Body::Open(opening) = &packet.body
                && !self.sessions.contains_key(&packet.session)
            {
                self.open(at, from, &packet, opening);
            }
        }
        Ok(came)
    }

    // --- openings ---------------------------------------------------------------------------

    fn open(&mut self, now: Instant, from: SocketAddr, packet: &Packet, opening: &Opening) {
        let mut incoming = self.admit(now, from, packet, opening).unwrap_or_else(|why| {
            let said = file_name(opening.name).unwrap_or_else(|_| "a file".to_owned());
            self.events.push(Event::Refused(format!("{said} from {from}: {}", why.text)));
            Incoming::refused(now, from, packet, opening, why)
        });
        if incoming.stage == Stage::Open {
            let (name, length) = (incoming.name.clone(), incoming.length());
            self.events.push(Event::Began(name, length, incoming.resumed, from));
        }
        if incoming.stage == Stage::Done {
            self.finished(&incoming, now);
        }
        incoming.told = incoming.stage != Stage::Open;
        if self.sessions.len() >= REMEMBERED_MAX {
            let over = self.sessions.iter().filter(|(_, known)| known.stage != Stage::Open);
            let oldest = over.min_by_key(|(_, known)| known.heard).map(|(&id, _)| id);
            oldest.and_then(|session| self.sessions.remove(&session));
        }
        self.sessions.insert(packet.session, incoming);
    }
    fn admit(
        &mut self,
        now: Instant,
        from: SocketAddr,
        packet: &Packet,
        opening: &Opening,
    ) -> Result<Incoming, Refusal> {
        if Plan::of_name(opening.name).is_some() {
            let text = "a file was awaited; both sides must say `lightlag transfer`";
            return Err(Refusal::new(Reason::Opening, text));
        }
        let name = file_name(opening.name).map_err(|why| Refusal::new(Reason::Opening, why))?;
        let most = self.listening.size_most.unwrap_or(u64::MAX);
        let length = opening.length.0;
        if length > most {
            let text = format!("it has {length} bytes; the receiver takes at most {most} (--max-size)");
            return Err(Refusal::new(Reason::TooLarge, text));
        }
        let path = self.listening.folder.join(&name);
        if let Ok(found) = fs::symlink_metadata(&path) {
            if found.is_file()
                && found.len() == length
                && self.digest_of(&path, &found) == Some(opening.digest)
            {
                return Ok(Incoming::done(now, from, packet, opening, name));
            }
            if !self.listening.overwrite || !found.is_file() {
                return Err(exists(&name));
            }
        }
        self.make_room(now, from, &path, opening)?;
        let place = Place::new(path);
        self.check_space(&place, length)?;
        let incarnation = random().map_err(|why| Refusal::new(Reason::Busy, why.to_string()))?;
        Incoming::open(now, from, packet, opening, place, incarnation, self.listening.overwrite)
    }
    /// The digest of a file that is here; read once, not for everybody who asks.
    fn digest_of(&mut self, path: &Path, found: &fs::Metadata) -> Option<[u8; 32]> {
        let stamp = (found.len(), found.modified().ok());
        if let Some(known) = self.digests.get(path).filter(|known| known.0 == stamp) {
            return Some(known.1);
        }
        let mut hasher = blake3::Hasher::new();
        std::io::copy(&mut fs::File::open(path).ok()?, &mut hasher).ok()?;
        let digest = *hasher.finalize().as_bytes();
        if self.digests.len() == DIGESTS_MAX {
            self.digests.pop_first();
        }
        self.digests.insert(path.to_owned(), (stamp, digest));
        Some(digest)
    }
    /// Takes over from an earlier session of this file, and lets go of the one that is silent longest.
    fn make_room(
        &mut self,
        now: Instant,
        from: SocketAddr,
        path: &Path,
        opening: &Opening,
    ) -> Result<(), Refusal> {
        let same_name = |incoming: &Incoming| incoming.place().is_some_and(|place| place.name == path);
        let other = self.sessions.iter().find(|(_, incoming)| same_name(incoming)).map(|(&id, _)| id);
        if let Some(other) = other {
            let incoming = &self.sessions[&other];
            let is_same = incoming.digest() == opening.digest;
            if !is_same && incoming.peer.ip() != from.ip() && now - incoming.heard < TAKE_OVER {
                let text = format!("another sender is sending a file called {} now", incoming.name);
                return Err(Refusal::new(Reason::Busy, text));
            }
            self.drop_session(now, other);
        }
        let open = self.sessions.iter().filter(|(_, incoming)| incoming.stage == Stage::Open);
        if open.clone().count() < SESSIONS_MAX {
            return Ok(());
        }
        let Some((&oldest, incoming)) = open.min_by_key(|(_, incoming)| incoming.heard) else {
            return Ok(());
        };
        if now - incoming.heard < IDLE_LEAST {
            let text = format!("the receiver serves {SESSIONS_MAX} transfers already; try again later");
            return Err(Refusal::new(Reason::Busy, text));
        }
        self.drop_session(now, oldest);
        Ok(())
    }
    fn drop_session(&mut self, now: Instant, session: u32) {
        if let Some(mut gone) = self.sessions.remove(&session) {
            // What cannot be written down is received again.
            let _ = gone.save(now);
        }
    }
    /// Whether the disk has room for all that was promised.
    fn check_space(&self, place: &Place, length: u64) -> Result<(), Refusal> {
        let Ok(disk) = rustix::fs::statvfs(&self.listening.folder) else { return Ok(()) };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let missing = |place: &Place, length: u64| length.saturating_sub(place.occupied());
        let others = self.sessions.values();
        let promised: u64 = others
            .filter_map(|incoming| incoming.place().map(|place| missing(place, incoming.length())))
            .fold(0, u64::saturating_add);
        let needs = missing(place, length).saturating_add(promised);
        if needs == 0 || needs.saturating_add(SPARE_BYTES) <= free {
            return Ok(());
        }
        let text = format!("it needs {needs} bytes of disk, the receiver has {free}; make room there");
        Err(Refusal::new(Reason::NoSpace, text))
    }

    // --- the rest of a turn -----------------------------------------------------------------

    fn transmit(&mut self, now: Instant) -> std::io::Result<()> {
        let key = self.listening.key.as_ref();
        let seal = |packet: &Packet, out: &mut Vec<u8>| {
            let start = out.len();
            packet.write(out);
            if let Some(key) = key {
                key.seal(out, start);
            }
        };
        for incoming in self.sessions.values_mut() {
            let peer = incoming.peer;
            while let Some(packet) = incoming.poll(now) {
                self.socket.push(peer, |out| seal(&packet, out))?;
            }
        }
        if let Some((to, session)) = self.unknown.take().filter(|_| now >= self.next_unknown) {
            self.next_unknown = now + UNKNOWN_EVERY;
            self.socket.push(to, |out| seal(&Packet { session, body: Body::Unknown }, out))?;
        }
        self.socket.flush()
    }
    fn note_ends(&mut self, now: Instant) {
        let untold = |incoming: &Incoming| incoming.stage != Stage::Open && !incoming.told;
        let ended: Vec<u32> =
            self.sessions.iter().filter(|(_, incoming)| untold(incoming)).map(|(&id, _)| id).collect();
        for session in ended {
            let Some(mut incoming) = self.sessions.remove(&session) else { continue };
            incoming.told = true;
            if let Stage::Refused(why) = &incoming.stage {
                let line = format!("{} from {}: {}", incoming.name, incoming.peer, why.text);
                self.events.push(Event::Refused(line));
                self.ended.get_or_insert((false, session));
            } else {
                self.finished(&incoming, now);
            }
            self.sessions.insert(session, incoming);
        }
    }
    fn finished(&mut self, incoming: &Incoming, now: Instant) {
        self.ended.get_or_insert((true, incoming.session));
        self.events.push(Event::Finished(Finished {
            name: incoming.name.clone(),
            path: self.listening.folder.join(&incoming.name),
            bytes: incoming.length(),
            digest: incoming.digest(),
            seconds: (now - incoming.began).as_secs_f64(),
            resumed: incoming.resumed,
            from: incoming.peer,
        }));
    }
    fn tick(&mut self, now: Instant) {
        if now < self.next_tick {
            return;
        }
        self.next_tick = now + TICK;
        let idle = |incoming: &Incoming| now - incoming.heard > IDLE_MOST;
        let gone: Vec<u32> =
            self.sessions.iter().filter(|(_, incoming)| idle(incoming)).map(|(&id, _)| id).collect();
        gone.into_iter().for_each(|session| self.drop_session(now, session));
        let open = self.sessions.values().filter(|incoming| incoming.stage == Stage::Open);
        let (here, all) = open.fold((0_u64, 0_u64), |(here, all), incoming| {
            (here.saturating_add(incoming.delivered()), all.saturating_add(incoming.length()))
        });
        self.events.push(Event::Progress(here, all));
    }
    /// Whether it is to end, and the sender has surely heard why: two of its round trips of silence.
    fn is_over(&self, now: Instant) -> bool {
        let Some((_, session)) = self.ended.filter(|_| self.listening.once) else { return false };
        self.sessions.get(&session).is_none_or(|incoming| {
            let round_trips = Duration::from_nanos(incoming.report_every.as_nanos().saturating_mul(32));
            let linger = Duration::from_nanos(500_000_000).saturating_add(round_trips);
            now - incoming.heard.max(incoming.ended) > linger
        })
    }
    fn sleep(&self, now: Instant) -> std::io::Result<()> {
        let due = self.sessions.values().filter_map(Incoming::deadline).min();
        let until = due.unwrap_or(Instant::MAX).min(self.next_tick.max(now + Duration::from_nanos(50_000)));
        self.socket.wait((until - now).max(Duration::ZERO))
    }
}
