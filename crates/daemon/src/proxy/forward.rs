//! Ports that lead to one target, and ports that lead to where a connection was meant to go.

use super::{Router, Via, accept};
use crate::config::{Acceptor, Forward};
use crate::target::Target;
use lightlag_protocols::wire::session::Hints;
use nix::sys::socket::{getsockopt, sockopt};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use tracing::debug;

/// Lets applications in, for as long as the daemon runs.
pub async fn serve(router: Rc<Router>, listener: Rc<TcpListener>, forward: Forward) {
    let target = Target::parse(&forward.to);
    loop {
        let socket = accept(&listener).await;
        lead(&router, socket, target.clone(), forward.hints(), forward.peer.clone());
    }
}

/// Lets in what the kernel redirects here (`REDIRECT` of netfilter), and leads it to where it was going.
pub async fn serve_redirected(router: Rc<Router>, listener: Rc<TcpListener>, door: Rc<Acceptor>) {
    loop {
        let socket = accept(&listener).await;
        let own = socket.local_addr().ok().map(|own| (own.ip(), own.port()));
        match meant_for(&socket).filter(|meant| Some(*meant) != own) {
            Some((host, port)) => {
                lead(&router, socket, Target::Tcp(host.to_string(), port), door.hints(), None);
            }
            None => debug!("closed a connection without an original destination"),
        }
    }
}

fn meant_for(socket: &TcpStream) -> Option<(IpAddr, u16)> {
    if let Ok(to) = getsockopt(socket, sockopt::OriginalDst) {
        let address = Ipv4Addr::from(u32::from_be(to.sin_addr.s_addr));
        return Some((address.into(), u16::from_be(to.sin_port)));
    }
    let to = getsockopt(socket, sockopt::Ip6tOriginalDst).ok()?;
    Some((Ipv6Addr::from(to.sin6_addr.s6_addr).into(), u16::from_be(to.sin6_port)))
}

fn lead(router: &Rc<Router>, socket: TcpStream, target: Target, hints: Hints, by: Option<String>) {
    let router = router.clone();
    spawn_local(async move {
        match router.connect(&target, hints, by.as_deref().map_or(Via::Any, Via::Setting)).await {
            Ok(way) => router.carry(way, socket).await,
            Err(why) => {
                debug!(%target, ?why, "closed a forwarded connection");
                let _ = socket.set_zero_linger();
            }
        }
    });
}
