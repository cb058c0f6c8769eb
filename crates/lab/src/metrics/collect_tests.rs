use super::*;
use crate::metrics::BUNDLES;
use lightlag_protocols::dtn::{NodeId, Refusal};
use lightlag_protocols::units::Bytes;

fn bundle(id: u32, created_s: i64) -> Bundle {
    Bundle {
        id: BundleId(id),
        source: NodeId(0),
        destination: NodeId(1 + id % 2),
        size: Bytes(100),
        created: Instant::from_secs(created_s),
        expires: Instant::MAX,
    }
}

fn play(warmup_s: i64, story: &[(i64, Record)]) -> Summary {
    let mut metrics = Metrics::new(Instant::from_secs(warmup_s));
    story.iter().for_each(|(at, record)| metrics.on_record(Instant::from_secs(*at), record));
    metrics.summary()
}

fn delivered(id: u32, hops: u32, first: bool) -> Record {
    let (from, to, id) = (NodeId(0), NodeId(1), BundleId(id));
    Record::Delivered { from, to, id, started: Instant::ZERO, hops, first }
}

fn gone(id: u32, reason: DropReason, received_s: i64) -> Record {
    Record::Gone { node: NodeId(0), id: BundleId(id), reason, received: Instant::from_secs(received_s) }
}

fn full_story() -> Vec<(i64, Record)> {
    let (from, to, id) = (NodeId(0), NodeId(3), BundleId(2));
    vec![
        (10, Record::Created(bundle(0, 10))),
        (10, Record::Created(bundle(1, 10))),
        (20, Record::Created(bundle(2, 20))),
        (20, Record::Rejected(bundle(3, 20))),
        (30, Record::Started { from, to, id }),
        (31, Record::Sent { from, to, id }),
        (31, Record::Stored { from, to, id, started: Instant::from_secs(30) }),
        (32, Record::Started { from, to, id }),
        (33, Record::Aborted { from, to, id }),
        (40, Record::Refused { from, to, id, started: Instant::ZERO, why: Refusal::Held }),
        (50, delivered(0, 2, true)),
        (90, delivered(1, 1, true)),
        (95, delivered(1, 1, false)),
        (96, gone(0, DropReason::Overflow, 90)),
        (97, gone(0, DropReason::Expired, 90)),
        (98, gone(0, DropReason::Acknowledged, 48)),
        (99, gone(0, DropReason::HandedOver, 98)),
        (120, Record::End),
    ]
}

#[test]
fn every_row_follows_the_one_s_formulas() {
    let s = play(0, &full_story());
    assert_eq!((s.created, s.started, s.relayed, s.aborted), (4, 2, 5, 1));
    assert_eq!((s.dropped, s.removed, s.delivered), (2, 2, 2));
    assert_eq!((s.sim_time, s.delivery_prob, s.overhead_ratio), (120.0, 0.5, 1.5));
    // 40 s and 80 s: the upper median is 80 s.
    assert_eq!((s.latency_avg, s.latency_med), (60.0, 80.0));
    assert_eq!((s.hopcount_avg, s.hopcount_med), (1.5, 2));
    // 6, 7, 50 and 1 s.
    assert_eq!((s.buffertime_avg, s.buffertime_med), (16.0, 7.0));
}

#[test]
fn undelivered_bundles_count_with_their_age_in_the_censored_delay() {
    let s = play(0, &full_story());
    assert_eq!(s.censored_delay_avg, (40.0 + 80.0 + 100.0 + 100.0) / 4.0);
    assert_eq!((s.delivered_bytes, s.sent_bytes, s.refused, s.rejected), (200, 100, 1, 1));
    assert_eq!(s.delivered_again, 1);
    assert_eq!((s.delivered_by_1min, s.delivered_by_10min), (0.25, 0.5));
}

#[test]
fn what_waits_at_the_application_is_counted_over_time_and_at_the_end() {
    let story = [
        (10, Record::Created(bundle(0, 10))),
        (40, Record::Created(bundle(1, 20))),
        (50, Record::Rejected(bundle(2, 30))),
        (60, Record::Rejected(bundle(3, 60))),
        (100, Record::Rejected(bundle(4, 50))),
        (100, Record::End),
    ];
    let s = play(0, &story);
    // From 20 s to 40 s, 30 s to 50 s, and 50 s to the end, with 100 bytes each.
    assert_eq!((s.waiting, s.waiting_max, s.waiting_avg), (1, 2, 0.9));
    assert_eq!((s.waiting_bytes, s.waiting_bytes_max, s.waiting_bytes_avg), (100, 200, 90.0));
    let late = play(25, &story);
    assert_eq!((late.waiting, late.waiting_max, late.waiting_avg), (1, 1, 70.0 / 75.0));
    assert_eq!(play(0, &full_story()).waiting_bytes_max, 0, "what found no room at once did not wait");
}

proptest::proptest! {
    #[test]
    fn most_that_waits_is_what_a_search_at_every_instant_finds(
        waits in proptest::collection::vec((0_i64..50, 0_i64..20), 0..40),
    ) {
        let mut story: Vec<(i64, Record)> = (0..)
            .zip(&waits)
            .map(|(id, &(since, lasts))| (since + lasts, Record::Created(bundle(id, since))))
            .collect();
        story.sort_by_key(|(at, _)| *at);
        story.push((100, Record::End));
        let at = |now: &i64| waits.iter().filter(|(since, lasts)| (*since..since + lasts).contains(now)).count();
        let most = (0..100).map(|now| at(&now)).max().unwrap_or(0) as u64;
        let s = play(0, &story);
        proptest::prop_assert_eq!((s.waiting_max, s.waiting_bytes_max), (most, 100 * most));
        let all: i64 = waits.iter().map(|(_, lasts)| lasts).sum();
        proptest::prop_assert!((s.waiting_avg - all as f64 / 100.0).abs() < 1e-9);
    }
}

#[test]
fn control_data_counts_among_the_bytes_that_a_delivered_byte_takes() {
    let (from, to) = (NodeId(0), NodeId(3));
    let mut story = full_story();
    story.insert(5, (31, Record::Control { from, to, size: Bytes(60) }));
    let s = play(0, &story);
    assert_eq!((s.control_bytes, s.bytes_per_delivered_byte), (60, 160.0 / 200.0));
    assert_eq!(play(32, &story).control_bytes, 0, "of the warm-up");
}

#[test]
fn fairness_is_one_when_all_destinations_are_served_alike() {
    assert_eq!(play(0, &full_story()).fairness, 1.0);
    let one_of_two =
        [(0, Record::Created(bundle(0, 0))), (0, Record::Created(bundle(1, 0))), (1, delivered(0, 1, true))];
    assert_eq!(play(0, &one_of_two).fairness, 0.5);
}

#[test]
fn bundles_of_the_warm_up_are_ignored_for_ever() {
    let s = play(15, &full_story());
    assert_eq!((s.created, s.started, s.relayed, s.delivered, s.dropped), (2, 2, 2, 0, 0));
    assert!(s.buffertime_avg.is_nan());
}

#[test]
fn an_empty_run_has_zero_counts_zero_probabilities_and_no_averages() {
    let s = play(0, &[(5, Record::End)]);
    assert_eq!((s.created, s.delivery_prob, s.response_prob, s.hopcount_med), (0, 0.0, 0.0, 0));
    for nan in [s.overhead_ratio, s.latency_avg, s.latency_med, s.hopcount_avg, s.rtt_avg, s.fairness] {
        assert!(nan.is_nan());
    }
}

#[test]
fn json_has_the_rows_in_order_counts_as_integers_and_nan_as_null() {
    let json = play(0, &[(5, Record::Created(bundle(0, 5))), (6, Record::End)]);
    let json = crate::metrics::Figures::from(json).json();
    assert!(json.starts_with("{\n  \"sim_time\": 6.0,\n  \"created\": 1,\n  \"started\": 0,"), "{json}");
    assert!(json.contains("\"latency_avg\": null"));
    let names: Vec<&str> = BUNDLES.iter().map(|metric| metric.name).collect();
    assert_eq!(names[..3], ["sim_time", "created", "started"]);
    assert_eq!(names[18..20], ["rtt_med", "censored_delay_avg"]);
}
