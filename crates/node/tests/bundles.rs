//! A listener of bundles, and engines played by the test.

use lightlag_node::convergence::{BundleStore, Event, LTP_UDP, Listening};
use lightlag_node::transports::ListenOptions;
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// What a listener answers to each datagram, all of which leave from one port.
fn answers(said: &[&[u8]]) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let listening = Listening {
        options: ListenOptions { at: ANY, packet: Bytes(1500), raw: false, tap: None },
        store: BundleStore::new(folder.path(), 1000, None).expect("a store").opaque(true),
        count: None,
        reply_to: None,
        idle: Duration::from_secs(60),
        key: None,
        node: String::new(),
    };
    let (done, (tell, hear)) = (&AtomicBool::new(false), channel());
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut watch = |event| {
                if let Event::Listening(at) = event {
                    tell.send(at).expect("somebody waits");
                }
                !done.load(Ordering::Relaxed)
            };
            LTP_UDP.listen(listening, &mut watch).expect("it listens");
        });
        let engine = UdpSocket::bind(ANY).expect("a socket");
        engine.set_read_timeout(Some(std::time::Duration::from_secs(5))).expect("it has one");
        let to = hear.recv().expect("an address");
        let answer = |bytes: &&[u8]| {
            engine.send_to(bytes, to).expect("it leaves");
            let mut answer = vec![0; 2000];
            let length = engine.recv(&mut answer).map_or(0, |length| length);
            answer.truncate(length);
            answer
        };
        let heard = said.iter().map(answer).collect();
        done.store(true, Ordering::Relaxed);
        heard
    })
}

#[test]
fn a_cancellation_of_a_session_that_nobody_knows_is_acknowledged() {
    // RFC 5326, section 6.17: CS of session 5.9, and CAS.
    assert_eq!(answers(&[&[12, 5, 9, 0, 0]]), [[13, 5, 9, 0]]);
}

#[test]
fn an_engine_that_begins_anew_with_another_number_is_heard_at_the_same_address() {
    let block = |engine| [3, engine, 9, 0, 1, 0, 1, 3, 0, b'x'];
    let give_up = |engine| [12, engine, 9, 0, 0];
    let heard = answers(&[&block(5), &give_up(5), &block(6)]);
    assert_eq!((heard[0][..2].to_vec(), heard[2][..2].to_vec()), (vec![8, 5], vec![8, 6]));
}

#[test]
fn all_segments_of_a_datagram_are_read() {
    // RFC 5326, section 5.
    let both = [[12, 5, 9, 0, 0], [3, 5, 10, 0, 1]].concat();
    assert_eq!(answers(&[&both]), [[13, 5, 9, 0]], "what follows and cannot be read harms nothing");
    let block = [&[0, 5, 9, 0, 1, 0, 1, b'a'][..], &[3, 5, 9, 0, 1, 1, 1, 3, 0, b'b']].concat();
    let report = &answers(&[&block])[0];
    assert!(report.ends_with(&[3, 2, 0, 1, 0, 2]), "both bytes are there: {report:?}");
}
