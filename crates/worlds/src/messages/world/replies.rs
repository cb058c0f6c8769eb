//! Bundles that are created when others arrive at their destination.

use super::{Event, World};
use crate::messages::Setup;
use lightlag_protocols::dtn::{Bundle, BundleId, NodeId};
use lightlag_protocols::record::bundles::{Observer, Record, ReplyKind};
use lightlag_protocols::time::Instant;

/// The replies of a run.
pub(super) struct Replies {
    /// Requests, ascending, and the place of their reply among the replies.
    by_request: Vec<(BundleId, u32)>,
    /// When each was created.
    created: Vec<Instant>,
    /// The last pong of each node and the second that names it.
    pongs: Vec<Option<(i64, BundleId)>>,
}

impl Replies {
    pub fn new(setup: &Setup) -> Self {
        let mut by_request: Vec<(BundleId, u32)> =
            setup.replies.iter().map(|reply| reply.request).zip(0..).collect();
        by_request.sort_unstable();
        let nodes = if by_request.is_empty() { 0 } else { setup.nodes.len() };
        Self { created: vec![Instant::MAX; by_request.len()], by_request, pongs: vec![None; nodes] }
    }
    fn to(&self, request: BundleId) -> Option<usize> {
        let found = self.by_request.binary_search_by_key(&request, |of| of.0).ok()?;
        Some(self.by_request[found].1 as usize)
    }
}

impl<O: Observer> World<'_, O> {
    /// The number of the first reply.
    fn first_reply(&self) -> usize {
        self.setup.bundles.len() - self.setup.replies.len()
    }
    pub(super) fn announce_replies(&mut self) {
        let setup = self.setup;
        for (reply, id) in setup.replies.iter().zip(self.first_reply() as u32..) {
            let (request, kind) = (reply.request, reply.kind);
            self.record(&Record::Reply { request, reply: BundleId(id), kind });
        }
    }
    /// When a bundle was created.
    pub(super) fn created_at(&self, id: BundleId) -> Instant {
        match (id.0 as usize).checked_sub(self.first_reply()) {
            Some(place) => self.replies.created[place],
            None => self.setup.bundles[id.0 as usize].created,
        }
    }
    /// `request` has arrived at its destination `node` for the first time.
    pub(super) fn reply(&mut self, node: NodeId, request: BundleId) {
        let Some(place) = self.replies.to(request) else { return };
        let reply = self.setup.replies[place];
        let expires = self.now.saturating_add(reply.lifetime);
        let bundle = Bundle { created: self.now, expires, ..self.setup.bundles[self.first_reply() + place] };
        self.replies.created[place] = self.now;
        if reply.kind == ReplyKind::Pong {
            self.replace_pong(node, bundle.id);
        }
        if self.rules().purge_every.is_none() && expires <= self.setup.until {
            self.queue.schedule(expires, Event::Expired(bundle.id));
        }
        self.create(&bundle);
    }
    fn replace_pong(&mut self, node: NodeId, id: BundleId) {
        const SECOND: i64 = 1_000_000_000;
        let second = (self.now.as_nanos() + SECOND / 2).div_euclid(SECOND);
        let before = self.replies.pongs[node.0 as usize].replace((second, id));
        if let Some((_, before)) = before.filter(|before| before.0 == second) {
            self.agents[node.0 as usize].replace(self.now, before);
            self.flush(node);
        }
    }
}
