//! PRoPHET whose parameters follow from the time between encounters.

use super::max_prop::estimates::Encounters;
use crate::dtn::{
    BuildContext, Entry, Local, NodeId, Observation, Parameter, Replica, Router, RouterEvent,
    RouterProperties, Table,
};
use crate::math;
use crate::time::Instant;

/// As [`super::Prophet`]: how predictabilities fade and grow is estimated, so that they last about as long as the time
/// scale.
pub struct ProphetEstimated {
    mine: Aged,
    /// Of peers in contact, by node.
    told: Vec<Option<Aged>>,
    share: f64,
    encounters: Encounters,
    target: f64,
    transitivity: f64,
}

/// The parameter `time_scale`.
pub(super) const TIME_SCALE: Parameter =
    Parameter::number("time_scale", "s", 86_400.0, (1.0, 1e9), "time over which encounters shall count");

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "prophet_estimated",
    paper: "Karvo, Ott: Time scales and delay-tolerant routing protocols, CHANTS 2008",
    parameters: &[
        TIME_SCALE,
        Parameter::number(
            "target",
            "",
            0.2,
            (1e-3, 0.999),
            "mean of predictabilities at which estimates aim",
        ),
        Parameter::number("beta", "", 0.25, (0.0, 1.0), "weight of what a peer predicts"),
        Parameter::number(
            "p_init",
            "",
            0.75,
            (0.0, 1.0),
            "share of the gap to 1 that an encounter closes, before there is an estimate",
        ),
        Parameter::number(
            "gamma",
            "",
            0.98,
            (0.0, 1.0),
            "factor by which predictabilities fade per second, before there is an estimate",
        ),
    ],
    only_with: &[],
    properties: |_, _| RouterProperties { ranked: true, ..RouterProperties::NONE },
    build: |given, context| Box::new(build(given, &context)),
};

fn build(given: &crate::dtn::Parameters, context: &BuildContext) -> ProphetEstimated {
    ProphetEstimated {
        mine: Aged::new(context.nodes, given.number("gamma")),
        told: vec![None; context.nodes as usize],
        share: given.number("p_init"),
        encounters: Encounters::new(context.nodes, given.number("time_scale")),
        target: given.number("target"),
        transitivity: given.number("beta"),
    }
}

/// Predictabilities as of one moment, and by which factor they fade a second.
#[derive(Clone)]
struct Aged {
    by_node: Vec<f64>,
    gamma: f64,
    as_of: Instant,
}

impl Aged {
    fn new(nodes: u32, gamma: f64) -> Self {
        Self { by_node: vec![0.0; nodes as usize], gamma, as_of: Instant::ZERO }
    }
    fn age(&mut self, now: Instant) {
        if now > self.as_of {
            let factor = math::pow(self.gamma, (now - self.as_of).as_secs_f64());
            self.by_node.iter_mut().for_each(|number| *number *= factor);
            self.as_of = now;
        }
    }
    fn of(&self, node: NodeId) -> f64 {
        self.by_node.get(node.0 as usize).copied().unwrap_or(0.0)
    }
    /// What a peer reports: predictabilities by node, and behind the last node how they fade.
    fn heard(nodes: usize, now: Instant, table: &Table) -> Self {
        let mut heard = Self { by_node: vec![0.0; nodes], gamma: 1.0, as_of: now };
        for (node, number) in table.iter().filter(|(_, number)| (0.0..=1.0).contains(number)) {
            match usize::try_from(node) {
                Ok(node) if node < nodes => heard.by_node[node] = number,
                Ok(node) if node == nodes => heard.gamma = number,
                _ => {}
            }
        }
        heard
    }
}

impl ProphetEstimated {
    fn hear(&mut self, now: Instant, peer: NodeId, table: Option<&Table>) {
        let nodes = self.told.len();
        if let Some(told) = self.told.get_mut(peer.0 as usize) {
            *told = Some(
                table.map_or_else(|| Aged::new(nodes as u32, 1.0), |table| Aged::heard(nodes, now, table)),
            );
        }
    }
    fn on_met(&mut self, at: &Local, peer: NodeId) {
        // Up to here they have faded as before, if there was anyone to compare with.
        if at.links.iter().any(|link| link.peer != peer) {
            self.mine.age(at.now);
        }
        if self.encounters.met(at.now, peer)
            && let Some((gamma, share)) = self.encounters.prophet(self.target)
        {
            (self.mine.gamma, self.share) = (gamma, share);
        }
        self.mine.age(at.now);
        let Some(met) = self.mine.by_node.get_mut(peer.0 as usize) else { return };
        *met += (1.0 - *met) * self.share;
        let weight = *met * self.transitivity;
        let Some(Some(told)) = self.told.get(peer.0 as usize) else { return };
        for (node, (mine, theirs)) in self.mine.by_node.iter_mut().zip(&told.by_node).enumerate() {
            if node != at.node.0 as usize {
                *mine += (1.0 - *mine) * weight * theirs;
            }
        }
    }
}

impl Router for ProphetEstimated {
    /// GRTRMax: only strictly better peers, the best one first.
    fn score(&self, _: &Local, replica: &Replica, peer: NodeId) -> Option<f64> {
        let destination = replica.bundle.destination;
        let theirs = self.told.get(peer.0 as usize)?.as_ref()?.of(destination);
        (theirs > self.mine.of(destination)).then_some(theirs)
    }
    fn state(&mut self, at: &Local) -> Option<Table> {
        self.mine.age(at.now);
        let nodes = self.told.len() as u64;
        let known = self.mine.by_node.iter().zip(0..).filter(|(number, _)| **number > 0.0);
        Some(known.map(|(&number, node)| (node, number)).chain([(nodes, self.mine.gamma)]).collect())
    }
    fn on_event(&mut self, at: &Local, event: &RouterEvent) -> bool {
        match *event {
            RouterEvent::ContactUp { peer, state } => {
                self.hear(at.now, peer, state);
                self.on_met(at, peer);
            }
            RouterEvent::PeerState { peer, state } => self.hear(at.now, peer, Some(state)),
            RouterEvent::ContactDown { peer } => {
                self.mine.age(at.now);
                if let Some(told) = self.told.get_mut(peer.0 as usize) {
                    *told = None;
                }
            }
            // Nodes fade at different rates: a comparison holds at one moment only.
            RouterEvent::Offering => {
                self.mine.age(at.now);
                self.told.iter_mut().flatten().for_each(|told| told.age(at.now));
            }
            RouterEvent::Refused { .. } | RouterEvent::Delivered { .. } | RouterEvent::PlanRevised { .. } => {
            }
        }
        false
    }
    fn observe(&self, _: &Local, seen: &mut Observation) {
        seen.push(("gamma", self.mine.gamma));
        seen.push(("p_init", self.share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::Parameters;
    use crate::dtn::testing::{copy, place, store_of};
    use std::collections::BTreeMap;

    fn router(time_scale: f64) -> ProphetEstimated {
        let given = [("time_scale".to_owned(), time_scale.into())].into();
        let given: BTreeMap<_, _> = given;
        let given = Parameters::resolve("prophet_estimated", ENTRY.parameters, &given).unwrap();
        build(&given, &BuildContext { nodes: 10, ..BuildContext::default() })
    }

    #[test]
    fn parameters_are_those_of_prophet_until_a_node_is_met_again() {
        let store = store_of([]);
        let mut router = router(2000.0);
        let told: Table = [(9, 0.8), (10, 0.5)].into_iter().collect();
        router.on_event(
            &place(&store, 0, 0.0),
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&told) },
        );
        assert_eq!((router.mine.gamma, router.share, router.mine.of(NodeId(1))), (0.98, 0.75, 0.75));
        assert!((router.mine.of(NodeId(9)) - 0.75 * 0.8 * 0.25).abs() < 1e-15);
        router.on_event(&place(&store, 0, 100.0), &RouterEvent::ContactDown { peer: NodeId(1) });
        router.on_event(&place(&store, 0, 500.0), &RouterEvent::ContactUp { peer: NodeId(1), state: None });
        assert!(router.mine.gamma > 0.99 && router.share < 0.75, "{} {}", router.mine.gamma, router.share);
    }

    #[test]
    fn a_peer_fades_as_it_says_so_that_the_better_one_may_change() {
        let store = store_of([]);
        let mut router = router(2000.0);
        let told: Table = [(9, 0.8), (10, 0.9)].into_iter().collect();
        router.on_event(
            &place(&store, 0, 0.0),
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&told) },
        );
        let replica = copy(1, 100);
        router.on_event(&place(&store, 0, 0.0), &RouterEvent::Offering);
        assert_eq!(router.score(&place(&store, 0, 0.0), &replica, NodeId(1)), Some(0.8));
        // 0.15 fades by 0.98 a second, 0.8 by 0.9.
        router.on_event(&place(&store, 0, 60.0), &RouterEvent::Offering);
        assert_eq!(router.score(&place(&store, 0, 60.0), &replica, NodeId(1)), None);
        assert_eq!(router.score(&place(&store, 0, 60.0), &replica, NodeId(2)), None, "not in contact");
    }
}
