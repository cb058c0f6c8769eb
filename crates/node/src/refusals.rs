//! Lines about refusals: of each kind one an interval, with a count of the others. A host that can reach the
//! port must not be able to fill a disk with our log.

use crate::transfer::Event;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Each kind has at most one line in this time.
const INTERVAL: Duration = Duration::from_secs(10);
/// Most kinds that are counted separately; all others are one.
const KINDS_MOST: usize = 32;

/// What was refused lately, by kind: a line without its numbers, which are addresses and sizes.
#[derive(Default)]
pub struct Refusals(BTreeMap<String, (Instant, u64)>);

impl Refusals {
    /// Passes an event on, or counts it.
    pub fn pass(&mut self, event: Event, watch: &mut dyn FnMut(Event) -> bool) -> bool {
        match event {
            Event::Refused(line) => self.admit(line).is_none_or(|line| watch(Event::Refused(line))),
            Event::Began(name, length, resumed, from) => {
                let mut kind = format!("{name} begins: {from}");
                kind.truncate(kind.rfind(':').unwrap_or(kind.len()));
                let is_new = self.admit(kind).is_some();
                !is_new || watch(Event::Began(name, length, resumed, from))
            }
            event => watch(event),
        }
    }
    /// The line, if it may be printed now.
    pub fn admit(&mut self, line: String) -> Option<String> {
        self.admit_at(line, Instant::now())
    }
    fn admit_at(&mut self, line: String, now: Instant) -> Option<String> {
        let mut kind: String =
            line.chars().filter(|c| !(c.is_ascii_hexdigit() || ".:[]".contains(*c))).collect();
        if self.0.len() >= KINDS_MOST && !self.0.contains_key(&kind) {
            kind.clear();
        }
        let Some((at, more)) = self.0.get_mut(&kind) else {
            self.0.insert(kind, (now, 0));
            return Some(line);
        };
        if now.duration_since(*at) < INTERVAL {
            *more += 1;
            return None;
        }
        *at = now;
        match std::mem::take(more) {
            0 => Some(line),
            more => Some(format!("{line}; {more} more like it since the last such line")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_of_refusals_there_is_one_line_an_interval_and_a_count() {
        let (mut refusals, start) = (Refusals::default(), Instant::now());
        let mut lines = Vec::new();
        for n in 0..24_431_u32 {
            let at = start + Duration::from_millis(u64::from(n) % 9);
            lines.extend(refusals.admit_at(format!("10.0.{}.7:{n}: no contact header", n % 256), at));
        }
        lines.extend(refusals.admit_at("[::1]:9: no contact header".to_owned(), start + INTERVAL * 2));
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[1].ends_with("; 24430 more like it since the last such line"), "{lines:?}");
    }

    #[test]
    fn kinds_that_a_peer_invents_are_bounded() {
        let (mut refusals, now) = (Refusals::default(), Instant::now());
        let admitted = (0..1000).filter(|n| refusals.admit_at("x".repeat(*n), now).is_some()).count();
        assert!(admitted <= KINDS_MOST + 1 && refusals.0.len() <= KINDS_MOST + 1, "{admitted}");
    }
}
