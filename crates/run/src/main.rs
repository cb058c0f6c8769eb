//! `lightlag-run PROGRAM ARGUMENTS`: a program that knows nothing of `lightlagd` goes through it.

mod args;
mod program;

use args::Cli;
use clap::Parser;
use clap::error::ErrorKind;
use lightlag::options::Options;
use program::Program;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// What shells end with that do not find a program.
const NOT_FOUND: u8 = 127;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(wrong) if wrong.kind() == ErrorKind::MissingRequiredArgument => {
            return fail("no program; it must be lightlag-run [OPTIONS] PROGRAM ARGUMENTS, see --help", 2);
        }
        Err(wrong) if wrong.use_stderr() => {
            let text = wrong.to_string();
            return fail(text.lines().next().unwrap_or_default().trim_start_matches("error: "), 2);
        }
        Err(asked) => asked.exit(),
    };
    let options = Options {
        priority: cli.priority,
        durable: cli.durable,
        delay_most_ms: cli.delay,
        peer: cli.peer.clone(),
        daemon: cli.socks.clone(),
        ..Options::default()
    };
    let Ok(daemon) = options.socks() else {
        let (flag, given) = match cli.socks.as_str() {
            "" => ("LIGHTLAG_SOCKS", std::env::var("LIGHTLAG_SOCKS").unwrap_or_default()),
            given => ("--socks", given.to_owned()),
        };
        let right = "it must be host:port, as in 127.0.0.1:1080";
        return fail(&format!("{flag}: {given:?} is not an address; {right}"), 2);
    };
    if TcpStream::connect_timeout(&daemon, Duration::from_secs(10)).is_err() {
        return fail(
            &format!("no lightlagd answers at {daemon}; start it, or say where it is by --socks"),
            1,
        );
    }
    let Some(loaded) = loaded() else {
        return fail("liblightlag_run.so is neither beside this command nor in ../lib; install both", 1);
    };
    run(&cli, daemon, &options.hints(), &loaded)
}

fn fail(why: &str, code: u8) -> ExitCode {
    eprintln!("lightlag-run: {why}");
    ExitCode::from(code)
}

/// Where what is loaded into programs is.
fn loaded() -> Option<PathBuf> {
    let command = std::env::current_exe().ok()?;
    let folder = command.parent()?;
    let folders = ["", "deps", "../lib/lightlag", "../lib"];
    folders.map(|other| folder.join(other).join("liblightlag_run.so")).into_iter().find(|file| file.exists())
}

fn run(cli: &Cli, daemon: SocketAddr, hints: &str, loaded: &Path) -> ExitCode {
    let Some((name, arguments)) = cli.words.split_first() else { return fail("no program", 2) };
    let mut command = Command::new(name);
    command.args(arguments).env("LIGHTLAG_SOCKS", daemon.to_string()).env("LIGHTLAG_HINTS", hints);
    let flag = |is_set: bool| if is_set { "1" } else { "0" };
    command.env("LIGHTLAG_ALSO_LOOPBACK", flag(cli.also_loopback)).env("LIGHTLAG_VERBOSE", flag(cli.verbose));
    let mut preload = loaded.as_os_str().to_owned();
    if let Some(before) = std::env::var_os("LD_PRELOAD").filter(|before| !before.is_empty()) {
        preload.push(":");
        preload.push(before);
    }
    command.env("LD_PRELOAD", preload);
    if let Some(why) = Program::find(name).and_then(|program| program.refuses()) {
        // Its children may well be reached.
        eprintln!("lightlag-run: {}: {why}; setting ALL_PROXY instead", name.to_string_lossy());
        let user = if hints.is_empty() { String::new() } else { format!("{hints}:-@") };
        for variable in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "https_proxy", "http_proxy"] {
            command.env(variable, format!("socks5h://{user}{daemon}"));
        }
    }
    let why = command.exec();
    let code = if why.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { 2 };
    fail(&format!("{}: {why}", name.to_string_lossy()), code)
}
