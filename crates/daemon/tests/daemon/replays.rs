//! Somebody on the path records datagrams and sends them again, in every direction and at every moment; none of it may be
//! believed, answered with data, or move the path.

use super::pair::{Daemon, Extra, PATIENCE, Pair, local, wait_for};
use super::streams::{Got, Target, exchange};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

/// A target that reports what each connection brought, and closes.
fn cashier() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind(local(0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (reports, orders) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let reports = reports.clone();
            thread::spawn(move || {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let mut order = String::new();
                let _ = stream.read_to_string(&mut order);
                let _ = stream.write_all(b"paid");
                let _ = reports.send(order);
            });
        }
    });
    (port, orders)
}

fn pay(pair: &Pair, port: u16, order: &str) {
    let mut stream = pair.connect(port, "").unwrap();
    stream.write_all(order.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "paid");
}

/// A pair that goes by datagrams, all of which are recorded from its first one on.
fn by_datagrams() -> Pair {
    let pair = Pair::start(Extra::default());
    pair.way.record();
    pair.switch("udpdtn");
    pair
}

/// Opens a connection and exchanges a stream by it.
fn exchanged(pair: &Pair, target: &Target, number: u64) {
    let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), number, 50_000);
    sent.unwrap();
    assert_eq!(back, Got { number: number ^ u64::MAX, length: 50_000, is_whole: true });
    assert_eq!(target.next(), Got { number, length: 50_000, is_whole: true });
}

#[test]
fn a_connection_opened_right_after_a_restart_of_the_far_daemon_reaches_its_target() {
    let target = Target::start(true);
    for (round, loses) in [false, true, false].into_iter().enumerate() {
        let mut pair = by_datagrams();
        exchanged(&pair, &target, 7);
        pair.far.kill();
        if loses {
            wait_for_the_clock_to_pass_its_epoch(&pair.far);
            fs::remove_dir_all(pair.far.folder.join("state")).unwrap();
        }
        pair.far.start();
        exchanged(&pair, &target, 100 + round as u64);
    }
}

fn dropped(daemon: &Daemon) -> u64 {
    let refused = daemon.status()["peers"][0]["refused_datagrams"].clone();
    ["forged", "stale", "repeated"].iter().map(|why| refused[why].as_u64().unwrap()).sum()
}

fn address(daemon: &Daemon) -> String {
    daemon.status()["peers"][0]["udpdtn"]["address"].as_str().unwrap_or_default().to_owned()
}

/// Sends datagrams from another address until the daemon has dropped some; returns the lengths of answers.
fn replay(datagrams: &[Vec<u8>], to: SocketAddr, daemon: &Daemon) -> Vec<usize> {
    let attacker = UdpSocket::bind(local(0)).unwrap();
    attacker.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let before = dropped(daemon);
    let mut answers = Vec::new();
    for _ in 0..3 {
        for datagram in datagrams {
            attacker.send_to(datagram, to).unwrap();
            // A daemon whose socket overflows drops them unread.
            thread::sleep(Duration::from_micros(200));
        }
        let mut buffer = [0; 4096];
        while let Ok(length) = attacker.recv(&mut buffer) {
            answers.push(length);
        }
    }
    wait_for("the end of the attack", || dropped(daemon) > before);
    assert_ne!(address(daemon), attacker.local_addr().unwrap().to_string());
    answers
}

#[test]
fn recorded_datagrams_do_nothing_after_the_far_daemon_has_restarted() {
    for near_goes_on in [false, true] {
        let mut pair = by_datagrams();
        let (port, orders) = cashier();
        // The near daemon restarts: its datagrams are recorded from the first one on.
        pair.near.kill();
        pair.near.start();
        pair.switch("udpdtn");
        pair.wait_until_connected();
        pay(&pair, port, "PAY 100 to mallory");
        assert_eq!(orders.recv_timeout(PATIENCE).unwrap(), "PAY 100 to mallory");
        let [from_near, _] = pair.way.recorded();
        assert!(from_near.len() > 3);
        let far = local(pair.ports[1]);
        replay(&from_near, far, &pair.far);
        if !near_goes_on {
            pair.near.kill();
        }
        for lost_state in [false, true] {
            pair.far.kill();
            if lost_state {
                fs::remove_dir_all(pair.far.folder.join("state")).unwrap();
            }
            pair.far.start();
            let answers = replay(&from_near, far, &pair.far);
            assert!(answers.len() <= 16 * 4 && answers.iter().all(|length| *length < 100), "{answers:?}");
        }
        assert_eq!(orders.try_iter().count(), 0, "the target was reached by a recording");
        if near_goes_on {
            pair.switch("udpdtn");
            pair.wait_until_connected();
            pay(&pair, port, "PAY 1 to alice");
            assert_eq!(orders.recv_timeout(PATIENCE).unwrap(), "PAY 1 to alice");
        }
    }
}

#[test]
fn datagrams_copied_ahead_of_their_originals_do_not_move_the_path() {
    let pair = by_datagrams();
    let (port, orders) = cashier();
    pay(&pair, port, "PAY 1 to alice");
    let before = address(&pair.far);
    pair.way.cut(false);
    pair.way.record();
    let order = "PAY 2 to bob ".repeat(5000);
    let application = {
        let mut stream = pair.connect(port, "").unwrap();
        let order = order.clone();
        thread::spawn(move || {
            stream.write_all(order.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        })
    };
    wait_for("datagrams", || pair.way.recorded()[0].len() > 2);
    let attacker = UdpSocket::bind(local(0)).unwrap();
    attacker.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    for datagram in &pair.way.recorded()[0] {
        attacker.send_to(datagram, local(pair.ports[1])).unwrap();
    }
    let mut buffer = [0; 4096];
    let mut came = Vec::new();
    while let Ok(length) = attacker.recv(&mut buffer) {
        came.push(length);
    }
    assert!(came.iter().sum::<usize>() < 500, "only challenges are sent there: {came:?}");
    assert_eq!(address(&pair.far), before);
    pair.way.mend();
    assert_eq!(application.join().unwrap(), "paid");
    assert!(orders.iter().any(|got| got == order));
}

#[test]
fn a_daemon_that_moves_is_followed_once_it_has_answered_from_there() {
    let pair = by_datagrams();
    let target = Target::start(true);
    let mut seen = BTreeSet::from([address(&pair.far)]);
    for number in 1..4 {
        pair.way.roam();
        let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), number, 300_000);
        sent.unwrap();
        assert!(back.is_whole);
        wait_for("the new address", || !seen.contains(&address(&pair.far)));
        seen.insert(address(&pair.far));
    }
}

/// Random numbers that a seed reproduces.
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// An epoch's number is the second of its start, or one more than the last: after restarts within a second it is ahead of
/// the clock, and a daemon that loses its state then begins an epoch that its peers do not believe to be later.
fn wait_for_the_clock_to_pass_its_epoch(daemon: &Daemon) {
    const ORIGIN: u64 = 1_577_836_800;
    let number: u64 =
        fs::read_to_string(daemon.folder.join("state/incarnation")).unwrap().trim().parse().unwrap();
    wait_for("the clock", || UNIX_EPOCH.elapsed().unwrap().as_secs() > ORIGIN + number);
}

/// Restarts, lost state and replays of all that was ever recorded, in random order: each stream comes once, whole. Gives the
/// number of restarts and of replayed datagrams.
fn replays_at_random(seed: u64, rounds: u64) -> (u64, u64) {
    let mut done = (0, 0);
    let mut draws = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut pair = by_datagrams();
    let target = Target::start(true);
    let mut expected = Vec::new();
    for round in 1..=rounds {
        let number = seed * 1000 + round;
        let stream = pair.connect(target.port, "").unwrap();
        let application = thread::spawn(move || exchange(stream, number, 50_000));
        let recorded = pair.way.recorded();
        let addresses = [local(pair.ports[1]), local(pair.ports[2])];
        let attack = |draws: &mut Draws| {
            let mut sent = 0;
            for (side, to) in addresses.into_iter().enumerate() {
                let attacker = UdpSocket::bind(local(0)).unwrap();
                for _ in 0..recorded[side].len().min(300) {
                    let which = draws.below(recorded[side].len());
                    attacker.send_to(&recorded[side][which], to).unwrap();
                    sent += 1;
                }
            }
            sent
        };
        done.1 += attack(&mut draws);
        let (sent, back) = application.join().unwrap();
        sent.unwrap();
        assert_eq!(back, Got { number: number ^ u64::MAX, length: 50_000, is_whole: true });
        expected.push(Got { number, length: 50_000, is_whole: true });
        assert_eq!(target.next(), expected[round as usize - 1], "seed {seed}, round {round}");
        let (restarts, loses) = (draws.below(4), draws.below(2) == 0);
        let Pair { near, far, .. } = &mut pair;
        for (side, daemon) in [near, far].into_iter().enumerate() {
            if restarts & (1 << side) > 0 {
                done.0 += 1;
                daemon.kill();
                if loses {
                    wait_for_the_clock_to_pass_its_epoch(daemon);
                    fs::remove_dir_all(daemon.folder.join("state")).unwrap();
                }
                daemon.start();
            }
        }
        done.1 += attack(&mut draws);
        pair.switch("udpdtn");
        // A connection that is opened before a restart was noticed is over.
        pair.wait_until_connected();
    }
    thread::sleep(Duration::from_millis(200));
    assert_eq!(target.all(), [], "seed {seed}: a stream came twice");
    done
}

#[test]
fn replays_and_restarts_in_random_order_repeat_no_stream() {
    for seed in 1..3 {
        replays_at_random(seed, 4);
    }
}

#[test]
#[ignore = "minutes; run by make torture"]
fn many_replays_and_restarts_in_random_order_repeat_no_stream() {
    let done = (100..120)
        .map(|seed| replays_at_random(seed, 8))
        .fold((0, 0), |(restarts, sent), one| (restarts + one.0, sent + one.1));
    println!(
        "torture: replays at random moments; 160 streams, each once; {} restarts, half of them without state; {} datagrams",
        done.0, done.1
    );
}
