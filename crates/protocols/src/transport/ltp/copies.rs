//! How often a segment leaves at once: a copy weighed against the round trip that its loss would cost.
//!
//! Over a long light time a copy costs a fraction of a millisecond and a lost checkpoint half an hour. Over a
//! short one it is the reverse. So the number of copies c is the one that minimises
//!
//! ```text
//! c · (time of the n segments at the pace) + P(another round) · round trip,   P = min(1, n · P(c losses))
//! ```

use crate::time::Duration;

/// Most copies of a segment.
const COPIES_MOST: u32 = 8;
/// The prior before any report: one segment of a hundred is lost, with the weight of ten segments.
const PRIOR: Fates = Fates { lost: 0.1, sent: 10.0 };
/// Where a larger share is lost, a queue overflows rather than noise: copies of repairs would fill it
/// further.
const LOSS_OF_FULL_LINK: f64 = 0.25;
/// Segments after which older ones count half: losses change.
const MEMORY_SEGMENTS: f64 = 10_000.0;

/// What became of segments.
#[derive(Clone, Copy, Debug, Default)]
struct Fates {
    lost: f64,
    sent: f64,
}

impl Fates {
    fn count(&mut self, lost: f64, sent: f64) {
        self.lost += lost;
        self.sent += sent;
        if self.sent > MEMORY_SEGMENTS {
            let keep = MEMORY_SEGMENTS / 2.0 / self.sent;
            (self.lost, self.sent) = (self.lost * keep, self.sent * keep);
        }
    }
    /// The chance that all copies of a segment are lost. The share that is lost is itself uncertain, beta
    /// distributed: each copy that is lost makes it likelier that the next one is.
    fn all_lost(&self, copies: u32) -> f64 {
        let (lost, sent) = (PRIOR.lost + self.lost, PRIOR.sent + self.sent);
        (0..copies).map(f64::from).map(|before| (lost + before) / (sent + before)).product()
    }
}

/// Weighs copies of what an engine sends.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    /// The peer's reports on segments sent from here, and the losses of those that it sent.
    out: Fates,
    back: Fates,
    /// Less time than this is not worth saving.
    grain: Duration,
}

impl Copies {
    /// Nothing is known of losses. `grain`: a time so short that a round trip may as well take it more.
    pub fn new(grain: Duration) -> Self {
        Self { out: Fates::default(), back: Fates::default(), grain }
    }
    /// A report covered `sent` segments of data for the first time, of which `lost` were lost.
    pub fn on_heard(&mut self, lost: f64, sent: f64) {
        self.out.count(lost, sent);
    }
    /// The peer had sent `sent` segments of data up to a checkpoint, of which `lost` are missing.
    pub fn on_told(&mut self, lost: f64, sent: f64) {
        self.back.count(lost, sent);
    }
    fn fates(&self) -> &Fates {
        // Without a report on our own segments the losses of the other direction are used.
        if self.out.sent > 0.0 { &self.out } else { &self.back }
    }
    /// How often a row of `segments` repairs leaves: as [`Copies::weigh`] says, unless the link seems to be
    /// full.
    pub fn weigh_repairs(&self, segments: u64, time: Duration, round_trip: Duration) -> u32 {
        let full = self.fates().all_lost(1) > LOSS_OF_FULL_LINK;
        if full { 1 } else { self.weigh(segments, time, round_trip) }
    }
    /// How often `segments` leave that take `time` at the pace and cost `round_trip` if one is lost.
    pub fn weigh(&self, segments: u64, time: Duration, round_trip: Duration) -> u32 {
        let fates = self.fates();
        let (time, round_trip) = (time.max(self.grain).as_secs_f64(), round_trip.as_secs_f64());
        let cost = |copies: u32| {
            let again = (segments as f64 * fates.all_lost(copies)).min(1.0);
            f64::from(copies) * time + again * round_trip
        };
        (1..=COPIES_MOST).min_by(|one, other| cost(*one).total_cmp(&cost(*other))).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_nanos(1_000_000);

    #[test]
    fn a_checkpoint_is_copied_where_light_takes_long_and_not_on_a_lan() {
        let copies = Copies::new(MS);
        let weigh = |round_trip| copies.weigh(1, MS, round_trip);
        assert_eq!([MS, MS * 40, MS * 600, Duration::from_secs(960)].map(weigh), [1, 1, 2, 7]);
    }

    #[test]
    fn what_reports_tell_of_losses_decides() {
        let far = Duration::from_secs(960);
        let weigh = |lost| {
            let mut copies = Copies::new(MS);
            copies.on_heard(lost, 10_000.0);
            copies.weigh(1000, MS * 120, far)
        };
        assert_eq!([0.0, 100.0, 500.0, 2000.0].map(weigh), [2, 4, 6, 8]);
    }

    #[test]
    fn repairs_are_not_copied_on_a_link_that_seems_full() {
        let mut copies = Copies::new(MS);
        copies.on_heard(3000.0, 10_000.0);
        let far = Duration::from_secs(960);
        assert_eq!((copies.weigh_repairs(1000, MS, far), copies.weigh(1, MS, far)), (1, 8));
    }

    #[test]
    fn repairs_are_not_copied_where_they_take_longer_than_a_round_trip() {
        let mut copies = Copies::new(MS);
        copies.on_heard(500.0, 10_000.0);
        assert_eq!(copies.weigh(1000, Duration::from_secs(10), Duration::from_secs(5)), 1);
        assert_eq!(copies.weigh(1000, Duration::MAX, Duration::from_secs(5)), 1);
    }
}
