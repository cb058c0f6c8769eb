//! Smart-DTN-CC: each node learns by reinforcement which answer to congestion makes it go away.
//!
//! **A reconstruction.** We have the abstracts and what is generally known of Silva, Obraczka, Burleigh,
//! Nogueira, Hirata: A congestion control framework for delay- and disruption tolerant networks, Ad Hoc
//! Networks 2019, and Smart congestion control for delay- and disruption tolerant networks, SECON 2016;
//! not their full text. From there: Q-learning at each node with local information only; four states
//! by the buffer's occupancy and its forecast; actions that drop, migrate, refuse or notify; a
//! reward when congestion falls; Boltzmann exploration; a rate by Win or Learn Fast. Thresholds,
//! rewards, rates, the forecast and the exact set of actions are ours: `docs/algorithms/smart_dtn_cc.md`
//! lists each choice with its reason.

use crate::dtn::{
    BufferDecision, BuildContext, Bundle, BundleId, Entry, Incoming, Local, Mechanism, MechanismEvent, Needs,
    NodeId, Observation, Parameter, Parameters, Refusal, Replica, Table,
};
use crate::math;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use std::cmp::Reverse;

/// Learns per state of the buffer which action relieves it.
///
/// What it remembers: two tables of [`STATES`] x [`ACTIONS`] numbers, a counter per state, the peers in
/// contact that have said they are congested, one copy that is being migrated and the last offer.
pub struct SmartDtnCc {
    rules: Rules,
    /// When the current period began, and the occupancy then.
    since: Instant,
    occupancy: f64,
    /// Smoothed change of the occupancy in a period.
    trend: f64,
    state: State,
    action: Action,
    learner: Learner,
    /// Peers in contact that asked for no copies.
    congested_peers: Vec<NodeId>,
    /// The copy that will move, until it has left.
    migrating: Option<(BundleId, NodeId)>,
    /// The last offer and its sender, to which no copy is moved to make room for it.
    offered: Option<(BundleId, NodeId)>,
    random: Stream,
}

struct Rules {
    period: Duration,
    full: f64,
    smoothing: f64,
}

/// Q-learning over the states of the buffer.
struct Learner {
    rules: Rates,
    /// Q.
    values: [[f64; ACTIONS]; STATES],
    /// The policy averaged over the visits of a state, as of WoLF-PHC.
    mean_policy: [[f64; ACTIONS]; STATES],
    visits: [f64; STATES],
}

struct Rates {
    temperature: f64,
    discount: f64,
    winning: f64,
    losing: f64,
}

const STATES: usize = 4;
const ACTIONS: usize = 7;

/// The buffer is full now or not, and will be a period from now or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    NonCongested,
    Decreasing,
    Prospective,
    Congested,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// Nothing: the oldest copy makes room when the buffer is full.
    TakeAll,
    DropOldest,
    DropRandom,
    DropShortestLived,
    Migrate,
    Refuse,
    Notify,
}

use Action::{DropOldest, DropRandom, DropShortestLived, Migrate, Notify, TakeAll};

impl State {
    /// The actions among which a node chooses.
    const fn actions(self) -> &'static [Action] {
        match self {
            Self::NonCongested => &[TakeAll],
            _ => &[DropOldest, DropRandom, DropShortestLived, Migrate, Action::Refuse, Notify],
        }
    }
    /// What it was worth to come from `self` to `next`.
    fn reward(self, next: Self) -> f64 {
        if next < self || next == Self::NonCongested {
            1.0
        } else if next > self || next == Self::Congested {
            -1.0
        } else {
            0.0
        }
    }
}

/// Row of the state table: present when the node asks for no copies.
const CONGESTED: u64 = 0;

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "smart_dtn_cc",
    paper: "Reconstructed without the full text from Silva, Obraczka, Burleigh, Nogueira, Hirata: A congestion control framework for delay- and disruption tolerant networks, Ad Hoc Networks 2019",
    parameters: &[
        Parameter::number(
            "period",
            "s",
            60.0,
            (1e-3, 1e9),
            "time between choices of an action; also how far ahead the occupancy is forecast",
        ),
        Parameter::number(
            "full",
            "",
            0.8,
            (0.0, 1.0),
            "occupied share of the buffer from which it is congested",
        ),
        Parameter::number(
            "smoothing",
            "",
            0.5,
            (0.0, 1.0),
            "weight of the newest change in the forecast of the occupancy",
        ),
        Parameter::number(
            "discount",
            "",
            0.8,
            (0.0, 0.999),
            "weight of what follows in the value of an action",
        ),
        Parameter::number(
            "temperature",
            "",
            0.5,
            (1e-3, 1e3),
            "of the Boltzmann exploration: small chooses the best action known, large chooses at random",
        ),
        Parameter::number(
            "rate_winning",
            "",
            0.05,
            (0.0, 1.0),
            "learning rate while the policy is worth more than its average so far",
        ),
        Parameter::number("rate_losing", "", 0.2, (0.0, 1.0), "learning rate while it is not"),
    ],
    only_with: &[],
    properties: |_, _| Needs { neighbours: true, ..Needs::NONE },
    build,
};

fn build(given: &Parameters, context: BuildContext) -> Box<dyn Mechanism> {
    let rules = Rules {
        period: Duration::from_secs_f64(given.number("period")),
        full: given.number("full"),
        smoothing: given.number("smoothing"),
    };
    let rates = Rates {
        temperature: given.number("temperature"),
        discount: given.number("discount"),
        winning: given.number("rate_winning"),
        losing: given.number("rate_losing"),
    };
    Box::new(SmartDtnCc {
        rules,
        since: Instant::ZERO,
        occupancy: 0.0,
        trend: 0.0,
        state: State::NonCongested,
        action: TakeAll,
        learner: Learner::new(rates),
        congested_peers: Vec::new(),
        migrating: None,
        offered: None,
        random: Stream::new(context.seed, "smart_dtn_cc", u64::from(context.node.0)),
    })
}

impl Learner {
    fn new(rules: Rates) -> Self {
        Self {
            rules,
            values: [[0.0; ACTIONS]; STATES],
            mean_policy: [[0.0; ACTIONS]; STATES],
            visits: [0.0; STATES],
        }
    }
    /// Boltzmann: the probability of an action goes with exp(Q / temperature).
    fn policy(&self, state: State) -> [f64; ACTIONS] {
        let best = self.best(state);
        let mut policy = [0.0; ACTIONS];
        for &action in state.actions() {
            let value = self.values[state as usize][action as usize];
            policy[action as usize] = math::exp((value - best) / self.rules.temperature);
        }
        // At least 1: the best action's share.
        let sum: f64 = policy.iter().sum();
        policy.map(|weight| weight / sum)
    }
    fn best(&self, state: State) -> f64 {
        let values = state.actions().iter().map(|&action| self.values[state as usize][action as usize]);
        values.fold(f64::NEG_INFINITY, f64::max)
    }
    fn choose(&self, state: State, random: &mut Stream) -> Action {
        let policy = self.policy(state);
        let (&last, others) = state.actions().split_last().unwrap_or((&TakeAll, &[]));
        let mut left = random.unit();
        for &action in others {
            left -= policy[action as usize];
            if left < 0.0 {
                return action;
            }
        }
        last
    }
    /// Win or Learn Fast (Bowling, Veloso: Multiagent learning using a variable learning rate, 2002):
    /// slowly while the policy is worth more than its average so far, fast otherwise.
    fn rate(&mut self, state: State) -> f64 {
        let (row, policy) = (state as usize, self.policy(state));
        self.visits[row] += 1.0;
        for (mean, now) in self.mean_policy[row].iter_mut().zip(policy) {
            *mean += (now - *mean) / self.visits[row];
        }
        let worth = |policy: &[f64; ACTIONS]| -> f64 {
            policy.iter().zip(self.values[row]).map(|(share, value)| share * value).sum()
        };
        if worth(&policy) > worth(&self.mean_policy[row]) { self.rules.winning } else { self.rules.losing }
    }
    /// Q(s, a) += rate (reward + discount max Q(s', .) - Q(s, a)).
    fn learn(&mut self, state: State, action: Action, next: State) {
        let rate = self.rate(state);
        let target = state.reward(next) + self.rules.discount * self.best(next);
        let value = &mut self.values[state as usize][action as usize];
        *value += rate * (target - *value);
    }
}

impl SmartDtnCc {
    fn is_full(&self, occupancy: f64) -> bool {
        occupancy >= self.rules.full
    }
    fn judged(&self, occupancy: f64) -> State {
        match (self.is_full(occupancy), self.is_full(occupancy + self.trend)) {
            (true, true) => State::Congested,
            (true, false) => State::Decreasing,
            (false, true) => State::Prospective,
            (false, false) => State::NonCongested,
        }
    }
    /// When a period is over: looks at the buffer, learns what the action has brought and chooses the
    /// next. There is no clock in a mechanism, so that periods end with the first event after them.
    fn look(&mut self, at: &Local) {
        let elapsed = at.now - self.since;
        if elapsed < self.rules.period {
            return;
        }
        let occupancy = occupied(at);
        let change = (occupancy - self.occupancy) * (self.rules.period.as_secs_f64() / elapsed.as_secs_f64());
        self.trend += self.rules.smoothing * (change - self.trend);
        (self.since, self.occupancy) = (at.now, occupancy);
        let next = self.judged(occupancy);
        self.learner.learn(self.state, self.action, next);
        self.action = self.learner.choose(next, &mut self.random);
        self.state = next;
    }
    fn victim(&mut self, at: &Local) -> Option<BundleId> {
        let idle = || at.store.replicas().iter().filter(|r| r.sending == 0);
        let victim = match self.action {
            DropRandom => match idle().count() as u64 {
                0 => None,
                count => idle().nth(self.random.below(count) as usize),
            },
            DropShortestLived => idle().min_by_key(|r| r.bundle.expires),
            _ => at.store.oldest_idle(),
        };
        victim.map(|replica| replica.bundle.id)
    }
    /// Moves the oldest copy to the neighbour with most room, one copy at a time.
    fn migrate(&mut self, at: &Local, incoming: &Bundle) -> Option<BufferDecision> {
        if self.migrating.is_none() {
            let oldest = at.store.oldest_idle()?.bundle;
            let sender = self.offered.filter(|&(id, _)| id == incoming.id).map(|(_, from)| from);
            let able =
                at.links.iter().filter(|link| link.peer_space.idle && link.peer_space.free >= oldest.size);
            let roomiest =
                able.filter(|link| Some(link.peer) != sender).min_by_key(|l| Reverse(l.peer_space.free))?;
            self.migrating = Some((oldest.id, roomiest.peer));
        }
        self.migrating.map(|(id, to)| BufferDecision::Move { id, to })
    }
}

fn occupied(at: &Local) -> f64 {
    at.store.used().get() as f64 / (at.store.capacity().get() as f64).max(1.0)
}

impl Mechanism for SmartDtnCc {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, _: Option<BundleId>) -> BufferDecision {
        self.look(at);
        let moved = if self.action == Migrate { self.migrate(at, incoming) } else { None };
        moved.or_else(|| self.victim(at).map(BufferDecision::Drop)).unwrap_or(BufferDecision::Refuse)
    }
    fn obsolete(&mut self, at: &Local) -> Option<BundleId> {
        self.look(at);
        let clears = matches!(self.action, DropOldest | DropRandom | DropShortestLived);
        if clears && self.is_full(occupied(at)) { self.victim(at) } else { None }
    }
    fn state(&mut self, at: &Local) -> Option<Table> {
        self.look(at);
        (self.action == Notify).then(|| [(CONGESTED, 1.0)].into_iter().collect())
    }
    fn may_replicate(&self, _: &Local, _: &Replica, peer: NodeId) -> bool {
        !self.congested_peers.contains(&peer)
    }
    fn admit(&mut self, at: &Local, incoming: &Incoming) -> Result<(), Refusal> {
        let Incoming::Offered(offer) = incoming else { return Ok(()) };
        self.look(at);
        let bundle = offer.bundle();
        self.offered = Some((bundle.id, offer.from));
        if self.action == Action::Refuse && bundle.destination != at.node {
            return Err(Refusal::Congestion);
        }
        Ok(())
    }
    fn on_event(&mut self, _: &Local, event: &MechanismEvent) {
        match *event {
            MechanismEvent::ContactUp { peer, state } => {
                let congested = state.is_some_and(|state| state.get(CONGESTED).is_some());
                if congested && !self.congested_peers.contains(&peer) {
                    self.congested_peers.push(peer);
                }
            }
            MechanismEvent::ContactDown { peer } => {
                self.congested_peers.retain(|&other| other != peer);
                self.migrating = self.migrating.filter(|&(_, to)| to != peer);
            }
            MechanismEvent::Dropped { bundle, .. } | MechanismEvent::Moved { bundle, .. } => {
                self.migrating = self.migrating.filter(|&(moving, _)| moving != bundle.id);
            }
            MechanismEvent::Receipt { .. }
            | MechanismEvent::ReclaimRefused { .. }
            | MechanismEvent::PlanRevised { .. } => {}
        }
    }
    fn observe(&self, _: &Local, seen: &mut Observation) {
        seen.push(("congestion_state", f64::from(self.state as u8)));
        seen.push(("congestion_action", f64::from(self.action as u8)));
    }
}

#[cfg(test)]
mod tests;
