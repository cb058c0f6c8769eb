//! Claims that need both worlds, or none.

use super::interplanetary::{ANY_ROUTER, MECHANISMS, RATIO};
use super::{Claims, Data};
use crate::comparative::cell::{INTER_CONTACT, MECHANISM, PERIOD, ROUTER};
use crate::shared::parts::{Part, judge};
use crate::shared::runs::Runs;
use crate::shared::words::claim;
use lightlag_lab::report::{Finding, Holds};
use lightlag_lab::results::number;
use lightlag_lab::statistics;

pub(super) const CLAIMS: Claims = &[
    claim("C10", |data| judge(vec![less_spread(data, "rrcc")])),
    claim("C18", |data| {
        let shared = data.figure_3.levels(MECHANISM);
        judge(shared.into_iter().map(|mechanism| earth_above(data, mechanism)).collect())
    }),
    claim("C32", |data| {
        let part = |mechanism: &&str| {
            let (earth, planets) = both(data, mechanism);
            Part::dissimilar(format!("{mechanism}: Earth − planets"), earth.minus(&planets, RATIO))
        };
        judge(MECHANISMS.iter().map(part).collect())
    }),
    claim("C33", |_| waypoint_nodes_keep_moving()),
    claim("C35", intervals_are_often_zero),
];

fn less_spread(data: &Data<'_>, mechanism: &str) -> Part {
    let spread = |view: &Runs<'_>| view.only(MECHANISM, mechanism).spread(ROUTER, RATIO);
    let (earth, planets) = (spread(&data.figure_9), spread(&data.figure_5));
    Part::positive("spread over routers, Earth − planets", statistics::paired(&earth, &planets))
}

/// Figures 8 and 3: the same mechanism and the same periods.
fn both<'a>(data: &Data<'a>, mechanism: &str) -> (Runs<'a>, Runs<'a>) {
    let (earth, planets) =
        (data.figure_8.only(MECHANISM, mechanism), data.figure_3.only(MECHANISM, mechanism));
    let shared: Vec<&str> =
        earth.levels(PERIOD).into_iter().filter(|period| planets.levels(PERIOD).contains(period)).collect();
    (earth.any_of(PERIOD, &shared), planets.any_of(PERIOD, &shared))
}

fn earth_above(data: &Data<'_>, mechanism: &str) -> Part {
    let (earth, planets) = both(data, mechanism);
    Part::positive(format!("{mechanism}: Earth − planets"), earth.minus(&planets, RATIO))
}

/// Mean speed of a stationary random waypoint with the paper's parameters (Navidi and Camp 2004): a trip takes
/// its length times the mean of 1/v, and a node is paused for the rest.
fn waypoint_nodes_keep_moving() -> Finding {
    const SPEED_M_PER_S: (f64, f64) = (0.5, 1.5);
    const PAUSE_MEAN_S: f64 = 60.0;
    /// Mean distance of two random points of a square, in its sides.
    const TRIP_PER_SIDE: f64 = 0.521_405_433;
    const SIDE_M: f64 = 1000.0;
    let trip_m = TRIP_PER_SIDE * SIDE_M;
    let (slow, fast) = SPEED_M_PER_S;
    let moving_s = trip_m * (fast / slow).ln() / (fast - slow);
    let speed = trip_m / (moving_s + PAUSE_MEAN_S);
    let paused = PAUSE_MEAN_S / (moving_s + PAUSE_MEAN_S);
    let told = format!(
        "by calculation, the stationary mean speed is {} m/s and {} of the nodes pause: speed decays to zero \
         only where the smallest speed is zero, and it is 0.5 m/s here",
        number(speed),
        number(paused)
    );
    Finding { holds: Holds::No, we_measure: told }
}

/// Half of one point of delivery ratio is invisible in the paper's figures.
const INVISIBLE: f64 = 0.005;

fn intervals_are_often_zero(data: &Data<'_>) -> Finding {
    let mechanisms = data.figure_5.any_of(MECHANISM, &ANY_ROUTER);
    let widths: Vec<f64> = [data.figure_3.clone(), mechanisms]
        .iter()
        .flat_map(|view| view.split(&[MECHANISM, ROUTER, PERIOD, INTER_CONTACT]))
        .filter_map(|(_, cell)| cell.estimate(RATIO)?.half_width)
        .collect();
    if widths.is_empty() {
        return Finding::untestable("one seed has no interval");
    }
    let zero = widths.iter().filter(|width| **width < INVISIBLE).count();
    let holds = match zero {
        0 => Holds::No,
        many if 2 * many >= widths.len() => Holds::Yes,
        _ => Holds::Partly,
    };
    let typical = statistics::mean(&widths).unwrap_or(0.0);
    let told = format!(
        "{zero} of {} intervals are narrower than ±{INVISIBLE}, their mean is ±{}; here traffic is drawn again for \
         every seed, which The ONE did not do",
        widths.len(),
        number(typical)
    );
    Finding { holds, we_measure: told }
}
