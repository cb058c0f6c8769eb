//! A face over UDP: a packet of the link is a datagram.

use super::{Dropped, Peer, Take, take_frame};
use crate::clock::Clock;
use crate::socket::Socket;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::ndn::{Fragments, Headers, Reassembler};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

/// Peers at a time; one more replaces the one that was silent longest.
const PEERS_MAX: usize = 1024;

/// What is kept of a peer.
#[derive(Default)]
struct Link {
    reassembler: Reassembler,
    /// Of the next fragment.
    sequence: u64,
    heard: Instant,
}

/// Datagrams from and to peers.
pub struct Udp {
    socket: Socket,
    /// Only this peer counts.
    only: Option<SocketAddr>,
    links: HashMap<SocketAddr, Link>,
    mtu: usize,
    dropped: Dropped,
}

impl Udp {
    /// Towards one peer.
    pub fn connect(to: SocketAddr, mtu: usize) -> io::Result<Self> {
        Ok(Self::new(Socket::towards(to)?.with_one_peer(), Some(to), mtu))
    }
    /// Open for all.
    pub fn listen(at: SocketAddr, mtu: usize) -> io::Result<Self> {
        Ok(Self::new(Socket::bind(at)?, None, mtu))
    }
    fn new(socket: Socket, only: Option<SocketAddr>, mtu: usize) -> Self {
        Self { socket, only, links: HashMap::new(), mtu, dropped: Dropped::default() }
    }
    /// Where it is bound.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.address()
    }
    /// See [`super::Faces::receive`].
    pub fn receive(&mut self, clock: &Clock, take: &mut Take) -> io::Result<usize> {
        let Self { socket, only, links, dropped, .. } = self;
        socket.receive(clock, |from, frame, at| {
            if only.is_some_and(|only| only != from) {
                return;
            }
            if !links.contains_key(&from) && links.len() >= PEERS_MAX {
                forget_one(links, dropped);
            }
            let link = links.entry(from).or_default();
            link.heard = at;
            take_frame(&mut link.reassembler, dropped, frame, |headers, packet| {
                take(Peer::At(from), headers, packet, at);
            });
        })
    }
    /// See [`super::Faces::send`].
    pub fn send(&mut self, to: SocketAddr, headers: Headers, packet: &[u8]) -> io::Result<()> {
        // A forgotten peer starts again at sequence number 0, like a new one.
        let link = self.links.entry(to).or_default();
        let fragments = Fragments::new(packet, headers, self.mtu, link.sequence);
        link.sequence = link.sequence.wrapping_add(fragments.count() as u64);
        (0..fragments.count()).try_for_each(|index| self.socket.push(to, |out| fragments.write(index, out)))
    }
    /// See [`super::Faces::flush`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
    /// See [`super::Faces::take_undelivered`].
    pub fn take_undelivered(&mut self) -> Option<String> {
        self.socket.take_undelivered()
    }
    /// See [`super::Faces::wait`].
    pub fn wait(&self, span: Duration) -> io::Result<()> {
        self.socket.wait(span)
    }
    /// See [`super::Faces::dropped`].
    pub fn dropped(&self) -> Dropped {
        let given_up: u64 = self.links.values().map(|link| link.reassembler.dropped()).sum();
        Dropped { incomplete: self.dropped.incomplete + given_up, ..self.dropped }
    }
}

fn forget_one(links: &mut HashMap<SocketAddr, Link>, dropped: &mut Dropped) {
    let oldest = links.iter().min_by_key(|(_, link)| link.heard).map(|(at, _)| *at);
    let gone = oldest.and_then(|oldest| links.remove(&oldest));
    dropped.incomplete += gone.map_or(0, |gone| gone.reassembler.dropped());
}
