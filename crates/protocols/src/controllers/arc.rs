//! Adaptive Rate Control: the rate-based form of a sliding window, whose window grows with time and
//! not with round trips (Grieco and Mascolo, "A Congestion Control Algorithm for the Planetary
//! Internet", IFAC 2005).
//!
//! The rate is k (W - outstanding) with k = 1/(4 RTTmin) (Eq. 1, section 2). W doubles every `alpha`
//! seconds in quick probing (Eq. 5), then gains one packet every `alpha` seconds in gentle probing
//! (Eq. 6). At a congestion event W becomes B (RTTmin + 1/k), where B is what the receiver got (Eq. 2).

use super::{Ack, Cause, Controller, ControllerEvent, Flow, Loss, Sent};
use crate::math;
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "arc",
    paper: "Grieco and Mascolo, A Congestion Control Algorithm for the Planetary Internet (2005)",
    parameters: &[
        Parameter::word(
            "event",
            &["open_hole", "each_loss"],
            "A congestion event: while a gap is open (the paper's words), or each newly found loss.",
        ),
        Parameter::flag(
            "quick_again",
            false,
            "After an event, probe quickly again up to the window of the event.",
        ),
        Parameter::number(
            "alpha",
            "s",
            0.1,
            (0.001, 1000.0),
            "Time in which W doubles, or gains one packet.",
        ),
        Parameter::number("round_trips", "", 4.0, (0.1, 1000.0), "1/k in round trips."),
        Parameter::number("weight", "", 0.875, (0.0, 0.999), "Of the old bandwidth in the filter."),
        Parameter::word(
            "filter_start",
            &["zero", "first_sample"],
            "What the filter of the bandwidth begins with: zero, or the first sample.",
        ),
        Parameter::flag("gentle_start", false, "Begin with gentle probing (Eq. 6) instead of quick probing."),
        Parameter::number(
            "timeout",
            "",
            0.0,
            (0.0, 1000.0),
            "Round trips, and 1 s, without a report after which W shrinks; 0: when the transport's timer expires.",
        ),
        Parameter::number(
            "rtt_min_age",
            "",
            0.0,
            (0.0, 1e6),
            "Round trips after which RTTmin is measured again; 0: it is the least ever seen.",
        ),
        Parameter::number("rate_max", "bit/s", 1e7, (1e3, 1e12), "The rate is cut here."),
    ],
    only_with: &[],
    build: |parameters, flow| {
        Box::new(Arc {
            packet: flow.packet.0 as f64,
            payload: flow.segment.0 as f64,
            open_hole: parameters.word("event") == "open_hole",
            quick_again: parameters.flag("quick_again"),
            alpha: parameters.number("alpha"),
            round_trips: parameters.number("round_trips"),
            weight: parameters.number("weight"),
            from_zero: parameters.word("filter_start") == "zero",
            timeout: parameters.number("timeout"),
            rtt_min_age: parameters.number("rtt_min_age"),
            rate_max: parameters.number("rate_max"),
            window: 1.0,
            quick_until: if parameters.flag("gentle_start") { 0.0 } else { f64::INFINITY },
            updated: Instant::ZERO,
            holds: false,
            rtt_min: None,
            rtt_min_at: Instant::ZERO,
            reported: Instant::ZERO,
            bandwidth: None,
            early: None,
            sample: None,
            outstanding: 0.0,
            pulse: None,
        })
    },
};

struct Arc {
    /// Bytes on the link of a full packet, and of its payload.
    packet: f64,
    payload: f64,
    open_hole: bool,
    quick_again: bool,
    alpha: f64,
    round_trips: f64,
    weight: f64,
    /// The filter begins at zero.
    from_zero: bool,
    /// Round trips without a report that are a timeout; zero: the transport's timer.
    timeout: f64,
    /// Round trips after which RTTmin is outdated; zero: never.
    rtt_min_age: f64,
    rate_max: f64,
    /// W, in packets.
    window: f64,
    /// Quick probing ends at this window.
    quick_until: f64,
    /// When W was brought up to date.
    updated: Instant,
    /// A gap is open: W does not grow.
    holds: bool,
    rtt_min: Option<Duration>,
    /// When it was measured.
    rtt_min_at: Instant,
    /// When the last report came, or its absence last counted as a timeout.
    reported: Instant,
    /// B, in packets per second.
    bandwidth: Option<f64>,
    /// The same before the first sample is complete.
    early: Option<f64>,
    /// When the sample began, and what had been delivered then.
    sample: Option<(Instant, u64)>,
    /// Packets sent, not acknowledged and not lost.
    outstanding: f64,
    pulse: Option<Instant>,
}

/// Beyond every link: keeps exponents finite.
const WINDOW_MAX: f64 = 1e12;
/// Added to the round trips of `timeout`, in seconds.
const TIMEOUT_MARGIN_S: f64 = 1.0;
/// Keeps the pulse within what a duration can hold.
const STEPS_MAX: f64 = 1e6;

impl Arc {
    fn grow(&mut self, now: Instant) {
        let mut left = (now - self.updated).as_secs_f64();
        self.updated = now;
        if self.holds || self.rtt_min.is_none() {
            return;
        }
        if self.window < self.quick_until {
            let ceiling = self.quick_until.min(WINDOW_MAX);
            let doublings = left / self.alpha;
            let needs = math::log(ceiling / self.window) / core::f64::consts::LN_2;
            if doublings < needs {
                self.window *= math::pow(2.0, doublings); // Eq. 5
                return;
            }
            self.window = ceiling;
            left -= needs * self.alpha;
        }
        self.window = (self.window + left / self.alpha).min(WINDOW_MAX); // Eq. 6
    }
    /// Eq. 2 with 1/k = `round_trips` * RTTmin.
    fn shrink(&mut self) {
        let (Some(bandwidth), Some(rtt)) = (self.bandwidth.or(self.early), self.rtt_min) else { return };
        self.quick_until = if self.quick_again { self.window } else { 0.0 };
        self.window = (bandwidth * rtt.as_secs_f64() * (1.0 + self.round_trips)).max(1.0);
    }
    /// Keeps the least round-trip time, or a later one when that is outdated.
    fn see_rtt(&mut self, now: Instant, rtt: Duration) {
        let is_outdated = |least: Duration| {
            self.rtt_min_age > 0.0
                && (now - self.rtt_min_at).as_secs_f64() > self.rtt_min_age * least.as_secs_f64()
        };
        if self.rtt_min.is_none_or(|least| rtt <= least || is_outdated(least)) {
            self.rtt_min = Some(rtt);
            self.rtt_min_at = now;
        }
    }
    /// When missing reports count as a timeout.
    fn times_out_at(&self) -> Option<Instant> {
        let rtt = self.rtt_min.filter(|_| self.timeout > 0.0 && self.outstanding > 0.0)?;
        let span = Duration::from_secs_f64(self.timeout * rtt.as_secs_f64() + TIMEOUT_MARGIN_S);
        Some(self.reported.saturating_add(span))
    }
    /// One sample per RTTmin; before the first, the mean since data began to arrive.
    fn measure(&mut self, ack: &Ack) {
        let Some(rtt_min) = self.rtt_min.filter(|_| ack.acked.0 > 0) else { return };
        let Some((since, before)) = self.sample else {
            self.sample = Some((ack.now, ack.delivered.0));
            return;
        };
        let span = ack.now - since;
        if span <= Duration::ZERO {
            return;
        }
        let fresh = (ack.delivered.0 - before) as f64 / self.payload / span.as_secs_f64();
        let start = if self.from_zero { 0.0 } else { fresh };
        let filtered = self.weight * self.bandwidth.unwrap_or(start) + (1.0 - self.weight) * fresh;
        if span < rtt_min {
            self.early = Some(filtered);
            return;
        }
        self.bandwidth = Some(filtered);
        self.sample = Some((ack.now, ack.delivered.0));
    }
    fn packets_per_s(&self) -> f64 {
        // Without an opening that measures it, the first packets do.
        let span = self.rtt_min.map_or(self.alpha, |rtt| self.round_trips * rtt.as_secs_f64());
        (self.window - self.outstanding).max(0.0) / span
    }
    /// Back when the rate may have changed: every `alpha`, but later where W is so far below what is
    /// outstanding that many steps leave the rate at zero, and after 1/k where W does not grow.
    fn set_pulse(&mut self, now: Instant) {
        let lacking = if self.window < self.quick_until { 0.0 } else { self.outstanding - self.window };
        let span = match self.rtt_min {
            Some(rtt) if self.holds => self.round_trips * rtt.as_secs_f64(),
            _ => lacking.ceil().clamp(1.0, STEPS_MAX) * self.alpha,
        };
        self.pulse = Some(now + Duration::from_secs_f64(span.max(self.alpha)));
    }
}

impl Controller for Arc {
    fn on_ack(&mut self, ack: &Ack) {
        self.grow(ack.now);
        self.reported = ack.now;
        if let Some(rtt) = ack.rtt {
            self.see_rtt(ack.now, rtt);
        }
        self.measure(ack);
        self.outstanding = ack.in_flight.0 as f64 / self.payload;
        let hole = ack.recovering && self.open_hole;
        if hole {
            self.shrink();
        }
        self.holds = hole;
        self.set_pulse(ack.now);
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.grow(loss.now);
        self.outstanding = loss.in_flight.0 as f64 / self.payload;
        let shrinks = match loss.cause {
            Cause::Timeout => self.timeout == 0.0,
            _ => !self.open_hole || loss.episode,
        };
        if shrinks {
            self.shrink();
        }
        self.set_pulse(loss.now);
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.grow(sent.now);
        if self.outstanding == 0.0 {
            self.reported = sent.now;
        }
        self.outstanding = sent.in_flight.0 as f64 / self.payload;
        self.set_pulse(sent.now);
    }
    fn on_event(&mut self, now: Instant, event: &ControllerEvent) {
        if *event == ControllerEvent::Deadline {
            self.grow(now);
            if self.times_out_at().is_some_and(|at| at <= now) {
                self.shrink();
                self.reported = now;
            }
            self.set_pulse(now);
        }
    }
    fn deadline(&self) -> Option<Instant> {
        [self.pulse, self.times_out_at()].into_iter().flatten().min()
    }
    fn window(&self) -> Bytes {
        Bytes::MAX
    }
    fn rate(&self) -> Option<BitRate> {
        Some(BitRate((self.packets_per_s() * self.packet * 8.0).min(self.rate_max) as u64))
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window * self.payload));
        seen.push(("bandwidth", self.bandwidth.map_or(f64::NAN, |rate| rate * self.packet * 8.0)));
        seen.push(("rate", self.packets_per_s() * self.packet * 8.0));
    }
}
