//! Whether a lightlagd answers at an address.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};

/// For the whole answer.
const WITHIN: Duration = Duration::from_secs(5);
/// A status has hundreds of bytes for each connection.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// An address of HTTP, as `http://127.0.0.1:9000/`.
pub fn url(what: &Path) -> Option<String> {
    let text = what.to_str()?;
    let rest = text.get(7..).filter(|_| text[..7].eq_ignore_ascii_case("http://"))?;
    Some(format!("http://{}/", rest.trim_end_matches('/')))
}

/// Asks for the status.
///
/// # Errors
/// What is wrong, in a clause.
pub fn check(url: &str) -> Result<(), String> {
    let authority = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]_".contains(c);
    if authority.is_empty() || !authority.chars().all(is_plain) {
        return Err("it is not an address".to_owned());
    }
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let at = if has_port { authority.to_owned() } else { format!("{authority}:80") };
    let answer = ask(&at, authority).map_err(|why| format!("it does not answer: {why}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the answer is not HTTP")?;
    let is_good = head.split(' ').nth(1) == Some("200");
    let status = serde_json::from_str::<serde_json::Value>(body).ok().filter(|_| is_good);
    match status.filter(|status| status["peers"].is_array() && status["version"].is_string()) {
        Some(_) => Ok(()),
        None => Err("the answer is not from a lightlagd".to_owned()),
    }
}

fn ask(at: &str, host: &str) -> std::io::Result<String> {
    let until = Instant::now() + WITHIN;
    let address = at.to_socket_addrs()?.next().ok_or(std::io::ErrorKind::NotFound)?;
    let mut stream = TcpStream::connect_timeout(&address, WITHIN)?;
    stream.set_write_timeout(Some(WITHIN))?;
    // HTTP/1.0: the answer ends with the connection, and is in one piece.
    write!(stream, "GET /status HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || answer.len() as u64 > ANSWER_BYTES_MAX {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk)? {
            0 => break,
            count => answer.extend_from_slice(&chunk[..count]),
        }
    }
    String::from_utf8(answer).map_err(|_| std::io::ErrorKind::InvalidData.into())
}
