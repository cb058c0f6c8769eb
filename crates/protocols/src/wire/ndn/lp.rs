//! NDNLPv2: what a link adds to a packet, and takes off at its other end.
//!
//! | field | type | |
//! |---|---|---|
//! | Fragment | 80 | the packet, or a part of it |
//! | Sequence, FragIndex, FragCount | 81, 82, 83 | which part |
//! | PitToken | 98 | to be repeated with the Data |
//! | Nack, NackReason | 800, 801 | the Interest in it will not be answered |
//! | CongestionMark | 832 | a queue on the path is long |
//! | SendTime | 952 | when the Data left its producer or cache: microseconds of its clock, modulo 2^32, in 4 bytes |
//! | SiteId | 956 | which producer or cache that was: 4 bytes drawn at random |
//!
//! The last two are ours. They lie in the range of fields that a receiver without support must skip (800 to
//! 959, multiples of 4), so that other forwarders strip them. They are not signed: they change where the
//! Data is answered from a cache.

use super::data::DATA;
use super::interest::INTEREST;
use super::tlv::{
    Element, Fields, Reader, element_size, number_size, write_container, write_element, write_number,
    write_number_element,
};
use super::{Malformed, PACKET_MOST, tlv};

/// Type of a packet of the link protocol.
pub const LP_PACKET: u32 = 100;
const FRAGMENT: u32 = 80;
const SEQUENCE: u32 = 81;
const FRAGMENT_INDEX: u32 = 82;
const FRAGMENT_COUNT: u32 = 83;
const PIT_TOKEN: u32 = 98;
const NACK: u32 = 800;
const NACK_REASON: u32 = 801;
const CONGESTION_MARK: u32 = 832;
const SEND_TIME: u32 = 952;
const SITE: u32 = 956;

/// Longest token.
const TOKEN_MOST: usize = 32;

/// Bytes that a forwarder wants to see again with the Data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PitToken {
    bytes: [u8; TOKEN_MOST],
    length: u8,
}

impl PitToken {
    /// Of 1 to 32 bytes.
    pub fn new(value: &[u8]) -> Option<Self> {
        if !(1..=TOKEN_MOST).contains(&value.len()) {
            return None;
        }
        let mut bytes = [0; TOKEN_MOST];
        bytes[..value.len()].copy_from_slice(value);
        Some(Self { bytes, length: value.len() as u8 })
    }
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length.into()]
    }
}

impl std::fmt::Debug for PitToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02x?}", self.bytes())
    }
}

/// Why an Interest is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nack {
    /// It does not say.
    Unspecified,
    /// A link is full.
    Congestion,
    /// This Interest was seen before: it goes round, or came twice.
    Duplicate,
    /// No route to a producer.
    NoRoute,
    /// Another reason.
    Other(u64),
}

impl Nack {
    fn of(reason: u64) -> Self {
        match reason {
            0 => Self::Unspecified,
            50 => Self::Congestion,
            100 => Self::Duplicate,
            150 => Self::NoRoute,
            other => Self::Other(other),
        }
    }
    fn reason(self) -> u64 {
        match self {
            Self::Unspecified => 0,
            Self::Congestion => 50,
            Self::Duplicate => 100,
            Self::NoRoute => 150,
            Self::Other(other) => other,
        }
    }
    fn read(value: &[u8]) -> Result<Self, Malformed> {
        let mut fields = Fields::new(value, &[NACK_REASON]);
        let mut reason = 0;
        while let Some(field) = fields.read()? {
            reason = field.natural()?;
        }
        Ok(Self::of(reason))
    }
}

impl std::fmt::Display for Nack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unspecified => f.write_str("no reason given"),
            Self::Congestion => f.write_str("congestion"),
            Self::Duplicate => f.write_str("duplicate"),
            Self::NoRoute => f.write_str("no route"),
            Self::Other(reason) => write!(f, "reason {reason}"),
        }
    }
}

/// Link headers of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// To be repeated with the Data.
    pub pit_token: Option<PitToken>,
    /// The packet is an Interest that is not answered.
    pub nack: Option<Nack>,
    /// A queue on the path is long.
    pub mark: Option<u64>,
    /// When the Data left its producer or cache: microseconds of its clock, modulo 2^32.
    pub send_time: Option<u32>,
    /// Which producer or cache that was.
    pub site: Option<u32>,
}

/// Which part of a packet a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Counts the fragments that a link sends.
    pub sequence: u64,
    /// Which one, from 0.
    pub index: u64,
    /// Of how many.
    pub count: u64,
}

/// What goes over a link at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LpPacket<'a> {
    /// Its link headers.
    pub headers: Headers,
    /// None: it is whole.
    pub part: Option<Part>,
    /// The packet or fragment; may be empty.
    pub payload: &'a [u8],
}

impl<'a> LpPacket<'a> {
    /// Reads one; a bare Interest or Data is one without headers.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let outer = tlv::only(bytes)?;
        match outer.kind {
            INTEREST | DATA => Ok(Self { payload: bytes, ..Self::default() }),
            LP_PACKET => Self::read_fields(outer.value),
            other => Err(Malformed::Kind(other)),
        }
    }
    fn read_fields(value: &'a [u8]) -> Result<Self, Malformed> {
        let (mut packet, mut reader) = (Self::default(), Reader::new(value));
        let (mut sequence, mut index, mut count, mut last) = (None, 0, 1, 0);
        while let Some(field) = reader.read()? {
            let known = known(field.kind);
            // Fields come in the order of their types, except that the fragment is the last.
            let rank = if field.kind == FRAGMENT { u32::MAX } else { field.kind };
            if known && rank <= last {
                return Err(Malformed::Order(field.kind));
            }
            match field.kind {
                FRAGMENT => packet.payload = field.value,
                SEQUENCE => sequence = Some(field.natural()?),
                FRAGMENT_INDEX => index = field.natural()?,
                FRAGMENT_COUNT => count = field.natural()?,
                _ if known => packet.headers.read(&field)?,
                skipped if is_ignorable(skipped) => {}
                other => return Err(Malformed::Critical(other)),
            }
            last = if known { rank } else { last };
        }
        if index >= count {
            return Err(Malformed::Value(FRAGMENT_INDEX));
        }
        packet.part = sequence.map(|sequence| Part { sequence, index, count });
        if count > 1 && packet.part.is_none() {
            return Err(Malformed::Missing(SEQUENCE));
        }
        Ok(packet)
    }
    /// Appends it; as a bare packet if it has no headers and is whole.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.headers == Headers::default() && self.part.is_none() && !self.payload.is_empty() {
            out.extend_from_slice(self.payload);
            return;
        }
        let mut head = Vec::with_capacity(64);
        if let Some(part) = &self.part {
            part.write(&mut head);
        }
        self.headers.write(&mut head);
        let payload = if self.payload.is_empty() { 0 } else { element_size(FRAGMENT, self.payload.len()) };
        write_number(LP_PACKET.into(), out);
        write_number((head.len() + payload) as u64, out);
        out.extend_from_slice(&head);
        if !self.payload.is_empty() {
            write_element(FRAGMENT, self.payload, out);
        }
    }
}

impl Part {
    /// All fragments of a link have numbers of the same size, whatever they count.
    fn write(&self, out: &mut Vec<u8>) {
        write_element(SEQUENCE, &self.sequence.to_be_bytes(), out);
        write_number_element(FRAGMENT_INDEX, self.index, out);
        write_number_element(FRAGMENT_COUNT, self.count, out);
    }
}

/// Bytes that a fragment needs beside its headers and its payload, at most.
pub(super) fn fragment_overhead(mtu: usize) -> usize {
    let frame = 1 + number_size(mtu as u64) + 1 + number_size(mtu as u64);
    let part = element_size(SEQUENCE, 8) + 2 * element_size(FRAGMENT_INDEX, 2);
    frame + part
}

impl Headers {
    /// Bytes that they need.
    pub fn size(&self) -> usize {
        let mut bytes = Vec::with_capacity(64);
        self.write(&mut bytes);
        bytes.len()
    }
    fn read(&mut self, field: &Element) -> Result<(), Malformed> {
        match field.kind {
            PIT_TOKEN => {
                let token = PitToken::new(field.value).ok_or(Malformed::Length(PIT_TOKEN))?;
                self.pit_token = Some(token);
            }
            NACK => self.nack = Some(Nack::read(field.value)?),
            CONGESTION_MARK => self.mark = Some(field.natural()?),
            SEND_TIME => self.send_time = Some(u32::from_be_bytes(field.array()?)),
            _ => self.site = Some(u32::from_be_bytes(field.array()?)),
        }
        Ok(())
    }
    fn write(&self, out: &mut Vec<u8>) {
        if let Some(token) = &self.pit_token {
            write_element(PIT_TOKEN, token.bytes(), out);
        }
        if let Some(nack) = self.nack {
            write_container(NACK, out, |out| match nack {
                Nack::Unspecified => {}
                other => write_number_element(NACK_REASON, other.reason(), out),
            });
        }
        if let Some(mark) = self.mark {
            write_number_element(CONGESTION_MARK, mark, out);
        }
        if let Some(time) = self.send_time {
            write_element(SEND_TIME, &time.to_be_bytes(), out);
        }
        if let Some(site) = self.site {
            write_element(SITE, &site.to_be_bytes(), out);
        }
    }
}

fn known(kind: u32) -> bool {
    matches!(
        kind,
        FRAGMENT
            | SEQUENCE
            | FRAGMENT_INDEX
            | FRAGMENT_COUNT
            | PIT_TOKEN
            | NACK
            | CONGESTION_MARK
            | SEND_TIME
            | SITE
    )
}

/// What a receiver that does not know a field does with it: the range is reserved for those to be skipped.
fn is_ignorable(kind: u32) -> bool {
    (800..960).contains(&kind) && kind.is_multiple_of(4)
}

/// Bytes that a link may carry at once at most: a packet, and headers beside it.
pub const FRAME_MOST: usize = PACKET_MOST + 200;
