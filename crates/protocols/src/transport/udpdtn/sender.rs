//! The sending end: every symbol once, then repairs until each block is sure to arrive.

use super::super::Machine;
use super::block::Block;
use super::departures::Departures;
use super::hearing::Hearing;
use super::{Config, Connection, Cut, Datagram, HEADER, Report, UDP_HEADER};
use crate::controllers::{Ack, Cause, Controller, ControllerEvent, Loss, Sent, Window};
use crate::record::Observation;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::transport::report_interval::ReportInterval;
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// How much a sender has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams of data sent, repairs included.
    pub sent: u64,
    /// Repairs among them.
    pub repairs: u64,
    /// Times that nothing was heard for too long.
    pub silences: u64,
}

/// The sending end of a transfer.
pub struct Sender {
    config: Config,
    controller: Box<dyn Controller>,
    length: Bytes,
    cut: Cut,
    blocks: Vec<Block>,
    /// The block whose own symbols are being sent.
    current: u32,
    /// Where the search for a block to repair continues.
    next_repair: u32,
    /// Blocks that need repairs, as of the last report; `None` if they must be searched.
    repairs: Option<VecDeque<u32>>,
    /// Blocks of which everything sent is reported and too little is there.
    lacking: VecDeque<u32>,
    hearing: Hearing,
    reports: ReportInterval,
    departures: Departures,
    /// Which block each run of datagrams belonged to, from the oldest that was not reported on.
    runs: VecDeque<(u32, u32)>,
    number: u32,
    reported: u32,
    /// The receiver has begun a new epoch, and reported nothing received since.
    restarted: bool,
    received: u32,
    /// Datagrams reported by all lives of the receiver.
    delivered: u64,
    loss: Option<f64>,
    /// Sent and received since the loss was learned.
    unlearned: (u32, u32),
    rtt: Option<Duration>,
    opened: bool,
    until_open: u32,
    complete: bool,
    /// When the last datagram left that the rate counts from, and how many bytes.
    paced: (Instant, Bytes),
    left_in_train: u32,
    /// How long the next datagram is held back behind its time, as a share of what it may be. Flows that send
    /// in step would all lose to the same one at a full queue.
    jitter: f64,
    draws: Stream,
    waits_until: Option<Instant>,
    /// Losses of what left before this datagram belong to one episode.
    recover: Option<u32>,
    silence: Option<Instant>,
    silent_for: u32,
    /// When a report came last, or the first datagram left.
    heard: Option<Instant>,
    /// Share of the controller's rate that is sent, because none came since.
    unheard: f64,
    probes: u32,
    /// Since when the plan has had no contact, on a node that pauses.
    no_contact: Option<Instant>,
    counts: Counts,
}

/// The opening is repeated after this number of datagrams until the receiver has it.
const OPEN_EVERY: u32 = 32;
/// Fewer datagrams are too small a sample of loss.
const SAMPLE_LEAST: u32 = 64;
/// Buffers hold no larger bursts for sure,
const BURST_MOST: Bytes = Bytes(256_000);
/// and what makes them larger than this is no noise.
const NOISE_MOST: Bytes = Bytes(512_000);
const RTT_LEAST: Duration = Duration::from_nanos(1000);
const TRAIN_MOST: BitRate = BitRate(1_000_000_000_000);
/// Reports that may be late before less is sent, and before a timeout.
const REPORTS_AWAITED: i64 = 4;
/// Repairs sent as probes after a timeout.
const PROBES: u32 = 4;
/// More symbols of a block than this have no name of their own: after it they are sent again.
const SYMBOLS_MAX: u32 = 65_535;
/// Share of the time between two datagrams, and bound, of what the second may be held back.
const JITTER: f64 = 0.5;
const JITTER_MOST: Duration = Duration::from_secs(1);

impl Sender {
    /// Will send `length` bytes.
    pub fn new(config: Config, controller: Box<dyn Controller>, length: Bytes) -> Self {
        let cut = Cut::new(length, &config);
        let blocks =
            (0..cut.blocks).map(|block| Block { symbols: cut.symbols_of(block), ..Block::default() });
        Self {
            config,
            controller,
            length,
            cut,
            blocks: blocks.collect(),
            current: 0,
            next_repair: 0,
            repairs: None,
            lacking: VecDeque::new(),
            hearing: Hearing::default(),
            reports: ReportInterval::default(),
            departures: Departures::default(),
            runs: VecDeque::new(),
            number: 0,
            reported: 0,
            restarted: false,
            received: 0,
            delivered: 0,
            loss: None,
            unlearned: (0, 0),
            rtt: None,
            opened: false,
            until_open: 0,
            complete: false,
            paced: (Instant::ZERO, Bytes(0)),
            left_in_train: 0,
            jitter: 0.0,
            draws: Stream::new(config.seed, "pacing", 0),
            waits_until: None,
            recover: None,
            silence: None,
            silent_for: 0,
            heard: None,
            unheard: 1.0,
            probes: 0,
            no_contact: None,
            counts: Counts::default(),
        }
    }
    /// Whether the receiver has said that it has everything.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
    /// Continues where a TCP connection stopped, at its rate and without a round trip of probing. Call it
    /// before the first poll; [`Receiver::resume`](super::Receiver::resume) is the receiver's counterpart.
    pub fn continue_from(&mut self, now: Instant, connection: &Connection) {
        let whole = self.cut.whole_below(connection.acknowledged, &self.config);
        self.blocks[..whole as usize].iter_mut().for_each(Block::is_here);
        self.current = whole;
        self.rtt = connection.rtt;
        self.controller.on_ack(&Ack { now, rtt: connection.rtt, ..Ack::default() });
        if let Some(rate) = connection.rate {
            self.controller.on_event(now, &ControllerEvent::Plan(rate));
        }
    }
    /// How much it has done.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// The contact plan or the network's management sets the rate of the link from now on; zero: no contact. Then a
    /// node that [`pauses`](super::Real::pauses) sends nothing, and its timeout stands still. Poll after.
    pub fn plan(&mut self, now: Instant, rate: BitRate) {
        self.controller.on_event(now, &ControllerEvent::Plan(rate));
        // Nothing was heard where there was no contact.
        (self.heard, self.unheard) = (None, 1.0);
        match (self.config.real.pauses && rate == BitRate(0), self.no_contact) {
            (true, None) => self.no_contact = Some(now),
            (false, Some(since)) => {
                self.no_contact = None;
                self.silence = self.silence.map(|at| at.saturating_add(now - since));
                // What was lost at the end of a contact does not hold back the data of the next.
                self.silent_for = 0;
            }
            _ => {}
        }
    }
    /// What the controller shows.
    pub fn observe(&self, seen: &mut Observation) {
        seen.push(("in_flight", self.in_flight().0 as f64));
        seen.push(("loss", self.loss.unwrap_or(f64::NAN)));
        if let Some(rtt) = self.rtt {
            seen.push(("rtt", rtt.as_secs_f64()));
        }
        self.controller.observe(seen);
    }
    fn packet(&self) -> Bytes {
        UDP_HEADER + HEADER + self.config.symbol
    }
    fn in_flight(&self) -> Bytes {
        Bytes(u64::from(self.number - self.reported) * self.config.symbol.0)
    }
    fn report_every(&self) -> Duration {
        self.interval(self.rtt)
    }
    /// Time between reports where a round trip takes this long.
    fn interval(&self, rtt: Option<Duration>) -> Duration {
        self.reports.span(rtt, self.packet(), self.controller.rate())
    }
    /// The rate of the controller, and less of it the longer no report comes: what arrives is unknown then (RFC 8085,
    /// section 3.1.1). Where light may take longer, a missing report says nothing.
    fn rate(&self) -> Option<BitRate> {
        self.controller.rate().map(|rate| BitRate((rate.0 as f64 * self.unheard) as u64))
    }
    /// What is left of the rate: all within a round trip and some reports, and then as much in twice the time.
    fn listen(&mut self, now: Instant) {
        let heard = *self.heard.get_or_insert(now);
        // A node that pauses at a timeout waits more strictly.
        let Some(rtt) = self.round_trip().filter(|_| !self.config.real.pauses) else { return };
        let expected = rtt.saturating_add(self.interval(Some(rtt)) * REPORTS_AWAITED);
        self.unheard = expected.as_secs_f64() / (now - heard).max(expected).as_secs_f64();
    }
    /// Measured, or else planned.
    fn round_trip(&self) -> Option<Duration> {
        self.rtt.or(self.config.round_trip)
    }
    fn assumed_loss(&self) -> f64 {
        self.loss.unwrap_or(self.config.loss_prior).clamp(1e-4, 0.9)
    }

    // --- reports ----------------------------------------------------------------------------

    fn on_report(&mut self, now: Instant, report: &Report) {
        // Before the first datagram has arrived there is no highest.
        let highest = if report.received == 0 { self.reported } else { report.highest.saturating_add(1) };
        let newest = highest.min(self.number);
        if self.number == 0 || report.received > newest || newest < self.reported {
            return; // reordered, or of data never sent
        }
        let Some(reborn) = self.hearing.admit(report.incarnation, report.sequence) else { return };
        if reborn {
            // Its counts restart, and it has only what it reports from now on.
            self.received = report.received;
            self.blocks.iter_mut().for_each(Block::forget);
            self.restarted = true;
        }
        self.opened = report.opened;
        self.silent_for = 0;
        (self.heard, self.unheard) = (Some(now), 1.0);
        self.complete |= report.complete && report.digest == self.config.digest;
        if report.received == 0 {
            // It has the opening, or the state of an earlier epoch, and no sample of time or loss.
            self.learn_blocks(report);
            return self.wait(now);
        }
        // Data that the receiver forgot, or ignored while it knew no session, were not lost on the path.
        let sent = if std::mem::take(&mut self.restarted) { 0 } else { newest - self.reported };
        let got = report.received.saturating_sub(self.received);
        self.see(newest);
        self.received = self.received.max(report.received);
        self.learn_blocks(report);
        let left = self.departures.at(newest - 1, report.sent_at, now);
        // Another report of the same datagram may come.
        self.departures.forget_before(newest - 1);
        let held = report.held.clamp(Duration::ZERO, (now - left).max(Duration::ZERO));
        let rtt = (now - left - held).max(RTT_LEAST);
        self.rtt = Some(self.rtt.map_or(rtt, |least| least.min(rtt)));
        if let Some(one_way) = report.one_way {
            self.reports.learn(now, rtt - one_way, rtt);
        }
        self.learn_loss(sent, got.min(sent));
        self.delivered += u64::from(got);
        self.tell(now, report, sent, got, rtt);
        self.wait(now);
    }
    fn learn_blocks(&mut self, report: &Report) {
        self.repairs = None;
        let count = self.blocks.len();
        let first = (report.first as usize).min(count);
        for (block, &here) in (first..count).zip(&report.have) {
            let block = block as u32;
            if self.blocks[block as usize].learn(here) {
                self.current = self.current.min(block);
            } else if self.is_lacking(block) && !self.blocks[block as usize].queued {
                self.blocks[block as usize].queued = true;
                self.lacking.push_back(block);
            }
        }
        let below = (report.whole_below as usize).min(count);
        self.blocks[..below].iter_mut().for_each(Block::is_here);
    }
    fn is_lacking(&self, block: u32) -> bool {
        let state = &self.blocks[block as usize];
        state.is_sent() && state.sent == state.seen && self.wants_repair(block)
    }
    /// Everything below `newest` has arrived or is lost.
    fn see(&mut self, newest: u32) {
        let mut count = newest - self.reported;
        self.reported = newest;
        while count > 0 {
            let Some((block, run)) = self.runs.front_mut() else { break };
            let part = count.min(*run);
            self.blocks[*block as usize].passed += part;
            *run -= part;
            count -= part;
            if *run == 0 {
                self.runs.pop_front();
            }
        }
    }
    /// The mean over a few thousand datagrams, so that it follows what changes.
    fn learn_loss(&mut self, sent: u32, got: u32) {
        self.unlearned.0 += sent;
        self.unlearned.1 += got;
        if self.unlearned.0 < SAMPLE_LEAST {
            return;
        }
        let (sent, got) = std::mem::take(&mut self.unlearned);
        let fresh = 1.0 - f64::from(got) / f64::from(sent);
        let weight = (f64::from(sent) / 4096.0).min(0.5);
        self.loss = Some(match self.loss {
            None => fresh.max(self.config.loss_prior * 0.1),
            Some(old) => old + weight * (fresh - old),
        });
    }
    fn tell(&mut self, now: Instant, report: &Report, sent: u32, got: u32, rtt: Duration) {
        let symbol = self.config.symbol.0;
        let lost = u64::from(sent.saturating_sub(got)) * symbol;
        let (flight_size, in_flight) = (Bytes(self.in_flight().0 + lost), self.in_flight());
        let before = self.recover;
        self.recover = before.filter(|recover| self.reported < *recover);
        let recovered = before.is_some() && self.recover.is_none();
        if lost > 0 {
            let lost = Bytes(lost);
            let episode = self.recover.is_none();
            self.recover = self.recover.or(Some(self.number));
            let cause = Cause::Gap;
            self.controller.on_loss(&Loss {
                now,
                cause,
                lost,
                flight_size,
                in_flight,
                episode,
                again: false,
            });
        }
        let packet = self.packet().0;
        let noise = self.at_most_bytes(self.config.real.noise, NOISE_MOST);
        self.controller.on_ack(&Ack {
            now,
            acked: Bytes(u64::from(got) * symbol),
            rtt: Some(rtt),
            one_way: report.one_way.map(|time| self.hearing.steady(now, time, noise)),
            in_flight,
            delivered: Bytes(self.delivered * symbol),
            window: Some(Window {
                sent: Bytes(u64::from(sent) * packet),
                received: Bytes(u64::from(got) * packet),
                train: report.train.map(|train| self.cautious(train)),
            }),
            recovering: self.recover.is_some(),
            recovered,
            limited: true,
            ..Ack::default()
        });
    }

    /// A time, but no longer than it takes to send `bytes`.
    fn at_most_bytes(&self, span: Duration, bytes: Bytes) -> Duration {
        self.controller.rate().map_or(span, |rate| span.min(rate.time_for(bytes)))
    }
    /// Where clocks are noisy, a rate that was measured by them may be a little too high, and a little
    /// too much for long is a queue.
    fn cautious(&self, train: BitRate) -> BitRate {
        let less = if self.config.real.noise > Duration::ZERO { train.0 / 32 } else { 0 };
        BitRate(train.0 - less).min(TRAIN_MOST)
    }

    // --- sending ----------------------------------------------------------------------------

    /// The block whose symbol leaves next.
    fn choose(&mut self) -> Option<u32> {
        if self.complete {
            return None;
        }
        while let Some(&block) = self.lacking.front() {
            if self.wants_repair(block) {
                return Some(block);
            }
            self.blocks[block as usize].queued = false;
            self.lacking.pop_front();
        }
        while (self.current as usize) < self.blocks.len() && self.is_done(self.current) {
            self.current += 1;
        }
        if (self.current as usize) < self.blocks.len() {
            return Some(self.current);
        }
        self.choose_repair()
    }
    /// One block after the other, so that their repairs are spread over time.
    fn choose_repair(&mut self) -> Option<u32> {
        let mut list = self.repairs.take().unwrap_or_else(|| self.find_repairs());
        while let Some(block) = list.pop_front() {
            if self.wants_repair(block) {
                self.next_repair = block + 1;
                list.push_back(block);
                self.repairs = Some(list);
                return Some(block);
            }
        }
        self.repairs = Some(list);
        None
    }
    fn find_repairs(&self) -> VecDeque<u32> {
        let count = self.blocks.len() as u32;
        let all = (0..count).map(|step| (self.next_repair + step) % count);
        all.filter(|&block| self.wants_repair(block)).collect()
    }
    fn wants_repair(&self, block: u32) -> bool {
        let block = &self.blocks[block as usize];
        let uncovered = !block.stale && !block.is_covered(self.assumed_loss(), &self.config);
        uncovered || (self.probes > 0 && !block.whole)
    }
    fn is_done(&self, block: u32) -> bool {
        let block = &self.blocks[block as usize];
        if self.config.in_order {
            block.is_covered(self.assumed_loss(), &self.config) || (block.stale && block.is_sent())
        } else {
            block.is_sent()
        }
    }
    fn send(&mut self, now: Instant, block: u32) -> Datagram {
        self.listen(now);
        let state = &mut self.blocks[block as usize];
        let symbol = state.next % SYMBOLS_MAX;
        state.next = state.next.saturating_add(1);
        state.sent += 1;
        self.counts.sent += 1;
        self.counts.repairs += u64::from(symbol >= state.symbols);
        self.probes = self.probes.saturating_sub(1);
        match self.runs.back_mut() {
            Some(run) if run.0 == block => run.1 += 1,
            _ => self.runs.push_back((block, 1)),
        }
        let number = self.number;
        self.number += 1;
        self.departures.push(number, now);
        let in_train = self.advance_train(now);
        let (size, in_flight) = (self.config.symbol, self.in_flight());
        self.controller.on_sent(&Sent { now, size, in_flight });
        if self.silence.is_none() {
            self.wait(now);
        }
        let report_every = self.report_every();
        Datagram::Data { number, block, symbol, sent_at: now, in_train, report_every }
    }
    /// Whether this datagram leaves right behind the one before.
    fn advance_train(&mut self, now: Instant) -> bool {
        if self.left_in_train > 0 {
            self.left_in_train -= 1;
            self.paced.1 += self.packet();
            return true;
        }
        if let Some(rate) = self.rate() {
            let slack = self.at_most_bytes(self.config.real.slack, BURST_MOST);
            // A probe does not wait for its turn, which never comes at a rate of zero.
            self.paced.0 = self.scheduled(rate).min(now).max(now - self.held_back(rate) - slack);
            self.jitter = self.draws.unit();
        }
        self.paced.1 = self.packet();
        self.left_in_train = self.controller.advice().probe_train.saturating_sub(1);
        false
    }
    /// When the next datagram is due, but for its jitter.
    fn scheduled(&self, rate: BitRate) -> Instant {
        self.paced.0.saturating_add(rate.time_for(self.paced.1))
    }
    fn held_back(&self, rate: BitRate) -> Duration {
        let gap = rate.time_for(self.packet()).min(JITTER_MOST);
        Duration::from_nanos((gap.as_nanos() as f64 * JITTER * self.jitter) as i64)
    }
    fn leaves_at(&self) -> Instant {
        match self.rate() {
            Some(rate) => self.scheduled(rate).saturating_add(self.held_back(rate)),
            None => Instant::ZERO,
        }
    }
    fn may_leave(&mut self, now: Instant) -> bool {
        if self.probes > 0 && self.silent_for > 0 {
            // A question, not a load: neither window nor rate may keep it back.
            return true;
        }
        if self.silent_for > 0 && self.config.real.pauses {
            self.waits_until = None;
            return false;
        }
        let room = self.has_room();
        let due = if self.left_in_train > 0 { now } else { self.leaves_at() };
        self.waits_until = Some(due).filter(|due| room && *due > now);
        room && due <= now
    }
    /// Whether the window admits another datagram.
    fn has_room(&self) -> bool {
        self.controller.window().0.saturating_sub(self.in_flight().0) >= self.config.symbol.0
    }
    /// Whether window and rate admit another datagram before the next timeout.
    fn goes_on(&self) -> bool {
        self.has_room() && self.silence.is_none_or(|timeout| self.leaves_at() <= timeout)
    }
    fn wait(&mut self, now: Instant) {
        let now = self.no_contact.unwrap_or(now);
        let real = &self.config.real;
        let span = self.round_trip().map_or(real.silence_first, |rtt| {
            (rtt * 2).saturating_add(self.interval(Some(rtt)) * REPORTS_AWAITED)
        });
        let longer = Duration::from_nanos(span.as_nanos().saturating_mul(1 << self.silent_for.min(20)));
        // Never sooner than an answer can be here.
        self.silence = Some(now.saturating_add(longer.min(real.silence_most).max(span)));
    }
    /// Timeout: datagrams in flight may be lost with all their repairs.
    fn on_silence(&mut self, now: Instant) {
        self.silent_for += 1;
        self.wait(now);
        let everything_left = self.current as usize >= self.blocks.len();
        let early = self.rtt.is_none() && !everything_left && !self.config.real.pauses;
        if early && self.goes_on() {
            return; // data continue; light may take longer than the wait
        }
        self.counts.silences += 1;
        self.probes = if early { 1 } else { PROBES };
        self.repairs = None;
        self.until_open = 0;
        // The receiver may have restarted.
        self.opened &= !self.config.real.pauses;
    }
}

impl Machine for Sender {
    type Input = Datagram;
    type Output = Datagram;

    fn handle(&mut self, now: Instant, datagram: Datagram) {
        match datagram {
            Datagram::Report(report) => self.on_report(now, &report),
            Datagram::Unknown => {
                self.until_open = if self.opened { 0 } else { self.until_open };
                self.opened = false;
            }
            Datagram::Open { .. } | Datagram::Data { .. } => {}
        }
    }
    fn poll(&mut self, now: Instant) -> Option<Datagram> {
        if self.complete {
            self.silence = None;
            self.waits_until = None;
            return None;
        }
        if self.controller.deadline().is_some_and(|at| at <= now) {
            self.controller.on_event(now, &ControllerEvent::Deadline);
        }
        if self.no_contact.is_some() {
            return None;
        }
        if self.silence.is_some_and(|at| at <= now) {
            self.on_silence(now);
        }
        if !self.opened && self.until_open == 0 {
            self.until_open = OPEN_EVERY;
            let open = Datagram::Open { length: self.length, report_every: self.report_every() };
            self.paced.1 += open.size(self.config.symbol);
            return Some(open);
        }
        if self.number == u32::MAX || !self.may_leave(now) {
            return None;
        }
        let Some(block) = self.choose() else {
            self.waits_until = None;
            return None;
        };
        self.until_open = self.until_open.saturating_sub(1);
        Some(self.send(now, block))
    }
    fn deadline(&self) -> Option<Instant> {
        if self.complete {
            return None;
        }
        let own = [self.silence, self.waits_until].map(|at| at.filter(|_| self.no_contact.is_none()));
        own.into_iter().chain([self.controller.deadline()]).flatten().min()
    }
}

impl Sender {
    /// How the bytes are cut.
    pub fn cut(&self) -> Cut {
        self.cut
    }
    /// Bytes that the receiver has reported, about.
    pub fn progress(&self) -> Bytes {
        let here = |block: &Block| if block.whole { block.symbols } else { block.have.min(block.symbols) };
        let symbols: u64 = self.blocks.iter().map(|block| u64::from(here(block))).sum();
        Bytes((symbols * self.config.symbol.0).min(self.length.0))
    }
    /// Datagrams of data that the receiver has reported.
    pub fn received(&self) -> u32 {
        self.received
    }
    /// Share of datagrams that are lost, if enough were reported on.
    pub fn loss(&self) -> Option<f64> {
        self.loss
    }
    /// Least round trip seen so far.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::super::Real;
    use super::*;
    use crate::controllers::{Factory, Flow};

    const S: fn(i64) -> Instant = Instant::from_secs;

    fn poll_all(sender: &mut Sender, now: Instant) -> usize {
        std::iter::from_fn(|| sender.poll(now)).count()
    }

    #[test]
    fn without_a_contact_nothing_leaves_and_the_timeout_stands_still() {
        let real = Real { pauses: true, ..Real::default() };
        let config = Config { real, ..Config::new(Bytes(1500)) };
        let fixed = Factory::resolve("fixed", &Default::default()).unwrap();
        let fixed = fixed.build(Flow::new(config.symbol, Bytes(1500)));
        let mut sender = Sender::new(config, fixed, Bytes(1));
        sender.plan(S(0), BitRate(0));
        assert_eq!((poll_all(&mut sender, S(4)), sender.deadline()), (0, None));
        sender.plan(S(5), BitRate(1_000_000_000));
        assert!(poll_all(&mut sender, S(5)) + poll_all(&mut sender, S(6)) > 0);
        // All has left, and an answer is awaited for 10 s.
        assert_eq!((poll_all(&mut sender, S(7)), sender.deadline()), (0, Some(S(15))));
        sender.plan(S(8), BitRate(0));
        assert_eq!((poll_all(&mut sender, S(100)), sender.deadline()), (0, None));
        sender.plan(S(108), BitRate(1_000_000_000));
        assert_eq!((poll_all(&mut sender, S(114)), sender.deadline()), (0, Some(S(115))));
        assert!(poll_all(&mut sender, S(115)) > 0);
        assert_eq!(sender.counts().silences, 1);
    }

    #[test]
    fn a_full_window_without_an_answer_is_probed_by_one_datagram_per_timeout() {
        let config = Config::new(Bytes(1500));
        let cubic = Factory::resolve("cubic", &Default::default()).unwrap();
        let cubic = cubic.build(Flow::new(config.symbol, Bytes(1500)));
        let mut sender = Sender::new(config, cubic, Bytes(1_000_000));
        assert!(poll_all(&mut sender, S(0)) > 1);
        for (second, leave) in [(9, 0), (10, 1), (29, 0), (30, 1), (69, 0), (70, 1)] {
            let data = std::iter::from_fn(|| sender.poll(S(second)));
            let data = data.filter(|datagram| matches!(datagram, Datagram::Data { .. })).count();
            assert_eq!(data, leave, "at {second} s");
        }
        assert_eq!(sender.counts().silences, 3);
    }

    #[test]
    fn what_came_while_the_receiver_knew_no_session_was_not_lost_on_the_path() {
        let config = Config::new(Bytes(1500));
        let ours = Factory::resolve("contact_rate", &Default::default()).unwrap();
        let planned_rate = Some(BitRate(1_000_000));
        let flow = Flow { planned_rate, ..Flow::new(config.symbol, Bytes(1500)) };
        let mut sender = Sender::new(config, ours.build(flow), Bytes(100_000_000));
        let (mut now, mut received);
        now = S(0);
        let report = |sender: &mut Sender, now, incarnation, sequence, received| {
            let highest = sender.counts().sent as u32 - 1;
            let sent_at = now - Duration::from_nanos(1_000_000);
            let report = Report {
                incarnation,
                sequence,
                highest,
                received,
                sent_at,
                opened: true,
                ..Report::default()
            };
            sender.handle(now, Datagram::Report(Box::new(report)));
        };
        let sends = |sender: &mut Sender, now: &mut Instant, ms: i64| -> u32 {
            let step = |_| {
                *now += Duration::from_nanos(1_000_000);
                poll_all(sender, *now) as u32
            };
            (0..ms).map(step).sum()
        };
        for incarnation in 1..200 {
            // It is dropped for others: the data are ignored, until it has opened a session again.
            sends(&mut sender, &mut now, if incarnation > 1 { 100 } else { 1 });
            report(&mut sender, now, incarnation, 1, 0);
            received = 0;
            for sequence in 2..6 {
                received += sends(&mut sender, &mut now, 50);
                report(&mut sender, now, incarnation, sequence, received);
            }
        }
        assert_eq!(sender.loss().map(|loss| loss < 0.03), Some(true), "{:?}", sender.loss());
        let before = sender.counts().sent;
        sends(&mut sender, &mut now, 100);
        assert!(sender.counts().sent - before > 7, "{:?}", sender.counts());
    }
}
