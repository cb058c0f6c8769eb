//! How far a run has come, on a terminal.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lightlag_lab::run::Progress;
use lightlag_protocols::time::{Duration as Simulated, Instant};
use lightlag_scenario::Scenario;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Clock};

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
            let mut shape = Shape::new(duration);
            while end.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                shape.show(watched.now());
            }
            shape.bar.finish_and_clear();
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

/// What is shown while contacts of moving nodes are computed, before the first record.
const BEFORE: &str = "{spinner} {msg}";
/// What is shown afterwards.
const RUNNING: &str = "running {wide_bar} {percent} %{msg}";

struct Shape {
    bar: ProgressBar,
    started: Clock,
    /// When the first record was seen, and how far the run was then.
    running: Option<(Clock, u64)>,
}

impl Shape {
    fn new(duration: Simulated) -> Self {
        let ms = (duration.as_nanos() / 1_000_000).max(1) as u64;
        let bar = ProgressBar::with_draw_target(Some(ms), ProgressDrawTarget::stderr());
        // Nothing was shown before.
        let started = Clock::now().checked_sub(AFTER).unwrap_or_else(Clock::now);
        Self { bar: bar.with_style(style(BEFORE)), started, running: None }
    }
    fn show(&mut self, now: Instant) {
        let ms = (now.as_nanos() / 1_000_000).max(0) as u64;
        if ms == 0 {
            self.bar.tick();
            self.bar.set_message(format!("computing contacts, {} s", self.started.elapsed().as_secs()));
            return;
        }
        let (since, from) = *self.running.get_or_insert_with(|| {
            self.bar.set_style(style(RUNNING));
            (Clock::now(), ms)
        });
        let all = self.bar.length().unwrap_or(ms);
        let left = left(since.elapsed(), ms.saturating_sub(from), all.saturating_sub(ms));
        self.bar
            .set_message(left.map_or_else(String::new, |left| format!(", {:#} left", HumanDuration(left))));
        self.bar.set_position(ms);
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// How long the rest will take if it goes like what is done; `None` before anything is done.
fn left(spent: Duration, done: u64, rest: u64) -> Option<Duration> {
    (done > 0).then(|| spent.mul_f64(rest as f64 / done as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_is_done() {
        let spent = Duration::from_secs(10);
        assert_eq!(left(spent, 0, 50), None);
        assert_eq!(left(spent, 25, 50), Some(Duration::from_secs(20)));
        assert_eq!(left(spent, 25, 0), Some(Duration::ZERO));
    }
}
