//! Segments that no host should send to an engine, and how they are refused.

use super::line::{Habits, Line, byte, controller, ms};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ltp::{
    Checkpoint, Claim, Color, Config, Content, Data, End, Ends, Engine, Event, Quotas, Reason, Refusal,
    Report, Segment, SessionId,
};
use lightlag_protocols::units::{BitRate, Bytes};

const NOW: Instant = Instant::ZERO;

/// An engine whose number is 1; its peer's is 2.
fn engine(config: Config) -> Engine {
    Engine::new(config, controller("fixed", &[], None))
}
fn config() -> Config {
    Config::new(1, 2, Bytes(1500))
}
fn theirs(number: u64) -> SessionId {
    SessionId { originator: 2, number }
}
fn data(number: u64, offset: u64, length: u64, color: Color) -> Segment {
    let data = Data { service: 1, offset, length, color };
    Segment { session: theirs(number), content: Content::Data(data) }
}
const RED: Color = Color::Red(None);
const GREEN: Color = Color::Green { ends_block: false };
fn checkpoint(serial: u64, ends: Ends) -> Color {
    Color::Red(Some(Checkpoint { serial, report: 0, ends }))
}
fn say(engine: &mut Engine, segment: Segment) -> Result<(), Refusal> {
    engine.receive(NOW, &segment)
}
fn polled(engine: &mut Engine, now: Instant) -> Vec<Content> {
    std::iter::from_fn(|| engine.poll(now)).map(|segment| segment.content).collect()
}
fn told(engine: &mut Engine) -> Vec<Event> {
    std::iter::from_fn(|| engine.take_event()).collect()
}

#[test]
fn data_that_lie_outside_their_block_or_contradict_it_are_refused_by_name() {
    let mut one = engine(config());
    let end = |color| (color, 1000);
    assert_eq!(say(&mut one, data(7, 1000, 500, checkpoint(5, Ends::Red))), Ok(()));
    for (offset, (color, length), refusal) in [
        (1400, end(RED), Refusal::Outside),
        (2000, end(RED), Refusal::Outside),
        (0, end(checkpoint(6, Ends::Red)), Refusal::Contradiction),
        (1000, (checkpoint(6, Ends::Block), 400), Refusal::Contradiction),
        (0, (RED, 0), Refusal::Empty),
        (u64::MAX - 1000, end(RED), Refusal::TooLarge),
    ] {
        assert_eq!(
            say(&mut one, data(7, offset, length, color)),
            Err(refusal),
            "{offset} {length} {color:?}"
        );
    }
    let mut other = data(7, 0, 100, RED);
    other.content = Content::Data(Data { service: 9, offset: 0, length: 100, color: RED });
    assert_eq!(say(&mut one, other), Err(Refusal::Contradiction));
    assert_eq!(say(&mut one, data(7, 1500, 500, Color::Green { ends_block: true })), Ok(()));
    assert_eq!(say(&mut one, data(7, 2000, 1, GREEN)), Err(Refusal::Outside));
    assert_eq!(say(&mut one, data(7, 0, 1000, RED)), Ok(()));
    assert_eq!(one.counts().refused, 8);
}

#[test]
fn red_behind_green_costs_the_session() {
    for (first, second) in [
        (data(7, 1000, 500, GREEN), data(7, 900, 200, RED)),
        (data(7, 1000, 500, RED), data(7, 900, 50, GREEN)),
        (data(7, 0, 500, checkpoint(1, Ends::Red)), data(7, 499, 50, GREEN)),
    ] {
        let mut one = engine(config());
        assert_eq!(say(&mut one, first), Ok(()));
        assert_eq!(say(&mut one, second), Err(Refusal::Miscolored));
        assert!(polled(&mut one, NOW).contains(&Content::Cancel(End::Receiver, Reason::Miscolored)));
        assert_eq!(say(&mut one, data(7, 0, 10, RED)), Err(Refusal::Closed));
    }
}

#[test]
fn a_service_that_is_not_here_is_unreachable() {
    let mut one = engine(Config { services: Some(vec![2]), ..config() });
    assert_eq!(say(&mut one, data(7, 0, 10, RED)), Ok(()));
    assert_eq!(polled(&mut one, NOW), [Content::Cancel(End::Receiver, Reason::Unreachable)]);
    let acknowledged = Segment { session: theirs(7), content: Content::CancelAck(End::Receiver) };
    assert_eq!(say(&mut one, acknowledged.clone()), Ok(()));
    assert_eq!((one.sessions(), say(&mut one, acknowledged)), ((0, 0), Err(Refusal::Unknown)));
    assert_eq!(say(&mut one, data(7, 0, 10, RED)), Err(Refusal::Closed));
}

fn report(session: SessionId, report: Report) -> Segment {
    Segment { session, content: Content::Report(Box::new(report)) }
}

#[test]
fn reports_of_what_was_never_sent_are_refused_and_others_can_only_add() {
    let mut one = engine(config());
    let session = one.send(1, 10_000, 0).unwrap();
    let sent = polled(&mut one, NOW);
    let serial = sent.iter().find_map(|content| match content {
        Content::Data(data) => data.checkpoint().map(|checkpoint| checkpoint.serial),
        _ => None,
    });
    let serial = serial.expect("the last one asks");
    let claim = |offset, length| Claim { offset, length };
    let base =
        Report { serial: 1, checkpoint: serial, lower: 0, upper: 10_000, claims: vec![claim(0, 10_000)] };
    for (wrong, refusal) in [
        (Report { upper: 10_001, ..base.clone() }, Refusal::NeverSent),
        (Report { checkpoint: serial + 1, ..base.clone() }, Refusal::NeverAsked),
        (Report { checkpoint: serial - 1, ..base.clone() }, Refusal::NeverAsked),
    ] {
        assert_eq!(say(&mut one, report(session, wrong)), Err(refusal));
        assert_eq!((one.acked(session), polled(&mut one, NOW).len()), (Some(Bytes(0)), 0));
    }
    // Half of it, then less than that: what was claimed once stays.
    for (number, claimed) in [(1, 5000), (2, 100)] {
        let less = Report { serial: number, checkpoint: 0, claims: vec![claim(0, claimed)], ..base.clone() };
        assert_eq!(say(&mut one, report(session, less)), Ok(()));
        assert_eq!(one.acked(session), Some(Bytes(5000)));
    }
    let repaired: u64 = polled(&mut one, NOW)
        .iter()
        .map(|content| match content {
            Content::Data(data) => data.length,
            _ => 0,
        })
        .sum();
    assert_eq!(repaired, 5000, "what is being repaired is not repaired twice");
    assert_eq!(say(&mut one, report(session, Report { serial: 3, ..base.clone() })), Ok(()));
    assert_eq!((one.sessions(), told(&mut one).last()), ((0, 0), Some(&Event::Sent(session))));
    // A session that is over still says so.
    assert_eq!(say(&mut one, report(session, Report { serial: 4, ..base })), Ok(()));
    assert_eq!(polled(&mut one, NOW).last(), Some(&Content::ReportAck(4)));
}

#[test]
fn segments_of_other_links_and_from_the_wrong_end_are_refused_by_name() {
    let mut one = engine(config());
    let own = one.send(1, 10, 0).unwrap();
    let stranger = SessionId { originator: 3, number: 1 };
    for (session, content, refusal) in [
        (stranger, Content::ReportAck(1), Refusal::Stranger),
        (own, Content::ReportAck(1), Refusal::WrongWay),
        (own, Content::Cancel(End::Sender, Reason::User), Refusal::WrongWay),
        (theirs(1), Content::Cancel(End::Receiver, Reason::User), Refusal::WrongWay),
        (theirs(1), Content::ReportAck(1), Refusal::Unknown),
        (theirs(1), Content::CancelAck(End::Receiver), Refusal::Unknown),
        (own, Content::CancelAck(End::Sender), Refusal::Unknown),
        (own, Content::Undefined { kind: 5 }, Refusal::Undefined),
    ] {
        assert_eq!(say(&mut one, Segment { session, content }), Err(refusal), "{session}");
    }
    let reasons: Vec<_> = one.refusals().collect();
    assert_eq!(reasons.iter().map(|(_, count)| count).sum::<u64>(), 8);
}

#[test]
fn a_thousand_sessions_that_never_finish_are_bounded_and_end() {
    let quotas =
        Quotas { imports: 100, pieces: 1000, reports: 50, answers: 20, closed: 10, ..Quotas::default() };
    let mut one = engine(Config { quotas, idle: Duration::from_secs(60), tries: 3, ..config() });
    for number in 0..1000 {
        let refused = say(&mut one, data(2 * number, 5000, 10, RED));
        assert_eq!(refused.is_ok(), number < 100, "{refused:?}");
    }
    for offset in 0..2000 {
        let _ = say(&mut one, data(0, 10_000 + 20 * offset, 10, RED));
    }
    for serial in 1..200 {
        let _ = say(&mut one, data(2, 5000, 10, checkpoint(serial, Ends::Nothing)));
        let unknown = SessionId { originator: 1, number: serial };
        let report = Report { serial, upper: 1, ..Report::default() };
        let _ = say(&mut one, self::report(unknown, report));
    }
    let refused: Vec<Refusal> = one.refusals().map(|(refusal, _)| refusal).collect();
    assert_eq!(refused, [Refusal::Sessions, Refusal::Pieces, Refusal::Reports, Refusal::Answers]);
    assert_eq!(one.sessions(), (0, 100));
    // No segment comes any more: reports are repeated, sessions are given up, and nothing is left.
    let mut now = NOW;
    let mut left = 0;
    while let Some(next) = {
        left += polled(&mut one, now).len();
        one.deadline()
    } {
        now = next.max(now);
        assert!(now < Instant::from_secs(3600) && left < 5000);
    }
    assert_eq!(one.sessions(), (0, 0));
    // The highest numbers were remembered.
    assert_eq!(say(&mut one, data(198, 0, 10, RED)), Err(Refusal::Closed));
    assert_eq!(say(&mut one, data(0, 0, 10, RED)), Ok(()));
}

#[test]
fn a_session_of_which_nothing_has_left_is_given_up_without_a_word() {
    // RFC 5326, section 4.2.
    let mut one = engine(config());
    let session = one.send(1, 10, 0).unwrap();
    assert!(one.cancel(session, Reason::User));
    assert_eq!(told(&mut one), [Event::Cancelled { session, by: End::Sender, reason: Reason::User }]);
    assert_eq!((polled(&mut one, NOW), one.sessions()), (vec![], (0, 0)));
}

#[test]
fn a_checkpoint_that_comes_again_costs_its_reports_a_try_each() {
    // RFC 5326, section 6.8.
    let mut one = engine(Config { tries: 3, copies: Some(1), ..config() });
    let asks = || data(7, 0, 10, checkpoint(5, Ends::Red));
    let mut reports = 0;
    for second in 0..4 {
        let now = NOW + Duration::from_secs(2 * second);
        one.receive(now, &asks()).unwrap();
        let said = polled(&mut one, now);
        let is_report = |content: &&Content| matches!(content, Content::Report(_));
        reports += said.iter().filter(is_report).count();
        let given_up = said.contains(&Content::Cancel(End::Receiver, Reason::Repeated));
        assert_eq!(given_up, second == 3, "{said:?}");
    }
    assert_eq!(reports, 3);
}

#[test]
fn a_late_segment_does_not_open_its_session_again() {
    let mut line =
        Line::new(&config(), controller("fixed", &[], Some(BitRate(1 << 20))), Habits::clean(ms(9)), 1);
    for _ in 0..50 {
        line.engines[0].send(1, 3000, 0).unwrap();
        line.run(line.now + Duration::from_secs(10));
    }
    assert!(line.is_still());
    for session in line.seen[1].closed.clone() {
        let data = Data { service: 1, offset: 0, length: 1, color: RED };
        let late = Segment { session, content: Content::Data(data) };
        let mut bytes = Vec::new();
        late.write_head(&mut bytes);
        bytes.push(byte(session, 0));
        line.deliver(1, &bytes);
    }
    assert!(line.is_still());
    assert_eq!(line.engines[1].refusals().collect::<Vec<_>>(), [(Refusal::Closed, 50)]);
}

#[test]
fn a_report_whose_claims_do_not_fit_becomes_several() {
    let mut one = engine(Config { segment: 100, ..config() });
    let most = 1000;
    for index in 0..most {
        say(&mut one, data(7, 20 * index, 10, RED)).unwrap();
    }
    say(&mut one, data(7, 20 * most, 10, checkpoint(9, Ends::Block))).unwrap();
    let (mut behind, mut claimed) = (0, 0);
    let mut count = 0;
    while let Some(segment) = one.poll(NOW) {
        assert!(segment.size() <= 100, "{} B", segment.size());
        let Content::Report(report) = segment.content else { continue };
        assert_eq!((report.checkpoint, report.lower), (9, behind));
        assert!(report.claims.windows(2).all(|two| two[1].offset > two[0].offset + two[0].length));
        claimed += report.claims.iter().map(|claim| claim.length).sum::<u64>();
        behind = report.upper;
        count += 1;
    }
    assert_eq!((behind, claimed), (20 * most + 10, 10 * most + 10));
    assert!((20..80).contains(&count), "{count} reports");
}
