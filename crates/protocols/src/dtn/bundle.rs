//! Bundles, and the nodes that carry them.

use crate::time::Instant;
use crate::units::Bytes;

/// A node of the network: a small dense number that the driver assigns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct NodeId(pub u32);

/// A bundle: a small dense number that the driver assigns (a real node interns source, creation
/// timestamp and sequence number, RFC 9171 section 4.2.7).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BundleId(pub u32);

/// The facts of a bundle that never change in transit: its primary block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bundle {
    /// Its name.
    pub id: BundleId,
    /// Where it was created.
    pub source: NodeId,
    /// The node that it is for.
    pub destination: NodeId,
    /// Length as it occupies buffers and links.
    pub size: Bytes,
    /// When it was created.
    pub created: Instant,
    /// When its lifetime ends; from then on no node keeps it.
    pub expires: Instant,
}
