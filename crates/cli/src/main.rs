//! The `lightlag` command: a thin door to the lab.

mod args;
mod command;
mod output;

use args::{Cli, Verb};
use clap::Parser;
use output::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match Cli::parse().verb {
        Verb::Run(options) => command::run::run(&options),
        Verb::Sweep(options) => command::sweep::sweep(&options),
        Verb::Compare(options) => command::compare::compare(&options),
        Verb::List(options) => command::list::list(&options),
        Verb::Study(options) => command::study::study(&options),
        Verb::Report(options) => command::report::report(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Verdict) => ExitCode::from(1),
        Err(Failure::Input(line)) => {
            eprintln!("lightlag: {line}");
            ExitCode::from(2)
        }
    }
}
