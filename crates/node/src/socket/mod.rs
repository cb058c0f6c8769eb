//! Sockets for datagrams: UDP, or DCCP in an IP packet of its own.

mod raw;
mod udp;

use crate::clock::{Clock, to_std};
use crate::tap::Tap;
use lightlag_protocols::time::{Duration, Instant};
use raw::Raw;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use udp::Udp;

/// A socket, and the datagrams to send next.
pub struct Socket(Kind);

enum Kind {
    Udp(Box<Udp>),
    Raw(Box<Raw>),
}

impl Socket {
    /// UDP, bound to an address.
    ///
    /// # Errors
    /// What the system says.
    pub fn bind(at: SocketAddr) -> io::Result<Self> {
        Ok(Self(Kind::Udp(Box::new(Udp::bind(at)?))))
    }
    /// UDP that can reach `peer`.
    ///
    /// # Errors
    /// What the system says.
    pub fn towards(peer: SocketAddr) -> io::Result<Self> {
        Self::bind(SocketAddr::new(unspecified(peer.ip()), 0))
    }
    /// DCCP in IP packets of its own (RFC 4340, section 5), to an address and a port of DCCP. Pushed data are
    /// DCCP packets; their checksums are computed here, and those of received packets are checked.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::PermissionDenied`] without the capability `CAP_NET_RAW`.
    pub fn raw(at: SocketAddr) -> io::Result<Self> {
        Ok(Self(Kind::Raw(Box::new(Raw::bind(at)?))))
    }
    /// The same from a port of DCCP of ours, so that it can reach `peer`.
    ///
    /// # Errors
    /// As of [`Socket::raw`].
    pub fn raw_towards(peer: SocketAddr, port: u16) -> io::Result<Self> {
        Self::raw(SocketAddr::new(raw::source_towards(peer.ip())?, port))
    }
    /// Where it is bound.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Kind::Udp(udp) => udp.address(),
            Kind::Raw(raw) => Ok(raw.address()),
        }
    }
    /// Shows all that passes from now on to `tap`, if there is one.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_tap(&mut self, tap: Option<Tap>) -> io::Result<()> {
        match &mut self.0 {
            Kind::Udp(udp) => udp.set_tap(tap),
            Kind::Raw(raw) => {
                raw.set_tap(tap);
                Ok(())
            }
        }
    }

    /// Hands over at most one batch of received datagrams: sender, bytes, and the kernel's time stamp (of a raw
    /// socket: the time of reading). Returns their number.
    ///
    /// # Errors
    /// What the system says; returns 0 if no datagram has arrived.
    pub fn receive(
        &mut self,
        clock: &Clock,
        take: impl FnMut(SocketAddr, &[u8], Instant),
    ) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Udp(udp) => udp.receive(clock, take),
            Kind::Raw(raw) => raw.receive(clock, take),
        }
    }
    /// Appends a datagram to the next batch; `write` writes it. It leaves with the next [`Socket::flush`]
    /// at the latest, together with others of its size, the last of which may be smaller.
    ///
    /// # Errors
    /// As of [`Socket::flush`].
    pub fn push(&mut self, to: SocketAddr, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        match &mut self.0 {
            Kind::Udp(udp) => udp.push(to, write),
            Kind::Raw(raw) => raw.push(to, write),
        }
    }
    /// Sends what was pushed. What the network cannot take now is lost, as on any link; only what can
    /// never work is an error.
    ///
    /// # Errors
    /// The datagram is larger than the path takes, or the socket is broken.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Udp(udp) => udp.flush(),
            // Each packet has left.
            Kind::Raw(_) => Ok(()),
        }
    }

    /// Sleeps until a datagram arrives, or for `span`.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait(&self, span: Duration) -> io::Result<()> {
        self.wait_with(&[], span)
    }
    /// Sleeps until a datagram arrives at this socket or one of the others, or for `span`.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait_with(&self, others: &[&Self], span: Duration) -> io::Result<()> {
        let all = std::iter::once(self).chain(others.iter().copied());
        let mut all: Vec<PollFd> =
            all.map(|socket| PollFd::from_borrowed_fd(socket.fd(), PollFlags::IN)).collect();
        wait_any(&mut all, span)
    }
    fn fd(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Kind::Udp(udp) => udp.fd(),
            Kind::Raw(raw) => raw.fd(),
        }
    }
}

/// All addresses of this machine, of the kind of another.
fn unspecified(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// Sleeps until one of these is ready, or for `span`.
///
/// # Errors
/// What the system says.
pub(crate) fn wait_any(sockets: &mut [PollFd], span: Duration) -> io::Result<()> {
    let span = to_std(span);
    let timeout = Timespec { tv_sec: span.as_secs() as i64, tv_nsec: span.subsec_nanos().into() };
    match poll(sockets, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(why) => Err(why.into()),
    }
}

/// Errors of a socket that say something of the network now and nothing of the socket.
fn is_passing(why: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        why.kind(),
        Kind::WouldBlock
            | Kind::Interrupted
            | Kind::ConnectionRefused
            | Kind::ConnectionReset
            | Kind::HostUnreachable
            | Kind::NetworkUnreachable
            | Kind::NetworkDown
    )
}
