//! DCCP in IP packets of protocol 33, by raw sockets.
//!
//! A raw socket receives every packet of its protocol; those for other ports are dropped here. An IPv4 header
//! has the destination address. IPv6 does not provide it, so the source address towards the peer is assumed: on
//! a machine with several addresses, name one.

use super::{Received, Undelivered, is_passing, unspecified};
use crate::clock::Clock;
use crate::tap::{Tap, Tapped};
use lightlag_protocols::transport::dccp::Ecn;
use lightlag_protocols::wire::dccp::{Addresses, IP_PROTOCOL, Packet};
use rustix::event::{PollFd, PollFlags};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, ipproto, recvfrom, sendto,
    socket_with, sockopt,
};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Packets that are handed over at once.
const BATCH: usize = 64;
const PACKET_MOST: usize = 1 << 16;
/// What is asked of the kernel for packets that wait.
const SOCKET_BUFFER: usize = 32 << 20;
/// Peers whose source address is cached.
const WAYS_MOST: usize = 1024;
/// Where IPv4 has the addresses in its header.
const IPV4_SOURCE: usize = 12;
const IPV4_DESTINATION: usize = 16;

/// A raw socket, and the port of DCCP whose packets are taken.
pub struct Raw {
    io: OwnedFd,
    at: SocketAddr,
    buffer: Vec<u8>,
    out: Vec<u8>,
    sealed: Vec<u8>,
    /// The address that packets leave by to a peer.
    sources: BTreeMap<IpAddr, IpAddr>,
    tapped: Option<Tapped>,
}

/// The address that packets leave by to a peer: the one that the kernel's routes give.
pub fn source_towards(peer: IpAddr) -> io::Result<IpAddr> {
    let probe = UdpSocket::bind(SocketAddr::new(unspecified(peer), 0))?;
    // Nothing is sent.
    probe.connect(SocketAddr::new(peer, IP_PROTOCOL.into()))?;
    Ok(probe.local_addr()?.ip())
}

impl Raw {
    /// Takes packets for a port at an address.
    pub fn bind(at: SocketAddr) -> io::Result<Self> {
        let family = if at.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let io = socket_with(family, SocketType::RAW, flags, Some(ipproto::DCCP))?;
        // The mighty may go beyond what the kernel allows others.
        let _ = sockopt::set_socket_recv_buffer_size_force(&io, SOCKET_BUFFER);
        bind(&io, &SocketAddr::new(at.ip(), 0))?;
        let buffer = vec![0; PACKET_MOST];
        Ok(Self {
            io,
            at,
            buffer,
            out: Vec::new(),
            sealed: Vec::new(),
            sources: BTreeMap::new(),
            tapped: None,
        })
    }
    /// The address, and the port of DCCP.
    pub fn address(&self) -> SocketAddr {
        self.at
    }
    /// Shows all that passes from now on to `tap`, if there is one.
    pub fn set_tap(&mut self, tap: Option<Tap>) {
        self.tapped = tap.map(|tap| Tapped::new(tap, self.at));
    }
    /// What polls it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
    /// As [`super::Socket::receive`].
    pub fn receive(&mut self, clock: &Clock, mut take: impl FnMut(Received)) -> io::Result<usize> {
        for count in 0..BATCH {
            let (length, from) = match recvfrom(&self.io, self.buffer.as_mut_slice(), RecvFlags::empty()) {
                Ok((_, length, from)) => (length, from),
                Err(why) if is_passing(&why.into()) => return Ok(count),
                Err(why) => return Err(why.into()),
            };
            let from = from.and_then(|from| SocketAddr::try_from(from).ok()).map(|from| from.ip());
            let Some(from) = from else { continue };
            // An invented source address without a route must not end this.
            let Ok(local) = self.source(from) else { continue };
            let bytes = &self.buffer[..length.min(PACKET_MOST)];
            if let Some((port, packet)) = taken(bytes, from, local, self.at.port()) {
                let from = SocketAddr::new(from, port);
                if let Some(tapped) = &mut self.tapped {
                    tapped.came(from, Some(local), None, packet);
                }
                take(Received { from, bytes: packet, at: clock.now(), ecn: Ecn::NotCapable });
            }
        }
        Ok(BATCH)
    }
    /// The address that packets leave by to a peer.
    fn source(&mut self, peer: IpAddr) -> io::Result<IpAddr> {
        if !self.at.ip().is_unspecified() {
            return Ok(self.at.ip());
        }
        if let Some(source) = self.sources.get(&peer) {
            return Ok(*source);
        }
        let source = source_towards(peer)?;
        if self.sources.len() >= WAYS_MOST {
            self.sources.clear();
        }
        self.sources.insert(peer, source);
        Ok(source)
    }
    /// Sends a packet: as [`super::Socket::push`], but that it leaves at once.
    pub fn push(
        &mut self,
        to: SocketAddr,
        undelivered: &mut Undelivered,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        self.out.clear();
        write(&mut self.out);
        let source = match self.source(to.ip()) {
            Ok(source) => source,
            Err(why) => return undelivered.note(to, why),
        };
        let addresses = Addresses { source, destination: to.ip() };
        let packet = Packet::read(&self.out).map_err(|why| io::Error::other(format!("a packet: {why}")))?;
        self.sealed.clear();
        packet.write(Some(&addresses), &mut self.sealed);
        if let Some(tapped) = &mut self.tapped {
            tapped.left(tapped.now(), to, &self.out);
        }
        let address = SocketAddr::new(to.ip(), 0);
        for _ in 0..20 {
            match sendto(&self.io, &self.sealed, SendFlags::empty(), &address) {
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::NOBUFS) => {
                    // The interface queue is full: wait for room.
                    let span = lightlag_protocols::time::Duration::from_nanos(5_000_000);
                    super::wait_any(&mut [PollFd::new(&self.io, PollFlags::OUT)], span)?;
                }
                Err(why) => return undelivered.note(to, why.into()),
                Ok(_) => break,
            }
        }
        Ok(())
    }
}

/// The packet of DCCP that came, if it is for this port and its checksum is right, and the port it is from.
fn taken(bytes: &[u8], from: IpAddr, local: IpAddr, port: u16) -> Option<(u16, &[u8])> {
    let (packet, addresses) = match from {
        IpAddr::V4(_) => {
            let address = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(|four: [u8; 4]| four.into());
            let head = usize::from(bytes.first()? & 15) * 4;
            let addresses =
                Addresses { source: address(IPV4_SOURCE)?, destination: address(IPV4_DESTINATION)? };
            (bytes.get(head..)?, addresses)
        }
        IpAddr::V6(_) => (bytes, Addresses { source: from, destination: local }),
    };
    let read = Packet::read(packet).ok().filter(|read| read.header.destination == port)?;
    Packet::verify(packet, &addresses).ok()?;
    Some((read.header.source, packet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_protocols::wire::dccp::{Body, Header, Sequence};
    use proptest::prelude::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn request(addresses: &Addresses) -> Vec<u8> {
        let body = Body::Request { service: 5 };
        let sequence = Sequence::new(1);
        let header =
            Header { source: 7, destination: 9, ccval: 0, coverage: 0, short: false, sequence, body };
        Packet { header, options: &[], data: b"data" }.to_bytes(Some(addresses))
    }
    fn in_ipv4(packet: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x45; 12];
        bytes.extend([127, 0, 0, 1, 127, 0, 0, 1]);
        bytes.extend_from_slice(packet);
        bytes
    }

    #[test]
    fn packets_for_the_port_are_taken_if_their_checksum_is_right() {
        let packet = request(&Addresses { source: HERE, destination: HERE });
        let bytes = in_ipv4(&packet);
        assert_eq!(taken(&bytes, HERE, HERE, 9), Some((7, &packet[..])));
        assert_eq!(taken(&bytes, HERE, HERE, 10), None, "another port");
        let mut damaged = bytes.clone();
        *damaged.last_mut().expect("it has bytes") ^= 1;
        assert_eq!(taken(&damaged, HERE, HERE, 9), None, "a wrong checksum");
        let six: IpAddr = std::net::Ipv6Addr::LOCALHOST.into();
        let packet = request(&Addresses { source: six, destination: six });
        assert_eq!(taken(&packet, six, six, 9), Some((7, &packet[..])), "IPv6 comes without its header");
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_passed_by(bytes in prop::collection::vec(any::<u8>(), 0..100), port: u16) {
            let _ = taken(&bytes, HERE, HERE, port);
            let _ = taken(&in_ipv4(&bytes), HERE, HERE, port);
        }
    }
}
