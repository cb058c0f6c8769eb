//! Datagrams between a socket of this machine and others: one [`Endpoint`] for each.

use super::header::Receipt;
use super::plan::{ContactPlan, Step};
use super::{Counted, Error, Event, Progress, SendOptions, stopped};
use crate::clock::Clock;
use crate::places::{PLACES_MAX, Place, Room, Standing, room_now};
use crate::refusals::Refusals;
use crate::socket::{Received, Socket};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::dccp::Ecn;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// One end of a transfer, without a socket.
pub trait Endpoint {
    /// A datagram came.
    ///
    /// # Errors
    /// One line, which ends this end.
    fn take(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Error>;
    /// The ECN field of the IP header around the datagram that is taken next; called before each.
    fn on_ecn(&mut self, _ecn: Ecn) {}
    /// The ECN field for the datagram that was given last.
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }
    /// Appends the next datagram; false if none may leave now.
    ///
    /// # Errors
    /// One line, which ends this end.
    fn give(&mut self, now: Instant, out: &mut Vec<u8>) -> Result<bool, Error>;
    /// When to come back though nothing comes.
    fn deadline(&self) -> Option<Instant>;
    /// The contact plan says this from now on; called only where [`SendOptions::plan`] is given.
    fn on_plan(&mut self, _now: Instant, _step: Step) {}
    /// The fate of a sent datagram, counted from zero; called only over transports that report it.
    fn on_fate(&mut self, _now: Instant, _ordinal: u64, _arrived: bool) {}
    /// As [`Status::over`], more cheaply where that can be.
    fn is_over(&self) -> bool {
        self.status().over
    }
    /// Whether it is over or its receipt is known, more cheaply where that can be.
    fn has_ended(&self) -> bool {
        let status = self.status();
        status.over || status.receipt.is_some()
    }
    /// Nothing of it needs to be remembered.
    fn is_gone(&self) -> bool {
        false
    }
    /// Ends at once; what there is to say of that is given next.
    fn abort(&mut self) {}
    /// Whether a datagram from there may be of the peer to whom it sends.
    fn hears(&self, from: SocketAddr, peer: SocketAddr) -> bool {
        from == peer
    }
    /// Where a peer that is heard from there listens.
    fn answers_to(&self, from: SocketAddr) -> SocketAddr {
        from
    }
    /// Bytes of files, bundles or noise that have come and had not come before. A peer that brings too few of them
    /// loses its place to another.
    fn brought(&self) -> u64 {
        0
    }
    /// How far it is.
    fn status(&self) -> Status;
    /// Events for the caller of the driver.
    fn take_events(&mut self) -> Vec<Event> {
        Vec::new()
    }
}

/// How far an end is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Bytes delivered, and their total; `None` where no transfer is active.
    pub progress: Option<(u64, u64)>,
    /// What the receiver said, or says.
    pub receipt: Option<Receipt>,
    /// The other side needs nothing more of this end.
    pub over: bool,
    /// Datagrams with data, and those among them that were sent again.
    pub sent: [u64; 2],
    /// Round trip.
    pub rtt: Option<Duration>,
    /// Timeouts; `None` where they are not counted.
    pub timeouts: Option<u64>,
    /// Bytes that the receiver had before.
    pub resumed: u64,
    /// Datagrams that came and were no part of it; `None` where they are not counted.
    pub ignored: Option<u64>,
}

/// Datagrams that leave before the socket is read again.
const SENDS_MOST: usize = 128;
/// Batches that are read before anything leaves.
const READS_MOST: usize = 8;
const SLEEP_MOST: Duration = Duration::from_nanos(50_000_000);
/// Shorter sleeps cost more than they give: what is late leaves in one batch.
const SLEEP_LEAST: Duration = Duration::from_nanos(150_000);
const TICK: Duration = Duration::from_nanos(100_000_000);
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// A receiver that is silent for longer is reported.
const SILENT: Duration = Duration::from_secs(3);
/// Longest time that the sender stays to acknowledge the receipt.
const LINGER: Duration = Duration::from_nanos(500_000_000);
fn broken(why: std::io::Error) -> Error {
    // Of the system, or of the socket's own check: the datagram is too large.
    if why.kind() == std::io::ErrorKind::Other || why.raw_os_error() == Some(90) {
        let line = "packets are too large for the path; choose a smaller --packet-size";
        return Error::Failed(line.to_owned());
    }
    Error::Failed(format!("the socket: {why}"))
}

/// Why there is no socket of IP protocol 33, in one line.
pub fn no_raw(why: &std::io::Error) -> Error {
    Error::Input(if why.kind() == std::io::ErrorKind::PermissionDenied {
        "--raw: sockets of IP protocol 33 need the capability CAP_NET_RAW; run it as root, or leave --raw out"
            .to_owned()
    } else {
        format!("--raw: cannot open a socket of IP protocol 33: {why}; leave --raw out for DCCP in UDP")
    })
}

/// Sends what an end has to send; whether there is more.
fn transmit(
    socket: &mut Socket,
    clock: &Clock,
    to: SocketAddr,
    end: &mut dyn Endpoint,
) -> Result<bool, Error> {
    let mut datagram = Vec::new();
    for _ in 0..SENDS_MOST {
        datagram.clear();
        if !end.give(clock.now(), &mut datagram)? {
            socket.flush().map_err(broken)?;
            return Ok(false);
        }
        socket.push_with(to, end.ecn(), |out| out.extend_from_slice(&datagram)).map_err(broken)?;
    }
    socket.flush().map_err(broken)?;
    Ok(true)
}

fn sleep(socket: &Socket, clock: &Clock, due: Option<Instant>) -> Result<(), Error> {
    let now = clock.now();
    let until = due.unwrap_or(Instant::MAX).clamp(now + SLEEP_LEAST, now + SLEEP_MOST);
    socket.wait(until - now).map_err(broken)
}

/// A sender's side.
pub struct SenderDriver {
    socket: Socket,
    clock: Clock,
    to: SocketAddr,
    give_up: Option<Duration>,
    plan: Option<ContactPlan>,
    /// When something came from the receiver; moved on by the gaps between contacts.
    heard: Instant,
    /// Datagrams of others.
    ignored: u64,
}

impl SenderDriver {
    /// By this socket, to whom and for how long the options say.
    pub fn new(socket: Socket, options: &mut SendOptions) -> Self {
        let (to, give_up, plan) = (options.to, options.give_up, options.plan.take());
        Self { socket, clock: Clock::start(), to, give_up, plan, heard: Instant::ZERO, ignored: 0 }
    }
    /// Runs an end until the receipt is here and acknowledged, or `watch` says false.
    ///
    /// # Errors
    /// One line; the receipt's, if the receiver refused.
    pub fn run(
        &mut self,
        end: &mut dyn Endpoint,
        check: &dyn Fn() -> Result<(), Error>,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(Status, f64), Error> {
        let done = self.exchange(end, check, watch);
        if done.is_err() {
            end.abort();
            // What the other side does not hear of this it finds out by itself.
            let _ = transmit(&mut self.socket, &self.clock, self.to, end);
        }
        done
    }
    fn exchange(
        &mut self,
        end: &mut dyn Endpoint,
        check: &dyn Fn() -> Result<(), Error>,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(Status, f64), Error> {
        let (mut next_tick, mut next_check) = (Instant::ZERO, CHECK_AT);
        let mut done: Option<Instant> = None;
        loop {
            for _ in 0..READS_MOST {
                if self.receive(end)? == 0 {
                    break;
                }
            }
            self.follow_plan(end);
            let more = transmit(&mut self.socket, &self.clock, self.to, end)?;
            let now = self.clock.now();
            let ends = (now >= next_tick || !more) && end.has_ended();
            if now >= next_tick || ends {
                let told = end.status();
                if now >= next_tick || done.is_none() {
                    next_tick = now + TICK;
                    self.tell(now, &told, watch)?;
                }
                if ends {
                    let done = *done.get_or_insert(now);
                    if told.over || now - done > LINGER {
                        return self.conclude(told, done.as_secs_f64());
                    }
                }
            }
            if now >= next_check && done.is_none() {
                next_check = now + CHECK_EVERY;
                check()?;
            }
            if !more {
                let planned = self.plan.as_ref().map(|plan| plan.deadline(now));
                sleep(&self.socket, &self.clock, [end.deadline(), planned].into_iter().flatten().min())?;
            }
        }
    }
    fn receive(&mut self, end: &mut dyn Endpoint) -> Result<usize, Error> {
        let Self { socket, clock, to, heard, ignored, .. } = self;
        let mut failed = None;
        let came = socket.receive_whole(clock, |Received { from, bytes, at, ecn }| {
            if !end.hears(from, *to) {
                *ignored += 1;
                return;
            }
            *heard = (*heard).max(at);
            end.on_ecn(ecn);
            if let Err(why) = end.take(at, bytes) {
                failed.get_or_insert(why);
            }
        });
        failed.map_or(came.map_err(broken), Err)
    }
    /// Time without a contact does not count as time without an answer.
    fn follow_plan(&mut self, end: &mut dyn Endpoint) {
        let now = self.clock.now();
        if let Some((step, gap)) = self.plan.as_mut().and_then(|plan| plan.poll(now)) {
            self.heard = self.heard.saturating_add(gap).min(now);
            end.on_plan(now, step);
        }
    }
    fn tell(
        &self,
        now: Instant,
        told: &Status,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(), Error> {
        let gap = self.plan.as_ref().and_then(|plan| plan.gap(now));
        let paused = gap.filter(|(_, next)| next.is_some()).map(|(since, _)| since);
        let silent = paused.unwrap_or(now) - self.heard;
        if let Some(most) = self.give_up.filter(|most| silent > *most) {
            let (to, most) = (self.to, most.as_secs_f64());
            return Err(Error::Failed(format!(
                "{to} did not answer for {most} s; does it listen there, with the same --over and --key-file?"
            )));
        }
        let (done, all) = told.progress.unwrap_or_default();
        let [datagrams, repairs] = told.sent.map(Some);
        let counted = Counted { bytes: done, datagrams, repairs, rtt: told.rtt };
        let mut goes_on = watch(Progress::Sending(done, all)) && watch(Progress::Counted(counted));
        if let Some((_, next)) = gap {
            goes_on &= watch(Progress::NoContact(next.map(|next| (next - now).as_secs_f64() as u64)));
        } else if silent >= SILENT {
            goes_on &= watch(Progress::Silent(silent.as_secs_f64() as u64));
        }
        if goes_on { Ok(()) } else { Err(stopped()) }
    }
    fn conclude(&self, mut told: Status, seconds: f64) -> Result<(Status, f64), Error> {
        told.ignored = told.ignored.map(|ignored| ignored + self.ignored);
        match &told.receipt {
            Some(Receipt { outcome: Err(why), .. }) => {
                Err(Error::Failed(format!("the receiver refused: {why}")))
            }
            Some(_) => Ok((told, seconds)),
            None => Err(Error::Failed("the other side ended it without a receipt".to_owned())),
        }
    }
}

const CHECK_AT: Instant = Instant::from_nanos(CHECK_EVERY.as_nanos());

/// What is done with a datagram of somebody who is not known.
pub enum Accept {
    /// Nothing.
    Nothing,
    /// An answer that needs no memory.
    Reply(Vec<u8>),
    /// He is known from now on; the datagram has been taken.
    Peer(Box<dyn Endpoint>),
}

/// Accepts unknown peers.
pub trait Acceptor {
    /// A datagram of an unknown peer.
    ///
    /// # Errors
    /// One line; the datagram is dropped.
    fn accept(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) -> Result<Accept, Error>;
    /// Events from datagrams that the acceptor handled itself.
    fn take_events(&mut self) -> Vec<Event> {
        Vec::new()
    }
}

struct Peer {
    end: Box<dyn Endpoint>,
    heard: Instant,
    brought: u64,
    place: Place,
}

impl Peer {
    fn new(end: Box<dyn Endpoint>, now: Instant) -> Self {
        let mut peer = Self { end, heard: now, brought: 0, place: Place::default() };
        peer.note(now);
        peer
    }
    /// A datagram of it has been taken.
    fn note(&mut self, now: Instant) {
        self.heard = now;
        let brought = self.end.brought();
        self.place.add(brought.saturating_sub(self.brought));
        self.brought = brought;
    }
    fn standing(&self) -> Standing {
        // It has brought all that it wanted to.
        if self.end.is_over() { Standing::Idle(std::time::Duration::MAX) } else { self.place.standing() }
    }
}

/// A listener's side.
pub struct ListenerDriver<D> {
    acceptor: D,
    socket: Socket,
    clock: Clock,
    peers: BTreeMap<SocketAddr, Peer>,
    once: bool,
    /// Bundles to wait for before it ends.
    awaited: u64,
    /// Whether the first transfer ended well, and when.
    ended: Option<(bool, Instant)>,
    next_tick: Instant,
}

impl<D: Acceptor> ListenerDriver<D> {
    /// By this socket, until `count` bundles, or transfers, have ended.
    pub fn new(socket: Socket, acceptor: D, count: Option<u64>) -> Self {
        let (clock, peers) = (Clock::start(), BTreeMap::new());
        let (once, awaited) = (count.is_some(), count.unwrap_or(0));
        let (ended, next_tick) = (None, Instant::ZERO);
        Self { acceptor, socket, clock, peers, once, awaited, ended, next_tick }
    }
    /// Receives until the first transfer has ended, if a count was set, or until `watch` returns false.
    ///
    /// # Errors
    /// One line.
    pub fn run(&mut self, watch: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
        let at = self.socket.address().map_err(broken)?;
        let mut refusals = Refusals::default();
        let watch: &mut dyn FnMut(Event) -> bool = &mut |event| refusals.pass(event, watch);
        let mut goes_on = watch(Event::Listening(at));
        while goes_on {
            let mut more = false;
            for _ in 0..READS_MOST {
                if self.receive(watch)? == 0 {
                    break;
                }
            }
            for (to, peer) in &mut self.peers {
                let to = peer.end.answers_to(*to);
                match transmit(&mut self.socket, &self.clock, to, peer.end.as_mut()) {
                    Ok(left) => more |= left,
                    Err(why) => {
                        watch(Event::Refused(format!("{to}: {why}")));
                    }
                }
            }
            if let Some(line) = self.socket.take_undelivered() {
                watch(Event::Refused(line));
            }
            goes_on = self.note(watch) && !self.is_over();
            if !more && goes_on {
                let due = self.peers.values().filter_map(|peer| peer.end.deadline()).min();
                sleep(&self.socket, &self.clock, due)?;
            }
        }
        match self.ended {
            Some((false, _)) if self.once => Err(Error::Failed("the transfer failed".to_owned())),
            _ => Ok(()),
        }
    }
    fn receive(&mut self, watch: &mut dyn FnMut(Event) -> bool) -> Result<usize, Error> {
        let Self { acceptor, socket, clock, peers, .. } = self;
        let (mut replies, mut failed) = (Vec::new(), Vec::new());
        let came = socket.receive_whole(clock, |Received { from, bytes, at, ecn }| {
            let taken = match peers.get_mut(&from) {
                Some(peer) => {
                    peer.end.on_ecn(ecn);
                    let taken = peer.end.take(at, bytes);
                    peer.note(at);
                    taken
                }
                None => acceptor.accept(at, from, bytes).and_then(|accept| {
                    match accept {
                        Accept::Nothing => {}
                        Accept::Reply(reply) => replies.push((from, reply)),
                        Accept::Peer(end) if make_room(peers, from.ip()) => {
                            peers.insert(from, Peer::new(end, at));
                        }
                        Accept::Peer(_) => {
                            let line = format!("there is no room, as {PLACES_MAX} others are sending");
                            return Err(Error::Failed(line));
                        }
                    }
                    Ok(())
                }),
            };
            if let Err(why) = taken {
                failed.push(format!("{from}: {why}"));
            }
        });
        failed.into_iter().for_each(|line| {
            watch(Event::Refused(line));
        });
        for (to, reply) in replies {
            self.socket.push(to, |out| out.extend_from_slice(&reply)).map_err(broken)?;
        }
        self.socket.flush().map_err(broken)?;
        came.map_err(broken)
    }
    /// Reports events; returns whether to continue.
    fn note(&mut self, watch: &mut dyn FnMut(Event) -> bool) -> bool {
        let now = self.clock.now();
        let mut goes_on = true;
        let mut events = self.acceptor.take_events();
        events.extend(self.peers.values_mut().flat_map(|peer| peer.end.take_events()));
        for event in events {
            if matches!(event, Event::Bundle(_)) && self.awaited > 1 {
                self.awaited -= 1;
            } else if let Some(well) = event.ends() {
                self.ended.get_or_insert((well, now));
            }
            goes_on &= watch(event);
        }
        self.peers.retain(|_, peer| !peer.end.is_gone());
        if now >= self.next_tick {
            self.next_tick = now + TICK;
            let progress = self.peers.values().filter_map(|peer| peer.end.status().progress);
            let (here, all) = progress.fold((0_u64, 0_u64), |(here, all), (some, most)| {
                (here.saturating_add(some), all.saturating_add(most))
            });
            goes_on &= watch(Event::Progress(here, all));
        }
        goes_on
    }
    /// Whether it must end, and the sender has surely received the receipt.
    fn is_over(&mut self) -> bool {
        let Some((_, at)) = self.ended.filter(|_| self.once) else { return false };
        let silent = |peer: &Peer| self.clock.now() - peer.heard.max(at) > LINGER * 4;
        self.peers.values().all(|peer| peer.end.status().over || silent(peer))
    }
}

/// Drops a peer that makes no progress if there is no room; whether there is room then.
fn make_room(peers: &mut BTreeMap<SocketAddr, Peer>, newcomer: IpAddr) -> bool {
    if peers.len() < PLACES_MAX {
        return true;
    }
    let standings: Vec<_> = peers.iter().map(|(at, peer)| (at.ip(), peer.standing())).collect();
    let Room::Drop(at) = room_now(PLACES_MAX, newcomer, &standings) else { return false };
    let dropped = peers.keys().nth(at).copied();
    dropped.and_then(|dropped| peers.remove(&dropped)).is_some()
}
