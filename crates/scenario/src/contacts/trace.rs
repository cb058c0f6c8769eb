//! Recorded traces: lines of contacts, sightings or positions as measurement campaigns publish them, in one file or in many.

use super::columns::{Columns, Format, Recorded};
use super::dates::date_time;
use super::{SECONDS_MAX, check_order, gpx};
use crate::error::{Error, Place, Result, is_not, quoted};
use crate::files::utf8;
use crate::quantity::plain_number;
use lightlag_protocols::time::{Duration, Instant};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The most meetings or positions of a trace: more than a few gigabytes of memory hold.
const RECORDS_MAX: usize = 30_000_000;

/// A meeting of two devices as the trace has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The line, from one, counted over all files.
    pub line: u32,
    /// One device, as an index of [`Trace::ids`].
    pub a: u32,
    /// The other.
    pub b: u32,
    /// When it begins, by the clock of the files.
    pub start: Instant,
    /// When it ends; that is its start where the trace states no duration.
    pub end: Instant,
}

/// A position of a device as the trace has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// The line, from one, counted over all files.
    pub line: u32,
    /// The device, as an index of [`Trace::ids`].
    pub node: u32,
    /// When, by the clock of the files.
    pub at: Instant,
    /// Metres, or degrees of longitude.
    pub x: f64,
    /// Metres, or degrees of latitude.
    pub y: f64,
}

/// A file of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its path.
    pub file: &'a str,
    /// What it holds.
    pub bytes: &'a [u8],
    /// Added to its times.
    pub offset: Duration,
}

impl<'a> Part<'a> {
    /// A file whose times are as they stand in it.
    pub fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        Self { file, bytes, offset: Duration::ZERO }
    }
    /// The device that lines are of which name none: the name of the file without its ending.
    fn device(&self) -> &'a str {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or(self.file);
        let name = name.strip_suffix(".gz").unwrap_or(name);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }
    /// Whether it holds tracks in GPX.
    pub fn is_gpx(&self) -> bool {
        let name = self.file.to_ascii_lowercase();
        name.strip_suffix(".gz").unwrap_or(&name).ends_with(".gpx")
    }
}

/// A trace as it stands in its files.
#[derive(Clone, Debug, Default)]
pub struct Trace<'a> {
    /// Its files, and how many lines those before each have.
    pub files: Vec<(u32, Arc<str>)>,
    /// Its identifiers of devices, in order of appearance.
    pub ids: Vec<Cow<'a, str>>,
    /// Its meetings, in the order of the files; of positions none before [`super::meet`].
    pub meetings: Vec<Meeting>,
    /// Its positions, in the order of the files.
    pub fixes: Vec<Fix>,
    /// Files whose first line is a header.
    pub headers: usize,
    /// Tracks of GPX files, and their points without a time, which are not kept.
    pub tracks: usize,
    /// See [`Self::tracks`].
    pub timeless: usize,
    /// Whether positions are degrees of longitude and latitude.
    pub is_geographic: bool,
}

impl Trace<'_> {
    /// A line, which is counted over all files.
    pub fn place(&self, line: u32) -> Place {
        let at = self.files.partition_point(|(before, _)| *before < line).saturating_sub(1);
        self.files.get(at).map_or_else(
            || Place::File("trace".into()),
            |(before, file)| Place::Line(file.clone(), line.saturating_sub(*before)),
        )
    }
    /// The file; of several the first, and how many others there are.
    pub fn name(&self) -> String {
        let first = self.files.first().map_or("trace", |(_, file)| file);
        match self.files.len() {
            0 | 1 => first.to_owned(),
            2 => format!("{first} and 1 more file"),
            files => format!("{first} and {} more files", files - 1),
        }
    }
}

/// The cells of a line: between commas or semicolons, else between blanks. Quotes and brackets around a cell do not count, so that
/// rows of an SQL dump are read too.
fn cells<'a>(text: &'a str, into: &mut Vec<&'a str>) {
    const AROUND: &[char] = &[' ', '\t', '\r', '(', ')', '\'', '"'];
    into.clear();
    match text.bytes().find(|byte| matches!(byte, b',' | b';')) {
        Some(_) => {
            let separator = if text.contains(',') { ',' } else { ';' };
            into.extend(text.split(separator).map(|cell| cell.trim_matches(AROUND)));
        }
        None => into.extend(text.split_ascii_whitespace()),
    }
}

const TIMES: &str =
    "a time is a number, not negative, of at most 6.4e9 s in the `unit`, or a date as 2008-02-02 15:36:08";

/// A number of units as an instant, or a date.
fn instant(word: &str, unit: Duration, place: impl FnOnce() -> Place) -> Result<Instant> {
    // Times since 1970 in milliseconds do not fit the 53 bits of a float once they are nanoseconds.
    let whole = || word.parse::<i64>().ok()?.checked_mul(unit.as_nanos());
    let nanos = if word.bytes().all(|b| b.is_ascii_digit()) { whole() } else { None };
    let fraction = || {
        let seconds = plain_number(word)? * unit.as_secs_f64();
        (0.0..=SECONDS_MAX).contains(&seconds).then(|| Instant::from_secs_f64(seconds))
    };
    let most = Instant::from_secs_f64(SECONDS_MAX);
    let number = nanos.map(Instant::from_nanos).filter(|at| *at <= most).or_else(fraction);
    number.or_else(|| date_time(word)).ok_or_else(|| {
        let what = is_not(word, "a time");
        // 1e12 ms are in the year 2001.
        let is_ms =
            unit == Duration::from_secs(1) && word.parse().is_ok_and(|n: f64| (1e11..1e13).contains(&n));
        let hint = if is_ms { "; it looks like milliseconds: `unit = \"1 ms\"`" } else { "" };
        Error::new(&place(), what, format!("{TIMES}{hint}"))
    })
}

/// Reads a trace of one file, as [`traces`].
///
/// # Errors
/// At the first line that does not fit the columns.
pub fn trace<'a>(file: &'a str, bytes: &'a [u8], format: &Format) -> Result<Trace<'a>> {
    traces(&[Part::new(file, bytes)], format, None)
}

/// Reads a trace of one or more files. The first line of each may be a header. Files whose name ends in `.gpx` hold tracks, each of
/// which is of the device that `devices` says: by default that of the track in one file, that of the file in several.
///
/// # Errors
/// At the first line that does not fit the columns.
pub fn traces<'a>(parts: &[Part<'a>], format: &Format, devices: Option<gpx::Devices>) -> Result<Trace<'a>> {
    let usual = if parts.len() == 1 { gpx::Devices::Tracks } else { gpx::Devices::Files };
    let mut reader = Reader {
        trace: Trace::default(),
        known: HashMap::new(),
        format,
        columns: format.columns(),
        devices: devices.unwrap_or(usual),
        file: "trace".into(),
        lines_before: 0,
        offset: Duration::ZERO,
        device: "",
    };
    for part in parts {
        reader.part(part)?;
    }
    let trace = reader.trace;
    if trace.ids.is_empty() {
        let what = if trace.timeless > 0 {
            format!("none of the {} points has a time", trace.timeless)
        } else if parts.iter().any(Part::is_gpx) {
            "the file has no points of tracks".to_owned()
        } else {
            "the file has a header only".to_owned()
        };
        let file = trace.files.first().map_or_else(|| "trace".into(), |(_, file)| file.clone());
        return Place::File(file).refuse(what, "name a file with at least one line of data");
    }
    Ok(trace)
}

struct Reader<'a, 'f> {
    trace: Trace<'a>,
    known: HashMap<Cow<'a, str>, u32>,
    format: &'f Format,
    /// Those of the format, or those that the header of the file names.
    columns: Columns,
    devices: gpx::Devices,
    /// The file that is read.
    file: Arc<str>,
    /// Lines of the files before.
    lines_before: u32,
    offset: Duration,
    /// The device that lines of the file are of which name none.
    device: &'a str,
}

impl<'a> Reader<'a, '_> {
    fn part(&mut self, part: &Part<'a>) -> Result<()> {
        self.file = part.file.into();
        (self.offset, self.device) = (part.offset, part.device());
        self.columns = self.format.columns();
        self.trace.files.push((self.lines_before, self.file.clone()));
        let text = utf8(part.file, part.bytes)?;
        let (lines, is_geographic) = if part.is_gpx() {
            (self.gpx(text)?, true)
        } else {
            (self.lines(text)?, self.columns.is_geographic)
        };
        self.lines_before = self.lines_before.saturating_add(lines);
        if self.trace.files.len() > 1 && is_geographic != self.trace.is_geographic {
            return Place::File(self.file.clone()).refuse(
                "some files have positions in degrees and others in metres",
                "name files with positions of one kind",
            );
        }
        self.trace.is_geographic = is_geographic;
        Ok(())
    }
    /// Reads lines, and returns how many there are.
    fn lines(&mut self, text: &'a str) -> Result<u32> {
        let (mut row, mut last, mut is_first) = (Vec::new(), 0, true);
        for (number, text) in (1_u32..).zip(text.lines()).skip(self.format.skipped_lines as usize) {
            let text = text.split_once('#').map_or(text, |(before, _)| before).trim();
            if text.is_empty() {
                continue;
            }
            cells(text, &mut row);
            last = number;
            let header = if is_first { self.format.of_header(&row) } else { None };
            let is_header = is_first && (header.is_some() || self.format.is_header(&row));
            is_first = false;
            if let Some(format) = header {
                self.columns = format.columns();
            }
            if is_header {
                self.trace.headers += 1;
            } else {
                self.add(number, &row)?;
            }
        }
        if is_first {
            let place = Place::File(self.file.clone());
            return place.refuse("the file has no lines of data", "name a file with at least one line");
        }
        Ok(last)
    }
    /// Reads tracks, and returns the number of the last line.
    fn gpx(&mut self, text: &str) -> Result<u32> {
        let file = self.file.clone();
        if self.format.recorded != Recorded::Positions {
            let right = "say kind = \"positions\" and `range`";
            return Place::File(file).refuse("a GPX file has positions", right);
        }
        let found = gpx::tracks(|line| Place::Line(file.clone(), line), text)?;
        self.trace.timeless += found.timeless;
        let names = gpx::names(&found.tracks);
        let mut last = 0;
        for (track, name) in found.tracks.iter().zip(names).filter(|(track, _)| !track.points.is_empty()) {
            self.trace.tracks += 1;
            let node = match self.devices {
                gpx::Devices::Tracks => self.id(Cow::Owned(name)),
                gpx::Devices::Files => self.id(Cow::Borrowed(self.device)),
            };
            for point in &track.points {
                last = last.max(point.line);
                let at = self.shifted(point.at, point.line)?;
                let line = self.lines_before.saturating_add(point.line);
                self.fix(Fix { line, node, at, x: point.lon, y: point.lat })?;
            }
        }
        Ok(last)
    }
    fn place(&self, line: u32) -> Place {
        Place::Line(self.file.clone(), line)
    }
    /// A time of the file by the clock of all files.
    fn shifted(&self, at: Instant, line: u32) -> Result<Instant> {
        let shifted = at.saturating_add(self.offset);
        if Instant::ZERO <= shifted && shifted <= Instant::from_secs_f64(SECONDS_MAX) {
            return Ok(shifted);
        }
        self.place(line).refuse(
            "the time plus the offset of its file is out of range",
            "a time is not negative, and at most 6.4e9 s",
        )
    }
    /// The time of a line, by the clock of all files.
    fn when(&self, line: u32, row: &[&str], column: usize) -> Result<Instant> {
        let (word, place) = (row[column], || self.place(line));
        let at = match self.columns.date {
            Some(date) => instant(&format!("{} {word}", row[date]), self.format.unit, place)?,
            None => instant(word, self.format.unit, place)?,
        };
        self.shifted(at, line)
    }
    fn add(&mut self, line: u32, row: &[&'a str]) -> Result<()> {
        let columns = self.columns;
        if row.len() < columns.least {
            let what = format!("the line has {} columns of {}", row.len(), columns.least);
            return self.place(line).refuse(what, "set `columns`");
        }
        let line_of_all = self.lines_before.saturating_add(line);
        let start = self.when(line, row, columns.when)?;
        if self.format.recorded == Recorded::Positions {
            let (x, y) = self.point(line, row)?;
            let node = self.device(row, columns.first);
            return self.fix(Fix { line: line_of_all, node, at: start, x, y });
        }
        let end = match (columns.end, columns.duration) {
            (Some(end), _) => self.when(line, row, end)?,
            (_, Some(lasts)) => {
                start + (instant(row[lasts], self.format.duration_unit, || self.place(line))? - Instant::ZERO)
            }
            _ => start,
        };
        if end < start {
            check_order(start, end, &self.place(line)).map_err(|error| {
                let right = format!(
                    "{}; if that is a duration: `columns = \"a b start duration\"`, with `-` for a column that is not read",
                    error.right
                );
                Error { right, ..error }
            })?;
        }
        let (a, b) = (self.device(row, columns.first), self.device(row, Some(columns.second)));
        self.check_count(self.trace.meetings.len(), line)?;
        self.trace.meetings.push(Meeting { line: line_of_all, a, b, start, end });
        Ok(())
    }
    /// The position of a line, in metres or degrees.
    fn point(&self, line: u32, row: &[&str]) -> Result<(f64, f64)> {
        let number = |column: usize, name: &str, most: f64| {
            let word = row[column];
            plain_number(word).filter(|n| n.abs() <= most).ok_or_else(|| {
                let what = format!("{} is not a {name}", quoted(word));
                let right = format!("write a number from -{most} to {most}; set `columns`");
                Error::new(&self.place(line), what, right)
            })
        };
        let Columns { x, y, is_geographic, .. } = self.columns;
        let limits = if is_geographic {
            [("longitude in degrees", 180.0), ("latitude in degrees", 90.0)]
        } else {
            [("position in metres", 1e9); 2]
        };
        Ok((number(x, limits[0].0, limits[0].1)?, number(y, limits[1].0, limits[1].1)?))
    }
    fn fix(&mut self, fix: Fix) -> Result<()> {
        self.check_count(self.trace.fixes.len(), fix.line.saturating_sub(self.lines_before))?;
        self.trace.fixes.push(fix);
        Ok(())
    }
    fn check_count(&self, count: usize, line: u32) -> Result<()> {
        if count < RECORDS_MAX {
            return Ok(());
        }
        let what = format!("the trace has more than {RECORDS_MAX} lines of data");
        self.place(line).refuse(what, "leave out what the run does not need")
    }
    /// The device of a column; without the column, that of the file.
    fn device(&mut self, row: &[&'a str], column: Option<usize>) -> u32 {
        let word = column.map_or(self.device, |at| row[at]);
        match self.known.get(word) {
            Some(known) => *known,
            None => self.id(Cow::Borrowed(word)),
        }
    }
    /// Its index.
    fn id(&mut self, word: Cow<'a, str>) -> u32 {
        if let Some(known) = self.known.get(&word) {
            return *known;
        }
        let number = self.trace.ids.len() as u32;
        self.trace.ids.push(word.clone());
        self.known.insert(word, number);
        number
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
            assert_eq!(found.headers, usize::from(text.starts_with('n')));
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
        assert_eq!((found.headers, found.fixes[0]), (1, Fix { line: 2, node: 0, at, x: 1.5, y: -2.0 }));
        let degrees = format(Recorded::Positions, "node time lat lon", S);
        let found = trace("f", b"bus 5 50.25 8.5\n", &degrees).unwrap();
        assert_eq!((degrees.is_geographic(), found.fixes[0].x, found.fixes[0].y), (true, 8.5, 50.25));
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_its_line() {
        let usual = Format::new(Recorded::Intervals, None, S).unwrap();
        let refusal = |text: &str| trace("f", text.as_bytes(), &usual).unwrap_err().to_string();
        assert_eq!(refusal("1 2 10"), "f:1: the line has 3 columns of 4; set `columns`");
        assert_eq!(refusal("1 2 3 4\n\n1 2 x 4").split(';').next(), Some("f:3: `x` is not a time"));
        assert!(refusal("1 2 4 3").starts_with("f:1: the contact ends before it starts"));
        for time in ["-1", "1e99", "9999999999999999999", "nan", "7e9"] {
            assert!(
                refusal(&format!("1 2 3 4\n1 2 {time} 9999999999999")).contains("is not a time"),
                "{time}"
            );
        }
        assert_eq!(
            refusal("a b start end"),
            "f: the file has a header only; name a file with at least one line of data"
        );
    }

    #[test]
    fn headers_name_columns_and_times_may_be_dates() {
        let usual = Format::new(Recorded::Positions, None, S).unwrap();
        let text = "\u{feff}id,timestamp,latitude,longitude\n7,2008-02-02 15:36:08,39.9,116.5\n";
        let found = trace("f", text.as_bytes(), &usual).unwrap();
        let at = Instant::from_secs(1_201_966_568);
        assert_eq!((found.headers, found.is_geographic, &*found.ids[0]), (1, true, "7"));
        assert_eq!(found.fixes, [Fix { line: 2, node: 0, at, x: 116.5, y: 39.9 }]);
        let split = format(Recorded::Positions, "node date time lon lat", S);
        let found = trace("f", b"7 2008-02-02 15:36:08 116.5 39.9\n", &split).unwrap();
        assert_eq!(found.fixes, [Fix { line: 1, node: 0, at, x: 116.5, y: 39.9 }]);
        let swapped = trace("f", b"7 2008-02-02 15:36:08 39.9 116.5\n", &split).unwrap_err().to_string();
        assert_eq!(
            swapped,
            "f:1: `116.5` is not a latitude in degrees; write a number from -90 to 90; set `columns`"
        );
    }

    #[test]
    fn files_follow_each_other_with_their_offsets_and_name_their_devices() {
        let format = format(Recorded::Sightings, "time b", S);
        let day = Duration::from_secs(86_400);
        let parts = [
            Part::new("day1/ann.dat", b"5 bob\n# nothing\n9 cid\n"),
            Part { offset: day, ..Part::new("day2/ann.dat.gz", b"5 bob\n") },
            Part::new("day1\\bob.dat", b"7 ann\n"),
        ];
        let found = traces(&parts, &format, None).unwrap();
        assert_eq!(found.ids, ["ann", "bob", "cid"]);
        let shown: Vec<_> = found.meetings.iter().map(|m| (m.a, m.b, m.start.as_secs_f64())).collect();
        assert_eq!(shown, [(0, 1, 5.0), (0, 2, 9.0), (0, 1, 86_405.0), (1, 0, 7.0)]);
        let places: Vec<_> = found.meetings.iter().map(|m| found.place(m.line).to_string()).collect();
        assert_eq!(places, ["day1/ann.dat:1", "day1/ann.dat:3", "day2/ann.dat.gz:1", "day1\\bob.dat:1"]);
        assert_eq!(found.name(), "day1/ann.dat and 2 more files");
        let early = Part { offset: Duration::from_secs(-6), ..parts[0] };
        let wrong = traces(&[early], &format, None).unwrap_err().to_string();
        assert!(
            wrong.starts_with("day1/ann.dat:1: the time plus the offset of its file is out of range"),
            "{wrong}"
        );
    }

    #[test]
    fn tracks_are_devices_in_one_file_and_files_are_in_several() {
        let point = |s: u32| format!("<trkpt lat='1' lon='2'><time>1970-01-01T00:00:0{s}Z</time></trkpt>");
        let text = format!("<gpx>\n<trk><name>x</name>{}</trk>\n<trk>{}</trk></gpx>", point(1), point(2));
        let usual = Format::new(Recorded::Positions, None, S).unwrap();
        let one = Part::new("a.gpx", text.as_bytes());
        let two = Part::new("b.GPX", text.as_bytes());
        let ids = |parts: &[Part], devices| {
            let found = traces(parts, &usual, devices).unwrap();
            assert_eq!((found.tracks, found.is_geographic), (2 * parts.len(), true));
            found.ids.into_iter().map(Cow::into_owned).collect::<Vec<_>>()
        };
        assert_eq!(ids(&[one], None), ["x", "2"]);
        assert_eq!(ids(&[one, two], None), ["a", "b"]);
        assert_eq!(ids(&[one], Some(gpx::Devices::Files)), ["a"]);
        assert_eq!(ids(&[one, two], Some(gpx::Devices::Tracks)), ["x", "2"]);
        let mixed = traces(&[one, Part::new("c.csv", b"5 2 1 2")], &usual, None).unwrap_err().to_string();
        assert!(
            mixed.starts_with("c.csv: some files have positions in degrees and others in metres"),
            "{mixed}"
        );
        let intervals = Format::new(Recorded::Intervals, None, S).unwrap();
        let wrong = trace("a.gpx", text.as_bytes(), &intervals).unwrap_err().to_string();
        assert_eq!(wrong, "a.gpx: a GPX file has positions; say kind = \"positions\" and `range`");
        let timeless = b"<gpx><trk><trkpt lat='1' lon='2'/></trk></gpx>";
        let wrong = trace("a.gpx", timeless, &usual).unwrap_err().to_string();
        assert!(wrong.starts_with("a.gpx: none of the 1 points has a time"), "{wrong}");
    }
}
