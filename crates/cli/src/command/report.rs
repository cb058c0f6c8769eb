//! `lightlag report`.

use crate::args::Report;
use crate::output::{Done, print, tell_unfinished, write_file};
use lightlag_lab::report::of_sweep;
use lightlag_lab::results::Results;

pub fn report(options: &Report) -> Done {
    let results = Results::read(&options.folder)?;
    tell_unfinished(&results, &options.folder);
    let path = options.out.clone().unwrap_or_else(|| options.folder.join("report.html"));
    write_file(&path, of_sweep(&results).html())?;
    print(&format!("{}\n", path.display()))?;
    Ok(())
}
