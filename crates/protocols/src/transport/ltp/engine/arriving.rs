//! Reception of segments.

use super::super::alarms::Alarm;
use super::super::export::{Cancelling, Export, first_serial};
use super::super::import::Import;
use super::super::{Checkpoints, Content, Data, End, Event, Reason, Refusal, Report, Segment, SessionId};
use super::{Engine, Waiting};
use crate::time::Instant;
use crate::units::{BitRate, Bytes};

/// Repairs of a second round and later are copied also under a window if they are this few segments: the peer gives
/// few reports a session.
const LATE_REPAIRS_MOST: u64 = 64;

impl Engine {
    /// A segment came; its data are the driver's, see the events.
    ///
    /// # Errors
    /// Why it changes nothing; that is counted, too.
    pub fn receive(&mut self, now: Instant, segment: &Segment) -> Result<(), Refusal> {
        let done = self.dispatch(now, segment);
        if let Err(refusal) = done {
            *self.refusals.entry(refusal).or_default() += 1;
            self.counts.refused += 1;
        }
        done
    }
    fn dispatch(&mut self, now: Instant, segment: &Segment) -> Result<(), Refusal> {
        let session = segment.session;
        if matches!(segment.content, Content::Undefined { .. }) {
            return Err(Refusal::Undefined);
        }
        let own = session.originator == self.config.engine;
        if !own && session.originator != self.config.peer {
            return Err(Refusal::Stranger);
        }
        if segment.is_from_sender() == own {
            return Err(Refusal::WrongWay);
        }
        match &segment.content {
            Content::Data(data) => self.on_data(now, session, data),
            Content::Report(report) => self.on_report(now, session, report),
            Content::ReportAck(serial) => self.on_report_ack(now, session.number, *serial),
            Content::Cancel(by, reason) => self.on_cancel(session, *by, *reason),
            Content::CancelAck(by) => self.on_cancel_ack(now, session.number, *by),
            Content::Undefined { .. } => Err(Refusal::Undefined),
        }
    }
    fn answer(&mut self, session: SessionId, content: Content) -> Result<(), Refusal> {
        if self.answers >= self.config.quotas.answers {
            return Err(Refusal::Answers);
        }
        self.answers += 1;
        self.waiting.push_back(Waiting::Answer(Segment { session, content }));
        Ok(())
    }

    // --- a block of our own ------------------------------------------------------------------

    fn on_report(&mut self, now: Instant, session: SessionId, report: &Report) -> Result<(), Refusal> {
        let Some(export) = self.exports.get_mut(&session.number) else {
            // The peer missed our acknowledgement: it is sent again (section 6.13).
            return self.answer(session, Content::ReportAck(report.serial));
        };
        if export.has_heard(report.serial) || export.cancelling.is_some() {
            return self.answer(session, Content::ReportAck(report.serial));
        }
        let payload = export.payload as f64;
        let answer = export.hear(now, report)?;
        if let Some((expires, serial)) = answer.timer {
            self.asking -= 1;
            self.alarms.clear(expires, Alarm::Checkpoint(session.number, serial));
        } else if answer.marks.is_some() {
            self.await_series(now, session.number, report.checkpoint);
        }
        if let Some(rtt) = answer.rtt {
            self.rto.measure(rtt);
        }
        let segments = |bytes: u64| bytes as f64 / payload;
        self.copies.on_heard(segments(answer.lost.min(answer.told)), segments(answer.told));
        self.pace.answer(now, &answer);
        let acknowledged = self.answer(session, Content::ReportAck(report.serial));
        self.after_report(now, session.number);
        acknowledged
    }
    pub(super) fn after_report(&mut self, now: Instant, number: u64) {
        // Under a window a loss means congestion, which copies would add to.
        let rate = self.pace.controller.rate().filter(|_| self.pace.controller.window() == Bytes::MAX);
        let weighed = rate.zip(self.round_trip()).filter(|_| self.config.copies.is_none());
        let copies = self.copies;
        let Some(export) = self.exports.get_mut(&number) else { return };
        if export.is_complete() {
            return self.complete(number);
        }
        if export.fruitless > self.config.cycles {
            self.cancel_export(number, Reason::Cycles);
            return;
        }
        let spared = self.config.checkpoints == Checkpoints::AtEnds;
        let late = spared.then_some(export.rounds).filter(|rounds| *rounds > 1);
        export.decide_rows(|segments, bytes| {
            if let Some(rounds) = late.filter(|_| weighed.is_none() && segments <= LATE_REPAIRS_MOST) {
                return rounds.min(3);
            }
            let weigh = |(rate, round_trip): (BitRate, _)| {
                copies.weigh_repairs(segments, rate.time_for(Bytes(bytes)), round_trip)
            };
            weighed.map_or(1, weigh)
        });
        if export.wants_repair() && !self.repairing.contains(&number) {
            self.repairing.push_back(number);
        }
        self.watch_stall(now, number);
    }
    /// Other reports of a series may still be in flight; if none arrives, everything missing is repaired.
    pub(super) fn watch_stall(&mut self, now: Instant, number: u64) {
        let after = self.wait(1);
        if let Some(export) = self.exports.get_mut(&number)
            && export.is_stalled()
            && export.stalled.is_none()
        {
            export.stalled = Some(self.alarms.set(now, after, Alarm::Stalled(number)));
        }
    }
    /// Some reports of a series are here. The peer repeats the others by itself; a checkpoint sent again would cost it a
    /// whole report more.
    fn await_series(&mut self, now: Instant, number: u64, serial: u64) {
        let wait = self.wait_for_report(number, 1);
        let asked = self.exports.get_mut(&number).and_then(|export| export.asked.get_mut(&serial));
        let Some(asked) = asked.filter(|asked| !asked.queued) else { return };
        self.alarms.clear(asked.expires, Alarm::Checkpoint(number, serial));
        asked.expires = Some(self.alarms.set(now, wait, Alarm::Checkpoint(number, serial)));
    }
    pub(super) fn complete(&mut self, number: u64) {
        if let Some(export) = self.close_export(number) {
            self.events.push_back(Event::Sent(export.id));
        }
    }
    pub(super) fn close_export(&mut self, number: u64) -> Option<Export> {
        let export = self.exports.remove(&number)?;
        self.quieten_export(&export);
        self.pace.forget(export.in_flight());
        if self.exports.is_empty() {
            self.pace.settle();
        }
        Some(export)
    }
    fn quieten_export(&mut self, export: &Export) {
        let number = export.id.number;
        self.asking -= export.asked.len();
        for (serial, asked) in &export.asked {
            self.alarms.clear(asked.expires, Alarm::Checkpoint(number, *serial));
        }
        self.alarms.clear(export.stalled, Alarm::Stalled(number));
        let cancel = export.cancelling.and_then(|cancelling| cancelling.expires);
        self.alarms.clear(cancel, Alarm::CancelExport(number));
    }
    pub(super) fn cancel_export(&mut self, number: u64, reason: Reason) -> bool {
        let Some(export) = self.exports.remove(&number) else { return false };
        if export.cancelling.is_some() {
            self.exports.insert(number, export);
            return false;
        }
        self.quieten_export(&export);
        self.pace.forget(export.in_flight());
        let id = export.id;
        // The peer cannot know of a session of which nothing has left (section 4.2).
        if export.has_begun() {
            // Nothing of the block is needed any more.
            self.exports.insert(number, Export::cancelled(id, reason));
            self.waiting.push_back(Waiting::Cancel(End::Sender, number));
        }
        self.events.push_back(Event::Cancelled { session: id, by: End::Sender, reason });
        true
    }

    // --- a block of the peer -----------------------------------------------------------------

    fn on_data(&mut self, now: Instant, session: SessionId, data: &Data) -> Result<(), Refusal> {
        if data.length == 0 {
            return Err(Refusal::Empty);
        }
        if data.end() > self.config.quotas.block {
            return Err(Refusal::TooLarge);
        }
        if self.imports.contains_key(&session.number) {
            return self.on_known_data(now, session, data);
        }
        if self.closed.around(session.number).is_some() {
            return Err(Refusal::Closed);
        }
        if self.imports.len() >= self.config.quotas.imports {
            return Err(Refusal::Sessions);
        }
        let serial = first_serial(&mut self.draws);
        let mut import = Import::new(session, data.service, serial, self.alarms.read(now));
        import.watches.idle = Some(self.alarms.set(now, self.config.idle, Alarm::Idle(session.number)));
        import.watches.unasked =
            self.config.report_every.map(|every| self.alarms.set(now, every, Alarm::Unasked(session.number)));
        self.imports.insert(session.number, import);
        if self.config.services.as_ref().is_some_and(|here| !here.contains(&data.service)) {
            self.cancel_import(session.number, Reason::Unreachable);
            return Ok(());
        }
        self.on_known_data(now, session, data)
    }
    fn on_known_data(&mut self, now: Instant, session: SessionId, data: &Data) -> Result<(), Refusal> {
        let Some(import) = self.imports.get_mut(&session.number) else { return Err(Refusal::Unknown) };
        if import.cancelling.is_some() {
            return Err(Refusal::Closed);
        }
        match import.believe(data) {
            Err(Refusal::Miscolored) => {
                self.cancel_import(session.number, Reason::Miscolored);
                return Err(Refusal::Miscolored);
            }
            other => other?,
        }
        if self.pieces >= self.config.quotas.pieces && !import.joins(data) {
            return Err(Refusal::Pieces);
        }
        import.heard_at = self.alarms.read(now);
        let before = import.pieces();
        let (service, red) = (import.service, data.is_red());
        let events = &mut self.events;
        import.take(data, |(from, to)| events.push_back(Event::Arrived { session, service, from, to, red }));
        self.pieces = self.pieces + import.pieces() - before;
        if let Some(length) = import.red_is_here().filter(|length| *length > 0 && !import.red_done) {
            import.red_done = true;
            let ends_block = import.is_red_only();
            self.events.push_back(Event::RedPart { session, service, length, ends_block });
        }
        let asked = data.checkpoint().map(|checkpoint| checkpoint.serial);
        let reported = asked.map_or(Ok(()), |serial| self.on_checkpoint(now, session.number, data, serial));
        self.close_if_over(session.number);
        reported
    }
    fn on_checkpoint(&mut self, now: Instant, number: u64, data: &Data, serial: u64) -> Result<(), Refusal> {
        let Some(import) = self.imports.get_mut(&number) else { return Ok(()) };
        if let Some(answers) = import.answers_to(serial) {
            self.repeat_reports(now, number, answers);
            return Ok(());
        }
        let most = self.config.quotas.reports.saturating_sub(self.reports);
        let serials = import.report_on(data, &self.config, most)?;
        let fruitless = import.fruitless;
        if data.checkpoint().is_some_and(|checkpoint| checkpoint.report == 0) {
            let (lost, sent) = import.lacking(serials);
            let segments = |bytes: u64| bytes as f64 / self.config.segment as f64;
            self.copies.on_told(segments(lost), segments(sent));
        }
        self.queue_reports(number, serials);
        if fruitless > self.config.cycles {
            self.cancel_import(number, Reason::Cycles);
        }
        Ok(())
    }
    pub(super) fn queue_reports(&mut self, number: u64, (first, behind): (u64, u64)) {
        let Some(import) = self.imports.get_mut(&number) else { return };
        for serial in first..behind {
            if let Some(told) = import.told.get_mut(&serial) {
                told.queued = true;
                self.reports += 1;
                self.waiting.push_back(Waiting::Report(number, serial));
            }
        }
    }
    /// A checkpoint came again: its reports may be lost (section 6.8), unless they have only just left.
    fn repeat_reports(&mut self, now: Instant, number: u64, (first, behind): (u64, u64)) {
        let (margin, most) = (self.config.margin, self.config.tries);
        let Some(import) = self.imports.get_mut(&number) else { return };
        let mut spent = false;
        for (serial, told) in import.told.range_mut(first..behind) {
            if !told.queued && told.sent_at.is_some_and(|at| now - at >= margin) {
                spent |= told.tries >= most;
                told.queued = true;
                self.waiting.push_back(Waiting::Report(number, *serial));
            }
        }
        if spent {
            self.cancel_import(number, Reason::Repeated);
        }
    }
    fn on_report_ack(&mut self, now: Instant, number: u64, serial: u64) -> Result<(), Refusal> {
        let Some(import) = self.imports.get_mut(&number) else { return Err(Refusal::Unknown) };
        let before = import.pieces();
        let Some(told) = import.acknowledge(serial) else { return Err(Refusal::NeverSent) };
        self.pieces = self.pieces + import.pieces() - before;
        import.heard_at = self.alarms.read(now);
        self.reports -= 1;
        self.alarms.clear(told.expires, Alarm::Report(number, serial));
        if let Some(sent_at) = told.sent_at.filter(|_| told.tries == 1) {
            self.rto.measure(now - sent_at);
        }
        self.close_if_over(number);
        Ok(())
    }
    fn close_if_over(&mut self, number: u64) {
        let over = |import: &Import| import.cancelling.is_none() && import.is_over();
        if self.imports.get(&number).is_some_and(over)
            && let Some(import) = self.close_import(number)
        {
            self.events.push_back(Event::Closed(import.id));
        }
    }
    pub(super) fn close_import(&mut self, number: u64) -> Option<Import> {
        let import = self.imports.remove(&number)?;
        self.quieten_import(&import);
        self.remember_closed(number);
        Some(import)
    }
    /// Sessions are numbered in a row, mostly, so that many are one run. The lowest are the oldest.
    fn remember_closed(&mut self, number: u64) {
        self.closed.insert(number, number.saturating_add(1));
        if self.closed.len() > self.config.quotas.closed
            && let Some(first) = self.closed.first()
        {
            self.closed.remove_below(first.1);
        }
    }
    fn quieten_import(&mut self, import: &Import) {
        let number = import.id.number;
        self.pieces -= import.pieces();
        self.reports -= import.told.len();
        for (serial, told) in &import.told {
            self.alarms.clear(told.expires, Alarm::Report(number, *serial));
        }
        self.alarms.clear(import.watches.idle, Alarm::Idle(number));
        self.alarms.clear(import.watches.unasked, Alarm::Unasked(number));
        let cancel = import.cancelling.and_then(|cancelling| cancelling.expires);
        self.alarms.clear(cancel, Alarm::CancelImport(number));
    }
    pub(super) fn cancel_import(&mut self, number: u64, reason: Reason) -> bool {
        let Some(import) = self.imports.remove(&number) else { return false };
        if import.cancelling.is_some() {
            self.imports.insert(number, import);
            return false;
        }
        self.quieten_import(&import);
        let mut bare = Import::new(import.id, import.service, 1, import.heard_at);
        bare.cancelling = Some(Cancelling::new(reason));
        self.imports.insert(number, bare);
        self.waiting.push_back(Waiting::Cancel(End::Receiver, number));
        self.events.push_back(Event::Cancelled { session: import.id, by: End::Receiver, reason });
        true
    }

    // --- cancellation ------------------------------------------------------------------------

    fn on_cancel(&mut self, session: SessionId, by: End, reason: Reason) -> Result<(), Refusal> {
        let (id, was_cancelling) = match by {
            End::Sender => match self.close_import(session.number) {
                Some(import) => (Some(import.id), import.cancelling.is_some()),
                None => {
                    // Data that come later do not open it.
                    self.remember_closed(session.number);
                    (None, false)
                }
            },
            End::Receiver => {
                let export = self.close_export(session.number);
                (export.as_ref().map(|export| export.id), export.is_some_and(|one| one.cancelling.is_some()))
            }
        };
        if let Some(session) = id.filter(|_| !was_cancelling) {
            self.events.push_back(Event::Cancelled { session, by, reason });
        }
        // Whether or not there is such a session: an acknowledgement may have been lost (section 6.17).
        self.answer(session, Content::CancelAck(by))
    }
    fn on_cancel_ack(&mut self, now: Instant, number: u64, by: End) -> Result<(), Refusal> {
        if by == End::Sender && self.on_probe_answer(now, number) {
            return Ok(());
        }
        let cancelled = match by {
            End::Sender => self.exports.get(&number).and_then(|export| export.cancelling),
            End::Receiver => self.imports.get(&number).and_then(|import| import.cancelling),
        };
        cancelled.ok_or(Refusal::Unknown)?;
        match by {
            End::Sender => drop(self.close_export(number)),
            End::Receiver => drop(self.close_import(number)),
        }
        Ok(())
    }
}
