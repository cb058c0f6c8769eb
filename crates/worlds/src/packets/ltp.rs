//! A flow carried by LTP: a stream cut into blocks, one session each.

use super::Source;
use lightlag_protocols::controllers::Controller;
use lightlag_protocols::time::Instant;
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ltp::{Config, Counts, Direction, Engine, Event, Segment, SessionId};
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::units::{BitRate, Bytes};
use std::collections::BTreeMap;

/// The client service that the blocks are for.
const SERVICE: u64 = 1;
/// That of the first block, where they are numbered: beyond those that are registered (RFC 7116), as tools read the blocks of these.
const NUMBERED: u64 = 64;

/// The sending end.
pub struct Sender {
    engine: Engine,
    length: u64,
    block: u64,
    /// The stream up to here is in blocks.
    cut: u64,
    /// Where the block of a session begins, and how long it is.
    blocks: BTreeMap<SessionId, (u64, u64)>,
    /// Blocks whose sessions were given up.
    again: Vec<(u64, u64)>,
    /// Each block is for a client service of its own, counted from [`NUMBERED`].
    numbers_blocks: bool,
}

impl Sender {
    /// Of a source that ends, or does not before `most` bytes.
    pub fn new(
        config: Config,
        controller: Box<dyn Controller>,
        block: Bytes,
        source: Source,
        most: Bytes,
    ) -> Self {
        let length = if let Source::File(size) = source { size.0 } else { most.0 };
        Self {
            engine: Engine::new(config, controller),
            length,
            block: block.0.max(1),
            cut: 0,
            blocks: BTreeMap::new(),
            again: Vec::new(),
            numbers_blocks: false,
        }
    }
    /// The number of the client service says which block of the stream it is: for transports that carry segments
    /// as bytes, without the place of their block beside them.
    #[must_use]
    pub fn numbering_blocks(self) -> Self {
        Self { numbers_blocks: true, ..self }
    }
    /// The next block, when all of those before has left.
    fn offer_block(&mut self) {
        if self.engine.has_unsent() {
            return;
        }
        let fresh = (self.cut, self.block.min(self.length - self.cut));
        let (start, length) = self.again.pop().unwrap_or(fresh);
        let service = if self.numbers_blocks { NUMBERED + start / self.block } else { SERVICE };
        if length > 0
            && let Ok(session) = self.engine.send(service, length, 0)
        {
            self.blocks.insert(session, (start, length));
            self.cut = self.cut.max(start + length);
        }
    }
    fn read_events(&mut self) {
        while let Some(event) = self.engine.take_event() {
            match event {
                Event::Sent(session) => drop(self.blocks.remove(&session)),
                Event::Cancelled { session, .. } => self.again.extend(self.blocks.remove(&session)),
                _ => {}
            }
        }
    }
    /// Something came.
    pub fn handle(&mut self, now: Instant, segment: &Segment) {
        // What is refused is counted there.
        let _ = self.engine.receive(now, segment);
        self.read_events();
    }
    /// The next thing to send, and where its block begins in the stream.
    pub fn poll(&mut self, now: Instant) -> Option<(Segment, u64)> {
        self.offer_block();
        let segment = self.engine.poll(now)?;
        let start = self.blocks.get(&segment.session).map_or(0, |block| block.0);
        self.read_events();
        Some((segment, start))
    }
    /// When to poll though nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        self.engine.deadline()
    }
    /// What the plan says of the rate from now on.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        self.engine.on_plan(now, rate);
    }
    /// The plan says whether anything can leave, where something else than a controller of LTP follows its rate.
    pub fn turn_link(&mut self, now: Instant, up: bool) {
        match up {
            true => self.engine.link_up(now, Direction::Out),
            false => self.engine.link_down(now, Direction::Out),
        }
    }
    /// Whether all is there.
    pub fn is_complete(&self) -> bool {
        self.cut == self.length && self.blocks.is_empty() && self.again.is_empty()
    }
    /// What it has done.
    pub fn counts(&self) -> Counts {
        self.engine.counts()
    }
    /// Its engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

/// The receiving end.
pub struct Receiver {
    engine: Engine,
    length: Option<u64>,
    stream: Ranges,
    /// Bytes of a block, where the client service says which block it is.
    block: Option<u64>,
}

impl Receiver {
    /// Of the flow of a source.
    pub fn new(config: Config, controller: Box<dyn Controller>, source: Source) -> Self {
        let length = if let Source::File(size) = source { Some(size.0) } else { None };
        Self { engine: Engine::new(config, controller), length, stream: Ranges::default(), block: None }
    }
    /// From a sender that numbers its blocks of this size ([`Sender::numbering_blocks`]).
    #[must_use]
    pub fn numbered(self, block: Bytes) -> Self {
        Self { block: Some(block.0.max(1)), ..self }
    }
    /// A segment came of a block that begins at `start` in the stream, unless blocks are numbered.
    pub fn handle(&mut self, now: Instant, segment: &Segment, start: u64) {
        // What is refused is counted there.
        let _ = self.engine.receive(now, segment);
        while let Some(event) = self.engine.take_event() {
            if let Event::Arrived { service, from, to, .. } = event {
                let numbered = self.block.map(|block| service.saturating_sub(NUMBERED).saturating_mul(block));
                let start = numbered.unwrap_or(start);
                self.stream.insert(start + from, start + to);
            }
        }
    }
    /// The next thing to send.
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        self.engine.poll(now)
    }
    /// When to poll though nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        self.engine.deadline()
    }
    /// The plan says whether anything can come.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        match rate {
            BitRate(0) => self.engine.link_down(now, Direction::In),
            _ => self.engine.link_up(now, Direction::In),
        }
    }
    /// Bytes in order.
    pub fn delivered(&self) -> u64 {
        self.stream.around(0).map_or(0, |range| range.1)
    }
    /// Whether all is here.
    pub fn is_complete(&self) -> bool {
        self.length == Some(self.delivered())
    }
}
