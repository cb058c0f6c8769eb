//! What rewriters of captures share: finding DCCP packets, and writing IP headers.

use super::analysis::{CaptureFile, Datagram, Endpoint, Error, datagram};
use etherparse::{IpNumber, Ipv4Header, Ipv6Header};
use lightlag_protocols::wire::dccp::{IP_PROTOCOL, Packet};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::io::{Read, Write};
use std::net::IpAddr;
use std::time::Duration;

/// The number of UDP in IP.
pub const IP_UDP: u8 = 17;
const UDP_HEADER: usize = 8;
/// Longest IP packet.
const LENGTH_MAX: usize = 65_535;
const HOPS: u8 = 64;

/// What was rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Packets of DCCP that were rewritten.
    pub packets: u64,
    /// Packets that could not be, as they are damaged or too short.
    pub unread: u64,
}

/// A packet of DCCP in a capture.
pub struct Found<'a> {
    /// Nanoseconds since 1970, UTC.
    pub at_ns: i64,
    /// Addresses with the ports of DCCP: source, destination.
    pub ends: [Endpoint; 2],
    /// As far as it was kept.
    pub packet: Packet<'a>,
    /// The same, as bytes.
    pub bytes: &'a [u8],
    /// Bytes of data that it had.
    pub payload: usize,
    /// It was carried in UDP (RFC 6773).
    pub in_udp: bool,
}

/// Calls `tell` for each packet of DCCP over IP, and in UDP at these ports.
///
/// # Errors
/// The capture cannot be read, or `tell` fails.
pub fn each<R: Read>(
    mut file: CaptureFile<R>,
    ports: &[u16],
    mut tell: impl FnMut(&Found<'_>) -> Result<(), PcapError>,
) -> Result<Rewritten, Error> {
    let mut done = Rewritten::default();
    while let Some(record) = file.next_record()? {
        let Ok(carried) = datagram(record.link, record.data, record.length as usize) else { continue };
        let Some((bytes, length)) = dccp_in(&carried, ports) else { continue };
        let (Ok(packet), Some(ends)) = (Packet::read(bytes), Endpoint::pair(bytes, carried.addresses)) else {
            done.unread += 1;
            continue;
        };
        if length > LENGTH_MAX {
            done.unread += 1;
            continue;
        }
        let payload = packet.data.len() + length.saturating_sub(bytes.len());
        let in_udp = carried.protocol == IP_UDP;
        tell(&Found { at_ns: record.at_ns, ends, packet, bytes, payload, in_udp }).map_err(not_written)?;
        done.packets += 1;
    }
    Ok(done)
}

fn dccp_in<'a>(carried: &Datagram<'a>, ports: &[u16]) -> Option<(&'a [u8], usize)> {
    if carried.protocol == IP_PROTOCOL {
        return Some((carried.payload, carried.length));
    }
    let ends = Endpoint::pair(carried.payload, carried.addresses).filter(|_| carried.protocol == IP_UDP)?;
    let inside = ends.iter().any(|end| ports.contains(&end.port));
    let bytes = carried.payload.get(UDP_HEADER..).filter(|_| inside)?;
    Some((bytes, carried.length.checked_sub(UDP_HEADER)?))
}

/// What the writer says, as an error of the analysis.
pub fn not_written(error: PcapError) -> Error {
    match error {
        PcapError::IoError(error) => Error::Unwritten(error),
        other => Error::Unwritten(std::io::Error::other(other.to_string())),
    }
}

/// A capture of packets of IP.
///
/// # Errors
/// Its head cannot be written.
pub fn writer<W: Write>(to: W) -> Result<PcapWriter<W>, PcapError> {
    head(to, TsResolution::MicroSecond)
}

/// The same, with times of this resolution.
///
/// # Errors
/// Its head cannot be written.
pub fn head<W: Write>(to: W, ts_resolution: TsResolution) -> Result<PcapWriter<W>, PcapError> {
    let header = PcapHeader { datalink: DataLink::RAW, ts_resolution, ..PcapHeader::default() };
    PcapWriter::with_header(to, header)
}

/// Writes what was kept of a packet of IP that had `cut` bytes more.
///
/// # Errors
/// It cannot be written.
pub fn write(to: &mut PcapWriter<impl Write>, at_ns: i64, kept: &[u8], cut: usize) -> Result<(), PcapError> {
    let since = Duration::from_nanos(at_ns.clamp(0, i64::from(u32::MAX) * 1_000_000_000) as u64);
    to.write_packet(&PcapPacket::new(since, (kept.len() + cut) as u32, kept))?;
    Ok(())
}

/// A header of IP for `length` bytes of a transport.
pub fn ip_header(ends: [Endpoint; 2], protocol: u8, length: usize) -> Vec<u8> {
    match ends.map(|end| end.ip()) {
        [IpAddr::V4(source), IpAddr::V4(destination)] => {
            let mut ip = Ipv4Header {
                total_len: (Ipv4Header::MIN_LEN + length).min(LENGTH_MAX) as u16,
                time_to_live: HOPS,
                protocol: IpNumber(protocol),
                source: source.octets(),
                destination: destination.octets(),
                ..Ipv4Header::default()
            };
            ip.header_checksum = ip.calc_header_checksum();
            ip.to_bytes().to_vec()
        }
        _ => {
            let [source, destination] = ends.map(|end| end.address.to_be_bytes());
            let payload_length = length.min(LENGTH_MAX) as u16;
            let next_header = IpNumber(protocol);
            let ip = Ipv6Header {
                payload_length,
                next_header,
                hop_limit: HOPS,
                source,
                destination,
                ..Ipv6Header::default()
            };
            ip.to_bytes().to_vec()
        }
    }
}
