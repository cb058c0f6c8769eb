//! What was delivered, and when connections moved.

use super::plan::{
    DAEMONS, KERNEL, KERNEL_2008, ORACLE, PLAIN, POLICY, REAL, SCENARIOS, TCP, TCP_2008, UDP, VARIANTS,
};
use super::{limit, mean, on_curves};
use crate::shared::charts::{NONE, cell, row, table};
use crate::shared::over_time::Series;
use crate::shared::runs::Runs;
use lightlag_lab::report::Table;
use lightlag_lab::results::{Results, number};
use lightlag_lab::statistics::{self, ratio};

/// What the paper has, and what a real kernel has on the same curves.
fn beside(which: usize, variant: &str) -> [&'static str; 2] {
    match (which, variant) {
        (0, TCP_2008 | KERNEL_2008) => ["47,000", "47,929 and 48,104"],
        (0, TCP | KERNEL) => [NONE, "65,136"],
        (0, UDP) => ["about as swapping", NONE],
        (0, PLAIN) => ["85,000, 950 lost", "84,052 of 85,513"],
        (1, TCP_2008 | KERNEL_2008) => ["31,766", "27,176"],
        (1, TCP | KERNEL) => [NONE, "38,915"],
        (1, PLAIN) => ["60,000, 1.74 % lost", "92,678"],
        _ => [NONE; 2],
    }
}

/// All of them.
pub fn all(results: &Results, runs: &[&Series]) -> Vec<Table> {
    let mut all: Vec<Table> = (0..SCENARIOS.len()).map(|which| scenario(results, which)).collect();
    all.push(curves(results));
    for variant in [POLICY, DAEMONS] {
        all.extend((0..SCENARIOS.len()).filter_map(|which| changes(runs, which, variant)));
    }
    all
}

fn scenario(results: &Results, which: usize) -> Table {
    let figure = SCENARIOS[which].0;
    let limit = limit(figure);
    let was_real = REAL.iter().filter(|variant| mean(results, figure, variant).is_some());
    let of = |variant: &&str| {
        let value = mean(results, figure, variant);
        let share = value.map_or(NONE.to_owned(), |value| format!("{:.1} %", 100.0 * value.mean / limit));
        let repeated = Runs::of(results, figure).at(variant, &[]).each("packets_repaired");
        let repeated = statistics::mean(&repeated).map_or(NONE.to_owned(), |mean| format!("{mean:.0}"));
        let lost = super::lost(results, figure, variant);
        let lost = lost.map_or(NONE.to_owned(), |lost| {
            let sent = lost.mean + value.map_or(0.0, |value| value.mean);
            format!("{} ({:.2} %)", number(lost.mean.round()), 100.0 * ratio(lost.mean, sent))
        });
        let own = [cell(value), share, lost, repeated];
        row([variant], own.into_iter().chain(beside(which, variant).map(str::to_owned)))
    };
    let title = format!("Scenario {}: packets delivered in twenty minutes", which + 1);
    let caption = format!(
        "Means and 95 % intervals; in order but for UDP. The limit is {limit:.0} packets. Lost are packets whose \
         data never arrived, by the numbers of those of UDP; streams are compared byte by byte. The last column was \
         measured by others on the same curves, through an emulator of their own."
    );
    let head =
        ["", "packets delivered", "of the limit", "lost", "repeated", "the paper", "a kernel, real time"];
    table((&title, &caption), head, VARIANTS.iter().chain(was_real).map(of).collect())
}

fn curves(results: &Results) -> Table {
    let of = |(number, oracle, policy, limit): (u64, f64, f64, f64)| {
        let whole = [limit, oracle, policy].map(|packets| format!("{packets:.0}"));
        let shares = [policy / oracle, policy / limit].map(|share| format!("{:.1}", 100.0 * share));
        row([&number.to_string()], whole.into_iter().chain(shares))
    };
    let head = ["curve", "limit", ORACLE, POLICY, "policy of oracle, %", "policy of limit, %"];
    let caption = "Packets delivered in order in twenty minutes, means of three seeds.";
    table(("Delay curves that were drawn", caption), head, on_curves(results).into_iter().map(of).collect())
}

fn changes(runs: &[&Series], which: usize, variant: &str) -> Option<Table> {
    let seen = runs.iter().find(|seen| seen.figure == SCENARIOS[which].0 && seen.variant == variant)?;
    let of = |(at, to, why): &(f64, &str, String)| vec![format!("{at:.1}"), (*to).to_owned(), why.clone()];
    let title = format!("Scenario {}, {variant}: when the connection moved, and why", which + 1);
    Some(table((&title, "The first seed."), ["s", "to", "why"], seen.changes.iter().map(of).collect()))
}
