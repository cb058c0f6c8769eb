//! `lightlag capture`.

use super::option;
use crate::args::Capture;
use crate::output::{Done, Failure, print, write_file};
use lightlag_lab::capture::analysis::{Analysed, Error, Filter, Options, analyse};
use lightlag_lab::capture::{Rewritten, report, table, to_dccp, to_tcp, write_parquet};
use lightlag_lab::scenario::quantity;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

pub fn capture(options: &Capture) -> Done {
    let analysed = read(&options.file, wanted(options)?)?;
    if let Some(path) = &options.parquet {
        write_parquet(&analysed, path)?;
    }
    if let Some(path) = &options.html {
        write_file(path, report(&analysed, &name(&options.file)).html())?;
    }
    if let Some(path) = &options.to_tcp {
        rewrite(options, path, "--to-tcp", |from, to, ports| to_tcp(from, to, ports))?;
    }
    if let Some(path) = &options.to_dccp {
        rewrite(options, path, "--to-dccp", |from, to, ports| to_dccp(from, to, ports))?;
    }
    if options.json {
        return print(&format!("{}\n", serde_json::to_string(&analysed)?));
    }
    print(&table(&analysed))?;
    analysed.notes.iter().for_each(|note| eprintln!("lightlag: {}: {note}", options.file.display()));
    Ok(())
}

/// Reads the file again: what is rewritten does not wait in memory.
fn rewrite(
    options: &Capture,
    path: &Path,
    option: &str,
    write: impl FnOnce(File, &mut BufWriter<File>, &[u16]) -> Result<Rewritten, Error>,
) -> Done {
    if options.file.as_os_str() == "-" {
        let line =
            format!("{option}: the capture is read twice, which standard input cannot be; name a file");
        return Err(Failure::Input(line));
    }
    if path.canonicalize().is_ok_and(|to| options.file.canonicalize().is_ok_and(|from| from == to)) {
        let line = format!("{option}: {} is the capture that is read; name another file", path.display());
        return Err(Failure::Input(line));
    }
    let cannot = |why: std::io::Error| Failure::Input(format!("cannot write {}: {why}", path.display()));
    let from = open(&options.file)?;
    let mut to = BufWriter::new(File::create(path).map_err(cannot)?);
    let done = write(from, &mut to, &wanted(options)?.dccp_ports)
        .map_err(|error| Failure::Input(format!("{} {error}", options.file.display())))?;
    to.flush().map_err(cannot)?;
    let unread = match done.unread {
        0 => String::new(),
        unread => format!("; {unread} damaged or cut ones were left out"),
    };
    eprintln!("lightlag: {}: {} packets of DCCP{unread}", path.display(), done.packets);
    Ok(())
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|why| Failure::Input(format!("{} cannot be read: {why}", path.display())))
}

fn wanted(options: &Capture) -> Result<Options, Failure> {
    let pause = option("--pause", &options.pause, quantity::positive_time)?;
    let filters = options.filters.iter().map(|text| filter(text)).collect::<Result<_, _>>()?;
    let mut wanted =
        Options { filters, pause_ns: pause.as_nanos(), graphs: options.html.is_some(), ..Options::default() };
    if !options.dccp_ports.is_empty() {
        wanted.dccp_ports.clone_from(&options.dccp_ports);
    }
    Ok(wanted)
}

fn filter(text: &str) -> Result<Filter, Failure> {
    text.parse().map_err(|right: String| Failure::Input(format!("--filter: `{text}` is unknown; {right}")))
}

fn read(path: &Path, options: Options) -> Result<Analysed, Failure> {
    let told = |error: Error| Failure::Input(format!("{} {error}", path.display()));
    if path.as_os_str() == "-" {
        return analyse(std::io::stdin().lock(), options).map_err(told);
    }
    analyse(open(path)?, options).map_err(told)
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
