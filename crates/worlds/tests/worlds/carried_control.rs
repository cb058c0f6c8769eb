//! Receipts and free space are no faster than light, take time on links, and can be lost.

use crate::common::{Net, delivered, started};
use lightlag_protocols::dtn::{DropReason, Radio, Refusal};
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::Duration;
use lightlag_worlds::messages::Control;

/// When copies were deleted because a receipt came: (time in s, node).
fn acknowledged(run: &[(f64, Record)]) -> Vec<(f64, u32)> {
    let gone = |(at, record): &(f64, Record)| match record {
        Record::Gone { node, reason: DropReason::Acknowledged, .. } => Some((*at, node.0)),
        _ => None,
    };
    run.iter().filter_map(gone).collect()
}

fn with_receipts(net: Net) -> Net {
    let mut net = net;
    net.rules.control = Control::Carried;
    net.policy.receipts = true;
    net.rules.radio = Radio::Direction;
    net
}

/// A bundle of 50 kB and a receipt take this on links of 2.5 Mbit/s.
const BUNDLE_S: f64 = 0.16;
const RECEIPT_S: f64 = 20.0 * 8.0 / 2.5e6;

#[test]
fn a_receipt_over_240_s_of_light_is_heard_240_s_later() {
    let net = with_receipts(Net::new(2).delay_s(240.0).contact(0, 1, 0.0, 900.0).bundle(0, 1, 50_000, 20.0));
    let run = net.run();
    assert_eq!(delivered(&run), [(20.0 + BUNDLE_S + 240.0, 0)]);
    let heard = acknowledged(&run);
    assert_eq!(heard.len(), 1);
    assert!((heard[0].0 - (20.0 + BUNDLE_S + 240.0 + RECEIPT_S + 240.0)).abs() < 1e-9, "{heard:?}");
    let mut instant = net;
    instant.rules.control = Control::Instant;
    assert_eq!(acknowledged(&instant.run())[0].0, 20.0 + BUNDLE_S + 240.0);
}

#[test]
fn a_receipt_that_has_not_left_when_the_contact_ends_is_lost() {
    let until = |end| {
        let net = Net::new(2).delay_s(240.0).contact(0, 1, 0.0, end).bundle(0, 1, 50_000, 20.0);
        acknowledged(&with_receipts(net).run()).len()
    };
    let leaves = 20.0 + BUNDLE_S + 240.0 + RECEIPT_S;
    assert_eq!((until(leaves - 1e-6), until(leaves + 1e-6)), (0, 1));
}

#[test]
fn ends_of_a_new_contact_learn_what_they_lack_after_a_round_trip() {
    // 1 gets it from 0 at 10 s, and sends the receipt to 2, which has a copy, when they meet at 100 s.
    let net = Net::new(3)
        .delay_s(1.0)
        .bundle(0, 1, 50_000, 0.0)
        .contact(0, 2, 0.0, 5.0)
        .contact(0, 1, 10.0, 15.0)
        .contact(1, 2, 100.0, 200.0);
    let heard = acknowledged(&with_receipts(net).run());
    let of_2 = heard.iter().find(|(_, node)| *node == 2).expect("2 hears of it");
    // Its sketch takes 32 bytes.
    assert!((of_2.0 - (100.0 + 32.0 * 8.0 / 2.5e6 + RECEIPT_S + 2.0)).abs() < 1e-6, "{of_2:?}");
}

#[test]
fn knowledge_that_never_arrives_changes_nothing() {
    // Bundles go one way, and nothing comes back.
    for mechanism in ["none", "storage_routing", "smart_dtn_cc", "credit", "rrcc"] {
        let net = |receipts| {
            let mut net = Net::new(4).buffer(200_000).one_way(0, 1, 0.0, 300.0).one_way(1, 2, 50.0, 400.0);
            for number in 0..20 {
                net = net.bundle(0, 2 + number % 2, 50_000, f64::from(number) * 10.0);
            }
            net.mechanism = mechanism;
            net.rules.control = Control::Carried;
            net.policy.receipts = receipts;
            net.rules.radio = Radio::Direction;
            net.run()
        };
        // A bundle may arrive a little later, as the other end's sketch went ahead of it.
        let gone = |run: &[(f64, Record)]| {
            let before_2 = |(_, record): &(f64, Record)| match record {
                Record::Gone { node, id, reason, .. } if node.0 < 2 => Some((node.0, id.0, *reason)),
                _ => None,
            };
            run.iter().filter_map(before_2).collect::<Vec<_>>()
        };
        assert!(!acknowledged(&net(true)).iter().any(|(_, node)| *node < 2), "{mechanism}");
        assert_eq!(gone(&net(true)), gone(&net(false)), "{mechanism}");
    }
}

#[test]
fn no_receipt_is_faster_than_light_in_drawn_networks() {
    let mut heard = 0;
    for seed in 0..60 {
        let mut random = Stream::new(seed, "carried", 0);
        let mut draw = |most: u64| random.below(most);
        let (nodes, delay) = (2 + draw(5) as u32, [0.0, 0.01, 3.0, 60.0][draw(4) as usize]);
        let mut net = with_receipts(Net::new(nodes).delay_s(delay));
        net.rules.radio = [Radio::Node, Radio::Link, Radio::Direction][draw(3) as usize];
        let mut busy = vec![0.0; (nodes * nodes) as usize];
        for _ in 0..20 {
            let (a, b) = (draw(nodes.into()) as u32, draw(nodes.into()) as u32);
            let pair = (a.min(b) * nodes + a.max(b)) as usize;
            let start = busy[pair] + draw(100) as f64;
            if a != b && start < 800.0 {
                busy[pair] = start + 1.0 + draw(200) as f64;
                net = net.contact(a, b, start, busy[pair]);
            }
        }
        for _ in 0..20 {
            let (a, b) = (draw(nodes.into()) as u32, draw(nodes.into()) as u32);
            if a != b {
                net = net.bundle(a, b, 1000 + draw(100_000) as u32, draw(700) as f64);
            }
        }
        let run = net.run();
        let delivered = delivered(&run);
        for (at, record) in &run {
            let Record::Gone { node, id, reason: DropReason::Acknowledged, .. } = record else { continue };
            let (first, _) = delivered.iter().find(|(_, bundle)| *bundle == id.0).expect("it is delivered");
            let to = run.iter().any(
                |(_, r)| matches!(r, Record::Delivered { id: bundle, to, .. } if bundle == id && to == node),
            );
            assert!(
                to || *at >= first + delay,
                "seed {seed}: {id:?} at {node:?}, {at} s, delivered at {first} s"
            );
            heard += u32::from(!to);
        }
    }
    assert!(heard > 100, "{heard}");
}

#[test]
fn a_buffer_that_is_light_minutes_away_is_full_until_it_says_otherwise() {
    // storage_routing moves copies to peers with room: not before one has reported it.
    let net = |control| {
        let mut net = Net::new(2).buffer(200_000).delay_s(100.0).contact(0, 1, 0.0, 900.0);
        for number in 0..20 {
            net = net.bundle(0, 2, 50_000, f64::from(number));
        }
        net.mechanism = "storage_routing";
        net.rules.radio = Radio::Direction;
        net.rules.control = control;
        net
    };
    let mut nets = [Control::Instant, Control::Carried].map(net);
    nets.iter_mut().for_each(|net| net.router = "direct");
    let first = nets.map(|net| {
        let run = net.run();
        run.iter().find(|(_, r)| matches!(r, Record::Started { .. })).map(|(at, _)| *at)
    });
    assert!(first[0].is_some_and(|at| at < 100.0) && first[1].is_none_or(|at| at >= 100.0), "{first:?}");
}

/// When a bundle is first stored at node 1, and the control data of the run in bytes.
fn first_stored(net: &Net, control: Control) -> (Option<f64>, u64) {
    let mut net = net.clone();
    net.rules.control = control;
    let run = net.run();
    let stored = run.iter().find(|(_, r)| matches!(r, Record::Stored { to, .. } if to.0 == 1));
    let size = |record: &Record| if let Record::Control { size, .. } = record { size.get() } else { 0 };
    (stored.map(|(at, _)| *at), run.iter().map(|(_, record)| size(record)).sum())
}

#[test]
fn no_bundle_leaves_before_both_ends_have_reported_what_they_have() {
    let with = |copies: u32, delay: f64, radio: Radio| {
        let mut net = Net::new(3).delay_s(delay).contact(0, 1, 50.0, 60.0);
        net.rules.radio = radio;
        for number in 0..copies {
            net = net.bundle(0, 2, 1000, f64::from(number) / 100.0);
        }
        net
    };
    let bytes_s = |bytes: u32| f64::from(bytes) * 8.0 / 2.5e6;
    for (copies, delay) in [(1, 0.0), (100, 0.0), (1000, 0.0), (100, 3.0)] {
        let net = with(copies, delay, Radio::Direction);
        let (at, size) = first_stored(&net, Control::Carried);
        let summaries = 4 + 4 * copies;
        assert!((at.unwrap() - (50.0 + bytes_s(summaries + 1000) + delay)).abs() < 1e-6, "{at:?}");
        assert_eq!(size, u64::from(summaries + 4));
        let (at, size) = first_stored(&with(copies, delay, Radio::Link), Control::Carried);
        assert!((at.unwrap() - (50.0 + bytes_s(summaries + 4 + 1000) + delay)).abs() < 1e-6, "{at:?}");
        assert_eq!(size, u64::from(summaries + 4));
        assert_eq!(first_stored(&net, Control::Instant).1, 0);
    }
}

#[test]
fn a_summary_of_the_other_end_holds_a_bundle_up_unless_that_direction_carries_nothing() {
    // 1 has a thousand copies, 0 has one bundle for it.
    let with = |one_way: bool| {
        let mut net = Net::new(3).bundle(0, 1, 1000, 49.0);
        for number in 0..1000 {
            net = net.bundle(1, 2, 1000, f64::from(number) / 100.0);
        }
        net = if one_way { net.one_way(0, 1, 50.0, 60.0) } else { net.contact(0, 1, 50.0, 60.0) };
        net.rules.radio = Radio::Direction;
        net.rules.control = Control::Carried;
        delivered(&net.run())[0].0
    };
    assert!((with(false) - (50.0 + 5004.0 * 8.0 / 2.5e6)).abs() < 1e-6, "{}", with(false));
    assert!((with(true) - (50.0 + 1008.0 * 8.0 / 2.5e6)).abs() < 1e-6, "{}", with(true));
}

#[test]
fn a_bundle_that_has_come_to_its_destination_is_in_the_summary_until_it_is_over() {
    let size = |lifetime: f64| {
        let net = Net::new(2).lifetime_s(lifetime).bundle(0, 1, 1000, 0.0);
        let net = net.contact(0, 1, 10.0, 20.0).contact(0, 1, 100.0, 110.0);
        first_stored(&net, Control::Carried).1
    };
    // One copy at the first contact; at the second it is still there, and at its destination.
    assert_eq!((size(1e6), size(50.0)), (8 + 4 + 8 + 8, 8 + 4 + 4 + 4));
}

/// 0 sends to 2 over 240 s of light from 30 s; 1, which has a copy too, meets 2 nearby from `meets` on.
fn two_ways(size: u32, meets: f64) -> Net {
    let net = Net::new(3).delay_s(240.0).bundle(0, 2, size, 0.0).near(0, 1, 5.0, 29.0);
    let mut net = net.contact(0, 2, 30.0, 500.0).near(1, 2, meets, 600.0);
    net.rules.radio = Radio::Link;
    net
}

#[test]
fn a_bundle_that_is_on_its_way_from_afar_can_be_had_from_nearby() {
    for router in ["epidemic", "spray_and_wait", "max_prop"] {
        let run = two_ways(50_000, 50.0).router(router).run();
        assert_eq!(delivered(&run), [(50.0 + BUNDLE_S, 0)], "{router}");
    }
}

#[test]
fn what_has_begun_to_arrive_is_not_asked_of_another() {
    // 20 s of transfer, and as many to the neighbour.
    let slow = |meets| {
        let starts = started(&two_ways(6_250_000, meets).run());
        starts.into_iter().filter(|start| (start.1, start.2) == (1, 2)).count()
    };
    assert_eq!((slow(269.0), slow(271.0)), (1, 0));
}

#[test]
fn what_arrives_after_its_lifetime_is_not_delivered() {
    let net = |lifetime_s| {
        Net::new(2).delay_s(240.0).lifetime_s(lifetime_s).contact(0, 1, 30.0, 500.0).bundle(0, 1, 50_000, 0.0)
    };
    let arrives = 30.0 + BUNDLE_S + 240.0;
    assert_eq!(delivered(&net(arrives + 1e-6).run()).len(), 1);
    let late = net(arrives).run();
    assert_eq!(delivered(&late), []);
    assert!(late.iter().any(
        |(at, record)| *at == arrives && matches!(record, Record::Refused { why: Refusal::Expired, .. })
    ));
    // As in The ONE, where nodes look at lifetimes once a minute.
    let mut the_one = net(arrives);
    the_one.rules.purge_every = Some(Duration::from_secs(60));
    assert_eq!(delivered(&the_one.run()).len(), 1);
}
