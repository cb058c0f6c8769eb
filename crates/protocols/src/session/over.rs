//! Connections that are over: farewells still to send, and the answers to their late frames.

use super::{Stack, Telling};
use crate::transport::ranges::Ranges;
use crate::wire::session::{CloseReason, ConnectionId, Frame};
use std::collections::{BTreeMap, VecDeque};

/// Most ranges of numbers of one epoch; beyond that, all up to the end of the first count as cut.
const RANGES_MAX: usize = 65_536;
/// Most farewells kept; beyond that the oldest are forgotten.
const FAREWELLS_MAX: usize = 4096;

/// The last frame of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// It ends at once.
    Reset(CloseReason),
    /// It was over, and its streams had come to their ends or not.
    Gone(bool),
}

impl Farewell {
    /// As it is sent.
    pub fn frame(self, id: ConnectionId) -> Frame<'static> {
        match self {
            Self::Reset(why) => Frame::Reset { id, why },
            Self::Gone(complete) => Frame::Gone { id, complete },
        }
    }
}

/// Numbers of one epoch of a daemon.
#[derive(Debug, Default)]
struct Ended {
    complete: Ranges,
    cut: Ranges,
    /// Some were durable: a later epoch may ask for them.
    durable: bool,
}

/// Connections that are over.
#[derive(Debug, Default)]
pub struct Over {
    ended: BTreeMap<u32, Ended>,
    farewells: BTreeMap<ConnectionId, (Farewell, Telling)>,
    /// In the order in which they were said first.
    order: VecDeque<ConnectionId>,
    due: BTreeMap<Stack, VecDeque<ConnectionId>>,
}

impl Over {
    /// Whether it is over, and if so, whether its streams had come to their ends.
    pub fn is_over(&self, id: ConnectionId) -> Option<bool> {
        let ended = self.ended.get(&id.incarnation)?;
        let has = |ranges: &Ranges| ranges.around(id.number.into()).is_some();
        if has(&ended.cut) { Some(false) } else { has(&ended.complete).then_some(true) }
    }
    /// It is.
    pub fn insert(&mut self, id: ConnectionId, complete: bool, durable: bool) {
        self.ended.entry(id.incarnation).or_default().durable |= durable;
        if self.is_over(id).is_none() {
            let ended = self.ended.entry(id.incarnation).or_default();
            let numbers = if complete { &mut ended.complete } else { &mut ended.cut };
            numbers.insert(id.number.into(), u64::from(id.number) + 1);
            if let Some((from, to)) = numbers.first().filter(|_| numbers.len() > RANGES_MAX) {
                numbers.remove(from, to);
                ended.cut.insert(0, to);
            }
        }
    }
    /// Forgets epochs without durable connections, unless `lives` holds for them.
    pub fn retain(&mut self, lives: impl Fn(u32) -> bool) {
        self.ended.retain(|life, ended| ended.durable || lives(*life));
    }
    /// Queues a farewell on this stack.
    pub fn say(&mut self, id: ConnectionId, farewell: Farewell, stack: Stack) {
        match self.farewells.insert(id, (farewell, Telling::Due)) {
            // It stands in a queue already.
            Some((_, Telling::Due)) => return,
            Some(_) => {}
            None => self.order.push_back(id),
        }
        self.due.entry(stack).or_default().push_back(id);
        while self.order.len() > FAREWELLS_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.farewells.remove(&oldest);
            }
        }
    }
    /// The next farewell to send by this stack.
    pub fn next(&mut self, stack: Stack) -> Option<(ConnectionId, Farewell)> {
        let due = self.due.get_mut(&stack)?;
        while let Some(id) = due.pop_front() {
            if let Some((farewell, telling @ Telling::Due)) = self.farewells.get_mut(&id) {
                *telling = Telling::Carried(stack, 0);
                return Some((id, *farewell));
            }
        }
        None
    }
    /// Whether this stack has a farewell to send.
    pub fn waits(&self, stack: Stack) -> bool {
        self.due.get(&stack).is_some_and(|due| !due.is_empty())
    }
    /// It was lost, and is sent again by `stack`.
    pub fn on_lost(&mut self, id: ConnectionId, stack: Stack) {
        if let Some((_, telling @ Telling::Carried(..))) = self.farewells.get_mut(&id) {
            *telling = Telling::Due;
            self.due.entry(stack).or_default().push_back(id);
        }
    }
    /// Farewells in flight over `failed` may be lost, and are sent again by `stack`.
    pub fn reclaim(&mut self, failed: Stack, stack: Stack) {
        let lost = self.farewells.iter().filter(|(_, (_, telling))| *telling == Telling::Carried(failed, 0));
        let mut lost: Vec<ConnectionId> = lost.map(|(id, _)| *id).collect();
        lost.extend(self.due.remove(&failed).into_iter().flatten());
        for id in lost {
            if let Some((_, telling)) = self.farewells.get_mut(&id) {
                *telling = Telling::Due;
                self.due.entry(stack).or_default().push_back(id);
            }
        }
    }
    /// Farewells that no stack has sent yet leave by this one.
    pub fn prefer(&mut self, stack: Stack) {
        let due: VecDeque<ConnectionId> = std::mem::take(&mut self.due).into_values().flatten().collect();
        self.due.insert(stack, due);
    }
    /// The other side knows.
    pub fn forget(&mut self, id: ConnectionId) {
        if self.farewells.remove(&id).is_some() {
            self.order.retain(|other| *other != id);
        }
    }
    /// Whether anything is still said.
    pub fn has_farewells(&self) -> bool {
        !self.farewells.is_empty()
    }
    /// What is still said of it.
    pub fn farewell(&self, id: ConnectionId) -> Option<Farewell> {
        self.farewells.get(&id).map(|(farewell, _)| *farewell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_farewell_that_waits_for_a_stack_that_never_comes_leaves_by_the_preferred_one() {
        let (absent, present) = (Stack(0), Stack(1));
        let [one, two] = [1, 2].map(|number| ConnectionId { incarnation: 7, number });
        let mut over = Over::default();
        over.say(one, Farewell::Reset(CloseReason::Aborted), absent);
        over.say(two, Farewell::Gone(true), present);
        over.prefer(present);
        assert!(!over.waits(absent));
        let mut left = [over.next(present), over.next(present)].map(|next| next.map(|(id, _)| id));
        left.sort();
        assert_eq!((left, over.next(present)), ([Some(one), Some(two)], None));
    }
}
