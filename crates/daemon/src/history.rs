//! What carried connections, since when, and why.

use lightlag_protocols::session::Stack;
use lightlag_protocols::time::Instant;
use std::collections::VecDeque;

/// As many switches are remembered.
const KEPT: usize = 256;

/// From some time on, a stack carried connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Since when.
    pub at: Instant,
    /// Which.
    pub stack: Stack,
    /// Why, in one line.
    pub why: String,
}

/// The last switches; there is always one.
#[derive(Clone, Debug)]
pub struct History {
    now: Switch,
    before: VecDeque<Switch>,
    count: u64,
}

impl History {
    /// Since a first stack.
    pub fn new(at: Instant, stack: Stack) -> Self {
        let now = Switch { at, stack, why: "initial stack".to_owned() };
        Self { now, before: VecDeque::new(), count: 0 }
    }
    /// What carries them now.
    pub fn now(&self) -> &Switch {
        &self.now
    }
    /// Switches in all.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Another one does from now on.
    pub fn switch(&mut self, at: Instant, stack: Stack, why: String) {
        let before = std::mem::replace(&mut self.now, Switch { at, stack, why });
        self.before.push_back(before);
        if self.before.len() > KEPT {
            self.before.pop_front();
        }
        self.count += 1;
    }
    /// Keeps the present stack, for another reason.
    pub fn explain(&mut self, why: String) {
        self.now.why = why;
    }
    /// The last ones, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Switch> {
        self.before.iter().chain(std::iter::once(&self.now))
    }
}
