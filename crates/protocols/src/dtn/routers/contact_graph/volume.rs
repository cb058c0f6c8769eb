//! What is left of contacts: the volumes that are booked for bundles, counted in the time that they take.

use crate::time::Duration;
use std::collections::BTreeMap;

/// Booked time by contact; a contact that is not here is free.
#[derive(Clone, Debug, Default)]
pub struct Volumes(BTreeMap<usize, Duration>);

impl Volumes {
    /// What is booked on a contact.
    pub fn booked(&self, contact: usize) -> Duration {
        self.0.get(&contact).copied().unwrap_or_default()
    }
    /// Books `time` on a contact.
    pub fn book(&mut self, contact: usize, time: Duration) {
        let booked = self.0.entry(contact).or_default();
        *booked = booked.saturating_add(time);
    }
    /// The same where the contacts of another plan have these places; what has none is forgotten.
    pub fn moved(&self, place: impl Fn(usize) -> Option<usize>) -> Self {
        Self(self.0.iter().filter_map(|(&contact, &time)| Some((place(contact)?, time))).collect())
    }
    /// Gives `time` on a contact back.
    pub fn release(&mut self, contact: usize, time: Duration) {
        if let Some(booked) = self.0.get_mut(&contact) {
            *booked = *booked - time;
            if *booked <= Duration::ZERO {
                self.0.remove(&contact);
            }
        }
    }
}
