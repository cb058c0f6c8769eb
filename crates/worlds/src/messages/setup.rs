//! What a world of messages is made of.

use crate::contacts::Contacts;
use lightlag_protocols::dtn::{
    BuildContext, Built, Bundle, BundleId, ContactPlan, Mechanism, NodeId, NodePolicy, Propagation, Radio,
    Router,
};
use lightlag_protocols::record::bundles::ReplyKind;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use std::sync::Arc;

/// Builds the algorithm of a node, with its properties.
pub type Builder<A> = Arc<dyn Fn(BuildContext) -> Built<A> + Send + Sync>;

/// One node.
#[derive(Clone)]
pub struct Node {
    /// Size of its buffer.
    pub buffer: Bytes,
    /// Its router.
    pub router: Builder<dyn Router>,
    /// Its congestion mechanism.
    pub mechanism: Builder<dyn Mechanism>,
    /// Its policy.
    pub policy: NodePolicy,
}

/// A whole run: same setup, same records, to the byte.
#[derive(Clone)]
pub struct Setup {
    /// The nodes; a node's number is its index.
    pub nodes: Vec<Node>,
    /// When nodes can talk. Traffic does not influence it: it is shared by all runs of one seed.
    pub contacts: Arc<Contacts>,
    /// Contacts that nodes know beforehand; empty where no algorithm uses them.
    pub plan: Arc<ContactPlan>,
    /// What some nodes know instead, and from when on; ascending by [`Revision::at`].
    pub revisions: Arc<Vec<Revision>>,
    /// What is created when, ascending by [`Bundle::created`]; a bundle's number is its index.
    pub bundles: Arc<Vec<Bundle>>,
    /// Which bundles are answered at their destination. The replies stand at the end of `bundles`, in this order, with
    /// [`Instant::MAX`] as the time of their creation.
    pub replies: Arc<Vec<Reply>>,
    /// End of the run; what happens at this instant still happens.
    pub until: Instant,
    /// Seed of the run's own streams (send order, activation order, mechanisms).
    pub seed: u64,
    /// How links and nodes behave.
    pub rules: Rules,
}

/// From a time on these nodes know this plan instead of what they knew before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// From when on; at [`Instant::ZERO`] nodes know it from the beginning.
    pub at: Instant,
    /// Which nodes, ascending.
    pub nodes: Vec<NodeId>,
    /// What they know.
    pub plan: Arc<ContactPlan>,
}

/// A bundle that is created when another one first arrives at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The other one.
    pub request: BundleId,
    /// Who creates it.
    pub kind: ReplyKind,
    /// Its lifetime.
    pub lifetime: Duration,
}

/// How links and nodes behave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How many transfers a node takes part in.
    pub radio: Radio,
    /// When a link is free again.
    pub propagation: Propagation,
    /// Ends of transfers are rounded up to multiples of this, as The ONE's update interval does.
    /// Contacts must have been rounded with the same tick.
    pub tick: Option<Duration>,
    /// In which order a node offers what it holds.
    pub send_order: SendOrderKind,
    /// Whether nodes that can act at one instant do so in the order of their numbers; if not, in a random order.
    pub act_by_number: bool,
    /// How receipts and free space get to peers.
    pub control: Control,
    /// Expired copies are deleted at multiples of this (The ONE: 60 s) instead of at once.
    pub purge_every: Option<Duration>,
    /// Buffers and algorithms are sampled at multiples of this.
    pub sample_every: Option<Duration>,
}

impl Rules {
    /// When the link is free again of what starts then, and how long its last bit flies from then on.
    pub fn transfer(
        &self,
        rate: BitRate,
        delay: Duration,
        size: Bytes,
        start: Instant,
    ) -> (Instant, Duration) {
        self.ends(start.saturating_add(rate.time_for(size)), rate, delay)
    }
    /// The same of what has its last bit leave at `last_bit`, at this rate then.
    #[inline]
    pub(super) fn ends(&self, last_bit: Instant, rate: BitRate, delay: Duration) -> (Instant, Duration) {
        let (sent, flight) = match self.propagation {
            Propagation::Pipelined => (last_bit, delay),
            Propagation::StopAndWait => (last_bit.saturating_add(delay), Duration::ZERO),
        };
        let ends = match self.tick {
            _ if rate == BitRate(0) => Instant::MAX,
            None => sent,
            // The ONE finishes a transfer at the first tick at which less than one byte is missing.
            Some(tick) => (sent - (rate.time_for(Bytes(1)) - Duration::from_nanos(1))).round_up(tick),
        };
        (ends, flight)
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            radio: Radio::Node,
            propagation: Propagation::Pipelined,
            tick: None,
            send_order: SendOrderKind::Random,
            act_by_number: false,
            control: Control::Carried,
            purge_every: None,
            sample_every: None,
        }
    }
}

/// How receipts and the free space of buffers get to the peers of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Over the link, as any other data: they take its time and the time of light, and are lost with the contact.
    Carried,
    /// At once, to everybody connected, and without cost unless a mechanism asks to be charged, as in The ONE.
    Instant,
}

/// In which order a node offers what it holds, where the router does not rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOrderKind {
    /// By reception.
    Fifo,
    /// Shuffled at each offer, from the node's own stream.
    Random,
    /// Shuffled by the clock's second: nodes with equally many copies shuffle alike, as The ONE's
    /// queue mode RANDOM does.
    Clock,
}
