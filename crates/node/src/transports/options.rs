//! What all that is sent or received over a transport has in common.

use super::{ContactPlan, Error, ltp};
use crate::socket::Socket;
use crate::tap::Tap;
use crate::transfer::sender::random;
use lightlag_protocols::controllers::{Controller, Factory, Flow};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use std::net::SocketAddr;

/// To whom something is sent, and how fast.
pub struct SendOptions {
    /// The listener.
    pub to: SocketAddr,
    /// From where; `None`: from any port.
    pub from: Option<SocketAddr>,
    /// Bytes of a packet, headers of IP and UDP included; TCP ignores it.
    pub packet: Bytes,
    /// Rate of the contact plan; bundles over UDP leave at it.
    pub rate: Option<BitRate>,
    /// Rates over time by a contact plan, instead of `rate`: files over UDPDTN, and LTP over UDP.
    pub plan: Option<ContactPlan>,
    /// Round trip of light of the contact plan.
    pub light: Option<Duration>,
    /// Give up after this time without an answer; `None`: never.
    pub give_up: Option<Duration>,
    /// DCCP in IP packets of its own, not in UDP.
    pub raw: bool,
    /// What paces it, by name; `None`: the transport's default, or nothing where it takes none.
    pub controller: Option<Factory>,
    /// Sees all datagrams; TCP shows none.
    pub tap: Option<Tap>,
}

impl SendOptions {
    /// What its controller is built for.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub(crate) fn flow(&self, segment: Bytes) -> Result<Flow, Error> {
        Ok(Flow::new(segment, self.packet).planned(self.rate, self.light).seeded(random()?.into(), 0))
    }
    /// The name of its controller.
    pub(crate) fn controller_name<'a>(&'a self, default: &'a str) -> &'a str {
        self.controller.as_ref().map_or(default, Factory::name)
    }
    /// Its controller, or the default one.
    ///
    /// # Errors
    /// There is no controller of the default's name.
    pub(crate) fn take_controller(
        &mut self,
        default: &str,
        flow: Flow,
    ) -> Result<Box<dyn Controller>, Error> {
        self.controller.take().map_or_else(|| ltp::named(default, flow), |make| Ok(make.build(flow)))
    }
    /// A socket of UDP that reaches the listener.
    ///
    /// # Errors
    /// One line.
    pub(crate) fn take_socket(&mut self) -> Result<Socket, Error> {
        let (to, from) = (self.to, self.from);
        let opened = from.map_or_else(|| Socket::towards(to), Socket::bind);
        let opened = opened.and_then(|mut socket| socket.set_tap(self.tap.take()).map(|()| socket));
        opened.map(Socket::with_one_peer).map_err(|why| match from {
            Some(from) => Error::Input(format!(
                "--from: {from}: {why}; name a free address of this machine (`bundles send --folder` keeps the bundles that arrive there, \
                 too)"
            )),
            None => Error::Failed(format!("cannot open a socket to {to}: {why}")),
        })
    }
}

/// Where a listener listens, and in what packets.
pub struct ListenOptions {
    /// Where.
    pub at: SocketAddr,
    /// Bytes of a packet, headers of IP and UDP included.
    pub packet: Bytes,
    /// DCCP in IP packets of its own, not in UDP.
    pub raw: bool,
    /// Sees all datagrams; TCP shows none.
    pub tap: Option<Tap>,
}

impl ListenOptions {
    /// A socket there.
    ///
    /// # Errors
    /// One line.
    pub(crate) fn take_socket(&mut self) -> Result<Socket, Error> {
        let (at, raw) = (self.at, self.raw);
        let socket = if raw { Socket::raw(at) } else { Socket::bind(at) };
        let socket = socket.and_then(|mut socket| socket.set_tap(self.tap.take()).map(|()| socket));
        socket.map_err(|why| match why.kind() {
            kind if raw && kind != std::io::ErrorKind::AddrNotAvailable => super::driver::no_raw(&why),
            _ => Error::Input(format!("cannot listen at {at}: {why}; name a free address of this machine")),
        })
    }
}
