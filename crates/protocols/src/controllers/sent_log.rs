//! What a connection had in flight, delivered and lost when a packet left, found again when its fate is known; and
//! the delivery rate that follows (draft-ietf-ccwg-bbr, section on delivery rate samples).
//!
//! Packets are assumed to leave the network in the order of sending: what has been sent and is not in flight any
//! more was acknowledged or lost. So nothing is asked of a transport but what every one reports, and there are samples
//! during recoveries too, when the cumulative acknowledgement stands.

use super::Sent;
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// One over the share of the data in flight whose packets have an entry in common.
const ENTRIES: u64 = 512;

/// The state of a connection when a packet left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentState {
    /// When it left (P.send_time).
    pub at: Instant,
    /// Data delivered until then, in bytes, and when that was acknowledged (P.delivered, P.delivered_time).
    pub delivered: u64,
    delivered_at: Instant,
    /// When the newest of these data had left (P.first_send_time).
    first_sent: Instant,
    /// Data lost until then, in bytes (P.lost).
    pub lost: u64,
    /// Data in flight, the packet included, in bytes (P.tx_in_flight).
    pub in_flight: u64,
    /// The sender had too little to send shortly before (P.is_app_limited).
    pub app_limited: bool,
}

/// States of packets whose fate is unknown, in the order of sending. Neighbours share an entry where much is in flight,
/// so that there are a few thousand at most.
#[derive(Clone, Debug, Default)]
pub struct SentLog {
    sent: u64,
    /// Each with the data sent before it.
    entries: VecDeque<(u64, SentState)>,
    /// Packets are limited by the application until this was delivered (C.app_limited).
    app_limited: u64,
    delivered_at: Instant,
    first_sent: Instant,
}

impl SentLog {
    /// A packet left when this was delivered and lost.
    pub fn on_sent(&mut self, sent: &Sent, delivered: u64, lost: u64) {
        let in_flight = sent.in_flight.0;
        if sent.in_flight <= sent.size {
            (self.delivered_at, self.first_sent) = (sent.now, sent.now);
        }
        match self.entries.back_mut() {
            Some((start, state)) if self.sent - *start < in_flight / ENTRIES => {
                state.in_flight = state.in_flight.max(in_flight);
            }
            _ => {
                let app_limited = self.app_limited > 0 && delivered <= self.app_limited;
                let state = SentState {
                    at: sent.now,
                    delivered,
                    delivered_at: self.delivered_at,
                    first_sent: self.first_sent,
                    lost,
                    in_flight,
                    app_limited,
                };
                self.entries.push_back((self.sent, state));
            }
        }
        self.sent += sent.size.0;
    }
    /// The state at the newest packet whose fate is known, where this is still in flight; what is older is forgotten.
    /// Nothing is known of packets before the least round-trip time has passed, though a timeout may have taken them
    /// for lost.
    pub fn judged(&mut self, now: Instant, in_flight: u64, least_rtt: Duration) -> SentState {
        let reached = self.sent.saturating_sub(in_flight);
        while self.entries.get(1).is_some_and(|next| next.0 < reached && now - next.1.at >= least_rtt) {
            self.entries.pop_front();
        }
        self.entries.front().map_or(SentState::default(), |front| front.1)
    }
    /// The delivery rate in bytes/s, measured by this packet when `delivered` bytes have been; `None`: too little time
    /// has passed for a measurement.
    pub fn rate(
        &mut self,
        now: Instant,
        packet: &SentState,
        delivered: u64,
        least_rtt: Duration,
    ) -> Option<f64> {
        let data = delivered.saturating_sub(packet.delivered);
        let interval = (now - packet.delivered_at).max(packet.at - packet.first_sent);
        (self.delivered_at, self.first_sent) = (now, packet.at);
        let is_long = interval > Duration::ZERO && interval >= least_rtt;
        (data > 0 && is_long).then(|| data as f64 / interval.as_secs_f64())
    }
    /// Packets are limited by the application until this was delivered.
    pub fn mark_app_limited(&mut self, delivered: u64) {
        self.app_limited = delivered.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn ms(n: i64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }
    /// `count` packets of 1000 bytes leave, one per millisecond.
    fn sent(log: &mut SentLog, (from, count): (i64, i64), in_flight: u64, delivered: u64) {
        for n in 0..count {
            let in_flight = Bytes(in_flight + 1000 * (n as u64 + 1));
            log.on_sent(&Sent { now: ms(from + n), size: Bytes(1000), in_flight }, delivered, 0);
        }
    }

    #[test]
    fn a_packet_is_found_with_what_was_in_flight_when_it_left() {
        let mut log = SentLog::default();
        sent(&mut log, (0, 10), 0, 0);
        assert_eq!(log.judged(ms(100), 7_000, Duration::ZERO).in_flight, 3_000);
        assert_eq!(log.judged(ms(101), 0, Duration::ZERO).in_flight, 10_000);
    }

    #[test]
    fn a_rate_is_what_was_delivered_within_a_round_trip() {
        let mut log = SentLog::default();
        sent(&mut log, (0, 10), 0, 0);
        for n in 0..10 {
            let packet = log.judged(ms(100 + n), 9_000 - 1_000 * n as u64, Duration::ZERO);
            log.rate(ms(100 + n), &packet, 1_000 * (n as u64 + 1), Duration::ZERO);
        }
        sent(&mut log, (200, 10), 0, 10_000);
        let packet = log.judged(ms(305), 4_000, Duration::ZERO);
        assert_eq!(log.rate(ms(305), &packet, 16_000, Duration::ZERO), Some(6_000.0 / 0.105));
    }

    #[test]
    fn what_a_timeout_takes_for_lost_is_unknown_until_a_round_trip_has_passed() {
        let (mut log, rtt) = (SentLog::default(), Duration::from_secs_f64(0.1));
        sent(&mut log, (0, 3), 0, 0);
        sent(&mut log, (1_000, 1), 0, 0);
        // The packet of 1000 ms cannot have arrived 5 ms later, whatever is in flight.
        assert_eq!(log.judged(ms(1_005), 0, rtt).at, ms(2));
        assert_eq!(log.judged(ms(1_100), 0, rtt).at, ms(1_000));
    }

    #[test]
    fn a_rate_over_less_than_the_least_round_trip_is_none() {
        let (mut log, rtt) = (SentLog::default(), Duration::from_secs_f64(0.1));
        sent(&mut log, (0, 3), 0, 0);
        let packet = log.judged(ms(50), 0, Duration::ZERO);
        assert_eq!(log.rate(ms(50), &packet, 3_000, rtt), None);
    }

    #[test]
    fn packets_of_a_pause_are_limited_by_the_application() {
        let mut log = SentLog::default();
        log.mark_app_limited(5_000);
        sent(&mut log, (0, 1), 0, 5_000);
        sent(&mut log, (1, 1), 1_000, 6_000);
        assert!(log.judged(ms(10), 1_000, Duration::ZERO).app_limited);
        assert!(!log.judged(ms(11), 0, Duration::ZERO).app_limited);
    }

    #[test]
    fn a_flight_of_millions_of_packets_takes_thousands_of_entries() {
        let mut log = SentLog::default();
        sent(&mut log, (0, 2_000_000), 0, 0);
        assert!(log.entries.len() < 8_000, "{}", log.entries.len());
    }
}
