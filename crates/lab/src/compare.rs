//! Two sweeps side by side: what differs, and whether chance explains it.

use crate::results::{Point, Results};
use crate::results::{number, terminal};
use crate::statistics::{self, Estimate, Paired};
use serde::Serialize;
use std::collections::BTreeMap;

/// Below this corrected probability a difference is called significant.
pub const SIGNIFICANCE: f64 = 0.05;

/// One metric at one point that both sweeps have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The scenario's values.
    pub values: Vec<(String, String)>,
    /// Which metric.
    pub metric: String,
    /// The first sweep.
    pub first: Option<Estimate>,
    /// The second sweep.
    pub second: Option<Estimate>,
    /// Second minus first over common seeds.
    pub paired: Option<Paired>,
    /// Probability by chance, after Holm's correction over all differences.
    pub p: Option<f64>,
}

impl Difference {
    /// Whether chance is no explanation.
    pub fn significant(&self) -> bool {
        self.p.is_some_and(|p| p < SIGNIFICANCE)
    }
}

/// All differences of two sweeps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// One for each shared point and shared metric.
    pub differences: Vec<Difference>,
    /// How many points only the first sweep has.
    pub only_first: usize,
    /// How many points only the second sweep has.
    pub only_second: usize,
}

/// Compares the points that both sweeps have.
pub fn compare(first: &Results, second: &Results) -> Compared {
    let first_points = by_values(first);
    let second_points = by_values(second);
    let metrics: Vec<String> = {
        let known = second.metric_columns();
        first.metric_columns().into_iter().filter(|metric| known.contains(metric)).collect()
    };
    let mut differences = Vec::new();
    for (values, point) in &first_points {
        if let Some(other) = second_points.get(values) {
            differences.extend(metrics.iter().map(|metric| difference(point, other, metric)));
        }
    }
    correct(&mut differences);
    let shared = first_points.keys().filter(|values| second_points.contains_key(*values)).count();
    Compared {
        differences,
        only_first: first_points.len() - shared,
        only_second: second_points.len() - shared,
    }
}

type Values = Vec<(String, String)>;

fn by_values(results: &Results) -> BTreeMap<Values, Point<'_>> {
    results.points().into_iter().map(|point| (point.values.to_vec(), point)).collect()
}

fn difference(first: &Point<'_>, second: &Point<'_>, metric: &str) -> Difference {
    Difference {
        values: first.values.to_vec(),
        metric: metric.to_string(),
        first: first.estimate(metric),
        second: second.estimate(metric),
        paired: statistics::paired(&second.by_seed(metric), &first.by_seed(metric)),
        p: None,
    }
}

fn correct(differences: &mut [Difference]) {
    let raw = |difference: &Difference| difference.paired.and_then(|paired| paired.p);
    let known: Vec<f64> = differences.iter().filter_map(raw).collect();
    let mut adjusted = statistics::holm(&known).into_iter();
    for difference in differences.iter_mut().filter(|difference| raw(difference).is_some()) {
        difference.p = adjusted.next();
    }
}

/// The differences for a terminal; a star marks the significant ones.
pub fn terminal_table(compared: &Compared) -> String {
    let mut table = terminal::plain_table(["point", "metric", "first", "second", "difference", "p", ""]);
    for made in &compared.differences {
        let point: Vec<String> = made.values.iter().map(|(name, text)| format!("{name}={text}")).collect();
        table.add_row(vec![
            point.join(" "),
            made.metric.clone(),
            terminal::told(made.first),
            terminal::told(made.second),
            terminal::told(made.paired.map(|paired| paired.difference)),
            made.p.map_or_else(|| "–".into(), number),
            if made.significant() { "*".into() } else { String::new() },
        ]);
    }
    terminal::align_right(&mut table, 2);
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Build, Row};

    fn results(router: &str, delivered: &[f64]) -> Results {
        let row = |(seed, value): (u64, &f64)| Row {
            point: 0,
            seed,
            values: vec![("router".into(), router.into())],
            metrics: vec![("delivery_prob".into(), *value), ("created".into(), 100.0)],
        };
        Results {
            build: Build { version: "1".into(), commit: "c".into() },
            scenario: String::new(),
            rows: (1..).zip(delivered).map(row).collect(),
        }
    }

    #[test]
    fn a_shift_of_every_seed_is_significant_and_equality_is_not() {
        let made = compare(
            &results("epidemic", &[0.1, 0.5, 0.9, 0.3]),
            &results("epidemic", &[0.2, 0.601, 1.0, 0.4]),
        );
        assert!(made.differences[0].significant());
        assert!(made.differences[0].paired.unwrap().difference.mean > 0.0);
        assert!(!made.differences[1].significant());
        assert!(terminal_table(&made).contains('*'));
    }

    #[test]
    fn points_of_one_side_are_counted_not_compared() {
        let made = compare(&results("epidemic", &[0.1]), &results("prophet", &[0.1]));
        assert_eq!((made.differences.len(), made.only_first, made.only_second), (0, 1, 1));
    }

    #[test]
    fn one_seed_proves_nothing() {
        let made = compare(&results("epidemic", &[0.1]), &results("epidemic", &[0.9]));
        assert_eq!(made.differences[0].p, None);
        assert!(!made.differences[0].significant());
    }
}
