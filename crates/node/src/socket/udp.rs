//! UDP, in batches.

use super::{Received, Undelivered, is_passing, wait_any};
use crate::clock::{Clock, of_stamp};
use crate::tap::{Tap, Tapped};
use lightlag_protocols::time::Duration;
use lightlag_protocols::transport::dccp::Ecn;
use nix::sys::socket::{setsockopt, sockopt};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use rustix::event::{PollFd, PollFlags};
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// Buffers for one call of the kernel.
const BATCH: usize = 16;
/// What one buffer takes: a batch of datagrams that came as one.
const BUFFER: usize = 1 << 16;
/// Bytes that leave as one batch at most.
const BATCH_BYTES: usize = 65_000;
/// What is asked of the kernel for datagrams that wait; it may give less.
const SOCKET_BUFFER: usize = 32 << 20;

/// A UDP socket, and the datagrams to send next.
pub struct Udp {
    io: UdpSocket,
    state: UdpSocketState,
    buffers: Vec<Vec<u8>>,
    out: Vec<u8>,
    segment: usize,
    to: Option<(SocketAddr, Ecn)>,
    tapped: Option<Tapped>,
}

impl Udp {
    /// Bound to an address.
    ///
    /// # Errors
    /// What the system says.
    pub fn bind(at: SocketAddr) -> io::Result<Self> {
        let io = UdpSocket::bind(at)?;
        let state = UdpSocketState::new((&io).into())?;
        // A refusal means that the kernel keeps its own measure; only the mighty may go beyond it.
        let _ = state.set_recv_buffer_size((&io).into(), SOCKET_BUFFER);
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size_force(&io, SOCKET_BUFFER);
        let _ = state.set_send_buffer_size((&io).into(), SOCKET_BUFFER / 8);
        let buffers = vec![vec![0; BUFFER]; BATCH];
        Ok(Self { io, state, buffers, out: Vec::new(), segment: 0, to: None, tapped: None })
    }
    /// Shows all that passes from now on to `tap`, if there is one.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_tap(&mut self, tap: Option<Tap>) -> io::Result<()> {
        let own = self.address()?;
        self.tapped = tap.map(|tap| Tapped::new(tap, own));
        Ok(())
    }
    /// Makes room for the ECN field beside the other control messages of datagrams that came as one batch: `quinn-udp` has
    /// 96 bytes for them, and the field would be cut off as the last. Only a tap needs the address that a datagram was sent
    /// to; with a tap, datagrams come one by one instead.
    ///
    /// # Errors
    /// What the system says.
    pub fn read_ecn(&mut self) -> io::Result<()> {
        if self.tapped.is_some() {
            let _ = setsockopt(&self.io, sockopt::UdpGroSegment, &false);
            return Ok(());
        }
        match self.address()? {
            SocketAddr::V4(_) => setsockopt(&self.io, sockopt::Ipv4PacketInfo, &false)?,
            SocketAddr::V6(_) => setsockopt(&self.io, sockopt::Ipv6RecvPacketInfo, &false)?,
        }
        Ok(())
    }
    /// Where it is bound.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Hands over at most one batch of received datagrams, with the kernel's time stamps. Returns their number.
    ///
    /// # Errors
    /// What the system says; returns 0 if no datagram has arrived.
    pub fn receive(&mut self, clock: &Clock, mut take: impl FnMut(Received)) -> io::Result<usize> {
        let mut metas = [RecvMeta::default(); BATCH];
        let mut slices: Vec<IoSliceMut> = self.buffers.iter_mut().map(|b| IoSliceMut::new(b)).collect();
        let came = match self.state.recv((&self.io).into(), &mut slices, &mut metas) {
            Ok(came) => came,
            // A refused datagram comes back as an error of the socket: the peer is not there yet.
            Err(why) if is_passing(&why) => return Ok(0),
            Err(why) => return Err(why),
        };
        let now = clock.both();
        let mut count = 0;
        for (meta, buffer) in metas.iter().zip(&self.buffers).take(came) {
            let at = of_stamp(now, meta.timestamp);
            for datagram in buffer[..meta.len.min(BUFFER)].chunks(meta.stride.max(1)) {
                if let Some(tapped) = &mut self.tapped {
                    tapped.came(meta.addr, meta.dst_ip, meta.timestamp, datagram);
                }
                let ecn = meta.ecn.map_or(Ecn::NotCapable, |ecn| Ecn::of_bits(ecn as u8));
                take(Received { from: meta.addr, bytes: datagram, at, ecn });
                count += 1;
            }
        }
        Ok(count)
    }

    /// Appends a datagram to the next batch; `write` writes it. It leaves with the next [`Udp::flush`]
    /// at the latest, together with others of its size and ECN field, the last of which may be smaller.
    ///
    /// # Errors
    /// As of [`Udp::flush`].
    pub fn push(
        &mut self,
        to: (SocketAddr, Ecn),
        undelivered: &mut Undelivered,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        let start = self.out.len();
        write(&mut self.out);
        let size = self.out.len() - start;
        let count = start.checked_div(self.segment).unwrap_or(0);
        let joins = start == 0
            || (self.to == Some(to)
                && size <= self.segment
                // Only the last of a batch may be smaller than the others.
                && start == count * self.segment
                && count < self.state.max_gso_segments()
                && self.out.len() <= BATCH_BYTES);
        if !joins {
            let last = self.out.split_off(start);
            self.flush(undelivered)?;
            self.out = last;
        }
        if !joins || start == 0 {
            (self.to, self.segment) = (Some(to), size);
        }
        Ok(())
    }
    /// Sends what was pushed; what does not leave is `undelivered`.
    ///
    /// # Errors
    /// As of [`Undelivered::note`].
    pub fn flush(&mut self, undelivered: &mut Undelivered) -> io::Result<()> {
        let Some((destination, ecn)) = self.to.take() else { return Ok(()) };
        if self.out.is_empty() {
            return Ok(());
        }
        let segment_size = (self.out.len() > self.segment).then_some(self.segment);
        let began = self.tapped.as_ref().map(Tapped::now);
        let ecn = EcnCodepoint::from_bits(ecn.bits());
        let transmit = Transmit { destination, ecn, contents: &self.out, segment_size, src_ip: None };
        let mut result = self.state.try_send((&self.io).into(), &transmit);
        let mut tries = 0;
        while result.as_ref().is_err_and(|why| why.kind() == io::ErrorKind::WouldBlock) && tries < 20 {
            // The interface queue is full: wait for room.
            self.wait_for(PollFlags::OUT, Duration::from_nanos(5_000_000))?;
            result = self.state.try_send((&self.io).into(), &transmit);
            tries += 1;
        }
        let failed = match result {
            Err(_) if segment_size.is_some() => self.send_singly(destination, ecn),
            result => result.err().into_iter().collect(),
        };
        if let Some((tapped, began)) = self.tapped.as_mut().zip(began).filter(|_| failed.is_empty()) {
            let datagrams = self.out.chunks(self.segment.max(1));
            datagrams.for_each(|datagram| tapped.left(began, destination, datagram));
        }
        self.out.clear();
        self.segment = 0;
        failed.into_iter().try_for_each(|why| undelivered.note(destination, why))
    }
    /// Where the kernel takes no batches; why some have not left.
    fn send_singly(&self, destination: SocketAddr, ecn: Option<EcnCodepoint>) -> Vec<io::Error> {
        let send = |contents| {
            let transmit = Transmit { destination, ecn, contents, segment_size: None, src_ip: None };
            self.state.try_send((&self.io).into(), &transmit).err()
        };
        self.out.chunks(self.segment.max(1)).filter_map(send).collect()
    }

    fn wait_for(&self, what: PollFlags, span: Duration) -> io::Result<()> {
        wait_any(&mut [PollFd::new(&self.io, what)], span)
    }
    /// What polls it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}
