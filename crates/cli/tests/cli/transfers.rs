//! Files over UDP sockets of this machine, as users send and receive them.

use crate::lightlag::running::{Running, noise};
use crate::lightlag::{Place, failed};
use std::net::UdpSocket;
use std::process::Output;
use std::time::{Duration, Instant};

fn listening(place: &Place, words: &[&str]) -> (Running, String) {
    let words = [&["transfer", "--listen", "127.0.0.1:0", "--folder", "into", "--json"], words].concat();
    Running::listening(place.command(&words))
}

fn send(place: &Place, file: &str, to: &str, more: &[&str]) -> Output {
    place.run(&[&["transfer", file, to, "--json", "--give-up", "20 s"], more].concat())
}

#[track_caller]
fn sent(place: &Place, file: &str, to: &str, more: &[&str]) -> String {
    let done = send(place, file, to, more);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("what is printed is text")
}

fn parts(place: &Place) -> usize {
    let names = std::fs::read_dir(place.path("into")).into_iter().flatten().flatten();
    names.filter(|entry| entry.file_name().to_string_lossy().contains(".part")).count()
}

/// Bytes of disk that files take where they come to.
fn kept(place: &Place) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let files = std::fs::read_dir(place.path("into")).into_iter().flatten().flatten();
    files.filter_map(|entry| entry.metadata().ok()).map(|found| found.blocks() * 512).sum()
}

#[test]
fn files_of_every_size_arrive_as_they_are() {
    let place = Place::new();
    let (_listener, at) = listening(&place, &[]);
    for length in [0, 1, 1455, 1456, 1457, 100_000, 3_000_001] {
        let name = format!("{length}.bin");
        let bytes = noise(length);
        place.write(&name, &bytes);
        let output = sent(&place, &name, &at, &[]);
        assert!(output.contains(&format!("\"bytes\":{length},")), "{output}");
        assert!(place.read(&format!("into/{name}")) == bytes, "{length}");
    }
    let left: Vec<_> = std::fs::read_dir(place.path("into")).expect("it is there").collect();
    assert_eq!(left.len(), 7, "nothing else is left: {left:?}");
}

#[test]
fn every_controller_that_fits_carries_a_file() {
    let place = Place::new();
    let (_listener, at) = listening(&place, &["--overwrite"]);
    for controller in ["contact_rate", "cubic", "new_reno", "ledbat", "vegas", "hybla"] {
        place.write(controller, noise(300_000));
        sent(&place, controller, &at, &["--controller", controller, "--in-order", "--packet-size", "900 B"]);
        assert!(place.read(&format!("into/{controller}")) == noise(300_000), "{controller}");
    }
}

#[test]
fn a_transfer_survives_the_killing_of_either_side() {
    let place = Place::new();
    let bytes = noise(60_000_000);
    place.write("file", &bytes);
    // A port of its own, so that the listener can come back to it.
    let free = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    let at = free.to_string();
    let listen = ["transfer", "--listen", &at, "--folder", "into", "--json"];
    let send = ["transfer", "file", &at, "--json", "--rate", "150 Mbit/s", "--give-up", "30 s"];
    let mut listener = Running::start(&place, &listen);
    let mut sender = Running::start(&place, &send);
    for round in 0..6 {
        std::thread::sleep(Duration::from_millis(700));
        let victim = if round % 2 == 0 { &mut listener } else { &mut sender };
        victim.0.kill().expect("it can be killed");
        victim.0.wait().expect("it has ended");
        let words = if round % 2 == 0 { &listen[..] } else { &send[..] };
        *victim = Running::start(&place, words);
    }
    let (code, out, output) = sender.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(place.read("into/file") == bytes, "the file is whole");
    assert!(!out.contains("\"resumed_bytes\":0,"), "what was there is not sent again: {out}");
}

#[test]
fn with_a_key_only_those_who_have_it_are_heard() {
    let place = Place::new();
    place.write("key", noise(32)).write("other", noise(40)).write("file", noise(50_000));
    let (_listener, at) = listening(&place, &["--key-file", "key"]);
    for more in [&["--give-up", "1 s"][..], &["--give-up", "1 s", "--key-file", "other"]] {
        let words = [&["transfer", "file", &at], more].concat();
        failed(&place.run(&words), "did not answer");
    }
    assert_eq!(parts(&place), 0, "nothing was taken");
    sent(&place, "file", &at, &["--key-file", "key"]);
    assert!(place.read("into/file") == noise(50_000));
}

#[test]
fn another_file_of_the_same_name_is_kept_unless_it_is_to_be_replaced() {
    let place = Place::new();
    std::fs::create_dir(place.path("into")).expect("a folder");
    place.write("into/file", "old").write("file", noise(10_000));
    let (listener, at) = listening(&place, &[]);
    failed(&send(&place, "file", &at, &[]), "another file called file is there");
    assert_eq!(place.read("into/file"), b"old");
    drop(listener);
    let (_listener, at) = listening(&place, &["--overwrite"]);
    sent(&place, "file", &at, &[]);
    assert!(place.read("into/file") == noise(10_000));
    // The same once more is done at once.
    assert!(sent(&place, "file", &at, &[]).contains("\"bytes\":10000"));
}

#[test]
fn a_file_that_is_too_large_is_refused_with_one_line() {
    let place = Place::new();
    place.write("file", noise(10_001));
    let (_listener, at) = listening(&place, &["--max-size", "10 kB"]);
    failed(&send(&place, "file", &at, &[]), "takes at most 10000");
    assert_eq!(parts(&place), 0);
}

#[test]
fn a_file_that_changes_while_it_is_sent_is_noticed_by_both() {
    let place = Place::new();
    place.write("file", noise(20_000_000));
    let (listener, at) = listening(&place, &["--once"]);
    let sender = Running::start(&place, &["transfer", "file", &at, "--rate", "40 Mbit/s"]);
    // More than 1 MiB must have come: what fails before does not end the listener.
    let began = Instant::now();
    while kept(&place) < 2 << 20 {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing comes");
        std::thread::sleep(Duration::from_millis(5));
    }
    place.write("file", noise(20_000_001));
    let (code, _, output) = sender.end();
    assert_eq!((code, output.lines().count()), (Some(1), 1), "{output}");
    assert!(output.contains("file: it changed while it was sent"), "{output}");
    assert_eq!(listener.end().0, Some(1));
    assert!(!place.path("into/file").exists());
}

#[test]
fn a_file_that_vanishes_while_it_is_sent_arrives_whole() {
    let place = Place::new();
    place.write("file", noise(8_000_000));
    let (_listener, at) = listening(&place, &[]);
    let sender = Running::start(&place, &["transfer", "file", &at, "--rate", "40 Mbit/s"]);
    std::thread::sleep(Duration::from_millis(700));
    std::fs::remove_file(place.path("file")).expect("it was there");
    let (code, _, output) = sender.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(place.read("into/file") == noise(8_000_000));
}

#[test]
fn a_listener_stands_every_datagram_and_serves_on() {
    let place = Place::new();
    place.write("file", noise(2_000_000));
    let (_listener, at) = listening(&place, &[]);
    let enemy = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let sender = Running::start(&place, &["transfer", "file", &at, "--rate", "10 Mbit/s", "--json"]);
    let bytes = noise(200_000);
    let began = Instant::now();
    let mut at_byte = 0;
    while began.elapsed() < Duration::from_millis(1200) {
        let length = usize::from(bytes[at_byte]) * 6;
        let mut datagram = bytes[at_byte..at_byte + length].to_vec();
        // All kinds, whatever follows.
        if let Some(first) = datagram.first_mut() {
            *first = (at_byte % 256) as u8;
        }
        let _ = enemy.send_to(&datagram, &at);
        at_byte = (at_byte + 97) % (bytes.len() - 2000);
        std::thread::sleep(Duration::from_micros(200));
    }
    let (code, _, output) = sender.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(place.read("into/file") == noise(2_000_000));
}

#[test]
fn what_is_wrong_with_a_command_is_told_in_one_line() {
    let place = Place::new();
    place.write("file", "x").write("short", "x");
    for (words, said) in [
        (&["transfer"][..], "not provided"),
        (&["transfer", "file"], "not provided"),
        (&["transfer", "none", "127.0.0.1:9"], "none: No such file"),
        (&["transfer", ".", "127.0.0.1:9"], "it is not a file"),
        (&["transfer", "file", "127.0.0.1:99999"], "write HOST:PORT"),
        (&["transfer", "file", "127.0.0.1:0"], "port 0 is invalid"),
        (&["transfer", "file", "127.0.0.1:9", "--once"], "cannot be used with"),
        (&["transfer", "file", "127.0.0.1:9", "--folder", "x"], "cannot be used with"),
        (&["transfer", "file", "127.0.0.1:9", "--rate", "0 bit/s"], "--rate"),
        (&["transfer", "file", "127.0.0.1:9", "--rate", "quick"], "--rate"),
        (&["transfer", "file", "127.0.0.1:9", "--packet-size", "44 B"], "it must have 45 to"),
        (&["transfer", "file", "127.0.0.1:9", "--packet-size", "70 kB"], "at most 65535"),
        (&["transfer", "file", "127.0.0.1:9", "--controller", "quick"], "name one of"),
        (&["transfer", "file", "127.0.0.1:9", "--set", "pull=7"], "pull"),
        (&["transfer", "file", "127.0.0.1:9", "--key-file", "none"], "--key-file none: No such file"),
        (&["transfer", "file", "127.0.0.1:9", "--key-file", "short"], "too short"),
        (&["transfer", "--listen", "file:x"], "write HOST:PORT"),
        (&["transfer", "--listen", "0", "--folder", "file/x"], "--folder"),
        (&["transfer", "--listen", "0", "--max-size", "much"], "--max-size"),
        (&["emulate", "none.toml", "--listen", "0", "--to", "127.0.0.1:9"], "none.toml"),
    ] {
        let line = place.refused(words);
        assert!(line.contains(said), "{words:?}: {line}");
    }
}

const LINK: &str = r#"
duration = "100 s"
[links.space]
from = "earth"
to = "mars"
rate = "16 Mbit/s"
round_trip = "150 ms"
loss = 0.01
[flows.file]
from = "earth"
to = "mars"
transport = "udpdtn"
controller = "contact_rate"
planned_rate = "16 Mbit/s"
block_symbols = 1024
size = "8 MB"
"#;

fn number(json: &str, key: &str) -> f64 {
    let rest = json.split(&format!("\"{key}\":")).nth(1).unwrap_or_else(|| panic!("{key} in {json}"));
    let text: String = rest.trim_start().chars().take_while(|c| "0123456789.eE+-".contains(*c)).collect();
    text.parse().unwrap_or_else(|_| panic!("{key} is {text}"))
}

/// The same file over the same link, in the simulated world and on sockets.
#[test]
fn a_transfer_gets_in_real_time_what_it_gets_in_the_simulated_world() {
    let place = Place::new();
    place.write("link.toml", LINK).write("file", noise(8_000_000));
    let simulated = number(&place.good(&["run", "link.toml", "--json"]), "goodput_bit_per_s");
    let mut ratios = Vec::new();
    // A machine that is busy with other things gets another chance, as real time is what it measures.
    for _ in 0..4 {
        let _ = std::fs::remove_dir_all(place.path("into"));
        let (listener, at) = listening(&place, &["--once"]);
        let words = ["emulate", "link.toml", "--listen", "127.0.0.1:0", "--to", &at];
        let (_emulator, near) = Running::listening(place.command(&words));
        sent(&place, "file", &near, &["--rate", "16 Mbit/s"]);
        let (code, out, _) = listener.end();
        assert_eq!(code, Some(0));
        // The listener's clock starts with the first datagram: half a round trip later than the sender's.
        let real = 8_000_000.0 * 8.0 / (number(&out, "duration_s") + 0.075);
        ratios.push(real / simulated);
        if (0.95..1.05).contains(&(real / simulated)) {
            return;
        }
    }
    panic!("goodput in real time over simulated: {ratios:?}");
}
