//! `lightlag capture`.

use crate::args::Capture;
use crate::output::{
    Done, Failure, cannot_write, create_file, make_folder_of, print, print_table, write_file,
};
use crate::outputs::keep_apart;
use lightlag_capture::analysis::{Analysed, Error, Filter, Options, analyse};
use lightlag_capture::{Rewritten, to_dccp, to_tcp};
use lightlag_lab::captured::{report, table, write_parquet};
use lightlag_scenario::open_file;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

pub fn capture(options: &Capture) -> Done {
    let wanted = wanted(options)?;
    check_outputs(options)?;
    let analysed = read(&options.file, wanted)?;
    if let Some(path) = &options.parquet {
        make_folder_of(path)?;
        write_parquet(&analysed, path)?;
    }
    if let Some(path) = &options.html {
        write_file(path, report(&analysed, &name(&options.file)).html())?;
    }
    if let Some(path) = &options.to_tcp {
        rewrite(options, path, |from, to, wanted| {
            to_tcp(from, to, &wanted.dccp_ports, wanted.interface.as_deref())
        })?;
    }
    if let Some(path) = &options.to_dccp {
        rewrite(options, path, |from, to, wanted| {
            to_dccp(from, to, &wanted.dccp_ports, wanted.interface.as_deref())
        })?;
    }
    if options.json {
        return print(&format!("{}\n", serde_json::to_string(&analysed)?));
    }
    print_table(&table(&analysed))?;
    analysed.notes.iter().for_each(|note| eprintln!("lightlag: {}: {note}", options.file.display()));
    Ok(())
}

/// What is written leaves what is read, and the other outputs, as they are.
fn check_outputs(options: &Capture) -> Done {
    let rewritten = [("--to-tcp", options.to_tcp.as_deref()), ("--to-dccp", options.to_dccp.as_deref())];
    if let Some((option, _)) = rewritten.iter().find(|(_, path)| path.is_some() && is_stdin(&options.file)) {
        let line =
            format!("{option}: the capture is read twice, which standard input cannot be; name a file");
        return Err(Failure::Input(line));
    }
    let made = [("--parquet", options.parquet.as_deref()), ("--html", options.html.as_deref())];
    keep_apart(&options.file, "the capture that is read", &[made, rewritten].concat())
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads the file again: what is rewritten does not wait in memory.
fn rewrite(
    options: &Capture,
    path: &Path,
    write: impl FnOnce(File, &mut BufWriter<File>, &Options) -> Result<Rewritten, Error>,
) -> Done {
    let from = open(&options.file)?;
    let mut to = BufWriter::new(create_file(path)?);
    let done = write(from, &mut to, &wanted(options)?)
        .map_err(|error| Failure::Input(format!("{} {error}", options.file.display())))?;
    to.flush().map_err(|why| cannot_write(path, &why))?;
    let unread = match done.unread {
        0 => String::new(),
        unread => format!("; {unread} damaged or cut ones were skipped"),
    };
    let packets = if done.packets == 1 { "packet" } else { "packets" };
    eprintln!("lightlag: {}: {} {packets} of DCCP{unread}", path.display(), done.packets);
    Ok(())
}

fn open(path: &Path) -> Result<File, Failure> {
    open_file(path).map_err(|why| Failure::Input(format!("{} cannot be read: {why}", path.display())))
}

fn wanted(options: &Capture) -> Result<Options, Failure> {
    let filters = options.filters.iter().map(|text| filter(text)).collect::<Result<_, _>>()?;
    let mut wanted = Options {
        interface: options.interface.clone(),
        filters,
        pause_ns: options.pause.as_nanos(),
        graphs: options.html.is_some(),
        ..Options::default()
    };
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
    if is_stdin(path) {
        return analyse(std::io::stdin().lock(), options).map_err(told);
    }
    analyse(open(path)?, options).map_err(told)
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
