//! What happens in a world of packets, and the packets themselves.

use super::{Observation, observers};
use crate::link::{DropCause, Load};
use crate::time::Instant;
use crate::transport::dccp::Ecn;
use crate::transport::udpdtn::{self, UDP_HEADER};
use crate::transport::{dccp, ltp, tcp};
use crate::units::Bytes;
use crate::wire::session::Serial;
use std::sync::Arc;

/// A packet on a link.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Of which flow.
    pub flow: u32,
    /// From the sender to the receiver, or back.
    pub forward: bool,
    /// How many links it has crossed.
    pub hop: u16,
    /// What it carries.
    pub body: Body,
}

/// What a packet carries.
#[derive(Clone, Debug)]
pub enum Body {
    /// A TCP segment.
    Tcp(tcp::Segment),
    /// A packet of DCCP. Boxed, as it is three times as large as the others.
    Dccp(Box<dccp::Packet>),
    /// A datagram of UDPDTN, and the payload of one that carries data.
    Udpdtn(udpdtn::Datagram, Bytes),
    /// A segment of LTP, and where its block begins in the stream. Boxed, as it is twice as large as the
    /// others.
    Ltp(Box<ltp::Segment>, u64),
    /// Of a connection that stays.
    Adaptive(Box<Parcel>),
}

impl Load for Packet {
    #[inline]
    fn size(&self) -> Bytes {
        // First of all, as most packets are of TCP.
        if let Body::Tcp(segment) = &self.body {
            return segment.size(false);
        }
        match &self.body {
            Body::Tcp(segment) => segment.size(false),
            Body::Dccp(packet) => dccp::IP_HEADER + packet.size(),
            Body::Udpdtn(datagram, symbol) => datagram.size(*symbol),
            Body::Ltp(segment, _) => ltp::UDP_HEADER + Bytes(segment.size()),
            Body::Adaptive(parcel) => parcel.size(),
        }
    }
    /// Of these, only packets of DCCP can be: those of a flow with `ecn` (RFC 3168, section 5).
    #[inline]
    fn mark(&mut self) -> bool {
        match &mut self.body {
            Body::Dccp(packet) if packet.ecn != Ecn::NotCapable => {
                packet.ecn = Ecn::Marked;
                true
            }
            _ => false,
        }
    }
    #[inline]
    fn priority(&self) -> u8 {
        match &self.body {
            Body::Tcp(segment) => segment.priority(),
            Body::Dccp(_) | Body::Udpdtn(..) | Body::Ltp(..) | Body::Adaptive(_) => 0,
        }
    }
}

/// One thing that happened in a world of packets.
#[derive(Clone, Debug)]
pub enum Record<'p> {
    /// A packet was offered to a link.
    Offered(u32, &'p Packet),
    /// It came out of it.
    Arrived(u32, &'p Packet),
    /// A queue dropped it, or it was lost.
    Dropped(u32, &'p Packet, DropCause),
    /// Bytes of a flow were delivered in order: their total so far.
    Delivered(u32, u64),
    /// What a flow's controller shows.
    Flow(u32, Observation),
    /// Packets that wait at a link.
    Backlog(u32, u64),
}

observers!(Record, PACKETS);

/// What a packet of an adaptive flow carries.
#[derive(Clone, Debug)]
pub enum Parcel {
    /// A datagram.
    Datagram(Serial, Arc<[u8]>),
    /// A datagram outside of any connection: its number and its bytes.
    Plain(u64, Bytes),
    /// A segment of TCP.
    Segment {
        /// Number of the connection.
        life: u32,
        /// Of its two streams, that from near to far.
        forward: bool,
        /// Itself.
        segment: tcp::Segment,
        /// Its bytes.
        data: Arc<[u8]>,
    },
}

impl Parcel {
    /// Bytes on the link.
    pub fn size(&self) -> Bytes {
        match self {
            Self::Datagram(serial, bytes) => UDP_HEADER + Bytes((serial.length() + bytes.len()) as u64),
            Self::Plain(_, size) => UDP_HEADER + *size,
            Self::Segment { segment, .. } => segment.size(false),
        }
    }
}

/// Where in the stream the data of a segment begin, and how many they are, if it carries any.
pub fn data_of(segment: &ltp::Segment, start: u64) -> Option<(u64, u64)> {
    if let ltp::Content::Data(data) = segment.content {
        Some((start + data.offset, data.length))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_on_a_wire_takes_56_bytes() {
        // Hundreds of thousands are in flight on a long link.
        assert_eq!(size_of::<(Instant, Packet)>(), 56);
    }
}
