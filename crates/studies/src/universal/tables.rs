//! The study's tables.

use super::cells::{Cell, Difference, Grade, Measure, Standing, cells, grids};
use super::claims::{Tally, worst};
use super::grid::{PAPER, STRESS};
use super::treatments::{Role, treatments};
use crate::shared::charts::table;
use lightlag_lab::report::Table;
use lightlag_lab::results::{Point, Results, number};
use lightlag_lab::statistics;

const NONE: &str = "–";

/// All of them; the first is printed to a terminal.
pub fn all(results: &Results, standings: &[Standing<'_>]) -> Vec<Table> {
    let tables = [
        verdicts(standings),
        ablation(results),
        worse(standings),
        every_cell(standings, PAPER, "Every cell of the comparative study's grid"),
        every_cell(standings, STRESS, "Every cell under stress"),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// How often ours is better, as good or worse, grid by grid.
pub fn verdicts(standings: &[Standing<'_>]) -> Table {
    let row = |(grid, measure): (&str, Measure)| {
        let here: Vec<&Standing<'_>> = standings.iter().filter(|one| one.cell.grid() == grid).collect();
        let tally = Tally::of(here.iter().copied(), measure);
        let worst = worst(&here, measure).first().map_or(NONE.to_owned(), |one| {
            format!("{} ({})", one.cell.told(), one.by(measure).map_or(String::new(), told))
        });
        let counts =
            [tally.cells, tally.better, tally.surely_better, tally.as_good, tally.worse, tally.surely_worse];
        let counts = counts.map(|count| count.to_string());
        let names = [grid.to_owned(), measure.name().to_owned()];
        (tally.cells > 0).then(|| names.into_iter().chain(counts).chain([worst]).collect())
    };
    let all = grids(standings).into_iter().flat_map(|grid| Measure::ALL.map(|measure| (grid, measure)));
    let caption = "Better or worse: the 95% interval of the difference (bootstrap over the seeds, paired) leaves zero, and \
                  the difference is at least 0.002 (of the delay and the bytes: 0.2 %). Surely: by a paired t test, corrected \
                  after Holm over all cells of the grid.";
    let head = ["grid", "measure", "cells", "better", "surely", "as good", "worse", "surely", "the worst"];
    table(("Ours beside the best other mechanism of each cell", caption), head, all.filter_map(row).collect())
}

/// What each mechanism, and each part of ours, does in the cells of the paper's grid.
fn ablation(results: &Results) -> Table {
    let all = cells(results);
    let here: Vec<&Cell<'_>> = all.iter().filter(|cell| cell.grid() == PAPER).collect();
    let row = |name: &str| {
        let with: Vec<(&Point<'_>, &Point<'_>)> =
            here.iter().filter_map(|cell| Some((cell.ours()?, cell.treatment(name)?))).collect();
        let means = Measure::ALL.map(|measure| {
            let values: Vec<f64> = with.iter().filter_map(|(_, point)| measure.mean(point)).collect();
            told_mean(statistics::mean(&values))
        });
        let grades: Vec<Grade> = with
            .iter()
            .filter_map(|(ours, point)| Some(Difference::of(Measure::Ratio, ours, point)?.grade))
            .collect();
        let count = |wanted| grades.iter().filter(|grade| **grade == wanted).count().to_string();
        let counts =
            [with.len().to_string(), count(Grade::Better), count(Grade::AsGood), count(Grade::Worse)];
        (!with.is_empty()).then(|| [name.to_owned()].into_iter().chain(means).chain(counts).collect())
    };
    let caption = "Means over the cells of the comparative study's grid in which a mechanism can run, and in how many of \
                  them ours has a better, as good or worse delivery ratio.";
    let head = [
        "mechanism",
        Measure::ALL[0].name(),
        Measure::ALL[1].name(),
        Measure::ALL[2].name(),
        "cells",
        "ours better",
        "as good",
        "ours worse",
    ];
    table(
        ("Mechanisms and parts of ours", caption),
        head,
        treatments(PAPER).iter().filter_map(|treatment| row(&treatment.name)).collect(),
    )
}

/// The cells in which ours is worse by a measure.
pub fn worse(standings: &[Standing<'_>]) -> Table {
    let mut rows = Vec::new();
    for grid in grids(standings) {
        let here: Vec<&Standing<'_>> = standings.iter().filter(|one| one.cell.grid() == grid).collect();
        for measure in Measure::ALL {
            rows.extend(worst(&here, measure).into_iter().filter_map(|one| {
                let found = one.by(measure)?;
                let text = [grid, measure.name()].map(str::to_owned).into_iter();
                let told = [
                    one.cell.told(),
                    one.other.to_owned(),
                    number(found.ours),
                    number(found.other),
                    told(found),
                ];
                Some(text.chain(told).chain([found.p.map_or(NONE.to_owned(), number)]).collect())
            }));
        }
    }
    let caption = "The worst first. p: by a paired t test, corrected after Holm over all cells of the grid.";
    let head = ["grid", "measure", "cell", "best other", "ours", "other", "difference", "p"];
    table(("Where ours is worse", caption), head, rows)
}

/// All measures of every cell of a grid.
pub fn every_cell(standings: &[Standing<'_>], grid: &str, title: &str) -> Table {
    let row = |one: &Standing<'_>| {
        let ratio = one.by(Measure::Ratio);
        let reference = one.cell.of_role(Role::Reference).next().and_then(|point| Measure::Ratio.mean(point));
        let names = [one.cell.row(), one.cell.change().to_owned()];
        let ratios = [
            told_mean(ratio.map(|found| found.ours)),
            one.other.to_owned(),
            told_mean(ratio.map(|found| found.other)),
            told_mean(reference),
            told_mean(one.cell.unlimited()),
            told_mean(one.bound),
        ];
        let differences = Measure::ALL
            .map(|measure| one.by(measure).map_or(NONE.to_owned(), |found| told(found) + mark(found.grade)));
        names.into_iter().chain(ratios).chain(differences).collect()
    };
    let caption = "Delivery ratios of ours, the best other and gbsd, which sees every copy in the network; what the router \
                  delivers where buffers are never full; and the bound, which no mechanism can exceed (lightlag bound). Differences (ours minus other) with 95% intervals by the bootstrap over the seeds; ▲ ours \
                  is better, ▼ worse.";
    let head = [
        "where",
        "what",
        "ours",
        "best other",
        "its ratio",
        "gbsd",
        "unlimited",
        "bound",
        "Δ delivery ratio",
        "Δ delay (s)",
        "Δ bytes per byte",
    ];
    table((title, caption), head, standings.iter().filter(|one| one.cell.grid() == grid).map(row).collect())
}

fn mark(grade: Grade) -> &'static str {
    match grade {
        Grade::Better => " ▲",
        Grade::AsGood => "",
        Grade::Worse => " ▼",
    }
}

fn told_mean(mean: Option<f64>) -> String {
    mean.map_or(NONE.to_owned(), number)
}

fn told(found: &Difference) -> String {
    let interval =
        found.interval.map_or(String::new(), |(low, high)| format!(" [{}, {}]", number(low), number(high)));
    number(found.mean) + &interval
}
