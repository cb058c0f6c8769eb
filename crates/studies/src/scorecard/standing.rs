//! How a controller did in a network, beside the limits that are asked of it.

use super::controllers::REFERENCE;
use super::measures::{BESIDE_BYTES, DROPPED, SHARE};
use super::plan::{NETWORK, network};
use super::space::{Company, Network, Traffic};
use crate::shared::runs::VARIANT;
pub use crate::shared::runs::quantile;
use lightlag_lab::results::{Results, Row};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most packets that queues may drop, as a share of those sent.
pub const DROPPED_MOST: f64 = 0.05;
/// No network may see more dropped.
pub const DROPPED_WORST: f64 = 0.2;
/// Least share on a network that does not change.
pub const SHARE_CONSTANT: f64 = 0.7;
/// Least share on a network that changes slower than ten rounds.
pub const SHARE_SLOW: f64 = 0.5;
/// No network may see a smaller share.
pub const SHARE_WORST: f64 = 0.3;
/// Share of the networks in which the limits must hold.
pub const NETWORKS_KEPT: f64 = 0.98;
/// Rounds of a slow change.
const SLOW_ROUNDS: f64 = 10.0;

/// What a network asks of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Rate and delay are constant, and there are no outages.
    Constant,
    /// They change, slower than ten rounds.
    Slow,
    /// They change faster.
    Fast,
}

impl Pace {
    /// The pace of a network.
    pub fn of(network: &Network) -> Self {
        let changes = || [network.rate_change, network.delay_change].into_iter().flatten();
        // Of a step, only the jump is fast.
        let fast = |change: super::change::Change| {
            change.shape != super::change::Shape::Step && change.rounds < SLOW_ROUNDS
        };
        match (changes().next().is_some() || network.outages.is_some(), changes().any(fast)) {
            (_, true) => Self::Fast,
            (true, false) => Self::Slow,
            (false, false) => Self::Constant,
        }
    }
    /// Least share that is asked for.
    pub fn share(self) -> f64 {
        match self {
            Self::Constant => SHARE_CONSTANT,
            Self::Slow => SHARE_SLOW,
            Self::Fast => SHARE_WORST,
        }
    }
}

/// A run with its network.
pub struct Standing<'a> {
    /// The network.
    pub network: Arc<Network>,
    /// Name of the controller.
    pub controller: &'a str,
    /// Share of what the flows beside deliver next to CUBIC that they lose, at least 0; `None` without such flows.
    pub harm: Option<f64>,
    /// Share that queues drop of CUBIC's packets in the place of the controller; `None` where it was not run.
    reference_dropped: Option<f64>,
    row: &'a Row,
}

impl Standing<'_> {
    /// A measure.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.row.metric(name)
    }
    /// Share of the limit.
    pub fn share(&self) -> f64 {
        self.metric(SHARE).unwrap_or(0.0)
    }
    /// Share of the packets that queues dropped.
    pub fn dropped(&self) -> f64 {
        self.metric(DROPPED).unwrap_or(0.0)
    }
    /// Whether queues drop no more than they may: what CUBIC's packets lose beside the same flows is excused.
    pub fn keeps_drops(&self) -> bool {
        let beside = self.reference_dropped.filter(|_| matches!(self.network.company, Company::Tcp(_)));
        self.dropped() < DROPPED_MOST.max(beside.unwrap_or(0.0))
    }
    /// Whether it has the share that is asked for; `None` for files.
    pub fn keeps_share(&self) -> Option<bool> {
        let long = self.network.traffic == Traffic::Endless;
        long.then(|| self.share() >= Pace::of(&self.network).share())
    }
    /// Whether it keeps within all limits.
    pub fn keeps(&self) -> bool {
        self.keeps_drops() && self.keeps_share().unwrap_or(true)
    }
    /// Whether it breaks the limits that hold in every network.
    pub fn is_bad(&self) -> bool {
        let drops = self.dropped() > DROPPED_WORST && !self.keeps_drops();
        drops || (self.network.traffic == Traffic::Endless && self.share() < SHARE_WORST)
    }
    /// Share of the limit less the shares that are dropped and that others lose: the worst network has the least.
    pub fn grade(&self) -> f64 {
        self.share() - self.dropped() - self.harm.unwrap_or(0.0)
    }
}

/// Every run.
pub fn standings(results: &Results) -> Vec<Standing<'_>> {
    let of = |row: &Row| Some((row.value(NETWORK)?.to_owned(), row.value(VARIANT)?.to_owned()));
    let reference: BTreeMap<String, &Row> = results
        .rows
        .iter()
        .filter_map(|row| of(row).filter(|(_, name)| name == REFERENCE).map(|(network, _)| (network, row)))
        .collect();
    let mut known: BTreeMap<String, Arc<Network>> = BTreeMap::new();
    let standing = |row| -> Option<Standing<'_>> {
        let name = Row::value(row, NETWORK)?;
        if !known.contains_key(name) {
            known.insert(name.to_owned(), Arc::new(network(name)?));
        }
        let beside = reference.get(name);
        let harm = || {
            let [ours, theirs] =
                [Some(row), beside.copied()].map(|row| row.and_then(|row| row.metric(BESIDE_BYTES)));
            let (ours, theirs) = (ours?, theirs?);
            (theirs > 0.0).then(|| (1.0 - ours / theirs).max(0.0))
        };
        let network = known[name].clone();
        Some(Standing {
            harm: harm().filter(|_| matches!(network.company, Company::Tcp(_))),
            reference_dropped: beside.and_then(|row| row.metric(DROPPED)),
            controller: Row::value(row, VARIANT)?,
            network,
            row,
        })
    };
    results.rows.iter().filter_map(standing).collect()
}
