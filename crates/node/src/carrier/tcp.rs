//! Files over the kernel's TCP: header and file one way, the receipt the other.

use super::header::{RECEIPT_MOST, Receipt};
use super::landing::{Inbox, Landing};
use super::parcel::Parcel;
use super::{Carrier, Error, Event, Listening, Progress, Sending, Sent};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// What is read or written at once.
const CHUNK: usize = 256 << 10;
const TICK: Duration = Duration::from_millis(100);
/// Transfers at a time.
const STREAMS_MAX: usize = 64;
/// A stranger who says nothing for so long is sent away.
const IDLE_MOST: Duration = Duration::from_secs(600);
/// Whoever was refused may take so long to notice.
const DRAIN_MOST: Duration = Duration::from_secs(5);

/// The kernel's TCP.
pub struct Tcp;

impl Carrier for Tcp {
    fn send(&self, sending: Sending, watch: &mut dyn FnMut(Progress)) -> Result<Sent, Error> {
        let mut parcel = Parcel::open(&sending.file, watch)?;
        let sent = Sent::of(&parcel);
        let began = Instant::now();
        let give_up = sending.give_up.map(crate::clock::to_std);
        let failed = |why: io::Error| Error::Failed(format!("{}: {}", sending.to, said(&why, give_up)));
        let mut stream = connect(sending.to, give_up).map_err(failed)?;
        if let Some(receipt) = give(&mut stream, &mut parcel, &failed, watch)? {
            return conclude(&receipt, sent, began);
        }
        stream.shutdown(Shutdown::Write).map_err(failed)?;
        let mut bytes = Vec::new();
        (&mut stream).take(RECEIPT_MOST as u64).read_to_end(&mut bytes).map_err(failed)?;
        conclude(&bytes, sent, began)
    }
    fn listen(&self, listening: Listening, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let at = listening.at;
        let cannot =
            |why| Error::Input(format!("cannot listen at {at}: {why}; name a free address of this machine"));
        let listener = TcpListener::bind(at).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        serve(&listener, &listening, watch)
    }
}

// --- sending --------------------------------------------------------------------------------

fn connect(to: SocketAddr, give_up: Option<Duration>) -> io::Result<TcpStream> {
    let stream = match give_up {
        Some(most) => TcpStream::connect_timeout(&to, most)?,
        None => TcpStream::connect(to)?,
    };
    stream.set_read_timeout(give_up)?;
    stream.set_write_timeout(give_up)?;
    Ok(stream)
}

fn said(why: &io::Error, give_up: Option<Duration>) -> String {
    match (why.kind(), give_up) {
        (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, Some(most)) => {
            format!("it did not answer for {} s", most.as_secs_f64())
        }
        (io::ErrorKind::ConnectionRefused, _) => "nobody listens there, --over tcp".to_owned(),
        _ => why.to_string(),
    }
}

/// Gives the parcel; a receipt that comes before its end stops it.
fn give(
    stream: &mut TcpStream,
    parcel: &mut Parcel,
    failed: &dyn Fn(io::Error) -> Error,
    watch: &mut dyn FnMut(Progress),
) -> Result<Option<Vec<u8>>, Error> {
    let (mut at, mut told, mut bytes) = (0, Instant::now(), vec![0; CHUNK]);
    while at < parcel.total() {
        let count = (parcel.total() - at).min(CHUNK as u64) as usize;
        parcel.read(at, &mut bytes[..count])?;
        let written = if has_answer(stream) {
            Err(io::ErrorKind::BrokenPipe.into())
        } else {
            stream.write_all(&bytes[..count])
        };
        if let Err(why) = written {
            let mut receipt = Vec::new();
            let read = (&mut *stream).take(RECEIPT_MOST as u64).read_to_end(&mut receipt);
            return match read {
                _ if !receipt.is_empty() => Ok(Some(receipt)),
                _ => Err(failed(why)),
            };
        }
        at += count as u64;
        if told.elapsed() >= TICK {
            told = Instant::now();
            watch(Progress::Sending(at.min(parcel.length()), parcel.length()));
        }
    }
    Ok(None)
}

fn has_answer(stream: &TcpStream) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(stream, PollFlags::IN)], Some(&now)).is_ok_and(|count| count > 0)
}

fn conclude(receipt: &[u8], sent: Sent, began: Instant) -> Result<Sent, Error> {
    let receipt = Receipt::read(receipt)
        .map_err(|why| Error::Failed(format!("the other side ended it without a receipt: {why}")))?;
    match receipt.outcome {
        Ok(()) => Ok(Sent { seconds: began.elapsed().as_secs_f64(), ..sent }),
        Err(why) => Err(Error::Failed(format!("the receiver refused: {why}"))),
    }
}

// --- receiving ------------------------------------------------------------------------------

/// What a thread tells of its stream: by number, and how far it is.
enum News {
    Event(Event),
    Progress(usize, Option<(u64, u64)>),
}

fn serve(
    listener: &TcpListener,
    listening: &Listening,
    watch: &mut dyn FnMut(Event) -> bool,
) -> Result<(), Error> {
    let broken = |why: io::Error| Error::Failed(format!("the socket: {why}"));
    let at = listener.local_addr().map_err(broken)?;
    let mut goes_on = watch(Event::Listening(at));
    let (out, news) = channel();
    let open = Arc::new(AtomicUsize::new(0));
    let mut under_way = std::collections::BTreeMap::new();
    let (mut count, mut ended) = (0, None);
    while goes_on && !(listening.once && ended.is_some() && open.load(Ordering::Acquire) == 0) {
        match listener.accept() {
            Ok((stream, from)) => {
                count += 1;
                admit(stream, from, count, &listening.inbox, &out, &open);
            }
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
            // Whoever came is gone again, or there are too many files open: others come later.
            Err(_) => std::thread::sleep(TICK),
        }
        match news.recv_timeout(Duration::from_millis(20)) {
            Ok(News::Event(event)) => {
                match &event {
                    Event::Finished(_) => drop(ended.get_or_insert(true)),
                    Event::Refused(_) => drop(ended.get_or_insert(false)),
                    _ => {}
                }
                goes_on &= watch(event);
            }
            Ok(News::Progress(number, Some(progress))) => {
                under_way.insert(number, progress);
                let sum =
                    |(a, b): (u64, u64), (c, d): &(u64, u64)| (a.saturating_add(*c), b.saturating_add(*d));
                let (here, all) = under_way.values().fold((0, 0), sum);
                goes_on &= watch(Event::Progress(here, all));
            }
            Ok(News::Progress(number, None)) => drop(under_way.remove(&number)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
    match ended {
        Some(false) if listening.once => Err(Error::Failed("the transfer failed".to_owned())),
        _ => Ok(()),
    }
}

fn admit(
    stream: TcpStream,
    from: SocketAddr,
    number: usize,
    inbox: &Inbox,
    out: &Sender<News>,
    open: &Arc<AtomicUsize>,
) {
    if open.fetch_add(1, Ordering::AcqRel) >= STREAMS_MAX {
        open.fetch_sub(1, Ordering::AcqRel);
        return;
    }
    let (inbox, out, open) = (inbox.clone(), out.clone(), open.clone());
    std::thread::spawn(move || {
        let mut landing = Landing::new(inbox, from);
        if let Err(why) = receive(stream, number, &mut landing, &out) {
            landing.refuse(format!("the connection: {why}"));
        }
        landing.take_events().into_iter().for_each(|event| drop(out.send(News::Event(event))));
        let _ = out.send(News::Progress(number, None));
        open.fetch_sub(1, Ordering::AcqRel);
    });
}

fn receive(
    mut stream: TcpStream,
    number: usize,
    landing: &mut Landing,
    out: &Sender<News>,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(IDLE_MOST))?;
    let (mut bytes, mut at, mut told) = (vec![0; CHUNK], 0_u64, Instant::now());
    while landing.receipt().is_none() && landing.total() != Some(at) {
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the sender ended it before it was whole",
            ));
        }
        landing.write(at, &bytes[..count]);
        at += count as u64;
        // Nobody listens any more if the command is ending.
        landing.take_events().into_iter().for_each(|event| drop(out.send(News::Event(event))));
        if told.elapsed() >= TICK {
            told = Instant::now();
            let _ = out.send(News::Progress(number, landing.progress()));
        }
    }
    landing.finish();
    let Some(receipt) = landing.receipt() else { return Ok(()) };
    stream.write_all(&receipt.to_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    drain(&mut stream, &mut bytes)
}

/// Reads what the sender still has on the way: a connection that is closed before would take the receipt
/// with it.
fn drain(stream: &mut TcpStream, bytes: &mut [u8]) -> io::Result<()> {
    let began = Instant::now();
    stream.set_read_timeout(Some(DRAIN_MOST))?;
    while began.elapsed() < DRAIN_MOST {
        // Whatever happens now, the receipt has left.
        if !stream.read(bytes).is_ok_and(|count| count > 0) {
            break;
        }
    }
    Ok(())
}
