//! The page of a daemon and its events, over real sockets.

use super::pair::{Extra, Pair, free_port, local, wait_for};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A daemon with a page.
fn paged() -> (Pair, SocketAddr) {
    let page = local(free_port());
    (Pair::start(Extra { far: &format!("page = \"{page}\""), ..Extra::default() }), page)
}

fn asked(page: SocketAddr, path: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(page).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {page}\r\n{headers}\r\n").unwrap();
    stream
}

fn get(page: SocketAddr, path: &str, headers: &str) -> (String, Vec<u8>) {
    let mut said = Vec::new();
    asked(page, path, &format!("connection: close\r\n{headers}")).read_to_end(&mut said).unwrap();
    let end = said.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    (String::from_utf8(said[..end].to_vec()).unwrap(), said[end + 4..].to_vec())
}

/// Events, as a browser reads them.
struct Events(BufReader<TcpStream>);

impl Events {
    /// The head of the answer, and the events.
    fn of(page: SocketAddr) -> (String, Self) {
        let mut reader = BufReader::new(asked(page, "/events", "accept: text/event-stream\r\n"));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        (head, Self(reader))
    }
    fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the events ended");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }
}

#[test]
fn the_page_is_that_of_all_of_lightlag_with_the_events_as_its_source() {
    let (_pair, page) = paged();
    let (head, body) = get(page, "/", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'sha256-"), "{head}");
    assert_eq!(body, lightlag_page::html().as_bytes());
    let (head, body) = get(page, "/", "accept-encoding: gzip, br\r\n");
    assert!(head.contains("content-encoding: gzip") && body == lightlag_page::compressed(), "{head}");
    let (_, body) = get(page, "/sources.json", "");
    let sources: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(sources, serde_json::json!([{ "kind": "live", "title": "lightlagd", "url": "events" }]));
}

#[test]
fn each_event_is_the_status_and_the_next_one_is_later() {
    let (pair, page) = paged();
    let (head, mut events) = Events::of(page);
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("content-type: text/event-stream"), "{head}");
    let (first, second) = (events.next(), events.next());
    let keys = |status: &Value| status.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&first), keys(&pair.far.status()));
    assert_eq!(first["peers"][0]["name"], "near");
    assert!(second["age_s"].as_f64() > first["age_s"].as_f64(), "{first} {second}");
}

#[test]
fn events_go_to_a_bounded_number_of_pages_and_make_room_when_one_is_closed() {
    let (pair, page) = paged();
    let mut open: Vec<Events> = Vec::new();
    let refused = loop {
        let (head, events) = Events::of(page);
        if !head.starts_with("HTTP/1.1 200") {
            break head;
        }
        open.push(events);
        assert!(open.len() <= 1000, "listeners are bounded");
    };
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert_eq!(open.len(), 32);
    let mut last = open.pop().unwrap();
    last.next();
    drop(last);
    wait_for("room for another page", || {
        let (head, events) = Events::of(page);
        let has_room = head.starts_with("HTTP/1.1 200");
        open.extend(has_room.then_some(events));
        has_room
    });
    open.iter_mut().for_each(|events| assert!(events.next()["version"].is_string()));
    assert!(pair.far.ask(&["health"]).status.success());
}

#[test]
fn events_are_for_names_of_this_machine_only_and_end_with_the_daemon() {
    let (mut pair, page) = paged();
    let mut stream = TcpStream::connect(page).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 403"), "{said}");
    let (_, mut events) = Events::of(page);
    events.next();
    pair.far.kill();
    let mut rest = Vec::new();
    let _ = events.0.read_to_end(&mut rest);
}
