//! Bundles that are answered at their destination, and what a source keeps beyond its buffer.

use crate::common::{Net, delivered};
use lightlag_protocols::dtn::{BundleId, DropReason, NodePolicy};
use lightlag_protocols::record::bundles::{Record, ReplyKind};
use lightlag_protocols::time::Duration;
use proptest::prelude::*;

fn created(run: &[(f64, Record)], number: u32) -> Option<f64> {
    run.iter().find_map(|(at, record)| {
        matches!(record, Record::Created(bundle) if bundle.id.0 == number).then_some(*at)
    })
}

fn gone(run: &[(f64, Record)], of: DropReason) -> Vec<(f64, u32, u32)> {
    let one = |(at, record): &(f64, Record)| match record {
        Record::Gone { node, id, reason, .. } if *reason == of => Some((*at, node.0, id.0)),
        _ => None,
    };
    run.iter().filter_map(one).collect()
}

#[test]
fn the_destination_answers_when_the_bundle_first_arrives_and_the_answer_finds_its_way_back() {
    let net = Net::new(3).contact(0, 1, 0.0, 10.0).contact(1, 2, 20.0, 30.0).contact(0, 1, 40.0, 50.0);
    let run = net.bundle(0, 2, 50_000, 0.0).answered(0, 25_000, ReplyKind::Response, 1e3).run();
    assert_eq!(created(&run, 1), Some(20.16), "the request has arrived");
    assert_eq!(delivered(&run), [(20.16, 0), (40.08, 1)]);
}

#[test]
fn what_does_not_arrive_is_not_answered_and_a_second_copy_is_not_answered_again() {
    let late = Net::new(2).bundle(0, 1, 50_000, 0.0).answered(0, 100, ReplyKind::Response, 1e3);
    assert_eq!(created(&late.run(), 1), None);
    // Both relays have a copy for node 3.
    let net = Net::new(4).contact(0, 1, 0.0, 10.0).contact(0, 2, 11.0, 20.0);
    let net = net.contact(1, 3, 30.0, 40.0).contact(2, 3, 30.0, 40.0).bundle(0, 3, 50_000, 0.0);
    let run = net.answered(0, 100, ReplyKind::Response, 1e3).run();
    let answers = run.iter().filter(|(_, record)| matches!(record, Record::Created(b) if b.id.0 == 1));
    assert_eq!(answers.count(), 1);
}

#[test]
fn the_lifetime_of_an_answer_begins_when_it_is_created() {
    let net = Net::new(2).contact(0, 1, 100.0, 100.16).bundle(0, 1, 50_000, 0.0);
    let run = net.answered(0, 100, ReplyKind::Response, 50.0).run();
    assert_eq!(gone(&run, DropReason::Expired), [(150.16, 1, 1)]);
}

#[test]
fn a_pong_replaces_that_of_the_same_second_while_it_is_at_its_source() {
    // Pings of 0.16 s arrive one after the other; the link carries nothing back meanwhile.
    let pings = |kind| {
        let net = Net::new(2).contact(0, 1, 10.0, 100.0);
        let net = (0..5).fold(net, |net, _| net.bundle(0, 1, 50_000, 0.0));
        (0..5).fold(net, |net, request| net.answered(request, 50_000, kind, 1e3)).run()
    };
    let arrived = |run: &[(f64, Record)]| delivered(run).iter().filter(|(_, id)| *id >= 5).count();
    let (plain, pongs) = (pings(ReplyKind::Response), pings(ReplyKind::Pong));
    assert_eq!((arrived(&plain), gone(&plain, DropReason::Replaced).len()), (5, 0));
    let replaced = gone(&pongs, DropReason::Replaced).len();
    assert!(replaced > 0 && arrived(&pongs) + replaced == 5, "{replaced} replaced");
}

#[test]
fn a_source_evicts_what_exceeds_its_buffer_when_a_transfer_of_it_is_over() {
    let policy = NodePolicy { overfill: true, ..NodePolicy::default() };
    // 0.96 s for 300 kB, over a buffer of 200 kB: no peer may take it but the destination with more room.
    let net = |end: f64| {
        let mut net = Net::new(2).buffer(200_000).contact(0, 1, 10.0, end);
        net.policy = NodePolicy { deliver_past_buffer: true, ..policy };
        net.bundle(0, 1, 300_000, 0.0)
    };
    assert_eq!(gone(&net(20.0).run(), DropReason::Overflow), [(10.96, 0, 0)], "sent");
    assert_eq!(gone(&net(10.5).run(), DropReason::Overflow), [(10.5, 0, 0)], "cut off");
    let mut idle = net(10.5);
    idle.policy = policy;
    assert_eq!(gone(&idle.run(), DropReason::Overflow), [], "nothing was sent, all is kept");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Over random contacts, with every kind of reply.
    #[test]
    fn replies_follow_first_deliveries_one_to_one(
        contacts in prop::collection::vec((0..5_u32, 1..5_u32, 0..900_u32, 1..60_u32), 1..60),
        bundles in prop::collection::vec((0..5_u32, 1..5_u32, 1..120_000_u32, 0..800_u32, any::<bool>()), 1..30),
        tick in any::<bool>(),
    ) {
        let mut net = Net::new(5).buffer(300_000).lifetime_s(400.0);
        if tick {
            net.rules.tick = Some(Duration::from_nanos(100_000_000));
        }
        let mut until = std::collections::BTreeMap::new();
        let mut sorted = contacts;
        sorted.sort_by_key(|contact| contact.2);
        for (a, step, start, lasts) in sorted {
            let b = (a + step) % 5;
            let last: &mut u32 = until.entry((a.min(b), a.max(b))).or_default();
            if start >= *last {
                *last = start + lasts + 1;
                net = net.contact(a, b, f64::from(start), f64::from(start + lasts));
            }
        }
        let mut bundles = bundles;
        bundles.sort_by_key(|bundle| bundle.3);
        for &(from, step, size, at, _) in &bundles {
            net = net.bundle(from, (from + step) % 5, size, f64::from(at));
        }
        for (request, bundle) in (0..).zip(&bundles) {
            let kind = if bundle.4 { ReplyKind::Response } else { ReplyKind::Pong };
            net = net.answered(request, bundle.2, kind, 300.0);
        }
        let run = net.run();
        let count = bundles.len() as u32;
        let mut requests: Vec<(f64, u32)> = Vec::new();
        let mut replies: Vec<(f64, u32)> = Vec::new();
        for (at, record) in &run {
            match record {
                Record::Delivered { id: BundleId(id), first: true, .. } if *id < count => requests.push((*at, id + count)),
                Record::Created(b) | Record::Rejected(b) if b.id.0 >= count => {
                    replies.push((*at, b.id.0));
                    prop_assert!((b.created.as_secs_f64() - at).abs() < 1e-9);
                }
                _ => {}
            }
        }
        prop_assert_eq!(requests, replies);
    }
}
