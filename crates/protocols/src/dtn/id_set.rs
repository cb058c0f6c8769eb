//! A set of small numbers: one bit each, iterated in ascending order.

/// A growing set of dense numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdSet(Vec<u64>);

impl IdSet {
    /// The set without members.
    #[inline]
    pub fn none() -> &'static Self {
        static NONE: IdSet = IdSet(Vec::new());
        &NONE
    }
    /// Whether `id` is in the set.
    #[inline]
    pub fn contains(&self, id: u32) -> bool {
        // Without a branch on what the set holds: searches ask this of one copy after the other.
        let word = self.0.get(id as usize / 64).copied().unwrap_or(0);
        word >> (id % 64) & 1 == 1
    }
    /// Adds `id`; true when it was not there.
    #[inline]
    pub fn insert(&mut self, id: u32) -> bool {
        let word = id as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let bit = 1 << (id % 64);
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
    /// Takes `id` out; true when it was there.
    #[inline]
    pub fn remove(&mut self, id: u32) -> bool {
        let Some(word) = self.0.get_mut(id as usize / 64) else { return false };
        let bit = 1 << (id % 64);
        let was = *word & bit != 0;
        *word &= !bit;
        was
    }
    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        members(self.0.iter().copied())
    }
    /// The members of `other` that are not in this set, ascending.
    pub fn missing_from<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u32> + 'a {
        let own = self.0.iter().copied().chain(std::iter::repeat(0));
        members(other.0.iter().zip(own).map(|(&word, own)| word & !own))
    }
    /// The bits of all, 64 in a word.
    #[inline]
    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }
    /// How many members.
    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }
    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }
}

/// The members whose bits are set in these words, ascending.
fn members(words: impl Iterator<Item = u64>) -> impl Iterator<Item = u32> {
    words.enumerate().filter(|(_, word)| *word != 0).flat_map(|(index, word)| {
        std::iter::successors(Some(word), |bits| Some(bits & (bits - 1)).filter(|bits| *bits != 0))
            .map(move |bits| index as u32 * 64 + bits.trailing_zeros())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_behaves_as_an_ordered_set(steps in prop::collection::vec((0_u32..300, any::<bool>()), 0..200)) {
            let (mut ours, mut model) = (IdSet::default(), BTreeSet::new());
            for (id, add) in steps {
                if add { prop_assert_eq!(ours.insert(id), model.insert(id)); }
                else { prop_assert_eq!(ours.remove(id), model.remove(&id)); }
            }
            prop_assert_eq!(ours.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(ours.len(), model.len());
            prop_assert_eq!(ours.is_empty(), model.is_empty());
        }

        #[test]
        fn what_is_missing_is_the_difference(one in prop::collection::btree_set(0_u32..300, 0..100), other in prop::collection::btree_set(0_u32..500, 0..100)) {
            let set = |members: &BTreeSet<u32>| {
                let mut set = IdSet::default();
                members.iter().for_each(|id| { set.insert(*id); });
                set
            };
            let missing: Vec<u32> = set(&one).missing_from(&set(&other)).collect();
            prop_assert_eq!(missing, other.difference(&one).copied().collect::<Vec<_>>());
        }
    }
}
