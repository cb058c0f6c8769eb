//! Times, sizes and shares as people write them.

use crate::metrics::number;
use lightlag_protocols::time::{Duration, Instant};

/// A span of time in at most two units, as "5 h 12 min".
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs_f64().max(0.0);
    if seconds < 59.95 {
        return match seconds {
            0.0 => "0 s".to_owned(),
            ..0.001 => format!("{} us", number(seconds * 1e6)),
            ..1.0 => format!("{} ms", number(seconds * 1e3)),
            _ => format!("{} s", number((seconds * 100.0).round() / 100.0)),
        };
    }
    let two = |whole: u64, part: u64, base: u64, units: [&str; 2]| match part % base {
        0 => format!("{whole} {}", units[0]),
        part => format!("{whole} {} {part} {}", units[0], units[1]),
    };
    let [s, min, h] = [1.0, 60.0, 3600.0].map(|unit| (seconds / unit).round() as u64);
    match (s, min) {
        (0..3_600, _) => two(s / 60, s, 60, ["min", "s"]),
        (_, 0..1_440) => two(min / 60, min, 60, ["h", "min"]),
        _ => two(h / 24, h, 24, ["d", "h"]),
    }
}

/// An instant of the run, as "27:12:05.2" of hours, minutes and seconds.
pub fn clock(at: Instant) -> String {
    let tenths = at.as_nanos().max(0) / 100_000_000;
    let (s, min, h) = (tenths / 10, tenths / 600, tenths / 36_000);
    format!("{h:02}:{:02}:{:02}.{}", min % 60, s % 60, tenths % 10)
}

/// An amount of data, as "2.5 kB".
pub fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000 => (1.0, "B"),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{} {name}", number(bytes as f64 / unit))
}

/// A share in percent, as "23.4 %".
pub fn share(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    // All and nothing are said only of all and nothing.
    let shown = if part == 0 || part == whole { share } else { share.clamp(0.1, 99.9) };
    format!("{} %", number((shown * 10.0).round() / 10.0))
}

/// "1 bundle", "2 bundles".
pub fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        let made = [0.0, 0.25, 12.345, 59.96, 60.0, 192.0, 3599.9, 3600.0, 18_720.0, 86_399.0, 97_200.0]
            .map(|s| span(Duration::from_secs_f64(s)));
        let right = [
            "0 s",
            "250 ms",
            "12.35 s",
            "1 min",
            "1 min",
            "3 min 12 s",
            "1 h",
            "1 h",
            "5 h 12 min",
            "1 d",
            "1 d 3 h",
        ];
        assert_eq!(made, right);
    }

    #[test]
    fn sizes_shares_and_clocks_are_short() {
        assert_eq!(
            [0, 999, 2_500, 1_000_000, 2_900_000_000].map(size),
            ["0 B", "999 B", "2.5 kB", "1 MB", "2.9 GB"]
        );
        assert_eq!(
            [(0, 9), (9, 9), (1, 3), (1, 9_999), (9_998, 9_999), (0, 0)].map(|(a, b)| share(a, b)),
            ["0 %", "100 %", "33.3 %", "0.1 %", "99.9 %", "0 %"]
        );
        assert_eq!(clock(Instant::from_secs_f64(97_925.26)), "27:12:05.2");
    }
}
