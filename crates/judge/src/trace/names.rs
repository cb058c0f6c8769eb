//! Names of reasons, and names that live as long as the program.

use lightlag_protocols::dtn::{DropReason, Observation, Refusal};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

const REASONS: [(DropReason, &str); 4] = [
    (DropReason::Overflow, "overflow"),
    (DropReason::Expired, "expired"),
    (DropReason::Acknowledged, "acknowledged"),
    (DropReason::HandedOver, "handed_over"),
];

const REFUSALS: [(Refusal, &str); 7] = [
    (Refusal::Held, "held"),
    (Refusal::Delivered, "delivered"),
    (Refusal::Expired, "expired"),
    (Refusal::NoSpace, "no_space"),
    (Refusal::DroppedBefore, "dropped_before"),
    (Refusal::Routing, "routing"),
    (Refusal::Congestion, "congestion"),
];

pub(super) fn of_reason(reason: DropReason) -> &'static str {
    REASONS.iter().find(|row| row.0 == reason).map_or("", |row| row.1)
}
pub(super) fn reason(name: &str) -> Option<DropReason> {
    REASONS.iter().find(|row| row.1 == name).map(|row| row.0)
}
pub(super) fn of_refusal(refusal: Refusal) -> &'static str {
    REFUSALS.iter().find(|row| row.0 == refusal).map_or("", |row| row.1)
}
pub(super) fn refusal(name: &str) -> Option<Refusal> {
    REFUSALS.iter().find(|row| row.1 == name).map(|row| row.0)
}

/// `name=value name=value`; values read back to the bit.
pub(super) fn of_observation(seen: &Observation) -> String {
    let mut text = String::new();
    for (name, value) in seen {
        let blank = if text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{blank}{name}={value}");
    }
    text
}
pub(super) fn observation(text: &str) -> Result<Observation, String> {
    let one = |part: &str| {
        let (name, value) = part.rsplit_once('=').ok_or_else(|| format!("`{part}` is not name=value"))?;
        let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        Ok((interned(name)?, value))
    };
    text.split_ascii_whitespace().map(one).collect()
}

/// More names than all algorithms together show; a file that names more is damaged.
const MOST_NAMES: usize = 10_000;

/// The name as observations want it: never freed. There are few, and each is kept once.
fn interned(name: &str) -> Result<&'static str, String> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if names.len() >= MOST_NAMES {
        return Err("too many names of observables".to_owned());
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    Ok(name)
}
