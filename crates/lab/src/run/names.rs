//! The world of named data.

use super::trace::{TraceFile, name_trace_names};
use super::{Digest, Options, Outcome, Watchers, World, lines};
use crate::explain::nothing;
use crate::judged;
use crate::metrics::Figures;
use crate::names::account::NamesAccount;
use crate::series::TimeSeries;
use lightlag_judge::names::{Event, NamesJudge, NamesRules};
use lightlag_judge::trace::{NameRow, TraceError, TraceWriter};
use lightlag_protocols::time::Instant;
use lightlag_scenario::names::NameNetwork;
use lightlag_scenario::{Result, Seed};
use lightlag_worlds::names::{self, Setup};
use std::fs::File;
use std::io::BufWriter;

/// The figures of a run that has ended.
pub fn figures(network: &NameNetwork, outcome: &names::Outcome) -> Figures {
    let mut figures = crate::names::figures(network, outcome);
    figures.why = nothing::names(&figures.counts());
    figures
}

impl World for NameNetwork {
    type Setup = Setup;
    type Row = NameRow;
    type Judge = NamesJudge;
    type Trace = TraceWriter<NameRow, BufWriter<File>>;

    fn setup(&self, seed: Seed, options: &Options) -> Result<Setup> {
        let setup = NameNetwork::setup(self, seed);
        Ok(Setup { sample_every: setup.sample_every.filter(|_| options.series || options.account), ..setup })
    }
    fn judge(&self, setup: &Setup) -> NamesJudge {
        NamesJudge::new(NamesRules {
            link_names: self.links.iter().map(|link| link.name.clone()).collect(),
            node_names: self.nodes.iter().map(|node| node.name.clone()).collect(),
            consumer_names: self.consumers.iter().map(|one| one.name.clone()).collect(),
            ..judged::names(setup)
        })
    }
    fn trace(&self, file: TraceFile, _: &Setup, _: &Options) -> Result<Self::Trace> {
        file.rows(name_trace_names(self))
    }
    fn run(
        &self,
        setup: &Setup,
        Watchers { traces, digest, judge }: &mut Watchers<Self>,
        options: &Options,
    ) -> Result<(Outcome, Instant)> {
        let mut progress = options.progress.clone();
        let sampled = setup.sample_every.filter(|_| options.series);
        let mut series = sampled.map(|_| {
            let links = self.links.iter().map(|link| link.name.clone()).collect();
            TimeSeries::of_flows(self.consumers.iter().map(|one| one.name.clone()).collect(), links)
        });
        let mut account = options.account.then(|| NamesAccount::new(self));
        // Observers that do not need packets add no cost.
        let outcome = if traces.is_empty() && digest.is_none() && judge.is_none() && account.is_none() {
            names::run(setup, &mut (&mut series, &mut progress))
        } else {
            names::run(setup, &mut ((((traces, digest), judge), &mut account), (&mut series, &mut progress)))
        };
        let account = account.map(|mut account| {
            account.counts.end(outcome.ended);
            account.counts
        });
        let figures = figures(self, &outcome);
        let made = Outcome { figures, series, account, ..Outcome::default() };
        Ok((made, outcome.ended))
    }
    fn verdict(mut judge: NamesJudge, ended: Instant) -> (Vec<String>, u64) {
        judge.end(ended);
        lines(judge.findings())
    }
    fn close(digest: &mut Digest<NameRow>, ended: Instant) {
        digest.put(ended, &Event::End);
    }
    fn finish(mut trace: Self::Trace, ended: Instant) -> std::result::Result<(), TraceError> {
        trace.put(ended, &Event::End);
        trace.finish().map(drop)
    }
}
