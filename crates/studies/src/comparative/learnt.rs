//! The sentences with which the report opens.

use super::cell::{DURATION, MECHANISM, MOBILITY, ROUTER, SETTINGS, USUAL, WORLD};
use super::claims::Tested;
use super::claims::discussion::ION;
use super::readings::{Data, Reading};
use crate::shared::parts::interval;
use crate::shared::runs::Runs;
use lightlag_lab::results::{Results, number};
use lightlag_lab::statistics;

const BASELINE: &str = "none";
const RATIO: &str = "delivery_prob";
const LIMIT: &str = "RRCC: limit per contact";

/// What stands in the introduction for its `{names}`.
pub(super) fn facts(results: &Results, tested: &[Tested]) -> Vec<(&'static str, String)> {
    let data = Data::of(results, &Reading::PRIMARY);
    vec![("readings", readings(results, tested)), ("ion", ion(&data))]
}

/// What the report says first.
pub(super) fn answer(results: &Results, tested: &[Tested]) -> Vec<String> {
    let data = Data::of(results, &Reading::PRIMARY);
    vec![control(&data), universal(&data), tally(tested)]
}

fn tally(tested: &[Tested]) -> String {
    let count = |word: &str| tested.iter().filter(|claim| claim.found.holds.word() == word).count();
    format!(
        "Of {} claims of the paper {} hold, {} hold partly, {} do not, and {} cannot be tested here.",
        tested.len(),
        count("yes"),
        count("partly"),
        count("no"),
        count("untestable")
    )
}

/// Mean delivery ratio of each mechanism with epidemic routing, which all have; the highest first.
fn ranked<'a>(view: &Runs<'a>) -> Vec<(&'a str, f64)> {
    let epidemic = view.only(ROUTER, "epidemic");
    let of = |mechanism| Some((mechanism, epidemic.only(MECHANISM, mechanism).estimate(RATIO)?.mean));
    let mut all: Vec<(&str, f64)> = epidemic.levels(MECHANISM).into_iter().filter_map(of).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

fn of(ranked: &[(&str, f64)], name: &str) -> Option<f64> {
    ranked.iter().find(|(known, _)| *known == name).map(|(_, ratio)| *ratio)
}

/// What the best mechanism adds in each world.
fn control(data: &Data<'_>) -> String {
    let best = |view: &Runs<'_>| {
        let all = ranked(view);
        let (name, _) = *all.iter().find(|(name, _)| *name != BASELINE)?;
        let described =
            |name: &str| interval(view.only(ROUTER, "epidemic").only(MECHANISM, name).estimate(RATIO));
        let useless = all.first().is_some_and(|(best, _)| *best == BASELINE);
        Some((name.to_owned(), described(name), described(of(&all, BASELINE).map(|_| BASELINE)?), useless))
    };
    let (Some(planets), Some(earth)) = (best(&data.figure_7), best(&data.figure_9)) else {
        return NOT_RUN.to_owned();
    };
    format!(
        "With epidemic routing the best mechanism on Earth (figure 9), {}, delivers {} where no control delivers {}; the best \
         between planets (figure 7), {}, {} where no control delivers {}{}.",
        earth.0,
        earth.1,
        earth.2,
        planets.0,
        planets.1,
        planets.2,
        if planets.3 { ": there no mechanism helps" } else { "" }
    )
}

/// What the best of one world is in the other.
fn universal(data: &Data<'_>) -> String {
    let worlds = [ranked(&data.figure_7), ranked(&data.figure_9)];
    let [planets, earth] = &worlds;
    let loss = |name: &str| {
        let lost = worlds.iter().filter_map(|world| Some(world.first()?.1 - of(world, name)?));
        lost.reduce(f64::max)
    };
    let losses = planets.iter().filter_map(|(name, _)| Some((*name, loss(name)?)));
    let least = losses.min_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((first, _)), Some((second, _)), Some(least)) = (planets.first(), earth.first(), least) else {
        return NOT_RUN.to_owned();
    };
    if first == second {
        return format!("In both worlds {first} delivers most with epidemic routing (figures 7 and 9).");
    }
    let behind = |name: &str, world: &[(&str, f64)]| {
        of(world, name).map_or_else(|| NOT_RUN.to_owned(), |ratio| format!("{:.2}", world[0].1 - ratio))
    };
    format!(
        "Nothing is best in both worlds: {first}, which delivers most between planets (figure 7), is {} below the best on Earth (figure 9), and \
         {second}, the best there, {} below the best between planets; {} loses least in its worse world, {}.",
        behind(first, earth),
        behind(second, planets),
        least.0,
        format_args!("{:.2}", least.1)
    )
}

/// How far the verdicts depend on what the paper leaves open.
fn readings(results: &Results, tested: &[Tested]) -> String {
    let read: Vec<&Tested> = tested.iter().filter(|claim| !claim.others.is_empty()).collect();
    let firm = read.iter().filter(|claim| claim.changed().next().is_none()).count();
    let limit = Reading::varied().find(|reading| reading.name == LIMIT).filter(|one| one.was_run(results));
    let start = format!(
        "{firm} of {} claims that depend on a reading of the paper have the same verdict under all",
        read.len()
    );
    let changed = |reading: &Reading| {
        tested.iter().filter(|claim| claim.changed().any(|(other, _)| other == reading)).count()
    };
    let level = |reading: &Reading| {
        let rrcc = Data::of(results, reading).figure_7.only(MECHANISM, "rrcc").only(ROUTER, "epidemic");
        interval(rrcc.ends(DURATION).and_then(|(_, long)| long.estimate(RATIO)))
    };
    limit.map_or(format!("{start}."), |limit| {
        format!(
            "{start}; whether RRCC limits the copies of a message or of a contact alone changes {} (with contacts of 5000 s it \
             delivers {} or {}).",
            changed(&limit),
            level(&Reading::PRIMARY),
            level(&limit)
        )
    })
}

/// ION's rule, and how much the router matters.
fn ion(data: &Data<'_>) -> String {
    let ratio = |world: &str, router: &str, mechanism: &str| {
        let view =
            data.ion.fixed(&[(WORLD, world), (ROUTER, router), (SETTINGS, USUAL), (MECHANISM, mechanism)]);
        interval(view.estimate(RATIO))
    };
    let spread = |column: &str, fixed: &str| {
        let places = data.figure_9.without(MECHANISM, "afner").split(&[MOBILITY, fixed]);
        let each: Vec<f64> =
            places.iter().flat_map(|(_, view)| view.spread(column, RATIO).into_values()).collect();
        statistics::mean(&each).map_or_else(|| NOT_RUN.to_owned(), number)
    };
    format!(
        "ION's admission control delivers {} between planets with contact-graph routing (no control {}), and {} on Earth with \
         epidemic routing (no control {}); in figure 9 the choice of the router moves the delivery ratio by {}, that of the \
         mechanism by {}.",
        ratio("ipn", "contact_graph", ION),
        ratio("ipn", "contact_graph", BASELINE),
        ratio("terrestrial", "epidemic", ION),
        ratio("terrestrial", "epidemic", BASELINE),
        spread(ROUTER, MECHANISM),
        spread(MECHANISM, ROUTER)
    )
}

const NOT_RUN: &str = "–";
