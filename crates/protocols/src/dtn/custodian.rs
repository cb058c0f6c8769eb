//! Where a copy can be moved that has to make room.

use crate::dtn::{BundleId, Link, Local, NodeId};

/// The neighbour with most room, if it has enough for the copy of `id` and its radio is free, but not `giver`, the sender
/// of what asks for room; of equals the oldest link.
pub fn roomiest(at: &Local, id: BundleId, giver: Option<NodeId>) -> Option<NodeId> {
    let size = at.store.get(id)?.bundle.size;
    let has_room =
        |link: &&Link| link.peer_space.idle && link.peer_space.free >= size && Some(link.peer) != giver;
    let roomiest = at.links.iter().filter(has_room).rev().max_by_key(|link| link.peer_space.free);
    roomiest.map(|link| link.peer)
}
