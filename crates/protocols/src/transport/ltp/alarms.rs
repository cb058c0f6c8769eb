//! Timers that stand still while the link is down (RFC 5326, sections 6.5 and 6.6).

use crate::time::{Duration, Instant};
use std::collections::BTreeSet;

/// A direction of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From this engine to its peer.
    Out = 0,
    /// From the peer to this engine.
    In = 1,
}

/// What a timer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alarm {
    /// The report on a checkpoint of a session of our own: its number, and the serial number.
    Checkpoint(u64, u64),
    /// A report on a session of our own for which no checkpoint is in flight.
    Stalled(u64),
    /// The acknowledgement of a report on a session of the peer.
    Report(u64, u64),
    /// The acknowledgement of a probe.
    Probe(u64),
    /// That of the cancellation of a session of our own.
    CancelExport(u64),
    /// That of the cancellation of a session of the peer.
    CancelImport(u64),
    /// The time for an unsolicited report.
    Unasked(u64),
    /// Any sign of a session of the peer.
    Idle(u64),
}

/// Alarms by a clock that counts only the time in which the link is up in both directions.
#[derive(Debug, Default)]
pub struct Alarms {
    due: BTreeSet<(Instant, Alarm)>,
    down: [bool; 2],
    /// Since when the clock stands.
    stands: Option<Instant>,
    /// For how long it has stood before.
    stood: Duration,
}

impl Alarms {
    /// Whether a direction is up.
    pub fn is_up(&self, way: Direction) -> bool {
        !self.down[way as usize]
    }
    /// A direction goes up or down.
    pub fn turn(&mut self, now: Instant, way: Direction, up: bool) {
        self.down[way as usize] = !up;
        match (self.down != [false; 2], self.stands) {
            (true, None) => self.stands = Some(now),
            (false, Some(since)) => {
                self.stood = self.stood.saturating_add(now - since);
                self.stands = None;
            }
            _ => {}
        }
    }
    /// What the clock shows.
    pub fn read(&self, now: Instant) -> Instant {
        self.stands.unwrap_or(now) - self.stood
    }
    /// Sets an alarm; returns the time of the clock at which it goes off.
    pub fn set(&mut self, now: Instant, after: Duration, alarm: Alarm) -> Instant {
        let at = self.read(now).saturating_add(after);
        self.due.insert((at, alarm));
        at
    }
    /// Takes an alarm back.
    pub fn clear(&mut self, at: Option<Instant>, alarm: Alarm) {
        if let Some(at) = at {
            self.due.remove(&(at, alarm));
        }
    }
    /// The next alarm that has gone off.
    pub fn take(&mut self, now: Instant) -> Option<Alarm> {
        let first = self.due.first().filter(|first| self.stands.is_none() && first.0 <= self.read(now));
        let first = *first?;
        self.due.remove(&first);
        Some(first.1)
    }
    /// When the next one goes off, unless the clock stands.
    pub fn next(&self) -> Option<Instant> {
        let first = self.due.first().filter(|_| self.stands.is_none())?;
        Some(first.0.saturating_add(self.stood))
    }
}
