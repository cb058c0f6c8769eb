//! What a run of packets takes.

use super::{Estimate, Item};
use crate::Section;
use crate::packets::{LinkPlan, Network};
use lightlag_protocols::link::queues::Limit;
use lightlag_protocols::link::{Delay, LinkSpec, Loss};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::packets::{FlowSpec, Source, Span, Transport};

/// Of a packet that is sent and not acknowledged: at the sender, on the links, at the receiver.
const PACKET_BYTES: f64 = 400.0;
/// Of a sample in a time series.
const SAMPLE_BYTES: f64 = 64.0;
/// Of a link or a flow.
const PARTY_BYTES: f64 = 20_000.0;

/// What the flows of a run take.
pub fn estimate(root: &Section, network: &Network) -> Estimate {
    let duration = network.head.duration;
    let mut estimate = Estimate::default();
    let links = &network.links;
    let shares = shares(network, duration);
    for plan in &network.flows {
        let (name, flow) = (&plan.name, &plan.spec);
        let shared = flow.forward.iter().map(|&link| shares[link as usize]).fold(0.0, f64::max);
        let load = Load::of(flow, links, duration, shared);
        let place = root.place_of("flows");
        let hops = (flow.forward.len() + flow.backward.len() + 1) as f64;
        let item =
            |what: String, less, events, bytes| Item { place: place.clone(), what, less, events, bytes };
        estimate.add(item(
            format!("flow `{name}` sends {:.1e} packets", load.packets),
            "write a lower rate, a lower size or less time",
            load.packets * hops * doubled(flow, links),
            PARTY_BYTES,
        ));
        estimate.add(item(
            format!("flow `{name}` has {:.1e} packets in flight at once", load.under_way),
            "write a lower rate, delay, size or queue",
            0.0,
            load.under_way * kept_bytes(flow),
        ));
        estimate.add(item(
            format!("flow `{name}` makes {:.1e} turns of `on`, `off`, their packets, or reports", load.turns),
            "let more time pass between them, or write a lower `rate`",
            load.turns,
            0.0,
        ));
    }
    estimate.add(sampled(root, network.sample_every, duration, links.len() + network.flows.len()));
    estimate
}

/// Bytes for each link, of all flows over it.
fn shares(network: &Network, duration: Duration) -> Vec<f64> {
    let mut shares = vec![0.0; network.links.len()];
    for flow in network.flows.iter().map(|plan| &plan.spec) {
        let left = (Instant::ZERO.saturating_add(duration) - flow.start).as_secs_f64().max(0.0);
        flow.forward.iter().for_each(|&link| shares[link as usize] += size(flow, left));
    }
    shares
}

/// Bytes that a flow has to send.
fn size(flow: &FlowSpec, left_s: f64) -> f64 {
    match flow.source {
        Source::File(size) => size.0 as f64,
        Source::OnOff { rate: made, .. } => (bytes_per_s(made) * left_s).max(1.0),
        Source::Persistent => f64::INFINITY,
    }
}

/// How often a packet is sent on a link until one comes through.
fn again(loss: &Loss) -> f64 {
    let most = loss.share_max(Bytes(1500));
    1.0 / (1.0 - most).max(1e-9)
}

/// What is kept of the samples of `parties` flows and links.
pub(super) fn sampled(root: &Section, every: Option<Duration>, duration: Duration, parties: usize) -> Item {
    let times = every.map_or(0.0, |every| duration.as_secs_f64() / every.as_secs_f64());
    let count = times * parties as f64;
    Item {
        place: root.place_of("sample_every"),
        what: format!("`sample_every` makes {count:.1e} samples of flows and links"),
        less: "let more time pass between them",
        events: count,
        bytes: count * SAMPLE_BYTES + parties as f64 * 1000.0,
    }
}

/// How many packets there are for one of content: copies that links and LTP make, checkpoints and their reports.
fn doubled(flow: &FlowSpec, links: &[LinkPlan]) -> f64 {
    let own = match &flow.transport {
        Transport::Ltp { config, block, .. } | Transport::LtpDccp { ltp: config, block, .. } => {
            let often =
                config.checkpoint_every.map_or(block.0, |every| every.min(block.0)) < 4 * config.segment;
            f64::from(config.copies.unwrap_or(1)) * if often { 3.0 } else { 1.0 }
        }
        _ => 1.0,
    };
    let both = flow.forward.iter().chain(&flow.backward);
    both.map(|&link| 1.0 + links[link as usize].spec.duplicate).product::<f64>().max(1.0) * own
}

pub(super) fn bytes_per_s(rate: BitRate) -> f64 {
    rate.0 as f64 / 8.0
}

/// The longest that a bit takes over a link, queues left out.
pub(super) fn longest_s(spec: &LinkSpec) -> f64 {
    let drawn = |delay: &Delay| match delay {
        Delay::Normal { deviation, .. } => deviation.as_secs_f64() * 8.6,
        _ => 0.0,
    };
    let held = spec.reorder.map_or(0.0, |(_, longest)| longest.as_secs_f64());
    spec.delay.bounds().1.as_secs_f64() + drawn(&spec.delay) + spec.jitter.as_secs_f64() + held
}

/// How many packets of a size may wait.
pub(super) fn room(spec: &LinkSpec, packet: f64) -> f64 {
    match spec.queue.limit() {
        Limit::Packets(most) => most as f64,
        Limit::Bytes(most) => most.0 as f64 / packet.max(1.0),
    }
}

struct Load {
    packets: f64,
    under_way: f64,
    turns: f64,
}

impl Load {
    /// `shared` bytes are for a link of its path.
    fn of(flow: &FlowSpec, links: &[LinkPlan], duration: Duration, shared: f64) -> Self {
        let spec = |at: &u32| &links[*at as usize].spec;
        let of_path = flow.forward.iter().map(|at| bytes_per_s(spec(at).rate.highest()));
        let slowest = of_path.fold(f64::INFINITY, f64::min).max(1e-9);
        let least = |path: &[u32]| Network::least_delay(links, path, Bytes(0)).as_secs_f64();
        let round_trip = least(&flow.forward) + least(&flow.backward);
        let both = flow.forward.iter().chain(&flow.backward);
        let longest = both.map(|at| longest_s(spec(at))).sum::<f64>();
        let left = (Instant::ZERO.saturating_add(duration) - flow.start).as_secs_f64().max(0.0);
        let size = size(flow, left);
        let lost = flow.forward.iter().chain(&flow.backward).map(|at| again(&spec(at).loss)).product::<f64>();
        // What is paced by a plan alone leaves though the path is slower; the rest is clocked by what arrives.
        let planned = flow.planned_rate.as_ref().map_or(0.0, |planned| bytes_per_s(planned.highest()));
        let first = bytes_per_s(spec(&flow.forward[0]).rate.highest());
        let lasts = left.min(shared.max(size) * lost / slowest + 2.0 * longest);
        let packet = packet_bytes(flow);
        let window = match &flow.transport {
            Transport::Tcp { config, .. } => config.window.0 as f64,
            _ => f64::INFINITY,
        };
        // A window leaves once a round trip; receivers answer within a nanosecond at the soonest.
        let leaves = match &flow.transport {
            Transport::Tcp { .. } => slowest.min(window / round_trip.max(1e-9)),
            _ => planned.max(slowest),
        };
        // So is what others on its path make it lose.
        let repeats = leaves > slowest || (planned > 0.0 && shared > size);
        let sent = if repeats { leaves * lasts } else { (size * lost).min(leaves * lasts) };
        let waiting = flow.forward.iter().map(|at| room(spec(at), packet)).sum::<f64>() * packet;
        let pipe = (leaves.min(first) * longest + waiting).min(size).min(window).min(leaves * left).min(sent);
        let turn = |every: Duration| lasts / every.as_secs_f64().max(1e-9);
        let span = |span: Span| match span {
            Span::Fixed(span) | Span::Exponential(span) => span.as_secs_f64(),
        };
        let turns = match (flow.source, &flow.transport) {
            // The source is asked for each packet that it makes, whatever the link takes of them.
            (Source::OnOff { on, off, rate }, _) => {
                left / (span(on) + span(off)).max(1e-9) + bytes_per_s(rate) * left / packet
            }
            (_, Transport::Ltp { config, .. } | Transport::LtpDccp { ltp: config, .. }) => {
                config.report_every.map_or(0.0, turn)
            }
            _ => 0.0,
        };
        // What a source makes in a moment leaves at once, however little.
        let pieces = if let Source::OnOff { on, off, .. } = flow.source {
            left / (span(on) + span(off)).max(1e-9)
        } else {
            1.0
        };
        Self { packets: sent / packet + pieces, under_way: pipe / packet, turns }
    }
}

/// Bytes of memory of a packet in flight. Segments of LTP are bytes within packets of DCCP.
fn kept_bytes(flow: &FlowSpec) -> f64 {
    match &flow.transport {
        Transport::LtpDccp { dccp, .. } => PACKET_BYTES + dccp.packet.0 as f64,
        _ => PACKET_BYTES,
    }
}

/// Bytes of content of a packet, about.
fn packet_bytes(flow: &FlowSpec) -> f64 {
    let bytes = match &flow.transport {
        Transport::Tcp { config, .. } => config.segment.0,
        Transport::Dccp { config, .. } => config.segment().0,
        Transport::Udpdtn { config, .. } => config.symbol.0,
        // Blocks and what lies between checkpoints end segments.
        Transport::Ltp { config, block, .. } | Transport::LtpDccp { ltp: config, block, .. } => {
            config.segment.min(block.0)
        }
        Transport::Adaptive { config, .. } => config.packet.0,
    };
    bytes.max(1) as f64
}
