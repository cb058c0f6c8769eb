//! `lightlag view`.

mod daemon;

use super::read_from;
use crate::args::View;
use crate::output::{Done, Failure, print, write_file};
use lightlag_lab::view::{Chosen, SCENARIO_FILE, TRACE_BYTES_MAX, format_of_trace, of_folder, of_scenario};
use lightlag_page::serve::{Site, listen};
use lightlag_page::{About, Format, Records, Source, with_sources};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Bytes of a trace that is served: a browser reads it into memory.
const SERVED_BYTES_MAX: u64 = 1 << 30;

pub fn view(options: &View) -> Done {
    if let Some(url) = options.what.iter().find_map(|what| daemon::url(what)) {
        return live(options, &url);
    }
    let mut files = Vec::new();
    let mut sources = Vec::new();
    for what in &options.what {
        let mut found = sources_of(what, options, &mut files)?;
        // Of two, each gives one run: the better one.
        sources.extend(found.split_off(if options.what.len() > 1 {
            found.len().saturating_sub(1)
        } else {
            0
        }));
    }
    if let Some(path) = &options.out {
        write_file(path, with_sources(&sources))?;
        return print(&format!("{}\n", path.display()));
    }
    serve(options, Site::new(&sources, files))
}

/// The runs that a file or a folder stands for. Traces that are served are added to `files`, by the names that their sources have
/// for them.
fn sources_of(
    what: &Path,
    options: &View,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<Vec<Source>, Failure> {
    let chosen = Chosen { seed: options.which.seed, point: options.which.point };
    let is_of_run = |name: &str| what.join(name).is_file();
    if what.is_dir() && [SCENARIO_FILE, "sweep.json"].iter().any(|name| is_of_run(name)) {
        refuse(options, what, options.sets.first().map(|_| "--set"))?;
        return Ok(of_folder(what, chosen)?);
    }
    if !what.exists() {
        let right = "name a folder of results, a scenario, a trace, or http://ADDRESS of a lightlagd";
        return Err(Failure::Input(format!("{}: there is no such file or folder; {right}", what.display())));
    }
    if what.is_dir() || lightlag_lab::explain::is_trace(what) {
        let given = [
            ("--set", !options.sets.is_empty()),
            ("--seed", chosen.seed.is_some()),
            ("--point", chosen.point.is_some()),
        ];
        refuse(options, what, given.into_iter().find(|(_, given)| *given).map(|(option, _)| option))?;
        return Ok(vec![of_trace(&lightlag_lab::explain::trace_file(what)?, options.out.is_some(), files)?]);
    }
    let file = read_from(&[what], &options.sets, options.no_defaults)?;
    Ok(of_scenario(&file, chosen, None)?)
}

/// Refuses an option that changes runs where they are done.
fn refuse(options: &View, what: &Path, option: Option<&str>) -> Done {
    match option {
        // It may be meant for the other one.
        Some(option) if options.what.len() == 1 => Err(Failure::Input(format!(
            "{option}: {} is of runs that are done; name the scenario to run it with other values",
            what.display()
        ))),
        _ => Ok(()),
    }
}

fn of_trace(path: &Path, is_within: bool, files: &mut Vec<(String, PathBuf)>) -> Result<Source, Failure> {
    let shown = path.display();
    let format = format_of_trace(path)?;
    lightlag_lab::explain::check_trace(path)?;
    let unreadable = |why: std::io::Error| Failure::Input(format!("cannot read {shown}: {why}"));
    let bytes = path.metadata().map_err(unreadable)?.len();
    if is_within && bytes > TRACE_BYTES_MAX {
        let right = "leave out --out to serve it";
        return Err(Failure::Input(format!("--out: {shown} has more than 64 MiB; {right}")));
    }
    if bytes > SERVED_BYTES_MAX {
        let right = "no browser holds it; record a shorter run";
        return Err(Failure::Input(format!("{shown} has more than 1 GiB; {right}")));
    }
    let records = if is_within {
        Records::within(format, &std::fs::read(path).map_err(unreadable)?)
    } else {
        let end = match format {
            Format::Parquet => "parquet",
            Format::Jsonl => "jsonl",
        };
        let name = format!("trace-{}.{end}", files.len());
        files.push((name.clone(), path.to_owned()));
        Records::Url(name)
    };
    let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Source::Trace { title, format, records, scenario: None, about: About::default() })
}

/// Prints where the page is, opens it, and serves it until the program is ended.
fn serve(options: &View, site: Site) -> Done {
    let port = options.port.unwrap_or(0);
    let listener = listen(port).map_err(|why| {
        Failure::Input(format!("--port: cannot listen on 127.0.0.1:{port}: {why}; choose another one"))
    })?;
    let url = format!("http://{}/", listener.local_addr()?);
    print(&format!("{url}\n"))?;
    show(options, &url);
    Ok(site.serve(&listener)?)
}

/// The page of a daemon that answers.
fn live(options: &View, url: &str) -> Done {
    let with_others = [
        ("WHAT", options.what.len() > 1),
        ("--out", options.out.is_some()),
        ("--port", options.port.is_some()),
        ("--seed", options.which.seed.is_some()),
        ("--point", options.which.point.is_some()),
        ("--set", !options.sets.is_empty()),
    ];
    if let Some((option, _)) = with_others.iter().find(|(_, given)| *given) {
        return Err(Failure::Input(format!(
            "{option}: a lightlagd serves its own page; name its address alone"
        )));
    }
    daemon::check(url).map_err(|why| {
        Failure::Input(format!("{url}: {why}; name the address of `[page]` of a lightlagd that runs"))
    })?;
    print(&format!("{url}\n"))?;
    show(options, url);
    Ok(())
}

/// Opens a browser, where there is a screen.
fn show(options: &View, url: &str) {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let screen = cfg!(not(target_os = "linux")) || has("DISPLAY") || has("WAYLAND_DISPLAY") || has("BROWSER");
    if options.no_open || !screen || !std::io::stdout().is_terminal() {
        return;
    }
    if let Err(why) = open::that_detached(url) {
        eprintln!("no browser could be opened: {why}");
    }
}
