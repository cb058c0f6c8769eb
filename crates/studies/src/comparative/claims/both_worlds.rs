//! Claims that need both worlds, or none.

use super::interplanetary::{ANY_ROUTER, MECHANISMS, RATIO};
use super::{Claims, Data};
use crate::comparative::cell::{DURATION, INTER_CONTACT, MECHANISM, PERIOD, ROUTER};
use crate::comparative::plan::FIGURE_FILES;
use crate::shared::parts::{NOT_RUN, Part, SIMILAR, interval, judge};
use crate::shared::points::{only, scenario};
use crate::shared::runs::Runs;
use crate::shared::words::claim;
use lightlag_lab::report::{Finding, Holds};
use lightlag_lab::results::number;
use lightlag_lab::statistics;
use lightlag_protocols::time::Instant;
use lightlag_scenario::{Scenario, Seed};
use lightlag_worlds::mobility::Leg;
use std::sync::LazyLock;

pub(super) const CLAIMS: Claims = &[
    claim("C10", rrcc_depends_less),
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
    claim("C33", |_| waypoint_nodes_stop()),
    claim("C35", intervals_are_often_zero),
];

/// A mechanism that delivers less than this under every router has no room for a spread over routers.
const FLOOR: f64 = 2.0 * SIMILAR;

/// Figures 9 and 5; where RRCC delivers nearly nothing with short contacts, the longest contacts of figure 7.
fn rrcc_depends_less(data: &Data<'_>) -> Finding {
    let level = |view: &Runs<'_>| view.estimate(RATIO).map(|made| made.mean);
    let earth = data.figure_9.only(MECHANISM, "rrcc");
    let short = data.figure_5.only(MECHANISM, "rrcc");
    let long = data.figure_7.only(MECHANISM, "rrcc").ends(DURATION).map(|(_, long)| long);
    let planets =
        [Some(("figure 5", short.clone())), long.map(|long| ("the longest contacts of figure 7", long))];
    let above = planets.into_iter().flatten().find(|(_, view)| level(view).is_some_and(|mean| mean >= FLOOR));
    match (level(&earth), level(&short), above) {
        (None, ..) | (_, None, _) => Finding::untestable(NOT_RUN),
        (Some(mean), _, _) | (_, Some(mean), None) if mean < FLOOR => Finding::untestable(format!(
            "RRCC delivers {} under every router, which leaves no room for a spread",
            number(mean)
        )),
        (_, _, None) => Finding::untestable(NOT_RUN),
        (_, _, Some((place, planets))) => {
            let spread = |view: &Runs<'_>| view.spread(ROUTER, RATIO);
            let test = statistics::paired(&spread(&earth), &spread(&planets));
            judge(vec![Part::positive(format!("spread over routers, Earth − planets ({place})"), test)])
        }
    }
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

/// A share of moving nodes below this is a halt.
const HALT: f64 = 0.05;
/// Nodes of figure 8, from random places as in The ONE: from there on speeds may decay.
const FROM_ANYWHERE: [(&str, &str); 4] = [
    ("mechanism", "none"),
    ("traffic.messages.interval", "1..300 s"),
    ("mobility.initial", "uniform"),
    ("seeds", "[1, 2, 3, 4, 5]"),
];
const HOUR_S: i64 = 3600;

/// The nodes of figure 8 in its first and its last hour.
static WAYPOINT: LazyLock<Option<[Motion; 2]>> = LazyLock::new(|| {
    let file = scenario(FIGURE_FILES[4], FROM_ANYWHERE).ok()?;
    let Scenario::Bundles(network) = only(&file).ok()? else { return None };
    let end_s = network.head.duration.as_secs_f64() as i64;
    let legs =
        |seed| network.seeded(Seed::Number(seed)).ok()?.fleet().ok()?.legs(Instant::from_secs(end_s)).ok();
    let all: Vec<Vec<Vec<Leg>>> = (1..=5).map(legs).collect::<Option<_>>()?;
    Some([0, end_s - HOUR_S].map(|from_s| Motion::of(&all, from_s)))
});

/// How nodes move in an hour, seed by seed.
struct Motion {
    /// Share of the time in which a node moves.
    moving: Vec<f64>,
    /// Mean speed in m/s, with those that pause.
    speeds: Vec<f64>,
}

impl Motion {
    fn of(all: &[Vec<Vec<Leg>>], from_s: i64) -> Self {
        let (start, end) = (Instant::from_secs(from_s), Instant::from_secs(from_s + HOUR_S));
        // Seconds in motion and metres of one leg within the hour.
        let within = |leg: &Leg| {
            let inside = (leg.end.min(end) - leg.start.max(start)).as_secs_f64();
            let length = leg.from.distance(leg.to);
            if inside <= 0.0 || length == 0.0 {
                return (0.0, 0.0);
            }
            (inside, length * inside / (leg.end - leg.start).as_secs_f64())
        };
        let mean = |nodes: &Vec<Vec<Leg>>| {
            let (time, path) = nodes
                .iter()
                .flatten()
                .map(within)
                .fold((0.0, 0.0), |sum, leg| (sum.0 + leg.0, sum.1 + leg.1));
            let hours = nodes.len() as f64 * HOUR_S as f64;
            (time / hours, path / hours)
        };
        let (moving, speeds) = all.iter().map(mean).unzip();
        Self { moving, speeds }
    }
}

fn waypoint_nodes_stop() -> Finding {
    let Some([first, last]) = &*WAYPOINT else { return Finding::untestable(NOT_RUN) };
    let shown = |values: &[f64]| interval(statistics::estimate(values));
    let share = statistics::mean(&last.moving).unwrap_or(1.0);
    let described = format!(
        "share of nodes in motion: {} in the first hour, {} in the last; mean speed {} and {} m/s",
        shown(&first.moving),
        shown(&last.moving),
        shown(&first.speeds),
        shown(&last.speeds)
    );
    Finding::new(if share < HALT { Holds::Yes } else { Holds::No }, described)
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
    let described = format!(
        "{zero} of {} intervals are narrower than ±{INVISIBLE}, their mean is ±{}; here traffic is drawn again for \
         every seed, which The ONE did not do",
        widths.len(),
        number(typical)
    );
    Finding::new(holds, described).of_parts(zero, widths.len())
}
