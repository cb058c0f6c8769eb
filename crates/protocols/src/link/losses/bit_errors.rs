//! Each bit is wrong with the same probability; a wrong bit loses its packet.

use super::{Entry, LossContext, LossModel};
use crate::math;
use crate::parameter::{self, Parameter};
use crate::rng::Stream;
use crate::time::Instant;
use crate::units::Bytes;

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "bit_errors",
        paper: "",
        parameters: &[Parameter::needed("share", "", (0.0, 1.0), "Share of bits that are wrong.")],
        only_with: &[],
        build: |parameters, context: LossContext| {
            let (share, draws) = (parameters.number("share"), context.draws);
            Box::new(BitErrors { share, draws, last: (Bytes(0), 0.0) })
        },
    },
    share_max: |loss, size| lost(loss.parameters().number("share"), size),
    over_time: false,
};

/// Share of packets of a size that are lost at this share of wrong bits.
fn lost(share: f64, size: Bytes) -> f64 {
    1.0 - math::pow(1.0 - share, size.0 as f64 * 8.0)
}

struct BitErrors {
    share: f64,
    draws: Stream,
    /// The size of the last packet, and the probability that one of that size is lost.
    last: (Bytes, f64),
}

impl LossModel for BitErrors {
    fn loses(&mut self, _: Instant, size: Bytes) -> bool {
        if self.last.0 != size {
            self.last = (size, lost(self.share, size));
        }
        self.draws.unit() < self.last.1
    }
}
