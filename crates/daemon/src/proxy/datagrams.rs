//! Datagrams of applications, in streams: each has its length in two bytes before it, the higher first.
//!
//! What an application of UDP may lose is not lost here; whatever waits for longer than it bears it drops itself.

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
use std::rc::Rc;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UdpSocket};
use tokio::task::spawn_local;

/// No datagram is longer.
const LONGEST: usize = 65_535;
/// Targets of one association at a time.
const TARGETS_MAX: usize = 256;

/// A socket that speaks with one target, at the first of its addresses.
///
/// # Errors
/// No address is known, or it cannot be reached.
pub async fn reach(addresses: &[SocketAddr]) -> io::Result<UdpSocket> {
    let address = *addresses.first().ok_or_else(|| io::Error::other("cannot resolve the peer's address"))?;
    let socket = descriptors::check(UdpSocket::bind(any(address.ip())).await?)?;
    socket.connect(address).await?;
    Ok(socket)
}

fn any(like: IpAddr) -> SocketAddr {
    let address = if like.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
    SocketAddr::new(address, 0)
}

/// Carries datagrams between a target and a connection until that is over.
pub async fn carry(line: &ProxiedConnection, socket: &UdpSocket) {
    let mut buffer = vec![0; LONGEST];
    let mut stream = Stream::default();
    while line.waker.over.get().is_none() && !stream.is_over(line) {
        while let Some(datagram) = stream.next(line) {
            let _ = socket.send(&datagram).await;
        }
        tokio::select! {
            came = socket.recv(&mut buffer) => {
                if let Ok(length) = came {
                    write(line, &buffer[..length]);
                }
            }
            () = line.waker.reads.notified() => {}
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
        Some(datagram)
    }
}

/// The datagrams of one application, to any target: one connection for each.
struct Association {
    router: Rc<Router>,
    socket: UdpSocket,
    requested: RequestedHints,
    /// Where the application is: known when it has sent something.
    application: Cell<Option<SocketAddr>>,
    lines: RefCell<BTreeMap<String, Rc<ProxiedConnection>>>,
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
    let socket = UdpSocket::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.and_then(descriptors::check);
    let socket = socket.map_err(|why| why.to_string())?;
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
    let mut buffer = vec![0; LONGEST];
    loop {
        tokio::select! {
            said = held.read(&mut nothing) => if !said.is_ok_and(|length| length > 0) { break },
            came = association.socket.recv_from(&mut buffer) => {
                let Ok((length, from)) = came else { continue };
                // The first sender is the application; datagrams of others are dropped.
                if association.application.get().unwrap_or(from) == from {
                    association.application.set(Some(from));
                    association.on_datagram(&buffer[..length]).await;
                }
            }
        }
    }
    for line in association.lines.borrow().values() {
        line.reset(lightlag_protocols::wire::session::CloseReason::Aborted);
    }
    Ok(())
}

impl Association {
    async fn on_datagram(self: &Rc<Self>, datagram: &[u8]) {
        let Ok((0, target, plain)) = parse_udp_request(datagram).await else { return };
        let name = named(&target).to_string();
        let known = self.lines.borrow().get(&name).cloned();
        if let Some(line) = known.filter(|line| line.waker.over.get().is_none()) {
            return write(&line, plain);
        }
        if self.lines.borrow().len() >= TARGETS_MAX {
            return;
        }
        let asked = Target::parse(&format!("udp:{name}"));
        // Targets that no other daemon reaches have no stream to go by.
        let Ok(Some(peer)) = self.router.peer(&asked, Via::of(&self.requested)) else { return };
        let Some((id, waker)) = peer.open(&asked.to_string(), self.requested.hints) else { return };
        let line = Rc::new(ProxiedConnection::new(peer.clone(), id, waker));
        write(&line, plain);
        self.lines.borrow_mut().insert(name.clone(), line.clone());
        let all = self.clone();
        spawn_local(async move {
            all.answer(&line, &name).await;
            all.lines.borrow_mut().remove(&name);
        });
    }
    async fn answer(&self, line: &ProxiedConnection, name: &str) {
        let Target::Tcp(host, port) = Target::parse(name) else { return };
        let Ok(header) = new_udp_header((host.as_str(), port)) else { return };
        let mut stream = Stream::default();
        while line.waker.over.get().is_none() {
            while let Some(datagram) = stream.next(line) {
                let whole = [&header[..], &datagram].concat();
                if let Some(application) = self.application.get() {
                    let _ = self.socket.send_to(&whole, application).await;
                }
            }
            line.waker.reads.notified().await;
        }
    }
}
