//! The sending end: every symbol once, then repairs until each block is sure to arrive.

use super::super::Machine;
use super::block::Block;
use super::{Config, Cut, Datagram, HEADER, Report, UDP_HEADER};
use crate::controllers::{Ack, Cause, Controller, Loss, Sent, Window};
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::trace::Observation;
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
    /// Where the search for a block to repair goes on.
    next_repair: u32,
    /// Which block each run of datagrams belonged to, from the oldest that was not reported on.
    runs: VecDeque<(u32, u32)>,
    number: u32,
    reported: u32,
    received: u32,
    loss: Option<f64>,
    rtt: Option<Duration>,
    opened: bool,
    until_open: u32,
    complete: bool,
    /// When the last datagram left that the rate counts from, and how many bytes.
    paced: (Instant, Bytes),
    left_in_train: u32,
    /// How long the next datagram is held back behind its time. Flows that send in step would all lose
    /// to the same one at a full queue.
    jitter: Duration,
    draws: Stream,
    waits_for_pace: bool,
    silence: Option<Instant>,
    silent_for: u32,
    probes: u32,
    counts: Counts,
}

/// The opening is repeated after so many datagrams while nothing was heard.
const OPEN_EVERY: u32 = 32;
/// How often the receiver reports, in round trips, and within which bounds.
const REPORTS_PER_ROUND_TRIP: i64 = 16;
const REPORT_LEAST: Duration = Duration::from_nanos(20_000_000);
const REPORT_MOST: Duration = Duration::from_secs(60);
const REPORT_FIRST: Duration = Duration::from_secs(1);
/// Before anything was heard, silence is longer than this.
const SILENCE_FIRST: Duration = Duration::from_secs(10);
const SILENCE_MOST: Duration = Duration::from_secs(86_400);
/// Repairs that ask whether anybody is still there.
const PROBES: u32 = 4;
/// Share of the time between two datagrams, and bound, of what the second may be held back.
const JITTER: f64 = 0.5;
const JITTER_MOST: Duration = Duration::from_secs(1);
const PACING_SLACK: Duration = Duration::from_nanos(1_000_000);

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
            runs: VecDeque::new(),
            number: 0,
            reported: 0,
            received: 0,
            loss: None,
            rtt: None,
            opened: false,
            until_open: 0,
            complete: false,
            paced: (Instant::ZERO, Bytes(0)),
            left_in_train: 0,
            jitter: Duration::ZERO,
            draws: Stream::new(config.seed, "pacing", 0),
            waits_for_pace: false,
            silence: None,
            silent_for: 0,
            probes: 0,
            counts: Counts::default(),
        }
    }
    /// Whether the receiver has said that it has everything.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
    /// How much it has done.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// What the controller shows.
    pub fn observe(&self, seen: &mut Observation) {
        seen.push(("in_flight", self.in_flight().0 as f64));
        seen.push(("loss", self.loss.unwrap_or(f64::NAN)));
        self.controller.observe(seen);
    }
    fn packet(&self) -> Bytes {
        UDP_HEADER + HEADER + self.config.symbol
    }
    fn in_flight(&self) -> Bytes {
        Bytes(u64::from(self.number - self.reported) * self.config.symbol.0)
    }
    fn report_every(&self) -> Duration {
        match self.rtt {
            None => REPORT_FIRST,
            Some(rtt) => {
                Duration::from_nanos(rtt.as_nanos() / REPORTS_PER_ROUND_TRIP).clamp(REPORT_LEAST, REPORT_MOST)
            }
        }
    }
    fn assumed_loss(&self) -> f64 {
        self.loss.unwrap_or(self.config.loss_prior).clamp(1e-4, 0.9)
    }

    // --- reports ----------------------------------------------------------------------------

    fn on_report(&mut self, now: Instant, report: &Report) {
        let newest = report.highest.saturating_add(1).min(self.number);
        if report.received > newest || newest < self.reported {
            return; // overtaken on the way, or of what was never sent
        }
        self.opened |= report.opened;
        self.silent_for = 0;
        let (sent, got) = (newest - self.reported, report.received.saturating_sub(self.received));
        self.see(newest);
        self.received = report.received;
        for (block, &have) in (report.whole_below..).zip(&report.have) {
            if let Some(known) = self.blocks.get_mut(block as usize) {
                known.whole |= have == u32::MAX;
                known.have = known.have.max(if have == u32::MAX { 0 } else { have });
            }
        }
        let below = (report.whole_below as usize).min(self.blocks.len());
        self.blocks[..below].iter_mut().for_each(|block| block.whole = true);
        self.complete |= report.complete;
        let rtt = now - report.sent_at - report.held;
        self.rtt = Some(self.rtt.map_or(rtt, |least| least.min(rtt)));
        if sent > 0 {
            self.learn_loss(sent, got.min(sent));
        }
        self.tell(now, report, sent, got, rtt);
        self.wait(now);
    }
    /// Everything below `newest` has arrived or is lost.
    fn see(&mut self, newest: u32) {
        let mut count = newest - self.reported;
        self.reported = newest;
        while count > 0 {
            let Some((block, run)) = self.runs.front_mut() else { break };
            let part = count.min(*run);
            self.blocks[*block as usize].seen += part;
            *run -= part;
            count -= part;
            if *run == 0 {
                self.runs.pop_front();
            }
        }
    }
    /// The mean over a few thousand datagrams, so that it follows what changes.
    fn learn_loss(&mut self, sent: u32, got: u32) {
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
        if lost > 0 {
            let lost = Bytes(lost);
            let cause = Cause::Hole;
            self.controller.on_loss(&Loss {
                now,
                cause,
                lost,
                flight_size,
                in_flight,
                episode: false,
                again: false,
            });
        }
        let packet = self.packet().0;
        self.controller.on_ack(&Ack {
            now,
            acked: Bytes(u64::from(got) * symbol),
            rtt: Some(rtt),
            one_way: report.one_way,
            in_flight,
            delivered: Bytes(u64::from(self.received) * symbol),
            window: Some(Window {
                sent: Bytes(u64::from(sent) * packet),
                received: Bytes(u64::from(got) * packet),
                train: report.train,
            }),
            limited: true,
            ..Ack::default()
        });
    }

    // --- sending ----------------------------------------------------------------------------

    /// The block whose symbol leaves next.
    fn choose(&mut self) -> Option<u32> {
        if self.complete {
            return None;
        }
        while (self.current as usize) < self.blocks.len() && self.is_done(self.current) {
            self.current += 1;
        }
        if (self.current as usize) < self.blocks.len() {
            return Some(self.current);
        }
        let loss = self.assumed_loss();
        let count = self.blocks.len() as u32;
        let found = (0..count).map(|step| (self.next_repair + step) % count).find(|&block| {
            let block = &self.blocks[block as usize];
            !block.is_covered(loss, &self.config) || (self.probes > 0 && !block.whole)
        })?;
        // One after the other, so that their repairs are spread over time.
        self.next_repair = found + 1;
        Some(found)
    }
    fn is_done(&self, block: u32) -> bool {
        let block = &self.blocks[block as usize];
        if self.config.in_order {
            block.is_covered(self.assumed_loss(), &self.config)
        } else {
            block.is_sent()
        }
    }
    fn send(&mut self, now: Instant, block: u32) -> Datagram {
        let state = &mut self.blocks[block as usize];
        let symbol = state.sent;
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
        if let Some(rate) = self.controller.rate() {
            self.paced.0 = self.scheduled(rate).max(now - self.jitter - PACING_SLACK);
            let gap = rate.time_for(self.packet()).as_nanos().min(JITTER_MOST.as_nanos());
            self.jitter = Duration::from_nanos((gap as f64 * JITTER * self.draws.unit()) as i64);
        }
        self.paced.1 = self.packet();
        self.left_in_train = self.controller.train().saturating_sub(1);
        false
    }
    /// When the next datagram is due, but for its jitter.
    fn scheduled(&self, rate: BitRate) -> Instant {
        self.paced.0.saturating_add(rate.time_for(self.paced.1))
    }
    fn leaves_at(&self) -> Instant {
        match self.controller.rate() {
            Some(rate) => self.scheduled(rate).saturating_add(self.jitter),
            None => Instant::ZERO,
        }
    }
    fn may_leave(&mut self, now: Instant) -> bool {
        let room = self.controller.window().0.saturating_sub(self.in_flight().0) >= self.config.symbol.0;
        let paced = self.left_in_train > 0 || self.leaves_at() <= now;
        self.waits_for_pace = room && !paced;
        room && paced
    }
    fn wait(&mut self, now: Instant) {
        let span = self.rtt.map_or(SILENCE_FIRST, |rtt| (rtt * 2).saturating_add(self.report_every() * 4));
        let span = span.as_nanos().saturating_mul(1 << self.silent_for.min(20));
        self.silence = Some(now.saturating_add(Duration::from_nanos(span).min(SILENCE_MOST)));
    }
    /// Nothing was heard for long: what is under way may be lost with all its repairs.
    fn on_silence(&mut self, now: Instant) {
        self.silent_for += 1;
        self.wait(now);
        let everything_left = self.current as usize >= self.blocks.len();
        if self.rtt.is_none() && !everything_left {
            return; // light may take longer than the wait
        }
        self.counts.silences += 1;
        self.probes = PROBES;
        self.until_open = 0;
    }
}

impl Machine for Sender {
    type Input = Datagram;
    type Output = Datagram;

    fn handle(&mut self, now: Instant, datagram: Datagram) {
        if let Datagram::Report(report) = datagram {
            self.on_report(now, &report);
        }
    }
    fn poll(&mut self, now: Instant) -> Option<Datagram> {
        if self.complete {
            self.silence = None;
            self.waits_for_pace = false;
            return None;
        }
        if self.silence.is_some_and(|at| at <= now) {
            self.on_silence(now);
        }
        if self.controller.deadline().is_some_and(|at| at <= now) {
            self.controller.on_deadline(now);
        }
        if !self.opened && self.until_open == 0 {
            self.until_open = OPEN_EVERY;
            let open = Datagram::Open { length: self.length, report_every: self.report_every() };
            self.paced.1 += open.size(self.config.symbol);
            return Some(open);
        }
        if !self.may_leave(now) {
            return None;
        }
        let Some(block) = self.choose() else {
            self.waits_for_pace = false;
            return None;
        };
        self.until_open = self.until_open.saturating_sub(1);
        Some(self.send(now, block))
    }
    fn deadline(&self) -> Option<Instant> {
        if self.complete {
            return None;
        }
        let paced = self.waits_for_pace.then(|| self.leaves_at());
        [self.silence, self.controller.deadline(), paced].into_iter().flatten().min()
    }
}

impl Sender {
    /// How the bytes are cut.
    pub fn cut(&self) -> Cut {
        self.cut
    }
}
