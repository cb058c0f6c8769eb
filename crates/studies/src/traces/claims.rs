//! What `docs/algorithms/copy_value.md` says of recorded contacts, tested.

use super::WORDS;
use crate::shared::parts::NOT_RUN;
use crate::universal::cells::{Grade, Measure, Standing};
use lightlag_lab::compare::SIGNIFICANCE;
use lightlag_lab::report::{Compared, Finding, Holds, Met, Verdict};
use lightlag_lab::results::{Results, number};

/// Times the bytes per byte of the best other.
const MOST: f64 = 2.0;
/// This many of the worst cells are listed; a table has them all.
const TOLD: usize = 8;

/// The claims of `study.toml`, tested.
pub fn evaluate(all: &[Standing<'_>], results: &Results) -> Vec<Verdict> {
    let here: Vec<&Standing<'_>> = all.iter().collect();
    vec![
        WORDS.verdict("R1", nowhere_worse(&here, Measure::Ratio)),
        WORDS.verdict("R2", nowhere_dear(&here)),
        WORDS.verdict("R3", without_a_plan(results)),
    ]
}

fn nowhere_dear(all: &[&Standing<'_>]) -> Finding {
    let share = |one: &Standing<'_>| one.by(Measure::Bytes).map(|found| found.ours / found.other);
    let mut known: Vec<(&Standing<'_>, f64)> =
        all.iter().filter_map(|one| Some((*one, share(one)?))).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(worst, most)) = known.first() else { return Finding::untestable(NOT_RUN) };
    let dear: Vec<&Standing<'_>> = known.iter().filter(|one| one.1 > MOST).map(|one| one.0).collect();
    let we_measure = format!(
        "above in {} of {} cells; at most {} times as many, in {}",
        dear.len(),
        known.len(),
        number(most),
        worst.cell.described()
    );
    let holds = if dear.is_empty() { Holds::Yes } else { Holds::No };
    let dot = Compared::at_most("most, of the best other", most, MOST, "times");
    Finding::new(holds, we_measure + &listed(&dear, Measure::Bytes)).comparing(vec![dot])
}

/// No node of any run had an algorithm that reads a plan.
fn without_a_plan(results: &Results) -> Finding {
    let known: Vec<f64> = results.rows.iter().filter_map(|row| row.metric("plan_nodes")).collect();
    if known.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let planned = known.iter().filter(|nodes| **nodes > 0.0).count();
    let holds = if planned == 0 { Holds::Yes } else { Holds::No };
    Finding::new(holds, format!("a plan was read in {planned} of {} runs", known.len()))
}

/// How often ours is better, as good and worse by a measure, and how often worse beyond chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cells.
    pub cells: usize,
    /// Of them better.
    pub better: usize,
    /// As good.
    pub as_good: usize,
    /// Worse.
    pub worse: usize,
    /// Better after Holm's correction over all cells.
    pub surely_better: usize,
    /// Worse after the same.
    pub surely_worse: usize,
}

impl Tally {
    /// Of some cells.
    pub fn of<'a>(standings: impl IntoIterator<Item = &'a Standing<'a>>, measure: Measure) -> Self {
        let mut tally = Self::default();
        for difference in standings.into_iter().filter_map(|one| one.by(measure)) {
            let sure = usize::from(difference.p.is_some_and(|p| p < SIGNIFICANCE));
            tally.cells += 1;
            match difference.grade {
                Grade::Better => {
                    tally.better += 1;
                    tally.surely_better += sure;
                }
                Grade::AsGood => tally.as_good += 1,
                Grade::Worse => {
                    tally.worse += 1;
                    tally.surely_worse += sure;
                }
            }
        }
        tally
    }

    fn described(&self) -> String {
        format!(
            "of {} cells better in {}, as good in {}, worse in {} ({} after Holm's correction)",
            self.cells, self.better, self.as_good, self.worse, self.surely_worse
        )
    }
}

/// The cells where it is worse by a measure, the worst first.
pub fn worst<'a, 'b>(standings: &[&'a Standing<'b>], measure: Measure) -> Vec<&'a Standing<'b>> {
    let is_worse = |one: &&&'a Standing<'b>| one.by(measure).is_some_and(|found| found.grade == Grade::Worse);
    let mut worse: Vec<&Standing<'b>> = standings.iter().filter(is_worse).copied().collect();
    worse.sort_by(|a, b| behind(b, measure).total_cmp(&behind(a, measure)));
    worse
}

/// How far behind: of the delivery ratio itself, of the others as a share.
fn behind(standing: &Standing<'_>, measure: Measure) -> f64 {
    standing.by(measure).map_or(0.0, |found| match measure {
        Measure::Ratio => -found.mean,
        Measure::Delay | Measure::Bytes => found.mean / found.other,
    })
}

/// Whether no cell is worse by a measure; partly, if chance explains those that are.
fn nowhere_worse(standings: &[&Standing<'_>], measure: Measure) -> Finding {
    if standings.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let tally = Tally::of(standings.iter().copied(), measure);
    let holds = match (tally.worse, tally.surely_worse) {
        (0, _) => Holds::Yes,
        (_, 0) => Holds::Partly,
        _ => Holds::No,
    };
    let of = |one: &&Standing<'_>| {
        let found = one.by(measure)?;
        let met = match found.grade {
            Grade::Worse if found.p.is_some_and(|p| p < SIGNIFICANCE) => Met::No,
            Grade::Worse => Met::Perhaps,
            _ => Met::Yes,
        };
        let label = format!("{} to {}", one.cell.described(), one.other);
        let dot = Compared::at_least(label, found.mean, 0.0, "").with_interval(found.interval).found(met);
        Some(dot)
    };
    let mut dots: Vec<Compared> = standings.iter().filter_map(of).collect();
    dots.sort_by(|one, other| one.value.total_cmp(&other.value));
    dots.truncate(TOLD);
    Finding::new(holds, tally.described() + &listed(&worst(standings, measure), measure)).comparing(dots)
}

/// The first of some cells with their differences.
fn listed(standings: &[&Standing<'_>], measure: Measure) -> String {
    if standings.is_empty() {
        return String::new();
    }
    let one = |standing: &&Standing<'_>| {
        let difference = standing.by(measure).map_or(0.0, |found| found.mean);
        let sign = if difference > 0.0 { "+" } else { "" };
        format!("{} ({sign}{} to {})", standing.cell.described(), number(difference), standing.other)
    };
    let described: Vec<String> = standings.iter().take(TOLD).map(one).collect();
    let more = standings.len().saturating_sub(TOLD);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!(": {}{rest}", described.join("; "))
}
