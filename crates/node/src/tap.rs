//! Observes the datagrams of a socket, for captures.

use crate::clock::{Clock, of_stamp};
use lightlag_protocols::time::Instant;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// A datagram as it leaves a socket, or came to it.
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a> {
    /// Nanoseconds since 1970 (UTC), by the monotonic clock since the tap was set; never before the previous
    /// datagram's.
    pub at_ns: i64,
    /// Whose it is.
    pub from: SocketAddr,
    /// To whom it goes.
    pub to: SocketAddr,
    /// It leaves; otherwise it came.
    pub leaves: bool,
    /// What UDP carries.
    pub bytes: &'a [u8],
}

/// Sees each datagram in the order in which this side sent or read it.
pub type Tap = Box<dyn FnMut(&Passing<'_>) + Send>;

/// Peers whose local address is cached.
const WAYS_MAX: usize = 256;

/// A tap at a socket.
pub(crate) struct Tapped {
    tap: Tap,
    clock: Clock,
    /// When the clock stood at zero, in nanoseconds since 1970.
    epoch_ns: i64,
    last_ns: i64,
    /// Where the socket is bound, maybe to any address.
    own: SocketAddr,
    /// By which address of ours each peer is reached.
    ways: BTreeMap<IpAddr, IpAddr>,
}

impl Tapped {
    /// At a socket that is bound there.
    pub(crate) fn new(tap: Tap, own: SocketAddr) -> Self {
        let clock = Clock::start();
        let (now, day) = clock.both();
        let epoch_ns = day.map_or(0, |day| day.as_nanos() as i64) - now.as_nanos();
        Self { tap, clock, epoch_ns, last_ns: i64::MIN, own, ways: BTreeMap::new() }
    }
    /// Now, for [`Tapped::left`].
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }
    /// A received datagram: our address and the kernel's stamp, if known.
    pub(crate) fn came(
        &mut self,
        from: SocketAddr,
        at: Option<IpAddr>,
        stamp: Option<Duration>,
        bytes: &[u8],
    ) {
        let to = SocketAddr::new(at.unwrap_or_else(|| self.own_towards(from)), self.own.port());
        self.tell(of_stamp(self.clock.both(), stamp), (from, to), false, bytes);
    }
    /// What left at that time.
    pub(crate) fn left(&mut self, at: Instant, to: SocketAddr, bytes: &[u8]) {
        let from = SocketAddr::new(self.own_towards(to), self.own.port());
        self.tell(at, (from, to), true, bytes);
    }
    fn tell(&mut self, at: Instant, (from, to): (SocketAddr, SocketAddr), leaves: bool, bytes: &[u8]) {
        // What the kernel stamped before we sent something was read after it.
        self.last_ns = self.last_ns.max(self.epoch_ns + at.as_nanos());
        let [from, to] = [from, to].map(|at| SocketAddr::new(at.ip().to_canonical(), at.port()));
        (self.tap)(&Passing { at_ns: self.last_ns, from, to, leaves, bytes });
    }
    /// Our address by which the kernel reaches a peer.
    fn own_towards(&mut self, peer: SocketAddr) -> IpAddr {
        if !self.own.ip().is_unspecified() {
            return self.own.ip();
        }
        if let Some(own) = self.ways.get(&peer.ip()) {
            return *own;
        }
        let own = route(peer).unwrap_or_else(|_| self.own.ip());
        if self.ways.len() == WAYS_MAX {
            self.ways.clear();
        }
        self.ways.insert(peer.ip(), own);
        own
    }
}

/// The source address that the kernel would take; nothing is sent.
fn route(peer: SocketAddr) -> std::io::Result<IpAddr> {
    let any: IpAddr =
        if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(peer)?;
    Ok(socket.local_addr()?.ip())
}
