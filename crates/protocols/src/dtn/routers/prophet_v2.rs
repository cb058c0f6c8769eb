//! PRoPHET version 2: quick re-encounters count for less, and transitivity takes the best path.

use super::prophet::{Predictabilities, TIME_UNIT, gamma};
use crate::dtn::{Entry, Local, NodeId, Parameter, Replica, Router, RouterEvent, RouterProperties, Table};
use crate::time::Instant;

/// As [`super::Prophet`], with the equations of 2011.
pub struct ProphetV2 {
    known: Predictabilities,
    last_met: Vec<Option<Instant>>,
    encounter_max: f64,
    interval_s: f64,
    transitivity: f64,
}

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "prophet_v2",
    paper: "Grasic, Davies, Lindgren, Doria: The evolution of a DTN routing protocol – PRoPHETv2, CHANTS 2011",
    parameters: &[
        Parameter::number(
            "p_encounter_max",
            "",
            0.5,
            (0.0, 1.0),
            "share of the gap to 1 that a rare encounter closes",
        ),
        Parameter::number(
            "typical_interval",
            "s",
            1800.0,
            (1e-3, 1e9),
            "interval from which encounters count in full",
        ),
        Parameter::number("beta", "", 0.9, (0.0, 1.0), "weight of what a peer predicts"),
        gamma(0.999_885_791),
        TIME_UNIT,
    ],
    only_with: &[],
    properties: |_, _| RouterProperties { ranked: true, ..RouterProperties::NONE },
    build: |given, context| {
        Box::new(ProphetV2 {
            known: Predictabilities::new(&context, given.number("gamma"), given.number("time_unit")),
            last_met: vec![None; context.nodes as usize],
            encounter_max: given.number("p_encounter_max"),
            interval_s: given.number("typical_interval"),
            transitivity: given.number("beta"),
        })
    },
};

impl ProphetV2 {
    /// P_enc: in full at the first encounter and after a typical interval, in proportion before.
    fn encounter(&mut self, now: Instant, peer: NodeId) -> f64 {
        let Some(last) = self.last_met.get_mut(peer.0 as usize) else { return 0.0 };
        let share = last.map_or(1.0, |met| ((now - met).as_secs_f64() / self.interval_s).min(1.0));
        *last = Some(now);
        self.encounter_max * share
    }
    fn on_met(&mut self, at: &Local, peer: NodeId) {
        // P(a,b) += (1 - P(a,b)) P_enc
        let met = self.known.of(peer);
        let encounter = self.encounter(at.now, peer);
        self.known.set(peer, met + (1.0 - met) * encounter);
        // P(a,c) = max(P(a,c), P(a,b) P(b,c) beta)
        let weight = self.known.of(peer) * self.transitivity;
        self.known.combine(at.node, peer, |mine, theirs| mine.max(weight * theirs));
    }
}

impl Router for ProphetV2 {
    /// GRTRMax: peers that are at least as good, the best one first.
    fn score(&self, _: &Local, replica: &Replica, peer: NodeId) -> Option<f64> {
        let (mine, theirs) = self.known.compare(replica.bundle.destination, peer)?;
        (theirs >= mine).then_some(theirs)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{copy, place, store_of};
    use crate::dtn::{BuildContext, Parameters};
    use crate::math;
    use std::collections::BTreeMap;

    fn router() -> Box<dyn Router> {
        let given = Parameters::resolve("prophet_v2", ENTRY.parameters, &BTreeMap::new()).unwrap();
        (ENTRY.build)(&given, BuildContext { nodes: 10, seed: 1, ..BuildContext::default() })
    }

    #[test]
    fn an_encounter_soon_after_the_last_one_counts_in_proportion() {
        let store = store_of([]);
        let mut router = router();
        router.on_event(&place(&store, 0, 0.0), &RouterEvent::ContactUp { peer: NodeId(1), state: None });
        router.on_event(&place(&store, 0, 450.0), &RouterEvent::ContactUp { peer: NodeId(1), state: None });
        let faded = 0.5 * math::pow(0.999_885_791, 15.0);
        let expected = faded + (1.0 - faded) * 0.5 * 0.25;
        let state = router.state(&place(&store, 0, 450.0)).unwrap();
        assert!((state.get(1).unwrap() - expected).abs() < 1e-15);
    }

    #[test]
    fn transitivity_takes_the_best_of_old_and_new_and_equal_peers_get_a_copy() {
        let store = store_of([]);
        let mut router = router();
        let at = place(&store, 0, 0.0);
        router.on_event(
            &at,
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&[(9, 0.8)].into_iter().collect()) },
        );
        router.on_event(
            &at,
            &RouterEvent::ContactUp { peer: NodeId(2), state: Some(&[(9, 0.1)].into_iter().collect()) },
        );
        let mine = router.state(&at).unwrap().get(9).unwrap();
        assert!((mine - 0.5 * 0.8 * 0.9).abs() < 1e-15);
        assert_eq!(router.score(&at, &copy(1, 100), NodeId(2)), None);
        router.on_event(
            &at,
            &RouterEvent::PeerState { peer: NodeId(2), state: &[(9, mine)].into_iter().collect() },
        );
        assert_eq!(router.score(&at, &copy(1, 100), NodeId(2)), Some(mine));
    }
}
