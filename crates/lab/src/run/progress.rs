//! How far a run has come, for others to show.

use lightlag_protocols::record::{bundles, names, packets};
use lightlag_protocols::time::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// The instant that a run has reached. Clones show the same run.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    now_ns: AtomicI64,
    stopped: AtomicBool,
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
    #[inline]
    fn set(&self, now: Instant) {
        self.0.now_ns.store(now.as_nanos(), Ordering::Relaxed);
        if self.is_stopped() {
            std::panic::resume_unwind(Box::new(Stopped));
        }
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
