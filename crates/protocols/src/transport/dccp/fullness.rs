//! Whether data or the allowed rate limited a sender while a report was measured (RFC 5348, section 8.2.1).

use crate::time::{Duration, Instant};

/// Times at which a sender had sent all that it was allowed to, and more was waiting.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fullness {
    /// The first after the report before (NotLimited1), and the first after it came (NotLimited2).
    full: [Option<Instant>; 2],
    /// When that left which the last report acknowledges (t_new), and when the report came (t_next).
    reported: Instant,
    heard: Instant,
}

impl Fullness {
    /// More is waiting than may leave now.
    pub fn on_full(&mut self, now: Instant) {
        let [first, second] = &mut self.full;
        if first.is_none_or(|at| at <= self.reported) {
            *first = Some(now);
        } else if second.is_none_or(|at| at <= self.heard) {
            *second = Some(now);
        }
    }
    /// A report came that acknowledges what left at `sent_at`: whether the sender was full at any time of the
    /// round trip that the report covers.
    pub fn on_report(&mut self, now: Instant, sent_at: Instant, rtt: Duration) -> bool {
        (self.reported, self.heard) = (sent_at, now);
        let began = sent_at - rtt;
        let within = |at: &Option<Instant>| at.is_some_and(|at| began < at && at <= sent_at);
        let was_full = self.full.iter().any(within);
        let [first, second] = &mut self.full;
        if first.is_none_or(|at| at <= sent_at) && second.is_some_and(|at| at > sent_at) {
            *first = *second;
        }
        was_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_report_is_of_a_time_in_which_the_rate_decided_or_the_data_did() {
        let rtt = Duration::from_nanos(100_000_000);
        let mut fullness = Fullness::default();
        fullness.on_full(at(1000));
        assert!(fullness.on_report(at(1110), at(1010), rtt), "the rate decided at 1000 ms");
        assert!(!fullness.on_report(at(1320), at(1220), rtt), "nothing was kept from leaving since 1120 ms");
        fullness.on_full(at(1330));
        fullness.on_full(at(1340));
        assert!(!fullness.on_report(at(1420), at(1325), rtt), "that was later");
        assert!(fullness.on_report(at(1440), at(1335), rtt));
    }
}
