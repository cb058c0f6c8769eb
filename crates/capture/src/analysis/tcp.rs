//! Connections of TCP: what each segment does to the two directions.

use super::flow::Moment;
use super::half::{Half, Sent};
use super::tcp_header::{Segment, Unwrap};

/// What is known of one end.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    numbers: Unwrap,
    shift: u8,
    /// A window of a segment without SYN has been seen.
    window: Option<u64>,
    acked: Option<u64>,
    opened: bool,
    first: Option<u32>,
    closed: bool,
}

/// A connection.
#[derive(Clone, Debug, Default)]
pub struct Tcp {
    ends: [End; 2],
    repeats: [u32; 2],
    /// Both shifts are known, as both opening segments were seen.
    reset: bool,
}

impl Tcp {
    /// Whether an opening segment begins another connection between the same ports.
    pub fn is_over(&self, segment: &Segment, way: usize) -> bool {
        let opens = segment.syn() && !segment.ack();
        opens
            && (self.reset
                || self.ends.iter().all(|end| end.closed)
                || self.ends[way].first.is_some_and(|first| first != segment.sequence))
    }

    /// A segment that travels from end `way` to the other.
    #[inline]
    pub fn on_segment(&mut self, halves: &mut [Half; 2], way: usize, segment: &Segment, now: &Moment) {
        let other = 1 - way;
        let own_end = &mut self.ends[way];
        if segment.syn() {
            own_end.opened = true;
            own_end.first = Some(segment.sequence);
            own_end.shift = segment.shift.unwrap_or(0);
        }
        self.reset |= segment.reset();
        let counts = &mut halves[way].counts;
        counts.resets += u64::from(segment.reset());
        counts.control += u64::from(segment.syn() || segment.fin() || segment.reset());
        counts.ends += u64::from(segment.fin());
        counts.pure_acks += u64::from(segment.ack() && segment.space() == 0 && !segment.reset());
        if segment.ack() && !segment.reset() {
            self.on_ack(halves, way, segment, now);
        }
        if segment.space() > 0 && !segment.reset() {
            self.on_space(halves, way, segment, now);
        }
        self.ends[way].closed |= segment.fin();
        self.on_window(halves, other, way, segment);
    }

    #[inline]
    fn on_window(&mut self, halves: &mut [Half; 2], other: usize, way: usize, segment: &Segment) {
        if segment.syn() || segment.reset() {
            return;
        }
        halves[way].counts.zero_windows += u64::from(segment.window == 0);
        halves[other].closed = segment.window == 0;
        halves[other].was_closed |= segment.window == 0;
    }

    #[inline]
    fn on_ack(&mut self, halves: &mut [Half; 2], way: usize, segment: &Segment, now: &Moment) {
        let other = 1 - way;
        if !self.ends[other].numbers.is_known() {
            return;
        }
        let numbers = self.ends[other].numbers;
        let own_end = &mut self.ends[way];
        // Windows are only shifted if both ends said so; a capture that missed the opening cannot know.
        let window = u64::from(segment.window) << if segment.syn() { 0 } else { own_end.shift };
        let same_window = own_end.window.replace(window) == Some(window);
        let to = numbers.near(u64::from(segment.acknowledged), 32);
        let repeated = own_end.acked == Some(to);
        own_end.acked = own_end.acked.max(Some(to));
        let half = &mut halves[other];
        let done = half.flight.acknowledge(to, now.ns);
        half.acknowledged_ns = Some(now.ns);
        if let Some(rtt_ns) = done.rtt_ns {
            half.on_rtt(now.ns, rtt_ns);
        }
        let mut told_twice = false;
        if !segment.blocks().is_empty() {
            told_twice = blocks(half, segment, numbers, to, now.ns);
        }
        let outstanding = half.flight.outstanding();
        if done.progress {
            self.repeats[other] = 0;
            half.weighted.set(now.ns, outstanding);
        }
        if let Some(graph) = &mut half.graph {
            graph.acks.add(now.ns, to, to);
            graph.edge.add(now.ns, to + window, to + window);
        }
        let counts = &mut halves[way].counts;
        counts.sacks += u64::from(!segment.blocks().is_empty());
        counts.dsacks += u64::from(told_twice);
        let pure = segment.space() == 0;
        let unmoved = same_window || !segment.blocks().is_empty();
        if repeated && pure && outstanding > 0 && unmoved && !done.progress {
            counts.duplicate_acks += 1;
        }
        halves[other].counts.spurious += u64::from(told_twice);
    }

    #[inline]
    fn on_space(&mut self, halves: &mut [Half; 2], way: usize, segment: &Segment, now: &Moment) {
        let path_ns = path_ns(halves);
        let half = &mut halves[way];
        let space = u64::from(segment.space());
        let from = self.ends[way].numbers.near(u64::from(segment.sequence), 32);
        self.ends[way].numbers.follow(u64::from(segment.sequence), 32);
        self.ends[way].numbers.follow(u64::from(segment.sequence.wrapping_add(space as u32)), 32);
        let payload = u64::from(segment.length);
        let packet = half.largest.max(1);
        let under_way = half.flight.pieces();
        let sent = Sent { now: *now, from, to: from + space, payload, path_ns, packet, under_way };
        let outstanding = half.flight.outstanding();
        if half.closed && payload > 0 && !segment.syn() {
            half.counts.probes += 1;
        }
        let sending = half.flight.send(from, from + space, now.ns);
        half.counts.late += u64::from(sending.late);
        let probe = half.closed && !segment.syn();
        if sending.again > 0 && !probe {
            half.on_again(&sent, sending.again, sending.before_ns, outstanding);
        }
        if let Some(graph) = &mut half.graph {
            let series = if sending.again > 0 { &mut graph.again } else { &mut graph.sent };
            series.add(now.ns, from, from + space);
        }
        if payload > 0 {
            // The numbers of SYN, which is first, and FIN, which is last, are no payload.
            let again = sending.again.saturating_sub(segment.syn().into()).min(payload);
            half.on_data(&sent, again);
            halves[1 - way].spoken_to = true;
        }
        let half = &mut halves[way];
        let outstanding = half.flight.outstanding();
        half.on_outstanding(&sent, outstanding, outstanding - half.flight.arrived());
    }
}

/// The whole round trip: from where was captured to one end and back, and to the other.
#[inline]
pub fn path_ns(halves: &[Half; 2]) -> Option<i64> {
    match [halves[0].srtt_ns, halves[1].srtt_ns] {
        [None, None] => None,
        parts => Some(parts.iter().flatten().sum::<f64>().max(1.0) as i64),
    }
}

/// Processes SACK blocks; whether the first block reports a duplicate (RFC 2883, section 4).
fn blocks(half: &mut Half, segment: &Segment, numbers: Unwrap, acked: u64, now_ns: i64) -> bool {
    let whole = |(from, to): (u32, u32)| (numbers.near(u64::from(from), 32), numbers.near(u64::from(to), 32));
    let first = whole(segment.blocks()[0]);
    let second = segment.blocks().get(1).map(|block| whole(*block));
    let within = second.is_some_and(|(from, to)| from <= first.0 && first.1 <= to);
    let twice = first.1 <= acked || within;
    for (from, to) in segment.blocks().iter().skip(usize::from(twice)).map(|block| whole(*block)) {
        half.flight.arrive(from, to);
        half.draw(|graph| graph.blocks.add(now_ns, from, to.max(from)));
    }
    twice
}
