//! Files that are here already: hosts that name large ones hold no sender up, and senders that give them again learn it.

use crate::lightlag::Place;
use crate::lightlag::running::{Running, noise};
use lightlag_protocols::time::Duration as Span;
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::udpdtn::{Body, Opening, Packet};
use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

fn listen(place: &Place, over: &str, more: &[&str]) -> (Running, String) {
    let words = ["transfer", "--listen", "127.0.0.1:0", "--folder", "into", "--over", over, "--json"];
    Running::listening(place.command(&[&words, more].concat()))
}

/// What a host sends that names a file of this length, with a digest that no file has.
fn opening(over: &str, session: u32, name: &str, length: u64) -> Vec<u8> {
    let digest = [9; 32];
    if over == "udpdtn" {
        let (length, report_every) = (Bytes(length), Span::from_secs(1));
        let opening = Opening { length, symbol: 1456, block_symbols: 1024, digest, name, report_every };
        return Packet { session, body: Body::Open(opening) }.to_bytes();
    }
    let mut bytes = b"llfile01".to_vec();
    bytes.extend(length.to_be_bytes());
    bytes.extend(digest);
    bytes.push(name.len() as u8);
    bytes.extend(name.as_bytes());
    bytes.resize(300, 0);
    if over == "ltp-udp" {
        // Red data of service 70 from offset 0 on, 300 bytes, no checkpoint (RFC 5326, section 3.2.1).
        let number = (session % 100) as u8;
        bytes = [&[0, 9, number, 0, 70, 0, 0x82, 0x2c][..], &bytes].concat();
    }
    bytes
}

/// Sends openings until it is over.
fn flood(over: &str, at: &str, names: &[String], length: u64, every: Duration, is_over: &AtomicBool) {
    let enemy = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let mut streams = std::collections::VecDeque::new();
    for session in 1.. {
        let bytes = opening(over, session, &names[session as usize % names.len()], length);
        if over == "tcp" {
            let stream = TcpStream::connect(at);
            streams.extend(stream.and_then(|mut stream| stream.write_all(&bytes).map(|()| stream)));
            streams.drain(..streams.len().saturating_sub(40));
        } else {
            let _ = enemy.send_to(&bytes, at);
        }
        thread::sleep(every);
        if is_over.load(Ordering::Relaxed) {
            return;
        }
    }
}

#[test]
fn openings_that_name_large_files_hold_no_sender_up() {
    for (over, files, length, every_ms) in [
        ("udpdtn", 70, 1 << 30, 10),
        ("udpdtn", 3, 40 << 30, 200),
        ("ltp-udp", 70, 1 << 30, 10),
        ("ltp-udp", 400, 50 << 20, 1),
        ("tcp", 70, 1 << 30, 20),
        ("tcp", 5, 8 << 30, 100),
    ] {
        let place = Place::new();
        std::fs::create_dir(place.path("into")).expect("a folder");
        let names: Vec<String> = (0..files).map(|number| format!("large{number}")).collect();
        for name in &names {
            let file = std::fs::File::create(place.path("into").join(name)).expect("a file");
            file.set_len(length).expect("the file system has sparse files");
        }
        let (_listener, at) = listen(&place, over, &[]);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| flood(over, &at, &names, length, Duration::from_millis(every_ms), &is_over));
            thread::sleep(Duration::from_millis(500));
            place.write("file", noise(500_000));
            let sent = place.run(&["transfer", "file", &at, "--over", over, "--give-up", "20 s"]);
            is_over.store(true, Ordering::Relaxed);
            let said = String::from_utf8_lossy(&sent.stderr);
            assert!(sent.status.success(), "{over}, {files} files of {length} bytes: {said}");
        });
        assert_eq!(place.read("into/file"), noise(500_000));
    }
}

#[test]
fn a_file_that_is_here_is_found_and_another_of_its_name_and_length_is_refused_or_replaces_it() {
    for over in ["udpdtn", "ltp-udp", "ltp-dccp", "dccp", "tcp"] {
        for length in [70_000, 20_000_000] {
            let place = Place::new();
            let send = |at: &str| {
                place.run(&["transfer", "file", at, "--over", over, "--json", "--give-up", "60 s"])
            };
            let [first, mut other] = [noise(length), noise(length)];
            other[length / 2] ^= 1;
            let (listener, at) = listen(&place, over, &[]);
            place.write("file", &first);
            for _ in 0..2 {
                let sent = send(&at);
                assert!(sent.status.success(), "{over}: {}", String::from_utf8_lossy(&sent.stderr));
            }
            place.write("file", &other);
            let refused = send(&at);
            let said = String::from_utf8_lossy(&refused.stderr);
            assert!(!refused.status.success() && said.contains("is there; move it away"), "{over}: {said}");
            assert!(place.read("into/file") == first, "{over}");
            drop(listener);
            let (_listener, at) = listen(&place, over, &["--overwrite"]);
            let sent = send(&at);
            assert!(sent.status.success(), "{over}: {}", String::from_utf8_lossy(&sent.stderr));
            assert!(place.read("into/file") == other, "{over}");
            let files = std::fs::read_dir(place.path("into")).expect("a folder").count();
            assert_eq!(files, 1, "{over}: nothing else is left");
        }
    }
}

#[test]
fn two_listeners_of_one_folder_confirm_no_file_that_the_other_has_spoilt() {
    let rate = |over: &str, rate: &'static str| match over {
        "tcp" => vec![],
        "dccp" | "ltp-dccp" => vec!["--controller", "fixed", "--rate", rate],
        _ => vec!["--rate", rate],
    };
    for (first, second) in [
        ("udpdtn", "udpdtn"),
        ("udpdtn", "ltp-udp"),
        ("ltp-udp", "udpdtn"),
        ("ltp-udp", "ltp-udp"),
        ("ltp-udp", "dccp"),
        ("dccp", "ltp-dccp"),
        ("dccp", "tcp"),
    ] {
        let place = Place::new();
        place.write("file", noise(3_000_000));
        let [(_one, to_one), (_other, to_other)] = [first, second].map(|over| listen(&place, over, &[]));
        let send = |over: &str, to: &str, speed| {
            let words = ["transfer", "file", to, "--over", over, "--give-up", "10 s"];
            Running::start(&place, &[&words, &rate(over, speed)[..]].concat())
        };
        let sender = send(first, &to_one, "40 Mbit/s");
        thread::sleep(Duration::from_millis(200));
        let slower = send(second, &to_other, "1 Mbit/s");
        let (code, _, said) = sender.end();
        drop(slower);
        let is_there = place.path("into/file").exists();
        assert!(!is_there || place.read("into/file") == noise(3_000_000), "{first} beside {second}");
        assert!(code != Some(0) || is_there, "{first} beside {second}: {said}");
        assert!(code == Some(0) || said.contains("another"), "{first} beside {second}: {said}");
        let again = place.run(&["transfer", "file", &to_one, "--over", first, "--give-up", "20 s"]);
        assert!(again.status.success(), "{first}: {}", String::from_utf8_lossy(&again.stderr));
        assert!(place.read("into/file") == noise(3_000_000), "{first} after {second}");
    }
}

#[test]
fn a_file_that_was_replaced_by_one_of_its_length_and_time_is_not_taken_for_it() {
    for (over, length) in [("udpdtn", 10_000), ("udpdtn", 200_000), ("ltp-udp", 200_000), ("tcp", 200_000)] {
        let place = Place::new();
        let (_listener, at) = listen(&place, over, &[]);
        let send = || place.run(&["transfer", "file", &at, "--over", over, "--give-up", "20 s"]);
        place.write("file", noise(length));
        assert!(send().status.success() && send().status.success(), "{over}");
        let here = place.path("into/file");
        let modified = std::fs::metadata(&here).and_then(|found| found.modified()).expect("it has a time");
        std::fs::remove_file(&here).expect("it goes");
        std::fs::write(&here, vec![0; length]).expect("it is written");
        let file = std::fs::File::options().append(true).open(&here).expect("it opens");
        file.set_modified(modified).expect("the system sets times");
        let sent = send();
        let said = String::from_utf8_lossy(&sent.stderr);
        assert!(!sent.status.success() && said.contains("is there; move it away"), "{over}: {said}");
    }
}
