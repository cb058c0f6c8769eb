//! Global-knowledge buffer management (GBSD): the copy makes room that is worth least to the delivery
//! ratio, or to the delay, of the whole network.
//!
//! Krifa, Barakat, Spyropoulos: Optimal buffer management policies for delay tolerant networks, SECON
//! 2008; the same: Message drop and scheduling in DTNs: theory and practice, IEEE TMC 11(9), 2012. Of
//! the two halves of the policy this is the drop: a mechanism has no say in the order of offers.

use crate::dtn::{
    BufferDecision, BuildContext, Bundle, BundleId, Entry, Local, Mechanism, MechanismEvent, Needs,
    Observation, Parameter, Parameters,
};
use crate::math;

/// Drops the copy of least utility, which may be the one that is coming.
pub struct Gbsd {
    goal: Goal,
    /// L of the paper.
    nodes: f64,
    /// Lambda as given; `None`: as learned.
    given_rate: Option<f64>,
    contacts: u64,
}

#[derive(Clone, Copy)]
enum Goal {
    Delivery,
    Delay,
}

/// What is known of a bundle's copies, in the papers' letters.
#[derive(Clone, Copy)]
struct Spread {
    /// m: nodes other than the source that have seen it.
    seen: f64,
    /// n: copies alive.
    alive: f64,
    /// R: remaining lifetime.
    remaining_s: f64,
}

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "gbsd",
    paper: "Krifa, Barakat, Spyropoulos: Optimal buffer management policies for delay tolerant networks, SECON 2008",
    parameters: &[
        Parameter::word(
            "goal",
            &["delivery", "delay"],
            "what utility counts for: the network's delivery ratio or its mean delivery delay",
        ),
        Parameter::number(
            "meeting_rate",
            "",
            0.0,
            (0.0, 1e6),
            "lambda: how often two nodes meet, per second and pair; 0: learned by each node from its contacts",
        ),
    ],
    only_with: &[],
    properties: |_, _| Needs { census: true, ..Needs::NONE },
    build,
};

fn build(given: &Parameters, context: BuildContext) -> Box<dyn Mechanism> {
    let rate = given.number("meeting_rate");
    Box::new(Gbsd {
        goal: if given.word("goal") == "delay" { Goal::Delay } else { Goal::Delivery },
        nodes: f64::from(context.nodes),
        given_rate: (rate > 0.0).then_some(rate),
        contacts: 0,
    })
}

impl Goal {
    /// The logarithm of a copy's utility, but for a term that all copies at a node share (ln lambda,
    /// added for delivery and taken off for delay): the order is the same, nothing underflows where
    /// lambda n R is large, and before the first contact, when lambda is 0, there is an order too.
    ///
    /// - delivery: U = (1 - m / (L - 1)) lambda R exp(-lambda n R)
    /// - delay: U = (1 - m / (L - 1)) / (lambda n^2)
    ///
    /// (the derivatives with respect to n of the expected delivery ratio and delay; "Delivery ratio
    /// maximization" and "delay minimization" in section 3 of both papers).
    fn log_utility(self, nodes: f64, rate: f64, spread: Spread) -> f64 {
        let undelivered = (1.0 - spread.seen / (nodes - 1.0).max(1.0)).max(0.0);
        let per_copy = match self {
            Self::Delivery => {
                math::log(spread.remaining_s.max(0.0)) - rate * spread.alive * spread.remaining_s
            }
            Self::Delay => -2.0 * math::log(spread.alive.max(1.0)),
        };
        math::log(undelivered) + per_copy
    }
}

impl Gbsd {
    /// Lambda. Learned: contacts begun here, per second and other node. Nodes never met count, as L is
    /// known: without them, rare peers would make every pair look as if it met often.
    fn meeting_rate(&self, at: &Local) -> f64 {
        let observed_s = at.now.as_secs_f64() * (self.nodes - 1.0).max(1.0);
        self.given_rate
            .unwrap_or_else(|| if observed_s > 0.0 { self.contacts as f64 / observed_s } else { 0.0 })
    }
    /// What a copy that is here is worth, or what one that is `coming` will be when it is.
    fn utility(&self, at: &Local, bundle: &Bundle, coming: bool) -> f64 {
        let (id, census) = (bundle.id, at.census);
        let first_here = coming && bundle.source != at.node && census.is_none_or(|c| !c.seen_by(id, at.node));
        let (seen, alive) = census.map_or((0, 0), |census| (census.seen(id), census.alive(id)));
        let spread = Spread {
            seen: f64::from(seen + u32::from(first_here)),
            alive: f64::from(alive + u32::from(coming)),
            remaining_s: (bundle.expires - at.now).as_secs_f64(),
        };
        self.goal.log_utility(self.nodes, self.meeting_rate(at), spread)
    }
    /// Whether copies worth less than `incoming` can make enough room: a bundle that is refused in the end
    /// must not cost others their copies first.
    fn outweighs(&self, at: &Local, incoming: &Bundle) -> bool {
        let worth = self.utility(at, incoming, true);
        let lesser = at.store.replicas().iter().filter(|r| r.sending == 0);
        let lesser =
            lesser.filter(|r| self.utility(at, &r.bundle, false) < worth).map(|r| r.bundle.size.get());
        // An overfull buffer has less than no room.
        let (capacity, used) = (at.store.capacity().get(), at.store.used().get());
        lesser.sum::<u64>() + capacity >= used + incoming.size.get()
    }
    /// The idle copy that is worth least; of equals, the one that came first.
    fn least(&self, at: &Local) -> Option<BundleId> {
        let mut least: Option<(f64, BundleId)> = None;
        for replica in at.store.replicas().iter().filter(|r| r.sending == 0) {
            let utility = self.utility(at, &replica.bundle, false);
            if least.is_none_or(|(lowest, _)| utility < lowest) {
                least = Some((utility, replica.bundle.id));
            }
        }
        least.map(|(_, id)| id)
    }
}

impl Mechanism for Gbsd {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, _: Option<BundleId>) -> BufferDecision {
        // A bundle at its destination is not one copy among others.
        if incoming.destination != at.node && !self.outweighs(at, incoming) {
            return BufferDecision::Refuse;
        }
        self.least(at).map_or(BufferDecision::Refuse, BufferDecision::Drop)
    }
    fn on_event(&mut self, _: &Local, event: &MechanismEvent) {
        self.contacts += u64::from(matches!(event, MechanismEvent::ContactUp { .. }));
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        seen.push(("meeting_rate", self.meeting_rate(at)));
    }
}

#[cfg(test)]
mod tests;
