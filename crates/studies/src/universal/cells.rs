//! Ours beside the best of the others, cell by cell.

use super::treatments::Role;
use lightlag_lab::results::{Point, Results, Row};
use lightlag_lab::statistics::{self, ratio};
use std::collections::BTreeMap;

/// Columns of the table of runs: where nodes are, under which router, and what is different there.
pub const PLACE: &str = "place";
pub const ROUTER: &str = "router";
pub const CASE: &str = "case";
/// Which mechanism with which node policy, and what it is for.
pub const TREATMENT: &str = "treatment";
pub const ROLE: &str = "role";
/// The columns that distinguish cells.
pub const CELL: [&str; 3] = [PLACE, ROUTER, CASE];

/// The columns of a treatment in a cell.
pub fn columns(cell: [&str; 3], treatment: &str, role: Role) -> Vec<(String, String)> {
    let all = CELL.into_iter().zip(cell).chain([(TREATMENT, treatment), (ROLE, role.word())]);
    all.map(|(column, value)| (column.to_owned(), value.to_owned())).collect()
}

/// Smaller differences do not matter: of the delivery ratio itself, of the others as a share.
pub const AS_GOOD: f64 = 0.002;
/// Of the draws of every interval.
const SEED: u64 = 1;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bundles delivered of those created.
    Ratio,
    /// Mean delay of all that were created; those that did not arrive count up to the end of the run.
    Delay,
    /// Bytes sent for each byte that arrived at its destination for the first time.
    Bytes,
}

impl Measure {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Ratio, Self::Delay, Self::Bytes];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ratio => "delivery ratio",
            Self::Delay => "delay, undelivered counted (s)",
            Self::Bytes => "bytes sent per byte delivered",
        }
    }

    fn of(self, row: &Row) -> Option<f64> {
        match self {
            Self::Ratio => row.metric("delivery_prob"),
            Self::Delay => row.metric("censored_delay_avg"),
            Self::Bytes => Some(ratio(
                row.metric("sent_bytes")? + row.metric("control_bytes")?,
                row.metric("delivered_bytes")?,
            )),
        }
        .filter(|value| value.is_finite())
    }

    /// By how much the first is better than the second.
    fn gain(self, difference: f64) -> f64 {
        if self == Self::Ratio { difference } else { -difference }
    }

    fn margin(self, other: f64) -> f64 {
        if self == Self::Ratio { AS_GOOD } else { AS_GOOD * other }
    }

    fn by_seed(self, point: &Point<'_>) -> BTreeMap<u64, f64> {
        point.rows.iter().filter_map(|row| Some((row.seed, self.of(row)?))).collect()
    }

    /// Of both, by the seeds that both have.
    fn pairs(self, one: &Point<'_>, other: &Point<'_>) -> Vec<(f64, f64)> {
        let other = self.by_seed(other);
        self.by_seed(one).into_iter().filter_map(|(seed, value)| Some((value, *other.get(&seed)?))).collect()
    }

    /// Mean over the seeds.
    pub fn mean(self, point: &Point<'_>) -> Option<f64> {
        statistics::mean(&self.by_seed(point).into_values().collect::<Vec<_>>())
    }
}

/// How ours stands beside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// The interval of the difference leaves zero on the good side.
    Better,
    /// It holds zero, or the difference is too small to matter.
    AsGood,
    /// It leaves zero on the bad side.
    Worse,
}

/// A measure of ours minus that of another, seed by seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Mean of ours.
    pub ours: f64,
    /// Mean of the other.
    pub other: f64,
    /// Mean of the differences.
    pub mean: f64,
    /// 95% interval of the same by the bootstrap over seeds; of one pair none.
    pub interval: Option<(f64, f64)>,
    /// Two-sided p-value by Student's t; in a standing after Holm's correction.
    pub p: Option<f64>,
    /// What follows.
    pub grade: Grade,
}

impl Difference {
    /// Of two treatments of one cell; none without a common seed in which both have the measure.
    pub fn of(measure: Measure, ours: &Point<'_>, other: &Point<'_>) -> Option<Self> {
        let common = measure.pairs(ours, other);
        let differences: Vec<f64> = common.iter().map(|(ours, other)| ours - other).collect();
        let mean_of =
            |side: fn(&(f64, f64)) -> f64| statistics::mean(&common.iter().map(side).collect::<Vec<_>>());
        let (ours, other) = (mean_of(|pair| pair.0)?, mean_of(|pair| pair.1)?);
        let mean = statistics::mean(&differences)?;
        let interval = statistics::bootstrap(&differences, SEED);
        let grade = grade(measure, other, mean, interval);
        let p = statistics::test_zero(&differences).and_then(|test| test.p);
        Some(Self { ours, other, mean, interval, p, grade })
    }
}

fn grade(measure: Measure, other: f64, mean: f64, interval: Option<(f64, f64)>) -> Grade {
    let Some((low, high)) = interval else { return Grade::AsGood };
    if mean.abs() < measure.margin(other) || (low <= 0.0 && high >= 0.0) {
        Grade::AsGood
    } else if measure.gain(mean) > 0.0 {
        Grade::Better
    } else {
        Grade::Worse
    }
}

/// All treatments of one cell.
pub struct Cell<'a> {
    /// The columns of [`CELL`].
    pub values: [&'a str; 3],
    points: Vec<Point<'a>>,
}

impl<'a> Cell<'a> {
    fn new(values: [&'a str; 3]) -> Self {
        Self { values, points: Vec::new() }
    }

    /// Where nodes are.
    pub fn place(&self) -> &'a str {
        self.value(PLACE)
    }

    /// Under which router.
    pub fn router(&self) -> &'a str {
        self.value(ROUTER)
    }

    /// Place and router.
    pub fn row(&self) -> String {
        format!("{}, {}", self.place(), self.router())
    }

    /// What is different here.
    pub fn case(&self) -> &'a str {
        self.value(CASE)
    }

    /// Its name in sentences.
    pub fn described(&self) -> String {
        format!("{}, {}", self.row(), self.case())
    }

    fn value(&self, column: &str) -> &'a str {
        CELL.iter().zip(self.values).find(|(known, _)| **known == column).map_or("", |(_, value)| value)
    }

    /// All treatments.
    pub fn points(&self) -> impl Iterator<Item = &Point<'a>> {
        self.points.iter()
    }

    /// A treatment by its name.
    pub fn treatment(&self, name: &str) -> Option<&Point<'a>> {
        self.points.iter().find(|point| text(point, TREATMENT) == name)
    }

    /// Those of a role.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = &Point<'a>> {
        self.points.iter().filter(move |point| text(point, ROLE) == role.word())
    }

    /// Ours.
    pub fn ours(&self) -> Option<&Point<'a>> {
        self.of_role(Role::Ours).next()
    }

    /// All but the router.
    fn without_router(&self) -> [&'a str; 2] {
        [self.place(), self.case()]
    }

    /// What none can exceed: by the flow, or where that is too large by what can be reached.
    fn bound(&self) -> Option<f64> {
        let rows = &self.of_role(Role::Bound).next()?.rows;
        let most = |row: &&Row| row.metric("bound").or_else(|| row.metric("reachable"));
        statistics::mean(&rows.iter().filter_map(most).collect::<Vec<_>>())
    }

    /// What its router delivers where buffers are never full.
    pub fn unlimited(&self) -> Option<f64> {
        Measure::Ratio.mean(self.of_role(Role::Unlimited).next()?)
    }

    /// The one of the others with the highest mean delivery ratio, by the seeds that both have; of equals the one with
    /// the least delay.
    fn best_other(&self) -> Option<&Point<'a>> {
        self.of_role(Role::Other).reduce(|best, point| if delivers_more(point, best) { point } else { best })
    }
}

fn delivers_more(one: &Point<'_>, other: &Point<'_>) -> bool {
    let gain = |measure: Measure| -> f64 {
        measure.pairs(one, other).into_iter().map(|(one, other)| measure.gain(one - other)).sum()
    };
    let ratio = gain(Measure::Ratio);
    ratio > 0.0 || (ratio == 0.0 && gain(Measure::Delay) > 0.0)
}

/// A value in a column of all rows of a point.
pub fn text<'a>(point: &Point<'a>, column: &str) -> &'a str {
    point.values.iter().find(|(name, _)| name == column).map_or("", |(_, text)| text.as_str())
}

/// The cells of a table of results, in its order.
pub fn cells(results: &Results) -> Vec<Cell<'_>> {
    let mut cells: Vec<Cell<'_>> = Vec::new();
    let mut known: BTreeMap<[&str; 3], usize> = BTreeMap::new();
    for point in results.points() {
        let values = CELL.map(|column| text(&point, column));
        let index = *known.entry(values).or_insert(cells.len());
        if index == cells.len() {
            cells.push(Cell::new(values));
        }
        cells[index].points.push(point);
    }
    cells
}

/// How ours stands in a cell.
pub struct Standing<'a> {
    /// The cell.
    pub cell: Cell<'a>,
    /// The best of the others.
    pub other: &'a str,
    /// The most that any mechanism can deliver there, as a share.
    pub bound: Option<f64>,
    /// In the order of [`Measure::ALL`]; none where one of the two has no such measure, as it delivers nothing.
    pub differences: [Option<Difference>; 3],
}

impl Standing<'_> {
    /// By one measure.
    pub fn by(&self, measure: Measure) -> Option<&Difference> {
        let index = Measure::ALL.iter().position(|known| *known == measure)?;
        self.differences[index].as_ref()
    }
}

/// How ours stands in each cell, with probabilities corrected after Holm over all cells.
pub fn standings(results: &Results) -> Vec<Standing<'_>> {
    let cells = cells(results);
    let bounds: BTreeMap<_, _> =
        cells.iter().filter_map(|cell| Some((cell.without_router(), cell.bound()?))).collect();
    let bound = |cell: &Cell<'_>| bounds.get(&cell.without_router()).copied();
    let mut all: Vec<Standing<'_>> =
        cells.into_iter().filter_map(|cell| standing(bound(&cell), cell)).collect();
    (0..Measure::ALL.len()).for_each(|index| correct(&mut all, index));
    all
}

/// Facts of an introduction: the mechanism, cells, runs and bounds.
pub fn facts(results: &Results, standings: &[Standing<'_>]) -> Vec<(&'static str, String)> {
    let runs = results.rows.iter().filter(|row| row.metric("delivered").is_some()).count();
    vec![
        ("mechanism", super::treatments::MECHANISM.to_owned()),
        ("cells", standings.len().to_string()),
        ("runs", runs.to_string()),
        ("bounds", (results.rows.len() - runs).to_string()),
    ]
}

fn standing(bound: Option<f64>, cell: Cell<'_>) -> Option<Standing<'_>> {
    let (ours, other) = (cell.ours()?, cell.best_other()?);
    let differences = Measure::ALL.map(|measure| Difference::of(measure, ours, other));
    let other = text(other, TREATMENT);
    Some(Standing { cell, other, bound, differences })
}

fn correct(standings: &mut [Standing<'_>], measure: usize) {
    let known: Vec<&mut f64> =
        standings.iter_mut().filter_map(|one| one.differences[measure].as_mut()?.p.as_mut()).collect();
    let raw: Vec<f64> = known.iter().map(|p| **p).collect();
    for (p, corrected) in known.into_iter().zip(statistics::holm(&raw)) {
        *p = corrected;
    }
}
