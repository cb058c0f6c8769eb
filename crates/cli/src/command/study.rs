//! `lightlag study`.

use crate::args::Study;
use crate::output::{Done, judged, make_folder, print, write_file};
use lightlag_studies::scorecard::SEED;
use lightlag_studies::scorecard::adversary::{self, Effort};
use lightlag_studies::{Order, REPORT_FILE, STUDIES, find};
use std::path::{Path, PathBuf};

pub fn study(options: &Study) -> Done {
    let Some(name) = options.name.as_ref().filter(|_| !options.list) else { return print(&list()) };
    let study = find(name)?;
    if options.real && !study.has_real() {
        let with = STUDIES.iter().filter(|study| study.has_real()).map(|study| study.name);
        let with: Vec<&str> = with.collect();
        return Err(format!("--real: not supported by study {name}; use it with {}", with.join(", ")).into());
    }
    if let Some((option, why)) = study.refused(options.controller.as_deref(), options.seed) {
        return Err(format!("--{option}: {why}").into());
    }
    let only = options.controller.as_ref().map_or(String::new(), |name| format!("-{name}"));
    let seed = options.seed.map_or(String::new(), |seed| format!("-seed{seed}"));
    let worst = if options.worst { "-worst" } else { "" };
    let folder = format!("{name}{only}{worst}{seed}{}", if options.quick { "-quick" } else { "" });
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("out/study").join(folder));
    make_folder(&out)?;
    let Study { quick, real, seed, threads, .. } = *options;
    let controller = options.controller.as_deref();
    if let Some(controller) = controller.filter(|_| options.worst) {
        return search(controller, options, &out);
    }
    let order = Order { quick, real, controller, seed, out: &out, threads, watch: None };
    let done = study.run(&order)?;
    done.write(&out)?;
    print(&done.terminal())?;
    done.report.warnings.iter().for_each(|warning| eprintln!("{warning}"));
    eprintln!("report in {}", out.join(REPORT_FILE).display());
    judged(done.violations)
}

/// The networks in which a controller does worst, as a table and as scenarios.
fn search(controller: &str, options: &Study, out: &Path) -> Done {
    let effort = if options.quick { Effort::QUICK } else { Effort::FULL };
    let worst = adversary::worst(controller, options.seed.unwrap_or(SEED), effort, options.threads)?;
    for file in worst.files() {
        write_file(&out.join(&file.name), &file.text)?;
    }
    print(&worst.text())?;
    eprintln!("{} networks tried; scenarios of the worst in {}", worst.runs, out.display());
    Ok(())
}

/// The table of studies: what each compares, its paper, and its duration on two cores.
pub fn list() -> String {
    let row = |study: &lightlag_studies::Study| {
        let lines = [study.summary, &format!("{}; {}", study.paper, study.takes)].join("\n                 ");
        format!("{:16} {lines}\n", study.name)
    };
    STUDIES.iter().map(row).collect()
}
