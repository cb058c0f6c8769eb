//! Faces: what carries packets to others, cut into what the link takes.

mod streams;
mod udp;

use super::FaceUri;
use crate::Error;
use crate::clock::Clock;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::ndn::{Headers, LpPacket, Reassembler};
use std::io;
use std::net::SocketAddr;
use streams::Streams;
use udp::Udp;

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Of a UDP socket.
    At(SocketAddr),
    /// Of a connection, by its number.
    Connection(u64),
}

/// Received frames that were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// It was no packet, or one that is not allowed.
    pub malformed: u64,
    /// Fragments of it never came.
    pub incomplete: u64,
}

/// Called for each packet: sender, link headers, packet, and arrival time.
pub type Take<'t> = dyn FnMut(Peer, Headers, &[u8], Instant) + 't;

/// A face towards one peer, or a place where peers come to.
pub enum Faces {
    /// Datagrams.
    Udp(Box<Udp>),
    /// Connections.
    Streams(Streams),
}

impl Faces {
    /// A face towards a peer.
    ///
    /// # Errors
    /// One line: the peer cannot be reached.
    pub fn connect(to: &FaceUri, mtu: usize) -> Result<(Self, Peer), Error> {
        let wrong = |why: io::Error| {
            let right = "start a forwarder there, or name another face with --face";
            Error::Failed(format!("cannot reach {to}: {why}; {right}"))
        };
        match to {
            FaceUri::Udp(at) => {
                let udp = Udp::connect(*at, mtu).map_err(wrong)?;
                Ok((Self::Udp(Box::new(udp)), Peer::At(*at)))
            }
            FaceUri::Tcp(_) | FaceUri::Unix(_) => {
                let (streams, peer) = Streams::connect(to).map_err(wrong)?;
                Ok((Self::Streams(streams), peer))
            }
        }
    }
    /// A place where peers come to.
    ///
    /// # Errors
    /// One line: it is in use, or not an address of this machine.
    pub fn listen(at: &FaceUri, mtu: usize) -> Result<Self, Error> {
        let wrong =
            |why: io::Error| Error::Input(format!("cannot listen at {at}: {why}; name a free address"));
        match at {
            FaceUri::Udp(address) => Ok(Self::Udp(Box::new(Udp::listen(*address, mtu).map_err(wrong)?))),
            FaceUri::Tcp(_) | FaceUri::Unix(_) => Ok(Self::Streams(Streams::listen(at).map_err(wrong)?)),
        }
    }
    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> io::Result<Option<FaceUri>> {
        match self {
            Self::Udp(udp) => udp.address().map(|at| Some(FaceUri::Udp(at))),
            Self::Streams(streams) => streams.address(),
        }
    }
    /// Hands over at most one batch of received packets. Returns how much arrived, complete packets or not.
    ///
    /// # Errors
    /// The face is closed or broken; a listener's never is because of a peer.
    pub fn receive(&mut self, clock: &Clock, take: &mut Take) -> io::Result<usize> {
        match self {
            Self::Udp(udp) => udp.receive(clock, take),
            Self::Streams(streams) => streams.receive(clock, take),
        }
    }
    /// Appends a packet to the next batch.
    ///
    /// # Errors
    /// As of [`Faces::receive`].
    pub fn send(&mut self, to: Peer, headers: Headers, packet: &[u8]) -> io::Result<()> {
        match (self, to) {
            (Self::Udp(udp), Peer::At(at)) => udp.send(at, headers, packet),
            (Self::Streams(streams), Peer::Connection(number)) => {
                streams.send(number, headers, packet);
                Ok(())
            }
            // Peers are those of this face; others are gone.
            _ => Ok(()),
        }
    }
    /// Sends what has been appended, as far as it goes.
    ///
    /// # Errors
    /// As of [`Faces::receive`].
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Udp(udp) => udp.flush(),
            Self::Streams(streams) => streams.flush(),
        }
    }
    /// One line about the datagrams that could not be sent since the last call, if there are any.
    pub fn take_undelivered(&mut self) -> Option<String> {
        match self {
            Self::Udp(udp) => udp.take_undelivered(),
            Self::Streams(_) => None,
        }
    }
    /// Whether a peer reads what it has asked for: other packets for it must wait.
    pub fn has_room(&self, to: Peer) -> bool {
        match (self, to) {
            (Self::Streams(streams), Peer::Connection(number)) => streams.has_room(number),
            _ => true,
        }
    }
    /// From these connections no more is taken, until this is called again.
    pub fn hold(&mut self, peers: impl Iterator<Item = Peer>) {
        if let Self::Streams(streams) = self {
            streams.hold(peers);
        }
    }
    /// Sleeps until a packet arrives or more can leave, or for `span`.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait(&self, span: Duration) -> io::Result<()> {
        match self {
            Self::Udp(udp) => udp.wait(span),
            Self::Streams(streams) => streams.wait(span),
        }
    }
    /// Received frames that were dropped.
    pub fn dropped(&self) -> Dropped {
        match self {
            Self::Udp(udp) => udp.dropped(),
            Self::Streams(streams) => streams.dropped(),
        }
    }
}

/// Takes a frame of a link; a packet that becomes whole by it is handed over.
fn take_frame(
    reassembler: &mut Reassembler,
    dropped: &mut Dropped,
    frame: &[u8],
    whole: impl FnOnce(Headers, &[u8]),
) {
    match LpPacket::read(frame).and_then(|came| reassembler.take(came)) {
        Ok(Some((headers, packet))) => whole(headers, &packet),
        Ok(None) => {}
        Err(_) => dropped.malformed += 1,
    }
}
