//! Sessions of LTP (RFC 5326): what each segment does to the two directions.

use super::flow::Moment;
use super::half::{Half, Sent};
use super::reaction::Found;
use super::tcp::path_ns;
use lightlag_protocols::wire::ltp::{Content, Data, Packet, Report, SessionId};
use std::collections::BTreeMap;

/// Sessions, and checkpoints that wait for a report, that are remembered of a direction; the oldest are forgotten.
const SESSIONS_MAX: usize = 4_096;

/// An engine at each end.
#[derive(Clone, Debug, Default)]
pub struct Ltp {
    engines: [Engine; 2],
}

/// What an engine has sent.
#[derive(Clone, Debug, Default)]
struct Engine {
    /// Behind the highest byte of each block that was sent, and bytes lost as reports told.
    blocks: BTreeMap<SessionId, u64>,
    /// When a checkpoint was sent, and whether it was sent again.
    checkpoints: BTreeMap<(SessionId, u64), (i64, bool)>,
    /// Bytes of all blocks before this one: a single axis for the graph.
    sent: u64,
}

impl Ltp {
    /// A segment that travels from end `way` to the other.
    pub fn on_segment(&mut self, halves: &mut [Half; 2], way: usize, packet: &Packet<'_>, now: &Moment) {
        let session = packet.segment.session;
        match &packet.segment.content {
            Content::Data(data) => self.on_data(halves, way, session, data, now),
            Content::Report(report) => self.on_report(halves, way, session, report, now),
            Content::ReportAck(_) => halves[way].counts.pure_acks += 1,
            Content::Cancel(..) => {
                halves[way].counts.control += 1;
                halves[way].counts.resets += 1;
            }
            Content::CancelAck(_) | Content::Undefined { .. } => halves[way].counts.control += 1,
        }
    }

    fn on_data(&mut self, halves: &mut [Half; 2], way: usize, session: SessionId, data: &Data, now: &Moment) {
        let path_ns = path_ns(halves);
        let (engine, half) = (&mut self.engines[way], &mut halves[way]);
        let highest = engine.blocks.entry(session).or_default();
        // What lies below the highest byte of its block was sent before, or was overtaken: LTP does not say.
        let again = highest.saturating_sub(data.offset).min(data.length);
        *highest = (*highest).max(data.end());
        let from = engine.sent;
        engine.sent += data.length - again;
        let (now_ns, at_s, pause_ns) = (now.ns, now.s, now.pause_ns);
        let packet = half.largest.max(1);
        let under_way = half.flight.pieces();
        let sent = Sent {
            now_ns,
            at_s,
            from,
            to: engine.sent,
            payload: data.length,
            path_ns,
            pause_ns,
            packet,
            under_way,
        };
        if again > 0 {
            half.counts.again_packets += 1;
            half.counts.again_bytes += again;
        }
        if data.length > 0 {
            half.on_data(&sent, again);
        }
        if let Some(graph) = &mut half.graph {
            let series = if again > 0 { &mut graph.again } else { &mut graph.sent };
            series.add(now.ns, from.saturating_sub(again), engine.sent);
        }
        if let Some(checkpoint) = data.checkpoint() {
            let first = engine.checkpoints.entry((session, checkpoint.serial)).or_insert((now.ns, false));
            first.1 = first.0 != now.ns;
        }
        forget(&mut engine.blocks);
        forget(&mut engine.checkpoints);
    }

    fn on_report(
        &mut self,
        halves: &mut [Half; 2],
        way: usize,
        session: SessionId,
        report: &Report,
        now: &Moment,
    ) {
        let other = 1 - way;
        halves[way].counts.sacks += 1;
        let path_ns = path_ns(halves);
        let half = &mut halves[other];
        half.acknowledged_ns = Some(now.ns);
        // A checkpoint that was sent twice tells nothing of time (Karn's rule).
        let asked = self.engines[other].checkpoints.remove(&(session, report.checkpoint));
        if let Some((sent_ns, false)) = asked {
            half.on_rtt(now.ns, now.ns - sent_ns);
        }
        let claimed: u64 = report.claims.iter().map(|claim| claim.length).sum();
        let missing = (report.upper - report.lower).saturating_sub(claimed);
        // A report that is sent again tells of nothing new.
        if missing > 0 && asked.is_some() {
            let (now_ns, at_s, pause_ns) = (now.ns, now.s, now.pause_ns);
            let (from, packet) = (report.serial, half.largest.max(1));
            half.counts.lost += missing.div_ceil(packet);
            let under_way = half.flight.pieces();
            let sent =
                Sent { now_ns, at_s, from, to: from, payload: 0, path_ns, pause_ns, packet, under_way };
            half.on_loss(&sent, Found::Report, 0, u64::MAX);
        }
    }
}

/// Keeps the map bounded: numbers of sessions grow, so that the lowest is the oldest.
fn forget<K: Ord, V>(map: &mut BTreeMap<K, V>) {
    while map.len() > SESSIONS_MAX {
        map.pop_first();
    }
}
