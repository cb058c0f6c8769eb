//! Reports about the whole network: every event, and the buffers.

use super::clock::Steps;
use super::{Body, Desk, java};
use lightlag_protocols::dtn::{BundleId, DropReason, NodeId};
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::Instant;

/// `EventLogReport`: one line per event, as The ONE's `StandardEventsReader` reads them back.
#[derive(Default)]
pub(super) struct EventLog {
    destinations: Vec<NodeId>,
}

impl EventLog {
    fn created(&mut self, id: BundleId, destination: NodeId) {
        let at = id.0 as usize;
        if at >= self.destinations.len() {
            self.destinations.resize(at + 1, NodeId(u32::MAX));
        }
        self.destinations[at] = destination;
    }
}

impl Body for EventLog {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        let contact = |a, b, what: &str| format!("CONN {} {} {what}", desk.node_name(a), desk.node_name(b));
        let transfer = |what: &str, from, to, id, extra: &str| {
            let (from, to) = (desk.node_name(from), desk.node_name(to));
            format!("{what} {from} {to} {}{extra}", desk.bundle_name(id))
        };
        let copy = |what: &str, node, id| format!("{what} {} {}", desk.node_name(node), desk.bundle_name(id));
        let line = match *record {
            Record::ContactUp { a, b, .. } => contact(a, b, "up"),
            Record::ContactDown { a, b } => contact(a, b, "down"),
            Record::Created(ref bundle) => {
                self.created(bundle.id, bundle.destination);
                copy("C", bundle.source, bundle.id)
            }
            Record::Started { from, to, id } => transfer("S", from, to, id, ""),
            Record::Aborted { from, to, id } => transfer("A", from, to, id, ""),
            Record::Stored { from, to, id, .. } => transfer("DE", from, to, id, " R"),
            Record::Delivered { from, to, id, first, .. } => {
                transfer("DE", from, to, id, if first { " D" } else { " A" })
            }
            Record::Refused { from, to, id, .. } => {
                let at_destination = self.destinations.get(id.0 as usize) == Some(&to);
                transfer("DE", from, to, id, if at_destination { " A" } else { " R" })
            }
            // What is replaced vanishes without an event.
            Record::Gone { reason: DropReason::Replaced, .. } => return,
            Record::Gone { node, id, reason, .. } => {
                let dropped = matches!(reason, DropReason::Overflow | DropReason::Expired);
                copy(if dropped { "DR" } else { "R" }, node, id)
            }
            _ => return,
        };
        let time = java::shortest(desk.time(now));
        desk.text += &format!("{time} {line}\n");
    }
}

/// `BufferOccupancyReport`: mean and variance of how full the buffers are, in percent.
///
/// It adds up the buffers itself, so it needs no samples.
pub(super) struct BufferOccupancy {
    steps: Steps,
    buffers: Vec<Buffer>,
    sizes: Vec<u64>,
    written_at: f64,
}

#[derive(Clone, Copy)]
struct Buffer {
    size: u64,
    used: u64,
}

impl BufferOccupancy {
    pub(super) fn new(desk: &Desk) -> Self {
        let steps = Steps::new(&desk.clock, desk.options.occupancy_interval);
        Self { steps, buffers: Vec::new(), sizes: Vec::new(), written_at: 0.0 }
    }
    fn catch_up(&mut self, desk: &mut Desk, now: Instant) {
        while let Some(step) = self.steps.before(now) {
            let time = desk.time(step);
            if time - self.written_at >= desk.options.occupancy_interval.as_secs_f64() {
                self.written_at = time;
                self.line(desk, time);
            }
        }
    }
    fn line(&self, desk: &mut Desk, time: f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        for buffer in &self.buffers {
            let percent = (100.0 * (buffer.used as f64 / buffer.size as f64)).min(100.0);
            sum += percent;
            squares += percent * percent / 100.0;
        }
        let count = self.buffers.len() as f64;
        let mean = sum / count;
        let variance = squares / count - mean * mean / 100.0;
        let line = [time, mean, variance].map(|value| desk.format(value));
        desk.text += &format!("{}\n", line.join(" "));
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

impl Body for BufferOccupancy {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        self.catch_up(desk, now);
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
                let horizon = Steps::horizon(&mut desk.clock, now);
                self.catch_up(desk, horizon);
            }
            _ => {}
        }
    }
}
