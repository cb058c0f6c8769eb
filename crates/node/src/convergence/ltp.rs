//! A bundle as a block of LTP, over UDP or DCCP (RFC 5326; RFC 7122, section 3.3): plain segments, and an end
//! when the reports have acknowledged all.

mod both;

use super::again::Again;
use super::outgoing::{self, Block, Item};
use super::store::{Part, Unkept};
use super::{Bundle, BundleStore, Error, Event, Listening, Progress, Sending, Tag, sent, status};
use crate::transfer::sender::random;
use crate::transports::dccp::{self, DccpAcceptor, OnLine};
use crate::transports::driver::{Endpoint, ListenerDriver, SenderDriver, Status};
use crate::transports::ltp::{Awaited, LtpEndpoint, Receive, Side as LtpSide, UdpAcceptor, config, unpaced};
use both::Both;
use lightlag_protocols::controllers::Controller;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::ltp::{
    Checkpoints, Config, End as Side, Engine, Event as LtpEvent, Quotas, Reason, SessionId, UDP_HEADER,
};
use lightlag_protocols::wire::ltp::aggregation::{self, BUNDLE_SERVICE};
use lightlag_protocols::wire::ltp::auth::Key;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

/// Blocks that leave at once.
const SESSIONS_MOST: usize = 64;
/// Blocks in transit from one peer: each is an open file.
const IMPORTS_MAX: usize = 128;
/// Engines of ours that the user did not name are drawn below this: five bytes on the wire.
const ENGINES_MOST: u32 = i32::MAX as u32;

// --- sending --------------------------------------------------------------------------------

/// Bundles that leave.
struct Leaving {
    items: Vec<Item>,
    blocks: Vec<Block>,
    peer: SocketAddr,
    service: u64,
    green: u64,
    /// The next block to send, and the blocks in transit.
    next: usize,
    open: BTreeMap<SessionId, usize>,
    /// Blocks that the receiver gave up and that are sent again, and when.
    again: BTreeMap<usize, Again>,
    /// What became of each block: its session, and why not.
    fates: Vec<Option<(SessionId, Result<(), String>)>>,
    done_bytes: u64,
    /// When it was last steered.
    now: Instant,
}

impl Leaving {
    fn begin(&mut self, engine: &mut Engine, at: usize) {
        let block = &self.blocks[at];
        let green = self.green.min(block.length);
        match engine.send(self.service, block.length - green, green) {
            Ok(session) => drop(self.open.insert(session, at)),
            Err(why) => {
                let nothing = SessionId { originator: 0, number: 0 };
                self.fates[at] = Some((nothing, Err(format!("LTP cannot carry it: {why}"))));
            }
        }
    }
    /// The next block that may begin now: one that was given up before a new one.
    fn next(&mut self, now: Instant) -> Option<usize> {
        let due = |(at, again): (&usize, &mut Again)| {
            again.at.filter(|due| *due <= now).map(|_| {
                again.at = None;
                *at
            })
        };
        if let Some(at) = self.again.iter_mut().find_map(due) {
            return Some(at);
        }
        let at = self.next;
        // What the receiver cannot take now it cannot take of others either.
        let refused = self.again.values().any(|again| again.at.is_some());
        (at < self.blocks.len() && !refused).then(|| {
            self.next += 1;
            at
        })
    }
    fn is_done(&self) -> bool {
        self.fates.iter().all(Option::is_some)
    }
    fn end(&mut self, session: SessionId, outcome: Result<(), String>) {
        let Some(at) = self.open.remove(&session) else { return };
        self.fates[at] = Some((session, outcome));
        self.done_bytes += self.blocks[at].length;
        self.blocks[at].items.iter().for_each(|item| self.items[*item].close());
    }
    fn bundles(&self, seconds: f64) -> Vec<Bundle> {
        let mut bundles = Vec::new();
        for (block, fate) in self.blocks.iter().zip(&self.fates) {
            let unknown = || (SessionId { originator: 0, number: 0 }, Err("it did not leave".to_owned()));
            let (session, outcome) = fate.clone().unwrap_or_else(unknown);
            let tag = Tag::Ltp {
                engine: session.originator,
                session: session.number,
                service: self.service,
                lacks: 0,
            };
            let items = block.items.iter().map(|item| &self.items[*item]);
            bundles.extend(items.map(|item| item.bundle(self.peer, tag.clone(), seconds, outcome.clone())));
        }
        bundles
    }
}

impl LtpSide for Leaving {
    fn read(&mut self, session: SessionId, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let at = *self.open.get(&session).ok_or(io::ErrorKind::NotFound)?;
        let block = &self.blocks[at];
        if let Some(bytes) = &block.bytes {
            let from = offset as usize;
            out.copy_from_slice(bytes.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
            return Ok(());
        }
        self.items[block.items[0]].read(offset, out)
    }
    fn write(&mut self, _: SessionId, _: u64, _: &[u8]) -> io::Result<()> {
        // Blocks of the peer are not taken: there is no service here.
        Ok(())
    }
    fn on_event(&mut self, event: &LtpEvent) {
        match event {
            LtpEvent::Sent(session) => self.end(*session, Ok(())),
            LtpEvent::Cancelled { session, by, reason } => {
                let who = if *by == Side::Receiver { "the receiver" } else { "we" };
                let again = (*by == Side::Receiver).then(|| self.open.get(session).copied()).flatten();
                if let Some(at) = again
                    && self.again.entry(at).or_default().plan(self.now, *reason)
                {
                    self.open.remove(session);
                    return;
                }
                self.end(*session, Err(format!("{who} gave it up: {reason}")));
            }
            _ => {}
        }
    }
    fn steer(&mut self, now: Instant, engine: &mut Engine) {
        self.now = now;
        while self.open.len() < SESSIONS_MOST
            && let Some(at) = self.next(now)
        {
            self.begin(engine, at);
        }
    }
    fn deadline(&self) -> Option<Instant> {
        self.again.values().filter_map(|again| again.at).min()
    }
    fn on_abort(&mut self) {
        for session in self.open.keys().copied().collect::<Vec<_>>() {
            self.end(session, Err("the connection ended before all was acknowledged".to_owned()));
        }
    }
    fn status(&self, engine: &Engine) -> Status {
        let under_way: u64 =
            self.open.keys().filter_map(|session| engine.acked(*session)).map(|one| one.0).sum();
        let all = self.blocks.iter().map(|block| block.length).sum();
        let counts = engine.counts();
        let status = status(self.is_done(), (self.done_bytes + under_way, all));
        Status { sent: [counts.sent, counts.repairs], ..status }
    }
    fn take_events(&mut self) -> Vec<Event> {
        self.bundles(0.0).into_iter().map(Event::Bundle).collect()
    }
    fn hears(&self, from: SocketAddr, peer: SocketAddr) -> bool {
        // Engines may send from another port than they listen at.
        from.ip() == peer.ip()
    }
    fn failure(&mut self, why: io::Error) -> Error {
        Error::Failed(format!("a bundle can no longer be read: {why}"))
    }
}

/// An engine that sends bundles in segments of at most `segment` bytes; `takes` adapts what it takes from the peer.
fn leaving(
    mut items: Vec<Item>,
    sending: &Sending,
    segment: u64,
    controller: Box<dyn Controller>,
    takes: impl FnOnce(Config) -> Config,
) -> Result<(Engine, Leaving), Error> {
    let ltp = &sending.ltp;
    let blocks = outgoing::blocks(&mut items, ltp.aggregate, ltp.service)?;
    let engine = match ltp.engine {
        Some(engine) => engine,
        None => u64::from(random()? % ENGINES_MOST + 1),
    };
    // The engine of the peer is known to the peer.
    let seed = random()?.into();
    let config = config(engine, u64::from(engine == 0), segment, seed, sending.options.light);
    let extensions = ltp.key.as_ref().map_or(0, Key::overhead);
    // A peer that lists its engines by numbers is another implementation, which may take no checkpoint but at ends.
    let checkpoints = if ltp.engine.is_some() { Checkpoints::AtEnds } else { Checkpoints::Anywhere };
    let config = Config { services: Some(Vec::new()), extensions, checkpoints, ..config };
    let mut engine = Engine::new(takes(config), controller);
    let fates = blocks.iter().map(|_| None).collect();
    let mut leaving = Leaving {
        items,
        blocks,
        peer: sending.options.to,
        service: ltp.service,
        green: ltp.green,
        next: 0,
        open: BTreeMap::new(),
        again: BTreeMap::new(),
        fates,
        done_bytes: 0,
        now: Instant::ZERO,
    };
    leaving.steer(Instant::ZERO, &mut engine);
    if let Some((_, Err(why))) = leaving.fates.first().and_then(Option::as_ref) {
        return Err(Error::Input(format!("{why}; take another --packet-size")));
    }
    Ok((engine, leaving))
}

/// As [`super::Layer::send`], over UDP.
pub fn send_over_udp(
    mut sending: Sending,
    items: Vec<Item>,
    check: &dyn Fn() -> Result<(), Error>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Bundle>, Error> {
    let segment = sending.options.packet.saturating_sub(UDP_HEADER);
    let flow = sending.options.flow(segment)?;
    let controller = sending.options.take_controller("cubic", flow)?;
    let key = sending.ltp.key.clone();
    let mut endpoint: Box<dyn Endpoint> = match sending.keeping.take() {
        Some(keeping) => {
            let takes = |config| taking(config, keeping.idle);
            let (engine, leaving) = leaving(items, &sending, segment.0, controller, takes)?;
            Box::new(LtpEndpoint::new(engine, Both::new(leaving, keeping, sending.options.to), key, false))
        }
        None => {
            let (engine, leaving) = leaving(items, &sending, segment.0, controller, |config| config)?;
            Box::new(LtpEndpoint::new(engine, leaving, key, false))
        }
    };
    let (options, endpoint) = (&mut sending.options, endpoint.as_mut());
    let (_, seconds) = SenderDriver::new(options.take_socket()?, options).run(endpoint, check, watch)?;
    Ok(sent(endpoint, seconds))
}

/// As [`super::Layer::send`], over DCCP.
pub fn send_over_dccp(
    mut sending: Sending,
    items: Vec<Item>,
    check: &dyn Fn() -> Result<(), Error>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Bundle>, Error> {
    let config = dccp::config(&dccp::BUNDLES_LTP, &OnLine::of(&sending.options))?;
    let segment = config.segment().0;
    let (engine, leaving) = leaving(items, &sending, segment, unpaced(segment)?, |config| config)?;
    let inner = LtpEndpoint::new(engine, leaving, sending.ltp.key.clone(), true);
    let mut line = dccp::connect(&dccp::BUNDLES_LTP, config, &mut sending.options, Box::new(inner))?;
    let (_, seconds) = line.0.run(&mut line.1, check, watch)?;
    Ok(sent(&mut line.1, seconds))
}

// --- receiving ------------------------------------------------------------------------------

/// Blocks that come from one engine.
struct Coming {
    store: BundleStore,
    from: SocketAddr,
    services: BTreeMap<SessionId, u64>,
    parts: BTreeMap<SessionId, Part>,
    /// Bytes of all blocks that have come, each once.
    brought: u64,
    unwanted: Vec<SessionId>,
    events: Vec<Event>,
}

/// What an engine takes of its peer.
fn taking(config: Config, idle: Duration) -> Config {
    let quotas = Quotas { imports: IMPORTS_MAX, ..Quotas::default() };
    Config { quotas, idle, services: None, ..config }
}

impl Coming {
    fn new(store: BundleStore, from: SocketAddr) -> Self {
        let (services, parts) = (BTreeMap::new(), BTreeMap::new());
        Self { store, from, services, parts, brought: 0, unwanted: Vec::new(), events: Vec::new() }
    }
    /// What cannot be taken is cancelled before anything acknowledges it.
    fn refuse(&mut self, session: SessionId, why: &str) {
        self.parts.remove(&session);
        self.services.remove(&session);
        self.unwanted.push(session);
        self.events.push(Event::Refused(format!("block {session} from {}: {why}", self.from)));
    }
    fn add(&mut self, session: SessionId, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let part = match self.parts.entry(session) {
            std::collections::btree_map::Entry::Occupied(part) => part.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(Part::new(&self.store, self.from)?)
            }
        };
        let before = part.here();
        part.write(offset, bytes)?;
        self.brought += part.here() - before;
        Ok(())
    }
    /// A block is here, as far as it comes.
    fn keep(&mut self, session: SessionId) {
        let Some(mut part) = self.parts.remove(&session) else { return };
        let service = self.services.remove(&session).unwrap_or_default();
        let (_, lacks) = part.extent();
        let tag = Tag::Ltp { engine: session.originator, session: session.number, service, lacks };
        let kept = match service {
            aggregation::SERVICE if lacks == 0 => self.keep_capsules(part, session),
            BUNDLE_SERVICE if lacks == 0 => match part.ends() {
                Ok(ends) if ends.len() > 1 => self.keep_each(part, &ends, &tag),
                // Either it is one, or what is wrong is said when it is kept.
                _ => part.keep(tag).map(|bundle| vec![bundle]),
            },
            _ => part.keep(tag).map(|bundle| vec![bundle]),
        };
        match kept {
            Ok(bundles) => self.events.extend(bundles.into_iter().map(Event::Bundle)),
            Err(why) => self.refuse(session, &why.to_string()),
        }
    }
    /// Bundles that follow each other in a block, as ION aggregates them.
    fn keep_each(&self, part: Part, ends: &[u64], tag: &Tag) -> Result<Vec<Bundle>, Unkept> {
        let block = part.unnamed()?;
        let mut begin = 0;
        let keep = |end: &u64| {
            let mut part = Part::new(&self.store, self.from)?;
            part.copy(&block, begin..*end)?;
            begin = *end;
            part.keep(tag.clone())
        };
        ends.iter().map(keep).collect()
    }
    /// The bundles of an aggregated block, each by itself.
    fn keep_capsules(&self, part: Part, session: SessionId) -> Result<Vec<Bundle>, Unkept> {
        let block = part.unnamed()?;
        // All of it must be capsules before any is kept.
        block.each_capsule(&mut |_, _, _| Ok(()))?;
        let mut bundles = Vec::new();
        block.each_capsule(&mut |block, service, unit| {
            let tag = Tag::Ltp { engine: session.originator, session: session.number, service, lacks: 0 };
            let mut part = Part::new(&self.store, self.from)?;
            part.copy(block, unit)?;
            bundles.push(part.keep(tag)?);
            Ok(())
        })?;
        Ok(bundles)
    }
}

impl LtpSide for Coming {
    fn read(&mut self, _: SessionId, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }
    fn is_for(&mut self, session: SessionId, service: u64) {
        if !self.unwanted.contains(&session) {
            self.services.insert(session, service);
        }
    }
    fn write(&mut self, session: SessionId, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.unwanted.contains(&session) {
            return Ok(());
        }
        if let Err(why) = self.add(session, offset, bytes) {
            self.refuse(session, &why);
        }
        Ok(())
    }
    fn on_event(&mut self, event: &LtpEvent) {
        match event {
            LtpEvent::RedPart { session, ends_block: true, .. } | LtpEvent::Closed(session) => {
                self.keep(*session);
            }
            LtpEvent::Cancelled { session, reason, .. } => {
                self.services.remove(session);
                if self.parts.remove(session).is_some() {
                    let line = format!("block {session} from {}: it was given up: {reason}", self.from);
                    self.events.push(Event::Refused(line));
                }
            }
            _ => {}
        }
    }
    fn steer(&mut self, _: Instant, engine: &mut Engine) {
        for session in std::mem::take(&mut self.unwanted) {
            engine.cancel(session, Reason::User);
        }
    }
    fn on_abort(&mut self) {
        let sessions: Vec<SessionId> = self.parts.keys().copied().collect();
        for session in sessions {
            self.refuse(session, "the connection ended before it was whole");
        }
    }
    fn brought(&self) -> u64 {
        self.brought
    }
    fn status(&self, engine: &Engine) -> Status {
        let over = self.parts.is_empty() && engine.sessions() == (0, 0);
        Status { over, ..Status::default() }
    }
    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

/// What every engine that receives has alike.
#[derive(Clone)]
struct Habits {
    store: BundleStore,
    reply_to: Option<SocketAddr>,
    idle: Duration,
    key: Option<Key>,
    segment: u64,
    is_kept_alive: bool,
}

impl Habits {
    fn of(listening: &Listening, segment: u64, is_kept_alive: bool) -> Self {
        let Listening { store, reply_to, idle, key, .. } = listening;
        let (store, key) = (store.clone(), key.clone());
        Self { store, reply_to: *reply_to, idle: *idle, key, segment, is_kept_alive }
    }
}

impl Receive for Habits {
    type Side = Coming;
    fn meet(&self, from: SocketAddr, peer: u64) -> Result<LtpEndpoint<Coming>, Error> {
        // We begin no session, so our number is never sent; it only must differ from the peer's.
        let config = config(u64::from(peer == 0), peer, self.segment, random()?.into(), None);
        let extensions = self.key.as_ref().map_or(0, Key::overhead);
        let config = Config { extensions, ..taking(config, self.idle) };
        let engine = Engine::new(config, unpaced(self.segment)?);
        let coming = Coming::new(self.store.clone(), from);
        Ok(LtpEndpoint::new(engine, coming, self.key.clone(), self.is_kept_alive))
    }
    fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }
    fn reply_to(&self) -> Option<SocketAddr> {
        self.reply_to
    }
}

/// As [`super::Layer::listen`], over UDP.
pub fn listen_over_udp(mut listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let socket = listening.options.take_socket()?;
    let habits = Habits::of(&listening, listening.options.packet.saturating_sub(UDP_HEADER).0, false);
    ListenerDriver::new(socket, UdpAcceptor(habits), listening.count).run(watch)
}

/// As [`super::Layer::listen`], over DCCP.
pub fn listen_over_dccp(mut listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let config = dccp::config(&dccp::BUNDLES_LTP, &OnLine::listening(&listening.options))?;
    let habits = Habits::of(&listening, config.segment().0, true);
    let coming = move |from| -> Box<dyn Endpoint> { Box::new(Awaited::new(habits.clone(), from)) };
    let acceptor = DccpAcceptor::new(&dccp::BUNDLES_LTP, config, &listening.options, Box::new(coming))?;
    let socket = dccp::reading_marks(listening.options.take_socket()?)?;
    ListenerDriver::new(socket, acceptor, listening.count).run(watch)
}
