//! `lightlag view`.

mod daemon;

use super::read_from;
use crate::args::View;
use crate::output::{Done, Failure, print, write_file};
use lightlag_lab::explain::{check_trace, is_trace, trace_file};
use lightlag_lab::view::{Chosen, format_of_trace, is_results, of_folder, of_scenario, of_trace, trace};
use lightlag_page::serve::{Site, listen};
use lightlag_page::{Records, Source, with_sources};
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
    if is_results(what) {
        refuse(options, what, options.sets.first().map(|_| "--set"))?;
        return Ok(of_folder(what, chosen)?);
    }
    if !what.exists() {
        let right = "name a folder of results, a scenario, a trace, or http://ADDRESS of a lightlagd";
        return Err(Failure::Input(format!("{}: no such file or folder; {right}", what.display())));
    }
    if what.is_dir() || is_trace(what) {
        let given = [
            ("--set", !options.sets.is_empty()),
            ("--seed", chosen.seed.is_some()),
            ("--point", chosen.point.is_some()),
        ];
        refuse(options, what, given.into_iter().find(|(_, given)| *given).map(|(option, _)| option))?;
        let source = if options.out.is_some() { of_trace(what)? } else { served(what, files)? };
        return Ok(vec![source]);
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

/// A trace that is served beside the page.
fn served(path: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<Source, Failure> {
    let path = trace_file(path)?;
    let format = format_of_trace(&path)?;
    check_trace(&path)?;
    let shown = path.display();
    let bytes = path.metadata().map_err(|why| format!("cannot read {shown}: {why}"))?.len();
    if bytes > SERVED_BYTES_MAX {
        let right = "no browser holds it; record a shorter run";
        return Err(Failure::Input(format!("{shown}: it has more than 1 GiB; {right}")));
    }
    let end = path.extension().unwrap_or_default().to_string_lossy();
    let name = format!("trace-{}.{end}", files.len());
    files.push((name.clone(), path.clone()));
    Ok(trace(&path, format, Records::Url(name)))
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

/// Opens a browser, if the machine has a display.
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
