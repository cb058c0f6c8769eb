//! What `lightlag.h` declares.
//!
//! As the sockets API: -1 and `errno` where a call fails. Descriptors are real ones of the kernel.

use crate::error;
use crate::options::Options;
use crate::patient::Patient;
use crate::{service, socket};
use errno::{Errno as Number, set_errno};
use libc::{c_char, c_int, c_void, nfds_t, pollfd, size_t, socklen_t, ssize_t};
use rustix::io::{Errno, fcntl_getfd, fcntl_setfd};
use rustix::net::{RecvFlags, SendFlags, Shutdown, SocketFlags, accept_with, sockopt};
use std::ffi::{CStr, CString};
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// 0 to 3; higher goes first. An `int`.
pub const LL_PRIORITY: c_int = 1;
/// Stored before it is acknowledged, and delivered though the program has left. An `int`, 0 or 1.
pub const LL_DURABLE: c_int = 2;
/// Milliseconds of one-way delay that the program bears. An `int`.
pub const LL_DELAY_MOST_MS: c_int = 3;
/// By which of the other daemons. Text.
pub const LL_PEER: c_int = 4;
/// Where the daemon takes SOCKS, `host:port`. Text.
pub const LL_DAEMON: c_int = 5;
/// The daemon's owner's socket. Text.
pub const LL_CONTROL: c_int = 6;
/// Milliseconds that calls wait at most; 0 is for ever. An `int`.
pub const LL_TIMEOUT_MS: c_int = 7;

fn invalid() -> io::Error {
    error::of(Errno::INVAL)
}

fn answer<T: From<i8>>(done: io::Result<T>) -> T {
    done.unwrap_or_else(|why| {
        set_errno(Number(error::number(&why)));
        T::from(-1)
    })
}

/// The caller's descriptor, for this call.
fn borrowed<'a>(fd: c_int) -> io::Result<BorrowedFd<'a>> {
    if fd < 0 {
        return Err(error::of(Errno::BADF));
    }
    // SAFETY: it is not -1; whether it is open the kernel says, and no call here depends on that.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// The caller's text.
///
/// # Safety
/// It is null, or ends with a zero.
unsafe fn text<'a>(from: *const c_char) -> io::Result<&'a str> {
    if from.is_null() {
        return Err(error::of(Errno::FAULT));
    }
    // SAFETY: the caller promises it.
    unsafe { CStr::from_ptr(from) }.to_str().map_err(|_| invalid())
}

/// Options of a descriptor that is not connected yet.
fn unconnected(fd: BorrowedFd) -> io::Result<Options> {
    Options::held(fd)?.ok_or_else(|| error::of(Errno::ISCONN))
}

/// A socket takes the place of a descriptor that held options, with its flags.
fn replace(fd: c_int, socket: OwnedFd) -> io::Result<c_int> {
    let old = borrowed(fd)?;
    let (descriptor_flags, flags) = (fcntl_getfd(old)?, rustix::fs::fcntl_getfl(old)?);
    let is_patient = !flags.contains(rustix::fs::OFlags::NONBLOCK);
    rustix::io::ioctl_fionbio(&socket, !is_patient)?;
    // SAFETY: the caller's descriptor stays the caller's: it is never dropped here.
    let mut held = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(fd) });
    rustix::io::dup2(&socket, &mut held)?;
    fcntl_setfd(old, descriptor_flags)?;
    Ok(0)
}

/// Makes a descriptor; close it with `ll_close` or `close`.
#[unsafe(no_mangle)]
pub extern "C" fn ll_socket() -> c_int {
    answer(Options::default().hold().map(IntoRawFd::into_raw_fd))
}

/// Connects to a host and a port, or with port 0 to a service.
///
/// # Safety
/// `host` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ll_connect(fd: c_int, host: *const c_char, port: u16) -> c_int {
    let connect = || {
        // SAFETY: the caller promises it.
        let host = unsafe { text(host) }?;
        let socket = socket::connect(&unconnected(borrowed(fd)?)?, host, port)?;
        replace(fd, socket)
    };
    answer(connect())
}

/// Names the service that `ll_listen` will offer.
///
/// # Safety
/// `service` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ll_bind(fd: c_int, service: *const c_char) -> c_int {
    let bind = || {
        // SAFETY: the caller promises it.
        let name = service::name(unsafe { text(service) }?)?;
        let options = unconnected(borrowed(fd)?)?;
        Options { service: name, ..options }.keep(borrowed(fd)?).map(|()| 0)
    };
    answer(bind())
}

/// Offers the service for as long as the descriptor is open.
#[unsafe(no_mangle)]
pub extern "C" fn ll_listen(fd: c_int, backlog: c_int) -> c_int {
    let listen = || replace(fd, service::listen(&unconnected(borrowed(fd)?)?, backlog)?);
    answer(listen())
}

/// Waits for a connection, and makes a descriptor of it.
#[unsafe(no_mangle)]
pub extern "C" fn ll_accept(fd: c_int) -> c_int {
    let accept = || Ok(accept_with(borrowed(fd)?, SocketFlags::CLOEXEC)?.into_raw_fd());
    answer(accept())
}

/// Sends as `send(2)` does, but reports a closed connection by `EPIPE`, never by SIGPIPE.
///
/// # Safety
/// `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ll_send(fd: c_int, bytes: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    let send = || {
        // SAFETY: the caller promises it.
        let bytes = unsafe { bytes_of(bytes, length) }?;
        let flags = SendFlags::from_bits_retain(flags as u32) | SendFlags::NOSIGNAL;
        Ok(rustix::net::send(borrowed(fd)?, bytes, flags)? as ssize_t)
    };
    answer(send())
}

/// Sends all of the bytes unless `deadline_ms` pass before, with a priority that the connection has from now on.
/// -1 leaves either as it is. Returns the number of bytes sent; `ETIMEDOUT` if none.
///
/// # Safety
/// `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ll_send_with(
    fd: c_int,
    bytes: *const c_void,
    length: size_t,
    priority: c_int,
    deadline_ms: c_int,
) -> ssize_t {
    let send = || {
        // SAFETY: the caller promises it.
        let bytes = unsafe { bytes_of(bytes, length) }?;
        let socket = borrowed(fd)?;
        let until = u64::try_from(deadline_ms).ok().map(|most| Instant::now() + Duration::from_millis(most));
        if priority >= 0 {
            socket::hint(socket, &format!("priority={priority}"))?;
        }
        send_all(Patient { socket, until }, bytes)
    };
    answer(send())
}

fn send_all(mut line: Patient, bytes: &[u8]) -> io::Result<ssize_t> {
    let mut sent = 0;
    while sent < bytes.len() {
        match line.write(&bytes[sent..]) {
            Ok(some) => sent += some,
            Err(_) if sent > 0 => break,
            Err(why) => return Err(why),
        }
    }
    Ok(sent as ssize_t)
}

/// The caller's bytes.
///
/// # Safety
/// It has `length` bytes, or is null and has none.
unsafe fn bytes_of<'a>(from: *const c_void, length: size_t) -> io::Result<&'a [u8]> {
    match (from.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(error::of(Errno::FAULT)),
        // SAFETY: the caller promises it.
        _ => Ok(unsafe { std::slice::from_raw_parts(from.cast(), length) }),
    }
}

/// Receives as `recv(2)` does.
///
/// # Safety
/// `bytes` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ll_recv(fd: c_int, bytes: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    let receive = || {
        if bytes.is_null() && length > 0 {
            return Err(error::of(Errno::FAULT));
        }
        let to: &mut [std::mem::MaybeUninit<u8>] = match length {
            0 => &mut [],
            // SAFETY: the caller promises it.
            _ => unsafe { std::slice::from_raw_parts_mut(bytes.cast(), length) },
        };
        let received = rustix::net::recv(borrowed(fd)?, to, RecvFlags::from_bits_retain(flags as u32))?;
        Ok(received.1 as ssize_t)
    };
    answer(receive())
}

/// As `poll(2)`.
///
/// # Safety
/// `fds` has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ll_poll(fds: *mut pollfd, count: nfds_t, timeout_ms: c_int) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { libc::poll(fds, count, timeout_ms) }
}

/// Ends one stream (`SHUT_WR`: the far side sees the end and can still send) or both.
#[unsafe(no_mangle)]
pub extern "C" fn ll_shutdown(fd: c_int, how: c_int) -> c_int {
    let shutdown = || {
        let how = match how {
            libc::SHUT_RD => Shutdown::Read,
            libc::SHUT_WR => Shutdown::Write,
            libc::SHUT_RDWR => Shutdown::Both,
            _ => return Err(invalid()),
        };
        rustix::net::shutdown(borrowed(fd)?, how)?;
        Ok(0)
    };
    answer(shutdown())
}

/// As `close(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn ll_close(fd: c_int) -> c_int {
    // SAFETY: the caller gives up the descriptor, as to close(2).
    unsafe { libc::close(fd) }
}

/// Sets an option. Before the connection is made all can be set; after it priority, delay and timeout.
///
/// # Safety
/// `value` has `length` bytes: an `int`, or text, with or without a zero at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ll_setsockopt(
    fd: c_int,
    option: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    let set = || {
        // SAFETY: the caller promises it.
        let value = unsafe { bytes_of(value, length as size_t) }?;
        let socket = borrowed(fd)?;
        match Options::held(socket)? {
            Some(mut options) => {
                options.set(option, value)?;
                options.keep(socket)
            }
            None => set_connected(socket, option, value),
        }
        .map(|()| 0)
    };
    answer(set())
}

fn set_connected(socket: BorrowedFd, option: c_int, value: &[u8]) -> io::Result<()> {
    let mut asked = Options::default();
    asked.set(option, value)?;
    match option {
        LL_PRIORITY | LL_DELAY_MOST_MS => socket::hint(socket, &asked.hints()).map(drop),
        LL_TIMEOUT_MS => socket::set_timeout(socket, asked.timeout_ms),
        _ => Err(error::of(Errno::ISCONN)),
    }
}

fn number(value: &[u8]) -> io::Result<c_int> {
    Ok(c_int::from_ne_bytes(value.try_into().map_err(|_| invalid())?))
}

impl Options {
    fn set(&mut self, option: c_int, value: &[u8]) -> io::Result<()> {
        let text = || {
            let bytes = value.split(|byte| *byte == 0).next().unwrap_or_default();
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| invalid())
        };
        let milliseconds = || u64::try_from(number(value)?).map_err(|_| invalid());
        match option {
            LL_PRIORITY => {
                const PRIORITIES: u8 = 4;
                let given = u8::try_from(number(value)?).ok().filter(|given| *given < PRIORITIES);
                self.priority = Some(given.ok_or_else(invalid)?);
            }
            LL_DURABLE => self.durable = number(value)? != 0,
            LL_DELAY_MOST_MS => self.delay_most_ms = Some(milliseconds()?),
            LL_TIMEOUT_MS => self.timeout_ms = Some(milliseconds()?).filter(|most| *most > 0),
            LL_PEER => self.peer = text()?,
            LL_DAEMON => self.daemon = text()?,
            LL_CONTROL => self.control = text()?,
            _ => return Err(error::of(Errno::NOPROTOOPT)),
        }
        Ok(())
    }
    /// As bytes of an `int` or text; -1 if it is not set.
    fn get(&self, option: c_int) -> io::Result<Vec<u8>> {
        let int = |value: Option<u64>| {
            value.map_or(-1, |value| c_int::try_from(value).unwrap_or(c_int::MAX)).to_ne_bytes().to_vec()
        };
        let text = |value: &str| CString::new(value).map(CString::into_bytes_with_nul).map_err(|_| invalid());
        match option {
            LL_PRIORITY => Ok(int(self.priority.map(u64::from))),
            LL_DURABLE => Ok(int(Some(self.durable.into()))),
            LL_DELAY_MOST_MS => Ok(int(self.delay_most_ms)),
            LL_TIMEOUT_MS => Ok(int(Some(self.timeout_ms.unwrap_or(0)))),
            LL_PEER => text(&self.peer),
            LL_DAEMON => text(&self.socks()?.to_string()),
            LL_CONTROL => text(&self.control().to_string_lossy()),
            _ => Err(error::of(Errno::NOPROTOOPT)),
        }
    }
}

/// Reads an option; of a connection, as the daemon reports it.
///
/// # Safety
/// `value` has room for `*length` bytes; `*length` becomes how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ll_getsockopt(
    fd: c_int,
    option: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    let get = || {
        if value.is_null() || length.is_null() {
            return Err(error::of(Errno::FAULT));
        }
        let bytes = told(borrowed(fd)?, option)?;
        // SAFETY: the caller promises it.
        let room = unsafe { length.read() } as usize;
        if bytes.len() > room {
            return Err(error::of(Errno::RANGE));
        }
        // SAFETY: the caller promises the room, and it is not less than the bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.cast(), bytes.len());
            length.write(bytes.len() as socklen_t);
        }
        Ok(0)
    };
    answer(get())
}

fn told(socket: BorrowedFd, option: c_int) -> io::Result<Vec<u8>> {
    if let Some(options) = Options::held(socket)? {
        return options.get(option);
    }
    match option {
        LL_PRIORITY | LL_DURABLE | LL_DELAY_MOST_MS | LL_PEER => socket::hint(socket, "")?.get(option),
        LL_TIMEOUT_MS => {
            let most = sockopt::socket_timeout(socket, sockopt::Timeout::Recv)?;
            let timeout_ms = most.map(|most| u64::try_from(most.as_millis()).unwrap_or(u64::MAX));
            Options { timeout_ms, ..Options::default() }.get(option)
        }
        _ => Options::default().get(option),
    }
}

/// What an error number means: a text that stays.
#[unsafe(no_mangle)]
pub extern "C" fn ll_strerror(number: c_int) -> *const c_char {
    match error::text(number) {
        Some(text) => text.as_ptr(),
        // SAFETY: strerror(3) takes every number.
        None => unsafe { libc::strerror(number) },
    }
}
