//! The receiving half of CCID 3: which losses are one event, how long the intervals between events are, and
//! how fast data come (RFC 4342, sections 6 to 10; RFC 5348, sections 5 and 6).

use crate::controllers::tcp_throughput;
use crate::math;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use crate::wire::dccp::{Item, LossInterval, Sequence};
use std::collections::VecDeque;

/// Later packets that must have come before one counts as lost (NDUPACK).
const OVERTAKEN: usize = 3;
/// Closed loss intervals that count (NINTERVAL).
const INTERVALS: usize = 8;
/// Their weights, newest first (RFC 5348, section 5.4).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// A long interval without loss discounts older ones to this at most (RFC 5348, section 5.5).
const DISCOUNT_LEAST: f64 = 0.25;
/// Most gaps that wait until enough later packets have arrived.
const HOLES_MAX: usize = 64;
/// Intervals in a Loss Intervals option: those that count and the open one.
const REPORTED: usize = INTERVALS + 1;

/// A round trip of which nothing is known (RFC 4340, section 3.4).
const DEFAULT_RTT_S: f64 = 0.2;

/// A gap in the sequence numbers.
#[derive(Clone, Copy, Debug)]
struct Hole {
    first: Sequence,
    count: u64,
    /// Data packets before it, and when it would have come.
    position: u64,
    at: Instant,
    /// Until the next of them would have come.
    step: Duration,
    /// The window counter of the packet before it.
    counter: u64,
    overtaken: usize,
}

impl Hole {
    /// The rest of it.
    fn without_first(&self, count: u64) -> Self {
        Self {
            first: self.first.plus(count),
            count: self.count - count,
            position: self.position + count,
            at: self.at.saturating_add(self.step * i64::try_from(count).unwrap_or(i64::MAX)),
            ..*self
        }
    }
}

/// Packets from one loss event to the next.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// Data packets before its first loss.
    begin: u64,
    /// Its first number, and that of its last loss: none in the interval before all losses.
    first: Sequence,
    last_lost: Option<Sequence>,
    /// The window counter before its first loss.
    counter: u64,
    at: Instant,
    /// Data packets in it, once it is closed.
    length: f64,
    discount: f64,
}

/// How much came since when.
#[derive(Clone, Copy, Debug)]
struct Meter {
    since: Instant,
    bytes: u64,
}

/// The receiving half of a CCID 3 half-connection.
#[derive(Debug)]
pub struct Ccid3Receiver {
    segment: Bytes,
    /// The first number of the other end.
    first: Sequence,
    greatest: Option<Sequence>,
    greatest_at: Instant,
    /// Data packets sent before the next one, as far as is known.
    position: u64,
    holes: VecDeque<Hole>,
    /// Newest first; the first is open.
    intervals: VecDeque<Interval>,
    /// Discount of what is closed, by the open interval.
    discount: f64,
    /// Window counters, not wrapped, and when they came first.
    counter: u64,
    counters: VecDeque<(u64, Instant)>,
    rtt: Option<Duration>,
    reported_counter: Option<u64>,
    meters: [Meter; 2],
    /// The greatest receive rate that was reported.
    receive_rate_most: f64,
}

impl Ccid3Receiver {
    /// Nothing has come. `segment`: data of a full packet; `first`: the first number of the other end.
    pub fn new(now: Instant, segment: Bytes, first: Sequence) -> Self {
        let meter = Meter { since: now, bytes: 0 };
        Self {
            segment,
            first,
            greatest: None,
            greatest_at: now,
            position: 0,
            holes: VecDeque::new(),
            intervals: VecDeque::new(),
            discount: 1.0,
            counter: 0,
            counters: VecDeque::new(),
            rtt: None,
            reported_counter: None,
            meters: [meter; 2],
            receive_rate_most: 0.0,
        }
    }
    /// A new data packet has arrived, after `without_data` packets without data. True if a report is due: for
    /// a new loss event, or after a round trip (RFC 4342, section 6).
    pub fn on_data(
        &mut self,
        now: Instant,
        sequence: Sequence,
        ccval: u8,
        without_data: u64,
        bytes: u64,
    ) -> bool {
        let tells = self.take(now, sequence, ccval, without_data, bytes);
        self.update_discount();
        tells
    }
    /// The data packet that arrived last had a mark: as if it were lost (RFC 5348, section 5). True if a loss event
    /// begins.
    pub fn on_mark(&mut self, now: Instant, sequence: Sequence) -> bool {
        let (step, counter) = (Duration::from_nanos(1), self.counter);
        let position = self.position.saturating_sub(1);
        let begun = self.on_lost(
            now,
            &Hole { first: sequence, count: 1, position, at: now, step, counter, overtaken: 0 },
        );
        self.update_discount();
        begun
    }
    fn take(&mut self, now: Instant, sequence: Sequence, ccval: u8, without_data: u64, bytes: u64) -> bool {
        self.meters[1].bytes += bytes;
        let Some(greatest) = self.greatest else {
            self.greatest = Some(sequence);
            self.greatest_at = now;
            self.position = 1;
            self.counter = ccval.into();
            self.counters.push_back((self.counter, now));
            self.meters = [Meter { since: now, bytes: 0 }; 2];
            return true;
        };
        let ahead = sequence.since(greatest);
        if ahead <= 0 {
            self.fill(sequence);
            self.overtake(sequence);
            return self.find_lost(now);
        }
        let missing = (ahead.unsigned_abs() - 1).saturating_sub(without_data);
        if missing > 0 {
            self.open_hole(now, greatest.plus(1), missing);
        }
        self.position += missing + 1;
        (self.greatest, self.greatest_at) = (Some(sequence), now);
        self.count_quarters(now, ccval);
        self.overtake(sequence);
        let lost = self.find_lost(now);
        let round_trip = self.reported_counter.is_none_or(|reported| self.counter >= reported + 4);
        lost || round_trip
    }
    fn open_hole(&mut self, now: Instant, first: Sequence, count: u64) {
        // RFC 5348, section 5.2: the time at which it would have come, in between.
        let gap = (now - self.greatest_at).as_nanos();
        let step = Duration::from_nanos(gap / i64::try_from(count + 1).unwrap_or(i64::MAX));
        let (position, at) = (self.position, self.greatest_at + step);
        self.holes.push_back(Hole { first, count, position, at, step, counter: self.counter, overtaken: 0 });
        if self.holes.len() > HOLES_MAX {
            self.holes.pop_front();
        }
    }
    /// A packet of a gap has arrived after all.
    fn fill(&mut self, sequence: Sequence) {
        let inside = |hole: &Hole| {
            let at = sequence.since(hole.first);
            at >= 0 && at.unsigned_abs() < hole.count
        };
        let Some(index) = self.holes.iter().position(inside) else { return };
        let hole = self.holes[index];
        let before = sequence.since(hole.first).unsigned_abs();
        let after = hole.count - 1 - before;
        self.holes.remove(index);
        if after > 0 {
            self.holes.insert(index, hole.without_first(before + 1));
        }
        if before > 0 {
            self.holes.insert(index, Hole { count: before, ..hole });
        }
    }
    /// Counts quarters of round trips (RFC 4342, section 8.1), and measures one where four have passed.
    fn count_quarters(&mut self, now: Instant, ccval: u8) {
        let step = u64::from(ccval.wrapping_sub(self.counter as u8) & 15);
        if step == 0 || step > 8 {
            return;
        }
        self.counter += step;
        // A step of five says no more than that it was five or more.
        let before = |distance| self.counters.iter().rev().find(|(at, _)| self.counter - at == distance);
        if let Some((counter, at)) = [4, 3, 2].into_iter().find_map(before) {
            let quarters = (self.counter - counter) as i64;
            let sample = (now - *at).as_nanos() * 4 / quarters;
            let smoothed = self.rtt.map_or(sample, |rtt| rtt.as_nanos() / 10 * 9 + sample / 10);
            self.rtt = Some(Duration::from_nanos(smoothed));
        }
        self.counters.push_back((self.counter, now));
        if self.counters.len() > 16 {
            self.counters.pop_front();
        }
    }
    /// A packet sent after the missing ones of some gaps has arrived.
    fn overtake(&mut self, sequence: Sequence) {
        let before = |hole: &&mut Hole| sequence.since(hole.first) > 0;
        self.holes.iter_mut().filter(before).for_each(|hole| hole.overtaken += 1);
    }
    /// Gaps that enough later packets have overtaken are losses; true if a loss event begins.
    fn find_lost(&mut self, now: Instant) -> bool {
        let mut begun = false;
        while let Some(hole) = self.holes.front().copied().filter(|hole| hole.overtaken >= OVERTAKEN) {
            self.holes.pop_front();
            begun |= self.on_lost(now, &hole);
        }
        begun
    }
    /// A gap is lost: its packets within a round trip of the open event belong to that, and each further
    /// round trip is an event of its own.
    fn on_lost(&mut self, now: Instant, hole: &Hole) -> bool {
        let mut left = *hole;
        let mut begun = false;
        let step = hole.step.as_nanos().max(1);
        let round_trip = self.rtt.map_or(i64::MAX, Duration::as_nanos);
        // Packets lost in one event; events that would be forgotten at once are skipped.
        let in_event = (round_trip / step).unsigned_abs() + 1;
        let passed = (hole.count / in_event).saturating_sub(2 * REPORTED as u64) * in_event;
        while left.count > 0 {
            let belongs = self.intervals.front().map_or(0, |open| {
                // Who sends less than a packet a round trip shows none (RFC 4342, section 10.2).
                if self.rtt.is_none() && hole.counter > open.counter + 4 {
                    return 0;
                }
                let room = open.at.saturating_add(Duration::from_nanos(round_trip)) - left.at;
                if room < Duration::ZERO { 0 } else { (room.as_nanos() / step).unsigned_abs() + 1 }
            });
            if belongs == 0 {
                self.begin_event(now, &left);
                begun = true;
                // The first of it belongs to it.
                continue;
            }
            let mut count = left.count.min(belongs);
            if let Some(open) = self.intervals.front_mut() {
                open.last_lost = Some(left.first.plus(count - 1));
            }
            if left.count == hole.count && passed > 0 {
                count = count.max(passed.min(left.count - 1));
            }
            left = left.without_first(count);
        }
        begun
    }
    fn begin_event(&mut self, now: Instant, hole: &Hole) {
        match self.intervals.front_mut() {
            Some(open) => open.length = hole.position.saturating_sub(open.begin).max(1) as f64,
            None => self.intervals.push_front(self.before_the_first(now, hole)),
        }
        let discount = std::mem::replace(&mut self.discount, 1.0);
        // The long interval keeps its weight.
        self.intervals.iter_mut().skip(1).for_each(|interval| interval.discount *= discount);
        self.intervals.push_front(Interval {
            begin: hole.position,
            first: hole.first,
            last_lost: None,
            counter: hole.counter,
            at: hole.at,
            length: 0.0,
            discount: 1.0,
        });
        self.intervals.truncate(REPORTED);
    }
    /// The interval before the first loss is as long as fits the rate that was reached (RFC 5348, section
    /// 6.3.1).
    fn before_the_first(&self, now: Instant, hole: &Hole) -> Interval {
        let rate = self.rate_now(now).max(self.receive_rate_most);
        let (rtt, segment) = (self.rtt.map_or(DEFAULT_RTT_S, Duration::as_secs_f64), self.segment.0 as f64);
        // Half a packet a round trip at least.
        let length = 1.0 / loss_event_rate_for(rate.max(0.5 * segment / rtt), segment, rtt);
        let length = length.clamp(1.0, 1e9);
        Interval {
            begin: hole.position.saturating_sub(length as u64),
            first: self.first,
            last_lost: None,
            counter: hole.counter,
            at: hole.at,
            length,
            discount: 1.0,
        }
    }
    /// Bytes a second over the last round trip at least.
    fn rate_now(&self, now: Instant) -> f64 {
        let span = now - self.meters[1].since;
        let whole = self.rtt.is_none_or(|rtt| span >= rtt);
        let (since, bytes) = if whole {
            (self.meters[1].since, self.meters[1].bytes)
        } else {
            (self.meters[0].since, self.meters[0].bytes + self.meters[1].bytes)
        };
        let span = (now - since).as_secs_f64();
        if span > 0.0 { bytes as f64 / span } else { 0.0 }
    }
    /// The loss event rate.
    pub fn loss_event_rate(&mut self) -> f64 {
        if self.intervals.is_empty() {
            return 0.0;
        }
        let (open, plain) = self.update_discount();
        let closed = self.intervals.iter().skip(1).map(|i| (i.length, i.discount * self.discount));
        let with_open = std::iter::once((open, 1.0)).chain(closed);
        // As many intervals either way (RFC 5348, section 5.4): the oldest makes room for the open one.
        1.0 / mean(with_open.take(self.intervals.len() - 1)).max(plain).max(1.0)
    }
    /// By how much the open interval discounts the others (RFC 5348, section 5.5); gives its length, and
    /// their mean.
    fn update_discount(&mut self) -> (f64, f64) {
        let open = self.intervals.front().map_or(0, |open| self.position.saturating_sub(open.begin)) as f64;
        let plain = mean(self.intervals.iter().skip(1).map(|i| (i.length, i.discount)));
        self.discount = if open > 2.0 * plain { (2.0 * plain / open).max(DISCOUNT_LEAST) } else { 1.0 };
        (open, plain)
    }
    /// Appends a report.
    pub fn write(&mut self, now: Instant, tells_rate: bool, room: usize, out: &mut Vec<u8>) {
        let Some(greatest) = self.greatest else { return };
        let rate = self.rate_now(now);
        let span = now - self.meters[1].since;
        if self.rtt.is_none_or(|rtt| span >= rtt) {
            self.meters = [self.meters[1], Meter { since: now, bytes: 0 }];
        }
        self.receive_rate_most = self.receive_rate_most.max(rate);
        self.reported_counter = Some(self.counter);
        let event_rate = self.loss_event_rate();
        if tells_rate {
            let packets = if event_rate > 0.0 { (1.0 / event_rate).ceil() as u32 } else { u32::MAX };
            Item::LossEventRate(packets).write(out);
        }
        Item::ReceiveRate(rate.min(u32::MAX.into()) as u32).write(out);
        let pending =
            self.holes.front().map_or(0, |hole| greatest.since(hole.first).max(0).unsigned_abs() + 1);
        let skip = pending.min(OVERTAKEN as u64);
        let cells = self.cells(greatest, skip);
        if room >= cells.len() + 3 {
            Item::LossIntervals { skip: skip as u8, cells: &cells }.write(out);
        }
    }
    /// All intervals, newest first, without the `skip` newest numbers (RFC 4342, section 8.6.1).
    fn cells(&self, greatest: Sequence, skip: u64) -> Vec<u8> {
        let mut cells = Vec::new();
        let mut last = greatest.minus(skip);
        let numbers = |first: Sequence, last: Sequence| (last.since(first) + 1).clamp(0, 1 << 24) as u32;
        for (index, interval) in self.intervals.iter().enumerate() {
            let length = numbers(interval.first, last).max(1);
            let lossy = interval.last_lost.map_or(0, |lost| numbers(interval.first, lost).min(length));
            let open = self.position.saturating_sub(interval.begin + skip);
            let data = if index == 0 { open.clamp(1, length.into()) } else { interval.length as u64 } as u32;
            LossInterval { lossless: length - lossy, lossy, nonce: false, data }.write(&mut cells);
            last = interval.first.minus(1);
        }
        if cells.is_empty() {
            // Before the first loss the data length is not reported (section 6.1.1).
            LossInterval { lossless: numbers(self.first, last), ..LossInterval::default() }.write(&mut cells);
        }
        cells
    }
    /// The round-trip time that the sender's window counter shows.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }
}

/// The weighted mean of intervals, newest first, each with its discount; 0 of none.
fn mean(intervals: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut total, mut weights) = (0.0, 0.0);
    for ((length, discount), weight) in intervals.zip(WEIGHTS) {
        total += length * weight * discount;
        weights += weight * discount;
    }
    if weights > 0.0 { total / weights } else { 0.0 }
}

/// The loss event rate of intervals, newest first, of which the first is open (RFC 5348, section 5.4).
pub fn loss_event_rate(intervals: &[u32]) -> f64 {
    let lengths = || intervals.iter().map(|length| (f64::from(*length), 1.0));
    let closed = intervals.len().saturating_sub(1);
    let longest = mean(lengths().take(closed.max(1))).max(mean(lengths().skip(1)));
    if intervals.is_empty() { 0.0 } else { 1.0 / longest.max(1.0) }
}

/// The loss event rate at which TCP would get this throughput, by bisection.
fn loss_event_rate_for(rate: f64, segment: f64, rtt: f64) -> f64 {
    let (mut low, mut high) = (-20.0, 0.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if tcp_throughput(segment, rtt.max(1e-6), math::exp(middle)) > rate {
            low = middle
        } else {
            high = middle
        }
    }
    math::exp(high)
}
