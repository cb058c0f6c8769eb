//! Datagrams that were sent and of which nothing was heard yet, and which of them are lost.
//!
//! On the ways that this is for, the delay changes by minutes while datagrams are under way: what leaves later may come
//! much earlier. So a later number says nothing of an earlier one, unless both left at about the same time.

use super::session::Ticket;
use crate::time::{Duration, Instant};
use std::collections::BTreeMap;

/// Who left so much before another one that came, at least and at most, should have come soon after it.
const NEIGHBOURS_MOST: Duration = Duration::from_nanos(1_000_000_000);
/// To begin with.
const REORDERING_FIRST: Duration = Duration::from_nanos(100_000_000);
/// Lost ones that are remembered, to learn from those that come after all.
const LOST_MAX: usize = 16_384;

/// A datagram under way.
#[derive(Debug)]
pub struct Sent {
    /// When it left.
    pub at: Instant,
    /// Bytes on the link.
    pub size: u64,
    /// What is in it.
    pub tickets: Vec<Ticket>,
    /// One that left right after it has come, at that time.
    overtaken: Option<Instant>,
}

/// Those under way.
#[derive(Debug, Default)]
pub struct Waiting {
    sent: BTreeMap<u64, Sent>,
    bytes: u64,
    /// When those left that were given up, and when.
    lost: BTreeMap<u64, (Instant, Instant)>,
    /// Overtaking takes so long, as far as is known.
    reordering: Option<Duration>,
    /// Of those that are overtaken.
    next_look: Option<Instant>,
}

impl Waiting {
    /// Bytes under way.
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
    /// Those of a range have come. Whoever was given up and comes after all shows how long overtaking takes.
    pub fn on_range(&mut self, now: Instant, (from, to): (u64, u64), came: &mut Vec<Sent>) {
        let late: Vec<u64> = self.lost.range(from..to).map(|(number, _)| *number).collect();
        for number in late {
            if let Some((_, given_up)) = self.lost.remove(&number) {
                let longer = self.reordering().saturating_add(now - given_up);
                self.reordering = Some(longer);
            }
        }
        let here: Vec<u64> = self.sent.range(from..to).map(|(number, _)| *number).collect();
        for number in here {
            let Some(sent) = self.sent.remove(&number) else { continue };
            self.bytes -= sent.size;
            self.mark_before(now, number, sent.at);
            came.push(sent);
        }
    }
    fn reordering(&self) -> Duration {
        self.reordering.unwrap_or(REORDERING_FIRST)
    }
    /// Those that left shortly before one that came are overtaken.
    fn mark_before(&mut self, now: Instant, number: u64, at: Instant) {
        for (_, neighbour) in self.sent.range_mut(..number).rev() {
            if at - neighbour.at > NEIGHBOURS_MOST {
                break;
            }
            if neighbour.overtaken.is_none() {
                neighbour.overtaken = Some(now);
            }
        }
        let look = now.saturating_add(self.reordering());
        self.next_look = Some(self.next_look.map_or(look, |at| at.min(look)));
    }
    /// When to look for lost ones again.
    pub fn deadline(&self) -> Option<Instant> {
        self.next_look
    }
    /// Takes out those that are lost: overtaken for longer than overtaking takes, or under way for longer than `most`
    /// while others that left later came.
    pub fn find_lost(&mut self, now: Instant, most: Duration, newest: Instant) -> Vec<Sent> {
        let reordering = self.reordering();
        let is_lost = |sent: &Sent| {
            let overtaken = sent.overtaken.is_some_and(|since| now - since >= reordering);
            overtaken || (newest - sent.at > NEIGHBOURS_MOST && now - sent.at > most)
        };
        let lost: Vec<u64> =
            self.sent.iter().filter(|(_, sent)| is_lost(sent)).map(|(number, _)| *number).collect();
        let next = self.sent.values().filter(|sent| !is_lost(sent)).filter_map(|sent| sent.overtaken).min();
        self.next_look = next.map(|since| since.saturating_add(reordering));
        lost.into_iter().filter_map(|number| self.give_up(now, number)).collect()
    }
    fn give_up(&mut self, now: Instant, number: u64) -> Option<Sent> {
        let sent = self.sent.remove(&number)?;
        self.bytes -= sent.size;
        self.lost.insert(number, (sent.at, now));
        if self.lost.len() > LOST_MAX {
            self.lost.pop_first();
        }
        Some(sent)
    }
    /// Takes out the one that left first: silence has lasted too long, and something is to be sent again.
    pub fn give_up_first(&mut self, now: Instant) -> Option<Sent> {
        let number = *self.sent.first_key_value()?.0;
        self.give_up(now, number)
    }
}
