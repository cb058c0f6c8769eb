//! Rates that change while a contact lasts: by a table of its channels, or as nearby transmitters interfere.

use super::{Event, World};
use crate::contacts::{Course, shared_rate};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::BitRate;

impl<O: Observer> World<'_, O> {
    /// The table of a channel of this contact has a new rate.
    pub(super) fn rate_change(&mut self, index: u32) {
        let contact = &self.setup.contacts.list[index as usize];
        let channels = [contact.forward, contact.backward];
        let rates = channels.map(|channel| self.setup.contacts.channels[channel as usize].rate_at(self.now));
        self.set_rates(index, rates);
    }
    /// Transfers of these nodes have begun or ended, or their link came up or went down: the rates of all transfers near
    /// them are computed again.
    #[cold]
    pub(super) fn interfere(&mut self, nodes: [NodeId; 2]) {
        let near =
            nodes.into_iter().flat_map(|node| self.ports[node.0 as usize].iter().map(|port| port.peer));
        let mut near: Vec<NodeId> =
            near.chain(nodes).filter(|node| self.active[node.0 as usize] > 0).collect();
        near.sort_unstable();
        near.dedup();
        let busy = near.into_iter().flat_map(|node| &self.ports[node.0 as usize]);
        let mut contacts: Vec<u32> =
            busy.filter(|port| port.outgoing.max(port.incoming) > 0).map(|port| port.contact).collect();
        contacts.sort_unstable();
        contacts.dedup();
        for index in contacts {
            let contact = self.setup.contacts.list[index as usize];
            let left = [contact.a, contact.b].map(|node| self.interference_at(node));
            let rates = [contact.forward, contact.backward].map(|channel| {
                let channel = &self.setup.contacts.channels[channel as usize];
                match channel.course {
                    Course::Interference => {
                        let rate = |(near, own)| shared_rate(channel.rate, near, own);
                        rate(left[0]).min(rate(left[1]))
                    }
                    _ => channel.rate_at(self.now),
                }
            });
            self.set_rates(index, rates);
        }
    }
    /// How many of a node and its neighbours transmit or receive, itself counted in any case, and in how many transfers
    /// it takes part.
    fn interference_at(&self, node: NodeId) -> (usize, u32) {
        let shares =
            |channel: u32| self.setup.contacts.channels[channel as usize].course == Course::Interference;
        let near = self.ports[node.0 as usize].iter().filter(|port| {
            self.active[port.peer.0 as usize] > 0
                && shares(self.setup.contacts.list[port.contact as usize].forward)
        });
        (1 + near.count(), self.active[node.0 as usize])
    }
    /// Sets the rates of a contact from now on, unless another contact of the pair is in use.
    fn set_rates(&mut self, index: u32, rates: [BitRate; 2]) {
        let contact = self.setup.contacts.list[index as usize];
        let (a, b) = (contact.a, contact.b);
        let Some(port) = self.ports[a.0 as usize].iter().find(|port| port.contact == index).copied() else {
            return;
        };
        let before = port.rates;
        if before == rates {
            return;
        }
        self.record(&Record::Rate { a, b, rate: rates });
        for (node, peer, rates) in [(a, b, rates), (b, a, [rates[1], rates[0]])] {
            if let Some(port) = self.ports[node.0 as usize].iter_mut().find(|port| port.contact == index) {
                port.rates = rates;
            }
            self.agents[node.0 as usize].set_rate(peer, rates[0]);
        }
        for (slot, before, rate) in
            [(port.outgoing, before[0], rates[0]), (port.incoming, before[1], rates[1])]
        {
            if slot > 0 {
                self.pace(slot - 1, before, rate, contact.end);
            }
        }
        if before.contains(&BitRate(0)) {
            [a, b].into_iter().for_each(|node| self.on_change(node));
        }
    }
    /// A transfer continues at another rate.
    fn pace(&mut self, slot: u32, before: BitRate, rate: BitRate, end_of_contact: Instant) {
        let rules = &self.setup.rules;
        let Some(ongoing) = &mut self.ongoing[slot as usize] else { return };
        let contact =
            self.ports[ongoing.from.0 as usize].iter().find(|port| port.peer == ongoing.transfer.to);
        let delay = contact.map(|port| {
            let contact = &self.setup.contacts.list[port.contact as usize];
            let channel = if contact.a == ongoing.from { contact.forward } else { contact.backward };
            self.setup.contacts.channels[channel as usize].delay.at(ongoing.started)
        });
        ongoing.left = ongoing.left.after(self.now - ongoing.since.min(self.now), before);
        ongoing.since = ongoing.since.max(self.now);
        let last_bit = ongoing.left.time_at(rate);
        if last_bit == lightlag_protocols::time::Duration::ZERO {
            // The last bit has left: only the tick, or light, is waited for.
            return;
        }
        (ongoing.ends, ongoing.flight) =
            rules.ends(ongoing.since.saturating_add(last_bit), rate, delay.unwrap_or_default());
        if ongoing.ends <= end_of_contact {
            self.queue.schedule(ongoing.ends, Event::Sent(slot));
        }
    }
}
