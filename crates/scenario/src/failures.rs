//! What no plan knows: contacts that do not take place, and nodes that vanish.

use super::model::{BundleNetwork, Seed};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::contacts::{Contact, Contacts};
use std::sync::Arc;

/// How much fails. A higher share fails what a lower one does, and more: what fails first under a seed
/// is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Failures {
    /// Probability that a contact does not take place, from 0 to 1.
    pub contacts: f64,
    /// Share of the nodes that vanish, from 0 to 1.
    pub nodes: f64,
}

impl BundleNetwork {
    /// The contacts that take place out of all that could.
    pub(super) fn surviving(&self, contacts: Arc<Contacts>, seed: Seed) -> Arc<Contacts> {
        if self.failures == Failures::default() {
            return contacts;
        }
        let (number, vanish) = (self.head.seed_number(seed), self.vanishing(seed));
        let takes_place = |index: usize| {
            Stream::new(number, "contacts_fail", index as u64).unit() >= self.failures.contacts
        };
        let candidates = contacts.list.iter().enumerate().filter(|(index, _)| takes_place(*index));
        let list =
            candidates.filter_map(|(_, contact)| self.shortened(contact, &contacts, &vanish)).collect();
        Arc::new(Contacts { list, channels: contacts.channels.clone() })
    }
    /// The part of a contact before one of its ends vanishes. Bundles in flight to that end when it vanishes
    /// are lost: the contact ends early enough to have none in flight then.
    fn shortened(&self, contact: &Contact, all: &Contacts, vanish: &[Instant]) -> Option<Contact> {
        let ends = [(contact.a, contact.backward), (contact.b, contact.forward)].map(|(node, towards)| {
            let gone = vanish[node.0 as usize];
            let delay = all.channels[towards as usize].delay.greatest(contact.start, contact.end);
            let last = if gone == Instant::MAX { gone } else { gone + (Duration::ZERO - delay) };
            self.rules.tick.filter(|_| gone < Instant::MAX).map_or(last, |tick| last.round_up(tick))
        });
        let end = contact.end.min(ends[0]).min(ends[1]);
        (contact.start < end).then_some(Contact { end, ..*contact })
    }
    /// When each node vanishes; [`Instant::MAX`]: never.
    pub(super) fn vanishing(&self, seed: Seed) -> Vec<Instant> {
        let number = self.head.seed_number(seed);
        let mut order: Vec<NodeId> = (0..self.node_count()).map(NodeId).collect();
        let mut when = vec![Instant::MAX; order.len()];
        let count = (self.failures.nodes * order.len() as f64).round() as usize;
        if count > 0 {
            Stream::new(number, "nodes_vanish", 0).shuffle(&mut order);
        }
        for node in &order[..count] {
            let at = Stream::new(number, "vanishes_at", u64::from(node.0)).unit();
            when[node.0 as usize] = Instant::from_secs_f64(at * self.head.duration.as_secs_f64());
        }
        when
    }
}
