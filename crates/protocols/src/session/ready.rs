//! Whose turn it is.

use super::{PRIORITIES, Stack};
use crate::wire::session::ConnectionId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const CLASSES: usize = PRIORITIES as usize;

/// Connections that have something to send on a stack, each once.
#[derive(Debug, Default)]
struct Queues {
    /// Notices go before data: they are small, and others wait for them.
    notices: VecDeque<ConnectionId>,
    data: [VecDeque<ConnectionId>; CLASSES],
    known: BTreeSet<(bool, ConnectionId)>,
    /// Turns that a class still has in this round.
    turns: [u32; CLASSES],
}

/// Connections that have something to send, for each stack.
#[derive(Debug, Default)]
pub struct Ready {
    stacks: BTreeMap<Stack, Queues>,
}

impl Ready {
    /// It has a notice to send.
    pub fn with_notice(&mut self, stack: Stack, id: ConnectionId) {
        let queues = self.stacks.entry(stack).or_default();
        if queues.known.insert((true, id)) {
            queues.notices.push_back(id);
        }
    }
    /// It has data to send.
    pub fn with_data(&mut self, stack: Stack, id: ConnectionId, priority: u8) {
        let queues = self.stacks.entry(stack).or_default();
        if queues.known.insert((false, id)) {
            queues.data[usize::from(priority.min(PRIORITIES - 1))].push_back(id);
        }
    }
    /// The connection that may send a notice now.
    pub fn next_notice(&mut self, stack: Stack) -> Option<ConnectionId> {
        let queues = self.stacks.get_mut(&stack)?;
        let id = queues.notices.pop_front()?;
        queues.known.remove(&(true, id));
        Some(id)
    }
    /// The connection that may send data now: in each round a class has twice the turns of the one below, and
    /// connections of a class take turns, so none starves.
    pub fn next_data(&mut self, stack: Stack) -> Option<ConnectionId> {
        let queues = self.stacks.get_mut(&stack)?;
        let waits = |queues: &Queues, class: usize| !queues.data[class].is_empty();
        let may = |queues: &Queues, class: usize| waits(queues, class) && queues.turns[class] > 0;
        let class = match (0..CLASSES).rev().find(|class| may(queues, *class)) {
            Some(class) => class,
            None => {
                queues.turns = std::array::from_fn(|class| 1 << class);
                (0..CLASSES).rev().find(|class| waits(queues, *class))?
            }
        };
        queues.turns[class] -= 1;
        let id = queues.data[class].pop_front()?;
        queues.known.remove(&(false, id));
        Some(id)
    }
    /// Whether anybody has data.
    pub fn has_data(&self, stack: Stack) -> bool {
        self.stacks.get(&stack).is_some_and(|queues| queues.data.iter().any(|class| !class.is_empty()))
    }
    /// Whether anybody waits.
    pub fn waits(&self, stack: Stack) -> bool {
        self.stacks.get(&stack).is_some_and(|queues| !queues.known.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ConnectionId {
        ConnectionId { incarnation: 0, number }
    }

    #[test]
    fn a_higher_priority_has_twice_the_turns_and_nobody_starves() {
        let mut ready = Ready::default();
        let mut turns = [0; CLASSES];
        for class in 0..PRIORITIES {
            ready.with_data(Stack(0), id(class.into()), class);
        }
        for _ in 0..150 {
            let next = ready.next_data(Stack(0)).unwrap();
            turns[next.number as usize] += 1;
            ready.with_data(Stack(0), next, next.number as u8);
        }
        assert_eq!(turns, [10, 20, 40, 80]);
        assert!(!ready.waits(Stack(1)));
    }
}
