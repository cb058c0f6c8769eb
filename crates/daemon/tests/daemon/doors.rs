//! How applications come in, and what they see.

use super::floods::limit_descriptors;
use super::pair::{Extra, Pair, first_line, free_port, local, socks, wait_for};
use super::streams::{Got, Target, exchange};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

const LENGTH: u64 = 3_000_000;

fn check(stream: TcpStream, target: &Target, number: u64) {
    let (sent, back) = exchange(stream, number, LENGTH);
    sent.unwrap();
    assert_eq!(back, Got { number: number ^ u64::MAX, length: LENGTH, is_whole: true });
    assert_eq!(target.next(), Got { number, length: LENGTH, is_whole: true });
}

#[test]
fn streams_come_whole_by_every_door_and_every_stack() {
    let target = Target::start(true);
    let forward = free_port();
    let near = format!("[[forward]]\nlisten = \"127.0.0.1:{forward}\"\nto = \"web\"\npeer = \"far\"\n");
    let far = format!("[services]\nweb = \"127.0.0.1:{}\"\n", target.port);
    let pair = Pair::start(Extra { near: &near, far: &far, ..Extra::default() });
    for (at, stack) in ["tcp", "udpdtn"].into_iter().enumerate() {
        pair.switch(stack);
        let number = 10 * (at as u64 + 1);
        check(pair.connect(target.port, "").unwrap(), &target, number);
        check(socks(pair.socks, "web.lightlag", 80, "").unwrap(), &target, number + 1);
        check(pair.connect(target.port, "durable,priority=3,peer=far").unwrap(), &target, number + 2);
        check(TcpStream::connect(local(forward)).unwrap(), &target, number + 3);
        let mut http = TcpStream::connect(pair.http).unwrap();
        write!(http, "CONNECT 127.0.0.1:{} HTTP/1.1\r\nHost: x\r\n\r\n", target.port).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            http.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        check(http, &target, number + 4);
        let status = pair.near.status();
        assert_eq!(status["peers"][0]["stack"], stack);
    }
}

#[test]
fn the_example_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let folder = folder.path();
        std::process::Command::new(super::pair::PROGRAM).current_dir(folder).args(arguments).output().unwrap()
    };
    assert!(run(&["example", "."]).status.success());
    for name in ["near", "far"] {
        let told = run(&["check", "-c", &format!("{name}/lightlagd.toml")]);
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    }
    assert_eq!(run(&["example", "."]).status.code(), Some(2), "keys are never overwritten");
}

#[test]
fn applications_are_told_why_they_cannot_connect() {
    let pair =
        Pair::start(Extra { far_peer: "serve = [\"127.0.0.1:1\", \"nothing\"]\n", ..Extra::default() });
    assert_eq!(pair.connect(1, "").unwrap_err().kind(), ErrorKind::ConnectionRefused);
    assert_eq!(pair.connect(2, "").unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert!(socks(pair.socks, "nothing.lightlag", 80, "").is_err(), "a service that is not there");
    assert!(pair.connect(1, "priority=9").unwrap_err().to_string().contains("refused"));
    let mut http = TcpStream::connect(pair.http).unwrap();
    write!(http, "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert!(first_line(&mut http).contains("405"));
    let mut http = TcpStream::connect(pair.http).unwrap();
    write!(http, "CONNECT 127.0.0.1:2 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert!(first_line(&mut http).contains("403"));
}

#[test]
fn a_reset_and_a_half_close_are_seen_at_the_other_end() {
    let pair = Pair::start(Extra::default());
    let target = std::net::TcpListener::bind(local(0)).unwrap();
    let mut here = pair.connect(target.local_addr().unwrap().port(), "").unwrap();
    let (mut there, _) = target.accept().unwrap();
    here.write_all(b"said").unwrap();
    here.shutdown(Shutdown::Write).unwrap();
    let mut heard = String::new();
    there.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "said");
    there.write_all(b"answered").unwrap();
    drop(there);
    heard.clear();
    here.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "answered", "a half-closed stream continues in the other direction");
    let mut here = pair.connect(target.local_addr().unwrap().port(), "").unwrap();
    let (there, _) = target.accept().unwrap();
    nix::sys::socket::setsockopt(
        &there,
        nix::sys::socket::sockopt::Linger,
        &nix::libc::linger { l_onoff: 1, l_linger: 0 },
    )
    .unwrap();
    drop(there);
    assert_eq!(here.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    wait_for("no connections", || {
        pair.far.status()["peers"][0]["connections"].as_array().unwrap().is_empty()
    });
}

/// An application of UDP, and the connection that holds its association.
struct Associated {
    socket: UdpSocket,
    relay: SocketAddr,
    _held: TcpStream,
}

impl Associated {
    fn new(pair: &Pair) -> Self {
        let mut held = TcpStream::connect(pair.socks).unwrap();
        held.write_all(&[5, 1, 0]).unwrap();
        held.read_exact(&mut [0; 2]).unwrap();
        held.write_all(&[5, 3, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        let mut answer = [0; 10];
        held.read_exact(&mut answer).unwrap();
        assert_eq!(answer[1], 0);
        let socket = UdpSocket::bind(local(0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { socket, relay: local(u16::from_be_bytes([answer[8], answer[9]])), _held: held }
    }
    fn send(&self, port: u16, said: &[u8]) {
        let port = port.to_be_bytes();
        let head = [0, 0, 0, 1, 127, 0, 0, 1, port[0], port[1]];
        self.socket.send_to(&[&head[..], said].concat(), self.relay).unwrap();
    }
    /// Sends to a target, which answers.
    #[track_caller]
    fn exchange(&self, target: &UdpSocket, said: &str) {
        let port = target.local_addr().unwrap().port();
        self.send(port, said.as_bytes());
        let mut buffer = [0; 100];
        let (length, from) = target.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], said.as_bytes());
        target.send_to(format!("re: {said}").as_bytes(), from).unwrap();
        let length = self.socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[10..length], format!("re: {said}").as_bytes());
        assert_eq!(&buffer[8..10], port.to_be_bytes());
    }
}

fn datagram_target() -> UdpSocket {
    let target = UdpSocket::bind(local(0)).unwrap();
    target.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    target
}

#[test]
fn datagrams_of_applications_come_and_are_answered() {
    let pair = Pair::start(Extra::default());
    let (target, application) = (datagram_target(), Associated::new(&pair));
    for said in ["one", "two", ""] {
        application.exchange(&target, said);
    }
}

/// Far has places for 102 connections, or 59 descriptors for them: targets of datagrams, of which one
/// application has more, make room for others.
fn targets_make_room(pair: &Pair) {
    let (target, flooding, other) = (datagram_target(), Associated::new(pair), Associated::new(pair));
    let silent: Vec<UdpSocket> = (0..200).map(|_| datagram_target()).collect();
    other.exchange(&target, "before");
    for _ in 0..2 {
        for one in &silent {
            flooding.send(one.local_addr().unwrap().port(), b"x");
            one.recv(&mut [0; 9]).unwrap();
        }
    }
    let echo = TcpListener::bind(local(0)).unwrap();
    let mut here = pair.connect(echo.local_addr().unwrap().port(), "").unwrap();
    let (mut there, _) = echo.accept().unwrap();
    here.write_all(b"hello").unwrap();
    there.read_exact(&mut [0; 5]).unwrap();
    other.exchange(&target, "after");
    flooding.exchange(&silent[0], "again");
}

#[test]
fn targets_of_datagrams_make_room_where_places_are_short() {
    let pair = Pair::start(Extra { far: "[limits]\nmemory = \"8 MiB\"\n", ..Extra::default() });
    targets_make_room(&pair);
}

#[test]
fn targets_of_datagrams_make_room_where_descriptors_are_short() {
    let mut pair = Pair::start(Extra::default());
    limit_descriptors(&mut pair, 80);
    targets_make_room(&pair);
}
