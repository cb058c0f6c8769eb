//! When nodes move at all.

use super::Bounds;
use lightlag_protocols::time::Duration;

/// When the nodes of a group move; at other times they stand still wherever they are, and their pauses run on.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum MoveTimes {
    /// Always.
    #[default]
    Always,
    /// In these spans from the start of the run, in order; both ends included.
    Spans(Vec<Bounds<Duration>>),
    /// Alternately, on for a time and off for a time; at the start of the run it has been on for `offset`. Before the
    /// first period nodes move.
    Periods {
        /// How long nodes move.
        on: Duration,
        /// How long they stand still.
        off: Duration,
        /// How far the first period is over at the start of the run.
        offset: Duration,
    },
}

impl MoveTimes {
    /// Whether nodes move at this time, in seconds from the start of the run, and the first time at which that may have
    /// changed.
    pub(super) fn at(&self, now_s: f64) -> (bool, f64) {
        match self {
            Self::Always => (true, f64::INFINITY),
            Self::Spans(spans) => {
                let ends = |span: &Bounds<Duration>| (span.low.as_secs_f64(), span.high.as_secs_f64());
                match spans.iter().map(ends).find(|(_, end)| now_s <= *end) {
                    Some((start, _)) if now_s < start => (false, start),
                    Some((_, end)) => (true, end.next_up()),
                    None => (false, f64::INFINITY),
                }
            }
            Self::Periods { on, off, offset } => {
                let [on_s, off_s, offset_s] = [on, off, offset].map(|d| d.as_secs_f64());
                let period_s = on_s + off_s;
                let passed_s = now_s + offset_s;
                if off_s <= 0.0 {
                    return (true, f64::INFINITY);
                }
                let begun = (passed_s / period_s).floor().max(0.0);
                let into_s = passed_s - begun * period_s;
                let change_s = begun * period_s - offset_s + if into_s < on_s { on_s } else { period_s };
                // Rounding must not name a time that is past.
                (into_s < on_s, change_s.max(now_s.next_up()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: i64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn spans_include_both_ends() {
        let times = MoveTimes::Spans(vec![Bounds::new(s(10), s(20)), Bounds::new(s(30), s(40))]);
        assert_eq!(times.at(-5.0), (false, 10.0));
        assert_eq!(times.at(10.0), (true, 20.0_f64.next_up()));
        assert_eq!(times.at(20.0), (true, 20.0_f64.next_up()));
        assert_eq!(times.at(20.1), (false, 30.0));
        assert_eq!(times.at(41.0), (false, f64::INFINITY));
    }

    #[test]
    fn periods_alternate_and_count_from_their_offset() {
        let times = MoveTimes::Periods { on: s(100), off: s(50), offset: s(20) };
        assert_eq!(times.at(-30.0), (true, 80.0));
        assert_eq!(times.at(0.0), (true, 80.0));
        assert_eq!(times.at(80.0), (false, 130.0));
        assert_eq!(times.at(130.0), (true, 230.0));
        let (mut now_s, mut moved_s) = (0.0, 0.0);
        while now_s < 1500.0 {
            let (moves, until_s) = times.at(now_s);
            assert!(until_s > now_s);
            moved_s += if moves { until_s.min(1500.0) - now_s } else { 0.0 };
            now_s = until_s;
        }
        assert!((moved_s - 1000.0).abs() < 1e-6, "{moved_s}");
    }
}
