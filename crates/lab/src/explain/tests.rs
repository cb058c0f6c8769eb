//! Small runs whose fates are known.

use super::collect::Collector;
use super::{Asked, explain};
use lightlag_protocols::dtn::{Bundle, BundleId, DropReason, NodeId, Refusal};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};

fn at(seconds: i64) -> Instant {
    Instant::from_secs(seconds)
}

const NODES: [NodeId; 3] = [NodeId(0), NodeId(1), NodeId(2)];

/// A bundle of 100 kB from a to c that lives for 100 s.
fn bundle(id: u32, created: i64) -> Bundle {
    let [source, _, destination] = NODES;
    let (created, size) = (at(created), Bytes(100_000));
    Bundle {
        id: BundleId(id),
        source,
        destination,
        size,
        created,
        expires: created + Duration::from_secs(100),
    }
}

fn up(a: NodeId, b: NodeId) -> Record {
    Record::ContactUp { a, b, rate: [BitRate(80_000); 2], delay: [Duration::ZERO; 2] }
}

/// What a run of a, b and c, whose buffers have 250 kB, with these records explains; it ends after 1000 s.
fn story(records: &[(i64, Record)], asked: Asked) -> super::Explanation {
    let wanted = if let Asked::Bundle(id) = asked { Some(BundleId(id)) } else { None };
    let mut run = Collector::with_life(wanted);
    for (node, name) in NODES.into_iter().zip(["a", "b", "c"]) {
        run.on_record(at(0), &Record::Node { node, buffer: Bytes(250_000) });
        run.name(node, name);
    }
    records.iter().for_each(|(now, record)| run.on_record(at(*now), record));
    run.on_record(at(1_000), &Record::End);
    explain(&run, asked).unwrap()
}

/// Contacts of a and b, then of b and c, of 20 s each: a bundle takes 10 s.
fn two_contacts() -> Vec<(i64, Record)> {
    let [a, b, c] = NODES;
    vec![
        (10, up(a, b)),
        (30, Record::ContactDown { a, b }),
        (50, up(b, c)),
        (70, Record::ContactDown { a: c, b }),
    ]
}

fn fates(records: &[(i64, Record)]) -> String {
    story(records, Asked::Summary).json["fates"].to_string()
}

fn with(mut records: Vec<(i64, Record)>, more: &[(i64, Record)]) -> Vec<(i64, Record)> {
    records.extend_from_slice(more);
    records.sort_by_key(|record| record.0);
    records
}

#[test]
fn a_bundle_is_unreachable_for_one_of_three_reasons() {
    let created = |seconds| (seconds, Record::Created(bundle(0, seconds)));
    assert_eq!(fates(&[created(0)]), r#"{"no_contact":1}"#);
    assert_eq!(fates(&with(two_contacts(), &[created(29)])), r#"{"contacts_too_short":1}"#);
    assert_eq!(fates(&with(two_contacts(), &[created(31)])), r#"{"no_contact":1}"#);
    let [a, b, c] = NODES;
    let wrong_order = [
        created(0),
        (10, up(b, c)),
        (30, Record::ContactDown { a: b, b: c }),
        (50, up(a, b)),
        (70, Record::ContactDown { a, b }),
    ];
    assert_eq!(fates(&wrong_order), r#"{"no_path":1}"#);
    // A path is there, but no copy took it.
    assert_eq!(fates(&with(two_contacts(), &[created(20)])), r#"{"held":1}"#);
}

#[test]
fn the_last_copy_decides_what_became_of_a_bundle() {
    let [a, b, _] = NODES;
    let id = BundleId(0);
    let gone = |node, reason| Record::Gone { node, id, reason, received: at(0) };
    let copied = with(
        two_contacts(),
        &[
            (0, Record::Created(bundle(0, 0))),
            (10, Record::Started { from: a, to: b, id }),
            (20, Record::Sent { from: a, to: b, id }),
        ],
    );
    assert_eq!(fates(&with(copied.clone(), &[(20, gone(a, DropReason::HandedOver))])), r#"{"in_flight":1}"#);
    let refused = [
        (20, gone(a, DropReason::HandedOver)),
        (20, Record::Refused { from: a, to: b, id, started: at(10), why: Refusal::NoSpace }),
    ];
    assert_eq!(fates(&with(copied.clone(), &refused)), r#"{"refused":1}"#);
    let stored = with(copied, &[(20, Record::Stored { from: a, to: b, id, started: at(10) })]);
    assert_eq!(fates(&with(stored.clone(), &[(40, gone(a, DropReason::Expired))])), r#"{"held":1}"#);
    let first_dropped =
        with(stored, &[(30, gone(b, DropReason::Overflow)), (100, gone(a, DropReason::Expired))]);
    assert_eq!(fates(&first_dropped), r#"{"expired":1}"#);
    let nodes = story(&first_dropped, Asked::Lost).json["nodes"].to_string();
    assert!(nodes.starts_with(r#"[{"copies_dropped":0,"copies_expired":1,"lost":1,"name":"a"}"#), "{nodes}");
}

#[test]
fn a_source_refuses_for_one_of_three_reasons() {
    let large = Bundle { size: Bytes(250_001), ..bundle(0, 5) };
    assert_eq!(fates(&[(5, Record::Rejected(large))]), r#"{"too_large":1}"#);
    assert_eq!(fates(&[(5, Record::Rejected(bundle(0, 5)))]), r#"{"no_room":1}"#);
    assert_eq!(fates(&[(9, Record::Rejected(bundle(0, 5)))]), r#"{"waited":1}"#);
}

#[test]
fn a_life_has_sentences_with_times_and_names() {
    let [a, b, c] = NODES;
    let id = BundleId(0);
    let records = with(
        two_contacts(),
        &[
            (0, Record::Created(bundle(0, 0))),
            (10, Record::Started { from: a, to: b, id }),
            (20, Record::Sent { from: a, to: b, id }),
            (22, Record::Stored { from: a, to: b, id, started: at(10) }),
            (50, Record::Started { from: b, to: c, id }),
            (60, Record::Sent { from: b, to: c, id }),
            (60, Record::Delivered { from: b, to: c, id, started: at(50), hops: 2, first: true }),
        ],
    );
    let found = story(&records, Asked::Bundle(0));
    assert_eq!(
        found.text,
        "Bundle 0, 100 kB from a to c, was delivered after 1 min: a -> b -> c.\n\
         It was created at 00:00:00.0 and lives for 1 min 40 s, until 00:01:40.0.\n\n\
         00:00:00.0  a creates and stores it.\n\
         00:00:10.0  a begins to send it to b.\n\
         00:00:22.0  b receives a copy from a, begun 12 s earlier after 2 s on the link, and stores it.\n\
         00:00:50.0  b begins to send it to c.\n\
         00:01:00.0  c, the destination, receives it from b: it is delivered (2 hops).\n"
    );
    assert_eq!(found.json["path"].to_string(), r#"["a","b","c"]"#);
}

#[test]
fn a_lost_bundle_says_what_chances_its_last_copy_had() {
    let [a, b, _] = NODES;
    let id = BundleId(0);
    let gone = |now, reason| (now, Record::Gone { node: a, id, reason, received: at(0) });
    let created = (0, Record::Created(bundle(0, 0)));
    let text = |records: &[(i64, Record)]| {
        let text = story(records, Asked::Bundle(0)).text;
        text.lines().nth(2).unwrap().to_owned()
    };
    let early = with(two_contacts(), &[created.clone(), gone(5, DropReason::Overflow)]);
    assert_eq!(text(&early), "In the 5 s that a had it, it met no other node.");
    let cut = [
        created.clone(),
        gone(40, DropReason::Overflow),
        (29, Record::Started { from: a, to: b, id }),
        (30, Record::Aborted { from: a, to: b, id }),
    ];
    assert_eq!(
        text(&with(two_contacts(), &cut)),
        "In the 40 s that a had it, it had 1 contact, from 00:00:10.0 on (with b), and began to send it 1 time \
         (1 cut off by the end of the contact)."
    );
    let never = story(&with(two_contacts(), std::slice::from_ref(&created)), Asked::Bundle(0));
    assert!(never.text.contains("(with b), and did not begin to send it."), "{}", never.text);
    assert_eq!(never.json["last_copy"]["until_s"], 1_000.0);
}

#[test]
fn what_would_help_follows_from_what_most_were_lost_to() {
    let [a, b, c] = NODES;
    let help = |records: &[(i64, Record)]| {
        let text = story(records, Asked::Summary).text;
        let line = text.lines().find_map(|line| line.strip_prefix("What would help: "));
        line.unwrap_or_default().to_owned()
    };
    let created = |seconds| (seconds, Record::Created(bundle(0, seconds)));
    let gone = |now, reason| (now, Record::Gone { node: a, id: BundleId(0), reason, received: at(0) });
    let large = Bundle { size: Bytes(250_001), ..bundle(0, 5) };
    assert_eq!(
        help(&[(5, Record::Rejected(large))]),
        "a buffer of at least 250 kB at their sources, or smaller bundles."
    );
    assert_eq!(
        help(&[created(0)]),
        "other contacts: no router, mechanism, buffer or lifetime can deliver them."
    );
    // Both contacts are later than the bundle lives.
    let late = [
        created(0),
        (500, up(a, b)),
        (520, Record::ContactDown { a, b }),
        (600, up(b, c)),
        (620, Record::ContactDown { a: b, b: c }),
    ];
    assert_eq!(help(&late), "a longer lifetime: contacts lead them to their destination later.");
    assert_eq!(
        help(&with(two_contacts(), &[created(0), gone(9, DropReason::Overflow)])),
        "a larger buffer at a than 250 kB, or less traffic."
    );
    assert_eq!(
        help(&with(two_contacts(), &[created(0), gone(100, DropReason::Expired)])),
        "another router: contacts led them to their destination in time."
    );
    // Nothing is said of what no fact shows.
    let delivered =
        Record::Delivered { from: b, to: c, id: BundleId(0), started: at(50), hops: 2, first: true };
    assert_eq!(help(&with(two_contacts(), &[created(0), (60, delivered)])), "");
}

#[test]
fn a_run_without_bundles_has_an_explanation_too() {
    assert_eq!(story(&[], Asked::Lost).text, "0 of 0 bundles were not delivered (0 %).\n");
    assert!(story(&[], Asked::Summary).text.starts_with("0 of 0 bundles were delivered (0 %).\n"));
}
