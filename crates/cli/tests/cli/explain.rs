//! `lightlag explain`, and runs that deliver nothing, as users see them.

use crate::lightlag::{Place, RELAY, WALKERS};

#[test]
fn a_trace_and_a_run_with_its_seed_give_the_same_explanations() {
    let place = Place::new();
    place.write("walkers.toml", WALKERS);
    place.good(&["run", "walkers.toml", "--seed", "3", "--trace", "out/trace.parquet"]);
    for asked in [&[][..], &["--lost"], &["--why"], &["--bundle", "4"], &["--json"], &["--lost", "--json"]] {
        let run = [&["explain", "walkers.toml", "--seed", "3"], asked].concat();
        let text = place.good(&run);
        for trace in ["out/trace.parquet", "out"] {
            assert_eq!(place.good(&[&["explain", trace], asked].concat()), text, "{asked:?}");
        }
    }
}

#[test]
fn a_bundle_that_is_asked_for_by_name_is_named_in_the_answer() {
    let place = Place::new();
    place.write("walkers.toml", WALKERS);
    let answer = place.good(&["explain", "walkers.toml", "--bundle", "M17"]);
    assert!(answer.starts_with("Bundle 16 (M17), "), "{answer}");
    let numbered = place.good(&["explain", "walkers.toml", "--bundle", "16"]);
    assert_eq!(answer.replacen(" (M17)", "", 1), numbered);
    let json = place.good(&["explain", "walkers.toml", "--bundle", "M17", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!((&json["name"], &json["bundle"]), (&"M17".into(), &16.into()));
}

#[test]
fn an_explanation_says_what_would_help() {
    let place = Place::new();
    let small = "nodes.n.buffer=\"150 kB\"";
    place.write("walkers.toml", WALKERS);
    for words in [
        &["explain", "walkers.toml", "--set", small][..],
        &["explain", "walkers.toml", "--set", small, "--why"],
    ] {
        let text = place.good(words);
        assert!(text.contains("\nWhat would help: larger buffers than 150 kB"), "{text}");
    }
    let json = place.good(&["explain", "walkers.toml", "--set", small, "--json"]);
    assert!(json.contains("\"help\": \"What would help: "), "{json}");
}

#[test]
fn what_cannot_be_explained_is_refused_in_a_line() {
    let place = Place::new();
    place.write("walkers.toml", WALKERS);
    place.good(&["run", "walkers.toml", "--trace", "t.jsonl"]);
    place.write("broken.jsonl", "{\"time_ns\": 1}\n");
    for (words, line) in [
        (&["explain", "t.jsonl", "--seed", "2"][..], "--seed: a trace is of one run"),
        (&["explain", "t.jsonl", "--set", "buffer=\"1 MB\""], "--set: a trace is of one run"),
        (&["explain", "t.jsonl", "--bundle", "99999"], "bundle 99999 was not created; name one of 0 to"),
        (&["explain", "t.jsonl", "--bundle", "-1"], "a trace numbers its bundles; give a number, from 0 on"),
        (&["explain", "missing.parquet"], "missing.parquet"),
        (&["explain", "broken.jsonl"], "row 1"),
    ] {
        assert!(place.refused(words).contains(line), "{words:?}: {}", place.refused(words));
    }
}

#[test]
fn a_run_and_a_sweep_that_deliver_nothing_say_why() {
    let place = Place::new();
    // Of 500 bytes a second, a contact of 10 s carries 5 kB of bundles that have 50 kB at least.
    place.write(
        "relay.toml",
        RELAY.replace("file = \"contacts.txt\"", "file = \"contacts.txt\"\nrate = \"4 kbit/s\""),
    );
    place.write("contacts.txt", "start_s,end_s,a,b\n100,110,a,b\n200,210,a,b\n");
    let output = place.run(&["run", "relay.toml"]);
    let said = String::from_utf8(output.stderr).expect("it is text");
    assert!(said.contains("delivered: 2 of 2 transfers were cut off by the end of their contact; the median contact of 10 s carries 5 kB, bundles have"), "{said}");
    let parsed: serde_json::Value =
        serde_json::from_str(&place.good(&["run", "relay.toml", "--json"])).expect("it is JSON");
    let why = parsed["why"].as_str().expect("a reason").to_owned();
    assert!(said.contains(&why) && why.starts_with("0 of "), "{why}");
    // A sweep that is resumed, with all of its runs done, says the same.
    for _ in 0..2 {
        let output = place.run(&["sweep", "relay.toml", "--set", "mechanism=[\"none\", \"rrcc\"]"]);
        let said = String::from_utf8(output.stderr).expect("it is text");
        assert!(said.contains(&format!("point 0 (mechanism = none): {why}")), "{said}");
        assert!(said.contains("point 1 (mechanism = rrcc): 0 of "), "{said}");
        let summary: serde_json::Value =
            serde_json::from_slice(&place.read("out/relay/summary.json")).expect("it is JSON");
        assert_eq!(summary["points"][0]["why"].as_str(), Some(why.as_str()));
    }
    let delivers = place.good(&["run", "relay.toml", "--set", "contacts.plan.rate=1 Mbit/s", "--json"]);
    assert!(!delivers.contains("\"why\""), "{delivers}");
}

#[test]
fn a_run_whose_bundles_all_expire_or_whose_contacts_come_later_says_so() {
    let place = Place::new();
    let text = RELAY.replace("file = \"contacts.txt\"", "file = \"contacts.txt\"\nrate = \"1 Mbit/s\"");
    place.write("relay.toml", &text);
    place.write("contacts.txt", "start_s,end_s,a,b\n300,400,a,b\n");
    let said = |words: &[&str]| {
        let output = place.run(&[&["run", "relay.toml"], words].concat());
        String::from_utf8(output.stderr).expect("it is text")
    };
    let expired = said(&["--set", "traffic.messages.lifetime=5 s", "--set", "traffic.messages.end=2 min"]);
    assert!(
        expired.contains("delivered: their lifetime of 5 s is too short: the fastest sequence of contacts to a destination takes"),
        "{expired}"
    );
    assert!(expired.contains("3 min"), "from the last one to the contact: {expired}");
}

#[test]
fn a_mechanism_without_a_full_buffer_is_odd() {
    let place = Place::new();
    place.write("walkers.toml", WALKERS);
    let run = |sets: &[&str]| {
        let output = place.run(&[&["run", "walkers.toml"], sets].concat());
        String::from_utf8(output.stderr).expect("it is text")
    };
    let line =
        "no buffer was ever full, so that there was no congestion for `credit` to control: lower `buffer`";
    assert!(run(&["--set", "mechanism=credit", "--set", "buffer=1 GB"]).starts_with(line));
    assert_eq!(run(&["--set", "mechanism=credit", "--set", "buffer=200 kB"]), "");
    assert_eq!(run(&["--set", "buffer=1 GB"]), "", "without a mechanism nothing is odd");
    let json =
        place.good(&["run", "walkers.toml", "--set", "mechanism=credit", "--set", "buffer=1 GB", "--json"]);
    assert!(json.contains("\"odd\": \"no buffer was ever full"), "{json}");
}

#[test]
fn a_sweep_over_mechanisms_without_a_full_buffer_is_odd() {
    let place = Place::new();
    place.write("walkers.toml", WALKERS);
    let mechanisms = "mechanism=[\"none\", \"credit\"]";
    let sweep = |set: &[&str], out: &str| {
        let output = place.run(&[&["sweep", "walkers.toml", "--out", out], set].concat());
        String::from_utf8(output.stderr).expect("it is text")
    };
    let line =
        "no buffer was ever full in any run, so that there was no congestion for mechanisms to control";
    assert!(sweep(&["--set", mechanisms, "--set", "buffer=1 GB"], "idle").contains(line));
    assert!(!sweep(&["--set", mechanisms, "--set", "buffer=200 kB"], "full").contains(line));
    assert!(!sweep(&["--set", "buffer=1 GB"], "one").contains(line));
}

#[test]
fn a_run_that_is_piped_shows_no_progress() {
    let place = Place::new();
    place.write("walkers.toml", WALKERS);
    // More than two seconds of work, so that a bar would have begun.
    let slow = ["run", "walkers.toml", "--set", "nodes.n.count=150", "--set", "duration=5 h"];
    let output = place.run(&slow);
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).expect("it is text"), "");
}

#[test]
fn duplicate_copies_of_a_bundle_are_named() {
    let place = Place::new();
    let text = RELAY.replace("file = \"contacts.txt\"", "file = \"contacts.txt\"\nrate = \"1 Mbit/s\"");
    place.write("relay.toml", text).write("contacts.txt", "start_s,end_s,a,b\n20,400,a,b\n");
    place.good(&["run", "relay.toml", "--trace", "t.jsonl"]);
    let trace = String::from_utf8(place.read("t.jsonl")).expect("it is text");
    let delivery = trace.lines().find(|line| line.contains("\"delivered\"")).expect("a delivery");
    let again =
        delivery.replace("\"first\":true", "\"first\":false").replace("\"first\": true", "\"first\": false");
    assert_ne!(again, delivery);
    let record: serde_json::Value = serde_json::from_str(delivery).expect("it is JSON");
    let id = record["bundle"].to_string();
    place.write("two.jsonl", trace.replacen(delivery, &format!("{delivery}\n{again}"), 1));
    let said = place.good(&["explain", "two.jsonl", "--bundle", &id]);
    assert!(said.contains("Duplicate copies arrived at b (once).\n"), "{said}");
    assert!(said.contains("which has it already"), "{said}");
    let json = place.good(&["explain", "two.jsonl", "--bundle", &id, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["duplicate_copies"], serde_json::json!({"b": 1}));
    let one = place.good(&["explain", "t.jsonl", "--bundle", &id]);
    assert!(!one.contains("Duplicate"), "{one}");
}

#[test]
fn a_run_that_delivers_next_to_nothing_says_why_and_what_to_change() {
    let place = Place::new();
    place.good(&["new", "walkers", "w.toml"]);
    let said = |set: &str| {
        let output = place.run(&["run", "w.toml", "--seed", "1", "--set", set]);
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("it is text")
    };
    let short = said("traffic.messages.lifetime=1 s");
    assert!(
        short.contains(" bundles were delivered: their lifetime of 1 s is too short, as the fastest"),
        "{short}"
    );
    let near = said("nodes.walkers.radio.range=1 m");
    assert!(
        near.contains(
            "no sequence of contacts leads to the destination before the run ends; raise the `range`"
        ),
        "{near}"
    );
    assert!(!said("seeds=[1]").contains("bundles were delivered"));
}
