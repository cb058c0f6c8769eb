//! Files over LTP: a block is a header and a file, all of it red; the receipt is a block of its own.

use super::bench::ENDLESS;
use super::driver::{Accept, Acceptor, Endpoint, ListenerDriver, SenderDriver, Status};
use super::header::{RECEIPT_MOST, Receipt};
use super::incoming::{Inbox, Incoming};
use super::message::Message;
use super::{Carrier, Error, Event, Listening, Progress, Sending, Sent, Step};
use crate::transfer::sender::random;
use lightlag_protocols::controllers::{Controller, Factory, Flow};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ltp::{
    Config, Content, End, Engine, Event as LtpEvent, Quotas, Reason, Segment, SessionId,
};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::ltp::Packet;
use lightlag_protocols::wire::ltp::auth::Key;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// The client service by which files are carried; no other service is here.
const SERVICE: u64 = 70;
/// The engine that listens; sending engines draw greater numbers at random.
const LISTENER: u64 = 1;
/// Bytes between checkpoints: their reports show the progress and request repairs.
const CHECKPOINT_EVERY: u64 = 4 << 20;
/// What both ends and their queues may take.
const MARGIN: Duration = Duration::from_nanos(100_000_000);
/// Transfers in progress from one peer.
const IMPORTS_MAX: usize = 16;
/// Keep-alive datagrams (RFC 7122, section 3.4): four zero octets.
pub const KEEP_ALIVE: [u8; 4] = [0; 4];
/// How often they leave where nothing else does.
pub const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// An engine without a socket, as an [`Endpoint`].
pub struct LtpEndpoint<B> {
    engine: Engine,
    blocks: B,
    key: Option<Key>,
    is_kept_alive: bool,
    gave_at: Instant,
}

/// Blocks of one side of transfers: where their bytes come from and go to.
pub trait Side {
    /// Fills `out` with the bytes of a block of our own, from `offset` on.
    ///
    /// # Errors
    /// What the system says; it ends the transfer.
    fn read(&mut self, session: SessionId, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// A block of the peer, of which bytes have come, is for this client service.
    fn is_for(&mut self, _session: SessionId, _service: u64) {}
    /// These bytes of a block of the peer have come, and had not before.
    ///
    /// # Errors
    /// What the system says; it ends the transfer.
    fn write(&mut self, session: SessionId, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Something else has happened.
    fn on_event(&mut self, event: &LtpEvent);
    /// Begins the blocks that are due, and cancels those that are not wanted.
    fn steer(&mut self, now: Instant, engine: &mut Engine);
    /// When it must be steered though nothing comes.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// The block that it sends.
    fn own(&self) -> Option<SessionId> {
        None
    }
    /// The connection below has ended.
    fn on_abort(&mut self) {}
    /// Whether blocks of any engine at the address of the peer are taken.
    fn takes_any(&self) -> bool {
        false
    }
    /// As [`Endpoint::brought`].
    fn brought(&self) -> u64 {
        0
    }
    /// As [`Endpoint::status`].
    fn status(&self, engine: &Engine) -> Status;
    /// As [`Endpoint::take_events`].
    fn take_events(&mut self) -> Vec<Event> {
        Vec::new()
    }
    /// As [`Endpoint::hears`].
    fn hears(&self, from: SocketAddr, peer: SocketAddr) -> bool {
        from == peer
    }
    /// As [`Endpoint::answers_to`].
    fn answers_to(&self, from: SocketAddr) -> SocketAddr {
        from
    }
    /// Why reading or writing failed.
    fn failure(&mut self, why: io::Error) -> Error {
        Error::Failed(format!("a block: {why}"))
    }
}

impl<B: Side> LtpEndpoint<B> {
    /// Segments are authenticated if there is a key. `is_kept_alive`: keep-alives are sent when idle.
    pub fn new(engine: Engine, blocks: B, key: Option<Key>, is_kept_alive: bool) -> Self {
        Self { engine, blocks, key, is_kept_alive, gave_at: Instant::ZERO }
    }
    fn checked<T>(&mut self, done: io::Result<T>) -> Result<T, Error> {
        done.map_err(|why| self.blocks.failure(why))
    }
    /// Hands over the events of the engine; `segment`: the one that caused them, if any, and where its data begin.
    fn tell(&mut self, segment: Option<(u64, &[u8])>) -> Result<(), Error> {
        let (start, data) = segment.unwrap_or_default();
        while let Some(event) = self.engine.take_event() {
            let LtpEvent::Arrived { session, from, to, service, .. } = event else {
                self.blocks.on_event(&event);
                continue;
            };
            self.blocks.is_for(session, service);
            let part = data.get((from - start) as usize..(to - start) as usize).unwrap_or_default();
            let written = self.blocks.write(session, from, part);
            self.checked(written)?;
        }
        Ok(())
    }
    /// Appends a segment with its data.
    fn write(&mut self, segment: Segment, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(key) = &self.key else {
            segment.write_head(out);
            return append(&mut self.blocks, &segment, out);
        };
        let mut data = Vec::new();
        append(&mut self.blocks, &segment, &mut data)?;
        key.seal(&Packet::new(segment, &data), out);
        Ok(())
    }
}

/// Whether a segment is of a session that its sender begins, or has begun.
fn begins(segment: &Segment) -> bool {
    matches!(segment.content, Content::Data(_) | Content::Cancel(End::Sender, _))
}

fn append(blocks: &mut impl Side, segment: &Segment, out: &mut Vec<u8>) -> io::Result<()> {
    let Content::Data(data) = segment.content else { return Ok(()) };
    let start = out.len();
    out.resize(start + data.length as usize, 0);
    blocks.read(segment.session, data.offset, &mut out[start..])
}

impl<B: Side> Endpoint for LtpEndpoint<B> {
    fn take(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Error> {
        if bytes == KEEP_ALIVE {
            return Ok(());
        }
        let mut rest = bytes;
        // What follows a malformed segment is not read (RFC 5326, section 5; RFC 7122, section 3.3).
        while !rest.is_empty()
            && let Ok((packet, taken)) = Packet::read_first(rest)
        {
            let bytes;
            (bytes, rest) = rest.split_at(taken);
            if self.key.as_ref().is_some_and(|key| key.check(&packet, bytes).is_err()) {
                continue;
            }
            if self.blocks.takes_any() && begins(&packet.segment) {
                self.engine.meet(packet.segment.session.originator);
            }
            // What it refuses the engine counts.
            let _ = self.engine.receive(now, &packet.segment);
            let start = if let Content::Data(data) = packet.segment.content { data.offset } else { 0 };
            self.tell(Some((start, packet.data)))?;
            self.blocks.steer(now, &mut self.engine);
        }
        Ok(())
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(segment) = self.engine.poll(now) else {
            self.tell(None)?;
            self.blocks.steer(now, &mut self.engine);
            if self.is_kept_alive && now - self.gave_at >= KEEP_ALIVE_EVERY {
                self.gave_at = now;
                out.extend_from_slice(&KEEP_ALIVE);
                return Ok(true);
            }
            return Ok(false);
        };
        self.gave_at = now;
        let done = self.write(segment, out);
        self.checked(done)?;
        self.tell(None)?;
        Ok(true)
    }
    fn deadline(&self) -> Option<Instant> {
        let keep_alive = self.is_kept_alive.then(|| self.gave_at + KEEP_ALIVE_EVERY);
        [self.engine.deadline(), self.blocks.deadline(), keep_alive].into_iter().flatten().min()
    }
    fn on_plan(&mut self, now: Instant, step: Step) {
        self.engine.on_plan(now, step.rate);
        if let Some(light) = step.light {
            self.engine.on_light(light);
        }
    }
    fn abort(&mut self) {
        if let Some(session) = self.blocks.own() {
            self.engine.cancel(session, Reason::User);
        }
        self.blocks.on_abort();
    }
    fn hears(&self, from: SocketAddr, peer: SocketAddr) -> bool {
        self.blocks.hears(from, peer)
    }
    fn answers_to(&self, from: SocketAddr) -> SocketAddr {
        self.blocks.answers_to(from)
    }
    fn brought(&self) -> u64 {
        self.blocks.brought()
    }
    fn status(&self) -> Status {
        self.blocks.status(&self.engine)
    }
    fn take_events(&mut self) -> Vec<Event> {
        self.blocks.take_events()
    }
}

// --- sending --------------------------------------------------------------------------------

/// The block that leaves, and the receipt that comes.
pub struct Leaving {
    message: Message,
    session: SessionId,
    /// Bytes that were there before it was closed.
    acked: u64,
    reply: [u8; RECEIPT_MOST],
    receipt: Option<Receipt>,
    /// The receipt was acknowledged, or the block was given up.
    over: bool,
    failed: Option<Error>,
}

impl Side for Leaving {
    fn read(&mut self, _: SessionId, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.message.read(offset, out).map_err(|why| {
            self.failed = Some(why);
            io::ErrorKind::Other.into()
        })
    }
    fn write(&mut self, _: SessionId, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let place = self.reply.get_mut(offset as usize..offset as usize + bytes.len());
        place.ok_or(io::ErrorKind::InvalidData)?.copy_from_slice(bytes);
        Ok(())
    }
    fn on_event(&mut self, event: &LtpEvent) {
        match event {
            LtpEvent::RedPart { length, .. } => {
                let receipt = self.reply.get(..*length as usize).map(Receipt::read);
                self.receipt = receipt.and_then(Result::ok);
            }
            LtpEvent::Closed(_) => self.over = self.receipt.is_some(),
            LtpEvent::Cancelled { session, .. } if *session == self.session => {
                self.over |= self.receipt.is_none();
            }
            _ => {}
        }
    }
    fn steer(&mut self, _: Instant, engine: &mut Engine) {
        if self.receipt.is_some()
            && let Some(acked) = engine.acked(self.session)
        {
            // Once it is cancelled, the engine has no count.
            self.acked = self.acked.max(acked.0);
            engine.cancel(self.session, Reason::User);
        }
    }
    fn own(&self) -> Option<SessionId> {
        Some(self.session)
    }
    fn status(&self, engine: &Engine) -> Status {
        let counts = engine.counts();
        let head = self.message.total() - self.message.length();
        let all = if self.acked > 0 { self.acked } else { self.message.total() };
        let done =
            engine.acked(self.session).map_or(all, |acked| acked.0.max(self.acked)).saturating_sub(head);
        Status {
            progress: Some((done, self.message.length())),
            receipt: self.receipt.clone(),
            over: self.over,
            sent: [counts.sent, counts.repairs],
            rtt: engine.rtt(),
            ..Status::default()
        }
    }
    fn failure(&mut self, why: io::Error) -> Error {
        self.failed.take().unwrap_or_else(|| Error::Failed(format!("a block: {why}")))
    }
}

/// An engine that sends a message in segments of at most `segment` bytes.
///
/// # Errors
/// One line.
pub fn sending(
    message: Message,
    segment: u64,
    light: Option<Duration>,
    controller: Box<dyn Controller>,
    is_kept_alive: bool,
) -> Result<LtpEndpoint<Leaving>, Error> {
    let number = random()?;
    let engine = u64::from(number).max(LISTENER + 1);
    let quotas = Quotas { imports: 4, block: RECEIPT_MOST as u64, ..Quotas::default() };
    let services = Some(vec![SERVICE]);
    let config = Config { quotas, services, ..config(engine, LISTENER, segment, number.into(), light) };
    let mut engine = Engine::new(config, controller);
    let session = engine
        .send(SERVICE, message.total(), 0)
        .map_err(|why| Error::Input(format!("LTP cannot carry it: {why}; take another --packet-size")))?;
    let blocks = Leaving {
        message,
        session,
        acked: 0,
        reply: [0; RECEIPT_MOST],
        receipt: None,
        over: false,
        failed: None,
    };
    Ok(LtpEndpoint::new(engine, blocks, None, is_kept_alive))
}

/// Of an engine on a real machine.
pub fn config(engine: u64, peer: u64, segment: u64, seed: u64, light: Option<Duration>) -> Config {
    Config {
        segment,
        seed,
        light,
        first_wait: Duration::from_secs(1),
        margin: MARGIN,
        checkpoint_every: Some(CHECKPOINT_EVERY),
        // Only the user gives up.
        tries: u32::MAX,
        ..Config::new(engine, peer, Bytes(segment))
    }
}

// --- receiving ------------------------------------------------------------------------------

/// Blocks that come, and receipts that leave.
pub struct Coming {
    inbox: Arc<dyn Inbox>,
    from: SocketAddr,
    incoming: BTreeMap<SessionId, Box<dyn Incoming>>,
    /// Receipts that are not known to have arrived, and of which block.
    receipts: BTreeMap<SessionId, (SessionId, Vec<u8>)>,
    answered: BTreeSet<SessionId>,
    refused: Vec<SessionId>,
    events: Vec<Event>,
    /// Bytes of all blocks, each once.
    brought: u64,
}

impl Coming {
    fn incoming(&mut self, session: SessionId) -> &mut dyn Incoming {
        self.incoming.entry(session).or_insert_with(|| self.inbox.incoming(self.from)).as_mut()
    }
}

impl Side for Coming {
    fn read(&mut self, session: SessionId, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (_, bytes) = self.receipts.get(&session).ok_or(io::ErrorKind::NotFound)?;
        let part = bytes.get(offset as usize..offset as usize + out.len());
        out.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
    fn write(&mut self, session: SessionId, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.brought += bytes.len() as u64;
        self.incoming(session).write(offset, bytes);
        Ok(())
    }
    fn on_event(&mut self, event: &LtpEvent) {
        match event {
            LtpEvent::RedPart { session, .. } => self.incoming(*session).finish(),
            LtpEvent::Sent(session) | LtpEvent::Cancelled { session, .. }
                if self.receipts.contains_key(session) =>
            {
                let Some((block, _)) = self.receipts.remove(session) else { return };
                if let Some(mut gone) = self.incoming.remove(&block) {
                    self.events.extend(gone.take_events());
                }
                self.answered.remove(&block);
                self.refused.push(block);
            }
            LtpEvent::Cancelled { session, .. } => {
                if let Some(incoming) = self.incoming.get_mut(session) {
                    incoming.refuse("the sender gave it up".to_owned());
                }
            }
            _ => {}
        }
    }
    fn steer(&mut self, _: Instant, engine: &mut Engine) {
        // What is refused and still open comes no more.
        for block in self.refused.drain(..) {
            engine.cancel(block, Reason::User);
        }
        for (block, incoming) in &mut self.incoming {
            incoming.tick();
            let Some(receipt) = incoming.receipt().filter(|_| !self.answered.contains(block)) else {
                continue;
            };
            let bytes = receipt.to_bytes();
            if let Ok(session) = engine.send(SERVICE, bytes.len() as u64, 0) {
                self.receipts.insert(session, (*block, bytes));
                self.answered.insert(*block);
            }
        }
    }
    fn brought(&self) -> u64 {
        self.brought
    }
    fn on_abort(&mut self) {
        for incoming in self.incoming.values_mut() {
            incoming.refuse("the connection ended before it was whole".to_owned());
        }
    }
    fn status(&self, _: &Engine) -> Status {
        let progress = self.incoming.values().filter_map(|incoming| incoming.progress());
        Status {
            progress: progress.reduce(|one, other| (one.0 + other.0, one.1.saturating_add(other.1))),
            over: self.incoming.is_empty(),
            ..Status::default()
        }
    }
    fn take_events(&mut self) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.events);
        events.extend(self.incoming.values_mut().flat_map(|incoming| incoming.take_events()));
        events
    }
}

/// Receives files, or noise.
#[derive(Clone)]
pub struct FileReceiver {
    /// Where they go.
    pub inbox: Arc<dyn Inbox>,
    /// Longest segment, in bytes.
    pub segment: u64,
    /// Keep-alives are sent when idle.
    pub is_kept_alive: bool,
}

impl Receive for FileReceiver {
    type Side = Coming;
    fn meet(&self, from: SocketAddr, peer: u64) -> Result<LtpEndpoint<Coming>, Error> {
        let seed = random()?;
        // What a message may be long the incoming knows.
        let quotas = Quotas { imports: IMPORTS_MAX, block: ENDLESS, ..Quotas::default() };
        let services = Some(vec![SERVICE]);
        let config = Config { quotas, services, ..config(LISTENER, peer, self.segment, seed.into(), None) };
        let engine = Engine::new(config, unpaced(self.segment)?);
        let blocks = Coming {
            inbox: self.inbox.clone(),
            from,
            incoming: BTreeMap::new(),
            receipts: BTreeMap::new(),
            answered: BTreeSet::new(),
            refused: Vec::new(),
            events: Vec::new(),
            brought: 0,
        };
        Ok(LtpEndpoint::new(engine, blocks, None, self.is_kept_alive))
    }
    fn takes(&self, peer: u64) -> bool {
        peer != LISTENER
    }
}

// --- engines that are met -------------------------------------------------------------------

/// Makes engines that receive.
pub trait Receive: Clone + 'static {
    /// What they receive.
    type Side: Side;
    /// An engine for the one of this number that sends from there.
    ///
    /// # Errors
    /// One line.
    fn meet(&self, from: SocketAddr, peer: u64) -> Result<LtpEndpoint<Self::Side>, Error>;
    /// Whether an engine of this number may send.
    fn takes(&self, _peer: u64) -> bool {
        true
    }
    /// What authenticates its segments.
    fn key(&self) -> Option<&Key> {
        None
    }
    /// Where reports go: to where data come from, or elsewhere.
    fn reply_to(&self) -> Option<SocketAddr> {
        None
    }
    /// The sending engine, if the datagram has data or cancels a session: a cancellation must be acknowledged
    /// even for an unknown session (RFC 5326, section 6.17).
    fn originator(&self, bytes: &[u8]) -> Option<u64> {
        let (packet, taken) = Packet::read_first(bytes).ok()?;
        let believed = self.key().is_none_or(|key| key.check(&packet, &bytes[..taken]).is_ok());
        let peer = packet.segment.session.originator;
        (believed && begins(&packet.segment) && self.takes(peer)).then_some(peer)
    }
}

/// The engine for a peer address, created when the first segment shows the peer's engine number.
pub struct Awaited<R: Receive> {
    receive: R,
    from: SocketAddr,
    end: Option<(u64, LtpEndpoint<R::Side>)>,
    /// Events and byte counts of earlier engines at this address.
    events: Vec<Event>,
    brought: u64,
}

impl<R: Receive> Awaited<R> {
    /// Of a peer there.
    pub fn new(receive: R, from: SocketAddr) -> Self {
        Self { receive, from, end: None, events: Vec::new(), brought: 0 }
    }
    /// Replaces an engine that is done: a restarted peer may have another number.
    fn make_way(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.end.as_ref().is_some_and(|(_, end)| !end.status().over) {
            return Ok(());
        }
        let known = self.end.as_ref().map(|(engine, _)| *engine);
        if let Some(engine) = self.receive.originator(bytes).filter(|engine| Some(*engine) != known) {
            self.events = self.take_events();
            self.brought = self.brought();
            self.end = Some((engine, self.receive.meet(self.from, engine)?));
        }
        Ok(())
    }
}

impl<R: Receive> Endpoint for Awaited<R> {
    fn take(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Error> {
        self.make_way(bytes)?;
        self.end.as_mut().map_or(Ok(()), |(_, end)| end.take(now, bytes))
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        self.end.as_mut().map_or(Ok(false), |(_, end)| end.give(now, out))
    }
    fn deadline(&self) -> Option<Instant> {
        self.end.as_ref().and_then(|(_, end)| end.deadline())
    }
    fn abort(&mut self) {
        if let Some((_, end)) = &mut self.end {
            end.abort();
        }
    }
    fn answers_to(&self, from: SocketAddr) -> SocketAddr {
        self.receive.reply_to().unwrap_or(from)
    }
    fn brought(&self) -> u64 {
        self.brought + self.end.as_ref().map_or(0, |(_, end)| end.brought())
    }
    fn status(&self) -> Status {
        self.end.as_ref().map(|(_, end)| end.status()).unwrap_or_default()
    }
    fn take_events(&mut self) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.events);
        events.extend(self.end.iter_mut().flat_map(|(_, end)| end.take_events()));
        events
    }
}

/// Meets engines over UDP.
pub struct UdpAcceptor<R>(pub R);

impl<R: Receive> Acceptor for UdpAcceptor<R> {
    fn accept(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) -> Result<Accept, Error> {
        let mut awaited = Awaited::new(self.0.clone(), from);
        awaited.take(now, bytes)?;
        Ok(if awaited.end.is_some() { Accept::Peer(Box::new(awaited)) } else { Accept::Nothing })
    }
}

/// A controller with its parameters as they are.
///
/// # Errors
/// There is no controller of this name.
pub fn named(name: &str, flow: Flow) -> Result<Box<dyn Controller>, Error> {
    let factory = Factory::resolve(name, &BTreeMap::new()).map_err(|why| Error::Input(why.to_string()))?;
    Ok(factory.build(flow))
}

/// The controller of an engine that need not pace: what is below does, or it only receives.
///
/// # Errors
/// As of [`named`].
pub fn unpaced(segment: u64) -> Result<Box<dyn Controller>, Error> {
    named("fixed", Flow::new(Bytes(segment), Bytes(segment)))
}

// --- over UDP -------------------------------------------------------------------------------

/// LTP over UDP (RFC 5326, section 5; RFC 7122, section 3.3).
pub struct OverUdp;

/// Bytes of the headers of IPv4 and UDP.
const BELOW: Bytes = lightlag_protocols::transport::ltp::UDP_HEADER;

impl Carrier for OverUdp {
    fn send(&self, sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error> {
        let Sending { payload, mut options, .. } = sending;
        let message = Message::load(&payload, watch)?;
        let sent = Sent::of(&message);
        let check = message.content().checker()?;
        let segment = options.packet.saturating_sub(BELOW).0;
        let flow = options.flow(Bytes(segment))?;
        let controller = options.take_controller("cubic", flow)?;
        let mut endpoint = self::sending(message, segment, options.light, controller, false)?;
        let mut driver = SenderDriver::new(options.take_socket()?, &mut options);
        let (status, seconds) = driver.run(&mut endpoint, &check, watch)?;
        Ok(sent.with(&status, seconds))
    }
    fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let Listening { mut options, inbox, once } = listening;
        let segment = options.packet.saturating_sub(BELOW).0;
        let acceptor = UdpAcceptor(FileReceiver { inbox, segment, is_kept_alive: false });
        ListenerDriver::new(options.take_socket()?, acceptor, once.then_some(1)).run(watch)
    }
}
