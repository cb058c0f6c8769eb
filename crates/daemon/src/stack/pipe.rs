//! TLS over a socket, in large steps: a system call, and a wakeup of the other side, cost as much as thousands of bytes.

use rustls::Connection;
use std::cell::RefCell;
use std::io::{self, BufRead, ErrorKind, IoSlice, Write};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

/// Bytes that are read from the socket at once.
pub const READ: usize = 256 * 1024;

thread_local! {
    /// What was read last. It is empty whenever anybody waits, so one does for all.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

/// Both directions of a stream on which both sides have shown their keys.
pub struct Pipe {
    socket: TcpStream,
    tls: RefCell<Connection>,
}

impl Pipe {
    /// Continues after the handshake.
    pub fn new(stream: TlsStream<TcpStream>) -> Self {
        let (socket, mut tls) = match stream {
            TlsStream::Client(stream) => {
                let (socket, tls) = stream.into_inner();
                (socket, Connection::Client(tls))
            }
            TlsStream::Server(stream) => {
                let (socket, tls) = stream.into_inner();
                (socket, Connection::Server(tls))
            }
        };
        // A sender waits for [`Pipe::flush`].
        tls.set_buffer_limit(None);
        Self { socket, tls: RefCell::new(tls) }
    }
    /// Whether more data follow soon: then only full segments are sent.
    pub fn expect_more(&self, more: bool) {
        // Where the kernel does not know it, some leave that are not.
        let _ = socket2::SockRef::from(&self.socket).set_tcp_cork(more);
    }
    /// These bytes leave with the next [`Pipe::flush`].
    ///
    /// # Errors
    /// TLS has failed.
    pub fn send(&self, plain: &[u8]) -> io::Result<()> {
        self.tls.borrow_mut().writer().write_all(plain)
    }
    /// Waits until the kernel has all that was sent.
    ///
    /// # Errors
    /// The socket's.
    pub async fn flush(&self) -> io::Result<()> {
        while self.tls.borrow().wants_write() {
            let written = self.tls.borrow_mut().write_tls(&mut Unblocked(&self.socket));
            match written {
                Err(why) if why.kind() == ErrorKind::WouldBlock => self.socket.writable().await?,
                written => drop(written?),
            }
        }
        Ok(())
    }
    /// Waits for bytes from the other side, and appends them.
    ///
    /// # Errors
    /// The stream has ended, or its bytes are not what was sent.
    pub async fn receive(&self, plain: &mut Vec<u8>) -> io::Result<()> {
        let before = plain.len();
        // Some may have come with the handshake.
        self.open(&[], plain)?;
        while plain.len() == before {
            self.socket.readable().await?;
            match self.read(plain) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(why) if why.kind() != ErrorKind::WouldBlock => return Err(why),
                _ => {}
            }
        }
        Ok(())
    }
    fn read(&self, plain: &mut Vec<u8>) -> io::Result<usize> {
        BUFFER.with_borrow_mut(|buffer| {
            let read = self.socket.try_read(buffer)?;
            self.open(&buffer[..read], plain)?;
            Ok(read)
        })
    }
    fn open(&self, mut sealed: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
        let mut tls = self.tls.borrow_mut();
        loop {
            let state = tls.process_new_packets().map_err(|why| {
                // Sends a TLS alert to the other side, if possible.
                let _ = tls.write_tls(&mut Unblocked(&self.socket));
                io::Error::new(ErrorKind::InvalidData, why)
            })?;
            let mut left = state.plaintext_bytes_to_read();
            while left > 0 {
                let mut reader = tls.reader();
                let chunk = reader.fill_buf()?;
                plain.extend_from_slice(chunk);
                let length = chunk.len();
                reader.consume(length);
                left -= length;
            }
            if state.peer_has_closed() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if sealed.is_empty() {
                return Ok(());
            }
            tls.read_tls(&mut sealed)?;
        }
    }
}

/// A socket that is written to as far as it can be at once.
struct Unblocked<'a>(&'a TcpStream);

impl Write for Unblocked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }
    fn write_vectored(&mut self, parts: &[IoSlice]) -> io::Result<usize> {
        self.0.try_write_vectored(parts)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
