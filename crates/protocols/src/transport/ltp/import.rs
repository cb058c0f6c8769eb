//! A session of the peer: a block that is being received.

use super::export::{Cancelling, report_head};
use super::{Claim, Config, Data, Refusal, Report, SessionId};
use crate::time::Instant;
use crate::transport::ranges::{Range, Ranges};
use crate::wire::ltp::sdnv;
use std::collections::{BTreeMap, BTreeSet};

/// A report that is not acknowledged.
#[derive(Clone, Debug)]
pub struct UnacknowledgedReport {
    pub report: Box<Report>,
    pub sent_at: Option<Instant>,
    pub tries: u32,
    pub expires: Option<Instant>,
    /// It waits to leave.
    pub queued: bool,
}

/// What a session remembers of bounds and checkpoints, at most.
const REMEMBERED_MOST: usize = 4096;

/// A block that is being received.
pub struct Import {
    pub id: SessionId,
    pub service: u64,
    pub red: Ranges,
    green: Ranges,
    /// Where the red part ends, once that is known.
    pub red_end: Option<u64>,
    /// Where the block ends, once that is known.
    block_end: Option<u64>,
    next_serial: u64,
    /// Upper bounds of primary reports.
    bounds: BTreeSet<u64>,
    /// Checkpoints that were answered, and by which reports: from the first to before the second.
    answered: BTreeMap<u64, Range>,
    /// Lower bounds of reports, by their serial numbers.
    lowers: BTreeMap<u64, u64>,
    pub told: BTreeMap<u64, UnacknowledgedReport>,
    /// What the peer knows to be here.
    known: Ranges,
    /// Red bytes that were here at the last report.
    reported: u64,
    /// Reports in a row that answer repairs and have nothing new.
    pub fruitless: u32,
    /// By the clock of the alarms.
    pub heard_at: Instant,
    pub red_done: bool,
    pub cancelling: Option<Cancelling>,
    pub watches: Watches,
}

/// When the alarms of a session go off.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watches {
    pub idle: Option<Instant>,
    pub unasked: Option<Instant>,
}

impl Import {
    /// Nothing has come but a segment for this service.
    pub fn new(id: SessionId, service: u64, serial: u64, heard_at: Instant) -> Self {
        Self {
            id,
            service,
            red: Ranges::default(),
            green: Ranges::default(),
            red_end: None,
            block_end: None,
            next_serial: serial,
            bounds: BTreeSet::from([0]),
            answered: BTreeMap::new(),
            lowers: BTreeMap::new(),
            told: BTreeMap::new(),
            known: Ranges::default(),
            reported: 0,
            fruitless: 0,
            heard_at,
            red_done: false,
            cancelling: None,
            watches: Watches::default(),
        }
    }
    /// Pieces that it holds.
    pub fn pieces(&self) -> usize {
        self.red.len() + self.green.len() + self.known.len()
    }
    /// Behind the last red byte, as far as is known.
    fn red_above(&self) -> u64 {
        self.red_end.unwrap_or_else(|| self.red.last().map_or(0, |last| last.1))
    }
    /// Whether data can be of this block.
    ///
    /// # Errors
    /// Why not; [`Refusal::Miscolored`] costs the session (section 6.21).
    pub fn believe(&self, data: &Data) -> Result<(), Refusal> {
        if data.service != self.service {
            return Err(Refusal::Contradiction);
        }
        let end = data.end();
        let green_from = self.green.first().map_or(u64::MAX, |first| first.0);
        let miscolored = if data.is_red() { end > green_from } else { data.offset < self.red_above() };
        if miscolored {
            return Err(Refusal::Miscolored);
        }
        let beyond = |bound: Option<u64>| bound.is_some_and(|bound| end > bound);
        if beyond(self.block_end) || (data.is_red() && beyond(self.red_end)) {
            return Err(Refusal::Outside);
        }
        let green_above = self.green.last().map_or(0, |last| last.1);
        let highest = if data.is_red() { self.red_above() } else { green_above };
        let ends_short = |ends: bool, known: Option<u64>| {
            ends && (end < highest || known.is_some_and(|known| known != end))
        };
        if ends_short(data.ends_red(), self.red_end)
            || ends_short(data.ends_block(), self.block_end)
            || (data.ends_block() && end < green_above)
        {
            return Err(Refusal::Contradiction);
        }
        Ok(())
    }
    /// Whether data touch what is here, so that they make no piece of their own.
    pub fn joins(&self, data: &Data) -> bool {
        let here = if data.is_red() { &self.red } else { &self.green };
        here.within(data.offset.saturating_sub(1), data.end().saturating_add(1)) > 0
    }
    /// Takes in data that [`Import::believe`] has passed; calls `tell` with the new ranges.
    pub fn take(&mut self, data: &Data, mut tell: impl FnMut(Range)) {
        if data.ends_red() {
            self.red_end = Some(data.end());
        }
        if data.ends_block() {
            self.block_end = Some(data.end());
        }
        let here = if data.is_red() { &mut self.red } else { &mut self.green };
        let mut at = data.offset;
        while let Some(gap) = here.gap(at, data.end()) {
            tell(gap);
            at = gap.1;
        }
        here.insert(data.offset, data.end());
    }
    /// Whether the red part is here: with the length that it has.
    pub fn red_is_here(&self) -> Option<u64> {
        self.red_end.filter(|end| self.red.total() == *end)
    }
    /// Whether the red part is the whole block.
    pub fn is_red_only(&self) -> bool {
        self.block_end.is_some() && self.block_end == self.red_end
    }
    /// Whether the block is complete, and the peer knows that.
    pub fn is_over(&self) -> bool {
        let Some(end) = self.block_end else { return false };
        let green_only = self.red.is_empty() && self.told.is_empty();
        let green_from = self.red_end.or(green_only.then_some(0));
        let green_is_here = green_from.is_some_and(|from| self.green.total() == end - from);
        let red_is_known = self.red_end.map_or(green_only, |red| self.known.total() == red);
        green_is_here && red_is_known && self.told.is_empty()
    }

    // --- reports ----------------------------------------------------------------------------

    /// Reports that answered a checkpoint, from the first to before the second.
    pub fn answers_to(&self, checkpoint: u64) -> Option<Range> {
        self.answered.get(&checkpoint).copied()
    }
    /// Bytes that these reports do not claim, and bytes in their scope.
    pub fn lacking(&self, (first, behind): Range) -> (u64, u64) {
        let reports = || self.told.range(first..behind).map(|(_, told)| &told.report);
        let claimed: u64 = reports().flat_map(|one| &one.claims).map(|claim| claim.length).sum();
        let scope = reports().map(|one| one.upper - one.lower).sum();
        (scope - claimed, scope)
    }
    /// Whether more has come than was reported.
    pub fn has_news(&self) -> bool {
        self.red.total() > self.reported
    }
    /// Makes the report that a checkpoint asks for (section 6.11), as many segments as it takes; returns
    /// their serial numbers, from the first to before the second.
    ///
    /// # Errors
    /// There would be more than `most`.
    pub fn report_on(&mut self, data: &Data, config: &Config, most: usize) -> Result<Range, Refusal> {
        let Some(checkpoint) = data.checkpoint() else { return Err(Refusal::Undefined) };
        let upper = data.end();
        let lower = match self.lowers.get(&checkpoint.report) {
            // Secondary: where the report began to which the checkpoint is the answer.
            Some(lower) => (*lower).min(data.offset),
            None if checkpoint.report != 0 => 0,
            None => self.primary_lower(upper),
        };
        let secondary = checkpoint.report != 0;
        let news = self.has_news();
        let serials = self.report(checkpoint.serial, (lower, upper), config, most)?;
        self.fruitless = if news || !secondary { 0 } else { self.fruitless + 1 };
        self.answered.insert(checkpoint.serial, serials);
        forget_first(&mut self.answered);
        Ok(serials)
    }
    /// Makes an unsolicited report.
    ///
    /// # Errors
    /// There would be more than `most`.
    pub fn report_unasked(&mut self, config: &Config, most: usize) -> Result<Range, Refusal> {
        let upper = self.red.last().map_or(0, |last| last.1);
        let lower = self.primary_lower(upper);
        self.report(0, (lower, upper), config, most)
    }
    /// Where a primary report begins: where the one before ended.
    fn primary_lower(&mut self, upper: u64) -> u64 {
        let lower = self.bounds.range(..upper).next_back().copied().unwrap_or(0);
        self.bounds.insert(upper);
        if self.bounds.len() > REMEMBERED_MOST {
            self.bounds.pop_first();
        }
        lower
    }
    fn report(
        &mut self,
        checkpoint: u64,
        scope: Range,
        config: &Config,
        most: usize,
    ) -> Result<Range, Refusal> {
        let room = config.segment.saturating_sub(config.extensions + report_head(self.id, scope.1));
        let parts = split(&self.red, scope, room);
        if parts.len() > most {
            return Err(Refusal::Reports);
        }
        self.reported = self.red.total();
        let first = self.next_serial;
        for ((lower, upper), claims) in parts {
            let serial = self.next_serial;
            self.next_serial += 1;
            let report = Box::new(Report { serial, checkpoint, lower, upper, claims });
            self.lowers.insert(serial, lower);
            forget_first(&mut self.lowers);
            self.told.insert(
                serial,
                UnacknowledgedReport { report, sent_at: None, tries: 0, expires: None, queued: false },
            );
        }
        Ok((first, self.next_serial))
    }
    /// A report is acknowledged (section 6.14); gives it back, if it was not before.
    pub fn acknowledge(&mut self, serial: u64) -> Option<UnacknowledgedReport> {
        let told = self.told.remove(&serial)?;
        for (from, to) in told.report.ranges() {
            self.known.insert(from, to);
        }
        Some(told)
    }
}

fn forget_first<V>(map: &mut BTreeMap<u64, V>) {
    if map.len() > REMEMBERED_MOST {
        map.pop_first();
    }
}

/// Cuts what is here of a scope into reports whose claims take at most `room` bytes each; one claim at
/// least fits each.
fn split(here: &Ranges, (lower, upper): Range, room: u64) -> Vec<(Range, Vec<Claim>)> {
    let mut parts: Vec<(Range, Vec<Claim>)> = Vec::new();
    let (mut begin, mut claims, mut left) = (lower, Vec::new(), room);
    for (from, to) in here.clipped(lower, upper) {
        let size = |begin: u64| (sdnv::length(from - begin) + sdnv::length(to - from)) as u64;
        if size(begin) > left && !claims.is_empty() {
            parts.push(((begin, from), std::mem::take(&mut claims)));
            (begin, left) = (from, room);
        }
        left = left.saturating_sub(size(begin));
        claims.push(Claim { offset: from - begin, length: to - from });
    }
    parts.push(((begin, upper), claims));
    parts
}
