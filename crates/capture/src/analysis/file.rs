//! Captures as files: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), in both byte orders, as they are
//! or compressed by gzip.
//!
//! One record at a time; what is damaged is counted or ends the reading, and what was read before it counts.

use super::notes::{Note, Notes};
use super::window::Window;
use std::io::{self, Read};
use thiserror::Error;

/// No record is longer: libpcap takes 256 KiB, and tools that make jumbo records stay far below this.
const LONGEST: u32 = 16 << 20;
/// More interfaces than any machine has.
const INTERFACES_MAX: usize = 65_536;
const NANOSECONDS_PER_S: i128 = 1_000_000_000;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Why nothing can be read.
#[derive(Debug, Error)]
pub enum Error {
    /// The system says so.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// What was made of it cannot be written.
    #[error("was read, but the result cannot be written: {0}")]
    Unwritten(io::Error),
    /// None of its interfaces is the one that is asked for.
    #[error("has no interface `{wanted}`; it has {known}")]
    NoInterface {
        /// The name or the number.
        wanted: String,
        /// Names of those that it has, or their numbers.
        known: String,
    },
    /// It is nothing that this file knows.
    #[error("is {0}; expected a capture as pcap or pcapng, which gzip may have compressed")]
    Foreign(&'static str),
}

/// A packet as captured.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Nanoseconds since 1970, UTC.
    pub at_ns: i64,
    /// LINKTYPE_ number.
    pub link: u16,
    /// Number of the interface where it was captured; 0 in files that name none.
    pub interface: u32,
    /// Bytes that it had on the wire.
    pub length: u32,
    /// Bytes of it that were kept.
    pub data: &'a [u8],
}

/// What a record is, before its bytes are borrowed.
struct Found {
    at_ns: i64,
    link: u16,
    interface: u32,
    is_wanted: bool,
    length: u32,
    /// Bytes kept, and how many bytes of the window follow them.
    kept: usize,
    behind: usize,
}

/// A capture that is being read.
pub struct CaptureFile<R> {
    window: Window<R>,
    format: Format,
    big_endian: bool,
    interfaces: Vec<Interface>,
    only: Only,
    last_ns: i64,
    /// What is wrong with it so far.
    pub(super) notes: Notes,
}

enum Format {
    Pcap { nanoseconds: bool },
    Pcapng,
}

/// The interface whose packets are read, where not all are.
#[derive(Default)]
struct Only {
    wanted: Option<String>,
    /// Names of all interfaces, if one is wanted.
    known: Vec<String>,
    is_found: bool,
}

impl Only {
    /// Whether packets of an interface are read; without a name it is called by its number.
    fn takes(&mut self, number: usize, name: Option<&str>) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let number = number.to_string();
        let is_wanted = *wanted == number || name == Some(wanted);
        self.is_found |= is_wanted;
        self.known.push(name.map_or(number, str::to_owned));
        is_wanted
    }
    /// That there is one.
    fn check(&mut self) -> Result<(), Error> {
        match self.wanted.take().filter(|_| !self.is_found) {
            Some(wanted) => Err(Error::NoInterface { wanted, known: self.known.join(", ") }),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Copy)]
struct Interface {
    is_wanted: bool,
    link: u16,
    snap: u32,
    clock: Clock,
    offset_s: i64,
}

/// Length of a tick.
#[derive(Clone, Copy)]
enum Clock {
    Decimal(u8),
    Binary(u8),
}

impl<R: Read> CaptureFile<R> {
    /// Reads what stands at its head.
    ///
    /// # Errors
    /// It is not a capture.
    pub fn open(from: R) -> Result<Self, Error> {
        Self::open_only(from, None)
    }
    /// The same, of which only packets of an interface are read: by its name or, from 0, its number.
    ///
    /// # Errors
    /// As [`CaptureFile::open`].
    pub fn open_only(from: R, interface: Option<&str>) -> Result<Self, Error> {
        let mut window = Window::new(from)?;
        let head = window.peek(24)?;
        let (whole, is_empty) = (head.len() == 24, head.is_empty());
        let magic: [u8; 4] = match head.first_chunk().copied() {
            Some(magic) => magic,
            None if window.damaged => return Err(Error::Foreign("damaged within its compressed head")),
            None if is_empty => return Err(Error::Foreign("empty")),
            None => return Err(Error::Foreign("too short")),
        };
        let (format, big_endian) = format_of(magic)?;
        let mut file = Self {
            window,
            format,
            big_endian,
            interfaces: Vec::new(),
            only: Only { wanted: interface.map(str::to_owned), ..Only::default() },
            last_ns: 0,
            notes: Notes::default(),
        };
        if matches!(file.format, Format::Pcap { .. }) {
            if !whole {
                return Err(Error::Foreign("cut within its head"));
            }
            file.read_pcap_head()?;
        }
        Ok(file)
    }

    /// The next packet; none at the end, or where what follows cannot be read.
    ///
    /// # Errors
    /// The system cannot read on, or the file has no such interface as is wanted.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        let found = loop {
            let found = match self.format {
                Format::Pcap { nanoseconds } => self.next_of_pcap(nanoseconds)?,
                Format::Pcapng => self.next_of_pcapng()?,
            };
            match found {
                Some(found) if !found.is_wanted => {}
                other => break other,
            }
        };
        let Some(found) = found else {
            if std::mem::take(&mut self.window.damaged) {
                self.notes.count(Note::Compressed);
            }
            self.only.check()?;
            return Ok(None);
        };
        if found.at_ns < self.last_ns {
            self.notes.count(Note::TimeWentBack);
        }
        self.last_ns = found.at_ns;
        let bytes = self.window.behind(found.kept + found.behind);
        let data = &bytes[..found.kept.min(bytes.len())];
        let length = found.length.max(found.kept as u32);
        let Found { at_ns, link, interface, .. } = found;
        Ok(Some(Record { at_ns, link, interface, length, data }))
    }

    fn read_pcap_head(&mut self) -> Result<(), Error> {
        let big_endian = self.big_endian;
        let head = self.window.peek(24)?;
        let snap = u32_at(head, 16, big_endian);
        // The upper bits describe frame check sequences.
        let link = u32_at(head, 20, big_endian) as u16;
        let is_wanted = self.only.takes(0, None);
        self.interfaces.push(Interface { is_wanted, link, snap, clock: Clock::Decimal(9), offset_s: 0 });
        self.window.pass(24);
        Ok(())
    }

    #[inline]
    fn next_of_pcap(&mut self, nanoseconds: bool) -> Result<Option<Found>, Error> {
        let big_endian = self.big_endian;
        let Interface { link, snap, is_wanted, .. } = self.interfaces[0];
        let head = self.window.peek(16)?;
        if head.len() < 16 {
            let cut = !head.is_empty();
            return Ok(self.end(cut));
        }
        let seconds = i64::from(u32_at(head, 0, big_endian));
        let fraction = i64::from(u32_at(head, 4, big_endian));
        let kept = u32_at(head, 8, big_endian);
        let length = u32_at(head, 12, big_endian);
        if kept > LONGEST {
            self.notes.count(Note::RecordTooLong);
            return Ok(None);
        }
        let fraction = if nanoseconds { fraction } else { fraction * 1000 };
        if kept > length || (snap > 0 && kept > snap) {
            self.notes.count(Note::WrongLength);
        }
        let whole = 16 + kept as usize;
        if self.window.peek(whole)?.len() < whole {
            return Ok(self.end(true));
        }
        self.window.pass(whole);
        let at_ns = seconds * NANOSECONDS_PER_S as i64 + fraction;
        Ok(Some(Found { at_ns, link, interface: 0, is_wanted, length, kept: kept as usize, behind: 0 }))
    }

    fn next_of_pcapng(&mut self) -> Result<Option<Found>, Error> {
        loop {
            let head = self.window.peek(12)?;
            if head.len() < 12 {
                let cut = !head.is_empty();
                return Ok(self.end(cut));
            }
            if u32_at(head, 0, false) == SECTION {
                match u32_at(head, 8, false) {
                    0x1a2b_3c4d => self.big_endian = false,
                    0x4d3c_2b1a => self.big_endian = true,
                    _ => return Ok(self.damaged()),
                }
                self.interfaces.clear();
            }
            let big_endian = self.big_endian;
            let head = self.window.peek(12)?;
            let (kind, length) = (u32_at(head, 0, big_endian), u32_at(head, 4, big_endian));
            if length < 12 || length % 4 != 0 {
                return Ok(self.damaged());
            }
            if !matches!(kind, INTERFACE | OBSOLETE_PACKET | SIMPLE_PACKET | ENHANCED_PACKET) {
                if !self.window.skip(u64::from(length))? {
                    return Ok(self.end(true));
                }
                continue;
            }
            if length > LONGEST {
                self.notes.count(Note::RecordTooLong);
                return Ok(None);
            }
            if let Some(found) = self.block(kind, length as usize)? {
                return Ok(Some(found));
            }
            if self.notes.ended() {
                return Ok(None);
            }
        }
    }

    /// One block that matters. None where it holds no packet, or where the file is cut, which is noted.
    fn block(&mut self, kind: u32, length: usize) -> Result<Option<Found>, Error> {
        let big_endian = self.big_endian;
        let whole = self.window.peek(length)?;
        if whole.len() < length {
            return Ok(self.end(true));
        }
        let told_again = u32_at(whole, length - 4, big_endian) as usize == length;
        let body = &whole[8..length - 4];
        let found = if kind == INTERFACE {
            match interface(body, big_endian) {
                Some((interface, name)) if self.interfaces.len() < INTERFACES_MAX => {
                    let is_wanted = self.only.takes(self.interfaces.len(), name.as_deref());
                    self.interfaces.push(Interface { is_wanted, ..interface });
                    Ok(None)
                }
                _ => Err(Note::WrongLength),
            }
        } else {
            packet(kind, body, big_endian, &self.interfaces, self.last_ns).map(Some)
        };
        if !told_again {
            self.notes.count(Note::WrongLength);
        }
        self.window.pass(length);
        match found {
            Ok(found) => Ok(found.map(|(found, before)| {
                let behind = length - 8 - before - found.kept;
                Found { behind, ..found }
            })),
            Err(note) => {
                self.notes.count(note);
                Ok(None)
            }
        }
    }

    fn end<T>(&mut self, cut: bool) -> Option<T> {
        if cut {
            self.notes.count(Note::Cut);
        }
        None
    }

    fn damaged<T>(&mut self) -> Option<T> {
        self.notes.count(Note::Damaged);
        None
    }
}

fn format_of(magic: [u8; 4]) -> Result<(Format, bool), Error> {
    Ok(match magic {
        [0xd4, 0xc3, 0xb2, 0xa1] => (Format::Pcap { nanoseconds: false }, false),
        [0xa1, 0xb2, 0xc3, 0xd4] => (Format::Pcap { nanoseconds: false }, true),
        [0x4d, 0x3c, 0xb2, 0xa1] => (Format::Pcap { nanoseconds: true }, false),
        [0xa1, 0xb2, 0x3c, 0x4d] => (Format::Pcap { nanoseconds: true }, true),
        [0x0a, 0x0d, 0x0d, 0x0a] => (Format::Pcapng, false),
        [0x1f, 0x8b, ..] => return Err(Error::Foreign("compressed by gzip twice (gunzip it first)")),
        [0x28, 0xb5, 0x2f, 0xfd] => return Err(Error::Foreign("compressed by zstd (unzstd it first)")),
        [0xfd, b'7', b'z', b'X'] => return Err(Error::Foreign("compressed by xz (unxz it first)")),
        _ => return Err(Error::Foreign("not a capture")),
    })
}

/// An Interface Description Block, and its name if it has one.
fn interface(body: &[u8], big_endian: bool) -> Option<(Interface, Option<String>)> {
    if body.len() < 8 {
        return None;
    }
    let mut name = None;
    let mut made = Interface {
        is_wanted: true,
        link: u16_at(body, 0, big_endian),
        snap: u32_at(body, 4, big_endian),
        clock: Clock::Decimal(6),
        offset_s: 0,
    };
    let mut options = &body[8..];
    while options.len() >= 4 {
        let (code, length) = (u16_at(options, 0, big_endian), usize::from(u16_at(options, 2, big_endian)));
        let Some(value) = options.get(4..4 + length) else { break };
        match (code, value) {
            (0, _) => break,
            (2, text) => name = Some(String::from_utf8_lossy(text).into_owned()),
            (9, [tick]) if tick & 0x80 == 0 => made.clock = Clock::Decimal(tick.min(&38) & 0x7f),
            (9, [tick]) => made.clock = Clock::Binary(tick & 0x7f),
            (14, [_, _, _, _, _, _, _, _]) => {
                let (high, low) = if big_endian { (0, 4) } else { (4, 0) };
                let high = u64::from(u32_at(value, high, big_endian)) << 32;
                made.offset_s = (high | u64::from(u32_at(value, low, big_endian))) as i64;
            }
            _ => {}
        }
        options = options.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some((made, name))
}

/// A block with a packet, and how many bytes of the body come before the packet's.
fn packet(
    kind: u32,
    body: &[u8],
    big_endian: bool,
    interfaces: &[Interface],
    last_ns: i64,
) -> Result<(Found, usize), Note> {
    let before = if kind == SIMPLE_PACKET { 4 } else { 20 };
    if body.len() < before {
        return Err(Note::WrongLength);
    }
    let index = match kind {
        SIMPLE_PACKET => 0,
        OBSOLETE_PACKET => usize::from(u16_at(body, 0, big_endian)),
        _ => u32_at(body, 0, big_endian) as usize,
    };
    let interface = interfaces.get(index).ok_or(Note::UnknownInterface)?;
    let room = body.len() - before;
    let (at_ns, kept, length) = if kind == SIMPLE_PACKET {
        let length = u32_at(body, 0, big_endian);
        let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
        // Without a time of its own it takes the time of the packet before.
        (last_ns, length.min(snap).min(room as u32), length)
    } else {
        let ticks = u64::from(u32_at(body, 4, big_endian)) << 32 | u64::from(u32_at(body, 8, big_endian));
        (interface.nanoseconds(ticks), u32_at(body, 12, big_endian), u32_at(body, 16, big_endian))
    };
    if kept as usize > room {
        return Err(Note::WrongLength);
    }
    let Interface { link, is_wanted, .. } = *interface;
    Ok((
        Found { at_ns, link, interface: index as u32, is_wanted, length, kept: kept as usize, behind: 0 },
        before,
    ))
}

impl Interface {
    #[inline]
    fn nanoseconds(&self, ticks: u64) -> i64 {
        let ticks_ns = match self.clock {
            Clock::Decimal(9) => i128::from(ticks),
            Clock::Decimal(digits @ ..9) => i128::from(ticks) * 10_i128.pow(9 - u32::from(digits)),
            Clock::Decimal(digits) => i128::from(ticks) / 10_i128.pow(u32::from(digits) - 9),
            Clock::Binary(bits) => (i128::from(ticks) * NANOSECONDS_PER_S) >> bits,
        };
        let since = ticks_ns + i128::from(self.offset_s) * NANOSECONDS_PER_S;
        // Times may be subtracted without care: half of the range is for differences.
        since.clamp(i128::from(i64::MIN / 4), i128::from(i64::MAX / 4)) as i64
    }
}

#[inline]
fn u32_at(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}

#[inline]
fn u16_at(bytes: &[u8], at: usize, big_endian: bool) -> u16 {
    let word = [bytes[at], bytes[at + 1]];
    if big_endian { u16::from_be_bytes(word) } else { u16::from_le_bytes(word) }
}
