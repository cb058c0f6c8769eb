//! Sweeps: the same table despite failures and interruptions.

use crate::lightlag::running::link_of;
use crate::lightlag::{Place, SETTINGS, WALKERS};
use std::process::Stdio;
use std::time::Duration;

/// Thirty runs.
fn scenario() -> String {
    WALKERS
        .replace("[1, 2]", "[1, 2, 3, 4, 5]")
        .replace("\"none\"", "[\"none\", \"credit\", \"storage_routing\"]")
        .replace("\"epidemic\"", "[\"epidemic\", \"prophet\"]")
}

const TABLES: [&str; 2] = ["results.parquet", "summary.json"];

fn tables(place: &Place, out: &str) -> Vec<Vec<u8>> {
    TABLES.iter().map(|name| place.read(&format!("{out}/{name}"))).collect()
}

/// Number of runs in the journal of a sweep.
fn finished(place: &Place, out: &str) -> usize {
    let journal = std::fs::read_to_string(place.path(&format!("{out}/runs.jsonl"))).unwrap_or_default();
    journal.lines().filter(|line| line.starts_with("{\"point\"")).count()
}

#[test]
fn a_sweep_that_is_killed_again_and_again_ends_with_the_table_of_an_undisturbed_one() {
    let place = Place::new();
    place.write("s.toml", scenario());
    place.good(&["sweep", "s.toml", "--out", "undisturbed"]);
    for runs in [0, 1, 4, 9, 17, 29] {
        let words = ["sweep", "s.toml", "--out", "killed", "--threads", "1"];
        let mut sweep = place
            .command(&words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        while finished(&place, "killed") < runs && sweep.try_wait().expect("it can be asked").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        sweep.kill().expect("it can be killed");
        sweep.wait().expect("it ends");
        assert!(finished(&place, "killed") >= runs, "nothing finished is lost");
    }
    place.good(&["sweep", "s.toml", "--out", "killed"]);
    assert!(tables(&place, "killed") == tables(&place, "undisturbed"), "the tables differ");
}

#[test]
fn a_journal_that_was_cut_anywhere_is_taken_up_again() {
    let place = Place::new();
    place.write("s.toml", scenario());
    place.good(&["sweep", "s.toml", "--out", "whole"]);
    let journal = place.read("whole/runs.jsonl");
    for part in [0, 10, journal.len() / 3, journal.len() / 2, journal.len() - 1] {
        std::fs::create_dir_all(place.path("cut")).expect("the folder can be written");
        place.write("cut/runs.jsonl", &journal[..part]);
        place.good(&["sweep", "s.toml", "--out", "cut"]);
        assert!(tables(&place, "cut") == tables(&place, "whole"), "cut after {part} bytes");
    }
}

#[test]
fn seven_processes_in_any_order_two_of_them_killed_give_the_bytes_of_one() {
    let place = Place::new();
    place.write("s.toml", scenario());
    place.good(&["sweep", "s.toml", "--out", "one"]);
    let words = |shard: &str| {
        ["sweep", "s.toml", "--out", "parts", "--threads", "1", "--shard", shard].map(str::to_owned)
    };
    for (index, is_killed) in
        [(4, false), (7, true), (1, false), (2, true), (6, false), (3, false), (5, false)]
    {
        let shard = words(&format!("{index}/7"));
        let shard: Vec<&str> = shard.iter().map(String::as_str).collect();
        if is_killed {
            let (journal, mut process) = (
                place.path(&format!("parts/runs-{index}-of-7.jsonl")),
                place.command(&shard).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"),
            );
            let lines = || std::fs::read_to_string(&journal).unwrap_or_default().lines().count();
            while lines() < 2 && process.try_wait().expect("it can be asked").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            process.kill().expect("it can be killed");
            process.wait().expect("it ends");
            let partial = place.good(&["report", "parts"]);
            assert!(partial.ends_with("report.html\n"), "{partial}");
            std::fs::remove_file(place.path("parts/report.html")).expect("it was written");
        }
        place.good(&shard);
    }
    let merged = place.good(&["merge", "parts"]);
    assert!(merged.starts_with("30 runs in "), "{merged}");
    assert!(tables(&place, "parts") == tables(&place, "one"), "the tables differ");
    // Three seeds more are three seeds' runs more, and the bytes of a sweep that had them from the start.
    place.good(&["sweep", "s.toml", "--out", "parts", "--seeds", "7..9"]);
    assert_eq!(finished(&place, "parts"), 30 + 18);
    place.good(&["sweep", "s.toml", "--out", "all", "--seeds", "1..5,7..9"]);
    assert!(tables(&place, "parts") == tables(&place, "all"), "the tables differ");
}

#[test]
fn the_script_for_slurm_does_the_sweep_whatever_is_in_its_names() {
    let place = Place::new();
    place.write("it's a $HOME.toml", scenario());
    let words = ["sweep", "it's a $HOME.toml", "--set", "traffic.messages.size=\"20 kB\"", "--seeds", "1..3"];
    let of = |more: &[&'static str]| [&words[..], more].concat();
    place.good(&of(&["--out", "one"]));
    let script = place.good(&of(&["--out", "the parts", "--slurm", "3"]));
    assert!(
        script.starts_with("#!/bin/bash\n#SBATCH --job-name=") && script.contains("--array=1-3\n"),
        "{script}"
    );
    place.write("array.sh", &script);
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_lightlag")).parent().expect("it is in a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("there is one"));
    for task in ["2", "3", "1"] {
        let mut part = std::process::Command::new("bash");
        part.arg("array.sh").current_dir(place.path("")).env("SLURM_ARRAY_TASK_ID", task).env("PATH", &path);
        assert!(part.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it runs").success());
    }
    place.good(&["merge", "the parts"]);
    assert!(tables(&place, "the parts") == tables(&place, "one"), "the tables differ");
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    let place = Place::new();
    place.write("s.toml", scenario());
    for threads in ["1", "2"] {
        place.good(&["sweep", "s.toml", "--out", threads, "--threads", threads]);
    }
    assert!(tables(&place, "1") == tables(&place, "2"), "the tables differ");
}

#[test]
fn the_same_run_twice_gives_the_same_bytes_and_another_seed_gives_others() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    let run = |seed, out: &str| {
        let trace = format!("{out}/trace.jsonl");
        let json = place.good(&["run", "s.toml", "--seed", seed, "--json", "--out", out, "--trace", &trace]);
        (json, place.read(&trace), place.read(&format!("{out}/summary.json")))
    };
    for out in ["a", "b", "c"] {
        std::fs::create_dir(place.path(out)).expect("the folder can be written");
    }
    let (first, second, other) = (run("1", "a"), run("1", "b"), run("2", "c"));
    assert!(first == second, "the same seed differs");
    assert!(first.1 != other.1, "another seed does not differ");
}

#[test]
fn a_sweep_says_of_each_point_what_a_run_of_it_says() {
    let place = Place::new();
    place.write("s.toml", scenario());
    place.good(&["sweep", "s.toml", "--out", "swept"]);
    let journal = String::from_utf8(place.read("swept/runs.jsonl")).expect("the journal is text");
    let run: serde_json::Value =
        serde_json::from_str(&place.good(&["run", "s.toml", "--point", "4", "--seed", "3", "--json"]))
            .expect("--json prints JSON");
    let swept = journal
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find(|line| line["point"] == 4 && line["seed"] == 3)
        .expect("the sweep has run point 4 with seed 3");
    for row in swept["metrics"].as_array().expect("metrics are a list") {
        let name = row[0].as_str().expect("a row has a name");
        if name != "violations" {
            assert_eq!(row[1].as_f64(), run[name].as_f64(), "{name}");
        }
    }
}

/// The values and the difference in deliveries of each row of a comparison.
fn compared(place: &Place, first: &str, second: &str) -> Vec<(String, f64)> {
    let output: serde_json::Value =
        serde_json::from_str(&place.good(&["compare", first, second, "--metric", "delivered", "--json"]))
            .expect("--json prints JSON");
    let rows = output["differences"].as_array().expect("differences are a list").clone();
    let delivered = rows.iter().filter(|row| row["metric"] == "delivered");
    let output = |row: &serde_json::Value| {
        let values = row["values"].as_array().expect("values are a list").iter();
        let words: Vec<&str> = values.filter_map(|value| value[1].as_str()).collect();
        (words.join(" "), row["paired"]["difference"]["mean"].as_f64().expect("a number"))
    };
    delivered.map(output).collect()
}

#[test]
fn a_sweep_over_mechanisms_is_compared_with_one_of_a_fixed_mechanism() {
    let place = Place::new();
    place.write("s.toml", WALKERS.replace("\"none\"", "[\"none\", \"credit\"]"));
    place.good(&["sweep", "s.toml", "--out", "all"]);
    place.good(&["sweep", "s.toml", "--set", "mechanism=credit", "--seeds", "2..4", "--out", "credit"]);
    let rows = compared(&place, "all", "credit");
    assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["none", "credit"]);
    assert_eq!(rows[1].1, 0.0, "credit differs from itself");
    let within = place.good(&["compare", "all", "--by", "mechanism"]);
    assert_eq!(within.lines().filter(|line| line.contains("mechanism=credit")).count(), 4, "{within}");
    assert_eq!(within.matches("mechanism=none").count(), 1, "it heads the first column: {within}");
    let based = place.good(&["compare", "all", "--by", "mechanism", "--to", "credit", "--metric", "all"]);
    assert!(based.lines().filter(|line| line.contains("mechanism=none")).count() > 20, "{based}");
    for (words, right) in [
        (&["compare", "all"][..], "name a second folder, or an axis with --by"),
        (&["compare", "all", "--by", "router"], "all: the sweep does not vary `router`; it varies mechanism"),
        (&["compare", "all", "credit", "--metric", "speed"], "have no metric `speed` in common"),
    ] {
        let line = place.refused(words);
        assert!(line.contains(right), "{line}");
    }
}

#[test]
fn two_runs_are_compared_by_their_folders_or_their_json() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    for (mechanism, seed, out) in [("none", "1", "a"), ("credit", "1", "b"), ("none", "2", "late")] {
        let set = format!("mechanism={mechanism}");
        let json = place.good(&["run", "s.toml", "--set", &set, "--seed", seed, "--out", out, "--json"]);
        place.write(&format!("{out}.json"), json);
    }
    let table = place.good(&["compare", "a", "b"]);
    assert!(table.starts_with("One seed each: nothing says whether chance"), "{table}");
    assert!(table.contains("delivery_prob") && !table.contains("point"), "{table}");
    let files = place.good(&["compare", "a.json", "b.json"]);
    assert_eq!(
        files.replace("a.json", "a").replace("b.json", "b").split_whitespace().collect::<Vec<_>>(),
        table.split_whitespace().collect::<Vec<_>>()
    );
    let json = place.good(&["compare", "a", "b", "--metric", "created", "--json"]);
    let output: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(output["differences"][0]["paired"]["difference"]["mean"], 0.0, "both had the same traffic");
    place.good(&["sweep", "s.toml", "--out", "sweep"]);
    assert!(
        place.good(&["compare", "sweep", "late"]).contains("delivery_prob"),
        "a run and a sweep with its seed"
    );
    place.write("other.json", "{\"x\": 1}");
    for (words, right) in [
        (["compare", "a", "late"], "no seed is in both (1 and 2); run both with the same seeds"),
        (["compare", "a", "other.json"], "it does not say which `run` it is of"),
        (["compare", "a", "."], "name the folder of a sweep or of `run --out`, or a file of `run --json`"),
    ] {
        let line = place.refused(&words);
        assert!(line.contains(right), "{line}");
    }
}

#[test]
fn sweeps_that_have_nothing_in_common_are_not_compared() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    for (out, set, seeds) in [
        ("two", "buffer=[\"500 kB\", \"600 kB\"]", "1"),
        ("three", "buffer=[\"700 kB\", \"800 kB\", \"900 kB\"]", "1"),
        ("late", "buffer=[\"500 kB\", \"600 kB\"]", "7"),
        ("routers", "router=[\"epidemic\", \"prophet\"]", "1"),
    ] {
        place.good(&["sweep", "s.toml", "--set", set, "--seeds", seeds, "--out", out]);
    }
    for (other, words) in [
        ("three", "two and three: no point of one sweep is a point of the other (buffer); "),
        ("late", "two and late: no seed is in both (1 and 7); "),
        ("routers", "two and routers: only the first varies buffer and only the second varies router; "),
    ] {
        let line = place.refused(&["compare", "two", other]);
        assert!(line.starts_with(words), "{line}");
    }
}

#[test]
fn a_sweep_of_settings_leaves_out_points_whose_mechanism_refuses_the_router_and_says_so() {
    let place = Place::new();
    let arrays = "ProphetRouter.secondsInTimeUnit = 30\nGroup.mechanism = [none; afner]\n\
                  Group.router = [EpidemicRouter; ProphetRouter]";
    place.write("s.txt", SETTINGS.replace("Group.router = EpidemicRouter", arrays));
    let done = place.run(&["sweep", "s.txt", "--seeds", "1", "--out", "done", "--json"]);
    let output = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{output}");
    assert!(
        output.contains("left out 1 points, as s.txt:10: `Group.mechanism` refuses router `prophet`"),
        "{}",
        output
    );
    let made: serde_json::Value = serde_json::from_slice(&done.stdout).expect("--json prints JSON");
    assert_eq!(made["points"].as_array().map(Vec::len), Some(1));
    place.write(
        "alone.txt",
        SETTINGS.replace("EpidemicRouter", "ProphetRouter\nProphetRouter.secondsInTimeUnit = 30"),
    );
    let line = place.refused(&["sweep", "alone.txt", "--set", "Group.mechanism=afner"]);
    assert!(line.contains("refuses router `prophet`"), "{line}");
}

#[test]
fn settings_with_a_mark_of_utf_8_are_read_and_end_when_the_ones_clock_does() {
    let place = Place::new();
    let mut text = b"\xef\xbb\xbf".to_vec();
    text.extend(SETTINGS.replace("endTime = 600", "endTime = 3600").bytes());
    place.write("s.txt", text);
    let run: serde_json::Value =
        serde_json::from_str(&place.good(&["run", "s.txt", "--json"])).expect("--json prints JSON");
    let report = String::from_utf8(place.read("reports/small_MessageStatsReport.txt")).expect("it is text");
    let line = report.lines().find(|line| line.starts_with("sim_time: ")).expect("it has a time");
    assert_eq!(format!("sim_time: {:.4}", run["sim_time"].as_f64().expect("a number")), line);
}

#[test]
fn parts_of_a_key_can_stand_in_quotes() {
    let place = Place::new();
    place
        .write("s.toml", crate::lightlag::RELAY)
        .write("contacts.txt", "start_s,end_s,a,b,owlt_s,rate_bps\n0,600,a,b,1,1e6\n");
    let latency = |set: &str| {
        let output = place.good(&["run", "s.toml", "--json", "--set", set]);
        let run: serde_json::Value = serde_json::from_str(&output).expect("--json prints JSON");
        run["latency_avg"].as_f64().expect("something is delivered")
    };
    let slow = latency("contacts.plan.pairs.\"a -> b\".delay=\"9 s\"");
    assert!(slow > latency("contacts.plan.pairs.\"b -> a\".delay=\"9 s\"") + 7.9);
}

#[test]
fn the_lone_destination_of_traffic_from_all_sends_nothing_itself() {
    let place = Place::new();
    place.write("s.toml", WALKERS.replace("to = \"all\"", "to = \"n3\""));
    place.good(&["run", "s.toml", "--trace", "trace.jsonl"]);
    let trace = String::from_utf8(place.read("trace.jsonl")).expect("it is text");
    let created: Vec<&str> = trace.lines().filter(|line| line.contains("\"created\"")).collect();
    assert!(created.len() > 10, "{} messages", created.len());
    place.write("one.toml", WALKERS.replace("from = \"all\"\nto = \"all\"", "from = \"n3\"\nto = \"n3\""));
    assert!(place.refused(&["run", "one.toml"]).contains("a node could only send to itself"));
}

#[test]
fn run_and_sweep_report_once_how_a_trace_was_read() {
    let place = Place::new();
    place.write("trace.dat", "1\t2\t0\t60\n2\t1\t50\t90\n1\t9\t0\t100\n2\t3\t70\t70\n").write(
        "s.toml",
        "duration = \"10 min\"\nrouter = [\"direct\", \"epidemic\"]\nbuffer = \"1 MB\"\nnodes.n.count = 3\n\
         contacts.c = { kind = \"intervals\", file = \"trace.dat\", rate = \"1 Mbit/s\", unknown_nodes = \"skip\" }\n\
         traffic.m = { interval = \"10 s\", size = \"10 kB\" }\n",
    );
    for verb in ["run", "sweep"] {
        let done = place.run(&[verb, "s.toml"]);
        let lines = String::from_utf8(done.stderr).expect("reports are text");
        let line = "trace.dat: 4 lines; 1 dropped, with 1 devices that are not nodes; 1 without a duration last 40 s, \
                    the scan interval as estimated from the file; 1 joined with others of their pair: 2 contacts of 3 nodes\n";
        assert_eq!((done.status.code(), lines.matches(line).count()), (Some(0), 1), "{lines}");
    }
}

/// What a good command says on standard error.
fn said(place: &Place, words: &[&str]) -> String {
    let done = place.run(words);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{words:?}: {said}");
    said
}

#[test]
fn what_is_read_of_an_unfinished_sweep_says_how_much_of_it_is_done() {
    let place = Place::new();
    place.write("s.toml", WALKERS.replace("\"none\"", "[\"none\", \"credit\"]"));
    let line = said(&place, &["sweep", "s.toml", "--out", "w", "--shard", "1/2"]);
    assert!(line.contains("runs done: 2, already there: 0; results in w"), "{line}");
    for words in [
        &["report", "w"][..],
        &["compare", "w", "--by", "mechanism"],
        &["plot", "w", "--metric", "created", "--out", "f.html"],
    ] {
        let line = said(&place, words);
        assert!(line.contains("w: the sweep is not finished: 2 of 4 runs are done"), "{words:?}: {line}");
    }
    let line = said(&place, &["sweep", "s.toml", "--out", "w"]);
    assert!(line.contains("runs done: 2, already there: 2; results in w"), "{line}");
    assert_eq!(said(&place, &["report", "w"]), "");
    let [report, page] =
        ["w/report.html", "w/view.html"].map(|path| String::from_utf8(place.read(path)).expect("it is text"));
    assert!(report.contains("Highest delivery ratio: ") && report.contains("src=\"view.html\""));
    assert!(page.contains("credit") && page.contains("none"), "it has two of the runs");
}

#[test]
fn a_comparison_names_other_keys_that_differ_and_refuses_other_worlds() {
    let place = Place::new();
    place.write("s.toml", WALKERS).write("link.toml", link_of("1 Mbit/s", ""));
    place.good(&["sweep", "s.toml", "--out", "a"]);
    place.good(&["sweep", "s.toml", "--set", "mechanism=[\"none\", \"credit\"]", "--out", "b"]);
    place.good(&[
        "sweep",
        "s.toml",
        "--set",
        "mechanism=[\"none\", \"credit\"]",
        "--set",
        "duration=5 min",
        "--out",
        "c",
    ]);
    assert_eq!(said(&place, &["compare", "a", "b"]), "");
    for other in ["a", "b"] {
        let line = said(&place, &["compare", other, "c"]);
        assert_eq!(line, "note: the scenarios differ in: duration\n");
    }
    assert_eq!(said(&place, &["compare", "b", "./b"]), "note: both are the same: b\n");
    place.good(&["run", "s.toml", "--out", "one"]);
    place.good(&["run", "s.toml", "--set", "duration=5 min", "--out", "two"]);
    assert_eq!(said(&place, &["compare", "one", "two"]), "note: the scenarios differ in: duration\n");
    place.good(&["run", "link.toml", "--seed", "1", "--out", "link"]);
    let line = place.refused(&["compare", "one", "link"]);
    assert!(line.contains("the first is of bundles and the second of packets; "), "{line}");
}

#[test]
fn a_run_leaves_a_sweep_alone_and_replaces_all_files_of_an_earlier_run() {
    let place = Place::new();
    place.write("s.toml", WALKERS).write("link.toml", link_of("1 Mbit/s", ""));
    place.good(&["sweep", "s.toml", "--out", "w"]);
    let before = tables(&place, "w");
    let line = place.refused(&["run", "s.toml", "--out", "w"]);
    assert_eq!(line, "w holds a sweep; name another folder");
    assert!(tables(&place, "w") == before, "the tables differ");
    place.good(&["run", "link.toml", "--set", "sample_every=1 s", "--out", "r"]);
    assert!(place.path("r/series.parquet").exists() && place.path("r/series.html").exists());
    place.good(&["run", "link.toml", "--out", "r"]);
    assert!(!place.path("r/series.parquet").exists() && !place.path("r/series.html").exists());
    place.write("series.parquet", "another's");
    place.good(&["run", "s.toml", "--out", "."]);
    assert_eq!(place.read("series.parquet"), b"another's", "it is not of an earlier run");
}
