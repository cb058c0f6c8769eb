//! The ONE's settings files, read as they are.
//!
//! **Seeds.** [`Seed::Own`](super::model::Seed) is the run that the settings themselves describe:
//! movement draws from `MovementModel.rngSeed`, and each generator from its prefix alone, as in The
//! ONE. With any other seed N movement draws from N in place of `rngSeed`, and each generator from
//! its prefix and N.
//!
//! **Run arrays.** `[a; b; c]` makes one point for each run index, up to the longest array; shorter
//! ones wrap around, as in The ONE.
//!
//! **Ours.** `Group.mechanism`, `Group.mechanism.PARAMETER`, `Group.receipts` and `Group.dropMemory`
//! are no keys of The ONE; with them its scenarios run under congestion control. Without
//! `Scenario.updateInterval`, which The ONE demands, times are exact.

/// A list of names.
macro_rules! words {
    ($($word:ident)+) => { &[$(stringify!($word)),+] };
}

mod applications;
mod events;
mod external;
mod groups;
mod interfaces;
mod known;
mod maps;
mod movement;
#[cfg(test)]
mod movement_tests;
mod notes;
mod numbers;
mod places;
mod properties;
mod reports;
mod routers;
mod settings;
#[cfg(test)]
mod tests;
mod working_day;
#[cfg(test)]
mod working_day_tests;

pub(crate) use numbers::int as number;
pub use properties::{Property, properties, readable};
pub(crate) use reports::{PRECISION, REPORT_CLASSES, inside};
pub use reports::{REPORTS, ReportClass};
pub(crate) use routers::setting_of;
pub use settings::{DEFAULTS, Layers};

use super::catalogue::Catalogue;
use super::error::{Error, Place, Result, short};
use super::file::Ignored;
use super::files::{Files, check_file_name};
use super::model::{BundleNetwork, Draws, Group, Head, Movement, Report, Scenario};
use super::toml_file::{Outcome, Sweep};
use super::traffic::check_amount;
use crate::budget::{self, Estimate, Limits};
use groups::Groups;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use lightlag_worlds::messages::{Control, Rules, SendOrderKind};
use notes::Notes;
use numbers::{boolean, double, int};
use settings::{Found, Run, Space};
use std::collections::BTreeSet;

/// What the sweep varies at a run index, and the experiment or why it makes no sense.
pub type Indexed = (Vec<(String, String)>, Outcome);

/// All that settings bring.
pub struct Read {
    /// One experiment for each run index.
    pub runs: Vec<Indexed>,
    /// Settings that nothing reads.
    pub ignored: Vec<Ignored>,
    /// Behaviour of The ONE that is not supported, a line each.
    pub warnings: Vec<String>,
}

/// One experiment for each run index.
///
/// # Errors
/// All errors of all of them.
pub fn scenarios(layers: &Layers, catalogue: &Catalogue) -> Result<Read> {
    let (files, notes, count) = (Files::default(), Notes::default(), layers.runs());
    let mut budget = Sweep::of(count);
    let mut seen = BTreeSet::new();
    let mut runs = Vec::new();
    for index in (0..count).take_while(|_| !notes.is_full()) {
        let run = Run { layers, index, notes: &notes };
        let values = if count > 1 { varied(run) } else { Vec::new() };
        if !seen.insert(values.clone()) {
            notes.record(repeated(run, &values));
            continue;
        }
        let Some(outcome) = corrected(run, catalogue, &files) else { continue };
        budget.add(&layers.place(), &outcome, limits(run)?)?;
        runs.push((values, outcome));
    }
    known::refused(layers, catalogue, &notes).into_iter().for_each(|error| notes.record(error));
    match notes.error() {
        Some(error) => Err(error),
        None => Ok(Read { runs, ignored: known::ignored(layers, &notes), warnings: notes.warnings() }),
    }
}

/// The scenario of a run index; `None` where something is wrong, which is noted.
fn corrected(run: Run, catalogue: &Catalogue, files: &Files) -> Option<Outcome> {
    loop {
        match scenario(run, catalogue, files) {
            Ok(outcome) => return run.notes.error().is_none().then_some(outcome),
            Err(error) => {
                if !run.notes.set_aside(run.layers, run.index, error) {
                    return None;
                }
            }
        }
    }
}

/// Two runs with the same values would be the same run.
fn repeated(run: Run, values: &[(String, String)]) -> Error {
    let told: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let place = values.first().and_then(|(key, _)| run.layers.get(key));
    Error::new(
        &place.map_or_else(|| run.layers.place(), |setting| setting.place.clone()),
        format!("run {} of [a; b; c] has the values of an earlier one ({})", run.index + 1, told.join(", ")),
        "name each run once",
    )
}

fn varied(run: Run) -> Vec<(String, String)> {
    let arrays = run.layers.iter().filter(|(_, setting)| setting.value.starts_with('['));
    arrays
        .filter_map(|(key, setting)| {
            let found = run.find(key).filter(|found| found.value != setting.value)?;
            Some((key.to_owned(), readable(found.value)))
        })
        .collect()
}

fn scenario(run: Run, catalogue: &Catalogue, files: &Files) -> Result<Outcome> {
    let space = run.space("Scenario");
    let name = name(run, &space)?;
    let duration = time(&space.need("endTime", "43200")?)?;
    let Groups { list: groups, send_order, refused } = groups::groups(run, catalogue, files)?;
    let mut queues = events::queues(run, &groups, duration, files)?;
    queues.traffic.extend(applications::pings(run, &groups)?);
    queues.traffic.iter().try_for_each(|traffic| check_amount(traffic, duration))?;
    let reports = reports::reports(run, &name)?;
    let rules = rules(&space, run, send_order, duration)?;
    let movement = movement(&space, run, &groups, rules.tick)?;
    if let Some(refused) = refused {
        return Ok(Outcome::Refused(refused));
    }
    let own_seed = i64::from(run.space("MovementModel").parse("rngSeed", int)?.unwrap_or(0)) as u64;
    let mut network = BundleNetwork {
        head: Head { name, duration, own_seed, estimate: Estimate::default(), limits: limits(run)? },
        failures: Default::default(),
        measure_from: measured(&reports),
        positions_every: None,
        rules,
        movement,
        contacts: queues.contacts,
        traffic: queues.traffic,
        reports,
        groups,
    };
    network.head.estimate = budget::bundles::estimate(&network, &|key| place_of(run, key));
    network.head.estimate.check(network.head.limits)?;
    Ok(Outcome::Fits(Box::new(Scenario::Bundles(network))))
}

/// Figures leave out what the report of figures leaves out.
fn measured(reports: &[Report]) -> Duration {
    let stats = reports.iter().find(|report| report.class == "MessageStatsReport");
    stats.map_or(Duration::ZERO, |report| report.warmup)
}

/// `Limits.events` and `Limits.memory` (bytes) are no keys of The ONE.
fn limits(run: Run) -> Result<Limits> {
    let (space, mut limits) = (run.space("Limits"), Limits::default());
    if let Some(found) = space.find("events") {
        limits.events = found.parse(double)?;
        if !(1.0..=1e18).contains(&limits.events) {
            return Err(found.wrong(format!("is {}", short(limits.events)), "give a number from 1 to 1e18"));
        }
    }
    if let Some(memory) = space.parse("memory", numbers::long)? {
        limits.memory = Bytes(memory);
    }
    Ok(limits)
}

/// The setting that counts most for a part of what a run takes.
fn place_of(run: Run, part: &str) -> Place {
    let key = if part == "traffic" { "Events.nrof" } else { "Scenario.nrofHostGroups" };
    run.layers.get(key).map_or_else(|| run.layers.place(), |setting| setting.place.clone())
}

/// Report files are called by it.
fn name(run: Run, space: &Space) -> Result<String> {
    let Some(found) = space.find("name") else { return Ok(run.layers.stem()) };
    let name = run.fill(&found)?;
    check_file_name(&name)
        .map_err(|wrong| found.wrong(format!("is not a name: {}", wrong.what), wrong.right))?;
    Ok(name)
}

/// A time above zero.
fn time(found: &Found) -> Result<Duration> {
    let s = found.parse(double)?;
    if s > 0.0 && s <= 3e9 && Duration::from_secs_f64(s) > Duration::ZERO {
        return Ok(Duration::from_secs_f64(s));
    }
    Err(found.wrong(format!("is {} s", short(s)), "give seconds above zero, 3e9 at most"))
}

/// More steps of The ONE's clock than are kept in memory.
const TICKS_MAX: f64 = 3e7;

fn tick(space: &Space, duration: Duration) -> Result<Option<Duration>> {
    let Some(found) = space.find("updateInterval") else { return Ok(None) };
    let tick = time(&found)?;
    if tick > duration {
        return Err(found.wrong("is longer than the whole run", "give less than `Scenario.endTime`"));
    }
    let ticks = duration.as_secs_f64() / tick.as_secs_f64();
    if ticks > TICKS_MAX {
        return Err(found.wrong(
            format!("cuts the run into {} steps", short(ticks.round())),
            format!("there may be {} at most", short(TICKS_MAX)),
        ));
    }
    Ok(Some(tick))
}

fn rules(space: &Space, run: Run, send_order: SendOrderKind, duration: Duration) -> Result<Rules> {
    Ok(Rules {
        radio: Radio::Node,
        propagation: Propagation::Pipelined,
        tick: tick(space, duration)?,
        send_order,
        control: Control::Instant,
        act_by_number: !run.space("Optimization").parse("randomizeUpdateOrder", boolean)?.unwrap_or(true),
        purge_every: Some(Duration::from_secs(60)),
        sample_every: None,
    })
}

fn movement(space: &Space, run: Run, groups: &[Group], tick: Option<Duration>) -> Result<Movement> {
    let warmup = run.space("MovementModel").find("warmup");
    let warmup_s = warmup.as_ref().map_or(Ok(0.0), |found| found.parse(double))?;
    let most_s = tick.map_or(1e9, |tick| TICKS_MAX * tick.as_secs_f64());
    if let Some(found) = warmup.filter(|_| !(0.0..=most_s).contains(&warmup_s)) {
        let right = format!("give seconds from zero to {}", short(most_s));
        return Err(found.wrong(format!("is {} s", short(warmup_s)), right));
    }
    Ok(Movement {
        draws: Draws::TheOne,
        warmup: Duration::from_secs_f64(warmup_s),
        radios_connect: space.parse("simulateConnections", boolean)?.unwrap_or(true)
            && groups.iter().any(|group| !group.radios.is_empty()),
    })
}
