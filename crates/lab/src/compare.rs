//! Two sweeps, or two runs, side by side: what differs, and whether chance explains it.

use crate::explain::words::count;
use crate::results::{Point, Results};
use crate::results::{number, terminal};
use crate::statistics::{self, Estimate, Paired};
use crate::sweep;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Below this corrected probability a difference is called significant.
pub const SIGNIFICANCE: f64 = 0.05;

/// Metrics that are compared unless others are asked for: the first four of these that both sweeps have.
pub const HEADLINES: [&str; 8] = [
    "delivery_prob",
    "censored_delay_avg",
    "bytes_per_delivered_byte",
    "dropped",
    "goodput_bit_per_s",
    "duration_s",
    "packets_repaired",
    "jain",
];
const HEADLINES_SHOWN: usize = 4;

/// Which metrics are compared. Probabilities are corrected for as many differences as these make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// The [`HEADLINES`].
    #[default]
    Headlines,
    /// All that both sweeps have.
    All,
    /// These.
    Named(Vec<String>),
}

impl From<Vec<String>> for Asked {
    /// No names: the headlines; `all` alone: all.
    fn from(names: Vec<String>) -> Self {
        match &names[..] {
            [] => Self::Headlines,
            [all] if all == "all" => Self::All,
            _ => Self::Named(names),
        }
    }
}

/// One metric at two points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The scenario's values.
    pub values: Vec<(String, String)>,
    /// Which metric.
    pub metric: String,
    /// The first sweep, over common seeds.
    pub first: Option<Estimate>,
    /// The second sweep, over common seeds.
    pub second: Option<Estimate>,
    /// Second minus first over common seeds.
    pub paired: Option<Paired>,
    /// The difference as a share of the first sweep's mean; none where that is 0 or unknown.
    pub change: Option<f64>,
    /// p-value of the difference, after Holm's correction over all differences.
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
    /// One for each pair of points that belong together and each metric: by metric, those with the largest change first.
    pub differences: Vec<Difference>,
    /// How many points of the first sweep have no counterpart.
    pub only_first: usize,
    /// How many points of the second sweep have no counterpart.
    pub only_second: usize,
    /// How many seeds of the first sweep the second does not have: their runs do not count.
    pub seeds_only_first: usize,
    /// How many seeds of the second sweep the first does not have.
    pub seeds_only_second: usize,
}

/// Why two sweeps cannot be compared; one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing says which points belong together.
    #[error(
        "only the first varies {first} and only the second varies {second}; fix one of them, as with --set \
         {first}=..."
    )]
    DifferentAxes {
        /// What the second does not vary.
        first: String,
        /// What the first does not vary.
        second: String,
    },
    /// The shared axes have no shared values.
    #[error("no point of one sweep is a point of the other ({axes}); sweep the same values in both")]
    NoCommonPoint {
        /// The axes that both have.
        axes: String,
    },
    /// Points that belong together were not run under one seed.
    #[error("no seed is in both ({first} and {second}); run both with the same seeds")]
    NoCommonSeed {
        /// Seeds of the first.
        first: String,
        /// Seeds of the second.
        second: String,
    },
    /// Runs of two worlds have nothing to compare.
    #[error("the first is of {first} and the second of {second}; compare runs of one kind of scenario")]
    DifferentWorlds {
        /// The world of the first.
        first: &'static str,
        /// The world of the second.
        second: &'static str,
    },
    /// Made by programs that measure other things.
    #[error("they have no figure in common; run both again with this version")]
    NoCommonMetric,
    /// One of the sweeps does not have it.
    #[error("they have no metric `{name}` in common; they have {known}")]
    UnknownMetric {
        /// What was asked for.
        name: String,
        /// What both have.
        known: String,
    },
    /// The sweep does not vary it, or the name stands for several axes.
    #[error("{0}")]
    UnknownAxis(String),
    /// The axis does not have this value.
    #[error("`{axis}` is never `{value}`; it is one of {known}")]
    UnknownValue {
        /// The axis.
        axis: String,
        /// What was asked for.
        value: String,
        /// Its values.
        known: String,
    },
}

/// Divides a sweep by one of its axes, to compare its values: the runs with the value `base` (default: the first), without
/// the axis, and all others.
///
/// # Errors
/// The sweep has no such axis, or the axis no such value.
pub fn by(results: &Results, axis: &str, base: Option<&str>) -> Result<(Results, Results), Error> {
    let axis = results.axis(axis).map_err(Error::UnknownAxis)?;
    let axis = axis.as_str();
    let mut known: Vec<&str> = Vec::new();
    for value in results.rows.iter().filter_map(|row| row.value(axis)) {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    let base = base.or_else(|| known.first().copied()).unwrap_or_default();
    if !known.contains(&base) {
        let (axis, value) = (axis.to_owned(), base.to_owned());
        return Err(Error::UnknownValue { axis, value, known: known.join(", ") });
    }
    let of = |is_base: bool| {
        let rows = results.rows.iter().filter(move |row| (row.value(axis) == Some(base)) == is_base);
        Results { rows: rows.cloned().collect(), ..results.clone() }
    };
    let (mut one, others) = (of(true), of(false));
    one.rows.iter_mut().for_each(|row| row.values.retain(|(name, _)| name != axis));
    Ok((one, others))
}

/// Compares the points that belong together: those with the same values on the axes that both sweeps have.
///
/// An axis that only one sweep has stays: each of its points meets the one of the other sweep. So a sweep over
/// mechanisms can be compared with one in which the mechanism is fixed.
///
/// # Errors
/// There is nothing to compare.
pub fn compare(first: &Results, second: &Results, asked: &Asked) -> Result<Compared, Error> {
    if let (Some(first), Some(second)) = (world(first), world(second))
        && first != second
    {
        return Err(Error::DifferentWorlds { first, second });
    }
    let axes = common_axes(first, second)?;
    let (first_points, second_points) = (first.points(), second.points());
    let pairs = pairs(&first_points, &second_points, &axes);
    if pairs.is_empty() {
        return Err(Error::NoCommonPoint { axes: axes.join(", ") });
    }
    if !pairs.iter().any(|(one, two)| share_a_seed(one, two)) {
        return Err(Error::NoCommonSeed { first: seeds(first), second: seeds(second) });
    }
    let metrics = metrics(first, second, asked)?;
    let mut differences: Vec<Difference> = Vec::new();
    for (one, two) in pairs {
        let (one, two) = (with_seeds_of(one, two), with_seeds_of(two, one));
        differences.extend(metrics.iter().map(|metric| difference(&one, &two, metric)));
    }
    correct(&mut differences);
    let size = |made: &Difference| made.change.map_or(-1.0, f64::abs);
    differences.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let place = |made: &Difference| metrics.iter().position(|metric| *metric == made.metric);
    differences.sort_by_key(place);
    let seeds = [first, second].map(|results| BTreeSet::from_iter(results.seeds()));
    let alone = |points: &[Point<'_>], others: &[Point<'_>]| {
        let known: BTreeSet<Key<'_>> = others.iter().map(|point| key(point, &axes)).collect();
        points.iter().filter(|point| !known.contains(&key(point, &axes))).count()
    };
    Ok(Compared {
        differences,
        only_first: alone(&first_points, &second_points),
        only_second: alone(&second_points, &first_points),
        seeds_only_first: seeds[0].difference(&seeds[1]).count(),
        seeds_only_second: seeds[1].difference(&seeds[0]).count(),
    })
}

/// What the runs are of, by what was measured.
fn world(results: &Results) -> Option<&'static str> {
    let row = results.rows.first()?;
    let worlds =
        [("interests_sent", "names"), ("delivery_prob", "bundles"), ("goodput_bit_per_s", "packets")];
    worlds.into_iter().find_map(|(metric, world)| row.metric(metric).map(|_| world))
}

/// The keys in which the scenarios differ besides the axes of the sweeps. Results of single runs have only their simulated
/// time.
pub fn differing_keys(first: &Results, second: &Results) -> Vec<String> {
    let mut axes = first.value_columns();
    axes.extend(second.value_columns());
    let is_axis = |key: &str| {
        axes.iter()
            .any(|axis| axis.strip_suffix(key).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    };
    let mut keys = sweep::differing_keys(&first.scenario, &second.scenario);
    let time = |results: &Results| results.rows.first().and_then(|row| row.metric("sim_time"));
    if keys.is_empty() && time(first) != time(second) {
        keys.push("duration".to_owned());
    }
    keys.retain(|key| !is_axis(key));
    keys
}

fn metrics(first: &Results, second: &Results, asked: &Asked) -> Result<Vec<String>, Error> {
    let of_second = second.metric_columns();
    let mut common = first.metric_columns();
    common.retain(|name| of_second.contains(name));
    if common.is_empty() {
        return Err(Error::NoCommonMetric);
    }
    let headlines = HEADLINES.iter().filter(|name| common.iter().any(|known| known == *name));
    let headlines: Vec<String> = headlines.take(HEADLINES_SHOWN).map(|&name| name.to_owned()).collect();
    match asked {
        Asked::Headlines if !headlines.is_empty() => Ok(headlines),
        Asked::Headlines | Asked::All => Ok(common),
        Asked::Named(names) => match names.iter().find(|name| !common.contains(name)) {
            Some(name) => Err(Error::UnknownMetric { name: name.clone(), known: common.join(", ") }),
            None => Ok(names.clone()),
        },
    }
}

/// The axes that both have; at most one sweep may have others, or a point would have many counterparts.
fn common_axes(first: &Results, second: &Results) -> Result<Vec<String>, Error> {
    let (first, second) = (first.value_columns(), second.value_columns());
    let missing = |from: &[String], of: &[String]| -> Vec<String> {
        of.iter().filter(|name| !from.contains(name)).cloned().collect()
    };
    let (only_first, only_second) = (missing(&second, &first), missing(&first, &second));
    if let (Some(first), Some(second)) = (only_first.first(), only_second.first()) {
        return Err(Error::DifferentAxes { first: first.clone(), second: second.clone() });
    }
    Ok(first.into_iter().filter(|name| second.contains(name)).collect())
}

/// A point's values on the common axes; none where the axis is not one of this point.
type Key<'a> = Vec<Option<&'a str>>;

fn key<'a>(point: &Point<'a>, axes: &[String]) -> Key<'a> {
    let value =
        |axis: &String| point.values.iter().find(|(name, _)| name == axis).map(|(_, text)| text.as_str());
    axes.iter().map(value).collect()
}

fn pairs<'p, 'a>(
    first: &'p [Point<'a>],
    second: &'p [Point<'a>],
    axes: &[String],
) -> Vec<(&'p Point<'a>, &'p Point<'a>)> {
    let mut counterparts: BTreeMap<Key<'a>, Vec<&'p Point<'a>>> = BTreeMap::new();
    for point in second {
        counterparts.entry(key(point, axes)).or_default().push(point);
    }
    let of = |point: &'p Point<'a>| {
        counterparts.get(&key(point, axes)).into_iter().flatten().map(move |two| (point, *two))
    };
    first.iter().flat_map(of).collect()
}

fn share_a_seed(first: &Point<'_>, second: &Point<'_>) -> bool {
    first.rows.iter().any(|row| second.rows.iter().any(|other| other.seed == row.seed))
}

/// The seeds as an error lists them: the first few.
fn seeds(results: &Results) -> String {
    let seeds = results.seeds();
    let few: Vec<String> = seeds.iter().take(5).map(u64::to_string).collect();
    few.join(",") + if seeds.len() > 5 { ",..." } else { "" }
}

/// The values of both; those that only the second has come last.
fn values(first: &Point<'_>, second: &Point<'_>) -> Vec<(String, String)> {
    let mut values = first.values.to_vec();
    let own = second.values.iter().filter(|(name, _)| first.values.iter().all(|(known, _)| known != name));
    values.extend(own.cloned());
    values
}

/// A point's runs under seeds that the other has too.
fn with_seeds_of<'a>(point: &Point<'a>, other: &Point<'_>) -> Point<'a> {
    let seeds: BTreeSet<u64> = other.rows.iter().map(|row| row.seed).collect();
    let rows = point.rows.iter().filter(|row| seeds.contains(&row.seed)).copied().collect();
    Point { values: point.values, rows }
}

fn difference(first: &Point<'_>, second: &Point<'_>, metric: &str) -> Difference {
    let paired = statistics::paired(&second.by_seed(metric), &first.by_seed(metric));
    let estimate = first.estimate(metric);
    let mean = estimate.map(|made| made.mean.abs()).filter(|mean| *mean > 0.0);
    Difference {
        values: values(first, second),
        metric: metric.to_string(),
        first: estimate,
        second: second.estimate(metric),
        paired,
        change: paired.zip(mean).map(|(paired, mean)| paired.difference.mean / mean),
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

/// What of the sweeps does not count, a line each; `names` are those of the sweeps.
pub fn left_out(compared: &Compared, names: [&str; 2]) -> Vec<String> {
    let Compared { only_first, only_second, seeds_only_first, seeds_only_second, .. } = *compared;
    let [first, second] = names;
    [
        (only_first, "point", first, second),
        (only_second, "point", second, first),
        (seeds_only_first, "seed", first, second),
        (seeds_only_second, "seed", second, first),
    ]
    .into_iter()
    .filter(|row| row.0 > 0)
    .map(|(number, what, of, other)| {
        let has = if number == 1 { "does not have it" } else { "does not have them" };
        format!("left out {} of {of}: {other} {has}", count(number as u64, what))
    })
    .collect()
}

/// How many differences are significant, and of how many seeds they are made.
fn summary(compared: &Compared) -> String {
    let all = &compared.differences;
    let sure = all.iter().filter(|made| made.significant()).count();
    let seeds = all.iter().filter_map(|made| Some(made.first?.n)).max().unwrap_or(0);
    if seeds < 2 {
        return "One seed each: nothing says whether chance explains a difference; `lightlag sweep` runs several seeds.".to_owned();
    }
    let metrics: BTreeSet<&str> = all.iter().map(|made| made.metric.as_str()).collect();
    let advice = match seeds {
        0..10 if sure < all.len() => "; more seeds make it sharper",
        _ if metrics.len() > 1 => "; fewer metrics (--metric) make it sharper",
        _ => "",
    };
    format!(
        "{sure} of {} differences are significant (*: p below {SIGNIFICANCE} after Holm's correction, {seeds} seeds{advice}).",
        all.len()
    )
}

/// The differences for a terminal, after a line that counts them; a star marks the significant ones. `names` are those of
/// the sweeps.
pub fn terminal_table(compared: &Compared, names: [&str; 2]) -> String {
    let [first, second] = names;
    let has_points = compared.differences.iter().any(|made| !made.values.is_empty());
    let head = ["point", "metric", first, second, "difference", "change", "p", ""];
    let mut table = crate::text_table::plain_table(head.into_iter().skip(usize::from(!has_points)));
    for made in &compared.differences {
        let point: Vec<String> = made.values.iter().map(|(name, text)| format!("{name}={text}")).collect();
        let mut row = if has_points { vec![point.join(" ")] } else { Vec::new() };
        row.extend([
            made.metric.clone(),
            terminal::interval_text(made.first),
            terminal::interval_text(made.second),
            terminal::interval_text(made.paired.map(|paired| paired.difference)),
            made.change.map_or_else(|| "–".into(), |change| format!("{:+.1} %", 100.0 * change)),
            made.p.map_or_else(|| "–".into(), number),
            if made.significant() { "*".into() } else { String::new() },
        ]);
        table.add_row(row);
    }
    crate::text_table::align_right(&mut table, 1 + usize::from(has_points));
    format!("{}\n{table}", summary(compared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Build, Row};

    fn point(point: usize, values: &[(&str, &str)], delivered: &[f64]) -> Vec<Row> {
        let values: Vec<_> = values.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let row = |(seed, value): (u64, &f64)| Row {
            point,
            seed,
            values: values.clone(),
            metrics: vec![("delivery_prob".into(), *value), ("created".into(), 100.0)],
        };
        (1..).zip(delivered).map(row).collect()
    }

    fn sweep(rows: Vec<Row>) -> Results {
        let build = Build { version: "1".into(), commit: "c".into() };
        Results { build, scenario: String::new(), rows, missing: 0 }
    }

    fn results(router: &str, delivered: &[f64]) -> Results {
        sweep(point(0, &[("router", router)], delivered))
    }

    #[test]
    fn a_shift_of_every_seed_is_significant_and_equality_is_not() {
        let made = compare(
            &results("epidemic", &[0.1, 0.5, 0.9, 0.3]),
            &results("epidemic", &[0.2, 0.601, 1.0, 0.4]),
            &Asked::All,
        )
        .unwrap();
        assert!(made.differences[0].significant());
        assert!(made.differences[0].paired.unwrap().difference.mean > 0.0);
        assert!(!made.differences[1].significant());
        let table = terminal_table(&made, ["before", "after"]);
        assert!(table.starts_with("1 of 2 differences are significant (*: p below 0.05"), "{table}");
        assert!(table.contains("before") && table.contains("after"), "{table}");
    }

    #[test]
    fn points_of_one_side_are_counted_not_compared() {
        let both = [point(0, &[("router", "epidemic")], &[0.1]), point(1, &[("router", "prophet")], &[0.1])];
        let made = compare(&sweep(both.concat()), &results("prophet", &[0.1]), &Asked::All).unwrap();
        assert_eq!((made.differences.len(), made.only_first, made.only_second), (2, 1, 0));
    }

    #[test]
    fn an_axis_of_one_side_stays_and_its_points_meet_the_one_of_the_other() {
        let points = [
            point(0, &[("mechanism", "none"), ("buffer", "1 MB")], &[0.1]),
            point(1, &[("mechanism", "none"), ("buffer", "2 MB")], &[0.2]),
            point(2, &[("mechanism", "rrcc"), ("buffer", "1 MB")], &[0.3]),
        ];
        let (many, one) = (sweep(points.concat()), sweep(point(0, &[("buffer", "1 MB")], &[0.5])));
        for (made, sign) in [
            (compare(&many, &one, &Asked::All).unwrap(), 1.0),
            (compare(&one, &many, &Asked::All).unwrap(), -1.0),
        ] {
            let told: Vec<_> = made.differences.iter().filter(|d| d.metric == "delivery_prob").collect();
            let mechanisms = told.iter().map(|d| &d.values.iter().find(|v| v.0 == "mechanism").unwrap().1);
            assert_eq!(mechanisms.collect::<Vec<_>>(), ["none", "rrcc"]);
            assert!((told[0].paired.unwrap().difference.mean - sign * 0.4).abs() < 1e-12);
            assert_eq!(made.only_first + made.only_second, 1);
        }
    }

    #[test]
    fn sweeps_with_nothing_in_common_are_refused_in_one_line() {
        let told =
            |first: &Results, second: &Results| compare(first, second, &Asked::All).unwrap_err().to_string();
        let epidemic = results("epidemic", &[0.1, 0.2]);
        assert!(told(&epidemic, &results("prophet", &[0.1])).contains("no point of one sweep"));
        let buffer = sweep(point(0, &[("buffer", "1 MB")], &[0.1]));
        assert!(
            told(&epidemic, &buffer)
                .starts_with("only the first varies router and only the second varies buffer")
        );
        let mut later = epidemic.clone();
        later.rows.iter_mut().for_each(|row| row.seed += 2);
        assert!(told(&epidemic, &later).starts_with("no seed is in both (1,2 and 3,4)"));
        let mut other = epidemic.clone();
        other.rows.iter_mut().for_each(|row| row.metrics.clear());
        assert!(told(&epidemic, &other).contains("no figure in common"));
    }

    #[test]
    fn only_seeds_that_both_sweeps_have_count() {
        let (few, many) = (results("epidemic", &[0.1, 0.2]), results("epidemic", &[0.1, 0.2, 0.9]));
        let made = compare(&few, &many, &Asked::Named(vec!["delivery_prob".into()])).unwrap();
        let one = &made.differences[0];
        assert_eq!(one.first, one.second, "the third seed does not count");
        assert_eq!(left_out(&made, ["A", "B"]), ["left out 1 seed of B: A does not have it"]);
    }

    #[test]
    fn one_seed_proves_nothing() {
        let made = compare(&results("epidemic", &[0.1]), &results("epidemic", &[0.9]), &Asked::All).unwrap();
        assert_eq!(made.differences[0].p, None);
        assert!(!made.differences[0].significant());
    }

    #[test]
    fn the_values_of_one_axis_are_compared_with_one_of_them_and_the_largest_change_stands_first() {
        let points = [
            point(0, &[("mechanism", "none"), ("buffer", "1 MB")], &[0.5, 0.6]),
            point(1, &[("mechanism", "rrcc"), ("buffer", "1 MB")], &[0.4, 0.5]),
            point(2, &[("mechanism", "credit"), ("buffer", "1 MB")], &[0.9, 1.0]),
        ];
        let (base, others) = by(&sweep(points.concat()), "mechanism", None).unwrap();
        let made = compare(&base, &others, &Asked::Headlines).unwrap().differences;
        let shown: Vec<_> =
            made.iter().map(|made| (made.values[1].1.as_str(), made.metric.as_str(), made.change)).collect();
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert_eq!((shown[0].0, shown[1].0), ("credit", "rrcc"));
        assert!(
            (shown[0].2.unwrap() - 0.4 / 0.55).abs() < 1e-9 && shown[0].1 == "delivery_prob",
            "{shown:?}"
        );
        let shown = |made: Result<_, Error>| made.err().unwrap().to_string();
        assert_eq!(
            shown(by(&sweep(points.concat()), "router", None)),
            "the sweep does not vary `router`; it varies mechanism, buffer"
        );
        assert_eq!(
            shown(by(&sweep(points.concat()), "mechanism", Some("x"))),
            "`mechanism` is never `x`; it is one of none, rrcc, credit"
        );
        let missing = compare(&base, &others, &Asked::Named(vec!["speed".into()])).unwrap_err().to_string();
        assert_eq!(missing, "they have no metric `speed` in common; they have delivery_prob, created");
    }

    #[test]
    fn probabilities_are_corrected_for_what_was_asked_alone() {
        let (first, second) =
            (results("epidemic", &[0.1, 0.2, 0.4]), results("epidemic", &[0.21, 0.29, 0.51]));
        let p = |asked| compare(&first, &second, &asked).unwrap().differences[0].p.unwrap();
        let one = p(Asked::Named(vec!["delivery_prob".into()]));
        assert!((p(Asked::All) - 2.0 * one).abs() < 1e-12, "two metrics double it");
    }
}
