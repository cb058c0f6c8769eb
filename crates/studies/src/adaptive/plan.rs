//! What the study runs.

use super::curves::Curve;
use crate::points::{Point, Points, Text};

/// The paper's first scenario.
pub const SHORT: Text = Text {
    name: "adaptive_short.toml",
    toml: include_str!("../../../../scenarios/papers/adaptive_short.toml"),
};
/// Its second.
pub const LONG: Text = Text {
    name: "adaptive_long.toml",
    toml: include_str!("../../../../scenarios/papers/adaptive_long.toml"),
};

/// Figures that runs are in.
pub const SCENARIOS: [(&str, Text); 2] = [("scenario_1", SHORT), ("scenario_2", LONG)];
/// Those over curves that are drawn.
pub const CURVES: &str = "curves";
/// Column of the table of runs: which curve.
pub const CURVE: &str = "curve";

/// TCP as it was in 2008, and as it is.
pub const TCP_2008: &str = "TCP only, 2008";
pub const TCP: &str = "TCP only";
/// TCP, and plain UDP where who knows the delay says so.
pub const PLAIN: &str = "swapping to UDP";
/// Connections that stay, with who knows the delay, and with the policy.
pub const ORACLE: &str = "ours, oracle";
pub const POLICY: &str = "ours, policy";
/// All of the world.
pub const VARIANTS: [&str; 5] = [TCP_2008, TCP, PLAIN, ORACLE, POLICY];

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
pub fn plan(quick: bool) -> Result<Points, lightlag_scenario::Error> {
    let mut list = Vec::new();
    for (figure, text) in SCENARIOS {
        for variant in VARIANTS {
            let mut file = text.file()?;
            sets(variant).into_iter().try_for_each(|(key, value)| file.set(key, value))?;
            list.push(Point::new(&file, (figure, variant), [])?);
        }
    }
    for number in 1..=if quick { CURVES_QUICK } else { CURVES_ALL } {
        let curve = Curve::drawn(number);
        for variant in [ORACLE, POLICY] {
            let mut file = SHORT.file()?;
            file.set("links.path.delay.steps", &curve.steps())?;
            file.set("links.path.loss", &curve.losses())?;
            sets(variant).into_iter().try_for_each(|(key, value)| file.set(key, value))?;
            let point = Point::new(&file, (CURVES, variant), [(CURVE, number.to_string())])?;
            list.push(Point { seeds: Some(CURVE_SEEDS), ..point });
        }
    }
    Ok(Points { list, seeds: if quick { SEEDS_QUICK } else { SEEDS } })
}
