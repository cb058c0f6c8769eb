//! Error recovery: a scenario with errors is read again without the keys at fault, so that all errors are reported at once,
//! those of references too.
//!
//! A key at fault is removed; where it is needed, an example takes its place. An error that may follow from such a change is
//! not reported.

use super::nodes::STANDING;
use crate::budget::LIMITS;
use crate::error::{Error, Instead, Place};
use crate::tree::{Entries, Node, Value, not_a_parameter, parse_argument};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A scenario with more errors than this is read again after some are corrected.
const READINGS_MAX: usize = 60;
/// Values in place of wrong ones, by the last part of a path: nodes that are referred to exist, everything has time and fits.
const AMPLE: &[(&str, &str)] = &[("count", "100"), ("duration", "1000 d"), ("buffer", "1 TB")];
/// Tables without which a scenario cannot be read on.
const NEEDED: [&str; 5] = ["nodes", "links", "flows", "producers", "consumers"];
/// Tables that no others refer to.
const UNREFERRED: [&str; 4] = ["traffic", "flows", "consumers", "reports"];
/// An error of the first key may follow from a change of the second, by the last or the first part of its path.
const FOLLOWS: &[(&str, &str)] = &[
    ("mechanism", "router"),
    ("router", "contacts"),
    ("stop", "start"),
    ("end", "start"),
    ("from", "links"),
    ("to", "links"),
    ("at", "links"),
    ("object", "producers"),
    ("prefix", "producers"),
    ("size", "producers"),
    ("interval", "events"),
    ("size", "events"),
    ("interval", "file"),
    ("size", "file"),
    ("file", "rows"),
    ("file", "files"),
    ("steps", "file"),
    ("steps", "mahimahi"),
    ("rate", "rates"),
    ("delay", "round_trip"),
];

/// All errors of a scenario.
///
/// `first` are those that are known; `read` reads a scenario and returns its errors.
pub fn all_errors(tree: &Node, first: Vec<Error>, read: &dyn Fn(&Node) -> Option<Error>) -> Option<Error> {
    let (changed, found) = (BTreeSet::new(), Vec::new());
    let mut recovery = Recovery { tree: tree.clone(), changed, found, is_read_again: false };
    let mut errors = first;
    for _ in 0..READINGS_MAX {
        let changes = errors.into_iter().filter(|error| recovery.take(error)).count();
        if changes == 0 {
            break;
        }
        recovery.is_read_again = true;
        errors = read(&recovery.tree).map_or_else(Vec::new, |error| error.each().collect());
    }
    Error::all(recovery.found)
}

/// Keys from the root to a value.
type Path = Vec<String>;

struct Recovery {
    /// The scenario without what was at fault.
    tree: Node,
    /// Keys that were left out or replaced.
    changed: BTreeSet<Path>,
    found: Vec<Error>,
    /// Errors are those of the changed scenario.
    is_read_again: bool,
}

impl Recovery {
    /// Keeps an error if it is new, and changes the scenario so that it can be read on; whether that was possible.
    fn take(&mut self, error: &Error) -> bool {
        let path = match &error.fault {
            Some(fault) => Some(known_part(&self.tree, &fault.key)),
            None => at_place(&self.tree, &error.place),
        };
        if self.is_new(error, path.as_ref()) {
            self.found.push(error.clone());
        }
        path.is_some_and(|path| !exceeds_limits(error) && self.change(path, error))
    }
    fn is_new(&self, error: &Error, path: Option<&Path>) -> bool {
        let is_known = |known: &Error| known.place == error.place && known.what == error.what;
        if exceeds_limits(error) {
            // A scenario without some of its keys may take more or less.
            return self.found.is_empty();
        }
        if !self.is_read_again || self.changed.is_empty() || self.found.iter().any(is_known) {
            return !self.found.iter().any(is_known);
        }
        if self.changed.iter().any(|changed| is_reference(error, changed)) {
            return false;
        }
        let is_in = |table: &str| self.changed.iter().any(|changed| changed[0] == table);
        let Some(path) = path else {
            // In another file, such as one of contacts.
            return !is_in("nodes") && !is_in("contacts") && !is_in("links");
        };
        if self.changed.iter().any(|changed| path.starts_with(changed)) {
            return false;
        }
        let is_of_key = error.fault.is_some() && !is_table(value_at(&self.tree, path));
        if is_of_key {
            return !self.changed.iter().any(|changed| causes(changed, path));
        }
        // About a table, or several keys together.
        path.len() > 1 && !self.changed.iter().any(|changed| changed.len() == 1 || changed[0] == path[0])
    }
    fn change(&mut self, mut path: Path, error: &Error) -> bool {
        let mut instead = error.fault.as_ref().and_then(|fault| fault.instead.clone());
        if path.len() > 1 && path.last().is_some_and(|key| key == "model" || key == "discipline") {
            // Other keys of the table belong to the model.
            path.pop();
            instead = (path.last().is_some_and(|key| key == "mobility"))
                .then(|| Instead::Value(STANDING.to_owned()));
        } else if let Some((_, value)) =
            AMPLE.iter().find(|(key, _)| path.last().is_some_and(|last| last == key))
        {
            instead = Some(Instead::Value((*value).to_owned()));
        }
        if let Some(Instead::Name(name)) = &instead {
            return self.rename(&path, name);
        }
        if drop_items(value_at_mut(&mut self.tree, &path), error) {
            return true;
        }
        let is_there = value_at(&self.tree, &path).is_some();
        if !is_there && path.len() == 1 && NEEDED.contains(&path[0].as_str()) {
            return false;
        }
        let is_first = !self.changed.contains(&path);
        match instead {
            // An example for what is missing, a whole model or a number of nodes.
            Some(Instead::Value(text)) if is_first || !is_there => self.put(path, &text),
            _ if is_first && self.may_go(&path) => self.remove(path),
            _ if path.len() > 2 && UNREFERRED.contains(&path[0].as_str()) => self.remove(path[..2].to_vec()),
            _ => false,
        }
    }
    /// Whether a key can be left out: a table of a group cannot, which others refer to.
    fn may_go(&self, path: &Path) -> bool {
        let is_group = path.len() <= 2 && is_table(value_at(&self.tree, path));
        let is_unreferred = UNREFERRED.contains(&path[0].as_str()) && path.len() == 2;
        let is_algorithm = ["router", "mechanism"].contains(&path[0].as_str());
        !is_group || is_unreferred || is_algorithm
    }
    fn remove(&mut self, path: Path) -> bool {
        let Some((entries, at)) = entry_mut(&mut self.tree, &path) else { return false };
        entries.remove(at);
        self.changed.insert(path);
        true
    }
    fn put(&mut self, path: Path, text: &str) -> bool {
        let Some((name, table)) = path.split_last() else { return false };
        let Some(parent) = value_at_mut(&mut self.tree, table) else { return false };
        let place = parent.place.clone();
        let Value::Table(entries) = &mut parent.value else { return false };
        let value = Node { place: place.clone(), ..parse_argument(name, text) };
        match entries.iter().position(|(key, _)| key.name == *name) {
            Some(at) => entries[at].1 = Arc::new(value),
            None => entries.push((crate::tree::Key { name: name.clone(), place }, Arc::new(value))),
        }
        self.changed.insert(path);
        true
    }
    /// A key that was meant to be called so.
    fn rename(&mut self, path: &Path, name: &str) -> bool {
        let Some((entries, at)) = entry_mut(&mut self.tree, path) else { return false };
        if entries.iter().any(|(key, _)| key.name == name) {
            entries.remove(at);
        } else {
            entries[at].0.name = name.to_owned();
        }
        true
    }
}

/// Whether an error of a key may follow from a change: of the same key for all groups, or of one that it depends on.
fn causes(changed: &Path, of: &Path) -> bool {
    let (Some(first), Some(last), Some(key)) = (changed.first(), changed.last(), of.last()) else {
        return false;
    };
    let depends = FOLLOWS.iter().any(|(one, on)| key == one && (first == on || last == on));
    depends || (changed.len() == 1 && key == first)
}

/// Whether an error is about a reference to a parameter, and this is it.
fn is_reference(error: &Error, changed: &Path) -> bool {
    matches!(&changed[..], [table, name] if table == "parameters" && error.what == not_a_parameter(&format!("${name}")))
}

/// Whether a run would be too large.
fn exceeds_limits(error: &Error) -> bool {
    error.fault.as_ref().is_some_and(|fault| fault.key == LIMITS)
}

fn is_table(value: Option<&Node>) -> bool {
    value.is_some_and(|node| matches!(node.value, Value::Table(_)))
}

/// The keys of a path that its text joins by dots, as far as the tree has them, and one more.
fn known_part(tree: &Node, text: &str) -> Path {
    let (mut path, mut node, mut rest) = (Vec::new(), tree, text);
    while let Value::Table(entries) = &node.value {
        let after = |name: &str| {
            let rest = rest.strip_prefix(name)?;
            if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
        };
        let known =
            entries.iter().filter_map(|(key, node)| Some((key.name.as_str(), node, after(&key.name)?)));
        let Some((name, inner, left)) = known.max_by_key(|(name, ..)| name.len()) else {
            path.push(rest.to_owned());
            break;
        };
        path.push(name.to_owned());
        (node, rest) = (inner, left);
        if rest.is_empty() {
            break;
        }
    }
    path
}

/// What stands at a place: its only value, or else the table of a name, or the outermost table.
fn at_place(tree: &Node, place: &Place) -> Option<Path> {
    let mut all = Vec::new();
    collect(tree, place, &mut Vec::new(), &mut all);
    let values = all.iter().filter(|path| !is_table(value_at(tree, path))).collect::<Vec<_>>();
    match values[..] {
        [only] => Some(only.clone()),
        _ => all
            .iter()
            .find(|path| path.len() == 2)
            .or_else(|| all.iter().min_by_key(|path| path.len()))
            .cloned(),
    }
}

fn collect(node: &Node, place: &Place, path: &mut Path, all: &mut Vec<Path>) {
    let Value::Table(entries) = &node.value else { return };
    for (key, inner) in entries {
        path.push(key.name.clone());
        if key.place == *place || has_place(inner, place) {
            all.push(path.clone());
        }
        collect(inner, place, path, all);
        path.pop();
    }
}

/// Whether a value or an item of a list stands there.
fn has_place(node: &Node, place: &Place) -> bool {
    match &node.value {
        Value::List(items) => node.place == *place || items.iter().any(|item| stands_at(item, place)),
        Value::Table(_) => false,
        _ => node.place == *place,
    }
}

/// Whether anything of an item stands there.
fn stands_at(node: &Node, place: &Place) -> bool {
    let is_inside = match &node.value {
        Value::List(items) => items.iter().any(|item| stands_at(item, place)),
        Value::Table(entries) => entries.iter().any(|(_, node)| stands_at(node, place)),
        _ => false,
    };
    is_inside || node.place == *place
}

fn value_at<'t>(tree: &'t Node, path: &[String]) -> Option<&'t Node> {
    path.iter().try_fold(tree, |node, name| {
        let Value::Table(entries) = &node.value else { return None };
        entries.iter().find(|(key, _)| key.name == *name).map(|(_, node)| &**node)
    })
}

fn value_at_mut<'t>(tree: &'t mut Node, path: &[String]) -> Option<&'t mut Node> {
    path.iter().try_fold(tree, |node, name| {
        let Value::Table(entries) = &mut node.value else { return None };
        entries.iter_mut().find(|(key, _)| key.name == *name).map(|(_, node)| Arc::make_mut(node))
    })
}

fn entry_mut<'t>(tree: &'t mut Node, path: &[String]) -> Option<(&'t mut Entries, usize)> {
    let (name, table) = path.split_last()?;
    let Value::Table(entries) = &mut value_at_mut(tree, table)?.value else { return None };
    let at = entries.iter().position(|(key, _)| key.name == *name)?;
    Some((entries, at))
}

/// Leaves out the items of a list that an error is about, where others remain: those at its place, and of several those that
/// it names.
fn drop_items(list: Option<&mut Node>, error: &Error) -> bool {
    let Some(Node { value: Value::List(items), .. }) = list else { return false };
    let is_there = |item: &&Arc<Node>| stands_at(item, &error.place);
    let is_named = |item: &&Arc<Node>| is_there(item) && error.what.contains(&format!("`{}`", item.text()));
    let names_some = items.iter().any(|item| is_named(&item));
    let is_wrong = |item: &&Arc<Node>| if names_some { is_named(item) } else { is_there(item) };
    let kept: Vec<Arc<Node>> = items.iter().filter(|item| !is_wrong(item)).cloned().collect();
    let is_some = !kept.is_empty() && kept.len() < items.len();
    if is_some {
        *items = kept;
    }
    is_some
}
