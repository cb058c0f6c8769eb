//! Serves a page and its data on this machine: files of a list, to browsers of this machine.
//!
//! HTTP/1.1 with one request a connection, parsed by [`httparse`], which hyper uses too. A request must name this machine in `Host`: a
//! page of another site whose name leads here (DNS rebinding) is refused.

use super::{SOURCES_FILE, Source, compressed, html, policy, sources_json};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Headers of a request.
const HEADERS_MAX: usize = 100;
/// A request must be complete within this time.
const REQUEST_WITHIN: Duration = Duration::from_secs(10);
/// A client that takes nothing for this time is closed.
const WRITE_WITHIN: Duration = Duration::from_secs(60);
/// Connections at a time; a browser opens six.
const CONNECTIONS_MAX: usize = 64;

/// What is served: the page, its sources, and files.
#[derive(Debug, Default)]
pub struct Site {
    sources: String,
    files: Vec<(String, PathBuf)>,
}

impl Site {
    /// The page with these sources, and files by the names that the sources have for them. A name has no slash.
    pub fn new(sources: &[Source], files: Vec<(String, PathBuf)>) -> Self {
        Self { sources: sources_json(sources), files }
    }
    /// Serves it for as long as the program runs. `listener` listens on this machine only.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn serve(self, listener: &TcpListener) -> io::Result<()> {
        let (site, port) = (Arc::new(self), listener.local_addr()?.port());
        let open = Arc::new(AtomicUsize::new(0));
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // No descriptor is left: some connection will end.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if open.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS_MAX {
                open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (site, open) = (site.clone(), open.clone());
            std::thread::spawn(move || {
                // A client that goes is no fault of the page.
                let _ = site.answer(stream, port);
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
        Ok(())
    }
    fn answer(&self, mut stream: TcpStream, port: u16) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITE_WITHIN))?;
        let answer = match read_request(&mut stream) {
            Ok(Some(request)) => self.answer_to(&request, port),
            Ok(None) => Answer::line(400, "the request is not HTTP/1.1, or its head is larger than 16 KiB"),
            Err(error) => return Err(error),
        };
        answer.send(&mut stream)?;
        stream.shutdown(Shutdown::Write)?;
        // What the client still sends must not reset the connection before it has read the answer.
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        io::copy(&mut stream.take(HEAD_BYTES_MAX as u64), &mut io::sink()).map(drop)
    }
    fn answer_to(&self, request: &Request, port: u16) -> Answer {
        if !is_this_machine(&request.host, port) {
            return Answer::line(403, "ask by 127.0.0.1 or localhost");
        }
        if !["GET", "HEAD"].contains(&request.method.as_str()) {
            return Answer::line(405, "only GET and HEAD");
        }
        let name = request.path.split(['?', '#']).next().unwrap_or_default();
        let answer = match name.strip_prefix('/') {
            Some("") if request.gzip => Answer::bytes("text/html; charset=utf-8", compressed()).compressed(),
            Some("") => Answer::bytes("text/html; charset=utf-8", html().as_bytes()),
            Some(SOURCES_FILE) => Answer::bytes("application/json", self.sources.as_bytes()),
            Some(name) => match self.files.iter().find(|(known, _)| known == name) {
                Some((_, path)) => Answer::file(path, request.range.as_deref()),
                None => Answer::line(404, "not found"),
            },
            None => Answer::line(404, "not found"),
        };
        Answer { head_only: request.method == "HEAD", ..answer }
    }
}

/// Listens on this machine, on a port of one's choice or (0) a free one.
///
/// # Errors
/// The port is taken or not allowed.
pub fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// Whether a request names this machine.
fn is_this_machine(host: &str, port: u16) -> bool {
    let (name, given) = match host.rsplit_once(':') {
        Some((name, number)) if !number.contains(']') => (name, number.parse().ok()),
        _ => (host, Some(80)),
    };
    given == Some(port)
        && ["127.0.0.1", "localhost", "[::1]"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    method: String,
    path: String,
    host: String,
    range: Option<String>,
    gzip: bool,
}

/// `None`: it is no request.
fn read_request(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let until = Instant::now() + REQUEST_WITHIN;
    let (mut head, mut chunk) = (Vec::new(), [0; 2048]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => head.extend_from_slice(&chunk[..count]),
        }
        match parsed(&head) {
            Parsed::Whole(request) => return Ok(Some(request)),
            Parsed::Partly if head.len() <= HEAD_BYTES_MAX => {}
            Parsed::Partly | Parsed::Wrong => return Ok(None),
        }
    }
}

enum Parsed {
    Whole(Request),
    Partly,
    Wrong,
}

fn parsed(head: &[u8]) -> Parsed {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut found = httparse::Request::new(&mut headers);
    match found.parse(head) {
        Ok(status) if status.is_partial() => return Parsed::Partly,
        Ok(_) => {}
        Err(_) => return Parsed::Wrong,
    }
    let all = |name: &str| {
        let of = |header: &httparse::Header<'_>| String::from_utf8_lossy(header.value).trim().to_owned();
        let named = found.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        named.map(of).collect::<Vec<_>>()
    };
    // Two hosts are refused as well.
    let host = <[String; 1]>::try_from(all("host")).map(|[host]| host).unwrap_or_default();
    let codings = all("accept-encoding").join(",");
    let accepts = |coding: &str| {
        let mut parts = coding.split(';').map(str::trim);
        parts.next() == Some("gzip")
            && !parts.any(|part| part.replace(' ', "").trim_end_matches(['0', '.']) == "q=")
    };
    Parsed::Whole(Request {
        method: found.method.unwrap_or_default().to_owned(),
        path: found.path.unwrap_or_default().to_owned(),
        host,
        range: all("range").into_iter().next(),
        gzip: codings.split(',').any(|coding| accepts(coding.trim())),
    })
}

/// What is sent back.
struct Answer {
    status: u16,
    kind: &'static str,
    body: Body,
    headers: Vec<String>,
    head_only: bool,
}

enum Body {
    Bytes(Vec<u8>),
    /// A part of a file: how many bytes from where it stands.
    File(File, u64),
}

impl Answer {
    fn bytes(kind: &'static str, bytes: &[u8]) -> Self {
        Self { status: 200, kind, body: Body::Bytes(bytes.to_vec()), headers: Vec::new(), head_only: false }
    }
    fn line(status: u16, line: &str) -> Self {
        Self { status, ..Self::bytes("text/plain; charset=utf-8", format!("{line}\n").as_bytes()) }
    }
    fn compressed(mut self) -> Self {
        self.headers.push("Content-Encoding: gzip".to_owned());
        self
    }
    /// A file, or the part of it that is asked for.
    fn file(path: &PathBuf, range: Option<&str>) -> Self {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let Ok((length, mut file)) = opened else { return Self::line(404, "the file is gone") };
        let range = range.and_then(|text| part(text, length));
        let (from, count) = match range {
            Some(Err(())) => {
                let mut refused = Self::line(416, "the file has no such part");
                refused.headers.push(format!("Content-Range: bytes */{length}"));
                return refused;
            }
            Some(Ok(part)) => part,
            None => (0, length),
        };
        if file.seek(SeekFrom::Start(from)).is_err() {
            return Self::line(404, "the file cannot be read");
        }
        let mut headers = vec!["Accept-Ranges: bytes".to_owned()];
        if range.is_some() {
            headers.push(format!("Content-Range: bytes {from}-{}/{length}", from + count - 1));
        }
        let status = if range.is_some() { 206 } else { 200 };
        Self {
            status,
            kind: "application/octet-stream",
            body: Body::File(file, count),
            headers,
            head_only: false,
        }
    }
    fn send(self, stream: &mut TcpStream) -> io::Result<()> {
        let reason = match self.status {
            200 => "OK",
            206 => "Partial Content",
            400 => "Bad Request",
            403 => "Forbidden",
            405 => "Method Not Allowed",
            416 => "Range Not Satisfiable",
            _ => "Not Found",
        };
        let length = match &self.body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::File(_, count) => *count,
        };
        let mut head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {length}\r\n",
            self.status, self.kind
        );
        let fixed = [
            "Connection: close".to_owned(),
            "Cache-Control: no-store".to_owned(),
            "Vary: Accept-Encoding".to_owned(),
            "X-Content-Type-Options: nosniff".to_owned(),
            "Referrer-Policy: no-referrer".to_owned(),
            "Cross-Origin-Resource-Policy: same-origin".to_owned(),
            format!("Content-Security-Policy: {}", policy()),
        ];
        fixed.iter().chain(&self.headers).for_each(|header| head += &format!("{header}\r\n"));
        stream.write_all((head + "\r\n").as_bytes())?;
        if self.head_only {
            return Ok(());
        }
        match self.body {
            Body::Bytes(bytes) => stream.write_all(&bytes),
            Body::File(file, count) => io::copy(&mut file.take(count), stream).map(drop),
        }
    }
}

/// Where a part of a file begins, and how many bytes it has (RFC 9110, section 14.2). `None`: the whole file, as for several parts,
/// or for what is not a range.
fn part(text: &str, length: u64) -> Option<Result<(u64, u64), ()>> {
    let (first, last) = text.strip_prefix("bytes=").filter(|range| !range.contains(','))?.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());
    let number = |text: &str| text.parse::<u64>().ok();
    let (from, to) = match (first.is_empty(), last.is_empty()) {
        (true, true) => return None,
        (true, false) => (length.saturating_sub(number(last)?), length),
        (false, true) => (number(first)?, length),
        (false, false) => (number(first)?, number(last)?.saturating_add(1)),
    };
    if !first.is_empty() && !last.is_empty() && to <= from {
        return None;
    }
    let to = to.min(length);
    Some(if from < to { Ok((from, to - from)) } else { Err(()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_file_are_those_of_the_rfc() {
        for (text, wanted) in [
            ("bytes=0-0", Some(Ok((0, 1)))),
            ("bytes=2-", Some(Ok((2, 8)))),
            ("bytes=-3", Some(Ok((7, 3)))),
            ("bytes=-30", Some(Ok((0, 10)))),
            ("bytes=5-100", Some(Ok((5, 5)))),
            ("bytes=10-", Some(Err(()))),
            ("bytes=-0", Some(Err(()))),
            ("bytes=3-2", None),
            ("bytes=0-1,3-4", None),
            ("bytes=-", None),
            ("lines=0-1", None),
            ("bytes=99999999999999999999-", None),
        ] {
            assert_eq!(part(text, 10), wanted, "{text}");
        }
    }

    #[test]
    fn only_names_of_this_machine_with_its_port_are_answered() {
        for host in ["127.0.0.1:81", "LOCALHOST:81", "[::1]:81"] {
            assert!(is_this_machine(host, 81), "{host}");
        }
        for host in [
            "",
            "evil.example:81",
            "127.0.0.1",
            "127.0.0.1:82",
            "127.0.0.1.evil.example:81",
            "localhost:81:81",
            "[::1]",
        ] {
            assert!(!is_this_machine(host, 81), "{host}");
        }
        assert!(is_this_machine("localhost", 80));
    }
}
