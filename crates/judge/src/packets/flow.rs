//! A flow as the judge sees it: the data at its receiver, and the bytes delivered from them.

use super::facts::{Facts, What};
use std::collections::{BTreeMap, HashSet};

/// State of the receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowState {
    /// Everything below has come.
    pub prefix: u64,
    /// Spans that have come above: end by start.
    above: BTreeMap<u64, u64>,
    /// Symbols or datagrams received, and their bytes. The set is never iterated.
    symbols: HashSet<u64>,
    symbol_bytes: u64,
    /// What the receiver has delivered, as it says.
    pub told: u64,
    /// It is a stream, of which everything that is in order is delivered at once.
    pub is_stream: bool,
    /// An LTP session was cancelled: its receiver discards later segments.
    pub gave_up: bool,
}

impl FlowState {
    /// Something has come to the receiver.
    #[inline]
    pub(super) fn received(&mut self, packet: &Facts) {
        match packet.what {
            What::Data => {
                self.is_stream = true;
                self.insert(packet.offset, packet.offset + u64::from(packet.length));
            }
            What::Symbol | What::Datagram if self.symbols.insert(packet.offset) => {
                self.symbol_bytes += u64::from(packet.length);
            }
            What::Cancel => self.gave_up = true,
            _ => {}
        }
    }
    #[inline]
    fn insert(&mut self, from: u64, to: u64) {
        if to <= self.prefix {
            return;
        }
        if from > self.prefix {
            return self.insert_above(from, to);
        }
        self.prefix = to;
        if self.above.is_empty() {
            return;
        }
        while let Some(first) = self.above.first_entry().filter(|first| *first.key() <= self.prefix) {
            self.prefix = self.prefix.max(first.remove());
        }
    }
    fn insert_above(&mut self, from: u64, to: u64) {
        let (mut from, mut to) = (from, to);
        // Spans that touch become one.
        while let Some((&start, &end)) = self.above.range(..=to).next_back().filter(|span| *span.1 >= from) {
            self.above.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.above.insert(from, to);
    }
    /// Bytes that can have been delivered by now.
    pub(super) fn deliverable(&self) -> u64 {
        if self.is_stream { self.prefix } else { self.symbol_bytes }
    }
    /// Whether the receiver must deliver in-order data immediately.
    pub(super) fn delivers_immediately(&self) -> bool {
        self.is_stream && !self.gave_up
    }
    /// Whether all data that a packet acknowledges have arrived.
    pub(super) fn covers(&self, packet: &Facts) -> bool {
        let covered = |&(from, to): &(u64, u64)| {
            to <= self.prefix || self.above.range(..=from).next_back().is_some_and(|(_, end)| *end >= to)
        };
        packet.ack <= self.prefix && packet.sack.as_ref().is_none_or(|sack| sack.blocks().iter().all(covered))
    }
}
