//! Slices of a table of results: runs with some values in their columns.

use lightlag_lab::results::{Results, Row};
use lightlag_lab::statistics::{self, Domain, Estimate, Paired};
use std::collections::{BTreeMap, BTreeSet};

/// Column of the table of runs: the figures that a run is in, with a blank between two.
pub const FIGURE: &str = "figure";
/// Column of the table of runs: which protocol, under which reading.
pub const VARIANT: &str = "variant";

/// Some rows of a table of results.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    rows: Vec<&'a Row>,
}

impl<'a> Runs<'a> {
    /// All rows.
    pub fn all(results: &'a Results) -> Self {
        Self { rows: results.rows.iter().collect() }
    }

    /// Those of a figure.
    pub fn of(results: &'a Results, figure: &str) -> Self {
        let is_in =
            |row: &&Row| row.value(FIGURE).is_some_and(|figures| figures.split(' ').any(|one| one == figure));
        Self { rows: results.rows.iter().filter(is_in).collect() }
    }

    /// Those with this value in this column.
    #[must_use]
    pub fn only(&self, column: &str, value: &str) -> Self {
        self.any_of(column, &[value])
    }

    /// Those with one of these values in this column.
    #[must_use]
    pub fn any_of(&self, column: &str, values: &[&str]) -> Self {
        self.filtered(|row| row.value(column).is_some_and(|value| values.contains(&value)))
    }

    /// Those with these values in these columns.
    #[must_use]
    pub fn fixed(&self, values: &[(&str, &str)]) -> Self {
        values.iter().fold(self.clone(), |runs, (column, value)| runs.only(column, value))
    }

    /// Those of a variant, with these numbers in these columns.
    #[must_use]
    pub fn at(&self, variant: &str, places: &[(&str, f64)]) -> Self {
        let here = |row: &&'a Row| places.iter().all(|&(column, value)| number(row, column) == value);
        self.only(VARIANT, variant).filtered(here)
    }

    /// Those without this value in this column.
    #[must_use]
    pub fn without(&self, column: &str, value: &str) -> Self {
        self.filtered(|row| row.value(column) != Some(value))
    }

    /// These, and then others.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        self.rows.extend(&others.rows);
        self
    }

    fn filtered(&self, wanted: impl Fn(&&'a Row) -> bool) -> Self {
        Self { rows: self.rows.iter().filter(|row| wanted(row)).copied().collect() }
    }

    /// Whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The values of a column: numbers ascending, names in the order of their first appearance.
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

    /// The numbers of a column, ascending.
    pub fn numbers(&self, column: &str) -> Vec<f64> {
        let mut all: Vec<f64> = self.rows.iter().map(|row| number(row, column)).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// A metric of each run that has it.
    pub fn each(&self, metric: &str) -> Vec<f64> {
        self.rows.iter().filter_map(|row| row.metric(metric)).collect()
    }

    /// A metric by seed: the mean over all runs of the seed that have it.
    pub fn by_seed(&self, metric: &str) -> BTreeMap<u64, f64> {
        let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in &self.rows {
            values.entry(row.seed).or_default().extend(row.metric(metric));
        }
        values.into_iter().filter_map(|(seed, values)| Some((seed, statistics::mean(&values)?))).collect()
    }

    /// Mean and interval of a metric over seeds.
    pub fn estimate(&self, metric: &str) -> Option<Estimate> {
        let values: Vec<f64> = self.by_seed(metric).into_values().collect();
        statistics::estimate(&values).map(|made| made.of(Domain::of(metric)))
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

    /// Every combination of the values of these columns, with its slice.
    pub fn split(&self, columns: &[&str]) -> Vec<(Vec<&'a str>, Self)> {
        columns.iter().fold(vec![(Vec::new(), self.clone())], |slices, column| {
            let split = |(names, slice): (Vec<&'a str>, Self)| {
                let one = |level| ([&names[..], &[level]].concat(), slice.only(column, level));
                slice.levels(column).into_iter().map(one).collect::<Vec<_>>()
            };
            slices.into_iter().flat_map(split).collect()
        })
    }

    /// Slope of a metric over a numeric column, seed by seed, and whether it is zero.
    pub fn slope(&self, column: &str, metric: &str) -> Option<Paired> {
        let along: Vec<(f64, BTreeMap<u64, f64>)> =
            self.along(column).into_iter().map(|(x, slice)| (x, slice.by_seed(metric))).collect();
        self.test(|seed| {
            let points: Vec<(f64, f64)> =
                along.iter().filter_map(|(x, values)| Some((*x, *values.get(&seed)?))).collect();
            statistics::slope(&points)
        })
    }

    /// Whether a number that each seed has is zero.
    pub fn test(&self, of: impl Fn(u64) -> Option<f64>) -> Option<Paired> {
        let seeds: BTreeSet<u64> = self.rows.iter().map(|row| row.seed).collect();
        statistics::test_zero(&seeds.into_iter().filter_map(of).collect::<Vec<_>>())
    }

    /// The metric here minus there, seed by seed.
    pub fn minus(&self, other: &Self, metric: &str) -> Option<Paired> {
        statistics::paired(&self.by_seed(metric), &other.by_seed(metric))
    }

    /// Largest minus smallest mean over the values of a column, by seed.
    pub fn spread(&self, column: &str, metric: &str) -> BTreeMap<u64, f64> {
        let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for level in self.levels(column) {
            for (seed, value) in self.only(column, level).by_seed(metric) {
                all.entry(seed).or_default().push(value);
            }
        }
        let of = |values: Vec<f64>| Some(most(&values)? - least(&values)?);
        all.into_iter().filter_map(|(seed, values)| Some((seed, of(values)?))).collect()
    }
}

/// The largest, if there is one.
pub fn most(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}

/// The smallest, if there is one.
pub fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::min)
}

/// A quantile of some numbers; `None` without any.
pub fn quantile(values: impl Iterator<Item = f64>, share: f64) -> Option<f64> {
    let mut all: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    let at = ((all.len() as f64 * share) as usize).min(all.len().saturating_sub(1));
    all.get(at).copied()
}

fn number_of(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

fn number(row: &Row, column: &str) -> f64 {
    row.value(column).map_or(f64::NAN, number_of)
}
