//! An analysis as a Parquet file: a row for each direction of each flow, a column for each figure.

use crate::results::{Build, Error, replace_file};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use lightlag_capture::analysis::{Analysed, FlowFigures, HalfFigures};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Writes the file, whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn write(analysed: &Analysed, path: &Path) -> Result<(), Error> {
    let foreign = |reason: String| Error::Foreign { path: path.to_path_buf(), reason };
    let bytes = encode(analysed).map_err(|reason| foreign(reason.to_string()))?;
    replace_file(path, &bytes)
}

type Row = Vec<(String, Value)>;

/// The first columns, which a table without a row has too.
const FIRST: [&str; 7] = ["flow", "direction", "protocol", "from", "to", "from_s", "duration_s"];

/// The whole file.
///
/// # Errors
/// What the encoder says.
pub fn encode(analysed: &Analysed) -> parquet::errors::Result<Vec<u8>> {
    let rows: Vec<Row> = analysed
        .flows
        .iter()
        .flat_map(|flow| [row(flow, "out", &flow.out), row(flow, "back", &flow.back)])
        .collect();
    let build = Build::this();
    let facts = [("lightlag.version", build.version), ("lightlag.commit", build.commit)];
    crate::parquet::write(batch(&rows), &facts, Vec::new())
}

fn row(flow: &FlowFigures, way: &str, half: &HalfFigures) -> Row {
    let (from, to) = if way == "out" { (&flow.first, &flow.second) } else { (&flow.second, &flow.first) };
    let mut row: Row = vec![
        ("flow".to_owned(), flow.number.into()),
        ("direction".to_owned(), way.into()),
        ("protocol".to_owned(), flow.protocol.name().into()),
        ("from".to_owned(), from.as_str().into()),
        ("to".to_owned(), to.as_str().into()),
        ("from_s".to_owned(), flow.from_s.into()),
        ("duration_s".to_owned(), flow.duration_s.into()),
    ];
    flatten(&mut row, "", &serde_json::to_value(half).unwrap_or_default());
    row
}

/// Figures within figures get joined names; lists are left to JSON.
fn flatten(row: &mut Row, name: &str, value: &Value) {
    match value {
        Value::Object(parts) => {
            for (part, value) in parts {
                let joined = if name.is_empty() { part.clone() } else { format!("{name}_{part}") };
                flatten(row, &joined, value);
            }
        }
        Value::Array(_) | Value::Null => {}
        single => row.push((name.to_owned(), single.clone())),
    }
}

fn batch(rows: &[Row]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let mut names: Vec<&str> = FIRST.to_vec();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    crate::parquet::table(names.iter().map(|name| ((*name).to_owned(), column(rows, name))).collect())
}

fn column(rows: &[Row], name: &str) -> ArrayRef {
    let values =
        || rows.iter().map(|row| row.iter().find(|(known, _)| known == name).map(|(_, value)| value));
    if values().flatten().any(Value::is_string) {
        Arc::new(values().map(|value| value.and_then(Value::as_str)).collect::<StringArray>())
    } else if values().flatten().all(Value::is_u64) {
        Arc::new(values().map(|value| value.and_then(Value::as_u64)).collect::<UInt64Array>())
    } else {
        Arc::new(values().map(|value| value.and_then(Value::as_f64)).collect::<Float64Array>())
    }
}
