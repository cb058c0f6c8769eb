//! Readers of contact tables in the formats of other tools.
//!
//! Each reader is a pure function from bytes to rows. Which node an identifier means, and which
//! rate and delay hold where the text says none, is for [`resolve`] to say.

mod columns;
mod dates;
mod gpx;
mod ion;
mod plan;
mod positions;
mod recorded;
mod resolve;
mod table;
mod the_one;
mod trace;

pub use columns::{Format, Recorded};
pub use dates::date_time;
pub use gpx::Devices;
pub(crate) use ion::days_since_1970;
pub use ion::{IonPlan, ion};
pub use plan::{ContactPlan, PlannedContact};
pub use positions::{Moved, meet};
pub use recorded::{Ids, Taken, from_trace};
pub use resolve::{Channels, Nodes, Resolver, WayDefault, check_overlap, from_ion, from_rows};
pub use table::table;
pub use the_one::{
    EventKind, ExternalEvent, at_rates_of_radios, connection_rows, connections, executed, the_one_events,
};
pub use trace::{Fix, Meeting, Part, Trace, trace, traces};

use super::error::{Error, Place, Result, is_not};
use super::files::utf8;
use super::quantity::plain_number;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use std::sync::Arc;

/// An identifier of a node. Files of a million lines have numbers, which take no memory of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A number.
    Number(u32),
    /// A name, or a number as the text writes it.
    Name(Box<str>),
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::Name(text.into())
    }
}

impl PartialEq<&str> for Id {
    fn eq(&self, other: &&str) -> bool {
        match self {
            Self::Name(name) => **name == **other,
            Self::Number(number) => other.parse() == Ok(*number),
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// A contact as a line states it; both directions alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactRow {
    /// Where it stands.
    pub place: Place,
    /// One end's identifier.
    pub a: Id,
    /// The other's.
    pub b: Id,
    /// When the link comes up.
    pub start: Instant,
    /// When it goes down; [`Instant::MAX`] where the text does not say.
    pub end: Instant,
    /// Its rate, if stated.
    pub rate: Option<BitRate>,
    /// Its one-way light time, if stated.
    pub delay: Option<Duration>,
}

/// Two thousand years of seconds: more is not a time of a contact.
const SECONDS_MAX: f64 = 6.4e9;

/// The lines of a text that say something, with their numbers and without comments.
struct Lines<'a> {
    file: Arc<str>,
    text: &'a str,
}

/// A line cut at blanks.
struct Line<'a> {
    place: Place,
    words: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    fn new(file: &str, bytes: &'a [u8]) -> Result<Self> {
        let lines = Self { file: file.into(), text: utf8(file, bytes)? };
        if lines.iter().next().is_none() {
            let place = Place::File(lines.file);
            return place.refuse("the file has no lines of data", "name a file with at least one line");
        }
        Ok(lines)
    }
    /// The most that there can be.
    fn count_max(&self) -> usize {
        self.text.bytes().filter(|byte| *byte == b'\n').count() + 1
    }
    fn iter(&self) -> impl Iterator<Item = Line<'a>> {
        let file = self.file.clone();
        self.texts().map(move |(number, text)| Line {
            place: Place::Line(file.clone(), number),
            words: text.split_whitespace().collect(),
        })
    }
    /// Their numbers and texts.
    fn texts(&self) -> impl Iterator<Item = (u32, &'a str)> + use<'a> {
        (1_u32..).zip(self.text.lines()).filter_map(|(number, text)| {
            let text = text.split('#').next().unwrap_or_default().trim();
            (!text.is_empty()).then_some((number, text))
        })
    }
}

impl Line<'_> {
    fn wrong(&self, what: impl AsRef<str>, right: &str) -> Error {
        Error::new(&self.place, what, right)
    }
}

/// A number of seconds that is not negative.
fn seconds(word: &str, place: &Place) -> Result<Instant> {
    let value = plain_number(word).filter(|s| (0.0..=SECONDS_MAX).contains(s));
    value.map(Instant::from_secs_f64).ok_or_else(|| {
        Error::new(place, is_not(word, "a time"), "a time is a number of seconds, not negative")
    })
}

/// A number of `unit` per second as a rate; zero is refused.
fn rate(word: &str, bits_per_unit: f64, place: &Place) -> Result<BitRate> {
    let bits = plain_number(word).map(|n| (n * bits_per_unit).round()).filter(|n| (1.0..=1e15).contains(n));
    bits.map(|n| BitRate(n as u64))
        .ok_or_else(|| Error::new(place, is_not(word, "a rate"), "a rate is a number above zero"))
}

/// An end that does not lie before its start.
fn check_order(start: Instant, end: Instant, place: &Place) -> Result<()> {
    if end > start {
        return Ok(());
    }
    let what = if end == start { "ends as it starts" } else { "ends before it starts" };
    place.refuse(
        format!("the contact {what} ({} s to {} s)", start.as_secs_f64(), end.as_secs_f64()),
        "its end must lie after its start",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every reader of traces.
    fn read_traces(bytes: &[u8]) -> Vec<Result<Trace<'_>>> {
        let all = [Recorded::Intervals, Recorded::Sightings, Recorded::Positions]
            .map(|recorded| Format::new(recorded, None, Duration::from_secs(1)).unwrap());
        let read = |format| ["f", "f.gpx"].map(|file| trace(file, bytes, format));
        all.iter().flat_map(read).collect()
    }

    proptest! {
        #[test]
        fn no_bytes_panic_any_reader(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = (table("f", &bytes), read_traces(&bytes), ion("f", &bytes), the_one_events("f", &bytes));
        }
        #[test]
        fn no_lines_panic_any_reader(text in "((a|contact|range|CONN|C|up|down|\\+|@|[0-9]{1,12}|[a-z]|,|:|/|-|\\.)[ \n,]){0,60}") {
            let bytes = text.as_bytes();
            let _ = (table("f", bytes), ion("f", bytes));
            for mut trace in read_traces(bytes).into_iter().flatten() {
                meet(&mut trace, 10.0, Duration::from_secs(600)).unwrap();
                prop_assert!(trace.meetings.iter().all(|met| met.end >= met.start));
            }
            if let Ok(events) = the_one_events("f", bytes) {
                let _ = connections(&events);
            }
        }
    }

    #[test]
    fn texts_that_tell_of_nothing_and_bytes_that_are_no_text_are_refused() {
        assert!(table("f", b"start_s,end_s,a,b\n").is_err(), "a table needs rows");
        for bytes in [&b""[..], b" \n\n# nothing\n", b"\xff\xfe", b"1 2\n\x80"] {
            assert!(read_traces(bytes).iter().all(Result::is_err) && ion("f", bytes).is_err());
            assert!(table("f", bytes).is_err() && the_one_events("f", bytes).is_err());
        }
    }
}
