//! How long copies wait at a node for the delivery of their bundle, learnt from what became of earlier ones.
//!
//! Every stay of a copy is an observation: how long it was here, and whether its bundle was delivered meanwhile. The time
//! of all stays divided by the deliveries is the mean wait of a hazard that is constant, with stays that ended otherwise
//! as censored (Kaplan and Meier 1958; for a constant hazard this is the maximum likelihood). For a destination with few
//! observations the mean of all counts as one more delivery: a gamma prior of shape 1.

use crate::dtn::NodeId;
use crate::time::Duration;

/// Deliveries, or drops, after which the older half of what was learnt is forgotten.
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

/// Why a stay is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The bundle is known to be delivered.
    Delivered,
    /// The copy was dropped to make room.
    Dropped,
    /// Its lifetime is over, or it has moved on.
    Other,
}

/// What a node has learnt.
#[derive(Debug, Default)]
pub struct Waits {
    by_destination: Vec<Sums>,
    all: Sums,
    dropped: Sums,
}

impl Waits {
    /// A copy of a bundle for `destination` was here for this time.
    pub fn on_stay(&mut self, destination: NodeId, lasted: Duration, end: End) {
        let (is_delivered, seconds) = (end == End::Delivered, lasted.as_secs_f64());
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
        if end == End::Dropped {
            self.dropped.add(true, seconds);
            if self.dropped.ends > RECENT {
                self.dropped.halve();
            }
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
    /// How long copies stay that are dropped to make room, in s; `None`: none was.
    pub fn stay(&self) -> Option<f64> {
        self.dropped.mean()
    }
}

/// What a copy adds to the delivery of its bundle for each second that it takes room: `wait` is its mean wait from now
/// on, `left` the time for which it and `others` other copies remain, all in s.
///
/// A copy that has waited for *w* and is expected to wait for *W* at the start has a chance *q* = *W* / (*W* + *left*),
/// with *W* + *w* as `wait`, to be without success in the time left (a constant hazard that is not known, with a gamma
/// prior of shape 1). So it adds (1 − *q*) *q*^others, and takes its room until the first of all copies arrives:
/// *wait* / *n* · (1 − *q*^*n*) on average, with *n* = others + 1.
pub fn worth(wait: f64, left: f64, others: u32) -> f64 {
    let q = wait / (wait + left);
    // (1 - q^n) / (1 - q) is the sum of the powers below n.
    let (mut power, mut sum) = (1.0, 1.0);
    for _ in 0..others.min(MOST) {
        power *= q;
        sum += power;
    }
    f64::from(others.min(MOST) + 1) * power / sum / wait
}

/// More copies are not distinguished.
const MOST: u32 = 64;

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
        assert_eq!((waits.usual(), waits.stay()), (None, None));
        waits.on_stay(NodeId(1), secs(100.0), End::Delivered);
        waits.on_stay(NodeId(1), secs(50.0), End::Other);
        waits.on_stay(NodeId(2), secs(150.0), End::Dropped);
        assert_eq!((waits.usual(), waits.stay()), (Some(300.0), Some(150.0)));
        let to = |node| waits.to(NodeId(node), 300.0);
        assert_eq!([to(1), to(2), to(3)], [225.0, 450.0, 300.0]);
    }

    #[test]
    fn what_was_learnt_long_ago_counts_less() {
        let mut waits = Waits::default();
        (0..500).for_each(|_| waits.on_stay(NodeId(1), secs(1000.0), End::Delivered));
        (0..300).for_each(|_| waits.on_stay(NodeId(1), secs(10.0), End::Delivered));
        assert!(waits.usual().is_some_and(|usual| usual < 12.0), "{:?}", waits.usual());
    }

    #[test]
    fn the_only_copy_is_worth_the_inverse_of_its_wait() {
        assert_eq!(worth(100.0, 5.0, 0), 0.01);
        assert_eq!(worth(100.0, 5e9, 0), 0.01);
    }

    proptest! {
        /// Without a lifetime's end the others take nothing; with much time they take nearly all.
        #[test]
        fn more_copies_longer_waits_and_more_time_for_the_others_make_a_copy_worth_less(
            wait in 1.0..1e6_f64, left in 1e-3..1e7_f64, others in 0_u32..100,
        ) {
            let of = worth(wait, left, others);
            prop_assert!(of >= 0.0 && of <= 1.0 / wait * 1.000_001);
            prop_assert!(worth(wait, left, others + 1) <= of * 1.000_001);
            prop_assert!(worth(wait, 2.0 * left, others) <= of * 1.000_001);
            prop_assert!(worth(wait, 1e-9, others) > 0.999 / wait);
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
                let (lasted, end) = if time < cut * wait { (time, End::Delivered) } else { (cut * wait, End::Dropped) };
                waits.on_stay(NodeId(0), secs(lasted), end);
                last.extend((turn > 10_000).then(|| waits.usual()).flatten());
            }
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            prop_assert!((mean / wait - 1.0).abs() < 0.15, "{mean} instead of {wait}");
        }
    }
}
