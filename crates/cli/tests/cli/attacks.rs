//! Attacks on `lightlag transfer`: recordings that are played again, openings by unknown hosts, kills.

use crate::lightlag::Place;
use crate::lightlag::running::{Running, noise};
use lightlag_protocols::time::{Duration as Span, Instant as Moment};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::udpdtn::{Body, Data, Opening, Packet};
use std::net::UdpSocket;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const WAIT: Duration = Duration::from_secs(40);

fn free_address() -> String {
    let free = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    free.expect("a free port").to_string()
}

/// A listener that can be started again at the same address.
fn listen(place: &Place, at: &str, more: &[&str]) -> Running {
    let words = [&["transfer", "--listen", at, "--folder", "into", "--json"], more].concat();
    Running::listening(place.command(&words)).0
}

fn send(place: &Place, file: &str, to: &str, more: &[&str]) -> Output {
    place.run(&[&["transfer", file, to, "--json", "--give-up", "20 s"], more].concat())
}

#[track_caller]
fn sent(place: &Place, file: &str, to: &str, more: &[&str]) {
    let done = send(place, file, to, more);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < WAIT, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Passes datagrams on and keeps those of both directions.
struct Recorder {
    at: String,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
    answers: Arc<Mutex<Vec<Vec<u8>>>>,
    over: Arc<AtomicBool>,
}

impl Recorder {
    fn before(to: &str) -> Self {
        let (near, far) = (
            UdpSocket::bind("127.0.0.1:0").expect("the test can do this"),
            UdpSocket::bind("127.0.0.1:0").expect("the test can do this"),
        );
        far.connect(to).expect("the test can do this");
        let at = near.local_addr().expect("the test can do this").to_string();
        let (sent, answers, over): (Arc<Mutex<Vec<_>>>, Arc<Mutex<Vec<_>>>, Arc<AtomicBool>) =
            Default::default();
        for socket in [&near, &far] {
            socket.set_read_timeout(Some(Duration::from_millis(50))).expect("the test can do this");
        }
        let peer = Arc::new(Mutex::new(None));
        let there = (
            near.try_clone().expect("the test can do this"),
            far.try_clone().expect("the test can do this"),
            sent.clone(),
            over.clone(),
            peer.clone(),
        );
        std::thread::spawn(move || {
            let (near, far, sent, over, peer) = there;
            let mut bytes = [0; 65_536];
            while !over.load(Ordering::Relaxed) {
                let Ok((count, from)) = near.recv_from(&mut bytes) else { continue };
                *peer.lock().expect("the test can do this") = Some(from);
                sent.lock().expect("the test can do this").push(bytes[..count].to_vec());
                let _ = far.send(&bytes[..count]);
            }
        });
        let back = (answers.clone(), over.clone());
        std::thread::spawn(move || {
            let (answers, over) = back;
            let mut bytes = [0; 65_536];
            while !over.load(Ordering::Relaxed) {
                let Ok(count) = far.recv(&mut bytes) else { continue };
                answers.lock().expect("the test can do this").push(bytes[..count].to_vec());
                if let Some(to) = *peer.lock().expect("the test can do this") {
                    let _ = near.send_to(&bytes[..count], to);
                }
            }
        });
        Self { at, sent, answers, over }
    }
    fn sent(&self) -> Vec<Vec<u8>> {
        self.sent.lock().expect("the test can do this").clone()
    }
    fn answers(&self) -> Vec<Vec<u8>> {
        self.answers.lock().expect("the test can do this").clone()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Plays what a sender said from another address, as often as is said, and hears the answers.
fn play(recorded: &[Vec<u8>], to: &str, times: usize) -> Vec<Vec<u8>> {
    let enemy = UdpSocket::bind("127.0.0.1:0").expect("the test can do this");
    enemy.set_read_timeout(Some(Duration::from_millis(1))).expect("the test can do this");
    let (mut bytes, mut heard) = ([0; 65_536], Vec::new());
    for _ in 0..times {
        for chunk in recorded.chunks(16) {
            chunk.iter().for_each(|datagram| drop(enemy.send_to(datagram, to)));
            while let Ok(count) = enemy.recv(&mut bytes) {
                heard.push(bytes[..count].to_vec());
            }
        }
        enemy.set_read_timeout(Some(Duration::from_millis(150))).expect("the test can do this");
        while let Ok(count) = enemy.recv(&mut bytes) {
            heard.push(bytes[..count].to_vec());
        }
        enemy.set_read_timeout(Some(Duration::from_millis(1))).expect("the test can do this");
    }
    heard
}

fn hidden_state(place: &Place) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(place.path("into"))
        .expect("the test can do this")
        .map(|entry| entry.expect("the test can do this").path());
    files.filter(|path| path.to_string_lossy().contains(".lightlag-accepted")).collect()
}

fn lose_state(place: &Place) {
    hidden_state(place)
        .into_iter()
        .for_each(|path| std::fs::remove_file(path).expect("the test can do this"));
}

const KEYED: &[&str] = &["--key-file", "key"];

// --- recordings -----------------------------------------------------------------------------

/// Version 1 and then version 2 of a file are sent; the sessions are recorded.
fn two_versions(place: &Place, at: &str, more: &[&str]) -> [Vec<Vec<u8>>; 2] {
    let mut recorded = Vec::new();
    for version in ["one", "two"] {
        place.write("file", noise(40_000)).write("file", [version.as_bytes(), &noise(40_000)].concat());
        let recorder = Recorder::before(at);
        sent(place, "file", &recorder.at, &[KEYED, more].concat());
        assert!(place.read("into/file").starts_with(version.as_bytes()), "version {version} is there");
        recorded.push(recorder.sent());
    }
    recorded.try_into().expect("the test can do this")
}

#[test]
fn a_recorded_session_does_not_bring_an_earlier_version_back_as_authentic() {
    let place = Place::new();
    place.write("key", noise(32));
    let at = free_address();
    let options = [KEYED, &["--overwrite"]].concat();
    let mut listener = listen(&place, &at, &options);
    let recorded = two_versions(&place, &at, &[]);
    let is_two = |when: &str| assert!(place.read("into/file").starts_with(b"two"), "{when}");
    play(&recorded[0], &at, 2);
    is_two("same run");
    for when in ["restarted", "state lost", "restarted after the loss"] {
        drop(listener);
        if when == "state lost" {
            lose_state(&place);
        }
        listener = listen(&place, &at, &options);
        for recording in [&recorded[0], &recorded[1], &recorded[0]] {
            play(recording, &at, 2);
            is_two(when);
        }
    }
    // It is not the listener that is deaf.
    place.write("file", b"three");
    sent(&place, "file", &at, KEYED);
    assert_eq!(place.read("into/file"), b"three");
    play(&recorded[1], &at, 2);
    assert_eq!(place.read("into/file"), b"three");
}

#[test]
fn a_recorded_session_does_not_bring_back_a_file_that_was_taken_away() {
    let place = Place::new();
    place.write("key", noise(32));
    let at = free_address();
    let mut listener = listen(&place, &at, KEYED);
    place.write("file", noise(30_000));
    let recorder = Recorder::before(&at);
    sent(&place, "file", &recorder.at, KEYED);
    let recording = recorder.sent();
    for lost in [false, false, true] {
        let _ = std::fs::remove_file(place.path("into/file"));
        drop(listener);
        if lost {
            lose_state(&place);
        }
        listener = listen(&place, &at, KEYED);
        play(&recording, &at, 3);
        assert!(!place.path("into/file").exists(), "state lost: {lost}");
    }
    sent(&place, "file", &at, KEYED);
    assert!(place.read("into/file") == noise(30_000));
    drop(listener);
}

#[test]
fn a_recorded_session_ends_no_listener_that_waits_for_one_transfer() {
    let place = Place::new();
    place.write("key", noise(32)).write("file", noise(20_000)).write("other", noise(10_000));
    let at = free_address();
    let listener = listen(&place, &at, KEYED);
    let recorder = Recorder::before(&at);
    sent(&place, "file", &recorder.at, KEYED);
    drop(listener);
    for loses in [false, true] {
        if loses {
            lose_state(&place);
        }
        place.write("other", noise(3_000_000 + usize::from(loses)));
        let listener = listen(&place, &at, &[KEYED, &["--once", "--overwrite"]].concat());
        play(&recorder.sent(), &at, 3);
        sent(&place, "other", &at, KEYED);
        let (code, out, _) = listener.end();
        assert_eq!(code, Some(0));
        assert!(out.contains("into/other") && out.lines().count() == 1, "state lost: {loses}: {out}");
    }
}

#[test]
fn a_sender_with_any_clock_and_no_memory_is_believed_after_a_round_trip() {
    let place = Place::new();
    place.write("key", noise(32));
    let at = free_address();
    let options = [KEYED, &["--overwrite"]].concat();
    let mut listener = listen(&place, &at, &options);
    for round in 0..6_u8 {
        // Each from a host of its own, which remembers nothing.
        place.write("file", [round; 5000]);
        let memory = place.path(&format!("memory{}", round / 2 * 2));
        let words = ["transfer", "file", &at, "--key-file", "key", "--give-up", "20 s"];
        let done =
            place.command(&words).env("XDG_STATE_HOME", memory).output().expect("the test can do this");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(place.read("into/file"), [round; 5000]);
        if round == 2 || round == 3 {
            drop(listener);
            if round == 3 {
                lose_state(&place);
            }
            listener = listen(&place, &at, &options);
        }
    }
}

#[test]
fn recorded_answers_make_no_sender_believe_that_its_file_was_delivered() {
    let place = Place::new();
    place.write("key", noise(32)).write("file", noise(20_000));
    let at = free_address();
    let listener = listen(&place, &at, KEYED);
    let recorder = Recorder::before(&at);
    sent(&place, "file", &recorder.at, KEYED);
    drop(listener);
    let answers = recorder.answers();
    assert!(!answers.is_empty());
    // Only the recording listens, and answers everything with the session number that is asked for.
    let enemy = UdpSocket::bind(&at).expect("the test can do this");
    enemy.set_read_timeout(Some(Duration::from_millis(50))).expect("the test can do this");
    let sender = Running::start(&place, &["transfer", "file", &at, "--key-file", "key", "--give-up", "2 s"]);
    let (began, mut bytes) = (Instant::now(), [0; 2000]);
    while began.elapsed() < Duration::from_secs(3) {
        let Ok((count, from)) = enemy.recv_from(&mut bytes) else { continue };
        for answer in &answers {
            let mut renamed = answer.clone();
            renamed[1..5].copy_from_slice(&bytes[1..5]);
            let _ = enemy.send_to(answer, from);
            let _ = enemy.send_to(&renamed, from);
        }
        // What it said itself is no answer either.
        let _ = enemy.send_to(&bytes[..count], from);
    }
    let (code, _, output) = sender.end();
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("did not answer"), "{output}");
}

#[test]
fn an_interrupted_transfer_with_a_key_goes_on_after_kills_of_both_and_loss_of_the_state() {
    let place = Place::new();
    let bytes = noise(24_000_000);
    place.write("key", noise(32)).write("file", &bytes);
    let at = free_address();
    let send =
        ["transfer", "file", &at, "--json", "--rate", "60 Mbit/s", "--give-up", "30 s", "--key-file", "key"];
    let mut listener = listen(&place, &at, KEYED);
    let mut sender = Running::start(&place, &send);
    for round in 0..5 {
        std::thread::sleep(Duration::from_millis(800));
        if round % 2 == 1 {
            sender = Running::start(&place, &send);
            continue;
        }
        drop(listener);
        if round == 2 {
            lose_state(&place);
        }
        listener = listen(&place, &at, KEYED);
    }
    let (code, out, output) = sender.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(place.read("into/file") == bytes);
    assert!(!out.contains("\"resumed_bytes\":0,"), "what was there is not sent again: {out}");
}

#[test]
fn a_recorded_session_brings_nothing_to_another_listener_with_the_same_key() {
    let place = Place::new();
    place.write("key", noise(32)).write("first", noise(3_000)).write("file", noise(20_000));
    let [at, other] = [free_address(), free_address()];
    let listener = listen(&place, &at, KEYED);
    sent(&place, "first", &at, KEYED);
    let words = ["transfer", "--listen", &other, "--folder", "elsewhere", "--key-file", "key"];
    let _other = Running::listening(place.command(&words)).0;
    // The first for a sender that was challenged, the others for one that knows the listener.
    let recorder = Recorder::before(&at);
    sent(&place, "file", &recorder.at, KEYED);
    place.write("more", noise(10_000));
    sent(&place, "more", &recorder.at, KEYED);
    drop(listener);
    play(&recorder.sent(), &other, 3);
    assert!(!place.path("elsewhere/file").exists() && !place.path("elsewhere/more").exists());
}

/// A round trip long enough that most of the file leaves before the listener's challenge is heard.
const FAR: &str = r#"
duration = "100 s"
[links.space]
from = "earth"
to = "mars"
rate = "8 Mbit/s"
round_trip = "3 s"
[flows.file]
from = "earth"
to = "mars"
transport = "udpdtn"
controller = "contact_rate"
size = "8 MB"
"#;

#[test]
fn what_leaves_before_the_challenge_is_heard_is_not_sent_again() {
    let place = Place::new();
    let bytes = noise(3_000_000);
    place.write("key", noise(32)).write("file", &bytes);
    let at = free_address();
    let _listener = listen(&place, &at, KEYED);
    let (_link, near) = Running::link(&place, FAR, &at);
    let done = send(&place, "file", &near, &["--key-file", "key", "--rate", "8 Mbit/s", "--light", "3 s"]);
    let out = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(place.read("into/file") == bytes);
    let sent = out
        .split("\"datagrams\":")
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .expect("the test can do this");
    let symbols = bytes.len() / 1440 + 1;
    assert!(
        sent.parse::<usize>().expect("the test can do this") < symbols * 5 / 4,
        "{symbols} symbols: {out}"
    );
}

/// Minutes of kills of both sides of two senders of one name; between them every recording is played again.
#[test]
#[ignore = "minutes; run by make torture"]
fn kills_and_recordings_at_random_moments_lose_and_bring_back_nothing() {
    let seconds =
        std::env::var("LIGHTLAG_TORTURE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(120);
    let mut draw = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        draw % below
    };
    let (began, mut rounds, mut kills, mut played) = (Instant::now(), 0, 0, 0_usize);
    while began.elapsed() < Duration::from_secs(seconds) {
        let keyed = rounds % 2 == 0;
        let place = Place::new();
        place.write("key", noise(32));
        std::fs::create_dir(place.path("b")).expect("the test can do this");
        let at = free_address();
        let key: &[&str] = if keyed { KEYED } else { &[] };
        let options = [key, &["--overwrite"]].concat();
        let mut listener = listen(&place, &at, &options);
        place.write("file", [&b"old"[..], &noise(60_000)].concat());
        let recorder = Recorder::before(&at);
        sent(&place, "file", &recorder.at, key);
        let old = recorder.sent();
        let contents = [b"a", b"b"].map(|which| [&which[..], &noise(2_000_000)].concat());
        place.write("file", &contents[0]).write("b/file", &contents[1]);
        let words =
            |file| [&["transfer", file, &at, "--rate", "20 Mbit/s", "--give-up", "20 s"], key].concat();
        let mut senders = ["file", "b/file"].map(|file| Running::start(&place, &words(file)));
        for _ in 0..4 {
            std::thread::sleep(Duration::from_millis(random(700)));
            kills += 1;
            match random(3) {
                0 => {
                    drop(listener);
                    if keyed && random(3) == 0 {
                        lose_state(&place);
                    }
                    listener = listen(&place, &at, &options);
                }
                1 => senders[0] = Running::start(&place, &words("file")),
                _ => senders[1] = Running::start(&place, &words("b/file")),
            }
            if keyed {
                played += old.len();
                play(&old, &at, 1);
            }
        }
        for sender in senders {
            let (code, _, output) = sender.end();
            let is_late = output.contains("a later version of file has come meanwhile");
            assert!(code == Some(0) || is_late, "round {rounds}, keyed {keyed}: {}", output);
        }
        drop(listener);
        listener = listen(&place, &at, &options);
        if keyed {
            play(&old, &at, 2);
        }
        let last = place.read("into/file");
        assert!(contents.contains(&last), "round {rounds}, keyed {keyed}: {:?}", &last[..3]);
        drop(listener);
        rounds += 1;
    }
    println!(
        "torture: transfers of two senders of one name; {rounds} rounds, files whole; {kills} kills; {played} recorded \
         datagrams played"
    );
}

#[test]
fn a_listener_that_is_killed_during_a_replay_leaves_nothing_that_looks_like_progress() {
    let place = Place::new();
    place.write("key", noise(32));
    let at = free_address();
    let options = [KEYED, &["--overwrite"]].concat();
    let listener = listen(&place, &at, &options);
    let recorded = two_versions(&place, &at, &[]);
    drop(listener);
    let listener = listen(&place, &at, &options);
    play(&recorded[0], &at, 2);
    drop(listener);
    for name in parts(&place).into_iter().map(|(name, _)| name) {
        assert!(name.ends_with(".unproven.part"), "{name}");
    }
    // A sender with the key is not kept from the same content by it.
    let _listener = listen(&place, &at, &options);
    play(&recorded[0], &at, 1);
    place.write("file", [b"one", &noise(40_000)[..]].concat());
    sent(&place, "file", &at, KEYED);
    assert!(place.read("into/file").starts_with(b"one"));
    until("nothing is left of it", || parts(&place).is_empty());
}

// --- unknown hosts ----------------------------------------------------------------------------

/// An opening as anybody can write it.
fn opening(session: u32, name: &str, length: u64, digest: [u8; 32]) -> Vec<u8> {
    let report_every = Span::from_secs(1);
    let opening =
        Opening { length: Bytes(length), symbol: 1456, block_symbols: 1024, digest, name, report_every };
    Packet { session, body: Body::Open(opening) }.to_bytes()
}

fn datum(session: u32, number: u32, block: u16, symbol: u16) -> Vec<u8> {
    let (stamp, report_every) = (Moment::ZERO, Span::from_secs(1));
    let data = Data { number, block, symbol, stamp, in_train: false, report_every };
    Packet { session, body: Body::Data(data, &[7; 1456]) }.to_bytes()
}

fn parts(place: &Place) -> Vec<(String, u64)> {
    use std::os::unix::fs::MetadataExt;
    let files = std::fs::read_dir(place.path("into")).into_iter().flatten().flatten();
    let parts = files.filter_map(|entry| {
        let size = entry.metadata().ok()?.blocks() * 512;
        Some((entry.file_name().to_string_lossy().into_owned(), size))
    });
    parts.filter(|(name, _)| name.ends_with(".part")).collect()
}

#[test]
fn an_opening_by_a_stranger_destroys_nothing_that_another_sender_has_stored() {
    let place = Place::new();
    let bytes = noise(9_000_000);
    place.write("file", &bytes);
    let at = free_address();
    let mut listener = listen(&place, &at, &[]);
    let words = ["transfer", "file", &at, "--rate", "20 Mbit/s", "--json"];
    let sender = Running::start(&place, &words);
    let journal = || {
        let files = std::fs::read_dir(place.path("into")).into_iter().flatten().flatten();
        files.filter(|entry| entry.file_name().to_string_lossy().ends_with(".part.state")).count() > 0
    };
    until("something is written down", || {
        journal() && parts(&place).iter().any(|(_, size)| *size > 3_000_000)
    });
    drop(sender);
    let before = parts(&place);
    let enemy = UdpSocket::bind("127.0.0.1:0").expect("the test can do this");
    for round in 0..5_u32 {
        // After any pause, and whatever it says: more, less, the same digest with another length.
        for (length, digest) in [(1, [9; 32]), (9_000_000, [8; 32]), (0, [7; 32]), (9_000_001, [6; 32])] {
            let session = 1000 * round + length as u32 % 999;
            enemy.send_to(&opening(session, "file", length, digest), &at).expect("the test can do this");
            enemy.send_to(&datum(session, 0, 0, 0), &at).expect("the test can do this");
        }
        std::thread::sleep(Duration::from_millis(800));
        if round == 3 {
            drop(listener);
            listener = listen(&place, &at, &[]);
        }
    }
    for (name, size) in &before {
        let now = parts(&place).into_iter().find(|(other, _)| other == name);
        assert!(now.as_ref().is_some_and(|(_, now)| now >= size), "{name} had {size}: {now:?}");
    }
    let done = send(&place, "file", &at, &[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let out = String::from_utf8_lossy(&done.stdout);
    let resumed = out
        .split("\"resumed_bytes\":")
        .nth(1)
        .and_then(|rest| rest.split([',', '}']).next())
        .expect("the test can do this");
    assert!(resumed.parse::<u64>().expect("the test can do this") > 2_000_000, "{out}");
    assert!(place.read("into/file") == bytes);
}

#[test]
fn two_senders_of_one_name_keep_their_progress() {
    let place = Place::new();
    std::fs::create_dir(place.path("other")).expect("the test can do this");
    let (first, second) = (noise(6_000_000), [&[1], &noise(6_000_000)[..]].concat());
    place.write("file", &first).write("other/file", &second);
    let at = free_address();
    let listener = listen(&place, &at, &["--overwrite"]);
    let words = |file| ["transfer", file, &at, "--rate", "12 Mbit/s", "--json", "--give-up", "30 s"];
    let senders = [words("file"), words("other/file")].map(|words| Running::start(&place, &words));
    until("both have a part of their own", || {
        parts(&place).iter().filter(|(_, size)| *size > 500_000).count() == 2
    });
    for sender in senders {
        let (code, _, output) = sender.end();
        assert_eq!(code, Some(0), "{output}");
    }
    let last = place.read("into/file");
    assert!(last == first || last == second, "it is one of them, whole");
    assert_eq!(parts(&place), []);
    drop(listener);
}

#[test]
fn a_flood_of_openings_fills_neither_disk_nor_memory_nor_the_log_and_locks_nobody_out() {
    let place = Place::new();
    place.write("file", noise(300_000));
    let at = free_address();
    let mut command = place.command(&["transfer", "--listen", &at, "--folder", "into"]);
    let log = std::fs::File::create(place.path("log")).expect("the test can do this");
    let listener = Running(
        command.stdout(std::process::Stdio::null()).stderr(log).spawn().expect("the test can do this"),
    );
    until("it listens", || place.read("log").starts_with(b"listening"));
    let memory = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", listener.0.id()))
            .expect("the test can do this");
        let line =
            status.lines().find(|line| line.starts_with("VmRSS")).expect("the test can do this").to_owned();
        line.split_whitespace()
            .nth(1)
            .expect("the test can do this")
            .parse::<u64>()
            .expect("the test can do this")
    };
    let before = memory();
    // As many hosts as there are addresses of this machine.
    let enemies: Vec<_> =
        (2..10).map(|n| UdpSocket::bind(format!("127.0.0.{n}:0")).expect("the test can do this")).collect();
    let mut digest = [0; 32];
    for round in 0..20_000_u32 {
        digest[..4].copy_from_slice(&round.to_be_bytes());
        let enemy = &enemies[round as usize % enemies.len()];
        let name = if round % 2 == 0 { "file".to_owned() } else { format!("name{round}") };
        let _ = enemy.send_to(&opening(round, &name, u64::from(round) << 16 | 1, digest), &at);
        // Data together with its opening is too early.
        if round % 3 == 0 && round >= 64 {
            let earlier = round - 64;
            let _ = enemies[earlier as usize % enemies.len()].send_to(&datum(earlier, 0, 0, 0), &at);
        }
        if round % 64 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    assert!(parts(&place).len() <= 256 + 64, "{}", parts(&place).len());
    assert!(memory() < before + 60_000, "{before} kB, then {} kB", memory());
    let lines = place.read("log").iter().filter(|byte| **byte == b'\n').count();
    assert!(lines < 200, "{lines} lines");
    println!(
        "20000 openings: {} parts, {} kB more, {lines} lines",
        parts(&place).len(),
        memory() - before.min(memory())
    );
}

/// Bytes that wait in the socket of a UDP port of this machine.
fn waiting_at(at: &str) -> u64 {
    let port = at.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).expect("an address");
    let of_port =
        |line: &&str| line.split_whitespace().nth(1).is_some_and(|at| at.ends_with(&format!(":{port:04X}")));
    let sockets = std::fs::read_to_string("/proc/net/udp").unwrap_or_default();
    let waiting =
        |line: &str| u64::from_str_radix(line.split_whitespace().nth(4)?.rsplit_once(':')?.1, 16).ok();
    sockets.lines().filter(of_port).filter_map(waiting).sum()
}

/// Bytes that a flood leaves in the socket at most: a machine that cannot read all datagrams is another attack.
const FLOOD_WAITING: u64 = 256 << 10;

/// Sends openings with data of unfinished transfers until it is dropped, one per `every` from `hosts` in turn.
struct Flood(std::sync::Arc<std::sync::atomic::AtomicBool>, Option<std::thread::JoinHandle<u32>>);

impl Flood {
    fn start(hosts: Vec<UdpSocket>, at: &str, every: Duration, data: u32) -> Self {
        let (ends, at) = (std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)), at.to_owned());
        let over = ends.clone();
        let thread = std::thread::spawn(move || {
            let mut round = 0_u32;
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                round += 1;
                let mut digest = [9; 32];
                digest[..4].copy_from_slice(&round.to_be_bytes());
                let host = &hosts[round as usize % hosts.len()];
                let _ = host.send_to(&opening(round, &format!("name{round}"), 50_000_000, digest), &at);
                std::thread::sleep(every);
                while waiting_at(&at) > FLOOD_WAITING && !over.load(std::sync::atomic::Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // Data of this and of the last transfers, so that none is silent.
                for earlier in round.saturating_sub(data)..=round {
                    let host = &hosts[earlier as usize % hosts.len()];
                    let _ = host.send_to(&datum(earlier, round - earlier, 0, (round - earlier) as u16), &at);
                }
            }
            round
        });
        Self(ends, Some(thread))
    }
    /// How many transfers it has opened.
    fn end(mut self) -> u32 {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        self.1.take().and_then(|thread| thread.join().ok()).expect("it ends")
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn openings_with_data_from_unknown_hosts_keep_no_honest_sender_out() {
    let bind = |address: String| UdpSocket::bind(address).expect("the test can do this");
    let one_port = || vec![bind("127.0.0.1:0".to_owned())];
    let many_hosts = || (2..250).map(|n| bind(format!("127.0.0.{n}:0"))).collect::<Vec<_>>();
    // Among many hosts a place lasts a quarter of a second, and a large file takes minutes on a busy machine.
    for (hosts, every_ms, data, rate, bytes) in [
        (one_port(), 12, 0, "8 Mbit/s", 2_000_000),
        (one_port(), 4, 70, "8 Mbit/s", 2_000_000),
        (many_hosts(), 4, 0, "2 Mbit/s", 400_000),
        (many_hosts(), 4, 70, "2 Mbit/s", 400_000),
    ] {
        let place = Place::new();
        place.write("file", noise(bytes));
        let at = free_address();
        let _listener = listen(&place, &at, &[]);
        let flood = Flood::start(hosts, &at, Duration::from_millis(every_ms), data);
        std::thread::sleep(Duration::from_secs(2));
        // How soon it finds a place depends on the machine; that it finds one does not.
        let words = ["transfer", "file", &at, "--json", "--rate", rate, "--give-up", "3 min"];
        let done = place.run(&words);
        let opened = flood.end();
        let output = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{opened} openings, {data} data each: {}", output);
        assert!(place.read("into/file") == noise(bytes));
        println!(
            "torture: openings with data at a transfer without a key; 1 honest sender; ; {opened} openings"
        );
    }
}

#[test]
fn unfinished_files_of_strangers_are_bounded() {
    let place = Place::new();
    place.write("file", noise(900_000)).write("large", noise(2_000_000));
    let at = free_address();
    let _listener = listen(&place, &at, &["--max-partial", "1 MB"]);
    crate::lightlag::failed(&send(&place, "large", &at, &[]), "--max-partial");
    sent(&place, "file", &at, &[]);
    let enemy = UdpSocket::bind("127.0.0.1:0").expect("the test can do this");
    for round in 0..400_u32 {
        let mut digest = [1; 32];
        digest[..4].copy_from_slice(&round.to_be_bytes());
        enemy.send_to(&opening(round, "x", 2000, digest), &at).expect("the test can do this");
        enemy.send_to(&datum(round, 0, 0, 0), &at).expect("the test can do this");
        std::thread::sleep(Duration::from_millis(4));
        enemy.send_to(&datum(round, 1, 0, 0), &at).expect("the test can do this");
    }
    let kept = parts(&place);
    // Those of up to 64 sessions that still grow are there too.
    assert!((60..=256 + 64).contains(&kept.len()), "{}", kept.len());
    assert!(kept.iter().map(|(_, size)| size).sum::<u64>() <= 4_000_000);
}

#[test]
fn what_an_earlier_version_has_kept_is_taken_up() {
    let place = Place::new();
    let bytes = noise(3_000_000);
    place.write("file", &bytes);
    std::fs::create_dir(place.path("into")).expect("the test can do this");
    // Its layout: NAME.part, and a journal that says which bytes are there.
    place.write("into/file.part", [&bytes[..2_000_000], &vec![0; 1_000_000]].concat());
    let mut journal = b"LLPART1\n".to_vec();
    journal.extend_from_slice(blake3::hash(&bytes).as_bytes());
    journal.extend_from_slice(&3_000_000_u64.to_be_bytes());
    journal.extend_from_slice(&0_u64.to_be_bytes());
    journal.extend_from_slice(&2_000_000_u64.to_be_bytes());
    let sum = blake3::hash(&journal);
    journal.extend_from_slice(sum.as_bytes());
    place.write("into/file.part.state", &journal);
    let at = free_address();
    let _listener = listen(&place, &at, &[]);
    let done = send(&place, "file", &at, &[]);
    let out = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && !out.contains("\"resumed_bytes\":0,"), "{out}");
    assert!(place.read("into/file") == bytes);
    assert!(!place.path("into/file.part").exists() && parts(&place).is_empty());
}
