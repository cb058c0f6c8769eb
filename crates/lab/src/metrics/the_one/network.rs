//! Reports about the whole network: every event, and the buffers.

use super::clock::Steps;
use super::{Body, Desk, java};
use lightlag_protocols::dtn::{BundleId, DropReason, NodeId};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::Instant;

/// `EventLogReport`: one line per event, as The ONE's `StandardEventsReader` reads them back.
pub(super) struct EventLog {
    desk: Desk,
    destinations: Vec<NodeId>,
    text: String,
}

impl EventLog {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, destinations: Vec::new(), text: String::new() }
    }
    fn line(&mut self, now: Instant, what: &str) {
        self.text += &format!("{} {what}\n", java::shortest(self.desk.clock.shows(now)));
    }
    fn contact(&mut self, now: Instant, a: NodeId, b: NodeId, what: &str) {
        let (a, b) = (self.desk.node_name(a), self.desk.node_name(b));
        self.line(now, &format!("CONN {a} {b} {what}"));
    }
    fn transfer(
        &mut self,
        now: Instant,
        what: &str,
        (from, to): (NodeId, NodeId),
        id: BundleId,
        extra: &str,
    ) {
        let (from, to) = (self.desk.node_name(from), self.desk.node_name(to));
        let name = self.desk.bundle_name(id);
        self.line(now, &format!("{what} {from} {to} {name}{extra}"));
    }
    fn copy(&mut self, now: Instant, what: &str, node: NodeId, id: BundleId) {
        let (node, name) = (self.desk.node_name(node), self.desk.bundle_name(id));
        self.line(now, &format!("{what} {node} {name}"));
    }
    fn created(&mut self, id: BundleId, destination: NodeId) {
        let at = id.0 as usize;
        if at >= self.destinations.len() {
            self.destinations.resize(at + 1, NodeId(u32::MAX));
        }
        self.destinations[at] = destination;
    }
}

impl Observer for EventLog {
    fn on_record(&mut self, now: Instant, record: &Record) {
        match *record {
            Record::ContactUp { a, b, .. } => self.contact(now, a, b, "up"),
            Record::ContactDown { a, b } => self.contact(now, a, b, "down"),
            Record::Created(ref bundle) => {
                self.created(bundle.id, bundle.destination);
                self.copy(now, "C", bundle.source, bundle.id);
            }
            Record::Started { from, to, id } => self.transfer(now, "S", (from, to), id, ""),
            Record::Aborted { from, to, id } => self.transfer(now, "A", (from, to), id, ""),
            Record::Stored { from, to, id, .. } => self.transfer(now, "DE", (from, to), id, " R"),
            Record::Delivered { from, to, id, first, .. } => {
                self.transfer(now, "DE", (from, to), id, if first { " D" } else { " A" });
            }
            Record::Refused { from, to, id, .. } => {
                let at_destination = self.destinations.get(id.0 as usize) == Some(&to);
                self.transfer(now, "DE", (from, to), id, if at_destination { " A" } else { " R" });
            }
            Record::Gone { node, id, reason, .. } => {
                let dropped = matches!(reason, DropReason::Overflow | DropReason::Expired);
                self.copy(now, if dropped { "DR" } else { "R" }, node, id);
            }
            _ => {}
        }
    }
}

impl Body for EventLog {
    fn text(&self) -> String {
        self.text.clone()
    }
}

/// `BufferOccupancyReport`: mean and variance of how full the buffers are, in percent.
///
/// It adds up the buffers itself, so it needs no samples.
pub(super) struct BufferOccupancy {
    desk: Desk,
    steps: Steps,
    buffers: Vec<Buffer>,
    sizes: Vec<u64>,
    written_at: f64,
    text: String,
}

#[derive(Clone, Copy)]
struct Buffer {
    size: u64,
    used: u64,
}

impl BufferOccupancy {
    pub(super) fn new(desk: Desk) -> Self {
        let steps = Steps::new(&desk.clock, desk.options.occupancy_interval);
        let (buffers, sizes) = (Vec::new(), Vec::new());
        Self { desk, steps, buffers, sizes, written_at: 0.0, text: String::new() }
    }
    fn catch_up(&mut self, now: Instant) {
        while let Some(step) = self.steps.before(now) {
            let time = self.desk.time(step);
            if time - self.written_at >= self.desk.options.occupancy_interval.as_secs_f64() {
                self.written_at = time;
                self.line(time);
            }
        }
    }
    fn line(&mut self, time: f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        for buffer in &self.buffers {
            let percent = (100.0 * (buffer.used as f64 / buffer.size as f64)).min(100.0);
            sum += percent;
            squares += percent * percent / 100.0;
        }
        let count = self.buffers.len() as f64;
        let mean = sum / count;
        let variance = squares / count - mean * mean / 100.0;
        let desk = &self.desk;
        let line = [time, mean, variance].map(|value| desk.format(value));
        self.text += &format!("{}\n", line.join(" "));
    }
    fn put(&mut self, node: NodeId, id: BundleId) {
        let size = self.sizes.get(id.0 as usize).copied().unwrap_or(0);
        if let Some(buffer) = self.buffers.get_mut(node.0 as usize) {
            buffer.used += size;
        }
    }
    fn take(&mut self, node: NodeId, id: BundleId) {
        let size = self.sizes.get(id.0 as usize).copied().unwrap_or(0);
        if let Some(buffer) = self.buffers.get_mut(node.0 as usize) {
            buffer.used = buffer.used.saturating_sub(size);
        }
    }
}

impl Observer for BufferOccupancy {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.catch_up(now);
        match *record {
            Record::Node { buffer, .. } => self.buffers.push(Buffer { size: buffer.get(), used: 0 }),
            Record::Created(ref bundle) => {
                let at = bundle.id.0 as usize;
                if at >= self.sizes.len() {
                    self.sizes.resize(at + 1, 0);
                }
                self.sizes[at] = bundle.size.get();
                self.put(bundle.source, bundle.id);
            }
            Record::Stored { to, id, .. } => self.put(to, id),
            Record::Gone { node, id, .. } => self.take(node, id),
            Record::End => {
                let horizon = Steps::horizon(&mut self.desk.clock, now);
                self.catch_up(horizon);
            }
            _ => {}
        }
    }
}

impl Body for BufferOccupancy {
    fn text(&self) -> String {
        self.text.clone()
    }
}
