//! What the judge knows of a run beside its records: the rules of its setup.

use lightlag_judge::JudgeRules;
use lightlag_judge::names::{ConsumerRules, LinkRules, NamesRules, NodeRules};
use lightlag_judge::packets::{FlowRules, PacketRules};
use lightlag_protocols::dtn::{BuildContext, RouterProperties};
use lightlag_protocols::ndn::{Face, Prefix};
use lightlag_worlds::packets::Source;
use lightlag_worlds::{messages, names, packets};
use std::collections::BTreeMap;

/// Of a run of bundles.
pub fn bundles(setup: &messages::Setup) -> JudgeRules {
    JudgeRules {
        radio: setup.rules.radio,
        propagation: setup.rules.propagation,
        tick: setup.rules.tick,
        purge_every: setup.rules.purge_every,
        overfill: setup.nodes.iter().any(|node| node.policy.overfill),
        oracle: setup.nodes.iter().any(|node| properties(node).instant || properties(node).keeps_expired),
        drops_sent: setup.nodes.iter().any(|node| properties(node).holders.is_some()),
        until: setup.until,
    }
}

/// What never changes for the router of a node.
fn properties(node: &messages::Node) -> RouterProperties {
    (node.router)(BuildContext { nodes: 1, ..BuildContext::default() }).properties
}

/// Of a run of packets. The scenario adds the names of links and flows.
pub fn packets(setup: &packets::Setup) -> PacketRules {
    let flow = |spec: &packets::FlowSpec| FlowRules {
        forward: spec.forward.clone(),
        backward: spec.backward.clone(),
        start: spec.start,
        bytes: match spec.source {
            Source::File(size) => Some(size.0),
            _ => None,
        },
    };
    PacketRules {
        links: setup.links.clone(),
        flows: setup.flows.iter().map(flow).collect(),
        until: setup.until,
        link_names: Vec::new(),
        flow_names: Vec::new(),
    }
}

/// Of a run of names. The scenario adds the names of links, nodes and consumers.
pub fn names(setup: &names::Setup) -> NamesRules {
    let links = setup.links.iter().map(|ends| LinkRules {
        from: ends.from,
        to: ends.to,
        back: ends.back,
        spec: ends.spec.clone(),
    });
    let consumers = setup.consumers.iter().map(|spec| ConsumerRules {
        node: spec.node,
        start: spec.start,
        stop: spec.stop,
        interest: spec.interest.0 as u32,
    });
    let producers = setup.producers.iter().map(|spec| (spec.node, spec.prefix, spec.producer.clone()));
    NamesRules {
        links: links.collect(),
        nodes: setup.nodes.iter().zip(0..).map(|(spec, index)| node(setup, spec, index)).collect(),
        consumers: consumers.collect(),
        producers: producers.collect(),
        stamped_at: setup.stamped_at,
        names: setup.names.clone(),
        until: setup.until,
        link_names: Vec::new(),
        node_names: Vec::new(),
        consumer_names: Vec::new(),
    }
}

/// The cheapest route is tried first; one to a producer costs nothing.
fn node(setup: &names::Setup, spec: &names::NodeSpec, index: u32) -> NodeRules {
    let first_producer = (setup.links.len() + setup.consumers.len()) as u32;
    let here = setup.producers.iter().zip(first_producer..).filter(|(producer, _)| producer.node == index);
    let here = here.map(|(producer, face)| (producer.prefix, face, 0));
    let mut costs: BTreeMap<Prefix, BTreeMap<Face, u32>> = BTreeMap::new();
    for (prefix, face, cost) in spec.routes.iter().copied().chain(here) {
        costs.entry(prefix).or_default().insert(face, cost);
    }
    let by_cost = |(prefix, costs): (Prefix, BTreeMap<Face, u32>)| {
        let mut faces: Vec<Face> = costs.keys().copied().collect();
        faces.sort_by_key(|face| costs[face]);
        (prefix, faces)
    };
    let routes = costs.into_iter().map(by_cost).collect();
    NodeRules { forwarder: spec.forwarder, clock: spec.clock, strips_stamps: spec.strips_stamps, routes }
}
