//! Both ends of a flow over DCCP: datagrams of one size, none of them repeated.

use super::Source;
use lightlag_protocols::controllers::Controller;
use lightlag_protocols::time::Instant;
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::dccp::{Config, Connection, Listener, Packet, Passive, State};
use lightlag_protocols::units::Bytes;
use std::sync::Arc;

/// Seals the cookies of a simulated listener, where no host guesses them.
const KEY: [u8; 32] = [0; 32];

/// Sends, and closes when everything has left.
pub struct DatagramSender {
    /// The connection.
    pub connection: Connection,
    /// Bytes to send in all; `None`: no end.
    supplied: Option<u64>,
    ends: bool,
    given: u64,
    /// What every full datagram carries.
    full: Arc<[u8]>,
}

impl DatagramSender {
    /// Has sent nothing.
    pub fn new(config: Config, controller: Box<dyn Controller>, source: Source) -> Self {
        let supplied = match source {
            Source::File(size) => Some(size.0),
            Source::Persistent => None,
            Source::OnOff { .. } => Some(0),
        };
        Self {
            connection: Connection::connect(config, controller),
            supplied,
            ends: matches!(source, Source::File(_)),
            given: 0,
            full: vec![0; config.segment().0 as usize].into(),
        }
    }
    /// Sets the number of bytes to send in all.
    pub fn supply(&mut self, total: Bytes) {
        self.supplied = Some(total.0);
    }
    /// Nothing new is sent from now on.
    pub fn stop(&mut self) {
        self.supplied = Some(self.given);
        self.ends = true;
    }
    /// The next packet.
    pub fn poll(&mut self, now: Instant) -> Option<Packet> {
        self.give();
        self.connection.poll(now)
    }
    fn give(&mut self) {
        while self.connection.room() > 0 {
            let left = self.supplied.map_or(u64::MAX, |supplied| supplied - self.given);
            let length = left.min(self.full.len() as u64);
            if length == 0 {
                break;
            }
            let whole = length == self.full.len() as u64;
            let data = if whole { self.full.clone() } else { self.full[..length as usize].into() };
            if self.connection.send(data).is_err() {
                break;
            }
            self.given += length;
        }
        if self.ends && self.supplied == Some(self.given) {
            self.connection.close();
        }
    }
}

/// Listens, receives and counts.
pub struct DatagramReceiver(Passive);

impl DatagramReceiver {
    /// Nothing has come. `config` is the sender's.
    pub fn new(config: &Config) -> Self {
        let listener = Listener::silent(config.mirrored(), vec![config.service], KEY);
        Self(Passive::new(listener))
    }
    /// Something came.
    pub fn handle(&mut self, now: Instant, packet: Packet) {
        self.0.handle(now, packet);
        if let Some(connection) = self.0.connection() {
            while connection.receive().is_some() {}
        }
    }
    /// The next packet.
    pub fn poll(&mut self, now: Instant) -> Option<Packet> {
        self.0.poll(now)
    }
    /// When to poll though nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline()
    }
    /// Bytes that have come, each datagram counted once.
    pub fn delivered(&self) -> u64 {
        self.0.as_connection().map_or(0, Connection::received)
    }
    /// Whether the sender has closed: nothing more will come.
    pub fn is_complete(&self) -> bool {
        self.0.as_connection().is_some_and(|connection| connection.state() >= State::TimeWait)
    }
}
