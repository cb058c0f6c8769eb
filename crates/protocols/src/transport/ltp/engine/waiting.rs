//! What happens when no answer comes.

use super::super::alarms::Alarm;
use super::super::export::Cancelling;
use super::super::{End, Event, Reason};
use super::{Engine, Waiting};
use crate::time::{Duration, Instant};

impl Engine {
    pub(super) fn on_alarm(&mut self, now: Instant, alarm: Alarm) {
        match alarm {
            Alarm::Checkpoint(number, serial) => self.on_unanswered_checkpoint(now, number, serial),
            Alarm::Report(number, serial) => self.on_unanswered_report(number, serial),
            Alarm::Stalled(number) => {
                if let Some(export) = self.exports.get_mut(&number) {
                    export.stalled = None;
                    if export.is_stalled() {
                        export.repair_all();
                        self.after_report(now, number);
                    }
                }
            }
            Alarm::Probe(number) => self.on_unanswered_probe(now, number),
            Alarm::CancelExport(number) => {
                let cancelling = self.exports.get_mut(&number).and_then(|one| one.cancelling.as_mut());
                match expired(cancelling, self.config.tries) {
                    true => drop(self.close_export(number)),
                    false => self.waiting.push_back(Waiting::Cancel(End::Sender, number)),
                }
            }
            Alarm::CancelImport(number) => {
                let cancelling = self.imports.get_mut(&number).and_then(|one| one.cancelling.as_mut());
                match expired(cancelling, self.config.tries) {
                    true => drop(self.close_import(number)),
                    false => self.waiting.push_back(Waiting::Cancel(End::Receiver, number)),
                }
            }
            Alarm::Unasked(number) => self.on_unasked(now, number),
            Alarm::Idle(number) => self.on_idle(now, number),
        }
    }
    fn on_unanswered_checkpoint(&mut self, now: Instant, number: u64, serial: u64) {
        let Some(export) = self.exports.get_mut(&number) else { return };
        let Some(asked) = export.asked.get_mut(&serial) else { return };
        asked.expires = None;
        self.counts.timeouts += 1;
        let is_enough = asked.is_answered_in_part();
        if export.take_part(serial) || is_enough {
            export.asked.remove(&serial);
            self.asking -= 1;
            self.after_report(now, number);
            return;
        }
        let Some(asked) = export.asked.get_mut(&serial) else { return };
        if asked.tries >= self.config.tries {
            self.cancel_export(number, Reason::Repeated);
            return;
        }
        asked.queued = true;
        let (order, lost) = (asked.marks.order, asked.data.length);
        self.pace.silence(now, order, lost);
        self.waiting.push_back(Waiting::Checkpoint(number, serial));
    }
    fn on_unanswered_report(&mut self, number: u64, serial: u64) {
        let Some(import) = self.imports.get_mut(&number) else { return };
        let Some(told) = import.told.get_mut(&serial) else { return };
        told.expires = None;
        self.counts.timeouts += 1;
        if told.tries >= self.config.tries {
            self.cancel_import(number, Reason::Repeated);
            return;
        }
        if !told.queued {
            told.queued = true;
            self.waiting.push_back(Waiting::Report(number, serial));
        }
    }
    /// The red part is not here, its end is not known, and something has come since the last report.
    fn on_unasked(&mut self, now: Instant, number: u64) {
        let Some(import) = self.imports.get_mut(&number) else { return };
        import.watches.unasked = None;
        let Some(every) = self.config.report_every.filter(|_| import.red_end.is_none()) else { return };
        import.watches.unasked = Some(self.alarms.set(now, every, Alarm::Unasked(number)));
        if import.has_news() {
            let most = self.config.quotas.reports.saturating_sub(self.reports);
            if let Ok(serials) = import.report_unasked(&self.config, most) {
                self.queue_reports(number, serials);
            }
        }
    }
    fn on_idle(&mut self, now: Instant, number: u64) {
        let clock = self.alarms.read(now);
        let Some(import) = self.imports.get_mut(&number) else { return };
        let left = import.heard_at.saturating_add(self.config.idle) - clock;
        if left > Duration::ZERO {
            import.watches.idle = Some(self.alarms.set(now, left, Alarm::Idle(number)));
            return;
        }
        import.watches.idle = None;
        // Green data are not repaired: a block that misses only green data is closed.
        if import.red_end.is_none_or(|end| import.red.total() < end) && !import.red.is_empty() {
            self.cancel_import(number, Reason::System);
        } else if let Some(import) = self.close_import(number) {
            self.events.push_back(Event::Closed(import.id));
        }
    }
}

/// A cancellation is not acknowledged: whether that is enough.
fn expired(cancelling: Option<&mut Cancelling>, most: u32) -> bool {
    cancelling.is_none_or(|cancelling| {
        (cancelling.expires, cancelling.queued) = (None, true);
        cancelling.tries >= most
    })
}
