//! Requests, answered without keeping state (RFC 4340, section 8.1.4).
//!
//! An Init Cookie is the request itself, sealed: the time of the answer, its number, service and options, and
//! an HMAC-SHA-256 of them and of the sender's address. A client that returns a cookie has received the
//! answer, and the connection is built as if it had been kept since.

use super::connection::Connection;
use super::{Ccid, Config, Ecn, Packet};
use crate::controllers::{Ack, Controller, Factory, Flow, Loss};
use crate::time::Instant;
use crate::transport::Machine;
use crate::units::Bytes;
use crate::wire::dccp::{Body, Header, Item, Kind, Options, ResetCode, Sequence};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of the seal of a cookie.
const SEAL_BYTES: usize = 16;
/// Bytes of a cookie without options: time, number, service.
const FIXED_BYTES: usize = 18;
/// Bytes of options that a request may have: what fits into a cookie.
const OPTIONS_MAX: usize = 253 - FIXED_BYTES - SEAL_BYTES;

/// No service may be known by this (section 8.1.2).
const NO_SERVICE: u32 = u32::MAX;

/// What is done with a packet that belongs to no connection.
pub enum Answer {
    /// Nothing.
    Nothing,
    /// Send this back.
    Reply(Packet),
    /// A connection has begun: poll it.
    Open(Box<Connection>),
}

/// Listens at a port.
pub struct Listener {
    config: Config,
    services: Vec<u32>,
    key: [u8; 32],
    /// Of the data that a new connection sends.
    controller: Factory,
}

impl Listener {
    /// For requests of these services. `key` must be secret and newly drawn at each start.
    pub fn new(config: Config, services: Vec<u32>, key: [u8; 32], controller: Factory) -> Self {
        Self { config, services, key, controller }
    }
    /// One whose connections send no data: they only receive.
    pub fn silent(config: Config, services: Vec<u32>, key: [u8; 32]) -> Self {
        let config = Config { ccid: Ccid::Two, ..config };
        Self::new(config, services, key, Factory::new("silent", |flow| Box::new(Silent(flow.segment))))
    }
    /// Answers a packet from a host without a connection; `peer` is its address in bytes.
    pub fn answer(&self, now: Instant, peer: &[u8], packet: Packet) -> Answer {
        if packet.header.destination != self.config.ports[0] {
            let asks = packet.header.kind() == Kind::Request;
            return refusal(
                &packet,
                if asks { ResetCode::ConnectionRefused } else { ResetCode::NoConnection },
            );
        }
        match packet.header.body {
            Body::Request { service } if service != NO_SERVICE && self.services.contains(&service) => {
                self.respond(now, peer, &packet)
            }
            Body::Request { .. } => refusal(&packet, ResetCode::BadServiceCode),
            // Whatever shows a cookie (section 8.5, step 3).
            Body::Ack { .. }
            | Body::DataAck { .. }
            | Body::Close { .. }
            | Body::Sync { .. }
            | Body::SyncAck { .. } => match self.unseal(now, peer, &packet) {
                Ok(mut connection) => {
                    connection.handle(now, packet);
                    Answer::Open(connection)
                }
                Err(code) => refusal(&packet, code),
            },
            Body::Reset { .. } => Answer::Nothing,
            _ => refusal(&packet, ResetCode::NoConnection),
        }
    }
    fn seal(&self, what: &str, peer: &[u8], ports: [u16; 2], text: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(what.as_bytes());
        mac.update(&(peer.len() as u64).to_be_bytes());
        mac.update(peer);
        ports.iter().for_each(|port| mac.update(&port.to_be_bytes()));
        mac.update(text);
        mac
    }
    /// The first number of an answer: the same to every try of one request, later for later connections
    /// (RFC 4340, section 7.2; RFC 6528).
    fn initial(&self, at: Instant, peer: &[u8], ports: [u16; 2]) -> u64 {
        let tag = self.seal("number", peer, ports, &[]).finalize().into_bytes();
        let fixed = tag.iter().take(6).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let lives = at.as_nanos() / (self.config.lifetime * 2).as_nanos().max(1);
        fixed.wrapping_add(lives.cast_unsigned() << 24)
    }
    fn build(&self) -> Box<dyn Controller> {
        self.controller.build(Flow::new(self.config.segment(), self.config.packet))
    }
    /// The connection right after it has answered a request.
    fn replay(&self, at: Instant, peer: &[u8], request: &Packet) -> (Box<Connection>, Option<Packet>) {
        let ports = [request.header.destination, request.header.source];
        let initial = self.initial(at, peer, ports);
        let Body::Request { service } = request.header.body else {
            return (Box::new(Connection::connect(self.config, self.build())), None);
        };
        let config = Config { ports, initial, service, ..self.config };
        let mut connection = Box::new(Connection::respond(config, self.build(), at, request));
        let response = connection.poll(at);
        (connection, response)
    }
    fn respond(&self, now: Instant, peer: &[u8], request: &Packet) -> Answer {
        let Body::Request { service } = request.header.body else { return Answer::Nothing };
        if request.options.len() > OPTIONS_MAX {
            return refusal(request, ResetCode::TooBusy);
        }
        let (_, response) = self.replay(now, peer, request);
        let Some(mut response) = response.filter(|response| response.header.kind() == Kind::Response) else {
            // The options of the request are not acceptable: the answer says why.
            return self.replay(now, peer, request).1.map_or(Answer::Nothing, Answer::Reply);
        };
        let mut cookie = now.as_nanos().to_be_bytes().to_vec();
        cookie.extend_from_slice(&request.header.sequence.get().to_be_bytes()[2..]);
        cookie.extend(service.to_be_bytes());
        cookie.extend_from_slice(&request.options);
        let ports = [request.header.destination, request.header.source];
        let tag = self.seal("cookie", peer, ports, &cookie).finalize().into_bytes();
        cookie.extend_from_slice(&tag[..SEAL_BYTES]);
        Item::InitCookie(&cookie).write(&mut response.options);
        crate::wire::dccp::pad(&mut response.options);
        Answer::Reply(response)
    }
    /// The connection that a cookie stands for.
    fn unseal(&self, now: Instant, peer: &[u8], packet: &Packet) -> Result<Box<Connection>, ResetCode> {
        let cookie = Options::new(&packet.options).map_while(Result::ok).find_map(|item| match item {
            Item::InitCookie(cookie) => Some(cookie),
            _ => None,
        });
        let cookie = cookie.ok_or(ResetCode::NoConnection)?;
        let ports = [packet.header.destination, packet.header.source];
        let length = cookie.len().checked_sub(SEAL_BYTES).ok_or(ResetCode::BadInitCookie)?;
        let (text, tag) = cookie.split_at(length);
        let seal = self.seal("cookie", peer, ports, text);
        seal.verify_truncated_left(tag).map_err(|_| ResetCode::BadInitCookie)?;
        let fixed: &[u8; FIXED_BYTES] = text.first_chunk().ok_or(ResetCode::BadInitCookie)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let at = Instant::from_nanos(number(&fixed[..8]).cast_signed());
        if now < at || now > at.saturating_add(self.config.cookie_life) {
            return Err(ResetCode::BadInitCookie);
        }
        let mut request = Packet { options: text[FIXED_BYTES..].to_vec(), data: [].into(), ..packet.clone() };
        request.header.sequence = Sequence::new(number(&fixed[8..14]));
        request.header.body = Body::Request { service: number(&fixed[14..]) as u32 };
        Ok(self.replay(at, peer, &request).0)
    }
}

/// Controls nothing, as nothing is sent.
struct Silent(Bytes);

impl Controller for Silent {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn window(&self) -> Bytes {
        self.0
    }
}

/// The Reset that answers a packet of no connection (section 8.3.1); none for a Reset.
pub fn refuse(packet: &Packet, code: ResetCode) -> Option<Packet> {
    let header = &packet.header;
    if header.kind() == Kind::Reset {
        return None;
    }
    let sequence = header.body.ack().map_or(Sequence::new(0), |ack| ack.plus(1));
    // Of a short number the upper 24 bits are zero, and stay so.
    let sequence = if header.short { Sequence::new(sequence.get() & 0xff_ffff) } else { sequence };
    let body = Body::Reset { ack: header.sequence, code, details: [0; 3] };
    let header = Header {
        source: header.destination,
        destination: header.source,
        ccval: 0,
        coverage: 0,
        short: false,
        sequence,
        body,
    };
    Some(Packet { header, options: Vec::new(), data: [].into(), ecn: Ecn::default() })
}

fn refusal(packet: &Packet, code: ResetCode) -> Answer {
    refuse(packet, code).map_or(Answer::Nothing, Answer::Reply)
}

/// A listener that takes one connection and then is it: the far end of a simulated flow.
pub struct Passive {
    listener: Listener,
    connection: Option<Box<Connection>>,
    reply: Option<Packet>,
}

impl Passive {
    /// Listens.
    pub fn new(listener: Listener) -> Self {
        Self { listener, connection: None, reply: None }
    }
    /// The connection, once there is one.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_deref_mut()
    }
    /// The same, to look at.
    pub fn as_connection(&self) -> Option<&Connection> {
        self.connection.as_deref()
    }
}

impl Machine for Passive {
    type Input = Packet;
    type Output = Packet;

    fn handle(&mut self, now: Instant, packet: Packet) {
        if let Some(connection) = &mut self.connection {
            return connection.handle(now, packet);
        }
        match self.listener.answer(now, &[], packet) {
            Answer::Nothing => {}
            Answer::Reply(reply) => self.reply = Some(reply),
            Answer::Open(connection) => self.connection = Some(connection),
        }
    }
    fn poll(&mut self, now: Instant) -> Option<Packet> {
        let reply = self.reply.take();
        reply.or_else(|| self.connection.as_mut()?.poll(now))
    }
    fn deadline(&self) -> Option<Instant> {
        self.connection.as_ref()?.deadline()
    }
}
