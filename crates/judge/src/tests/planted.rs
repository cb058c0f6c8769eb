//! Each kind of violation, planted alone in a clean run, is found by its name.

use super::*;
use std::collections::BTreeSet;

/// A kind and a run that has it and nothing else.
fn planted() -> Vec<(Kind, Story)> {
    [time_and_names(), contacts(), links(), arrivals(), copies(), deletions()].concat()
}

fn time_and_names() -> Vec<(Kind, Story)> {
    let node = |node| Record::Node { node, buffer: Bytes(1) };
    let answers = Record::Reply { request: M, reply: N, kind: ReplyKind::Response };
    let reply = Bundle { expires: at(200.0), ..bundle(9.0, N) };
    let unasked = at_b().then(8.5, answers).then(9.0, Record::Created(reply));
    let early = Bundle { expires: at(200.0), ..bundle(50.0, N) };
    vec![
        (Kind::TimeBackwards, over(at_b().sample(9.0, C, 0).sample(8.5, C, 0))),
        (Kind::AfterEnd, over(at_c()).sample(100.0, C, 0)),
        (Kind::EndMissing, at_c()),
        (Kind::EndMissing, at_c().then(70.0, Record::End)),
        (Kind::UnknownNode, over(at_b().sample(9.0, NodeId(7), 0))),
        (Kind::UnknownNode, over(at_b().then(9.0, node(A)))),
        (Kind::UnknownBundle, over(at_b().sent(9.0, A, B, N))),
        (Kind::UnknownBundle, over(at_b().gone(9.0, A, N, DropReason::Overflow, 1.0))),
        (Kind::CreatedTwice, over(at_b().create(9.0, M))),
        (Kind::CreatedEarly, over(at_b().then(9.0, Record::Created(early)))),
        (Kind::ReplyUnasked, over(unasked)),
    ]
}

fn contacts() -> Vec<(Kind, Story)> {
    let aborted_late = at_b().start(9.0, A, B, M).down(9.5, A, B).abort(9.5, A, B, M);
    vec![
        (Kind::ContactTwice, over(at_b().up(9.0, B, A))),
        (Kind::ContactEndAlone, over(at_b().down(9.0, B, C))),
        (Kind::RateAlone, over(at_b().down(8.5, A, B).rate(9.0, 80))),
        (Kind::NoContact, over(at_b().start(9.0, B, C, M).abort(9.5, B, C, M))),
        (Kind::CutOff, over(aborted_late)),
    ]
}

fn links() -> Vec<(Kind, Story)> {
    let two = at_b().then(9.0, Record::Created(Bundle { expires: at(200.0), ..bundle(9.0, N) }));
    let overlap = two.with(|rules| rules.radio = Radio::Direction).start(10.0, A, B, M).start(10.5, A, B, N);
    let overlap =
        overlap.sent(11.0, A, B, M).abort(11.5, A, B, N).down(11.5, A, B).refuse(16.0, A, B, M, 10.0);
    let both = at_b().up(9.0, B, C).start(10.0, A, B, M).start(10.5, B, C, M);
    let both = both.abort(10.6, A, B, M).down(10.6, A, B).abort(10.7, B, C, M).down(10.7, B, C);
    vec![
        (Kind::NoCopy, over(at_b().up(9.0, B, C).start(9.0, C, B, M).abort(9.5, C, B, M).down(9.5, C, B))),
        (Kind::Overlap, over(overlap)),
        (Kind::RadioBusy, over(both)),
        (Kind::OverRate, over(at_b().start(9.0, A, B, M).sent(9.9, A, B, M).refuse(14.9, A, B, M, 9.0))),
        (Kind::NeverEnded, over(at_b()).then_before_end(at_b_stuck())),
    ]
}

fn arrivals() -> Vec<(Kind, Story)> {
    let again = at_b().start(9.0, A, B, M);
    let sent = again.clone().sent(10.0, A, B, M);
    vec![
        (Kind::NeverStarted, over(at_b().refuse(9.0, A, B, M, 2.0))),
        (Kind::NeverStarted, over(at_b().sent(9.0, A, B, M))),
        (Kind::NeverSent, over(again.refuse(9.5, A, B, M, 9.0).abort(9.6, A, B, M).down(9.6, A, B))),
        (Kind::FasterThanLight, over(sent.clone().refuse(14.9, A, B, M, 9.0))),
        (Kind::WrongStart, over(sent.clone().refuse(15.0, A, B, M, 8.0))),
        (Kind::NeverArrived, over(sent)),
        (Kind::AbortedAlone, over(aborted_alone())),
        (Kind::SentAfterDrop, dropped_then_delivered()),
    ]
}

/// A transfer is cut off half a second before its contact ends.
fn aborted_alone() -> Story {
    at_b().start(9.0, A, B, M).abort(9.5, A, B, M).down(9.6, A, B)
}

/// B drops its copy, and yet C gets it from there.
fn dropped_then_delivered() -> Story {
    let story = at_b().up(9.0, B, C).gone(9.0, B, M, DropReason::Overflow, 8.0);
    story.deliver(16.0, B, C, 10.0, 2, true).gone(80.0, A, M, DropReason::Expired, 1.0).end()
}

fn copies() -> Vec<(Kind, Story)> {
    let to_c = || at_b().up(9.0, B, C).start(10.0, B, C, M).sent(11.0, B, C, M);
    let again = |first| {
        let story = at_c().start(20.0, B, C, M).sent(21.0, B, C, M);
        over(story.deliver(26.0, B, C, 20.0, 2, first))
    };
    let back = at_b().start(9.0, B, A, M).sent(10.0, B, A, M);
    let at_destination = to_c().store(16.0, B, C, M, 10.0).gone(80.0, C, M, DropReason::Expired, 16.0);
    let third = at_b().with(|rules| rules.overfill = true);
    vec![
        (Kind::StoredTwice, over_from(15.0, back.store(15.0, B, A, M, 9.0))),
        (Kind::Overfull, foreign_bundles_fill(third)),
        (Kind::WrongFill, over(at_b().sample(9.0, A, 99))),
        (Kind::StoredAtDestination, over(at_destination)),
        (
            Kind::WrongDestination,
            over(at_b().start(9.0, A, B, M).sent(10.0, A, B, M).deliver(15.0, A, B, 9.0, 1, true)),
        ),
        (Kind::DeliveredTwice, again(true)),
        (Kind::FirstDenied, over(to_c().deliver(16.0, B, C, 10.0, 2, false))),
        (Kind::WrongHops, over(to_c().deliver(16.0, B, C, 10.0, 3, true))),
        (Kind::WrongHops, over(to_c().deliver(16.0, B, C, 10.0, 0, true))),
    ]
}

/// Three bundles of A come to B, whose buffer holds two.
fn foreign_bundles_fill(mut story: Story) -> Story {
    for (id, time) in [(1, 10.0), (2, 20.0)] {
        let next = Bundle { expires: at(200.0), ..bundle(time, BundleId(id)) };
        story = story.then(time, Record::Created(next)).start(time, A, B, next.id);
        story = story.sent(time + 1.0, A, B, next.id).store(time + 6.0, A, B, next.id, time);
    }
    over(story)
}

fn over_from(received: f64, story: Story) -> Story {
    let story = story.gone(80.0, A, M, DropReason::Expired, received);
    story.gone(80.0, B, M, DropReason::Expired, 8.0).end()
}

fn deletions() -> Vec<(Kind, Story)> {
    use DropReason::{Acknowledged, Expired, HandedOver, Overflow};
    let at_a_only = |story: Story| story.gone(80.0, A, M, Expired, 1.0).end();
    let sending = at_b().up(9.0, B, C).start(10.0, B, C, M).gone(10.5, B, M, Overflow, 8.0);
    let alone = Story::new().create(1.0, M);
    let kept = at_b().gone(80.0, B, M, Expired, 8.0);
    let late = at_b().up(9.0, B, C).start(78.0, B, C, M).sent(79.0, B, C, M).gone(80.0, A, M, Expired, 1.0);
    vec![
        (Kind::NothingToDelete, over(at_b().gone(9.0, C, M, Overflow, 1.0))),
        (Kind::DeletedWhileSent, at_a_only(sending.abort(10.6, B, C, M).down(10.6, B, C))),
        (Kind::WrongReception, at_a_only(at_b().gone(9.0, B, M, Overflow, 7.0))),
        (Kind::ExpiredEarly, at_a_only(at_b().gone(79.0, B, M, Expired, 8.0))),
        (Kind::Outlived, kept.clone().end()),
        (Kind::Outlived, late.gone(80.0, B, M, Expired, 8.0).deliver(84.0, B, C, 78.0, 2, true).end()),
        (Kind::Outlived, kept.clone().gone(81.0, A, M, Expired, 1.0).end()),
        (
            Kind::Outlived,
            kept.start(90.0, A, B, M)
                .abort(91.0, A, B, M)
                .down(91.0, A, B)
                .gone(91.0, A, M, Expired, 1.0)
                .end(),
        ),
        (Kind::AcknowledgedUndelivered, at_a_only(at_b().gone(9.0, B, M, Acknowledged, 8.0))),
        (Kind::HandedToNobody, alone.gone(9.0, A, M, HandedOver, 1.0).end()),
    ]
}

impl Story {
    fn then_before_end(mut self, records: Vec<(Instant, Record)>) -> Self {
        let end = self.records.pop();
        self.records.extend(records);
        self.records.extend(end);
        self
    }
}

/// A transfer of a fresh bundle that starts and is never heard of again.
fn at_b_stuck() -> Vec<(Instant, Record)> {
    let fresh = Bundle { expires: at(200.0), ..bundle(90.0, N) };
    vec![(at(90.0), Record::Created(fresh)), (at(90.0), Record::Started { from: A, to: B, id: N })]
}

#[test]
fn each_planted_violation_is_found_by_its_kind_and_nothing_else_is() {
    for (kind, story) in planted() {
        let judge = story.judge();
        let lines: Vec<String> = judge.findings().kept().iter().map(ToString::to_string).collect();
        assert!(judge.findings().count(kind) > 0, "{kind} is not found, but:\n{}", lines.join("\n"));
        assert_eq!(
            judge.findings().count(kind),
            judge.findings().total(),
            "{kind} is not alone:\n{}",
            lines.join("\n")
        );
    }
}

#[test]
fn every_kind_has_been_planted() {
    let planted: BTreeSet<Kind> = planted().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(planted, Kind::ALL.iter().copied().collect());
}

#[test]
fn names_of_kinds_are_unique() {
    let names: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), Kind::ALL.len());
}
