//! What a report does not claim, and how often it leaves again.

use crate::transport::ranges::Range;
use std::collections::VecDeque;

/// Repair of the data that a report does not claim.
#[derive(Debug)]
pub struct Repair {
    pub gaps: VecDeque<Range>,
    /// The report that the checkpoint at its end answers, and where that report began.
    pub report: (u64, u64),
    /// Segments that have left, each once.
    pub left: Vec<Range>,
    /// How often this series must still be sent; `None`: not decided.
    pub rows: Option<u32>,
    /// All have left once.
    pub copying: bool,
}

impl Repair {
    /// Of what the report with this serial number, which begins there, does not claim.
    pub fn new(gaps: VecDeque<Range>, report: (u64, u64)) -> Self {
        Self { gaps, report, left: Vec::new(), rows: None, copying: false }
    }
    /// Takes in what another report of a series does not claim. The highest bytes leave last: the report on the
    /// checkpoint there covers them all.
    pub fn join(&mut self, gaps: VecDeque<Range>, report: (u64, u64)) {
        self.gaps.extend(gaps);
        self.gaps.make_contiguous().sort_unstable();
        if report.1 < self.report.1 {
            self.report = report;
        }
    }
    /// Whether more than one segment of `payload` bytes remains.
    pub fn has_more(&self, payload: u64) -> bool {
        self.gaps.len() > 1 || self.gaps.front().is_some_and(|gap| gap.1 - gap.0 > payload)
    }
    /// Ends the repair after its segments sent so far; returns a repair of the rest, if any.
    pub fn cut(&mut self) -> Option<Self> {
        let gaps = std::mem::take(&mut self.gaps);
        let rest = Self { rows: self.rows, ..Self::new(gaps, self.report) };
        // Copies are not missed.
        (!self.copying && !rest.gaps.is_empty()).then_some(rest)
    }
    /// The first range is sent; returns whether nothing remains to send.
    pub fn leave(&mut self, (from, to): Range) -> bool {
        if !self.copying {
            self.left.push((from, to));
        }
        if let Some(gap) = self.gaps.front_mut() {
            gap.0 = to;
            if gap.0 == gap.1 {
                self.gaps.pop_front();
            }
        }
        let rows = self.rows.unwrap_or(1);
        if self.gaps.is_empty() && rows > 1 {
            // A burst of losses in one series spares the next one.
            self.gaps = self.left.iter().copied().collect();
            (self.rows, self.copying) = (Some(rows - 1), true);
        }
        self.gaps.is_empty()
    }
}
