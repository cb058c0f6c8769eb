//! Packets of the world as bytes: Ethernet, IPv4, then TCP or UDP, with the checksums that a payload of zeros has.

use super::udpdtn;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use lightlag_protocols::link::Load;
use lightlag_protocols::record::packets::Parcel;
use lightlag_protocols::record::packets::{Body, Packet};
use lightlag_protocols::transport::dccp;
use lightlag_protocols::transport::tcp::{Kind, Segment};
use lightlag_protocols::transport::udpdtn::{self as transport, UDP_HEADER};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::dccp::{Addresses, IP_PROTOCOL};
use lightlag_protocols::wire::ltp;

/// What the far ends listen on: ports that stand for no protocol that tools would look for inside.
pub const TCP_PORT: u16 = 40_000;
/// The same of DCCP.
pub const DCCP_PORT: u16 = 40_001;
/// Sending ends have one port each, from here on.
const FIRST_PORT: u16 = 20_000;
/// Largest window scale that a header allows (RFC 7323, section 2.3).
const SHIFT_MAX: u8 = 14;
/// As senders set it; each router takes one.
const TIME_TO_LIVE: u8 = 64;
/// What asks for less than best effort (RFC 8622, section 4).
const LOWER_EFFORT: u8 = 1;
/// What a frame of Ethernet carries.
const IPV4: [u8; 2] = [0x08, 0x00];
/// No packet is longer.
static ZEROS: [u8; 65_536] = [0; 65_536];

/// The start of a packet as it is kept, and how long the whole is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Headers.
    pub head: Vec<u8>,
    /// Bytes of headers and payload.
    pub length: u32,
}

/// What must be known of a flow to write its headers.
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    /// The port of its receiving end.
    pub port: u16,
    /// Of TCP: the most that may be in flight.
    pub window: Bytes,
    /// Of TCP: bytes of a segment at most.
    pub largest: Bytes,
    /// Of TCP: whether it has selective acknowledgements.
    pub sacks: bool,
    /// Of UDPDTN.
    pub transfer: Option<transport::Config>,
    /// Where the stream ends, if it does.
    pub end: Option<Bytes>,
}

/// What the headers of a flow have in common.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Of the sending end, then of the receiving one.
    addresses: [[u8; 4]; 2],
    ports: [u16; 2],
    /// Sequence numbers of the opening segments of both ends (ISN of RFC 9293).
    pub initial: [u32; 2],
    window: u64,
    shift: u8,
    largest: u16,
    sacks: bool,
    /// Of UDPDTN.
    transfer: Option<transport::Config>,
    /// Where the stream ends, if it does: the end takes a sequence number of its own.
    end: Option<u64>,
}

impl Conversation {
    /// Of a flow between two nodes.
    pub fn new(headers: &Headers, index: u32, nodes: [u32; 2]) -> Self {
        let fits = |shift: &u8| headers.window.0 >> shift <= u64::from(u16::MAX);
        let seed = lightlag_protocols::rng::mix(u64::from(index) + 1);
        Self {
            addresses: nodes.map(address),
            ports: [FIRST_PORT + (index % 20_000) as u16, headers.port],
            initial: [seed as u32, (seed >> 32) as u32],
            window: headers.window.0,
            shift: (0..SHIFT_MAX).find(fits).unwrap_or(SHIFT_MAX),
            largest: headers.largest.0.min(u64::from(u16::MAX)) as u16,
            sacks: headers.sacks,
            transfer: headers.transfer,
            end: headers.end.map(|end| end.0),
        }
    }
    /// The packet as bytes, on a link between two nodes.
    pub fn frame(&self, packet: &Packet, link: [u32; 2]) -> Frame {
        let life = TIME_TO_LIVE.saturating_sub(packet.hop.min(63) as u8);
        let ecn = if let Body::Dccp(packet) = &packet.body { packet.ecn.bits() } else { 0 };
        let way = IpFields { forward: packet.forward, life, lower_effort: packet.priority() > 0, ecn };
        let frame = match &packet.body {
            Body::Tcp(segment) => self.tcp(segment, way),
            Body::Dccp(packet) => self.dccp(packet, way),
            Body::Udpdtn(datagram, symbol) => {
                let config = self.transfer.as_ref();
                let head =
                    config.map_or_else(Vec::new, |config| udpdtn::head(datagram, self.initial[0], config));
                self.udp(head, datagram.size(*symbol).saturating_sub(UDP_HEADER), way)
            }
            Body::Adaptive(parcel) => self.adaptive(parcel, way),
            Body::Ltp(segment, _) => {
                let mut head = Vec::new();
                segment.write_head(&mut head);
                self.udp(head, Bytes(segment.size()), way)
            }
        };
        let [source, destination] = link.map(|node| hardware(node).to_vec());
        let mut head = destination;
        head.extend(source);
        head.extend(IPV4);
        let length = frame.length + head.len() as u32;
        head.extend(frame.head);
        Frame { head, length }
    }
    /// Each stream of a connection with frames in both directions is shown as a connection of its own.
    fn adaptive(&self, parcel: &Parcel, way: IpFields) -> Frame {
        match parcel {
            Parcel::Datagram(serial, bytes) => {
                let mut whole = Vec::with_capacity(serial.length() + bytes.len());
                serial.write(&mut whole);
                whole.extend_from_slice(bytes);
                let length = Bytes(whole.len() as u64);
                self.udp(whole, length, way)
            }
            Parcel::Plain(_, size) => self.udp(Vec::new(), *size, way),
            Parcel::Segment { life, forward, segment, .. } => {
                let mut stream = self.clone();
                stream.ports[0] = stream.ports[0].wrapping_add(*life as u16);
                if *forward {
                    return stream.tcp(segment, way);
                }
                stream.addresses.reverse();
                stream.tcp(segment, IpFields { forward: !way.forward, ..way })
            }
        }
    }
    fn ip(&self, way: IpFields, protocol: IpNumber, payload: usize) -> Ipv4Header {
        let [near, far] = self.addresses;
        let (source, destination) = if way.forward { (near, far) } else { (far, near) };
        let effort = IpDscp::try_new(if way.lower_effort { LOWER_EFFORT } else { 0 });
        let mut header = Ipv4Header {
            total_len: (Ipv4Header::MIN_LEN + payload).min(usize::from(u16::MAX)) as u16,
            dont_fragment: true,
            dscp: effort.unwrap_or_default(),
            ecn: IpEcn::try_new(way.ecn).unwrap_or_default(),
            time_to_live: way.life,
            protocol,
            source,
            destination,
            ..Ipv4Header::default()
        };
        header.header_checksum = header.calc_header_checksum();
        header
    }
    fn dccp(&self, packet: &dccp::Packet, way: IpFields) -> Frame {
        let (own, other) = if way.forward { (0, 1) } else { (1, 0) };
        let mut packet = packet.clone();
        (packet.header.source, packet.header.destination) = (self.ports[own], self.ports[other]);
        let ip = self.ip(way, IpNumber(IP_PROTOCOL), packet.size().0 as usize);
        let addresses = Addresses { source: ip.source.into(), destination: ip.destination.into() };
        let mut head = ip.to_bytes().to_vec();
        packet.write(Some(&addresses), &mut head);
        let length = head.len();
        // Data are zeros, which readers add; of LTP, all behind the head of the segment.
        let segment = (self.ports[1] == ltp::PORT).then(|| ltp::Packet::read(&packet.data).ok()).flatten();
        let known = segment.map_or(0, |read| read.segment.head_size() as usize);
        head.truncate(length - packet.data.len() + known);
        Frame { head, length: length as u32 }
    }
    fn tcp(&self, segment: &Segment, way: IpFields) -> Frame {
        let mut header = self.tcp_header(segment, way.forward);
        let length = segment.length as usize;
        let ip = self.ip(way, IpNumber::TCP, header.header_len() + length);
        let payload = &ZEROS[..length.min(ZEROS.len())];
        // A segment that is too long for its checksum is too long for every tool.
        header.checksum = header.calc_checksum_ipv4(&ip, payload).unwrap_or_default();
        let mut head = ip.to_bytes().to_vec();
        head.extend_from_slice(&header.to_bytes());
        let length = head.len() as u32 + segment.length;
        Frame { head, length }
    }
    fn tcp_header(&self, segment: &Segment, forward: bool) -> TcpHeader {
        let (own, other) = if forward { (0, 1) } else { (1, 0) };
        let opens = matches!(segment.kind, Kind::Syn | Kind::SynAck);
        // Behind the opening, which takes the first number.
        let sequence = self.initial[own].wrapping_add(if opens { 0 } else { 1 + segment.offset as u32 });
        let shift = if opens { 0 } else { self.shift };
        let window = (self.window >> shift).min(u64::from(u16::MAX)) as u16;
        let mut header = TcpHeader::new(self.ports[own], self.ports[other], sequence, window);
        header.syn = opens;
        header.ack = segment.kind != Kind::Syn;
        header.fin = matches!(segment.kind, Kind::Data { fin: true });
        header.psh = header.fin;
        if header.ack {
            // Data travel in one direction: the receiving end only acknowledges the sender's stream.
            header.acknowledgment_number =
                if forward { self.initial[other].wrapping_add(1) } else { self.number(segment.ack) };
        }
        let options = self.options(segment, opens);
        // At most three blocks, a size, a shift: there is room for them.
        let _ = header.set_options(&options);
        header
    }
    /// The sender's sequence number of an offset up to which all has arrived, its end included.
    fn number(&self, offset: u64) -> u32 {
        let end = u32::from(self.end == Some(offset));
        self.initial[0].wrapping_add(1).wrapping_add(offset as u32).wrapping_add(end)
    }
    fn options(&self, segment: &Segment, opens: bool) -> Vec<TcpOptionElement> {
        use TcpOptionElement::{
            MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
            WindowScale,
        };
        let mut options = Vec::new();
        if opens {
            options.extend([MaximumSegmentSize(self.largest), Noop, WindowScale(self.shift)]);
            if self.sacks {
                options.extend([Noop, Noop, SelectiveAcknowledgementPermitted]);
            }
        }
        let blocks = segment.sack.as_ref().map_or(&[][..], |sack| sack.blocks());
        let mut edges = blocks
            .iter()
            .map(|&(from, to)| (self.initial[0].wrapping_add(1).wrapping_add(from as u32), self.number(to)));
        if let Some(first) = edges.next() {
            let rest = [edges.next(), edges.next(), edges.next()];
            options.extend([Noop, Noop, SelectiveAcknowledgement(first, rest)]);
        }
        options
    }
    /// A datagram of which the start is known, and the rest is zeros.
    fn udp(&self, known: Vec<u8>, size: Bytes, way: IpFields) -> Frame {
        let length = (size.0 as usize).clamp(known.len(), usize::from(u16::MAX) - UDP_HEADER.0 as usize);
        let mut payload = known.clone();
        payload.resize(length, 0);
        let ip = self.ip(way, IpNumber::UDP, UdpHeader::LEN + length);
        let [near, far] = self.ports;
        let (from, to) = if way.forward { (near, far) } else { (far, near) };
        let header = UdpHeader::with_ipv4_checksum(from, to, &ip, &payload).unwrap_or_default();
        let mut head = ip.to_bytes().to_vec();
        head.extend_from_slice(&header.to_bytes());
        let length = (head.len() + length) as u32;
        head.extend_from_slice(&known);
        Frame { head, length }
    }
}

/// How a packet travels.
#[derive(Clone, Copy)]
struct IpFields {
    forward: bool,
    /// Routers that it may yet meet.
    life: u8,
    lower_effort: bool,
    /// Two bits (RFC 3168, section 5).
    ecn: u8,
}

/// Hardware addresses that are given locally.
fn hardware(node: u32) -> [u8; 6] {
    let [_, a, b, c] = node.to_be_bytes();
    [0x02, 0, 0, a, b, c]
}

/// Node 0 is 10.0.0.1.
pub fn address(node: u32) -> [u8; 4] {
    (0x0a00_0001 + node).to_be_bytes()
}
