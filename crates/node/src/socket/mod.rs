//! Sockets for datagrams: UDP, or DCCP in an IP packet of its own.

mod raw;
mod udp;

use crate::clock::{Clock, to_std};
use crate::tap::Tap;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::dccp::Ecn;
use raw::Raw;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use udp::Udp;

/// A datagram that came.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Its sender.
    pub from: SocketAddr,
    /// What it carries.
    pub bytes: &'a [u8],
    /// The kernel's time stamp; of a raw socket, the time of reading.
    pub at: Instant,
    /// The ECN field of its IP header, surely after [`Socket::with_ecn`]; of a raw socket, always that of packets that
    /// cannot be marked.
    pub ecn: Ecn,
}

/// A socket, and the datagrams to send next.
pub struct Socket {
    kind: Kind,
    undelivered: Undelivered,
}

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
        Ok(Self::of(Kind::Udp(Box::new(Udp::bind(at)?))))
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
        Ok(Self::of(Kind::Raw(Box::new(Raw::bind(at)?))))
    }
    /// The same from a port of DCCP of ours, so that it can reach `peer`.
    ///
    /// # Errors
    /// As of [`Socket::raw`].
    pub fn raw_towards(peer: SocketAddr, port: u16) -> io::Result<Self> {
        Self::raw(SocketAddr::new(raw::source_towards(peer.ip())?, port))
    }
    fn of(kind: Kind) -> Self {
        Self { kind, undelivered: Undelivered::default() }
    }
    /// Has one peer from now on: a datagram that is larger than the path to it takes is an error.
    pub fn with_one_peer(mut self) -> Self {
        self.undelivered.has_one_peer = true;
        self
    }
    /// Reads the ECN fields of all datagrams; of those of a raw socket, none. A tap is set before.
    ///
    /// # Errors
    /// What the system says.
    pub fn with_ecn(mut self) -> io::Result<Self> {
        if let Kind::Udp(udp) = &mut self.kind {
            udp.read_ecn()?;
        }
        Ok(self)
    }
    /// Where it is bound.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match &self.kind {
            Kind::Udp(udp) => udp.address(),
            Kind::Raw(raw) => Ok(raw.address()),
        }
    }
    /// Shows all that passes from now on to `tap`, if there is one.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_tap(&mut self, tap: Option<Tap>) -> io::Result<()> {
        match &mut self.kind {
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
        mut take: impl FnMut(SocketAddr, &[u8], Instant),
    ) -> io::Result<usize> {
        self.receive_whole(clock, |received| take(received.from, received.bytes, received.at))
    }
    /// The same, with all that is known of a datagram.
    ///
    /// # Errors
    /// As of [`Socket::receive`].
    pub fn receive_whole(&mut self, clock: &Clock, take: impl FnMut(Received)) -> io::Result<usize> {
        match &mut self.kind {
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
        self.push_with(to, Ecn::NotCapable, write)
    }
    /// The same with an ECN field in the IP header (RFC 3168, section 5), which a raw socket does not set.
    ///
    /// # Errors
    /// As of [`Socket::flush`].
    pub fn push_with(
        &mut self,
        to: SocketAddr,
        ecn: Ecn,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        match &mut self.kind {
            Kind::Udp(udp) => udp.push((to, ecn), &mut self.undelivered, write),
            Kind::Raw(raw) => raw.push(to, &mut self.undelivered, write),
        }
    }
    /// Sends what was pushed. What does not leave is lost, as on any link, and what was pushed behind it is sent.
    ///
    /// # Errors
    /// The socket is broken; or, [`Socket::with_one_peer`], a datagram is larger than the path takes.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Udp(udp) => udp.flush(&mut self.undelivered),
            // Each packet has left.
            Kind::Raw(_) => Ok(()),
        }
    }

    /// One line about the datagrams that could not be sent since the last call, if there are any.
    pub fn take_undelivered(&mut self) -> Option<String> {
        self.undelivered.take()
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
        match &self.kind {
            Kind::Udp(udp) => udp.fd(),
            Kind::Raw(raw) => raw.fd(),
        }
    }
}

/// Datagrams that could not be sent. The error of one destination (no route to it, an interface with a smaller MTU,
/// a firewall) must not end a program that serves others.
#[derive(Default)]
struct Undelivered {
    has_one_peer: bool,
    first: Option<(SocketAddr, io::Error)>,
    count: u64,
}

impl Undelivered {
    /// Counts a datagram that did not leave, unless only a queue was full.
    ///
    /// # Errors
    /// It is larger than the path takes, and so will be all others to the one peer.
    fn note(&mut self, to: SocketAddr, why: io::Error) -> io::Result<()> {
        if self.has_one_peer && quinn_udp::is_msg_size_err(&why) {
            return Err(why);
        }
        let is_full = why.raw_os_error() == Some(Errno::NOBUFS.raw_os_error());
        if !is_full && why.kind() != io::ErrorKind::WouldBlock {
            self.count += 1;
            self.first.get_or_insert((to, why));
        }
        Ok(())
    }
    fn take(&mut self) -> Option<String> {
        let (to, why) = self.first.take()?;
        let count = std::mem::take(&mut self.count);
        Some(format!("{to}: {count} datagrams could not be sent: {why}"))
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
        Ok(_) | Err(Errno::INTR) => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    /// More than UDP can carry.
    const TOO_LARGE: usize = 66_000;

    fn here() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }
    fn fill(length: usize) -> impl FnOnce(&mut Vec<u8>) {
        move |out| out.resize(out.len() + length, 7)
    }

    #[test]
    fn a_destination_that_cannot_be_reached_costs_the_others_nothing() {
        let peers = [0; 3].map(|_| UdpSocket::bind(here()).expect("a socket"));
        let [first, second, third] = peers.each_ref().map(|peer| peer.local_addr().expect("its address"));
        let mut socket = Socket::bind((Ipv4Addr::UNSPECIFIED, 0).into()).expect("a socket");
        // Broadcasts need a permission that this socket does not ask for.
        let forbidden = (Ipv4Addr::BROADCAST, 9).into();
        for (to, length) in [
            (first, 100),
            (forbidden, 100),
            (forbidden, 100),
            (second, TOO_LARGE),
            (second, 200),
            (forbidden, 300),
            (third, 300),
        ] {
            socket.push(to, fill(length)).expect("the socket works");
        }
        socket.flush().expect("the socket works");
        for (peer, length) in peers.iter().zip([100, 200, 300]) {
            let mut buffer = [0; 400];
            peer.set_read_timeout(Some(std::time::Duration::from_secs(5))).expect("it can be set");
            assert_eq!(peer.recv(&mut buffer).expect("it comes"), length);
        }
        let line = socket.take_undelivered().expect("a line");
        assert!(line.starts_with("255.255.255.255:9: 4 datagrams could not be sent: Permission"), "{line}");
        assert_eq!(socket.take_undelivered(), None);
    }

    #[test]
    fn the_ecn_field_crosses_the_kernel_in_both_directions() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(mut near) = Socket::bind(host.parse().expect("an address")) else { continue };
            let far = Socket::bind(host.parse().expect("an address")).and_then(Socket::with_ecn);
            let mut far = far.expect("a socket");
            let to = far.address().expect("its address");
            // Of one size, so that only the field divides them into batches.
            let sent = [Ecn::Capable, Ecn::Capable, Ecn::NotCapable, Ecn::Marked, Ecn::Capable];
            for ecn in sent {
                near.push_with(to, ecn, fill(100)).expect("the socket works");
            }
            near.flush().expect("the socket works");
            let (clock, mut came) = (Clock::start(), Vec::new());
            while came.len() < sent.len() {
                far.wait(Duration::from_secs(5)).expect("the socket works");
                let read = far.receive_whole(&clock, |received| came.push(received.ecn));
                assert!(read.expect("the socket works") > 0, "{host}: {came:?}");
            }
            assert_eq!(came, sent, "{host}");
        }
    }

    #[test]
    fn a_sender_learns_that_its_datagrams_are_too_large() {
        let to = UdpSocket::bind(here()).and_then(|peer| peer.local_addr()).expect("an address");
        let mut socket = Socket::towards(to).expect("a socket").with_one_peer();
        let sent = socket.push(to, fill(TOO_LARGE)).and_then(|()| socket.flush());
        assert!(quinn_udp::is_msg_size_err(&sent.expect_err("it is too large")));
    }
}
