//! Listeners of which one peer is behind an interface with a small MTU.

use crate::emulate::{Pair, can_make_devices, socket};
use crate::lightlag::Place;
use crate::lightlag::running::{Running, noise};
use lightlag_protocols::time::{Duration as Span, Instant};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::udpdtn::{Body, Data, Opening, Packet};
use std::process::Command;
use std::time::Duration;

/// Two namespaces and a link of this MTU between them: 10.77.9.1 and 10.77.9.2.
fn linked(name: &str, mtu: &str) -> Option<Pair> {
    if !can_make_devices() {
        return None;
    }
    let pair = Pair::new(name);
    let [near, far] = &pair.0;
    let ip = |words: &str| {
        let done = Command::new("ip").args(words.split(' ')).status().expect("`ip` runs");
        assert!(done.success(), "ip {words}");
    };
    ip(&format!("-n {near} link set lo up"));
    ip(&format!("-n {near} link add name veth0 type veth peer name veth0 netns {far}"));
    for (namespace, address) in [(near, "10.77.9.1/24"), (far, "10.77.9.2/24")] {
        ip(&format!("-n {namespace} link set veth0 mtu {mtu} up"));
        ip(&format!("-n {namespace} addr add {address} dev veth0"));
    }
    Some(pair)
}

/// The command in a namespace.
fn inside(namespace: &str, place: &Place, words: &[&str]) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, env!("CARGO_BIN_EXE_lightlag")]).args(words);
    command.current_dir(place.path(".")).env("XDG_STATE_HOME", place.path(".state"));
    command
}

#[track_caller]
fn good(mut command: Command) {
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_consumer_behind_a_small_mtu_takes_the_publication_from_nobody() {
    let Some(pair) = linked("names", "1280") else { return };
    let [near, far] = &pair.0;
    let place = Place::new();
    place.write("file", noise(3_000_000));
    let put = inside(near, &place, &["names", "put", "/a", "file", "--listen", "udp://0.0.0.0:0"]);
    let (mut producer, face) = Running::listening(put);
    let port = face.rsplit(':').next().expect("its port").to_owned();
    let get = |namespace: &str, host: &str, out: &str| {
        let face = format!("udp://{host}:{port}");
        inside(namespace, &place, &["names", "get", "/a", "--insecure", "-o", out, "--face", &face])
    };
    let asking = Running(get(far, "10.77.9.1", "far").spawn().expect("it starts"));
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(200));
        good(get(near, "127.0.0.1", "near"));
        assert_eq!(place.read("near"), noise(3_000_000));
    }
    drop(asking);
    assert_eq!(producer.0.try_wait().expect("it can be asked"), None);
}

#[test]
fn reports_that_are_too_large_for_one_sender_end_no_listener() {
    let Some(pair) = linked("mtu", "576") else { return };
    let [near, far] = &pair.0;
    let place = Place::new();
    place.write("file", noise(300_000));
    let (mut listener, at) =
        Running::listening(inside(near, &place, &["transfer", "--listen", "0.0.0.0:0", "--folder", "into"]));
    let port = at.rsplit(':').next().expect("its port").to_owned();
    // One symbol of each of many blocks: the report lists all of them.
    let (session, report_every) = (77, Span::from_nanos(10_000_000));
    let opening = Opening {
        length: Bytes(6_000_000),
        symbol: 100,
        block_symbols: 10,
        digest: [9; 32],
        name: "x",
        report_every,
    };
    let sender = socket(far, "10.77.9.2:0");
    let to = format!("10.77.9.1:{port}");
    let send = |body| sender.send_to(&Packet { session, body }.to_bytes(), &to).expect("it is sent");
    send(Body::Open(opening));
    for number in 0..3000 {
        let data = Data {
            number,
            block: number as u16,
            symbol: 3,
            stamp: Instant::ZERO,
            in_train: false,
            report_every,
        };
        send(Body::Data(data, &[7; 100]));
        if number % 50 == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    good(inside(near, &place, &["transfer", "file", &format!("127.0.0.1:{port}"), "--give-up", "10 s"]));
    assert_eq!(place.read("into/file"), noise(300_000));
    assert_eq!(listener.0.try_wait().expect("it can be asked"), None);
}
