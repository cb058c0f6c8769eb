//! Hosts without a key against listeners that anybody may send to: idle sessions, half transfers, openings only and
//! noise, while an honest host sends. It gets through, the log stays short, and what is stored stays bounded.

use crate::lightlag::running::{Running, noise};
use crate::lightlag::{Place, failed};
use lightlag_protocols::wire::tcpcl::{Contact, Flags, Init, Message, Segment, VERSION};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const WAIT: Duration = Duration::from_secs(90);

/// A listener whose log is kept.
struct Listener {
    place: Place,
    at: String,
    _process: Running,
}

impl Listener {
    fn start(words: &[&str]) -> Self {
        Self::limited("true", words)
    }
    /// After this command of a shell, which may set limits.
    fn limited(limit: &str, words: &[&str]) -> Self {
        let place = Place::new();
        place.write("file", noise(20_000));
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "AT" { "127.0.0.1:0" } else { word }).collect();
        let mut command = std::process::Command::new("sh");
        command.current_dir(place.path("")).args(["-c", &format!("{limit} && exec \"$0\" \"$@\"")]);
        command.arg(env!("CARGO_BIN_EXE_lightlag")).args(&words);
        let log = std::fs::File::create(place.path("log")).expect("a file");
        command.stdout(Stdio::null()).stderr(log);
        let process = Running(command.spawn().expect("it starts"));
        let mut listener = Self { place, at: String::new(), _process: process };
        until("it listens", || {
            let log = listener.log();
            let at = log.split_once("listening at ").and_then(|(_, rest)| rest.split_once('\n'));
            at.inspect(|(at, _)| listener.at = (*at).to_owned()).is_some()
        });
        listener
    }
    fn bundles(over: &str, stored: &str) -> Self {
        Self::start(&["bundles", "listen", "AT", "--over", over, "--max-stored", stored])
    }
    fn log(&self) -> String {
        std::fs::read_to_string(self.place.path("log")).unwrap_or_default()
    }
    /// What is in its folder: files, and bytes of them.
    fn stored(&self, folder: &str) -> (usize, u64) {
        let files = std::fs::read_dir(self.place.path(folder)).into_iter().flatten().flatten();
        let sizes: Vec<u64> = files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).collect();
        (sizes.len(), sizes.iter().sum())
    }
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.at).expect("the kernel takes it");
        stream.set_write_timeout(Some(Duration::from_secs(1))).expect("it has one");
        stream
    }
    /// An honest host brings these bundles, one after the other; each is here.
    fn takes(&self, over: &str, names: &[&str]) {
        for name in names {
            let bytes = bundle(3000.min(1200 + name.len() * 20), name.as_bytes());
            self.place.write(name, &bytes);
            let sent = || {
                let mut words = vec!["bundles", "send", name, "--to", &self.at, "--over", over];
                if over != "udp" {
                    words.extend(["--give-up", "60 s"]);
                }
                let done = self.place.run(&words);
                assert!(done.status.success(), "{over}: {}", String::from_utf8_lossy(&done.stderr));
            };
            sent();
            // Datagrams of UDP may be lost in the flood, without repair.
            until("the bundle is here", || {
                let folder = std::fs::read_dir(self.place.path("inbox")).expect("it is there");
                let is_here =
                    folder.flatten().any(|file| std::fs::read(file.path()).is_ok_and(|got| got == bytes));
                if !is_here && over == "udp" {
                    sent();
                }
                is_here
            });
        }
    }
    #[track_caller]
    fn is_calm(&self, lines: usize, bytes: u64) {
        let (log, stored) = (self.log(), self.stored("inbox"));
        assert!(log.lines().count() <= lines, "{log}");
        assert!(stored.1 <= bytes, "{stored:?}");
    }
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < WAIT, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A bundle of version 7 of `length` bytes or slightly more, with this in its payload.
fn bundle(length: usize, output: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x9f, 0x88, 7, 0, 0, 0x82, 2, 0x82, 1, 1, 0x82, 2, 0x82, 2, 1];
    bytes.extend([0x82, 2, 0x82, 1, 1, 0x82, 0, 0, 0x19, 0x27, 0x10]);
    let payload = [output, &noise(length.saturating_sub(output.len()))].concat();
    bytes.extend([0x85, 1, 1, 0, 0, 0x5a]);
    bytes.extend((payload.len() as u32).to_be_bytes());
    bytes.extend(payload);
    bytes.push(0xff);
    bytes
}

/// A bundle of version 6, with a dictionary.
fn old_bundle(payload: &[u8]) -> Vec<u8> {
    let dictionary = b"dtn\0none\0";
    let mut bytes = vec![6, 0, 12 + dictionary.len() as u8, 0, 4, 0, 4, 0, 4, 0, 4, 1, 1, 60];
    bytes.push(dictionary.len() as u8);
    bytes.extend(dictionary);
    bytes.extend([1, 8, payload.len() as u8]);
    bytes.extend(payload);
    bytes
}

fn said(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write(&mut bytes);
    bytes
}

/// A session of TCPCL that is open and wants keep-alives so often.
fn open_session(stream: &mut TcpStream, keepalive_s: u16) {
    let node = "dtn://enemy/".to_owned();
    let init = Init { keepalive_s, segment_mru: 1000, transfer_mru: 1000, node, items: Vec::new() };
    let mut bytes = Contact { version: VERSION, can_tls: false }.to_bytes().to_vec();
    bytes.extend(said(&Message::Init(init)));
    // The host may be dropped meanwhile.
    let _ = stream.write_all(&bytes);
}

/// The first segment of a transfer that is said to be longer.
fn begin_transfer(stream: &mut TcpStream, here: usize) {
    let flags = Flags { start: true, end: false, others: 0 };
    let segment =
        Segment { flags, transfer: 0, items: Vec::new(), length: here as u64 + 1 }.with_total(1 << 20);
    let bytes = [said(&Message::Segment(segment)), noise(here)].concat();
    let _ = stream.write_all(&bytes);
}

// --- bundles over TCPCL ---------------------------------------------------------------------

#[test]
fn sessions_that_carry_nothing_keep_no_sender_out_of_tcpcl() {
    for kind in ["open", "keep-alives", "half transfers", "contact headers"] {
        let listener = Listener::bundles("tcp", "400 kB");
        let mut enemies: Vec<TcpStream> = (0..100).map(|_| listener.connect()).collect();
        for stream in &mut enemies {
            match kind {
                "contact headers" => drop(stream.write_all(b"dtn!\x04\x00")),
                "half transfers" => {
                    open_session(stream, 0);
                    begin_transfer(stream, 5000);
                }
                _ => open_session(stream, if kind == "open" { 0 } else { 1 }),
            }
        }
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            if kind == "keep-alives" {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        enemies
                            .iter()
                            .for_each(|mut stream| drop(stream.write_all(&said(&Message::Keepalive))));
                        thread::sleep(Duration::from_millis(300));
                    }
                });
            }
            listener.takes("tcp", &["a", "b", "c"]);
            over.store(true, Ordering::Relaxed);
        });
        listener.is_calm(20, 400_000);
        drop(enemies);
        until("parts go with their sessions", || listener.stored("inbox").0 == 3);
        println!(
            "torture: TCPCL sessions that bring nothing ({kind}); 3 bundles of an honest host; ; 100 sessions"
        );
    }
}

#[test]
fn transfers_that_make_progress_are_kept_and_a_newcomer_is_told_that_the_listener_is_full() {
    let listener = Listener::bundles("tcp", "100 MB");
    let (over, count) = (AtomicBool::new(false), 64);
    thread::scope(|scope| {
        let mut busy: Vec<TcpStream> = (0..count).map(|_| listener.connect()).collect();
        for stream in &mut busy {
            open_session(stream, 0);
            begin_transfer(stream, 6000);
            // The byte that is left of its segment follows with more of them.
            let _ = stream.write_all(b"x");
        }
        let over = &over;
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                for stream in &mut busy {
                    let flags = Flags::default();
                    let segment = Segment { flags, transfer: 0, items: Vec::new(), length: 5000 };
                    let bytes = [said(&Message::Segment(segment)), noise(5000)].concat();
                    stream.write_all(&bytes).expect("it is kept");
                }
                thread::sleep(Duration::from_millis(300));
            }
        });
        until("all have begun", || listener.stored("inbox").0 == count);
        listener.place.write("late", bundle(100, b"late"));
        thread::sleep(Duration::from_secs(3));
        let done = listener.place.run(&["bundles", "send", "late", "--to", &listener.at, "--over", "tcp"]);
        over.store(true, Ordering::Relaxed);
        failed(&done, "the listener is full");
    });
}

#[test]
fn a_host_that_says_nothing_is_dropped_within_seconds() {
    let listener = Listener::bundles("tcp", "400 kB");
    for said in [&b""[..], b"dtn!\x04\x00"] {
        let mut enemy = listener.connect();
        enemy.write_all(said).expect("it leaves");
        enemy.set_read_timeout(Some(Duration::from_secs(30))).expect("it has one");
        assert!(enemy.read_to_end(&mut Vec::new()).is_ok(), "the listener ends it");
    }
}

#[test]
fn a_listener_that_closes_without_an_answer_may_be_full_or_require_tls() {
    let place = Place::new();
    place.write("file", bundle(100, b""));
    let peer = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let at = peer.local_addr().expect("it is bound").to_string();
    let sender = Running::start(&place, &["bundles", "send", "file", "--to", &at, "--over", "tcp"]);
    drop(peer.accept().expect("it comes"));
    let (code, _, output) = sender.end();
    assert_eq!((code, output.lines().count()), (Some(1), 1), "{output}");
    assert!(output.contains("may be full, or require TLS") || output.contains("reset"), "{output}");
}

// --- what is kept ---------------------------------------------------------------------------

#[test]
fn what_is_no_bundle_becomes_no_file_however_it_comes() {
    let listener = Listener::bundles("udp", "10 MB");
    let enemy = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    for datagram in [&[0x9f, 0xff][..], &[6], b"6 bytes", &[6, 0, 1, 0, 0, 0]] {
        enemy.send_to(datagram, &listener.at).expect("it leaves");
    }
    let bytes = noise(1 << 20);
    for round in 0..4000_usize {
        let start = round * 200;
        let mut datagram = bytes[start..start + 20 + round % 700].to_vec();
        datagram[0] = [6, 0x9f, (round % 256) as u8][round % 3];
        enemy.send_to(&datagram, &listener.at).expect("it is sent");
        if round % 50 == 0 {
            thread::sleep(Duration::from_millis(2));
        }
    }
    until("a bundle of version 6 is kept", || {
        enemy.send_to(&old_bundle(b"old"), &listener.at).expect("it leaves");
        listener.stored("inbox").0 > 0
    });
    listener.takes("udp", &["a"]);
    assert_eq!(listener.stored("inbox").0, 2);
    listener.is_calm(20, 5000);
    for (over, said) in
        [("tcp", "refused it"), ("ltp-udp", "the receiver gave it up"), ("ltp-dccp", "gave it up")]
    {
        let listener = Listener::bundles(over, "400 kB");
        let send = ["bundles", "send", "file", "--to", &listener.at, "--over", over];
        failed(&listener.place.run(&send), said);
        listener.takes(over, &["a"]);
        assert_eq!(listener.stored("inbox").0, 1, "{over}");
        assert!(listener.log().contains("it is not a bundle"), "{}", listener.log());
    }
}

#[test]
fn what_is_coming_counts_and_what_is_there_already() {
    let place = Place::new();
    std::fs::create_dir(place.path("inbox")).expect("a folder");
    for at in 0..20 {
        place.write(&format!("inbox/{at}"), "x");
    }
    place.write("large", bundle(60_000, b"large")).write("small", bundle(10_000, b"small"));
    // The files that are there take 82 kB of it.
    let words = ["bundles", "listen", "127.0.0.1:0", "--over", "tcp", "--max-stored", "120 kB"];
    let (_listener, at) = Running::listening(place.command(&words));
    let send = |file| place.run(&["bundles", "send", file, "--to", &at, "--over", "tcp"]);
    failed(&send("large"), "refused it");
    assert!(send("small").status.success(), "what was refused takes nothing");
    let files = || std::fs::read_dir(place.path("inbox")).expect("it is there").count();
    assert_eq!(files(), 21);
    // Half of a transfer takes the space of its received part, and gives it back.
    let mut half = TcpStream::connect(&at).expect("it listens");
    open_session(&mut half, 0);
    begin_transfer(&mut half, 20_000);
    until("half of it is here", || files() == 22);
    thread::sleep(Duration::from_millis(300));
    place.write("other", bundle(10_000, b"other"));
    failed(&send("other"), "refused it");
    drop(half);
    until("half of it is gone", || files() == 21);
    assert!(send("other").status.success());
}

// --- floods of datagrams --------------------------------------------------------------------

/// What an enemy sends over LTP: the beginning of block `number` of an engine, or noise.
fn ltp_segment(kind: &str, engine: u8, number: u8) -> Vec<u8> {
    // Red data of service 1 from offset 0 on, 16 bytes, no checkpoint (RFC 5326, section 3.2.1).
    let head = [0, engine & 0x7f, number & 0x7f, 0, 1, 0, 16];
    match kind {
        "noise" => noise(40)[usize::from(engine % 8)..].to_vec(),
        "cancellations" => vec![12, engine & 0x7f, number & 0x7f, 0, 0],
        _ => [&head[..], &noise(16)].concat(),
    }
}

#[test]
fn floods_of_datagrams_keep_no_bundle_out() {
    for (over, kind) in [
        ("udp", "noise"),
        ("ltp-udp", "half blocks"),
        ("ltp-udp", "cancellations"),
        ("ltp-udp", "noise"),
        ("dccp", "noise"),
        ("ltp-dccp", "noise"),
    ] {
        let listener = Listener::bundles(over, "400 kB");
        let over_now = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let enemies: Vec<UdpSocket> =
                    (0..100).map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket")).collect();
                for round in (0..100).cycle() {
                    for (at, enemy) in enemies.iter().enumerate() {
                        let _ = enemy.send_to(&ltp_segment(kind, at as u8, round), &listener.at);
                    }
                    if over_now.load(Ordering::Relaxed) {
                        return;
                    }
                    thread::sleep(Duration::from_millis(100));
                }
            });
            thread::sleep(Duration::from_millis(500));
            listener.takes(over, &["a", "b"]);
            over_now.store(true, Ordering::Relaxed);
        });
        listener.is_calm(30, 400_000);
    }
}

#[test]
fn peers_that_bring_a_trickle_keep_no_bundle_out() {
    for over in ["ltp-udp", "tcp"] {
        let listener = Listener::bundles(over, "10 MB");
        let ends = AtomicBool::new(false);
        let enemies: Vec<UdpSocket> =
            (0..64).map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket")).collect();
        let mut streams: Vec<TcpStream> =
            if over == "tcp" { (0..64).map(|_| listener.connect()).collect() } else { vec![] };
        for stream in &mut streams {
            open_session(stream, 0);
            begin_transfer(stream, 1024);
            let _ = stream.write_all(b"x");
        }
        thread::scope(|scope| {
            let (ends, listener) = (&ends, &listener);
            scope.spawn(move || {
                for round in 0_u8.. {
                    // 1 KiB in 2 s: red data of service 1 behind the earlier data.
                    for (engine, enemy) in enemies.iter().enumerate().filter(|_| over != "tcp") {
                        let offset = u32::from(round) * 1024;
                        let [high, low] = [offset >> 7 & 0x7f | 0x80, offset & 0x7f].map(|byte| byte as u8);
                        let head =
                            [0, engine as u8 + 2, 1, 0, 1, 0x80 | (offset >> 14) as u8, high, low, 0x88, 0];
                        let _ = enemy.send_to(&[&head[..], &noise(1024)].concat(), &listener.at);
                    }
                    for stream in &mut streams {
                        let flags = Flags::default();
                        let segment = Segment { flags, transfer: 0, items: Vec::new(), length: 1024 };
                        let _ = stream.write_all(&[said(&Message::Segment(segment)), noise(1024)].concat());
                    }
                    for _ in 0..20 {
                        thread::sleep(Duration::from_millis(100));
                        if ends.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                }
            });
            thread::sleep(Duration::from_secs(10));
            listener.takes(over, &["a", "b"]);
            ends.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn an_aggregated_block_is_not_read_into_memory() {
    let listener = Listener::bundles("ltp-udp", "400 MB");
    let names: Vec<String> = (0..6).map(|n| format!("b{n}")).collect();
    for name in &names {
        listener.place.write(name, bundle(10_000_000, name.as_bytes()));
    }
    let more = ["--to", &listener.at, "--over", "ltp-udp", "--aggregate", "100 MB", "--rate", "400 Mbit/s"];
    let words: Vec<&str> =
        ["bundles", "send"].into_iter().chain(names.iter().map(String::as_str)).chain(more).collect();
    listener.place.good(&words);
    until("all are here", || listener.stored("inbox").0 == 6);
    let peak = peak_kib(listener._process.0.id());
    assert!(peak < 50_000, "{peak} KiB");
}

/// The most memory that a process has had, in KiB.
pub fn peak_kib(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel states it");
    peak.trim().trim_end_matches(" kB").parse().expect("a number")
}

// --- other listeners ------------------------------------------------------------------------

#[test]
fn connections_that_say_nothing_keep_no_file_out_of_transfer() {
    for said in [&b""[..], b"x", &noise(3000)] {
        let listener = Listener::start(&[
            "transfer", "--listen", "AT", "--over", "tcp", "--folder", "inbox", "--once", "--json",
        ]);
        let enemies: Vec<TcpStream> = (0..150)
            .map(|_| {
                let mut stream = listener.connect();
                let _ = stream.write_all(said);
                stream
            })
            .collect();
        let words = ["transfer", "file", &listener.at, "--over", "tcp", "--give-up", "60 s"];
        let done = listener.place.run(&words);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(listener.place.read("inbox/file"), noise(20_000));
        listener.is_calm(12, 20_000);
        drop(enemies);
    }
}

#[test]
fn idle_connections_keep_nothing_out_where_address_space_or_descriptors_are_few() {
    for (limit, idle) in [("ulimit -v 500000", 64), ("ulimit -n 24", 20)] {
        let transfer = ["transfer", "--listen", "AT", "--over", "tcp", "--folder", "inbox"];
        let listener = Listener::limited(limit, &transfer);
        let enemies: Vec<TcpStream> = (0..idle).map(|_| listener.connect()).collect();
        let done =
            listener.place.run(&["transfer", "file", &listener.at, "--over", "tcp", "--give-up", "60 s"]);
        assert!(done.status.success(), "{limit}: {}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(listener.place.read("inbox/file"), noise(20_000));
        let listener = Listener::limited(limit, &["bundles", "listen", "AT", "--over", "tcp"]);
        let others: Vec<TcpStream> = (0..idle).map(|_| listener.connect()).collect();
        listener.takes("tcp", &["a", "b"]);
        drop((enemies, others));
    }
}

#[test]
fn connections_that_say_nothing_keep_no_consumer_from_a_publication() {
    let place = Place::new();
    place.write("file", noise(40_000));
    let words = ["names", "put", "/a", "file", "--listen", "tcp://127.0.0.1:0"];
    let (_producer, face) = Running::listening(place.command(&words));
    let at = face.trim_start_matches("tcp://");
    let enemies: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(at).expect("it listens")).collect();
    let done = place.run(&["names", "get", "/a", "-o", "out", "--face", &face, "--insecure"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(place.read("out"), noise(40_000));
    drop(enemies);
}

/// The header of a file, as any host can write it, and `here` bytes of the file.
fn header(length: u64, here: usize) -> Vec<u8> {
    let name = b"enemy";
    let mut bytes = b"llfile01".to_vec();
    bytes.extend(length.to_be_bytes());
    bytes.extend([7; 32]);
    bytes.push(name.len() as u8);
    bytes.extend(name);
    bytes.resize(300 + here, 0);
    bytes
}

#[test]
fn a_host_with_a_valid_header_ends_no_listener_that_waits_for_one_transfer() {
    let listener =
        Listener::start(&["transfer", "--listen", "AT", "--over", "tcp", "--folder", "inbox", "--once"]);
    for (length, here) in [(0, 0), (5, 2), (1000, 0), (1_000_000, 9000)] {
        let mut enemy = listener.connect();
        enemy.write_all(&header(length, here)).expect("it is taken");
    }
    listener.place.good(&["transfer", "file", &listener.at, "--over", "tcp", "--give-up", "60 s"]);
    let (over, words) =
        ("ltp-udp", ["transfer", "--listen", "AT", "--over", "ltp-udp", "--folder", "inbox", "--once"]);
    let listener = Listener::start(&words);
    let enemy = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    // A red block of service 70 that is a header and no file, whole; and then a cancellation of another.
    let block = header(1 << 20, 0);
    let segment = [&[3, 9, 1, 0, 70, 0, 0x82, 0x2c, 1, 0][..], &block].concat();
    enemy.send_to(&segment, &listener.at).expect("it leaves");
    enemy.send_to(&[&[0, 9, 2, 0, 70, 0, 0x82, 0x2c][..], &block].concat(), &listener.at).expect("it leaves");
    thread::sleep(Duration::from_millis(300));
    enemy.send_to(&[12, 9, 2, 0, 0], &listener.at).expect("it leaves");
    thread::sleep(Duration::from_secs(3));
    listener.place.good(&["transfer", "file", &listener.at, "--over", over, "--give-up", "60 s"]);
    assert_eq!(listener.place.read("inbox/file"), noise(20_000));
}

/// Seconds that processors were busy with a process.
fn busy(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit_once(") ").expect("its name ends").1.split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum();
    ticks as f64 / 100.0
}

#[test]
fn a_publication_without_descriptors_waits_and_serves_on() {
    let place = Place::new();
    place.write("file", noise(40_000));
    let mut command = std::process::Command::new("sh");
    command.current_dir(place.path("")).args(["-c", "ulimit -n 24; exec \"$0\" \"$@\""]);
    command.args([
        env!("CARGO_BIN_EXE_lightlag"),
        "names",
        "put",
        "/a",
        "file",
        "--listen",
        "tcp://127.0.0.1:0",
    ]);
    let (producer, face) = Running::listening(command);
    let at = face.trim_start_matches("tcp://");
    let enemies: Vec<TcpStream> = (0..60).map(|_| TcpStream::connect(at).expect("it listens")).collect();
    let before = busy(producer.0.id());
    thread::sleep(Duration::from_secs(3));
    let spent = busy(producer.0.id()) - before;
    assert!(spent < 0.6, "{spent} s of 3 s");
    let done = place.run(&["names", "get", "/a", "-o", "out", "--face", &face, "--insecure"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    drop(enemies);
}

#[test]
fn fragments_of_packets_that_never_become_whole_take_little_memory_of_a_publication() {
    let place = Place::new();
    place.write("file", noise(40_000));
    let words = ["names", "put", "/a", "file", "--listen", "udp://127.0.0.1:0"];
    let (producer, face) = Running::listening(place.command(&words));
    let at = face.trim_start_matches("udp://");
    let mut frame = vec![0x64, 21, 0x51, 8];
    for peer in 0..1024_u32 {
        let [.., a, b] = peer.to_be_bytes();
        let socket = UdpSocket::bind((std::net::Ipv4Addr::new(127, 9, a, b.max(1)), 0)).expect("a port");
        for packet in 0..256_u64 {
            frame.truncate(4);
            frame.extend((600 * packet + 1).to_be_bytes());
            frame.extend([0x52, 2, 0, 1, 0x53, 2, 2, 0, 0x50, 1, b'x']);
            let _ = socket.send_to(&frame, at);
        }
    }
    let done = place.run(&["names", "get", "/a", "-o", "out", "--face", &face, "--insecure"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let peak = peak_kib(producer.0.id());
    assert!(peak < 60_000, "{peak} KiB");
}
