//! Copies in flight, as far as nodes can know of them: a receiver knows of nothing before the first bit has arrived.

use super::{Event, World};
use lightlag_protocols::dtn::{BundleId, IdSet, NodeId};
use lightlag_protocols::record::bundles::Observer;
use lightlag_protocols::time::{Duration, Instant};

/// Which copies are in flight to which node.
#[derive(Default)]
pub(in crate::messages) struct Approaching {
    /// Per node, copies whose first bit has arrived.
    begun: Vec<IdSet>,
    /// Per sender, by receiver, copies of which no bit may have arrived.
    sent: Vec<Vec<(NodeId, IdSet)>>,
}

impl Approaching {
    /// Nothing is in flight between this number of nodes.
    pub fn new(nodes: usize) -> Self {
        Self { begun: vec![IdSet::default(); nodes], sent: vec![Vec::new(); nodes] }
    }
    /// Copies in flight to `to` of which it knows, and those that `from` sends.
    #[inline]
    pub fn known(&self, from: NodeId, to: NodeId) -> [&IdSet; 2] {
        [&self.begun[to.0 as usize], self.sent(from, to).unwrap_or(IdSet::none())]
    }
    /// A node sends to few others: a search takes no time.
    #[inline]
    fn sent(&self, from: NodeId, to: NodeId) -> Option<&IdSet> {
        self.sent[from.0 as usize].iter().find(|(peer, _)| *peer == to).map(|(_, sent)| sent)
    }
    /// The first bit has arrived.
    fn begin(&mut self, to: NodeId, id: BundleId) {
        self.begun[to.0 as usize].insert(id.0);
    }
    /// The last bit has arrived, or what arrives is cut off.
    pub fn end(&mut self, to: NodeId, id: BundleId) {
        self.begun[to.0 as usize].remove(id.0);
    }
    /// The first bit leaves, and arrives later.
    fn send(&mut self, from: NodeId, to: NodeId, id: BundleId) {
        let all = &mut self.sent[from.0 as usize];
        let at = all.iter().position(|(peer, _)| *peer == to).unwrap_or_else(|| {
            all.push((to, IdSet::default()));
            all.len() - 1
        });
        all[at].1.insert(id.0);
    }
    /// The sender need not know any more that it sent it: it has arrived, or was cut off. False if it was not sent.
    pub fn forget(&mut self, from: NodeId, to: NodeId, id: BundleId) -> bool {
        let sent = self.sent[from.0 as usize].iter_mut().find(|(peer, _)| *peer == to);
        sent.is_some_and(|(_, sent)| sent.remove(id.0))
    }
    /// Whether it was sent over a distance and has not ended.
    fn is_sent(&self, from: NodeId, to: NodeId, id: BundleId) -> bool {
        self.sent(from, to).is_some_and(|sent| sent.contains(id.0))
    }
}

impl<O: Observer> World<'_, O> {
    /// The first bit of a bundle leaves at `begins`, and arrives after `delay`.
    pub(super) fn set_out(
        &mut self,
        from: NodeId,
        to: NodeId,
        id: BundleId,
        begins: Instant,
        delay: Duration,
    ) {
        let Some(approaching) = &mut self.approaching else { return };
        if delay == Duration::ZERO {
            approaching.begin(to, id);
        } else {
            approaching.send(from, to, id);
            self.queue.schedule(begins.saturating_add(delay), Event::Began(from, to, id));
        }
    }
    /// The first bit of a bundle has arrived, unless it was cut off before.
    pub(super) fn first_bit(&mut self, from: NodeId, to: NodeId, id: BundleId) {
        if let Some(approaching) = self.approaching.as_mut().filter(|all| all.is_sent(from, to, id)) {
            approaching.begin(to, id);
        }
    }
    /// The sender has broken off; the receiver sees it after `delay`.
    pub(super) fn cut_off(&mut self, from: NodeId, to: NodeId, id: BundleId, delay: Duration) {
        let Some(approaching) = &mut self.approaching else { return };
        if approaching.forget(from, to, id) {
            self.queue.schedule(self.now.saturating_add(delay), Event::CutOff(to, id));
        } else {
            approaching.end(to, id);
        }
    }
}
