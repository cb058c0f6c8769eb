//! A connection: its states, and packet reception (RFC 4340, section 8; the steps are those of section 8.5).

use super::arrivals::{Arrival, Arrivals};
use super::asking::Asking;
use super::ccid3_receiver::{self, Ccid3Receiver};
use super::features::{Fatal, Features, Location, Name, SEQUENCE_WINDOW};
use super::limiter::Limiter;
use super::listener::refuse;
use super::sender::{Acknowledgement, Counts, Sender};
use super::{Ccid, Config, Ecn, Packet, Retry, Tries};
use crate::controllers::{Controller, TfrcReport};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use crate::wire::dccp::{
    Body, Header, Item, Kind, LossInterval, Options, ResetCode, Sequence, crc32c, drops, intervals, runs,
};
use std::collections::VecDeque;
use std::sync::Arc;
use thiserror::Error;

/// Where a connection stands (section 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// A client that has not asked yet.
    Idle,
    /// It has asked.
    Request,
    /// A server has been asked.
    Respond,
    /// A client that does not know yet that the server has its acknowledgement.
    PartOpen,
    /// Data flow.
    Open,
    /// A server has asked the client to close.
    CloseReq,
    /// It has said that it closes.
    Closing,
    /// The other end has ended it; late packets are still answered.
    TimeWait,
    /// It is over.
    Closed,
}

/// Why data cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// Too much waits already.
    #[error("{0} packets wait to be sent already: wait until some have left")]
    Full(usize),
    /// It does not fit into a packet.
    #[error("a datagram of {0} B does not fit into a packet: {1} B do")]
    TooLarge(usize, u64),
    /// The connection is closing or closed, or the other end does not listen.
    #[error("the connection takes no more data: it is closing or closed")]
    Closed,
}

/// Loss intervals that are looked at.
const INTERVALS_MAX: usize = 28;
/// A drop code (section 11.7).
const PROTOCOL_CONSTRAINTS: u8 = 0;
/// Bytes of Init Cookies that fit into a header beside all that may have to be confirmed.
const COOKIES_MAX: usize = 640;

/// The numbers of a connection (section 7.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// The next of ours; one more than the greatest sent (GSS).
    pub next: Sequence,
    /// Our first (ISS).
    pub first: Sequence,
    /// The first of the other end (ISR).
    pub their_first: Sequence,
    /// The greatest acknowledgement number received (GAR).
    pub acknowledged: Sequence,
    /// With which it was opened (OSR).
    pub opened: Option<Sequence>,
}

/// One end of a connection.
pub struct Connection {
    pub(super) config: Config,
    pub(super) is_server: bool,
    pub(super) state: State,
    pub(super) numbers: Numbers,
    pub(super) arrivals: Arrivals,
    pub(super) features: Features,
    pub(super) sender: Sender,
    pub(super) ccid3: Option<Ccid3Receiver>,
    /// Of requests, of the acknowledgement that opens, of closing.
    pub(super) tries: Tries,
    /// The Init Cookie options of the server's answer.
    pub(super) cookie: Vec<u8>,
    /// A timestamp that must be echoed, and when it arrived.
    pub(super) stamp: Option<(u32, Instant)>,
    /// Packets of ours up to here that the receiver's full buffer dropped have been counted.
    overrun_told: Sequence,
    pub(super) queue: VecDeque<Arc<[u8]>>,
    inbox: VecDeque<Arc<[u8]>>,
    received: u64,
    /// Data packets since the last acknowledgement, and when the next one is due at the latest.
    pub(super) unacknowledged: u64,
    pub(super) ack_at: Option<Instant>,
    /// Acknowledgements have arrived; when ours must acknowledge them.
    pub(super) heard_acks: bool,
    pub(super) answer_acks_at: Instant,
    /// The other end's acknowledgements have been counted up to here.
    acks_counted: Sequence,
    pub(super) sync_due: Option<Sequence>,
    pub(super) asking: Asking,
    pub(super) sync_ack_due: Option<Sequence>,
    pub(super) reset_due: Option<Fatal>,
    /// An answer that belongs to no connection any more.
    pub(super) stray: Option<Packet>,
    limiter: Limiter,
    /// Packets without data right before the next one (section 7.7).
    pub(super) without_data: u64,
    pub(super) closes: bool,
    /// The other end does not listen.
    is_deaf: bool,
    ended: Option<ResetCode>,
    pub(super) forget_at: Option<Instant>,
    pub(super) counts: Counts,
}

/// What the options of a packet say, but for negotiation and Ack Vectors.
#[derive(Default)]
struct Said {
    elapsed: Duration,
    without_data: u64,
    checksum: Option<u32>,
    /// The greatest of our packets of which the data came corrupt.
    spoiled: Option<Sequence>,
    event_rate: Option<f64>,
    receive_rate: Option<u32>,
    intervals: Vec<LossInterval>,
}

impl Connection {
    /// The client's end; it asks when it is polled.
    pub fn connect(config: Config, controller: Box<dyn Controller>) -> Self {
        let mut connection = Self::new(config, controller, false);
        connection.ask_for_features();
        connection
    }
    /// The server's end, which has got `request` and answers when it is polled.
    pub(super) fn respond(
        config: Config,
        controller: Box<dyn Controller>,
        now: Instant,
        request: &Packet,
    ) -> Self {
        let mut connection = Self::new(config, controller, true);
        connection.state = State::Respond;
        connection.begin_hearing(now, request.header.sequence);
        connection.ask_for_features();
        if !request.data.is_empty() {
            // Nothing is kept of it (section 8.1.3).
            connection.arrivals.on_dropped(request.header.sequence, PROTOCOL_CONSTRAINTS);
        }
        if let Err(fatal) = connection.read_options(now, &request.header, &request.options) {
            connection.fail(fatal);
        }
        connection
    }
    fn new(config: Config, controller: Box<dyn Controller>, is_server: bool) -> Self {
        let first = Sequence::new(config.initial);
        let coverage = u64::from(config.coverage_least);
        let accepted: Vec<u64> = if coverage == 0 { vec![0] } else { (0..=coverage).collect() };
        Self {
            numbers: Numbers {
                next: first,
                first,
                their_first: Sequence::default(),
                acknowledged: first,
                opened: None,
            },
            arrivals: Arrivals::new(Instant::ZERO, Sequence::default()),
            features: Features::new(is_server, &accepted, config.retry),
            sender: Sender::new(config, controller, first),
            ccid3: None,
            tries: Tries::new(Instant::ZERO, config.retry),
            config,
            is_server,
            state: State::Idle,
            cookie: Vec::new(),
            stamp: None,
            overrun_told: first.minus(1),
            queue: VecDeque::new(),
            inbox: VecDeque::new(),
            received: 0,
            unacknowledged: 0,
            ack_at: None,
            heard_acks: false,
            answer_acks_at: Instant::ZERO,
            acks_counted: Sequence::default(),
            sync_due: None,
            asking: Asking::default(),
            sync_ack_due: None,
            reset_due: None,
            stray: None,
            limiter: Limiter::default(),
            without_data: 0,
            closes: false,
            is_deaf: false,
            ended: None,
            forget_at: None,
            counts: Counts::default(),
        }
    }
    fn ask_for_features(&mut self) {
        let config = self.config;
        let mut want = |name, place, value, mandatory| self.features.want(name, place, value, mandatory);
        want(Name::Ccid, Location::Here, config.ccid as u64, true);
        // Section 12.1: an end that cannot read marks must say so.
        if !config.ecn {
            want(Name::EcnIncapable, Location::Here, 1, true);
        }
        want(Name::SequenceWindow, Location::Here, config.sequence_window, false);
        match config.ccid {
            Ccid::Two => want(Name::SendAckVector, Location::There, 1, true),
            Ccid::Three => want(Name::SendLossEventRate, Location::There, 1, false),
        }
        if config.ccid == Ccid::Three && config.tells_fates {
            want(Name::SendAckVector, Location::There, 1, true);
        }
        if config.check_data {
            want(Name::CheckData, Location::There, 1, false);
        }
        if config.coverage > 0 {
            want(Name::Coverage, Location::There, config.coverage.into(), false);
        }
    }

    // --- for the application ----------------------------------------------------------------

    /// Sends a datagram when the congestion control allows. It may get lost: nothing is repeated.
    ///
    /// # Errors
    /// Why it is not taken.
    pub fn send(&mut self, data: Arc<[u8]>) -> Result<(), Refused> {
        if self.closes || self.is_deaf || self.state > State::Open {
            return Err(Refused::Closed);
        }
        if data.len() as u64 > self.config.segment().0 {
            return Err(Refused::TooLarge(data.len(), self.config.segment().0));
        }
        if self.queue.len() >= self.config.queue {
            return Err(Refused::Full(self.queue.len()));
        }
        self.queue.push_back(data);
        Ok(())
    }
    /// How many datagrams may be given to [`Connection::send`] now.
    pub fn room(&self) -> usize {
        let open = !self.closes && !self.is_deaf && self.state <= State::Open;
        if open { self.config.queue.saturating_sub(self.queue.len()) } else { 0 }
    }
    /// The next datagram that has come.
    pub fn receive(&mut self) -> Option<Arc<[u8]>> {
        self.inbox.pop_front()
    }
    /// The fate of one more datagram of ours: how many were sent before it, and whether the other end has it.
    /// `None` if there is no news, or if [`Config::tells_fates`] is off. A datagram reported lost may still
    /// arrive.
    pub fn take_fate(&mut self) -> Option<(u64, bool)> {
        self.sender.flight.take_fate()
    }
    /// Closes as soon as everything given to [`Connection::send`] has left.
    pub fn close(&mut self) {
        self.closes = true;
    }
    /// Ends at once.
    pub fn abort(&mut self) {
        if self.state < State::TimeWait {
            self.fail((ResetCode::Aborted, [0; 3]));
        }
    }
    /// Where it stands.
    pub fn state(&self) -> State {
        self.state
    }
    /// Why it ended, if it has.
    pub fn ended(&self) -> Option<ResetCode> {
        self.ended
    }
    /// Bytes of data that have come, each datagram counted once.
    pub fn received(&self) -> u64 {
        self.received
    }
    /// Bytes of data that are known to have arrived at the other end (CCID 2 only).
    pub fn delivered(&self) -> u64 {
        self.sender.delivered()
    }
    /// The smoothed round-trip time.
    pub fn rtt(&self) -> Option<Duration> {
        self.sender.rtt()
    }
    /// How much it has done.
    pub fn counts(&self) -> Counts {
        Counts { syncs: self.counts.syncs, invalid: self.counts.invalid, ..self.sender.counts }
    }
    /// Packets of ours whose fate is remembered or awaited.
    pub fn remembered(&self) -> usize {
        self.sender.flight.len()
    }
    /// The Sequence Window of this end, as both ends have it.
    pub fn sequence_window(&self) -> u64 {
        self.features.get(Name::SequenceWindow, Location::Here)
    }
    /// The Ack Ratio that the other end keeps, and the window in packets that it has to fit.
    pub fn ack_ratio(&self) -> [u64; 2] {
        [self.features.get(Name::AckRatio, Location::Here), self.sender.window()]
    }
    /// The contact plan says what the link has from now on. Poll after.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        self.sender.plan(now, rate);
    }
    /// What the controller shows.
    pub fn observe(&self, seen: &mut Observation) {
        self.sender.observe(seen);
        seen.push(("sequence_window", self.sequence_window() as f64));
        seen.push(("ack_ratio", self.features.get(Name::AckRatio, Location::Here) as f64));
    }

    // --- ends -------------------------------------------------------------------------------

    /// Ends with a Reset.
    pub(super) fn fail(&mut self, fatal: Fatal) {
        self.reset_due = Some(fatal);
        self.end(fatal.0);
        self.state = State::Closed;
    }
    pub(super) fn end(&mut self, code: ResetCode) {
        self.ended.get_or_insert(code);
        self.queue.clear();
        self.ack_at = None;
    }

    // --- reception --------------------------------------------------------------------------

    /// The first packet of the other end.
    fn begin_hearing(&mut self, now: Instant, first: Sequence) {
        self.numbers.their_first = first;
        self.arrivals = Arrivals::new(now, first);
        self.acks_counted = first;
    }
    pub(super) fn on_packet(&mut self, now: Instant, packet: Packet) {
        if matches!(self.state, State::Idle) {
            return;
        }
        let is_mine = [packet.header.destination, packet.header.source] == self.config.ports;
        if self.state >= State::TimeWait || !is_mine {
            // Step 2; RFC 6773, section 3.8.
            if self.limiter.may(now) {
                let code = if is_mine { ResetCode::NoConnection } else { ResetCode::EncapsulatedPortReuse };
                self.stray = refuse(&packet, code);
            }
            return;
        }
        let sent = self.numbers.next.minus(1);
        // Section 8.5, step 6: short numbers were not negotiated.
        let may_be_short = self.features.get(Name::AllowShort, Location::There) == 1;
        if packet.header.short && !may_be_short && self.state > State::Request {
            return;
        }
        let header = packet.header.extended(self.arrivals.greatest(), sent);
        if self.state == State::Request && !self.on_answer(now, &header, &packet) {
            return;
        }
        if !self.is_expected(now, &header) {
            return;
        }
        let arrival = self.hear(now, &header, packet.ecn);
        if let Err(fatal) = self.read_options(now, &header, &packet.options) {
            return self.fail(fatal);
        }
        self.advance(now, &header);
        if self.state < State::Open || self.state > State::Closing {
            return;
        }
        let said = self.said(now, &header, &packet.options);
        self.on_acknowledgement(now, &header, &packet.options, &said);
        if header.kind().is_data() {
            self.on_data(now, &header, &said, arrival, &packet);
        }
    }
    /// Step 4: only an answer to the request counts.
    fn on_answer(&mut self, now: Instant, header: &Header, packet: &Packet) -> bool {
        let ack = header.body.ack();
        let last = self.numbers.next.minus(1);
        let ours = ack.is_some_and(|ack| ack.is_within(self.numbers.first, last));
        match header.kind() {
            Kind::Response if ours => {
                self.begin_hearing(now, header.sequence);
                if !packet.data.is_empty() {
                    self.arrivals.on_dropped(header.sequence, PROTOCOL_CONSTRAINTS);
                }
                true
            }
            Kind::Reset if ours => {
                self.begin_hearing(now, header.sequence.minus(1));
                true
            }
            _ => {
                let details = [header.kind() as u8, 0, 0];
                if self.limiter.may(now) {
                    self.stray = refuse(packet, ResetCode::PacketError).map(|mut reset| {
                        if let Body::Reset { ack, code, .. } = reset.header.body {
                            reset.header.body = Body::Reset { ack, code, details };
                        }
                        reset
                    });
                }
                false
            }
        }
    }
    /// Steps 5 to 7: whether numbers and type can be.
    fn is_expected(&mut self, now: Instant, header: &Header) -> bool {
        if !self.is_in_windows(header) {
            self.counts.invalid += 1;
            let is_sync = matches!(header.kind(), Kind::Sync | Kind::SyncAck);
            let known = if header.kind() == Kind::Reset { self.arrivals.greatest() } else { header.sequence };
            if !is_sync && self.limiter.may(now) {
                self.sync_due = Some(known);
            }
            return false;
        }
        let late = |opened: Option<Sequence>| opened.is_some_and(|at| header.sequence.since(at) >= 0);
        let is_open = self.state >= State::Open;
        let unexpected = match header.kind() {
            Kind::CloseReq => self.is_server,
            Kind::Response => self.is_server || (is_open && late(self.numbers.opened)),
            Kind::Request => !self.is_server || (is_open && late(self.numbers.opened)),
            Kind::Data => self.state == State::Respond,
            _ => false,
        };
        if unexpected && self.limiter.may(now) {
            self.sync_due = Some(header.sequence);
        }
        !unexpected
    }
    /// Section 7.5.3.
    fn is_in_windows(&self, header: &Header) -> bool {
        let theirs = self.features.get(Name::SequenceWindow, Location::There);
        let ours = self.features.get(Name::SequenceWindow, Location::Here);
        let greatest = self.arrivals.greatest();
        let lowest = greatest.plus(1).minus(theirs / 4).later(self.numbers.their_first);
        let highest = greatest.plus((theirs * 3).div_ceil(4));
        let sent = self.numbers.next.minus(1);
        let lowest_ack = self.numbers.next.minus(ours).later(self.numbers.first);
        let acknowledges = |low: Sequence| header.body.ack().is_none_or(|ack| ack.is_within(low, sent));
        match header.kind() {
            Kind::CloseReq | Kind::Close | Kind::Reset => {
                header.sequence.is_within(greatest.plus(1), highest)
                    && acknowledges(self.numbers.acknowledged)
            }
            // A Sync says where the other end is, however far that is.
            Kind::Sync | Kind::SyncAck => header.sequence.since(lowest) >= 0 && acknowledges(lowest_ack),
            _ => header.sequence.is_within(lowest, highest) && acknowledges(lowest_ack),
        }
    }
    /// A valid packet: its numbers count.
    fn hear(&mut self, now: Instant, header: &Header, ecn: Ecn) -> Arrival {
        // An end that is ECN incapable reads no marks.
        let is_marked = self.config.ecn && ecn == Ecn::Marked;
        let arrival = self.arrivals.record(now, header.sequence, is_marked);
        let theirs = self.features.get(Name::SequenceWindow, Location::There);
        self.arrivals.forget_below(self.arrivals.greatest().minus(theirs));
        // The first numbers bound windows at the start only, and may not seem to lie ahead after 2^47.
        let floor = self.arrivals.greatest().minus(SEQUENCE_WINDOW[1]);
        if floor.since(self.numbers.their_first) > 0 {
            self.numbers.their_first = floor;
        }
        let floor = self.numbers.next.minus(SEQUENCE_WINDOW[1] + 1);
        if floor.since(self.numbers.first) > 0 {
            self.numbers.first = floor;
        }
        if let Some(ack) = header.body.ack() {
            // What a Sync names need not have been understood (section 5.7).
            if header.kind() != Kind::Sync {
                self.numbers.acknowledged = ack.later(self.numbers.acknowledged);
                self.arrivals.on_acknowledged(ack);
                self.asking.stop();
            }
        }
        arrival
    }

    // --- options ----------------------------------------------------------------------------

    /// Step 8: negotiation, and what must be understood.
    fn read_options(&mut self, now: Instant, header: &Header, options: &[u8]) -> Result<(), Fatal> {
        self.stamp = Options::new(options).map_while(Result::ok).fold(self.stamp, |last, item| match item {
            Item::Timestamp(stamp) => Some((stamp, now)),
            _ => last,
        });
        if header.kind() == Kind::Data {
            return Ok(());
        }
        if header.kind() == Kind::Response {
            self.cookie.clear();
        }
        let mut mandatory = false;
        let mut hears = None;
        for item in Options::new(options).map_while(Result::ok) {
            match item {
                Item::Mandatory if mandatory => return Err((ResetCode::OptionError, [1, 0, 0])),
                Item::Unknown { kind, value } if mandatory => {
                    let byte = |at: usize| value.get(at).copied().unwrap_or(0);
                    return Err((ResetCode::MandatoryError, [kind, byte(0), byte(1)]));
                }
                Item::Feature { act, feature, values }
                    if *hears.get_or_insert_with(|| self.features.may_hear(header.sequence)) =>
                {
                    self.features.on_option((act, feature, values), header.body.ack(), mandatory)?;
                    self.follow_features(now);
                }
                Item::InitCookie(cookie) if header.kind() == Kind::Response => {
                    // All of them, in their order (section 8.1.4).
                    Item::InitCookie(cookie).write(&mut self.cookie);
                    if self.cookie.len() > COOKIES_MAX {
                        return Err((ResetCode::OptionError, [36, 0, 0]));
                    }
                }
                // A client that still shows its cookie has heard nothing yet.
                Item::InitCookie(_) if self.is_server && self.state == State::Open => self.ack_at = Some(now),
                _ => {}
            }
            mandatory = item == Item::Mandatory;
        }
        if mandatory { Err((ResetCode::OptionError, [1, 0, 0])) } else { Ok(()) }
    }
    /// Applies the consequences of negotiated features.
    fn follow_features(&mut self, now: Instant) {
        let theirs = self.features.get(Name::SequenceWindow, Location::There);
        if !self.config.faults.small_sequence_window {
            // Acknowledgements in flight may be half as many as their data.
            self.widen_window(theirs / 2);
        }
        let is_three = self.features.get(Name::Ccid, Location::There) == Ccid::Three as u64;
        if is_three && self.ccid3.is_none() {
            self.ccid3 = Some(Ccid3Receiver::new(now, self.config.segment(), self.numbers.their_first));
            self.features.want(Name::SendNdpCount, Location::There, 1, false);
        }
    }
    pub(super) fn widen_window(&mut self, needed: u64) {
        let here = self.features.get(Name::SequenceWindow, Location::Here);
        if needed > here && !self.features.is_wanted(Name::SequenceWindow, Location::Here) {
            let value = needed.clamp(SEQUENCE_WINDOW[0], SEQUENCE_WINDOW[1]);
            self.features.want(Name::SequenceWindow, Location::Here, value, false);
        }
    }
    fn said(&mut self, now: Instant, header: &Header, options: &[u8]) -> Said {
        let mut said = Said::default();
        // What a Sync names is not what options are of.
        let is_sync = matches!(header.kind(), Kind::Sync | Kind::SyncAck);
        let mut drops_at = header.body.ack().filter(|_| !is_sync);
        for item in Options::new(options).map_while(Result::ok) {
            if header.kind() == Kind::Data && !item.may_be_on_data() {
                continue;
            }
            match item {
                Item::ElapsedTime(units) => said.elapsed = Item::span(units),
                Item::NdpCount(count) => said.without_data = count,
                Item::DataChecksum(crc) => said.checksum = Some(crc),
                Item::LossEventRate(u32::MAX) => said.event_rate = Some(0.0),
                Item::LossEventRate(packets) => said.event_rate = Some(1.0 / f64::from(packets.max(1))),
                Item::ReceiveRate(rate) => said.receive_rate = Some(rate),
                // A further option continues where the last one ends, so it skips nothing (RFC 4342, section
                // 8.6.1).
                Item::LossIntervals { skip, cells } if said.intervals.is_empty() || skip == 0 => {
                    let room = INTERVALS_MAX - said.intervals.len();
                    said.intervals.extend(intervals(cells).take(room));
                }
                Item::SlowReceiver => self.sender.on_slow_receiver(now),
                Item::DataDropped(cells) => {
                    drops_at = drops_at.map(|at| self.read_drops(now, at, cells, &mut said));
                }
                _ => {}
            }
        }
        said
    }
    /// Blocks of a Data Dropped option, backwards from `at`; returns where the next option starts (section
    /// 11.7).
    fn read_drops(&mut self, now: Instant, mut at: Sequence, cells: &[u8], said: &mut Said) -> Sequence {
        let (mut overrun, mut told) = (0, self.overrun_told);
        for run in drops(cells) {
            match run.code {
                Some(1) => self.go_deaf(),
                // What is reported again does not count again.
                Some(2) => {
                    overrun += at.since(self.overrun_told).max(0).unsigned_abs().min(run.count);
                    told = told.later(at);
                }
                // Corrupt, or an unknown code: as if it were marked (section 11.7.2).
                Some(3..) => said.spoiled = Some(said.spoiled.map_or(at, |other: Sequence| other.later(at))),
                Some(0) | None => {}
            }
            at = at.minus(run.count);
        }
        self.overrun_told = told;
        if overrun > 0 {
            self.sender.on_overrun(now, overrun);
        }
        at
    }
    fn go_deaf(&mut self) {
        self.is_deaf = true;
        self.queue.clear();
    }

    // --- steps 9 to 15 ----------------------------------------------------------------------

    fn advance(&mut self, now: Instant, header: &Header) {
        match (header.body, self.state) {
            (Body::Reset { code, .. }, _) => {
                self.end(code);
                self.state = State::TimeWait;
                self.forget_at = Some(now.saturating_add(self.config.lifetime * 2));
                return;
            }
            (Body::Response { ack, .. }, State::Request) => self.on_response(now, ack),
            (Body::Response { .. }, State::PartOpen) => self.tries.next = now,
            (Body::Request { .. }, State::Respond) => {}
            (_, State::Respond) => self.open(now, header),
            (Body::Sync { .. }, State::PartOpen) => {}
            (_, State::PartOpen) => self.open(now, header),
            _ => {}
        }
        match header.body {
            Body::CloseReq { .. } if self.state < State::CloseReq => self.begin_closing(now, State::Closing),
            Body::Close { .. } => self.fail((ResetCode::Closed, [0; 3])),
            Body::Sync { .. } => self.sync_ack_due = Some(header.sequence),
            _ => {}
        }
    }
    /// Step 10.
    fn on_response(&mut self, now: Instant, ack: Sequence) {
        let sent_at = self.sender.flight.on_ack(ack, std::iter::empty()).newest_sent_at;
        self.state = State::PartOpen;
        let mut retry = self.config.retry;
        if let Some(sent_at) = sent_at {
            let rtt = now - sent_at;
            self.sender.on_opened(now, rtt);
            // Section 8.1.5: 200 ms, but no sooner than an answer can come.
            retry.first = (rtt * 2).max(Duration::from_nanos(200_000_000));
        }
        // Four lifetimes of a packet.
        retry.gives_up = retry.gives_up.max(self.config.lifetime * 4);
        self.tries = Tries::new(now, retry);
        self.features.set_first_retry(retry.first.max(self.config.ack_delay * 2));
    }
    /// Steps 11 and 12.
    fn open(&mut self, now: Instant, header: &Header) {
        let ack = header.body.ack();
        if self.state == State::Respond {
            let news = ack.map(|ack| self.sender.flight.on_ack(ack, std::iter::empty()));
            if let Some(sent_at) = news.and_then(|news| news.newest_sent_at) {
                let rtt = now - sent_at;
                self.sender.on_opened(now, rtt);
                self.features.set_first_retry((rtt * 2).max(self.config.ack_delay * 2));
            }
            // The client does not stop asking before it hears something.
            self.ack_at = Some(now);
        }
        self.numbers.opened = Some(header.sequence);
        self.state = State::Open;
        self.cookie.clear();
        self.features.drop_confirms();
    }
    pub(super) fn begin_closing(&mut self, now: Instant, state: State) {
        self.state = state;
        self.ack_at = None;
        self.queue.clear();
        let first = self.rtt().map_or(self.config.retry.first, |rtt| rtt * 2);
        let first = first.max(Duration::from_nanos(200_000_000));
        let retry = Retry { first, ..self.config.retry };
        self.tries = Tries::new(now, retry);
    }

    // --- data and acknowledgements ----------------------------------------------------------

    /// What a packet says of ours.
    fn on_acknowledgement(&mut self, now: Instant, header: &Header, options: &[u8], said: &Said) {
        let (Body::Ack { ack } | Body::DataAck { ack }) = header.body else { return };
        let vector = Options::new(options).map_while(Result::ok).filter_map(|item| match item {
            Item::AckVector { cells, .. } => Some(cells),
            _ => None,
        });
        let acks_lost = if self.sender.ends_window(ack) { self.count_lost_acks() } else { 0 };
        let report = self.report(said);
        self.heard_acks |= header.kind() == Kind::Ack;
        let next = self.numbers.next;
        let runs = vector.flat_map(runs);
        let (elapsed, spoiled) = (said.elapsed, said.spoiled);
        let heard = Acknowledgement { ack, runs, elapsed, spoiled, report, next, acks_lost };
        self.sender.on_ack(now, heard);
        let needed = self.sender.packets_in_flight();
        self.sender.flight.trim(ack.plus(1));
        if !self.config.faults.small_sequence_window {
            let here = self.features.get(Name::SequenceWindow, Location::Here);
            // About five times the packets in flight (section 7.5.2), requested when it falls below three
            // times.
            if needed.saturating_mul(3) > here {
                self.widen_window(needed.saturating_mul(5));
            }
        }
        self.ask_for_ratio();
    }
    pub(super) fn ask_for_ratio(&mut self) {
        if let Some(ratio) = self.sender.ack_ratio() {
            self.features.want(Name::AckRatio, Location::Here, ratio, false);
        }
    }
    /// Acknowledgements that did not come, or came with a mark (RFC 4341, section 6.1), since the last window; the newest
    /// may still.
    fn count_lost_acks(&mut self) -> u64 {
        let settled = self.arrivals.greatest().minus(self.config.duplicates.into());
        if settled.since(self.acks_counted) <= 0 {
            return 0;
        }
        let lost = self.arrivals.missing_or_marked(self.acks_counted, settled);
        self.acks_counted = settled;
        lost
    }
    fn report(&self, said: &Said) -> Option<TfrcReport> {
        let receive_rate = Bytes(said.receive_rate?.into());
        let loss_event_rate = match (said.event_rate, said.intervals.as_slice()) {
            (Some(rate), _) => rate,
            // That is no report (RFC 4342, section 6).
            (None, []) => return None,
            // Nothing was lost.
            (None, [LossInterval { lossy: 0, .. }]) => 0.0,
            (None, some) => ccid3_receiver::loss_event_rate(&some.iter().map(|i| i.data).collect::<Vec<_>>()),
        };
        Some(TfrcReport { loss_event_rate, receive_rate })
    }
    /// Data of a sender that may still expect its marks to be read are not accepted (section 12.1).
    fn has_said_what_it_reads(&self) -> bool {
        self.config.ecn || self.features.get(Name::EcnIncapable, Location::Here) == 1
    }
    /// Step 16.
    fn on_data(&mut self, now: Instant, header: &Header, said: &Said, arrival: Arrival, packet: &Packet) {
        let data = &packet.data;
        if arrival == Arrival::Old {
            return;
        }
        self.unacknowledged += 1;
        let delay = now.saturating_add(self.config.ack_delay);
        if let Some(receiver) = &mut self.ccid3 {
            let size = data.len() as u64;
            let mut is_due = receiver.on_data(now, header.sequence, header.ccval, said.without_data, size);
            is_due |= self.config.ecn && packet.ecn == Ecn::Marked && receiver.on_mark(now, header.sequence);
            if is_due {
                self.ack_at = Some(now);
            }
        } else if self.unacknowledged >= self.features.get(Name::AckRatio, Location::There).max(1) {
            self.ack_at = Some(now);
        } else if !self.config.faults.pauses {
            self.ack_at = Some(self.ack_at.map_or(delay, |at| at.min(delay)));
        }
        let covered = header.coverage == 0
            || (self.config.coverage_least > 0 && header.coverage >= self.config.coverage_least);
        let is_sound = said.checksum.is_none_or(|crc| crc == crc32c(data));
        let code = match () {
            () if !covered || !self.has_said_what_it_reads() => Some(PROTOCOL_CONSTRAINTS),
            () if !is_sound => Some(3),
            () if self.inbox.len() >= self.config.inbox => Some(2),
            () => None,
        };
        match code {
            Some(code) => self.arrivals.on_dropped(header.sequence, code),
            None => {
                self.received += data.len() as u64;
                self.inbox.push_back(data.clone());
            }
        }
    }
}
