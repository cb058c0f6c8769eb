//! Lines of the log that others can cause: few of each kind, and then their count.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Lines of one kind that are written in each interval.
const LINES: u64 = 10;
const INTERVAL: Duration = Duration::from_secs(10);

struct Kind {
    begun: Instant,
    lines: u64,
}

thread_local! {
    static KINDS: RefCell<BTreeMap<&'static str, Kind>> = const { RefCell::new(BTreeMap::new()) };
}

/// Whether a line of this kind may be written; if so, how many were suppressed since the last.
pub fn allow(kind: &'static str) -> Option<u64> {
    KINDS.with_borrow_mut(|kinds| {
        let now = Instant::now();
        let kind = kinds.entry(kind).or_insert(Kind { begun: now, lines: 0 });
        let mut suppressed = 0;
        if now - kind.begun >= INTERVAL {
            suppressed = kind.lines.saturating_sub(LINES);
            *kind = Kind { begun: now, lines: 0 };
        }
        kind.lines += 1;
        (kind.lines <= LINES).then_some(suppressed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_kind_is_few_lines_and_others_are_written() {
        let written = (0..10_000).filter(|_| allow("flood").is_some()).count() as u64;
        assert!((LINES..=2 * LINES).contains(&written), "{written}");
        assert_eq!(allow("other"), Some(0));
    }
}
