//! Contacts: links come up and go down, and their ends exchange what they know.

use super::{Port, World};
use crate::contacts::{Contact, Course};
use lightlag_protocols::dtn::{BundleId, NodeId, PeerSpace, Table};
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::units::{BitRate, Bytes};

/// What a receipt takes on a link where it is charged: the number of the bundle.
const RECEIPT: Bytes = Bytes(8);

impl<O: Observer> World<'_, O> {
    pub(super) fn contact_up(&mut self, index: u32) {
        let contact = self.setup.contacts.list[index as usize];
        if self.ports[contact.a.0 as usize].iter().any(|port| port.peer == contact.b) {
            self.shadows.push(index);
            return;
        }
        let (a, b) = (contact.a, contact.b);
        let channels = &self.setup.contacts.channels;
        let [ab, ba] = [&channels[contact.forward as usize], &channels[contact.backward as usize]];
        let rates = [ab, ba].map(|channel| channel.rate_at(self.now));
        let least = |delay: &crate::contacts::Delay| delay.least(contact.start, contact.end);
        self.record(&Record::ContactUp { a, b, rate: rates, delay: [least(&ab.delay), least(&ba.delay)] });
        let pipelined = self.rules().propagation == Propagation::Pipelined;
        for (node, peer, channel, rates) in [(a, b, ab, rates), (b, a, ba, [rates[1], rates[0]])] {
            self.ports[node.0 as usize].push(Port {
                peer,
                contact: index,
                rates,
                outgoing: 0,
                incoming: 0,
                told: [self.now; 2],
            });
            self.agents[node.0 as usize].link_up(lightlag_protocols::dtn::Link {
                peer,
                rate: rates[0],
                delay: channel.delay.at(self.now),
                pipelined,
                peer_space: PeerSpace::default(),
            });
        }
        if self.interferes {
            self.interfere([a, b]);
        }
        self.meet(a, b);
        for node in [a, b] {
            self.publish(node);
            // A new link is news to its ends alone, unless copies were deleted over it.
            if self.agents[node.0 as usize].has_deletions() || self.counts_holders {
                self.flush(node);
                self.on_change(node);
            } else {
                self.renew_supply(node);
                self.wake(node);
            }
        }
        self.exchange_at_once(a, b);
    }
    /// Both ends exchange their state: at once, and free of charge where no mechanism asks to be
    /// charged, as in The ONE.
    fn meet(&mut self, a: NodeId, b: NodeId) {
        let now = self.now;
        let (x, y) = (a.0 as usize, b.0 as usize);
        let [to_b, to_a] = [(a, b), (b, a)].map(|(from, to)| self.mechanism_state(from, to));
        self.agents[x].meet_mechanism(now, b, to_a.as_ref());
        self.agents[y].meet_mechanism(now, a, to_b.as_ref());
        let told = self.agents[y].router_state(now);
        self.agents[x].meet_router(now, b, told.as_ref());
        let told = self.agents[x].router_state(now);
        self.agents[y].meet_router(now, a, told.as_ref());
        if told.is_some() {
            // The initiator heard the other's state before that had heard of the contact.
            if let Some(final_state) = self.agents[y].router_state(now) {
                self.agents[x].hear_router(now, b, &final_state);
            }
            self.tell_router_state(a);
            self.tell_router_state(b);
        }
        if self.receipts {
            self.exchange_receipts(a, b);
        }
    }
    /// State that the mechanism of `from` sends to `to`; `None` if charged and the link does not carry it.
    fn mechanism_state(&mut self, from: NodeId, to: NodeId) -> Option<Table> {
        let agent = &mut self.agents[from.0 as usize];
        let charged = agent.needs().charged;
        let state = agent.mechanism_state(self.now)?;
        (!charged || self.charge(from, to, state.size())).then_some(state)
    }
    /// `node` sends the current state of its router to its peers.
    pub(super) fn tell_router_state(&mut self, node: NodeId) {
        if !self.agents[node.0 as usize].reports_changes() {
            return;
        }
        let Some(told) = self.agents[node.0 as usize].router_state(self.now) else { return };
        for at in 0..self.ports[node.0 as usize].len() {
            let peer = self.ports[node.0 as usize][at].peer;
            self.agents[peer.0 as usize].hear_router(self.now, node, &told);
            self.flush(peer);
            self.on_change(peer);
        }
    }
    fn exchange_receipts(&mut self, a: NodeId, b: NodeId) {
        let [x, y] = [a, b].map(|node| self.agents[node.0 as usize].acknowledged());
        let news: Vec<(NodeId, u32)> =
            (x.missing_from(y).map(|id| (a, id))).chain(y.missing_from(x).map(|id| (b, id))).collect();
        for (node, id) in news {
            let teller = if node == a { b } else { a };
            self.spread_receipt(Some(teller), node, BundleId(id));
        }
    }
    /// `node` has the bundle at its destination: it and everybody connected to it learns of that.
    pub(super) fn flood_receipt(&mut self, node: NodeId, id: BundleId) {
        self.spread_receipt(None, node, id);
    }
    /// `node` learns from `teller` that `id` is delivered, and so does everybody connected to it.
    fn spread_receipt(&mut self, teller: Option<NodeId>, node: NodeId, id: BundleId) {
        let mut reached = vec![(teller, node)];
        while let Some((teller, node)) = reached.pop() {
            let from = teller.filter(|&teller| self.charges_receipts(teller));
            if self.agents[node.0 as usize].knows_receipt(id)
                || !self.exchanges_receipts(node)
                || from.is_some_and(|from| !self.charge(from, node, RECEIPT))
            {
                continue;
            }
            let created = self.created_at(id);
            self.agents[node.0 as usize].learn_receipt(self.now, id, created);
            self.flush_change(node);
            // Most neighbours have heard of it already.
            let peers = self.ports[node.0 as usize].iter().map(|port| port.peer);
            let news = peers.filter(|peer| !self.agents[peer.0 as usize].knows_receipt(id));
            reached.extend(news.map(|peer| (Some(node), peer)));
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
    /// Occupies the link with control data after the transfer in progress: the next transfer has to wait.
    /// The peer knows the content at once all the same. False if the link carries nothing in this direction.
    fn charge(&mut self, from: NodeId, to: NodeId, size: Bytes) -> bool {
        let port = self.ports[from.0 as usize].iter().find(|port| port.peer == to);
        let Some(port) = port.filter(|port| port.rates[0] > BitRate(0)) else { return false };
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
        true
    }
    pub(super) fn contact_down(&mut self, index: u32) {
        let contact = self.setup.contacts.list[index as usize];
        let (a, b) = (contact.a, contact.b);
        let Some(port) = self.ports[a.0 as usize].iter().find(|port| port.contact == index).copied() else {
            self.shadows.retain(|&shadow| shadow != index);
            return;
        };
        let varies = self.setup.contacts.channels[contact.forward as usize].course != Course::Steady;
        let counts_later = varies && self.rules().tick.is_some();
        for slot in [port.outgoing, port.incoming] {
            if slot > 0 {
                self.finish_or_abort(slot - 1, counts_later);
            }
        }
        for (node, peer) in [(a, b), (b, a)] {
            self.ports[node.0 as usize].retain(|port| port.contact != index);
            if self.counts_holders {
                self.agents[node.0 as usize].link_down(self.now, peer);
                self.on_change(node);
            } else if self.agents[node.0 as usize].link_down(self.now, peer) {
                self.renew_supply(node);
                self.wake(node);
            }
        }
        self.record(&Record::ContactDown { a, b });
        if self.interferes {
            self.interfere([a, b]);
        }
        self.settle_released();
        self.lift_shadow(&contact);
    }
    /// Another contact of the same pair may have begun in the shadow of the one that ended.
    fn lift_shadow(&mut self, ended: &Contact) {
        let list = &self.setup.contacts.list;
        let same = |shadow: &u32| {
            let other = &list[*shadow as usize];
            [(other.a, other.b), (other.b, other.a)].contains(&(ended.a, ended.b))
        };
        if let Some(at) = self.shadows.iter().position(same) {
            let shadow = self.shadows.remove(at);
            self.contact_up(shadow);
        }
    }
}
