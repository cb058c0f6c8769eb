//! `Events`: what is created, and connections from files.

use super::external::external;
use super::numbers::{double, int, list, range};
use super::settings::{Found, Run, Space};
use crate::error::Result;
use crate::files::Files;
use crate::model::{
    ContactSource, Draws, Generator, Group, Interval, NODES_MAX, Shape, Traffic, TrafficKind,
};
use crate::quantity::Bounds;
use crate::traffic::{never_advances, one_prefix, only_meets_itself};
use lightlag_protocols::time::{Duration, Instant};

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
            (Some(path), _) => {
                space.find("nrofPreload");
                if let Err(error) = external(name, &path, run, groups, duration, files, &mut queues) {
                    run.layers.at(&error.place).map_or(Ok(()), |_| Err(error.clone()))?;
                    // A fault inside the file: the rest of the settings can be read without it.
                    run.notes.record(error);
                }
            }
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
    let from = addresses(&hosts, groups, space.run)?;
    let to_hosts = space.find("tohosts");
    if to_hosts.is_none() && matches!(shape.1, Shape::OneFromEach | Shape::OneToEach) {
        return Err(class.wrong("needs destinations", format!("set `{name}.tohosts`")));
    }
    let to = to_hosts.as_ref().map_or(Ok(from.clone()), |found| addresses(found, groups, space.run))?;
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
        seed: None,
    };
    if only_meets_itself(&generator) {
        let found = to_hosts.as_ref().unwrap_or(&hosts);
        return Err(found.wrong("leaves a host only itself to send to", "let it hold another host"));
    }
    let kind = TrafficKind::Random(generator);
    Ok(Traffic { name, place: class.place.clone(), lifetime: None, replies: None, file: None, kind })
}

/// From the first, up to the second without it; the same address twice is that one host. Hosts that do not exist are
/// drawn too: The ONE stops at their first message, in the middle of the run.
fn addresses(found: &Found, groups: &[Group], run: Run) -> Result<Vec<u32>> {
    let (low, high) = found.parse(|text| range(text, false, int))?;
    let count: u32 = groups.iter().map(Group::count).sum();
    let (low, high) = (i64::from(low), i64::from(if low == high { high.saturating_add(1) } else { high }));
    let right = format!("hosts are numbered from 0 to {}", count.saturating_sub(1));
    if low < 0 || high > NODES_MAX as i64 {
        return Err(found
            .wrong("names hosts that cannot exist", format!("{right}, and the upper bound does not count")));
    }
    let beyond = high - low.max(i64::from(count));
    if beyond > 0 {
        run.notes.warn(format!(
            "{}: `{}` has {beyond} of {} hosts that do not exist ({right}): their messages are skipped; The ONE stops at \
             the first of them",
            found.place,
            found.key,
            high - low
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
        _ => Err(found.wrong("is not a span of time", "give start and end in seconds, like 0, 3600")),
    }
}
