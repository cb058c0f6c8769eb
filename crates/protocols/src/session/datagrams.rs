//! UDPDTN as a stack of connections: frames in datagrams, over paths with any loss, delay and reordering.
//!
//! There is no handshake: the first datagram carries frames. The other side's reports pace later datagrams
//! through the given [`Controller`]. A lost datagram is found by others sent at about the same time
//! ([`super::waiting`]), and its frames are sent again. Without an answer, only probes leave.

use super::Stack;
use super::connections::{Session, Ticket};
use super::heard::Heard;
use super::loss_meter::Fate;
use super::policy::DatagramsContext;
use super::train::Trains;
use super::waiting::{Came, Sent, Waiting};
use crate::controllers::{Ack, Cause, Controller, ControllerEvent, Loss, Sent as Left, Window};
use crate::record::Observation;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::transport::observe;
use crate::transport::report_interval::ReportInterval;
use crate::units::{BitRate, Bytes};
use crate::wire::session::{Epoch, Frame, Head, Malformed, Note, Report, Serial, TARGET_MAX};
use std::collections::VecDeque;

/// The time between the first reports while the other side knows no round trip, and how often a report makes it four times as long.
const REPORT_FIRST: Duration = Duration::from_nanos(50_000_000);
const REPORT_GROWS: u32 = 8;
/// Pacing debt up to this is made up in one burst.
const SLACK: Duration = Duration::from_nanos(1_000_000);
/// Probes sent after the last datagram of a burst, this far apart: if they arrive and it does not, it is
/// lost.
const TAIL: u32 = 3;
const TAIL_EVERY: Duration = Duration::from_nanos(300_000_000);
/// The timeout before a round trip is known.
const SILENCE_FIRST: Duration = Duration::from_secs(30);
/// Longest backed-off timeout, unless the round trip requires more.
const SILENCE_MOST: Duration = Duration::from_secs(120);
/// Beyond a round trip, for clocks and schedulers.
const MARGIN: Duration = Duration::from_secs(1);
/// Before a round trip is known, a side without an answer for this time may be gone: new connections wait.
const UNHEARD_FIRST: Duration = Duration::from_secs(3);
/// A round trip measured longer ago, and two reports ago, is out of date.
const NEWS: Duration = Duration::from_secs(2);
/// The other side's epoch is requested after this many seconds, doubled up to `ASK_EPOCH_DOUBLED` times.
const ASK_EPOCH: f64 = 1.0;
const ASK_EPOCH_DOUBLED: u32 = 6;
/// At most this number of greetings within `GREET_OVER`: replayed datagrams must not cost much.
const GREET_MOST: usize = 16;
const GREET_OVER: Duration = Duration::from_secs(1);
/// A head with the longest report.
const HEAD_MAX: usize = 2 + 5 + 10 * 4 + 1 + 20 * crate::wire::session::RUNS_MAX;

/// In less room nothing more is packed: a piece of a stream that small is hardly more than its head.
const ROOM_LEAST: usize = Frame::OVERHEAD_MAX + 64;

/// One in this many datagrams carries the sender's epoch although it is known: the peer may have restarted.
const WHOLE_EVERY: u64 = 16;

/// How a stack of datagrams is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Its name.
    pub stack: Stack,
    /// This epoch of the daemon.
    pub epoch: Epoch,
    /// The latest epoch of the other side that an earlier epoch of this daemon knew, if any: datagrams are
    /// bound to it until another one is heard.
    pub peer: Option<Epoch>,
    /// Bytes of a datagram at most, without its whole [`Serial`]; [`DATAGRAM_LEAST`] at least.
    pub datagram: usize,
    /// What each has on the link besides, that included.
    pub headers: Bytes,
}

impl Config {
    /// What one has on the link besides.
    fn headers_of(&self, serial: Serial) -> usize {
        self.headers.0 as usize + serial.length() - Serial::WHOLE
    }
}

/// How much it has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams with frames that left.
    pub sent: u64,
    /// Those of them that were given up, rightly or not.
    pub lost: u64,
}

/// What became of a datagram that came and is authentic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramArrival {
    /// It was made for this epoch by the latest epoch of the other side.
    Accepted {
        /// None with a higher number has come.
        is_newest: bool,
        /// What it says about epochs and paths.
        note: Option<Note>,
    },
    /// It came before, as a copy or by a path that repeats. It has changed nothing.
    Repeated,
    /// It was made for another epoch of this daemon, for none, or by an epoch of the other side that is not
    /// the latest one. It has changed nothing; [`Datagrams::greet`] answers it.
    Stale,
}

/// A stack that carries frames in datagrams.
///
/// Both sides have an [`Epoch`], and each datagram is bound to the epoch of its receiver: the receiver acts
/// on those alone that were made for its present epoch. Whatever was recorded before it began is
/// [`DatagramArrival::Stale`], though nothing of earlier epochs is remembered. The price: a side that does not know
/// the other's present epoch must hear of it before what it sends is of use. Until then only questions leave,
/// in [`Datagrams::poll`], and the other side answers them by [`Datagrams::greet`].
pub struct Datagrams {
    config: Config,
    controller: Box<dyn Controller>,
    waiting: Waiting,
    number: u64,
    /// Earliest departure of the next one.
    next_at: Instant,
    /// Earliest departure of one without data: a notice can wait for others.
    notices_at: Instant,
    heard: Heard,
    /// The latest epoch of the other side that is known.
    peer: Option<Epoch>,
    /// When to ask for the other side's epoch, and how often that was done.
    asks_epoch: (Instant, u32),
    /// When the last greetings left, the oldest first.
    greeted: VecDeque<Instant>,
    /// The epoch of the other side that has heard of this one.
    known_to: Option<u32>,
    /// Highest and count of the last report.
    reported: (Option<u64>, u64),
    rtt: Option<Duration>,
    /// How often the other side must report, and how often it asks for reports.
    reports: ReportInterval,
    trains: Trains,
    wanted: Option<Duration>,
    /// The longest of late, and when it was seen.
    rtt_most: (Duration, Instant),
    /// When that was.
    measured: Option<Instant>,
    heard_at: Instant,
    /// Since when something has been in flight at all times.
    waits_since: Option<Instant>,
    counts: Counts,
    newest_left: Instant,
    delivered: u64,
    /// Losses of what left before this are answered.
    answered: Option<Instant>,
    /// When the timeout for an answer expires, and how often it has in a row.
    silence: Option<Instant>,
    asked: u32,
    /// May leave whatever the controller says.
    questions: u32,
    /// A datagram must leave even if it carries nothing.
    probes: bool,
    /// Probes still to send after the last datagram of a burst, and when the next one leaves.
    tail: (u32, Instant),
    /// Jitter of probes: contacts may be periodic.
    draws: Stream,
}

impl Datagrams {
    /// Before anything was sent.
    pub fn new(config: Config, controller: Box<dyn Controller>) -> Self {
        let config = Config { datagram: config.datagram.max(DATAGRAM_LEAST), ..config };
        Self {
            config,
            controller,
            waiting: Waiting::default(),
            number: 0,
            next_at: Instant::ZERO,
            notices_at: Instant::ZERO,
            heard: Heard::default(),
            peer: config.peer,
            asks_epoch: (Instant::ZERO, 0),
            greeted: VecDeque::new(),
            known_to: None,
            reported: (None, 0),
            rtt: None,
            reports: ReportInterval::default(),
            trains: Trains::default(),
            wanted: None,
            rtt_most: (Duration::ZERO, Instant::ZERO),
            measured: None,
            heard_at: Instant::ZERO,
            waits_since: None,
            counts: Counts::default(),
            newest_left: Instant::ZERO,
            delivered: 0,
            answered: None,
            silence: None,
            asked: 0,
            questions: 0,
            probes: false,
            tail: (0, Instant::ZERO),
            draws: Stream::new(config.epoch.number.into(), "questions", config.stack.0.into()),
        }
    }

    /// The last round trip.
    pub fn round_trip(&self) -> Option<Duration> {
        self.rtt
    }
    /// Whether a datagram is unacknowledged.
    pub fn is_waiting(&self) -> bool {
        self.waiting.first().is_some()
    }
    /// Requests an answer even with nothing to carry: so the path is measured before it is used.
    pub fn probe(&mut self) {
        self.probes = true;
    }
    /// Takes over from another stack that reached a rate: with its own controller, or with a fresh one where that
    /// knows less. Datagrams stay in flight.
    pub fn continue_from(&mut self, now: Instant, fresh: Option<Box<dyn Controller>>, carried: BitRate) {
        if let Some(controller) = fresh {
            self.controller = controller;
        }
        self.controller.on_event(now, &ControllerEvent::Handover(carried));
        self.next_at = now;
        (self.asked, self.questions) = (0, 0);
        // Connections leave another stack because the round trip has changed.
        (self.rtt, self.rtt_most) = (None, (Duration::ZERO, now));
        self.silence = self.waiting.first().map(|_| now.saturating_add(self.silence_span()));
    }

    /// Sending rate, headers of the link included; `None`: limited by the window alone.
    pub fn rate(&self) -> Option<BitRate> {
        self.controller.rate()
    }
    /// A rate at which they are known to get through.
    pub fn found(&self) -> Option<BitRate> {
        self.controller.advice().discovered_rate
    }
    /// Whether this rate, found by a stream, is above the rate found here.
    pub fn is_outdone(&self, rate: BitRate) -> bool {
        self.found().is_none_or(|found| found < rate)
    }

    // --- what is known ------------------------------------------------------------------------

    /// Measurements for the policy.
    pub fn context(&self, now: Instant) -> DatagramsContext {
        let news = NEWS.max(self.report_every() * 2);
        let rtt = self.rtt.filter(|_| self.measured.is_some_and(|at| now - at <= news));
        let fate = Fate { sent: self.counts.sent, lost: self.counts.lost };
        DatagramsContext { rtt, silent: self.silent(now), rate: self.found(), fate }
    }
    fn silent(&self, now: Instant) -> Duration {
        self.waits_since.map_or(Duration::ZERO, |since| now - since.max(self.heard_at))
    }
    /// Whether the other side's answer is overdue, as far as the round trip is known. Then connections that
    /// were never carried wait for it ([`Session::hold_new`]): it may have ended, and its next epoch must not
    /// open a second time what this one may have opened.
    pub fn is_unheard(&self, now: Instant) -> bool {
        self.asked > 0 || (self.rtt.is_none() && self.silent(now) > UNHEARD_FIRST)
    }
    /// After this time datagrams in flight have arrived or are lost: another stack then carries their frames
    /// again.
    pub fn grace(&self) -> Duration {
        self.silence_span()
    }
    /// Its controller.
    pub fn observe(&self, seen: &mut Observation) {
        observe(&*self.controller, self.waiting.bytes() as f64, self.rtt, seen);
    }
    /// Datagrams that were sent, and those that were given up.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    // --- sending ------------------------------------------------------------------------------

    /// The next datagram, if one is due now: frames of the session, a report, or both.
    pub fn poll(&mut self, now: Instant, session: &mut Session, out: &mut Vec<u8>) -> Option<Serial> {
        if self.peer.is_none() {
            return self.poll_unbound(now, session, out);
        }
        session.hold_new(self.config.stack, self.is_unheard(now));
        let reports = self.heard.report_at().is_some_and(|at| at <= now);
        let waits = session.has_frames(self.config.stack);
        if waits && self.asked > 0 && self.silence.is_none() {
            // Nothing is in flight any more, but no answer has arrived yet.
            self.questions = 1;
        }
        let in_time = session.has_data(self.config.stack) || reports || self.notices_at <= now;
        let carries = waits && in_time && self.may_leave(now);
        // Held connections wait for an answer: request one.
        let asks = session.holds(self.config.stack) && self.waiting.first().is_none();
        let mut probes = std::mem::take(&mut self.probes) | asks | self.is_behind(now, waits);
        if !reports && !carries && !probes {
            return None;
        }
        let report = self.heard.report(now).filter(|_| reports || self.heard.has_news());
        let serial = self.serial();
        out.clear();
        self.head(probes, report).write(out);
        let has_data = session.has_data(self.config.stack);
        let tickets = if carries { self.fill(serial, session, out) } else { Vec::new() };
        if tickets.is_empty() && !reports && !probes {
            if self.asked == 0 || !session.holds(self.config.stack) {
                return None;
            }
            // All that waited is held back now: the question leaves without it.
            out.clear();
            probes = true;
            self.head(true, self.heard.report(now).filter(|_| self.heard.has_news())).write(out);
        }
        self.heard.on_reported(now, self.reports_every());
        if !tickets.is_empty() || probes {
            self.on_left(now, out.len() + self.config.headers_of(serial), tickets, has_data);
            self.notices_at = now.saturating_add(self.reports_every().max(self.report_every()));
        }
        self.number += 1;
        Some(serial)
    }
    fn head(&self, asks: bool, report: Option<Report>) -> Head {
        Head { asks, every: self.rtt.map(|_| self.report_every()), report, note: None }
    }
    /// Of the next one.
    fn serial(&self) -> Serial {
        let is_known = self.known_to.is_some() && self.known_to == self.heard.incarnation && self.asked == 0;
        let is_short = is_known && !self.number.is_multiple_of(WHOLE_EVERY);
        let bound = self.peer.map_or(0, |peer| peer.nonce);
        Serial { epoch: self.config.epoch, bound, number: self.number, is_short }
    }
    /// Asks for the other side's epoch, less often each time.
    fn poll_unbound(&mut self, now: Instant, session: &Session, out: &mut Vec<u8>) -> Option<Serial> {
        let (at, asked) = self.asks_epoch;
        if !(session.waits(self.config.stack) || self.probes) || now < at {
            return None;
        }
        self.probes = false;
        let span = ASK_EPOCH * f64::from(1 << asked.min(ASK_EPOCH_DOUBLED)) * self.draws.uniform(0.75, 1.0);
        self.asks_epoch = (now.saturating_add(Duration::from_secs_f64(span)), asked + 1);
        let head = self.head(true, None);
        Some(self.single(head, 0, out))
    }
    /// A datagram by itself, of which no report is awaited.
    fn single(&mut self, head: Head, bound: u64, out: &mut Vec<u8>) -> Serial {
        out.clear();
        head.write(out);
        let number = self.number;
        self.number += 1;
        Serial { epoch: self.config.epoch, bound, number, is_short: false }
    }
    /// The answer to a datagram that was [`DatagramArrival::Stale`], bound to the epoch that made it. It informs that
    /// epoch of this daemon's present one, and of a later epoch of the other side if one is known here.
    /// `None`: too many were answered just now.
    pub fn greet(&mut self, now: Instant, to: Epoch, out: &mut Vec<u8>) -> Option<Serial> {
        while self.greeted.front().is_some_and(|at| now - *at >= GREET_OVER) {
            self.greeted.pop_front();
        }
        if self.greeted.len() >= GREET_MOST {
            return None;
        }
        self.greeted.push_back(now);
        let note = self.peer.filter(|known| *known != to && !known.precedes(to)).map(Note::Known);
        Some(self.single(Head { note, ..self.head(false, None) }, to.nonce, out))
    }
    /// A datagram that challenges a path or answers a challenge. None: the other side's epoch is not known.
    pub fn note(&mut self, note: Note, out: &mut Vec<u8>) -> Option<Serial> {
        let bound = self.peer?.nonce;
        Some(self.single(Head { note: Some(note), ..Head::default() }, bound, out))
    }
    /// Whether a probe after the last datagram of a burst is due.
    fn is_behind(&mut self, now: Instant, waits: bool) -> bool {
        let (left, at) = self.tail;
        if left == 0 || at > now {
            return false;
        }
        let is_tail = !waits && self.asked == 0 && self.waiting.first().is_some();
        self.tail = (if is_tail { left - 1 } else { 0 }, now.saturating_add(TAIL_EVERY));
        is_tail
    }
    fn fill(&self, serial: Serial, session: &mut Session, out: &mut Vec<u8>) -> Vec<Ticket> {
        let most = self.config.datagram + Serial::WHOLE - serial.length();
        let mut tickets = Vec::new();
        while let Some(room) = most.checked_sub(out.len()).filter(|room| *room >= ROOM_LEAST) {
            match session.poll(self.config.stack, room, out) {
                Some(ticket) => tickets.push(ticket),
                None => break,
            }
        }
        tickets
    }
    fn on_left(&mut self, now: Instant, size: usize, tickets: Vec<Ticket>, has_data: bool) {
        // A notice that is lost is replaced by the next one.
        if !tickets.is_empty() && has_data {
            self.trains.on_left(now, self.number, self.controller.advice().probe_train);
            self.tail = (TAIL, now.saturating_add(TAIL_EVERY));
        }
        let size = size as u64;
        self.waiting.insert(self.number, now, size, tickets);
        self.waits_since = self.waits_since.or(Some(now));
        self.counts.sent += 1;
        self.questions = self.questions.saturating_sub(1);
        if self.silence.is_none() {
            self.silence = Some(now.saturating_add(self.silence_span()));
        }
        if let Some(rate) = self.controller.rate() {
            let earliest = now.max(Instant::ZERO + SLACK) - SLACK;
            self.next_at = self.next_at.max(earliest).saturating_add(rate.time_for(Bytes(size)));
        }
        self.controller.on_sent(&Left { now, size: Bytes(size), in_flight: Bytes(self.waiting.bytes()) });
    }
    fn may_leave(&self, now: Instant) -> bool {
        if self.questions > 0 {
            return true;
        }
        let is_due = self.leaves_at() <= now;
        let paced = self.controller.rate().is_none_or(|rate| rate.0 > 0 && is_due);
        self.asked == 0 && self.fits() && paced
    }
    /// When the next one may leave by its pace.
    fn leaves_at(&self) -> Instant {
        let in_train = self.trains.go_on(self.controller.advice().probe_train);
        if in_train { Instant::ZERO } else { self.next_at }
    }
    /// Whether the window has room for a datagram.
    fn fits(&self) -> bool {
        self.waiting.bytes().saturating_add(self.packet().0) <= self.controller.window().0
    }

    // --- receiving ----------------------------------------------------------------------------

    /// The latest epoch of the other side that is known.
    pub fn peer(&self) -> Option<Epoch> {
        self.peer
    }
    /// The other side was received in this epoch, in a datagram that cannot be a replay. False if a later
    /// epoch is known, or another one with its number: it must begin a new one.
    pub fn meet(&mut self, now: Instant, epoch: Epoch, session: &mut Session) -> bool {
        if !self.is_latest(epoch) {
            return false;
        }
        if self.heard.incarnation != Some(epoch.number) {
            // The data that have left were for the epoch that was known: they may have arrived, though no answer came.
            self.peer.iter().for_each(|known| session.on_peer(known.number));
            session.on_peer(epoch.number);
            self.heard = Heard::of(epoch.number);
        }
        if self.peer.replace(epoch).is_some_and(|before| before != epoch) {
            // Datagrams in flight were made for an epoch that is over.
            for ticket in self.waiting.clear().into_iter().flat_map(|sent| sent.tickets) {
                session.on_lost(ticket, self.config.stack);
            }
            (self.known_to, self.waits_since, self.silence) = (None, None, None);
            (self.tail, self.asked, self.next_at) = ((0, now), 0, now);
            session.hold_new(self.config.stack, false);
        }
        true
    }
    fn is_latest(&self, epoch: Epoch) -> bool {
        self.peer.is_none_or(|known| known == epoch || known.precedes(epoch))
    }
    /// Whether a note says that this epoch follows none that the other side knows: this daemon must begin
    /// another one, later than the one that is given.
    pub fn must_follow(&self, known: Epoch) -> bool {
        known != self.config.epoch && !known.precedes(self.config.epoch)
    }

    /// An authentic datagram came. One that came before changes nothing.
    ///
    /// # Errors
    /// What is wrong with it. Frames before the wrong one were taken.
    pub fn handle(
        &mut self,
        now: Instant,
        (serial, bytes): (Serial, &[u8]),
        session: &mut Session,
    ) -> Result<DatagramArrival, Malformed> {
        if serial.bound != self.config.epoch.nonce || !self.is_latest(serial.epoch) {
            return Ok(DatagramArrival::Stale);
        }
        let (head, rest) = Head::read(bytes)?;
        if serial.number >= Serial::NUMBERS {
            return Err(Malformed::Frame);
        }
        let ranges = head.report.as_ref().map(Report::ranges).transpose()?;
        self.meet(now, serial.epoch, session);
        if !self.heard.is_new(serial.number) {
            return Ok(DatagramArrival::Repeated);
        }
        let is_newest = self.heard.is_newest(serial.number);
        let note = head.note;
        self.on_new(now, (serial, head, ranges), rest, session)?;
        Ok(DatagramArrival::Accepted { is_newest, note })
    }
    fn on_new(
        &mut self,
        now: Instant,
        (serial, head, ranges): (Serial, Head, Option<Vec<(u64, u64)>>),
        mut rest: &[u8],
        session: &mut Session,
    ) -> Result<(), Malformed> {
        if self.heard.is_newest(serial.number) && head.note.is_none() {
            self.wanted = head.every;
            head.every.into_iter().for_each(|every| self.heard.hurry(now, every));
        }
        self.asked = 0;
        self.heard_at = now;
        self.silence = self.waiting.first().map(|_| now.saturating_add(self.silence_span()));
        session.hold_new(self.config.stack, false);
        if let Some((report, ranges)) = head.report.as_ref().zip(ranges) {
            self.on_report(now, report, &ranges, session);
        }
        self.find_lost(now, session);
        let answers = head.asks || !rest.is_empty();
        let mut kept = true;
        while !rest.is_empty() {
            let (frame, behind) = Frame::read(serial.epoch.number, rest)?;
            kept &= session.handle(&frame);
            rest = behind;
        }
        if kept {
            self.heard.on_number(now, serial.number, answers);
        }
        if answers {
            let every = self.reports_every();
            self.heard.owe_report(now, every);
        }
        Ok(())
    }
    fn on_report(&mut self, now: Instant, report: &Report, ranges: &[(u64, u64)], session: &mut Session) {
        if report.incarnation != self.config.epoch.number || report.highest >= self.number {
            return;
        }
        self.known_to = self.heard.incarnation;
        let mut came = Came::default();
        ranges.iter().for_each(|range| self.waiting.on_range(now, *range, &mut came));
        let bytes: u64 = came.in_time.iter().map(|sent| sent.size).sum();
        // Where the delay has grown beyond what is waited, only those given up show it.
        let newest = came.all().map(|sent| sent.at).max();
        for ticket in came.all().flat_map(|sent| &sent.tickets) {
            session.on_arrived(*ticket, self.config.stack);
        }
        self.delivered += bytes;
        for &(given_up, bytes) in &came.spurious {
            let spurious = ControllerEvent::SpuriousLoss { lost_at: given_up, size: Bytes(bytes) };
            self.controller.on_event(now, &spurious);
        }
        self.waits_since = self.waits_since.filter(|_| self.waiting.first().is_some());
        let held =
            Duration::from_nanos(i64::try_from(report.held_us.saturating_mul(1000)).unwrap_or(i64::MAX));
        let heard_before = self.newest_left;
        let fresh = newest.filter(|at| *at >= heard_before);
        let rtt = fresh.map(|at| now - at).map(|away| if held < away { away - held } else { away });
        if let Some((rtt, at)) = rtt.zip(fresh) {
            self.newest_left = at;
            self.measure(now, rtt);
        }
        if let Some(rtt) = self.rtt {
            // A datagram that left long before others that came was in flight when the path became shorter. It says
            // nothing of later ones.
            let old = heard_before - (rtt * 2).max(NEWS);
            let gone = now - self.silence_span().max(self.rtt_most.0 * 2);
            self.reported.1 += came.all().filter(|sent| sent.at < old && sent.at > gone).count() as u64;
            let back = now
                - Instant::from_nanos(i64::try_from(report.at_us.saturating_mul(1000)).unwrap_or(i64::MAX));
            self.reports.learn(now, back, rtt);
        }
        self.tell_report(now, report, bytes, rtt);
    }
    fn measure(&mut self, now: Instant, rtt: Duration) {
        self.rtt = Some(rtt);
        self.measured = Some(now);
        let (most, since) = self.rtt_most;
        if rtt >= most || now - since > most.saturating_add(most) {
            self.rtt_most = (rtt, now);
        }
    }
    fn tell_report(&mut self, now: Instant, report: &Report, bytes: u64, rtt: Option<Duration>) {
        let (highest, received) = self.reported;
        let sent = (report.highest + 1).saturating_sub(highest.map_or(0, |highest| highest + 1));
        // No more than were sent, whatever the report says; those that were overtaken are counted with later ones.
        let arrived = report.received.saturating_sub(received).min(sent);
        if sent > 0 {
            self.reported = (Some(report.highest), received + arrived);
        }
        let packet = self.packet().0;
        let (train, before) = (self.trains.rate(report, self.packet()), self.controller.rate());
        let window = Window { sent: Bytes(sent * packet), received: Bytes(arrived * packet), train };
        self.controller.on_ack(&Ack {
            now,
            acked: Bytes(bytes),
            rtt,
            in_flight: Bytes(self.waiting.bytes()),
            delivered: Bytes(self.delivered),
            window: (sent > 0).then_some(window),
            limited: true,
            ..Ack::default()
        });
        self.pace_anew(now, before);
    }
    /// The rate has changed since it was `before`: what still has to pass of the last interval passes at the new one.
    fn pace_anew(&mut self, now: Instant, before: Option<BitRate>) {
        let rates = before.zip(self.controller.rate()).filter(|(_, rate)| rate.0 > 0);
        if let Some((before, rate)) = rates.filter(|_| self.next_at > now) {
            let left_s = (self.next_at - now).as_secs_f64() * before.0 as f64 / rate.0 as f64;
            self.next_at = now.saturating_add(Duration::from_secs_f64(left_s));
        }
    }
    fn find_lost(&mut self, now: Instant, session: &mut Session) {
        let overtaken = self.waiting.find_overtaken(now);
        let alone = self.waiting.find_alone(now, self.newest_left);
        let overtaken = overtaken.into_iter().chain(alone).collect();
        self.tell_lost(now, overtaken, Cause::Gap, session);
        if self.rtt.is_some() {
            let old = self.waiting.find_old(now, self.silence_span(), self.newest_left);
            self.tell_lost(now, old, Cause::Timeout, session);
        }
    }
    fn tell_lost(&mut self, now: Instant, lost: Vec<Sent>, cause: Cause, session: &mut Session) {
        let bytes: u64 = lost.iter().map(|sent| sent.size).sum();
        let Some(newest) = lost.iter().map(|sent| sent.at).max() else { return };
        self.counts.lost += lost.len() as u64;
        for ticket in lost.iter().flat_map(|sent| &sent.tickets) {
            session.on_lost(*ticket, self.config.stack);
        }
        let episode = self.answered.is_none_or(|answered| newest > answered);
        if episode {
            self.answered = Some(now);
        }
        let in_flight = Bytes(self.waiting.bytes());
        let flight_size = Bytes(in_flight.0 + bytes);
        self.controller.on_loss(&Loss {
            now,
            cause,
            lost: Bytes(bytes),
            flight_size,
            in_flight,
            episode,
            again: false,
        });
    }

    // --- time ---------------------------------------------------------------------------------

    fn packet(&self) -> Bytes {
        Bytes(self.config.datagram as u64 + self.config.headers.0)
    }
    /// The time between reports that the other side is asked for.
    fn report_every(&self) -> Duration {
        let span = |rtt| self.reports.span(Some(rtt), self.packet(), self.found());
        self.rtt.map_or(REPORT_FIRST, span)
    }
    /// The time between the reports that are sent.
    fn reports_every(&self) -> Duration {
        self.wanted.unwrap_or(REPORT_FIRST * (1 << (2 * self.heard.reports().min(REPORT_GROWS))))
    }
    /// The timeout for an answer: above the round trip of the path, doubled each time it expires.
    fn silence_span(&self) -> Duration {
        let known = self.rtt.map(|rtt| rtt.max(self.rtt_most.0));
        let span = known.map_or(SILENCE_FIRST, |rtt| {
            Duration::from_nanos(rtt.as_nanos() / 4 * 5).saturating_add(MARGIN.max(self.report_every()))
        });
        (0..self.asked.min(16)).fold(span, |span, _| span.saturating_add(span)).min(SILENCE_MOST.max(span))
    }
    /// When the oldest datagram is overdue, if later ones arrived.
    fn old_at(&self) -> Option<Instant> {
        let first = self.waiting.first().filter(|_| self.asked == 0 && self.rtt.is_some())?;
        Some(first.at.saturating_add(self.silence_span() * 2).saturating_add(SLACK))
    }
    /// When to poll again if nothing happens.
    pub fn deadline(&self, session: &Session) -> Option<Instant> {
        let waits = session.waits(self.config.stack);
        if self.peer.is_none() {
            return (waits || self.probes).then_some(self.asks_epoch.0);
        }
        let rate = self.controller.rate().filter(|rate| rate.0 > 0 && self.asked == 0 && self.fits());
        let in_time = if session.has_data(self.config.stack) { Instant::ZERO } else { self.notices_at };
        let paced =
            rate.filter(|_| session.has_frames(self.config.stack)).map(|_| self.leaves_at().max(in_time));
        let all = [
            self.heard.report_at(),
            self.silence,
            self.waiting.deadline(),
            self.old_at(),
            self.controller.deadline(),
            paced,
            self.probes.then_some(Instant::ZERO),
            (self.tail.0 > 0).then_some(self.tail.1),
        ];
        all.into_iter().flatten().min()
    }
    /// The deadline has come.
    pub fn on_deadline(&mut self, now: Instant, session: &mut Session) {
        if self.controller.deadline().is_some_and(|at| at <= now) {
            self.controller.on_event(now, &ControllerEvent::Deadline);
        }
        if self.waiting.deadline().is_some_and(|at| at <= now) || self.old_at().is_some_and(|at| at <= now) {
            self.find_lost(now, session);
        }
        if self.silence.is_some_and(|at| at <= now) {
            self.ask(now, session);
        }
    }
    /// The timeout for an answer has expired: gives up the oldest datagram in flight, and sends a probe.
    fn ask(&mut self, now: Instant, session: &mut Session) {
        let Some(first) = self.waiting.give_up_first(now) else {
            self.silence = None;
            return;
        };
        self.asked += 1;
        self.questions = 1;
        let span = self.silence_span().as_secs_f64() * self.draws.uniform(0.75, 1.0);
        self.silence = Some(now.saturating_add(Duration::from_secs_f64(span)));
        self.tell_lost(now, vec![first], Cause::Timeout, session);
    }
}

/// The least that a datagram must hold: the longest head, and the longest frame that cannot be cut.
pub const DATAGRAM_LEAST: usize = HEAD_MAX + Frame::OVERHEAD_MAX + TARGET_MAX;
