//! `lightlag sweep`.

use super::{print_warnings, read, seeds, tell_traces, text};
use crate::args::Sweep;
use crate::output::{Done, judged, print};
use lightlag_lab::results::{SHOWN, SHOWN_OF_PACKETS, SUMMARY_FILE, terminal_table};
use lightlag_lab::sweep::{Plan, Shard, Swept};
use lightlag_scenario::Points;
use std::path::PathBuf;

pub fn sweep(options: &Sweep) -> Done {
    let file = read(&options.source)?;
    let seeds = seeds(options.seeds.as_deref(), &file)?;
    let plan = Plan::new(&file, &text(&file), &seeds)?;
    let Points { list, skipped, .. } = plan.points();
    print_warnings(plan.points());
    tell_traces(list);
    if let Some(first) = skipped.first() {
        eprintln!("left out {} points, as {}", skipped.len(), first.reason);
    }
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("out").join(plan.name()));
    let shard = options.shard.as_deref().map(Shard::parse).transpose()?;
    let done = plan.run(&out, shard, options.threads, !options.no_judge)?;
    if options.json {
        let path = out.join(SUMMARY_FILE);
        let text =
            std::fs::read_to_string(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        print(&text)?;
    } else {
        let packets = done.results.rows.iter().any(|row| row.metric("goodput_bit_per_s").is_some());
        let shown = if packets { SHOWN_OF_PACKETS } else { SHOWN };
        print(&(terminal_table(&done.results, &shown) + "\n"))?;
        tell_nothing(&done, list.len());
        eprintln!("results in {}", out.display());
    }
    judged(done.violations)
}

/// Points that may be named one by one.
const NAMED: usize = 10;

/// Why points delivered nothing.
fn tell_nothing(done: &Swept, points: usize) {
    for (point, why) in done.nothing.iter().take(NAMED) {
        let rows = done.results.points();
        let values = rows.iter().map(|point| &point.rows[0]).find(|row| row.point == *point);
        let values =
            values.into_iter().flat_map(|row| &row.values).map(|(name, value)| format!("{name} = {value}"));
        let values: Vec<String> = values.collect();
        let place =
            if points > 1 { format!("point {point} ({}): ", values.join(", ")) } else { String::new() };
        eprintln!("{place}{why}");
    }
    if done.nothing.len() > NAMED {
        eprintln!("{} more points delivered nothing; summary.json says why", done.nothing.len() - NAMED);
    }
}
