//! What the judge must know of a run beside its trace.

use super::link::Sending;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes, Remaining};

/// The rules of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeRules {
    /// How many transfers a node takes part in.
    pub radio: Radio,
    /// When a link is free again.
    pub propagation: Propagation,
    /// Ends of transfers are rounded up to multiples of this; then less than one byte may be missing
    /// (The ONE, 5.2).
    pub tick: Option<Duration>,
    /// Expired copies are deleted at multiples of this; `None`: at once.
    pub purge_every: Option<Duration>,
    /// Bundles created at a node are stored even where they don't fit.
    pub overfill: bool,
    /// Transfers may take no time, not even that of light, and copies may outlive their bundles: routers by an oracle do so.
    pub oracle: bool,
    /// A copy may be deleted while it is being sent, and its transfer continues.
    pub drops_sent: bool,
    /// End of the run.
    pub until: Instant,
}

/// Delays change slowly: nothing in the solar system recedes faster than a thousandth of light's
/// speed (Mercury orbits at 59 km/s, Parker Solar Probe reaches 192 km/s). The record of a contact
/// gives the least delay, so this bounds how much longer a flight may take.
const DRIFT_PER_MILLE: i64 = 1;

impl JudgeRules {
    /// Whether all bits have left by `now` for sure; a product, as divisions would take a tenth of the
    /// judge's time.
    #[inline]
    pub(super) fn has_left(sending: &Sending, now: Instant, rate: BitRate) -> bool {
        sending.left_at(now, rate) == Remaining::default()
    }
    /// The earliest instant at which the last bit of a transfer may leave.
    #[inline]
    pub(super) fn earliest_end(&self, sending: &Sending, rate: BitRate) -> Instant {
        let whole = sending.since.saturating_add(sending.left.time_at(rate));
        match self.tick {
            _ if self.oracle => sending.started,
            None => whole,
            Some(_) => back(whole, rate.time_for(Bytes(1)).as_nanos().saturating_sub(1)).max(sending.started),
        }
    }
    /// How much longer than the least delay a flight may take.
    pub(super) fn spread(&self, delay: Duration) -> Duration {
        if delay == Duration::ZERO {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.until.as_nanos().max(0) / 1_000 * DRIFT_PER_MILLE)
    }
    /// How long after its lifetime a copy may still be there.
    pub(super) fn grace(&self) -> Duration {
        if self.oracle {
            return Duration::MAX;
        }
        let rest = self.tick.unwrap_or(Duration::ZERO);
        self.purge_every.unwrap_or(Duration::ZERO).saturating_add(rest)
    }
    /// The first multiple of the tick, if there is one, that is not before `at`.
    pub(super) fn rounded(&self, at: Instant) -> Instant {
        match self.tick {
            Some(tick) if tick > Duration::ZERO => at.round_up(tick),
            _ => at,
        }
    }
}

fn back(at: Instant, ns: i64) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_sub(ns))
}
