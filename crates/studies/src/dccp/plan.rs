//! What the study runs.

use super::variants::{CCID2, CCID3, FAULTS, LINUX, LTP, PAIRS, PAUSES, STUCK, UDP, Variant};
use crate::shared::points::{Point, Points, scenario};
use lightlag_scenario::Error;

/// The poster's link.
pub const SATELLITE: &str = "dccp_satellite.toml";

/// Columns of the table of runs. Rate of the link, in Mbit/s.
pub const RATE: &str = "rate_mbit_per_s";
/// Share of packets lost at random.
pub const LOSS: &str = "loss_share";

/// Figures that runs are in. Links of many rates with a round trip of 100 ms.
pub const RATES: &str = "rates";
/// Connections on the poster's link.
pub const SPREAD: &str = "spread";
/// Connections on a link on which windows are small.
pub const NARROW: &str = "narrow";

/// Connections on the poster's link, which is silent once for longer than a timer.
pub const SILENCE: &str = "outage";
/// LTP on the poster's link, over UDP and over DCCP.
pub const COLLAPSE: &str = "collapse";
/// Millions of packets each, and all alike.
const SEEDS_OF_COLLAPSE: u64 = 3;

/// Connections on the poster's link, on real sockets and in real time.
pub const SOCKETS: &str = "sockets";

const ALL_RATES: [f64; 6] = [0.128, 0.512, 1.5, 5.0, 20.0, 100.0];
const RATES_QUICK: [f64; 3] = [0.128, 1.5, 20.0];
/// Round trip of the links of many rates, in seconds.
const RTT_S: f64 = 0.1;
/// From this rate on a run has enough packets for one seed.
const FAST: f64 = 20.0;
/// Least queue of these links, in packets.
const QUEUE_LEAST: f64 = 20.0;
/// Divisor of the link's rate for the traffic beside while it is on, as on the poster's link.
const CROSS_PART: f64 = 15.0;
/// Connections on one link, as on the poster.
pub const CONNECTIONS: u64 = 30;
const CONNECTIONS_QUICK: u64 = 6;
/// When the link is silent: early, so that most of a run shows the consequences.
const SILENT: &str = "10 s..15 s";
/// Random losses, besides those of full queues.
const LOSSES: [f64; 3] = [0.0, 1e-4, 1e-3];

/// These pairs over both transports, then some more variants.
fn pairs(count: usize, more: [Variant; 2]) -> Vec<Variant> {
    PAIRS[..count].iter().flat_map(|(tcp, dccp)| [*tcp, *dccp]).chain(more).collect()
}

/// Every variant over links of many rates.
pub fn over_rates() -> Vec<Variant> {
    pairs(4, [CCID3, UDP])
}

/// Those without a fault that have many connections on the poster's link.
pub fn spread() -> Vec<Variant> {
    pairs(2, [CCID3, UDP])
}

/// Those with many connections on the narrow link.
pub fn narrow() -> Vec<Variant> {
    pairs(2, [STUCK, LINUX])
}

/// Those with many connections on the link that is silent once: timers bring windows to one packet, where two of the
/// faults show.
pub fn silenced() -> Vec<Variant> {
    pairs(2, [STUCK, PAUSES])
}

/// Keys of the link that is silent once.
pub fn silent_link() -> Vec<(&'static str, String)> {
    vec![("links.satellite.outages", SILENT.to_owned())]
}

/// Keys of the link on which windows are small, so that the Ack Ratio of Linux exceeds them.
pub fn narrow_link() -> Vec<(&'static str, String)> {
    let keys =
        [("rate", "128 kbit/s"), ("rtt", "100 ms"), ("queue", "5 packets"), ("cross_rate", "8 kbit/s")];
    keys.map(|(key, value)| (key, value.to_owned())).to_vec()
}

/// The plan, whole or as a quick look.
///
/// # Errors
/// None with the scenario that is compiled in.
pub fn plan(quick: bool) -> Result<Points, Error> {
    let mut list = Vec::new();
    for &rate in if quick { &RATES_QUICK[..] } else { &ALL_RATES } {
        for variant in over_rates() {
            let made = point(RATES, variant, &link_of(rate), &[(RATE, rate)])?;
            let seeds = if rate >= FAST || quick { 1 } else { 3 };
            list.push(Point { analysed: false, ..made.with_seeds(seeds) });
        }
    }
    for loss in LOSSES {
        let given = [("loss", loss.to_string())];
        let faults = if loss == 0.0 { &FAULTS[..] } else { &[] };
        for variant in spread().into_iter().chain(faults.iter().copied()) {
            list.push(point(SPREAD, variant, &given, &[(LOSS, loss)])?);
        }
    }
    for variant in narrow() {
        list.push(point(NARROW, variant, &narrow_link(), &[])?);
    }
    for variant in silenced() {
        list.push(point(SILENCE, variant, &silent_link(), &[])?);
    }
    for variant in LTP {
        let made = point(COLLAPSE, variant, &[], &[])?;
        list.push(Point { analysed: false, ..made.with_seeds(if quick { 1 } else { SEEDS_OF_COLLAPSE }) });
    }
    Ok(Points::of(list, if quick { CONNECTIONS_QUICK } else { CONNECTIONS }, &[SATELLITE]))
}

/// A link of some Mbit/s, whose queue holds a bandwidth-delay product. Jitter would make packets overtake each
/// other where they follow closely.
fn link_of(rate: f64) -> Vec<(&'static str, String)> {
    let product = rate * 1e6 / 8.0 * RTT_S / 1500.0;
    vec![
        ("rate", format!("{rate} Mbit/s")),
        ("rtt", format!("{RTT_S} s")),
        ("queue", format!("{} packets", product.max(QUEUE_LEAST).round())),
        ("jitter", "0 s".to_owned()),
        ("cross_rate", format!("{} bit/s", (rate * 1e6 / CROSS_PART).round())),
    ]
}

fn point(
    figure: &str,
    variant: Variant,
    given: &[(&'static str, String)],
    columns: &[(&'static str, f64)],
) -> Result<Point, Error> {
    let file = scenario(SATELLITE, given.iter().cloned().chain(variant.sets()))?;
    let made = Point::of(&file, (figure, variant.name), columns.iter().copied())?;
    Ok(Point { analysed: true, ..made })
}

/// Drawn over time.
pub const OVER_TIME: [Variant; 4] = [PAIRS[0].0, CCID2, CCID3, UDP];
