//! Routers of The ONE that look at their neighbours: copies that pass at once, and copies that live among others.

use crate::common::{Net, delivered, started};
use lightlag_protocols::dtn::DropReason;
use lightlag_protocols::record::bundles::Record;

/// Who deleted a copy and why.
fn gone(run: &[(f64, Record)]) -> Vec<(f64, u32, DropReason)> {
    let deletion = |(at, record): &(f64, Record)| match *record {
        Record::Gone { node, reason, .. } => Some((*at, node.0, reason)),
        _ => None,
    };
    run.iter().filter_map(deletion).collect()
}

#[test]
fn with_an_oracle_a_bundle_passes_through_all_that_are_connected_at_one_instant() {
    let net = Net::new(5).router("epidemic_oracle").contact(0, 1, 0.0, 9.0).contact(1, 2, 0.0, 9.0);
    let run = net.contact(2, 3, 0.0, 9.0).bundle(0, 3, 5_000_000, 5.0).run();
    assert_eq!(delivered(&run), vec![(5.0, 0)]);
    // All but the last sender forget it.
    let deleted = gone(&run);
    assert_eq!(deleted, vec![(5.0, 0, DropReason::Acknowledged), (5.0, 1, DropReason::Acknowledged)]);
}

#[test]
fn with_an_oracle_the_last_sender_passes_on_what_was_delivered() {
    let net = Net::new(4).router("epidemic_oracle").contact(0, 1, 0.0, 9.0).contact(0, 2, 20.0, 30.0);
    let run = net.contact(2, 1, 40.0, 50.0).contact(3, 2, 60.0, 70.0).bundle(0, 1, 50_000, 5.0).run();
    let starts: Vec<(f64, u32, u32)> = started(&run).iter().map(|s| (s.0, s.1, s.2)).collect();
    assert_eq!(starts, vec![(5.0, 0, 1), (20.0, 0, 2), (60.0, 2, 3)]);
    assert_eq!(gone(&run), vec![]);
}

#[test]
fn a_copy_that_nobody_near_holds_is_dropped_while_it_is_sent_and_still_arrives() {
    let run = Net::new(3).router("life").contact(0, 1, 10.0, 10.5).bundle(0, 2, 50_000, 0.0).run();
    let starts: Vec<(f64, u32, u32)> = started(&run).iter().map(|s| (s.0, s.1, s.2)).collect();
    assert_eq!(starts, vec![(10.0, 0, 1), (10.16, 1, 0), (10.32, 0, 1), (10.48, 1, 0)]);
    let dropped: Vec<(f64, u32, DropReason)> =
        starts.iter().map(|&(at, node, _)| (at, node, DropReason::Overflow)).collect();
    assert_eq!(gone(&run), dropped);
    // The last transfer was cut off, and its copy had been dropped: the bundle is lost.
    assert!(matches!(run.iter().rev().find(|(_, r)| matches!(r, Record::Aborted { .. })), Some((10.5, _))));
}

#[test]
fn a_copy_that_nobody_near_holds_moves_on_and_never_multiplies() {
    let net = Net::new(4).router("life").contact(0, 1, 0.0, 100.0).contact(1, 2, 0.0, 100.0);
    let run = net.contact(0, 2, 0.0, 100.0).bundle(0, 3, 50_000, 1.0).run();
    let mut holders = 0;
    for (at, record) in &run {
        holders += match record {
            Record::Created(_) | Record::Stored { .. } => 1,
            Record::Gone { .. } => -1,
            _ => 0,
        };
        assert!((0..=1).contains(&holders), "{holders} copies at {at} s");
    }
    // It is in transfer all the time, 0.16 s from node to node.
    assert_eq!(started(&run).len(), 619);
}
