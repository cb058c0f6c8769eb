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

mod events;
mod groups;
mod interfaces;
mod known;
mod movement;
mod numbers;
mod properties;
mod routers;
mod settings;
#[cfg(test)]
mod tests;

pub use properties::{Property, properties, readable};
pub use settings::Layers;

use super::catalogue::Catalogue;
use super::error::{Error, Place, Result, short};
use super::file::Ignored;
use super::files::{Files, check_file_name};
use super::model::{BundleNetwork, Draws, Group, Head, Movement, Report, Scenario};
use super::toml_file::{Outcome, Sweep};
use super::traffic::{check_amount, check_fit};
use crate::budget::{self, Estimate, Limits};
use groups::Groups;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use lightlag_worlds::messages::{Rules, SendOrderKind};
use numbers::{boolean, double, int};
use settings::{Found, Run, Space};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The report classes that can be written.
pub const REPORTS: &[&str] = words![
    BufferOccupancyReport ConnectivityONEReport ContactTimesReport CreatedMessagesReport
    DeliveredMessagesReport EventLogReport InterContactTimesReport MessageDelayReport
    MessageDeliveryReport MessageStatsReport TotalContactTimeReport
];

/// The ONE's decimals.
const PRECISION: i32 = 4;

/// What the sweep varies at a run index, and the experiment or why it makes no sense.
pub type Indexed = (Vec<(String, String)>, Outcome);

/// One experiment for each run index.
///
/// # Errors
/// The first thing that is wrong with any of them.
pub fn scenarios(layers: &Layers, catalogue: &Catalogue) -> Result<Vec<Indexed>> {
    known::check(layers, catalogue)?;
    let files = Files::default();
    let runs = layers.runs();
    let mut budget = Sweep::of(runs);
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for index in 0..runs {
        let run = Run { layers, index };
        let values = if runs > 1 { varied(run) } else { Vec::new() };
        if !seen.insert(values.clone()) {
            return Err(repeated(run, &values));
        }
        let outcome = scenario(run, catalogue, &files)?;
        budget.add(&layers.place(), &outcome, limits(run)?)?;
        all.push((values, outcome));
    }
    Ok(all)
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

/// Keys that mean nothing here.
pub fn ignored(layers: &Layers, catalogue: &Catalogue) -> Vec<Ignored> {
    known::ignored(layers, catalogue)
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
    let Groups { list: groups, send_order, refused } = groups::groups(run, catalogue)?;
    let queues = events::queues(run, &groups, duration, files)?;
    for traffic in &queues.traffic {
        check_amount(traffic, duration)?;
        // The ONE lets a source keep what is too large for its buffer; what no buffer can hold is refused.
        check_fit(traffic, traffic.smallest(), &groups)?;
    }
    let reports = reports(run, &name)?;
    let rules = rules(&space, send_order, duration)?;
    let movement = movement(&space, run, &groups, rules.tick)?;
    if let Some(refused) = refused {
        return Ok(Outcome::Refused(refused));
    }
    let own_seed = i64::from(run.space("MovementModel").parse("rngSeed", int)?.unwrap_or(0)) as u64;
    let mut network = BundleNetwork {
        head: Head { name, duration, own_seed, estimate: Estimate::default() },
        failures: Default::default(),
        positions_every: None,
        rules,
        movement,
        contacts: queues.contacts,
        traffic: queues.traffic,
        reports,
        groups,
    };
    network.head.estimate = budget::bundles::estimate(&network, &|key| place_of(run, key));
    network.head.estimate.check(limits(run)?)?;
    Ok(Outcome::Fits(Box::new(Scenario::Bundles(network))))
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
        .map_err(|wrong| found.wrong(format!("is no name: {}", wrong.what), wrong.right))?;
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

fn rules(space: &Space, send_order: SendOrderKind, duration: Duration) -> Result<Rules> {
    Ok(Rules {
        radio: Radio::Node,
        propagation: Propagation::Pipelined,
        tick: tick(space, duration)?,
        send_order,
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

fn reports(run: Run, name: &str) -> Result<Vec<Report>> {
    let space = run.space("Report");
    let Some(count) = space.find("nrofReports") else { return Ok(Vec::new()) };
    let number = count.whole(0, 1000, "there are 0 to 1000 reports")?;
    (1..=number)
        .map(|index| report(&space.need(&format!("report{index}"), "MessageStatsReport")?, run, name))
        .collect()
}

/// A report's settings are those of its class, and behind them those of all reports.
fn report(class: &Found, run: Run, name: &str) -> Result<Report> {
    if !REPORTS.contains(&class.value) {
        return Err(class.unsupported(REPORTS));
    }
    let space = run.space_or(class.value, "Report");
    check_spans(&space)?;
    let output = match space.find("output") {
        Some(found) => output(run, &found)?,
        None => {
            let folder = run.space("Report").need("reportDir", "reports/")?;
            Path::new(&readable(folder.value)).join(format!("{name}_{}.txt", class.value))
        }
    };
    let taken = ["warmup", "precision", "output", "reportDir", "nrofReports"];
    let mut settings: Vec<(String, String)> = Vec::new();
    for prefix in [class.value, "Report"] {
        for (key, _) in run.layers.iter() {
            let Some((of, key_name)) = key.split_once('.') else { continue };
            let own = of == prefix && !taken.contains(&key_name) && !is_report_number(key_name);
            if own
                && settings.iter().all(|known| known.0 != key_name)
                && let Some(found) = run.find(key)
            {
                let is_span = SPANS.contains(&key_name);
                let text = if is_span { found.parse(double)?.to_string() } else { readable(found.value) };
                settings.push((key_name.to_owned(), text));
            }
        }
    }
    Ok(Report {
        class: class.value.to_owned(),
        place: class.place.clone(),
        output,
        warmup: Duration::from_secs(i64::from(whole(&space, "warmup", 0, i32::MAX)?)),
        precision: whole(&space, "precision", PRECISION, 100)?.unsigned_abs(),
        settings,
    })
}

/// A whole number from zero on.
fn whole(space: &Space, key: &str, default: i32, most: i32) -> Result<i32> {
    let right = format!("give a whole number from 0 to {most}");
    space.find(key).map_or(Ok(default), |found| found.whole(0, most, &right))
}

/// Lengths of time that some reports read.
const SPANS: &[&str] = &["granularity", "occupancyInterval"];

fn check_spans(space: &Space) -> Result<()> {
    SPANS.iter().filter_map(|key| space.find(key)).try_for_each(|found| time(&found).map(drop))
}

/// A file below the folder where the program was started.
fn output(run: Run, found: &Found) -> Result<PathBuf> {
    let path = PathBuf::from(run.fill(found)?);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if inside && path.file_name().is_some() {
        return Ok(path);
    }
    Err(found.wrong("leads out of the folder of the run", "name a file below it, like reports/stats.txt"))
}

fn is_report_number(key: &str) -> bool {
    key.strip_prefix("report")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}
