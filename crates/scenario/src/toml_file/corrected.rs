//! All errors of a scenario at once.
//!
//! A reader stops at its first error. To find the others, the value that is wrong is taken out of the tree, or what is
//! missing is put there as the error proposes it; then the tree is read again, until no new error appears.

use super::names::NO_NODE;
use super::{Context, Outcome, scenario};
use crate::error::{Error, Mending, Place, Result};
use crate::tree::{self, Key, Node};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How often a tree is read at most.
const READS_MAX: usize = 60;

/// Reads one point, as [`scenario`].
///
/// # Errors
/// All that is wrong with it, as far as it can be found.
pub fn corrected(tree: &Node, name: &str, context: &Context) -> Result<Outcome> {
    let first = match scenario(tree, name, context) {
        Ok(outcome) => return Ok(outcome),
        Err(error) => error,
    };
    let (known, meant) = (BTreeSet::new(), BTreeSet::new());
    let mut search = Search { tree: tree.clone(), removed: known, meant, names_are_known: true };
    let mut errors = vec![first];
    let mut last = errors[0].clone();
    for _ in 0..READS_MAX {
        if !search.mend(&last) {
            break;
        }
        let Err(error) = scenario(&search.tree, name, context) else { break };
        if error.place == proposed() {
            break;
        }
        if !search.is_consequence(&error) && !errors.contains(&error) {
            errors.push(error.clone());
        }
        last = error;
    }
    // A key that is misspelt is not missing.
    let sound: Vec<Error> = errors.iter().filter(|error| !search.is_misspelt(error)).cloned().collect();
    Err(Error::all(sound).unwrap_or_else(|| errors.remove(0)))
}

/// Where a value stands that an error proposed: what is wrong with it is no fault of the scenario.
fn proposed() -> Place {
    Place::Option("example".into())
}

/// A key of a table, which is known by its line.
type KeyOf = (String, String);

struct Search {
    tree: Node,
    /// Keys that were taken out, by the place of their table.
    removed: BTreeSet<KeyOf>,
    /// Keys that were meant by others.
    meant: BTreeSet<KeyOf>,
    /// Whether nodes still have the names that the scenario gives them.
    names_are_known: bool,
}

impl Search {
    /// Whether an error is one of what was taken out, not of the scenario.
    fn is_consequence(&self, error: &Error) -> bool {
        match error.mending.as_deref() {
            Some(Mending::Add { key, .. }) => self.removed.contains(&(error.place.to_string(), key.clone())),
            _ => !self.names_are_known && error.what.contains(NO_NODE),
        }
    }
    /// Whether what is missing is there under a wrong name.
    fn is_misspelt(&self, error: &Error) -> bool {
        let Some(Mending::Add { key, .. }) = error.mending.as_deref() else { return false };
        self.meant.contains(&(error.place.to_string(), key.clone()))
    }
    /// Changes the tree so that an error is gone; false if it is not known how.
    fn mend(&mut self, error: &Error) -> bool {
        if let Some(Mending::Add { key, example }) = error.mending.as_deref() {
            let Some(entries) = tree::table_at(&mut self.tree, &error.place) else { return false };
            if entries.iter().any(|entry| entry.0.name == *key) {
                return false;
            }
            let mut value = tree::parse_argument(key, example);
            value.place = proposed();
            entries.push((Key { name: key.clone(), place: proposed() }, Arc::new(value)));
            return true;
        }
        let meant = match error.mending.as_deref() {
            Some(Mending::Remove { meant }) => Some(meant.clone()),
            _ => None,
        };
        let removed = tree::remove_at(&mut self.tree, &error.place, meant.is_some());
        let Some((table, key)) = removed.map(|(place, key)| (place.to_string(), key)) else { return false };
        self.names_are_known &= !["count", "first", "prefix"].contains(&key.as_str());
        self.meant.extend(meant.flatten().map(|meant| (table.clone(), meant)));
        self.removed.insert((table, key));
        true
    }
}
