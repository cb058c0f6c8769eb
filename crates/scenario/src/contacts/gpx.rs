//! Tracks of satellite receivers in GPX 1.0 and 1.1.

use super::dates::date_time;
use crate::error::{Error, Place, Result, is_not, quoted};
use crate::quantity::plain_number;
use lightlag_protocols::time::Instant;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

/// A point of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// The line of its end, from one.
    pub line: u32,
    /// When, since 1970.
    pub at: Instant,
    /// Longitude in degrees.
    pub lon: f64,
    /// Latitude in degrees.
    pub lat: f64,
}

/// A track: its name, if it has one, and its points. Its segments follow each other.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Track {
    pub name: Option<String>,
    pub points: Vec<Point>,
}

/// The tracks of a file.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    pub tracks: Vec<Track>,
    /// Points that say no time, and are not kept.
    pub timeless: usize,
}

/// The elements of a track that matter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Track,
    Point,
    Time,
    Name,
    Other,
}

fn element(name: &str) -> Element {
    match name {
        "trk" => Element::Track,
        "trkpt" => Element::Point,
        "time" => Element::Time,
        "name" => Element::Name,
        _ => Element::Other,
    }
}

/// More elements within each other than any track has.
const DEPTH_MAX: usize = 100;

/// Names and times are shorter.
const TEXT_BYTES_MAX: usize = 1_000;

const RIGHT: &str = "name a GPX file with tracks (`trk`) whose points have `time`";

/// All tracks of a file. Routes and waypoints are no tracks.
///
/// # Errors
/// What is no XML, and points without a place or with a time that cannot be read.
pub(super) fn tracks(place: impl Fn(u32) -> Place, text: &str) -> Result<Tracks> {
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut found = Found::default();
    let (mut line, mut counted) = (1_u32, 0_usize);
    loop {
        let event = reader.read_event();
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        let new_lines = text.as_bytes()[counted..end].iter().filter(|byte| **byte == b'\n').count();
        line = line.saturating_add(u32::try_from(new_lines).unwrap_or(u32::MAX));
        counted = end;
        let wrong = |what: String| Error::new(&place(line), what, RIGHT);
        match event.map_err(|error| wrong(format!("the file is not GPX: {error}")))? {
            Event::Start(start) => found.start(&start).map_err(wrong)?,
            Event::End(_) => found.end(line).map_err(wrong)?,
            Event::Text(text) => found.text(&text),
            Event::CData(text) => found.text(&text),
            // Names may have others; what they stand for does not matter.
            Event::GeneralRef(entity) => found.text(resolve_predefined_entity(&entity).unwrap_or("_")),
            Event::Eof => break,
            _ => {}
        }
    }
    if !found.open.is_empty() {
        return place(line).refuse("the file ends within an element", "name a whole GPX file");
    }
    Ok(found.tracks)
}

/// What has been read so far.
#[derive(Default)]
struct Found {
    tracks: Tracks,
    /// The elements that are open, from the outermost one.
    open: Vec<Element>,
    /// Longitude and latitude of the point that is read.
    position: Option<(f64, f64)>,
    at: Option<Instant>,
    words: String,
}

impl Found {
    fn start(&mut self, start: &BytesStart) -> std::result::Result<(), String> {
        if self.open.len() >= DEPTH_MAX {
            return Err(format!("more than {DEPTH_MAX} elements lie within each other"));
        }
        let element = element(start.local_name().as_ref());
        match element {
            Element::Track => self.tracks.tracks.push(Track::default()),
            Element::Point if self.open.contains(&Element::Track) => {
                self.position = Some((degrees(start, "lon", 180.0)?, degrees(start, "lat", 90.0)?));
                self.at = None;
            }
            _ => {}
        }
        self.words.clear();
        self.open.push(element);
        Ok(())
    }
    fn text(&mut self, text: &str) {
        let matters = matches!(self.open.last(), Some(Element::Time | Element::Name));
        if matters && self.words.len() + text.len() <= TEXT_BYTES_MAX {
            self.words += text;
        }
    }
    fn end(&mut self, line: u32) -> std::result::Result<(), String> {
        let closed = self.open.pop();
        let within = self.open.last().copied();
        match (closed, within) {
            (Some(Element::Time), Some(Element::Point)) => {
                let text = self.words.trim();
                let at = date_time(text);
                let wrong = || is_not(text, "a time; one is written as 2026-11-25T10:16:00Z");
                self.at = Some(at.ok_or_else(wrong)?);
            }
            (Some(Element::Name), Some(Element::Track)) => {
                let name = self.words.split_whitespace().collect::<Vec<_>>().join(" ");
                if let Some(track) = self.tracks.tracks.last_mut().filter(|_| !name.is_empty()) {
                    track.name = Some(name);
                }
            }
            (Some(Element::Point), _) => {
                let position = self.position.take().zip(self.tracks.tracks.last_mut());
                match (position, self.at.take()) {
                    (Some(((lon, lat), track)), Some(at)) => track.points.push(Point { line, at, lon, lat }),
                    (Some(_), None) => self.tracks.timeless += 1,
                    (None, _) => {}
                }
            }
            _ => {}
        }
        self.words.clear();
        Ok(())
    }
}

/// An attribute in degrees.
fn degrees(start: &BytesStart, name: &str, most: f64) -> std::result::Result<f64, String> {
    let attribute = start.try_get_attribute(name).map_err(|error| error.to_string())?;
    let value = attribute.ok_or_else(|| format!("a point of a track has no `{name}`"))?.value;
    let number = plain_number(value.trim()).filter(|number| number.abs() <= most);
    number.ok_or_else(|| format!("{} is not a `{name}` in degrees", quoted(&value)))
}

/// Which device a track is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// That of its name, or of its number in its file.
    Tracks,
    /// That of its file.
    Files,
}

/// Names for tracks without one: their numbers, from one.
pub(super) fn names(tracks: &[Track]) -> Vec<String> {
    let name = |(number, track): (usize, &Track)| track.name.clone().unwrap_or_else(|| number.to_string());
    (1..).zip(tracks).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Tracks> {
        tracks(|line| Place::Line("t.gpx".into(), line), text)
    }

    const TWO: &str = r#"<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1"><metadata><name>a day</name><time>2008-06-10T00:00:00Z</time></metadata>
<wpt lat="1" lon="2"><name>a stop</name></wpt>
<trk><name>bus &amp; 12</name><trkseg>
 <trkpt lat="60.17" lon="24.94"><ele>3</ele><time>2008-06-10T23:59:46.5Z</time></trkpt>
 <trkpt lat="60.18" lon="24.95"><time>2008-06-11T02:00:00+02:00</time><name>no track</name></trkpt>
 <trkpt lat="60.19" lon="24.96"/>
</trkseg></trk>
<rte><rtept lat="3" lon="4"><time>2008-06-11T00:00:00Z</time></rtept></rte>
<trk><trkseg/></trk></gpx>
"#;

    #[test]
    fn tracks_have_names_and_points_with_places_and_times() {
        let found = read(TWO).unwrap();
        assert_eq!((found.tracks.len(), found.timeless), (2, 1));
        assert_eq!(names(&found.tracks), ["bus & 12", "2"]);
        let day = Instant::from_secs(1_213_142_400);
        let before = Instant::from_nanos(1_213_142_386_500_000_000);
        let points = [
            Point { line: 5, at: before, lon: 24.94, lat: 60.17 },
            Point { line: 6, at: day, lon: 24.95, lat: 60.18 },
        ];
        assert_eq!(found.tracks[0].points, points);
    }

    #[test]
    fn what_is_no_track_is_an_error_with_its_line() {
        for (from, to, what) in [
            ("</trkseg></trk>\n<rte>", "<rte>", "t.gpx:"),
            ("lat=\"60.17\"", "", "t.gpx:5: a point of a track has no `lat`"),
            ("60.17", "90.1", "t.gpx:5: `90.1` is not a `lat` in degrees"),
            ("24.95", "east", "t.gpx:6: `east` is not a `lon` in degrees"),
            ("23:59:46.5Z", "midnight", "t.gpx:5: `2008-06-10Tmidnight` is not a time"),
            ("</gpx>", "", "the file ends within an element"),
        ] {
            let wrong = read(&TWO.replacen(from, to, 1)).map(drop).unwrap_err().to_string();
            assert!(wrong.contains(what), "{to}: {wrong}");
            assert_eq!(wrong.lines().count(), 1, "{wrong}");
        }
        let deep = "<a>".repeat(DEPTH_MAX + 1);
        assert!(read(&deep).unwrap_err().to_string().contains("lie within each other"));
    }

    proptest! {
        #[test]
        fn points_are_read_as_they_were_written(
            points in prop::collection::vec((0..4_000_000_000_i64, -180.0..=180.0_f64, -90.0..=90.0_f64), 0..20),
            name in "[a-zäöü&<>\"' ]{0,12}",
        ) {
            let escaped = quick_xml::escape::escape(&name);
            let mut text = format!("<gpx><trk><name>{escaped}</name><trkseg>\n");
            for (s, lon, lat) in &points {
                let at = chrono::DateTime::from_timestamp(*s, 0).expect("in range").to_rfc3339();
                text += &format!("<trkpt lat='{lat}' lon='{lon}'><time>{at}</time></trkpt>\n");
            }
            let found = read(&(text + "</trkseg></trk></gpx>")).unwrap();
            let read: Vec<_> = found.tracks[0].points.iter().map(|p| (p.at.as_nanos() / 1_000_000_000, p.lon, p.lat)).collect();
            prop_assert_eq!(read, points);
            let words: Vec<_> = name.split_whitespace().collect();
            prop_assert_eq!(found.tracks[0].name.clone(), (!words.is_empty()).then(|| words.join(" ")));
        }
        #[test]
        fn no_text_panics(
            text in "(<trk>|</trk>|<trkpt lat=\"1\" lon=\"2\">|</trkpt>|<time>|</time>|<name>|&amp;|&#1;|<!\\[CDATA\\[|\\]\\]>|<|>|[a-z0-9:TZ-]{0,9}|\n){0,30}",
        ) {
            let _ = read(&text);
        }
    }
}
