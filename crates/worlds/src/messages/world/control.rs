//! Messages of nodes to their peers beside bundles: receipts, summaries, free space, and requests to give a moved copy back.
//!
//! [`Control::Carried`]: it leaves after the transfer in progress, takes the time of the link and of light, and is lost
//! if the contact ends before it has left. [`Control::Instant`]: everybody connected knows it at once, as in The ONE.

use super::{Event, World};
use crate::messages::Control;
use lightlag_protocols::dtn::{BundleId, NodeId, PeerSpace, Radio};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::{BitRate, Bytes};
use std::cmp::Reverse;

/// A receipt: an administrative record with the bundle's source, creation time and sequence (RFC 9171, section 6.1: 14 to 30
/// bytes).
const RECEIPT: Bytes = Bytes(20);
/// What a receipt takes where it is charged and instant: the number of the bundle.
const NUMBER: Bytes = Bytes(8);
/// A sketch of the receipts that a node has, from which its peer computes which are missing there.
const SKETCH: Bytes = Bytes(32);
/// A summary without bundles: how many follow. Nodes exchange summaries at the start of a contact (Vahdat and Becker 2000, section 3).
const SUMMARY: Bytes = Bytes(4);
/// What it takes for each bundle that a node has: a hash of its name.
const HASH: Bytes = Bytes(4);
/// Free bytes, size and state of a buffer.
const SPACE: Bytes = Bytes(12);
/// The number of a bundle, and what is asked.
const REQUEST: Bytes = Bytes(16);
/// A buffer whose free space changed by less than this part of it is not reported.
const SPACE_CHANGES: u64 = 64;

/// The content of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Message {
    /// This bundle is delivered.
    Receipt(BundleId),
    /// Which receipts the teller has.
    Sketch,
    /// What the teller's buffer holds.
    Space(PeerSpace),
    /// The teller wants this copy back.
    Reclaim(BundleId),
    /// It cannot have it.
    ReclaimRefused(BundleId),
}

impl Message {
    fn size(self) -> Bytes {
        match self {
            Self::Receipt(_) => RECEIPT,
            Self::Sketch => SKETCH,
            Self::Space(_) => SPACE,
            Self::Reclaim(_) | Self::ReclaimRefused(_) => REQUEST,
        }
    }
}

impl<O: Observer> World<'_, O> {
    fn is_carried(&self) -> bool {
        self.rules().control == Control::Carried
    }
    /// Sends a message over the link, if there is one and the contact lasts.
    pub(super) fn send_control(&mut self, from: NodeId, to: NodeId, message: Message) {
        let Some(left) = self.charge(from, to, message.size()) else { return };
        let Some(port) = self.ports[from.0 as usize].iter().find(|port| port.peer == to) else { return };
        let contact = self.setup.contacts.list[port.contact as usize];
        if left > contact.end {
            return;
        }
        let channel = if contact.a == from { contact.forward } else { contact.backward };
        let delay = self.setup.contacts.channels[channel as usize].delay.at(left);
        let at = left.saturating_add(delay);
        let at = self.rules().tick.map_or(at, |tick| at.round_up(tick));
        self.queue.schedule(at, Event::ControlArrived(from, to, message));
    }
    /// A message has arrived. The contact may be over by then.
    pub(super) fn receive_control(&mut self, from: NodeId, to: NodeId, message: Message) {
        match message {
            Message::Receipt(id) => {
                if self.exchanges_receipts(to) && self.learn_receipt(to, id) {
                    self.pass_receipt_on(Some(from), to, id);
                }
            }
            Message::Sketch => {
                let [own, its] = [to, from].map(|node| self.agents[node.0 as usize].acknowledged());
                let missing: Vec<u32> = its.missing_from(own).collect();
                missing
                    .into_iter()
                    .for_each(|id| self.send_control(to, from, Message::Receipt(BundleId(id))));
            }
            Message::Space(space) => {
                let port = self.ports[to.0 as usize].iter_mut().find(|port| port.peer == from);
                if let Some(port) = port {
                    port.space = space;
                    self.on_change(to);
                }
            }
            Message::Reclaim(id) => {
                if self.agents[to.0 as usize].on_reclaim(from, id) {
                    self.wake(to);
                } else {
                    self.send_control(to, from, Message::ReclaimRefused(id));
                }
            }
            Message::ReclaimRefused(id) => self.agents[to.0 as usize].on_reclaim_refused(self.now, from, id),
        }
    }

    // --- receipts ---------------------------------------------------------------------------

    /// Both ends of a new contact learn the receipts that they do not have.
    pub(super) fn exchange_receipts(&mut self, a: NodeId, b: NodeId) {
        if !self.receipts {
            return;
        }
        if self.is_carried() {
            for (from, to) in [(a, b), (b, a)] {
                if self.exchanges_receipts(from) && self.exchanges_receipts(to) {
                    self.send_control(from, to, Message::Sketch);
                }
            }
            return;
        }
        let [x, y] = [a, b].map(|node| self.agents[node.0 as usize].acknowledged());
        let unknown: Vec<(NodeId, u32)> =
            (x.missing_from(y).map(|id| (a, id))).chain(y.missing_from(x).map(|id| (b, id))).collect();
        for (node, id) in unknown {
            let teller = if node == a { b } else { a };
            self.spread_receipt(Some(teller), node, BundleId(id));
        }
    }
    /// `node` has the bundle at its destination, and sends a receipt to everybody connected to it.
    pub(super) fn flood_receipt(&mut self, node: NodeId, id: BundleId) {
        if !self.is_carried() {
            self.spread_receipt(None, node, id);
        } else if self.exchanges_receipts(node) && self.learn_receipt(node, id) {
            self.pass_receipt_on(None, node, id);
        }
    }
    /// `node` passes a receipt on to all peers but the one that sent it.
    fn pass_receipt_on(&mut self, teller: Option<NodeId>, node: NodeId, id: BundleId) {
        for at in 0..self.ports[node.0 as usize].len() {
            let peer = self.ports[node.0 as usize][at].peer;
            if Some(peer) != teller && self.exchanges_receipts(peer) {
                self.send_control(node, peer, Message::Receipt(id));
            }
        }
    }
    /// Whether the receipt was unknown there.
    fn learn_receipt(&mut self, node: NodeId, id: BundleId) -> bool {
        let created = self.created_at(id);
        let is_new = self.agents[node.0 as usize].learn_receipt(self.now, id, created);
        self.flush_change(node);
        is_new
    }
    /// `node` learns from `teller` that `id` is delivered, and so does everybody connected to it, at once.
    fn spread_receipt(&mut self, teller: Option<NodeId>, node: NodeId, id: BundleId) {
        let mut reached = vec![(teller, node)];
        while let Some((teller, node)) = reached.pop() {
            let from = teller.filter(|&teller| self.charges_receipts(teller));
            if self.agents[node.0 as usize].knows_receipt(id)
                || !self.exchanges_receipts(node)
                || from.is_some_and(|from| self.charge(from, node, NUMBER).is_none())
            {
                continue;
            }
            self.learn_receipt(node, id);
            // Most neighbours have heard of it already.
            let peers = self.ports[node.0 as usize].iter().map(|port| port.peer);
            let unaware = peers.filter(|peer| !self.agents[peer.0 as usize].knows_receipt(id));
            reached.extend(unaware.map(|peer| (Some(node), peer)));
        }
    }
    fn exchanges_receipts(&self, node: NodeId) -> bool {
        let at = node.0 as usize;
        self.setup.nodes[at].policy.receipts || self.agents[at].needs().receipts
    }
    fn charges_receipts(&self, node: NodeId) -> bool {
        let needs = self.agents[node.0 as usize].needs();
        needs.receipts || needs.charged
    }

    // --- summaries ----------------------------------------------------------------------------

    /// Both ends of a new contact report which bundles they have. Neither sends a bundle before both reports have left, where both
    /// directions carry anything.
    pub(super) fn exchange_summaries(&mut self, a: NodeId, b: NodeId) {
        if !self.is_carried() {
            return;
        }
        let left = [(a, b), (b, a)].map(|(from, to)| {
            let size = Bytes(SUMMARY.0 + HASH.0 * self.count_had(from));
            self.charge(from, to, size)
        });
        let last = left.into_iter().flatten().max();
        for (node, peer) in [(a, b), (b, a)] {
            let port = self.ports[node.0 as usize].iter_mut().find(|port| port.peer == peer);
            if let (Some(port), Some(last)) = (port, last) {
                port.told = port.told.map(|told| told.max(last));
            }
        }
    }
    /// How many bundles a node has: copies, and those that came to it as their destination and are not over.
    fn count_had(&mut self, node: NodeId) -> u64 {
        let came = &mut self.came[node.0 as usize];
        while came.peek().is_some_and(|Reverse(expires)| *expires <= self.now) {
            came.pop();
        }
        (self.agents[node.0 as usize].store().replicas().len() + came.len()) as u64
    }
    /// A bundle has come to its destination.
    pub(super) fn count_came(&mut self, node: NodeId, expires: Instant) {
        if self.is_carried() {
            self.came[node.0 as usize].push(Reverse(expires));
        }
    }

    // --- free space -------------------------------------------------------------------------

    /// `node` reports to its peers what its buffer holds, where that has changed enough.
    #[inline(never)]
    pub(super) fn publish_space(&mut self, node: NodeId) {
        let index = node.0 as usize;
        let agent = &self.agents[index];
        let (free, capacity) = (agent.store().free(), agent.store().capacity());
        let space = PeerSpace { free, capacity, idle: self.active[index] == 0 };
        self.spaces[index] = space;
        if !self.is_carried() {
            return;
        }
        let is_changed = |told: Option<PeerSpace>| {
            told.is_none_or(|told| {
                let changed = told.free.0.abs_diff(free.0);
                changed > capacity.0 / SPACE_CHANGES || (changed > 0 && (free.0 == 0 || told.free.0 == 0))
            })
        };
        for at in 0..self.ports[index].len() {
            let port = &mut self.ports[index][at];
            if is_changed(port.announced) {
                port.announced = Some(space);
                let peer = port.peer;
                self.send_control(node, peer, Message::Space(space));
            }
        }
    }
    /// `node` asks a peer for a copy that it moved to it.
    pub(super) fn ask_back(&mut self, node: NodeId, peer: NodeId, id: BundleId) {
        if self.is_carried() {
            self.send_control(node, peer, Message::Reclaim(id));
        } else if self.agents[peer.0 as usize].on_reclaim(node, id) {
            self.wake(peer);
        } else {
            self.agents[node.0 as usize].on_reclaim_refused(self.now, peer, id);
        }
    }

    // --- the link ---------------------------------------------------------------------------

    /// Occupies the link with control data after the transfer in progress: the next transfer has to wait. Gives when its last
    /// bit has left; `None` if the link carries nothing in this direction.
    pub(super) fn charge(&mut self, from: NodeId, to: NodeId, size: Bytes) -> Option<Instant> {
        let port = self.ports[from.0 as usize].iter().find(|port| port.peer == to)?;
        if port.rates[0] == BitRate(0) {
            return None;
        }
        // Where both directions share the link, they share its time.
        let shared = self.rules().radio != Radio::Direction;
        let before = if shared { port.told[0].max(port.told[1]) } else { port.told[0] };
        let under_way = if shared { port.outgoing.max(port.incoming) } else { port.outgoing };
        let ongoing = under_way.checked_sub(1).and_then(|slot| self.ongoing[slot as usize].as_ref());
        let free = ongoing.map_or(self.now, |ongoing| ongoing.ends).max(before).max(self.now);
        let told = free.saturating_add(port.rates[0].time_for(size));
        for (node, peer, way) in [(from, to, 0), (to, from, 1)] {
            let port = self.ports[node.0 as usize].iter_mut().find(|port| port.peer == peer);
            match port {
                Some(port) if shared => port.told = [told; 2],
                Some(port) => port.told[way] = told,
                None => {}
            }
        }
        self.record(&Record::Control { from, to, size });
        Some(told)
    }
}
