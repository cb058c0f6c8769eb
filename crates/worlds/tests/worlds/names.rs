//! The world of names at its boundary: setups in, outcomes out.

use crate::common::golden;
use lightlag_protocols::controllers::{self, Factory};
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::ndn::StampedAt;
use lightlag_protocols::ndn::{Clock, Config, ForwarderConfig, Names, Producer, Requests};
use lightlag_protocols::parameter::Value;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::names::{ConsumerSpec, LinkEnds, NodeSpec, Outcome, ProducerSpec, Setup, run};
use std::collections::BTreeMap;
use std::fmt::Write;

fn ms(n: f64) -> Duration {
    Duration::from_secs_f64(n / 1e3)
}

/// A consumer's controller with its parameters, when it starts, and after how many Data it stops.
#[derive(Clone)]
struct Asks {
    controller: &'static str,
    parameters: Vec<(&'static str, Value)>,
    start: f64,
    stop_after: Option<u64>,
}

fn asks(controller: &'static str, parameters: &[(&'static str, Value)]) -> Asks {
    Asks { controller, parameters: parameters.to_vec(), start: 0.0, stop_after: None }
}

/// A chain consumer(s) – r1 – r2 – producer, as the single path of DCP's paper.
struct Path {
    delays_ms: [f64; 3],
    rates: [u64; 3],
    /// Of the middle link in the direction of Interests, where it differs.
    interest_rate: Option<u64>,
    queue: u64,
    jitter_ms: f64,
    overhead: u32,
    store: Bytes,
    clocks: [f64; 4],
    duration: i64,
    seed: u64,
    consumers: Vec<Asks>,
    same_object: bool,
    measure_from: f64,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            delays_ms: [10.0; 3],
            rates: [100_000_000, 10_000_000, 100_000_000],
            interest_rate: None,
            queue: 60,
            jitter_ms: 0.0,
            overhead: 34,
            store: Bytes(0),
            clocks: [0.0; 4],
            duration: 60,
            seed: 1,
            consumers: Vec::new(),
            same_object: true,
            measure_from: 0.0,
        }
    }
}

impl Path {
    fn run(&self) -> Outcome {
        let mut names = Names::default();
        let root = names.intern_text("/data");
        let mut links = Vec::new();
        for hop in 0..3_u32 {
            let spec = LinkSpec {
                rate: Rate::Constant(BitRate(self.rates[hop as usize])),
                delay: Delay::Constant(ms(self.delays_ms[hop as usize])),
                loss: Loss::NONE,
                queue: Discipline::drop_tail(Limit::Packets(self.queue)),
                reorder: None,
                duplicate: 0.0,
                jitter: ms(self.jitter_ms),
            };
            let at = 2 * hop;
            let mut there = spec.clone();
            if let (1, Some(rate)) = (hop, self.interest_rate) {
                there.rate = Rate::Constant(BitRate(rate));
            }
            links.push(LinkEnds { from: hop, to: hop + 1, back: at + 1, spec: there });
            links.push(LinkEnds { from: hop + 1, to: hop, back: at, spec });
        }
        let node = |index: usize| NodeSpec {
            forwarder: ForwarderConfig {
                store: if index == 1 { self.store } else { Bytes(0) },
                ..Default::default()
            },
            clock: Clock { offset: ms(self.clocks[index] * 1e3), skew: 0.0 },
            strips_stamps: false,
            routes: if index < 3 { vec![(root, 2 * index as u32, 1)] } else { Vec::new() },
        };
        let producer = Producer {
            object: u64::from(u32::MAX),
            segment: 1024,
            overhead: self.overhead,
            freshness_ms: 0,
            site: None,
        };
        let mut consumers = Vec::new();
        for (index, one) in self.consumers.iter().enumerate() {
            let name = one.controller;
            let object = if self.same_object { "/data/0".to_owned() } else { format!("/data/{index}") };
            let prefix = names.intern_text(&object);
            let given: BTreeMap<String, Value> =
                one.parameters.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
            let controller = Factory::resolve(name, &given).expect("in range");
            let config = Config {
                seed: self.seed ^ (index as u64) << 32,
                ..Config::new(Bytes(1024), Bytes(1024 + u64::from(self.overhead)))
            };
            consumers.push(ConsumerSpec {
                node: 0,
                start: Instant::ZERO + ms(one.start * 1e3),
                stop: None,
                stop_after: one.stop_after,
                requests: Requests::object(prefix, None),
                interest: Bytes(24),
                config,
                controller,
            });
        }
        let setup = Setup {
            names,
            nodes: (0..4).map(node).collect(),
            links,
            producers: vec![ProducerSpec { node: 3, prefix: root, producer }],
            consumers,
            until: Instant::from_secs(self.duration),
            until_complete: false,
            measure_from: Instant::ZERO + ms(self.measure_from * 1e3),
            stamped_at: StampedAt::Wire,
            seed: self.seed,
            sample_every: None,
        };
        run(&setup, &mut ())
    }
}

fn mbit(outcome: &Outcome, consumer: usize) -> f64 {
    let consumer = &outcome.consumers[consumer];
    consumer.measured.0 as f64 * 8.0 / (consumer.end - consumer.measured_from).as_secs_f64() / 1e6
}

#[test]
fn a_window_of_the_bandwidth_delay_product_fills_the_path_without_a_queue() {
    let window = [("window", Value::Number(73.0 * 1024.0))];
    let outcome = Path { queue: 120, consumers: vec![asks("fixed", &window)], ..Path::default() }.run();
    let goodput = mbit(&outcome, 0);
    assert!((9.6..=9.67).contains(&goodput), "{goodput} Mbit/s");
    assert_eq!(outcome.consumers[0].counts.timeouts, 0);
    assert!(outcome.consumers[0].queueing_delay_p50 < Some(ms(2.0)), "{outcome:?}");
}

#[test]
fn interests_that_wait_and_are_dropped_are_counted_apart_from_data() {
    // 500 Interests of 24 B per second: about 31 are on the path, the others wait.
    let run = |window: f64| {
        let window = [("window", Value::Number(window * 1024.0))];
        let consumers = vec![asks("fixed", &window)];
        Path { interest_rate: Some(96_000), consumers, ..Path::default() }.run().consumers[0]
    };
    let waits = run(60.0);
    let queueing = waits.interest_queueing_delay_p50.unwrap();
    assert!((ms(54.0)..ms(60.0)).contains(&queueing), "{waits:?}");
    assert!(waits.queueing_delay_p99 < Some(ms(1.0)), "{waits:?}");
    assert_eq!((waits.drops, waits.interest_drops), (0, 0));
    let overflows = run(200.0);
    assert!(overflows.interest_drops > 0, "{overflows:?}");
    assert_eq!(overflows.drops, overflows.interest_drops);
}

#[test]
fn ledbat_keeps_the_queue_at_its_target() {
    let target = [("target", Value::Number(0.05))];
    let outcome = Path { consumers: vec![asks("ledbat", &target)], ..Path::default() }.run();
    let goodput = mbit(&outcome, 0);
    assert!((9.2..=9.4).contains(&goodput), "{goodput} Mbit/s: {outcome:?}");
    let window = outcome.consumers[0].window_median.unwrap();
    assert!((128.0..136.0).contains(&window), "{window}");
    assert_eq!(outcome.consumers[0].counts.timeouts, 0);
}

#[test]
fn short_queue_fills_a_path_that_scatters_and_keeps_its_queue_short() {
    for seed in 1..=3 {
        let path =
            Path { jitter_ms: 4.0, seed, consumers: vec![asks("short_queue", &[])], ..Path::default() };
        let outcome = path.run();
        let goodput = mbit(&outcome, 0);
        assert!(goodput > 9.5, "seed {seed}: {goodput} Mbit/s");
        assert!(outcome.consumers[0].queueing_delay_p50 < Some(ms(6.0)), "seed {seed}: {outcome:?}");
        assert_eq!(outcome.consumers[0].drops, 0, "seed {seed}");
    }
}

#[test]
fn short_queue_shares_equally_where_packets_scatter_and_the_second_comes_late() {
    for seed in 1..=3 {
        let late = Asks { start: 10.0 * seed as f64, ..asks("short_queue", &[]) };
        let outcome = Path {
            jitter_ms: 4.0,
            queue: 120,
            seed,
            consumers: vec![asks("short_queue", &[]), late],
            same_object: false,
            measure_from: 40.0,
            ..Path::default()
        }
        .run();
        let (first, second) = (mbit(&outcome, 0), mbit(&outcome, 1));
        let jain = (first + second) * (first + second) / 2.0 / (first * first + second * second);
        assert!(jain > 0.97, "seed {seed}: {first} and {second} Mbit/s");
        assert_eq!(outcome.consumers[0].drops + outcome.consumers[1].drops, 0, "seed {seed}");
    }
}

#[test]
fn every_controller_beside_itself_over_a_path_with_a_store_stays_as_it_was() {
    let mut text = format!(
        "{:18} {:>8} {:>9} {:>9} {:>7} {:>8} {:>5} {:>6} {:>8}\n",
        "controller",
        "consumer",
        "interests",
        "delivered",
        "repairs",
        "timeouts",
        "drops",
        "window",
        "queue_ms"
    );
    // A controller without bounds has a million Interests in flight.
    let bounds =
        |entry: &&controllers::Entry| entry.algorithm.only_with.is_empty() && entry.algorithm.name != "fixed";
    for entry in controllers::TABLE.iter().filter(bounds) {
        let name = entry.algorithm.name;
        let path = Path {
            jitter_ms: 2.0,
            store: Bytes(2_000_000),
            duration: 20,
            consumers: vec![asks(name, &[]), Asks { start: 5.0, ..asks(name, &[]) }],
            ..Path::default()
        };
        for (index, one) in path.run().consumers.iter().enumerate() {
            writeln!(
                text,
                "{name:18} {index:>8} {:>9} {:>9} {:>7} {:>8} {:>5} {:>6.1} {:>8.3}",
                one.counts.interests,
                one.counts.delivered.0,
                one.counts.repairs,
                one.counts.timeouts,
                one.drops,
                one.window_median.unwrap_or(f64::NAN),
                one.queueing_delay_p50.map_or(f64::NAN, |delay| delay.as_secs_f64() * 1e3),
            )
            .expect("texts grow");
        }
    }
    golden::check("names_path.txt", &text);
}
