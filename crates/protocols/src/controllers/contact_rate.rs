//! Sends at the rate of the contact from the first packet on, and shares it.
//!
//! A rate in the contact plan needs no probing. Without one, the flow sends short packet trains during the
//! first light-time round trip; the trains arrive at the rate of the link, so one report is enough. A flow
//! alone on the link stays at that rate: no queue, no loss.
//!
//! Others on the link show as a queue that stands at the bottleneck for a whole round trip: more than
//! `standing_queue` packets above the least one-way delay seen. Only differences of one-way delays count, so neither
//! the clocks' offset nor a slow return path is taken for a queue. Then, once per round trip, the flow takes its
//! received rate, less a share `yields`; else it adds a share `pull` of the link rate it does not use, times the
//! root of the part that it does use: many small flows together do not add more than the link holds. What flows
//! get is proportional to what they send, so all of them shrink by one factor, and small ones grow by a larger
//! factor than large ones, both of which make them more equal (Chiu and Jain 1989) without a common loss, from
//! any start. Random loss is no sign of others: it leaves no queue.
//!
//! A queue that was full from the start is not seen: its delay is the least. So where more is lost than usual the flow
//! also takes its received rate. If that changes nothing, the path loses by itself, and that counts as usual from
//! then on.
//!
//! A queue that stands for more than `patience` round trips although the flow yields is kept full by
//! flows that know only loss, such as CUBIC. Then the flow grows as before, and gives up `backs_off`
//! when the queue overflows, that is when more is lost than without a queue; until none has stood for
//! a while.
//!
//! The least delay may grow by [`DRIFT`], as distances and clock errors do; otherwise a receding node would take its
//! longer path for a queue. A link without a plan may grow too: after [`QUIET_PROBES`] round trips without a queue
//! another train measures it, which is believed up to twice the rate.
//!
//! The plan may change, by its next contact or by the network's management: the flow keeps its share of
//! the link, and sends nothing while there is no contact.
//!
//! A plan with too high a rate costs one round trip of overload; too low a rate is not exceeded.

use super::{Ack, Advice, Controller, ControllerEvent, Flow, Loss, Sent};
use crate::math;
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "contact_rate",
    paper: "",
    parameters: &[
        Parameter::number(
            "pull",
            "",
            0.1,
            (0.001, 0.5),
            "Share of what it lacks of the link that a round trip adds.",
        ),
        Parameter::number("yields", "", 0.1, (0.0, 0.9), "Share of what it got that it gives up to others."),
        Parameter::number("margin", "", 0.0, (0.0, 0.5), "Share of the link that is left free."),
        Parameter::number(
            "blind_rate",
            "bit/s",
            1e5,
            (1e2, 1e12),
            "Mean rate of trains while nothing is known.",
        ),
        Parameter::integer("train", 16.0, (4.0, 256.0), "Packets of a train."),
        Parameter::number("standing_queue", "", 4.0, (0.5, 1e4), "Packets that make a queue stand."),
        Parameter::number(
            "standing_delay",
            "s",
            0.0,
            (0.0, 1e6),
            "Delay that makes a queue stand where those packets take less: what answers may take.",
        ),
        Parameter::integer(
            "patience",
            6.0,
            (1.0, 1e6),
            "Round trips that it yields before it takes others for flows that fill queues.",
        ),
        Parameter::number(
            "backs_off",
            "",
            0.2,
            (0.0, 0.9),
            "Share given up at an overflow beside such flows.",
        ),
    ],
    only_with: &["ltp", "udpdtn"],
    build: |parameters, flow| {
        Box::new(ContactRate {
            pull: parameters.number("pull"),
            yields: parameters.number("yields"),
            margin: parameters.number("margin"),
            blind_rate: parameters.number("blind_rate"),
            train: parameters.number("train") as u32,
            standing_queue: parameters.number("standing_queue"),
            standing_delay: parameters.number("standing_delay"),
            patience: parameters.number("patience") as u32,
            backs_off: parameters.number("backs_off"),
            standing_for: 0,
            quiet_for: 0,
            contested: false,
            silent: false,
            settles: None,
            rtt: None,
            rtt_min: flow.planned_round_trip,
            background: 0.0,
            lost: None,
            probes: false,
            packet_bits: flow.packet.0 as f64 * 8.0,
            link: flow.planned_rate.map(|rate| rate.0 as f64),
            planned: flow.planned_rate.is_some(),
            rate: flow.planned_rate.map(|rate| rate.0 as f64 * (1.0 - parameters.number("margin"))),
            base: None,
            round: Round::default(),
        })
    },
};

/// Of the link's rate.
const LEAST_SHARE: f64 = 0.005;
/// Of the newest round trip, in what is lost without a queue.
const BACKGROUND_WEIGHT: f64 = 0.125;
/// How much the least delay may grow, in s/s: nodes that part at 30 km/s, or clocks 100 ppm apart.
const DRIFT: f64 = 1e-4;
/// Round trips without a standing queue after which the link is no longer contested.
const QUIET_ENDS: u32 = 10;
/// ... and after which a train measures a link without a plan again, if a round trip holds this number of trains.
const QUIET_PROBES: u32 = 16;
const TRAINS_LEAST: f64 = 3.0;
/// A train is believed up to this multiple of the rate.
const TRAIN_MOST: f64 = 2.0;
/// Loss beyond the usual, beside luck, that means too much.
const EXCESS: f64 = 0.15;
/// A cut that leaves more than this part of the loss has changed nothing, and how much of it is usual then.
const CHANGES_NOTHING: f64 = 0.7;
const USUAL_WEIGHT: f64 = 0.5;
/// The most that may be usual: in a crowd on a full link, one flow's cut changes nothing either.
const USUAL_MOST: f64 = 0.35;
/// The least that a cut leaves of the rate.
const CUT_MOST: f64 = 0.05;

struct ContactRate {
    pull: f64,
    yields: f64,
    margin: f64,
    blind_rate: f64,
    train: u32,
    standing_queue: f64,
    /// In s.
    standing_delay: f64,
    patience: u32,
    backs_off: f64,
    /// Round trips in a row in which a queue stood.
    standing_for: u32,
    /// Round trips in a row in which none stood.
    quiet_for: u32,
    /// Another flow on the link does not yield to a queue.
    contested: bool,
    /// There is no contact.
    silent: bool,
    /// When reports begin to cover the changed plan.
    settles: Option<Instant>,
    rtt: Option<Duration>,
    rtt_min: Option<Duration>,
    /// Share lost while no queue stood.
    background: f64,
    /// The share that was lost without a queue when the rate was lowered last.
    lost: Option<f64>,
    /// A train is due.
    probes: bool,
    packet_bits: f64,
    /// Rate of the link in bit/s; `None` while unknown.
    link: Option<f64>,
    /// `link` comes from the plan.
    planned: bool,
    rate: Option<f64>,
    base: Option<Base>,
    round: Round,
}

/// Least one-way delay, and when it was measured.
#[derive(Clone, Copy, Debug)]
struct Base {
    least: Duration,
    seen: Instant,
}

/// What was reported since the rate was set.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Option<Instant>,
    sent: u64,
    received: u64,
    /// The least one-way delay reported.
    one_way: Option<Duration>,
}

impl ContactRate {
    /// Whether a queue stood at the bottleneck all the time of the round.
    fn queue_stands(&self) -> bool {
        let (Some(base), Some(one_way), Some(link)) = (self.base, self.round.one_way, self.link) else {
            return false;
        };
        (one_way - base.least).as_secs_f64()
            > (self.standing_queue * self.packet_bits / link).max(self.standing_delay)
    }
    fn end_of_round(&mut self, now: Instant) {
        let (Some(rate), Some(link)) = (self.rate, self.link) else { return };
        let stands = self.queue_stands();
        self.learn(stands);
        let grown = rate + self.pull * (link - rate) * math::sqrt((rate / link).min(1.0));
        let next = match (stands, self.contested) {
            (false, _) if self.loses_more() => self.cut(now, rate),
            (false, _) => {
                self.lost = None;
                grown
            }
            (true, false) => rate * self.round.share() * (1.0 - self.yields),
            (true, true) if self.overflows() => rate * self.round.share() * (1.0 - self.backs_off),
            (true, true) => grown,
        };
        // Never so little that nothing is left to measure by.
        self.rate = Some(next.clamp(LEAST_SHARE * link, link * (1.0 - self.margin)));
        self.probes |= !self.planned && self.is_due(rate, link);
        self.round = Round { began: Some(now), ..Round::default() };
    }
    /// Whether another train may show that the link has grown.
    fn is_due(&self, rate: f64, link: f64) -> bool {
        let window = self.rtt_min.map_or(0.0, |rtt| rate * rtt.as_secs_f64() / self.packet_bits);
        let rested = self.quiet_for > 0 && self.quiet_for.is_multiple_of(QUIET_PROBES);
        rested && rate > 0.9 * link && window >= TRAINS_LEAST * f64::from(self.train)
    }
    /// Whether more is lost than usual, beyond luck and an excess.
    fn loses_more(&self) -> bool {
        let packets = self.round.sent as f64 * 8.0 / self.packet_bits;
        let usual = self.background;
        let chance = 3.0 * math::sqrt(usual.max(1.0 / packets) * (1.0 - usual) / packets);
        1.0 - self.round.share() > usual + EXCESS + chance
    }
    /// The rate after losses without a queue.
    fn cut(&mut self, now: Instant, rate: f64) -> f64 {
        let lost = 1.0 - self.round.share();
        if self.lost.is_some_and(|before| lost > CHANGES_NOTHING * before) {
            self.background += USUAL_WEIGHT * (lost.min(USUAL_MOST) - self.background);
        }
        self.lost = Some(lost);
        // Reports of the next round trip cover packets sent at the old rate.
        self.settles = self.rtt.map(|rtt| now.saturating_add(rtt));
        rate * self.round.share().max(CUT_MOST) * (1.0 - self.yields)
    }
    fn see(&mut self, now: Instant, one_way: Duration) {
        let seen = Base { least: one_way, seen: now };
        let base = self.base.get_or_insert(seen);
        let drifted = DRIFT * (now - base.seen).as_secs_f64();
        if one_way <= base.least + Duration::from_secs_f64(drifted) {
            *base = seen;
        }
    }
    /// Updates `contested`, and the loss without a queue.
    fn learn(&mut self, stands: bool) {
        if stands {
            (self.standing_for, self.quiet_for) = (self.standing_for + 1, 0);
        } else {
            (self.standing_for, self.quiet_for) = (0, self.quiet_for + 1);
            if !self.loses_more() {
                self.background += BACKGROUND_WEIGHT * (1.0 - self.round.share() - self.background);
            }
        }
        self.contested = match self.contested {
            false => self.standing_for > self.patience,
            true => self.quiet_for < QUIET_ENDS,
        };
    }
    /// Whether more was lost than without a queue, beyond luck.
    fn overflows(&self) -> bool {
        let packets = self.round.sent as f64 * 8.0 / self.packet_bits;
        let expected = packets * self.background;
        let lost = packets * (1.0 - self.round.share());
        lost > expected + 3.0 * math::sqrt(expected) + 1.0
    }
    /// The plan gives the link another rate.
    fn plan(&mut self, now: Instant, rate: BitRate) {
        // Reports of the next round trip cover packets sent under the old plan.
        self.round = Round::default();
        self.settles = self.rtt_min.map(|rtt| now.saturating_add(rtt));
        self.silent = rate == BitRate(0);
        if self.silent {
            return;
        }
        let link = rate.0 as f64;
        // Other flows keep their share of the link.
        let share = match (self.rate, self.link) {
            (Some(rate), Some(link)) => (rate / link).min(1.0 - self.margin),
            _ => 1.0 - self.margin,
        };
        (self.link, self.rate, self.planned) = (Some(link), Some(link * share), true);
    }
}

impl Round {
    /// Share of the bytes sent that arrived.
    fn share(&self) -> f64 {
        (self.received as f64 / self.sent.max(1) as f64).min(1.0)
    }
}

impl Controller for ContactRate {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(one_way) = ack.one_way {
            self.see(ack.now, one_way);
            self.round.one_way = Some(self.round.one_way.map_or(one_way, |least| least.min(one_way)));
        }
        let Some(window) = ack.window else { return };
        if let Some(train) = window.train.filter(|_| !self.planned) {
            let seen = train.0 as f64;
            let most = self.rate.map_or(seen, |rate| TRAIN_MOST * rate);
            self.link = Some(self.link.map_or(seen, |link| link.max(seen.min(most))));
            self.rate = self.rate.or(Some(seen * (1.0 - self.margin)));
        }
        if let Some(rtt) = ack.rtt {
            self.rtt = Some(rtt);
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        if self.settles.is_some_and(|settles| ack.now < settles) {
            self.round = Round::default();
            return;
        }
        let began = *self.round.began.get_or_insert(ack.now);
        self.round.sent += window.sent.0;
        self.round.received += window.received.0;
        if ack.rtt.is_some_and(|rtt| ack.now - began >= rtt) {
            self.end_of_round(ack.now);
        }
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn on_sent(&mut self, _: &Sent) {
        self.probes = false;
    }
    fn on_event(&mut self, now: Instant, event: &ControllerEvent) {
        if let ControllerEvent::Plan(rate) = *event {
            self.plan(now, rate);
        }
    }
    fn window(&self) -> Bytes {
        Bytes::MAX
    }
    fn rate(&self) -> Option<BitRate> {
        let rate = self.rate.unwrap_or(self.blind_rate) as u64;
        Some(BitRate(if self.silent { 0 } else { rate }))
    }
    fn advice(&self) -> Advice {
        let probe_train = if self.link.is_none() || self.probes { self.train } else { 1 };
        Advice { probe_train, ..Advice::NONE }
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("rate", self.rate.unwrap_or(self.blind_rate)));
        seen.push(("link", self.link.unwrap_or(f64::NAN)));
        seen.push(("one_way_min", self.base.map_or(f64::NAN, |base| base.least.as_secs_f64())));
        seen.push(("contested", f64::from(u8::from(self.contested))));
    }
}
