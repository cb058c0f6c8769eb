//! Applications that send distinguishable streams, and report what they received.

use super::pair::PATIENCE;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// A stream begins with its number and its length.
const HEAD: usize = 16;

/// What was got of a stream: always its beginning, without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Got {
    pub number: u64,
    /// Bytes that came.
    pub length: u64,
    /// It ended as its sender wanted, with all bytes.
    pub is_whole: bool,
}

fn words(number: u64) -> impl FnMut() -> u64 {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Reported in place of a stream that is not as it was sent.
const WRONG: Got = Got { number: u64::MAX, length: u64::MAX, is_whole: true };

/// Sends a stream to its end.
pub fn send(to: &mut TcpStream, number: u64, length: u64) -> io::Result<()> {
    to.write_all(&[number.to_be_bytes(), length.to_be_bytes()].concat())?;
    let mut next = words(number);
    let mut left = length;
    while left > 0 {
        let part: Vec<u8> = (0..(left.min(1 << 16)).div_ceil(8)).flat_map(|_| next().to_be_bytes()).collect();
        let size = left.min(part.len() as u64);
        to.write_all(&part[..size as usize])?;
        left -= size;
    }
    to.shutdown(Shutdown::Write)
}

/// Reads a stream to its end, and checks every byte. `is_known`: a write to the same socket has failed with
/// the reset. The kernel reports a reset only once; later reads see an end.
pub fn receive(from: &mut TcpStream, is_known: impl FnOnce() -> bool) -> Got {
    let mut head = [0; HEAD];
    if from.read_exact(&mut head).is_err() {
        return Got { number: 0, length: 0, is_whole: false };
    }
    let [number, length] = [0, 8].map(|at| u64::from_be_bytes(head[at..at + 8].try_into().unwrap()));
    let mut next = words(number);
    let (mut got, mut word, mut used) = (0, [0; 8], 8);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => {
                // A stream that was cut off must not look as one that has ended.
                let is_whole = got == length;
                assert!(is_whole || is_known(), "stream {number} ended early: {got} of {length} bytes");
                return Got { number, length: got, is_whole };
            }
            Ok(read) => {
                for byte in &buffer[..read] {
                    if used == 8 {
                        (word, used) = (next().to_be_bytes(), 0);
                    }
                    assert_eq!(*byte, word[used], "stream {number} at {got}");
                    (used, got) = (used + 1, got + 1);
                }
                assert!(got <= length, "stream {number} has more than was sent");
            }
            Err(_) => return Got { number, length: got, is_whole: false },
        }
    }
}

/// A target that reads a stream and sends one of the same length at the same time; reports what it got.
pub struct Target {
    pub port: u16,
    pub got: Receiver<Got>,
}

impl Target {
    /// `answers`: it sends a stream, too; else it only closes.
    pub fn start(answers: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tells, got) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let tells = tells.clone();
                thread::spawn(move || serve(stream, answers, &tells));
            }
        });
        Self { port, got }
    }
    pub fn next(&self) -> Got {
        let got = self.got.recv_timeout(2 * PATIENCE).expect("a stream comes to its end");
        assert_ne!(got, WRONG);
        got
    }
    /// All that were reported up to now.
    pub fn all(&self) -> Vec<Got> {
        let all: Vec<Got> = self.got.try_iter().collect();
        assert!(!all.contains(&WRONG), "a stream is wrong at its target");
        all
    }
}

fn serve(mut stream: TcpStream, answers: bool, tells: &Sender<Got>) {
    let mut back = stream.try_clone().unwrap();
    let answer = answers.then(|| {
        let mut peeked = [0; HEAD];
        while stream.peek(&mut peeked).is_ok_and(|length| length < HEAD && length > 0) {
            thread::sleep(Duration::from_millis(1));
        }
        let [number, length] = [0, 8].map(|at| u64::from_be_bytes(peeked[at..at + 8].try_into().unwrap()));
        thread::spawn(move || send(&mut back, number ^ u64::MAX, length))
    });
    let mut answer = answer;
    let mut is_cut = || answer.take().is_some_and(|answer| answer.join().is_ok_and(|sent| sent.is_err()));
    // An error is reported, too: a panic in a thread fails no test.
    let got = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| receive(&mut stream, &mut is_cut)));
    let got = got.unwrap_or(WRONG);
    is_cut();
    drop(stream);
    let _ = tells.send(got);
}

/// Sends a stream and reads the other one at the same time; returns the results of both.
pub fn exchange(stream: TcpStream, number: u64, length: u64) -> (io::Result<()>, Got) {
    let (mut from, mut to) = (stream.try_clone().unwrap(), stream);
    let mut sends = Some(thread::spawn(move || send(&mut to, number, length)));
    let mut sent = None;
    let mut is_cut = || {
        sent = sent.take().or_else(|| sends.take().map(|sends| sends.join().unwrap()));
        sent.as_ref().is_some_and(Result::is_err)
    };
    let back = receive(&mut from, &mut is_cut);
    is_cut();
    (sent.unwrap(), back)
}
