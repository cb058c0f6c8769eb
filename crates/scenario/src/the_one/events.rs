//! `Events`: what is created, and connections from files.

use super::numbers::{double, int, list, range};
use super::properties::readable;
use super::settings::{Found, Run, Space};
use crate::contacts::{
    Channels, EventKind, ExternalEvent, Nodes, Resolver, WayDefault, connections, from_rows, the_one_events,
};
use crate::error::Result;
use crate::files::{Files, locate};
use crate::model::{ContactSource, Draws, Generator, Group, Interval, Shape, Traffic, TrafficKind};
use crate::quantity::Bounds;
use crate::toml_file::created;
use crate::traffic::{never_advances, one_prefix, only_meets_itself};
use lightlag_protocols::time::{Duration, Instant};
use std::sync::Arc;

const CLASSES: &[(&str, Shape)] = &[
    ("MessageEventGenerator", Shape::Pairs),
    ("MessageBurstGenerator", Shape::Burst),
    ("OneFromEachMessageGenerator", Shape::OneFromEach),
    ("OneToEachMessageGenerator", Shape::OneToEach),
];

const EXTERNAL: &str = "ExternalEventsQueue";

/// What the event queues bring.
#[derive(Default)]
pub struct Queues {
    /// Messages.
    pub traffic: Vec<Traffic>,
    /// Connections.
    pub contacts: Vec<ContactSource>,
}

pub fn queues(run: Run, groups: &[Group], duration: Duration, files: &Files) -> Result<Queues> {
    let count = run.space("Events").need("nrof", "1")?;
    let number = count.whole(0, 1000, "there are 0 to 1000 event queues")?;
    let mut queues = Queues::default();
    for index in 1..=number {
        let name = format!("Events{index}");
        let space = run.space(&name);
        // A queue with a file is an external one whatever its class; one with neither is ignored.
        match (space.find("filePath"), space.find("class")) {
            (Some(path), _) => external(name, &path, run, groups, duration, files, &mut queues)?,
            (None, Some(class)) => queues.traffic.push(generator(name, &class, &space, groups)?),
            (None, None) => {}
        }
    }
    match one_prefix(&queues.traffic) {
        Some(again) => again.place.refuse("two generators have one prefix", "give each its own"),
        None => Ok(queues),
    }
}

fn generator(name: String, class: &Found, space: &Space, groups: &[Group]) -> Result<Traffic> {
    let known: Vec<&str> = CLASSES.iter().map(|class| class.0).collect();
    let name_of_class = class.value.strip_prefix("input.").unwrap_or(class.value);
    if name_of_class == EXTERNAL {
        return Err(class.wrong(
            format!("reads a file, but `{name}.filePath` is not set"),
            format!("add `{name}.filePath = events.txt`"),
        ));
    }
    let shape = CLASSES
        .iter()
        .find(|known| known.0 == name_of_class)
        .ok_or_else(|| class.unsupported(&[&known[..], &[EXTERNAL]].concat()))?;
    let positive = |found: &Found| {
        let (low, high) = found.parse(|text| range(text, true, int))?;
        let bounds = u64::try_from(low).ok().zip(u64::try_from(high).ok());
        bounds
            .map(|(low, high)| Bounds { low, high })
            .ok_or_else(|| found.wrong("is negative", "give numbers from zero on"))
    };
    let size = space.need("size", "50k,100k")?;
    let interval = space.need("interval", "25,35")?;
    let (size_range, interval_range) = (positive(&size)?, Interval::WholeSeconds(positive(&interval)?));
    if size_range.low == 0 {
        return Err(size.wrong("allows empty messages", "begin above zero"));
    }
    if never_advances(&interval_range) {
        return Err(interval.wrong("creates messages without end", "let it reach above zero"));
    }
    let hosts = space.need("hosts", "0,50")?;
    let from = addresses(&hosts, groups)?;
    let to_hosts = space.find("tohosts");
    if to_hosts.is_none() && matches!(shape.1, Shape::OneFromEach | Shape::OneToEach) {
        return Err(class.wrong("needs destinations", format!("set `{name}.tohosts`")));
    }
    let to = to_hosts.as_ref().map_or(Ok(from.clone()), |found| addresses(found, groups))?;
    let (start, end) = window(space)?;
    let generator = Generator {
        prefix: space.need("prefix", "M")?.value.to_owned(),
        shape: shape.1,
        interval: interval_range,
        size: size_range,
        from,
        to,
        start,
        end,
        draws: Draws::TheOne,
    };
    if only_meets_itself(&generator) {
        let found = to_hosts.as_ref().unwrap_or(&hosts);
        return Err(found.wrong("leaves a host only itself to send to", "let it hold another host"));
    }
    Ok(Traffic { name, place: class.place.clone(), lifetime: None, kind: TrafficKind::Random(generator) })
}

/// From the first, up to the second without it; the same address twice is that one host.
fn addresses(found: &Found, groups: &[Group]) -> Result<Vec<u32>> {
    let (low, high) = found.parse(|text| range(text, false, int))?;
    let count: u32 = groups.iter().map(Group::count).sum();
    let (low, high) = (i64::from(low), i64::from(if low == high { high.saturating_add(1) } else { high }));
    if low < 0 || high > i64::from(count) {
        return Err(found.wrong(
            "names hosts that do not exist",
            format!(
                "hosts are numbered from 0 to {}, and the upper bound does not count",
                count.saturating_sub(1)
            ),
        ));
    }
    Ok((low as u32..high as u32).collect())
}

fn window(space: &Space) -> Result<(Instant, Instant)> {
    let Some(found) = space.find("time") else { return Ok((Instant::ZERO, Instant::MAX)) };
    match found.parse(|text| list(text, double))?[..] {
        [start, end] if (0.0..=1e9).contains(&start) && start <= end => {
            Ok((Instant::from_secs_f64(start), Instant::from_secs_f64(end.min(3e9))))
        }
        _ => Err(found.wrong("is no span of time", "give start and end in seconds, like 0, 3600")),
    }
}

fn external(
    name: String,
    path: &Found,
    run: Run,
    groups: &[Group],
    duration: Duration,
    files: &Files,
    queues: &mut Queues,
) -> Result<()> {
    let file = locate(&readable(&run.fill(path)?), &path.folders());
    if file.extension().is_some_and(|end| end == "binee") {
        return Err(path.wrong("names serialised Java objects", "name a text file of events"));
    }
    let bytes = files.read(&file, path.place)?;
    let events = the_one_events(&file.display().to_string(), &bytes)?;
    if let Some(event) = events.iter().find(|event| matches!(event.kind, EventKind::Decision(_))) {
        return event.place.refuse(
            "the event commands a router",
            "only C and CONN are supported: what is sent and dropped is for the router to decide",
        );
    }
    let count = groups.iter().map(Group::count).sum();
    let messages = created(&events, count)?;
    if !messages.is_empty() {
        let kind = TrafficKind::Listed(Arc::new(messages));
        queues.traffic.push(Traffic { name: name.clone(), place: path.place.clone(), lifetime: None, kind });
    }
    let told = told(&events, groups, count, duration)?;
    let connects = events.iter().any(|event| matches!(event.kind, EventKind::Connection { up: true, .. }));
    if told.is_empty() && connects {
        return Err(path.wrong("has no contact in the run", "see to its times and `Scenario.endTime`"));
    }
    if !told.is_empty() {
        queues.contacts.push(ContactSource::new(name, told, false));
    }
    Ok(())
}

/// A connection has the lower rate of both hosts' first interfaces, or of those that it names.
fn told(
    events: &[ExternalEvent],
    groups: &[Group],
    count: u32,
    duration: Duration,
) -> Result<Vec<crate::model::ScheduledContact>> {
    let nodes = Nodes { count, ..Nodes::default() };
    let radios: Vec<&Group> =
        groups.iter().flat_map(|group| std::iter::repeat_n(group, group.nodes.len())).collect();
    let mut channels = Channels::default();
    for event in events {
        let EventKind::Connection { a, b, interface, .. } = &event.kind else { continue };
        let rate = |node: u32| {
            let group = radios.get(node as usize)?;
            let named = |name: &String| group.radios.iter().find(|radio| radio.name == *name);
            interface.as_ref().map_or_else(|| group.radios.first(), named).map(|radio| radio.rate)
        };
        let rate = rate(*a).zip(rate(*b)).map(|(a, b)| a.min(b));
        for pair in [(*a, *b), (*b, *a)] {
            channels.pairs.insert(pair, WayDefault { rate, delay: None });
        }
    }
    let until = Instant::ZERO.saturating_add(duration);
    let resolver = Resolver { nodes: &nodes, channels: &channels, until, origin: Instant::ZERO };
    from_rows(&connections(events)?, &resolver)
}
