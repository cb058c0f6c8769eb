//! What was sent and is not known to have arrived.

use crate::time::{Duration, Instant};
use crate::wire::dccp::{Received, RunOfPackets, Sequence};
use std::collections::VecDeque;

/// Packets that are remembered at most; older ones count as lost.
pub const FLIGHT_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Waiting,
    Arrived,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    /// Bytes of data, if it is a data packet.
    data: Option<u32>,
    /// Data packets sent before.
    ordinal: u64,
    /// The window counter of then.
    counter: u64,
    fate: Fate,
}

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct News {
    /// Data packets that are known to have arrived, for the first time.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the acknowledged packet itself was sent, if it is among those that are new.
    pub newest_sent_at: Option<Instant>,
    /// The window counter when it was.
    pub newest_counter: Option<u64>,
    /// The greatest of those that arrived with a mark.
    pub marked: Option<Sequence>,
    /// How many did.
    pub marks: u64,
}

/// Data packets newly counted as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lost {
    /// How many.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The greatest number among them.
    pub last: Option<Sequence>,
}

/// A data packet that was lost or marked.
#[derive(Clone, Copy, Debug)]
struct Congested {
    sequence: Sequence,
    sent_at: Instant,
    /// When the packet left whose acknowledgement shows it, unless acknowledgements are lost.
    shown_by: Instant,
}

/// All packets in flight.
#[derive(Debug)]
pub struct Flight {
    /// The number of the first that is remembered.
    first: Sequence,
    packets: VecDeque<Sent>,
    /// Data packets in flight, and their bytes.
    pipe: u64,
    pipe_bytes: u64,
    /// The greatest packets that have arrived, greatest first, up to `duplicates`: packets before them are
    /// lost.
    foremost: Vec<Sequence>,
    duplicates: usize,
    /// What the acknowledgement that is being read found lost or marked.
    congested: Vec<Congested>,
    /// Data packets sent, in all.
    sent: u64,
    /// Fates of data packets, if configured: how many were sent before, and whether it arrived.
    fates: Option<VecDeque<(u64, bool)>>,
}

impl Flight {
    /// Nothing was sent; `first` will be the first.
    pub fn new(first: Sequence, duplicates: u32, tells_fates: bool) -> Self {
        Self {
            first,
            packets: VecDeque::new(),
            pipe: 0,
            pipe_bytes: 0,
            foremost: Vec::new(),
            duplicates: duplicates as usize,
            congested: Vec::new(),
            sent: 0,
            fates: tells_fates.then(VecDeque::new),
        }
    }
    /// Data packets in flight.
    pub fn pipe(&self) -> u64 {
        self.pipe
    }
    /// Bytes of data in flight.
    pub fn pipe_bytes(&self) -> u64 {
        self.pipe_bytes
    }
    /// Numbers that are remembered.
    pub fn len(&self) -> usize {
        self.packets.len()
    }
    /// The next number has been sent.
    pub fn on_sent(&mut self, at: Instant, data: Option<u32>, counter: u64) {
        let ordinal = self.sent;
        if let Some(bytes) = data {
            self.sent += 1;
            self.pipe += 1;
            self.pipe_bytes += u64::from(bytes);
        }
        self.packets.push_back(Sent { at, data, ordinal, counter, fate: Fate::Waiting });
        if self.packets.len() > FLIGHT_MAX {
            self.settle(0, Fate::Lost);
            self.trim(self.first);
        }
    }
    /// The fate of one more data packet: the number of those sent before it, and whether it arrived.
    pub fn take_fate(&mut self) -> Option<(u64, bool)> {
        self.fates.as_mut()?.pop_front()
    }
    fn index(&self, sequence: Sequence) -> Option<usize> {
        let index = usize::try_from(sequence.since(self.first)).ok()?;
        (index < self.packets.len()).then_some(index)
    }
    /// Sets the fate of a waiting packet; returns its bytes if it was a waiting data packet.
    fn settle(&mut self, index: usize, fate: Fate) -> Option<u32> {
        let sent = &mut self.packets[index];
        if sent.fate != Fate::Waiting {
            return None;
        }
        sent.fate = fate;
        let bytes = sent.data?;
        self.pipe -= 1;
        self.pipe_bytes -= u64::from(bytes);
        if let Some(fates) = &mut self.fates {
            fates.push_back((sent.ordinal, fate == Fate::Arrived));
        }
        Some(bytes)
    }
    /// An acknowledgement of `ack`, and of older packets in `runs`, newest first.
    pub fn on_ack(&mut self, ack: Sequence, runs: impl Iterator<Item = RunOfPackets>) -> News {
        let mut news = News::default();
        let newest = self.index(ack).filter(|index| self.packets[*index].fate == Fate::Waiting);
        news.newest_sent_at = newest.map(|index| self.packets[index].at);
        news.newest_counter = newest.map(|index| self.packets[index].counter);
        let mut last = ack;
        for run in runs {
            if last.since(self.first) < 0 {
                break;
            }
            if matches!(run.received, Received::Yes | Received::Marked) {
                self.arrive_run(last, run, &mut news);
            }
            last = last.minus(run.count);
        }
        // What is acknowledged has come, whatever the vector says; it may say that it came with a mark.
        if let Some(index) = newest {
            self.arrive(index, ack, &mut news);
        }
        news
    }
    fn arrive_run(&mut self, last: Sequence, run: RunOfPackets, news: &mut News) {
        for back in 0..run.count {
            let sequence = last.minus(back);
            let Some(index) = self.index(sequence) else { continue };
            let before = news.packets;
            self.arrive(index, sequence, news);
            if run.received == Received::Marked && news.packets > before {
                news.marked = news.marked.or(Some(sequence));
                news.marks += 1;
                let sent_at = self.packets[index].at;
                self.congested.push(Congested { sequence, sent_at, shown_by: sent_at });
            }
        }
    }
    fn arrive(&mut self, index: usize, sequence: Sequence, news: &mut News) {
        let is_new = self.packets[index].fate == Fate::Waiting;
        if let Some(bytes) = self.settle(index, Fate::Arrived) {
            news.packets += 1;
            news.bytes += u64::from(bytes);
        }
        // Packets without data overtake too (RFC 4341, section 5).
        if is_new {
            let at = self.foremost.partition_point(|other| other.since(sequence) > 0);
            self.foremost.insert(at, sequence);
            self.foremost.truncate(self.duplicates);
        }
    }
    /// Data packets that enough later ones have overtaken are lost (RFC 4341, section 5).
    pub fn find_lost(&mut self) -> Lost {
        let mut lost = Lost::default();
        if self.foremost.len() < self.duplicates.max(1) {
            return lost;
        }
        let bound = self.foremost[self.foremost.len() - 1];
        self.lose_below(bound, &mut lost);
        self.trim(bound);
        lost
    }
    /// Windows of data with losses or marks that the acknowledgement has shown, of packets that are not `below`: an
    /// acknowledgement that comes after several were lost may show more than one, and each is a congestion event (RFC
    /// 4341, section 5). A window is what left before its first loss could be known, a round trip of `span` later.
    pub fn take_events(&mut self, below: Option<Sequence>, span: Duration) -> u64 {
        self.congested.retain(|one| below.is_none_or(|below| one.sequence.since(below) >= 0));
        self.congested.sort_by_key(|one| one.sent_at);
        let (mut events, mut known_at) = (0, None);
        for one in self.congested.drain(..) {
            if known_at.is_none_or(|at| one.sent_at > at) {
                events += 1;
                known_at = Some(one.shown_by.saturating_add(span));
            }
        }
        events
    }
    /// After a timeout: everything in flight is lost.
    pub fn lose_all(&mut self) -> Lost {
        let mut lost = Lost::default();
        let end = self.first.plus(self.packets.len() as u64);
        self.lose_below(end, &mut lost);
        self.congested.clear();
        self.trim(end);
        lost
    }
    fn lose_below(&mut self, bound: Sequence, lost: &mut Lost) {
        let end = bound.since(self.first).clamp(0, self.packets.len() as i64) as usize;
        let known = self.congested.len();
        for index in 0..end {
            if let Some(bytes) = self.settle(index, Fate::Lost) {
                let sent_at = self.packets[index].at;
                let sequence = self.first.plus(index as u64);
                self.congested.push(Congested { sequence, sent_at, shown_by: sent_at });
                lost.packets += 1;
                lost.bytes += u64::from(bytes);
                lost.last = Some(sequence);
            }
        }
        self.date_losses(known);
    }
    /// When the losses from the `known`-th of the congested packets on could be known at the earliest: with the packet
    /// that was the last of the `duplicates` that overtook each. Others that were lost too overtook nothing.
    fn date_losses(&mut self, known: usize) {
        let newest = self.foremost.first().and_then(|newest| self.index(*newest));
        let Some(mut at) = newest.filter(|_| known < self.congested.len()) else { return };
        let mut overtook = VecDeque::with_capacity(self.duplicates + 1);
        for one in self.congested[known..].iter_mut().rev() {
            let index = usize::try_from(one.sequence.since(self.first)).unwrap_or(0);
            while at > index {
                if self.packets[at].fate == Fate::Arrived {
                    if overtook.len() == self.duplicates.max(1) {
                        overtook.pop_front();
                    }
                    overtook.push_back(self.packets[at].at);
                }
                at -= 1;
            }
            one.shown_by = overtook.front().copied().unwrap_or(one.sent_at);
        }
    }
    /// Forgets, from the oldest on, packets with a fate, and acknowledgements below `bound`.
    pub fn trim(&mut self, bound: Sequence) {
        while let Some(sent) = self.packets.front() {
            let waits = sent.fate == Fate::Waiting && (sent.data.is_some() || self.first.since(bound) >= 0);
            if waits {
                break;
            }
            self.packets.pop_front();
            self.first = self.first.plus(1);
        }
    }
    /// Everything up to `ack` is no longer in flight, whatever its fate, which CCID 3 does not use.
    pub fn close_up_to(&mut self, ack: Sequence) {
        self.lose_below(ack.plus(1), &mut Lost::default());
        self.congested.clear();
        self.trim(ack.plus(1));
    }
}
