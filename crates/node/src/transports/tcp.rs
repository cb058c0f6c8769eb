//! Files over the kernel's TCP: header and file one way, the receipt the other.

use super::header::{RECEIPT_MOST, Receipt};
use super::incoming::{Inbox, Incoming};
use super::message::Message;
use super::{Carrier, Counted, Error, Event, Listening, Progress, Sending, Sent, stopped};
use crate::clock::of_std;
use crate::places::{Newcomer, PLACES_MAX, Place};
use crate::refusals::Refusals;
use crate::socket::wait_any;
use crate::streams::{self, FAREWELL, OPENING, Streams, connect, is_timeout, said, say_farewell};
use rustix::event::{PollFd, PollFlags};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// What is read or written at once.
const CHUNK: usize = 256 << 10;
const TICK: Duration = Duration::from_millis(100);
/// A transfer without data for this time is given up.
const IDLE_MOST: Duration = Duration::from_secs(600);
/// Time for a sender to read its receipt.
const DRAIN_MOST: Duration = Duration::from_secs(5);

/// The kernel's TCP.
pub struct Tcp;

impl Carrier for Tcp {
    fn send(&self, sending: Sending, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error> {
        let message = Message::load(&sending.payload, watch)?;
        let sent = Sent::of(&message);
        let began = Instant::now();
        let give_up = sending.options.give_up.map(crate::clock::to_std);
        let to = sending.options.to;
        let failed = |why: io::Error| said(to, &why, give_up);
        let stream = connect(to, give_up).and_then(|stream| {
            stream.set_read_timeout(give_up)?;
            stream.set_write_timeout(give_up)?;
            Ok(stream)
        });
        let stream = stream.map_err(failed)?;
        let receipt = Giving { stream, message, at: 0, give_up, failed: &failed }.run(watch)?;
        conclude(&receipt, sent, began)
    }
    fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        serve(Streams::listen(listening.options.at)?, &listening, watch)
    }
}

// --- sending --------------------------------------------------------------------------------

/// A message that is being written to a stream.
struct Giving<'a> {
    stream: TcpStream,
    message: Message,
    /// Bytes of it that the kernel has taken.
    at: u64,
    give_up: Option<Duration>,
    failed: &'a dyn Fn(io::Error) -> Error,
}

impl Giving<'_> {
    /// Writes all of it, or until the receiver answers; returns the bytes of its receipt.
    fn run(mut self, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Vec<u8>, Error> {
        self.stream.set_nonblocking(true).map_err(self.failed)?;
        let (mut chunk, mut given, mut told, mut moved) = (Vec::new(), 0, Instant::now(), Instant::now());
        while self.at < self.message.total() {
            if given == chunk.len() {
                given = 0;
                chunk.resize((self.message.total() - self.at).min(CHUNK as u64) as usize, 0);
                self.message.read(self.at, &mut chunk)?;
            }
            let ready = self.wait().map_err(self.failed)?;
            if ready.contains(PollFlags::IN) {
                return self.receipt().map_err(self.failed);
            }
            match self.stream.write(&chunk[given..]) {
                Ok(count) => {
                    self.at += count as u64;
                    given += count;
                    moved = Instant::now();
                }
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
                // A receipt says more than that the stream is closed.
                Err(why) => return self.receipt().map_err(|_| (self.failed)(why)),
            }
            if self.give_up.is_some_and(|most| moved.elapsed() > most) {
                return Err((self.failed)(io::ErrorKind::TimedOut.into()));
            }
            if told.elapsed() >= TICK {
                told = Instant::now();
                self.tell(watch)?;
            }
        }
        self.stream.shutdown(Shutdown::Write).map_err(self.failed)?;
        self.receipt().map_err(self.failed)
    }
    /// Until there is something to read, or room to write.
    fn wait(&self) -> io::Result<PollFlags> {
        let mut polled = [PollFd::new(&self.stream, PollFlags::IN | PollFlags::OUT)];
        wait_any(&mut polled, of_std(TICK))?;
        Ok(polled[0].revents())
    }
    fn receipt(&mut self) -> io::Result<Vec<u8>> {
        self.stream.set_nonblocking(false)?;
        let mut receipt = Vec::new();
        let read = (&mut self.stream).take(RECEIPT_MOST as u64).read_to_end(&mut receipt);
        match read {
            Err(why) if receipt.is_empty() => Err(why),
            _ => Ok(receipt),
        }
    }
    fn tell(&self, watch: &mut dyn FnMut(Progress) -> bool) -> Result<(), Error> {
        let length = self.message.length();
        let counted = Counted { bytes: self.at, ..Counted::default() };
        let goes_on =
            watch(Progress::Sending(self.at.min(length), length)) && watch(Progress::Counted(counted));
        if goes_on { Ok(()) } else { Err(stopped()) }
    }
}

fn conclude(receipt: &[u8], sent: Sent, began: Instant) -> Result<Sent, Error> {
    let receipt = Receipt::read(receipt)
        .map_err(|why| Error::Failed(format!("the other side ended it without a receipt: {why}")))?;
    match receipt.outcome {
        Ok(()) => Ok(Sent { seconds: began.elapsed().as_secs_f64(), measured: receipt.measured, ..sent }),
        Err(why) => Err(Error::Failed(format!("the receiver refused: {why}"))),
    }
}

// --- receiving ------------------------------------------------------------------------------

/// Reports of a stream's thread: an event, or the stream's number and its progress.
enum News {
    Event(Event),
    Progress(usize, Option<(u64, u64)>),
}

fn serve(
    mut streams: Streams<News>,
    listening: &Listening,
    watch: &mut dyn FnMut(Event) -> bool,
) -> Result<(), Error> {
    let mut goes_on = watch(Event::Listening(streams.address()?));
    let (mut refusals, out) = (Refusals::default(), streams.out());
    let mut under_way = std::collections::BTreeMap::new();
    let (mut count, mut ended) = (0, None);
    while goes_on && !(listening.once && ended.is_some() && !streams.places().are_active()) {
        let news = streams.turn(|newcomer| {
            count += 1;
            admit(newcomer, count, &listening.inbox, &out);
        });
        match news {
            Some(News::Event(event)) => {
                if let Some(well) = event.ends() {
                    ended.get_or_insert(well);
                }
                goes_on &= refusals.pass(event, watch);
            }
            Some(News::Progress(number, Some(progress))) => {
                under_way.insert(number, progress);
                let sum =
                    |(a, b): (u64, u64), (c, d): &(u64, u64)| (a.saturating_add(*c), b.saturating_add(*d));
                let (here, all) = under_way.values().fold((0, 0), sum);
                goes_on &= watch(Event::Progress(here, all));
            }
            Some(News::Progress(number, None)) => drop(under_way.remove(&number)),
            None => {}
        }
        if under_way.is_empty() {
            goes_on &= watch(Event::Progress(0, 0));
        }
    }
    match ended {
        Some(false) if listening.once => Err(Error::Failed("the transfer failed".to_owned())),
        _ => Ok(()),
    }
}

fn admit(newcomer: Newcomer, number: usize, inbox: &Arc<dyn Inbox>, out: &Sender<News>) {
    let Newcomer { stream, peer, place, .. } = newcomer;
    let coming = Coming { incoming: inbox.incoming(peer), number, place, out: out.clone() };
    streams::spawn(move || coming.run(stream));
}

/// A message that comes by a stream.
struct Coming {
    incoming: Box<dyn Incoming>,
    number: usize,
    place: Arc<Place>,
    out: Sender<News>,
}

impl Coming {
    fn run(mut self, stream: TcpStream) {
        if let Err(why) = self.receive(stream) {
            self.incoming.refuse(format!("the connection: {why}"));
        }
        self.tell();
        let _ = self.out.send(News::Progress(self.number, None));
    }
    /// Reports events. The send fails only if the command is ending.
    fn tell(&mut self) {
        for event in self.incoming.take_events() {
            let _ = self.out.send(News::Event(event));
        }
    }
    fn receive(&mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(TICK))?;
        let (mut bytes, mut at, mut told, mut heard) =
            (vec![0; CHUNK], 0_u64, Instant::now(), Instant::now());
        let began = heard;
        while self.incoming.receipt().is_none() && self.incoming.total() != Some(at) {
            if self.place.is_dismissed() {
                self.incoming.refuse(format!("all {PLACES_MAX} places are taken by others; try again later"));
                break;
            }
            if !self.incoming.has_begun() && began.elapsed() > OPENING {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no header of a file came"));
            }
            match stream.read(&mut bytes) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the sender ended it before it was whole",
                    ));
                }
                Ok(count) => {
                    self.incoming.write(at, &bytes[..count]);
                    self.place.add(count as u64);
                    at += count as u64;
                    heard = Instant::now();
                }
                Err(why) if is_timeout(&why) && heard.elapsed() < IDLE_MOST => self.incoming.tick(),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
            self.tell();
            if told.elapsed() >= TICK {
                told = Instant::now();
                let _ = self.out.send(News::Progress(self.number, self.incoming.progress()));
            }
        }
        self.incoming.finish();
        while self.incoming.has_begun() && self.incoming.receipt().is_none() && !self.place.is_dismissed() {
            std::thread::sleep(TICK / 4);
            self.incoming.tick();
        }
        let Some(receipt) = self.incoming.receipt() else { return Ok(()) };
        // A listener for one transfer waits until the receipt has left.
        self.place.answer();
        stream.write_all(&receipt.to_bytes())?;
        say_farewell(&mut stream, if self.place.is_dismissed() { FAREWELL } else { DRAIN_MOST })
    }
}
