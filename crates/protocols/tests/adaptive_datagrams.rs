//! Connections over datagrams, on ways whose delay changes while they are under way.

use lightlag_protocols::adaptive::{Config, Datagrams, DatagramsConfig, Event, Session, Stack};
use lightlag_protocols::controllers::{self, Flow};
use lightlag_protocols::parameter::{Parameters, Value};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::adaptive::{ConnectionId, Hints, Serial};
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

/// What a way does to a datagram that leaves at a time: when it comes, if it does.
type Way = Box<dyn FnMut(Instant) -> Option<Instant>>;

impl Daemon {
    fn new(incarnation: u32, rate: f64) -> Self {
        let entry = controllers::find("fixed").expect("it is in the table");
        let given = BTreeMap::from([("rate".to_owned(), Value::Number(rate))]);
        let parameters = Parameters::resolve("fixed", entry.algorithm.parameters, &given).expect("in range");
        let packet = Bytes(DATAGRAM as u64 + HEADERS.0);
        let segment = Bytes(DATAGRAM as u64);
        let flow = Flow { segment, packet, planned_rate: None, planned_round_trip: None, seed: 1, index: 0 };
        let config = Config {
            incarnation,
            window: 64 << 20,
            window_most: 64 << 20,
            connections_max: 10,
            unnamed_max: 10,
        };
        let datagrams = DatagramsConfig { stack: STACK, incarnation, datagram: DATAGRAM, headers: HEADERS };
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
    let mut chance = Stream::new(seed, "way", side);
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
    // Reports that were under way since an earlier rise break the silence, and it gave up all that left since, again and
    // again.
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
