//! TCP-like congestion control of datagrams, counted in packets (RFC 4341, section 5).
//!
//! What belongs to acknowledgements, the Ack Ratio, is kept by the transport
//! ([`crate::transport::dccp::AckRatio`]), as every controller over DCCP needs it.

use super::{Ack, Cause, Controller, ControllerEvent, Flow, Loss, Sent};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::transport::rto::{Rto, Timers};
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "ccid2",
    paper: "RFC 4341",
    parameters: &[
        Parameter::integer(
            "initial_window",
            0.0,
            (0.0, 1e6),
            "Packets that may leave at the start; 0: those of RFC 3390.",
        ),
        Parameter::integer(
            "initial_threshold",
            0.0,
            (0.0, 1e9),
            "Packets at which slow start ends; 0: none.",
        ),
        Parameter::flag("validate", true, "A window that is not used decays (RFC 2861)."),
        Parameter::flag(
            "stuck_window",
            false,
            "A fault of Linux before 3.2: after a timeout the window may stay at one packet.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| {
        let segment = flow.segment.0 as f64;
        let usual = (4380.0 / segment).clamp(2.0, 4.0).floor();
        let given = parameters.number("initial_window");
        let initial = if given > 0.0 { given } else { usual };
        let threshold = parameters.number("initial_threshold");
        Box::new(Ccid2 {
            segment,
            initial,
            window: initial,
            threshold: if threshold > 0.0 { threshold } else { f64::INFINITY },
            acked: 0.0,
            validates: parameters.flag("validate"),
            sticks: parameters.flag("stuck_window"),
            rto: Rto::new(TIMERS),
            last_sent: Instant::ZERO,
            used: 0.0,
            used_since: Instant::ZERO,
        })
    },
};

/// For how long nothing must leave until a window counts as not used.
const TIMERS: Timers = Timers {
    first: Duration::from_secs(3),
    margin: Duration::from_nanos(200_000_000),
    least: Duration::from_nanos(200_000_000),
    most: Duration::MAX,
};

/// Window and threshold in packets.
struct Ccid2 {
    segment: f64,
    initial: f64,
    window: f64,
    threshold: f64,
    /// Acknowledged since the window grew last.
    acked: f64,
    validates: bool,
    sticks: bool,
    rto: Rto,
    last_sent: Instant,
    /// Most in flight since `used_since`.
    used: f64,
    used_since: Instant,
}

impl Ccid2 {
    /// One packet for two acknowledged in slow start, as TCP with delayed acknowledgements; else one for a
    /// window of data. An acknowledgement that covers lost ones opens the window no further in
    /// slow start than one of them would: by half the Ack Ratio (RFC 4341, section 5).
    fn grow(&mut self, packets: f64, ack_ratio: u64) {
        let starts = self.window < self.threshold;
        let most = if starts && ack_ratio > 0 && !self.sticks { ack_ratio as f64 } else { f64::INFINITY };
        self.acked += packets.min(most);
        if starts {
            // Linux asked whether exactly two were acknowledged, of a count that may have been beyond.
            let doubles = if self.sticks { self.acked == 2.0 } else { self.acked >= 2.0 };
            if doubles {
                self.window += if self.sticks { 1.0 } else { (self.acked / 2.0).floor() };
                self.acked = if self.sticks { 0.0 } else { self.acked % 2.0 };
            }
        } else if self.acked >= self.window {
            self.acked -= self.window;
            self.window += 1.0;
        }
    }
    /// RFC 2861, section 3: half for each RTO without sending, not below the initial window.
    fn decay_idle(&mut self, now: Instant) {
        let timeout = self.rto.span().as_nanos().max(1);
        let spans = (now - self.last_sent).as_nanos() / timeout;
        if spans <= 0 {
            return;
        }
        self.threshold = self.threshold.max(0.75 * self.window);
        let least = self.initial.min(self.window);
        for _ in 0..spans.min(64) {
            self.window = (self.window / 2.0).floor().max(least);
        }
        (self.used, self.used_since) = (0.0, now);
    }
    /// RFC 2861, section 3: of a window that the application did not fill for a timeout, half of the unused
    /// part goes.
    fn decay_limited(&mut self, now: Instant, limited: bool) {
        if limited {
            (self.used, self.used_since) = (0.0, now);
        } else if now - self.used_since >= self.rto.span() {
            self.threshold = self.threshold.max(0.75 * self.window);
            let used = self.used.max(1.0);
            if used < self.window {
                self.window = ((self.window + used) / 2.0).floor().max(self.initial.min(self.window));
            }
            (self.used, self.used_since) = (0.0, now);
        }
    }
}

impl Controller for Ccid2 {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rto.measure(rtt);
        }
        if ack.acked.0 == 0 {
            return;
        }
        if !ack.recovering && ack.limited {
            self.grow(ack.acked.0 as f64 / self.segment, ack.ack_ratio);
        }
        if self.validates {
            self.decay_limited(ack.now, ack.limited);
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        match loss.cause {
            Cause::Timeout => {
                self.rto.back_off();
                if !loss.again {
                    self.threshold = (self.window / 2.0).floor().max(2.0);
                }
                self.window = 1.0;
            }
            Cause::Gap | Cause::Mark if loss.episode => {
                self.window = (self.window / 2.0).floor().max(1.0);
                self.threshold = self.window.max(2.0);
            }
            Cause::Gap | Cause::Mark => {}
        }
        if !self.sticks {
            self.acked = 0.0;
        }
    }
    fn window(&self) -> Bytes {
        Bytes((self.window * self.segment) as u64)
    }
    fn on_sent(&mut self, sent: &Sent) {
        if self.validates && self.last_sent > Instant::ZERO && sent.in_flight.0 as f64 <= self.segment {
            self.decay_idle(sent.now);
        }
        self.last_sent = sent.now;
        self.used = self.used.max(sent.in_flight.0 as f64 / self.segment);
    }
    fn on_event(&mut self, _: Instant, event: &ControllerEvent) {
        if *event == ControllerEvent::ReceiverLimited {
            self.threshold = self.threshold.min(self.window.max(2.0));
        }
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window * self.segment));
        seen.push(("threshold", self.threshold * self.segment));
    }
}
