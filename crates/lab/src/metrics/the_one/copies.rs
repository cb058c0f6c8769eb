//! `MessageCopyCountReport`: how many copies of each bundle there are, at regular instants.

use super::clock::Steps;
use super::{Body, Desk};
use lightlag_protocols::dtn::BundleId;
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::Instant;

pub(super) struct CopyCount {
    steps: Steps,
    /// By bundle.
    copies: Vec<u32>,
    written_at: f64,
}

impl CopyCount {
    pub(super) fn new(desk: &Desk) -> Self {
        let steps = Steps::new(&desk.clock, desk.options.granularity);
        Self { steps, copies: Vec::new(), written_at: 0.0 }
    }
    fn catch_up(&mut self, desk: &mut Desk, now: Instant) {
        let granularity_s = desk.options.granularity.as_secs_f64();
        while let Some(step) = self.steps.before(now) {
            let time = desk.time(step);
            if time - self.written_at >= granularity_s {
                self.written_at = time - time % granularity_s;
                self.snapshot(desk, time);
            }
        }
    }
    fn snapshot(&self, desk: &mut Desk, time: f64) {
        let held = self.copies.iter().zip(0..).filter(|(copies, _)| **copies > 0);
        let mut lines: Vec<(String, u32)> =
            held.map(|(copies, id)| (desk.bundle_name(BundleId(id)), *copies)).collect();
        lines.sort();
        let lines = lines.into_iter().map(|(name, copies)| format!("{name} {copies}\n"));
        desk.text += &format!("[{}]\n{}", time as i64, lines.collect::<String>());
    }
    fn change(&mut self, id: BundleId, by: i32) {
        let at = id.0 as usize;
        if at >= self.copies.len() {
            self.copies.resize(at + 1, 0);
        }
        self.copies[at] = self.copies[at].saturating_add_signed(by);
    }
}

impl Body for CopyCount {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        self.catch_up(desk, now);
        match *record {
            Record::Created(ref bundle) => self.change(bundle.id, 1),
            Record::Stored { id, .. } => self.change(id, 1),
            Record::Gone { id, .. } => self.change(id, -1),
            Record::End => {
                let horizon = Steps::horizon(&mut desk.clock, now);
                self.catch_up(desk, horizon);
            }
            _ => {}
        }
    }
}
