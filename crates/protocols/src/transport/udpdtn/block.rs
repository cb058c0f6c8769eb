//! What a sender knows of a block.

use super::{Config, SYMBOLS_BEYOND};
use crate::math;

/// A block under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Symbols that it is made of.
    pub symbols: u32,
    /// Symbols sent, repairs included.
    pub sent: u32,
    /// Of these, sent before the newest datagram that the receiver has reported.
    pub seen: u32,
    /// Symbols that the receiver has reported.
    pub have: u32,
    /// The receiver has it.
    pub whole: bool,
}

impl Block {
    /// Whether all its own symbols were sent.
    pub fn is_sent(&self) -> bool {
        self.sent >= self.symbols
    }
    /// Whether what is under way makes it whole for sure, at this loss.
    pub fn is_covered(&self, loss: f64, config: &Config) -> bool {
        if self.whole {
            return true;
        }
        if !self.is_sent() {
            return false;
        }
        let under_way = f64::from(self.sent - self.seen);
        let doubt = config.certainty * math::sqrt(under_way * loss * (1.0 - loss));
        let expected = f64::from(self.have) + under_way * (1.0 - loss) - doubt;
        expected >= f64::from(self.symbols + SYMBOLS_BEYOND)
    }
}
