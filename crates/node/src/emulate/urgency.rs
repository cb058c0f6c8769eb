//! Who carries packets in real time runs before others, while that leaves the others time.

use crate::real_time;
use lightlag_protocols::time::{Duration, Instant};
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroU64;
use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

const LOOKED_EVERY: Duration = Duration::from_nanos(250_000_000);
/// Linux stops threads of real time that leave less than 5 % of a second to others, for the rest of it:
/// a thread above this share of a core gets the ordinary scheduler, with the lowest nice value.
const BUSY: f64 = 0.9;

/// Scheduling of this thread. Without the privilege to choose it, packets leave late more often (`Lateness`).
pub(super) struct Urgency {
    looked: Instant,
    spent: Duration,
    goes_first: bool,
    /// On a single core a real-time thread that polls would starve the programs that use the link.
    may_go_first: bool,
}

impl Urgency {
    /// From now on the timers of this thread ring when they should.
    pub(super) fn new() -> Self {
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        real_time::go_first();
        let may_go_first = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let mut urgency =
            Self { looked: Instant::ZERO, spent: thread_time(), goes_first: false, may_go_first };
        urgency.go_first(may_go_first);
        urgency
    }
    /// Looks whether it has been too busy; now and then does.
    pub(super) fn look(&mut self, now: Instant) {
        let span = now - self.looked;
        if span < LOOKED_EVERY || !self.may_go_first {
            return;
        }
        let spent = thread_time();
        let share = (spent - self.spent).as_secs_f64() / span.as_secs_f64();
        (self.looked, self.spent) = (now, spent);
        self.go_first(share < BUSY);
    }
    fn go_first(&mut self, first: bool) {
        if first == self.goes_first {
            return;
        }
        self.goes_first = first;
        let (priority, policy) = if first {
            (ThreadPriority::Min, ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo))
        } else {
            (ThreadPriority::Min, ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other))
        };
        let _ = set_thread_priority_and_policy(thread_native_id(), priority, policy);
        real_time::go_first();
    }
}

fn thread_time() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_nanos(spent.tv_sec.saturating_mul(1_000_000_000).saturating_add(spent.tv_nsec))
}
