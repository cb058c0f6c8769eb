//! What the judge must know of a run of names beside its trace.

use lightlag_protocols::link::LinkSpec;
use lightlag_protocols::ndn::StampedAt;
use lightlag_protocols::ndn::{Clock, Face, ForwarderConfig, Name, Names, Prefix, Producer};
use lightlag_protocols::time::{Duration, Instant};
use std::collections::BTreeMap;

/// The rules of a run.
#[derive(Clone, Debug)]
pub struct NamesRules {
    /// Directions of links.
    pub links: Vec<LinkRules>,
    /// Who passes on.
    pub nodes: Vec<NodeRules>,
    /// Who wants Data.
    pub consumers: Vec<ConsumerRules>,
    /// Who has them: where, under which prefix, and what.
    pub producers: Vec<(u32, Prefix, Producer)>,
    /// When Data are stamped.
    pub stamped_at: StampedAt,
    /// All names that are spoken of.
    pub names: Names,
    /// End of the run at the latest.
    pub until: Instant,
    /// Names of links for reports; may be empty.
    pub link_names: Vec<String>,
    /// Names of nodes.
    pub node_names: Vec<String>,
    /// Names of consumers.
    pub consumer_names: Vec<String>,
}

/// What is known of a link.
#[derive(Clone, Debug)]
pub struct LinkRules {
    /// The node where it begins.
    pub from: u32,
    /// The node where it ends.
    pub to: u32,
    /// The link back.
    pub back: u32,
    /// What it does to packets.
    pub spec: LinkSpec,
}

/// What is known of a node.
#[derive(Clone, Debug)]
pub struct NodeRules {
    /// How its forwarder behaves.
    pub forwarder: ForwarderConfig,
    /// Its idea of the time.
    pub clock: Clock,
    /// Passes Data on without stamps.
    pub strips_stamps: bool,
    /// Faces that lead to names under a prefix, those to be tried first in front.
    pub routes: BTreeMap<Prefix, Vec<Face>>,
}

/// What is known of a consumer.
#[derive(Clone, Copy, Debug)]
pub struct ConsumerRules {
    /// Where.
    pub node: u32,
    /// When it begins to ask.
    pub start: Instant,
    /// When it stops asking for anything new.
    pub stop: Option<Instant>,
    /// Bytes of its Interests on a link.
    pub interest: u32,
}

impl NamesRules {
    /// Faces of links come first, then those of consumers, then those of producers.
    pub(super) fn consumer_face(&self, consumer: u32) -> Face {
        self.links.len() as u32 + consumer
    }
    pub(super) fn producer_face(&self, producer: u32) -> Face {
        self.consumer_face(self.consumers.len() as u32) + producer
    }
    /// Where an Interest that came by a face goes: as the longest prefix says, and never back.
    pub(super) fn lead(&self, node: u32, prefix: Prefix, from: Face) -> Option<Face> {
        let routes = &self.nodes[node as usize].routes;
        let mut at = prefix;
        loop {
            if let Some(faces) = routes.get(&at) {
                return faces.iter().copied().find(|face| *face != from);
            }
            at = self.above(at)?;
        }
    }
    fn above(&self, prefix: Prefix) -> Option<Prefix> {
        let known = prefix != Names::ROOT && (prefix.0 as usize) < self.names.count();
        known.then(|| self.names.parent(prefix))
    }
    /// A name as URI; an unknown prefix is shown by its number.
    pub(super) fn text(&self, name: Name) -> String {
        if (name.prefix.0 as usize) < self.names.count() {
            return self.names.text(name);
        }
        format!("unknown name {}/{}", name.prefix.0, name.segment)
    }
}

impl LinkRules {
    /// Whether its queue marks Data instead of dropping them.
    pub(super) fn marks(&self) -> bool {
        self.spec.queue.marks()
    }
}

/// What a clock shows at a time, in nanoseconds.
pub(super) fn shows(clock: &Clock, at: Instant) -> i64 {
    at.as_nanos().saturating_add(ahead(clock, at).as_nanos())
}

/// How far a clock is ahead at a time.
pub(super) fn ahead(clock: &Clock, at: Instant) -> Duration {
    let gained = at.as_nanos() as f64 * clock.skew;
    Duration::from_nanos(clock.offset.as_nanos().saturating_add(gained as i64))
}

/// From one time to another, saturating: a trace may hold any times.
pub(super) fn span(from: Instant, to: Instant) -> Duration {
    Duration::from_nanos(to.as_nanos().saturating_sub(from.as_nanos()))
}
