//! How much a stack loses all the time: a burst of losses, such as the end of a slow start makes, does not count.

use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// A share is measured over this time, round trips and packets at least.
const SPAN: Duration = Duration::from_secs(2);
const ROUND_TRIPS: i64 = 5;
const PACKETS: u64 = 32;
/// Shares of which the least counts.
const KEPT: usize = 3;

/// What became of the packets of a stack since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Those that left, or those of them whose fate is known.
    pub sent: u64,
    /// Those that count as lost.
    pub lost: u64,
}

/// The shares that were lost of late.
#[derive(Clone, Debug, Default)]
pub struct LossMeter {
    mark: Option<(Instant, Fate)>,
    shares: VecDeque<f64>,
}

impl LossMeter {
    /// Takes what has become of the packets until now. A count that is lower than before is that of another stack.
    pub fn learn(&mut self, now: Instant, rtt: Duration, fate: Fate) {
        let (since, before) = *self.mark.get_or_insert((now, fate));
        let (Some(sent), Some(lost)) =
            (fate.sent.checked_sub(before.sent), fate.lost.checked_sub(before.lost))
        else {
            *self = Self { mark: Some((now, fate)), ..Self::default() };
            return;
        };
        if now - since < (rtt * ROUND_TRIPS).max(SPAN) || sent < PACKETS {
            return;
        }
        if self.shares.len() == KEPT {
            self.shares.pop_front();
        }
        self.shares.push_back((lost as f64 / sent as f64).min(1.0));
        self.mark = Some((now, fate));
    }
    /// The share that was lost all the time, 0 to 1; `None`: it is not known yet.
    pub fn always(&self) -> Option<f64> {
        (self.shares.len() == KEPT).then(|| self.shares.iter().copied().fold(1.0, f64::min))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_losses_is_not_what_is_lost_all_the_time() {
        let mut meter = LossMeter::default();
        let mut fate = Fate::default();
        for s in 0..60 {
            fate.sent += 100;
            fate.lost += if s % 6 == 5 { 100 } else { 0 };
            meter.learn(Instant::from_secs(s), Duration::ZERO, fate);
        }
        assert_eq!(meter.always(), Some(0.0));
        for s in 60..70 {
            fate.sent += 100;
            fate.lost += 2;
            meter.learn(Instant::from_secs(s), Duration::ZERO, fate);
        }
        assert!(meter.always().is_some_and(|share| (share - 0.02).abs() < 1e-9));
        // Another stack begins.
        meter.learn(Instant::from_secs(70), Duration::ZERO, Fate::default());
        assert_eq!(meter.always(), None);
    }
}
