//! What the judge must know of a run of packets beside its trace.

use lightlag_protocols::link::LinkSpec;
use lightlag_protocols::time::Instant;

/// The rules of a run.
#[derive(Clone, Debug)]
pub struct PacketRules {
    /// Directions of links, as they were asked for.
    pub links: Vec<LinkSpec>,
    /// Flows.
    pub flows: Vec<FlowRules>,
    /// End of the run at the latest.
    pub until: Instant,
    /// Names of links for reports; may be empty.
    pub link_names: Vec<String>,
    /// Names of flows.
    pub flow_names: Vec<String>,
}

/// What is known of a flow.
#[derive(Clone, Debug)]
pub struct FlowRules {
    /// Links from the sender to the receiver.
    pub forward: Vec<u32>,
    /// Links back.
    pub backward: Vec<u32>,
    /// When it begins.
    pub start: Instant,
    /// Bytes of the flow, if known.
    pub bytes: Option<u64>,
}
