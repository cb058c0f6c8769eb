//! Unacknowledged datagrams, and which of them are lost.
//!
//! On the paths that this is for, the delay changes by minutes while datagrams are in flight: one sent later
//! may arrive much earlier. So a later number says nothing of an earlier one, unless both left at about the
//! same time.

use super::connections::Ticket;
use crate::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// A datagram sent at most this long before one that arrived should arrive soon after it.
const NEIGHBOURS_MOST: Duration = Duration::from_nanos(1_000_000_000);
/// Longest wait once all later neighbours are settled: the report of the datagram was lost.
const ALONE_MOST: Duration = Duration::from_secs(20);
/// To begin with.
const REORDERING_FIRST: Duration = Duration::from_nanos(100_000_000);
/// A datagram that is still later was in flight when the delay fell abruptly: these few are sent twice.
const REORDERING_MOST: Duration = Duration::from_secs(15);
/// How long the measured reordering is valid.
const REORDERING_FOR: Duration = Duration::from_secs(60);
/// Those given up that are remembered, to learn from those that come after all.
const GIVEN_UP_MAX: usize = 16_384;

/// A datagram in flight.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When it left.
    pub at: Instant,
    /// Bytes on the link.
    pub size: u64,
    /// What is in it.
    pub tickets: Vec<Ticket>,
    /// When a datagram sent right after it arrived.
    overtaken: Option<Instant>,
}

/// One that was given up.
#[derive(Debug)]
struct GivenUp {
    at: Instant,
    sent: Sent,
}

/// Those of which it was heard that they came.
#[derive(Debug, Default)]
pub struct Came {
    /// Those that were waited for.
    pub in_time: Vec<Sent>,
    /// Those that were given up before.
    pub late: Vec<Sent>,
    /// When those were that others had overtaken, and their bytes.
    pub spurious: Vec<(Instant, u64)>,
}

impl Came {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Sent> {
        self.in_time.iter().chain(&self.late)
    }
}

/// The datagrams in flight.
#[derive(Debug, Default)]
pub struct Waiting {
    sent: BTreeMap<u64, Sent>,
    bytes: u64,
    /// Those of them that were overtaken, and when.
    overtaken: BTreeSet<(Instant, u64)>,
    /// The highest number that came.
    highest: u64,
    given_up: BTreeMap<u64, GivenUp>,
    /// The first of all, whose neighbours are settled, and since when they are.
    alone: Option<(u64, Instant)>,
    /// Longest time by which a datagram was overtaken, and when that was measured.
    reordering: Option<(Duration, Instant)>,
}

impl Waiting {
    /// Bytes in flight.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// The one that left first.
    pub fn first(&self) -> Option<&Sent> {
        self.sent.first_key_value().map(|(_, sent)| sent)
    }
    /// One has left.
    pub fn insert(&mut self, number: u64, at: Instant, size: u64, tickets: Vec<Ticket>) {
        self.bytes += size;
        self.sent.insert(number, Sent { at, size, tickets, overtaken: None });
    }
    fn remove(&mut self, number: u64) -> Option<Sent> {
        let sent = self.sent.remove(&number)?;
        self.bytes -= sent.size;
        if let Some(since) = sent.overtaken {
            self.overtaken.remove(&(since, number));
        }
        Some(sent)
    }
    /// Forgets all, and gives those that were waited for.
    pub fn clear(&mut self) -> Vec<Sent> {
        let Self { highest, reordering, .. } = *self;
        let all = std::mem::replace(self, Self { highest, reordering, ..Self::default() });
        all.sent.into_values().collect()
    }
    /// It may come after all, if the delay has grown.
    fn give_up(&mut self, now: Instant, number: u64) -> Option<Sent> {
        let sent = self.remove(number)?;
        self.given_up.insert(number, GivenUp { at: now, sent: sent.clone() });
        if self.given_up.len() > GIVEN_UP_MAX {
            // Every second one: those of long ago show the longest delays.
            let mut place = 0_usize;
            self.given_up.retain(|_, _| {
                place += 1;
                place.is_multiple_of(2)
            });
        }
        Some(sent)
    }
    /// The datagrams of a range have arrived. One that was overtaken and given up measures the reordering.
    pub fn on_range(&mut self, now: Instant, (from, to): (u64, u64), came: &mut Came) {
        let late: Vec<u64> = self.given_up.range(from..to).map(|(number, _)| *number).collect();
        for number in late {
            let Some(GivenUp { at, sent }) = self.given_up.remove(&number) else { continue };
            if sent.overtaken.is_some() {
                let longer = self.reordering(now).saturating_add(now - at);
                self.reordering = Some((longer.min(REORDERING_MOST), now));
                came.spurious.push((at, sent.size));
            }
            came.late.push(sent);
        }
        let here: Vec<u64> = self.sent.range(from..to).map(|(number, _)| *number).collect();
        for number in here {
            if let Some(sent) = self.remove(number) {
                self.mark_before(now, number, sent.at);
                came.in_time.push(sent);
            }
        }
    }
    fn reordering(&self, now: Instant) -> Duration {
        let lately = self.reordering.filter(|(_, at)| now - *at < REORDERING_FOR);
        lately.map_or(REORDERING_FIRST, |(span, _)| span)
    }
    /// Those that left shortly before one that came are overtaken.
    fn mark_before(&mut self, now: Instant, number: u64, at: Instant) {
        let is_highest = number >= self.highest;
        self.highest = self.highest.max(number);
        for (before, neighbour) in self.sent.range_mut(..number).rev() {
            // Behind one that a lower number marked, all others are marked too.
            let known = is_highest && neighbour.overtaken.is_some();
            if known || at - neighbour.at > NEIGHBOURS_MOST {
                break;
            }
            if neighbour.overtaken.is_none() {
                neighbour.overtaken = Some(now);
                self.overtaken.insert((now, *before));
            }
        }
    }
    /// When to look for lost ones again.
    pub fn deadline(&self) -> Option<Instant> {
        let overtaken =
            self.overtaken.first().map(|(since, _)| since.saturating_add(self.reordering(*since)));
        let alone = self.alone.map(|(_, since)| since.saturating_add(ALONE_MOST));
        overtaken.into_iter().chain(alone).min()
    }
    /// Gives up those that were overtaken for longer than overtaking takes.
    pub fn find_overtaken(&mut self, now: Instant) -> Vec<Sent> {
        let mut lost = Vec::new();
        while let Some((since, number)) = self.overtaken.first().copied() {
            if now - since < self.reordering(since) {
                break;
            }
            lost.extend(self.give_up(now, number));
        }
        lost
    }
    /// Gives up the first, if all that left in the second after it are settled for long. `newest`: when the
    /// last one left that has come.
    pub fn find_alone(&mut self, now: Instant, newest: Instant) -> Option<Sent> {
        let mut firsts = self.sent.iter();
        let (number, first) = firsts.next().map(|(number, sent)| (*number, sent.at)).unzip();
        let next = firsts.next().map_or(newest, |(_, next)| next.at.min(newest));
        let is_alone = first.is_some_and(|first| next - first > NEIGHBOURS_MOST);
        let same = self.alone.filter(|(known, _)| Some(*known) == number);
        self.alone = number.filter(|_| is_alone).map(|number| same.unwrap_or((number, now)));
        let (number, _) = self.alone.take_if(|(_, since)| now - *since >= ALONE_MOST)?;
        self.give_up(now, number)
    }
    /// Gives up datagrams in flight for longer than `most` if others sent later than their neighbours
    /// arrived, and in any case for longer than twice that.
    pub fn find_old(&mut self, now: Instant, most: Duration, newest: Instant) -> Vec<Sent> {
        let mut lost = Vec::new();
        while let Some(first) = self.first() {
            let away = now - first.at;
            let is_old = away > most && newest - first.at > NEIGHBOURS_MOST;
            if !is_old && away <= most.saturating_add(most) {
                break;
            }
            lost.extend(self.give_up_first(now));
        }
        lost
    }
    /// Gives up the oldest datagram after a timeout, so that something is sent again.
    pub fn give_up_first(&mut self, now: Instant) -> Option<Sent> {
        let number = *self.sent.first_key_value()?.0;
        self.give_up(now, number)
    }
}
