//! Blocks in both directions through one socket: a peer like ION sends its reports and its own blocks to one port.

use super::super::Keeping;
use super::{Coming, Leaving};
use crate::transports::Event;
use crate::transports::driver::Status;
use crate::transports::header::Receipt;
use crate::transports::ltp::Side;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::ltp::{Engine, Event as LtpEvent, SessionId};
use std::io;
use std::net::SocketAddr;

/// How long the peer has to acknowledge the last reports, or as many round trips if that is longer.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_ROUND_TRIPS: i64 = 4;

/// Bundles that leave, and those that come meanwhile.
pub struct Both {
    leaving: Leaving,
    coming: Coming,
    keeping: Keeping,
    came: u64,
    now: Instant,
    /// When something new last came.
    heard: Instant,
}

impl Both {
    /// Of a peer there.
    pub fn new(leaving: Leaving, keeping: Keeping, peer: SocketAddr) -> Self {
        let coming = Coming::new(keeping.store.clone(), peer);
        Self { leaving, coming, keeping, came: 0, now: Instant::ZERO, heard: Instant::ZERO }
    }
    /// Whether all is sent and enough has come.
    fn is_done(&self) -> bool {
        let enough = self.keeping.count.is_none_or(|count| self.came >= count);
        self.leaving.is_done() && enough && (self.keeping.count.is_some() || self.coming.parts.is_empty())
    }
    fn is_over(&self, engine: &Engine) -> bool {
        let round_trips = Duration::from_nanos(
            engine.rtt().unwrap_or_default().as_nanos().saturating_mul(LINGER_ROUND_TRIPS),
        );
        let silent = self.now - self.heard > LINGER.max(round_trips);
        self.is_done() && (engine.sessions() == (0, 0) || silent)
    }
    fn hand_over(&mut self) {
        for event in self.coming.take_events() {
            self.came += u64::from(matches!(event, Event::Bundle(_)));
            (self.keeping.watch)(event);
        }
    }
}

impl Side for Both {
    fn read(&mut self, session: SessionId, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.leaving.read(session, offset, out)
    }
    fn is_for(&mut self, session: SessionId, service: u64) {
        self.coming.is_for(session, service);
    }
    fn write(&mut self, session: SessionId, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.heard = self.now;
        self.coming.write(session, offset, bytes)
    }
    fn on_event(&mut self, event: &LtpEvent) {
        self.heard = self.now;
        self.leaving.on_event(event);
        self.coming.on_event(event);
    }
    fn steer(&mut self, now: Instant, engine: &mut Engine) {
        self.now = now;
        self.leaving.steer(now, engine);
        self.coming.steer(now, engine);
        self.hand_over();
    }
    fn deadline(&self) -> Option<Instant> {
        self.leaving.deadline()
    }
    fn on_abort(&mut self) {
        self.leaving.on_abort();
        self.coming.on_abort();
        self.hand_over();
    }
    fn takes_any(&self) -> bool {
        true
    }
    fn status(&self, engine: &Engine) -> Status {
        let over = self.is_over(engine);
        let receipt = over.then_some(Receipt { digest: [0; 32], outcome: Ok(()), measured: None });
        Status { receipt, over, ..self.leaving.status(engine) }
    }
    fn take_events(&mut self) -> Vec<Event> {
        self.leaving.take_events()
    }
    fn hears(&self, from: SocketAddr, peer: SocketAddr) -> bool {
        self.leaving.hears(from, peer)
    }
    fn failure(&mut self, why: io::Error) -> crate::error::Error {
        self.leaving.failure(why)
    }
}
