//! How long a copy is worth keeping, learnt from what is delivered.
//!
//! Who hears of a delivery knows how old the bundle was by then: its name tells when it was created. The geometric mean of that,
//! over about 1 / (1 − fade) deliveries, is the usual age: ages spread over orders of magnitude, and a few old ones say little of
//! when most arrive. The horizon is `horizon` times that: a copy that was here for so long has had its chance.
//!
//! It is the law of control: where more is offered than can be carried, what is delivered is delivered young, the horizon
//! shrinks and buffers turn over faster; where nodes seldom meet, deliveries are old and copies stay. It comes to rest where
//! the usual age A(H) under a horizon of H is H / `horizon`. A(H) grows with H, as old copies live to be delivered; but not below
//! the time that the way takes, nor beyond the lifetime, and by a smaller factor than H does, since most deliveries are made by
//! young copies: so there is one such place, and a mean that follows A(H) goes there without overshoot.

use crate::math;
use crate::time::Duration;

/// The usual age of deliveries, and what follows of it.
pub struct Horizon {
    factor: f64,
    fade: f64,
    heard: f64,
    /// Of the usual age in seconds, natural.
    logarithm: Option<f64>,
    /// The usual age in seconds, once it was asked for: more is heard than asked.
    usual: Option<f64>,
}

impl Horizon {
    /// Nothing is known yet.
    pub fn new(factor: f64, fade: f64) -> Self {
        Self { factor, fade, heard: 0.0, logarithm: None, usual: None }
    }
    /// The usual age of a bundle when it is heard that it was delivered, in seconds.
    pub fn usual(&self) -> Option<f64> {
        self.usual.or_else(|| self.logarithm.map(math::exp))
    }
    fn settle(&mut self) -> Option<f64> {
        self.usual = self.usual();
        self.usual
    }
    /// A bundle of this age was delivered.
    pub fn on_delivery(&mut self, age: Duration) {
        self.heard = self.heard * self.fade + 1.0;
        let age = math::log(age.as_secs_f64().max(1.0));
        let before = self.logarithm.unwrap_or(age);
        self.logarithm = Some(before + (age - before) / self.heard);
        self.usual = None;
    }
    /// How far a copy that was here for so long is towards the horizon, up to 1; 0 as long as that is not known.
    pub fn reached(&mut self, held: Duration) -> f64 {
        self.settle().map_or(0.0, |usual| (held.as_secs_f64() / (self.factor * usual)).min(1.0))
    }
    /// How often what is left of a lifetime is the usual age halved: a copy whose lifetime is soon over has lost about so many
    /// halves of its chance. 0 as long as more is left.
    pub fn late(&mut self, left: Duration) -> f64 {
        let left = left.as_secs_f64().max(1.0);
        self.settle().filter(|usual| *usual > left).map_or(0.0, |usual| math::log2(usual / left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(horizon.reached(secs(200.0)), 1.0);
        assert!((horizon.late(secs(25.0)) - 2.0).abs() < 0.02);
        assert_eq!(horizon.late(secs(101.0)), 0.0);
    }

    proptest! {
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
            prop_assert!((mean / rest - 1.0).abs() < 0.2, "{mean} instead of {rest}");
        }
    }
}
