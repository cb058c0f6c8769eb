//! The world of names: consumers, forwarders and producers of `lightlag_protocols::ndn` over the links of
//! the world of packets.

mod node;
mod tally;
mod world;

pub use world::{World, run};

use lightlag_protocols::controllers::Factory;
use lightlag_protocols::link::LinkSpec;
use lightlag_protocols::ndn::{
    self, Clock, Config, ForwarderConfig, ForwarderCounts, Names, Prefix, Producer, Requests, StampedAt,
};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;

/// One experiment with a seed.
pub struct Setup {
    /// All names that are spoken of.
    pub names: Names,
    /// Who passes on.
    pub nodes: Vec<NodeSpec>,
    /// Directions of links.
    pub links: Vec<LinkEnds>,
    /// Who has the Data.
    pub producers: Vec<ProducerSpec>,
    /// Who wants them.
    pub consumers: Vec<ConsumerSpec>,
    /// When it ends at the latest.
    pub until: Instant,
    /// End as soon as every consumer has everything.
    pub until_complete: bool,
    /// Measured figures of consumers count from then on.
    pub measure_from: Instant,
    /// When the node that answers stamps Data.
    pub stamped_at: StampedAt,
    /// For random streams.
    pub seed: u64,
    /// How often consumers and links are sampled.
    pub sample_every: Option<Duration>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// How its forwarder behaves.
    pub forwarder: ForwarderConfig,
    /// Its idea of the time.
    pub clock: Clock,
    /// Does not know stamps, and passes Data on without them.
    pub strips_stamps: bool,
    /// Prefixes, the outgoing links, by index, that lead to them, and what that costs: 1 or more, since a
    /// producer on the node comes first.
    pub routes: Vec<(Prefix, u32, u32)>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkEnds {
    /// The node where it begins.
    pub from: u32,
    /// The node where it ends.
    pub to: u32,
    /// The link back.
    pub back: u32,
    /// What it does to packets.
    pub spec: LinkSpec,
}

/// Who has the Data under a prefix.
#[derive(Clone, Debug)]
pub struct ProducerSpec {
    /// Where.
    pub node: u32,
    /// Everything under it.
    pub prefix: Prefix,
    /// What there is.
    pub producer: Producer,
}

/// Who wants Data.
pub struct ConsumerSpec {
    /// Where.
    pub node: u32,
    /// When it begins to ask.
    pub start: Instant,
    /// When it stops asking for anything new.
    pub stop: Option<Instant>,
    /// Stops asking for anything new after this number of Data.
    pub stop_after: Option<u64>,
    /// What it asks for.
    pub requests: Requests,
    /// Bytes of an Interest on a link.
    pub interest: Bytes,
    /// How it behaves.
    pub config: Config,
    /// What controls it.
    pub controller: Factory,
}

/// Results of a consumer. Measured figures count from [`Setup::measure_from`] or its start on, whichever
/// is later.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConsumerOutcome {
    /// When it began.
    pub start: Instant,
    /// When it had everything, if it did; else when the run ended.
    pub end: Instant,
    /// Whether it has everything.
    pub complete: bool,
    /// How much it has done, from the start on.
    pub counts: ndn::Counts,
    /// From when to `end` it was measured.
    pub measured_from: Instant,
    /// Bytes of content that came, measured.
    pub measured: Bytes,
    /// Its Interests and Data that queues dropped, or that were lost.
    pub drops: u64,
    /// Median over time of the Interests that its window lets be without an answer, measured.
    pub window_median: Option<f64>,
    /// Of the time that Data spent in queues, measured: median and 99 %.
    pub queueing_delay_p50: Option<Duration>,
    /// 99 of 100 Data waited less.
    pub queueing_delay_p99: Option<Duration>,
    /// The dropped or lost of its Interests.
    pub interest_drops: u64,
    /// Of the time that Interests spent in queues up to their responder, measured: median and 99 %.
    /// Aggregated Interests do not count.
    pub interest_queueing_delay_p50: Option<Duration>,
    /// 99 of 100 Interests waited less.
    pub interest_queueing_delay_p99: Option<Duration>,
}

/// Results of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeOutcome {
    /// What its forwarder has done.
    pub counts: ForwarderCounts,
    /// Interests that got no answer in time.
    pub expired: u64,
    /// Most Interests that were pending at once.
    pub pending_max: u64,
}

/// Results of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Of each consumer.
    pub consumers: Vec<ConsumerOutcome>,
    /// Of each node.
    pub nodes: Vec<NodeOutcome>,
    /// Of each link.
    pub links: Vec<lightlag_protocols::link::Counts>,
    /// When it ended.
    pub ended: Instant,
}
