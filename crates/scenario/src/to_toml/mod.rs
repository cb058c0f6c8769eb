//! The ONE's settings as TOML: a scenario that they describe, written with the keys of [`crate::keys`].
//!
//! What is written is the scenario that was read, so that both files are one run. Each key has a comment: the setting that
//! it comes from, and what it means.

mod nodes;
mod text;
mod traffic;

use crate::budget::Limits;
use crate::keys;
use crate::model::{BundleNetwork, Draws, Movement, Report};
use crate::toml_file::key_of;
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::Duration;
use lightlag_worlds::messages::{Control, Rules, SendOrderKind};
use std::path::{Component, Path, PathBuf};
use text::{Document, bytes, plain, time};

/// What is known of the settings beside the scenario.
pub struct Origin<'a> {
    /// Whether a setting is given.
    pub is_set: &'a dyn Fn(&str) -> bool,
    /// The folder of the TOML file: names of files are relative to it.
    pub folder: &'a Path,
}

impl Origin<'_> {
    /// The setting's name, if it is given.
    fn of(&self, key: &str) -> String {
        if (self.is_set)(key) { key.to_owned() } else { String::new() }
    }
    /// A setting of a group: that of its own namespace, or else of all groups.
    fn of_group(&self, group: &str, key: &str) -> String {
        let is_full = key.contains('.') && !key.starts_with("net.") && !key.starts_with("mechanism.");
        if key.is_empty() || is_full {
            return self.of(key);
        }
        let own = self.of(&format!("{group}.{key}"));
        if own.is_empty() { self.of(&format!("Group.{key}")) } else { own }
    }
    /// A file, as the TOML file names it.
    fn path(&self, file: &Path) -> String {
        let relative = if file.is_absolute() { None } else { relative(file, self.folder) };
        relative.unwrap_or_else(|| file.to_owned()).display().to_string()
    }
}

/// A file relative to a folder; `None` where one of them cannot be found.
fn relative(file: &Path, folder: &Path) -> Option<PathBuf> {
    let (file, folder) = (file.canonicalize().ok()?, folder.canonicalize().ok()?);
    let shared = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    Some(up.chain(file.components().skip(shared)).collect())
}

/// The scenario in TOML, with these comments before it.
pub fn to_toml(network: &BundleNetwork, comments: &[String], origin: &Origin) -> String {
    let mut document = Document::new(keys::BUNDLES);
    comments.iter().for_each(|line| document.comment(line));
    document.key("name", network.head.name.as_str(), &origin.of("Scenario.name"));
    document.key("duration", time(network.head.duration), "Scenario.endTime");
    if network.measure_from > Duration::ZERO {
        document.key("measure_from", time(network.measure_from), "the warmup of MessageStatsReport");
    }
    let shared = nodes::Shared::of(&network.groups);
    shared.write(&mut document, &network.groups, origin);
    limits(&mut document, network.head.limits, origin);
    document.table(&["world"], keys::WORLD);
    movement(&mut document, network, origin);
    rules(&mut document, &network.rules, origin);
    nodes::groups(&mut document, &network.groups, &shared, origin);
    traffic::contacts(&mut document, network, origin);
    traffic::sources(&mut document, network, origin);
    reports(&mut document, &network.reports, origin);
    document.text()
}

fn limits(document: &mut Document, limits: Limits, origin: &Origin) {
    if limits != Limits::default() {
        document.table(&["limits"], keys::LIMITS);
        document.key("events", limits.events, &origin.of("Limits.events"));
        document.key("memory", bytes(limits.memory), &origin.of("Limits.memory"));
    }
}

fn movement(document: &mut Document, network: &BundleNetwork, origin: &Origin) {
    let Movement { draws, warmup, radios_connect } = network.movement;
    if draws == Draws::TheOne {
        document.key("draws", "the_one", "");
        document.key("rng_seed", network.head.own_seed as i64, &origin.of("MovementModel.rngSeed"));
    }
    if warmup > Duration::ZERO {
        document.key("warmup", time(warmup), &origin.of("MovementModel.warmup"));
    }
    if !radios_connect {
        document.key("radios_connect", false, &origin.of("Scenario.simulateConnections"));
    }
}

fn rules(document: &mut Document, rules: &Rules, origin: &Origin) {
    if let Some(tick) = rules.tick {
        document.key("tick", time(tick), &origin.of("Scenario.updateInterval"));
    }
    let radio = match rules.radio {
        Radio::Node => "node",
        Radio::Link => "link",
        Radio::Direction => "direction",
    };
    document.key("radio", radio, "");
    let propagation = match rules.propagation {
        Propagation::Pipelined => "pipelined",
        Propagation::StopAndWait => "stop_and_wait",
    };
    document.key("propagation", propagation, "");
    if rules.control == Control::Instant {
        document.key("control", "instant", "");
    }
    let order = match rules.send_order {
        SendOrderKind::Fifo => "fifo",
        SendOrderKind::Random => "random",
        SendOrderKind::Clock => "clock",
    };
    document.key("send_order", order, &origin.of("Group.sendQueue"));
    if rules.act_by_number {
        document.key("act_order", "by_number", &origin.of("Optimization.randomizeUpdateOrder"));
    }
    if let Some(every) = rules.purge_every {
        document.key("purge_every", time(every), "");
    }
    if let Some(every) = rules.sample_every {
        document.key("sample_every", time(every), "");
    }
}

fn reports(document: &mut Document, all: &[Report], origin: &Origin) {
    for (report, number) in all.iter().zip(1..) {
        let name = format!("{}-{number}", plain(&report.class));
        document.table(&["reports", &name], keys::REPORT);
        document.key("class", report.class.as_str(), &origin.of(&format!("Report.report{number}")));
        document.key("file", report.output.display().to_string(), &origin.of("Report.reportDir"));
        if report.warmup > Duration::ZERO {
            document.key("warmup", time(report.warmup), &origin.of("Report.warmup"));
        }
        document.key("precision", i64::from(report.precision), &origin.of("Report.precision"));
        for (setting, value) in &report.settings {
            let from = origin.of(&format!("{}.{setting}", report.class));
            match setting.as_str() {
                "messages" | "nodes" => document.key(key_of(setting), value.as_str(), &from),
                "nrofHosts" => {
                    document.key(key_of(setting), value.parse::<i64>().unwrap_or_default().max(0), &from)
                }
                _ => document.key(key_of(setting), format!("{value} s"), &from),
            }
        }
    }
}
