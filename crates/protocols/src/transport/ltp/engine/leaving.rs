//! Transmission of segments, in order of urgency.

use super::super::alarms::Alarm;
use super::super::export::Export;
use super::super::{Checkpoints, Content, Data, End, Event, Segment, UDP_HEADER};
use super::{Engine, Waiting};
use crate::time::Instant;
use crate::units::Bytes;

impl Engine {
    /// The next segment that is no new data.
    pub(super) fn poll_waiting(&mut self, now: Instant) -> Option<Segment> {
        while let Some(next) = self.waiting.pop_front() {
            let sent = match next {
                Waiting::Answer(segment) => {
                    self.answers -= 1;
                    Some(segment)
                }
                Waiting::Checkpoint(number, serial) => self.repeat_checkpoint(now, number, serial),
                Waiting::Report(number, serial) => self.tell(now, number, serial),
                Waiting::Cancel(end, number) => self.give_up(now, end, number),
                Waiting::Probe(number) => self.send_probe(now, number),
            };
            if let Some(segment) = sent {
                self.pace.leave_beside(self.on_link(&segment));
                return Some(segment);
            }
        }
        None
    }
    fn on_link(&self, segment: &Segment) -> Bytes {
        UDP_HEADER + Bytes(segment.size() + self.config.extensions)
    }
    /// Puts copies of something behind it that leaves now and has to be answered.
    fn copy(&mut self, what: Waiting) {
        let weighed = |round_trip| {
            // As one segment of full size.
            let time = self.pace.time_for(UDP_HEADER + Bytes(self.config.segment), round_trip);
            self.copies.weigh(1, time, round_trip)
        };
        // Each copy of a checkpoint may cost the peer a report.
        if self.config.checkpoints == Checkpoints::AtEnds && matches!(what, Waiting::Checkpoint(..)) {
            return;
        }
        let copies = self.config.copies.or_else(|| self.round_trip().map(weighed)).unwrap_or(1);
        (1..copies).for_each(|_| self.waiting.push_back(what.clone()));
    }
    fn repeat_checkpoint(&mut self, now: Instant, number: u64, serial: u64) -> Option<Segment> {
        let export = self.exports.get(&number)?;
        let tries = export.asked.get(&serial)?.tries + 1;
        let wait = self.wait_for_report(number, tries);
        let export = self.exports.get_mut(&number)?;
        let asked = export.asked.get_mut(&serial)?;
        let segment = Segment { session: export.id, content: Content::Data(asked.data) };
        self.counts.sent += 1;
        self.counts.repairs += 1;
        if std::mem::take(&mut asked.queued) {
            asked.tries = tries;
            self.alarms.clear(asked.expires, Alarm::Checkpoint(number, serial));
            asked.expires = Some(self.alarms.set(now, wait, Alarm::Checkpoint(number, serial)));
            self.copy(Waiting::Checkpoint(number, serial));
        } else {
            self.counts.copies += 1;
        }
        Some(segment)
    }
    /// A cancellation of a session of our own, or of one of the peer.
    fn give_up(&mut self, now: Instant, end: End, number: u64) -> Option<Segment> {
        let wait = self.wait(1);
        let (session, cancelling, alarm) = match end {
            End::Sender => {
                let export = self.exports.get_mut(&number)?;
                (export.id, export.cancelling.as_mut()?, Alarm::CancelExport(number))
            }
            End::Receiver => {
                let import = self.imports.get_mut(&number)?;
                (import.id, import.cancelling.as_mut()?, Alarm::CancelImport(number))
            }
        };
        let reason = cancelling.reason;
        if std::mem::take(&mut cancelling.queued) {
            cancelling.tries += 1;
            cancelling.expires = Some(self.alarms.set(now, wait, alarm));
            self.copy(Waiting::Cancel(end, number));
        } else {
            self.counts.copies += 1;
        }
        Some(Segment { session, content: Content::Cancel(end, reason) })
    }
    fn tell(&mut self, now: Instant, number: u64, serial: u64) -> Option<Segment> {
        let tries = self.imports.get(&number)?.told.get(&serial)?.tries + 1;
        let wait = self.wait(tries);
        let import = self.imports.get_mut(&number)?;
        let told = import.told.get_mut(&serial)?;
        let segment = Segment { session: import.id, content: Content::Report(told.report.clone()) };
        self.counts.reports += 1;
        if std::mem::take(&mut told.queued) {
            told.tries = tries;
            told.sent_at = Some(now);
            self.alarms.clear(told.expires, Alarm::Report(number, serial));
            told.expires = Some(self.alarms.set(now, wait, Alarm::Report(number, serial)));
            self.copy(Waiting::Report(number, serial));
        } else {
            self.counts.copies += 1;
        }
        Some(segment)
    }
    /// Which session sends data next: one that repairs before one that does not.
    fn next_session(&mut self) -> Option<u64> {
        while let Some(&number) = self.repairing.front() {
            if self.exports.get(&number).is_some_and(Export::wants_repair) {
                return Some(number);
            }
            self.repairing.pop_front();
        }
        while let Some(&number) = self.fresh.front() {
            if self.exports.get(&number).is_some_and(|export| !export.has_left()) {
                return Some(number);
            }
            self.fresh.pop_front();
        }
        None
    }
    /// When data may leave, and whether they must ask for a report; none while only a report can change
    /// that. Neither a window that is full nor a rate of zero keeps back what asks for the report that
    /// opens it; a rate that gives less than a segment for a round trip may be one that waits for a report.
    fn turn_of(&self, export: &Export) -> Option<(Instant, bool)> {
        let due = self.pace.due();
        let full = export.next_is_red() && !self.pace.has_room(export.next_length());
        if self.config.checkpoints == Checkpoints::AtEnds {
            // A window smaller than a segment is one segment.
            let shut = full && self.pace.in_flight > 0;
            return (!shut && due < Instant::MAX).then_some((due, false));
        }
        match (full || due == Instant::MAX, self.asking) {
            (true, 0) if export.next_is_red() => Some((Instant::ZERO, true)),
            (true, _) => None,
            (false, asking) => {
                let fills = !self.pace.has_room(export.next_length().saturating_add(export.payload));
                Some((due, fills || (asking == 0 && self.is_slow())))
            }
        }
    }
    pub(super) fn is_slow(&self) -> bool {
        let segment = Bytes(self.config.segment);
        let time = self.pace.controller.rate().map(|rate| rate.time_for(segment));
        time.zip(self.round_trip()).is_some_and(|(time, round_trip)| time > round_trip)
    }
    pub(super) fn poll_data(&mut self, now: Instant) -> Option<Segment> {
        self.waits_until = None;
        let number = self.next_session()?;
        let export = self.exports.get(&number)?;
        let Some((due, asks)) = self.turn_of(export) else {
            return self.probe_if_shut(now);
        };
        if due > now {
            self.waits_until = Some(due);
            return None;
        }
        let counts = export.next_is_red() && !export.next_is_copy();
        let red = if counts { export.next_length() } else { 0 };
        let export = self.exports.get_mut(&number)?;
        let leaving = export.leave(&self.config, asks);
        let segment = Segment { session: export.id, content: Content::Data(leaving.data) };
        let link = self.on_link(&segment);
        self.pace.leave(now, red, link);
        self.counts.sent += 1;
        self.counts.repairs += u64::from(leaving.repair);
        self.counts.copies += u64::from(leaving.copy);
        if let Some(checkpoint) = leaving.data.checkpoint() {
            self.ask(now, number, leaving.data, checkpoint.serial);
        } else if red > 0 {
            self.probe_if_due(red);
        }
        if leaving.last {
            self.events.push_back(Event::Transmitted(segment.session));
            if self.exports.get(&number).is_some_and(Export::is_complete) {
                self.complete(number);
            } else {
                self.watch_stall(now, number);
            }
        }
        Some(segment)
    }
    fn ask(&mut self, now: Instant, number: u64, data: Data, serial: u64) {
        self.asking += 1;
        let wait = self.wait_for_report(number, 1);
        let marks = self.marks();
        self.probes.mark(marks);
        let Some(export) = self.exports.get_mut(&number) else { return };
        export.ask(now, data, serial, marks);
        if let Some(asked) = export.asked.get_mut(&serial) {
            asked.expires = Some(self.alarms.set(now, wait, Alarm::Checkpoint(number, serial)));
        }
        self.copy(Waiting::Checkpoint(number, serial));
    }
}
