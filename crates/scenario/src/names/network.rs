//! Who asks whom for what, over which links, as plain data.

use super::{nodes, people, routes};
use crate::packets::{Chosen, Known, LinkPlan, factory, read_links};
use crate::quantity::{positive_time, time};
use crate::{Head, Result, Section, Seed};
use lightlag_protocols::ndn::StampedAt;
use lightlag_protocols::ndn::{Config, Names, Producer, Requests};
use lightlag_protocols::rng::{self, Stream};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use lightlag_worlds::names::{ConsumerSpec, LinkEnds, NodeSpec, ProducerSpec, Setup};

/// Nodes, links between them, and who lives there.
#[derive(Clone, Debug)]
pub struct NameNetwork {
    /// Name, duration and seed.
    pub head: Head,
    /// All names that are spoken of.
    pub names: Names,
    /// Every node that a link or a table names.
    pub nodes: Vec<NodePlan>,
    /// Both directions of every link.
    pub links: Vec<LinkPlan>,
    /// Who has what.
    pub producers: Vec<ProducerPlan>,
    /// Who wants what.
    pub consumers: Vec<ConsumerPlan>,
    /// How often consumers and links are sampled.
    pub sample_every: Option<Duration>,
    /// Figures of consumers count the Data that arrive from then on.
    pub measure_from: Instant,
    /// When Data are stamped.
    pub stamped_at: StampedAt,
}

/// A node.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// Its name.
    pub name: String,
    /// How it behaves.
    pub spec: NodeSpec,
}

/// Someone who has Data.
#[derive(Clone, Debug)]
pub struct ProducerPlan {
    /// Its name.
    pub name: String,
    /// What the world of names knows of it.
    pub spec: ProducerSpec,
}

/// Someone who wants Data.
#[derive(Clone, Debug)]
pub struct ConsumerPlan {
    /// Its name.
    pub name: String,
    /// Where, by number.
    pub node: u32,
    /// When it begins to ask.
    pub start: Instant,
    /// When it stops asking for anything new.
    pub stop: Option<Instant>,
    /// Stops asking for anything new after this many Data.
    pub stop_after: Option<u64>,
    /// What it asks for.
    pub wants: Wants,
    /// Bytes of an Interest on a link.
    pub interest: Bytes,
    /// How it behaves.
    pub config: Config,
    /// What controls it.
    pub controller: Chosen,
}

/// What a consumer asks for.
#[derive(Clone, Debug)]
pub enum Wants {
    /// An object, or its first segments.
    Object(Requests),
    /// Objects of a catalogue by their popularity.
    Popular(std::sync::Arc<lightlag_protocols::ndn::Catalogue>),
}

/// Reads a scenario of names, whose controllers are `known`.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(head: Head, root: &Section, files: crate::packets::Read, known: &Known) -> Result<NameNetwork> {
    let links = read_links(root, files)?;
    let mut nodes = nodes::read(root, &links)?;
    let mut names = Names::default();
    let producers = people::producers(root, &nodes, &mut names)?;
    let consumers = people::consumers(root, &nodes, &producers, &mut names, known)?;
    routes::lay(root, &mut nodes, &links, &producers, &consumers)?;
    let stamps =
        [("wire", StampedAt::Wire), ("application", StampedAt::Application), ("none", StampedAt::Nowhere)];
    let measure_from = root.quantity("measure_from", time)?.unwrap_or_default();
    let duration = head.duration;
    if measure_from >= duration {
        return root.refuse(
            "measure_from",
            format!("`measure_from` is {} s", measure_from.as_secs_f64()),
            format!("the run ends at {} s", duration.as_secs_f64()),
        );
    }
    Ok(NameNetwork {
        head,
        sample_every: root.quantity("sample_every", positive_time)?,
        measure_from: Instant::ZERO.saturating_add(measure_from),
        stamped_at: root.word("stamps", &stamps)?.unwrap_or_default(),
        names,
        nodes,
        links,
        producers,
        consumers,
    })
}

impl NameNetwork {
    /// What the world of names runs.
    pub fn setup(&self, seed: Seed) -> Setup {
        let seed = self.head.seed_number(seed);
        let link = |(plan, index): (&LinkPlan, u32)| LinkEnds {
            from: self.node(&plan.from),
            to: self.node(&plan.to),
            back: index ^ 1,
            spec: plan.spec.clone(),
        };
        let consumers = self.consumers.iter().zip(0..);
        Setup {
            names: self.names.clone(),
            nodes: self.nodes.iter().map(|node| node.spec.clone()).collect(),
            links: self.links.iter().zip(0..).map(link).collect(),
            producers: self.producers.iter().map(|producer| producer.spec.clone()).collect(),
            consumers: consumers.map(|(plan, index)| plan.spec(seed, index)).collect(),
            until: self.head.until(),
            until_complete: true,
            measure_from: self.measure_from,
            stamped_at: self.stamped_at,
            seed,
            sample_every: self.sample_every,
        }
    }
    /// The number of a node.
    pub fn node(&self, name: &str) -> u32 {
        self.nodes.iter().position(|node| node.name == name).unwrap_or(0) as u32
    }
}

impl ConsumerPlan {
    fn spec(&self, seed: u64, index: u64) -> ConsumerSpec {
        let controller = factory(&self.controller);
        ConsumerSpec {
            node: self.node,
            start: self.start,
            stop: self.stop,
            stop_after: self.stop_after,
            requests: match &self.wants {
                Wants::Object(requests) => requests.clone(),
                Wants::Popular(catalogue) => {
                    Requests::popular(catalogue.clone(), Stream::new(seed, "popular objects", index))
                }
            },
            interest: self.interest,
            config: Config { seed: rng::mix(seed ^ (index << 32)), ..self.config },
            controller,
        }
    }
}

/// Of a producer: bytes of content and bytes on the link of a full packet.
pub(crate) fn packet_of(producer: &Producer) -> (Bytes, Bytes) {
    let content = u64::from(producer.segment).min(producer.object);
    (Bytes(content), Bytes(content + u64::from(producer.overhead)))
}
