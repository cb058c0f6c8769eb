//! Explicit Congestion Notification over DCCP (RFC 4340, section 12).

use super::line::{Fate, Line, config, ms};
use super::s;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::transport::dccp::{Config, Ecn, State};
use lightlag_protocols::units::BitRate;
use lightlag_protocols::wire::dccp::Kind;
use proptest::prelude::*;

fn capable(controller: &str) -> Config {
    Config { ecn: true, ..config(controller) }
}

/// Marks this share of the packets of each direction.
fn marking(seed: u64, shares: [f64; 2]) -> impl FnMut(bool, u64, &super::Packet) -> Fate {
    let mut draws = Stream::new(seed, "marks", 0);
    move |forward, _, _| {
        let share = shares[usize::from(!forward)];
        if draws.unit() < share { Fate::Marked } else { Fate::Comes }
    }
}

#[test]
fn packets_may_be_marked_only_where_both_ends_read_marks() {
    for (client, server) in [(true, true), (true, false), (false, true), (false, false)] {
        let [client, server] = [client, server].map(|ecn| Config { ecn, ..config("ccid2") });
        let mut line = Line::between(client, server.mirrored(), "ccid2", &[], ms(50)).losing(
            move |forward, _, packet| {
                let kind = packet.header.kind();
                let is_opening = !matches!(kind, Kind::Data | Kind::DataAck | Kind::Ack);
                let both = client.ecn && server.ecn;
                if packet.ecn != Ecn::NotCapable {
                    assert!(both && !is_opening, "{kind:?} of the client: {forward}");
                }
                Fate::Marked
            },
        );
        line.left = 200;
        line.play(s(20));
        assert_eq!((line.client.state(), line.came.len()), (State::Open, 200));
        let [data, acks] = line.marked.map(|marked| marked > 0);
        assert_eq!((data, acks), (client.ecn && server.ecn, client.ecn && server.ecn));
    }
}

#[test]
fn a_mark_is_answered_as_a_loss_and_nothing_is_lost() {
    for name in ["ccid2", "cubic", "new_reno"] {
        let run = |fate: Fate| {
            let mut data = 0;
            let mut line = Line::of(capable(name), name, &[], ms(50)).losing(move |forward, _, packet| {
                let is_data = forward && packet.header.kind().is_data();
                data += u64::from(is_data);
                if is_data && data > 500 && data.is_multiple_of(500) { fate } else { Fate::Comes }
            });
            line.left = 20_000;
            line.play(s(200));
            (line.client.counts(), line.came.len() as u64, line.marked[0])
        };
        let (marks, came, marked) = run(Fate::Marked);
        assert_eq!((marks.lost, marks.timeouts, came), (0, 0, 20_000), "{name}");
        assert!(marked >= 38 && marks.marked == marked, "{name}: {marked}, {marks:?}");
        let (losses, came, _) = run(Fate::Lost);
        assert!((19_955..20_000).contains(&came), "{name}: {came}");
        assert!(
            marks.episodes > 30 && losses.episodes.abs_diff(marks.episodes) <= 1,
            "{name}: {marks:?} {losses:?}"
        );
    }
}

#[test]
fn marks_on_acknowledgements_raise_the_ack_ratio() {
    // RFC 4341, section 6.1.
    let ratio = |share: f64| {
        let mut line = Line::of(capable("ccid2"), "ccid2", &[], ms(50)).losing(marking(3, [0.0, share]));
        line.left = 100_000;
        line.rate = Some((BitRate(20_000_000), 100));
        line.play(s(30));
        assert_eq!(line.client.counts().lost, line.dropped);
        line.client.ack_ratio()[0]
    };
    assert!(ratio(0.5) > 2 * ratio(0.0), "{} {}", ratio(0.5), ratio(0.0));
}

#[test]
fn ccid3_slows_down_for_marks_as_for_losses() {
    let play = |mut line: Line| {
        line.rate = Some((BitRate(20_000_000), 1_000));
        line.left = u64::MAX;
        line.play(s(60));
        (line.came.len() as f64 / 60.0, line.dropped)
    };
    let (marks, dropped) =
        play(Line::of(capable("ccid3"), "ccid3", &[], ms(50)).losing(marking(5, [0.02, 0.0])));
    let (losses, _) = play(Line::new("ccid3", &[], ms(50)).random(5, [0.02, 0.0, 0.0]));
    assert_eq!(dropped, 0);
    assert!(marks < 20e6 / 8.0 / 1500.0 / 5.0, "{marks} a second");
    assert!((losses * 0.7..losses * 1.4).contains(&marks), "{marks} with marks, {losses} with losses");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]
    #[test]
    fn every_mark_is_reported_and_no_datagram_is_missed(
        seed: u64,
        marks in 0.0..1.0_f64,
        acks in 0.0..1.0_f64,
        which in 0..3_usize,
    ) {
        let name = ["ccid2", "cubic", "vegas"][which];
        let mut line = Line::of(capable(name), name, &[], ms(50)).losing(marking(seed, [marks, acks]));
        line.left = 300;
        line.play(s(600));
        let counts = line.client.counts();
        prop_assert_eq!(line.came.len(), 300);
        prop_assert_eq!((counts.lost, counts.timeouts), (0, 0));
        // Acknowledgements of acknowledgements can be marked too, and are no data.
        prop_assert!(counts.marked <= line.marked[0]);
        prop_assert!(counts.episodes <= counts.marked, "{counts:?}");
        prop_assert!(counts.marked == 0 || counts.episodes > 0, "{counts:?}");
    }
}
