//! Short queue: fills the link and keeps at the bottleneck little more than what scatters on the way.
//!
//! Each flow keeps one packet and the square root of what it carries in `scatter` in the queue. Such a
//! window law has one equilibrium, in which flows of equal base delays share equally, whatever their
//! number and whatever the round trip (after Wei, Jin, Low and Hegde, "FAST TCP", IEEE/ACM ToN 14(6),
//! 2006, whose share of the queue is a constant). What it takes to see base delays as they are (one
//! history per site, drains, a test of whether the queue answers at all) is in the docs page.

use super::delay_history::unwrapped;
use super::{Ack, Cause, Controller, Flow, Loss};
use crate::math;
use crate::parameter::{self, Parameter, Parameters};
use crate::time::{Duration, Instant};
use crate::trace::Observation;
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// How the rest of the system knows it.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "short_queue",
    paper: "",
    parameters: &[
        Parameter::integer("initial_window", 10.0, (1.0, 1e6), "Segments that may leave at the start."),
        Parameter::number(
            "scatter",
            "s",
            0.01,
            (0.0001, 1.0),
            "The flow keeps a packet and the root of what it carries in this time in the queue.",
        ),
        Parameter::number(
            "drain_interval",
            "s",
            10.0,
            (0.5, 600.0),
            "The queue is given up for a round trip if it was not empty for so long.",
        ),
        Parameter::integer(
            "patience",
            10.0,
            (3.0, 1000.0),
            "Round trips of yielding in vain after which the other side is taken for one that never yields.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| Box::new(ShortQueue::new(parameters, &flow)),
};

/// Share of the distance to the equilibrium that is covered in a round trip.
const GAIN: f64 = 0.5;
/// Interests leave a little faster than the window lets, so that the window decides.
const PACING: f64 = 1.1;
/// In the start they leave as a train, at most so many times faster than the window lets, and than the
/// link was seen to be: what it is too fast for queues.
const START_PACING: f64 = 8.0;
const START_SURPLUS: f64 = 1.2;
/// Data in a train that is long enough to tell the rate of the link.
const TRAIN: usize = 16;
/// Delays of which the least ends the start, and half of those in which a jump is looked for.
const FILTER: usize = 8;
/// Segments per round trip that somebody adds who does not yield, or share of the queue in `patience`
/// of them where the rate of the link is underestimated.
const GROWN: f64 = 0.4;
const GROWN_SHARE: f64 = 0.1;
/// In each but the first of so many spans of `patience`.
const STAND_PARTS: u32 = 3;
/// Probes in a row that find no queue before the other side is taken to be gone; one, if nearly all of the
/// link is the flow's own.
const PROBES_EMPTY: u32 = 6;
/// A jump is seen in the queueing delay after so many round trips at most.
const JUMP_ROUNDS: u32 = 3;
/// Where more than so many times what is wanted stands, something is wrong.
const SUSPECT: f64 = 1.2;
/// Share of the window that is left after a loss.
const BETA: f64 = 0.7;
/// The queue is empty where the delay is so close to its base, in shares of `scatter`.
const EMPTY: f64 = 0.1;
/// Round trips from the end of the start to the first drain.
const FIRST_DRAIN: u32 = 3;
/// Sites whose base delays are remembered.
const SITES: usize = 8;
/// An Interest is lost if its Data is so much later than usual, or takes twice as long.
const TIMEOUT_MARGIN_S: f64 = 0.2;
/// In segments.
const WINDOW_MIN: f64 = 2.0;

/// The way from one site, in seconds.
struct Path {
    /// The site, and whether it stamps what it sends.
    key: (Option<u32>, bool),
    /// Stamps are compared with the first one.
    reference: Duration,
    /// The least delay and round trip of any Data.
    delay_min: f64,
    rtt_min: f64,
    /// The typical delay of a round trip with an empty queue.
    base: f64,
    /// When the queue was last seen empty.
    seen: Instant,
}

/// What was measured since the round trip began.
struct Round {
    began: Instant,
    /// When its first Data came.
    first: Instant,
    began_at: u64,
    ends_at: u64,
    /// Delays above the least of their paths.
    delays: Vec<f64>,
    rtt_sum: f64,
    rtts: f64,
    flight: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Doubles per round trip.
    Start,
    /// Towards the equilibrium.
    Steady,
    /// Gives the queue up for a round trip.
    Drain(Cut),
    /// The round trip in which the effect of that is seen.
    Settle(Option<Cut>),
    /// Has held the window for so many round trips to see whether the others yield.
    Stand { rounds: u32, queueing: f64 },
    /// The other side never yields: AIMD.
    Compete,
    /// After a loss in `Compete`: is anyone else in the queue? Then goes on with this window.
    Probe { rounds: u32, window: f64 },
}

impl Phase {
    /// For plots, in the order above.
    fn number(self) -> f64 {
        match self {
            Self::Start => 0.0,
            Self::Steady => 1.0,
            Self::Drain(_) => 2.0,
            Self::Settle(_) => 3.0,
            Self::Stand { .. } => 4.0,
            Self::Compete => 5.0,
            Self::Probe { .. } => 6.0,
        }
    }
}

/// What a drain gave up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    /// The window before, in segments.
    window: f64,
    by: f64,
    /// Queueing delay before.
    queueing: f64,
    /// Somebody else had begun.
    joined: bool,
}

struct ShortQueue {
    segment: f64,
    packet: f64,
    scatter: f64,
    interval: Duration,
    patience: u32,
    window: f64,
    phase: Phase,
    /// The one that was heard last is the last.
    paths: VecDeque<Path>,
    round: Option<Round>,
    /// When the last Interests were sent and how long their Data took.
    last: VecDeque<(f64, f64)>,
    rtt: f64,
    /// Segments per second that arrived in the last round trip, and the most of any.
    rate: f64,
    capacity: f64,
    /// A train was long enough to trust the latter.
    measured: bool,
    /// How far delays scatter around the typical one.
    spread: f64,
    queueing: f64,
    velocity: f64,
    until_drain: u32,
    /// Round trips with more in the queue than is wanted, and the window when they began.
    vain: u32,
    window_before: f64,
    /// The delay has jumped since the queue was short.
    jumped: u32,
    /// Probes in a row that found the queue empty.
    alone: u32,
}

fn least(some: impl Iterator<Item = f64>) -> f64 {
    some.fold(f64::INFINITY, f64::min)
}

impl ShortQueue {
    fn new(parameters: &Parameters, flow: &Flow) -> Self {
        Self {
            segment: flow.segment.0 as f64,
            packet: flow.packet.0 as f64,
            scatter: parameters.number("scatter"),
            interval: Duration::from_secs_f64(parameters.number("drain_interval")),
            patience: parameters.number("patience") as u32,
            window: parameters.number("initial_window"),
            phase: Phase::Start,
            paths: VecDeque::new(),
            round: None,
            last: VecDeque::new(),
            rtt: 0.0,
            rate: 0.0,
            capacity: 0.0,
            measured: false,
            spread: 0.0,
            queueing: 0.0,
            velocity: 1.0,
            until_drain: 0,
            vain: 0,
            window_before: 0.0,
            jumped: 0,
            alone: 0,
        }
    }
    /// The path of what came, which becomes the last; a new one starts anew, with what is known of the
    /// rate of the link.
    fn path(&mut self, ack: &Ack, delay: Duration) -> &mut Path {
        let key = (ack.site, ack.one_way.is_some());
        let known = self.paths.iter().position(|path| path.key == key);
        let path = known.and_then(|place| self.paths.remove(place)).unwrap_or(Path {
            key,
            reference: delay,
            delay_min: f64::INFINITY,
            rtt_min: f64::INFINITY,
            base: f64::INFINITY,
            seen: ack.now,
        });
        if known.is_none() && !self.paths.is_empty() {
            self.start_again();
        }
        if self.paths.len() == SITES {
            self.paths.pop_front();
        }
        self.paths.push_back(path);
        let last = self.paths.len() - 1;
        &mut self.paths[last]
    }
    fn start_again(&mut self) {
        self.phase = Phase::Start;
        self.last.clear();
        self.velocity = 1.0;
        self.calm();
        self.round = None;
    }
    fn calm(&mut self) {
        self.vain = 0;
        self.jumped = 0;
    }
    /// The typical round trip without a queue.
    fn rtt_empty(&self) -> f64 {
        (self.rtt - self.queueing).max(self.rtt_least())
    }
    fn rtt_least(&self) -> f64 {
        self.paths.back().map_or(self.rtt, |path| path.rtt_min.min(self.rtt))
    }
    fn begin_round(&mut self, ack: &Ack) {
        self.round = Some(Round {
            began: ack.now,
            first: ack.now,
            began_at: ack.delivered.0,
            ends_at: ack.delivered.0 + ack.in_flight.0.max(1),
            delays: Vec::new(),
            rtt_sum: 0.0,
            rtts: 0.0,
            flight: 0.0,
        });
    }
    /// One more Data has come.
    fn measure(&mut self, ack: &Ack) {
        let Some(delay) = ack.one_way.or(ack.rtt) else { return };
        let path = self.path(ack, delay);
        let delay = unwrapped(delay, path.reference).as_secs_f64();
        path.delay_min = path.delay_min.min(delay);
        if let Some(rtt) = ack.rtt {
            path.rtt_min = path.rtt_min.min(rtt.as_secs_f64());
        }
        let Some(round) = &mut self.round else { return self.begin_round(ack) };
        if round.delays.is_empty() {
            round.first = ack.now;
        }
        round.delays.push(delay);
        round.flight = round.flight.max((ack.in_flight.0 + ack.acked.0) as f64 / self.segment);
        if let Some(rtt) = ack.rtt {
            round.rtt_sum += rtt.as_secs_f64();
            round.rtts += 1.0;
            self.watch_for_jump((ack.now - rtt).as_secs_f64(), delay);
        }
    }
    /// A queue grows at most as fast as time goes by, or little faster: what grows much more between two
    /// Interests is no queue.
    fn watch_for_jump(&mut self, sent: f64, delay: f64) {
        self.last.push_back((sent, delay));
        if self.last.len() > FILTER {
            self.last.pop_front();
        }
        if self.last.len() < FILTER {
            return;
        }
        let delays = |from: usize| self.last.iter().skip(from).take(FILTER / 2).map(|last| last.1);
        let step = least(delays(FILTER / 2)) - delays(0).fold(f64::NEG_INFINITY, f64::max);
        let span = self.last[FILTER - 1].0 - self.last[0].0;
        if step > 2.0 * span && step > self.scatter {
            self.jumped = JUMP_ROUNDS;
        }
    }
    fn round_over(&mut self, ack: &Ack) {
        if self.round.as_ref().is_none_or(|round| ack.delivered.0 < round.ends_at) {
            return;
        }
        let Some(mut round) = self.round.take() else { return };
        self.begin_round(ack);
        let took = (ack.now - round.began).as_secs_f64();
        if took <= 0.0 || round.delays.is_empty() {
            return;
        }
        self.rate = (ack.delivered.0 - round.began_at) as f64 / self.segment / took;
        if self.phase == Phase::Start {
            self.measure_train(round.delays.len(), (ack.now - round.first).as_secs_f64());
        }
        self.capacity = self.capacity.max(self.rate);
        if round.rtts > 0.0 {
            self.rtt = round.rtt_sum / round.rtts;
        }
        round.delays.sort_by(f64::total_cmp);
        // The lower quartile: a drain of somebody else may fill only half of the round trip.
        let typical = round.delays[round.delays.len() / 4];
        self.spread += (typical - round.delays[0] - self.spread) / 4.0;
        let near = EMPTY * self.scatter;
        let before = self.queueing;
        if let Some(path) = self.paths.back_mut() {
            path.base = path.base.min(typical);
            self.queueing = (typical - path.base - self.spread / 3.0).max(0.0);
            if self.queueing <= near {
                path.seen = ack.now;
            }
        }
        self.turn(ack.now, round.flight, before);
    }
    /// The Data of a round trip of the start come as a train, as fast as the link lets.
    fn measure_train(&mut self, count: usize, took: f64) {
        if count < FILTER || took <= 0.0 {
            return;
        }
        let rate = (count - 1) as f64 / took;
        // Sent faster than the trains before came, it came no faster: that is the link.
        self.measured |= count >= TRAIN && rate < 1.1 * self.capacity;
        self.capacity = self.capacity.max(rate);
    }
    /// What the flow wants to have in the queue, in segments.
    fn wanted(&self) -> f64 {
        1.0 + math::sqrt(self.rate * self.scatter)
    }
    /// A round trip is over.
    fn turn(&mut self, now: Instant, flight: f64, before: f64) {
        match self.phase {
            Phase::Start => {}
            Phase::Steady => self.steady(now, flight, before),
            Phase::Drain(cut) => {
                self.window = cut.window;
                self.phase = Phase::Settle(Some(cut));
            }
            Phase::Settle(cut) => self.settled(now, cut),
            Phase::Stand { rounds, queueing } => self.stand(rounds, queueing),
            Phase::Compete => {}
            Phase::Probe { rounds: 0, window } => self.probed(window),
            Phase::Probe { rounds, window } => self.phase = Phase::Probe { rounds: rounds - 1, window },
        }
    }
    fn steady(&mut self, now: Instant, flight: f64, before: f64) {
        let standing = self.rate * self.queueing;
        let wanted = self.wanted();
        self.until_drain = self.until_drain.saturating_sub(1);
        if self.until_drain == 1 || self.suspects(standing, wanted) {
            return self.drain(self.capacity * (2.0 * self.queueing + 2.0 * self.scatter), false);
        }
        let seen = self.paths.back().map_or(now, |path| path.seen);
        let joins = self.queueing < 0.7 * before && before > self.scatter / 2.0;
        if now - seen > self.interval || joins && (now - seen) * 4 > self.interval {
            return self.drain(2.0 * before.max(self.queueing) * self.capacity, joins);
        }
        let step = GAIN * (wanted - standing);
        self.velocity = if standing < wanted / 2.0 { 1.5 * self.velocity } else { 1.0 };
        // The window may not run away from what is used.
        if step > 0.0 && flight < 0.8 * self.window {
            return;
        }
        // Quickly up to what the link was seen to carry, and slowly beyond.
        let known = self.capacity * self.rtt_empty() - self.window;
        let quick = (step * self.velocity).min((self.window / 16.0).max(known / 2.0)).max(step);
        let change = if step > 0.0 { quick } else { step.max(-self.window / 2.0) };
        self.window = (self.window + change).max(WINDOW_MIN);
    }
    fn drain(&mut self, by: f64, joined: bool) {
        let by = by.min(self.window / 2.0).max(1.0);
        self.phase = Phase::Drain(Cut { window: self.window, by, queueing: self.queueing, joined });
        self.window = (self.window - by).max(WINDOW_MIN);
    }
    /// Too much stands, after a jump or for long.
    fn suspects(&mut self, standing: f64, wanted: f64) -> bool {
        if standing < SUSPECT * wanted {
            self.vain = 0;
            self.jumped = self.jumped.saturating_sub(1);
            return false;
        }
        if self.vain == 0 {
            self.window_before = self.window;
        }
        self.vain += 1;
        self.jumped > 0 || self.vain >= self.patience
    }
    /// A drain tells whether what was taken for a queue is one.
    fn settled(&mut self, now: Instant, cut: Option<Cut>) {
        self.phase = Phase::Steady;
        self.velocity = 1.0;
        let Some(cut) = cut else { return };
        let expected = (cut.by / self.capacity.max(self.rate)).min(cut.queueing);
        let fell = cut.queueing - self.queueing;
        let emptied = !cut.joined
            && cut.by > 1.5 * cut.queueing * self.capacity
            && fell > 0.5 * cut.queueing
            && self.queueing < 2.0 * EMPTY * self.scatter;
        let suspicious = self.jumped > 0 || self.vain >= self.patience;
        let deaf = suspicious && fell < expected / 4.0;
        if let Some(path) = self.paths.back_mut() {
            path.seen = now;
            if emptied || deaf {
                path.base += self.queueing;
            }
            if deaf {
                (path.delay_min, path.rtt_min) = (path.base, self.rtt);
            }
        }
        self.calm();
        if deaf {
            self.start_again();
        } else if suspicious && !emptied && cut.queueing > self.scatter + self.spread {
            self.phase = Phase::Stand { rounds: 0, queueing: self.queueing };
        }
    }
    /// Who yields lets the queue settle; who does not adds a segment per round trip.
    fn stand(&mut self, rounds: u32, before: f64) {
        let rounds = rounds + 1;
        let mut queueing = before;
        if rounds.is_multiple_of(self.patience) {
            let grown = self.queueing - before;
            let few = grown * self.capacity.max(self.rate) < GROWN * f64::from(self.patience);
            // What the others do settles in the first part.
            if rounds > self.patience && few && grown < GROWN_SHARE * self.queueing {
                self.phase = Phase::Steady;
                return;
            }
            queueing = self.queueing;
        }
        if rounds == STAND_PARTS * self.patience {
            self.compete();
        } else if self.queueing < self.scatter {
            self.phase = Phase::Steady;
        } else {
            self.phase = Phase::Stand { rounds, queueing };
        }
    }
    fn compete(&mut self) {
        self.phase = Phase::Compete;
        self.alone = 0;
        self.window = self.window.max(self.window_before);
        self.window_before = 0.0;
    }
    fn probed(&mut self, window: f64) {
        self.window = window;
        self.phase = Phase::Compete;
        self.alone = if self.queueing < self.scatter / 2.0 { self.alone + 1 } else { 0 };
        if self.alone >= PROBES_EMPTY {
            self.phase = Phase::Steady;
            self.calm();
        }
    }
    fn start(&mut self, arrived: f64) {
        self.window += arrived;
        let Some(path) = self.paths.back() else { return };
        let standing = least(self.last.iter().map(|last| last.1)) - path.delay_min;
        let full = self.last.len() == FILTER;
        let limit = self.capacity * self.rtt_empty();
        if full && standing > self.scatter + self.spread {
            self.window *= self.rtt_least() / (self.rtt_least() + standing);
        } else if full && self.measured && self.window > limit {
            self.window = limit;
        } else {
            return;
        }
        self.leave_start();
    }
    fn leave_start(&mut self) {
        self.window = self.window.max(WINDOW_MIN);
        self.phase = Phase::Settle(None);
        self.until_drain = FIRST_DRAIN + 1;
    }
    fn lost(&mut self) {
        let half = (self.window / 2.0).max(WINDOW_MIN);
        match self.phase {
            Phase::Start => {
                self.window = half;
                self.leave_start();
            }
            Phase::Steady => self.window = (self.window * BETA).max(WINDOW_MIN),
            Phase::Drain(_) | Phase::Settle(_) => {}
            Phase::Stand { .. } => {
                self.compete();
                self.window = (self.window / 2.0).max(WINDOW_MIN);
            }
            Phase::Compete | Phase::Probe { .. } => {
                self.window = (0.9 * self.rate * self.rtt_least()).clamp(WINDOW_MIN, half);
                if self.rate > 0.8 * self.capacity {
                    self.alone = PROBES_EMPTY - 1;
                }
                self.phase = Phase::Probe { rounds: 2, window: half };
            }
        }
    }
}

impl Controller for ShortQueue {
    fn on_ack(&mut self, ack: &Ack) {
        if self.rtt == 0.0 {
            self.rtt = ack.rtt.map_or(0.0, Duration::as_secs_f64);
        }
        if ack.acked.0 == 0 {
            return;
        }
        self.measure(ack);
        let arrived = ack.acked.0 as f64 / self.segment;
        if ack.limited && !ack.recovering {
            match self.phase {
                Phase::Start => self.start(arrived),
                Phase::Compete => self.window += arrived / self.window,
                _ => {}
            }
        }
        self.round_over(ack);
    }
    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Silence && loss.again {
            self.window = WINDOW_MIN;
            self.start_again();
        } else if loss.episode {
            self.lost();
        }
    }
    fn window(&self) -> Bytes {
        Bytes((self.window * self.segment) as u64)
    }
    fn rate(&self) -> Option<BitRate> {
        if self.rtt <= 0.0 {
            return None;
        }
        let by_window = self.window / self.rtt.max(1e-6);
        // A start sends no faster than the link was seen to be: what it is too fast for would queue.
        let per_s = match self.phase {
            Phase::Start => {
                let surplus = if self.measured { 1.0 } else { START_SURPLUS };
                (START_PACING * by_window).min(surplus * self.capacity.max(by_window))
            }
            _ => PACING * by_window,
        };
        Some(BitRate((per_s * self.packet * 8.0).clamp(1.0, 1e15) as u64))
    }
    fn timeout(&self) -> Option<Duration> {
        // Not of the deviation, which is next to nothing in steady state: a queue that grows, or a site
        // further away, is no loss.
        (self.rtt > 0.0).then(|| Duration::from_secs_f64(self.rtt + self.rtt.max(TIMEOUT_MARGIN_S)))
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window * self.segment));
        seen.push(("queueing_delay", self.queueing));
        seen.push(("phase", self.phase.number()));
        seen.push(("capacity", self.capacity * self.packet * 8.0));
        seen.push(("base_delay", self.paths.back().map_or(f64::NAN, |path| path.base)));
    }
}
