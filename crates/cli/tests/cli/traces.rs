//! Recorded traces as projects publish them: odd line ends, odd units, captures in place of scenarios.

use crate::lightlag::running::link_of;
use crate::lightlag::{Place, WALKERS};

/// A scenario of three nodes over the trace in `trace.dat`.
fn scenario(keys: &str) -> String {
    format!(
        "duration = \"1 h\"\nrouter = \"epidemic\"\nbuffer = \"5 MB\"\n[nodes.n]\ncount = 3\n\
         [contacts.trace]\nfile = \"trace.dat\"\nrate = \"1 Mbit/s\"\n{keys}\n\
         [traffic.mail]\ninterval = \"1 min\"\nsize = \"1 kB\"\n"
    )
}

/// The line on how a trace was read.
fn note(trace: &[u8], keys: &str) -> String {
    let place = Place::new();
    place.write("trace.dat", trace).write("s.toml", scenario(keys));
    let done = place.run(&["run", "s.toml"]);
    let said = String::from_utf8(done.stderr).expect("it is text");
    assert!(done.status.success(), "{said}");
    said.lines().find(|line| line.starts_with("./trace.dat: ")).unwrap_or_else(|| panic!("{said}")).to_owned()
}

/// Why a trace was refused.
fn refused(trace: &[u8], keys: &str) -> String {
    let place = Place::new();
    place.write("trace.dat", trace).write("s.toml", scenario(keys));
    place.refused(&["run", "s.toml"])
}

#[test]
fn starts_and_durations_of_a_trace_may_have_units_of_their_own() {
    let keys =
        "kind = \"intervals\"\ncolumns = \"a b start duration\"\nunit = \"1 ms\"\nduration_unit = \"1 s\"";
    let note = note(b"1,2,60000,600\n2,3,120000,900\n", keys);
    assert!(note.contains("2 contacts of 3 nodes"), "{note}");
    let line =
        refused(b"1 2 3 4\n", "kind = \"intervals\"\ncolumns = \"a b start end\"\nduration_unit = \"1 s\"");
    assert!(line.contains("`contacts.trace.duration_unit` needs a column `duration`"), "{line}");
}

#[test]
fn lines_may_end_as_on_old_macs() {
    let note = note(b"1 2 60 600\r2 3 120 900\r", "kind = \"intervals\"");
    assert!(note.contains("2 lines: 2 contacts of 3 nodes"), "{note}");
    let place = Place::new();
    place.write("s.toml", WALKERS.replace('\n', "\r"));
    place.good(&["run", "s.toml"]);
}

#[test]
fn a_first_line_with_numbers_is_no_header() {
    let line = refused(b"1 2 nan 20\n1 2 30 40\n", "kind = \"intervals\"");
    assert!(line.starts_with("./trace.dat:1: `nan` is not a time"), "{line}");
    let note = note(b"node1 node2 start end\n1 2 60 600\n", "kind = \"intervals\"");
    assert!(note.contains("1 header"), "{note}");
}

#[test]
fn a_host_has_no_sign() {
    let line = refused(b"1 CONN -1 0 up\n", "kind = \"the_one\"");
    assert!(line.starts_with("./trace.dat:1: `-1` is not a host; a host is an address"), "{line}");
}

#[test]
fn a_run_may_start_on_a_day() {
    let place = Place::new();
    let keys = "kind = \"sightings\"\nsighting = \"1 min\"\norigin = \"2024-05-01\"";
    place
        .write("trace.dat", "2024-05-01T00:10:00Z,1,2\n2024-05-01T00:20:00Z,2,3\n")
        .write("s.toml", scenario(keys));
    let said = String::from_utf8(place.run(&["run", "s.toml"]).stderr).expect("it is text");
    assert!(said.contains("2 contacts of 3 nodes, run from 1714521600 s"), "{said}");
    let line = refused(b"1 2 3 4\n", "kind = \"intervals\"\norigin = \"May\"");
    assert!(line.contains("as a date like \"2024-05-01 12:00:00\", or as \"first\""), "{line}");
}

#[test]
fn a_capture_is_no_scenario_and_no_trace() {
    let place = Place::new();
    let mut capture = vec![0x0a, 0x0d, 0x0d, 0x0a];
    capture.extend([0; 24]);
    place.write("x.pcapng", capture);
    for verb in ["explain", "run"] {
        let line = place.refused(&[verb, "x.pcapng"]);
        assert!(
            line.starts_with("x.pcapng: it is a capture of packets; `lightlag capture` analyses it"),
            "{line}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_that_ends_is_a_trace() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo").arg(place.path("trace.dat")).status();
    assert!(made.expect("mkfifo starts").success());
    place.write("s.toml", scenario("kind = \"intervals\""));
    let path = place.path("trace.dat");
    let writer =
        std::thread::spawn(move || std::fs::write(path, "1 2 60 600\n").expect("the reader is there"));
    let done = place.run(&["run", "s.toml"]);
    writer.join().expect("it has written");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("1 contact of 2 nodes"), "{said}");
}

#[test]
fn a_trace_is_not_written_under_a_name_of_another_format() {
    let place = Place::new();
    place.write("s.toml", WALKERS).write("link.toml", link_of("1 Mbit/s", ""));
    let packets =
        "only scenarios of packets can be written as pcapng; name it like trace.parquet, or trace.jsonl";
    for (scenario, file, right) in [
        ("link.toml", "x.pcap", "x.pcap: unknown format of a trace; name it x.pcapng"),
        ("link.toml", "x.json", "name it x.jsonl"),
        ("s.toml", "x.json", "name it x.jsonl"),
        ("s.toml", "x.pcapng", packets),
        ("s.toml", "x.pcap", packets),
        ("s.toml", "x", "name it like trace.parquet, or trace.jsonl"),
    ] {
        let line = place.refused(&["run", scenario, "--trace", file]);
        assert!(line.contains(right), "{line}");
        assert!(!place.path(file).exists(), "{file}");
    }
}
