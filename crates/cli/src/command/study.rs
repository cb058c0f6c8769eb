//! `lightlag study`.

use crate::args::Study;
use crate::output::{Done, judged, make_folder, print, write_file};
use lightlag_studies::{Order, STUDIES, find};
use std::path::PathBuf;

pub fn study(options: &Study) -> Done {
    let Some(name) = options.name.as_ref().filter(|_| !options.list) else { return print(&list()) };
    let study = find(name)?;
    if options.real && !study.has_real() {
        let with = STUDIES.iter().filter(|study| study.has_real()).map(|study| study.name);
        let with: Vec<&str> = with.collect();
        return Err(format!("--real: not supported by study {name}; use it with {}", with.join(", ")).into());
    }
    let folder = if options.quick { format!("{name}-quick") } else { name.clone() };
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("out/study").join(folder));
    make_folder(&out)?;
    let order = Order { quick: options.quick, real: options.real, out: &out, threads: options.threads };
    let done = study.run(&order)?;
    let path = out.join("report.html");
    write_file(&path, done.report.html())?;
    for figure in &done.report.figures {
        let text = serde_json::to_string_pretty(&figure.specification)? + "\n";
        write_file(&out.join("figures").join(format!("{}.vl.json", figure.id)), text)?;
    }
    write_file(&out.join("claims.json"), serde_json::to_string_pretty(&done.report.claims)? + "\n")?;
    print(&done.terminal())?;
    done.report.warnings.iter().for_each(|warning| eprintln!("{warning}"));
    eprintln!("report in {}", path.display());
    judged(done.violations)
}

/// The table of studies: what each compares, its paper, and its duration on two cores.
pub fn list() -> String {
    let row = |study: &lightlag_studies::Study| {
        let lines = [study.summary, &format!("{}; {}", study.paper, study.takes)].join("\n                 ");
        format!("{:16} {lines}\n", study.name)
    };
    STUDIES.iter().map(row).collect()
}
