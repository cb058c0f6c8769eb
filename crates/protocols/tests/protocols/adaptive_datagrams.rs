//! Connections over datagrams, on paths whose delay changes while datagrams are in flight.

use lightlag_protocols::controllers::{self, Flow};
use lightlag_protocols::parameter::{Parameters, Value};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::session::{
    Config, DatagramArrival, Datagrams, DatagramsConfig, Event, Session, Stack,
};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::session::{ConnectionId, Epoch, Hints, Note, Serial};
use proptest::prelude::*;
use std::collections::BTreeMap;

const STACK: Stack = Stack(0);
const DATAGRAM: usize = 1052;
/// Of a datagram, without heads.
const PAYLOAD: f64 = 1000.0;
const HEADERS: Bytes = Bytes(28);

/// A daemon with one connection and one way to the other.
struct Daemon {
    session: Session,
    datagrams: Datagrams,
    id: Option<ConnectionId>,
    written: u64,
    read: u64,
    whole: bool,
    over: Option<bool>,
    left: u64,
}

/// What a path does to a datagram that leaves at a time: when it arrives, if it does.
type Way = Box<dyn FnMut(Instant) -> Option<Instant>>;

impl Daemon {
    fn new(incarnation: u32, rate: f64) -> Self {
        let epoch = |number: u32| Epoch { number, nonce: number.into() };
        Self::begin(epoch(incarnation), Some(epoch(3 - incarnation)), rate)
    }
    /// In an epoch, knowing one of the other daemon or none.
    fn begin(epoch: Epoch, peer: Option<Epoch>, rate: f64) -> Self {
        let entry = controllers::find("fixed").expect("it is in the table");
        let given = BTreeMap::from([("rate".to_owned(), Value::Number(rate))]);
        let parameters = Parameters::resolve("fixed", entry.algorithm.parameters, &given).expect("in range");
        let packet = Bytes(DATAGRAM as u64 + HEADERS.0);
        let segment = Bytes(DATAGRAM as u64);
        let flow = Flow::new(segment, packet).seeded(1, 0);
        let config = Config {
            incarnation: epoch.number,
            window: 64 << 20,
            window_most: 64 << 20,
            connections_max: 64,
            unnamed_max: 64,
        };
        let datagrams = DatagramsConfig { stack: STACK, epoch, peer, datagram: DATAGRAM, headers: HEADERS };
        Self {
            session: Session::new(config, STACK),
            datagrams: Datagrams::new(datagrams, entry.build(&parameters, flow)),
            id: None,
            written: 0,
            read: 0,
            whole: true,
            over: None,
            left: 0,
        }
    }
    fn turn(&mut self, length: u64) {
        while let Some(event) = self.session.poll_event() {
            match event {
                Event::Open { id, .. } => {
                    self.id = Some(id);
                    self.session.accept(id);
                }
                Event::Over(_, how) => self.over = Some(how.is_ok()),
                _ => {}
            }
        }
        let Some(id) = self.id else { return };
        while self.written < length {
            let bytes: Vec<u8> = (self.written..length.min(self.written + 8000)).map(byte).collect();
            let taken = self.session.write(id, &bytes) as u64;
            self.written += taken;
            if taken == 0 {
                break;
            }
        }
        if self.written == length {
            self.session.finish(id);
        }
        while let Some(bytes) = self.session.read(id) {
            self.whole &= bytes.iter().zip(self.read..).all(|(got, at)| *got == byte(at));
            self.read += bytes.len() as u64;
        }
        self.session.take(id, self.read);
        if self.session.is_at_end(id) {
            self.session.take_end(id);
        }
    }
    fn deadline(&self) -> Option<Instant> {
        [self.datagrams.deadline(&self.session), self.session.deadline()].into_iter().flatten().min()
    }
}

fn byte(at: u64) -> u8 {
    (at.wrapping_mul(31) ^ (at >> 9)) as u8
}

/// Plays until both streams have come to their ends; gives the daemons and when that was.
fn play(lengths: [u64; 2], rate: f64, mut ways: [Way; 2], until: Instant) -> ([Daemon; 2], Instant) {
    let mut daemons = [Daemon::new(1, rate), Daemon::new(2, rate)];
    daemons[0].id = daemons[0].session.open("far:80", Hints::default());
    let mut flying: BTreeMap<(Instant, u64), (usize, Serial, Vec<u8>)> = BTreeMap::new();
    let (mut now, mut order) = (Instant::ZERO, 0);
    while now < until && daemons.iter().any(|daemon| daemon.over.is_none()) {
        for (side, daemon) in daemons.iter_mut().enumerate() {
            daemon.turn(lengths[side]);
            if daemon.deadline().is_some_and(|at| at <= now) {
                daemon.datagrams.on_deadline(now, &mut daemon.session);
                daemon.session.on_deadline(now);
            }
            let mut out = Vec::new();
            while let Some(serial) = daemon.datagrams.poll(now, &mut daemon.session, &mut out) {
                assert!(
                    serial.length() + out.len() <= Serial::WHOLE + DATAGRAM,
                    "{} bytes in a datagram",
                    out.len()
                );
                daemon.left += 1;
                order += 1;
                if let Some(at) = ways[side](now) {
                    flying.insert((at, order), (1 - side, serial, out.clone()));
                }
            }
        }
        let first = flying.keys().next().map(|(at, _)| *at);
        let next = daemons.iter().filter_map(Daemon::deadline).chain(first).min();
        let Some(next) = next else { break };
        now = next.max(now.saturating_add(Duration::from_nanos(1)));
        while let Some(entry) = flying.first_entry().filter(|entry| entry.key().0 <= now) {
            let (side, serial, bytes) = entry.remove();
            let Daemon { session, datagrams, .. } = &mut daemons[side];
            datagrams.handle(now, (serial, &bytes), session).expect("datagrams of ours can be read");
        }
    }
    (daemons, now)
}

fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

/// A delay over time, a spread around it, and loss.
fn way(
    seed: u64,
    side: u64,
    delay: impl Fn(f64) -> f64 + 'static,
    loss: impl Fn(f64) -> f64 + 'static,
) -> Way {
    let mut chance = Stream::new(seed, "path", side);
    Box::new(move |now| {
        let mean = delay(now.as_secs_f64());
        let drawn: f64 = mean + (0..12).map(|_| chance.unit() - 0.5).sum::<f64>() * 0.022;
        let lost = chance.unit() < loss(now.as_secs_f64());
        (!lost).then(|| now.saturating_add(seconds(drawn.max(0.0))))
    })
}

/// Straight lines between (time, value).
fn line(points: &'static [(f64, f64)]) -> impl Fn(f64) -> f64 {
    move |at| {
        let behind = points.partition_point(|(time, _)| *time <= at);
        match (behind.checked_sub(1).and_then(|i| points.get(i)), points.get(behind)) {
            (Some((t0, v0)), Some((t1, v1))) => v0 + (v1 - v0) * (at - t0) / (t1 - t0),
            (Some((_, v)), None) | (None, Some((_, v))) => *v,
            (None, None) => 0.0,
        }
    }
}

#[test]
fn delays_of_minutes_that_fall_within_one_repeat_little() {
    const CURVE: &[(f64, f64)] = &[(0.0, 0.01), (60.0, 120.0), (660.0, 120.0), (720.0, 0.01)];
    let rate = 90.0 * 1080.0 * 8.0;
    let length = 40_000_000;
    let ways = [0, 1].map(|side| way(1, side, line(CURVE), |_| 0.0));
    let (daemons, now) = play([length, 0], rate, ways, Instant::from_secs(5000));
    assert_eq!(daemons[1].read, length);
    assert!(daemons[1].whole && daemons[0].over == Some(true));
    let least = length as f64 / PAYLOAD;
    let beyond = daemons[0].left as f64 / least;
    assert!(beyond < 1.06, "{beyond} datagrams for each that is needed, {now:?}");
}

#[test]
fn an_outage_is_not_filled_with_data_and_what_was_lost_comes_after_it() {
    let rate = 1e6;
    let cut = |at: f64| if (20.0..200.0).contains(&at) { 1.0 } else { 0.0 };
    let ways = [0, 1].map(|side| way(2, side, |_| 0.3, cut));
    let (daemons, now) = play([6_000_000, 1000], rate, ways, Instant::from_secs(2000));
    assert!(daemons.iter().all(|daemon| daemon.over == Some(true) && daemon.whole), "at {now:?}");
    let least = 6_000_000.0 / PAYLOAD;
    let beyond = daemons[0].left as f64 - least;
    assert!(beyond < 500.0, "{beyond} datagrams too many");
    assert!(now < Instant::from_secs(300), "{now:?}");
}

#[test]
fn a_delay_that_grows_while_others_still_come_is_learned_from_those_that_were_given_up() {
    // Reports in flight since an earlier rise ended the timeout, and all that left since was given up, again
    // and again.
    const HIGH: f64 = 20.0;
    let flaps = |at: f64| if at < 60.0 || (64.0..66.0).contains(&at) { 0.2 } else { HIGH };
    let length = 30_000_000;
    let ways = [0, 1].map(|side| way(3, side, flaps, |_| 0.0));
    let (daemons, now) = play([length, 0], 1e6, ways, Instant::from_secs(5000));
    assert!(daemons[1].whole && daemons[0].over == Some(true), "at {now:?}");
    let rtt = daemons[0].datagrams.round_trip().expect("it was measured");
    assert!(rtt >= seconds(2.0 * HIGH - 0.5), "{rtt:?}");
    let beyond = daemons[0].left as f64 / (length as f64 / PAYLOAD);
    assert!(beyond < 1.3, "{beyond} datagrams for each that is needed, {now:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]
    #[test]
    fn streams_come_whole_whatever_the_way_does(
        seed: u64,
        lengths in [0_u64..300_000, 0_u64..50_000],
        loss in 0.0..0.4_f64,
        base in 0.0..3.0_f64,
        wave in 0.0..20.0_f64,
        outage in 0.0..60.0_f64,
    ) {
        let delay = move |at: f64| base + wave * (1.0 + libm::sin(at / 7.0));
        let share = move |at: f64| if at % 100.0 < outage { 1.0 } else { loss };
        let ways = [0, 1].map(|side| way(seed, side, delay, share));
        let (daemons, now) = play(lengths, 1e6, ways, Instant::from_secs(200_000));
        for side in [0, 1] {
            prop_assert_eq!(daemons[side].over, Some(true), "side {} at {:?}", side, now);
            prop_assert!(daemons[side].whole);
            prop_assert_eq!(daemons[side].read, lengths[1 - side]);
        }
    }
}

#[test]
fn whoever_has_nothing_to_carry_learns_the_way_by_asking() {
    let mut daemons = [Daemon::new(1, 1e6), Daemon::new(2, 1e6)];
    let (mut out, away) = (Vec::new(), Duration::from_nanos(70_000_000));
    let at = |ms: i64| Instant::from_nanos(ms * 1_000_000);
    let [here, there] = &mut daemons;
    assert_eq!(here.datagrams.poll(at(0), &mut here.session, &mut out), None);
    here.datagrams.probe();
    let asks = here.datagrams.poll(at(0), &mut here.session, &mut out).expect("a question leaves");
    assert_eq!(here.datagrams.poll(at(0), &mut here.session, &mut out), None, "one for each question");
    there.datagrams.handle(at(70), (asks, &out), &mut there.session).unwrap();
    let due = there.datagrams.deadline(&there.session).expect("an answer is owed");
    let answers = there.datagrams.poll(due, &mut there.session, &mut out).expect("an answer leaves");
    here.datagrams.handle(due.saturating_add(away), (answers, &out), &mut here.session).unwrap();
    assert_eq!(here.datagrams.round_trip(), Some(Duration::from_nanos(140_000_000)));
    assert_eq!(here.datagrams.poll(at(9000), &mut here.session, &mut out), None, "answers are not answered");
}

fn begin(number: u32, nonce: u64, peer: Option<Epoch>) -> Daemon {
    Daemon::begin(Epoch { number, nonce }, peer, 1e7)
}

/// Two daemons, and an attacker that records all datagrams, replays any and restarts the daemons.
struct Attacked {
    daemons: [Daemon; 2],
    epochs: u64,
    recorded: [Vec<(Serial, Vec<u8>)>; 2],
    /// How often the second daemon was asked for each target, over all its epochs.
    asked: BTreeMap<String, u32>,
    opened: u32,
    now: Instant,
}

impl Attacked {
    fn new() -> Self {
        let daemons = [begin(2, 1, None), begin(3, 2, None)];
        let recorded = Default::default();
        Self { daemons, epochs: 2, recorded, asked: BTreeMap::new(), opened: 0, now: Instant::ZERO }
    }
    fn restart(&mut self, side: usize, forgets: bool) {
        self.epochs += 1;
        let known = self.daemons[side].datagrams.peer().filter(|_| !forgets);
        self.daemons[side] = begin(2 * self.epochs as u32 + side as u32, self.epochs, known);
    }
    fn open(&mut self) -> String {
        self.opened += 1;
        let target = format!("target-{}:1", self.opened);
        assert!(self.daemons[0].session.open(&target, Hints::default()).is_some());
        target
    }
    fn give(&mut self, to: usize, (serial, bytes): (Serial, Vec<u8>)) {
        let Daemon { session, datagrams, .. } = &mut self.daemons[to];
        let mut out = Vec::new();
        if datagrams.handle(self.now, (serial, &bytes), session) == Ok(DatagramArrival::Stale)
            && let Some(serial) = datagrams.greet(self.now, serial.epoch, &mut out)
        {
            self.recorded[to].push((serial, out.clone()));
            let Daemon { session, datagrams, .. } = &mut self.daemons[1 - to];
            let _ = datagrams.handle(self.now, (serial, &out), session);
        }
        while let Some(event) = self.daemons[to].session.poll_event() {
            if let Event::Open { target, .. } = event {
                *self.asked.entry(target).or_default() += 1;
            }
        }
    }
    /// Delivers everything that leaves within this number of seconds.
    fn carry(&mut self, seconds: i64, arrives: impl Fn(usize) -> bool) {
        for _ in 0..10 * seconds {
            self.now += Duration::from_nanos(100_000_000);
            for side in [0, 1] {
                let now = self.now;
                let Daemon { session, datagrams, .. } = &mut self.daemons[side];
                datagrams.on_deadline(now, session);
                let mut out = Vec::new();
                while let Some(serial) = self.daemons[side].poll(now, &mut out) {
                    self.recorded[side].push((serial, out.clone()));
                    if arrives(self.recorded[side].len()) {
                        self.give(1 - side, (serial, out.clone()));
                    }
                }
            }
        }
    }
    fn replay(&mut self, from: usize, which: usize) {
        if let Some(datagram) = self.recorded[from].get(which % self.recorded[from].len().max(1)).cloned() {
            self.give(1 - from, datagram);
        }
    }
}

impl Daemon {
    fn poll(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Serial> {
        self.datagrams.poll(now, &mut self.session, out)
    }
}

#[test]
fn a_first_contact_takes_a_question_and_an_answer_and_no_data_before() {
    let mut both = Attacked::new();
    let target = both.open();
    let mut out = Vec::new();
    let asks = both.daemons[0].poll(Instant::ZERO, &mut out).expect("a question");
    assert!(asks.bound == 0 && out.len() < 4, "{asks:?}, {} bytes", out.len());
    both.carry(3, |_| true);
    assert_eq!(both.asked.get(&target), Some(&1));
}

/// The first daemon has restarted. It knows the epoch of the second from before, and has asked for a target in its first datagram.
fn asked_at_once() -> (Attacked, String) {
    let mut both = Attacked::new();
    both.open();
    both.carry(3, |_| true);
    both.restart(0, false);
    let target = both.open();
    let mut out = Vec::new();
    let serial = both.daemons[0].poll(both.now, &mut out).expect("data");
    both.give(1, (serial, out));
    (both, target)
}

#[test]
fn whoever_knows_the_others_epoch_sends_data_in_its_first_datagram_after_a_restart() {
    let (both, target) = asked_at_once();
    assert_eq!(both.asked.get(&target), Some(&1));
}

#[test]
fn a_daemon_whose_epoch_does_not_follow_is_told_so_and_is_not_believed() {
    let mut both = Attacked::new();
    both.open();
    both.carry(3, |_| true);
    // The same number again, as its state and its clock were lost.
    both.daemons[0] = begin(2, 77, None);
    let target = both.open();
    let (mut out, mut told) = (Vec::new(), None);
    for _ in 0..4 {
        both.now += Duration::from_secs(10);
        let Some(serial) = both.daemons[0].poll(both.now, &mut out) else { continue };
        let Daemon { session, datagrams, .. } = &mut both.daemons[1];
        assert_eq!(datagrams.handle(both.now, (serial, &out), session), Ok(DatagramArrival::Stale));
        let answer = datagrams.greet(both.now, serial.epoch, &mut out).expect("an answer");
        let Daemon { session, datagrams, .. } = &mut both.daemons[0];
        if let Ok(DatagramArrival::Accepted { note: Some(Note::Known(known)), .. }) =
            datagrams.handle(both.now, (answer, &out), session)
        {
            told = Some((known, datagrams.must_follow(known)));
        }
    }
    assert_eq!(told, Some((Epoch { number: 2, nonce: 1 }, true)));
    assert_eq!(both.asked.get(&target), None);
}

#[test]
fn a_repeated_datagram_says_nothing_of_the_path() {
    let mut both = Attacked::new();
    both.open();
    both.carry(3, |_| true);
    // From now on nothing comes, but a recording of all that ever came.
    both.open();
    both.carry(100, |_| false);
    let silent = |both: &Attacked| both.daemons[0].datagrams.context(both.now).silent;
    let before = silent(&both);
    assert!(before > seconds(90.0), "{before:?}");
    for which in 0..both.recorded[1].len() {
        both.replay(1, which);
    }
    assert_eq!(silent(&both), before);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn no_recording_opens_a_connection_again_whatever_restarts_and_whatever_is_forgotten(
        deeds in prop::collection::vec((0_u8..8, any::<u16>(), any::<bool>()), 1..60),
        loss in 0_usize..4,
    ) {
        let mut both = Attacked::new();
        for (deed, which, forgets) in deeds {
            match deed {
                0 => drop(both.open()),
                1 => both.restart(usize::from(which) % 2, forgets),
                2 | 3 => both.carry(2, |at| loss == 0 || (at + usize::from(which)) % (loss + 1) > 0),
                _ => (0..20).for_each(|at| both.replay(usize::from(deed) % 2, usize::from(which) + 7 * at)),
            }
        }
        for (target, times) in &both.asked {
            prop_assert_eq!(*times, 1, "{} was asked for again", target);
        }
        // And it still works, once a restart was noticed: connections that were opened before are over.
        both.open();
        both.carry(150, |_| true);
        let target = both.open();
        both.carry(150, |_| true);
        prop_assert_eq!(both.asked.get(&target), Some(&1));
    }
}

#[test]
fn what_left_for_an_epoch_that_is_over_is_not_asked_for_again_though_no_answer_came() {
    let (mut both, target) = asked_at_once();
    both.restart(1, true);
    both.carry(30, |_| true);
    assert_eq!(both.asked.get(&target), Some(&1));
    let target = both.open();
    both.carry(30, |_| true);
    assert_eq!(both.asked.get(&target), Some(&1));
}
