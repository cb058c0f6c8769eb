//! From records to the numbers of a run, at a few nanoseconds a record.

use super::summary::Summary;
use super::waits::Waits;
use lightlag_protocols::dtn::{Bundle, BundleId, DropReason};
use lightlag_protocols::record::bundles::{Observer, Record, ReplyKind};
use lightlag_protocols::time::{Duration, Instant};

/// Counts what happens; [`Metrics::summary`] sums it up, at any time.
///
/// Bundles created before the warm-up is over are ignored for ever, as in The ONE.
#[derive(Clone, Debug)]
pub struct Metrics {
    warmup: Instant,
    now: Instant,
    /// By bundle number.
    bundles: Vec<Fact>,
    started: u64,
    aborted: u64,
    stored: u64,
    refused: u64,
    delivered_again: u64,
    rejected: u64,
    sent_bytes: u64,
    encounters: u64,
    control_bytes: u64,
    /// By [`DropReason`].
    gone: [u64; 5],
    /// Requests and their replies.
    replies: Vec<(BundleId, BundleId, ReplyKind)>,
    /// Nanoseconds that deleted copies had been stored.
    stays: Vec<i64>,
    hops: Vec<u32>,
    waits: Waits,
}

/// What is remembered of a bundle.
#[derive(Clone, Copy, Debug)]
struct Fact {
    counts: bool,
    destination: u32,
    size: u64,
    created: Instant,
    /// [`Instant::MAX`] until it is.
    delivered: Instant,
}

const IGNORED: Fact =
    Fact { counts: false, destination: 0, size: 0, created: Instant::ZERO, delivered: Instant::MAX };

impl Metrics {
    /// Counts bundles that are created from `warmup` on.
    pub fn new(warmup: Instant) -> Self {
        Self {
            warmup,
            now: Instant::ZERO,
            bundles: Vec::new(),
            started: 0,
            aborted: 0,
            stored: 0,
            refused: 0,
            delivered_again: 0,
            rejected: 0,
            sent_bytes: 0,
            encounters: 0,
            control_bytes: 0,
            gone: [0; 5],
            replies: Vec::new(),
            stays: Vec::new(),
            hops: Vec::new(),
            waits: Waits::default(),
        }
    }
    fn created(&mut self, now: Instant, bundle: &Bundle, is_stored: bool) {
        let at = bundle.id.0 as usize;
        if at >= self.bundles.len() {
            self.bundles.resize(at + 1, IGNORED);
        }
        self.bundles[at] = Fact {
            counts: bundle.created >= self.warmup,
            destination: bundle.destination.0,
            size: bundle.size.get(),
            created: bundle.created,
            delivered: Instant::MAX,
        };
        if bundle.created >= self.warmup {
            self.waits.over(now, bundle, is_stored);
        }
    }
    #[inline]
    fn fact(&self, id: BundleId) -> Fact {
        self.bundles.get(id.0 as usize).copied().unwrap_or(IGNORED)
    }
    #[inline]
    fn counts(&self, id: BundleId) -> u64 {
        u64::from(self.fact(id).counts)
    }
    fn delivered(&mut self, now: Instant, id: BundleId, hops: u32, first: bool) {
        let Some(fact) = self.bundles.get_mut(id.0 as usize).filter(|fact| fact.counts) else { return };
        if first {
            fact.delivered = now;
            self.hops.push(hops);
        } else {
            self.delivered_again += 1;
        }
    }
    #[inline]
    fn deleted(&mut self, now: Instant, id: BundleId, reason: DropReason, received: Instant) {
        // What is replaced vanishes without an event in The ONE: no figure counts it.
        if self.fact(id).counts && reason != DropReason::Replaced {
            self.gone[reason as usize] += 1;
            self.stays.push(now.as_nanos().saturating_sub(received.as_nanos()));
        }
    }
    /// The numbers of what has happened so far.
    pub fn summary(&self) -> Summary {
        let mut summary = self.counters();
        let latencies = self.latencies();
        (summary.latency_avg, summary.latency_med) = mean_and_median(&latencies);
        (summary.buffertime_avg, summary.buffertime_med) = mean_and_median(&self.stays);
        let hops: Vec<i64> = self.hops.iter().map(|&hops| i64::from(hops)).collect();
        summary.hopcount_avg = mean(&hops);
        summary.hopcount_med = upper_median(&hops).unwrap_or(0) as u64;
        self.add_replies(&mut summary);
        self.waits.sum_up(self.warmup, self.now, &mut summary);
        summary.censored_delay_avg = self.censored_delay();
        summary.fairness = self.fairness();
        summary.latencies = latencies.into_iter().map(Duration::from_nanos).collect();
        summary.latencies.sort_unstable();
        let shares = [60, 600, 3_600, 21_600, 86_400]
            .map(|seconds| summary.delivered_within(Duration::from_secs(seconds)));
        [
            summary.delivered_by_1min,
            summary.delivered_by_10min,
            summary.delivered_by_1h,
            summary.delivered_by_6h,
            summary.delivered_by_1d,
        ] = shares;
        summary
    }
    fn counters(&self) -> Summary {
        let counted = || self.bundles.iter().filter(|fact| fact.counts);
        let delivered = self.hops.len() as u64;
        let created = counted().count() as u64;
        let relayed = self.stored + self.refused + delivered + self.delivered_again;
        let of = |reason: DropReason| self.gone[reason as usize];
        let arrived = counted().filter(|fact| fact.delivered < Instant::MAX);
        let delivered_bytes: u64 = arrived.map(|fact| fact.size).sum();
        let all_bytes = self.sent_bytes + self.control_bytes;
        Summary {
            sim_time: self.now.as_secs_f64(),
            created,
            started: self.started,
            relayed,
            aborted: self.aborted,
            dropped: of(DropReason::Overflow) + of(DropReason::Expired),
            removed: of(DropReason::Acknowledged) + of(DropReason::HandedOver),
            delivered,
            delivery_prob: if created == 0 { 0.0 } else { delivered as f64 / created as f64 },
            overhead_ratio: ratio(relayed as f64 - delivered as f64, delivered as f64),
            delivered_bytes,
            control_bytes: self.control_bytes,
            bytes_per_delivered_byte: ratio(all_bytes as f64, delivered_bytes as f64),
            sent_bytes: self.sent_bytes,
            encounters: self.encounters,
            refused: self.refused,
            rejected: self.rejected,
            delivered_again: self.delivered_again,
            dropped_overflow: of(DropReason::Overflow),
            dropped_expired: of(DropReason::Expired),
            removed_acknowledged: of(DropReason::Acknowledged),
            removed_handed_over: of(DropReason::HandedOver),
            ..Summary::default()
        }
    }
    /// Requests, replies and round trips.
    fn add_replies(&self, summary: &mut Summary) {
        let (mut asked, mut answered, mut round_trips) = (0_u64, 0_u64, Vec::new());
        let came = |fact: Fact| u64::from(fact.delivered < Instant::MAX);
        for &(request, reply, kind) in &self.replies {
            let [to, back] = [request, reply].map(|id| self.fact(id));
            summary.requests += u64::from(to.counts);
            summary.requests_delivered += came(to);
            summary.replies += u64::from(back.counts);
            summary.replies_delivered += came(back);
            if kind == ReplyKind::Response {
                asked += u64::from(to.counts);
                answered += came(back);
                let round_trip = back.delivered.as_nanos().saturating_sub(to.created.as_nanos());
                round_trips.extend((came(back) > 0).then_some(round_trip));
            }
        }
        summary.response_prob = if asked == 0 { 0.0 } else { answered as f64 / asked as f64 };
        (summary.rtt_avg, summary.rtt_med) = mean_and_median(&round_trips);
    }
    fn latencies(&self) -> Vec<i64> {
        let delivered = self.bundles.iter().filter(|fact| fact.delivered < Instant::MAX);
        delivered.map(|fact| fact.delivered.as_nanos().saturating_sub(fact.created.as_nanos())).collect()
    }
    fn censored_delay(&self) -> f64 {
        let counted = self.bundles.iter().filter(|fact| fact.counts);
        let delay =
            |fact: &Fact| fact.delivered.min(self.now).as_nanos().saturating_sub(fact.created.as_nanos());
        let delays: Vec<i64> = counted.map(delay).collect();
        mean(&delays) / NS_PER_S
    }
    /// Jain, Chiu and Hawe (1984): (sum x)^2 / (n sum x^2), x the delivery ratio of a destination.
    fn fairness(&self) -> f64 {
        let mut counts: Vec<(u64, u64)> = Vec::new();
        for fact in self.bundles.iter().filter(|fact| fact.counts) {
            let at = fact.destination as usize;
            if at >= counts.len() {
                counts.resize(at + 1, (0, 0));
            }
            counts[at].0 += 1;
            counts[at].1 += u64::from(fact.delivered < Instant::MAX);
        }
        let shares: Vec<f64> =
            counts.iter().filter(|c| c.0 > 0).map(|&(created, came)| came as f64 / created as f64).collect();
        let sum: f64 = shares.iter().sum();
        let squares: f64 = shares.iter().map(|share| share * share).sum();
        ratio(sum * sum, shares.len() as f64 * squares)
    }
}

const NS_PER_S: f64 = 1e9;

fn ratio(over: f64, under: f64) -> f64 {
    if under == 0.0 { f64::NAN } else { over / under }
}

fn mean(values: &[i64]) -> f64 {
    // Summed exactly: a run has millions of stays, and a float would round each addition.
    let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
    ratio(sum as f64, values.len() as f64)
}

/// The element at n / 2 of the sorted list: The ONE does not average the middle two.
fn upper_median(values: &[i64]) -> Option<i64> {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}

/// In seconds, of nanoseconds; NaN of nothing.
fn mean_and_median(values: &[i64]) -> (f64, f64) {
    (mean(values) / NS_PER_S, upper_median(values).map_or(f64::NAN, |ns| ns as f64 / NS_PER_S))
}

impl Observer for Metrics {
    #[inline]
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.now = now;
        match *record {
            Record::Started { id, .. } => self.started += self.counts(id),
            Record::Sent { id, .. } => {
                let fact = self.fact(id);
                self.sent_bytes += if fact.counts { fact.size } else { 0 };
            }
            Record::Stored { id, .. } => self.stored += self.counts(id),
            Record::Gone { id, reason, received, .. } => self.deleted(now, id, reason, received),
            Record::Aborted { id, .. } => self.aborted += self.counts(id),
            Record::Refused { id, .. } => self.refused += self.counts(id),
            Record::Delivered { id, hops, first, .. } => self.delivered(now, id, hops, first),
            Record::Created(ref bundle) => self.created(now, bundle, true),
            Record::Rejected(ref bundle) => {
                self.created(now, bundle, false);
                self.rejected += self.counts(bundle.id);
            }
            Record::ContactUp { .. } => self.encounters += 1,
            Record::Control { size, .. } => {
                self.control_bytes += if now >= self.warmup { size.get() } else { 0 };
            }
            Record::Reply { request, reply, kind } => self.replies.push((request, reply, kind)),
            Record::Node { .. }
            | Record::Rate { .. }
            | Record::ContactDown { .. }
            | Record::Sample { .. }
            | Record::Position { .. }
            | Record::End => {}
        }
    }
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
