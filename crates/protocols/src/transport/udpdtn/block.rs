//! A sender's state of a block.

use super::{Config, Here, SYMBOLS_BEYOND};
use crate::math;

/// A block in transfer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Symbols that it is made of.
    pub symbols: u32,
    /// The symbol that leaves next: above `symbols`, a repair.
    pub next: u32,
    /// Symbols sent, repairs included.
    pub sent: u32,
    /// Of these, sent before the newest datagram that the receiver has reported.
    pub passed: u32,
    /// Of these, those that the receiver's last report of this block covers.
    pub seen: u32,
    /// Symbols that the receiver has reported.
    pub have: u32,
    /// The receiver has it.
    pub whole: bool,
    /// It waits for repairs in the sender's queue of blocks with missing symbols.
    pub queued: bool,
    /// The receiver has restarted and has not reported this block since.
    pub stale: bool,
}

impl Block {
    /// Whether all its own symbols were sent.
    pub fn is_sent(&self) -> bool {
        self.whole || self.next >= self.symbols
    }
    /// Whether the symbols in flight make it whole with the configured certainty, at this loss.
    pub fn is_covered(&self, loss: f64, config: &Config) -> bool {
        if self.whole {
            return true;
        }
        if !self.is_sent() {
            return false;
        }
        let under_way = f64::from(self.sent.saturating_sub(self.seen));
        let doubt = config.certainty * math::sqrt(under_way * loss * (1.0 - loss));
        let expected = f64::from(self.have) + under_way * (1.0 - loss) - doubt;
        expected >= f64::from(self.symbols + SYMBOLS_BEYOND)
    }
    /// The receiver has it.
    pub fn is_here(&mut self) {
        self.whole = true;
        self.stale = false;
    }
    /// The receiver reports it; returns whether own symbols that were sent must be sent again.
    pub fn learn(&mut self, here: Here) -> bool {
        if here == Here::WHOLE {
            self.is_here();
            return false;
        }
        self.whole &= !self.stale;
        self.stale = false;
        if self.whole {
            return false;
        }
        let beyond = u32::from(here.beyond);
        self.have = here.symbols.into();
        self.seen = self.passed;
        // What an earlier sender has sent need not be sent again.
        self.next = self.next.max(beyond);
        // All that was sent behind this symbol is lost: own symbols cost neither end a matrix.
        let lost_its_end = self.sent == self.seen && beyond < self.next.min(self.symbols);
        if lost_its_end {
            self.next = beyond;
        }
        lost_its_end
    }
    /// The receiver knows less than it said.
    pub fn forget(&mut self) {
        self.stale = true;
        self.have = 0;
    }
}
