//! `Report`: which report files a run writes.

use super::numbers::{double, int, list};
use super::properties::readable;
use super::settings::{Found, Run, Space};
use super::time;
use crate::error::{Result, quoted, suggestion};
use crate::model::Report;
use lightlag_protocols::time::Duration;
use std::path::{Component, Path, PathBuf};

/// A class of reports.
#[derive(Clone, Copy, Debug)]
pub struct ReportClass {
    /// Its name in The ONE, its namespace too.
    pub name: &'static str,
    /// Its settings beside `warmup`, `precision` and `output`.
    pub settings: &'static [&'static str],
}

const GRANULARITY: &[&str] = &["granularity"];

const OF_MESSAGES: &[&str] = &["granularity", "messages"];

const fn class(name: &'static str, settings: &'static [&'static str]) -> ReportClass {
    ReportClass { name, settings }
}

/// The report classes that can be written.
pub const REPORTS: &[ReportClass] = &[
    class("AdjacencyGraphvizReport", &[]),
    class("BufferOccupancyReport", &["occupancyInterval"]),
    class("ConnectivityDtnsim2Report", &[]),
    class("ConnectivityONEReport", &[]),
    class("ContactTimesReport", GRANULARITY),
    class("ContactsDuringAnICTReport", &[]),
    class("ContactsPerHourReport", &[]),
    class("CreatedMessagesReport", &[]),
    class("DeliveredMessagesReport", &[]),
    class("DistanceDelayReport", &[]),
    class("EncountersVSUniqueEncountersReport", &[]),
    class("EventLogReport", &[]),
    class("InterContactTimesReport", GRANULARITY),
    class("LocationSnapshotReport", &["granularity", "nodes"]),
    class("MessageAvailabilityReport", &["granularity", "messages", "nrofHosts"]),
    class("MessageCopyCountReport", OF_MESSAGES),
    class("MessageDelayReport", &[]),
    class("MessageDeliveryReport", &[]),
    class("MessageGraphvizReport", &[]),
    class("MessageLocationReport", OF_MESSAGES),
    class("MessageReport", &[]),
    class("MessageStatsReport", &[]),
    class("PingAppReporter", &[]),
    class("TotalContactTimeReport", GRANULARITY),
    class("TotalEncountersReport", &[]),
    class("UniqueEncountersReport", &[]),
];

/// Their names.
pub const REPORT_CLASSES: &[&str] = &{
    let mut names = [""; REPORTS.len()];
    let mut at = 0;
    while at < REPORTS.len() {
        names[at] = REPORTS[at].name;
        at += 1;
    }
    names
};

/// The ONE's decimals.
pub const PRECISION: i32 = 4;

pub fn reports(run: Run, name: &str) -> Result<Vec<Report>> {
    let space = run.space("Report");
    let Some(count) = space.find("nrofReports") else { return Ok(Vec::new()) };
    let number = count.whole(0, 1000, "there are 0 to 1000 reports")?;
    let mut reports = Vec::new();
    for index in 1..=number {
        let class = space.need(&format!("report{index}"), "MessageStatsReport")?;
        reports.extend(report(&class, run, name)?);
    }
    Ok(reports)
}

/// A report, unless it is of a class that cannot be written.
fn report(found: &Found, run: Run, name: &str) -> Result<Option<Report>> {
    let class_name = found.value.strip_prefix("report.").unwrap_or(found.value);
    let Some(class) = REPORTS.iter().find(|class| class.name == class_name) else {
        let names: Vec<&str> = REPORTS.iter().map(|class| class.name).collect();
        let meant = suggestion(class_name, &names);
        let meant = if meant.starts_with("did") { meant } else { "run The ONE for it".to_owned() };
        run.notes.warn(format!("{}: {} is not written; {meant}", found.place, quoted(found.value)));
        return Ok(None);
    };
    // A report's settings are those of its class, and behind them those of all reports.
    let space = run.space_or(class.name, "Report");
    let output = match space.find("output") {
        Some(found) => output(run, &found)?,
        None => {
            let folder = run.space("Report").need("reportDir", "reports/")?;
            Path::new(&readable(folder.value)).join(format!("{name}_{}.txt", class.name))
        }
    };
    let mut settings: Vec<(String, String)> = Vec::new();
    for &name in class.settings {
        let Some(found) = space.find(name) else { continue };
        let value = match name {
            "messages" => found.value.to_owned(),
            "nodes" => found
                .parse(|text| list(text, int))?
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(","),
            "nrofHosts" => found.whole(-1, i32::MAX, "give a number of hosts")?.to_string(),
            _ => {
                time(&found)?;
                found.parse(double)?.to_string()
            }
        };
        settings.push((name.to_owned(), value));
    }
    Ok(Some(Report {
        class: class.name.to_owned(),
        place: found.place.clone(),
        output,
        warmup: Duration::from_secs(i64::from(whole(&space, "warmup", 0, i32::MAX)?)),
        precision: whole(&space, "precision", PRECISION, 100)?.unsigned_abs(),
        settings,
    }))
}

/// A whole number from zero on.
fn whole(space: &Space, key: &str, default: i32, most: i32) -> Result<i32> {
    let right = format!("give a whole number from 0 to {most}");
    space.find(key).map_or(Ok(default), |found| found.whole(0, most, &right))
}

/// Whether a file lies below the folder where the program was started.
pub fn inside(path: &str) -> bool {
    let path = Path::new(path);
    let below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    below && path.file_name().is_some()
}

/// A file below the folder where the program was started.
fn output(run: Run, found: &Found) -> Result<PathBuf> {
    let path = run.fill(found)?;
    if inside(&path) {
        return Ok(PathBuf::from(path));
    }
    Err(found.wrong("leads out of the folder of the run", "name a file below it, like reports/stats.txt"))
}
