//! Associations of SCTP (RFC 9260): chunks of data with their numbers (TSN), and what SACK chunks acknowledge.

use super::flow::Moment;
use super::half::{Half, on_numbered};
use super::tcp_header::Unwrap;

/// Ports, tag and checksum, before the chunks.
const HEADER: usize = 12;
/// Type, flags and length of a chunk.
const CHUNK: usize = 4;
const DATA: u8 = 0;
const SACK: u8 = 3;
const ABORT: u8 = 6;
/// RFC 8260.
const I_DATA: u8 = 64;
const BITS: u32 = 32;

/// An end each.
#[derive(Clone, Debug, Default)]
pub struct Sctp {
    numbers: [Unwrap; 2],
}

impl Sctp {
    /// A packet of `length` bytes that travels from end `way` to the other, as far as it was kept.
    pub fn on_packet(
        &mut self,
        halves: &mut [Half; 2],
        way: usize,
        bytes: &[u8],
        length: usize,
        now: &Moment,
    ) {
        let mut at = HEADER;
        let mut has_data = false;
        while let Some(&[kind, _, high, low]) = bytes.get(at..).and_then(|chunk| chunk.first_chunk()) {
            let size = usize::from(u16::from_be_bytes([high, low]));
            if size < CHUNK || at + size > length {
                return;
            }
            let word = bytes.get(at + CHUNK..).and_then(|rest| rest.first_chunk());
            let number = word.map(|word| u64::from(u32::from_be_bytes(*word)));
            match (kind, number) {
                (DATA | I_DATA, Some(number)) => {
                    has_data = true;
                    let header = if kind == DATA { 16 } else { 20 };
                    self.on_data(halves, way, number, size.saturating_sub(header) as u64, now);
                }
                (SACK, Some(number)) => {
                    halves[way].counts.pure_acks += u64::from(!has_data && size + HEADER == length);
                    self.on_sack(halves, way, number, now);
                }
                _ => {
                    halves[way].counts.control += 1;
                    halves[way].counts.resets += u64::from(kind == ABORT);
                }
            }
            at += size.next_multiple_of(CHUNK);
        }
    }

    fn on_data(&mut self, halves: &mut [Half; 2], way: usize, number: u64, payload: u64, now: &Moment) {
        let number = self.numbers[way].follow(number, BITS);
        on_numbered(halves, way, number, payload, true, now);
    }

    fn on_sack(&mut self, halves: &mut [Half; 2], way: usize, number: u64, now: &Moment) {
        let other = 1 - way;
        if !self.numbers[other].is_known() {
            return;
        }
        let number = self.numbers[other].near(number, BITS);
        let half = &mut halves[other];
        half.acknowledged_ns = Some(now.ns);
        if let Some(rtt_ns) = half.flight.acknowledge(number + 1, now.ns).rtt_ns {
            half.on_rtt(now.ns, rtt_ns);
        }
        half.weighted.set(now.ns, half.flight.pieces());
        half.draw(|graph| graph.acks.add(now.ns, number, number));
    }
}
