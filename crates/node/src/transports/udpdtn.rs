//! Noise over UDPDTN, by the state machines that carry files over it in [`crate::transfer`].
//!
//! The opening announces a length beyond that of any measurement; its name encodes the plan, in a form that
//! no file name can have: [`Plan::to_name`]. The receiver counts symbols and discards them: source symbols,
//! and repairs while their block is incomplete. When its time is over it refuses further symbols, for the
//! reason [`Reason::Measured`] and with its figures as text; the sender answers by an empty refusal, which it
//! also says when it stops before.
//!
//! Nothing is decoded, so repairs are noise of the size of RaptorQ symbols: coding costs neither side
//! anything here.

use super::bench::{Noise, Plan};
use super::driver::{Accept, Acceptor, Endpoint, ListenerDriver, SenderDriver, Status};
use super::header::{HEADER_BYTES, Receipt};
use super::incoming::{Inbox, Incoming};
use super::{Carrier, Error, Event, Listening, Payload, Progress, Sending, Sent};
use crate::transfer::incoming::shape;
use crate::transfer::sender::{random, write};
use crate::transfer::{self, config};
use lightlag_protocols::controllers::Controller;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::transport::udpdtn::{
    Config, DIGEST_BYTES, Datagram, HEADER, Receiver, Sender, UDP_HEADER,
};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::udpdtn::{
    BLOCK_SYMBOLS_MAX, BLOCKS_MAX, Body, Opening, Packet, Reason, Unwrap,
};
use std::net::SocketAddr;
use std::sync::Arc;

/// Bytes that are announced for each second: more than a processor sends.
const BYTES_PER_SECOND: f64 = 1.25e9;
/// The digest is unused: a noise stream never completes.
const NO_DIGEST: [u8; DIGEST_BYTES] = [0; DIGEST_BYTES];
/// Figures, or a refusal, are said again at most so often.
const ANSWER_EVERY: Duration = Duration::from_nanos(50_000_000);

/// UDPDTN.
pub struct OverUdpdtn;

impl Carrier for OverUdpdtn {
    fn send(&self, sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error> {
        let Sending { payload, mut options, udpdtn } = sending;
        let plan = match payload {
            Payload::File(file) => return transfer::send(&file, options, udpdtn, watch),
            Payload::Noise(plan) => plan,
        };
        let length = length(plan, options.packet);
        let light = options.light.unwrap_or_default();
        let config = config(length, NO_DIGEST, options.packet, 0, light)?;
        // As for files: a promise in whole units is no yardstick for queues.
        let flow = options.flow(config.symbol)?.planned(options.rate, None);
        let controller = options.take_controller("contact_rate", flow)?;
        let mut leaving = Leaving::new(plan, config, controller, length)?;
        let mut driver = SenderDriver::new(options.take_socket()?, options.to, options.give_up);
        let (status, seconds) = driver.run(&mut leaving, &|| Ok(()), watch)?;
        Ok(Sent::new(length.0, NO_DIGEST).with(&status, seconds))
    }
    fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let Listening { mut options, inbox, once } = listening;
        if let Some(files) = inbox.files() {
            return transfer::Listener::new(options, files.clone(), once)?.run(watch);
        }
        ListenerDriver::new(options.take_socket()?, NoiseAcceptor { inbox }, once.then_some(1)).run(watch)
    }
}

/// What is announced: enough for the time, or the most that can be in such packets.
fn length(plan: Plan, packet: Bytes) -> Bytes {
    let symbol = packet.saturating_sub(UDP_HEADER + HEADER).0;
    let most = u64::from(BLOCKS_MAX) * u64::from(BLOCK_SYMBOLS_MAX) * symbol;
    Bytes(((plan.time.as_secs_f64() * BYTES_PER_SECOND) as u64).clamp(1, most.max(1)))
}

// --- sending --------------------------------------------------------------------------------

/// Noise that leaves.
struct Leaving {
    machine: Sender,
    noise: Noise,
    config: Config,
    length: Bytes,
    name: String,
    session: u32,
    /// Bytes that are reported to be there.
    acked: u64,
    receipt: Option<Receipt>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Open,
    /// The end must be announced.
    Ends,
    Over,
}

impl Leaving {
    fn new(
        plan: Plan,
        config: Config,
        controller: Box<dyn Controller>,
        length: Bytes,
    ) -> Result<Self, Error> {
        let session = random()?;
        let config = Config { seed: session.into(), ..config };
        Ok(Self {
            machine: Sender::new(config, controller, length),
            noise: Noise::new(),
            config,
            length,
            name: plan.to_name(),
            session,
            acked: 0,
            receipt: None,
            stage: Stage::Open,
        })
    }
    fn end(&mut self, reason: Reason, text: &str) {
        let figures = super::bench::Measured::of_text(text).filter(|_| reason == Reason::Measured);
        let outcome = if figures.is_some() { Ok(()) } else { Err(text.replace(char::is_control, " ")) };
        self.receipt.get_or_insert(Receipt { digest: NO_DIGEST, outcome, measured: figures });
        self.abort();
    }
}

impl Endpoint for Leaving {
    fn take(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Error> {
        let packet = Packet::read(bytes).ok().filter(|packet| packet.session == self.session);
        let Some(packet) = packet else { return Ok(()) };
        match &packet.body {
            Body::Refuse(reason, text) => self.end(*reason, text),
            Body::Report(_) | Body::Unknown => {
                if let Some(datagram) = packet.datagram(&mut Unwrap::default(), now) {
                    self.machine.handle(now, datagram);
                }
                self.acked = self.machine.progress().0;
            }
            Body::Open(_) | Body::Data(..) => {}
        }
        Ok(())
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        let Self { machine, noise, config, name, session, stage, .. } = self;
        match stage {
            Stage::Over => return Ok(false),
            Stage::Ends => {
                *stage = Stage::Over;
                Packet { session: *session, body: Body::Refuse(Reason::Measured, "") }.write(out);
                return Ok(true);
            }
            Stage::Open => {}
        }
        let Some(datagram) = machine.poll(now) else { return Ok(false) };
        write(datagram, *session, config, name, out, |block, symbol, out| {
            let start = out.len();
            out.resize(start + config.symbol.0 as usize, 0);
            noise.read(u64::from(block) << 16 | u64::from(symbol), &mut out[start..]);
            Ok(())
        })?;
        Ok(true)
    }
    fn deadline(&self) -> Option<Instant> {
        self.machine.deadline().filter(|_| self.stage == Stage::Open)
    }
    fn abort(&mut self) {
        if self.stage == Stage::Open {
            self.stage = Stage::Ends;
        }
    }
    fn status(&self) -> Status {
        let counts = self.machine.counts();
        Status {
            progress: Some((self.acked, self.length.0)),
            receipt: self.receipt.clone(),
            over: self.stage == Stage::Over,
            sent: [counts.sent, counts.repairs],
            rtt: self.machine.rtt(),
        }
    }
}

// --- receiving ------------------------------------------------------------------------------

/// Meets senders by their openings.
struct NoiseAcceptor {
    inbox: Arc<dyn Inbox>,
}

impl Acceptor for NoiseAcceptor {
    fn accept(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) -> Result<Accept, Error> {
        let Ok(packet) = Packet::read(bytes) else { return Ok(Accept::Nothing) };
        let session = packet.session;
        Ok(match &packet.body {
            Body::Open(opening) => {
                let mut coming = Coming::new(self.inbox.incoming(from), session, opening)?;
                coming.take(now, bytes)?;
                Accept::Peer(Box::new(coming))
            }
            Body::Data(..) => Accept::Reply(Packet { session, body: Body::Unknown }.to_bytes()),
            Body::Report(_) | Body::Unknown | Body::Refuse(..) => Accept::Nothing,
        })
    }
}

/// Noise that comes.
struct Coming {
    machine: Receiver,
    incoming: Box<dyn Incoming>,
    session: u32,
    /// Bytes of a symbol.
    symbol: usize,
    unwrap: Unwrap,
    /// Bytes that the incoming knows of; the header stands where the first of them would.
    counted: u64,
    /// The result must be sent, but not before this time.
    answers: bool,
    next_answer: Instant,
    /// The sender needs nothing more.
    over: bool,
}

impl Coming {
    fn new(mut incoming: Box<dyn Incoming>, session: u32, opening: &Opening) -> Result<Self, Error> {
        // A file has another header, and is refused for it.
        incoming.write(0, &Plan::of_name(opening.name).map_or([0; HEADER_BYTES], Plan::to_header));
        let mut config = shape(opening).0;
        config.real.decodes = false;
        let mut machine = Receiver::new(config);
        machine.resume(random()?, &Ranges::default(), std::iter::empty());
        Ok(Self {
            machine,
            incoming,
            session,
            symbol: opening.symbol.into(),
            unwrap: Unwrap::default(),
            counted: HEADER_BYTES as u64,
            answers: true,
            next_answer: Instant::ZERO,
            over: false,
        })
    }
    fn count(&mut self, payload: &[u8]) {
        let fresh = self.machine.delivered().saturating_sub(self.counted).min(payload.len() as u64);
        if fresh > 0 {
            self.incoming.write(self.counted, &payload[..fresh as usize]);
            self.counted += fresh;
        }
        if self.machine.has_all() {
            // It was faster than anybody thought.
            self.incoming.finish();
        }
    }
}

impl Endpoint for Coming {
    fn take(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Error> {
        let packet = Packet::read(bytes).ok().filter(|packet| packet.session == self.session);
        let Some(packet) = packet else { return Ok(()) };
        let payload: &[u8] = match packet.body {
            Body::Data(_, payload) if payload.len() == self.symbol => payload,
            Body::Open(_) => &[],
            Body::Refuse(..) => {
                self.incoming.finish();
                self.over = true;
                return Ok(());
            }
            Body::Data(..) | Body::Report(_) | Body::Unknown => return Ok(()),
        };
        if self.incoming.receipt().is_some() {
            self.answers = true;
        } else if let Some(datagram) = packet.datagram(&mut self.unwrap, now) {
            self.machine.handle(now, datagram);
            self.count(payload);
        }
        Ok(())
    }
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error> {
        self.incoming.tick();
        let session = self.session;
        let Some(receipt) = self.incoming.receipt() else {
            let report = self.machine.poll(now).and_then(|datagram| match datagram {
                Datagram::Report(report) => Some(Packet { session, body: Body::Report(report) }),
                _ => None,
            });
            return Ok(report.map(|report| report.write(out)).is_some());
        };
        if self.over || !self.answers || now < self.next_answer {
            return Ok(false);
        }
        self.answers = false;
        self.next_answer = now + ANSWER_EVERY;
        let (reason, text) = match &receipt.outcome {
            Ok(()) => (Reason::Measured, receipt.measured.unwrap_or_default().to_text()),
            Err(why) => (Reason::Opening, why.clone()),
        };
        Packet { session, body: Body::Refuse(reason, &text) }.write(out);
        Ok(true)
    }
    fn deadline(&self) -> Option<Instant> {
        if self.incoming.receipt().is_none() {
            return self.machine.deadline();
        }
        (self.answers && !self.over).then_some(self.next_answer)
    }
    fn brought(&self) -> u64 {
        self.counted
    }
    fn is_gone(&self) -> bool {
        self.over
    }
    fn status(&self) -> Status {
        Status { receipt: self.incoming.receipt().cloned(), over: self.over, ..Status::default() }
    }
    fn take_events(&mut self) -> Vec<Event> {
        self.incoming.take_events()
    }
}
