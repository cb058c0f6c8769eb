//! The study's tables.

use super::cell::{BUFFER, DURATION, INTER_CONTACT, MECHANISM, MOBILITY, PERIOD, ROUTER};
use crate::comparative::claims::view::{Data, Reading, View};
use crate::parts::interval;
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
fn numbers(title: &str, view: &View<'_>, column: &str) -> Table {
    let rows = cells(view, &[column, ROUTER, MECHANISM])
        .into_iter()
        .map(|(names, cell)| {
            let told = METRICS.iter().map(|(metric, _)| interval(cell.estimate(metric)));
            names.into_iter().chain(told).collect()
        })
        .collect();
    let heads = METRICS.iter().map(|(_, head)| *head);
    Table {
        title: title.to_string(),
        caption: "Mean and half width of the 95% interval.".to_string(),
        head: head([column, "router", "mechanism"].into_iter().chain(heads)),
        rows,
    }
}

/// Figure 7's delivery ratios at its ends, under every reading of the interplanetary scenario.
fn readings(results: &Results) -> Table {
    let rows = Reading::all_interplanetary()
        .iter()
        .flat_map(|reading| {
            let view = Data::of(results, reading).figure_7.only(ROUTER, "epidemic");
            cells(&view, &[MECHANISM])
                .into_iter()
                .filter_map(|(names, cell)| {
                    let (short, long) = cell.ends(DURATION)?;
                    let told = [short, long].map(|end| interval(end.estimate("delivery_prob")));
                    Some([vec![reading.name.to_string()], names, told.to_vec()].concat())
                })
                .collect::<Vec<_>>()
        })
        .collect();
    Table {
        title: "The interplanetary scenario as it can be read".to_string(),
        caption: "Delivery ratio with epidemic routing, a message every 1 to 300 s, for the shortest and the longest \
                  contacts. The paper's own tables fit no single reading."
            .to_string(),
        head: head(["reading", "mechanism", "shortest contacts", "longest contacts"]),
        rows,
    }
}

/// Figure 9's cells with nodes that tell of deliveries, remember drops, or both.
fn switches(results: &Results) -> Table {
    let mut all = vec![Data::of(results, &Reading::PRIMARY).figure_9];
    all.extend(Reading::all_switches().iter().map(|reading| Data::of(results, reading).figure_9));
    let rows = cells(&all[0], &[MOBILITY, ROUTER, MECHANISM])
        .into_iter()
        .filter(|_| all[1..].iter().any(|view| !view.is_empty()))
        .map(|(names, _)| {
            let told = all.iter().map(|view| {
                let columns = [MOBILITY, ROUTER, MECHANISM];
                let cell = names
                    .iter()
                    .zip(columns)
                    .fold(view.clone(), |view, (name, column)| view.only(column, name));
                interval(cell.estimate("delivery_prob"))
            });
            names.clone().into_iter().chain(told).collect()
        })
        .collect();
    Table {
        title: "What nodes tell and remember".to_string(),
        caption: "Delivery ratio in figure 9's cells. Receipts: nodes tell each other what was delivered, and delete it. \
                  Memory: a node does not take again what it has dropped. The paper has neither; the original papers of \
                  RRCC and CCC have one each."
            .to_string(),
        head: head(["mobility", "router", "mechanism", "neither", "receipts", "memory", "both"]),
        rows,
    }
}

/// The cells of a slice: every combination of values that was run.
fn cells<'a>(view: &View<'a>, columns: &[&str]) -> Vec<(Vec<String>, View<'a>)> {
    columns.iter().fold(vec![(Vec::new(), view.clone())], |cells, column| {
        cells
            .into_iter()
            .flat_map(|(names, slice): (Vec<String>, View<'a>)| {
                let split = |level: &str| {
                    let named = names.iter().cloned().chain([level.to_string()]).collect();
                    (named, slice.only(column, level))
                };
                slice.levels(column).into_iter().map(split).collect::<Vec<_>>()
            })
            .collect()
    })
}

fn head<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_string).collect()
}
