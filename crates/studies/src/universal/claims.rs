//! The claims about our mechanism, tested.

use super::WORDS;
use super::cells::{AS_GOOD, Grade, Measure, Standing};
use super::grid::{PAPER, STRESS};
use crate::shared::parts::NOT_RUN;
use lightlag_lab::compare::SIGNIFICANCE;
use lightlag_lab::report::{Finding, Holds, Verdict};
use lightlag_lab::results::number;

/// Where the best of the others delivers less than this, there is something to win.
const ROOM: f64 = 0.98;
/// Of the cells under stress.
const MOST: f64 = 0.9;
/// Further behind in no cell, in the delivery ratio.
const FAR: f64 = 0.02;
/// This many of the worst cells are listed; a table has them all.
const TOLD: usize = 8;

/// The claims of `study.toml`, tested.
pub fn evaluate(all: &[Standing<'_>]) -> Vec<Verdict> {
    let on =
        |grid: &str| -> Vec<&Standing<'_>> { all.iter().filter(|one| one.cell.grid() == grid).collect() };
    let (paper, stress) = (on(PAPER), on(STRESS));
    vec![
        WORDS.verdict("U1a", nowhere_worse(&paper, Measure::Ratio)),
        WORDS.verdict("U1b", nowhere_worse(&paper, Measure::Delay)),
        WORDS.verdict("U1c", nowhere_worse(&paper, Measure::Bytes)),
        WORDS.verdict("U2", better_where_there_is_room(&paper)),
        WORDS.verdict("U3", mostly(&stress)),
        WORDS.verdict("U4", nowhere_far_behind(all)),
    ]
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
    /// Better after Holm's correction over all cells of the grid.
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

    fn told(&self) -> String {
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
pub fn nowhere_worse(standings: &[&Standing<'_>], measure: Measure) -> Finding {
    if standings.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let tally = Tally::of(standings.iter().copied(), measure);
    let holds = match (tally.worse, tally.surely_worse) {
        (0, _) => Holds::Yes,
        (_, 0) => Holds::Partly,
        _ => Holds::No,
    };
    Finding { holds, we_measure: tally.told() + &listed(&worst(standings, measure), measure) }
}

fn better_where_there_is_room(standings: &[&Standing<'_>]) -> Finding {
    let open: Vec<&Standing<'_>> = standings.iter().filter(|one| has_room(one)).copied().collect();
    if open.is_empty() {
        return Finding::untestable("no cell leaves anything to win");
    }
    let tally = Tally::of(open.iter().copied(), Measure::Ratio);
    let holds = match tally.better {
        n if n == tally.cells => Holds::Yes,
        0 => Holds::No,
        _ => Holds::Partly,
    };
    let mut even: Vec<&Standing<'_>> = open.into_iter().filter(|one| !is_better(one)).collect();
    even.sort_by(|a, b| behind(b, Measure::Ratio).total_cmp(&behind(a, Measure::Ratio)));
    let not_better = if even.is_empty() { "" } else { "; not better" };
    let we_measure = tally.told() + not_better + &listed(&even, Measure::Ratio) + &left_out(standings);
    Finding { holds, we_measure }
}

/// How many cells are skipped as there is nothing to win, and why.
fn left_out(standings: &[&Standing<'_>]) -> String {
    let count = |so: Chance| standings.iter().filter(|one| chance(one) == so).count();
    format!(
        "; skipped: {} where the best other delivers {ROOM} or more, {} where it reaches the bound, {} where it delivers what its \
         router does with buffers that are never full",
        count(Chance::NearlyAll),
        count(Chance::AtTheBound),
        count(Chance::NotCongested),
    )
}

/// Whether there is something to win.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chance {
    Room,
    /// The best other delivers nearly everything.
    NearlyAll,
    /// It delivers as much as anybody could.
    AtTheBound,
    /// It delivers what its router does with buffers that are never full.
    NotCongested,
    /// Nothing can be delivered, as between planets within ten minutes.
    Nothing,
}

fn chance(standing: &Standing<'_>) -> Chance {
    let Some(found) = standing.by(Measure::Ratio) else { return Chance::Nothing };
    let other = found.other;
    if other >= ROOM {
        Chance::NearlyAll
    } else if found.ours.max(other) <= 0.0 {
        Chance::Nothing
    } else if other + AS_GOOD >= standing.bound.unwrap_or(1.0) {
        Chance::AtTheBound
    } else if standing.cell.unlimited().is_some_and(|all| (all - other).abs() < AS_GOOD) {
        Chance::NotCongested
    } else {
        Chance::Room
    }
}

fn has_room(standing: &Standing<'_>) -> bool {
    chance(standing) == Chance::Room
}

fn is_better(standing: &Standing<'_>) -> bool {
    standing.by(Measure::Ratio).is_some_and(|found| found.grade == Grade::Better)
}

fn mostly(standings: &[&Standing<'_>]) -> Finding {
    if standings.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let count = |so: &dyn Fn(&Standing<'_>) -> bool| standings.iter().filter(|one| so(one)).count();
    let not_worse = count(&|one| !one.is_worse());
    let won = count(&|one| !has_room(one) || is_better(one));
    let both = count(&|one| !one.is_worse() && (!has_room(one) || is_better(one)));
    let holds = if both as f64 >= MOST * standings.len() as f64 { Holds::Yes } else { Holds::No };
    let all = standings.len();
    let mut we_measure = format!(
        "both in {both} of {all} cells: worse by none of the measures in {not_worse}, a better delivery ratio where \
         there is room in {won}"
    );
    for measure in Measure::ALL {
        let tally = Tally::of(standings.iter().copied(), measure);
        we_measure += &format!("; {}: {}", measure.name(), tally.told());
    }
    Finding { holds, we_measure }
}

fn nowhere_far_behind(all: &[Standing<'_>]) -> Finding {
    if all.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let mut far: Vec<&Standing<'_>> = all.iter().filter(|one| behind(one, Measure::Ratio) > FAR).collect();
    far.sort_by(|a, b| behind(b, Measure::Ratio).total_cmp(&behind(a, Measure::Ratio)));
    let holds = if far.is_empty() { Holds::Yes } else { Holds::No };
    let told = format!("further behind in {} of {} cells", far.len(), all.len());
    Finding { holds, we_measure: told + &listed(&far, Measure::Ratio) }
}

/// The first of some cells with their differences.
pub fn listed(standings: &[&Standing<'_>], measure: Measure) -> String {
    if standings.is_empty() {
        return String::new();
    }
    let one = |standing: &&Standing<'_>| {
        let difference = standing.by(measure).map_or(0.0, |found| found.mean);
        let sign = if difference > 0.0 { "+" } else { "" };
        format!("{} ({sign}{} to {})", standing.cell.told(), number(difference), standing.other)
    };
    let told: Vec<String> = standings.iter().take(TOLD).map(one).collect();
    let more = standings.len().saturating_sub(TOLD);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!(": {}{rest}", told.join("; "))
}
