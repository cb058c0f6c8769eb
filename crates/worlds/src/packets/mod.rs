//! The world of packets: nodes, links and flows, with the transports and controllers of
//! `lightlag_protocols`.
//!
//! A link is visited once for each packet that crosses it; there is no event for a packet's leaving.
//! The next thing to happen is found in a tree over links and endpoints.

pub mod adaptive;
mod datagrams;
mod endpoint;
pub mod ltp;
mod ltp_dccp;
mod source;
mod world;

pub use endpoint::Endpoint;
pub use source::{Source, Span, Switch};
pub use world::{World, run};

use lightlag_protocols::controllers::Factory;
use lightlag_protocols::link::{LinkSpec, Rate};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::ltp::{self as ltp_protocol};
use lightlag_protocols::transport::{dccp, tcp, udpdtn};
use lightlag_protocols::units::Bytes;

/// One experiment with a seed.
pub struct Setup {
    /// Directions of links.
    pub links: Vec<LinkSpec>,
    /// Who sends what to whom.
    pub flows: Vec<FlowSpec>,
    /// When it ends at the latest.
    pub until: Instant,
    /// End as soon as every flow is complete.
    pub until_complete: bool,
    /// End as soon as this number of bytes of each flow was delivered in order.
    pub until_delivered: Option<Bytes>,
    /// End as soon as senders and receivers have sent this number of packets.
    pub until_sent: Option<u64>,
    /// For random streams.
    pub seed: u64,
    /// How often flows and links are sampled.
    pub sample_every: Option<Duration>,
}

/// A flow: a sender, a receiver, and the links between them.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Links from the sender to the receiver, in order.
    pub forward: Vec<u32>,
    /// Links back.
    pub backward: Vec<u32>,
    /// When it begins.
    pub start: Instant,
    /// When its source stops for ever; what was sent by then is still repaired.
    pub stop: Option<Instant>,
    /// What it sends.
    pub source: Source,
    /// What it is carried by.
    pub transport: Transport,
    /// What the plan says of the rate, over time.
    pub planned_rate: Option<Rate>,
    /// What it says of the round trip of light.
    pub planned_round_trip: Option<Duration>,
}

/// What carries a flow.
#[derive(Clone, Debug)]
pub enum Transport {
    /// TCP.
    Tcp {
        /// How it behaves.
        config: tcp::Config,
        /// What controls it.
        controller: Factory,
    },
    /// LTP.
    Ltp {
        /// How its sending engine behaves.
        config: ltp_protocol::Config,
        /// What controls it.
        controller: Factory,
        /// Bytes of a block.
        block: Bytes,
    },
    /// DCCP: what is lost stays lost.
    Dccp {
        /// How the sending end behaves.
        config: dccp::Config,
        /// What controls it.
        controller: Factory,
    },
    /// LTP in datagrams of DCCP (RFC 7122): LTP repairs, and DCCP decides when a segment leaves.
    LtpDccp {
        /// How the sending engine behaves.
        ltp: ltp_protocol::Config,
        /// How the sending end of the connection behaves.
        dccp: dccp::Config,
        /// What controls the connection.
        controller: Factory,
        /// Bytes of a block.
        block: Bytes,
    },
    /// TCP and datagrams by turns, under a connection that stays.
    Adaptive {
        /// How it behaves.
        config: adaptive::Config,
        /// What controls either.
        controllers: adaptive::Controllers,
    },
    /// UDPDTN.
    Udpdtn {
        /// How it behaves.
        config: udpdtn::Config,
        /// What controls it.
        controller: Factory,
    },
}

/// Results of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// When it began.
    pub start: Instant,
    /// When the last byte was delivered, if all were; else when the run ended.
    pub end: Instant,
    /// Whether all were delivered; over DCCP, whether the sender has sent all and closed.
    pub complete: bool,
    /// Bytes delivered in order.
    pub delivered: Bytes,
    /// Segments sent with data, repairs included.
    pub sent: u64,
    /// Repairs among them.
    pub repairs: u64,
    /// Expiries of its timer.
    pub timeouts: u64,
    /// Losses that made its controller go back.
    pub episodes: u64,
    /// Packets of plain UDP that did not arrive.
    pub missing: u64,
}

/// Results of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Of each flow.
    pub flows: Vec<FlowOutcome>,
    /// Of each link.
    pub links: Vec<lightlag_protocols::link::Counts>,
    /// What carried the connections of adaptive flows, and since when: the flow, and the change.
    pub changes: Vec<(u32, adaptive::Change)>,
    /// When it ended.
    pub ended: Instant,
}
