//! Encounters computed by the kinetic grid against a stepper that looks at every pair at every tick.

use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::contacts::kinetic::{Encounter, Radio, encounters};
use lightlag_worlds::mobility::{
    Area, Bounds, Draws, Fleet, Group, Initial, Leg, Model, Motion, Point, RandomWalk, RandomWaypoint,
    Stationary,
};
use proptest::prelude::*;
use std::sync::Arc;

/// What decides between in and out of range by less than this is left to rounding.
const TOLERANCE_M: f64 = 1e-6;

/// Legs that are known beforehand.
struct Given {
    legs: Vec<Vec<Leg>>,
    next: Vec<usize>,
    last: (Instant, u32),
}

impl Given {
    fn new(legs: Vec<Vec<Leg>>) -> Self {
        Self { next: vec![0; legs.len()], legs, last: (Instant::ZERO, 0) }
    }
}

impl Motion for Given {
    fn node_count(&self) -> u32 {
        self.legs.len() as u32
    }
    fn bounds(&self) -> (Point, Point) {
        (Point::new(0.0, 0.0), Point::new(500.0, 400.0))
    }
    fn next_leg(&mut self, node: NodeId) -> Leg {
        let n = node.0 as usize;
        let leg = self.legs[n][self.next[n]];
        assert!(self.last <= (leg.start, node.0), "legs are asked for in the order of time and node");
        (self.next[n], self.last) = (self.next[n] + 1, (leg.start, node.0));
        leg
    }
}

fn at(legs: &[Leg], t: Instant) -> Point {
    let next = legs.partition_point(|leg| leg.end <= t).min(legs.len() - 1);
    legs[next].at(t)
}

fn range_m(a: &[Radio], b: &[Radio], class: u16) -> Option<f64> {
    let of =
        |radios: &[Radio]| radios.iter().filter(|r| r.class == class).map(|r| r.range_m).reduce(f64::max);
    Some(of(a)?.min(of(b)?))
}

/// Compares with all pairs at all multiples of `step`.
fn check(legs: &[Vec<Leg>], radios: &[Vec<Radio>], found: &[Encounter], until: Instant, step: Duration) {
    for class in 0..3 {
        for a in 0..legs.len() {
            for b in a + 1..legs.len() {
                let Some(range_m) = range_m(&radios[a], &radios[b], class) else { continue };
                let own: Vec<&Encounter> = found
                    .iter()
                    .filter(|e| (e.a.0 as usize, e.b.0 as usize, e.class) == (a, b, class))
                    .collect();
                let mut t = Instant::ZERO;
                while t < until {
                    let distance_m = at(&legs[a], t).distance(at(&legs[b], t));
                    let up = own.iter().any(|e| e.start <= t && t < e.end);
                    if (distance_m - range_m).abs() > TOLERANCE_M {
                        assert_eq!(
                            up,
                            distance_m < range_m,
                            "{a}, {b} at {t:?}: {distance_m} m of {range_m} m"
                        );
                    }
                    t += step;
                }
            }
        }
    }
}

fn models(speed: Bounds<f64>, pause: Bounds<f64>, initial: Initial) -> [Arc<dyn Model>; 3] {
    let area = Area::new(500.0, 400.0);
    [
        Arc::new(RandomWaypoint { area, speed_m_per_s: speed, pause_s: pause, initial }),
        Arc::new(RandomWalk {
            area,
            step_m: RandomWalk::THE_ONE_STEP_M,
            speed_m_per_s: speed,
            pause_s: pause,
            initial: Initial::Uniform,
        }),
        Arc::new(Stationary { area, initial: Initial::Uniform }),
    ]
}

prop_compose! {
    fn fleets()(
        seed in 0_u64..1000, low in 0.1_f64..5.0, more in 0.0_f64..5.0, pause in 0.0_f64..40.0,
        counts in prop::array::uniform3(0_u32..6), shared in any::<bool>(), stationary in any::<bool>(),
        warmup_s in 0_i64..50, ticked in any::<bool>(),
    ) -> Fleet {
        let initial = if stationary { Initial::StationaryDistribution } else { Initial::Uniform };
        let models = models(Bounds::new(low, low + more), Bounds::new(0.0, pause), initial);
        let groups = models.into_iter().zip(counts).map(|(model, count)| Group::new(count, model)).collect();
        let draws = if shared { Draws::TheOne { rng_seed: seed as i32 } } else { Draws::PerNode { seed } };
        let tick = ticked.then(|| Duration::from_secs_f64(0.5));
        Fleet { draws, tick, warmup: Duration::from_secs(warmup_s), ..Fleet::new(groups, seed) }
    }
}

fn radios() -> impl Strategy<Value = Vec<Vec<Radio>>> {
    let radio = (0_u16..3, 1.0_f64..250.0).prop_map(|(class, range_m)| Radio { class, range_m });
    prop::collection::vec(prop::collection::vec(radio, 0..4), 20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn legs_follow_each_other_without_a_gap(fleet in fleets()) {
        let until = Instant::from_secs(300);
        for legs in fleet.legs(until).expect("sound") {
            prop_assert_eq!(legs[0].start, Instant::ZERO);
            prop_assert!(legs[legs.len() - 1].end >= until);
            for pair in legs.windows(2) {
                prop_assert_eq!((pair[0].end, pair[0].to), (pair[1].start, pair[1].from));
            }
            prop_assert!(legs.iter().all(|leg| leg.end > leg.start));
        }
    }

    #[test]
    fn encounters_in_ticks_are_those_of_a_stepper(fleet in fleets(), radios in radios()) {
        let (until, tick) = (Instant::from_secs(300), Duration::from_secs_f64(0.5));
        let legs = fleet.legs(until).expect("sound");
        let found = encounters(&mut Given::new(legs.clone()), &radios, until, Some(tick));
        prop_assert!(found.iter().all(|e| e.start.round_up(tick) == e.start && e.end.round_up(tick) == e.end));
        prop_assert!(found.is_sorted());
        check(&legs, &radios, &found, until, tick);
        let lazily = encounters(&mut fleet.walk().expect("sound"), &radios, until, Some(tick));
        prop_assert_eq!(found, lazily);
    }

    #[test]
    fn exact_encounters_hold_at_every_moment(fleet in fleets(), radios in radios()) {
        let until = Instant::from_secs(200);
        let legs = fleet.legs(until).expect("sound");
        let found = encounters(&mut Given::new(legs.clone()), &radios, until, None);
        check(&legs, &radios, &found, until, Duration::from_nanos(137_000_001));
        for e in found {
            let (a, b) = (e.a.0 as usize, e.b.0 as usize);
            let range_m = range_m(&radios[a], &radios[b], e.class).expect("both have the class");
            let off_m = |t| (at(&legs[a], t).distance(at(&legs[b], t)) - range_m).abs();
            prop_assert!(e.start < e.end);
            prop_assert!(e.start == Instant::ZERO || off_m(e.start) < TOLERANCE_M);
            prop_assert!(e.end == until || off_m(e.end) < TOLERANCE_M);
        }
    }
}

fn leg(start_s: i64, end_s: i64, from: (f64, f64), to: (f64, f64)) -> Leg {
    let (from, to) = (Point::new(from.0, from.1), Point::new(to.0, to.1));
    Leg { start: Instant::from_secs(start_s), end: Instant::from_secs(end_s), from, to }
}

/// One node rests at (200, 100), the other passes through it at 10 m/s along y = 100.
fn passing() -> Given {
    Given::new(vec![
        vec![leg(0, 100, (200.0, 100.0), (200.0, 100.0))],
        vec![leg(0, 30, (0.0, 100.0), (300.0, 100.0)), leg(30, 100, (300.0, 100.0), (300.0, 100.0))],
    ])
}

fn passing_in(range_m: f64, tick_s: Option<f64>) -> Vec<(f64, f64)> {
    let radios = vec![vec![Radio { class: 7, range_m }]; 2];
    let until = Instant::from_secs(60);
    encounters(&mut passing(), &radios, until, tick_s.map(Duration::from_secs_f64))
        .into_iter()
        .map(|e| (e.start.as_secs_f64(), e.end.as_secs_f64()))
        .collect()
}

#[test]
fn a_node_that_passes_is_in_range_for_the_chord() {
    assert_eq!(passing_in(25.0, None), [(17.5, 22.5)]);
}

#[test]
fn ticks_round_the_start_up_and_the_end_beyond() {
    assert_eq!(passing_in(25.0, Some(1.0)), [(18.0, 23.0)]);
    assert_eq!(passing_in(20.0, Some(1.0)), [(18.0, 23.0)], "in range at 22 s exactly, out at 23 s");
}

#[test]
fn what_holds_at_no_tick_vanishes() {
    assert_eq!(passing_in(4.0, Some(7.0)), []);
    assert_eq!(passing_in(4.0, Some(10.0)), [(20.0, 30.0)]);
}

#[test]
fn a_touch_of_no_length_is_no_exact_encounter() {
    assert_eq!(passing_in(0.0, None), []);
    assert_eq!(passing_in(0.0, Some(1.0)), [(20.0, 21.0)]);
}

#[test]
fn an_encounter_at_the_horizon_ends_there() {
    assert_eq!(passing_in(100.0, None), [(10.0, 60.0)], "at rest in range from 30 s on");
}

#[test]
fn a_radio_without_end_reaches_always_and_one_of_nonsense_never() {
    assert_eq!(passing_in(f64::INFINITY, None), [(0.0, 60.0)]);
    assert_eq!(passing_in(f64::NAN, None), []);
    assert_eq!(passing_in(-1.0, None), []);
}

#[test]
fn nodes_without_a_common_class_never_meet() {
    let radio = |class| vec![Radio { class, range_m: 1000.0 }];
    let found = encounters(&mut passing(), &[radio(1), radio(2)], Instant::from_secs(60), None);
    assert_eq!(found, []);
    assert_eq!(encounters(&mut passing(), &[], Instant::from_secs(60), None), []);
}
