//! Error numbers: those of `errno.h` where there is one.

use rustix::io::Errno;
use std::io::{self, ErrorKind};

/// No daemon answers where it should be.
pub const NO_DAEMON: i32 = 10_001;

/// Texts of error numbers that are not in `errno.h`.
pub fn text(number: i32) -> Option<&'static std::ffi::CStr> {
    (number == NO_DAEMON).then_some(c"No lightlagd answers: see LIGHTLAG_SOCKS and LIGHTLAG_CONTROL")
}

/// The error of a number.
pub fn of(errno: Errno) -> io::Error {
    errno.into()
}

/// No daemon answers.
pub fn no_daemon() -> io::Error {
    io::Error::from_raw_os_error(NO_DAEMON)
}

/// The number of an error.
pub fn number(why: &io::Error) -> i32 {
    why.raw_os_error().unwrap_or_else(|| {
        match why.kind() {
            ErrorKind::UnexpectedEof => Errno::CONNRESET,
            ErrorKind::TimedOut => Errno::TIMEDOUT,
            ErrorKind::InvalidInput => Errno::INVAL,
            _ => Errno::PROTO,
        }
        .raw_os_error()
    })
}
