//! The help: groups, examples that run, and what `list` says.

use crate::lightlag::Place;
use std::collections::BTreeSet;

/// The verbs of the help, in its order, and those of a verb.
fn verbs(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    let names = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    names.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

/// The lines below "Examples:".
fn examples(help: &str) -> Vec<String> {
    let below = help.split("Examples:\n").nth(1).unwrap_or_default();
    below.lines().map_while(|line| line.strip_prefix("  ")).map(str::to_owned).collect()
}

/// Examples that need a network, root, files of the reader, or minutes.
const LEFT: &[&str] =
    &["transfer", "bundles", "names get", "names put", "bench-link", "emulate", "study traces"];

#[test]
fn the_help_has_groups_and_its_examples_run_one_after_the_other() {
    let place = Place::new();
    let help = place.good(&["--help"]);
    for group in ["Scenarios:", "Runs:", "Results:", "Papers:", "Programs:", "Real networks:", "Options:"] {
        assert!(help.contains(&format!("\n{group}\n")), "{help}");
    }
    assert_eq!(place.good(&["-h"]).lines().filter(|line| line.len() > 80).count(), 0);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_lightlag")).parent().expect("it has a folder");
    let path = std::env::join_paths([program, "/usr/bin".as_ref(), "/bin".as_ref()]).expect("they are paths");
    let mut run = BTreeSet::new();
    for verb in verbs(&help) {
        let shown = place.good(&[&verb, "--help"]);
        for example in examples(&shown) {
            if LEFT.iter().any(|left| example.starts_with(&format!("lightlag {left}"))) {
                continue;
            }
            let done = std::process::Command::new("sh")
                .args(["-c", &example])
                .current_dir(place.path(""))
                .env("PATH", &path)
                .output()
                .expect("sh starts");
            assert!(done.status.success(), "{example}: {}", String::from_utf8_lossy(&done.stderr));
            run.insert(verb.clone());
        }
    }
    assert!(run.len() >= 13, "{run:?}");
}

#[test]
fn the_examples_that_do_not_run_here_can_be_parsed() {
    let place = Place::new();
    for words in [
        &["transfer"][..],
        &["bundles", "send"],
        &["bundles", "listen"],
        &["names", "get"],
        &["names", "put"],
        &["bench-link"],
        &["emulate"],
    ] {
        let shown = place.good(&[words, &["--help"]].concat());
        let made = examples(&shown);
        assert!(!made.is_empty(), "{words:?} has no example");
        // An option that is unknown is in no help.
        for option in made.iter().flat_map(|line| line.split(" -- ").next()).flat_map(|line| line.split(' '))
        {
            assert!(!option.starts_with("--") || shown.contains(option), "{words:?}: {option}");
        }
    }
}

#[test]
fn the_help_has_no_colours_where_it_is_piped() {
    let place = Place::new();
    assert!(!place.good(&["--help"]).contains('\x1b') && !place.good(&["run", "--help"]).contains('\x1b'));
}

#[test]
fn the_list_has_a_sentence_on_each_algorithm_and_a_name_shows_its_parameters() {
    let place = Place::new();
    let json: serde_json::Value = serde_json::from_str(&place.good(&["list", "--json"])).expect("it is JSON");
    let rows = json.as_array().expect("it is a list");
    let list = place.good(&["list"]);
    for row in rows {
        let (name, about) =
            (row["name"].as_str().unwrap_or_default(), row["about"].as_str().unwrap_or_default());
        assert!(!about.is_empty(), "{name} has no sentence");
        assert!(
            list.lines().any(|line| line.trim_start().starts_with(name) && line.ends_with(about)),
            "{name}"
        );
    }
    for heading in ["Routers", "Mechanisms", "Controllers", "Queues", "Loss models", "Mobility models"] {
        assert!(list.lines().any(|line| line == heading), "{heading}: {list}");
    }
    let one = place.good(&["list", "spray"]);
    assert!(
        one.starts_with("spray_and_wait (router): a fixed number of copies; ") && one.contains("copies = "),
        "{one}"
    );
}

#[test]
fn a_misspelt_command_is_recognised_and_errors_end_with_the_help_of_their_command() {
    let place = Place::new();
    for (words, line) in [
        (&["rn"][..], "unknown command `rn`; did you mean `run`?; see `lightlag --help`"),
        (&["bundles", "snd"], "unknown command `snd`; did you mean `send`?; see `lightlag bundles --help`"),
    ] {
        assert_eq!(place.refused(words), line);
    }
    for (words, end) in [
        (&["run"][..], "; see `lightlag run --help`"),
        (
            &["run", "a.toml", "--sed", "1"],
            "unexpected argument '--sed' found; a similar argument exists: '--seed'; see `lightlag run --help`",
        ),
        (
            &["run", "a.toml", "--duration", "1 h"],
            "unexpected argument '--duration' found; it is a key of scenarios: --set duration=\"1 h\"; see `lightlag run --help`",
        ),
        (&["sweep", "a.toml", "--router=prophet"], "--set router=\"prophet\"; see `lightlag sweep --help`"),
        (&["bundles", "send", "a"], "; see `lightlag bundles send --help`"),
        (&["--fast"], "; see `lightlag --help`"),
    ] {
        let line = place.refused(words);
        assert!(line.ends_with(end), "{line}");
    }
}

#[test]
fn a_kind_of_algorithm_is_listed_by_its_name_or_its_plural() {
    let place = Place::new();
    let all = place.good(&["list"]);
    for word in [
        "mechanisms",
        "routers",
        "controllers",
        "queues",
        "loss models",
        "losses",
        "mobility models",
        "mechanism",
    ] {
        let list = place.good(&["list", word]);
        let part = list.split("Parameters and papers").next().expect("it has a first part");
        let names = part.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        let names: Vec<&str> = names.collect();
        assert!(
            names.len() >= 3 && names.iter().all(|name| all.contains(&format!("\n  {name} "))),
            "{word}: {list}"
        );
    }
    assert!(place.good(&["list", "copy_value"]).contains("(mechanism)"));
    let line = place.refused(&["list", "nothing"]);
    assert!(
        line.ends_with(
            "or one of the kinds routers, mechanisms, controllers, queues, loss models, mobility models"
        ),
        "{line}"
    );
}
