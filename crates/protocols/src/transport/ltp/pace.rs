//! When the next segment of data may leave, and the controller's input from reports.

use super::export::{Answer, Marks};
use crate::controllers::{Ack, Cause, Controller, Loss, RateSample, Sent, Window};
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Of the newest report, and of a probe, in the share that is lost.
const REPORT_WEIGHT: f64 = 0.25;
const PROBE_WEIGHT: f64 = 1.0 / 16.0;
/// Least window beside a rate, in bytes: 32 packets, well below what a socket holds by default.
const PACED_WINDOW_LEAST: u64 = 32 * 1500;

/// Probes without an answer that an answered one has overtaken, and the bytes that they stand for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overtaken {
    pub probes: usize,
    pub bytes: u64,
}

/// Stands between the sessions of an engine and its controller.
pub struct Pace {
    pub controller: Box<dyn Controller>,
    /// Most pacing delay that a burst may make up for.
    slack: Duration,
    /// When the last segment left that the rate counts from, and bytes on the link since.
    since: (Instant, Bytes),
    /// Red bytes in flight.
    pub in_flight: u64,
    /// Red bytes acknowledged in all.
    pub delivered: u64,
    /// Segments of data that have left, and red bytes of them.
    pub order: u64,
    pub left: u64,
    /// Red bytes behind which nothing is in flight, where probes say so; `None`: reports alone do.
    landed: Option<u64>,
    /// Share that is lost, by reports and by probes; the newest count most.
    lost_share: f64,
    /// Losses of what left before this one belong to one episode.
    recover: Option<u64>,
    pub episodes: u64,
}

impl Pace {
    /// `by_probes`: what left before an answered probe or checkpoint is no longer in flight.
    pub fn new(controller: Box<dyn Controller>, slack: Duration, by_probes: bool) -> Self {
        Self {
            controller,
            slack,
            since: (Instant::ZERO, Bytes(0)),
            in_flight: 0,
            delivered: 0,
            order: 0,
            left: 0,
            landed: by_probes.then_some(0),
            lost_share: 0.0,
            recover: None,
            episodes: 0,
        }
    }
    /// When the rate lets the next segment leave.
    pub fn due(&self) -> Instant {
        let spent = |rate: BitRate| self.since.0.saturating_add(rate.time_for(self.since.1));
        self.controller.rate().map_or(Instant::ZERO, spent)
    }
    /// How long `size` takes to send; zero where neither a rate nor a window limits it.
    pub fn time_for(&self, size: Bytes, round_trip: Duration) -> Duration {
        let window = self.controller.window();
        match self.controller.rate() {
            Some(rate) => rate.time_for(size),
            None if window == Bytes::MAX => Duration::ZERO,
            None => {
                Duration::from_secs_f64(round_trip.as_secs_f64() * size.0 as f64 / window.0.max(1) as f64)
            }
        }
    }
    /// The window. Answers to probes take what a peer takes that is a program among others, and vary: where a rate paces, the
    /// window that comes of the least round trip must not throttle.
    pub fn window(&self) -> u64 {
        let window = self.controller.window().0;
        let is_paced = self.landed.is_some() && self.controller.rate().is_some();
        if is_paced { window.max(PACED_WINDOW_LEAST) } else { window }
    }
    /// Whether the window has room for `more` bytes.
    pub fn has_room(&self, more: u64) -> bool {
        self.in_flight.saturating_add(more) <= self.window()
    }
    /// A segment of data is sent, with `red` red bytes and `link` bytes on the link.
    pub fn leave(&mut self, now: Instant, red: u64, link: Bytes) {
        self.since = (self.due().min(now).max(now - self.slack), link);
        self.order += 1;
        self.in_flight += red;
        self.left += red;
        let in_flight = Bytes(self.in_flight);
        self.controller.on_sent(&Sent { now, size: Bytes(red), in_flight });
    }
    /// Something else leaves.
    pub fn leave_beside(&mut self, link: Bytes) {
        self.since.1 += link;
    }
    /// A report came.
    pub fn answer(&mut self, now: Instant, answer: &Answer) {
        let before = self.in_flight;
        let acked = match answer.marks.filter(|_| self.landed.is_some()) {
            Some(marks) => self.land(marks.left).saturating_sub(answer.lost),
            None if self.landed.is_some() => 0,
            None => {
                self.in_flight = before.saturating_sub(answer.landed);
                answer.acked
            }
        };
        if answer.told > 0 {
            let share = answer.lost.min(answer.told) as f64 / answer.told as f64;
            self.lost_share += REPORT_WEIGHT * (share - self.lost_share);
        }
        self.delivered += acked;
        let (in_flight, flight_size) = (Bytes(self.in_flight), Bytes(before));
        let episode_over = self.ends_episode(answer.marks);
        if answer.lost > 0 {
            let episode = self.recover.is_none();
            self.episodes += u64::from(episode);
            self.recover.get_or_insert(self.order + 1);
            let (cause, lost, again) = (Cause::Gap, Bytes(answer.lost), answer.repair);
            self.controller.on_loss(&Loss { now, cause, lost, flight_size, in_flight, episode, again });
        }
        let sample = answer.rtt.zip(answer.marks).map(|(interval, marks)| self.sample(interval, marks));
        let (sent, received) = (Bytes(answer.acked + answer.lost), Bytes(answer.acked));
        self.controller.on_ack(&Ack {
            now,
            acked: Bytes(acked),
            rtt: answer.rtt,
            // By the sender's clock alone; where light takes the same time back, it is as good.
            one_way: answer.rtt,
            in_flight,
            delivered: Bytes(self.delivered),
            sample,
            window: Some(Window { sent, received, train: None }),
            recovering: self.recover.is_some(),
            recovered: episode_over && self.recover.is_none(),
            limited: true,
            ..Ack::default()
        });
    }
    /// What left until now is there or lost; returns how many bytes were not known to be.
    fn land(&mut self, left: u64) -> u64 {
        let Some(landed) = &mut self.landed else { return 0 };
        let newly = left.saturating_sub(*landed);
        *landed += newly;
        self.in_flight = self.left - *landed;
        newly
    }
    fn ends_episode(&mut self, marks: Option<Marks>) -> bool {
        let ends = marks.is_some_and(|marks| self.recover.is_some_and(|end| marks.order >= end));
        if ends {
            self.recover = None;
        }
        ends
    }
    fn sample(&self, interval: Duration, marks: Marks) -> RateSample {
        let delivered = Bytes(self.delivered.saturating_sub(marks.delivered));
        RateSample { delivered, before: Bytes(marks.delivered), interval }
    }
    /// A probe was acknowledged that left with these marks, `rtt` ago if it left once. The bytes before the probe that
    /// stand for `overtaken` ones without an answer count as lost until a report says more.
    pub fn probed(&mut self, now: Instant, marks: Marks, rtt: Option<Duration>, overtaken: Overtaken) {
        let before = self.in_flight;
        self.weigh_probes(overtaken.probes);
        let newly = self.land(marks.left);
        let lost = overtaken.bytes.min(newly);
        // A probe that was answered does not say that all before it arrived.
        let expected = (newly as f64 * (1.0 - self.lost_share)) as u64;
        let acked = expected.min(newly - lost);
        self.delivered += acked;
        let (in_flight, flight_size) = (Bytes(self.in_flight), Bytes(before));
        let episode_over = self.ends_episode(Some(marks));
        if lost > 0 {
            let episode = self.recover.is_none();
            self.episodes += u64::from(episode);
            self.recover.get_or_insert(self.order + 1);
            let (cause, lost, again) = (Cause::Gap, Bytes(lost), false);
            self.controller.on_loss(&Loss { now, cause, lost, flight_size, in_flight, episode, again });
        }
        let sample = rtt.map(|interval| self.sample(interval, marks));
        self.controller.on_ack(&Ack {
            now,
            acked: Bytes(acked),
            rtt,
            one_way: rtt,
            in_flight,
            delivered: Bytes(self.delivered),
            sample,
            recovering: self.recover.is_some(),
            recovered: episode_over && self.recover.is_none(),
            limited: true,
            ..Ack::default()
        });
    }
    /// This many probes are lost, and one behind them is not.
    fn weigh_probes(&mut self, lost: usize) {
        for _ in 0..lost.min(64) {
            self.lost_share += PROBE_WEIGHT * (1.0 - self.lost_share);
        }
        self.lost_share -= PROBE_WEIGHT * self.lost_share;
    }
    /// No probe that left with these marks or later was answered.
    pub fn unprobed(&mut self, now: Instant, marks: Marks) {
        let lost = self.land(marks.left);
        self.silence(now, marks.order, lost);
    }
    /// Timeout: no report on `lost` bytes sent up to segment `order`.
    pub fn silence(&mut self, now: Instant, order: u64, lost: u64) {
        // Losses sent before the last timeout belong to its episode.
        if self.recover.is_some_and(|end| order < end) {
            return;
        }
        self.recover = Some(self.order + 1);
        self.episodes += 1;
        let (flight_size, in_flight) = (Bytes(self.in_flight), Bytes(self.in_flight.saturating_sub(lost)));
        let (cause, lost) = (Cause::Timeout, Bytes(lost));
        let (episode, again) = (true, false);
        self.controller.on_loss(&Loss { now, cause, lost, flight_size, in_flight, episode, again });
    }
    /// No session is open: nothing is awaited.
    pub fn settle(&mut self) {
        self.land(self.left);
    }
    /// Reports on these bytes are no longer expected.
    pub fn forget(&mut self, bytes: u64) {
        if self.landed.is_none() {
            self.in_flight = self.in_flight.saturating_sub(bytes);
        }
    }
}
