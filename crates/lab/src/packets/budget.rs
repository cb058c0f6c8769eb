//! What a run of packets takes at most, estimated before it starts: one that would need more time or memory than
//! any machine has is refused with a line.

use super::{Carrier, FlowPlan, LinkPlan};
use crate::scenario::quantity::positive_time;
use crate::scenario::{Error, Result, Section};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::packets::{Source, Span};

/// Packets that the flows of a run send: some hours of computing.
const PACKETS_MAX: f64 = 1e10;
/// Packets under way at once: each takes some 100 to 200 bytes.
const UNDER_WAY_MAX: f64 = 1e7;
/// Turns of a source or reports of a receiver, of a flow.
const TURNS_MAX: f64 = 1e9;

/// Refuses flows that send more packets than a run can compute or hold.
///
/// # Errors
/// At the first such flow.
pub fn check(root: &Section, links: &[LinkPlan], flows: &[FlowPlan]) -> Result<()> {
    let duration = root.quantity("duration", positive_time)?.unwrap_or(Duration::MAX);
    let (mut sent, mut under_way) = (0.0, 0.0);
    for flow in flows {
        let of = Load::of(flow, links, duration);
        sent += of.packets;
        under_way += of.under_way;
        let wrong = |what: String, most: f64| {
            let right =
                format!("a run takes at most {most:.0e}; write lower rates, sizes or delays, or less time");
            Err(Error::new(&root.place_of("flows"), format!("with flow `{}`, {what}", flow.name), right))
        };
        if of.turns > TURNS_MAX {
            return wrong(format!("there are {:.1e} turns of `on`, `off` or reports", of.turns), TURNS_MAX);
        }
        if sent > PACKETS_MAX {
            return wrong(format!("{sent:.1e} packets are sent"), PACKETS_MAX);
        }
        if under_way > UNDER_WAY_MAX {
            return wrong(format!("{under_way:.1e} packets are under way at once"), UNDER_WAY_MAX);
        }
    }
    Ok(())
}

struct Load {
    packets: f64,
    under_way: f64,
    turns: f64,
}

impl Load {
    fn of(flow: &FlowPlan, links: &[LinkPlan], duration: Duration) -> Self {
        let rate = |rate: BitRate| rate.0 as f64 / 8.0;
        let of_path = flow.forward.iter().map(|at| rate(links[*at as usize].spec.rate.highest()));
        let slowest = of_path.fold(f64::INFINITY, f64::min).max(1e-9);
        let delay = |path: &[u32]| super::Network::least_delay(links, path, Bytes(0)).as_secs_f64();
        let round_trip = delay(&flow.forward) + delay(&flow.backward);
        let left = (Instant::ZERO.saturating_add(duration) - flow.start).as_secs_f64();
        let size = match flow.source {
            Source::File(size) => size.0 as f64,
            Source::OnOff { rate: made, .. } => (rate(made) * left).max(1.0),
            Source::Persistent => f64::INFINITY,
        };
        // What is paced by a plan alone leaves though the path is slower; the rest is clocked by what arrives.
        let planned = flow.planned_rate.as_ref().map_or(0.0, |planned| rate(planned.highest()));
        let first = rate(links[flow.forward[0] as usize].spec.rate.highest());
        let lasts = left.min(size / slowest + 2.0 * round_trip);
        let packet = flow.packet_bytes();
        let window = match flow.carrier {
            Carrier::Tcp(config) => config.window.0 as f64,
            _ => f64::INFINITY,
        };
        // A window leaves once a round trip; receivers answer within a nanosecond at the soonest.
        let leaves = match flow.carrier {
            Carrier::Tcp(_) => slowest.min(window / round_trip.max(1e-9)),
            _ => planned.max(slowest),
        };
        let pipe = (leaves.min(first) * round_trip).min(size).min(window).min(leaves * left);
        let packets = if leaves > slowest { leaves * lasts } else { size.min(leaves * lasts) };
        let turn = |every: Duration| lasts / every.as_secs_f64().max(1e-9);
        let span = |span: Span| match span {
            Span::Fixed(span) | Span::Exponential(span) => span.as_secs_f64(),
        };
        let turns = match (flow.source, &flow.carrier) {
            (Source::OnOff { on, off, .. }, _) => left / (span(on) + span(off)).max(1e-9),
            (_, Carrier::Ltp(config, _)) => config.report_every.map_or(0.0, turn),
            _ => 0.0,
        };
        Self { packets: packets / packet, under_way: pipe / packet, turns }
    }
}

impl FlowPlan {
    /// Bytes of content of a packet, about.
    fn packet_bytes(&self) -> f64 {
        let bytes = match &self.carrier {
            Carrier::Tcp(config) => config.segment.0,
            Carrier::Dccp(config) => config.segment().0,
            Carrier::Udpdtn(config) => config.symbol.0,
            Carrier::Ltp(config, _) => config.segment,
            Carrier::Adaptive(config) => config.packet.0,
        };
        bytes.max(1) as f64
    }
}
