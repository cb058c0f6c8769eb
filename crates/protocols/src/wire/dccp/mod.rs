//! DCCP packets as bytes (RFC 4340, section 5). All numbers are big-endian.
//!
//! [`Packet::read`] checks what can be checked of a header alone (section 8.5, step 1) and copies nothing;
//! [`Packet::options`] reads the options one by one. Over IP the checksum belongs to the addresses
//! ([`Addresses`]); inside UDP (RFC 6773) the checksum of UDP replaces it and its field is zero.

mod checksum;
mod options;
mod sequence;
#[cfg(test)]
mod tests;

pub use checksum::{Addresses, crc32c};
pub use options::{
    Act, DROPPED_RUN_MAX, Item, LossInterval, Options, Received, RunOfDrops, RunOfPackets, VECTOR_RUN_MAX,
    drops, intervals, pad, runs,
};
pub use sequence::Sequence;

use thiserror::Error;

/// DCCP over IP.
pub const IP_PROTOCOL: u8 = 33;
/// The port of DCCP in UDP (RFC 6773, section 3.8).
pub const UDP_PORT: u16 = 6511;
/// Most bytes of a header with its options: Data Offset has 8 bits and counts words.
pub const HEADER_MAX: usize = 255 * 4;

/// What a packet is (section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Asks for a connection.
    Request = 0,
    /// Answers that.
    Response = 1,
    /// Carries data.
    Data = 2,
    /// Acknowledges.
    Ack = 3,
    /// Both.
    DataAck = 4,
    /// The server asks the client to close.
    CloseReq = 5,
    /// Closes.
    Close = 6,
    /// Ends a connection at once.
    Reset = 7,
    /// Asks where the other end is after sequence numbers that cannot be.
    Sync = 8,
    /// Answers that.
    SyncAck = 9,
}

impl Kind {
    /// All, by number.
    pub const ALL: [Self; 10] = [
        Self::Request,
        Self::Response,
        Self::Data,
        Self::Ack,
        Self::DataAck,
        Self::CloseReq,
        Self::Close,
        Self::Reset,
        Self::Sync,
        Self::SyncAck,
    ];
    /// Whether it may have a sequence number of 24 bits.
    pub fn may_be_short(self) -> bool {
        matches!(self, Self::Data | Self::Ack | Self::DataAck)
    }
    /// Whether it carries data of the application, once a connection is open.
    pub fn is_data(self) -> bool {
        matches!(self, Self::Data | Self::DataAck)
    }
    /// Whether an NDP Count counts it: not Requests and Responses, which may carry data (section 7.7).
    pub fn is_without_data(self) -> bool {
        !matches!(self, Self::Request | Self::Response | Self::Data | Self::DataAck)
    }
}

/// Why a connection ends at once (section 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetCode {
    /// Nothing said.
    Unspecified,
    /// The end of a connection that was closed.
    Closed,
    /// The other end is gone or does not answer.
    Aborted,
    /// No such connection.
    NoConnection,
    /// A packet of a type that cannot be here: its type is the first byte of the data.
    PacketError,
    /// An option that cannot be so: its type and first bytes are the data.
    OptionError,
    /// A mandatory option that is not understood: its type and first bytes are the data.
    MandatoryError,
    /// No listener at the port.
    ConnectionRefused,
    /// The service code is not offered.
    BadServiceCode,
    /// Too much to do.
    TooBusy,
    /// A cookie that is not ours, or none.
    BadInitCookie,
    /// Somebody misbehaves.
    AggressionPenalty,
    /// The ports in UDP belong to another connection (RFC 6773, section 3.8).
    EncapsulatedPortReuse,
    /// One of another document (13 to 255).
    Other(u8),
}

impl ResetCode {
    const NAMED: [Self; 13] = [
        Self::Unspecified,
        Self::Closed,
        Self::Aborted,
        Self::NoConnection,
        Self::PacketError,
        Self::OptionError,
        Self::MandatoryError,
        Self::ConnectionRefused,
        Self::BadServiceCode,
        Self::TooBusy,
        Self::BadInitCookie,
        Self::AggressionPenalty,
        Self::EncapsulatedPortReuse,
    ];
    /// Of a number.
    pub fn from_number(number: u8) -> Self {
        Self::NAMED.get(usize::from(number)).copied().unwrap_or(Self::Other(number))
    }
    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Self::Other(number) => number,
            named => Self::NAMED.iter().position(|code| *code == named).unwrap_or(0) as u8,
        }
    }
}

/// What belongs to the type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Asks for a connection to a service.
    Request {
        /// Which.
        service: u32,
    },
    /// Answers that.
    Response {
        /// Of the request.
        ack: Sequence,
        /// Which service.
        service: u32,
    },
    /// Carries data.
    Data,
    /// Acknowledges.
    Ack {
        /// The greatest number that has come.
        ack: Sequence,
    },
    /// Both.
    DataAck {
        /// The greatest number that has come.
        ack: Sequence,
    },
    /// The server asks the client to close.
    CloseReq {
        /// The greatest number that has come.
        ack: Sequence,
    },
    /// Closes.
    Close {
        /// The greatest number that has come.
        ack: Sequence,
    },
    /// Ends a connection at once.
    Reset {
        /// The greatest number that has come.
        ack: Sequence,
        /// Why.
        code: ResetCode,
        /// Details, as the code says.
        details: [u8; 3],
    },
    /// Asks where the other end is.
    Sync {
        /// The number that could not be.
        ack: Sequence,
    },
    /// Answers that.
    SyncAck {
        /// The number of the Sync.
        ack: Sequence,
    },
}

impl Body {
    /// The type.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Request { .. } => Kind::Request,
            Self::Response { .. } => Kind::Response,
            Self::Data => Kind::Data,
            Self::Ack { .. } => Kind::Ack,
            Self::DataAck { .. } => Kind::DataAck,
            Self::CloseReq { .. } => Kind::CloseReq,
            Self::Close { .. } => Kind::Close,
            Self::Reset { .. } => Kind::Reset,
            Self::Sync { .. } => Kind::Sync,
            Self::SyncAck { .. } => Kind::SyncAck,
        }
    }
    /// The acknowledgement number of those that have one.
    pub fn ack(&self) -> Option<Sequence> {
        match *self {
            Self::Request { .. } | Self::Data => None,
            Self::Response { ack, .. }
            | Self::Ack { ack }
            | Self::DataAck { ack }
            | Self::CloseReq { ack }
            | Self::Close { ack }
            | Self::Reset { ack, .. }
            | Self::Sync { ack }
            | Self::SyncAck { ack } => Some(ack),
        }
    }
    /// The same with another acknowledgement number, where there is one.
    fn acknowledging(self, ack: Sequence) -> Self {
        match self {
            Self::Request { .. } | Self::Data => self,
            Self::Response { service, .. } => Self::Response { ack, service },
            Self::Ack { .. } => Self::Ack { ack },
            Self::DataAck { .. } => Self::DataAck { ack },
            Self::CloseReq { .. } => Self::CloseReq { ack },
            Self::Close { .. } => Self::Close { ack },
            Self::Reset { code, details, .. } => Self::Reset { ack, code, details },
            Self::Sync { .. } => Self::Sync { ack },
            Self::SyncAck { .. } => Self::SyncAck { ack },
        }
    }
    /// Bytes of a header without options.
    pub fn header_bytes(&self, short: bool) -> usize {
        let generic = if short { 12 } else { 16 };
        let ack = if self.ack().is_none() { 0 } else { generic - 8 };
        let own = match self.kind() {
            Kind::Request | Kind::Response | Kind::Reset => 4,
            _ => 0,
        };
        generic + ack + own
    }
}

/// A header without its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Port of the sender.
    pub source: u16,
    /// Port of the receiver.
    pub destination: u16,
    /// Four bits for the congestion control of the sender (section 5.1).
    pub ccval: u8,
    /// How much of the data the checksum covers: 0 all, n the first 4·(n−1) bytes (section 9.2).
    pub coverage: u8,
    /// Both numbers have 24 bits on the wire (X = 0). Those of a packet that was read are those 24 bits:
    /// [`Header::extended`] makes whole ones.
    pub short: bool,
    /// The sequence number.
    pub sequence: Sequence,
    /// Type, acknowledgement number, and what belongs to the type.
    pub body: Body,
}

impl Header {
    /// The type.
    pub fn kind(&self) -> Kind {
        self.body.kind()
    }
    /// With whole numbers: the sequence number is near `received`, the greatest that came, and the
    /// acknowledgement number near `sent`, the greatest that went (section 7.6).
    #[must_use]
    pub fn extended(mut self, received: Sequence, sent: Sequence) -> Self {
        if self.short {
            self.sequence = received.extend(self.sequence.get() as u32);
            if let Some(ack) = self.body.ack() {
                self.body = self.body.acknowledging(sent.extend(ack.get() as u32));
            }
            self.short = false;
        }
        self
    }
    /// How many of `length` bytes of data the checksum covers; none if it would have to cover more.
    fn covered(&self, length: usize) -> Option<usize> {
        match usize::from(self.coverage) {
            0 => Some(length),
            some => Some((some - 1) * 4).filter(|covered| *covered <= length),
        }
    }
}

/// Why bytes are no packet of DCCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// It ends within its header.
    #[error("the DCCP header is cut off: {has} bytes came, it needs {needs}")]
    Cut {
        /// Bytes received.
        has: usize,
        /// Least bytes needed.
        needs: usize,
    },
    /// Types 10 to 15 are reserved.
    #[error("the packet type is {0}, the types of RFC 4340 are 0 to 9")]
    Kind(u8),
    /// Only Data, Ack and DataAck may have short numbers.
    #[error("a {0:?} packet has a sequence number of 24 bits, it must have 48")]
    ShortSequence(Kind),
    /// The data begin within the header or beyond the end.
    #[error("Data Offset is {offset} bytes, it must be from {least} to {most}")]
    DataOffset {
        /// So it says.
        offset: usize,
        /// End of the header.
        least: usize,
        /// End of the packet.
        most: usize,
    },
    /// The checksum is said to cover more data than there are.
    #[error("CsCov is {coverage}: its checksum covers more than the {data} bytes of data")]
    Coverage {
        /// The field.
        coverage: u8,
        /// Bytes of data.
        data: usize,
    },
    /// The checksum is wrong.
    #[error("the checksum is {found:#06x}, the packet gives {right:#06x}")]
    Checksum {
        /// In the packet.
        found: u16,
        /// As it should be.
        right: u16,
    },
    /// An option is shorter than its two first bytes, or goes beyond the header.
    #[error("option {kind} at byte {at} of the options has a length of {length}")]
    OptionLength {
        /// Its type.
        kind: u8,
        /// Where it begins.
        at: usize,
        /// What it says.
        length: usize,
    },
}

/// A packet, borrowed from the bytes it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Everything before the options.
    pub header: Header,
    /// Bytes of the options.
    pub options: &'a [u8],
    /// Data of the application; of a Reset, words for people.
    pub data: &'a [u8],
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

impl<'a> Packet<'a> {
    /// Reads a packet. The checksum is not looked at: see [`Packet::verify`].
    ///
    /// # Errors
    /// What it is not (section 8.5, step 1: such a packet is dropped).
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let cut = |needs| Malformed::Cut { has: bytes.len(), needs };
        let generic: &[u8; 12] = bytes.first_chunk().ok_or(cut(12))?;
        let kind_number = generic[8] >> 1 & 15;
        let kind = *Kind::ALL.get(usize::from(kind_number)).ok_or(Malformed::Kind(kind_number))?;
        let short = generic[8] & 1 == 0;
        if short && !kind.may_be_short() {
            return Err(Malformed::ShortSequence(kind));
        }
        let (body, own) = Self::read_body(bytes, kind, short).ok_or_else(|| cut(least_bytes(kind, short)))?;
        let sequence = if short { number(&generic[9..12]) } else { number(&bytes[10..16]) };
        let offset = usize::from(generic[4]) * 4;
        if offset < own || offset > bytes.len() {
            return Err(Malformed::DataOffset { offset, least: own, most: bytes.len() });
        }
        let header = Header {
            source: number(&generic[0..2]) as u16,
            destination: number(&generic[2..4]) as u16,
            ccval: generic[5] >> 4,
            coverage: generic[5] & 15,
            short,
            sequence: Sequence::new(sequence),
            body,
        };
        let data = &bytes[offset..];
        if header.covered(data.len()).is_none() {
            return Err(Malformed::Coverage { coverage: header.coverage, data: data.len() });
        }
        Ok(Self { header, options: &bytes[own..offset], data })
    }
    /// What follows the generic header, and where it ends; none if the bytes end before it does.
    fn read_body(bytes: &[u8], kind: Kind, short: bool) -> Option<(Body, usize)> {
        let own = least_bytes(kind, short);
        let header = bytes.get(..own)?;
        let ack = |header: &[u8]| {
            Sequence::new(if short { number(&header[13..16]) } else { number(&header[18..24]) })
        };
        let last = |header: &[u8]| number(&header[own - 4..]) as u32;
        let body = match kind {
            Kind::Request => Body::Request { service: last(header) },
            Kind::Response => Body::Response { ack: ack(header), service: last(header) },
            Kind::Data => Body::Data,
            Kind::Ack => Body::Ack { ack: ack(header) },
            Kind::DataAck => Body::DataAck { ack: ack(header) },
            Kind::CloseReq => Body::CloseReq { ack: ack(header) },
            Kind::Close => Body::Close { ack: ack(header) },
            Kind::Reset => {
                let [code, details @ ..] = last(header).to_be_bytes();
                Body::Reset { ack: ack(header), code: ResetCode::from_number(code), details }
            }
            Kind::Sync => Body::Sync { ack: ack(header) },
            Kind::SyncAck => Body::SyncAck { ack: ack(header) },
        };
        Some((body, own))
    }
    /// The options, one by one.
    pub fn options(&self) -> Options<'a> {
        Options::new(self.options)
    }
    /// Bytes of the whole.
    pub fn size(&self) -> usize {
        self.header.body.header_bytes(self.header.short)
            + self.options.len().next_multiple_of(4)
            + self.data.len()
    }
    /// Appends its bytes; options are padded to whole words. With addresses it has a checksum, without,
    /// as in UDP, it has not.
    ///
    /// # Panics
    /// If the header has more than [`HEADER_MAX`] bytes, or the checksum would have to cover more data
    /// than there are: bugs of the caller.
    pub fn write(&self, addresses: Option<&Addresses>, out: &mut Vec<u8>) {
        let header = &self.header;
        let begin = out.len();
        let ends = header.body.header_bytes(header.short) + self.options.len().next_multiple_of(4);
        assert!(ends <= HEADER_MAX, "a header of {ends} bytes has more than {HEADER_MAX}");
        out.extend(header.source.to_be_bytes());
        out.extend(header.destination.to_be_bytes());
        out.push((ends / 4) as u8);
        out.push(header.ccval << 4 | header.coverage & 15);
        out.extend([0, 0]);
        let kind = (header.kind() as u8) << 1;
        let sequence = header.sequence.get().to_be_bytes();
        if header.short {
            out.push(kind);
            out.extend_from_slice(&sequence[5..]);
        } else {
            out.extend([kind | 1, 0]);
            out.extend_from_slice(&sequence[2..]);
        }
        self.write_body(out);
        out.extend_from_slice(self.options);
        out.resize(begin + ends, 0);
        out.extend_from_slice(self.data);
        if let Some(addresses) = addresses {
            let covered = header.covered(self.data.len());
            let covered = covered.expect("the checksum covers no more data than there are");
            let sum = addresses.checksum(&out[begin..], ends + covered);
            out[begin + 6..begin + 8].copy_from_slice(&sum.to_be_bytes());
        }
    }
    fn write_body(&self, out: &mut Vec<u8>) {
        if let Some(ack) = self.header.body.ack() {
            let ack = ack.get().to_be_bytes();
            out.push(0);
            if self.header.short {
                out.extend_from_slice(&ack[5..]);
            } else {
                out.push(0);
                out.extend_from_slice(&ack[2..]);
            }
        }
        match self.header.body {
            Body::Request { service } | Body::Response { service, .. } => out.extend(service.to_be_bytes()),
            Body::Reset { code, details, .. } => {
                out.push(code.number());
                out.extend(details);
            }
            _ => {}
        }
    }
    /// Its bytes: see [`Packet::write`].
    pub fn to_bytes(&self, addresses: Option<&Addresses>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size());
        self.write(addresses, &mut bytes);
        bytes
    }
    /// Looks whether the checksum of a packet over IP is right.
    ///
    /// # Errors
    /// What it is and what it should be; or why the bytes are no packet.
    pub fn verify(bytes: &'a [u8], addresses: &Addresses) -> Result<(), Malformed> {
        let packet = Self::read(bytes)?;
        let offset = bytes.len() - packet.data.len();
        let covered = packet.header.covered(packet.data.len()).unwrap_or(0);
        let right = addresses.checksum(bytes, offset + covered);
        let found = number(&bytes[6..8]) as u16;
        if found == right { Ok(()) } else { Err(Malformed::Checksum { found, right }) }
    }
}

/// Bytes of a header of this type without options.
fn least_bytes(kind: Kind, short: bool) -> usize {
    let generic = if short { 12 } else { 16 };
    match kind {
        Kind::Data => generic,
        Kind::Request => generic + 4,
        Kind::Response | Kind::Reset => generic + 12,
        Kind::Ack | Kind::DataAck if short => generic + 4,
        Kind::Ack | Kind::DataAck | Kind::CloseReq | Kind::Close | Kind::Sync | Kind::SyncAck => generic + 8,
    }
}
