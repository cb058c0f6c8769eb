//! The datagrams of UDPDTN as bytes. All numbers are big-endian.
//!
//! The first byte is the kind (3 bits), then 5 bits that belong to the kind; the session follows in 4.
//!
//! | kind | low bits | after kind and session |
//! |---|---|---|
//! | 0 data, 1 data right behind the one before | report interval | number 4, block 2, symbol 2, stamp 3, payload |
//! | 2 opening | report interval | version 1, length 8, symbol size 2, block symbols 2, digest 32, name length 1, name |
//! | 3 report | opened 1, complete 2, one-way 4, train 8 | `incarnation` 4, sequence 4, highest 4, received 4, stamp 3, held 4 µs, one-way 6 µs, train 8 bit/s, whole below 4, first 2, then 4 a block: symbols 2, beyond 2; digest 32 if complete |
//! | 4 unknown | 0 | nothing |
//! | 5 refusal | reason | text |
//!
//! A report interval is 2 ms · 2^(n/2). A stamp counts 2^16 ns, modulo 2^24; [`Unwrap`] makes a time of
//! it. Anything else is refused, so that two different datagrams never mean the same.

use crate::time::{Duration, Instant};
use crate::transport::udpdtn::{
    DIGEST_BYTES, Datagram, HEADER, Here, OPEN_BYTES, REPORT_BYTES, REPORTED_BLOCKS_MAX, Report,
    STAMP_UNIT_NS, STAMP_WRAP_NS,
};
use crate::units::{BitRate, Bytes};
use crate::wire::interval;
use thiserror::Error;

/// The UDP port where a listener is found if nothing else is said.
pub const PORT: u16 = 4561;
/// What this file speaks.
pub const VERSION: u8 = 1;
/// Longest name of a file, in bytes.
pub const NAME_MAX: usize = 255;
/// Longest text of a refusal, in bytes.
pub const TEXT_MAX: usize = 255;
/// Most blocks of a transfer, as a block has two bytes.
pub const BLOCKS_MAX: u32 = 65_536;
/// Most own symbols of a block: of the two bytes of a symbol at least three quarters name repairs.
pub const BLOCK_SYMBOLS_MAX: u32 = 16_384;

/// Why bytes are no datagram of UDPDTN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// It ends too early or too late.
    #[error("its length is wrong")]
    Length,
    /// A field has a value that means nothing.
    #[error("a field means nothing")]
    Field,
    /// It speaks another version.
    #[error("it is of version {0}, not {VERSION}")]
    Version(u8),
}

/// A datagram.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet<'a> {
    /// Names the transfer, drawn by the sender at each start.
    pub session: u32,
    /// What it says.
    pub body: Body<'a>,
}

/// What a datagram says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body<'a> {
    /// Opens a transfer.
    Open(Opening<'a>),
    /// A symbol.
    Data(Data, &'a [u8]),
    /// What the receiver has; its times have the grain of the wire.
    Report(Box<Report>),
    /// The receiver does not know the session.
    Unknown,
    /// The receiver will not take this transfer, and says why.
    Refuse(Reason, &'a str),
}

/// The opening of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening<'a> {
    /// Of the whole.
    pub length: Bytes,
    /// Size of a symbol.
    pub symbol: u16,
    /// Symbols of a block at most.
    pub block_symbols: u16,
    /// BLAKE3 of the whole.
    pub digest: [u8; DIGEST_BYTES],
    /// What the sender calls it. A receiver trusts no part of it.
    pub name: &'a str,
    /// Report interval for the receiver.
    pub report_every: Duration,
}

/// The header of a datagram of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Data {
    /// Datagrams of data sent before this.
    pub number: u32,
    /// Which block.
    pub block: u16,
    /// Which symbol.
    pub symbol: u16,
    /// When it was sent, modulo [`STAMP_WRAP_NS`], rounded down.
    pub stamp: Instant,
    /// It left right behind the one before.
    pub in_train: bool,
    /// Report interval for the receiver.
    pub report_every: Duration,
}

/// Why a receiver refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its disk is full.
    NoSpace = 1,
    /// It is larger than the receiver takes.
    TooLarge = 2,
    /// Another file of this name is there.
    Exists = 3,
    /// The data do not match the digest of the opening.
    Digest = 4,
    /// It serves as many transfers as it may.
    Busy = 5,
    /// The name or the numbers of the opening cannot be used.
    Opening = 6,
    /// Its folder cannot be written.
    Folder = 7,
    /// It was a measurement, and that is over; the text has its figures.
    Measured = 8,
}

impl Reason {
    const ALL: [Self; 8] = [
        Self::NoSpace,
        Self::TooLarge,
        Self::Exists,
        Self::Digest,
        Self::Busy,
        Self::Opening,
        Self::Folder,
        Self::Measured,
    ];
}

/// A time as a stamp can say it.
pub fn round_stamp(at: Instant) -> Instant {
    Instant::from_nanos(i64::from(stamp_units(at)) * STAMP_UNIT_NS)
}

fn stamp_units(at: Instant) -> u32 {
    (at.as_nanos().rem_euclid(STAMP_WRAP_NS) / STAMP_UNIT_NS) as u32
}

/// Makes times of stamps: those of one sender, seen by one receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwrap {
    /// Least one-way time, by both clocks.
    least: Option<i64>,
}

impl Unwrap {
    /// When a datagram left, by a clock that differs from the sender's by a constant. Correct while a
    /// datagram's one-way time is at most 16 minutes longer and 2 minutes shorter than the least before.
    pub fn sent_at(&mut self, now: Instant, stamp: Instant) -> Instant {
        let way = now.as_nanos().saturating_sub(stamp.as_nanos());
        let least = *self.least.get_or_insert(way.rem_euclid(STAMP_WRAP_NS));
        let mut above = way.wrapping_sub(least).rem_euclid(STAMP_WRAP_NS);
        if above >= STAMP_WRAP_NS / 8 * 7 {
            above -= STAMP_WRAP_NS;
        }
        let way = least + above;
        self.least = Some(least.min(way));
        Instant::from_nanos(now.as_nanos().saturating_sub(way))
    }
}

// --- writing --------------------------------------------------------------------------------

/// Writes the header of a datagram of data.
pub fn write_data(session: u32, data: &Data, out: &mut Vec<u8>) {
    let mut header = [0; HEADER.0 as usize];
    header[0] = u8::from(data.in_train) << 5 | interval::code(data.report_every);
    header[1..5].copy_from_slice(&session.to_be_bytes());
    header[5..9].copy_from_slice(&data.number.to_be_bytes());
    header[9..11].copy_from_slice(&data.block.to_be_bytes());
    header[11..13].copy_from_slice(&data.symbol.to_be_bytes());
    header[13..16].copy_from_slice(&stamp_units(data.stamp).to_be_bytes()[1..]);
    out.extend_from_slice(&header);
}

impl Packet<'_> {
    /// Appends its bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        match &self.body {
            Body::Data(data, payload) => {
                write_data(self.session, data, out);
                out.extend_from_slice(payload);
            }
            Body::Open(opening) => {
                self.begin(2, interval::code(opening.report_every), out);
                opening.write(out);
            }
            Body::Report(report) => {
                let flags = u8::from(report.opened)
                    | u8::from(report.complete) << 1
                    | u8::from(report.one_way.is_some()) << 2
                    | u8::from(report.train.is_some()) << 3;
                self.begin(3, flags, out);
                write_report(report, out);
            }
            Body::Unknown => self.begin(4, 0, out),
            Body::Refuse(reason, text) => {
                self.begin(5, *reason as u8, out);
                out.extend_from_slice(cut_text(text, TEXT_MAX).as_bytes());
            }
        }
    }
    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }
    fn begin(&self, kind: u8, low: u8, out: &mut Vec<u8>) {
        out.push(kind << 5 | low);
        out.extend_from_slice(&self.session.to_be_bytes());
    }
}

/// As many whole characters as fit into `most` bytes.
pub fn cut_text(text: &str, most: usize) -> &str {
    let ends = text.char_indices().map(|(at, character)| at + character.len_utf8());
    &text[..ends.take_while(|end| *end <= most).last().unwrap_or(0)]
}

impl Opening<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let name = cut_text(self.name, NAME_MAX);
        out.push(VERSION);
        out.extend_from_slice(&self.length.0.to_be_bytes());
        out.extend_from_slice(&self.symbol.to_be_bytes());
        out.extend_from_slice(&self.block_symbols.to_be_bytes());
        out.extend_from_slice(&self.digest);
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
    }
}

/// Microseconds that six bytes hold.
const ONE_WAY_MOST_US: i64 = (1 << 47) - 1;

fn write_report(report: &Report, out: &mut Vec<u8>) {
    let held = u32::try_from(report.held.as_nanos().max(0) / 1000).unwrap_or(u32::MAX);
    let way = report.one_way.map_or(0, |time| time.as_nanos().div_euclid(1000));
    for number in [report.incarnation, report.sequence, report.highest, report.received] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    out.extend_from_slice(&stamp_units(report.sent_at).to_be_bytes()[1..]);
    out.extend_from_slice(&held.to_be_bytes());
    out.extend_from_slice(&way.clamp(-ONE_WAY_MOST_US, ONE_WAY_MOST_US).to_be_bytes()[2..]);
    out.extend_from_slice(&report.train.map_or(0, |train| train.0).to_be_bytes());
    out.extend_from_slice(&report.whole_below.to_be_bytes());
    out.extend_from_slice(&(report.first.min(u16::MAX.into()) as u16).to_be_bytes());
    for here in report.have.iter().take(REPORTED_BLOCKS_MAX) {
        out.extend_from_slice(&here.symbols.to_be_bytes());
        out.extend_from_slice(&here.beyond.to_be_bytes());
    }
    if report.complete {
        out.extend_from_slice(&report.digest);
    }
}

// --- reading --------------------------------------------------------------------------------

/// Takes fields off the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Malformed::Length)?;
        self.0 = rest;
        Ok(*first)
    }
    fn u8(&mut self) -> Result<u8, Malformed> {
        self.take().map(u8::from_be_bytes)
    }
    fn u16(&mut self) -> Result<u16, Malformed> {
        self.take().map(u16::from_be_bytes)
    }
    fn u32(&mut self) -> Result<u32, Malformed> {
        self.take().map(u32::from_be_bytes)
    }
    fn u64(&mut self) -> Result<u64, Malformed> {
        self.take().map(u64::from_be_bytes)
    }
    fn stamp(&mut self) -> Result<Instant, Malformed> {
        let [a, b, c] = self.take()?;
        Ok(Instant::from_nanos(i64::from(u32::from_be_bytes([0, a, b, c])) * STAMP_UNIT_NS))
    }
    /// Six bytes with a sign.
    fn microseconds(&mut self) -> Result<i64, Malformed> {
        let [a, b, c, d, e, f] = self.take()?;
        Ok(i64::from_be_bytes([a, b, c, d, e, f, 0, 0]) >> 16)
    }
    fn text(&mut self, length: usize) -> Result<&'a str, Malformed> {
        let (text, rest) = self.0.split_at_checked(length).ok_or(Malformed::Length)?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| Malformed::Field)
    }
    fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed::Length) }
    }
}

impl<'a> Packet<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// What it is not.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        let first = reader.u8()?;
        let (kind, low) = (first >> 5, first & 31);
        let session = reader.u32()?;
        let body = match kind {
            0 | 1 => {
                let data = read_data(&mut reader, kind == 1, low)?;
                Body::Data(data, reader.0)
            }
            2 => Body::Open(read_opening(&mut reader, low)?),
            3 => Body::Report(Box::new(read_report(&mut reader, low)?)),
            4 if low == 0 => {
                reader.end()?;
                Body::Unknown
            }
            5 => {
                let found = Reason::ALL.into_iter().find(|reason| *reason as u8 == low);
                let length = reader.0.len();
                if length > TEXT_MAX {
                    return Err(Malformed::Length);
                }
                Body::Refuse(found.ok_or(Malformed::Field)?, reader.text(length)?)
            }
            _ => return Err(Malformed::Field),
        };
        Ok(Self { session, body })
    }
    /// What the machines understand of it.
    pub fn datagram(&self, unwrap: &mut Unwrap, now: Instant) -> Option<Datagram> {
        match &self.body {
            Body::Open(opening) => {
                Some(Datagram::Open { length: opening.length, report_every: opening.report_every })
            }
            Body::Data(data, _) => Some(Datagram::Data {
                number: data.number,
                block: data.block.into(),
                symbol: data.symbol.into(),
                sent_at: unwrap.sent_at(now, data.stamp),
                in_train: data.in_train,
                report_every: data.report_every,
            }),
            Body::Report(report) => Some(Datagram::Report(report.clone())),
            Body::Unknown => Some(Datagram::Unknown),
            Body::Refuse(..) => None,
        }
    }
}

fn read_data(reader: &mut Reader, in_train: bool, low: u8) -> Result<Data, Malformed> {
    Ok(Data {
        number: reader.u32()?,
        block: reader.u16()?,
        symbol: reader.u16()?,
        stamp: reader.stamp()?,
        in_train,
        report_every: interval::of(low),
    })
}

fn read_opening<'a>(reader: &mut Reader<'a>, low: u8) -> Result<Opening<'a>, Malformed> {
    let version = reader.u8()?;
    if version != VERSION {
        return Err(Malformed::Version(version));
    }
    let opening = Opening {
        length: Bytes(reader.u64()?),
        symbol: reader.u16()?,
        block_symbols: reader.u16()?,
        digest: reader.take()?,
        name: {
            let length = reader.u8()?;
            reader.text(length.into())?
        },
        report_every: interval::of(low),
    };
    reader.end()?;
    let blocks = opening.length.0.div_ceil(u64::from(opening.symbol).max(1)).max(1);
    let blocks = blocks.div_ceil(u64::from(opening.block_symbols).max(1));
    let fits = opening.symbol > 0
        && (1..=BLOCK_SYMBOLS_MAX).contains(&u32::from(opening.block_symbols))
        && blocks <= BLOCKS_MAX.into();
    if fits { Ok(opening) } else { Err(Malformed::Field) }
}

fn read_report(reader: &mut Reader, low: u8) -> Result<Report, Malformed> {
    let [opened, complete, has_way, has_train] = [1, 2, 4, 8].map(|bit| low & bit != 0);
    let mut report = Report {
        incarnation: reader.u32()?,
        sequence: reader.u32()?,
        highest: reader.u32()?,
        received: reader.u32()?,
        sent_at: reader.stamp()?,
        held: Duration::from_nanos(i64::from(reader.u32()?) * 1000),
        opened,
        complete,
        ..Report::default()
    };
    let (way, train) = (reader.microseconds()?, reader.u64()?);
    let means_nothing = (way != 0 && !has_way) || (train != 0 && !has_train);
    if low > 15 || means_nothing || way < -ONE_WAY_MOST_US {
        return Err(Malformed::Field);
    }
    report.one_way = has_way.then(|| Duration::from_nanos(way * 1000));
    report.train = has_train.then_some(BitRate(train));
    report.whole_below = reader.u32()?;
    report.first = reader.u16()?.into();
    let digest = if complete { DIGEST_BYTES } else { 0 };
    let blocks = reader.0.len().checked_sub(digest).ok_or(Malformed::Length)?;
    if !blocks.is_multiple_of(4) || blocks / 4 > REPORTED_BLOCKS_MAX {
        return Err(Malformed::Length);
    }
    for _ in 0..blocks / 4 {
        report.have.push(Here { symbols: reader.u16()?, beyond: reader.u16()? });
    }
    if complete {
        report.digest = reader.take()?;
    }
    Ok(report)
}

/// Bytes of a packet that carries this, without those of IP and UDP: what the simulated world counts.
pub fn size(body: &Body) -> u64 {
    match body {
        Body::Open(opening) => OPEN_BYTES + opening.name.len() as u64,
        Body::Data(_, payload) => HEADER.0 + payload.len() as u64,
        Body::Report(report) => {
            REPORT_BYTES
                + 4 * report.have.len() as u64
                + if report.complete { DIGEST_BYTES as u64 } else { 0 }
        }
        Body::Unknown => 5,
        Body::Refuse(_, text) => 5 + text.len() as u64,
    }
}

#[cfg(test)]
#[path = "udpdtn_tests.rs"]
mod tests;
