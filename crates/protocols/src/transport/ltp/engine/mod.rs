//! One end of a link: its sessions, the next segment to send, and timers.

mod arriving;
mod leaving;
mod probing;
mod waiting;

use super::alarms::{Alarms, Direction};
use super::copies::Copies;
use super::export::{Export, first_serial};
use super::import::Import;
use super::pace::Pace;
use super::{Checkpoints, Config, Counts, End, Event, Reason, Refusal, Segment, SessionId, Unsendable};
use crate::controllers::{Controller, ControllerEvent};
use crate::record::Observation;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::transport::Machine;
use crate::transport::ranges::Ranges;
use crate::transport::rto::{Rto, Timers};
use crate::units::{BitRate, Bytes};
use std::collections::{BTreeMap, VecDeque};

/// Segments queued ahead of all data.
#[derive(Clone, Debug)]
enum Waiting {
    /// An acknowledgement.
    Answer(Segment),
    /// A checkpoint once more.
    Checkpoint(u64, u64),
    /// A report.
    Report(u64, u64),
    /// A cancellation of a session of our own, or of the peer.
    Cancel(End, u64),
    /// A cancellation of a session that was never used.
    Probe(u64),
}

/// One end of a link.
pub struct Engine {
    config: Config,
    pace: Pace,
    copies: Copies,
    alarms: Alarms,
    rto: Rto,
    light: Option<Duration>,
    exports: BTreeMap<u64, Export>,
    imports: BTreeMap<u64, Import>,
    /// Closed sessions of the peer.
    closed: Ranges,
    next_session: u64,
    waiting: VecDeque<Waiting>,
    answers: usize,
    /// Sessions with repairs, and with data that have not left yet, in the order in which they may send.
    repairing: VecDeque<u64>,
    fresh: VecDeque<u64>,
    events: VecDeque<Event>,
    refusals: BTreeMap<Refusal, u64>,
    counts: Counts,
    pieces: usize,
    reports: usize,
    /// Checkpoints of all sessions whose reports have not come.
    asking: usize,
    probes: probing::Probes,
    /// When the rate lets the next segment of data leave, if nothing else keeps it.
    waits_until: Option<Instant>,
    draws: Stream,
}

/// Tries after which the wait for an answer is doubled each time: the peer may be far away.
const TRIES_ALIKE: u32 = 2;
/// Where a checkpoint sent again costs a whole report, a report is waited for as long as the peer takes to repeat a lost one by
/// itself: another round trip, up to this, and what its timers add, which may count in seconds.
const REPEATED_WITHIN: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(3);
/// More doublings change nothing.
const DOUBLINGS_MOST: u32 = 6;
/// Longest block.
const BLOCK_MOST: u64 = 1 << 62;

impl Engine {
    /// With no session.
    pub fn new(config: Config, controller: Box<dyn Controller>) -> Self {
        let mut draws = Stream::new(config.seed, "ltp", config.engine);
        let rto = Timers {
            first: config.first_wait,
            margin: config.margin,
            least: Duration::ZERO,
            most: Duration::MAX,
        };
        Self {
            pace: Pace::new(controller, config.slack, config.checkpoints == Checkpoints::AtEnds),
            copies: Copies::new(config.slack),
            alarms: Alarms::default(),
            rto: Rto::new(rto),
            light: config.light,
            exports: BTreeMap::new(),
            imports: BTreeMap::new(),
            closed: Ranges::default(),
            // Four bytes on the wire, and far from where it would wrap.
            next_session: 1 + draws.below(1 << 27),
            waiting: VecDeque::new(),
            answers: 0,
            repairing: VecDeque::new(),
            fresh: VecDeque::new(),
            events: VecDeque::new(),
            refusals: BTreeMap::new(),
            counts: Counts::default(),
            pieces: 0,
            reports: 0,
            asking: 0,
            probes: probing::Probes::default(),
            waits_until: None,
            draws,
            config,
        }
    }
    /// Sends a block of `red` bytes and `green` bytes behind them to a client service; returns the session.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn send(&mut self, service: u64, red: u64, green: u64) -> Result<SessionId, Unsendable> {
        let total = red.checked_add(green).filter(|total| *total <= BLOCK_MOST).ok_or(Unsendable::TooLong)?;
        if total == 0 {
            return Err(Unsendable::Empty);
        }
        if self.exports.len() >= self.config.quotas.exports {
            return Err(Unsendable::Busy);
        }
        let id = SessionId { originator: self.config.engine, number: self.next_session };
        let serial = first_serial(&mut self.draws);
        let export =
            Export::new(id, service, [red, green], serial, &self.config).ok_or(Unsendable::NoRoom)?;
        self.next_session += 1;
        self.exports.insert(id.number, export);
        self.fresh.push_back(id.number);
        Ok(id)
    }
    /// The engine of this number is the peer from now on, unless it is this one or the peer so far has sessions open.
    pub fn meet(&mut self, peer: u64) {
        if peer != self.config.engine && peer != self.config.peer && self.imports.is_empty() {
            self.config.peer = peer;
            self.closed.clear();
        }
    }
    /// Cancels a session (section 6.19); returns whether there was one.
    pub fn cancel(&mut self, session: SessionId, reason: Reason) -> bool {
        if session.originator == self.config.engine {
            self.cancel_export(session.number, reason)
        } else {
            session.originator == self.config.peer && self.cancel_import(session.number, reason)
        }
    }
    /// A direction of the link is up from now on. The link is up until something else is said.
    pub fn link_up(&mut self, now: Instant, way: Direction) {
        self.alarms.turn(now, way, true);
    }
    /// A direction of the link is down from now on: nothing leaves while ours is, and all timers stand
    /// still while either is.
    pub fn link_down(&mut self, now: Instant, way: Direction) {
        self.alarms.turn(now, way, false);
    }
    /// What the contact plan says of the rate from now on; zero: no contact.
    pub fn on_plan(&mut self, now: Instant, rate: BitRate) {
        self.alarms.turn(now, Direction::Out, rate > BitRate(0));
        self.pace.controller.on_event(now, &ControllerEvent::Plan(rate));
    }
    /// The light-time round trip from now on.
    pub fn on_light(&mut self, round_trip: Duration) {
        self.light = Some(round_trip);
    }
    /// The next event for clients; call it after every received segment and every poll, until it returns
    /// `None`.
    pub fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    /// Whether some block of its own has not left whole yet.
    pub fn has_unsent(&self) -> bool {
        let has_left = |number: &u64| self.exports.get(number).is_none_or(Export::has_left);
        !self.fresh.iter().all(has_left)
    }
    /// Sessions that are open: our own, and the peer's.
    pub fn sessions(&self) -> (usize, usize) {
        (self.exports.len(), self.imports.len())
    }
    /// Red bytes of a block of our own that are there; none when the session is closed.
    pub fn acked(&self, session: SessionId) -> Option<Bytes> {
        self.exports.get(&session.number).filter(|export| export.id == session).map(|one| Bytes(one.acked()))
    }
    /// Red bytes in flight.
    pub fn in_flight(&self) -> Bytes {
        Bytes(self.pace.in_flight)
    }
    /// The smoothed round trip from a checkpoint to its report.
    pub fn rtt(&self) -> Option<Duration> {
        self.rto.smoothed()
    }
    /// What it has done.
    pub fn counts(&self) -> Counts {
        Counts { episodes: self.pace.episodes, ..self.counts }
    }
    /// How often segments were refused, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (Refusal, u64)> + '_ {
        self.refusals.iter().map(|(refusal, count)| (*refusal, *count))
    }
    /// What plots and traces can see.
    pub fn observe(&self, seen: &mut Observation) {
        self.pace.controller.observe(seen);
        seen.push(("in_flight", self.pace.in_flight as f64));
        seen.push(("sessions", (self.exports.len() + self.imports.len()) as f64));
    }
    /// How long an answer takes, if that is known.
    fn round_trip(&self) -> Option<Duration> {
        self.light.max(self.rto.smoothed())
    }
    /// How long to wait for the report on a checkpoint of a session of our own that was sent `tries` times.
    fn wait_for_report(&self, number: u64, tries: u32) -> Duration {
        let (wait, once) = (self.wait(tries), self.wait(1));
        // What is one segment is all there or not at all: no report on it is one too many.
        let is_single = self.exports.get(&number).is_some_and(Export::is_single);
        match self.config.checkpoints {
            Checkpoints::AtEnds if !is_single => {
                wait.saturating_add(once.min(REPEATED_WITHIN)).saturating_add(PATIENCE)
            }
            _ => wait,
        }
    }
    /// How long to wait for an answer to what was sent `tries` times.
    fn wait(&self, tries: u32) -> Duration {
        let planned = self.light.map(|light| light.saturating_add(self.config.margin));
        let measured = self.rto.smoothed().map(|_| self.rto.span());
        let span = planned.max(measured).unwrap_or(self.config.first_wait);
        let doublings = tries.saturating_sub(TRIES_ALIKE).min(DOUBLINGS_MOST);
        Duration::from_nanos(span.as_nanos().saturating_mul(1 << doublings))
    }
}

impl Machine for Engine {
    type Input = Segment;
    type Output = Segment;

    fn handle(&mut self, now: Instant, segment: Segment) {
        // Why it changes nothing is counted.
        let _ = self.receive(now, &segment);
    }
    fn poll(&mut self, now: Instant) -> Option<Segment> {
        while let Some(alarm) = self.alarms.take(now) {
            self.on_alarm(now, alarm);
        }
        if self.pace.controller.deadline().is_some_and(|at| at <= now) {
            self.pace.controller.on_event(now, &ControllerEvent::Deadline);
        }
        if !self.alarms.is_up(Direction::Out) {
            return None;
        }
        let waiting = self.poll_waiting(now);
        waiting.or_else(|| self.poll_data(now))
    }
    fn deadline(&self) -> Option<Instant> {
        let paced = self.waits_until.filter(|_| self.alarms.is_up(Direction::Out));
        [self.alarms.next(), self.pace.controller.deadline(), paced].into_iter().flatten().min()
    }
}
