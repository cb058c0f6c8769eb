//! What a capture of a connection shows, as metrics of its run.

use crate::shared::points::metrics_of;
use lightlag_capture::analysis::{Analysed, Answer, Found, HalfFigures, Loss};
use lightlag_lab::results::Metrics;
use lightlag_lab::run::Outcome;

/// One halving leaves no less than this of a window, what has grown since included; two leave less.
const ONCE_LEAST: f64 = 0.4;
/// ... and no more than this.
const ONCE_MOST: f64 = 0.75;

/// Those of the run, of the connection that is looked at, and of what its capture shows.
pub fn metrics(outcome: &Outcome) -> Metrics {
    let parts = [
        ("goodput", "goodput_bit_per_s"),
        ("sent", "packets_sent"),
        ("repaired", "packets_repaired"),
        ("timeouts", "timeouts"),
        ("episodes", "loss_episodes"),
    ];
    let mut metrics =
        metrics_of(outcome, parts.map(|(name, figure)| (format!("{name}_of_one"), "one", figure)));
    let beside = outcome.figures.of_part("cross", "delivered_bytes");
    metrics.extend(beside.map(|bytes| ("delivered_beside".into(), bytes)));
    metrics.extend(outcome.analysed.iter().flat_map(of_capture));
    metrics
}

/// What a capture shows of the connection that is looked at: the first, as the traffic beside begins later.
pub fn of_capture(analysed: &Analysed) -> Metrics {
    let halves = analysed.flows.first().map(|flow| of_half(&flow.out));
    halves.into_iter().flatten().map(|(name, value)| (name.into(), value)).collect()
}

fn of_half(half: &HalfFigures) -> [(&'static str, f64); 10] {
    let answers = |wanted: Answered| half.losses.list.iter().filter(|loss| answered(loss) == wanted).count();
    [
        ("lost", half.lost_packets.unwrap_or_default() as f64),
        ("losses", half.losses.events as f64),
        ("answered_once", answers(Answered::Once) as f64),
        ("answered_more", answers(Answered::More) as f64),
        ("answered_not", answers(Answered::Not) as f64),
        ("pauses", half.pauses.count as f64),
        ("pauses_by_timer", (half.pauses.timeout + half.pauses.refused) as f64),
        ("longest_pause_s", half.pauses.longest_s),
        ("rtt_most_s", half.rtt_ms.as_ref().map_or(f64::NAN, |rtt| rtt.max / 1e3)),
        ("alone", half.alone.unwrap_or(f64::NAN)),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answered {
    /// With one halving, or after a timer with a window of one packet (RFC 4341, section 5; RFC 5681, section 3.1).
    Once,
    /// With more.
    More,
    /// With none, or less.
    Not,
    /// That cannot be said: the connection ended, or the window was too small to be reduced.
    Unknown,
}

fn answered(loss: &Loss) -> Answered {
    let after = loss.window_after.unwrap_or_default() as f64;
    let factor = after / loss.window_before.max(1) as f64;
    match loss.answer {
        Answer::Unknown => Answered::Unknown,
        Answer::Reduced if loss.found == Found::Timeout => Answered::Once,
        Answer::Reduced if (ONCE_LEAST..=ONCE_MOST).contains(&factor) => Answered::Once,
        Answer::Reduced if factor < ONCE_LEAST => Answered::More,
        Answer::Reduced | Answer::None => Answered::Not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(before: u64, after: u64, answer: Answer) -> Loss {
        let found = Found::Acknowledgements;
        Loss { at_s: 1.0, found, packets: 1, window_before: before, window_after: Some(after), answer }
    }

    #[test]
    fn one_halving_is_told_from_two_and_from_none() {
        assert_eq!(answered(&loss(100, 51, Answer::Reduced)), Answered::Once);
        assert_eq!(answered(&loss(100, 26, Answer::Reduced)), Answered::More);
        assert_eq!(answered(&loss(100, 85, Answer::Reduced)), Answered::Not);
        assert_eq!(answered(&loss(100, 101, Answer::None)), Answered::Not);
        assert_eq!(answered(&loss(2, 1, Answer::Unknown)), Answered::Unknown);
    }
}
