//! Tables that stand for several alike: `count` of them, one `apart` after the other.

use crate::keys::Key;
use crate::quantity::{positive_time, time};
use crate::{Result, Section, named};
use lightlag_protocols::time::{Duration, Instant};
use std::collections::BTreeSet;

/// Largest number of flows or consumers that a table may stand for.
const COUNT_MAX: i64 = 10_000;

/// A table, and those that it stands for.
pub struct Alike<'t> {
    /// The table.
    pub section: Section<'t>,
    /// Name and start of each.
    pub each: Vec<(String, Instant)>,
    /// When they stop.
    pub stop: Option<Instant>,
}

/// Every table `[tables.NAME]`, of which one is called a `kind`.
pub fn alike<'t>(
    root: &Section<'t>,
    (tables, kind): (&str, &str),
    keys: &'static [Key],
) -> Result<Vec<Alike<'t>>> {
    let end = root.quantity("duration", positive_time)?.unwrap_or(Duration::MAX);
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for (name, section) in named(root, tables, keys)? {
        let alike = read(&name, section, Instant::ZERO.saturating_add(end), kind)?;
        if let Some(again) = alike.each.iter().find(|one| !known.insert(one.0.clone())) {
            let what = format!("two {tables} are called `{}`", again.0);
            let right = "those of a `count` have numbers behind their name; choose another name";
            return alike.section.place.refuse(what, right);
        }
        all.push(alike);
    }
    Ok(all)
}

fn read<'t>(name: &str, section: Section<'t>, end: Instant, kind: &str) -> Result<Alike<'t>> {
    let count = section.whole("count", 1, COUNT_MAX)?.unwrap_or(1);
    let apart = section.quantity("apart", time)?.unwrap_or_default();
    let first = Instant::ZERO.saturating_add(section.quantity("start", time)?.unwrap_or_default());
    let stop = section.quantity("stop", time)?.map(|stop| Instant::ZERO.saturating_add(stop));
    let mut each = Vec::new();
    for n in 0..count {
        let start = first.saturating_add(Duration::from_nanos(apart.as_nanos().saturating_mul(n)));
        check(&section, kind, start, stop, end)?;
        each.push((if count == 1 { name.to_owned() } else { format!("{name}{n}") }, start));
    }
    Ok(Alike { section, each, stop })
}

fn check(section: &Section, kind: &str, start: Instant, stop: Option<Instant>, end: Instant) -> Result<()> {
    if stop.is_some_and(|stop| stop <= start) {
        let what = format!("`{}` comes before the {kind} starts", section.key("stop"));
        let right = format!("it starts at {} s; stop it later", start.as_secs_f64());
        return section.refuse("stop", what, right);
    }
    if start < end {
        return Ok(());
    }
    let key = if section.get("apart").is_some() { "apart" } else { "start" };
    let what = format!("`{}`: a {kind} starts at {} s", section.key(key), start.as_secs_f64());
    let right = format!("the run ends at {} s", end.as_secs_f64());
    section.refuse(key, what, right)
}
