//! Slices of a table of results, as claims and figures need them.

use super::Scope;
use crate::comparative::cell::{
    BUFFER, CONTACTS, DROP_MEMORY, DURATION, INTER_CONTACT, LIFETIME, MECHANISM, MOBILITY, PERIOD,
    PROPAGATION, RECEIPTS, ROUTER, TRAFFIC, WORLD,
};
use lightlag_lab::results::{Results, Row};
use lightlag_lab::statistics::{self, Estimate, Paired};
use std::collections::{BTreeMap, BTreeSet};

/// Some rows of a table.
#[derive(Clone, Debug)]
pub struct View<'a> {
    rows: Vec<&'a Row>,
}

impl<'a> View<'a> {
    /// All rows.
    pub fn all(results: &'a Results) -> Self {
        Self { rows: results.rows.iter().collect() }
    }

    /// The rows with this value in this column.
    #[must_use]
    pub fn only(&self, column: &str, value: &str) -> Self {
        self.any_of(column, &[value])
    }

    /// The rows with one of these values in this column.
    #[must_use]
    pub fn any_of(&self, column: &str, values: &[&str]) -> Self {
        let wanted = |row: &&&Row| row.value(column).is_some_and(|value| values.contains(&value));
        Self { rows: self.rows.iter().filter(wanted).copied().collect() }
    }

    /// Whether nothing was run.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many runs.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The values of a column, numbers in their order, names in that of their first appearance.
    pub fn levels(&self, column: &str) -> Vec<&'a str> {
        let mut levels: Vec<&str> = Vec::new();
        for value in self.rows.iter().filter_map(|row| row.value(column)) {
            if !levels.contains(&value) {
                levels.push(value);
            }
        }
        if levels.iter().all(|level| level.parse::<f64>().is_ok()) {
            levels.sort_by(|a, b| number_of(a).total_cmp(&number_of(b)));
        }
        levels
    }

    /// A metric by seed: the mean over all cells of the slice that define it.
    pub fn by_seed(&self, metric: &str) -> BTreeMap<u64, f64> {
        let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in &self.rows {
            values.entry(row.seed).or_default().extend(row.metric(metric));
        }
        values.into_iter().filter_map(|(seed, values)| Some((seed, statistics::mean(&values)?))).collect()
    }

    /// Mean and interval of a metric over seeds.
    pub fn estimate(&self, metric: &str) -> Option<Estimate> {
        statistics::estimate(&self.by_seed(metric).into_values().collect::<Vec<_>>())
    }

    /// The slices along a numeric column, ascending.
    pub fn along(&self, column: &str) -> Vec<(f64, Self)> {
        self.levels(column).into_iter().map(|level| (number_of(level), self.only(column, level))).collect()
    }

    /// The slice at the smallest value of a numeric column, and that at the largest.
    pub fn ends(&self, column: &str) -> Option<(Self, Self)> {
        let along = self.along(column);
        Some((along.first()?.1.clone(), along.last()?.1.clone()))
    }

    /// Slope of a metric over a numeric column, seed by seed, and whether it is zero.
    pub fn slope(&self, column: &str, metric: &str) -> Option<Paired> {
        let along: Vec<(f64, BTreeMap<u64, f64>)> =
            self.along(column).into_iter().map(|(x, slice)| (x, slice.by_seed(metric))).collect();
        let slope = |seed: u64| {
            let points: Vec<(f64, f64)> =
                along.iter().filter_map(|(x, values)| Some((*x, *values.get(&seed)?))).collect();
            statistics::slope(&points)
        };
        statistics::test_zero(&self.seeds().into_iter().filter_map(slope).collect::<Vec<_>>())
    }

    /// The metric here minus there, seed by seed.
    pub fn minus(&self, other: &Self, metric: &str) -> Option<Paired> {
        statistics::paired(&self.by_seed(metric), &other.by_seed(metric))
    }

    /// Largest minus smallest mean over the values of a column, by seed.
    pub fn spread(&self, column: &str, metric: &str) -> BTreeMap<u64, f64> {
        let levels: Vec<BTreeMap<u64, f64>> =
            self.levels(column).iter().map(|level| self.only(column, level).by_seed(metric)).collect();
        let of = |seed: u64| {
            let values: Vec<f64> = levels.iter().filter_map(|level| level.get(&seed).copied()).collect();
            let largest = values.iter().copied().reduce(f64::max)?;
            let smallest = values.iter().copied().reduce(f64::min)?;
            Some((seed, largest - smallest))
        };
        self.seeds().into_iter().filter_map(of).collect()
    }

    /// The seeds.
    pub fn seeds(&self) -> BTreeSet<u64> {
        self.rows.iter().map(|row| row.seed).collect()
    }
}

fn number_of(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// One way to read what the paper leaves open: values that columns must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What is different from the primary reading.
    pub name: &'static str,
    interplanetary: [(&'static str, &'static str); 3],
    switches: [(&'static str, &'static str); 2],
}

const STRETCHED: (&str, &str) = (CONTACTS, "S");
const PERIODIC: (&str, &str) = (CONTACTS, "P");
const BASE_TO_ROVERS: (&str, &str) = (TRAFFIC, "base_to_rovers");
const ALL_TO_ALL: (&str, &str) = (TRAFFIC, "all_to_all");
const PIPELINED: (&str, &str) = (PROPAGATION, "pipelined");
const STOP_AND_WAIT: (&str, &str) = (PROPAGATION, "stop_and_wait");
const PLAIN: [(&str, &str); 2] = [(RECEIPTS, "false"), (DROP_MEMORY, "false")];

impl Reading {
    /// Table 2 and its stretched forms, the base station sends to the rovers, links carry on while bits travel,
    /// nodes neither tell of deliveries nor remember drops.
    pub const PRIMARY: Self = Self {
        name: "stretched tables, base to rovers, pipelined",
        interplanetary: [STRETCHED, BASE_TO_ROVERS, PIPELINED],
        switches: PLAIN,
    };

    /// Every reading of the interplanetary scenario, the primary one first.
    pub fn all_interplanetary() -> Vec<Self> {
        [Self::PRIMARY].into_iter().chain(Self::others(Scope::Interplanetary)).collect()
    }

    /// Every setting of receipts and memory of drops but the primary one.
    pub fn all_switches() -> Vec<Self> {
        Self::others(Scope::Terrestrial)
    }

    /// The interplanetary reading of that name.
    ///
    /// # Panics
    /// If there is none.
    pub fn named(name: &str) -> Self {
        let found = Self::all_interplanetary().into_iter().find(|reading| reading.name == name);
        found.expect("the names of readings are written in this crate")
    }

    /// The other readings that matter for a claim.
    pub(crate) fn others(scope: Scope) -> Vec<Self> {
        match scope {
            Scope::Interplanetary => vec![
                Self::interplanetary("stop-and-wait", [STRETCHED, BASE_TO_ROVERS, STOP_AND_WAIT]),
                Self::interplanetary("all to all", [STRETCHED, ALL_TO_ALL, PIPELINED]),
                Self::interplanetary("all to all, stop-and-wait", [STRETCHED, ALL_TO_ALL, STOP_AND_WAIT]),
                Self::interplanetary("periodic tables", [PERIODIC, BASE_TO_ROVERS, PIPELINED]),
                Self::interplanetary("periodic, stop-and-wait", [PERIODIC, BASE_TO_ROVERS, STOP_AND_WAIT]),
                Self::interplanetary("periodic, all to all", [PERIODIC, ALL_TO_ALL, PIPELINED]),
                Self::interplanetary(
                    "periodic, all to all, stop-and-wait",
                    [PERIODIC, ALL_TO_ALL, STOP_AND_WAIT],
                ),
            ],
            Scope::Terrestrial => vec![
                Self::switched("with receipts", "true", "false"),
                Self::switched("with memory of drops", "false", "true"),
                Self::switched("with both", "true", "true"),
            ],
        }
    }

    fn interplanetary(name: &'static str, values: [(&'static str, &'static str); 3]) -> Self {
        Self { name, interplanetary: values, switches: PLAIN }
    }

    fn switched(name: &'static str, receipts: &'static str, drop_memory: &'static str) -> Self {
        let switches = [(RECEIPTS, receipts), (DROP_MEMORY, drop_memory)];
        Self { name, switches, ..Self::PRIMARY }
    }
}

/// The slices behind the paper's figures, under one reading.
#[derive(Clone, Debug)]
pub struct Data<'a> {
    /// Figure 3: delivery ratio over the generation period, between planets.
    pub figure_3: View<'a>,
    /// Figure 5: over the inter-contact time.
    pub figure_5: View<'a>,
    /// Figure 6: latency over the buffer size.
    pub figure_6: View<'a>,
    /// Figure 7: over the contact duration.
    pub figure_7: View<'a>,
    /// Figure 8: delivery ratio over the generation period, on Earth.
    pub figure_8: View<'a>,
    /// Figures 9 to 11: mobility models and routers.
    pub figure_9: View<'a>,
    /// Ours: lifetimes shorter than the run, between planets.
    pub lifetimes: View<'a>,
}

impl<'a> Data<'a> {
    /// Takes the slices.
    pub fn of(results: &'a Results, reading: &Reading) -> Self {
        let all = fixed(&View::all(results), &reading.switches);
        let planets = fixed(&all.only(WORLD, "ipn"), &reading.interplanetary);
        let whole_life = planets.only(LIFETIME, "12");
        let earth = all.only(WORLD, "terrestrial");
        Self {
            figure_3: fixed(
                &whole_life,
                &[(ROUTER, "epidemic"), (BUFFER, "4000"), (INTER_CONTACT, "1000"), (DURATION, "1000")],
            ),
            figure_5: fixed(&whole_life, &[(PERIOD, "300"), (BUFFER, "4000"), (DURATION, "1000")]),
            figure_6: fixed(&whole_life, &[(PERIOD, "300"), (INTER_CONTACT, "1000"), (DURATION, "1000")]),
            figure_7: fixed(&whole_life, &[(PERIOD, "300"), (BUFFER, "4000"), (INTER_CONTACT, "1000")]),
            figure_8: fixed(&earth, &[(ROUTER, "epidemic"), (BUFFER, "1000"), (MOBILITY, "random_waypoint")]),
            figure_9: fixed(&earth, &[(BUFFER, "500"), (PERIOD, "300")]),
            lifetimes: fixed(
                &planets,
                &[
                    (ROUTER, "epidemic"),
                    (MECHANISM, "none"),
                    (PERIOD, "100"),
                    (BUFFER, "4000"),
                    (INTER_CONTACT, "1000"),
                    (DURATION, "1000"),
                ],
            ),
        }
    }
}

fn fixed<'a>(view: &View<'a>, values: &[(&str, &str)]) -> View<'a> {
    values.iter().fold(view.clone(), |view, (column, value)| view.only(column, value))
}
