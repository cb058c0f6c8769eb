//! Recorded traces: lines of contacts, sightings or positions as measurement campaigns publish them.

use super::{Lines, SECONDS_MAX, check_order};
use crate::error::{Error, Place, Result, Wrong, quoted};
use crate::quantity::plain_number;
use lightlag_protocols::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a trace records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// Contacts with a start and an end.
    Intervals,
    /// Instants at which a node saw another.
    Sightings,
    /// Positions of nodes; those within range of each other have a contact.
    Positions,
}

impl Recorded {
    /// The columns without `columns`, and all that `columns` may name.
    const fn columns(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Intervals => ("a b start end", &["a", "b", "start", "end", "duration"]),
            Self::Sightings => ("time a b", &["a", "b", "time"]),
            Self::Positions => ("time node x y", &["node", "time", "x", "y", "lat", "lon"]),
        }
    }
}

/// How the lines of a trace are read.
#[derive(Clone, Debug)]
pub struct Format {
    /// What is recorded.
    pub recorded: Recorded,
    /// The instants of the file are multiples of this.
    pub unit: Duration,
    /// The column of each name.
    at: BTreeMap<&'static str, usize>,
    /// A line has this many columns at least.
    least: usize,
}

impl Format {
    /// Of these columns, `-` for one that is not read; without them, those of most published traces.
    ///
    /// # Errors
    /// Columns that are unknown, that come twice or that are missing.
    pub fn new(
        recorded: Recorded,
        columns: Option<&str>,
        unit: Duration,
    ) -> std::result::Result<Self, Wrong> {
        let (usual, known) = recorded.columns();
        let columns = columns.unwrap_or(usual);
        let right = || format!("write as \"{usual}\"; columns are {} and `-`", known.join(", "));
        let mut at = BTreeMap::new();
        for (index, word) in columns.split_whitespace().enumerate() {
            if word == "-" {
                continue;
            }
            let Some(name) = known.iter().find(|name| **name == word) else {
                return Err(Wrong::new(format!("{} is no column", quoted(word)), right()));
            };
            if at.insert(*name, index).is_some() {
                return Err(Wrong::new(format!("column `{name}` comes twice"), right()));
            }
        }
        let has = |names: &[&str]| names.iter().all(|name| at.contains_key(name));
        let fits = match recorded {
            Recorded::Intervals => has(&["a", "b", "start"]) && has(&["end"]) != has(&["duration"]),
            Recorded::Sightings => has(&["a", "b", "time"]),
            Recorded::Positions => {
                has(&["node", "time"]) && at.len() == 4 && (has(&["x", "y"]) || has(&["lat", "lon"]))
            }
        };
        if !fits {
            return Err(Wrong::new(format!("the columns {} are not complete", quoted(columns)), right()));
        }
        let least = at.values().max().map_or(0, |last| last + 1);
        Ok(Self { recorded, unit, at, least })
    }
    /// Whether positions are degrees of latitude and longitude.
    pub fn is_geographic(&self) -> bool {
        self.at.contains_key("lat")
    }
    fn column(&self, name: &str) -> Option<usize> {
        self.at.get(name).copied()
    }
    fn needed(&self, names: [&str; 2]) -> usize {
        names.iter().find_map(|name| self.column(name)).unwrap_or_default()
    }
}

/// A meeting of two devices as the trace has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The line, from one.
    pub line: u32,
    /// One device, as an index of [`Trace::ids`].
    pub a: u32,
    /// The other.
    pub b: u32,
    /// When it begins, by the clock of the file.
    pub start: Instant,
    /// When it ends; that is its start where the trace states no duration.
    pub end: Instant,
}

/// A position of a device as the trace has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// The line, from one.
    pub line: u32,
    /// The device, as an index of [`Trace::ids`].
    pub node: u32,
    /// When, by the clock of the file.
    pub at: Instant,
    /// Metres, or degrees of longitude.
    pub x: f64,
    /// Metres, or degrees of latitude.
    pub y: f64,
}

/// A trace as it stands in a file.
#[derive(Clone, Debug)]
pub struct Trace<'a> {
    /// The file.
    pub file: Arc<str>,
    /// Its identifiers of devices, in order of appearance.
    pub ids: Vec<&'a str>,
    /// Its meetings, in the order of the file; of positions none before [`super::positions::meet`].
    pub meetings: Vec<Meeting>,
    /// Its positions, in the order of the file.
    pub fixes: Vec<Fix>,
    /// Whether its first line is a header.
    pub has_header: bool,
}

impl Trace<'_> {
    /// A line of the file.
    pub fn place(&self, line: u32) -> Place {
        Place::Line(self.file.clone(), line)
    }
}

/// The cells of a line: between commas or semicolons, else between blanks. Quotes and brackets around a cell do not count, so that
/// rows of an SQL dump are read too.
fn cells<'a>(text: &'a str, into: &mut Vec<&'a str>) {
    const AROUND: &[char] = &[' ', '\t', '\r', '(', ')', '\'', '"'];
    into.clear();
    match [',', ';'].into_iter().find(|&separator| text.contains(separator)) {
        Some(separator) => into.extend(text.split(separator).map(|cell| cell.trim_matches(AROUND))),
        None => into.extend(text.split_ascii_whitespace()),
    }
}

/// A number of units as an instant.
fn instant(word: &str, unit: Duration, place: impl FnOnce() -> Place) -> Result<Instant> {
    // Times since 1970 in milliseconds do not fit the 53 bits of a float once they are nanoseconds.
    let whole = || word.parse::<i64>().ok()?.checked_mul(unit.as_nanos());
    let nanos = if word.bytes().all(|b| b.is_ascii_digit()) { whole() } else { None };
    let fraction = || {
        let seconds = plain_number(word)? * unit.as_secs_f64();
        (0.0..=SECONDS_MAX).contains(&seconds).then(|| Instant::from_secs_f64(seconds))
    };
    let most = Instant::from_secs_f64(SECONDS_MAX);
    nanos.map(Instant::from_nanos).filter(|at| *at <= most).or_else(fraction).ok_or_else(|| {
        let what = format!("{} is no time", quoted(word));
        Error::new(&place(), what, "a time is a number, not negative, of at most 6.4e9 s in the `unit`")
    })
}

/// Reads the lines of a trace. The first may be a header: one whose time is no number or, of positions, the six numbers that The
/// ONE's `ExternalMovement` begins with.
///
/// # Errors
/// At the first line that does not fit the columns.
pub fn trace<'a>(file: &str, bytes: &'a [u8], format: &Format) -> Result<Trace<'a>> {
    let lines = Lines::new(file, bytes)?;
    let mut reader = Reader {
        trace: Trace {
            file: lines.file.clone(),
            ids: Vec::new(),
            meetings: Vec::new(),
            fixes: Vec::new(),
            has_header: false,
        },
        known: BTreeMap::new(),
        format,
    };
    let mut row = Vec::new();
    for (index, (number, text)) in lines.texts().enumerate() {
        cells(text, &mut row);
        if index == 0 && reader.is_header(&row) {
            reader.trace.has_header = true;
        } else {
            reader.add(number, &row)?;
        }
    }
    let trace = reader.trace;
    if trace.ids.is_empty() {
        let right = "name a file with at least one line of data";
        return Place::File(trace.file).refuse("the file has a header only", right);
    }
    Ok(trace)
}

struct Reader<'a, 'f> {
    trace: Trace<'a>,
    known: BTreeMap<&'a str, u32>,
    format: &'f Format,
}

impl<'a> Reader<'a, '_> {
    fn is_header(&self, row: &[&str]) -> bool {
        if self.format.recorded == Recorded::Positions && row.len() == 6 && self.format.least == 4 {
            return true;
        }
        let time = row.get(self.format.needed(["start", "time"]));
        row.len() >= self.format.least && time.is_some_and(|time| time.starts_with(char::is_alphabetic))
    }
    fn add(&mut self, line: u32, row: &[&'a str]) -> Result<()> {
        let format = self.format;
        let place = || Place::Line(self.trace.file.clone(), line);
        if row.len() < format.least {
            let what = format!("the line has {} columns of {}", row.len(), format.least);
            return place().refuse(what, "see to `columns`");
        }
        let start = instant(row[format.needed(["start", "time"])], format.unit, place)?;
        if format.recorded == Recorded::Positions {
            let number = |names| {
                let word = row[format.needed(names)];
                plain_number(word).filter(|n| n.abs() <= 1e9).ok_or_else(|| {
                    let what = format!("{} is no coordinate", quoted(word));
                    Error::new(&place(), what, "a coordinate is a number of metres or degrees")
                })
            };
            let (x, y) = (number(["x", "lon"])?, number(["y", "lat"])?);
            let node = self.id(row[format.needed(["node", "node"])]);
            self.trace.fixes.push(Fix { line, node, at: start, x, y });
            return Ok(());
        }
        let end = match (format.column("end"), format.column("duration")) {
            (Some(end), _) => instant(row[end], format.unit, place)?,
            (_, Some(lasts)) => start + (instant(row[lasts], format.unit, place)? - Instant::ZERO),
            _ => start,
        };
        if end < start {
            check_order(start, end, &place())?;
        }
        let (a, b) = (self.id(row[format.needed(["a", "a"])]), self.id(row[format.needed(["b", "b"])]));
        self.trace.meetings.push(Meeting { line, a, b, start, end });
        Ok(())
    }
    /// Its index.
    fn id(&mut self, word: &'a str) -> u32 {
        *self.known.entry(word).or_insert_with(|| {
            self.trace.ids.push(word);
            self.trace.ids.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);
    const MS: Duration = Duration::from_nanos(1_000_000);

    fn format(recorded: Recorded, columns: &str, unit: Duration) -> Format {
        Format::new(recorded, Some(columns), unit).unwrap()
    }

    #[test]
    fn lines_are_read_by_their_columns_whatever_separates_them() {
        let columns = "- time a - b";
        for text in [
            "#INSERT INTO t\n(1, 12, 'ab', 'x', 'cd', 1),\n",
            "n,time,who,-,whom\n1,12,ab,x,cd\n",
            "1;12;ab;x;cd",
            "1 12\tab x cd more",
        ] {
            let found = trace("f", text.as_bytes(), &format(Recorded::Sightings, columns, S)).unwrap();
            assert_eq!(found.ids, ["ab", "cd"], "{text}");
            let (start, line) = (Instant::from_secs(12), text.lines().count() as u32);
            assert_eq!(found.meetings, [Meeting { line, a: 0, b: 1, start, end: start }], "{text}");
            assert_eq!(found.has_header, text.starts_with('n'));
        }
    }

    #[test]
    fn milliseconds_since_1970_are_exact_and_durations_follow_the_start() {
        let format = format(Recorded::Intervals, "a b start duration", MS);
        let found = trace("f", b"1,16,1334127549001,96000\n1,16,0.5,0\n", &format).unwrap();
        let start = Instant::from_nanos(1_334_127_549_001_000_000);
        assert_eq!(
            (found.meetings[0].start, found.meetings[0].end - start),
            (start, Duration::from_secs(96))
        );
        assert_eq!(found.meetings[1].end, Instant::from_nanos(500_000));
    }

    #[test]
    fn positions_may_begin_with_the_limits_of_the_one() {
        let usual = Format::new(Recorded::Positions, None, S).unwrap();
        let found = trace("f", b"0 90 0 20 0 30\n5 2 1.5 -2\n", &usual).unwrap();
        let at = Instant::from_secs(5);
        assert_eq!((found.has_header, found.fixes[0]), (true, Fix { line: 2, node: 0, at, x: 1.5, y: -2.0 }));
        let degrees = format(Recorded::Positions, "node time lat lon", S);
        let found = trace("f", b"bus 5 50.25 8.5\n", &degrees).unwrap();
        assert_eq!((degrees.is_geographic(), found.fixes[0].x, found.fixes[0].y), (true, 8.5, 50.25));
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_its_line() {
        let usual = Format::new(Recorded::Intervals, None, S).unwrap();
        let told = |text: &str| trace("f", text.as_bytes(), &usual).unwrap_err().to_string();
        assert_eq!(told("1 2 10"), "f:1: the line has 3 columns of 4; see to `columns`");
        assert_eq!(told("1 2 3 4\n\n1 2 x 4").split(';').next(), Some("f:3: `x` is no time"));
        assert!(told("1 2 4 3").starts_with("f:1: the contact ends before it starts"));
        for time in ["-1", "1e99", "9999999999999999999", "nan", "7e9"] {
            assert!(told(&format!("1 2 3 4\n1 2 {time} 9999999999999")).contains("is no time"), "{time}");
        }
        assert_eq!(
            told("a b start end"),
            "f: the file has a header only; name a file with at least one line of data"
        );
        for (recorded, columns, what) in [
            (Recorded::Intervals, "a b start", "are not complete"),
            (Recorded::Intervals, "a b start end duration", "are not complete"),
            (Recorded::Sightings, "a a time", "column `a` comes twice"),
            (Recorded::Sightings, "a b start", "`start` is no column"),
            (Recorded::Positions, "node time x lat", "are not complete"),
        ] {
            let wrong = Format::new(recorded, Some(columns), S).unwrap_err();
            assert!(wrong.what.contains(what), "{columns}: {}", wrong.what);
        }
    }
}
