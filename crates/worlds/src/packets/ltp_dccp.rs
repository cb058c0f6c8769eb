//! Both ends of a flow over LTP in DCCP (RFC 7122, section 3.3): each segment is the data of one packet of DCCP.
//!
//! DCCP controls congestion, LTP repairs. The engine of LTP has neither a rate nor a window: it gives a segment
//! when the connection has sent the one before, so that its timers start when segments leave (RFC 5326, section 6.2).
//! A connection that ends early is opened again.

use super::{Source, ltp};
use lightlag_protocols::controllers::{Ack, Controller, Factory, Flow, Loss};
use lightlag_protocols::record::Observation;
use lightlag_protocols::time::Instant;
use lightlag_protocols::transport::ltp::{Config, Segment};
use lightlag_protocols::transport::{Machine, dccp, tcp};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::dccp::Kind;
use lightlag_protocols::wire::ltp::Packet;

/// Seals the cookies of a simulated listener, where no host guesses them.
const KEY: [u8; 32] = [0; 32];

/// Segments that wait in a connection. At 10 kbit/s 64 take over a minute, in which timers of LTP expire.
const WAITING: usize = 1;

/// What a flow sends, and in which blocks.
pub struct Blocks {
    /// Bytes of a block.
    pub size: Bytes,
    /// Of the flow.
    pub source: Source,
    /// Bytes of a source that does not end.
    pub most: Bytes,
}

/// The sending end. It opens the connection, and closes it when all blocks have arrived.
pub struct Sender {
    ltp: ltp::Sender,
    connection: dccp::Connection,
    config: dccp::Config,
    controller: (Factory, Flow),
    /// Of connections that have ended.
    before: dccp::Counts,
    /// What the contact plan said last.
    planned: Option<BitRate>,
}

impl Sender {
    /// Has sent nothing.
    pub fn new(ltp: Config, dccp: dccp::Config, controller: (Factory, Flow), blocks: Blocks) -> Self {
        let config = carrying_ltp(dccp);
        let engine = Config { segment: ltp.segment.min(config.segment().0), ..ltp };
        let unlimited = Box::new(Unlimited);
        let ltp = ltp::Sender::new(engine, unlimited, blocks.size, blocks.source, blocks.most);
        Self {
            ltp: ltp.numbering_blocks(),
            connection: dccp::Connection::connect(config, controller.0.build(controller.1)),
            config,
            controller,
            before: dccp::Counts::default(),
            planned: None,
        }
    }
    /// A packet has arrived.
    pub fn handle(&mut self, now: Instant, packet: dccp::Packet) {
        self.connection.handle(now, packet);
        while let Some(data) = self.connection.receive() {
            // Only ends of this flow write segments, and no link damages them.
            if let Ok(read) = Packet::read(&data) {
                self.ltp.handle(now, &read.segment);
            }
        }
    }
    /// The next packet.
    pub fn poll(&mut self, now: Instant) -> Option<dccp::Packet> {
        while takes_data(&self.connection)
            && let Some((segment, _)) = self.ltp.poll(now)
        {
            give(&mut self.connection, &segment);
        }
        if self.ltp.is_complete() {
            self.connection.close();
        }
        let packet = self.connection.poll(now);
        if packet.is_some() || self.ltp.is_complete() || !has_ended(&self.connection) {
            return packet;
        }
        self.connect_again(now);
        self.connection.poll(now)
    }
    fn connect_again(&mut self, now: Instant) {
        self.before = self.counts_of_dccp();
        self.config.initial = lightlag_protocols::rng::mix(self.config.initial);
        let controller = self.controller.0.build(self.controller.1);
        self.connection = dccp::Connection::connect(self.config, controller);
        if let Some(rate) = self.planned {
            self.connection.plan(now, rate);
        }
    }
    /// When to poll though nothing arrives.
    pub fn deadline(&self) -> Option<Instant> {
        let ltp = self.ltp.deadline().filter(|_| takes_data(&self.connection));
        [self.connection.deadline(), ltp].into_iter().flatten().min()
    }
    /// The contact plan has this rate from now on.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        self.planned = Some(rate);
        self.connection.plan(now, rate);
        self.ltp.turn_link(now, rate > BitRate(0));
    }
    /// Whether all blocks have arrived.
    pub fn is_complete(&self) -> bool {
        self.ltp.is_complete()
    }
    /// Segments of LTP with data and repairs among them; expiries of the timers of both; responses of the controller of DCCP.
    pub fn counts(&self) -> tcp::Counts {
        let (ltp, dccp) = (self.ltp.counts(), self.counts_of_dccp());
        tcp::Counts {
            sent: ltp.sent,
            repairs: ltp.repairs,
            timeouts: ltp.timeouts + dccp.timeouts,
            episodes: dccp.episodes,
            ..tcp::Counts::default()
        }
    }
    fn counts_of_dccp(&self) -> dccp::Counts {
        let (before, now) = (self.before, self.connection.counts());
        let (timeouts, episodes) = (before.timeouts + now.timeouts, before.episodes + now.episodes);
        dccp::Counts { timeouts, episodes, ..now }
    }
    /// What plots see: the controller and the window of DCCP.
    pub fn observe(&self, seen: &mut Observation) {
        self.connection.observe(seen);
    }
}

/// The receiving end. Its reports leave under CCID 2, as those of listeners on real sockets.
pub struct Receiver {
    ltp: ltp::Receiver,
    passive: dccp::Passive,
    config: dccp::Config,
}

impl Receiver {
    /// Listens. `ltp` is of this end, `dccp` of the sending one.
    pub fn new(ltp: Config, dccp: &dccp::Config, block: Bytes, source: Source) -> Self {
        let config = dccp::Config { ccid: dccp::Ccid::Two, ..carrying_ltp(dccp.mirrored()) };
        let engine = Config { segment: ltp.segment.min(config.segment().0), ..ltp };
        let ltp = ltp::Receiver::new(engine, Box::new(Unlimited), source).numbered(block);
        Self { ltp, passive: listening(config), config }
    }
    /// A packet has arrived.
    pub fn handle(&mut self, now: Instant, packet: dccp::Packet) {
        if self.passive.as_connection().is_some_and(has_ended) && packet.header.kind() == Kind::Request {
            self.config.initial = lightlag_protocols::rng::mix(self.config.initial);
            self.passive = listening(self.config);
        }
        self.passive.handle(now, packet);
        let Some(connection) = self.passive.connection() else { return };
        while let Some(data) = connection.receive() {
            // As at the sending end.
            if let Ok(read) = Packet::read(&data) {
                self.ltp.handle(now, &read.segment, 0);
            }
        }
    }
    /// The next packet.
    pub fn poll(&mut self, now: Instant) -> Option<dccp::Packet> {
        if let Some(connection) = self.passive.connection() {
            while takes_data(connection)
                && let Some(segment) = self.ltp.poll(now)
            {
                give(connection, &segment);
            }
        }
        self.passive.poll(now)
    }
    /// When to poll though nothing arrives.
    pub fn deadline(&self) -> Option<Instant> {
        let ltp = self.ltp.deadline().filter(|_| self.passive.as_connection().is_some_and(takes_data));
        [self.passive.deadline(), ltp].into_iter().flatten().min()
    }
    /// The contact plan has this rate from the sender from now on.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        self.ltp.plan(now, rate);
    }
    /// Bytes of the stream that have arrived in order.
    pub fn delivered(&self) -> u64 {
        self.ltp.delivered()
    }
    /// Whether all have.
    pub fn is_complete(&self) -> bool {
        self.ltp.is_complete()
    }
}

fn carrying_ltp(config: dccp::Config) -> dccp::Config {
    dccp::Config { service: dccp::SERVICE_LTP, queue: WAITING, ..config }
}

/// A listener for LTP whose connections send reports.
fn listening(config: dccp::Config) -> dccp::Passive {
    let controller = Factory::resolve("ccid2", &Default::default()).expect("it is in the table");
    dccp::Passive::new(dccp::Listener::new(config, vec![config.service], KEY, controller))
}

fn has_ended(connection: &dccp::Connection) -> bool {
    connection.state() >= dccp::State::TimeWait
}

/// Whether a segment of LTP may be given to it: what is given before it is open would only grow old.
fn takes_data(connection: &dccp::Connection) -> bool {
    matches!(connection.state(), dccp::State::PartOpen | dccp::State::Open) && connection.room() > 0
}

/// Sends a segment, whose data are zeros.
fn give(connection: &mut dccp::Connection, segment: &Segment) {
    let mut bytes = Vec::with_capacity(segment.size() as usize);
    segment.write_head(&mut bytes);
    bytes.resize(segment.size() as usize, 0);
    // There is room, and segments fit into packets.
    let _ = connection.send(bytes.into());
}

/// The controller of an engine that DCCP controls: neither a window nor a rate.
struct Unlimited;

impl Controller for Unlimited {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn window(&self) -> Bytes {
        Bytes::MAX
    }
}
