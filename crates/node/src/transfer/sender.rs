//! Sends a file or noise over UDPDTN.
//!
//! Noise announces a length beyond that of any measurement; its name encodes the plan, in a form that no file name can
//! have: [`Plan::to_name`](crate::transports::bench::Plan::to_name). When the receiver's time is over it refuses further
//! symbols, for the reason [`Reason::Measured`] and with its figures as text; the sender answers by an empty refusal,
//! which it also sends when it stops before. Nothing is decoded, so repairs are noise of the size of RaptorQ symbols:
//! coding costs neither side anything.

use super::auth::{Challenge, Fresh, Id, Key, TAG_BYTES};
use super::memory::Memory;
use super::{Error, config};
use crate::transports::bench::Measured;
use crate::transports::driver::{Endpoint, SenderDriver, Status};
use crate::transports::header::Receipt;
use crate::transports::message::Content;
use crate::transports::{Sending, Sent, Step, UdpdtnOptions};
use lightlag_protocols::controllers::Controller;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::udpdtn::{self, Cut, Datagram, HEADER, UDP_HEADER};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::udpdtn::{
    BLOCK_SYMBOLS_MAX, BLOCKS_MAX, Body, Data, Opening, Packet, Reason, Unwrap, write_data,
};
use std::net::SocketAddr;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The file is being read for its digest: bytes read, and its length.
    Reading(u64, u64),
    /// About how many bytes the receiver has, and the length of the file.
    Sending(u64, u64),
    /// Seconds since the last datagram from the receiver.
    Silent(u64),
    /// There is no contact now; seconds to the next, if the plan has one.
    NoContact(Option<u64>),
    /// Counts so far.
    Counted(Counted),
}

/// What has passed of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Bytes that are there; over TCP those that the kernel took.
    pub bytes: u64,
    /// Datagrams with data; `None` over TCP.
    pub datagrams: Option<u64>,
    /// Those among them that were sent again.
    pub repairs: Option<u64>,
    /// Round trip, where it is measured.
    pub rtt: Option<Duration>,
}

/// With less than this a block rarely needs repairs.
const LOSS_LEAST: f64 = 2e-4;
/// How often it is said that a file has changed.
const FAREWELLS: u32 = 3;
/// Bytes of noise that are announced for each second: more than a processor sends.
const NOISE_PER_SECOND: f64 = 1.25e9;

/// Sends a file until the receiver says that it has it whole, or noise until it has counted it for its time; or until
/// `watch` says false.
///
/// # Errors
/// [`Error::Input`] if it could not begin, [`Error::Failed`] if it failed or was stopped.
pub(crate) fn send(sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error> {
    let Sending { payload, mut options, udpdtn: UdpdtnOptions { in_order, key, memory } } = sending;
    let content = Content::load(&payload, watch)?;
    let check = content.checker()?;
    let (packet, light) = (options.packet, options.light.unwrap_or_default());
    let (name, length) = match &content {
        Content::File(source) => (source.name(), Bytes(source.length())),
        Content::Noise(plan, _) => (plan.to_name(), noise_length(plan.time, packet)),
    };
    let tag = if key.is_some() { TAG_BYTES } else { 0 };
    let config = config(length, content.digest(), packet, tag, light)?;
    let session = random()?;
    let config = udpdtn::Config { in_order, seed: session.into(), ..config };
    // A promise in whole units is no yardstick for queues: those are measured by one-way times.
    let flow = options.flow(config.symbol)?.planned(options.rate, None);
    let controller = options.take_controller("contact_rate", flow)?;
    let keyed = key.map(|key| Keyed::new(key, memory.as_deref(), options.to)).transpose()?;
    let mut outgoing = Outgoing::new(content, config, controller, name, length, session, keyed);
    let mut driver = SenderDriver::new(options.take_socket()?, &mut options);
    let (status, seconds) = driver.run(&mut outgoing, &check, watch)?;
    Ok(Sent::new(length.0, config.digest).with(&status, seconds))
}

/// What is announced of noise: enough for the time, or the most that such packets can carry.
fn noise_length(time: Duration, packet: Bytes) -> Bytes {
    let symbol = packet.saturating_sub(UDP_HEADER + HEADER).0;
    let most = u64::from(BLOCKS_MAX) * u64::from(BLOCK_SYMBOLS_MAX) * symbol;
    Bytes(((time.as_secs_f64() * NOISE_PER_SECOND) as u64).clamp(1, most.max(1)))
}

/// What authenticates a run.
struct Keyed {
    key: Key,
    memory: Memory,
    fresh: Fresh,
}

impl Keyed {
    fn new(key: Key, memory: Option<&std::path::Path>, to: SocketAddr) -> Result<Self, Error> {
        let mut memory = Memory::open(memory, &key, to);
        let mut id = Id::default();
        getrandom::fill(&mut id).map_err(no_random)?;
        let fresh = Fresh { id, stamp: memory.next_stamp(), token: memory.token };
        Ok(Self { key, memory, fresh })
    }
}

/// How far the sending end is.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Open,
    /// The end must be announced this number of times.
    Ends(u32),
    Over,
}

/// A file or noise that leaves.
struct Outgoing {
    content: Content,
    config: udpdtn::Config,
    cut: Cut,
    machine: udpdtn::Sender,
    name: String,
    length: Bytes,
    session: u32,
    keyed: Option<Keyed>,
    stage: Stage,
    /// Bytes that are reported to be there.
    acked: u64,
    /// Those among them that were there before the first report.
    resumed: Option<u64>,
    ignored: u64,
    receipt: Option<Receipt>,
    /// The receiver wants the opening once more, with what it was challenged with.
    reopens: bool,
    has_contact: bool,
}

impl Outgoing {
    fn new(
        content: Content,
        config: udpdtn::Config,
        controller: Box<dyn Controller>,
        name: String,
        length: Bytes,
        session: u32,
        keyed: Option<Keyed>,
    ) -> Self {
        let machine = udpdtn::Sender::new(config, controller, length);
        Self {
            content,
            config,
            cut: machine.cut(),
            machine,
            name,
            length,
            session,
            keyed,
            stage: Stage::Open,
            acked: 0,
            resumed: None,
            ignored: 0,
            receipt: None,
            reopens: false,
            has_contact: true,
        }
    }
    /// A datagram without its tag, which is right.
    fn read(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Error> {
        let packet = Packet::read(bytes).ok().filter(|packet| packet.session == self.session);
        match packet.as_ref().map(|packet| (&packet.body, packet)) {
            Some((Body::Refuse(reason, text), _)) => self.end(*reason, text),
            Some((Body::Report(_) | Body::Unknown, packet)) => {
                if let Some(datagram) = packet.datagram(&mut Unwrap::default(), now) {
                    self.machine.handle(now, datagram);
                }
                self.acked = self.machine.progress().0;
                if matches!(packet.body, Body::Report(_)) {
                    let fresh = u64::from(self.machine.received()) * self.config.symbol.0;
                    self.resumed.get_or_insert(self.acked.saturating_sub(fresh));
                }
                if self.machine.is_complete() {
                    self.conclude(Ok(()), None);
                    self.stage = Stage::Over;
                }
                Ok(())
            }
            _ => {
                self.ignored += 1;
                Ok(())
            }
        }
    }
    /// The receiver takes no more.
    fn end(&mut self, reason: Reason, text: &str) -> Result<(), Error> {
        let figures = Measured::of_text(text).filter(|_| reason == Reason::Measured);
        match &self.content {
            Content::File(source) if reason == Reason::Digest => source.check()?,
            _ => {}
        }
        let refused = Err(text.replace(char::is_control, " "));
        self.conclude(if figures.is_some() { Ok(()) } else { refused }, figures);
        self.abort();
        Ok(())
    }
    fn conclude(&mut self, outcome: Result<(), String>, measured: Option<Measured>) {
        self.receipt.get_or_insert(Receipt { digest: self.config.digest, outcome, measured });
    }
    /// The receiver wants to know that the opening is no recording.
    fn meet(&mut self, challenge: &Challenge) {
        if let Some(keyed) = &mut self.keyed {
            keyed.fresh.token = challenge.token;
            keyed.memory.learn(challenge.state);
        }
        self.reopens = true;
    }
    fn next(&mut self, now: Instant) -> Option<Datagram> {
        if std::mem::take(&mut self.reopens) {
            return Some(Datagram::Open { length: self.length, report_every: Duration::from_secs(1) });
        }
        self.machine.poll(now)
    }
    fn write(&mut self, datagram: Datagram, out: &mut Vec<u8>) -> Result<(), Error> {
        let Self { content, config, cut, session, name, .. } = self;
        let size = config.symbol.0;
        write(datagram, *session, config, name, out, |block, symbol, out| match content {
            Content::File(source) => source.symbol(cut, size as u16, block, symbol, out),
            Content::Noise(_, noise) => {
                let start = out.len();
                out.resize(start + size as usize, 0);
                noise.read(u64::from(block) << 16 | u64::from(symbol), &mut out[start..]);
                Ok(())
            }
        })
    }
    /// Of a block of which all was sent with this, repairs are made if the loss lets them be expected.
    fn prepare(&mut self, sent: (u32, u32)) -> Result<(), Error> {
        let Content::File(source) = &mut self.content else { return Ok(()) };
        let loss = self.machine.loss().filter(|loss| *loss > LOSS_LEAST);
        match loss.filter(|_| sent.1 + 1 == self.cut.symbols_of(sent.0)) {
            Some(loss) => source.prepare(&self.cut, self.config.symbol.0 as u16, sent.0, loss),
            None => Ok(()),
        }
    }
    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        if let Some(keyed) = &self.keyed {
            keyed.key.seal_sent(out, start, &keyed.fresh);
        }
    }
}

impl Endpoint for Outgoing {
    fn take(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Error> {
        let Some(Keyed { key, fresh, .. }) = &self.keyed else { return self.read(now, bytes) };
        let Some((bytes, challenge)) = key.open_answer(&fresh.id, bytes) else {
            self.ignored += 1;
            return Ok(());
        };
        self.read(now, bytes)?;
        if let Some(challenge) = challenge {
            self.meet(&challenge);
        }
        Ok(())
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        let start = out.len();
        match (self.stage, &self.content) {
            (Stage::Over, _) => return Ok(false),
            (Stage::Ends(left), content) => {
                let (reason, text) = match content {
                    Content::File(_) => (Reason::Digest, "the file changed while it was sent"),
                    Content::Noise(..) => (Reason::Measured, ""),
                };
                Packet { session: self.session, body: Body::Refuse(reason, text) }.write(out);
                self.stage = if left > 1 { Stage::Ends(left - 1) } else { Stage::Over };
            }
            (Stage::Open, _) if !self.has_contact && self.reopens => return Ok(false),
            (Stage::Open, _) => {
                let Some(datagram) = self.next(now) else { return Ok(false) };
                let sent = match datagram {
                    Datagram::Data { block, symbol, .. } => Some((block, symbol)),
                    _ => None,
                };
                self.write(datagram, out)?;
                sent.map_or(Ok(()), |sent| self.prepare(sent))?;
            }
        }
        self.seal(out, start);
        Ok(true)
    }
    fn deadline(&self) -> Option<Instant> {
        self.machine.deadline().filter(|_| self.stage == Stage::Open)
    }
    fn on_plan(&mut self, now: Instant, step: Step) {
        self.has_contact = step.rate > BitRate(0);
        self.machine.plan(now, step.rate);
    }
    fn has_ended(&self) -> bool {
        self.stage == Stage::Over || self.receipt.is_some()
    }
    fn abort(&mut self) {
        if self.stage != Stage::Open {
            return;
        }
        // A receiver of a file waits for the same file to be sent again.
        let farewells = match &self.content {
            Content::File(source) if source.check().is_err() => FAREWELLS,
            Content::File(_) => 0,
            Content::Noise(..) => 1,
        };
        let is_heard = farewells > 0 && self.has_contact;
        self.stage = if is_heard { Stage::Ends(farewells) } else { Stage::Over };
    }
    fn hears(&self, from: SocketAddr, peer: SocketAddr) -> bool {
        // With a key, any address may answer that can make a tag.
        self.keyed.is_some() || from == peer
    }
    fn status(&self) -> Status {
        let counts = self.machine.counts();
        Status {
            progress: Some((self.acked, self.length.0)),
            receipt: self.receipt.clone(),
            over: self.stage == Stage::Over,
            sent: [counts.sent, counts.repairs],
            rtt: self.machine.rtt(),
            timeouts: Some(counts.silences),
            resumed: self.resumed.unwrap_or(0),
            ignored: Some(self.ignored),
        }
    }
}

/// What a sender sends, as bytes; `append` gives symbols: which block, which of its symbols.
fn write(
    datagram: Datagram,
    session: u32,
    config: &udpdtn::Config,
    name: &str,
    out: &mut Vec<u8>,
    append: impl FnOnce(u32, u32, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    match datagram {
        Datagram::Data { number, block, symbol, sent_at, in_train, report_every } => {
            let data = Data {
                number,
                block: block as u16,
                symbol: symbol as u16,
                stamp: sent_at,
                in_train,
                report_every,
            };
            write_data(session, &data, out);
            append(block, symbol, out)
        }
        Datagram::Open { length, report_every } => {
            let opening = Opening {
                length,
                symbol: config.symbol.0 as u16,
                block_symbols: config.block_symbols as u16,
                digest: config.digest,
                name,
                report_every,
            };
            Packet { session, body: Body::Open(opening) }.write(out);
            Ok(())
        }
        // A sender sends nothing else.
        Datagram::Report(_) | Datagram::Unknown => Ok(()),
    }
}

/// An unpredictable number.
pub(crate) fn random() -> Result<u32, Error> {
    getrandom::u32().map_err(no_random)
}

pub(crate) fn no_random(why: getrandom::Error) -> Error {
    Error::Failed(format!("the system gives no random numbers: {why}"))
}
