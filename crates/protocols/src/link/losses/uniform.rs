//! Each packet is lost with the same probability.

use super::{Entry, LossContext, LossModel};
use crate::parameter::{self, Parameter};
use crate::rng::Stream;
use crate::time::Instant;
use crate::units::Bytes;

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "uniform",
        paper: "",
        parameters: &[Parameter::needed("share", "", (0.0, 1.0), "Share of packets that are lost.")],
        only_with: &[],
        build: |parameters, context: LossContext| {
            Box::new(Uniform { share: parameters.number("share"), draws: context.draws })
        },
    },
    share_max: |loss, _| loss.parameters().number("share"),
    over_time: false,
};

struct Uniform {
    share: f64,
    draws: Stream,
}

impl LossModel for Uniform {
    fn loses(&mut self, _: Instant, _: Bytes) -> bool {
        self.draws.unit() < self.share
    }
}
