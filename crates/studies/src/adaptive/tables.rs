//! What was delivered, and when connections moved.

use super::plan::{
    DAEMONS, KERNEL, KERNEL_2008, ORACLE, PLAIN, POLICY, REAL, SCENARIOS, TCP, TCP_2008, VARIANTS,
};
use super::runs::Seen;
use super::view::{curves, limit, mean};
use crate::view::{metrics, told};
use lightlag_lab::report::Table;
use lightlag_lab::results::Results;

const NONE: &str = "-";

/// What the paper has, and what a real kernel has on the same curves.
fn beside(which: usize, variant: &str) -> [&'static str; 2] {
    match (which, variant) {
        (0, TCP_2008 | KERNEL_2008) => ["47,000", "47,929 and 48,104"],
        (0, TCP | KERNEL) => [NONE, "65,136"],
        (0, PLAIN) => ["85,000, 950 lost", "84,052 of 85,513"],
        (1, TCP_2008 | KERNEL_2008) => ["31,766", "27,176"],
        (1, TCP | KERNEL) => [NONE, "38,915"],
        (1, PLAIN) => ["60,000, 1.74 % lost", "92,678"],
        _ => [NONE; 2],
    }
}

/// All of them.
pub fn all(results: &Results, runs: &[Seen]) -> Vec<Table> {
    let mut all: Vec<Table> = (0..SCENARIOS.len()).map(|which| scenario(results, which)).collect();
    all.push(on_curves(results));
    for variant in [POLICY, DAEMONS] {
        all.extend((0..SCENARIOS.len()).filter_map(|which| changes(runs, which, variant)));
    }
    all
}

fn scenario(results: &Results, which: usize) -> Table {
    let figure = SCENARIOS[which].0;
    let limit = limit(figure);
    let was_real = REAL.iter().filter(|variant| mean(results, figure, variant).is_some());
    let row = |variant: &&str| {
        let value = mean(results, figure, variant);
        let [paper, kernel] = beside(which, variant).map(str::to_owned);
        let share = value.map_or(NONE.to_owned(), |value| format!("{:.1} %", 100.0 * value.mean / limit));
        let repeated = metrics(results, figure, variant, &[], "packets_repaired");
        let repeated = lightlag_lab::statistics::mean(&repeated);
        let lost = if *variant == PLAIN { "yes" } else { "0" };
        vec![
            (*variant).to_owned(),
            value.map_or(NONE.to_owned(), told),
            share,
            lost.to_owned(),
            repeated.map_or(NONE.to_owned(), |repeated| format!("{repeated:.0}")),
            paper,
            kernel,
        ]
    };
    let head =
        ["", "packets delivered", "of the limit", "lost", "repeated", "the paper", "a kernel, real time"];
    Table {
        title: format!("Scenario {}: packets delivered in twenty minutes", which + 1),
        caption: format!(
            "Means and 95 % intervals; in order but for UDP. The limit is {limit:.0} packets. The last column is what others \
             measured on the same curves, through an emulator of their own."
        ),
        head: head.map(str::to_owned).to_vec(),
        rows: VARIANTS.iter().chain(was_real).map(row).collect(),
    }
}

fn on_curves(results: &Results) -> Table {
    let row = |(number, oracle, policy, limit): (u64, f64, f64, f64)| {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        vec![
            number.to_string(),
            format!("{limit:.0}"),
            format!("{oracle:.0}"),
            format!("{policy:.0}"),
            percent(policy / oracle),
            percent(policy / limit),
        ]
    };
    let head = ["curve", "limit", ORACLE, POLICY, "policy of oracle, %", "policy of limit, %"];
    Table {
        title: "Delay curves that were drawn".to_owned(),
        caption: "Packets delivered in order in twenty minutes, means of three seeds.".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: curves(results).into_iter().map(row).collect(),
    }
}

fn changes(runs: &[Seen], which: usize, variant: &str) -> Option<Table> {
    let seen = runs.iter().find(|seen| seen.figure == SCENARIOS[which].0 && seen.variant == variant)?;
    let row = |(at, to, why): &(f64, &str, String)| vec![format!("{at:.1}"), (*to).to_owned(), why.clone()];
    Some(Table {
        title: format!("Scenario {}, {variant}: when the connection moved, and why", which + 1),
        caption: "The first seed.".to_owned(),
        head: ["s", "to", "why"].map(str::to_owned).to_vec(),
        rows: seen.changes.iter().map(row).collect(),
    })
}
