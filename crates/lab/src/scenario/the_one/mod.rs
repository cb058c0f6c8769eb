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

mod events;
mod groups;
mod known;
mod numbers;
mod properties;
mod routers;
mod settings;
#[cfg(test)]
mod tests;

pub use properties::{Property, properties, readable};
pub use settings::Layers;

use super::catalogue::Catalogue;
use super::error::Result;
use super::file::Ignored;
use super::files::Files;
use super::model::{Draws, Group, Movement, Report, Scenario};
use super::traffic::{check_amount, check_fit};
use crate::metrics::the_one::SUPPORTED;
use lightlag_protocols::time::Duration;
use lightlag_worlds::messages::{Propagation, Radio, Rules, SendOrder};
use numbers::{boolean, double, int};
use settings::{Found, Run, Space};
use std::path::{Path, PathBuf};

/// More runs than anyone means to index.
const RUNS_MAX: usize = 100_000;
/// The ONE's decimals.
const PRECISION: i32 = 4;

/// What the sweep varies at a run index, and the experiment.
pub type Indexed = (Vec<(String, String)>, Scenario);

/// One experiment for each run index.
///
/// # Errors
/// The first thing that is wrong with any of them.
pub fn scenarios(layers: &Layers, catalogue: &Catalogue) -> Result<Vec<Indexed>> {
    known::check(layers)?;
    let files = Files::default();
    let runs = layers.runs().min(RUNS_MAX);
    (0..runs)
        .map(|index| {
            let run = Run { layers, index };
            Ok((if runs > 1 { varied(run) } else { Vec::new() }, scenario(run, catalogue, &files)?))
        })
        .collect()
}

/// Keys that mean nothing here.
pub fn ignored(layers: &Layers) -> Vec<Ignored> {
    known::ignored(layers)
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

fn scenario(run: Run, catalogue: &Catalogue, files: &Files) -> Result<Scenario> {
    let space = run.space("Scenario");
    let name = match space.find("name") {
        Some(found) => run.fill(&found)?,
        None => run.layers.stem(),
    };
    let duration = time(&space.need("endTime", "43200")?)?;
    let (groups, send_order) = groups::groups(run, catalogue)?;
    let queues = events::queues(run, &groups, duration, files)?;
    for traffic in &queues.traffic {
        check_amount(traffic, duration)?;
        // The ONE lets a source keep what is too large for its buffer; what none can take goes nowhere.
        check_fit(traffic, traffic.smallest(), &groups)?;
    }
    let reports = reports(run, &name)?;
    Ok(Scenario {
        packets: None,
        rules: rules(&space, send_order)?,
        movement: movement(&space, run, &groups)?,
        contacts: queues.contacts,
        traffic: queues.traffic,
        own_seed: i64::from(run.space("MovementModel").parse("rngSeed", int)?.unwrap_or(0)) as u64,
        reports,
        name,
        duration,
        groups,
    })
}

/// A time above zero.
fn time(found: &Found) -> Result<Duration> {
    let s = found.parse(double)?;
    if s > 0.0 && s <= 3e9 && Duration::from_secs_f64(s) > Duration::ZERO {
        return Ok(Duration::from_secs_f64(s));
    }
    Err(found.wrong(format!("is {s} s"), "give seconds above zero"))
}

fn rules(space: &Space, send_order: SendOrder) -> Result<Rules> {
    Ok(Rules {
        radio: Radio::Node,
        propagation: Propagation::Pipelined,
        tick: space.find("updateInterval").map(|found| time(&found)).transpose()?,
        send_order,
        purge_every: Some(Duration::from_secs(60)),
        sample_every: None,
    })
}

fn movement(space: &Space, run: Run, groups: &[Group]) -> Result<Movement> {
    let warmup = run.space("MovementModel").find("warmup");
    let warmup_s = warmup.as_ref().map_or(Ok(0.0), |found| found.parse(double))?;
    if let Some(found) = warmup.filter(|_| !(-1e9..=1e9).contains(&warmup_s)) {
        return Err(found.wrong("is beyond all measure", "give seconds"));
    }
    Ok(Movement {
        draws: Draws::TheOne,
        warmup: Duration::from_secs_f64(warmup_s.max(0.0)),
        radios_connect: space.parse("simulateConnections", boolean)?.unwrap_or(true)
            && groups.iter().any(|group| !group.radios.is_empty()),
    })
}

fn reports(run: Run, name: &str) -> Result<Vec<Report>> {
    let space = run.space("Report");
    let Some(count) = space.find("nrofReports") else { return Ok(Vec::new()) };
    let number = count.parse(int)?;
    if !(0..=1000).contains(&number) {
        return Err(count.wrong(format!("is {number}"), "there are 0 to 1000 reports"));
    }
    (1..=number)
        .map(|index| report(&space.need(&format!("report{index}"), "MessageStatsReport")?, run, name))
        .collect()
}

/// A report's settings are those of its class, and behind them those of all reports.
fn report(class: &Found, run: Run, name: &str) -> Result<Report> {
    if !SUPPORTED.contains(&class.value) {
        return Err(class.unsupported(SUPPORTED));
    }
    let space = run.space_or(class.value, "Report");
    let warmup = space.parse("warmup", int)?.unwrap_or(0).max(0);
    let output = match space.find("output") {
        Some(found) => PathBuf::from(run.fill(&found)?),
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
                settings.push((key_name.to_owned(), readable(found.value)));
            }
        }
    }
    Ok(Report {
        class: class.value.to_owned(),
        place: class.place.clone(),
        output,
        warmup: Duration::from_secs(i64::from(warmup)),
        precision: space.parse("precision", int)?.unwrap_or(PRECISION).clamp(0, 100) as u32,
        settings,
    })
}

fn is_report_number(key: &str) -> bool {
    key.strip_prefix("report")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}
