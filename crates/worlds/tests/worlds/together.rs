//! Nodes that depend on each other: buses and passengers, parties of friends, and times without motion.

use lightlag_protocols::parameter::{Parameters, Value};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::mobility::map::{MapBuilder, MapOptions, RoadMap};
use lightlag_worlds::mobility::{
    Area, Bounds, Draws, Fleet, Group, GroupContext, Leg, Model, MoveTimes, Point, entry,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One long street with a vertex every 100 m, numbered from west to east.
fn street() -> Arc<RoadMap> {
    let mut builder = MapBuilder::default();
    let points = (0..21).map(|i| Point::new(f64::from(i) * 100.0, 50.0)).collect();
    builder.add(&[points], 0).expect("layer 0");
    Arc::new(builder.build("street", MapOptions::default()).expect("connected"))
}

const AREA: Area = Area::new(2_000.0, 100.0);
/// Vertices of the bus stops.
const STOPS: [u32; 3] = [2, 10, 18];
const WALK: f64 = 1.5;
const BUS: f64 = 20.0;

fn model(name: &str, own: Vec<(&str, Value)>, places: &[(&'static str, Vec<u32>)]) -> Arc<dyn Model> {
    let row = entry(name);
    let speed = if name == "bus" { BUS } else { WALK };
    let common = [("area", Value::Area(AREA)), ("speed", Value::Range(Bounds::single(speed)))];
    let given: BTreeMap<String, Value> =
        common.into_iter().chain(own).map(|(name, value)| (name.to_owned(), value)).collect();
    let parameters = Parameters::resolve(name, row.model.parameters, &given).expect("sound");
    let context = GroupContext {
        nodes: 1,
        map: Some(street()),
        layers: u32::MAX,
        routes: vec![STOPS.to_vec()],
        interest: Vec::new(),
        places: places.iter().cloned().collect(),
        chances: vec![0.9, 0.6],
        tracks: Vec::new(),
        warmup_s: 0.0,
    };
    (row.model.build)(&parameters, context).into()
}

fn buses(count: u32) -> Group {
    let pause = Value::Range(Bounds::new(10.0, 30.0));
    Group::new(count, model("bus", vec![("order", "ping_pong".into()), ("pause", pause)], &[]))
}

/// From the west end to an office at the east end, leaving home at the start of each day.
fn workers(count: u32, own: Vec<(&str, Value)>) -> Group {
    let places = [("homes", vec![1]), ("office_places", vec![19]), ("meeting_places", vec![20])];
    let fixed = [("day", 20_000.0.into()), ("work", 5_000.0.into()), ("departure_deviation", 0.0.into())];
    Group::new(count, model("working_day", fixed.into_iter().chain(own).collect(), &places))
}

fn fleet(groups: Vec<Group>, tick: Option<Duration>, seed: u64) -> Fleet {
    let mut fleet = Fleet::new(groups, seed);
    if tick.is_some() {
        fleet.draws = Draws::TheOne { rng_seed: seed as i32 };
    }
    fleet.tick = tick;
    fleet
}

const TICKS: [Option<Duration>; 3] =
    [None, Some(Duration::from_secs(1)), Some(Duration::from_nanos(100_000_000))];

fn position(legs: &[Leg], at: Instant) -> Point {
    let after = legs.partition_point(|leg| leg.end <= at);
    legs[after.min(legs.len() - 1)].at(at)
}

fn speed(leg: &Leg) -> f64 {
    leg.from.distance(leg.to) / (leg.end - leg.start).as_secs_f64()
}

#[test]
fn who_has_no_car_rides_the_bus_to_the_stop_nearest_to_work() {
    for tick in TICKS {
        let no_car = vec![("car_share", 0.0.into()), ("evening_share", 0.0.into())];
        // The bus is the last node: in ticks, passengers follow it one tick later.
        let fleet = fleet(vec![workers(1, no_car), buses(1)], tick, 5);
        let legs = fleet.legs(Instant::from_secs(40_000)).expect("sound");
        let [person, bus] = [0, 1].map(|n: usize| &legs[n]);
        let rides: Vec<&Leg> = person.iter().filter(|leg| speed(leg) > 2.0 * WALK).collect();
        let ridden_m: f64 = rides.iter().map(|leg| leg.from.distance(leg.to)).sum();
        // From the stop near home to the stop near work, twice 800 m; and back.
        assert!((ridden_m - 3_200.0).abs() < 1.0, "{tick:?}: {ridden_m} m by bus");
        let late = tick.unwrap_or_default();
        for leg in rides.iter().filter(|leg| leg.start > Instant::ZERO + late) {
            let gap_m = leg.from.distance(position(bus, leg.start - late));
            assert!(gap_m < 1e-6, "{tick:?}: {leg:?} is {gap_m} m off the bus");
        }
    }
}

#[test]
fn who_has_a_car_or_no_bus_goes_all_the_way() {
    for (share, groups) in [(1.0, vec![buses(1)]), (0.0, Vec::new())] {
        let own = vec![("car_share", share.into()), ("evening_share", 0.0.into())];
        let groups = std::iter::once(workers(1, own)).chain(groups).collect();
        let legs = fleet(groups, None, 3).legs(Instant::from_secs(40_000)).expect("sound");
        let at_work = legs[0].iter().any(|leg| leg.to.distance(Point::new(1_900.0, 50.0)) < 1e-9);
        assert!(at_work, "{share}: never at work");
        let fast = legs[0].iter().find(|leg| speed(leg) > 1.01 * WALK);
        assert!(fast.is_none(), "{share}: by bus: {fast:?}");
    }
}

#[test]
fn parties_set_out_together_and_the_last_one_decides_when() {
    for tick in TICKS {
        let party = Value::Range(Bounds::single(3.0));
        let own = vec![("evening_share", 1.0.into()), ("car_share", 1.0.into()), ("party", party)];
        let legs = fleet(vec![workers(3, own)], tick, 8).legs(Instant::from_secs(40_000)).expect("sound");
        let spot = Point::new(2_000.0, 50.0);
        // The first long rest at the spot, which others end.
        let leave = |legs: &Vec<Leg>| {
            let at_spot = |leg: &&Leg| leg.to.distance(spot) < 1e-9 || leg.from.distance(spot) < 1e-9;
            let arrives = legs.iter().find(at_spot).expect("it gets there").end;
            let leaves = legs.iter().find(|leg| leg.start >= arrives && leg.to != leg.from);
            (arrives, leaves.expect("it leaves").start)
        };
        let times: Vec<(Instant, Instant)> = legs.iter().map(leave).collect();
        let last = times.iter().map(|(arrives, _)| *arrives).max().expect("three");
        let within = tick.unwrap_or_default() + tick.unwrap_or_default();
        for (_, leaves) in times {
            assert!(last <= leaves && leaves <= last + within, "{tick:?}: {leaves:?} after {last:?}");
        }
    }
}

#[test]
fn an_incomplete_party_waits_for_ever_in_bounded_steps() {
    let party = Value::Range(Bounds::single(9.0));
    let own = vec![("evening_share", 1.0.into()), ("car_share", 1.0.into()), ("party", party)];
    let until = Instant::from_secs(1_000_000);
    let alone = fleet(vec![workers(2, own.clone())], None, 8).legs(until).expect("sound");
    assert!(alone.iter().all(|legs| legs.last().is_some_and(|leg| leg.end == Instant::MAX)));
    // Somebody else who moves on makes the wait known in pieces.
    let others = fleet(vec![workers(2, own), buses(1)], None, 8).legs(until).expect("sound");
    assert!(others[0].len() > 1_000 && others[0].len() < 20_000, "{} legs", others[0].len());
}

#[test]
fn nodes_stand_still_outside_of_their_times() {
    let [s, ms] = [Duration::from_secs, |ms| Duration::from_nanos(ms * 1_000_000)];
    let spans = MoveTimes::Spans(vec![Bounds::new(s(100), s(150)), Bounds::new(ms(300_250), ms(390_750))]);
    let periods = MoveTimes::Periods { on: s(40), off: s(60), offset: s(20) };
    let is_on = |times: &MoveTimes, at: f64| match times {
        MoveTimes::Spans(spans) => {
            spans.iter().any(|span| (span.low.as_secs_f64()..=span.high.as_secs_f64()).contains(&at))
        }
        _ => (at + 20.0) % 100.0 < 40.0,
    };
    for (times, tick) in [&spans, &periods].into_iter().flat_map(|times| TICKS.map(|tick| (times, tick))) {
        let walker = model("map_walk", Vec::new(), &[]);
        let groups = vec![Group { times: times.clone(), ..Group::new(3, walker) }];
        let legs = fleet(groups, tick, 2).legs(Instant::from_secs(1_000)).expect("sound");
        for legs in &legs {
            let moving = legs.iter().filter(|leg| leg.from != leg.to);
            for leg in moving.clone() {
                let [start, end] = [leg.start, leg.end].map(Instant::as_secs_f64);
                // The last step of a leg in ticks begins a tick before its end.
                let last = end - tick.map_or(1e-6, Duration::as_secs_f64);
                for at in [start, last] {
                    assert!(
                        is_on(times, at - 1e-6) || is_on(times, at + 1e-6),
                        "{times:?} {tick:?}: {leg:?}"
                    );
                }
            }
            let until = Instant::from_secs(1_000);
            let moved_s: f64 = moving.map(|leg| (leg.end.min(until) - leg.start).as_secs_f64()).sum();
            let on_s = (0..100_000).filter(|i| is_on(times, f64::from(*i) / 100.0)).count() as f64 / 100.0;
            assert!((moved_s - on_s).abs() < 5.0, "{times:?} {tick:?}: {moved_s} s instead of {on_s} s");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn mixed_fleets_repeat_themselves_without_gaps(
        seed in any::<u64>(),
        tick in 0..3_usize,
        warmup in 0_i64..50_000,
        counts in proptest::collection::vec(0_u32..5, 4),
        cars in 0.0..=1.0,
        party in (0.0..=4.0, 0.0..=4.0),
        buses_first in any::<bool>(),
    ) {
        let bounds = Bounds::new(f64::min(party.0, party.1), f64::max(party.0, party.1));
        let own = vec![("car_share", Value::from(cars)), ("evening_share", 0.7.into()), ("party", Value::Range(bounds))];
        let riders = Group::new(counts[1], model("bus_passenger", vec![("next_bus", 0.3.into())], &[]));
        let walkers = Group::new(counts[2], model("map_walk", Vec::new(), &[]));
        let mut groups = vec![workers(counts[0], own), riders, walkers];
        groups.insert(if buses_first { 0 } else { 3 }, buses(counts[3]));
        let mut fleet = fleet(groups, TICKS[tick], seed);
        fleet.warmup = Duration::from_secs(warmup);
        let until = Instant::from_secs(30_000);
        let once = fleet.legs(until).expect("sound");
        prop_assert_eq!(&once, &fleet.legs(until).expect("sound"));
        for legs in &once {
            prop_assert!(legs.first().is_none_or(|leg| leg.start == Instant::ZERO));
            for pair in legs.windows(2) {
                prop_assert!(pair[0].end == pair[1].start && pair[0].to == pair[1].from, "{:?}", pair);
            }
            prop_assert!(legs.iter().all(|leg| leg.end > leg.start && leg.to.is_in(AREA)));
            prop_assert!(legs.last().is_some_and(|leg| leg.end >= until));
        }
    }
}
