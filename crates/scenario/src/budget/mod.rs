//! What a run takes at most, estimated before it starts: a run that no machine can hold or finish is refused
//! with one line.
//!
//! Each world has an estimate of its own ([`bundles`], [`packets`], [`names`]) that costs no more than reading
//! the scenario. An estimate is a list of [`Item`]s. Their events and bytes add up, and the sum must not exceed
//! the [`Limits`]: those of the scenario's `[limits]`, or the defaults.
//!
//! An *event* is a unit of work of about a microsecond: a packet on a link, a transfer, a contact. An estimate
//! errs upwards: a run has at most [`FACTOR`] times as many events as estimated, most have far fewer.

pub mod bundles;
pub mod names;
pub mod packets;
#[cfg(test)]
mod tests;

use crate::keys;
use crate::quantity;
use crate::{Error, Place, Result, Section};
use lightlag_protocols::units::Bytes;

/// The table of limits.
pub(crate) const LIMITS: &str = "limits";

/// A run has no more than this many times the events of its estimate.
pub const FACTOR: f64 = 3.0;

/// How much a run may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Events.
    pub events: f64,
    /// Bytes of memory.
    pub memory: Bytes,
}

impl Default for Limits {
    /// Some hours of computing, and what small machines have.
    fn default() -> Self {
        Self { events: 1e10, memory: Bytes(4_000_000_000) }
    }
}

impl Limits {
    /// Those of `[limits]`.
    ///
    /// # Errors
    /// A key that is no limit.
    pub fn read(root: &Section) -> Result<Self> {
        let mut limits = Self::default();
        let Some(table) = root.table("limits", keys::LIMITS)? else { return Ok(limits) };
        limits.events = table.real("events", 1.0, 1e18)?.unwrap_or(limits.events);
        limits.memory = table.quantity("memory", quantity::bytes)?.unwrap_or(limits.memory);
        Ok(limits)
    }
}

/// A part of what a run takes.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it is caused.
    pub place: Place,
    /// What it is, as in "`sample_every` makes 3e9 samples".
    pub what: String,
    /// What makes it less.
    pub less: &'static str,
    /// Its events.
    pub events: f64,
    /// Its bytes of memory.
    pub bytes: f64,
}

/// What a run takes.
#[derive(Clone, Debug, Default)]
pub struct Estimate(Vec<Item>);

impl Estimate {
    /// Adds a part.
    pub fn add(&mut self, item: Item) {
        self.0.push(item);
    }
    /// Events in all.
    pub fn events(&self) -> f64 {
        self.0.iter().map(|item| item.events).sum()
    }
    /// Bytes of memory in all.
    pub fn bytes(&self) -> f64 {
        self.0.iter().map(|item| item.bytes).sum()
    }
    /// Refuses a run that exceeds the limits, in the words of its largest part.
    ///
    /// # Errors
    /// If it does.
    pub fn check(&self, limits: Limits) -> Result<()> {
        let of_memory = limits.memory.0 as f64;
        let exceeds = |sum: f64, most: f64| sum.is_nan() || sum > most;
        if exceeds(self.events(), limits.events) {
            let sum = format!("{:.1e} events", self.events());
            let most = format!("{:.0e} events", limits.events);
            return Err(self.refusal(|item| item.events, sum, &most, "events"));
        }
        if exceeds(self.bytes(), of_memory) {
            let sum = format!("{:.1e} bytes of memory", self.bytes());
            let most = format!("{of_memory:.0e} bytes");
            return Err(self.refusal(|item| item.bytes, sum, &most, "memory"));
        }
        Ok(())
    }
    fn refusal(&self, size: fn(&Item) -> f64, sum: String, most: &str, key: &str) -> Error {
        // What is not a number is larger than what is.
        let largest = self.0.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        let unknown = Place::File("scenario".into());
        let (place, what, less) = largest.map_or((&unknown, "the run is too large", "run less"), |item| {
            (&item.place, item.what.as_str(), item.less)
        });
        let right = format!("{less}: a run takes at most {most}, or raise `limits.{key}`");
        Error::new(place, format!("{what}, and the run may take {sum}"), right).of_key(LIMITS, None)
    }
}

/// Refuses `what` at `place`, which would take `bytes` of memory, before it is made.
///
/// # Errors
/// If they would not fit into the memory of a run.
pub fn check_bytes(
    place: &Place,
    limits: Limits,
    what: String,
    bytes: f64,
    less: &'static str,
) -> Result<()> {
    let mut alone = Estimate::default();
    alone.add(Item { place: place.clone(), what, less, events: 0.0, bytes });
    alone.check(limits)
}
