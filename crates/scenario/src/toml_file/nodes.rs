//! `[nodes.NAME]`: groups of nodes that are alike.

use super::section::{Section, items, quantity as read_quantity};
use super::world::Motion;
use super::{Context, algorithm, contacts, mobility, named};
use crate::catalogue::resolve;
use crate::error::{Error, Instead, Result};
use crate::keys;
use crate::model::{Activity, Algorithm, Group, Mobility, NODES_MAX, Radio};
use crate::quantity;
use crate::tree::{Node, Value};
use lightlag_protocols::dtn::{Mechanism, NodePolicy, Router};
use lightlag_protocols::units::{BitRate, Bytes};
use std::collections::BTreeMap;

/// Mobility of nodes that do not move.
pub const STANDING: &str = "{ model = \"stationary\", at = \"0 m, 0 m\" }";

/// As a count in TOML.
const COUNT_MAX: i64 = NODES_MAX as i64;

/// Groups, unless a mechanism refuses its router.
pub enum Groups {
    /// They fit.
    Fit(Vec<Group>),
    /// They don't.
    Refused(Error),
}

pub fn groups(root: &Section, context: &Context) -> Result<Groups> {
    let sections = named(root, "nodes", keys::NODES)?;
    if sections.is_empty() {
        return Err(root.missing("nodes", "{ NAME = { count = 50 } }"));
    }
    let motion = Motion::read(root)?;
    check_defaults(root, context, motion)?;
    let mut groups = Vec::new();
    let (mut refused, mut total) = (None, 0);
    for (name, section) in sections {
        let group = group(name, &section, root, context, motion)?;
        check_plan(&group, &section, root)?;
        let only_with = &group.mechanism.entry.only_with;
        if !only_with.is_empty() && !only_with.contains(&group.router.entry.name) && refused.is_none() {
            let at = if section.get("mechanism").is_some() { &section } else { root };
            let names = (&group.mechanism.entry.name, &group.router.entry.name);
            let what = format!("mechanism `{}` refuses router `{}`", names.0, names.1);
            let right = format!("it works with: {}", only_with.join(", "));
            refused = at.refuse::<()>("mechanism", what, right).err();
        }
        total += group.nodes.len();
        groups.push(group);
        if total > NODES_MAX {
            return root.refuse(
                "nodes",
                format!("there are {total} nodes, or more"),
                format!("a world holds {NODES_MAX} at most"),
            );
        }
    }
    Ok(refused.map_or(Groups::Fit(groups), Groups::Refused))
}

/// A router that goes by a plan must have one.
fn check_plan(group: &Group, section: &Section, root: &Section) -> Result<()> {
    if !group.insists_on_plan() {
        return Ok(());
    }
    let sources = named(root, "contacts", keys::CONTACTS)?;
    for (_, source) in &sources {
        if contacts::is_plan(source)? {
            return Ok(());
        }
    }
    let (have, right) = match sources.first() {
        Some(_) => (
            "those of [contacts] are recorded",
            "say `plan = true` there if nodes know the contacts beforehand, or choose another router",
        ),
        None => ("contacts are random here", "add a table [contacts.NAME], or choose another router"),
    };
    let at = if section.get("router").is_some() { section } else { root };
    let what = format!("router `{}` needs a contact plan, and {have}", group.router.entry.name);
    at.refuse("router", what, right)
}

/// What nodes have by default must be sound even where every group has its own.
fn check_defaults(root: &Section, context: &Context, of: Motion) -> Result<()> {
    if root.get("buffer").is_some() {
        buffer(root, root)?;
    }
    if root.get("router").is_some() {
        router(root, root, context)?;
    }
    mechanism(root, root, context)?;
    policy(root, root)?;
    if let Some(node) = root.get("mobility") {
        mobility::mobility(node, "mobility", context, of)?;
    }
    if let Some(node) = root.get("radio") {
        radio(node, "radio", "radio")?;
    }
    Ok(())
}

/// Keys for all nodes that have none of their own.
const COMMON: [&str; 8] =
    ["router", "mechanism", "buffer", "application_buffer", "receipts", "drop_memory", "mobility", "radio"];

/// A line for each key for all nodes that counts for none, as every group has its own.
pub fn without_effect(root: &Section) -> Vec<String> {
    let groups: Vec<Section> = root
        .get("nodes")
        .and_then(|nodes| Section::open(nodes, "nodes").ok())
        .iter()
        .flat_map(Section::entries)
        .filter_map(|(_, group)| Section::open(group, "").ok())
        .collect();
    let has_own = |group: &Section, key: &str| {
        group.get(key).is_some() || (key == "radio" && group.get("radios").is_some())
    };
    COMMON
        .into_iter()
        .filter(|key| root.get(key).is_some() && !groups.is_empty())
        .filter(|key| groups.iter().all(|group| has_own(group, key)))
        .map(|key| {
            let place = root.place_of(key);
            format!("{place}: `{key}` changes nothing, as each group of [nodes] has its own")
        })
        .collect()
}

fn group(name: String, section: &Section, root: &Section, context: &Context, of: Motion) -> Result<Group> {
    let count = section.whole("count", 1, COUNT_MAX)?.unwrap_or(1);
    let first = section.whole("first", 0, COUNT_MAX)?.unwrap_or(0);
    let prefix = section.text("prefix")?.unwrap_or(&name);
    let nodes = match count {
        1 if section.get("first").is_none() => vec![prefix.to_owned()],
        _ => (first..first + count).map(|number| format!("{prefix}{number}")).collect(),
    };
    let (mobility, radios) = motion(section, root, context, of)?;
    let moves = moves(section)?;
    Ok(Group {
        name,
        nodes,
        buffer: buffer(section, root)?,
        router: router(section, root, context)?,
        mechanism: mechanism(section, root, context)?,
        policy: policy(section, root)?,
        mobility,
        moves,
        radios,
        lifetime: section.quantity("lifetime", quantity::positive_time)?,
    })
}

/// The value of the group, or else that of the whole scenario, with its path.
fn own_or_common<'t>(section: &Section<'t>, root: &Section<'t>, key: &str) -> Option<(&'t Node, String)> {
    let own = section.get(key).map(|node| (node, section.key(key)));
    own.or_else(|| root.get(key).map(|node| (node, key.to_owned())))
}

fn buffer(section: &Section, root: &Section) -> Result<Bytes> {
    let from = if section.get("buffer").is_some() || root.get("buffer").is_none() { section } else { root };
    let buffer = from.need("buffer", "\"500 kB\"", quantity::bytes)?;
    if buffer.get() == 0 {
        return from.refuse("buffer", "the buffer holds nothing", "give it a size like \"500 kB\"");
    }
    Ok(buffer)
}

fn router(section: &Section, root: &Section, context: &Context) -> Result<Algorithm<dyn Router>> {
    let (node, path) =
        own_or_common(section, root, "router").ok_or_else(|| root.missing("router", "\"epidemic\""))?;
    algorithm::algorithm(node, &path, &context.catalogue.routers)
}

fn mechanism(section: &Section, root: &Section, context: &Context) -> Result<Algorithm<dyn Mechanism>> {
    match own_or_common(section, root, "mechanism") {
        Some((node, path)) => algorithm::algorithm(node, &path, &context.catalogue.mechanisms),
        None => none(section, context),
    }
}

fn none(section: &Section, context: &Context) -> Result<Algorithm<dyn Mechanism>> {
    let wrong = |right: String| Error::new(&section.place, "no mechanism is given", right);
    let entry = context.catalogue.mechanisms.find("none").map_err(wrong)?;
    let parameters =
        resolve(&entry, &BTreeMap::new()).map_err(|wrong| crate::Error::at(&section.place, wrong))?;
    Ok(Algorithm { entry, parameters })
}

fn policy(section: &Section, root: &Section) -> Result<NodePolicy> {
    let own = |key: &str| section.flag(key);
    let common = |key: &str| match own(key)? {
        Some(flag) => Ok(flag),
        None => root.flag(key).map(|flag| flag.unwrap_or(false)),
    };
    Ok(NodePolicy {
        receipts: common("receipts")?,
        drop_memory: common("drop_memory")?,
        delete_delivered: own("delete_delivered")?.unwrap_or(false),
        overfill: own("overfill")?.unwrap_or(false),
        deliver_past_buffer: own("deliver_past_buffer")?.unwrap_or(false),
        // The world says it: see `purge_every`.
        deliver_late: false,
        application_buffer: application_buffer(section, root)?,
    })
}

/// What may wait at the application, nothing by default; `None`: any number of bytes.
fn application_buffer(section: &Section, root: &Section) -> Result<Option<Bytes>> {
    let from = if section.get("application_buffer").is_some() { section } else { root };
    let size = |text: &str| match text {
        "none" => Ok(Some(Bytes(0))),
        "unlimited" => Ok(None),
        _ => quantity::bytes(text).map(Some),
    };
    Ok(from.quantity("application_buffer", size)?.unwrap_or(Some(Bytes(0))))
}

fn motion(
    section: &Section,
    root: &Section,
    context: &Context,
    of: Motion,
) -> Result<(Option<Mobility>, Vec<Radio>)> {
    let mobility = own_or_common(section, root, "mobility")
        .map(|(node, path)| mobility::mobility(node, &path, context, of))
        .transpose()?;
    let mut radios = Vec::new();
    match section.get("radios") {
        Some(node) => {
            for (name, node) in Section::open(node, &section.key("radios"))?.entries() {
                radios.push(radio(node, &section.key(&format!("radios.{}", name.name)), &name.name)?);
            }
        }
        None => {
            if let Some((node, path)) = own_or_common(section, root, "radio") {
                radios.push(radio(node, &path, "radio")?);
            }
        }
    }
    if !radios.is_empty() && mobility.is_none() {
        let right = format!("give them a mobility, `{STANDING}` if they do not move");
        let error = Error::new(&section.place, "the nodes have a radio but no place", right);
        return Err(error.of_key(section.key("mobility"), Some(Instead::Value(STANDING.to_owned()))));
    }
    Ok((mobility, radios))
}

fn radio(node: &Node, path: &str, name: &str) -> Result<Radio> {
    let section = Section::new(node, path, keys::RADIO)?;
    let range_m = section.need("range", "\"150 m\"", quantity::length_m)?;
    if range_m <= 0.0 {
        return section.refuse("range", "the radio has no range", "give it a range like \"150 m\"");
    }
    let rates = list(&section, "rates", quantity::bit_rate_or_none)?;
    let highest = rates.iter().max().copied();
    if rates.len() == 1 || highest == Some(BitRate(0)) {
        return section.refuse(
            "rates",
            "the rate at the whole range is missing, or all are zero",
            "give two rates or more, from distance zero to the whole range",
        );
    }
    if highest.is_some() && section.get("rate").is_some() {
        return section.refuse("rates", "both `rate` and `rates` are given", "give one of them");
    }
    let rate = match highest {
        Some(rate) => rate,
        None => section.need("rate", "\"2.5 Mbit/s\"", quantity::bit_rate)?,
    };
    let jitter = section.quantity("jitter", quantity::time)?.unwrap_or_default();
    Ok(Radio {
        name: section.text("name")?.unwrap_or(name).to_owned(),
        range_m,
        rate,
        rates,
        interference: section.flag("interference")?.unwrap_or(false),
        activity: activity(&section)?,
        jitter_s: u32::try_from(jitter.as_nanos() / 1_000_000_000).unwrap_or(u32::MAX),
        scan_every: section.quantity("scan_every", quantity::positive_time)?,
    })
}

fn list<T>(
    section: &Section,
    key: &str,
    parse: impl Fn(&str) -> std::result::Result<T, quantity::Wrong>,
) -> Result<Vec<T>> {
    let Some(node) = section.get(key) else { return Ok(Vec::new()) };
    let path = section.key(key);
    let all = items(node, &path, "quantities", "add one")?;
    all.iter().map(|item| read_quantity(item, &path, &parse)).collect()
}

/// When the nodes of a group move.
fn moves(section: &Section) -> Result<Activity> {
    let path = section.key("moves");
    match section.get("moves") {
        None => Ok(Activity::Always),
        Some(node) if matches!(node.value, Value::Table(_)) => {
            let periods = Section::new(node, &path, keys::PERIODS)?;
            let on = periods.need("on", "\"10 min\"", quantity::positive_time)?;
            let off = periods.need("off", "\"10 min\"", quantity::time)?;
            let offset = periods.quantity("offset", quantity::signed_time)?.unwrap_or_default();
            Ok(Activity::Periods { on, off, offset })
        }
        Some(_) => spans(section, "moves"),
    }
}

/// Spans of time in their order.
fn spans(section: &Section, key: &str) -> Result<Activity> {
    let spans = list(section, key, quantity::times)?;
    if spans.windows(2).any(|pair| pair[0].high > pair[1].low) {
        return section.refuse(key, "the times overlap or are out of order", "sort them");
    }
    Ok(Activity::Spans(spans))
}

/// When a radio is on.
fn activity(section: &Section) -> Result<Activity> {
    let spans = list(section, "active", quantity::times)?;
    let on = section.quantity("on", quantity::positive_time)?;
    let off = section.quantity("off", quantity::time)?;
    let offset = section.quantity("offset", quantity::signed_time)?;
    match (spans.is_empty(), on, off) {
        (true, None, None) if offset.is_none() => Ok(Activity::Always),
        (true, Some(on), Some(off)) => Ok(Activity::Periods { on, off, offset: offset.unwrap_or_default() }),
        (false, None, None) if offset.is_none() => self::spans(section, "active"),
        _ => section.refuse(
            "on",
            "`on` and `off` are incomplete, or given beside `active`",
            "give both, with `offset` or without it, or `active` alone",
        ),
    }
}
