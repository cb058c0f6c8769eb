//! In which order a node offers what it holds.

use super::SendOrder;
use java_random::Random;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::Instant;

/// Permutations of a store's slots.
pub(super) struct Orders {
    kind: SendOrder,
    stream: Stream,
    second: i64,
    /// By number of slots, for the current second; empty where not drawn yet.
    drawn: Vec<Vec<u32>>,
}

impl Orders {
    pub fn new(kind: SendOrder, seed: u64) -> Self {
        Self { kind, stream: Stream::new(seed, "send order", 0), second: i64::MIN, drawn: Vec::new() }
    }
    /// The order for `count` slots; empty for order of reception.
    pub fn draw(&mut self, now: Instant, count: usize) -> &[u32] {
        match self.kind {
            SendOrder::Fifo => &[],
            SendOrder::Random => {
                self.ensure(count);
                let slots = &mut self.drawn[count];
                self.stream.shuffle(slots);
                slots
            }
            SendOrder::Clock => self.draw_by_clock(now, count),
        }
    }
    /// The order drawn last, if it is for `count` slots; otherwise a new one.
    pub fn again(&mut self, now: Instant, count: usize) -> &[u32] {
        if self.kind == SendOrder::Random && self.drawn.get(count).is_some_and(|slots| !slots.is_empty()) {
            return &self.drawn[count];
        }
        self.draw(now, count)
    }
    /// The ONE seeds a java.util.Random with the rounded second and shuffles with it.
    fn draw_by_clock(&mut self, now: Instant, count: usize) -> &[u32] {
        let second = (now.as_nanos() + 500_000_000).div_euclid(1_000_000_000);
        if second != self.second {
            self.second = second;
            self.drawn.iter_mut().for_each(Vec::clear);
        }
        if self.drawn.get(count).is_none_or(Vec::is_empty) {
            self.ensure(count);
            let slots = &mut self.drawn[count];
            let mut random = Random::with_seed(second as u64);
            for left in (2..=count).rev() {
                slots.swap(left - 1, random.next_int_n(left as i32) as usize);
            }
        }
        &self.drawn[count]
    }
    /// Makes sure that a permutation of `count` slots is there.
    fn ensure(&mut self, count: usize) {
        if count >= self.drawn.len() {
            self.drawn.resize_with(count + 1, Vec::new);
        }
        if self.drawn[count].len() != count {
            self.drawn[count] = (0..count as u32).collect();
        }
    }
}
