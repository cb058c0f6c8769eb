//! The `lightlag` command: a thin door to the lab.

mod args;
mod command;
mod output;
mod outputs;

use args::{Cli, Verb};
use clap::Parser;
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand as MissingSubcommand;
use output::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(wrong) if wrong.use_stderr() && wrong.kind() != MissingSubcommand => {
            eprintln!("lightlag: {}", one_line(&wrong));
            return ExitCode::from(2);
        }
        // Help and version; also where nothing at all was asked.
        Err(asked) => asked.exit(),
    };
    let done = match cli.verb {
        Verb::Run(options) => command::run::run(&options),
        Verb::Sweep(options) => command::sweep::sweep(&options),
        Verb::Bound(options) => command::bound::bound(&options),
        Verb::Compare(options) => command::compare::compare(&options),
        Verb::List(options) => command::list::list(&options),
        Verb::Schema => command::list::schema(),
        Verb::Study(options) => command::study::study(&options),
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
        Err(Failure::Input(line)) => {
            eprintln!("lightlag: {line}");
            ExitCode::from(2)
        }
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
