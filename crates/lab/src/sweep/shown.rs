//! How many runs are done: a bar on a terminal, elsewhere a line a minute.

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two lines.
const EVERY: Duration = Duration::from_secs(60);

/// Where progress is shown.
pub enum Shown {
    Hidden,
    Bar(ProgressBar),
    Lines(Mutex<Lines>),
}

impl Shown {
    /// Of `all` runs, of which some are done already; on standard error.
    pub fn start(is_wanted: bool, all: usize, done: usize) -> Self {
        if !is_wanted {
            return Self::Hidden;
        }
        if !io::stderr().is_terminal() {
            return Self::Lines(Mutex::new(Lines::new(all, done, EVERY)));
        }
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} runs, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(all as u64).with_style(style).with_position(done as u64);
        bar.reset_eta();
        Self::Bar(bar)
    }
    /// Another run is done.
    pub fn one_more(&self) {
        match self {
            Self::Hidden => {}
            Self::Bar(bar) => bar.inc(1),
            Self::Lines(lines) => {
                let line = lines.lock().unwrap_or_else(PoisonError::into_inner).one_more();
                if let Some(line) = line {
                    // A closed standard error stops no sweep.
                    let _ = writeln!(io::stderr(), "{line}");
                }
            }
        }
    }
    /// Clears the bar.
    pub fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// What is known for the next line.
pub struct Lines {
    all: usize,
    done: usize,
    /// Done before this process began.
    before: usize,
    every: Duration,
    began: Instant,
    last: Instant,
}

impl Lines {
    fn new(all: usize, done: usize, every: Duration) -> Self {
        let now = Instant::now();
        Self { all, done, before: done, every, began: now, last: now }
    }
    /// A line, if the last one is long enough ago and runs are left.
    fn one_more(&mut self) -> Option<String> {
        self.done += 1;
        if self.last.elapsed() < self.every || self.done >= self.all {
            return None;
        }
        self.last = Instant::now();
        let share = (self.all - self.done) as f64 / (self.done - self.before) as f64;
        let left = HumanDuration(self.began.elapsed().mul_f64(share));
        Some(format!("{} of {} runs are done, about {left} left", self.done, self.all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_runs_are_done_and_none_follows_the_last_run() {
        let mut lines = Lines::new(7, 4, Duration::ZERO);
        let line = lines.one_more().unwrap();
        assert!(line.starts_with("5 of 7 runs are done, about ") && line.ends_with(" left"), "{line}");
        assert!(lines.one_more().is_some_and(|line| line.starts_with("6 of 7")));
        assert_eq!(lines.one_more(), None);
    }

    #[test]
    fn runs_that_end_soon_after_a_line_have_none() {
        let mut lines = Lines::new(9, 0, Duration::from_secs(3600));
        assert!((0..8).all(|_| lines.one_more().is_none()));
    }
}
