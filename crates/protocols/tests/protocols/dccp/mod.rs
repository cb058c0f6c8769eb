//! DCCP connections, from both ends.

mod ecn;
mod faults;
mod line;
mod rfc5348;

use self::line::{Fate, Line, SERVICE, ccid2, config, ms, timers};
use lightlag_protocols::parameter::Value;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::dccp::{
    Answer, Config, Ecn, FLIGHT_MAX, Listener, Packet, Refused, SERVICE_LTP, State,
};
use lightlag_protocols::transport::rto::Timers;
use lightlag_protocols::units::BitRate;
use lightlag_protocols::wire::dccp::{Body, Header, Item, Kind, Options, ResetCode, Sequence, pad};
use proptest::prelude::*;
use std::sync::Arc;

fn s(n: i64) -> Instant {
    Instant::from_secs(n)
}

#[test]
fn a_connection_opens_carries_everything_and_closes() {
    for name in ["ccid2", "ccid3", "cubic", "ledbat", "fixed"] {
        let mut line = Line::new(name, &[], ms(50));
        line.rate = Some((BitRate(10_000_000), 200));
        line.left = 300;
        line.play(s(60));
        assert_eq!(line.states(), (State::Open, Some(State::Open)), "{name}");
        line.client.close();
        line.play(s(70));
        assert_eq!(line.came.len() as u64 + line.dropped, 300, "{name}");
        assert!(line.came.len() > 290 || name == "fixed", "{name}: {}", line.came.len());
        assert_eq!(line.states(), (State::TimeWait, Some(State::Closed)), "{name}");
        assert_eq!(line.client.ended(), Some(ResetCode::Closed));
        assert_eq!((line.client.counts().invalid, line.count(true, Kind::Sync)), (0, 0), "{name}");
        line.play(s(400));
        assert_eq!(line.client.state(), State::Closed, "remembered for two lifetimes of a packet");
    }
}

#[test]
fn the_handshake_stands_the_loss_of_each_packet() {
    for (forward, index) in [(true, 0), (true, 1), (true, 2), (false, 0), (false, 1), (false, 2)] {
        let mut line = Line::new("ccid2", &[], ms(50))
            .losing(move |way, n, _| if (way, n) == (forward, index) { Fate::Lost } else { Fate::Comes });
        line.left = 100;
        line.play(s(30));
        assert_eq!(line.states(), (State::Open, Some(State::Open)), "{forward} {index}");
        assert!(line.came.len() >= 99, "{forward} {index}: {} came", line.came.len());
    }
}

#[test]
fn a_request_that_nobody_answers_is_given_up() {
    let mut line = Line::new("ccid2", &[], ms(50)).losing(|_, _, _| Fate::Lost);
    assert!(!line.play(s(1000)), "nothing is left to wait for");
    assert_eq!((line.client.state(), line.client.ended()), (State::Closed, Some(ResetCode::Aborted)));
    // 0, 1, 3, 7, 15, 31, 63, 127 s: the next would be beyond three minutes.
    assert_eq!(line.count(true, Kind::Request), 8);
    assert_eq!(line.count(true, Kind::Reset), 1, "RFC 4340, section 8.1.1: some may have arrived");
    assert!(line.client.send(Arc::from([0_u8; 9])).is_err_and(|why| why == Refused::Closed));
}

#[test]
fn both_ends_may_close_at_once() {
    let mut line = Line::new("ccid2", &[], ms(50));
    line.left = 10;
    line.play(s(5));
    line.client.close();
    line.server.connection().unwrap().close();
    line.play(s(10));
    assert_eq!(line.states(), (State::TimeWait, Some(State::Closed)));
    assert_eq!((line.count(true, Kind::Close), line.count(false, Kind::CloseReq)), (1, 1));
    assert_eq!(line.came.len(), 10);
}

#[test]
fn a_server_that_closes_leaves_the_memory_to_the_client() {
    for lost in 0..4 {
        let mut closing = 0;
        let mut line = Line::new("ccid2", &[], ms(50)).losing(move |_, _, packet| {
            let closes = matches!(packet.header.kind(), Kind::CloseReq | Kind::Close | Kind::Reset);
            closing += u32::from(closes);
            if closes && closing == lost { Fate::Lost } else { Fate::Comes }
        });
        line.play(s(5));
        line.server.connection().unwrap().close();
        line.play(s(100));
        assert_eq!(line.states(), (State::TimeWait, Some(State::Closed)), "loss of packet {lost} of the end");
    }
}

/// A data packet like the last one of the client, but `ahead` of it.
fn ahead(packet: &Packet, ahead: u64) -> Packet {
    let mut packet = packet.clone();
    packet.header.sequence = packet.header.sequence.plus(ahead);
    packet
}

#[test]
fn numbers_that_cannot_be_are_answered_by_a_sync_and_change_nothing() {
    let (tell, told) = std::sync::mpsc::channel();
    let mut line = Line::new("ccid2", &[], ms(50)).losing(move |forward, _, packet| {
        if forward && packet.header.kind() == Kind::Data {
            let _ = tell.send(packet.clone());
        }
        Fate::Comes
    });
    line.left = 800;
    line.play(s(30));
    let data: Vec<Packet> = told.try_iter().collect();
    let last = data.last().unwrap();
    line.inject(true, data[300].clone());
    line.play(s(31));
    assert_eq!((line.count(false, Kind::Sync), line.count(true, Kind::SyncAck)), (1, 1), "one from long ago");
    line.inject(true, ahead(last, 10_000));
    line.play(s(32));
    let counts = (line.count(false, Kind::Sync), line.count(true, Kind::SyncAck));
    assert_eq!(counts, (2, 1), "the client never sent what the Sync asks about");
    for n in 0..100 {
        line.inject(true, ahead(last, 20_000 + n));
    }
    line.left = 50;
    line.play(s(40));
    assert!(line.count(false, Kind::Sync) <= 2 + 8, "at most eight a second");
    line.inject(true, last.clone());
    assert_eq!(line.came.len(), 850, "what was not valid is not delivered, and data flow on");
    assert!(line.came.values().all(|times| *times == 1), "a replay is not delivered");
}

#[test]
fn a_connection_goes_on_after_a_silence_in_which_all_numbers_were_used_up() {
    for (name, values) in
        [("fixed", vec![("rate", Value::Number(20e6))]), ("ccid2", vec![]), ("ccid3", vec![])]
    {
        let mut line = Line::new(name, &values, ms(20));
        line.rate = Some((BitRate(20_000_000), 100));
        line.left = u64::MAX;
        line.play(s(2));
        line.fates = Box::new(|_, _, _| Fate::Lost);
        line.play(s(10));
        let before = line.came.len();
        line.fates = Box::new(|_, _, _| Fate::Comes);
        line.play(s(60));
        let rate = (line.came.len() - before) as f64 / 50.0;
        assert!(rate > 300.0, "{name}: {rate} datagrams a second after the outage");
    }
}

#[test]
fn the_sequence_window_grows_with_what_is_under_way() {
    let mut line = Line::new("ccid2", &[], Duration::from_secs(5));
    line.rate = Some((BitRate(90 * 1500 * 8), 900));
    line.left = u64::MAX;
    line.play(s(1200));
    let in_flight = 900;
    assert!(line.client.sequence_window() >= 3 * in_flight, "{}", line.client.sequence_window());
    assert_eq!((line.client.counts().syncs, line.count(false, Kind::Sync)), (0, 0));
    assert!(line.client.ack_ratio()[1] >= in_flight, "{:?}", line.client.ack_ratio());
    let rate = line.came.len() as f64 / 1200.0;
    assert!(rate > 60.0, "{rate} of 90 packets a second");
}

#[test]
fn the_ack_ratio_never_leaves_the_sender_waiting() {
    for lost in [0.0, 0.02, 0.1, 0.3] {
        let mut line = Line::new("ccid2", &[], ms(300)).random(3, [lost, 0.0, 0.0]);
        line.rate = Some((BitRate(1_500_000), 75));
        line.left = u64::MAX;
        let mut too_high_since = None;
        for tick in 0..3000 {
            line.play(Instant::from_nanos(tick * 100_000_000));
            let [ratio, window] = line.client.ack_ratio();
            if ratio <= window.div_ceil(2).max(1) {
                too_high_since = None;
            }
            let since = *too_high_since.get_or_insert(line.now);
            // A change takes a round trip, and one for each loss of it; meanwhile the delay bounds the wait.
            let patience = if lost < 0.05 { 15 } else { 200 };
            assert!(
                line.now - since <= Duration::from_secs(patience),
                "{ratio} of {window} at {:?}",
                line.now
            );
            if ratio <= window.div_ceil(2).max(1) {
                too_high_since = None;
            }
        }
        assert!(line.came.len() > 100, "loss {lost}: {} came", line.came.len());
        if lost == 0.0 {
            assert_eq!(line.client.counts().timeouts, 0);
        }
    }
}

#[test]
fn each_window_with_losses_is_answered_once() {
    for burst in [1, 2, 5] {
        let mut data = 0;
        let mut line = Line::new("ccid2", &[("initial_threshold", 20.0.into())], ms(50)).losing(
            move |forward, _, packet| {
                data += u64::from(forward && packet.header.kind().is_data());
                // Far apart, compared with a window.
                let hit = data >= 1000 && data % 1000 < burst;
                if forward && packet.header.kind().is_data() && hit { Fate::Lost } else { Fate::Comes }
            },
        );
        line.left = u64::MAX;
        line.play(s(100));
        let counts = line.client.counts();
        let bursts = line.dropped / burst;
        assert!(bursts > 10);
        assert!(counts.episodes == bursts || counts.episodes + 1 == bursts, "{counts:?}, {bursts} bursts");
        assert_eq!(counts.timeouts, 0);
        assert!(counts.lost + burst >= line.dropped && counts.lost <= line.dropped);
    }
}

/// Answers to losses of data packets, `lost` by their ordinals, that one Ack Vector reports, as all others are lost:
/// packets leave 10 ms apart, and a round trip takes 100 ms.
fn answers_to_losses(lost: &[u64]) -> u64 {
    let timers = Timers { margin: ms(4000), ..timers() };
    let mut data = 0;
    let values = [("rate", 1_200_000.0.into())];
    let hits = lost.to_vec();
    let (first, last) = (hits[0], hits[hits.len() - 1]);
    let mut line = Line::of(Config { timers, ..config("fixed") }, "fixed", &values, ms(50)).losing(
        move |forward, _, packet| {
            let is_data = forward && packet.header.kind().is_data();
            data += u64::from(is_data);
            let hit = is_data && hits.contains(&data);
            let is_unanswered = !forward && (first..last + 30).contains(&data);
            if hit || is_unanswered { Fate::Lost } else { Fate::Comes }
        },
    );
    line.left = u64::MAX;
    line.play(s(25));
    let counts = line.client.counts();
    assert_eq!((counts.lost, counts.timeouts), (lost.len() as u64, 0));
    counts.episodes
}

/// Windows of data with losses: one ends when its first loss could be known, a round trip of ten packets after the third
/// later packet that arrives has left. `None` where a loss is so near to an end that the delay of acknowledgements decides.
fn windows_with_losses(lost: &[u64]) -> Option<u64> {
    let (mut windows, mut end) = (0, 0);
    for n in lost {
        if windows > 0 && n.abs_diff(end) <= 3 {
            return None;
        }
        if windows == 0 || *n > end {
            windows += 1;
            let third = (n + 1..).filter(|later| !lost.contains(later)).nth(2)?;
            end = third + 10;
        }
    }
    Some(windows)
}

#[test]
fn losses_of_two_windows_in_one_ack_vector_are_answered_twice() {
    assert_eq!(
        answers_to_losses(&[1000, 1020]),
        2,
        "in time, the first would have been known before the second left"
    );
    assert_eq!(answers_to_losses(&[1000, 1005]), 1, "of one window of data");
}

#[test]
fn a_mark_is_answered_by_one_halving_and_is_no_loss() {
    let mut line = Line::new("ccid2", &[("initial_threshold", 20.0.into())], ms(50));
    line.left = u64::MAX;
    line.play(s(10));
    let before = line.client.ack_ratio()[1];
    assert!(before > 20);
    // An Ack Vector of one packet, the one that is acknowledged: it came, with a mark (section 11.4).
    line.spoil = Some(vec![38, 3, 0x40, 0]);
    line.play(s(10) + ms(150));
    let counts = line.client.counts();
    assert_eq!((counts.episodes, counts.lost, counts.timeouts), (1, 0, 0));
    let after = line.client.ack_ratio()[1];
    assert!((before / 2..=before / 2 + 3).contains(&after), "{before}, then {after}");
    assert_eq!(line.dropped, 0);
}

#[test]
fn a_listener_keeps_nothing_and_knows_its_cookies() {
    let server = config("ccid2").mirrored();
    let listener = Listener::new(server, vec![SERVICE], [7; 32], ccid2());
    let mut client = Line::new("ccid2", &[], ms(50)).client;
    let request = client.poll(s(1)).unwrap();
    let Answer::Reply(response) = listener.answer(s(1), b"here", request.clone()) else { panic!() };
    client.handle(s(1), response.clone());
    let ack = client.poll(s(1)).unwrap();
    assert_eq!(ack.header.kind(), Kind::Ack);
    let code = |at: Instant, peer: &[u8], packet: &Packet| match listener.answer(at, peer, packet.clone()) {
        Answer::Reply(Packet { header, .. }) => match header.body {
            Body::Reset { code, .. } => Some(code),
            _ => None,
        },
        Answer::Nothing => panic!("an answer"),
        Answer::Open(_) => None,
    };
    assert_eq!(code(s(2), b"here", &ack), None, "it opens");
    assert_eq!(code(s(2), b"elsewhere", &ack), Some(ResetCode::BadInitCookie));
    assert_eq!(code(s(10_000), b"here", &ack), Some(ResetCode::BadInitCookie), "too old");
    let mut bent = ack.clone();
    let at = bent.options.len() - 6;
    bent.options[at] ^= 1;
    assert_eq!(code(s(2), b"here", &bent), Some(ResetCode::BadInitCookie));
    let mut other = request;
    other.header.body = Body::Request { service: SERVICE_LTP };
    assert_eq!(code(s(2), b"here", &other), Some(ResetCode::BadServiceCode));
}

#[test]
fn a_mandatory_option_that_is_not_understood_ends_the_connection() {
    let mut line = Line::new("ccid2", &[], ms(50)).losing(|forward, n, packet| {
        let _ = (forward, n, packet);
        Fate::Comes
    });
    line.left = 10;
    line.play(s(5));
    let mut ack = line.server.connection().unwrap().poll(s(5));
    assert!(ack.take().is_none());
    let connection = line.server.as_connection().unwrap();
    assert_eq!(connection.state(), State::Open);
    // The client's next acknowledgement, with more than it says.
    line.left = 1;
    let mut mandatory = Vec::new();
    Item::Mandatory.write(&mut mandatory);
    Item::Unknown { kind: 99, value: &[5, 6] }.write(&mut mandatory);
    pad(&mut mandatory);
    line.fates = Box::new(|_, _, _| Fate::Comes);
    line.spoil = Some(mandatory);
    line.play(s(6));
    assert_eq!(line.client.ended(), Some(ResetCode::MandatoryError));
}

#[test]
fn short_numbers_are_ignored_until_they_are_allowed() {
    // RFC 4340, section 7.6.1.
    let mut line = Line::new("ccid2", &[], ms(50));
    line.left = 10;
    line.play(s(5));
    let short = |number: u64| Packet {
        header: Header {
            source: 5001,
            destination: 5002,
            ccval: 0,
            coverage: 0,
            short: true,
            sequence: Sequence::new(number),
            body: Body::Data,
        },
        options: Vec::new(),
        data: vec![0; 8].into(),
        ecn: Ecn::default(),
    };
    line.inject(true, short(0));
    line.inject(true, short(0x0080_0000));
    line.play(s(6));
    assert_eq!((line.came.len(), line.count(false, Kind::Sync)), (10, 0));
}

#[test]
fn a_request_is_no_packet_without_data() {
    // RFC 4340, section 7.7: the acknowledgement after it reports none.
    let mut line = Line::new("ccid3", &[], ms(50)).losing(move |forward, n, packet| {
        let told = Options::new(&packet.options).any(|item| matches!(item, Ok(Item::NdpCount(_))));
        assert!(!forward || n > 1 || !told, "packet {n}");
        Fate::Comes
    });
    line.left = 10;
    line.play(s(5));
    assert_eq!(line.came.len(), 10);
}

#[test]
fn ports_of_another_connection_are_answered_by_a_reset() {
    // RFC 6773, section 3.8.
    let mut line = Line::new("ccid2", &[], ms(50));
    line.left = 10;
    line.play(s(5));
    let mut sync = line.client.poll(s(5)).unwrap_or_else(|| Packet {
        header: Header {
            source: 5001,
            destination: 5002,
            ccval: 0,
            coverage: 0,
            short: false,
            sequence: Sequence::new(7),
            body: Body::Sync { ack: Sequence::new(9) },
        },
        options: Vec::new(),
        data: [].into(),
        ecn: Ecn::default(),
    });
    sync.header.source = 5003;
    line.server.handle(s(5), sync);
    let reset = line.server.poll(s(5)).unwrap();
    let body = Body::Reset { ack: Sequence::new(7), code: ResetCode::EncapsulatedPortReuse, details: [0; 3] };
    assert_eq!((reset.header.destination, reset.header.body), (5003, body));
    assert_eq!(line.states(), (State::Open, Some(State::Open)));
}

#[test]
fn a_request_is_answered_with_its_timestamp_and_its_data_are_reported_as_dropped() {
    // RFC 4340, sections 13.3 and 8.1.3.
    let server = config("ccid2").mirrored();
    let listener = Listener::new(server, vec![SERVICE], [7; 32], ccid2());
    let mut client = Line::new("ccid2", &[], ms(50)).client;
    let mut request = client.poll(s(1)).unwrap();
    Item::Timestamp(77).write(&mut request.options);
    pad(&mut request.options);
    request.data = Arc::from(*b"early");
    let Answer::Reply(response) = listener.answer(s(1), b"here", request.clone()) else { panic!() };
    let options: Vec<_> = Options::new(&response.options).map(Result::unwrap).collect();
    assert!(options.contains(&Item::TimestampEcho { stamp: 77, elapsed: None }), "{options:?}");
    assert!(options.contains(&Item::DataDropped(&[0x80])), "{options:?}");
    // Section 5.6: only a Request is refused, other packets find no connection.
    request.header.destination += 1;
    let refused = |packet: &Packet| match listener.answer(s(1), b"here", packet.clone()) {
        Answer::Reply(Packet { header: Header { body: Body::Reset { code, .. }, .. }, .. }) => code,
        _ => panic!("a Reset"),
    };
    assert_eq!(refused(&request), ResetCode::ConnectionRefused);
    request.header.body = Body::Ack { ack: Sequence::new(1) };
    assert_eq!(refused(&request), ResetCode::NoConnection);
}

#[test]
fn a_client_shows_all_cookies_again_in_their_order() {
    // RFC 4340, section 8.1.4.
    let mut line = Line::new("ccid2", &[], ms(50));
    let request = line.client.poll(s(0)).unwrap();
    let mut options = Vec::new();
    Item::InitCookie(b"one").write(&mut options);
    Item::InitCookie(b"two").write(&mut options);
    pad(&mut options);
    let Body::Request { service } = request.header.body else { panic!() };
    let header = Header {
        source: request.header.destination,
        destination: request.header.source,
        sequence: Sequence::new(99),
        body: Body::Response { ack: request.header.sequence, service },
        ..request.header
    };
    line.client.handle(s(1), Packet { header, options, data: [].into(), ecn: Ecn::default() });
    let ack = line.client.poll(s(1)).unwrap();
    let cookies: Vec<_> = Options::new(&ack.options)
        .filter_map(|item| match item {
            Ok(Item::InitCookie(cookie)) => Some(cookie),
            _ => None,
        })
        .collect();
    assert_eq!(cookies, [b"one", b"two"]);
}

#[test]
fn data_that_were_changed_on_the_way_are_not_delivered() {
    let mut config = config("ccid2");
    config.check_data = true;
    let mut line = Line::of(config, "ccid2", &[], ms(50));
    line.left = 20;
    line.flips = true;
    line.play(s(10));
    assert_eq!((line.client.counts().lost, line.flipped), (0, 10), "they count as received");
    // RFC 4340, section 11.7.2: but are answered as if they were marked.
    assert!(line.client.counts().episodes > 0);
    assert_eq!(line.came.len(), 10);
}

#[test]
fn no_option_is_sent_that_cannot_be_read() {
    let mut line = Line::new("ccid3", &[], ms(50)).losing(|_, n, packet| {
        assert!(
            Options::new(&packet.options).all(|item| item.is_ok_and(|i| !matches!(i, Item::Unknown { .. })))
        );
        if n % 50 == 49 { Fate::Lost } else { Fate::Comes }
    });
    line.left = 2000;
    line.play(s(60));
    assert!(line.came.len() > 1000);
}

#[test]
fn throughput_on_a_satellite_link() {
    for (name, least) in [("ccid2", 0.95), ("ccid3", 0.85), ("cubic", 0.95)] {
        let mut line = Line::new(name, &[], ms(300));
        line.rate = Some((BitRate(1_500_000), 75));
        line.left = u64::MAX;
        line.play(s(120));
        let used = line.came.len() as f64 * 1500.0 * 8.0 / 120.0 / 1_500_000.0;
        assert!(used > least, "{name} uses {used} of the link");
        assert!(line.longest_pause < ms(700), "{name}: {:?}", line.longest_pause);
        assert_eq!(line.client.counts().timeouts, 0, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..Default::default() })]
    #[test]
    fn an_ack_vector_is_answered_once_for_each_window_with_losses(
        bursts in prop::collection::vec((1_u64..45, 1_u64..12), 1..5),
    ) {
        let mut lost = Vec::new();
        let mut at = 1000;
        for (after, count) in bursts {
            lost.extend(at..at + count);
            at += count + after;
        }
        let expected = windows_with_losses(&lost);
        prop_assume!(expected.is_some());
        prop_assert_eq!(Some(answers_to_losses(&lost)), expected, "losses of {:?}", lost);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]
    #[test]
    fn no_line_stops_a_connection_or_bends_a_byte(
        seed: u64,
        lost in 0.0..0.3_f64,
        late in 0.0..0.3_f64,
        twice in 0.0..0.2_f64,
        delay_ms in 1_i64..3000,
        which in 0..4_usize,
        initial in prop_oneof![Just(0), Just((1_u64 << 48) - 50), Just((1 << 47) - 50), any::<u64>()],
    ) {
        let name = ["ccid2", "ccid3", "cubic", "vegas"][which];
        let mut config = config(name);
        config.initial = initial;
        config.retry.gives_up = Duration::from_secs(100_000);
        let mut line = Line::of(config, name, &[], ms(delay_ms)).random(seed, [lost, late, twice]);
        line.rate = Some((BitRate(5_000_000), 100));
        line.left = 300;
        let mut until = 0;
        while line.left > 0 || line.client.room() < 256 {
            until += 1000;
            prop_assert!(until < 10_000_000, "{name}: {} left after {until} s, {:?}", line.left, line.states());
            let awake = line.play(s(until));
            let done = line.left == 0 && line.client.room() == 256;
            prop_assert!(awake || done, "{name} sleeps for ever: {:?}, {:?}", line.states(), line.client.ended());
            prop_assert!(line.client.remembered() <= FLIGHT_MAX);
        }
        line.client.close();
        while line.client.state() < State::TimeWait {
            until += 1000;
            prop_assert!(until < 10_000_000, "{name} does not close: {:?}", line.states());
            line.play(s(until));
        }
        prop_assert!(line.came.values().all(|times| *times == 1), "{name}: a datagram came twice");
        let came = line.came.len() as f64;
        prop_assert!(came >= 300.0 * (1.0 - lost) * 0.7, "{name}: {came} of 300 came");
    }
}
