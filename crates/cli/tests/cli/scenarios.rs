//! `lightlag new` and `lightlag validate`.

use crate::lightlag::{Place, RELAY, SETTINGS, WALKERS, repository};

/// The templates that `new` lists, with the files that it makes of them.
fn templates(place: &Place) -> Vec<(String, String)> {
    let list = place.good(&["new"]);
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names
        .map(|name| (name.to_owned(), format!("{name}.{}", if name == "the_one" { "txt" } else { "toml" })))
        .collect()
}

#[test]
fn every_template_is_valid_runs_at_once_and_delivers_something() {
    let place = Place::new();
    let made = templates(&place);
    assert!(made.len() >= 5, "{made:?}");
    for (name, file) in &made {
        let said = place.good(&["new", name]);
        assert!(said.contains(&format!("lightlag run {file}")), "{said}");
        assert!(place.good(&["validate", file]).starts_with(&format!("{file}: valid; ")));
        let done = place.run(&["run", file, "--json", "--out", "out"]);
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let figures: serde_json::Value = serde_json::from_slice(&done.stdout).expect("it is JSON");
        let delivered = ["delivered", "delivered_bytes"].iter().filter_map(|key| figures[key].as_f64());
        assert!(delivered.sum::<f64>() > 0.0, "{name}: {figures}");
        assert!(figures.get("why").is_none() && figures.get("warnings").is_none(), "{name}: {figures}");
    }
}

#[test]
fn every_table_of_a_template_and_its_first_line_have_comments() {
    let place = Place::new();
    for (name, _) in templates(&place) {
        let text = place.good(&["new", &name, "-"]);
        assert!(text.starts_with("# "), "{name}");
        let comments = text.lines().filter(|line| line.contains('#')).count();
        assert!(comments >= 5 && text.contains("lightlag sweep"), "{name} has {comments} comments");
    }
}

#[test]
fn a_new_scenario_replaces_no_file_and_has_a_name_that_is_read() {
    let place = Place::new();
    place.good(&["new", "walkers", "mine/first.toml"]);
    place.write("mine/first.toml", "# changed");
    let line = place.refused(&["new", "walkers", "mine/first.toml"]);
    assert!(line.contains("the file exists; name another one, or replace it with --force"), "{line}");
    assert_eq!(place.read("mine/first.toml"), b"# changed");
    place.good(&["new", "walkers", "mine/first.toml", "--force"]);
    place.good(&["validate", "mine/first.toml"]);
    let line = place.refused(&["new", "walkers", "mine.txt"]);
    assert!(line.contains("name a file that ends in .toml"), "{line}");
    let line = place.refused(&["new", "moon"]);
    assert!(line.contains("unknown template `moon`; choose one of walkers, "), "{line}");
}

#[test]
fn all_errors_of_all_files_are_reported_at_once() {
    let place = Place::new();
    place.write("good.toml", WALKERS).write("good.txt", SETTINGS);
    place.write(
        "bad.toml",
        WALKERS
            .replace("buffer =", "bufer =")
            .replace("count = 10", "count = -1")
            .replace("\"1..30 s\"", "\"1..30\""),
    );
    place.write(
        "syntax.toml",
        WALKERS.replace("count = 10", "count = ").replace("prefix =", "prefx =").replace("buffer", "bufer"),
    );
    let place_and_lines = place.run(&["validate", "good.toml", "bad.toml", "syntax.toml", "good.txt"]);
    assert_eq!(place_and_lines.status.code(), Some(2));
    let valid = String::from_utf8_lossy(&place_and_lines.stdout).into_owned();
    assert_eq!(
        valid,
        "good.toml: valid; 2 runs (1 point, 2 seeds)\ngood.txt: valid; 1 run (1 point, 1 seed)\n"
    );
    let errors = String::from_utf8_lossy(&place_and_lines.stderr).into_owned();
    let starts: Vec<&str> = errors.lines().map(|line| line.split(':').nth(2).unwrap_or_default()).collect();
    assert_eq!(starts, ["6", "12", "15", "6", "12", "20"], "{errors}");
    for accepted in ["did you mean `buffer`?", "a whole number from 1 to", "a time is written like"] {
        assert!(errors.contains(accepted), "{errors}");
    }
}

#[test]
fn parts_of_a_scenario_that_do_not_depend_on_each_other_have_all_their_errors() {
    let place = Place::new();
    place.write("contacts.txt", "start_s,end_s,a,b\n200,100,a,b\n");
    place.write(
        "s.toml",
        RELAY
            .replace("to = \"b\"", "to = \"moon\"")
            .replace("file = \"contacts.txt\"", "file = \"contacts.txt\"\nrate = \"1 Mbit/s\""),
    );
    let lines = place.all_refused(&["validate", "s.toml"]);
    assert!(lines.contains("contacts.txt:2: ") && lines.contains("`moon`"), "{lines}");
}

#[test]
fn what_is_checked_may_be_layers_and_have_keys_set_and_be_read_by_programs() {
    let place = Place::new();
    place.write("base.txt", SETTINGS).write("over.txt", "Group.bufferSize = x\n").write("s.toml", WALKERS);
    let line = place.refused(&["validate", "base.txt", "over.txt", "--layers"]);
    assert!(line.starts_with("over.txt:1: "), "{line}");
    place.good(&["validate", "base.txt", "--set", "Group.bufferSize=5M"]);
    let done = place.run(&["validate", "s.toml", "missing.toml", "--set", "buffer=5", "--json"]);
    assert_eq!((done.status.code(), done.stderr.len()), (Some(2), 0));
    let found: serde_json::Value = serde_json::from_slice(&done.stdout).expect("it is JSON");
    assert_eq!(found[0]["errors"][0]["file"], "--set buffer");
    assert_eq!((&found[1]["file"], &found[1]["valid"]), (&"missing.toml".into(), &false.into()));
}

#[test]
fn every_scenario_of_the_repository_that_needs_no_other_files_is_valid() {
    let place = Place::new();
    for file in
        ["scenarios/earth_mars.toml", "scenarios/papers/arc_link.toml", "scenarios/papers/dcp_single.toml"]
    {
        let path = repository(file);
        place.good(&["validate", path.to_str().expect("the path is text")]);
    }
}

#[test]
fn errors_of_references_are_reported_beside_all_others_with_their_lines() {
    let place = Place::new();
    let text = WALKERS.replace("buffer =", "bufer =").replace("\"1..30 s\"", "\"1..30\"");
    let text = text
        .replace("lifetime = \"10 min\"", "lifetime = \"-5 s\"")
        .replace("to = \"all\"", "to = \"walkrs\"");
    let text = text + "[traffic.other]\nfrom = \"elsewhere\"\ninterval = \"9 s\"\nsize = \"1 kB\"\n";
    let line = |part: &str| 1 + text.lines().position(|line| line.contains(part)).expect("it is there");
    let lines = ["bufer", "\"1..30\"", "-5 s", "walkrs", "elsewhere"].map(line);
    place.write("bad.toml", &text);
    for verb in ["validate", "run"] {
        let said = place.all_refused(&[verb, "bad.toml"]);
        let expected = lines.map(|line| format!("bad.toml:{line}: "));
        assert_eq!(said.lines().count(), expected.len(), "{said}");
        for place in expected {
            assert!(said.contains(&place), "{place}\n{said}");
        }
    }
    let link = crate::lightlag::running::link_of("1 Mbit/s", "").replace("round_trip = ", "rond_trip = ");
    place.write(
        "link.toml",
        link + "[flows.other]\nfrom = \"earth\"\nto = \"marz\"\ncontroller = \"renoo\"\n",
    );
    let said = place.all_refused(&["validate", "link.toml"]);
    for part in ["`links.space.rond_trip`", "`earth` to `marz`", "`renoo`"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}
