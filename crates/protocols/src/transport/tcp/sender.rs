//! The sending end: opens the connection, sends what the controller allows, and repairs losses.

use super::super::{Machine, observe};
use super::board::{Board, newer};
use super::{Config, HEADER, Kind, Segment};
use crate::controllers::{Ack, Cause, Controller, ControllerEvent, Loss, RateSample, Recovery, Sent};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::transport::rto::Rto;
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The first segment has not been sent.
    Closed,
    /// It was sent.
    Opening,
    /// Data flow.
    Open,
}

/// Whether losses are being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    /// No.
    None,
    /// Those of what was sent below this offset; the window holds still.
    Fast(u64),
    /// Those of what was sent below this offset when the timer expired; the window grows.
    Slow(u64),
}

/// How much a sender has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments sent with data, repairs included.
    pub sent: u64,
    /// Repairs among them.
    pub repairs: u64,
    /// Probes beside them.
    pub probes: u64,
    /// Expiries of the timer.
    pub timeouts: u64,
    /// Losses that began a recovery.
    pub episodes: u64,
}

/// Proportional rate reduction (RFC 6937): a window shrinks over a round trip, not at once, so that
/// a segment always follows a repair and shows if that is lost.
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    /// What was sent and not acknowledged in order when the recovery began (RecoverFS).
    from: u64,
    /// Acknowledged since (prr_delivered).
    delivered: u64,
    /// Sent since (prr_out).
    sent: u64,
    /// May leave now (sndcnt).
    quota: u64,
}

/// The sending end of a connection.
pub struct Sender {
    config: Config,
    controller: Box<dyn Controller>,
    state: State,
    board: Board,
    /// Bytes to send; `None`: unlimited.
    available: Option<u64>,
    /// The stream ends with what is available.
    ends: bool,
    repair: Repair,
    /// No recovery begins before this has been acknowledged (RFC 6582, section 3.2; RFC 6675, step 4).
    recover: Option<u64>,
    duplicates: u32,
    /// Bytes that duplicate acknowledgements say have left the network, without blocks (RFC 6582).
    inflation: u64,
    /// Partial acknowledgements of this recovery, without blocks.
    partial: u32,
    /// While a recovery lasts, under controllers that have a window, where the order of sending is used.
    reduction: Option<Reduction>,
    /// One repair leaves whatever the window says.
    must_repair: bool,
    rto: Rto,
    latest_rtt: Option<Duration>,
    /// The next measurement for the timer is of something sent from here on.
    measured_below: u64,
    opened_at: Instant,
    opening_retried: bool,
    /// When the last segment left that the rate counts from, and how much it was.
    paced: (Instant, Bytes),
    /// Only the rate keeps something from leaving.
    waits_until: Option<Instant>,
    /// Only the window keeps something from leaving.
    limited: bool,
    delivered: u64,
    samples: Option<Sampler>,
    /// Copies of low priority that are due, and where the next one begins.
    copies_due: f64,
    probe_at: u64,
    counts: Counts,
}

/// State of delivery-rate samples for every segment in flight.
#[derive(Default)]
struct Sampler {
    /// (offset behind the segment, delivered when it was sent, when that was, when it was sent)
    sent: VecDeque<(u64, u64, Instant, Instant)>,
    delivered_at: Instant,
}

impl Sender {
    /// One that has sent nothing. `available`: all bytes that there will ever be to send; `None`:
    /// unlimited.
    pub fn new(
        config: Config,
        controller: Box<dyn Controller>,
        samples: bool,
        available: Option<u64>,
    ) -> Self {
        Self {
            board: Board::new(config.segment.0),
            rto: Rto::new(config.timers),
            latest_rtt: None,
            measured_below: 0,
            config,
            controller,
            state: if config.handshake { State::Closed } else { State::Open },
            ends: available.is_some(),
            available,
            repair: Repair::None,
            recover: None,
            duplicates: 0,
            inflation: 0,
            partial: 0,
            reduction: None,
            must_repair: false,
            opened_at: Instant::ZERO,
            opening_retried: false,
            paced: (Instant::ZERO, Bytes(0)),
            waits_until: None,
            limited: false,
            delivered: 0,
            samples: samples.then(Sampler::default),
            copies_due: 0.0,
            probe_at: 0,
            counts: Counts::default(),
        }
    }
    /// More data are there to be sent: all that were ever there, in bytes. The stream does not end.
    pub fn supply(&mut self, total: u64) {
        self.available = Some(total);
        self.ends = false;
    }
    /// Nothing new is sent from now on; what was sent is still repaired.
    pub fn stop(&mut self) {
        // A stream that has ended keeps its end.
        if !(self.ends && self.available == Some(self.board.next)) {
            self.supply(self.board.next);
        }
    }
    /// How much of the stream has been sent.
    pub fn sent(&self) -> u64 {
        self.board.next
    }
    /// Whether everything was acknowledged.
    pub fn is_complete(&self) -> bool {
        self.ends && self.available == Some(self.board.una)
    }
    /// What was acknowledged in order.
    pub fn acknowledged(&self) -> u64 {
        self.board.una
    }
    /// How much it has done.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// Whether the handshake is over.
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }
    /// What was acknowledged in all, in order or not.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    /// Doublings of the timer since something was measured.
    pub fn backoff(&self) -> u32 {
        self.rto.backoff()
    }
    /// The last round trip that was measured.
    pub fn latest_rtt(&self) -> Option<Duration> {
        self.latest_rtt.or(self.rtt())
    }
    /// The smoothed round-trip time.
    pub fn rtt(&self) -> Option<Duration> {
        self.rto.smoothed()
    }
    /// Bytes in flight.
    pub fn in_flight(&self) -> u64 {
        self.board.in_flight().saturating_sub(self.inflation)
    }
    /// The contact plan or the network's management sets the rate of the link from now on. Poll after.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        self.controller.on_event(now, &ControllerEvent::Plan(rate));
    }
    /// What the controller shows.
    pub fn observe(&self, seen: &mut Observation) {
        observe(&*self.controller, self.in_flight() as f64, self.rtt(), seen);
    }

    // --- reception --------------------------------------------------------------------------

    fn on_opened(&mut self, now: Instant) {
        if self.state != State::Opening {
            return;
        }
        self.state = State::Open;
        self.rto.stop();
        // Karn: an answer to one of several is no measurement.
        let rtt = (!self.opening_retried).then_some(now - self.opened_at);
        if let Some(rtt) = rtt {
            self.rto.measure(rtt);
            self.controller.on_ack(&Ack { now, rtt: Some(rtt), ..Ack::default() });
        }
    }
    fn on_acknowledgement(&mut self, now: Instant, segment: &Segment) {
        if segment.ack > self.board.next || segment.ack < self.board.una {
            return; // of data never sent, or reordered
        }
        let before = self.board.una;
        let flight_size = self.board.next - before;
        let (mut news, mut stamp) = self.board.advance(segment.ack);
        let in_order = segment.ack - before;
        if let Some(sack) = &segment.sack {
            let (more, newest) = self.board.sack(sack.blocks());
            news += more;
            stamp = newer(stamp, newest);
        }
        if in_order == 0 && self.board.next == self.board.una {
            return;
        }
        let rtt = stamp.filter(|stamp| stamp.is_first()).map(|stamp| now - stamp.at());
        self.latest_rtt = rtt.or(self.latest_rtt);
        // Once per round trip: the filters of RFC 6298 are made for that.
        if let Some(rtt) = rtt.filter(|_| self.board.una > self.measured_below) {
            self.rto.measure(rtt);
            self.measured_below = self.board.next;
        }
        self.delivered += news;
        let recovered =
            if in_order > 0 { self.on_progress(now, in_order) } else { self.on_duplicate(now, news) };
        self.find_losses(now, flight_size);
        let sample = self.sample(now, segment.ack);
        let ack = Ack {
            now,
            acked: Bytes(news),
            rtt,
            one_way: None,
            responder: None,
            in_flight: Bytes(self.in_flight()),
            delivered: Bytes(self.delivered),
            sample,
            window: None,
            arrivals: segment.sack.as_ref().and_then(|sack| sack.arrivals),
            report: None,
            ack_ratio: 0,
            recovering: matches!(self.repair, Repair::Fast(_)) || (in_order == 0 && !recovered),
            recovered,
            limited: self.limited,
        };
        self.controller.on_ack(&ack);
        self.reduce(news);
    }
    /// RFC 6937, section 3, with the slow-start reduction bound.
    fn reduce(&mut self, news: u64) {
        if self.reduction.is_none() {
            return;
        }
        let (in_flight, threshold) = (self.in_flight(), self.controller.window().0);
        let segment = self.config.segment.0;
        let Some(prr) = &mut self.reduction else { return };
        prr.delivered += news;
        prr.quota = if in_flight > threshold {
            let due = u128::from(prr.delivered) * u128::from(threshold);
            (due.div_ceil(u128::from(prr.from.max(1))) as u64).saturating_sub(prr.sent)
        } else {
            let bound = prr.delivered.saturating_sub(prr.sent).max(news) + segment;
            bound.min(threshold - in_flight)
        };
    }
    /// Something arrived in order; true if a recovery ended with it.
    fn on_progress(&mut self, now: Instant, acked: u64) -> bool {
        self.duplicates = 0;
        let mut recovered = false;
        match self.repair {
            Repair::Fast(recover) | Repair::Slow(recover) if self.board.una >= recover => {
                recovered = true;
                self.repair = Repair::None;
                self.partial = 0;
                self.reduction = None;
                self.inflation = 0;
                self.must_repair = false;
                self.board.begin_recovery();
            }
            Repair::Fast(_) if self.config.recovery == Recovery::NewReno => {
                // A partial acknowledgement: the next gap is lost too (RFC 6582, section 3.2, step 3).
                self.inflation = self.inflation.saturating_sub(acked);
                if acked >= self.config.segment.0 {
                    self.inflation += self.config.segment.0;
                }
                self.board.lose_below(self.board.una + self.config.segment.0);
                self.must_repair = true;
                self.partial += 1;
            }
            _ => {}
        }
        if self.board.una == self.board.next {
            self.rto.stop();
        } else if self.partial <= 1 {
            // The impatient variant of RFC 6582, section 4: a recovery that needs many round trips is
            // ended by the timer.
            self.rto.restart(now);
        }
        recovered
    }
    fn on_duplicate(&mut self, _: Instant, news: u64) -> bool {
        // With blocks, a duplicate without news is no sign of a gap.
        if self.config.recovery != Recovery::NewReno && news == 0 {
            return false;
        }
        self.duplicates += 1;
        if self.config.recovery == Recovery::NewReno && matches!(self.repair, Repair::Fast(_)) {
            self.inflation += self.config.segment.0;
        }
        false
    }
    fn find_losses(&mut self, now: Instant, flight_size: u64) {
        let segment = self.config.segment.0;
        let enough = u64::from(self.config.duplicates);
        let board = &mut self.board;
        let mut again = false;
        let lost = match self.config.recovery {
            Recovery::NewReno => 0,
            Recovery::Fack => {
                let foremost = board.sacked.last().map_or(0, |last| last.1);
                let far = foremost.saturating_sub(board.una) > enough * segment
                    || self.duplicates >= self.config.duplicates;
                if far || self.repair != Repair::None { board.lose_below(foremost) } else { 0 }
            }
            Recovery::Sack => board.lose_below(board.overtaken(enough)),
            Recovery::Rack => {
                let lost = board.lose_below(board.overtaken(enough));
                let repairs = board.lose_repairs(Duration::ZERO);
                again = repairs > 0;
                lost + repairs
            }
        };
        let noticed = self.duplicates >= self.config.duplicates || lost > 0;
        // Repairs after a timeout may overflow a queue in turn.
        let overruns = again && matches!(self.repair, Repair::Slow(_));
        let begins = (self.repair == Repair::None && self.may_recover() && noticed) || overruns;
        if begins {
            self.begin_recovery(now, lost, flight_size);
        } else if lost > 0 {
            self.report_gap(now, (lost, flight_size), false, again);
        }
    }
    fn report_gap(&mut self, now: Instant, (lost, flight_size): (u64, u64), episode: bool, again: bool) {
        let (cause, lost, flight_size) = (Cause::Gap, Bytes(lost), Bytes(flight_size));
        let in_flight = Bytes(self.in_flight());
        self.controller.on_loss(&Loss { now, cause, lost, flight_size, in_flight, episode, again });
    }
    /// Duplicates of what was sent before the last recovery say nothing (RFC 6582, section 3.2, step
    /// 2); blocks say themselves what is missing.
    fn may_recover(&self) -> bool {
        self.config.recovery != Recovery::NewReno
            || self.recover.is_none_or(|recover| self.board.una > recover)
    }
    fn begin_recovery(&mut self, now: Instant, lost: u64, flight_size: u64) {
        self.repair = Repair::Fast(self.board.next);
        self.recover = Some(self.board.next);
        self.must_repair = true;
        self.counts.episodes += 1;
        let segment = self.config.segment.0;
        let mut lost = lost;
        if lost == 0 {
            lost = self.board.lose_below(self.board.una + segment);
        }
        if self.config.recovery == Recovery::NewReno {
            // Three segments have left the network; the lost one is counted by the board.
            self.inflation = u64::from(self.config.duplicates) * segment;
        }
        let gradual = self.config.recovery == Recovery::Rack && self.controller.rate().is_none();
        self.reduction = gradual.then_some(Reduction { from: flight_size, ..Reduction::default() });
        self.report_gap(now, (lost, flight_size), true, false);
    }
    fn on_silence(&mut self, now: Instant) {
        self.counts.timeouts += 1;
        self.rto.back_off();
        if self.state == State::Opening {
            self.state = State::Closed;
            self.opening_retried = true;
            return;
        }
        let (lost, flight_size) = (Bytes(self.in_flight()), Bytes(self.board.next - self.board.una));
        let episode = !matches!(self.repair, Repair::Slow(_));
        self.board.lose_all();
        self.partial = 0;
        self.reduction = None;
        self.duplicates = 0;
        self.inflation = 0;
        self.must_repair = true;
        self.repair = Repair::Slow(self.board.next);
        self.recover = Some(self.board.next);
        let (cause, in_flight) = (Cause::Timeout, Bytes(self.in_flight()));
        self.controller.on_loss(&Loss { now, cause, lost, flight_size, in_flight, episode, again: !episode });
        self.rto.restart(now);
    }
    /// How fast the newest segment below `ack` and what was sent after it were delivered.
    fn sample(&mut self, now: Instant, ack: u64) -> Option<RateSample> {
        let delivered = self.delivered;
        let sampler = self.samples.as_mut()?;
        let mut newest = None;
        while sampler.sent.front().is_some_and(|front| front.0 <= ack) {
            newest = sampler.sent.pop_front();
        }
        let (_, before, before_at, sent_at) = newest?;
        sampler.delivered_at = now;
        let interval = (now - before_at).max(sent_at - before_at);
        Some(RateSample { delivered: Bytes(delivered - before), before: Bytes(before), interval })
    }

    // --- what goes --------------------------------------------------------------------------

    fn open(&mut self, now: Instant) -> Segment {
        self.state = State::Opening;
        self.opened_at = now;
        self.rto.restart(now);
        Segment { kind: Kind::Syn, length: 0, offset: 0, ack: 0, sack: None }
    }
    /// How long the next new segment is; zero if there is nothing to send.
    fn next_length(&self) -> u64 {
        let left = self.available.map_or(u64::MAX, |available| available - self.board.next);
        left.min(self.config.segment.0)
    }
    /// What may leave now, without regard to pacing.
    fn choose(&mut self) -> Option<Choice> {
        let room = match &self.reduction {
            Some(reduction) => reduction.quota,
            None => self.controller.window().0.min(self.config.window.0).saturating_sub(self.in_flight()),
        };
        let repair = if self.repair == Repair::None { None } else { self.board.next_repair() };
        if let Some(range) = repair {
            let fits = self.must_repair || room >= range.1 - range.0;
            self.limited |= !fits;
            return fits.then_some(Choice::Repair(range));
        }
        let length = self.next_length();
        if length == 0 {
            self.limited = false;
            return None;
        }
        let fits = room >= length;
        self.limited = !fits;
        fits.then_some(Choice::New(length))
    }
    fn send(&mut self, now: Instant, choice: Choice, due: Instant) -> Segment {
        let (offset, length) = match choice {
            Choice::Repair(range) => {
                self.board.on_resent(now, range);
                self.counts.repairs += 1;
                (range.0, range.1 - range.0)
            }
            Choice::New(length) => {
                let offset = self.board.next;
                self.board.on_new(now, length);
                if let Some(sampler) = &mut self.samples {
                    if self.board.una == offset {
                        sampler.delivered_at = now;
                    }
                    sampler.sent.push_back((offset + length, self.delivered, sampler.delivered_at, now));
                }
                (offset, length)
            }
        };
        self.counts.sent += 1;
        self.copies_due += self.controller.advice().low_priority_copies;
        if let Some(reduction) = &mut self.reduction {
            reduction.sent += length;
            reduction.quota = reduction.quota.saturating_sub(length);
        }
        if offset == self.board.una && self.partial == 0 {
            // Progress is awaited from here on.
            self.rto.restart(now);
        }
        self.must_repair = false;
        self.rto.start(now);
        self.paced = (due.max(now - PACING_SLACK), HEADER + Bytes(length));
        let in_flight = Bytes(self.in_flight());
        self.controller.on_sent(&Sent { now, size: Bytes(length), in_flight });
        let fin = self.ends && self.available == Some(offset + length);
        Segment { kind: Kind::Data { fin }, length: length as u32, offset, ack: 0, sack: None }
    }
    /// A copy of unacknowledged segments in turn, from the oldest on.
    fn probe(&mut self) -> Option<Segment> {
        if self.board.una == self.board.next {
            self.copies_due = 0.0;
        }
        if self.copies_due < 1.0 {
            return None;
        }
        self.copies_due -= 1.0;
        if self.probe_at < self.board.una || self.probe_at >= self.board.next {
            self.probe_at = self.board.una;
        }
        let offset = self.probe_at;
        let length = self.config.segment.0.min(self.board.next - offset);
        self.probe_at += length;
        self.counts.probes += 1;
        Some(Segment { kind: Kind::Probe, length: length as u32, offset, ack: 0, sack: None })
    }
    /// When the rate lets the next segment leave; [`Instant::MAX`] at a rate of zero.
    fn leaves_at(&self) -> Instant {
        match self.controller.rate() {
            Some(rate) => self.paced.0.saturating_add(rate.time_for(self.paced.1)),
            None => Instant::ZERO,
        }
    }
}

/// Most pacing delay that a late sender may make up for.
const PACING_SLACK: Duration = Duration::from_nanos(1_000_000);

#[derive(Clone, Copy)]
enum Choice {
    Repair((u64, u64)),
    New(u64),
}

impl Machine for Sender {
    type Input = Segment;
    type Output = Segment;

    fn handle(&mut self, now: Instant, segment: Segment) {
        match segment.kind {
            Kind::SynAck => self.on_opened(now),
            Kind::Ack if self.state == State::Open => self.on_acknowledgement(now, &segment),
            Kind::Ack | Kind::Syn | Kind::Data { .. } | Kind::Probe => {}
        }
    }
    fn poll(&mut self, now: Instant) -> Option<Segment> {
        if self.rto.expires().is_some_and(|at| at <= now) {
            self.rto.stop();
            self.on_silence(now);
        }
        if self.controller.deadline().is_some_and(|at| at <= now) {
            self.controller.on_event(now, &ControllerEvent::Deadline);
        }
        match self.state {
            State::Closed => return Some(self.open(now)),
            State::Opening => return None,
            State::Open => {}
        }
        if let Some(probe) = self.probe() {
            return Some(probe);
        }
        let choice = self.choose();
        let due = if choice.is_some() { self.leaves_at() } else { Instant::ZERO };
        self.waits_until = Some(due).filter(|due| *due > now);
        let choice = choice.filter(|_| self.waits_until.is_none())?;
        Some(self.send(now, choice, due))
    }
    fn deadline(&self) -> Option<Instant> {
        let mut first = self.rto.expires().unwrap_or(Instant::MAX);
        if let Some(at) = self.controller.deadline() {
            first = first.min(at);
        }
        if let Some(due) = self.waits_until {
            first = first.min(due);
        }
        (first < Instant::MAX).then_some(first)
    }
}
