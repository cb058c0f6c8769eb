//! The part of a direction that is in flight: sent, and not yet acknowledged.
//!
//! Sequence numbers have no wraps here ([`super::tcp_header::Unwrap`]) and count whatever the transport
//! numbers: bytes in TCP, packets in DCCP.

use std::collections::VecDeque;

/// Pieces that are remembered at most; the oldest are forgotten as if acknowledged.
const PIECES_MAX: usize = 65_536;
/// Acknowledged ranges that were never captured and are remembered at most; the lowest are forgotten.
const UNSEEN_MAX: usize = 1_024;

/// A piece of the space of sequence numbers that was sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    from: u64,
    to: u64,
    /// Of its last transmission.
    sent_ns: i64,
    again: u32,
    /// Acknowledged in part: its time means nothing any more.
    split: bool,
    arrived: bool,
}

/// What became of a transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// How much of it had been sent before.
    pub again: u64,
    /// It fills a gap below what was captured: it was overtaken.
    pub late: bool,
    /// Of what is sent again: the transmission before, if it is still known.
    pub before_ns: Option<i64>,
}

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// It acknowledges something new, cumulatively.
    pub progress: bool,
    /// Time since the piece that it ends with was sent, if that is not ambiguous (Karn and Partridge 1987).
    pub rtt_ns: Option<i64>,
    /// It ends with a piece that was sent several times.
    pub ambiguous: bool,
}

/// Pieces in flight, by sequence number; they don't overlap.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    pieces: VecDeque<Piece>,
    /// All below has been acknowledged.
    acked: u64,
    /// Behind the highest that was sent.
    next: u64,
    /// Of pieces that arrived beyond what is acknowledged.
    arrived: u64,
    arrived_pieces: u64,
    /// Newest transmission of what is acknowledged.
    newest_acked_ns: i64,
    /// The times of what lies below are those of another clock.
    untimed_below: u64,
    /// Of numbered packets the greatest that arrived, greatest first.
    foremost: Vec<u64>,
    blocks: Vec<(u64, u64)>,
    /// Ranges below `acked` that were acknowledged before they were captured, if they were captured at all.
    unseen: VecDeque<(u64, u64)>,
    /// Behind the highest that was captured.
    seen: u64,
    started: bool,
    /// Pieces were forgotten, as there were too many.
    pub forgot: bool,
}

impl Flight {
    /// From the lowest unacknowledged number to behind the highest sent.
    #[inline]
    pub fn outstanding(&self) -> u64 {
        self.next.saturating_sub(self.acked)
    }
    /// The same in pieces, without those that are known to have arrived.
    #[inline]
    pub fn pieces(&self) -> u64 {
        self.pieces.len() as u64 - self.arrived_pieces
    }
    /// Numbers beyond the cumulative acknowledgement that are known to have arrived.
    #[inline]
    pub fn arrived(&self) -> u64 {
        self.arrived
    }
    /// Behind the highest that was sent.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// [from, to) is sent.
    #[inline]
    pub fn send(&mut self, from: u64, to: u64, now_ns: i64) -> Sending {
        if !self.started {
            (self.started, self.acked, self.next, self.seen) = (true, from, from, from);
            self.unseen.push_back((0, from));
        }
        let piece = Piece { from, to, sent_ns: now_ns, again: 0, split: false, arrived: false };
        if from >= self.next {
            self.pieces.push_back(piece);
            (self.next, self.seen) = (to, to);
            if self.pieces.len() > PIECES_MAX {
                self.forget();
            }
            return Sending::default();
        }
        self.send_within(piece)
    }

    #[cold]
    fn send_within(&mut self, mut piece: Piece) -> Sending {
        let mut made = Sending::default();
        if piece.from < self.acked {
            let end = piece.to.min(self.acked);
            made.again += end - piece.from - self.capture_late(piece.from, end, &mut made.late);
            self.newest_acked_ns = self.newest_acked_ns.max(piece.sent_ns);
            piece.from = end;
        }
        let seen = self.seen.max(piece.to);
        let mut index = self.pieces.partition_point(|known| known.to <= piece.from);
        while piece.from < piece.to {
            match self.pieces.get_mut(index) {
                Some(known) if known.from <= piece.from => {
                    let end = piece.to.min(known.to);
                    made.again += end - piece.from;
                    made.before_ns = made.before_ns.max(Some(known.sent_ns));
                    known.again += 1;
                    known.sent_ns = piece.sent_ns;
                    piece.from = end;
                }
                known => {
                    let end = known.map_or(piece.to, |known| known.from.min(piece.to));
                    made.late |= piece.from < self.seen;
                    self.pieces.insert(index, Piece { to: end, ..piece });
                    self.next = self.next.max(end);
                    piece.from = end;
                }
            }
            index += 1;
        }
        self.seen = seen;
        made
    }

    /// Captures [from, to) after its acknowledgement; returns how much of it was not captured before, and sets `late` where
    /// later numbers were.
    fn capture_late(&mut self, from: u64, to: u64, late: &mut bool) -> u64 {
        let mut fresh = 0;
        let first = self.unseen.partition_point(|range| range.1 <= from);
        let mut rest = Vec::new();
        let mut past = first;
        while let Some(&(begin, end)) = self.unseen.get(past).filter(|range| range.0 < to) {
            fresh += end.min(to) - begin.max(from);
            *late |= begin.max(from) < self.seen;
            rest.extend([(begin, from), (to, end)].into_iter().filter(|part| part.0 < part.1));
            past += 1;
        }
        self.unseen.drain(first..past);
        rest.into_iter().rev().for_each(|part| self.unseen.insert(first, part));
        self.bound_unseen();
        fresh
    }

    /// [from, to) was acknowledged but not captured.
    fn miss(&mut self, from: u64, to: u64) {
        if from < to {
            self.unseen.push_back((from, to));
            self.bound_unseen();
        }
    }

    fn bound_unseen(&mut self) {
        while self.unseen.len() > UNSEEN_MAX {
            self.unseen.pop_front();
        }
    }

    /// All below `to` has arrived.
    #[inline]
    pub fn acknowledge(&mut self, to: u64, now_ns: i64) -> Acked {
        let mut made = Acked::default();
        if to <= self.acked || !self.started {
            return made;
        }
        made.progress = true;
        // What was never seen being sent may still be acknowledged: the capture missed it.
        let mut covered = self.acked;
        self.acked = to;
        self.next = self.next.max(to);
        while let Some(first) = self.pieces.front().copied() {
            self.miss(covered, first.from.min(to));
            covered = covered.max(first.to);
            let Some(first) = self.pieces.front_mut() else { break };
            if first.to > to {
                if first.from < to {
                    self.arrived -= if first.arrived { to - first.from } else { 0 };
                    first.from = to;
                    first.split = true;
                }
                break;
            }
            let first = *first;
            self.pieces.pop_front();
            if first.arrived {
                self.arrived -= first.to - first.from;
                self.arrived_pieces -= 1;
            }
            if first.sent_ns <= now_ns {
                self.newest_acked_ns = self.newest_acked_ns.max(first.sent_ns);
            }
            if first.to == to && !first.split {
                let overtaken = self.newest_acked_ns > first.sent_ns;
                made.ambiguous = first.again > 0;
                let timed = first.from >= self.untimed_below;
                made.rtt_ns = (!made.ambiguous && !overtaken && timed).then_some(now_ns - first.sent_ns);
            }
        }
        self.miss(covered, to);
        made
    }

    /// The clock was set: earlier transmissions give no round trip.
    pub fn forget_times(&mut self, now_ns: i64) {
        self.untimed_below = self.next;
        self.newest_acked_ns = self.newest_acked_ns.min(now_ns);
    }

    /// [from, to) has arrived beyond what is acknowledged; whether that is news.
    pub fn arrive(&mut self, from: u64, to: u64) -> bool {
        let (from, to) = (from.max(self.acked), to.min(self.next));
        if from >= to {
            return false;
        }
        // Blocks are repeated as they grow: only what is new of them is walked.
        let start = self.known_up_to(from, to);
        let index = self.pieces.partition_point(|piece| piece.from < start);
        let mut news = false;
        for piece in self.pieces.range_mut(index..) {
            if piece.to > to {
                break;
            }
            if !piece.arrived {
                piece.arrived = true;
                self.arrived += piece.to - piece.from;
                self.arrived_pieces += 1;
                news = true;
            }
        }
        news
    }

    fn known_up_to(&mut self, from: u64, to: u64) -> u64 {
        let acked = self.acked;
        self.blocks.retain(|block| block.1 > acked);
        if let Some(block) = self.blocks.iter_mut().find(|block| block.0 <= from && from <= block.1) {
            let known = block.1.min(to);
            block.1 = block.1.max(to);
            return known;
        }
        if self.blocks.len() == 8 {
            self.blocks.remove(0);
        }
        self.blocks.push((from, to));
        from
    }

    #[cold]
    fn forget(&mut self) {
        self.forgot = true;
        if let Some(first) = self.pieces.pop_front() {
            self.arrived_pieces -= u64::from(first.arrived);
            self.arrived -= if first.arrived { first.to - first.from } else { 0 };
            self.acked = self.acked.max(first.to);
        }
    }

    /// Numbered packets [from, to) have arrived, by any report: `most` of the greatest are remembered.
    pub fn note_foremost(&mut self, from: u64, to: u64, most: usize) {
        for number in (from..to).rev().take(most) {
            if self.foremost.len() == most && self.foremost.last().is_some_and(|least| *least > number) {
                return;
            }
            let at = self.foremost.partition_point(|known| *known > number);
            if self.foremost.get(at) != Some(&number) {
                self.foremost.insert(at, number);
                self.foremost.truncate(most);
            }
        }
    }

    /// The greatest numbered packets that arrived, greatest first.
    #[inline]
    pub fn foremost(&self) -> &[u64] {
        &self.foremost
    }

    /// Settles all below `to`: `missing` is called for each piece not known to have arrived, and all are
    /// forgotten. For transports that never send again.
    pub fn settle(&mut self, to: u64, mut missing: impl FnMut(u64)) {
        while let Some(first) = self.pieces.front().copied().filter(|first| first.to <= to) {
            if first.arrived {
                self.arrived -= first.to - first.from;
                self.arrived_pieces -= 1;
            } else {
                missing(first.from);
            }
            self.acked = self.acked.max(first.to);
            self.pieces.pop_front();
        }
    }

    /// When the piece that begins here was sent, if it was sent once and is still in flight.
    pub fn sent_at(&self, from: u64) -> Option<i64> {
        let index = self.pieces.partition_point(|piece| piece.from < from);
        let is_timed = |piece: &&Piece| piece.from == from && piece.again == 0 && from >= self.untimed_below;
        self.pieces.get(index).filter(is_timed).map(|piece| piece.sent_ns)
    }
}
