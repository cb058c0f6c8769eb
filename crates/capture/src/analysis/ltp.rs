//! Sessions of LTP (RFC 5326): what each segment does to the two directions.

use super::flow::Moment;
use super::half::{Half, Sent};
use super::reaction::Found;
use super::tcp::path_ns;
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::wire::ltp::{Content, Data, End, Packet, Report, SessionId};
use std::collections::BTreeMap;

/// Sessions, and checkpoints that wait for a report, that are remembered of a direction; the oldest are forgotten.
const SESSIONS_MAX: usize = 4_096;
/// Ranges of bytes that are remembered of all these sessions.
const RANGES_MAX: usize = 65_536;

/// An engine at each end.
#[derive(Clone, Debug, Default)]
pub struct Ltp {
    engines: [Engine; 2],
}

/// What an engine has sent.
#[derive(Clone, Debug, Default)]
struct Engine {
    sessions: BTreeMap<SessionId, Session>,
    /// Ranges that these hold.
    ranges: usize,
    /// Bytes of red data that were sent and that no report has claimed.
    outstanding: u64,
    /// When a checkpoint was sent, and whether it was sent again.
    checkpoints: BTreeMap<(SessionId, u64), (i64, bool)>,
    /// Bytes of all blocks before this one: a single axis for the graph.
    sent: u64,
}

/// What is known of a block.
#[derive(Clone, Debug, Default)]
struct Session {
    /// Bytes that were sent.
    red: Ranges,
    green: Ranges,
    /// Red bytes that arrived, as reports claim.
    claimed: Ranges,
}

impl Session {
    fn ranges(&self) -> usize {
        self.red.len() + self.green.len() + self.claimed.len()
    }
    /// Data leave; how many bytes of them for the first time.
    fn send(&mut self, data: &Data) -> u64 {
        let part = if data.is_red() { &mut self.red } else { &mut self.green };
        part.insert(data.offset, data.end())
    }
    /// A report came; how many bytes it claims that none has claimed before.
    fn claim(&mut self, report: &Report) -> u64 {
        let mut fresh = 0;
        for claim in &report.claims {
            let from = report.lower.saturating_add(claim.offset);
            // What was never seen being sent was never outstanding.
            for (from, to) in self.red.clipped(from, from.saturating_add(claim.length)) {
                fresh += self.claimed.insert(from, to);
            }
        }
        fresh
    }
    fn outstanding(&self) -> u64 {
        self.red.total() - self.claimed.total()
    }
}

impl Engine {
    /// Changes what is known of a session, and keeps the sums.
    fn change(&mut self, id: SessionId, change: impl FnOnce(&mut Session) -> u64) -> u64 {
        let session = self.sessions.entry(id).or_default();
        let before = (session.ranges(), session.outstanding());
        let made = change(session);
        self.ranges = self.ranges + session.ranges() - before.0;
        self.outstanding = self.outstanding + session.outstanding() - before.1;
        // Numbers of sessions grow, so that the lowest is the oldest.
        while self.sessions.len() > SESSIONS_MAX || self.ranges > RANGES_MAX {
            let Some((oldest, _)) = self.sessions.first_key_value() else { break };
            self.give_up(*oldest);
        }
        made
    }
    fn give_up(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.remove(&id) {
            self.ranges -= session.ranges();
            self.outstanding -= session.outstanding();
        }
    }
}

impl Ltp {
    /// When checkpoints were sent is not known any more.
    pub fn forget_times(&mut self) {
        let checkpoints = self.engines.iter_mut().flat_map(|engine| engine.checkpoints.values_mut());
        checkpoints.for_each(|(_, ambiguous)| *ambiguous = true);
    }

    /// A segment that travels from end `way` to the other.
    pub fn on_segment(&mut self, halves: &mut [Half; 2], way: usize, packet: &Packet<'_>, now: &Moment) {
        let session = packet.segment.session;
        match &packet.segment.content {
            Content::Data(data) => self.on_data(halves, way, session, data, now),
            Content::Report(report) => self.on_report(halves, way, session, report, now),
            Content::ReportAck(_) => halves[way].counts.pure_acks += 1,
            Content::Cancel(end, _) => {
                let engine = if *end == End::Sender { way } else { 1 - way };
                self.engines[engine].give_up(session);
                halves[way].counts.control += 1;
                halves[way].counts.resets += 1;
            }
            Content::CancelAck(_) | Content::Undefined { .. } => halves[way].counts.control += 1,
        }
    }

    fn on_data(&mut self, halves: &mut [Half; 2], way: usize, session: SessionId, data: &Data, now: &Moment) {
        let path_ns = path_ns(halves);
        let (engine, half) = (&mut self.engines[way], &mut halves[way]);
        let again = data.length - engine.change(session, |known| known.send(data));
        let from = engine.sent;
        engine.sent += data.length - again;
        let packet = half.largest.max(1);
        let under_way = half.flight.pieces();
        let sent =
            Sent { now: *now, from, to: engine.sent, payload: data.length, path_ns, packet, under_way };
        if again > 0 {
            half.counts.again_packets += 1;
            half.counts.again_bytes += again;
        }
        if data.length > 0 {
            half.on_data(&sent, again);
        }
        half.outstanding.add(engine.outstanding as f64);
        half.outstanding_sizes.add(engine.outstanding);
        half.weighted.set(now.ns, engine.outstanding);
        if let Some(graph) = &mut half.graph {
            let series = if again > 0 { &mut graph.again } else { &mut graph.sent };
            series.add(now.ns, from.saturating_sub(again), engine.sent);
            graph.outstanding.add(now.ns, engine.outstanding, engine.outstanding);
        }
        if let Some(checkpoint) = data.checkpoint() {
            let first = engine.checkpoints.entry((session, checkpoint.serial)).or_insert((now.ns, false));
            first.1 |= first.0 != now.ns;
        }
        while engine.checkpoints.len() > SESSIONS_MAX {
            engine.checkpoints.pop_first();
        }
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
        // A checkpoint that was sent twice gives no round trip (Karn's rule).
        let engine = &mut self.engines[other];
        engine.change(session, |known| known.claim(report));
        half.weighted.set(now.ns, engine.outstanding);
        let asked = engine.checkpoints.remove(&(session, report.checkpoint));
        if let Some((sent_ns, false)) = asked {
            half.on_rtt(now.ns, now.ns - sent_ns);
        }
        let claimed: u64 = report.claims.iter().map(|claim| claim.length).sum();
        let missing = (report.upper - report.lower).saturating_sub(claimed);
        // A report that is sent again adds nothing new.
        if missing > 0 && asked.is_some() {
            let (from, packet) = (report.serial, half.largest.max(1));
            let under_way = half.flight.pieces();
            let sent = Sent { now: *now, from, to: from, payload: 0, path_ns, packet, under_way };
            half.on_lost(&sent, Found::Report, 0, u64::MAX, missing.div_ceil(packet));
        }
    }
}
