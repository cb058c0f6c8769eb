//! Bundles between processes on this machine, and between one of them and bytes as the RFCs print them.

use crate::lightlag::running::{Running, link_of, noise};
use crate::lightlag::{Place, failed};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Stdio;
use std::time::Duration;

const WAYS: [&str; 5] = ["ltp-udp", "udp", "ltp-dccp", "dccp", "tcp"];

/// A listener that keeps whatever comes.
fn listening(place: &Place, over: &str, more: &[&str]) -> (Running, String) {
    let words = ["bundles", "listen", "127.0.0.1:0", "--over", over, "--json", "--opaque"];
    Running::listening(place.command(&[&words, more].concat()))
}

fn words<'a>(over: &'a str, files: &[&'a str], to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["bundles", "send"], files, &["--to", to, "--over", over, "--json"], more].concat()
}

/// What is kept under the name that its digest gives.
fn kept(place: &Place, bytes: &[u8]) -> bool {
    let folder = std::fs::read_dir(place.path("inbox")).expect("it is there");
    folder.flatten().any(|entry| std::fs::read(entry.path()).is_ok_and(|found| found == bytes))
}

fn count(place: &Place) -> usize {
    std::fs::read_dir(place.path("inbox")).expect("it is there").count()
}

fn eventually(what: impl Fn() -> bool) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        what()
    })
}

/// A bundle of version 7: a primary block, and a payload of `length` bytes.
fn bundle(length: usize) -> Vec<u8> {
    let mut bytes = vec![0x9f, 0x88, 7, 0, 0, 0x82, 2, 0x82, 1, 1, 0x82, 2, 0x82, 2, 1];
    bytes.extend([0x82, 2, 0x82, 1, 1, 0x82, 0, 0, 0x19, 0x27, 0x10]);
    bytes.extend([0x85, 1, 1, 0, 0, 0x59]);
    bytes.extend((length as u16).to_be_bytes());
    bytes.extend(noise(length));
    bytes.push(0xff);
    bytes
}

#[test]
fn every_way_carries_bundles_as_they_are() {
    for over in WAYS {
        let place = Place::new();
        let mut sizes = vec![1, 5, 1000, 1300];
        let content = noise;
        if !["udp", "dccp"].contains(&over) {
            sizes.extend([70_000, 2_000_001]);
        }
        let names: Vec<String> = sizes.iter().map(|size| format!("{size}.bundle")).collect();
        for (name, size) in names.iter().zip(&sizes) {
            place.write(name, content(*size));
        }
        let count = sizes.len().to_string();
        let (listener, at) = listening(&place, over, &["--count", &count]);
        let files: Vec<&str> = names.iter().map(String::as_str).collect();
        let rate: &[&str] = if over == "udp" { &["--rate", "20 Mbit/s"] } else { &[] };
        let output = place.good(&words(over, &files, &at, rate));
        assert_eq!(output.lines().count(), sizes.len(), "{output}");
        assert_eq!(output.contains("\"acknowledged\":true"), over != "udp", "{output}");
        let (code, out, said) = listener.end();
        assert_eq!((code, out.lines().count()), (Some(0), sizes.len()), "{over}: {out}{said}");
        assert!(sizes.iter().all(|size| kept(&place, &content(*size))), "{over}");
        assert_eq!(self::count(&place), sizes.len(), "{over} leaves nothing else");
    }
}

#[test]
fn datagrams_that_are_no_bundles_become_no_files_and_few_lines_and_what_is_kept_is_bounded() {
    let place = Place::new();
    let free = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let at = free.local_addr().expect("an address").to_string();
    drop(free);
    let log = place.path("log");
    let words = ["bundles", "listen", &at, "--over", "udp", "--json", "--max-stored", "40 kB"];
    let mut command = place.command(&words);
    command.stdout(Stdio::null()).stderr(std::fs::File::create(&log).expect("a file"));
    let listener = Running(command.spawn().expect("it starts"));
    let said = || std::fs::read_to_string(&log).expect("a log");
    assert!(eventually(|| said().contains("listening at")));
    let enemy = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    for round in 0..5000_usize {
        let mut datagram = noise(20 + round % 700);
        datagram[0] = (round % 256) as u8;
        enemy.send_to(&datagram, &at).expect("it is sent");
        if round % 50 == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    // Of 20 bundles, 40 kB hold nine: a file takes a block of the disk.
    for size in 0..20 {
        enemy.send_to(&bundle(100 + size), &at).expect("it is sent");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(eventually(|| count(&place) == 9), "{} files", count(&place));
    drop(listener);
    assert!((2..10).contains(&said().lines().count()), "{}", said());
}

#[test]
fn losses_are_repaired_by_ltp_and_told_by_dccp() {
    for (over, more) in [("ltp-udp", &["--rate", "10 Mbit/s", "--light", "20 ms"][..]), ("ltp-dccp", &[])] {
        let place = Place::new();
        place.write("a", noise(200_000)).write("b", noise(100_000));
        let (listener, at) = listening(&place, over, &["--count", "2"]);
        let (_emulator, near) = Running::link(&place, &link_of("20 Mbit/s", "loss = 0.05"), &at);
        place.good(&words(over, &["a", "b"], &near, more));
        assert_eq!(listener.end().0, Some(0), "{over}");
        assert!(kept(&place, &noise(200_000)) && kept(&place, &noise(100_000)), "{over}");
    }
    let place = Place::new();
    let names: Vec<String> = (0..100).map(|number| format!("{number}")).collect();
    for (at, name) in names.iter().enumerate() {
        place.write(name, bundle(1000 + at));
    }
    let (_listener, at) = listening(&place, "dccp", &[]);
    let (_emulator, near) = Running::link(&place, &link_of("20 Mbit/s", "loss = 0.2"), &at);
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let done = place.run(&words("dccp", &files, &near, &[]));
    assert_eq!(done.status.code(), Some(1), "one in five is lost, and that is reported");
    let out = String::from_utf8_lossy(&done.stdout);
    let arrived = out.lines().filter(|line| line.contains("\"acknowledged\":true")).count();
    assert!((50..100).contains(&arrived), "{out}");
    assert!(eventually(|| count(&place) >= arrived), "what is acknowledged is here");
}

#[test]
fn engines_services_colours_and_aggregation_are_as_asked() {
    let place = Place::new();
    place.write("a", bundle(500)).write("b", bundle(300)).write("c", noise(5000)).write("key", noise(32));
    let key = ["--key-file", "key"];
    let (_listener, at) = listening(&place, "ltp-udp", &key);
    let engine = ["--engine", "977", "--key-file", "key"];
    // To an engine that has a number bundles follow each other in a block of client service 1; capsules are service 2.
    for (service, asked) in [("1", &[][..]), ("2", &["--service", "2"])] {
        let more = [&engine[..], &["--aggregate", "600 B"], asked].concat();
        let output = place.good(&words("ltp-udp", &["a", "b"], &at, &more));
        let service = format!("\"service\":{service}");
        assert!(output.contains("\"engine\":977") && output.contains(&service), "{output}");
        assert!(eventually(|| kept(&place, &bundle(500)) && kept(&place, &bundle(300))));
        assert_eq!(count(&place), 2, "two bundles of one block are two files");
        std::fs::remove_dir_all(place.path("inbox")).expect("it goes");
        std::fs::create_dir(place.path("inbox")).expect("it is made");
    }
    let output =
        place.good(&words("ltp-udp", &["a", "b"], &at, &["--aggregate", "600 B", "--key-file", "key"]));
    assert!(output.contains("\"service\":2"), "{output}");
    let more = [&engine[..], &["--service", "64", "--green", "2 kB"]].concat();
    let output = place.good(&words("ltp-udp", &["c"], &at, &more));
    assert!(output.contains("\"service\":64"), "{output}");
    assert!(output.contains("\"acknowledged\":false"), "green data have no acknowledgements: {}", output);
    assert!(eventually(|| kept(&place, &noise(5000))));
    // Data that is not a bundle cannot be delimited in an aggregated block.
    let line = place.refused(&words("ltp-udp", &["c"], &at, &["--aggregate", "10 kB"]));
    assert!(line.contains("not a bundle of version 7"), "{line}");
    let line = place.refused(&words("ltp-udp", &["c"], &at, &["--aggregate", "10 kB", "--engine", "5"]));
    assert!(line.contains("takes bundles only"), "{line}");
    let line = place.refused(&words("ltp-udp", &["a"], &at, &["--aggregate", "10 kB", "--service", "3"]));
    assert!(line.contains("takes 1 or 2"), "{line}");
    // A sender without the key is ignored.
    failed(&place.run(&words("ltp-udp", &["a"], &at, &["--give-up", "500 ms"])), "did not answer");
}

#[test]
fn a_red_block_is_acknowledged_with_plain_segments() {
    let place = Place::new();
    let (_listener, at) = listening(&place, "ltp-udp", &[]);
    let engine = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    engine.set_read_timeout(Some(Duration::from_secs(5))).expect("it has one");
    // Red data, checkpoint, EORP, EOB: session 5.9, no extensions, service 1, offset 0, 4 B, checkpoint 3,
    // report 0 (RFC 5326, section 3.2.1). A keep-alive before it is no segment (RFC 7122).
    engine.send_to(&[0; 4], &at).expect("it leaves");
    engine.send_to(&[3, 5, 9, 0, 1, 0, 4, 3, 0, b'd', b'a', b't', b'a'], &at).expect("it leaves");
    let mut report = [0; 100];
    let (length, _) = engine.recv_from(&mut report).expect("a report");
    // Report: session 5.9, some serial number, checkpoint 3, upper 4, lower 0, one claim of 0 to 4.
    let serial = if report[4] & 0x80 > 0 { 2 } else { 1 };
    assert_eq!(report[..4], [8, 5, 9, 0]);
    assert_eq!(report[4 + serial..length], [3, 4, 0, 1, 0, 4], "{:?}", &report[..length]);
    assert!(kept(&place, b"data"), "it was kept before it was acknowledged");
    let ack = [&[9, 5, 9, 0], &report[4..4 + serial]].concat();
    engine.send_to(&ack, &at).expect("it leaves");
}

#[test]
fn reports_go_where_the_engine_listens_and_may_come_from_elsewhere() {
    let place = Place::new();
    let (listens, sends) = (
        UdpSocket::bind("127.0.0.1:0").expect("a socket"),
        UdpSocket::bind("127.0.0.1:0").expect("a socket"),
    );
    listens.set_read_timeout(Some(Duration::from_secs(5))).expect("it has one");
    let at = listens.local_addr().expect("it is bound").to_string();
    let (_listener, to) = listening(&place, "ltp-udp", &["--reply-to", &at]);
    sends.send_to(&[3, 5, 9, 0, 1, 0, 1, 3, 0, b'x'], &to).expect("it leaves");
    let mut bytes = [0; 2000];
    let (_, from) = listens.recv_from(&mut bytes).expect("a report, where the engine listens");
    assert_eq!((from.to_string(), bytes[0]), (to, 8));
    // Now in reverse: data to one socket, the report from the other.
    place.write("x", "x");
    let sender = Running::start(&place, &words("ltp-udp", &["x"], &at, &["--engine", "5"]));
    let (length, from) = listens.recv_from(&mut bytes).expect("a segment");
    let number = length - 8;
    assert!(bytes[0] == 3 && bytes[length - 1] == b'x', "{:?}", &bytes[..length]);
    // The session's number has 1 to 4 bytes, the checkpoint's the rest.
    let session = 2 + bytes[2..].iter().position(|byte| byte & 0x80 == 0).expect("it ends") + 1;
    let checkpoint = &bytes[session + 4..length - 2];
    assert!(number >= checkpoint.len());
    let report = [&[8, 5][..], &bytes[2..session], &[0, 7], checkpoint, &[1, 0, 1, 0, 1]].concat();
    sends.send_to(&report, from).expect("it leaves");
    assert_eq!(sender.end().0, Some(0));
}

#[test]
fn what_does_not_fit_or_is_too_large_is_told_in_one_line() {
    let place = Place::new();
    place.write("large", noise(2000)).write("empty", "").write("small", "x");
    for over in ["udp", "dccp"] {
        let line = place.refused(&words(over, &["large"], "127.0.0.1:9", &[]));
        assert!(line.contains("do not fit a datagram") && line.contains("ltp-"), "{line}");
    }
    for (over, said) in [
        ("ltp-udp", "the receiver gave it up"),
        ("ltp-dccp", "gave it up"),
        ("tcp", "bundles of 1999 bytes at most"),
    ] {
        let (_listener, at) = listening(&place, over, &["--max-size", "1999 B"]);
        failed(&place.run(&words(over, &["large", "small"], &at, &[])), said);
        assert!(eventually(|| kept(&place, b"x")), "{over}");
        assert!(!kept(&place, &noise(2000)), "{over}");
        std::fs::remove_dir_all(place.path("inbox")).expect("it goes");
    }
    for (more, said) in [
        (&["small", "--over", "pigeon"][..], "name one of ltp-udp, udp, ltp-dccp, dccp, tcp"),
        (&["empty", "--over", "udp"], "a bundle has bytes"),
        (&["nothing", "--over", "udp"], "name a file"),
        (&["small", "--over", "udp", "--rate", "0 bit/s"], "carries nothing"),
        (&["small", "--over", "udp", "--engine", "5"], "--engine is not supported with --over udp"),
        (&["small", "--over", "tcp", "--light", "5 s"], "--light is not supported with --over tcp"),
        (&["small", "--over", "tcp", "--node", "mars"], "is not an endpoint"),
        (&["small", "--over", "ltp-udp", "--raw"], "--raw is not supported with --over ltp-udp"),
        (&["small", "--over", "ltp-udp", "--packet-size", "30 B"], "--packet-size"),
        (&["small", "--over", "ltp-udp", "--controller", "ccid3"], "works with dccp only"),
    ] {
        let line = place.refused(&[&["bundles", "send", "--to", "127.0.0.1:9"], more].concat());
        assert!(line.contains(said), "{more:?}: {line}");
    }
    let line = place.refused(&["bundles", "listen", "--over", "udp", "--count", "0"]);
    assert!(line.contains("from 1 on"), "{line}");
}

#[test]
fn bundles_of_udp_are_kept_once_and_keep_alives_never() {
    let place = Place::new();
    let (_listener, at) = listening(&place, "udp", &[]);
    for _ in 0..3 {
        // As many senders as one likes.
        for _ in 0..100 {
            let sender = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            sender.send_to(&bundle(7), &at).expect("it leaves");
            sender.send_to(&[0; 4], &at).expect("it leaves");
            sender.send_to(&[], &at).expect("it leaves");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(eventually(|| kept(&place, &bundle(7))));
    assert_eq!(count(&place), 1);
}

#[test]
fn what_strangers_say_changes_nothing() {
    for over in ["ltp-udp", "ltp-dccp", "dccp"] {
        let place = Place::new();
        place.write("file", bundle(1300));
        let (_listener, at) = listening(&place, over, &[]);
        let enemy = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let bytes = noise(200_000);
        for round in 0..600_usize {
            let start = round * 211;
            let mut datagram = bytes[start..start + usize::from(bytes[start]) * 4].to_vec();
            if let Some(first) = datagram.first_mut() {
                *first = (round % 256) as u8;
            }
            let _ = enemy.send_to(&datagram, &at);
        }
        place.good(&words(over, &["file"], &at, &[]));
        assert!(eventually(|| kept(&place, &bundle(1300))), "{over}");
    }
    let place = Place::new();
    place.write("file", noise(1400));
    let (_listener, at) = listening(&place, "tcp", &[]);
    for said in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"dtn!\x03\x00", b"dtn!\x04\x00\x01\x02", b"dtn", b""] {
        let mut enemy = TcpStream::connect(&at).expect("it is there");
        enemy.write_all(said).expect("it leaves");
        let _ = enemy.write_all(&noise(3000));
    }
    place.good(&words("tcp", &["file"], &at, &[]));
    assert!(kept(&place, &noise(1400)));
}

#[test]
fn a_peer_that_requires_tls_is_named_as_one() {
    let place = Place::new();
    place.write("file", "x");
    for answer in [&b"dtn!\x04\x01\x05\x00\x04"[..], b"dtn!\x04\x01"] {
        let peer = TcpListener::bind("127.0.0.1:0").expect("a socket");
        let at = peer.local_addr().expect("it is bound").to_string();
        let sender = Running::start(&place, &words("tcp", &["file"], &at, &[]));
        let (mut stream, _) = peer.accept().expect("it comes");
        let mut contact = [0; 6];
        stream.read_exact(&mut contact).expect("a contact header");
        assert_eq!(&contact, b"dtn!\x04\x00", "it says that it has no TLS");
        stream.write_all(answer).expect("it leaves");
        drop(stream);
        let (code, _, output) = sender.end();
        assert_eq!((code, output.lines().count()), (Some(1), 1), "{output}");
        assert!(output.contains("require TLS") || output.contains("requires TLS"), "{output}");
    }
}

#[test]
fn where_nobody_listens_the_sender_gives_up() {
    let place = Place::new();
    place.write("file", "x");
    let free = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    for over in WAYS.into_iter().filter(|over| *over != "udp") {
        let said = if over == "tcp" { "no TCP listener there" } else { "did not answer for 1 s" };
        failed(&place.run(&words(over, &["file"], &free.to_string(), &["--give-up", "1 s"])), said);
    }
}

#[test]
fn dccp_goes_in_ip_packets_of_its_own_where_that_is_allowed() {
    let place = Place::new();
    place.write("file", noise(300_000)).write("bundle", bundle(1300));
    let line = "need the capability CAP_NET_RAW";
    let probe =
        place.run(&["transfer", "--over", "dccp", "--raw", "file", "127.0.0.1:4", "--give-up", "10 ms"]);
    if String::from_utf8_lossy(&probe.stderr).contains(line) {
        assert_eq!(probe.status.code(), Some(2));
        return crate::skip::skip(format_args!("sockets of IP protocol 33 {line}"));
    }
    for over in ["dccp", "ltp-dccp"] {
        let listen = ["transfer", "--over", over, "--raw", "--listen", "127.0.0.1:4561", "--folder", "into"];
        let (listener, at) =
            Running::listening(place.command(&[&listen[..], &["--once", "--overwrite"]].concat()));
        place.good(&["transfer", "--over", over, "--raw", "file", &at, "--give-up", "20 s"]);
        assert_eq!(listener.end().0, Some(0));
        assert!(place.read("into/file") == noise(300_000), "{over}");
        // Another port: the two do not hear each other.
        let (listener, at) = Running::listening(place.command(&[
            "bundles",
            "listen",
            "127.0.0.1:4557",
            "--over",
            over,
            "--raw",
            "--count",
            "1",
        ]));
        place.good(&words(over, &["bundle"], &at, &["--raw", "--give-up", "20 s"]));
        assert_eq!(listener.end().0, Some(0));
        assert!(kept(&place, &bundle(1300)), "{over}");
        std::fs::remove_dir_all(place.path("into")).expect("it goes");
    }
}

/// Two ports that are free now.
fn free_ports() -> [String; 2] {
    let sockets = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
    sockets.map(|socket| socket.local_addr().expect("it is bound").to_string())
}

#[test]
fn two_nodes_send_to_each_other_through_one_socket_each_over_a_lossy_link() {
    let (one, other) = (Place::new(), Place::new());
    let [near, far] = free_ports();
    let sizes = [300, 1000, 60_000];
    for (place, more) in [(&one, 0), (&other, 1)] {
        for size in sizes {
            place.write(&format!("{size}"), bundle(size + more));
        }
    }
    // Each sends to an emulated link that loses a twentieth; reports and blocks of a node come to one port.
    let (_to_far, link_to_far) = Running::link(&one, &link_of("20 Mbit/s", "loss = 0.05"), &far);
    let (_to_near, link_to_near) = Running::link(&other, &link_of("20 Mbit/s", "loss = 0.05"), &near);
    let exchange = |place: &Place, engine: &str, from: &str, to: &str| {
        let more = ["--engine", engine, "--from", from, "--folder", "inbox", "--count", "3"];
        Running::start(place, &words("ltp-udp", &["300", "1000", "60000"], to, &more))
    };
    let first = exchange(&one, "11", &near, &link_to_far);
    let second = exchange(&other, "12", &far, &link_to_near);
    for (node, place, more) in [(first, &one, 1), (second, &other, 0)] {
        let (code, out, said) = node.end();
        assert_eq!(code, Some(0), "{out}{said}");
        assert_eq!(out.matches("\"role\":\"receiver\"").count(), 3, "{out}");
        assert_eq!(out.matches("\"acknowledged\":true").count(), 3, "{out}");
        assert!(sizes.iter().all(|size| kept(place, &bundle(size + more))));
    }
}

#[test]
fn a_port_that_is_taken_is_named_with_what_to_do() {
    let place = Place::new();
    place.write("a", bundle(500));
    let (_listener, at) = listening(&place, "ltp-udp", &[]);
    let line = place.refused(&words("ltp-udp", &["a"], "127.0.0.1:9", &["--from", &at]));
    assert!(line.contains("--from") && line.contains("--folder"), "{line}");
    let line = place.refused(&words("udp", &["a"], "127.0.0.1:9", &["--folder", "inbox"]));
    assert!(line.contains("--folder is not supported with --over udp"), "{line}");
}
