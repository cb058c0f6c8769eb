//! The event queue: the only clock of a world.

use lightlag_protocols::time::Instant;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Events by time; ties in the order in which they were scheduled.
#[derive(Debug)]
pub struct Queue<E> {
    heap: BinaryHeap<Reverse<Scheduled<E>>>,
    scheduled: u64,
}

#[derive(Debug)]
struct Scheduled<E> {
    at: Instant,
    sequence: u64,
    event: E,
}

impl<E> Queue<E> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new(), scheduled: 0 }
    }
    /// Something will happen at `at`.
    pub fn schedule(&mut self, at: Instant, event: E) {
        self.heap.push(Reverse(Scheduled { at, sequence: self.scheduled, event }));
        self.scheduled += 1;
    }
    /// When the next event is due; [`Instant::MAX`] for an empty queue.
    pub fn next_at(&self) -> Instant {
        self.heap.peek().map_or(Instant::MAX, |Reverse(next)| next.at)
    }
    /// The next event, if it is due at `now`.
    pub fn pop_due(&mut self, now: Instant) -> Option<E> {
        (self.next_at() <= now).then(|| self.heap.pop().map(|Reverse(next)| next.event)).flatten()
    }
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self::new()
    }
}
impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<E> Eq for Scheduled<E> {}
impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_ties_in_the_order_of_scheduling() {
        let mut queue = Queue::new();
        for (at, event) in [(2, 'c'), (1, 'a'), (2, 'd'), (1, 'b')] {
            queue.schedule(Instant::from_secs(at), event);
        }
        let now = Instant::from_secs(2);
        let order: String = std::iter::from_fn(|| queue.pop_due(now)).collect();
        assert_eq!(order, "abcd");
        assert_eq!(queue.next_at(), Instant::MAX);
    }
}
