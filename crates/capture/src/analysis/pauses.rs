//! When a sender pauses, and why.

use serde::Serialize;

/// Pauses that are listed; the rest is only counted.
const LISTED_MAX: usize = 1_000;

named! {
    /// What a sender waited for.
    Cause {
        /// No acknowledgement came; a timer ended the pause.
        Timeout = "a timer, as no acknowledgement came",
        /// An acknowledgement came but was refused for its number, with a Sync (RFC 4340, section 7.5.4); a timer ended
        /// the pause.
        Refused = "a timer, as an acknowledgement was refused (Sync)",
        /// An acknowledgement ended it.
        Acknowledgement = "waiting for an acknowledgement",
        /// The receiver's window was closed.
        ZeroWindow = "closed window",
        /// Nothing was in the way: the application gave nothing.
        Application = "nothing to send",
    }
}

/// A time without sending data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pause {
    /// Since the capture began.
    pub at_s: f64,
    /// How long.
    pub length_s: f64,
    /// Why.
    pub cause: Cause,
    /// Packets in flight when it ended.
    pub outstanding_packets: u64,
}

/// All pauses of a direction that are long enough.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pauses {
    /// How many.
    pub count: u64,
    /// How many while data was outstanding, as far as the sender could know.
    pub while_outstanding: u64,
    /// Ended by a timer.
    pub timeout: u64,
    /// Ended by a timer as well, after an acknowledgement was refused.
    pub refused: u64,
    /// Ended by an acknowledgement.
    pub acknowledgement: u64,
    /// The window was closed.
    pub zero_window: u64,
    /// The application gave nothing.
    pub application: u64,
    /// All together.
    pub total_s: f64,
    /// The longest.
    pub longest_s: f64,
    /// The first thousand.
    pub list: Vec<Pause>,
}

impl Pauses {
    /// One more.
    pub fn add(&mut self, pause: Pause) {
        self.count += 1;
        self.while_outstanding += u64::from(pause.outstanding_packets > 0 || pause.cause == Cause::Refused);
        *match pause.cause {
            Cause::Timeout => &mut self.timeout,
            Cause::Refused => &mut self.refused,
            Cause::Acknowledgement => &mut self.acknowledgement,
            Cause::ZeroWindow => &mut self.zero_window,
            Cause::Application => &mut self.application,
        } += 1;
        self.total_s += pause.length_s;
        self.longest_s = self.longest_s.max(pause.length_s);
        if self.list.len() < LISTED_MAX {
            self.list.push(pause);
        }
    }
}

/// What is known when a pause ends with a packet of data.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The packet before.
    pub from_ns: i64,
    /// The packet that ends it.
    pub to_ns: i64,
    /// The last acknowledgement that came for this direction.
    pub acknowledged_ns: Option<i64>,
    /// The sender refused an acknowledgement within.
    pub refused: bool,
    /// The window was closed within.
    pub closed: bool,
    /// The packet was sent before.
    pub again: bool,
    /// Packets in flight.
    pub outstanding: u64,
    /// The least round trip that was measured; zero without one. No timer is shorter after an acknowledgement
    /// (RFC 6298, section 2; RFC 8985, section 7.2).
    pub round_trip_ns: i64,
}

impl Ended {
    /// Why it paused.
    pub fn cause(&self) -> Cause {
        let length = self.to_ns - self.from_ns;
        let silence = self.acknowledged_ns.map_or(length, |at| self.to_ns - at.max(self.from_ns));
        // An acknowledgement lets go what it lets go at once, unless the sender's machine is late.
        let let_go = silence < length / 8;
        let waits = self.again || self.outstanding > 0;
        if self.closed {
            Cause::ZeroWindow
        } else if self.refused {
            Cause::Refused
        } else if !let_go && waits && silence >= self.round_trip_ns {
            Cause::Timeout
        } else if let_go || (waits && silence < length) {
            Cause::Acknowledgement
        } else {
            Cause::Application
        }
    }
}
