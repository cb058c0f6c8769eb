//! How far a run has come, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lightlag_lab::run::Progress;
use lightlag_protocols::time::{Duration as Simulated, Instant};
use lightlag_scenario::Scenario;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Shorter runs show nothing.
const AFTER: Duration = Duration::from_secs(2);
const EVERY: Duration = Duration::from_millis(200);

/// A bar of a run on standard error, if that is a terminal. Dropping it clears the bar.
pub struct Shown(Option<Thread>);

struct Thread {
    progress: Progress,
    /// Dropped when the run has ended.
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Shown {
    /// Begins to watch a run of this scenario.
    pub fn start(scenario: &Scenario) -> Self {
        Self(stderr().is_terminal().then(|| Thread::start(scenario.head().duration)))
    }
    /// Where the run reports how far it has come.
    pub fn progress(&self) -> Option<Progress> {
        self.0.as_ref().map(|thread| thread.progress.clone())
    }
}

impl Thread {
    fn start(duration: Simulated) -> Self {
        let progress = Progress::default();
        let (ended, end) = mpsc::channel::<()>();
        let watched = progress.clone();
        let thread = std::thread::spawn(move || {
            if end.recv_timeout(AFTER) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = bar(duration);
            while end.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                show(&bar, watched.now());
            }
            bar.finish_and_clear();
        });
        Self { progress, ended: Some(ended), thread: Some(thread) }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        drop(self.ended.take());
        if let Some(thread) = self.thread.take() {
            // It draws, and nothing else: that it failed changes nothing.
            let _ = thread.join();
        }
    }
}

fn bar(duration: Simulated) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let ms = (duration.as_nanos() / 1_000_000).max(1) as u64;
    ProgressBar::with_draw_target(Some(ms), ProgressDrawTarget::stderr()).with_style(style)
}

/// Contacts of moving nodes are computed before the first record.
fn show(bar: &ProgressBar, now: Instant) {
    let ms = (now.as_nanos() / 1_000_000).max(0) as u64;
    bar.set_message(if ms == 0 { "computing contacts" } else { "running" });
    bar.set_position(ms);
}
