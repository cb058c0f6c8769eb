//! Networks drawn from the whole range that a user could bring, and what a controller does there: what arrives
//! beside what was dropped.

use lightlag_protocols::controllers::Factory;
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::math;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::udpdtn;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::packets::{FlowSpec, Outcome, Setup, Source, Transport, run};
use std::collections::BTreeMap;

const PACKET: f64 = 8.0 * 1500.0;
/// Most packets of a run, so that all of them take seconds.
const PACKETS_MOST: f64 = 300_000.0;

#[derive(Clone, Debug)]
struct Network {
    rate: f64,
    rtt_s: f64,
    queue: u64,
    loss: f64,
    /// What the round trip becomes in the middle of the run, and how long that takes.
    later: (f64, f64),
    jitter_s: f64,
    span_s: f64,
}

impl Network {
    fn drawn(index: u64) -> Self {
        let mut draws = Stream::new(30, "networks", index);
        let mut between =
            |low: f64, high: f64| math::exp(math::log(low) + draws.unit() * math::log(high / low));
        let (rate, rtt_s) = (between(1e4, 3e7), between(1e-3, 2400.0));
        let in_transit = rate * rtt_s / PACKET;
        let queue = between(4.0, (10.0 * in_transit).max(5.0)) as u64;
        let loss = between(1e-4, 0.3);
        let (changes, takes, jitter) = (between(0.1, 10.0), between(0.001, 0.2), between(0.001, 1.0));
        let span_s = (120.0 * rtt_s).max(60.0).max(2000.0 * PACKET / rate).min(PACKETS_MOST * PACKET / rate);
        let span_s = span_s.max(50.0 * rtt_s);
        let mut kind = || draws.below(3) == 0;
        Self {
            rate,
            rtt_s,
            queue,
            loss: if kind() { loss } else { 0.0 },
            later: if kind() { (rtt_s * changes, span_s * takes) } else { (rtt_s, 0.0) },
            jitter_s: if kind() { jitter * rtt_s.min(span_s / 500.0) } else { 0.0 },
            span_s,
        }
    }
    fn fits(&self) -> bool {
        self.span_s * self.rate / PACKET < 2.0 * PACKETS_MOST
    }
    fn setup(&self, span_s: f64) -> Setup {
        let at = Instant::ZERO + Duration::from_secs_f64(self.span_s / 2.0);
        let (later, takes) = self.later;
        let half = |rtt: f64| Duration::from_secs_f64(rtt / 2.0);
        let link = |queue: u64, loss: f64, rate: f64| LinkSpec {
            rate: Rate::Constant(BitRate(rate as u64)),
            delay: Delay::Curve(vec![
                (at, half(self.rtt_s)),
                (at + Duration::from_secs_f64(takes), half(later)),
            ]),
            loss: if loss > 0.0 { Loss::uniform(loss) } else { Loss::NONE },
            queue: Discipline::drop_tail(Limit::Packets(queue)),
            reorder: None,
            duplicate: 0.0,
            jitter: Duration::from_secs_f64(self.jitter_s),
        };
        let flow = FlowSpec {
            forward: vec![0],
            backward: vec![1],
            start: Instant::ZERO,
            stop: None,
            source: Source::File(Bytes(1_000_000_000_000)),
            transport: Transport::Udpdtn {
                config: udpdtn::Config::new(Bytes(1500)),
                controller: Factory::resolve("contact_rate", &BTreeMap::new()).expect("it is in the table"),
            },
            planned_rate: None,
            planned_round_trip: None,
        };
        Setup {
            links: vec![link(self.queue, self.loss, self.rate), link(1_000_000, 0.0, self.rate.max(1e6))],
            flows: vec![flow],
            until: Instant::ZERO + Duration::from_secs_f64(span_s),
            until_complete: true,
            until_delivered: None,
            until_sent: None,
            seed: 1,
            sample_every: None,
        }
    }
    /// In the second half of the run: the share of the link that arrived, and of what was sent that its queue dropped.
    fn second_half(&self) -> (f64, f64) {
        let count = |outcome: &Outcome| {
            (
                outcome.links[0].arrived as f64,
                outcome.links[0].dropped as f64,
                outcome.links[0].offered as f64,
            )
        };
        let first = count(&run(&self.setup(self.span_s / 2.0), &mut ()));
        let whole = count(&run(&self.setup(self.span_s), &mut ()));
        let limit = self.rate * (1.0 - self.loss) * self.span_s / 2.0 / PACKET;
        ((whole.0 - first.0) / limit, (whole.1 - first.1) / (whole.2 - first.2))
    }
}

#[test]
fn contact_rate_keeps_its_share_and_its_drops_on_networks_drawn_at_random() {
    let networks: Vec<Network> = (0..240).map(Network::drawn).filter(Network::fits).collect();
    assert!(networks.len() > 180, "{}", networks.len());
    let mut bad = Vec::new();
    for network in &networks {
        let (share, dropped) = network.second_half();
        // The worst: a jitter of a seventh to a quarter of the round trip, which passes for a queue and for a slow link.
        let least = if network.jitter_s > 0.0 { 0.07 } else { 0.25 };
        assert!(share > least && dropped < 0.12, "{share:.2} of the link, {dropped:.3} dropped: {network:?}");
        if share < 0.7 || dropped > 0.05 {
            bad.push(format!("{share:.2} of the link, {dropped:.3} dropped: {network:?}"));
        }
    }
    assert!(bad.len() * 12 <= networks.len(), "{} of {}:\n{}", bad.len(), networks.len(), bad.join("\n"));
}

#[test]
fn reports_that_cover_several_rounds_do_not_hide_losses() {
    let network = Network {
        rate: 1e6,
        rtt_s: 240.0,
        queue: 100,
        loss: 0.0,
        later: (240.0, 0.0),
        jitter_s: 0.0,
        span_s: 9000.0,
    };
    let (share, dropped) = network.second_half();
    assert!(share > 0.9 && dropped < 0.02, "{share:.2} of the link, {dropped:.3} dropped");
}
