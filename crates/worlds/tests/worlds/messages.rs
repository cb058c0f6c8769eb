//! What a user of the world of messages can rely on, seen through its records.

use crate::common::{Net, delivered, started};
use lightlag_protocols::dtn::{DropReason, routers};
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use lightlag_worlds::contacts::{Course, shared_rate};
use proptest::prelude::*;

#[test]
fn a_bundle_crosses_a_contact_in_transmission_time_plus_light_time() {
    let run = Net::new(2).delay_s(240.0).contact(0, 1, 100.0, 200.0).bundle(0, 1, 50_000, 0.0).run();
    // 50 kB at 2.5 Mbit/s take 0.16 s.
    assert_eq!(delivered(&run), vec![(340.16, 0)]);
}

#[test]
fn what_was_sent_before_the_contact_ended_still_arrives() {
    let run = Net::new(2).delay_s(240.0).contact(0, 1, 100.0, 100.16).bundle(0, 1, 50_000, 0.0).run();
    assert_eq!(delivered(&run), vec![(340.16, 0)]);
}

#[test]
fn what_was_not_wholly_sent_is_aborted_and_kept_for_the_next_contact() {
    let run =
        Net::new(2).contact(0, 1, 100.0, 100.15).contact(0, 1, 300.0, 400.0).bundle(0, 1, 50_000, 0.0).run();
    assert_eq!(run.iter().filter(|(_, r)| matches!(r, Record::Aborted { .. })).count(), 1);
    assert_eq!(delivered(&run), vec![(300.16, 0)]);
}

#[test]
fn a_transfer_that_ends_with_its_contact_leaves_those_that_begin_then_alone() {
    // 50 kB take 0.16 s: the first transfer and its contact end when the others begin.
    let pairs = (1..10).map(|pair| 2 * pair);
    let net = Net::new(20).contact(0, 1, 0.0, 0.16).bundle(0, 1, 50_000, 0.0);
    let run =
        pairs.fold(net, |net, a| net.contact(a, a + 1, 0.16, 100.0).bundle(a, a + 1, 50_000, 0.0)).run();
    assert_eq!(run.iter().filter(|(_, r)| matches!(r, Record::Aborted { .. })).count(), 0);
    assert_eq!(delivered(&run).len(), 10);
}

#[test]
fn a_pipelined_link_is_free_when_the_last_bit_has_left() {
    let net = Net::new(2).delay_s(240.0).contact(0, 1, 0.0, 1000.0);
    let run = (0..6).fold(net, |net, _| net.bundle(0, 1, 50_000, 0.0)).run();
    assert_eq!(delivered(&run).len(), 6);
    assert!(delivered(&run).iter().all(|&(at, _)| at < 242.0));
}

#[test]
fn stop_and_wait_lets_four_bundles_through_a_contact_of_1000_s_to_mars() {
    let mut net = Net::new(2).delay_s(240.0).contact(0, 1, 0.0, 1000.0);
    net.rules.propagation = Propagation::StopAndWait;
    let run = (0..6).fold(net, |net, _| net.bundle(0, 1, 75_000, 0.0)).run();
    assert_eq!(delivered(&run).len(), 4);
}

#[test]
fn a_node_with_one_radio_takes_part_in_one_transfer_at_a_time() {
    let star = |radio| {
        let mut net = Net::new(3).contact(0, 1, 0.0, 100.0).contact(0, 2, 0.0, 100.0);
        net.rules.radio = radio;
        delivered(&net.bundle(0, 1, 50_000, 0.0).bundle(0, 2, 50_000, 0.0).run())
    };
    assert_eq!(star(Radio::Node).last().unwrap().0, 0.32);
    assert_eq!(star(Radio::Link).last().unwrap().0, 0.16);
}

#[test]
fn only_a_full_duplex_link_carries_both_directions_at_once() {
    let pair = |radio| {
        let mut net = Net::new(2).contact(0, 1, 0.0, 100.0);
        net.rules.radio = radio;
        delivered(&net.bundle(0, 1, 50_000, 0.0).bundle(1, 0, 50_000, 0.0).run()).last().unwrap().0
    };
    assert_eq!(pair(Radio::Link), 0.32);
    assert_eq!(pair(Radio::Direction), 0.16);
}

#[test]
fn a_one_way_link_carries_nothing_back_and_is_not_held_up_by_it() {
    for radio in [Radio::Node, Radio::Link, Radio::Direction] {
        for (from, to) in [(0, 1), (1, 0)] {
            let mut net = Net::new(2).one_way(from, to, 0.0, 100.0);
            net.rules.radio = radio;
            let run =
                net.bundle(0, 1, 50_000, 0.0).bundle(1, 0, 50_000, 0.0).bundle(0, 1, 50_000, 50.0).run();
            assert!(started(&run).iter().all(|start| (start.1, start.2) == (from, to)), "{radio:?}");
            assert_eq!(delivered(&run).len(), if from == 0 { 2 } else { 1 }, "{radio:?}, {from} to {to}");
        }
    }
}

#[test]
fn with_ticks_a_transfer_ends_at_the_next_tick() {
    let mut net = Net::new(2).contact(0, 1, 0.0, 100.0);
    net.rules.tick = Some(lightlag_protocols::time::Duration::from_nanos(100_000_000));
    // 0.24 s becomes 0.3 s, as in The ONE.
    assert_eq!(delivered(&net.bundle(0, 1, 75_000, 0.0).run()), vec![(0.3, 0)]);
}

#[test]
fn the_oldest_copy_goes_first_when_a_buffer_is_full() {
    let net = Net::new(2).buffer(100_000).bundle(0, 1, 60_000, 1.0).bundle(0, 1, 60_000, 2.0);
    let run = net.contact(0, 1, 10.0, 20.0).run();
    assert!(run.iter().any(|(at, r)| *at == 2.0
        && matches!(r, Record::Gone { id, reason: DropReason::Overflow, .. } if id.0 == 0)));
    assert_eq!(delivered(&run), vec![(10.192, 1)]);
}

#[test]
fn a_bundle_dies_when_its_lifetime_is_over() {
    let run = Net::new(2).lifetime_s(50.0).bundle(0, 1, 50_000, 0.0).contact(0, 1, 60.0, 70.0).run();
    assert!(
        run.iter()
            .any(|(at, r)| *at == 50.0 && matches!(r, Record::Gone { reason: DropReason::Expired, .. }))
    );
    assert!(delivered(&run).is_empty());
}

#[test]
fn receipts_delete_copies_of_delivered_bundles_wherever_they_reach() {
    let net = |receipts| {
        let mut net = Net::new(3)
            .contact(0, 1, 10.0, 20.0)
            .contact(0, 2, 30.0, 40.0)
            .contact(1, 2, 50.0, 60.0)
            .bundle(0, 2, 50_000, 0.0);
        net.policy.receipts = receipts;
        net.run()
    };
    let removed = |run: &[(f64, Record)]| {
        run.iter()
            .filter_map(|(at, r)| match r {
                Record::Gone { node, reason: DropReason::Acknowledged, .. } => Some((*at, node.0)),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(removed(&net(true)), vec![(30.16, 0), (50.0, 1)]);
    assert!(removed(&net(false)).is_empty());
}

#[test]
fn a_node_with_drop_memory_does_not_take_again_what_it_has_dropped() {
    let transfers = |drop_memory| {
        let mut net = Net::new(3)
            .buffer(100_000)
            .contact(0, 1, 10.0, 20.0)
            .contact(0, 1, 30.0, 40.0)
            .bundle(0, 2, 60_000, 0.0)
            .bundle(1, 2, 60_000, 25.0);
        net.policy.drop_memory = drop_memory;
        let run = net.run();
        started(&run).iter().filter(|&&(_, from, to, id)| (from, to, id) == (0, 1, 0)).count()
    };
    assert_eq!(transfers(true), 1);
    assert!(transfers(false) > 1);
}

#[test]
fn the_same_setup_gives_the_same_records() {
    let run = || {
        let net = Net::new(4).contact(0, 1, 0.0, 90.0).contact(1, 2, 5.0, 80.0).contact(2, 3, 7.0, 60.0);
        (0..40).fold(net, |net, i| net.bundle(i % 4, (i + 1) % 4, 50_000 + i * 100, f64::from(i))).run()
    };
    assert_eq!(run(), run());
}

#[test]
fn gbsd_keeps_the_only_copy_of_a_bundle_where_the_oldest_would_go_for_a_second_copy_of_another() {
    let net = |mechanism| {
        let mut net = Net::new(4).buffer(100_000).contact(0, 1, 10.0, 20.0).contact(1, 2, 30.0, 40.0);
        net.mechanism = mechanism;
        delivered(&net.bundle(1, 2, 60_000, 0.0).bundle(0, 3, 60_000, 1.0).run())
    };
    assert_eq!(net("gbsd"), vec![(30.192, 0)]);
    assert!(net("none").is_empty());
}

#[test]
fn baselines_of_the_literature_run_with_every_router_and_repeat_themselves() {
    for mechanism in ["gbsd", "smart_dtn_cc"] {
        // Who is passive delivers nothing.
        for router in routers::TABLE.iter().filter(|router| router.name != "passive") {
            let run = || {
                let mut net = Net::new(5).buffer(200_000).lifetime_s(600.0);
                (net.mechanism, net.router) = (mechanism, router.name);
                for round in 0..20_u32 {
                    let (a, start) = (round % 5, f64::from(round) * 45.0);
                    net = net.contact(a, (a + 1 + round / 5 % 4) % 5, start, start + 60.0);
                    net = (0..5).fold(net, |net, to| {
                        let source = (to + 1 + round % 4) % 5;
                        net.bundle(source, to, 40_000 + 1000 * round, start + f64::from(to))
                    });
                }
                net.run()
            };
            let records = run();
            assert!(
                delivered(&records).len() >= 20,
                "{mechanism} {}: {}",
                router.name,
                delivered(&records).len()
            );
            assert_eq!(records, run(), "{mechanism} {}", router.name);
        }
    }
}

/// A network whose links have these rates, in kbit/s, from these seconds on.
fn varying(mut net: Net, rows: &[(f64, u64)]) -> Net {
    let row = |&(at, kbit_per_s): &(f64, u64)| (Instant::from_secs_f64(at), BitRate(kbit_per_s * 1_000));
    net.course = Course::Table(rows.iter().map(row).collect());
    net
}

#[test]
fn a_transfer_slows_down_pauses_and_speeds_up_with_its_link() {
    // 50 kB are 400 kbit: 200 in the first second, none in the next two, 100 in half a second, 100 in 0.05 s.
    let rows = [(0.0, 100), (10.0, 200), (11.0, 0), (13.0, 200), (13.5, 2_000)];
    let net = varying(Net::new(2).contact(0, 1, 5.0, 100.0).bundle(0, 1, 50_000, 10.0), &rows);
    assert_eq!(delivered(&net.run()), vec![(13.55, 0)]);
    let rates: Vec<f64> =
        net.run().iter().filter(|(_, r)| matches!(r, Record::Rate { .. })).map(|(at, _)| *at).collect();
    assert_eq!(rates, [10.0, 11.0, 13.0, 13.5]);
}

#[test]
fn a_link_that_comes_up_at_rate_zero_carries_as_soon_as_it_has_one() {
    let rows = [(0.0, 0), (20.0, 400)];
    let run = varying(Net::new(2).contact(0, 1, 5.0, 100.0).bundle(0, 1, 50_000, 0.0), &rows).run();
    assert_eq!(delivered(&run), vec![(21.0, 0)]);
}

#[test]
fn a_transfer_that_a_link_has_become_too_slow_for_is_aborted() {
    let rows = [(0.0, 400), (0.5, 10)];
    let run = varying(Net::new(2).contact(0, 1, 0.0, 10.0).bundle(0, 1, 50_000, 0.0), &rows).run();
    assert!(run.iter().any(|(at, r)| *at == 10.0 && matches!(r, Record::Aborted { .. })));
    assert_eq!(delivered(&run), vec![]);
}

proptest! {
    #[test]
    fn a_transfer_ends_when_the_rates_over_time_have_carried_all_its_bits(
        rows in prop::collection::vec((1..20_i64, 0..4_000_u64), 1..8),
        size in 1..200_000_u32,
        begins in 0..60_i64,
    ) {
        let ends: Vec<i64> = rows.iter().scan(0, |at, row| { *at += row.0; Some(*at) }).collect();
        let rows: Vec<(f64, u64)> = ends.iter().map(|at| *at as f64).zip(rows.iter().map(|row| row.1)).collect();
        let run = varying(Net::new(2).contact(0, 1, 0.0, 1000.0).bundle(0, 1, size, begins as f64), &rows).run();
        // By steps of a millisecond, independently.
        let mut left = i64::from(size) * 8;
        let mut ms = begins * 1000;
        while left > 0 && ms < 1_000_000 {
            let row = rows.iter().rev().find(|row| row.0 * 1000.0 <= ms as f64).unwrap_or(&rows[0]);
            left -= row.1 as i64;
            ms += 1;
        }
        match delivered(&run)[..] {
            [(at, 0)] => prop_assert!((at * 1000.0 - ms as f64).abs() <= 1.01, "{at} s, {ms} ms"),
            [] => prop_assert!(left > 0),
            _ => prop_assert!(false),
        }
    }
}

#[test]
fn transmitters_in_reach_of_each_other_share_the_rate_and_get_it_back() {
    let full = BitRate(2_500_000);
    // Nodes 0 and 1 talk; 2 and 3 join them halfway, in reach of 1 alone.
    let net = Net::new(4).contact(0, 1, 0.0, 900.0).contact(1, 2, 0.0, 900.0).contact(2, 3, 0.0, 900.0);
    let mut net = net.bundle(0, 1, 1_000_000, 0.0).bundle(3, 2, 100_000, 1.0).router("direct");
    net.course = Course::Interference;
    let run = net.run();
    let alone = shared_rate(full, 2, 1);
    let beside = shared_rate(full, 3, 1);
    let short = beside.time_for(lightlag_protocols::units::Bytes(100_000));
    let bits = |rate: BitRate, lasts: Duration| rate.0 as f64 * lasts.as_secs_f64();
    let left = 8e6 - bits(alone, Duration::from_secs(1)) - bits(beside, short);
    let ends = 1.0 + short.as_secs_f64() + left / alone.0 as f64;
    let [(first, 1), (second, 0)] = delivered(&run)[..] else { panic!("{:?}", delivered(&run)) };
    assert!((first - 1.0 - short.as_secs_f64()).abs() < 1e-6, "{first}");
    assert!((second - ends).abs() < 1e-6, "{second}, not {ends}");
}

#[test]
fn a_node_divides_its_rate_among_its_transfers() {
    let mut net = Net::new(3).contact(0, 1, 0.0, 900.0).contact(0, 2, 0.0, 900.0);
    net.rules.radio = Radio::Link;
    net.course = Course::Interference;
    let run = net.bundle(0, 1, 100_000, 0.0).bundle(0, 2, 100_000, 0.0).run();
    let rate = shared_rate(BitRate(2_500_000), 3, 2);
    let both = rate.time_for(lightlag_protocols::units::Bytes(100_000)).as_secs_f64();
    assert!(delivered(&run).iter().all(|(at, _)| (at - both).abs() < 1e-6), "{:?}, {both}", delivered(&run));
}
