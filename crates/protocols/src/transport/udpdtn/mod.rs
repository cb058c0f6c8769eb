//! UDPDTN: bulk transfer on datagrams where a round trip is too long to wait for.
//!
//! The data are cut into blocks of symbols, and each block is coded so that about as many symbols as
//! it has, whichever they are, give it back (a fountain code such as RaptorQ, RFC 6330). So a repair
//! need not name the lost symbol. The sender opens no connection: its first datagram carries data. It
//! sends every symbol once, repairs of symbols as soon as the receiver reports them missing, and in the
//! end enough repairs for each block to arrive with the configured certainty, by the reports and the measured
//! loss. A transfer takes no round trip more than light does, unless losses exceed their expectation by
//! more than four standard deviations.
//!
//! Any [`crate::controllers::Controller`] paces it.

mod block;
mod departures;
mod hearing;
mod receiver;
mod sender;

pub use departures::{STAMP_UNIT_NS, STAMP_WRAP_NS};
pub use receiver::Receiver;
pub use sender::{Counts, Sender};

use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Bytes of an IPv4 and a UDP header.
pub const UDP_HEADER: Bytes = Bytes(28);
/// Bytes of ours in a datagram of data: kind and flags 1, session 4, number 4, block and symbol 2 each
/// (what the FEC payload ID of RFC 6330, section 3.2, is for), time 3. See [`crate::wire::udpdtn`].
pub const HEADER: Bytes = Bytes(16);
/// Bytes of an opening without the name of the file: kind, session, version, length of the whole, symbol
/// size, symbols in a block, digest of the whole, length of the name.
pub const OPEN_BYTES: u64 = 51;
/// Bytes of a report without its blocks and without the digest of what is complete.
pub const REPORT_BYTES: u64 = 48;
/// Bytes of the answer to what belongs to no known transfer: kind, session.
pub const UNKNOWN_BYTES: u64 = 5;
/// Bytes of the digest of the whole.
pub const DIGEST_BYTES: usize = 32;
/// Most blocks in a report: fits into one datagram.
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
    /// The planned round trip; `None` if it is unknown.
    pub round_trip: Option<Duration>,
    /// Names the random numbers that keep flows of one rate out of step.
    pub seed: u64,
    /// Names the whole: a receiver is believed to have it all only if it says so by this.
    pub digest: [u8; DIGEST_BYTES],
    /// How a real node differs from a simulated one.
    pub real: Real,
}

/// What a node with clocks, files and peers that die needs, and a simulated one does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real {
    /// The first report follows the first datagram after this time.
    pub first_report: Duration,
    /// Differences of one-way times below this are noise of clocks and schedulers, and clocks drift.
    pub noise: Duration,
    /// Trains that seem to arrive within less than this arrived within this.
    pub tick: Duration,
    /// Most pacing delay that a burst may make up for.
    pub slack: Duration,
    /// Timeout before the first report.
    pub silence_first: Duration,
    /// Longest backed-off timeout, unless the round trip requires more.
    pub silence_most: Duration,
    /// After a timeout only probes are sent, no data; without a planned contact nothing at all ([`Sender::plan`]).
    pub pauses: bool,
    /// The driver decodes ([`Receiver::take_ready`]) and verifies ([`Receiver::confirm`]); else
    /// symbols are only counted.
    pub decodes: bool,
}

impl Default for Real {
    /// That of a simulated node.
    fn default() -> Self {
        Self {
            first_report: Duration::from_nanos(2_000_000),
            noise: Duration::ZERO,
            tick: Duration::ZERO,
            slack: Duration::from_nanos(1_000_000),
            silence_first: Duration::from_secs(10),
            silence_most: Duration::from_secs(86_400),
            pauses: false,
            decodes: false,
        }
    }
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
            round_trip: None,
            seed: 0,
            digest: [0; DIGEST_BYTES],
            real: Real::default(),
        }
    }
}

/// Symbols beyond those of a block with which decoding fails once in a million (RFC 6330: 99.9999 %).
pub const SYMBOLS_BEYOND: u32 = 2;

/// A datagram.
#[derive(Clone, Debug, PartialEq)]
pub enum Datagram {
    /// Opens a transfer.
    Open {
        /// Of everything.
        length: Bytes,
        /// Report interval for the receiver.
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
        /// Report interval for the receiver.
        report_every: Duration,
    },
    /// What the receiver has.
    Report(Box<Report>),
    /// The receiver does not know this transfer, or no longer: it must be opened again.
    Unknown,
}

/// What a receiver has of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// How many of its symbols.
    pub symbols: u16,
    /// The highest of them, plus one.
    pub beyond: u16,
}

impl Here {
    /// All that it takes.
    pub const WHOLE: Self = Self { symbols: u16::MAX, beyond: u16::MAX };
}

/// A receiver's report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Epoch of the receiver: its counts restart with each.
    pub incarnation: u32,
    /// Reports of this epoch before this one.
    pub sequence: u32,
    /// Highest number received.
    pub highest: u32,
    /// Datagrams of data received, without duplicates.
    pub received: u32,
    /// When the one of the highest number was sent, by the sender's clock.
    pub sent_at: Instant,
    /// How long ago it came.
    pub held: Duration,
    /// Least one-way time since the last report, by both clocks; `None` if nothing arrived.
    pub one_way: Option<Duration>,
    /// How fast a train came in, if one came since the last report.
    pub train: Option<BitRate>,
    /// All blocks below this are whole.
    pub whole_below: u32,
    /// The first block in `have`.
    pub first: u32,
    /// What is here of each block from there on.
    pub have: Vec<Here>,
    /// The opening has come.
    pub opened: bool,
    /// Everything is here.
    pub complete: bool,
    /// Of what is here, if it is complete.
    pub digest: [u8; DIGEST_BYTES],
}

impl Report {
    /// Bytes without the headers of IP and UDP.
    fn size(&self) -> Bytes {
        let digest = if self.complete { DIGEST_BYTES as u64 } else { 0 };
        Bytes(REPORT_BYTES + digest + 4 * self.have.len() as u64)
    }
}

impl Datagram {
    /// Bytes on the link, headers included.
    pub fn size(&self, symbol: Bytes) -> Bytes {
        UDP_HEADER
            + match self {
                Self::Open { .. } => Bytes(OPEN_BYTES),
                Self::Data { .. } => HEADER + symbol,
                Self::Report(report) => report.size(),
                Self::Unknown => Bytes(UNKNOWN_BYTES),
            }
    }
}

/// What a TCP connection that carried the first bytes of a file knows of its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Bytes that its receiver has acknowledged in order.
    pub acknowledged: Bytes,
    /// The rate at which it delivered.
    pub rate: Option<BitRate>,
    /// Its round-trip time.
    pub rtt: Option<Duration>,
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
    /// Cuts `length` bytes.
    pub fn new(length: Bytes, config: &Config) -> Self {
        let symbols = length.0.div_ceil(config.symbol.0.max(1)).max(1);
        let symbols = u32::try_from(symbols).unwrap_or(u32::MAX);
        Self { symbols, blocks: symbols.div_ceil(config.block_symbols.max(1)) }
    }
    /// The block that a symbol of the whole belongs to.
    pub fn block_of(&self, symbol: u64) -> u32 {
        let (each, larger) = (u64::from(self.symbols / self.blocks), u64::from(self.symbols % self.blocks));
        let of_larger = larger * (each + 1);
        let block =
            if symbol < of_larger { symbol / (each + 1) } else { larger + (symbol - of_larger) / each };
        u32::try_from(block).unwrap_or(u32::MAX)
    }
    /// The symbol of the whole with which a block begins.
    pub fn start_of(&self, block: u32) -> u64 {
        let (each, larger) = (u64::from(self.symbols / self.blocks), u64::from(self.symbols % self.blocks));
        u64::from(block) * each + u64::from(block).min(larger)
    }
    /// Blocks that lie whole below an offset.
    pub fn whole_below(&self, offset: Bytes, config: &Config) -> u32 {
        let symbols = offset.0 / config.symbol.0.max(1);
        if symbols >= self.symbols.into() { self.blocks } else { self.block_of(symbols) }
    }
    /// Symbols of a block.
    pub fn symbols_of(&self, block: u32) -> u32 {
        self.symbols / self.blocks + u32::from(block < self.symbols % self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_belongs_to_the_block_that_begins_before_it() {
        for (length, block_symbols) in [(0, 7), (1, 7), (699, 7), (700, 7), (5000, 7), (12_345, 3)] {
            let config = Config { symbol: Bytes(10), block_symbols, ..Config::new(Bytes(100)) };
            let cut = Cut::new(Bytes(length), &config);
            let mut symbols =
                (0..cut.blocks).flat_map(|block| (0..cut.symbols_of(block)).map(move |s| (block, s)));
            for symbol in 0..u64::from(cut.symbols) {
                let (block, within) = symbols.next().expect("as many as in all");
                assert_eq!((cut.block_of(symbol), cut.start_of(block) + u64::from(within)), (block, symbol));
            }
            assert_eq!(symbols.next(), None);
        }
    }

    #[test]
    fn no_report_that_lies_completes_a_transfer_or_counts_what_was_not_sent() {
        use crate::controllers::{Flow, find};
        use crate::parameter::Parameters;
        use crate::transport::Machine;
        let config = Config { block_symbols: 5, digest: [7; DIGEST_BYTES], ..Config::new(Bytes(100)) };
        let entry = find("contact_rate").expect("a controller of the table");
        let parameters = Parameters::resolve("contact_rate", entry.algorithm.parameters, &Default::default())
            .expect("defaults are in range");
        let flow = Flow {
            segment: config.symbol,
            packet: Bytes(100),
            planned_rate: Some(BitRate(1_000_000)),
            planned_round_trip: None,
            seed: 1,
            index: 0,
        };
        let mut sender = Sender::new(config, entry.build(&parameters, flow), Bytes(2000));
        let mut now = Instant::ZERO;
        for sequence in 1..500 {
            now += Duration::from_nanos(1_000_000);
            while sender.poll(now).is_some() {}
            let sent = sender.counts().sent as u32;
            let report = Report {
                sequence,
                highest: [sent, u32::MAX, sent.saturating_sub(1)][sequence as usize % 3],
                received: [u32::MAX, 0, sent][sequence as usize % 3],
                sent_at: Instant::from_nanos([i64::MIN, i64::MAX, -1][sequence as usize % 3]),
                held: Duration::from_nanos([i64::MAX, i64::MIN, 0][sequence as usize % 3]),
                one_way: Some(Duration::from_nanos([i64::MIN / 4, i64::MAX / 4, 0][sequence as usize % 3])),
                train: Some(BitRate(u64::MAX)),
                first: [0, u32::MAX, 3][sequence as usize % 3],
                have: vec![Here { symbols: u16::MAX - 1, beyond: u16::MAX }; REPORTED_BLOCKS_MAX],
                opened: true,
                complete: true,
                ..Report::default()
            };
            sender.handle(now, Datagram::Report(Box::new(report)));
            assert!(!sender.is_complete(), "another digest completes nothing");
            assert!(sender.received() <= sender.counts().sent as u32);
        }
        let report = Report {
            sequence: 1000,
            highest: sender.counts().sent as u32 - 1,
            complete: true,
            digest: [7; DIGEST_BYTES],
            ..Report::default()
        };
        sender.handle(now, Datagram::Report(Box::new(report)));
        assert!(sender.is_complete());
    }

    #[test]
    fn a_transfer_goes_on_where_a_tcp_connection_stopped() {
        use crate::controllers::{Flow, find};
        use crate::parameter::Parameters;
        use crate::transport::{Machine, ranges::Ranges};
        let config = Config { block_symbols: 5, ..Config::new(Bytes(100)) };
        let entry = find("contact_rate").expect("a controller of the table");
        let parameters = Parameters::resolve("contact_rate", entry.algorithm.parameters, &Default::default())
            .expect("defaults are in range");
        let (segment, packet) = (config.symbol, Bytes(100));
        let flow = Flow { segment, packet, planned_rate: None, planned_round_trip: None, seed: 1, index: 0 };
        let (length, second) = (Bytes(56_000), Duration::from_secs(1));
        let known =
            Connection { acknowledged: Bytes(42_000), rate: Some(BitRate(8_000)), rtt: Some(second * 600) };
        let mut sender = Sender::new(config, entry.build(&parameters, flow), length);
        sender.continue_from(Instant::ZERO, &known);
        assert_eq!(sender.rtt(), known.rtt);
        let whole = sender.cut().whole_below(known.acknowledged, &config);
        assert_eq!(whole, 150);

        let mut receiver = Receiver::new(config);
        let mut there = Ranges::default();
        there.insert(0, whole.into());
        let mut now = Instant::ZERO;
        while !receiver.is_complete() {
            // 8 kbit/s are ten packets of 100 B a second: nothing is probed, and nothing waits for a report.
            while let Some(datagram) = sender.poll(now) {
                let opens = matches!(datagram, Datagram::Open { .. });
                receiver.handle(now, datagram);
                if opens {
                    receiver.resume(1, &there, std::iter::empty());
                }
            }
            now += Duration::from_nanos(1_000_000);
            assert!(now < Instant::from_secs(40), "{:?}", sender.counts());
        }
        assert!(now > Instant::from_secs(20) && sender.counts().sent < 300, "{now:?} {:?}", sender.counts());
    }
}
