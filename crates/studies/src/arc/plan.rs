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
/// Round trips between the first start and the last.
pub const APART: &str = "apart_round_trips";

/// The paper's TCPs.
pub const PAPER_TCPS: [&str; 5] = ["new_reno", "sack", "fack", "vegas", "westwood_plus"];
/// The paper's own.
pub const ARC: &str = "arc";
/// Other readings of ARC: what a congestion event is, whether quick probing returns, and how the bandwidth is filtered.
pub const ARC_READINGS: [&str; 4] =
    ["arc, each loss", "arc, quick again", "arc, filter from the first sample", "arc, no filter"];
/// BBR that keeps its least round-trip time for ever.
const BBR_READING: &str = "bbr, no window";
/// Seeds of flows that share.
const SEEDS_OF_SHARING: u64 = 5;
/// Seeds of one flow beside another: their runs are long, and differ little.
const SEEDS_OF_CONTESTS: u64 = 1;
/// Seeds of controllers that the paper does not have.
const SEEDS_OF_OTHERS: u64 = 5;
/// Seeds that are enough for a reading.
const SEEDS_OF_READINGS: u64 = 3;
/// UDPDTN at the planned rate, and where nothing is planned.
pub const OURS: [&str; 2] = ["udpdtn, planned rate", "udpdtn, unknown rate"];

/// What is beside ours, alone.
pub const ALONE: &str = "cubic";

/// Figure of runs in which ARC, or a NewReno in its place, is beside a NewReno.
pub const FRIENDLY: &str = "friendly";
/// Who is beside a NewReno there.
pub const BESIDE_NEW_RENO: [&str; 2] = ["new_reno", ARC];
/// Round-trip times there: of the Internet, of the paper's shortest, and of its last with full use of the link.
const RTTS_FRIENDLY: [f64; 3] = [0.1, 1.0, 10.0];

/// Round-trip times of figure 3.
const RTTS: [f64; 10] = [0.2, 0.8, 2.0, 5.0, 10.0, 20.0, 50.0, 200.0, 600.0, 2000.0];
const RTTS_QUICK: [f64; 5] = [0.2, 2.0, 10.0, 200.0, 2000.0];
/// Losses of figure 4, and its round-trip time.
const LOSSES: [f64; 5] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2];
const RTT_OF_LOSSES: f64 = 600.0;
/// Files of figure 5.
const SIZES: [f64; 6] = [1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const RTTS_OF_SIZES: [f64; 3] = [2.0, 20.0, 200.0];
/// Figure 5, and what the paper compares it with.
pub const OF_SIZES: [&str; 4] = [ARC, "tcp_planet", OURS[0], OURS[1]];
/// Losses of flows beside each other: none but those of full queues, or also at random.
const LOSSES_BESIDE: [f64; 2] = [0.0, 1e-3];
/// Round-trip times of flows that share, and what all of a run send together: enough for all flows to overlap.
const SHARED: [(f64, f64); 2] = [(10.0, 160e6), (600.0, 640e6)];
const RTTS_BESIDE: [f64; 2] = [10.0, 600.0];

/// Keys that make a variant of the link's scenario.
fn sets(variant: &str) -> Vec<(&'static str, String)> {
    let controller = |text: &str| vec![("controller", text.to_owned())];
    match variant {
        "arc, each loss" => controller(r#"{ name = "arc", event = "each_loss" }"#),
        "arc, quick again" => controller(r#"{ name = "arc", event = "each_loss", quick_again = true }"#),
        "arc, filter from the first sample" => {
            controller(r#"{ name = "arc", filter_start = "first_sample" }"#)
        }
        "arc, no filter" => controller(r#"{ name = "arc", weight = 0 }"#),
        "tcp_planet" => vec![
            ("controller", "tcp_planet".to_owned()),
            ("queue", r#"{ discipline = "priority", limit = "100 packets" }"#.to_owned()),
        ],
        BBR_READING => controller(r#"{ name = "bbr", rtt_window = "10000000 s" }"#),
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

/// Other readings, which show why protocols do what they do: with [`SEEDS_OF_READINGS`].
fn readings() -> impl Iterator<Item = &'static str> {
    ARC_READINGS.into_iter().chain([BBR_READING])
}

/// The paper has ten runs of each of its own.
fn seeds_of(variant: &str) -> u64 {
    match variant {
        ARC => 10,
        variant if PAPER_TCPS.contains(&variant) => 10,
        variant if readings().any(|one| one == variant) => SEEDS_OF_READINGS,
        _ => SEEDS_OF_OTHERS,
    }
}

/// Every variant, in the order of the legend.
pub fn variants() -> Vec<&'static str> {
    let later = ["cubic", "hybla", "bbr", "tcp_planet"];
    PAPER_TCPS.into_iter().chain([ARC]).chain(later).chain(OURS).chain(readings()).collect()
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
        let seeds = Some(seeds_of(variant).min(all));
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
    for variant in OF_SIZES {
        for rtt in RTTS_OF_SIZES {
            for size in SIZES.into_iter().filter(|size| !quick || *size <= 1e8) {
                points.push(
                    point("figure_5", variant, rtt, 1e-3, size)?.with_seeds(seeds_of(variant).min(all)),
                );
            }
        }
    }
    share(quick, &mut points)?;
    beside_cubic(&mut points)?;
    beside_new_reno(&mut points)?;
    Ok(Points::of(points, all, &[LINK, SHARING, BESIDE]))
}

/// Flows of one kind that share the link.
fn share(quick: bool, points: &mut Vec<Point>) -> Result<(), Error> {
    let counts: &[u32] = if quick { &[2, 4] } else { &[2, 4, 16] };
    let seeds = if quick { 2 } else { SEEDS_OF_SHARING };
    for variant in OURS {
        for (rtt, bytes) in SHARED {
            for (&count, apart) in counts.iter().flat_map(|count| [(count, 0.0), (count, 2.5)]) {
                let given = [
                    ("count", count.to_string()),
                    ("apart", format!("{} s", apart * rtt / f64::from(count - 1))),
                    ("file_size", format!("{} B", bytes / f64::from(count))),
                ];
                let columns = [(FLOWS, count.into()), (APART, apart)];
                points.push(
                    shared("sharing", SHARING, variant, (rtt, 1e-3), &given, columns)?.with_seeds(seeds),
                );
            }
        }
    }
    Ok(())
}

/// One flow of ours beside one of CUBIC, and CUBIC alone.
fn beside_cubic(points: &mut Vec<Point>) -> Result<(), Error> {
    for (variant, name) in OURS.map(|ours| (ours, BESIDE)).into_iter().chain([(ALONE, LINK)]) {
        for rtt in RTTS_BESIDE {
            for loss in LOSSES_BESIDE {
                let columns = [(FLOWS, if name == LINK { 1.0 } else { 2.0 }), (APART, 0.0)];
                let made = shared("beside", name, variant, (rtt, loss), &[], columns)?;
                points.push(made.with_seeds(SEEDS_OF_CONTESTS));
            }
        }
    }
    Ok(())
}

/// ARC, and in its place a NewReno, beside a NewReno.
fn beside_new_reno(points: &mut Vec<Point>) -> Result<(), Error> {
    for variant in BESIDE_NEW_RENO {
        for rtt in RTTS_FRIENDLY {
            for loss in LOSSES_BESIDE {
                let given = [
                    ("transport", "tcp".to_owned()),
                    ("controller", variant.to_owned()),
                    ("beside", "new_reno".to_owned()),
                    ("time_limit", "5000 s".to_owned()),
                ];
                let columns = [(FLOWS, 2.0), (APART, 0.0)];
                let made = shared(FRIENDLY, BESIDE, variant, (rtt, loss), &given, columns)?;
                points.push(made.with_seeds(SEEDS_OF_CONTESTS));
            }
        }
    }
    Ok(())
}

/// One point of flows on one link.
fn shared(
    figure: &str,
    name: &str,
    variant: &str,
    (rtt, loss): (f64, f64),
    given: &[(&'static str, String)],
    more: [(&'static str, f64); 2],
) -> Result<Point, Error> {
    let key = if variant == ALONE { "controller" } else { "planned_rate" };
    let only = sets(variant).into_iter().filter(|set| set.0 == key);
    let link = [("rtt", format!("{rtt} s")), ("loss", loss.to_string())];
    let file = scenario(name, link.into_iter().chain(only).chain(given.iter().cloned()))?;
    Point::of(&file, (figure, variant), [(RTT, rtt), (LOSS, loss)].into_iter().chain(more))
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
