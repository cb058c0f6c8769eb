//! Bundles that wait at the application take storage, which a scenario bounds.

use crate::common::{Net, delivered};
use lightlag_protocols::dtn::{
    BufferDecision, Built, Bundle, BundleId, Local, Mechanism, Needs, Radio, mechanisms, routers,
};
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::units::Bytes;
use std::collections::BTreeMap;

/// Drops nothing: what finds no room waits.
struct Waits;

impl Mechanism for Waits {
    fn make_room(&mut self, _: &Local, _: &Bundle, _: Option<BundleId>) -> BufferDecision {
        BufferDecision::Wait
    }
}

fn run_with_waits(net: &Net) -> Vec<(f64, Record)> {
    net.run_with(|_| Built { algorithm: Box::new(Waits), properties: Needs::NONE })
}

/// Bundles that were lost at their source: (time in s, bundle).
fn rejected(run: &[(f64, Record)]) -> Vec<(f64, u32)> {
    let lost = |(at, record): &(f64, Record)| match record {
        Record::Rejected(bundle) => Some((*at, bundle.id.0)),
        _ => None,
    };
    run.iter().filter_map(lost).collect()
}

/// Six bundles of 50 kB at a source whose buffer holds two; it meets their destination from 100 s on.
fn six(application_buffer: Option<u64>) -> Net {
    six_that_live(1e6, application_buffer)
}

fn six_that_live(lifetime_s: f64, application_buffer: Option<u64>) -> Net {
    let mut net =
        Net::new(2).buffer(100_000).router("direct").contact(0, 1, 100.0, 900.0).lifetime_s(lifetime_s);
    for number in 0..6 {
        net = net.bundle(0, 1, 50_000, f64::from(number));
    }
    net.policy.application_buffer = application_buffer.map(Bytes);
    net.policy.delete_delivered = true;
    net
}

#[test]
fn a_bundle_for_which_the_application_has_no_room_is_lost_when_it_is_created() {
    let lost = |application| rejected(&run_with_waits(&six(application)));
    assert_eq!(lost(None), []);
    assert_eq!(lost(Some(120_000)), [(4.0, 4), (5.0, 5)]);
    assert_eq!(lost(Some(0)), [(2.0, 2), (3.0, 3), (4.0, 4), (5.0, 5)]);
    let came = |application| delivered(&run_with_waits(&six(application))).len();
    assert_eq!([came(None), came(Some(120_000)), came(Some(0))], [6, 4, 2]);
}

#[test]
fn with_an_application_buffer_what_any_mechanism_refuses_waits_for_room() {
    // Both stored bundles are being sent when the third is created: none can be dropped for it.
    let came = |application: Option<u64>| {
        let mut net =
            Net::new(3).buffer(100_000).router("direct").contact(0, 1, 0.0, 9.0).contact(0, 2, 0.0, 9.0);
        net = net.bundle(0, 1, 50_000, 1.0).bundle(0, 2, 50_000, 1.0).bundle(0, 1, 50_000, 1.1);
        net.rules.radio = Radio::Direction;
        net.policy.application_buffer = application.map(Bytes);
        let run = net.run();
        (delivered(&run).len(), rejected(&run))
    };
    assert_eq!(came(None), (2, vec![(1.1, 2)]));
    assert_eq!(came(Some(49_999)), (2, vec![(1.1, 2)]));
    assert_eq!(came(Some(50_000)), (3, vec![]));
    let mut large = six(Some(1_000_000)).bundle(0, 1, 100_001, 50.0);
    assert_eq!(rejected(&run_with_waits(&large)), [(50.0, 6)], "there will never be room for it");
    large.policy.overfill = true;
    large.mechanism = "none";
    assert_eq!(rejected(&large.run()), [], "as in The ONE");
}

#[test]
fn a_bundle_whose_lifetime_ends_while_it_waits_leaves_the_bounded_storage() {
    let lost = |application, purge: Option<i64>| {
        let mut net = six_that_live(10.0, application).bundle(0, 1, 50_000, 12.5).bundle(0, 1, 50_000, 12.6);
        net.rules.purge_every = purge.map(lightlag_protocols::time::Duration::from_secs);
        rejected(&run_with_waits(&net))
    };
    // At 12.5 s the two that were stored have expired, and 3 and 4 get their room.
    assert_eq!(lost(Some(200_000), None), [(12.0, 2), (15.0, 5), (22.5, 6), (22.6, 7)]);
    let purged: Vec<_> = lost(Some(200_000), Some(20));
    let late = [(12.5, 2), (12.6, 7), (20.0, 3), (20.0, 4), (20.0, 5), (40.0, 6)];
    assert_eq!(purged, late, "expired copies hold their room until they are purged");
    assert!(lost(None, None).iter().all(|(at, _)| *at >= 100.0), "without a bound until they are tried");
}

/// Most bytes that waited at a node at one time, from records alone.
fn most_waiting(run: &[(f64, Record)]) -> u64 {
    let mut changes: Vec<(f64, u32, i64)> = Vec::new();
    for (at, record) in run {
        if let Record::Created(bundle) | Record::Rejected(bundle) = record {
            let (created, size) = (bundle.created.as_secs_f64(), bundle.size.get() as i64);
            if *at > created {
                changes.extend([(created, bundle.source.0, size), (*at, bundle.source.0, -size)]);
            }
        }
    }
    changes.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.2.cmp(&y.2)));
    let (mut used, mut most) = (BTreeMap::new(), 0);
    for (_, node, change) in changes {
        let used: &mut i64 = used.entry(node).or_default();
        *used += change;
        most = most.max(*used as u64);
    }
    most
}

#[test]
fn applications_hold_no_more_than_their_bound_in_drawn_networks_under_any_mechanism() {
    let (mut waited, mut full) = (0, 0);
    for seed in 0..150 {
        let mut random = Stream::new(seed, "application", 0);
        let mut draw = |most: u64| random.below(most);
        let bound = [0, 60_000, 150_000, 400_000][draw(4) as usize];
        let nodes = 2 + draw(5) as u32;
        let mut net = Net::new(nodes).buffer(100_000 + draw(200_000)).lifetime_s(50.0 + draw(900) as f64);
        net.router = ["epidemic", "direct", "prophet"][draw(3) as usize];
        let fits: Vec<_> = mechanisms::TABLE
            .iter()
            .filter(|entry| entry.only_with.is_empty() || entry.only_with.contains(&net.router))
            .collect();
        net.mechanism = fits[draw(fits.len() as u64) as usize].name;
        assert!(routers::TABLE.iter().any(|entry| entry.name == net.router));
        net.rules.radio = [Radio::Node, Radio::Link, Radio::Direction][draw(3) as usize];
        net.policy.application_buffer = Some(Bytes(bound));
        let mut busy = vec![0.0; (nodes * nodes) as usize];
        for _ in 0..20 {
            let (a, b) = (draw(nodes.into()) as u32, draw(nodes.into()) as u32);
            let pair = (a.min(b) * nodes + a.max(b)) as usize;
            let start = busy[pair] + draw(100) as f64;
            if a != b && start < 800.0 {
                busy[pair] = start + 1.0 + draw(100) as f64;
                net = net.contact(a, b, start, busy[pair]);
            }
        }
        let mut count = 0;
        for at in 0..60 {
            let (a, b) = (draw(nodes.into()) as u32, draw(nodes.into()) as u32);
            if a != b {
                net = net.bundle(a, b, 1000 + draw(99_000) as u32, f64::from(at * 10));
                count += 1;
            }
        }
        let run = net.run();
        let most = most_waiting(&run);
        assert!(most <= bound, "seed {seed}, {}: {most} of {bound}", net.mechanism);
        let created =
            run.iter().filter(|(_, r)| matches!(r, Record::Created(_) | Record::Rejected(_))).count();
        assert_eq!(created, count, "seed {seed}, {}: each bundle is stored or lost once", net.mechanism);
        waited += u32::from(most > 0);
        full += u32::from(!rejected(&run).is_empty());
    }
    assert!(waited > 15 && full > 30, "{waited} {full}");
}
