//! In which order a node offers what it holds.

use super::SendOrderKind;
use java_random::Random;
use lightlag_protocols::dtn::SendOrder;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::Instant;

/// Permutations of a store's slots.
pub(super) struct Orders {
    kind: SendOrderKind,
    stream: Stream,
    /// The current second as The ONE rounds it: from, until.
    second: [Instant; 2],
    /// By number of slots, for the current second; empty where not drawn yet.
    drawn: Vec<Vec<u32>>,
}

/// The order of one offer.
pub(super) enum Drawn<'a> {
    Reception,
    Fixed(&'a [u32]),
    /// Shuffled as far as it was asked for: the first `done` slots are drawn.
    Lazy {
        slots: &'a mut [u32],
        done: usize,
        stream: &'a mut Stream,
    },
}

impl SendOrder for Drawn<'_> {
    #[inline(always)]
    fn slot(&mut self, position: usize) -> usize {
        match self {
            Self::Reception => position,
            Self::Fixed(slots) => slots[position] as usize,
            Self::Lazy { slots, done, stream } => {
                if *done <= position {
                    shuffle_on(slots, done, stream, position);
                }
                slots[position] as usize
            }
        }
    }
}

/// Fisher-Yates as far as `position`.
fn shuffle_on(slots: &mut [u32], done: &mut usize, stream: &mut Stream, position: usize) {
    while *done <= position {
        let rest = (slots.len() - *done) as u64;
        slots.swap(*done, *done + stream.below(rest) as usize);
        *done += 1;
    }
}

impl Orders {
    pub fn new(kind: SendOrderKind, seed: u64) -> Self {
        Self {
            kind,
            stream: Stream::new(seed, "send order", 0),
            second: [Instant::MAX; 2],
            drawn: Vec::new(),
        }
    }
    /// An order for `count` slots.
    pub fn draw(&mut self, now: Instant, count: usize, reception: bool) -> Drawn<'_> {
        match self.kind {
            _ if reception => Drawn::Reception,
            SendOrderKind::Fifo => Drawn::Reception,
            SendOrderKind::Random => {
                self.ensure(count);
                // Any permutation is as good a start as another.
                Drawn::Lazy { slots: &mut self.drawn[count], done: 0, stream: &mut self.stream }
            }
            SendOrderKind::Clock => Drawn::Fixed(self.draw_by_clock(now, count)),
        }
    }
    /// The ONE seeds a java.util.Random with the rounded second and shuffles with it.
    #[inline]
    fn draw_by_clock(&mut self, now: Instant, count: usize) -> &[u32] {
        let [from, until] = self.second;
        if now < from || now >= until {
            let second = seconds_rounded(now);
            self.second =
                [2 * second - 1, 2 * second + 1].map(|half| Instant::from_nanos(half * HALF_SECOND));
            self.drawn.iter_mut().for_each(Vec::clear);
        }
        if self.drawn.get(count).is_none_or(Vec::is_empty) {
            self.shuffle_by_clock(seconds_rounded(now), count);
        }
        &self.drawn[count]
    }
    fn shuffle_by_clock(&mut self, second: i64, count: usize) {
        self.ensure(count);
        let slots = &mut self.drawn[count];
        let mut random = Random::with_seed(second as u64);
        for left in (2..=count).rev() {
            slots.swap(left - 1, random.next_int_n(left as i32) as usize);
        }
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

const HALF_SECOND: i64 = 500_000_000;

fn seconds_rounded(now: Instant) -> i64 {
    (now.as_nanos() + HALF_SECOND).div_euclid(2 * HALF_SECOND)
}
