//! The figures of a run of any world, by name.

use super::{BUNDLES, Number, Summary, numbers};
use lightlag_protocols::time::Duration;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Named figures, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Names and values.
    pub numbers: Vec<(&'static str, Number)>,
    /// Delays of delivered bundles, ascending; empty in other worlds.
    pub latencies: Vec<Duration>,
    /// Figures of flows, or of consumers and nodes; those of a kind stand together.
    pub parts: Vec<Part>,
    /// Why the run created or delivered nothing, if so: a line.
    pub why: Option<String>,
    /// What is odd about a run that delivered something, if so: a line.
    pub odd: Option<String>,
    /// What the reader of the scenario warned of, a line each.
    pub warnings: Vec<String>,
    /// Which run it is, in files that keep its figures.
    pub run: Option<RunName>,
}

/// Which program made a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Build {
    /// Version of Lightlag.
    pub version: String,
    /// Commit that it was built from.
    pub commit: String,
}

impl Build {
    /// This very program.
    pub fn this() -> Self {
        Self { version: crate::VERSION.to_owned(), commit: crate::commit().to_owned() }
    }
}

impl Default for Build {
    fn default() -> Self {
        Self::this()
    }
}

/// Which run figures are of, and which program made them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunName {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// The program.
    #[serde(flatten)]
    pub build: Build,
}

/// Figures of one part of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is one of: "flows", "consumers", "nodes".
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Names and values.
    pub numbers: Vec<(&'static str, Number)>,
}

impl Part {
    pub(crate) fn new(kind: &'static str, name: &str, numbers: Vec<(&'static str, Number)>) -> Self {
        Self { kind, name: name.to_owned(), numbers }
    }
}

impl From<Summary> for Figures {
    fn from(summary: Summary) -> Self {
        Self { numbers: numbers(BUNDLES, &summary), latencies: summary.latencies, ..Self::default() }
    }
}

impl Figures {
    /// All as plain numbers.
    pub fn rows(&self) -> Vec<(&'static str, f64)> {
        self.numbers.iter().map(|&(name, number)| (name, number.into())).collect()
    }
    /// One of them.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.rows().into_iter().find(|row| row.0 == name).map(|row| row.1)
    }
    /// One of them, of one part.
    pub fn of_part(&self, part: &str, name: &str) -> Option<f64> {
        let part = self.parts.iter().find(|one| one.name == part)?;
        part.numbers.iter().find(|row| row.0 == name).map(|row| row.1.into())
    }
    /// Counts by name; 0 where there is no such figure.
    pub fn counts(&self) -> impl Fn(&str) -> u64 + use<> {
        let counts: Vec<(&str, u64)> =
            self.rows().into_iter().map(|(name, number)| (name, number.max(0.0) as u64)).collect();
        move |name| counts.iter().find(|count| count.0 == name).map_or(0, |count| count.1)
    }
    /// Parts of each kind, together.
    pub fn kinds(&self) -> impl Iterator<Item = &[Part]> {
        self.parts.chunk_by(|one, next| one.kind == next.kind)
    }
    /// One JSON object; NaN is `null`.
    pub fn json(&self) -> String {
        // Plain numbers under plain names: nothing in them can fail to be written.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Names and values as one map.
struct Named<'a>(&'a [(&'static str, Number)]);

fn put<M: SerializeMap>(map: &mut M, numbers: &[(&'static str, Number)]) -> Result<(), M::Error> {
    numbers.iter().try_for_each(|(name, number)| match number {
        Number::Count(count) => map.serialize_entry(name, count),
        Number::Real(real) => map.serialize_entry(name, real),
    })
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        put(&mut map, self.0)?;
        map.end()
    }
}

/// Parts by name.
struct Parts<'a>(&'a [Part]);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|part| (&part.name, Named(&part.numbers))))
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        put(&mut map, &self.numbers)?;
        for parts in self.kinds() {
            map.serialize_entry(parts[0].kind, &Parts(parts))?;
        }
        if let Some(why) = &self.why {
            map.serialize_entry("why", why)?;
        }
        if let Some(odd) = &self.odd {
            map.serialize_entry("odd", odd)?;
        }
        if !self.warnings.is_empty() {
            map.serialize_entry("warnings", &self.warnings)?;
        }
        if let Some(run) = &self.run {
            map.serialize_entry("run", run)?;
        }
        map.end()
    }
}
