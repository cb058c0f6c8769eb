//! UDPDTN: bulk transfer on datagrams where a round trip is too long to wait for.
//!
//! The data are cut into blocks of symbols, and each block is coded so that about as many symbols as
//! it has, whichever they are, give it back (a fountain code such as RaptorQ, RFC 6330). So a repair
//! need not name what was lost. The sender opens no connection: its first datagram carries data. It
//! sends every symbol once, and then for each block as many more as it takes to make sure, by what the
//! receiver has reported and by the loss that it measures, that the block arrives. A transfer takes no
//! round trip more than light does, unless luck is worse than four standard deviations.
//!
//! Whatever [`crate::controllers::Controller`] it is given paces it.

mod block;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::{Counts, Sender};

use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Bytes of an IPv4 and a UDP header.
pub const UDP_HEADER: Bytes = Bytes(28);
/// Bytes of ours in a datagram of data: kind and flags 1, session 4, number 4, block and symbol 4
/// (the FEC payload ID of RFC 6330, section 3.2), time 3.
pub const HEADER: Bytes = Bytes(16);
/// Bytes of an opening: kind, session, length of the whole, symbol size, symbols in a block, report
/// interval.
const OPEN_BYTES: u64 = 28;
/// Bytes of a report without its blocks.
const REPORT_BYTES: u64 = 48;
/// Most blocks that a report tells of: what fits into one datagram.
pub const REPORTED_BLOCKS_MAX: usize = 230;

/// How a transfer behaves, but for its controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Payload of a datagram of data.
    pub symbol: Bytes,
    /// Symbols of a block at most.
    pub block_symbols: u32,
    /// Loss to be expected before any is measured: what a transfer shorter than a round trip insures
    /// itself against.
    pub loss_prior: f64,
    /// Standard deviations by which repairs exceed what is expected to be needed.
    pub certainty: f64,
    /// Repair each block before the next one begins, so that data come in order; else after all.
    pub in_order: bool,
    /// Names the random numbers that keep flows of one rate out of step.
    pub seed: u64,
}

impl Config {
    /// Datagrams of `packet` bytes on the link; the rest as usual.
    pub fn new(packet: Bytes) -> Self {
        Self {
            symbol: packet.saturating_sub(UDP_HEADER + HEADER),
            block_symbols: 8192,
            loss_prior: 0.02,
            certainty: 4.0,
            in_order: false,
            seed: 0,
        }
    }
}

/// Symbols beyond those of a block with which decoding fails once in a million (RFC 6330: 99.9999 %).
pub const SYMBOLS_BEYOND: u32 = 2;

/// A datagram.
#[derive(Clone, Debug, PartialEq)]
pub enum Datagram {
    /// What is to come: whole length, symbol size, symbols in a block.
    Open {
        /// Of everything.
        length: Bytes,
        /// How often the receiver is to report.
        report_every: Duration,
    },
    /// A symbol.
    Data {
        /// Datagrams of data sent before this.
        number: u32,
        /// Which block.
        block: u32,
        /// Which symbol: the first are the data themselves, the others repairs.
        symbol: u32,
        /// When it was sent, by the sender's clock.
        sent_at: Instant,
        /// It left right behind the one before.
        in_train: bool,
        /// How often the receiver is to report.
        report_every: Duration,
    },
    /// What the receiver has.
    Report(Box<Report>),
}

/// What a receiver tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Highest number that has come.
    pub highest: u32,
    /// Datagrams of data that have come.
    pub received: u32,
    /// When the one of the highest number was sent, by the sender's clock.
    pub sent_at: Instant,
    /// How long ago it came.
    pub held: Duration,
    /// Least time under way since the last report, by both clocks, if anything came.
    pub one_way: Option<Duration>,
    /// How fast a train came in, if one came since the last report.
    pub train: Option<BitRate>,
    /// All blocks below this are whole.
    pub whole_below: u32,
    /// Symbols that are here of each block from there on; [`u32::MAX`] of those that are whole.
    pub have: Vec<u32>,
    /// The opening has come.
    pub opened: bool,
    /// Everything is here.
    pub complete: bool,
}

impl Datagram {
    /// Bytes on the link, headers included.
    pub fn size(&self, symbol: Bytes) -> Bytes {
        UDP_HEADER
            + match self {
                Self::Open { .. } => Bytes(OPEN_BYTES),
                Self::Data { .. } => HEADER + symbol,
                Self::Report(report) => Bytes(REPORT_BYTES + 4 * report.have.len() as u64),
            }
    }
}

/// How bytes are cut into blocks: all as equal as can be, the larger ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Symbols in all.
    pub symbols: u32,
    /// Blocks.
    pub blocks: u32,
}

impl Cut {
    /// Of so many bytes.
    pub fn new(length: Bytes, config: &Config) -> Self {
        let symbols = length.0.div_ceil(config.symbol.0).max(1) as u32;
        Self { symbols, blocks: symbols.div_ceil(config.block_symbols) }
    }
    /// Symbols of a block.
    pub fn symbols_of(&self, block: u32) -> u32 {
        self.symbols / self.blocks + u32::from(block < self.symbols % self.blocks)
    }
}
