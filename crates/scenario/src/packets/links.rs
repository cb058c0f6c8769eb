//! `[links.NAME]`.

use super::plan::{self, Planned};
use super::{LinkPlan, ephemeris, mahimahi};
use crate::keys::{self, Key};
use crate::models::{LOSSES, QUEUES};
use crate::quantity::{bit_rate, bit_rate_or_none, bytes, deviation, positive_time, time};
use crate::{Error, Node, Place, Result, Section, Value, items, model, named, wrong_type};
use lightlag_protocols::link::queues::{self, Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate, losses};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use std::sync::Arc;

/// Reads a file that is named at a place: its whole name, and its bytes.
pub type Read<'a> = &'a dyn Fn(&str, &Place) -> Result<(String, Arc<[u8]>)>;

/// Both directions of every link.
pub fn read(root: &Section, files: Read) -> Result<Vec<LinkPlan>> {
    let mut links = Vec::new();
    for (name, section) in named(root, "links", keys::LINKS)? {
        let from = section.need_text("from", "\"earth\"")?.to_owned();
        let to = section.need_text("to", "\"mars\"")?.to_owned();
        let planned =
            section.table("plan", keys::PLAN)?.map(|table| plan::read(&table, files)).transpose()?;
        let planned = planned.as_ref();
        let there = direction(&section, None, planned.map(|planned| (planned, 0)), files)?;
        let one_way = section.flag("one_way")?.unwrap_or(false);
        let back = match section.table("back", keys::BACK)? {
            Some(back) => direction(&back, Some(&there), planned.map(|planned| (planned, 1)), files)?,
            None if one_way => there.clone(),
            None => planned_back(&there, &section, planned)?,
        };
        links.push(LinkPlan { name: name.clone(), from: from.clone(), to: to.clone(), spec: there });
        if !one_way {
            links.push(LinkPlan { name: format!("{name}.back"), from: to, to: from, spec: back });
        }
    }
    Ok(links)
}

/// One direction; what it does not say is as in `other`.
fn direction(
    section: &Section,
    other: Option<&LinkSpec>,
    planned: Option<(&Planned, usize)>,
    files: Read,
) -> Result<LinkSpec> {
    let outages = section.get("outages").map(|node| windows(node, &section.key("outages"))).transpose()?;
    let own = section.get("rate").map(|node| rate(node, &section.key("rate"), files)).transpose()?;
    if let (Some(Rate::Opportunities(_)), Some(_)) = (&own, planned) {
        return section.refuse("rate", "a link with `plan` has no trace", "remove `plan`, or write a rate");
    }
    let rate = match (own, other, planned) {
        (own, other, Some((planned, way))) => {
            let highest = own.or_else(|| other.map(|other| other.rate.clone())).map(|rate| rate.highest());
            planned.rate(way, highest).ok_or_else(|| section.missing("rate", "\"1 Mbit/s\""))?
        }
        (Some(own), ..) => own,
        (None, Some(other), None) => other.rate.clone(),
        (None, None, None) => return Err(section.missing("rate", "\"1 Mbit/s\"")),
    };
    let told = planned.and_then(|(planned, way)| planned.delays[way].clone());
    let rate = match outages {
        Some(outages) => interrupted(&rate, &outages, section)?,
        None => rate,
    };
    let delay = match (section.get("delay"), section.get("round_trip"), other) {
        (Some(node), None, _) => delay(node, &section.key("delay"), files)?,
        (None, None, _) if told.is_some() => told.unwrap_or(Delay::Constant(Duration::ZERO)),
        (None, Some(_), None) => {
            let round_trip = section.need("round_trip", "\"10 s\"", time)?;
            Delay::Constant(Duration::from_nanos(round_trip.as_nanos() / 2))
        }
        (None, None, Some(other)) => other.delay.clone(),
        (None, None, None) => return Err(section.missing("delay", "\"5 s\"` or `round_trip = \"10 s\"")),
        (_, Some(_), _) => {
            let what = format!("`{}` sets the delay of both directions", section.key("round_trip"));
            let right = "remove `round_trip` from a link with `delay` or `back`";
            return section.refuse("round_trip", what, right);
        }
    };
    Ok(LinkSpec {
        rate,
        delay,
        loss: match section.get("loss") {
            Some(node) => loss(node, &section.key("loss"))?,
            None => other.map_or(Loss::NONE, |other| other.loss.clone()),
        },
        queue: match section.get("queue") {
            Some(node) => queue(node, &section.key("queue"))?,
            None => other.map_or(Discipline::drop_tail(Limit::Packets(100)), |other| other.queue.clone()),
        },
        reorder: section.table("reorder", keys::REORDER)?.map_or(Ok(None), |table| {
            let share = need_share(&table, "share")?;
            Ok(Some((share, table.need("delay", "\"10 ms\"", time)?)))
        })?,
        duplicate: section.get("duplicate").map_or(Ok(0.0), |node| share(node, &section.key("duplicate")))?,
        jitter: section.quantity("jitter", time)?.or(other.map(|other| other.jitter)).unwrap_or_default(),
    })
}

/// The opposite direction of a link without `back`, by the plan if there is one.
fn planned_back(there: &LinkSpec, section: &Section, planned: Option<&Planned>) -> Result<LinkSpec> {
    let Some(planned) = planned else { return Ok(there.clone()) };
    let rate = planned.rate(1, Some(there.rate.highest()));
    let delay = if section.get("delay").is_some() { None } else { planned.delays[1].clone() };
    Ok(LinkSpec {
        rate: rate.unwrap_or_else(|| there.rate.clone()),
        delay: delay.unwrap_or_else(|| there.delay.clone()),
        ..there.clone()
    })
}

fn share(node: &Node, path: &str) -> Result<f64> {
    let value = match node.value {
        Value::Whole(n) => n as f64,
        Value::Real(n) => n,
        _ => return Err(wrong_type(node, path, "it must be a number from 0 to 1")),
    };
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    node.place.refuse(format!("`{path}` is {value}"), "it must be a number from 0 to 1")
}

fn need_share(section: &Section, name: &str) -> Result<f64> {
    let node = section.get(name).ok_or_else(|| section.missing(name, "0.01"))?;
    share(node, &section.key(name))
}

/// `"1 Mbit/s"`, `{ steps = [{ at = "0 s", rate = "1 Mbit/s" }, ...] }`, or `{ mahimahi = "cell.up" }`.
fn rate(node: &Node, path: &str, files: Read) -> Result<Rate> {
    if let Value::Table(_) = node.value {
        let section = Section::new(node, path, keys::STEPS)?;
        if let Some(name) = section.text("mahimahi")? {
            section.allow(&["mahimahi"])?;
            let (file, bytes) = files(name, &section.place_of("mahimahi"))?;
            return mahimahi::read(&file, &bytes).map(|trace| Rate::Opportunities(Arc::new(trace)));
        }
        let rows = steps(&section, keys::RATE_STEP, "rate", |row| {
            row.need("rate", "\"1 Mbit/s\"", bit_rate_or_none)
        })?;
        if rows.iter().all(|row| row.1 == BitRate(0)) {
            return section.refuse(
                "steps",
                format!("`{path}` is 0 bit/s at all times"),
                "let a step carry something",
            );
        }
        return Ok(Rate::Table(rows));
    }
    crate::read_quantity(node, path, bit_rate).map(Rate::Constant)
}

/// `"5 s"`, or `{ steps = [{ at = "0 s", delay = "240 s" }, ...] }` with straight lines between, or
/// `{ file = "earth_mars.txt" }` of light times or of JPL Horizons; a table may have a `variance` too.
fn delay(node: &Node, path: &str, files: Read) -> Result<Delay> {
    let Value::Table(_) = node.value else {
        return crate::read_quantity(node, path, time).map(Delay::Constant);
    };
    let open = Section::new(node, path, keys::DELAY)?;
    let mean = Delay::Curve(match open.text("file")? {
        Some(name) => {
            open.allow(&["file", "variance", "every"])?;
            let (file, bytes) = files(name, &open.place_of("file"))?;
            ephemeris::read(&file, &bytes)?
        }
        None => {
            open.allow(&["steps", "variance", "every"])?;
            steps(&open, keys::DELAY_STEP, "delay", |row| row.need("delay", "\"240 s\"", time))?
        }
    });
    let every = open.quantity("every", positive_time)?;
    match open.quantity("variance", deviation)? {
        Some(deviation) => {
            let every = every.unwrap_or(Duration::from_nanos(250_000_000));
            Ok(Delay::Normal { mean: Box::new(mean), deviation, every })
        }
        None if every.is_some() => Err(open.missing("variance", "\"500 ms^2\"")),
        None => Ok(mean),
    }
}

/// The rows of a table over time.
fn steps<T>(
    section: &Section,
    keys: &'static [Key],
    what: &str,
    value: impl Fn(&Section) -> Result<T>,
) -> Result<Vec<(Instant, T)>> {
    let example = format!("[{{ at = \"0 s\", {what} = ... }}]");
    let list = section.get("steps").ok_or_else(|| section.missing("steps", &example))?;
    let path = section.key("steps");
    let mut rows: Vec<(Instant, T)> = Vec::new();
    for item in items(list, &path, "tables", &example)? {
        let row = Section::new(item, &path, keys)?;
        let at = Instant::ZERO.saturating_add(row.need("at", "\"0 s\"", time)?);
        if rows.last().is_some_and(|last| last.0 >= at) {
            return item.place.refuse(format!("`{path}` goes back in time"), "list later times later");
        }
        rows.push((at, value(&row)?));
    }
    Ok(rows)
}

/// `0.001`, or a table with a `model`.
fn loss(node: &Node, path: &str) -> Result<Loss> {
    let Value::Table(_) = node.value else { return share(node, path).map(Loss::uniform) };
    let open = Section::open(node, path)?;
    let (chosen, parameters) = model(&open, &LOSSES)?;
    let row = &losses::TABLE[chosen];
    let over_time =
        row.over_time.then(|| steps(&open, keys::SHARE_STEP, "share", |row| need_share(row, "share")));
    Ok(Loss::new(row, parameters, over_time.transpose()?.unwrap_or_default()))
}

/// `"100 packets"`, `"64 kB"`, or a table with a `discipline`.
fn queue(node: &Node, path: &str) -> Result<Discipline> {
    let Value::Table(_) = node.value else { return limit(node, path).map(Discipline::drop_tail) };
    let open = Section::open(node, path)?;
    let (chosen, parameters) = model(&open, &QUEUES)?;
    let most = open.get("limit").ok_or_else(|| open.missing("limit", "\"100 packets\""))?;
    Ok(Discipline::new(&queues::TABLE[chosen], limit(most, &open.key("limit"))?, parameters))
}

fn limit(node: &Node, path: &str) -> Result<Limit> {
    let right = "it must be like \"100 packets\" or \"64 kB\", and not zero";
    let Value::Text(text) = &node.value else { return Err(wrong_type(node, path, right)) };
    let limit = match text.trim().strip_suffix("packets").or_else(|| text.trim().strip_suffix("packet")) {
        Some(number) => number.trim().parse().ok().map(Limit::Packets),
        None => bytes(text).ok().map(Limit::Bytes),
    };
    match limit {
        Some(limit) if !matches!(limit, Limit::Packets(0)) && limit != Limit::Bytes(Default::default()) => {
            Ok(limit)
        }
        _ => node.place.refuse(format!("`{path}` is \"{text}\""), right),
    }
}

/// `"10 s..20 s, 40 s..50 s"`: from when to when nothing leaves.
fn windows(node: &Node, path: &str) -> Result<Vec<(Instant, Instant)>> {
    let right = "it must be like \"10 s..20 s, 1 h..2 h\", in order and apart";
    let Value::Text(text) = &node.value else { return Err(wrong_type(node, path, right)) };
    let wrong = || Error::new(&node.place, format!("`{path}` is \"{text}\""), right);
    let mut windows: Vec<(Instant, Instant)> = Vec::new();
    for part in text.split(',') {
        let (start, end) = part.split_once("..").ok_or_else(wrong)?;
        let at = |text: &str| {
            time(text.trim()).map(|span| Instant::ZERO.saturating_add(span)).map_err(|_| wrong())
        };
        let window = (at(start)?, at(end)?);
        if window.0 >= window.1 || windows.last().is_some_and(|last| last.1 >= window.0) {
            return Err(wrong());
        }
        windows.push(window);
    }
    Ok(windows)
}

fn interrupted(rate: &Rate, outages: &[(Instant, Instant)], section: &Section) -> Result<Rate> {
    let Rate::Constant(rate) = *rate else {
        let place = section.place_of("outages");
        return place.refuse(
            "a rate in steps or of a trace has no `outages`",
            "write a rate of \"0 bit/s\" as a step, or a gap in the trace",
        );
    };
    let mut rows = vec![(Instant::ZERO, rate)];
    for &(start, end) in outages {
        rows.retain(|row| row.0 < start);
        rows.extend([(start, BitRate(0)), (end, rate)]);
    }
    Ok(Rate::Table(rows))
}
