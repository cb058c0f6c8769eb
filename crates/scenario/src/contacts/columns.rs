//! Which columns of a trace mean what: as the scenario says, as the header of the file names them, or as most traces have them.

use crate::error::{Wrong, is_not, quoted};
use lightlag_protocols::time::Duration;
use std::collections::BTreeMap;

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
            Self::Sightings => ("time a b", &["a", "b", "time", "date"]),
            Self::Positions => ("time node x y", &["node", "time", "date", "x", "y", "lat", "lon"]),
        }
    }
    /// The column whose value says when.
    pub const fn when(self) -> &'static str {
        match self {
            Self::Intervals => "start",
            Self::Sightings | Self::Positions => "time",
        }
    }
}

/// What headers of published traces call the columns.
const HEADERS: &[(&str, &[&str])] = &[
    ("a", &["a", "i", "id1", "node1", "node_1", "node_a", "user1", "device1"]),
    ("b", &["b", "j", "id2", "node2", "node_2", "node_b", "user2", "device2"]),
    ("start", &["start", "start_s", "start_time", "begin"]),
    ("end", &["end", "end_s", "end_time", "stop"]),
    ("duration", &["duration", "duration_s"]),
    ("time", &["time", "time_s", "t", "timestamp", "datetime", "date_time"]),
    ("date", &["date"]),
    ("node", &["node", "node_id", "id", "device", "device_id", "user", "user_id", "vehicle", "vehicle_id"]),
    ("x", &["x", "x_m"]),
    ("y", &["y", "y_m"]),
    ("lat", &["lat", "latitude"]),
    ("lon", &["lon", "lng", "long", "longitude"]),
];

/// How the lines of a trace are read.
#[derive(Clone, Debug)]
pub struct Format {
    /// What is recorded.
    pub recorded: Recorded,
    /// The instants of the file are multiples of this.
    pub unit: Duration,
    /// Durations in the file are multiples of this.
    pub duration_unit: Duration,
    /// Lines at the start of each file that are not read.
    pub skipped_lines: u32,
    /// The column of each name.
    at: BTreeMap<&'static str, usize>,
    /// A line has this many columns at least.
    least: usize,
    /// The scenario names the columns.
    is_given: bool,
}

impl Format {
    /// Of these columns, `-` for one that is not read; without them, those of most published traces. Lines of intervals and
    /// sightings may have no `a`, those of positions no `node`: they are of the device that the name of the file says.
    ///
    /// # Errors
    /// Columns that are unknown, that come twice or that are missing.
    pub fn new(
        recorded: Recorded,
        columns: Option<&str>,
        unit: Duration,
    ) -> std::result::Result<Self, Wrong> {
        let (usual, known) = recorded.columns();
        let given = columns.unwrap_or(usual);
        let right = || format!("write as \"{usual}\"; columns are {} and `-`", known.join(", "));
        let mut at = BTreeMap::new();
        for (index, word) in given.split_whitespace().enumerate() {
            if word == "-" {
                continue;
            }
            let Some(name) = known.iter().find(|name| **name == word) else {
                return Err(Wrong::new(is_not(word, "a column"), right()));
            };
            if at.insert(*name, index).is_some() {
                return Err(Wrong::new(format!("column `{name}` comes twice"), right()));
            }
        }
        if !are_complete(recorded, &at) {
            return Err(Wrong::new(format!("the columns {} are not complete", quoted(given)), right()));
        }
        let least = at.values().max().map_or(0, |last| last + 1);
        Ok(Self {
            recorded,
            unit,
            duration_unit: unit,
            skipped_lines: 0,
            at,
            least,
            is_given: columns.is_some(),
        })
    }
    /// As the header of a file names its columns, unless the scenario does.
    pub(super) fn of_header(&self, header: &[&str]) -> Option<Self> {
        let known = self.recorded.columns().1;
        let mut at = BTreeMap::new();
        for (index, cell) in header.iter().enumerate().filter(|_| !self.is_given) {
            let cell = cell.to_ascii_lowercase();
            let Some((name, _)) = HEADERS.iter().find(|(_, names)| names.contains(&cell.as_str())) else {
                continue;
            };
            if known.contains(name) && at.insert(*name, index).is_some() {
                return None;
            }
        }
        // A start with an end and a duration says one thing twice.
        if at.contains_key("end") {
            at.remove("duration");
        }
        let least = at.values().max().map_or(0, |last| last + 1);
        are_complete(self.recorded, &at).then(|| Self { at, least, ..self.clone() })
    }
    /// Whether a line is a header: one whose time is a word and that has no number or, of positions, the six numbers that
    /// The ONE's `ExternalMovement` begins with.
    pub(super) fn is_header(&self, row: &[&str]) -> bool {
        if self.recorded == Recorded::Positions && row.len() == 6 && self.least == 4 {
            return true;
        }
        let time = self.column(self.recorded.when()).and_then(|at| row.get(at));
        let is_word = time.is_some_and(|time| time.starts_with(char::is_alphabetic));
        // "nan" and "inf" are numbers, though of no time.
        row.len() >= self.least && is_word && row.iter().all(|cell| cell.parse::<f64>().is_err())
    }
    /// Whether lines may have a duration: the scenario names such a column, or leaves the columns to the header.
    pub fn may_have_duration(&self) -> bool {
        self.at.contains_key("duration") || (!self.is_given && self.recorded == Recorded::Intervals)
    }
    /// Whether positions are degrees of latitude and longitude.
    pub fn is_geographic(&self) -> bool {
        self.at.contains_key("lat")
    }
    /// Where a column is, if lines have it.
    fn column(&self, name: &str) -> Option<usize> {
        self.at.get(name).copied()
    }
    /// Where all columns are.
    pub(super) fn columns(&self) -> Columns {
        let column = |name| self.column(name);
        let is_geographic = self.is_geographic();
        let [x, y] = if is_geographic { ["lon", "lat"] } else { ["x", "y"] };
        Columns {
            least: self.least,
            when: column(self.recorded.when()).unwrap_or_default(),
            date: column("date"),
            end: column("end"),
            duration: column("duration"),
            first: column(if self.recorded == Recorded::Positions { "node" } else { "a" }),
            second: column("b").unwrap_or_default(),
            x: column(x).unwrap_or_default(),
            y: column(y).unwrap_or_default(),
            is_geographic,
        }
    }
}

/// Where the columns of a line are, for readers of many lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    /// A line has this many at least.
    pub least: usize,
    /// The start, or the time.
    pub when: usize,
    /// The date, where it has a column of its own.
    pub date: Option<usize>,
    pub end: Option<usize>,
    pub duration: Option<usize>,
    /// The device; without this, that of the file.
    pub first: Option<usize>,
    /// The other device; positions have no other.
    pub second: usize,
    /// Metres, or degrees of longitude.
    pub x: usize,
    /// Metres, or degrees of latitude.
    pub y: usize,
    pub is_geographic: bool,
}

fn are_complete(recorded: Recorded, at: &BTreeMap<&str, usize>) -> bool {
    let has = |names: &[&str]| names.iter().all(|name| at.contains_key(name));
    let has_none = |names: &[&str]| names.iter().all(|name| !at.contains_key(name));
    match recorded {
        Recorded::Intervals => has(&["b", "start"]) && has(&["end"]) != has(&["duration"]),
        Recorded::Sightings => has(&["b", "time"]),
        Recorded::Positions => {
            let plane = has(&["x", "y"]) && has_none(&["lat", "lon"]);
            has(&["time"]) && (plane || has(&["lat", "lon"]) && has_none(&["x", "y"]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(recorded: Recorded, columns: Option<&str>) -> std::result::Result<Format, Wrong> {
        Format::new(recorded, columns, Duration::from_secs(1))
    }

    #[test]
    fn columns_that_are_unknown_missing_or_twice_are_errors() {
        for (recorded, columns, what) in [
            (Recorded::Intervals, "a b start", "are not complete"),
            (Recorded::Intervals, "a b start end duration", "are not complete"),
            (Recorded::Sightings, "a a time", "column `a` comes twice"),
            (Recorded::Sightings, "a b start", "`start` is not a column"),
            (Recorded::Positions, "node time x lat", "are not complete"),
            (Recorded::Positions, "node time x y lat", "are not complete"),
        ] {
            let wrong = of(recorded, Some(columns)).unwrap_err();
            assert!(wrong.what.contains(what), "{columns}: {}", wrong.what);
        }
    }

    #[test]
    fn a_header_names_the_columns_unless_the_scenario_does() {
        let usual = of(Recorded::Positions, None).unwrap();
        let found = usual.of_header(&["Vehicle_ID", "Timestamp", "speed", "Latitude", "lng"]).unwrap();
        let columns = ["node", "time", "lat", "lon"].map(|name| found.column(name));
        assert_eq!((columns, found.least), ([Some(0), Some(1), Some(3), Some(4)], 5));
        assert!(found.is_geographic());
        assert!(usual.of_header(&["time", "id", "lat"]).is_none(), "not complete");
        assert!(usual.of_header(&["time", "id", "node", "x", "y"]).is_none(), "two names of the node");
        let given = of(Recorded::Positions, Some("node time lat lon")).unwrap();
        assert!(given.of_header(&["time", "id", "x", "y"]).is_none());
        let intervals = of(Recorded::Intervals, None).unwrap();
        let found = intervals.of_header(&["start", "end", "duration", "i", "j"]).unwrap();
        assert_eq!(
            (found.column("end"), found.column("duration"), found.column("b")),
            (Some(1), None, Some(4))
        );
    }
}
