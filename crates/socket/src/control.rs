//! What is asked of a daemon by its owner's socket: HTTP (RFC 9112), a request and its answer.

use crate::error;
use rustix::io::Errno;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A daemon answers at once, or something is wrong with it.
const PATIENCE: Duration = Duration::from_secs(10);
const ANSWER_MAX: u64 = 64 * 1024;

/// Sends a request, and returns the daemon's answer.
///
/// # Errors
/// [`error::NO_DAEMON`]; `EACCES` where it belongs to somebody else; `EADDRINUSE` where a name is taken; `EINVAL` where it does not
/// take what is asked for; `EPROTO` where it is of another version.
pub fn post(socket: &Path, path: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket).map_err(|why| match why.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => error::no_daemon(),
        _ => why,
    })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let head = "Host: lightlagd\r\nConnection: close\r\nContent-Length: 0";
    stream.write_all(format!("POST {path} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    stream.take(ANSWER_MAX).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(ErrorKind::InvalidData)?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        Some("409") => Err(error::of(Errno::ADDRINUSE)),
        Some("400") => Err(error::of(Errno::INVAL)),
        _ => Err(error::of(Errno::PROTO)),
    }
}

/// As a part of a query: everything but letters and digits escaped.
pub fn escaped(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}
