//! Every mobility model with any parameters.

use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::parameter::{Domain, Parameter, Parameters, Value};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::parse::Position;
use lightlag_worlds::contacts::kinetic::{Radio, encounters};
use lightlag_worlds::mobility::map::{MapBuilder, MapOptions, RoadMap};
use lightlag_worlds::mobility::{
    Area, Bounds, Entry, Fix, Fleet, Group, GroupContext, Input, Interest, Leg, Motion, Point, TABLE,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

const NODES: u32 = 4;
const LEGS: usize = 400;
/// As many as a model has, or more.
const PARAMETERS: usize = 20;
/// Speed inside houses in a working day, in m/s.
const INDOORS: f64 = 1.0;
/// Sides of the world in metres; the map fills it.
const WORLD: Area = Area::new(600.0, 400.0);

fn town() -> Arc<RoadMap> {
    let mut builder = MapBuilder::default();
    let at = |i: u32, j: u32| Point::new(f64::from(i) * 100.0, f64::from(j) * 100.0);
    for i in 0..7 {
        builder.add(&[(0..5).map(|j| at(i, j)).collect()], 0).expect("layer 0");
    }
    for j in 0..5 {
        builder.add(&[(0..7).map(|i| at(i, j)).collect()], 0).expect("layer 0");
    }
    Arc::new(builder.build("town", MapOptions::default()).expect("connected"))
}

/// A value for a parameter, at these parts of what is allowed and sensible in this world.
fn value(p: &Parameter, (low, high): (f64, f64)) -> Value {
    let between = |(from, to): (f64, f64), part: f64| from + part * (to - from);
    match p.domain {
        Domain::Number(from, to) => Value::Number(between((from, to.min(500.0)), low)),
        // Few enough for the routes of this world.
        Domain::Integer(from, to) => Value::Number(between((from, to.min(3.0)), low).round()),
        Domain::Flag => Value::Flag(low < 0.5),
        Domain::OneOf(words) => Value::from(words[(low * (words.len() - 1) as f64).round() as usize]),
        Domain::Range(from, to) => {
            let (least, most) = match p.unit {
                "m/s" => (0.1, 30.0),
                "m" => (1.0, 200.0),
                "s" => (0.0, 600.0),
                _ => (from, to.min(100.0)),
            };
            let ends =
                [low.min(high), low.max(high)].map(|part| between((least, most), part).clamp(from, to));
            Value::Range(Bounds::new(ends[0], ends[1]))
        }
        Domain::Area => Value::Area(WORLD),
        Domain::Position => {
            Value::Position(Position { x_m: low * WORLD.width_m, y_m: high * WORLD.height_m })
        }
    }
}

/// Whatever the model reads beside its parameters, drawn from the seed.
fn context(entry: &Entry, seed: u64) -> GroupContext {
    let has = |input| entry.inputs.contains(&input);
    let mut draw = Stream::new(seed, "test", 0);
    let mut vertices = |least: u64| {
        let count = least + draw.below(6);
        (0..count).map(|_| draw.below(35) as u32).collect::<Vec<u32>>()
    };
    let routes = if has(Input::Routes) { vec![vertices(4), vertices(4), vertices(4)] } else { Vec::new() };
    let interest = |share, vertices| Interest { share, vertices };
    let interest = if has(Input::PointsOfInterest) {
        vec![interest(0.4, vertices(1)), interest(0.3, vertices(1))]
    } else {
        Vec::new()
    };
    let keys =
        entry.inputs.iter().flat_map(|input| if let Input::Places(keys) = input { keys } else { &[][..] });
    let places = keys.filter(|_| seed.is_multiple_of(2)).map(|&key| (key, vertices(1))).collect();
    let fix = |n: u64, draw: &mut Stream| Fix {
        at: Instant::ZERO + Duration::from_secs(7 * n as i64 - 10),
        point: Point::new(draw.unit() * WORLD.width_m, draw.unit() * WORLD.height_m),
    };
    let track = |draw: &mut Stream| (0..draw.below(9)).map(|n| fix(n, draw)).collect();
    let tracks = if has(Input::Tracks) { (0..NODES).map(|_| track(&mut draw)).collect() } else { Vec::new() };
    let chances = if has(Input::Chances) { vec![0.9, 0.5] } else { Vec::new() };
    let map = has(Input::Map).then(town);
    GroupContext {
        nodes: NODES,
        map,
        layers: u32::MAX,
        routes,
        interest,
        places,
        chances,
        tracks,
        warmup_s: 0.0,
    }
}

/// A fleet of the model, if these parameters go together.
fn fleet(which: usize, parts: &[(f64, f64)], given: u32, seed: u64) -> Option<(Fleet, Parameters)> {
    let entry = &TABLE[which];
    let chosen = |n: usize, p: &Parameter| p.needed || given >> n & 1 == 1;
    let declared = entry.model.parameters.iter().enumerate();
    let values =
        declared.filter(|(n, p)| chosen(*n, p)).map(|(n, p)| (p.name.to_owned(), value(p, parts[n])));
    let parameters =
        Parameters::resolve(entry.model.name, entry.model.parameters, &values.collect()).expect("in range");
    (entry.check)(&parameters).ok()?;
    let model = (entry.model.build)(&parameters, context(entry, seed));
    model.check(NODES).expect("what the parameters allow can be walked");
    Some((Fleet::new(vec![Group::new(NODES, model.into())], seed), parameters))
}

/// Legs in the order of their start, until one has no end or there are enough.
fn legs(fleet: &Fleet) -> Vec<(u32, Leg)> {
    let mut walk = fleet.walk().expect("checked");
    let mut due: BTreeSet<(Instant, u32)> = (0..NODES).map(|node| (Instant::ZERO, node)).collect();
    let mut legs = Vec::new();
    while let Some((start, node)) =
        due.pop_first().filter(|first| first.0 < Instant::MAX && legs.len() < LEGS)
    {
        let leg = walk.next_leg(NodeId(node));
        assert_eq!(leg.start, start, "a leg starts when the last one ends");
        due.insert((leg.end, node));
        legs.push((node, leg));
    }
    legs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_model_repeats_itself_and_keeps_to_its_area_and_speed(
        which in 0..TABLE.len(),
        parts in proptest::collection::vec((0.0..=1.0, 0.0..=1.0), PARAMETERS),
        given in any::<u32>(),
        seed in any::<u64>(),
        ticked in any::<bool>(),
    ) {
        let name = TABLE[which].model.name;
        let Some((mut fleet, parameters)) = fleet(which, &parts, given, seed) else { return Ok(()) };
        fleet.tick = ticked.then_some(Duration::from_nanos(100_000_000));
        let once = legs(&fleet);
        let (least, greatest) = fleet.walk().expect("checked").bounds();
        let inside = |p: Point| {
            (least.x - 1e-9..=greatest.x + 1e-9).contains(&p.x) && (least.y - 1e-9..=greatest.y + 1e-9).contains(&p.y)
        };
        prop_assert_eq!(&once, &legs(&fleet), "{} differs from itself", name);
        let mut fastest = if parameters.has("speed") { parameters.range("speed").high } else { 0.0 };
        let mut slowest = if parameters.has("speed") { parameters.range("speed").low } else { 0.0 };
        if name == "working_day" {
            (fastest, slowest) = (fastest.max(INDOORS), slowest.min(INDOORS));
        }
        if name == "recorded" {
            (fastest, slowest) = (f64::INFINITY, 0.0);
        }
        let mut last = vec![None; NODES as usize];
        for (node, leg) in once {
            prop_assert!(leg.end > leg.start, "{}: a leg takes time: {:?}", name, leg);
            prop_assert!(inside(leg.from) && inside(leg.to), "{}: outside: {:?}", name, leg);
            let before = last[node as usize].replace(leg.to);
            prop_assert!(before.is_none_or(|before| before == leg.from), "{name}: a jump to {leg:?}");
            let (way_m, lasts_s) = (leg.from.distance(leg.to), (leg.end - leg.start).as_secs_f64());
            prop_assert!(way_m <= fastest * (lasts_s + 1e-9) + 1e-9, "{}: too fast: {:?}", name, leg);
            let rests = leg.from == leg.to;
            // In ticks what is left of one at the end of a journey is lost.
            prop_assert!(rests || ticked || way_m >= slowest * (lasts_s - 2e-9) - 1e-9, "{name}: too slow: {leg:?}");
        }
    }

    #[test]
    fn any_model_has_finite_contacts_and_no_more_legs_than_its_pace(
        which in 0..TABLE.len(),
        parts in proptest::collection::vec((0.0..=1.0, 0.0..=1.0), PARAMETERS),
        given in any::<u32>(),
        seed in any::<u64>(),
    ) {
        let name = TABLE[which].model.name;
        let Some((fleet, parameters)) = fleet(which, &parts, given, seed) else { return Ok(()) };
        let until = Instant::from_secs(3_600);
        let radios = vec![vec![Radio { class: 0, range_m: 80.0 }]; NODES as usize];
        for contact in encounters(&mut fleet.walk().expect("checked"), &radios, until, None) {
            prop_assert!(contact.a < contact.b && contact.b.0 < NODES, "{}: {:?}", name, contact);
            let within = Instant::ZERO <= contact.start && contact.start < contact.end && contact.end <= until;
            prop_assert!(within, "{}: {:?}", name, contact);
        }
        // Its number of legs is in its tracks, not in its parameters.
        if name == "recorded" {
            return Ok(());
        }
        let pace = (TABLE[which].pace)(&parameters);
        let journey_s = pace.journey_m / pace.speed_m_per_s.max(1e-300) + pace.pause_s;
        let promised = f64::from(NODES) * (2.0 + 3_600.0 * pace.legs / journey_s.max(1e-15));
        let made: usize = fleet.legs(until).expect("checked").iter().map(Vec::len).sum();
        prop_assert!(made as f64 <= 3.0 * promised, "{}: {} legs, {} by its pace", name, made, promised);
    }
}

#[test]
fn another_seed_moves_nodes_elsewhere() {
    // On a line all seeds are alike.
    let by_chance = |row: &&(usize, &Entry)| !["line_formation", "line_walk"].contains(&row.1.model.name);
    for (which, row) in TABLE.iter().enumerate().filter(|row| by_chance(&row)) {
        let drawn = |p: &Parameter| p.domain == Domain::Area || p.name == "offset";
        let given = row.model.parameters.iter().position(drawn).map_or(0, |at| 1 << at);
        let start = |seed| {
            let (fleet, _) = fleet(which, &[(0.3, 0.6); PARAMETERS], given, seed).expect("sound");
            legs(&fleet)[0].1.from
        };
        assert_ne!(start(1), start(2), "{}", row.model.name);
    }
}
