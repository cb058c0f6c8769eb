//! A share over time, from a table.

use super::{Entry, LossContext, LossModel};
use crate::parameter;
use crate::rng::Stream;
use crate::time::Instant;
use crate::units::Bytes;

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "steps",
        paper: "",
        parameters: &[],
        only_with: &[],
        build: |_, context: LossContext| Box::new(Steps { rows: context.steps, draws: context.draws }),
    },
    share_max: |loss, _| loss.steps().iter().map(|row| row.1).fold(0.0, f64::max),
    over_time: true,
};

/// From each instant on the share beside it; zero before the first.
struct Steps {
    rows: Vec<(Instant, f64)>,
    draws: Stream,
}

impl LossModel for Steps {
    fn loses(&mut self, now: Instant, _: Bytes) -> bool {
        let after = self.rows.partition_point(|row| row.0 <= now);
        let share = after.checked_sub(1).map_or(0.0, |row| self.rows[row].1);
        self.draws.unit() < share
    }
}
