//! Which points of a sweep are shown side by side.

use super::{Chosen, of_point};
use crate::report::RANKED;
use crate::results::Results;
use lightlag_page::Source;
use lightlag_scenario::{Error, Place, Point, Points, Result, ScenarioFile, Seed};

/// Axes that are compared, the first that a sweep has.
const COMPARED: [&str; 5] = ["mechanism", "router", "controller", "transport", "queue"];

/// Treatments that are compared, where a sweep has both.
const PAIR: [&str; 2] = ["none", "copy_value"];

/// One or two runs of a scenario: the point that is chosen; else, of a sweep, two that differ in one axis only. They are `none` and
/// `copy_value` where it has both; else, by `results`, a baseline and the best; without results the first two.
///
/// # Errors
/// What is wrong with the scenario; a point that it does not have.
pub fn of_scenario(file: &ScenarioFile, chosen: Chosen, results: Option<&Results>) -> Result<Vec<Source>> {
    let points = file.points()?;
    let first = results.and_then(|results| results.seeds().first().copied());
    let seed = match chosen.seed.or(first) {
        Some(number) => Seed::Number(number),
        None => file.seeds()?.first().copied().unwrap_or(Seed::Own),
    };
    // The run that settings of The ONE describe has a number in results, too.
    let is_own = |point: &Point| {
        chosen.seed.is_none() && file.seeds().is_ok_and(|all| all == [Seed::Own]) && {
            let own = point.scenario.head().own_seed;
            seed == Seed::Own || seed == Seed::Number(own)
        }
    };
    let shown: Vec<&Point> = match chosen.point {
        Some(number) => vec![points.list.get(number).ok_or_else(|| {
            let what = format!("no point has number {number}");
            Error::new(
                &Place::Option("point".into()),
                what,
                format!("choose one of 0 to {}", points.list.len() - 1),
            )
        })?],
        None => pair(&points, results),
    };
    shown
        .into_iter()
        .map(|point| of_point(file, &points, point, if is_own(point) { Seed::Own } else { seed }))
        .collect()
}

/// The points that are shown: two that differ in one axis only, the baseline first; one where there are no others.
fn pair<'a>(points: &'a Points, results: Option<&Results>) -> Vec<&'a Point> {
    let all: Vec<&Point> = points.list.iter().collect();
    let Some(axis) = all.first().and_then(|first| compared(first)) else {
        return all.into_iter().take(1).collect();
    };
    let (means, value) = (Means::of(results), |point: &Point| point.values[axis].1.clone());
    let of = |name: &str| all.iter().copied().filter(|point| value(point) == name).collect::<Vec<_>>();
    let [without, with] = PAIR.map(of);
    let better = match (without.is_empty() || with.is_empty(), results) {
        (false, _) => means.best(&with),
        (true, Some(_)) => means.best(&all),
        (true, None) => all.get(1).copied(),
    };
    let Some(better) = better else { return all };
    let others = |point: &Point| {
        let mut values = point.values.clone();
        values.remove(axis);
        values
    };
    let is_beside = |point: &&Point| value(point) != value(better) && others(point) == others(better);
    let beside: Vec<&Point> = all.iter().copied().filter(is_beside).collect();
    let baseline = beside.iter().find(|point| value(point) == PAIR[0]).or(beside.first());
    baseline.copied().into_iter().chain([better]).collect()
}

/// Which axis is compared.
fn compared(point: &Point) -> Option<usize> {
    let is = |path: &str, name: &str| {
        path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let find = |name: &&str| point.values.iter().position(|(path, _)| is(path, name));
    COMPARED.iter().find_map(find).or((!point.values.is_empty()).then_some(0))
}

/// What says which point is best: the mean over the seeds.
struct Means<'a> {
    metric: &'static str,
    points: Vec<crate::results::Point<'a>>,
}

impl<'a> Means<'a> {
    fn of(results: Option<&'a Results>) -> Self {
        let has = |metric: &&&str| {
            results.is_some_and(|all| all.rows.iter().any(|row| row.metric(metric).is_some()))
        };
        let metric = RANKED.iter().map(|(metric, ..)| metric).find(has).copied().unwrap_or_default();
        Self { metric, points: results.map(Results::points).unwrap_or_default() }
    }
    /// The best of these points, of equal ones the first.
    fn best<'p>(&self, among: &[&'p Point]) -> Option<&'p Point> {
        let by_mean = |one: &&Point, other: &&Point| self.of_point(one).total_cmp(&self.of_point(other));
        among.iter().copied().rev().max_by(|one, other| by_mean(one, other))
    }
    fn of_point(&self, point: &Point) -> f64 {
        let known = self.points.iter().find(|known| known.values == point.values);
        let number = known.and_then(|known| known.estimate(self.metric)).map(|estimate| estimate.mean);
        number.filter(|number| number.is_finite()).unwrap_or(f64::NEG_INFINITY)
    }
}
