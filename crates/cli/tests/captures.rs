//! `lightlag capture` as users run it.

mod lightlag;

use lightlag::Place;

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
    let told: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(told["flows"][0]["out"]["unique_bytes"], 100);
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
    let same = place.refused(&["capture", "a.pcap", "--to-dccp", "a.pcap"]);
    assert!(same.contains("name another file"), "{same}");
    assert_eq!(std::fs::read(place.path("a.pcap")).expect("it is there"), dccp_in_udp());
}

#[test]
fn what_cannot_be_read_is_refused_in_one_line() {
    let place = Place::new();
    place.write("text.pcap", "this is no capture at all").write("a.pcap", capture());
    for (words, what) in [
        (&["capture", "text.pcap"][..], "text.pcap is no capture"),
        (&["capture", "missing.pcap"], "missing.pcap cannot be read"),
        (&["capture", "a.pcap", "--filter", "tpc"], "write an address, a port, or one of tcp"),
        (&["capture", "a.pcap", "--pause", "0 s"], "--pause"),
        (&["capture", "a.pcap", "--to-dccp", "a.pcap"], "a.pcap is the capture that is read"),
        (&["capture", "a.pcap", "--to-tcp", "missing/b.pcap"], "cannot write missing/b.pcap"),
    ] {
        let line = place.refused(words);
        assert!(line.contains(what), "{line}");
    }
}
