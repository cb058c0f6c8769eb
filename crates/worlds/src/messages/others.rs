//! All agents but one, as the one sees them while it makes offers.

use super::world::{Approaching, Around};
use lightlag_protocols::dtn::{Agent, Answer, Census, NodeId, Offer, Peers, Refusal, Summary};
use lightlag_protocols::time::{Duration, Instant};

/// What a world knows while one of its agents makes offers.
#[derive(Clone, Copy)]
pub(super) struct View<'w> {
    pub now: Instant,
    /// Peers to which a transfer could start.
    pub eligible: &'w [NodeId],
    /// Bundles in flight, where that matters.
    pub approaching: Option<&'w Approaching>,
    pub census: Option<&'w Census>,
    pub around: Around<'w>,
    /// Whether light takes a while on some link.
    pub delayed: bool,
}

pub(super) struct Others<'w> {
    node: NodeId,
    before: &'w mut [Agent],
    after: &'w mut [Agent],
    view: &'w View<'w>,
    /// Peers that have deleted copies while they answered.
    touched: &'w mut Vec<NodeId>,
}

impl<'w> Others<'w> {
    /// Takes `node`'s agent apart from the rest.
    pub fn split(
        agents: &'w mut [Agent],
        node: NodeId,
        view: &'w View<'w>,
        touched: &'w mut Vec<NodeId>,
    ) -> (&'w mut Agent, Self) {
        let (before, rest) = agents.split_at_mut(node.0 as usize);
        let (me, after) = rest.split_at_mut(1);
        (&mut me[0], Self { node, before, after, view, touched })
    }
    #[inline]
    fn agent(&self, peer: NodeId) -> &Agent {
        let at = peer.0 as usize;
        if at < self.before.len() { &self.before[at] } else { &self.after[at - self.before.len() - 1] }
    }
    #[inline]
    fn agent_mut(&mut self, peer: NodeId) -> &mut Agent {
        let at = peer.0 as usize;
        let split = self.before.len();
        if at < split { &mut self.before[at] } else { &mut self.after[at - split - 1] }
    }
    /// Whether as many peers of `peer` hold what it is offered as its router wants ([`RouterProperties::holders`]).
    ///
    /// [`RouterProperties::holders`]: lightlag_protocols::dtn::RouterProperties::holders
    #[cold]
    fn holds_among(&self, peer: NodeId, offer: &Offer, (least, most): (u32, u32)) -> bool {
        // The sender is one of them.
        let others = self.agent(peer).links().iter().filter(|link| link.peer != offer.from);
        let holders = others.filter(|link| self.agent(link.peer).store().contains(offer.bundle().id)).count();
        (least..=most).contains(&(holders as u32 + 1))
    }
}

impl Peers for Others<'_> {
    #[inline]
    fn idle(&self, peer: NodeId) -> bool {
        self.view.eligible.contains(&peer)
    }
    #[inline]
    fn summary(&self, peer: NodeId) -> Summary<'_> {
        let agent = self.agent(peer);
        agent.summary(self.view.approaching.map(|all| all.known(self.node, peer)))
    }
    fn answer(&mut self, peer: NodeId, offer: &Offer) -> Answer {
        let View { now, census, delayed, .. } = *self.view;
        if let Some(range) = self.agent(peer).router_properties().holders
            && !self.holds_among(peer, offer, range)
        {
            return Answer::Refuse(Refusal::Routing);
        }
        let around = self.view.around;
        let agent = self.agent_mut(peer);
        around.tell(agent, peer);
        // Where light takes a while, room is made when the bundle arrives.
        let answer = if delayed && is_far(agent, offer.from) {
            agent.willing(now, offer, census).map_or_else(Answer::Refuse, |()| Answer::Accept)
        } else {
            agent.consider(now, offer, census)
        };
        if agent.has_deletions() {
            self.touched.push(peer);
        }
        answer
    }
}

/// Whether light takes a while from `peer` to `agent`.
fn is_far(agent: &Agent, peer: NodeId) -> bool {
    let link = agent.links().iter().find(|link| link.peer == peer);
    link.is_some_and(|link| link.delay > Duration::ZERO)
}
