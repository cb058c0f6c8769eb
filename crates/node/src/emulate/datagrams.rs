//! Between two addresses: datagrams that come at one side leave at the other as the links of a scenario
//! let them.

use crate::clock::Clock;
use crate::socket::{Received, Socket};
use lightlag_protocols::link::{Counts, Link, LinkSpec, Load};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::dccp::Ecn;
use lightlag_protocols::transport::udpdtn::UDP_HEADER;
use lightlag_protocols::units::Bytes;
use std::io;
use std::net::SocketAddr;

/// What is between two sides.
pub struct Emulating {
    /// Where clients send to.
    pub listen: SocketAddr,
    /// Where their datagrams go.
    pub to: SocketAddr,
    /// What happens to those from clients.
    pub forward: LinkSpec,
    /// What happens to the answers.
    pub back: LinkSpec,
    /// For random streams.
    pub seed: u64,
}

/// Clients at a time; one more replaces the one that was silent longest.
const CLIENTS_MAX: usize = 64;
/// Datagrams read at one look.
const READS_MAX: usize = 64;
const SLEEP_MOST: Duration = Duration::from_nanos(100_000_000);

/// A datagram on a link.
#[derive(Clone)]
struct Frame {
    client: SocketAddr,
    bytes: Vec<u8>,
    /// As it came, or as a queue marked it.
    ecn: Ecn,
}

impl Load for Frame {
    fn size(&self) -> Bytes {
        UDP_HEADER + Bytes(self.bytes.len() as u64)
    }
    fn mark(&mut self) -> bool {
        let may_be_marked = self.ecn != Ecn::NotCapable;
        if may_be_marked {
            self.ecn = Ecn::Marked;
        }
        may_be_marked
    }
}

/// A host that sends through the link, and the socket that represents it on the far side.
struct Client {
    at: SocketAddr,
    socket: Socket,
    heard: Instant,
}

/// A link between two sides, in real time.
pub struct Emulator {
    to: SocketAddr,
    near: Socket,
    clients: Vec<Client>,
    forward: Link<Frame>,
    back: Link<Frame>,
    clock: Clock,
    offered: [Instant; 2],
}

impl Emulator {
    /// Binds its socket.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(emulating: &Emulating) -> io::Result<Self> {
        Ok(Self {
            to: emulating.to,
            near: Socket::bind(emulating.listen)?.with_ecn()?,
            clients: Vec::new(),
            forward: Link::new(&emulating.forward, emulating.seed, 0),
            back: Link::new(&emulating.back, emulating.seed, 1),
            clock: Clock::start(),
            offered: [Instant::ZERO; 2],
        })
    }
    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.near.address()
    }
    /// Datagrams in each direction.
    pub fn counts(&self) -> [Counts; 2] {
        [self.forward.counts(), self.back.counts()]
    }
    /// Carries datagrams until `goes_on` says false; it is asked ten times a second at least.
    ///
    /// # Errors
    /// What the system says.
    pub fn run(&mut self, goes_on: &mut dyn FnMut() -> bool) -> io::Result<()> {
        while goes_on() {
            self.read_near()?;
            self.read_far()?;
            let now = self.clock.now();
            self.deliver(now)?;
            let due = [self.forward.deadline(), self.back.deadline()].into_iter().flatten().min();
            let until = due.unwrap_or(Instant::MAX).min(now + SLEEP_MOST);
            let span = until - self.clock.now();
            if span > Duration::ZERO {
                let others: Vec<&Socket> = self.clients.iter().map(|client| &client.socket).collect();
                self.near.wait_with(&others, span)?;
            }
        }
        Ok(())
    }
    fn read_near(&mut self) -> io::Result<()> {
        let Self { near, forward, clock, clients, offered, to, .. } = self;
        for _ in 0..READS_MAX {
            let mut strangers = Vec::new();
            let came = near.receive_whole(clock, |Received { from: client, bytes, at, ecn }| {
                offered[0] = offered[0].max(at);
                match clients.iter_mut().find(|known| known.at == client) {
                    Some(known) => known.heard = at,
                    None => strangers.push((client, at)),
                }
                forward.offer(offered[0], Frame { client, bytes: bytes.to_vec(), ecn });
            })?;
            for (at, heard) in strangers {
                if clients.iter().all(|known| known.at != at) {
                    if clients.len() == CLIENTS_MAX {
                        let oldest = (0..clients.len()).min_by_key(|&index| clients[index].heard);
                        oldest.map(|index| clients.swap_remove(index));
                    }
                    clients.push(Client { at, socket: Socket::towards(*to)?.with_ecn()?, heard });
                }
            }
            if came == 0 {
                break;
            }
        }
        Ok(())
    }
    fn read_far(&mut self) -> io::Result<()> {
        let Self { back, clock, clients, offered, to, .. } = self;
        for Client { at: client, socket, .. } in clients {
            for _ in 0..READS_MAX {
                let came = socket.receive_whole(clock, |Received { from, bytes, at, ecn }| {
                    if from == *to {
                        offered[1] = offered[1].max(at);
                        back.offer(offered[1], Frame { client: *client, bytes: bytes.to_vec(), ecn });
                    }
                })?;
                if came == 0 {
                    break;
                }
            }
        }
        Ok(())
    }
    fn deliver(&mut self, now: Instant) -> io::Result<()> {
        while let Some(frame) = self.forward.poll(now) {
            if let Some(client) = self.clients.iter_mut().find(|client| client.at == frame.client) {
                client.socket.push_with(self.to, frame.ecn, |out| out.extend_from_slice(&frame.bytes))?;
            }
        }
        for client in &mut self.clients {
            client.socket.flush()?;
        }
        while let Some(frame) = self.back.poll(now) {
            self.near.push_with(frame.client, frame.ecn, |out| out.extend_from_slice(&frame.bytes))?;
        }
        self.near.flush()
    }
}
