//! ICP: AIMD at the expiry of an Interest timer that is the mean of the least and the greatest round
//! trip (Carofiglio, Gallo and Muscariello, "ICP: Design and Evaluation of an Interest Control Protocol
//! for Content-Centric Networking", IEEE NOMEN 2012, section III).

use super::reno::initial_window;
use super::{Ack, Advice, Cause, Controller, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use std::collections::VecDeque;

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "icp",
    paper: "Carofiglio, Gallo and Muscariello, ICP: Design and Evaluation of an Interest Control Protocol for Content-Centric Networking (2012)",
    parameters: &[
        initial_window(1.0),
        Parameter::number("alpha", "", 1.0, (0.01, 100.0), "Segments more per round trip."),
        Parameter::number("beta", "", 0.5, (0.1, 0.99), "Share of the window that is left after a timeout."),
        Parameter::number(
            "delta",
            "",
            0.5,
            (0.0, 10.0),
            "Where between the least (0) and the greatest round trip (1) the timer expires.",
        ),
        Parameter::integer("history", 20.0, (1.0, 1e4), "Round trips of which least and greatest are taken."),
        Parameter::number(
            "timeout_min",
            "s",
            0.2,
            (0.0, 60.0),
            "The timer's least value, so that a queue that grows is not a timeout; 0: as in the paper.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| {
        Box::new(Icp {
            segment: flow.segment.0 as f64,
            window: parameters.number("initial_window"),
            alpha: parameters.number("alpha"),
            beta: parameters.number("beta"),
            delta: parameters.number("delta"),
            history: parameters.number("history") as usize,
            timeout_min: Duration::from_secs_f64(parameters.number("timeout_min")),
            rtts: VecDeque::new(),
            hold_until: Instant::ZERO,
        })
    },
};

struct Icp {
    segment: f64,
    /// In segments.
    window: f64,
    alpha: f64,
    beta: f64,
    delta: f64,
    history: usize,
    timeout_min: Duration,
    rtts: VecDeque<Duration>,
    /// The window is cut once per timer.
    hold_until: Instant,
}

impl Icp {
    /// The spread of recent round trips above the least of them.
    fn timeout(&self) -> Option<Duration> {
        let (least, greatest) = (*self.rtts.iter().min()?, *self.rtts.iter().max()?);
        let span = (greatest - least).as_secs_f64();
        Some((least + Duration::from_secs_f64(self.delta * span)).max(self.timeout_min))
    }
}

impl Controller for Icp {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtts.push_back(rtt);
            if self.rtts.len() > self.history {
                self.rtts.pop_front();
            }
        }
        if ack.limited && !ack.recovering {
            self.window += self.alpha * ack.acked.0 as f64 / self.segment / self.window;
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Mark || loss.now < self.hold_until {
            return;
        }
        self.window = (self.window * self.beta).max(1.0);
        self.hold_until = loss.now.saturating_add(self.timeout().unwrap_or(Duration::ZERO));
    }
    fn window(&self) -> Bytes {
        Bytes((self.window * self.segment) as u64)
    }
    fn advice(&self) -> Advice {
        Advice { timeout: self.timeout(), ..Advice::NONE }
    }
    fn observe(&self, seen: &mut Observation) {
        seen.push(("window", self.window * self.segment));
        seen.push(("timeout", self.timeout().map_or(f64::NAN, Duration::as_secs_f64)));
    }
}
