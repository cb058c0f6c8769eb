//! What a sweep says, in sentences: what won, by how much, how sure that is, and where the rest was lost.

use super::{Colours, Front, HeatMap, Measure};
use crate::metrics::{is_share, number};
use crate::results::{Point, Results, interval_text};
use crate::statistics::estimate;

/// What points are ranked by, the first that was measured, with what it is called and its unit; more is better.
pub(crate) const RANKED: [(&str, &str, &str); 4] = [
    ("delivery_prob", "delivery ratio", ""),
    ("goodput_bit_per_s", "goodput", " bit/s"),
    ("satisfied", "number of satisfied Interests", ""),
    ("delivered_bytes", "number of bytes delivered", ""),
];
/// Where bundles are lost, and how that is said.
const LOST: [(&str, &str); 4] = [
    ("rejected", "bundles found no room where they were created"),
    ("dropped_overflow", "copies were dropped for lack of room"),
    ("dropped_expired", "copies expired"),
    ("waiting", "bundles still waited at the application"),
];

/// The first screen of a sweep's report; nothing where nothing was measured or nothing is compared.
pub fn front(results: &Results) -> Front {
    let points = results.points();
    let Some(ranked) = Ranked::of(&points) else { return Front::default() };
    let (best, next) = (ranked.best, ranked.next());
    let value = |point: &Point| format!("{}{}", interval_text(point.estimate(ranked.metric)), ranked.unit);
    let measure = |title: &str, point: &Point| {
        let made = Measure::new(format!("{title} {}", ranked.title), value(point), named(point));
        if is_share(ranked.metric) {
            made.of_bound(mean(point, ranked.metric).unwrap_or(f64::NAN))
        } else {
            made
        }
    };
    let more = ALSO.iter().filter_map(|(metric, title, unit)| {
        point_text(best, metric).map(|text| Measure::new(*title, format!("{text}{unit}"), "of the best"))
    });
    let measures = [measure("highest", best), measure("best other", next)].into_iter().chain(more.take(2));
    Front { answer: ranked.sentences(), measures: measures.collect(), map: map(results, &ranked) }
}

/// What is shown of the best beside what it is ranked by.
const ALSO: [(&str, &str, &str); 4] = [
    ("latency_avg", "mean latency of what is delivered", " s"),
    ("overhead_ratio", "transfers per delivery beyond the last", ""),
    ("duration_s", "duration", " s"),
    ("jain", "Jain index", ""),
];

fn point_text(point: &Point, metric: &str) -> Option<String> {
    mean(point, metric).map(|_| interval_text(point.estimate(metric)))
}

/// Points by what they are ranked by.
struct Ranked<'p, 'r> {
    metric: &'static str,
    title: &'static str,
    unit: &'static str,
    /// The best.
    best: &'p Point<'r>,
    /// All others, the best first.
    others: Vec<&'p Point<'r>>,
}

impl<'p, 'r> Ranked<'p, 'r> {
    /// `None` where nothing was measured or nothing is compared.
    fn of(points: &'p [Point<'r>]) -> Option<Self> {
        let measured =
            |(metric, ..): &&(&str, &str, &str)| points.iter().any(|point| mean(point, metric).is_some());
        let (metric, title, unit) = RANKED.iter().find(measured)?;
        let mut ranked: Vec<(f64, &Point)> =
            points.iter().filter_map(|point| Some((mean(point, metric)?, point))).collect();
        // Of equals the first.
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut all = ranked.into_iter().map(|(_, point)| point);
        let (best, others) = (all.next()?, all.collect::<Vec<_>>());
        (!others.is_empty()).then_some(Self { metric, title, unit, best, others })
    }

    /// The best that is another algorithm; without any the second.
    fn next(&self) -> &'p Point<'r> {
        let mut others = self.others.iter().copied();
        others.find(|point| compared(point) != compared(self.best)).unwrap_or(self.others[0])
    }

    fn sentences(&self) -> Vec<String> {
        let Self { metric, title, unit, best, .. } = *self;
        let next = self.next();
        let amount = |point: &Point| interval_text(point.estimate(metric));
        let first = format!("Highest {title}: {}{unit}, {}.", amount(best), named(best));
        let second = format!(
            "Best other: {}{unit}, {}; {}.",
            amount(next),
            named(next),
            difference(best, next, metric)
        );
        [Some(first), Some(second), lost(best)].into_iter().flatten().collect()
    }
}

/// The measure over two axes: the algorithm that is compared and another axis, means over whatever else varies.
fn map(results: &Results, ranked: &Ranked<'_, '_>) -> Option<HeatMap> {
    let columns = results.value_columns();
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let is = |name: &str| columns.iter().find(|column| last(column) == name);
    let row = COMPARED.iter().find_map(|name| is(name)).or_else(|| columns.first())?;
    let column = COMPARED.iter().filter_map(|name| is(name)).chain(&columns).find(|column| *column != row)?;
    let all: Vec<&Point> = std::iter::once(ranked.best).chain(ranked.others.iter().copied()).collect();
    let value = |point: &Point, of: &str| {
        let found = point.values.iter().find(|(path, _)| path == of);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut cells: Vec<(String, String, Vec<f64>, String)> = Vec::new();
    // In the order of the points, not of their rank.
    for point in results.points() {
        let Some(number) = mean(&point, ranked.metric) else { continue };
        let (row, column) = (value(&point, row), value(&point, column));
        match cells.iter_mut().find(|(r, c, ..)| *r == row && *c == column) {
            Some(cell) => cell.2.push(number),
            None => cells.push((row, column, vec![number], interval_text(point.estimate(ranked.metric)))),
        }
    }
    let most = all.iter().filter_map(|point| mean(point, ranked.metric)).fold(0.0, f64::max);
    let several =
        if cells.iter().any(|cell| cell.2.len() > 1) { "Means over all else that varies." } else { "" };
    let unit = ranked.unit.trim();
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let title = format!("{}{unit}", ranked.title);
    let mut made = HeatMap::new((&title, several), [&last(row), &last(column)], Colours::UpTo(most));
    for (row, column, numbers, only) in cells {
        let average = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let shown = if numbers.len() == 1 { only } else { number(average) };
        made.add(&row, &column, average, &format!("{row}, {column}: {shown}"));
    }
    made.drawn()
}

/// Axes of algorithms, the first first.
const COMPARED: [&str; 4] = ["mechanism", "controller", "router", "transport"];

/// The algorithm of a point that others are compared with: its mechanism, or else its controller.
fn compared<'a>(point: &'a Point) -> Option<&'a str> {
    let of = |name: &str| point.values.iter().find(|(path, _)| path.rsplit('.').next() == Some(name));
    of("mechanism").or_else(|| of("controller")).map(|(_, value)| value.as_str())
}

fn mean(point: &Point, metric: &str) -> Option<f64> {
    point.estimate(metric).map(|made| made.mean).filter(|mean| mean.is_finite())
}

/// A point by its values, as in "router epidemic, mechanism none".
fn named(point: &Point) -> String {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().replace('_', " ");
    let values: Vec<String> =
        point.values.iter().map(|(path, value)| format!("{} {value}", last(path))).collect();
    if values.is_empty() { "the scenario".to_owned() } else { values.join(", ") }
}

/// How sure it is that one is better: by pairs of runs with the same seed.
fn difference(best: &Point, next: &Point, metric: &str) -> String {
    let of = |seed: u64| next.rows.iter().find(|row| row.seed == seed)?.metric(metric);
    let pairs: Vec<f64> =
        best.rows.iter().filter_map(|row| Some(row.metric(metric)? - of(row.seed)?)).collect();
    let made = estimate(&pairs);
    match made.and_then(|made| Some((made.mean, made.half_width?))) {
        Some((mean, half)) => {
            let surely = if half < mean { "is beyond chance" } else { "may be chance" };
            format!("the difference, {} by pairs of seeds, {surely}", interval_text(made))
        }
        None => "one seed does not say whether that is chance".to_owned(),
    }
}

/// What limits the best one.
fn lost(point: &Point) -> Option<String> {
    let of = |(metric, words): &(&str, &'static str)| Some((mean(point, metric)?, *words));
    let parts: Vec<(f64, &str)> = LOST.iter().filter_map(of).filter(|(count, _)| *count > 0.0).collect();
    let (created, delivered) = (mean(point, "created")?, mean(point, "delivered")?);
    let missing = created - delivered;
    let others = (parts.iter().map(|part| part.0).sum::<f64>() < missing)
        .then(|| "the others were in buffers or in flight at the end".to_owned());
    let words: Vec<String> =
        parts.iter().map(|(count, words)| format!("{} {words}", number(*count))).collect();
    let all: Vec<String> = words.into_iter().chain(others).collect();
    (missing > 0.0).then(|| {
        let of = format!("{} of {} bundles", number(missing), number(created));
        format!("The best did not deliver {of}: {}.", all.join("; "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Build, Row};

    fn results(values: &[(&str, &[f64])]) -> Results {
        let rows = values.iter().enumerate().flat_map(|(point, (mechanism, shares))| {
            (1..).zip(*shares).map(move |(seed, share)| Row {
                point,
                seed,
                values: vec![("mechanism".to_owned(), (*mechanism).to_owned())],
                metrics: vec![
                    ("delivery_prob".into(), *share),
                    ("created".into(), 100.0),
                    ("delivered".into(), 100.0 * *share),
                    ("dropped_overflow".into(), 5.0),
                ],
            })
        });
        Results {
            build: Build { version: "1".into(), commit: "c".into() },
            scenario: String::new(),
            rows: rows.collect(),
            missing: 0,
        }
    }

    #[test]
    fn the_best_comes_first_with_what_it_is_ahead_by_and_where_the_rest_was_lost() {
        let made = front(&results(&[("none", &[0.2, 0.3, 0.25]), ("credit", &[0.5, 0.6, 0.55])])).answer;
        assert_eq!(made[0], "Highest delivery ratio: 0.55 ± 0.12, mechanism credit.");
        assert!(
            made[1].starts_with("Best other: 0.25 ± 0.12, mechanism none; the difference, 0.3 ± "),
            "{}",
            made[1]
        );
        assert!(made[1].ends_with("is beyond chance."), "{}", made[1]);
        let lost = "The best did not deliver 45 of 100 bundles: 5 copies were dropped for lack of room; the others were in buffers or in flight at the end.";
        assert_eq!(made[2], lost);
    }

    #[test]
    fn chance_and_a_single_seed_are_named() {
        let near = front(&results(&[("none", &[0.2, 0.4]), ("credit", &[0.35, 0.3])])).answer;
        assert!(near[1].ends_with("may be chance."), "{}", near[1]);
        let single = front(&results(&[("none", &[0.2]), ("credit", &[0.3])])).answer;
        assert!(single[1].ends_with("one seed does not say whether that is chance."), "{}", single[1]);
        assert_eq!(front(&results(&[("none", &[0.2])])), Front::default(), "nothing is compared");
    }
}
