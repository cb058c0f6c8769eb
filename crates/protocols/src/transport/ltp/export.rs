//! A session of our own: a block that is being sent.

use super::repair::Repair;
use super::{Checkpoint, Checkpoints, Color, Config, Data, Ends, Refusal, Report, Segment, SessionId};
use crate::time::{Duration, Instant};
use crate::transport::ranges::{Range, Ranges};
use crate::wire::ltp::{Content, Reason, sdnv};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A session that is being given up.
#[derive(Clone, Copy, Debug)]
pub struct Cancelling {
    pub reason: Reason,
    pub tries: u32,
    pub expires: Option<Instant>,
    /// It waits to leave for the first time, or because no acknowledgement came.
    pub queued: bool,
}

impl Cancelling {
    /// A session that must be cancelled.
    pub fn new(reason: Reason) -> Self {
        Self { reason, tries: 0, expires: None, queued: true }
    }
}

/// A checkpoint whose report has not come.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The segment, to be sent again as it was.
    pub data: Data,
    /// Repairs that left with it.
    repairs: Vec<Range>,
    /// How many bytes these are.
    bytes: u64,
    pub sent_at: Instant,
    pub tries: u32,
    pub expires: Option<Instant>,
    /// It waits to leave again.
    pub queued: bool,
    /// The data that had left with it.
    pub marks: Marks,
    /// Where the reports on it begin, and what they have covered.
    from: u64,
    covered: Ranges,
    /// What was acknowledged when it left first: a receiver that claims less of it has lost it.
    acked: Arc<Ranges>,
}

/// How far an engine was when something left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Segments of data that had left.
    pub order: u64,
    /// Red bytes that had left.
    pub left: u64,
    /// Bytes that had been delivered.
    pub delivered: u64,
}

impl Asked {
    /// Whether reports on it are here from its beginning to its end.
    fn is_answered(&self) -> bool {
        self.is_answered_in_part() || self.covered.gap(self.from, self.data.end()).is_none()
    }
    /// A peer that leaves something out, though it was asked three times, is not waited for.
    pub fn is_answered_in_part(&self) -> bool {
        self.tries > 2 && !self.covered.is_empty()
    }
}

/// Result of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Bytes acknowledged for the first time.
    pub acked: u64,
    /// Bytes newly found lost.
    pub lost: u64,
    /// Bytes that no earlier report covered.
    pub told: u64,
    /// Bytes that are no longer in flight.
    pub landed: u64,
    /// What is lost was a repair.
    pub repair: bool,
    /// Between a checkpoint that left once and this.
    pub rtt: Option<Duration>,
    /// Of the checkpoint.
    pub marks: Option<Marks>,
    /// When its timer would go off, and its serial number.
    pub timer: Option<(Option<Instant>, u64)>,
}

/// A segment of data that leaves.
pub struct OutgoingSegment {
    pub data: Data,
    pub repair: bool,
    /// It was sent before, and its loss is not known.
    pub copy: bool,
    /// The last of the block leaves for the first time.
    pub last: bool,
}

/// A block that is being sent.
pub struct Export {
    pub id: SessionId,
    service: u64,
    red: u64,
    total: u64,
    /// Most data of a segment.
    pub payload: u64,
    checkpoints: Checkpoints,
    /// End of the data sent at least once.
    next: u64,
    acked: Arc<Ranges>,
    /// Red bytes that some report has covered.
    reported: Ranges,
    /// What reports have covered of which nothing could be repaired yet.
    deferred: Ranges,
    /// Bytes that wait to be repaired, or whose repair is in flight.
    pending: Ranges,
    repairs: VecDeque<Repair>,
    /// Repairs that reports have asked for so far.
    pub rounds: u32,
    pub asked: BTreeMap<u64, Asked>,
    first_serial: u64,
    next_serial: u64,
    /// Serial numbers of reports that were read.
    heard: Ranges,
    last_heard: u64,
    since_checkpoint: u64,
    /// Reports in a row without anything new.
    pub fruitless: u32,
    pub cancelling: Option<Cancelling>,
    pub stalled: Option<Instant>,
}

/// Runs of serial numbers of reports that are remembered.
const HEARD_MOST: usize = 1024;

impl Export {
    /// A block with these numbers of red and green bytes. `None` where headers leave no room for data.
    pub fn new(
        id: SessionId,
        service: u64,
        [red, green]: [u64; 2],
        serial: u64,
        config: &Config,
    ) -> Option<Self> {
        let total = red + green;
        // The largest serial numbers that a session of this size can come to, with room to spare.
        let checkpoint = Checkpoint { serial: 1 << 34, report: 1 << 34, ends: Ends::Block };
        let length = config.segment.min(total);
        let data = Data { service, offset: total, length, color: Color::Red(Some(checkpoint)) };
        let head = Segment { session: id, content: Content::Data(data) }.head_size();
        let payload =
            config.segment.saturating_sub(config.extensions).checked_sub(head).filter(|room| *room > 0)?;
        Some(Self {
            service,
            red,
            total,
            payload,
            checkpoints: config.checkpoints,
            first_serial: serial,
            next_serial: serial,
            ..Self::empty(id)
        })
    }
    /// What is left of a session that is given up: its name.
    pub fn cancelled(id: SessionId, reason: Reason) -> Self {
        Self { cancelling: Some(Cancelling::new(reason)), ..Self::empty(id) }
    }
    fn empty(id: SessionId) -> Self {
        Self {
            id,
            service: 0,
            red: 0,
            total: 0,
            payload: 0,
            checkpoints: Checkpoints::Anywhere,
            next: 0,
            acked: Arc::default(),
            reported: Ranges::default(),
            deferred: Ranges::default(),
            pending: Ranges::default(),
            repairs: VecDeque::new(),
            rounds: 0,
            asked: BTreeMap::new(),
            first_serial: 1,
            next_serial: 1,
            heard: Ranges::default(),
            last_heard: 0,
            since_checkpoint: 0,
            fruitless: 0,
            cancelling: None,
            stalled: None,
        }
    }
    /// Red bytes in flight.
    pub fn in_flight(&self) -> u64 {
        let repairs: u64 = self.asked.values().map(|asked| asked.bytes).sum();
        self.next.min(self.red).saturating_sub(self.reported.total()) + repairs + self.repairing()
    }
    /// Bytes sent of the repair in progress.
    fn repairing(&self) -> u64 {
        self.repairs.front().map_or(0, |repair| repair.left.iter().map(|range| range.1 - range.0).sum())
    }
    /// Whether it is one segment: then a report on it says all.
    pub fn is_single(&self) -> bool {
        self.total <= self.payload
    }
    /// Red bytes that are there.
    pub fn acked(&self) -> u64 {
        self.acked.total()
    }
    /// Whether something has left.
    pub fn has_begun(&self) -> bool {
        self.next > 0
    }
    /// Whether all has left once.
    pub fn has_left(&self) -> bool {
        self.next == self.total
    }
    /// Whether all has left and the red part is there.
    pub fn is_complete(&self) -> bool {
        self.has_left() && self.acked.total() == self.red
    }
    /// Whether repairs may leave now.
    pub fn wants_repair(&self) -> bool {
        // The checkpoint at the end of a repair waits for all reports on the one before.
        let may_end = self.checkpoints == Checkpoints::Anywhere || self.asked.is_empty();
        self.repairs.front().is_some_and(|repair| may_end || repair.has_more(self.payload))
    }
    /// Nothing is in flight, nothing waits to leave, and something is missing.
    pub fn is_stalled(&self) -> bool {
        self.cancelling.is_none()
            && self.has_left()
            && !self.is_complete()
            && self.asked.is_empty()
            && self.repairs.is_empty()
    }
    /// Everything missing is sent again, although no report has asked for it.
    pub fn repair_all(&mut self) {
        let gaps: VecDeque<Range> = self.missing(0, self.red);
        if !gaps.is_empty() {
            self.await_repairs(&gaps);
            let report = match self.checkpoints {
                Checkpoints::Anywhere => (self.last_heard, 0),
                Checkpoints::AtEnds => (0, 0),
            };
            self.repairs.push_back(Repair::new(gaps, report));
        }
    }
    fn await_repairs(&mut self, gaps: &VecDeque<Range>) {
        for gap in gaps {
            self.pending.insert(gap.0, gap.1);
        }
    }
    /// Of what was reported on, what has not come and is not being repaired.
    fn missing(&self, lower: u64, upper: u64) -> VecDeque<Range> {
        let mut gaps = VecDeque::new();
        let mut at = lower;
        while let Some((from, to)) = self.acked.gap(at, upper) {
            let mut inner = from;
            while let Some(gap) = self.pending.gap(inner, to) {
                gaps.push_back(gap);
                inner = gap.1;
            }
            at = to;
        }
        gaps
    }

    // --- reports ----------------------------------------------------------------------------

    /// Whether the report was read before.
    pub fn has_heard(&self, serial: u64) -> bool {
        self.heard.around(serial).is_some()
    }
    /// Whether a report can be true of what was sent.
    fn believe(&self, report: &Report) -> Result<(), Refusal> {
        if report.upper > self.next.min(self.red) {
            return Err(Refusal::NeverSent);
        }
        if report.checkpoint != 0 && !(self.first_serial..self.next_serial).contains(&report.checkpoint) {
            return Err(Refusal::NeverAsked);
        }
        if self.heard.len() >= HEARD_MOST {
            return Err(Refusal::Reports);
        }
        Ok(())
    }
    /// A report that was not read before (section 6.13).
    ///
    /// # Errors
    /// Why it cannot be true; then nothing has changed.
    pub fn hear(&mut self, now: Instant, report: &Report) -> Result<Answer, Refusal> {
        self.believe(report)?;
        let before = self.in_flight();
        self.heard.insert(report.serial, report.serial.saturating_add(1));
        self.last_heard = report.serial;
        let mut answer = Answer::default();
        let lost_again = self.lost_again(report);
        if let Some(asked) = self.asked.get_mut(&report.checkpoint) {
            for range in &asked.repairs {
                self.pending.remove(range.0, range.1);
            }
            let is_first = asked.covered.is_empty();
            answer.rtt = Some(now - asked.sent_at).filter(|_| asked.tries == 1 && is_first);
            answer.marks = Some(asked.marks);
            answer.repair = !asked.repairs.is_empty();
            asked.covered.insert(report.lower, report.upper);
            (asked.repairs, asked.bytes) = (Vec::new(), 0);
            if self.checkpoints == Checkpoints::Anywhere || asked.is_answered() {
                answer.timer = Some((asked.expires, report.checkpoint));
                self.asked.remove(&report.checkpoint);
            }
        }
        let acked = Arc::make_mut(&mut self.acked);
        for (from, to) in lost_again {
            acked.remove(from, to);
        }
        answer.acked = report.ranges().map(|(from, to)| acked.insert(from, to)).sum();
        answer.told = self.reported.insert(report.lower, report.upper);
        self.deferred.insert(report.lower, report.upper);
        // Before the end of the red part no repair may ask.
        let waits = self.checkpoints == Checkpoints::AtEnds && self.next < self.red;
        let mut gaps = VecDeque::new();
        if !waits {
            let scopes = std::mem::take(&mut self.deferred);
            scopes.iter().for_each(|(lower, upper)| gaps.extend(self.missing(lower, upper)));
        }
        answer.lost = gaps.iter().map(|gap| gap.1 - gap.0).sum();
        self.fruitless = if answer.acked > 0 { 0 } else { self.fruitless + 1 };
        if !gaps.is_empty() {
            self.await_repairs(&gaps);
            self.add_repair(gaps, (report.serial, report.lower));
        }
        answer.landed = before.saturating_sub(self.in_flight());
        Ok(answer)
    }

    /// What the receiver had when it was asked and does not claim now: it has been restarted.
    fn lost_again(&self, report: &Report) -> Vec<Range> {
        let Some(asked) = self.asked.get(&report.checkpoint) else { return Vec::new() };
        let (mut lost, mut at) = (Vec::new(), report.lower);
        for (from, to) in report.ranges().chain([(report.upper, report.upper)]) {
            lost.extend(asked.acked.clipped(at, from));
            at = at.max(to);
        }
        lost
    }
    /// No more of a series of reports came. What they do not claim is repaired; the checkpoint at the end asks for the rest
    /// as well. Returns false if there is nothing to repair.
    pub fn take_part(&mut self, serial: u64) -> bool {
        let is_part = self.asked.get(&serial).is_some_and(|asked| !asked.covered.is_empty());
        let Some(repair) = self.repairs.front_mut().filter(|_| is_part) else { return false };
        repair.report = (0, 0);
        self.asked.remove(&serial);
        true
    }
    fn add_repair(&mut self, gaps: VecDeque<Range>, report: (u64, u64)) {
        let open = self.repairs.back_mut().filter(|repair| !repair.copying);
        match open.filter(|_| self.checkpoints == Checkpoints::AtEnds) {
            Some(repair) => repair.join(gaps, report),
            None => {
                self.rounds += 1;
                self.repairs.push_back(Repair::new(gaps, report));
            }
        }
    }
    /// Decides how often rows of repairs leave that have not begun to: by how many segments they are, and how
    /// many bytes.
    pub fn decide_rows(&mut self, rows: impl Fn(u64, u64) -> u32) {
        for repair in self.repairs.iter_mut().filter(|repair| repair.rows.is_none()) {
            let lengths = || repair.gaps.iter().map(|gap| gap.1 - gap.0);
            let segments = lengths().map(|length| length.div_ceil(self.payload)).sum();
            repair.rows = Some(rows(segments, lengths().sum()));
        }
    }

    // --- sending ----------------------------------------------------------------------------

    /// Bytes of the next segment of data.
    pub fn next_length(&self) -> u64 {
        let (from, to) = self.next_range();
        to - from
    }
    fn next_range(&self) -> Range {
        let repair = self.repairs.front().filter(|_| self.wants_repair());
        if let Some(&(from, to)) = repair.and_then(|repair| repair.gaps.front()) {
            return (from, to.min(from + self.payload));
        }
        let end = if self.next < self.red { self.red } else { self.total };
        (self.next, end.min(self.next + self.payload))
    }
    /// Whether the next segment is red, so that somebody answers for it.
    pub fn next_is_red(&self) -> bool {
        self.wants_repair() || self.next < self.red
    }
    /// Whether it is a copy of a repair, which counts as in flight already.
    pub fn next_is_copy(&self) -> bool {
        self.wants_repair() && self.repairs.front().is_some_and(|repair| repair.copying)
    }
    /// The next segment of data; `ask`: it must be a checkpoint in any case.
    pub fn leave(&mut self, config: &Config, ask: bool) -> OutgoingSegment {
        let ((from, to), repairs) = (self.next_range(), self.wants_repair());
        match self.repairs.front_mut().filter(|_| repairs) {
            Some(repair) => {
                let copy = repair.copying;
                let ends = repair.leave((from, to)) || ask;
                let rest = if ask { repair.cut() } else { None };
                rest.into_iter().for_each(|rest| self.repairs.insert(1, rest));
                OutgoingSegment { data: self.repair_data((from, to), ends), repair: true, copy, last: false }
            }
            None => self.leave_fresh((from, to), config, ask),
        }
    }
    fn repair_data(&mut self, (from, to): Range, ends: bool) -> Data {
        let report = self.repairs.front().map_or(0, |repair| repair.report.0);
        let checkpoint = ends.then(|| self.checkpoint(to, report));
        self.data((from, to), Color::Red(checkpoint))
    }
    fn leave_fresh(&mut self, (from, to): Range, config: &Config, ask: bool) -> OutgoingSegment {
        self.next = to;
        let last = to == self.total;
        if from >= self.red {
            let data = self.data((from, to), Color::Green { ends_block: last });
            return OutgoingSegment { data, repair: false, copy: false, last };
        }
        self.since_checkpoint += to - from;
        let due = self.checkpoints == Checkpoints::Anywhere
            && config.checkpoint_every.is_some_and(|every| self.since_checkpoint >= every);
        let checkpoint = (ask || due || to == self.red).then(|| self.checkpoint(to, 0));
        if checkpoint.is_some() {
            self.since_checkpoint = 0;
        }
        let data = self.data((from, to), Color::Red(checkpoint));
        OutgoingSegment { data, repair: false, copy: false, last }
    }
    fn data(&self, (from, to): Range, color: Color) -> Data {
        Data { service: self.service, offset: from, length: to - from, color }
    }
    fn checkpoint(&mut self, to: u64, report: u64) -> Checkpoint {
        let serial = self.next_serial;
        self.next_serial += 1;
        let ends = match to {
            to if to == self.total => Ends::Block,
            to if to == self.red => Ends::Red,
            _ => Ends::Nothing,
        };
        Checkpoint { serial, report, ends }
    }
    /// A checkpoint has left for the first time.
    pub fn ask(&mut self, now: Instant, data: Data, serial: u64, marks: Marks) {
        let ends_repair = self.repairs.front().is_some_and(|repair| repair.gaps.is_empty());
        let repair = if ends_repair { self.repairs.pop_front() } else { None };
        let is_reported = || self.deferred.gap(0, data.end()).map_or(0, |gap| gap.0);
        let from = repair.as_ref().map_or_else(is_reported, |repair| repair.report.1);
        let repairs = repair.map_or_else(Vec::new, |repair| repair.left);
        let bytes = repairs.iter().map(|range| range.1 - range.0).sum();
        let asked = Asked {
            data,
            repairs,
            bytes,
            sent_at: now,
            tries: 1,
            expires: None,
            queued: false,
            marks,
            from,
            covered: Ranges::default(),
            acked: self.acked.clone(),
        };
        self.asked.insert(serial, asked);
    }
}

/// First serial number: random, as RFC 5326, section 3.2.1, requires, and short.
pub fn first_serial(draws: &mut crate::rng::Stream) -> u64 {
    1 + draws.below((1 << 14) - 1)
}

/// Bytes of the largest report segment without claims, by the numbers of a block of `block` bytes.
pub fn report_head(session: SessionId, block: u64) -> u64 {
    let numbers = 2 * sdnv::length(1 << 34) + 2 * sdnv::length(block) + sdnv::length(1 << 20);
    (2 + sdnv::length(session.originator) + sdnv::length(session.number) + numbers) as u64
}
