//! How a connection must be carried and by which daemon, held by the descriptor until it is connected.

use crate::error;
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, pread, pwrite};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Default address of a daemon.
const SOCKS: &str = "127.0.0.1:1080";
const CONTROL: &str = "/run/lightlag/control.sock";
/// The first line of what a descriptor holds.
const MAGIC: &str = "lightlag socket 1\n";
/// No more than that is held.
const TEXT_MAX: usize = 4096;

/// Options; unset ones have the daemon's defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// 0 to 3; higher goes first.
    pub priority: Option<u8>,
    /// Stored before it is acknowledged, and delivered though the application has left.
    pub durable: bool,
    /// Milliseconds of one-way delay that the application bears.
    pub delay_most_ms: Option<u64>,
    /// By which of the other daemons.
    pub peer: String,
    /// Milliseconds that calls wait at most.
    pub timeout_ms: Option<u64>,
    /// Where the daemon takes SOCKS, `host:port`; else `LIGHTLAG_SOCKS`.
    pub daemon: String,
    /// Its owner's socket; else `LIGHTLAG_CONTROL`.
    pub control: String,
    /// The name by which the far side reaches it.
    pub service: String,
}

impl Options {
    /// The priority, durability, delay and peer as they stand in the user's name of SOCKS.
    pub fn hints(&self) -> String {
        let priority = self.priority.map(|priority| format!("priority={priority}"));
        let durable = self.durable.then(|| "durable".to_owned());
        let delay = self.delay_most_ms.map(|most| format!("delay={most}"));
        let peer = (!self.peer.is_empty()).then(|| format!("peer={}", self.peer));
        let all: Vec<String> = [priority, durable, delay, peer].into_iter().flatten().collect();
        all.join(",")
    }
    /// Takes over what stands in the user's name of SOCKS.
    pub fn take_hints(&mut self, hints: &str) {
        for hint in hints.trim().split(',') {
            match hint.split_once('=').unwrap_or((hint, "")) {
                ("priority", value) => self.priority = value.parse().ok(),
                ("durable", _) => self.durable = true,
                ("delay", value) => self.delay_most_ms = value.parse().ok(),
                ("peer", value) => value.clone_into(&mut self.peer),
                _ => {}
            }
        }
    }
    /// Where the daemon takes SOCKS.
    ///
    /// # Errors
    /// `EINVAL` where that is not an address.
    pub fn socks(&self) -> io::Result<SocketAddr> {
        let said = said(&self.daemon, "LIGHTLAG_SOCKS", SOCKS);
        let mut found = said.to_socket_addrs().map_err(|_| error::of(Errno::INVAL))?;
        found.next().ok_or_else(|| error::of(Errno::INVAL))
    }
    /// The socket of the daemon's owner.
    pub fn control(&self) -> PathBuf {
        said(&self.control, "LIGHTLAG_CONTROL", CONTROL).into()
    }
    /// Until when a call that begins now waits.
    pub fn until(&self) -> Option<Instant> {
        Instant::now().checked_add(Duration::from_millis(self.timeout_ms?))
    }
    fn text(&self) -> String {
        let timeout = self.timeout_ms.map_or(String::new(), |most| most.to_string());
        let Self { daemon, control, service, .. } = self;
        format!("{MAGIC}{}\n{timeout}\n{daemon}\n{control}\n{service}\n", self.hints())
    }
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_prefix(MAGIC)?.split('\n');
        let mut options = Self::default();
        options.take_hints(lines.next()?);
        options.timeout_ms = lines.next()?.parse().ok();
        for held in [&mut options.daemon, &mut options.control, &mut options.service] {
            lines.next()?.clone_into(held);
        }
        Some(options)
    }
    /// A descriptor that holds them.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn hold(&self) -> io::Result<OwnedFd> {
        let holder = holder()?;
        self.keep(rustix::fd::AsFd::as_fd(&holder))?;
        Ok(holder)
    }
    /// What a descriptor holds; none where it is a socket of the kernel by now.
    ///
    /// # Errors
    /// `ENOTSOCK` where it is neither; `EBADF`.
    pub fn held(by: BorrowedFd) -> io::Result<Option<Self>> {
        match FileType::from_raw_mode(fstat(by)?.st_mode) {
            FileType::Socket => return Ok(None),
            FileType::RegularFile => {}
            _ => return Err(error::of(Errno::NOTSOCK)),
        }
        let mut bytes = [0; TEXT_MAX];
        let read = pread(by, &mut bytes, 0)?;
        let text = std::str::from_utf8(&bytes[..read]).ok();
        text.and_then(Self::parse).map(Some).ok_or_else(|| error::of(Errno::NOTSOCK))
    }
    /// Puts them into a descriptor that holds options already.
    ///
    /// # Errors
    /// `EINVAL` where one of them cannot be held.
    pub fn keep(&self, to: BorrowedFd) -> io::Result<()> {
        let text = self.text();
        let parts = [&self.peer, &self.daemon, &self.control, &self.service];
        let is_clean = parts.iter().all(|part| !part.contains('\n')) && !self.peer.contains([',', '=']);
        if text.len() > TEXT_MAX || !is_clean {
            return Err(error::of(Errno::INVAL));
        }
        pwrite(to, text.as_bytes(), 0)?;
        Ok(rustix::fs::ftruncate(to, text.len() as u64)?)
    }
}

fn said(here: &str, variable: &str, otherwise: &str) -> String {
    if !here.is_empty() {
        return here.to_owned();
    }
    std::env::var(variable).ok().filter(|value| !value.is_empty()).unwrap_or_else(|| otherwise.to_owned())
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn holder() -> io::Result<OwnedFd> {
    Ok(rustix::fs::memfd_create("lightlag", rustix::fs::MemfdFlags::CLOEXEC)?)
}

/// A file without a name.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn holder() -> io::Result<OwnedFd> {
    use std::fs::OpenOptions;
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("lightlag-{}-{number}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::fd::AsFd;

    proptest! {
        #[test]
        fn what_a_descriptor_holds_is_what_was_put_in(
            (priority, durable, delay_most_ms) in (proptest::option::of(0_u8..4), any::<bool>(), any::<Option<u64>>()),
            (peer, daemon, control) in ("[a-z ]{0,20}", "[^\n]{0,40}", "[^\n]{0,40}"),
            (service, timeout_ms) in ("[a-z.-]{0,30}", any::<Option<u64>>()),
        ) {
            let peer = peer.trim().to_owned();
            let options = Options { priority, durable, delay_most_ms, peer, timeout_ms, daemon, control, service };
            let holder = Options::default().hold().unwrap();
            options.keep(holder.as_fd()).unwrap();
            prop_assert_eq!(Options::held(holder.as_fd()).unwrap(), Some(options));
        }
        #[test]
        fn no_content_makes_it_panic(text in ".{0,80}") {
            let _ = Options::parse(&format!("{MAGIC}{text}"));
        }
    }
}
