//! Sets of bytes of a stream, as ranges.

use std::collections::BTreeMap;

/// A half-open range of a stream: from the first offset to before the second.
pub type Range = (u64, u64);

/// Disjoint ranges, none touching the next. What concerns the last one, as nearly everything does, costs
/// next to nothing; all else grows with the logarithm of their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    last: Option<Range>,
    /// Those before it: where each begins, and where it ends.
    before: BTreeMap<u64, u64>,
    total: u64,
}

impl Ranges {
    /// How many bytes are in it.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }
    /// How many ranges it has.
    pub fn len(&self) -> usize {
        self.before.len() + usize::from(self.last.is_some())
    }
    /// The ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.before.iter().map(|(from, to)| (*from, *to)).chain(self.last)
    }
    /// The first range.
    pub fn first(&self) -> Option<Range> {
        self.before.first_key_value().map(|(from, to)| (*from, *to)).or(self.last)
    }
    /// The last range.
    pub fn last(&self) -> Option<Range> {
        self.last
    }
    /// The range that holds `at`.
    pub fn around(&self, at: u64) -> Option<Range> {
        self.beginning_by(at).filter(|range| at < range.1)
    }
    /// The last range that begins at `at` or before.
    fn beginning_by(&self, at: u64) -> Option<Range> {
        let last = self.last?;
        if last.0 <= at {
            return Some(last);
        }
        self.before.range(..=at).next_back().map(|(from, to)| (*from, *to))
    }
    /// Those that begin in `[from, to)`.
    fn beginning_in(&self, from: u64, to: u64) -> impl Iterator<Item = Range> + '_ {
        // Nearly always none does, and that is seen without a search.
        let some = from < to && self.last.is_some_and(|last| from <= last.0);
        let before = some.then(|| self.before.range(from..to)).into_iter().flatten();
        before.map(|(from, to)| (*from, *to)).chain(self.last.filter(|last| some && last.0 < to))
    }
    /// The parts of `[from, to)` that are in the set, ascending.
    pub fn clipped(&self, from: u64, to: u64) -> impl Iterator<Item = Range> + '_ {
        let around = self.around(from).filter(|_| from < to);
        let after = around.map_or(from, |range| range.1);
        let first = around.map(|range| (from, range.1.min(to)));
        first.into_iter().chain(self.beginning_in(after, to).map(move |range| (range.0, range.1.min(to))))
    }
    /// The part of `[from, to)` that comes first and is not in the set.
    pub fn gap(&self, from: u64, to: u64) -> Option<Range> {
        let start = self.around(from).map_or(from, |range| range.1);
        if start >= to {
            return None;
        }
        let end = self.beginning_in(start, to).next().map_or(to, |range| range.0);
        Some((start, end))
    }
    /// How much of `[from, to)` is in the set.
    pub fn within(&self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let around = self.around(from).map_or((from, from), |range| (from, range.1.min(to)));
        let after = self.beginning_in(around.1.max(from + 1), to);
        around.1 - around.0 + after.map(|range| range.1.min(to) - range.0).sum::<u64>()
    }
    /// Adds a range; returns how many of its bytes are new.
    pub fn insert(&mut self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let new = match &mut self.last {
            Some(last) if last.0 <= from && from <= last.1 => {
                let new = to.saturating_sub(last.1);
                last.1 += new;
                new
            }
            Some(last) if last.1 > from => self.merge(from, to),
            last => {
                let former = last.replace((from, to));
                self.before.extend(former);
                to - from
            }
        };
        self.total += new;
        new
    }
    /// Adds a range that begins before the last one; returns how many of its bytes are new.
    fn merge(&mut self, from: u64, to: u64) -> u64 {
        let mut new = to - from;
        // Where the range is that has taken it in, and how far that goes.
        let (start, mut end) = match self.before.range_mut(..=from).next_back() {
            Some((_, end)) if *end >= to => return 0,
            Some((start, end)) if *end >= from => {
                new = to - std::mem::replace(end, to);
                (*start, to)
            }
            _ => {
                self.before.insert(from, to);
                (from, to)
            }
        };
        // Those that it reaches become a part of it: nearly always none, or one whose gap it has filled.
        while let Some((&next, &its_end)) = self.before.range(start + 1..).next().filter(|next| *next.0 <= to)
        {
            self.before.remove(&next);
            new -= its_end.min(to) - next;
            end = end.max(its_end);
            self.before.insert(start, end);
        }
        if let Some(last) = self.last.as_mut().filter(|last| last.0 <= to) {
            new -= last.1.min(to) - last.0;
            *last = (start, end.max(last.1));
            self.before.remove(&start);
        }
        new
    }
    /// Removes everything below `bound`; returns the number of bytes removed.
    #[inline]
    pub fn remove_below(&mut self, bound: u64) -> u64 {
        // At nearly every acknowledgement there is nothing.
        if self.last.is_none() { 0 } else { self.remove_some_below(bound) }
    }
    fn remove_some_below(&mut self, bound: u64) -> u64 {
        let mut removed = 0;
        while let Some((from, to)) = self.first().filter(|first| first.0 < bound) {
            self.take_first();
            removed += to.min(bound) - from;
            if to > bound {
                self.put_first((bound, to));
            }
        }
        self.total -= removed;
        removed
    }
    fn take_first(&mut self) {
        if self.before.pop_first().is_none() {
            self.last = None;
        }
    }
    /// One before all others.
    fn put_first(&mut self, range: Range) {
        match self.last {
            Some(_) => {
                self.before.insert(range.0, range.1);
            }
            None => self.last = Some(range),
        }
    }
    /// Removes a range; returns the number of bytes removed.
    pub fn remove(&mut self, from: u64, to: u64) -> u64 {
        let mut removed = 0;
        while let Some(range) = self.overlapping(from, to) {
            removed += range.1.min(to) - range.0.max(from);
            self.cut(range, from, to);
        }
        self.total -= removed;
        removed
    }
    fn overlapping(&self, from: u64, to: u64) -> Option<Range> {
        self.around(from).filter(|_| from < to).or_else(|| self.beginning_in(from, to).next())
    }
    /// Leaves of one of the ranges what is not in `[from, to)`.
    fn cut(&mut self, range: Range, from: u64, to: u64) {
        let low = Some((range.0, from)).filter(|low| low.0 < low.1);
        let high = Some((to, range.1)).filter(|high| high.0 < high.1);
        if self.last == Some(range) {
            self.last = high.or(low).or_else(|| self.before.pop_last());
        } else {
            self.before.remove(&range.0);
            self.before.extend(high);
        }
        if self.last != low {
            self.before.extend(low);
        }
    }
    /// Takes everything out.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_a_set_of_bytes(steps in prop::collection::vec((0_u64..60, 0_u64..12, 0..4_u8), 0..40)) {
            let mut ranges = Ranges::default();
            let mut bytes = std::collections::BTreeSet::new();
            for (from, length, kind) in steps {
                let to = from + length;
                if kind == 0 {
                    let below: Vec<u64> = bytes.range(..from).copied().collect();
                    prop_assert_eq!(ranges.remove_below(from), below.len() as u64);
                    below.iter().for_each(|byte| { bytes.remove(byte); });
                } else if kind == 1 {
                    let gone = (from..to).filter(|byte| bytes.remove(byte)).count();
                    prop_assert_eq!(ranges.remove(from, to), gone as u64);
                } else {
                    let new = (from..to).filter(|byte| bytes.insert(*byte)).count();
                    prop_assert_eq!(ranges.insert(from, to), new as u64);
                }
                prop_assert_eq!(ranges.total(), bytes.len() as u64);
                prop_assert_eq!(ranges.within(from, to), bytes.range(from..to).count() as u64);
                let clipped: Vec<u64> = ranges.clipped(from, to).flat_map(|(from, to)| from..to).collect();
                prop_assert_eq!(clipped, bytes.range(from..to).copied().collect::<Vec<u64>>());
                let first = (from..to).find(|byte| !bytes.contains(byte));
                prop_assert_eq!(ranges.gap(from, to).map(|gap| gap.0), first);
                let list: Vec<Range> = ranges.iter().collect();
                prop_assert!(list.windows(2).all(|two| two[0].1 < two[1].0), "{list:?}");
            }
        }
    }
}
