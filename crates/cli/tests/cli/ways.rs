//! Files over LTP, DCCP and TCP on sockets of this machine, as users send and receive them.

use crate::lightlag::running::{Running, link_of, noise};
use crate::lightlag::{Place, failed};
use std::net::UdpSocket;

const WAYS: [&str; 4] = ["ltp-udp", "ltp-dccp", "dccp", "tcp"];

fn listening(place: &Place, over: &str, more: &[&str]) -> (Running, String) {
    let words = ["transfer", "--over", over, "--listen", "127.0.0.1:0", "--folder", "into", "--json"];
    Running::listening(place.command(&[&words, more].concat()))
}

fn words<'a>(over: &'a str, file: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["transfer", "--over", over, file, to, "--json", "--give-up", "20 s"], more].concat()
}

#[track_caller]
fn sent(place: &Place, over: &str, file: &str, to: &str, more: &[&str]) -> String {
    place.good(&words(over, file, to, more))
}

#[test]
fn every_way_carries_files_of_every_size_as_they_are() {
    for over in WAYS {
        let place = Place::new();
        let (_listener, at) = listening(&place, over, &[]);
        for length in [0, 1, 1099, 1100, 1101, 100_000, 3_000_001] {
            let name = format!("{length}.bin");
            let bytes = noise(length);
            place.write(&name, &bytes);
            let output = sent(&place, over, &name, &at, &[]);
            assert!(output.contains(&format!("\"bytes\":{length},")), "{output}");
            assert!(output.contains(&format!("\"over\":\"{over}\"")), "{output}");
            assert!(place.read(&format!("into/{name}")) == bytes, "{over} {length}");
        }
        let left: Vec<_> = std::fs::read_dir(place.path("into")).expect("it is there").collect();
        assert_eq!(left.len(), 7, "{over} leaves nothing else: {left:?}");
    }
}

#[test]
fn losses_and_delays_do_not_keep_a_file_from_being_whole() {
    for (over, more) in [
        ("ltp-udp", &[][..]),
        ("ltp-udp", &["--rate", "20 Mbit/s", "--light", "20 ms"]),
        ("dccp", &[]),
        ("dccp", &["--controller", "ccid3"]),
        ("dccp", &["--controller", "fixed", "--rate", "20 Mbit/s"]),
        ("ltp-dccp", &[]),
        ("ltp-dccp", &["--controller", "fixed", "--rate", "20 Mbit/s"]),
    ] {
        let place = Place::new();
        place.write("file", noise(300_000));
        let (listener, at) = listening(&place, over, &["--once"]);
        let link = link_of("50 Mbit/s", "loss = 0.05");
        let (_emulator, near) = Running::link(&place, &link, &at);
        sent(&place, over, "file", &near, more);
        let (code, out, output) = listener.end();
        assert_eq!(code, Some(0), "{over} {more:?}: {}", output);
        assert!(out.contains("\"bytes\":300000,"), "{out}");
        assert!(place.read("into/file") == noise(300_000), "{over} {more:?}");
    }
}

#[test]
fn a_queue_that_marks_drops_nothing_of_a_file_over_dccp() {
    let queue =
        |mark| format!("queue = {{ discipline = \"codel\", limit = \"1000 packets\", mark = {mark} }}");
    let carried = |over: &str, mark: bool| {
        let place = Place::new();
        place.write("file", noise(4_000_000)).write("link.toml", link_of("10 Mbit/s", &queue(mark)));
        let (listener, at) = listening(&place, over, &["--once"]);
        let words =
            ["emulate", "link.toml", "--listen", "127.0.0.1:0", "--to", &at, "--json", "--for", "20 s"];
        let (emulator, near) = Running::listening(place.command(&words));
        sent(&place, over, "file", &near, &[]);
        assert_eq!(listener.end().0, Some(0), "{over}");
        assert!(place.read("into/file") == noise(4_000_000), "{over}");
        let (_, out, _) = emulator.end();
        let json: serde_json::Value = serde_json::from_str(out.trim()).expect("JSON");
        ["dropped", "marked"].map(|name| json["forward"][name].as_u64().expect("a count"))
    };
    std::thread::scope(|scope| {
        for (over, mark) in [("dccp", true), ("ltp-dccp", true), ("dccp", false), ("ltp-dccp", false)] {
            let carried = &carried;
            scope.spawn(move || {
                let [dropped, marked] = carried(over, mark);
                assert_eq!(
                    [dropped > 0, marked > 0],
                    [!mark, mark],
                    "{over}: {dropped} dropped, {marked} marked"
                );
            });
        }
    });
}

fn has_part(place: &Place) -> bool {
    let names = std::fs::read_dir(place.path("into")).into_iter().flatten().flatten();
    names.map(|entry| entry.file_name()).any(|name| {
        let name = name.to_string_lossy();
        name.starts_with("file.") && name.ends_with(".part")
    })
}

#[test]
fn a_sender_that_was_killed_is_started_again_and_its_file_arrives() {
    for (over, slow) in [
        ("ltp-udp", &["--rate", "2 Mbit/s"][..]),
        ("dccp", &["--rate", "2 Mbit/s", "--controller", "fixed"]),
        ("ltp-dccp", &["--rate", "2 Mbit/s", "--controller", "fixed"]),
    ] {
        let place = Place::new();
        place.write("file", noise(3_000_000));
        let (_listener, at) = listening(&place, over, &[]);
        let killed = Running::start(&place, &words(over, "file", &at, slow));
        let began = std::time::Instant::now();
        while !has_part(&place) {
            assert!(began.elapsed().as_secs() < 60, "{over}: nothing comes");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        drop(killed);
        sent(&place, over, "file", &at, &[]);
        assert!(place.read("into/file") == noise(3_000_000), "{over}");
        assert!(!has_part(&place), "{over}");
    }
}

#[test]
fn another_file_of_the_same_name_is_kept_unless_it_is_to_be_replaced() {
    for over in WAYS {
        let place = Place::new();
        std::fs::create_dir(place.path("into")).expect("a folder");
        place.write("into/file", "old").write("file", noise(3_000_000));
        let (listener, at) = listening(&place, over, &[]);
        failed(&place.run(&words(over, "file", &at, &[])), "another file called file is there");
        assert_eq!(place.read("into/file"), b"old", "{over}");
        drop(listener);
        let (_listener, at) = listening(&place, over, &["--overwrite"]);
        sent(&place, over, "file", &at, &[]);
        assert!(place.read("into/file") == noise(3_000_000), "{over}");
        // The same once more is done at once.
        sent(&place, over, "file", &at, &[]);
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_with_one_line() {
    for over in WAYS {
        let place = Place::new();
        place.write("file", noise(3_000_000));
        let (mut listener, at) = listening(&place, over, &["--max-size", "10 kB", "--once"]);
        failed(&place.run(&words(over, "file", &at, &[])), "takes at most 10000");
        assert!(listener.0.try_wait().expect("it can be asked").is_none(), "{over}: it waits for another");
        let left = std::fs::read_dir(place.path("into")).expect("it is there").count();
        assert_eq!(left, 0, "{over} leaves nothing");
    }
}

#[test]
fn where_nobody_listens_the_sender_gives_up() {
    let place = Place::new();
    place.write("file", "x");
    let free = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    for over in WAYS {
        let at = free.to_string();
        let said = if over == "tcp" { "no TCP listener there" } else { "did not answer for 1 s" };
        failed(&place.run(&["transfer", "--over", over, "file", &at, "--give-up", "1 s"]), said);
    }
}

#[test]
fn datagrams_of_strangers_change_nothing() {
    for over in ["ltp-udp", "ltp-dccp", "dccp"] {
        let place = Place::new();
        place.write("file", noise(1_000_000));
        let (_listener, at) = listening(&place, over, &[]);
        let enemy = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let bytes = noise(200_000);
        for round in 0..600_usize {
            let start = round * 211;
            let mut datagram = bytes[start..start + usize::from(bytes[start]) * 4].to_vec();
            if let Some(first) = datagram.first_mut() {
                // All versions and types of LTP, whatever follows.
                *first = (round % 256) as u8;
            }
            let _ = enemy.send_to(&datagram, &at);
        }
        sent(&place, over, "file", &at, &[]);
        assert!(place.read("into/file") == noise(1_000_000), "{over}");
    }
}

#[test]
fn what_is_wrong_with_a_command_is_told_in_one_line() {
    let place = Place::new();
    place.write("file", "x").write("key", noise(32));
    for (over, more, said) in [
        ("pigeon", &[][..], "name one of udpdtn, ltp-udp, ltp-dccp, dccp, tcp"),
        ("tcp", &["--key-file", "key"], "--key-file is not supported with --over tcp"),
        ("tcp", &["--controller", "cubic"], "--controller is not supported with --over tcp"),
        ("tcp", &["--rate", "1 Mbit/s"], "--rate is not supported with --over tcp"),
        ("tcp", &["--packet-size", "900 B"], "--packet-size is not supported"),
        ("dccp", &["--in-order"], "--in-order is not supported with --over dccp"),
        ("dccp", &["--controller", "contact_rate", "--rate", "1 Mbit/s"], "take ccid2"),
        ("dccp", &["--packet-size", "60 B"], "--packet-size"),
        ("ltp-udp", &["--controller", "ccid3"], "works with dccp only"),
        ("ltp-udp", &["--controller", "contact_rate"], "needs a planned rate"),
        ("ltp-udp", &["--packet-size", "30 B"], "--packet-size"),
        ("ltp-dccp", &["--packet-size", "70 kB"], "at most 65535"),
    ] {
        let line = place.refused(&[&["transfer", "--over", over, "file", "127.0.0.1:9"], more].concat());
        assert!(line.contains(said), "{over} {more:?}: {line}");
    }
}
