//! The pending Interests of a node, as the judge computes them.

use lightlag_protocols::ndn::{Face, Interest, Name};
use lightlag_protocols::time::{Duration, Instant};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// A node may take room for what ended a moment ago.
const LATE: Duration = Duration::from_nanos(20_000_000);

/// Who waits, and what for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub face: Face,
    pub nonce: u32,
    pub token: u32,
    pub expires: Instant,
}

/// Everyone who waits for Data of a name.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub faces: SmallVec<[Waits; 2]>,
    pub passed_on: Instant,
    ends: Instant,
}

impl Pending {
    pub(super) fn has(&self, face: Face) -> bool {
        self.faces.iter().any(|one| one.face == face)
    }
    pub(super) fn has_nonce_of_others(&self, face: Face, nonce: u32) -> bool {
        self.faces.iter().any(|one| one.face != face && one.nonce == nonce)
    }
}

/// The pending Interests of a node. Expired ones are removed.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingTable {
    /// By name. Never iterated.
    table: HashMap<u64, Pending>,
    ends: BinaryHeap<Reverse<(Instant, u64)>>,
    lately: VecDeque<Instant>,
}

impl PendingTable {
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }
    /// Those included whose end may have gone unnoticed so far.
    pub(super) fn len_at_most(&self) -> usize {
        self.table.len() + self.lately.len()
    }
    /// Forgets what has ended.
    pub(super) fn forget(&mut self, now: Instant) {
        while self.lately.front().is_some_and(|at| at.saturating_add(LATE) < now) {
            self.lately.pop_front();
        }
        while let Some(&Reverse((_, name))) = self.ends.peek().filter(|first| first.0.0 <= now) {
            self.ends.pop();
            // What was asked for again has put in its new end.
            if let Some(ends) = self.table.get(&name).map(|pending| pending.ends).filter(|ends| *ends <= now)
            {
                self.table.remove(&name);
                self.lately.push_back(ends);
            }
        }
    }
    pub(super) fn get(&self, name: Name) -> Option<&Pending> {
        self.table.get(&name.word())
    }
    pub(super) fn take(&mut self, name: Name) -> Option<Pending> {
        self.table.remove(&name.word())
    }
    /// A face joins, or a face that waits has asked again; `passed_on` if its Interest was forwarded.
    pub(super) fn join(&mut self, now: Instant, face: Face, interest: &Interest, passed_on: bool) {
        let name = interest.name.word();
        let lifetime = Duration::from_nanos(i64::from(interest.lifetime_ms) * 1_000_000);
        let expires = now.saturating_add(lifetime);
        let news = Waits { face, nonce: interest.nonce, token: interest.token, expires };
        let fresh = || Pending { faces: SmallVec::new(), passed_on: now, ends: Instant::ZERO };
        let pending = self.table.entry(name).or_insert_with(fresh);
        match pending.faces.iter_mut().find(|one| one.face == face) {
            Some(known) => *known = news,
            None => pending.faces.push(news),
        }
        if passed_on {
            pending.passed_on = now;
        }
        if expires > pending.ends {
            pending.ends = expires;
            self.ends.push(Reverse((expires, name)));
            self.tidy();
        }
    }
    /// Of what was answered no end need be kept; looked for when it may be the most of them.
    fn tidy(&mut self) {
        if self.ends.len() > 64 + 2 * self.table.len() {
            let table = &self.table;
            self.ends.retain(|end| table.get(&end.0.1).is_some_and(|pending| pending.ends == end.0.0));
        }
    }
}
