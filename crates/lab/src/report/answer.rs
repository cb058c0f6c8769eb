//! What a sweep says, in sentences: what won, by how much, how sure that is, and where the rest was lost.

use crate::metrics::number;
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

/// The sentences; none where nothing was measured or nothing is compared.
pub fn answer(results: &Results) -> Vec<String> {
    let points = results.points();
    let measured =
        |(metric, ..): &&(&str, &str, &str)| points.iter().any(|point| mean(point, metric).is_some());
    let Some((metric, title, unit)) = RANKED.iter().find(measured) else { return Vec::new() };
    let mut ranked: Vec<(f64, &Point)> =
        points.iter().filter_map(|point| Some((mean(point, metric)?, point))).collect();
    // Of equals the first.
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let [(_, best), (_, second), ..] = ranked[..] else { return Vec::new() };
    let mut others = ranked.iter().map(|(_, point)| *point);
    let next = others.find(|point| compared(point) != compared(best)).unwrap_or(second);
    let amount = |point: &Point| interval_text(point.estimate(metric));
    let first = format!("Highest {title}: {}{unit}, {}.", amount(best), named(best));
    let second =
        format!("Best other: {}{unit}, {}; {}.", amount(next), named(next), difference(best, next, metric));
    [Some(first), Some(second), lost(best)].into_iter().flatten().collect()
}

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
        Some((mean, half)) if half < mean => {
            format!("the difference, {} ± {} by pairs of seeds, is beyond chance", number(mean), number(half))
        }
        Some((mean, half)) => {
            format!("the difference, {} ± {} by pairs of seeds, may be chance", number(mean), number(half))
        }
        None => "one seed does not say whether that is chance".to_owned(),
    }
}

/// What limits the best one.
fn lost(point: &Point) -> Option<String> {
    let parts: Vec<String> = LOST
        .iter()
        .filter_map(|(metric, words)| Some((mean(point, metric)?, words)))
        .filter(|(count, _)| *count > 0.0)
        .map(|(count, words)| format!("{} {words}", number(count)))
        .collect();
    let created = mean(point, "created")?;
    (!parts.is_empty())
        .then(|| format!("Of {} bundles the best lost these: {}.", number(created), parts.join("; ")))
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
        let made = answer(&results(&[("none", &[0.2, 0.3, 0.25]), ("credit", &[0.5, 0.6, 0.55])]));
        assert_eq!(made[0], "Highest delivery ratio: 0.55 ± 0.1242, mechanism credit.");
        assert!(
            made[1].starts_with("Best other: 0.25 ± 0.1242, mechanism none; the difference, 0.3 ± "),
            "{}",
            made[1]
        );
        assert!(made[1].ends_with("is beyond chance."), "{}", made[1]);
        assert_eq!(made[2], "Of 100 bundles the best lost these: 5 copies were dropped for lack of room.");
    }

    #[test]
    fn chance_and_a_single_seed_are_named() {
        let near = answer(&results(&[("none", &[0.2, 0.4]), ("credit", &[0.35, 0.3])]));
        assert!(near[1].ends_with("may be chance."), "{}", near[1]);
        let single = answer(&results(&[("none", &[0.2]), ("credit", &[0.3])]));
        assert!(single[1].ends_with("one seed does not say whether that is chance."), "{}", single[1]);
        assert_eq!(answer(&results(&[("none", &[0.2])])), [""; 0], "nothing is compared");
    }
}
