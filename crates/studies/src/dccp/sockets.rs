//! The same connections on real sockets, through the poster's link in real time.
//!
//! [`crate::real`] makes the connections; this module says which, and turns the measurements into rows.

use super::plan::{CONNECTIONS, SATELLITE, SOCKETS};
use super::seen;
use super::variants::{CCID2, CCID3, PAIRS, Variant};
use crate::shared::points::{only, scenario};
use crate::shared::runs::{FIGURE, VARIANT};
use lightlag_capture::analysis::Analysed;
use lightlag_lab::results::{Metrics, Row};
use lightlag_protocols::link::{Counts, LinkSpec};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_scenario::Seed;
use lightlag_worlds::packets::{Setup, Source, Span, Switch};

/// Those that are measured on sockets.
pub const ON_SOCKETS: [Variant; 3] = [PAIRS[0].1, CCID2, CCID3];

/// A connection of DCCP without end for the study to make.
pub struct Connection {
    /// What paces it.
    pub controller: &'static str,
    /// Of chance on the link.
    pub seed: u64,
    /// The link in both directions.
    pub links: [LinkSpec; 2],
    /// Traffic that shares the link.
    pub beside: Beside,
    /// How long it sends.
    pub span: Duration,
}

/// Traffic beside a connection: the same packets as in the world, by the same seed.
pub struct Beside {
    /// When it begins.
    pub start: Instant,
    source: Switch,
    spans: [Span; 2],
    rate: BitRate,
}

impl Beside {
    fn of(setup: &Setup) -> Option<Self> {
        (0..).zip(&setup.flows).find_map(|(index, spec)| {
            let Source::OnOff { on, off, rate } = spec.source else { return None };
            let source = Switch::of(spec, setup.seed, index)?;
            Some(Self { start: spec.start, source, spans: [on, off], rate })
        })
    }
    /// Its time has come: bytes made in all so far, and when to come back.
    pub fn turn(&mut self, now: Instant) -> (Bytes, Instant) {
        self.source.turn(now, self.spans, self.rate)
    }
}

/// What was seen of a connection.
pub struct Seen {
    /// Data that arrived, in bit/s.
    pub goodput_bit_per_s: f64,
    /// What became of packets on the link there.
    pub counts: Counts,
    /// What a capture at the sender shows.
    pub analysed: Analysed,
}

/// Makes connections, all at the same time.
pub type Connect<'a> = &'a dyn Fn(Vec<Connection>) -> Result<Vec<Seen>, String>;

/// Thirty connections of each variant, as rows of the table of runs.
///
/// # Errors
/// One line: there are no sockets.
pub fn run(connect: Connect) -> Result<Vec<Row>, String> {
    let which: Vec<(Variant, u64)> =
        ON_SOCKETS.iter().flat_map(|variant| (1..=CONNECTIONS).map(|seed| (*variant, seed))).collect();
    let wanted: Result<Vec<_>, _> = which.iter().map(|(variant, seed)| connection(*variant, *seed)).collect();
    let seen = connect(wanted?)?;
    Ok(which.into_iter().zip(&seen).map(|((variant, seed), seen)| row(variant, seed, seen)).collect())
}

/// The connection of the scenario, as the world runs it with this seed.
fn connection(variant: Variant, seed: u64) -> Result<Connection, String> {
    let described = |error: lightlag_scenario::Error| error.to_string();
    let scenario = scenario(SATELLITE, variant.sets()).and_then(|file| only(&file)).map_err(described)?;
    let lacks = || format!("{SATELLITE}: its link or its cross traffic is missing");
    let network = scenario.packets().ok_or_else(lacks)?;
    let setup = network.setup(Seed::Number(seed));
    Ok(Connection {
        controller: variant.controller(),
        seed,
        links: network.both_ways(None)?,
        beside: Beside::of(&setup).ok_or_else(lacks)?,
        span: network.head.duration,
    })
}

fn row(variant: Variant, seed: u64, seen: &Seen) -> Row {
    let named = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut metrics: Metrics = [
        ("goodput_of_one", seen.goodput_bit_per_s),
        ("packets_dropped", seen.counts.dropped as f64),
        ("packets_lost", seen.counts.lost as f64),
    ]
    .map(|(name, value)| (name.into(), value))
    .to_vec();
    metrics.extend(seen::of_capture(&seen.analysed));
    let values = [(FIGURE, SOCKETS), (VARIANT, variant.name)].map(named).to_vec();
    Row { point: usize::MAX, seed, values, metrics }
}
