//! What a sender reports of a TCPCLv4 peer that refuses, ends or breaks: each reason by its meaning.

use crate::lightlag::Place;
use crate::lightlag::running::{Running, noise};
use lightlag_protocols::wire::tcpcl::{
    Contact, Flags, Init, Item, Message, RefuseReason, RejectReason, Segment, TermReason,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// What the peer does after the first segment of the first bundle, or before its SESS_INIT.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Refuses each transfer.
    Refuse(u8),
    /// Ends the session in the middle of the first transfer, and answers nothing more.
    Term(u8),
    /// Acknowledges the first transfer, then ends the session.
    TermLater(u8),
    /// Ends it instead of opening it.
    TermFirst(u8),
    /// Rejects the segment.
    Reject(u8),
    /// Closes the connection.
    Close,
}

fn bytes(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write(&mut bytes);
    bytes
}

/// Plays a peer for one session: `keepalive_s` and `segment` are those of its SESS_INIT.
fn play(mut stream: TcpStream, act: Act, keepalive_s: u16, segment: u64) -> std::io::Result<()> {
    let mut contact = [0; 6];
    stream.read_exact(&mut contact)?;
    stream.write_all(&Contact { version: 4, can_tls: false }.to_bytes())?;
    if let Act::TermFirst(reason) = act {
        let reason = TermReason::from_number(reason);
        stream.write_all(&bytes(&Message::Term { reply: false, reason }))?;
        return stream.read_to_end(&mut Vec::new()).map(|_| ());
    }
    let node = "ipn:9.0".to_owned();
    let init = Init { keepalive_s, segment_mru: segment, transfer_mru: 1 << 30, node, items: Vec::new() };
    stream.write_all(&bytes(&Message::Init(init)))?;
    let (mut seen, mut refused, mut length, mut chunk) = (Vec::new(), None, 0, [0; 65536]);
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        seen.extend_from_slice(&chunk[..count]);
        while let Ok(Some((message, used))) = Message::read(&seen) {
            let mut used = used;
            if let Message::Segment(segment) = &message {
                if seen.len() < used + segment.length as usize {
                    break;
                }
                used += segment.length as usize;
            }
            seen.drain(..used);
            let Message::Segment(segment) = message else { continue };
            let transfer = segment.transfer;
            match act {
                Act::Refuse(reason) if refused != Some(transfer) => {
                    refused = Some(transfer);
                    let reason = RefuseReason::from_number(reason);
                    stream.write_all(&bytes(&Message::Refuse { reason, transfer }))?;
                }
                Act::Term(reason) | Act::TermLater(reason) => {
                    if matches!(act, Act::TermLater(_)) {
                        length += segment.length;
                        let flags: Flags = segment.flags;
                        stream.write_all(&bytes(&Message::Ack { flags, transfer, length }))?;
                        if !flags.end {
                            continue;
                        }
                    }
                    let reason = TermReason::from_number(reason);
                    stream.write_all(&bytes(&Message::Term { reply: false, reason }))?;
                    let _ = stream.shutdown(std::net::Shutdown::Write);
                    return stream.read_to_end(&mut Vec::new()).map(|_| ());
                }
                Act::Reject(reason) => {
                    let reason = RejectReason::from_number(reason);
                    stream.write_all(&bytes(&Message::Reject { reason, message: 1 }))?;
                    return stream.read_to_end(&mut Vec::new()).map(|_| ());
                }
                Act::Close => return Ok(()),
                _ => {}
            }
        }
    }
}

/// Sends three bundles to a peer that acts so; exit code, lines of results and errors.
fn sent(place: &Place, act: Act, keepalive_s: u16, segment: u64) -> (Option<i32>, String, String) {
    let peer = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let at = peer.local_addr().expect("it is bound").to_string();
    let words = ["bundles", "send", "a", "b", "c", "--to", &at, "--over", "tcp", "--json"];
    let sender = Running::start(place, &words);
    let (stream, _) = peer.accept().expect("it comes");
    let player = std::thread::spawn(move || play(stream, act, keepalive_s, segment));
    let ended = sender.end();
    // The sender may have closed while the peer wrote.
    let _ = player.join().expect("the peer plays to the end");
    ended
}

#[test]
fn every_reason_of_a_peer_is_reported_by_its_meaning() {
    let place = Place::new();
    // The second is larger than what sockets hold: the third has not begun when the peer ends the session.
    place.write("a", noise(3_000)).write("b", noise(12_000_000)).write("c", noise(1));
    let refusals =
        ["no reason given", "", "out of resources", "must be sent again", "does not take the bundle"];
    let refusals =
        refusals.into_iter().chain(["an extension of the transfer", "the session is ending", "reason 7"]);
    for (reason, words) in refusals.enumerate() {
        for (keepalive_s, segment) in [(0, 1 << 20), (1, 10_000), (65_535, 100_000)] {
            let (code, out, said) = sent(&place, Act::Refuse(reason as u8), keepalive_s, segment);
            // 1: the peer has the bundle already.
            let expected = i32::from(reason != 1);
            assert_eq!((code, out.lines().count()), (Some(expected), 3), "{reason}: {out}{said}");
            for line in out.lines() {
                let is_right =
                    if reason == 1 { line.contains("\"acknowledged\":true") } else { line.contains(words) };
                assert!(is_right, "{reason}: {line}");
            }
        }
    }
    let ends = ["no reason given", "nothing came for too long", "another version", "it is busy"];
    let ends =
        ends.into_iter().chain(["what the two sides want does not fit", "out of resources", "reason 6"]);
    for (reason, words) in ends.enumerate() {
        for act in [Act::Term(reason as u8), Act::TermLater(reason as u8)] {
            let (code, out, said) = sent(&place, act, 30, 1 << 20);
            let here = usize::from(matches!(act, Act::TermLater(_)));
            assert_eq!((code, out.lines().count()), (Some(1), 3), "{act:?}: {out}{said}");
            assert_eq!(out.matches("\"acknowledged\":true").count(), here, "{act:?}: {out}");
            assert_eq!(out.lines().filter(|line| line.contains(words)).count(), 3 - here, "{act:?}: {out}");
        }
        let (code, out, said) = sent(&place, Act::TermFirst(reason as u8), 30, 1 << 20);
        let first = match reason {
            3 => "the listener is busy; try again later",
            4 => "TLS",
            5 => "the listener is full; try again later",
            _ => words,
        };
        assert!(code == Some(1) && out.is_empty() && said.lines().count() == 1, "{reason}: {out}{said}");
        assert!(said.contains(first), "{reason}: {said}");
    }
    for (reason, words) in
        [(1, "the type is unknown"), (2, "not supported"), (3, "not expected now"), (9, "reason 9")]
    {
        let (code, out, said) = sent(&place, Act::Reject(reason), 30, 1 << 20);
        assert_eq!(code, Some(1), "{reason}: {out}{said}");
        assert!(format!("{out}{said}").contains(words), "{reason}: {out}{said}");
    }
    let (code, out, said) = sent(&place, Act::Close, 30, 1 << 20);
    assert_eq!(code, Some(1), "{out}{said}");
    assert!(
        format!("{out}{said}").contains("the connection ended in the middle of the session"),
        "{out}{said}"
    );
}

#[test]
fn a_listener_says_why_a_transfer_is_refused_by_its_form() {
    let place = Place::new();
    let log = place.path("log");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    let at = free.to_string();
    let words = ["bundles", "listen", &at, "--over", "tcp", "--opaque", "--max-size", "2 kB"];
    let mut command = place.command(&words);
    command.stderr(std::fs::File::create(&log).expect("a file")).stdout(std::process::Stdio::null());
    let listener = Running(command.spawn().expect("it starts"));
    let said = || std::fs::read_to_string(&log).expect("a log");
    let comes = |words: &str| {
        (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            said().contains(words)
        })
    };
    assert!(comes("listening at"), "{}", said());
    let only = Flags { start: true, end: true, others: 0 };
    let segment = |length: u64, total: u64, sent: usize| {
        let segment = Segment { flags: only, transfer: 0, items: Vec::new(), length }.with_total(total);
        [bytes(&Message::Segment(segment)), vec![0; sent]].concat()
    };
    let critical = Item { is_critical: true, kind: 77, value: Vec::new() };
    let unknown = Segment { flags: only, transfer: 0, items: vec![critical], length: 1 };
    let cases = [
        (segment(3_000, 3_000, 0), "it has more than 2000 bytes (--max-size)", 2),
        (segment(10, 11, 10), "it has another length than its sender announced", 4),
        ([bytes(&Message::Segment(unknown)), vec![0]].concat(), "an extension of the transfer is unknown", 5),
    ];
    for (sent, words, reason) in cases {
        let mut peer = TcpStream::connect(&at).expect("it listens");
        let node = "ipn:9.0".to_owned();
        let init = Init { keepalive_s: 30, segment_mru: 9000, transfer_mru: 9000, node, items: Vec::new() };
        let opening = [&Contact { version: 4, can_tls: false }.to_bytes()[..], &bytes(&Message::Init(init))];
        peer.write_all(&[&opening.concat()[..], &sent].concat()).expect("it leaves");
        assert!(comes(words), "{words}: {}", said());
        let refusal = bytes(&Message::Refuse { reason: RefuseReason::from_number(reason), transfer: 0 });
        let mut heard = Vec::new();
        let mut chunk = [0; 1000];
        while !heard.windows(refusal.len()).any(|part| part == refusal) {
            let count = peer.read(&mut chunk).expect("it answers");
            assert!(count > 0, "{words}: {heard:?}");
            heard.extend_from_slice(&chunk[..count]);
        }
    }
    drop(listener);
}
