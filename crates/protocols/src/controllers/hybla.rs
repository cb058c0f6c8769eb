//! Hybla: grows as a Reno connection of round-trip time `reference_rtt` would, whatever its own
//! (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", 2004).

use super::reno::{INITIAL_THRESHOLD, Reno, initial_window};
use super::{Ack, Controller, Flow, Loss};
use crate::math;
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::Duration;
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "hybla",
    paper: "Caini and Firrincieli, TCP Hybla: a TCP enhancement for heterogeneous networks (2004)",
    parameters: &[
        initial_window(2.0),
        INITIAL_THRESHOLD,
        Parameter::number(
            "reference_rtt",
            "s",
            0.025,
            (1e-6, 3600.0),
            "Reference round-trip time (RTT0): the window grows as that of a Reno flow with this RTT.",
        ),
        Parameter::number(
            "rho_max",
            "",
            1e4,
            (1.0, 1e9),
            "Upper bound of rho = RTT/RTT0. In slow start the exponent of 2^rho is at most 16.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| {
        Box::new(Hybla {
            reno: Reno::new(parameters, &flow),
            reference: Duration::from_secs_f64(parameters.number("reference_rtt")),
            rho_max: parameters.number("rho_max"),
            per_payload: flow.packet.0 as f64 / flow.segment.0 as f64,
            rtt_min: None,
            rho: 1.0,
        })
    },
};

struct Hybla {
    reno: Reno,
    reference: Duration,
    rho_max: f64,
    /// Bytes on the link per byte of payload.
    per_payload: f64,
    rtt_min: Option<Duration>,
    /// RTT over RTT0, at least one.
    rho: f64,
}

/// The rate beside window over round trip: above one, so that the window decides.
const SPACING: f64 = 1.25;
/// 2^rho is cut here.
const EXPONENT_MAX: f64 = 16.0;

impl Controller for Hybla {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let least = self.rtt_min.map_or(rtt, |least| least.min(rtt));
            self.rtt_min = Some(least);
            self.rho = (least.as_secs_f64() / self.reference.as_secs_f64()).clamp(1.0, self.rho_max);
        }
        if ack.recovering || !ack.limited {
            return;
        }
        let segment = self.reno.segment;
        // Equations 9: 2^rho - 1 in slow start, rho^2/W in congestion avoidance.
        let step = if self.reno.in_slow_start() {
            (math::pow(2.0, self.rho.min(EXPONENT_MAX)) - 1.0) * segment
        } else {
            self.rho * self.rho * segment * segment / self.reno.window
        };
        // By one acknowledgement it doubles at most.
        self.reno.window += step.min(self.reno.window);
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.reno.on_loss(loss);
    }
    fn window(&self) -> Bytes {
        self.reno.bytes()
    }
    /// Bursts of rho segments an acknowledgement would overflow every queue, so they are spaced (section
    /// 4.2).
    fn rate(&self) -> Option<BitRate> {
        let rate = SPACING * self.reno.window * self.per_payload / self.rtt_min?.as_secs_f64();
        Some(BitRate((8.0 * rate) as u64))
    }
    fn observe(&self, seen: &mut Observation) {
        self.reno.observe(seen);
        seen.push(("rho", self.rho));
    }
}
