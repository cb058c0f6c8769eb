//! What a wire does to a packet: a queue in front of it, its rate, its delay, and what it loses.
//!
//! A [`Link`] is one direction. The driver gives it packets ([`Link::offer`]), comes back at
//! [`Link::deadline`] and takes what has arrived ([`Link::poll`]). Between two calls nothing need
//! happen: the queue is served as of the times at which its packets left, so a packet that crosses a
//! link costs one visit.

mod delay;
pub mod losses;
mod opportunities;
pub mod queues;
mod rate;

pub use delay::{DEVIATIONS_MOST, Delay};
pub use losses::{Loss, LossModel};
pub use opportunities::{HEADER_BYTES, OPPORTUNITY_BYTES, Opportunities};
pub use queues::{Dropped, Queue};
pub use rate::Rate;

use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use std::collections::VecDeque;

/// What a link carries.
pub trait Load {
    /// Everything that occupies the link, headers included.
    fn size(&self) -> Bytes;
    /// Lower ones leave first, where the queue has priorities.
    fn priority(&self) -> u8 {
        0
    }
    /// Its first bit leaves now.
    #[inline]
    fn leaves(&mut self, _: Instant) {}
    /// A queue asks its sender to slow down; false if the packet can't be marked, and must be dropped
    /// instead.
    #[inline]
    fn mark(&mut self) -> bool {
        false
    }
}

/// One direction of a link, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// How fast bits leave; zero while there is no contact.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Delay,
    /// Which packets are lost on the link.
    pub loss: Loss,
    /// Which packets the queue holds and drops; its limit includes the packet being sent.
    pub queue: queues::Discipline,
    /// Share of packets that are held back by up to this long, so that later ones overtake them.
    pub reorder: Option<(f64, Duration)>,
    /// Share of packets that arrive twice.
    pub duplicate: f64,
    /// Most extra delay of each packet, drawn uniformly from zero; later ones may overtake it.
    pub jitter: Duration,
}

/// Why a packet did not come through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was full.
    Full,
    /// The queue discipline asked its sender to slow down.
    Marked,
    /// Lost on the wire.
    Lost,
}

/// How much has gone through a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets offered.
    pub offered: u64,
    /// Packets that arrived, copies included.
    pub arrived: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets that the queue marked instead.
    pub marked: u64,
    /// Packets lost on the wire.
    pub lost: u64,
    /// Bytes that left, lost ones included.
    pub left_bytes: u64,
    /// Most packets that were here at once, the one that was leaving included.
    pub queue_packets_max: u64,
}

/// What a wire does to packets beside delaying them.
struct Faults {
    loss: Option<Box<dyn LossModel>>,
    reorder: Option<(f64, Duration)>,
    duplicate: f64,
    jitter: Option<(Duration, Stream)>,
    normal: Option<delay::NormalDraws>,
    draws: Stream,
}

impl Faults {
    /// None of a wire that has none.
    fn new(spec: &LinkSpec, seed: u64, index: u64) -> Option<Box<Self>> {
        let jitters = spec.jitter > Duration::ZERO;
        let draws = matches!(spec.delay, Delay::Normal { .. });
        let has_some =
            !spec.loss.is_none() || spec.reorder.is_some() || spec.duplicate > 0.0 || jitters || draws;
        let faults = || Self {
            loss: spec.loss.build(&spec.delay, Stream::new(seed, "link loss", index)),
            reorder: spec.reorder,
            duplicate: spec.duplicate,
            jitter: jitters.then(|| (spec.jitter, Stream::new(seed, "link jitter", index))),
            normal: delay::NormalDraws::new(&spec.delay, Stream::new(seed, "link delay", index)),
            draws: Stream::new(seed, "link order", index),
        };
        has_some.then(|| Box::new(faults()))
    }
    fn lose(&mut self, start: Instant, size: Bytes) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.loses(start, size))
    }
    /// When a packet sent at `left` with this delay arrives, and its copy, if it has one.
    fn arrivals(&mut self, left: Instant, delay: Duration) -> (Instant, Option<Instant>) {
        let delay = self.normal.as_mut().map_or(delay, |normal| normal.around(delay));
        let mut arrival = left.saturating_add(delay);
        if let Some((most, draws)) = &mut self.jitter {
            arrival = later(arrival, *most, draws);
        }
        let doubles = self.duplicate > 0.0 && self.draws.unit() < self.duplicate;
        let copy = doubles.then(|| self.hold_back(arrival));
        (self.hold_back(arrival), copy)
    }
    fn hold_back(&mut self, arrival: Instant) -> Instant {
        match self.reorder {
            Some((share, longest)) if self.draws.unit() < share => later(arrival, longest, &mut self.draws),
            _ => arrival,
        }
    }
}

/// By up to `most`.
fn later(arrival: Instant, most: Duration, draws: &mut Stream) -> Instant {
    let by = most.as_nanos() as f64 * draws.unit();
    arrival.saturating_add(Duration::from_nanos(by as i64))
}

/// One direction of a link.
pub struct Link<P> {
    rate: Rate,
    /// How long a packet of this size takes, on a link of one rate: most are of few sizes, and a division
    /// takes as long as all the rest.
    takes: (Bytes, Duration),
    delay: Delay,
    /// None on a link that only delays.
    faults: Option<Box<Faults>>,
    queue: queues::Waiting<P>,
    /// What the queue drops while it is asked for the next packet: empty between two calls.
    refused: Dropped<P>,
    /// How many are in the queue.
    waiting: u64,
    /// A packet may come before one that left earlier.
    overtakes: bool,
    /// Of a link with recorded opportunities.
    used: opportunities::Used,
    /// When the packet that is leaving has left.
    free_at: Instant,
    wire: VecDeque<(Instant, P)>,
    dropped: Vec<(Instant, P, DropCause)>,
    tell_drops: bool,
    counts: Counts,
}

impl<P: Load + Clone + 'static> Link<P> {
    /// An idle link; `seed` and `index` name its random streams.
    pub fn new(spec: &LinkSpec, seed: u64, index: u64) -> Self {
        Self {
            rate: spec.rate.clone(),
            takes: (Bytes(0), Duration::ZERO),
            delay: spec.delay.clone(),
            faults: Faults::new(spec, seed, index),
            queue: spec.queue.build(),
            refused: Dropped::new(),
            waiting: 0,
            overtakes: spec.reorder.is_some()
                || spec.jitter > Duration::ZERO
                || spec.delay.falls_faster_than_time(),
            used: opportunities::Used::default(),
            free_at: Instant::ZERO,
            wire: VecDeque::new(),
            dropped: Vec::new(),
            tell_drops: false,
            counts: Counts::default(),
        }
    }
    /// Keeps what is dropped and lost for [`Link::drain_dropped`].
    pub fn tell_drops(&mut self) {
        self.tell_drops = true;
    }
    /// Whether something was dropped or lost since it was drained.
    #[inline]
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }
    /// What was dropped and lost since the last call, and when.
    pub fn drain_dropped(&mut self) -> std::vec::Drain<'_, (Instant, P, DropCause)> {
        self.dropped.drain(..)
    }
    /// How much has gone through so far.
    pub fn counts(&self) -> Counts {
        Counts { marked: self.queue.marked(), ..self.counts }
    }
    /// Packets that wait, the one that is leaving included.
    pub fn backlog(&mut self, now: Instant) -> u64 {
        self.serve(now);
        self.waiting + u64::from(self.free_at > now)
    }

    /// A packet comes to the near end.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: P) {
        self.serve(now);
        self.counts.offered += 1;
        if self.waiting == 0 && self.free_at <= now {
            self.counts.queue_packets_max = self.counts.queue_packets_max.max(1);
            if let Rate::Opportunities(trace) = &self.rate {
                self.used = trace.after(now);
            }
            return self.transmit(now, packet);
        }
        if let Err(packet) = self.queue.push(now, packet) {
            self.drop(now, packet, DropCause::Full);
        }
        self.waiting = self.queue.len() as u64;
        self.counts.queue_packets_max = self.counts.queue_packets_max.max(self.waiting + 1);
    }
    /// The next packet that has arrived at the far end.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<P> {
        self.poll_due(now).map(|due| due.1)
    }
    /// The same with the time it was due, for drivers that may be late.
    #[inline]
    pub fn poll_due(&mut self, now: Instant) -> Option<(Instant, P)> {
        match self.wire.front() {
            Some(front) if front.0 <= now => {
                self.counts.arrived += 1;
                let due = self.wire.pop_front();
                self.serve(now);
                due
            }
            _ => {
                self.serve(now);
                None
            }
        }
    }
    /// When to poll next, if nothing is offered before.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        match self.wire.front() {
            // A queued packet may arrive before one in flight: it must not be served too late.
            Some(front) if self.overtakes && self.waiting > 0 => Some(front.0.min(self.free_at)),
            Some(front) => Some(front.0),
            None if self.waiting > 0 => Some(self.free_at),
            None => None,
        }
    }

    /// Lets everything leave whose turn has come until now.
    #[inline]
    fn serve(&mut self, now: Instant) {
        // At most visits there is nothing to do.
        if self.free_at <= now && self.waiting > 0 {
            self.serve_waiting(now);
        }
    }
    fn serve_waiting(&mut self, now: Instant) {
        while self.free_at <= now && self.waiting > 0 {
            let at = self.free_at;
            let next = self.queue.pop(at, &mut self.refused);
            self.waiting -= u64::from(next.is_some()) + self.refused.len() as u64;
            if !self.refused.is_empty() {
                std::mem::take(&mut self.refused)
                    .into_iter()
                    .for_each(|p| self.drop(at, p, DropCause::Marked));
            }
            match next {
                Some(packet) => self.transmit(at, packet),
                None => break,
            }
        }
    }
    /// When a packet that begins to leave at `start` has left.
    #[inline]
    fn finish(&mut self, start: Instant, size: Bytes) -> Instant {
        let rate = match &self.rate {
            Rate::Constant(rate) => *rate,
            Rate::Opportunities(trace) => return trace.send(&mut self.used, size),
            Rate::Table(_) => return self.rate.finish(start, size),
        };
        if self.takes.0 != size {
            self.takes = (size, rate.time_for(size));
        }
        start.saturating_add(self.takes.1)
    }
    #[inline(always)] // Saves a copy of the packet.
    fn transmit(&mut self, start: Instant, mut packet: P) {
        packet.leaves(start);
        let size = packet.size();
        let left = self.finish(start, size);
        self.free_at = left;
        if left == Instant::MAX {
            // No later contact: it waits for ever.
            return self.drop(start, packet, DropCause::Lost);
        }
        self.counts.left_bytes += size.0;
        if self.faults.is_some() {
            return self.send_with_faults((start, left), packet);
        }
        self.send(left.saturating_add(self.delay.at(left)), packet);
    }
    #[inline(never)]
    fn send_with_faults(&mut self, (start, left): (Instant, Instant), packet: P) {
        let Some(faults) = &mut self.faults else { return };
        if faults.lose(start, packet.size()) {
            self.counts.lost += 1;
            if self.tell_drops {
                self.dropped.push((left, packet, DropCause::Lost));
            }
            return;
        }
        let (arrival, copy) = faults.arrivals(left, self.delay.at(left));
        if let Some(copy) = copy {
            self.send(copy, packet.clone());
        }
        self.send(arrival, packet);
    }
    #[inline(always)] // One hot caller: saves a copy of the packet.
    fn send(&mut self, arrival: Instant, packet: P) {
        if self.wire.len() == self.wire.capacity() {
            // Long wires hold hundreds of thousands of packets: grow by an eighth, not by doubling.
            self.wire.reserve_exact(self.wire.len() / 8 + 16);
        }
        match self.wire.back() {
            Some(back) if back.0 > arrival => {
                let at = self.wire.partition_point(|other| other.0 <= arrival);
                self.wire.insert(at, (arrival, packet));
            }
            _ => self.wire.push_back((arrival, packet)),
        }
    }
    #[cold]
    fn drop(&mut self, at: Instant, packet: P, why: DropCause) {
        self.counts.dropped += 1;
        if self.tell_drops {
            self.dropped.push((at, packet, why));
        }
    }
}
