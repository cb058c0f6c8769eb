//! What the study runs.

use super::curves::Curve;
use crate::shared::points::{Point, Points, scenario};
use lightlag_scenario::Error;

/// The paper's first scenario, and its second.
pub const SHORT: &str = "adaptive_short.toml";
pub const LONG: &str = "adaptive_long.toml";

/// Figures that runs are in.
pub const SCENARIOS: [(&str, &str); 2] = [("scenario_1", SHORT), ("scenario_2", LONG)];
/// Those over curves that are drawn.
pub const CURVES: &str = "curves";
/// Column of the table of runs: which curve.
pub const CURVE: &str = "curve";

/// TCP as it was in 2008, and as it is.
pub const TCP_2008: &str = "TCP only, 2008";
pub const TCP: &str = "TCP only";
/// TCP, and plain UDP where the oracle says so.
pub const PLAIN: &str = "swapping to UDP";
/// UDP alone, at the rate of the link.
pub const UDP: &str = "UDP only";
/// Connections that stay, moved by the oracle, and by the policy.
pub const ORACLE: &str = "ours, oracle";
pub const POLICY: &str = "ours, policy";
/// All of the world.
pub const VARIANTS: [&str; 6] = [TCP_2008, TCP, UDP, PLAIN, ORACLE, POLICY];

/// Between two kernels: TCP as it was in 2008, and as it is; and two `lightlagd`.
pub const KERNEL_2008: &str = "a kernel, 2008";
pub const KERNEL: &str = "a kernel";
pub const DAEMONS: &str = "ours, lightlagd";
/// All of them.
pub const REAL: [&str; 3] = [KERNEL_2008, KERNEL, DAEMONS];

/// Keys that make a variant of a scenario.
pub fn sets(variant: &str) -> Vec<(&'static str, &'static str)> {
    let adaptive = |switch| vec![("transport", "adaptive"), ("flows.file.switch", switch)];
    match variant {
        TCP_2008 => vec![
            ("flows.file.recovery", "sack"),
            ("flows.file.receive_window", "131070 B"),
            ("duplicates", "3"),
        ],
        UDP => {
            let mut sets = adaptive("plain");
            sets.push(("flows.file.planned_rate", "plan"));
            sets
        }
        PLAIN => adaptive("oracle_plain"),
        ORACLE => adaptive("oracle"),
        POLICY => adaptive("policy"),
        _ => Vec::new(),
    }
}

const SEEDS: u64 = 5;
const SEEDS_QUICK: u64 = 2;
/// What is in order at a given second depends on chance where a packet that was lost is awaited for minutes.
const CURVE_SEEDS: u64 = 3;
const CURVES_ALL: u64 = 50;
const CURVES_QUICK: u64 = 10;

/// The plan, whole or as a quick look.
///
/// # Errors
/// None with the scenarios that are compiled in.
pub fn plan(quick: bool) -> Result<Points, Error> {
    let mut list = Vec::new();
    for (figure, name) in SCENARIOS {
        for variant in VARIANTS {
            list.push(Point::of::<&str>(&scenario(name, sets(variant))?, (figure, variant), [])?);
        }
    }
    for number in 1..=if quick { CURVES_QUICK } else { CURVES_ALL } {
        let curve = Curve::drawn(number);
        let (steps, losses) = (curve.steps(), curve.losses());
        for variant in [ORACLE, POLICY] {
            let link = [("links.path.delay.steps", steps.as_str()), ("links.path.loss", losses.as_str())];
            let file = scenario(SHORT, link.into_iter().chain(sets(variant)))?;
            list.push(Point::of(&file, (CURVES, variant), [(CURVE, number)])?.with_seeds(CURVE_SEEDS));
        }
    }
    Ok(Points::of(list, if quick { SEEDS_QUICK } else { SEEDS }, &[SHORT, LONG]))
}
