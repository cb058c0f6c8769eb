//! A consumer at its boundary: Data in, Interests out.

use super::*;
use crate::controllers;
use crate::ndn::{Catalogue, Prefix, Producer};
use crate::parameter::Parameters;
use crate::rng::Stream;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const SEGMENT: u64 = 1_000;

fn flow() -> controllers::Flow {
    controllers::Flow {
        segment: Bytes(SEGMENT),
        packet: Bytes(SEGMENT + 50),
        planned_rate: None,
        planned_round_trip: None,
        seed: 1,
        index: 0,
    }
}

fn controller(name: &str) -> Box<dyn Controller> {
    let entry = controllers::find(name).expect("it exists");
    let parameters =
        Parameters::resolve(name, entry.algorithm.parameters, &BTreeMap::new()).expect("defaults fit");
    entry.build(&parameters, flow())
}

fn ms(n: i64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

fn consumer(name: &str, segments: u32, change: impl FnOnce(&mut Config)) -> Consumer {
    let mut config = Config::new(Bytes(SEGMENT), Bytes(SEGMENT + 50));
    change(&mut config);
    Consumer::new(config, controller(name), Requests::object(Prefix(1), Some(segments)))
}

fn data(interest: &Interest) -> Data {
    let producer =
        Producer { object: 1 << 30, segment: SEGMENT as u32, overhead: 50, freshness_ms: 0, site: None };
    producer.answer(interest).expect("the object is that long")
}

fn poll_all(consumer: &mut Consumer, now: Instant) -> Vec<Interest> {
    std::iter::from_fn(|| consumer.poll(now)).collect()
}

#[test]
fn the_window_bounds_what_has_no_answer() {
    let mut consumer = consumer("new_reno", 100, |_| {});
    let first = poll_all(&mut consumer, ms(0));
    assert_eq!(first.len(), 2);
    consumer.handle(ms(10), data(&first[0]));
    assert_eq!(poll_all(&mut consumer, ms(10)).len(), 2, "slow start: one came, two leave");
    assert_eq!(consumer.in_flight(), 3);
}

#[test]
fn what_is_given_up_before_its_deadline_is_given_up_once() {
    for forged in [false, true] {
        let mut consumer = consumer("new_reno", 3, |_| {});
        let first = poll_all(&mut consumer, ms(0));
        for interest in &first {
            if forged { consumer.ask_again(interest.name) } else { consumer.on_nack(ms(5), interest.name) }
        }
        assert_eq!(consumer.in_flight(), 0);
        // Their deadlines come before they are repeated.
        let later = ms(3_600_000);
        let again = poll_all(&mut consumer, later);
        assert!(!again.is_empty());
        assert_eq!(consumer.in_flight(), again.len() as u64);
    }
}

#[test]
fn what_is_lost_is_asked_for_again_with_another_nonce_and_first() {
    let mut consumer = consumer("new_reno", 100, |_| {});
    let first = poll_all(&mut consumer, ms(0));
    let deadline = consumer.deadline().expect("two wait");
    assert_eq!(deadline, ms(1_000));
    let again = poll_all(&mut consumer, deadline);
    assert_eq!(again[0].name, first[0].name);
    assert_ne!(again[0].nonce, first[0].nonce);
    assert_eq!(consumer.counts().timeouts, 2);
}

#[test]
fn what_forwarders_would_take_for_a_duplicate_waits() {
    let mut consumer = consumer("new_reno", 2, |config| {
        config.timers.first = Duration::from_nanos(200_000_000);
        config.repair_after = Duration::from_nanos(400_000_000);
    });
    let first = poll_all(&mut consumer, ms(0));
    assert!(poll_all(&mut consumer, ms(200)).is_empty());
    assert_eq!(consumer.deadline(), Some(ms(400)));
    assert_eq!(poll_all(&mut consumer, ms(400))[0].name, first[0].name);
}

#[test]
fn an_answer_that_comes_too_late_still_counts_once() {
    let mut consumer = consumer("new_reno", 2, |_| {});
    let first = poll_all(&mut consumer, ms(0));
    let again = poll_all(&mut consumer, ms(1_000));
    for interest in first.iter().chain(&again) {
        consumer.handle(ms(1_001), data(interest));
    }
    // The window after a timeout lets only one be repeated.
    assert_eq!((consumer.counts().data, consumer.counts().unsolicited), (2, 1));
    assert!(consumer.is_complete());
    assert_eq!(consumer.in_flight(), 0);
}

#[test]
fn it_gives_up_where_it_is_told_to() {
    let mut consumer = consumer("new_reno", 1, |config| config.repairs_max = 2);
    let mut now = ms(0);
    while consumer.failed().is_none() {
        poll_all(&mut consumer, now);
        now = consumer.deadline().expect("it waits or gives up");
        poll_all(&mut consumer, now);
    }
    assert_eq!(consumer.counts().interests, 3);
    assert!(poll_all(&mut consumer, now).is_empty());
}

#[test]
fn segments_beyond_the_end_are_forgotten() {
    let mut consumer = consumer("fixed", 1_000, |_| {});
    let asked = poll_all(&mut consumer, ms(0));
    assert_eq!(asked.len(), 1_000);
    consumer.finish_at(2);
    assert_eq!(consumer.in_flight(), 2);
    consumer.handle(ms(1), data(&asked[0]));
    consumer.handle(ms(1), data(&asked[1]));
    assert!(consumer.is_complete());
}

#[test]
fn what_leaves_late_is_made_up_for_as_far_as_it_is_told_to() {
    for (slack_ms, late) in [(0, 2), (5, 6)] {
        // A millisecond for each packet.
        let flow = controllers::Flow { planned_rate: Some(BitRate(8_400_000)), ..flow() };
        let entry = controllers::find("fixed").expect("it exists");
        let parameters =
            Parameters::resolve("fixed", entry.algorithm.parameters, &BTreeMap::new()).expect("defaults fit");
        let slack = Duration::from_nanos(slack_ms * 1_000_000);
        let config = Config { slack, ..Config::new(Bytes(SEGMENT), Bytes(SEGMENT + 50)) };
        let requests = Requests::object(Prefix(1), None);
        let mut consumer = Consumer::new(config, entry.build(&parameters, flow), requests);
        assert_eq!(poll_all(&mut consumer, ms(0)).len(), 1);
        assert_eq!(poll_all(&mut consumer, ms(1)).len(), 1);
        assert_eq!(poll_all(&mut consumer, ms(50)).len(), late, "{slack_ms} ms");
    }
}

#[test]
fn a_consumer_that_has_asked_for_all_there_is_waits_for_an_answer() {
    let catalogue = Arc::new(Catalogue::new(vec![Prefix(1), Prefix(2)], 1, 0.5, 0.0));
    let requests = Requests::popular(catalogue, Stream::new(1, "test", 0));
    for name in ["fixed", "short_queue", "bbr"] {
        let config = Config::new(Bytes(SEGMENT), Bytes(SEGMENT + 50));
        let mut consumer = Consumer::new(config, controller(name), requests.clone());
        let mut asked = Vec::new();
        while asked.len() < 2 {
            let now = consumer.deadline().unwrap_or_default();
            asked.extend(poll_all(&mut consumer, now));
        }
        assert!(poll_all(&mut consumer, ms(100)).is_empty());
        assert_eq!(consumer.deadline(), Some(ms(1_000)), "{name}: nothing to do before the timer");
        consumer.handle(ms(100), data(&asked[0]));
        let again = poll_all(&mut consumer, ms(110));
        assert_eq!(again.iter().map(|one| one.name).collect::<Vec<_>>(), [asked[0].name], "{name}");
    }
}

#[test]
fn a_way_that_grew_longer_than_the_timer_is_learned() {
    for name in ["new_reno", "short_queue", "dcp"] {
        let mut consumer = consumer(name, 2_000, |_| {});
        let (mut under_way, mut now) = (BTreeMap::new(), ms(0));
        while !consumer.is_complete() {
            for interest in poll_all(&mut consumer, now) {
                let round_trip = if interest.name.segment < 100 { 50 } else { 5_000 };
                under_way
                    .insert((now + Duration::from_nanos(round_trip * 1_000_000), interest.nonce), interest);
            }
            let next = under_way.keys().next().map(|key| key.0);
            now = [next, consumer.deadline()].into_iter().flatten().min().expect("it waits");
            if next == Some(now)
                && let Some((_, interest)) = under_way.pop_first()
            {
                consumer.handle(now, data(&interest));
            }
        }
        let counts = consumer.counts();
        assert!(consumer.rtt() > Some(Duration::from_nanos(500_000_000)), "{name}: {:?}", consumer.rtt());
        assert!(counts.interests < 6_000, "{name}: {counts:?}");
    }
}

#[test]
fn where_first_interests_are_lost_the_timer_does_not_double_for_good() {
    for entry in controllers::TABLE.iter().filter(|entry| entry.algorithm.only_with.is_empty()) {
        let name = entry.algorithm.name;
        let mut consumer = consumer(name, 50, |_| {});
        let (mut number, mut under_way, mut now) = (0_u64, BTreeMap::new(), ms(0));
        while !consumer.is_complete() {
            for interest in poll_all(&mut consumer, now) {
                number += 1;
                // Two of three are lost; a controller with one in flight has no first Interest answered.
                if number.is_multiple_of(3) {
                    under_way.insert((now + Duration::from_nanos(3_000_000_000), interest.nonce), interest);
                }
            }
            let next = under_way.keys().next().map(|key| key.0);
            now = [next, consumer.deadline()].into_iter().flatten().min().expect("it waits").max(now);
            if next == Some(now)
                && let Some((_, interest)) = under_way.pop_first()
            {
                consumer.handle(now, data(&interest));
            }
            assert!(now < ms(10_000_000_000), "{name} {now:?}: {:?}", consumer.counts());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn everything_comes_whatever_the_network_does(
        which in 0..controllers::TABLE.len(),
        segments in 1_u32..300,
        fates in proptest::collection::vec(0_u8..10, 1..200),
    ) {
        let name = controllers::TABLE[which].algorithm.name;
        // Controllers that need reports of a transport of their own are not for consumers.
        prop_assume!(controllers::TABLE[which].algorithm.only_with.is_empty());
        // Where all is lost, timers that double outlast the test.
        prop_assume!(fates.iter().any(|fate| *fate != 0));
        let mut consumer = consumer(name, segments, |_| {});
        let (mut under_way, mut number) = (BTreeMap::<(Instant, usize), Data>::new(), 0);
        let mut now = ms(0);
        for _ in 0..100_000 {
            let mut pending = BTreeSet::new();
            for interest in poll_all(&mut consumer, now) {
                prop_assert!(pending.insert(interest.name), "asked for twice at once");
                number += 1;
                // Most come after 50 ms, some late, some twice, some never, for ever so often.
                let fate = if number < 2_000 { fates[number % fates.len()] } else { 9 };
                let delays: &[i64] = match fate { 0 => &[], 1 => &[50, 60], 2 => &[700], 3 => &[2_500], _ => &[50] };
                for delay in delays {
                    let at = now.saturating_add(Duration::from_nanos(delay * 1_000_000));
                    under_way.insert((at, under_way.len() + number * 8), data(&interest));
                }
            }
            if consumer.is_complete() {
                break;
            }
            let next = under_way.keys().next().map(|key| key.0);
            let at = [next, consumer.deadline()].into_iter().flatten().min();
            now = at.expect("something is still to happen").max(now);
            if next == Some(now) && let Some((_, data)) = under_way.pop_first() {
                consumer.handle(now, data);
            }
        }
        prop_assert!(consumer.is_complete(), "{name}: {:?}", consumer.counts());
        prop_assert_eq!(consumer.counts().data, u64::from(segments));
        prop_assert_eq!(consumer.in_flight(), 0);
    }
}
