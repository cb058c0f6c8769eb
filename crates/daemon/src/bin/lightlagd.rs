//! `lightlagd`: keeps connections of applications while what carries them changes.

#[path = "../args.rs"]
mod args;

use args::{Cli, Verb};
use clap::{CommandFactory, Parser};
use lightlag_daemon::config::Config;
use lightlag_daemon::keys::Identity;
use lightlag_daemon::status::Status;
use lightlag_daemon::{self as daemon, control};
use lightlag_node::Error;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(wrong) if wrong.use_stderr() => {
            eprintln!("lightlagd: {}", one_line(&wrong));
            return ExitCode::from(2);
        }
        Err(asked) => asked.exit(),
    };
    match cli.verb.done() {
        Ok(said) => say(&said),
        Err(why) => {
            eprintln!("lightlagd: {why}");
            ExitCode::from(if matches!(why, Error::Input(_)) { 2 } else { 1 })
        }
    }
}

/// Prints to standard output. A reader may close it early, as `head` does.
fn say(text: &str) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            eprintln!("lightlagd: standard output: {why}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// What is wrong and what would be right, without how it is used.
fn one_line(wrong: &clap::Error) -> String {
    if wrong.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "missing COMMAND; see `lightlagd --help`".to_owned();
    }
    let text = wrong.to_string();
    let told = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let told: Vec<&str> = told.filter(|line| !line.is_empty()).collect();
    format!("{}; see `lightlagd --help`", told.join(" ").trim_start_matches("error: "))
}

impl Verb {
    /// Does it; what there is to say.
    fn done(self) -> Result<String, Error> {
        match self {
            Self::Run(settings) => {
                log();
                daemon::run(&settings.config).map(|()| String::new())
            }
            Self::Keygen { file } => {
                let identity = Identity::generate()?;
                identity.write(&file)?;
                Ok(format!("{}\n", identity.public()))
            }
            Self::Key { file } => Ok(format!("{}\n", Identity::read(&file)?.public())),
            Self::Example { folder } => {
                daemon::example::write(&folder)?;
                let settings = ["far", "near"].map(|name| folder.join(name).join("lightlagd.toml"));
                let [far, near] = settings.each_ref().map(|file| file.display());
                Ok(format!(
                    "lightlagd run --config {far}\nlightlagd run --config {near}\n\
                     curl --proxy socks5h://127.0.0.1:1080 http://page.lightlag/status\n"
                ))
            }
            Self::Check(settings) => {
                let config = Config::read(&settings.config)?;
                let key = Identity::read(&config.key)?.public();
                let notes = config.open_to_network().into_iter().map(|note| format!("note: {note}\n"));
                let notes: String = notes.collect();
                Ok(format!("{}: right; this daemon is {key}\n{notes}", settings.config.display()))
            }
            Self::Status { settings, json } => {
                let told = ask(&settings.config, "GET", "/status")?;
                if json {
                    return Ok(text(&told));
                }
                let status: Status = serde_json::from_slice(&told)
                    .map_err(|why| Error::Failed(format!("the daemon is of another version: {why}")))?;
                Ok(daemon::view::text(&status))
            }
            Self::Health { settings, ready } => {
                let (path, patience) = (if ready { "/readyz" } else { "/healthz" }, HEALTH);
                ask_within(&settings.config, ("GET", path), Some(patience)).map(|told| text(&told)).map_err(
                    |why| {
                        // A daemon that is not healthy is no mistake in what was typed.
                        Error::Failed(why.to_string())
                    },
                )
            }
            Self::Switch { settings, peer, stack } => {
                let query = utf8_percent_encode(&peer, NON_ALPHANUMERIC);
                ask(&settings.config, "POST", &format!("/stack?peer={query}&stack={stack}"))?;
                Ok(String::new())
            }
            Self::Reload(settings) => Ok(text(&ask(&settings.config, "POST", "/reload")?)),
            Self::Stop(settings) => {
                ask(&settings.config, "POST", "/stop")?;
                wait_for_end(&Config::control_of(&settings.config)?);
                Ok(String::new())
            }
            Self::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "lightlagd", &mut script);
                Ok(text(&script))
            }
        }
    }
}

fn text(said: &[u8]) -> String {
    String::from_utf8_lossy(said).into_owned()
}

/// Connections have some seconds to end; then the control socket has no listener.
fn wait_for_end(control: &Path) {
    while std::os::unix::net::UnixStream::connect(control).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// A daemon that does not answer within this time hangs.
const HEALTH: std::time::Duration = std::time::Duration::from_secs(10);

fn ask(config: &Path, method: &str, path: &str) -> Result<Vec<u8>, Error> {
    ask_within(config, (method, path), None)
}

fn ask_within(
    config: &Path,
    (method, path): (&str, &str),
    patience: Option<std::time::Duration>,
) -> Result<Vec<u8>, Error> {
    let socket = Config::control_of(config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|why| Error::Failed(format!("the runtime: {why}")))?;
    runtime.block_on(async {
        let asked = control::ask(&socket, method, path);
        let Some(patience) = patience else { return asked.await };
        let hangs = || Error::Failed(format!("{}: no answer for {} s", socket.display(), patience.as_secs()));
        tokio::time::timeout(patience, asked).await.unwrap_or_else(|_| Err(hangs()))
    })
}

/// To standard error: lines, or JSON where `LIGHTLAGD_LOG=json`; `RUST_LOG` says how much.
fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    // A log that cannot be written, as its disk is full, must end nothing.
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let lines = lines.log_internal_errors(false);
    if std::env::var("LIGHTLAGD_LOG").is_ok_and(|kind| kind == "json") {
        lines.json().with_target(false).init();
    } else {
        lines.with_target(false).init();
    }
}
