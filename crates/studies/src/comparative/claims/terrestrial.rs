//! Claims about figures 8 to 11: on Earth.

use super::interplanetary::{
    ANY_ROUTER, BASELINE, LATENCY, MECHANISMS, OVERHEAD, RATIO, above_each, difference, each_above,
    per_level, trends,
};
use super::{Claims, Data};
use crate::comparative::cell::{MECHANISM, MOBILITY, PERIOD, ROUTER};
use crate::shared::parts::{Part, judge};
use crate::shared::runs::Runs;
use crate::shared::words::claim;
use lightlag_lab::report::Finding;
use lightlag_lab::statistics::{self, Paired};

const WALK: &str = "random_walk";
const WAYPOINT: &str = "random_waypoint";
const MAP: &str = "shortest_path_map";

pub(super) const CLAIMS: Claims = &[
    claim("C17", |data| judge(trends(&data.figure_8, PERIOD, RATIO, Part::positive))),
    claim("C19", |data| {
        judge(above_each(&data.figure_8, "credit", &[BASELINE, "rrcc", "afner", "storage_routing"], RATIO))
    }),
    claim("C20", |data| {
        let mut all = each_above(&data.figure_8, &ANY_ROUTER, "afner", RATIO);
        let test = difference(&data.figure_8, "afner", BASELINE, RATIO);
        all.push(Part::similar("afner − none", test));
        judge(all)
    }),
    claim("C21", |data| {
        judge(vec![moved(&data.figure_9, MAP, WALK, RATIO), moved(&data.figure_9, MAP, WAYPOINT, RATIO)])
    }),
    claim("C22", |data| {
        judge(each_above(&data.figure_9.only(MOBILITY, WAYPOINT), &MECHANISMS, BASELINE, RATIO))
    }),
    claim("C23", |data| {
        judge(per_level(&data.figure_9.any_of(MECHANISM, &MECHANISMS), MECHANISM, |mechanism, slice| {
            Part::positive(mechanism, moved_test(slice, WAYPOINT, WALK, RATIO))
        }))
    }),
    claim("C24", best_with_random_movement),
    claim("C25", |data| {
        judge(per_level(&data.figure_9.only(MOBILITY, MAP), ROUTER, |router, slice| {
            Part::similar(router, difference(slice, "credit", "rrcc", RATIO))
        }))
    }),
    claim("C26", routers_matter),
    claim("C27", |data| {
        judge(per_level(&data.figure_9.only(ROUTER, "epidemic"), MOBILITY, |mobility, slice| {
            let others = slice.any_of(MECHANISM, &[BASELINE, "rrcc", "storage_routing", "credit"]);
            let test = others.minus(&slice.only(MECHANISM, "afner"), LATENCY);
            Part::positive(format!("{mobility}: mean of the others − afner (s)"), test)
        }))
    }),
    claim("C28", |data| {
        let test = |other| moved_test(&data.figure_9, MAP, other, LATENCY);
        judge(vec![
            Part::positive("large: map − waypoint (s)", test(WAYPOINT)),
            Part::positive("large: map − walk (s)", test(WALK)),
            Part::negative("decreases: map − waypoint (s)", test(WAYPOINT)),
        ])
    }),
    claim("C29", epidemic_floods),
    claim("C30", |data| judge(above_each(&data.figure_9, "afner", &ANY_ROUTER, OVERHEAD))),
    claim("C31", |data| {
        judge(per_level(&data.figure_9, MOBILITY, |mobility, slice| {
            Part::negative(format!("{mobility}: rank correlation"), rank_correlation(slice))
        }))
    }),
];

fn moved_test(view: &Runs<'_>, first: &str, second: &str, metric: &str) -> Option<Paired> {
    view.only(MOBILITY, first).minus(&view.only(MOBILITY, second), metric)
}

fn moved(view: &Runs<'_>, first: &str, second: &str, metric: &str) -> Part {
    Part::positive(format!("{first} − {second}"), moved_test(view, first, second, metric))
}

fn best_with_random_movement(data: &Data<'_>) -> Finding {
    let named = |movement: &str, first: &str, second: &str| {
        let slice = data.figure_9.only(MOBILITY, movement);
        Part::positive(format!("{movement}: {first} − {second}"), difference(&slice, first, second, RATIO))
    };
    judge(vec![
        named(WALK, "credit", "rrcc"),
        named(WALK, "credit", "afner"),
        named(WALK, "credit", "storage_routing"),
        named(WAYPOINT, "credit", "rrcc"),
        named(WAYPOINT, "credit", "afner"),
        named(WAYPOINT, "storage_routing", "rrcc"),
        named(WAYPOINT, "storage_routing", "afner"),
    ])
}

/// The router with the highest mean against the one with the lowest.
fn routers_matter(data: &Data<'_>) -> Finding {
    let part = |mechanism: &&str| {
        let slice = data.figure_9.only(MECHANISM, mechanism);
        let mut routers: Vec<(&str, f64)> = slice
            .levels(ROUTER)
            .into_iter()
            .filter_map(|router| Some((router, slice.only(ROUTER, router).estimate(RATIO)?.mean)))
            .collect();
        routers.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (worst, best) = (routers.first()?.0, routers.last()?.0);
        let test = slice.only(ROUTER, best).minus(&slice.only(ROUTER, worst), RATIO);
        (worst != best).then(|| Part::positive(format!("{mechanism}: {best} − {worst}"), test))
    };
    judge(ANY_ROUTER.iter().filter_map(part).collect())
}

fn epidemic_floods(data: &Data<'_>) -> Finding {
    // AFNER has no runs with other routers to be compared with.
    let comparable = data.figure_9.any_of(MECHANISM, &[BASELINE, "rrcc", "storage_routing", "credit"]);
    let of = |router: &str| comparable.only(ROUTER, router).by_seed(OVERHEAD);
    let epidemic = of("epidemic");
    let part = |router: &str| {
        let twice = of(router).into_iter().map(|(seed, overhead)| (seed, 2.0 * overhead)).collect();
        Part::positive(format!("epidemic − 2 × {router}"), statistics::paired(&epidemic, &twice))
    };
    judge(vec![part("prophet"), part("spray_and_wait")])
}

/// Rank correlation of overhead and delivery ratio over mechanisms and routers, seed by seed.
fn rank_correlation(view: &Runs<'_>) -> Option<Paired> {
    let with_control = view.any_of(MECHANISM, &MECHANISMS);
    let cells: Vec<_> = with_control
        .split(&[MECHANISM, ROUTER])
        .into_iter()
        .map(|(_, cell)| (cell.by_seed(OVERHEAD), cell.by_seed(RATIO)))
        .collect();
    view.test(|seed| {
        let points: Vec<(f64, f64)> = cells
            .iter()
            .filter_map(|(overhead, ratio)| Some((*overhead.get(&seed)?, *ratio.get(&seed)?)))
            .collect();
        statistics::spearman(&points)
    })
}
