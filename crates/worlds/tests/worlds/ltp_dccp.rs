//! Flows of LTP in DCCP in the world of packets, seen from outside.

use lightlag_protocols::controllers::Factory;
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::math;
use lightlag_protocols::record::packets::{Body, Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::{dccp, ltp, tcp};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::dccp::Body as Kind;
use lightlag_protocols::wire::ltp::Packet;
use lightlag_worlds::packets::{FlowSpec, Outcome, Setup, Source, Transport, run};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A flow over one link with a queue in each direction.
#[derive(Clone, Debug)]
struct Bench {
    controller: &'static str,
    rate: Rate,
    one_way: Duration,
    loss: f64,
    queue: u64,
    size: u64,
    block: u64,
    seed: u64,
}

impl Bench {
    fn setup(&self) -> Setup {
        let link = LinkSpec {
            rate: self.rate.clone(),
            delay: Delay::Constant(self.one_way),
            loss: if self.loss > 0.0 { Loss::uniform(self.loss) } else { Loss::NONE },
            queue: Discipline::drop_tail(Limit::Packets(self.queue)),
            reorder: None,
            duplicate: 0.0,
            jitter: Duration::ZERO,
        };
        let light = self.one_way * 2;
        let ms = |n: i64| Duration::from_nanos(n * 1_000_000);
        let first = (light * 3).saturating_add(ms(1000));
        let timers = tcp::Timers { first, margin: ms(200), least: ms(200), most: Duration::MAX };
        let ccid = dccp::Ccid::of(self.controller);
        let dccp = dccp::Config::new(Bytes(1500), dccp::IP_HEADER, ccid, timers);
        let ltp = ltp::Config { light: Some(light), ..ltp::Config::new(1, 2, Bytes(1484)) };
        let transport = Transport::LtpDccp {
            ltp,
            dccp,
            controller: Factory::resolve(self.controller, &BTreeMap::new()).expect("it is in the table"),
            block: Bytes(self.block),
        };
        let planned = matches!(self.rate, Rate::Table(_)).then(|| self.rate.clone());
        let flow = FlowSpec {
            forward: vec![0],
            backward: vec![1],
            start: Instant::ZERO,
            stop: None,
            source: Source::File(Bytes(self.size)),
            transport,
            planned_rate: planned,
            planned_round_trip: None,
        };
        Setup {
            links: vec![link.clone(), link],
            flows: vec![flow],
            until: Instant::from_secs(100_000_000),
            until_complete: true,
            until_delivered: None,
            until_sent: None,
            seed: self.seed,
            sample_every: None,
        }
    }
    fn run(&self) -> Outcome {
        run(&self.setup(), &mut ())
    }
}

const SATELLITE: Bench = Bench {
    controller: "ccid2",
    rate: Rate::Constant(BitRate(1_500_000)),
    one_way: Duration::from_nanos(300_000_000),
    loss: 0.0,
    queue: 75,
    size: 10_000_000,
    block: 1_000_000,
    seed: 1,
};

fn between(least: f64, most: f64) -> impl Strategy<Value = f64> {
    (math::log(least)..math::log(most)).prop_map(math::exp)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]
    #[test]
    fn blocks_arrive_whole_over_drawn_rates_round_trips_and_losses(
        rate in between(1e4, 5e7),
        rtt_s in between(1e-3, 10.0),
        loss in prop_oneof![Just(0.0), 0.0..0.2],
        queue in 5_u64..200,
        size in between(1.0, 1e6),
        block in between(1e3, 1e6),
        controller in prop_oneof![Just("ccid2"), Just("ccid3"), Just("cubic")],
        seed in any::<u64>(),
    ) {
        let bench = Bench {
            controller,
            rate: Rate::Constant(BitRate(rate as u64)),
            one_way: Duration::from_secs_f64(rtt_s / 2.0),
            loss,
            queue,
            size: size as u64,
            block: block as u64,
            seed,
        };
        let outcome = bench.run();
        let flow = &outcome.flows[0];
        prop_assert!(flow.complete && flow.delivered == Bytes(bench.size), "{:?}: {:?}", bench, outcome);
        prop_assert_eq!(&outcome, &bench.run(), "a seed gives one run");
    }
}

#[test]
fn a_large_file_fills_a_satellite_link_and_its_losses_are_repaired() {
    for (controller, least) in [("ccid2", 0.85), ("ccid3", 0.7), ("cubic", 0.85)] {
        let bench = Bench { controller, ..SATELLITE };
        let outcome = bench.run();
        let flow = outcome.flows[0];
        let share = 8.0 * 1e7 / flow.end.as_secs_f64() / 1.5e6;
        println!("{controller}: {share:.3} {flow:?} {:?}", outcome.links);
        assert!(flow.complete && share > least, "{controller}: {share} of the link, {flow:?}");
    }
}

/// Packets that were offered to links.
#[derive(Default)]
struct Seen {
    services: BTreeSet<u32>,
    segments: u64,
    places: BTreeSet<u64>,
    others: u64,
}

impl Observer for Seen {
    const PACKETS: bool = true;
    fn on_record(&mut self, _: Instant, record: &Record<'_>) {
        let Record::Offered(_, packet) = record else { return };
        let Body::Dccp(packet) = &packet.body else {
            self.others += 1;
            return;
        };
        if let Kind::Request { service } = packet.header.body {
            self.services.insert(service);
        }
        if packet.header.kind().is_data() {
            let segment = Packet::read(&packet.data).expect("each datagram is a segment").segment;
            self.segments += 1;
            if let ltp::Content::Data(data) = segment.content {
                self.places.insert(data.service);
            }
        }
    }
}

#[test]
fn each_datagram_is_a_segment_of_a_connection_for_the_service_of_rfc_7122() {
    let bench = Bench { loss: 0.02, size: 3_000_000, block: 250_000, ..SATELLITE };
    let mut seen = Seen::default();
    let outcome = run(&bench.setup(), &mut seen);
    assert!(outcome.flows[0].complete);
    assert_eq!((seen.others, seen.services), (0, BTreeSet::from([7_107_696])));
    assert!(seen.segments > outcome.flows[0].sent, "{} segments, reports among them", seen.segments);
    assert_eq!(seen.places, (64..76).collect(), "one client service for each of twelve blocks");
}

#[test]
fn a_flow_waits_for_its_contacts_however_late_the_first_is() {
    let at = Instant::from_secs;
    // The Requests of DCCP are given up after three minutes: another connection is opened.
    let windows: Vec<_> = (1..60).map(|n| (at(1000 * n), at(1000 * n + 100), BitRate(1_000_000))).collect();
    for controller in ["ccid2", "cubic"] {
        let rate = Rate::within(&windows);
        let bench =
            Bench { controller, rate, one_way: Duration::from_secs(1), size: 20_000_000, ..SATELLITE };
        let flow = bench.run().flows[0];
        println!("{controller}: {flow:?}");
        assert!(flow.complete && flow.end < at(30_000), "{controller}: {flow:?}");
    }
}
