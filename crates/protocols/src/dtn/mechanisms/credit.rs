//! Credit-based congestion control: copies lose credit with time and by being sent; the poorest one
//! makes room, and what was dropped here is not taken again.

use crate::dtn::{
    BufferDecision, Bundle, BundleId, CopyEvent, DropReason, Entry, IdSet, Incoming, Local, Mechanism,
    MechanismEvent, Needs, Observation, Parameter, Parameters, Refusal, Replica,
};
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// A copy's credit as it was when the copy came is its mark; from then on it is computed when needed.
pub struct Credit {
    rules: Rules,
    dropped: IdSet,
    /// The dropped ones in order, kept only when their number is bounded.
    order: VecDeque<BundleId>,
}

struct Rules {
    unit: Duration,
    initial: f64,
    maximum: f64,
    minimum: f64,
    penalty: f64,
    reward: f64,
    /// Eq. 6 caps (`min`) instead of lifting (`max`).
    capped: bool,
    reward_before_penalty: bool,
    looping_control: bool,
    /// 0: no bound.
    memory: usize,
    proactive: bool,
    occupancy: f64,
}

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "credit",
    paper: "Leela-amornsin, Esaki: Heuristic congestion control for message deletion in delay tolerant network, NEW2AN 2010",
    parameters: &[
        Parameter::number("unit", "s", 60.0, (1e-3, 1e9), "time in which a copy loses one credit"),
        Parameter::number("initial", "", 100.0, (0.0, 1e9), "credit of a new bundle"),
        Parameter::number("maximum", "", 100.0, (0.0, 1e9), "no copy comes with more (receiver = min)"),
        Parameter::number(
            "minimum",
            "",
            0.0,
            (0.0, 1e9),
            "no copy has less; a copy that is down to it is obsolete",
        ),
        Parameter::number(
            "penalty",
            "",
            5.0,
            (0.0, 1e9),
            "credit that the sender's copy loses by being sent",
        ),
        Parameter::number("reward", "", 5.0, (0.0, 1e9), "credit that the receiver's copy gains"),
        Parameter::word(
            "receiver",
            &["min", "max"],
            "Eq. 6: the smaller of the sender's credit + reward and the maximum, or (as printed) the larger of it and the initial credit",
        ),
        Parameter::word(
            "sender_credit",
            &["before", "after"],
            "whether the sender's credit in Eq. 6 is that before or after the penalty",
        ),
        Parameter::flag("looping_control", true, "what was dropped here to make room is not taken again"),
        Parameter::integer(
            "memory",
            0.0,
            (0.0, 1e9),
            "dropped bundles that looping control remembers, newest first; 0: all",
        ),
        Parameter::flag(
            "proactive",
            false,
            "obsolete copies go before room is needed, when the buffer is filled beyond `occupancy`",
        ),
        Parameter::number(
            "occupancy",
            "",
            0.8,
            (0.0, 1.0),
            "filled share of the buffer from which obsolete copies go",
        ),
    ],
    only_with: &[],
    properties: |_, _| Needs::NONE,
    build: |given, _| {
        Box::new(Credit { rules: rules(given), dropped: IdSet::default(), order: VecDeque::new() })
    },
};

fn rules(given: &Parameters) -> Rules {
    Rules {
        unit: Duration::from_secs_f64(given.number("unit")),
        initial: given.number("initial"),
        maximum: given.number("maximum"),
        minimum: given.number("minimum"),
        penalty: given.number("penalty"),
        reward: given.number("reward"),
        capped: given.word("receiver") == "min",
        reward_before_penalty: given.word("sender_credit") == "before",
        looping_control: given.flag("looping_control"),
        memory: given.number("memory") as usize,
        proactive: given.flag("proactive"),
        occupancy: given.number("occupancy"),
    }
}

impl Rules {
    /// Credits lost since the copy came: one per whole time unit.
    fn lost(&self, replica: &Replica, now: Instant) -> f64 {
        ((now - replica.received).as_nanos() / self.unit.as_nanos()) as f64
    }
    fn credit(&self, replica: &Replica, now: Instant) -> f64 {
        // `max` also turns a mark that is not a number into the minimum.
        (f64::from_bits(replica.mechanism_mark) - self.lost(replica, now)).max(self.minimum)
    }
    /// Eq. 5.
    fn penalised(&self, credit: f64) -> f64 {
        (credit - self.penalty).max(self.minimum)
    }
    /// Eq. 6.
    fn rewarded(&self, credit: f64) -> f64 {
        let sender = if self.reward_before_penalty { credit } else { self.penalised(credit) };
        if self.capped {
            (sender + self.reward).min(self.maximum)
        } else {
            (sender + self.reward).max(self.initial)
        }
    }
    /// The idle copy with the least credit; of equals, the one that came first.
    fn poorest(&self, at: &Local) -> Option<(f64, BundleId)> {
        let mut poorest: Option<(f64, BundleId)> = None;
        for replica in at.store.replicas().iter().filter(|r| r.sending == 0) {
            let credit = self.credit(replica, at.now);
            if poorest.is_none_or(|(least, _)| credit < least) {
                poorest = Some((credit, replica.bundle.id));
            }
        }
        poorest
    }
}

impl Mechanism for Credit {
    fn make_room(&mut self, at: &Local, _: &Bundle, _: Option<BundleId>) -> BufferDecision {
        self.rules.poorest(at).map_or(BufferDecision::Refuse, |(_, id)| BufferDecision::Drop(id))
    }
    fn obsolete(&mut self, at: &Local) -> Option<BundleId> {
        let rules = &self.rules;
        let full = || at.store.used().get() as f64 > rules.occupancy * at.store.capacity().get() as f64;
        if !rules.proactive || !full() {
            return None;
        }
        rules.poorest(at).filter(|&(credit, _)| credit <= rules.minimum).map(|(_, id)| id)
    }
    fn refused_ids(&self) -> &IdSet {
        &self.dropped
    }
    fn admit(&mut self, at: &Local, incoming: &Incoming) -> Result<(), Refusal> {
        let Incoming::Offered(offer) = incoming else { return Ok(()) };
        let bundle = offer.bundle();
        if self.dropped.contains(bundle.id.0) && bundle.destination != at.node {
            return Err(Refusal::DroppedBefore);
        }
        Ok(())
    }
    fn mark_for_peer(&self, at: &Local, replica: &Replica) -> u64 {
        self.rules.rewarded(self.rules.credit(replica, at.now)).to_bits()
    }
    fn on_copy(&mut self, at: &Local, replica: &mut Replica, event: CopyEvent) {
        match event {
            CopyEvent::Created => replica.mechanism_mark = self.rules.initial.to_bits(),
            CopyEvent::Sent { .. } => {
                let left = self.rules.penalised(self.rules.credit(replica, at.now));
                replica.mechanism_mark = (left + self.rules.lost(replica, at.now)).to_bits();
            }
            CopyEvent::Received { .. } | CopyEvent::Returned { .. } => {}
        }
    }
    fn on_event(&mut self, _: &Local, event: &MechanismEvent) {
        let MechanismEvent::Dropped { bundle, reason: DropReason::Overflow, .. } = event else { return };
        if !self.rules.looping_control {
            return;
        }
        let news = self.dropped.insert(bundle.id.0);
        if news && self.rules.memory > 0 {
            self.order.push_back(bundle.id);
            if self.order.len() > self.rules.memory {
                self.order.pop_front().map(|oldest| self.dropped.remove(oldest.0));
            }
        }
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        let copies = at.store.replicas();
        let sum: f64 = copies.iter().map(|replica| self.rules.credit(replica, at.now)).sum();
        seen.push(("mean_credit", if copies.is_empty() { 0.0 } else { sum / copies.len() as f64 }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{built, copy, place, store_of};
    use crate::dtn::{NodeId, Offer};
    use crate::time::Instant;

    fn with_credit(id: u32, credit: f64) -> Replica {
        Replica { mechanism_mark: credit.to_bits(), ..copy(id, 300) }
    }
    fn credit_now(replica: &Replica, seconds: f64) -> f64 {
        f64::from_bits(replica.mechanism_mark) - (seconds / 60.0).floor()
    }

    #[test]
    fn the_sender_pays_and_the_receiver_gains_by_equations_5_and_6() {
        let store = store_of([]);
        let at = place(&store, 0, 0.0);
        // Credit, Eq. 6's reading, and what the receiver's copy comes with.
        let cases = [
            (50.0, "min", "before", 55.0),
            (98.0, "min", "before", 100.0),
            (50.0, "min", "after", 50.0),
            (3.0, "min", "after", 5.0),
            (50.0, "max", "before", 100.0),
            (98.0, "max", "before", 103.0),
        ];
        for (credit, receiver, sender, expected) in cases {
            let given = [("receiver", receiver.into()), ("sender_credit", sender.into())];
            let mut mechanism = built(&ENTRY, &given);
            let mut replica = with_credit(1, credit);
            assert_eq!(f64::from_bits(mechanism.mark_for_peer(&at, &replica)), expected);
            mechanism.on_copy(&at, &mut replica, CopyEvent::Sent { peer: NodeId(1), delivered: false });
            assert_eq!(credit_now(&replica, 0.0), (credit - 5.0).max(0.0));
        }
    }

    #[test]
    fn a_credit_goes_with_every_whole_time_unit_and_a_penalty_does_not_restart_it() {
        let store = store_of([]);
        let mut mechanism = built(&ENTRY, &[]);
        let mut replica = copy(1, 100);
        mechanism.on_copy(&place(&store, 0, 0.0), &mut replica, CopyEvent::Created);
        mechanism.on_copy(
            &place(&store, 0, 119.0),
            &mut replica,
            CopyEvent::Sent { peer: NodeId(1), delivered: false },
        );
        assert_eq!(credit_now(&replica, 119.0), 94.0);
        assert_eq!(credit_now(&replica, 120.0), 93.0);
        // 6000 s later nothing is left, and a copy is worth its reward.
        let mark = mechanism.mark_for_peer(&place(&store, 0, 7200.0), &replica);
        assert_eq!(f64::from_bits(mark), 5.0);
    }

    #[test]
    fn the_poorest_copy_goes_and_the_oldest_of_equals() {
        let store = store_of([with_credit(1, 9.0), with_credit(2, 4.0), with_credit(3, 4.0)]);
        let room = built(&ENTRY, &[]).make_room(&place(&store, 0, 0.0), &copy(9, 1).bundle, None);
        assert_eq!(room, BufferDecision::Drop(BundleId(2)));
    }

    #[test]
    fn what_was_dropped_to_make_room_is_refused_but_not_at_its_destination() {
        let store = store_of([]);
        let mut mechanism = built(&ENTRY, &[("memory", 2.0.into())]);
        let at = place(&store, 1, 0.0);
        (1..4).for_each(|id| {
            mechanism.on_event(
                &at,
                &MechanismEvent::Dropped {
                    bundle: &copy(id, 1).bundle,
                    received: Instant::ZERO,
                    reason: DropReason::Overflow,
                },
            )
        });
        mechanism.on_event(
            &at,
            &MechanismEvent::Dropped {
                bundle: &copy(4, 1).bundle,
                received: Instant::ZERO,
                reason: DropReason::Expired,
            },
        );
        let mut answer = |node, id| {
            let replica = copy(id, 1);
            mechanism.admit(
                &place(&store, node, 0.0),
                &Incoming::Offered(&Offer { replica: &replica, from: NodeId(0) }),
            )
        };
        assert_eq!(answer(1, 1), Ok(()), "two are remembered, this is the third last");
        assert_eq!(answer(1, 2), Err(Refusal::DroppedBefore));
        assert_eq!(answer(9, 2), Ok(()));
        assert_eq!(answer(1, 4), Ok(()));
    }

    #[test]
    fn obsolete_copies_go_early_only_when_asked_for_and_the_buffer_is_nearly_full() {
        let copies = [with_credit(1, 9.0), with_credit(2, 0.0), with_credit(3, 0.0)];
        let (full, half) = (store_of(copies.clone()), store_of(copies[..2].iter().cloned()));
        let mut proactive = built(&ENTRY, &[("proactive", true.into())]);
        assert_eq!(proactive.obsolete(&place(&full, 0, 0.0)), Some(BundleId(2)));
        assert_eq!(proactive.obsolete(&place(&half, 0, 0.0)), None);
        assert_eq!(built(&ENTRY, &[]).obsolete(&place(&full, 0, 0.0)), None);
    }
}
