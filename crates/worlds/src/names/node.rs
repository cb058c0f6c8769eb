//! A node: its forwarder, its clock, and how its faces are numbered.

use super::{NodeSpec, Setup};
use lightlag_protocols::ndn::StampedAt;
use lightlag_protocols::ndn::{Clock, Data, Face, Forwarder, ForwarderConfig, stamp};
use lightlag_protocols::time::{Duration, Instant};

/// State of a node.
pub struct Node {
    pub forwarder: Forwarder,
    clock: Clock,
    strips_stamps: bool,
    site: u32,
    stamped_at: StampedAt,
}

impl Node {
    pub fn new(index: u32, spec: &NodeSpec, setup: &Setup) -> Self {
        let faces = Faces::of(setup);
        let config = ForwarderConfig { at_once_from: faces.producer(0), ..spec.forwarder };
        let mut forwarder = Forwarder::new(config);
        for &(prefix, link, cost) in &spec.routes {
            forwarder.fib.add(prefix, faces.link(link), cost);
        }
        let here = setup.producers.iter().zip(0..).filter(|(producer, _)| producer.node == index);
        for (producer, number) in here {
            forwarder.fib.add(producer.prefix, faces.producer(number), 0);
        }
        forwarder.fib.settle(&setup.names);
        let (clock, strips_stamps) = (spec.clock, spec.strips_stamps);
        Self { forwarder, clock, strips_stamps, site: index, stamped_at: setup.stamped_at }
    }
    /// This node answers with these Data: who it is, and when they leave or how far ahead its clock is then.
    #[inline]
    pub fn answers(&self, now: Instant, data: &mut Data) -> Option<Duration> {
        if self.stamped_at == StampedAt::Nowhere {
            return None;
        }
        data.site = Some(self.site);
        let ahead = self.clock.ahead(now);
        if self.stamped_at == StampedAt::Wire {
            return Some(ahead);
        }
        data.stamp = Some(stamp(now, ahead));
        None
    }
    /// Removes stamps from forwarded Data, if the node does not know them.
    #[inline]
    pub fn passes(&self, data: &mut Data) {
        if self.strips_stamps {
            (data.stamp, data.site) = (None, None);
        }
    }
}

/// How faces are numbered: outgoing links first, then consumers, then producers.
#[derive(Clone, Copy, Debug)]
pub struct Faces {
    links: u32,
    consumers: u32,
}

/// What is behind a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// The near end of a link.
    Link(u32),
    /// A consumer.
    Consumer(u32),
    /// A producer.
    Producer(u32),
}

impl Faces {
    pub fn of(setup: &Setup) -> Self {
        Self { links: setup.links.len() as u32, consumers: setup.consumers.len() as u32 }
    }
    pub fn link(self, index: u32) -> Face {
        index
    }
    #[inline]
    pub fn consumer(self, index: u32) -> Face {
        self.links + index
    }
    #[inline]
    pub fn producer(self, index: u32) -> Face {
        self.links + self.consumers + index
    }
    #[inline]
    pub fn behind(self, face: Face) -> Behind {
        if face < self.links {
            Behind::Link(face)
        } else if face < self.links + self.consumers {
            Behind::Consumer(face - self.links)
        } else {
            Behind::Producer(face - self.links - self.consumers)
        }
    }
}
