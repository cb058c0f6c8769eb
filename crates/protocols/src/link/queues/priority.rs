//! Packets of a lower priority number leave first; among equals, first in, first out. When there is
//! no room, the newest packet of the highest number makes some, if that is higher than the comer's.

use super::super::Load;
use super::{Dropped, Entry, Limit, Queue, Room, Waiting};
use crate::time::Instant;
use std::collections::{BTreeMap, VecDeque};

/// The row of the table.
pub const fn entry<P: Load + 'static>() -> Entry<P> {
    Entry {
        name: "priority",
        paper: "",
        parameters: &[],
        by_priority: true,
        drops_waiting: false,
        build: |_, limit| Waiting::Other(Box::new(Priority::new(limit))),
    }
}

/// A queue for each priority.
struct Priority<P> {
    room: Room,
    waiting: BTreeMap<u8, VecDeque<P>>,
    count: usize,
}

impl<P> Priority<P> {
    fn new(limit: Limit) -> Self {
        Self { room: Room::new(limit), waiting: BTreeMap::new(), count: 0 }
    }
}

impl<P: Load> Queue<P> for Priority<P> {
    fn push(&mut self, _: Instant, packet: P) -> Result<(), P> {
        let mut evicted = None;
        if !self.room.admit(self.count, packet.size()) {
            let last = self.waiting.iter_mut().rev().find(|(_, queue)| !queue.is_empty());
            let Some((_, queue)) = last.filter(|(level, _)| **level > packet.priority()) else {
                return Err(packet);
            };
            let Some(victim) = queue.pop_back() else { return Err(packet) };
            self.count -= 1;
            self.room.release(victim.size());
            if !self.room.admit(self.count, packet.size()) {
                self.room.bytes += victim.size().0;
                self.count += 1;
                queue.push_back(victim);
                return Err(packet);
            }
            evicted = Some(victim);
        }
        self.waiting.entry(packet.priority()).or_default().push_back(packet);
        self.count += 1;
        evicted.map_or(Ok(()), Err)
    }
    fn pop(&mut self, _: Instant, _: &mut Dropped<P>) -> Option<P> {
        let packet = self.waiting.values_mut().find_map(VecDeque::pop_front)?;
        self.count -= 1;
        self.room.release(packet.size());
        Some(packet)
    }
    fn len(&self) -> usize {
        self.count
    }
}
