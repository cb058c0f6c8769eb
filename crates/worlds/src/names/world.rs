//! The state of a run and its main loop.

use super::node::{Behind, Faces, Node};
use super::tally::Tally;
use super::{ConsumerOutcome, NodeOutcome, Outcome, Setup};
use crate::agenda::Agenda;
use crate::engine::Queue;
use lightlag_protocols::controllers::Flow;
use lightlag_protocols::link::Link;
use lightlag_protocols::ndn::{Config, Consumer, Data, Face, Interest, Refused, Verdict, stamp};
use lightlag_protocols::record::Observation;
use lightlag_protocols::record::names::{Body, Observer, Packet, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::units::Bytes;

/// Runs a setup and reports events to `observer`.
pub fn run<O: Observer>(setup: &Setup, observer: &mut O) -> Outcome {
    World::new(setup, observer).play()
}

/// Delay from a node to a consumer on it: no run stands still.
const LOOPBACK: Duration = Duration::from_nanos(1_000);

/// State of a run.
pub struct World<'a, O> {
    setup: &'a Setup,
    observer: &'a mut O,
    /// Of the latest event.
    now: Instant,
    faces: Faces,
    links: Vec<Link<Packet>>,
    nodes: Vec<Node>,
    consumers: Vec<ConsumerState>,
    /// Data in transit from a node to a consumer on it.
    local: Queue<(u32, Data)>,
    /// Whom Data go to, and with which token: empty between two calls.
    downstream: Vec<(Face, u32)>,
    agenda: Agenda,
    /// Parties of the agenda: links, then consumers, then the sampler together with what is local.
    first_consumer: u32,
    sampler: u32,
    /// When links and consumers are sampled next; [`Instant::MAX`]: never.
    sample_at: Instant,
    unfinished: usize,
}

struct ConsumerState {
    machine: Consumer,
    tally: Tally,
    /// When it begins or stops, if that is still to come.
    turns: Option<Instant>,
    ended: Option<Instant>,
}

/// How Data came to where they are.
#[derive(Clone, Copy)]
struct Passage {
    /// How long they waited in queues.
    queued: Duration,
    /// Offset of the clock that will stamp the Data when they leave; `None` if they need no stamp.
    stamp_due: Option<Duration>,
    /// This node has answered.
    local: bool,
}

impl<'a, O: Observer> World<'a, O> {
    /// Nothing has happened.
    pub fn new(setup: &'a Setup, observer: &'a mut O) -> Self {
        let mut links = Vec::new();
        for (index, ends) in setup.links.iter().enumerate() {
            let mut link = Link::new(&ends.spec, setup.seed, index as u64);
            link.tell_drops();
            links.push(link);
        }
        let nodes = setup.nodes.iter().zip(0..).map(|(spec, index)| Node::new(index, spec, setup)).collect();
        let consumers: Vec<ConsumerState> =
            (0..setup.consumers.len()).map(|index| consumer(setup, index)).collect();
        let first_consumer = links.len() as u32;
        let sampler = first_consumer + consumers.len() as u32;
        let mut agenda = Agenda::new(sampler as usize + 1);
        for (index, spec) in setup.consumers.iter().enumerate() {
            agenda.set(first_consumer + index as u32, Some(spec.start));
        }
        let sample_at = setup.sample_every.map_or(Instant::MAX, |_| Instant::ZERO);
        agenda.set(sampler, Some(sample_at));
        Self {
            faces: Faces::of(setup),
            links,
            nodes,
            unfinished: consumers.len(),
            consumers,
            local: Queue::new(),
            downstream: Vec::new(),
            agenda,
            first_consumer,
            sampler,
            sample_at,
            now: Instant::ZERO,
            setup,
            observer,
        }
    }
    /// What watches it.
    pub fn observer(&mut self) -> &mut O {
        self.observer
    }
    /// Runs to the end.
    pub fn play(mut self) -> Outcome {
        self.advance(self.setup.until);
        self.outcome()
    }
    /// Runs up to and including `until`, but not beyond the end of the run. True once it has ended: nothing happens any
    /// more.
    pub fn advance(&mut self, until: Instant) -> bool {
        while self.unfinished > 0 {
            let (at, party) = self.agenda.first();
            if at > self.setup.until || at == Instant::MAX {
                self.now = self.setup.until;
                return true;
            }
            if at > until {
                return false;
            }
            self.now = at;
            let now = at;
            if party < self.first_consumer {
                self.visit_link(now, party);
            } else if party < self.sampler {
                self.turn_consumer(now, party - self.first_consumer);
            } else if self.sample_at <= now {
                self.sample(now);
            } else {
                self.deliver_local(now);
            }
        }
        true
    }

    // --- links ------------------------------------------------------------------------------

    fn visit_link(&mut self, now: Instant, index: u32) {
        let next = loop {
            let link = &mut self.links[index as usize];
            let come = link.poll_due(now);
            let next = link.deadline();
            if link.has_dropped() {
                self.see_dropped(index);
            }
            // By reference: moving a packet takes as long as looking up its name.
            let Some((_, packet)) = &come else { break next };
            self.arrive(now, index, packet);
            let next = self.links[index as usize].deadline();
            if next.is_none_or(|next| next > now) {
                break next;
            }
        };
        self.agenda.set(index, next);
    }
    #[inline]
    fn arrive(&mut self, now: Instant, index: u32, packet: &Packet) {
        if O::PACKETS {
            self.observer.on_record(now, &Record::Arrived(index, packet));
        }
        let ends = &self.setup.links[index as usize];
        let (node, face) = (ends.to, self.faces.link(ends.back));
        match packet.body {
            Body::Interest(mut interest, size) => {
                self.interest(now, node, face, (&mut interest, size, packet.queued()));
            }
            Body::Data(ref data) => {
                let passage =
                    Passage { queued: packet.queued(), stamp_due: packet.stamp_due(), local: false };
                self.data(now, node, face, data, passage);
            }
        }
    }
    fn offer(&mut self, now: Instant, index: u32, packet: Packet) {
        if O::PACKETS {
            self.observer.on_record(now, &Record::Offered(index, &packet));
        }
        let link = &mut self.links[index as usize];
        link.offer(now, packet);
        self.agenda.set(index, link.deadline());
        if link.has_dropped() {
            self.see_dropped(index);
        }
    }
    #[cold]
    fn see_dropped(&mut self, index: u32) {
        for (at, packet, why) in self.links[index as usize].drain_dropped() {
            if O::PACKETS {
                self.observer.on_record(at, &Record::Dropped(index, &packet, why));
            }
            let (token, is_interest) = match packet.body {
                Body::Interest(interest, _) => (interest.token, true),
                Body::Data(data) => (data.token, false),
            };
            if let Some(consumer) = self.consumers.get_mut(token as usize) {
                consumer.tally.drops += 1;
                consumer.tally.interest_drops += u64::from(is_interest);
            }
        }
    }

    // --- nodes ------------------------------------------------------------------------------

    /// An Interest of `size` came by `face` and has waited in queues for `queued`.
    fn interest(
        &mut self,
        now: Instant,
        node: u32,
        face: Face,
        (interest, size, queued): (&mut Interest, Bytes, Duration),
    ) {
        match self.nodes[node as usize].forwarder.on_interest(now, face, interest) {
            Verdict::Forward(next) => match self.faces.behind(next) {
                Behind::Link(link) => {
                    let body = Body::Interest(*interest, size);
                    let packet = Packet::new(now, body, queued, None);
                    self.offer(now, link, packet);
                }
                Behind::Producer(producer) => {
                    self.tally_answered(now, interest, queued);
                    self.produce(now, (node, face), producer, interest);
                }
                Behind::Consumer(_) => {}
            },
            Verdict::Answer(mut data) => {
                if O::PACKETS {
                    self.observer.on_record(now, &Record::Hit(node, &data));
                }
                self.tally_answered(now, interest, queued);
                let stamp_due = self.nodes[node as usize].answers(now, &mut data);
                let passage = Passage { queued: Duration::ZERO, stamp_due, local: true };
                self.send(now, node, face, data, passage);
            }
            Verdict::Wait => {}
            Verdict::Refuse(why) => self.refuse(now, node, face, interest.name, why),
        }
    }
    /// An Interest reached a responder.
    #[inline]
    fn tally_answered(&mut self, now: Instant, interest: &Interest, queued: Duration) {
        if let Some(consumer) = self.consumers.get_mut(interest.token as usize) {
            consumer.tally.interest(now, queued);
        }
    }
    /// A producer on the node answers the Interest that came by `face`.
    fn produce(&mut self, now: Instant, (node, face): (u32, Face), producer: u32, interest: &Interest) {
        let Some(mut data) = self.setup.producers[producer as usize].producer.answer(interest) else {
            return self.refuse(now, node, self.faces.producer(producer), interest.name, Refused::NoData);
        };
        if O::PACKETS {
            self.observer.on_record(now, &Record::Produced(producer, &data));
        }
        let here = &mut self.nodes[node as usize];
        here.forwarder.on_answer(now, &data);
        let stamp_due = here.answers(now, &mut data);
        self.send(now, node, face, data, Passage { queued: Duration::ZERO, stamp_due, local: true });
    }
    fn refuse(
        &mut self,
        now: Instant,
        node: u32,
        face: Face,
        name: lightlag_protocols::ndn::Name,
        why: Refused,
    ) {
        if O::PACKETS {
            self.observer.on_record(now, &Record::Refused(node, face, name, why));
        }
    }
    #[inline]
    fn data(&mut self, now: Instant, node: u32, face: Face, data: &Data, passage: Passage) {
        let mut downstream = std::mem::take(&mut self.downstream);
        let forwarder = &mut self.nodes[node as usize].forwarder;
        let send = |face: Face, token: u32| downstream.push((face, token));
        if !forwarder.on_data(now, face, data, &self.setup.names, send) {
            self.refuse(now, node, face, data.name, Refused::Unsolicited);
        }
        for &(face, token) in &downstream {
            self.send(now, node, face, Data { token, ..*data }, passage);
        }
        downstream.clear();
        self.downstream = downstream;
    }
    #[inline]
    fn send(&mut self, now: Instant, node: u32, face: Face, mut data: Data, passage: Passage) {
        let Passage { queued, stamp_due, local } = passage;
        if !local {
            self.nodes[node as usize].passes(&mut data);
        }
        match self.faces.behind(face) {
            Behind::Link(link) => {
                self.offer(now, link, Packet::new(now, Body::Data(data), queued, stamp_due));
            }
            Behind::Consumer(consumer) if local => {
                let stamp = stamp_due.map(|ahead| stamp(now, ahead)).or(data.stamp);
                self.local.schedule(now.saturating_add(LOOPBACK), (consumer, Data { stamp, ..data }));
                self.set_sampler();
            }
            Behind::Consumer(consumer) => self.deliver(now, consumer, data, queued),
            Behind::Producer(_) => {}
        }
    }
    fn deliver_local(&mut self, now: Instant) {
        while let Some((consumer, data)) = self.local.pop_due(now) {
            self.deliver(now, consumer, data, Duration::ZERO);
        }
        self.set_sampler();
    }
    fn set_sampler(&mut self) {
        self.agenda.set(self.sampler, Some(self.sample_at.min(self.local.next_at())));
    }

    // --- consumers --------------------------------------------------------------------------

    #[inline]
    fn deliver(&mut self, now: Instant, index: u32, data: Data, queued: Duration) {
        let state = &mut self.consumers[index as usize];
        let before = state.machine.counts().data;
        state.machine.handle(now, data);
        let count = state.machine.counts().data;
        if count > before {
            state.tally.data(now, data.content, queued);
            if self.setup.consumers[index as usize].stop_after.is_some_and(|enough| count >= enough) {
                state.machine.stop();
            }
            if O::PACKETS {
                self.observer.on_record(now, &Record::Delivered(index, &data));
            }
        }
        self.visit_consumer(now, index);
    }
    /// A consumer begins, stops, or has something to do.
    fn turn_consumer(&mut self, now: Instant, index: u32) {
        let spec = &self.setup.consumers[index as usize];
        let state = &mut self.consumers[index as usize];
        if state.turns.is_some_and(|at| at <= now) {
            state.turns = spec.stop.filter(|stop| *stop > now);
            if spec.stop.is_some_and(|stop| stop <= now) {
                state.machine.stop();
            }
        }
        self.visit_consumer(now, index);
    }
    /// Lets a consumer ask for what it may ask for.
    #[inline]
    fn visit_consumer(&mut self, now: Instant, index: u32) {
        let spec = &self.setup.consumers[index as usize];
        let face = self.faces.consumer(index);
        if now < spec.start {
            return;
        }
        while let Some(mut interest) = self.consumers[index as usize].machine.poll(now) {
            if O::PACKETS {
                self.observer.on_record(now, &Record::Asked(index, &interest));
            }
            self.interest(now, spec.node, face, (&mut interest, spec.interest, Duration::ZERO));
        }
        let state = &mut self.consumers[index as usize];
        if state.tally.wants_window(now) {
            state.tally.window(now, state.machine.window());
        }
        if state.ended.is_none() && state.machine.is_complete() {
            state.ended = Some(now);
            self.unfinished -= usize::from(self.setup.until_complete);
        }
        let next = [state.machine.deadline(), state.turns].into_iter().flatten().min();
        self.agenda.set(self.first_consumer + index, next);
    }

    // --- what is seen -----------------------------------------------------------------------

    fn sample(&mut self, now: Instant) {
        for (index, state) in self.consumers.iter().enumerate() {
            if now < self.setup.consumers[index].start {
                continue;
            }
            let mut seen = Observation::new();
            state.machine.observe(&mut seen);
            seen.push(("delivered", state.machine.counts().delivered.0 as f64));
            self.observer.on_record(now, &Record::Consumer(index as u32, seen));
        }
        for index in 0..self.first_consumer {
            let waiting = self.links[index as usize].backlog(now);
            self.see_dropped(index);
            self.agenda.set(index, self.links[index as usize].deadline());
            self.observer.on_record(now, &Record::Backlog(index, waiting));
        }
        self.sample_at = self.setup.sample_every.map_or(Instant::MAX, |every| now.saturating_add(every));
        self.set_sampler();
    }
    /// The outcome up to the latest event; of a run that has ended, up to its end.
    pub fn outcome(&self) -> Outcome {
        let now = self.now;
        let consumer = |(state, spec): (&ConsumerState, &super::ConsumerSpec)| ConsumerOutcome {
            start: spec.start,
            end: state.ended.unwrap_or(now),
            complete: state.ended.is_some(),
            counts: state.machine.counts(),
            measured_from: state.tally.from(),
            measured: state.tally.content,
            drops: state.tally.drops,
            window_median: state.tally.window_median(),
            queueing_delay_p50: state.tally.queueing(0.5),
            queueing_delay_p99: state.tally.queueing(0.99),
            interest_drops: state.tally.interest_drops,
            interest_queueing_delay_p50: state.tally.interest_queueing(0.5),
            interest_queueing_delay_p99: state.tally.interest_queueing(0.99),
        };
        let node = |node: &Node| NodeOutcome {
            counts: node.forwarder.counts(),
            expired: node.forwarder.pit().expired,
            pending_max: node.forwarder.pit().peak as u64,
        };
        Outcome {
            consumers: self.consumers.iter().zip(&self.setup.consumers).map(consumer).collect(),
            nodes: self.nodes.iter().map(node).collect(),
            links: self.links.iter().map(Link::counts).collect(),
            ended: now,
        }
    }
}

/// A consumer that has not begun.
fn consumer(setup: &Setup, index: usize) -> ConsumerState {
    let spec = &setup.consumers[index];
    let flow = Flow::new(spec.config.segment, spec.config.packet).seeded(setup.seed, index as u64);
    let clock = setup.nodes[spec.node as usize].clock;
    let config = Config { clock, token: index as u32, ..spec.config };
    ConsumerState {
        machine: Consumer::new(config, spec.controller.build(flow), spec.requests.clone()),
        tally: Tally::new(setup.measure_from.max(spec.start)),
        turns: Some(spec.start),
        ended: None,
    }
}
