//! One direction of a flow.

use super::flight::Flight;
use super::flow::Moment;
use super::graph::Graph;
use super::messages::Messages;
use super::moments::{Histogram, Moments};
use super::pauses::{Ended, Pause, Pauses};
use super::reaction::{Found, Noticed, Reactions};
use super::tcp::path_ns;

/// A data packet counts as sent by a timer after this many round trips without an acknowledgement.
const SILENT_ROUND_TRIPS: f64 = 1.5;
/// ... and no earlier than this.
const SILENT_LEAST_NS: i64 = 10_000_000;
/// A sender that waits for an acknowledgement sends on within this time of it, beside a part of the round trip.
const PROMPT_NS: i64 = 2_000_000;

/// What is counted of a direction.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Bytes of payload.
    pub data_bytes: u64,
    /// Bytes of payload, each once.
    pub unique_bytes: u64,
    /// Packets with payload, SYN or FIN that was sent before.
    pub again_packets: u64,
    /// Bytes of payload that were sent before; SYN and FIN count as one each.
    pub again_bytes: u64,
    /// Of these packets, those that a timer sent.
    pub again_by_timer: u64,
    /// Retransmissions that had arrived already, as the receiver says (RFC 2883).
    pub spurious: u64,
    /// Packets that were lost, as the receiver says: Ack Vectors, reports.
    pub lost: u64,
    /// Packets that came later than one sent after them.
    pub late: u64,
    /// Packets with nothing but an acknowledgement.
    pub pure_acks: u64,
    /// Acknowledgements that acknowledge nothing new while data is outstanding (RFC 5681, section 2).
    pub duplicate_acks: u64,
    /// Acknowledgements with blocks (RFC 2018).
    pub sacks: u64,
    /// Acknowledgements that report duplicates (RFC 2883).
    pub dsacks: u64,
    /// Closed windows announced.
    pub zero_windows: u64,
    /// Probes of a closed window.
    pub probes: u64,
    /// Packets with a mark of congestion (RFC 3168).
    pub marked: u64,
    /// Packets that other protocols than data and acknowledgements need: opening, closing, resetting, synchronising.
    pub control: u64,
    /// Packets that say that another could not be (Sync).
    pub syncs: u64,
    /// Resets.
    pub resets: u64,
    /// Packets that end a direction.
    pub ends: u64,
}

/// One direction of a flow.
#[derive(Clone, Debug, Default)]
pub struct Half {
    /// Counters.
    pub counts: Counts,
    /// Round trips from here to the other end and back, in ms.
    pub rtt_ms: Moments,
    /// What is outstanding after each sending: bytes; packets in DCCP.
    pub outstanding: Moments,
    /// The same, for the median.
    pub outstanding_sizes: Histogram,
    /// Packets outstanding after each sending of data.
    pub outstanding_packets: Histogram,
    /// The same over time.
    pub weighted: Weighted,
    /// What is in flight.
    pub flight: Flight,
    /// Answers to losses.
    pub reactions: Reactions,
    /// Pauses.
    pub pauses: Pauses,
    /// Spans with a window of a single packet.
    pub single: Single,
    /// Messages that it carries, where its protocol has them.
    pub messages: Messages,
    /// What is drawn, if anything.
    pub graph: Option<Box<Graph>>,
    /// Largest payload.
    pub largest: u64,
    /// Smoothed as RFC 6298 does.
    pub srtt_ns: Option<f64>,
    /// First and last packet with payload.
    pub data_ns: Option<(i64, i64)>,
    /// When the last acknowledgement came for this direction.
    pub acknowledged_ns: Option<i64>,
    /// The receiver's window is closed.
    pub closed: bool,
    /// It was closed since the last packet with payload.
    pub was_closed: bool,
    /// When this end last refused a packet (a Sync of DCCP).
    pub refused_ns: Option<i64>,
    /// The other end has sent payload since the last packet with payload.
    pub spoken_to: bool,
    /// The last packet with payload waited for an acknowledgement, as far as a capture shows.
    waited: bool,
    /// What lies below was sent by a timer's expiry or after it, until it is acknowledged.
    timed_out_below: u64,
}

/// A mean over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weighted {
    value: u64,
    since_ns: Option<i64>,
    sum: f64,
    span_ns: f64,
}

impl Weighted {
    /// From now on it is `value`.
    #[inline]
    pub fn set(&mut self, now_ns: i64, value: u64) {
        if let Some(since_ns) = self.since_ns {
            let span = (now_ns - since_ns).max(0) as f64;
            self.sum += self.value as f64 * span;
            self.span_ns += span;
        }
        (self.value, self.since_ns) = (value, Some(now_ns));
    }
    /// None before any time has passed.
    pub fn mean(&self) -> Option<f64> {
        (self.span_ns > 0.0).then(|| self.sum / self.span_ns)
    }
}

/// Spans in which packets left alone, each when the one before was acknowledged: none was outstanding but itself, with one
/// exception in ten at most. Packets of idle and interactive flows leave alone, too, but wait for the application.
#[derive(Clone, Copy, Debug, Default)]
pub struct Single {
    from_ns: i64,
    packets: u64,
    exceptions: u64,
    /// Packets and length of the longest.
    pub longest: (u64, i64),
    /// Since when, for the longest.
    pub longest_from_ns: i64,
}

impl Single {
    #[inline]
    fn on_sent(&mut self, now_ns: i64, outstanding: u64, waited: bool) {
        if outstanding > 1 || !waited {
            self.exceptions += 1;
            if self.exceptions * 10 > self.packets {
                (self.packets, self.exceptions) = (0, 0);
            }
            return;
        }
        if self.packets == 0 {
            self.from_ns = now_ns;
        }
        self.packets += 1;
        let length = now_ns - self.from_ns;
        if length > self.longest.1 {
            self.longest = (self.packets, length);
            self.longest_from_ns = self.from_ns;
        }
    }
}

/// A packet with payload, or another that takes numbers.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub now: Moment,
    /// Numbers that it takes, as [from, to).
    pub from: u64,
    /// See `from`.
    pub to: u64,
    /// Bytes of payload.
    pub payload: u64,
    /// Round trip of the whole path, if known.
    pub path_ns: Option<i64>,
    /// How much of a window a full packet takes: its bytes, or one where packets are numbered.
    pub packet: u64,
    /// Packets in flight before it.
    pub under_way: u64,
}

impl Half {
    /// Adds to what is drawn, if anything is.
    #[inline]
    pub fn draw(&mut self, add: impl FnOnce(&mut Graph)) {
        if let Some(graph) = &mut self.graph {
            add(graph);
        }
    }

    /// A round trip was measured.
    #[inline]
    pub fn on_rtt(&mut self, now_ns: i64, rtt_ns: i64) {
        let rtt_ns = rtt_ns.max(0);
        self.rtt_ms.add(rtt_ns as f64 / 1e6);
        self.srtt_ns = Some(self.srtt_ns.map_or(rtt_ns as f64, |srtt| srtt + (rtt_ns as f64 - srtt) / 8.0));
        self.draw(|graph| graph.rtt.add(now_ns, rtt_ns as u64, rtt_ns as u64));
    }

    /// Payload leaves; `again`: how much of it was sent before.
    #[inline]
    pub fn on_data(&mut self, sent: &Sent, again: u64) {
        self.counts.data_packets += 1;
        self.counts.data_bytes += sent.payload;
        self.counts.unique_bytes += sent.payload.saturating_sub(again);
        self.largest = self.largest.max(sent.payload);
        self.waited = again > 0 || self.waits(sent);
        self.spoken_to = false;
        let first = match self.data_ns {
            Some((first, last)) => {
                if sent.now.ns - last >= sent.now.pause_ns {
                    self.on_pause(sent, last, again > 0);
                }
                first
            }
            None => sent.now.ns,
        };
        self.data_ns = Some((first, sent.now.ns));
        self.was_closed = self.closed;
        self.draw(|graph| graph.bytes.add(sent.now.ns, sent.payload, sent.payload));
    }

    /// Whether a packet waited for the window: it is no small one, answers no payload, and left within a quarter of a round
    /// trip of an acknowledgement, or one round trip after the packet before it.
    fn waits(&self, sent: &Sent) -> bool {
        let Some(path_ns) = sent.path_ns.filter(|_| !self.spoken_to && sent.payload * 2 >= self.largest)
        else {
            return false;
        };
        let since = |at: Option<i64>| at.map_or(i64::MAX, |at| sent.now.ns - at);
        since(self.acknowledged_ns) <= path_ns / 4 + PROMPT_NS
            || since(self.data_ns.map(|data| data.1)) <= path_ns + path_ns / 4
    }

    #[cold]
    fn on_pause(&mut self, sent: &Sent, last_ns: i64, again: bool) {
        let outstanding = sent.under_way;
        let ended = Ended {
            from_ns: last_ns,
            to_ns: sent.now.ns,
            acknowledged_ns: self.acknowledged_ns,
            refused: self.refused_ns.is_some_and(|at| at >= last_ns),
            closed: self.was_closed || self.closed,
            again,
            outstanding,
            round_trip_ns: self.rtt_ms.spread().map_or(0, |ms| (ms.min * 1e6) as i64),
        };
        let length_s = (sent.now.ns - last_ns) as f64 / 1e9;
        let at_s = sent.now.s - length_s;
        self.pauses.add(Pause { at_s, length_s, cause: ended.cause(), outstanding_packets: outstanding });
    }

    /// What is outstanding after a packet left: bytes, or packets where these are numbered. Of it `window` is not
    /// known to have arrived.
    #[inline]
    pub fn on_outstanding(&mut self, sent: &Sent, outstanding: u64, window: u64) {
        self.note_outstanding(sent, outstanding, window, None);
    }

    #[inline]
    fn note_outstanding(&mut self, sent: &Sent, outstanding: u64, window: u64, numbers: Option<(u64, u64)>) {
        let now_ns = sent.now.ns;
        self.outstanding.add(outstanding as f64);
        self.outstanding_sizes.add(outstanding);
        self.weighted.set(now_ns, outstanding);
        if sent.payload > 0 {
            self.reactions.on_sent(now_ns, sent.to - sent.from, window, numbers);
            let packets = self.flight.pieces();
            self.outstanding_packets.add(packets);
            self.single.on_sent(now_ns, packets, self.waited);
        }
        self.draw(|graph| graph.outstanding.add(now_ns, outstanding, outstanding));
    }

    /// Counts a retransmission, finds what caused it, and takes it for the sign of a loss. `before_ns`: the
    /// transmission before, if it is still known.
    #[cold]
    pub fn on_again(&mut self, sent: &Sent, again: u64, before_ns: Option<i64>, window: u64) {
        self.counts.again_packets += 1;
        self.counts.again_bytes += again;
        let found = if self.is_silent(sent, before_ns) {
            self.timed_out_below = self.flight.next();
            Found::Timeout
        } else {
            Found::Acknowledgements
        };
        // Acknowledgements continue what a timer has begun.
        let by_timer = sent.from < self.timed_out_below;
        self.counts.again_by_timer += u64::from(by_timer);
        self.on_loss(sent, found, window, sent.from, 1);
    }

    /// The receiver reports that `packets` are lost.
    pub fn on_lost(&mut self, sent: &Sent, found: Found, window: u64, number: u64, packets: u64) {
        self.counts.lost += packets;
        self.on_loss(sent, found, window, number, packets);
    }

    /// Packets count as lost.
    fn on_loss(&mut self, sent: &Sent, found: Found, window: u64, number: u64, packets: u64) {
        self.reactions.on_loss(Noticed {
            now_ns: sent.now.ns,
            at_s: sent.now.s,
            number,
            packets,
            next: self.flight.next(),
            found,
            rtt_ns: sent.path_ns,
            window,
            packet: sent.packet,
        });
    }

    /// For longer than acknowledgements take none has come, and nothing was sent.
    fn is_silent(&self, sent: &Sent, before_ns: Option<i64>) -> bool {
        let heard = self.acknowledged_ns.max(self.data_ns.map(|data| data.1)).max(before_ns);
        let silence = heard.map_or(0, |at| sent.now.ns - at);
        let usual = sent.path_ns.map_or(0.0, |path| path as f64 * SILENT_ROUND_TRIPS);
        silence >= SILENT_LEAST_NS.max(usual as i64)
    }
}

/// A packet with data of a transport that numbers packets. `resends`: a number that comes again was sent again; else the
/// network has duplicated it.
pub fn on_numbered(
    halves: &mut [Half; 2],
    way: usize,
    number: u64,
    payload: u64,
    resends: bool,
    now: &Moment,
) {
    let path_ns = path_ns(halves);
    let half = &mut halves[way];
    let (from, to, under_way) = (number, number + 1, half.flight.pieces());
    let sent = Sent { now: *now, from, to, payload, path_ns, packet: 1, under_way };
    let sending = half.flight.send(number, number + 1, now.ns);
    let again = if resends && sending.again > 0 { payload } else { 0 };
    if again > 0 {
        half.on_again(&sent, again, sending.before_ns, under_way);
    }
    if payload > 0 {
        half.on_data(&sent, again);
        halves[1 - way].spoken_to = true;
    }
    let half = &mut halves[way];
    half.counts.late += u64::from(sending.late);
    half.draw(|graph| {
        let series = if again > 0 { &mut graph.again } else { &mut graph.sent };
        series.add(now.ns, number, number + 1);
    });
    let outstanding = half.flight.pieces();
    let arrived = half.flight.foremost().first().map_or(0, |number| number + 1);
    half.note_outstanding(&sent, outstanding, outstanding, Some((number, arrived)));
}
