//! `lightlag report`.

use crate::args;
use crate::output::{Done, Failure, print, tell_unfinished, write_file};
use lightlag_lab::report::{Report, View, of_sweep};
use lightlag_lab::results::Results;
use lightlag_lab::view::{Chosen, of_folder};
use lightlag_page::with_sources;
use std::path::Path;

pub fn report(options: &args::Report) -> Done {
    let results = Results::read(&options.folder)?;
    tell_unfinished(&results, &options.folder);
    let path = options.out.clone().unwrap_or_else(|| options.folder.join("report.html"));
    let pages = beside(&options.folder, &path)?.into_iter().collect();
    write_file(&path, Report { pages, ..of_sweep(&results) }.html())?;
    print(&format!("{}\n", path.display()))?;
    Ok(())
}

/// Writes the page that shows runs of the folder beside the report; names it. Where runs cannot be shown it writes
/// none and says why.
fn beside(folder: &Path, report: &Path) -> Result<Option<View>, Failure> {
    let sources = match of_folder(folder, Chosen { seed: None, point: None }) {
        Ok(sources) => sources,
        Err(why) => {
            eprintln!("no page of runs beside the report: {why}");
            return Ok(None);
        }
    };
    let stem = report.file_stem().unwrap_or_default().to_string_lossy();
    let name = if stem == "report" { "view.html".to_owned() } else { format!("{stem}_view.html") };
    write_file(&report.with_file_name(&name), with_sources(&sources))?;
    Ok(Some(View {
        file: name,
        title: "Runs side by side".to_owned(),
        caption: "On one clock, run in this page as it opens.".to_owned(),
    }))
}
