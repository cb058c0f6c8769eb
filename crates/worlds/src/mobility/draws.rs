//! Where the chance in motion comes from.

use super::{Area, Bounds, Point};
use java_random::Random;
use lightlag_protocols::rng::Stream;

/// A source of random numbers for a mobility model.
pub trait Draw {
    /// Uniform in `[0, 1)`.
    fn unit(&mut self) -> f64;
    /// Uniform in `0..n`; `n` is at least 1 and below 2^31.
    fn below(&mut self, n: u32) -> u32;
    /// Uniform over a range; one draw, also when both ends are equal (as The ONE does).
    fn within(&mut self, range: Bounds<f64>) -> f64 {
        (range.high - range.low) * self.unit() + range.low
    }
    /// Uniform over the rectangle from (0, 0) to these sides.
    fn place(&mut self, area: Area) -> Point {
        let x = self.unit() * area.width_m;
        Point::new(x, self.unit() * area.height_m)
    }
}

impl Draw for Stream {
    fn unit(&mut self) -> f64 {
        Self::unit(self)
    }
    fn below(&mut self, n: u32) -> u32 {
        Self::below(self, u64::from(n)) as u32
    }
}

/// The generator of The ONE: `java.util.Random` (its documentation gives the recurrence).
#[derive(Clone, Debug)]
pub struct JavaDraw(Random);

impl JavaDraw {
    /// As `new java.util.Random(seed)`.
    pub fn new(seed: i64) -> Self {
        Self(Random::with_seed(seed as u64))
    }
}

impl Draw for JavaDraw {
    fn unit(&mut self) -> f64 {
        self.0.next_double()
    }
    fn below(&mut self, n: u32) -> u32 {
        self.0.next_int_n(n as i32) as u32
    }
}

/// Which numbers a fleet draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// One stream per node: what one node draws moves no other.
    PerNode {
        /// Seed of the run.
        seed: u64,
    },
    /// One `java.util.Random` for all nodes, drawn from in The ONE's order: first all nodes begin
    /// in the order of their numbers, then nodes draw when they need a path or a pause, ties by number.
    TheOne {
        /// `MovementModel.rngSeed`, 0 if the settings have none.
        rng_seed: i32,
    },
}

/// The state of the generators of a fleet.
#[derive(Debug)]
pub(super) enum Sources {
    PerNode(Vec<Stream>),
    Shared(JavaDraw),
}

impl Sources {
    pub(super) fn new(draws: Draws, nodes: u32) -> Self {
        match draws {
            Draws::PerNode { seed } => {
                Self::PerNode((0..u64::from(nodes)).map(|n| Stream::new(seed, "mobility", n)).collect())
            }
            Draws::TheOne { rng_seed } => Self::Shared(JavaDraw::new(i64::from(rng_seed))),
        }
    }
    pub(super) fn of(&mut self, node: usize) -> &mut dyn Draw {
        match self {
            Self::PerNode(streams) => &mut streams[node],
            Self::Shared(one) => one,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_draws_have_the_published_values() {
        // `new Random(42)` starts with the ints -1170105035, 234785527, -1360544799; a bounded draw
        // takes their upper 31 bits.
        let mut draw = JavaDraw::new(42);
        let upper = [-1_170_105_035_i32, 234_785_527, -1_360_544_799].map(|i| (i as u32 >> 1) % 100);
        assert_eq!([draw.below(100), draw.below(100), draw.below(100)], upper);
        assert_eq!(JavaDraw::new(0).unit(), 0.730_967_787_376_657);
    }
}
