//! `lightlag emulate` between network namespaces, as users run it. What needs root is skipped without.

use crate::lightlag::running::Running;
use crate::lightlag::{Place, repository};
use crate::skip::skip;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// 20 ms in each direction, one packet in fifty lost.
const LOSSY: &str = r#"
duration = "1 min"
[links.space]
from = "near"
to = "far"
rate = "100 Mbit/s"
round_trip = "20 ms"
loss = 0.02
[flows.one]
from = "near"
to = "far"
controller = "cubic"
"#;

/// Whether namespaces and devices can be made here; if not, the test is skipped.
pub fn can_make_devices() -> bool {
    let lacks = [
        (!geteuid().is_root(), "not root"),
        (!Path::new("/dev/net/tun").exists(), "no /dev/net/tun"),
        (Command::new("ip").arg("-V").output().is_err(), "no command `ip`"),
    ];
    match lacks.iter().find(|lack| lack.0) {
        Some(lack) => skip(lack.1),
        None => return may_make_devices(),
    }
    false
}

/// Root in a container may not be allowed what root is.
fn may_make_devices() -> bool {
    static PROBES: AtomicU32 = AtomicU32::new(0);
    let name = format!("probe-{}-{}", std::process::id(), PROBES.fetch_add(1, Ordering::Relaxed));
    let ip = |words: &[&str]| Command::new("ip").args(words).output().is_ok_and(|done| done.status.success());
    let may =
        ip(&["netns", "add", &name]) && ip(&["-n", &name, "tuntap", "add", "mode", "tun", "name", "probe"]);
    ip(&["netns", "del", &name]);
    if !may {
        skip("root may not make namespaces and devices here");
    }
    may
}

fn place(plan: &str) -> Place {
    let place = Place::new();
    place.write("plan.toml", plan);
    place
}

/// Namespaces that a process has made and that are still there.
fn namespaces_of(process: u32) -> Vec<String> {
    let Ok(folder) = std::fs::read_dir("/run/netns") else { return Vec::new() };
    let names = folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_of = |name: &String| {
        [format!("-{process}-"), format!("-{process}.")].iter().any(|part| name.contains(part))
    };
    names.filter(is_of).collect()
}

/// Starts it and waits until both sides are there.
fn started(place: &Place, words: &[&str]) -> Running {
    let mut command = place.command(words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("its errors are read"));
    let mut line = String::new();
    while !line.starts_with("far:") {
        line.clear();
        assert!(lines.read_line(&mut line).expect("it prints where its sides are") > 0, "it ended");
    }
    std::thread::spawn(move || lines.read_to_string(&mut String::new()));
    Running(child)
}

#[test]
fn what_the_command_ends_with_is_told_and_nothing_is_left() {
    if !can_make_devices() {
        return;
    }
    let place = place(LOSSY);
    let words = ["emulate", "plan.toml", "--capture", "all.pcapng", "--table", "seconds.csv", "--json", "--"];
    let mut run = place.command(&[&words[..], &["sh", "-c", "ip -o addr; exit 7"]].concat());
    let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let process = child.id();
    let (code, out, output) = Running(child).end();
    assert_eq!(code, Some(7), "{output}");
    assert!(out.contains("10.77.0.1/24") && out.contains("fd77::1/64"), "{out}");
    let json: serde_json::Value = serde_json::from_str(out.lines().last().expect("JSON")).expect("JSON");
    assert_eq!(json["exit_code"], 7);
    assert!(json["timing_error_us"]["p99"].is_number(), "{json}");
    assert_eq!(namespaces_of(process), [""; 0]);
    assert!(
        place
            .read("seconds.csv")
            .starts_with(b"second,direction,offered,dropped,lost,arrived,bytes,delay_s\n")
    );
    assert!(place.good(&["capture", "all.pcapng"]).contains("packets"));
}

#[test]
fn the_kernels_tcp_carries_a_file_whole_over_a_link_that_loses() {
    if !can_make_devices() {
        return;
    }
    let place = place(LOSSY);
    let sent: Vec<u8> =
        (0..3_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    place.write("file", &sent);
    let lightlag = env!("CARGO_BIN_EXE_lightlag");
    let listen =
        format!("{lightlag} transfer --listen 10.77.0.2:4561 --over tcp --once --folder got >listened");
    let send = format!("until {lightlag} transfer file 10.77.0.2 --over tcp >sent; do sleep 0.1; done; wait");
    let words = ["emulate", "plan.toml", "--json", "--capture", "c.pcapng", "--far", &listen, "--"];
    let run = Running::start(&place, &[&words[..], &["sh", "-c", &send]].concat());
    let (code, out, output) = run.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(place.read("got/file") == sent, "it came otherwise");
    let json: serde_json::Value = serde_json::from_str(out.trim()).expect("JSON");
    assert!(json["there"]["lost"].as_u64() > Some(0), "{json}");
    // Large segments were cut before they met the link.
    assert!(json["there"]["offered"].as_u64() > Some(8_000), "{json}");
    let flows: serde_json::Value =
        serde_json::from_str(&place.good(&["capture", "c.pcapng", "--json"])).expect("JSON");
    assert!(flows["flows"].as_array().is_some_and(|flows| !flows.is_empty()), "{flows}");
}

/// Two namespaces of this test.
pub struct Pair(pub [String; 2]);

impl Pair {
    pub fn new(name: &str) -> Self {
        let pair = Self(["a", "b"].map(|side| format!("{name}{}{side}", std::process::id())));
        for name in &pair.0 {
            assert!(Command::new("ip").args(["netns", "add", name]).status().expect("`ip` runs").success());
        }
        pair
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

/// A socket inside a namespace.
pub fn socket(namespace: &str, at: &'static str) -> UdpSocket {
    let namespace = File::open(Path::new("/run/netns").join(namespace)).expect("it is there");
    let entering = std::thread::spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .expect("it is entered");
        UdpSocket::bind(at).expect("the address is there")
    });
    entering.join().expect("it is bound")
}

#[test]
fn a_datagram_between_two_namespaces_takes_the_round_trip_of_the_plan() {
    if !can_make_devices() {
        return;
    }
    let place = place(&LOSSY.replace("0.02", "0.0").replace("20 ms", "200 ms"));
    let pair = Pair::new("ping");
    let [near, far] = &pair.0;
    let run = started(&place, &["emulate", "plan.toml", "--between", near, far, "--table", "t.parquet"]);
    for (from, to) in [("10.77.0.1:9000", "10.77.0.2:9000"), ("[fd77::1]:9000", "[fd77::2]:9000")] {
        let (here, there) = (socket(near, from), socket(far, to));
        let began = Instant::now();
        here.send_to(b"ping", to).expect("it is sent");
        let mut bytes = [0; 9];
        let (length, back) = there.recv_from(&mut bytes).expect("it comes");
        assert!(began.elapsed() >= Duration::from_millis(100));
        there.send_to(&bytes[..length], back).expect("it is sent");
        here.recv_from(&mut bytes).expect("it comes back");
        assert!(began.elapsed() >= Duration::from_millis(200));
        assert_eq!(&bytes[..length], b"ping");
    }
    kill_process(Pid::from_child(&run.0), Signal::INT).expect("it is there");
    assert_eq!(run.end().0, Some(0));
    assert!(place.read("t.parquet").starts_with(b"PAR1"));
    assert!(pair.0.iter().all(|name| Path::new("/run/netns").join(name).exists()), "they are not ours");
}

#[test]
fn what_the_command_leaves_running_is_ended() {
    if !can_make_devices() {
        return;
    }
    let place = place(LOSSY);
    let words = ["emulate", "plan.toml", "--", "sh", "-c", "sleep 3600 >/dev/null 2>&1 & echo $!"];
    let process = place.good(&words).trim().to_owned();
    let runs = || {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    let began = Instant::now();
    while runs() {
        assert!(began.elapsed() < Duration::from_secs(60), "process {process} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_has_no_room_in_memory_is_dropped_and_counted() {
    if !can_make_devices() {
        return;
    }
    // Room for the bytes of the queue in large packets, and not for as many bytes in small ones.
    let place = place(&LOSSY.replace("100 Mbit/s", "8 kbit/s").replace("loss = 0.02", "queue = \"1 MB\""));
    let pair = Pair::new("memory");
    let [near, far] = &pair.0;
    let words = ["emulate", "plan.toml", "--memory", "2.5 MB", "--json", "--between", near, far];
    let run = started(&place, &words);
    let here = socket(near, "10.77.0.1:9000");
    for _ in 0..100_000 {
        // The far side may answer that the port is closed.
        let _ = here.send_to(b"x", "10.77.0.2:9000");
    }
    kill_process(Pid::from_child(&run.0), Signal::INT).expect("it is there");
    let (code, out, output) = run.end();
    assert_eq!(code, Some(0), "{output}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(json["there"]["no_memory"].as_u64() > Some(0), "{json}");
}

#[test]
fn a_run_that_is_ended_or_killed_leaves_no_namespaces() {
    if !can_make_devices() {
        return;
    }
    let place = place(LOSSY);
    let words = ["emulate", "plan.toml", "--far", "sleep 60", "--", "sleep"];
    let run = started(&place, &[&words[..], &["60"]].concat());
    let process = run.0.id();
    assert_eq!(namespaces_of(process).len(), 2);
    kill_process(Pid::from_child(&run.0), Signal::TERM).expect("it is there");
    // 128 and SIGTERM, which the command was ended with too.
    assert_eq!(run.end().0, Some(143));
    assert_eq!(namespaces_of(process), [""; 0]);

    let killed = started(&place, &["emulate", "plan.toml", "--", "sleep", "1"]);
    let process = killed.0.id();
    drop(killed);
    place.good(&["emulate", "plan.toml", "--", "true"]);
    assert_eq!(namespaces_of(process), [""; 0]);
}

#[test]
fn a_study_between_kernels_that_is_interrupted_twice_leaves_no_daemons_and_no_namespaces() {
    if !can_make_devices() {
        return;
    }
    if !Path::new(env!("CARGO_BIN_EXE_lightlag")).with_file_name("lightlagd").exists() {
        return println!("skipped: lightlagd is not built");
    }
    let place = Place::new();
    let mut command = place.command(&["study", "adaptive", "--real", "--quick", "--out", "out"]);
    let run = Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"));
    let process = run.0.id();
    let of_study = || namespaces_of(process).into_iter();
    let daemons = |name: &String| {
        let output = Command::new("ip").args(["netns", "pids", name]).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let began = Instant::now();
    let running = loop {
        let running: Vec<String> = of_study().flat_map(|name| daemons(&name)).collect();
        if running.len() >= 4 {
            break running;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "no daemons: {running:?}");
        std::thread::sleep(Duration::from_millis(100));
    };
    for _ in 0..2 {
        kill_process(Pid::from_child(&run.0), Signal::INT).expect("it is there");
        std::thread::sleep(Duration::from_millis(500));
    }
    let (code, _, output) = run.end();
    assert!(code != Some(0) && output.contains("interrupted"), "{code:?}: {}", output);
    assert_eq!(of_study().collect::<Vec<_>>(), [""; 0]);
    for id in running {
        assert!(!Path::new("/proc").join(&id).exists(), "process {id} still runs");
    }
}

#[test]
fn what_cannot_be_emulated_is_refused_in_one_line() {
    let place = place(&LOSSY.replace("100 Mbit/s", "100 Gbit/s").replace("20 ms", "20 s"));
    place.write("lossy.toml", LOSSY).write("none.toml", "duration = \"1 s\"\n");
    for (words, said) in [
        (&["plan.toml", "--", "true"][..], "--memory: the plan's rates and delays keep up to"),
        (&["lossy.toml"], "what is the link between?"),
        (&["lossy.toml", "--far", "true"], "what is the link between?"),
        (&["none.toml", "--", "true"], "none.toml"),
        (&["lossy.toml", "--mtu", "10 B", "--", "true"], "--mtu: 10 B is not an MTU"),
        (&["lossy.toml", "--table", "seconds.txt", "--", "true"], "--table: seconds.txt is not a table"),
        (&["lossy.toml", "--listen", "0", "--", "true"], "--listen"),
        (&["lossy.toml", "--link", "moon", "--", "true"], "--link: unknown link `moon`"),
    ] {
        let output = place.refused(&[&["emulate"], words].concat());
        assert!(output.contains(said), "{words:?}: {}", output);
    }
    if can_make_devices() {
        for (words, said) in [
            (&["lossy.toml", "--", "no-such-program"][..], "cannot find the command `no-such-program`"),
            (&["lossy.toml", "--between", "no-such", "netns"], "unknown network namespace `no-such`"),
        ] {
            let done = place.run(&[&["emulate"], words].concat());
            let output = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(done.status.code(), Some(2), "{output}");
            assert!(output.contains(said), "{words:?}: {}", output);
        }
    }
}

#[test]
fn without_root_one_line_says_what_is_missing() {
    let plan = repository("scenarios/papers/adaptive_short.toml");
    let plan = plan.canonicalize().expect("it is there");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lightlag"));
    command.current_dir("/").args(["emulate", plan.to_str().expect("a name"), "--", "true"]);
    if geteuid().is_root() {
        // The user `nobody`.
        command.uid(65_534);
    }
    match command.output() {
        Ok(done) if done.status.code() == Some(2) => {
            let output = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(output.contains("need root") || output.contains("cannot read"), "{output}");
            assert_eq!(output.lines().count(), 1, "{output}");
        }
        Ok(done) => panic!("{:?}", done.status),
        Err(why) => skip(format_args!("the user `nobody` cannot run the command: {why}")),
    }
}
