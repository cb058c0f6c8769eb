//! Contacts: links come up and go down, and their ends exchange what they know.

use super::{Port, World};
use crate::contacts::{Contact, Course};
use lightlag_protocols::dtn::Propagation;
use lightlag_protocols::dtn::{NodeId, PeerSpace, Table};
use lightlag_protocols::record::bundles::{Observer, Record};

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
                announced: None,
                space: PeerSpace::default(),
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
        self.exchange_receipts(a, b);
        self.exchange_summaries(a, b);
    }
    /// State that the mechanism of `from` sends to `to`; `None` if charged and the link does not carry it.
    fn mechanism_state(&mut self, from: NodeId, to: NodeId) -> Option<Table> {
        let agent = &mut self.agents[from.0 as usize];
        let charged = agent.needs().charged;
        let state = agent.mechanism_state(self.now)?;
        (!charged || self.charge(from, to, state.size()).is_some()).then_some(state)
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
    /// Nodes learn of another plan.
    pub(super) fn revise_plan(&mut self, revision: u32) {
        let setup = self.setup;
        let revision = &setup.revisions[revision as usize];
        for &node in &revision.nodes {
            self.agents[node.0 as usize].revise_plan(self.now, &revision.plan);
            self.flush(node);
            self.on_change(node);
        }
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
