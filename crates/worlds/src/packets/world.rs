//! The state of a run and its main loop.

use super::adaptive::Change;
use super::endpoint::Endpoint;
use super::source::Switch;
use super::{FlowOutcome, FlowSpec, Outcome, Setup, Source};
use crate::agenda::Agenda;
use lightlag_protocols::link::{Link, Rate};
use lightlag_protocols::record::Observation;
use lightlag_protocols::record::packets::{Observer, Packet, Record};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::{BitRate, Bytes};

/// Runs a setup and reports events to `observer`.
pub fn run<O: Observer>(setup: &Setup, observer: &mut O) -> Outcome {
    World::new(setup, observer).play()
}

/// State of a run.
pub struct World<'a, O> {
    setup: &'a Setup,
    observer: &'a mut O,
    /// Of the latest event.
    now: Instant,
    links: Vec<Link<Packet>>,
    /// Two of each flow: the sender, then the receiver.
    ends: Vec<Endpoint>,
    flows: Vec<FlowState>,
    agenda: Agenda,
    /// Parties of the agenda: links, then ends, then starts of flows, then the sampler, then
    /// plans of flows.
    first_end: u32,
    first_start: u32,
    sampler: u32,
    unfinished: usize,
    /// Packets that ends of flows have sent.
    sent: u64,
}

struct FlowState {
    delivered: u64,
    ended: Option<Instant>,
    /// An on/off source.
    switch: Option<Switch>,
    /// The source is silent for ever.
    stopped: bool,
}

impl<'a, O: Observer> World<'a, O> {
    /// Nothing has happened.
    pub fn new(setup: &'a Setup, observer: &'a mut O) -> Self {
        let mut links: Vec<Link<Packet>> = Vec::new();
        for (index, spec) in setup.links.iter().enumerate() {
            let mut link = Link::new(spec, setup.seed, index as u64);
            if O::PACKETS {
                link.tell_drops();
            }
            links.push(link);
        }
        let mut ends = Vec::new();
        for (index, spec) in setup.flows.iter().enumerate() {
            let (sender, receiver) = Endpoint::pair(spec, index as u32, setup);
            ends.extend([sender, receiver]);
        }
        let flow = |(spec, index): (&FlowSpec, u32)| FlowState {
            delivered: 0,
            ended: None,
            switch: Switch::of(spec, setup.seed, index),
            stopped: false,
        };
        let flows = setup.flows.iter().zip(0..).map(flow);
        let (first_end, first_start) = (links.len() as u32, (links.len() + ends.len()) as u32);
        let sampler = first_start + setup.flows.len() as u32;
        let planned = setup.flows.iter().any(|spec| matches!(spec.planned_rate, Some(Rate::Table(_))));
        let plans = if planned { setup.flows.len() } else { 0 };
        let mut agenda = Agenda::new(sampler as usize + 1 + plans);
        for (index, spec) in setup.flows.iter().enumerate() {
            agenda.set(first_start + index as u32, Some(spec.start));
            if matches!(spec.planned_rate, Some(Rate::Table(_))) {
                agenda.set(sampler + 1 + index as u32, Some(spec.start));
            }
        }
        if setup.sample_every.is_some() {
            agenda.set(sampler, Some(Instant::ZERO));
        }
        Self {
            links,
            ends,
            flows: flows.collect(),
            agenda,
            first_end,
            first_start,
            sampler,
            unfinished: setup.flows.len(),
            sent: 0,
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
        while self.unfinished > 0 && self.sent < self.sent_max() {
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
            if party < self.first_end {
                self.visit_link(now, party);
            } else if party < self.first_start {
                self.visit_end(now, party - self.first_end);
            } else if party < self.sampler {
                self.turn_source(now, party - self.first_start);
            } else if party == self.sampler {
                self.sample(now);
            } else {
                self.turn_plan(now, party - self.sampler - 1);
            }
        }
        true
    }
    /// Packets sent until the run ends.
    fn sent_max(&self) -> u64 {
        self.setup.until_sent.unwrap_or(u64::MAX)
    }
    fn visit_link(&mut self, now: Instant, index: u32) {
        let next = loop {
            let link = &mut self.links[index as usize];
            let come = link.poll(now);
            tell_dropped(&mut self.observer, (index, link));
            let Some(packet) = come else { break link.deadline() };
            self.arrive(now, index, packet);
            let next = self.links[index as usize].deadline();
            if next.is_none_or(|next| next > now) {
                break next;
            }
        };
        self.agenda.set(index, next);
    }
    #[inline]
    fn arrive(&mut self, now: Instant, index: u32, mut packet: Packet) {
        if O::PACKETS {
            self.observer.on_record(now, &Record::Arrived(index, &packet));
        }
        packet.hop += 1;
        let spec = &self.setup.flows[packet.flow as usize];
        let route = if packet.forward { &spec.forward } else { &spec.backward };
        if let Some(&next) = route.get(usize::from(packet.hop)) {
            return self.offer(now, next, packet);
        }
        let end = 2 * packet.flow + u32::from(packet.forward);
        self.ends[end as usize].handle(now, packet.body);
        if packet.forward {
            self.see_delivered(now, packet.flow);
        }
        self.visit_end(now, end);
    }
    /// Lets an end send what it has to send.
    #[inline]
    fn visit_end(&mut self, now: Instant, end: u32) {
        let (flow, forward) = (end / 2, end.is_multiple_of(2));
        let sent_max = self.sent_max();
        let spec = &self.setup.flows[flow as usize];
        let first = if forward { spec.forward[0] } else { spec.backward[0] };
        let (machine, link) = (&mut self.ends[end as usize], &mut self.links[first as usize]);
        let mut sent = false;
        // Within one instant too: a sender without a bound never stops by itself.
        while self.sent < sent_max
            && let Some(body) = machine.poll(now)
        {
            give(&mut self.observer, now, (first, link), Packet { flow, forward, hop: 0, body });
            self.sent += 1;
            sent = true;
        }
        if sent {
            self.agenda.set(first, link.deadline());
        }
        self.agenda.set(self.first_end + end, machine.deadline());
    }
    fn offer(&mut self, now: Instant, index: u32, packet: Packet) {
        let link = &mut self.links[index as usize];
        give(&mut self.observer, now, (index, link), packet);
        self.agenda.set(index, link.deadline());
    }
    #[inline]
    fn see_delivered(&mut self, now: Instant, flow: u32) {
        let receiver = &self.ends[2 * flow as usize + 1];
        let Some(delivered) = receiver.delivered() else { return };
        let state = &mut self.flows[flow as usize];
        if delivered.0 > state.delivered {
            state.delivered = delivered.0;
            if O::PACKETS {
                self.observer.on_record(now, &Record::Delivered(flow, delivered.0));
            }
        } else if state.ended.is_some() || !receiver.is_complete() {
            return; // who has everything may learn so later than the last of it
        }
        let enough = self.setup.until_delivered.is_some_and(|enough| delivered >= enough);
        if enough || receiver.is_complete() || state.stopped {
            self.see_end(now, flow, enough);
        }
    }
    /// A flow may have ended: it has enough, or all.
    fn see_end(&mut self, now: Instant, flow: u32, enough: bool) {
        if (enough || self.is_complete(flow)) && self.flows[flow as usize].ended.is_none() {
            self.flows[flow as usize].ended = Some(now);
            self.unfinished -= usize::from(self.setup.until_complete || enough);
        }
    }
    /// Whether everything was delivered that there will ever be.
    fn is_complete(&self, flow: u32) -> bool {
        let [sender, receiver] = [0, 1].map(|end| &self.ends[2 * flow as usize + end]);
        let state = &self.flows[flow as usize];
        receiver.is_complete() || (state.stopped && sender.sent() == Some(Bytes(state.delivered)))
    }
    /// A flow begins or stops, or its on/off source makes something.
    fn turn_source(&mut self, now: Instant, flow: u32) {
        let spec = &self.setup.flows[flow as usize];
        let sender = &mut self.ends[2 * flow as usize];
        let state = &mut self.flows[flow as usize];
        let mut next = spec.stop;
        if spec.stop.is_some_and(|stop| stop <= now) {
            sender.stop();
            state.stopped = true;
            next = None;
            self.see_end(now, flow, false);
        } else if let (Source::OnOff { on, off, rate }, Some(switch)) = (spec.source, &mut state.switch) {
            let (made, then) = switch.turn(now, [on, off], rate);
            sender.supply(made);
            next = Some(spec.stop.map_or(then, |stop| stop.min(then)));
        }
        self.agenda.set(self.first_start + flow, next);
        self.visit_end(now, 2 * flow);
    }
    /// A flow gets the rate of its plan from now on.
    fn turn_plan(&mut self, now: Instant, flow: u32) {
        let setup = self.setup;
        let Some(Rate::Table(rows)) = &setup.flows[flow as usize].planned_rate else { return };
        let next = rows.partition_point(|row| row.0 <= now);
        let rate = next.checked_sub(1).map_or(BitRate(0), |row| rows[row].1);
        for end in [2 * flow, 2 * flow + 1] {
            self.ends[end as usize].plan(now, rate);
        }
        self.agenda.set(self.sampler + 1 + flow, rows.get(next).map(|row| row.0));
        self.visit_end(now, 2 * flow);
        self.visit_end(now, 2 * flow + 1);
    }
    fn sample(&mut self, now: Instant) {
        for flow in 0..self.flows.len() {
            let mut seen = Observation::new();
            self.ends[2 * flow].observe(&mut seen);
            seen.push(("delivered", self.flows[flow].delivered as f64));
            self.observer.on_record(now, &Record::Flow(flow as u32, seen));
        }
        for index in 0..self.first_end {
            let waiting = self.links[index as usize].backlog(now);
            tell_dropped(&mut self.observer, (index, &mut self.links[index as usize]));
            self.agenda.set(index, self.links[index as usize].deadline());
            self.observer.on_record(now, &Record::Backlog(index, waiting));
        }
        let next = self.setup.sample_every.map(|every| now.saturating_add(every));
        self.agenda.set(self.sampler, next);
    }
    fn changes(&self) -> Vec<(u32, Change)> {
        let of = |flow: u32| self.ends[2 * flow as usize].changes().iter().map(move |change| (flow, *change));
        (0..self.flows.len() as u32).flat_map(of).collect()
    }
    /// The outcome up to the latest event; of a run that has ended, up to its end.
    pub fn outcome(&self) -> Outcome {
        let now = self.now;
        let flow = |(index, state): (usize, &FlowState)| {
            let counts = self.ends[2 * index].counts();
            FlowOutcome {
                start: self.setup.flows[index].start,
                end: state.ended.unwrap_or(now),
                complete: self.is_complete(index as u32),
                delivered: Bytes(state.delivered),
                sent: counts.sent,
                repairs: counts.repairs,
                timeouts: counts.timeouts,
                episodes: counts.episodes,
                missing: self.ends[2 * index + 1].missing().unwrap_or_default(),
            }
        };
        Outcome {
            flows: self.flows.iter().enumerate().map(flow).collect(),
            links: self.links.iter().map(Link::counts).collect(),
            changes: self.changes(),
            ended: now,
        }
    }
}

#[inline]
fn give<O: Observer>(
    observer: &mut O,
    now: Instant,
    (index, link): (u32, &mut Link<Packet>),
    packet: Packet,
) {
    if O::PACKETS {
        observer.on_record(now, &Record::Offered(index, &packet));
    }
    link.offer(now, packet);
    tell_dropped(observer, (index, link));
}

#[inline]
fn tell_dropped<O: Observer>(observer: &mut O, (index, link): (u32, &mut Link<Packet>)) {
    if O::PACKETS && link.has_dropped() {
        for (at, packet, why) in link.drain_dropped() {
            observer.on_record(at, &Record::Dropped(index, &packet, why));
        }
    }
}
