//! How far a run or a sweep has come, for others to show.

use lightlag_protocols::record::{bundles, names, packets};
use lightlag_protocols::time::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// The instant that a run has reached, or the runs of a sweep that are done. Clones show the same.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    now_ns: AtomicI64,
    stopped: AtomicBool,
    runs_done: AtomicUsize,
    runs: AtomicUsize,
}

/// What the thread of a run unwinds with that was stopped.
#[derive(Debug)]
pub struct Stopped;

impl Progress {
    /// The instant of the latest record; zero before the first.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.0.now_ns.load(Ordering::Relaxed))
    }
    /// Ends the run at its next record: its thread unwinds with [`Stopped`], without a message. For threads whose result is no
    /// longer awaited.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }
    /// Unwinds with [`Stopped`] once it was stopped.
    pub fn check(&self) {
        if self.is_stopped() {
            std::panic::resume_unwind(Box::new(Stopped));
        }
    }
    /// How many runs of a sweep are done, of those that were missing, and how many were; zeros before it begins, and of a single
    /// run.
    pub fn runs(&self) -> (usize, usize) {
        (self.0.runs_done.load(Ordering::Relaxed), self.0.runs.load(Ordering::Relaxed))
    }
    #[cfg(feature = "reports")]
    /// This number of runs begins.
    pub(crate) fn begin(&self, runs: usize) {
        self.0.runs_done.store(0, Ordering::Relaxed);
        self.0.runs.store(runs, Ordering::Relaxed);
    }
    #[cfg(feature = "reports")]
    /// A run is done.
    pub(crate) fn count(&self) {
        self.0.runs_done.fetch_add(1, Ordering::Relaxed);
    }
    #[inline]
    fn set(&self, now: Instant) {
        self.0.now_ns.store(now.as_nanos(), Ordering::Relaxed);
        self.check();
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
