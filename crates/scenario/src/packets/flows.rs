//! `[flows.NAME]`.

use super::alike::{Alike, alike};
use super::controllers::{Chosen, Known, controller, factory, refuse_unbounded};
use super::network::no_way;
use super::{FlowPlan, LinkPlan, Network};
use crate::keys;
use crate::quantity::{bit_rate, bytes, positive_time, time};
use crate::{Node, Result, Section, Value};
use lightlag_protocols::controllers::{Factory, Recovery};
use lightlag_protocols::link::Rate;
use lightlag_protocols::session::PolicyConfig;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::tcp::{self, HEADER, Timers};
use lightlag_protocols::transport::{dccp, ltp, udpdtn};
use lightlag_protocols::units::Bytes;
use lightlag_worlds::packets::adaptive::{self, Controllers, Decides};
use lightlag_worlds::packets::{FlowSpec, Source, Span, Transport};

/// What carries a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Tcp,
    Dccp,
    Udpdtn,
    Ltp,
    LtpDccp,
    Adaptive,
}

/// All of them, by the names that scenarios and controllers give them.
const KINDS: [(&str, Kind); 6] = [
    ("tcp", Kind::Tcp),
    ("dccp", Kind::Dccp),
    ("udpdtn", Kind::Udpdtn),
    ("ltp", Kind::Ltp),
    ("ltp-dccp", Kind::LtpDccp),
    ("adaptive", Kind::Adaptive),
];

impl Kind {
    fn name(self) -> &'static str {
        KINDS.iter().find(|known| known.1 == self).map_or("", |known| known.0)
    }
}

/// Keys that only some transports know, and these transports.
const KEYS_OF: &[(&str, &[Kind])] = &[
    ("receive_window", &[Kind::Tcp, Kind::Adaptive]),
    ("recovery", &[Kind::Tcp, Kind::Adaptive]),
    ("ack_every", &[Kind::Tcp, Kind::Adaptive]),
    ("duplicates", &[Kind::Tcp, Kind::Adaptive]),
    ("ack_delay", &[Kind::Tcp, Kind::Dccp, Kind::LtpDccp, Kind::Adaptive]),
    ("switch", &[Kind::Adaptive]),
    ("switch_delay", &[Kind::Adaptive]),
    ("datagram_controller", &[Kind::Adaptive]),
    ("block_symbols", &[Kind::Udpdtn]),
    ("in_order", &[Kind::Udpdtn]),
    ("block_size", &[Kind::Ltp, Kind::LtpDccp]),
    ("checkpoint_every", &[Kind::Ltp, Kind::LtpDccp]),
    ("report_every", &[Kind::Ltp, Kind::LtpDccp]),
    ("copies", &[Kind::Ltp, Kind::LtpDccp]),
    ("sequence_window", &[Kind::Dccp, Kind::LtpDccp]),
    ("ecn", &[Kind::Dccp, Kind::LtpDccp]),
    ("fault", &[Kind::Dccp, Kind::LtpDccp]),
];

/// Every flow.
pub fn read(root: &Section, links: &[LinkPlan], known: &Known) -> Result<Vec<FlowPlan>> {
    let mut flows = Vec::new();
    for Alike { section, each, stop } in alike(root, ("flows", "flow"), keys::FLOWS)? {
        let one = flow(&section, links, known)?;
        let spec = |start| FlowSpec { start, stop, ..one.clone() };
        flows.extend(each.into_iter().map(|(name, start)| FlowPlan { name, spec: spec(start) }));
    }
    Ok(flows)
}

/// A flow of a table, without its name and its times.
fn flow(section: &Section, links: &[LinkPlan], known: &Known) -> Result<FlowSpec> {
    let from = section.need_text("from", "\"earth\"")?;
    let to = section.need_text("to", "\"mars\"")?;
    let way = |from: &str, to: &str, key: &str| {
        let path = Network::path(links, from, to).filter(|path| !path.is_empty());
        path.ok_or_else(|| no_way(&section.place_of(key), from, to).of_key(section.key(key), None))
    };
    let (forward, backward) = (way(from, to, "to")?, way(to, from, "from")?);
    let kind = section.word("transport", &KINDS)?.unwrap_or_default();
    refuse_others(section, kind)?;
    let node = section.get("controller").ok_or_else(|| section.missing("controller", "\"new_reno\""))?;
    // Of two stacks or layers, the one that `controller` is for.
    let controlled = match kind {
        Kind::Adaptive => Kind::Tcp,
        Kind::LtpDccp => Kind::Dccp,
        other => other,
    };
    let chosen = controller(section, "controller", node, controlled.name(), known)?;
    let packet = section.quantity("packet_size", bytes)?.unwrap_or(Bytes(1500));
    if packet <= HEADER || packet > Bytes(65_535) {
        return section.refuse(
            "packet_size",
            format!("`{}` is {} B", section.key("packet_size"), packet.0),
            "a packet has 41 to 65535 B, 40 B of headers among them",
        );
    }
    let planned_rate = planned_rate(section, forward.iter().map(|&link| &links[link as usize].spec.rate))?;
    let round_trip = Network::least_delay(links, &forward, packet)
        .saturating_add(Network::least_delay(links, &backward, HEADER));
    let controller = factory(&chosen);
    let source = source(section, kind)?;
    if matches!((kind, &source), (Kind::Udpdtn | Kind::Ltp, Source::Persistent)) && planned_rate.is_none() {
        refuse_unbounded(section, &controller, "the flow a `planned_rate` or a `size`")?;
    }
    Ok(FlowSpec {
        start: Instant::ZERO,
        stop: None,
        source,
        transport: match kind {
            Kind::Tcp => {
                Transport::Tcp { config: tcp_config(section, &chosen, packet, round_trip)?, controller }
            }
            Kind::Dccp => Transport::Dccp {
                config: dccp_config(section, controller.name(), packet, round_trip)?,
                controller,
            },
            Kind::Udpdtn => Transport::Udpdtn { config: udpdtn_config(section, packet)?, controller },
            Kind::Ltp => {
                let config = ltp_config(section, packet.saturating_sub(ltp::UDP_HEADER), round_trip)?;
                Transport::Ltp { config, controller, block: block_size(section)? }
            }
            Kind::LtpDccp => {
                let dccp = dccp_config(section, controller.name(), packet, round_trip)?;
                let ltp = ltp_config(section, dccp.segment(), round_trip)?;
                Transport::LtpDccp { ltp, dccp, controller, block: block_size(section)? }
            }
            Kind::Adaptive => Transport::Adaptive {
                config: adaptive_config(section, &chosen, packet, (round_trip, planned_rate.is_some()))?,
                controllers: Controllers {
                    stream: controller,
                    datagrams: datagram_controller(section, known)?,
                },
            },
        },
        // A plan with rates has light times too.
        planned_round_trip: planned_rate.as_ref().map(|_| round_trip),
        planned_rate,
        forward,
        backward,
    })
}

fn datagram_controller(section: &Section, known: &Known) -> Result<Factory> {
    const KEY: &str = "datagram_controller";
    let usual =
        Node { value: Value::Text(DATAGRAM_CONTROLLER.to_owned()), place: section.place_of("transport") };
    let node = section.get(KEY).unwrap_or(&usual);
    controller(section, KEY, node, Kind::Adaptive.name(), known).map(|chosen| factory(&chosen))
}

/// A rate, "unknown", or "plan": that of the slowest link of the path, at all times.
fn planned_rate<'r>(section: &Section, path: impl Iterator<Item = &'r Rate>) -> Result<Option<Rate>> {
    match section.text("planned_rate") {
        Ok(Some("unknown")) => Ok(None),
        Ok(Some("plan")) => Ok(path.fold(None, |least: Option<Rate>, rate| {
            Some(least.map_or_else(|| rate.clone(), |least| least.and(rate)))
        })),
        _ => Ok(section.quantity("planned_rate", bit_rate)?.map(Rate::Constant)),
    }
}

/// What only other transports know would be without effect.
fn refuse_others(section: &Section, kind: Kind) -> Result<()> {
    let foreign = |known: &&(&str, &[Kind])| !known.1.contains(&kind) && section.get(known.0).is_some();
    let Some((key, _)) = KEYS_OF.iter().find(foreign) else { return Ok(()) };
    let what = format!("`{}` means nothing over {}", section.key(key), kind.name().to_uppercase());
    section.refuse(key, what, "leave it out, or choose another transport")
}

fn source(section: &Section, kind: Kind) -> Result<Source> {
    let whole = matches!(kind, Kind::Udpdtn | Kind::Ltp | Kind::LtpDccp | Kind::Adaptive);
    if let Some(key) = ["on", "off", "rate", "stop"].iter().find(|key| whole && section.get(key).is_some()) {
        let what =
            format!("{} carries what is there from the start, without `{key}`", kind.name().to_uppercase());
        return section.refuse(key, what, "give the flow a `size`, or carry it by TCP");
    }
    if let Some(size) = section.quantity("size", bytes)? {
        if size == Bytes(0) {
            let what = format!("`{}` is 0 B: nothing is sent", section.key("size"));
            return section.refuse("size", what, "write at least \"1 B\"");
        }
        if let Some(key) = ["on", "off", "rate"].iter().find(|key| section.get(key).is_some()) {
            let what = format!("a flow of a `size` has no `{key}`");
            return section.refuse(key, what, "leave one of them out");
        }
        return Ok(Source::File(size));
    }
    if section.get("on").is_none() && section.get("off").is_none() && section.get("rate").is_none() {
        return Ok(Source::Persistent);
    }
    Ok(Source::OnOff {
        on: span(section, "on")?,
        off: span(section, "off")?,
        rate: section.need("rate", "\"1 Mbit/s\"", bit_rate)?,
    })
}

/// A whole number from one to this.
fn count(section: &Section, key: &str, most: u32) -> Result<Option<u32>> {
    Ok(section.whole(key, 1, i64::from(most))?.map(|count| count as u32))
}

/// `"10 s"`, or `{ exponential = "10 s" }` for one that is drawn again each time.
fn span(section: &Section, key: &str) -> Result<Span> {
    if section.get(key).is_some_and(|node| matches!(node.value, Value::Table(_)))
        && let Some(table) = section.table(key, keys::SPAN)?
    {
        return table.need("exponential", "\"10 s\"", positive_time).map(Span::Exponential);
    }
    section.need(key, "\"10 s\"", positive_time).map(Span::Fixed)
}

fn udpdtn_config(section: &Section, packet: Bytes) -> Result<udpdtn::Config> {
    let mut config = udpdtn::Config::new(packet);
    if config.symbol == Bytes(0) {
        let place = section.place_of("packet_size");
        return place.refuse("a datagram of UDPDTN has 44 B of headers", "give packets room for data");
    }
    config.block_symbols = count(section, "block_symbols", 56_403)?.unwrap_or(config.block_symbols);
    config.in_order = section.flag("in_order")?.unwrap_or(false);
    Ok(config)
}

/// LTP between engines 1 and 2, whose light time is that of the path, in segments of at most `segment`.
fn ltp_config(section: &Section, segment: Bytes, round_trip: Duration) -> Result<ltp::Config> {
    let usual = ltp::Config::new(1, 2, segment + ltp::UDP_HEADER);
    let mut config = ltp::Config { light: Some(round_trip), ..usual };
    // A light time of hours is filled by many blocks.
    (config.quotas.exports, config.quotas.imports) = (1 << 20, 1 << 20);
    config.checkpoint_every = at_least_a_byte(section, "checkpoint_every")?.map(|every| every.0);
    config.report_every = section.quantity("report_every", positive_time)?;
    config.copies = count(section, "copies", 10)?.or(config.copies);
    if config.segment < LTP_SEGMENT_LEAST {
        let what = "a segment of LTP has up to 64 B of headers, and 28 B those of UDP and IP";
        return section.refuse("packet_size", what, "give packets room for data");
    }
    Ok(config)
}

fn block_size(section: &Section) -> Result<Bytes> {
    Ok(at_least_a_byte(section, "block_size")?.unwrap_or(LTP_BLOCK))
}

fn at_least_a_byte(section: &Section, key: &str) -> Result<Option<Bytes>> {
    match section.quantity(key, bytes)? {
        Some(Bytes(0)) => {
            let what = format!("`{}` is 0 B", section.key(key));
            section.refuse(key, what, "write at least \"1 B\"")
        }
        other => Ok(other),
    }
}

/// Headers of the largest block, and some data.
const LTP_SEGMENT_LEAST: u64 = 72;
/// Usual size of a block: what is aggregated into one.
const LTP_BLOCK: Bytes = Bytes(1_000_000);

fn dccp_config(
    section: &Section,
    controller: &str,
    packet: Bytes,
    round_trip: Duration,
) -> Result<dccp::Config> {
    let timers = timers(section, round_trip)?;
    let ccid = dccp::Ccid::of(controller);
    let mut config = dccp::Config::new(packet, dccp::IP_HEADER, ccid, timers);
    config.ack_delay = section.quantity("ack_delay", time)?.unwrap_or(config.ack_delay);
    config.ecn = section.flag("ecn")?.unwrap_or(false);
    let none = dccp::Faults::default();
    let faults = [
        ("none", none),
        ("pauses", dccp::Faults { pauses: true, ..none }),
        ("inconsistent_loss", dccp::Faults { inconsistent_loss: true, ..none }),
        ("small_sequence_window", dccp::Faults { small_sequence_window: true, ..none }),
        ("all", dccp::Faults { pauses: true, inconsistent_loss: true, small_sequence_window: true }),
    ];
    config.faults = section.word("fault", &faults)?.unwrap_or_default();
    if config.faults.small_sequence_window {
        config.sequence_window = dccp::SEQUENCE_WINDOW_FIRST;
    }
    if let Some(window) = section.whole("sequence_window", 32, 1 << 46)? {
        config.sequence_window = (window as u64).min((1 << 46) - 1);
    }
    Ok(config)
}

fn adaptive_config(
    section: &Section,
    chosen: &Chosen,
    packet: Bytes,
    (round_trip, planned): (Duration, bool),
) -> Result<adaptive::Config> {
    #[derive(Clone, Copy, PartialEq)]
    enum Switch {
        Policy,
        Oracle,
        OraclePlain,
        Datagrams,
        Plain,
    }
    let words = [
        ("policy", Switch::Policy),
        ("oracle", Switch::Oracle),
        ("oracle_plain", Switch::OraclePlain),
        ("datagrams", Switch::Datagrams),
        ("plain", Switch::Plain),
    ];
    if packet < DATAGRAM_LEAST {
        let what = "heads of datagrams and frames take up to 800 B of a packet";
        return section.refuse("packet_size", what, "give packets room for data");
    }
    let switch = section.word("switch", &words)?.unwrap_or(Switch::Policy);
    if switch == Switch::Plain && !planned {
        let what = "plain UDP from the start needs a rate";
        return section.refuse("switch", what, "set planned_rate");
    }
    let delay = section.quantity("switch_delay", positive_time)?.unwrap_or(ORACLE_DELAY);
    Ok(adaptive::Config {
        tcp: tcp_config(section, chosen, packet, round_trip)?,
        packet,
        window: ADAPTIVE_WINDOW,
        decides: match switch {
            Switch::Policy => Decides::Policy(PolicyConfig { long: delay * 2, ..PolicyConfig::default() }),
            Switch::Oracle | Switch::OraclePlain => Decides::Oracle(delay),
            Switch::Datagrams | Switch::Plain => Decides::Datagrams,
        },
        plain: matches!(switch, Switch::OraclePlain | Switch::Plain),
    })
}

/// Default controller of the datagrams of an adaptive connection.
const DATAGRAM_CONTROLLER: &str = "contact_rate";
/// Where the paper swapped.
const ORACLE_DELAY: Duration = Duration::from_nanos(250_000_000);
/// Covers four minutes at 2 Mbit/s.
const ADAPTIVE_WINDOW: Bytes = Bytes(64 << 20);
/// [`adaptive_protocol::DATAGRAM_LEAST`] and headers, rounded up.
const DATAGRAM_LEAST: Bytes = Bytes(800);

fn tcp_config(
    section: &Section,
    chosen: &Chosen,
    packet: Bytes,
    round_trip: Duration,
) -> Result<tcp::Config> {
    let recovery = section.word("recovery", &Recovery::NAMES)?.unwrap_or(chosen.entry.needs.recovery);
    let mut config = tcp::Config::new(packet.saturating_sub(HEADER), recovery, timers(section, round_trip)?);
    config.ack_every = count(section, "ack_every", 1000)?.unwrap_or(config.ack_every);
    config.ack_delay = section.quantity("ack_delay", time)?.unwrap_or(config.ack_delay);
    config.duplicates = count(section, "duplicates", 1000)?.unwrap_or(config.duplicates);
    if let Some(window) = section.quantity("receive_window", bytes)? {
        if window < config.segment {
            let what = format!(
                "`{}` is less than the {} B of a segment",
                section.key("receive_window"),
                config.segment.0
            );
            return section.refuse("receive_window", what, "let one in");
        }
        config.window = window;
    }
    Ok(config)
}

/// Timers sized to the path, those of RFC 6298, or those that ns-2 had in 2005.
fn timers(section: &Section, round_trip: Duration) -> Result<Timers> {
    #[derive(Clone, Copy)]
    enum Preset {
        Path,
        Rfc,
        Y2005,
    }
    let words = [("path", Preset::Path), ("rfc", Preset::Rfc), ("y2005", Preset::Y2005)];
    let ms = |n: i64| Duration::from_nanos(n * 1_000_000);
    let (first, most) = match section.word("timers", &words)?.unwrap_or(Preset::Path) {
        Preset::Path => ((round_trip * 3).saturating_add(ms(1000)), Duration::MAX),
        Preset::Rfc => (ms(3000), ms(60_000)),
        Preset::Y2005 => (ms(6000), Duration::from_secs(100_000)),
    };
    Ok(Timers { first, margin: ms(200), least: ms(200), most })
}
