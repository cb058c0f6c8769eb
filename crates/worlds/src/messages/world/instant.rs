//! Copies that pass at once between nodes with an oracle: when a contact begins, and when a copy comes.

use super::{Flight, Ongoing, World};
use lightlag_protocols::dtn::{Answer, BundleId, NodeId, Offer, Replica, Transfer, TransferKind};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Remaining};

/// A node that passes a copy on to its peers, one after the other. Its copy may be deleted meanwhile.
struct Spreading {
    node: NodeId,
    replica: Replica,
    /// The next of its ports.
    next: usize,
    /// The transfer by which the copy came: both ends are busy until all is passed on.
    came_by: Option<u32>,
}

impl<O: Observer> World<'_, O> {
    fn is_instant(&self, node: NodeId) -> bool {
        self.agents[node.0 as usize].router_properties().instant
    }
    pub(super) fn passes_at_once(&self, node: NodeId, peer: NodeId) -> bool {
        self.is_instant(node) && self.is_instant(peer)
    }
    /// A contact has begun: each end gets what it does not have from the other one, the initiator first.
    pub(super) fn exchange_at_once(&mut self, a: NodeId, b: NodeId) {
        if !self.instant || !self.passes_at_once(a, b) {
            return;
        }
        for (to, from) in [(a, b), (b, a)] {
            let has = self.agents[to.0 as usize].store();
            let held = self.agents[from.0 as usize].store().replicas();
            let missing: Vec<Replica> =
                held.iter().filter(|replica| !has.contains(replica.bundle.id)).cloned().collect();
            for replica in missing {
                let passed = self.pass(from, to, replica);
                self.spread_on(passed);
            }
        }
    }
    /// `node` has a new copy: it goes to all peers at once, and from each to its peers in turn.
    #[inline]
    pub(super) fn spread(&mut self, node: NodeId, id: BundleId) {
        if self.instant && self.is_instant(node) {
            self.spread_from(node, id);
        }
    }
    #[cold]
    fn spread_from(&mut self, node: NodeId, id: BundleId) {
        let replica = self.agents[node.0 as usize].store().get(id).cloned();
        self.spread_on(replica.map(|replica| Spreading { node, replica, next: 0, came_by: None }));
    }
    #[cold]
    fn spread_on(&mut self, first: Option<Spreading>) {
        let mut stack: Vec<Spreading> = first.into_iter().collect();
        while let Some(last) = stack.last_mut() {
            let node = last.node;
            if let Some(port) = self.ports[node.0 as usize].get(last.next) {
                last.next += 1;
                let replica = last.replica.clone();
                stack.extend(self.pass(node, port.peer, replica));
            } else if let Some(slot) = stack.pop().and_then(|done| done.came_by) {
                self.release(slot);
            }
        }
    }
    /// Passes a copy from `from` to `to`, if that takes it; gives what `to` does next with it.
    fn pass(&mut self, from: NodeId, to: NodeId, replica: Replica) -> Option<Spreading> {
        let port = self.ports[from.0 as usize].iter().find(|port| port.peer == to)?;
        // Who is passing a copy on takes no other one meanwhile.
        let free = port.rates[0] > BitRate(0) && self.active[to.0 as usize] == 0;
        if !free || !self.passes_at_once(from, to) {
            return None;
        }
        self.hear_peers(to);
        let offer = Offer { replica: &replica, from };
        let answer = self.agents[to.0 as usize].consider(self.now, &offer, self.census.as_ref());
        self.flush_change(to);
        if answer != Answer::Accept {
            return None;
        }
        let (id, size) = (replica.bundle.id, replica.bundle.size);
        let delivers = replica.bundle.destination == to;
        let kind = if delivers { TransferKind::Delivery } else { TransferKind::Replication };
        let (transfer, now) = (Transfer { id, size, to, kind }, self.now);
        let (flight, left) = (Duration::ZERO, Remaining::of(size));
        let slot = self.set_under_way(Ongoing {
            transfer,
            from,
            started: now,
            ends: now,
            flight,
            delay: flight,
            since: now,
            left,
        });
        let transit = self.agents[from.0 as usize].pass_on(now, replica, &transfer, self.census.as_ref());
        self.record(&Record::Sent { from, to, id });
        self.arrive(Flight { transit, from, to, started: now, flight });
        self.on_change(to);
        if delivers {
            self.forget_elsewhere(id, [from, to]);
        }
        let received = self.agents[to.0 as usize].store().get(id).cloned();
        let Some(replica) = received.filter(|_| !delivers) else {
            self.release(slot);
            return None;
        };
        Some(Spreading { node: to, replica, next: 0, came_by: Some(slot) })
    }
    /// A bundle is delivered: its copies at all nodes with an oracle but these are deleted.
    fn forget_elsewhere(&mut self, id: BundleId, but: [NodeId; 2]) {
        for node in (0..self.agents.len() as u32).map(NodeId) {
            if !but.contains(&node) && self.is_instant(node) {
                self.agents[node.0 as usize].delete_delivered(self.now, id);
                self.flush_change(node);
            }
        }
    }
}
