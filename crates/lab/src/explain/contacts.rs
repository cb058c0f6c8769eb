//! The contacts of a run as its records show them, and which paths they made.

use lightlag_protocols::dtn::{Bundle, NodeId};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A contact that took place.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    pub a: NodeId,
    pub b: NodeId,
    pub start: Instant,
    pub end: Instant,
    /// The highest rate from a to b and from b to a.
    pub rate: [BitRate; 2],
    /// The least delay from a to b and from b to a.
    pub delay: [Duration; 2],
}

impl Meeting {
    /// What its faster direction carries.
    pub fn carries(&self) -> u64 {
        let rate = self.rate[0].max(self.rate[1]).as_bit_per_s();
        let bytes = (self.end - self.start).as_nanos().max(0) as u128 * u128::from(rate) / 8_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// All contacts of a run, in the order of their start.
#[derive(Debug, Default)]
pub struct Meetings {
    pub list: Vec<Meeting>,
    open: BTreeMap<(NodeId, NodeId), usize>,
}

impl Meetings {
    pub fn up(&mut self, now: Instant, [a, b]: [NodeId; 2], rate: [BitRate; 2], delay: [Duration; 2]) {
        self.open.insert((a.min(b), a.max(b)), self.list.len());
        self.list.push(Meeting { a, b, start: now, end: Instant::MAX, rate, delay });
    }
    pub fn rate(&mut self, a: NodeId, b: NodeId, rate: [BitRate; 2]) {
        let Some(&at) = self.open.get(&(a.min(b), a.max(b))) else { return };
        let known = &mut self.list[at];
        let rate = if known.a == a { rate } else { [rate[1], rate[0]] };
        known.rate = [known.rate[0].max(rate[0]), known.rate[1].max(rate[1])];
    }
    pub fn down(&mut self, now: Instant, a: NodeId, b: NodeId) {
        if let Some(at) = self.open.remove(&(a.min(b), a.max(b))) {
            self.list[at].end = now;
        }
    }
    /// Contacts that still last end with the run.
    pub fn close(&mut self, end: Instant) {
        self.open.clear();
        for meeting in &mut self.list {
            meeting.end = meeting.end.min(end);
        }
    }
}

/// Whether contacts led to a destination in time, with every buffer and every rate to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// They did, or it was not examined.
    Open,
    /// The source met no other node.
    NoContact,
    /// No sequence of contacts led there.
    Missing,
    /// One did, but only for smaller bundles.
    TooShort,
}

/// One direction of a contact.
struct Leg {
    to: u32,
    start: Instant,
    end: Instant,
    /// The latest end of this leg and of those before it.
    latest_end: Instant,
    rate: BitRate,
    delay: Duration,
}

/// Searches for paths over contacts, earliest arrival first (Dijkstra's algorithm: a bundle that arrives earlier can
/// also wait).
pub struct Paths {
    legs: BTreeMap<u32, Vec<Leg>>,
    until: Instant,
    /// Legs that may still be looked at.
    budget: u64,
}

/// Legs that all searches of a run look at together: a few seconds of work.
const BUDGET: u64 = 300_000_000;

impl Paths {
    pub fn new(meetings: &Meetings, until: Instant) -> Self {
        let mut legs: BTreeMap<u32, Vec<Leg>> = BTreeMap::new();
        for meeting in &meetings.list {
            let Meeting { a, b, start, end, rate, delay } = *meeting;
            for (from, to, at) in [(a, b, 0), (b, a, 1)] {
                if rate[at] == BitRate(0) {
                    continue;
                }
                let legs = legs.entry(from.0).or_default();
                let latest_end = legs.last().map_or(end, |leg| leg.latest_end.max(end));
                legs.push(Leg { to: to.0, start, end, latest_end, rate: rate[at], delay: delay[at] });
            }
        }
        Self { legs, until, budget: BUDGET }
    }
    /// Whether all bundles so far could be examined.
    pub fn complete(&self) -> bool {
        self.budget > 0
    }
    /// The path of a bundle. What was still on the link to its destination when its lifetime ended may arrive.
    pub fn of(&mut self, bundle: &Bundle) -> Path {
        // A copy that lingers after its lifetime may still go to its destination.
        let until = |leg: &Leg| {
            if leg.to == bundle.destination.0 { self.until } else { bundle.expires.min(self.until) }
        };
        let met = |leg: &Leg| leg.end > bundle.created && leg.start < until(leg);
        if !self.legs.get(&bundle.source.0).is_some_and(|legs| legs.iter().any(met)) {
            return Path::NoContact;
        }
        if self.leads(bundle, bundle.size) {
            Path::Open
        } else if self.leads(bundle, Bytes(0)) {
            Path::TooShort
        } else {
            Path::Missing
        }
    }
    fn leads(&mut self, bundle: &Bundle, size: Bytes) -> bool {
        let target = bundle.destination.0;
        let mut earliest: BTreeMap<u32, Instant> = BTreeMap::from([(bundle.source.0, bundle.created)]);
        let mut queue = BinaryHeap::from([Reverse((bundle.created, bundle.source.0))]);
        while let Some(Reverse((now, node))) = queue.pop() {
            if node == target {
                return true;
            }
            if earliest.get(&node).is_some_and(|known| *known < now) {
                continue;
            }
            let legs = self.legs.get(&node).map_or(&[][..], Vec::as_slice);
            let first = legs.partition_point(|leg| leg.latest_end <= now);
            for leg in &legs[first..] {
                if self.budget == 0 {
                    return true;
                }
                self.budget -= 1;
                if leg.start > self.until {
                    break;
                }
                let last = leg.to == target;
                let Some(arrival) = arrival(leg, size, now) else { continue };
                let in_time = arrival <= self.until && (last || arrival < bundle.expires);
                if in_time && earliest.get(&leg.to).is_none_or(|known| arrival < *known) {
                    earliest.insert(leg.to, arrival);
                    queue.push(Reverse((arrival, leg.to)));
                }
            }
        }
        false
    }
}

/// When the last bit could be there. The ONE ends a transfer when less than a byte is missing.
fn arrival(leg: &Leg, size: Bytes, now: Instant) -> Option<Instant> {
    let sent = now.max(leg.start).saturating_add(leg.rate.time_for(size.saturating_sub(Bytes(1))));
    (sent <= leg.end).then(|| sent.saturating_add(leg.delay))
}
