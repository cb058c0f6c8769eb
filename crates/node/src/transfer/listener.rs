//! Receives files.

use super::Error;
use super::accepted::{Accepted, Verdict};
use super::auth::{Challenge, Fresh, Id, Key, Token};
use super::incoming::{Incoming, Refusal, Stage};
use super::name::file_name;
use super::sender::random;
use super::store::{Kept, Place, drop_unproven, kept};
use crate::clock::Clock;
use crate::files::{self, check_space};
use crate::places::{PLACES_MAX, Room, room_now};
use crate::refusals::Refusals;
use crate::socket::Socket;
use crate::transports::bench::{Interval, Measured, Plan};
use crate::transports::{FileInbox, ListenOptions};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::udpdtn::{Body, Opening, Packet, Reason};
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A received file.
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
    /// Bytes received of all transfers in progress, and their total; zeros without any.
    Progress(u64, u64),
    /// A file is here.
    Finished(Finished),
    /// A bundle has come or gone ([`crate::convergence`]).
    Bundle(crate::convergence::Bundle),
    /// A transfer is refused, or was broken off early: one line.
    Refused(String),
    /// A transfer has failed after much of it had come: one line.
    Failed(String),
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
            Self::Failed(_) => Some(false),
            Self::Listening(_)
            | Self::Began(..)
            | Self::Progress(..)
            | Self::Interval(..)
            | Self::Refused(_) => None,
        }
    }
    /// A transfer that failed after `come` of `length` bytes. Only one of which all or 1 MiB had come ends a
    /// listener for one transfer: any host can begin one.
    pub fn failed(line: String, come: u64, length: u64) -> Self {
        if length > 0 && come >= MUCH_BYTES.min(length) { Self::Failed(line) } else { Self::Refused(line) }
    }
}

/// Transfers that are remembered, those that are over among them.
const REMEMBERED_MAX: usize = 4 * PLACES_MAX;
/// A session without datagrams for this time is forgotten; its unfinished file stays.
const IDLE_MOST: Duration = Duration::from_secs(600);
/// Unfinished files that are kept without a key.
const PARTS_MAX: usize = 256;
/// Without a key, unfinished files with fewer bytes than this are dropped after this time.
const PART_LITTLE: (u64, std::time::Duration) = (1 << 20, std::time::Duration::from_secs(86_400));
/// After this many new bytes, disk space for the file is reserved, and its unfinished file is kept.
pub const MUCH_BYTES: u64 = 1 << 20;
/// How often unfinished files are counted.
const COUNT_EVERY: Duration = Duration::from_secs(1);
/// How often what killed listeners have left of unproven sessions is removed.
const DROP_EVERY: Duration = Duration::from_secs(10);
/// A sender is challenged at most so often.
const CHALLENGE_EVERY: Duration = Duration::from_nanos(50_000_000);
/// Refusals of unknown sessions, all together, are at least this far apart.
const UNKNOWN_EVERY: Duration = Duration::from_nanos(5_000_000);
const TICK: Duration = Duration::from_nanos(100_000_000);
/// Openings that are looked at again with each tick, and for how long; then the sender's next one comes.
const LATER_MAX: usize = 64;
const LATER: Duration = Duration::from_secs(2);

/// Receives files until it is stopped.
pub struct Listener {
    listening: FileInbox,
    once: bool,
    socket: Socket,
    clock: Clock,
    sessions: BTreeMap<u32, Incoming>,
    /// The sender and number of an unknown session, to be refused; and the earliest time of the next refusal.
    unknown: Option<(SocketAddr, u32)>,
    next_unknown: Instant,
    next_tick: Instant,
    events: Vec<Event>,
    /// Openings that can be answered later: where a file is being read, or there may soon be a place.
    later: Vec<Waiting>,
    /// The first transfer that ended well (true) or badly, and when its sender may still ask.
    ended: Option<(bool, u32)>,
    /// What was accepted under the key.
    accepted: Option<Accepted>,
    /// Unfinished files in the folder, and the time of the next count.
    kept: Kept,
    next_count: Instant,
}

/// An opening that waits to be looked at.
struct Waiting {
    from: SocketAddr,
    bytes: Vec<u8>,
    fresh: Option<Fresh>,
    at: Instant,
}

impl Listener {
    /// Binds its socket.
    ///
    /// # Errors
    /// One line.
    pub fn new(mut options: ListenOptions, listening: FileInbox, once: bool) -> Result<Self, Error> {
        let socket = options.take_socket()?;
        let broken = |why: std::io::Error| Error::Failed(format!("the socket: {why}"));
        let at = socket.address().map_err(broken)?;
        let accepted = listening.key.as_ref().map(|key| Accepted::open(&listening.folder, key));
        let accepted = accepted.transpose().map_err(Error::Input)?;
        Ok(Self {
            accepted,
            kept: Kept::default(),
            next_count: Instant::ZERO,
            listening,
            once,
            socket,
            clock: Clock::start(),
            sessions: BTreeMap::new(),
            unknown: None,
            next_unknown: Instant::ZERO,
            next_tick: Instant::ZERO,
            events: vec![Event::Listening(at)],
            later: Vec::new(),
            ended: None,
        })
    }
    /// Receives until the first transfer has ended, if it runs `once`, or until `watch` returns false.
    ///
    /// # Errors
    /// One line.
    pub fn run(&mut self, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let broken = |why: std::io::Error| Error::Failed(format!("the socket: {why}"));
        let mut refusals = Refusals::default();
        let mut watch = |event| refusals.pass(event, watch);
        loop {
            let came = self.receive().map_err(broken)?;
            let now = self.clock.now();
            let mut more = came > 0;
            for incoming in self.sessions.values_mut() {
                more |= incoming.work(now, came == 0);
            }
            self.settle(now);
            self.note_ends(now);
            self.transmit(now).map_err(broken)?;
            self.events.extend(self.socket.take_undelivered().map(Event::Refused));
            self.tick(now);
            if !self.events.drain(..).collect::<Vec<_>>().into_iter().all(&mut watch) || self.is_over(now) {
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
        let Self { socket, clock, listening, sessions, unknown, .. } = self;
        let key = listening.key.as_ref();
        let mut openings: Vec<Waiting> = Vec::new();
        let came = socket.receive(clock, |from, bytes, at| {
            let opened = key.map_or(Some((bytes, None)), |key| key.open_sent(bytes));
            let packet = opened.and_then(|(bytes, fresh)| Some((Packet::read(bytes).ok()?, fresh)));
            let Some((packet, fresh)) = packet else {
                return;
            };
            let mut wait = || openings.push(Waiting { from, bytes: packet.to_bytes(), fresh, at });
            match (sessions.get_mut(&packet.session), &packet.body) {
                // Its proof may be in it.
                (Some(incoming), Body::Open(_)) if !incoming.is_proven => wait(),
                (Some(incoming), _) => incoming.take(at, from, &packet, key.is_some()),
                (None, Body::Open(_)) => wait(),
                (None, Body::Data(..)) => *unknown = Some((from, packet.session)),
                _ => {}
            }
        })?;
        openings.into_iter().for_each(|opening| self.on_waiting(opening));
        Ok(came)
    }
    fn on_waiting(&mut self, Waiting { from, bytes, fresh, at }: Waiting) {
        if let Ok(packet) = Packet::read(&bytes)
            && let Body::Open(opening) = &packet.body
        {
            self.on_opening(at, from, &packet, opening, fresh.unwrap_or_default());
        }
    }

    // --- openings ---------------------------------------------------------------------------

    fn on_opening(
        &mut self,
        now: Instant,
        from: SocketAddr,
        packet: &Packet,
        opening: &Opening,
        fresh: Fresh,
    ) {
        let keyed = self.accepted.is_some();
        if let Some(known) = self.sessions.get_mut(&packet.session) {
            if known.is_proven || known.id != fresh.id {
                known.take(now, from, packet, keyed);
                return;
            }
            let name = known.name.clone();
            let verdict =
                self.accepted.as_ref().map(|accepted| accepted.judge(&name, &opening.digest, &fresh));
            if matches!(verdict, Some(Verdict::Challenged(_))) {
                known.take(now, from, packet, keyed);
                return;
            }
            // Data received before the proof stay on the disk, and the transfer resumes from them.
            known.is_volatile = false;
            self.drop_session(now, packet.session);
        }
        self.open(now, from, packet, opening, fresh);
    }
    fn open(&mut self, now: Instant, from: SocketAddr, packet: &Packet, opening: &Opening, fresh: Fresh) {
        let mut incoming = match self.admit(now, from, packet, opening, fresh) {
            Ok(incoming) => incoming,
            Err(None) => {
                if self.later.len() < LATER_MAX {
                    self.later.push(Waiting { from, bytes: packet.to_bytes(), fresh: Some(fresh), at: now });
                }
                return;
            }
            Err(Some(why)) => {
                let said = file_name(opening.name).unwrap_or_else(|_| "a file".to_owned());
                let line = format!("{said} from {from}: {}", why.text);
                self.events.push(Event::Refused(line));
                Incoming::refused(now, from, packet, opening, why)
            }
        };
        incoming.id = fresh.id;
        if incoming.stage == Stage::Open && incoming.is_proven {
            let (name, length) = (incoming.name.clone(), incoming.length());
            let began = Event::Began(name, length, incoming.resumed, from);
            self.events.push(began);
        }
        if incoming.stage == Stage::Done && !incoming.is_repeated {
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
    /// The transfer that an opening begins or resumes; `None` in the error: it can be answered later.
    fn admit(
        &mut self,
        now: Instant,
        from: SocketAddr,
        packet: &Packet,
        opening: &Opening,
        fresh: Fresh,
    ) -> Result<Incoming, Option<Refusal>> {
        if Plan::of_name(opening.name).is_some() {
            let text = "a file was awaited; both sides must say `lightlag transfer`";
            return Err(Some(Refusal::new(Reason::Opening, text)));
        }
        let name = file_name(opening.name).map_err(|why| Refusal::new(Reason::Opening, why))?;
        let most = self.listening.size_most.unwrap_or(u64::MAX);
        let length = opening.length.0;
        if length > most {
            let text = format!("it has {length} bytes; the receiver takes at most {most} (--max-size)");
            return Err(Some(Refusal::new(Reason::TooLarge, text)));
        }
        let digest = &opening.digest;
        let verdict = self.accepted.as_ref().map(|accepted| accepted.judge(&name, digest, &fresh));
        let is_proven = !matches!(verdict, Some(Verdict::Challenged(_)));
        let key = self.listening.key.as_ref().map(Key::fingerprint);
        let place = Place::new(&self.listening.folder, &name, digest, length, key);
        let mut is_here = verdict == Some(Verdict::Delivered);
        if let Ok(found) = fs::symlink_metadata(&place.name) {
            let is_same = found.is_file()
                && found.len() == length
                && self.listening.digests.of(&place.name, &found).ok_or(None)? == Some(opening.digest);
            if !is_same && !is_here && (!self.listening.overwrite || !found.is_file()) {
                return Err(Some(Refusal::of_disk(&name, &std::io::ErrorKind::AlreadyExists.into())));
            }
            is_here |= is_same;
        }
        if is_here && is_proven {
            self.accept(verdict, &name, digest, &fresh)?;
            self.deliver(&name, &fresh.id);
            place.clear();
            let mut incoming = Incoming::done(now, from, packet, opening, name);
            incoming.is_repeated = verdict == Some(Verdict::Delivered);
            return Ok(incoming);
        }
        if is_proven {
            self.release(now, &place.unproven());
            place.adopt(digest, length);
        }
        // A recording leaves nothing behind.
        let is_unproven = !is_proven && !place.is_there();
        let place = if is_unproven { place.unproven() } else { place };
        self.make_room(now, from, &place, is_proven)?;
        self.check_space(&place, length)?;
        let is_volatile = self.check_kept(&place, length)? || is_unproven;
        let incarnation = random().map_err(|why| Refusal::new(Reason::Busy, why.to_string()))?;
        let is_taken = self.sessions.values().any(|other| other.place().is_some_and(|it| it.is_same(&place)));
        let place = (!is_taken).then_some(place);
        let mut incoming = Incoming::open(now, from, packet, opening, name.clone(), place, incarnation)?;
        incoming.overwrite = self.listening.overwrite;
        incoming.is_volatile = is_volatile;
        incoming.is_proven = is_proven;
        incoming.challenge_now = !is_proven;
        self.accept(verdict, &name, digest, &fresh)?;
        Ok(incoming)
    }
    /// Remembers a session that is no recording, before anything else is done for it.
    fn accept(
        &mut self,
        verdict: Option<Verdict>,
        name: &str,
        digest: &[u8; 32],
        fresh: &Fresh,
    ) -> Result<(), Refusal> {
        let Some(accepted) = self.accepted.as_mut().filter(|_| verdict == Some(Verdict::Fresh)) else {
            return Ok(());
        };
        accepted.accept(name, digest, fresh).map_err(|why| Refusal::of_disk(name, &why))
    }
    fn deliver(&mut self, name: &str, id: &Id) {
        let result = self.accepted.as_mut().map_or(Ok(()), |accepted| accepted.deliver(name, id));
        if let Err(why) = result {
            let line =
                format!("{name}: it is here, but that cannot be written down: {why}; make room on the disk");
            self.events.push(Event::Refused(line));
        }
    }
    /// Files whose all is here get their names.
    fn settle(&mut self, now: Instant) {
        let ready = |incoming: &&mut Incoming| {
            incoming.is_checked && incoming.is_proven && incoming.stage == Stage::Open
        };
        let (mut done, lasts) = (Vec::new(), self.accepted.is_some());
        for incoming in self.sessions.values_mut().filter(ready) {
            let overtaken = |accepted: &Accepted| accepted.is_overtaken(&incoming.name, &incoming.id);
            if self.accepted.as_ref().is_some_and(overtaken) {
                let text = format!("a later version of {} has come meanwhile", incoming.name);
                incoming.stop(now, Refusal::new(Reason::Exists, text));
                continue;
            }
            incoming.finish(now, lasts);
            if incoming.stage == Stage::Done {
                done.push((incoming.name.clone(), incoming.id));
            }
        }
        done.into_iter().for_each(|(name, id)| self.deliver(&name, &id));
    }
    /// Takes over from an earlier session of this content, and drops one that makes no progress where all places are
    /// taken. Its data stay on the disk. `None` in the error: there may be a place soon.
    fn make_room(
        &mut self,
        now: Instant,
        from: SocketAddr,
        place: &Place,
        is_proven: bool,
    ) -> Result<(), Option<Refusal>> {
        let same = |incoming: &Incoming| incoming.place().is_some_and(|other| other.is_same(place));
        let Self { sessions, .. } = self;
        if let Some(other) = sessions.iter().find(|(_, incoming)| same(incoming)).map(|(&id, _)| id) {
            // A possible recording takes no place from a proven session: nothing of it is kept.
            if is_proven || !sessions[&other].is_proven {
                self.drop_session(now, other);
            }
        }
        // A possible recording replaces only another one, and yields to a proven session.
        let open = || self.sessions.iter().filter(|(_, incoming)| incoming.stage == Stage::Open);
        if open().count() < PLACES_MAX {
            return Ok(());
        }
        let has_unproven = open().any(|(_, incoming)| !incoming.is_proven);
        let eligible = open().filter(|(_, incoming)| !incoming.is_proven || (is_proven && !has_unproven));
        let (ids, peers): (Vec<u32>, Vec<_>) =
            eligible.map(|(&id, incoming)| (id, (incoming.peer.ip(), incoming.seat.standing()))).unzip();
        let text = format!("the receiver serves {PLACES_MAX} transfers already; try again later");
        match room_now(peers.len(), from.ip(), &peers) {
            Room::Drop(at) => self.drop_session(now, ids[at]),
            _ if is_proven && has_unproven => self.drop_session(now, ids[0]),
            // Its next opening may find a place.
            Room::Wait => return Err(None),
            Room::Free | Room::Full => return Err(Some(Refusal::new(Reason::Busy, text))),
        }
        Ok(())
    }
    /// Ends the session that writes to this place; what it has stays on the disk.
    fn release(&mut self, now: Instant, place: &Place) {
        let at = |incoming: &Incoming| incoming.place().is_some_and(|other| other.is_same(place));
        if let Some((&id, incoming)) = self.sessions.iter_mut().find(|(_, incoming)| at(incoming)) {
            incoming.is_volatile = false;
            self.drop_session(now, id);
        }
    }
    fn drop_session(&mut self, now: Instant, session: u32) {
        if let Some(mut gone) = self.sessions.remove(&session) {
            // What cannot be written down is received again.
            let _ = gone.save(now);
            self.kept.count += usize::from(gone.is_kept() && !gone.is_lost() && !gone.is_counted);
            gone.leave();
        }
    }
    /// Whether another unfinished file may be left here; true if it may be here only as long as it comes.
    fn check_kept(&self, place: &Place, length: u64) -> Result<bool, Refusal> {
        if place.is_there() || self.listening.key.is_some() {
            return Ok(false);
        }
        let planned =
            self.sessions.values().filter(|other| other.place().is_some() && !other.is_counted).count();
        let is_volatile = self.kept.count + planned >= PARTS_MAX;
        let most = self.partial_most();
        if self.kept.bytes.saturating_add(length) > most {
            let kept = self.kept.bytes;
            let text = format!(
                "it has {length} bytes and unfinished files have {kept}; the receiver keeps at most {most} (--max-partial)"
            );
            return Err(Refusal::new(Reason::NoSpace, text));
        }
        Ok(is_volatile)
    }
    fn partial_most(&self) -> u64 {
        let half = || files::disk(&self.listening.folder).map_or(u64::MAX, |(_, all)| all / 2);
        self.listening.partial_most.unwrap_or_else(half)
    }
    /// Counts unfinished files. What several senders at once have begun may be too much together: the one that
    /// began last stops.
    fn count_kept(&mut self, now: Instant) {
        if now < self.next_count {
            return;
        }
        if self.listening.key.is_some() {
            drop_unproven(&self.listening.folder);
            self.next_count = now.saturating_add(DROP_EVERY);
            return;
        }
        let began = std::time::Instant::now();
        self.kept = kept(&self.listening.folder, Some(PART_LITTLE));
        self.sessions.values_mut().for_each(|incoming| incoming.is_counted = incoming.is_kept());
        let took = Duration::from_nanos(began.elapsed().as_nanos() as i64 * 50);
        self.next_count = now.saturating_add(took.max(COUNT_EVERY));
        let most = self.partial_most();
        if self.kept.bytes <= most {
            return;
        }
        let open = self.sessions.values_mut().filter(|incoming| incoming.is_kept());
        if let Some(last) = open.max_by_key(|incoming| incoming.began) {
            let text = format!("unfinished files have more than {most} bytes together (--max-partial)");
            last.stop(now, Refusal::new(Reason::NoSpace, text));
        }
    }
    /// Whether the disk has room for all that was promised.
    fn check_space(&self, place: &Place, length: u64) -> Result<(), Refusal> {
        let missing = |place: &Place, length: u64| length.saturating_sub(place.occupied());
        let (others, keyed) = (self.sessions.values(), self.accepted.is_some());
        let promised: u64 = others
            .filter(|incoming| (keyed && incoming.is_proven) || incoming.delivered() >= MUCH_BYTES)
            .filter_map(|incoming| incoming.place().map(|place| missing(place, incoming.length())))
            .fold(0, u64::saturating_add);
        let needs = missing(place, length).saturating_add(promised);
        let checked = check_space(&self.listening.folder, needs);
        checked.map_err(|text| Refusal::new(Reason::NoSpace, text))
    }

    // --- the rest of a turn -----------------------------------------------------------------

    fn transmit(&mut self, now: Instant) -> std::io::Result<()> {
        let key = self.listening.key.as_ref();
        let seal = |packet: &Packet, to: &Id, challenge: &Challenge, out: &mut Vec<u8>| {
            let start = out.len();
            packet.write(out);
            if let Some(key) = key {
                key.seal_answer(out, start, to, challenge);
            }
        };
        let none = Challenge::default();
        for incoming in self.sessions.values_mut() {
            let (peer, id) = (incoming.peer, incoming.id);
            while let Some(packet) = incoming.poll(now) {
                self.socket.push(peer, |out| seal(&packet, &id, &none, out))?;
            }
            let is_due = incoming.challenge_now && now >= incoming.next_challenge;
            if let Some(accepted) = self.accepted.as_ref().filter(|_| is_due && incoming.stage == Stage::Open)
            {
                incoming.challenge_now = false;
                incoming.next_challenge = now.saturating_add(incoming.report_every.max(CHALLENGE_EVERY));
                let challenge =
                    Challenge { token: challenge_of(accepted, incoming), state: accepted.token() };
                let packet = Packet { session: incoming.session, body: Body::Unknown };
                self.socket.push(peer, |out| seal(&packet, &id, &challenge, out))?;
            }
        }
        if let Some((to, session)) = self.unknown.take().filter(|_| now >= self.next_unknown) {
            self.next_unknown = now + UNKNOWN_EVERY;
            let packet = Packet { session, body: Body::Unknown };
            self.socket.push(to, |out| seal(&packet, &Id::default(), &none, out))?;
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
                let event = Event::failed(line, incoming.brought, incoming.length());
                if event.ends().is_some() {
                    self.ended.get_or_insert((false, session));
                }
                self.events.push(event);
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
        self.count_kept(now);
        let later = std::mem::take(&mut self.later);
        later
            .into_iter()
            .filter(|opening| now - opening.at < LATER)
            .for_each(|opening| self.on_waiting(opening));
        let open = self.sessions.values().filter(|incoming| incoming.stage == Stage::Open);
        let (here, all) = open.fold((0_u64, 0_u64), |(here, all), incoming| {
            (here.saturating_add(incoming.delivered()), all.saturating_add(incoming.length()))
        });
        self.events.push(Event::Progress(here, all));
    }
    /// Whether it must end, and the sender surely has the result: after two round trips without datagrams.
    fn is_over(&self, now: Instant) -> bool {
        let Some((_, session)) = self.ended.filter(|_| self.once) else { return false };
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

/// What a session that is not proven has to answer.
fn challenge_of(accepted: &Accepted, incoming: &Incoming) -> Token {
    let fresh = Fresh { id: incoming.id, ..Fresh::default() };
    match accepted.judge(&incoming.name, &incoming.digest(), &fresh) {
        Verdict::Challenged(token) => token,
        // It is known by now: it need only come again.
        Verdict::Fresh | Verdict::Same | Verdict::Delivered => Token::default(),
    }
}
