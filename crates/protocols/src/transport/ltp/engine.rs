//! One end of a link: sessions, what leaves next, and what to wait for.

use super::alarms::{Alarm, Alarms, Way};
use super::export::{Cancelling, Export, first_serial};
use super::import::Import;
use super::pace::Pace;
use super::{
    Config, Content, Counts, Data, End, Event, Reason, Refusal, Report, Segment, SessionId, UDP_HEADER,
    Unsendable,
};
use crate::controllers::Controller;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::trace::Observation;
use crate::transport::Machine;
use crate::transport::ranges::Ranges;
use crate::transport::rto::{Rto, Timers};
use crate::units::{BitRate, Bytes};
use std::collections::{BTreeMap, VecDeque};

/// What waits to leave before any data.
#[derive(Clone, Debug)]
enum Waiting {
    /// An acknowledgement.
    Answer(Segment),
    /// A checkpoint once more.
    Checkpoint(u64, u64),
    /// A report.
    Report(u64, u64),
    /// A cancellation of a session of our own.
    CancelExport(u64),
    /// A cancellation of a session of the peer.
    CancelImport(u64),
}

/// One end of a link.
pub struct Engine {
    config: Config,
    pace: Pace,
    alarms: Alarms,
    rto: Rto,
    light: Option<Duration>,
    exports: BTreeMap<u64, Export>,
    imports: BTreeMap<u64, Import>,
    /// Closed sessions of the peer.
    closed: Ranges,
    next_session: u64,
    waiting: VecDeque<Waiting>,
    answers: usize,
    /// Sessions with repairs, and with data that have not left yet, in the order in which they may send.
    repairing: VecDeque<u64>,
    fresh: VecDeque<u64>,
    events: VecDeque<Event>,
    refusals: BTreeMap<Refusal, u64>,
    counts: Counts,
    pieces: usize,
    reports: usize,
    /// Checkpoints of all sessions whose reports have not come.
    asking: usize,
    /// When the rate lets the next segment of data leave, if nothing else keeps it.
    waits_until: Option<Instant>,
    draws: Stream,
}

/// Tries after which the wait for an answer is doubled each time: whoever does not answer may be far.
const TRIES_ALIKE: u32 = 2;
/// More doublings change nothing.
const DOUBLINGS_MOST: u32 = 6;
/// Longest block.
const BLOCK_MOST: u64 = 1 << 62;

// --- what clients and drivers say ------------------------------------------------------------

impl Engine {
    /// With no session.
    pub fn new(config: Config, controller: Box<dyn Controller>) -> Self {
        let mut draws = Stream::new(config.seed, "ltp", config.engine);
        let rto = Timers {
            first: config.first_wait,
            margin: config.margin,
            least: Duration::ZERO,
            most: Duration::MAX,
        };
        Self {
            pace: Pace::new(controller, config.slack),
            alarms: Alarms::default(),
            rto: Rto::new(rto),
            light: config.light,
            exports: BTreeMap::new(),
            imports: BTreeMap::new(),
            closed: Ranges::default(),
            // Four bytes on the wire, and far from where it would wrap.
            next_session: 1 + draws.below(1 << 27),
            waiting: VecDeque::new(),
            answers: 0,
            repairing: VecDeque::new(),
            fresh: VecDeque::new(),
            events: VecDeque::new(),
            refusals: BTreeMap::new(),
            counts: Counts::default(),
            pieces: 0,
            reports: 0,
            asking: 0,
            waits_until: None,
            draws,
            config,
        }
    }
    /// Sends a block of so many red bytes and so many green ones behind them to a client service; gives
    /// the session.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn send(&mut self, service: u64, red: u64, green: u64) -> Result<SessionId, Unsendable> {
        let total = red.checked_add(green).filter(|total| *total <= BLOCK_MOST).ok_or(Unsendable::TooLong)?;
        if total == 0 {
            return Err(Unsendable::Empty);
        }
        if self.exports.len() >= self.config.quotas.exports {
            return Err(Unsendable::Busy);
        }
        let id = SessionId { originator: self.config.engine, number: self.next_session };
        let serial = first_serial(&mut self.draws);
        let export =
            Export::new(id, service, [red, green], serial, &self.config).ok_or(Unsendable::NoRoom)?;
        self.next_session += 1;
        self.exports.insert(id.number, export);
        self.fresh.push_back(id.number);
        Ok(id)
    }
    /// Gives a session up (section 6.19); tells whether there was one.
    pub fn cancel(&mut self, session: SessionId, reason: Reason) -> bool {
        if session.originator == self.config.engine {
            self.cancel_export(session.number, reason)
        } else {
            session.originator == self.config.peer && self.cancel_import(session.number, reason)
        }
    }
    /// A direction of the link is up from now on. The link is up until something else is said.
    pub fn link_up(&mut self, now: Instant, way: Way) {
        self.alarms.turn(now, way, true);
    }
    /// A direction of the link is down from now on: nothing leaves while ours is, and all timers stand
    /// still while either is.
    pub fn link_down(&mut self, now: Instant, way: Way) {
        self.alarms.turn(now, way, false);
    }
    /// What the contact plan says of the rate from now on; zero: no contact.
    pub fn on_plan(&mut self, now: Instant, rate: BitRate) {
        self.alarms.turn(now, Way::Out, rate > BitRate(0));
        self.pace.controller.on_plan(now, rate);
    }
    /// Light takes so long there and back from now on.
    pub fn on_light(&mut self, round_trip: Duration) {
        self.light = Some(round_trip);
    }
    /// What clients are to be told; to be asked after everything that comes and after every poll, until
    /// there is none.
    pub fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    /// Sessions that are open: our own, and the peer's.
    pub fn sessions(&self) -> (usize, usize) {
        (self.exports.len(), self.imports.len())
    }
    /// Red bytes of a block of our own that are there; none when the session is closed.
    pub fn acked(&self, session: SessionId) -> Option<Bytes> {
        self.exports.get(&session.number).filter(|export| export.id == session).map(|one| Bytes(one.acked()))
    }
    /// Red bytes under way.
    pub fn in_flight(&self) -> Bytes {
        Bytes(self.pace.in_flight)
    }
    /// What it has done.
    pub fn counts(&self) -> Counts {
        Counts { episodes: self.pace.episodes, ..self.counts }
    }
    /// How often segments were refused, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (Refusal, u64)> + '_ {
        self.refusals.iter().map(|(refusal, count)| (*refusal, *count))
    }
    /// What plots and traces can see.
    pub fn observe(&self, seen: &mut Observation) {
        self.pace.controller.observe(seen);
        seen.push(("in_flight", self.pace.in_flight as f64));
        seen.push(("sessions", (self.exports.len() + self.imports.len()) as f64));
    }
    /// How long to wait for an answer to what was sent `tries` times.
    fn wait(&self, tries: u32) -> Duration {
        let planned = self.light.map(|light| light.saturating_add(self.config.margin));
        let measured = self.rto.smoothed().map(|_| self.rto.span());
        let span = planned.max(measured).unwrap_or(self.config.first_wait);
        let doublings = tries.saturating_sub(TRIES_ALIKE).min(DOUBLINGS_MOST);
        Duration::from_nanos(span.as_nanos().saturating_mul(1 << doublings))
    }
}

// --- what comes ------------------------------------------------------------------------------

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
            Content::CancelAck(by) => self.on_cancel_ack(session.number, *by),
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
            // The peer has not heard that we have: it is told again (section 6.13).
            return self.answer(session, Content::ReportAck(report.serial));
        };
        if export.has_heard(report.serial) || export.cancelling.is_some() {
            return self.answer(session, Content::ReportAck(report.serial));
        }
        let answer = export.hear(now, report)?;
        if let Some((expires, serial)) = answer.timer {
            self.asking -= 1;
            self.alarms.clear(expires, Alarm::Checkpoint(session.number, serial));
        }
        if let Some(rtt) = answer.rtt {
            self.rto.measure(rtt);
        }
        self.pace.answer(now, &answer);
        let acknowledged = self.answer(session, Content::ReportAck(report.serial));
        self.after_report(now, session.number);
        acknowledged
    }
    fn after_report(&mut self, now: Instant, number: u64) {
        let Some(export) = self.exports.get_mut(&number) else { return };
        if export.is_complete() {
            return self.complete(number);
        }
        if export.fruitless > self.config.cycles {
            self.cancel_export(number, Reason::Cycles);
            return;
        }
        if export.wants_repair() && !self.repairing.contains(&number) {
            self.repairing.push_back(number);
        }
        self.watch_stall(now, number);
    }
    /// Other reports of a row may be still under way; if none comes, all that lacks is repaired.
    fn watch_stall(&mut self, now: Instant, number: u64) {
        let after = self.wait(1);
        if let Some(export) = self.exports.get_mut(&number)
            && export.is_stalled()
            && export.stalled.is_none()
        {
            export.stalled = Some(self.alarms.set(now, after, Alarm::Stalled(number)));
        }
    }
    fn complete(&mut self, number: u64) {
        if let Some(export) = self.close_export(number) {
            self.events.push_back(Event::Sent(export.id));
        }
    }
    fn close_export(&mut self, number: u64) -> Option<Export> {
        let export = self.exports.remove(&number)?;
        self.quieten_export(&export);
        self.pace.forget(export.in_flight());
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
    fn cancel_export(&mut self, number: u64, reason: Reason) -> bool {
        let Some(export) = self.exports.remove(&number) else { return false };
        if export.cancelling.is_some() {
            self.exports.insert(number, export);
            return false;
        }
        self.quieten_export(&export);
        self.pace.forget(export.in_flight());
        let id = export.id;
        // Nothing of the block is needed any more.
        self.exports.insert(number, Export::cancelled(id, reason));
        self.waiting.push_back(Waiting::CancelExport(number));
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
        for (from, to) in import.take(data) {
            self.events.push_back(Event::Arrived { session, service, from, to, red });
        }
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
        self.queue_reports(number, serials);
        if fruitless > self.config.cycles {
            self.cancel_import(number, Reason::Cycles);
        }
        Ok(())
    }
    fn queue_reports(&mut self, number: u64, (first, behind): (u64, u64)) {
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
        let margin = self.config.margin;
        let Some(import) = self.imports.get_mut(&number) else { return };
        for (serial, told) in import.told.range_mut(first..behind) {
            if !told.queued && told.sent_at.is_some_and(|at| now - at >= margin) {
                told.queued = true;
                self.waiting.push_back(Waiting::Report(number, *serial));
            }
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
    fn close_import(&mut self, number: u64) -> Option<Import> {
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
    fn cancel_import(&mut self, number: u64, reason: Reason) -> bool {
        let Some(import) = self.imports.remove(&number) else { return false };
        if import.cancelling.is_some() {
            self.imports.insert(number, import);
            return false;
        }
        self.quieten_import(&import);
        let mut bare = Import::new(import.id, import.service, 1, import.heard_at);
        bare.cancelling = Some(Cancelling { reason, tries: 0, expires: None });
        self.imports.insert(number, bare);
        self.waiting.push_back(Waiting::CancelImport(number));
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
    fn on_cancel_ack(&mut self, number: u64, by: End) -> Result<(), Refusal> {
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

// --- alarms ----------------------------------------------------------------------------------

impl Engine {
    fn on_alarm(&mut self, now: Instant, alarm: Alarm) {
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
            Alarm::CancelExport(number) => {
                let cancelling = self.exports.get_mut(&number).and_then(|one| one.cancelling.as_mut());
                match expired(cancelling, self.config.tries) {
                    true => drop(self.close_export(number)),
                    false => self.waiting.push_back(Waiting::CancelExport(number)),
                }
            }
            Alarm::CancelImport(number) => {
                let cancelling = self.imports.get_mut(&number).and_then(|one| one.cancelling.as_mut());
                match expired(cancelling, self.config.tries) {
                    true => drop(self.close_import(number)),
                    false => self.waiting.push_back(Waiting::CancelImport(number)),
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
        if asked.tries >= self.config.tries {
            self.cancel_export(number, Reason::Repeated);
            return;
        }
        asked.queued = true;
        let (order, lost) = (asked.order, asked.data.length);
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
        // Green data are not missed: a block of which only such lack is done with.
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
        cancelling.expires = None;
        cancelling.tries >= most
    })
}

// --- what leaves -----------------------------------------------------------------------------

impl Engine {
    /// The next segment that is no new data.
    fn poll_waiting(&mut self, now: Instant) -> Option<Segment> {
        while let Some(next) = self.waiting.pop_front() {
            let sent = match next {
                Waiting::Answer(segment) => {
                    self.answers -= 1;
                    Some(segment)
                }
                Waiting::Checkpoint(number, serial) => self.repeat_checkpoint(now, number, serial),
                Waiting::Report(number, serial) => self.tell(now, number, serial),
                Waiting::CancelExport(number) => {
                    let wait = self.wait(1);
                    let export = self.exports.get_mut(&number);
                    let set = |alarms: &mut Alarms| alarms.set(now, wait, Alarm::CancelExport(number));
                    export.and_then(|export| {
                        let reason = export.cancelling.as_mut()?.leave(|| set(&mut self.alarms));
                        Some(Segment { session: export.id, content: Content::Cancel(End::Sender, reason) })
                    })
                }
                Waiting::CancelImport(number) => {
                    let wait = self.wait(1);
                    let import = self.imports.get_mut(&number);
                    let set = |alarms: &mut Alarms| alarms.set(now, wait, Alarm::CancelImport(number));
                    import.and_then(|import| {
                        let reason = import.cancelling.as_mut()?.leave(|| set(&mut self.alarms));
                        Some(Segment { session: import.id, content: Content::Cancel(End::Receiver, reason) })
                    })
                }
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
    fn repeat_checkpoint(&mut self, now: Instant, number: u64, serial: u64) -> Option<Segment> {
        let export = self.exports.get(&number)?;
        let tries = export.asked.get(&serial)?.tries + 1;
        let wait = self.wait(tries);
        let export = self.exports.get_mut(&number)?;
        let asked = export.asked.get_mut(&serial)?;
        if asked.queued {
            asked.queued = false;
            asked.tries = tries;
            self.alarms.clear(asked.expires, Alarm::Checkpoint(number, serial));
            asked.expires = Some(self.alarms.set(now, wait, Alarm::Checkpoint(number, serial)));
        }
        self.counts.sent += 1;
        self.counts.repairs += 1;
        Some(Segment { session: export.id, content: Content::Data(asked.data) })
    }
    fn tell(&mut self, now: Instant, number: u64, serial: u64) -> Option<Segment> {
        let tries = self.imports.get(&number)?.told.get(&serial)?.tries + 1;
        let wait = self.wait(tries);
        let import = self.imports.get_mut(&number)?;
        let told = import.told.get_mut(&serial)?;
        self.counts.reports += 1;
        if std::mem::take(&mut told.queued) {
            told.tries = tries;
            told.sent_at = Some(now);
            self.alarms.clear(told.expires, Alarm::Report(number, serial));
            told.expires = Some(self.alarms.set(now, wait, Alarm::Report(number, serial)));
            let copies = self.config.copies.saturating_sub(1);
            (0..copies).for_each(|_| self.waiting.push_back(Waiting::Report(number, serial)));
        }
        Some(Segment { session: import.id, content: Content::Report(told.report.clone()) })
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
    /// opens it.
    fn turn_of(&self, export: &Export) -> Option<(Instant, bool)> {
        let due = self.pace.due();
        let full = export.next_is_red() && !self.pace.has_room(export.next_length());
        match (full || due == Instant::MAX, self.asking) {
            (true, 0) if export.next_is_red() => Some((Instant::ZERO, true)),
            (true, _) => None,
            (false, _) => {
                Some((due, !self.pace.has_room(export.next_length().saturating_add(export.payload))))
            }
        }
    }
    fn poll_data(&mut self, now: Instant) -> Option<Segment> {
        self.waits_until = None;
        let number = self.next_session()?;
        let export = self.exports.get(&number)?;
        let (due, asks) = self.turn_of(export)?;
        if due > now {
            self.waits_until = Some(due);
            return None;
        }
        let red = if export.next_is_red() { export.next_length() } else { 0 };
        let export = self.exports.get_mut(&number)?;
        let leaving = export.leave(&self.config, asks);
        let segment = Segment { session: export.id, content: Content::Data(leaving.data) };
        let link = self.on_link(&segment);
        self.pace.leave(now, red, link);
        self.counts.sent += 1;
        self.counts.repairs += u64::from(leaving.repair);
        if let Some(checkpoint) = leaving.data.checkpoint() {
            self.ask(now, number, leaving.data, checkpoint.serial);
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
        let wait = self.wait(1);
        let marks = (self.pace.order, self.pace.delivered);
        let Some(export) = self.exports.get_mut(&number) else { return };
        export.ask(now, data, serial, marks);
        if let Some(asked) = export.asked.get_mut(&serial) {
            asked.expires = Some(self.alarms.set(now, wait, Alarm::Checkpoint(number, serial)));
        }
        let copies = self.config.copies.saturating_sub(1);
        (0..copies).for_each(|_| self.waiting.push_back(Waiting::Checkpoint(number, serial)));
    }
}

impl Machine for Engine {
    type Input = Segment;
    type Output = Segment;

    fn handle(&mut self, now: Instant, segment: Segment) {
        // Why it changes nothing is counted.
        let _ = self.receive(now, &segment);
    }
    fn poll(&mut self, now: Instant) -> Option<Segment> {
        while let Some(alarm) = self.alarms.take(now) {
            self.on_alarm(now, alarm);
        }
        if self.pace.controller.deadline().is_some_and(|at| at <= now) {
            self.pace.controller.on_deadline(now);
        }
        if !self.alarms.is_up(Way::Out) {
            return None;
        }
        let waiting = self.poll_waiting(now);
        waiting.or_else(|| self.poll_data(now))
    }
    fn deadline(&self) -> Option<Instant> {
        let paced = self.waits_until.filter(|_| self.alarms.is_up(Way::Out));
        [self.alarms.next(), self.pace.controller.deadline(), paced].into_iter().flatten().min()
    }
}
