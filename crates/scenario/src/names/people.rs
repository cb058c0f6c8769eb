//! `[producers.NAME]` and `[consumers.NAME]`.

use super::network::{Wants, packet_of};
use super::{ConsumerPlan, NodePlan, ProducerPlan};
use crate::budget::Limits;
use crate::budget::names::OBJECT_BYTES;
use crate::keys;
use crate::packets::{Alike, Known, alike, controller, factory, refuse_unbounded};
use crate::quantity::{bytes, positive_time, time};
use crate::{Error, Result, Section, named};
use lightlag_protocols::ndn::{Catalogue, Config, Name, Names, Prefix, Producer, Requests};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use lightlag_worlds::names::ProducerSpec;
use std::sync::Arc;

/// Largest packet of the NDN packet format (the practical bound of NDN forwarders).
const PACKET_BYTES_MAX: u64 = 8_800;
/// Of popularities: more is as good as one object only, or as none that is more popular.
const EXPONENT_MAX: f64 = 100.0;
const SHIFT_MAX: f64 = 100.0;
/// More objects than anyone's popularity is known of.
const OBJECTS_MAX: i64 = 10_000_000;

/// Everyone who has Data.
pub fn producers(root: &Section, nodes: &[NodePlan], names: &mut Names) -> Result<Vec<ProducerPlan>> {
    let mut all: Vec<ProducerPlan> = Vec::new();
    for (name, section) in named(root, "producers", keys::PRODUCERS)? {
        let node = place(&section, nodes)?;
        let prefix = prefix(&section, "prefix", names)?;
        if all.iter().any(|other| other.spec.prefix == prefix && other.spec.node == node) {
            let what = format!("`{}` is the prefix of another producer at this node", section.key("prefix"));
            return section.refuse("prefix", what, "give each its own");
        }
        all.push(ProducerPlan { name, spec: ProducerSpec { node, prefix, producer: producer(&section)? } });
    }
    if all.is_empty() {
        return Err(root.missing("producers", "a table [producers.NAME] with `at` and `prefix`"));
    }
    Ok(all)
}

fn producer(section: &Section) -> Result<Producer> {
    let segment = section.quantity("segment", bytes)?.unwrap_or(Bytes(8_000));
    let overhead = section.quantity("overhead", bytes)?.unwrap_or(OVERHEAD);
    let object = section.quantity("object", bytes)?.unwrap_or(Bytes(segment.0.saturating_mul(SEGMENTS)));
    let refuse = |key: &str, what: String, right: &str| {
        section.refuse(key, format!("`{}` {what}", section.key(key)), right)
    };
    if segment == Bytes(0) || segment.0.saturating_add(overhead.0) > PACKET_BYTES_MAX {
        let right =
            format!("content and overhead of a packet are at most {PACKET_BYTES_MAX} B, and not nothing");
        return refuse("segment", format!("is {} B beside {} B of overhead", segment.0, overhead.0), &right);
    }
    if object == Bytes(0) || object.0.div_ceil(segment.0) >= u64::from(Name::WHOLE) {
        let what = format!("makes {} segments", object.0.div_ceil(segment.0));
        return refuse("object", what, "an object has at least one and at most 4294967294");
    }
    let freshness = section.quantity("freshness", time)?.unwrap_or(Duration::from_secs(3_600));
    Ok(Producer {
        object: object.0,
        segment: segment.0 as u32,
        overhead: overhead.0 as u32,
        freshness_ms: u32::try_from(freshness.as_nanos() / 1_000_000).unwrap_or(u32::MAX),
        site: None,
    })
}

/// Name, MetaInfo and an empty signature: what ndnSIM adds to a payload.
const OVERHEAD: Bytes = Bytes(34);
/// Of an object without a size: as good as without an end.
const SEGMENTS: u64 = 4_000_000_000;

fn is_endless(producer: &Producer) -> bool {
    producer.object / u64::from(producer.segment.max(1)) >= SEGMENTS
}

/// Everyone who wants Data.
pub fn consumers(
    root: &Section,
    nodes: &[NodePlan],
    producers: &[ProducerPlan],
    names: &mut Names,
    known: &Known,
) -> Result<Vec<ConsumerPlan>> {
    let (mut all, limits) = (Vec::new(), Limits::read(root)?);
    for Alike { section, each, stop } in alike(root, ("consumers", "consumer"), keys::CONSUMERS)? {
        let one = consumer(&section, nodes, (producers, known), names, limits)?;
        all.extend(each.into_iter().map(|(name, start)| ConsumerPlan { name, start, stop, ..one.clone() }));
    }
    if all.is_empty() {
        return Err(root.missing("consumers", "a table [consumers.NAME] with `at` and `object`"));
    }
    Ok(all)
}

/// A consumer of a table, without its name and its times.
fn consumer(
    section: &Section,
    nodes: &[NodePlan],
    (producers, known): (&[ProducerPlan], &Known),
    names: &mut Names,
    limits: Limits,
) -> Result<ConsumerPlan> {
    let (wants, producer) = wants(section, producers, names, limits)?;
    let node = section.get("controller").ok_or_else(|| section.missing("controller", "\"dcp\""))?;
    let controller = controller(section, "controller", node, "ndn", known)?;
    let is_popular = matches!(wants, Wants::Popular(_));
    if is_popular || (section.get("size").is_none() && is_endless(producer)) {
        refuse_unbounded(section, &factory(&controller), "the object a `size`")?;
    }
    let (segment, packet) = packet_of(producer);
    let mut config = Config::new(segment, packet);
    config.lifetime = section.quantity("lifetime", positive_time)?.unwrap_or(config.lifetime);
    config.timers.least = section.quantity("timeout_least", positive_time)?.unwrap_or(config.timers.least);
    Ok(ConsumerPlan {
        name: String::new(),
        node: place(section, nodes)?,
        start: Instant::ZERO,
        stop: None,
        stop_after: section.whole("stop_after", 1, i64::MAX)?.map(|count| count as u64),
        wants,
        interest: interest(section)?,
        config,
        controller,
    })
}

fn interest(section: &Section) -> Result<Bytes> {
    let size = section.quantity("interest", bytes)?.unwrap_or(INTEREST);
    if (1..=PACKET_BYTES_MAX).contains(&size.0) {
        return Ok(size);
    }
    let what = format!("`{}` is {} B", section.key("interest"), size.0);
    let right = format!("an Interest has 1 to {PACKET_BYTES_MAX} B");
    section.refuse("interest", what, right)
}

/// A short name and a nonce.
const INTEREST: Bytes = Bytes(24);

fn wants<'p>(
    section: &Section,
    producers: &'p [ProducerPlan],
    names: &mut Names,
    limits: Limits,
) -> Result<(Wants, &'p Producer)> {
    if section.get("catalogue").is_some() {
        if let Some(key) = ["object", "size"].iter().find(|key| section.get(key).is_some()) {
            let what = format!("a consumer of a `catalogue` has no `{key}`");
            return section.refuse(key, what, "leave one of them out");
        }
        return popular(section, producers, names, limits);
    }
    let prefix = prefix(section, "object", names)?;
    let producer = who_has(section, "object", prefix, producers, names)?;
    let mut requests = Requests::object(prefix, Some(producer.segments()));
    if let Some(size) = section.quantity("size", bytes)? {
        if size == Bytes(0) || size.0 > producer.object {
            let what = format!("`{}` is {} B", section.key("size"), size.0);
            let right = format!("the object has {} B; ask for some of them", producer.object);
            return section.refuse("size", what, right);
        }
        requests.set_segments(size.0.div_ceil(u64::from(producer.segment)) as u32);
    }
    Ok((Wants::Object(requests), producer))
}

fn popular<'p>(
    section: &Section,
    producers: &'p [ProducerPlan],
    names: &mut Names,
    limits: Limits,
) -> Result<(Wants, &'p Producer)> {
    let Some(table) = section.table("catalogue", keys::CATALOGUE)? else {
        return Err(section.missing("catalogue", "{ prefix = \"/data\", objects = 1000 }"));
    };
    let above = prefix(&table, "prefix", names)?;
    let producer = who_has(&table, "prefix", above, producers, names)?;
    if is_endless(producer) {
        let what = "the producer of a `catalogue` has an `object` without a size".to_owned();
        return table.place.refuse(what, "give the producer an `object`, such as \"1 MB\"");
    }
    let count = table.whole("objects", 1, OBJECTS_MAX)?.ok_or_else(|| table.missing("objects", "1000"))?;
    crate::budget::check_bytes(
        &table.place_of("objects"),
        limits,
        format!("the catalogue has {count} objects"),
        (count as f64 + names.known() as f64) * OBJECT_BYTES,
        "name fewer objects",
    )?;
    let objects = (0..count).map(|number| names.child(above, number.to_string().as_bytes())).collect();
    let exponent = table.real("exponent", 0.0, EXPONENT_MAX)?.unwrap_or(0.8);
    let shift = table.real("shift", 0.0, SHIFT_MAX)?.unwrap_or(0.0);
    let catalogue = Catalogue::new(objects, producer.segments(), exponent, shift);
    Ok((Wants::Popular(Arc::new(catalogue)), producer))
}

fn place(section: &Section, nodes: &[NodePlan]) -> Result<u32> {
    let name = section.need_text("at", "\"node\"")?;
    let found = nodes.iter().position(|node| node.name == name);
    found.map(|index| index as u32).ok_or_else(|| {
        let what = format!("no link leads to or from `{name}`");
        let right = "name a node that a table [links.NAME] joins";
        Error::new(&section.place_of("at"), what, right).of_key(section.key("at"), None)
    })
}

fn prefix(section: &Section, key: &str, names: &mut Names) -> Result<Prefix> {
    let text = section.need_text(key, "\"/data\"")?;
    if !text.starts_with('/') || text.len() > NAME_BYTES_MAX || text.contains("//") {
        let what = format!("`{}` is \"{text}\"", section.key(key));
        return section.refuse(key, what, "a name is like \"/data/film\"");
    }
    Ok(names.intern_text(text))
}

const NAME_BYTES_MAX: usize = 1_000;

/// The producer of the longest prefix.
fn who_has<'p>(
    section: &Section,
    key: &str,
    name: Prefix,
    producers: &'p [ProducerPlan],
    names: &Names,
) -> Result<&'p Producer> {
    let mut lineage = names.lineage(name);
    let found = lineage.find_map(|above| producers.iter().find(|producer| producer.spec.prefix == above));
    found.map(|found| &found.spec.producer).ok_or_else(|| {
        let what = format!("no producer has `{}`", section.key(key));
        let right = "name something under the `prefix` of a producer";
        Error::new(&section.place_of(key), what, right).of_key(section.key(key), None)
    })
}
