//! Motion in ticks, made of legs, against a stepper that moves every node at every tick as The ONE
//! is known to do: on its own clock of added doubles, all nodes in turn, from one generator.

use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::mobility::map::{MapBuilder, MapOptions, RoadMap, TourOrder};
use lightlag_worlds::mobility::{
    Area, Bounds, Draws, Fleet, Group, Initial, Interest, JavaDraw, MapRoute, MapWalk, Model, Point,
    RandomWalk, RandomWaypoint, Routes, ShortestPathMap, Spot, Stationary,
};
use std::sync::Arc;

const AREA: Area = Area::new(300.0, 200.0);

struct Stepped {
    model: Arc<dyn Model>,
    at: Point,
    spot: Spot,
    /// Points ahead, the next one last.
    path: Vec<Point>,
    speed_m_per_s: f64,
    moves_at_s: f64,
}

impl Stepped {
    fn step(&mut self, clock_s: f64, length_s: f64, draw: &mut JavaDraw) {
        if clock_s < self.moves_at_s {
            return;
        }
        if self.path.is_empty() {
            let journey = self.model.depart(self.spot, draw, &mut self.path);
            self.path.reverse();
            (self.speed_m_per_s, self.spot) = (journey.speed_m_per_s, journey.to);
        }
        let mut left_m = self.speed_m_per_s * length_s;
        while let Some(&next) = self.path.last() {
            let ahead_m = self.at.distance(next);
            if left_m < ahead_m {
                self.at = self.at.toward(next, left_m / ahead_m);
                return;
            }
            left_m -= ahead_m;
            self.at = next;
            self.path.pop();
        }
        self.moves_at_s = clock_s + self.model.pause_s(self.spot, draw);
    }
}

/// A crooked town: roads of 7 m to 40 m with a bend at every crossing. Two of its roads, which do not meet, are layer 1.
fn roads() -> Arc<RoadMap> {
    let mut builder = MapBuilder::default();
    let at = |i: i32, j: i32| {
        let bend = f64::from((i * 7 + j * 3) % 5);
        Point::new(f64::from(i) * 23.0 + bend, f64::from(j) * 17.0 + bend * 1.3)
    };
    for i in 0..10 {
        let roads = [(0..10).map(|j| at(j, i)).collect(), (0..10).map(|j| at(i, j)).collect()];
        builder.add(&roads, 0).expect("layer 0");
    }
    for i in [2, 6] {
        builder.add(&[(1..9).map(|j| at(j, i)).collect()], 1).expect("layer 1");
    }
    Arc::new(builder.build("town", MapOptions::default()).expect("connected"))
}

fn town(layers: u32) -> ShortestPathMap {
    let (speed_m_per_s, pause_s) = (Bounds::new(0.5, 60.0), Bounds::new(0.0, 3.0));
    ShortestPathMap {
        map: roads(),
        area: AREA,
        layers,
        interest: vec![Interest { share: 0.3, vertices: vec![17, 3, 66] }],
        speed_m_per_s,
        pause_s,
        initial: Initial::Uniform,
    }
}

fn groups() -> Vec<Group> {
    let (speed_m_per_s, pause_s) = (Bounds::new(0.5, 9.0), Bounds::new(0.0, 20.0));
    let (step_m, initial) = (RandomWalk::THE_ONE_STEP_M, Initial::Uniform);
    let route = |order, first_stop| {
        let stops = vec![vec![5, 70, 23, 23, 9], vec![99, 0]];
        let routes = Routes::new(stops, order);
        MapRoute { map: roads(), area: AREA, layers: 1, routes, first_stop, speed_m_per_s, pause_s }
    };
    let walk = |layers| {
        let roads_per_journey = Bounds::new(2, 9);
        MapWalk {
            map: roads(),
            area: AREA,
            layers,
            roads: roads_per_journey,
            turns_back: layers == 2,
            speed_m_per_s,
            pause_s,
        }
    };
    let models: [Arc<dyn Model>; 9] = [
        Arc::new(RandomWaypoint { area: AREA, speed_m_per_s, pause_s, initial: initial.clone() }),
        Arc::new(town(1)),
        Arc::new(town(2)),
        Arc::new(walk(1)),
        Arc::new(walk(2)),
        Arc::new(route(TourOrder::Circular, None)),
        Arc::new(route(TourOrder::PingPong, Some(1))),
        Arc::new(RandomWalk { area: AREA, step_m, speed_m_per_s, pause_s, initial: initial.clone() }),
        Arc::new(Stationary { area: AREA, initial }),
    ];
    models.into_iter().map(|model| Group::new(4, model)).collect()
}

/// Places of all nodes at all ticks from zero to `ticks`.
fn stepped(fleet: &Fleet, rng_seed: i32, tick_s: f64, ticks: usize) -> Vec<Vec<Point>> {
    let mut draw = JavaDraw::new(i64::from(rng_seed));
    let mut clock_s = -fleet.warmup.as_secs_f64();
    let mut nodes = Vec::new();
    for group in &fleet.groups {
        for index in 0..group.count {
            let (model, path) = (Arc::clone(&group.model), Vec::new());
            let begin = model.begin(index, &mut draw, &mut Vec::new());
            let moves_at_s = clock_s + begin.pause_s;
            nodes.push(Stepped {
                model,
                at: begin.at,
                spot: begin.spot,
                path,
                speed_m_per_s: 0.0,
                moves_at_s,
            });
        }
    }
    while clock_s < 0.0 {
        let length_s = if clock_s < -tick_s { tick_s } else { -clock_s };
        nodes.iter_mut().for_each(|node| node.step(clock_s, length_s, &mut draw));
        clock_s = if clock_s < -tick_s { clock_s + tick_s } else { 0.0 };
    }
    let places = |nodes: &[Stepped]| nodes.iter().map(|node| node.at).collect::<Vec<Point>>();
    let mut all = vec![places(&nodes)];
    for _ in 0..ticks {
        nodes.iter_mut().for_each(|node| node.step(clock_s, tick_s, &mut draw));
        clock_s += tick_s;
        all.push(places(&nodes));
    }
    all
}

#[test]
fn legs_pass_at_every_tick_where_a_stepper_puts_the_node() {
    for (rng_seed, tick_s, warmup_s) in [(1, 0.1, 0.0), (2, 0.1, 33.3), (3, 1.0, 0.0), (4, 0.7, 100.0)] {
        let tick = Duration::from_secs_f64(tick_s);
        let warmup = Duration::from_secs_f64(warmup_s);
        let draws = Draws::TheOne { rng_seed };
        let fleet = Fleet { draws, tick: Some(tick), warmup, ..Fleet::new(groups(), 0) };
        let ticks = 4000;
        let legs = fleet.legs(Instant::ZERO + tick * ticks as i64).expect("sound");
        for (n, places) in stepped(&fleet, rng_seed, tick_s, ticks).iter().enumerate() {
            let t = Instant::ZERO + tick * n as i64;
            for (node, place) in places.iter().enumerate() {
                let next = legs[node].partition_point(|leg| leg.end < t);
                let off_m = legs[node][next].at(t).distance(*place);
                assert!(off_m < 1e-6, "node {node} is {off_m} m off at {t:?}, seed {rng_seed}");
            }
        }
    }
}
