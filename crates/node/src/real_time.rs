//! Keeping time on a machine that has other work to do.

use crate::clock::to_std;
use lightlag_protocols::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant as Real;

/// As `nice` counts it: before all ordinary work.
const LEAST_NICE: i32 = -20;
/// How long the watch sleeps each time.
const NAP: Duration = Duration::from_nanos(10_000_000);

/// Gives the calling thread, and threads that it starts later, priority over ordinary work. Returns whether
/// the system allows that, which it does to root.
pub fn go_first() -> bool {
    rustix::process::setpriority_process(None, LEAST_NICE).is_ok()
}

/// Sees how late a thread is woken that asked for a time.
pub struct Watch {
    over: Arc<AtomicBool>,
    thread: JoinHandle<std::time::Duration>,
}

impl Watch {
    /// Begins, as urgent as the calling thread.
    pub fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ends = over.clone();
        let thread = thread::spawn(move || {
            let mut latest = std::time::Duration::ZERO;
            while !ends.load(Ordering::Acquire) {
                let before = Real::now();
                thread::sleep(to_std(NAP));
                latest = latest.max(before.elapsed().saturating_sub(to_std(NAP)));
            }
            latest
        });
        Self { over, thread }
    }
    /// Ends; gives how late it was at most.
    pub fn latest(self) -> Duration {
        self.over.store(true, Ordering::Release);
        let latest = self.thread.join().unwrap_or_default();
        Duration::from_nanos(i64::try_from(latest.as_nanos()).unwrap_or(i64::MAX))
    }
}
