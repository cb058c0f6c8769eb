//! How long a copy is worth keeping, learnt from what is delivered.
//!
//! A node that learns of a delivery knows the bundle's age by then, as its name has the time of creation. The
//! geometric mean of these ages over about 1 / (1 − fade) deliveries is the usual age: ages spread over
//! orders of magnitude, and a few old ones say little of when most arrive. The horizon is `horizon` times
//! that: a copy held for this time has had its chance.
//!
//! This is a control law: under overload, deliveries are young, so the horizon shrinks and buffers turn over
//! faster; where nodes seldom meet, deliveries are old and copies stay. It settles where the usual age A(H)
//! under a horizon of H is H / `horizon`. A(H) grows with H, as old copies live to be delivered, but not
//! below the latency of the path nor beyond the lifetime, and by a smaller factor than H, since most
//! deliveries are by young copies: so there is one fixed point, and a mean that follows A(H) converges to it
//! without overshoot.

use crate::time::Duration;

/// The usual age of deliveries, and what follows of it.
pub struct Horizon {
    factor: f64,
    fade: f64,
    heard: f64,
    /// Of the usual age in nanoseconds.
    octaves: Option<f64>,
    /// What follows of it, once that was asked for: more is heard than asked.
    usual: Option<Usual>,
}

#[derive(Clone, Copy)]
struct Usual {
    /// In nanoseconds.
    age: f64,
    /// How much of the horizon is a nanosecond.
    rate: f64,
}

impl Horizon {
    /// Nothing is known yet.
    pub fn new(factor: f64, fade: f64) -> Self {
        Self { factor, fade, heard: 0.0, octaves: None, usual: None }
    }
    /// The usual age of a bundle when it is heard that it was delivered, in seconds.
    pub fn usual(&self) -> Option<f64> {
        self.octaves.map(|octaves| from_octaves(octaves) / SECOND)
    }
    #[inline]
    fn settle(&mut self) -> Option<Usual> {
        if self.usual.is_none() {
            self.usual =
                self.octaves.map(from_octaves).map(|age| Usual { age, rate: 1.0 / (self.factor * age) });
        }
        self.usual
    }
    /// A bundle of this age was delivered.
    pub fn on_delivery(&mut self, age: Duration) {
        self.heard = self.heard * self.fade + 1.0;
        let age = octaves(in_nanos(age));
        let before = self.octaves.unwrap_or(age);
        self.octaves = Some(before + (age - before) / self.heard);
        self.usual = None;
    }
    /// Position of a copy, held for this time, relative to the horizon: 1 at the horizon, and hardly more
    /// beyond; 0 before the first delivery.
    pub fn reached(&mut self, held: Duration) -> f64 {
        self.settle().map_or(0.0, |usual| {
            let part = held.as_nanos() as f64 * usual.rate;
            if part > 1.0 { 1.0 + BEYOND * octaves(part) } else { part }
        })
    }
    /// How often the usual age must be halved to get the remaining lifetime: a copy close to its end has
    /// lost about that number of halves of its chance. 0 if more is left.
    pub fn late(&mut self, left: Duration) -> f64 {
        let left = in_nanos(left);
        self.settle().filter(|usual| usual.age > left).map_or(0.0, |usual| octaves(usual.age) - octaves(left))
    }
}

const SECOND: f64 = 1e9;
/// Extra cost, in margins, for each doubling of the time beyond the horizon: of equals, the copy held
/// longest makes room.
const BEYOND: f64 = 0.02;

/// A second at least: less is no other world.
fn in_nanos(age: Duration) -> f64 {
    (age.as_nanos() as f64).max(SECOND)
}

/// The logarithm to base 2 as the number itself has it, exponent and mantissa: straight between powers of
/// two, at most 0.09 below. As even a measure as the logarithm, the same on every machine, and free: each
/// node hears of each delivery.
fn octaves(value: f64) -> f64 {
    value.to_bits() as f64 / MANTISSA - BIAS
}
/// The inverse of [`octaves`].
fn from_octaves(octaves: f64) -> f64 {
    f64::from_bits(((octaves + BIAS) * MANTISSA) as u64)
}
/// Of a double: steps between powers of two, and the exponent of 1.
const MANTISSA: f64 = (1_u64 << 52) as f64;
const BIAS: f64 = 1023.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;
    use proptest::prelude::*;

    fn secs(value: f64) -> Duration {
        Duration::from_secs_f64(value)
    }

    #[test]
    fn nothing_has_been_here_too_long_before_a_delivery_is_heard_of() {
        let mut horizon = Horizon::new(1.0, 0.98);
        assert_eq!([horizon.reached(secs(1e6)), horizon.late(secs(1.0))], [0.0, 0.0]);
    }

    #[test]
    fn what_was_here_for_the_usual_age_has_had_its_chance() {
        let mut horizon = Horizon::new(1.0, 0.98);
        [50.0, 200.0].into_iter().for_each(|age| horizon.on_delivery(secs(age)));
        assert!((horizon.usual().unwrap_or_default() - 100.0).abs() < 1.0);
        assert!((horizon.reached(secs(50.0)) - 0.5).abs() < 0.01);
        assert!((horizon.reached(secs(200.0)) - 1.02).abs() < 0.001, "hardly more beyond");
        assert!((horizon.late(secs(25.0)) - 2.0).abs() < 0.02);
        assert_eq!(horizon.late(secs(101.0)), 0.0);
    }

    proptest! {
        #[test]
        fn octaves_are_the_logarithm_within_a_tenth_and_lead_back(value in 1.0..1e18_f64) {
            let off = math::log2(value) - octaves(value);
            prop_assert!((-1e-9..0.09).contains(&off), "{off}");
            prop_assert!((from_octaves(octaves(value)) / value - 1.0).abs() < 1e-9);
        }

        /// Deliveries by young copies, and by those that live as long as the horizon lets them.
        #[test]
        fn it_comes_to_rest_where_the_usual_age_says(
            way in 10.0..5_000.0_f64, slope in 0.0..0.8_f64, first in 1.0..40_000.0_f64, seed: u64,
        ) {
            let mut horizon = Horizon::new(1.0, 0.98);
            horizon.on_delivery(secs(first));
            let mut draws = crate::rng::Stream::new(seed, "ages", 0);
            let mut last = Vec::new();
            for turn in 0..8_000 {
                let usual = horizon.usual().unwrap_or(first);
                let spread = math::pow(16.0, draws.unit() - 0.5);
                horizon.on_delivery(secs(spread * (way + slope * usual)));
                last.extend((turn >= 4_000).then_some(usual));
            }
            let (mean, rest) = (last.iter().sum::<f64>() / last.len() as f64, way / (1.0 - slope));
            // What octaves are off by is magnified by the plant.
            let off = 0.1 + 0.06 / (1.0 - slope);
            prop_assert!((mean / rest - 1.0).abs() < off, "{mean} instead of {rest}");
        }
    }
}
