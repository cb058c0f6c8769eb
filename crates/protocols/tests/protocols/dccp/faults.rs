//! The faults that Linux had, each brought back and each gone.

use crate::dccp::line::{Fate, Line, config, ms};
use lightlag_protocols::parameter::Value;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::dccp::Faults;
use lightlag_protocols::units::BitRate;
use lightlag_protocols::wire::dccp::Kind;

fn line(faults: Faults, values: &[(&str, Value)]) -> Line {
    let mut config = config("ccid2");
    config.faults = faults;
    if faults.small_sequence_window {
        config.sequence_window = 100;
    }
    let mut line = Line::of(config, "ccid2", values, ms(50));
    line.left = u64::MAX;
    line
}

/// Loses everything of one second: an outage.
fn with_silence(line: Line) -> Line {
    let mut count = 0;
    line.losing(move |forward, _, packet| {
        count += u64::from(forward && packet.header.kind().is_data());
        if forward && (1501..1560).contains(&count) { Fate::Lost } else { Fate::Comes }
    })
}

#[test]
fn a_window_may_stick_at_one_packet() {
    let [well, ill] = [false, true].map(|sticks| {
        let values = [("stuck_window", sticks.into()), ("initial_threshold", 20.0.into())];
        let mut line = with_silence(line(Faults::default(), &values));
        line.play(Instant::from_secs(60));
        assert!(line.client.counts().timeouts >= 1);
        (line.client.ack_ratio()[1], line.came.len())
    });
    assert!(well.0 > 100 && ill.0 <= 2, "windows {well:?} and {ill:?}");
    assert!(ill.1 * 2 < well.1, "datagrams {well:?} and {ill:?}");
}

#[test]
fn a_ratio_above_the_window_makes_pauses_of_200_ms() {
    let [well, ill] = [false, true].map(|pauses| {
        let values = [("stuck_window", true.into()), ("initial_threshold", 20.0.into())];
        let mut line = with_silence(line(Faults { pauses, ..Faults::default() }, &values));
        line.play(Instant::from_secs(60));
        (line.client.counts().timeouts, line.longest_pause)
    });
    assert!(ill.0 > 20 * well.0, "timeouts {well:?} and {ill:?}");
    assert!(ill.1 >= ms(200), "{ill:?}");
}

#[test]
fn losses_may_be_answered_inconsistently() {
    let [well, ill] = [false, true].map(|inconsistent_loss| {
        let mut line =
            line(Faults { inconsistent_loss, ..Faults::default() }, &[("initial_threshold", 40.0.into())]);
        let mut count = 0;
        line = line.losing(move |forward, _, packet| {
            count += u64::from(forward && packet.header.kind().is_data());
            // Four losses in each hundredth window, apart from each other.
            let hit = count > 1000 && count % 1000 < 24 && count % 6 == 0;
            if forward && packet.header.kind().is_data() && hit { Fate::Lost } else { Fate::Comes }
        });
        line.play(Instant::from_secs(60));
        line.client.counts().episodes as f64 / (line.dropped as f64 / 4.0)
    });
    assert!((0.8..=1.05).contains(&well), "{well} answers to a window with losses");
    assert!(ill > 2.0, "{ill} answers to a window with losses");
}

#[test]
fn a_small_sequence_window_leads_to_syncs_that_no_controller_sees() {
    let [well, ill] = [false, true].map(|small_sequence_window| {
        let mut line = line(Faults { small_sequence_window, ..Faults::default() }, &[]);
        line.delay = ms(300);
        line.rate = Some((BitRate(10_000_000), 500));
        line.play(Instant::from_secs(60));
        (line.count(false, Kind::Sync) + line.count(true, Kind::Sync), line.came.len())
    });
    assert_eq!(well.0, 0);
    assert!(ill.0 > 5 && ill.1 * 3 < well.1 * 2, "Syncs and datagrams {well:?} and {ill:?}");
    let _ = Duration::ZERO;
}
