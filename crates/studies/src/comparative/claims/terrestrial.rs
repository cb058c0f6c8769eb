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
use std::collections::BTreeMap;

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

/// The router with the highest mean against the one with the lowest. Both are chosen by half of the seeds and compared
/// on the other half, and vice versa: extremes of the data that they are tested on always differ.
fn routers_matter(data: &Data<'_>) -> Finding {
    let part = |mechanism: &&str| {
        let slice = data.figure_9.only(MECHANISM, mechanism);
        let routers: Vec<BTreeMap<u64, f64>> = slice
            .levels(ROUTER)
            .into_iter()
            .map(|router| slice.only(ROUTER, router).by_seed(RATIO))
            .collect();
        Part::positive(
            format!("{mechanism}: best − worst router"),
            slice.test(|seed| extremes(&routers, seed)),
        )
    };
    judge(ANY_ROUTER.iter().map(part).collect())
}

/// The difference at a seed between the highest and the lowest of these, as the seeds of the other half rank them.
fn extremes(all: &[BTreeMap<u64, f64>], seed: u64) -> Option<f64> {
    let mean = |one: &BTreeMap<u64, f64>| {
        let others: Vec<f64> =
            one.iter().filter(|(other, _)| *other % 2 != seed % 2).map(|(_, ratio)| *ratio).collect();
        statistics::mean(&others)
    };
    let mut ranked: Vec<(f64, &BTreeMap<u64, f64>)> =
        all.iter().filter_map(|one| Some((mean(one)?, one))).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (worst, best) = (ranked.first()?.1, ranked.last()?.1);
    (ranked.len() > 1).then_some(())?;
    Some(best.get(&seed)? - worst.get(&seed)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extremes_of_chance_do_not_differ_when_other_seeds_have_chosen_them() {
        let drawn =
            |router: u64| (1..=400).map(|seed| (seed, drawn_at(router, seed))).collect::<BTreeMap<_, _>>();
        let equal: Vec<_> = (0..3).map(drawn).collect();
        let test = |all: &[BTreeMap<u64, f64>]| {
            let all: Vec<f64> = (1..=400).filter_map(|seed| extremes(all, seed)).collect();
            statistics::test_zero(&all).unwrap()
        };
        assert!(test(&equal).difference.mean.abs() < 0.05, "{:?}", test(&equal));
        let mut one_better = equal;
        one_better[1].values_mut().for_each(|ratio| *ratio += 0.2);
        assert!(test(&one_better).difference.mean > 0.15, "{:?}", test(&one_better));
        assert_eq!(extremes(&one_better[..1], 1), None, "one router alone has no spread");
    }

    /// A number between 0 and 1 that has nothing to do with its place.
    fn drawn_at(router: u64, seed: u64) -> f64 {
        lightlag_protocols::rng::Stream::new(seed, "extremes", router).unit()
    }
}
