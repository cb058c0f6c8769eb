//! What the judge found.

use super::Kind;
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

/// What was found so far: all of it counted, the first of it kept.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    kept: Vec<Violation>,
    counts: [u64; Kind::ALL.len()],
}

/// Enough to see what is wrong; a broken world can violate at every record.
const MOST_KEPT: usize = 1_000;

/// Who and what a finding is about.
#[derive(Clone, Copy)]
pub(super) enum About {
    Nothing,
    Node(NodeId),
    Pair(NodeId, NodeId),
    Copy(NodeId, BundleId),
    Transfer(NodeId, NodeId, BundleId),
}

impl Findings {
    pub(super) fn new() -> Self {
        Self { kept: Vec::new(), counts: [0; Kind::ALL.len()] }
    }
    #[cold]
    pub(super) fn add(&mut self, kind: Kind, at: Instant, about: About, detail: impl FnOnce() -> String) {
        self.counts[kind as usize] += 1;
        if self.kept.len() < MOST_KEPT {
            let (nodes, bundle) = about.parts();
            self.kept.push(Violation { kind, at, nodes, bundle, detail: detail() });
        }
    }
    pub(super) fn kept(&self) -> &[Violation] {
        &self.kept
    }
    pub(super) fn count(&self, kind: Kind) -> u64 {
        self.counts[kind as usize]
    }
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().sum()
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
