//! The receiving end: counts symbols, and reports.

use super::super::Machine;
use super::super::ranges::Ranges;
use super::{Config, Cut, Datagram, Here, REPORTED_BLOCKS_MAX, Report, SYMBOLS_BEYOND};
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use std::collections::BTreeMap;

/// This number of blocks is listed in each report.
const LISTED_WHOLE: u64 = 16;
/// Of more, those of which nothing has come are in every report of this number, a part a time.
const BARE_EVERY: u32 = 16;

/// The receiving end of a transfer.
pub struct Receiver {
    config: Config,
    length: Option<Bytes>,
    /// How that is cut.
    cut: Option<Cut>,
    /// Symbols of each block that are here, until it is whole.
    blocks: BTreeMap<u32, Ranges>,
    whole: Ranges,
    /// Bytes of whole blocks.
    delivered: u64,
    /// Symbols here of other blocks, of each at most one less than it is made of.
    partial: u64,
    report: Report,
    /// Numbers that have come, of the newest [`NUMBERS_MAX`].
    numbers: Ranges,
    /// The next block to report, and the next of those without symbols.
    next_listed: u64,
    next_bare: u64,
    /// Blocks with enough symbols, for the driver to decode.
    ready: Vec<u32>,
    /// The driver has checked what is here.
    confirmed: bool,
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
    head: u32,
    /// When the first that came here left, and when it came.
    left: Instant,
    first_came: Instant,
    count: u32,
}

impl Train {
    /// Whether a datagram is one of this train: jitter brings them in any order.
    ///
    /// The first of the next may be lost, so its other datagrams are known by when they left.
    fn has(&self, number: u32, sent_at: Instant, in_train: bool) -> bool {
        if !in_train {
            return self.head.wrapping_sub(number) == 1;
        }
        let apart = (sent_at - self.left).max(self.left - sent_at);
        self.head.abs_diff(number) < LONGEST && apart <= BACK_TO_BACK
    }
}

/// Datagrams of a train at most.
const LONGEST: u32 = 256;
/// They leave within this time.
const BACK_TO_BACK: Duration = Duration::from_nanos(10_000_000);

/// Shorter trains measure the clock more than the link.
const TRAIN_MIN: u32 = 4;
/// Symbol counts kept before the opening is heard, in blocks.
const BLOCKS_UNOPENED_MAX: usize = 64;
const FAREWELLS: u32 = 3;
/// A datagram this many numbers below the highest counts as a duplicate.
const NUMBERS_MAX: u64 = 65_536;

impl Receiver {
    /// One that has received nothing.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            length: None,
            cut: None,
            blocks: BTreeMap::new(),
            whole: Ranges::default(),
            delivered: 0,
            partial: 0,
            report: Report::default(),
            numbers: Ranges::default(),
            next_listed: 0,
            next_bare: 0,
            ready: Vec::new(),
            confirmed: false,
            newest_came: Instant::ZERO,
            one_way_min: None,
            train: None,
            report_every: Duration::from_secs(1),
            next_report: None,
            farewells: 0,
        }
    }
    /// Bytes that can be used: of whole blocks, and where order does not matter of symbols too.
    pub fn delivered(&self) -> u64 {
        match self.length {
            Some(_) if !self.config.in_order => self.delivered + self.partial * self.config.symbol.0,
            // Before the opening it is unknown how many symbols here will be of use.
            _ => self.delivered,
        }
    }
    /// Whether everything is here, and checked if the driver decodes.
    pub fn is_complete(&self) -> bool {
        self.has_all() && (self.confirmed || !self.config.real.decodes)
    }
    /// All blocks below this are whole.
    pub fn whole_below(&self) -> u32 {
        self.whole.first().filter(|first| first.0 == 0).map_or(0, |first| first.1 as u32)
    }
    /// Whether every block is whole.
    pub fn has_all(&self) -> bool {
        self.cut.is_some_and(|cut| self.whole.total() == u64::from(cut.blocks))
    }
    /// Whether this symbol is missing here.
    pub fn wants(&self, block: u32, symbol: u32) -> bool {
        self.whole.around(block.into()).is_none()
            && self.cut.is_none_or(|cut| block < cut.blocks)
            && self.blocks.get(&block).is_none_or(|here| here.around(symbol.into()).is_none())
    }
    /// A datagram of this number has come; false if it had come before.
    fn count(&mut self, now: Instant, number: u32) -> bool {
        let highest = u64::from(self.report.highest.max(number));
        self.numbers.remove_below((highest + 1).saturating_sub(NUMBERS_MAX));
        if u64::from(number) + NUMBERS_MAX <= highest
            || self.numbers.insert(number.into(), u64::from(number) + 1) == 0
        {
            return false;
        }
        self.report.received += 1;
        if self.report.received == 1 || number > self.report.highest {
            self.report.highest = number;
            self.newest_came = now;
        }
        true
    }
    fn on_data(&mut self, block: u32, symbol: u32) {
        if !self.wants(block, symbol) {
            return;
        }
        if self.length.is_none()
            && !self.blocks.contains_key(&block)
            && self.blocks.len() >= BLOCKS_UNOPENED_MAX
        {
            return;
        }
        let here = self.blocks.entry(block).or_default();
        here.insert(u64::from(symbol), u64::from(symbol) + 1);
        let total = here.total();
        self.partial += u64::from(total < self.symbols_of(block));
        self.try_block(block);
    }
    /// None before the opening, and of blocks that there are not.
    fn symbols_of(&self, block: u32) -> u64 {
        self.cut.filter(|cut| block < cut.blocks).map_or(0, |cut| cut.symbols_of(block).into())
    }
    /// What [`Receiver::partial`] counts of a block.
    fn partial_of(&self, block: u32) -> u64 {
        let here = self.blocks.get(&block).map_or(0, Ranges::total);
        here.min(self.symbols_of(block).saturating_sub(1))
    }
    /// A block is whole when all its own symbols are here, or enough others.
    fn try_block(&mut self, block: u32) {
        let Some(cut) = self.cut else { return };
        let Some(here) = self.blocks.get(&block).filter(|_| block < cut.blocks) else { return };
        let symbols = u64::from(cut.symbols_of(block));
        if here.first().is_some_and(|first| first.0 == 0 && first.1 >= symbols) {
            self.is_whole(block);
        } else if here.total() >= symbols + u64::from(SYMBOLS_BEYOND) {
            if self.config.real.decodes { self.ready.push(block) } else { self.is_whole(block) }
        }
    }
    /// Blocks that can be decoded, since the last call. A block that fails to decode is returned again when
    /// more of it is here.
    pub fn take_ready(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.ready)
    }
    /// A block was decoded.
    pub fn is_whole(&mut self, block: u32) {
        let (Some(cut), Some(length)) = (self.cut, self.length) else { return };
        if block >= cut.blocks || self.whole.insert(u64::from(block), u64::from(block) + 1) == 0 {
            return;
        }
        self.partial -= self.partial_of(block);
        self.blocks.remove(&block);
        let symbols = u64::from(cut.symbols_of(block));
        self.delivered = (self.delivered + symbols * self.config.symbol.0).min(length.0);
        if self.has_all() {
            self.delivered = length.0;
        }
        if self.is_complete() {
            self.farewells = FAREWELLS;
        }
    }
    /// The driver has verified the data.
    pub fn confirm(&mut self) {
        self.confirmed = true;
        self.farewells = FAREWELLS;
    }
    /// State to keep for [`Receiver::resume`]: blocks that are whole, and the symbols here of others.
    pub fn here(&self) -> (&Ranges, impl Iterator<Item = (u32, &Ranges)>) {
        (&self.whole, self.blocks.iter().map(|(&block, here)| (block, here)))
    }
    /// Begins this new epoch with the state that an earlier one has kept. Call it after the opening.
    pub fn resume(&mut self, incarnation: u32, whole: &Ranges, partial: impl Iterator<Item = (u32, Ranges)>) {
        self.report.incarnation = incarnation;
        whole.iter().flat_map(|range| range.0..range.1).for_each(|block| self.is_whole(block as u32));
        for (block, here) in partial {
            if self.whole.around(block.into()).is_none() {
                self.partial -= self.partial_of(block);
                self.blocks.insert(block, here);
                self.partial += self.partial_of(block);
                self.try_block(block);
            }
        }
    }
    fn measure_train(&mut self, now: Instant, number: u32, sent_at: Instant, in_train: bool) {
        let Some(train) = self.train.as_mut().filter(|train| train.has(number, sent_at, in_train)) else {
            self.train = Some(Train { head: number, left: sent_at, first_came: now, count: 1 });
            return;
        };
        train.head = train.head.min(number);
        train.count += 1;
        let span = (now - train.first_came).max(self.config.real.tick);
        if train.count >= TRAIN_MIN && span > Duration::ZERO {
            let size = super::UDP_HEADER + super::HEADER + self.config.symbol;
            let bits = (train.count - 1) as f64 * size.0 as f64 * 8.0;
            self.report.train = Some(BitRate((bits / span.as_secs_f64()) as u64));
        }
    }
    fn compose(&mut self, now: Instant) -> Datagram {
        let whole_below = self.whole_below();
        let listed = self.list(whole_below.into());
        let have = listed.clone().map(|block| match self.blocks.get(&(block as u32)) {
            _ if self.whole.around(block).is_some() => Here::WHOLE,
            Some(here) => Here {
                symbols: u16::try_from(here.total()).unwrap_or(u16::MAX).min(u16::MAX - 1),
                beyond: u16::try_from(here.last().map_or(0, |last| last.1)).unwrap_or(u16::MAX),
            },
            None => Here::default(),
        });
        self.report.sequence = self.report.sequence.saturating_add(1);
        let complete = self.is_complete();
        let report = Report {
            held: now - self.newest_came,
            one_way: self.one_way_min,
            whole_below,
            first: listed.start as u32,
            have: if complete { Vec::new() } else { have.collect() },
            opened: self.length.is_some(),
            complete,
            digest: if complete { self.config.digest } else { Default::default() },
            ..self.report.clone()
        };
        self.one_way_min = None;
        self.report.train = None;
        Datagram::Report(Box::new(report))
    }
    /// The blocks in the next report: all, if they are few; else those that have begun, or as many of them as
    /// fit, and in every sixteenth report a part of the others.
    fn list(&mut self, whole_below: u64) -> std::ops::Range<u64> {
        let most = REPORTED_BLOCKS_MAX as u64;
        let end = self.cut.map_or(whole_below + self.blocks.len() as u64 + self.whole.len() as u64, |cut| {
            cut.blocks.into()
        });
        if end.saturating_sub(whole_below) <= LISTED_WHOLE {
            return whole_below..end;
        }
        let begun = self.begun_below().clamp(whole_below, end);
        if begun < end && self.report.sequence.is_multiple_of(BARE_EVERY) {
            let bare = if (begun..end).contains(&self.next_bare) { self.next_bare } else { begun };
            self.next_bare = (bare + most).min(end);
            return bare..self.next_bare;
        }
        let start = self.next_listed.max(whole_below);
        let start = self.whole.around(start).map_or(start, |range| range.1);
        let start = if start >= begun { whole_below } else { start };
        self.next_listed = (start + most).min(begun);
        start..self.next_listed
    }
    /// Something has come of the block below this, and nothing of any from there on.
    fn begun_below(&self) -> u64 {
        let partial = self.blocks.last_key_value().map_or(0, |(block, _)| u64::from(*block) + 1);
        self.whole.last().map_or(0, |last| last.1).max(partial)
    }
}

impl Receiver {
    /// The sender still sends although all is here: it has not received that report yet.
    fn bid_farewell(&mut self) {
        if self.is_complete() && self.farewells == 0 {
            self.farewells = 1;
        }
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
                    self.cut = Some(Cut::new(length, &self.config));
                    let known: Vec<u32> = self.blocks.keys().copied().collect();
                    self.partial = known.iter().map(|&block| self.partial_of(block)).sum();
                    known.into_iter().for_each(|block| self.try_block(block));
                }
            }
            Datagram::Data { number, block, symbol, sent_at, in_train, report_every } => {
                self.report_every = report_every;
                if self.count(now, number) {
                    if number == self.report.highest {
                        self.report.sent_at = sent_at;
                    }
                    let one_way = now - sent_at;
                    self.one_way_min = Some(self.one_way_min.map_or(one_way, |least| least.min(one_way)));
                    self.measure_train(now, number, sent_at, in_train);
                    self.on_data(block, symbol);
                }
                self.bid_farewell();
            }
            Datagram::Report(_) | Datagram::Unknown => return,
        }
        // The first reports come at once, each later by twice: a sender that knows no round trip yet asks for too few.
        let first = self.config.real.first_report * (1 << self.report.sequence.min(20));
        let span = self.report_every.min(first);
        let next = now.saturating_add(span);
        // What left before the sender knew the round trip asks for reports too seldom.
        self.next_report = Some(self.next_report.map_or(next, |at| at.min(next)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_lack_symbols_do_not_wait_for_those_that_have_not_begun() {
        let config = Config { symbol: Bytes(1), block_symbols: 1, ..Config::new(Bytes(100)) };
        let mut receiver = Receiver::new(config);
        let (length, report_every) = (Bytes(60_000), Duration::from_secs(1));
        let mut now = Instant::ZERO;
        receiver.handle(now, Datagram::Open { length, report_every });
        let mut listed = vec![0; 60_000];
        for number in 0..600 {
            // A repair alone makes no block whole, so each stays begun.
            let block = number % 300;
            let (symbol, sent_at) = (1 + number / 300, now);
            receiver.handle(
                now,
                Datagram::Data { number, block, symbol, sent_at, in_train: false, report_every },
            );
            now += report_every;
            let Some(Datagram::Report(report)) = receiver.poll(now) else { panic!("it reports") };
            let first = report.first as usize;
            listed[first..first + report.have.len()].iter_mut().for_each(|listed| *listed += 1);
        }
        assert!(listed[..300].iter().all(|listed| *listed > 100), "{:?}", listed[..300].iter().min());
        assert!(listed.iter().filter(|listed| **listed > 0).count() > 8_000, "those are listed too, in turn");
    }

    #[test]
    fn trains_whose_first_datagram_is_lost_are_not_taken_for_one_long_train() {
        let mut receiver = Receiver::new(Config::new(Bytes(1000)));
        let spacing = Duration::from_nanos(10_000_000);
        for train in 0..4 {
            let sent_at = Instant::from_secs(train);
            for datagram in 1..5 {
                let number = train as u32 * 16 + datagram;
                receiver.measure_train(sent_at + spacing * datagram.into(), number, sent_at, true);
            }
        }
        let rate = receiver.report.train.expect("four datagrams make a train").0;
        assert!((800_000..900_000).contains(&rate), "{rate} bit/s");
    }

    #[test]
    fn the_highest_number_that_there_is_breaks_nothing() {
        let mut receiver = Receiver::new(Config::new(Bytes(100)));
        for number in [u32::MAX, 0, u32::MAX, u32::MAX - 1] {
            let (sent_at, report_every) = (Instant::ZERO, Duration::from_secs(1));
            let data =
                Datagram::Data { number, block: u32::MAX, symbol: 0, sent_at, in_train: true, report_every };
            receiver.handle(Instant::from_secs(1), data);
        }
        let Some(Datagram::Report(report)) = receiver.poll(Instant::from_secs(9)) else {
            panic!("it reports");
        };
        assert_eq!((report.highest, report.received), (u32::MAX, 2), "what is too old is not counted");
    }
}
