//! A node's buffer.

use super::{Bundle, BundleId, IdSet, NodeId};
use crate::time::Instant;
use crate::units::Bytes;
use std::sync::Arc;

/// The path of a copy so far, newest hop first; copies share the tails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(Option<Arc<Hop>>);

#[derive(Debug, PartialEq, Eq)]
struct Hop {
    node: NodeId,
    before: Path,
}

impl Path {
    /// This path and one more node.
    pub fn then(self, node: NodeId) -> Self {
        Self(Some(Arc::new(Hop { node, before: self })))
    }
    /// Whether the copy has been at `node`.
    pub fn contains(&self, node: NodeId) -> bool {
        let mut at = self;
        while let Some(hop) = &at.0 {
            if hop.node == node {
                return true;
            }
            at = &hop.before;
        }
        false
    }
}

/// A copy of a bundle as it is stored at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// Which bundle.
    pub bundle: Bundle,
    /// When this copy came here.
    pub received: Instant,
    /// Links crossed so far.
    pub hops: u32,
    /// Transfers of this copy in progress; while there are any it can't be dropped.
    pub sending: u32,
    /// What the router writes on its copy; an extension block of the bundle.
    pub router_mark: u64,
    /// What the mechanism writes on its copy; an extension block of the bundle.
    pub mechanism_mark: u64,
    /// Where it has been, kept only for routers that ask for it.
    pub path: Path,
}

/// A buffer of bounded size, in order of reception.
#[derive(Clone, Debug)]
pub struct Store {
    capacity: Bytes,
    used: Bytes,
    replicas: Vec<Replica>,
    /// Beside each replica what offers are searched by, so that a search touches few cache lines.
    heads: Vec<Head>,
    held: IdSet,
    bound: Sieve,
}

/// A set of nodes of which little is known: one bit each, by number modulo 64. Two that have no bit in
/// common have no member in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sieve(u64);

impl Sieve {
    /// Only one node.
    #[inline]
    pub fn of(node: NodeId) -> Self {
        Self(1 << (node.0 % 64))
    }
    /// Whether the two may have a member in common.
    #[inline]
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl FromIterator<NodeId> for Sieve {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Self {
        Self(nodes.into_iter().fold(0, |bits, node| bits | Self::of(node).0))
    }
}

/// What offers are searched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Which bundle.
    pub id: BundleId,
    /// Its destination.
    pub destination: NodeId,
}

impl Store {
    /// An empty buffer.
    pub fn new(capacity: Bytes) -> Self {
        Self {
            capacity,
            used: Bytes(0),
            replicas: Vec::new(),
            heads: Vec::new(),
            held: IdSet::default(),
            bound: Sieve::default(),
        }
    }
    /// How much it can hold.
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }
    /// How much it holds.
    pub fn used(&self) -> Bytes {
        self.used
    }
    /// How much still fits.
    pub fn free(&self) -> Bytes {
        self.capacity.saturating_sub(self.used)
    }
    /// Whether a copy of `id` is here.
    #[inline]
    pub fn contains(&self, id: BundleId) -> bool {
        self.held.contains(id.0)
    }
    /// Of which bundles there are copies.
    #[inline]
    pub(super) fn held(&self) -> &IdSet {
        &self.held
    }
    /// The copies, oldest reception first.
    #[inline]
    pub fn replicas(&self) -> &[Replica] {
        &self.replicas
    }
    /// Name and destination of each copy, same order as [`Store::replicas`].
    #[inline]
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }
    /// The destinations of the copies, coarsely: most searches for a destination end here.
    #[inline]
    pub fn bound(&self) -> Sieve {
        self.bound
    }
    /// The copy of `id`.
    #[inline]
    pub fn get(&self, id: BundleId) -> Option<&Replica> {
        self.slot(id).map(|at| &self.replicas[at])
    }
    /// The copy of `id`, to write on it.
    pub fn get_mut(&mut self, id: BundleId) -> Option<&mut Replica> {
        self.slot(id).map(|at| &mut self.replicas[at])
    }
    /// The copy that came first among those that are not being sent: The ONE's victim.
    pub fn oldest_idle(&self) -> Option<&Replica> {
        self.replicas.iter().find(|r| r.sending == 0)
    }
    /// Puts a copy in as the newest. Whether it fits is the caller's affair.
    pub fn insert(&mut self, replica: Replica) {
        debug_assert!(!self.contains(replica.bundle.id), "one copy of a bundle per node");
        self.used += replica.bundle.size;
        self.held.insert(replica.bundle.id.0);
        self.bound.0 |= Sieve::of(replica.bundle.destination).0;
        self.heads.push(Head { id: replica.bundle.id, destination: replica.bundle.destination });
        self.replicas.push(replica);
    }
    /// Writes on the copy in a slot; which bundle it is of stays.
    pub(super) fn update(&mut self, slot: usize, replica: Replica) {
        debug_assert_eq!(self.replicas[slot].bundle, replica.bundle);
        self.replicas[slot] = replica;
    }
    /// Takes the copy of `id` out.
    pub fn remove(&mut self, id: BundleId) -> Option<Replica> {
        self.slot(id).map(|slot| self.take(slot))
    }
    /// Takes the copy in a slot out.
    pub(super) fn take(&mut self, slot: usize) -> Replica {
        self.heads.remove(slot);
        self.bound = self.heads.iter().map(|head| head.destination).collect();
        let replica = self.replicas.remove(slot);
        self.used -= replica.bundle.size;
        self.held.remove(replica.bundle.id.0);
        replica
    }
    /// Where the copy of `id` stands among [`Store::replicas`].
    #[inline]
    pub fn slot(&self, id: BundleId) -> Option<usize> {
        if !self.contains(id) {
            return None;
        }
        self.heads.iter().position(|head| head.id == id)
    }
}
