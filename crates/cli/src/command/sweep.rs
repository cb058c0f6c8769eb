//! `lightlag sweep`.

use super::{print_warnings, read, seeds, tell_traces, text};
use crate::args::Sweep;
use crate::output::{Done, judged, print, print_table};
use lightlag_lab::explain::nothing::odd_sweep;
use lightlag_lab::results::{SHOWN_OF_PACKETS, SUMMARY_FILE, shown, terminal_table};
use lightlag_lab::sweep::{Plan, Shard, Swept};
use lightlag_scenario::Points;
use std::path::{Path, PathBuf};

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
    if let Some(parts) = options.slurm {
        return print(&slurm_script(options, &out, plan.name(), parts));
    }
    let shard = options.shard.as_deref().map(Shard::parse).transpose()?;
    let done = plan.run(&out, shard, options.threads, !options.no_judge)?;
    if options.json {
        let path = out.join(SUMMARY_FILE);
        let text =
            std::fs::read_to_string(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        print(&text)?;
    } else {
        let packets = done.results.rows.iter().any(|row| row.metric("goodput_bit_per_s").is_some());
        let shown = if packets { SHOWN_OF_PACKETS.to_vec() } else { shown(&done.results) };
        print_table(&(terminal_table(&done.results, &shown) + "\n"))?;
        tell_nothing(&done, list.len());
        odd_sweep(&done.results).iter().for_each(|line| eprintln!("{line}"));
        let there = done.results.rows.len() - done.fresh;
        eprintln!("runs done: {}, already there: {there}; results in {}", done.fresh, out.display());
    }
    judged(done.violations)
}

/// An array of Slurm that does a sweep in parts.
fn slurm_script(options: &Sweep, out: &Path, name: &str, parts: u32) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let path = |path: &Path| quoted(&path.display().to_string());
    let mut words: Vec<String> = options.source.files.iter().map(|file| path(file)).collect();
    for (key, value) in &options.source.sets {
        words.push(format!("--set {}", quoted(&format!("{key}={value}"))));
    }
    if options.source.no_defaults {
        words.push("--no-defaults".to_owned());
    }
    words.extend(options.seeds.iter().map(|seeds| format!("--seeds {}", quoted(seeds))));
    if options.no_judge {
        words.push("--no-judge".to_owned());
    }
    let job: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let (out, words) = (path(out), words.join(" "));
    format!(
        "#!/bin/bash\n\
         #SBATCH --job-name={job}\n\
         #SBATCH --array=1-{parts}\n\
         #SBATCH --cpus-per-task=1\n\
         # Start it with sbatch, in the folder where this was printed; a part that failed is done again by the same command.\n\
         # Then: lightlag merge {out}\n\
         lightlag sweep {words} --out {out} --shard \"$SLURM_ARRAY_TASK_ID/{parts}\" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"\n"
    )
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
