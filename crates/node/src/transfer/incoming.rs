//! One transfer that comes in.

use super::auth::Id;
use super::listener::MUCH_BYTES;
use super::real;
use super::store::{Place, Shape, Store};
use crate::files::refusal;
use crate::places::Place as Seat;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::transport::udpdtn::{self, Datagram};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::udpdtn::{Body, Data, Opening, Packet, Reason, Unwrap};
use std::io;
use std::net::SocketAddr;

/// What is here is written down so often; less often if that takes long.
const SAVE_EVERY: Duration = Duration::from_nanos(400_000_000);
const SAVE_SHARE: i64 = 50;
/// A refusal is said again at most so often.
const REFUSE_EVERY: Duration = Duration::from_nanos(50_000_000);

/// Why a transfer ends, for the sender and for our user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For programs.
    pub reason: Reason,
    /// For people, of both sides.
    pub text: String,
}

impl Refusal {
    pub fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into() }
    }
    /// What the system says of the file of this name, as a sender can understand it.
    pub fn of_disk(name: &str, why: &io::Error) -> Self {
        let reason = match why.kind() {
            io::ErrorKind::AlreadyExists => Reason::Exists,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Reason::NoSpace,
            _ => Reason::Folder,
        };
        Self::new(reason, refusal(name, why))
    }
}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Symbols come in, or what is here is hashed.
    Open,
    /// It is whole and has its name.
    Done,
    /// It was refused.
    Refused(Refusal),
}

/// One transfer that comes in.
pub struct Incoming {
    pub peer: SocketAddr,
    pub session: u32,
    pub name: String,
    pub stage: Stage,
    pub began: Instant,
    pub heard: Instant,
    pub ended: Instant,
    /// Whether our user knows how it ended.
    pub told: bool,
    /// Bytes that were here when it began.
    pub resumed: u64,
    pub report_every: Duration,
    /// The run of the sender, if there is a key.
    pub id: Id,
    /// It may get its name: there is no key, or its opening is no recording.
    pub is_proven: bool,
    /// All is here, and is what was meant.
    pub is_checked: bool,
    /// Its sender must be challenged.
    pub challenge_now: bool,
    pub next_challenge: Instant,
    store: Option<Store>,
    /// Where it will be kept as soon as there is something to keep: an opening alone leaves nothing on the disk.
    planned: Option<(Place, Shape)>,
    length: u64,
    digest: [u8; 32],
    machine: udpdtn::Receiver,
    symbol: u16,
    unwrap: Unwrap,
    highest: Option<u32>,
    unsaved: bool,
    next_save: Instant,
    next_refusal: Instant,
    refuse_now: bool,
    /// Another file of this name is replaced.
    pub overwrite: bool,
    /// An earlier run of the listener has reported it as received.
    pub is_repeated: bool,
    /// Too much is kept already: what is here goes if it does not become whole, or much, in this session.
    pub is_volatile: bool,
    /// What is here of it was there when unfinished files were counted last.
    pub is_counted: bool,
    /// Its place among the transfers that the listener serves.
    pub seat: Seat,
    /// Bytes of symbols that came in this session and had not come before.
    pub brought: u64,
}

/// How a sender cuts what it sends.
pub fn shape(opening: &Opening) -> (udpdtn::Config, Shape) {
    let mut config = udpdtn::Config::new(Bytes(1500));
    config.symbol = Bytes(opening.symbol.into());
    config.block_symbols = opening.block_symbols.into();
    config.digest = opening.digest;
    config.real = real(Duration::ZERO);
    let cut = udpdtn::Cut::new(opening.length, &config);
    let shape = Shape { length: opening.length.0, digest: opening.digest, symbol: opening.symbol, cut };
    (config, shape)
}

impl Incoming {
    /// One that is refused from the start.
    pub fn refused(now: Instant, peer: SocketAddr, packet: &Packet, opening: &Opening, why: Refusal) -> Self {
        let mut incoming = Self::bare(now, peer, packet, opening, String::new());
        incoming.refuse(now, why);
        incoming
    }
    /// One whose file is there already.
    pub fn done(now: Instant, peer: SocketAddr, packet: &Packet, opening: &Opening, name: String) -> Self {
        let mut incoming = Self::bare(now, peer, packet, opening, name);
        incoming.resumed = incoming.length;
        incoming
            .machine
            .handle(now, Datagram::Open { length: opening.length, report_every: opening.report_every });
        let mut whole = Ranges::default();
        whole.insert(0, shape(opening).1.cut.blocks.into());
        incoming.machine.resume(packet.session, &whole, std::iter::empty());
        incoming.machine.confirm();
        incoming.stage = Stage::Done;
        incoming
    }
    /// A new or resumed transfer, stored at `place`; `None`: not stored. `incarnation`: the receiver's epoch.
    ///
    /// # Errors
    /// Why it does not.
    pub fn open(
        now: Instant,
        peer: SocketAddr,
        packet: &Packet,
        opening: &Opening,
        name: String,
        place: Option<Place>,
        incarnation: u32,
    ) -> Result<Self, Refusal> {
        let mut incoming = Self::bare(now, peer, packet, opening, name);
        incoming
            .machine
            .handle(now, Datagram::Open { length: opening.length, report_every: opening.report_every });
        let kept = place.as_ref().filter(|place| place.is_there());
        if let Some(place) = kept.cloned() {
            let (store, here) =
                Store::open(place, shape(opening).1).map_err(|why| Refusal::of_disk(&incoming.name, &why))?;
            incoming.machine.resume(incarnation, &Ranges::default(), here.into_iter());
            incoming.store = Some(store);
        } else {
            incoming.machine.resume(incarnation, &Ranges::default(), std::iter::empty());
            incoming.planned = place.map(|place| (place, shape(opening).1));
        }
        incoming.resumed = incoming.machine.delivered();
        Ok(incoming)
    }
    fn bare(now: Instant, peer: SocketAddr, packet: &Packet, opening: &Opening, name: String) -> Self {
        Self {
            peer,
            session: packet.session,
            name,
            stage: Stage::Open,
            began: now,
            heard: now,
            ended: now,
            told: false,
            resumed: 0,
            report_every: opening.report_every,
            id: Id::default(),
            is_proven: true,
            is_checked: false,
            challenge_now: false,
            next_challenge: now,
            store: None,
            planned: None,
            length: opening.length.0,
            digest: opening.digest,
            machine: udpdtn::Receiver::new(shape(opening).0),
            symbol: opening.symbol,
            unwrap: Unwrap::default(),
            highest: None,
            unsaved: false,
            next_save: now + SAVE_EVERY,
            next_refusal: now,
            refuse_now: false,
            overwrite: false,
            is_repeated: false,
            is_volatile: false,
            is_counted: false,
            seat: Seat::default(),
            brought: 0,
        }
    }
    /// Bytes of the whole.
    pub fn length(&self) -> u64 {
        self.length
    }
    /// BLAKE3 of the whole.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }
    /// Bytes of blocks that are whole.
    pub fn delivered(&self) -> u64 {
        self.machine.delivered()
    }
    /// The names of its files, while it is not whole.
    pub fn place(&self) -> Option<&Place> {
        let planned = self.planned.as_ref().map(|(place, _)| place);
        self.store.as_ref().map(Store::place).or(planned)
    }
    /// Whether something of it is on the disk.
    pub fn is_kept(&self) -> bool {
        self.store.is_some()
    }
    fn refuse(&mut self, now: Instant, why: Refusal) {
        self.stage = Stage::Refused(why);
        self.ended = now;
        self.refuse_now = true;
        self.leave();
    }

    /// Whether what is here of it goes with its session.
    pub fn is_lost(&self) -> bool {
        self.is_volatile && (self.brought < MUCH_BYTES || !self.is_proven)
    }
    /// Lets go of its files.
    pub fn leave(&mut self) {
        self.planned = None;
        let is_lost = self.is_lost();
        if let Some(store) = self.store.take().filter(|_| is_lost) {
            store.discard();
        }
    }

    /// Something came of this transfer from `from`; `roams` if that may be anywhere.
    pub fn take(&mut self, now: Instant, from: SocketAddr, packet: &Packet, roams: bool) {
        let moves = match &packet.body {
            // Only what is newer than all before may lead away: old datagrams can be sent by anybody.
            Body::Data(data, _) => self.highest.is_none_or(|highest| data.number > highest),
            _ => false,
        };
        if from != self.peer {
            if !roams {
                return;
            }
            if moves {
                self.peer = from;
            }
        }
        self.heard = self.heard.max(now);
        self.challenge_now = !self.is_proven;
        if let Stage::Refused(_) = self.stage {
            self.refuse_now = true;
            return;
        }
        match &packet.body {
            Body::Data(data, payload) => {
                if payload.len() != usize::from(self.symbol) {
                    return;
                }
                self.highest = self.highest.max(Some(data.number));
                self.report_every = data.report_every;
                if let Err(why) = self.keep(data, payload) {
                    return self.stop(now, Refusal::of_disk(&self.name, &why));
                }
            }
            Body::Open(opening) if opening.digest != self.digest => return,
            Body::Open(_) => {}
            Body::Refuse(_, text) => {
                let text = format!("the sender stopped: {}", text.replace(char::is_control, " "));
                return self.stop(now, Refusal::new(Reason::Digest, text));
            }
            Body::Report(_) | Body::Unknown => return,
        }
        if let Some(datagram) = packet.datagram(&mut self.unwrap, now) {
            self.machine.handle(now, datagram);
        }
    }
    fn keep(&mut self, data: &Data, payload: &[u8]) -> io::Result<()> {
        if let Some((place, shape)) = self.planned.take() {
            self.store = Some(Store::open(place, shape)?.0);
        }
        let Some(store) = &mut self.store else { return Ok(()) };
        if self.machine.wants(data.block.into(), data.symbol.into()) {
            store.write(data.block, data.symbol, payload)?;
            self.unsaved = true;
            self.brought += payload.len() as u64;
            self.seat.add(payload.len() as u64);
        }
        Ok(())
    }
    /// Ends it, keeping what is here.
    pub fn stop(&mut self, now: Instant, why: Refusal) {
        if let Some(store) = &mut self.store {
            // The old journal stands if a new one cannot be written.
            let _ = store.save(&self.machine);
        }
        self.refuse(now, why);
    }

    /// Decodes, writes down and checks what is due; whether there is more of it at once.
    pub fn work(&mut self, now: Instant, is_idle: bool) -> bool {
        match self.try_work(now, is_idle) {
            Ok(more) => more,
            Err(why) => {
                self.stop(now, Refusal::of_disk(&self.name, &why));
                false
            }
        }
    }
    fn try_work(&mut self, now: Instant, is_idle: bool) -> io::Result<bool> {
        let Some(store) = self.store.as_mut().filter(|_| !self.is_checked) else { return Ok(false) };
        for block in self.machine.take_ready() {
            let here = self.machine.here().1.into_iter().find(|(known, _)| *known == block);
            let Some(here) = here.map(|(_, here)| here.clone()) else { continue };
            if store.decode(block, &here)? {
                self.machine.is_whole(block);
                self.unsaved = true;
            }
        }
        if self.machine.has_all() {
            for _ in 0..8 {
                if !store.hash_some(self.machine.whole_below())? {
                    return self.check(now).map(|()| false);
                }
            }
            return Ok(true);
        }
        if self.unsaved && now >= self.next_save {
            self.save(now)?;
        }
        let Some(store) = &mut self.store else { return Ok(false) };
        Ok(is_idle && store.hash_some(self.machine.whole_below())?)
    }
    /// Writes down what is here.
    ///
    /// # Errors
    /// What the system says.
    pub fn save(&mut self, now: Instant) -> io::Result<()> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let began = std::time::Instant::now();
        store.save(&self.machine)?;
        self.unsaved = false;
        let took = Duration::from_nanos(began.elapsed().as_nanos() as i64 * SAVE_SHARE);
        self.next_save = now.saturating_add(took.max(SAVE_EVERY));
        Ok(())
    }
    fn check(&mut self, now: Instant) -> io::Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        if store.is_right() {
            self.is_checked = true;
            // One that has to wait for its proof may have to wait through a restart.
            return if self.is_proven { Ok(()) } else { self.save(now) };
        }
        if let Some(store) = self.store.take() {
            store.discard();
        }
        let text = format!(
            "{}: the content does not match the sender's digest; it was damaged on the path, or changed while it was sent: send it again",
            self.name
        );
        self.refuse(now, Refusal::new(Reason::Digest, text));
        Ok(())
    }
    /// Gives the file its name, after it was checked; `lasts` if it must survive a loss of power from now on.
    pub fn finish(&mut self, now: Instant, lasts: bool) {
        let Some(store) = &mut self.store else { return };
        if let Err(why) = store.finish(self.overwrite, lasts) {
            return self.stop(now, Refusal::of_disk(&self.name, &why));
        }
        self.store = None;
        self.stage = Stage::Done;
        self.ended = now;
        self.machine.confirm();
    }

    /// What it has to say next.
    pub fn poll(&mut self, now: Instant) -> Option<Packet<'_>> {
        let session = self.session;
        if let Stage::Refused(why) = &self.stage {
            if !self.refuse_now || now < self.next_refusal {
                return None;
            }
            self.refuse_now = false;
            self.next_refusal = now + REFUSE_EVERY;
            return Some(Packet { session, body: Body::Refuse(why.reason, &why.text) });
        }
        match self.machine.poll(now)? {
            Datagram::Report(report) => Some(Packet { session, body: Body::Report(report) }),
            _ => None,
        }
    }
    /// When to come back though nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        let refusal = self.refuse_now.then_some(self.next_refusal);
        let save = (self.unsaved && self.store.is_some()).then_some(self.next_save);
        [self.machine.deadline(), save, refusal].into_iter().flatten().min()
    }
}
