//! Paths drawn from rates of 10 kbit/s to 1 Gbit/s and round trips of 1 ms to 100 s, and what a TCP flow of a controller
//! gets there.

use lightlag_protocols::controllers::{self, Factory};
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::math;
use lightlag_protocols::parameter::Value;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::tcp::{Config, Timers};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::packets::{FlowSpec, Outcome, Setup, Source, Transport, run};
use std::collections::BTreeMap;

const PACKET: f64 = 8.0 * 1500.0;
/// Share of a packet that is data.
const DATA: f64 = 1460.0 / 1500.0;
/// Most packets of a run, so that all of them take seconds.
const PACKETS_MOST: f64 = 400_000.0;

#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub rate: f64,
    pub rtt_s: f64,
    /// In packets.
    pub queue: u64,
    pub loss: f64,
    pub span_s: f64,
}

impl Path {
    /// A run long enough for 150 round trips and 3000 packets.
    pub fn new(rate: f64, rtt_s: f64, queue: u64, loss: f64) -> Self {
        let span_s = (150.0 * rtt_s).max(3000.0 * PACKET / rate).max(20.0);
        let span_s = span_s.min((PACKETS_MOST * PACKET / rate).max(50.0 * rtt_s));
        Self { rate, rtt_s, queue, loss, span_s }
    }
    /// Queues of a quarter to four of what is in flight, at least ten packets; every second path loses 1e-5 to 1e-2.
    pub fn drawn(index: u64) -> Self {
        let mut draws = Stream::new(31, "paths", index);
        let mut between =
            |low: f64, high: f64| math::exp(math::log(low) + draws.unit() * math::log(high / low));
        let (rate, rtt_s) = (between(1e4, 1e9), between(1e-3, 100.0));
        let queue = (between(0.25, 4.0) * rate * rtt_s / PACKET).max(10.0) as u64;
        let loss = between(1e-5, 1e-2);
        Self::new(rate, rtt_s, queue, if draws.below(2) == 0 { loss } else { 0.0 })
    }
    pub fn fits(&self) -> bool {
        self.span_s * self.rate / PACKET < 1.5 * PACKETS_MOST
    }
    pub fn setup(&self, flows: &[&str], span_s: f64) -> Setup {
        let link = |queue: u64, loss: f64, rate: f64| LinkSpec {
            rate: Rate::Constant(BitRate(rate as u64)),
            delay: Delay::Constant(Duration::from_secs_f64(self.rtt_s / 2.0)),
            loss: if loss > 0.0 { Loss::uniform(loss) } else { Loss::NONE },
            queue: Discipline::drop_tail(Limit::Packets(queue)),
            reorder: None,
            duplicate: 0.0,
            jitter: Duration::ZERO,
        };
        let timers = Timers {
            first: Duration::from_secs_f64(3.0 * self.rtt_s + 1.0 + 20.0 * PACKET / self.rate),
            margin: Duration::from_secs_f64(0.2),
            least: Duration::from_secs_f64(0.2),
            most: Duration::MAX,
        };
        let flow = |name: &&str| {
            let entry = controllers::find(name).expect("a controller of the table");
            let controller = Factory::resolve(name, &BTreeMap::new()).expect("defaults are in range");
            FlowSpec {
                forward: vec![0],
                backward: vec![1],
                start: Instant::ZERO,
                stop: None,
                source: Source::File(Bytes(1_000_000_000_000)),
                transport: Transport::Tcp {
                    config: Config::new(Bytes(1460), entry.needs.recovery, timers),
                    controller,
                },
                planned_rate: None,
                planned_round_trip: None,
            }
        };
        Setup {
            links: vec![link(self.queue, self.loss, self.rate), link(1_000_000, 0.0, self.rate)],
            flows: flows.iter().map(flow).collect(),
            until: Instant::ZERO + Duration::from_secs_f64(span_s),
            until_complete: true,
            until_delivered: None,
            until_sent: None,
            seed: 1,
            sample_every: None,
        }
    }
    /// In the second half of the run: the share of the link that each flow got, and of the packets sent that the queue
    /// dropped.
    pub fn second_half(&self, flows: &[&str]) -> (Vec<f64>, f64) {
        let first = run(&self.setup(flows, self.span_s / 2.0), &mut ());
        let whole = run(&self.setup(flows, self.span_s), &mut ());
        let limit = self.rate * DATA * (1.0 - self.loss) * self.span_s / 2.0 / 8.0;
        let data = |outcome: &Outcome, flow: usize| outcome.flows[flow].delivered.0 as f64;
        let shares = (0..flows.len()).map(|flow| (data(&whole, flow) - data(&first, flow)) / limit).collect();
        let (from, to) = (&first.links[0], &whole.links[0]);
        let dropped = (to.dropped - from.dropped) as f64 / (to.offered - from.offered).max(1) as f64;
        (shares, dropped)
    }
}

/// Networks that a run of seconds can show.
fn paths(from: u64, to: u64) -> Vec<Path> {
    (from..to).map(Path::drawn).filter(Path::fits).collect()
}

/// On drawn paths `name` gets more than `least` of each link, and more than 0.8 of eleven in twelve.
fn holds_its_share(name: &str, least: f64) {
    let paths = paths(0, 130);
    assert!(paths.len() > 100, "{}", paths.len());
    let mut bad = Vec::new();
    for path in &paths {
        let (shares, dropped) = path.second_half(&[name]);
        let text = format!("{:.2} of the link, {dropped:.3} dropped: {path:?}", shares[0]);
        assert!(shares[0] > least && dropped < 0.05, "{text}");
        if shares[0] < 0.8 {
            bad.push(text);
        }
    }
    assert!(bad.len() * 12 <= paths.len(), "{} of {}:\n{}", bad.len(), paths.len(), bad.join("\n"));
}

/// Filters of 5 s and 10 s; the queue holds a quarter of what is in flight.
fn has_no_hole(name: &str, least: f64) {
    for rtt_s in [4.9, 5.0, 5.1, 9.0, 9.9, 10.0, 10.1, 11.0, 20.0] {
        for loss in [0.0, 0.001] {
            let path = Path::new(1e6, rtt_s, (0.25 * 1e6 * rtt_s / PACKET) as u64, loss);
            let (shares, dropped) = path.second_half(&[name]);
            assert!(
                shares[0] > least && dropped < 0.03,
                "{} of the link, {dropped} dropped: {path:?}",
                shares[0]
            );
        }
    }
}

#[test]
fn bbr_holds_its_share_with_few_drops_on_paths_drawn_at_random() {
    holds_its_share("bbr", 0.6);
}

#[test]
fn bbr3_holds_its_share_with_few_drops_on_paths_drawn_at_random() {
    holds_its_share("bbr3", 0.6);
}

#[test]
fn bbr_has_no_hole_where_a_round_trip_is_as_long_as_its_filter() {
    has_no_hole("bbr", 0.8);
}

#[test]
fn bbr3_has_no_hole_where_a_round_trip_is_as_long_as_its_filters() {
    has_no_hole("bbr3", 0.85);
}

#[test]
fn flows_of_bbr3_share_a_link() {
    for rtt_s in [0.02, 0.1, 1.0, 10.0] {
        let path = Path::new(5e6, rtt_s, (5e6 * rtt_s / PACKET) as u64, 0.0);
        let (shares, _) = path.second_half(&["bbr3"; 2]);
        let (sum, squares) =
            (shares.iter().sum::<f64>(), shares.iter().map(|share| share * share).sum::<f64>());
        assert!(sum > 0.85, "{shares:?}: {path:?}");
        assert!(sum * sum / squares / 2.0 > 0.8, "{shares:?}: {path:?}");
    }
}

/// Round trips that a file of ten bandwidth-delay products takes, where a window of this number of them was saved, and
/// the share dropped.
fn resumed(path: &Path, base: &str, saved: f64) -> (f64, f64) {
    let flight = path.rate * path.rtt_s / 8.0;
    let given = [
        ("base", Value::from(base)),
        ("saved_rtt", Value::from(path.rtt_s)),
        ("saved_window", Value::from(saved * flight)),
    ];
    let given: BTreeMap<String, Value> =
        given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let mut setup = path.setup(&["careful_resume"], 10_000.0 * path.rtt_s);
    setup.flows[0].source = Source::File(Bytes((10.0 * flight) as u64));
    if let Transport::Tcp { controller, .. } = &mut setup.flows[0].transport {
        *controller = Factory::resolve("careful_resume", &given).expect("in range");
    }
    let outcome = run(&setup, &mut ());
    assert!(outcome.flows[0].complete, "{path:?}");
    let link = &outcome.links[0];
    (outcome.flows[0].end.as_secs_f64() / path.rtt_s, link.dropped as f64 / link.offered as f64)
}

#[test]
fn a_resumed_flow_is_faster_than_one_that_starts_and_a_wrong_window_costs_little() {
    let mut draws = Stream::new(32, "resumed", 0);
    let (mut plain, mut right, mut wrong) = (0.0, 0.0, 0.0);
    let mut count = 0;
    for index in 0..200 {
        let path = Path { loss: 0.0, ..Path::drawn(index) };
        let packets = path.rate * path.rtt_s / PACKET;
        if !(40.0..6_000.0).contains(&packets) {
            continue;
        }
        let base = if draws.below(2) == 0 { "cubic" } else { "new_reno" };
        let without = resumed(&path, base, 0.0);
        let with = resumed(&path, base, draws.uniform(1.0, 2.0));
        // The connection that saved the window had up to twenty times as much.
        let lying = resumed(&path, base, draws.uniform(4.0, 20.0));
        (plain, right, wrong) = (plain + without.0, right + with.0, wrong + lying.0);
        count += 1;
    }
    assert!(count > 40, "{count}");
    assert!(right < 0.8 * plain, "{right} of {plain}");
    assert!(wrong < 1.3 * plain, "{wrong} of {plain}");
}
