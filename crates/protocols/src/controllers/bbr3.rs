//! BBR, version 3: paces at the highest recent delivery rate, and bounds data in flight by what the path carried
//! without much loss (draft-ietf-ccwg-bbr, text of August 2026).
//!
//! Two bounds differ from the draft's where round trips are long; parameters of zero turn them off. See the page.

use super::path_model::{Aggregation, FullPipe, LeastRtt};
use super::reno::initial_window;
use super::sent_log::{SentLog, SentState};
use super::{Ack, Cause, Controller, Flow, Loss, Sent};
use crate::parameter::{self, Parameter, Parameters};
use crate::record::Observation;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "bbr3",
    paper: "draft-ietf-ccwg-bbr (BBRv3)",
    parameters: &[
        initial_window(10.0),
        Parameter::number(
            "loss_threshold",
            "",
            0.02,
            (0.001, 0.5),
            "Share lost in a round trip that ends a probe (LossThresh).",
        ),
        Parameter::number("beta", "", 0.7, (0.1, 0.99), "Least share kept after a loss (Beta)."),
        Parameter::number("headroom", "", 0.15, (0.0, 0.9), "Share of the bound left to others (Headroom)."),
        Parameter::integer(
            "rtt_rounds",
            100.0,
            (0.0, 1e6),
            "Round trips for which the least round-trip time is valid, if longer than 10 s; 0: as published.",
        ),
        Parameter::integer(
            "probe_rounds",
            4.0,
            (0.0, 1e6),
            "Round trips between probes for bandwidth, if longer than 2 to 3 s; 0: as published.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| Box::new(Bbr3::new(parameters, &flow)),
};

/// Pacing gain of Startup, 4 ln 2 (StartupPacingGain).
const STARTUP_GAIN: f64 = 4.0 * std::f64::consts::LN_2;
/// Pacing gain of Drain (DrainPacingGain).
const DRAIN_GAIN: f64 = 0.5;
/// Pacing gain of ProbeBW_DOWN.
const DOWN_GAIN: f64 = 0.9;
/// Pacing gain of ProbeBW_UP.
const UP_GAIN: f64 = 1.25;
/// Window in bandwidth-delay products (DefaultCwndGain).
const WINDOW_GAIN: f64 = 2.0;
/// The same in ProbeBW_UP.
const UP_WINDOW_GAIN: f64 = 2.25;
/// The same in ProbeRTT (ProbeRTTCwndGain).
const PROBE_RTT_GAIN: f64 = 0.5;
/// Share of the bandwidth at which packets are paced (PacingMarginPercent).
const PACING_MARGIN: f64 = 0.99;
/// Losses in a round trip that end Startup (BBRStartupFullLossCnt).
const STARTUP_LOSSES: u32 = 6;
/// How long ProbeRTT holds its window at least (ProbeRTTDuration).
const PROBE_RTT: Duration = Duration::from_nanos(200_000_000);
/// Round trips after which ProbeRTT ends though the transport has more in flight than its window.
const PROBE_RTT_ROUNDS: u64 = 3;
/// Round trips after which Drain ends.
const DRAIN_ROUNDS: u64 = 3;
/// Seconds between probes for bandwidth: at least, and at random beyond it.
const PROBE_WAIT_S: (f64, f64) = (2.0, 1.0);
/// Round trips between probes at most, so that Reno flows keep their share.
const RENO_ROUNDS: f64 = 63.0;
/// Round trips whose highest aggregation of acknowledgements counts (ExtraAckedFilterLen).
const AGGREGATION_ROUNDS: u64 = 10;
/// Least window, in segments (MinPipeCwnd).
const SEGMENTS_MIN: f64 = 4.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// What acknowledgements say about the probe for bandwidth (ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    None,
    Refilling,
    Starting,
    Probing,
    Stopping,
}

/// Rate, data and end of a round trip, as the acknowledgement being processed shows them.
#[derive(Clone, Copy, Debug, Default)]
struct RateNow {
    /// Bytes of payload per second; `None`: no sample.
    rate: Option<f64>,
    delivered: f64,
    /// When the newest packet that left the network was sent.
    sent: SentState,
    /// Data lost since then.
    lost: f64,
    /// A round trip ended (round_start).
    round_start: bool,
}

/// What losses say: within a round trip, in this cycle, and in the last probe.
#[derive(Clone, Copy, Debug)]
struct Congestion {
    in_round: bool,
    losses: u32,
    /// The round ends when what was delivered by then has been acknowledged (loss_round_delivered).
    round_ends: u64,
    /// Highest rate and data delivered of the round (bw_latest, inflight_latest).
    rate_latest: f64,
    flight_latest: f64,
    /// Bounds of this cycle (bw_shortterm, inflight_shortterm).
    rate_short: f64,
    flight_short: f64,
    /// Bound that the last probe found (inflight_longterm).
    flight_long: f64,
}

impl Congestion {
    fn reset_round(&mut self) {
        (self.in_round, self.rate_latest, self.flight_latest) = (false, 0.0, 0.0);
    }
    fn reset_short(&mut self) {
        (self.rate_short, self.flight_short) = (f64::INFINITY, f64::INFINITY);
    }
}

/// The probe for bandwidth.
#[derive(Clone, Debug)]
struct Probe {
    feedback: Feedback,
    /// Losses are of packets that probed, and were not answered yet (is_bw_probe_sample).
    counts: bool,
    began: Instant,
    wait: Duration,
    rounds: u64,
    /// Acknowledged since the bound was raised, and what raises it by a segment.
    acked: f64,
    acked_per_segment: f64,
    growths: u32,
    was_too_high: bool,
    was_precautionary: bool,
    draws: Stream,
}

struct Bbr3 {
    segment: f64,
    /// Bytes on the link per byte of payload.
    header: f64,
    initial: f64,
    threshold: f64,
    beta: f64,
    headroom: f64,
    probe_rounds: f64,
    phase: Phase,
    log: SentLog,
    now: RateNow,
    /// Highest rate of the last cycle and of this one, in bytes/s (max_bw_filter).
    rates: [f64; 2],
    least_rtt: LeastRtt,
    full: FullPipe,
    congestion: Congestion,
    probe: Probe,
    aggregation: Aggregation,
    delivered: u64,
    lost: u64,
    round: u64,
    round_ends: u64,
    phase_began: u64,
    /// When ProbeRTT may end, and the round trip that must end before (probe_rtt_done_stamp).
    probe_rtt_ends: Option<(Instant, u64)>,
    idle_restart: bool,
    sent_at: Instant,
    limited: bool,
    timed_out: bool,
    recovering: bool,
    window: f64,
    /// Window before a recovery or ProbeRTT (prior_cwnd).
    saved_window: f64,
    /// Bytes of payload per second; zero before the first round trip.
    pacing: f64,
}

impl Bbr3 {
    fn new(parameters: &Parameters, flow: &Flow) -> Self {
        let segment = flow.segment.0 as f64;
        let initial = parameters.number("initial_window") * segment;
        Self {
            segment,
            header: flow.packet.0 as f64 / segment,
            initial,
            threshold: parameters.number("loss_threshold"),
            beta: parameters.number("beta"),
            headroom: parameters.number("headroom"),
            probe_rounds: parameters.number("probe_rounds"),
            phase: Phase::Startup,
            log: SentLog::default(),
            now: RateNow::default(),
            rates: [0.0; 2],
            least_rtt: LeastRtt::new(parameters.number("rtt_rounds") as i64),
            full: FullPipe::default(),
            congestion: Congestion {
                in_round: false,
                losses: 0,
                round_ends: 0,
                rate_latest: 0.0,
                flight_latest: 0.0,
                rate_short: f64::INFINITY,
                flight_short: f64::INFINITY,
                flight_long: f64::INFINITY,
            },
            probe: Probe {
                feedback: Feedback::None,
                counts: false,
                began: Instant::ZERO,
                wait: Duration::ZERO,
                rounds: 0,
                acked: 0.0,
                acked_per_segment: f64::INFINITY,
                growths: 0,
                was_too_high: false,
                was_precautionary: false,
                draws: Stream::new(flow.seed, "bbr3 probes", flow.index),
            },
            aggregation: Aggregation::default(),
            delivered: 0,
            lost: 0,
            round: 0,
            round_ends: 0,
            phase_began: 0,
            probe_rtt_ends: None,
            idle_restart: false,
            sent_at: Instant::ZERO,
            limited: false,
            timed_out: false,
            recovering: false,
            window: initial,
            saved_window: 0.0,
            pacing: 0.0,
        }
    }

    // --- the model ----------------------------------------------------------------------------

    fn rate_max(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }
    /// The rate that the model allows (bw).
    fn bandwidth(&self) -> f64 {
        self.rate_max().min(self.congestion.rate_short)
    }
    fn least_window(&self) -> f64 {
        SEGMENTS_MIN * self.segment
    }
    /// A multiple of the data in flight at `rate` and the least round-trip time.
    fn pipe(&self, rate: f64, gain: f64) -> f64 {
        if self.least_rtt.rtt.is_none() { self.initial } else { gain * rate * self.least_rtt.seconds() }
    }
    /// The same with room for pipelining. Packets leave one by one, so none is added for offloading.
    fn in_flight(&self, rate: f64, gain: f64) -> f64 {
        let probing = if self.phase == Phase::Up { 2.0 * self.segment } else { 0.0 };
        self.pipe(rate, gain).max(self.least_window()) + probing
    }
    fn flight_with_headroom(&self) -> f64 {
        let long = self.congestion.flight_long;
        let headroom = self.segment.max(self.headroom * long);
        if long.is_finite() { (long - headroom).max(self.least_window()) } else { long }
    }
    fn target_flight(&self) -> f64 {
        self.pipe(self.bandwidth(), 1.0).min(self.window)
    }
    fn probes_bandwidth(&self) -> bool {
        matches!(self.phase, Phase::Down | Phase::Cruise | Phase::Refill | Phase::Up)
    }
    fn accelerates(&self) -> bool {
        matches!(self.phase, Phase::Startup | Phase::Refill | Phase::Up)
    }

    // --- signals ------------------------------------------------------------------------------

    fn learn(&mut self, ack: &Ack) {
        self.delivered = ack.delivered.0;
        let least = self.least_rtt.rtt.unwrap_or(Duration::ZERO);
        let sent = self.log.judged(ack.now, ack.in_flight.0, least);
        let newly = ack.acked.0 > 0;
        let rate = if newly { self.log.rate(ack.now, &sent, self.delivered, least) } else { None };
        let round_start = newly && sent.delivered >= self.round_ends;
        self.now = RateNow {
            rate,
            delivered: self.delivered.saturating_sub(sent.delivered) as f64,
            sent,
            lost: self.lost.saturating_sub(sent.lost) as f64,
            round_start,
        };
        if round_start {
            self.start_round();
            self.round += 1;
            self.probe.rounds += 1;
        }
        if let Some(rate) = rate {
            self.full.best = self.full.best.max(rate);
            if !sent.app_limited || rate >= self.rate_max() {
                self.rates[1] = self.rates[1].max(rate);
            }
        }
    }
    fn start_round(&mut self) {
        self.round_ends = self.delivered;
    }
    /// Rate and data of the round in which losses are counted. Gives whether it ended.
    fn latest(&mut self) -> bool {
        let rate = self.now.rate.unwrap_or(0.0);
        let congestion = &mut self.congestion;
        congestion.rate_latest = congestion.rate_latest.max(rate);
        congestion.flight_latest = congestion.flight_latest.max(self.now.delivered);
        let ended = self.now.sent.delivered >= congestion.round_ends && self.now.delivered > 0.0;
        if ended {
            congestion.round_ends = self.delivered;
        }
        ended
    }
    /// Once per round with a loss, outside probes: bounds approach what was delivered.
    fn adapt_short(&mut self) {
        if !self.congestion.in_round || self.accelerates() {
            return;
        }
        let (rate_max, window, beta) = (self.rate_max(), self.window, self.beta);
        let congestion = &mut self.congestion;
        let or = |bound: f64, first: f64| if bound.is_finite() { bound } else { first };
        congestion.rate_short = congestion.rate_latest.max(beta * or(congestion.rate_short, rate_max));
        congestion.flight_short = congestion.flight_latest.max(beta * or(congestion.flight_short, window));
    }
    fn is_flight_too_high(&self) -> bool {
        self.now.lost > self.now.sent.in_flight as f64 * self.threshold
    }
    fn answer_too_high(&mut self, now: Instant, in_flight: f64) {
        self.probe.was_too_high = true;
        self.probe.counts = false;
        if !self.now.sent.app_limited {
            self.congestion.flight_long =
                in_flight.max(self.target_flight() * self.beta).max(self.least_window());
        }
        if self.phase == Phase::Up {
            self.start_down(now);
        }
    }
    /// Much loss throughout a round trip of Startup fills the pipe too.
    fn check_startup_loss(&mut self) {
        let lossy = self.recovering && self.congestion.losses >= STARTUP_LOSSES && self.is_flight_too_high();
        if !self.full.reached && lossy {
            self.full.reached = true;
            self.congestion.flight_long =
                self.pipe(self.bandwidth(), 1.0).max(self.congestion.flight_latest).max(self.least_window());
        }
    }

    // --- the state machine --------------------------------------------------------------------

    fn enter(&mut self, phase: Phase) {
        (self.phase, self.phase_began) = (phase, self.round);
    }
    fn start_down(&mut self, now: Instant) {
        self.congestion.reset_round();
        self.probe.acked_per_segment = f64::INFINITY;
        self.probe.rounds = self.probe.draws.below(2);
        let wait = PROBE_WAIT_S.0 + PROBE_WAIT_S.1 * self.probe.draws.unit();
        self.probe.wait = Duration::from_secs_f64(wait.max(self.probe_rounds * self.least_rtt.seconds()));
        self.probe.began = now;
        self.probe.feedback = Feedback::Stopping;
        self.start_round();
        self.enter(Phase::Down);
    }
    fn start_refill(&mut self) {
        self.congestion.reset_short();
        (self.probe.growths, self.probe.acked) = (0, 0.0);
        self.probe.was_precautionary = false;
        self.probe.feedback = Feedback::Refilling;
        self.start_round();
        self.enter(Phase::Refill);
    }
    fn start_up(&mut self) {
        self.probe.counts = true;
        self.probe.feedback = Feedback::Starting;
        self.start_round();
        self.full.reset(self.now.rate.unwrap_or_else(|| self.bandwidth()));
        self.enter(Phase::Up);
        self.raise_slope();
    }
    fn raise_slope(&mut self) {
        let growth = (1_u32 << self.probe.growths.min(30)) as f64;
        self.probe.growths += 1;
        self.probe.acked_per_segment = (self.window / growth).max(self.segment);
    }
    fn raise_long(&mut self, ack: &Ack) {
        if !ack.limited || self.window < self.congestion.flight_long {
            return;
        }
        self.probe.acked += ack.acked.0 as f64;
        if self.probe.acked >= self.probe.acked_per_segment {
            let segments = (self.probe.acked / self.probe.acked_per_segment).floor();
            self.probe.acked -= segments * self.probe.acked_per_segment;
            self.congestion.flight_long += segments * self.segment;
        }
        if self.now.round_start {
            self.raise_slope();
        }
    }
    /// Follows the feedback of the probe. Gives whether it chose the next phase.
    fn adapt_long(&mut self, ack: &Ack) -> bool {
        let start = self.now.round_start;
        if self.probe.feedback == Feedback::Starting && start {
            self.probe.feedback = Feedback::Probing;
        }
        if self.probe.feedback == Feedback::Stopping && start {
            self.probe.counts = false;
            self.probe.feedback = Feedback::None;
            // A cycle without a sample leaves the last one's.
            if self.probes_bandwidth() && !self.now.sent.app_limited && self.rates[1] > 0.0 {
                self.rates = [self.rates[1], 0.0];
            }
            if self.probes_bandwidth() && self.probe.was_precautionary && !self.probe.was_too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.is_flight_too_high() && self.congestion.flight_long.is_finite() {
            let flight = self.now.sent.in_flight as f64;
            self.congestion.flight_long = self.congestion.flight_long.max(flight);
            if self.phase == Phase::Up {
                self.raise_long(ack);
            }
        }
        false
    }
    fn is_probe_due(&self, now: Instant) -> bool {
        let rounds = (self.target_flight() / self.segment).min(RENO_ROUNDS);
        now - self.probe.began > self.probe.wait || self.probe.rounds as f64 >= rounds
    }
    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        let flight = ack.in_flight.0 as f64;
        flight <= self.flight_with_headroom() && flight <= self.in_flight(self.rate_max(), 1.0)
    }
    fn is_time_to_go_down(&mut self, ack: &Ack) -> bool {
        let long = self.congestion.flight_long;
        if self.probe.was_too_high && ack.in_flight.0 as f64 >= long {
            self.probe.was_precautionary = true;
            return true;
        }
        if ack.limited && self.window >= long {
            // The bound, not the path, limits the rate.
            self.full.reset(self.now.rate.unwrap_or_else(|| self.bandwidth()));
            return false;
        }
        self.full.now
    }
    fn check_up(&mut self, ack: &Ack) {
        if self.is_time_to_go_down(ack) {
            self.probe.was_too_high = false;
            self.start_down(ack.now);
        }
    }
    fn advance(&mut self, ack: &Ack) {
        if self.phase == Phase::Startup && self.full.reached {
            self.enter(Phase::Drain);
        }
        if self.phase == Phase::Drain {
            let drained = ack.in_flight.0 as f64 <= self.in_flight(self.bandwidth(), 1.0);
            if drained || self.round > self.phase_began + DRAIN_ROUNDS {
                self.start_down(ack.now);
            }
        }
        if !self.full.reached || self.adapt_long(ack) {
            return;
        }
        match self.phase {
            Phase::Down | Phase::Cruise if self.is_probe_due(ack.now) => self.start_refill(),
            Phase::Down if self.is_time_to_cruise(ack) => self.enter(Phase::Cruise),
            Phase::Refill if self.now.round_start => self.start_up(),
            Phase::Up => self.check_up(ack),
            _ => {}
        }
    }
    fn probe_rtt_window(&self) -> f64 {
        self.pipe(self.bandwidth(), PROBE_RTT_GAIN).max(self.least_window())
    }
    fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.phase != Phase::ProbeRtt
            && self.least_rtt.expired
            && !self.idle_restart
            && self.rate_max() > 0.0
        {
            self.save_window();
            self.probe_rtt_ends = None;
            self.probe.feedback = Feedback::Stopping;
            self.start_round();
            self.enter(Phase::ProbeRtt);
        }
        if self.phase == Phase::ProbeRtt {
            // Samples of these round trips say nothing about the bandwidth.
            self.log.mark_app_limited(self.delivered + ack.in_flight.0);
            let low = ack.in_flight.0 as f64 <= self.probe_rtt_window();
            let late = self.round >= self.phase_began + PROBE_RTT_ROUNDS;
            if self.probe_rtt_ends.is_none() && (low || late) {
                self.probe_rtt_ends = Some((ack.now + PROBE_RTT, self.round + 1));
                self.start_round();
            } else {
                self.check_probe_rtt_end(ack.now);
            }
        }
        if ack.acked.0 > 0 {
            self.idle_restart = false;
        }
    }
    fn check_probe_rtt_end(&mut self, now: Instant) {
        let ended = self.probe_rtt_ends.is_some_and(|(at, round)| now > at && self.round >= round);
        if !ended {
            return;
        }
        self.least_rtt.probed_at = now;
        self.window = self.window.max(self.saved_window);
        self.congestion.reset_short();
        if self.full.reached {
            self.start_down(now);
            self.enter(Phase::Cruise);
        } else {
            self.enter(Phase::Startup);
        }
    }

    // --- what it controls ---------------------------------------------------------------------

    fn save_window(&mut self) {
        let modulated = self.recovering || self.phase == Phase::ProbeRtt;
        self.saved_window = if modulated { self.saved_window.max(self.window) } else { self.window };
    }
    fn gain(&self) -> f64 {
        match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::Drain => DRAIN_GAIN,
            Phase::Down => DOWN_GAIN,
            Phase::Up => UP_GAIN,
            Phase::Cruise | Phase::Refill | Phase::ProbeRtt => 1.0,
        }
    }
    fn set_pacing(&mut self, gain: f64) {
        if self.pacing == 0.0 && self.least_rtt.rtt.is_some() {
            self.pacing = STARTUP_GAIN * self.initial / self.least_rtt.seconds().max(1e-9);
        }
        let rate = gain * self.bandwidth() * PACING_MARGIN;
        if rate > 0.0 && (self.full.reached || rate > self.pacing) {
            self.pacing = rate;
        }
    }
    fn set_window(&mut self, ack: &Ack) {
        let acked = ack.acked.0 as f64;
        let gain = match self.phase {
            Phase::Up => UP_WINDOW_GAIN,
            Phase::ProbeRtt => PROBE_RTT_GAIN,
            _ => WINDOW_GAIN,
        };
        let probing = if self.phase == Phase::Up { 2.0 * self.segment } else { 0.0 };
        let most = (self.pipe(self.bandwidth(), gain) + self.aggregation.extra()).max(self.least_window());
        let most = most + probing;
        if self.full.reached {
            self.window = (self.window + acked).min(most);
        } else if self.window < most || (ack.delivered.0 as f64) < self.initial {
            self.window += acked;
        }
        if self.phase == Phase::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        let bound = match self.phase {
            Phase::Down | Phase::Refill | Phase::Up => self.congestion.flight_long,
            Phase::Cruise | Phase::ProbeRtt => self.flight_with_headroom(),
            Phase::Startup | Phase::Drain => f64::INFINITY,
        };
        self.window = self.window.min(bound).min(self.congestion.flight_short).max(self.least_window());
    }
}

impl Controller for Bbr3 {
    fn on_ack(&mut self, ack: &Ack) {
        self.limited = ack.limited;
        if ack.recovered {
            self.window = self.window.max(self.saved_window);
            self.timed_out = false;
        }
        self.recovering = ack.recovering;
        self.learn(ack);
        let loss_round_ended = self.latest();
        if loss_round_ended {
            self.adapt_short();
            self.congestion.in_round = false;
        }
        let rounds = if self.full.reached { AGGREGATION_ROUNDS } else { 1 };
        self.aggregation.update(ack, self.bandwidth(), self.window, (self.round, rounds));
        if self.now.round_start {
            self.full.end_round(self.now.sent.app_limited);
        }
        if loss_round_ended {
            if self.phase == Phase::Startup {
                self.check_startup_loss();
            }
            self.congestion.losses = 0;
        }
        self.advance(ack);
        self.least_rtt.update(ack.now, ack.rtt);
        self.check_probe_rtt(ack);
        if loss_round_ended {
            self.congestion.rate_latest = self.now.rate.unwrap_or(0.0);
            self.congestion.flight_latest = self.now.delivered;
        }
        self.set_pacing(self.gain());
        self.set_window(ack);
    }
    fn on_loss(&mut self, loss: &Loss) {
        // A mark is congestion, though nothing is lost.
        let size = match loss.cause {
            Cause::Mark => loss.lost.0.max(self.segment as u64),
            Cause::Gap | Cause::Timeout => loss.lost.0,
        };
        if loss.episode || loss.cause == Cause::Timeout {
            self.save_window();
        }
        if !self.congestion.in_round {
            self.congestion.round_ends = self.delivered;
        }
        self.congestion.in_round = true;
        self.congestion.losses = self.congestion.losses.saturating_add(1);
        self.lost += size;
        if self.probe.counts {
            let least = self.least_rtt.rtt.unwrap_or(Duration::ZERO);
            let sent = self.log.judged(loss.now, loss.in_flight.0, least);
            self.now = RateNow { sent, lost: self.lost.saturating_sub(sent.lost) as f64, ..self.now };
            if self.is_flight_too_high() {
                // Where in this burst of losses their share became too high.
                let before = (sent.in_flight as f64 - size as f64).max(0.0);
                let lost_before = (self.now.lost - size as f64).max(0.0);
                let more = (self.threshold * before - lost_before).max(0.0) / (1.0 - self.threshold);
                self.answer_too_high(loss.now, before + more);
            }
        }
        if loss.cause == Cause::Timeout {
            self.recovering = true;
            self.timed_out = true;
            self.window = loss.in_flight.0 as f64 + self.segment;
        }
    }
    fn on_sent(&mut self, sent: &Sent) {
        let packet_s = self.segment / self.pacing.max(1e-9);
        let paused = (sent.now - self.sent_at).as_secs_f64() > 4.0 * packet_s;
        let idle = sent.in_flight <= sent.size && !self.limited && !self.timed_out && paused;
        if idle && self.delivered > 0 {
            self.log.mark_app_limited(self.delivered);
            self.idle_restart = true;
            self.aggregation.began = sent.now;
            if self.probes_bandwidth() {
                self.set_pacing(1.0);
            } else if self.phase == Phase::ProbeRtt {
                self.check_probe_rtt_end(sent.now);
            }
        }
        self.sent_at = sent.now;
        self.log.on_sent(sent, self.delivered, self.lost);
    }
    fn window(&self) -> Bytes {
        Bytes(self.window as u64)
    }
    fn rate(&self) -> Option<BitRate> {
        (self.pacing > 0.0).then(|| BitRate((self.pacing * self.header * 8.0).max(1.0) as u64))
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window));
        seen.push(("bandwidth", self.rate_max() * 8.0));
        seen.push(("rtt_min", self.least_rtt.rtt.map_or(f64::NAN, Duration::as_secs_f64)));
        seen.push(("inflight_longterm", self.congestion.flight_long));
    }
}
