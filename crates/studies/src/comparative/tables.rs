//! The study's tables.

use super::cell::{
    BUFFER, DURATION, INTER_CONTACT, MECHANISM, MOBILITY, PERIOD, ROUTER, SETTINGS, USUAL, WORLD,
};
use super::claims::Tested;
use super::readings::{Data, Reading, Scope};
use crate::shared::charts::{NONE, row, table};
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
pub(super) fn all(results: &Results, tested: &[Tested]) -> Vec<Table> {
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
    let others = [ion(&data), verdicts(tested), readings(results), switches(results)];
    tables.chain(others).filter(|table| !table.rows.is_empty()).collect()
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

/// Each reading with the claims whose verdict is another one under it.
fn verdicts(tested: &[Tested]) -> Table {
    let mut names: Vec<&str> = Vec::new();
    let mut rows: Vec<(usize, Vec<String>)> = Vec::new();
    for claim in tested {
        for (reading, found) in &claim.others {
            let at = names.iter().position(|name| *name == reading.name).unwrap_or(names.len());
            if at == names.len() {
                names.push(reading.name);
                rows.push((0, Vec::new()));
            }
            rows[at].0 += 1;
            if found.holds != claim.found.holds {
                rows[at].1.push(format!("{}: {} → {}", claim.id, claim.found.words(), found.words()));
            }
        }
    }
    let line = |(name, (tested, changed)): (&str, (usize, Vec<String>))| {
        let list = if changed.is_empty() { NONE.to_owned() } else { changed.join("; ") };
        vec![name.to_owned(), tested.to_string(), changed.len().to_string(), list]
    };
    let caption = "Claims whose figures depend on the reading, and those whose verdict is another one under it than in the \
                   primary reading. A mechanism that is read otherwise is run in the primary reading of the scenario. \
                   CCC's five constants, to which the paper gives no values, are a quarter of ours and four times ours (the \
                   minimum, which is 0, is raised).";
    let head = ["reading", "claims that depend on it", "other verdicts", "which"];
    table(("What each reading changes", caption), head, names.into_iter().zip(rows).map(line).collect())
}

/// ION's rule beside no control.
fn ion(data: &Data<'_>) -> Table {
    let mut rows = Vec::new();
    for (world, column) in [("ipn", DURATION), ("terrestrial", PERIOD)] {
        let view = data.ion.only(WORLD, world);
        for (names, cell) in view.split(&[ROUTER, MECHANISM, SETTINGS]) {
            let Some((first, last)) = cell.ends(column) else { continue };
            let ends = [first, last].map(|end| interval(end.estimate("delivery_prob")));
            let place = if world == "ipn" { "planets" } else { "Earth" };
            let settings = if names[2] == USUAL { NONE } else { names[2] };
            rows.push(row([place, names[0], names[1], settings], ends));
        }
    }
    let caption = "Delivery ratio. Planets: figure 7's contacts, the shortest and the longest. Earth: figure 8, a message every 1 \
                   to 100 s and every 1 to 500 s. ION has the router contact_graph. By default the forecast expects of a contact what \
                   past ones brought; reception=planned is ION's own forecast, reception=none its quotas alone.";
    let head = ["world", "router", "mechanism", "settings", "shortest", "longest"];
    table(("ION's rule as a baseline", caption), head, rows)
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
