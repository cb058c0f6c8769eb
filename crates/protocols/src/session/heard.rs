//! Datagrams received from the other side, and which of them to report.
//!
//! Where a delay falls by minutes, datagrams arrive in reverse order, and those of several minutes at once.
//! So a report has all new ranges, wherever they are, and repeats each once, as reports are lost too.

use crate::time::{Duration, Instant};
use crate::transport::ranges::{Range, Ranges};
use crate::wire::session::{RUNS_MAX, Report};
use std::collections::BTreeSet;

/// This number of unreported datagrams is reported at once.
const REPORT_AFTER: u32 = 256;
/// ... and each of the first, then this number of the early ones.
const AT_ONCE: u64 = 4;
const EARLY_AFTER: u32 = 4;
const EARLY: u64 = 16;
/// Ranges that were reported once follow after this number of intervals, if no report leaves before.
const AGAIN: i64 = 4;
/// Ranges of numbers that are remembered; of more, the lower half is forgotten.
const RANGES_MAX: usize = 65_536;

/// Datagrams received in one epoch of the other side.
#[derive(Debug, Default)]
pub struct Heard {
    /// The epoch of the other side.
    pub incarnation: Option<u32>,
    numbers: Ranges,
    /// Numbers below this are not remembered.
    floor: u64,
    count: u64,
    highest_at: Instant,
    /// Numbers never reported, and those reported once.
    untold: Ranges,
    told_once: Ranges,
    unreported: u32,
    report_at: Option<Instant>,
    /// Reports that have left.
    reports: u32,
}

impl Heard {
    /// None yet of an epoch of the other side.
    pub fn of(incarnation: u32) -> Self {
        Self { incarnation: Some(incarnation), ..Self::default() }
    }
    /// Whether a datagram did not come before, as far as is remembered.
    pub fn is_new(&self, number: u64) -> bool {
        number >= self.floor && self.numbers.around(number).is_none()
    }
    /// Whether none with a higher number came before.
    pub fn is_newest(&self, number: u64) -> bool {
        self.numbers.last().is_none_or(|(_, behind)| number >= behind)
    }
    /// A datagram came, that carries something or not.
    pub fn on_number(&mut self, now: Instant, number: u64, carries: bool) {
        if self.is_newest(number) {
            self.highest_at = now;
        }
        self.numbers.insert(number, number + 1);
        if carries {
            self.untold.insert(number, number + 1);
        }
        self.count += 1;
        if self.numbers.len() > RANGES_MAX {
            self.floor = self.numbers.iter().nth(RANGES_MAX / 2).map_or(self.floor, |(from, _)| from);
            for known in [&mut self.numbers, &mut self.untold, &mut self.told_once] {
                known.remove_below(self.floor);
            }
        }
    }
    /// Whether a datagram arrived that was not reported twice.
    pub fn has_news(&self) -> bool {
        !(self.untold.is_empty() && self.told_once.is_empty())
    }
    /// Reports that have left, but for those of the first datagrams.
    pub fn reports(&self) -> u32 {
        self.reports.saturating_sub(AT_ONCE as u32)
    }
    /// When a report is due.
    pub fn report_at(&self) -> Option<Instant> {
        self.report_at
    }
    /// A datagram arrived that must be reported within `every`.
    pub fn owe_report(&mut self, now: Instant, every: Duration) {
        self.unreported += 1;
        // The first one says how long a round trip takes, those behind it how fast the link is.
        let most = match self.count {
            0..=AT_ONCE => 1,
            count if count <= EARLY => EARLY_AFTER,
            _ => REPORT_AFTER,
        };
        let at = if self.unreported >= most { now } else { now.saturating_add(every) };
        self.report_at = Some(self.report_at.map_or(at, |other| other.min(at)));
    }
    /// A report that is due leaves within `every`.
    pub fn hurry(&mut self, now: Instant, every: Duration) {
        self.report_at = self.report_at.map(|at| at.min(now.saturating_add(every)));
    }
    /// The report to send now, if any datagram arrived.
    pub fn report(&self, now: Instant) -> Option<Report> {
        let incarnation = self.incarnation?;
        let (_, behind) = self.numbers.last()?;
        let micros = |span: Duration| (span.as_nanos() / 1000).max(0);
        let mut report = Report {
            incarnation,
            highest: behind - 1,
            held_us: micros(now - self.highest_at).unsigned_abs(),
            at_us: micros(now - Instant::ZERO).unsigned_abs(),
            received: self.count,
            runs: Vec::new(),
        };
        report.tell(self.to_tell().into_iter().rev());
        Some(report)
    }
    /// The highest range, then new ones, then those reported once, then others; each as wide as it is known.
    fn to_tell(&self) -> BTreeSet<Range> {
        let mut all = BTreeSet::new();
        let news = self.untold.iter().rev().chain(self.told_once.iter().rev());
        let wide = news.filter_map(|(from, _)| self.numbers.around(from));
        for range in self.numbers.last().into_iter().chain(wide).chain(self.numbers.iter().rev()) {
            if all.len() == RUNS_MAX {
                break;
            }
            all.insert(range);
        }
        all
    }
    /// A datagram has left, with a report if there was one. Ranges without room in it follow at once, those
    /// reported once after some of `every`.
    pub fn on_reported(&mut self, now: Instant, every: Duration) {
        for (from, to) in self.to_tell() {
            let news: Vec<Range> = self.untold.clipped(from, to).collect();
            self.untold.remove(from, to);
            self.told_once.remove(from, to);
            for (from, to) in news {
                self.told_once.insert(from, to);
            }
        }
        self.unreported = 0;
        self.reports = self.reports.saturating_add(1);
        let follows = (!self.told_once.is_empty()).then(|| now.saturating_add(every * AGAIN));
        self.report_at = if self.untold.is_empty() { follows } else { Some(now) };
    }
}
