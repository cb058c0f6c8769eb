//! `lightlag study`.

use crate::args::Study;
use crate::output::{Done, Failure, make_folder, print, write_file};
use lightlag_studies::{self as study, real};
use std::path::{Path, PathBuf};

/// The studies, by the name that is typed.
const STUDIES: &[(&str, Run)] = &[
    (ADAPTIVE, adaptive),
    ("arc", |options, out| study::arc::run(options.quick, out, options.threads)),
    ("dccp", |options, out| study::dccp::run(options.quick, out, options.threads, &real::connect)),
    ("dcp", |options, out| study::dcp::run(options.quick, out, options.threads)),
    ("dtn-congestion", |options, out| study::comparative::run(options.quick, out, options.threads)),
    ("universal", |options, out| study::universal::run(options.quick, out, options.threads)),
];
/// The one that can be run between kernels.
const ADAPTIVE: &str = "adaptive";

type Run = fn(&Study, &Path) -> Result<study::Studied, study::Error>;

fn adaptive(options: &Study, out: &Path) -> Result<study::Studied, study::Error> {
    let real = options.real.then_some(&real::transfer as study::adaptive::real::Make);
    study::adaptive::run(options.quick, real, out, options.threads)
}

/// The names of all, as help and errors tell them.
pub fn names() -> String {
    STUDIES.iter().map(|known| known.0).collect::<Vec<_>>().join(", ")
}

pub fn study(options: &Study) -> Done {
    let Some((_, run)) = STUDIES.iter().find(|known| known.0 == options.name) else {
        return Err(format!("no study `{}`; there are: {}", options.name, names()).into());
    };
    if options.real && options.name != ADAPTIVE {
        return Err(
            format!("--real: study {} is not run between kernels; {ADAPTIVE} is", options.name).into()
        );
    }
    let folder = if options.quick { format!("{}-quick", options.name) } else { options.name.clone() };
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("out/study").join(folder));
    make_folder(&out)?;
    let done = run(options, &out)?;
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
    if done.violations > 0 {
        eprintln!("lightlag: the judge found {} violations", done.violations);
        return Err(Failure::Verdict);
    }
    Ok(())
}
