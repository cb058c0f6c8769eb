//! Links from contact plans: ION's contacts and ranges, The ONE's `CONN` events.

use super::links::Read;
use crate::contacts::{Id, connection_rows, ion};
use crate::{Result, Section};
use lightlag_protocols::link::{Delay, Rate};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;

#[derive(Clone, Copy)]
enum Kind {
    Ion,
    TheOne,
}

/// What a plan says of a link, in both directions.
pub struct Planned {
    pub windows: [Vec<(Instant, Instant, Option<BitRate>)>; 2],
    pub delays: [Option<Delay>; 2],
}

/// `plan = { kind = "ion", file = "plan.ionrc", from = "1", to = "2" }`.
pub fn read(section: &Section, files: Read) -> Result<Planned> {
    let kinds = [("ion", Kind::Ion), ("the_one", Kind::TheOne)];
    let kind = section.word("kind", &kinds)?.unwrap_or(Kind::Ion);
    let name = section.need_text("file", "\"plan.ionrc\"")?;
    let (from, to) = (section.need_text("from", "\"1\"")?, section.need_text("to", "\"2\"")?);
    let (file, bytes) = files(name, &section.place_of("file"))?;
    let planned = match kind {
        Kind::Ion => of_ion(&file, &bytes, from, to)?,
        Kind::TheOne => of_events(&file, &bytes, from, to)?,
    };
    if planned.windows.iter().all(Vec::is_empty) {
        let what = format!("the plan has no contact of `{from}` and `{to}`");
        return section.refuse("file", what, "name two that it brings together");
    }
    Ok(planned)
}

fn of_ion(file: &str, bytes: &[u8], from: &str, to: &str) -> Result<Planned> {
    let plan = ion(file, bytes)?;
    let windows = |a: &str, b: &str| {
        let of = plan.contacts.iter().filter(|contact| contact.a == a && contact.b == b);
        let mut windows: Vec<_> = of.map(|one| (one.start, one.end, one.rate, &one.place)).collect();
        windows.sort_by_key(|window| window.0);
        if let Some(two) = windows.windows(2).find(|two| two[1].0 < two[0].1) {
            let what = format!("the contact of `{a}` and `{b}` begins before the one before it ends");
            return two[1].3.refuse(what, "let one end before the next");
        }
        Ok(windows.into_iter().map(|(start, end, rate, _)| (start, end, rate)).collect())
    };
    let delay = |a: &str, b: &str| {
        let of = plan.ranges.iter().filter(|range| range.a == a && range.b == b);
        let mut points: Vec<(Instant, Duration)> =
            of.filter_map(|range| Some((range.start, range.delay?))).collect();
        points.sort_by_key(|point| point.0);
        points.dedup_by_key(|point| point.0);
        match points[..] {
            [] => None,
            [(_, delay)] => Some(Delay::Constant(delay)),
            _ => Some(Delay::Curve(points)),
        }
    };
    // A range holds for both directions unless the other has its own.
    let (there, back) = (delay(from, to), delay(to, from));
    let delays = [there.clone().or_else(|| back.clone()), back.or(there)];
    Ok(Planned { windows: [windows(from, to)?, windows(to, from)?], delays })
}

fn of_events(file: &str, bytes: &[u8], from: &str, to: &str) -> Result<Planned> {
    let rows = connection_rows(file, bytes)?;
    let number = |name: &str| name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok();
    let ends = [number(from), number(to)].map(|number| number.map(Id::Number));
    let of = rows.iter().filter(|row| {
        let [a, b] = [Some(&row.a), Some(&row.b)];
        let [from, to] = [ends[0].as_ref(), ends[1].as_ref()];
        (a == from && b == to) || (a == to && b == from)
    });
    let windows: Vec<_> = of.map(|row| (row.start, row.end, row.rate)).collect();
    Ok(Planned { windows: [windows.clone(), windows], delays: [None, None] })
}

impl Planned {
    /// The rate of one direction: that of each contact, or the link's own during contacts without a rate.
    pub fn rate(&self, way: usize, own: Option<BitRate>) -> Option<Rate> {
        let windows = self.windows[way].iter();
        let rated: Option<Vec<_>> =
            windows.map(|&(start, end, rate)| Some((start, end, rate.or(own)?))).collect();
        Some(Rate::within(&rated?))
    }
}
