use super::*;
use lightlag_protocols::dtn::Refusal;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::record::bundles::ReplyKind;
use proptest::prelude::*;

mod planted;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);
/// From A to C.
const M: BundleId = BundleId(0);
/// From A to C, too.
const N: BundleId = BundleId(1);

/// Links carry a bundle of 100 B in one second, light takes five; buffers hold two bundles.
fn rules() -> JudgeRules {
    JudgeRules {
        oracle: false,
        drops_sent: false,
        radio: Radio::Node,
        propagation: Propagation::Pipelined,
        tick: None,
        purge_every: None,
        overfill: false,
        until: Instant::from_secs(100),
    }
}

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

/// Records and their times, in the making.
#[derive(Clone)]
struct Story {
    rules: JudgeRules,
    records: Vec<(Instant, Record)>,
}

impl Story {
    /// Three nodes.
    fn new() -> Self {
        let buffer = Bytes(200);
        [A, B, C].into_iter().fold(Self { rules: rules(), records: Vec::new() }, |story, node| {
            story.then(0.0, Record::Node { node, buffer })
        })
    }
    fn with(mut self, change: impl FnOnce(&mut JudgeRules)) -> Self {
        change(&mut self.rules);
        self
    }
    fn then(mut self, time: f64, record: Record) -> Self {
        self.records.push((at(time), record));
        self
    }
    fn create(self, time: f64, id: BundleId) -> Self {
        self.then(time, Record::Created(bundle(time, id)))
    }
    fn up(self, time: f64, a: NodeId, b: NodeId) -> Self {
        let (rate, delay) = ([BitRate(800); 2], [Duration::from_secs(5); 2]);
        self.then(time, Record::ContactUp { a, b, rate, delay })
    }
    fn rate(self, time: f64, bits_per_s: u64) -> Self {
        self.then(time, Record::Rate { a: B, b: A, rate: [BitRate(1), BitRate(bits_per_s)] })
    }
    fn down(self, time: f64, a: NodeId, b: NodeId) -> Self {
        self.then(time, Record::ContactDown { a, b })
    }
    fn start(self, time: f64, from: NodeId, to: NodeId, id: BundleId) -> Self {
        self.then(time, Record::Started { from, to, id })
    }
    fn sent(self, time: f64, from: NodeId, to: NodeId, id: BundleId) -> Self {
        self.then(time, Record::Sent { from, to, id })
    }
    fn abort(self, time: f64, from: NodeId, to: NodeId, id: BundleId) -> Self {
        self.then(time, Record::Aborted { from, to, id })
    }
    fn store(self, time: f64, from: NodeId, to: NodeId, id: BundleId, started: f64) -> Self {
        self.then(time, Record::Stored { from, to, id, started: at(started) })
    }
    fn refuse(self, time: f64, from: NodeId, to: NodeId, id: BundleId, started: f64) -> Self {
        self.then(time, Record::Refused { from, to, id, started: at(started), why: Refusal::Held })
    }
    fn deliver(self, time: f64, from: NodeId, to: NodeId, started: f64, hops: u32, first: bool) -> Self {
        self.then(time, Record::Delivered { from, to, id: M, started: at(started), hops, first })
    }
    fn gone(self, time: f64, node: NodeId, id: BundleId, reason: DropReason, received: f64) -> Self {
        self.then(time, Record::Gone { node, id, reason, received: at(received) })
    }
    fn sample(self, time: f64, node: NodeId, used: u64) -> Self {
        self.then(time, Record::Sample { node, used: Bytes(used), seen: vec![] })
    }
    fn end(self) -> Self {
        self.then(100.0, Record::End)
    }
    fn judge(&self) -> Judge {
        let mut judge = Judge::new(self.rules.clone());
        self.records.iter().for_each(|(now, record)| judge.on_record(*now, record));
        judge.close();
        judge
    }
    /// The judge finds exactly this.
    fn finds(&self, kinds: &[Kind]) {
        let judge = self.judge();
        let found: Vec<Kind> = judge.findings().kept().iter().map(|violation| violation.kind).collect();
        let lines: Vec<String> = judge.findings().kept().iter().map(ToString::to_string).collect();
        assert_eq!(found, kinds, "{}", lines.join("\n"));
    }
}

fn bundle(time: f64, id: BundleId) -> Bundle {
    let created = at(time);
    Bundle { id, source: A, destination: C, size: Bytes(100), created, expires: at(80.0) }
}

/// M is created at A and comes to B.
fn at_b() -> Story {
    Story::new().create(1.0, M).up(2.0, A, B).start(2.0, A, B, M).sent(3.0, A, B, M).store(8.0, A, B, M, 2.0)
}

/// And from there to C.
fn at_c() -> Story {
    at_b().up(9.0, B, C).start(10.0, B, C, M).sent(11.0, B, C, M).deliver(16.0, B, C, 10.0, 2, true)
}

/// And all copies expire in time.
fn over(story: Story) -> Story {
    story.gone(80.0, A, M, DropReason::Expired, 1.0).gone(80.0, B, M, DropReason::Expired, 8.0).end()
}

#[test]
fn a_clean_run_has_no_violation() {
    over(at_c().sample(20.0, A, 100).down(30.0, A, B).up(31.0, A, B)).finds(&[]);
}

#[test]
fn a_transfer_that_the_end_of_a_contact_cuts_off_is_clean() {
    let story = at_b().start(9.0, A, B, M).abort(9.5, A, B, M).down(9.5, A, B);
    over(story).finds(&[]);
}

#[test]
fn a_transfer_is_aborted_with_its_contact_alone() {
    let story = at_b().start(9.0, A, B, M).abort(9.5, A, B, M).down(9.6, A, B);
    over(story).finds(&[Kind::AbortedAlone]);
    over(at_b().start(9.0, A, B, M).abort(9.5, A, B, M)).finds(&[Kind::AbortedAlone]);
}

#[test]
fn flights_overtake_the_end_of_their_contact_and_of_the_run() {
    let story = at_b().start(10.0, A, B, M).sent(11.0, A, B, M).down(11.0, A, B);
    over(story.refuse(16.0, A, B, M, 10.0)).finds(&[]);
    let mut late = at_b();
    late.rules.until = at(70.0);
    let late = late.start(67.0, A, B, M).sent(68.0, A, B, M).start(69.5, A, B, M);
    late.then(70.0, Record::End).finds(&[]);
}

#[test]
fn with_a_tick_less_than_one_byte_may_be_missing() {
    let tick = |story: Story| story.with(|rules| rules.tick = Some(Duration::from_nanos(100_000_000)));
    let story = |sent: f64| {
        over(tick(at_b()).start(9.0, A, B, M).sent(sent, A, B, M).refuse(sent + 5.0, A, B, M, 9.0))
    };
    // One byte takes 10 ms.
    story(9.991).finds(&[]);
    story(9.989).finds(&[Kind::OverRate]);
}

#[test]
fn stop_and_wait_frees_the_link_when_the_last_bit_has_arrived() {
    let patient = Story::new().with(|rules| rules.propagation = Propagation::StopAndWait).create(1.0, M);
    let sent = |time: f64| patient.clone().up(2.0, A, B).start(2.0, A, B, M).sent(time, A, B, M);
    over(sent(8.0).store(8.0, A, B, M, 2.0)).finds(&[]);
    over(sent(3.0).store(8.0, A, B, M, 2.0)).finds(&[Kind::FasterThanLight]);
}

#[test]
fn with_a_purge_now_and_then_copies_may_outlive_their_bundle_for_that_long() {
    let purged = |time: f64| {
        let story = at_b().with(|rules| rules.purge_every = Some(Duration::from_secs(10)));
        let story = story.gone(time, A, M, DropReason::Expired, 1.0);
        story.gone(time, B, M, DropReason::Expired, 8.0).end()
    };
    purged(90.0).finds(&[]);
    purged(91.0).finds(&[Kind::Outlived, Kind::Outlived]);
}

#[test]
fn a_copy_that_is_being_sent_may_outlive_its_bundle_until_then() {
    let story = at_b().start(79.5, A, B, M).gone(80.0, B, M, DropReason::Expired, 8.0).sent(80.5, A, B, M);
    let story = story.gone(80.5, A, M, DropReason::Expired, 1.0).refuse(85.5, A, B, M, 79.5).end();
    story.finds(&[]);
}

#[test]
fn only_what_was_created_here_may_overfill_a_buffer_and_only_by_that_rule() {
    let three = |story: Story| {
        let short =
            |time: f64, id: u32| Record::Created(Bundle { expires: at(200.0), ..bundle(time, BundleId(id)) });
        story.then(1.0, short(1.0, 0)).then(1.0, short(1.0, 1)).then(1.0, short(1.0, 2)).end()
    };
    three(Story::new().with(|rules| rules.overfill = true)).finds(&[]);
    three(Story::new()).finds(&[Kind::Overfull]);
}

#[test]
fn links_carry_one_transfer_a_direction_or_one_in_all_by_the_radio() {
    let both = |radio: Radio| {
        let other = Bundle { source: B, ..bundle(9.0, N) };
        let story = at_b().with(|rules| rules.radio = radio).then(9.0, Record::Created(other));
        let story = story.start(10.0, A, B, M).start(10.0, B, A, N).sent(11.0, A, B, M).sent(11.0, B, A, N);
        let story = story.refuse(16.0, A, B, M, 10.0).refuse(16.0, B, A, N, 10.0);
        over(story.gone(80.0, B, N, DropReason::Expired, 9.0))
    };
    both(Radio::Direction).finds(&[]);
    both(Radio::Link).finds(&[Kind::RadioBusy]);
    both(Radio::Node).finds(&[Kind::RadioBusy]);
}

#[test]
fn a_violation_reads_as_one_line_with_time_nodes_and_bundle() {
    let judge = over(at_b().start(9.0, A, B, M).sent(9.5, A, B, M).refuse(14.5, A, B, M, 9.0)).judge();
    let line = judge.findings().kept()[0].to_string();
    assert_eq!(line, "9.5 s: over_rate, bundle 0, nodes 0 and 1: started at 9 s, it needs until 10 s");
    assert_eq!((judge.findings().total(), judge.findings().count(Kind::OverRate)), (1, 1));
}

#[test]
fn all_violations_are_counted_and_the_first_thousand_kept() {
    let story = (0..1_500).fold(Story::new(), |story, _| story.sent(1.0, A, B, M));
    let judge = story.judge();
    assert_eq!((judge.findings().kept().len(), judge.findings().total()), (1_000, 1_501));
}

#[test]
fn a_transfer_over_a_link_that_slows_down_needs_longer() {
    // 800 bits: 400 at 800 bit/s, then 400 at 80 bit/s take five seconds.
    let slowed = || Story::new().create(1.0, M).up(2.0, A, B).start(2.0, A, B, M).rate(2.5, 80);
    let end = |story: Story| {
        let story = story.store(12.5, A, B, M, 2.0);
        [A, B].into_iter().fold(story, |story, node| {
            story.gone(80.0, node, M, DropReason::Expired, if node == A { 1.0 } else { 12.5 })
        })
    };
    end(slowed().sent(7.5, A, B, M)).end().finds(&[]);
    end(slowed().sent(7.4, A, B, M)).end().finds(&[Kind::OverRate]);
}

fn any_node() -> impl Strategy<Value = NodeId> {
    prop_oneof![8 => 0..4_u32, 1 => any::<u32>()].prop_map(NodeId)
}

fn any_id() -> impl Strategy<Value = BundleId> {
    prop_oneof![8 => 0..4_u32, 1 => any::<u32>()].prop_map(BundleId)
}

fn any_instant() -> impl Strategy<Value = Instant> {
    prop_oneof![8 => (0..100_i64).prop_map(Instant::from_secs), 1 => any::<i64>().prop_map(Instant::from_nanos)]
}

fn any_bundle() -> impl Strategy<Value = Bundle> {
    (any_id(), any_node(), any_node(), any::<u64>(), any_instant(), any_instant()).prop_map(
        |(id, source, destination, size, created, expires)| Bundle {
            id,
            source,
            destination,
            size: Bytes(size),
            created,
            expires,
        },
    )
}

fn any_contact() -> impl Strategy<Value = Record> {
    (any_node(), any_node(), any::<[u64; 2]>(), any::<[i64; 2]>()).prop_map(|(a, b, rate, delay)| {
        Record::ContactUp { a, b, rate: rate.map(BitRate), delay: delay.map(Duration::from_nanos) }
    })
}

fn any_rate() -> impl Strategy<Value = Record> {
    (any_node(), any_node(), any::<[u64; 2]>()).prop_map(|(a, b, rate)| Record::Rate {
        a,
        b,
        rate: rate.map(BitRate),
    })
}

fn any_transfer() -> impl Strategy<Value = Record> {
    (0..6, any_node(), any_node(), any_id(), any_instant(), any::<bool>()).prop_map(
        |(what, from, to, id, started, first)| match what {
            0 => Record::Started { from, to, id },
            1 => Record::Sent { from, to, id },
            2 => Record::Aborted { from, to, id },
            3 => Record::Stored { from, to, id, started },
            4 => Record::Refused { from, to, id, started, why: Refusal::Held },
            _ => Record::Delivered { from, to, id, started, hops: to.0, first },
        },
    )
}

fn any_record() -> impl Strategy<Value = Record> {
    const REASONS: [DropReason; 5] = [
        DropReason::Overflow,
        DropReason::Expired,
        DropReason::Acknowledged,
        DropReason::HandedOver,
        DropReason::Replaced,
    ];
    let gone = (any_node(), any_id(), 0..5_usize, any_instant()).prop_map(|(node, id, reason, received)| {
        Record::Gone { node, id, reason: REASONS[reason], received }
    });
    prop_oneof![
        1 => (any_node(), any::<u64>()).prop_map(|(node, size)| Record::Node { node, buffer: Bytes(size) }),
        1 => (any_id(), any_id())
            .prop_map(|(request, reply)| Record::Reply { request, reply, kind: ReplyKind::Response }),
        1 => any_bundle().prop_map(Record::Created),
        1 => any_bundle().prop_map(Record::Rejected),
        2 => any_contact(),
        1 => any_rate(),
        1 => (any_node(), any_node()).prop_map(|(a, b)| Record::ContactDown { a, b }),
        8 => any_transfer(),
        1 => gone,
        1 => (any_node(), any::<u64>())
            .prop_map(|(node, used)| Record::Sample { node, used: Bytes(used), seen: vec![] }),
        1 => Just(Record::End),
    ]
}

proptest! {
    #[test]
    fn no_sequence_of_records_makes_the_judge_panic(
        records in proptest::collection::vec((any_instant(), any_record()), 0..200),
        tick in proptest::option::of(0..1_000_000_000_i64),
        stop_and_wait in any::<bool>(),
    ) {
        let propagation = if stop_and_wait { Propagation::StopAndWait } else { Propagation::Pipelined };
        let mut judge = Judge::new(JudgeRules { propagation, tick: tick.map(Duration::from_nanos), ..rules() });
        for node in [A, B, C] {
            judge.on_record(Instant::ZERO, &Record::Node { node, buffer: Bytes(200) });
        }
        records.iter().for_each(|(now, record)| judge.on_record(*now, record));
        judge.close();
        prop_assert!(judge.findings().kept().iter().all(|violation| !violation.to_string().contains('\n')));
    }
}
