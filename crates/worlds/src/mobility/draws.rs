//! Where the chance in motion comes from.

use super::sine;
use super::{Area, Bounds, Point};
use java_random::Random;
use lightlag_protocols::math::{cos, log, sin};
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
    /// Normally distributed with mean 0 and variance 1, by the polar method (Marsaglia and Bray 1964).
    fn normal(&mut self) -> f64 {
        polar(|| self.unit()).0
    }
    /// Cosine and sine of an angle of a turn at most.
    fn cos_sin(&self, angle: f64) -> (f64, f64) {
        (cos(angle), sin(angle))
    }
    /// Uniform over the rectangle from (0, 0) to these sides.
    fn place(&mut self, area: Area) -> Point {
        let x = self.unit() * area.width_m;
        Point::new(x, self.unit() * area.height_m)
    }
}

/// Two independent normal numbers from as many uniform ones as it takes.
fn polar(mut unit: impl FnMut() -> f64) -> (f64, f64) {
    loop {
        let (x, y) = (2.0 * unit() - 1.0, 2.0 * unit() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            let scale = (-2.0 * log(square) / square).sqrt();
            return (x * scale, y * scale);
        }
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
pub struct JavaDraw {
    random: Random,
    /// The second of a pair of normal numbers.
    normal: Option<f64>,
}

impl JavaDraw {
    /// As `new java.util.Random(seed)`.
    pub fn new(seed: i64) -> Self {
        Self { random: Random::with_seed(seed as u64), normal: None }
    }
}

impl Draw for JavaDraw {
    fn unit(&mut self) -> f64 {
        self.random.next_double()
    }
    fn below(&mut self, n: u32) -> u32 {
        self.random.next_int_n(n as i32) as u32
    }
    fn cos_sin(&self, angle: f64) -> (f64, f64) {
        sine::cos_sin(angle)
    }
    /// `nextGaussian` makes numbers in pairs and keeps the second one for the next call.
    fn normal(&mut self) -> f64 {
        if let Some(kept) = self.normal.take() {
            return kept;
        }
        let (now, next) = polar(|| self.random.next_double());
        self.normal = Some(next);
        now
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
    /// What the prototype of a group draws from; none where only nodes draw.
    pub(super) fn of_prototype(&mut self) -> Option<&mut dyn Draw> {
        match self {
            Self::PerNode(_) => None,
            Self::Shared(one) => Some(one),
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
        // Printed by OpenJDK 17.
        let mut draw = JavaDraw::new(42);
        let normal = [draw.normal(), draw.normal(), draw.normal()];
        assert_eq!(normal, [1.141_905_315_473_054_7, 0.919_407_948_982_787_9, -0.949_866_636_890_895_9]);
    }
}
