//! Slots that end at a time: putting one in, taking it out and letting it end all cost the same, however
//! many there are (a hashed timing wheel; Varghese and Lauck 1987, scheme 6).

use crate::time::Instant;

const NONE: u32 = u32::MAX;
/// Spokes are 2²⁴ ns apart, 17 ms: ends are reported this much late at most.
const TICK_BITS: u32 = 24;
/// What ends later than a turn of the wheel is looked at once a turn.
const SPOKES: usize = 1024;

/// Values in numbered slots, each with an end.
#[derive(Clone, Debug)]
pub(super) struct Wheel<T> {
    slots: Vec<Slot<T>>,
    free: u32,
    spokes: Vec<u32>,
    /// The tick up to which everything has ended that had to.
    turned: i64,
    count: usize,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    /// None: free, and `next` is the next free one.
    value: Option<T>,
    ends: Instant,
    previous: u32,
    next: u32,
}

impl<T> Wheel<T> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), free: NONE, spokes: vec![NONE; SPOKES], turned: 0, count: 0 }
    }
    pub(super) const fn slot_bytes() -> usize {
        size_of::<Slot<T>>()
    }
    pub(super) fn len(&self) -> usize {
        self.count
    }
    #[inline]
    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.slots.get(at as usize)?.value.as_ref()
    }
    #[inline]
    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.slots.get_mut(at as usize)?.value.as_mut()
    }
    #[inline]
    pub(super) fn ends(&self, at: u32) -> Instant {
        self.slots[at as usize].ends
    }
    #[inline]
    pub(super) fn insert(&mut self, ends: Instant, value: T) -> u32 {
        let slot = Slot { value: Some(value), ends, previous: NONE, next: NONE };
        let at = if self.free == NONE {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let at = self.free;
            let free = &mut self.slots[at as usize];
            self.free = free.next;
            *free = slot;
            at
        };
        self.count += 1;
        self.hang(at);
        at
    }
    #[inline]
    pub(super) fn remove(&mut self, at: u32) -> Option<T> {
        let value = self.slots.get_mut(at as usize)?.value.take()?;
        self.unhang(at);
        self.slots[at as usize].next = std::mem::replace(&mut self.free, at);
        self.count -= 1;
        Some(value)
    }
    /// The slot ends then, not when it was to.
    #[inline]
    pub(super) fn set_end(&mut self, at: u32, ends: Instant) {
        self.unhang(at);
        self.slots[at as usize].ends = ends;
        self.hang(at);
    }
    /// The next one that has ended by now, taken out.
    #[inline]
    pub(super) fn pop_ended(&mut self, now: Instant) -> Option<T> {
        let tick = now.as_nanos() >> TICK_BITS;
        if tick <= self.turned {
            return None;
        }
        self.turn(tick, now)
    }
    fn turn(&mut self, tick: i64, now: Instant) -> Option<T> {
        // More than a turn at once looks at every spoke once.
        self.turned = self.turned.max(tick - SPOKES as i64);
        while self.turned < tick {
            let mut at = self.spokes[self.turned as usize & (SPOKES - 1)];
            while at != NONE {
                if self.slots[at as usize].ends <= now {
                    return self.remove(at);
                }
                at = self.slots[at as usize].next;
            }
            self.turned += 1;
        }
        None
    }
    #[inline]
    fn spoke_of(&self, at: u32) -> usize {
        (self.slots[at as usize].ends.as_nanos() >> TICK_BITS) as usize & (SPOKES - 1)
    }
    #[inline]
    fn hang(&mut self, at: u32) {
        let spoke = self.spoke_of(at);
        let next = std::mem::replace(&mut self.spokes[spoke], at);
        if next != NONE {
            self.slots[next as usize].previous = at;
        }
        let slot = &mut self.slots[at as usize];
        (slot.previous, slot.next) = (NONE, next);
    }
    #[inline]
    fn unhang(&mut self, at: u32) {
        let Slot { previous, next, .. } = self.slots[at as usize];
        if next != NONE {
            self.slots[next as usize].previous = previous;
        }
        if previous == NONE {
            let spoke = self.spoke_of(at);
            self.spokes[spoke] = next;
        } else {
            self.slots[previous as usize].next = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;
    use proptest::prelude::*;

    const TICK: Duration = Duration::from_nanos(1 << TICK_BITS);

    #[derive(Clone, Debug)]
    enum Step {
        Insert(i64),
        Remove(usize),
        Move(usize, i64),
        Pass(i64),
    }

    proptest! {
        #[test]
        fn everything_ends_once_within_a_tick_of_its_time(steps in proptest::collection::vec(prop_oneof![
            4 => (0_i64..40_000).prop_map(Step::Insert),
            1 => any::<usize>().prop_map(Step::Remove),
            1 => (any::<usize>(), 0_i64..40_000).prop_map(|(which, ms)| Step::Move(which, ms)),
            2 => (0_i64..20_000).prop_map(Step::Pass),
        ], 1..200)) {
            let ms = |n: i64| Duration::from_nanos(n * 1_000_000);
            let (mut wheel, mut now, mut known) = (Wheel::new(), Instant::ZERO, Vec::<(u32, usize, Instant)>::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert(span) => {
                        let ends = now.saturating_add(ms(span));
                        known.push((wheel.insert(ends, number), number, ends));
                    }
                    Step::Remove(which) if !known.is_empty() => {
                        let (at, value, _) = known.swap_remove(which % known.len());
                        prop_assert_eq!(wheel.remove(at), Some(value));
                    }
                    Step::Move(which, span) if !known.is_empty() => {
                        let index = which % known.len();
                        known[index].2 = now.saturating_add(ms(span));
                        wheel.set_end(known[index].0, known[index].2);
                    }
                    Step::Remove(_) | Step::Move(..) => {}
                    Step::Pass(span) => {
                        now = now.saturating_add(ms(span));
                        while let Some(ended) = wheel.pop_ended(now) {
                            let index = known.iter().position(|one| one.1 == ended).expect("ends once");
                            prop_assert!(known.swap_remove(index).2 <= now);
                        }
                        let late = known.iter().find(|one| one.2.saturating_add(TICK) < now);
                        prop_assert!(late.is_none(), "{late:?} at {now:?}");
                    }
                }
                prop_assert_eq!(wheel.len(), known.len());
            }
        }
    }
}
