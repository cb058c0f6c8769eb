//! Bounds of all points of a scenario file.

use super::bound;
use crate::results::{Build, Results, Row, summary};
use crate::run::{ContactsCache, Progress};
use lightlag_scenario::{BundleNetwork, Group, Point, Result, Scenario, ScenarioFile, Seed};
use rayon::prelude::*;
use serde_json::{Map, Value};

/// Bounds of every point that differs in contacts, traffic, buffers or rules, under every seed.
#[derive(Clone, Debug)]
pub struct Table {
    /// A row a point and seed.
    pub results: Results,
    /// How many rows have no flow, as their networks are too large.
    pub too_large: usize,
}

/// Bounds the runs of a scenario file; `text` is the scenario as written, kept with the results. `watch` counts the bounds that
/// are computed, and stops it by unwinding.
///
/// # Errors
/// What is wrong with the scenario.
pub fn table(file: &ScenarioFile, text: &str, seeds: &[Seed], watch: Option<&Progress>) -> Result<Table> {
    let points = distinct(file.points()?.list);
    let cache = ContactsCache::default();
    let jobs: Vec<(usize, Seed)> =
        (0..points.len()).flat_map(|point| seeds.iter().map(move |seed| (point, *seed))).collect();
    watch.inspect(|watch| watch.begin(jobs.len()));
    let row = |&(point, seed): &(usize, Seed)| {
        watch.inspect(|watch| watch.check());
        let Point { values, scenario } = &points[point];
        let metrics = bound(scenario, seed, &cache)?.metrics();
        watch.inspect(|watch| watch.count());
        Ok(Row { point, seed: scenario.head().seed_number(seed), values: values.clone(), metrics })
    };
    let rows = jobs.par_iter().with_max_len(1).map(row).collect::<Result<Vec<Row>>>()?;
    let too_large = rows.iter().filter(|row| row.metric("bound").is_none()).count();
    let results = Results { build: Build::this(), scenario: text.to_owned(), rows, missing: 0 };
    Ok(Table { results, too_large })
}

impl Table {
    /// As the summary of a sweep, and in each point its `runs`, by seed. Not a number is `null`.
    pub fn json(&self) -> Value {
        let mut told = summary(&self.results);
        let points = told["points"].as_array_mut().into_iter().flatten();
        for (told, point) in points.zip(self.results.points()) {
            told["runs"] = point.rows.iter().map(|row| run(row)).collect();
        }
        told
    }
}

fn run(row: &Row) -> Value {
    let seed = ("seed".to_owned(), Value::from(row.seed));
    let metrics = row.metrics.iter().map(|(name, number)| (name.to_string(), Value::from(*number)));
    Value::from([seed].into_iter().chain(metrics).collect::<Map<String, Value>>())
}

/// One of all points that have the same bound, with the values that all of these have in common.
fn distinct(points: Vec<Point>) -> Vec<Point> {
    let mut kept: Vec<(String, Point)> = Vec::new();
    for point in points {
        let key = key(&point.scenario);
        match kept.iter_mut().find(|known| known.0 == key) {
            Some((_, known)) => known.values.retain(|value| point.values.contains(value)),
            None => kept.push((key, point)),
        }
    }
    kept.into_iter().map(|known| known.1).collect()
}

/// Scenarios with equal keys have equal bounds under each seed.
fn key(scenario: &Scenario) -> String {
    // Other worlds have no bounds, which the first of their points reports.
    let Scenario::Bundles(network) = scenario else { return String::new() };
    let BundleNetwork { head, failures, groups, movement, contacts, traffic, rules, .. } = network;
    let (duration, own_seed) = (head.duration, head.own_seed);
    let rules = (rules.radio, rules.propagation, rules.tick, rules.purge_every);
    let contacts: Vec<u128> = contacts.iter().map(|source| source.key).collect();
    let group = |group: &Group| {
        let Group { name, nodes, buffer, policy, mobility, moves, radios, lifetime, .. } = group;
        format!(
            "{name} {nodes:?} {buffer:?} {} {mobility:?} {moves:?} {radios:?} {lifetime:?}",
            policy.overfill
        )
    };
    let groups: Vec<String> = groups.iter().map(group).collect();
    let counts_from = crate::run::counts_from(network);
    format!(
        "{duration:?} {rules:?} {failures:?} {movement:?} {own_seed} {counts_from:?} {contacts:?} {traffic:?} {groups:?}"
    )
}
