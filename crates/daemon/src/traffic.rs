//! Traffic by stack and direction: a daemon that mostly answers uses the stack by which the other side sends.

use super::stack::STACKS;
use lightlag_protocols::session::Stack;
use lightlag_protocols::time::{Duration, Instant};
use std::cell::Cell;
use std::collections::VecDeque;

/// The leading side is found over this time, and its stack over the last part of it.
const OVER: Duration = Duration::from_secs(4);
const OF_LATE: Duration = Duration::from_secs(1);
/// The other side leads if it sends at least `TIMES` as many bytes as this side, and at least `BYTES`.
const TIMES: u64 = 4;
const BYTES: u64 = 4096;

type ByStack = [u64; STACKS.len()];

/// Bytes since the daemon began, by stack.
#[derive(Default)]
pub struct Traffic {
    left: [Cell<u64>; STACKS.len()],
    came: [Cell<u64>; STACKS.len()],
}

impl Traffic {
    /// This many bytes were sent.
    pub fn on_left(&self, stack: Stack, bytes: usize) {
        add(&self.left, stack, bytes);
    }
    /// This many bytes were received.
    pub fn on_came(&self, stack: Stack, bytes: usize) {
        add(&self.came, stack, bytes);
    }
}

impl Traffic {
    /// Bytes sent and received, by stack.
    pub fn all(&self) -> impl Iterator<Item = (Stack, u64, u64)> {
        STACKS.iter().enumerate().map(|(at, (stack, _))| (*stack, self.left[at].get(), self.came[at].get()))
    }
}

fn add(counts: &[Cell<u64>], stack: Stack, bytes: usize) {
    for (count, _) in counts.iter().zip(STACKS).filter(|(_, (known, _))| *known == stack) {
        count.set(count.get() + bytes as u64);
    }
}

/// Which stack the other side leads to.
#[derive(Default)]
pub struct Lead {
    /// Samples of bytes sent and received.
    seen: VecDeque<(Instant, ByStack, ByStack)>,
}

impl Lead {
    /// By what most comes, if this side does little but answer. Call it some times a second.
    pub fn look(&mut self, now: Instant, traffic: &Traffic) -> Option<Stack> {
        let all = |counts: &[Cell<u64>; STACKS.len()]| std::array::from_fn(|at| counts[at].get());
        let (left, came): (ByStack, ByStack) = (all(&traffic.left), all(&traffic.came));
        self.seen.push_back((now, left, came));
        while self.seen.get(1).is_some_and(|(at, ..)| now - *at >= OVER) {
            self.seen.pop_front();
        }
        let (_, left_before, came_before) = self.seen.front()?;
        let sum = |now: &ByStack, before: &ByStack| now.iter().sum::<u64>() - before.iter().sum::<u64>();
        let (leaves, comes) = (sum(&left, left_before), sum(&came, came_before));
        if comes < BYTES.max(TIMES * leaves) {
            return None;
        }
        let (.., of_late) = self.seen.iter().rev().find(|(at, ..)| now - *at >= OF_LATE)?;
        let (at, most) =
            (0..STACKS.len()).map(|at| (at, came[at] - of_late[at])).max_by_key(|(_, comes)| *comes)?;
        // Less than that are questions and reports.
        (most >= BYTES / 4).then_some(STACKS[at].0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::stack::{TCP, UDPDTN};
    use super::*;

    /// Sends and receives this many bytes a second, by one stack.
    fn play(
        (traffic, lead): (&Traffic, &mut Lead),
        seconds: std::ops::Range<i64>,
        (stack, left, came): (Stack, usize, usize),
    ) -> Option<Stack> {
        let mut last = None;
        for quarter in seconds.start * 4..seconds.end * 4 {
            traffic.on_left(stack, left / 4);
            traffic.on_came(stack, came / 4);
            last = lead.look(Instant::from_nanos(quarter * 250_000_000), traffic);
        }
        last
    }

    #[test]
    fn whoever_does_little_but_answer_is_led_and_whoever_sends_is_not() {
        let (traffic, mut lead) = (Traffic::default(), Lead::default());
        assert_eq!(play((&traffic, &mut lead), 0..10, (TCP, 400, 70_000)), Some(TCP));
        assert_eq!(play((&traffic, &mut lead), 10..12, (UDPDTN, 400, 70_000)), Some(UDPDTN));
        assert_eq!(play((&traffic, &mut lead), 12..14, (TCP, 40, 400)), None, "little comes any more");
        assert_eq!(play((&traffic, &mut lead), 14..20, (UDPDTN, 0, 0)), None, "nothing comes any more");
        assert_eq!(play((&traffic, &mut lead), 20..30, (TCP, 70_000, 400)), None);
        assert_eq!(play((&traffic, &mut lead), 30..40, (TCP, 70_000, 70_000)), None);
        assert_eq!(play((&traffic, &mut lead), 40..50, (TCP, 10, 100)), None, "some keys are struck");
    }
}
