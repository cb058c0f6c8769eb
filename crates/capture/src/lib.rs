//! Packets to and from captures: what a run carries as pcapng with an interface for each end of a link, and what a capture
//! of anybody's shows of its flows ([`analysis`]).
//!
//! Payloads are all zeros and not kept: each packet is cut behind its headers and states its whole
//! length. Frames are those of Ethernet, as libpcap wants all interfaces of a file to be of one type that
//! every system numbers alike. Options of TCP are in the headers though links of the world do not count their bytes.

pub mod analysis;
mod datagrams;
mod frame;
mod points;
mod rewrite;
#[cfg(test)]
#[path = "../../../tests/skip.rs"]
mod skip;
mod stacks;
mod to_dccp;
mod to_tcp;
mod udpdtn;

pub use datagrams::{Datagrams, over_udp};
pub use frame::{Conversation, DCCP_PORT, Frame, Headers, TCP_PORT};
pub use points::{Direction, Ends, FlowEnds, Interface, NoSuchNode, Points, Where};
pub use rewrite::Rewritten;
pub use stacks::Packets;
pub use to_dccp::to_dccp;
pub use to_tcp::to_tcp;

use lightlag_protocols::link::DropCause;
use lightlag_protocols::record::packets::{Observer, Packet, Record};
use lightlag_protocols::time::Instant;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::io::Write;
use std::time::Duration;

/// Runs begin with the year 2000 (UTC): tools take a time of zero for none.
const BEGINNING: Duration = Duration::from_secs(946_684_800);
/// Nanoseconds (if_tsresol: powers of ten).
const NANOSECONDS: u8 = 9;

/// Writes packets as they pass, and keeps none. An error stops the writing and is returned by
/// [`Capture::finish`].
pub struct Capture<W: Write> {
    to: Option<PcapNgWriter<W>>,
    points: Points,
    conversations: Vec<Conversation>,
    failed: Option<PcapError>,
}

impl<W: Write> Capture<W> {
    /// Of packets at some points of a network, to `to`; `headers`: of each flow. `program` is named in the file.
    pub fn new(to: W, program: &str, points: Points, headers: impl IntoIterator<Item = Headers>) -> Self {
        let nodes = points.ends_of_flows.iter();
        let flows = headers.into_iter().zip(0..).zip(nodes);
        let conversations =
            flows.map(|((headers, index), nodes)| Conversation::new(&headers, index, *nodes)).collect();
        let mut capture = Self { to: None, points, conversations, failed: None };
        let interfaces = &capture.points.interfaces;
        let interfaces = interfaces.iter().map(|one| (one.name.as_str(), one.speed_bit_per_s));
        match begin(to, program, DataLink::ETHERNET, interfaces) {
            Ok(writer) => capture.to = Some(writer),
            Err(error) => capture.failed = Some(error),
        }
        capture
    }
    fn write(
        &mut self,
        at: Instant,
        point: (u32, Direction),
        link: u32,
        packet: &Packet,
        comment: Option<&str>,
    ) {
        let Some(to) = &mut self.to else { return };
        let Some(conversation) = self.conversations.get(packet.flow as usize) else { return };
        let frame = conversation.frame(packet, self.points.links[link as usize]);
        // The first two bits: 1 inbound, 2 outbound.
        let mut options = vec![EnhancedPacketOption::Flags(if point.1 == Direction::In { 1 } else { 2 })];
        options.extend(comment.map(|text| EnhancedPacketOption::Comment(text.into())));
        let block = EnhancedPacketBlock {
            interface_id: point.0,
            timestamp: BEGINNING + Duration::from_nanos(at.as_nanos().max(0) as u64),
            original_len: frame.length,
            data: frame.head.into(),
            options,
        };
        if let Err(error) = to.write_pcapng_block(block) {
            self.failed = Some(error);
            self.to = None;
        }
    }
    /// Everything is written.
    ///
    /// # Errors
    /// The first thing that went wrong, in one line.
    pub fn finish(self) -> std::result::Result<W, String> {
        let told = |error: PcapError| error.to_string().replace('\n', " ");
        match (self.failed, self.to) {
            (None, Some(to)) => {
                let mut writer = to.into_inner();
                writer.flush().map_err(|error| error.to_string())?;
                Ok(writer)
            }
            (failed, _) => Err(failed.map_or_else(|| "no writer".to_owned(), told)),
        }
    }
}

/// The head of a capture, with the name of each interface and its rate if that is known.
fn begin<'a, W: Write>(
    to: W,
    program: &str,
    linktype: DataLink,
    interfaces: impl Iterator<Item = (&'a str, Option<u64>)>,
) -> std::result::Result<PcapNgWriter<W>, PcapError> {
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![SectionHeaderOption::UserApplication(program.to_owned().into())],
        ..SectionHeaderBlock::default()
    };
    let mut writer = PcapNgWriter::with_section_header(to, section)?;
    for (name, speed_bit_per_s) in interfaces {
        let mut options = vec![
            InterfaceDescriptionOption::IfName(name.into()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        options.extend(speed_bit_per_s.map(InterfaceDescriptionOption::IfSpeed));
        writer.write_pcapng_block(InterfaceDescriptionBlock { linktype, snaplen: 0, options })?;
    }
    Ok(writer)
}

fn reason(why: DropCause) -> &'static str {
    match why {
        DropCause::Full => "dropped: the queue was full",
        DropCause::Marked => "dropped: the queue asked its sender to slow down",
        DropCause::Lost => "lost on the wire",
    }
}

impl<W: Write> Observer for Capture<W> {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        match *record {
            Record::Offered(link, packet) => {
                if let Some(point) = self.points.offered(link, packet) {
                    self.write(now, point, link, packet, None);
                }
            }
            Record::Arrived(link, packet) => {
                if let Some(point) = self.points.arrived(link, packet) {
                    self.write(now, point, link, packet, None);
                }
            }
            Record::Dropped(link, packet, why) => {
                if let Some(point) = self.points.dropped(link) {
                    self.write(now, point, link, packet, Some(reason(why)));
                }
            }
            Record::Delivered(..) | Record::Flow(..) | Record::Backlog(..) => {}
        }
    }
}
