//! What is known of the models: speeds, places and numbers of contacts, and runs that never change.

use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::contacts::kinetic::{Encounter, Radio, encounters};
use lightlag_worlds::mobility::map::{MapBuilder, MapOptions, RoadMap};
use lightlag_worlds::mobility::{
    Area, Bounds, Draws, Fleet, Group, Initial, Leg, MobilityError, Model, Point, RandomWalk, RandomWaypoint,
    ShortestPathMap, Stationary,
};
use std::sync::Arc;

const AREA: Area = Area::new(1000.0, 1000.0);
const SPEED: Bounds<f64> = Bounds::new(0.5, 1.5);
const PAUSE: Bounds<f64> = Bounds::new(0.0, 120.0);

fn waypoint(initial: Initial) -> RandomWaypoint {
    RandomWaypoint { area: AREA, speed_m_per_s: SPEED, pause_s: PAUSE, initial }
}

fn walkers(pause_s: Bounds<f64>) -> RandomWalk {
    let step_m = RandomWalk::THE_ONE_STEP_M;
    RandomWalk { area: AREA, step_m, speed_m_per_s: SPEED, pause_s, initial: Initial::Uniform }
}

fn fleet(count: u32, model: impl Model + 'static, seed: u64) -> Fleet {
    Fleet::new(vec![Group::new(count, Arc::new(model))], seed)
}

/// Streets 100 m apart, 11 in each direction.
fn town() -> Arc<RoadMap> {
    let mut builder = MapBuilder::default();
    let at = |i: u32, j: u32| Point::new(f64::from(i) * 100.0, f64::from(j) * 100.0);
    for i in 0..11 {
        let streets = [(0..11).map(|j| at(j, i)).collect(), (0..11).map(|j| at(i, j)).collect()];
        builder.add(&streets, 0).expect("layer 0");
    }
    Arc::new(builder.build("town", MapOptions::default()).expect("connected"))
}

fn townspeople() -> ShortestPathMap {
    ShortestPathMap {
        map: town(),
        area: AREA,
        layers: u32::MAX,
        interest: Vec::new(),
        speed_m_per_s: SPEED,
        pause_s: PAUSE,
        initial: Initial::Uniform,
    }
}

fn meet(fleet: &Fleet, hours: i64) -> Vec<Encounter> {
    let nodes = fleet.node_count().expect("few");
    let radios = vec![vec![Radio { class: 0, range_m: 150.0 }]; nodes as usize];
    let mut walk = fleet.walk().expect("sound");
    encounters(&mut walk, &radios, Instant::from_secs(hours * 3600), fleet.tick)
}

/// The leg of each node at a moment.
fn legs_at(fleet: &Fleet, t: Instant) -> Vec<Leg> {
    let after = t + Duration::from_nanos(1);
    fleet.legs(after).expect("sound").iter().map(|legs| legs[legs.len() - 1]).collect()
}

/// Mean speed in m/s, and the share of nodes within 250 m of the middle.
fn snapshot(fleet: &Fleet, t: Instant) -> (f64, f64) {
    let legs = legs_at(fleet, t);
    let speed = |leg: &Leg| leg.velocity().0.hypot(leg.velocity().1);
    let central = legs.iter().filter(|leg| leg.at(t).distance(Point::new(500.0, 500.0)) < 250.0);
    let nodes = legs.len() as f64;
    (legs.iter().map(speed).sum::<f64>() / nodes, central.count() as f64 / nodes)
}

#[test]
fn a_stationary_start_is_stationary_from_zero_on() {
    let fleet = fleet(20_000, waypoint(Initial::StationaryDistribution), 1);
    for s in [0, 500, 3000] {
        let (speed, central) = snapshot(&fleet, Instant::from_secs(s));
        assert!((speed - 0.8239).abs() < 0.01, "{speed} m/s at {s} s");
        assert!((central - 0.355).abs() < 0.015, "{central} in the middle at {s} s");
    }
}

#[test]
fn a_uniform_start_becomes_stationary_in_the_warm_up() {
    let uniform = fleet(20_000, waypoint(Initial::Uniform), 2);
    let (speed, central) = snapshot(&uniform, Instant::ZERO);
    assert!(speed == 0.0 && (central - 0.196).abs() < 0.01, "{speed} m/s, {central} in the middle");
    let (speed, central) = snapshot(&Fleet { warmup: Duration::from_secs(5000), ..uniform }, Instant::ZERO);
    assert!((speed - 0.8239).abs() < 0.01 && (central - 0.355).abs() < 0.015, "{speed} m/s, {central}");
}

#[test]
fn random_waypoint_meets_as_often_as_in_the_one() {
    for seed in 1..4 {
        let exact = meet(&fleet(50, waypoint(Initial::Uniform), seed), 12).len();
        assert!((21_000..23_000).contains(&exact), "{exact} encounters");
    }
}

#[test]
fn random_walk_without_pause_meets_as_often_as_in_the_one() {
    for seed in 1..4 {
        let exact = meet(&fleet(50, walkers(Bounds::new(0.0, 0.0)), seed), 12).len();
        assert!((14_500..18_500).contains(&exact), "{exact} encounters");
    }
}

#[test]
fn nodes_on_a_map_stay_on_its_roads() {
    let fleet = fleet(20, townspeople(), 3);
    for leg in fleet.legs(Instant::from_secs(3600)).expect("sound").iter().flatten() {
        let on_road = |p: Point| [p.x, p.y].iter().any(|v| (v / 100.0 - (v / 100.0).round()).abs() < 1e-9);
        assert!(on_road(leg.from) && on_road(leg.to) && on_road(leg.from.toward(leg.to, 0.3)), "{leg:?}");
    }
}

#[test]
fn motion_in_ticks_is_never_far_from_the_road() {
    let fleet = Fleet { tick: Some(Duration::from_secs(1)), ..fleet(20, townspeople(), 4) };
    for leg in fleet.legs(Instant::from_secs(3600)).expect("sound").iter().flatten() {
        let off = |v: f64| ((v / 100.0).round() * 100.0 - v).abs();
        assert!(off(leg.from.x).min(off(leg.from.y)) < 1e-6, "at ticks a node is on a road: {leg:?}");
        assert_eq!(leg.start.round_up(Duration::from_secs(1)), leg.start);
    }
}

#[test]
fn one_node_more_does_not_move_the_others() {
    let legs =
        |count| fleet(count, waypoint(Initial::Uniform), 5).legs(Instant::from_secs(5000)).expect("sound");
    assert_eq!(legs(7), legs(8)[..7]);
}

#[test]
fn nodes_that_stay_meet_for_ever_or_never() {
    let points = vec![Point::new(0.0, 0.0), Point::new(150.0, 0.0), Point::new(300.5, 0.0)];
    let fleet = fleet(3, Stationary { area: AREA, initial: Initial::Points(points) }, 0);
    let found = meet(&fleet, 1);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].a.0, found[0].b.0, found[0].start), (0, 1, Instant::ZERO));
    assert_eq!(found[0].end, Instant::from_secs(3600));
}

#[test]
fn parameters_that_make_no_sense_are_refused_in_one_line() {
    let refused = |model: &dyn Model| model.check(2).expect_err("must be refused").to_string();
    let base = waypoint(Initial::Uniform);
    assert_eq!(
        refused(&RandomWaypoint { speed_m_per_s: Bounds::new(2.0, 1.0), ..base.clone() }),
        "speed in m/s 2 to 1: both must be finite, at least 0, and in ascending order"
    );
    assert_eq!(
        refused(&RandomWaypoint { speed_m_per_s: Bounds::new(0.0, 0.0), ..base.clone() }),
        "speed 0 to 0 m/s: the upper end must be greater than 0"
    );
    assert_eq!(
        refused(&RandomWaypoint { area: Area::new(0.0, f64::NAN), ..base.clone() }),
        "world size 0 m x NaN m: both sides must be finite and greater than 0"
    );
    let points = Initial::Points(vec![Point::new(-1.0, 0.0); 2]);
    assert_eq!(
        refused(&RandomWaypoint { initial: points, ..base }),
        "start point (-1, 0) is outside of the area of 1000 m x 1000 m"
    );
    let long = RandomWalk { step_m: Bounds::new(501.0, 600.0), ..walkers(PAUSE) };
    assert!(refused(&long).starts_with("step length 501 to 600 m"));
    let small = ShortestPathMap { area: Area::new(500.0, 2000.0), ..townspeople() };
    assert!(refused(&small).contains("needs 1000 m x 1000 m"));
    let tick = Fleet { tick: Some(Duration::ZERO), ..fleet(1, walkers(PAUSE), 0) };
    assert!(matches!(tick.walk(), Err(MobilityError::Time { .. })));
}

/// FNV-1a over all numbers of the encounters.
fn fingerprint(found: &[Encounter]) -> u64 {
    let numbers = found.iter().flat_map(|e| {
        [i64::from(e.a.0), i64::from(e.b.0), i64::from(e.class), e.start.as_nanos(), e.end.as_nanos()]
    });
    let bytes = numbers.flat_map(i64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A change here is a change of every result that anybody has published.
#[test]
fn encounters_never_change_on_any_machine() {
    let tick = Some(Duration::from_secs_f64(0.1));
    let draws = Draws::TheOne { rng_seed: 1 };
    let fleets = [
        fleet(30, waypoint(Initial::StationaryDistribution), 1),
        fleet(30, walkers(PAUSE), 1),
        fleet(30, townspeople(), 1),
        Fleet { tick, draws, ..fleet(30, waypoint(Initial::Uniform), 1) },
        Fleet { tick, draws, warmup: Duration::from_secs(100), ..fleet(30, walkers(PAUSE), 1) },
        Fleet { tick, draws, ..fleet(30, townspeople(), 1) },
    ];
    let found = fleets.map(|fleet| fingerprint(&meet(&fleet, 2)));
    assert_eq!(found, GOLDEN, "{found:#018x?}");
}
const GOLDEN: [u64; 6] = [
    0x2a3d_bbd5_978f_5094,
    0xd125_7f2c_1871_e5dd,
    0x722d_ee7f_6495_1961,
    0x4da9_c5e6_2b5a_ad03,
    0xcc60_c87e_fdba_7b94,
    0x888b_30d0_53a8_3184,
];
