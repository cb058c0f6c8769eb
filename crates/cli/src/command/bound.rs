//! `lightlag bound`.

use super::{print_warnings, read, seeds, tell_traces, text};
use crate::args::Bound;
use crate::output::{Done, print, print_table};
use lightlag_lab::bound::{ARCS_MAX, table};
use lightlag_lab::results::terminal_table;

const SHOWN: &[&str] = &["created", "reachable", "bound", "bound_bytes", "delay_bound"];

pub fn bound(options: &Bound) -> Done {
    let file = read(&options.source)?;
    let seeds = seeds(options.seeds.as_deref(), &file)?;
    let table = table(&file, &text(&file), &seeds, None)?;
    let points = file.points()?;
    print_warnings(&points);
    tell_traces(&points.list);
    if table.too_large > 0 {
        let (some, all) = (table.too_large, table.results.rows.len());
        eprintln!(
            "too large: only reachability is computed for {some} of {all} (more than {ARCS_MAX} arcs for the flow)"
        );
    }
    if options.json {
        return print(&format!("{:#}\n", table.json()));
    }
    print_table(&(terminal_table(&table.results, SHOWN) + "\n"))
}
