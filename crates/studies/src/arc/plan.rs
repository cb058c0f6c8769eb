//! What the study runs.

use crate::shared::points::{Point, Points, scenario};
use lightlag_scenario::Error;

/// The paper's link; flows of one kind on it; two of different kinds on it.
const LINK: &str = "arc_link.toml";
const SHARING: &str = "arc_sharing.toml";
const BESIDE: &str = "arc_beside.toml";

/// Columns of the table of runs. Round-trip time.
pub const RTT: &str = "rtt_s";
/// Share of packets lost.
pub const LOSS: &str = "loss_share";
/// Size of the file.
pub const SIZE: &str = "file_bytes";
/// Flows on the link.
pub const FLOWS: &str = "flows";
/// Round trips between the starts of two flows.
pub const APART: &str = "apart_round_trips";

/// The paper's TCPs.
pub const PAPER_TCPS: [&str; 5] = ["new_reno", "sack", "fack", "vegas", "westwood_plus"];
/// The paper's own.
pub const ARC: &str = "arc";
/// Other readings of two of them, which show why they do what they do: with [`SEEDS_OF_READINGS`].
const READINGS: [&str; 3] = ["arc, each loss", "arc, quick again", "bbr, no window"];
/// Seeds of flows that share: their runs are long, and differ little.
const SEEDS_OF_SHARING: u64 = 1;
/// Seeds that are enough for a reading.
const SEEDS_OF_READINGS: u64 = 3;
/// UDPDTN at the planned rate, and where nothing is planned.
pub const OURS: [&str; 2] = ["udpdtn, planned rate", "udpdtn, unknown rate"];

/// What is beside ours, alone.
pub const ALONE: &str = "cubic";

/// Round-trip times of figure 3.
const RTTS: [f64; 10] = [0.2, 0.8, 2.0, 5.0, 10.0, 20.0, 50.0, 200.0, 600.0, 2000.0];
const RTTS_QUICK: [f64; 5] = [0.2, 2.0, 10.0, 200.0, 2000.0];
/// Losses of figure 4, and its round-trip time.
const LOSSES: [f64; 5] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2];
const RTT_OF_LOSSES: f64 = 600.0;
/// Files of figure 5.
const SIZES: [f64; 6] = [1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const RTTS_SHARED: [f64; 2] = [10.0, 600.0];
const RTTS_OF_SIZES: [f64; 3] = [2.0, 20.0, 200.0];

/// Keys that make a variant of the link's scenario.
fn sets(variant: &str) -> Vec<(&'static str, String)> {
    let controller = |text: &str| vec![("controller", text.to_owned())];
    match variant {
        "arc, each loss" => controller(r#"{ name = "arc", event = "each_loss" }"#),
        "arc, quick again" => controller(r#"{ name = "arc", event = "each_loss", quick_again = true }"#),
        "tcp_planet" => vec![
            ("controller", "tcp_planet".to_owned()),
            ("queue", r#"{ discipline = "priority", limit = "100 packets" }"#.to_owned()),
        ],
        "bbr, no window" => controller(r#"{ name = "bbr", rtt_window = "10000000 s" }"#),
        "udpdtn, planned rate" | "udpdtn, unknown rate" => {
            let rate = if variant == OURS[0] { "\"1 Mbit/s\"" } else { "\"unknown\"" };
            vec![
                ("transport", "udpdtn".to_owned()),
                ("controller", "contact_rate".to_owned()),
                ("planned_rate", rate.to_owned()),
            ]
        }
        other => controller(other),
    }
}

/// Every variant, in the order of the legend.
pub fn variants() -> Vec<&'static str> {
    let later = ["cubic", "hybla", "bbr", "tcp_planet"];
    PAPER_TCPS.into_iter().chain([ARC]).chain(later).chain(OURS).chain(READINGS).collect()
}

/// The plan, whole or as a quick look.
///
/// # Errors
/// None with the scenario that is compiled in.
pub fn plan(quick: bool) -> Result<Points, Error> {
    let mut points = Vec::new();
    let all = if quick { 2 } else { 10 };
    let rtts: &[f64] = if quick { &RTTS_QUICK } else { &RTTS };
    for variant in variants() {
        let seeds = READINGS.contains(&variant).then_some(SEEDS_OF_READINGS.min(all));
        for &rtt in rtts {
            // One point is in both.
            let figure = if rtt == RTT_OF_LOSSES { "figure_3 figure_4" } else { "figure_3" };
            points.push(point(figure, variant, rtt, 1e-3, 1e9)?.with_seeds(seeds));
        }
        let once = |loss: &f64| if quick { *loss == 1e-2 || *loss == 1e-4 } else { *loss != 1e-3 };
        for loss in LOSSES.into_iter().filter(once) {
            points.push(point("figure_4", variant, RTT_OF_LOSSES, loss, 1e9)?.with_seeds(seeds));
        }
    }
    for variant in [ARC].into_iter().chain(OURS) {
        for rtt in RTTS_OF_SIZES {
            for size in SIZES.into_iter().filter(|size| !quick || *size <= 1e8) {
                points.push(point("figure_5", variant, rtt, 1e-3, size)?);
            }
        }
    }
    share(quick, &mut points)?;
    Ok(Points::of(points, all, &[LINK, SHARING, BESIDE]))
}

/// Flows that share the link.
fn share(quick: bool, points: &mut Vec<Point>) -> Result<(), Error> {
    let counts: &[u32] = if quick { &[2, 4] } else { &[2, 4, 16] };
    for variant in OURS {
        for rtt in RTTS_SHARED {
            for (&count, apart) in counts.iter().flat_map(|count| [(count, 0.0), (count, 2.5)]) {
                let given = [("count", count.to_string()), ("apart", format!("{} s", apart * rtt))];
                let mut sharing = given.to_vec();
                // Long beside the round trip; of sixteen each needs less to last as long.
                let size = match (quick, rtt > 100.0, count > 4) {
                    (true, ..) | (_, false, true) => "100 MB",
                    (_, false, false) | (_, true, true) => "250 MB",
                    (_, true, false) => "1 GB",
                };
                sharing.push(("file_size", size.to_owned()));
                points.push(shared("sharing", SHARING, variant, rtt, 1e-3, &sharing, (count, apart))?);
            }
            for loss in [0.0, 1e-3] {
                points.push(shared("beside", BESIDE, variant, rtt, loss, &[], (2, 0.0))?);
            }
        }
    }
    for rtt in RTTS_SHARED {
        for loss in [0.0, 1e-3] {
            points.push(shared("beside", LINK, ALONE, rtt, loss, &[], (1, 0.0))?);
        }
    }
    Ok(())
}

/// One point of flows that share.
fn shared(
    figure: &str,
    name: &str,
    variant: &str,
    rtt: f64,
    loss: f64,
    given: &[(&'static str, String)],
    (count, apart): (u32, f64),
) -> Result<Point, Error> {
    let key = if variant == ALONE { "controller" } else { "planned_rate" };
    let only = sets(variant).into_iter().filter(|set| set.0 == key);
    let link = [("rtt", format!("{rtt} s")), ("loss", loss.to_string())];
    let file = scenario(name, link.into_iter().chain(only).chain(given.iter().cloned()))?;
    let columns = [(RTT, rtt), (LOSS, loss), (FLOWS, count.into()), (APART, apart)];
    Ok(Point::of(&file, (figure, variant), columns)?.with_seeds(SEEDS_OF_SHARING))
}

fn point(figure: &str, variant: &str, rtt: f64, loss: f64, size: f64) -> Result<Point, Error> {
    // Figure 5 needs whole files; the others stop where the reference runs of ns-2 do.
    let limit = if figure == "figure_5" { 10_000_000.0 } else { (400.0 * rtt).max(20_000.0) };
    let given = [
        ("rtt", format!("{rtt} s")),
        ("loss", format!("{loss}")),
        ("file_size", format!("{size} B")),
        ("time_limit", format!("{limit} s")),
    ];
    let file = scenario(LINK, given.into_iter().chain(sets(variant)))?;
    Point::of(&file, (figure, variant), [(RTT, rtt), (LOSS, loss), (SIZE, size)])
}
