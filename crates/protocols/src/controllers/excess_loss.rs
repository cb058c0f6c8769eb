//! Whether more is lost than usual, and what is usual: losses that stay when less is sent.
//!
//! Losses above the usual share and [`EXCESS`] are summed up, packet by packet, and never below zero (a CUSUM test,
//! Page 1954). Much loss is noticed within a few packets, a little within hundreds, whatever a round trip holds.
//!
//! A link that loses by itself looks like a full one until less is sent. So each reduction is also a trial: if the
//! loss of packets sent after it is as high, and so after [`TRIALS`] reductions in a row, it is usual from then on.
//! Flows that fill a link together reduce together, and lose less after each.

use crate::time::{Duration, Instant};

/// Loss above the usual that is not yet too much, as a share.
const EXCESS: f64 = 0.03;
/// Packets that may be lost beyond that: at least, as a share of those in flight, and per variance of a packet's loss.
const SUM_LEAST: f64 = 4.0;
const SUM_OF_FLIGHT: f64 = 0.03;
const SUM_OF_CHANCE: f64 = 50.0;
/// Reductions that must leave the loss as it is.
const TRIALS: u32 = 2;
/// A loss of more than this part of the first has stayed: the first was noticed because it was high.
const STAYS: f64 = 0.45;
/// Packets of which a trial is judged, and without excess after which it is over.
const JUDGED_BY: f64 = 8.0;
const TRIAL_PACKETS: f64 = 96.0;
/// More is never usual: a link in such a state is overloaded.
const USUAL_MOST: f64 = 0.35;
/// Packets after which a mean over them counts half.
const MEMORY: f64 = 256.0;

/// Counts what became of packets, and learns which share is usually lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExcessLoss {
    usual: f64,
    sum: f64,
    trial: Option<Trial>,
}

/// Reductions in a row, and the losses after them.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Share that was lost before the first, and the rate then.
    before: f64,
    rate: f64,
    reductions: u32,
    /// Packets sent after the reductions, and those of them that were lost.
    sent: f64,
    lost: f64,
    /// Packets since the last reduction, and when reports begin to show its effect.
    since: f64,
    shows: Instant,
}

impl ExcessLoss {
    /// The share that is lost at any rate, 0 to 1.
    pub fn usual(&self) -> f64 {
        self.usual
    }
    /// These packets were sent, and this number of them lost.
    pub fn count(&mut self, now: Instant, sent: f64, lost: f64) {
        self.sum = (self.sum + lost - (self.usual + EXCESS) * sent).max(0.0);
        let Some(trial) = self.trial.as_mut().filter(|trial| now >= trial.shows) else { return };
        trial.sent += sent;
        trial.lost += lost;
        trial.since += sent;
        if trial.since >= TRIAL_PACKETS && self.sum < SUM_LEAST {
            self.trial = None;
        }
    }
    /// Whether more is lost than usual, with this number of packets in flight.
    pub fn is_more(&self, in_flight: f64) -> bool {
        self.sum > SUM_LEAST + SUM_OF_FLIGHT * in_flight + SUM_OF_CHANCE * self.usual * (1.0 - self.usual)
    }
    /// What was lost so far has been answered.
    pub fn answered(&mut self) {
        self.sum = 0.0;
    }
    /// The losses of these packets may have another cause.
    pub fn doubt(&mut self, packets: f64) {
        self.usual *= 1.0 - (packets / MEMORY).min(0.5);
    }
    /// There was another cause: the losses of the last reductions say nothing.
    pub fn ends_trial(&mut self) {
        self.trial = None;
    }
    /// A share of these packets was lost, without an excess; `rises`: the flow's own rate cannot be the cause.
    pub fn learn(&mut self, share: f64, packets: f64, rises: bool) {
        let change = share - self.usual;
        if rises || change < 0.0 {
            self.usual = (self.usual + change * (packets / MEMORY).min(0.5)).min(USUAL_MOST);
        }
    }
    /// The flow is about to reduce this rate for a loss of this share. If former reductions changed nothing, the loss is
    /// usual now, and the rate before them is given.
    pub fn reduces(&mut self, now: Instant, rtt: Duration, rate: f64, share: f64) -> Option<f64> {
        let shows = now.saturating_add(rtt);
        let first = Trial { before: share, rate, reductions: 1, sent: 0.0, lost: 0.0, since: 0.0, shows };
        let trial = self.trial.get_or_insert(first);
        if trial.since < JUDGED_BY {
            return None;
        }
        let lost = trial.lost / trial.sent;
        if lost < STAYS * trial.before {
            *trial = first;
            return None;
        }
        if trial.reductions < TRIALS || lost >= USUAL_MOST {
            *trial = Trial { reductions: trial.reductions + 1, since: 0.0, shows, ..*trial };
            return None;
        }
        let before = trial.rate;
        *self = Self { usual: lost, ..Self::default() };
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_secs(1);

    fn at(seconds: i64) -> Instant {
        Instant::ZERO + RTT * seconds
    }

    #[test]
    fn loss_that_stays_after_two_reductions_is_usual_and_the_rate_returns() {
        let mut loss = ExcessLoss::default();
        let mut returned = None;
        for second in 1..=10 {
            loss.count(at(second), 100.0, 20.0);
            if loss.is_more(100.0) {
                returned = returned.or(loss.reduces(at(second), RTT, 1000.0 - second as f64, 0.2));
                loss.answered();
            }
        }
        assert_eq!(returned, Some(999.0));
        assert!((loss.usual() - 0.2).abs() < 1e-9);
        assert!(!loss.is_more(100.0));
    }

    #[test]
    fn loss_that_a_reduction_ends_is_not_usual() {
        let mut loss = ExcessLoss::default();
        for second in 1..=60 {
            let share = if second % 6 == 0 { 0.3 } else { 0.0 };
            loss.count(at(second), 100.0, 100.0 * share);
            if loss.is_more(100.0) {
                assert_eq!(loss.reduces(at(second), RTT, 1000.0, share), None);
                loss.answered();
            } else {
                loss.learn(share, 100.0, true);
            }
        }
        assert!(loss.usual() < 0.01);
    }

    #[test]
    fn a_little_too_much_is_noticed_too_and_the_usual_is_not() {
        let mut loss = ExcessLoss::default();
        loss.learn(0.1, 10_000.0, true);
        loss.learn(0.1, 10_000.0, true);
        let usual = loss.usual();
        for second in 0..1000 {
            loss.count(at(second), 10.0, 10.0 * usual);
        }
        assert!(!loss.is_more(10.0));
        for second in 1000..1050 {
            loss.count(at(second), 10.0, 10.0 * (usual + 0.06));
        }
        assert!(loss.is_more(10.0));
    }
}
