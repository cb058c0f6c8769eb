//! The `lightlag` command: a thin door to the lab. A library, so that manual pages are made from its definition.

mod args;
mod command;
mod output;
mod outputs;

use args::{Cli, Verb};
use clap::FromArgMatches;
use clap::error::ContextKind::{InvalidArg, InvalidSubcommand as Unknown};
use clap::error::ContextValue;
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand as MissingSubcommand;
use lightlag_scenario::{keys, suggestion};
use output::Failure;
use std::process::ExitCode;

/// What a build without the feature `daemon` says of the commands that use sockets.
#[cfg(not(feature = "daemon"))]
const ABSENT: &str = "transfer, bundles, bench-link, emulate and names use sockets, which this program is built without; \
    install it with them: cargo install lightlag-cli --features daemon";

/// What can be typed, for completions and manual pages.
pub fn command() -> clap::Command {
    args::command()
}

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    lightlag_lab::set_commit(env!("LIGHTLAG_COMMIT"));
    let parsed = command().try_get_matches().and_then(|given| Cli::from_arg_matches(&given));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(wrong) if wrong.use_stderr() && wrong.kind() != MissingSubcommand => {
            eprintln!("lightlag: {}", one_line(&wrong, &command()));
            return ExitCode::from(2);
        }
        // Help and version; also where nothing at all was asked.
        Err(asked) => asked.exit(),
    };
    let done = match cli.verb {
        Verb::New(options) => command::new::new(&options),
        Verb::Validate(options) => command::validate::validate(&options),
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
        Verb::View(options) => command::view::view(&options),
        Verb::Plot(options) => command::plot::plot(&options),
        Verb::Capture(options) => command::capture::capture(&options),
        Verb::Completions(options) => command::completions::completions(&options),
        #[cfg(feature = "daemon")]
        Verb::Sockets(verb) => command::sockets::sockets(&verb),
        #[cfg(not(feature = "daemon"))]
        Verb::Absent { .. } => Err(Failure::Input(ABSENT.to_owned())),
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

/// The command that the words of the command line name, as far as there is one, and what is typed for it.
fn named(root: &clap::Command, words: impl Iterator<Item = String>) -> (&clap::Command, String) {
    let (mut command, mut typed) = (root, "lightlag".to_owned());
    for word in words {
        let Some(verb) = command.find_subcommand(&word).filter(|verb| !verb.is_hide_set()) else { break };
        command = verb;
        typed = format!("{typed} {}", verb.get_name());
    }
    (command, typed)
}

/// What is wrong with the command line, without the usage that clap adds.
fn one_line(wrong: &clap::Error, root: &clap::Command) -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let (verb, typed) = named(root, words);
    if let Some(ContextValue::String(given)) = wrong.get(Unknown) {
        let verbs = verb.get_subcommands().filter(|verb| !verb.is_hide_set());
        let known: Vec<&str> = verbs.map(clap::Command::get_name).collect();
        return format!("unknown command `{given}`; {}; see `{typed} --help`", suggestion(given, &known));
    }
    let text = wrong.to_string();
    let key = key_of_scenarios(wrong, verb);
    let said = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .map(str::trim)
        .filter(|line| !(line.is_empty() || key.is_some() && line.starts_with(TIP)))
        .chain(key.as_deref())
        .fold(String::new(), |said, line| match line.strip_prefix(TIP) {
            Some(tip) => format!("{said}; {tip}"),
            None if said.is_empty() => line.to_owned(),
            None => format!("{said} {line}"),
        });
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    value_of_option(said).unwrap_or_else(|| format!("{said}; see `{typed} --help`"))
}

/// How clap's lines with advice begin.
const TIP: &str = "tip: ";

/// That an unknown option is a key of scenarios, which `--set` sets, as a tip.
fn key_of_scenarios(wrong: &clap::Error, verb: &clap::Command) -> Option<String> {
    verb.get_arguments().find(|known| known.get_long() == Some("set"))?;
    let Some(ContextValue::String(given)) = wrong.get(InvalidArg) else { return None };
    let key = given.strip_prefix("--")?.replace('-', "_");
    let mut keys = [keys::BUNDLES, keys::PACKETS, keys::NAMES].into_iter().flatten();
    keys.find(|known| known.name == key)?;
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let mut words = words.skip_while(|word| !word.starts_with(given.as_str()));
    let first = words.next()?;
    let value = first.split_once('=').map(|(_, value)| value.to_owned()).or_else(|| words.next());
    let value = value.unwrap_or_else(|| "VALUE".to_owned());
    Some(format!("{TIP}it is a key of scenarios: --set {key}=\"{value}\""))
}

/// What is wrong with the value of an option, in the form of all other errors: `--option: what; what is accepted`.
fn value_of_option(said: &str) -> Option<String> {
    let (_, rest) = said.strip_prefix("invalid value '")?.split_once("' for '--")?;
    let (option, what) = rest.split_once("': ")?;
    let name = option.split(' ').next().unwrap_or(option);
    what.contains("; ").then(|| format!("--{name}: {what}"))
}

#[cfg(all(test, not(feature = "daemon")))]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn commands_that_use_sockets_are_refused_with_what_to_install() {
        for name in ["transfer", "bundles", "bench-link", "emulate", "names"] {
            let cli = Cli::try_parse_from(["lightlag", name, "--json", "a", "--help"]);
            assert!(matches!(cli, Ok(Cli { verb: Verb::Absent { .. } })), "{name}");
            assert!(ABSENT.contains(name));
        }
        assert!(!command().render_help().to_string().contains("transfer"));
    }
}
