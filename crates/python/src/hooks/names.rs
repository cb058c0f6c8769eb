//! Names that live as long as the program, as the protocols want them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The same name for ever; each is kept once, however often it is asked for.
pub fn leaked(name: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}
