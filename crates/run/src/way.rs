//! Which connections go through the daemon, and how they get there.

use crate::names;
use lightlag::error::{NO_DAEMON, number};
use lightlag::patient::Patient;
use lightlag::socks::{self, Host};
use rustix::net::{SocketType, connect_unspec, getpeername, sockopt};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The daemon answers within seconds; what it reaches by plain TCP may take the kernel's time.
const PATIENCE: Duration = Duration::from_secs(150);

/// What `lightlag-run` says.
struct Settings {
    daemon: SocketAddr,
    hints: String,
    also_loopback: bool,
    verbose: bool,
}

fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let said = |name: &str| std::env::var(name).unwrap_or_default();
        let otherwise = SocketAddr::from((Ipv4Addr::LOCALHOST, 1080));
        Settings {
            daemon: said("LIGHTLAG_SOCKS").parse().unwrap_or(otherwise),
            hints: said("LIGHTLAG_HINTS"),
            also_loopback: said("LIGHTLAG_ALSO_LOOPBACK") == "1",
            verbose: said("LIGHTLAG_VERBOSE") == "1",
        }
    })
}

/// What became of a call.
pub enum Taken {
    /// It is the kernel's.
    Not,
    /// The connection is there.
    Done,
    /// It is not: the error number.
    Failed(i32),
}

/// Connects a socket through the daemon, if its destination goes there.
pub fn take(socket: BorrowedFd, to: SocketAddr) -> Taken {
    let settings = settings();
    let to = SocketAddr::new(to.ip().to_canonical(), to.port());
    let is_stream = sockopt::socket_type(socket).is_ok_and(|kind| kind == SocketType::STREAM);
    if !is_stream || to == settings.daemon || stays_here(to.ip(), settings.also_loopback) {
        return Taken::Not;
    }
    if getpeername(socket).is_ok() {
        return Taken::Failed(libc::EISCONN);
    }
    let host = names::named(to.ip()).map_or(Host::Address(to.ip()), Host::Name);
    let done = ask(socket, &host, to.port(), settings);
    if settings.verbose {
        let how = done.as_ref().map_or_else(|why| format!("failed: {why}"), |()| "connected".to_owned());
        let host = match &host {
            Host::Address(address) => address.to_string(),
            Host::Name(name) => name.clone(),
        };
        eprintln!("lightlag-run: {host} port {} by {}: {how}", to.port(), settings.daemon);
    }
    match done {
        Ok(()) => Taken::Done,
        Err(why) => {
            // The program may try again with the same socket.
            let _ = connect_unspec(socket);
            let number = number(&why);
            Taken::Failed(if number == NO_DAEMON { libc::ENETDOWN } else { number })
        }
    }
}

/// Where no other daemon is between.
fn stays_here(to: IpAddr, also_loopback: bool) -> bool {
    match to {
        IpAddr::V4(to) => (to.is_loopback() && !also_loopback) || to.is_unspecified() || to.is_link_local(),
        IpAddr::V6(to) => {
            (to.is_loopback() && !also_loopback) || to.is_unspecified() || to.is_unicast_link_local()
        }
    }
}

fn ask(socket: BorrowedFd, host: &Host, port: u16, settings: &Settings) -> io::Result<()> {
    let mut line = Patient { socket, until: Some(Instant::now() + PATIENCE) };
    line.connect(settings.daemon)?;
    socks::ask(&mut line, host, port, &settings.hints)
}
