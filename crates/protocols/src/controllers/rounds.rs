//! What became of what was sent: sending is cut into stretches, and reports that pass the end of one make a
//! [`Round`] of it.
//!
//! Nothing is asked of a transport but what every one says: how much has arrived, and how much is still in
//! flight. Whatever left and is neither was lost, however late a transport declares it so.

use super::Ack;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use std::collections::VecDeque;

/// Most stretches whose fate is unknown; then the open one grows.
const MOST: usize = 1024;
/// One over the weight of the newest time between two reports.
const GAP_WEIGHT: i64 = 4;

/// A stretch of what was sent, and what the reports say of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round<L> {
    /// What the sender did meanwhile.
    pub label: L,
    /// Data that left, in bytes.
    pub sent: f64,
    /// Rate at which it left, in bytes on the link a second.
    pub rate: f64,
    /// Share that arrived, 0 to 1.
    pub arrived: f64,
    /// Rate at which it arrived, as a share of the rate at which it left: below `arrived` while a queue
    /// grows; `None` for the first.
    pub pace: Option<f64>,
}

impl<L> Round<L> {
    /// Share that was lost, 0 to 1.
    pub fn lost(&self) -> f64 {
        1.0 - self.arrived
    }
    /// Rate at which it came, in bytes on the link a second.
    pub fn came(&self) -> f64 {
        self.rate * self.pace.unwrap_or(self.arrived)
    }
    /// Share of the rate at which it left that got through, without what only filled a queue.
    pub fn through(&self) -> f64 {
        self.pace.map_or(self.arrived, |pace| pace.min(self.arrived))
    }
}

#[derive(Clone, Copy, Debug)]
struct Stretch<L> {
    label: L,
    began: Instant,
    ended: Instant,
    /// Data and bytes on the link that left.
    data: u64,
    link: u64,
    /// All data that had left at its end.
    until: u64,
}

/// Where the reports have come to.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    passed: u64,
    arrived: u64,
    at: Option<Instant>,
}

/// Cuts what is sent into stretches, and judges them by what arrives. A label says what the sender did.
#[derive(Debug)]
pub struct Rounds<L> {
    /// Bytes on the link of a packet beside its data.
    headers: u64,
    left: u64,
    open: Option<Stretch<L>>,
    pending: VecDeque<Stretch<L>>,
    arrived: u64,
    mark: Mark,
    /// The label of the last stretch that reports passed.
    passed: Option<L>,
    /// What is counted is not what it seems.
    void: bool,
    /// Least and most round trip since the mark, and how far they were apart before it.
    rtts: Option<(Duration, Duration)>,
    spread: Duration,
    /// Time between reports, and when the last came.
    gap: Duration,
    heard: Option<Instant>,
}

impl<L: Copy + PartialEq> Rounds<L> {
    /// Of packets with this much beside their data.
    pub fn new(headers: Bytes) -> Self {
        Self {
            headers: headers.0,
            left: 0,
            open: None,
            pending: VecDeque::new(),
            arrived: 0,
            mark: Mark::default(),
            passed: None,
            void: false,
            rtts: None,
            spread: Duration::ZERO,
            gap: Duration::ZERO,
            heard: None,
        }
    }
    /// A packet left; `label` counts for the first of a stretch. Gives the data and the time of the stretch.
    pub fn on_sent(&mut self, now: Instant, size: Bytes, label: L) -> (u64, Duration) {
        let open =
            self.open.get_or_insert(Stretch { label, began: now, ended: now, data: 0, link: 0, until: 0 });
        self.left += size.0;
        (open.ended, open.until) = (now, self.left);
        open.data += size.0;
        open.link += size.0 + self.headers;
        (open.data, now - open.began)
    }
    /// Ends the stretch. Gives whether it did: not while too many are pending.
    pub fn cut(&mut self) -> bool {
        let fits = self.pending.len() < MOST;
        if fits {
            self.pending.extend(self.open.take());
        }
        fits
    }
    /// Ends the stretch with another label.
    pub fn cut_as(&mut self, label: L) {
        if let Some(open) = &mut self.open {
            open.label = label;
        }
        self.cut();
    }
    /// The least duration of a stretch of which the rate of arrival can be measured, where reports come in bursts and
    /// delays differ by `spreads` times what they did.
    pub fn shortest(&self, spreads: i64) -> Duration {
        (self.gap * 4).max(self.spread * spreads)
    }
    /// What is reported until the next mark says nothing about the rate.
    pub fn void(&mut self) {
        self.void = true;
    }
    /// The label of the last stretch that reports have passed.
    pub fn passed(&self) -> Option<L> {
        self.passed
    }
    /// What seemed lost has arrived; or, negative, what has arrived counts as lost.
    pub fn correct(&mut self, arrived: i64) {
        self.arrived = self.arrived.saturating_add_signed(arrived);
    }
    /// A report came. Gives the round, if it passes the end of stretches that all bear one label.
    pub fn on_ack(&mut self, ack: &Ack) -> Option<Round<L>> {
        self.time(ack);
        self.arrived += ack.acked.0;
        let reached = self.left.saturating_sub(ack.in_flight.0);
        let count = self.pending.iter().take_while(|stretch| stretch.until <= reached).count();
        let label = self.pending.front().filter(|_| count > 0)?.label;
        let mut alike = !std::mem::take(&mut self.void);
        let (mut link, mut data, mut span) = (0, 0, Duration::ZERO);
        for stretch in self.pending.drain(..count) {
            alike &= stretch.label == label;
            (link, data) = (link + stretch.link, data + stretch.data);
            span = span.saturating_add(stretch.ended - stretch.began);
            self.passed = Some(stretch.label);
        }
        let round = self.round(ack.now, reached, label, (data, link, span));
        self.advance(ack.now, reached);
        round.filter(|_| alike)
    }
    /// The round that is being reported, as far as it is; `None` where another label began within it.
    pub fn so_far(&self, ack: &Ack) -> Option<Round<L>> {
        let first = self.pending.front().or(self.open.as_ref())?;
        let begun = self.mark.passed + first.data >= first.until && self.mark.at.is_some() && !self.void;
        let reached = self.left.saturating_sub(ack.in_flight.0);
        let of = (first.data, first.link, first.ended - first.began);
        self.round(ack.now, reached, first.label, of).filter(|_| begun)
    }
    /// What was reported so far is judged: the rest is a round of its own.
    pub fn advance_to(&mut self, ack: &Ack) {
        self.advance(ack.now, self.left.saturating_sub(ack.in_flight.0));
    }
    fn advance(&mut self, now: Instant, reached: u64) {
        self.mark = Mark { passed: reached, arrived: self.arrived, at: Some(now) };
        self.spread = self.rtts.take().map_or(self.spread, |(least, most)| most - least);
    }
    fn time(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let (least, most) = self.rtts.unwrap_or((rtt, rtt));
            self.rtts = Some((least.min(rtt), most.max(rtt)));
        }
        if let Some(heard) = self.heard.replace(ack.now) {
            // The gap of an outage is not the usual interval between reports.
            let most = if self.gap > Duration::ZERO { self.gap * 4 } else { Duration::MAX };
            let longer = (ack.now - heard).min(most) - self.gap;
            self.gap = self.gap.saturating_add(Duration::from_nanos(longer.as_nanos() / GAP_WEIGHT));
        }
    }
    fn round(&self, now: Instant, reached: u64, label: L, of: (u64, u64, Duration)) -> Option<Round<L>> {
        let (data, link, span) = of;
        let sent = reached.saturating_sub(self.mark.passed) as f64;
        if sent <= 0.0 || span == Duration::ZERO {
            return None;
        }
        let arrived = self.arrived.saturating_sub(self.mark.arrived) as f64;
        let left_per_s = data as f64 / span.as_secs_f64();
        let took = self.mark.at.map(|at| (now - at).as_secs_f64()).filter(|took| *took > 0.0);
        Some(Round {
            label,
            sent,
            rate: link as f64 / span.as_secs_f64(),
            arrived: (arrived / sent).clamp(0.0, 1.0),
            pace: took.map(|took| arrived / took / left_per_s),
        })
    }
}
