//! Short queue: fills the link and queues little more at the bottleneck than the jitter of the path requires.
//!
//! Each flow keeps one packet and the square root of what it carries in `scatter` in the queue. Such a
//! window law has one equilibrium, in which flows of equal base delays share equally, whatever their
//! number and whatever the round trip (after Wei, Jin, Low and Hegde, "FAST TCP", IEEE/ACM ToN 14(6),
//! 2006, whose share of the queue is a constant). What it takes to see base delays as they are (one
//! history per site, drains, a test of whether the queue answers at all) is in the docs page.

use super::reno::initial_window;
use super::usual_loss::{UsualLoss, Verdict};
use super::{Ack, Advice, Cause, Controller, Flow, Loss, Sent};
use crate::math;
use crate::parameter::{self, Parameter, Parameters};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "short_queue",
    paper: "",
    parameters: &[
        initial_window(10.0),
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
            "Interval without an empty queue after which the flow drains it for a round trip.",
        ),
        Parameter::integer(
            "patience",
            10.0,
            (3.0, 1000.0),
            "Round trips of yielding without effect after which the other flow counts as one that never yields.",
        ),
        Parameter::flag(
            "usual_loss",
            true,
            "Losses that stay after three reductions, on a path where nothing queues, count as none of congestion.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| Box::new(ShortQueue::new(parameters, &flow)),
};

/// Share of the distance to the equilibrium that is covered in a round trip.
const GAIN: f64 = 0.5;
/// Interests leave a little faster than the window lets, so that the window decides.
const PACING: f64 = 1.1;
/// In a drain they leave more slowly than Data can come, so that the queue stays empty.
const DRAIN_PACING: f64 = 0.85;
/// In the start they leave as a train, at most this many times faster than the window allows, and
/// `START_SURPLUS` times faster than the measured link: a faster train only queues.
const START_PACING: f64 = 8.0;
const START_SURPLUS: f64 = 1.2;
/// Data in a train that is long enough to measure the rate of the link.
const TRAIN: usize = 16;
/// It is slower than it was sent from this share on.
const SLOWER: f64 = 0.9;
/// Delays of which the least ends the start, and fewest Data of a train.
const FILTER: usize = 8;
/// Segments per round trip that a flow adds if it does not yield, or share of the queue in `patience`
/// round trips where the rate of the link is underestimated.
const GROWN: f64 = 0.4;
const GROWN_SHARE: f64 = 0.1;
/// `Stand` ends after this many spans of `patience`; growth counts in each but the first.
const STAND_PARTS: u32 = 3;
/// Round trips of yielding without effect after which the flow competes with a known non-yielding flow.
const KNOWN_PATIENCE: u32 = 3;
/// A flow uses its window from this share on.
const USED: f64 = 0.8;
/// A rate below this share of what it was at the last drain has fallen.
const FALLEN: f64 = 0.8;
/// A queue longer than this multiple of the wanted one is suspect.
const SUSPECT: f64 = 1.2;
/// Share of the window that is left after a loss.
const BETA: f64 = 0.7;
/// The queue counts as empty up to this queueing delay, in shares of `scatter`.
const EMPTY: f64 = 0.1;
/// The mean of an empty queue enters the base with a weight of at least one over this.
const REMEMBERED: f64 = 8.0;
/// Weight of a round trip in how much the queueing delay changes.
const VARIATION_WEIGHT: f64 = 0.125;
/// The median of a normal distribution is 0.8 deviations from the mean of the lower half, which is
/// uncertain by 1.2 deviations.
const UNCERTAIN: f64 = 1.5;
/// A difference of this many deviations is significant.
const SURE: f64 = 3.0;
/// Round trips from the end of the start to the first drain.
const FIRST_DRAIN: u32 = 3;
/// A drain that shortens the delay by less than this share of what it gave up has emptied the path.
const FLOOR: f64 = 0.25;
/// Sites whose base delays are remembered.
const SITES: usize = 8;
/// An Interest is lost after two usual round trips, or one plus this margin if that is later.
const TIMEOUT_MARGIN_S: f64 = 0.2;
/// Where delays differ by less than this number of packets takes, no other flow queues.
const QUIET: f64 = 3.0;
/// Of a smaller window no effect of a reduction can be seen.
const TRIED_MIN: f64 = 4.0;
/// In segments.
const WINDOW_MIN: f64 = 2.0;

/// The round trip to one site, in seconds.
struct Path {
    site: Option<u32>,
    /// The least round trip.
    rtt_min: f64,
    /// The typical round trip with an empty queue, and of how many it was made.
    base: f64,
    heard: f64,
    /// When the queue was last seen empty.
    seen: Instant,
}

impl Path {
    /// Averages in `count` round trips with an empty queue, which exceeded the base by typically `longer`.
    fn hear(&mut self, longer: f64, count: f64) {
        let weight = (count / (self.heard + count)).max(1.0 / REMEMBERED);
        self.base += weight * longer;
        self.heard += count;
    }
    /// Replaces all earlier samples.
    fn take(&mut self, longer: f64, count: f64) {
        self.base += longer;
        self.heard = count;
    }
}

/// What was measured since the round trip began.
struct Round {
    began: Instant,
    /// When its Data came, in seconds after that.
    came: Vec<f64>,
    began_at: u64,
    ends_at: u64,
    /// By how much round trips were longer than the base of their path.
    longer: Vec<f64>,
    rtt_sum: f64,
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
    /// Has held the window for `rounds` round trips to see whether other flows yield.
    Stand { rounds: u32, queueing: f64 },
    /// The other side never yields: AIMD.
    Compete,
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
        }
    }
}

/// What a drain gave up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    /// The window before, in segments.
    window: f64,
    by: f64,
    /// The typical round trip before.
    level: f64,
    /// The queueing delay before.
    queueing: f64,
    /// No other flow drains, and the flow used its window: what follows is the effect of this drain.
    conclusive: bool,
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
    /// By how much the last round trips were longer than the base.
    last: VecDeque<f64>,
    rtt: f64,
    /// Segments per second that arrived in the last round trip, and the most of any.
    rate: f64,
    capacity: f64,
    /// When the Interests left whose Data come in this round trip, and in the next.
    left: (Vec<f64>, Vec<f64>),
    /// A train was long enough to trust the latter.
    measured: bool,
    /// How far round trips are from the typical one, and how far that is from what it would be of many.
    spread: f64,
    noise: f64,
    /// Round trips of which the typical one was made.
    count: f64,
    typical: f64,
    queueing: f64,
    velocity: f64,
    until_drain: u32,
    /// Round trips with more in the queue than is wanted, and the window when they began.
    vain: u32,
    /// The rate at the last drain.
    rate_drained: f64,
    /// How much the queueing delay changes from one round trip to the next, in seconds.
    variation: f64,
    window_before: f64,
    /// When the flow last competed with one that does not yield.
    met: Option<Instant>,
    losses: UsualLoss,
    learns: bool,
    /// When the last Data came, and the least time between two, in seconds: that of a packet on the slowest link.
    came: Option<Instant>,
    packet_time: f64,
    /// The window before the reductions that losses asked for.
    window_unreduced: f64,
}

/// Packets per second in the densest half, which takes `more` seconds longer than it seems.
fn densest(times: &[f64], more: f64) -> Option<f64> {
    let half = times.len() / 2;
    let took = least(times.windows(half + 1).map(|some| some[half] - some[0]));
    (times.len() >= FILTER && took > 0.0).then(|| half as f64 / (took + more))
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
            left: (Vec::new(), Vec::new()),
            measured: false,
            spread: 0.0,
            noise: 0.0,
            count: 0.0,
            typical: 0.0,
            queueing: 0.0,
            velocity: 1.0,
            until_drain: 0,
            vain: 0,
            rate_drained: 0.0,
            variation: 0.0,
            window_before: 0.0,
            met: None,
            losses: UsualLoss::default(),
            learns: parameters.flag("usual_loss"),
            came: None,
            packet_time: f64::INFINITY,
            window_unreduced: 0.0,
        }
    }
    /// Moves the path of `ack` to the end; on a new path the rate of the link is unknown.
    fn path(&mut self, ack: &Ack, rtt: f64) -> &mut Path {
        let known = self.paths.iter().position(|path| path.site == ack.responder);
        let path = known.and_then(|place| self.paths.remove(place)).unwrap_or(Path {
            site: ack.responder,
            rtt_min: rtt,
            base: rtt,
            heard: 0.0,
            seen: ack.now,
        });
        if known.is_none() {
            self.start_again();
            (self.capacity, self.measured, self.rtt) = (0.0, false, rtt);
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
        self.vain = 0;
        self.round = None;
    }
    /// The typical round trip without a queue.
    fn rtt_empty(&self) -> f64 {
        (self.rtt - self.queueing).max(self.rtt_least())
    }
    fn rtt_least(&self) -> f64 {
        self.paths.back().map_or(self.rtt, |path| path.rtt_min.min(self.rtt))
    }
    fn begin_round(&mut self, ack: &Ack) {
        self.left = (std::mem::take(&mut self.left.1), Vec::new());
        self.round = Some(Round {
            began: ack.now,
            came: Vec::new(),
            began_at: ack.delivered.0,
            ends_at: ack.delivered.0 + ack.in_flight.0.max(1),
            longer: Vec::new(),
            rtt_sum: 0.0,
            flight: 0.0,
        });
    }
    /// Beside other flows from the start on, a train underestimates the link: two packets in a row do not.
    fn measure_gap(&mut self, now: Instant) {
        let gap = self.came.map_or(0.0, |came| (now - came).as_secs_f64());
        self.came = Some(now);
        if gap > 0.0 {
            self.packet_time = self.packet_time.min(gap);
        }
    }
    /// One more Data has come.
    fn measure(&mut self, ack: &Ack) {
        self.measure_gap(ack.now);
        let Some(rtt) = ack.rtt.map(Duration::as_secs_f64) else { return };
        let path = self.path(ack, rtt);
        path.rtt_min = path.rtt_min.min(rtt);
        let longer = rtt - path.base;
        let Some(round) = &mut self.round else { return self.begin_round(ack) };
        round.came.push((ack.now - round.began).as_secs_f64());
        round.longer.push(longer);
        round.rtt_sum += rtt;
        round.flight = round.flight.max((ack.in_flight.0 + ack.acked.0) as f64 / self.segment);
        self.last.push_back(longer);
        if self.last.len() > FILTER {
            self.last.pop_front();
        }
    }
    fn round_over(&mut self, ack: &Ack) {
        if self.round.as_ref().is_none_or(|round| ack.delivered.0 < round.ends_at) {
            return;
        }
        let Some(mut round) = self.round.take() else { return };
        let took = (ack.now - round.began).as_secs_f64();
        let nothing = took <= 0.0 || round.longer.is_empty();
        if !nothing {
            self.rate = (ack.delivered.0 - round.began_at) as f64 / self.segment / took;
            self.typify(&mut round.longer);
            self.see_losses(&round.longer);
        }
        if !nothing && self.phase == Phase::Start {
            self.measure_train(&round.came);
        }
        self.begin_round(ack);
        if nothing {
            return;
        }
        if took > self.rtt_least() / 2.0 {
            self.capacity = self.capacity.max(self.rate);
        }
        let before = self.queueing;
        self.rtt = round.rtt_sum / round.longer.len() as f64;
        self.see_base(ack.now);
        self.turn(ack.now, round.flight, before);
    }
    /// The mean of the lower half is typical: a drain of another flow may fill only half of a round trip.
    fn typify(&mut self, longer: &mut [f64]) {
        longer.sort_by(f64::total_cmp);
        let half = longer.len().div_ceil(2);
        self.typical = longer[..half].iter().sum::<f64>() / half as f64;
        self.count = longer.len() as f64;
        let spread = longer[half - 1] - self.typical;
        self.spread += if self.spread == 0.0 { spread } else { (spread - self.spread) / 4.0 };
        // So is the base.
        let heard = self.paths.back().map_or(f64::INFINITY, |path| path.heard.max(1.0));
        self.noise = UNCERTAIN * self.spread * math::sqrt(1.0 / self.count + 1.0 / heard);
    }
    /// Round trips of one round, sorted.
    fn see_losses(&mut self, longer: &[f64]) {
        let (Some(path), [least, ..], [.., most]) = (self.paths.back(), longer, longer) else { return };
        let packet_time = self.packet_time.min(1.0 / self.capacity.max(self.rate));
        self.losses.on_round((path.base + least, path.base + most), QUIET * packet_time);
    }
    /// A typical round trip significantly below the base becomes the base.
    fn see_base(&mut self, now: Instant) {
        let Some(path) = self.paths.back_mut() else { return };
        if path.heard == 0.0 || self.typical < -SURE * self.noise {
            path.take(self.typical, self.count);
            self.typical = 0.0;
        }
        self.queueing = self.typical.max(0.0);
        if self.queueing <= EMPTY * self.scatter {
            path.seen = now;
        }
    }
    /// The Data of a round trip of the start come as a train at the rate of the link, with stragglers of the
    /// trains before and after: the densest half of them is measured.
    fn measure_train(&mut self, came: &[f64]) {
        let Some(rate) = densest(came, 0.0) else { return };
        // It arrived more slowly than it was sent, beyond the noise: at the link's rate.
        let sent = densest(&self.left.0, 0.0).unwrap_or(0.0);
        let slower = densest(came, self.spread).is_some_and(|rate| rate < SLOWER * sent);
        let first = came.len() >= TRAIN && slower && !self.measured;
        self.measured |= first;
        self.capacity = if first { rate } else { self.capacity.max(rate) };
    }
    /// What the flow wants to have in the queue, in segments.
    fn wanted(&self) -> f64 {
        1.0 + math::sqrt(self.rate * self.scatter)
    }
    /// A round trip is over.
    fn turn(&mut self, now: Instant, flight: f64, before: f64) {
        if matches!(self.phase, Phase::Steady | Phase::Stand { .. } | Phase::Compete) {
            let apart = (self.queueing - before).abs().min(self.scatter);
            self.variation += VARIATION_WEIGHT * (apart - self.variation);
        }
        match self.phase {
            Phase::Start => {}
            Phase::Steady => self.steady(now, flight, before),
            Phase::Drain(cut) => {
                self.window = cut.window;
                self.phase = Phase::Settle(Some(cut));
            }
            Phase::Settle(cut) => self.settled(now, cut),
            Phase::Stand { rounds, queueing } => self.stand(now, rounds, queueing),
            Phase::Compete => self.rest(now),
        }
    }
    fn steady(&mut self, now: Instant, flight: f64, before: f64) {
        let standing = self.rate * self.queueing;
        let wanted = self.wanted();
        self.until_drain = self.until_drain.saturating_sub(1);
        let patience = self.patience(now);
        let seen = self.paths.back().map_or(now, |path| path.seen);
        let joins = self.queueing < 0.7 * before && before > self.scatter / 2.0;
        let used = flight >= USED * self.window;
        if self.suspects(standing, wanted, before, patience) {
            if patience == KNOWN_PATIENCE {
                return self.compete(now);
            }
            return self.drain(self.queueing, used);
        }
        if self.until_drain == 1
            || (now - seen) * self.hurry() > self.interval
            || joins && (now - seen) * 4 > self.interval
        {
            return self.drain(before.max(self.queueing), used && !joins);
        }
        let step = GAIN * (wanted - standing);
        self.velocity = if standing < wanted / 2.0 { 1.5 * self.velocity } else { 1.0 };
        // The window may not run away from what is used.
        if step > 0.0 && !used {
            return;
        }
        // Quickly up to what the link was seen to carry, and slowly beyond.
        let known = self.capacity * self.rtt_empty() - self.window;
        let quick = (step * self.velocity).min((self.window / 16.0).max(known / 2.0)).max(step);
        let change = if step > 0.0 { quick } else { step.max(-self.window / 2.0) };
        self.window = (self.window + change).max(WINDOW_MIN);
    }
    /// Gives up more than the estimated queue, as the estimate is uncertain.
    fn drain(&mut self, queueing: f64, conclusive: bool) {
        let by = self.capacity * (queueing + self.scatter / 2.0);
        let by = by.min(self.window / 2.0).max(1.0);
        self.phase = Phase::Drain(Cut {
            window: self.window,
            by,
            level: self.level(),
            queueing: self.queueing,
            conclusive,
        });
        self.window = (self.window - by).max(WINDOW_MIN);
    }
    /// The typical round trip.
    fn level(&self) -> f64 {
        self.paths.back().map_or(self.rtt, |path| path.base + self.typical)
    }
    /// How many times more often drains come until the base is made of enough round trips.
    fn hurry(&self) -> i64 {
        let heard = self.paths.back().map_or(0.0, |path| path.heard);
        let uncertain = UNCERTAIN * self.spread / math::sqrt(heard.max(1.0));
        if uncertain > EMPTY / 4.0 * self.scatter { 4 } else { 1 }
    }
    fn patience(&self, now: Instant) -> u32 {
        let knows = self.met.is_some_and(|met| now - met < self.interval);
        if knows { KNOWN_PATIENCE } else { self.patience }
    }
    /// The queue is too long for several round trips, or while the rate falls: a flow has begun, or the base has grown.
    fn suspects(&mut self, standing: f64, wanted: f64, before: f64, patience: u32) -> bool {
        if standing < SUSPECT * wanted {
            self.vain = 0;
            return false;
        }
        if self.vain == 0 {
            self.window_before = self.window;
        }
        // A known non-yielding flow may have ended: then the queue shrinks.
        if patience == self.patience || self.queueing >= before {
            self.vain += 1;
        }
        self.vain >= patience || self.vain >= KNOWN_PATIENCE && self.rate < FALLEN * self.rate_drained
    }
    /// Judges by the drain's effect what the queue was. Where the delay fell by less than what was given up,
    /// it has reached that of the empty path.
    fn settled(&mut self, now: Instant, cut: Option<Cut>) {
        self.phase = Phase::Steady;
        self.velocity = 1.0;
        self.rate_drained = self.rate;
        let Some(cut) = cut else { return };
        let expected = cut.by / self.capacity.max(self.rate);
        let fell = cut.level - self.level();
        let floor =
            cut.conclusive && fell < FLOOR * expected && expected > 2.0 * self.noise + SURE * self.variation;
        let emptied = self.queueing < self.scatter / 2.0 + SURE * self.noise;
        let grew = floor && self.typical > (EMPTY * self.scatter).max(SURE * self.noise);
        let much = self.queueing > self.scatter;
        if let Some(path) = self.paths.back_mut() {
            path.seen = now;
            if grew {
                path.take(self.typical, self.count);
                path.rtt_min = path.base;
            } else if emptied {
                path.hear(self.typical, self.count);
            }
        }
        self.vain = 0;
        if grew && much {
            self.start_again();
        } else if !grew && !emptied && cut.queueing > self.scatter + self.spread {
            self.phase = Phase::Stand { rounds: 0, queueing: self.queueing };
        }
    }
    /// Flows that yield let the queue settle; a flow that does not adds a segment per round trip.
    fn stand(&mut self, now: Instant, rounds: u32, before: f64) {
        let rounds = rounds + 1;
        let mut queueing = before;
        if rounds.is_multiple_of(self.patience) {
            let grown = self.queueing - before;
            let few = grown * self.capacity.max(self.rate) < GROWN * f64::from(self.patience);
            // What the others do settles in the first part.
            if rounds > self.patience && few && grown < GROWN_SHARE * self.queueing {
                return self.stood(grown);
            }
            queueing = self.queueing;
        }
        if rounds == STAND_PARTS * self.patience {
            self.compete(now);
        } else if self.queueing < self.scatter {
            self.phase = Phase::Steady;
        } else {
            self.phase = Phase::Stand { rounds, queueing };
        }
    }
    /// No flow grows. If the delay does not fall either with almost nothing in flight, there is no queue.
    fn stood(&mut self, grown: f64) {
        self.phase = Phase::Steady;
        let still = grown.abs() < GROWN_SHARE * self.queueing;
        let Some(path) = self.paths.back_mut().filter(|_| still && self.window <= 2.0 * WINDOW_MIN) else {
            return;
        };
        path.take(self.queueing, self.count);
        path.rtt_min = path.base;
        self.start_again();
    }
    fn compete(&mut self, now: Instant) {
        self.phase = Phase::Compete;
        self.met = Some(now);
        self.window = self.window.max(self.window_before);
        self.window_before = 0.0;
    }
    /// A short queue means that there is no flow to compete with at the moment.
    fn rest(&mut self, now: Instant) {
        self.met = Some(now);
        if self.rate * self.queueing < self.wanted() {
            self.phase = Phase::Steady;
            self.vain = 0;
        }
    }
    /// Interests per second.
    fn pace(&self) -> Option<f64> {
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
            // Not by the window of a drain, which is small for what it gives up at once.
            Phase::Drain(cut) => DRAIN_PACING * cut.window / self.rtt.max(1e-6),
            _ => PACING * by_window,
        };
        Some(per_s)
    }
    fn start(&mut self, arrived: f64) {
        self.window += arrived;
        let standing = least(self.last.iter().copied());
        let full = self.last.len() == FILTER;
        let limit = self.capacity * self.rtt_empty() + self.wanted();
        if full && standing > self.scatter + self.spread {
            self.window *= self.rtt_empty() / (self.rtt_empty() + standing);
            self.window += self.wanted();
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
            Phase::Stand { .. } => self.window = half,
            // What the flow has in the queue: if all others do so, the queue is empty.
            Phase::Compete => self.window = (self.rate * self.rtt_least()).clamp(WINDOW_MIN, half),
        }
    }
}

impl Controller for ShortQueue {
    fn on_sent(&mut self, sent: &Sent) {
        if self.phase == Phase::Start {
            self.left.1.push(sent.now.as_nanos() as f64 / 1e9);
        }
    }
    fn on_ack(&mut self, ack: &Ack) {
        if ack.acked.0 == 0 {
            return;
        }
        self.losses.on_answer();
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
        if loss.cause != Cause::Mark {
            self.losses.on_loss();
        }
        if loss.cause == Cause::Timeout && loss.again && self.losses.is_outage() {
            self.window = WINDOW_MIN;
            return self.start_again();
        }
        let searches = self.learns && matches!(self.phase, Phase::Start | Phase::Steady);
        if loss.cause == Cause::Mark || !searches {
            if loss.episode {
                self.lost();
            }
            return;
        }
        let verdict = self.losses.judge(loss.episode);
        if verdict == Verdict::Reduce {
            if self.losses.tries() == 1 {
                self.window_unreduced = self.window;
            }
            if self.window < TRIED_MIN {
                self.losses.forget();
            }
            self.lost();
        } else if verdict == Verdict::Undo {
            self.window = self.window.max(self.window_unreduced);
        }
    }
    fn window(&self) -> Bytes {
        Bytes((self.window * self.segment) as u64)
    }
    fn rate(&self) -> Option<BitRate> {
        let pace = self.pace()?;
        Some(BitRate((pace * self.packet * 8.0).clamp(1.0, 1e15) as u64))
    }
    fn advice(&self) -> Advice {
        // Not of the deviation, which is next to nothing in steady state: a queue that grows, or a
        // responder further away, is no loss.
        let span = self.rtt + self.rtt.max(TIMEOUT_MARGIN_S);
        let timeout = (self.rtt > 0.0).then(|| Duration::from_secs_f64(span));
        // Where others queue, losses are of congestion until a usual share is known.
        let doubles = !self.learns || self.losses.share() == 0.0 && !self.losses.is_quiet();
        Advice { timeout, doubles, ..Advice::NONE }
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window * self.segment));
        seen.push(("queueing_delay", self.queueing));
        seen.push(("phase", self.phase.number()));
        seen.push(("usual_loss", self.losses.share()));
        seen.push(("capacity", self.capacity * self.packet * 8.0));
        seen.push(("base_delay", self.paths.back().map_or(f64::NAN, |path| path.base)));
    }
}
