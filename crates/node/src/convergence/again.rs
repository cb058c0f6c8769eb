//! Blocks that a receiver has given up and that are sent again.

use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::ltp::Reason;

/// How long a block is sent again whose receiver answers that the client service is not there: a node that starts has LTP
/// a while before its bundle agent.
const UNREACHABLE_MOST: Duration = Duration::from_secs(60);
/// How soon, at first and at most; the wait doubles in between.
const AGAIN_FIRST: Duration = Duration::from_secs(1);
const AGAIN_MOST: Duration = Duration::from_secs(8);
/// How often a block is sent again whose session the receiver has ended for its limits.
const AGAIN_TRIES: u32 = 10;

/// A block that is sent again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Again {
    /// When; `None`: it is in transit.
    pub at: Option<Instant>,
    tries: u32,
    /// When the receiver first answered that the client service is not there.
    unreachable: Option<Instant>,
}

impl Again {
    /// Whether it is worth another try after `reason`, which came at `now`; then it is due.
    pub fn plan(&mut self, now: Instant, reason: Reason) -> bool {
        let (wait, goes_on) = match reason {
            Reason::Unreachable => {
                let since = *self.unreachable.get_or_insert(now);
                let doubled = Duration::from_nanos(AGAIN_FIRST.as_nanos() << self.tries.min(8));
                (doubled.min(AGAIN_MOST), now - since < UNREACHABLE_MOST)
            }
            Reason::Repeated | Reason::Cycles | Reason::System => (Duration::ZERO, self.tries < AGAIN_TRIES),
            Reason::User | Reason::Miscolored | Reason::Reserved(_) => (Duration::ZERO, false),
        };
        self.tries += 1;
        self.at = goes_on.then(|| now + wait);
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_service_that_is_not_there_is_tried_for_a_minute_and_less_and_less_often() {
        let (mut again, mut now, mut waits) = (Again::default(), Instant::from_secs(100), Vec::new());
        while again.plan(now, Reason::Unreachable) {
            let at = again.at.take().expect("it is due");
            waits.push((at - now).as_secs_f64());
            now = at;
        }
        assert_eq!(waits[..5], [1.0, 2.0, 4.0, 8.0, 8.0]);
        assert!(now - Instant::from_secs(100) >= UNREACHABLE_MOST && again.at.is_none());
    }

    #[test]
    fn limits_of_the_receiver_cost_a_new_session_and_what_it_does_not_want_is_not_sent_again() {
        let now = Instant::from_secs(5);
        for (reason, tries) in [
            (Reason::Repeated, AGAIN_TRIES),
            (Reason::Cycles, AGAIN_TRIES),
            (Reason::System, AGAIN_TRIES),
            (Reason::User, 0),
            (Reason::Miscolored, 0),
            (Reason::Reserved(9), 0),
        ] {
            let mut again = Again::default();
            let count = (0..100).take_while(|_| again.plan(now, reason)).count();
            assert_eq!(count, tries as usize, "{reason:?}");
        }
    }
}
