//! The options of a header (RFC 4340, section 5.8; RFC 4342, section 8).

use super::{Malformed, number};
use crate::time::Duration;

/// What is done to a feature (section 6.1). L: the sender of the option has the feature; R: the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Who has it wants another value.
    ChangeL = 32,
    /// Who has it confirms.
    ConfirmL = 33,
    /// The other end wants another value.
    ChangeR = 34,
    /// The other end confirms.
    ConfirmR = 35,
}

/// An option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// The next option must be understood (section 5.8.2).
    Mandatory,
    /// The receiver is slow: do not send faster for a round trip (section 11.6).
    SlowReceiver,
    /// A feature is negotiated (section 6).
    Feature {
        /// How.
        act: Act,
        /// Which.
        feature: u8,
        /// Preferences, or a value and preferences.
        values: &'a [u8],
    },
    /// State that a server wants returned (section 8.1.4).
    InitCookie(&'a [u8]),
    /// Number of packets without data right before this one (section 7.7).
    NdpCount(u64),
    /// Packets received, backwards from the acknowledgement number (section 11.4).
    AckVector {
        /// The sum of the ECN nonces.
        nonce: bool,
        /// Runs of packets: see [`runs`].
        cells: &'a [u8],
    },
    /// Data received but not delivered, backwards from the acknowledgement number (section 11.7).
    DataDropped(&'a [u8]),
    /// When it was sent, in units of 10 µs (section 13.1).
    Timestamp(u32),
    /// A timestamp given back, and how long ago it came in units of 10 µs (section 13.3).
    TimestampEcho {
        /// As it came.
        stamp: u32,
        /// Units of 10 µs; none: not said.
        elapsed: Option<u32>,
    },
    /// How long ago the acknowledged packet came, in units of 10 µs (section 13.2).
    ElapsedTime(u32),
    /// CRC-32C of the data (section 9.3), on the wire in SCTP's order, lowest byte first (RFC 9260, appendix
    /// A).
    DataChecksum(u32),
    /// Packets to a loss event, rounded up; 2^32 − 1: none was lost (RFC 4342, section 8.5).
    LossEventRate(u32),
    /// The last loss intervals, newest first (RFC 4342, section 8.6): see [`intervals`].
    LossIntervals {
        /// Packets before the acknowledgement number that belong to no interval yet.
        skip: u8,
        /// Nine bytes for each.
        cells: &'a [u8],
    },
    /// Bytes received a second (RFC 4342, section 8.3).
    ReceiveRate(u32),
    /// One that is not known here, or whose length is not one it may have. It is ignored, unless it is
    /// mandatory (section 5.8).
    Unknown {
        /// Its type.
        kind: u8,
        /// What it says.
        value: &'a [u8],
    },
}

/// The unit of times in options.
const TIME_UNIT_NS: i64 = 10_000;

impl<'a> Item<'a> {
    /// A time as options say it, rounded down.
    pub fn time(span: Duration) -> u32 {
        u32::try_from(span.as_nanos().max(0) / TIME_UNIT_NS).unwrap_or(u32::MAX)
    }
    /// What a time in an option means.
    pub fn span(units: u32) -> Duration {
        Duration::from_nanos(i64::from(units) * TIME_UNIT_NS)
    }
    /// Its type.
    pub fn kind(&self) -> u8 {
        match self {
            Self::Mandatory => 1,
            Self::SlowReceiver => 2,
            Self::Feature { act, .. } => *act as u8,
            Self::InitCookie(_) => 36,
            Self::NdpCount(_) => 37,
            Self::AckVector { nonce, .. } => 38 + u8::from(*nonce),
            Self::DataDropped(_) => 40,
            Self::Timestamp(_) => 41,
            Self::TimestampEcho { .. } => 42,
            Self::ElapsedTime(_) => 43,
            Self::DataChecksum(_) => 44,
            Self::LossEventRate(_) => 192,
            Self::LossIntervals { .. } => 193,
            Self::ReceiveRate(_) => 194,
            Self::Unknown { kind, .. } => *kind,
        }
    }
    /// Whether a Data packet may carry it; there, others are ignored (section 5.8, table 3).
    pub fn may_be_on_data(&self) -> bool {
        !matches!(
            self,
            Self::Mandatory
                | Self::Feature { .. }
                | Self::InitCookie(_)
                | Self::AckVector { .. }
                | Self::DataDropped(_)
                | Self::ElapsedTime(_)
                | Self::LossEventRate(_)
                | Self::LossIntervals { .. }
                | Self::ReceiveRate(_)
        )
    }
    fn of(kind: u8, value: &'a [u8]) -> Self {
        let short = |bytes: &[u8]| number(bytes) as u32;
        match (kind, value.len()) {
            (32..=35, 1..) => {
                let act = [Act::ChangeL, Act::ConfirmL, Act::ChangeR, Act::ConfirmR][usize::from(kind - 32)];
                Self::Feature { act, feature: value[0], values: &value[1..] }
            }
            (36, _) => Self::InitCookie(value),
            (37, 1..=6) => Self::NdpCount(number(value)),
            (38 | 39, _) => Self::AckVector { nonce: kind == 39, cells: value },
            (40, _) => Self::DataDropped(value),
            (41, 4) => Self::Timestamp(short(value)),
            (42, 4) => Self::TimestampEcho { stamp: short(value), elapsed: None },
            (42, 6 | 8) => {
                Self::TimestampEcho { stamp: short(&value[..4]), elapsed: Some(short(&value[4..])) }
            }
            (43, 2 | 4) => Self::ElapsedTime(short(value)),
            (44, 4) => Self::DataChecksum(short(value).swap_bytes()),
            (192, 4) => Self::LossEventRate(short(value)),
            (193, 1..) if (value.len() - 1).is_multiple_of(9) => {
                Self::LossIntervals { skip: value[0], cells: &value[1..] }
            }
            (194, 4) => Self::ReceiveRate(short(value)),
            _ => Self::Unknown { kind, value },
        }
    }
    /// Appends its bytes.
    ///
    /// # Panics
    /// If it has more than 253 bytes besides type and length: a bug of who made it.
    pub fn write(&self, out: &mut Vec<u8>) {
        let kind = self.kind();
        out.push(kind);
        if kind < 32 {
            return;
        }
        let begin = out.len();
        out.push(0);
        match *self {
            Self::Mandatory | Self::SlowReceiver => {}
            Self::Feature { feature, values, .. } => {
                out.push(feature);
                out.extend_from_slice(values);
            }
            Self::InitCookie(value) | Self::DataDropped(value) | Self::Unknown { value, .. } => {
                out.extend_from_slice(value);
            }
            Self::NdpCount(count) => write_shortest(count, 1, 6, out),
            Self::AckVector { cells, .. } => out.extend_from_slice(cells),
            Self::ElapsedTime(units) => write_time(units, out),
            Self::TimestampEcho { stamp, elapsed } => {
                out.extend(stamp.to_be_bytes());
                elapsed.into_iter().for_each(|units| write_time(units, out));
            }
            Self::DataChecksum(crc) => out.extend(crc.to_le_bytes()),
            Self::Timestamp(n) | Self::LossEventRate(n) | Self::ReceiveRate(n) => out.extend(n.to_be_bytes()),
            Self::LossIntervals { skip, cells } => {
                out.push(skip);
                out.extend_from_slice(cells);
            }
        }
        let length = out.len() + 1 - begin;
        out[begin] = u8::try_from(length).expect("an option has at most 255 bytes");
    }
}

/// In as few bytes as do, from `least` to `most`.
fn write_shortest(number: u64, least: usize, most: usize, out: &mut Vec<u8>) {
    let needed = (u64::BITS - number.leading_zeros()).div_ceil(8) as usize;
    out.extend_from_slice(&number.to_be_bytes()[8 - needed.clamp(least, most)..]);
}
/// Two bytes where they do, else four.
fn write_time(units: u32, out: &mut Vec<u8>) {
    let skipped = if units <= u16::MAX.into() { 2 } else { 0 };
    out.extend_from_slice(&units.to_be_bytes()[skipped..]);
}

/// Fills options up to whole words.
pub fn pad(options: &mut Vec<u8>) {
    options.resize(options.len().next_multiple_of(4), 0);
}

/// Reads options one by one, padding left out. After one with a length that cannot be, nothing more is
/// read (section 5.8).
#[derive(Clone, Debug)]
pub struct Options<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Options<'a> {
    /// Of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
    fn refuse(&mut self, kind: u8, length: usize) -> Malformed {
        let at = std::mem::replace(&mut self.at, self.bytes.len());
        Malformed::OptionLength { kind, at, length }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<Item<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        // What is mandatory but padding is padding (section 5.8.2).
        while let Some(skipped) = match self.bytes.get(self.at..).unwrap_or_default() {
            [0, ..] => Some(1),
            [1, 0, ..] => Some(2),
            _ => None,
        } {
            self.at += skipped;
        }
        let rest = &self.bytes[self.at..];
        let kind = *rest.first()?;
        if kind < 32 {
            self.at += 1;
            return Some(Ok(match kind {
                1 => Item::Mandatory,
                2 => Item::SlowReceiver,
                _ => Item::Unknown { kind, value: &[] },
            }));
        }
        let length = rest.get(1).map_or(0, |length| usize::from(*length));
        let Some(value) = rest.get(2..length) else { return Some(Err(self.refuse(kind, length))) };
        self.at += length;
        Some(Ok(Item::of(kind, value)))
    }
}

// --- what lists in options mean -------------------------------------------------------------

/// What became of a packet (section 11.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It came.
    Yes = 0,
    /// It came with a mark of congestion.
    Marked = 1,
    /// Reserved by the RFC; nothing is known.
    Reserved = 2,
    /// It has not come.
    No = 3,
}

/// Consecutive packets that had the same fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOfPackets {
    /// What became of them.
    pub received: Received,
    /// How many, from 1 to 64.
    pub count: u64,
}

/// Most packets of a run in a byte.
pub const VECTOR_RUN_MAX: u64 = 64;

impl RunOfPackets {
    /// Its byte.
    ///
    /// # Panics
    /// If it has none or more than 64 packets: a bug of who made it.
    pub fn cell(self) -> u8 {
        assert!((1..=VECTOR_RUN_MAX).contains(&self.count), "a run has 1 to 64 packets");
        (self.received as u8) << 6 | (self.count - 1) as u8
    }
}

/// The runs of an Ack Vector, backwards from the acknowledgement number.
pub fn runs(cells: &[u8]) -> impl Iterator<Item = RunOfPackets> + '_ {
    const FATES: [Received; 4] = [Received::Yes, Received::Marked, Received::Reserved, Received::No];
    cells
        .iter()
        .map(|cell| RunOfPackets { received: FATES[usize::from(cell >> 6)], count: u64::from(cell & 63) + 1 })
}

/// Consecutive packets of a Data Dropped option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOfDrops {
    /// Drop Code (0 protocol constraints, 1 application not listening, 2 receive buffer, 3 corrupt,
    /// 7 delivered corrupt); `None`: delivered.
    pub code: Option<u8>,
    /// How many: to 128 of delivered ones, to 16 of others.
    pub count: u64,
}

/// Most packets of a run with a drop code in a byte.
pub const DROPPED_RUN_MAX: u64 = 16;

impl RunOfDrops {
    /// Its byte.
    ///
    /// # Panics
    /// If it has none or too many packets: a bug of who made it.
    pub fn cell(self) -> u8 {
        let most = if self.code.is_some() { DROPPED_RUN_MAX } else { 128 };
        assert!((1..=most).contains(&self.count), "a run has 1 to {most} packets");
        self.code.map_or(0, |code| 0x80 | (code & 7) << 4) | (self.count - 1) as u8
    }
}

/// The runs of a Data Dropped option, backwards from the acknowledgement number.
pub fn drops(cells: &[u8]) -> impl Iterator<Item = RunOfDrops> + '_ {
    cells.iter().map(|cell| match cell >> 7 {
        0 => RunOfDrops { code: None, count: u64::from(cell & 127) + 1 },
        _ => RunOfDrops { code: Some(cell >> 4 & 7), count: u64::from(cell & 15) + 1 },
    })
}

/// A loss interval: packets until the next loss event begins (RFC 4342, section 8.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossInterval {
    /// Packets at its end of which none was lost.
    pub lossless: u32,
    /// Packets at its beginning, from the first to the last that was lost.
    pub lossy: u32,
    /// The sum of the ECN nonces of the lossless part.
    pub nonce: bool,
    /// Data packets in it.
    pub data: u32,
}

impl LossInterval {
    /// Most that three bytes hold, less the bit for the nonce.
    pub const MOST: u32 = (1 << 23) - 1;
    /// Appends its nine bytes; what is more than they hold is said as the most they hold.
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.lossless.min((1 << 24) - 1).to_be_bytes()[1..]);
        let lossy = self.lossy.min(Self::MOST) | u32::from(self.nonce) << 23;
        out.extend_from_slice(&lossy.to_be_bytes()[1..]);
        out.extend_from_slice(&self.data.min((1 << 24) - 1).to_be_bytes()[1..]);
    }
}

/// The intervals of a Loss Intervals option, newest first.
pub fn intervals(cells: &[u8]) -> impl Iterator<Item = LossInterval> + '_ {
    cells.as_chunks::<9>().0.iter().map(|cell| {
        let lossy = number(&cell[3..6]) as u32;
        LossInterval {
            lossless: number(&cell[..3]) as u32,
            lossy: lossy & LossInterval::MOST,
            nonce: lossy >> 23 == 1,
            data: number(&cell[6..]) as u32,
        }
    })
}
