//! The content store of a node, as the judge computes it.

use lightlag_protocols::ndn::{Data, Name};
use lightlag_protocols::time::Instant;
use std::collections::{BTreeMap, HashMap};

/// Data by name, and in the order in which they were last used.
#[derive(Clone, Debug, Default)]
pub(super) struct StoreState {
    capacity: u64,
    used: u64,
    uses: u64,
    /// By name: when it was last used, the Data, and until when they are fresh. Never iterated.
    kept: HashMap<u64, (u64, Data, Instant)>,
    by_use: BTreeMap<u64, u64>,
}

impl StoreState {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, ..Self::default() }
    }
    /// Data that it has, whether used or not.
    pub(super) fn get(&self, now: Instant, name: Name, fresh: bool) -> Option<&Data> {
        if self.capacity == 0 {
            return None;
        }
        let (_, data, fresh_until) = self.kept.get(&name.word())?;
        (!fresh || now < *fresh_until).then_some(data)
    }
    /// Somebody asks for Data of that name.
    pub(super) fn touch(&mut self, name: Name) {
        if self.capacity == 0 {
            return;
        }
        if let Some((use_, ..)) = self.kept.get_mut(&name.word()) {
            self.by_use.remove(use_);
            self.uses += 1;
            *use_ = self.uses;
            self.by_use.insert(self.uses, name.word());
        }
    }
    /// Data come by that somebody waited for.
    pub(super) fn keep(&mut self, now: Instant, data: &Data) {
        let size = u64::from(data.size);
        if size > self.capacity {
            return;
        }
        let fresh_until =
            Instant::from_nanos(now.as_nanos().saturating_add(i64::from(data.freshness_ms) * 1_000_000));
        self.uses += 1;
        self.used += size;
        let bare = Data { stamp: None, site: None, marked: false, ..*data };
        self.by_use.insert(self.uses, data.name.word());
        if let Some((use_, old, _)) = self.kept.insert(data.name.word(), (self.uses, bare, fresh_until)) {
            self.by_use.remove(&use_);
            self.used -= u64::from(old.size);
        }
        while self.used > self.capacity {
            let Some((_, oldest)) = self.by_use.pop_first() else { break };
            if let Some((_, data, _)) = self.kept.remove(&oldest) {
                self.used -= u64::from(data.size);
            }
        }
    }
}
