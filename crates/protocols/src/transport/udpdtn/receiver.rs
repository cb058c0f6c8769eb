//! The receiving end: counts symbols, and reports.

use super::super::Machine;
use super::super::ranges::Ranges;
use super::{Config, Cut, Datagram, REPORTED_BLOCKS_MAX, Report, SYMBOLS_BEYOND};
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use std::collections::BTreeMap;

/// The receiving end of a transfer.
pub struct Receiver {
    config: Config,
    length: Option<Bytes>,
    /// Symbols of each block that are here, until it is whole.
    blocks: BTreeMap<u32, Ranges>,
    whole: Ranges,
    delivered: u64,
    report: Report,
    newest_came: Instant,
    one_way_min: Option<Duration>,
    train: Option<Train>,
    report_every: Duration,
    next_report: Option<Instant>,
    /// Reports that the transfer is complete which are still to be sent, as any may be lost.
    farewells: u32,
}

/// Datagrams that left back to back.
#[derive(Clone, Copy, Debug)]
struct Train {
    last: u32,
    first_came: Instant,
    last_came: Instant,
    count: u32,
}

/// Shorter trains measure the clock more than the link.
const TRAIN_MIN: u32 = 4;
/// Symbol counts kept before the opening is heard, in blocks.
const BLOCKS_UNOPENED_MAX: usize = 64;
const FAREWELLS: u32 = 3;

impl Receiver {
    /// One that has received nothing.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            length: None,
            blocks: BTreeMap::new(),
            whole: Ranges::default(),
            delivered: 0,
            report: Report::default(),
            newest_came: Instant::ZERO,
            one_way_min: None,
            train: None,
            report_every: Duration::from_secs(1),
            next_report: None,
            farewells: 0,
        }
    }
    /// Bytes of whole blocks.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    /// Whether everything is here.
    pub fn is_complete(&self) -> bool {
        self.cut().is_some_and(|cut| self.whole.total() == u64::from(cut.blocks))
    }
    fn cut(&self) -> Option<Cut> {
        Some(Cut::new(self.length?, &self.config))
    }

    fn on_data(&mut self, now: Instant, number: u32, block: u32, symbol: u32) {
        self.report.received += 1;
        if self.report.received == 1 || number > self.report.highest {
            self.report.highest = number;
            self.newest_came = now;
        }
        if self.whole.around(u64::from(block)).is_some() {
            return;
        }
        if self.length.is_none()
            && !self.blocks.contains_key(&block)
            && self.blocks.len() >= BLOCKS_UNOPENED_MAX
        {
            return;
        }
        self.blocks.entry(block).or_default().insert(u64::from(symbol), u64::from(symbol) + 1);
        self.try_block(block);
    }
    /// A block is whole when all its own symbols are here, or enough others.
    fn try_block(&mut self, block: u32) {
        let (Some(cut), Some(length)) = (self.cut(), self.length) else { return };
        let Some(here) = self.blocks.get(&block).filter(|_| block < cut.blocks) else { return };
        let symbols = u64::from(cut.symbols_of(block));
        let own = here.first().is_some_and(|first| first.0 == 0 && first.1 >= symbols);
        if own || here.total() >= symbols + u64::from(SYMBOLS_BEYOND) {
            self.blocks.remove(&block);
            self.whole.insert(u64::from(block), u64::from(block) + 1);
            self.delivered = (self.delivered + symbols * self.config.symbol.0).min(length.0);
            if self.is_complete() {
                self.delivered = length.0;
                self.farewells = FAREWELLS;
            }
        }
    }
    fn measure_train(&mut self, now: Instant, number: u32, in_train: bool) {
        match &mut self.train {
            Some(train) if in_train && number == train.last + 1 => {
                train.last = number;
                train.last_came = now;
                train.count += 1;
                let span = now - train.first_came;
                if train.count >= TRAIN_MIN && span > Duration::ZERO {
                    let size = super::UDP_HEADER + super::HEADER + self.config.symbol;
                    let bits = (train.count - 1) as f64 * size.0 as f64 * 8.0;
                    self.report.train = Some(BitRate((bits / span.as_secs_f64()) as u64));
                }
            }
            _ => self.train = Some(Train { last: number, first_came: now, last_came: now, count: 1 }),
        }
    }
    fn compose(&mut self, now: Instant) -> Datagram {
        let whole_below = self.whole.first().filter(|first| first.0 == 0).map_or(0, |first| first.1);
        let known =
            self.cut().map_or(whole_below + self.blocks.len() as u64 + self.whole.len() as u64, |cut| {
                cut.blocks.into()
            });
        let listed = (whole_below..known).take(REPORTED_BLOCKS_MAX);
        let have = listed.map(|block| match self.blocks.get(&(block as u32)) {
            _ if self.whole.around(block).is_some() => u32::MAX,
            Some(here) => here.total() as u32,
            None => 0,
        });
        let report = Report {
            held: now - self.newest_came,
            one_way: self.one_way_min.take(),
            whole_below: whole_below as u32,
            have: have.collect(),
            opened: self.length.is_some(),
            complete: self.is_complete(),
            ..self.report.clone()
        };
        self.report.train = None;
        Datagram::Report(Box::new(report))
    }
}

impl Machine for Receiver {
    type Input = Datagram;
    type Output = Datagram;

    fn handle(&mut self, now: Instant, datagram: Datagram) {
        match datagram {
            Datagram::Open { length, report_every } => {
                self.report_every = report_every;
                if self.length.is_none() {
                    self.length = Some(length);
                    let known: Vec<u32> = self.blocks.keys().copied().collect();
                    known.into_iter().for_each(|block| self.try_block(block));
                }
            }
            Datagram::Data { number, block, symbol, sent_at, in_train, report_every } => {
                self.report_every = report_every;
                if number >= self.report.highest {
                    self.report.sent_at = sent_at;
                }
                let one_way = now - sent_at;
                self.one_way_min = Some(self.one_way_min.map_or(one_way, |least| least.min(one_way)));
                self.measure_train(now, number, in_train);
                self.on_data(now, number, block, symbol);
                if self.is_complete() && self.farewells == 0 {
                    // The sender has not heard of it yet.
                    self.farewells = 1;
                }
            }
            Datagram::Report(_) => return,
        }
        if self.next_report.is_none() {
            self.next_report = Some(now.saturating_add(self.report_every));
        }
    }
    fn poll(&mut self, now: Instant) -> Option<Datagram> {
        if self.farewells > 0 {
            self.farewells -= 1;
            self.next_report = None;
            return Some(self.compose(now));
        }
        if self.next_report.is_some_and(|at| at <= now) {
            // Silent until something comes again.
            self.next_report = None;
            return Some(self.compose(now));
        }
        None
    }
    fn deadline(&self) -> Option<Instant> {
        self.next_report
    }
}
