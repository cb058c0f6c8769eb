//! The study's tables.

use super::cell::{BUFFER, DURATION, INTER_CONTACT, MECHANISM, MOBILITY, PERIOD, ROUTER};
use super::readings::{Data, Reading, Scope};
use crate::shared::charts::{row, table};
use crate::shared::parts::interval;
use crate::shared::runs::Runs;
use lightlag_lab::report::Table;
use lightlag_lab::results::Results;

/// Metrics of every table: column, head.
const METRICS: [(&str, &str); 4] = [
    ("delivery_prob", "delivery ratio"),
    ("latency_avg", "latency (s)"),
    ("censored_delay_avg", "delay, undelivered counted (s)"),
    ("overhead_ratio", "overhead"),
];

/// Every table for which there are runs.
pub(super) fn all(results: &Results) -> Vec<Table> {
    let data = Data::of(results, &Reading::PRIMARY);
    let primary = [
        ("Figure 3: generation period (s)", &data.figure_3, PERIOD),
        ("Figure 5: inter-contact time (s)", &data.figure_5, INTER_CONTACT),
        ("Figure 6: buffer size (kB)", &data.figure_6, BUFFER),
        ("Figure 7: contact duration (s)", &data.figure_7, DURATION),
        ("Figure 8: generation period (s)", &data.figure_8, PERIOD),
        ("Figures 9 to 11: mobility model", &data.figure_9, MOBILITY),
    ];
    let tables = primary.into_iter().map(|(title, view, column)| numbers(title, view, column));
    tables.chain([readings(results), switches(results)]).filter(|table| !table.rows.is_empty()).collect()
}

/// Every cell of a figure with its metrics.
fn numbers(title: &str, view: &Runs<'_>, column: &str) -> Table {
    let of = |(names, cell): (Vec<&str>, Runs<'_>)| {
        row(&names, METRICS.iter().map(|(metric, _)| interval(cell.estimate(metric))))
    };
    let head = row([column, "router", "mechanism"], METRICS.iter().map(|(_, head)| (*head).to_owned()));
    let rows = view.split(&[column, ROUTER, MECHANISM]).into_iter().map(of).collect();
    table((title, "Mean and half width of the 95% interval."), head, rows)
}

/// Figure 7's delivery ratios at its ends, under every reading of the interplanetary scenario.
fn readings(results: &Results) -> Table {
    let mut rows = Vec::new();
    for reading in Reading::all_interplanetary() {
        let view = Data::of(results, &reading).figure_7.only(ROUTER, "epidemic");
        for (names, cell) in view.split(&[MECHANISM]) {
            let Some((short, long)) = cell.ends(DURATION) else { continue };
            let ends = [short, long].map(|end| interval(end.estimate("delivery_prob")));
            rows.push(row([reading.name, names[0]], ends));
        }
    }
    let caption = "Delivery ratio with epidemic routing, a message every 1 to 300 s, for the shortest and the longest \
                   contacts. The paper's own tables fit no single reading.";
    let head = ["reading", "mechanism", "shortest contacts", "longest contacts"];
    table(("The readings of the interplanetary scenario", caption), head, rows)
}

/// Figure 9's cells with nodes that report deliveries, remember drops, or both.
fn switches(results: &Results) -> Table {
    let of = |reading: &Reading| Data::of(results, reading).figure_9;
    let columns = [MOBILITY, ROUTER, MECHANISM];
    let mut all = vec![of(&Reading::PRIMARY)];
    all.extend(Reading::others(Scope::Terrestrial).iter().map(of));
    let rows = all[0].split(&columns).into_iter().filter(|_| all[1..].iter().any(|view| !view.is_empty()));
    let rows = rows.map(|(names, _)| {
        let values: Vec<(&str, &str)> = columns.into_iter().zip(names.iter().copied()).collect();
        row(&names, all.iter().map(|view| interval(view.fixed(&values).estimate("delivery_prob"))))
    });
    let caption = "Delivery ratio in figure 9's cells. Receipts: nodes exchange receipts of deliveries, and delete what \
                   was delivered. Memory: a node does not accept again what it has dropped. The paper has neither; the \
                   original papers of RRCC and CCC have one each.";
    let head = ["mobility", "router", "mechanism", "neither", "receipts", "memory", "both"];
    table(("Receipts and memory of drops", caption), head, rows.collect())
}
