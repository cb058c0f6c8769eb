//! Who has no key learns nothing, and costs nothing that lasts.

use super::pair::{Extra, PROGRAM, Pair, free_port, keygen, local};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_stranger_with_a_key_of_its_own_is_not_let_in() {
    let pair = Pair::start(Extra::default());
    let folder = tempfile::tempdir().unwrap();
    keygen(folder.path());
    let settings = fs::read_to_string(pair.near.folder.join("lightlagd.toml")).unwrap();
    let (before, _) = settings.split_once("[listen]").unwrap();
    let before = before.replace(&format!(":{}", pair.way.ports.0), &format!(":{}", pair.ports[0]));
    fs::write(folder.path().join("lightlagd.toml"), before).unwrap();
    let mut stranger = Command::new(PROGRAM)
        .args(["run", "-c"])
        .arg(folder.path().join("lightlagd.toml"))
        .stderr(fs::File::create(folder.path().join("log")).unwrap())
        .spawn()
        .unwrap();
    super::pair::wait_for("the stranger's failure", || {
        fs::read_to_string(folder.path().join("log")).unwrap().contains("tcp cannot be had")
            || fs::read_to_string(folder.path().join("log")).unwrap().contains("tcp ended")
    });
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    let log = pair.far.log();
    assert_eq!(log.matches("tcp connected").count(), 1, "{log}");
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn half_open_requests_and_noise_cost_bounded_memory() {
    let pair = Pair::start(Extra { far: "[limits]\nhandshakes = 32\n", ..Extra::default() });
    let [tcp, udp, _] = pair.ports;
    let before = resident_kib(pair.far.pid());
    let mut held = Vec::new();
    for at in 0..600_u32 {
        let mut stream = TcpStream::connect(local(tcp)).unwrap();
        // The beginning of a ClientHello, or noise.
        let said: &[u8] =
            if at % 2 == 0 { &[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3] } else { b"GET / HTTP/1.1\r\n\r\n" };
        let _ = stream.write_all(said);
        held.push(stream);
    }
    let socket = UdpSocket::bind(local(0)).unwrap();
    for at in 0..20_000_u32 {
        let noise: Vec<u8> = at.to_be_bytes().iter().cycle().take(100).copied().collect();
        let _ = socket.send_to(&noise, local(udp));
    }
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(socket.recv(&mut [0; 100]).is_err(), "noise is not answered");
    // Whoever has a key gets in all the same.
    let target = super::streams::Target::start(true);
    let (sent, back) = super::streams::exchange(pair.connect(target.port, "").unwrap(), 5, 100_000);
    sent.unwrap();
    assert!(back.is_whole);
    let grown = resident_kib(pair.far.pid()).saturating_sub(before);
    assert!(grown < 20 * 1024, "{grown} KiB more");
    held[0].set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = Vec::new();
    let _ = held[0].read_to_end(&mut answer);
    assert!(answer.len() < 10, "the first one is let go without a word: {answer:?}");
}

#[test]
fn keys_and_the_control_socket_are_their_owners_alone() {
    let pair = Pair::start(Extra::default());
    for (file, mode) in [("key.pem", 0o600), ("state", 0o700), ("state/control.sock", 0o600)] {
        let found = fs::metadata(pair.near.folder.join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{file}");
    }
    let again = pair.near.ask(&["run"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("another lightlagd runs on this state"));
}

#[test]
fn wrong_settings_are_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let key = keygen(folder.path());
    let file = folder.path().join("lightlagd.toml");
    let port = free_port();
    let peer = format!("[[peer]]\nname = \"a\"\nkey = \"{key}\"\n");
    for (text, said) in [
        (
            "[[peer]]\nname = \"a\"\nkey = \"ed25519:x\"\n".to_owned(),
            "lightlagd.toml:3: \"ed25519:x\" is no public key",
        ),
        ("soks = 1\n".to_owned(), "lightlagd.toml:1: unknown field `soks`"),
        ("[[socks]]\nlisten = \"localhost\"\n".to_owned(), "lightlagd.toml:2: invalid socket address syntax"),
        (
            format!("{peer}serve = [\"10.0.0.0/99\"]\n"),
            "lightlagd.toml:4: \"10.0.0.0/99\": the length must be 0 to 32",
        ),
        (format!("{peer}stack = \"sctp\"\n"), "lightlagd.toml:4: unknown variant `sctp`"),
        (format!("{peer}{peer}"), "two peers are called \"a\""),
        (
            format!("[[forward]]\nlisten = \"127.0.0.1:{port}\"\nto = \"x\"\npeer = \"b\"\n"),
            "there is no peer \"b\"",
        ),
        (
            format!("[[socks]]\nlisten = \"127.0.0.1:{port}\"\npriority = 4\n"),
            "priority 4; it must be 0 to 3",
        ),
    ] {
        fs::write(&file, &text).unwrap();
        for verb in ["check", "run"] {
            let told = Command::new(PROGRAM).args([verb, "-c"]).arg(&file).output().unwrap();
            let line = String::from_utf8_lossy(&told.stderr).into_owned();
            assert_eq!(told.status.code(), Some(2), "{text}: {line}");
            assert!(line.contains(said) && line.lines().count() == 1, "{text}: {line}");
        }
    }
}
