//! Routers that count how many peers in contact hold a copy, and those that accept again after a while.

use super::{Event, World};
use lightlag_protocols::dtn::{BundleId, NodeId};
use lightlag_protocols::record::bundles::Observer;
use lightlag_protocols::time::Duration;
use std::collections::BTreeMap;

impl<O: Observer> World<'_, O> {
    /// Copies of which too few or too many peers hold one are deleted, where the router wants it.
    #[cold]
    pub(super) fn keep_among(&mut self, node: NodeId) {
        let index = node.0 as usize;
        if self.agents[index].router_properties().holders.is_none() || self.ports[index].is_empty() {
            return;
        }
        let agents = &mut self.agents;
        let holders = |id: BundleId| {
            let peers = self.ports[index].iter().map(|port| port.peer.0 as usize);
            peers.filter(|&peer| agents[peer].store().contains(id)).count() as u32
        };
        let held = agents[index].store().heads().iter().map(|head| head.id);
        let counts: BTreeMap<BundleId, u32> = held.map(|id| (id, holders(id))).collect();
        agents[index].keep_among(self.now, |id| counts.get(&id).copied().unwrap_or(0));
        self.flush_change(node);
    }
    /// What `node` holds, or its links, have changed: its peers count again, and may accept from theirs what they refused.
    #[cold]
    pub(super) fn recount(&mut self, node: NodeId) {
        for at in 0..self.ports[node.0 as usize].len() {
            let peer = self.ports[node.0 as usize][at].peer;
            self.demand[peer.0 as usize] = self.changes;
            self.wake(peer);
            for at in 0..self.ports[peer.0 as usize].len() {
                self.wake(self.ports[peer.0 as usize][at].peer);
            }
        }
    }
    /// A copy has come to `node`, which may accept after a while what it refuses now.
    #[inline]
    pub(super) fn renew_later(&mut self, node: NodeId) {
        let renewals = self.agents[node.0 as usize].router_properties().renews_after;
        if renewals != [Duration::ZERO; 2] {
            self.schedule_renewals(node, renewals);
        }
    }
    #[cold]
    fn schedule_renewals(&mut self, node: NodeId, renewals: [Duration; 2]) {
        for after in renewals.into_iter().filter(|after| *after > Duration::ZERO) {
            let at = self.now.saturating_add(after);
            let at = self.rules().tick.map_or(at, |tick| at.round_up(tick));
            self.queue.schedule(at, Event::Renewed(node));
        }
    }
}
