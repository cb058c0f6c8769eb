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
const PACING: f64 = 1.2;
/// Delays of which the least ends the start.
const START_FILTER: usize = 8;
/// Where the queue is so many times what is wanted, somebody may not yield.
const SUSPECT: f64 = 1.2;
/// Share of the window that is left after a loss.
const BETA: f64 = 0.7;
/// The base is seen when a delay is so close to it, in shares of `scatter`.
const SEEN: f64 = 0.1;
/// Round trips from the end of the start to the first drain.
const FIRST_DRAIN: u32 = 3;
/// Sites whose base delays are remembered.
const SITES: usize = 8;
/// An Interest is lost if its Data is so much later than usual, or takes twice as long.
const TIMEOUT_MARGIN_S: f64 = 0.2;
/// In segments.
const WINDOW_MIN: f64 = 2.0;

/// The least of what was seen since the drain before the last one.
#[derive(Clone, Copy, Debug)]
struct Least {
    current: f64,
    previous: f64,
}

impl Least {
    const NONE: Self = Self { current: f64::INFINITY, previous: f64::INFINITY };
    fn see(&mut self, value: f64) {
        self.current = self.current.min(value);
    }
    fn get(&self) -> f64 {
        self.current.min(self.previous)
    }
    fn age(&mut self) {
        *self = Self { current: f64::INFINITY, previous: self.current };
    }
}

/// The way from one site, in seconds.
struct Path {
    /// The site, and whether it stamps what it sends.
    key: (Option<u32>, bool),
    /// Stamps are compared with the first one.
    reference: Duration,
    delay: Least,
    rtt: Least,
    /// When the queue was seen empty.
    seen: Instant,
}

/// What was measured since the round trip began.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Instant,
    began_at: u64,
    ends_at: u64,
    least: f64,
    sum: f64,
    count: f64,
    rtt_sum: f64,
    rtts: f64,
    flight: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Doubles per round trip.
    Start,
    /// Towards the equilibrium; so many round trips until the first drain.
    Steady,
    /// Gives the queue up; then goes on with this window.
    Drain { window: f64 },
    /// One round trip until what was changed is seen.
    Settle { drained: bool },
    /// Holds the window to see whether the others yield.
    Stand { rounds: u32, least: f64 },
    /// The other side never yields: AIMD.
    Compete,
    /// After a loss in `Compete`: is anyone else in the queue?
    Probe { rounds: u32, window: f64 },
}

struct ShortQueue {
    segment: f64,
    packet: f64,
    scatter: f64,
    interval: Duration,
    patience: u32,
    window: f64,
    phase: Phase,
    paths: VecDeque<Path>,
    round: Option<Round>,
    last: VecDeque<f64>,
    rtt: f64,
    /// Segments per second that arrived in the last round trip, and the most of any.
    rate: f64,
    capacity: f64,
    /// Mean delay above the least one, where nothing stands: jitter.
    spread: f64,
    queueing: f64,
    velocity: f64,
    until_drain: u32,
    /// Round trips with more in the queue than is wanted.
    vain: u32,
    /// Window and queueing delay when that began.
    reference: Option<(f64, f64)>,
    /// By how much the delay has jumped since the queue was short.
    step: f64,
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
            spread: 0.0,
            queueing: 0.0,
            velocity: 1.0,
            until_drain: 0,
            vain: 0,
            reference: None,
            step: 0.0,
        }
    }
    /// Brings the path of what came to the end and says by how much its delay exceeds its base.
    fn queueing_of(&mut self, ack: &Ack) -> Option<f64> {
        let delay = ack.one_way.or(ack.rtt)?;
        let key = (ack.site, ack.one_way.is_some());
        let known = self.paths.iter().position(|path| path.key == key);
        let path = match known.and_then(|place| self.paths.remove(place)) {
            Some(path) => path,
            None => {
                // Nothing is known of the new way but how fast the link was.
                if !self.paths.is_empty() {
                    self.start_again();
                }
                Path { key, reference: delay, delay: Least::NONE, rtt: Least::NONE, seen: ack.now }
            }
        };
        self.paths.push_back(path);
        if self.paths.len() > SITES {
            self.paths.pop_front();
        }
        let near = SEEN * self.scatter;
        let path = self.paths.back_mut()?;
        let delay = unwrapped(delay, path.reference).as_secs_f64();
        path.delay.see(delay);
        if let Some(rtt) = ack.rtt {
            path.rtt.see(rtt.as_secs_f64());
        }
        let above = delay - path.delay.get();
        if above <= near {
            path.seen = ack.now;
        }
        Some(above)
    }
    fn start_again(&mut self) {
        self.phase = Phase::Start;
        self.last.clear();
        self.velocity = 1.0;
        self.vain = 0;
        self.reference = None;
        self.step = 0.0;
        self.round = None;
    }
    fn rtt_least(&self) -> f64 {
        self.paths.back().map_or(self.rtt, |path| path.rtt.get().min(self.rtt))
    }
    fn begin_round(&mut self, ack: &Ack) {
        self.round = Some(Round {
            began: ack.now,
            began_at: ack.delivered.0,
            ends_at: ack.delivered.0 + ack.in_flight.0.max(1),
            least: f64::INFINITY,
            sum: 0.0,
            count: 0.0,
            rtt_sum: 0.0,
            rtts: 0.0,
            flight: 0.0,
        });
    }
    fn measure(&mut self, ack: &Ack, queueing: Option<f64>) {
        let Some(round) = &mut self.round else { return self.begin_round(ack) };
        if let Some(queueing) = queueing {
            round.least = round.least.min(queueing);
            round.sum += queueing;
            round.count += 1.0;
            self.last.push_back(queueing);
            if self.last.len() > 2 * START_FILTER {
                self.last.pop_front();
            }
            let least =
                |some: std::collections::vec_deque::Iter<f64>| some.copied().fold(f64::INFINITY, f64::min);
            if self.last.len() == 2 * START_FILTER {
                let mut before = self.last.iter();
                let after = before.by_ref().take(START_FILTER).copied().fold(f64::INFINITY, f64::min);
                let step = least(before) - after;
                self.step = self.step.max(step);
            }
        }
        if let Some(rtt) = ack.rtt {
            round.rtt_sum += rtt.as_secs_f64();
            round.rtts += 1.0;
        }
        round.flight = round.flight.max((ack.in_flight.0 + ack.acked.0) as f64 / self.segment);
    }
    fn round_over(&mut self, ack: &Ack) {
        let Some(round) = self.round.filter(|round| ack.delivered.0 >= round.ends_at) else { return };
        self.begin_round(ack);
        let took = (ack.now - round.began).as_secs_f64();
        if took <= 0.0 || round.count == 0.0 {
            return;
        }
        self.rate = (ack.delivered.0 - round.began_at) as f64 / self.segment / took;
        self.capacity = self.capacity.max(self.rate);
        if round.rtts > 0.0 {
            self.rtt = round.rtt_sum / round.rtts;
        }
        self.queueing = round.least;
        self.spread += (round.sum / round.count - round.least - self.spread) / 4.0;
        self.turn(ack.now, round.flight);
    }
    /// What the flow wants to have in the queue, in segments.
    fn wanted(&self) -> f64 {
        1.0 + math::sqrt(self.rate * (self.scatter + self.spread))
    }
    /// A round trip is over.
    fn turn(&mut self, now: Instant, flight: f64) {
        match self.phase {
            Phase::Start => {}
            Phase::Steady => self.steady(now, flight),
            Phase::Drain { window } => {
                self.window = window;
                self.phase = Phase::Settle { drained: true };
            }
            Phase::Settle { drained } => {
                self.phase = Phase::Steady;
                self.velocity = 1.0;
                if !drained {
                    return;
                }
                if let Some(path) = self.paths.back_mut() {
                    path.delay.age();
                    path.rtt.age();
                    path.seen = now;
                }
            }
            Phase::Stand { rounds, least } => self.stand(rounds, least),
            Phase::Compete => {}
            Phase::Probe { rounds: 0, window } => {
                self.phase = Phase::Compete;
                self.window = window;
                if self.queueing < self.scatter / 2.0 {
                    self.phase = Phase::Steady;
                    self.vain = 0;
                    self.reference = None;
                }
            }
            Phase::Probe { rounds, window } => self.phase = Phase::Probe { rounds: rounds - 1, window },
        }
    }
    fn steady(&mut self, now: Instant, flight: f64) {
        let standing = self.rate * self.queueing;
        let wanted = self.wanted();
        if self.judge(standing, wanted) {
            return;
        }
        let seen = self.paths.back().map_or(now, |path| path.seen);
        self.until_drain = self.until_drain.saturating_sub(1);
        let first = self.until_drain == 1;
        if first || now - seen > self.interval {
            self.drain(if first { self.window / 2.0 } else { 2.0 * standing.max(wanted) });
            return;
        }
        let step = GAIN * (wanted - standing);
        self.velocity =
            if standing < wanted / 2.0 { (self.velocity * 1.5).min(self.window / 8.0 / step) } else { 1.0 };
        let step = if step > 0.0 { step * self.velocity.max(1.0) } else { step };
        // The window may not run away from what is used.
        let used = step <= 0.0 || flight >= 0.8 * self.window;
        if used {
            self.window = (self.window + step).max(self.window / 2.0).max(WINDOW_MIN);
        }
    }
    fn drain(&mut self, by: f64) {
        let window = self.window;
        self.window = (window - by).max(window / 4.0).max(WINDOW_MIN);
        self.phase = Phase::Drain { window };
    }
    /// A queue that is too long: is it one? Where the delay has jumped between two Data and does not
    /// answer to a smaller window, the way has changed. Where the queue was too long for so long although
    /// the window shrank, the window stands still to see whether the others yield.
    fn judge(&mut self, standing: f64, wanted: f64) -> bool {
        let tolerated = self.scatter + self.spread;
        if standing < SUSPECT * wanted || self.queueing < tolerated {
            self.vain = 0;
            self.step = 0.0;
            self.reference = None;
            return false;
        }
        self.vain += 1;
        let (window, queueing) = *self.reference.get_or_insert((self.window, self.queueing));
        if self.step > 0.75 * self.queueing && self.window < 0.9 * window {
            let expected = (window - self.window) / self.capacity.max(self.rate);
            if queueing - self.queueing < expected / 2.0 {
                if let Some(path) = self.paths.back_mut() {
                    path.delay = Least::NONE;
                    path.rtt = Least::NONE;
                }
                self.start_again();
                return true;
            }
        }
        if self.vain >= self.patience {
            self.vain = 0;
            self.phase = Phase::Stand { rounds: 2 * self.patience, least: f64::INFINITY };
            return true;
        }
        false
    }
    /// Who yields lets the queue settle; who does not adds a segment per round trip.
    fn stand(&mut self, rounds: u32, least: f64) {
        let least = if rounds == self.patience { self.queueing } else { least };
        if rounds > 0 && self.queueing > self.scatter {
            self.phase = Phase::Stand { rounds: rounds - 1, least };
            return;
        }
        let grown = (self.queueing - least) * self.capacity.max(self.rate);
        self.phase = Phase::Steady;
        if grown > 0.6 * f64::from(self.patience) {
            self.compete();
        }
        self.reference = None;
    }
    fn compete(&mut self) {
        self.phase = Phase::Compete;
        let before = self.reference.take().map_or(0.0, |reference| reference.0);
        self.window = self.window.max(0.75 * before);
    }
    fn grow(&mut self, ack: &Ack) {
        let arrived = ack.acked.0 as f64 / self.segment;
        match self.phase {
            Phase::Start => self.start(ack.now, arrived),
            Phase::Compete if ack.limited => self.window += arrived / self.window,
            _ => {}
        }
    }
    fn start(&mut self, _now: Instant, arrived: f64) {
        self.window += arrived;
        let standing = self.last.iter().rev().take(START_FILTER).copied().fold(f64::INFINITY, f64::min);
        let full = self.last.len() >= START_FILTER;
        let limit = self.capacity * self.rtt_least();
        if full && standing > self.scatter + self.spread {
            self.window *= self.rtt_least() / (self.rtt_least() + standing);
        } else if full && self.capacity > 0.0 && self.window > limit {
            self.window = limit.max(WINDOW_MIN);
        } else {
            return;
        }
        self.phase = Phase::Steady;
        self.until_drain = FIRST_DRAIN + 1;
        self.velocity = 1.0;
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
        let queueing = self.queueing_of(ack);
        self.measure(ack, queueing);
        if !ack.recovering {
            self.grow(ack);
        }
        self.round_over(ack);
    }
    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Silence && loss.again {
            self.window = WINDOW_MIN;
            self.start_again();
        } else if loss.episode {
            match self.phase {
                Phase::Compete | Phase::Probe { .. } => {
                    let half = (self.window / 2.0).max(WINDOW_MIN);
                    self.window =
                        (0.9 * self.rate * self.rtt_least()).clamp(WINDOW_MIN, half.max(WINDOW_MIN));
                    self.phase = Phase::Probe { rounds: 1, window: half };
                }
                Phase::Drain { .. } | Phase::Settle { .. } => {}
                Phase::Stand { .. } => {
                    self.compete();
                    self.window = (self.window / 2.0).max(WINDOW_MIN);
                }
                Phase::Start | Phase::Steady => {
                    self.window = (self.window * BETA).max(WINDOW_MIN);
                    if self.phase == Phase::Start {
                        self.until_drain = FIRST_DRAIN + 1;
                    }
                    self.phase = Phase::Steady;
                }
            }
        }
    }
    fn window(&self) -> Bytes {
        Bytes((self.window * self.segment) as u64)
    }
    fn rate(&self) -> Option<BitRate> {
        if self.rtt <= 0.0 {
            return None;
        }
        let gain = if self.phase == Phase::Start { 2.0 } else { PACING };
        let per_s = gain * self.window / self.rtt.max(1e-6);
        Some(BitRate((per_s * self.packet * 8.0).clamp(1.0, 1e15) as u64))
    }
    fn timeout(&self) -> Option<Duration> {
        // Not of the deviation, which is next to nothing in steady state: a queue that grows, or a site
        // further away, is no loss.
        (self.rtt > 0.0).then(|| Duration::from_secs_f64(self.rtt + self.rtt.max(TIMEOUT_MARGIN_S)))
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window * self.segment));
        seen.push((
            "phase",
            match self.phase {
                Phase::Start => 0.,
                Phase::Steady => 1.,
                Phase::Drain { .. } => 2.,
                Phase::Settle { .. } => 3.,
                Phase::Compete => 4.,
                Phase::Probe { .. } => 5.,
                Phase::Stand { .. } => 6.,
            },
        ));
        seen.push(("base", self.paths.back().map_or(0.0, |p| p.delay.get())));
        seen.push(("queueing_delay", self.queueing));
        seen.push(("competing", f64::from(matches!(self.phase, Phase::Compete | Phase::Probe { .. }))));
    }
}
