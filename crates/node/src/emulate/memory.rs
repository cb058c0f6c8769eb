//! Memory for packets in transit: it grows with them, up to a bound.

use lightlag_protocols::link::LinkSpec;
use lightlag_protocols::link::queues::Limit;
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use std::cell::Cell;
use std::rc::Rc;

/// What a packet takes beside its bytes.
const BESIDE: u64 = 128;

/// Bytes used by all packets in transit.
#[derive(Clone)]
pub(super) struct Memory {
    taken: Rc<Cell<u64>>,
    most: u64,
}

impl Memory {
    pub(super) fn new(most: Bytes) -> Self {
        Self { taken: Rc::default(), most: most.0 }
    }
    /// Reserves memory for a packet of `bytes` bytes until the result is dropped; `None`: out of memory.
    pub(super) fn hold(&self, bytes: usize) -> Option<Held> {
        let size = bytes as u64 + BESIDE;
        (self.taken.get() + size <= self.most).then(|| Held::new(&self.taken, size))
    }
}

/// Room that is taken until it is dropped. A copy takes as much again.
pub(super) struct Held {
    taken: Rc<Cell<u64>>,
    size: u64,
}

impl Held {
    fn new(taken: &Rc<Cell<u64>>, size: u64) -> Self {
        taken.set(taken.get() + size);
        Self { taken: taken.clone(), size }
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self::new(&self.taken, self.size)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.taken.set(self.taken.get() - self.size);
    }
}

/// Bytes of memory that a link takes at most, its rate used up by packets of this size.
pub fn most_under_way(link: &LinkSpec, packet: Bytes) -> Bytes {
    let held_back = link.reorder.map_or(Duration::ZERO, |reorder| reorder.1);
    let delay = link.delay.bounds().1.saturating_add(held_back).saturating_add(link.jitter);
    let on_wire = link.rate.highest().0 as f64 / 8.0 * delay.as_secs_f64();
    let queued = match link.queue.limit() {
        Limit::Packets(packets) => packets as f64 * packet.0 as f64,
        Limit::Bytes(bytes) => bytes.0 as f64,
    };
    let beside = 1.0 + BESIDE as f64 / packet.0.max(1) as f64;
    Bytes(((on_wire + queued) * beside) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back_when_the_last_copy_is_gone() {
        let memory = Memory::new(Bytes(2 * (1_000 + BESIDE)));
        let first = memory.hold(1_000).expect("there is room");
        let copy = first.clone();
        assert!(memory.hold(1).is_none());
        drop(first);
        assert!(memory.hold(1_000).is_some());
        drop(copy);
        assert_eq!(memory.taken.get(), 0);
    }
}
