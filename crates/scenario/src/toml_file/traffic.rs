//! `[traffic.NAME]`: what is sent.

use super::names::Names;
use super::section::{Section, items};
use super::{Context, named, read_file};
use crate::contacts::{EventKind, executed, the_one_events};
use crate::error::{Place, Result};
use crate::keys;
use crate::model::{Draws, Generator, Interval, ListedMessage, Replies, Shape, Traffic, TrafficKind};
use crate::quantity::{self as q, Bounds};
use crate::traffic::{never_advances, one_prefix, only_meets_itself};
use crate::tree::Node;
use lightlag_protocols::record::bundles::ReplyKind;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use std::ops::Range;
use std::sync::Arc;

const RANDOM_KEYS: &[&str] = &[
    "interval", "arrivals", "size", "from", "to", "lifetime", "prefix", "start", "end", "shape", "reply",
    "replies", "reply_as", "seed",
];
const LISTED_KEYS: &[&str] =
    &["events", "file", "lifetime", "prefix", "reply", "replies", "reply_as", "unknown_nodes"];

/// How an interval is drawn.
#[derive(Clone, Copy)]
enum Arrivals {
    WholeSeconds,
    Uniform,
    Exponential,
}

const ARRIVALS: &[(&str, Arrivals)] = &[
    ("whole_seconds", Arrivals::WholeSeconds),
    ("uniform", Arrivals::Uniform),
    ("exponential", Arrivals::Exponential),
];
const SHAPES: &[(&str, Shape)] = &[
    ("pairs", Shape::Pairs),
    ("burst", Shape::Burst),
    ("one_from_each", Shape::OneFromEach),
    ("one_to_each", Shape::OneToEach),
    ("ping", Shape::Ping),
];
const REPLIES: &[(&str, ReplyKind)] = &[("response", ReplyKind::Response), ("pong", ReplyKind::Pong)];

pub fn sources(root: &Section, names: &Names, duration: Duration, context: &Context) -> Result<Vec<Traffic>> {
    let sections = named(root, "traffic", keys::TRAFFIC)?;
    names.check_tables(sections.len(), &root.place_of("traffic"))?;
    let traffic: Vec<Traffic> = sections
        .into_iter()
        .map(|(name, section)| source(name, &section, names, duration, context))
        .collect::<Result<_>>()?;
    match one_prefix(&traffic) {
        Some(again) => again.place.refuse(
            "two traffic sources have one prefix",
            "give each its own, since it names its random stream",
        ),
        None => Ok(traffic),
    }
}

fn source(
    name: String,
    section: &Section,
    names: &Names,
    duration: Duration,
    context: &Context,
) -> Result<Traffic> {
    let lifetime = section.quantity("lifetime", q::positive_time)?;
    let listed = section.get("events").is_some() || section.get("file").is_some();
    section.allow(if listed { LISTED_KEYS } else { RANDOM_KEYS })?;
    let prefix = section.text("prefix")?.map_or_else(|| format!("{name}_"), str::to_owned);
    let kind = if listed {
        let mut list = listed_messages(section, &prefix, names, context)?;
        list.sort_by_key(|message| message.at);
        TrafficKind::Listed(Arc::new(list))
    } else {
        TrafficKind::Random(generator(section, prefix, names, duration)?)
    };
    let replies = replies(section, names)?;
    Ok(Traffic { name, place: section.place.clone(), lifetime, replies, file: None, kind })
}

/// `reply = "5 kB"`, or `replies = [{ size = "5 kB", from = "people" }]` where not all nodes reply alike.
fn replies(section: &Section, names: &Names) -> Result<Option<Replies>> {
    let kind = section.word("reply_as", REPLIES)?;
    let all = section.quantity("reply", q::bytes)?.map(|size| (0..names.nodes.len() as u32, size));
    let by = match (all, section.get("replies")) {
        (None, None) if kind.is_some() => {
            return section.refuse("reply_as", "nothing replies", "add `reply = \"5 kB\"`");
        }
        (None, None) => return Ok(None),
        (Some(all), None) => vec![all],
        (None, Some(node)) => some_reply(node, &section.key("replies"), names)?,
        (Some(_), Some(node)) => {
            return node.place.refuse("both `reply` and `replies` are given", "give one of them");
        }
    };
    if by.iter().any(|(_, size)| size.get() == 0) {
        let place = section.place_of(if section.get("reply").is_some() { "reply" } else { "replies" });
        return place.refuse("the reply is empty", "give it a size above zero");
    }
    Ok(Some(Replies { by, kind: kind.unwrap_or(ReplyKind::Response) }))
}

fn some_reply(node: &Node, path: &str, names: &Names) -> Result<Vec<(Range<u32>, Bytes)>> {
    let each = |item: &Arc<Node>| {
        let section = Section::new(item, path, keys::REPLY)?;
        let nodes = section.need("from", "\"all\"", |text| names.span(text))?;
        Ok((nodes, section.need("size", "\"5 kB\"", q::bytes)?))
    };
    items(node, path, "{ size, from }", "add a size")?.iter().map(each).collect()
}

fn generator(section: &Section, prefix: String, names: &Names, duration: Duration) -> Result<Generator> {
    let all = (0..names.nodes.len() as u32).collect();
    let select = |key: &str| section.quantity(key, |text| names.select(text));
    let start = section.quantity("start", q::signed_time)?.unwrap_or_default();
    let is_the_one = names.draws == Draws::TheOne;
    if start < Duration::ZERO && !is_the_one {
        let right = "give a time from zero on; only The ONE's draws may start earlier";
        return section.refuse("start", "the traffic starts before the run", right);
    }
    let end = section.quantity("end", q::time)?.unwrap_or(Duration::MAX);
    if start >= duration && !is_the_one {
        return section.refuse(
            "start",
            "the traffic starts when the run is over",
            format!("begin before its end at {} s", duration.as_secs_f64()),
        );
    }
    if end < start {
        return section.refuse(
            "end",
            "the traffic ends before it starts",
            "its end must lie after its start",
        );
    }
    let to = select("to")?.unwrap_or_else(|| Vec::clone(&all));
    let from = select("from")?.unwrap_or(all);
    let from = if is_the_one { from } else { without_lone_destination(from, &to) };
    let generator = Generator {
        prefix,
        shape: section.word("shape", SHAPES)?.unwrap_or(Shape::Pairs),
        interval: interval(section)?,
        size: size(section)?,
        from,
        to,
        start: Instant::ZERO.saturating_add(start),
        end: Instant::ZERO.saturating_add(end),
        draws: names.draws,
        seed: seed(section, names.draws)?,
    };
    let is_lost = only_meets_itself(&generator) && !(is_the_one && generator.shape == Shape::Ping);
    if generator.from.is_empty() || is_lost {
        return section.refuse(
            "to",
            "a node could only send to itself",
            "let `to` offer another node than `from`",
        );
    }
    Ok(generator)
}

/// The seed of The ONE's draws.
fn seed(section: &Section, draws: Draws) -> Result<Option<i32>> {
    let seed = section.whole("seed", i64::from(i32::MIN), i64::from(i32::MAX))?;
    if seed.is_some() && draws == Draws::Lightlag {
        let what = format!("`{}` is a seed of The ONE's draws", section.key("seed"));
        return section.refuse("seed", what, "leave it out, or set `world.draws = \"the_one\"`");
    }
    Ok(seed.and_then(|seed| i32::try_from(seed).ok()))
}

/// A node is never its own destination: where there is one destination, it sends nothing.
fn without_lone_destination(mut from: Vec<u32>, to: &[u32]) -> Vec<u32> {
    if let [lone] = to {
        from.retain(|node| node != lone);
    }
    from
}

/// `[low, high)` in bytes; The ONE's bounds.
fn size(section: &Section) -> Result<Bounds<u64>> {
    let size = section.need("size", "\"50..100 kB\"", q::sizes)?;
    if size.low.get() == 0 {
        return section.refuse("size", "messages could be empty", "begin with a size above zero");
    }
    Ok(Bounds { low: size.low.get(), high: size.high.get() })
}

/// Whole seconds in `[low, high)` unless the bounds have fractions or `arrivals` says otherwise.
fn interval(section: &Section) -> Result<Interval> {
    let place = section.place_of("interval");
    let bounds = section.need("interval", "\"1..300 s\"", q::times)?;
    let is_whole = |time: Duration| time.as_nanos() % 1_000_000_000 == 0;
    let whole = is_whole(bounds.low) && is_whole(bounds.high);
    let arrivals = section.word("arrivals", ARRIVALS)?;
    let interval = match arrivals.unwrap_or(if whole { Arrivals::WholeSeconds } else { Arrivals::Uniform }) {
        Arrivals::WholeSeconds if !whole => {
            return place.refuse(
                "the interval has fractions of a second",
                "give whole seconds, or arrivals = \"uniform\"",
            );
        }
        Arrivals::WholeSeconds => {
            let s = |time: Duration| (time.as_nanos() / 1_000_000_000) as u64;
            Interval::WholeSeconds(Bounds { low: s(bounds.low), high: s(bounds.high) })
        }
        Arrivals::Uniform => Interval::Uniform(bounds),
        Arrivals::Exponential if bounds.low != bounds.high => {
            return place.refuse("exponential arrivals have one mean", "give a single time, like \"50 s\"");
        }
        Arrivals::Exponential => Interval::Exponential(bounds.low),
    };
    if never_advances(&interval) {
        return place.refuse("messages would be created without end", "let the interval reach above zero");
    }
    Ok(interval)
}

fn listed_messages(
    section: &Section,
    prefix: &str,
    names: &Names,
    context: &Context,
) -> Result<Vec<ListedMessage>> {
    match (section.get("events"), section.text("file")?) {
        (Some(node), None) => events(node, &section.key("events"), prefix, names),
        (None, Some(name)) => {
            let (file, bytes) = read_file(name, &section.place_of("file"), context)?;
            let (events, count) = (the_one_events(&file, &bytes)?, names.nodes.len() as u32);
            let skip = section.word("unknown_nodes", &[("error", false), ("skip", true)])?.unwrap_or(false);
            created(&if skip { executed(events, count, false).0 } else { events }, count)
        }
        _ => section.place.refuse("both `events` and `file` are given", "give one of them"),
    }
}

/// The messages of The ONE's `C` events.
pub fn created(events: &[crate::contacts::ExternalEvent], count: u32) -> Result<Vec<ListedMessage>> {
    let mut messages = Vec::new();
    for event in events {
        let EventKind::Create { message, from, to, size, response } = &event.kind else { continue };
        if *response {
            let what = "the message asks for a response, which is not supported";
            return event.place.refuse(what, "leave out the seventh word");
        }
        check_ends(*from, *to, count, &event.place)?;
        messages.push(ListedMessage {
            name: message.clone(),
            at: event.at,
            from: *from,
            to: *to,
            size: *size,
            lifetime: None,
        });
    }
    Ok(messages)
}

fn check_ends(from: u32, to: u32, count: u32, place: &Place) -> Result<()> {
    if let Some(unknown) = [from, to].into_iter().find(|node| *node >= count) {
        return place.refuse(
            format!("unknown node {unknown}"),
            format!("nodes are numbered from 0 to {}", count.saturating_sub(1)),
        );
    }
    if from == to {
        return place.refuse("the message's source is its destination", "name two nodes");
    }
    Ok(())
}

fn events(node: &Node, path: &str, prefix: &str, names: &Names) -> Result<Vec<ListedMessage>> {
    let list = items(node, path, "{ at, from, to, size }", "add a message")?;
    let mut messages = Vec::new();
    for (item, number) in list.iter().zip(1..) {
        let section = Section::new(item, path, keys::EVENT)?;
        let one = |key: &str| {
            let nodes = section.need(key, "\"NODE\"", |text| names.select(text))?;
            match nodes[..] {
                [node] => Ok(node),
                _ => section.refuse(key, format!("`{key}` names several nodes"), "name one node"),
            }
        };
        let (from, to) = (one("from")?, one("to")?);
        check_ends(from, to, names.nodes.len() as u32, &item.place)?;
        let size: Bytes = section.need("size", "\"50 kB\"", q::bytes)?;
        if size.get() == 0 {
            return section.refuse("size", "the message is empty", "give it a size above zero");
        }
        messages.push(ListedMessage {
            name: section.text("name")?.map_or_else(|| format!("{prefix}{number}"), str::to_owned),
            at: Instant::ZERO.saturating_add(section.need("at", "\"10 s\"", q::time)?),
            from,
            to,
            size,
            lifetime: section.quantity("lifetime", q::positive_time)?,
        });
    }
    Ok(messages)
}
