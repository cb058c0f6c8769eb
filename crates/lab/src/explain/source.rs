//! Where the records come from: a run that is done again, or a trace of it.

use super::collect::Collector;
use super::flows::{Counter, Names};
use super::{Asked, Explanation, explain};
use crate::run::{ContactsCache, Progress};
use lightlag_judge::trace::{NameRow, PacketRow, Row, TraceError, TraceRow, rows};
use lightlag_protocols::dtn::{BundleId, NodeId};
use lightlag_protocols::ndn::{Name, Prefix};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::parse::quoted;
use lightlag_scenario::names::NameNetwork;
use lightlag_scenario::packets::{LinkPlan, Network};
use lightlag_scenario::{Error, Place, Result, Scenario, Seed};
use lightlag_worlds::{messages, names, packets};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn collector(asked: Asked) -> Collector {
    Collector::with_life(match asked {
        Asked::Bundle(id) | Asked::AllCopies(id) => Some(BundleId(id)),
        _ => None,
    })
}

/// The number of the bundle that a run with a seed creates by a name, such as The ONE's `M17`.
///
/// # Errors
/// A scenario that cannot be run, or a name that none of its bundles has.
pub fn bundle_of_name(scenario: &Scenario, seed: Seed, name: &str) -> Result<u32> {
    let place = Place::File(scenario.head().name.as_str().into());
    let Scenario::Bundles(network) = scenario else {
        return Err(wrong_bundle(&place, "the run has no bundles; leave it out"));
    };
    let seeded = network.seeded(seed)?;
    let names = || seeded.messages.iter().map(|message| message.name.as_str());
    let number = names().position(|known| known == name).and_then(|at| u32::try_from(at).ok());
    number.ok_or_else(|| {
        let right = match (names().next(), names().next_back()) {
            (Some(first), Some(last)) => {
                format!(
                    "name one, as {first} or {last}, or give a number from 0 to {}",
                    seeded.messages.len() - 1
                )
            }
            _ => "the run creates none".to_owned(),
        };
        wrong_bundle(&place, &format!("unknown bundle {}; {right}", quoted(name)))
    })
}

/// Runs a scenario with a seed, reporting how far the run has come, and explains it.
///
/// # Errors
/// What is wrong with the scenario; a bundle that the run does not create.
pub fn of_run(
    scenario: &Scenario,
    seed: Seed,
    cache: &ContactsCache,
    asked: Asked,
    progress: Option<Progress>,
) -> Result<Explanation> {
    let place = Place::File(scenario.head().name.as_str().into());
    let network = match scenario {
        Scenario::Bundles(network) => network,
        Scenario::Packets(network) => {
            let mut run = Counter::of_packets(of_flows(network));
            let ended = packets::run(&network.setup(seed), &mut (&mut run, progress)).ended;
            run.on_packets(ended, &lightlag_judge::packets::Event::End);
            return run.explain(asked).map_err(|what| wrong_bundle(&place, &what));
        }
        Scenario::Names(network) => {
            let mut run = Counter::of_names(of_prefixes(network));
            let ended = names::run(&network.setup(seed), &mut (&mut run, progress)).ended;
            run.on_names(ended, &lightlag_judge::names::Event::End);
            return run.explain(asked).map_err(|what| wrong_bundle(&place, &what));
        }
    };
    let seeded = network.seeded(seed)?;
    let setup = seeded.setup(cache.get(&seeded)?);
    let mut run = collector(asked);
    network.node_names().zip(0..).for_each(|(name, number)| run.name(NodeId(number), name));
    messages::run(&setup, &mut (&mut run, progress));
    explain(&run, asked).map_err(|what| wrong_bundle(&place, &what))
}

fn of_links(links: &[LinkPlan]) -> BTreeMap<u32, String> {
    (0..).zip(links.iter().map(|link| link.name.clone())).collect()
}

fn of_flows(network: &Network) -> Names {
    let flows = network.flows.iter().map(|flow| flow.name.clone());
    Names { links: of_links(&network.links), groups: (0..).zip(flows).collect() }
}

fn of_prefixes(network: &NameNetwork) -> Names {
    let text = |number: u32| network.names.text(Name { prefix: Prefix(number), segment: Name::WHOLE });
    let prefixes = (0..network.names.count() as u32).map(|number| (number, text(number)));
    Names { links: of_links(&network.links), groups: prefixes.collect() }
}

fn wrong_bundle(place: &Place, what: &str) -> Error {
    let (what, right) = what.split_once("; ").unwrap_or((what, "see `created` in the summary"));
    Error::new(place, format!("--bundle: {what}"), right)
}

/// Explains the run of which this is the trace: a file that `run --trace` wrote, or a folder with one.
///
/// # Errors
/// What is wrong with the file; a bundle that the run did not create.
pub fn of_trace(path: &Path, asked: Asked) -> Result<Explanation> {
    let path = trace_file(path)?;
    let place = Place::File(path.display().to_string().as_str().into());
    let wrong = |error: TraceError| {
        Error::new(&place, error.to_string(), "name a trace that `lightlag run --trace` wrote, or a scenario")
    };
    let made = match kind(&path).map_err(wrong)? {
        Kind::Bundles => explain(&read_bundles(&path, asked).map_err(wrong)?, asked),
        Kind::Packets => {
            let mut run = Counter::of_packets(Names::default());
            read(&path, |row: &PacketRow, now, event| {
                run.names.learn(row.link.zip(row.link_name.as_ref()), row.flow.zip(row.flow_name.as_ref()));
                run.on_packets(now, event);
                *event == lightlag_judge::packets::Event::End
            })
            .map_err(wrong)?;
            run.explain(asked)
        }
        Kind::Names => {
            let mut run = Counter::of_names(Names::default());
            read(&path, |row: &NameRow, now, event| {
                let prefix = row.prefix.zip(row.prefix_name.as_ref());
                run.names.learn(row.link.zip(row.link_name.as_ref()), prefix);
                run.on_names(now, event);
                *event == lightlag_judge::names::Event::End
            })
            .map_err(wrong)?;
            run.explain(asked)
        }
    };
    made.map_err(|what| wrong_bundle(&place, &what))
}

/// The world of a trace.
enum Kind {
    Bundles,
    Packets,
    Names,
}

/// The first row shows it.
fn kind(path: &Path) -> std::result::Result<Kind, TraceError> {
    fn first<R: TraceRow>(path: &Path) -> std::result::Result<(), TraceError> {
        let Some(row) = rows::<R>(path)?.next() else { return Ok(()) };
        row?.event().map(drop).map_err(|what| TraceError::Row { row: 1, what })
    }
    let Err(of_bundles) = first::<Row>(path) else { return Ok(Kind::Bundles) };
    if first::<PacketRow>(path).is_ok() {
        return Ok(Kind::Packets);
    }
    if first::<NameRow>(path).is_ok() { Ok(Kind::Names) } else { Err(of_bundles) }
}

fn read_bundles(path: &Path, asked: Asked) -> std::result::Result<Collector, TraceError> {
    let mut run = collector(asked);
    read(path, |row: &Row, now, record| {
        if let (Record::Node { node, .. }, Some(name)) = (record, &row.node_name) {
            run.name(*node, name);
        }
        run.on_record(now, record);
        *record == Record::End
    })?;
    Ok(run)
}

/// Reads all rows; `each` says whether a row is the end of the run.
fn read<R: TraceRow>(
    path: &Path,
    mut each: impl FnMut(&R, Instant, &R::Event) -> bool,
) -> std::result::Result<(), TraceError> {
    let mut ended = false;
    for (row, number) in rows::<R>(path)?.zip(1..) {
        let row = row?;
        let event = row.event().map_err(|what| TraceError::Row { row: number, what })?;
        ended |= each(&row, row.at(), &event);
    }
    match ended {
        true => Ok(()),
        false => Err(TraceError::Format("it has no row `end`: the run was cut off".to_owned())),
    }
}

/// Ends of names of traces.
const ENDS: [&str; 2] = ["parquet", "jsonl"];

/// Whether a path is one of a trace: a folder, or a file of such a name.
pub fn is_trace(path: &Path) -> bool {
    path.is_dir() || has_trace_name(path)
}

fn has_trace_name(path: &Path) -> bool {
    path.extension().is_some_and(|end| ENDS.iter().any(|known| end == *known))
}

/// Whether a file is a trace of a run: its first row is read.
///
/// # Errors
/// What is wrong with it.
pub fn check_trace(path: &Path) -> Result<()> {
    let place = Place::File(path.display().to_string().as_str().into());
    let right = "name a trace that `lightlag run --trace` wrote";
    kind(path).map(drop).map_err(|error| Error::new(&place, error.to_string(), right))
}

/// The only trace of a folder; a file is itself.
///
/// # Errors
/// A folder without a trace, or with several.
pub fn trace_file(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let place = Place::File(path.display().to_string().as_str().into());
    let wrong = |what: String| Error::new(&place, what, "name the file that `lightlag run --trace` wrote");
    let entries = std::fs::read_dir(path).map_err(|error| wrong(error.to_string()))?;
    let named = entries.filter_map(|entry| Some(entry.ok()?.path()));
    // A folder of `run --out` has a table of samples, too.
    let mut traces: Vec<PathBuf> =
        named.filter(|file| has_trace_name(file) && !file.ends_with("series.parquet")).collect();
    traces.sort();
    if traces.iter().any(|file| file.ends_with("results.parquet")) {
        let what = "the folder is of a sweep, which keeps figures and no records";
        return Err(Error::new(&place, what, "name its scenario, with --point and --seed to choose a run"));
    }
    match &traces[..] {
        [one] => Ok(one.clone()),
        [] => Err(wrong("the folder has no trace (.parquet or .jsonl)".to_owned())),
        [one, other, ..] => {
            let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Err(wrong(format!("the folder has several traces: {}, {}", name(one), name(other))))
        }
    }
}
