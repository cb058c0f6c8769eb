//! Segments between an engine of LTP and bytes (RFC 5326, section 5; RFC 7122, section 3.3).

use lightlag_protocols::transport::ltp::{Content, Engine, Event, Segment, SessionId};
use lightlag_protocols::wire::ltp::auth::Key;
use lightlag_protocols::wire::ltp::{Malformed, Packet};
use std::io;

/// Where the bytes of blocks come from and go to.
pub trait Blocks {
    /// Fills `out` with the bytes of a block of our own, from `offset` on.
    ///
    /// # Errors
    /// What the system says; it ends the transfer.
    fn read(&mut self, session: SessionId, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// A block of the peer, of which bytes have come, is for this client service.
    fn is_for(&mut self, _session: SessionId, _service: u64) {}
    /// These bytes of a block of the peer have come, and had not before.
    ///
    /// # Errors
    /// What the system says; it ends the transfer.
    fn write(&mut self, session: SessionId, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Something else has happened.
    ///
    /// # Errors
    /// What the system says; it ends the transfer.
    fn tell(&mut self, event: &Event) -> io::Result<()>;
}

/// The segments of a datagram, each with its bytes, up to the first malformed one.
pub(crate) fn segments(datagram: &[u8]) -> impl Iterator<Item = Result<(Packet<'_>, &[u8]), Malformed>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let bytes = std::mem::take(&mut rest);
        if bytes.is_empty() {
            return None;
        }
        Some(Packet::read_first(bytes).map(|(packet, taken)| {
            let (one, others) = bytes.split_at(taken);
            rest = others;
            (packet, one)
        }))
    })
}

/// Carries no data.
pub(crate) const EMPTY: Segment =
    Segment { session: SessionId { originator: 0, number: 0 }, content: Content::ReportAck(1) };

/// Appends a segment with its data.
pub(crate) fn write(
    blocks: &mut dyn Blocks,
    segment: Segment,
    key: Option<&Key>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let Some(key) = key else {
        segment.write_head(out);
        return append(blocks, &segment, out);
    };
    let mut data = Vec::new();
    append(blocks, &segment, &mut data)?;
    key.seal(&Packet::new(segment, &data), out);
    Ok(())
}

fn append(blocks: &mut dyn Blocks, segment: &Segment, out: &mut Vec<u8>) -> io::Result<()> {
    let Content::Data(data) = segment.content else { return Ok(()) };
    let start = out.len();
    out.resize(start + data.length as usize, 0);
    blocks.read(segment.session, data.offset, &mut out[start..])
}

/// Hands over the events that a received segment caused in the engine.
pub(crate) fn tell(engine: &mut Engine, blocks: &mut dyn Blocks, packet: &Packet) -> io::Result<()> {
    let start = if let Content::Data(data) = packet.segment.content { data.offset } else { 0 };
    while let Some(event) = engine.take_event() {
        match event {
            Event::Arrived { session, from, to, service, .. } => {
                blocks.is_for(session, service);
                let part = packet.data.get((from - start) as usize..(to - start) as usize);
                blocks.write(session, from, part.unwrap_or_default())?;
            }
            other => blocks.tell(&other)?,
        }
    }
    Ok(())
}
