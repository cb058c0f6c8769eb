//! Datagrams of applications, in streams: each has its length in two bytes before it, the higher first.
//!
//! What an application of UDP may lose is not lost here; whatever waits for longer than it bears it drops itself.

use super::mappings::Mapping;
use super::socks::{RequestedHints, named};
use super::{ProxiedConnection, Router, Via};
use crate::descriptors;
use crate::target::Target;
use fast_socks5::server::{Socks5ServerProtocol, states};
use fast_socks5::{new_udp_header, parse_udp_request};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UdpSocket};
use tokio::task::spawn_local;

/// No datagram is longer.
const LONGEST: usize = 65_535;

thread_local! {
    /// What is being read. It is empty whenever anybody waits, so one does for all.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; LONGEST]);
}

/// Targets of one association at a time.
const TARGETS_MAX: usize = 256;

/// A socket that speaks with one target, at the first of its addresses.
///
/// # Errors
/// No address is known, or it cannot be reached.
pub async fn reach(addresses: &[SocketAddr]) -> io::Result<UdpSocket> {
    let address = *addresses.first().ok_or_else(|| io::Error::other("cannot resolve the peer's address"))?;
    let socket = bind(any(address.ip())).await?;
    socket.connect(address).await?;
    Ok(socket)
}

async fn bind(at: SocketAddr) -> io::Result<UdpSocket> {
    let socket = descriptors::with_room(|| std::net::UdpSocket::bind(at)).await?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket)
}

/// The next datagram and its sender, if one has come.
fn receive(socket: &UdpSocket) -> Option<(Vec<u8>, SocketAddr)> {
    BUFFER.with_borrow_mut(|buffer| {
        let (length, from) = socket.try_recv_from(buffer).ok()?;
        Some((buffer[..length].to_vec(), from))
    })
}

fn any(like: IpAddr) -> SocketAddr {
    let address = if like.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
    SocketAddr::new(address, 0)
}

/// Carries datagrams between a target and a connection until that is over or idle.
pub async fn carry(line: &ProxiedConnection, socket: &UdpSocket) {
    let mapping = Mapping::new(line.peer.key());
    let mut ended = pin!(mapping.ended());
    let mut stream = Stream::default();
    while line.waker.over.get().is_none() && !stream.is_over(line) {
        while let Some(datagram) = stream.next(line) {
            mapping.touch();
            let _ = socket.send(&datagram).await;
        }
        tokio::select! {
            _ = socket.readable() => {
                if let Some((datagram, _)) = receive(socket) {
                    mapping.touch();
                    write(line, &datagram);
                }
            }
            () = line.waker.reads.notified() => {}
            () = &mut ended => break,
        }
    }
}

/// A datagram for which there is no room is dropped, as anywhere.
fn write(line: &ProxiedConnection, datagram: &[u8]) {
    let Ok(length) = u16::try_from(datagram.len()) else { return };
    line.peer.with(|session| {
        if session.room(line.id) >= datagram.len() + 2 {
            session.write(line.id, &length.to_be_bytes());
            session.write(line.id, datagram);
        }
    });
}

/// Splits a stream into datagrams.
#[derive(Default)]
struct Stream {
    bytes: Vec<u8>,
    taken: u64,
}

impl Stream {
    fn is_over(&self, line: &ProxiedConnection) -> bool {
        line.peer.look(|session| session.is_at_end(line.id))
    }
    fn next(&mut self, line: &ProxiedConnection) -> Option<Vec<u8>> {
        while let Some(more) = line.peer.with(|session| session.read(line.id)) {
            self.taken += more.len() as u64;
            self.bytes.extend(more);
            line.peer.with(|session| session.take(line.id, self.taken));
        }
        let (length, rest) = self.bytes.split_first_chunk::<2>()?;
        let datagram = rest.get(..u16::from_be_bytes(*length).into())?.to_vec();
        self.bytes.drain(..datagram.len() + 2);
        if self.bytes.is_empty() {
            // Between datagrams it needs no memory.
            self.bytes = Vec::new();
        }
        Some(datagram)
    }
}

/// The connection for datagrams to one target.
struct Line {
    connection: ProxiedConnection,
    mapping: Rc<Mapping>,
}

/// The datagrams of one application, to any target: one connection for each.
struct Association {
    router: Rc<Router>,
    socket: UdpSocket,
    requested: RequestedHints,
    /// Where the application is: known when it has sent something.
    application: Cell<Option<SocketAddr>>,
    lines: RefCell<BTreeMap<String, Rc<Line>>>,
}

/// Serves UDP ASSOCIATE until the application closes the connection that it was asked by.
///
/// # Errors
/// What went wrong, for the log.
pub async fn associate(
    router: &Rc<Router>,
    proto: Socks5ServerProtocol<TcpStream, states::CommandRead>,
    requested: RequestedHints,
) -> Result<(), String> {
    let socket = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.map_err(|why| why.to_string())?;
    let own = socket.local_addr().map_err(|why| why.to_string())?;
    let mut held = proto.reply_success(own).await.map_err(|why| why.to_string())?;
    let association = Rc::new(Association {
        router: router.clone(),
        socket,
        requested,
        application: Cell::new(None),
        lines: RefCell::default(),
    });
    let mut nothing = [0; 64];
    loop {
        tokio::select! {
            said = held.read(&mut nothing) => if !said.is_ok_and(|length| length > 0) { break },
            _ = association.socket.readable() => {
                let Some((datagram, from)) = receive(&association.socket) else { continue };
                // The first sender is the application; datagrams of others are dropped.
                if association.application.get().unwrap_or(from) == from {
                    association.application.set(Some(from));
                    association.on_datagram(&datagram).await;
                }
            }
        }
    }
    for line in association.lines.borrow().values() {
        line.connection.reset(lightlag_protocols::wire::session::CloseReason::Aborted);
    }
    Ok(())
}

impl Association {
    async fn on_datagram(self: &Rc<Self>, datagram: &[u8]) {
        let Ok((0, target, plain)) = parse_udp_request(datagram).await else { return };
        let name = named(&target).to_string();
        let known = self.lines.borrow().get(&name).cloned();
        if let Some(line) = known.filter(|line| line.connection.waker.over.get().is_none()) {
            line.mapping.touch();
            return write(&line.connection, plain);
        }
        if self.lines.borrow().len() >= TARGETS_MAX {
            let mut lines = self.lines.borrow_mut();
            let oldest =
                lines.iter().min_by_key(|(_, line)| line.mapping.used()).map(|(name, _)| name.clone());
            oldest.and_then(|name| lines.remove(&name)).iter().for_each(|line| line.mapping.end());
        }
        let asked = Target::parse(&format!("udp:{name}"));
        // Targets that no other daemon reaches have no stream to go by.
        let Ok(Some(peer)) = self.router.peer(&asked, Via::of(&self.requested)) else { return };
        let Some((id, waker)) = peer.open(&asked.to_string(), self.requested.hints) else { return };
        let connection = ProxiedConnection::new(peer.clone(), id, waker);
        let line = Rc::new(Line { connection, mapping: Mapping::new(peer.key()) });
        write(&line.connection, plain);
        self.lines.borrow_mut().insert(name.clone(), line.clone());
        let all = self.clone();
        spawn_local(async move {
            tokio::select! {
                () = all.answer(&line, &name) => {}
                () = line.mapping.ended() => {}
            }
            let mut lines = all.lines.borrow_mut();
            // Another may have its name by now.
            if lines.get(&name).is_some_and(|known| Rc::ptr_eq(known, &line)) {
                lines.remove(&name);
            }
        });
    }
    async fn answer(&self, Line { connection, mapping }: &Line, name: &str) {
        let Target::Tcp(host, port) = Target::parse(name) else { return };
        let Ok(header) = new_udp_header((host.as_str(), port)) else { return };
        let mut stream = Stream::default();
        while connection.waker.over.get().is_none() {
            while let Some(datagram) = stream.next(connection) {
                mapping.touch();
                let whole = [&header[..], &datagram].concat();
                if let Some(application) = self.application.get() {
                    let _ = self.socket.send_to(&whole, application).await;
                }
            }
            connection.waker.reads.notified().await;
        }
    }
}
