//! What was dropped here, what became of it, and what that says of the next drop.
//!
//! A node drops copies of bundles that it created and of others. If it later hears more seldom that one of its own was
//! delivered all the same, it gives its own up too soon, as nobody else had them; if it hears that more seldom of the
//! others, it holds on to its own too long. So with each drop `own`, how many copies less its own count, moves by
//!
//! own ← own + step · (saved of others − saved of its own)
//!
//! where `saved` is the share that was delivered all the same, over about 1 / (1 − fade) drops. The larger `own` is, the
//! more copies its own bundles have elsewhere before they go, and the fewer the others have: the difference falls as `own`
//! grows, so there is one `own` at which it is nothing, and each step is towards that. A step is at most `step`, and what is
//! heard lags by the time that receipts take: an overshoot is at most `step` times the drops in that time.

use crate::dtn::{BundleId, IdSet};
use std::collections::VecDeque;

/// `own` stays within these.
const OWN: (f64, f64) = (0.0, 100.0);

/// Whose bundle it was.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    dropped: f64,
    saved: f64,
}

impl Fate {
    /// The share that was delivered all the same; half, as long as nothing is known.
    fn share(self) -> f64 {
        (self.saved + 1.0) / (self.dropped + 2.0)
    }
    fn fade(&mut self, by: f64) {
        self.dropped *= by;
        self.saved *= by;
    }
}

/// What was dropped here to make room.
pub struct Drops {
    own: f64,
    step: f64,
    fade: f64,
    memory: usize,
    known: IdSet,
    /// Those of them that were created here.
    known_own: IdSet,
    /// In order.
    order: VecDeque<BundleId>,
    /// Of what was created here, and of what was not.
    fates: [Fate; 2],
}

impl Drops {
    /// Nothing was dropped; the `memory` last ones will be remembered.
    pub fn new(own: f64, (step, fade): (f64, f64), memory: usize) -> Self {
        let (known, known_own, order) = Default::default();
        Self { own, step, fade, memory, known, known_own, order, fates: [Fate::default(); 2] }
    }
    /// How many copies less a bundle counts where it was created.
    pub fn own(&self) -> f64 {
        self.own
    }
    /// Whether it is remembered.
    pub fn contains(&self, id: BundleId) -> bool {
        self.known.contains(id.0)
    }
    /// It was dropped; `is_own`: it was created here.
    pub fn on_dropped(&mut self, id: BundleId, is_own: bool) {
        let [own, others] = &mut self.fates;
        self.own = (self.own + self.step * (others.share() - own.share())).clamp(OWN.0, OWN.1);
        [own, others].into_iter().for_each(|fate| fate.fade(self.fade));
        self.fates[usize::from(!is_own)].dropped += 1.0;
        if self.memory > 0 && self.known.insert(id.0) {
            self.order.push_back(id);
            if is_own {
                self.known_own.insert(id.0);
            }
            if self.order.len() > self.memory
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(oldest.0);
                self.known_own.remove(oldest.0);
            }
        }
    }
    /// It was delivered.
    pub fn on_receipt(&mut self, id: BundleId) {
        if self.contains(id) {
            self.fates[usize::from(!self.known_own.contains(id.0))].saved += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each drop in turn, of its own and of others; which are saved.
    fn play(drops: &mut Drops, count: u32, saved: [bool; 2]) -> f64 {
        for id in 0..count {
            let is_own = id % 2 == 0;
            drops.on_dropped(BundleId(id), is_own);
            if saved[usize::from(!is_own)] {
                drops.on_receipt(BundleId(id));
            }
        }
        drops.own()
    }

    #[test]
    fn who_loses_more_of_its_own_holds_on_to_them_longer_and_the_other_way_round() {
        let drops = || Drops::new(5.0, (0.03, 0.99), 1000);
        assert!(play(&mut drops(), 200, [false, true]) > 6.0);
        assert!(play(&mut drops(), 200, [true, false]) < 4.0);
        assert!((play(&mut drops(), 200, [true, true]) - 5.0).abs() < 0.2);
    }

    #[test]
    fn the_newest_drops_are_remembered() {
        let mut drops = Drops::new(1.0, (0.0, 1.0), 2);
        (1..4).for_each(|id| drops.on_dropped(BundleId(id), false));
        assert_eq!([1, 2, 3].map(|id| drops.contains(BundleId(id))), [false, true, true]);
    }

    proptest! {
        /// A bundle is saved the more surely the more copies it had: its own where `own` is large, others where it is small.
        #[test]
        fn it_comes_to_rest_where_both_are_saved_as_often(rest in 1.0..20.0_f64, start in 0.0..30.0_f64, seed: u64) {
            let mut drops = Drops::new(start, (0.1, 0.98), 100_000);
            let mut draws = crate::rng::Stream::new(seed, "fates", 0);
            let mut last = Vec::new();
            for id in 0..12_000 {
                let is_own = draws.unit() < 0.5;
                let ahead = (drops.own() - rest) / 20.0;
                let chance = 0.5 + if is_own { ahead } else { -ahead };
                drops.on_dropped(BundleId(id), is_own);
                if draws.unit() < chance {
                    drops.on_receipt(BundleId(id));
                }
                if id >= 6_000 {
                    last.push(drops.own());
                }
            }
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            prop_assert!((mean - rest).abs() < 1.5, "{mean} instead of {rest}");
        }
    }
}
