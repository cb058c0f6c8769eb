//! The help: verbs in groups, and examples of each.

use super::Cli;
use clap::{Command, CommandFactory};

/// Verbs by what they are about.
const GROUPS: &[(&str, &[&str])] = &[
    ("Scenarios", &["new", "validate", "convert", "list", "schema"]),
    ("Runs", &["run", "explain", "sweep", "merge", "bound"]),
    ("Results", &["compare", "report", "plot", "view"]),
    ("Papers", &["study"]),
    ("Programs", &["completions"]),
    ("Real networks", &["transfer", "bundles", "names", "bench-link", "emulate", "capture"]),
];

/// Lines that can be typed, by verb; those that need no network run one after the other as they stand here.
const EXAMPLES: &[(&[&str], &[&str])] = &[
    (&["new"], &["lightlag new walkers", "lightlag new link moon.toml"]),
    (&["validate"], &["lightlag validate walkers.toml moon.toml"]),
    (&["convert"], &["lightlag new the_one && lightlag convert the_one.txt --point 0 --out converted.toml"]),
    (&["list"], &["lightlag list", "lightlag list copy_value"]),
    (&["schema"], &["lightlag schema > scenario.schema.json"]),
    (
        &["run"],
        &[
            "lightlag run walkers.toml",
            "lightlag run walkers.toml --seed 2 --set nodes.walkers.buffer=\"1 MB\" --json",
            "lightlag run walkers.toml --out out/one --trace out/one.parquet",
            "lightlag run moon.toml --trace moon.pcapng --trace moon.jsonl --out out/moon",
        ],
    ),
    (
        &["explain"],
        &[
            "lightlag explain walkers.toml --why",
            "lightlag explain walkers.toml --bundle 17",
            "lightlag explain out/one.parquet --lost",
        ],
    ),
    (
        &["sweep"],
        &[
            "lightlag sweep walkers.toml",
            "lightlag sweep walkers.toml --set nodes.walkers.buffer='[\"1 MB\", \"5 MB\"]' --out out/buffers",
            "lightlag sweep walkers.toml --out out/parts --shard 1/2",
        ],
    ),
    (&["merge"], &["lightlag merge out/parts"]),
    (&["bound"], &["lightlag bound walkers.toml --seeds 1"]),
    (
        &["compare"],
        &[
            "lightlag compare out/walkers --by mechanism",
            "lightlag run walkers.toml --point 1 --out out/other && lightlag compare out/one out/other",
        ],
    ),
    (&["report"], &["lightlag report out/walkers"]),
    (
        &["view"],
        &[
            "lightlag view out/walkers --out walkers.html",
            "lightlag view walkers.toml --point 0 --out walkers.html",
            "lightlag view out/one.parquet out/other --out both.html",
        ],
    ),
    (
        &["plot"],
        &[
            "lightlag plot out/buffers --metric delivery_prob --out delivery.html",
            "lightlag plot out/moon --metric window --out window.html",
        ],
    ),
    (&["study"], &["lightlag study --list", "lightlag study traces --quick"]),
    (&["completions"], &["lightlag completions bash > lightlag.bash"]),
    (
        &["transfer"],
        &[
            "lightlag transfer --listen --folder inbox",
            "lightlag transfer film.mp4 far.example --rate \"100 Mbit/s\" --light \"240 s\"",
        ],
    ),
    (
        &["bundles", "send"],
        &["lightlag bundles send a.bundle --to far.example --over ltp-udp --rate \"10 Mbit/s\""],
    ),
    (&["bundles", "listen"], &["lightlag bundles listen --over tcp --folder inbox"]),
    (&["names", "get"], &["lightlag names get /a/film --insecure -o film.mp4"]),
    (&["names", "put"], &["lightlag names put /a/film film.mp4 --key film.key"]),
    (&["names", "keygen"], &["lightlag names keygen film.key"]),
    (
        &["bench-link"],
        &[
            "lightlag bench-link --listen --over ltp-udp",
            "lightlag bench-link far.example --over ltp-udp --time \"1 min\"",
        ],
    ),
    (
        &["emulate"],
        &[
            "lightlag emulate moon.toml --listen 4000 --to 127.0.0.1:4001",
            "lightlag emulate moon.toml -- ping -c 3 10.77.0.2",
        ],
    ),
    (&["capture"], &["lightlag capture moon.pcapng --html moon.html"]),
];

/// The command line with its whole help, from which manuals and completions can be made, too.
pub fn command() -> Command {
    let mut command = Cli::command();
    for (verbs, examples) in EXAMPLES {
        command = at(command, verbs, &|verb| with_examples(verb, examples));
    }
    let header = command.get_styles().get_header().to_owned();
    let groups: String = GROUPS
        .iter()
        .map(|(title, verbs)| {
            let lines: String = verbs.iter().filter_map(|verb| line(&command, verb)).collect();
            format!("{header}{title}:{header:#}\n{lines}\n")
        })
        .collect();
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

/// The same command with one of its verbs, or a verb of a verb, changed.
fn at(command: Command, verbs: &[&str], change: &dyn Fn(Command) -> Command) -> Command {
    match verbs {
        [] => change(command),
        // A verb that this build does not have has no examples.
        [first, ..] if shown(&command, first).is_none() => command,
        [first, rest @ ..] => command.mut_subcommand(first, |verb| at(verb, rest, change)),
    }
}

fn with_examples(verb: Command, examples: &[&str]) -> Command {
    let header = verb.get_styles().get_header().to_owned();
    let lines: Vec<String> = examples.iter().map(|example| format!("  {example}")).collect();
    let known = verb.get_after_help().map(|text| format!("\n\n{}", text.ansi().to_string().trim_end()));
    let known = known.unwrap_or_default();
    verb.after_help(format!("{header}Examples:{header:#}\n{}{known}", lines.join("\n")))
}

/// A verb that this build has.
fn shown<'c>(command: &'c Command, verb: &str) -> Option<&'c Command> {
    command.find_subcommand(verb).filter(|found| !found.is_hide_set())
}

/// A verb and what it does; a verb that this build does not have has no line.
fn line(command: &Command, verb: &str) -> Option<String> {
    let literal = command.get_styles().get_literal();
    let about = shown(command, verb)?.get_about()?;
    let gap = " ".repeat(10_usize.saturating_sub(verb.len()));
    Some(format!("  {literal}{verb}{literal:#}{gap}  {about}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group_and_has_examples_that_can_be_typed() {
        let command = command();
        command.clone().debug_assert();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.1).copied().collect();
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name) {
            assert_eq!(grouped.iter().filter(|name| **name == verb).count(), 1, "{verb} has one group");
            assert!(EXAMPLES.iter().any(|(verbs, _)| verbs[0] == verb), "{verb} has an example");
        }
        for example in EXAMPLES.iter().flat_map(|(_, examples)| *examples) {
            assert!(example.starts_with("lightlag "), "{example}");
        }
    }

    #[test]
    fn the_help_fits_a_terminal_of_80_columns() {
        let text = command().render_help().to_string();
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:?}");
    }
}
