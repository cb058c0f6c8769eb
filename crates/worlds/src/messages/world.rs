//! The state of a run and its main loop.

mod approaching;
mod contacts;
mod control;
mod holders;
mod instant;
mod rates;
mod replies;

use super::activation_order::ActivationOrder;
use super::others::{Others, View};
use super::plan::Plan;
use super::send_order::Orders;
use super::{Control, Rules, Setup};
use crate::contacts::Course;
use crate::engine::Queue;
pub(super) use approaching::Approaching;
use control::Message;
use lightlag_protocols::dtn::Radio;
use lightlag_protocols::dtn::{
    Agent, BuildContext, Bundle, BundleArrival, BundleId, BundleInTransit, Census, Creation, NodeId,
    NodePolicy, Observation, PeerSpace, Transfer, TransferKind,
};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Remaining};
use replies::Replies;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Runs a setup and reports every event to `observer`.
pub fn run<O: Observer>(setup: &Setup, observer: &mut O) {
    World::new(setup, observer).play();
}

/// A link that is up, as one end's driver sees it; same order as [`Agent::links`].
#[derive(Clone, Copy)]
pub(super) struct Port {
    pub peer: NodeId,
    contact: u32,
    /// From here to the peer, and from the peer to here.
    rates: [BitRate; 2],
    /// Transfers in progress from here to the peer, and from the peer to here: slot + 1, or 0.
    pub outgoing: u32,
    pub incoming: u32,
    /// When the charged control data has left from here to the peer, and from the peer to here.
    told: [Instant; 2],
    /// The free space that was last sent to the peer, and that it last reported here, where reports take time.
    announced: Option<PeerSpace>,
    space: PeerSpace,
}

impl Port {
    /// Whether the peer could receive something from here now.
    #[inline]
    fn is_free(&self, radio: Radio, peer_idle: bool) -> bool {
        match radio {
            Radio::Node => peer_idle,
            Radio::Link => self.outgoing == 0 && self.incoming == 0,
            Radio::Direction => self.outgoing == 0,
        }
    }
}

/// Buffer and radio state that nodes report to their peers.
#[derive(Clone, Copy)]
pub(super) struct Around<'w> {
    pub spaces: &'w [PeerSpace],
    pub ports: &'w [Vec<Port>],
    pub radio: Radio,
    pub control: Control,
}

impl<'w> Around<'w> {
    fn new(spaces: &'w [PeerSpace], ports: &'w [Vec<Port>], rules: &Rules) -> Self {
        Self { spaces, ports, radio: rules.radio, control: rules.control }
    }
    /// Brings the links of `agent`, which is at `node`, up to date.
    #[inline]
    pub fn tell(&self, agent: &mut Agent, node: NodeId) {
        if self.spaces.is_empty() {
            return;
        }
        let told = self.ports[node.0 as usize].iter().map(|port| {
            let now = self.spaces[port.peer.0 as usize];
            let reported = if self.control == Control::Instant { now } else { port.space };
            // Whether a radio is in use is sensed.
            PeerSpace { idle: port.is_free(self.radio, now.idle), ..reported }
        });
        agent.hear_spaces(told);
    }
}

/// A transfer in progress.
struct Ongoing {
    transfer: Transfer,
    from: NodeId,
    started: Instant,
    /// When the link is free again.
    ends: Instant,
    /// From then until the last bit arrives.
    flight: Duration,
    /// From the first bit's departure to its arrival.
    delay: Duration,
    /// Since when the link has had its rate, or the first bit leaves if that is later.
    since: Instant,
    /// What remained then.
    left: Remaining,
}

enum Event {
    /// The link of this transfer is free again.
    Sent(u32),
    /// The first bit of a bundle has arrived from the first node at the second.
    Began(NodeId, NodeId, BundleId),
    /// The last bit has arrived.
    Arrived(Box<Flight>),
    /// What arrives at a node is cut off.
    CutOff(NodeId, BundleId),
    /// The lifetime of a reply is over.
    Expired(BundleId),
    /// The sender hears that the peer did not keep it.
    Returned(NodeId, BundleId, NodeId),
    /// This node may accept what it refused.
    Renewed(NodeId),
    /// A message of the first has arrived at the second.
    ControlArrived(NodeId, NodeId, Message),
}

struct Flight {
    transit: BundleInTransit,
    from: NodeId,
    to: NodeId,
    started: Instant,
    /// How long it flew; what is answered flies as long.
    flight: Duration,
}

/// State of a run.
pub struct World<'a, O> {
    setup: &'a Setup,
    observer: &'a mut O,
    plan: Plan<'a>,
    begun: bool,
    now: Instant,
    agents: Vec<Agent>,
    ports: Vec<Vec<Port>>,
    /// Per node, transfers that it takes part in.
    active: Vec<u32>,
    /// Bundles in flight, where they could be offered a second time.
    approaching: Option<Approaching>,
    ongoing: Vec<Option<Ongoing>>,
    vacant: Vec<u32>,
    /// Per node, its transfers whose link is free again at this instant.
    due: Vec<Vec<u32>>,
    /// Contacts that are up beside another one of the same pair.
    shadows: Vec<u32>,
    /// Nodes that were sending when expired copies were purged.
    purge_later: Vec<bool>,
    queue: Queue<Event>,
    replies: Replies,
    activation: ActivationOrder,
    orders: Orders,
    census: Option<Census>,
    /// Per node, the buffer state that its peers see; empty where no mechanism needs it.
    spaces: Vec<PeerSpace>,
    receipts: bool,
    /// Per node, ends of the lifetimes of bundles that came to it as their destination, where summaries are charged.
    came: Vec<BinaryHeap<Reverse<Instant>>>,
    /// Whether any router passes copies at once.
    instant: bool,
    /// Whether any router counts the peers that hold a copy.
    counts_holders: bool,
    /// Counts changes. What has not changed since a node last found nothing to send (`tried`) need not
    /// be tried again: neither what it could send (`supply`) nor what its peers could take (`demand`).
    changes: u64,
    supply: Vec<u64>,
    demand: Vec<u64>,
    tried: Vec<u64>,
    reclaimed: Vec<u64>,
    /// Parties to transfers that have ended in this activation.
    released: Vec<NodeId>,
    /// Peers that deleted copies while they answered.
    touched: Vec<NodeId>,
    /// Whether light takes a while on some link.
    delayed: bool,
    /// Whether transmitters interfere on some link.
    interferes: bool,
    /// Peers to which a transfer could start, and from which.
    eligible: Vec<NodeId>,
    servers: Vec<NodeId>,
}

impl<'a, O: Observer> World<'a, O> {
    /// Nothing has happened.
    pub fn new(setup: &'a Setup, observer: &'a mut O) -> Self {
        let count = setup.nodes.len();
        let agents: Vec<Agent> = (0..count as u32).map(|node| new_agent(setup, NodeId(node))).collect();
        let needs = |pick: fn(&Agent) -> bool| agents.iter().any(pick);
        let delayed = setup.contacts.channels.iter().any(|c| !c.delay.is_zero());
        Self {
            plan: Plan::new(setup),
            begun: false,
            now: Instant::ZERO,
            ports: vec![Vec::new(); count],
            active: vec![0; count],
            approaching: (delayed || setup.rules.radio != Radio::Node).then(|| Approaching::new(count)),
            ongoing: Vec::new(),
            vacant: Vec::new(),
            due: vec![Vec::new(); count],
            shadows: Vec::new(),
            purge_later: vec![false; count],
            queue: Queue::new(),
            replies: Replies::new(setup),
            activation: ActivationOrder::new(setup.seed, count, setup.rules.tick, setup.rules.act_by_number),
            orders: Orders::new(setup.rules.send_order, setup.seed),
            census: needs(|a| a.needs().census).then(Census::default),
            spaces: if needs(|a| a.needs().neighbours) {
                vec![PeerSpace::default(); count]
            } else {
                Vec::new()
            },
            instant: needs(|agent| agent.router_properties().instant),
            counts_holders: needs(|agent| agent.router_properties().holders.is_some()),
            receipts: setup.nodes.iter().any(|n| n.policy.receipts) || needs(|a| a.needs().receipts),
            came: vec![BinaryHeap::new(); count],
            changes: 0,
            supply: vec![0; count],
            demand: vec![0; count],
            tried: vec![0; count],
            reclaimed: vec![0; count],
            released: Vec::new(),
            touched: Vec::new(),
            delayed,
            interferes: setup.contacts.channels.iter().any(|c| c.course == Course::Interference),
            eligible: Vec::new(),
            servers: Vec::new(),
            agents,
            setup,
            observer,
        }
    }
    fn rules(&self) -> &'a Rules {
        &self.setup.rules
    }
    fn record(&mut self, record: &Record) {
        self.observer.on_record(self.now, record);
    }

    /// What watches it.
    pub fn observer(&mut self) -> &mut O {
        self.observer
    }
    /// Runs to the end.
    pub fn play(mut self) {
        self.advance(self.setup.until);
        self.end();
    }
    /// Runs up to and including `until`, but not beyond the end of the run.
    pub fn advance(&mut self, until: Instant) {
        if !self.begun {
            self.begun = true;
            self.begin();
        }
        let until = until.min(self.setup.until);
        loop {
            let now = self.plan.next_at().min(self.queue.next_at()).min(self.activation.next_at());
            if now > until {
                break;
            }
            self.now = now;
            self.activation.begin(now);
            self.collect_due();
            while let Some(contact) = self.plan.contact_down(now) {
                self.contact_down(contact);
            }
            while let Some(contact) = self.plan.rate_change(now) {
                self.rate_change(contact);
            }
            while let Some(revision) = self.plan.revision(now) {
                self.revise_plan(revision);
            }
            while let Some(contact) = self.plan.contact_up(now) {
                self.contact_up(contact);
            }
            while let Some(bundle) = self.plan.creation(now) {
                self.create(bundle);
            }
            while let Some(id) = self.plan.expiry(now) {
                self.expire(id);
            }
            if self.plan.purge(now) {
                self.purge();
            }
            self.activate_nodes();
            if self.plan.sample(now) {
                self.sample();
            }
        }
    }
    fn begin(&mut self) {
        for (node, spec) in self.setup.nodes.iter().enumerate() {
            self.record(&Record::Node { node: NodeId(node as u32), buffer: spec.buffer });
        }
        self.announce_replies();
    }
    /// Ends a run that has come to its end: bundles that wait have found no room.
    pub fn end(&mut self) {
        self.now = self.setup.until;
        for node in 0..self.agents.len() {
            // What still waits at an application never entered the network.
            for bundle in self.agents[node].drain_waiting() {
                self.observer.on_record(self.now, &Record::Rejected(bundle));
            }
        }
        self.record(&Record::End);
    }

    // --- bundles ----------------------------------------------------------------------------

    fn create(&mut self, bundle: &Bundle) {
        let node = bundle.source;
        if self.setup.nodes[node.0 as usize].policy.application_buffer.is_some() {
            // The buffer may have room that nothing has taken, as the node has met no other since.
            self.retry_waiting(node);
        }
        self.hear_peers(node);
        let agent = &mut self.agents[node.0 as usize];
        let outcome = agent.create(self.now, *bundle, self.census.as_ref());
        self.after_creation(node, *bundle, outcome);
    }
    fn after_creation(&mut self, node: NodeId, bundle: Bundle, outcome: Creation) {
        self.flush(node);
        match outcome {
            Creation::Stored => {
                self.record(&Record::Created(bundle));
                if let Some(census) = &mut self.census {
                    census.on_created(bundle.id, node);
                }
            }
            Creation::Rejected => self.record(&Record::Rejected(bundle)),
            Creation::Waiting => {}
        }
        self.publish(node);
        self.on_change(node);
        if outcome == Creation::Stored {
            self.spread(node, bundle.id);
        }
    }
    fn retry_waiting(&mut self, node: NodeId) {
        if !self.agents[node.0 as usize].has_waiting() {
            return;
        }
        loop {
            self.hear_peers(node);
            let retried = self.agents[node.0 as usize].retry_waiting(self.now, self.census.as_ref());
            let Some((bundle, outcome)) = retried else { break };
            self.after_creation(node, bundle, outcome);
        }
        // Room may have been made for one that still has to wait.
        self.flush_change(node);
    }
    fn expire(&mut self, id: BundleId) {
        let source = self.setup.bundles[id.0 as usize].source;
        if let Some(bundle) = self.agents[source.0 as usize].expire_waiting(self.now, id) {
            self.record(&Record::Rejected(bundle));
        }
        for node in 0..self.agents.len() {
            if self.agents[node].store().contains(id) {
                self.agents[node].expire(self.now, id);
                self.flush_change(NodeId(node as u32));
            }
        }
    }
    fn purge(&mut self) {
        for node in 0..self.agents.len() {
            for bundle in self.agents[node].purge_waiting(self.now) {
                self.record(&Record::Rejected(bundle));
            }
            if self.active[node] > 0 {
                self.purge_later[node] = true;
            } else {
                self.agents[node].purge(self.now);
                self.flush_change(NodeId(node as u32));
            }
        }
    }
    /// Records the copies that `node` has deleted.
    #[inline]
    fn flush(&mut self, node: NodeId) {
        let agent = &mut self.agents[node.0 as usize];
        if !agent.has_deletions() {
            return;
        }
        for gone in agent.drain_deletions() {
            if let Some(census) = &mut self.census {
                census.on_gone(gone.bundle.id);
            }
            let (id, reason, received) = (gone.bundle.id, gone.reason, gone.received);
            self.observer.on_record(self.now, &Record::Gone { node, id, reason, received });
        }
        self.publish(node);
    }
    /// As [`World::flush`], where no other call reports the change.
    fn flush_change(&mut self, node: NodeId) {
        if self.agents[node.0 as usize].has_deletions() {
            self.flush(node);
            self.on_change(node);
        }
    }

    // --- transfers --------------------------------------------------------------------------

    fn start(&mut self, from: NodeId, transfer: Transfer) {
        let now = self.now;
        let to = transfer.to;
        let Some(port) = self.ports[from.0 as usize].iter().find(|port| port.peer == to) else { return };
        let rate = port.rates[0];
        let contact = &self.setup.contacts.list[port.contact as usize];
        let channel = if contact.a == from { contact.forward } else { contact.backward };
        let channel = &self.setup.contacts.channels[channel as usize];
        let delay = channel.delay.at(now);
        // Control data goes ahead of the bundle on a link that it occupies.
        let begins = port.told[0].max(now);
        let (ends, flight) = self.rules().transfer(rate, delay, transfer.size, begins);
        let end_of_contact = contact.end;
        let left = Remaining::of(transfer.size);
        let ongoing = Ongoing { transfer, from, started: now, ends, flight, delay, since: begins, left };
        let slot = self.set_under_way(ongoing);
        if ends <= end_of_contact {
            self.queue.schedule(ends, Event::Sent(slot));
        }
        self.set_out(from, to, transfer.id, begins, delay);
    }
    /// A transfer begins; gives its slot.
    fn set_under_way(&mut self, ongoing: Ongoing) -> u32 {
        let (from, Transfer { to, id, .. }) = (ongoing.from, ongoing.transfer);
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.ongoing.push(None);
            self.ongoing.len() as u32 - 1
        });
        self.ongoing[slot as usize] = Some(ongoing);
        self.occupy(from, to, slot + 1, 1);
        self.record(&Record::Started { from, to, id });
        slot
    }
    /// Marks the link and both radios: busy with `slot` (+1), or free (0, -1).
    fn occupy(&mut self, from: NodeId, to: NodeId, slot: u32, change: i32) {
        for (node, peer) in [(from, to), (to, from)] {
            let active = &mut self.active[node.0 as usize];
            *active = active.wrapping_add_signed(change);
            if let Some(port) = self.ports[node.0 as usize].iter_mut().find(|port| port.peer == peer) {
                *(if node == from { &mut port.outgoing } else { &mut port.incoming }) = slot;
            }
            self.publish(node);
        }
        if self.interferes {
            self.interfere([from, to]);
        }
    }
    /// Sorts what is due at this instant: arrivals happen, senders are activated.
    fn collect_due(&mut self) {
        while let Some(event) = self.queue.pop_due(self.now) {
            match event {
                Event::Began(from, to, id) => self.first_bit(from, to, id),
                Event::CutOff(to, id) => {
                    self.approaching.iter_mut().for_each(|all| all.end(to, id));
                    self.on_change(to);
                }
                Event::Arrived(flight) => {
                    let (to, id) = (flight.to, flight.transit.bundle.id);
                    self.arrive(*flight);
                    self.on_change(to);
                    self.spread(to, id);
                }
                Event::Expired(id) => self.expire(id),
                Event::Renewed(node) => self.on_change(node),
                Event::ControlArrived(from, to, message) => self.receive_control(from, to, message),
                Event::Returned(from, id, to) => self.agents[from.0 as usize].returned(self.now, id, to),
                Event::Sent(slot) => {
                    if let Some(ongoing) = self.ongoing[slot as usize].as_ref().filter(|o| o.ends == self.now)
                    {
                        let from = ongoing.from;
                        self.due[from.0 as usize].push(slot);
                        self.activation.wake(from);
                    }
                }
            }
        }
    }
    /// Whether the transfer in a slot is one of `node`, and its last bit has left. A transfer that was due may have ended with
    /// its contact, and its slot may hold another one since.
    fn has_sent(&self, node: NodeId, slot: u32) -> bool {
        let ongoing = self.ongoing[slot as usize].as_ref();
        ongoing.is_some_and(|ongoing| ongoing.from == node && ongoing.ends <= self.now)
    }
    /// The contact of a transfer ends. What varies in rate counts its bits at each tick after the contacts have changed, as in
    /// The ONE: then a transfer whose last bit would leave at this tick is cut off.
    fn finish_or_abort(&mut self, slot: u32, counts_later: bool) {
        match &self.ongoing[slot as usize] {
            Some(ongoing) if ongoing.ends < self.now || (ongoing.ends == self.now && !counts_later) => {
                self.finish(slot);
            }
            Some(_) => self.abort(slot),
            None => {}
        }
    }
    fn release(&mut self, slot: u32) -> Option<Ongoing> {
        let ongoing = self.ongoing[slot as usize].take()?;
        self.vacant.push(slot);
        self.occupy(ongoing.from, ongoing.transfer.to, 0, -1);
        Some(ongoing)
    }
    fn finish(&mut self, slot: u32) {
        let Some(Ongoing { transfer, from, started, flight, .. }) = self.release(slot) else { return };
        let to = transfer.to;
        self.record(&Record::Sent { from, to, id: transfer.id });
        let sender = &mut self.agents[from.0 as usize];
        let transit = sender.complete(self.now, &transfer, self.census.as_ref());
        self.after_sending(from, transfer.id);
        let Some(transit) = transit else { return };
        let flying = Flight { transit, from, to, started, flight };
        if flight == Duration::ZERO {
            self.arrive(flying);
            self.spread(to, transfer.id);
        } else {
            self.queue.schedule(self.now.saturating_add(flight), Event::Arrived(Box::new(flying)));
        }
        self.released.extend([from, to]);
    }
    fn abort(&mut self, slot: u32) {
        let Some(Ongoing { transfer, from, delay, .. }) = self.release(slot) else { return };
        self.agents[from.0 as usize].abort(self.now, &transfer, self.census.as_ref());
        self.cut_off(from, transfer.to, transfer.id, delay);
        self.record(&Record::Aborted { from, to: transfer.to, id: transfer.id });
        self.after_sending(from, transfer.id);
        self.released.extend([from, transfer.to]);
    }
    fn after_sending(&mut self, from: NodeId, id: BundleId) {
        let node = from.0 as usize;
        if std::mem::take(&mut self.purge_later[node]) {
            self.agents[node].purge(self.now);
        } else if self.rules().purge_every.is_none() {
            self.agents[node].expire(self.now, id);
        }
        self.flush(from);
    }
    fn arrive(&mut self, flight: Flight) {
        let Flight { transit, from, to, started, flight } = flight;
        let (id, kind, hops) = (transit.bundle.id, transit.kind, transit.hops);
        let expires = transit.bundle.expires;
        if let Some(approaching) = &mut self.approaching {
            approaching.forget(from, to, id);
            approaching.end(to, id);
        }
        self.hear_peers(to);
        let receiver = &mut self.agents[to.0 as usize];
        let arrival = receiver.receive(self.now, from, transit, self.census.as_ref());
        self.flush(to);
        match arrival {
            BundleArrival::Stored => {
                if let Some(census) = &mut self.census {
                    census.on_copied(id, to, kind == TransferKind::Replication);
                }
                self.record(&Record::Stored { from, to, id, started });
                self.renew_later(to);
            }
            BundleArrival::Delivered { first } => {
                if let Some(census) = &mut self.census {
                    census.on_delivered(id, to);
                }
                self.record(&Record::Delivered { from, to, id, started, hops, first });
                if first {
                    self.count_came(to, expires);
                }
                if first && self.receipts {
                    self.flood_receipt(to, id);
                }
                if first {
                    self.tell_router_state(to);
                    self.reply(to, id);
                }
            }
            BundleArrival::Refused(why) => {
                self.queue.schedule(self.now.saturating_add(flight), Event::Returned(from, id, to));
                self.record(&Record::Refused { from, to, id, started, why });
            }
        }
        self.publish(to);
    }

    // --- activations ------------------------------------------------------------------------------

    /// Whether `node` may be party to a transfer, as far as its own radio goes.
    #[inline]
    fn can_take_part(&self, node: NodeId) -> bool {
        self.rules().radio != Radio::Node || self.active[node.0 as usize] == 0
    }
    /// `node` has changed: it and its peers may be able to do something.
    fn on_change(&mut self, node: NodeId) {
        self.renew_supply(node);
        self.demand[node.0 as usize] = self.changes;
        if self.counts_holders {
            self.recount(node);
        }
        if !self.can_take_part(node) {
            return;
        }
        self.wake(node);
        for at in 0..self.ports[node.0 as usize].len() {
            self.wake(self.ports[node.0 as usize][at].peer);
        }
    }
    /// `node` may have something new to send.
    fn renew_supply(&mut self, node: NodeId) {
        self.changes += 1;
        self.supply[node.0 as usize] = self.changes;
    }
    #[inline]
    fn wake(&mut self, node: NodeId) {
        if !self.ports[node.0 as usize].is_empty() && self.can_take_part(node) {
            self.activation.wake(node);
        }
    }
    fn settle_released(&mut self) {
        while let Some(node) = self.released.pop() {
            self.on_change(node);
        }
    }
    fn activate_nodes(&mut self) {
        while let Some(node) = self.activation.take() {
            while let Some(slot) = self.due[node.0 as usize].pop() {
                if self.has_sent(node, slot) {
                    self.finish(slot);
                    self.renew_supply(node);
                }
            }
            self.retry_waiting(node);
            if !self.spaces.is_empty() {
                self.reclaim(node);
            }
            let was_free = self.counts_holders && self.can_take_part(node);
            let mut delivers = false;
            while self.can_take_part(node)
                && let Some(kind) = self.start_next(node)
            {
                delivers |= kind == TransferKind::Delivery;
            }
            if was_free && !delivers {
                self.keep_among(node);
            }
            // Last, so that a released node that is busy again is not offered to others.
            self.settle_released();
        }
    }
    /// Starts the next transfer of `node`, or of a peer that serves it; `None` without one.
    fn start_next(&mut self, node: NodeId) -> Option<TransferKind> {
        let index = node.0 as usize;
        let changes = self.changes;
        if self.agents[index].store().replicas().is_empty() {
            return None;
        }
        if !self.find_eligible(node) {
            self.tried[index] = changes;
            return None;
        }
        let begun = self.next_transfer(node);
        match begun {
            Some((from, transfer)) => self.start(from, transfer),
            None => self.tried[index] = changes,
        }
        self.flush_touched(node);
        begun.map(|(_, transfer)| transfer.kind)
    }
    /// Finds free peers for a transfer by a quick check, without those unchanged since the last attempt;
    /// false without any.
    fn find_eligible(&mut self, node: NodeId) -> bool {
        let tried = self.tried[node.0 as usize];
        let anew = self.supply[node.0 as usize] > tried;
        let radio = self.setup.rules.radio;
        self.eligible.clear();
        self.servers.clear();
        for port in &self.ports[node.0 as usize] {
            let peer = port.peer;
            let free = port.is_free(radio, self.active[peer.0 as usize] == 0);
            if !free || (!anew && self.demand[peer.0 as usize] <= tried) {
                continue;
            }
            if self.instant && self.passes_at_once(node, peer) {
                continue;
            }
            let expected = self.approaching.as_ref().map(|all| all.known(node, peer));
            let [me, other] = [node, peer].map(|node| &self.agents[node.0 as usize]);
            if port.rates[0] > BitRate(0) && me.may_offer(&other.summary(expected)) {
                self.eligible.push(peer);
            }
            // A node with one radio asks its peers, oldest link first, for what they have for it; where
            // radios don't bind, they offer it themselves.
            if radio == Radio::Node && port.rates[1] > BitRate(0) && other.may_serve(node) {
                self.servers.push(peer);
            }
        }
        !self.eligible.is_empty() || !self.servers.is_empty()
    }
    fn next_transfer(&mut self, node: NodeId) -> Option<(NodeId, Transfer)> {
        let census = self.census.as_ref();
        let approaching = self.approaching.as_ref();
        let around = Around::new(&self.spaces, &self.ports, &self.setup.rules);
        around.tell(&mut self.agents[node.0 as usize], node);
        let view = View {
            now: self.now,
            eligible: &self.eligible,
            approaching,
            census,
            around,
            delayed: self.delayed,
        };
        let (me, mut others) = Others::split(&mut self.agents, node, &view, &mut self.touched);
        if let Some(transfer) = me.offer_custody(self.now, &mut others, census) {
            return Some((node, transfer));
        }
        // Answers can delete copies of our own, so each kind of offer draws its own order.
        let reception = me.needs().reception_order;
        if me.may_deliver() {
            let mut order = self.orders.draw(self.now, me.store().replicas().len(), reception);
            if let Some(transfer) = me.offer_deliverable(self.now, &mut order, &mut others) {
                return Some((node, transfer));
            }
        }
        let client = View { eligible: &[node], ..view };
        for &peer in &self.servers {
            let (server, mut others) = Others::split(&mut self.agents, peer, &client, &mut self.touched);
            let served = server.serve(self.now, node, &mut others);
            if server.has_deletions() {
                self.touched.push(peer);
            }
            if let Some(transfer) = served {
                return Some((peer, transfer));
            }
        }
        let (me, mut others) = Others::split(&mut self.agents, node, &view, &mut self.touched);
        let mut order = self.orders.draw(self.now, me.store().replicas().len(), reception);
        me.offer_copies(self.now, &mut order, &mut others, census).map(|transfer| (node, transfer))
    }
    /// Records what nodes have deleted while they answered offers.
    fn flush_touched(&mut self, node: NodeId) {
        self.flush_change(node);
        while let Some(peer) = self.touched.pop() {
            self.flush_change(peer);
        }
    }
    /// `node` asks peers for what it moved to them, if anything has changed since it last did.
    fn reclaim(&mut self, node: NodeId) {
        if self.reclaimed[node.0 as usize] >= self.supply[node.0 as usize] {
            return;
        }
        self.reclaimed[node.0 as usize] = self.changes;
        while let Some((peer, id)) = self.agents[node.0 as usize].poll_reclaim(self.now) {
            self.ask_back(node, peer, id);
        }
    }
    /// Publishes the buffer and radio state of `node`, if any mechanism needs it.
    #[inline]
    fn publish(&mut self, node: NodeId) {
        if !self.spaces.is_empty() {
            self.publish_space(node);
        }
    }
    /// `node` reads the published state of its peers before it acts on it.
    #[inline]
    fn hear_peers(&mut self, node: NodeId) {
        let around = Around::new(&self.spaces, &self.ports, &self.setup.rules);
        around.tell(&mut self.agents[node.0 as usize], node);
    }
    fn sample(&mut self) {
        for node in 0..self.agents.len() {
            let mut seen = Observation::new();
            self.agents[node].observe(self.now, &mut seen);
            let used = self.agents[node].store().used();
            self.record(&Record::Sample { node: NodeId(node as u32), used, seen });
        }
    }
}

fn new_agent(setup: &Setup, node: NodeId) -> Agent {
    let spec = &setup.nodes[node.0 as usize];
    let (nodes, seed) = (setup.nodes.len() as u32, setup.seed);
    let first = setup.revisions.iter().take_while(|revision| revision.at == Instant::ZERO);
    let own = first.filter(|revision| revision.nodes.binary_search(&node).is_ok()).last();
    let plan = own.map_or(&setup.plan, |revision| &revision.plan).clone();
    let context = BuildContext { node, nodes, seed, plan, ..BuildContext::default() };
    let router = (spec.router)(context.clone());
    let context = BuildContext { router: router.properties, ..context };
    // The lifetime of a bundle ends at its destination as elsewhere, unless nodes look at lifetimes now and then only.
    let policy = NodePolicy { deliver_late: setup.rules.purge_every.is_some(), ..spec.policy };
    Agent::new(node, spec.buffer, router, (spec.mechanism)(context), policy)
}
