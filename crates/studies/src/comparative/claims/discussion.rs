//! Claims of section 7, which the paper discusses and does not run.

use super::interplanetary::{BASELINE, MECHANISMS, RATIO, difference};
use super::{Claims, Data};
use crate::comparative::cell::{MECHANISM, RANGE, SETTINGS, SIZE, USUAL, WORLD};
use crate::shared::parts::{Part, SIMILAR, judge};
use crate::shared::runs::Runs;
use crate::shared::words::claim;
use lightlag_lab::report::Finding;
use lightlag_lab::statistics;
use std::collections::BTreeMap;

/// ION's rule.
pub const ION: &str = "ion_forecast";

pub(super) const CLAIMS: Claims = &[
    claim("C36", |data| {
        judge(fades(&data.sizes, ("rrcc", "small − large messages"), |sizes| sizes.ends(SIZE)))
    }),
    claim("C37", |data| judge(fades(&data.ranges, ("credit", "dense − sparse"), dense_and_sparse))),
    claim("C38", |data| judge(fades(&data.ranges, ("storage_routing", "dense − sparse"), dense_and_sparse))),
    claim("C39", rrcc_keeps_up),
    claim("C40", |data| {
        let earth = data.ion.only(WORLD, "terrestrial").only(SETTINGS, USUAL);
        judge(vec![Part::positive("on Earth, none − ion_forecast", difference(&earth, BASELINE, ION, RATIO))])
    }),
];

/// The runs with the farthest reach, and those with the least.
fn dense_and_sparse<'a>(ranges: &Runs<'a>) -> Option<(Runs<'a>, Runs<'a>)> {
    ranges.ends(RANGE).map(|(sparse, dense)| (dense, sparse))
}

/// From one end to the other the mechanism delivers less, and has less of a lead over the baseline.
fn fades<'a>(
    view: &Runs<'a>,
    (mechanism, ends): (&str, &str),
    pick: impl Fn(&Runs<'a>) -> Option<(Runs<'a>, Runs<'a>)>,
) -> Vec<Part> {
    let Some((good, bad)) = pick(view) else { return Vec::new() };
    let of = |slice: &Runs<'a>, name: &str| slice.only(MECHANISM, name).by_seed(RATIO);
    let lead = |slice: &Runs<'a>| {
        let baseline = of(slice, BASELINE);
        let own = of(slice, mechanism).into_iter();
        own.filter_map(|(seed, ratio)| Some((seed, ratio - baseline.get(&seed)?)))
            .collect::<BTreeMap<u64, f64>>()
    };
    vec![
        Part::positive(
            format!("{mechanism}, {ends}"),
            good.only(MECHANISM, mechanism).minus(&bad.only(MECHANISM, mechanism), RATIO),
        ),
        Part::positive(format!("its lead over none, {ends}"), statistics::paired(&lead(&good), &lead(&bad))),
    ]
}

/// In each figure of the delivery ratio RRCC is above each other mechanism, or below it by no more than what is similar.
fn rrcc_keeps_up(data: &Data<'_>) -> Finding {
    let figures = [
        ("3", &data.figure_3),
        ("5", &data.figure_5),
        ("7", &data.figure_7),
        ("8", &data.figure_8),
        ("9", &data.figure_9),
    ];
    let part = |(figure, view): (&str, &Runs<'_>), other: &str| {
        let test = difference(view, "rrcc", other, RATIO);
        Part::at_least(format!("figure {figure}: rrcc − {other}"), test, -SIMILAR)
    };
    let others = MECHANISMS.iter().filter(|name| **name != "rrcc");
    let pairs = figures.iter().flat_map(|figure| others.clone().map(move |other| (*figure, *other)));
    judge(pairs.map(|(figure, other)| part(figure, other)).collect())
}
