//! Who has no key learns nothing, and costs nothing that lasts.

use super::pair::{Extra, PROGRAM, Pair, free_port, keygen, local};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

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
    let told = || fs::read_to_string(folder.path().join("log")).unwrap();
    super::pair::wait_for("the failure of the unknown daemon", || {
        told().contains("the peer does not know our key; add ed25519:")
    });
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    let own = told();
    assert!(!own.contains("TCP connected") && own.matches("TCP connection failed").count() == 1, "{own}");
    let log = pair.far.log();
    assert_eq!(log.matches("rejected an unknown peer key").count(), 1, "{log}");
    assert_eq!(log.matches("TCP connected").count(), 1, "{log}");
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn the_page_is_not_read_by_a_name_that_somebody_made_lead_here() {
    let page = local(free_port());
    let _pair = Pair::start(Extra { far: &format!("page = \"{page}\""), ..Extra::default() });
    let answer = |host: &str| {
        let mut stream = TcpStream::connect(page).unwrap();
        write!(stream, "GET /status HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    };
    for host in [page.to_string(), format!("localhost:{}", page.port()), "[::1]:80".to_owned()] {
        assert!(answer(&host).starts_with("HTTP/1.1 200"), "{host}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example:80", ""] {
        assert!(answer(host).starts_with("HTTP/1.1 403"), "{host:?}");
    }
}

#[test]
fn what_its_owner_wants_is_told_though_it_carries_already() {
    let pair = Pair::start(Extra::default());
    pair.switch("tcp");
    let told = || pair.near.status()["peers"][0].clone();
    super::pair::wait_for("the reason", || told()["why"] == "chosen by the operator");
    assert_eq!((told()["wanted"].as_str(), told()["stack"].as_str()), (Some("tcp"), Some("tcp")));
}

/// What the near daemon says first to the far one, by TCP and by UDP: a ClientHello and a sealed datagram.
fn overheard(pair: &Pair) -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(pair.near.folder.join("key.pem"), folder.path().join("key.pem")).unwrap();
    let (tcp, udp) = (TcpListener::bind(local(0)).unwrap(), UdpSocket::bind(local(0)).unwrap());
    udp.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let settings = fs::read_to_string(pair.near.folder.join("lightlagd.toml")).unwrap();
    let (peer, _) = settings.split_once("[listen]").unwrap();
    let ports =
        [(pair.way.ports.0, tcp.local_addr().unwrap()), (pair.way.ports.1, udp.local_addr().unwrap())];
    let peer = ports.iter().fold(peer.to_owned(), |text, (port, to)| {
        text.replace(&format!("127.0.0.1:{port}"), &to.to_string())
    });
    fs::write(folder.path().join("lightlagd.toml"), peer).unwrap();
    let mut twin = Command::new(PROGRAM)
        .args(["run", "-c"])
        .arg(folder.path().join("lightlagd.toml"))
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let (mut stream, _) = tcp.accept().unwrap();
    let [mut hello, mut datagram] = [vec![0; 4096], vec![0; 4096]];
    let length = stream.read(&mut hello).unwrap();
    hello.truncate(length);
    let length = udp.recv(&mut datagram).unwrap();
    datagram.truncate(length);
    twin.kill().unwrap();
    twin.wait().unwrap();
    (hello, datagram)
}

#[test]
fn half_open_requests_and_noise_cost_bounded_memory() {
    let pair = Pair::start(Extra { far: "[limits]\nhandshakes = 32\n", ..Extra::default() });
    let [tcp, udp, _] = pair.ports;
    let (hello, mut datagram) = overheard(&pair);
    if let Some(last) = datagram.last_mut() {
        *last ^= 1;
    }
    let before = pair.far.resident_kib();
    let mut held = Vec::new();
    for at in 0..600_u32 {
        let mut stream = TcpStream::connect(local(tcp)).unwrap();
        // The beginning of a ClientHello, a whole one, or noise.
        let said = [&hello[..11], &hello[..], b"GET / HTTP/1.1\r\n\r\n"][at as usize % 3];
        let _ = stream.write_all(said);
        held.push(stream);
    }
    let socket = UdpSocket::bind(local(0)).unwrap();
    for at in 0..20_000_u32 {
        let noise: Vec<u8> = at.to_be_bytes().iter().cycle().take(100).copied().collect();
        let said = if at % 2 == 0 { &noise } else { &datagram };
        let _ = socket.send_to(said, local(udp));
    }
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(socket.recv(&mut [0; 100]).is_err(), "noise is not answered");
    // A host with a key gets in all the same.
    let target = super::streams::Target::start(true);
    let (sent, back) = super::streams::exchange(pair.connect(target.port, "").unwrap(), 5, 100_000);
    sent.unwrap();
    assert!(back.is_whole);
    let grown = pair.far.peak_kib().saturating_sub(before);
    assert!(grown < 20 * 1024, "{grown} KiB more");
    held[0].set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = Vec::new();
    let _ = held[0].read_to_end(&mut answer);
    assert!(answer.len() < 10, "the first one is closed without an answer: {answer:?}");
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
            "lightlagd.toml:3: \"ed25519:x\" is not a public key",
        ),
        ("soks = 1\n".to_owned(), "lightlagd.toml:1: unknown field `soks`"),
        (
            "[[socks]]\nlisten = \"localhost\"\n".to_owned(),
            "lightlagd.toml:2: \"localhost\"; it must be an address and a port, as in 127.0.0.1:1080",
        ),
        ("page = 80\n".to_owned(), "lightlagd.toml:1: invalid type: integer `80`, expected a string"),
        (
            "[limits]\nconnections = \"many\"\n".to_owned(),
            "lightlagd.toml:2: invalid type: string \"many\", expected a whole number, 0 or more",
        ),
        (
            "[limits]\nwindow = \"64 XB\"\n".to_owned(),
            "lightlagd.toml:2: `XB` is not a unit of size; units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
        ),
        (
            "[limits]\nwindow = -1\n".to_owned(),
            "lightlagd.toml:2: it must be a quantity, as in \"64 MiB\" or \"1 Mbit/s\"",
        ),
        (
            format!("{peer}serve = [\"10.0.0.0/99\"]\n"),
            "lightlagd.toml:4: \"10.0.0.0/99\": the length must be 0 to 32",
        ),
        (format!("{peer}stack = \"sctp\"\n"), "lightlagd.toml:4: unknown variant `sctp`"),
        (format!("{peer}{peer}"), "two peers are called \"a\""),
        (
            format!("[[forward]]\nlisten = \"127.0.0.1:{port}\"\nto = \"x\"\npeer = \"b\"\n"),
            "unknown peer \"b\"",
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
