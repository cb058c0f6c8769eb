//! Probes: what opens a window where data cannot ask for a report ([`Checkpoints::AtEnds`]).
//!
//! A probe is the cancellation of a session that was never used. A peer acknowledges it (RFC 5326, section 6.17), and all
//! that left before it has left the link then. Each probe stands for the data between the one before and itself: data whose
//! probe was overtaken by the answer to a later one count as lost. What was lost indeed is known by the reports.

use super::super::alarms::Alarm;
use super::super::export::Marks;
use super::super::pace::Overtaken;
use super::super::{Checkpoints, Content, End, Reason, Segment, SessionId};
use super::{Engine, Waiting};
use crate::time::Instant;
use std::collections::BTreeMap;

/// Probes for each window.
const PARTS_OF_WINDOW: u64 = 4;

/// A probe whose acknowledgement has not come.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// The data that had left before it.
    marks: Marks,
    /// Bytes since the probe or the checkpoint before.
    span: u64,
    sent_at: Option<Instant>,
    expires: Option<Instant>,
}

/// The probes of an engine, by the sessions that they cancel.
#[derive(Debug, Default)]
pub struct Probes {
    open: BTreeMap<u64, Probe>,
    /// Red bytes that had left with the last probe or checkpoint.
    marked: u64,
    begun: bool,
    /// Timeouts in a row.
    unanswered: u32,
}

impl Probes {
    /// A checkpoint leaves: its report says what a probe would.
    pub fn mark(&mut self, marks: Marks) {
        self.marked = marks.left;
    }
}

impl Engine {
    pub(super) fn marks(&self) -> Marks {
        Marks { order: self.pace.order, left: self.pace.left, delivered: self.pace.delivered }
    }
    /// A red segment of `red` bytes has left that is no checkpoint.
    pub(super) fn probe_if_due(&mut self, red: u64) {
        if self.config.checkpoints != Checkpoints::AtEnds {
            return;
        }
        let since = self.pace.left - self.probes.marked;
        let window = self.pace.window();
        let fills = !self.pace.has_room(2 * red);
        let awaited = self.asking > 0 || !self.probes.open.is_empty();
        // The first one measures the round trip before a checkpoint has to be waited for.
        let first = !std::mem::replace(&mut self.probes.begun, true);
        if first || fills || since >= window / PARTS_OF_WINDOW || (!awaited && self.is_slow()) {
            self.probe();
        }
    }
    /// Nothing may leave before an answer comes: something must ask for one.
    pub(super) fn probe_if_shut(&mut self, now: Instant) -> Option<Segment> {
        let shut = self.config.checkpoints == Checkpoints::AtEnds && self.asking == 0;
        if !shut || !self.probes.open.is_empty() {
            return None;
        }
        self.probe();
        self.poll_waiting(now)
    }
    fn probe(&mut self) {
        let (number, marks) = (self.next_session, self.marks());
        self.next_session += 1;
        let span = marks.left - self.probes.marked;
        self.probes.open.insert(number, Probe { marks, span, sent_at: None, expires: None });
        self.probes.marked = marks.left;
        self.waiting.push_back(Waiting::Probe(number));
    }
    pub(super) fn send_probe(&mut self, now: Instant, number: u64) -> Option<Segment> {
        let wait = self.wait(1 + self.probes.unanswered);
        let probe = self.probes.open.get_mut(&number)?;
        probe.sent_at = Some(now);
        probe.expires = Some(self.alarms.set(now, wait, Alarm::Probe(number)));
        self.counts.probes += 1;
        let session = SessionId { originator: self.config.engine, number };
        Some(Segment { session, content: Content::Cancel(End::Sender, Reason::User) })
    }
    /// A cancellation was acknowledged; returns whether it was a probe.
    pub(super) fn on_probe_answer(&mut self, now: Instant, number: u64) -> bool {
        let later = self.probes.open.split_off(&(number + 1));
        let mut until = std::mem::replace(&mut self.probes.open, later);
        let Some(answered) = until.remove(&number) else {
            until.append(&mut self.probes.open);
            self.probes.open = until;
            return false;
        };
        for (number, probe) in until.iter().chain([(&number, &answered)]) {
            self.alarms.clear(probe.expires, Alarm::Probe(*number));
        }
        let rtt = answered.sent_at.map(|at| now - at);
        if let Some(rtt) = rtt {
            self.rto.measure(rtt);
        }
        self.probes.unanswered = 0;
        let bytes = until.values().map(|probe| probe.span).sum();
        let overtaken = Overtaken { probes: until.len(), bytes };
        self.pace.probed(now, answered.marks, rtt, overtaken);
        true
    }
    pub(super) fn on_unanswered_probe(&mut self, now: Instant, number: u64) {
        let Some(probe) = self.probes.open.remove(&number) else { return };
        self.counts.timeouts += 1;
        self.probes.unanswered += 1;
        self.pace.unprobed(now, probe.marks);
    }
}
