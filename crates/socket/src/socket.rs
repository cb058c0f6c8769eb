//! Connections, by a daemon.

use crate::control::{escaped, post};
use crate::error;
use crate::options::Options;
use crate::patient::Patient;
use crate::socks::{self, Host};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// What a host is called that is a service.
const SERVICES: &str = ".lightlag";

/// Connects to `host:port`, or, where the port is 0, to a service of that name.
///
/// # Errors
/// As [`Patient::connect`] and [`socks::ask`].
pub fn connect(options: &Options, host: &str, port: u16) -> io::Result<OwnedFd> {
    let daemon = options.socks()?;
    let host =
        if port == 0 && !host.ends_with(SERVICES) { format!("{host}{SERVICES}") } else { host.to_owned() };
    let socket = socket_with(
        if daemon.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 },
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let mut line = Patient { socket: socket.as_fd(), until: options.until() };
    line.connect(daemon)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    socks::ask(&mut line, &Host::parse(&host)?, port, &options.hints())?;
    sockopt::set_tcp_nodelay(&socket, false)?;
    set_timeout(socket.as_fd(), options.timeout_ms)?;
    Ok(socket)
}

/// Calls on a connected socket wait this many milliseconds at most; `None`: without limit.
///
/// # Errors
/// What the kernel says.
pub fn set_timeout(socket: BorrowedFd, most_ms: Option<u64>) -> io::Result<()> {
    let most = most_ms.map(Duration::from_millis);
    sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, most)?;
    Ok(sockopt::set_socket_timeout(socket, sockopt::Timeout::Send, most)?)
}

/// How a connected socket is carried, after the changes.
///
/// # Errors
/// `ENOTCONN`, `EINVAL` where no daemon carries it or cannot change that any more, and as the daemon's owner's socket says.
pub fn hint(socket: BorrowedFd, changes: &str) -> io::Result<Options> {
    let own = rustix::net::getsockname(socket)?;
    let own = SocketAddr::try_from(own).map_err(|_| error::of(Errno::OPNOTSUPP))?;
    rustix::net::getpeername(socket)?;
    let mut options = Options::default();
    let path = format!("/connection?from={}&hints={}", escaped(&own.to_string()), escaped(changes));
    options.take_hints(&post(&options.control(), &path)?);
    Ok(options)
}
