//! Flows of LTP in the world of packets, seen from outside.

use lightlag_protocols::controllers::{self, Factory};
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::ltp::Config;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::packets::{FlowSpec, Outcome, Setup, Source, Transport, run};
use std::collections::BTreeMap;

fn s(n: i64) -> Duration {
    Duration::from_secs(n)
}

/// One flow over one bidirectional link.
struct Bench {
    controller: &'static str,
    rate: Rate,
    one_way: Duration,
    loss: f64,
    size: u64,
    block: u64,
    copies: Option<u32>,
}

impl Bench {
    fn run(&self) -> Outcome {
        let link = LinkSpec {
            rate: self.rate.clone(),
            delay: Delay::Constant(self.one_way),
            loss: if self.loss > 0.0 { Loss::uniform(self.loss) } else { Loss::NONE },
            queue: Discipline::drop_tail(Limit::Packets(1000)),
            reorder: None,
            duplicate: 0.0,
            jitter: Duration::ZERO,
        };
        let light = self.one_way * 2;
        let config = Config { light: Some(light), copies: self.copies, ..Config::new(1, 2, Bytes(1428)) };
        let transport = Transport::Ltp {
            config,
            controller: Factory::resolve(self.controller, &BTreeMap::new()).expect("it is in the table"),
            block: Bytes(self.block),
        };
        let flow = FlowSpec {
            forward: vec![0],
            backward: vec![1],
            start: Instant::ZERO,
            stop: None,
            source: Source::File(Bytes(self.size)),
            transport,
            planned_rate: Some(self.rate.clone()),
            planned_round_trip: Some(light),
        };
        let setup = Setup {
            links: vec![link.clone(), link],
            flows: vec![flow],
            until: Instant::from_secs(1_000_000),
            until_complete: true,
            until_delivered: None,
            until_sent: None,
            seed: 3,
            sample_every: None,
        };
        run(&setup, &mut ())
    }
}

const MARS: Bench = Bench {
    controller: "fixed",
    rate: Rate::Constant(BitRate(10_000_000)),
    one_way: Duration::from_secs(480),
    loss: 0.05,
    size: 64_000_000,
    block: 64_000_000,
    copies: None,
};

#[test]
fn a_large_block_over_mars_takes_one_round_trip_for_its_repairs() {
    let outcome = MARS.run();
    let flow = &outcome.flows[0];
    assert_eq!((flow.complete, flow.delivered), (true, Bytes(64_000_000)));
    // Of 46,000 segments some are lost. Sending takes 52.4 s, and repairs a twentieth of that for each copy.
    let rounds = (flow.end.as_secs_f64() - 480.0 - 53.0) / 960.0;
    assert!(rounds < 1.05, "{rounds} round trips: {flow:?}");
    assert!(flow.repairs < 46_000 / 3, "{flow:?}");
}

#[test]
fn a_flow_waits_for_its_contacts_without_a_timeout() {
    let at = |n: i64| Instant::ZERO + s(n);
    let windows: Vec<_> = (0..50).map(|n| (at(1000 * n), at(1000 * n + 100), BitRate(1_000_000))).collect();
    let rate = Rate::within(&windows);
    let bench = Bench { rate, one_way: s(2), loss: 0.0, block: 500_000, size: 50_000_000, ..MARS };
    let outcome = bench.run();
    let flow = &outcome.flows[0];
    assert!(flow.complete, "{outcome:?}");
    // 12.5 MB a contact, headers included: five contacts.
    assert!(flow.end < at(4100), "{flow:?}");
    assert!(flow.timeouts < 20, "data in flight when a contact ends may be lost: {flow:?}");
}

#[test]
fn every_controller_that_takes_part_delivers_a_file() {
    for entry in controllers::TABLE {
        let only = entry.algorithm.only_with;
        if !only.is_empty() && !only.contains(&"ltp") {
            continue;
        }
        let rate = Rate::Constant(BitRate(1_000_000));
        let one_way = Duration::from_nanos(250_000_000);
        let (controller, loss, copies) = (entry.algorithm.name, 0.01, Some(1));
        let bench = Bench { controller, rate, one_way, loss, size: 2_000_000, block: 200_000, copies };
        let flow = bench.run().flows[0];
        assert!(flow.complete && flow.delivered == Bytes(2_000_000), "{controller}: {flow:?}");
        println!("{controller:18} {:8.1} s {flow:?}", flow.end.as_secs_f64());
    }
}
