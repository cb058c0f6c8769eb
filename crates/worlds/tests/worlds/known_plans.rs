//! What nodes know of later contacts: some know less than others, some are wrong, and learn better.

use crate::common::{Net, delivered};
use lightlag_protocols::dtn::{ContactPlan, NodeId, PlannedContact, mechanisms};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use lightlag_worlds::messages::Revision;
use std::sync::Arc;

/// Both directions of contacts: (end, other end, start in s, end in s).
fn plan(contacts: &[(u32, u32, i64, i64)]) -> Arc<ContactPlan> {
    let one_way = |from, to, start, end| PlannedContact {
        from: NodeId(from),
        to: NodeId(to),
        start: Instant::from_secs(start),
        end: Instant::from_secs(end),
        rate: BitRate(2_500_000),
        delay: Duration::ZERO,
    };
    let both =
        |&(a, b, start, end): &(u32, u32, i64, i64)| [one_way(a, b, start, end), one_way(b, a, start, end)];
    Arc::new(ContactPlan::new(contacts.iter().flat_map(both)))
}

fn learn(at: i64, nodes: &[u32], contacts: &[(u32, u32, i64, i64)]) -> Revision {
    let nodes = nodes.iter().map(|&node| NodeId(node)).collect();
    Revision { at: Instant::from_secs(at), nodes, plan: plan(contacts) }
}

#[test]
fn a_node_that_knows_no_plan_gives_bundles_to_their_destination_only() {
    let came = |unaware: &[u32]| {
        let mut net = Net::new(3).router("contact_graph").bundle(0, 2, 50_000, 0.0);
        net = net.contact(0, 1, 10.0, 20.0).contact(1, 2, 30.0, 40.0);
        net.revisions = vec![learn(0, unaware, &[])];
        delivered(&net.run())
    };
    assert_eq!([came(&[]).len(), came(&[2]).len(), came(&[1]).len(), came(&[0, 1]).len()], [1, 1, 1, 0]);
}

/// Nodes expect to reach 2 through 1 at 30 s; the only path leads over 3, at 70 s.
fn corrected_at(at: Option<i64>) -> Vec<(f64, u32)> {
    let contacts = [(0, 1, 10, 20), (0, 3, 50, 60), (3, 2, 70, 80)];
    let mut net = Net::new(4).router("contact_graph").bundle(0, 2, 50_000, 0.0);
    for (a, b, start, end) in contacts {
        net = net.contact(a, b, start as f64, end as f64);
    }
    net.plan = Some(plan(&[(0, 1, 10, 20), (1, 2, 30, 40)]));
    net.revisions = at.map(|at| learn(at, &[0, 1, 2, 3], &contacts)).into_iter().collect();
    delivered(&net.run())
}

#[test]
fn a_wrong_plan_loses_bundles_until_nodes_learn_of_the_right_one() {
    assert_eq!(corrected_at(None), []);
    assert_eq!(corrected_at(Some(5)), [(70.16, 0)]);
    assert_eq!(corrected_at(Some(10)), [(70.16, 0)], "before the contact that begins then");
    assert_eq!(corrected_at(Some(15)), [], "it has left");
}

#[test]
fn a_contact_that_is_announced_while_it_lasts_is_used_at_once() {
    let mut net = Net::new(3).router("contact_graph").bundle(0, 2, 50_000, 0.0);
    net = net.contact(0, 1, 10.0, 20.0).contact(1, 2, 30.0, 40.0);
    net.plan = Some(plan(&[]));
    net.revisions = vec![learn(12, &[0], &[(0, 1, 10, 20), (1, 2, 30, 40)])];
    let run = net.run();
    assert_eq!(crate::common::started(&run)[0], (12.0, 0, 1, 0));
}

#[test]
fn what_was_known_before_there_was_anything_to_send_leaves_no_trace_in_drawn_networks() {
    let mut came = 0;
    for seed in 0..60 {
        let mut random = Stream::new(seed, "known plans", 0);
        let mut draw = |most: u64| random.below(most);
        let nodes = 3 + draw(4) as u32;
        let mut contacts = |count: u64| -> Vec<(u32, u32, i64, i64)> {
            let mut all = Vec::new();
            for at in 0..count as i64 {
                let (a, b) = (draw(nodes.into()) as u32, draw(nodes.into()) as u32);
                if a != b {
                    all.push((a, b, 20 + at * 10, 25 + at * 10));
                }
            }
            all
        };
        let (real, wrong) = (contacts(60), contacts(60));
        let mechanism = ["none", "credit", "rrcc", "storage_routing", "smart_dtn_cc"][draw(5) as usize];
        assert!(mechanisms::TABLE.iter().any(|entry| entry.name == mechanism));
        let mut net = Net::new(nodes).router("contact_graph").buffer(300_000);
        net.mechanism = mechanism;
        for &(a, b, start, end) in &real {
            net = net.contact(a, b, start as f64, end as f64);
        }
        for at in 0..40 {
            let (a, b) = (draw(nodes.into()) as u32, draw(nodes.into()) as u32);
            if a != b {
                net = net.bundle(a, b, 1000 + draw(99_000) as u32, 15.0 + f64::from(at * 10));
            }
        }
        let known = net.run();
        let everyone: Vec<u32> = (0..nodes).collect();
        for revisions in [
            vec![learn(0, &everyone, &real)],
            vec![learn(14, &everyone, &real)],
            vec![learn(0, &everyone, &[]), learn(3, &everyone[1..], &real), learn(9, &everyone[..1], &real)],
        ] {
            net.plan = Some(plan(&wrong));
            net.revisions = revisions;
            assert_eq!(net.run(), known, "seed {seed}");
        }
        came += delivered(&known).len();
    }
    assert!(came > 500, "{came}");
}
