//! What the judge and traces know of a packet.

use lightlag_protocols::link::Load;
use lightlag_protocols::record::packets::Parcel;
use lightlag_protocols::record::packets::data_of;
use lightlag_protocols::record::packets::{Body, Packet};
use lightlag_protocols::transport::tcp::{Kind, Sack, Segment};
use lightlag_protocols::transport::udpdtn::Datagram;
use lightlag_protocols::transport::{dccp, ltp};
use lightlag_protocols::wire;
use std::fmt::Write;

/// What a packet is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// Opens a TCP connection.
    #[default]
    Syn,
    /// Answers that.
    SynAck,
    /// Bytes of a stream.
    Data,
    /// An acknowledgement.
    Ack,
    /// A packet of DCCP with data.
    Datagram,
    /// Any other of DCCP; both ends send them.
    Control,
    /// A symbol of UDPDTN.
    Symbol,
    /// Anything else that a sender of UDPDTN says.
    Opening,
    /// A report of UDPDTN.
    Report,
    /// What a sender of LTP says beside data.
    Signal,
    /// What a receiver of LTP says.
    Claims,
    /// Either end of LTP cancels a session.
    Cancel,
}

/// All of them, with their names in traces.
pub const WHATS: [(What, &str); 12] = [
    (What::Syn, "syn"),
    (What::SynAck, "syn_ack"),
    (What::Data, "data"),
    (What::Ack, "ack"),
    (What::Datagram, "datagram"),
    (What::Control, "control"),
    (What::Symbol, "symbol"),
    (What::Opening, "opening"),
    (What::Report, "report"),
    (What::Signal, "signal"),
    (What::Claims, "claims"),
    (What::Cancel, "cancel"),
];

/// A packet, as far as it matters for what can have happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Of which flow.
    pub flow: u32,
    /// From the sender to the receiver, or back.
    pub forward: bool,
    /// Links that it has crossed.
    pub hop: u16,
    /// What for.
    pub what: What,
    /// Lower ones leave first, where the queue has priorities.
    pub priority: u8,
    /// Bytes on the link.
    pub size: u32,
    /// Bytes of data.
    pub length: u32,
    /// Offset of the first of them; block and symbol of UDPDTN; number of a packet of DCCP.
    pub offset: u64,
    /// The stream ends with it.
    pub fin: bool,
    /// Everything below has come.
    pub ack: u64,
    /// Blocks received above `ack`.
    pub sack: Option<Sack>,
    /// The same for packets of the same content, hardly ever for others.
    pub print: u64,
}

impl Facts {
    /// Of a packet.
    #[inline]
    pub fn of(packet: &Packet) -> Self {
        let mut facts = Self {
            flow: packet.flow,
            forward: packet.forward,
            hop: packet.hop,
            priority: packet.priority(),
            size: packet.size().0 as u32,
            ..Self::default()
        };
        match &packet.body {
            Body::Tcp(segment) => facts.fill_tcp(segment),
            Body::Dccp(packet) => facts.fill_dccp(packet),
            Body::Udpdtn(datagram, symbol) => facts.fill_udpdtn(datagram, symbol.0 as u32),
            Body::Ltp(segment, start) => facts.fill_ltp(segment, *start),
            Body::Adaptive(parcel) => facts.fill_adaptive(parcel),
        }
        facts
    }
    #[inline]
    fn fill_tcp(&mut self, segment: &Segment) {
        self.what = match segment.kind {
            Kind::Syn => What::Syn,
            Kind::SynAck => What::SynAck,
            Kind::Data { fin } => {
                self.fin = fin;
                What::Data
            }
            Kind::Probe => What::Data,
            Kind::Ack => What::Ack,
        };
        (self.length, self.offset, self.ack) = (segment.length, segment.offset, segment.ack);
        // Without the counts of probes: the judge checks blocks only.
        let sack = segment.sack.as_deref().filter(|sack| !sack.blocks().is_empty());
        self.sack = sack.map(|sack| sack.counting(None));
        let mut print = fold(self.what as u64, self.offset);
        print = fold(print, (u64::from(self.length) << 1) | u64::from(self.fin));
        print = fold(print, self.ack);
        for block in self.sack.as_ref().map_or(&[][..], Sack::blocks) {
            print = fold(fold(print, block.0), block.1);
        }
        self.print = print;
    }
    fn fill_dccp(&mut self, packet: &dccp::Packet) {
        let header = &packet.header;
        self.what = match header.kind().is_data() {
            false => What::Control,
            // The receiver of a flow has nothing to send but the reports of LTP in DCCP.
            true if !self.forward && is_report(&packet.data) => What::Claims,
            true => What::Datagram,
        };
        (self.length, self.offset) = (packet.data.len() as u32, header.sequence.get());
        let print = fold(self.what as u64, self.offset);
        let print = fold(print, header.body.ack().map_or(0, |ack| ack.get() + 1));
        self.print = packet.options.iter().fold(print, |print, byte| fold(print, u64::from(*byte)));
    }
    fn fill_udpdtn(&mut self, datagram: &Datagram, symbol_bytes: u32) {
        match datagram {
            Datagram::Data { number, block, symbol, .. } => {
                self.what = What::Symbol;
                self.length = symbol_bytes;
                self.offset = (u64::from(*block) << 32) | u64::from(*symbol);
                self.print = fold(self.offset, u64::from(*number));
            }
            other => {
                self.what = if matches!(other, Datagram::Report(_)) { What::Report } else { What::Opening };
                let mut print = Print(self.what as u64);
                // They are few; writing to it cannot fail.
                let _ = write!(print, "{other:?}");
                self.print = print.0;
            }
        }
    }
    fn fill_ltp(&mut self, segment: &ltp::Segment, start: u64) {
        self.what = match (&segment.content, segment.is_from_sender()) {
            (ltp::Content::Data(_), _) => What::Data,
            (ltp::Content::Cancel(..), _) => What::Cancel,
            (_, true) => What::Signal,
            (_, false) => What::Claims,
        };
        if let Some((offset, length)) = data_of(segment, start) {
            (self.offset, self.length) = (offset, length as u32);
        }
        let mut print = Print(fold(self.what as u64, start));
        // Writing to it cannot fail.
        let _ = write!(print, "{segment:?}");
        self.print = print.0;
    }
    /// Frames are not looked into: bytes that came, each packet of a content once, are what can be delivered.
    fn fill_adaptive(&mut self, parcel: &Parcel) {
        let (place, data) = match parcel {
            Parcel::Datagram(serial, bytes) => {
                (fold(u64::from(serial.epoch.number), serial.number), &bytes[..])
            }
            Parcel::Plain(number, _) => (fold(1, *number), &[][..]),
            Parcel::Segment { life, forward, segment, data } => {
                self.fill_tcp(segment);
                (fold(fold(self.print, u64::from(*life)), u64::from(*forward)), &data[..])
            }
        };
        let eight = |word: &[u8]| word.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
        let print = data.chunks(8).fold(place, |print, word| fold(print, eight(word)));
        self.length = if let Parcel::Plain(_, size) = parcel { size.0 } else { data.len() as u64 } as u32;
        let carries = self.forward && self.length > 0;
        (self.what, self.sack) = (if carries { What::Datagram } else { What::Control }, None);
        (self.offset, self.print) = (print, print);
    }
    /// Whether it goes from the sender to the receiver by what it is.
    pub fn is_forward(&self) -> bool {
        match self.what {
            What::Control | What::Cancel => self.forward,
            what => matches!(
                what,
                What::Syn | What::Data | What::Datagram | What::Symbol | What::Opening | What::Signal
            ),
        }
    }
    /// The same for equal packets of one flow and direction.
    #[inline]
    pub fn key(&self) -> u64 {
        let way = (u64::from(self.priority) << 1) | u64::from(self.forward);
        fold(self.print, (u64::from(self.flow) << 9) | way)
    }
}

/// Whether the data of a packet of DCCP are a segment that only a receiver of LTP sends.
fn is_report(data: &[u8]) -> bool {
    wire::ltp::Packet::read(data).is_ok_and(|read| !read.segment.is_from_sender())
}

#[inline]
fn fold(print: u64, word: u64) -> u64 {
    (print.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

struct Print(u64);

impl Write for Print {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = fold(self.0, u64::from(byte));
        }
        Ok(())
    }
}
