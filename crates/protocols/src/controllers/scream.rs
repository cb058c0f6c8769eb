//! SCReAM, version 2: a window that backs off from loss, from marks and, as if the queue had marked packets, from
//! queueing delay (draft-johansson-ccwg-rfc8298bis-screamv2, which replaces RFC 8298).
//!
//! Network congestion control (section 4.2) and pacing (section 4.3.3). Media rate control (section 4.4) belongs to a
//! video encoder and is omitted. Section numbers below are the draft's. See the page for what differs.

use super::delay_history::DelayHistory;
use super::{Ack, Cause, Controller, Flow, Loss, Sent};
use crate::parameter::{self, Parameter, Parameters};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "scream",
    paper: "draft-johansson-ccwg-rfc8298bis-screamv2 (SCReAMv2)",
    parameters: &[
        Parameter::number(
            "target",
            "s",
            0.06,
            (0.001, 100.0),
            "Target queueing delay without competing flows (QDELAY_TARGET_LO, section 4.2.2).",
        ),
        Parameter::number(
            "target_max",
            "s",
            0.4,
            (0.001, 100.0),
            "Highest target beside flows that fill queues (QDELAY_TARGET_HI, section 4.2.2).",
        ),
        Parameter::flag(
            "competes",
            true,
            "Raise the target beside flows that fill queues (section 4.2.1.4.1).",
        ),
        Parameter::number(
            "beta_loss",
            "",
            0.7,
            (0.1, 0.99),
            "Share of the window kept after a loss event (BETA_LOSS, section 4.2.2).",
        ),
        Parameter::number(
            "beta_ecn",
            "",
            0.8,
            (0.1, 0.99),
            "Share of the window kept after marks, unless `l4s` (BETA_ECN, section 4.2.2).",
        ),
        Parameter::flag(
            "l4s",
            false,
            "Marks are those of an L4S queue: back off in proportion to them (IS_L4S, section 4.2.2).",
        ),
        Parameter::number(
            "growth",
            "",
            0.02,
            (0.0, 1.0),
            "Multiplicative growth per round trip (MUL_INCREASE_FACTOR, section 4.2.2).",
        ),
        Parameter::number(
            "overhead",
            "",
            1.0,
            (1.0, 10.0),
            "Data in flight at most, in reference windows (REF_WND_OVERHEAD, section 4.2.2; the draft's 5 is for video frames).",
        ),
        Parameter::word(
            "reaction",
            &["round_trip", "virtual_rtt"],
            "How often it backs off at most. `round_trip`: once per smoothed RTT, as section 4.2.1 says; `virtual_rtt`: once per 25 ms or RTT, whichever is shorter, as its formula has it.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| Box::new(Scream::new(parameters, &flow)),
};

/// Round-trip time below which growth is slower, in seconds (VIRTUAL_RTT, section 4.2.2).
const VIRTUAL_RTT_S: f64 = 0.025;
/// Least reference window, in segments: 3000 bytes of segments of 1000 (MIN_REF_WND and MSS, section 4.2.2).
const SEGMENTS_MIN: f64 = 3.0;
/// Headroom over the data in flight up to which the window grows (BYTES_IN_FLIGHT_HEAD_ROOM, section 4.2.2).
const FLIGHT_HEADROOM: f64 = 1.5;
/// Round trips after a congestion event during which growth is cautious (POST_CONGESTION_DELAY_RTT, section 4.2.2).
const CAUTIOUS_ROUNDS: f64 = 100.0;
/// Weight of a delay above the mean (QDELAY_AVG_G, section 4.2.1.4).
const DELAY_WEIGHT: f64 = 0.25;
/// Weights of a higher and of a lower share of marks (L4S_AVG_G_UP and L4S_AVG_G_DOWN, section 4.2.1.3).
const MARKS_WEIGHTS: (f64, f64) = (1.0 / 8.0, 1.0 / 128.0);
/// The share of marks is updated once per round trip, at least after this number of seconds (section 4.2.1.3).
const MARKS_UPDATE_S: f64 = 0.01;
/// The inflection point is set once per this number of round trips (section 4.2.2.1).
const INFLECTION_ROUNDS: f64 = 10.0;
/// Samples of the delay whose variance, and whose mean, say whether a queue is standing (section 4.2.1.4.1).
const VARIANCE_SAMPLES: usize = 200;
const MEAN_SAMPLES: usize = 50;
/// Loss events per round trip that show competing flows, and the variance below which a queue is standing
/// (section 4.2.1.4.1).
const COMPETING_LOSS: f64 = 0.002;
const STANDING_VARIANCE: f64 = 0.2;
/// Weight of a round trip in the rate of loss events. Ours: the draft names no filter.
const LOSS_WEIGHT: f64 = 0.01;
/// Minutes of base delays and samples of the current delay (BASE_HISTORY and CURRENT_FILTER of RFC 6817).
const BASE_MINUTES: usize = 10;
const CURRENT_SAMPLES: usize = 4;
/// Headroom of pacing, least paced rate, and the rate before the first round trip, in bit/s (PACKET_PACING_HEADROOM,
/// RATE_PACE_MIN, pace_bitrate; section 4.3.3).
const PACING_HEADROOM: f64 = 1.5;
const PACING_LEAST: f64 = 50_000.0;
const PACING_FIRST: f64 = 1e6;

/// Seconds since then; infinite where it never was.
fn since(now: Instant, then: Option<Instant>) -> f64 {
    then.map_or(f64::INFINITY, |then| (now - then).as_secs_f64())
}

/// The estimate of the queueing delay and its target (section 4.2.1.4). Times in seconds.
struct QueueDelay {
    history: DelayHistory,
    /// Delays are one way, not of a round trip.
    one_way: bool,
    /// qdelay and qdelay_avg.
    now_s: f64,
    mean_s: f64,
    updated: Option<Instant>,
    /// qdelay_target, and its bounds.
    target_s: f64,
    bounds_s: (f64, f64),
    competes: bool,
    /// The latest delays, in least targets (qdelay_norm_history).
    norms: VecDeque<f64>,
}

impl QueueDelay {
    fn new(parameters: &Parameters) -> Self {
        let least = parameters.number("target");
        Self {
            history: DelayHistory::new(BASE_MINUTES, CURRENT_SAMPLES),
            one_way: false,
            now_s: 0.0,
            mean_s: 0.0,
            updated: None,
            target_s: least,
            bounds_s: (least, parameters.number("target_max")),
            competes: parameters.flag("competes"),
            norms: VecDeque::new(),
        }
    }
    /// One-way delays where the transport measures them; otherwise round trips, which include queues on the return path.
    fn learn(&mut self, ack: &Ack) {
        if ack.one_way.is_some() && !self.one_way {
            self.history.clear();
            self.one_way = true;
        }
        let delay = if self.one_way { ack.one_way } else { ack.rtt };
        if let Some(delay) = delay {
            self.history.learn(ack.now, delay);
            self.now_s = self.history.queueing().map_or(0.0, Duration::as_secs_f64);
        }
    }
    /// The mean follows a lower delay at once and a higher one slowly.
    fn update(&mut self, now: Instant, rtt_s: f64, loss_rate: f64) {
        if since(now, self.updated) < rtt_s.min(VIRTUAL_RTT_S) {
            return;
        }
        self.updated = Some(now);
        let change = self.now_s - self.mean_s;
        self.mean_s += if change > 0.0 { DELAY_WEIGHT * change } else { change };
        if self.competes {
            self.adapt_target(loss_rate);
        }
    }
    /// Competing flows compensation (section 4.2.1.4.1).
    fn adapt_target(&mut self, loss_rate: f64) {
        let (least, most) = self.bounds_s;
        self.norms.push_back(self.now_s / least);
        if self.norms.len() > VARIANCE_SAMPLES {
            self.norms.pop_front();
        }
        let mean_of = |count: usize| {
            let count = count.min(self.norms.len());
            self.norms.iter().rev().take(count).sum::<f64>() / count as f64
        };
        let mean = mean_of(VARIANCE_SAMPLES);
        let squares = self.norms.iter().map(|norm| (norm - mean) * (norm - mean)).sum::<f64>();
        let variance = squares / self.norms.len() as f64;
        let seen = (mean_of(MEAN_SAMPLES) + variance.sqrt()) * least;
        let target = if loss_rate > COMPETING_LOSS {
            1.5 * seen
        } else if variance < STANDING_VARIANCE {
            seen
        } else if seen < least {
            seen.max(0.5 * self.target_s)
        } else {
            0.9 * self.target_s
        };
        self.target_s = target.min(most).max(least);
    }
    /// By how much the mean exceeds half of the target, in halves of the target.
    fn excess(&self) -> f64 {
        let half = self.target_s / 2.0;
        if self.now_s > half { ((self.mean_s - half) / half).max(0.0) } else { 0.0 }
    }
    /// Share of the growth that a queue leaves.
    fn growth(&self) -> f64 {
        (1.0 - self.mean_s / (self.target_s / 4.0)).max(0.1)
    }
}

/// The share of packets that an L4S queue marks (section 4.2.1.3).
#[derive(Default)]
struct Marks {
    /// l4s_alpha.
    share: f64,
    updated: Option<Instant>,
    /// Segments delivered and marked since then.
    delivered: f64,
    marked: f64,
}

impl Marks {
    fn update(&mut self, now: Instant, rtt_s: f64) {
        if self.delivered <= 0.0 || since(now, self.updated) < rtt_s.min(MARKS_UPDATE_S) {
            return;
        }
        let share = (self.marked / self.delivered).min(1.0);
        let (up, down) = MARKS_WEIGHTS;
        self.share = if share >= self.share {
            up * share + (1.0 - up) * self.share
        } else {
            (1.0 - down) * self.share
        };
        *self = Self { share: self.share, updated: Some(now), ..Self::default() };
    }
}

/// What happened in this round trip and in the one before.
#[derive(Default)]
struct Rounds {
    began: Option<Instant>,
    /// Most data in flight (max_bytes_in_flight, max_bytes_in_flight_prev).
    most: f64,
    most_before: f64,
    lost: bool,
    /// Loss events per round trip (loss_event_rate).
    loss_rate: f64,
}

impl Rounds {
    fn turn(&mut self, now: Instant, rtt_s: f64) {
        if since(now, self.began) < rtt_s {
            return;
        }
        self.began = Some(now);
        (self.most_before, self.most) = (self.most, 0.0);
        let lost = if std::mem::take(&mut self.lost) { 1.0 } else { 0.0 };
        self.loss_rate += LOSS_WEIGHT * (lost - self.loss_rate);
    }
    fn most(&self) -> f64 {
        self.most.max(self.most_before)
    }
}

struct Scream {
    segment: f64,
    /// Bytes on the link per byte of payload.
    header: f64,
    beta_loss: f64,
    beta_ecn: f64,
    l4s: bool,
    growth: f64,
    overhead: f64,
    every_round_trip: bool,
    /// Reference window and its inflection point, in bytes (ref_wnd, ref_wnd_i).
    window: f64,
    inflection: f64,
    inflection_set: Option<Instant>,
    /// Smoothed round-trip time in seconds (s_rtt).
    rtt_s: Option<f64>,
    delay: QueueDelay,
    marks: Marks,
    rounds: Rounds,
    /// A loss event and marks to which it has not reacted, and the data marked since the last growth.
    lost: bool,
    marked: bool,
    marked_bytes: f64,
    /// The last loss event or mark, and the last reaction (last_congestion_detected_time,
    /// last_reaction_to_congestion_time).
    congested: Option<Instant>,
    reacted: Option<Instant>,
}

impl Scream {
    fn new(parameters: &Parameters, flow: &Flow) -> Self {
        let segment = flow.segment.0 as f64;
        Self {
            segment,
            header: flow.packet.0 as f64 / segment,
            beta_loss: parameters.number("beta_loss"),
            beta_ecn: parameters.number("beta_ecn"),
            l4s: parameters.flag("l4s"),
            growth: parameters.number("growth"),
            overhead: parameters.number("overhead"),
            every_round_trip: parameters.word("reaction") == "round_trip",
            window: SEGMENTS_MIN * segment,
            inflection: 1.0,
            inflection_set: None,
            rtt_s: None,
            delay: QueueDelay::new(parameters),
            marks: Marks::default(),
            rounds: Rounds::default(),
            lost: false,
            marked: false,
            marked_bytes: 0.0,
            congested: None,
            reacted: None,
        }
    }
    /// Segments per window, one at most (ref_wnd_ratio).
    fn ratio(&self) -> f64 {
        (self.segment / self.window).min(1.0)
    }
    /// How far the window is from its inflection point: 0.1 at it, 1 from a third of it on (scl_t, section 4.2.2.1).
    fn distance(&self) -> f64 {
        let scale = 8.0 * (self.window - self.inflection) / self.inflection;
        (scale * scale).clamp(0.1, 1.0)
    }
    /// Few segments make small steps, in both directions.
    fn steadiness(&self) -> f64 {
        (1.0 - self.ratio()).max(0.5)
    }

    // --- reduction (section 4.2.2.1) ----------------------------------------------------------

    fn may_react(&self, now: Instant) -> bool {
        let rtt_s = self.rtt_s.unwrap_or(0.0);
        let interval = if self.every_round_trip { rtt_s } else { rtt_s.min(VIRTUAL_RTT_S) };
        since(now, self.reacted) >= interval
    }
    /// Share that a queueing delay takes, as if that had been marks (l4s_alpha_v). None where marks work.
    fn virtual_marks(&self) -> f64 {
        let equilibrium = 2.0 * self.segment / self.window;
        if self.marks.share < equilibrium { (2.0 * equilibrium * self.delay.excess()).min(1.0) } else { 0.0 }
    }
    /// Answers what happened since the last reaction. `distance`: from the inflection point that was valid then.
    fn react(&mut self, now: Instant, distance: f64) {
        if !self.may_react(now) {
            return;
        }
        let (lost, marked) = (std::mem::take(&mut self.lost), std::mem::take(&mut self.marked));
        let delayed = if lost || marked { 0.0 } else { self.virtual_marks() };
        if !lost && !marked && delayed <= 0.0 {
            return;
        }
        let rtt_s = self.rtt_s.unwrap_or(0.0);
        if since(now, self.inflection_set) > INFLECTION_ROUNDS * rtt_s {
            (self.inflection, self.inflection_set) = (self.window, Some(now));
        }
        if lost {
            self.window *= self.beta_loss;
        }
        if marked {
            self.answer_marks(now, distance);
        }
        self.window *= 1.0 - delayed / 2.0 * self.steadiness();
        self.window = self.window.max(SEGMENTS_MIN * self.segment);
        self.reacted = Some(now);
    }
    fn answer_marks(&mut self, now: Instant, distance: f64) {
        if !self.l4s {
            self.window *= self.beta_ecn;
            return;
        }
        let mut share = self.marks.share / 2.0 * self.steadiness();
        if self.delay.now_s < self.delay.target_s / 4.0 {
            share *= distance.max(0.25);
        }
        let rtt_s = self.rtt_s.unwrap_or(0.0).max(VIRTUAL_RTT_S);
        if since(now, self.reacted) > CAUTIOUS_ROUNDS * rtt_s && self.rounds.most_before > 0.0 {
            // Without congestion for long the window may have left what is in flight behind.
            self.window = self.window.min(self.rounds.most_before);
        }
        self.window *= 1.0 - share;
    }

    // --- increase (section 4.2.2.2) -----------------------------------------------------------

    fn grow(&mut self, now: Instant, acked: f64, distance: f64) {
        let Some(rtt_s) = self.rtt_s else { return };
        let acked = (acked - std::mem::take(&mut self.marked_bytes)).max(0.0);
        let short = (rtt_s / VIRTUAL_RTT_S).min(1.0);
        let mut growth = acked * self.ratio() * short * short * distance.max(0.25) * self.steadiness();
        if self.marks.share < 1e-4 {
            growth *= self.delay.growth();
        }
        let cautious = CAUTIOUS_ROUNDS * rtt_s.max(VIRTUAL_RTT_S);
        let calm = (since(now, self.congested) / cautious).min(1.0);
        growth *= 1.0 + self.growth * self.window / self.segment * calm * distance;
        let grown = self.window + growth;
        if grown <= self.segment + FLIGHT_HEADROOM * self.rounds.most() {
            self.window = grown;
        }
    }
    /// Media rate control would set the rate of an encoder to this (section 3.3), in bit/s of payload.
    fn window_rate(&self) -> Option<f64> {
        self.rtt_s.map(|rtt_s| 8.0 * self.window / rtt_s.max(1e-9))
    }
}

impl Controller for Scream {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.map(Duration::as_secs_f64) {
            // RFC 6298, section 2.
            self.rtt_s = Some(self.rtt_s.map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / 8.0));
        }
        // Handshake packets are shorter than data packets: their delay is too low for a base delay.
        if ack.acked.0 == 0 {
            return;
        }
        self.delay.learn(ack);
        let Some(rtt_s) = self.rtt_s else { return };
        self.rounds.turn(ack.now, rtt_s);
        if self.l4s {
            self.marks.delivered += ack.acked.0 as f64 / self.segment;
            self.marks.update(ack.now, rtt_s);
        }
        self.delay.update(ack.now, rtt_s, self.rounds.loss_rate);
        let distance = self.distance();
        self.react(ack.now, distance);
        self.grow(ack.now, ack.acked.0 as f64, distance);
    }
    fn on_loss(&mut self, loss: &Loss) {
        match loss.cause {
            Cause::Mark => {
                self.marked = true;
                self.congested = Some(loss.now);
                self.marked_bytes += self.segment;
                self.marks.marked += 1.0;
            }
            Cause::Gap if !loss.episode => {}
            Cause::Gap | Cause::Timeout => {
                self.lost = true;
                self.rounds.lost = true;
                self.congested = Some(loss.now);
            }
        }
        if loss.cause == Cause::Timeout {
            let distance = self.distance();
            self.react(loss.now, distance);
        }
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.rounds.most = self.rounds.most.max(sent.in_flight.0 as f64);
    }
    fn window(&self) -> Bytes {
        Bytes((self.overhead * self.window) as u64)
    }
    fn rate(&self) -> Option<BitRate> {
        let rate = self.window_rate().map_or(PACING_FIRST, |rate| rate.max(PACING_LEAST) * PACING_HEADROOM);
        Some(BitRate((rate * self.header) as u64))
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window));
        seen.push(("inflection", self.inflection));
        seen.push(("queueing_delay", self.delay.now_s));
        seen.push(("queueing_delay_mean", self.delay.mean_s));
        seen.push(("target", self.delay.target_s));
        seen.push(("marks", self.marks.share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const SEGMENT: u64 = 1_000;

    /// A flow that fills its window, on a path whose delays are given.
    struct Path {
        flow: Scream,
        now: Instant,
        delivered: u64,
    }

    impl Path {
        fn new(given: &[(&str, Value)]) -> Self {
            let given: BTreeMap<String, Value> =
                given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            let parameters = Parameters::resolve("scream", ENTRY.parameters, &given).expect("in range");
            let flow = Scream::new(&parameters, &Flow::new(Bytes(SEGMENT), Bytes(SEGMENT + 40)));
            Self { flow, now: Instant::from_secs(1), delivered: 0 }
        }
        fn with_window(given: &[(&str, Value)], segments: f64) -> Self {
            let mut path = Self::new(given);
            path.flow.window = segments * SEGMENT as f64;
            path
        }
        fn segments(&self) -> f64 {
            self.flow.window / SEGMENT as f64
        }
        /// Each segment of a window is acknowledged, evenly over a round trip.
        fn round(&mut self, rtt_s: f64, one_way_s: Option<f64>) {
            let count = self.segments() as u64;
            for _ in 0..count {
                let in_flight = Bytes(count * SEGMENT);
                self.flow.on_sent(&Sent { now: self.now, size: Bytes(SEGMENT), in_flight });
                self.now += Duration::from_secs_f64(rtt_s / count as f64);
                self.delivered += SEGMENT;
                self.flow.on_ack(&Ack {
                    now: self.now,
                    acked: Bytes(SEGMENT),
                    rtt: Some(Duration::from_secs_f64(rtt_s)),
                    one_way: one_way_s.map(Duration::from_secs_f64),
                    in_flight: Bytes((count - 1) * SEGMENT),
                    delivered: Bytes(self.delivered),
                    ..Ack::default()
                });
            }
        }
        fn rounds(&mut self, count: u32, rtt_s: f64) {
            (0..count).for_each(|_| self.round(rtt_s, None));
        }
        fn lose(&mut self, cause: Cause, episode: bool) {
            let in_flight = Bytes(self.segments() as u64 * SEGMENT);
            let lost = if cause == Cause::Mark { Bytes(0) } else { Bytes(SEGMENT) };
            self.flow.on_loss(&Loss {
                now: self.now,
                cause,
                lost,
                flight_size: in_flight,
                in_flight,
                episode,
                again: false,
            });
        }
    }

    proptest! {
        #[test]
        fn a_window_grows_by_about_a_segment_and_a_fiftieth_of_itself_per_round_trip(
            segments in 20_f64..500.0,
            rtt_s in 0.025_f64..100.0,
        ) {
            let mut path = Path::with_window(&[], segments);
            path.round(rtt_s, None);
            let grown = path.segments() - segments;
            let most = (1.0 + 0.021 * segments) * (1.0 - 1.0 / segments);
            prop_assert!((0.9 * most - 0.1..=most).contains(&grown), "{grown} of {most}");
        }
        #[test]
        fn a_round_trip_below_25_ms_grows_by_the_square_of_its_share(rtt_ms in 1_f64..25.0) {
            let grown = |rtt_s: f64| {
                let mut path = Path::with_window(&[], 50.0);
                path.round(rtt_s, None);
                path.segments() - 50.0
            };
            let (share, short) = (grown(rtt_ms / 1e3) / grown(0.025), rtt_ms / 25.0);
            prop_assert!((share - short * short).abs() < 0.02, "{share}");
        }
        #[test]
        fn a_loss_event_leaves_beta_and_marks_leave_beta_ecn_once_per_round_trip(
            segments in 20_f64..500.0,
            rtt_s in 0.001_f64..100.0,
        ) {
            for (cause, beta) in [(Cause::Gap, 0.7), (Cause::Timeout, 0.7), (Cause::Mark, 0.8)] {
                let mut path = Path::with_window(&[], segments);
                path.round(rtt_s, None);
                let before = path.segments();
                let reports = if cause == Cause::Timeout { 1 } else { 5 };
                (0..reports).for_each(|n| path.lose(cause, n == 0));
                path.round(rtt_s, None);
                let left = path.segments() / before;
                prop_assert!((beta - 0.01..beta + 0.06).contains(&left), "{cause:?}: {left}");
            }
        }
        #[test]
        fn a_queue_beyond_half_of_the_target_shrinks_the_window_and_a_shorter_one_does_not(
            segments in 20_f64..500.0,
            rtt_s in 0.02_f64..10.0,
            queue_ms in 1_f64..200.0,
        ) {
            let mut path = Path::with_window(&[("competes", Value::from(false))], segments);
            path.rounds(2, rtt_s);
            let before = path.segments();
            path.rounds(20, rtt_s + queue_ms / 1e3);
            if queue_ms <= 30.0 {
                prop_assert!(path.segments() > before);
            } else if queue_ms >= 45.0 {
                prop_assert!(path.segments() < before);
            }
            prop_assert!(path.segments() >= SEGMENTS_MIN);
        }
    }

    #[test]
    fn a_queue_on_the_return_path_counts_only_where_no_one_way_delay_is_measured() {
        for (one_way_s, shrinks) in [(Some(-1e6), false), (None, true)] {
            let mut path = Path::with_window(&[], 100.0);
            for rtt_s in [0.1, 0.1, 0.3, 0.3, 0.3, 0.3] {
                path.round(rtt_s, one_way_s);
            }
            assert_eq!(path.segments() < 100.0, shrinks, "{}", path.segments());
        }
    }

    #[test]
    fn a_shorter_handshake_is_no_base_delay() {
        let mut path = Path::new(&[]);
        let rtt = Some(Duration::from_secs_f64(0.05));
        path.flow.on_ack(&Ack { now: path.now, rtt, ..Ack::default() });
        path.rounds(30, 0.17);
        assert_eq!(path.flow.delay.now_s, 0.0);
        assert!(path.segments() > 20.0, "{}", path.segments());
    }

    #[test]
    fn an_l4s_queue_that_marks_few_packets_costs_little_and_turns_the_delay_off() {
        let left = |l4s: bool| {
            let mut path = Path::with_window(&[("l4s", Value::from(l4s))], 100.0);
            for _ in 0..100 {
                path.round(0.1, None);
                path.lose(Cause::Mark, true);
            }
            path.segments()
        };
        assert!(left(true) > 40.0, "{}", left(true));
        assert!(left(false) < 10.0, "{}", left(false));
        let mut path = Path::with_window(&[("l4s", Value::from(true))], 100.0);
        path.rounds(2, 0.1);
        path.flow.marks.share = 0.5;
        assert_eq!((path.flow.delay.now_s, path.flow.delay.mean_s), (0.0, 0.0));
        (path.flow.delay.now_s, path.flow.delay.mean_s) = (0.1, 0.1);
        assert_eq!(path.flow.virtual_marks(), 0.0);
    }

    #[test]
    fn a_standing_queue_with_losses_raises_the_target_up_to_its_bound() {
        let target = |queue_s: f64, lossy: bool| {
            let mut path = Path::with_window(&[], 50.0);
            path.rounds(2, 0.1);
            for _ in 0..100 {
                path.round(0.1 + queue_s, None);
                if lossy {
                    path.lose(Cause::Gap, true);
                }
            }
            path.flow.delay.target_s
        };
        assert!((target(0.02, false) - 0.06).abs() < 1e-9);
        assert!((0.25..0.35).contains(&target(0.2, true)), "{}", target(0.2, true));
        assert!((target(5.0, true) - 0.4).abs() < 1e-9);
    }

    #[test]
    fn packets_leave_at_one_and_a_half_windows_per_round_trip() {
        let mut path = Path::with_window(&[], 100.0);
        assert_eq!(path.flow.rate(), Some(BitRate(1_040_000)));
        path.round(0.1, None);
        let expected = 1.5 * path.flow.window * 8.0 * 1.04 / 0.1;
        assert!((path.flow.rate().map_or(0.0, |rate| rate.0 as f64) / expected - 1.0).abs() < 1e-6);
    }
}
