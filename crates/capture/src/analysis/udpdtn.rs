//! Transfers of UDPDTN: what each datagram does to the two directions. Its numbers count datagrams of data.

use super::flow::Moment;
use super::half::{Half, Sent, on_numbered};
use super::reaction::Found;
use super::tcp::path_ns;
use super::tcp_header::Unwrap;
use lightlag_protocols::transport::udpdtn::Report;
use lightlag_protocols::wire::udpdtn::{Body, Packet};

const BITS: u32 = 32;

/// A sender at each end.
#[derive(Clone, Debug, Default)]
pub struct Udpdtn {
    senders: [Sender; 2],
}

/// What is known of a sender's transfer.
#[derive(Clone, Debug, Default)]
struct Sender {
    session: Option<u32>,
    numbers: Unwrap,
    /// Life of the receiver, and how many datagrams it had missed by its last report.
    missed: (u32, u32),
}

impl Udpdtn {
    /// A datagram that travels from end `way` to the other; `cut` bytes of its payload were not kept.
    pub fn on_datagram(
        &mut self,
        halves: &mut [Half; 2],
        way: usize,
        packet: &Packet<'_>,
        cut: u64,
        now: &Moment,
    ) {
        match &packet.body {
            Body::Data(data, payload) => {
                let sender = &mut self.senders[way];
                if sender.session.replace(packet.session) != Some(packet.session) {
                    *sender = Sender { session: sender.session, ..Sender::default() };
                    // Numbers restart: the packets in flight belong to another transfer.
                    halves[way].flight = Default::default();
                }
                let number = sender.numbers.follow(u64::from(data.number), BITS);
                on_numbered(halves, way, number, payload.len() as u64 + cut, false, now);
            }
            Body::Report(report) => self.on_report(halves, way, report, now),
            Body::Open(_) | Body::Unknown => halves[way].counts.control += 1,
            Body::Refuse(..) => {
                halves[way].counts.control += 1;
                halves[way].counts.resets += 1;
            }
        }
    }

    fn on_report(&mut self, halves: &mut [Half; 2], way: usize, report: &Report, now: &Moment) {
        let other = 1 - way;
        let path_ns = path_ns(halves);
        halves[way].counts.pure_acks += 1;
        let (sender, half) = (&mut self.senders[other], &mut halves[other]);
        if !sender.numbers.is_known() || report.received == 0 {
            return;
        }
        let number = sender.numbers.near(u64::from(report.highest), BITS);
        half.acknowledged_ns = Some(now.ns);
        let window = half.flight.pieces();
        if let Some(sent_ns) = half.flight.sent_at(number) {
            half.on_rtt(now.ns, now.ns - sent_ns - report.held.as_nanos());
        }
        half.flight.acknowledge(number + 1, now.ns);
        half.weighted.set(now.ns, half.flight.pieces());
        half.draw(|graph| graph.acks.add(now.ns, number, number));
        let missed = report.highest.wrapping_add(1).saturating_sub(report.received);
        let before = if sender.missed.0 == report.incarnation { sender.missed.1 } else { 0 };
        sender.missed = (report.incarnation, missed.max(before));
        if missed > before {
            let under_way = half.flight.pieces();
            let sent =
                Sent { now: *now, from: number, to: number, payload: 0, path_ns, packet: 1, under_way };
            half.on_lost(&sent, Found::Report, window, number, u64::from(missed - before));
        }
    }
}
