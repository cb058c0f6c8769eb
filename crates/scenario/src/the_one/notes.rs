//! What reading settings brings beside scenarios: all errors, warnings, and which settings were read.
//!
//! A reader stops at its first error. To find the others, the setting that is wrong is set aside: from then on
//! [`Run::find`](super::settings::Run::find) does not see it, and where it must be set, the reader gets the example of
//! the error message in its place. The settings are then read again, until no new error appears.

use super::settings::Layers;
use crate::error::Error;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// More errors than are looked for.
const ERRORS_MAX: usize = 200;

/// A value for every run index.
const ALL: usize = usize::MAX;

/// What was noticed while the runs of some settings were read.
#[derive(Debug, Default)]
pub struct Notes {
    asked: RefCell<BTreeSet<String>>,
    errors: RefCell<BTreeSet<Error>>,
    aside: RefCell<BTreeSet<(String, usize)>>,
    made_up: RefCell<BTreeSet<&'static str>>,
    warnings: RefCell<Vec<String>>,
}

impl Notes {
    /// Remembers that a reader looked for a key.
    pub fn ask(&self, key: &str) {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(key) {
            asked.insert(key.to_owned());
        }
    }
    /// Keys that readers looked for, set or not.
    pub fn asked(&self) -> BTreeSet<String> {
        self.asked.borrow().clone()
    }
    /// A line for the user, once.
    pub fn warn(&self, line: String) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&line) {
            warnings.push(line);
        }
    }
    /// The lines for the user, in order.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }
    /// Whether a setting is set aside at this run.
    pub fn is_aside(&self, key: &str, index: usize) -> bool {
        let aside = self.aside.borrow();
        !aside.is_empty() && [ALL, index].iter().any(|&run| aside.contains(&(key.to_owned(), run)))
    }
    /// Something is wrong that does not stop the reader.
    pub fn record(&self, error: Error) {
        self.errors.borrow_mut().insert(error);
    }
    /// A reader got an example in place of a value.
    pub fn make_up(&self, example: &'static str) {
        self.made_up.borrow_mut().insert(example);
    }
    /// Whether a namespace has its name from an example: its missing settings are not reported.
    pub fn is_made_up(&self, name: &str) -> bool {
        self.made_up.borrow().contains(name)
    }
    /// Records an error that stopped a reader at this run, and sets the wrong setting aside. False if no setting is at
    /// fault or it was set aside before: reading again would fail at the same place.
    pub fn set_aside(&self, layers: &Layers, index: usize, error: Error) -> bool {
        let Some((key, setting)) = layers.at(&error.place) else {
            // Not reported: a consequence of an example that replaces a missing setting.
            if error.place != layers.place() || self.errors.borrow().is_empty() {
                self.record(error);
            }
            return false;
        };
        let run = if super::settings::values(&setting.value).len() > 1 { index } else { ALL };
        let is_new = self.aside.borrow_mut().insert((key.to_owned(), run));
        if is_new {
            self.record(error);
        }
        is_new && self.errors.borrow().len() < ERRORS_MAX
    }
    /// Whether there are too many errors to look for more.
    pub fn is_full(&self) -> bool {
        self.errors.borrow().len() >= ERRORS_MAX
    }
    /// All errors as one.
    pub fn error(&self) -> Option<Error> {
        Error::all(self.errors.borrow().iter().cloned())
    }
}
