//! Connections of DCCP (RFC 4340): what each packet does to the two directions.
//!
//! All packets have numbers, also those without data; only data are followed. With Ack Vectors (CCID 2) a packet
//! is lost once the vector says so and three packets after it have arrived (RFC 4341, section 5). Without (CCID 3)
//! the receiver counts losses: a loss event rate that rises reports one.

use super::flow::Moment;
use super::half::{Half, Sent, on_numbered};
use super::reaction::Found;
use super::tcp::path_ns;
use super::tcp_header::Unwrap;
use lightlag_protocols::transport::dccp::SERVICE_LTP;
use lightlag_protocols::wire::dccp::{Body, Item, Kind, Packet, Received, Sequence, runs};

/// Packets that must arrive after a packet before it counts as lost.
const LATER: usize = 3;

const BITS: u32 = 48;
const SHORT_BITS: u32 = 24;

/// A connection.
#[derive(Clone, Debug, Default)]
pub struct Dccp {
    ends: [End; 2],
    over: bool,
    /// What the client asked for (RFC 4340, section 8.1.2).
    service: Option<u32>,
}

#[derive(Clone, Debug, Default)]
struct End {
    numbers: Unwrap,
    /// The last loss event rate that it reported, in packets per event.
    event_interval: Option<u32>,
    /// Its last Request, and when it was sent.
    opening: Option<(u64, i64)>,
    /// Greatest number of the other end that it acknowledged.
    acked: Option<u64>,
}

/// What an acknowledgement says besides its number.
#[derive(Default)]
struct Told {
    /// Runs of an Ack Vector, downwards: [from, to) and what became of them.
    runs: Vec<(u64, u64, Received)>,
    has_vector: bool,
    elapsed_ns: i64,
    event_interval: Option<u32>,
}

impl Dccp {
    /// Whether a packet begins another connection between the same ports.
    pub fn is_over(&self, packet: &Packet<'_>) -> bool {
        self.over && packet.header.kind() == Kind::Request
    }

    /// Whether the client asked for LTP (RFC 7122).
    pub fn carries_ltp(&self) -> bool {
        self.service == Some(SERVICE_LTP)
    }

    /// When it was opened is not known any more.
    pub fn forget_times(&mut self) {
        self.ends.iter_mut().for_each(|end| end.opening = None);
    }

    /// A packet that travels from end `way` to the other, with `payload` bytes of data.
    pub fn on_packet(
        &mut self,
        halves: &mut [Half; 2],
        way: usize,
        packet: &Packet<'_>,
        payload: u64,
        now: &Moment,
    ) {
        let kind = packet.header.kind();
        let counts = &mut halves[way].counts;
        counts.pure_acks += u64::from(kind == Kind::Ack);
        counts.control += u64::from(!kind.is_data() && kind != Kind::Ack);
        counts.resets += u64::from(kind == Kind::Reset);
        counts.ends += u64::from(matches!(kind, Kind::Close | Kind::CloseReq));
        self.over |= kind == Kind::Reset;
        if let Body::Request { service } | Body::Response { service, .. } = packet.header.body {
            self.service = Some(service);
        }
        if kind == Kind::Sync {
            halves[way].refused_ns = Some(now.ns);
            halves[way].counts.syncs += 1;
        }
        let bits = if packet.header.short { SHORT_BITS } else { BITS };
        // A Sync refers to an impossible number, and the numbers of a Reset are unreliable.
        if !matches!(kind, Kind::Sync | Kind::SyncAck | Kind::Reset)
            && let Some(ack) = packet.header.body.ack()
        {
            self.on_ack(halves, way, packet, (ack, bits), now);
        }
        let number = self.ends[way].numbers.near(packet.header.sequence.get(), bits);
        if kind != Kind::Reset {
            self.ends[way].numbers.follow(packet.header.sequence.get(), bits);
        }
        if kind == Kind::Request {
            self.ends[way].opening = Some((number, now.ns));
        }
        if kind.is_data() {
            on_numbered(halves, way, number, payload, false, now);
        }
    }

    fn on_ack(
        &mut self,
        halves: &mut [Half; 2],
        way: usize,
        packet: &Packet<'_>,
        (ack, bits): (Sequence, u32),
        now: &Moment,
    ) {
        let other = 1 - way;
        if !self.ends[other].numbers.is_known() {
            return;
        }
        let number = self.ends[other].numbers.near(ack.get(), bits);
        let told = Told::read(packet, number);
        let path_ns = path_ns(halves);
        let half = &mut halves[other];
        half.acknowledged_ns = Some(now.ns);
        let window = half.flight.pieces();
        let is_newest = self.ends[way].acked.is_none_or(|acked| acked < number);
        if is_newest {
            self.ends[way].acked = Some(number);
            let opening = self.ends[other].opening.filter(|opening| opening.0 == number);
            if let Some(sent_ns) = half.flight.sent_at(number).or(opening.map(|opening| opening.1)) {
                half.on_rtt(now.ns, now.ns - sent_ns - told.elapsed_ns);
            }
        }
        let under_way = half.flight.pieces();
        let sent = Sent { now: *now, from: number, to: number, payload: 0, path_ns, packet: 1, under_way };
        if told.has_vector {
            half.on_vector(&told, &sent, window);
        } else {
            half.flight.acknowledge(number + 1, now.ns);
            half.flight.note_foremost(number, number + 1, LATER);
        }
        let before = self.ends[way].event_interval;
        if let Some(interval) = told.event_interval {
            self.ends[way].event_interval = Some(interval);
            if before.unwrap_or(u32::MAX) > interval {
                half.on_lost(&sent, Found::LossEventRate, window, number, 1);
            }
        }
        let outstanding = half.flight.pieces();
        half.weighted.set(now.ns, outstanding);
        half.draw(|graph| graph.acks.add(now.ns, number, number));
        halves[way].counts.sacks += u64::from(told.has_vector);
    }
}

impl Half {
    /// Processes an Ack Vector: packets that arrived, and packets lost because [`LATER`] later ones arrived.
    fn on_vector(&mut self, told: &Told, sent: &Sent, window: u64) {
        for &(from, to, received) in &told.runs {
            if !matches!(received, Received::Yes | Received::Marked) {
                continue;
            }
            self.flight.arrive(from, to);
            // A vector begins at what the sender is known to know: earlier vectors reported the rest.
            self.flight.note_foremost(from, to, LATER);
        }
        let Some(&settled) = self.flight.foremost().get(LATER - 1) else { return };
        let mut lost = Vec::new();
        self.flight.settle(settled, |number| lost.push(number));
        for number in lost {
            self.on_lost(sent, Found::Acknowledgements, window, number, 1);
            self.draw(|graph| graph.again.add(sent.now.ns, number, number + 1));
        }
    }
}

impl Told {
    fn read(packet: &Packet<'_>, number: u64) -> Self {
        let mut told = Self::default();
        let mut top = number + 1;
        // What follows an option that cannot be read cannot be read either.
        for item in packet.options().map_while(Result::ok) {
            match item {
                Item::AckVector { cells, .. } => {
                    told.has_vector = true;
                    for run in runs(cells) {
                        let from = top.saturating_sub(run.count);
                        told.runs.push((from, top, run.received));
                        top = from;
                    }
                }
                Item::ElapsedTime(units) | Item::TimestampEcho { elapsed: Some(units), .. } => {
                    told.elapsed_ns = Item::span(units).as_nanos();
                }
                Item::LossEventRate(interval) => told.event_interval = Some(interval),
                _ => {}
            }
        }
        told
    }
}
