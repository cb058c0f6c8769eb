//! DCCP rewritten as equivalent TCP, for tools that only know TCP (tcptrace, and many graphs of Wireshark).
//!
//! | DCCP | TCP |
//! |---|---|
//! | Request, Response | SYN, SYN and ACK |
//! | Data, DataAck | a segment with as many bytes |
//! | Ack, Sync, SyncAck | a segment without payload |
//! | CloseReq, Close, Reset | FIN and ACK; ACK from a side that has sent one |
//! | acknowledgement number with Ack Vector | cumulative up to the oldest packet that the vector misses, then the data above it as SACK blocks, newest first |
//! | acknowledgement number alone (CCID 3) | cumulative |
//!
//! A number of 48 bits becomes the bytes sent before it. Numbers that the capture misses take as many bytes as the
//! packet of data before them. Payloads are zeros and cut off, as in captures of our own; checksums are theirs.

use super::analysis::{CaptureFile, Endpoint, Error, Unwrap};
use super::rewrite::{Found, Rewritten, each, ip_header, not_written, write, writer};
use etherparse::{TcpHeader, TcpOptionElement};
use lightlag_protocols::wire::dccp::{Item, Kind, Packet, Received, runs};
use pcap_file::PcapError;
use pcap_file::pcap::PcapWriter;
use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::net::IpAddr;

/// Numbers of a direction whose bytes are remembered.
const SLOTS_MAX: usize = 65_536;
/// A larger gap is no loss: the sender continued elsewhere.
const GAP_MAX: u64 = 1_000;
/// Connections that are remembered; the oldest is forgotten first.
const CONNECTIONS_MAX: usize = 10_000;
const BITS: u32 = 48;
const SHORT_BITS: u32 = 24;
const IP_TCP: u8 = 6;
const SEGMENT_MAX: u16 = 1460;
/// A window that never limits: DCCP has none.
const WINDOW: u16 = u16::MAX;
const SHIFT: u8 = 7;
static ZEROS: [u8; 65_536] = [0; 65_536];

/// Rewrites the DCCP of a capture as TCP: over IP, and in UDP at these ports. `interface`: only that of one, by its name or
/// number.
///
/// # Errors
/// It cannot be read, or the other cannot be written.
pub fn to_tcp(
    from: impl Read,
    to: impl Write,
    ports: &[u16],
    interface: Option<&str>,
) -> Result<Rewritten, Error> {
    let to = writer(to).map_err(not_written)?;
    let mut rewriter = Rewriter { to, connections: BTreeMap::new(), order: VecDeque::new() };
    each(CaptureFile::open_only(from, interface)?, ports, |found| rewriter.on_packet(found))
}

struct Rewriter<W: Write> {
    to: PcapWriter<W>,
    connections: BTreeMap<[Endpoint; 2], [Side; 2]>,
    order: VecDeque<[Endpoint; 2]>,
}

/// What a side has sent.
#[derive(Default)]
struct Side {
    numbers: Unwrap,
    /// Of the first slot.
    first: u64,
    slots: VecDeque<Slot>,
    /// Bytes so far.
    next: u64,
    /// Payload of the last packet with data.
    usual: u32,
    initial: u32,
    opened: bool,
    end: Option<u64>,
    /// Bytes of the other side that it has acknowledged.
    acked: u64,
}

/// The bytes of a number.
#[derive(Clone, Copy)]
struct Slot {
    offset: u64,
    length: u32,
}

fn closes(kind: Kind) -> bool {
    matches!(kind, Kind::CloseReq | Kind::Close | Kind::Reset)
}

/// A segment to be written.
#[derive(Default)]
struct Segment {
    offset: Option<u64>,
    ack: Option<u64>,
    blocks: Vec<(u64, u64)>,
    fin: bool,
    payload: usize,
}

impl<W: Write> Rewriter<W> {
    fn on_packet(&mut self, found: &Found<'_>) -> Result<(), PcapError> {
        let Found { ends, packet, payload, .. } = *found;
        let way = usize::from(ends[0] > ends[1]);
        let key = if way == 0 { ends } else { [ends[1], ends[0]] };
        let kind = packet.header.kind();
        let sides = self.sides(key, kind, way);
        let bits = if packet.header.short { SHORT_BITS } else { BITS };
        let number = sides[way].take(packet.header.sequence.get(), bits, &packet, payload);
        let mut segment = sides[way].segment(number, kind, payload);
        if kind != Kind::Request {
            sides.swap(0, way);
            let [own, other] = sides;
            own.acknowledge(other, &packet, bits, &mut segment);
            sides.swap(0, way);
        }
        let bytes = frame(ends, kind, &sides[way], &sides[1 - way], &segment);
        write(&mut self.to, found.at_ns, &bytes, segment.payload)
    }

    fn sides(&mut self, key: [Endpoint; 2], kind: Kind, way: usize) -> &mut [Side; 2] {
        let known = self.connections.get(&key);
        let over = known.is_some_and(|sides| sides[way].end.is_some() || sides[1 - way].end.is_some());
        if over && kind == Kind::Request {
            self.connections.remove(&key);
        } else if known.is_none() {
            self.order.push_back(key);
            if self.order.len() > CONNECTIONS_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.connections.remove(&oldest);
            }
        }
        self.connections.entry(key).or_default()
    }
}

impl Side {
    /// Gives a number its bytes.
    fn take(&mut self, number: u64, bits: u32, packet: &Packet<'_>, payload: usize) -> u64 {
        let is_first = !self.numbers.is_known();
        let number = if packet.header.kind() == Kind::Reset && is_first {
            number
        } else {
            self.numbers.follow(number, bits)
        };
        if is_first {
            (self.first, self.initial) = (number, number as u32);
        }
        let data = packet.header.kind().is_data();
        let length = if data { payload as u32 } else { 0 };
        let next = self.first + self.slots.len() as u64;
        if number < next {
            return number;
        }
        let missing = number - next;
        if missing > GAP_MAX {
            self.slots.clear();
            self.first = number;
        } else {
            (0..missing).for_each(|_| self.push(self.usual));
        }
        if data {
            self.usual = length;
        }
        self.push(length);
        number
    }

    fn push(&mut self, length: u32) {
        self.slots.push_back(Slot { offset: self.next, length });
        self.next += u64::from(length);
        if self.slots.len() > SLOTS_MAX {
            self.slots.pop_front();
            self.first += 1;
        }
    }

    fn slot(&self, number: u64) -> Option<Slot> {
        self.slots.get(usize::try_from(number.checked_sub(self.first)?).ok()?).copied()
    }

    fn segment(&mut self, number: u64, kind: Kind, payload: usize) -> Segment {
        let opens = matches!(kind, Kind::Request | Kind::Response);
        self.opened |= opens;
        let slot = self.slot(number);
        let fin = closes(kind) && self.end.is_none();
        let after = self.end.filter(|_| closes(kind)).map(|end| end + 1);
        let end = fin.then(|| *self.end.insert(self.next));
        let offset = end.or(after).or(slot.map(|slot| slot.offset)).unwrap_or(self.next);
        let room = slot.map_or(payload, |slot| slot.length as usize);
        let payload = if kind.is_data() { payload.min(room) } else { 0 };
        Segment { offset: (!opens).then_some(offset), fin, payload, ..Segment::default() }
    }

    /// What a packet of this side says of what the other sent.
    fn acknowledge(&mut self, other: &Self, packet: &Packet<'_>, bits: u32, segment: &mut Segment) {
        let ack = packet.header.body.ack().filter(|_| other.numbers.is_known());
        if let Some(ack) = ack {
            let number = other.numbers.near(ack.get(), bits);
            let is_receipt = !matches!(packet.header.kind(), Kind::Sync | Kind::SyncAck);
            let (whole, blocks) = other.arrived(number, packet);
            if is_receipt {
                self.acked = self.acked.max(whole);
                segment.blocks = blocks.into_iter().filter(|block| block.0 > self.acked).take(4).collect();
            }
        }
        // The end takes a number of its own, and is acknowledged by the other's end.
        let end = other.end.filter(|_| self.end.is_some() && closes(packet.header.kind()));
        segment.ack = Some(end.map_or(self.acked, |end| end + 1));
    }

    /// Bytes of this side up to which all arrived, and the ranges that arrived above, newest first.
    fn arrived(&self, number: u64, packet: &Packet<'_>) -> (u64, Vec<(u64, u64)>) {
        let end = |number: u64| self.slot(number).map_or(0, |slot| slot.offset + u64::from(slot.length));
        let start = |number: u64| self.slot(number).map(|slot| slot.offset);
        let mut whole = end(number);
        let mut blocks = Vec::new();
        let mut top = number + 1;
        for item in packet.options().map_while(Result::ok) {
            let Item::AckVector { cells, .. } = item else { continue };
            for run in runs(cells) {
                let from = top.saturating_sub(run.count);
                match (run.received, start(from)) {
                    (Received::No, Some(offset)) => whole = offset,
                    (Received::Yes | Received::Marked, Some(offset)) => blocks.push((offset, end(top - 1))),
                    _ => {}
                }
                top = from;
            }
        }
        blocks.retain(|block| block.0 < block.1);
        (whole, joined(blocks))
    }
}

/// Joins neighbours; blocks go downwards.
fn joined(blocks: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut made: Vec<(u64, u64)> = Vec::new();
    for block in blocks {
        match made.last_mut() {
            Some(last) if last.0 == block.1 => last.0 = block.0,
            _ => made.push(block),
        }
    }
    made
}

/// Headers of IP and TCP.
fn frame(ends: [Endpoint; 2], kind: Kind, own: &Side, other: &Side, segment: &Segment) -> Vec<u8> {
    let number = |side: &Side, offset: u64| side.initial.wrapping_add(1).wrapping_add(offset as u32);
    let sequence = segment.offset.map_or(own.initial, |offset| number(own, offset));
    let mut header = TcpHeader::new(ends[0].port, ends[1].port, sequence, WINDOW);
    header.syn = segment.offset.is_none();
    header.fin = segment.fin;
    header.ack = kind != Kind::Request;
    if let Some(ack) = segment.ack {
        header.acknowledgment_number = number(other, ack);
    }
    // At most four blocks, or a size, a shift and a permission: there is room for them.
    let _ = header.set_options(&options(segment, |offset| number(other, offset)));
    let payload = &ZEROS[..segment.payload.min(ZEROS.len())];
    let length = header.header_len() + segment.payload;
    let ip = ip_header(ends, IP_TCP, length);
    let sum = match ends.map(|end| end.ip()) {
        [IpAddr::V4(source), IpAddr::V4(destination)] => {
            header.calc_checksum_ipv4_raw(source.octets(), destination.octets(), payload)
        }
        _ => {
            let [source, destination] = ends.map(|end| end.address.to_be_bytes());
            header.calc_checksum_ipv6_raw(source, destination, payload)
        }
    };
    header.checksum = sum.unwrap_or_default();
    [&ip[..], &header.to_bytes()[..]].concat()
}

fn options(segment: &Segment, number: impl Fn(u64) -> u32) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, WindowScale,
    };
    if segment.offset.is_none() {
        let shift = WindowScale(SHIFT);
        return vec![
            MaximumSegmentSize(SEGMENT_MAX),
            Noop,
            shift,
            Noop,
            Noop,
            SelectiveAcknowledgementPermitted,
        ];
    }
    let mut edges = segment.blocks.iter().map(|&(from, to)| (number(from), number(to)));
    let Some(first) = edges.next() else { return Vec::new() };
    vec![Noop, Noop, SelectiveAcknowledgement(first, [edges.next(), edges.next(), edges.next()])]
}
