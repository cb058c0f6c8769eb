//! A forwarder: what to do with an Interest or Data that came.

use super::pit::{Entry, Found, Pit};
use super::{Data, Face, Fib, Interest, Name, Names, Store};
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// How a forwarder behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwarderConfig {
    /// Pending Interests that fit; more are refused.
    pub pending_max: usize,
    /// Bytes of Data that it keeps for others who ask.
    pub store: Bytes,
    /// The same face's Interest for a name is passed on again after this, not before.
    pub again_after: Duration,
    /// Faces from this one on answer at once or never: nothing is kept of Interests that go there.
    pub at_once_from: Face,
}

impl Default for ForwarderConfig {
    /// A million pending Interests, no store, and the suppression of NFD's best-route strategy.
    fn default() -> Self {
        Self {
            pending_max: 1 << 20,
            store: Bytes(0),
            again_after: Duration::from_nanos(10_000_000),
            at_once_from: Face::MAX,
        }
    }
}

/// Why an Interest or Data went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refused {
    /// Its hops are used up.
    HopLimit,
    /// It has been here before.
    Loop,
    /// Nothing leads there.
    NoRoute,
    /// As many Interests are pending as fit.
    PitFull,
    /// Its face has just asked for the same.
    TooSoon,
    /// No Interest is pending for these Data.
    Unsolicited,
    /// The producer has no such Data.
    NoData,
}

/// What becomes of an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is forwarded there, as it is now.
    Forward(Face),
    /// The store has what it asks for.
    Answer(Data),
    /// It waits with others for the same.
    Wait,
    /// It goes no further.
    Refuse(Refused),
}

/// How much a forwarder has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForwarderCounts {
    /// Interests that came.
    pub interests: u64,
    /// Interests answered from the store.
    pub hits: u64,
    /// Interests that joined others.
    pub aggregated: u64,
    /// Data that came.
    pub data: u64,
    /// Interests and Data refused.
    pub refused: u64,
}

/// One node's forwarder.
pub struct Forwarder {
    /// Where names lead.
    pub fib: Fib,
    pit: Pit,
    store: Store,
    dead: DeadNonces,
    config: ForwarderConfig,
    counts: ForwarderCounts,
}

/// Names and nonces of Interests that are no longer pending: one that comes back went in a circle. A
/// table of fixed size in which the newest overwrite the oldest.
struct DeadNonces(Vec<u64>);

impl DeadNonces {
    const SLOTS: usize = 1 << 13;

    fn print(name: Name, nonce: u32) -> u64 {
        (name.hash() ^ u64::from(nonce).wrapping_mul(0xff51_afd7_ed55_8ccd)) | 1
    }
    #[inline]
    fn contains(&self, name: Name, nonce: u32) -> bool {
        let print = Self::print(name, nonce);
        self.0.get(print as usize >> 1 & (Self::SLOTS - 1)) == Some(&print)
    }
    #[inline]
    fn insert(&mut self, name: Name, nonce: u32) {
        if self.0.is_empty() {
            self.0.resize(Self::SLOTS, 0);
        }
        let print = Self::print(name, nonce);
        self.0[print as usize >> 1 & (Self::SLOTS - 1)] = print;
    }
    fn insert_all(&mut self, entry: &Entry) {
        entry.downstream().for_each(|one| self.insert(entry.name(), one.nonce));
    }
}

impl Forwarder {
    /// One that knows no routes.
    pub fn new(config: ForwarderConfig) -> Self {
        Self {
            fib: Fib::default(),
            pit: Pit::new(config.pending_max),
            store: Store::new(config.store),
            dead: DeadNonces(Vec::new()),
            config,
            counts: ForwarderCounts::default(),
        }
    }
    /// How much it has done.
    pub fn counts(&self) -> ForwarderCounts {
        self.counts
    }
    /// Its pending Interests.
    pub fn pit(&self) -> &Pit {
        &self.pit
    }
    /// Its store.
    pub fn store(&self) -> &Store {
        &self.store
    }
    /// An Interest came by `face`; one hop more is behind it now.
    #[inline]
    pub fn on_interest(&mut self, now: Instant, face: Face, interest: &mut Interest) -> Verdict {
        self.counts.interests += 1;
        let verdict = self.judge(now, face, interest);
        match verdict {
            Verdict::Forward(_) => {}
            Verdict::Answer(_) => self.counts.hits += 1,
            Verdict::Wait => self.counts.aggregated += 1,
            Verdict::Refuse(_) => self.counts.refused += 1,
        }
        verdict
    }
    #[inline]
    fn judge(&mut self, now: Instant, face: Face, interest: &mut Interest) -> Verdict {
        if interest.hop_limit == 0 {
            return Verdict::Refuse(Refused::HopLimit);
        }
        interest.hop_limit -= 1;
        // An Interest that expired may still be in a loop that takes longer than its lifetime.
        let dead = &mut self.dead;
        self.pit.expire(now, |entry| dead.insert_all(entry));
        if self.dead.contains(interest.name, interest.nonce) {
            return Verdict::Refuse(Refused::Loop);
        }
        let dead = &mut self.dead;
        let found = self.pit.find(now, face, interest, |entry| dead.insert_all(entry));
        if found == Found::Loop {
            return Verdict::Refuse(Refused::Loop);
        }
        if let Some(data) = self.store.find(now, interest.name, interest.selectors.must_be_fresh) {
            return Verdict::Answer(Data { token: interest.token, ..data });
        }
        match found {
            Found::Others(at) => {
                self.pit.join(now, at, face, interest);
                Verdict::Wait
            }
            Found::Again(at) => self.ask_again(now, at, face, interest),
            Found::Nothing | Found::Loop => {
                let Some(next) = self.fib.next(interest.name.prefix, face) else {
                    return Verdict::Refuse(Refused::NoRoute);
                };
                if next >= self.config.at_once_from {
                    self.dead.insert(interest.name, interest.nonce);
                    return Verdict::Forward(next);
                }
                if self.pit.is_full() {
                    return Verdict::Refuse(Refused::PitFull);
                }
                self.pit.insert(now, face, interest);
                Verdict::Forward(next)
            }
        }
    }
    /// A consumer that has asked before thinks that the Interest or its Data were lost: they may have been.
    fn ask_again(&mut self, now: Instant, at: u32, face: Face, interest: &Interest) -> Verdict {
        let again_after = self.config.again_after;
        let Some(passed_on) = self.pit.passed_on(at) else { return Verdict::Refuse(Refused::TooSoon) };
        if now - *passed_on < again_after {
            return Verdict::Refuse(Refused::TooSoon);
        }
        *passed_on = now;
        // The one before may still come back.
        if let Some(nonce) = self.pit.join(now, at, face, interest) {
            self.dead.insert(interest.name, nonce);
        }
        match self.fib.next(interest.name.prefix, face) {
            Some(next) => Verdict::Forward(next),
            None => Verdict::Refuse(Refused::NoRoute),
        }
    }
    /// A face that answers at once has answered: the store keeps the Data, the caller passes them on.
    #[inline]
    pub fn on_answer(&mut self, now: Instant, data: &Data) {
        self.counts.data += 1;
        self.store.keep(now, data);
    }
    /// Data came by `face`: calls `send` with the face and token of each waiting face. False without any.
    #[inline]
    pub fn on_data(
        &mut self,
        now: Instant,
        face: Face,
        data: &Data,
        names: &Names,
        mut send: impl FnMut(Face, u32),
    ) -> bool {
        self.counts.data += 1;
        let mut asked = false;
        let prefix = data.name.prefix;
        // Interests for a prefix of this name: of the one before the segment, and of those above that.
        let above = names.lineage(prefix).map(|prefix| Name { prefix, segment: Name::WHOLE });
        let dead = &mut self.dead;
        self.pit.take(data.name, above, |entry| {
            entry.downstream().for_each(|one| {
                dead.insert(entry.name(), one.nonce);
                if one.expires > now && one.face != face {
                    asked = true;
                    send(one.face, one.token);
                }
            });
        });
        if asked {
            self.store.keep(now, data);
        } else {
            self.counts.refused += 1;
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HOP_LIMIT, Producer, Selectors};
    use super::*;

    struct Bench {
        forwarder: Forwarder,
        names: Names,
        name: Name,
    }

    /// Faces 1 and 2 lead to consumers, 9 to where `/a` is.
    fn bench(config: ForwarderConfig) -> Bench {
        let mut names = Names::default();
        let prefix = names.intern_text("/a/b");
        let mut forwarder = Forwarder::new(config);
        forwarder.fib.add(names.intern_text("/a"), 9, 0);
        forwarder.fib.settle(&names);
        Bench { forwarder, names, name: Name { prefix, segment: 0 } }
    }

    impl Bench {
        fn interest(&self, nonce: u32) -> Interest {
            let (lifetime_ms, hop_limit) = (4_000, HOP_LIMIT);
            let selectors = Selectors::default();
            Interest { name: self.name, nonce, token: nonce, lifetime_ms, hop_limit, selectors }
        }
        fn ask(&mut self, ms: i64, face: Face, nonce: u32) -> Verdict {
            let mut interest = self.interest(nonce);
            self.forwarder.on_interest(at(ms), face, &mut interest)
        }
        fn answer(&mut self, ms: i64, face: Face, data: &Data) -> Vec<(Face, u32)> {
            let mut sent = Vec::new();
            self.forwarder.on_data(at(ms), face, data, &self.names, |face, token| sent.push((face, token)));
            sent
        }
        fn data(&self) -> Data {
            let producer =
                Producer { object: 900, segment: 900, overhead: 100, freshness_ms: 1_000, site: Some(1) };
            producer.answer(&self.interest(0)).expect("it has it")
        }
    }

    fn at(ms: i64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }
    fn is_forwarded(verdict: &Verdict) -> bool {
        *verdict == Verdict::Forward(9)
    }

    #[test]
    fn interests_of_several_faces_go_out_once_and_data_come_back_to_all() {
        let mut bench = bench(ForwarderConfig::default());
        assert!(is_forwarded(&bench.ask(0, 1, 11)));
        assert_eq!(bench.ask(1, 2, 22), Verdict::Wait);
        let data = bench.data();
        assert_eq!(bench.answer(50, 9, &data), [(1, 11), (2, 22)]);
        assert_eq!(bench.answer(51, 9, &data), [], "each Interest is answered once");
        assert!(bench.forwarder.pit().is_empty());
    }
    #[test]
    fn an_interest_that_comes_back_is_told_from_one_that_is_repeated() {
        let mut bench = bench(ForwarderConfig::default());
        assert!(is_forwarded(&bench.ask(0, 1, 11)));
        assert_eq!(bench.ask(1, 2, 11), Verdict::Refuse(Refused::Loop));
        assert_eq!(bench.ask(5, 1, 12), Verdict::Refuse(Refused::TooSoon));
        assert!(is_forwarded(&bench.ask(200, 1, 13)));
        let data = bench.data();
        assert_eq!(bench.answer(300, 9, &data), [(1, 13)]);
        assert_eq!(bench.ask(400, 2, 13), Verdict::Refuse(Refused::Loop), "though no longer pending");
    }
    #[test]
    fn an_interest_that_comes_back_after_its_time_is_told_too() {
        for back_ms in [4_001, 4_100, 6_000] {
            let mut bench = bench(ForwarderConfig::default());
            assert!(is_forwarded(&bench.ask(0, 1, 11)));
            assert_eq!(bench.ask(back_ms, 2, 11), Verdict::Refuse(Refused::Loop), "{back_ms} ms");
            assert!(is_forwarded(&bench.ask(back_ms + 1, 1, 12)));
        }
    }
    #[test]
    fn an_interest_that_comes_back_after_its_repair_is_told_too() {
        let mut bench = bench(ForwarderConfig::default());
        assert!(is_forwarded(&bench.ask(0, 1, 11)));
        assert!(is_forwarded(&bench.ask(200, 1, 12)));
        assert_eq!(bench.ask(210, 2, 11), Verdict::Refuse(Refused::Loop));
        let data = bench.data();
        assert_eq!(bench.answer(300, 9, &data), [(1, 12)]);
        assert_eq!(bench.ask(310, 2, 11), Verdict::Refuse(Refused::Loop));
    }
    #[test]
    fn what_is_refused_has_a_name() {
        let mut full = bench(ForwarderConfig { pending_max: 0, ..ForwarderConfig::default() });
        assert_eq!(full.ask(0, 1, 1), Verdict::Refuse(Refused::PitFull));
        let mut bench = bench(ForwarderConfig::default());
        assert_eq!(bench.ask(0, 9, 1), Verdict::Refuse(Refused::NoRoute), "never back");
        let mut over = Interest { hop_limit: 0, ..bench.interest(1) };
        assert_eq!(bench.forwarder.on_interest(at(0), 1, &mut over), Verdict::Refuse(Refused::HopLimit));
        let mut other = Interest { name: Name { prefix: Names::ROOT, segment: 3 }, ..bench.interest(1) };
        assert_eq!(bench.forwarder.on_interest(at(0), 1, &mut other), Verdict::Refuse(Refused::NoRoute));
    }
    #[test]
    fn data_after_the_interests_time_are_for_nobody() {
        let mut bench = bench(ForwarderConfig { store: Bytes(10_000), ..ForwarderConfig::default() });
        bench.ask(0, 1, 11);
        let data = bench.data();
        assert_eq!(bench.answer(4_001, 9, &data), []);
        assert!(bench.forwarder.store().is_empty(), "unsolicited Data are not kept");
        assert!(is_forwarded(&bench.ask(5_000, 2, 22)));
    }
    #[test]
    fn a_store_answers_the_next_who_asks_with_the_token_of_its_interest() {
        let mut bench = bench(ForwarderConfig { store: Bytes(10_000), ..ForwarderConfig::default() });
        bench.ask(0, 1, 11);
        let data = bench.data();
        bench.answer(50, 9, &data);
        let Verdict::Answer(found) = bench.ask(60, 2, 22) else { panic!("it is in the store") };
        assert_eq!((found.token, found.print, found.site), (22, data.print, None));
    }
    #[test]
    fn interests_for_a_prefix_are_answered_by_what_lies_under_it() {
        let mut bench = bench(ForwarderConfig::default());
        let whole = Name { prefix: bench.names.intern_text("/a"), segment: Name::WHOLE };
        let selectors = Selectors { can_be_prefix: true, must_be_fresh: true };
        let mut interest = Interest { name: whole, selectors, ..bench.interest(7) };
        assert!(is_forwarded(&bench.forwarder.on_interest(at(0), 1, &mut interest)));
        let data = bench.data();
        assert_eq!(bench.answer(50, 9, &data), [(1, 7)]);
    }
    #[test]
    fn a_million_pending_interests_take_less_than_200_bytes_each() {
        let mut bench = bench(ForwarderConfig { pending_max: 1_000_000, ..ForwarderConfig::default() });
        for segment in 0..1_000_001 {
            bench.name.segment = segment;
            let verdict = bench.ask(0, 1, segment);
            assert_eq!(is_forwarded(&verdict), segment < 1_000_000, "{verdict:?}");
        }
        assert!(Pit::entry_bytes() < 200, "{} B", Pit::entry_bytes());
        // All of them end, and leave room for others.
        bench.name.segment = 2_000_000;
        assert!(is_forwarded(&bench.ask(4_100, 1, 1)));
        assert_eq!(bench.forwarder.pit().len(), 1);
    }
}
