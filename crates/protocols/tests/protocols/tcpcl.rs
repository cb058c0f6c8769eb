//! Two ends of TCPCLv4 with a stream between them.

use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::tcpcl::{Config, Ending, Event, Session};
use lightlag_protocols::wire::tcpcl::{
    Contact, Flags, Init, Item, Malformed, Message, RefuseReason, RejectReason, Segment, TermReason,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn config(is_active: bool) -> Config {
    Config {
        is_active,
        node: if is_active { "dtn://here/" } else { "dtn://there/" }.to_owned(),
        keepalive_s: 10,
        segment: 100,
        transfer_mru: 10_000,
        opening: Duration::from_secs(60),
        patience: Duration::from_secs(60),
    }
}

const FIRST: Flags = Flags { start: true, end: false, others: 0 };
const LAST: Flags = Flags { start: false, end: true, others: 0 };
const ONLY: Flags = Flags { start: true, end: true, others: 0 };

fn at(seconds: i64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// Byte `at` of a bundle.
fn byte(transfer: u64, at: u64) -> u8 {
    (at.wrapping_mul(31) ^ transfer) as u8
}

/// Everything that an end has to write.
fn written(end: &mut Session, now: Instant) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(output) = end.poll(now) {
        bytes.extend_from_slice(&output.bytes);
        if let Some(piece) = output.data {
            bytes.extend((piece.offset..piece.offset + piece.length).map(|at| byte(piece.transfer, at)));
        }
    }
    bytes
}

fn events(end: &mut Session) -> Vec<Event> {
    std::iter::from_fn(|| end.take_event()).collect()
}

/// Two ends, and the events of each.
struct Pair {
    ends: [Session; 2],
    told: [Vec<Event>; 2],
    kept: BTreeMap<u64, Vec<u8>>,
    now: Instant,
}

impl Pair {
    fn new(configs: [Config; 2]) -> Self {
        let ends = configs.map(|config| Session::new(at(0), config));
        Self { ends, told: [Vec::new(), Vec::new()], kept: BTreeMap::new(), now: at(0) }
    }
    /// Carries all data in chunks of this size, until there is nothing more.
    fn run(&mut self, chunk: usize) {
        loop {
            let mut idle = true;
            for from in [0, 1] {
                let bytes = written(&mut self.ends[from], self.now);
                idle &= bytes.is_empty();
                for chunk in bytes.chunks(chunk) {
                    self.ends[1 - from].receive(self.now, chunk);
                    self.note(1 - from);
                }
            }
            [0, 1].into_iter().for_each(|end| self.note(end));
            if idle {
                return;
            }
        }
    }
    fn note(&mut self, end: usize) {
        for event in events(&mut self.ends[end]) {
            match &event {
                Event::Data { transfer, bytes } => {
                    self.kept.entry(*transfer).or_default().extend_from_slice(bytes);
                    continue;
                }
                Event::Whole { transfer } => self.ends[end].accept(*transfer),
                _ => {}
            }
            self.told[end].push(event);
        }
    }
    fn was_told(&self, end: usize, event: &Event) -> bool {
        self.told[end].contains(event)
    }
}

proptest! {
    #[test]
    fn bundles_come_as_they_left_however_the_stream_is_cut(
        lengths in prop::collection::vec(0..2000_u64, 0..6),
        chunk in 1..300_usize,
        segment in 1..400_u64,
    ) {
        let mut pair = Pair::new([Config { segment, ..config(true) }, config(false)]);
        let sent: Vec<u64> = lengths.iter().map(|length| pair.ends[0].send(*length)).collect();
        pair.run(chunk);
        for (transfer, length) in sent.iter().zip(&lengths) {
            let done = Event::Sent { transfer: *transfer };
            prop_assert!(pair.was_told(0, &done));
            let right: Vec<u8> = (0..*length).map(|at| byte(*transfer, at)).collect();
            prop_assert_eq!(pair.kept.remove(transfer).unwrap_or_default(), right);
        }
        pair.ends[0].finish(pair.now);
        pair.run(chunk);
        prop_assert!([0, 1].into_iter().all(|end| pair.was_told(end, &Event::Ended(Ending::Closed))));
        prop_assert!(pair.ends.iter().all(Session::is_over));
    }

    #[test]
    fn damage_ends_a_session_or_changes_nothing_that_was_promised(
        lengths in prop::collection::vec(1..500_u64, 1..4),
        place: prop::sample::Index,
        flip in 1..=255_u8,
    ) {
        let mut pair = Pair::new([config(true), config(false)]);
        for length in &lengths {
            pair.ends[0].send(*length);
        }
        let mut damaged = false;
        for _ in 0..20 {
            let mut bytes = written(&mut pair.ends[0], pair.now);
            if !damaged && bytes.len() > 20 {
                *place.get_mut(&mut bytes) ^= flip;
                damaged = true;
            }
            pair.ends[1].receive(pair.now, &bytes);
            pair.note(1);
            let back = written(&mut pair.ends[1], pair.now);
            pair.ends[0].receive(pair.now, &back);
            pair.note(0);
        }
        let count = |end: usize, is: fn(&Event) -> bool| pair.told[end].iter().filter(|one| is(one)).count();
        let sent = count(0, |event| matches!(event, Event::Sent { .. }));
        let whole = count(1, |event| matches!(event, Event::Whole { .. }));
        prop_assert!(sent <= whole);
    }
}

#[test]
fn each_end_is_told_who_the_other_is() {
    let mut pair = Pair::new([config(true), config(false)]);
    pair.run(1000);
    assert!(pair.was_told(0, &Event::Opened { node: "dtn://there/".to_owned() }));
    assert!(pair.was_told(1, &Event::Opened { node: "dtn://here/".to_owned() }));
}

#[test]
fn a_bundle_counts_as_sent_only_when_it_is_kept() {
    let mut pair = Pair::new([config(true), config(false)]);
    let transfer = pair.ends[0].send(250);
    pair.run(1000);
    let whole = pair.told[1].iter().position(|event| *event == Event::Whole { transfer });
    assert!(whole.is_some() && pair.was_told(0, &Event::Sent { transfer }));

    let mut pair = [Session::new(at(0), config(true)), Session::new(at(0), config(false))];
    let transfer = pair[0].send(250);
    for _ in 0..5 {
        let bytes = written(&mut pair[0], at(1));
        pair[1].receive(at(1), &bytes);
        let back = written(&mut pair[1], at(1));
        pair[0].receive(at(1), &back);
    }
    assert!(!events(&mut pair[0]).contains(&Event::Sent { transfer }), "it is not acknowledged yet");
    pair[1].refuse(transfer, RefuseReason::NoResources);
    let back = written(&mut pair[1], at(1));
    pair[0].receive(at(1), &back);
    let refused = Event::Refused { transfer, reason: RefuseReason::NoResources };
    assert!(events(&mut pair[0]).contains(&refused));
}

#[test]
fn what_is_too_long_is_refused_before_it_leaves_or_as_soon_as_its_length_is_told() {
    let mut pair = Pair::new([config(true), Config { transfer_mru: 300, ..config(false) }]);
    let (large, small) = (pair.ends[0].send(301), pair.ends[0].send(300));
    pair.run(1000);
    assert!(pair.was_told(0, &Event::TooLong { transfer: large, most: 300 }));
    assert!(pair.was_told(0, &Event::Sent { transfer: small }));
    // A sender that sends it all the same is refused, and the next bundle is taken.
    let mut there = opened();
    let (flags, last) = (FIRST, LAST);
    there.receive(at(1), &segment(1, flags, &[0; 100], Some(20_000)));
    there.receive(at(1), &segment(1, last, &[0; 100], None));
    there.receive(at(1), &segment(2, ONLY, b"two", None));
    let said = events(&mut there);
    assert!(said.contains(&Event::Whole { transfer: 2 }) && !said.contains(&Event::Whole { transfer: 1 }));
    // What left before the refusal came is refused again (section 5.2.4); the second bundle holds back
    // nothing.
    let refusal = bytes_of(&Message::Refuse { reason: RefuseReason::NoResources, transfer: 1 });
    assert_eq!(written(&mut there, at(1)), [&refusal[..], &refusal].concat());
}

/// One whose peer, played by the test, has opened the session.
fn opened() -> Session {
    let mut there = Session::new(at(0), config(false));
    there.receive(at(0), &Contact { version: 4, can_tls: true }.to_bytes());
    there.receive(at(0), &init(Vec::new(), 0));
    events(&mut there);
    written(&mut there, at(0));
    there
}

fn init(items: Vec<Item>, keepalive_s: u16) -> Vec<u8> {
    let node = "ipn:1.0".to_owned();
    let init = Init { keepalive_s, segment_mru: 1000, transfer_mru: 1000, node, items };
    let mut bytes = Vec::new();
    Message::Init(init).write(&mut bytes);
    bytes
}

fn segment(transfer: u64, flags: Flags, data: &[u8], total: Option<u64>) -> Vec<u8> {
    let mut segment = Segment { flags, transfer, items: Vec::new(), length: data.len() as u64 };
    if let Some(total) = total {
        segment = segment.with_total(total);
    }
    let mut bytes = Vec::new();
    Message::Segment(segment).write(&mut bytes);
    bytes.extend_from_slice(data);
    bytes
}

#[test]
fn keep_alives_are_sent_as_agreed_and_silence_ends_the_session() {
    let mut pair = Pair::new([Config { keepalive_s: 4, ..config(true) }, config(false)]);
    pair.run(1000);
    assert_eq!(pair.ends[0].deadline(), Some(at(4)), "the smaller wish counts");
    for second in 1..100 {
        pair.now = at(second);
        pair.run(1000);
    }
    assert!(!pair.told[0].iter().any(|event| matches!(event, Event::Ended(_))));
    let mut alone = pair.ends;
    assert!(written(&mut alone[0], at(120)).ends_with(&[5, 0, 1]), "it says SESS_TERM, idle timeout");
    assert_eq!(events(&mut alone[0]), [Event::Ended(Ending::Silent)]);
}

/// HDTN 1.3.1 divides by the smaller of both.
#[test]
fn no_limit_in_the_opening_is_zero() {
    let mut here = Session::new(at(0), Config { transfer_mru: 0, ..config(true) });
    written(&mut here, at(0));
    here.receive(at(0), &Contact { version: 4, can_tls: false }.to_bytes());
    let said = written(&mut here, at(0));
    let Ok(Some((Message::Init(init), _))) = Message::read(&said) else { panic!("{said:?}") };
    assert_eq!((init.segment_mru, init.transfer_mru), (1, 1));
}

#[test]
fn a_peer_that_never_opens_the_session_is_not_waited_for() {
    for is_active in [true, false] {
        let mut end = Session::new(at(0), config(is_active));
        written(&mut end, at(0));
        assert_eq!(end.deadline(), Some(at(60)));
        written(&mut end, at(60));
        assert_eq!(events(&mut end), [Event::Ended(Ending::Silent)]);
        assert!(end.is_over());
    }
}

#[test]
fn a_peer_that_does_not_do_without_tls_is_told_apart() {
    let mut here = Session::new(at(0), config(true));
    written(&mut here, at(0));
    here.receive(at(0), &Contact { version: 4, can_tls: true }.to_bytes());
    let mut term = Vec::new();
    Message::Term { reply: false, reason: TermReason::ContactFailure }.write(&mut term);
    here.receive(at(0), &term);
    let ending = Ending::Unwanted(TermReason::ContactFailure);
    assert_eq!(events(&mut here), [Event::Ended(ending)]);
    assert!(ending.to_string().contains("TLS"), "{ending}");
}

#[test]
fn strangers_are_told_apart_by_what_they_say() {
    let ended = |bytes: &[u8]| {
        let mut there = Session::new(at(0), config(false));
        there.receive(at(0), bytes);
        events(&mut there).pop()
    };
    assert_eq!(ended(b"GET / HTTP/1.1"), Some(Event::Ended(Ending::Malformed(Malformed::Magic))));
    assert_eq!(ended(b"dtn!\x03\x00"), Some(Event::Ended(Ending::Version(3))));
    let item = Item { is_critical: true, kind: 9, value: vec![1] };
    let mut said = b"dtn!\x04\x00".to_vec();
    said.extend(init(vec![item], 0));
    assert_eq!(ended(&said), Some(Event::Ended(Ending::Extension(9))));
}

#[test]
fn what_cannot_be_is_rejected_as_the_rfc_says() {
    let rejection = |bytes: &[u8], reason, message| {
        let mut there = opened();
        there.receive(at(1), bytes);
        let mut right = Vec::new();
        Message::Reject { reason, message }.write(&mut right);
        assert!(written(&mut there, at(1)).starts_with(&right), "{bytes:?}");
        assert!(there.is_over());
    };
    rejection(&[99, 1, 2, 3], RejectReason::TypeUnknown, 99);
    rejection(&init(Vec::new(), 0), RejectReason::Unexpected, 7);
    // The middle of a bundle that never began, and two that are mixed.
    let (start, middle) = (FIRST, Flags::default());
    rejection(&segment(1, middle, b"x", None), RejectReason::Unexpected, 1);
    let mixed = [segment(1, start, b"x", None), segment(2, start, b"y", None)].concat();
    let mut there = opened();
    there.receive(at(1), &mixed);
    assert!(events(&mut there).contains(&Event::Ended(Ending::Unexpected(1))));
}

#[test]
fn a_length_that_was_promised_and_not_kept_refuses_the_bundle() {
    let mut there = opened();
    there.receive(at(1), &segment(1, ONLY, b"short", Some(50)));
    assert!(!events(&mut there).contains(&Event::Whole { transfer: 1 }));
    let mut refusal = Vec::new();
    Message::Refuse { reason: RefuseReason::NotAcceptable, transfer: 1 }.write(&mut refusal);
    assert_eq!(written(&mut there, at(1)), refusal);
}

#[test]
fn what_has_begun_is_finished_when_the_peer_ends_and_what_has_not_is_refused() {
    let mut here = opened();
    let (first, second) = (here.send(150), here.send(10));
    assert!(here.poll(at(1)).is_some(), "the first segment leaves");
    let mut term = Vec::new();
    Message::Term { reply: false, reason: TermReason::Unknown }.write(&mut term);
    here.receive(at(1), &term);
    let refused = Event::Refused { transfer: second, reason: RefuseReason::SessionTerminating };
    assert!(events(&mut here).contains(&refused));
    written(&mut here, at(1));
    let mut ack = Vec::new();
    // Some peers leave the flags out.
    Message::Ack { flags: Flags::default(), transfer: first, length: 150 }.write(&mut ack);
    here.receive(at(2), &ack);
    assert_eq!(events(&mut here), [Event::Sent { transfer: first }, Event::Ended(Ending::Closed)]);
}

fn bytes_of(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write(&mut bytes);
    bytes
}

#[test]
fn transfers_are_numbered_from_zero() {
    // Section 5.2.1.
    let mut here = opened();
    assert_eq!([here.send(1), here.send(1)], [0, 1]);
}

#[test]
fn an_acknowledgement_gives_back_flags_that_have_no_name() {
    // Section 5.2.3.
    let mut there = opened();
    let flags = Flags { others: 0x84, ..FIRST };
    there.receive(at(1), &segment(0, flags, b"abc", None));
    assert_eq!(written(&mut there, at(1)), bytes_of(&Message::Ack { flags, transfer: 0, length: 3 }));
}

#[test]
fn a_bundle_is_refused_only_when_those_before_it_are_answered() {
    // Section 5.2.4.
    let mut there = opened();
    there.receive(at(1), &segment(0, ONLY, b"one", None));
    there.receive(at(1), &segment(1, FIRST, b"two", Some(1 << 40)));
    assert_eq!(written(&mut there, at(1)), []);
    there.accept(0);
    let answers = [
        bytes_of(&Message::Ack { flags: ONLY, transfer: 0, length: 3 }),
        bytes_of(&Message::Refuse { reason: RefuseReason::NoResources, transfer: 1 }),
    ];
    assert_eq!(written(&mut there, at(1)), answers.concat());
}

#[test]
fn a_length_that_is_told_twice_or_in_another_form_refuses_the_bundle() {
    // Sections 5.2.5 and 5.2.5.1.
    let length = |bytes: usize| Item { is_critical: false, kind: 1, value: vec![0; bytes] };
    for items in [vec![length(8), length(8)], vec![length(4)]] {
        let mut there = opened();
        let start = Message::Segment(Segment { flags: FIRST, transfer: 7, items, length: 0 });
        there.receive(at(1), &bytes_of(&start));
        let refusal = bytes_of(&Message::Refuse { reason: RefuseReason::ExtensionFailure, transfer: 7 });
        assert_eq!(written(&mut there, at(1)), refusal);
    }
}

#[test]
fn what_answers_a_bundle_that_never_left_is_rejected_and_the_session_goes_on() {
    // Section 5.1.2.
    let mut here = opened();
    let transfer = here.send(10);
    for message in [
        Message::Ack { flags: ONLY, transfer: 9, length: 1 },
        Message::Refuse { reason: RefuseReason::Completed, transfer },
    ] {
        here.receive(at(1), &bytes_of(&message));
        let rejection = Message::Reject { reason: RejectReason::Unexpected, message: message.number() };
        assert_eq!(here.poll(at(1)).map(|one| one.bytes), Some(bytes_of(&rejection)));
    }
    written(&mut here, at(1));
    here.receive(at(1), &bytes_of(&Message::Ack { flags: ONLY, transfer, length: 10 }));
    assert_eq!(events(&mut here), [Event::Sent { transfer }]);
}

#[test]
fn an_end_that_was_not_asked_for_is_answered_at_any_time_with_the_same_reason() {
    // Section 6.1.
    let term = |reply| bytes_of(&Message::Term { reply, reason: TermReason::Busy });
    for reply in [false, true] {
        let mut there = opened();
        there.receive(at(1), &term(reply));
        assert_eq!(written(&mut there, at(1)), term(true));
        assert_eq!(events(&mut there), [Event::Ended(Ending::Closed)]);
    }
    let mut there = Session::new(at(0), config(false));
    there.receive(at(0), &Contact { version: 4, can_tls: false }.to_bytes());
    written(&mut there, at(0));
    there.receive(at(0), &term(false));
    assert_eq!(written(&mut there, at(0)), term(true));
    // A SESS_INIT that cannot be read is a contact failure (sections 4.6 and 6.1).
    let mut there = Session::new(at(0), config(false));
    there.receive(at(0), &Contact { version: 4, can_tls: false }.to_bytes());
    written(&mut there, at(0));
    let mut broken = init(vec![Item { is_critical: false, kind: 1, value: vec![0; 4] }], 0);
    let place = broken.len() - 5;
    broken[place] = 9;
    there.receive(at(0), &broken);
    let said = Message::Term { reply: false, reason: TermReason::ContactFailure };
    assert_eq!(written(&mut there, at(0)), bytes_of(&said));
}

#[test]
fn a_contact_header_is_waited_for_no_longer_than_a_minute() {
    // Section 4.1.
    let patient = Config { opening: Duration::from_secs(600), ..config(false) };
    assert_eq!(Session::new(at(0), patient).deadline(), Some(at(60)));
}

#[test]
fn a_listener_that_is_full_says_so_at_once_and_never_before_the_contact_header() {
    // Section 6.1.
    let full = bytes_of(&Message::Term { reply: false, reason: TermReason::ResourceExhaustion });
    let mut pair = Pair::new([config(true), config(false)]);
    pair.ends[0].send(10);
    pair.ends[1].dismiss(at(0), TermReason::ResourceExhaustion);
    assert_eq!(written(&mut pair.ends[1], at(0)), []);
    pair.run(1000);
    let ending = Ending::Unwanted(TermReason::ResourceExhaustion);
    assert!(pair.was_told(0, &Event::Ended(ending)), "{:?}", pair.told);
    assert!(ending.to_string().contains("the listener is full"), "{ending}");
    assert!(Ending::Unopened.to_string().contains("it may be full, or require TLS"));
    let mut there = opened();
    there.receive(at(1), &segment(0, FIRST, b"half", Some(100)));
    written(&mut there, at(1));
    there.dismiss(at(2), TermReason::ResourceExhaustion);
    assert_eq!(written(&mut there, at(2)), full);
    assert!(there.is_over());
}

#[test]
fn a_connection_that_breaks_leaves_bundles_unsent() {
    let mut here = opened();
    let transfer = here.send(150);
    written(&mut here, at(1));
    here.cut();
    let told = events(&mut here);
    assert_eq!(told, [Event::Ended(Ending::Cut)]);
    assert!(!told.contains(&Event::Sent { transfer }));
}
