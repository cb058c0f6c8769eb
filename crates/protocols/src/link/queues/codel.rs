//! Controlled delay: drops at the head while packets have stood above a target for an interval
//! (Nichols and Jacobson; RFC 8289, pseudocode of section 5).

use super::super::Load;
use super::{Dropped, Entry, Limit, Queue, Room, Waiting};
use crate::math;
use crate::parameter::Parameter;
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Below one such packet in the queue nothing is dropped.
const LARGEST_PACKET_BYTES: u64 = 1500;

const PARAMETERS: &[Parameter] = &[
    Parameter::number("target", "s", 0.005, (1e-9, 1e9), "Acceptable standing delay (TARGET)."),
    Parameter::number(
        "interval",
        "s",
        0.1,
        (1e-9, 1e9),
        "How long the delay may stand above the target: about the longest round trip (INTERVAL).",
    ),
    Parameter::flag("mark", false, "Mark packets that can be marked instead of dropping them (section 5.7)."),
];

/// The row of the table.
pub const fn entry<P: Load + 'static>() -> Entry<P> {
    Entry {
        name: "codel",
        paper: "Nichols and Jacobson, Controlling Queue Delay (2012); RFC 8289",
        parameters: PARAMETERS,
        by_priority: false,
        drops_waiting: true,
        build: |parameters, limit| {
            let [target, interval] =
                ["target", "interval"].map(|name| Duration::from_secs_f64(parameters.number(name)));
            Waiting::Other(Box::new(CoDel::new(limit, target, interval, parameters.flag("mark"))))
        },
    }
}

/// The queue and its law.
struct CoDel<P> {
    room: Room,
    waiting: VecDeque<(Instant, P)>,
    target: Duration,
    interval: Duration,
    /// When packets will have stood above the target for an interval; none while they don't.
    first_above: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
    marks: bool,
    /// Packets marked so far.
    marked: u64,
}

impl<P: Load> CoDel<P> {
    fn new(limit: Limit, target: Duration, interval: Duration, marks: bool) -> Self {
        Self {
            room: Room::new(limit),
            waiting: VecDeque::new(),
            target,
            interval,
            first_above: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            marks,
            marked: 0,
        }
    }
    fn control_law(&self, from: Instant) -> Instant {
        let step = self.interval.as_secs_f64() / math::sqrt(f64::from(self.count.max(1)));
        from.saturating_add(Duration::from_secs_f64(step))
    }
    /// The head, and whether it may be dropped.
    fn take(&mut self, now: Instant) -> Option<(P, bool)> {
        let Some((came, packet)) = self.waiting.pop_front() else {
            self.first_above = None;
            return None;
        };
        self.room.release(packet.size());
        if now - came < self.target || self.room.bytes <= LARGEST_PACKET_BYTES {
            self.first_above = None;
            return Some((packet, false));
        }
        let since = *self.first_above.get_or_insert(now.saturating_add(self.interval));
        Some((packet, now >= since))
    }
}

impl<P: Load> Queue<P> for CoDel<P> {
    fn push(&mut self, now: Instant, packet: P) -> Result<(), P> {
        if !self.room.admit(self.waiting.len(), packet.size()) {
            return Err(packet);
        }
        self.waiting.push_back((now, packet));
        Ok(())
    }
    fn pop(&mut self, now: Instant, dropped: &mut Dropped<P>) -> Option<P> {
        let (mut packet, mut may_drop) = self.take(now)?;
        let mut is_marked = false;
        if self.dropping {
            if !may_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if self.marks && packet.mark() {
                    is_marked = true;
                    self.drop_next = self.control_law(self.drop_next);
                    continue;
                }
                dropped.push(packet);
                (packet, may_drop) = match self.take(now) {
                    Some(next) => next,
                    None => {
                        self.dropping = false;
                        return None;
                    }
                };
                if may_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if may_drop {
            is_marked = self.marks && packet.mark();
            let next = if is_marked {
                Some(packet)
            } else {
                dropped.push(packet);
                self.take(now).map(|next| next.0)
            };
            self.dropping = true;
            // A queue that was dropping recently resumes at about the rate that controlled it.
            let recent = self.count.saturating_sub(self.last_count);
            let soon = now - self.drop_next < self.interval * 16;
            self.count = if recent > 1 && soon { recent } else { 1 };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
            packet = next?;
        }
        self.marked += u64::from(is_marked);
        Some(packet)
    }
    fn marked(&self) -> u64 {
        self.marked
    }
    fn len(&self) -> usize {
        self.waiting.len()
    }
}
