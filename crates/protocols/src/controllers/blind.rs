//! What a flow sends while nothing is known of its link: trains of packets, less where little of them comes through.

use super::Window;
use crate::time::Instant;

/// Seconds without a known rate after which ever less is sent.
const LASTS_S: f64 = 1000.0;
/// Packets of which it was reported, from which on their share counts.
const PACKETS: f64 = 16.0;
/// The share that must come through; below it less is sent, no less than this part at once, in trains of no fewer packets.
const MOST: f64 = 0.5;
const LEAST: f64 = 0.25;
const TRAIN_LEAST: u32 = 4;
/// How often timeouts halve the rate at most; each report that something arrived undoes one.
const HALVED: u32 = 8;

/// The trains, and their mean rate.
#[derive(Clone, Copy, Debug)]
pub struct Blind {
    /// At first, in bit/s.
    rate: f64,
    train: u32,
    packet_bits: f64,
    began: Option<Instant>,
    /// What is left of the rate after a time without a known one, and where reports say that most is lost.
    share: f64,
    heard: f64,
    /// Bytes reported since then: sent, and received.
    reported: (u64, u64),
    /// Timeouts, less reports that something arrived.
    unanswered: u32,
}

impl Blind {
    /// A mean rate in bit/s, packets of a train, and bits of a packet.
    pub fn new(rate: f64, train: u32, packet_bits: f64) -> Self {
        let (began, reported) = (None, (0, 0));
        Self { rate, train, packet_bits, began, share: 1.0, heard: 1.0, reported, unanswered: 0 }
    }
    /// The rate now, in bit/s.
    pub fn rate(&self) -> f64 {
        self.alone() * self.heard / f64::from(1_u32 << self.unanswered)
    }
    /// The rate that it would be if all came through.
    pub fn alone(&self) -> f64 {
        self.rate * self.share
    }
    /// Packets of a train now.
    pub fn train(&self) -> u32 {
        self.train
    }
    /// A packet has left.
    pub fn on_sent(&mut self, now: Instant) {
        let began = *self.began.get_or_insert(now);
        self.share = LASTS_S / (now - began).as_secs_f64().max(LASTS_S);
    }
    /// Most of what left without an answer was in the way of others.
    pub fn on_timeout(&mut self) {
        self.unanswered = (self.unanswered + 1).min(HALVED);
    }
    /// This was reported. Where most is lost, less is sent, in trains that fit into a shorter queue.
    pub fn on_report(&mut self, window: &Window) {
        if window.received.0 > 0 {
            self.unanswered = self.unanswered.saturating_sub(1);
        }
        let (sent, received) = (self.reported.0 + window.sent.0, self.reported.1 + window.received.0);
        self.reported = (sent, received);
        if (sent as f64) * 8.0 < PACKETS * self.packet_bits {
            return;
        }
        self.reported = (0, 0);
        let through = received as f64 / sent as f64 / MOST;
        if through < 1.0 {
            self.heard *= through.max(LEAST);
            self.train = (self.train / 2).max(TRAIN_LEAST).min(self.train);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn window(sent: u64, received: u64) -> Window {
        Window { sent: Bytes(sent * 1000), received: Bytes(received * 1000), train: None }
    }

    #[test]
    fn where_most_is_lost_rate_and_trains_shrink_and_where_most_arrives_they_stay() {
        let mut blind = Blind::new(1e5, 16, 8000.0);
        blind.on_report(&window(15, 0));
        assert_eq!((blind.rate(), blind.train()), (1e5, 16), "too few packets");
        blind.on_report(&window(1, 4));
        assert_eq!((blind.rate(), blind.train()), (5e4, 8));
        blind.on_report(&window(16, 8));
        assert_eq!((blind.rate(), blind.train()), (5e4, 8));
        (0..9).for_each(|_| blind.on_report(&window(1600, 0)));
        assert_eq!(blind.train(), 4);
        assert!(blind.rate() > 0.0 && blind.rate() < 1.0);
    }

    #[test]
    fn timeouts_halve_the_rate_and_reports_undo_them_one_by_one() {
        let mut blind = Blind::new(1e5, 16, 8000.0);
        (0..20).for_each(|_| blind.on_timeout());
        assert_eq!(blind.rate(), 1e5 / 256.0);
        blind.on_report(&window(2, 1));
        blind.on_report(&window(2, 0));
        assert_eq!(blind.rate(), 1e5 / 128.0);
    }

    #[test]
    fn after_a_thousand_seconds_ever_less_is_sent() {
        let mut blind = Blind::new(1e5, 16, 8000.0);
        for at in [5, 1005, 4005] {
            blind.on_sent(Instant::from_secs(at));
        }
        assert_eq!((blind.rate(), blind.alone()), (25_000.0, 25_000.0));
    }
}
