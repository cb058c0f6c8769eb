//! The figures of a run of any world, by name.

use super::{Number, Summary};
use lightlag_protocols::time::Duration;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Named figures, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Names and values.
    pub numbers: Vec<(&'static str, Number)>,
    /// Delays of delivered bundles, ascending; empty in other worlds.
    pub latencies: Vec<Duration>,
    /// Figures of each flow, by its name; empty in worlds without flows.
    pub flows: Vec<(String, Vec<(&'static str, Number)>)>,
}

impl From<Summary> for Figures {
    fn from(summary: Summary) -> Self {
        Self { numbers: summary.numbers(), latencies: summary.latencies, flows: Vec::new() }
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
    /// One of them, of one flow.
    pub fn of_flow(&self, flow: &str, name: &str) -> Option<f64> {
        let (_, numbers) = self.flows.iter().find(|row| row.0 == flow)?;
        numbers.iter().find(|row| row.0 == name).map(|row| row.1.into())
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

/// Flows by name.
struct Flows<'a>(&'a [(String, Vec<(&'static str, Number)>)]);

impl Serialize for Flows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, numbers)| (name, Named(numbers))))
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        put(&mut map, &self.numbers)?;
        if !self.flows.is_empty() {
            map.serialize_entry("flows", &Flows(&self.flows))?;
        }
        map.end()
    }
}
