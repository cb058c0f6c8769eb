//! How long copies wait at a node for the delivery of their bundle, learnt from what became of earlier ones.
//!
//! Every stay of a copy is an observation: how long it was here, and whether its bundle was delivered meanwhile. The time
//! of all stays divided by the deliveries is the mean wait of a hazard that is constant, with stays that ended otherwise
//! as censored (Kaplan and Meier 1958; for a constant hazard this is the maximum likelihood). For a destination with few
//! observations the mean of all counts as one more delivery: a gamma prior of shape 1.

use crate::dtn::NodeId;
use crate::time::Duration;

/// Deliveries after which the older half of what was learnt is forgotten.
const RECENT: f64 = 50.0;
/// No wait is taken to be shorter, in s.
const SHORTEST: f64 = 1.0;

/// A number of ends and the time until then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    ends: f64,
    seconds: f64,
}

impl Sums {
    fn add(&mut self, ends: bool, seconds: f64) {
        self.ends += f64::from(u8::from(ends));
        self.seconds += seconds;
    }
    fn halve(&mut self) {
        self.ends /= 2.0;
        self.seconds /= 2.0;
    }
    fn mean(&self) -> Option<f64> {
        (self.ends > 0.0).then(|| self.seconds / self.ends)
    }
}

/// What a node has learnt.
#[derive(Debug, Default)]
pub struct Waits {
    by_destination: Vec<Sums>,
    all: Sums,
}

impl Waits {
    /// A copy of a bundle for `destination` was here for this time; then the bundle was known to be delivered, or not.
    pub fn on_stay(&mut self, destination: NodeId, lasted: Duration, is_delivered: bool) {
        let seconds = lasted.as_secs_f64();
        let at = destination.0 as usize;
        if self.by_destination.len() <= at {
            self.by_destination.resize(at + 1, Sums::default());
        }
        self.by_destination[at].add(is_delivered, seconds);
        self.all.add(is_delivered, seconds);
        if self.all.ends > RECENT {
            self.all.halve();
            self.by_destination.iter_mut().for_each(Sums::halve);
        }
    }
    /// The mean wait over all destinations, in s; `None` before the first delivery.
    pub fn usual(&self) -> Option<f64> {
        self.all.mean().map(|mean| mean.max(SHORTEST))
    }
    /// The mean wait of copies for a destination, in s, if that of all is `usual`.
    pub fn to(&self, destination: NodeId, usual: f64) -> f64 {
        let of = self.by_destination.get(destination.0 as usize).copied().unwrap_or_default();
        (usual + of.seconds) / (1.0 + of.ends)
    }
}

/// What a copy adds to the delivery of its bundle for each second that it takes room: `wait` is its mean wait from now
/// on, `left` the time until the bundle's lifetime ends, both in s, and `others` the number of other copies that are known.
///
/// It adds something only if all others fail. With a constant hazard that is the same for all copies of a bundle and is
/// not known but by its mean, 1 / *wait* (a gamma prior of shape 1), none of *others* copies succeeds in the time left
/// with the chance *wait* / (*wait* + *others* · *left*). If so it takes room for *wait*.
pub fn worth(wait: f64, left: f64, others: f64) -> f64 {
    1.0 / (wait + others * left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secs(value: f64) -> Duration {
        Duration::from_secs_f64(value)
    }

    #[test]
    fn the_mean_wait_counts_the_time_of_all_stays_and_the_deliveries() {
        let mut waits = Waits::default();
        assert_eq!(waits.usual(), None);
        waits.on_stay(NodeId(1), secs(100.0), true);
        waits.on_stay(NodeId(1), secs(50.0), false);
        waits.on_stay(NodeId(2), secs(150.0), false);
        assert_eq!(waits.usual(), Some(300.0));
        let to = |node| waits.to(NodeId(node), 300.0);
        assert_eq!([to(1), to(2), to(3)], [225.0, 450.0, 300.0]);
    }

    #[test]
    fn what_was_learnt_long_ago_counts_less() {
        let mut waits = Waits::default();
        (0..500).for_each(|_| waits.on_stay(NodeId(1), secs(1000.0), true));
        (0..300).for_each(|_| waits.on_stay(NodeId(1), secs(10.0), true));
        assert!(waits.usual().is_some_and(|usual| usual < 12.0), "{:?}", waits.usual());
    }

    #[test]
    fn the_only_copy_is_worth_the_inverse_of_its_wait() {
        assert_eq!(worth(100.0, 5.0, 0.0), 0.01);
        assert_eq!(worth(100.0, 5e9, 0.0), 0.01);
    }

    proptest! {
        /// Without a lifetime's end the others take nothing; with much time they take nearly all.
        #[test]
        fn more_copies_and_more_time_for_them_make_a_copy_worth_less(
            wait in 1.0..1e6_f64, left in 1e-3..1e7_f64, others in 0.0..1000.0_f64,
        ) {
            let of = worth(wait, left, others);
            prop_assert!(of >= 0.0 && of <= 1.0 / wait * 1.000_001);
            prop_assert!(worth(wait, left, others + 1.0) <= of * 1.000_001);
            prop_assert!(worth(wait, 2.0 * left, others) <= of * 1.000_001);
            prop_assert!(worth(wait, 1e-9, others) > 0.999_998 / wait);
            prop_assert!(worth(2.0 * wait, left, others) < of);
        }

        /// Waits are found again from draws of a constant hazard, with stays that are cut short.
        #[test]
        fn the_wait_of_a_constant_hazard_is_found_from_stays_that_end_otherwise(
            wait in 10.0..1e5_f64, cut in 0.2..5.0_f64, seed: u64,
        ) {
            let mut draws = crate::rng::Stream::new(seed, "stays", 0);
            let mut waits = Waits::default();
            let mut last = Vec::new();
            for turn in 0..20_000 {
                let time = -crate::math::log(1.0 - draws.unit()) * wait;
                waits.on_stay(NodeId(0), secs(time.min(cut * wait)), time < cut * wait);
                last.extend((turn > 10_000).then(|| waits.usual()).flatten());
            }
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            prop_assert!((mean / wait - 1.0).abs() < 0.15, "{mean} instead of {wait}");
        }
    }
}
