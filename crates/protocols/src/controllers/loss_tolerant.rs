//! Finds the rate that gets through, whatever the path loses and however its delay changes.
//!
//! It is for paths whose delay changes by minutes and that always lose some packets. So neither a growing
//! delay nor loss as such is a sign of a full link: only that arrivals do not rise with the rate. They are
//! measured by rounds: stretches of packets, of which later reports say how many arrived and how fast.
//!
//! A flow without a rate starts at `initial_rate` and doubles it, round trip by round trip, as long as twice as
//! much arrives. Then it holds the rate, and now and then makes a trial: a round above the rate, and one as far
//! below, which drains the queue of the first. If arrivals rose by half of the step, the rate rises and the next
//! trial is twice as bold; else the link is full, and carries the arrivals of the round above. The losses of the
//! round below happen at any rate, and count as usual.
//!
//! If two rounds in a row lose more than usual, the flow sends as much as got through. If arrivals then fall in
//! proportion, the path has become worse: the old rate returns, and its loss is usual from then on.

use super::rounds::{Round, Rounds};
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
        let inherits = flow.planned_round_trip.filter(|_| handed.is_some());
        Box::new(LossTolerant {
            packet: flow.packet.0 as f64,
            segment: flow.segment.0 as f64,
            tolerance: parameters.number("tolerance"),
            excess: parameters.number("excess"),
            rate: handed.unwrap_or(parameters.number("initial_rate") / 8.0),
            usual: None,
            phase: if handed.is_some() { Phase::Hold } else { Phase::START },
            part: Part::Level,
            change: 0,
            rounds: Rounds::new(Bytes(flow.packet.0.saturating_sub(flow.segment.0))),
            doubt: None,
            held: Held { rounds: 0, through: 0.0, before_trial: HOLD },
            step: STEP,
            above_took: Duration::ZERO,
            rtt: flow.planned_round_trip,
            least: flow.planned_round_trip,
            drains: inherits.map(|rtt| (rtt * 2).min(INHERITED_MOST)),
            drained_at: None,
        })
    },
};

/// A round is the packets of this time in seconds, within bounds.
const ROUND_S: f64 = 2.0;
const ROUND_PACKETS: (f64, f64) = (32.0, 400.0);
/// ... but no longer than this many of them, unless reports are rarer.
const LONGEST: f64 = 4.0;
/// Packets of the start that may only fill a queue, and of its rounds.
const START_PACKETS: f64 = 32.0;
/// A round must be longer than delays differ by, this many times: when a rate is held, and at the start.
const SPREADS: (i64, i64) = (4, 1);
/// The start continues if this share of what twice the rate should deliver arrives.
const DOUBLES: f64 = 0.7;
/// ... and this share of the rate, whatever was lost before.
const DOUBLES_LEAST: f64 = 0.5;
/// The step of a trial at first, and at most.
const STEP: f64 = 0.25;
const STEP_MOST: f64 = 1.0;
/// Rounds at one rate between trials, after one that failed and at most; it doubles.
const HOLD: u32 = 8;
const HOLD_MOST: u32 = 32;
/// Share of a full link that is used, so that a queue drains.
const OF_FULL: f64 = 0.9925;
/// An overload takes away at least this share of the rate.
const FALL_LEAST: f64 = 0.03;
/// A trial that failed takes away no more than this leaves.
const FALL_MOST: f64 = 0.9;
/// Less than this share is not believed at once: a delay that jumped, or an outage, makes arrivals pause.
const FALLS_MOST: f64 = 0.25;
/// A flow uses its rate if it sends this share of it.
const USED: f64 = 0.8;
/// Weight of a round in the usual loss where it lost less, and of one below the rate.
const USUAL: f64 = 0.25;
const USUAL_BELOW: f64 = 0.5;
/// Standard deviations within which loss is random, and those beyond which a part of a round is enough.
const CHANCE: f64 = 2.0;
const CERTAIN: f64 = 4.0;
/// ... with these packets and this loss at least.
const CERTAIN_PACKETS: f64 = 8.0;
const CERTAIN_LOSS: f64 = 0.2;
/// Longest drain of a queue that was inherited.
const INHERITED_MOST: Duration = Duration::from_nanos(1_500_000_000);

/// What the law is at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Doubles. `through` is the share that arrived of the last rate that was doubled; `lost` and `sent` count
    /// the data of all rates that were, but for the last.
    Start {
        through: f64,
        lost: f64,
        sent: f64,
        last: (f64, f64),
    },
    Hold,
    /// What got through at the rate, in bytes a second, and of the rate above once it is known.
    Trial {
        level: f64,
        above: Option<Above>,
    },
    /// What got through of a rate that seemed too high, in bytes a second, and that rate.
    Less {
        through: f64,
        rate: f64,
    },
}

impl Phase {
    const START: Self = Self::Start { through: 1.0, lost: 0.0, sent: 0.0, last: (0.0, 0.0) };
}

/// Of the round above a rate, in bytes a second: what got through, all arrivals, and how fast they came.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Above {
    through: f64,
    arrived: f64,
    came: f64,
}

/// What the sender does: at its rate, above it, below it; `Unjudged`: it waits for an effect or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Unjudged,
    Level,
    Above,
    Below,
}

/// Of one rate.
type Label = (u32, Part);

/// How long a rate has been held.
#[derive(Clone, Copy, Debug)]
struct Held {
    rounds: u32,
    /// What arrives of it, in bytes on the link a second.
    through: f64,
    before_trial: u32,
}

struct LossTolerant {
    packet: f64,
    segment: f64,
    tolerance: f64,
    excess: f64,
    /// In bytes on the link a second.
    rate: f64,
    /// The share that is lost at any rate; `None`: unknown yet.
    usual: Option<f64>,
    phase: Phase,
    part: Part,
    /// Counts changes of the rate: packets sent before one do not show its effect.
    change: u32,
    rounds: Rounds<Label>,
    /// What got through of a round that lost too much, as a share.
    doubt: Option<f64>,
    held: Held,
    step: f64,
    above_took: Duration,
    rtt: Option<Duration>,
    least: Option<Duration>,
    drains: Option<Duration>,
    drained_at: Option<Instant>,
}

impl LossTolerant {
    // --- sending ------------------------------------------------------------------------------

    /// Whether a stretch of these packets and this time is a round.
    fn is_round(&self, packets: f64, span: Duration) -> bool {
        let (least, most) = ROUND_PACKETS;
        let (held, starts) = SPREADS;
        let enough = (self.rate / self.packet * ROUND_S).clamp(least, most);
        match (self.part, self.phase) {
            (Part::Unjudged, Phase::Start { .. }) => packets >= START_PACKETS,
            (Part::Level, Phase::Start { .. }) => {
                packets >= START_PACKETS && span >= self.rounds.shortest(starts)
            }
            (Part::Below, _) => span >= self.above_took,
            _ if packets >= LONGEST * enough => span >= self.rounds.shortest(0),
            _ => packets >= enough && span >= self.rounds.shortest(held),
        }
    }
    fn round_sent(&mut self, span: Duration) {
        if !self.rounds.cut() {
            return;
        }
        self.part = match (self.part, self.phase) {
            (Part::Unjudged, Phase::Start { .. }) => Part::Level,
            (Part::Above, _) => {
                self.above_took = span;
                Part::Below
            }
            (Part::Below, _) => Part::Unjudged,
            (part, _) => part,
        };
    }
    /// From now on `part` is sent, at another rate or for another purpose.
    fn send(&mut self, part: Part) {
        self.rounds.cut_as((self.change, Part::Unjudged));
        self.change += 1;
        self.part = part;
        self.doubt = None;
    }
    fn set(&mut self, rate: f64) {
        self.rate = rate.max(self.packet / 60.0);
        self.send(Part::Level);
    }
    fn hold(&mut self, before_trial: u32, step: f64) {
        self.phase = Phase::Hold;
        self.step = step;
        self.held = Held { rounds: 0, through: 0.0, before_trial };
    }
    /// Sends at half the rate until what stands in a queue has left.
    fn drain(&mut self) {
        let queue = self.rtt.zip(self.least).map(|(rtt, least)| (rtt - least, rtt));
        self.drains = queue.map(|(queue, rtt)| (queue * 2).min(rtt));
    }

    /// The round below, as a share of the rate.
    fn below(&self) -> f64 {
        1.0 - self.step.min(0.5)
    }

    // --- judging ------------------------------------------------------------------------------

    fn judge(&mut self, round: &Round<Label>) {
        let (change, part) = round.label;
        if change != self.change {
            return;
        }
        match (self.phase, part) {
            (Phase::Start { .. }, Part::Level) => self.judge_start(round),
            (Phase::Hold, Part::Level) => self.judge_hold(round),
            (Phase::Less { through, rate }, Part::Level) => self.judge_less(round, through, rate),
            (Phase::Trial { level, .. }, Part::Above) => {
                let rate = (1.0 + self.step) * self.rate;
                let (through, arrived) = (round.through() * rate, round.arrived * rate);
                let above = Above { through, arrived, came: round.came() };
                self.phase = Phase::Trial { level, above: Some(above) };
            }
            (Phase::Trial { level, above: Some(above) }, Part::Below) => {
                self.judge_trial(round, level, above)
            }
            (Phase::Trial { .. }, Part::Below) => self.resume(),
            _ => {}
        }
    }
    fn judge_start(&mut self, round: &Round<Label>) {
        let Phase::Start { through, lost, sent, last } = self.phase else { return };
        let share = round.through();
        if share > DOUBLES * through && share > DOUBLES_LEAST {
            let counted = (lost + last.0, sent + last.1);
            let last = (round.lost() * round.sent, round.sent);
            self.phase = Phase::Start { through: share, lost: counted.0, sent: counted.1, last };
            self.rate *= 2.0;
            self.send(Part::Unjudged);
            return;
        }
        // A burst of losses looks the same.
        let Some(before) = self.doubt else {
            self.doubt = Some(share);
            return;
        };
        self.usual = Some(if sent > 0.0 { lost / sent } else { round.lost().min(self.tolerance) });
        self.hold(1, STEP_MOST);
        self.set(self.carried(share.max(before).max(FALLS_MOST)).min(self.rate));
        self.drain();
    }
    /// The rate of which as much arrives as this share of the rate.
    fn carried(&self, through: f64) -> f64 {
        self.rate * through / (1.0 - self.usual.unwrap_or(self.tolerance))
    }
    fn too_much(&self, round: &Round<Label>, deviations: f64) -> bool {
        let packets = round.sent / self.segment;
        let usual = self.usual.unwrap_or(round.lost().min(self.tolerance));
        let chance = deviations * math::sqrt(usual.max(1.0 / packets) * (1.0 - usual) / packets);
        round.lost() - usual > self.excess + chance
    }
    fn judge_hold(&mut self, round: &Round<Label>) {
        if self.too_much(round, CHANCE) {
            // Some of many rounds randomly lose more.
            let Some(before) = self.doubt.replace(round.through()) else { return };
            let through = before.max(round.through()).max(FALLS_MOST);
            self.phase = Phase::Less { through: through * self.rate, rate: self.rate };
            self.set(self.carried(through).min(self.rate * (1.0 - FALL_LEAST)));
            self.drain();
            return;
        }
        self.doubt = None;
        let usual = self.usual.unwrap_or(round.lost().min(self.tolerance));
        // More may be our own: only a round below the rate shows it.
        self.usual = Some(usual + USUAL * (round.lost() - usual).min(0.0));
        let through = round.through() * self.rate;
        self.held.through = if self.held.rounds == 0 { through } else { (self.held.through + through) / 2.0 };
        self.held.rounds += 1;
        if self.held.rounds >= self.held.before_trial && round.rate > USED * self.rate {
            self.phase = Phase::Trial { level: self.held.through, above: None };
            self.send(Part::Above);
        }
    }
    /// The round below the rate is over too.
    fn judge_trial(&mut self, round: &Round<Label>, level: f64, above: Above) {
        let usual = self.usual.unwrap_or(0.0);
        let usual = usual + USUAL_BELOW * (round.lost() - usual);
        self.usual = Some(usual);
        // A delay that grows or shrinks makes arrivals slower or faster; losses in a queue it does not hide.
        let faster = above.through / level.max(1.0);
        let more = faster.min(above.arrived / (1.0 - usual) / self.rate);
        // What a full link kept of the round above, it delivers in the one below.
        let apart = math::sqrt((1.0 + self.step) / self.below());
        if more > 1.0 + self.step / 2.0 && above.came > apart * round.came() {
            let higher = self.rate * more.min(1.0 + self.step);
            self.hold(1, (2.0 * self.step).min(STEP_MOST));
            self.set(higher);
        } else {
            let rounds = (2 * self.held.before_trial).clamp(HOLD, HOLD_MOST);
            self.hold(rounds, STEP);
            // Either a queue grows at the rate itself, or the delay of the path: some of it is believed.
            let grows = above.through / (1.0 - usual) / self.rate / more;
            let carried = more * math::sqrt(math::sqrt(grows));
            self.set(self.rate * (OF_FULL * carried).max(FALL_MOST));
        }
    }
    /// Reports passed the rounds of a trial at once: it says nothing.
    fn resume(&mut self) {
        self.hold(self.held.before_trial, self.step);
        self.send(Part::Level);
    }
    fn judge_less(&mut self, round: &Round<Label>, through: f64, rate: f64) {
        if round.through() * self.rate < through * (1.0 + self.rate / rate) / 2.0 {
            // Arrivals fell with the rate: it was not too high.
            self.usual = Some(round.lost());
            self.set(rate);
        }
        self.hold(1, STEP);
    }

    // --- what others know ---------------------------------------------------------------------

    /// The plan gives the rate: what was learnt of another is void.
    fn plan(&mut self, rate: BitRate) {
        self.hold(HOLD, STEP);
        self.send(Part::Level);
        self.rate = rate.0 as f64 / 8.0;
    }
    /// Continues from the rate that another transport reached.
    fn hand_over(&mut self, rate: BitRate) {
        let carried = rate.0 as f64 / 8.0;
        if carried > self.rate {
            self.phase = Phase::START;
            self.set(carried);
        } else {
            // What another transport has left in a queue is not lost by this rate.
            self.hold(HOLD, STEP);
            self.drains = self.rtt.map(|rtt| (rtt * 2).min(INHERITED_MOST));
            self.send(Part::Level);
        }
    }
}

impl Controller for LossTolerant {
    fn on_ack(&mut self, ack: &Ack) {
        self.rtt = ack.rtt.or(self.rtt);
        self.least = self.least.into_iter().chain(ack.rtt).min();
        if let Some(round) = self.rounds.on_ack(ack) {
            self.judge(&round);
        } else if let Some(round) = self.rounds.so_far(ack).filter(|_| self.phase == Phase::Hold) {
            let enough = round.sent / self.segment >= CERTAIN_PACKETS && round.lost() > CERTAIN_LOSS;
            if enough && round.label == (self.change, Part::Level) && self.too_much(&round, CERTAIN) {
                self.rounds.advance_to(ack);
                self.judge(&round);
            }
        }
        let waits = matches!(self.phase, Phase::Trial { .. });
        if waits && self.rounds.passed() == Some((self.change, Part::Unjudged)) {
            self.resume();
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        match loss.cause {
            // What is lost shows in what does not arrive.
            Cause::Gap => {}
            Cause::Mark => self.rounds.correct(-(loss.lost.0 as i64)),
            Cause::Timeout => self.rounds.void(),
        }
    }
    fn on_sent(&mut self, sent: &Sent) {
        if let Some(span) = self.drains.take() {
            self.drained_at = Some(sent.now.saturating_add(span));
        }
        let (data, span) = self.rounds.on_sent(sent.now, sent.size, (self.change, self.part));
        if self.is_round(data as f64 / self.segment, span) {
            self.round_sent(span);
        }
    }
    fn on_event(&mut self, now: Instant, event: &ControllerEvent) {
        match *event {
            ControllerEvent::Deadline => self.drained_at = self.drained_at.filter(|at| *at > now),
            ControllerEvent::Plan(rate) => self.plan(rate),
            ControllerEvent::Handover(rate) => self.hand_over(rate),
            ControllerEvent::SpuriousLoss { size, .. } => self.rounds.correct(size.0 as i64),
            ControllerEvent::ReceiverLimited => {}
        }
    }
    fn advice(&self) -> Advice {
        let found = match self.phase {
            Phase::Start { sent, last, .. } => (sent + last.1 > 0.0).then_some(self.rate / 2.0),
            _ => self.usual.map(|_| self.rate),
        };
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
        let share = match self.part {
            Part::Above => 1.0 + self.step,
            Part::Below => self.below(),
            _ if self.drains.is_some() || self.drained_at.is_some() => 0.5,
            _ => 1.0,
        };
        Some(BitRate((self.rate * share * 8.0) as u64))
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("rate", self.rate * 8.0));
        seen.push(("usual_loss", self.usual.unwrap_or(f64::NAN)));
    }
}
