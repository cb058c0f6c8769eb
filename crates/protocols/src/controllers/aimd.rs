//! AIMD: one segment more per round trip, a share of the window less when an Interest is lost, as the
//! consumers of Named Data Networking do (Schneider et al., "A Practical Congestion Control Scheme for
//! Named Data Networking", ACM ICN 2016, section 4.4; ndnget).

use super::reno::{Reno, initial_window};
use super::{Ack, Cause, Controller, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::units::Bytes;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "aimd",
    paper: "Schneider et al., A Practical Congestion Control Scheme for Named Data Networking (2016)",
    parameters: &[
        initial_window(2.0),
        Parameter::flag("slow_start", true, "Double per round trip until the first loss."),
        Parameter::word(
            "timeouts",
            &["once", "each"],
            "Whether the window is cut once per round trip (conservative window adaptation) or at each timeout.",
        ),
        Parameter::number("beta", "", 0.5, (0.1, 0.99), "Share of the window that is left after a loss."),
        Parameter::flag("marks", true, "Take a congestion mark for a loss."),
    ],
    only_with: &[],
    build: |parameters, flow| {
        let segment = flow.segment.0 as f64;
        let threshold = if parameters.flag("slow_start") { f64::INFINITY } else { 0.0 };
        Box::new(Aimd {
            reno: Reno { segment, window: parameters.number("initial_window") * segment, threshold },
            every_timeout: parameters.word("timeouts") == "each",
            beta: parameters.number("beta"),
            marks: parameters.flag("marks"),
        })
    },
};

struct Aimd {
    reno: Reno,
    every_timeout: bool,
    beta: f64,
    marks: bool,
}

impl Controller for Aimd {
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.recovering && ack.limited && ack.acked.0 > 0 {
            self.reno.grow();
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        let cuts = match loss.cause {
            Cause::Mark => self.marks && loss.episode,
            Cause::Gap | Cause::Timeout => self.every_timeout || loss.episode,
        };
        if cuts {
            self.reno.reduce(self.reno.window * self.beta);
        }
    }
    fn window(&self) -> Bytes {
        self.reno.bytes()
    }
    fn observe(&self, seen: &mut Observation) {
        self.reno.observe(seen);
    }
}
