//! Reading.

use super::{
    Contact, Flags, ITEMS_MOST, Init, Item, MAGIC, Malformed, Message, RefuseReason, RejectReason, Segment,
    TermReason,
};

/// Goes through bytes; none where they end.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }
    fn number(&mut self, count: usize) -> Option<u64> {
        Some(self.take(count)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }
    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }
    fn short(&mut self) -> Option<u16> {
        Some(self.number(2)? as u16)
    }
    /// A list of items, which may not be longer than anybody needs.
    fn items(&mut self) -> Result<Option<Vec<Item>>, Malformed> {
        let Some(length) = self.number(4) else { return Ok(None) };
        let length = length as u32;
        if length > ITEMS_MOST {
            return Err(Malformed::Items(length));
        }
        let Some(list) = self.take(length as usize) else { return Ok(None) };
        let mut list = Reader { bytes: list, at: 0 };
        let mut items = Vec::new();
        while list.at < list.bytes.len() {
            items.push(list.item().ok_or(Malformed::Item)?);
        }
        Ok(Some(items))
    }
    fn item(&mut self) -> Option<Item> {
        let (flags, kind, length) = (self.byte()?, self.short()?, self.short()?);
        let value = self.take(length.into())?.to_vec();
        Some(Item { is_critical: flags & 1 > 0, kind, value })
    }
    fn flags(&mut self) -> Option<Flags> {
        let flags = self.byte()?;
        Some(Flags { start: flags & 2 > 0, end: flags & 1 > 0, others: flags & !3 })
    }
}

impl Contact {
    /// Reads one, and returns how many bytes it took; `None`: more bytes are needed.
    ///
    /// # Errors
    /// Why it is invalid.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let begin = &bytes[..bytes.len().min(MAGIC.len())];
        if !MAGIC.starts_with(begin) {
            return Err(Malformed::Magic);
        }
        let Some(&[version, flags]) = bytes.get(4..6) else { return Ok(None) };
        Ok(Some((Self { version, can_tls: flags & 1 > 0 }, 6)))
    }
}

impl Message {
    /// Reads one, and returns how many bytes it took, without the data of a segment; `None`: more bytes are
    /// needed.
    ///
    /// # Errors
    /// Why it is invalid.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let mut reader = Reader { bytes, at: 0 };
        let Some(number) = reader.byte() else { return Ok(None) };
        let read = match number {
            1 => reader.segment()?,
            7 => reader.init()?,
            4 => Some(Self::Keepalive),
            2 | 3 | 5 | 6 => reader.short_message(number),
            unknown => return Err(Malformed::Type(unknown)),
        };
        Ok(read.map(|message| (message, reader.at)))
    }
}

impl Reader<'_> {
    fn short_message(&mut self, number: u8) -> Option<Message> {
        Some(match number {
            2 => Message::Ack { flags: self.flags()?, transfer: self.number(8)?, length: self.number(8)? },
            3 => {
                Message::Refuse { reason: RefuseReason::from_number(self.byte()?), transfer: self.number(8)? }
            }
            5 => Message::Term { reply: self.byte()? & 1 > 0, reason: TermReason::from_number(self.byte()?) },
            _ => Message::Reject { reason: RejectReason::from_number(self.byte()?), message: self.byte()? },
        })
    }
    fn segment(&mut self) -> Result<Option<Message>, Malformed> {
        let Some((flags, transfer)) = self.flags().zip(self.number(8)) else { return Ok(None) };
        let items = if flags.start { self.items()? } else { Some(Vec::new()) };
        let Some((items, length)) = items.zip(self.number(8)) else { return Ok(None) };
        Ok(Some(Message::Segment(Segment { flags, transfer, items, length })))
    }
    fn init(&mut self) -> Result<Option<Message>, Malformed> {
        let Some(keepalive_s) = self.short() else { return Ok(None) };
        let Some((segment_mru, transfer_mru)) = self.number(8).zip(self.number(8)) else { return Ok(None) };
        let node = self.short().and_then(|length| self.take(length.into()));
        let Some(node) = node else { return Ok(None) };
        let node = std::str::from_utf8(node).map_err(|_| Malformed::Node)?.to_owned();
        let Some(items) = self.items()? else { return Ok(None) };
        Ok(Some(Message::Init(Init { keepalive_s, segment_mru, transfer_mru, node, items })))
    }
}
