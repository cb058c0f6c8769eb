//! Bytes to segments.

use super::sdnv::Reader;
use super::{
    Checkpoint, Claim, Color, Content, Data, End, Ends, Extension, Malformed, Packet, Reason, Report,
    Segment, SessionId, VERSION,
};

impl<'a> Packet<'a> {
    /// Reads a datagram that is one segment.
    ///
    /// # Errors
    /// What is wrong with the first field that is, and where.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Self::read_kept(bytes, bytes.len())
    }
    /// Reads the first segment of a datagram, and returns how many bytes it took: RFC 5326, section 5, allows
    /// several; RFC 7122, section 3.3, which our sender follows, one.
    ///
    /// # Errors
    /// Those of [`Packet::read`].
    pub fn read_first(bytes: &'a [u8]) -> Result<(Self, usize), Malformed> {
        Self::read_front(bytes, bytes.len())
    }
    /// Reads the first bytes of a datagram that has `length` of them, as captures keep it: its data and
    /// trailer extensions may end early.
    ///
    /// # Errors
    /// Those of [`Packet::read`].
    pub fn read_kept(bytes: &'a [u8], length: usize) -> Result<Self, Malformed> {
        let (packet, taken) = Self::read_front(bytes, length)?;
        match bytes.len() - taken {
            0 => Ok(packet),
            more => Err(Malformed::Longer(more)),
        }
    }
    fn read_front(bytes: &'a [u8], length: usize) -> Result<(Self, usize), Malformed> {
        let mut reader = Reader::new(bytes);
        let first = reader.byte("version and type")?;
        if first >> 4 != VERSION {
            return Err(Malformed::Version(first >> 4));
        }
        let session =
            SessionId { originator: reader.sdnv("originator")?, number: reader.sdnv("session number")? };
        let counts = reader.byte("counts of extensions")?;
        let header = extensions(&mut reader, counts >> 4)?;
        let missing = length.saturating_sub(bytes.len()) as u64;
        let (content, data) = content(&mut reader, first & 15, missing)?;
        let segment = Segment { session, content };
        let is_cut = missing > 0 && matches!(segment.content, Content::Data(_));
        if is_cut || matches!(segment.content, Content::Undefined { .. }) {
            let packet = Self { segment, data, header, trailer: Vec::new(), unread_trailers: counts & 15 };
            return Ok((packet, bytes.len()));
        }
        let trailer = extensions(&mut reader, counts & 15)?;
        Ok((Self { segment, data, header, trailer, unread_trailers: 0 }, reader.at()))
    }
}

fn extensions<'a>(reader: &mut Reader<'a>, count: u8) -> Result<Vec<Extension<'a>>, Malformed> {
    let one = |_| {
        let tag = reader.byte("tag of an extension")?;
        let length = reader.sdnv("length of an extension")?;
        Ok(Extension { tag, value: reader.bytes(length, "value of an extension")? })
    };
    (0..count).map(one).collect()
}

/// What the segment says, and its data, of which at most `missing` bytes are not there.
fn content<'a>(reader: &mut Reader<'a>, kind: u8, missing: u64) -> Result<(Content, &'a [u8]), Malformed> {
    let content = match kind {
        0..=4 | 7 => {
            let data = data(reader, kind)?;
            let kept = reader.rest().len() as u64;
            let cut = data.length.saturating_sub(kept) <= missing;
            let length = if cut { data.length.min(kept) } else { data.length };
            return Ok((Content::Data(data), reader.bytes(length, "data")?));
        }
        8 => Content::Report(Box::new(report(reader)?)),
        9 => Content::ReportAck(serial(reader, "report serial number")?),
        12 | 14 => Content::Cancel(end(kind), Reason::from_code(reader.byte("reason")?)),
        13 | 15 => Content::CancelAck(end(kind)),
        _ => return Ok((Content::Undefined { kind }, reader.rest())),
    };
    Ok((content, &[]))
}

fn end(kind: u8) -> End {
    if kind < 14 { End::Sender } else { End::Receiver }
}

fn serial(reader: &mut Reader, field: &'static str) -> Result<u64, Malformed> {
    match reader.sdnv(field)? {
        0 => Err(Malformed::Zero { field, at: reader.at() }),
        number => Ok(number),
    }
}

fn data(reader: &mut Reader, kind: u8) -> Result<Data, Malformed> {
    let service = reader.sdnv("client service")?;
    let offset = reader.sdnv("offset of the data")?;
    let length = reader.sdnv("length of the data")?;
    if offset.checked_add(length).is_none() {
        return Err(Malformed::Offset { offset, length });
    }
    let color = match kind {
        0 => Color::Red(None),
        1..=3 => Color::Red(Some(Checkpoint {
            serial: serial(reader, "checkpoint serial number")?,
            report: reader.sdnv("report serial number")?,
            ends: [Ends::Nothing, Ends::Red, Ends::Block][usize::from(kind - 1)],
        })),
        _ => Color::Green { ends_block: kind == 7 },
    };
    Ok(Data { service, offset, length, color })
}

fn report(reader: &mut Reader) -> Result<Report, Malformed> {
    let serial = serial(reader, "report serial number")?;
    let checkpoint = reader.sdnv("checkpoint serial number")?;
    let upper = reader.sdnv("upper bound")?;
    let lower = reader.sdnv("lower bound")?;
    if lower > upper {
        return Err(Malformed::Bounds { lower, upper });
    }
    let at = reader.at();
    let count = reader.sdnv("number of claims")?;
    // A claim has two bytes at least: what is announced beyond that cannot be there.
    if count > reader.rest().len() as u64 / 2 {
        return Err(Malformed::Ends { field: "claims counted", at });
    }
    let mut claims = Vec::with_capacity(count as usize);
    let mut behind = 0;
    for number in 1..=count as usize {
        let claim = claim(reader, number, (behind, upper - lower))?;
        behind = claim.offset + claim.length;
        claims.push(claim);
    }
    Ok(Report { serial, checkpoint, lower, upper, claims })
}

/// A claim that lies between the end of the one before and the end of the report.
fn claim(reader: &mut Reader, number: usize, (from, to): (u64, u64)) -> Result<Claim, Malformed> {
    let offset = reader.sdnv("offset of a claim")?;
    let length = reader.sdnv("length of a claim")?;
    let wrong = |why| Err(Malformed::Claim { number, offset, length, why });
    if length == 0 {
        return wrong("is empty");
    }
    if offset < from {
        return wrong("overlaps the one before");
    }
    match offset.checked_add(length) {
        Some(end) if end <= to => Ok(Claim { offset, length }),
        _ => wrong("reaches beyond the upper bound"),
    }
}
