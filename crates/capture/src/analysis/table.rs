//! The flows of a capture, found by their ends.

use super::file::Record;
use super::flow::{Flow, Moment, Protocol, State};
use super::graph::Graph;
use super::half::{Half, Sent};
use super::layers::{self, Datagram, Endpoint};
use super::ndn;
use super::notes::{Note, Notes};
use super::tcp_header::Segment;
use lightlag_protocols::wire::dccp::{Malformed, Packet};
use lightlag_protocols::wire::{ltp, tcpcl, udpdtn};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

/// Flows that are kept.
pub const FLOWS_MAX: usize = 20_000;
/// Flows that are drawn, and how many are tried until the largest are known.
const DRAWN_MAX: usize = 32;
const TRIED_MAX: usize = 2 * DRAWN_MAX;

const IP_TCP: u8 = 6;
const IP_UDP: u8 = 17;
const IP_DCCP: u8 = 33;
const IP_SCTP: u8 = 132;
const UDP_HEADER: usize = 8;
/// Versions 1 (RFC 9000) and 2 (RFC 9369) of QUIC, and what drafts had instead of their last byte.
const QUIC_VERSIONS: [u32; 2] = [1, 0x6b33_43cf];
const QUIC_DRAFTS: u32 = 0xff00_0000;
/// What holds an association of DCCP open between segments (RFC 7122).
const KEEPALIVE: [u8; 4] = [0; 4];

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Options {
    /// UDP ports that carry DCCP.
    pub dccp_ports: Vec<u16>,
    /// Only packets of this interface, by its name or, from 0, its number.
    pub interface: Option<String>,
    /// Which flows; all of these must hold.
    pub filters: Vec<Filter>,
    /// Shortest pause that is reported, in ns.
    pub pause_ns: i64,
    /// Keep what graphs need.
    pub graphs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dccp_ports: vec![lightlag_protocols::wire::dccp::UDP_PORT],
            interface: None,
            filters: Vec::new(),
            pause_ns: 200_000_000,
            graphs: false,
        }
    }
}

/// A condition on flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// One end has this address.
    Address(u128),
    /// One end has this port.
    Port(u16),
    /// One end has this address and this port.
    Endpoint(Endpoint),
    /// It speaks this.
    Protocol(Protocol),
}

impl Filter {
    fn takes(&self, ends: &[Endpoint; 2], protocol: Protocol) -> bool {
        match self {
            Self::Address(address) => ends.iter().any(|end| end.address == *address),
            Self::Port(port) => ends.iter().any(|end| end.port == *port),
            Self::Endpoint(wanted) => ends.contains(wanted),
            Self::Protocol(wanted) => *wanted == protocol,
        }
    }
    /// Whether a flow may come to hold it: TCPCL and QUIC are known by their first bytes, MPTCP by an option, LTP in DCCP needs its connection.
    fn may_take(&self, ends: &[Endpoint; 2], protocol: Protocol) -> bool {
        let later: &[Protocol] = match protocol {
            Protocol::Tcp => &[Protocol::Tcpcl, Protocol::Mptcp],
            Protocol::Udp => &[Protocol::Quic],
            Protocol::Dccp | Protocol::DccpUdp => &[Protocol::LtpDccp, Protocol::BpDccp],
            _ => &[],
        };
        self.takes(ends, protocol) || matches!(self, Self::Protocol(wanted) if later.contains(wanted))
    }
}

impl std::str::FromStr for Filter {
    type Err = String;
    /// An address, a port, both, or the name of a protocol.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(port) = text.parse() {
            return Ok(Self::Port(port));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Address(layers::number(address)));
        }
        if let Ok(both) = text.parse::<SocketAddr>() {
            let address = layers::number(both.ip());
            return Ok(Self::Endpoint(Endpoint { address, port: both.port() }));
        }
        let named = Protocol::ALL.iter().copied().find(|known| known.name().eq_ignore_ascii_case(text));
        named.map(Self::Protocol).ok_or_else(|| {
            let names = Self::protocols();
            format!(
                "write an address, a port, ADDRESS:PORT, as 10.0.0.1:80 or [fd77::1]:80, or one of {names}"
            )
        })
    }
}

impl Filter {
    /// Names of all protocols, as filters take them.
    pub fn protocols() -> String {
        let names = Protocol::ALL.iter().map(|known| known.name().to_ascii_lowercase());
        names.collect::<Vec<_>>().join(", ")
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    low: Endpoint,
    high: Endpoint,
    protocol: Protocol,
}

/// A packet: what it carries, how it was captured, and when.
#[derive(Clone, Copy)]
struct Seen<'a> {
    datagram: &'a Datagram<'a>,
    record: &'a Record<'a>,
    now: &'a Moment,
}

/// All flows so far.
pub struct Table {
    options: Options,
    /// Where in `flows` the last one of a key is; `None` where it is not wanted.
    places: HashMap<Key, Option<u32>>,
    last: Option<(Key, Option<u32>)>,
    /// In order of their first packets.
    pub flows: Vec<Flow>,
    drawn: Vec<u32>,
    /// Why packets were skipped.
    pub notes: Notes,
    /// Packets of the capture, and bytes that they had on the wire.
    pub packets: u64,
    /// See `packets`.
    pub bytes: u64,
    /// When the first and the last packet were captured.
    pub seen_ns: Option<[i64; 2]>,
    clock: Clock,
}

/// By less cards and queues mix up what is captured.
const CLOCK_SET_NS: i64 = 1_000_000;

/// The clock of the capture, which may be set.
#[derive(Default)]
struct Clock {
    before_ns: Option<i64>,
    /// It was set back, and has not caught up.
    behind: bool,
    set: u64,
}

impl Clock {
    /// How often it was set until this packet; catching up may be being set, too.
    #[inline]
    fn at(&mut self, now_ns: i64, newest_ns: i64) -> u64 {
        let before_ns = self.before_ns.replace(now_ns).unwrap_or(now_ns);
        let set_back = now_ns < before_ns.saturating_sub(CLOCK_SET_NS);
        if set_back || (self.behind && now_ns >= newest_ns) {
            self.behind = set_back;
            self.set += 1;
        }
        self.set
    }
}

impl Table {
    /// Of no packets yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            places: HashMap::new(),
            last: None,
            flows: Vec::new(),
            drawn: Vec::new(),
            notes: Notes::default(),
            packets: 0,
            bytes: 0,
            seen_ns: None,
            clock: Clock::default(),
        }
    }

    /// Takes a packet.
    #[inline]
    pub fn on_record(&mut self, record: &Record<'_>) {
        self.packets += 1;
        self.bytes += u64::from(record.length);
        let seen = self.seen_ns.get_or_insert([record.at_ns; 2]);
        let clock = self.clock.at(record.at_ns, seen[1]);
        seen[1] = seen[1].max(record.at_ns);
        let first_ns = seen[0];
        let taken = layers::datagram(record.link, record.data, record.length as usize).and_then(|datagram| {
            let now = Moment {
                ns: record.at_ns,
                s: record.at_ns.saturating_sub(first_ns) as f64 / 1e9,
                pause_ns: self.options.pause_ns,
                clock,
            };
            self.on_datagram(Seen { datagram: &datagram, record, now: &now })
        });
        if let Err(note) = taken {
            self.notes.count(note);
            if note == Note::OtherInterface {
                self.packets -= 1;
                self.bytes -= u64::from(record.length);
            }
        }
    }

    #[inline]
    fn on_datagram(&mut self, seen: Seen<'_>) -> Result<(), Note> {
        let Datagram { payload, length, addresses, protocol, .. } = *seen.datagram;
        match protocol {
            IP_TCP => self.on_tcp(seen, ends(payload, addresses)?),
            IP_UDP => self.on_udp(seen, ends(payload, addresses)?),
            IP_DCCP => self.on_dccp(seen, Protocol::Dccp, payload, length),
            IP_SCTP => self.on_sctp(seen, ends(payload, addresses)?),
            _ => Err(Note::OtherTransport),
        }
    }

    #[inline]
    fn on_tcp(&mut self, seen: Seen<'_>, ends: [Endpoint; 2]) -> Result<(), Note> {
        let segment = Segment::read(seen.datagram.payload, seen.datagram.length)?;
        let protocol = if speaks(&ends, tcpcl::PORT) { Protocol::Tcpcl } else { Protocol::Tcp };
        let over = |flow: &Flow, way: usize| match &flow.state {
            State::Tcp(tcp) => tcp.is_over(&segment, way),
            _ => false,
        };
        let Some((flow, way)) = self.flow(ends, protocol, seen, over)? else { return Ok(()) };
        count(flow, way, seen);
        if segment.multipath && flow.protocol == Protocol::Tcp {
            flow.protocol = Protocol::Mptcp;
        }
        let header = seen.datagram.length - segment.length as usize;
        let payload = seen.datagram.payload.get(header..).unwrap_or_default();
        if segment.length > 0
            && flow.halves[way].counts.data_packets == 0
            && payload.starts_with(tcpcl::MAGIC)
        {
            flow.protocol = Protocol::Tcpcl;
        }
        if let State::Tcp(tcp) = &mut flow.state {
            tcp.on_segment(&mut flow.halves, way, &segment, seen.now);
        }
        if flow.protocol == Protocol::Tcpcl && segment.length > 0 {
            let inside = flow.tcpcl.get_or_insert_default();
            inside.on_segment(&mut flow.halves, way, &segment, payload, seen.now);
        }
        Ok(())
    }

    fn on_sctp(&mut self, seen: Seen<'_>, ends: [Endpoint; 2]) -> Result<(), Note> {
        let Some((flow, way)) = self.flow(ends, Protocol::Sctp, seen, |_, _| false)? else {
            return Ok(());
        };
        count(flow, way, seen);
        if let State::Sctp(sctp) = &mut flow.state {
            let Datagram { payload, length, .. } = *seen.datagram;
            sctp.on_packet(&mut flow.halves, way, payload, length, seen.now);
        }
        Ok(())
    }

    fn on_udp(&mut self, seen: Seen<'_>, ends: [Endpoint; 2]) -> Result<(), Note> {
        let protocol = self.in_udp(&ends);
        let length = seen.datagram.length.checked_sub(UDP_HEADER).ok_or(Note::BadHeader)?;
        let payload = seen.datagram.payload.get(UDP_HEADER..).ok_or(Note::HeaderCut)?;
        if protocol == Protocol::DccpUdp {
            return self.on_dccp(seen, protocol, payload, length);
        }
        let Some((flow, way)) = self.flow(ends, protocol, seen, |_, _| false)? else { return Ok(()) };
        count(flow, way, seen);
        if flow.protocol == Protocol::Udp && opens_quic(payload) {
            flow.protocol = Protocol::Quic;
        }
        match &mut flow.state {
            // What only looks like it counts as plain UDP.
            State::Ltp(ltp) => match ltp::Packet::read_kept(payload, length) {
                Ok(packet) => ltp.on_segment(&mut flow.halves, way, &packet, seen.now),
                Err(_) => plain(&mut flow.halves[way], length as u64, seen.now),
            },
            State::Ndn(ndn) => {
                if !ndn.on_datagram(&mut flow.halves, way, (payload, length), seen.now) {
                    plain(&mut flow.halves[way], length as u64, seen.now);
                }
            }
            State::Udpdtn(udpdtn) => match udpdtn::Packet::read(payload) {
                Ok(packet) => {
                    let cut = length.saturating_sub(payload.len()) as u64;
                    udpdtn.on_datagram(&mut flow.halves, way, &packet, cut, seen.now);
                }
                Err(_) => plain(&mut flow.halves[way], length as u64, seen.now),
            },
            _ if flow.protocol == Protocol::BpUdp => {
                bundle(&mut flow.halves[way], payload, length as u64, seen.now);
            }
            _ => plain(&mut flow.halves[way], length as u64, seen.now),
        }
        Ok(())
    }

    /// DCCP, whose packet is `bytes`. In UDP its ports, not those of UDP, name a connection (RFC 6773, section 3.8).
    fn on_dccp(
        &mut self,
        seen: Seen<'_>,
        protocol: Protocol,
        bytes: &[u8],
        length: usize,
    ) -> Result<(), Note> {
        let packet = Packet::read(bytes).map_err(|wrong| match wrong {
            Malformed::Cut { .. } | Malformed::DataOffset { .. } if bytes.len() < length => Note::HeaderCut,
            _ => Note::BadHeader,
        })?;
        let missing = length.saturating_sub(bytes.len());
        let ends = ends(bytes, seen.datagram.addresses)?;
        let over = |flow: &Flow, _: usize| match &flow.state {
            State::Dccp(dccp) => dccp.is_over(&packet),
            _ => false,
        };
        let Some((flow, way)) = self.flow(ends, protocol, seen, over)? else { return Ok(()) };
        count(flow, way, seen);
        let State::Dccp(dccp) = &mut flow.state else { return Ok(()) };
        dccp.on_packet(&mut flow.halves, way, &packet, (packet.data.len() + missing) as u64, seen.now);
        let inside = if dccp.carries_ltp() || speaks(&ends, ltp::PORT) {
            Protocol::LtpDccp
        } else if dccp.carries_bundles() || speaks(&ends, tcpcl::PORT) {
            Protocol::BpDccp
        } else {
            return Ok(());
        };
        if packet.header.kind().is_data() && packet.data != KEEPALIVE {
            self.on_inside_dccp(seen, ends, inside, (packet.data, packet.data.len() + missing))?;
        }
        Ok(())
    }

    /// A segment of LTP or a bundle (`bytes` of it were kept, it had `length`) in a packet of DCCP: a flow of its own.
    fn on_inside_dccp(
        &mut self,
        seen: Seen<'_>,
        ends: [Endpoint; 2],
        protocol: Protocol,
        (bytes, length): (&[u8], usize),
    ) -> Result<(), Note> {
        let Some((flow, way)) = self.flow(ends, protocol, seen, |_, _| false)? else {
            return Ok(());
        };
        count(flow, way, seen);
        if protocol == Protocol::BpDccp {
            bundle(&mut flow.halves[way], bytes, length as u64, seen.now);
        }
        if let State::Ltp(ltp) = &mut flow.state {
            match ltp::Packet::read_kept(bytes, length) {
                Ok(packet) => ltp.on_segment(&mut flow.halves, way, &packet, seen.now),
                Err(_) => plain(&mut flow.halves[way], length as u64, seen.now),
            }
        }
        Ok(())
    }

    /// Not every flow is wanted.
    pub fn is_filtered(&self) -> bool {
        !self.options.filters.is_empty()
    }

    /// The flows that are wanted, now that it is known what they speak.
    pub fn wanted(&mut self) -> Vec<Flow> {
        let filters = &self.options.filters;
        let mut flows = std::mem::take(&mut self.flows);
        flows.retain(|flow| filters.iter().all(|filter| filter.takes(&flow.ends, flow.protocol)));
        flows
    }

    fn in_udp(&self, ends: &[Endpoint; 2]) -> Protocol {
        if self.options.dccp_ports.iter().any(|port| speaks(ends, *port)) {
            Protocol::DccpUdp
        } else if speaks(ends, ltp::PORT) {
            Protocol::Ltp
        } else if speaks(ends, tcpcl::PORT) {
            Protocol::BpUdp
        } else if speaks(ends, ndn::PORT) {
            Protocol::Ndn
        } else if speaks(ends, udpdtn::PORT) {
            Protocol::Udpdtn
        } else {
            Protocol::Udp
        }
    }

    /// The flow between two ends, and the direction of this packet. None where it is not wanted.
    #[inline]
    fn flow(
        &mut self,
        ends: [Endpoint; 2],
        protocol: Protocol,
        seen: Seen<'_>,
        over: impl Fn(&Flow, usize) -> bool,
    ) -> Result<Option<(&mut Flow, usize)>, Note> {
        let (now, interface) = (seen.now, seen.record.interface);
        let [low, high] = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
        let key = Key { low, high, protocol };
        let known = match self.last {
            Some((last, place)) if last == key => Some(place),
            _ => self.places.get(&key).copied(),
        };
        let place = match known {
            Some(Some(place)) => {
                let flow = &mut self.flows[place as usize];
                let way = way(flow, &ends);
                if !flow.counts_at(interface, way) {
                    return Err(Note::OtherInterface);
                }
                if over(flow, way) { self.begin(key, ends, now)? } else { Some(place) }
            }
            Some(None) => None,
            None => self.begin(key, ends, now)?,
        };
        self.last = Some((key, place));
        let Some(place) = place else { return Ok(None) };
        let flow = &mut self.flows[place as usize];
        let way = way(flow, &ends);
        // Of a flow that has just begun, the interface is that of this packet.
        flow.counts_at(interface, way);
        Ok(Some((flow, way)))
    }

    #[cold]
    fn begin(&mut self, key: Key, ends: [Endpoint; 2], now: &Moment) -> Result<Option<u32>, Note> {
        let wanted = self.options.filters.iter().all(|filter| filter.may_take(&ends, key.protocol));
        if self.flows.len() >= FLOWS_MAX {
            // Unknown flows are not even remembered.
            return if wanted { Err(Note::TooManyFlows) } else { Ok(None) };
        }
        let place = wanted.then_some(self.flows.len() as u32);
        if self.places.len() < 4 * FLOWS_MAX {
            self.places.insert(key, place);
        }
        if let Some(place) = place {
            self.flows.push(Flow::new(ends, key.protocol, now));
            if self.options.graphs {
                self.draw(place);
            }
        }
        Ok(place)
    }

    /// Draws a new flow; of too many drawn flows only those with the most packets are kept.
    fn draw(&mut self, place: u32) {
        for half in &mut self.flows[place as usize].halves {
            half.graph = Some(Box::<Graph>::default());
        }
        self.drawn.push(place);
        if self.drawn.len() > TRIED_MAX {
            self.keep_largest_drawn();
        }
    }

    fn keep_largest_drawn(&mut self) {
        let flows = &self.flows;
        self.drawn.sort_by_key(|place| std::cmp::Reverse(flows[*place as usize].packets()));
        for place in self.drawn.split_off(DRAWN_MAX) {
            self.flows[place as usize].halves.iter_mut().for_each(|half| half.graph = None);
        }
    }
}

#[inline]
fn ends(payload: &[u8], addresses: [u128; 2]) -> Result<[Endpoint; 2], Note> {
    Endpoint::pair(payload, addresses).ok_or(Note::HeaderCut)
}

/// A long header of QUIC (RFC 8999, section 5.1) with its fixed bit, of a known version.
fn opens_quic(payload: &[u8]) -> bool {
    let Some(&[flags, a, b, c, d, id]) = payload.first_chunk() else { return false };
    let version = u32::from_be_bytes([a, b, c, d]);
    let known = QUIC_VERSIONS.contains(&version) || version & !0xff == QUIC_DRAFTS;
    flags & 0xc0 == 0xc0 && known && id <= 20
}

fn speaks(ends: &[Endpoint; 2], port: u16) -> bool {
    ends.iter().any(|end| end.port == port)
}

#[inline]
fn way(flow: &Flow, ends: &[Endpoint; 2]) -> usize {
    usize::from(flow.ends[0] != ends[0])
}

#[inline]
fn count(flow: &mut Flow, way: usize, seen: Seen<'_>) {
    flow.on_time(seen.now);
    let counts = &mut flow.halves[way].counts;
    counts.packets += 1;
    counts.wire_bytes += u64::from(seen.record.length);
    counts.marked += u64::from(seen.datagram.marked);
}

/// A bundle in a datagram of `length` bytes, as far as it was kept; what begins like none counts as payload.
fn bundle(half: &mut Half, kept: &[u8], length: u64, now: &Moment) {
    if kept == KEEPALIVE {
        half.counts.control += 1;
        return;
    }
    let again = half.messages.on_bundle(kept, now);
    half.messages.sent += u64::from(again.is_some());
    half.messages.bytes += if again.is_some() { length } else { 0 };
    let again = again == Some(true);
    half.counts.again_packets += u64::from(again);
    half.counts.again_bytes += if again { length } else { 0 };
    payload(half, length, if again { length } else { 0 }, now);
}

/// Payload of a transport that numbers nothing.
#[inline]
fn plain(half: &mut Half, length: u64, now: &Moment) {
    payload(half, length, 0, now);
}

/// The same; `again` bytes of it were sent before.
#[inline]
fn payload(half: &mut Half, payload: u64, again: u64, now: &Moment) {
    if payload == 0 {
        return;
    }
    let under_way = half.flight.pieces();
    let sent = Sent { now: *now, from: 0, to: 0, payload, path_ns: None, packet: 1, under_way };
    half.on_data(&sent, again);
}
