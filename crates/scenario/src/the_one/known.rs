//! Which settings nothing has read, and which of them are mistakes.
//!
//! What a reader looks for is noted as it reads ([`Notes::ask`]), so that no list of keys has to be kept beside the
//! readers. A setting that no reader looked for at any run is ignored, as in The ONE, and reported.

use super::notes::Notes;
use super::settings::{Layers, values};
use crate::catalogue::Catalogue;
use crate::error::{Error, Place, quoted, suggestion};
use crate::file::Ignored;
use std::collections::{BTreeMap, BTreeSet};

/// Settings of groups that change a run in The ONE and are not supported.
const GROUP_UNSUPPORTED: &[&str] = words![
    initialEnergy toReceivePolicy fromReceivePolicy toSendPolicy fromSendPolicy
    hopCountReceivePolicy hopCountSendPolicy nrofMCBACs
];
/// Namespaces that only steer the screen or the speed of The ONE.
const OF_SCREEN: &[&str] = &["GUI", "Optimization", "Settings", "MovementEngine"];

/// Settings that no reader looked for and that must not be ignored: those that The ONE honours, and Lightlag's own keys
/// with a mistake in them.
pub fn refused(layers: &Layers, catalogue: &Catalogue, notes: &Notes) -> Vec<Error> {
    let asked = notes.asked();
    let unread = layers.iter().filter(|(key, setting)| !asked.contains(*key) && !setting.value.is_empty());
    let refusal = |key: &str| {
        let (space, name) = key.split_once('.')?;
        let is_group = space == "Group" || numbered(space).is_some_and(|(stem, _)| stem == "Group");
        let is_used = space == "Group" || asked.contains(&format!("{space}.router"));
        match space {
            "Limits" => Some(suggestion(name, &["events", "memory"])),
            "Optimization" if name == "simulateConnectionsOnce" => {
                let on = layers
                    .get(key)
                    .is_some_and(|setting| super::numbers::boolean(&setting.value) == Ok(true));
                on.then(|| "contacts are simulated throughout; leave it out".to_owned())
            }
            _ if !is_group => None,
            _ => match name.strip_prefix("mechanism.") {
                Some(parameter) => mechanism_parameter(space, parameter, layers, catalogue),
                None if is_used && GROUP_UNSUPPORTED.contains(&name) => {
                    Some("leave it out to run without it".to_owned())
                }
                None => None,
            },
        }
    };
    let errors = unread.filter_map(|(key, setting)| {
        let right = refusal(key)?;
        Some(Error::new(&setting.place, format!("{} is not supported", quoted(key)), right))
    });
    errors.collect()
}

/// Settings that no reader looked for: probable misspellings first, then by place.
pub fn ignored(layers: &Layers, notes: &Notes) -> Vec<Ignored> {
    let asked = notes.asked();
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (space, name) in asked.iter().filter_map(|key| key.split_once('.')) {
        names.entry(space).or_default().push(name);
    }
    let unread = layers.iter().filter(|(key, _)| !asked.contains(*key));
    let mut all: Vec<Ignored> = unread
        .map(|(key, setting)| {
            let (meant, reason) = reason(key, &names);
            Ignored { place: setting.place.clone(), key: key.to_owned(), meant, reason }
        })
        .collect();
    all.sort_by_cached_key(|ignored| {
        (ignored.meant.is_none(), matches!(ignored.place, Place::Set(_)), ignored.place.clone())
    });
    all
}

/// The key that was probably meant, and why this one is ignored.
fn reason(key: &str, names: &BTreeMap<&str, Vec<&str>>) -> (Option<String>, &'static str) {
    const UNREAD: &str = "nothing in this scenario reads it";
    let Some((space, name)) = key.split_once('.') else { return (None, UNREAD) };
    if OF_SCREEN.contains(&space) {
        return (None, "it steers The ONE's screen or speed");
    }
    let counted = |text: &str, others: &[&str]| {
        let stem = |text| numbered(text).map(|(stem, _)| stem);
        stem(text).is_some_and(|of| others.iter().any(|other| stem(other) == Some(of)))
    };
    let spaces: Vec<&str> = names.keys().copied().collect();
    let Some(known) = names.get(space) else {
        if counted(space, &spaces) {
            return (None, "its number is above the count that is set");
        }
        let meant = nearest(space, &spaces).filter(|meant| names[meant].contains(&name));
        return (meant.map(|space| format!("{space}.{name}")), UNREAD);
    };
    if counted(name, known) {
        return (None, "its number is above the count that is set");
    }
    (nearest(name, known).map(|name| format!("{space}.{name}")), UNREAD)
}

fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let same = known.iter().find(|word| word.eq_ignore_ascii_case(given));
    same.copied().or_else(|| crate::error::nearest(given, known))
}

/// What is accepted, if the mechanism does not have this parameter; without a mechanism, if no mechanism has it.
fn mechanism_parameter(space: &str, name: &str, layers: &Layers, catalogue: &Catalogue) -> Option<String> {
    let used: Vec<&str> = mechanisms(space, layers).into_iter().filter(|name| *name != "none").collect();
    if used.iter().any(|name| catalogue.mechanisms.find(name).is_err()) {
        // The mechanism's own name is what is wrong.
        return None;
    }
    let all = catalogue.mechanisms.iter();
    let entries = all.filter(|entry| used.is_empty() || used.contains(&entry.name.as_str()));
    let known: BTreeSet<&str> =
        entries.flat_map(|entry| entry.parameters.iter().map(|parameter| parameter.name)).collect();
    (!known.contains(name)).then(|| suggestion(name, &Vec::from_iter(known)))
}

/// The mechanisms that a parameter in this namespace may be meant for, at any run.
fn mechanisms<'a>(space: &str, layers: &'a Layers) -> Vec<&'a str> {
    let own = layers.get(&format!("{space}.mechanism")).filter(|setting| !setting.value.is_empty());
    if space != "Group" {
        let setting = own.or_else(|| layers.get("Group.mechanism"));
        return setting.map_or_else(Vec::new, |setting| values(&setting.value));
    }
    let of_groups = layers.iter().filter(|(key, _)| {
        let stem = key.strip_suffix(".mechanism").and_then(|space| space.strip_prefix("Group"));
        stem.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    });
    of_groups.flat_map(|(_, setting)| values(&setting.value)).filter(|name| !name.is_empty()).collect()
}

/// `Group12` in its two parts.
fn numbered(text: &str) -> Option<(&str, u32)> {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text[stem.len()..].parse().ok()?;
    Some((stem, number))
}
