//! UDPDTN: files and noise by [`crate::transfer`]; noise is received here.
//!
//! The receiver counts symbols and discards them: source symbols, and repairs while their block is incomplete. When its
//! time is over it refuses further symbols, with its figures as text.

use super::bench::Plan;
use super::driver::{Accept, Acceptor, Endpoint, ListenerDriver, Status};
use super::header::HEADER_BYTES;
use super::incoming::{Inbox, Incoming};
use super::{Carrier, Error, Event, Listening, Progress, Sending, Sent};
use crate::transfer;
use crate::transfer::incoming::shape;
use crate::transfer::sender::random;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::transport::udpdtn::{Datagram, Receiver};
use lightlag_protocols::wire::udpdtn::{Body, Opening, Packet, Reason, Unwrap};
use std::net::SocketAddr;
use std::sync::Arc;

/// Figures, or a refusal, are said again at most so often.
const ANSWER_EVERY: Duration = Duration::from_nanos(50_000_000);

/// UDPDTN.
pub struct OverUdpdtn;

impl Carrier for OverUdpdtn {
    fn send(&self, sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error> {
        transfer::send(sending, watch)
    }
    fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let Listening { mut options, inbox, once } = listening;
        if let Some(files) = inbox.files() {
            return transfer::Listener::new(options, files.clone(), once)?.run(watch);
        }
        ListenerDriver::new(options.take_socket()?, NoiseAcceptor { inbox }, once.then_some(1)).run(watch)
    }
}

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
