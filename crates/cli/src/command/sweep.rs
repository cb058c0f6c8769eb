//! `lightlag sweep`.

use super::{print_warnings, read, seeds, tell_traces, text};
use crate::args::Sweep;
use crate::output::{Done, judged, print};
use lightlag_lab::results::{SHOWN, SHOWN_OF_PACKETS, SUMMARY_FILE, terminal_table};
use lightlag_lab::sweep::Plan;
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
    let done = plan.run(&out, options.threads, !options.no_judge)?;
    if options.json {
        let path = out.join(SUMMARY_FILE);
        let text =
            std::fs::read_to_string(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        print(&text)?;
    } else {
        let packets = done.results.rows.iter().any(|row| row.metric("goodput_bit_per_s").is_some());
        let shown = if packets { SHOWN_OF_PACKETS } else { SHOWN };
        print(&(terminal_table(&done.results, &shown) + "\n"))?;
        eprintln!("results in {}", out.display());
    }
    judged(done.violations)
}
