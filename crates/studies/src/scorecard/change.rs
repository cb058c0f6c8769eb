//! How a rate or a delay changes over a run.

/// The shape of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// At once, in the middle of the run.
    Step,
    /// Slowly, from four tenths of the run on.
    Ramp,
    /// A slow rise and a jump back, again and again.
    Saw,
    /// Two values by turns.
    Flap,
}

/// A change of a rate or a delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Its shape.
    pub shape: Shape,
    /// The other value, divided by that at the start.
    pub factor: f64,
    /// Rounds that a ramp lasts, and the period of a saw; a flap stays this long at each value.
    pub rounds: f64,
}

/// Rounds that a jump takes.
pub const AT_ONCE: f64 = 1e-3;
/// Equal rates in place of a slope.
const STAIRS: u32 = 8;

impl Shape {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Ramp => "ramp",
            Self::Saw => "saw",
            Self::Flap => "flap",
        }
    }
}

impl Change {
    /// Points (round, value) between which the value follows straight lines, for a value at the start.
    pub fn points(&self, start: f64, rounds: f64) -> Vec<(f64, f64)> {
        let other = start * self.factor;
        match self.shape {
            Shape::Step => vec![(0.0, start), (rounds / 2.0, start), (rounds / 2.0 + AT_ONCE, other)],
            Shape::Ramp => vec![(0.0, start), (0.4 * rounds, start), (0.4 * rounds + self.rounds, other)],
            Shape::Saw => {
                self.periods(rounds).flat_map(|(_, from, to)| [(from, start), (to, other)]).collect()
            }
            Shape::Flap => {
                let value = |number: u32| if number.is_multiple_of(2) { start } else { other };
                let periods = self.periods(rounds);
                periods.flat_map(|(number, from, to)| [(from, value(number)), (to, value(number))]).collect()
            }
        }
    }
    /// Rows (round, value) from which on a value holds; slopes are stairs.
    pub fn rows(&self, start: f64, rounds: f64) -> Vec<(f64, f64)> {
        let points = self.points(start, rounds);
        let mut rows = vec![(0.0, start)];
        for two in points.windows(2) {
            let [(from, low), (to, high)] = [two[0], two[1]];
            if low == high {
                continue;
            }
            if to - from <= 1.5 * AT_ONCE {
                rows.push((to, high));
                continue;
            }
            let part = |stair: u32| f64::from(stair) / f64::from(STAIRS);
            let stair = |stair: u32| (from + (to - from) * part(stair), low + (high - low) * part(stair));
            rows.extend((1..=STAIRS).map(stair));
        }
        rows.dedup_by(|next, kept| next.0 - kept.0 < AT_ONCE / 2.0);
        rows
    }
    /// Number, start and end of each period, the end a jump before the next start.
    fn periods(&self, rounds: f64) -> impl Iterator<Item = (u32, f64, f64)> + use<> {
        let period = self.rounds;
        let count = (rounds / period).ceil() as u32;
        (0..count).map(move |number| {
            let from = f64::from(number) * period;
            (number, from, from + period - AT_ONCE)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_each_shape_are_stairs_that_ascend_in_time() {
        for shape in [Shape::Step, Shape::Ramp, Shape::Saw, Shape::Flap] {
            let rows = Change { shape, factor: 4.0, rounds: 10.0 }.rows(1.0, 40.0);
            assert!(rows.windows(2).all(|two| two[0].0 < two[1].0), "{shape:?}: {rows:?}");
            assert!(rows.iter().any(|row| row.1 == 4.0) && rows[0] == (0.0, 1.0), "{shape:?}: {rows:?}");
        }
    }
}
