//! A run as a flow network: every node once per interval between the moments at which its contacts change.
//!
//! The path of a delivered bundle, byte by byte, is a flow in it, so no run delivers more than it carries:
//!
//! - A byte crosses a contact when it is sent. In a piece of a contact the sender and the receiver each stay
//!   in one interval: a piece is cut where either has a moment, the receiver's by the light time earlier.
//! - At a moment a node holds bundles of at most its buffer, and of each that it is sending no more than that is
//!   left in the network's eyes. It may also have received part of a bundle, which the network sees and the
//!   buffer does not: so for every transfer to it that may be in flight, the largest bundle is added.
//! - A bundle at its source or destination needs no buffer: an application may keep it.
//! - A destination takes whatever comes to it over a contact, up to as much as is meant for it.

use super::flow::{Flow, Graph, UNLIMITED};
use lightlag_protocols::dtn::Bundle;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::messages::{Node, Rules, Setup};

/// No flow is computed over more arcs: each takes 50 bytes.
pub const ARCS_MAX: usize = 8_000_000;

/// Where there are too many moments, those that follow another one within this part of the run are skipped:
/// the first part that is enough.
const SPACINGS: [i64; 7] = [16_384, 8_192, 4_096, 2_048, 512, 128, 32];

/// A bundle that can be delivered, as a load for the network.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The bundle.
    pub bundle: Bundle,
    /// Bytes of it that have to be carried.
    pub bytes: u64,
}

impl Load {
    /// Where the ends of transfers are rounded to ticks, up to a byte of each goes free.
    pub fn new(bundle: &Bundle, rules: &Rules) -> Self {
        Self { bundle: *bundle, bytes: bundle.size.get().saturating_sub(u64::from(rules.tick.is_some())) }
    }
}

/// What flows.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// Bytes of loads.
    Byte,
    /// Whole loads of at least this many bytes, which stop and wait for each other on every contact.
    Load(u64),
}

impl Unit {
    fn of(self, load: &Load) -> u64 {
        match self {
            Self::Byte => load.bytes,
            Self::Load(_) => 1,
        }
    }
}

/// One direction of a contact, as far as something sent can arrive within the run.
struct Lane {
    from: u32,
    to: u32,
    start: Instant,
    last: Instant,
    rate: BitRate,
    least: Duration,
    greatest: Duration,
}

/// The network of a run: its flow, and where loads enter.
pub struct Network {
    flow: Flow,
    unit: Unit,
    intervals: Intervals,
    /// Per source, the vertex of its application in the first interval.
    sources: Vec<Option<u32>>,
}

impl Network {
    /// For these loads; nothing if it has more than `arcs_max` arcs even with few moments. Any moments make
    /// a bound; more make a closer one, as a rule.
    pub fn new(setup: &Setup, loads: &[Load], unit: Unit, arcs_max: usize) -> Option<Self> {
        let lanes = lanes(setup);
        let run_ns = (setup.until - Instant::ZERO).as_nanos();
        let thinned = SPACINGS.iter().map(|parts| Duration::from_nanos(run_ns / parts));
        let mut spacings = std::iter::once(Duration::ZERO).chain(thinned);
        spacings.find_map(|spacing| Self::spaced(setup, (loads, unit), &lanes, spacing, arcs_max))
    }
    fn spaced(
        setup: &Setup,
        (loads, unit): (&[Load], Unit),
        lanes: &[Lane],
        spacing: Duration,
        arcs_max: usize,
    ) -> Option<Self> {
        let intervals = Intervals::new(setup, lanes, spacing);
        let largest = loads.iter().map(|load| unit.of(load)).max().unwrap_or(0);
        let vertices = intervals.first[setup.nodes.len()];
        let arrivals = intervals.first.clone();
        let mut plan = Plan { setup, unit, largest, intervals, arrivals, vertices, graph: Graph::default() };
        plan.deliver(loads);
        for lane in lanes {
            plan.cross(lane);
            if plan.graph.len() > arcs_max {
                return None;
            }
        }
        plan.store(lanes);
        let sources = plan.wait(loads);
        if plan.graph.len() > arcs_max {
            return None;
        }
        // The sink is the first vertex after the copies of nodes.
        let sink = plan.intervals.first[setup.nodes.len()];
        let flow = Flow::new(&plan.graph, plan.vertices, sink);
        Some(Self { flow, unit, intervals: plan.intervals, sources })
    }
    /// What part of a load can be carried beside the loads before it.
    pub fn carry(&mut self, load: &Load) -> f64 {
        let source = load.bundle.source.0;
        let Some(application) = self.sources[source as usize] else { return 0.0 };
        let whole = self.unit.of(load);
        if whole == 0 {
            return 1.0;
        }
        let enters = application + self.intervals.index(source, load.bundle.created);
        self.flow.push(enters, whole) as f64 / whole as f64
    }
}

/// Per node, the moments that part its intervals, and the vertices of the latter.
struct Intervals {
    cuts: Vec<Vec<Instant>>,
    /// The vertex of each node's first interval, and the one after all of them.
    first: Vec<u32>,
}

impl Intervals {
    fn new(setup: &Setup, lanes: &[Lane], spacing: Duration) -> Self {
        let mut cuts = vec![Vec::new(); setup.nodes.len()];
        for lane in lanes {
            cuts[lane.from as usize].extend([lane.start, lane.last]);
            cuts[lane.to as usize].extend([lane.start + lane.least, lane.last.saturating_add(lane.greatest)]);
        }
        let mut first = vec![0];
        for own in &mut cuts {
            own.retain(|at| Instant::ZERO < *at && *at < setup.until);
            own.sort_unstable();
            own.dedup_by(|next, kept| *next == *kept || *next - *kept < spacing);
            first.push(first[first.len() - 1] + own.len() as u32 + 1);
        }
        Self { cuts, first }
    }
    /// Which of a node's intervals holds `at`; each begins with its moment.
    fn index(&self, node: u32, at: Instant) -> u32 {
        self.cuts[node as usize].partition_point(|cut| *cut <= at) as u32
    }
    fn vertex(&self, node: u32, at: Instant) -> u32 {
        self.first[node as usize] + self.index(node, at)
    }
    fn vertices(&self, node: u32) -> std::ops::Range<u32> {
        self.first[node as usize]..self.first[node as usize + 1]
    }
    /// A node's moments strictly between two others.
    fn between(&self, node: u32, after: Instant, before: Instant) -> std::ops::Range<usize> {
        let cuts = &self.cuts[node as usize];
        let first = cuts.partition_point(|cut| *cut <= after);
        first..cuts.partition_point(|cut| *cut < before).max(first)
    }
}

fn lanes(setup: &Setup) -> Vec<Lane> {
    let mut lanes = Vec::new();
    for contact in &setup.contacts.list {
        let (a, b, start, end) = (contact.a.0, contact.b.0, contact.start, contact.end);
        for (from, to, channel) in [(a, b, contact.forward), (b, a, contact.backward)] {
            let channel = &setup.contacts.channels[channel as usize];
            let [least, greatest] = [channel.delay.least(start, end), channel.delay.greatest(start, end)];
            let until = match setup.rules.propagation {
                Propagation::Pipelined => end,
                Propagation::StopAndWait => end - least,
            };
            let last = until.min(setup.until - least);
            if start < last && channel.rate > BitRate(0) {
                lanes.push(Lane { from, to, start, last, rate: channel.rate, least, greatest });
            }
        }
    }
    lanes
}

/// A network being made.
struct Plan<'a> {
    setup: &'a Setup,
    unit: Unit,
    /// The largest load.
    largest: u64,
    intervals: Intervals,
    /// Per node, the vertex to which contacts lead in its first interval.
    arrivals: Vec<u32>,
    /// How many vertices there are.
    vertices: u32,
    graph: Graph,
}

impl Plan<'_> {
    /// Per destination, whatever arrives there, but no more than is meant for it.
    fn deliver(&mut self, loads: &[Load]) {
        let sink = self.add(1);
        let mut meant = vec![0; self.setup.nodes.len()];
        for load in loads {
            meant[load.bundle.destination.0 as usize] += self.unit.of(load);
        }
        for (node, meant) in (0..).zip(meant).filter(|(_, meant)| *meant > 0) {
            let destination = self.add(1);
            self.graph.arc(destination, sink, meant);
            let vertices = self.intervals.vertices(node);
            let arrivals = self.add(vertices.len() as u32);
            for (arrival, vertex) in (arrivals..).zip(vertices) {
                self.graph.arc(arrival, destination, UNLIMITED);
                self.graph.arc(arrival, vertex, UNLIMITED);
            }
            self.arrivals[node as usize] = arrivals;
        }
    }
    /// Over a contact, piece by piece.
    fn cross(&mut self, lane: &Lane) {
        for piece in self.pieces(lane).windows(2) {
            let room = self.room(lane, piece[1] - piece[0]);
            let from = self.intervals.vertex(lane.from, piece[0]);
            let soonest =
                self.arrivals[lane.to as usize] + self.intervals.index(lane.to, piece[0] + lane.least);
            // Of a steady delay a piece arrives in one interval. Otherwise it may be any of several.
            let inside = self.intervals.between(
                lane.to,
                piece[0] + lane.least,
                piece[1].saturating_add(lane.greatest),
            );
            if lane.least == lane.greatest || inside.is_empty() {
                self.graph.arc(from, soonest, room);
                continue;
            }
            let flight = self.add(1);
            self.graph.arc(from, flight, room);
            for later in 0..=inside.len() as u32 {
                self.graph.arc(flight, soonest + later, UNLIMITED);
            }
        }
    }
    fn pieces(&self, lane: &Lane) -> Vec<Instant> {
        let Lane { from, to, start, last, least, greatest, .. } = *lane;
        let own = self.intervals.between(from, start, last);
        let mut ends = vec![start, last];
        ends.extend(&self.intervals.cuts[from as usize][own]);
        if least == greatest {
            let arrivals = self.intervals.between(to, start + least, last + least);
            ends.extend(self.intervals.cuts[to as usize][arrivals].iter().map(|cut| *cut - least));
        }
        ends.sort_unstable();
        ends.dedup();
        ends
    }
    /// What a contact carries within a time, at any part of it.
    fn room(&self, lane: &Lane, time: Duration) -> u64 {
        if let Unit::Load(least) = self.unit {
            let cycle = lane.rate.time_for(Bytes(least)).saturating_add(lane.least);
            // What begins at its start, and at the end of each cycle.
            return (time.as_nanos() / cycle.as_nanos().max(1)).unsigned_abs() + 1;
        }
        let sending = match self.setup.rules.propagation {
            Propagation::Pipelined => time.as_nanos(),
            // At best it begins with a transfer, and the largest waste the least time.
            Propagation::StopAndWait => {
                let one = lane.rate.time_for(Bytes(self.largest)).as_nanos();
                let cycle = one.saturating_add(lane.least.as_nanos()).max(1);
                (time.as_nanos() / cycle) * one + (time.as_nanos() % cycle).min(one)
            }
        };
        let bit_ns = u128::from(lane.rate.0) * u128::from(sending.unsigned_abs());
        u64::try_from(bit_ns.div_ceil(8_000_000_000)).unwrap_or(UNLIMITED)
    }
    /// From one interval to the next, in the buffer.
    fn store(&mut self, lanes: &[Lane]) {
        let partial = self.partial(lanes);
        let mut at = 0;
        for (node, spec) in (0..).zip(&self.setup.nodes) {
            let buffer = self.buffer(spec);
            let vertices = self.intervals.vertices(node);
            for vertex in vertices.start..vertices.end - 1 {
                let under_way = partial[at..].iter().take_while(|here| here.0 == vertex).count();
                at += under_way;
                let room = buffer.saturating_add(self.largest.saturating_mul(under_way as u64));
                self.graph.arc(vertex, vertex + 1, room);
            }
        }
    }
    /// For each transfer that may have arrived in part when an interval ends, the vertex of the interval
    /// and the delay; ascending.
    fn partial(&self, lanes: &[Lane]) -> Vec<(u32, Duration)> {
        let mut partial = Vec::new();
        for lane in lanes {
            let Lane { to, start, last, greatest, .. } = *lane;
            let [start, last] = [start, last].map(|at| at.saturating_add(greatest));
            let moments = self.intervals.between(to, start, last);
            let first = self.intervals.first[to as usize];
            partial.extend(moments.map(|at| (first + at as u32, greatest)));
        }
        partial.sort_unstable();
        // A node of one radio receives one at a time: two with the same delay can't both be arriving.
        if self.setup.rules.radio == Radio::Node {
            partial.dedup();
        }
        partial
    }
    /// What a node can hold of what others have created.
    fn buffer(&self, node: &Node) -> u64 {
        // What was created here may be too much, but that may wait at its source anyway. Unless it comes
        // while something else is in flight to here, for which there was room.
        let delayed = self.setup.contacts.channels.iter().any(|channel| !channel.delay.is_zero());
        let surprised = delayed || self.setup.rules.radio != Radio::Node;
        if node.policy.overfill && surprised {
            return UNLIMITED;
        }
        match self.unit {
            Unit::Byte => node.buffer.get().min(UNLIMITED),
            Unit::Load(least) => node.buffer.get().checked_div(least).unwrap_or(UNLIMITED),
        }
    }
    /// At its source a bundle may enter the network at any time.
    fn wait(&mut self, loads: &[Load]) -> Vec<Option<u32>> {
        let mut sources = vec![None; self.setup.nodes.len()];
        for load in loads {
            let node = load.bundle.source.0;
            if sources[node as usize].is_none() {
                sources[node as usize] = Some(self.wait_at(node));
            }
        }
        sources
    }
    fn wait_at(&mut self, node: u32) -> u32 {
        let vertices = self.intervals.vertices(node);
        let application = self.add(vertices.len() as u32);
        for (vertex, waiting) in vertices.clone().zip(application..) {
            self.graph.arc(waiting, vertex, UNLIMITED);
            if vertex + 1 < vertices.end {
                self.graph.arc(waiting, waiting + 1, UNLIMITED);
            }
        }
        application
    }
    /// Adds vertices; returns the first.
    fn add(&mut self, count: u32) -> u32 {
        self.vertices += count;
        self.vertices - count
    }
}
