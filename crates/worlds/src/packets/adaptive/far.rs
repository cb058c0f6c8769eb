//! The end that receives.

use super::pipe::Pipe;
use super::{DATAGRAMS, FAR, Make, STREAM, byte};
use lightlag_protocols::record::packets::Parcel;
use lightlag_protocols::session::{Datagrams, Event, Session, Stack};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::session::ConnectionId;

/// Of a packet outside the connection, as the paper had it.
const PLAIN_PAYLOAD: u64 = 1024;
/// What the application has read is acknowledged so often.
const TAKE_EVERY: Duration = Duration::from_nanos(50_000_000);

/// Receives, and checks that every byte is where it belongs.
pub struct Far {
    make: Make,
    session: Session,
    datagrams: Datagrams,
    pipe: Option<Pipe>,
    id: Option<ConnectionId>,
    read: u64,
    is_whole: bool,
    /// Packets outside the connection.
    plain: Plain,
    take_at: Option<Instant>,
    has_ended: bool,
    over: bool,
    now: Instant,
}

/// Packets that came outside the connection. No link copies them.
#[derive(Default)]
struct Plain {
    came: u64,
    /// The highest number among them; the first has 1.
    last: u64,
}

impl Plain {
    fn count(&mut self, number: u64) {
        self.came += 1;
        self.last = self.last.max(number);
    }
}

impl Far {
    /// Nothing has come.
    pub fn new(make: Make) -> Self {
        let session = Session::new(make.session(FAR), STREAM);
        let datagrams = Datagrams::new(make.datagrams(FAR), make.controllers.datagrams.build(make.flow));
        Self {
            make,
            session,
            datagrams,
            pipe: None,
            id: None,
            read: 0,
            is_whole: true,
            plain: Plain::default(),
            take_at: None,
            has_ended: false,
            over: false,
            now: Instant::ZERO,
        }
    }
    /// Something came.
    pub fn handle(&mut self, now: Instant, parcel: Parcel) {
        match parcel {
            Parcel::Plain(number, _) => self.plain.count(number),
            Parcel::Datagram(serial, bytes) => {
                // What cannot be read was not sent by ours.
                let _ = self.datagrams.handle(now, (serial, &bytes), &mut self.session);
                self.answer_by(now, DATAGRAMS);
            }
            Parcel::Segment { life, forward, segment, data } => {
                if self.pipe.as_ref().is_none_or(|pipe| pipe.life() < life) {
                    self.session.on_failed(STREAM, DATAGRAMS);
                    self.pipe = Some(Pipe::new(&self.make, life, false));
                }
                let Some(pipe) = self.pipe.as_mut().filter(|pipe| pipe.life() == life) else { return };
                if pipe.handle(now, &mut self.session, (forward, segment), data) {
                    self.answer_by(now, STREAM);
                }
            }
        }
        self.move_bytes(now);
    }
    fn answer_by(&mut self, now: Instant, stack: Stack) {
        self.session.prefer(stack);
        if let Some(id) = self.id {
            self.session.carry_by(now, id, stack, Duration::ZERO);
        }
    }
    fn move_bytes(&mut self, now: Instant) {
        while let Some(event) = self.session.poll_event() {
            match event {
                Event::Open { id, .. } => {
                    self.id = Some(id);
                    self.session.accept(id);
                    self.session.finish(id);
                }
                Event::Over(..) => self.over = true,
                _ => {}
            }
        }
        let Some(id) = self.id else { return };
        let before = self.read;
        while let Some(bytes) = self.session.read(id) {
            self.is_whole &= bytes.iter().zip(self.read..).all(|(got, at)| *got == byte(at));
            self.read += if self.is_whole { bytes.len() as u64 } else { 0 };
        }
        if self.read > before && self.take_at.is_none() {
            self.take_at = Some(now.saturating_add(TAKE_EVERY));
        }
        if self.session.is_at_end(id) && !self.has_ended {
            self.has_ended = true;
            self.session.take(id, self.read);
            self.session.take_end(id);
        }
    }
    /// The next thing to send.
    pub fn poll(&mut self, now: Instant) -> Option<Parcel> {
        self.now = now;
        if self.take_at.is_some_and(|at| at <= now)
            && let Some(id) = self.id
        {
            self.take_at = None;
            self.session.take(id, self.read);
        }
        if self.session.deadline().is_some_and(|at| at <= now) {
            self.session.on_deadline(now);
        }
        if self.datagrams.deadline(&self.session).is_some_and(|at| at <= now) {
            self.datagrams.on_deadline(now, &mut self.session);
        }
        if let Some(parcel) = self.pipe.as_mut().and_then(|pipe| pipe.poll(now, &mut self.session)) {
            return Some(parcel);
        }
        let mut out = Vec::new();
        let serial = self.datagrams.poll(now, &mut self.session, &mut out)?;
        Some(Parcel::Datagram(serial, out.into()))
    }
    /// When to poll though nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        let pipe = self.pipe.as_ref().and_then(Pipe::deadline);
        let all = [self.take_at, self.session.deadline(), self.datagrams.deadline(&self.session), pipe];
        super::not_before(self.now, all)
    }
    /// Bytes that the application has in order, and those that came outside the connection.
    pub fn delivered(&self) -> u64 {
        self.read + self.plain.came * PLAIN_PAYLOAD
    }
    /// Packets outside the connection that are missing: gaps in their numbers.
    pub fn missing(&self) -> u64 {
        self.plain.last - self.plain.came
    }
    /// Whether everything is here.
    pub fn is_complete(&self) -> bool {
        self.over || self.id.is_some_and(|id| self.session.is_at_end(id))
    }
}
