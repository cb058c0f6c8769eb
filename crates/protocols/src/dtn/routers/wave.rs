//! Wave: a node that has had a bundle is immune to it for a while, so that copies pass through the network as a wave.

use crate::dtn::{
    AfterTransfer, BundleId, Entry, Local, NodeId, Offer, Parameter, Refusal, Replica, Router, RouterEvent,
    RouterProperties,
};
use crate::time::{Duration, Instant};
use std::collections::BTreeMap;

/// Gives a copy to every peer that is not immune, and keeps what it has not passed on for the time of its custody.
pub struct Wave {
    immunity: Duration,
    custody: Duration,
    /// When bundles came last.
    came: BTreeMap<BundleId, Instant>,
    /// Since when bundles that were not passed on are in custody.
    in_custody: BTreeMap<BundleId, Instant>,
}

const IMMUNITY: Parameter = Parameter::number(
    "immunity",
    "s",
    300.0,
    (0.0, 1e9),
    "time after its arrival for which a bundle is refused",
);

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "wave",
    paper: "Keränen, Ott, Kärkkäinen: The ONE simulator for DTN protocol evaluation, SIMUTools 2009",
    parameters: &[
        IMMUNITY,
        Parameter::number(
            "custody_fraction",
            "",
            0.5,
            (0.0, 1e6),
            "part of the immunity for which a copy that was not passed on is not dropped",
        ),
    ],
    only_with: &[],
    properties: |given, _| {
        let immunity = Duration::from_secs_f64(given.number("immunity"));
        let custody = Duration::from_secs_f64(given.number("immunity") * given.number("custody_fraction"));
        // At its end, custody still lasts.
        let renews_after = [immunity, Duration::from_nanos(custody.as_nanos().saturating_add(1))];
        RouterProperties { picks_victim: true, renews_after, ..RouterProperties::NONE }
    },
    build: |given, _| {
        let immunity_s = given.number("immunity");
        Box::new(Wave {
            immunity: Duration::from_secs_f64(immunity_s),
            custody: Duration::from_secs_f64(immunity_s * given.number("custody_fraction")),
            came: BTreeMap::new(),
            in_custody: BTreeMap::new(),
        })
    },
};

impl Wave {
    fn has_custody(&self, at: &Local, replica: &Replica) -> bool {
        let since = self.in_custody.get(&replica.bundle.id);
        since.is_some_and(|since| at.now <= since.saturating_add(self.custody))
    }
}

impl Router for Wave {
    fn score(&self, _: &Local, _: &Replica, _: NodeId) -> Option<f64> {
        Some(0.0)
    }
    fn accept(&mut self, at: &Local, offer: &Offer) -> Result<(), Refusal> {
        let id = offer.bundle().id;
        if self.came.get(&id).is_some_and(|came| came.saturating_add(self.immunity) > at.now) {
            return Err(Refusal::Routing);
        }
        self.came.remove(&id);
        Ok(())
    }
    fn on_received(&mut self, at: &Local, replica: &mut Replica, _: NodeId) {
        self.came.insert(replica.bundle.id, at.now);
        self.in_custody.insert(replica.bundle.id, at.now);
    }
    fn on_event(&mut self, at: &Local, event: &RouterEvent) -> bool {
        if let RouterEvent::Delivered { bundle, .. } = event {
            self.came.insert(bundle.id, at.now);
        }
        false
    }
    fn on_sent(&mut self, _: &Local, replica: &mut Replica, _: NodeId, _: bool) -> AfterTransfer {
        self.in_custody.remove(&replica.bundle.id);
        AfterTransfer::Keep
    }
    /// The oldest that is not in custody.
    fn victim(&self, at: &Local) -> Option<BundleId> {
        let idle = at
            .store
            .replicas()
            .iter()
            .filter(|replica| replica.sending == 0 && !self.has_custody(at, replica));
        idle.min_by_key(|replica| replica.received).map(|replica| replica.bundle.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{copy, place, store_of};
    use crate::dtn::{BuildContext, Parameters};

    fn router() -> Box<dyn Router> {
        let given = Parameters::resolve("wave", ENTRY.parameters, &BTreeMap::new()).unwrap();
        (ENTRY.build)(&given, BuildContext::default())
    }

    #[test]
    fn a_bundle_is_refused_while_the_node_is_immune() {
        let store = store_of([]);
        let mut router = router();
        let replica = copy(1, 100);
        router.on_received(&place(&store, 0, 10.0), &mut replica.clone(), NodeId(1));
        let offer = Offer { replica: &replica, from: NodeId(2) };
        assert_eq!(router.accept(&place(&store, 0, 309.9), &offer), Err(Refusal::Routing));
        assert_eq!(router.accept(&place(&store, 0, 310.0), &offer), Ok(()));
        assert_eq!(router.accept(&place(&store, 0, 11.0), &offer), Ok(()), "it was forgotten");
    }

    #[test]
    fn a_copy_in_custody_is_kept_until_it_was_passed_on_or_half_of_the_immunity_is_over() {
        let store = store_of([copy(1, 100), copy(2, 100)]);
        let mut router = router();
        for id in [1, 2] {
            router.on_received(&place(&store, 0, 0.0), &mut copy(id, 100), NodeId(1));
        }
        assert_eq!(router.victim(&place(&store, 0, 150.0)), None);
        router.on_sent(&place(&store, 0, 20.0), &mut copy(2, 100), NodeId(3), false);
        assert_eq!(router.victim(&place(&store, 0, 150.0)), Some(BundleId(2)));
        assert_eq!(router.victim(&place(&store, 0, 150.1)), Some(BundleId(1)), "the first of equals");
    }
}
