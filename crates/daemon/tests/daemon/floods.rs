//! Daemons that have few file descriptors, and hosts that take all they can get.

use super::pair::{Extra, Pair, free_port, local, wait_for};
use super::streams::{Got, Target, exchange};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Connections that say nothing; the daemon may have closed some.
fn silent(to: SocketAddr, count: usize) -> Vec<TcpStream> {
    (0..count).filter_map(|_| TcpStream::connect(to).ok()).collect()
}

/// Restarts both with at most `most` descriptors.
pub fn limit_descriptors(pair: &mut Pair, most: u32) {
    for daemon in [&mut pair.near, &mut pair.far] {
        daemon.kill();
        daemon.by = vec!["prlimit".to_owned(), format!("--nofile={most}")];
        daemon.start();
    }
    pair.wait_until_connected();
}

/// One that tries again while it is refused.
fn exchanges(pair: &Pair, target: &Target, number: u64) {
    let mut stream = None;
    wait_for("a connection", || {
        stream = pair.connect(target.port, "").ok();
        stream.is_some()
    });
    let (sent, back) = exchange(stream.unwrap(), number, 100_000);
    sent.unwrap();
    assert_eq!(back, Got { number: number ^ u64::MAX, length: 100_000, is_whole: true });
}

/// Sends a line and reads it again.
fn says_again(stream: &mut TcpStream) {
    stream.write_all(b"hello").unwrap();
    let mut said = [0; 5];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"hello");
}

fn echo() -> u16 {
    let listener = std::net::TcpListener::bind(local(0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
        }
    });
    port
}

/// A port at which the kernel answers no more connections, as long as this is held.
fn unanswering() -> (u16, Vec<socket2::Socket>) {
    let new = || socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let listener = new();
    listener.bind(&local(0).into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = vec![listener];
    for _ in 0..4 {
        let fills = new();
        fills.set_nonblocking(true).unwrap();
        let _ = fills.connect(&address);
        held.push(fills);
    }
    (address.as_socket().unwrap().port(), held)
}

#[test]
fn targets_that_do_not_answer_leave_the_owner_its_descriptors() {
    let mut pair = Pair::start(Extra::default());
    limit_descriptors(&mut pair, 64);
    let again = echo();
    let mut before = pair.connect(again, "").unwrap();
    says_again(&mut before);
    let (port, _held) = unanswering();
    let asks = |_| {
        let mut stream = TcpStream::connect(pair.socks).unwrap();
        let mut asked = vec![5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1];
        asked.extend(port.to_be_bytes());
        let _ = stream.write_all(&asked);
        stream
    };
    let pending: Vec<TcpStream> = (0..120).map(asks).collect();
    wait_for("connections that wait", || {
        pair.far.status()["peers"][0]["connections"].as_array().is_some_and(|all| all.len() > 5)
    });
    for _ in 0..10 {
        assert!(pair.far.ask(&["status"]).status.success() && pair.near.ask(&["status"]).status.success());
        std::thread::sleep(Duration::from_millis(50));
    }
    says_again(&mut before);
    drop(pending);
    assert!(pair.far.ask(&["stop"]).status.success());
}

fn floods(descriptors: u32) {
    let page = free_port();
    let mut pair = Pair::start(Extra { far: &format!("page = \"127.0.0.1:{page}\""), ..Extra::default() });
    limit_descriptors(&mut pair, descriptors);
    let target = Target::start(true);
    let again = echo();
    let mut before = pair.connect(again, "").unwrap();
    says_again(&mut before);
    let mut held = Vec::new();
    for door in [pair.socks, pair.http, local(pair.ports[0]), local(page)] {
        held.push(silent(door, 400));
        for daemon in [&pair.near, &pair.far] {
            assert!(daemon.ask(&["status"]).status.success(), "{door}");
        }
        says_again(&mut before);
    }
    // Silent connections do not block others.
    exchanges(&pair, &target, 1);
    // Those that have what they want stay; there are no more then.
    let all: Vec<TcpStream> = (0..300).map_while(|_| pair.connect(again, "").ok()).collect();
    println!(
        "torture: silent hosts at four ports; {} connections beside them; {descriptors} file descriptors; 1600 silent \
         connections",
        all.len()
    );
    assert!(all.len() >= 5 && all.len() < descriptors as usize, "{}", all.len());
    for daemon in [&pair.near, &pair.far] {
        assert!(daemon.ask(&["status"]).status.success());
        let lines = daemon.log().lines().count();
        assert!(lines < 150, "{lines} lines");
    }
    says_again(&mut before);
    drop(all);
    exchanges(&pair, &target, 2);
    drop(held);
    for daemon in [&mut pair.near, &mut pair.far] {
        assert!(daemon.ask(&["stop"]).status.success());
        wait_for("its end", || daemon.has_ended());
    }
}

#[test]
fn hosts_that_take_all_of_64_descriptors_hold_neither_the_owner_nor_connections_up() {
    floods(64);
}

#[test]
fn hosts_that_take_all_of_256_descriptors_hold_neither_the_owner_nor_connections_up() {
    floods(256);
}

#[test]
fn a_request_that_does_not_end_is_given_up() {
    let pair = Pair::start(Extra::default());
    let mut stream = TcpStream::connect(pair.http).unwrap();
    stream.write_all(b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: ").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
    let mut said = Vec::new();
    // It is closed, with an answer or without one; a timeout of this side would be an error.
    stream.read_to_end(&mut said).unwrap();
}

/// Whether the other side has closed it.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    !matches!(stream.read(&mut [0]), Err(why) if why.kind() == std::io::ErrorKind::WouldBlock)
}

fn connect_from(address: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((address, 0)).into()).unwrap();
    socket.connect(&to.into()).unwrap();
    socket.into()
}

#[test]
fn a_handshake_on_a_slow_path_is_not_dropped_for_silent_connections_nor_for_those_of_a_host_that_has_many() {
    let pair = Pair::start(Extra::default());
    let to = local(pair.ports[0]);
    // A TLS record of a ClientHello, and its first byte.
    let speaks = |mut stream: TcpStream| {
        stream.write_all(&[22, 3, 1, 1, 0, 1]).unwrap();
        stream
    };
    let slow = speaks(connect_from([127, 0, 0, 1], to));
    std::thread::sleep(Duration::from_millis(200));
    let silent = silent(to, 600);
    assert!(!is_closed(&slow), "silent connections of the same host");
    drop(silent);
    let many: Vec<TcpStream> = (0..600).map(|_| speaks(connect_from([127, 0, 0, 2], to))).collect();
    assert!(!is_closed(&slow), "a host with many handshakes");
    assert!(is_closed(&many[0]), "the oldest of them has gone");
}
