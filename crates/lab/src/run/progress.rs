//! How far a run has come, for others to show.

use lightlag_protocols::record::{bundles, names, packets};
use lightlag_protocols::time::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The instant that a run has reached. Clones show the same run.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<AtomicI64>);

impl Progress {
    /// The instant of the latest record; zero before the first.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Relaxed))
    }
    #[inline]
    fn set(&self, now: Instant) {
        self.0.store(now.as_nanos(), Ordering::Relaxed);
    }
}

impl bundles::Observer for Progress {
    #[inline]
    fn on_record(&mut self, now: Instant, _: &bundles::Record) {
        self.set(now);
    }
}

impl packets::Observer for Progress {
    const PACKETS: bool = false;
    #[inline]
    fn on_record(&mut self, now: Instant, _: &packets::Record) {
        self.set(now);
    }
}

impl names::Observer for Progress {
    const PACKETS: bool = false;
    #[inline]
    fn on_record(&mut self, now: Instant, _: &names::Record) {
        self.set(now);
    }
}
