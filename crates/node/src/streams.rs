//! Streams of TCP: connections that are made, and listeners with a thread for each connection.

use crate::Error;
use crate::places::{Newcomer, PLACES_MAX, Places};
use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const DRAIN_BYTES: usize = 64 << 10;
/// How long a listener waits for news of its threads before it looks for connections.
const WAIT: Duration = Duration::from_millis(20);
/// What a listener awaits first must have come within this time: a header, or the opening of a session.
pub const OPENING: Duration = Duration::from_secs(10);
/// A connection without a place has this time to read why.
pub const FAREWELL: Duration = Duration::from_secs(1);
/// How long it waits where the system cannot accept one.
const RETRY: Duration = Duration::from_millis(100);

/// A connection to a listener that answers within this time; `None`: as long as the system waits.
///
/// # Errors
/// What the system says; [`said`] makes a line of it.
pub fn connect(to: SocketAddr, give_up: Option<Duration>) -> io::Result<TcpStream> {
    match give_up {
        Some(most) => TcpStream::connect_timeout(&to, most),
        None => TcpStream::connect(to),
    }
}

/// Why there is no answer of `to`, in one line.
pub fn said(to: SocketAddr, why: &io::Error, give_up: Option<Duration>) -> Error {
    Error::Failed(match (why.kind(), give_up) {
        (_, Some(most)) if is_timeout(why) => {
            format!("{to}: it did not answer for {} s", most.as_secs_f64())
        }
        (io::ErrorKind::ConnectionRefused, _) => format!("{to}: no TCP listener there"),
        _ => format!("{to}: {why}"),
    })
}

/// Whether a read or write took longer than the stream waits.
pub fn is_timeout(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Lets the peer read what was written last, for `most` at most: what it sends meanwhile must not break the connection
/// before.
pub fn say_farewell(stream: &mut TcpStream, most: Duration) -> io::Result<()> {
    let (began, mut bytes) = (Instant::now(), vec![0; DRAIN_BYTES]);
    stream.shutdown(Shutdown::Write)?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(most))?;
    while began.elapsed() < most && stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
    Ok(())
}

/// A listener. The threads of its connections send news of type `T`.
pub struct Streams<T> {
    listener: TcpListener,
    places: Places,
    out: Sender<T>,
    news: Receiver<T>,
}

impl<T> Streams<T> {
    /// For [`PLACES_MAX`] connections at a time.
    ///
    /// # Errors
    /// One line.
    pub fn listen(at: SocketAddr) -> Result<Self, Error> {
        let listener = TcpListener::bind(at);
        let listener = listener.and_then(|bound| bound.set_nonblocking(true).map(|()| bound));
        let listener = listener.map_err(|why| {
            Error::Input(format!("cannot listen at {at}: {why}; name a free address of this machine"))
        })?;
        let (out, news) = channel();
        Ok(Self { listener, places: Places::new(PLACES_MAX), out, news })
    }
    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        self.listener.local_addr().map_err(|why| Error::Failed(format!("the socket: {why}")))
    }
    /// What a thread sends its news to.
    pub fn out(&self) -> Sender<T> {
        self.out.clone()
    }
    /// Hands a connection to `admit`, if one waits and there is room. Then waits a moment for news.
    pub fn turn(&mut self, admit: impl FnOnce(Newcomer)) -> Option<T> {
        match self.places.accept(&self.listener) {
            Ok(Some(newcomer)) => admit(newcomer),
            Ok(None) => {}
            // The client is gone again, or too many files are open: retry later.
            Err(_) => std::thread::sleep(RETRY),
        }
        self.news.recv_timeout(WAIT).ok()
    }
    /// The places of its connections.
    pub fn places(&self) -> &Places {
        &self.places
    }
}
