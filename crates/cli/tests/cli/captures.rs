//! `lightlag capture` as users run it.

use crate::lightlag::Place;
use crate::lightlag::running::link_of;

/// A segment of TCP with 100 bytes of payload, as a capture of raw IP.
fn capture() -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0];
    file.extend([1, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0, 140, 0, 0, 0]);
    file.extend([0x45, 0, 0, 140, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    file.extend([0x4e, 0x20, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 16, 0, 99, 0, 0, 0, 0]);
    file
}

#[test]
fn a_capture_is_told_in_every_form() {
    let place = Place::new();
    place.write("a.pcap", capture());
    let table = place.good(&["capture", "a.pcap", "--html", "a.html", "--parquet", "a.parquet"]);
    assert!(table.contains("10.0.0.1:20000") && table.contains("TCP"), "{table}");
    let html = std::fs::read_to_string(place.path("a.html")).expect("it was written");
    assert!(html.contains("Capture: a.pcap") && !html.contains("Scenarios"));
    assert!(place.path("a.parquet").exists());
    let json = place.good(&["capture", "a.pcap", "--json"]);
    let output: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(output["flows"][0]["out"]["unique_bytes"], 100);
}

#[test]
fn filters_that_nothing_passes_are_told() {
    let place = Place::new();
    place.write("a.pcap", capture());
    let words = ["capture", "a.pcap", "--filter", "dccp", "--filter", "tcp"];
    let done = place.run(&words);
    assert!(done.status.success());
    assert!(String::from_utf8_lossy(&done.stdout).starts_with("1 packet, 140 bytes, 0 s, 0 flows\n"));
    let output = String::from_utf8_lossy(&done.stderr);
    assert_eq!(output, "lightlag: a.pcap: no flow passed the filters, all of which must hold\n");
    let json = place.good(&[&words[..], &["--json"]].concat());
    assert!(json.contains("no flow passed the filters"), "{json}");
    assert_eq!(place.run(&["capture", "a.pcap", "--filter", "tcp"]).stderr, b"");
}

#[test]
fn a_filter_may_be_an_address_with_a_port() {
    let place = Place::new();
    place.write("a.pcap", capture());
    for (filter, flows) in [("10.0.0.2:80", 1), ("10.0.0.1:20000", 1), ("10.0.0.1:80", 0)] {
        let json = place.good(&["capture", "a.pcap", "--filter", filter, "--json"]);
        let output: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(output["flows"].as_array().map(Vec::len), Some(flows), "{filter}");
    }
    let line = place.refused(&["capture", "a.pcap", "--filter", "10.0.0.1:http"]);
    assert!(line.contains("ADDRESS:PORT, as 10.0.0.1:80 or [fd77::1]:80"), "{line}");
}

#[test]
fn a_capture_of_a_world_shows_each_mark_of_a_queue() {
    let place = Place::new();
    place.write("ecn.toml", include_str!("../../../../scenarios/dccp_ecn.toml"));
    let run = ["run", "ecn.toml", "--trace", "c.pcapng", "--capture", "receivers", "--json"];
    let run: serde_json::Value = serde_json::from_str(&place.good(&run)).expect("JSON");
    let flow = place.good(&["capture", "c.pcapng", "--json"]);
    let flow: serde_json::Value = serde_json::from_str(&flow).expect("JSON");
    let marked = &flow["flows"][0]["out"]["marked"];
    assert!(marked.as_u64() > Some(0), "{flow}");
    assert!(run.to_string().contains(&format!("\"packets_marked\":{marked},")), "{marked} in {run}");
}

/// A Request of DCCP in UDP.
fn dccp_in_udp() -> Vec<u8> {
    let mut file = capture()[..24].to_vec();
    file.extend([1, 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0, 48, 0, 0, 0]);
    file.extend([0x45, 0, 0, 48, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    file.extend([0x19, 0x6f, 0x19, 0x6f, 0, 28, 0, 0]);
    file.extend([0x4e, 0x20, 0x13, 0x89, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1]);
    file
}

#[test]
fn dccp_in_udp_is_rewritten_as_a_protocol_of_ip() {
    let place = Place::new();
    place.write("a.pcap", dccp_in_udp());
    let table = place.good(&["capture", "a.pcap", "--to-dccp", "b.pcap", "--to-tcp", "c.pcap"]);
    assert!(table.contains("DCCP-UDP") && table.contains("10.0.0.2:5001"), "{table}");
    assert!(place.good(&["capture", "b.pcap"]).contains(" DCCP "));
    assert!(place.good(&["capture", "c.pcap"]).contains(" TCP "));
}

#[test]
fn no_output_destroys_what_is_read_or_another_output() {
    let place = Place::new();
    place.write("a.pcap", dccp_in_udp());
    std::os::unix::fs::symlink("a.pcap", place.path("soft.pcap")).expect("it can be linked");
    std::fs::hard_link(place.path("a.pcap"), place.path("hard.pcap")).expect("it can be linked");
    std::fs::create_dir(place.path("sub")).expect("it can be made");
    for option in ["--html", "--parquet", "--to-tcp", "--to-dccp"] {
        for same in ["a.pcap", "./a.pcap", "sub/../a.pcap", "soft.pcap", "hard.pcap"] {
            let line = place.refused(&["capture", "a.pcap", option, same]);
            assert_eq!(line, format!("{option}: {same} is the capture that is read; name another file"));
        }
        let mut words = vec!["capture", "a.pcap", option, "sub/../out"];
        words.extend(if option == "--html" { ["--parquet", "./out"] } else { ["--html", "./out"] });
        let line = place.refused(&words);
        assert!(line.contains("writes; name another file"), "{line}");
        assert!(!place.path("out").exists());
    }
    assert_eq!(place.read("a.pcap"), dccp_in_udp());
}

#[test]
fn a_capture_from_standard_input_is_not_written_over() {
    let place = Place::new();
    place.write("a.pcap", capture());
    for (option, output) in [("--html", "is the capture that is read"), ("--to-tcp", "is read twice")] {
        let mut command = place.command(&["capture", "-", option, "a.pcap", "--parquet", "b.parquet"]);
        let input = std::fs::File::open(place.path("a.pcap")).expect("it is there");
        let done = command.stdin(input).output().expect("the command starts");
        assert_eq!(done.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&done.stderr).contains(output));
    }
    assert_eq!(place.read("a.pcap"), capture());
    assert!(!place.path("b.parquet").exists());
}

/// As gzip writes it, with the bytes as they are.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let crc = !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0xedb8_8320 * (crc & 1)))
    });
    let length = bytes.len() as u16;
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    file.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
    file.extend(bytes);
    file.extend([crc.to_le_bytes(), u32::from(length).to_le_bytes()].concat());
    file
}

#[test]
fn compressed_captures_are_read_from_files_and_from_standard_input() {
    let place = Place::new();
    place.write("a.pcap", dccp_in_udp()).write("a.pcap.gz", stored(&dccp_in_udp()));
    let plain = place.good(&["capture", "a.pcap"]);
    assert_eq!(place.good(&["capture", "a.pcap.gz", "--to-dccp", "b.pcap"]), plain);
    assert!(place.good(&["capture", "b.pcap"]).contains(" DCCP "));
    for name in ["a.pcap", "a.pcap.gz"] {
        let input = std::fs::File::open(place.path(name)).expect("it is there");
        let done = place.command(&["capture", "-"]).stdin(input).output().expect("the command starts");
        assert_eq!(String::from_utf8_lossy(&done.stdout), plain);
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    }
}

#[test]
fn a_run_writes_its_records_to_every_trace_that_is_named() {
    let place = Place::new();
    place.write("link.toml", link_of("1 Mbit/s", ""));
    place.good(&["run", "link.toml", "--trace", "one.jsonl"]);
    let all = ["--trace", "a.pcapng", "--trace", "b.parquet", "--trace", "c.jsonl"];
    let figures = place.good(&[&["run", "link.toml", "--json"], &all[..]].concat());
    assert_eq!(place.read("c.jsonl"), place.read("one.jsonl"), "several traces change none");
    assert_eq!(figures, place.good(&["run", "link.toml", "--json"]), "nor the run");
    assert!(place.good(&["capture", "a.pcapng"]).contains(" TCP "));
    assert_eq!(place.good(&["explain", "b.parquet"]), place.good(&["explain", "c.jsonl"]));
    for (words, what) in [
        (["--trace", "c.jsonl", "--trace", "./c.jsonl"], "./c.jsonl is what --trace writes"),
        (["--trace", "link.toml", "--trace", "d.jsonl"], "link.toml is the scenario"),
    ] {
        let line = place.refused(&[&["run", "link.toml"], &words[..]].concat());
        assert!(line.contains(what), "{line}");
    }
}

#[test]
fn every_output_makes_the_folder_it_is_to_be_in() {
    let place = Place::new();
    place.write("a.pcap", dccp_in_udp());
    for option in ["--html", "--parquet", "--to-tcp", "--to-dccp"] {
        let path = format!("made/for{option}/out");
        place.good(&["capture", "a.pcap", option, &path]);
        assert!(place.path(&path).exists(), "{path}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_in_one_line() {
    let place = Place::new();
    place.write("text.pcap", "this is not a capture at all").write("a.pcap", capture());
    for (words, what) in [
        (&["capture", "text.pcap"][..], "text.pcap is not a capture"),
        (&["capture", "missing.pcap"], "missing.pcap cannot be read"),
        (&["capture", "a.pcap", "--filter", "tpc"], "write an address, a port, ADDRESS:PORT, as"),
        (&["capture", "a.pcap", "--pause", "0 s"], "--pause"),
        (&["capture", "a.pcap", "--to-tcp", "a.pcap/b.pcap"], "cannot write a.pcap/b.pcap"),
    ] {
        let line = place.refused(words);
        assert!(line.contains(what), "{line}");
    }
}

/// What both devices of an emulated link capture of a segment: pcapng, an interface each.
fn emulated() -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer =
        lightlag_capture::Packets::new(&mut file, "test", &["near", "far"]).expect("it is written");
    let packet = &capture()[40..];
    for (at_ns, interface) in [(1_000_000_000, 0), (1_500_000_000, 1)] {
        writer.write(at_ns, interface, interface == 0, packet).expect("it is written");
    }
    writer.finish().expect("it is written");
    file
}

#[test]
fn a_packet_that_passes_both_devices_of_an_emulated_link_counts_once() {
    let place = Place::new();
    place.write("a.pcapng", emulated());
    let done = place.run(&["capture", "a.pcapng"]);
    let table = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(table.starts_with("1 packet, 40 bytes, "), "{table}");
    let note = "1 packet was captured at a second interface as well and counts once; --interface chooses one";
    assert!(String::from_utf8_lossy(&done.stderr).contains(note));
    let of = |interface: &str| -> serde_json::Value {
        let json = place.good(&["capture", "a.pcapng", "--interface", interface, "--json"]);
        serde_json::from_str(&json).expect("it is JSON")
    };
    let (near, far) = (of("near"), of("1"));
    assert_eq!((&near["packets"], &far["packets"]), (&1.into(), &1.into()));
    assert_ne!(near["began_s"], far["began_s"]);
    let line = place.refused(&["capture", "a.pcapng", "--interface", "middle"]);
    assert_eq!(line, "a.pcapng has no interface `middle`; it has near, far");
}

/// A segment of a connection whose server, 10.0.0.2, sends data.
fn segment(from_client: bool, [sequence, acknowledged]: [u32; 2], flags: u8, length: u8) -> Vec<u8> {
    let (own, other) = if from_client { (1, 2) } else { (2, 1) };
    let mut packet = vec![0x45, 0, 0, 40 + length, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, own, 10, 0, 0, other];
    let ports = if from_client { [0x4e, 0x20, 0, 80] } else { [0, 80, 0x4e, 0x20] };
    packet.extend(ports);
    packet.extend([sequence.to_be_bytes(), acknowledged.to_be_bytes()].concat());
    packet.extend([0x50, flags, 1, 0, 0, 0, 0, 0]);
    packet.resize(40 + usize::from(length), 0);
    packet
}

#[test]
fn a_download_over_an_emulation_names_the_interface_of_its_sender() {
    let segments: [(i64, Vec<u8>); 5] = [
        (0, segment(true, [0, 0], 2, 0)),
        (100, segment(false, [0, 1], 18, 0)),
        (200, segment(true, [1, 1], 16, 0)),
        (300, segment(false, [1, 1], 16, 100)),
        (400, segment(true, [1, 101], 16, 0)),
    ];
    let mut passing = Vec::new();
    for (at_ms, packet) in &segments {
        let (at_ms, from_client) = (*at_ms, packet[15] == 1);
        passing.push((at_ms, u32::from(!from_client), packet));
        passing.push((at_ms + 100, u32::from(from_client), packet));
    }
    passing.sort_by_key(|one| one.0);
    let mut file = Vec::new();
    let mut writer =
        lightlag_capture::Packets::new(&mut file, "test", &["near", "far"]).expect("it is written");
    for (at_ms, interface, packet) in passing {
        writer.write(at_ms * 1_000_000, interface, interface == 0, packet).expect("it is written");
    }
    writer.finish().expect("it is written");
    let place = Place::new();
    place.write("a.pcapng", file);
    let table = place.good(&["capture", "a.pcapng"]);
    assert!(table.contains("--interface 1 gives them"), "{table}");
    let json = place.good(&["capture", "a.pcapng", "--interface", "1", "--json"]);
    let far: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(far["flows"][0]["back"]["rtt_ms"]["max"], 200.0, "{far}");
    assert!(!far.to_string().contains("--interface"), "{far}");
}

#[test]
fn losses_that_a_protocol_does_not_report_are_unknown() {
    let place = Place::new();
    place.write("a.pcap", capture());
    let table = place.good(&["capture", "a.pcap"]);
    let head = table.lines().find(|line| line.contains("speaks")).expect("a head");
    let row = table.lines().find(|line| line.contains("#1")).expect("a row");
    let at = head.find("lost").expect("a column");
    assert_eq!(row.chars().nth(at + 3), Some('–'), "{table}");
    let json = place.good(&["capture", "a.pcap", "--json"]);
    let output: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(output["flows"][0]["out"]["lost_packets"], serde_json::Value::Null);
}

#[test]
fn the_help_names_every_protocol_that_a_filter_takes() {
    let place = Place::new();
    place.write("a.pcap", capture());
    let help = place.good(&["capture", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let line = place.refused(&["capture", "a.pcap", "--filter", "tpc"]);
    let names = line.split("or one of ").nth(1).expect("names").to_owned();
    assert!(names.split(", ").count() >= 13, "{names}");
    assert!(help.contains(&names), "{names}\n{help}");
}
