//! First in, first out; what does not fit is dropped.

use super::super::Load;
use super::{Dropped, Entry, Limit, Queue, Room, Waiting};
use crate::time::Instant;
use std::collections::VecDeque;

/// The row of the table.
pub const fn entry<P: Load + 'static>() -> Entry<P> {
    Entry {
        name: "drop_tail",
        paper: "",
        parameters: &[],
        by_priority: false,
        drops_waiting: false,
        build: |_, limit| Waiting::DropTail(DropTail::new(limit)),
    }
}

/// The plain queue.
pub struct DropTail<P> {
    room: Room,
    waiting: VecDeque<P>,
}

impl<P> DropTail<P> {
    /// An empty one.
    pub fn new(limit: Limit) -> Self {
        Self { room: Room::new(limit), waiting: VecDeque::new() }
    }
}

impl<P: Load> Queue<P> for DropTail<P> {
    #[inline]
    fn push(&mut self, _: Instant, packet: P) -> Result<(), P> {
        if !self.room.admit(self.waiting.len(), packet.size()) {
            return Err(packet);
        }
        self.waiting.push_back(packet);
        Ok(())
    }
    #[inline]
    fn pop(&mut self, _: Instant, _: &mut Dropped<P>) -> Option<P> {
        let packet = self.waiting.pop_front()?;
        self.room.release(packet.size());
        Some(packet)
    }
    #[inline]
    fn len(&self) -> usize {
        self.waiting.len()
    }
}
