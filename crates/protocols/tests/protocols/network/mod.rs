//! A small network of agents in which everything that a driver may do happens, and that checks after
//! every step what no algorithm may break. It keeps its own books and shares no code with the agent.

pub mod tidy;

use lightlag_protocols::dtn::{
    Agent, Answer, BuildContext, Built, Bundle, BundleArrival, BundleId, BundleInTransit, ByReception,
    Census, ContactPlan, Creation, Domain, Entry, IdSet, Kind, Link, Mechanism, NodeId, NodePolicy, Offer,
    Parameter, Parameters, PeerSpace, Peers, PlannedContact, Router, Summary, Transfer, TransferKind, Value,
    mechanisms, routers,
};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub const NODES: u32 = 5;
pub const BUFFER: Bytes = Bytes(1000);
/// Crosses a link in 10 s per 100 bytes.
const RATE: BitRate = BitRate(80);

/// What happens next.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Two nodes come into contact, if they are different and not in contact.
    Connect(u32, u32),
    /// The contact with this number (modulo how many there are) ends.
    Disconnect(usize),
    /// Node, destination, size.
    Create(u32, u32, u64),
    /// Time passes.
    Wait(i64),
}

/// What the world is like.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// A node has one radio for all its links, or one for each.
    pub one_radio: bool,
    pub delay_s: i64,
    pub lifetime_s: i64,
    pub policy: NodePolicy,
    pub seed: u64,
}

/// An algorithm and the values given to it.
pub type Choice<'a> = (&'a str, BTreeMap<String, Value>);

struct Flight {
    from: NodeId,
    transfer: Transfer,
    ends: Instant,
}

pub struct Network {
    pub now: Instant,
    terms: Terms,
    agents: Vec<Option<Agent>>,
    contacts: Vec<(NodeId, NodeId)>,
    flights: Vec<Flight>,
    /// Arrival, sender, receiver.
    transits: Vec<(Instant, NodeId, NodeId, BundleInTransit)>,
    census: Census,
    created: BTreeMap<BundleId, Bundle>,
    held: BTreeSet<(NodeId, BundleId)>,
    delivered: BTreeSet<BundleId>,
    pub log: Vec<String>,
}

/// The other agents, while one of them makes offers.
struct Others<'a> {
    me: NodeId,
    now: Instant,
    one_radio: bool,
    agents: &'a mut [Option<Agent>],
    flights: &'a [Flight],
    expected: &'a [IdSet],
    census: &'a Census,
}

fn busy(flights: &[Flight], one_radio: bool, me: NodeId, peer: NodeId) -> bool {
    flights.iter().any(|f| {
        let ends = [f.from, f.transfer.to];
        if one_radio {
            ends.contains(&me) || ends.contains(&peer)
        } else {
            ends.contains(&me) && ends.contains(&peer)
        }
    })
}

impl Peers for Others<'_> {
    fn idle(&self, peer: NodeId) -> bool {
        !busy(self.flights, self.one_radio, self.me, peer)
    }
    fn summary(&self, peer: NodeId) -> Summary<'_> {
        let agent = self.agents[peer.0 as usize].as_ref().expect("a peer is not oneself");
        let expected = Some(&self.expected[peer.0 as usize]);
        agent.summary(expected.map(|expected| [expected, IdSet::none()]))
    }
    fn answer(&mut self, peer: NodeId, offer: &Offer) -> Answer {
        let agent = self.agents[peer.0 as usize].as_mut().expect("a peer is not oneself");
        agent.consider(self.now, offer, Some(self.census))
    }
}

fn build<A: ?Sized + Kind>(table: &[Entry<A>], (name, given): &Choice, context: BuildContext) -> Built<A> {
    let entry = table.iter().find(|entry| entry.name == *name).expect("the name is in the table");
    let given = Parameters::resolve(entry.name, entry.parameters, given).expect("the values are allowed");
    entry.built(&given, context)
}

impl Network {
    pub fn new(router: &Choice, mechanism: &Choice, terms: Terms, plan: ContactPlan) -> Self {
        let plan = Arc::new(plan);
        let agents = (0..NODES).map(|node| {
            let context = BuildContext {
                node: NodeId(node),
                nodes: NODES,
                seed: terms.seed,
                plan: plan.clone(),
                ..BuildContext::default()
            };
            let router: Built<dyn Router> = build(routers::TABLE, router, context.clone());
            let context = BuildContext { router: router.properties, ..context };
            let mechanism: Built<dyn Mechanism> = build(mechanisms::TABLE, mechanism, context);
            Some(Agent::new(NodeId(node), BUFFER, router, mechanism, terms.policy))
        });
        Self {
            now: Instant::ZERO,
            terms,
            agents: agents.collect(),
            contacts: Vec::new(),
            flights: Vec::new(),
            transits: Vec::new(),
            census: Census::default(),
            created: BTreeMap::new(),
            held: BTreeSet::new(),
            delivered: BTreeSet::new(),
            log: Vec::new(),
        }
    }
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.agents.iter().map(|agent| agent.as_ref().expect("no offer is being made"))
    }
    /// Bundles that have left a node and have not yet come to the next.
    pub fn transits(&self) -> impl Iterator<Item = &BundleInTransit> {
        self.transits.iter().map(|(_, _, _, transit)| transit)
    }
    pub fn bundles(&self) -> impl Iterator<Item = BundleId> {
        self.created.keys().copied()
    }
    pub fn deliveries(&self) -> usize {
        self.delivered.len()
    }
    fn agent(&mut self, node: NodeId) -> &mut Agent {
        self.agents[node.0 as usize].as_mut().expect("no offer is being made")
    }

    pub fn step(&mut self, step: Step) {
        match step {
            Step::Connect(a, b) => self.connect(NodeId(a), NodeId(b)),
            Step::Disconnect(which) => self.disconnect(which),
            Step::Create(source, destination, size) => self.create(NodeId(source), NodeId(destination), size),
            Step::Wait(seconds) => self.wait(Duration::from_secs(seconds)),
        }
        self.settle();
        self.check();
    }

    // --- what happens -----------------------------------------------------------------------

    fn connect(&mut self, a: NodeId, b: NodeId) {
        if !may_connect(self.contacts.iter().copied(), a, b) {
            return;
        }
        self.contacts.push((a, b));
        let now = self.now;
        for (me, peer) in [(a, b), (b, a)] {
            let delay = Duration::from_secs(self.terms.delay_s);
            self.agent(me).link_up(Link {
                peer,
                rate: RATE,
                delay,
                pipelined: true,
                peer_space: PeerSpace::default(),
            });
        }
        let told = [self.agent(a).mechanism_state(now), self.agent(b).mechanism_state(now)];
        self.agent(a).meet_mechanism(now, b, told[1].as_ref());
        self.agent(b).meet_mechanism(now, a, told[0].as_ref());
        let first = self.agent(b).router_state(now);
        self.agent(a).meet_router(now, b, first.as_ref());
        let second = self.agent(a).router_state(now);
        self.agent(b).meet_router(now, a, second.as_ref());
        if let Some(last) = self.agent(b).router_state(now) {
            self.agent(a).hear_router(now, b, &last);
        }
        self.tell_changes(a);
        self.tell_changes(b);
    }
    fn tell_changes(&mut self, node: NodeId) {
        let now = self.now;
        if !self.agent(node).reports_changes() {
            return;
        }
        let peers: Vec<NodeId> = self.agent(node).links().iter().map(|link| link.peer).collect();
        if let Some(state) = self.agent(node).router_state(now) {
            peers.into_iter().for_each(|peer| self.agent(peer).hear_router(now, node, &state));
        }
    }
    fn disconnect(&mut self, which: usize) {
        if self.contacts.is_empty() {
            return;
        }
        let (a, b) = self.contacts.remove(which % self.contacts.len());
        let now = self.now;
        let broken = |f: &Flight| (f.from, f.transfer.to) == (a, b) || (f.from, f.transfer.to) == (b, a);
        let aborted: Vec<Flight> = self.flights.extract_if(.., |f| broken(f)).collect();
        for flight in aborted {
            self.agent(flight.from).abort(now, &flight.transfer, None);
        }
        self.agent(a).link_down(now, b);
        self.agent(b).link_down(now, a);
    }
    fn create(&mut self, source: NodeId, destination: NodeId, size: u64) {
        if source == destination {
            return;
        }
        let id = BundleId(self.created.len() as u32);
        let expires = self.now + Duration::from_secs(self.terms.lifetime_s);
        let bundle = Bundle { id, source, destination, size: Bytes(size), created: self.now, expires };
        self.created.insert(id, bundle);
        let census = std::mem::take(&mut self.census);
        let now = self.now;
        let outcome = self.agent(source).create(now, bundle, Some(&census));
        self.census = census;
        self.gone(source);
        self.on_creation(source, id, outcome);
    }
    fn on_creation(&mut self, source: NodeId, id: BundleId, outcome: Creation) {
        self.log.push(format!("{:?} creates {id:?}: {outcome:?}", self.now));
        if outcome == Creation::Stored {
            assert!(self.held.insert((source, id)));
            self.census.on_created(id, source);
        }
    }
    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            let flight = self.flights.iter().map(|f| f.ends).min();
            let transit = self.transits.iter().map(|p| p.0).min();
            let next = flight.into_iter().chain(transit).min().unwrap_or(Instant::MAX);
            if next > until {
                break;
            }
            self.now = next;
            if flight == Some(next) {
                self.complete(next);
            } else {
                self.arrive(next);
            }
            self.settle();
            self.check();
        }
        self.now = until;
        for node in (0..NODES).map(NodeId) {
            self.agent(node).purge(until);
        }
    }
    fn complete(&mut self, ends: Instant) {
        let at = self.flights.iter().position(|f| f.ends == ends).expect("one ends now");
        let Flight { from, transfer, .. } = self.flights.remove(at);
        let mark = self.agent(from).store().get(transfer.id).map(|replica| replica.router_mark);
        let census = std::mem::take(&mut self.census);
        let transit = self.agent(from).complete(ends, &transfer, Some(&census));
        self.census = census;
        let transit = transit.expect("a copy that is being sent stays");
        assert_eq!(self.created.get(&transit.bundle.id), Some(&transit.bundle), "a bundle out of thin air");
        assert!(transit.hops >= 1);
        if transfer.kind == TransferKind::Custody {
            assert_eq!(Some(transit.router_mark), mark, "custody moves a copy as it is");
            assert!(self.agent(from).store().get(transfer.id).is_none(), "custody leaves no copy");
        }
        let arrival = ends + Duration::from_secs(self.terms.delay_s);
        self.transits.push((arrival, from, transfer.to, transit));
        self.gone(from);
    }
    fn arrive(&mut self, time: Instant) {
        let at = self.transits.iter().position(|p| p.0 == time).expect("one arrives now");
        let (_, from, to, transit) = self.transits.remove(at);
        let (bundle, kind) = (transit.bundle, transit.kind);
        let census = std::mem::take(&mut self.census);
        let arrival = self.agent(to).receive(time, from, transit, Some(&census));
        self.census = census;
        self.gone(to);
        self.log.push(format!("{time:?} {:?} at {to:?} from {from:?}: {arrival:?}", bundle.id));
        match arrival {
            BundleArrival::Stored => {
                assert_ne!(bundle.destination, to);
                assert!(self.held.insert((to, bundle.id)), "one copy per node");
                self.census.on_copied(bundle.id, to, kind != TransferKind::Custody);
            }
            BundleArrival::Delivered { first } => {
                assert_eq!(bundle.destination, to);
                self.census.on_delivered(bundle.id, to);
                assert_eq!(self.delivered.insert(bundle.id), first, "delivered for the first time once");
            }
            BundleArrival::Refused(_) => {}
        }
        self.tell_changes(from);
        self.tell_changes(to);
    }
    /// Books the copies that `node` has deleted.
    fn gone(&mut self, node: NodeId) {
        let events: Vec<_> = self.agent(node).drain_deletions().collect();
        for event in events {
            let id = event.bundle.id;
            assert!(self.held.remove(&(node, id)), "{id:?} was not at {node:?} to be deleted: {event:?}");
            assert!(event.received <= self.now);
            self.census.on_gone(id);
            self.log.push(format!("{:?} {node:?} loses {id:?}: {:?}", self.now, event.reason));
        }
    }

    // --- what follows from it ---------------------------------------------------------------

    /// Starts every transfer that can start, and everything that waits for room.
    fn settle(&mut self) {
        (0..NODES).map(NodeId).for_each(|node| self.gone(node));
        loop {
            self.tell_space();
            self.ask_back();
            let mut moved = false;
            for node in (0..NODES).map(NodeId) {
                self.retry_waiting(node);
                moved |= self.begin(node);
            }
            if !moved {
                return;
            }
        }
    }
    fn tell_space(&mut self) {
        for me in (0..NODES).map(NodeId) {
            let peers: Vec<NodeId> = self.agent(me).links().iter().map(|link| link.peer).collect();
            let told: Vec<PeerSpace> = peers.into_iter().map(|peer| self.space(me, peer)).collect();
            if self.agent(me).needs().neighbours {
                self.agent(me).hear_spaces(told);
            }
        }
    }
    fn space(&mut self, me: NodeId, peer: NodeId) -> PeerSpace {
        let idle = !busy(&self.flights, self.terms.one_radio, me, peer);
        let store = self.agent(peer).store();
        PeerSpace { free: store.free(), capacity: store.capacity(), idle }
    }
    fn ask_back(&mut self) {
        let now = self.now;
        for node in (0..NODES).map(NodeId) {
            // A mechanism that asks for ever would never end this loop.
            let mut asked = 0;
            while let Some((peer, id)) = self.agent(node).poll_reclaim(now) {
                asked += 1;
                assert!(asked <= self.created.len(), "it asks for one bundle again and again");
                let here = self.agent(peer).on_reclaim(node, id);
                self.log.push(format!("{now:?} {node:?} asks {id:?} back from {peer:?}: {here}"));
                if !here {
                    self.agent(node).on_reclaim_refused(now, peer, id);
                }
            }
        }
    }
    fn retry_waiting(&mut self, node: NodeId) {
        if !self.agent(node).has_waiting() {
            return;
        }
        let census = std::mem::take(&mut self.census);
        let (now, mut outcomes) = (self.now, Vec::new());
        while let Some((bundle, outcome)) = self.agent(node).retry_waiting(now, Some(&census)) {
            outcomes.push((bundle.id, outcome));
        }
        self.census = census;
        // Booked before the losses: a bundle stored first may have been dropped for a later one.
        for (id, outcome) in outcomes {
            self.on_creation(node, id, outcome);
        }
        self.gone(node);
    }
    fn begin(&mut self, node: NodeId) -> bool {
        let Some((from, transfer)) = self.with_others(node, |agent, now, others, census| {
            let custody = agent.offer_custody(now, others, Some(census));
            let deliver = custody.or_else(|| agent.offer_deliverable(now, &mut ByReception, others));
            deliver.map(|transfer| (node, transfer))
        }) else {
            return self.begin_served(node);
        };
        self.fly(from, transfer)
    }
    fn begin_served(&mut self, node: NodeId) -> bool {
        let peers: Vec<NodeId> = self.agent(node).links().iter().map(|link| link.peer).collect();
        for peer in peers {
            let served = self.with_others(peer, |agent, now, others, _| agent.serve(now, node, others));
            if let Some(transfer) = served {
                return self.fly(peer, transfer);
            }
        }
        let copied = self.with_others(node, |agent, now, others, census| {
            agent.offer_copies(now, &mut ByReception, others, Some(census))
        });
        copied.is_some_and(|transfer| self.fly(node, transfer))
    }
    fn fly(&mut self, from: NodeId, transfer: Transfer) -> bool {
        assert!(!busy(&self.flights, self.terms.one_radio, from, transfer.to));
        self.log.push(format!("{:?} {from:?} sends {transfer:?}", self.now));
        self.flights.push(Flight { from, transfer, ends: self.now + RATE.time_for(transfer.size) });
        true
    }
    fn with_others<T>(
        &mut self,
        node: NodeId,
        act: impl FnOnce(&mut Agent, Instant, &mut Others, &Census) -> T,
    ) -> T {
        let mut expected = vec![IdSet::default(); NODES as usize];
        let coming = self.flights.iter().map(|f| (f.transfer.to, f.transfer.id));
        let on_the_way = self.transits.iter().map(|(_, _, to, transit)| (*to, transit.bundle.id));
        for (to, id) in coming.chain(on_the_way) {
            expected[to.0 as usize].insert(id.0);
        }
        let mut agent = self.agents[node.0 as usize].take().expect("one offers at a time");
        let mut others = Others {
            me: node,
            now: self.now,
            one_radio: self.terms.one_radio,
            agents: &mut self.agents,
            flights: &self.flights,
            expected: &expected,
            census: &self.census,
        };
        let done = act(&mut agent, self.now, &mut others, &self.census);
        self.agents[node.0 as usize] = Some(agent);
        (0..NODES).map(NodeId).for_each(|node| self.gone(node));
        done
    }

    // --- what must hold ---------------------------------------------------------------------

    fn check(&self) {
        let mut stored = BTreeSet::new();
        for (node, agent) in (0..NODES).map(NodeId).zip(self.agents()) {
            let replicas = agent.store().replicas();
            let used: u64 = replicas.iter().map(|r| r.bundle.size.get()).sum();
            assert_eq!(agent.store().used(), Bytes(used));
            assert!(used <= BUFFER.get() || self.terms.policy.overfill, "{node:?} holds {used} bytes");
            for replica in replicas {
                let id = replica.bundle.id;
                assert_eq!(self.created.get(&id), Some(&replica.bundle), "a bundle out of thin air");
                let sending = self.flights.iter().filter(|f| f.from == node && f.transfer.id == id).count();
                assert_eq!(replica.sending as usize, sending);
                stored.insert((node, id));
            }
        }
        assert_eq!(stored, self.held, "copies appear by creation and arrival and go by events only");
    }
}

/// A network that has gone through `steps`, checked by `check` after each.
pub fn run(
    router: &Choice,
    mechanism: &Choice,
    terms: Terms,
    steps: &[Step],
    check: impl Fn(&Network),
) -> Network {
    let mut network = Network::new(router, mechanism, terms, planned(steps, terms));
    for &step in steps {
        network.step(step);
        check(&network);
    }
    network
}

fn may_connect(mut links: impl Iterator<Item = (NodeId, NodeId)>, a: NodeId, b: NodeId) -> bool {
    a != b && !links.any(|link| link == (a, b) || link == (b, a))
}

/// The contacts that `steps` will bring.
fn planned(steps: &[Step], terms: Terms) -> ContactPlan {
    let (mut now, mut plan) = (Instant::ZERO, Vec::new());
    let mut links: Vec<(NodeId, NodeId, Instant)> = Vec::new();
    let mut end = |(a, b, start): (NodeId, NodeId, Instant), end: Instant| {
        let delay = Duration::from_secs(terms.delay_s);
        plan.extend([(a, b), (b, a)].map(|(from, to)| PlannedContact {
            from,
            to,
            start,
            end,
            rate: RATE,
            delay,
        }));
    };
    for step in steps {
        match *step {
            Step::Connect(a, b) => {
                let (a, b) = (NodeId(a), NodeId(b));
                if may_connect(links.iter().map(|link| (link.0, link.1)), a, b) {
                    links.push((a, b, now));
                }
            }
            Step::Disconnect(which) if !links.is_empty() => end(links.remove(which % links.len()), now),
            Step::Wait(seconds) => now += Duration::from_secs(seconds),
            Step::Disconnect(_) | Step::Create(..) => {}
        }
    }
    links.into_iter().for_each(|link| end(link, Instant::MAX));
    ContactPlan::new(plan)
}

/// An algorithm with its defaults.
pub fn plain(name: &str) -> Choice<'_> {
    (name, BTreeMap::new())
}

/// An algorithm with its parameters at the ends of their ranges or at any of their words: first each
/// in turn, then all at random.
pub fn extremes<A: ?Sized + Kind>(entry: &Entry<A>) -> Vec<Choice<'static>> {
    let ends: Vec<(String, Vec<Value>)> =
        entry.parameters.iter().map(|p| (p.name.to_owned(), ends_of(p))).collect();
    let mut all: Vec<Choice> = Vec::new();
    for (name, values) in &ends {
        all.extend(values.iter().map(|value| (entry.name, BTreeMap::from([(name.clone(), value.clone())]))));
    }
    let mut random = Stream::new(1, entry.name, 0);
    for _ in 0..if ends.is_empty() { 0 } else { 40 } {
        let mut drawn = |values: &[Value]| values[random.below(values.len() as u64) as usize].clone();
        all.push((entry.name, ends.iter().map(|(name, values)| (name.clone(), drawn(values))).collect()));
    }
    all
}
fn ends_of(parameter: &Parameter) -> Vec<Value> {
    let default = parameter.default.clone().expect("an algorithm of nodes has defaults");
    assert!(parameter.domain.contains(&default), "{}: the default is allowed", parameter.name);
    match parameter.domain {
        Domain::Number(low, high) | Domain::Integer(low, high) => {
            vec![low.into(), default, high.into()]
        }
        Domain::Flag => vec![false.into(), true.into()],
        Domain::OneOf(words) => words.iter().map(|&word| word.into()).collect(),
        Domain::Range(..) | Domain::Area | Domain::Position => vec![default],
    }
}

/// A busy life: overfull buffers, many contacts.
pub fn busy_steps(seed: u64, count: usize) -> Vec<Step> {
    let mut random = Stream::new(seed, "steps", 0);
    let node = |random: &mut Stream| random.below(u64::from(NODES)) as u32;
    let steps = (0..count).map(|_| match random.below(8) {
        0 | 1 => Step::Connect(node(&mut random), node(&mut random)),
        2 => Step::Disconnect(random.below(20) as usize),
        3..=5 => Step::Create(node(&mut random), node(&mut random), 50 + random.below(400)),
        _ => Step::Wait(1 + random.below(60) as i64),
    });
    steps.collect()
}

/// How often a property is tried. Failures are printed, not kept in files.
pub fn cases(count: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config { cases: count, failure_persistence: None, ..Default::default() }
}

/// Usual terms: one radio, no delay, bundles that outlive the run.
pub fn usual_terms() -> Terms {
    Terms { one_radio: true, delay_s: 0, lifetime_s: 1_000_000, policy: NodePolicy::default(), seed: 1 }
}

/// Strategies for proptest.
pub mod any {
    use super::{NODES, Step, Terms};
    use lightlag_protocols::dtn::NodePolicy;
    use lightlag_protocols::units::Bytes;
    use proptest::prelude::*;

    pub fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0..NODES, 0..NODES).prop_map(|(a, b)| Step::Connect(a, b)),
            1 => (0..20_usize).prop_map(Step::Disconnect),
            4 => (0..NODES, 0..NODES, 1..600_u64).prop_map(|(a, b, size)| Step::Create(a, b, size)),
            3 => (1..100_i64).prop_map(Step::Wait),
        ];
        prop::collection::vec(step, 1..120)
    }
    pub fn terms() -> impl Strategy<Value = Terms> {
        let application =
            prop_oneof![Just(None), Just(None), (0..1000_u64).prop_map(|size| Some(Bytes(size)))];
        let policy = (any::<[bool; 6]>(), application).prop_map(|(h, application_buffer)| NodePolicy {
            receipts: h[0],
            drop_memory: h[1],
            delete_delivered: h[2],
            overfill: h[3],
            deliver_past_buffer: h[4],
            deliver_late: h[5],
            application_buffer,
        });
        (
            any::<bool>(),
            prop_oneof![Just(0), Just(30)],
            prop_oneof![Just(200), Just(1_000_000)],
            policy,
            0..1000_u64,
        )
            .prop_map(|(one_radio, delay_s, lifetime_s, policy, seed)| Terms {
                one_radio,
                delay_s,
                lifetime_s,
                policy,
                seed,
            })
    }
}
