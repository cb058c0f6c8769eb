//! PRoPHET: a copy goes to nodes that are more likely to meet the destination.

use crate::dtn::{
    BuildContext, Entry, Local, NodeId, Parameter, Replica, Router, RouterEvent, RouterProperties, Table,
};
use crate::math;
use crate::time::Instant;

/// Delivery predictabilities that grow by encounters and transitivity and fade with time.
pub struct Prophet {
    known: Predictabilities,
    encounter: f64,
    transitivity: f64,
}

/// The parameter `gamma`, with its default.
pub(super) const fn gamma(default: f64) -> Parameter {
    Parameter::number("gamma", "", default, (0.0, 1.0), "factor by which predictabilities fade per time unit")
}
pub(super) const TIME_UNIT: Parameter =
    Parameter::number("time_unit", "s", 30.0, (1e-3, 1e9), "length of a time unit");

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "prophet",
    paper: "Lindgren, Doria, Schelén: Probabilistic routing in intermittently connected networks, 2003",
    parameters: &[
        Parameter::number("p_init", "", 0.75, (0.0, 1.0), "share of the gap to 1 that an encounter closes"),
        Parameter::number("beta", "", 0.25, (0.0, 1.0), "weight of what a peer predicts"),
        gamma(0.98),
        TIME_UNIT,
    ],
    only_with: &[],
    properties: |_, _| RouterProperties { ranked: true, ..RouterProperties::NONE },
    build: |given, context| {
        Box::new(Prophet {
            known: Predictabilities::new(&context, given.number("gamma"), given.number("time_unit")),
            encounter: given.number("p_init"),
            transitivity: given.number("beta"),
        })
    },
};

impl Prophet {
    fn on_met(&mut self, at: &Local, peer: NodeId) {
        // P(a,b) += (1 - P(a,b)) P_init
        let met = self.known.of(peer);
        self.known.set(peer, met + (1.0 - met) * self.encounter);
        // P(a,c) += (1 - P(a,c)) P(a,b) P(b,c) beta
        let weight = self.known.of(peer) * self.transitivity;
        self.known.combine(at.node, peer, |mine, theirs| mine + (1.0 - mine) * weight * theirs);
    }
}

impl Router for Prophet {
    /// GRTRMax: only strictly better peers, the best one first.
    fn score(&self, _: &Local, replica: &Replica, peer: NodeId) -> Option<f64> {
        let (mine, theirs) = self.known.compare(replica.bundle.destination, peer)?;
        (theirs > mine).then_some(theirs)
    }
    fn state(&mut self, at: &Local) -> Option<Table> {
        Some(self.known.tell(at.now))
    }
    fn on_event(&mut self, at: &Local, event: &RouterEvent) -> bool {
        if let Some(peer) = self.known.met(at.now, event) {
            self.on_met(at, peer);
        }
        false
    }
}

/// One node's predictabilities and those that its peers in contact reported, all as of one moment.
///
/// They all fade by the same factor, so that comparisons hold at any later time without ageing:
/// [`Predictabilities::compare`] is two reads, and powers are computed at contacts only.
pub(super) struct Predictabilities {
    mine: Vec<f64>,
    /// By peer; empty when not in contact.
    told: Vec<Vec<f64>>,
    in_contact: Vec<NodeId>,
    as_of: Instant,
    gamma: f64,
    time_unit_s: f64,
}

impl Predictabilities {
    pub(super) fn new(context: &BuildContext, gamma: f64, time_unit_s: f64) -> Self {
        let nodes = context.nodes as usize;
        Self {
            mine: vec![0.0; nodes],
            told: vec![Vec::new(); nodes],
            in_contact: Vec::new(),
            as_of: Instant::ZERO,
            gamma,
            time_unit_s,
        }
    }
    /// This node's predictability for `node`.
    pub(super) fn of(&self, node: NodeId) -> f64 {
        self.mine.get(node.0 as usize).copied().unwrap_or(0.0)
    }
    pub(super) fn set(&mut self, node: NodeId, number: f64) {
        if let Some(mine) = self.mine.get_mut(node.0 as usize) {
            *mine = number;
        }
    }
    /// This node's and `peer`'s predictability for `destination`; `None` without a report of `peer`.
    #[inline]
    pub(super) fn compare(&self, destination: NodeId, peer: NodeId) -> Option<(f64, f64)> {
        let theirs = *self.told.get(peer.0 as usize)?.get(destination.0 as usize)?;
        Some((self.of(destination), theirs))
    }
    /// Replaces each of this node's numbers by `update` of it and what `peer` reported.
    pub(super) fn combine(&mut self, me: NodeId, peer: NodeId, update: impl Fn(f64, f64) -> f64) {
        let Some(told) = self.told.get(peer.0 as usize) else { return };
        for (node, (mine, &theirs)) in self.mine.iter_mut().zip(told).enumerate() {
            if node != me.0 as usize {
                *mine = update(*mine, theirs);
            }
        }
    }
    /// Takes in what an event reports; gives the peer if a contact has begun.
    pub(super) fn met(&mut self, now: Instant, event: &RouterEvent) -> Option<NodeId> {
        match *event {
            RouterEvent::ContactUp { peer, state } => {
                self.hear(now, peer, state);
                return Some(peer);
            }
            RouterEvent::PeerState { peer, state } => self.hear(now, peer, Some(state)),
            RouterEvent::ContactDown { peer } => self.forget(peer),
            RouterEvent::Offering
            | RouterEvent::Refused { .. }
            | RouterEvent::Delivered { .. }
            | RouterEvent::PlanRevised { .. } => {}
        }
        None
    }
    /// This node's report at `now`.
    pub(super) fn tell(&mut self, now: Instant) -> Table {
        self.age(now);
        let known = self.mine.iter().enumerate().filter(|&(_, &number)| number > 0.0);
        known.map(|(node, &number)| (node as u64, number)).collect()
    }
    /// `peer` reports its numbers of `now`.
    fn hear(&mut self, now: Instant, peer: NodeId, told: Option<&Table>) {
        self.age(now);
        let nodes = self.mine.len();
        let Some(row) = self.told.get_mut(peer.0 as usize) else { return };
        if row.is_empty() {
            self.in_contact.push(peer);
        }
        row.clear();
        row.resize(nodes, 0.0);
        // A peer may say anything: only probabilities of nodes that exist are heard.
        for (node, number) in told.into_iter().flat_map(Table::iter) {
            if node < nodes as u64 && (0.0..=1.0).contains(&number) {
                row[node as usize] = number;
            }
        }
    }
    /// The contact with `peer` has ended.
    fn forget(&mut self, peer: NodeId) {
        self.in_contact.retain(|&other| other != peer);
        if let Some(row) = self.told.get_mut(peer.0 as usize) {
            row.clear();
        }
    }
    /// P = P_old gamma^k, with k time units (not only whole ones) since the last time.
    fn age(&mut self, now: Instant) {
        if now <= self.as_of {
            return;
        }
        let units = (now - self.as_of).as_secs_f64() / self.time_unit_s;
        let factor = math::pow(self.gamma, units);
        self.as_of = now;
        self.mine.iter_mut().for_each(|number| *number *= factor);
        for peer in &self.in_contact {
            self.told[peer.0 as usize].iter_mut().for_each(|number| *number *= factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{copy, place, store_of};
    use crate::dtn::{Parameters, Store};
    use std::collections::BTreeMap;

    fn router(node: u32) -> Box<dyn Router> {
        let given = Parameters::resolve("prophet", ENTRY.parameters, &BTreeMap::new()).unwrap();
        (ENTRY.build)(
            &given,
            BuildContext { node: NodeId(node), nodes: 10, seed: 1, ..BuildContext::default() },
        )
    }
    fn predictability(router: &mut dyn Router, store: &Store, seconds: f64, of: u64) -> f64 {
        router.state(&place(store, 0, seconds)).unwrap().get(of).unwrap_or(0.0)
    }

    #[test]
    fn encounters_transitivity_and_ageing_follow_the_papers_equations() {
        let store = store_of([]);
        let mut router = router(0);
        let told: Table = [(0, 0.9), (9, 0.8)].into_iter().collect();
        router.on_event(
            &place(&store, 0, 0.0),
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&told) },
        );
        assert_eq!(predictability(&mut *router, &store, 0.0, 1), 0.75);
        assert!((predictability(&mut *router, &store, 0.0, 9) - 0.75 * 0.8 * 0.25).abs() < 1e-15);
        assert_eq!(predictability(&mut *router, &store, 0.0, 0), 0.0, "nothing is learnt about oneself");
        // 45 s are one and a half time units.
        let faded = 0.75 * math::pow(0.98, 1.5);
        assert!((predictability(&mut *router, &store, 45.0, 1) - faded).abs() < 1e-15);
        router.on_event(&place(&store, 0, 45.0), &RouterEvent::ContactUp { peer: NodeId(1), state: None });
        let met_again = faded + (1.0 - faded) * 0.75;
        assert!((predictability(&mut *router, &store, 45.0, 1) - met_again).abs() < 1e-15);
    }

    #[test]
    fn a_copy_goes_to_strictly_better_peers_only_and_the_best_is_offered_first() {
        let store = store_of([]);
        let mut router = router(0);
        let at = place(&store, 0, 0.0);
        let same = 0.75 * 0.4 * 0.25;
        router.on_event(
            &at,
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&[(9, 0.4)].into_iter().collect()) },
        );
        router.on_event(&at, &RouterEvent::ContactUp { peer: NodeId(2), state: None });
        router.on_event(
            &at,
            &RouterEvent::PeerState { peer: NodeId(2), state: &[(9, same)].into_iter().collect() },
        );
        router.on_event(&at, &RouterEvent::ContactUp { peer: NodeId(3), state: None });
        let replica = copy(1, 100);
        assert!((router.score(&at, &replica, NodeId(1)).unwrap() - 0.4).abs() < 1e-15);
        assert_eq!(router.score(&at, &replica, NodeId(2)), None, "equal is not better");
        assert_eq!(router.score(&at, &replica, NodeId(3)), None);
        assert_eq!(router.score(&at, &replica, NodeId(4)), None, "not in contact");
    }

    #[test]
    fn a_comparison_holds_while_both_sides_fade() {
        let store = store_of([]);
        let mut router = router(0);
        router.on_event(
            &place(&store, 0, 0.0),
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&[(9, 0.5)].into_iter().collect()) },
        );
        // Another contact, much later, ages both: the first peer is still the better one, by as much.
        router.on_event(&place(&store, 0, 3000.0), &RouterEvent::ContactUp { peer: NodeId(2), state: None });
        let score = router.score(&place(&store, 0, 3000.0), &copy(1, 100), NodeId(1)).unwrap();
        assert!((score - 0.5 * math::pow(0.98, 100.0)).abs() < 1e-12);
    }

    #[test]
    fn nonsense_from_a_peer_is_not_heard() {
        let store = store_of([]);
        let mut router = router(0);
        let told: Table = [(2, f64::NAN), (3, 7.0), (4, -1.0), (u64::MAX, 0.5)].into_iter().collect();
        router.on_event(
            &place(&store, 0, 0.0),
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&told) },
        );
        let state = router.state(&place(&store, 0, 0.0)).unwrap();
        assert_eq!(state, [(1, 0.75)].into_iter().collect());
    }
}
