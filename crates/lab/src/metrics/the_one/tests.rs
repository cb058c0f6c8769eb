use super::*;
use lightlag_protocols::dtn::DropReason;
use lightlag_protocols::record::bundles::ReplyKind;
use lightlag_protocols::units::{BitRate, Bytes};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

fn bundle(id: u32, destination: NodeId, created: Instant) -> Bundle {
    let expires = created.saturating_add(Duration::from_secs(3_600));
    Bundle { id: BundleId(id), source: A, destination, size: Bytes(75_000), created, expires }
}

fn up(a: NodeId, b: NodeId) -> Record {
    Record::ContactUp { a, b, rate: [BitRate(1); 2], delay: [Duration::ZERO; 2] }
}

/// M1 goes n0 -> n1 -> n2, M2 stays.
fn story() -> Vec<(f64, Record)> {
    let id = BundleId(0);
    let started = Instant::ZERO;
    let mut story = vec![];
    for node in [A, B, C] {
        story.push((0.0, Record::Node { node, buffer: Bytes(300_000) }));
    }
    story.extend([
        (3.0, Record::Created(bundle(0, C, Instant::from_secs(3)))),
        (4.0, up(B, A)),
        (4.0, Record::Started { from: A, to: B, id }),
        (4.3, Record::Sent { from: A, to: B, id }),
        (4.3, Record::Stored { from: A, to: B, id, started }),
        (5.0, Record::Created(bundle(1, B, Instant::from_secs(5)))),
        (6.5, Record::ContactDown { a: A, b: B }),
        (8.0, up(B, C)),
        (8.0, Record::Started { from: B, to: C, id }),
        (8.3, Record::Sent { from: B, to: C, id }),
        (8.3, Record::Delivered { from: B, to: C, id, started, hops: 2, first: true }),
        (8.4, Record::Gone { node: A, id, reason: DropReason::Expired, received: Instant::from_secs(3) }),
        (9.0, up(A, B)),
        (10.0, Record::ContactDown { a: B, b: A }),
        (10.0, Record::End),
    ]);
    story
}

fn report(class: &str, options: &Options) -> String {
    let mut report = Report::new(class, options).expect("a supported class");
    for (at, record) in story() {
        report.on_record(Instant::from_secs_f64(at), &record);
    }
    report.text()
}

fn plain(class: &str) -> String {
    report(class, &Options { scenario: "s".to_owned(), ..Options::default() })
}

fn ticking(class: &str) -> String {
    report(class, &Options { tick: Some(Duration::from_nanos(100_000_000)), ..Options::default() })
}

#[test]
fn message_stats_are_written_as_the_one_writes_them() {
    let expected = "Message stats for scenario s\nsim_time: 10.0000\ncreated: 2\nstarted: 2\nrelayed: 2\n\
        aborted: 0\ndropped: 1\nremoved: 0\ndelivered: 1\ndelivery_prob: 0.5000\nresponse_prob: 0.0000\n\
        overhead_ratio: 1.0000\nlatency_avg: 5.3000\nlatency_med: 5.3000\nhopcount_avg: 2.0000\n\
        hopcount_med: 2\nbuffertime_avg: 5.4000\nbuffertime_med: 5.4000\nrtt_avg: NaN\nrtt_med: NaN\n";
    assert_eq!(plain("MessageStatsReport"), expected);
}

#[test]
fn message_delays_stand_beside_the_share_delivered() {
    let expected = "# messageDelay  cumulativeProbability\n5.3000 0.5000\n";
    assert_eq!(plain("MessageDelayReport"), expected);
}

#[test]
fn deliveries_and_creations_each_give_a_line() {
    let expected = "# time  created  delivered  delivered/created\n\
        3.0000 1 0 0.0000\n5.0000 2 0 0.0000\n8.3000 2 1 0.5000\n";
    assert_eq!(plain("MessageDeliveryReport"), expected);
}

#[test]
fn delivered_messages_tell_their_way() {
    let expected = "# time  ID  size  hopcount  deliveryTime  fromHost  toHost  remainingTtl  isResponse  path\n\
        8.3000 M1 75000 2 5.3000 n0 n2 59 N n0->n1->n2\n";
    assert_eq!(plain("DeliveredMessagesReport"), expected);
}

#[test]
fn created_messages_end_in_a_blank() {
    let expected = "# time  ID  size  fromHost  toHost  TTL  isResponse\n\
        3.0000 M1 75000 n0 n2 60 N \n5.0000 M2 75000 n0 n1 60 N \n";
    assert_eq!(plain("CreatedMessagesReport"), expected);
}

#[test]
fn the_event_log_can_be_read_back_by_the_one() {
    let expected = "3.0 C n0 M1\n4.0 CONN n1 n0 up\n4.0 S n0 n1 M1\n4.3 DE n0 n1 M1 R\n5.0 C n0 M2\n\
        6.5 CONN n0 n1 down\n8.0 CONN n1 n2 up\n8.0 S n1 n2 M1\n8.3 DE n1 n2 M1 D\n8.4 DR n0 M1\n\
        9.0 CONN n0 n1 up\n10.0 CONN n1 n0 down\n";
    assert_eq!(plain("EventLogReport"), expected);
    assert!(ticking("EventLogReport").contains("8.299999999999986 DE n1 n2 M1 D\n"));
}

#[test]
fn encounters_are_counted_by_node_by_share_and_while_apart() {
    assert_eq!(plain("TotalEncountersReport"), "0 0\n1 1\n2 1\n3 1\n");
    // n1 met both others: 666 thousandths of three nodes; n0 and n2 met one.
    let unique = plain("UniqueEncountersReport");
    assert_eq!(unique.lines().count(), 1000);
    assert_eq!(unique.lines().filter(|line| !line.ends_with(" 0")).collect::<Vec<_>>(), ["333 2", "666 1"]);
    assert_eq!(plain("EncountersVSUniqueEncountersReport"), "0\t2\t1\n1\t3\t2\n2\t1\t1\n");
    // n0 and n1 part at 6.5 s and meet again at 9 s; n1 met n2 meanwhile.
    assert_eq!(plain("ContactsDuringAnICTReport"), "0\t1\n1\t1\n");
    assert_eq!(plain("ContactsPerHourReport"), "", "no contact begins in a later hour");
}

#[test]
fn graphs_and_dtnsim2_name_nodes() {
    let expected = "@4.00 n0 <-> n1 up\n@6.50 n0 <-> n1 down\n@8.00 n1 <-> n2 up\n@9.00 n0 <-> n1 up\n\
        @10.00 n0 <-> n1 down\n";
    assert_eq!(plain("ConnectivityDtnsim2Report"), expected);
    let expected = "graph adjgraph {\n\tn1--n0 [weight=1];\n\tn1--n2 [weight=1];\n\tn0--n1 [weight=1];\n\
        \tn0;\n\tn1;\n\tn2;\n}\n";
    assert_eq!(plain("AdjacencyGraphvizReport"), expected);
    let expected = "/* scenario s\n1 messages delivered at sim time 10.0 */\ndigraph msggraph {\n\
        \tn0->n1->n2;\n}\n";
    assert_eq!(plain("MessageGraphvizReport"), expected);
    let expected = "# messages: ID, start time, end time\nM1 3.0000 8.3000\n";
    assert_eq!(plain("MessageReport"), expected);
}

#[test]
fn pings_and_pongs_are_counted_and_responses_are_not() {
    let mut report = Report::new("PingAppReporter", &Options::default()).expect("a supported class");
    let [ping, pong, other] = [0, 2, 3].map(BundleId);
    let reply = |request, reply, kind| (0.0, Record::Reply { request, reply, kind });
    let answers = [reply(ping, pong, ReplyKind::Pong), reply(BundleId(1), other, ReplyKind::Response)];
    let back = Bundle { source: C, ..bundle(2, A, Instant::from_secs(8)) };
    for (at, record) in answers.into_iter().chain(story()).chain([(10.0, Record::Created(back))]) {
        if !matches!(record, Record::End) {
            report.on_record(Instant::from_secs_f64(at), &record);
        }
    }
    report.on_record(Instant::from_secs(10), &Record::End);
    let expected = "Ping stats for scenario default_scenario\nsim_time: 10.0000\npings sent: 1\n\
        pings received: 1\npongs sent: 1\npongs received: 0\nping delivery prob: 1.0000\n\
        pong delivery prob: 0.0000\nping/pong success prob: 0.0000\n";
    assert_eq!(report.text(), expected);
}

#[test]
fn contact_times_are_counted_by_whole_seconds() {
    assert_eq!(plain("ContactTimesReport"), "0.0 0\n1.0 1\n2.0 1\n3.0 0\n");
}

#[test]
fn inter_contact_times_are_counted_by_whole_seconds() {
    assert_eq!(plain("InterContactTimesReport"), "0.0 0\n1.0 0\n2.0 1\n3.0 0\n");
}

#[test]
fn connectivity_names_the_lower_address_first() {
    let expected = "4.00 CONN 0 1 up\n6.50 CONN 0 1 down\n8.00 CONN 1 2 up\n9.00 CONN 0 1 up\n\
        10.00 CONN 0 1 down\n";
    assert_eq!(plain("ConnectivityONEReport"), expected);
}

#[test]
fn total_contact_time_is_written_when_it_has_changed() {
    let expected = "# time totalContactTime\n5.0000 1.0000\n6.0000 2.0000\n7.0000 2.5000\n\
        9.0000 3.5000\n10.0000 5.5000\n";
    assert_eq!(plain("TotalContactTimeReport"), expected);
}

#[test]
fn buffer_occupancy_gives_mean_and_variance_in_percent() {
    // At 5 s: n0 holds two of four, n1 one of four; at 10 s n0 holds one.
    let text = plain("BufferOccupancyReport");
    assert_eq!(text, "5.0000 25.0000 4.1667\n10.0000 16.6667 1.3889\n");
}

#[test]
fn with_ticks_the_occupancy_comes_late_by_the_drift_of_the_clock() {
    // Fifty tenths add up to less than 5.
    assert!(ticking("BufferOccupancyReport").starts_with("5.1000 "));
}

#[test]
fn messages_and_contacts_of_the_warm_up_are_left_out() {
    let options = Options { warmup: Duration::from_secs(5), ..Options::default() };
    assert_eq!(report("CreatedMessagesReport", &options).lines().count(), 2);
    assert_eq!(report("DeliveredMessagesReport", &options).lines().count(), 1);
    assert!(
        report("MessageDelayReport", &options).ends_with("# no messages delivered in sim time 10.0000\n")
    );
    assert!(report("ConnectivityONEReport", &options).starts_with("8.00 CONN 1 2 up\n"));
    assert_eq!(report("ContactTimesReport", &options), "0.0 0\n1.0 1\n2.0 0\n");
}

#[test]
fn names_of_nodes_and_bundles_are_used_and_files_named_as_the_one_does() {
    let options = Options {
        scenario: "grid".to_owned(),
        nodes: ["p0".to_owned()].into(),
        bundles: ["M1_7".to_owned()].into(),
        ..Options::default()
    };
    assert!(report("EventLogReport", &options).starts_with("3.0 C p0 M1_7\n"));
    let report = Report::new("EventLogReport", &options).expect("a supported class");
    assert_eq!(report.file_name(), "grid_EventLogReport.txt");
}

#[test]
fn every_supported_class_can_be_made_and_others_are_refused_in_one_line() {
    for class in REPORTS {
        assert!(Report::new(class.name, &Options::default()).is_ok());
    }
    let error = Report::new("EnergyLevelReport", &Options::default()).err().expect("not supported");
    assert!(error.to_string().starts_with("report class `EnergyLevelReport` is not supported"));
}

/// Node k is 100 k metres east, and a metre a second north.
struct Line;

impl Places for Line {
    fn place(&mut self, now: Instant, node: NodeId) -> Point {
        Point { x: 100.0 * f64::from(node.0), y: now.as_secs_f64() }
    }
}

fn placed(class: &str, options: &Options) -> String {
    let mut report = Report::new(class, options).expect("a supported class").with_places(Box::new(Line));
    for (at, record) in story() {
        report.on_record(Instant::from_secs_f64(at), &record);
    }
    report.text()
}

#[test]
fn snapshots_say_who_holds_what_and_where() {
    let options = Options { granularity: Duration::from_secs(2), ..Options::default() };
    let copies = report("MessageCopyCountReport", &options);
    assert_eq!(copies, "[2]\n[4]\nM1 1\n[6]\nM1 2\nM2 1\n[8]\nM1 2\nM2 1\n[10]\nM1 1\nM2 1\n");
    let places = placed("MessageLocationReport", &options);
    assert!(places.starts_with("[2]\n[4]\n(0.00,4.00) M1\n[6]\n(0.00,6.00) M1 M2\n(100.00,6.00) M1\n[8]\n"));
    let some = Options { reported_bundles: Some(["M2".to_owned()].into()), ..options.clone() };
    assert_eq!(report("MessageCopyCountReport", &some), "[2]\n[4]\n[6]\nM2 1\n[8]\nM2 1\n[10]\nM2 1\n");
    let some = Options { reported_nodes: Some([2].into()), warmup: Duration::from_secs(7), ..options };
    let places = placed("LocationSnapshotReport", &some);
    assert_eq!(places, "[8]\nn2 200.0000 8.0000\n[10]\nn2 200.0000 10.0000\n");
}

#[test]
fn bundles_are_available_where_a_peer_holds_them() {
    let options = Options { granularity: Duration::from_secs(5), hosts: 2, ..Options::default() };
    // java.util.Random draws the nodes 1 and 0 with 2 as the seed.
    let text = report("MessageAvailabilityReport", &options);
    assert_eq!(text, "[5]\nn0 M1 M2\nn1 M1 M2\n[10]\nn0 M2\nn1 M1\n");
    let without_hosts = report("MessageAvailabilityReport", &Options { hosts: -1, ..options });
    assert_eq!(without_hosts, "[5]\n[10]\n");
}

#[test]
fn distances_are_those_of_the_creation() {
    let text = placed("DistanceDelayReport", &Options::default());
    let head = "# Scenario default_scenario\n# distance at msg send, delivery time, hop count, MSG_ID\n";
    assert_eq!(text, format!("{head}200.0000 5.3000 2 M1\n100.0000 -1.0000 -1 M2\n"));
}
