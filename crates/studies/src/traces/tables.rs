//! The study's tables.

use super::claims::{Tally, worst};
use crate::shared::charts::table;
use crate::universal::cells::{Difference, Grade, Measure, Standing};
use crate::universal::treatments::Role;
use lightlag_lab::report::Table;
use lightlag_lab::results::number;

const NONE: &str = "–";

/// All of them; the first is printed to a terminal.
pub fn all(standings: &[Standing<'_>]) -> Vec<Table> {
    let tables = [verdicts(standings), worse(standings), every_cell(standings)];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// How often ours is better, as good or worse.
fn verdicts(standings: &[Standing<'_>]) -> Table {
    let all: Vec<&Standing<'_>> = standings.iter().collect();
    let row = |measure: Measure| {
        let tally = Tally::of(standings, measure);
        let worst = worst(&all, measure).first().map_or(NONE.to_owned(), |one| {
            format!("{} ({})", one.cell.described(), one.by(measure).map_or(String::new(), described))
        });
        let counts =
            [tally.cells, tally.better, tally.surely_better, tally.as_good, tally.worse, tally.surely_worse];
        let counts = counts.map(|count| count.to_string());
        let name = [measure.name().to_owned()].into_iter();
        (tally.cells > 0).then(|| name.chain(counts).chain([worst]).collect())
    };
    let caption = "Better or worse: the 95% interval of the difference (bootstrap over the seeds, paired) leaves zero, and \
                  the difference is at least 0.002 (of the delay and the bytes: 0.2 %). Surely: by a paired t test, corrected \
                  after Holm over all cells.";
    let head = ["measure", "cells", "better", "surely", "as good", "worse", "surely", "the worst"];
    let rows = Measure::ALL.into_iter().filter_map(row).collect();
    table(("Ours beside the best other mechanism of each cell", caption), head, rows)
}

/// The cells in which ours is worse by a measure.
fn worse(standings: &[Standing<'_>]) -> Table {
    let all: Vec<&Standing<'_>> = standings.iter().collect();
    let of = |measure: Measure| worst(&all, measure).into_iter().map(move |one| (measure, one));
    let row = |(measure, one): (Measure, &Standing<'_>)| {
        let found = one.by(measure)?;
        Some(vec![
            measure.name().to_owned(),
            one.cell.described(),
            one.other.to_owned(),
            number(found.ours),
            number(found.other),
            described(found),
            found.p.map_or(NONE.to_owned(), number),
        ])
    };
    let caption = "The worst first. p: by a paired t test, corrected after Holm over all cells.";
    let head = ["measure", "cell", "best other", "ours", "other", "difference", "p"];
    let rows = Measure::ALL.into_iter().flat_map(of).filter_map(row).collect();
    table(("Where ours is worse", caption), head, rows)
}

/// All measures of every cell.
fn every_cell(standings: &[Standing<'_>]) -> Table {
    let row = |one: &Standing<'_>| {
        let ratio = one.by(Measure::Ratio);
        let reference = one.cell.of_role(Role::Reference).next().and_then(|point| Measure::Ratio.mean(point));
        let names = [one.cell.row(), one.cell.case().to_owned()];
        let ratios = [
            told_mean(ratio.map(|found| found.ours)),
            one.other.to_owned(),
            told_mean(ratio.map(|found| found.other)),
            told_mean(reference),
            told_mean(one.cell.unlimited()),
            told_mean(one.bound),
        ];
        let differences = Measure::ALL.map(|measure| {
            one.by(measure).map_or(NONE.to_owned(), |found| described(found) + mark(found.grade))
        });
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
    table(("Every cell", caption), head, standings.iter().map(row).collect())
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

fn described(found: &Difference) -> String {
    let interval =
        found.interval.map_or(String::new(), |(low, high)| format!(" [{}, {}]", number(low), number(high)));
    number(found.mean) + &interval
}
