//! What `lightlag-run` loads into programs: their TCP connections go through `lightlagd`, and names are left to the far side.
//!
//! A connection is made, handshake included, before `connect` returns, also where the socket does not block: the daemon
//! answers within seconds on any path, and every program accepts a connection that is there at once.

#![allow(unsafe_code, reason = "functions of the C library are replaced")]

mod names;
mod way;

use errno::{Errno as Number, set_errno};
use libc::{addrinfo, c_char, c_int, hostent, size_t, sockaddr, socklen_t};
use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;

/// The next definition of that function: of the C library, or of another preloaded library.
macro_rules! next {
    ($name:literal: $type:ty) => {{
        static FOUND: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        // SAFETY: dlsym takes any name.
        let found = *FOUND.get_or_init(|| unsafe { libc::dlsym(libc::RTLD_NEXT, $name.as_ptr()) } as usize);
        // SAFETY: the C library has a function of that name and type; null becomes `None`.
        unsafe { std::mem::transmute::<usize, Option<$type>>(found) }
    }};
}

type Connect = unsafe extern "C" fn(c_int, *const sockaddr, socklen_t) -> c_int;
type GetAddrInfo =
    unsafe extern "C" fn(*const c_char, *const c_char, *const addrinfo, *mut *mut addrinfo) -> c_int;
type GetHost = unsafe extern "C" fn(*const c_char) -> *mut hostent;
type GetHost2 = unsafe extern "C" fn(*const c_char, c_int) -> *mut hostent;
type GetHostInto = unsafe extern "C" fn(
    *const c_char,
    *mut hostent,
    *mut c_char,
    size_t,
    *mut *mut hostent,
    *mut c_int,
) -> c_int;
type GetHost2Into = unsafe extern "C" fn(
    *const c_char,
    c_int,
    *mut hostent,
    *mut c_char,
    size_t,
    *mut *mut hostent,
    *mut c_int,
) -> c_int;

/// In place of connect(2).
///
/// # Safety
/// As connect(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller promises it.
    let to = unsafe { read_address(address, length) };
    if let Some(to) = to.filter(|_| fd >= 0) {
        // SAFETY: it is not -1, and lives as long as the call.
        let socket = unsafe { BorrowedFd::borrow_raw(fd) };
        match way::take(socket, to) {
            way::Taken::Not => {}
            way::Taken::Done => return 0,
            way::Taken::Failed(number) => {
                set_errno(Number(number));
                return -1;
            }
        }
    }
    match next!(c"connect": Connect) {
        // SAFETY: as the caller called.
        Some(connect) => unsafe { connect(fd, address, length) },
        None => {
            set_errno(Number(libc::ENOSYS));
            -1
        }
    }
}

/// An address of IPv4 or IPv6.
///
/// # Safety
/// It has `length` bytes.
unsafe fn read_address(address: *const sockaddr, length: socklen_t) -> Option<SocketAddr> {
    let length = length as usize;
    if address.is_null() || length < size_of::<libc::sa_family_t>() {
        return None;
    }
    // SAFETY: there are that many bytes; programs do not always align them.
    match c_int::from(unsafe { std::ptr::read_unaligned(&raw const (*address).sa_family) }) {
        libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
            // SAFETY: there are that many bytes.
            let read = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(read.sin_addr.s_addr));
            Some(SocketAddr::from((ip, u16::from_be(read.sin_port))))
        }
        libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: there are that many bytes.
            let read = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(SocketAddr::from((Ipv6Addr::from(read.sin6_addr.s6_addr), u16::from_be(read.sin6_port))))
        }
        _ => None,
    }
}

/// The name to ask the C library for: a name that the far side knows becomes an address here, which the C
/// library reads like any other. So the result is its own, to be freed as usual.
///
/// # Safety
/// It is null or ends with a zero.
unsafe fn here<'a>(name: *const c_char, family: c_int) -> Option<Cow<'a, CStr>> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller promises it.
    let name = unsafe { CStr::from_ptr(name) };
    let address = name.to_str().ok().and_then(names::stand_in);
    let text = address.map(|address| match family {
        libc::AF_INET6 => address.to_ipv6_mapped().to_string(),
        _ => address.to_string(),
    });
    Some(text.and_then(|text| CString::new(text).ok()).map_or(Cow::Borrowed(name), Cow::Owned))
}

fn pointer(name: Option<&Cow<CStr>>) -> *const c_char {
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// In place of getaddrinfo(3).
///
/// # Safety
/// As getaddrinfo(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    found: *mut *mut addrinfo,
) -> c_int {
    let Some(next) = next!(c"getaddrinfo": GetAddrInfo) else { return libc::EAI_SYSTEM };
    // SAFETY: the caller promises it.
    let family = if hints.is_null() { libc::AF_UNSPEC } else { unsafe { (*hints).ai_family } };
    // SAFETY: the caller promises it.
    let name = unsafe { here(node, family) };
    // SAFETY: as the caller called, but for the name.
    unsafe { next(pointer(name.as_ref()), service, hints, found) }
}

/// In place of gethostbyname(3).
///
/// # Safety
/// As gethostbyname(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gethostbyname(name: *const c_char) -> *mut hostent {
    let Some(next) = next!(c"gethostbyname": GetHost) else { return std::ptr::null_mut() };
    // SAFETY: the caller promises it.
    let name = unsafe { here(name, libc::AF_INET) };
    // SAFETY: as the caller called, but for the name.
    unsafe { next(pointer(name.as_ref())) }
}

/// In place of gethostbyname2(3).
///
/// # Safety
/// As gethostbyname2(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent {
    let Some(next) = next!(c"gethostbyname2": GetHost2) else { return std::ptr::null_mut() };
    // SAFETY: the caller promises it.
    let name = unsafe { here(name, family) };
    // SAFETY: as the caller called, but for the name.
    unsafe { next(pointer(name.as_ref()), family) }
}

/// In place of gethostbyname_r(3).
///
/// # Safety
/// As gethostbyname_r(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gethostbyname_r(
    name: *const c_char,
    host: *mut hostent,
    buffer: *mut c_char,
    length: size_t,
    found: *mut *mut hostent,
    number: *mut c_int,
) -> c_int {
    let Some(next) = next!(c"gethostbyname_r": GetHostInto) else { return libc::ENOSYS };
    // SAFETY: the caller promises it.
    let name = unsafe { here(name, libc::AF_INET) };
    // SAFETY: as the caller called, but for the name.
    unsafe { next(pointer(name.as_ref()), host, buffer, length, found, number) }
}

/// In place of gethostbyname2_r(3).
///
/// # Safety
/// As gethostbyname2_r(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gethostbyname2_r(
    name: *const c_char,
    family: c_int,
    host: *mut hostent,
    buffer: *mut c_char,
    length: size_t,
    found: *mut *mut hostent,
    number: *mut c_int,
) -> c_int {
    let Some(next) = next!(c"gethostbyname2_r": GetHost2Into) else { return libc::ENOSYS };
    // SAFETY: the caller promises it.
    let name = unsafe { here(name, family) };
    // SAFETY: as the caller called, but for the name.
    unsafe { next(pointer(name.as_ref()), family, host, buffer, length, found, number) }
}
