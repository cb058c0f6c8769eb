//! A run of names: figures and series.

use super::NameNetwork;
use super::figures::figures;
use crate::metrics::TimeSeries;
use crate::packets::{Of, PacketSeries};
use crate::run::{Options, Outcome};
use crate::scenario::{Result, Scenario, Seed};
use lightlag_protocols::time::Instant;
use lightlag_worlds::names::{self, Observer, Record};

/// Runs a scenario of names with a seed.
///
/// # Errors
/// What is wrong with the file of the trace.
pub(crate) fn run(
    scenario: &Scenario,
    network: &NameNetwork,
    seed: Seed,
    options: &Options,
) -> Result<Outcome> {
    let mut setup = network.setup(seed, scenario.own_seed, scenario.duration);
    if !options.series {
        setup.sample_every = None;
    }
    let mut series = setup.sample_every.map(|_| {
        let links = network.links.iter().map(|link| link.name.clone()).collect();
        PacketSeries::new(network.consumers.iter().map(|one| one.name.clone()).collect(), links)
    });
    let outcome = names::run(&setup, &mut series);
    Ok(Outcome {
        figures: figures(network, &outcome),
        violations: Vec::new(),
        violations_total: 0,
        reports: Vec::new(),
        series: series.map(TimeSeries::Packets),
    })
}

impl Observer for PacketSeries {
    const PACKETS: bool = false;
    fn on_record(&mut self, now: Instant, record: &Record) {
        match record {
            Record::Consumer(consumer, seen) => self.sample(now, *consumer, seen),
            Record::Backlog(link, waiting) => self.push(now, Of::Link(*link), "queue", *waiting as f64),
            _ => {}
        }
    }
}
