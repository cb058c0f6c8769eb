//! Faces over connections, TCP or Unix: packets of the link one after the other.

use super::{Dropped, FaceUri, Peer, Take, take_frame};
use crate::clock::{Clock, to_std};
use crate::places::{Place, Room, room};
use crate::socket::wait_any;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::wire::ndn::lp::FRAME_MOST;
use lightlag_protocols::wire::ndn::tlv::first_size;
use lightlag_protocols::wire::ndn::{Headers, LpPacket, Reassembler};
use rustix::event::{PollFd, PollFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// What is read from a connection at once.
const READ_BYTES: usize = 64 << 10;
/// Connections at a time; for one more the one goes that has read nothing for longest.
const CONNECTIONS_MAX: usize = 256;
/// Bytes that wait for all peers to read on.
const UNREAD_ALL: usize = 64 << 20;
/// A peer with this many unread bytes is neither answered nor read from until it reads.
const UNREAD_MOST: usize = UNREAD_ALL / CONNECTIONS_MAX;
/// Frames that are taken from a connection before others have their turn.
const FRAMES_MOST: usize = 32;
/// Where all connections are too young to go for another, when to look again.
const LOOK_AGAIN: Duration = Duration::from_nanos(100_000_000);
const CONNECT_MOST: std::time::Duration = std::time::Duration::from_secs(10);

/// A connection of either kind.
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Self::Tcp(stream) => stream,
            Self::Unix(stream) => stream,
        }
    }
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Tcp(stream) => stream,
            Self::Unix(stream) => stream,
        }
    }
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
    fn prepare(self) -> io::Result<Self> {
        match &self {
            Self::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
            }
            Self::Unix(stream) => stream.set_nonblocking(true)?,
        }
        Ok(self)
    }
}

/// Where connections come in.
enum Door {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Door {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(door) => door.as_fd(),
            Self::Unix(door, _) => door.as_fd(),
        }
    }
    fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(door) => Stream::Tcp(door.accept()?.0).prepare(),
            Self::Unix(door, _) => Stream::Unix(door.accept()?.0).prepare(),
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // What is gone already need not go.
            let _ = std::fs::remove_file(path);
        }
    }
}

struct Connection {
    stream: Stream,
    reassembler: Reassembler,
    /// What was read and not taken yet.
    input: Vec<u8>,
    /// There is a whole frame in it.
    has_frame: bool,
    output: Vec<u8>,
    broken: bool,
    /// It keeps its place while its peer reads what it asked for.
    place: Place,
}

/// Connections, and where they come from.
pub struct Streams {
    door: Option<Door>,
    connections: BTreeMap<u64, Connection>,
    next: u64,
    /// Connections from which no more is taken now.
    held: BTreeSet<u64>,
    buffer: Vec<u8>,
    dropped: Dropped,
    /// The system had no room for another connection: the door is not looked at before this.
    closed_until: Option<std::time::Instant>,
}

impl Streams {
    /// Towards one peer.
    pub fn connect(to: &FaceUri) -> io::Result<(Self, Peer)> {
        let stream = match to {
            FaceUri::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
            FaceUri::Tcp(at) | FaceUri::Udp(at) => Stream::Tcp(TcpStream::connect_timeout(at, CONNECT_MOST)?),
        };
        let mut streams = Self::new(None);
        let number = streams.add(stream.prepare()?);
        Ok((streams, Peer::Connection(number)))
    }
    /// Open for all.
    pub fn listen(at: &FaceUri) -> io::Result<Self> {
        let door = match at {
            FaceUri::Unix(path) => {
                remove_stale(path)?;
                let door = UnixListener::bind(path)?;
                door.set_nonblocking(true)?;
                Door::Unix(door, path.clone())
            }
            FaceUri::Tcp(at) | FaceUri::Udp(at) => {
                let door = TcpListener::bind(at)?;
                door.set_nonblocking(true)?;
                Door::Tcp(door)
            }
        };
        Ok(Self::new(Some(door)))
    }
    fn new(door: Option<Door>) -> Self {
        let (connections, buffer) = (BTreeMap::new(), vec![0; READ_BYTES]);
        let (held, dropped) = (BTreeSet::new(), Dropped::default());
        Self { door, connections, next: 0, held, buffer, dropped, closed_until: None }
    }
    fn add(&mut self, stream: Stream) -> u64 {
        let connection = Connection {
            stream,
            reassembler: Reassembler::default(),
            input: Vec::new(),
            has_frame: false,
            output: Vec::new(),
            broken: false,
            place: Place::default(),
        };
        self.connections.insert(self.next, connection);
        self.next += 1;
        self.next - 1
    }
    /// Where it listens.
    pub fn address(&self) -> io::Result<Option<FaceUri>> {
        match &self.door {
            None => Ok(None),
            Some(Door::Tcp(door)) => door.local_addr().map(|at: SocketAddr| Some(FaceUri::Tcp(at))),
            Some(Door::Unix(_, path)) => Ok(Some(FaceUri::Unix(path.clone()))),
        }
    }
    /// See [`super::Faces::receive`].
    pub fn receive(&mut self, clock: &Clock, take: &mut Take) -> io::Result<usize> {
        let mut came = self.accept();
        let Self { connections, held, buffer, dropped, .. } = self;
        for (number, connection) in connections.iter_mut() {
            if connection.has_room() && !held.contains(number) {
                came += connection.receive(buffer, clock.now(), Peer::Connection(*number), dropped, take);
            }
        }
        self.close_broken().map(|()| came)
    }
    fn accept(&mut self) -> usize {
        let mut came = 0;
        while let Some((door, dropped)) = self.door.as_ref().zip(self.room()) {
            let stream = match door.accept() {
                Ok(stream) => stream,
                Err(why) if is_full(&why) => {
                    // A waiting connection would wake the loop again at once.
                    self.closed_until = Some(std::time::Instant::now() + to_std(LOOK_AGAIN));
                    self.drop_idle();
                    break;
                }
                Err(_) => break,
            };
            came += 1;
            if let Some(number) = dropped {
                self.connections.remove(&number);
            }
            self.add(stream);
        }
        came
    }
    /// Closes the connection that is idle longest, so that there is a descriptor for another.
    fn drop_idle(&mut self) {
        let standings = self.connections.values().map(|connection| connection.place.standing());
        if let Room::Drop(at) = room(0, standings) {
            let number = self.connections.keys().nth(at).copied();
            number.and_then(|number| self.connections.remove(&number));
        }
    }
    /// Whether one more connection can be accepted, and which goes for it, if any. Others wait at the door.
    fn room(&self) -> Option<Option<u64>> {
        if self.closed_until.is_some_and(|until| std::time::Instant::now() < until) {
            return None;
        }
        if self.connections.len() < CONNECTIONS_MAX {
            return Some(None);
        }
        let places = self.connections.values().map(|connection| connection.place.standing());
        match room(CONNECTIONS_MAX, places) {
            Room::Free => Some(None),
            Room::Drop(at) => self.connections.keys().nth(at).map(|number| Some(*number)),
            Room::Wait | Room::Full => None,
        }
    }
    /// Of a listener, peers come and go; the one peer of another must stay.
    fn close_broken(&mut self) -> io::Result<()> {
        let dropped = &mut self.dropped;
        self.connections.retain(|_, connection| {
            dropped.incomplete += if connection.broken { connection.reassembler.dropped() } else { 0 };
            !connection.broken
        });
        if self.door.is_none() && self.connections.is_empty() {
            return Err(io::Error::new(ErrorKind::ConnectionAborted, "the other side closed it"));
        }
        Ok(())
    }
    /// See [`super::Faces::send`].
    pub fn send(&mut self, to: u64, headers: Headers, packet: &[u8]) {
        if let Some(connection) = self.connections.get_mut(&to) {
            LpPacket { headers, part: None, payload: packet }.write(&mut connection.output);
        }
    }
    /// See [`super::Faces::flush`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.connections.values_mut().for_each(Connection::flush);
        self.close_broken()
    }
    /// See [`super::Faces::has_room`]. What is for a connection that is gone needs none.
    pub fn has_room(&self, to: u64) -> bool {
        self.connections.get(&to).is_none_or(Connection::has_room)
    }
    /// See [`super::Faces::hold`].
    pub fn hold(&mut self, peers: impl Iterator<Item = Peer>) {
        let number = |peer| if let Peer::Connection(number) = peer { Some(number) } else { None };
        self.held = peers.filter_map(number).collect();
    }
    /// See [`super::Faces::wait`].
    pub fn wait(&self, span: Duration) -> io::Result<()> {
        let is_open_to = |number: &u64, each: &Connection| each.has_room() && !self.held.contains(number);
        if self.connections.iter().any(|(number, each)| each.has_frame && is_open_to(number, each)) {
            return Ok(());
        }
        let wants = |(number, connection): (&u64, &Connection)| {
            let mut wants = PollFlags::empty();
            wants.set(PollFlags::IN, is_open_to(number, connection));
            wants.set(PollFlags::OUT, !connection.output.is_empty());
            wants
        };
        // While no connection can be accepted, a waiting one must not wake the loop.
        let is_open = self.room().is_some();
        let door = self.door.iter().filter(|_| is_open);
        let door = door.map(|door| PollFd::from_borrowed_fd(door.fd(), PollFlags::IN));
        // The end of a connection of which nothing is wanted now would wake the loop again and again.
        let connections = self.connections.iter().filter(|each| !wants(*each).is_empty());
        let others = connections.map(|each| PollFd::from_borrowed_fd(each.1.stream.fd(), wants(each)));
        let mut all: Vec<PollFd> = door.chain(others).collect();
        wait_any(&mut all, if is_open { span } else { span.min(LOOK_AGAIN) })
    }
    /// See [`super::Faces::dropped`].
    pub fn dropped(&self) -> Dropped {
        let given_up: u64 = self.connections.values().map(|each| each.reassembler.dropped()).sum();
        Dropped { incomplete: self.dropped.incomplete + given_up, ..self.dropped }
    }
}

impl Connection {
    /// Whether its peer reads what it has asked for.
    fn has_room(&self) -> bool {
        self.output.len() < UNREAD_MOST && !self.broken
    }
    /// Reads once, unless there is a whole frame, and hands over what is whole.
    fn receive(
        &mut self,
        buffer: &mut [u8],
        now: Instant,
        peer: Peer,
        dropped: &mut Dropped,
        take: &mut Take,
    ) -> usize {
        let mut input = std::mem::take(&mut self.input);
        if !self.has_frame {
            match self.stream.reader().read(buffer) {
                Ok(count) if count > 0 => input.extend_from_slice(&buffer[..count]),
                Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    self.input = input;
                    return 0;
                }
                Ok(_) | Err(_) => {
                    self.broken = true;
                    return 0;
                }
            }
        }
        self.has_frame = false;
        let (mut start, mut count) = (0, 0);
        while let Some(size) = self.frame_size(&input[start..], dropped) {
            if count == FRAMES_MOST {
                self.has_frame = true;
                break;
            }
            let frame = &input[start..start + size];
            start += size;
            count += 1;
            take_frame(&mut self.reassembler, dropped, frame, |headers, packet| {
                take(peer, headers, packet, now);
            });
        }
        input.drain(..start);
        self.input = input;
        // Bytes that make no whole frame count too.
        count.max(1)
    }
    /// Bytes of the first frame, if it is whole. After what cannot be a frame nothing can be found again.
    fn frame_size(&mut self, stream: &[u8], dropped: &mut Dropped) -> Option<usize> {
        match first_size(stream) {
            Ok(None) => None,
            Ok(Some(size)) if size <= FRAME_MOST as u64 => {
                Some(size as usize).filter(|size| *size <= stream.len())
            }
            _ => {
                dropped.malformed += 1;
                self.broken = true;
                None
            }
        }
    }
    fn flush(&mut self) {
        let mut written = 0;
        while written < self.output.len() && !self.broken {
            match self.stream.writer().write(&self.output[written..]) {
                Ok(count) => {
                    written += count;
                    self.place.add(count as u64);
                }
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => {
                    self.broken |= why.kind() != ErrorKind::WouldBlock;
                    break;
                }
            }
        }
        self.output.drain(..written);
    }
}

/// Whether there are no descriptors, or no memory for one, now.
fn is_full(why: &io::Error) -> bool {
    use rustix::io::Errno;
    let full = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    full.iter().any(|errno| why.raw_os_error() == Some(errno.raw_os_error()))
}

/// Removes a socket file without a listener: it would prevent a new one.
fn remove_stale(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let is_stale =
        is_socket && UnixStream::connect(path).is_err_and(|why| why.kind() == ErrorKind::ConnectionRefused);
    if is_stale { std::fs::remove_file(path) } else { Ok(()) }
}
