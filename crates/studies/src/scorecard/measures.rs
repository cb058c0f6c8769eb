//! What is measured in each run.

use super::controllers::Contestant;
use super::limit::Limit;
use super::space::{Arrival, Company, Network, PACKET_BITS, PACKET_BYTES, Traffic};
use super::text::{BESIDE, OURS, PATH, PEERS, SAMPLES, rates, visit};
use lightlag_lab::packets::account::{Account, AccountSample, FlowTotals};
use lightlag_lab::results::Metrics;
use lightlag_lab::run::Outcome;
use lightlag_lab::statistics::jain;
use lightlag_protocols::time::Instant;

/// Share of the limit at which a flow has found its rate.
const FOUND: f64 = 0.8;
/// Rounds over which a rate is averaged.
const AVERAGED: usize = 2 * SAMPLES as usize;
/// Rounds after the first queue drop, or after the rate was found, in which the first search ends.
const SEARCH_ENDS: f64 = 2.0;

/// The names of the measures, in the order of tables.
pub const SHARE: &str = "share";
/// Share of the limit over the whole run, the first search included.
pub const SHARE_WHOLE: &str = "share_whole";
/// Packets sent; of names Interests, each of which asks for one packet.
pub const SENT: &str = "sent";
/// Share of the packets sent that queues dropped.
pub const DROPPED: &str = "dropped";
/// Share of the packets sent that repair others.
pub const REPAIRED: &str = "repaired";
/// Median of the queueing delay, in rounds.
pub const QUEUE_P50: &str = "queue_p50";
/// 95th percentile of the queueing delay, in rounds.
pub const QUEUE_P95: &str = "queue_p95";
/// Rounds to 80 % of the share after a change.
pub const SETTLE: &str = "settle_rounds";
/// Jain's index of flows of one kind.
pub const JAIN: &str = "jain";
/// Bytes delivered by the flows beside, which harm is computed from.
pub const BESIDE_BYTES: &str = "beside_bytes";
/// Bytes on the return path divided by bytes sent.
pub const BACK: &str = "back_share";
/// Rounds of the first search.
pub const SEARCH: &str = "search_rounds";

/// A run as its measures see it.
struct Run<'a> {
    network: &'a Network,
    limit: Limit,
    account: &'a Account,
    outcome: &'a Outcome,
    /// Whether the flows are consumers of named data.
    is_of_names: bool,
    round_s: f64,
    /// Indices of flows.
    ours: Vec<usize>,
    beside: Vec<usize>,
    /// Which may be compared with each other.
    equals: Vec<usize>,
}

/// All measures of a run; none without an account of its packets.
pub fn measures(network: &Network, contestant: &Contestant, outcome: &Outcome) -> Metrics {
    let Some(account) = outcome.account.as_ref().filter(|account| account.samples.len() > 1) else {
        return Metrics::new();
    };
    let run = Run::new(network, contestant, (outcome, account));
    let search = run.search_ends(&run.equals, 0.0, 1.0);
    let whole = run.share_between(0);
    let share = match network.traffic {
        Traffic::Endless => run.share_between(search),
        Traffic::File(size) | Traffic::Files(size) => run.share_of_files(size),
    };
    let after_searches = |pick: fn(&FlowTotals) -> u64| {
        run.equals.iter().map(|&flow| run.since(run.search_of(flow), &[flow], pick)).sum::<f64>()
    };
    let (sent, dropped) = (after_searches(|flow| flow.sent), after_searches(|flow| flow.dropped));
    let repaired = run.equals.iter().filter_map(|flow| run.figure(*flow, "packets_repaired")).sum::<f64>();
    let back = run.since(0, &run.equals, |flow| flow.back_bytes);
    let all_sent = run.since(0, &run.equals, |flow| flow.sent);
    let [p50, p95] = run.queueing(search);
    let made = [
        (SHARE, Some(share)),
        (SHARE_WHOLE, Some(whole)),
        (SENT, Some(all_sent)),
        // CoDel drops packets that were sent before.
        (DROPPED, Some(part(dropped, sent.max(dropped)))),
        ("dropped_whole", Some(part(run.since(0, &run.equals, |flow| flow.dropped), all_sent))),
        ("lost", Some(part(run.since(0, &run.equals, |flow| flow.lost), all_sent))),
        (REPAIRED, Some(part(repaired, all_sent))),
        (QUEUE_P50, Some(p50 / run.round_s)),
        (QUEUE_P95, Some(p95 / run.round_s)),
        ("queue_p50_s", Some(p50)),
        ("queue_p95_s", Some(p95)),
        (SETTLE, Some(run.settles())),
        (JAIN, run.jain()),
        (BESIDE_BYTES, (!run.beside.is_empty()).then(|| run.since(0, &run.beside, |flow| flow.delivered))),
        ("back_bytes", Some(back)),
        (BACK, Some(part(back, all_sent * PACKET_BYTES))),
        (SEARCH, Some(run.second(search) / run.round_s)),
        ("violations", Some(outcome.violations_total as f64)),
    ];
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    made.into_iter().filter_map(|(name, value)| Some((name.into(), finite(value)?))).collect()
}

fn part(of: f64, all: f64) -> f64 {
    if all > 0.0 { of / all } else { 0.0 }
}

impl<'a> Run<'a> {
    fn new(
        network: &'a Network,
        contestant: &Contestant,
        (outcome, account): (&'a Outcome, &'a Account),
    ) -> Self {
        let named = |prefix: &str| {
            let names = account.flows.iter().enumerate();
            names.filter(|(_, name)| name.starts_with(prefix)).map(|(index, _)| index).collect::<Vec<_>>()
        };
        let equals = [named(OURS), named(PEERS)].concat();
        let (limit, round_s) = (Limit::new(network, contestant), network.round_s());
        let is_of_names = contestant.is_of_names();
        let (ours, beside) = (named(OURS), named(BESIDE));
        Self { network, limit, account, outcome, is_of_names, round_s, ours, beside, equals }
    }
    /// A figure of a flow, by its name in the world of packets.
    fn figure(&self, flow: usize, name: &str) -> Option<f64> {
        let of = |name| self.outcome.figures.of_part(&self.account.flows[flow], name);
        match name {
            "packets_repaired" if self.is_of_names => of("interests_repaired"),
            "duration_s" if self.is_of_names => Some(of("end_s")? - of("start_s")?),
            _ => of(name),
        }
    }
    fn samples(&self) -> &[AccountSample] {
        &self.account.samples
    }
    fn second(&self, sample: usize) -> f64 {
        (self.samples()[sample].at - Instant::ZERO).as_secs_f64()
    }
    fn last(&self) -> usize {
        self.samples().len() - 1
    }
    /// A count of some flows between two samples.
    fn between(&self, [from, to]: [usize; 2], flows: &[usize], pick: fn(&FlowTotals) -> u64) -> f64 {
        let at =
            |sample: usize| flows.iter().map(|flow| pick(&self.samples()[sample].flows[*flow])).sum::<u64>();
        (at(to) - at(from)) as f64
    }
    fn since(&self, from: usize, flows: &[usize], pick: fn(&FlowTotals) -> u64) -> f64 {
        self.between([from, self.last()], flows, pick)
    }
    /// Bytes that the judged flows could have delivered between two samples: a fair share, or what the flows
    /// beside leave, if that is more.
    fn available(&self, [from, to]: [usize; 2]) -> f64 {
        let all = self.limit.bytes(self.second(from), self.second(to));
        let beside = self.between([from, to], &self.beside, |flow| flow.delivered);
        (all / (1 + self.beside.len()) as f64).max(all - beside)
    }
    fn share_of(&self, span: [usize; 2]) -> f64 {
        let available = self.available(span);
        let delivered = self.between(span, &self.equals, |flow| flow.delivered);
        if available > 0.0 { (delivered / available).min(1.0) } else { 1.0 }
    }
    fn share_between(&self, from: usize) -> f64 {
        self.share_of([from, self.last()])
    }
    /// Mean over the files of the least time for each, at a fair share, divided by the time that it took.
    fn share_of_files(&self, size: f64) -> f64 {
        let fair = 1.0 / f64::from(1 + self.network.others);
        let one = |flow: &usize| {
            let of = |figure| self.figure(*flow, figure).unwrap_or_default();
            let least = self.limit.seconds(size, fair, of("start_s"));
            // Of a file that did not arrive, the part that did counts.
            let done = if of("complete") > 0.0 { 1.0 } else { of("delivered_bytes") / size };
            (done * least / of("duration_s").max(1e-9)).min(1.0)
        };
        self.ours.iter().map(one).sum::<f64>() / self.ours.len().max(1) as f64
    }
    /// The first sample of which this holds for the time before it, from an event on.
    fn first(&self, from: usize, holds: impl Fn([usize; 2]) -> bool) -> Option<usize> {
        (from + 1..self.last()).find(|&to| holds([to.saturating_sub(AVERAGED).max(from), to]))
    }
    /// Whether the judged flows have found their rate in this span.
    fn found(&self, span: [usize; 2]) -> bool {
        let whole = span[1] - span[0] >= AVERAGED.min(self.last() / 2);
        whole && self.share_of(span) >= FOUND
    }
    /// The sample at which the first search of these flows has ended, which began at this time: two of their own round trips
    /// after their first drop, or after the rate was found; at the latest after half of the run.
    fn search_ends(&self, flows: &[usize], began_s: f64, round_trip: f64) -> usize {
        let from = (0..self.last()).find(|&sample| self.second(sample) >= began_s).unwrap_or(self.last());
        let dropped = |to: usize| self.between([from, to], flows, |flow| flow.dropped) > 0.0;
        let last = (from + self.last() / 2).min(self.last());
        let found = self.first(from, |span| dropped(span[1]) || self.found(span)).unwrap_or(last);
        (found + (SEARCH_ENDS * SAMPLES * round_trip).ceil() as usize).min(last)
    }
    /// The same of one of the judged flows.
    fn search_of(&self, flow: usize) -> usize {
        let round_trip = if self.ours.contains(&flow) { 1.0 } else { self.network.others_rtt };
        self.search_ends(&[flow], self.figure(flow, "start_s").unwrap_or(0.0), round_trip)
    }
    /// Median and 95th percentile of the time that a packet waits in front of the link, in seconds.
    fn queueing(&self, from: usize) -> [f64; 2] {
        let Some(path) = self.account.links.iter().position(|name| name == PATH) else { return [0.0; 2] };
        let rates = rates(self.network);
        let waits = |sample: &AccountSample| {
            let at = (sample.at - Instant::ZERO).as_secs_f64();
            let rate = rates[rates.partition_point(|row| row.0 <= at).saturating_sub(1)].1;
            let waiting = *sample.waiting.get(path)? as f64;
            (rate > 0.0).then(|| waiting * PACKET_BITS / rate)
        };
        let mut all: Vec<f64> = self.samples()[from..].iter().filter_map(waits).collect();
        all.sort_by(f64::total_cmp);
        [0.5, 0.95].map(|share| all.get((share * all.len() as f64) as usize).copied().unwrap_or(0.0))
    }
    /// Seconds of the event after which the flows settle: a step, the others' leaving or arrival, or the start.
    fn event_s(&self) -> f64 {
        let steps = |change: Option<super::change::Change>| {
            change.is_some_and(|change| change.shape == super::change::Shape::Step)
        };
        let network = self.network;
        match (network.company, network.arrival) {
            _ if steps(network.rate_change) || steps(network.delay_change) => network.duration_s() / 2.0,
            (Company::Tcp(_), Arrival::Visit) => visit(network).1,
            (Company::Own, Arrival::Visit) => visit(network).0,
            _ => 0.0,
        }
    }
    /// Rounds from the event until the flows have found their rate; those to the end of the run if they do not.
    fn settles(&self) -> f64 {
        let event = self.event_s();
        let from = (0..self.last()).find(|&sample| self.second(sample) >= event).unwrap_or(0);
        let found = self.first(from, |span| self.found(span)).unwrap_or(self.last());
        (self.second(found) - self.second(from)) / self.round_s
    }
    /// Jain's index while all flows of the kind are there, if that is ten rounds at least.
    fn jain(&self) -> Option<f64> {
        if self.equals.len() < 2 || self.network.traffic != Traffic::Endless {
            return None;
        }
        let (mut start, mut end) = (0.0_f64, f64::INFINITY);
        for &flow in &self.equals {
            let (from, lasted) = (self.figure(flow, "start_s")?, self.figure(flow, "duration_s")?);
            (start, end) = (start.max(from), end.min(from + lasted));
        }
        let start = start + 5.0 * self.round_s;
        let inside = |sample: &usize| (start..=end).contains(&self.second(*sample));
        let span = [(0..=self.last()).find(inside)?, (0..=self.last()).rfind(inside)?];
        let delivered = |flow: &usize| self.between(span, &[*flow], |flow| flow.delivered);
        let long = self.second(span[1]) - self.second(span[0]) >= 10.0 * self.round_s;
        long.then(|| jain(self.equals.iter().map(delivered)))
    }
}
