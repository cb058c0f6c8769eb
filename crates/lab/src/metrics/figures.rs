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
}

impl From<Summary> for Figures {
    fn from(summary: Summary) -> Self {
        Self { numbers: summary.numbers(), latencies: summary.latencies }
    }
}

impl Figures {
    /// All as plain numbers.
    pub fn rows(&self) -> Vec<(&'static str, f64)> {
        let plain = |number| match number {
            Number::Count(count) => count as f64,
            Number::Real(real) => real,
        };
        self.numbers.iter().map(|&(name, number)| (name, plain(number))).collect()
    }
    /// One of them.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.rows().into_iter().find(|row| row.0 == name).map(|row| row.1)
    }
    /// One JSON object; NaN is `null`.
    pub fn json(&self) -> String {
        // Plain numbers under plain names: nothing in them can fail to be written.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.numbers.len()))?;
        for (name, number) in &self.numbers {
            match number {
                Number::Count(count) => map.serialize_entry(name, count)?,
                Number::Real(real) => map.serialize_entry(name, real)?,
            }
        }
        map.end()
    }
}
