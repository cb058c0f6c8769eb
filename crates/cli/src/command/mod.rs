//! The verbs, one file each.

pub mod bench_link;
pub mod bound;
pub mod bundles;
pub mod capture;
pub mod compare;
mod controller;
pub mod convert;
pub mod emulate;
mod emulate_packets;
pub mod explain;
pub mod list;
pub mod merge;
pub mod names;
mod pacing;
mod plan;
mod progress;
mod record;
pub mod report;
pub mod run;
pub mod study;
pub mod sweep;
pub mod transfer;

use crate::args::Source;
use crate::output::{Done, Failure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lightlag_lab::sweep::seed_list;
use lightlag_node::Error;
use lightlag_protocols::units::Bytes;
use lightlag_scenario::{Point, Points, ScenarioFile, Seed, Wrong, notes, quantity};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

/// Reads a scenario and applies `--set`.
fn read(source: &Source) -> Result<ScenarioFile, Failure> {
    let paths: Vec<&Path> = source.files.iter().map(|path| path.as_path()).collect();
    let mut file = ScenarioFile::read_with(&paths, Default::default(), !source.no_defaults)?;
    for (key, value) in &source.sets {
        file.set(key, value)?;
    }
    Ok(file)
}

/// Prints the warnings of a scenario, after everything that can be refused: an error is printed alone.
fn print_warnings(points: &Points) {
    points.warnings().iter().for_each(|line| eprintln!("{line}"));
}

/// Reports once how each recorded trace of contacts was read.
fn tell_traces<'a>(points: impl IntoIterator<Item = &'a Point>) {
    notes(points).iter().for_each(|note| eprintln!("{note}"));
}

/// The scenario as written, followed by the keys set on the command line.
fn text(file: &ScenarioFile) -> String {
    let written: String =
        file.sources().iter().map(|source| String::from_utf8_lossy(&source.bytes)).collect();
    file.overrides().iter().fold(written, |text, (key, value)| text + &format!("# --set {key}={value}\n"))
}

/// Where somebody listens.
fn address(text: &str, port: u16) -> Result<SocketAddr, Failure> {
    let at = resolve(text, port)?;
    if at.port() > 0 {
        return Ok(at);
    }
    Err(Failure::Input(format!("{text}: port 0 is invalid; name a port from 1 to 65535")))
}

/// The first address that a name of this form stands for.
fn resolve(text: &str, port: u16) -> Result<SocketAddr, Failure> {
    let right = format!("write HOST:PORT, as localhost:{port} or [::1]:{port}");
    let wrong = |what: String| Failure::Input(format!("{text}: {what}; {right}"));
    let has_port = text.rsplit_once(':').is_some_and(|(host, port)| {
        !port.is_empty()
            && port.bytes().all(|b| b.is_ascii_digit())
            && (!host.contains(':') || host.ends_with(']'))
    });
    let full = if has_port {
        text.to_owned()
    } else if text.contains(':') && !text.ends_with(']') {
        format!("[{text}]:{port}")
    } else {
        format!("{text}:{port}")
    };
    let found = full.to_socket_addrs().map_err(|why| wrong(why.to_string()))?;
    let found: Vec<SocketAddr> = found.collect();
    // A listener listens on IPv4 by default.
    let first = found.iter().find(|at| at.is_ipv4()).or_else(|| found.first()).copied();
    first.ok_or_else(|| wrong("the name stands for no address".to_owned()))
}

/// `PORT` or `HOST:PORT`, where to listen; nothing: everywhere at this port.
fn listening_address(text: &str, port: u16) -> Result<SocketAddr, Failure> {
    if text.is_empty() {
        return Ok(SocketAddr::from(([0, 0, 0, 0], port)));
    }
    let bare = text.trim_start_matches(':');
    // A resolver takes a number alone for an address of 32 bits.
    if !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit()) {
        let port = bare.parse::<u16>();
        let wrong = |_| Failure::Input(format!("{text} is no port; name one from 0 (any) to {}", u16::MAX));
        return Ok(SocketAddr::from(([0, 0, 0, 0], port.map_err(wrong)?)));
    }
    resolve(text, port)
}

/// A quantity that an option gives.
fn option<T>(
    flag: &str,
    text: &str,
    read: impl Fn(&str) -> Result<T, lightlag_scenario::Wrong>,
) -> Result<T, Failure> {
    read(text).map_err(|wrong| Failure::Input(format!("{flag}: {}; {}", wrong.what, wrong.right)))
}

/// A quantity that an option gives, if the option is given.
fn given<T>(
    flag: &str,
    text: Option<&str>,
    read: impl Fn(&str) -> Result<T, lightlag_scenario::Wrong>,
) -> Result<Option<T>, Failure> {
    text.map(|text| option(flag, text, read)).transpose()
}

/// As [`given`], of a number of bytes.
fn given_bytes(flag: &str, text: Option<&str>) -> Result<Option<u64>, Failure> {
    Ok(given(flag, text, size)?.map(|size| size.0))
}

/// The seeds of `--seeds`, or else those of the file.
fn seeds(list: Option<&str>, file: &ScenarioFile) -> Result<Vec<Seed>, Failure> {
    Ok(match list {
        Some(list) => seed_list(list)?,
        None => file.seeds()?,
    })
}

/// An error of the node; not itself one that is displayed, so that it keeps its exit code.
struct Failed(Error);

impl From<Failed> for Failure {
    fn from(Failed(error): Failed) -> Self {
        match error {
            Error::Input(line) => Self::Input(line),
            Error::Failed(line) => Self::Failed(line),
        }
    }
}

/// How listening ended, `once` or until something asked for the end.
fn listened(result: Result<(), Error>, once: bool) -> Done {
    match result {
        // The line was printed when it happened.
        Err(Error::Failed(_)) if once => Err(Failure::Verdict),
        other => Ok(other.map_err(Failed)?),
    }
}

/// A plain number is one of bytes.
fn size(text: &str) -> Result<Bytes, Wrong> {
    text.trim().parse().map(Bytes).or_else(|_| quantity::bytes(text))
}

/// A bar on standard error; hidden where that is no terminal.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style)
}

/// Bytes of content that went over, in bit/s.
fn goodput(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds.max(1e-9)
}
