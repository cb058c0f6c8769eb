//! What the study runs.

use super::variants::{
    AIMD, ALL, DCP, DCP_MARKS, DCP_ROUND_TRIPS, DCP_SLOW_START, LEDBAT, LEDBAT_PLUS_PLUS, NEWCOMER, OURS,
    READINGS, TCP_LIKE, controller, sets,
};
use crate::shared::points::{Point, Points, scenario};
use lightlag_protocols::rng::Stream;
use lightlag_scenario::Error;

/// Section VI-A: one consumer, one producer.
pub const SINGLE: &str = "dcp_single.toml";
/// Section VI-B: a store near the consumer.
pub const CACHING: &str = "dcp_caching.toml";
/// Section VI-C: two consumers on one bottleneck.
pub const TWO_FLOWS: &str = "dcp_two_flows.toml";
/// Section III: Interests queue, Data do not.
pub const INTERESTS: &str = "dcp_interests.toml";
/// Section V-B: two consumers of the same content.
pub const AGGREGATION: &str = "dcp_aggregation.toml";

/// Columns of the table of runs. Greatest random delay that each link adds.
pub const JITTER: &str = "jitter_ms";
/// DCP's target.
pub const TARGET: &str = "target_ms";
/// One-way delay from the store to the producer.
pub const DISTANCE: &str = "producer_distance_ms";
/// How far the producer's clock is ahead of the others.
pub const CLOCK: &str = "producer_clock_s";
/// When the second flow starts.
pub const START: &str = "start_s";
/// Rate of the links beside the bottleneck.
pub const EDGE: &str = "edge_mbit_per_s";

/// Queues of the scenarios.
const QUEUE: u32 = 60;
const QUEUE_OF_TWO: u32 = 120;
/// Consumer two has had what the store has, and two seconds more: it starts at 5 s and has the store's 100 Data
/// within 0.3 s under any controller.
const SWITCHED: &str = "7.3 s";
/// Long after the switch, when a window that grows by one per round trip has had the time to fill the longest path.
const SETTLED: [(&str, &str); 2] = [("measure_from", "60 s"), ("duration", "100 s")];
/// The latecomer starts where the first flow's window has just passed the bandwidth-delay product, as the paper has
/// it, or later, where the first flow has filled the queue.
pub const STARTS: [f64; 2] = [6.0, LATE_S];
const LATE_S: f64 = 20.0;
/// Rate of the links beside the bottleneck, in Mbit/s, where it is not the question.
const EDGE_FAST: f64 = 100.0;
/// Random starts are drawn from these, in seconds.
const RANDOM_STARTS: (f64, f64) = (5.0, 30.0);
/// The paper gives none for its experiment with a store. With that of two flows the target is well below a full
/// queue, so that what is seen is what becomes of base delays.
pub const QUEUE_OF_CACHING: &str = "120 packets";
/// Targets in milliseconds: from next to none, which the paper expects to leave the link unused, to LEDBAT's most, which
/// is beyond the queue.
const TARGETS: [f64; 9] = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0];
const TARGETS_QUICK: [f64; 4] = [0.1, 5.0, 50.0, 100.0];
/// How long DCP stays at its target before it overflows the queue: longer than the paper looked.
const LONG: &str = "300 s";
/// One-way delay from the store to a producer that is five times as far from the consumer.
pub const FAR_MS: f64 = 40.0;
/// Of flows beside each other: what scatters makes seeds differ.
pub const SOME_JITTER_MS: f64 = 0.5;

/// Who is shown over jitter, distance and clocks.
pub const OVER_JITTER: [&str; 6] = [DCP, LEDBAT, LEDBAT_PLUS_PLUS, AIMD, "cubic", OURS];
/// Who is shown under caching.
pub const CACHED: [&str; 6] = [DCP, DCP_MARKS, LEDBAT, LEDBAT_PLUS_PLUS, AIMD, OURS];
/// Who shares with its like.
pub const SHARED: [&str; 6] = [DCP_SLOW_START, NEWCOMER, LEDBAT, LEDBAT_PLUS_PLUS, AIMD, OURS];
/// Of whom starts are drawn.
pub const STARTED_AT_RANDOM: [&str; 5] = [DCP_SLOW_START, NEWCOMER, LEDBAT, LEDBAT_PLUS_PLUS, OURS];
/// Who shares with AIMD.
pub const BESIDE: [&str; 7] = [DCP, DCP_SLOW_START, LEDBAT, LEDBAT_PLUS_PLUS, "cubic", "bbr", OURS];

/// Figures of what queues Interests: the Data of another consumer, or a slow direction and nothing else.
pub const CROSSED: &str = "crossed";
pub const SLOW: &str = "slow";
/// What the direction of Interests carries there, in Mbit/s.
const SLOW_MBIT_PER_S: f64 = 0.1;
/// Controllers that are compared where Interests queue: all, and DCP by round trips.
pub fn with_interests() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().chain([DCP_ROUND_TRIPS])
}
/// Highest possible goodput of these figures in Mbit/s, of Data of 1024 B in 1058 B and Interests of 24 B: where they
/// cross, both consumers have as much.
pub fn limit(figure: &str) -> f64 {
    if figure == SLOW { SLOW_MBIT_PER_S * 1024.0 / 24.0 } else { 10.0 * 1024.0 / (1058.0 + 24.0) }
}
/// Figures of two consumers of the same content, and of the same two where the second wants another.
pub const SAME_CONTENT: &str = "same_content";
pub const OTHER_CONTENT: &str = "other_content";
/// The second starts before the first has its first Data, at 0.061 s, or after that.
pub const START_SOON: f64 = 0.03;
const STARTS_OF_SAME: [f64; 4] = [START_SOON, 0.05, 0.1, 1.0];
const STARTS_OF_SAME_QUICK: [f64; 2] = [START_SOON, 0.1];
/// Starts before this are before any Data.
pub const FIRST_DATA_S: f64 = 0.061;

/// How much is run.
struct Size {
    quick: bool,
    seeds: u64,
    /// Where randomness is the question.
    seeds_of_chance: u64,
}

type Made = Result<(), Error>;

/// The plan, whole or as a quick look.
///
/// # Errors
/// None with the scenarios that are compiled in.
pub fn plan(quick: bool) -> Result<Points, Error> {
    let size = Size { quick, seeds: if quick { 2 } else { 5 }, seeds_of_chance: if quick { 3 } else { 20 } };
    let mut list = Vec::new();
    alone(&mut list)?;
    targets(&size, &mut list)?;
    jitters(&size, &mut list)?;
    caching(&size, &mut list)?;
    late(&size, &mut list)?;
    beside(&size, &mut list)?;
    interests(&mut list)?;
    aggregation(&size, &mut list)?;
    Ok(Points::of(list, size.seeds, &[SINGLE, CACHING, TWO_FLOWS, INTERESTS, AGGREGATION]))
}

/// A point of a scenario with these keys set.
fn point<'a>(
    name: &str,
    (figure, variant): (&str, &str),
    given: &[(&'static str, String)],
    columns: impl IntoIterator<Item = (&'a str, f64)>,
) -> Result<Point, Error> {
    let queue = if name == TWO_FLOWS { QUEUE_OF_TWO } else { QUEUE };
    let file = scenario(name, sets(variant, queue).into_iter().chain(given.iter().cloned()))?;
    Point::of(&file, (figure, variant), columns)
}

/// Section VI-A, without anything random: one seed says all.
fn alone(list: &mut Vec<Point>) -> Made {
    let run = |figure, variant| Ok::<_, Error>(point(SINGLE, (figure, variant), &[], [])?.with_seeds(1));
    for variant in ALL {
        list.push(run(if READINGS.contains(&variant) { "single readings" } else { "single" }, variant)?);
    }
    for variant in READINGS.into_iter().filter(|variant| !ALL.contains(variant)) {
        list.push(run("readings", variant)?);
    }
    let long = [("duration", LONG.to_owned())];
    list.push(point(SINGLE, ("long", DCP), &long, [])?.with_seeds(1));
    Ok(())
}

/// What the target costs and gives.
fn targets(size: &Size, list: &mut Vec<Point>) -> Made {
    let targets: &[f64] = if size.quick { &TARGETS_QUICK } else { &TARGETS };
    for &target in targets {
        for jitter in [0.0, 2.0] {
            let given = [
                ("controller", format!(r#"{{ name = "dcp", target = "{target} ms" }}"#)),
                ("jitter", format!("{jitter} ms")),
            ];
            let columns = [(TARGET, target), (JITTER, jitter)];
            let seeds = if jitter == 0.0 { 1 } else { size.seeds };
            list.push(point(SINGLE, ("target", DCP), &given, columns)?.with_seeds(seeds));
        }
    }
    Ok(())
}

fn jitters(size: &Size, list: &mut Vec<Point>) -> Made {
    let jitters: &[f64] = if size.quick { &[0.0, 4.0] } else { &[0.0, 1.0, 2.0, 4.0] };
    for variant in OVER_JITTER {
        for &jitter in jitters {
            let given = [("jitter", format!("{jitter} ms"))];
            let seeds = if [DCP, OURS].contains(&variant) { size.seeds_of_chance } else { size.seeds };
            list.push(point(SINGLE, ("jitter", variant), &given, [(JITTER, jitter)])?.with_seeds(seeds));
        }
    }
    Ok(())
}

/// Section VI-B, by the distance of the producer and by its clock: soon after the switch, and long after it.
fn caching(size: &Size, list: &mut Vec<Point>) -> Made {
    let distances: &[f64] = if size.quick { &[20.0, 40.0] } else { &[20.0, 30.0, 40.0, 60.0, 90.0] };
    let clocks: &[f64] = if size.quick { &[-5.0, 5.0] } else { &[-5.0, -1.0, -0.1, 0.0, 0.1, 1.0, 5.0] };
    let settled = || SETTLED.map(|(key, value)| (key, value.to_owned()));
    let switched = || [("measure_from", SWITCHED.to_owned())];
    let mut run = |figure, variant, when: &[(&'static str, String)], distance: f64, clock: f64| {
        let half = format!("{} ms", distance / 2.0);
        let path = [
            ("delay", half.clone()),
            ("producer_delay", half),
            ("producer_clock", format!("{clock} s")),
            ("queue", QUEUE_OF_CACHING.to_owned()),
        ];
        let columns = [(DISTANCE, distance), (CLOCK, clock)];
        calm_and_jittered(CACHING, (figure, variant), &[when, &path].concat(), &columns, list)
    };
    for variant in CACHED {
        for &distance in distances {
            run("caching", variant, &settled(), distance, 0.0)?;
            run("switch", variant, &switched(), distance, 0.0)?;
        }
        for &clock in clocks {
            run("clock", variant, &settled(), FAR_MS, clock)?;
        }
    }
    [-5.0, 5.0].into_iter().try_for_each(|clock| run("switch_clock", OURS, &switched(), FAR_MS, clock))
}

/// A point without jitter, with one seed that says all, and one with [`SOME_JITTER_MS`].
fn calm_and_jittered(
    name: &str,
    names: (&str, &str),
    given: &[(&'static str, String)],
    columns: &[(&'static str, f64)],
    list: &mut Vec<Point>,
) -> Made {
    for jitter in [0.0, SOME_JITTER_MS] {
        let given = [given, &[("jitter", format!("{jitter} ms"))]].concat();
        let made = point(name, names, &given, columns.iter().copied().chain([(JITTER, jitter)]))?;
        list.push(made.with_seeds((jitter == 0.0).then_some(1)));
    }
    Ok(())
}

/// Section VI-C, by the start of the second flow and by the rate of its edge.
fn late(size: &Size, list: &mut Vec<Point>) -> Made {
    let starts: &[f64] = if size.quick { &STARTS } else { &[6.0, 10.0, 15.0, 20.0, 30.0] };
    let edges: &[f64] = if size.quick { &[20.0] } else { &[10.0, 20.0, 100.0, 1000.0] };
    let given =
        |start: f64, edge: f64| [("start", format!("{start} s")), ("edge_rate", format!("{edge} Mbit/s"))];
    for variant in SHARED {
        for &start in starts {
            let names = ("start", variant);
            calm_and_jittered(TWO_FLOWS, names, &given(start, EDGE_FAST), &[(START, start)], list)?;
        }
        for &edge in edges {
            calm_and_jittered(TWO_FLOWS, ("edge", variant), &given(LATE_S, edge), &[(EDGE, edge)], list)?;
        }
    }
    for variant in STARTED_AT_RANDOM {
        for seed in 1..=size.seeds_of_chance {
            let (low, high) = RANDOM_STARTS;
            let start = Stream::new(seed, "starts of the latecomer", 0).uniform(low, high);
            let start = (start * 1e3).round() / 1e3;
            let given = given(start, EDGE_FAST);
            list.push(point(TWO_FLOWS, ("random_start", variant), &given, [(START, start)])?.with_seeds(1));
        }
    }
    Ok(())
}

/// One flow beside one of AIMD, which starts first or last.
fn beside(size: &Size, list: &mut Vec<Point>) -> Made {
    for variant in BESIDE {
        for (figure, first, second) in [("beside", variant, AIMD), ("beside_late", AIMD, variant)] {
            let given = [
                ("controller", controller(first).to_owned()),
                ("second", controller(second).to_owned()),
                ("start", "10 s".to_owned()),
                ("measure_from", "20 s".to_owned()),
                ("duration", "120 s".to_owned()),
                ("jitter", format!("{SOME_JITTER_MS} ms")),
            ];
            list.push(point(TWO_FLOWS, (figure, variant), &given, [])?.with_seeds(size.seeds));
        }
    }
    Ok(())
}

/// Section III: everybody where Interests queue.
fn interests(list: &mut Vec<Point>) -> Made {
    let slow = [
        ("interest_rate", format!("{SLOW_MBIT_PER_S} Mbit/s")),
        // The other consumer begins when the run ends.
        ("start", "119.9 s".to_owned()),
    ];
    for variant in with_interests() {
        calm_and_jittered(INTERESTS, (CROSSED, variant), &[], &[], list)?;
        calm_and_jittered(INTERESTS, (SLOW, variant), &slow, &[], list)?;
    }
    Ok(())
}

/// Section V-B: everybody beside its like, with the same content and with another.
fn aggregation(size: &Size, list: &mut Vec<Point>) -> Made {
    let starts: &[f64] = if size.quick { &STARTS_OF_SAME_QUICK } else { &STARTS_OF_SAME };
    for variant in ALL.into_iter().chain([DCP_SLOW_START]) {
        let mut run = |figure, start: f64, content: &str| {
            let given = [("start", format!("{start} s")), ("second_object", content.to_owned())];
            calm_and_jittered(AGGREGATION, (figure, variant), &given, &[(START, start)], list)
        };
        starts.iter().try_for_each(|&start| run(SAME_CONTENT, start, "/data/film"))?;
        run(OTHER_CONTENT, START_SOON, "/data/another")?;
    }
    Ok(())
}

/// Who is drawn over time alone.
pub const OVER_TIME: [&str; 3] = [DCP, TCP_LIKE, OURS];
/// Who is drawn over time under caching.
pub const OVER_TIME_CACHED: [&str; 3] = [DCP, LEDBAT, OURS];
/// Who is drawn over time beside its like.
pub const OVER_TIME_SHARED: [&str; 3] = [DCP_SLOW_START, LEDBAT, OURS];
