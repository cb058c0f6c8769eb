//! How often a durable stream is given to its target, whenever the far daemon is killed.

use super::pair::{Extra, PATIENCE, Pair, local, wait_for};
use super::streams::{receive, send};
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

const LENGTH: u64 = 300_000;

/// A target that reads streams to their end and holds the connections open; it reports those that came whole.
fn holding() -> (u16, Receiver<(u64, TcpStream)>) {
    let listener = TcpListener::bind(local(0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tells, told) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let tells = tells.clone();
            thread::spawn(move || {
                let got = receive(&mut stream, || true);
                if got.is_whole {
                    let _ = tells.send((got.number, stream));
                }
            });
        }
    });
    (port, told)
}

/// Gives a stream, kills the far daemon `pause` after the target has it, or after it was begun, and starts it
/// again; returns how often the target had it whole.
fn given(pair: &mut Pair, number: u64, after_end: bool, pause: Duration) -> usize {
    let (port, told) = holding();
    let mut stream = pair.connect(port, "durable").unwrap();
    send(&mut stream, number, LENGTH).unwrap();
    let mut held = Vec::new();
    if after_end {
        held.push(told.recv_timeout(PATIENCE).unwrap());
    }
    thread::sleep(pause);
    pair.far.kill();
    pair.far.start();
    pair.wait_until_connected();
    if held.is_empty() {
        held.push(told.recv_timeout(PATIENCE).expect("it comes whole at least once"));
    }
    // What is given again begins at once.
    while let Ok(again) = told.recv_timeout(Duration::from_secs(2)) {
        held.push(again);
    }
    assert!(held.iter().all(|(of, _)| *of == number));
    held.len()
}

#[test]
fn a_target_that_has_read_the_end_and_not_closed_is_given_a_stream_once() {
    let mut pair = Pair::start(Extra::default());
    for number in 1..4 {
        // Longer than a write to the disk takes.
        assert_eq!(given(&mut pair, number, true, Duration::from_millis(500)), 1, "stream {number}");
    }
}

/// A target that answers a connection with a reset, as soon as it has read `after` bytes.
fn resetting(after: usize) -> u16 {
    let listener = TcpListener::bind(local(0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // A small buffer: what it has not read is not acknowledged.
            let socket = socket2::SockRef::from(&stream);
            socket.set_recv_buffer_size(4096).unwrap();
            socket.set_linger(Some(Duration::ZERO)).unwrap();
            let _ = stream.read_exact(&mut vec![0; after]);
            // The end of a short stream waits in the daemon's kernel meanwhile.
            thread::sleep(Duration::from_millis(300));
        }
    });
    port
}

#[test]
fn a_target_that_resets_before_it_has_the_whole_stream_is_not_taken_to_have_it() {
    let pair = Pair::start(Extra::default());
    let streams = [(8_000_000, 0), (8_000_000, 1), (8_000_000, 2_000_000), (60_000, 0), (60_000, 1000)];
    for (number, (length, after)) in streams.into_iter().enumerate() {
        let mut stream = pair.connect(resetting(after), "durable").unwrap();
        // The daemon accepts it whole; only then the application looks at what became of it.
        let sent = send(&mut stream, number as u64, length);
        let answer = sent.and_then(|()| stream.read(&mut [0; 1]));
        assert!(answer.is_err(), "after {after} bytes the application saw {answer:?}, not a reset");
        wait_for("a line in the log", || pair.far.log().matches("end=\"aborted\"").count() == number + 1);
    }
}

#[test]
#[ignore = "minutes; run by make torture"]
fn kills_at_any_moment_give_a_stream_at_least_once() {
    let mut pair = Pair::start(Extra::default());
    let (mut twice, rounds) = (0, 60_u64);
    for number in 0..rounds {
        let pause = Duration::from_micros(number.wrapping_mul(7919) % 40_000);
        let count = given(&mut pair, number, number.is_multiple_of(2), pause);
        assert!((1..=2).contains(&count), "{count} times");
        twice += u32::from(count > 1);
    }
    println!(
        "torture: kills around the end of a durable stream; {rounds} streams, each at least once; {rounds} kills, \
         {twice} streams given twice;"
    );
}
