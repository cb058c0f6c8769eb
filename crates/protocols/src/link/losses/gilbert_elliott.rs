//! Bursts: two states, each with its own loss probability. The state changes from packet to packet.

use super::{Entry, LossContext, LossModel};
use crate::parameter::{self, Parameter};
use crate::rng::Stream;
use crate::time::Instant;
use crate::units::Bytes;

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "gilbert_elliott",
        paper: "Gilbert, Capacity of a Burst-Noise Channel (1960); Elliott, Estimates of Error Rates for Codes on Burst-Noise Channels (1963)",
        parameters: &[
            Parameter::needed(
                "to_bad",
                "",
                (0.0, 1.0),
                "Probability of a change to the bad state, per packet.",
            ),
            Parameter::needed(
                "to_good",
                "",
                (0.0, 1.0),
                "Probability of a change to the good state, per packet.",
            ),
            Parameter::needed("good", "", (0.0, 1.0), "Share of packets that are lost in the good state."),
            Parameter::needed("bad", "", (0.0, 1.0), "Share of packets that are lost in the bad state."),
        ],
        only_with: &[],
        build: |parameters, context: LossContext| {
            Box::new(GilbertElliott {
                leave: ["to_bad", "to_good"].map(|name| parameters.number(name)),
                lose: ["good", "bad"].map(|name| parameters.number(name)),
                is_bad: false,
                draws: context.draws,
            })
        },
    },
    share_max: |loss, _| loss.parameters().number("good").max(loss.parameters().number("bad")),
    over_time: false,
};

struct GilbertElliott {
    leave: [f64; 2],
    lose: [f64; 2],
    is_bad: bool,
    draws: Stream,
}

impl LossModel for GilbertElliott {
    fn loses(&mut self, _: Instant, _: Bytes) -> bool {
        let lost = self.draws.unit() < self.lose[usize::from(self.is_bad)];
        if self.draws.unit() < self.leave[usize::from(self.is_bad)] {
            self.is_bad = !self.is_bad;
        }
        lost
    }
}
