//! Services: what the far side reaches by a name.

use crate::control::{escaped, post};
use crate::error;
use crate::options::Options;
use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, listen as listen_on, socket_with,
};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

/// Listens on a port of loopback to which the daemon leads the service of the options, for as long as the socket lives: the
/// daemon knows the socket by its inode, and remembers it when it is started again.
///
/// # Errors
/// `EDESTADDRREQ` where the service has no name, `EADDRINUSE` where another program has it, and as the daemon's owner's socket
/// says.
pub fn listen(options: &Options, backlog: i32) -> io::Result<OwnedFd> {
    if options.service.is_empty() {
        return Err(error::of(Errno::DESTADDRREQ));
    }
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    listen_on(&socket, backlog)?;
    let own = SocketAddr::try_from(getsockname(&socket)?).map_err(|_| error::of(Errno::PROTO))?;
    let (name, to) = (escaped(&options.service), escaped(&own.to_string()));
    post(&options.control(), &format!("/service?name={name}&to={to}&listener={}", fstat(&socket)?.st_ino))?;
    Ok(socket)
}

/// A name as daemons know it.
///
/// # Errors
/// `EINVAL` if it is invalid.
pub fn name(text: &str) -> io::Result<String> {
    const NAME_MAX: usize = 200;
    let name = text.strip_suffix(".lightlag").unwrap_or(text).to_ascii_lowercase();
    let is_one = (1..=NAME_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if is_one { Ok(name) } else { Err(error::of(Errno::INVAL)) }
}
