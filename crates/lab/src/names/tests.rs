//! Scenarios of names as users write them: figures out, or one line that says what is wrong.

use crate::metrics::Figures;
use crate::run::{ContactsCache, Options, run};
use lightlag_scenario::{Catalogue, ScenarioFile, Seed};

const CHAIN: &str = r#"
duration = "20 s"
[links.near]
from = "reader"
to = "router"
rate = "100 Mbit/s"
delay = "10 ms"
[links.far]
from = "router"
to = "library"
rate = "10 Mbit/s"
delay = "20 ms"
[nodes.router]
cache = "10 MB"
[producers.books]
at = "library"
prefix = "/books"
object = "2 MB"
segment = "1000 B"
overhead = "40 B"
[consumers.one]
at = "reader"
object = "/books/dune"
controller = "ledbat"
"#;

fn read(text: &str) -> Result<Figures, String> {
    let told = |error: lightlag_scenario::Error| error.to_string();
    let file =
        ScenarioFile::from_toml("names.toml", text, ".".into(), Catalogue::default().into()).map_err(told)?;
    let point = file.points().map_err(told)?.list.remove(0);
    let options = Options::default();
    let outcome = run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &options).map_err(told)?;
    assert_eq!(outcome.violations, [] as [String; 0]);
    Ok(outcome.figures)
}

#[test]
fn a_consumer_gets_its_object_and_a_second_one_has_it_from_the_store() {
    let text = format!(
        "{CHAIN}[consumers.two]\nat = \"reader\"\nobject = \"/books/dune\"\nstart = \"10 s\"\ncontroller = \"ledbat\"\n"
    );
    let figures = read(&text).expect("it runs");
    for consumer in ["one", "two"] {
        assert_eq!(figures.of_part(consumer, "delivered_bytes"), Some(2e6));
        assert_eq!(figures.of_part(consumer, "complete"), Some(1.0));
    }
    assert_eq!(figures.of_part("router", "cache_hits"), Some(2_000.0));
    assert_eq!(figures.of_part("library", "interests"), Some(2_000.0));
    assert!(figures.of_part("two", "end_s") < Some(20.0));
}

#[test]
fn two_who_want_the_same_at_once_are_answered_by_one_passage() {
    let text = CHAIN.replace("cache = \"10 MB\"", "") + "count = 2\n";
    let figures = read(&text).expect("it runs");
    assert_eq!(figures.of_part("library", "interests"), Some(2_000.0));
    assert_eq!(figures.of_part("reader", "aggregated"), Some(2_000.0));
    assert_eq!(figures.of_part("one1", "delivered_bytes"), Some(2e6));
}

#[test]
fn a_store_of_nothing_and_one_pending_interest_are_a_network_too() {
    let text = CHAIN.replace("cache = \"10 MB\"", "cache = \"0 B\"\npending = 1");
    let figures = read(&text).expect("it runs");
    assert_eq!(figures.of_part("router", "pending_max"), Some(1.0));
    assert!(figures.of_part("router", "refused") > Some(0.0));
    assert!(figures.of_part("one", "delivered_bytes") > Some(0.0));
}

#[test]
fn popular_objects_are_found_in_a_store_that_is_too_small_for_all() {
    let catalogue = "catalogue = { prefix = \"/books\", objects = 200, exponent = 1.0 }";
    let text = CHAIN
        .replace("object = \"/books/dune\"", catalogue)
        .replace("object = \"2 MB\"", "object = \"50 kB\"");
    let figures = read(&text).expect("it runs");
    let (hits, asked) = (figures.of_part("router", "cache_hits"), figures.of_part("router", "interests"));
    let share = hits.unwrap() / asked.unwrap();
    assert!((0.5..0.99).contains(&share), "{share}");
}

#[test]
fn clocks_and_stamps_of_any_kind_are_no_obstacle() {
    for (old, new) in [
        ("[nodes.router]", "stamps = \"none\"\n[nodes.router]"),
        ("cache = \"10 MB\"", "strips_stamps = true"),
        ("cache = \"10 MB\"", "clock = { offset = \"-3000 s\", skew = 1e-4 }"),
        ("[producers.books]", "[nodes.library]\nclock = { offset = \"5 s\" }\n[producers.books]"),
    ] {
        let text = if new.starts_with("stamps") {
            CHAIN.replace("duration", "stamps = \"none\"\nduration")
        } else {
            CHAIN.replace(old, new)
        };
        let figures = read(&text).unwrap_or_else(|error| panic!("{new}: {error}"));
        assert_eq!(figures.of_part("one", "complete"), Some(1.0), "{new}");
    }
}

#[test]
fn what_is_wrong_is_told_in_one_line_with_its_place() {
    for (old, new, says) in [
        ("at = \"library\"", "at = \"libary\"", "no link leads to or from `libary`"),
        ("object = \"/books/dune\"", "object = \"/films/dune\"", "no producer has `consumers.one.object`"),
        ("object = \"/books/dune\"", "object = \"books\"", "a name is like"),
        ("controller = \"ledbat\"", "controller = \"ledbatt\"", "ledbat"),
        ("controller = \"ledbat\"", "controller = \"contact_rate\"", "is not supported over transport `ndn`"),
        ("controller = \"ledbat\"", "", "`consumers.one.controller` is missing"),
        ("segment = \"1000 B\"", "segment = \"10 kB\"", "at most 8800 B"),
        ("segment = \"1000 B\"", "segment = \"0 B\"", "and not nothing"),
        ("object = \"2 MB\"", "object = \"0 B\"", "at least one"),
        ("cache = \"10 MB\"", "cashe = \"10 MB\"", "cache"),
        ("cache = \"10 MB\"", "clock = { skew = 2 }", "a number from -0.5 to 0.5"),
        ("cache = \"10 MB\"", "clock = { offset = \"-400 d\" }", "at most a year"),
        ("cache = \"10 MB\"", "pending = -1", "a whole number from 1"),
        ("[nodes.router]", "[nodes.other]", "no link leads to or from `other`"),
        ("delay = \"20 ms\"", "delay = \"20 ms\"\none_way = true", "is one-way"),
        ("duration = \"20 s\"", "duration = \"20 s\"\nmeasure_from = \"20 s\"", "the run ends at 20 s"),
        (
            "duration = \"20 s\"",
            "duration = \"20 s\"\nstamps = \"ink\"",
            "\"wire\", \"application\", \"none\"",
        ),
        ("at = \"reader\"", "at = \"reader\"\nstart = \"20 s\"", "the run ends at 20 s"),
        ("at = \"reader\"", "at = \"reader\"\nstart = \"5 s\"\nstop = \"4 s\"", "stop it later"),
        ("at = \"reader\"", "at = \"reader\"\nsize = \"3 MB\"", "the object has 2000000 B"),
        ("at = \"reader\"", "at = \"reader\"\nstop_after = 0", "a whole number from 1"),
        (
            "at = \"reader\"",
            "at = \"reader\"\ncatalogue = { prefix = \"/books\", objects = 3 }",
            "has no `object`",
        ),
        ("at = \"reader\"", "at = \"reader\"\ninterest = \"0 B\"", "1 to 8800 B"),
        (
            "[consumers.one]",
            "[consumers.one0]\nat = \"reader\"\nobject = \"/books/b\"\ncontroller = \"aimd\"\n[consumers.one]\ncount = 2",
            "two consumers are called `one0`",
        ),
        ("at = \"reader\"", "at = \"reader\"\nlifetime = \"0 s\"", "`0 s` is zero"),
    ] {
        assert!(CHAIN.contains(old), "{old}");
        let error = read(&CHAIN.replace(old, new)).expect_err(new);
        assert!(error.contains(says), "{new}: {error}");
        assert!(error.starts_with("names.toml"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_reader_that_no_library_is_joined_to_is_told_so() {
    let text =
        CHAIN.replace("to = \"library\"", "to = \"attic\"").replace("at = \"library\"", "at = \"cellar\"")
            + "[links.apart]\nfrom = \"cellar\"\nto = \"vault\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    let error = read(&text).expect_err("no path");
    assert!(error.contains("no links lead from `reader` to any producer"), "{error}");
}
