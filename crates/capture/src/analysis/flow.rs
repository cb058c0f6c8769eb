//! A flow: two ends, a transport, and what its packets say.

use super::dccp::Dccp;
use super::half::Half;
use super::layers::Endpoint;
use super::ltp::Ltp;
use super::ndn::Ndn;
use super::sctp::Sctp;
use super::tcp::Tcp;
use super::tcpcl::Tcpcl;
use super::udpdtn::Udpdtn;

/// When a packet was captured, and what the analysis wants to know about time.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Nanoseconds since 1970.
    pub ns: i64,
    /// Seconds since the capture began.
    pub s: f64,
    /// Shortest pause that is reported.
    pub pause_ns: i64,
    /// How often the clock was set before.
    pub clock: u64,
}

named! {
    /// What a flow speaks.
    Protocol {
        /// RFC 9293.
        Tcp = "TCP",
        /// The convergence layer of RFC 9174, over TCP.
        Tcpcl = "TCPCL",
        /// A path of Multipath TCP (RFC 8684): its opening segment says so.
        Mptcp = "MPTCP",
        /// RFC 9260: packets are those of data chunks.
        Sctp = "SCTP",
        /// RFC 768.
        Udp = "UDP",
        /// RFC 9000, known by its opening packets; what it carries is encrypted.
        Quic = "QUIC",
        /// RFC 4340, over IP.
        Dccp = "DCCP",
        /// RFC 4340, in UDP (RFC 6773).
        DccpUdp = "DCCP-UDP",
        /// The Bundle Protocol (RFC 9171, RFC 5050), a bundle in a datagram of UDP (RFC 7122).
        BpUdp = "BP-UDP",
        /// The same in DCCP (RFC 7122): listed beside the connection that carries it.
        BpDccp = "BP-DCCP",
        /// Named data, in UDP.
        Ndn = "NDN",
        /// RFC 5326, in UDP.
        Ltp = "LTP",
        /// RFC 5326, in DCCP (RFC 7122): listed beside the connection that carries it.
        LtpDccp = "LTP-DCCP",
        /// Our file transfer.
        Udpdtn = "UDPDTN",
    }
}

impl Protocol {
    /// Whether numbers count packets, not bytes.
    pub fn numbers_packets(self) -> bool {
        matches!(self, Self::Dccp | Self::DccpUdp | Self::Udpdtn | Self::Sctp)
    }
    /// Whether the receiver reports lost packets, or Interests without Data: of other protocols only what is sent again shows
    /// losses.
    pub fn reports_losses(self) -> bool {
        matches!(self, Self::Dccp | Self::DccpUdp | Self::Ltp | Self::LtpDccp | Self::Udpdtn | Self::Ndn)
    }
    /// Whether its packets acknowledge data.
    pub fn acknowledges(self) -> bool {
        self.numbers_packets() || matches!(self, Self::Tcp | Self::Tcpcl | Self::Mptcp)
    }
}

/// What a transport remembers of a flow.
#[derive(Clone, Debug)]
pub enum State {
    /// TCP.
    Tcp(Box<Tcp>),
    /// SCTP.
    Sctp(Box<Sctp>),
    /// DCCP.
    Dccp(Box<Dccp>),
    /// LTP.
    Ltp(Box<Ltp>),
    /// NDN.
    Ndn(Box<Ndn>),
    /// UDPDTN.
    Udpdtn(Box<Udpdtn>),
    /// A protocol without acknowledgements.
    Plain,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Whose packets are seen first, then the other end.
    pub ends: [Endpoint; 2],
    /// What it speaks.
    pub protocol: Protocol,
    /// When its first and its last packet were captured.
    pub seen_ns: [i64; 2],
    /// From the first end to the second, and back.
    pub halves: [Half; 2],
    /// What its transport remembers.
    pub state: State,
    /// What its TCP carries, if that is TCPCL.
    pub tcpcl: Option<Box<Tcpcl>>,
    /// By which clock its last packet was captured.
    clock: u64,
    /// The interface where packets of each direction count.
    interfaces: [Option<u32>; 2],
    /// Packets of a direction are captured at a second interface.
    is_seen_twice: bool,
    /// The interface where the first packet of a direction was captured, if its packets count at a later one.
    sent_at: [Option<u32>; 2],
}

impl Flow {
    /// Whose first packet travels between these ends.
    pub fn new(ends: [Endpoint; 2], protocol: Protocol, now: &Moment) -> Self {
        let state = match protocol {
            Protocol::Sctp => State::Sctp(Box::default()),
            Protocol::Tcp | Protocol::Tcpcl | Protocol::Mptcp => State::Tcp(Box::default()),
            Protocol::Dccp | Protocol::DccpUdp => State::Dccp(Box::default()),
            Protocol::Ltp | Protocol::LtpDccp => State::Ltp(Box::default()),
            Protocol::Udpdtn => State::Udpdtn(Box::default()),
            Protocol::Ndn => State::Ndn(Box::default()),
            Protocol::Udp | Protocol::Quic | Protocol::BpUdp | Protocol::BpDccp => State::Plain,
        };
        let halves = Default::default();
        Self {
            ends,
            protocol,
            seen_ns: [now.ns; 2],
            halves,
            state,
            tcpcl: None,
            clock: now.clock,
            interfaces: [None; 2],
            is_seen_twice: false,
            sent_at: [None; 2],
        }
    }
    /// Whether a packet counts: each direction counts at the interface of its first packet and, where packets pass two
    /// interfaces, both directions at that of the flow's first packet.
    #[inline]
    pub fn counts_at(&mut self, interface: u32, way: usize) -> bool {
        match self.interfaces[way] {
            Some(known) if known == interface => true,
            None if !self.is_seen_twice || self.interfaces[1 - way] == Some(interface) => {
                self.interfaces[way] = Some(interface);
                true
            }
            known => {
                self.is_seen_twice |= known.is_some();
                if known.is_none() {
                    self.sent_at[way].get_or_insert(interface);
                }
                false
            }
        }
    }
    /// Where most data of the flow pass an interface before the one at which they count, so that round trips are those of their
    /// receiver: the direction, and both interfaces, the earlier first.
    pub fn seen_by_receiver(&self) -> Option<(usize, [u32; 2])> {
        let bytes = |way: usize| self.halves[way].counts.data_bytes;
        let way = usize::from(bytes(1) > bytes(0));
        let both = [self.sent_at[way]?, self.interfaces[way]?];
        (bytes(way) > 0).then_some((way, both))
    }
    /// A packet of it is captured now.
    #[inline]
    pub fn on_time(&mut self, now: &Moment) {
        if self.clock != now.clock {
            self.clock = now.clock;
            self.forget_times(now.ns);
        }
        self.seen_ns[1] = self.seen_ns[1].max(now.ns);
    }
    /// The clock was set: earlier transmissions give no round trip.
    #[cold]
    fn forget_times(&mut self, now_ns: i64) {
        self.halves.iter_mut().for_each(|half| half.flight.forget_times(now_ns));
        match &mut self.state {
            State::Dccp(dccp) => dccp.forget_times(),
            State::Ltp(ltp) => ltp.forget_times(),
            State::Tcp(_) | State::Sctp(_) | State::Ndn(_) | State::Udpdtn(_) | State::Plain => {}
        }
    }
    /// Packets of both directions.
    pub fn packets(&self) -> u64 {
        self.halves.iter().map(|half| half.counts.packets).sum()
    }
}
