//! One grammar of quantities: options, keys of scenarios and values of sweeps take and refuse the same spellings.

use crate::lightlag::{Place, WALKERS};

const VERBS: &[&[&str]] = &[
    &["transfer"],
    &["bench-link"],
    &["bundles", "send"],
    &["bundles", "listen"],
    &["names", "get"],
    &["names", "put"],
    &["emulate"],
    &["capture"],
];

/// A kind of quantity: how help calls it, a key of it, spellings that are right, and spellings with what is wrong.
type Kind<'a> = (&'a str, &'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);

const KINDS: &[Kind<'_>] = &[
    (
        "TIME",
        "traffic.messages.lifetime",
        &["90 s", "90s", "1.5 min", "1e5 ms", "2 h", "1 d"],
        &[
            ("5", "`5` has no unit; a time is written like"),
            ("5 sec", "`sec` is not a unit of time; units: ns, us"),
            ("-1 s", "is negative"),
        ],
    ),
    (
        "SIZE",
        "buffer",
        &["600 kB", "600kB", "1 MiB", "1e6 B", "0.5 GB"],
        &[
            ("5000", "`5000` has no unit; a size is written like"),
            ("5 kb", "`kb` is not a unit of size; units: B, kB"),
            ("1.2.3 B", "is not a number with a unit"),
        ],
    ),
    (
        "RATE",
        "radio.rate",
        &["2 Mbit/s", "2Mbit/s", "250 kB/s", "1e6 bit/s"],
        &[
            ("5", "`5` has no unit; a rate is written like"),
            ("5 Mbps", "`Mbps` is not a unit of rate; units: bit/s"),
            ("0 bit/s", "carries nothing"),
        ],
    ),
];

/// The options of a verb whose values are of a kind.
fn options(place: &Place, verb: &[&str], kind: &str) -> Vec<String> {
    let help = place.good(&[verb, &["--help"]].concat());
    let value = format!(" <{kind}>");
    let found = help.lines().filter_map(|line| line.trim_start().split_once(&value));
    let names = found.filter_map(|(option, _)| option.rsplit(' ').next());
    names.filter(|name| name.starts_with("--")).map(str::to_owned).collect()
}

#[test]
fn every_option_takes_and_refuses_the_same_spellings() {
    let place = Place::new();
    let mut seen = 0;
    for verb in VERBS {
        for (kind, _, right, wrong) in KINDS {
            for option in options(&place, verb, kind) {
                seen += 1;
                // What a verb needs is missing, so that none of them runs.
                for spelling in *right {
                    let line = place.refused(&[verb, &[&option, *spelling][..]].concat());
                    assert!(!line.starts_with(&option), "{verb:?} {option} {spelling}: {line}");
                }
                for (spelling, what) in *wrong {
                    let line = place.refused(&[verb, &[&option, *spelling][..]].concat());
                    assert!(
                        line.starts_with(&format!("{option}: ")) && line.contains(what),
                        "{verb:?} {option} {spelling}: {line}"
                    );
                }
            }
        }
    }
    assert!(seen >= 30, "{seen} options");
}

#[test]
fn keys_of_scenarios_and_values_of_sweeps_take_and_refuse_what_options_do() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    for (_, key, right, wrong) in KINDS {
        for spelling in *right {
            place.good(&["validate", "s.toml", "--set", &format!("{key}={spelling}")]);
        }
        let list: Vec<String> = right.iter().skip(1).map(|spelling| format!("\"{spelling}\"")).collect();
        place.good(&["validate", "s.toml", "--set", &format!("{key}=[{}]", list.join(", "))]);
        for (spelling, what) in *wrong {
            for value in [(*spelling).to_owned(), format!("[\"{}\", \"{spelling}\"]", right[0])] {
                let line = place.refused(&["validate", "s.toml", "--set", &format!("{key}={value}")]);
                assert!(line.contains(what), "{key} = {value}: {line}");
            }
        }
    }
}

#[test]
fn ranges_with_a_dash_and_lists_without_quotes_are_corrected() {
    let place = Place::new();
    place.write("s.toml", WALKERS.replace("0.5..1.5 m/s", "0.5-1.5 m/s"));
    let line = place.refused(&["run", "s.toml"]);
    let right = "`0.5-1.5 m/s` is not a speed; a range is written with two dots, like \"0.5..1.5 m/s\"";
    assert!(line.contains(right), "{line}");
    place.write("s.toml", WALKERS);
    let line = place.refused(&["run", "s.toml", "--set", "nodes.n.buffer=[1 MB, 2 MB]"]);
    let right = "`[1 MB, 2 MB]` is not a list; strings of a list need quotes, and the shell quotes around them: \
                 '[\"1 MB\", \"2 MB\"]'";
    assert!(line.contains(right), "{line}");
}
