//! Claims about figures 3 to 7: between planets.

use super::{Claims, Data};
use crate::comparative::cell::{BUFFER, DURATION, INTER_CONTACT, MECHANISM, PERIOD, ROUTER};
use crate::shared::parts::{CONSTANT, MET, NOT_RUN, Part, count, from_to, interval, judge};
use crate::shared::runs::{Runs, least, most};
use crate::shared::words::claim;
use lightlag_lab::compare::SIGNIFICANCE;
use lightlag_lab::report::{Compared, Finding, Holds, Met};
use lightlag_lab::results::number;
use lightlag_lab::statistics::{self, Paired};

/// Delivered of created.
pub(super) const RATIO: &str = "delivery_prob";
/// Mean delay of what was delivered, in seconds.
pub(super) const LATENCY: &str = "latency_avg";
/// Transfers beyond the delivering one, per delivery.
pub(super) const OVERHEAD: &str = "overhead_ratio";

/// The four mechanisms of the paper.
pub(super) const MECHANISMS: [&str; 4] = ["rrcc", "afner", "storage_routing", "credit"];
/// Those that work with any router.
pub(super) const ANY_ROUTER: [&str; 3] = ["rrcc", "storage_routing", "credit"];
/// No congestion control.
pub(super) const BASELINE: &str = "none";
/// "As inter-contact times increase" is read as these.
const LONG_GAPS: [&str; 2] = ["4000", "5000"];

pub(super) const CLAIMS: Claims = &[
    claim("C1", |data| judge(trends(&data.figure_3, PERIOD, RATIO, Part::positive))),
    claim("C2", quite_low),
    claim("C3", baseline_sometimes_above),
    claim("C4", |data| judge(trends(&data.figure_5, INTER_CONTACT, RATIO, Part::negative))),
    claim("C5", |data| {
        judge(per_level(&data.figure_5, ROUTER, |router, slice| {
            Part::similar(router, difference(slice, "credit", "storage_routing", RATIO))
        }))
    }),
    claim("C6", |data| {
        let routers = ["epidemic", "spray_and_wait"];
        judge(pairs(&["credit", "storage_routing"], &routers, |mechanism, router| {
            let slice = data.figure_5.only(MECHANISM, mechanism);
            let test = slice.only(ROUTER, "prophet").minus(&slice.only(ROUTER, router), RATIO);
            Part::positive(format!("{mechanism}: prophet − {router}"), test)
        }))
    }),
    claim("C7", |data| judge(each_above(&long_gaps(data), &ANY_ROUTER, BASELINE, RATIO))),
    claim("C8", |data| judge(vec![above(&data.figure_5, BASELINE, "afner", RATIO)])),
    claim("C9", |data| {
        judge(above_each(&long_gaps(data), "rrcc", &["afner", "storage_routing", "credit"], RATIO))
    }),
    claim("C11", minimum_latency),
    claim("C12", latency_settles),
    claim("C13", latency_and_buffers),
    claim("C14", |data| judge(trends(&data.figure_7, DURATION, RATIO, Part::positive))),
    claim("C15", |data| judge(most_at_each_duration(data))),
    claim("C16", |data| judge(spreads(&data.figure_7, &ANY_ROUTER))),
    claim("C34", expiry_controls),
];

/// One mechanism minus another; AFNER has only epidemic runs, so it is compared with those of the other.
pub(super) fn difference(view: &Runs<'_>, first: &str, second: &str, metric: &str) -> Option<Paired> {
    let afner = first == "afner" || second == "afner";
    let view = if afner { view.only(ROUTER, "epidemic") } else { view.clone() };
    view.only(MECHANISM, first).minus(&view.only(MECHANISM, second), metric)
}

/// `first` is above `second`.
pub(super) fn above(view: &Runs<'_>, first: &str, second: &str, metric: &str) -> Part {
    Part::positive(format!("{first} − {second}"), difference(view, first, second, metric))
}

/// Each of these is above one.
pub(super) fn each_above(view: &Runs<'_>, these: &[&str], one: &str, metric: &str) -> Vec<Part> {
    these.iter().map(|this| above(view, this, one, metric)).collect()
}

/// One is above each of these.
pub(super) fn above_each(view: &Runs<'_>, one: &str, these: &[&str], metric: &str) -> Vec<Part> {
    these.iter().map(|this| above(view, one, this, metric)).collect()
}

/// The slope of a metric over a column, mechanism by mechanism, with its ends.
pub(super) fn trends(
    view: &Runs<'_>,
    column: &str,
    metric: &str,
    part: fn(String, Option<Paired>) -> Part,
) -> Vec<Part> {
    per_level(view, MECHANISM, |mechanism, slice| {
        let ends = slice.ends(column).map(|(first, last)| (first.estimate(metric), last.estimate(metric)));
        let unit = match (metric, column) {
            (LATENCY, BUFFER) => "s per kB",
            (_, BUFFER) => "per kB",
            _ => "per s",
        };
        let label = format!("{mechanism}: slope");
        part(label, slice.slope(column, metric)).described(from_to(ends)).measured_in(unit)
    })
}

/// A part for each value of a column.
pub(super) fn per_level<'a>(
    view: &Runs<'a>,
    column: &str,
    part: impl Fn(&str, &Runs<'a>) -> Part,
) -> Vec<Part> {
    view.levels(column).into_iter().map(|level| part(level, &view.only(column, level))).collect()
}

/// Mechanism by mechanism, the spread over routers is small.
pub(super) fn spreads(view: &Runs<'_>, mechanisms: &[&str]) -> Vec<Part> {
    let part = |mechanism: &&str| {
        let spread: Vec<f64> = view.only(MECHANISM, mechanism).spread(ROUTER, RATIO).into_values().collect();
        Part::similar(format!("{mechanism}: spread"), statistics::test_zero(&spread))
    };
    mechanisms.iter().map(part).collect()
}

fn pairs(first: &[&str], second: &[&str], part: impl Fn(&str, &str) -> Part) -> Vec<Part> {
    first.iter().flat_map(|a| second.iter().map(|b| part(a, b)).collect::<Vec<_>>()).collect()
}

fn long_gaps<'a>(data: &Data<'a>) -> Runs<'a> {
    data.figure_5.any_of(INTER_CONTACT, &LONG_GAPS)
}

/// Bar by bar of figure 7, with the router that all four mechanisms have.
fn most_at_each_duration(data: &Data<'_>) -> Vec<Part> {
    let epidemic = data.figure_7.only(ROUTER, "epidemic");
    let bars = epidemic
        .levels(DURATION)
        .into_iter()
        .flat_map(|length| ["afner", "credit", "storage_routing"].map(|other| (length, other)));
    let part = |(length, other): (&str, &str)| {
        let slice = epidemic.only(DURATION, length);
        Part::positive(format!("{length} s: rrcc − {other}"), difference(&slice, "rrcc", other, RATIO))
    };
    bars.map(part).collect()
}

fn quite_low(data: &Data<'_>) -> Finding {
    let mut dots = Vec::new();
    let statements: Vec<(String, bool)> = data
        .figure_3
        .levels(MECHANISM)
        .into_iter()
        .filter_map(|mechanism| {
            let cells = data.figure_3.only(MECHANISM, mechanism).along(PERIOD);
            let largest = cells
                .iter()
                .filter_map(|(_, cell)| cell.estimate(RATIO))
                .max_by(|a, b| a.mean.total_cmp(&b.mean))?;
            let low = largest.high().unwrap_or(largest.mean) < 0.5;
            let dot = Compared::at_most(mechanism, largest.mean, 0.5, "").with_interval(largest.interval());
            dots.push(dot.found(Met::from_so(low)));
            Some((format!("{mechanism} at most {}", interval(Some(largest))), low))
        })
        .collect();
    count(&statements).comparing(dots)
}

fn baseline_sometimes_above(data: &Data<'_>) -> Finding {
    let cells: Vec<(&str, Paired)> = MECHANISMS
        .iter()
        .flat_map(|mechanism| {
            let cells = data.figure_3.along(PERIOD);
            cells
                .into_iter()
                .filter_map(|(_, cell)| Some((*mechanism, difference(&cell, BASELINE, mechanism, RATIO)?)))
        })
        .collect();
    if cells.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let wins = significant_wins(&cells);
    let described: Vec<String> = MECHANISMS
        .iter()
        .map(|name| {
            let of = |list: &[&str]| list.iter().filter(|known| *known == name).count();
            let run: Vec<&str> = cells.iter().map(|(name, _)| *name).collect();
            format!("{name} {} of {}", of(&wins), of(&run))
        })
        .collect();
    let often_afner = 2 * wins.iter().filter(|name| **name == "afner").count()
        >= cells.iter().filter(|(name, _)| *name == "afner").count().max(1);
    let holds = match (wins.is_empty(), often_afner) {
        (true, _) => Holds::No,
        (false, true) => Holds::Yes,
        (false, false) => Holds::Partly,
    };
    let hold = usize::from(!wins.is_empty()) + usize::from(often_afner);
    Finding::new(holds, format!("baseline significantly above: {}", described.join(", "))).of_parts(hold, 2)
}

fn significant_wins<'a>(cells: &[(&'a str, Paired)]) -> Vec<&'a str> {
    let tested: Vec<&(&str, Paired)> = cells.iter().filter(|(_, test)| test.p.is_some()).collect();
    let raw: Vec<f64> = tested.iter().filter_map(|(_, test)| test.p).collect();
    let sure = statistics::holm(&raw);
    tested
        .into_iter()
        .zip(sure)
        .filter(|((_, test), p)| test.difference.mean > 0.0 && *p < SIGNIFICANCE)
        .map(|((name, _), _)| *name)
        .collect()
}

fn minimum_latency(data: &Data<'_>) -> Finding {
    let smallest = cells(&data.figure_6)
        .filter_map(|(name, cell)| Some((name, cell.estimate(LATENCY)?)))
        .min_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let Some((name, smallest)) = smallest else { return Finding::untestable(NOT_RUN) };
    let printed = 2.3e4;
    let holds = if (smallest.mean - printed).abs() <= MET * printed { Holds::Yes } else { Holds::No };
    let around = (Some(printed * (1.0 - MET)), Some(printed * (1.0 + MET)));
    let dot = Compared::within(name.clone(), smallest.mean, around, "s").with_interval(smallest.interval());
    Finding::new(holds, format!("smallest {} s ({name})", interval(Some(smallest)))).comparing(vec![dot])
}

/// The cells of figure 6, named.
fn cells<'a>(view: &Runs<'a>) -> impl Iterator<Item = (String, Runs<'a>)> {
    curves(view).flat_map(|(name, curve)| {
        curve.along(BUFFER).into_iter().map(move |(buffer, cell)| (format!("{name}, {buffer} kB"), cell))
    })
}

/// The curves of figure 6: a mechanism with a router.
fn curves<'a>(view: &Runs<'a>) -> impl Iterator<Item = (String, Runs<'a>)> {
    let split = view.split(&[MECHANISM, ROUTER]).into_iter();
    split.map(|(names, curve)| (format!("{} with {}", names[0], names[1]), curve))
}

fn latency_settles(data: &Data<'_>) -> Finding {
    let statements: Vec<(String, bool)> = curves(&data.figure_6)
        .filter_map(|(name, curve)| {
            let before = movement(&curve, 1000.0, 5000.0)?;
            let beyond = movement(&curve, 5000.0, 8000.0)?;
            let described = format!("{name} moves {:.0}% then {:.0}%", 100.0 * before, 100.0 * beyond);
            Some((described, before >= CONSTANT && beyond < CONSTANT))
        })
        .collect();
    count(&statements)
}

/// Largest minus smallest mean latency between two buffer sizes, as a share of their mean.
fn movement(curve: &Runs<'_>, from: f64, to: f64) -> Option<f64> {
    let inside = curve.along(BUFFER).into_iter().filter(|(buffer, _)| (from..=to).contains(buffer));
    let means: Vec<f64> = inside.filter_map(|(_, cell)| Some(cell.estimate(LATENCY)?.mean)).collect();
    if means.len() < 2 {
        return None;
    }
    Some((most(&means)? - least(&means)?) / statistics::mean(&means)?)
}

fn latency_and_buffers(data: &Data<'_>) -> Finding {
    let mut all = vec![above(&data.figure_6, "rrcc", BASELINE, LATENCY)];
    let falling = data.figure_6.any_of(MECHANISM, &["storage_routing", "credit", "afner"]);
    all.extend(trends(&falling, BUFFER, LATENCY, Part::negative));
    judge(all)
}

fn expiry_controls(data: &Data<'_>) -> Finding {
    use crate::comparative::cell::LIFETIME;
    let Some((short, whole)) = data.lifetimes.ends(LIFETIME) else {
        return Finding::untestable(NOT_RUN);
    };
    if data.lifetimes.levels(LIFETIME).len() < 2 {
        let expired = whole.estimate("dropped_expired");
        return Finding::untestable(format!(
            "a message lives as long as the run; expired: {}",
            interval(expired)
        ));
    }
    let lives: Vec<String> = data.lifetimes.levels(LIFETIME).into_iter().map(str::to_string).collect();
    let span = format!("{} h − {} h", lives[0], lives[lives.len() - 1]);
    let ends = |metric| (short.estimate(metric), whole.estimate(metric));
    let mean = |made: Option<statistics::Estimate>| made.map_or_else(|| "–".into(), |made| number(made.mean));
    let ratio = ends(RATIO);
    judge(vec![
        Part::negative(format!("overflows, {span}"), short.minus(&whole, "dropped_overflow")),
        Part::positive(format!("delivery ratio, {span}"), short.minus(&whole, RATIO)).described(format!(
            "{} against {}",
            mean(ratio.0),
            mean(ratio.1)
        )),
    ])
}
