//! Sends a file.

use super::auth::{Challenge, Fresh, Id, Key, TAG_BYTES};
use super::memory::Memory;
use super::source::Source;
use super::{Error, config};
use crate::clock::Clock;
use crate::socket::Socket;
use crate::transports::{SendOptions, Sent, UdpdtnOptions};
use lightlag_protocols::controllers::Flow;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::udpdtn::{self, Cut, Datagram};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::udpdtn::{Body, Data, Opening, Packet, Reason, Unwrap, write_data};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The file is being read for its digest: bytes read, and its length.
    Reading(u64, u64),
    /// About how many bytes the receiver has, and the length of the file.
    Sending(u64, u64),
    /// Seconds since the last datagram from the receiver.
    Silent(u64),
    /// Counts so far; only of transports other than UDPDTN.
    Counted(Counted),
}

/// What has passed of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Bytes that are there; over TCP those that the kernel took.
    pub bytes: u64,
    /// Datagrams with data; `None` over TCP.
    pub datagrams: Option<u64>,
    /// Those among them that were sent again.
    pub repairs: Option<u64>,
    /// Round trip, where it is measured.
    pub rtt: Option<Duration>,
}

/// Datagrams sent between two reads of the socket.
const BURST: usize = 256;
/// With less than this a block rarely needs repairs.
const LOSS_LEAST: f64 = 2e-4;
const TICK: Duration = Duration::from_nanos(100_000_000);
/// Shorter sleeps cost more than they give: what is late leaves in one batch.
const SLEEP_LEAST: Duration = Duration::from_nanos(150_000);
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Sends a file until the receiver says that it has it whole, or until `watch` says false.
///
/// # Errors
/// [`Error::Input`] if it could not begin, [`Error::Failed`] if it failed or was stopped.
pub(crate) fn send(
    file: &Path,
    options: SendOptions,
    udpdtn: UdpdtnOptions,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Sent, Error> {
    let source = Source::open(file, &mut |done, all| {
        watch(Progress::Reading(done, all));
    })?;
    let mut outgoing = Outgoing::new(file, options, udpdtn, source)?;
    outgoing.run(watch)
}

struct Outgoing {
    file: PathBuf,
    to: SocketAddr,
    give_up: Option<Duration>,
    key: Option<Key>,
    memory: Option<Memory>,
    fresh: Fresh,
    source: Source,
    config: udpdtn::Config,
    cut: Cut,
    machine: udpdtn::Sender,
    name: String,
    session: u32,
    socket: Socket,
    clock: Clock,
    refused: Option<(Reason, String)>,
    heard: Instant,
    first_report: Option<u64>,
    ignored: u64,
    next_tick: Instant,
    next_check: Instant,
}

impl Outgoing {
    fn new(file: &Path, options: SendOptions, udpdtn: UdpdtnOptions, source: Source) -> Result<Self, Error> {
        let (mut options, UdpdtnOptions { in_order, key, memory }) = (options, udpdtn);
        let (to, packet, light) = (options.to, options.packet, options.light.unwrap_or_default());
        let tag = if key.is_some() { TAG_BYTES } else { 0 };
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut config = config(Bytes(source.length()), source.digest(), packet, tag, light)?;
        let session = random()?;
        let mut memory = key.as_ref().map(|key| Memory::open(memory.as_deref(), key, to));
        let fresh = match &mut memory {
            Some(memory) => Fresh { id: draw()?, stamp: memory.next_stamp(), token: memory.token },
            None => Fresh::default(),
        };
        config.in_order = in_order;
        config.seed = session.into();
        // A promise in whole units is no yardstick for queues: those are measured by one-way times.
        let flow = Flow { planned_round_trip: None, seed: session.into(), ..options.flow(config.symbol)? };
        let controller = options.take_controller("contact_rate", flow)?;
        let machine = udpdtn::Sender::new(config, controller, Bytes(source.length()));
        let socket = options.take_socket()?;
        Ok(Self {
            socket,
            cut: machine.cut(),
            clock: Clock::start(),
            refused: None,
            heard: Instant::ZERO,
            first_report: None,
            ignored: 0,
            next_tick: Instant::ZERO,
            next_check: Instant::ZERO,
            file: file.to_owned(),
            to,
            give_up: options.give_up,
            key,
            memory,
            fresh,
            source,
            config,
            machine,
            name,
            session,
        })
    }
    fn run(&mut self, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Sent, Error> {
        loop {
            while self.receive()? > 0 {}
            if let Some((reason, text)) = self.refused.take() {
                return Err(self.refusal(reason, &text));
            }
            if self.machine.is_complete() {
                return Ok(self.sent());
            }
            let sent_all = self.transmit()?;
            let now = self.clock.now();
            self.tick(now, watch)?;
            if sent_all {
                self.sleep(now)?;
            }
        }
    }
    fn sent(&self) -> Sent {
        let counts = self.machine.counts();
        Sent {
            bytes: self.source.length(),
            digest: self.source.digest(),
            seconds: self.clock.now().as_secs_f64(),
            datagrams: Some(counts.sent),
            repairs: Some(counts.repairs),
            timeouts: Some(counts.silences),
            resumed: self.first_report.unwrap_or(0),
            ignored: Some(self.ignored),
            rtt: self.machine.rtt(),
            measured: None,
        }
    }
    fn broken(&self, why: &std::io::Error) -> Error {
        let size = self.config.symbol.0;
        if why.kind() == std::io::ErrorKind::Other || why.raw_os_error() == Some(90) {
            let what = format!("packets with {size} B of data are too large for the path to {}", self.to);
            return Error::Failed(format!("{what}: choose a smaller --packet-size"));
        }
        Error::Failed(format!("the socket to {}: {why}", self.to))
    }

    fn receive(&mut self) -> Result<usize, Error> {
        let mut came: Vec<(Vec<u8>, Option<Challenge>)> = Vec::new();
        let (to, id, key, ignored) = (self.to, self.fresh.id, self.key.as_ref(), &mut self.ignored);
        let result = self.socket.receive(&self.clock, |from, bytes, _| {
            // With a key, any address may answer that can make a tag.
            let opened = match key {
                Some(key) => key.open_answer(&id, bytes),
                None => (from == to).then_some((bytes, None)),
            };
            match opened {
                Some((bytes, challenge)) => came.push((bytes.to_vec(), challenge)),
                None => *ignored += 1,
            }
        });
        let count = result.map_err(|why| self.broken(&why))?;
        for (bytes, challenge) in &came {
            self.take(bytes);
            if let Some(challenge) = challenge {
                self.meet(challenge)?;
            }
        }
        Ok(count)
    }
    /// The receiver wants to know that the opening is no recording.
    fn meet(&mut self, challenge: &Challenge) -> Result<(), Error> {
        self.fresh.token = challenge.token;
        if let Some(memory) = &mut self.memory {
            memory.learn(challenge.state);
        }
        let length = Bytes(self.source.length());
        self.push(Datagram::Open { length, report_every: Duration::from_secs(1) })
    }
    fn take(&mut self, bytes: &[u8]) {
        let packet = Packet::read(bytes).ok().filter(|packet| packet.session == self.session);
        let now = self.clock.now();
        match packet.as_ref().map(|packet| (&packet.body, packet)) {
            Some((Body::Refuse(reason, text), _)) => self.refused = Some((*reason, (*text).to_owned())),
            Some((Body::Report(_) | Body::Unknown, packet)) => {
                let is_report = matches!(packet.body, Body::Report(_));
                if let Some(datagram) = packet.datagram(&mut Unwrap::default(), now) {
                    self.machine.handle(now, datagram);
                }
                self.heard = now;
                if is_report && self.first_report.is_none() {
                    let fresh = u64::from(self.machine.received()) * self.config.symbol.0;
                    self.first_report = Some(self.machine.progress().0.saturating_sub(fresh));
                }
            }
            _ => self.ignored += 1,
        }
    }
    fn refusal(&self, reason: Reason, text: &str) -> Error {
        let (to, file) = (self.to, self.file.display());
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        if reason == Reason::Digest
            && let Err(changed) = self.source.check()
        {
            return changed;
        }
        Error::Failed(format!("{to} does not take {file}: {text}"))
    }

    /// Sends what is due, some at a time; whether that was all.
    fn transmit(&mut self) -> Result<bool, Error> {
        for _ in 0..BURST {
            let now = self.clock.now();
            let Some(datagram) = self.machine.poll(now) else {
                self.socket.flush().map_err(|why| self.broken(&why))?;
                return Ok(true);
            };
            let ends = self.ends_block(&datagram);
            self.push(datagram)?;
            if let Some((block, loss)) = ends {
                self.source.prepare(&self.cut, self.config.symbol.0 as u16, block, loss)?;
            }
        }
        self.socket.flush().map_err(|why| self.broken(&why))?;
        Ok(false)
    }
    /// Which block all is sent of by this, and the loss, if that lets repairs be expected.
    fn ends_block(&self, datagram: &Datagram) -> Option<(u32, f64)> {
        let Datagram::Data { block, symbol, .. } = *datagram else { return None };
        let loss = self.machine.loss().filter(|loss| *loss > LOSS_LEAST)?;
        (symbol + 1 == self.cut.symbols_of(block)).then_some((block, loss))
    }
    fn push(&mut self, datagram: Datagram) -> Result<(), Error> {
        let Self { socket, source, config, cut, key, fresh, name, session, .. } = self;
        let size = config.symbol.0 as u16;
        let mut result = Ok(());
        let pushed = socket.push(self.to, |out| {
            let start = out.len();
            result = write(datagram, *session, config, name, out, |block, symbol, out| {
                source.symbol(cut, size, block, symbol, out)
            });
            if let Some(key) = key {
                key.seal_sent(out, start, fresh);
            }
        });
        result?;
        pushed.map_err(|why| self.broken(&why))
    }

    fn tick(&mut self, now: Instant, watch: &mut dyn FnMut(Progress) -> bool) -> Result<(), Error> {
        if now >= self.next_tick {
            self.next_tick = now + TICK;
            let silence = now - self.heard;
            if self.give_up.is_some_and(|most| silence > most) {
                let heard = if self.heard == Instant::ZERO { "" } else { " any more" };
                let span = silence.as_secs_f64().round();
                return Err(Error::Failed(format!(
                    "{} did not answer{heard} within {span} s; is `lightlag transfer --listen` running there, \
                     with the same key and version?",
                    self.to
                )));
            }
            let mut goes_on = watch(Progress::Sending(self.machine.progress().0, self.source.length()));
            if silence > Duration::from_secs(2) {
                goes_on &= watch(Progress::Silent(silence.as_secs_f64() as u64));
            }
            if !goes_on {
                return Err(Error::Failed("it was stopped before its end".to_owned()));
            }
        }
        if now >= self.next_check {
            self.next_check = now + CHECK_EVERY;
            self.source.check().inspect_err(|_| self.tell_changed())?;
        }
        Ok(())
    }
    /// Ends the transfer at the receiver, so that it does not wait.
    fn tell_changed(&mut self) {
        let body = Body::Refuse(Reason::Digest, "the file changed while it was sent");
        let packet = Packet { session: self.session, body };
        for _ in 0..3 {
            let key = self.key.as_ref();
            let write = |out: &mut Vec<u8>| {
                let start = out.len();
                packet.write(out);
                if let Some(key) = key {
                    key.seal_sent(out, start, &Fresh::default());
                }
            };
            // It is only a courtesy.
            let _ = self.socket.push(self.to, write).and_then(|()| self.socket.flush());
        }
    }
    fn sleep(&mut self, now: Instant) -> Result<(), Error> {
        let until = self.machine.deadline().unwrap_or(Instant::MAX).min(self.next_tick);
        let span = if until <= now { SLEEP_LEAST } else { (until - now).max(SLEEP_LEAST) };
        self.socket.wait(span).map_err(|why| self.broken(&why))
    }
}

/// What a sender sends, as bytes; `append` gives symbols: which block, which of its symbols.
pub(crate) fn write(
    datagram: Datagram,
    session: u32,
    config: &udpdtn::Config,
    name: &str,
    out: &mut Vec<u8>,
    append: impl FnOnce(u32, u32, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    match datagram {
        Datagram::Data { number, block, symbol, sent_at, in_train, report_every } => {
            let data = Data {
                number,
                block: block as u16,
                symbol: symbol as u16,
                stamp: sent_at,
                in_train,
                report_every,
            };
            write_data(session, &data, out);
            append(block, symbol, out)
        }
        Datagram::Open { length, report_every } => {
            let opening = Opening {
                length,
                symbol: config.symbol.0 as u16,
                block_symbols: config.block_symbols as u16,
                digest: config.digest,
                name,
                report_every,
            };
            Packet { session, body: Body::Open(opening) }.write(out);
            Ok(())
        }
        // A sender sends nothing else.
        Datagram::Report(_) | Datagram::Unknown => Ok(()),
    }
}

/// An unpredictable number.
pub(crate) fn random() -> Result<u32, Error> {
    let cannot = |why| Error::Failed(format!("the system gives no random numbers: {why}"));
    getrandom::u32().map_err(cannot)
}

/// Names a run.
fn draw() -> Result<Id, Error> {
    let mut id = Id::default();
    getrandom::fill(&mut id)
        .map_err(|why| Error::Failed(format!("the system gives no random numbers: {why}")))?;
    Ok(id)
}
