//! `lightlag study`.

use crate::args::Study;
use crate::output::{Done, Failure, print, write_file};
use lightlag_lab::study;
use std::path::PathBuf;

/// The studies, by the name that is typed.
const STUDIES: &[&str] = &["dtn-congestion"];

pub fn study(options: &Study) -> Done {
    if !STUDIES.contains(&options.name.as_str()) {
        return Err(format!("no study `{}`; there is: {}", options.name, STUDIES.join(", ")).into());
    }
    let folder = if options.quick { format!("{}-quick", options.name) } else { options.name.clone() };
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("out/study").join(folder));
    let done = study::run(options.quick, &out, options.threads)?;
    let path = out.join("report.html");
    write_file(&path, done.report.html())?;
    for figure in &done.report.figures {
        let text = serde_json::to_string_pretty(&figure.specification)? + "\n";
        write_file(&out.join("figures").join(format!("{}.vl.json", figure.id)), text)?;
    }
    write_file(&out.join("claims.json"), serde_json::to_string_pretty(&done.report.claims)? + "\n")?;
    print(&done.terminal())?;
    eprintln!("report in {}", path.display());
    if done.violations > 0 {
        eprintln!("lightlag: the judge found {} violations", done.violations);
        return Err(Failure::Verdict);
    }
    Ok(())
}
