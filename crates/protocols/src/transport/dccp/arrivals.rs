//! Packets received from the other end (RFC 4340, section 11.4 and appendix A).

use crate::time::Instant;
use crate::wire::dccp::{
    DROPPED_RUN_MAX, Item, Received, RunOfDrops, RunOfPackets, Sequence, VECTOR_RUN_MAX,
};
use std::collections::VecDeque;

/// Runs of packets with one fate that are remembered.
pub const RUNS_MAX: usize = 4096;
/// Packets without delivery that are remembered until the other end knows.
pub const DROPS_MAX: usize = 256;
/// Acknowledgements sent whose own acknowledgement is awaited.
const ACKS_MAX: usize = 1024;
/// Bytes of Ack Vectors in a packet: three options of the largest size.
const CELLS_MAX: usize = 3 * 253;

#[derive(Clone, Copy, Debug)]
struct Run {
    last: Sequence,
    count: u64,
    /// Yes, marked, or not.
    received: Received,
}

/// What is new about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It came for the first time.
    New,
    /// A duplicate, or too old to decide.
    Old,
}

/// Packets received, and which of them the other end knows of.
#[derive(Debug)]
pub struct Arrivals {
    /// Oldest first, without gaps between them.
    runs: VecDeque<Run>,
    /// The other end knows the fate of every packet before this.
    known_below: Sequence,
    /// Acknowledgements sent: their number, and the greatest that they reported.
    acks: VecDeque<(Sequence, Sequence)>,
    /// Not delivered, and why.
    drops: VecDeque<(Sequence, u8)>,
    /// When the greatest came.
    pub greatest_at: Instant,
}

impl Arrivals {
    /// The first packet has come.
    pub fn new(now: Instant, first: Sequence) -> Self {
        let run = Run { last: first, count: 1, received: Received::Yes };
        Self {
            runs: VecDeque::from([run]),
            known_below: first,
            acks: VecDeque::new(),
            drops: VecDeque::new(),
            greatest_at: now,
        }
    }
    /// The greatest number that has come (GSR).
    pub fn greatest(&self) -> Sequence {
        self.runs.back().map_or_else(Sequence::default, |run| run.last)
    }
    /// A valid packet has come, with a mark of congestion or without.
    pub fn record(&mut self, now: Instant, sequence: Sequence, is_marked: bool) -> Arrival {
        let received = if is_marked { Received::Marked } else { Received::Yes };
        let ahead = sequence.since(self.greatest());
        if ahead <= 0 {
            return self.record_late(sequence, received);
        }
        self.greatest_at = now;
        if ahead > 1 {
            let missing = ahead.unsigned_abs() - 1;
            self.runs.push_back(Run { last: sequence.minus(1), count: missing, received: Received::No });
        }
        match self.runs.back_mut() {
            Some(run) if run.received == received => {
                run.last = sequence;
                run.count += 1;
            }
            _ => self.runs.push_back(Run { last: sequence, count: 1, received }),
        }
        while self.runs.len() > RUNS_MAX {
            self.runs.pop_front();
        }
        Arrival::New
    }
    /// One that others have overtaken.
    fn record_late(&mut self, sequence: Sequence, received: Received) -> Arrival {
        let found = self.runs.iter().rposition(|run| {
            let back = run.last.since(sequence);
            back >= 0 && back.unsigned_abs() < run.count
        });
        let Some(at) = found.filter(|at| self.runs[*at].received == Received::No) else {
            return Arrival::Old;
        };
        let run = self.runs[at];
        let after = run.last.since(sequence).unsigned_abs();
        let before = run.count - 1 - after;
        let split = [
            Run { last: sequence.minus(1), count: before, received: Received::No },
            Run { last: sequence, count: 1, received },
            Run { last: run.last, count: after, received: Received::No },
        ];
        self.runs.remove(at);
        for part in split.into_iter().rev().filter(|part| part.count > 0) {
            self.runs.insert(at, part);
        }
        self.join(at);
        Arrival::New
    }
    /// Makes one run of neighbours of one fate, around `at`.
    fn join(&mut self, at: usize) {
        let mut index = at.saturating_sub(1);
        while index + 1 < self.runs.len() && index <= at + 2 {
            let (left, right) = (self.runs[index], self.runs[index + 1]);
            if left.received == right.received {
                self.runs[index] = Run { count: left.count + right.count, ..right };
                self.runs.remove(index + 1);
            } else {
                index += 1;
            }
        }
        while self.runs.len() > RUNS_MAX {
            self.runs.pop_front();
        }
    }
    /// Forgets what is too old to come.
    pub fn forget_below(&mut self, bound: Sequence) {
        while self.runs.len() > 1 && self.runs.front().is_some_and(|run| run.last.since(bound) < 0) {
            self.runs.pop_front();
        }
    }
    /// Packets that have not come, or came with a mark, after `from` and up to `to`.
    pub fn missing_or_marked(&self, from: Sequence, to: Sequence) -> u64 {
        let newest = self.runs.iter().rev().take_while(|run| run.last.since(from) > 0);
        let holes = newest.filter(|run| run.received != Received::Yes).map(|run| {
            let first = run.last.minus(run.count - 1).later(from.plus(1));
            let last = if run.last.since(to) > 0 { to } else { run.last };
            (last.since(first) + 1).max(0).unsigned_abs()
        });
        holes.sum()
    }
    /// Appends what became of everything that the other end does not know of yet, as Ack Vectors, and as
    /// Data Dropped where something was not delivered. `carrier` is the number of the packet.
    pub fn write(&mut self, carrier: Sequence, has_vector: bool, room: usize, out: &mut Vec<u8>) {
        let mut cells = Vec::new();
        let most = if has_vector { room.saturating_sub(6).min(CELLS_MAX) } else { 0 };
        for run in self.runs.iter().rev() {
            let unknown = run.last.since(self.known_below) + 1;
            if unknown <= 0 || cells.len() >= most {
                break;
            }
            let received = run.received;
            let mut left = run.count.min(unknown.unsigned_abs());
            while left > 0 && cells.len() < most {
                let count = left.min(VECTOR_RUN_MAX);
                cells.push(RunOfPackets { received, count }.cell());
                left -= count;
            }
        }
        // The nonces of packets that all are ECT(0) add up to zero; RFC 8311 made them historic.
        cells.chunks(253).for_each(|cells| Item::AckVector { nonce: false, cells }.write(out));
        self.write_drops(room.saturating_sub(cells.len() + 6), out);
        self.acks.push_back((carrier, self.greatest()));
        if self.acks.len() > ACKS_MAX {
            self.acks.pop_front();
        }
    }
    /// Appends a Data Dropped option of at most `room` bytes, if anything was not delivered: the newest of
    /// it.
    pub fn write_drops(&self, room: usize, out: &mut Vec<u8>) {
        let mut cells = Vec::new();
        let mut at = self.greatest();
        for (sequence, code) in self.drops.iter().rev() {
            let needed = cells.len() as u64 + at.since(*sequence).max(0).unsigned_abs().div_ceil(128) + 1;
            if needed + 2 > room.min(255) as u64 {
                break;
            }
            let mut between = at.since(*sequence).max(0).unsigned_abs();
            while between > 0 {
                let count = between.min(128);
                cells.push(RunOfDrops { code: None, count }.cell());
                between -= count;
            }
            push_drop(*code, &mut cells);
            at = sequence.minus(1);
        }
        if !cells.is_empty() {
            Item::DataDropped(&cells).write(out);
        }
    }
    /// The data of a packet were not delivered.
    pub fn on_dropped(&mut self, sequence: Sequence, code: u8) {
        let at = self.drops.partition_point(|drop| drop.0.since(sequence) < 0);
        self.drops.insert(at, (sequence, code));
        if self.drops.len() > DROPS_MAX {
            self.drops.pop_front();
        }
    }
    /// The other end has a packet of ours: if it was an acknowledgement, it knows what that reported.
    pub fn on_acknowledged(&mut self, ack: Sequence) {
        let Some(at) = self.acks.iter().rposition(|(carrier, _)| *carrier == ack) else { return };
        self.known_below = self.acks[at].1.plus(1).later(self.known_below);
        self.acks.drain(..=at);
        while self.drops.front().is_some_and(|drop| drop.0.since(self.known_below) < 0) {
            self.drops.pop_front();
        }
    }
}

/// One more packet of this code, in the run of the last byte if that fits.
fn push_drop(code: u8, cells: &mut Vec<u8>) {
    let same = cells.last_mut().filter(|cell| **cell & 0xf0 == 0x80 | code << 4);
    match same.filter(|cell| u64::from(**cell & 15) + 1 < DROPPED_RUN_MAX) {
        Some(cell) => *cell += 1,
        None => cells.push(RunOfDrops { code: Some(code), count: 1 }.cell()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::dccp::{Options, runs};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_vector_tells_exactly_what_came(start: u64, order in prop::collection::vec(0_u64..300, 1..200)) {
            let number = |n: u64| Sequence::new(start.wrapping_add(n));
            let mut arrivals = Arrivals::new(Instant::ZERO, number(0));
            let mut there = BTreeSet::from([0]);
            for n in order {
                let new = arrivals.record(Instant::ZERO, number(n), n % 7 == 3);
                prop_assert_eq!(new == Arrival::New, there.insert(n));
                let top = *there.last().unwrap();
                prop_assert_eq!(arrivals.greatest(), number(top));
                prop_assert_eq!(arrivals.missing_or_marked(number(0), number(top)),
                    (1..=top).filter(|n| !there.contains(n) || n % 7 == 3).count() as u64);
                prop_assert!(arrivals.runs.len() <= 2 * there.len());
            }
            let mut bytes = Vec::new();
            arrivals.write(Sequence::new(1), true, 900, &mut bytes);
            let mut at = *there.last().unwrap() as i64;
            for option in Options::new(&bytes).map(Result::unwrap) {
                let Item::AckVector { cells, .. } = option else { panic!("{option:?}") };
                for run in runs(cells) {
                    for _ in 0..run.count {
                        let n = at as u64;
                        let came = if n % 7 == 3 { Received::Marked } else { Received::Yes };
                        let expected = if there.contains(&n) { came } else { Received::No };
                        prop_assert_eq!(run.received, expected);
                        at -= 1;
                    }
                }
            }
            prop_assert_eq!(at, -1);
            arrivals.on_acknowledged(Sequence::new(1));
            bytes.clear();
            arrivals.write(Sequence::new(2), true, 900, &mut bytes);
            prop_assert!(bytes.is_empty(), "the other end knows it all");
        }
    }
}
