//! From a frame to what a transport carries: links, tags, IPv4, IPv6 with its extension headers, 6in4.
//!
//! Made for captures: a packet that was kept in part is read as far as it goes, with the lengths that it had.

use super::notes::Note;
use std::net::{IpAddr, Ipv6Addr};

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const RAW: [u16; 5] = [12, 14, 101, 228, 229];
const LOOP: u16 = 108;
const LINUX_COOKED: u16 = 113;
const LINUX_COOKED_2: u16 = 276;

const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86dd;
/// IEEE 802.1Q, 802.1ad, and the type used before it.
const TYPES_TAG: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// IP within IP within ... is no deeper in honest packets.
const DEPTH_MAX: u8 = 4;
const HEADERS_MAX: u8 = 16;

/// An address with a port. IPv4 is mapped into IPv6 (RFC 4291, section 2.5.5.2), so that both compare alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The address as a number.
    pub address: u128,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// Source and destination; ports are the first four bytes of every transport here. None if these are missing.
    #[inline]
    pub fn pair(payload: &[u8], addresses: [u128; 2]) -> Option<[Self; 2]> {
        let ports: &[u8; 4] = payload.first_chunk()?;
        let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
        Some([Self { address: addresses[0], port: port(0) }, Self { address: addresses[1], port: port(2) }])
    }
    /// The address as people write it.
    pub fn ip(&self) -> IpAddr {
        Ipv6Addr::from_bits(self.address).to_canonical()
    }
}

impl From<std::net::SocketAddr> for Endpoint {
    fn from(end: std::net::SocketAddr) -> Self {
        Self { address: number(end.ip()), port: end.port() }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}", std::net::SocketAddr::new(self.ip(), self.port))
    }
}

/// An address as a number.
pub fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(four) => four.to_ipv6_mapped().to_bits(),
        IpAddr::V6(six) => six.to_bits(),
    }
}

/// What IP carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Source and destination.
    pub addresses: [u128; 2],
    /// Its number (IANA's protocol numbers).
    pub protocol: u8,
    /// Bytes that the payload had.
    pub length: usize,
    /// Bytes of it that were kept.
    pub payload: &'a [u8],
    /// Congestion was marked on the path (RFC 3168).
    pub marked: bool,
    /// More fragments follow.
    pub fragmented: bool,
}

/// Reads a frame up to what IP carries. `length` is what the frame had on the wire.
///
/// # Errors
/// Why it is skipped.
#[inline]
pub fn datagram(link: u16, frame: &[u8], length: usize) -> Result<Datagram<'_>, Note> {
    let (kind, skipped) = match link {
        ETHERNET => ethernet(frame)?,
        NULL | LOOP => (family(frame)?, 4),
        LINUX_COOKED => (u16_at(frame, 14)?, 16),
        LINUX_COOKED_2 => (u16_at(frame, 0)?, 20),
        link if RAW.contains(&link) => (version(frame)?, 0),
        _ => return Err(Note::UnknownLink),
    };
    let (kind, skipped) = untagged(frame, kind, skipped)?;
    if kind != TYPE_IPV4 && kind != TYPE_IPV6 {
        return Err(Note::NotIp);
    }
    let packet = frame.get(skipped..).ok_or(Note::HeaderCut)?;
    ip(packet, length.saturating_sub(skipped), DEPTH_MAX)
}

#[inline]
fn ethernet(frame: &[u8]) -> Result<(u16, usize), Note> {
    Ok((u16_at(frame, 12)?, 14))
}

/// Passes tags of virtual networks.
#[inline]
fn untagged(frame: &[u8], mut kind: u16, mut skipped: usize) -> Result<(u16, usize), Note> {
    while TYPES_TAG.contains(&kind) {
        kind = u16_at(frame, skipped + 2)?;
        skipped += 4;
    }
    Ok((kind, skipped))
}

/// BSD's loopback gives the address family in the byte order of the capturing host.
fn family(frame: &[u8]) -> Result<u16, Note> {
    let word = frame.get(..4).ok_or(Note::HeaderCut)?;
    match word[0].max(word[3]) {
        2 => Ok(TYPE_IPV4),
        10 | 24 | 28 | 30 => Ok(TYPE_IPV6),
        _ => Err(Note::NotIp),
    }
}

#[inline]
fn version(packet: &[u8]) -> Result<u16, Note> {
    match packet.first().ok_or(Note::HeaderCut)? >> 4 {
        4 => Ok(TYPE_IPV4),
        6 => Ok(TYPE_IPV6),
        _ => Err(Note::NotIp),
    }
}

#[inline]
fn ip(packet: &[u8], length: usize, depth: u8) -> Result<Datagram<'_>, Note> {
    if depth == 0 {
        return Err(Note::BadHeader);
    }
    let inner = if version(packet)? == TYPE_IPV4 { ipv4(packet, length) } else { ipv6(packet, length) }?;
    match inner.protocol {
        // IP in IP (RFC 2003) and 6in4 (RFC 4213).
        4 | 41 => ip(inner.payload, inner.length, depth - 1),
        _ => Ok(inner),
    }
}

/// RFC 791, section 3.1.
#[inline]
fn ipv4(packet: &[u8], length: usize) -> Result<Datagram<'_>, Note> {
    let head: &[u8; 20] = packet.first_chunk().ok_or(Note::HeaderCut)?;
    let header = usize::from(head[0] & 0xf) * 4;
    // Zero where the card cuts large packets itself.
    let total = match usize::from(u16::from_be_bytes([head[2], head[3]])) {
        0 => length,
        total => total,
    };
    if header < 20 || total < header {
        return Err(Note::BadHeader);
    }
    let place = u16::from_be_bytes([head[6], head[7]]);
    if place & 0x1fff != 0 {
        return Err(Note::Fragment);
    }
    let payload = packet.get(header..).ok_or(Note::HeaderCut)?;
    let mapped = |at: usize| {
        0xffff_0000_0000
            | u128::from(u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]))
    };
    Ok(Datagram {
        addresses: [mapped(12), mapped(16)],
        protocol: head[9],
        length: total - header,
        payload: &payload[..payload.len().min(total - header)],
        marked: head[1] & 3 == 3,
        fragmented: place & 0x2000 != 0,
    })
}

/// RFC 8200.
fn ipv6(packet: &[u8], length: usize) -> Result<Datagram<'_>, Note> {
    let head: &[u8; 40] = packet.first_chunk().ok_or(Note::HeaderCut)?;
    let mut left = match usize::from(u16::from_be_bytes([head[4], head[5]])) {
        0 => length.saturating_sub(40),
        told => told,
    };
    let mut payload = &packet[40..];
    payload = &payload[..payload.len().min(left)];
    let mut protocol = head[6];
    let mut fragmented = false;
    for _ in 0..HEADERS_MAX {
        // Hop-by-hop, routing, fragment, authentication, destination options, mobility.
        let header = match protocol {
            0 | 43 | 60 | 135 => 8 * (1 + usize::from(*payload.get(1).ok_or(Note::HeaderCut)?)),
            44 => 8,
            51 => 4 * (2 + usize::from(*payload.get(1).ok_or(Note::HeaderCut)?)),
            _ => break,
        };
        if protocol == 44 {
            let place = u16_at(payload, 2)?;
            if place & 0xfff8 != 0 {
                return Err(Note::Fragment);
            }
            fragmented = place & 1 != 0;
        }
        protocol = *payload.first().ok_or(Note::HeaderCut)?;
        left = left.checked_sub(header).ok_or(Note::BadHeader)?;
        payload = payload.get(header..).ok_or(Note::HeaderCut)?;
    }
    let address = |at: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&head[at..at + 16]);
        u128::from_be_bytes(bytes)
    };
    Ok(Datagram {
        addresses: [address(8), address(24)],
        protocol,
        length: left,
        payload,
        marked: head[1] >> 4 & 3 == 3,
        fragmented,
    })
}

#[inline]
fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Note> {
    match bytes.get(at..at + 2) {
        Some(word) => Ok(u16::from_be_bytes([word[0], word[1]])),
        None => Err(Note::HeaderCut),
    }
}
