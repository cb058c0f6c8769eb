//! Nodes, bundles and copies, as the judge sees them.

use super::table::{Table, key};
use lightlag_protocols::dtn::{Bundle, BundleId, NodeId};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::Bytes;

/// A node that was introduced.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeState {
    pub buffer: Bytes,
    pub used: u64,
    /// Of it, bytes that were created here.
    pub own: u64,
    /// Transfers that it takes part in.
    pub active: u32,
    /// When it last took part in one.
    pub busy_until: Instant,
}

/// A bundle that was created.
#[derive(Clone, Debug)]
pub(super) struct BundleState {
    pub facts: Bundle,
    pub delivered: bool,
    /// The last bit of a copy has left for the destination. Links lose nothing, so the sender may
    /// call it delivered before light is there, as MaxProp does.
    pub promised: bool,
    /// Copies stored.
    pub copies: u32,
    /// Copies whose last bit has left and not arrived.
    pub flying: u32,
    /// One bit per node that has deleted a copy.
    dropped: Vec<u64>,
}

/// A copy that is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyState {
    pub received: Instant,
    pub expires: Instant,
    pub size: Bytes,
    /// `None` if the copy appeared without a transfer.
    pub hops: Option<u32>,
    pub own: bool,
    /// Transfers of it in progress.
    pub sending: u32,
    /// Transfers of it whose last bit has left.
    pub sent: u32,
    /// When the last of them ended.
    pub busy_until: Instant,
}

impl CopyState {
    /// A transfer of it is over.
    #[inline]
    pub(super) fn end_transfer(&mut self, now: Instant) {
        self.sending = self.sending.saturating_sub(1);
        self.busy_until = now;
    }
}

impl BundleState {
    pub(super) fn new(facts: Bundle) -> Self {
        Self { facts, delivered: false, promised: false, copies: 0, flying: 0, dropped: Vec::new() }
    }
    /// The bundle is no longer at a node.
    pub(super) fn drop_at(&mut self, node: NodeId) {
        let (word, bit) = (node.0 as usize / 64, node.0 % 64);
        if word >= self.dropped.len() {
            self.dropped.resize(word + 1, 0);
        }
        self.dropped[word] |= 1 << bit;
    }
    /// Whether a copy was deleted at a node at any time.
    pub(super) fn was_dropped_at(&self, node: NodeId) -> bool {
        self.dropped.get(node.0 as usize / 64).is_some_and(|word| word >> (node.0 % 64) & 1 == 1)
    }
}

/// All copies that are stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies(Table<CopyState>);

impl Copies {
    #[inline]
    pub(super) fn get_mut(&mut self, node: NodeId, id: BundleId) -> Option<&mut CopyState> {
        self.0.get_mut(&key(node.0, id.0))
    }
    pub(super) fn insert(&mut self, node: NodeId, id: BundleId, copy: CopyState) -> Option<CopyState> {
        self.0.insert(key(node.0, id.0), copy)
    }
    pub(super) fn remove(&mut self, node: NodeId, id: BundleId) -> Option<CopyState> {
        self.0.remove(&key(node.0, id.0))
    }
    /// All of them, by node and bundle.
    pub(super) fn sorted(&self) -> Vec<(NodeId, BundleId, CopyState)> {
        let mut all: Vec<_> = self
            .0
            .iter()
            .map(|(at, copy)| (NodeId((at >> 32) as u32), BundleId(*at as u32), *copy))
            .collect();
        all.sort_unstable_by_key(|&(node, id, _)| (node, id));
        all
    }
}
