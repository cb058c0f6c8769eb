//! What a wire loses.

use super::Delay;
use crate::math;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// A loss model, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// Nothing.
    None,
    /// Each packet with this probability.
    Uniform(f64),
    /// Each bit is wrong with this probability, and a wrong bit loses its packet.
    BitErrors(f64),
    /// Two states, in each of which a packet is lost with its own probability (Gilbert 1960, Elliott
    /// 1963). The state changes from packet to packet.
    GilbertElliott {
        /// From good to bad, per packet.
        to_bad: f64,
        /// From bad to good, per packet.
        to_good: f64,
        /// Loss in the good state.
        good: f64,
        /// Loss in the bad state.
        bad: f64,
    },
    /// From each instant on the probability beside it, zero before the first.
    Table(Vec<(Instant, f64)>),
    /// A straight line over the delay of what leaves then: the mean, where that is drawn.
    ByDelay {
        /// At the least delay at any time; also where the delay is always the same.
        least: f64,
        /// At the most.
        most: f64,
    },
}

/// Whether the next packet is lost.
pub trait LossModel {
    /// Asked once for each packet, in the order in which they leave.
    fn loses(&mut self, now: Instant, size: Bytes) -> bool;
}

impl Loss {
    /// The model on a wire of this delay, with its random numbers; none of a wire that loses nothing.
    pub fn build(&self, delay: &Delay, draws: Stream) -> Option<Box<dyn LossModel>> {
        Some(match self.clone() {
            Self::None => return None,
            Self::Uniform(share) => Box::new(Uniform { share, draws }),
            Self::BitErrors(share) => Box::new(BitErrors { share, draws, last: (Bytes(0), 0.0) }),
            Self::GilbertElliott { to_bad, to_good, good, bad } => {
                Box::new(GilbertElliott { leave: [to_bad, to_good], lose: [good, bad], is_bad: false, draws })
            }
            Self::Table(rows) => Box::new(Table { rows, draws }),
            Self::ByDelay { least, most } => Box::new(ByDelay {
                shares: (least, most),
                bounds: delay.bounds(),
                delay: delay.clone(),
                draws,
            }),
        })
    }
}

struct Uniform {
    share: f64,
    draws: Stream,
}

impl LossModel for Uniform {
    fn loses(&mut self, _: Instant, _: Bytes) -> bool {
        self.draws.unit() < self.share
    }
}

struct BitErrors {
    share: f64,
    draws: Stream,
    /// The size of the last packet, and the chance that one of that size is lost.
    last: (Bytes, f64),
}

impl LossModel for BitErrors {
    fn loses(&mut self, _: Instant, size: Bytes) -> bool {
        if self.last.0 != size {
            self.last = (size, 1.0 - math::pow(1.0 - self.share, size.0 as f64 * 8.0));
        }
        self.draws.unit() < self.last.1
    }
}

struct GilbertElliott {
    leave: [f64; 2],
    lose: [f64; 2],
    is_bad: bool,
    draws: Stream,
}

impl LossModel for GilbertElliott {
    fn loses(&mut self, _: Instant, _: Bytes) -> bool {
        let lost = self.draws.unit() < self.lose[usize::from(self.is_bad)];
        if self.draws.unit() < self.leave[usize::from(self.is_bad)] {
            self.is_bad = !self.is_bad;
        }
        lost
    }
}

struct Table {
    rows: Vec<(Instant, f64)>,
    draws: Stream,
}

impl LossModel for Table {
    fn loses(&mut self, now: Instant, _: Bytes) -> bool {
        let after = self.rows.partition_point(|row| row.0 <= now);
        let share = after.checked_sub(1).map_or(0.0, |row| self.rows[row].1);
        self.draws.unit() < share
    }
}

struct ByDelay {
    shares: (f64, f64),
    /// The least and the most delay.
    bounds: (Duration, Duration),
    delay: Delay,
    draws: Stream,
}

impl LossModel for ByDelay {
    fn loses(&mut self, now: Instant, _: Bytes) -> bool {
        let ((least, most), (low, high)) = (self.shares, self.bounds);
        let span = (high - low).as_nanos().max(1) as f64;
        let part = (self.delay.at(now) - low).as_nanos() as f64 / span;
        self.draws.unit() < least + (most - least) * part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_lost(loss: &Loss, size: u64) -> f64 {
        let s = Instant::from_secs;
        let rising = Delay::Curve(vec![(s(0), Duration::ZERO), (s(4), Duration::from_secs(8))]);
        let Some(mut model) = loss.build(&rising, Stream::new(1, "test", 0)) else { return 0.0 };
        let lost = (0..200_000).filter(|_| model.loses(Instant::from_secs(1), Bytes(size))).count();
        lost as f64 / 200_000.0
    }

    #[test]
    fn every_model_loses_the_share_that_it_promises() {
        let table = Loss::Table(vec![(Instant::ZERO, 0.5), (Instant::from_secs(1), 0.02)]);
        let bursts = Loss::GilbertElliott { to_bad: 0.01, to_good: 0.1, good: 0.0, bad: 0.5 };
        for (loss, expected) in [
            (Loss::None, 0.0),
            (Loss::Uniform(0.01), 0.01),
            (Loss::BitErrors(1e-5), 1.0 - math::pow(1.0 - 1e-5, 8000.0)),
            (bursts, 0.5 / 11.0),
            (table, 0.02),
            // At 2 s of 8 s.
            (Loss::ByDelay { least: 0.01, most: 0.05 }, 0.02),
        ] {
            let lost = share_lost(&loss, 1000);
            assert!((lost - expected).abs() <= 0.05 * expected, "{loss:?}: {lost}, expected {expected}");
        }
    }
}
