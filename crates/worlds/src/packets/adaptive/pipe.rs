//! One end of a TCP connection with frames in both directions: two streams, each with its own segments.
//!
//! The senders of the world cut streams into full segments, so they are given records of that size: frames,
//! padded with zeros.

use super::{FAR, Make, NEAR, STREAM};
use lightlag_protocols::record::packets::Parcel;
use lightlag_protocols::session::{Fate, Session, StreamContext};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::{Machine, tcp};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::session::Frame;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Bytes that wait in TCP beyond what it has sent, as `TCP_NOTSENT_LOWAT` bounds them.
const UNSENT_MOST: u64 = 16_384;
/// A record begins with the length of its frames.
const LENGTH: usize = 2;
/// In less room nothing more is packed.
const ROOM_LEAST: usize = Frame::OVERHEAD_MAX + 64;
/// Far only answers: its records hold one notice.
const ANSWER: Bytes = Bytes(64);
/// The delivery rate is the mean of this time.
const RATE_OVER: Duration = Duration::from_secs(1);

/// One end.
pub struct Pipe {
    life: u32,
    is_near: bool,
    segment: usize,
    sender: tcp::Sender,
    receiver: tcp::Receiver,
    /// Bytes that were written and are not acknowledged, and the offset of the first.
    written: VecDeque<u8>,
    acknowledged: u64,
    /// Received records, by offset.
    parts: BTreeMap<u64, Arc<[u8]>>,
    /// Everything below was taken out of the parts.
    taken: u64,
    /// Something was acknowledged, or there was nothing to acknowledge.
    heard: Instant,
    /// Smoothed.
    rtt: Option<Duration>,
    /// What was delivered, over the last second.
    deliveries: VecDeque<(Instant, u64)>,
    /// Something was wanted that was not there.
    idle: bool,
}

impl Pipe {
    /// The end that opens, or that is opened.
    pub fn new(make: &Make, life: u32, is_near: bool) -> Self {
        let mut config = make.config.tcp;
        config.handshake = is_near;
        if !is_near {
            config.segment = ANSWER;
        }
        let mut sender = tcp::Sender::new(
            config,
            make.controllers.stream.build(make.stream_flow(config.segment)),
            false,
            None,
        );
        sender.supply(0);
        Self {
            life,
            is_near,
            segment: config.segment.0 as usize,
            sender,
            receiver: tcp::Receiver::new(&config),
            written: VecDeque::new(),
            acknowledged: 0,
            parts: BTreeMap::new(),
            taken: 0,
            heard: Instant::ZERO,
            rtt: None,
            deliveries: VecDeque::new(),
            idle: false,
        }
    }
    /// Which connection it is.
    pub fn life(&self) -> u32 {
        self.life
    }
    /// Whether the handshake is over.
    pub fn is_open(&self) -> bool {
        self.sender.is_open()
    }
    /// What its sender has done.
    pub fn counts(&self) -> tcp::Counts {
        self.sender.counts()
    }
    /// Its sender.
    pub fn sender(&self) -> &tcp::Sender {
        &self.sender
    }
    /// A segment came. True if it brought frames.
    pub fn handle(
        &mut self,
        now: Instant,
        session: &mut Session,
        (forward, segment): (bool, tcp::Segment),
        data: Arc<[u8]>,
    ) -> bool {
        if forward == self.is_near {
            let before = self.sender.delivered();
            self.sender.handle(now, segment);
            if self.sender.delivered() > before {
                self.heard = now;
                self.smooth();
            }
            self.let_go();
            return false;
        }
        if !data.is_empty() && segment.offset >= self.taken {
            self.parts.insert(segment.offset, data);
        }
        self.receiver.handle(now, segment);
        self.take(session)
    }
    /// Each acknowledgement counts by an eighth, as in Linux, not each round trip.
    fn smooth(&mut self) {
        let Some(latest) = self.sender.latest_rtt().map(Duration::as_nanos) else { return };
        let smoothed = self.rtt.map_or(latest, |rtt| rtt.as_nanos() - rtt.as_nanos() / 8 + latest / 8);
        self.rtt = Some(Duration::from_nanos(smoothed));
    }
    fn let_go(&mut self) {
        let acknowledged = self.sender.acknowledged();
        self.written.drain(..(acknowledged - self.acknowledged) as usize);
        self.acknowledged = acknowledged;
    }
    /// Passes in-order data to the session, record by record.
    fn take(&mut self, session: &mut Session) -> bool {
        let before = self.taken;
        while self.taken < self.receiver.delivered()
            && let Some(record) = self.parts.remove(&self.taken)
        {
            self.taken += record.len() as u64;
            let length = usize::from(u16::from_be_bytes([record[0], record[1]]));
            let mut rest = &record[LENGTH..LENGTH + length];
            let teller = if self.is_near { FAR } else { NEAR };
            while let Ok((frame, behind)) = Frame::read(teller, rest) {
                session.handle(&frame);
                rest = behind;
            }
        }
        self.taken > before
    }
    /// The next thing to send.
    pub fn poll(&mut self, now: Instant, session: &mut Session) -> Option<Parcel> {
        let (life, is_near) = (self.life, self.is_near);
        let made = |forward, segment, data| Parcel::Segment { life, forward, segment, data };
        if let Some(segment) = self.receiver.poll(now) {
            return Some(made(!is_near, segment, [].into()));
        }
        if self.sender.is_open() {
            self.fill(now, session);
        }
        let segment = self.sender.poll(now)?;
        let from = (segment.offset.saturating_sub(self.acknowledged) as usize).min(self.written.len());
        let to = (from + segment.length as usize).min(self.written.len());
        let data: Vec<u8> = self.written.range(from..to).copied().collect();
        Some(made(is_near, segment, data.into()))
    }
    fn fill(&mut self, now: Instant, session: &mut Session) {
        if self.sender.acknowledged() == self.sender.sent() {
            self.heard = now;
        }
        self.idle = false;
        while self.end() - self.sender.sent() < UNSENT_MOST {
            let record = record(session, self.segment);
            if record.is_empty() {
                self.idle = self.end() == self.sender.sent();
                break;
            }
            self.written.extend(record);
            self.sender.supply(self.end());
        }
    }
    fn end(&self) -> u64 {
        self.acknowledged + self.written.len() as u64
    }
    /// When to poll though nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        [self.sender.deadline(), self.receiver.deadline()].into_iter().flatten().min()
    }
    /// The context of an open connection for a policy.
    pub fn context(&mut self, now: Instant) -> Option<StreamContext> {
        if !self.is_open() {
            return None;
        }
        self.deliveries.push_back((now, self.sender.delivered()));
        while self.deliveries.get(1).is_some_and(|(at, _)| now - *at >= RATE_OVER) {
            self.deliveries.pop_front();
        }
        let counts = self.sender.counts();
        let outstanding = self.sender.acknowledged() < self.sender.sent();
        Some(StreamContext {
            rtt: self.rtt.or(self.sender.rtt()),
            backoff: self.sender.backoff(),
            silent: if outstanding { now - self.heard } else { Duration::ZERO },
            rate: self.rate(),
            application_limited: self.idle,
            fate: Fate { sent: counts.sent, lost: counts.repairs },
        })
    }
    fn rate(&self) -> Option<BitRate> {
        let ((from, before), (to, after)) = self.deliveries.front().zip(self.deliveries.back())?;
        let span = (*to - *from).as_secs_f64();
        // In a shorter span, a burst would count as the rate.
        (span >= RATE_OVER.as_secs_f64() / 2.0)
            .then(|| BitRate(((after - before) as f64 * 8.0 / span) as u64))
    }
}

/// The next frames for a stream, at most a segment; empty without any.
fn record(session: &mut Session, segment: usize) -> Vec<u8> {
    let mut record = vec![0; LENGTH];
    while let room = segment - record.len()
        && (room >= ROOM_LEAST || record.len() == LENGTH)
    {
        if session.poll(STREAM, room, &mut record).is_none() {
            break;
        }
    }
    if record.len() == LENGTH {
        return Vec::new();
    }
    let length = (record.len() - LENGTH) as u16;
    record[..LENGTH].copy_from_slice(&length.to_be_bytes());
    record.resize(segment, 0);
    record
}
