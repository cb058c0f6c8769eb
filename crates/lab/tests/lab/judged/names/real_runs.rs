//! Nothing is found in real runs, whatever the network.

use super::*;
use crate::judged::random::links;
use lightlag_protocols::ndn::Catalogue;
use lightlag_protocols::rng::Stream;
use proptest::prelude::*;
use std::sync::Arc;

/// A network without its links, by plain numbers.
#[derive(Clone, Debug)]
struct Shape {
    /// Of each node but the first the one that it hangs on, modulo those before it.
    parents: Vec<u32>,
    ring: bool,
    nodes: Vec<NodeShape>,
    producers: Vec<u32>,
    consumers: Vec<ConsumerShape>,
    /// Routes that lead anywhere: a node, and a number for the link.
    astray: Vec<(u32, u32)>,
    stamped_at: StampedAt,
    seed: u64,
}

#[derive(Clone, Debug)]
struct NodeShape {
    store: u64,
    pending_max: usize,
    again_ms: i64,
    clock: (i64, f64),
    strips: bool,
}

#[derive(Clone, Debug)]
struct ConsumerShape {
    node: u32,
    controller: usize,
    popular: bool,
    lifetime_ms: i64,
    start_ms: i64,
    stop_ms: Option<i64>,
    stop_after: u64,
}

fn node_shape() -> impl Strategy<Value = NodeShape> {
    let store = prop_oneof![Just(0), 1_000_u64..20_000, Just(1_000_000)];
    let pending = prop_oneof![3 => Just(1 << 20), 1 => 1_usize..30];
    let clock = (-5_000_i64..5_000, -1e-3..1e-3);
    (store, pending, 0_i64..100, clock, any::<bool>()).prop_map(
        |(store, pending_max, again_ms, clock, strips)| NodeShape {
            store,
            pending_max,
            again_ms,
            clock,
            strips,
        },
    )
}

fn consumer_shape() -> impl Strategy<Value = ConsumerShape> {
    let stop = proptest::option::weighted(0.3, 3_000_i64..20_000);
    // A consumer beside a producer has a round trip of next to nothing: without an end it asks for millions.
    let stop_after = 1_u64..600;
    let whole = (any::<u32>(), 0..controllers::TABLE.len(), any::<bool>(), 50_i64..4_000, 0_i64..3_000);
    (whole, stop, stop_after).prop_map(
        |((node, controller, popular, lifetime_ms, start_ms), stop_ms, stop_after)| ConsumerShape {
            node,
            controller,
            popular,
            lifetime_ms,
            start_ms,
            stop_ms,
            stop_after,
        },
    )
}

fn shape() -> impl Strategy<Value = Shape> {
    let stamped = prop_oneof![Just(StampedAt::Wire), Just(StampedAt::Application), Just(StampedAt::Nowhere)];
    let nodes = proptest::collection::vec((any::<u32>(), node_shape()), 3..8);
    let producers = proptest::collection::vec(any::<u32>(), 1..3);
    let consumers = proptest::collection::vec(consumer_shape(), 1..4);
    let astray = proptest::collection::vec((any::<u32>(), any::<u32>()), 0..3);
    (nodes, any::<bool>(), producers, consumers, astray, stamped, any::<u64>()).prop_map(
        |(nodes, ring, producers, consumers, astray, stamped_at, seed)| {
            let (parents, nodes) = nodes.into_iter().unzip();
            Shape { parents, ring, nodes, producers, consumers, astray, stamped_at, seed }
        },
    )
}

impl Shape {
    fn edges(&self) -> Vec<(u32, u32)> {
        let count = self.nodes.len() as u32;
        if self.ring {
            return (0..count).map(|at| (at, (at + 1) % count)).collect();
        }
        (1..count).map(|at| (at, self.parents[at as usize] % at)).collect()
    }
    fn setup(&self, specs: &[LinkSpec]) -> Setup {
        let count = self.nodes.len() as u32;
        let mut links = Vec::new();
        for (from, to) in self.edges() {
            let at = links.len() as u32;
            let spec = |index: u32| specs[index as usize % specs.len()].clone();
            links.push(ends(from, to, at + 1, spec(at)));
            links.push(ends(to, from, at, spec(at + 1)));
        }
        let mut names = Names::default();
        let prefixes: Vec<Prefix> =
            (0..self.producers.len()).map(|index| names.intern_text(&format!("/p{index}"))).collect();
        let mut routes = vec![Vec::new(); count as usize];
        for (&place, &prefix) in self.producers.iter().zip(&prefixes) {
            lead_to(place % count, prefix, &links, &mut routes);
        }
        for &(at, link) in &self.astray {
            let own: Vec<u32> =
                (0..).zip(&links).filter(|(_, l)| l.from == at % count).map(|l| l.0).collect();
            routes[(at % count) as usize].push((prefixes[0], own[link as usize % own.len()], 1 + link % 3));
        }
        let nodes = self.nodes.iter().zip(routes).map(|(shape, routes)| shape.spec(routes)).collect();
        let objects: Vec<Prefix> = (0..20)
            .map(|index| names.child(prefixes[index % prefixes.len()], format!("{index}").as_bytes()))
            .collect();
        let catalogue = Arc::new(Catalogue::new(objects.clone(), 3, 0.8, 0.0));
        let consumers = self.consumers.iter().enumerate();
        let consumers =
            consumers.map(|(index, shape)| shape.spec(index as u64, count, &catalogue, &objects, self.seed));
        let producers = self.producers.iter().zip(&prefixes);
        let producers = producers.map(|(&place, &prefix)| ProducerSpec {
            node: place % count,
            prefix,
            producer: producer(150_000),
        });
        Setup {
            nodes,
            links,
            consumers: consumers.collect(),
            producers: producers.collect(),
            names,
            until: Instant::from_secs(25),
            until_complete: true,
            measure_from: Instant::ZERO,
            stamped_at: self.stamped_at,
            seed: self.seed,
            sample_every: Some(ms(500)),
        }
    }
}

/// Routes of all nodes to a place, by the fewest links.
fn lead_to(place: u32, prefix: Prefix, links: &[LinkEnds], routes: &mut [Vec<(Prefix, u32, u32)>]) {
    let mut reached = vec![place];
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        for (index, link) in (0..).zip(links).filter(|(_, link)| link.to == at) {
            if !reached.contains(&link.from) {
                reached.push(link.from);
                routes[link.from as usize].push((prefix, index, 2));
            }
        }
        next += 1;
    }
}

impl NodeShape {
    fn spec(&self, routes: Vec<(Prefix, u32, u32)>) -> NodeSpec {
        NodeSpec {
            forwarder: ForwarderConfig {
                pending_max: self.pending_max,
                store: Bytes(self.store),
                again_after: ms(self.again_ms),
                ..ForwarderConfig::default()
            },
            clock: Clock { offset: ms(self.clock.0), skew: self.clock.1 },
            strips_stamps: self.strips,
            routes,
        }
    }
}

impl ConsumerShape {
    fn spec(
        &self,
        index: u64,
        count: u32,
        catalogue: &Arc<Catalogue>,
        objects: &[Prefix],
        seed: u64,
    ) -> ConsumerSpec {
        let requests = if self.popular {
            Requests::popular(Arc::clone(catalogue), Stream::new(seed, "requests", index))
        } else {
            // A few more than there are: the producer refuses them.
            Requests::object(objects[0], Some(152))
        };
        let algorithm = &controllers::TABLE[self.controller].algorithm;
        let name = if algorithm.only_with.is_empty() { algorithm.name } else { "cubic" };
        let made = consumer(self.node % count, name, requests, index);
        ConsumerSpec {
            start: at(self.start_ms),
            stop: self.stop_ms.map(at),
            stop_after: Some(self.stop_after),
            config: Config { lifetime: ms(self.lifetime_ms), ..made.config },
            ..made
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn nothing_is_found_in_a_real_run(shape in shape(), specs in proptest::collection::vec(links(), 1..14)) {
        let setup = shape.setup(&specs);
        let mut judge = NamesJudge::new(judged::names(&setup));
        let ended = run(&setup, &mut judge).ended;
        judge.end(ended);
        prop_assert_eq!(judge.findings().total(), 0, "{}", lines(&judge));
    }
}

/// A minute of three hops, a window of Data always in flight.
fn long(seconds: i64) -> Setup {
    let mut setup = super::planted::plain();
    setup.links.iter_mut().for_each(|link| link.spec = super::link(10_000_000, 10, 60));
    setup.consumers.truncate(1);
    setup.consumers[0].requests = Requests::object(setup.producers[0].prefix, None);
    setup.producers[0].producer.object = u64::from(u32::MAX);
    setup.until = Instant::from_secs(seconds);
    setup
}

#[test]
fn what_a_judge_keeps_of_a_run_does_not_grow_with_its_length() {
    let kept = |seconds: i64| {
        let setup = long(seconds);
        let told = story(&setup);
        let begun = std::time::Instant::now();
        let judge = judge(judged::names(&setup), &told);
        assert_eq!(judge.findings().total(), 0, "{}", lines(&judge));
        println!("{seconds} s: {} events in {:?}", told.len(), begun.elapsed());
        judge.kept()
    };
    let (short, long) = (kept(6), kept(60));
    assert!(long < 2 * short + 500, "{long}, {short} where the run is short");
}
