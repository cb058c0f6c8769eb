//! What the judge found.

use super::Kind;
use super::findings::Findings;
use lightlag_protocols::dtn::{BundleId, NodeId};
use lightlag_protocols::time::Instant;
use std::fmt;

/// One thing that cannot have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong.
    pub kind: Kind,
    /// When.
    pub at: Instant,
    /// Where; of two, the first is the sender or the end that was named first.
    pub nodes: Vec<NodeId>,
    /// With which bundle.
    pub bundle: Option<BundleId>,
    /// The numbers behind it, in words.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s: {}", self.at.as_secs_f64(), self.kind)?;
        if let Some(bundle) = self.bundle {
            write!(f, ", bundle {}", bundle.0)?;
        }
        match self.nodes[..] {
            [] => {}
            [node] => write!(f, ", node {}", node.0)?,
            [from, to, ..] => write!(f, ", nodes {} and {}", from.0, to.0)?,
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// Who and what a finding is about.
#[derive(Clone, Copy)]
pub(super) enum About {
    Nothing,
    Node(NodeId),
    Pair(NodeId, NodeId),
    Copy(NodeId, BundleId),
    Transfer(NodeId, NodeId, BundleId),
}

impl Findings<Violation> {
    pub(super) fn add(&mut self, kind: Kind, at: Instant, about: About, detail: impl FnOnce() -> String) {
        self.count_in(kind, || {
            let (nodes, bundle) = about.parts();
            Violation { kind, at, nodes, bundle, detail: detail() }
        });
    }
}

impl About {
    fn parts(self) -> (Vec<NodeId>, Option<BundleId>) {
        match self {
            Self::Nothing => (vec![], None),
            Self::Node(node) => (vec![node], None),
            Self::Pair(a, b) => (vec![a, b], None),
            Self::Copy(node, id) => (vec![node], Some(id)),
            Self::Transfer(from, to, id) => (vec![from, to], Some(id)),
        }
    }
}
