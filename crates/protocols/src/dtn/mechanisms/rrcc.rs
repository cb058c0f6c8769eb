//! Retiring replicants: a node's replication limit, raised and lowered by the drops per replication
//! that it and its peers have seen.

use crate::dtn::{
    BufferDecision, BuildContext, Bundle, BundleId, CopyEvent, DropReason, Entry, Local, Mechanism,
    MechanismEvent, Needs, NodeId, Observation, Parameter, Parameters, Replica, Store, Table,
};
use crate::rng::Stream;

/// Additive increase, multiplicative decrease of the copies that a node may hand out.
pub struct Rrcc {
    rules: Rules,
    drops: u64,
    replications: u64,
    congestion: Option<f64>,
    limit: f64,
    /// Copies that each peer in contact may still be given (reading `per_contact`).
    budgets: Vec<(NodeId, u64)>,
    random: Stream,
}

struct Rules {
    per_contact: bool,
    count_buffered: bool,
    keep_when_idle: bool,
    round_up: bool,
    drop_random: bool,
    beta: f64,
    increase: f64,
    decrease: f64,
    minimum: f64,
}

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "rrcc",
    paper: "Thompson, Nelson, Bakht, Abdelzaher, Kravets: Retiring replicants: congestion control for intermittently-connected networks, INFOCOM 2010",
    parameters: &[
        Parameter::word(
            "limit_of",
            &["contact", "message"],
            "what the limit bounds: copies given in one contact (and direction), or copies a node makes of one message",
        ),
        Parameter::word(
            "start",
            &["public", "paper"],
            "public code: limit 1, no congestion value yet; paper: limit 0, congestion value 1.8e308",
        ),
        Parameter::word("drop", &["random", "oldest"], "which copy makes room; random is the paper's"),
        Parameter::number("beta", "", 0.9, (0.0, 1.0), "weight of the newest sample in the congestion value"),
        Parameter::number(
            "additive_increase",
            "",
            1.0,
            (0.0, 1e6),
            "added to the limit when congestion does not grow",
        ),
        Parameter::number(
            "multiplicative_decrease",
            "",
            0.2,
            (0.0, 1.0),
            "factor of the limit when congestion grows",
        ),
        Parameter::number(
            "minimum_limit",
            "",
            1.0,
            (0.0, 1e6),
            "a decrease stops here; the paper has no such floor (0)",
        ),
        Parameter::word(
            "rounding",
            &["down", "up"],
            "how the limit, a real number, becomes a number of copies",
        ),
        Parameter::word(
            "hops",
            &["received", "buffered"],
            "earlier replications are read from the hop count of a copy once, as it is received, or at every contact from all copies in the buffer",
        ),
        Parameter::word(
            "without_replications",
            &["keep", "one"],
            "a contact before which nothing was replicated leaves the congestion value as it is, or counts as a ratio of 1",
        ),
    ],
    only_with: &[],
    properties: |_, _| Needs::NONE,
    build,
};

/// Rows of the state.
const DROPS: u64 = 0;
const REPLICATIONS: u64 = 1;

fn build(given: &Parameters, context: BuildContext) -> Box<dyn Mechanism> {
    let rules = Rules {
        per_contact: given.word("limit_of") == "contact",
        count_buffered: given.word("hops") == "buffered",
        keep_when_idle: given.word("without_replications") == "keep",
        round_up: given.word("rounding") == "up",
        drop_random: given.word("drop") == "random",
        beta: given.number("beta"),
        increase: given.number("additive_increase"),
        decrease: given.number("multiplicative_decrease"),
        minimum: given.number("minimum_limit"),
    };
    let (limit, congestion) =
        if given.word("start") == "paper" { (0.0, Some(f64::MAX)) } else { (1.0, None) };
    Box::new(Rrcc {
        rules,
        drops: 0,
        replications: 0,
        congestion,
        limit,
        budgets: Vec::new(),
        random: Stream::new(context.seed, "rrcc", u64::from(context.node.0)),
    })
}

impl Rrcc {
    fn copies_allowed(&self) -> u64 {
        (if self.rules.round_up { self.limit.ceil() } else { self.limit.floor() }) as u64
    }
    fn replications_seen(&self, store: &Store) -> u64 {
        if !self.rules.count_buffered {
            return self.replications;
        }
        // The same copies are counted again at every contact, as in the public code.
        let earlier = store.replicas().iter().map(|r| u64::from(r.hops.saturating_sub(1)));
        self.replications + earlier.sum::<u64>()
    }
    /// Algorithm 1, lines 14 to 23, and Eq. 1.
    fn update(&mut self, drops: f64, replications: f64) {
        let sample = match (replications > 0.0, self.rules.keep_when_idle) {
            (true, _) => drops / replications,
            (false, true) => return,
            (false, false) => 1.0,
        };
        let beta = self.rules.beta;
        let updated = self.congestion.map_or(sample, |old| beta * sample + (1.0 - beta) * old);
        if self.congestion.is_none_or(|old| updated <= old) {
            self.limit += self.rules.increase;
        } else {
            self.limit = (self.limit * self.rules.decrease).max(self.rules.minimum);
        }
        self.congestion = Some(updated);
    }
    fn on_contact_up(&mut self, at: &Local, peer: NodeId, state: Option<&Table>) {
        let drops = self.drops as f64 + count(state, DROPS);
        let replications = self.replications_seen(at.store) as f64 + count(state, REPLICATIONS);
        (self.drops, self.replications) = (0, 0);
        self.update(drops, replications);
        self.budgets.push((peer, self.copies_allowed()));
    }
}

/// A count from a peer's state; 0 if it is missing or impossible.
fn count(state: Option<&Table>, row: u64) -> f64 {
    state.and_then(|table| table.get(row)).filter(|n| n.is_finite() && *n >= 0.0).unwrap_or(0.0)
}

impl Mechanism for Rrcc {
    fn make_room(&mut self, at: &Local, _: &Bundle, _: Option<BundleId>) -> BufferDecision {
        let victim = if self.rules.drop_random {
            let idle = || at.store.replicas().iter().filter(|r| r.sending == 0);
            let count = idle().count() as u64;
            if count == 0 { None } else { idle().nth(self.random.below(count) as usize) }
        } else {
            at.store.oldest_idle()
        };
        victim.map_or(BufferDecision::Refuse, |r| BufferDecision::Drop(r.bundle.id))
    }
    fn state(&mut self, at: &Local) -> Option<Table> {
        let replications = self.replications_seen(at.store);
        Some([(DROPS, self.drops as f64), (REPLICATIONS, replications as f64)].into_iter().collect())
    }
    fn may_replicate(&self, _: &Local, replica: &Replica, peer: NodeId) -> bool {
        if self.rules.per_contact {
            self.budgets.iter().any(|&(other, left)| other == peer && left > 0)
        } else {
            replica.mechanism_mark.saturating_add(u64::from(replica.sending)) < self.copies_allowed()
        }
    }
    /// Copies made of this copy so far are its mark; it does not leave the node.
    fn mark_for_peer(&self, _: &Local, _: &Replica) -> u64 {
        0
    }
    fn on_copy(&mut self, _: &Local, replica: &mut Replica, event: CopyEvent) {
        match event {
            CopyEvent::Received { .. } => {
                let earlier = if self.rules.count_buffered { 0 } else { replica.hops.saturating_sub(1) };
                self.replications += 1 + u64::from(earlier);
            }
            CopyEvent::Sent { peer, delivered: false } => {
                replica.mechanism_mark = replica.mechanism_mark.saturating_add(1);
                if let Some((_, left)) = self.budgets.iter_mut().find(|budget| budget.0 == peer) {
                    *left = left.saturating_sub(1);
                }
            }
            CopyEvent::Sent { .. } | CopyEvent::Created | CopyEvent::Returned { .. } => {}
        }
    }
    fn on_event(&mut self, at: &Local, event: &MechanismEvent) {
        match *event {
            MechanismEvent::ContactUp { peer, state } => self.on_contact_up(at, peer, state),
            MechanismEvent::ContactDown { peer } => self.budgets.retain(|&(other, _)| other != peer),
            MechanismEvent::Dropped { reason, .. } => self.drops += u64::from(reason == DropReason::Overflow),
            _ => {}
        }
    }
    fn observe(&self, _: &Local, seen: &mut Observation) {
        seen.push(("replication_limit", self.limit));
        seen.push(("congestion_value", self.congestion.unwrap_or(0.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{built, copy, place, store_of};
    use crate::time::Instant;

    fn observed(mechanism: &dyn Mechanism, what: &str) -> f64 {
        let store = store_of([]);
        let mut seen = Vec::new();
        mechanism.observe(&place(&store, 0, 0.0), &mut seen);
        seen.iter().find(|row| row.0 == what).unwrap().1
    }
    /// A contact before which `drops` and `replications` happened here and at the peer together.
    fn contact(mechanism: &mut dyn Mechanism, drops: u64, replications: u64) -> (f64, f64) {
        let store = store_of([]);
        let at = place(&store, 0, 0.0);
        mechanism.on_event(
            &at,
            &MechanismEvent::Dropped {
                bundle: &copy(1, 100).bundle,
                received: Instant::ZERO,
                reason: DropReason::Overflow,
            },
        );
        mechanism.on_copy(
            &at,
            &mut Replica { hops: 1, ..copy(2, 100) },
            CopyEvent::Received { from: NodeId(1) },
        );
        let told = [(DROPS, drops as f64 - 1.0), (REPLICATIONS, replications as f64 - 1.0)];
        mechanism.on_event(
            &at,
            &MechanismEvent::ContactUp { peer: NodeId(1), state: Some(&told.into_iter().collect()) },
        );
        mechanism.on_event(&at, &MechanismEvent::ContactDown { peer: NodeId(1) });
        (observed(mechanism, "congestion_value"), observed(mechanism, "replication_limit"))
    }

    #[test]
    fn the_congestion_value_and_the_limit_follow_equation_1() {
        let mut rrcc = built(&ENTRY, &[]);
        let near = |(value, limit): (f64, f64), expected: (f64, f64)| {
            assert!(
                (value - expected.0).abs() < 1e-12 && (limit - expected.1).abs() < 1e-12,
                "{value} {limit}"
            );
        };
        near(contact(&mut *rrcc, 2, 4), (0.5, 2.0));
        near(contact(&mut *rrcc, 1, 4), (0.275, 3.0));
        // 0.9 x 0.75 + 0.1 x 0.275: it grows, 3 x 0.2 = 0.6 is lifted to the floor.
        near(contact(&mut *rrcc, 3, 4), (0.7025, 1.0));
        for _ in 0..9 {
            contact(&mut *rrcc, 1, 100);
        }
        near((0.0, contact(&mut *rrcc, 1, 100).1), (0.0, 11.0));
        assert!((contact(&mut *rrcc, 9, 1).1 - 2.2).abs() < 1e-12);
    }

    #[test]
    fn the_papers_start_raises_the_limit_for_300_contacts_whatever_happens() {
        let mut rrcc = built(&ENTRY, &[("start", "paper".into()), ("minimum_limit", 0.0.into())]);
        // Congestion goes up and down, but 1.8e308 fades by a tenth per contact only.
        let limits: Vec<f64> = (0..400).map(|i| contact(&mut *rrcc, 1 + 2 * (i % 2), 4).1).collect();
        let rises = limits.windows(2).take_while(|pair| pair[0] < pair[1]).count();
        assert!((300..350).contains(&rises), "{rises}");
    }

    #[test]
    fn a_contact_without_replications_changes_nothing_unless_it_counts_as_one() {
        let store = store_of([]);
        for (word, limit) in [("keep", 1.0), ("one", 2.0)] {
            let mut rrcc = built(&ENTRY, &[("without_replications", word.into())]);
            rrcc.on_event(
                &place(&store, 0, 0.0),
                &MechanismEvent::ContactUp { peer: NodeId(1), state: None },
            );
            assert_eq!(observed(&*rrcc, "replication_limit"), limit);
        }
    }

    #[test]
    fn a_contacts_budget_is_the_limit_and_deliveries_are_free() {
        let store = store_of([]);
        let at = place(&store, 0, 0.0);
        let mut rrcc = built(&ENTRY, &[("without_replications", "one".into())]);
        let mut replica = copy(1, 100);
        assert!(!rrcc.may_replicate(&at, &replica, NodeId(1)), "not in contact");
        rrcc.on_event(&at, &MechanismEvent::ContactUp { peer: NodeId(1), state: None });
        rrcc.on_copy(&at, &mut replica, CopyEvent::Sent { peer: NodeId(1), delivered: true });
        for _ in 0..2 {
            assert!(rrcc.may_replicate(&at, &replica, NodeId(1)));
            rrcc.on_copy(&at, &mut replica, CopyEvent::Sent { peer: NodeId(1), delivered: false });
        }
        assert!(!rrcc.may_replicate(&at, &replica, NodeId(1)));
    }

    #[test]
    fn read_per_message_the_limit_bounds_the_copies_that_a_node_makes_of_it() {
        let store = store_of([]);
        let at = place(&store, 0, 0.0);
        let mut rrcc = built(&ENTRY, &[("limit_of", "message".into())]);
        let mut replica = copy(1, 100);
        assert!(rrcc.may_replicate(&at, &replica, NodeId(1)));
        assert!(!rrcc.may_replicate(&at, &Replica { sending: 1, ..replica.clone() }, NodeId(1)));
        rrcc.on_copy(&at, &mut replica, CopyEvent::Sent { peer: NodeId(1), delivered: false });
        assert!(!rrcc.may_replicate(&at, &replica, NodeId(1)));
        assert!(rrcc.may_replicate(&at, &copy(2, 100), NodeId(1)));
        assert_eq!(rrcc.mark_for_peer(&at, &replica), 0);
    }

    #[test]
    fn hop_counts_stand_for_earlier_replications() {
        let store = store_of([Replica { hops: 5, ..copy(1, 100) }]);
        let at = place(&store, 0, 0.0);
        for (word, expected) in [("received", 3.0), ("buffered", 1.0 + 4.0)] {
            let mut rrcc = built(&ENTRY, &[("hops", word.into())]);
            rrcc.on_copy(
                &at,
                &mut Replica { hops: 3, ..copy(2, 100) },
                CopyEvent::Received { from: NodeId(1) },
            );
            assert_eq!(rrcc.state(&at).unwrap().get(REPLICATIONS), Some(expected));
        }
    }

    #[test]
    fn the_victim_is_drawn_from_all_copies_that_are_not_being_sent() {
        let store = store_of((0..4).map(|id| Replica { sending: u32::from(id == 2), ..copy(id, 100) }));
        let mut rrcc = built(&ENTRY, &[]);
        let mut hits = [0; 4];
        for _ in 0..3000 {
            match rrcc.make_room(&place(&store, 0, 0.0), &copy(9, 100).bundle, None) {
                BufferDecision::Drop(id) => hits[id.0 as usize] += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(hits[2], 0);
        assert!([0, 1, 3].iter().all(|&id| (850..1150).contains(&hits[id])), "{hits:?}");
        let oldest = built(&ENTRY, &[("drop", "oldest".into())]).make_room(
            &place(&store, 0, 0.0),
            &copy(9, 100).bundle,
            None,
        );
        assert_eq!(oldest, BufferDecision::Drop(BundleId(0)));
    }
}
