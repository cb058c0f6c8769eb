//! Sets of bytes of a stream, as ranges.

use std::collections::VecDeque;

/// A half-open range of a stream: from the first offset to before the second.
pub type Range = (u64, u64);

/// Disjoint ranges, ascending, none touching the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    list: VecDeque<Range>,
    total: u64,
}

impl Ranges {
    /// How many bytes are in it.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// How many ranges it has.
    pub fn len(&self) -> usize {
        self.list.len()
    }
    /// The ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.list.iter().copied()
    }
    /// The first range.
    pub fn first(&self) -> Option<Range> {
        self.list.front().copied()
    }
    /// The last range.
    pub fn last(&self) -> Option<Range> {
        self.list.back().copied()
    }
    /// The range that holds `at`.
    pub fn around(&self, at: u64) -> Option<Range> {
        if let Some(&last) = self.list.back().filter(|last| last.0 <= at) {
            return (at < last.1).then_some(last);
        }
        let after = self.list.partition_point(|range| range.0 <= at);
        after.checked_sub(1).map(|index| self.list[index]).filter(|range| at < range.1)
    }
    /// The part of `[from, to)` that comes first and is not in the set.
    pub fn gap(&self, from: u64, to: u64) -> Option<Range> {
        let start = self.around(from).map_or(from, |range| range.1);
        if start >= to {
            return None;
        }
        let after = self.list.partition_point(|range| range.0 <= start);
        let end = self.list.get(after).map_or(to, |range| range.0.min(to));
        Some((start, end))
    }
    /// How much of `[from, to)` is in the set.
    pub fn within(&self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let first = self.list.partition_point(|range| range.1 <= from);
        let inside = self.list.range(first..).take_while(|range| range.0 < to);
        inside.map(|range| range.1.min(to) - range.0.max(from)).sum()
    }
    /// Adds a range; tells how many of its bytes are new.
    pub fn insert(&mut self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        // Nearly always it belongs to the last one.
        match self.list.back_mut() {
            Some(last) if last.0 <= from && from <= last.1 => {
                let new = to.saturating_sub(last.1);
                last.1 += new;
                self.total += new;
                return new;
            }
            Some(last) if last.1 > from => {}
            _ => {
                self.list.push_back((from, to));
                self.total += to - from;
                return to - from;
            }
        }
        self.merge(from, to)
    }
    fn merge(&mut self, from: u64, to: u64) -> u64 {
        let first = self.list.partition_point(|range| range.1 < from);
        let after = first + self.list.range(first..).take_while(|range| range.0 <= to).count();
        if first == after {
            self.list.insert(first, (from, to));
            self.total += to - from;
            return to - from;
        }
        let held: u64 = self.list.range(first..after).map(|range| range.1 - range.0).sum();
        let joined = (self.list[first].0.min(from), self.list[after - 1].1.max(to));
        self.list[first] = joined;
        self.list.drain(first + 1..after);
        let new = joined.1 - joined.0 - held;
        self.total += new;
        new
    }
    /// Takes out everything below `bound`; tells how many bytes that were.
    pub fn remove_below(&mut self, bound: u64) -> u64 {
        let mut removed = 0;
        while let Some(first) = self.list.front_mut() {
            if first.0 >= bound {
                break;
            }
            let end = first.1.min(bound);
            removed += end - first.0;
            if first.1 <= bound {
                self.list.pop_front();
            } else {
                first.0 = bound;
            }
        }
        self.total -= removed;
        removed
    }
    /// Takes a range out; tells how many bytes that were.
    pub fn remove(&mut self, from: u64, to: u64) -> u64 {
        let first = self.list.partition_point(|range| range.1 <= from);
        let inside = self.list.range(first..).take_while(|range| range.0 < to).count();
        if from >= to || inside == 0 {
            return 0;
        }
        let (low, high) = (self.list[first].0, self.list[first + inside - 1].1);
        let held: u64 = self.list.range(first..first + inside).map(|range| range.1 - range.0).sum();
        self.list.drain(first..first + inside);
        let mut kept = 0;
        for (start, end) in [(to, high), (low, from)] {
            if start < end {
                self.list.insert(first, (start, end));
                kept += end - start;
            }
        }
        self.total -= held - kept;
        held - kept
    }
    /// Takes everything out.
    pub fn clear(&mut self) {
        self.list.clear();
        self.total = 0;
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
                let first = (from..to).find(|byte| !bytes.contains(byte));
                prop_assert_eq!(ranges.gap(from, to).map(|gap| gap.0), first);
                let list: Vec<Range> = ranges.iter().collect();
                prop_assert!(list.windows(2).all(|two| two[0].1 < two[1].0), "{list:?}");
            }
        }
    }
}
