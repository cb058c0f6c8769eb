//! How large the bundles are that are created here.

use crate::dtn::Bundle;
use crate::time::Instant;

/// Their mean size.
#[derive(Default)]
pub struct Sizes {
    count: u128,
    bytes: u128,
    newest: Instant,
}

impl Sizes {
    /// A bundle was created here, or it was seen before.
    pub fn see(&mut self, bundle: &Bundle) {
        if self.count == 0 || bundle.created > self.newest {
            self.newest = bundle.created;
            self.count += 1;
            self.bytes += u128::from(bundle.size.0);
        }
    }
    /// Whether it is larger than they are on average.
    pub fn is_large(&self, bundle: &Bundle) -> bool {
        u128::from(bundle.size.0) * self.count > self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::copy;

    #[test]
    fn a_bundle_is_large_beyond_the_mean_of_all_that_were_created_each_once() {
        let bundle = |second, size| Bundle { created: Instant::from_secs(second), ..copy(1, size).bundle };
        let mut sizes = Sizes::default();
        sizes.see(&bundle(1, 100));
        assert!(!sizes.is_large(&bundle(1, 100)), "there are no others");
        [bundle(2, 400), bundle(1, 100), bundle(2, 400)].iter().for_each(|seen| sizes.see(seen));
        assert_eq!([250, 251].map(|size| sizes.is_large(&bundle(3, size))), [false, true]);
    }
}
