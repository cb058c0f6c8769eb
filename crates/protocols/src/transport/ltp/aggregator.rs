//! Many small units in one block (CCSDS 734.1-B-1, section 7), by size and by time.

use crate::time::{Duration, Instant};
use crate::wire::ltp::aggregation;

/// Collects service data units until they make a block.
#[derive(Debug)]
pub struct Aggregator {
    /// Bytes at which a block is full.
    size: u64,
    /// No unit waits longer.
    wait: Duration,
    block: Vec<u8>,
    since: Option<Instant>,
}

impl Aggregator {
    /// Blocks of `size` bytes or a little more, and sooner if a unit has waited for `wait`.
    pub fn new(size: u64, wait: Duration) -> Self {
        Self { size, wait, block: Vec::new(), since: None }
    }
    /// Adds a unit; gives the block that it makes full.
    pub fn push(&mut self, now: Instant, service: u64, unit: &[u8]) -> Option<Vec<u8>> {
        aggregation::write_capsule(service, unit, &mut self.block);
        self.since.get_or_insert(now);
        if self.block.len() as u64 >= self.size { self.flush() } else { None }
    }
    /// The block whose time has come.
    pub fn poll(&mut self, now: Instant) -> Option<Vec<u8>> {
        if self.deadline()? <= now { self.flush() } else { None }
    }
    /// When that is.
    pub fn deadline(&self) -> Option<Instant> {
        Some(self.since?.saturating_add(self.wait))
    }
    /// What is there, as a block of client service [`aggregation::SERVICE`].
    pub fn flush(&mut self) -> Option<Vec<u8>> {
        self.since = None;
        Some(std::mem::take(&mut self.block)).filter(|block| !block.is_empty())
    }
}
