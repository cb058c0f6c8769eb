//! TCP-friendly rate control of datagrams (RFC 4342; RFC 5348, section 4): the sending half.
//!
//! The receiving half measures loss events and the rate at which data come:
//! [`crate::transport::dccp::Ccid3Receiver`].

use super::{Ack, Controller, ControllerEvent, Flow, Loss, Sent, TfrcReport};
use crate::math;
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "ccid3",
    paper: "RFC 4342",
    parameters: &[
        Parameter::flag(
            "oscillation_reduction",
            true,
            "Yields as soon as the round trip grows (RFC 5348, section 4.5).",
        ),
        Parameter::number("rtt_filter", "", 0.9, (0.0, 0.99), "Weight of older round trips (q)."),
    ],
    only_with: &["dccp"],
    build: |parameters, flow| {
        let segment = flow.segment.0 as f64;
        Box::new(Ccid3 {
            segment,
            overhead: flow.packet.0 as f64 / segment,
            oscillates: !parameters.flag("oscillation_reduction"),
            filter: parameters.number("rtt_filter"),
            rate: segment,
            by_equation: 0.0,
            rtt: None,
            root_rtt: 0.0,
            damping: 1.0,
            loss_event_rate: 0.0,
            received: vec![(Instant::ZERO, f64::INFINITY)],
            heard: false,
            doubled_at: Instant::ZERO,
            silent_at: None,
            idle: true,
        })
    },
};

/// Longest time between packets, in seconds (t_mbi).
const BACKOFF_MOST_S: f64 = 64.0;
/// Longest history of receive rates: those of two round trips are used.
const RECEIVED_MAX: usize = 64;

/// All rates in bytes of data a second.
struct Ccid3 {
    segment: f64,
    /// Bytes on the link for a byte of data.
    overhead: f64,
    oscillates: bool,
    filter: f64,
    /// X.
    rate: f64,
    /// X_Bps.
    by_equation: f64,
    /// R, in seconds.
    rtt: Option<f64>,
    /// R_sqmean, and R_sqmean / sqrt(R_sample).
    root_rtt: f64,
    damping: f64,
    /// p.
    loss_event_rate: f64,
    /// X_recv_set.
    received: Vec<(Instant, f64)>,
    heard: bool,
    /// tld: when the rate was last doubled.
    doubled_at: Instant,
    /// When the nofeedback timer expires.
    silent_at: Option<Instant>,
    /// Nothing was sent since the timer was set.
    idle: bool,
}

impl Ccid3 {
    /// s / t_mbi.
    fn least(&self) -> f64 {
        self.segment / BACKOFF_MOST_S
    }
    /// W_init / R (RFC 5348, section 4.2).
    fn initial(&self) -> f64 {
        let window = (4.0 * self.segment).min((2.0 * self.segment).max(4380.0));
        self.rtt.map_or(self.segment, |rtt| window / rtt)
    }
    /// Section 4.3, step 3: RTO = max(4 R, 2 s / X); without a measurement two seconds.
    fn timeout_s(&self) -> f64 {
        self.rtt.map_or(2.0, |rtt| (4.0 * rtt).max(2.0 * self.segment / self.rate))
    }
    fn restart_timer(&mut self, now: Instant, timeout_s: f64) {
        self.silent_at = Some(now.saturating_add(Duration::from_secs_f64(timeout_s)));
        self.idle = true;
    }
    /// Steps 1 and 2 of section 4.3, and section 4.5.
    fn measure(&mut self, sample: Duration) {
        let sample = sample.as_secs_f64().max(1e-6);
        let rtt = self.rtt.map_or(sample, |rtt| self.filter * rtt + (1.0 - self.filter) * sample);
        let root = math::sqrt(sample);
        self.root_rtt = if self.rtt.is_none() { root } else { 0.9 * self.root_rtt + 0.1 * root };
        self.damping = if self.oscillates { 1.0 } else { self.root_rtt / root };
        self.rtt = Some(rtt);
    }
    fn greatest_received(&self) -> f64 {
        self.received.iter().map(|entry| entry.1).fold(0.0, f64::max)
    }
    /// Update X_recv_set: rates of the last two round trips.
    fn update_received(&mut self, now: Instant, rate: f64) {
        let span = Duration::from_secs_f64(2.0 * self.rtt.unwrap_or(1.0));
        self.received.push((now, rate));
        self.received.retain(|entry| now - entry.0 <= span);
        if self.received.len() > RECEIVED_MAX {
            self.received.remove(0);
        }
    }
    /// Maximize X_recv_set: the greatest of them, as if it were of now.
    fn maximise_received(&mut self, now: Instant, rate: f64) {
        self.received.push((now, rate));
        self.received.retain(|entry| entry.1.is_finite());
        self.received = vec![(now, self.greatest_received())];
    }
    /// Section 4.3, steps 4 and 5.
    fn on_report(&mut self, now: Instant, report: &TfrcReport, limited: bool) {
        let (rate, more_loss) = (report.receive_rate.0 as f64, report.loss_event_rate > self.loss_event_rate);
        self.loss_event_rate = report.loss_event_rate;
        // A rate of zero is of the first report, whatever limited the sender (section 4.3).
        let limited = limited || report.receive_rate.0 == 0;
        // Step 3 comes before X changes, and step 6 takes what it gave.
        let timeout_s = self.timeout_s();
        // What is limited by the data says little of the network (section 4.3, step 4).
        let limit = match (limited, more_loss) {
            (true, _) => {
                self.update_received(now, rate);
                2.0 * self.greatest_received()
            }
            (false, true) => {
                self.received.iter_mut().for_each(|entry| entry.1 /= 2.0);
                self.maximise_received(now, 0.85 * rate);
                self.greatest_received()
            }
            (false, false) => {
                self.maximise_received(now, rate);
                2.0 * self.greatest_received()
            }
        };
        self.decide(now, limit);
        self.heard = true;
        self.restart_timer(now, timeout_s);
    }
    fn decide(&mut self, now: Instant, limit: f64) {
        let rtt = self.rtt.unwrap_or(1.0);
        if self.loss_event_rate > 0.0 {
            self.by_equation = tcp_throughput(self.segment, rtt, self.loss_event_rate);
            self.rate = self.by_equation.min(limit).max(self.least());
        } else if !self.heard {
            self.rate = self.initial();
            self.doubled_at = now;
        } else if (now - self.doubled_at).as_secs_f64() >= rtt {
            self.rate = (2.0 * self.rate).min(limit).max(self.initial());
            self.doubled_at = now;
        }
    }
    /// Section 4.4: the nofeedback timer has expired.
    fn on_silence(&mut self, now: Instant) {
        let received = self.greatest_received();
        let recovers = self.initial();
        let slow = if self.loss_event_rate > 0.0 { received < recovers } else { self.rate < 2.0 * recovers };
        if self.rtt.is_some() && self.idle && slow {
            // It was idle: missing feedback means nothing.
        } else if self.loss_event_rate == 0.0 {
            self.rate = (self.rate / 2.0).max(self.least());
        } else {
            let limit = if self.by_equation > 2.0 * received { received } else { self.by_equation / 2.0 };
            let limit = limit.max(self.least());
            self.received = vec![(now, limit / 2.0)];
            self.decide(now, limit);
        }
        self.restart_timer(now, self.timeout_s());
    }
}

impl Controller for Ccid3 {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let first = self.rtt.is_none();
            self.measure(rtt);
            if first && !self.heard {
                self.rate = self.initial();
            }
        }
        if let Some(report) = &ack.report {
            self.on_report(ack.now, report, ack.limited);
        }
    }
    /// The receiver counts the losses.
    fn on_loss(&mut self, _: &Loss) {}
    fn window(&self) -> Bytes {
        Bytes::MAX
    }
    fn rate(&self) -> Option<BitRate> {
        let rate = (self.rate * self.damping).max(self.least()) * self.overhead * 8.0;
        Some(BitRate(rate.clamp(1.0, 1e15) as u64))
    }
    fn on_sent(&mut self, sent: &Sent) {
        if self.silent_at.is_none() {
            // X_recv_set begins with the first packet, as infinity.
            self.received = vec![(sent.now, f64::INFINITY)];
            self.restart_timer(sent.now, self.timeout_s());
        }
        self.idle = false;
    }
    fn on_event(&mut self, now: Instant, event: &ControllerEvent) {
        if *event == ControllerEvent::Deadline && self.silent_at.is_some_and(|at| at <= now) {
            self.on_silence(now);
        }
    }
    fn deadline(&self) -> Option<Instant> {
        self.silent_at
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("loss_event_rate", self.loss_event_rate));
        seen.push(("equation_rate", self.by_equation * 8.0));
    }
}

/// Bytes a second that TCP would get with segments of `segment` bytes, a round trip of `rtt` seconds and a
/// loss event rate of `p` (RFC 5348, section 3.1, with t_RTO = 4 R and b = 1).
pub fn tcp_throughput(segment: f64, rtt: f64, p: f64) -> f64 {
    let timeout = 4.0 * rtt;
    let spaced = rtt * math::sqrt(2.0 * p / 3.0);
    let silent = timeout * 3.0 * math::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p);
    segment / (spaced + silent)
}
