//! The commands that use sockets: they need the feature `daemon`.

mod bench_link;
mod bundles;
mod controller;
mod emulate;
mod emulate_packets;
mod names;
mod pacing;
mod plan;
mod record;
mod transfer;

use super::read;
use crate::args::sockets::Sockets;
use crate::output::{Done, Failure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lightlag_node::Error;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Does what was asked for.
pub fn sockets(verb: &Sockets) -> Done {
    if verb.listens() {
        run_with_few_arenas();
    }
    match verb {
        Sockets::Transfer(options) => transfer::transfer(options),
        Sockets::Bundles(options) => bundles::bundles(options),
        Sockets::BenchLink(options) => bench_link::bench_link(options),
        Sockets::Emulate(options) => emulate::emulate(options),
        Sockets::Names(options) => names::names(options),
    }
}

/// Starts this program again with at most two arenas of glibc's allocator, which reserves 64 MiB of address space for each
/// of a listener's threads: under a limit (`ulimit -v`) a few idle connections would take it all. Where that is not
/// possible, it continues as it is.
fn run_with_few_arenas() {
    const VARIABLE: &str = "MALLOC_ARENA_MAX";
    let mut arguments = std::env::args_os();
    if let (None, Some(name), Ok(program)) =
        (std::env::var_os(VARIABLE), arguments.next(), std::env::current_exe())
    {
        let _ = Command::new(program).arg0(name).args(arguments).env(VARIABLE, "2").exec();
    }
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
        let wrong =
            |_| Failure::Input(format!("{text} is not a port; name one from 0 (any) to {}", u16::MAX));
        return Ok(SocketAddr::from(([0, 0, 0, 0], port.map_err(wrong)?)));
    }
    resolve(text, port)
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

/// A bar on standard error; hidden where that is not a terminal.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style)
}

/// Bytes of content that went over, in bit/s.
fn goodput(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds.max(1e-9)
}
