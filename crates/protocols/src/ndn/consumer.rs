//! A consumer of Data: a window of Interests, kept as any controller of [`crate::controllers`] says.

use super::stamp::{OneWay, stamp};
use super::waiting::{Waiting, WaitingTable};
use super::{Clock, Data, HOP_LIMIT, Interest, Name, Requests, Selectors};
use crate::controllers::{Ack, Cause, Controller, ControllerEvent, Loss, RateSample, Sent};
use crate::record::Observation;
use crate::rng;
use crate::time::{Duration, Instant};
use crate::transport::Machine;
use crate::transport::rto::{Rto, Timers};
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// How a consumer behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Content of a full Data packet: the unit in which the controller counts.
    pub segment: Bytes,
    /// Bytes on the link of a full Data packet: what the controller's rate is made of.
    pub packet: Bytes,
    /// How long an Interest stays pending in forwarders, unless its own timer is longer.
    pub lifetime: Duration,
    /// When an Interest is taken to be lost, where the controller has no rule of its own.
    pub timers: Timers,
    /// Least time between repetitions of an Interest: forwarders treat one that comes sooner as a duplicate
    /// (NFD's best-route strategy for up to 250 ms, ndnd's for 400 ms).
    pub repair_after: Duration,
    /// Where a rate is kept, Interests that leave late by up to this time are made up for: a process that
    /// sleeps wakes late.
    pub slack: Duration,
    /// Give up after this number of repairs of one Interest.
    pub repairs_max: u32,
    /// Its clock, against which stamps are read.
    pub clock: Clock,
    /// For nonces.
    pub seed: u64,
    /// Goes out with every Interest and comes back with its Data.
    pub token: u32,
}

impl Config {
    /// With the timer of RFC 6298, of at least 200 ms, and never giving up. Its margin is what a queue may grow by
    /// within a round trip that was constant before: with a millisecond, every such queue would be a timeout.
    pub fn new(segment: Bytes, packet: Bytes) -> Self {
        let ms = |n: i64| Duration::from_nanos(n * 1_000_000);
        let timers = Timers { first: ms(1000), margin: ms(100), least: ms(200), most: Duration::MAX };
        Self {
            segment,
            packet,
            lifetime: super::LIFETIME,
            timers,
            repair_after: Duration::ZERO,
            slack: Duration::ZERO,
            repairs_max: u32::MAX,
            clock: Clock::default(),
            seed: 0,
            token: 0,
        }
    }
}

/// How much a consumer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Interests sent, repeated ones included.
    pub interests: u64,
    /// Repeated ones.
    pub repairs: u64,
    /// Interests whose time ran out.
    pub timeouts: u64,
    /// Data that came for the first time.
    pub data: u64,
    /// Data without a pending Interest.
    pub unsolicited: u64,
    /// Losses and marks that began an episode.
    pub episodes: u64,
    /// Bytes of content that came.
    pub delivered: Bytes,
}

/// A consumer. [`Machine`]: Data in, Interests out.
pub struct Consumer {
    config: Config,
    controller: Box<dyn Controller>,
    requests: Requests,
    waiting: WaitingTable,
    /// Taken to be lost, to be asked for again before anything new.
    lost: VecDeque<Name>,
    in_flight: u64,
    rto: Rto,
    /// Interests before this one were measured by the last round trip.
    measured_below: u64,
    /// An answer to a single Interest has come since the last episode of losses.
    measured: bool,
    /// The next Interest's number.
    next: u64,
    /// Of all Interests that were answered, the newest.
    answered: Option<u64>,
    /// Interests before this one belong to the last episode.
    recover: u64,
    /// Not before, where a rate is kept.
    may_send_at: Instant,
    limited: bool,
    delivered_at: Instant,
    one_way: OneWay,
    stopped: bool,
    /// All names drawn lately are in flight already: more wait for an answer.
    all_asked: bool,
    failed: Option<Name>,
    counts: Counts,
}

impl Consumer {
    /// One that has asked for nothing yet.
    pub fn new(config: Config, controller: Box<dyn Controller>, requests: Requests) -> Self {
        Self {
            rto: Rto::new(config.timers),
            config,
            controller,
            requests,
            waiting: WaitingTable::default(),
            lost: VecDeque::new(),
            in_flight: 0,
            measured_below: 0,
            measured: false,
            next: 0,
            answered: None,
            recover: 0,
            may_send_at: Instant::ZERO,
            limited: false,
            delivered_at: Instant::ZERO,
            one_way: OneWay::default(),
            stopped: false,
            all_asked: false,
            failed: None,
            counts: Counts::default(),
        }
    }
    /// The object has this number of segments: Interests for later ones are forgotten.
    pub fn finish_at(&mut self, segments: u32) {
        self.requests.set_segments(segments);
        self.lost.retain(|name| name.segment < segments);
        for beyond in self.waiting.names().filter(|name| name.segment >= segments).collect::<Vec<_>>() {
            if let Some(gone) = self.waiting.take(beyond) {
                self.in_flight -= if gone.lost { 0 } else { self.config.segment.0 };
            }
        }
    }
    /// Nothing new is asked for from now on; what was asked for is still repaired.
    pub fn stop(&mut self) {
        self.stopped = true;
    }
    /// Whether all that it wanted has come.
    pub fn is_complete(&self) -> bool {
        (self.stopped || self.requests.is_exhausted()) && self.waiting.len() == 0
    }
    /// What it gave up on, if it did.
    pub fn failed(&self) -> Option<Name> {
        self.failed
    }
    /// How much it has done.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// Interests that may be without an answer.
    pub fn window(&self) -> f64 {
        let window = self.controller.window();
        if window == Bytes::MAX { f64::INFINITY } else { window.0 as f64 / self.config.segment.0 as f64 }
    }
    /// Interests that are without one.
    pub fn in_flight(&self) -> u64 {
        self.in_flight / self.config.segment.0.max(1)
    }
    /// The smoothed round-trip time.
    pub fn rtt(&self) -> Option<Duration> {
        self.rto.smoothed()
    }
    /// What the plan says of the rate from now on.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        self.controller.on_event(now, &ControllerEvent::Plan(rate));
    }
    /// What it and its controller show; the window in Interests.
    pub fn observe(&self, seen: &mut Observation) {
        seen.push(("in_flight", self.in_flight() as f64));
        if let Some(rtt) = self.rtt() {
            seen.push(("rtt", rtt.as_secs_f64()));
        }
        let window = self.window();
        if window.is_finite() {
            seen.push(("window", window));
        }
        if let Some(rate) = self.controller.rate() {
            seen.push(("rate", rate.0 as f64));
        }
        self.controller.observe(seen);
    }

    /// A forwarder said that it will not answer (a Nack): as if the time had run out.
    pub fn on_nack(&mut self, now: Instant, name: Name) {
        if let Some(waiting) = self.waiting.give_up(name) {
            self.lose(now, waiting);
        }
    }

    /// Whether an Interest of this name has no answer yet.
    pub fn is_awaited(&self, name: Name) -> bool {
        self.waiting.get(name).is_some()
    }
    /// What answered is not what was asked for, such as Data whose signature is wrong: the Interest is
    /// repeated before anything new. This is no sign of congestion, and does not count as one of the repairs
    /// after which it gives up; the caller bounds how often it happens.
    pub fn ask_again(&mut self, name: Name) {
        if self.waiting.give_up(name).is_none() {
            return;
        }
        if let Some(waiting) = self.waiting.get_mut(name) {
            waiting.repairs = waiting.repairs.saturating_sub(1);
        }
        self.in_flight -= self.config.segment.0;
        self.lost.push_back(name);
    }

    #[inline]
    fn on_data(&mut self, now: Instant, data: &Data) {
        let Some(waiting) = self.waiting.take(data.name) else {
            self.counts.unsolicited += 1;
            return;
        };
        self.all_asked = false;
        if waiting.lost {
            // It came after all.
            self.lost.retain(|name| *name != data.name);
        } else {
            self.in_flight -= self.config.segment.0;
        }
        self.answered = Some(self.answered.map_or(waiting.number, |newest| newest.max(waiting.number)));
        self.counts.data += 1;
        self.counts.delivered += Bytes(u64::from(data.content));
        // Karn: an answer to one of several Interests is no measurement.
        let rtt = (waiting.repairs == 0).then_some(now - waiting.sent);
        self.measured |= rtt.is_some();
        if let Some(rtt) = rtt
            && waiting.number >= self.measured_below
        {
            self.rto.measure(rtt);
            self.measured_below = self.next;
        }
        if waiting.repairs > 0 {
            self.rto.bound(now - waiting.sent, now - waiting.first_sent);
        }
        let sample = RateSample {
            delivered: Bytes((self.counts.data * self.config.segment.0).saturating_sub(waiting.delivered)),
            before: Bytes(waiting.delivered),
            interval: (now - waiting.delivered_at.min(waiting.sent)).max(rtt.unwrap_or_default()),
        };
        self.delivered_at = now;
        let clock = stamp(now, self.config.clock.ahead(now));
        self.controller.on_ack(&Ack {
            now,
            acked: self.config.segment,
            rtt,
            one_way: data.stamp.map(|left| self.one_way.measure(clock, left)),
            responder: data.site,
            in_flight: Bytes(self.in_flight),
            delivered: Bytes(self.counts.data * self.config.segment.0),
            sample: rtt.is_some().then_some(sample),
            limited: self.limited,
            ..Ack::default()
        });
        if data.marked {
            self.tell_loss(now, Cause::Mark, Bytes(0), waiting);
        }
    }
    fn tell_loss(&mut self, now: Instant, cause: Cause, lost: Bytes, waiting: Waiting) {
        let episode = waiting.number >= self.recover;
        if episode {
            self.recover = self.next;
            self.counts.episodes += 1;
        }
        self.controller.on_loss(&Loss {
            now,
            cause,
            lost,
            flight_size: Bytes(self.in_flight + lost.0),
            in_flight: Bytes(self.in_flight),
            episode,
            again: waiting.repairs > 0,
        });
    }
    /// No answer came in time.
    fn lose(&mut self, now: Instant, waiting: Waiting) {
        self.counts.timeouts += 1;
        // Where answers come to repeated Interests only, the timer may be shorter than the round trip, and
        // would never learn: it stays backed off until something is measured (RFC 6298, section 5).
        if waiting.number >= self.recover && !std::mem::take(&mut self.measured) {
            self.rto.back_off();
        }
        self.in_flight -= self.config.segment.0;
        if waiting.repairs >= self.config.repairs_max {
            self.failed.get_or_insert(waiting.name);
        }
        self.lost.push_back(waiting.name);
        let later_came = self.answered.is_some_and(|newest| newest > waiting.number);
        let cause = if later_came { Cause::Gap } else { Cause::Timeout };
        self.tell_loss(now, cause, self.config.segment, waiting);
    }
    /// How long to wait for an answer to an Interest after this number of repairs.
    fn timeout(&self, repairs: u32) -> Duration {
        let advice = self.controller.advice();
        let own = advice.timeout.map(|span| self.rto.backed_off(span));
        let span = own.unwrap_or_else(|| self.rto.span());
        let repairs = if advice.doubles { repairs } else { 0 };
        Duration::from_nanos(span.as_nanos().saturating_mul(1 << repairs.min(DOUBLINGS_MAX)))
    }
    /// When the first of what was lost may be repeated.
    fn repairs_at(&self) -> Option<Instant> {
        let waiting = self.waiting.get(*self.lost.front()?)?;
        Some(waiting.sent.saturating_add(self.config.repair_after))
    }
    /// Whether something new is wanted.
    #[inline]
    fn wants_new(&self) -> bool {
        !(self.stopped || self.all_asked || self.requests.is_exhausted())
    }
    fn next_name(&mut self, now: Instant) -> Option<(Name, u32)> {
        if self.repairs_at().is_some_and(|at| at <= now) {
            let name = self.lost.pop_front()?;
            let repairs = self.waiting.get(name).map_or(0, |waiting| waiting.repairs + 1);
            return Some((name, repairs));
        }
        if self.stopped {
            return None;
        }
        // Objects of a catalogue may be wanted again before they have come.
        for _ in 0..TRIES_MAX {
            let name = self.requests.take()?;
            if self.waiting.get(name).is_none() {
                return Some((name, 0));
            }
        }
        self.all_asked = true;
        None
    }
    fn ask(&mut self, now: Instant, name: Name, repairs: u32) -> Interest {
        let number = self.next;
        self.next += 1;
        let timeout = self.timeout(repairs);
        let delivered = self.counts.data * self.config.segment.0;
        let delivered_at = if self.counts.data == 0 { now } else { self.delivered_at };
        let before = if repairs > 0 { self.waiting.get(name) } else { None };
        let first_sent = before.map_or(now, |before| before.first_sent);
        let waiting =
            Waiting { name, number, sent: now, first_sent, repairs, delivered, delivered_at, lost: false };
        self.waiting.put(waiting, now.saturating_add(timeout));
        self.in_flight += self.config.segment.0;
        self.counts.interests += 1;
        self.counts.repairs += u64::from(repairs > 0);
        let in_flight = Bytes(self.in_flight);
        self.controller.on_sent(&Sent { now, size: self.config.segment, in_flight });
        let lifetime = self.config.lifetime.max(timeout).as_nanos() / 1_000_000;
        Interest {
            name,
            nonce: (rng::mix(rng::mix(self.config.seed) ^ number) >> 32) as u32,
            token: self.config.token,
            lifetime_ms: u32::try_from(lifetime).unwrap_or(u32::MAX),
            hop_limit: HOP_LIMIT,
            selectors: Selectors::default(),
        }
    }
    /// Whether the window lets one more Interest leave: one always, and never more than [`WINDOW_MAX`].
    #[inline]
    fn has_room(&self) -> bool {
        let window = self.controller.window().0.min(self.config.segment.0.saturating_mul(WINDOW_MAX));
        self.in_flight == 0 || self.in_flight.saturating_add(self.config.segment.0) <= window
    }
    /// Whether window and rate let one more Interest leave.
    #[inline]
    fn may_send(&mut self, now: Instant) -> bool {
        let fits = self.has_room();
        self.limited = !fits;
        if !fits {
            return false;
        }
        let Some(rate) = self.controller.rate() else { return true };
        if now < self.may_send_at || rate == BitRate(0) {
            self.limited = true;
            return false;
        }
        // Late by less than a packet's time is made up for in any case.
        let gap = rate.time_for(self.config.packet);
        let late = gap.max(self.config.slack).min(now - Instant::ZERO);
        self.may_send_at = self.may_send_at.max(now - late).saturating_add(gap);
        true
    }
}

/// More doublings of a timer change nothing.
const DOUBLINGS_MAX: u32 = 6;
/// More Interests than any forwarder keeps, where a controller lets everything leave.
const WINDOW_MAX: u64 = 1 << 20;
/// After this number of names in a row that are in flight already, more wait for an answer.
const TRIES_MAX: usize = 1_000;

impl Machine for Consumer {
    type Input = Data;
    type Output = Interest;

    fn handle(&mut self, now: Instant, data: Data) {
        self.on_data(now, &data);
    }
    fn poll(&mut self, now: Instant) -> Option<Interest> {
        if self.controller.deadline().is_some_and(|at| at <= now) {
            self.controller.on_event(now, &ControllerEvent::Deadline);
        }
        while let Some(waiting) = self.waiting.lose(now) {
            self.lose(now, waiting);
        }
        let wants = self.wants_new() || self.repairs_at().is_some_and(|at| at <= now);
        if !wants || self.failed.is_some() || !self.may_send(now) {
            return None;
        }
        let (name, repairs) = self.next_name(now)?;
        Some(self.ask(now, name, repairs))
    }
    fn deadline(&self) -> Option<Instant> {
        let room = self.has_room();
        let wants_at = match self.repairs_at() {
            _ if !room || self.failed.is_some() => None,
            Some(at) if !self.wants_new() => Some(at),
            repairs_at => (repairs_at.is_some() || self.wants_new()).then_some(Instant::ZERO),
        };
        let sends_at = match self.controller.rate() {
            // Where the window alone decides, what is wanted has been sent, but for repairs that wait.
            None => wants_at.filter(|at| *at > Instant::ZERO),
            Some(BitRate(0)) => None,
            Some(_) => wants_at.map(|at| at.max(self.may_send_at)),
        };
        let all = [self.waiting.deadline(), self.controller.deadline(), sends_at];
        all.into_iter().flatten().min()
    }
}

#[cfg(test)]
#[path = "consumer_tests.rs"]
mod tests;
