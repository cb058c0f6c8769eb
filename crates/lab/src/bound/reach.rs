//! When a bundle could be at its destination at the earliest, were nothing else sent and every buffer endless.

use lightlag_protocols::dtn::Bundle;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::contacts::{Channel, Delay};
use lightlag_worlds::messages::Setup;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Earliest arrivals over the contacts of a run, by Dijkstra's algorithm: a bundle that arrives earlier can
/// also wait, so a later arrival gains nothing.
pub struct Reach<'a> {
    setup: &'a Setup,
    /// Per node, its outgoing contacts in the order of their start.
    ways: Vec<Vec<Way<'a>>>,
    /// Per node, when the bundle could be there; [`Instant::MAX`]: never, as far as is known.
    earliest: Vec<Instant>,
    touched: Vec<u32>,
    queue: BinaryHeap<Reverse<(Instant, u32)>>,
}

/// One direction of a contact.
struct Way<'a> {
    to: u32,
    start: Instant,
    end: Instant,
    /// The latest end of this way and of those before it.
    latest_end: Instant,
    channel: &'a Channel,
}

impl<'a> Reach<'a> {
    /// Over the contacts of this run.
    pub fn new(setup: &'a Setup) -> Self {
        let nodes = setup.nodes.len();
        let mut ways: Vec<Vec<Way<'_>>> = (0..nodes).map(|_| Vec::new()).collect();
        for contact in &setup.contacts.list {
            let (a, b) = (contact.a.0, contact.b.0);
            for (from, to, channel) in [(a, b, contact.forward), (b, a, contact.backward)] {
                let channel = &setup.contacts.channels[channel as usize];
                if channel.rate > BitRate(0) {
                    let ways = &mut ways[from as usize];
                    let before = ways.last().map_or(Instant::ZERO, |way| way.latest_end);
                    let (start, end) = (contact.start, contact.end);
                    ways.push(Way { to, start, end, latest_end: before.max(end), channel });
                }
            }
        }
        let earliest = vec![Instant::MAX; nodes];
        Self { setup, ways, earliest, touched: Vec::new(), queue: BinaryHeap::new() }
    }
    /// When `bundle` could be at its destination; nothing if not within its lifetime and the run.
    ///
    /// As in the world, no node takes a copy when the lifetime is over; only where expired copies are purged now and then, as in
    /// The ONE, may they set out for their destination and arrive there later.
    pub fn earliest(&mut self, bundle: &Bundle) -> Option<Instant> {
        for node in self.touched.drain(..) {
            self.earliest[node as usize] = Instant::MAX;
        }
        self.queue.clear();
        self.reach(bundle.source.0, bundle.created);
        while let Some(Reverse((now, node))) = self.queue.pop() {
            if node == bundle.destination.0 {
                return Some(now);
            }
            if now <= self.earliest[node as usize] {
                self.go_on(bundle, node, now);
            }
        }
        None
    }
    fn reach(&mut self, node: u32, at: Instant) {
        if at < self.earliest[node as usize] {
            self.earliest[node as usize] = at;
            self.touched.push(node);
            self.queue.push(Reverse((at, node)));
        }
    }
    fn go_on(&mut self, bundle: &Bundle, node: u32, now: Instant) {
        let setup = self.setup;
        let rules = &setup.rules;
        let lingers = rules.purge_every.is_some();
        let ways = std::mem::take(&mut self.ways[node as usize]);
        let first = ways.partition_point(|way| way.latest_end <= now);
        for way in &ways[first..] {
            if way.start > setup.until.min(self.earliest[bundle.destination.0 as usize]) {
                break;
            }
            if self.earliest[way.to as usize] <= now {
                continue;
            }
            let last = way.to == bundle.destination.0;
            let starts_before = if last && lingers { way.end } else { way.end.min(bundle.expires) };
            let Some(arrival) = arrival(setup, way, bundle.size, now, starts_before) else { continue };
            if arrival <= setup.until && (last && lingers || arrival < bundle.expires) {
                self.reach(way.to, arrival);
            }
        }
        self.ways[node as usize] = ways;
    }
}

/// When the last bit could be at the other end: sent at `now`, or whenever the delay has become less.
fn arrival(setup: &Setup, way: &Way<'_>, size: Bytes, now: Instant, before: Instant) -> Option<Instant> {
    let now = now.max(way.start);
    let rows: &[(Instant, Duration)] = match &way.channel.delay {
        Delay::Constant(_) => &[],
        Delay::Table(rows) => &rows[rows.partition_point(|row| row.0 <= now)..],
    };
    let starts = rows.iter().map(|row| row.0).take_while(|at| *at < before);
    let starts = std::iter::once(now).filter(|at| *at < before).chain(starts);
    starts.filter_map(|start| sent_at(setup, way, size, start)).min()
}

fn sent_at(setup: &Setup, way: &Way<'_>, size: Bytes, start: Instant) -> Option<Instant> {
    let Channel { rate, delay, .. } = way.channel;
    let (sent, flight) = setup.rules.transfer(*rate, delay.at(start), size, start);
    (sent <= way.end).then(|| sent.saturating_add(flight))
}
