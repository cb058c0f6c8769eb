//! A socket of the kernel that is waited for, whether it blocks or not.

use crate::error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, sockopt};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::Instant;

/// A socket, and until when it is waited for.
pub struct Patient<'a> {
    /// The socket.
    pub socket: BorrowedFd<'a>,
    /// Without it there is no end.
    pub until: Option<Instant>,
}

impl Patient<'_> {
    /// Waits until it is ready, or has failed.
    ///
    /// # Errors
    /// `ETIMEDOUT`.
    pub fn wait(&self, what: PollFlags) -> io::Result<()> {
        loop {
            let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left
                .map(|left| Timespec::try_from(left).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 }));
            match poll(&mut [PollFd::new(&self.socket, what)], left.as_ref()) {
                Ok(0) => return Err(error::of(Errno::TIMEDOUT)),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(why) => return Err(why.into()),
            }
        }
    }
    /// Connects it to a daemon.
    ///
    /// # Errors
    /// [`error::NO_DAEMON`], `ETIMEDOUT`, or what the kernel says of the socket.
    pub fn connect(&self, daemon: SocketAddr) -> io::Result<()> {
        let done = match net::connect(self.socket, &self.fitting(daemon)?) {
            // An interrupted call continues in the kernel.
            Err(Errno::INPROGRESS | Errno::INTR | Errno::AGAIN) => {
                self.wait(PollFlags::OUT)?;
                sockopt::socket_error(self.socket)?
            }
            done => done,
        };
        done.map_err(|why| match why {
            Errno::CONNREFUSED | Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::TIMEDOUT => {
                error::no_daemon()
            }
            other => other.into(),
        })
    }
    /// The address as a socket of its family takes it.
    fn fitting(&self, daemon: SocketAddr) -> io::Result<SocketAddr> {
        match daemon.ip() {
            IpAddr::V4(address) if sockopt::socket_domain(self.socket)? == AddressFamily::INET6 => {
                // Refused where it is bound; then the kernel's word on connecting is the right one.
                let _ = sockopt::set_ipv6_v6only(self.socket, false);
                Ok(SocketAddr::from((address.to_ipv6_mapped(), daemon.port())))
            }
            _ => Ok(daemon),
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            match net::recv(self.socket, &mut *to, RecvFlags::DONTWAIT) {
                Err(Errno::AGAIN) => self.wait(PollFlags::IN)?,
                Err(Errno::INTR) => {}
                done => return Ok(done.map(|(read, _)| read)?),
            }
        }
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        loop {
            match net::send(self.socket, from, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT)?,
                Err(Errno::INTR) => {}
                done => return Ok(done?),
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
