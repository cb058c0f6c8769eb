//! The sending half: asks the controller, detects losses and timeouts, keeps the pace.

use super::ack_ratio::AckRatio;
use super::flight::{Flight, Lost, News};
use super::fullness::Fullness;
use super::{Ccid, Config};
use crate::controllers::{Ack, Cause, Controller, ControllerEvent, Loss, Sent, TfrcReport};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::transport::observe;
use crate::transport::rto::Rto;
use crate::units::{BitRate, Bytes};
use crate::wire::dccp::{RunOfPackets, Sequence};

/// How much a connection has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Data packets sent.
    pub sent: u64,
    /// Data packets counted as lost.
    pub lost: u64,
    /// Data packets that arrived with a mark of congestion (CCID 2 only).
    pub marked: u64,
    /// Expiries of the timer.
    pub timeouts: u64,
    /// Losses that the controller was asked to answer.
    pub episodes: u64,
    /// Syncs sent.
    pub syncs: u64,
    /// Invalid packets: their numbers were outside of the windows.
    pub invalid: u64,
}

/// Acknowledgement in one received packet, for the sending half.
pub struct Acknowledgement<R> {
    /// The greatest number received.
    pub ack: Sequence,
    /// The fate of others.
    pub runs: R,
    /// How long before the acknowledgement it was received.
    pub elapsed: Duration,
    /// The greatest whose data came corrupt: as if it were marked (RFC 4340, section 11.7.2).
    pub spoiled: Option<Sequence>,
    /// What a receiver of CCID 3 says.
    pub report: Option<TfrcReport>,
    /// The next number of ours.
    pub next: Sequence,
    /// Acknowledgements that did not come, since the last window.
    pub acks_lost: u64,
}

/// Room that the other end's buffer seems to have, after it had to drop (RFC 4340, section 11.7.2).
#[derive(Clone, Copy, Debug)]
struct Clamp {
    packets: u64,
    grows_at: Instant,
}

/// The greater number, where there is any.
fn later(one: Option<Sequence>, other: Option<Sequence>) -> Option<Sequence> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.later(other)),
        (one, other) => one.or(other),
    }
}

/// The sending half of a connection.
pub struct Sender {
    config: Config,
    controller: Box<dyn Controller>,
    pub flight: Flight,
    rto: Rto,
    /// The next measurement for the timer is of something sent from here on.
    measured_below: Sequence,
    /// Losses of what was sent before this have been answered.
    answered_below: Option<Sequence>,
    /// What was sent before an answer is still to be acknowledged up to here: windows hold still, as those of
    /// TCP in a recovery (RFC 4341, section 5).
    recovers_below: Option<Sequence>,
    /// A window of data is over when this is acknowledged.
    window_ends: Sequence,
    ratio: AckRatio,
    clamp: Option<Clamp>,
    /// No faster until then: the other end is slow (RFC 4340, section 11.6).
    slow_until: Instant,
    slow_rate: Option<BitRate>,
    paced: (Instant, Bytes),
    waits_until: Option<Instant>,
    limited: bool,
    fullness: Fullness,
    /// Quarters of round trips, and when the last one was counted (RFC 4342, section 8.1).
    counter: (u64, Option<Instant>),
    /// What it is at least for the next packet, as far as a step of five allows.
    counter_least: u64,
    /// Packets that the receiver of CCID 3 had no room for, and whether it was slow, since its last report.
    overrun: u64,
    was_slow: bool,
    delivered: u64,
    pub counts: Counts,
}

/// Most pacing delay that a late driver may make up for.
const PACING_SLACK: Duration = Duration::from_nanos(1_000_000);

impl Sender {
    /// `first` will be the first number.
    pub fn new(config: Config, controller: Box<dyn Controller>, first: Sequence) -> Self {
        Self {
            flight: Flight::new(first, config.duplicates, config.tells_fates),
            rto: Rto::new(config.timers),
            measured_below: first,
            answered_below: None,
            recovers_below: None,
            window_ends: first,
            ratio: AckRatio::default(),
            clamp: None,
            slow_until: Instant::ZERO,
            slow_rate: None,
            paced: (Instant::ZERO, Bytes(0)),
            waits_until: None,
            limited: false,
            fullness: Fullness::default(),
            counter: (0, None),
            counter_least: 0,
            overrun: 0,
            was_slow: false,
            delivered: 0,
            counts: Counts::default(),
            config,
            controller,
        }
    }
    /// The smoothed round-trip time.
    pub fn rtt(&self) -> Option<Duration> {
        self.rto.smoothed()
    }
    /// Bytes that are known to have arrived.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    /// The contact plan says what the link has from now on.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        self.controller.on_event(now, &ControllerEvent::Plan(rate));
    }
    /// Packets that the controller allows in flight.
    pub fn window(&self) -> u64 {
        let window = self.controller.window();
        let packets =
            if window == Bytes::MAX { u64::MAX } else { (window.0 / self.config.segment().0).max(1) };
        self.clamp.map_or(packets, |clamp| clamp.packets.min(packets))
    }
    /// The window, or at a controlled rate the packets of a round trip; at least those in flight.
    pub fn packets_in_flight(&self) -> u64 {
        let by_rate = self.controller.rate().zip(self.rtt()).map(|(rate, rtt)| {
            let bytes = rate.0 as f64 / 8.0 * rtt.as_secs_f64();
            (bytes / self.config.packet.0 as f64) as u64
        });
        let window = self.window();
        let window = if window == u64::MAX { by_rate.unwrap_or(0) } else { window };
        window.max(self.flight.pipe())
    }
    /// The Ack Ratio that the other end should keep (RFC 4341, section 6.1).
    pub fn ack_ratio(&self) -> Option<u64> {
        let fits = self.config.ccid == Ccid::Two && !self.config.faults.pauses;
        fits.then(|| self.ratio.fitting(self.window()))
    }

    // --- reception --------------------------------------------------------------------------

    /// The handshake took this long.
    pub fn on_opened(&mut self, now: Instant, rtt: Duration) {
        self.rto.measure(rtt);
        self.controller.on_ack(&Ack { now, rtt: Some(rtt), ..Ack::default() });
    }
    /// Something of ours was acknowledged.
    pub fn on_ack(&mut self, now: Instant, heard: Acknowledgement<impl Iterator<Item = RunOfPackets>>) {
        let flight_before = self.flight.pipe_bytes();
        let mut news = self.flight.on_ack(heard.ack, heard.runs);
        news.marked = later(news.marked, heard.spoiled);
        let rtt = self.measure(now, &heard.ack, &news, heard.elapsed, heard.next);
        if self.config.ccid == Ccid::Three {
            // RFC 4342, section 8.1: packets from now on are a round trip later.
            self.counter_least = self.counter_least.max(news.newest_counter.map_or(0, |counter| counter + 4));
            self.flight.close_up_to(heard.ack);
            return self.on_report(now, (news.newest_sent_at, rtt), heard.report);
        }
        let lost = self.flight.find_lost();
        if news.packets > 0 {
            self.restart_timer(now);
        }
        self.delivered += news.bytes;
        self.find_episode(now, &news, &lost, flight_before, heard.next);
        let recovered = self.recovers_below.take_if(|below| heard.ack.since(*below) >= -1).is_some();
        self.end_window(heard.ack, heard.next, heard.acks_lost);
        if news.packets == 0 {
            return;
        }
        let ack = Ack {
            now,
            acked: Bytes(news.packets * self.config.segment().0),
            rtt,
            in_flight: self.in_flight(),
            delivered: Bytes(self.delivered),
            recovering: self.recovers_below.is_some(),
            recovered,
            limited: self.limited && now >= self.slow_until,
            ack_ratio: self.ack_ratio().unwrap_or(0),
            ..Ack::default()
        };
        self.controller.on_ack(&ack);
    }
    /// Bytes in flight, with each packet counted as a full segment.
    fn in_flight(&self) -> Bytes {
        Bytes(self.flight.pipe() * self.config.segment().0)
    }
    fn measure(
        &mut self,
        now: Instant,
        ack: &Sequence,
        news: &News,
        elapsed: Duration,
        next: Sequence,
    ) -> Option<Duration> {
        let sent_at = news.newest_sent_at?;
        // Who claims to have held it longer than it was away lies.
        let away = now - sent_at;
        let rtt = if elapsed < away { away - elapsed } else { away };
        let rtt = if self.config.faults.pauses { away } else { rtt };
        if ack.since(self.measured_below) >= 0 || self.rto.smoothed().is_none() {
            self.rto.measure(rtt);
            self.measured_below = next;
        }
        Some(rtt)
    }
    fn restart_timer(&mut self, now: Instant) {
        if self.flight.pipe() == 0 { self.rto.stop() } else { self.rto.restart(now) }
    }
    /// Reports losses to the controller: the first of each window of data is an episode (RFC 4341, section
    /// 5), also where one acknowledgement shows losses of several windows.
    fn find_episode(&mut self, now: Instant, news: &News, lost: &Lost, before: u64, next: Sequence) {
        self.counts.lost += lost.packets;
        self.counts.marked += news.marks;
        let events = self.flight.take_events(self.answered_below, self.rto.smoothed().unwrap_or_default());
        let Some(last) = later(lost.last, news.marked) else { return };
        let answered =
            |sequence: Sequence| self.answered_below.is_some_and(|below| sequence.since(below) < 0);
        let episodes = if self.config.faults.inconsistent_loss {
            // Only the newest gap counts, in each Ack Vector that has one.
            u64::from(lost.packets == 1 || !answered(last))
        } else {
            events.max(u64::from(!answered(last)))
        };
        let cause = if lost.packets > 0 { Cause::Gap } else { Cause::Mark };
        if episodes > 0 {
            self.answered_below = Some(next);
            self.recovers_below = Some(next);
            self.counts.episodes += episodes;
        }
        let in_flight = self.in_flight();
        let mut loss = Loss {
            now,
            cause,
            lost: Bytes(lost.packets * self.config.segment().0),
            flight_size: Bytes(before),
            in_flight,
            episode: episodes > 0,
            again: false,
        };
        self.controller.on_loss(&loss);
        for _ in 1..episodes {
            // As if the first had been known in time.
            loss.flight_size = Bytes(loss.flight_size.0 / 2);
            loss.lost = Bytes(0);
            self.controller.on_loss(&loss);
        }
    }
    fn end_window(&mut self, ack: Sequence, next: Sequence, acks_lost: u64) {
        if ack.since(self.window_ends) >= 0 {
            self.window_ends = next;
            self.ratio.on_window(self.window(), acks_lost);
        }
    }
    /// Whether the next acknowledgement of `ack` ends a window of data.
    pub fn ends_window(&self, ack: Sequence) -> bool {
        ack.since(self.window_ends) >= 0
    }
    /// What a receiver of CCID 3 says.
    fn on_report(
        &mut self,
        now: Instant,
        (sent_at, rtt): (Option<Instant>, Option<Duration>),
        report: Option<TfrcReport>,
    ) {
        let Some(report) = report else { return };
        let report = Some(self.restrained(report));
        let span = self.rto.smoothed().unwrap_or(Duration::ZERO);
        let limited = sent_at.map_or(self.limited, |at| self.fullness.on_report(now, at, span));
        let ack = Ack { now, rtt, in_flight: self.in_flight(), limited, report, ..Ack::default() };
        self.controller.on_ack(&ack);
    }
    /// Reduces the receive rate of a report if the other end had no room or was slow (RFC 4342, section 5.2).
    fn restrained(&mut self, report: TfrcReport) -> TfrcReport {
        let (overrun, was_slow) = (std::mem::take(&mut self.overrun), std::mem::take(&mut self.was_slow));
        let Some(rtt) = self.rto.smoothed().filter(|_| overrun > 0 || was_slow) else { return report };
        let one = self.config.segment().0 as f64 / rtt.as_secs_f64().max(1e-6);
        let came = report.receive_rate.0 as f64;
        let bound = (came - overrun as f64 * one).max(came.min(one));
        TfrcReport { receive_rate: Bytes(came.min(bound / 2.0) as u64), ..report }
    }
    /// The other end had no room for this number of packets.
    pub fn on_overrun(&mut self, now: Instant, packets: u64) {
        self.controller.on_event(now, &ControllerEvent::ReceiverLimited);
        if self.config.ccid == Ccid::Three {
            self.overrun += packets;
            return;
        }
        let window = self.window().min(self.flight.pipe().max(1));
        let grows_at = now.saturating_add(self.rto.smoothed().unwrap_or(self.config.timers.first));
        self.clamp = Some(Clamp { packets: window.saturating_sub(packets).max(1), grows_at });
    }
    /// The other end is slow.
    pub fn on_slow_receiver(&mut self, now: Instant) {
        self.slow_until = now.saturating_add(self.rto.smoothed().unwrap_or(self.config.timers.first));
        self.slow_rate = self.controller.rate();
        self.was_slow = true;
        self.controller.on_event(now, &ControllerEvent::ReceiverLimited);
    }
    /// What the controller allows, and no more than it did when the other end said that it is slow.
    fn rate(&self, now: Instant) -> Option<BitRate> {
        let slow = self.slow_rate.filter(|_| now < self.slow_until).unwrap_or(BitRate(u64::MAX));
        self.controller.rate().map(|rate| rate.min(slow))
    }

    /// How long an answer takes at most.
    pub fn patience(&self) -> Duration {
        self.rto.span()
    }

    // --- time -------------------------------------------------------------------------------

    /// Timers that have expired.
    pub fn on_time(&mut self, now: Instant, next: Sequence) {
        if self.rto.expires().is_some_and(|at| at <= now) {
            self.on_silence(now, next);
        }
        if self.controller.deadline().is_some_and(|at| at <= now) {
            self.controller.on_event(now, &ControllerEvent::Deadline);
        }
        if let Some(clamp) = self.clamp.as_mut().filter(|clamp| clamp.grows_at <= now) {
            clamp.packets += 1;
            clamp.grows_at = now.saturating_add(self.rto.smoothed().unwrap_or(self.config.timers.first));
            if clamp.packets >= self.controller.window().0 / self.config.segment().0.max(1) {
                self.clamp = None;
            }
        }
    }
    /// Timeout: everything in flight is lost, and nothing is retransmitted.
    fn on_silence(&mut self, now: Instant, next: Sequence) {
        self.rto.stop();
        if self.flight.pipe() == 0 {
            return;
        }
        self.counts.timeouts += 1;
        self.rto.back_off();
        let flight_size = self.in_flight();
        let lost = self.flight.lose_all();
        self.counts.lost += lost.packets;
        // Karn's rule needs nothing here, as no number is sent twice.
        let again = lost.last.zip(self.answered_below).is_some_and(|(last, below)| last.since(below) < 0);
        self.answered_below = Some(next);
        self.recovers_below = None;
        let loss = Loss {
            now,
            cause: Cause::Timeout,
            lost: flight_size,
            flight_size,
            in_flight: Bytes(0),
            episode: true,
            again,
        };
        self.counts.episodes += 1;
        self.controller.on_loss(&loss);
    }
    /// When to come back though nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        let clamp = self.clamp.map(|clamp| clamp.grows_at);
        [self.rto.expires(), self.controller.deadline(), self.waits_until, clamp].into_iter().flatten().min()
    }

    // --- what goes --------------------------------------------------------------------------

    /// Whether a data packet may leave now. `waiting`: there is one; `room`: the Sequence Window has room.
    pub fn may_send(&mut self, now: Instant, waiting: bool, room: bool) -> bool {
        self.waits_until = None;
        if !waiting {
            self.limited = false;
            return false;
        }
        self.limited = self.flight.pipe() >= self.window() && self.config.ccid == Ccid::Two;
        if self.limited || !room {
            return false;
        }
        if let Some(rate) = self.rate(now) {
            let due = self.paced.0.saturating_add(rate.time_for(self.paced.1));
            self.limited = true;
            if due > now {
                self.fullness.on_full(now);
                self.waits_until = Some(due).filter(|due| *due < Instant::MAX);
                return false;
            }
            self.paced.0 = due.max(now - PACING_SLACK);
        } else {
            self.paced.0 = now;
        }
        true
    }
    /// The window counter of a data packet that leaves now: it grows by one each quarter of a round trip, by
    /// five at most from one packet to the next.
    pub fn window_counter(&mut self, now: Instant) -> u8 {
        if self.config.ccid == Ccid::Two {
            return 0;
        }
        let Some(quarter) = self.rto.smoothed().map(|rtt| (rtt.as_nanos() / 4).max(1)) else { return 0 };
        let since = *self.counter.1.get_or_insert(now);
        let quarters = ((now - since).as_nanos() / quarter).max(0);
        let last = self.counter.0;
        let next = (last + quarters.min(5).unsigned_abs()).max(self.counter_least.min(last + 5));
        if next > last {
            self.counter = (next, Some(now));
        }
        (next & 15) as u8
    }
    /// A packet has left with the next number: `data` bytes, if it is a data packet, `size` on the link.
    pub fn on_sent(&mut self, now: Instant, data: Option<u32>, size: Bytes) {
        self.flight.on_sent(now, data, self.counter.0);
        if data.is_none() {
            return;
        }
        self.counts.sent += 1;
        self.paced.1 = size;
        if self.config.ccid == Ccid::Two {
            self.rto.start(now);
        }
        let in_flight = self.in_flight();
        self.controller.on_sent(&Sent { now, size: self.config.segment(), in_flight });
    }
    /// What the controller shows.
    pub fn observe(&self, seen: &mut Observation) {
        observe(&*self.controller, self.flight.pipe_bytes() as f64, self.rtt(), seen);
    }
}
