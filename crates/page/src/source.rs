//! What the page shows.

use base64ct::{Base64, Encoding};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::Write;

/// Where the page has its records from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// The trace of a run.
    Trace {
        /// What it is called.
        title: String,
        /// How it is written.
        format: Format,
        /// Its bytes, or where they are.
        #[serde(flatten)]
        records: Records,
        /// The scenario of the run in TOML, where it is known.
        scenario: Option<String>,
        /// More about the run.
        about: About,
    },
    /// A scenario that the page runs.
    Scenario {
        /// What it is called.
        title: String,
        /// TOML.
        text: String,
        /// The files that it names, by their names; see [`Source::packed`].
        files: BTreeMap<String, String>,
        /// Seed of movement and traffic; `None` is the scenario's first.
        seed: Option<u64>,
        /// Keys and values that are set beside the text, in this order.
        #[serde(serialize_with = "as_object")]
        set: Vec<(String, String)>,
    },
    /// A daemon that runs.
    Live {
        /// What it is called.
        title: String,
        /// Of its server-sent events.
        url: String,
    },
}

fn as_object<S: Serializer>(pairs: &[(String, String)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A table of Parquet.
    Parquet,
    /// Lines of JSON.
    Jsonl,
}

/// The records of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Records {
    /// They are fetched from there.
    Url(String),
    /// They are here, in Base64; lines of JSON compressed by gzip.
    Data(String),
}

impl Records {
    /// In the page itself.
    pub fn within(format: Format, bytes: &[u8]) -> Self {
        Self::Data(match format {
            Format::Parquet => Base64::encode_string(bytes),
            Format::Jsonl => Source::packed(bytes),
        })
    }
}

/// What is known of a run beside its records.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct About {
    /// The seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Figures by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// The map on which the nodes moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<Map>,
}

/// A map under the nodes of a recorded run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Map {
    /// x and y of the points of lines in metres, 32-bit floats with the least byte first, by [`Source::packed`]; NaN and NaN end a line.
    pub points: String,
    /// How many points it has; `points` is empty if they are too many.
    pub count: usize,
    /// Whether y grows to the south.
    pub is_y_down: bool,
    /// Whether it is data of OpenStreetMap.
    pub is_osm: bool,
}

impl Source {
    /// A scenario with its files, by name and content.
    pub fn scenario<N: Into<String>>(
        title: &str,
        text: &str,
        files: impl IntoIterator<Item = (N, Vec<u8>)>,
        seed: Option<u64>,
        set: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let files = files.into_iter().map(|(name, bytes)| (name.into(), Self::packed(&bytes))).collect();
        let (title, text) = (title.to_owned(), text.to_owned());
        Self::Scenario { title, text, files, seed, set: set.into_iter().collect() }
    }
    /// Bytes compressed by gzip, in Base64. The same bytes give the same text.
    pub fn packed(bytes: &[u8]) -> String {
        let mut to = GzEncoder::new(Vec::new(), Compression::best());
        let written = to.write_all(bytes).and_then(|()| to.finish());
        Base64::encode_string(&written.expect("memory can be written"))
    }
}
