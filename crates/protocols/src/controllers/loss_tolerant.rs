//! Continues at the rate of another transport, and follows the rate that arrives.
//!
//! It is for paths whose delay changes by minutes and that always lose some packets. So neither a growing
//! delay nor loss as such is a sign of a full link. A round is a number of packets sent after the last change
//! of the rate: at any delay a change is judged by its effect. When two rounds lose more than usual, the flow
//! tries the rate that got through. If the loss falls, the rate was too high; else it is the path's, and
//! usual from then on. After some rounds at one rate the flow tries a higher one, and keeps it unless half of
//! the step is lost.
//!
//! On an unknown path a loss up to `tolerance` is usual. A flow that inherits a known rate starts at half of
//! it for two round trips, at most 1.5 s, which lets TCP's queue drain; a flow that was too fast does the
//! same. A flow without a rate starts at `initial_rate` and doubles it each round; so does a flow to which
//! another transport hands over a higher rate that is only a lower bound.

use super::{Ack, Advice, Cause, Controller, ControllerEvent, Flow, Loss, Sent};
use crate::math;
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "loss_tolerant",
    paper: "",
    parameters: &[
        Parameter::number(
            "initial_rate",
            "bit/s",
            1e5,
            (1e2, 1e12),
            "Where no rate is handed over or planned.",
        ),
        Parameter::number("tolerance", "", 0.05, (0.0, 0.9), "Loss that counts as usual on an unknown path."),
        Parameter::number("excess", "", 0.03, (0.001, 0.9), "Loss beyond the usual that means too much."),
    ],
    only_with: &["adaptive", "dccp", "ltp", "udpdtn"],
    build: |parameters, flow| {
        let handed = flow.planned_rate.map(|rate| rate.0 as f64 / 8.0);
        let drains = flow.planned_round_trip.filter(|_| handed.is_some()).map(drain);
        Box::new(LossTolerant {
            packet: flow.packet.0 as f64,
            tolerance: parameters.number("tolerance"),
            excess: parameters.number("excess"),
            rate: handed.unwrap_or(parameters.number("initial_rate") / 8.0),
            starts: handed.is_none(),
            carried: None,
            usual: None,
            trial: None,
            doubts: false,
            held: 0,
            hold: HOLD_ROUNDS,
            step: STEP,
            round: Round::default(),
            in_flight: 0,
            rtt: flow.planned_round_trip,
            drains,
            drained_at: None,
            look: Look::default(),
        })
    },
};

/// Longest drain of a queue that was inherited, or filled here.
const DRAIN_MOST: Duration = Duration::from_nanos(1_500_000_000);
/// Least and most interval between drains that look for a queue; it doubles when there was no queue.
const DRAIN_EVERY: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(320));
/// A shorter round trip has no queue to speak of.
const LOOK_LEAST: Duration = Duration::from_nanos(100_000_000);
/// The drain emptied a queue if the round trip falls to this share.
const FALLS_TO: f64 = 0.7;
/// A round is the packets of this time in seconds, within bounds.
const ROUND_S: f64 = 5.0;
const ROUND_PACKETS: (f64, f64) = (200.0, 400.0);
/// A round of the start.
const START_PACKETS: f64 = 32.0;
/// ... is no shorter, as reports come in bursts.
const START_LEAST: Duration = Duration::from_secs(1);
/// Packets of it that may only fill a queue.
const START_FILLS: f64 = 64.0;
/// Rounds at one rate before a higher one is tried, at first and at most, and the step to that, at first and
/// at most. A failed trial doubles the rounds.
const HOLD_ROUNDS: u32 = 8;
const HOLD_MOST: u32 = 32;
const STEP: f64 = 0.1;
const STEP_MOST: f64 = 0.25;
/// A queue that a higher rate fills before anything is lost.
const QUEUE_S: f64 = 1.0;
/// The usual loss may grow by this share in a round.
const DRIFT: f64 = 0.004;
/// A round says no more than this, whatever was lost in it: it may have been an outage.
const FALL_MOST: f64 = 0.5;
/// Loss this far beyond the usual is significant in one round.
const BEYOND_DOUBT: f64 = 0.2;
/// Standard deviations within which loss is random.
const CHANCE: f64 = 2.0;

/// How long to send at half the rate: drains a queue that caused the whole round trip.
fn drain(rtt: Duration) -> Duration {
    (rtt * 2).min(DRAIN_MOST)
}

/// Arrivals and losses among the bytes sent since the rate changed.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Bytes sent before the change whose fate is unknown yet.
    before: u64,
    /// When that was over.
    since: Option<Instant>,
    arrived: u64,
    lost: u64,
}

/// Whether a queue was there is seen by draining it.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// The round trip before the last time, and the least since.
    before: Duration,
    least: Duration,
    /// When the next time is.
    next: Option<Instant>,
    every: Duration,
}

impl Default for Look {
    fn default() -> Self {
        Self { before: Duration::ZERO, least: Duration::ZERO, next: None, every: DRAIN_EVERY.0 }
    }
}

/// A rate that is tried, and what was lost before.
#[derive(Clone, Copy, Debug)]
enum Trial {
    /// Higher by a step, until `left` bytes have been sent; their loss is known a round trip later.
    More { lost: f64, left: f64 },
    /// Lower than this.
    Less { lost: f64, rate: f64 },
}

struct LossTolerant {
    packet: f64,
    tolerance: f64,
    excess: f64,
    /// In bytes on the link a second.
    rate: f64,
    starts: bool,
    /// What is known to get through while it starts.
    carried: Option<f64>,
    /// The share that is lost at this rate in any case.
    usual: Option<f64>,
    trial: Option<Trial>,
    /// The last round lost too much.
    doubts: bool,
    held: u32,
    hold: u32,
    step: f64,
    round: Round,
    in_flight: u64,
    rtt: Option<Duration>,
    drains: Option<Duration>,
    drained_at: Option<Instant>,
    look: Look,
}

impl LossTolerant {
    fn count(&mut self, now: Instant, arrived: u64, lost: u64) {
        let round = &mut self.round;
        if round.before > 0 {
            round.before = round.before.saturating_sub(arrived + lost);
            return;
        }
        let since = *round.since.get_or_insert(now);
        round.arrived += arrived;
        round.lost += lost;
        let packets = (round.arrived + round.lost) as f64 / self.packet;
        if packets >= self.round_packets() && (!self.starts || now - since >= START_LEAST) {
            // Losses are known later than arrivals: on a full link less comes than leaves long before.
            let keeps_up = self.round.arrived as f64 >= self.rate / 2.0 * (now - since).as_secs_f64();
            self.judge(packets, keeps_up);
        }
    }
    fn round_packets(&self) -> f64 {
        let (least, most) = ROUND_PACKETS;
        if self.starts { START_PACKETS } else { (self.rate / self.packet * ROUND_S).clamp(least, most) }
    }
    fn judge(&mut self, packets: f64, keeps_up: bool) {
        let Round { arrived, lost, .. } = std::mem::take(&mut self.round);
        let lost = lost as f64 / (arrived + lost) as f64;
        match self.trial.take() {
            Some(Trial::More { lost: before, .. }) => self.judge_more(before, lost),
            Some(Trial::Less { lost: before, rate }) => self.judge_less(before, lost, rate),
            None => self.judge_usual(lost, packets, keeps_up),
        }
    }
    fn change(&mut self, rate: f64) {
        self.rate = rate.max(self.packet);
        self.round.before = self.in_flight;
    }
    fn try_more_soon(&mut self) {
        (self.held, self.hold) = (HOLD_ROUNDS, HOLD_ROUNDS);
    }
    /// From a full link as much comes as before.
    fn judge_more(&mut self, before: f64, lost: f64) {
        if lost - before > (1.0 - before) * self.step / (1.0 + self.step) / 2.0 {
            (self.held, self.hold) = (0, (2 * self.hold).min(HOLD_MOST));
            self.step = STEP;
        } else {
            self.change(self.rate * (1.0 + self.step));
            self.step = (2.0 * self.step).min(STEP_MOST);
            self.try_more_soon();
        }
    }
    fn judge_less(&mut self, before: f64, lost: f64, rate: f64) {
        let fall = 1.0 - self.rate / rate;
        (self.held, self.step) = (0, STEP);
        if before - lost < (1.0 - before) * fall / (1.0 - fall) / 2.0 {
            // It was not the rate.
            self.usual = Some(lost);
            self.change(rate);
        } else {
            self.try_again_soon(rate);
        }
    }
    /// An outage, or another flow's queue, would look the same: retries a small step, or half of a large one.
    fn try_again_soon(&mut self, before: f64) {
        self.try_more_soon();
        let back = before / self.rate - 1.0;
        self.step = if back > STEP { (back / 2.0).min(STEP_MOST) } else { back.max(self.excess) };
    }
    fn judge_usual(&mut self, lost: f64, packets: f64, keeps_up: bool) {
        let usual = self.usual.unwrap_or(lost.min(self.tolerance));
        let chance = CHANCE * math::sqrt(usual.max(1.0 / packets) * (1.0 - usual) / packets);
        let got_through = (1.0 - lost) / (1.0 - usual);
        let doubts = std::mem::take(&mut self.doubts);
        if lost - usual > self.excess + chance {
            // Some of many rounds randomly lose more: the next round checks at the same rate.
            self.doubts = !(self.starts || doubts || lost - usual > BEYOND_DOUBT);
            if self.doubts {
                return;
            }
            let rate = self.rate;
            self.drains = self.rtt.map(drain);
            self.change(rate * got_through.max(FALL_MOST));
            if std::mem::take(&mut self.starts) {
                self.try_again_soon(rate);
            } else {
                self.trial = Some(Trial::Less { lost, rate });
            }
            return;
        }
        if self.starts {
            if !keeps_up {
                return;
            }
            self.carried = Some(self.rate);
            self.change(self.rate * 2.0);
            self.round.before += (START_FILLS * self.packet) as u64;
            return;
        }
        let usual = lost.min(usual + DRIFT);
        self.usual = Some(usual);
        self.held += 1;
        if self.held > self.hold {
            // What fills a queue at first shows nothing.
            let fills = self.rate * QUEUE_S / self.step;
            let left = fills + self.round_packets() * self.packet;
            self.trial = Some(Trial::More { lost: usual, left });
            self.round.before = self.in_flight + fills as u64;
        }
    }
    /// Drains a possible queue now and then: nothing else shows a short path, or a rate slightly too high.
    fn look(&mut self, now: Instant, rtt: Duration) {
        self.look.least = self.look.least.min(rtt);
        let next = *self.look.next.get_or_insert(now.saturating_add(self.look.every));
        if now < next
            || self.starts
            || self.trial.is_some()
            || self.doubts
            || rtt > DRAIN_MOST
            || rtt < LOOK_LEAST
        {
            return;
        }
        if self.look.before > Duration::ZERO {
            let was_queue = self.look.least.as_secs_f64() <= self.look.before.as_secs_f64() * FALLS_TO;
            self.look.every =
                if was_queue { DRAIN_EVERY.0 } else { (self.look.every * 2).min(DRAIN_EVERY.1) };
        }
        self.look =
            Look { before: rtt, least: rtt, next: Some(now.saturating_add(self.look.every)), ..self.look };
        self.drains = Some(drain(rtt));
    }
    /// Whether more leaves than the rate says.
    fn tries_more(&self) -> bool {
        matches!(self.trial, Some(Trial::More { left, .. }) if left > 0.0)
    }
    /// The plan gives the rate: what was learnt of another is void.
    fn plan(&mut self, rate: BitRate) {
        self.rate = rate.0 as f64 / 8.0;
        self.trial = None;
        (self.starts, self.held, self.step) = (false, 0, STEP);
        self.round = Round { before: self.in_flight, ..Round::default() };
    }
    /// What was counted as lost has arrived after all.
    fn take_back(&mut self, lost_at: Instant, came: Bytes) {
        // Of an earlier round it is not counted here.
        if self.round.since.is_some_and(|since| lost_at >= since) {
            let back = came.0.min(self.round.lost);
            self.round.lost -= back;
            self.round.arrived += back;
        }
    }
    /// Continues from the rate that another transport reached.
    fn hand_over(&mut self, rate: BitRate) {
        let carried = rate.0 as f64 / 8.0;
        if carried > self.rate {
            (self.starts, self.trial, self.held) = (true, None, 0);
            self.carried = Some(carried);
            self.round = Round::default();
            self.change(carried);
        } else {
            // What another transport has left in a queue is not lost by this rate.
            (self.trial, self.doubts) = (None, false);
            self.drains = self.rtt.map(drain);
            self.change(self.rate);
        }
    }
}

impl Controller for LossTolerant {
    fn on_ack(&mut self, ack: &Ack) {
        self.in_flight = ack.in_flight.0;
        self.rtt = ack.rtt.or(self.rtt);
        self.count(ack.now, ack.acked.0, 0);
        if let Some(rtt) = ack.rtt {
            self.look(ack.now, rtt);
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.in_flight = loss.in_flight.0;
        match loss.cause {
            Cause::Timeout => self.round.before = self.round.before.saturating_sub(loss.lost.0),
            Cause::Gap | Cause::Mark => self.count(loss.now, 0, loss.lost.0),
        }
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.in_flight = sent.in_flight.0;
        if let Some(Trial::More { left, .. }) = &mut self.trial {
            *left -= sent.size.0 as f64;
        }
        if let Some(span) = self.drains.take() {
            self.drained_at = Some(sent.now.saturating_add(span));
            if self.round.since.is_none() {
                self.round.before = sent.in_flight.0;
            }
        }
    }
    fn on_event(&mut self, now: Instant, event: &ControllerEvent) {
        match *event {
            ControllerEvent::Deadline => self.drained_at = self.drained_at.filter(|at| *at > now),
            ControllerEvent::Plan(rate) => self.plan(rate),
            ControllerEvent::Handover(rate) => self.hand_over(rate),
            ControllerEvent::SpuriousLoss { lost_at, size } => self.take_back(lost_at, size),
            ControllerEvent::ReceiverLimited => {}
        }
    }
    fn advice(&self) -> Advice {
        let found = if self.starts { self.carried } else { self.usual.map(|_| self.rate) };
        let discovered_rate = found.map(|rate| BitRate((rate * 8.0) as u64));
        Advice { discovered_rate, ..Advice::NONE }
    }
    fn deadline(&self) -> Option<Instant> {
        self.drained_at
    }
    fn window(&self) -> Bytes {
        Bytes::MAX
    }
    fn rate(&self) -> Option<BitRate> {
        let drains = self.drains.is_some() || self.drained_at.is_some();
        let rate = if self.tries_more() { self.rate * (1.0 + self.step) } else { self.rate };
        Some(BitRate((rate * if drains { 4.0 } else { 8.0 }) as u64))
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("usual_loss", self.usual.unwrap_or(f64::NAN)));
    }
}
