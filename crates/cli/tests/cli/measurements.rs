//! Throughput as `lightlag bench-link` measures it, and captures of our own sockets.

use crate::lightlag::running::{Running, link_of, noise};
use crate::lightlag::{Place, failed};
use serde_json::Value;
use std::net::UdpSocket;
use std::process::Command;

const WAYS: [&str; 5] = ["udpdtn", "ltp-udp", "ltp-dccp", "dccp", "tcp"];

fn listening(place: &Place, over: &str, more: &[&str]) -> (Running, String) {
    let words = ["bench-link", "--over", over, "--listen", "127.0.0.1:0", "--json"];
    Running::listening(place.command(&[&words, more].concat()))
}

fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect()
}

fn goodput(output: &Value) -> f64 {
    output["goodput_bit_per_s"].as_f64().expect("a number")
}

#[test]
fn both_sides_tell_what_the_receiver_counted() {
    for over in WAYS {
        let place = Place::new();
        let (listener, at) = listening(&place, over, &["--once"]);
        let words = ["bench-link", &at, "--over", over, "--time", "1 s", "--every", "200 ms", "--json"];
        // Slowly, so that other tests have a processor too.
        let pace = ["--controller", "fixed", "--rate", "50 Mbit/s"];
        let pace = if over == "tcp" { &[][..] } else { &pace };
        let sender = objects(&place.good(&[&words, pace].concat()));
        let (code, out, _) = listener.end();
        let receiver = objects(&out);
        assert_eq!(code, Some(0), "{over}: {out}");
        assert_eq!(receiver.len(), 6, "{over}: five intervals and their sum: {out}");
        let (heard, counted) = (&sender[sender.len() - 1], &receiver[5]);
        assert_eq!(heard["counted"], "received", "{over}");
        for key in ["bytes", "goodput_bit_per_s", "standard_deviation_bit_per_s", "least_bit_per_s"] {
            assert_eq!(heard[key], counted[key], "{over}: {key}");
        }
        let sum: u64 = receiver[..5].iter().filter_map(|interval| interval["bytes"].as_u64()).sum();
        assert!(sum > 0 && sum <= counted["bytes"].as_u64().expect("a number"), "{over}");
        assert!(counted["processor_s"].as_f64() > Some(0.0), "{over}");
        assert!(sender.len() > 3, "{over}: the sender reports intervals too");
    }
}

/// Sends for three seconds over the first link of a scenario; returns the sums of both sides.
fn over_a_link(scenario: &str, over: &str, more: &[&str]) -> [Value; 2] {
    let place = Place::new();
    let (listener, at) = listening(&place, over, &["--once"]);
    let (_emulator, near) = Running::link(&place, scenario, &at);
    let words = ["bench-link", &near, "--over", over, "--time", "3 s", "--every", "1 s", "--json"];
    let sender = objects(&place.good(&[&words, more].concat()));
    let (code, out, _) = listener.end();
    assert_eq!(code, Some(0), "{over}: {out}");
    [&sender, &objects(&out)].map(|output| output.last().expect("a sum").clone())
}

#[test]
fn what_is_measured_is_what_the_link_carries() {
    for (over, more) in
        [("dccp", &["--controller", "ccid2"][..]), ("ltp-udp", &["--rate", "15 Mbit/s", "--light", "20 ms"])]
    {
        let rate = goodput(&over_a_link(&link_of("20 Mbit/s", "queue = \"100 packets\""), over, more)[0]);
        // A busy machine may carry less, none more.
        assert!((1e5..20e6).contains(&rate), "{over}: {rate} bit/s of 20 Mbit/s");
    }
}

#[test]
fn udpdtn_is_measured_over_a_link_that_loses_and_repairs_are_no_gain() {
    for (lost, more) in [("0.0", &[][..]), ("0.1", &["--rate", "20 Mbit/s", "--light", "20 ms"])] {
        let link = link_of("20 Mbit/s", &format!("loss = {lost}\nqueue = \"100 packets\""));
        let [heard, counted] = over_a_link(&link, "udpdtn", more);
        assert_eq!((&heard["counted"], &heard["bytes"]), (&"received".into(), &counted["bytes"]), "{lost}");
        let (rate, repairs) = (goodput(&heard), heard["repairs"].as_u64().expect("a number"));
        // A busy machine may carry less; what is lost is gone for everybody.
        assert!((1e5..20e6).contains(&rate), "{rate} bit/s of 20 Mbit/s at a loss of {lost}");
        assert!(lost == "0.0" || rate < 18.5e6 && repairs > 0, "{rate} bit/s, {repairs} repairs");
    }
}

#[test]
fn a_short_measurement_is_one_interval_if_nothing_else_is_said() {
    let place = Place::new();
    let (_listener, at) = listening(&place, "dccp", &[]);
    let output = objects(&place.good(&["bench-link", &at, "--over", "dccp", "--time", "1 s", "--json"]));
    assert_eq!(output.len(), 2, "an interval and the sum: {:?}", output);
}

#[test]
fn a_number_that_is_no_port_is_refused() {
    let place = Place::new();
    for words in [&["transfer"][..], &["bench-link", "--over", "dccp"]] {
        for at in ["99999", ":65536"] {
            let line = place.refused(&[words, &["--listen", at]].concat());
            assert_eq!(line, format!("{at} is not a port; name one from 0 (any) to 65535"));
        }
    }
}

#[test]
fn a_listener_serves_several_senders_at_once() {
    let place = Place::new();
    let (_listener, at) = listening(&place, "dccp", &[]);
    let words = ["bench-link", &at, "--over", "dccp", "--time", "1 s", "--every", "500 ms", "--json"];
    let pace = ["--controller", "fixed", "--rate", "5 Mbit/s"];
    let senders: Vec<Running> =
        (0..8).map(|_| Running::start(&place, &[&words[..], &pace].concat())).collect();
    for sender in senders {
        let (code, out, output) = sender.end();
        assert_eq!(code, Some(0), "{output}");
        let rate = goodput(objects(&out).last().expect("a sum"));
        assert!((1e5..5.2e6).contains(&rate), "{rate} bit/s of 5 Mbit/s");
    }
}

#[test]
fn a_file_and_a_measurement_do_not_take_each_other_for_one() {
    for over in ["udpdtn", "ltp-udp", "dccp", "tcp"] {
        let place = Place::new();
        place.write("file", noise(3_000_000));
        let (_listener, at) = listening(&place, over, &[]);
        failed(&place.run(&["transfer", "--over", over, "file", &at]), "a measurement was awaited");
        let words = ["transfer", "--over", over, "--listen", "127.0.0.1:0", "--folder", "into"];
        let (_listener, at) = Running::listening(place.command(&words));
        failed(&place.run(&["bench-link", "--over", over, &at, "--time", "10 s"]), "the receiver refused");
    }
}

#[test]
fn where_nobody_listens_a_measurement_gives_up_and_its_capture_is_whole() {
    let place = Place::new();
    // An address of its own: no other program may listen at the port that is free there.
    let free = UdpSocket::bind("127.83.71.9:0").and_then(|socket| socket.local_addr()).expect("a free port");
    let at = free.to_string();
    for over in WAYS {
        let words = ["bench-link", &at, "--over", over, "--give-up", "1 s"];
        if over == "tcp" {
            failed(&place.run(&words), "no TCP listener there");
            continue;
        }
        let more = ["--capture", "out.pcap"];
        failed(&place.run(&[&words[..], &more].concat()), "did not answer for 1 s");
        let output = place.good(&["capture", "out.pcap", "--json"]);
        let output: Value = serde_json::from_str(&output).expect("an object");
        assert!(output["packets"].as_u64() > Some(0), "{over}: {}", output);
    }
}

// --- captures -------------------------------------------------------------------------------

/// Transports by which files go with captures, and where tools look for each.
const CAPTURED: [(&str, u16, &str); 4] = [
    ("udpdtn", 4561, "udpdtn"),
    ("ltp-udp", 1113, "ltp"),
    ("ltp-dccp", 6511, "dccp"),
    ("dccp", 6511, "dccp"),
];

/// What tshark finds wrong in a capture; nothing where there is no tshark.
fn faults(place: &Place, file: &str) -> Option<String> {
    const WRONG: &str = "_ws.malformed || _ws.expert.severity >= 6291456 || ip.checksum.status == 0 || \
                         udp.checksum.status == 0 || dccp.checksum.status == 0";
    let mut tshark = Command::new("tshark");
    tshark.args(["-r", file, "-Y", WRONG]).current_dir(place.path("."));
    // It knows no UDPDTN, and takes some of its datagrams for what they are not.
    tshark.args(["-d", "udp.port==4561,data"]);
    for of in ["ip", "udp", "dccp"] {
        tshark.args(["-o", &format!("{of}.check_checksum:TRUE")]);
    }
    let done = tshark.output().ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Carries a file with captures at both sides, `out.pcap` and `in.pcap`.
fn carry(place: &Place, over: &str, at: &str) {
    let words =
        ["transfer", "--over", over, "--listen", at, "--folder", "into", "--once", "--capture", "in.pcap"];
    let (listener, at) = Running::listening(place.command(&words));
    place.good(&["transfer", "--over", over, "file", &at, "--capture", "out.pcap"]);
    assert_eq!(listener.end().0, Some(0), "{over}");
}

#[test]
fn captures_of_both_sides_are_read_by_us_and_by_tshark_without_a_fault() {
    // Ports are those where tools look for a protocol; addresses are this test's own.
    for (host, dissected) in [("127.0.4.5", "out.pcap"), ("[::1]", "in.pcap")] {
        for (over, port, speaks) in CAPTURED {
            let place = Place::new();
            place.write("file", noise(300_000));
            carry(&place, over, &format!("{host}:{port}"));
            for file in ["out.pcap", "in.pcap"] {
                let output = place.good(&["capture", file, "--json"]);
                let output: Value = serde_json::from_str(&output).expect("an object");
                let flows = output["flows"].as_array().expect("flows");
                assert!(
                    flows.iter().any(|flow| flow["protocol"] == speaks),
                    "{over} {host} {file}: {}",
                    output
                );
                assert_eq!(
                    output["notes"].as_array().map(Vec::len),
                    Some(0),
                    "{over} {host} {file}: {}",
                    output
                );
            }
            match faults(&place, dissected) {
                Some(found) => assert_eq!(found, "", "{over} {host} {dissected}"),
                None => eprintln!("there is no tshark: {dissected} of {over} is not dissected"),
            }
        }
    }
}

#[test]
fn a_listener_that_is_interrupted_leaves_a_whole_capture() {
    let place = Place::new();
    place.write("file", noise(100_000));
    let words = ["transfer", "--over", "dccp", "--listen", "127.0.0.1:0", "--folder", "into"];
    let words = [&words[..], &["--capture", "in.pcap"]].concat();
    let (listener, at) = Running::listening(place.command(&words));
    place.good(&["transfer", "--over", "dccp", "file", &at]);
    let pid = listener.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("it starts").success());
    assert_eq!(listener.end().0, Some(0));
    let output: Value =
        serde_json::from_str(&place.good(&["capture", "in.pcap", "--json"])).expect("an object");
    assert_eq!(output["notes"].as_array().map(Vec::len), Some(0), "{output}");
    assert!(output["wire_bytes"].as_u64() > Some(100_000), "{output}");
}

#[test]
fn a_measurement_that_is_interrupted_tells_what_was_acknowledged() {
    let place = Place::new();
    let (_listener, at) = listening(&place, "dccp", &[]);
    let words = ["bench-link", &at, "--over", "dccp", "--time", "1 h", "--every", "200 ms", "--json"];
    let words = [&words[..], &["--controller", "fixed", "--rate", "50 Mbit/s"]].concat();
    let sender = Running::start(&place, &words);
    std::thread::sleep(std::time::Duration::from_millis(900));
    let pid = sender.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("it starts").success());
    let (code, out, output) = sender.end();
    assert_eq!(code, Some(0), "{output}");
    let sum = objects(&out).pop().expect("a sum");
    assert_eq!((&sum["counted"], &sum["complete"]), (&"acknowledged".into(), &false.into()), "{out}");
    assert!(sum["bytes"].as_u64() > Some(0), "{out}");
}

#[test]
fn what_is_wrong_with_a_measurement_is_told_in_one_line() {
    let place = Place::new();
    place.write("file", "x");
    for (words, said) in [
        (&["--over", "pigeon"][..], "name one of udpdtn, ltp-udp, ltp-dccp, dccp, tcp"),
        (&["--over", "udpdtn", "--packet-size", "44 B"], "45 to 65507"),
        (&["--over", "udpdtn", "--set", "x=1"], "--set"),
        (&[], "--over"),
        (&["--over", "tcp", "--rate", "1 Mbit/s"], "--rate is not supported with --over tcp"),
        (&["--over", "tcp", "--capture", "x.pcap"], "use tcpdump"),
        (&["--over", "dccp", "--every", "1 ms"], "at least 100 ms"),
        (&["--over", "dccp", "--every", "2 min"], "longer than --time"),
        (&["--over", "dccp", "--time", "0 s"], "--time"),
        (&["--over", "dccp", "--time", "50 ms"], "--time: 0.05 s is too short; at least 100 ms"),
        (&["--over", "dccp", "--capture", "there/is/none.pcap"], "--capture: cannot write"),
        (&["--over", "ltp-udp", "--controller", "contact_rate"], "needs a planned rate"),
        (&["--over", "dccp", "--once"], "--once"),
    ] {
        let line = place.refused(&[&["bench-link", "127.0.0.1:9"], words].concat());
        assert!(line.contains(said), "{words:?}: {line}");
    }
    for (more, said) in
        [(["--capture", "file"], "is the file that is sent"), (["--over", "tcp"], "use tcpdump")]
    {
        let words = ["transfer", "file", "127.0.0.1:9"];
        let capture = if more[0] == "--capture" { &[][..] } else { &["--capture", "x.pcap"] };
        let line = place.refused(&[&words[..], &more, capture].concat());
        assert!(line.contains(said), "{more:?}: {line}");
    }
    assert_eq!(place.read("file"), b"x");
}
