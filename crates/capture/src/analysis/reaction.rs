//! What a sender did after each loss: its window when it could know of the loss, and in the second round trip
//! after.
//!
//! The window is what is in flight and not known to have arrived. After a timeout the amount in flight is
//! unknown: then the window is what the sender sends in that round trip. Losses within one window of data are
//! one event (RFC 6582; RFC 4341, section 5), as a sender must answer them once. How much leaves in a round
//! trip would be no measure: a queue that drains hides that the window was reduced.
//!
//! Where packets are numbered and never sent again, a round trip is over when something that left after its
//! beginning is known to have arrived. Elsewhere it takes the time that round trips took before the loss; a queue that
//! drains makes them shorter.

use super::moments::{Moments, Spread};
use serde::Serialize;

/// Events that are listed; the rest is only counted.
const LISTED_MAX: usize = 1_000;
/// A sender whose window is more than this part of what it was did not react.
const UNMOVED: f64 = 0.9;
/// Below a window of this many packets there is nothing to reduce.
const LEAST_PACKETS: u64 = 4;

named! {
    /// How a loss was found.
    Found {
        /// Acknowledgements reported it.
        Acknowledgements = "acknowledgements",
        /// None came, and a timer expired.
        Timeout = "a timer",
        /// The receiver's loss event rate rose (RFC 5348). Rates answer it smoothly, over several round trips: the answer is
        /// not judged.
        LossEventRate = "the loss event rate",
        /// A report of LTP or UDPDTN. What their senders do about it is not prescribed: it is not judged.
        Report = "a report",
    }
}

named! {
    /// What the sender did.
    Answer {
        /// It reduced its window.
        Reduced = "reduced",
        /// It did not.
        None = "none",
        /// The round trip is not known, the connection ended, or there was nothing to reduce.
        Unknown = "not judged",
    }
}

/// Packets lost within one window, and the answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// When the sender could know, since the capture began.
    pub at_s: f64,
    /// How it was found.
    pub found: Found,
    /// Packets lost.
    pub packets: u64,
    /// The window when it was found: bytes; packets in DCCP.
    pub window_before: u64,
    /// The largest in the second round trip after.
    pub window_after: Option<u64>,
    /// What the sender did.
    pub answer: Answer,
}

/// All of a direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Losses {
    /// Windows with losses.
    pub events: u64,
    /// Packets lost.
    pub packets: u64,
    /// Events that timers found.
    pub timeouts: u64,
    /// Events after which the sender reduced its window.
    pub reduced: u64,
    /// Events after which it did not.
    pub unanswered: u64,
    /// The window after, as part of the one before, over the events that say.
    pub factor: Option<Spread>,
    /// The first thousand.
    pub list: Vec<Loss>,
}

/// Follows a sender.
#[derive(Clone, Debug, Default)]
pub struct Reactions {
    told: Losses,
    factors: Moments,
    /// Numbers below belong to the current event.
    recover: u64,
    pending: Option<Pending>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    loss: Loss,
    at_ns: i64,
    rtt_ns: i64,
    packet: u64,
    /// Round trips that are over, by numbers, and the number whose arrival ends the next one.
    rounds: u32,
    ends_with: u64,
    /// In the second round trip: the largest window, and all that was sent.
    largest: u64,
    sent: u64,
    seen: bool,
}

impl Pending {
    /// Round trips that are over when packet `number` leaves; of two, more than two.
    fn count_rounds(&mut self, (number, arrived): (u64, u64)) -> f64 {
        if arrived > self.ends_with {
            (self.rounds, self.ends_with) = (self.rounds + 1, number);
        }
        f64::from(self.rounds) + if self.rounds > 1 { 0.5 } else { 0.0 }
    }
}

/// A loss that the sender could know of.
#[derive(Clone, Copy, Debug)]
pub struct Noticed {
    /// When.
    pub now_ns: i64,
    /// Since the capture began.
    pub at_s: f64,
    /// Number that was lost.
    pub number: u64,
    /// How many packets.
    pub packets: u64,
    /// Behind the highest that was sent by then.
    pub next: u64,
    /// How.
    pub found: Found,
    /// Round trip, if known.
    pub rtt_ns: Option<i64>,
    /// What was in flight.
    pub window: u64,
    /// How much of a window a packet takes.
    pub packet: u64,
}

impl Reactions {
    /// `sent` leaves, and with it `window` is in flight. `numbers`, of numbered packets: its own, and the one
    /// behind the greatest that is known to have arrived.
    #[inline]
    pub fn on_sent(&mut self, now_ns: i64, sent: u64, window: u64, numbers: Option<(u64, u64)>) {
        let Some(pending) = &mut self.pending else { return };
        let rounds = match numbers {
            Some(numbers) => pending.count_rounds(numbers),
            None => (now_ns - pending.at_ns) as f64 / pending.rtt_ns.max(1) as f64,
        };
        if rounds < 1.0 {
            return;
        }
        if rounds > 2.0 {
            pending.seen = true;
            return self.close();
        }
        pending.seen = true;
        pending.largest = pending.largest.max(window);
        pending.sent += sent;
    }

    /// Packets are lost, or count as lost.
    pub fn on_loss(&mut self, seen: Noticed) {
        self.told.packets += seen.packets;
        if seen.number < self.recover && seen.found != Found::Timeout {
            if let Some(pending) = &mut self.pending {
                pending.loss.packets += seen.packets;
            }
            return;
        }
        self.close();
        self.recover = seen.next;
        self.told.events += 1;
        self.told.timeouts += u64::from(seen.found == Found::Timeout);
        let loss = Loss {
            at_s: seen.at_s,
            found: seen.found,
            packets: seen.packets,
            window_before: seen.window,
            window_after: None,
            answer: Answer::Unknown,
        };
        // Without a round trip nothing can be judged.
        let rtt_ns = seen.rtt_ns.unwrap_or(i64::MAX / 4);
        let Noticed { now_ns: at_ns, packet, next: ends_with, .. } = seen;
        let (rounds, largest, sent, seen) = (0, 0, 0, false);
        self.pending = Some(Pending { loss, at_ns, rtt_ns, packet, rounds, ends_with, largest, sent, seen });
    }

    /// All losses, when the flow has ended.
    pub fn finish(mut self) -> Losses {
        self.close();
        Losses { factor: self.factors.spread(), ..self.told }
    }

    /// Judges the event that waits.
    fn close(&mut self) {
        let Some(Pending { mut loss, packet, largest, sent, seen, .. }) = self.pending.take() else { return };
        if seen {
            let after = if loss.found == Found::Timeout { sent } else { largest };
            loss.window_after = Some(after);
            if matches!(loss.found, Found::Acknowledgements | Found::Timeout) {
                loss.answer = self.judge(loss.window_before, after, packet);
            }
        }
        self.told.reduced += u64::from(loss.answer == Answer::Reduced);
        self.told.unanswered += u64::from(loss.answer == Answer::None);
        if self.told.list.len() < LISTED_MAX {
            self.told.list.push(loss);
        }
    }

    fn judge(&mut self, before: u64, after: u64, packet: u64) -> Answer {
        if before < LEAST_PACKETS * packet {
            return Answer::Unknown;
        }
        let factor = after as f64 / before as f64;
        self.factors.add(factor);
        if factor > UNMOVED { Answer::None } else { Answer::Reduced }
    }
}
