//! Recorded traces of `[contacts.NAME]`: their files, and how they are read.

use super::Context;
use super::section::{Section, items, quantity, wrong_type};
use crate::contacts::{
    Devices, Format, Ids, Part, Recorded, Resolver, Taken, date_time, from_trace, meet, traces,
};
use crate::error::{Error, Place, Result, Wrong, quoted};
use crate::model::ScheduledContact;
use crate::quantity as q;
use crate::tree::{Node, Value};
use lightlag_protocols::time::{Duration, Instant};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Keys of recorded traces.
pub const KEYS: &[&str] = &[
    "columns",
    "unit",
    "duration_unit",
    "sighting",
    "ids",
    "range",
    "gap",
    "files",
    "offsets",
    "every",
    "devices",
    "skip_lines",
];

/// A node that has no position for longer is gone.
const GAP: Duration = Duration::from_secs(600);

/// More files than any trace has.
const FILES_MAX: usize = 20_000;

/// More lines than any file has before its data.
const LINES_MAX: i64 = 1_000_000;

/// A file of a trace.
struct File {
    name: String,
    bytes: Arc<[u8]>,
    offset: Duration,
}

impl File {
    fn part(&self) -> Part<'_> {
        Part { file: &self.name, bytes: &self.bytes, offset: self.offset }
    }
}

/// The instant of the file at which the run starts; without one that of the first contact.
pub fn origin(section: &Section) -> Result<Option<Instant>> {
    let parse = |text: &str| match (text, date_or_day(text)) {
        ("first", _) => Ok(None),
        (_, Some(date)) => Ok(Some(date - Instant::ZERO)),
        _ => q::time(text).map(Some).map_err(|wrong| {
            Wrong::new(
                wrong.what,
                format!("{}, as a date like \"2024-05-01 12:00:00\", or as \"first\"", wrong.right),
            )
        }),
    };
    let given = section.quantity("origin", parse)?.unwrap_or(Some(Duration::ZERO));
    Ok(given.map(|after| Instant::ZERO.saturating_add(after)))
}

/// A date with a time of day, or a day, which begins at midnight in UTC.
fn date_or_day(text: &str) -> Option<Instant> {
    date_time(text).or_else(|| date_time(&format!("{text} 00:00")))
}

/// Reads a recorded trace as the scenario says: its contacts, and a line on what became of it.
pub fn contacts(
    section: &Section,
    recorded: Recorded,
    resolver: &Resolver,
    from_first: bool,
    context: &Context,
) -> Result<(Vec<ScheduledContact>, String)> {
    let format = format(section, recorded)?;
    let files = files(section, context)?;
    let parts: Vec<Part> = files.iter().map(File::part).collect();
    let devices = section.word("devices", &[("tracks", Devices::Tracks), ("files", Devices::Files)])?;
    if devices.is_some() && !parts.iter().any(Part::is_gpx) {
        let what = format!("`{}` is a key of GPX files", section.key("devices"));
        return section.refuse("devices", what, "leave it out");
    }
    let mut found = traces(&parts, &format, devices)?;
    let (mut moved, mut gap) = (None, GAP);
    if recorded == Recorded::Positions {
        let range_m = section.need("range", "\"10 m\"", q::length_m)?;
        gap = section.quantity("gap", q::positive_time)?.unwrap_or(GAP);
        let met = meet(&mut found, range_m, gap);
        moved = Some(met.map_err(|wrong| Error::at(&section.place_of("range"), wrong))?);
    } else if let Some(name) = ["range", "gap"].into_iter().find(|name| section.get(name).is_some()) {
        let what = format!("`{}` is a key of positions", section.key(name));
        return section.refuse(name, what, "leave it out, or say kind = \"positions\"");
    }
    let ids = match section.text("ids")? {
        None => Ids::Named,
        Some("all") => Ids::All,
        Some(list) => Ids::Listed(list.split_whitespace().map(str::to_owned).collect()),
    };
    let sighting = section.quantity("sighting", q::positive_time)?;
    let taken = Taken { ids, sighting, from_first, moved, gap, place: section.place_of("ids") };
    from_trace(&found, &taken, resolver)
}

fn format(section: &Section, recorded: Recorded) -> Result<Format> {
    let unit = section.quantity("unit", q::positive_time)?.unwrap_or(Duration::from_secs(1));
    let given = section.quantity("columns", |text| Format::new(recorded, Some(text), unit))?;
    let mut format = match given {
        Some(format) => format,
        None => Format::new(recorded, None, unit).map_err(|wrong| Error::at(&section.place, wrong))?,
    };
    let skipped = section.whole("skip_lines", 0, LINES_MAX)?.unwrap_or(0);
    format.skipped_lines = u32::try_from(skipped).unwrap_or(u32::MAX);
    if let Some(unit) = section.quantity("duration_unit", q::positive_time)? {
        if !format.may_have_duration() {
            let what = format!("`{}` needs a column `duration`", section.key("duration_unit"));
            return section.refuse(
                "duration_unit",
                what,
                "write `columns = \"a b start duration\"`, or leave it out",
            );
        }
        format.duration_unit = unit;
    }
    Ok(format)
}

/// The files of a trace with their offsets: those of `files`, or of `file`.
fn files(section: &Section, context: &Context) -> Result<Vec<File>> {
    let mut found = Vec::new();
    for (name, place) in names(section)? {
        for path in expanded(name, &place, &context.folders)? {
            if found.len() >= FILES_MAX {
                return place.refuse(format!("there are more than {FILES_MAX} files"), "name fewer");
            }
            let bytes = context.files.read(&path, &place)?;
            found.push(File { name: path.display().to_string(), bytes, offset: Duration::ZERO });
        }
    }
    let count = found.len();
    for (file, offset) in found.iter_mut().zip(offsets(section, count)?) {
        file.offset = offset;
    }
    Ok(found)
}

/// Names of files, which may have `*`, and where they stand.
fn names<'s>(section: &'s Section) -> Result<Vec<(&'s str, Place)>> {
    let Some(node) = section.get("files") else {
        let one = section.need_text("file", "\"contacts.csv\"`, or `files = [\"day1.csv\", \"day2.csv\"]")?;
        let given = ["offsets", "every"].into_iter().find(|name| section.get(name).is_some());
        if let (Some(name), false) = (given, one.contains('*')) {
            let what = format!("`{}` needs `files`", section.key(name));
            return section.refuse(name, what, "give `files`, or leave it out");
        }
        return Ok(vec![(one, section.place_of("file"))]);
    };
    if section.get("file").is_some() {
        return node.place.refuse("both `file` and `files` are given", "give one of them");
    }
    let path = section.key("files");
    let right = "it must be names of files in quotes, in a list if there are several";
    let text = |node: &'s Node| match &node.value {
        Value::Text(name) => Ok((name.as_str(), node.place.clone())),
        _ => Err(wrong_type(node, &path, right)),
    };
    match &node.value {
        Value::List(_) => {
            items(node, &path, "names of files", "name a file")?.iter().map(|node| text(node)).collect()
        }
        _ => Ok(vec![text(node)?]),
    }
}

/// What is added to the times of each file.
fn offsets(section: &Section, count: usize) -> Result<Vec<Duration>> {
    let every = section.quantity("every", q::positive_time)?;
    let Some(node) = section.get("offsets") else {
        let every = every.unwrap_or(Duration::ZERO);
        return Ok((0..count as i64).map(|index| every * index).collect());
    };
    if every.is_some() {
        return node.place.refuse("both `offsets` and `every` are given", "give one of them");
    }
    let path = section.key("offsets");
    let given = items(node, &path, "times", "give a time for each file")?;
    if given.len() != count {
        let what = format!("`{path}` has {} times, and there are {count} files", given.len());
        return node.place.refuse(what, "give a time for each file, in the order of `files`");
    }
    given.iter().map(|offset| quantity(offset, &path, q::time)).collect()
}

/// The files that a name with `*` stands for, in the order of their names; another name stands for itself.
fn expanded(name: &str, place: &Place, folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if !name.contains('*') {
        return Ok(vec![crate::files::locate(name, folders)]);
    }
    let here = [PathBuf::new()];
    let folders = if folders.is_empty() { &here } else { folders };
    for folder in folders {
        // Only `*` has a meaning of its own, and only in the name.
        let below = glob::Pattern::escape(name).replace("[*]", "*");
        let pattern = Path::new(&glob::Pattern::escape(&folder.display().to_string())).join(below);
        let wrong = |error: String| {
            Error::new(place, format!("{}: {error}", quoted(name)), "write as \"tracks/*.gpx\"")
        };
        let mut found = crate::given::like(&pattern).map_err(wrong)?;
        if !found.is_empty() {
            found.sort_by_cached_key(|path| crate::files::in_order(&path.display().to_string()));
            return Ok(found);
        }
    }
    place.refuse(format!("no file is named like {}", quoted(name)), "name files that exist")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_star_stand_for_files_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a [1] *");
        std::fs::create_dir(&odd).unwrap();
        for name in ["day10.csv", "day2.csv", "day02.csv", "day1.csv", "day.txt", "[x].csv"] {
            std::fs::write(odd.join(name), "").unwrap();
        }
        std::fs::create_dir(odd.join("day3.csv")).unwrap();
        let place = Place::File("s.toml".into());
        let names = |name: &str| {
            expanded(name, &place, &["/missing".into(), odd.clone()]).map(|found| {
                found
                    .iter()
                    .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(names("day*.csv").unwrap(), ["day1.csv", "day2.csv", "day02.csv", "day10.csv"]);
        assert_eq!(names("[*].csv").unwrap(), ["[x].csv"]);
        let wrong = names("night*.csv").unwrap_err().to_string();
        assert_eq!(wrong, "s.toml: no file is named like `night*.csv`; name files that exist");
    }
}
