//! A path with outages, and a daemon that lost its state.

use super::pair::{Extra, Pair, wait_for};
use super::streams::{Got, Target, exchange};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The path is up and down for half a second each, while streams run in both directions.
fn flap(seconds: u64, length: u64) {
    let pair = Pair::start(Extra::default());
    let (door, target, over) = (pair.socks, Target::start(true), AtomicBool::new(false));
    let application = |number: u64, wishes: &str| {
        let mut number = number;
        loop {
            let stream = super::pair::socks(door, "127.0.0.1", target.port, wishes).unwrap();
            let (sent, back) = exchange(stream, number, length);
            sent.unwrap();
            assert_eq!(back, Got { number: number ^ u64::MAX, length, is_whole: true });
            number += 1;
            if over.load(Ordering::SeqCst) {
                return number;
            }
        }
    };
    let count: u64 = thread::scope(|scope| {
        let firsts = [(1000, ""), (2000, "durable")];
        let applications =
            firsts.map(|(first, wishes)| (first, scope.spawn(move || application(first, wishes))));
        let begun = Instant::now();
        let mut hard = false;
        while begun.elapsed() < Duration::from_secs(seconds) {
            pair.way.cut(hard);
            thread::sleep(Duration::from_millis(500));
            pair.way.mend();
            thread::sleep(Duration::from_millis(500));
            hard = !hard;
        }
        over.store(true, Ordering::SeqCst);
        applications.map(|(first, one)| one.join().unwrap() - first).into_iter().sum()
    });
    for _ in 0..count {
        let got = target.next();
        assert!(got.is_whole && got.length == length, "{got:?}");
    }
}

#[test]
fn a_way_that_comes_and_goes_each_second_cuts_nothing_off() {
    flap(6, 8_000_000);
}

#[test]
#[ignore = "it takes half a minute"]
fn a_way_that_comes_and_goes_for_half_a_minute_cuts_nothing_off() {
    flap(30, 100_000_000);
}

/// While streams run in both directions, the far daemon is killed and loses its state.
fn lose_state(wishes: &str) {
    let mut pair = Pair::start(Extra::default());
    // Epochs that begin within one second are distinguished only by the stored state.
    thread::sleep(Duration::from_millis(1100));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut here = pair.connect(listener.local_addr().unwrap().port(), wishes).unwrap();
    let (mut there, _) = listener.accept().unwrap();
    let byte = |at: usize| (at % 251) as u8;
    let sent: Vec<u8> = (0..1_000_000).map(byte).collect();
    here.write_all(&sent).unwrap();
    let mut got = vec![0; sent.len()];
    there.read_exact(&mut got).unwrap();
    assert!(got == sent);
    there.write_all(&sent).unwrap();
    here.read_exact(&mut got).unwrap();
    assert!(got == sent);
    wait_for("all to be acknowledged", || {
        let near = &pair.near.status()["peers"][0]["connections"][0];
        near["delivered"] == sent.len() as u64 && near["received"] == sent.len() as u64
    });
    pair.far.kill();
    fs::remove_dir_all(pair.far.folder.join("state")).unwrap();
    pair.far.start();
    // A writer reads no wrong data, and gets an error.
    let _ = here.write_all(&sent);
    let mut rest = Vec::new();
    let end = here.read_to_end(&mut rest);
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset, "{} bytes came", rest.len());
    assert!(rest.is_empty());
    // Nor is anything given to a target that was not meant for it.
    listener.set_nonblocking(true).unwrap();
    if let Ok((mut again, _)) = listener.accept() {
        again.set_nonblocking(false).unwrap();
        let mut rest = Vec::new();
        let _ = again.read_to_end(&mut rest);
        assert!(sent.starts_with(&rest), "{} bytes that are not the beginning", rest.len());
    }
    let target = Target::start(true);
    for (number, wishes) in [(5, ""), (6, "durable")] {
        let (sent, back) = exchange(pair.connect(target.port, wishes).unwrap(), number, 1_000_000);
        sent.unwrap();
        assert!(back.is_whole);
        assert!(target.next().is_whole);
    }
    wait_for("no connections", || {
        let none = |daemon: &super::pair::Daemon| {
            daemon.status()["peers"][0]["connections"] == serde_json::json!([])
        };
        none(&pair.near) && none(&pair.far)
    });
}

#[test]
fn applications_are_told_when_the_far_daemon_has_lost_its_state() {
    lose_state("");
}

#[test]
fn applications_with_durable_connections_are_told_when_the_far_daemon_has_lost_its_state() {
    lose_state("durable");
}

/// Applications connect while the far daemon is down: one at once, one once that is known. It is down for `seconds`.
fn connect_while_the_far_daemon_is_down(stack: &str, seconds: u64) {
    let mut pair = Pair::start(Extra::default());
    let target = Target::start(true);
    // Whatever carries them has measured the path by then.
    let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), 1, 2_000_000);
    sent.unwrap();
    assert!(back.is_whole && target.next().is_whole);
    pair.switch(stack);
    thread::sleep(Duration::from_secs(2));
    pair.far.kill();
    let down = Instant::now();
    // What TCP carried before its end was seen is broken off: the far daemon may have known of it.
    wait_for("the near side's loss of TCP", || pair.near.status()["peers"][0]["tcp"].is_null());
    let applications: Vec<_> = [2, 3]
        .map(|number| {
            let stream = pair.connect(target.port, "").unwrap();
            thread::spawn(move || exchange(stream, number, 50_000))
        })
        .into();
    thread::sleep(Duration::from_secs(seconds).saturating_sub(down.elapsed()));
    pair.far.start();
    for one in applications {
        let (sent, back) = one.join().unwrap();
        sent.unwrap();
        assert!(back.is_whole, "{stack}: {back:?}");
    }
    let mut got: Vec<Got> = (0..2).map(|_| target.next()).collect();
    got.extend(target.all());
    got.retain(|one| one.length > 0 || one.is_whole);
    got.sort_by_key(|one| one.number);
    let whole = |number| Got { number, length: 50_000, is_whole: true };
    assert_eq!(got, [whole(2), whole(3)], "{stack}");
}

#[test]
fn applications_that_connect_while_the_far_daemon_is_down_reach_their_targets_once_it_is_back() {
    thread::scope(|scope| {
        for stack in ["auto", "tcp", "udpdtn"] {
            scope.spawn(move || connect_while_the_far_daemon_is_down(stack, 14));
        }
    });
}
