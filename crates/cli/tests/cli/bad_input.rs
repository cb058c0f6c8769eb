//! Bad input gets one line that says what, where and what would be right, and exit code 2.

use crate::lightlag::{Place, RELAY, SETTINGS, WALKERS};

/// What `run` says of a scenario in which `from` is written as `to`.
#[track_caller]
fn changed(scenario: &str, from: &str, to: &str) -> String {
    assert!(scenario.contains(from), "`{from}` is not in the scenario");
    let name = if scenario == SETTINGS { "s.txt" } else { "s.toml" };
    let place = Place::new();
    place.write(name, scenario.replacen(from, to, 1));
    place.refused(&["run", name])
}

/// Each change of the scenario is refused with a line that holds these words.
#[track_caller]
fn all_refused(scenario: &str, changes: &[(&str, &str, &str)]) {
    for (from, to, words) in changes {
        let line = changed(scenario, from, to);
        assert!(line.contains(words), "{from} -> {to}: {line}");
    }
}

#[test]
fn files_that_are_no_scenarios_are_refused() {
    let place = Place::new();
    let half = &SETTINGS[..SETTINGS.len() / 2];
    place
        .write("empty.toml", "")
        .write("empty.txt", "")
        .write("cut.toml", &WALKERS[..100])
        .write("cut.txt", half)
        .write("bytes.toml", b"\xff\xfe\0\x01")
        .write("bytes.txt", b"\xff\xfe\0\x01")
        .write("endless.txt", "a".repeat(1 << 20));
    for (file, words) in [
        ("empty.toml", "empty.toml:1: `duration` is missing"),
        ("empty.txt", "`Scenario.endTime` is not set"),
        ("cut.toml", "cut.toml:6: "),
        ("cut.txt", "cut.txt"),
        ("bytes.toml", "not UTF-8"),
        (
            "bytes.txt",
            "bytes.txt: it is neither a scenario in TOML nor The ONE's settings, as no line sets a key",
        ),
        ("endless.txt", "endless.txt: it is neither a scenario in TOML nor"),
        ("missing.toml", "cannot read `missing.toml`"),
        (".", "cannot read `.`"),
    ] {
        let lines = place.all_refused(&["run", file]);
        assert!(lines.contains(words) && lines.lines().count() <= 21, "{file}: {lines}");
        assert!(lines.lines().all(|line| line.len() < 600), "{file}: {lines}");
    }
}

#[test]
fn settings_that_nothing_reads_are_named_in_one_line_and_json_has_them_all() {
    let place = Place::new();
    let odd = "Group.msgTtll = 3\nReport.foo = 1\nMessageStatsReport.foo = 1\nFooReport.foo = 1\nProphetRouter.foo = 1\n";
    place.write("s.txt", format!("{SETTINGS}{odd}"));
    let done = place.run(&["run", "s.txt", "--no-reports", "--json"]);
    let said = String::from_utf8(done.stderr).expect("warnings are text");
    assert!(done.status.success() && said.lines().count() == 1, "{said}");
    assert!(said.contains("`Group.msgTtll` (did you mean `Group.msgTtl`?)"), "{said}");
    let json = String::from_utf8(done.stdout).expect("JSON is text");
    assert!(odd.lines().all(|line| json.contains(line.split(' ').next().expect("a key"))), "{json}");
}

#[test]
fn default_settings_of_the_folder_are_read_first_unless_they_are_not_wanted() {
    let place = Place::new();
    place.write("default_settings.txt", SETTINGS).write("mine.txt", "Scenario.name = mine\n");
    let done = place.run(&["run", "mine.txt", "--no-reports"]);
    let said = String::from_utf8(done.stderr).expect("warnings are text");
    assert!(
        done.status.success() && said.starts_with("default_settings.txt of the working directory is"),
        "{said}"
    );
    let named = place.run(&["run", "default_settings.txt", "mine.txt", "--no-reports"]);
    assert_eq!((named.stdout, named.stderr), (done.stdout, Vec::new()));
    assert!(
        place.all_refused(&["run", "mine.txt", "--no-defaults"]).contains("`Scenario.endTime` is not set")
    );
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let place = Place::new();
    for name in ["huge.toml", "huge.txt"] {
        // Sparse: it occupies no disk.
        let file = std::fs::File::create(place.path(name)).expect("the folder can be written");
        file.set_len(1 << 40).expect("the file system has sparse files");
        assert!(place.refused(&["run", name]).contains("at most 8 MiB"));
    }
}

#[test]
fn unknown_keys_and_names_are_refused_with_what_is_known() {
    all_refused(
        WALKERS,
        &[
            ("name =", "colour = 1\nname =", "s.toml:1: unknown key `colour`; known: name"),
            ("count", "cuont", "s.toml:12: unknown key `nodes.n.cuont`; did you mean `count`?"),
            ("\"none\"", "\"nope\"", "did you mean `none`?"),
            ("\"none\"", "{ name = \"rrcc\", speed = 1 }", "`rrcc` has no parameter `speed`; it has: "),
            ("\"none\"", "{ name = \"credit\", initial = -1 }", "it must be a number from 0"),
            ("\"none\"", "{ name = \"credit\", initial = 1e300 }", "is 1e300; it must be a number from 0"),
            ("count = 10", "count = 1e300", "`nodes.n.count` is a number (`1e300`)"),
            ("to = \"all\"", "to = \"zoe\"", "no node or group is called `zoe`"),
            ("\"random_waypoint\"", "\"random\"", "random"),
        ],
    );
    all_refused(
        SETTINGS,
        &[
            ("EpidemicRouter", "LiveRouter", "s.txt:9: "),
            ("= RandomWaypoint", "= ExternalPaths", "s.txt:8: "),
            ("MessageEventGenerator", "MagicGenerator", "s.txt:19: "),
            ("SimpleBroadcastInterface", "CarrierPigeon", "s.txt:5: "),
            (
                "Group1.groupID",
                "Group.mechanism.unitt = 3\nGroup1.groupID",
                "s.txt:17: `Group.mechanism.unitt`",
            ),
            ("Group1.groupID", "Group1.mechanism.x = 3\nGroup1.groupID", "s.txt:17: `Group1.mechanism.x`"),
            ("Report.reportDir", "Report.reportdir", "s.txt: `Report.reportDir` is not set; add "),
            (
                "= MessageEventGenerator",
                "= ExternalEventsQueue",
                "s.txt:19: `Events1.class` reads a file, but `Events1.filePath`",
            ),
        ],
    );
    let credit = SETTINGS.replace("Group1.groupID", "Group.mechanism = credit\nGroup1.groupID");
    let place = Place::new();
    place.write("s.txt", &credit);
    for key in ["Group.mechanism.initia", "Group1.mechanism.drop_memory"] {
        let line = place.refused(&["run", "s.txt", "--set", &format!("{key}=1")]);
        assert!(line.starts_with(&format!("--set {key}: `{key}` is not supported; ")), "{line}");
    }
    for known in
        ["SprayAndWaitRouter.nrofCopies=3", "WaveRouter.immunityTime=3", "MessageGraphvizReport.interval=1"]
    {
        place.good(&["run", "s.txt", "--no-reports", "--set", known]);
    }
}

#[test]
fn absurd_quantities_are_refused() {
    all_refused(
        WALKERS,
        &[
            ("\"10 min\"", "\"-10 min\"", "s.toml:2: `duration`: `-10 min` is negative"),
            ("\"10 min\"", "\"1e30 d\"", "s.toml:2: "),
            ("\"10 min\"", "\"10 parsec\"", "is not a unit of time; units: "),
            ("\"500 kB\"", "\"0 B\"", "s.toml:6: the buffer holds nothing"),
            ("\"500 kB\"", "\"-5 kB\"", "is negative"),
            ("\"500 kB\"", "500", "`500` has no unit"),
            ("50..100 kB", "50..100 MB", "fit in no buffer"),
            ("count = 10", "count = 0", "from 1 to 200000"),
            ("count = 10", "count = 9999999999", "from 1 to 200000"),
            ("count = 10", "count = nan", "whole number"),
            ("\"50 m\"", "\"-50 m\"", "is negative"),
            ("\"50 m\"", "\"1e30 m\"", "beyond all measure"),
            ("2.5 Mbit/s", "0 bit/s", "s.toml:9: "),
            ("0.5..1.5", "1.5..0.5", "ends before it begins"),
            ("0.5..1.5", "0..0", "might never arrive"),
            ("1..30 s", "0..0 s", "messages would be created without end"),
            ("1..30 s", "1e-9..1e-9 s", "more than 5000000 messages"),
            ("300 m x 300 m", "0 m x 0 m", "is not an area"),
            ("lifetime = \"10 min\"", "lifetime = \"0 s\"", "`0 s` is zero"),
            ("[1, 2]", "[1, 1]", "s.toml:3: seed 1 comes twice"),
            ("[1, 2]", "[-1]", "a seed is a whole number"),
            ("[1, 2]", "[]", "the list of seeds is empty"),
        ],
    );
    all_refused(
        SETTINGS,
        &[
            ("bufferSize = 500k", "bufferSize = 0", "s.txt:10: "),
            ("bufferSize = 500k", "bufferSize = -1", "s.txt:10: "),
            ("endTime = 600", "endTime = -600", "s.txt:2: "),
            ("endTime = 600", "endTime = six", "s.txt:2: "),
            ("updateInterval = 0.1", "updateInterval = 0", "s.txt:3: "),
            ("nrofHosts = 10", "nrofHosts = -1", "s.txt:16: "),
            ("hosts = 0,10", "hosts = -1,9", "s.txt:22: "),
            ("worldSize = 300, 300", "worldSize = 0, 0", "s.txt:25: "),
            ("transmitRange = 50", "transmitRange = -50", "s.txt:7: "),
            ("transmitRange = 50", "transmitRange = 0", "s.txt:7: `wifi.transmitRange` is 0 m"),
            ("transmitRange = 50", "transmitRange = 1e300", "s.txt:7: `wifi.transmitRange` is 1e300 m"),
            ("speed = 0.5, 1.5", "speed = 0, 0", "s.txt:12: `Group.speed` is zero"),
            ("speed = 0.5, 1.5", "speed = 0, 1e300", "s.txt:12: `Group.speed` reaches 1e300 m/s"),
            ("endTime = 600", "endTime = 1e300", "s.txt:2: `Scenario.endTime` is 1e300 s"),
            (
                "bufferSize = 500k",
                "bufferSize = 500kB",
                "`500kB` has the unit `kB`; a number may end in k, M",
            ),
            ("bufferSize = 500k", "bufferSize = -1", "`-1` is negative"),
            (
                "rngSeed = 1",
                "rngSeed = 1\nMovementModel.warmup = -5",
                "s.txt:25: `MovementModel.warmup` is -5 s",
            ),
            ("nrofReports = 1", "nrofReports = 1\nReport.warmup = -5", "s.txt:28: `Report.warmup` is -5"),
            (
                "nrofReports = 1",
                "nrofReports = 1\nReport.precision = -5",
                "s.txt:28: `Report.precision` is -5",
            ),
        ],
    );
}

#[test]
fn a_mechanism_refuses_a_router_that_it_does_not_work_with() {
    let afner = WALKERS.replace("\"none\"", "\"afner\"");
    all_refused(
        &afner,
        &[(
            "\"epidemic\"",
            "\"prophet\"",
            "mechanism `afner` refuses router `prophet`; it works with: epidemic",
        )],
    );
}

#[test]
fn a_router_that_goes_by_a_plan_refuses_nodes_that_meet_by_chance() {
    let right = "needs a contact plan, and contacts are random here; add a table [contacts.NAME], or choose";
    all_refused(WALKERS, &[("\"epidemic\"", "\"contact_graph\"", right)]);
    let place = Place::new();
    place.write("s.toml", RELAY.replace("\"epidemic\"", "\"contact_graph\""));
    place.write("contacts.txt", "start_s,end_s,a,b,owlt_s,rate_bps\n0,60,a,b,1,1000000\n");
    let refused = place.refused(&["run", "s.toml"]);
    assert!(refused.contains("those of [contacts] are recorded; say `plan = true` there if"), "{refused}");
    place.write(
        "s.toml",
        RELAY.replace("\"epidemic\"", "\"contact_graph\"").replace("\"table\"", "\"table\"\nplan = true"),
    );
    assert_eq!(place.run(&["run", "s.toml"]).status.code(), Some(0), "with a plan it runs");
}

/// What is said of a file of contacts of some kind.
#[track_caller]
fn contacts(kind: &str, text: &[u8]) -> String {
    let rate = if ["the_one", "intervals"].contains(&kind) { "\nrate = \"1 Mbit/s\"" } else { "" };
    let place = Place::new();
    place
        .write("s.toml", RELAY.replace("\"table\"", &format!("\"{kind}\"{rate}")))
        .write("contacts.txt", text);
    place.refused(&["run", "s.toml"])
}

#[test]
fn contacts_that_cannot_be_are_refused() {
    let header = "start_s,end_s,a,b,owlt_s,rate_bps\n";
    for (kind, text, words) in [
        ("table", "60,0,a,b,1,1000", "ends before it starts"),
        ("table", "0,0,a,b,1,1000", "ends as it starts"),
        ("table", "0,60,a,b,1,1000\n30,90,b,a,1,1000", "must not overlap"),
        ("table", "0,60,a,z,1,1000", "unknown node `z`"),
        ("table", "0,60,a,a,1,1000", "meets itself"),
        ("table", "0,60,a,b,-1,1000", "is not a time"),
        ("table", "0,60,a,b,1,0", "is not a rate"),
        ("table", "0,nan,a,b,1,1000", "is not a time"),
        ("table", "0,60,a", "has 3 values"),
        ("ion", "a contact +60 +0 1 2 1000\na range +0 +60 1 2 1", "ends before it starts"),
        ("ion", "a contact +0 +60 1 9 1000", "unknown node `9`"),
        ("ion", "a contact +0 +60 1 2 1000", "no range says"),
        ("ion", "a contact +0", "cut short"),
        ("the_one", "0 CONN 0 7 up", "unknown node `7`"),
        ("the_one", "9 CONN 0 1 up\n5 CONN 0 1 down", "earlier than the one before"),
        ("intervals", "1 2 60 0", "ends before it starts"),
        ("intervals", "1 9 0 60", "unknown node `9`"),
        ("intervals", "1 2 0", "contacts.txt:1: "),
    ] {
        let text = if kind == "table" { format!("{header}{text}\n") } else { format!("{text}\n") };
        let line = contacts(kind, text.as_bytes());
        assert!(line.contains(words) && line.contains("contacts.txt:"), "{kind}, {text:?}: {line}");
    }
}

#[test]
fn files_of_contacts_that_tell_of_nothing_or_are_no_text_are_refused() {
    for kind in ["table", "ion", "the_one", "intervals"] {
        for text in [&b""[..], b"\n\n", b"\xff\xfe\0", b"\0\0\0\0", b"start_s,end_s,a,b\n"] {
            assert!(contacts(kind, text).contains("contacts.txt"), "{kind}: {text:?}");
        }
    }
}

#[test]
fn maps_without_roads_or_in_pieces_are_refused() {
    let mobility = "mobility = { model = \"shortest_path_map\", map = \"m.wkt\", speed = \"1..2 m/s\" }";
    let start = WALKERS.find("mobility").expect("walkers move");
    let end = start + WALKERS[start..].find('\n').expect("a line ends");
    let scenario = WALKERS.replace(&WALKERS[start..end], mobility);
    for (map, words) in [
        ("LINESTRING (0 0, 10 0)\nLINESTRING (99 99, 110 99)", "2 parts that no road joins"),
        ("", "the file is empty"),
        ("POINT (1 1)", "no road found"),
        ("LINESTRING (0 0)", "m.wkt:1: a line of one point"),
        ("LINESTRING (0 0, 10", "m.wkt:1: the end of the file"),
        ("LINESTRING (0 0, nan 1)", "finite numbers"),
        ("\u{7f}ELF", "m.wkt:1: "),
    ] {
        let place = Place::new();
        place.write("s.toml", &scenario).write("m.wkt", map);
        let line = place.refused(&["run", "s.toml"]);
        assert!(line.contains(words), "{map}: {line}");
    }
    for (bytes, words) in [(&b""[..], "empty"), (b"abc", "PBF"), (&[0; 5000], "m.osm.pbf")] {
        let place = Place::new();
        place.write("s.toml", scenario.replace("m.wkt", "m.osm.pbf")).write("m.osm.pbf", bytes);
        let line = place.refused(&["run", "s.toml"]);
        assert!(line.contains(words), "{} bytes: {line}", bytes.len());
    }
}

#[test]
fn folders_for_results_that_are_taken_or_cannot_be_written_are_refused() {
    let place = Place::new();
    place.write("s.toml", WALKERS).write("file", "mine");
    std::fs::create_dir(place.path("taken")).expect("the folder can be written");
    place.write("taken/mine", "mine");
    for (out, words) in [
        ("taken", "taken holds other files; name a new or empty folder"),
        ("file", "file is a file"),
        ("file/below", "cannot make the folder"),
        ("/proc/lightlag", "cannot make the folder"),
        ("/dev/full", "/dev/full"),
    ] {
        let line = place.refused(&["sweep", "s.toml", "--out", out]);
        assert!(line.contains(words), "{out}: {line}");
    }
    assert_eq!(place.read("taken/mine"), b"mine");
    place.good(&["sweep", "s.toml", "--out", "done"]);
    place.write("other.toml", WALKERS.replace("count = 10", "count = 11"));
    assert!(place.refused(&["sweep", "other.toml", "--out", "done"]).contains("done"));
    place.refused(&["run", "s.toml", "--out", "file"]);
}

#[test]
fn a_trace_that_cannot_be_written_is_refused_before_the_run() {
    let place = Place::new();
    place.write("s.toml", WALKERS.replacen("10 min", "100 d", 1)).write("file", "mine");
    std::fs::create_dir(place.path("taken.jsonl")).expect("the folder can be written");
    for (trace, words) in [
        ("trace.csv", "trace.csv: unknown format of a trace; name it like trace.parquet, or trace.jsonl"),
        ("trace", "unknown format of a trace"),
        ("file/trace.jsonl", "file/trace.jsonl: "),
        ("taken.jsonl", "taken.jsonl: "),
    ] {
        let line = place.refused(&["run", "s.toml", "--trace", trace]);
        assert!(line.contains(words), "{trace}: {line}");
    }
    place.write("short.toml", WALKERS);
    std::os::unix::fs::symlink("/dev/full", place.path("full.jsonl")).expect("links can be made");
    assert!(place.refused(&["run", "short.toml", "--trace", "full.jsonl"]).contains("No space left"));
}

#[test]
fn folders_of_a_trace_are_made() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    place.good(&["run", "s.toml", "--trace", "new/folder/trace.jsonl"]);
    assert!(place.read("new/folder/trace.jsonl").starts_with(b"{"));
}

#[test]
fn a_full_disk_behind_standard_output_is_no_success() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has /dev/full");
    let done = place.command(&["run", "s.toml"]).stdout(full).output().expect("the command starts");
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("cannot write to standard output"));
}

#[test]
fn help_names_every_study() {
    let place = Place::new();
    let known = place.refused(&["study", "nothing"]);
    let (_, names) = known.split_once("known: ").expect("they are named");
    assert!(names.contains("dccp"), "{names}");
    assert!(place.good(&["study", "--help"]).contains(&format!("One of {names}")));
}

#[test]
fn what_is_wrong_on_the_command_line_is_told_in_one_line() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    for (words, output) in [
        (&["fly"][..], "unknown command `fly`; known: new, validate, "),
        (&["run"], "not provided: <FILE>..."),
        (&["run", "s.toml", "--sed", "1"], "--sed"),
        (&["run", "s.toml", "--seed", "-1"], "'-1' for '--seed <SEED>': a seed is a whole number from 0 to"),
        (&["run", "s.toml", "--point", "-1"], "it is a whole number from 0 on"),
        (&["sweep", "s.toml", "--threads", "-1"], "it is a whole number from 0 (one per core) to 1024"),
        (&["sweep", "s.toml", "--seeds", "-1"], "--seeds: `-1` is not a seed"),
        (&["run", "s.toml", "--seed", "one"], "'one'"),
        (&["run", "s.toml", "--point", "7"], "--point 7: the scenario has points 0 to 0"),
        (&["run", "s.toml", "--set", "buffer"], "expected KEY=VALUE"),
        (&["run", "s.toml", "--set", "bufer=1"], "--set bufer: unknown key `bufer`"),
        (&["run", "s.toml", "--set", "buffer=big"], "--set buffer: "),
        (&["bound"], "not provided: <FILE>..."),
        (&["bound", "missing.toml"], "cannot read `missing.toml`"),
        (&["bound", "s.toml", "--seeds", "none"], "--seeds: `none` is not a seed"),
        (&["bound", "s.toml", "--set", "bufer=1"], "--set bufer: unknown key `bufer`"),
        (&["sweep", "s.toml", "--seeds", "1,1"], "--seeds: seed 1 comes twice"),
        (&["sweep", "s.toml", "--seeds", "5..1"], "--seeds: `5..1` spans no seeds"),
        (
            &["study", "nothing"],
            "known: adaptive, arc, dccp, dcp, dtn-congestion, scorecard, universal, traces",
        ),
        (
            &["study", "arc", "--controller", "cubic"],
            "--controller: not supported by study arc; use it with scorecard",
        ),
        (
            &["study", "universal", "--controller", "cubic"],
            "--controller: not supported by study universal; use it with scorecard",
        ),
        (
            &["study", "arc", "--seed", "2"],
            "--seed: not supported by study arc; use it with scorecard, universal",
        ),
        (&["study", "scorecard", "--worst"], "--controller <NAME>"),
        (
            &["study", "scorecard", "--worst", "--controller", "qubic"],
            "--controller: `qubic` is not on the scorecard; it has contact_rate, ",
        ),
        (
            &["study", "scorecard", "--controller", "qubic"],
            "--controller: `qubic` is not on the scorecard; it has contact_rate, ",
        ),
        (&["report", "missing"], "cannot read missing/results.parquet: no such file; name the folder of a"),
        (&["compare", "missing", "s.toml"], "cannot read missing"),
    ] {
        let line = place.refused(words);
        assert!(line.contains(output), "{words:?}: {line}");
    }
}

#[test]
fn parts_of_sweeps_that_do_not_exist_are_refused() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    for shard in ["0/3", "4/3", "1", "x/2", "-1/2"] {
        let line = place.refused(&["sweep", "s.toml", "--out", "parts", "--shard", shard]);
        assert!(
            line.starts_with(&format!(
                "--shard: `{shard}` does not name a part; parts are written 1/7 to 7/7"
            )),
            "{line}"
        );
    }
    let line = place.refused(&["merge", "parts"]);
    assert!(line.contains("name the folder of a sweep"), "{line}");
}

#[test]
fn defaults_are_checked_even_where_every_group_has_its_own() {
    let own = r#"count = 10
buffer = "500 kB"
router = "epidemic"
mechanism = "none"
receipts = false
mobility = { model = "stationary", area = "300 m x 300 m" }
radio = { range = "50 m", rate = "2.5 Mbit/s" }"#;
    all_refused(
        &WALKERS
            .replace("count = 10", own)
            .replace("buffer = \"500 kB\"\n\nmob", "buffer = \"400 kB\"\n\nmob"),
        &[
            ("buffer = \"400 kB\"", "buffer = \"-3 kB\"", "s.toml:6: `buffer`: `-3 kB` is negative"),
            (
                "router = \"epidemic\"",
                "router = \"bogus\"",
                "s.toml:4: `router` is `bogus`, which is not known",
            ),
            ("mechanism = \"none\"", "mechanism = \"bogus\"", "s.toml:5: `mechanism` is `bogus`"),
            (
                "radio = { range = \"50 m\", rate = \"2.5 Mbit/s\" }",
                "radio = 3",
                "s.toml:9: `radio` is a whole",
            ),
            ("model = \"random_waypoint\"", "model = \"walking\"", "s.toml:8: `mobility.model` is `walking`"),
            ("seeds = [1, 2]", "seeds = [1, 2]\nreceipts = 1", "s.toml:4: `receipts` is a whole number"),
        ],
    );
}

#[test]
fn what_would_never_end_is_refused() {
    all_refused(
        WALKERS,
        &[
            ("seeds", "world.sample_every = \"1e-6 s\"\nseeds", "`world.sample_every` makes 6.0e9 samples"),
            (
                "seeds",
                "world.sample_every = \"1e-9 s\"\nseeds",
                "a run takes at most 1e10 events, or raise `limits.events`",
            ),
            ("seeds", "world.purge_every = \"1e-9 s\"\nseeds", "`world.purge_every` makes 6.0e11 purges"),
            (
                "count = 10",
                "count = 150000\n[nodes.m]\ncount = 150000",
                "there are 300000 nodes, or more; a world holds 200000 at most",
            ),
        ],
    );
    let many: String = (0..10_001).map(|index| format!("[nodes.n{index}x]\n")).collect();
    all_refused(
        WALKERS,
        &[(
            "[nodes.n]\ncount = 10",
            &many,
            "there are 10001 tables [nodes.NAME]; a scenario has 10000 at most",
        )],
    );
    all_refused(
        SETTINGS,
        &[
            (
                "updateInterval = 0.1",
                "updateInterval = 1e-9",
                "s.txt:3: `Scenario.updateInterval` cuts the run",
            ),
            ("rngSeed = 1", "rngSeed = 1\nMovementModel.warmup = 1e9", "s.txt:25: `MovementModel.warmup` is"),
            ("nrofHosts = 10", "nrofHosts = 1000000", "there are 0 to 200000 hosts in all"),
        ],
    );
}

#[test]
fn names_that_lead_out_of_the_folder_of_results_are_refused() {
    let place = Place::new();
    place.write("s.toml", WALKERS).write("s.txt", SETTINGS);
    for name in ["../../x", "a/b", "..", ".", "", "a\\b", "/tmp/x"] {
        let line = place.refused(&["sweep", "s.toml", "--set", &format!("name='{name}'")]);
        assert!(line.starts_with("--set name: the name is "), "{name}: {line}");
    }
    for name in ["../x", "..", "a/b"] {
        let line = place.refused(&["run", "s.txt", "--set", &format!("Scenario.name={name}")]);
        assert!(line.starts_with("--set Scenario.name: `Scenario.name` is not a name"), "{name}: {line}");
    }
    for output in ["../x.txt", "/tmp/x.txt", "."] {
        let line = place.refused(&["run", "s.txt", "--set", &format!("MessageStatsReport.output={output}")]);
        assert!(line.contains("leads out of the folder of the run"), "{output}: {line}");
    }
}

#[test]
fn lists_that_are_empty_or_repeat_a_value_are_refused() {
    all_refused(
        WALKERS,
        &[
            ("\"none\"", "[\"none\", \"none\"]", "s.toml:5: the list `mechanism` has `none` twice"),
            (
                "interval = \"1..30 s\"\nsize = \"50..100 kB\"\nfrom = \"all\"\nto = \"all\"",
                "events = []",
                "is empty",
            ),
        ],
    );
    all_refused(
        RELAY,
        &[("file = \"contacts.txt\"", "rows = []", "s.toml:14: the list `contacts.plan.rows` is empty")],
    );
    all_refused(
        SETTINGS,
        &[(
            "rngSeed = 1",
            "rngSeed = [1; 2; 2]",
            "s.txt:24: run 3 of [a; b; c] has the values of an earlier one",
        )],
    );
}

#[test]
fn what_lies_wholly_after_the_run_is_refused() {
    let line = contacts("table", b"start_s,end_s,a,b,owlt_s,rate_bps\n700,800,a,b,1,1000\n");
    assert!(line.starts_with("s.toml:12: none of the contacts lies in the run"), "{line}");
    all_refused(
        WALKERS,
        &[("from =", "start = \"10 min\"\nfrom =", "s.toml:17: the traffic starts when the run is over")],
    );
    all_refused(
        SETTINGS,
        &[(
            "updateInterval = 0.1",
            "updateInterval = 601",
            "s.txt:3: `Scenario.updateInterval` is longer than",
        )],
    );
}

#[test]
fn a_journal_damaged_in_the_middle_is_refused_with_its_line_and_advice() {
    let place = Place::new();
    place.write("s.toml", WALKERS).good(&["sweep", "s.toml", "--out", "done"]);
    let journal = String::from_utf8(place.read("done/runs.jsonl")).expect("the journal is text");
    place.write("done/runs.jsonl", journal.replacen("{\"point\"", "{\"po", 1));
    let line = place.refused(&["sweep", "s.toml", "--out", "done"]);
    assert_eq!(line, "done/runs.jsonl:2: the line is damaged; delete the line, and its run is done again");
}

#[test]
fn damaged_results_are_refused() {
    let place = Place::new();
    place.write("s.toml", WALKERS).good(&["sweep", "s.toml", "--out", "done"]);
    let sound = place.read("done/results.parquet");
    // Where the journal is there, it is read in place of the table.
    std::fs::remove_file(place.path("done/runs.jsonl")).expect("it is there");
    for (damaged, what) in [(&sound[..100], "cut"), (&[][..], "empty"), (b"PAR1 rubbish PAR1", "rubbish")] {
        place.write("done/results.parquet", damaged);
        let line = place.refused(&["report", "done"]);
        assert!(line.contains("results.parquet"), "{what}: {line}");
    }
}

const UNBOUNDED: &str = r#"
duration = "100 s"
[links.path]
from = "a"
to = "b"
rate = "RATE bit/s"
delay = "DELAY s"
[flows.f]
from = "a"
to = "b"
transport = "TRANSPORT"
controller = "CONTROLLER"
SIZE
"#;

/// Runs it with 2 GB of address space; the whole of its output.
fn within_memory(place: &Place, words: &[&str]) -> std::process::Output {
    let program = place.command(words);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -v 2000000; exec timeout 60 \"$@\"", "sh"]);
    shell.arg(program.get_program()).args(program.get_args());
    if let Some(folder) = program.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.output().expect("it starts")
}

#[test]
fn a_run_that_no_machine_can_hold_is_refused_before_it_starts() {
    let place = Place::new();
    let scenario = |rate: &str, delay: &str, transport: &str, controller: &str, size: &str| {
        let text = UNBOUNDED.replace("RATE", rate).replace("DELAY", delay);
        text.replace("TRANSPORT", transport).replace("CONTROLLER", controller).replace("SIZE", size)
    };
    let plan = "planned_rate = \"plan\"";
    let every = "size = \"1 MB\"\nreport_every = \"1 ns\"";
    for (name, text) in [
        ("rate", scenario("1e15", "0.01", "udpdtn", "contact_rate", plan)),
        ("delay", scenario("1e11", "1e6", "udpdtn", "contact_rate", plan)),
        ("reports", scenario("1e3", "0.01", "ltp", "contact_rate", &format!("{plan}\n{every}"))),
        ("planned", scenario("1e6", "0.01", "udpdtn", "contact_rate", "planned_rate = \"1e15 bit/s\"")),
        ("keys", (0..700_000).map(|n| format!("unknown{n} = 1\n")).collect()),
    ] {
        place.write("s.toml", &text);
        let done = within_memory(&place, &["run", "s.toml"]);
        let output = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), output.lines().count()), (Some(2), 1), "{name}: {}", output);
        assert!(output.contains("s.toml") && output.contains("at most"), "{name}: {}", output);
    }
}

#[test]
fn whatever_rates_sizes_and_delays_are_drawn_a_run_is_refused_or_fits_into_memory() {
    let place = Place::new();
    let mut state = 7_u64;
    let mut draw = |low: f64, high: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let part = (state >> 11) as f64 / (1_u64 << 53) as f64;
        10_f64.powf(low + part * (high - low))
    };
    let (mut ran, mut refused) = (0, 0);
    for round in 0..40_usize {
        let (transport, controller) =
            [("tcp", "cubic"), ("udpdtn", "contact_rate"), ("ltp", "contact_rate"), ("dccp", "ccid2")]
                [round % 4];
        // At most 1e5 packets where it runs: 2 cores, seconds.
        let size = format!("size = \"{} B\"\n", draw(0.0, 7.0) as u64 + 1);
        let plan = if controller == "contact_rate" { "planned_rate = \"plan\"" } else { "" };
        let text = UNBOUNDED
            .replace("RATE", &format!("{:e}", draw(0.0, 15.0).floor()))
            .replace("DELAY", &format!("{:e}", draw(-9.0, 9.0)))
            .replace("TRANSPORT", transport)
            .replace("CONTROLLER", controller)
            .replace("SIZE", &(size + plan));
        place.write("s.toml", &text);
        let done = within_memory(&place, &["run", "s.toml"]);
        let output = String::from_utf8_lossy(&done.stderr);
        match done.status.code() {
            Some(0) => ran += 1,
            Some(2) if output.lines().count() == 1 => refused += 1,
            code => panic!("{code:?}: {}\n{text}", output),
        }
    }
    println!("drawn: {ran} ran within 2 GB, {refused} refused with a line");
    assert!(ran > 0);
}

/// A named pipe in the place.
#[cfg(unix)]
fn pipe(place: &Place, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(place.path(name)).status();
    assert!(made.expect("mkfifo starts").success());
}

#[cfg(unix)]
#[test]
fn a_named_pipe_without_a_writer_is_refused() {
    let place = Place::new();
    ["a.toml", "b.toml", "c.pcapng"].iter().for_each(|name| pipe(&place, name));
    std::thread::scope(|scope| {
        for words in [["run", "a.toml"], ["sweep", "b.toml"], ["capture", "c.pcapng"]] {
            let place = &place;
            scope.spawn(move || {
                let line = place.refused(&words);
                assert!(line.contains("no program has opened the pipe for writing"), "{words:?}: {line}");
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_once_and_its_writer_may_come_later() {
    let place = Place::new();
    pipe(&place, "late.toml");
    let path = place.path("late.toml");
    let writer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        std::fs::write(path, WALKERS).expect("the reader is there");
    });
    let table = place.good(&["sweep", "late.toml", "--out", "results"]);
    writer.join().expect("it has written");
    assert!(table.contains("delivery_prob"), "{table}");
}
