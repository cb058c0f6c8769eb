//! The end that sends, and selects the transport of the connection.

use super::pipe::Pipe;
use super::{DATAGRAMS, Decides, Make, NEAR, STREAM, Truth, byte};
use crate::packets::Source;
use lightlag_protocols::record::Observation;
use lightlag_protocols::record::packets::Parcel;
use lightlag_protocols::session::{
    Best, Context, Datagrams, Kind, Policy, PolicyConfig, Session, StackReason,
};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::tcp;
use lightlag_protocols::transport::udpdtn::UDP_HEADER;
use lightlag_protocols::units::BitRate;
use lightlag_protocols::wire::session::{ConnectionId, Hints};
use std::collections::VecDeque;

/// Interval of decisions.
const LOOK_EVERY: Duration = Duration::from_nanos(100_000_000);
/// Time for TCP to connect before the first decision.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// Bytes that wait beyond what was carried.
const AHEAD: u64 = 65_536;
const WRITE: u64 = 16_384;
/// After a switch to datagrams, data on TCP have this time and two round trips to be acknowledged.
const GRACE: Duration = Duration::from_secs(2);
/// The rate that is handed over is the mean of this time.
const RATE_OVER: Duration = Duration::from_secs(5);

/// A switch to another transport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Instant,
    /// The transport from then on.
    pub to: Kind,
    /// The policy's reason; `None` without a policy.
    pub why: Option<StackReason>,
}

/// Sends.
pub struct Near {
    make: Make,
    truth: Truth,
    session: Session,
    id: Option<ConnectionId>,
    /// Bytes of the file; none: no end.
    length: Option<u64>,
    written: u64,
    pipe: Option<Pipe>,
    /// Connections of TCP that were made.
    lives: u32,
    /// The stream was left, and is closed then.
    close_at: Option<Instant>,
    datagrams: Datagrams,
    policy: Policy,
    kind: Kind,
    changes: Vec<Change>,
    look_at: Instant,
    /// What TCP had delivered, over the last seconds, and the best rate that this was, of payload.
    deliveries: VecDeque<(Instant, u64)>,
    best: Option<Best>,
    /// What connections of TCP did that are closed.
    counts: tcp::Counts,
    plain: Option<Plain>,
    /// The stream from far is at its end, without a byte.
    has_ended: bool,
    now: Instant,
}

/// Packets at an even rate, as the paper sent them.
struct Plain {
    next: Instant,
    number: u64,
}

impl Near {
    /// Has sent nothing.
    pub fn new(make: Make, truth: Truth, source: Source, start: Instant) -> Self {
        let mut session = Session::new(make.session(NEAR), STREAM);
        let id = session.open("far:1", Hints::default());
        let datagrams = Datagrams::new(make.datagrams(NEAR), make.controllers.datagrams.build(make.flow));
        let policy = match make.config.decides {
            Decides::Policy(config) => config,
            Decides::Oracle(_) | Decides::Datagrams => PolicyConfig::default(),
        };
        let mut near = Self {
            plain: make.config.plain.then_some(Plain { next: start, number: 0 }),
            make,
            truth,
            session,
            id,
            length: if let Source::File(size) = source { Some(size.0) } else { None },
            written: 0,
            pipe: None,
            lives: 0,
            close_at: None,
            datagrams,
            policy: Policy::new(policy),
            kind: Kind::Stream,
            changes: Vec::new(),
            look_at: start,
            deliveries: VecDeque::new(),
            best: None,
            counts: tcp::Counts::default(),
            has_ended: false,
            now: start,
        };
        if near.make.config.decides != Decides::Datagrams {
            near.connect();
            near.look_at = start.saturating_add(FIRST_LOOK);
        }
        near
    }
    fn connect(&mut self) {
        self.lives += 1;
        self.close_at = None;
        self.deliveries.clear();
        self.pipe = Some(Pipe::new(&self.make, self.lives, true));
    }
    fn disconnect(&mut self) {
        self.close_at = None;
        if let Some(pipe) = self.pipe.take() {
            let done = pipe.counts();
            self.counts.sent += done.sent;
            self.counts.repairs += done.repairs;
            self.counts.timeouts += done.timeouts;
            self.counts.episodes += done.episodes;
            self.session.on_failed(STREAM, DATAGRAMS);
        }
    }

    // --- what is decided ----------------------------------------------------------------------

    fn look(&mut self, now: Instant) {
        self.look_at = now.saturating_add(LOOK_EVERY);
        self.measure(now);
        let change = match self.make.config.decides {
            Decides::Policy(_) => self.ask_policy(now),
            Decides::Oracle(long) => self.ask_oracle(now, long),
            Decides::Datagrams => Some(Kind::Datagrams).map(|to| Change { at: now, to, why: None }),
        };
        if let Some(change) = change.filter(|change| change.to != self.kind) {
            self.changes.push(change);
            self.change(now, change.to);
        }
    }
    fn ask_policy(&mut self, now: Instant) -> Option<Change> {
        let stream = self.pipe.as_mut().and_then(|pipe| pipe.context(now));
        let datagrams = Some(self.datagrams.context(now));
        let switch = self.policy.on_context(now, &Context { stream, datagrams, ..Context::default() });
        if switch.is_none() && self.kind == Kind::Datagrams {
            self.prepare_return(self.policy.would_return());
        }
        switch.map(|switch| Change { at: now, to: switch.to, why: Some(switch.why) })
    }
    fn ask_oracle(&mut self, now: Instant, long: Duration) -> Option<Change> {
        let to = if self.truth.delay(now) > long { Kind::Datagrams } else { Kind::Stream };
        if self.kind == Kind::Datagrams {
            self.prepare_return(to == Kind::Stream);
        }
        let is_there = to == Kind::Datagrams || self.pipe.as_ref().is_some_and(Pipe::is_open);
        is_there.then_some(Change { at: now, to, why: None })
    }
    /// A stream that was left is not used again: its remaining data has been carried, and its estimates of
    /// the path are outdated. A new one is opened when the policy would return to it.
    fn prepare_return(&mut self, wanted: bool) {
        let fresh = self.close_at.is_none() && self.pipe.is_some();
        if self.plain.is_some() {
            return;
        }
        if wanted && !fresh {
            self.disconnect();
            self.connect();
        } else if !wanted && fresh {
            self.disconnect();
        }
    }
    fn change(&mut self, now: Instant, to: Kind) {
        self.kind = to;
        let Some(id) = self.id.filter(|_| self.plain.is_none()) else {
            self.plain.iter_mut().for_each(|plain| plain.next = now);
            return;
        };
        match to {
            Kind::Stream => self.session.carry_by(now, id, STREAM, self.datagrams.grace()),
            Kind::Datagrams => {
                let rtt = self.pipe.as_ref().and_then(|pipe| pipe.sender().rtt());
                let wait = GRACE.saturating_add(rtt.unwrap_or_default() * 2);
                self.close_at = self.pipe.is_some().then(|| now.saturating_add(wait));
                self.hand_over(now, rtt);
                self.session.carry_by(now, id, DATAGRAMS, wait);
            }
        }
        self.session.prefer(if to == Kind::Stream { STREAM } else { DATAGRAMS });
    }
    /// Datagrams begin with what TCP had found.
    fn hand_over(&mut self, now: Instant, rtt: Option<Duration>) {
        let Some(best) = self.best.filter(|best| best.rate > 0.0) else { return };
        let rate = self.on_link(best.rate);
        let knows = best.is_found(now, rtt) && self.datagrams.is_outdone(rate);
        let flow = self.make.flow.planned(None, rtt);
        let fresh = knows.then(|| self.make.controllers.datagrams.build(flow));
        self.datagrams.continue_from(now, fresh, rate);
    }
    /// What a rate of payload is on the link.
    fn on_link(&self, bytes: f64) -> BitRate {
        let packets = bytes / self.make.config.tcp.segment.0 as f64;
        BitRate((packets * self.make.config.packet.0 as f64 * 8.0) as u64)
    }
    fn measure(&mut self, now: Instant) {
        let Some(pipe) = self.pipe.as_ref().filter(|_| self.kind == Kind::Stream) else { return };
        self.deliveries.push_back((now, pipe.sender().delivered()));
        while self.deliveries.get(1).is_some_and(|(at, _)| now - *at >= RATE_OVER) {
            self.deliveries.pop_front();
        }
        if let Some(((from, before), (to, after))) = self.deliveries.front().zip(self.deliveries.back())
            && *to - *from >= RATE_OVER
        {
            let rate = (after - before) as f64 / (*to - *from).as_secs_f64();
            self.best = Some(Best::with(self.best, now, rate));
        }
    }

    // --- input and output -----------------------------------------------------------------------

    /// Something came.
    pub fn handle(&mut self, now: Instant, parcel: Parcel) {
        match parcel {
            Parcel::Plain(..) => {}
            Parcel::Datagram(serial, bytes) => {
                // What cannot be read was not sent by ours.
                let _ = self.datagrams.handle(now, (serial, &bytes), &mut self.session);
            }
            Parcel::Segment { life, forward, segment, data } => {
                if let Some(pipe) = self.pipe.as_mut().filter(|pipe| pipe.life() == life) {
                    pipe.handle(now, &mut self.session, (forward, segment), data);
                }
            }
        }
        while self.session.poll_event().is_some() {}
        if let Some(id) = self.id.filter(|id| !self.has_ended && self.session.is_at_end(*id)) {
            self.has_ended = true;
            self.session.take_end(id);
        }
    }
    fn write(&mut self) {
        let Some(id) = self.id else { return };
        let length = self.length.unwrap_or(u64::MAX);
        let Some(next) = self.session.connection(id).map(|connection| connection.outgoing.next()) else {
            return;
        };
        while self.written < length && self.written < next.saturating_add(AHEAD) {
            let to = length.min(self.written + WRITE);
            let bytes: Vec<u8> = (self.written..to).map(byte).collect();
            let taken = self.session.write(id, &bytes) as u64;
            self.written += taken;
            if taken == 0 {
                break;
            }
        }
        if self.written == length {
            self.session.finish(id);
        }
    }
    /// The next thing to send.
    pub fn poll(&mut self, now: Instant) -> Option<Parcel> {
        self.now = now;
        if self.look_at <= now {
            self.look(now);
        }
        if self.close_at.is_some_and(|at| at <= now) && self.plain.is_none() {
            self.disconnect();
        }
        if self.session.deadline().is_some_and(|at| at <= now) {
            self.session.on_deadline(now);
        }
        if self.datagrams.deadline(&self.session).is_some_and(|at| at <= now) {
            self.datagrams.on_deadline(now, &mut self.session);
        }
        if self.plain.is_none() || self.kind == Kind::Stream {
            self.write();
        }
        if let Some(parcel) = self.pipe.as_mut().and_then(|pipe| pipe.poll(now, &mut self.session)) {
            return Some(parcel);
        }
        if let Some(parcel) = self.poll_plain(now) {
            return Some(parcel);
        }
        let mut out = Vec::new();
        let serial = self.datagrams.poll(now, &mut self.session, &mut out)?;
        Some(Parcel::Datagram(serial, out.into()))
    }
    fn poll_plain(&mut self, now: Instant) -> Option<Parcel> {
        let found = self.best.filter(|best| best.rate > 0.0).map(|best| self.on_link(best.rate));
        let rate = found.or(self.make.flow.planned_rate)?;
        let packet = self.make.config.packet;
        let size = packet.saturating_sub(UDP_HEADER);
        let plain = self.plain.as_mut().filter(|plain| self.kind == Kind::Datagrams && plain.next <= now)?;
        plain.next = plain.next.saturating_add(rate.time_for(packet));
        plain.number += 1;
        Some(Parcel::Plain(plain.number, size))
    }
    /// When to poll though nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        let pipe = self.pipe.as_ref().and_then(Pipe::deadline);
        let plain = self.plain.as_ref().filter(|_| self.kind == Kind::Datagrams).map(|plain| plain.next);
        let datagrams = self.datagrams.deadline(&self.session);
        let closing = self.close_at.filter(|_| self.plain.is_none());
        let all = [Some(self.look_at), closing, self.session.deadline(), datagrams, pipe, plain];
        super::not_before(self.now, all)
    }

    // --- what is seen -------------------------------------------------------------------------

    /// Whether everything was acknowledged.
    pub fn is_complete(&self) -> bool {
        self.length.is_some() && self.id.is_none_or(|id| self.session.connection(id).is_none())
    }
    /// What it has done: segments and datagrams with data, and those that were given up among them.
    pub fn counts(&self) -> tcp::Counts {
        let stream = self.pipe.as_ref().map(Pipe::counts).unwrap_or_default();
        let datagrams = self.datagrams.counts();
        let plain = self.plain.as_ref().map_or(0, |plain| plain.number);
        tcp::Counts {
            sent: self.counts.sent + stream.sent + datagrams.sent + plain,
            repairs: self.counts.repairs + stream.repairs + datagrams.lost,
            probes: 0,
            timeouts: self.counts.timeouts + stream.timeouts,
            episodes: self.counts.episodes + stream.episodes,
        }
    }
    /// What carried the connection, and since when.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
    /// What it shows: the stack in use, and its controller.
    pub fn observe(&self, seen: &mut Observation) {
        seen.push(("datagrams", f64::from(u8::from(self.kind == Kind::Datagrams))));
        seen.push(("switches", self.changes.len() as f64));
        match (self.kind, &self.pipe) {
            (Kind::Stream, Some(pipe)) => pipe.sender().observe(seen),
            _ => self.datagrams.observe(seen),
        }
    }
}
