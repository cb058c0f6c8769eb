//! `[contacts.NAME]`: contacts from a table.

use super::names::Names;
use super::section::{Section, items, quantity, wrong_type};
use super::{Context, named, read_file, traces, until};
use crate::contacts::{
    Channels, ContactRow, ExternalEvent, Recorded, Resolver, WayDefault, at_rates_of_radios, connection_rows,
    connections, executed, from_ion, from_rows, ion, table, the_one_events,
};
use crate::error::{Error, Result, is_not, quoted};
use crate::keys;
use crate::model::{ContactSource, Group, Known, ScheduledContact};
use crate::quantity as q;
use crate::tree::{Node, Value};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::contacts::Delay;
use std::collections::BTreeSet;
use std::sync::Arc;

/// More pairs than anyone means to name.
const PAIRS_MAX: usize = 10_000_000;

/// How contacts are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Table,
    TheOne,
    Ion,
    Trace(Recorded),
}

const KINDS: &[(&str, Kind)] = &[
    ("table", Kind::Table),
    ("the_one", Kind::TheOne),
    ("ion", Kind::Ion),
    ("intervals", Kind::Trace(Recorded::Intervals)),
    ("sightings", Kind::Trace(Recorded::Sightings)),
    ("positions", Kind::Trace(Recorded::Positions)),
];

pub fn sources(
    root: &Section,
    names: &Names,
    groups: &[Group],
    duration: Duration,
    context: &Context,
) -> Result<Vec<ContactSource>> {
    let sections = named(root, "contacts", keys::CONTACTS)?;
    names.check_tables(sections.len(), &root.place_of("contacts"))?;
    sections
        .into_iter()
        .map(|(name, section)| source(name, &section, names, groups, duration, context))
        .collect()
}

/// All points of a sweep that say the same of contacts share them.
fn source(
    name: String,
    section: &Section,
    names: &Names,
    groups: &[Group],
    duration: Duration,
    context: &Context,
) -> Result<ContactSource> {
    let said: Vec<String> =
        section.entries().map(|(key, node)| format!("{}={}", key.name, node.text())).collect();
    let nodes: Vec<&str> = names.nodes.keys().map(String::as_str).collect();
    // Contacts of events have the rates of radios.
    let radios: Vec<_> = groups.iter().map(|group| (group.count(), &group.radios)).collect();
    let key = format!("{name}\n{}\n{}\n{duration:?} {radios:?}", said.join("\n"), nodes.join(" "));
    if let Some(known) = context.sources.borrow().get(&key) {
        return Ok(known.clone());
    }
    let (told, note) = read(section, names, groups, duration, context)?;
    if told.is_empty() {
        let read = note.map_or_else(String::new, |note| format!(" ({note})"));
        return section.place.refuse(
            format!("none of the contacts lies in the run{read}"),
            "check `kind`, `columns`, `unknown_nodes`, `range`, `gap` and `duration`; `origin = \"first\"` starts the run at the first contact",
        );
    }
    let (is_plan, happens) = (is_plan(section)?, section.flag("happens")?.unwrap_or(true));
    if !happens && !is_plan {
        let what = format!("`{}`: nodes neither have nor know these contacts", section.key("happens"));
        return section.refuse("happens", what, "say `plan = true` if nodes expect them");
    }
    let known = known(section, is_plan, names)?;
    let source = ContactSource { note, happens, known, ..ContactSource::new(name, told, is_plan) };
    context.sources.borrow_mut().insert(key, source.clone());
    Ok(source)
}

/// Which nodes know the contacts, and when.
fn known(section: &Section, is_plan: bool, names: &Names) -> Result<Known> {
    let given = ["known_to", "known_from", "known_until"].into_iter().find(|key| section.get(key).is_some());
    if let Some(key) = given.filter(|_| !is_plan) {
        let what = format!("`{}`: these contacts are no plan", section.key(key));
        return section.refuse(key, what, "say `plan = true` if nodes know them beforehand");
    }
    let mut known = Known::default();
    if let Some(text) = section.text("known_to")? {
        let chosen = names.select(text).map_err(|wrong| Error::at(&section.place_of("known_to"), wrong))?;
        known.to = Some(BTreeSet::from_iter(chosen).into_iter().collect());
    }
    let at = |key: &str| Ok(section.quantity(key, q::time)?.map(|at| Instant::ZERO.saturating_add(at)));
    known.from = at("known_from")?.unwrap_or(known.from);
    known.until = at("known_until")?.unwrap_or(known.until);
    if known.until <= known.from {
        let what = "nodes would forget the contacts before they know them";
        return section.refuse("known_until", what, "give a time after `known_from`, and after the start");
    }
    Ok(known)
}

/// Whether nodes know the contacts beforehand: if the scenario says so, or its author or a planner wrote them down. Any
/// other file may be a record of what happened.
pub fn is_plan(section: &Section) -> Result<bool> {
    let is_written = section.get("rows").is_some() || section.word("kind", KINDS)? == Some(Kind::Ion);
    Ok(section.flag("plan")?.unwrap_or(is_written))
}

/// The contacts, and of a trace a line on how it was read.
fn read(
    section: &Section,
    names: &Names,
    groups: &[Group],
    duration: Duration,
    context: &Context,
) -> Result<(Vec<ScheduledContact>, Option<Arc<str>>)> {
    let kind = section.word("kind", KINDS)?.unwrap_or(Kind::Table);
    let first_id = section.whole("first_id", 0, i64::from(u32::MAX))?;
    let default_first = if matches!(kind, Kind::Ion | Kind::Trace(_)) { 1 } else { 0 };
    let skip = section.word("unknown_nodes", &[("error", false), ("skip", true)])?.unwrap_or(false);
    let first_id = first_id.and_then(|n| u32::try_from(n).ok()).unwrap_or(default_first);
    let nodes = names.for_contacts(first_id, skip);
    let channels = channels(section, names)?;
    let origin = traces::origin(section)?;
    let from = |first: Option<Instant>| Resolver {
        nodes: &nodes,
        channels: &channels,
        until: until(duration),
        origin: origin.or(first).unwrap_or_default(),
    };
    let of_rows = |rows: &[ContactRow]| from_rows(rows, &from(rows.iter().map(|row| row.start).min()));
    if !matches!(kind, Kind::Trace(_))
        && let Some(name) = traces::KEYS.iter().find(|name| section.get(name).is_some())
    {
        let what = format!("`{}` is a key of traces", section.key(name));
        return section.refuse(
            name,
            what,
            "leave it out, or say kind = \"intervals\", \"sightings\" or \"positions\"",
        );
    }
    if let Some(rows) = section.get("rows") {
        if kind != Kind::Table || section.get("file").is_some() {
            return rows.place.refuse(
                "rows come with kind = \"table\" only, and without a file",
                "give either rows or a file",
            );
        }
        return Ok((of_rows(&inline_rows(rows, &section.key("rows"))?)?, None));
    }
    let example =
        if kind == Kind::Table { "\"contacts.csv\"`, or `rows = [...]" } else { "\"contacts.csv\"" };
    if let Kind::Trace(recorded) = kind {
        let (told, note) = traces::contacts(section, recorded, &from(None), origin.is_none(), context)?;
        return Ok((told, Some(note.into())));
    }
    let name = section.need_text("file", example)?;
    let (file, bytes) = read_file(name, &section.place_of("file"), context)?;
    if file.to_ascii_lowercase().trim_end_matches(".gz").ends_with(".gpx") {
        return section.refuse("file", "a GPX file has positions", "say kind = \"positions\" and `range`");
    }
    let told = match kind {
        Kind::Table => of_rows(&table(&file, &bytes)?)?,
        // Events that are taken as they stand need not be kept.
        Kind::TheOne if !skip && groups.iter().all(|group| group.radios.is_empty()) => {
            of_rows(&connection_rows(&file, &bytes)?)?
        }
        Kind::TheOne => of_rows(&of_events(the_one_events(&file, &bytes)?, groups, skip, &channels)?)?,
        Kind::Ion | Kind::Trace(_) => {
            let plan = ion(&file, &bytes)?;
            from_ion(&plan, &from(plan.contacts.iter().map(|contact| contact.start).min()))?
        }
    };
    Ok((told, None))
}

/// Contacts of The ONE's events. With `skip`, those that it does not execute are skipped.
fn of_events(
    mut events: Vec<ExternalEvent>,
    groups: &[Group],
    skip: bool,
    channels: &Channels,
) -> Result<Vec<ContactRow>> {
    at_rates_of_radios(&mut events, groups);
    let count = groups.iter().map(Group::count).sum();
    let needs_rate = channels.default.rate.is_none() && channels.pairs.is_empty();
    connections(&if skip { executed(events, count, needs_rate).0 } else { events })
}

fn inline_rows(node: &Node, path: &str) -> Result<Vec<ContactRow>> {
    let row = |node: &Arc<Node>| {
        let section = Section::new(node, path, keys::ROW)?;
        let (start, end) =
            (section.need("start", "\"2000 s\"", q::time)?, section.need("end", "\"3000 s\"", q::time)?);
        if end <= start {
            return section.refuse(
                "end",
                format!("the contact ends at {end:?} but starts at {start:?}"),
                "its end must lie after its start",
            );
        }
        Ok(ContactRow {
            place: node.place.clone(),
            a: section.need_text("a", "\"NODE\"")?.into(),
            b: section.need_text("b", "\"NODE\"")?.into(),
            start: Instant::ZERO.saturating_add(start),
            end: Instant::ZERO.saturating_add(end),
            rate: section.quantity("rate", q::bit_rate)?,
            delay: section.quantity("delay", q::time)?,
        })
    };
    items(node, path, "{ a, b, start, end }", "add a contact")?.iter().map(row).collect()
}

/// `rate`, `delay` and `delays` of the whole, and those of `pairs."A B"` (both directions) or
/// `pairs."A -> B"` (one direction), the later before the earlier.
fn channels(section: &Section, names: &Names) -> Result<Channels> {
    let mut channels = Channels { default: way(section)?, ..Channels::default() };
    let Some(node) = section.get("pairs") else { return Ok(channels) };
    let (path, mut pairs) = (section.key("pairs"), 0_usize);
    for (key, node) in Section::open(node, &path)?.entries() {
        let way = way(&Section::new(node, &format!("{path}.{}", key.name), keys::WAY)?)?;
        let (from, to, both) = pair(&key.name).ok_or_else(|| {
            Error::new(
                &key.place,
                is_not(&key.name, "a pair"),
                "a pair is \"A B\" for both directions or \"A -> B\" for one; `all` stands for every node",
            )
        })?;
        let select = |text: &str| names.select(text).map_err(|wrong| crate::Error::at(&key.place, wrong));
        let (from, to) = (select(from)?, select(to)?);
        pairs = from.len().saturating_mul(to.len()).saturating_add(pairs);
        if pairs > PAIRS_MAX {
            return key.place.refuse(
                format!("the pairs up to {} stand for more than {PAIRS_MAX}", quoted(&key.name)),
                "give what holds for all as the contacts' own rate and delay",
            );
        }
        for &a in &from {
            for &b in &to {
                merge(&mut channels, (a, b), &way);
                if both {
                    merge(&mut channels, (b, a), &way);
                }
            }
        }
    }
    Ok(channels)
}

fn merge(channels: &mut Channels, pair: (u32, u32), way: &WayDefault) {
    let entry = channels.pairs.entry(pair).or_default();
    entry.rate = way.rate.or(entry.rate);
    entry.delay = way.delay.clone().or_else(|| entry.delay.take());
}

fn pair(text: &str) -> Option<(&str, &str, bool)> {
    let (from, to, both) = match text.split_once("->") {
        Some((from, to)) => (from.trim(), to.trim(), false),
        None => {
            let (from, to) = text.trim().split_once(char::is_whitespace)?;
            (from, to.trim(), true)
        }
    };
    (!from.is_empty() && !to.is_empty() && !to.contains(char::is_whitespace)).then_some((from, to, both))
}

fn way(section: &Section) -> Result<WayDefault> {
    let rate = section.quantity("rate", q::bit_rate)?;
    let constant = section.quantity("delay", q::time)?.map(Delay::Constant);
    let Some(node) = section.get("delays") else { return Ok(WayDefault { rate, delay: constant }) };
    let path = section.key("delays");
    if constant.is_some() {
        return node.place.refuse("both `delay` and `delays` are given", "give one of them");
    }
    let wrong = |node: &Node| {
        wrong_type(node, &path, "it must be a list like [[\"0 s\", \"240 s\"], [\"1 h\", \"250 s\"]]")
    };
    let Value::List(list) = &node.value else { return Err(wrong(node)) };
    let mut rows: Vec<(Instant, Duration)> = Vec::new();
    for item in list {
        let Value::List(cells) = &item.value else { return Err(wrong(item)) };
        let [at, delay] = &cells[..] else { return Err(wrong(item)) };
        let at = Instant::ZERO.saturating_add(quantity(at, &path, q::time)?);
        if rows.last().is_some_and(|before| before.0 >= at) {
            return item.place.refuse(format!("`{path}` is not in order of time"), "sort its rows");
        }
        rows.push((at, quantity(delay, &path, q::time)?));
    }
    if rows.is_empty() { Err(wrong(node)) } else { Ok(WayDefault { rate, delay: Some(Delay::Table(rows)) }) }
}
