//! Two engines, and a line between them that loses, repeats and mixes up what it carries, or carries
//! nothing for a while. Segments cross it as bytes.

use lightlag_protocols::controllers::{self, Flow};
use lightlag_protocols::parameter::{Parameters, Value};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ltp::{Config, Content, Data, Direction, Engine, Event, SessionId};
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::ltp::Packet;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

pub fn ms(n: i64) -> Duration {
    Duration::from_nanos(n * 1_000_000)
}

pub fn controller(
    name: &str,
    given: &[(&str, f64)],
    planned: Option<BitRate>,
) -> Box<dyn controllers::Controller> {
    let entry = controllers::find(name).expect("a controller of the table");
    let given: BTreeMap<String, Value> =
        given.iter().map(|(name, number)| ((*name).to_owned(), Value::Number(*number))).collect();
    let parameters =
        Parameters::resolve(name, entry.algorithm.parameters, &given).expect("parameters are in range");
    let (segment, packet) = (Bytes(1400), Bytes(1500));
    let flow = Flow { segment, packet, planned_rate: planned, planned_round_trip: None, seed: 1, index: 0 };
    entry.build(&parameters, flow)
}

/// The byte of a block at an offset.
pub fn byte(session: SessionId, offset: u64) -> u8 {
    (offset.wrapping_add(session.number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// What a line does to what it carries.
#[derive(Clone, Debug)]
pub struct Habits {
    pub delay: Duration,
    pub loss: f64,
    pub repeats: f64,
    /// The most by which a segment is later than others.
    pub mixes: Duration,
    /// Nothing passes in these times, in either direction; both engines see the link go down and up.
    pub outages: Vec<(Instant, Instant)>,
}

impl Habits {
    pub fn clean(delay: Duration) -> Self {
        Self { delay, loss: 0.0, repeats: 0.0, mixes: Duration::ZERO, outages: Vec::new() }
    }
}

/// What has become of blocks at one end.
#[derive(Default)]
pub struct Seen {
    pub here: BTreeMap<SessionId, Ranges>,
    pub red: BTreeMap<SessionId, u64>,
    pub sent: Vec<SessionId>,
    pub closed: Vec<SessionId>,
    pub cancelled: Vec<Event>,
}

/// When it comes, which it is, to which end, and its bytes.
type Passing = (Instant, u64, usize, Vec<u8>);

/// A checkpoint: its serial number, the report that it answers, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub serial: u64,
    pub report: u64,
    pub end: u64,
    pub ends_red: bool,
}

pub struct Line {
    pub engines: [Engine; 2],
    pub seen: [Seen; 2],
    pub now: Instant,
    pub carried: u64,
    /// Checkpoints that have come to the second engine, each as often as it came.
    pub asked: BTreeMap<SessionId, Vec<Asked>>,
    /// Segments of data that ask for nothing and left again before any report could cover them.
    pub unasked_copies: u64,
    left_at: BTreeMap<(SessionId, u64), Instant>,
    habits: Habits,
    draws: Stream,
    way: BinaryHeap<Reverse<Passing>>,
}

impl Line {
    pub fn new(config: &Config, sender: Box<dyn controllers::Controller>, habits: Habits, seed: u64) -> Self {
        let config = Config { seed, ..config.clone() };
        let receiver = Engine::new(config.mirrored(), controller("fixed", &[], None));
        Self {
            engines: [Engine::new(config, sender), receiver],
            seen: [Seen::default(), Seen::default()],
            now: Instant::ZERO,
            carried: 0,
            asked: BTreeMap::new(),
            unasked_copies: 0,
            left_at: BTreeMap::new(),
            habits,
            draws: Stream::new(seed, "line", 0),
            way: BinaryHeap::new(),
        }
    }
    /// The second engine forgets everything, and what it had sent does not arrive; gives what it had received.
    pub fn restart(&mut self, config: &Config, seed: u64) -> Seen {
        let config = Config { seed, ..config.mirrored() };
        self.engines[1] = Engine::new(config, controller("fixed", &[], None));
        self.way.retain(|Reverse((_, _, to, _))| *to == 1);
        std::mem::take(&mut self.seen[1])
    }
    fn is_out(&self, at: Instant) -> bool {
        self.habits.outages.iter().any(|(from, to)| *from <= at && at < *to)
    }
    fn carry(&mut self, to: usize, bytes: &[u8]) {
        self.carried += 1;
        if self.is_out(self.now) || self.draws.unit() < self.habits.loss {
            return;
        }
        let copies = 1 + u64::from(self.draws.unit() < self.habits.repeats);
        for copy in 0..copies {
            let later = (self.habits.mixes.as_nanos() as f64 * self.draws.unit()) as i64;
            let at = self.now + self.habits.delay + Duration::from_nanos(later);
            if !self.is_out(at) {
                self.way.push(Reverse((at, self.carried * 2 + copy, to, bytes.to_vec())));
            }
        }
    }
    fn note_copy(&mut self, session: SessionId, data: &Data) {
        let before = self.left_at.insert((session, data.offset), self.now);
        let is_copy = before.is_some_and(|at| self.now - at < self.habits.delay * 2);
        self.unasked_copies += u64::from(is_copy && data.checkpoint().is_none());
    }
    fn drain(&mut self, end: usize) {
        let mut bytes = Vec::new();
        while let Some(segment) = self.engines[end].poll(self.now) {
            bytes.clear();
            segment.write_head(&mut bytes);
            if let Content::Data(data) = segment.content {
                self.note_copy(segment.session, &data);
                bytes.extend((data.offset..data.end()).map(|at| byte(segment.session, at)));
            }
            self.carry(1 - end, &bytes);
            self.note(end, &[], 0);
        }
        self.note(end, &[], 0);
    }
    /// Records the events of an engine, and compares received data with what they must be.
    fn note(&mut self, end: usize, data: &[u8], offset: u64) {
        while let Some(event) = self.engines[end].take_event() {
            let seen = &mut self.seen[end];
            match event {
                Event::Arrived { session, from, to, .. } => {
                    let part = &data[(from - offset) as usize..(to - offset) as usize];
                    assert!(part.iter().zip(from..to).all(|(got, at)| *got == byte(session, at)));
                    let new = seen.here.entry(session).or_default().insert(from, to);
                    assert_eq!(new, to - from, "no byte comes twice");
                }
                Event::RedPart { session, length, .. } => {
                    assert_eq!(seen.here[&session].within(0, length), length);
                    assert_eq!(seen.red.insert(session, length), None, "it is reported once");
                }
                Event::Sent(session) => seen.sent.push(session),
                Event::Closed(session) => seen.closed.push(session),
                Event::Transmitted(_) => {}
                Event::Cancelled { .. } => seen.cancelled.push(event),
            }
        }
    }
    /// Runs both engines until `until`.
    pub fn run(&mut self, until: Instant) {
        loop {
            self.tell_outages();
            [0, 1].into_iter().for_each(|end| self.drain(end));
            let came = self.way.peek().map(|Reverse(first)| first.0);
            let turn =
                self.habits.outages.iter().flat_map(|(from, to)| [*from, *to]).filter(|at| *at > self.now);
            let next = [came, self.engines[0].deadline(), self.engines[1].deadline(), turn.min()];
            let next = next.into_iter().flatten().min().unwrap_or(Instant::MAX).max(self.now);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            while self.way.peek().is_some_and(|Reverse(first)| first.0 <= self.now) {
                let Some(Reverse((_, _, to, bytes))) = self.way.pop() else { break };
                self.deliver(to, &bytes);
            }
        }
    }
    pub fn deliver(&mut self, to: usize, bytes: &[u8]) {
        let packet = Packet::read(bytes).expect("what an engine says can be read");
        let offset = if let Content::Data(data) = packet.segment.content { data.offset } else { 0 };
        if let (Content::Data(data), 1) = (&packet.segment.content, to)
            && let Some(checkpoint) = data.checkpoint()
        {
            let (serial, report, end) = (checkpoint.serial, checkpoint.report, data.end());
            let asked = Asked { serial, report, end, ends_red: data.ends_red() };
            self.asked.entry(packet.segment.session).or_default().push(asked);
        }
        let _ = self.engines[to].receive(self.now, &packet.segment);
        self.note(to, packet.data, offset);
    }
    fn tell_outages(&mut self) {
        let out = self.is_out(self.now);
        for engine in &mut self.engines {
            for way in [Direction::Out, Direction::In] {
                if out { engine.link_down(self.now, way) } else { engine.link_up(self.now, way) }
            }
        }
    }
    /// Whether neither end has a session left.
    pub fn is_still(&self) -> bool {
        self.engines.iter().all(|engine| engine.sessions() == (0, 0))
    }
}
