//! An engine with a socket.

use crate::clock::Clock;
use crate::socket::Socket;
use lightlag_protocols::controllers::Controller;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ltp::{Config, Content, Engine, Event, Segment, SessionId};
use lightlag_protocols::wire::ltp::auth::Key;
use lightlag_protocols::wire::ltp::{Malformed, Packet};
use std::io;
use std::net::SocketAddr;

/// Where the bytes of blocks come from and go to.
pub trait Blocks {
    /// Fills `out` with the bytes of a block of our own, from `offset` on.
    ///
    /// # Errors
    /// What the system says; it ends the station.
    fn read(&mut self, session: SessionId, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// A block of the peer, of which bytes have come, is for this client service.
    fn is_for(&mut self, _session: SessionId, _service: u64) {}
    /// These bytes of a block of the peer have come, and had not before.
    ///
    /// # Errors
    /// What the system says; it ends the station.
    fn write(&mut self, session: SessionId, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Something else has happened.
    ///
    /// # Errors
    /// What the system says; it ends the station.
    fn tell(&mut self, event: &Event) -> io::Result<()>;
}

/// What a station is beside its engine.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Where the other engine is; none: where the first segment comes from that can be believed.
    pub peer: Option<SocketAddr>,
    /// By what segments are authenticated; none: not at all.
    pub key: Option<Key>,
}

/// What came to a station and was thrown away before its engine saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// No segments.
    pub malformed: u64,
    /// Not authenticated.
    pub unauthentic: u64,
    /// From another address.
    pub strangers: u64,
}

/// An engine with a socket.
pub struct Station {
    socket: Socket,
    settings: Settings,
    engine: Engine,
    clock: Clock,
    discarded: Discarded,
    failed: Option<io::Error>,
}

/// Segments that leave before the socket is read again.
const SENDS_MOST: usize = 64;
/// Batches that are read before anything leaves.
const READS_MOST: usize = 8;
const SLEEP_MOST: Duration = Duration::from_nanos(50_000_000);

impl Station {
    /// An engine at a socket. Extensions are accounted for here.
    pub fn new(socket: Socket, config: Config, controller: Box<dyn Controller>, settings: Settings) -> Self {
        let extensions = settings.key.as_ref().map_or(0, Key::overhead);
        let engine = Engine::new(Config { extensions, ..config }, controller);
        let (clock, discarded) = (Clock::start(), Discarded::default());
        Self { socket, settings, engine, clock, discarded, failed: None }
    }
    /// Its engine, to send and to cancel blocks.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }
    /// Its time.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }
    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.address()
    }
    /// What it has thrown away.
    pub fn discarded(&self) -> Discarded {
        self.discarded
    }
    /// Sends and receives until `goes_on` says false; it is asked twenty times a second at least.
    ///
    /// # Errors
    /// What the system, or `blocks`, says.
    pub fn run(
        &mut self,
        blocks: &mut dyn Blocks,
        goes_on: &mut dyn FnMut(&mut Engine) -> bool,
    ) -> io::Result<()> {
        while goes_on(&mut self.engine) {
            for _ in 0..READS_MOST {
                if self.receive(blocks)? == 0 {
                    break;
                }
            }
            let more = self.send(blocks)?;
            let due = if more { None } else { self.engine.deadline().or(Some(Instant::MAX)) };
            let Some(due) = due else { continue };
            let span = due.min(self.now() + SLEEP_MOST) - self.now();
            if span > Duration::ZERO {
                self.socket.wait(span)?;
            }
        }
        Ok(())
    }
    fn receive(&mut self, blocks: &mut dyn Blocks) -> io::Result<usize> {
        let Self { socket, settings, engine, clock, discarded, failed } = self;
        let count = socket.receive(clock, |from, bytes, at| {
            for segment in segments(bytes) {
                let Ok((packet, bytes)) = segment else {
                    discarded.malformed += 1;
                    continue;
                };
                if settings.key.as_ref().is_some_and(|key| key.check(&packet, bytes).is_err()) {
                    discarded.unauthentic += 1;
                    continue;
                }
                if settings.peer.is_some_and(|peer| peer != from) {
                    discarded.strangers += 1;
                    continue;
                }
                // What the engine refuses it counts; only a segment that it takes names the peer.
                if engine.receive(at, &packet.segment).is_ok() {
                    settings.peer.get_or_insert(from);
                }
                if let Err(why) = tell(engine, blocks, &packet) {
                    failed.get_or_insert(why);
                }
            }
        })?;
        match self.failed.take() {
            Some(why) => Err(why),
            None => Ok(count),
        }
    }
    /// Sends what may leave now; tells whether there is more.
    fn send(&mut self, blocks: &mut dyn Blocks) -> io::Result<bool> {
        let Some(peer) = self.settings.peer else { return Ok(false) };
        let nothing = Packet::new(EMPTY, &[]);
        for _ in 0..SENDS_MOST {
            let Some(segment) = self.engine.poll(self.clock.now()) else {
                self.socket.flush()?;
                tell(&mut self.engine, blocks, &nothing)?;
                return Ok(false);
            };
            let mut read = Ok(());
            let key = self.settings.key.as_ref();
            self.socket.push(peer, |out| read = write(blocks, segment, key, out))?;
            read?;
            tell(&mut self.engine, blocks, &nothing)?;
        }
        self.socket.flush()?;
        Ok(true)
    }
}

/// The segments of a datagram, each with its bytes, up to the first that is none.
pub(crate) fn segments(datagram: &[u8]) -> impl Iterator<Item = Result<(Packet<'_>, &[u8]), Malformed>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let bytes = std::mem::take(&mut rest);
        if bytes.is_empty() {
            return None;
        }
        Some(Packet::read_first(bytes).map(|(packet, taken)| {
            let (one, others) = bytes.split_at(taken);
            rest = others;
            (packet, one)
        }))
    })
}

/// Carries no data.
pub(crate) const EMPTY: Segment =
    Segment { session: SessionId { originator: 0, number: 0 }, content: Content::ReportAck(1) };

/// Appends a segment with its data.
pub(crate) fn write(
    blocks: &mut dyn Blocks,
    segment: Segment,
    key: Option<&Key>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let Some(key) = key else {
        segment.write_head(out);
        return append(blocks, &segment, out);
    };
    let mut data = Vec::new();
    append(blocks, &segment, &mut data)?;
    key.seal(&Packet::new(segment, &data), out);
    Ok(())
}

fn append(blocks: &mut dyn Blocks, segment: &Segment, out: &mut Vec<u8>) -> io::Result<()> {
    let Content::Data(data) = segment.content else { return Ok(()) };
    let start = out.len();
    out.resize(start + data.length as usize, 0);
    blocks.read(segment.session, data.offset, &mut out[start..])
}

/// Hands on what the engine tells of a segment that has just come.
pub(crate) fn tell(engine: &mut Engine, blocks: &mut dyn Blocks, packet: &Packet) -> io::Result<()> {
    let start = if let Content::Data(data) = packet.segment.content { data.offset } else { 0 };
    while let Some(event) = engine.take_event() {
        match event {
            Event::Arrived { session, from, to, service, .. } => {
                blocks.is_for(session, service);
                let part = packet.data.get((from - start) as usize..(to - start) as usize);
                blocks.write(session, from, part.unwrap_or_default())?;
            }
            other => blocks.tell(&other)?,
        }
    }
    Ok(())
}
