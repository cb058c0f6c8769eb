//! What passes our own sockets as a capture: datagrams of UDP with the headers that they have on the wire.
//!
//! DCCP in UDP (RFC 6773) is written as DCCP over IP (RFC 4340), as [`super::to_dccp`] does: tools do not look for
//! it in UDP. Its checksum is made, as it is zero in UDP. Times are in nanoseconds.

use super::analysis::Endpoint;
use super::rewrite::{IP_UDP, head, ip_header, write};
use etherparse::{Ipv4Header, Ipv6Header, UdpHeader};
use lightlag_protocols::wire::dccp::{Addresses, IP_PROTOCOL, Packet};
use pcap_file::pcap::PcapWriter;
use pcap_file::{PcapError, TsResolution};
use std::io::{self, Write};
use std::net::SocketAddr;

/// Writes datagrams as they pass.
pub struct Datagrams<W: Write> {
    to: PcapWriter<W>,
    dccp: bool,
}

impl<W: Write> Datagrams<W> {
    /// To `to`; `dccp`: they carry DCCP, where they can be read as such.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: W, dccp: bool) -> io::Result<Self> {
        Ok(Self { to: head(to, TsResolution::NanoSecond).map_err(of_writer)?, dccp })
    }
    /// One that passed so many nanoseconds after 1970 began (UTC).
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, at_ns: i64, from: SocketAddr, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        let packet = self.dccp.then(|| Packet::read(bytes).ok()).flatten();
        let whole = match packet {
            Some(packet) => over_ip(from, to, &packet),
            None => over_udp(from, to, bytes),
        };
        write(&mut self.to, at_ns, &whole, 0).map_err(of_writer)
    }
    /// Hands all on to what is below.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.to.into_writer().flush()
    }
}

fn of_writer(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn over_ip(from: SocketAddr, to: SocketAddr, packet: &Packet<'_>) -> Vec<u8> {
    let transport = packet.to_bytes(Some(&Addresses { source: from.ip(), destination: to.ip() }));
    below(from, to, IP_PROTOCOL, &transport)
}

fn over_udp(from: SocketAddr, to: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let header = match (from, to) {
        (SocketAddr::V4(source), SocketAddr::V4(destination)) => {
            let (source, destination) = (source.ip().octets(), destination.ip().octets());
            let ip = Ipv4Header { source, destination, ..Ipv4Header::default() };
            UdpHeader::with_ipv4_checksum(from.port(), to.port(), &ip, bytes)
        }
        _ => {
            let [source, destination] = [from, to].map(|end| Endpoint::from(end).address.to_be_bytes());
            let ip = Ipv6Header { source, destination, ..Ipv6Header::default() };
            UdpHeader::with_ipv6_checksum(from.port(), to.port(), &ip, bytes)
        }
    };
    // No socket gives more than UDP can tell.
    let transport = [&header.unwrap_or_default().to_bytes()[..], bytes].concat();
    below(from, to, IP_UDP, &transport)
}

fn below(from: SocketAddr, to: SocketAddr, protocol: u8, transport: &[u8]) -> Vec<u8> {
    let mut whole = ip_header([from, to].map(Endpoint::from), protocol, transport.len());
    whole.extend_from_slice(transport);
    whole
}
