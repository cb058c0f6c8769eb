//! Names of reasons, and names that live as long as the program.

use super::Text;
use lightlag_protocols::dtn::{DropReason, Observation, Refusal};
use lightlag_protocols::link::DropCause;
use lightlag_protocols::ndn::Refused;
use lightlag_protocols::record::bundles::ReplyKind;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

pub(super) const REASONS: [(DropReason, &str); 5] = [
    (DropReason::Overflow, "overflow"),
    (DropReason::Expired, "expired"),
    (DropReason::Acknowledged, "acknowledged"),
    (DropReason::HandedOver, "handed_over"),
    (DropReason::Replaced, "replaced"),
];

/// Who creates a reply.
pub(super) const REPLIES: [(ReplyKind, &str); 2] =
    [(ReplyKind::Response, "response"), (ReplyKind::Pong, "pong")];

/// Why a packet was dropped.
pub(super) const WHYS: [(DropCause, &str); 3] =
    [(DropCause::Full, "full"), (DropCause::Marked, "marked"), (DropCause::Lost, "lost")];

pub(super) const REFUSALS: [(Refusal, &str); 7] = [
    (Refusal::Held, "held"),
    (Refusal::Delivered, "delivered"),
    (Refusal::Expired, "expired"),
    (Refusal::NoSpace, "no_space"),
    (Refusal::DroppedBefore, "dropped_before"),
    (Refusal::Routing, "routing"),
    (Refusal::Congestion, "congestion"),
];

/// Why a node of named data passed nothing on.
pub(super) const REFUSED: [(Refused, &str); 7] = [
    (Refused::HopLimit, "hop_limit"),
    (Refused::Loop, "loop"),
    (Refused::NoRoute, "no_route"),
    (Refused::PitFull, "pit_full"),
    (Refused::TooSoon, "too_soon"),
    (Refused::Unsolicited, "unsolicited"),
    (Refused::NoData, "no_data"),
];

/// The name of a value.
pub(super) fn name<T: PartialEq>(known: &[(T, &'static str)], value: T) -> Option<Text> {
    known.iter().find(|known| known.0 == value).map(|known| known.1.into())
}
/// The value of a name, or an error that calls it `what`.
pub(super) fn value<T: Copy>(known: &[(T, &str)], what: &str, name: &str) -> Result<T, String> {
    let found = known.iter().find(|known| known.1 == name).map(|known| known.0);
    found.ok_or_else(|| format!("unknown {what} `{name}`"))
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
        let value = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
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
