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
    /// Writes a datagram captured at `at_ns`, in nanoseconds since 1970 (UTC).
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

pub(crate) fn of_writer(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn over_ip(from: SocketAddr, to: SocketAddr, packet: &Packet<'_>) -> Vec<u8> {
    let transport = packet.to_bytes(Some(&Addresses { source: from.ip(), destination: to.ip() }));
    below(from, to, IP_PROTOCOL, &transport)
}

/// A datagram with the headers of IP and UDP that it has on the wire.
pub fn over_udp(from: SocketAddr, to: SocketAddr, bytes: &[u8]) -> Vec<u8> {
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
    // No socket gives more than a UDP length field holds.
    let transport = [&header.unwrap_or_default().to_bytes()[..], bytes].concat();
    below(from, to, IP_UDP, &transport)
}

fn below(from: SocketAddr, to: SocketAddr, protocol: u8, transport: &[u8]) -> Vec<u8> {
    let mut whole = ip_header([from, to].map(Endpoint::from), protocol, transport.len());
    whole.extend_from_slice(transport);
    whole
}

#[cfg(test)]
mod tests {
    use super::super::analysis::{CaptureFile, datagram};
    use super::*;
    use etherparse::{SlicedPacket, TransportSlice};
    use proptest::prelude::*;

    /// What a capture of one datagram holds: its time, the type of the link, and the packet of IP.
    fn written(dccp: bool, [from, to]: [SocketAddr; 2], bytes: &[u8]) -> (i64, u16, Vec<u8>) {
        let mut file = Vec::new();
        let mut capture = Datagrams::new(&mut file, dccp).unwrap();
        capture.write(1_700_000_000_123_456_789, from, to, bytes).unwrap();
        capture.finish().unwrap();
        let mut capture = CaptureFile::open(&file[..]).unwrap();
        let record = capture.next_record().unwrap().unwrap();
        (record.at_ns, record.link, record.data.to_vec())
    }

    proptest! {
        #[test]
        fn datagrams_are_there_as_they_passed(
            bytes in prop::collection::vec(any::<u8>(), 0..2000),
            ports: (u16, u16),
            six: bool,
        ) {
            let [from, to] = if six { ["fd00::1", "fd00::2"] } else { ["10.0.0.1", "10.0.0.2"] };
            let end = |ip: &str, port| SocketAddr::new(ip.parse().unwrap(), port);
            let (at_ns, _, packet) = written(false, [end(from, ports.0), end(to, ports.1)], &bytes);
            prop_assert_eq!(at_ns, 1_700_000_000_123_456_789);
            let sliced = SlicedPacket::from_ip(&packet).unwrap();
            let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!("it is UDP") };
            prop_assert_eq!((udp.source_port(), udp.destination_port()), ports);
            prop_assert_eq!(udp.payload(), &bytes[..]);
        }
    }

    #[test]
    fn dccp_is_over_ip_with_its_checksum_and_what_is_none_stays_in_udp() {
        use lightlag_protocols::wire::dccp::Packet;
        let ends = ["[::1]:50000", "[::1]:6511"].map(|end| end.parse().unwrap());
        // A Reset without options: type 7, long sequence numbers, 28 bytes of header.
        let mut reset = vec![0; 28];
        (reset[0], reset[2], reset[3]) = (0xc0, 0x04, 0x59);
        (reset[4], reset[8]) = (7, 7 << 1 | 1);
        let packet = Packet::read(&reset).unwrap();
        let (_, link, whole) = written(true, ends, &reset);
        let carried = datagram(link, &whole, whole.len()).unwrap();
        assert_eq!((carried.protocol, carried.length), (IP_PROTOCOL, 28));
        let ip = ends[0].ip();
        assert_eq!(carried.payload, packet.to_bytes(Some(&Addresses { source: ip, destination: ip })));
        let (_, link, whole) = written(true, ends, b"noise");
        assert_eq!(datagram(link, &whole, whole.len()).unwrap().protocol, IP_UDP);
    }
}
