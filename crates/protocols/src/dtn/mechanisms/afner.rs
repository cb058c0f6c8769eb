//! AFNER: what has been forwarded more often than the average makes room.

use crate::dtn::{
    BufferDecision, BuildContext, Bundle, BundleId, Census, CopyEvent, Entry, Local, Mechanism,
    MechanismEvent, Needs, Observation, Parameter, Parameters, Replica, Table,
};
use crate::rng::Stream;
use crate::time::Duration;
use view::View;

mod view;

/// Drops copies of bundles of which there are many.
pub struct Afner {
    knowledge: Knowledge,
    alive: bool,
    descending: bool,
    random: Stream,
}

enum Knowledge {
    /// The paper's: the numbers of this moment.
    Oracle,
    /// The oracle's numbers, each kept for a period from its first use in it.
    Stale { period: Duration, kept: Kept },
    /// Numbers learned at contacts.
    Gossip(View),
}

/// Numbers of the oracle read in the current period.
#[derive(Default)]
struct Kept {
    period: i64,
    mean: Option<f64>,
    /// By bundle: the period in which it was read (plus 1; 0: never), and the number.
    numbers: Vec<(i64, u32)>,
}

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "afner",
    paper: "Li, Cheng, Liu, You: A novel congestion control strategy in delay tolerant networks, ICFN 2010",
    parameters: &[
        Parameter::word(
            "knowledge",
            &["oracle", "gossip", "stale"],
            "where forwarding numbers come from: the network's true counts, counts merged at contacts, or true counts that are kept for a while",
        ),
        Parameter::number(
            "staleness",
            "s",
            600.0,
            (1e-3, 1e9),
            "how long a number is kept (knowledge = stale)",
        ),
        Parameter::word(
            "count",
            &["made", "alive"],
            "the forwarding number is the number of copies made so far (the first included) or of those alive",
        ),
        Parameter::word(
            "select",
            &["random", "descending"],
            "random among the copies above the average (prose), or the largest forwarding number first (pseudo-code)",
        ),
    ],
    only_with: &["epidemic"],
    properties: |given, _| Needs {
        census: given.word("knowledge") != "gossip",
        // Section 3.2: messages are transmitted first in, first out.
        reception_order: true,
        ..Needs::NONE
    },
    build,
};

fn build(given: &Parameters, context: BuildContext) -> Box<dyn Mechanism> {
    let knowledge = match given.word("knowledge") {
        "gossip" => Knowledge::Gossip(View::default()),
        "stale" => Knowledge::Stale {
            period: Duration::from_secs_f64(given.number("staleness")),
            kept: Kept::default(),
        },
        _ => Knowledge::Oracle,
    };
    Box::new(Afner {
        knowledge,
        alive: given.word("count") == "alive",
        descending: given.word("select") == "descending",
        random: Stream::new(context.seed, "afner", u64::from(context.node.0)),
    })
}

/// The oracle's count of `id`; nothing is known without an oracle.
fn count(census: Option<&Census>, alive: bool, id: BundleId) -> u32 {
    census.map_or(0, |census| if alive { census.alive(id) } else { census.made(id) })
}
fn mean(census: Option<&Census>, alive: bool) -> f64 {
    census.map_or(0.0, |census| if alive { census.mean_alive() } else { census.mean_made() })
}

impl Afner {
    fn forwarding_number(&mut self, at: &Local, id: BundleId) -> u32 {
        match &mut self.knowledge {
            Knowledge::Oracle => count(at.census, self.alive, id),
            Knowledge::Gossip(view) => view.number(id),
            Knowledge::Stale { kept, .. } => kept.number(id, || count(at.census, self.alive, id)),
        }
    }
    fn average(&mut self, at: &Local) -> f64 {
        match &mut self.knowledge {
            Knowledge::Oracle => mean(at.census, self.alive),
            Knowledge::Gossip(view) => view.mean(),
            Knowledge::Stale { period, kept } => {
                kept.enter(at.now.as_nanos() / period.as_nanos());
                *kept.mean.get_or_insert_with(|| mean(at.census, self.alive))
            }
        }
    }
    /// One of the copies above the average, uniformly; `None` without any.
    ///
    /// Reservoir sampling: one pass, no list.
    fn above_average(&mut self, at: &Local, average: f64) -> Option<BundleId> {
        let (mut chosen, mut candidates) = (None, 0);
        for replica in at.store.replicas().iter().filter(|r| r.sending == 0) {
            let id = replica.bundle.id;
            if f64::from(self.forwarding_number(at, id)) > average {
                candidates += 1;
                if self.random.below(candidates) == 0 {
                    chosen = Some(id);
                }
            }
        }
        chosen
    }
    /// The copy with the largest forwarding number; of equals, the one that came first.
    fn largest(&mut self, at: &Local) -> Option<BundleId> {
        let mut best: Option<(u32, BundleId)> = None;
        for replica in at.store.replicas().iter().filter(|r| r.sending == 0) {
            let number = self.forwarding_number(at, replica.bundle.id);
            if best.is_none_or(|(largest, _)| number > largest) {
                best = Some((number, replica.bundle.id));
            }
        }
        best.map(|(_, id)| id)
    }
}

impl Kept {
    fn enter(&mut self, period: i64) {
        if self.period != period {
            self.period = period;
            self.mean = None;
        }
    }
    fn number(&mut self, id: BundleId, read: impl FnOnce() -> u32) -> u32 {
        let at = id.0 as usize;
        if at >= self.numbers.len() {
            self.numbers.resize(at + 1, (0, 0));
        }
        if self.numbers[at].0 != self.period + 1 {
            self.numbers[at] = (self.period + 1, read());
        }
        self.numbers[at].1
    }
}

impl Mechanism for Afner {
    fn make_room(&mut self, at: &Local, _: &Bundle, _: Option<BundleId>) -> BufferDecision {
        let average = self.average(at);
        let chosen = if self.descending { None } else { self.above_average(at, average) };
        chosen.or_else(|| self.largest(at)).map_or(BufferDecision::Refuse, BufferDecision::Drop)
    }
    fn state(&mut self, at: &Local) -> Option<Table> {
        match &self.knowledge {
            Knowledge::Gossip(view) => Some(view.summary(at.store)),
            _ => None,
        }
    }
    /// The new copy brings along the forwarding number that includes it.
    fn mark_for_peer(&self, _: &Local, replica: &Replica) -> u64 {
        match &self.knowledge {
            Knowledge::Gossip(view) => u64::from(view.number(replica.bundle.id).saturating_add(1)),
            _ => 0,
        }
    }
    fn on_copy(&mut self, at: &Local, replica: &mut Replica, event: CopyEvent) {
        let Knowledge::Gossip(view) = &mut self.knowledge else { return };
        let Bundle { id, destination, expires, .. } = replica.bundle;
        match event {
            CopyEvent::Created => view.learn(id, 1, expires),
            CopyEvent::Sent { delivered: false, .. } => {
                view.learn(id, view.number(id).saturating_add(1), expires);
            }
            CopyEvent::Received { .. } if destination != at.node => {
                view.learn(id, replica.mechanism_mark.try_into().unwrap_or(u32::MAX), expires);
            }
            // A delivery makes no copy.
            CopyEvent::Sent { .. } | CopyEvent::Received { .. } | CopyEvent::Returned { .. } => {}
        }
    }
    fn on_event(&mut self, at: &Local, event: &MechanismEvent) {
        let Knowledge::Gossip(view) = &mut self.knowledge else { return };
        match event {
            MechanismEvent::ContactUp { state, .. } => {
                view.forget_expired(at.now);
                state.iter().for_each(|state| view.hear(state, at.now));
            }
            MechanismEvent::Dropped { bundle, .. } if self.alive => view.lose_one(bundle.id),
            _ => {}
        }
    }
    fn observe(&self, _: &Local, seen: &mut Observation) {
        if let Knowledge::Gossip(view) = &self.knowledge {
            seen.push(("average_forwarding_number", view.mean()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{built, built_with_properties, copy, place, store_of};
    use crate::dtn::{NodeId, Store};

    /// Copies 0 to 3 in order of reception; 1, 3, 8 and 8 copies made of them: 5 on average.
    fn scene() -> (Store, Census) {
        let mut census = Census::default();
        for (id, made) in [(0, 1), (1, 3), (2, 8), (3, 8)] {
            (0..made).for_each(|node| census.on_copied(BundleId(id), NodeId(node), true));
        }
        (store_of((0..4).map(|id| copy(id, 100))), census)
    }
    fn victim(mechanism: &mut dyn Mechanism, store: &Store, census: &Census, seconds: f64) -> u32 {
        let at = Local { census: Some(census), ..place(store, 0, seconds) };
        match mechanism.make_room(&at, &copy(9, 100).bundle, None) {
            BufferDecision::Drop(id) => id.0,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_victim_is_any_of_the_bundles_forwarded_more_often_than_the_average() {
        let (store, census) = scene();
        let mut afner = built(&ENTRY, &[]);
        let mut hits = [0; 4];
        (0..1000).for_each(|_| hits[victim(&mut *afner, &store, &census, 0.0) as usize] += 1);
        assert_eq!(hits[..2], [0, 0]);
        assert!(hits[2] > 400 && hits[3] > 400, "{hits:?}");
    }

    #[test]
    fn in_descending_order_the_largest_number_goes_and_the_oldest_of_equals() {
        let (store, census) = scene();
        let mut afner = built(&ENTRY, &[("select", "descending".into())]);
        assert!((0..20).all(|_| victim(&mut *afner, &store, &census, 0.0) == 2));
    }

    #[test]
    fn when_nothing_is_above_the_average_the_largest_number_goes() {
        let (_, census) = scene();
        let store = store_of([copy(0, 100), copy(1, 100)]);
        assert_eq!(victim(&mut *built(&ENTRY, &[]), &store, &census, 0.0), 1);
    }

    #[test]
    fn copies_alive_are_another_count_than_copies_made() {
        let (store, mut census) = scene();
        (0..7).for_each(|_| census.on_gone(BundleId(2)));
        (0..7).for_each(|_| census.on_gone(BundleId(3)));
        // Alive: 1, 3, 1, 1.
        let mut afner = built(&ENTRY, &[("count", "alive".into())]);
        assert!((0..20).all(|_| victim(&mut *afner, &store, &census, 0.0) == 1));
    }

    #[test]
    fn stale_numbers_are_kept_until_their_period_is_over() {
        let (store, mut census) = scene();
        let given =
            [("knowledge", "stale".into()), ("staleness", 100.0.into()), ("select", "descending".into())];
        let mut afner = built(&ENTRY, &given);
        assert_eq!(victim(&mut *afner, &store, &census, 1.0), 2);
        (0..10).for_each(|node| census.on_copied(BundleId(0), NodeId(node), true));
        assert_eq!(victim(&mut *afner, &store, &census, 99.0), 2);
        assert_eq!(victim(&mut *afner, &store, &census, 100.0), 0);
    }

    #[test]
    fn gossip_learns_the_largest_number_heard_and_asks_for_no_oracle() {
        let (store, _) = scene();
        let at = place(&store, 0, 0.0);
        let given = [("knowledge", "gossip".into()), ("select", "descending".into())];
        let (mut here, mut there) = (built(&ENTRY, &given), built(&ENTRY, &given));
        assert_eq!(
            built_with_properties(&ENTRY, &given).properties,
            Needs { reception_order: true, ..Needs::NONE }
        );
        for id in 0..4 {
            here.on_copy(&at, &mut copy(id, 100), CopyEvent::Created);
            there.on_copy(&at, &mut copy(id, 100), CopyEvent::Created);
        }
        // The peer forwards bundle 3 twice; its new copies say so, and so does its summary vector.
        assert_eq!(there.mark_for_peer(&at, &copy(3, 100)), 2);
        (0..2).for_each(|_| {
            there.on_copy(&at, &mut copy(3, 100), CopyEvent::Sent { peer: NodeId(5), delivered: false })
        });
        assert_eq!(there.mark_for_peer(&at, &copy(3, 100)), 4);
        let told = there.state(&at);
        here.on_event(&at, &MechanismEvent::ContactUp { peer: NodeId(1), state: told.as_ref() });
        assert_eq!(here.make_room(&at, &copy(9, 100).bundle, None), BufferDecision::Drop(BundleId(3)));
    }
}
