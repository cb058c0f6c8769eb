//! No control: a window or a rate that somebody else has chosen.

use super::{Ack, Controller, ControllerEvent, Flow, Loss};
use crate::parameter::{self, Parameter};
use crate::time::Instant;
use crate::units::{BitRate, Bytes};

/// Name, paper and parameters in the table of controllers.
pub const ENTRY: parameter::Entry<dyn Controller, Flow> = parameter::Entry {
    name: "fixed",
    paper: "",
    parameters: &[
        Parameter::number("window", "B", 0.0, (0.0, 1e15), "May be in flight; 0: no bound."),
        Parameter::number(
            "rate",
            "bit/s",
            0.0,
            (0.0, 1e12),
            "May leave; 0: the planned rate or that of the transport before, or no bound.",
        ),
    ],
    only_with: &[],
    build: |parameters, flow| {
        let bound = |name: &str| Some(parameters.number(name) as u64).filter(|&bound| bound > 0);
        Box::new(Fixed {
            window: bound("window").map_or(Bytes::MAX, Bytes),
            rate: bound("rate").map(BitRate).or(flow.planned_rate),
            follows_plan: bound("rate").is_none() && bound("window").is_none(),
        })
    },
};

struct Fixed {
    window: Bytes,
    rate: Option<BitRate>,
    /// Neither a rate nor a window is configured.
    follows_plan: bool,
}

impl Controller for Fixed {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_event(&mut self, _: Instant, event: &ControllerEvent) {
        if let (true, ControllerEvent::Plan(rate) | ControllerEvent::Handover(rate)) =
            (self.follows_plan, event)
        {
            self.rate = Some(*rate);
        }
    }
    fn window(&self) -> Bytes {
        self.window
    }
    fn rate(&self) -> Option<BitRate> {
        self.rate
    }
}
