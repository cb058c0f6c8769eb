//! The `lightlag` command: a thin door to the lab.

mod args;
mod command;
mod output;
mod outputs;

use args::{Cli, Verb};
use clap::Parser;
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand as MissingSubcommand;
use output::Failure;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    lightlag_lab::set_commit(env!("LIGHTLAG_COMMIT"));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(wrong) if wrong.use_stderr() && wrong.kind() != MissingSubcommand => {
            eprintln!("lightlag: {}", one_line(&wrong));
            return ExitCode::from(2);
        }
        // Help and version; also where nothing at all was asked.
        Err(asked) => asked.exit(),
    };
    if cli.verb.listens() {
        run_with_few_arenas();
    }
    let done = match cli.verb {
        Verb::Run(options) => command::run::run(&options),
        Verb::Explain(options) => command::explain::explain(&options),
        Verb::Sweep(options) => command::sweep::sweep(&options),
        Verb::Bound(options) => command::bound::bound(&options),
        Verb::Compare(options) => command::compare::compare(&options),
        Verb::Convert(options) => command::convert::convert(&options),
        Verb::List(options) => command::list::list(&options),
        Verb::Schema => command::list::schema(),
        Verb::Study(options) => command::study::study(&options),
        Verb::Merge(options) => command::merge::merge(&options),
        Verb::Report(options) => command::report::report(&options),
        Verb::Transfer(options) => command::transfer::transfer(&options),
        Verb::Bundles(options) => command::bundles::bundles(&options),
        Verb::BenchLink(options) => command::bench_link::bench_link(&options),
        Verb::Capture(options) => command::capture::capture(&options),
        Verb::Emulate(options) => command::emulate::emulate(&options),
        Verb::Names(options) => command::names::names(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Verdict) => ExitCode::from(1),
        Err(Failure::Ended(code)) => ExitCode::from(code),
        Err(Failure::Failed(line)) => {
            eprintln!("lightlag: {line}");
            ExitCode::from(1)
        }
        Err(Failure::Input(lines)) => {
            lines.lines().for_each(|line| eprintln!("lightlag: {line}"));
            ExitCode::from(2)
        }
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

/// What is wrong with the command line, without the usage that clap adds.
fn one_line(wrong: &clap::Error) -> String {
    let text = wrong.to_string();
    let said: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let said = said.join(" ");
    format!("{}; see `lightlag --help`", said.strip_prefix("error: ").unwrap_or(&said))
}
