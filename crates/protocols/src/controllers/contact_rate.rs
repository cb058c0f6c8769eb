//! Sends at the rate of the contact from the first packet on, and shares it.
//!
//! A rate in the contact plan needs no probing. Without one, the flow sends short packet trains during the first
//! light-time round trip; the trains arrive at the rate of the link, so one report is enough. A flow alone on the link
//! stays at that rate: no queue, no loss.
//!
//! Once per round trip, the flow looks for others. They show as a queue that stands at the bottleneck for a whole round
//! trip: more than `standing_queue` packets above the least one-way delay seen. Only differences of one-way delays
//! count, so neither the clocks' offset nor a slow return path is a queue. Or they show as losses beyond the usual
//! ([`ExcessLoss`]), where a queue is too short to be seen, or was full from the start. Then the link is full, and the
//! flow takes the rate at which its packets arrived, less a share `yields`: what arrives of each flow is in proportion to
//! what it sends, so all of them shrink by one factor, once. Small flows yield less than large ones.
//!
//! Else it returns to the rate at which the link was full, and then goes beyond it, first by small steps and then by
//! larger ones, up to a share `pull` of the link rate that it does not use, times the cube root of the part that it does use.
//! So small flows grow by a larger factor than large ones. Both differences make flows more equal (Chiu and Jain 1989)
//! without a common loss, from any start.
//!
//! While a queue falls, no flow has to yield more. A queue that `patience` reductions did not make smaller is kept full
//! by flows that know only loss, such as CUBIC, or the path has become longer. Then the rate before them
//! returns, and the flow grows as before and gives up `backs_off` when more is lost than usual; until no queue has stood
//! for a while. A delay that stays is the least one from then on, even if a shorter one was measured before.
//!
//! The least delay may grow by [`DRIFT`], as distances and clock errors do; otherwise a receding node would take its
//! longer path for a queue.
//!
//! A link without a plan may carry more than its train said, or grow. After a while without a queue the flow makes an
//! attempt: it goes beyond its rate in steps that double, each once the one before has arrived. If that fills the link,
//! the old rate returns, and the next attempt waits twice as long. A flow without trains begins with an attempt.
//! A plan may be wrong, by `beyond` at most.
//!
//! A flow that continues from another transport starts at the rate of that one, after a short pause at half of it: the
//! other may have left a queue.
//!
//! The plan may change, by its next contact or by the network's management: the flow keeps its share of
//! the link, and sends nothing while there is no contact.

use super::blind::Blind;
use super::excess_loss::ExcessLoss;
use super::{Ack, Advice, Cause, Controller, ControllerEvent, Flow, Loss, Sent, Window};
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
            3.0,
            (1.0, 1e6),
            "Reductions without effect on a queue after which others count as flows that fill queues.",
        ),
        Parameter::number(
            "backs_off",
            "",
            0.2,
            (0.0, 0.9),
            "Share given up at an overflow beside such flows.",
        ),
        Parameter::number(
            "beyond",
            "",
            2.0,
            (1.0, 100.0),
            "How many times the planned rate attempts may reach; 1: the plan is never exceeded.",
        ),
    ],
    only_with: &["adaptive", "ltp", "udpdtn"],
    build: |parameters, flow| {
        let margin = parameters.number("margin");
        Box::new(ContactRate {
            pull: parameters.number("pull"),
            yields: parameters.number("yields"),
            margin,
            standing_queue: parameters.number("standing_queue"),
            standing_delay: parameters.number("standing_delay"),
            patience: parameters.number("patience") as u32,
            backs_off: parameters.number("backs_off"),
            beyond: parameters.number("beyond"),
            packet_bits: flow.packet.0 as f64 * 8.0,
            on_link: flow.packet.0 as f64 / flow.segment.0.max(1) as f64,
            blind: Blind::new(
                parameters.number("blind_rate"),
                parameters.number("train") as u32,
                flow.packet.0 as f64 * 8.0,
            ),
            link: flow.planned_rate.map(|rate| rate.0 as f64),
            planned: flow.planned_rate.map(|rate| rate.0 as f64),
            rate: flow.planned_rate.map(|rate| rate.0 as f64 * (1.0 - margin)),
            crowded: None,
            full: None,
            step: parameters.number("pull"),
            attempt: Attempt { bold: false, waits: WAITS, quiet: 0.0, from: None, returns_to: None },
            silent: false,
            drains: None,
            settles: None,
            rtt: None,
            rtt_min: flow.planned_round_trip,
            base: None,
            queue: 0.0,
            waited_most: 0.0,
            limit: f64::MAX,
            futile: None,
            quiet_for: 0,
            contested: false,
            loss: ExcessLoss::default(),
            heard: false,
            round: Round::default(),
        })
    },
};

/// The least rate, of the link's.
const LEAST_SHARE: f64 = 0.005;
/// ... and of the rate at which packets arrived, where others filled a link of unknown rate.
const CROWDED_LEAST: f64 = 0.1;
/// How much the least delay may grow, in s/s: nodes that part at 30 km/s, or clocks 100 ppm apart.
const DRIFT: f64 = 1e-4;
/// Rounds after which a least delay is old.
const BASE_ROUNDS: u32 = 32;
/// A queue below this part of the one before falls.
const FALLS: f64 = 0.95;
/// Round trips without a standing queue after which the link is no longer contested.
const QUIET_ENDS: u32 = 10;
/// A round holds these packets, and lasts a round trip; or this part of one if more is lost than usual.
const ROUND_PACKETS: f64 = 8.0;
const ROUND_LEAST: f64 = 0.25;
/// Round trips that a round of few packets counts for, at most.
const ROUND_TRIPS: f64 = 16.0;
/// A queue is full if packets wait on average for this part of the longest time; that is forgotten by this factor a round.
const FULL: f64 = 0.6;
const FORGETS: f64 = 0.98;
/// ... and its losses are its own from here on.
const FULL_LOSES: f64 = 0.05;
/// A queue that fills this part of a full one stands.
const STANDS_OF_FULL: f64 = 0.5;
/// Part of a round's time by which the path is taken to have become longer: less may be jitter, or a queue that grows.
const SLOWED: (f64, f64) = (0.2, 0.5);
/// Less than this share of what was not lost is not believed at once.
const PAUSES: f64 = 0.9;
/// Share of the difference to the rate of a full link that a round trip adds, at most, and from where on it is reached.
const RETURNS: f64 = 0.25;
const RETURNS_MOST: f64 = 0.7;
const RETURNED: f64 = 0.98;
/// The first step beyond that rate, as a part of `pull`, and the factor between steps.
const STEP_FIRST: f64 = 0.2;
const STEP_GROWS: f64 = 1.3;
/// The factor between steps of an attempt, and the largest.
const ATTEMPT_GROWS: f64 = 2.0;
const STEP_MOST: f64 = 0.5;
/// Flows with this share of the link or more yield in full; of smaller ones it is the root that counts.
const YIELDS_IN_FULL: f64 = 0.25;
/// Round trips without a queue before the link is tried beyond its rate: at first, after an attempt that the link
/// carried, and at most; and the share of the rate that must be used.
const WAITS: u32 = 12;
const WAITS_CARRIED: u32 = 2;
const WAITS_MOST: u32 = 256;
const USED: f64 = 0.95;
/// ... and the share of it that must arrive.
const ARRIVES: f64 = 0.9;
/// A flow without a train begins to try at once if this share of its packets arrived, with this step.
const STARTS: f64 = 0.5;
/// An attempt that gains this factor was no failure, though the link was full then.
const GAINS: f64 = 1.1;
/// Less than this factor is how arrivals are measured.
const MORE: f64 = 1.03;
/// How many times the rate of a train the link may turn out to carry, in one attempt.
const BEYOND: f64 = 2.0;
/// The least that a reduction leaves of the rate.
const CUT_MOST: f64 = 0.05;
/// How long a queue that another transport may have left is drained, at most.
const DRAINS_MOST: Duration = Duration::from_nanos(500_000_000);

struct ContactRate {
    pull: f64,
    yields: f64,
    margin: f64,
    standing_queue: f64,
    /// In s.
    standing_delay: f64,
    patience: u32,
    backs_off: f64,
    beyond: f64,
    packet_bits: f64,
    /// Bytes on the link for each of data.
    on_link: f64,
    blind: Blind,
    /// Rate of the link in bit/s; `None` while unknown.
    link: Option<f64>,
    /// The rate of the plan in bit/s; `None` without one.
    planned: Option<f64>,
    rate: Option<f64>,
    /// The rate at which packets arrived when the link was full of others' and its own was not known.
    crowded: Option<f64>,
    /// The rate at which the link was full.
    full: Option<f64>,
    step: f64,
    attempt: Attempt,
    /// Nothing is sent: the plan has no contact now.
    silent: bool,
    /// Until then half the rate is sent, so that a queue that was found becomes empty.
    drains: Option<Instant>,
    /// When reports begin to cover what is sent now.
    settles: Option<Instant>,
    rtt: Option<Duration>,
    rtt_min: Option<Duration>,
    base: Option<Base>,
    /// The queue that stood in the last round, in s.
    queue: f64,
    /// The longest that packets have waited, in s; it is forgotten slowly.
    waited_most: f64,
    /// The wait in a queue that was full, in s.
    limit: f64,
    /// Reductions after which the queue did not fall.
    futile: Option<Futile>,
    /// Round trips in a row in which none stood.
    quiet_for: u32,
    /// Another flow on the link does not yield to a queue.
    contested: bool,
    loss: ExcessLoss,
    /// A report has come.
    heard: bool,
    round: Round,
}

/// To use a link beyond its rate.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    /// It begins with a large step: nothing is known of the link.
    bold: bool,
    /// Round trips without a queue before the next, and since the one before.
    waits: u32,
    quiet: f64,
    /// The rates of the link and of the flow before this one.
    from: Option<(f64, f64)>,
    /// The rate after one that failed, once the queue is gone: it made none.
    returns_to: Option<f64>,
}

/// Reductions in a row for a queue, and the rate and the queue before the first.
#[derive(Clone, Copy, Debug)]
struct Futile {
    rate: f64,
    reductions: u32,
    queue: f64,
    /// When reports show the effect of the last.
    shows: Instant,
}

/// Least one-way delay, and when it was measured.
#[derive(Clone, Copy, Debug)]
struct Base {
    least: Duration,
    seen: Instant,
    /// The least and the most of N rounds.
    rounds: u32,
    range: (Duration, Duration),
}

impl Base {
    fn new(seen: Instant, least: Duration) -> Self {
        Self { least, seen, rounds: 0, range: (Duration::MAX, Duration::ZERO) }
    }
    /// A delay that stays as it is, but for `varies`, is the path's: queues change.
    fn end_of_round(&mut self, least: Duration, varies: Duration) {
        self.range = (self.range.0.min(least), self.range.1.max(least));
        self.rounds += 1;
        if self.rounds == BASE_ROUNDS {
            if self.range.1 - self.range.0 < varies {
                self.least = self.least.max(self.range.0);
            }
            (self.rounds, self.range) = (0, (Duration::MAX, Duration::ZERO));
        }
    }
}

/// What was reported since the rate was set.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Option<Instant>,
    sent: u64,
    received: u64,
    /// Data that left since then.
    left: u64,
    /// The round trip at its begin.
    rtt: Option<Duration>,
    /// The least one-way delay reported.
    one_way: Option<Duration>,
    waits: Waits,
}

/// How long packets waited, from the least delays of the reports, in s.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    sum: f64,
    count: f64,
    most: f64,
    last: Option<f64>,
    /// Differences between one and the next.
    jumps: f64,
}

impl Waits {
    fn add(&mut self, wait: f64) {
        self.sum += wait;
        self.count += 1.0;
        self.most = self.most.max(wait);
        self.jumps += self.last.replace(wait).map_or(0.0, |last| (wait - last).abs());
    }
    /// How far the least of them lies above the path's on average where delays vary independently: of `n` uniform ones
    /// their range divided by `n + 1`, and the range is three times the mean difference between two.
    fn scatter(&self) -> f64 {
        3.0 * self.jumps / (self.count - 1.0).max(1.0) / (self.count + 1.0)
    }
    /// Whether packets waited about as long as they ever did, and longer than one packet needs on the link.
    fn is_full(&self, most_ever: f64, one: f64) -> bool {
        self.sum / self.count.max(1.0) > (FULL * most_ever).max(one)
    }
}

/// What a round showed.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// More was lost than usual.
    over: bool,
    /// Packets waited about as long as they ever did.
    queue_full: bool,
    /// A queue stood all the time, and it is smaller than the one before.
    stands: bool,
    falls: bool,
    /// What arrives at this rate, in bit/s, with what is usually lost.
    through: f64,
    /// As much as this rate arrived.
    used: bool,
    /// Round trips that the round took.
    trips: f64,
}

impl ContactRate {
    fn packets(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / self.packet_bits
    }
    fn in_flight(&self) -> f64 {
        self.rate.zip(self.rtt).map_or(0.0, |(rate, rtt)| rate * rtt.as_secs_f64() / self.packet_bits)
    }
    fn is_over(&self) -> bool {
        self.loss.is_more(self.in_flight())
    }
    fn most(&self, link: f64) -> f64 {
        link * (1.0 - self.margin)
    }

    // --- what a round shows -------------------------------------------------------------------

    /// Whether the round is over: after a round trip without the queue, which may grow faster than time passes.
    fn ends(&self, now: Instant) -> bool {
        let Some((began, rtt)) = self.round.began.zip(self.rtt) else { return false };
        let wait = self.least_wait().unwrap_or(Duration::ZERO);
        let trip = (rtt - wait).max(self.rtt_min.unwrap_or(rtt));
        let trips = (now - began).as_secs_f64() / trip.as_secs_f64();
        // Arrivals of a few packets are no rate of a link.
        let counted = if self.link.is_some() { self.round.sent } else { self.round.received };
        self.packets(counted) >= ROUND_PACKETS && (trips >= 1.0 || trips >= ROUND_LEAST && self.is_over())
    }
    /// The least delay reported in it above the path's.
    fn least_wait(&self) -> Option<Duration> {
        Some(self.round.one_way? - self.base?.least)
    }
    /// Rate of arrivals in it, in bit/s.
    fn arrivals(&self, now: Instant) -> Option<f64> {
        let took = (now - self.round.began?).as_secs_f64();
        (took > 0.0).then(|| self.round.received as f64 * 8.0 / took)
    }
    fn look(&mut self, now: Instant, rate: f64, link: f64) -> Seen {
        let wait = self.least_wait().map_or(0.0, Duration::as_secs_f64);
        let queue = (wait - self.round.waits.scatter()).max(0.0);
        let before = std::mem::replace(&mut self.queue, queue);
        let stands = queue > self.standing(link);
        // Losses in a full queue are not the path's.
        self.waited_most = self.round.waits.most.max(self.waited_most * FORGETS);
        let queue_full = self.round.waits.is_full(self.waited_most, self.packet_bits / link);
        if queue_full && self.is_over() {
            self.limit = self.waited_most;
        }
        if queue_full && self.round.lost() > FULL_LOSES {
            self.loss.doubt(self.packets(self.round.sent));
        }
        let took = self.round.began.map_or(0.0, |began| (now - began).as_secs_f64());
        let trip = self.rtt.map_or(took, Duration::as_secs_f64);
        // Arrivals pause where a delay has jumped, and come slowly where it grows.
        let arrivals = self.arrivals(now).unwrap_or(rate);
        let arrived = (arrivals * self.slowed(took)).max(PAUSES * rate * self.round.share());
        Seen {
            over: self.is_over(),
            queue_full,
            stands,
            falls: queue < FALLS * before,
            through: arrived / (1.0 - self.loss.usual()),
            used: self.is_used(now, arrivals, rate),
            trips: (took / trip).min(ROUND_TRIPS),
        }
    }
    /// By what factor arrivals came more slowly than they left in a round of `took` s, because the path became longer:
    /// where only round trips are known, and no queue.
    fn slowed(&self, took: f64) -> f64 {
        let Some((first, last)) = self.round.rtt.zip(self.rtt).filter(|_| self.base.is_none()) else {
            return 1.0;
        };
        let longer = (last - first).as_secs_f64() / took.max(f64::MIN_POSITIVE);
        if longer < SLOWED.0 { 1.0 } else { 1.0 / (1.0 - longer.min(SLOWED.1)) }
    }
    /// Whether as much was sent as this rate allows, and about as much arrived.
    fn is_used(&self, now: Instant, arrivals: f64, rate: f64) -> bool {
        let took = self.round.began.map_or(0.0, |began| (now - began).as_secs_f64());
        let sent = self.round.left as f64 * self.on_link * 8.0;
        sent > USED * rate * took && arrivals / (1.0 - self.loss.usual()) > ARRIVES * rate
    }
    /// The wait in s above which a queue stands: less where the queue is known to hold less.
    fn standing(&self, link: f64) -> f64 {
        let packet = self.packet_bits / link;
        (self.standing_queue * packet).min((self.limit * STANDS_OF_FULL).max(packet)).max(self.standing_delay)
    }
    /// Whether more was lost in the round than usual, beyond luck.
    fn overflows(&self) -> bool {
        let expected = self.loss.usual() * self.packets(self.round.sent);
        let lost = self.round.lost() * self.packets(self.round.sent);
        lost > expected + 3.0 * math::sqrt(expected) + 1.0
    }
    /// Updates `contested`, and the usual loss.
    fn learn(&mut self, seen: &Seen, rate: f64, link: f64) {
        if seen.stands {
            self.quiet_for = 0;
        } else {
            (self.futile, self.quiet_for) = (None, self.quiet_for + 1);
            // A flow that goes beyond the rate of a full link may lose by that.
            let below = self.attempt.from.is_none() && self.full.is_none_or(|full| rate < RETURNED * full);
            if !seen.over {
                self.loss.learn(self.round.lost(), self.packets(self.round.sent), below);
            }
        }
        self.contested &= self.quiet_for < QUIET_ENDS;
        let varies = Duration::from_secs_f64(self.standing(link));
        if let (Some(base), Some(one_way)) = (&mut self.base, self.round.one_way) {
            base.end_of_round(one_way, varies);
        }
    }

    // --- what follows from it -----------------------------------------------------------------

    fn end_of_round(&mut self, now: Instant) {
        if let Some((rate, link)) = self.rate.zip(self.link) {
            let seen = self.look(now, rate, link);
            self.learn(&seen, rate, link);
            let next = self.next(now, rate, link, &seen);
            if seen.over {
                self.loss.answered();
            }
            self.rate = Some(next.clamp(self.least(link), self.most(link)));
            self.attempt(&seen, link);
        } else if let Some(arrived) = self.arrivals(now) {
            let most_arrived = self.round.share() > STARTS;
            self.discover(now, arrived.max(self.blind.alone()));
            if most_arrived {
                (self.attempt.waits, self.attempt.bold) = (0, true);
            } else {
                // Others fill the link, which may carry far more.
                (self.rate, self.crowded) = (Some(arrived), Some(arrived));
                self.attempt.waits = WAITS_CARRIED;
            }
        }
        self.round = Round { began: Some(now), ..Round::default() };
    }
    fn next(&mut self, now: Instant, rate: f64, link: f64, seen: &Seen) -> f64 {
        match (seen.stands, self.contested) {
            (true, true) if self.overflows() => rate.min(seen.through * (1.0 - self.backs_off)),
            (true, false) if seen.falls && !seen.over => {
                self.futile = None;
                rate
            }
            (true, false) => {
                self.loss.ends_trial();
                self.yields_to_queue(now, rate, link, seen)
            }
            (false, _) if seen.over && seen.queue_full => {
                self.loss.ends_trial();
                self.yields(rate, link, seen.through)
            }
            (false, _) if seen.over => self.reduces(now, rate, link, seen.through, self.round.lost()),
            _ => self.grows(rate, link, seen),
        }
    }
    fn grows(&mut self, rate: f64, link: f64, seen: &Seen) -> f64 {
        let trips = seen.trips;
        let most = self.most(link);
        if let Some(before) = self.attempt.returns_to.take() {
            return before.max(rate).min(most);
        }
        if self.attempt.from.is_some() {
            // Each step is judged by what arrives of it.
            if !seen.used || self.queue * link > self.packet_bits {
                return rate;
            }
            self.step = (self.step * ATTEMPT_GROWS).min(STEP_MOST);
            return (rate * (1.0 + self.step)).min(most);
        }
        if let Some(full) = self.full.filter(|full| rate < RETURNED * full) {
            return rate + (RETURNS * trips).min(RETURNS_MOST) * (full.min(most) - rate);
        }
        let share = (self.step * trips).min(self.pull);
        self.step = (self.step * STEP_GROWS).min(self.pull);
        rate + share * (most - rate) * math::cbrt((rate / link).min(1.0))
    }
    /// A queue stands and does not fall. If reductions do not change that, flows like this one are not its cause.
    fn yields_to_queue(&mut self, now: Instant, rate: f64, link: f64, seen: &Seen) -> f64 {
        let shows = now.saturating_add(self.rtt.unwrap_or(Duration::ZERO));
        let futile = self.futile.get_or_insert(Futile { rate, reductions: 0, queue: self.queue, shows });
        if self.round.began.is_some_and(|began| began >= futile.shows) {
            if self.queue < FALLS * futile.queue {
                *futile = Futile { rate, reductions: 0, queue: self.queue, shows };
            } else {
                futile.reductions += 1;
                futile.shows = shows;
                if futile.reductions >= self.patience {
                    let before = futile.rate;
                    (self.futile, self.contested) = (None, true);
                    self.settle(now);
                    return before;
                }
            }
        }
        self.yields(rate, link, seen.through)
    }
    /// The link is full: as much as arrives is sent, and less. Reports of packets sent at an older rate change nothing.
    fn yields(&mut self, rate: f64, link: f64, through: f64) -> f64 {
        self.step = self.pull * STEP_FIRST;
        let next = through * (1.0 - self.yields * math::sqrt((through / link / YIELDS_IN_FULL).min(1.0)));
        if next < rate {
            self.full = Some(through.min(rate));
        }
        next.min(rate)
    }
    /// The rate after losses without a queue.
    fn reduces(&mut self, now: Instant, rate: f64, link: f64, through: f64, lost: f64) -> f64 {
        let rtt = self.rtt.unwrap_or(Duration::ZERO);
        match self.loss.reduces(now, rtt, rate, lost) {
            Some(before) => {
                (self.full, self.step) = (None, self.pull);
                self.settle(now);
                before * (1.0 - self.yields)
            }
            None => self.yields(rate, link, through.max(rate * CUT_MOST)),
        }
    }
    /// Tries whether the link carries more than its rate.
    fn attempt(&mut self, seen: &Seen, link: f64) {
        if seen.over || seen.stands {
            if let Some((from, rate)) = self.attempt.from.take() {
                self.attempt.returns_to = Some(rate);
                let carried = if seen.through < MORE * from { from } else { seen.through };
                self.link = Some(carried.min(link));
                if seen.through < GAINS * from {
                    self.attempt.waits = (self.attempt.waits * 2).min(WAITS_MOST);
                }
            }
            return;
        }
        if !seen.used {
            return;
        }
        self.attempt.quiet += seen.trips;
        let Some(rate) = self.rate.filter(|rate| *rate > USED * self.most(link)) else { return };
        let bound = self.planned.map_or(f64::MAX, |planned| planned * self.beyond);
        let next = (link * BEYOND).min(bound);
        let carried = self.attempt.from.is_some();
        if next > link && (carried || self.attempt.quiet > f64::from(self.attempt.waits)) {
            if self.attempt.from.replace((link, rate)).is_some() {
                self.attempt.waits = WAITS_CARRIED;
            }
            self.attempt.quiet = 0.0;
            if !carried {
                (self.full, self.step) = (None, self.pull * STEP_FIRST);
                if std::mem::take(&mut self.attempt.bold) {
                    self.step = STARTS;
                }
            }
            self.link = Some(next);
        }
    }

    /// A planned flow has sent for a round trip. Losses beyond chance show that the link is full: it reduces now.
    fn first_report(&mut self, now: Instant, window: &Window) {
        let Some((rate, link)) = self.rate.zip(self.link).filter(|_| self.is_over()) else { return };
        let share = window.received.0 as f64 / window.sent.0.max(1) as f64;
        let next = self.reduces(now, rate, link, rate * share, 1.0 - share);
        self.rate = Some(next.max(self.least(link)));
        self.loss.answered();
    }

    // --- what others know ---------------------------------------------------------------------

    /// Reports of the next round trip cover packets sent at another rate.
    fn settle(&mut self, now: Instant) {
        self.settles = self.rtt.or(self.rtt_min).map(|rtt| now.saturating_add(rtt));
        self.round = Round::default();
    }
    fn see(&mut self, now: Instant, one_way: Duration) {
        let base = self.base.get_or_insert(Base::new(now, one_way));
        let drifted = DRIFT * (now - base.seen).as_secs_f64();
        if one_way <= base.least + Duration::from_secs_f64(drifted) {
            (base.least, base.seen) = (one_way, now);
        }
        self.round.waits.add((one_way - base.least).as_secs_f64());
        self.round.one_way = Some(self.round.one_way.map_or(one_way, |least| least.min(one_way)));
    }
    /// The link carries this, in bit/s.
    fn discover(&mut self, now: Instant, link: f64) {
        (self.link, self.rate) = (Some(link), Some(self.most(link)));
        self.settle(now);
    }
    /// Never so little that nothing is left to measure by.
    fn least(&self, link: f64) -> f64 {
        self.crowded.map_or(f64::MAX, |arrived| CROWDED_LEAST * arrived).min(LEAST_SHARE * link)
    }
    fn count(&mut self, now: Instant, window: &Window) {
        let began = *self.round.began.get_or_insert(now);
        self.round.rtt = self.round.rtt.or(self.rtt);
        if now > began {
            self.round.sent += window.sent.0;
            self.round.received += window.received.0;
        }
        if self.rate.is_some() {
            let (sent, received) = (self.packets(window.sent.0), self.packets(window.received.0));
            self.loss.count(now, sent, sent - received);
        }
    }
    /// Another transport reached this rate on the same path. It may have left a queue, which would pass for the path.
    fn hand_over(&mut self, now: Instant, rate: BitRate) {
        let carried = rate.0 as f64;
        if self.rate.is_none_or(|rate| rate < carried) {
            self.link = Some(self.link.map_or(carried, |link| link.max(carried)));
            self.rate = Some(carried);
        }
        let drains = self.rtt.or(self.rtt_min).map_or(DRAINS_MOST, |rtt| (rtt * 2).min(DRAINS_MOST));
        self.drains = Some(now.saturating_add(drains));
        self.base = None;
        self.settle(now);
    }
    /// The plan gives the link another rate.
    fn plan(&mut self, now: Instant, rate: BitRate) {
        self.settle(now);
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
        self.full = self.full.zip(self.link).map(|(full, old)| full / old * link);
        (self.link, self.rate, self.planned) = (Some(link), Some(link * share), Some(link));
        self.attempt = Attempt { bold: false, waits: WAITS, quiet: 0.0, from: None, returns_to: None };
    }
}

impl Round {
    /// Share of the bytes sent that was lost.
    fn lost(&self) -> f64 {
        1.0 - self.share()
    }
    /// Share of the bytes sent that arrived.
    fn share(&self) -> f64 {
        (self.received as f64 / self.sent.max(1) as f64).min(1.0)
    }
}

impl Controller for ContactRate {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(one_way) = ack.one_way {
            self.see(ack.now, one_way);
        }
        let Some(window) = ack.window else { return };
        if let Some(rtt) = ack.rtt {
            self.rtt = Some(rtt);
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        if let Some(train) = window.train.filter(|_| self.link.is_none()) {
            self.discover(ack.now, train.0 as f64);
        }
        if self.settles.is_some_and(|settles| ack.now < settles) {
            self.round = Round::default();
            return;
        }
        let is_first = self.round.began.is_none() && !std::mem::replace(&mut self.heard, true);
        self.count(ack.now, &window);
        if is_first && self.rate.is_some() {
            self.first_report(ack.now, &window);
        }
        if self.rate.is_none() {
            self.blind.on_report(&window);
        }
        if self.ends(ack.now) {
            self.end_of_round(ack.now);
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        if self.rate.is_none() && loss.cause == Cause::Timeout {
            self.blind.on_timeout();
        }
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.round.left += sent.size.0;
        if self.rate.is_none() {
            self.blind.on_sent(sent.now);
        }
    }
    fn on_event(&mut self, now: Instant, event: &ControllerEvent) {
        match *event {
            ControllerEvent::Plan(rate) => self.plan(now, rate),
            ControllerEvent::Handover(rate) => self.hand_over(now, rate),
            ControllerEvent::Deadline => self.drains = self.drains.filter(|until| now < *until),
            _ => {}
        }
    }
    fn deadline(&self) -> Option<Instant> {
        self.drains
    }
    fn window(&self) -> Bytes {
        Bytes::MAX
    }
    fn rate(&self) -> Option<BitRate> {
        let rate = self.rate.unwrap_or(self.blind.rate());
        let share = if self.drains.is_some() { 0.5 } else { 1.0 };
        Some(BitRate(if self.silent { 0 } else { (rate * share) as u64 }))
    }
    fn advice(&self) -> Advice {
        let probe_train = if self.link.is_none() { self.blind.train() } else { 1 };
        let discovered_rate = self.rate.map(|rate| BitRate(rate as u64));
        Advice { probe_train, discovered_rate, ..Advice::NONE }
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("rate", self.rate.unwrap_or(self.blind.rate())));
        seen.push(("link", self.link.unwrap_or(f64::NAN)));
        seen.push(("one_way_min", self.base.map_or(f64::NAN, |base| base.least.as_secs_f64())));
        seen.push(("contested", f64::from(u8::from(self.contested))));
        seen.push(("usual_loss", self.loss.usual()));
    }
}
