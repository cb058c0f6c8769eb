//! A share that grows linearly with the delay, as where distance weakens a signal.

use super::super::Delay;
use super::{Entry, LossContext, LossModel};
use crate::parameter::{self, Parameter};
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// The row of the table. The delay is its mean, where it is drawn.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "by_delay",
        paper: "",
        parameters: &[
            Parameter::number(
                "least",
                "",
                0.0001,
                (0.0, 1.0),
                "Share of packets that are lost at the least delay; also where the delay is constant.",
            ),
            Parameter::number(
                "most",
                "",
                0.05,
                (0.0, 1.0),
                "Share of packets that are lost at the greatest delay.",
            ),
        ],
        only_with: &[],
        build: |parameters, context: LossContext| {
            Box::new(ByDelay {
                shares: (parameters.number("least"), parameters.number("most")),
                bounds: context.delay.bounds(),
                delay: context.delay,
                draws: context.draws,
            })
        },
    },
    share_max: |loss, _| loss.parameters().number("least").max(loss.parameters().number("most")),
    over_time: false,
};

struct ByDelay {
    shares: (f64, f64),
    /// The least and the greatest delay.
    bounds: (Duration, Duration),
    delay: Delay,
    draws: Stream,
}

impl LossModel for ByDelay {
    fn loses(&mut self, now: Instant, _: Bytes) -> bool {
        let ((least, most), (low, high)) = (self.shares, self.bounds);
        let span = (high - low).as_nanos().max(1) as f64;
        let part = (self.delay.at(now) - low).as_nanos() as f64 / span;
        self.draws.unit() < least + (most - least) * part
    }
}
