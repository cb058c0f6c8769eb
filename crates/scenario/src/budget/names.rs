//! What a run of names takes.

use super::packets::{bytes_per_s, longest_s, room, sampled};
use super::{Estimate, Item};
use crate::names::{ConsumerPlan, NameNetwork, Wants, packet_of};
use crate::{Place, Section};
use lightlag_protocols::time::{Duration, Instant};

/// Of a consumer never more are pending.
const PENDING_MAX: f64 = (1 << 20) as f64;
/// Of an Interest that is pending, at the consumer and in forwarders.
const PENDING_BYTES: f64 = 400.0;
/// Of an object of a catalogue, with its name.
pub const OBJECT_BYTES: f64 = 300.0;
/// Of Data in a cache.
const CACHED_BYTES: f64 = 150.0;
/// Of a consumer, a node or a link.
const PARTY_BYTES: f64 = 4_000.0;
/// Interests a second of a consumer whose own node has what it wants: a window each microsecond.
const AT_HOME_PER_S: f64 = 1e9;
/// Where Data may come from a cache, the links carry a tenth of them at least.
const CACHED_SHARE: f64 = 10.0;
/// A cache that holds more of a catalogue than this may have all that is asked for.
const CACHED_MOST: f64 = 0.2;
/// Retransmissions and losses, beside what is carried.
const REPEATED: f64 = 2.0;
/// No retransmission timer is shorter: its margin.
const TIMER_LEAST_S: f64 = 1e-3;

/// What the consumers of a run ask for.
pub fn estimate(root: &Section, network: &NameNetwork) -> Estimate {
    let duration = network.head.duration;
    let mut estimate = Estimate::default();
    let parties = network.links.len() + network.consumers.len();
    let (mut asked, mut pending) = (0.0, 0.0);
    for consumer in &network.consumers {
        let load = Load::of(consumer, network, duration);
        asked += load.asked;
        pending += load.pending;
        estimate.add(Item {
            place: root.place_of("consumers"),
            what: format!("consumer `{}` sends {:.1e} Interests", consumer.name, load.asked),
            less: "write lower rates, a `size`, `stop_after` or less time",
            events: load.asked * 2.0 * (load.hops + 1.0),
            bytes: PARTY_BYTES + load.pending * PENDING_BYTES,
        });
    }
    for node in &network.nodes {
        let packet = smallest_packet(network);
        let entries = (node.spec.forwarder.store.0 as f64 / packet).min(asked);
        estimate.add(Item {
            place: root.place_of("nodes"),
            what: format!("the cache of `{}` holds {entries:.1e} Data", node.name),
            less: "write a smaller `cache`",
            events: 0.0,
            bytes: PARTY_BYTES
                + entries * CACHED_BYTES
                + pending.min(node.spec.forwarder.pending_max as f64) * PENDING_BYTES,
        });
    }
    estimate.add(objects(&root.place_of("consumers"), network));
    estimate.add(sampled(root, network.sample_every, duration, parties));
    estimate
}

fn objects(place: &Place, network: &NameNetwork) -> Item {
    let count: f64 = network
        .consumers
        .iter()
        .map(|consumer| match &consumer.wants {
            // Those of a `count` share one.
            Wants::Popular(catalogue) => {
                catalogue.object_count() as f64 / std::sync::Arc::strong_count(catalogue).max(1) as f64
            }
            Wants::Object(_) => 0.0,
        })
        .sum();
    Item {
        place: place.clone(),
        what: format!("catalogues have {count:.1e} objects"),
        less: "name fewer `objects`",
        events: count,
        bytes: count * OBJECT_BYTES,
    }
}

fn smallest_packet(network: &NameNetwork) -> f64 {
    let sizes = network.producers.iter().map(|one| packet_of(&one.spec.producer).1.0 as f64);
    sizes.fold(f64::INFINITY, f64::min).max(1.0)
}

/// What a scenario of names takes before it is run.
pub fn plan_bytes(network: &NameNetwork) -> f64 {
    let routes: usize = network.nodes.iter().map(|node| node.spec.routes.len()).sum();
    let parties = network.nodes.len() + network.links.len() + network.consumers.len();
    objects(&Place::File("".into()), network).bytes + routes as f64 * 16.0 + parties as f64 * 1_000.0
}

/// All that a consumer may ask for over and over; what it asks for once is beyond any cache.
fn catalogue_bytes(consumer: &ConsumerPlan, packet: f64) -> f64 {
    match &consumer.wants {
        Wants::Popular(catalogue) => {
            catalogue.object_count() as f64 * f64::from(catalogue.segments()) * packet
        }
        Wants::Object(_) => f64::INFINITY,
    }
}

struct Load {
    asked: f64,
    pending: f64,
    hops: f64,
}

impl Load {
    fn of(consumer: &ConsumerPlan, network: &NameNetwork, duration: Duration) -> Self {
        let here = &network.nodes[consumer.node as usize];
        let end = consumer.stop.unwrap_or(Instant::MAX).min(Instant::ZERO.saturating_add(duration));
        let left_s = (end - consumer.start).as_secs_f64().max(0.0);
        let hops = here.spec.routes.iter().map(|route| f64::from(route.2)).fold(0.0, f64::max);
        let packet = consumer.config.packet.0.max(1) as f64;
        // Data come in over a link of this node, or are here.
        let inward = network.links.iter().filter(|link| link.to == here.name);
        let incoming = inward.map(|link| bytes_per_s(link.spec.rate.highest())).sum::<f64>() / packet;
        let is_home = network.producers.iter().any(|one| one.spec.node == consumer.node);
        let cache = here.spec.forwarder.store.0 as f64;
        let caches = cache > 0.0;
        let is_home = is_home || caches && cache >= CACHED_MOST * catalogue_bytes(consumer, packet);
        let rate = match (is_home, caches) {
            (true, _) => AT_HOME_PER_S,
            (_, true) => (incoming * CACHED_SHARE).min(AT_HOME_PER_S),
            _ => incoming,
        };
        let wanted = match &consumer.wants {
            Wants::Object(requests) => requests.segments().map_or(f64::INFINITY, f64::from),
            Wants::Popular(_) => f64::INFINITY,
        };
        let wanted = wanted.min(consumer.stop_after.map_or(f64::INFINITY, |most| most as f64));
        let longest = network.links.iter().map(|link| longest_s(&link.spec)).fold(0.0, f64::max);
        let round_trip_s = 2.0 * hops * longest;
        let waiting = network.links.iter().map(|link| room(&link.spec, packet)).fold(0.0, f64::max) * hops;
        let useful = wanted.min(rate * left_s);
        let pending = (rate * (round_trip_s + TIMER_LEAST_S) + waiting).min(PENDING_MAX).min(useful.max(1.0));
        // Interests that are given up before Data can come are sent again, all of them each time.
        let timer_s =
            consumer.config.lifetime.min(consumer.config.timers.least).as_secs_f64().max(TIMER_LEAST_S);
        let in_vain = if timer_s < round_trip_s { pending * left_s / timer_s } else { left_s / timer_s };
        let idle = if wanted.is_finite() { in_vain.min(left_s / TIMER_LEAST_S) } else { in_vain };
        Self { asked: useful * REPEATED + idle + 1.0, pending, hops }
    }
}
