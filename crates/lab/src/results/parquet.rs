//! Results as a Parquet file: scenario values, seed, version, commit and every metric as columns.

use super::{Build, Error, Results, Row, replace_file};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::DataType;
use arrow_select::concat::concat_batches;
use lightlag_judge::trace::{Column, ColumnType};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const SCENARIO_KEY: &str = "lightlag.scenario";
const VALUES_KEY: &str = "lightlag.values";
const METRICS_KEY: &str = "lightlag.metrics";
const VERSION_KEY: &str = "lightlag.version";
const COMMIT_KEY: &str = "lightlag.commit";

/// Writes the table; the same rows give the same bytes.
pub(super) fn write(results: &Results, path: &Path) -> Result<(), Error> {
    replace_file(path, &bytes(results, path)?)
}

/// The bytes of a table at this path.
pub(super) fn bytes(results: &Results, path: &Path) -> Result<Vec<u8>, Error> {
    encode(results).map_err(|reason| Error::Foreign { path: path.to_path_buf(), reason: reason.to_string() })
}

/// Reads the table.
pub(super) fn read(path: &Path) -> Result<Results, Error> {
    let file = std::fs::File::open(path).map_err(|reason| Error::File {
        action: "read",
        path: path.to_path_buf(),
        reason,
    })?;
    decode(file).map_err(|reason| Error::Foreign { path: path.to_path_buf(), reason })
}

/// The columns that every table has, beside one for each value and each metric.
pub const COLUMNS: [Column; 4] = [
    column("point", "Point of the sweep: which combination of values, counted from 0.", ColumnType::U64),
    column("seed", "Seed of the run.", ColumnType::U64),
    column("version", "Version of Lightlag.", ColumnType::Text),
    column("commit", "Commit that it was built from.", ColumnType::Text),
];

const fn column(name: &'static str, about: &'static str, kind: ColumnType) -> Column {
    Column { name, about, optional: true, kind }
}

fn encode(results: &Results) -> parquet::errors::Result<Vec<u8>> {
    let list = |names: Vec<String>| serde_json::Value::from(names).to_string();
    let facts = [
        (VERSION_KEY, results.build.version.clone()),
        (COMMIT_KEY, results.build.commit.clone()),
        (VALUES_KEY, list(results.value_columns())),
        (METRICS_KEY, list(results.metric_columns())),
        (SCENARIO_KEY, results.scenario.clone()),
    ];
    crate::parquet::write(batch_of(results), &facts, Vec::new())
}

fn batch_of(results: &Results) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let rows = &results.rows;
    let [point, seed, version, commit] = COLUMNS.map(|column| column.name.to_owned());
    let mut columns: Vec<(String, ArrayRef)> = vec![
        (point, Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.point as u64)))),
        (seed, Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.seed)))),
    ];
    for name in results.value_columns() {
        columns.push((name.clone(), value_column(rows, &name)));
    }
    for (name, text) in [(version, &results.build.version), (commit, &results.build.commit)] {
        columns.push((name, Arc::new(StringArray::from_iter_values(rows.iter().map(|_| text)))));
    }
    for name in results.metric_columns() {
        let numbers = rows.iter().map(|row| row.metric(&name).filter(|number| number.is_finite()));
        columns.push((name.clone(), Arc::new(numbers.collect::<Float64Array>())));
    }
    crate::parquet::table(columns)
}

/// A column of plain numbers becomes numeric, so that data frames need no conversion; others stay text.
fn value_column(rows: &[Row], name: &str) -> ArrayRef {
    let numeric = rows.iter().filter_map(|row| row.value(name)).all(|text| plain_number(text).is_some());
    if numeric {
        Arc::new(rows.iter().map(|row| row.value(name).and_then(plain_number)).collect::<Float64Array>())
    } else {
        Arc::new(rows.iter().map(|row| row.value(name)).collect::<StringArray>())
    }
}

/// The number, if writing it again gives the same text.
fn plain_number(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number.to_string() == text).then_some(number)
}

fn decode(file: std::fs::File) -> Result<Results, String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|reason| reason.to_string())?;
    let facts = known_facts(builder.metadata().file_metadata().key_value_metadata())?;
    let schema = builder.schema().clone();
    let reader = builder.build().map_err(|reason| reason.to_string())?;
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().map_err(|reason| reason.to_string())?;
    let batch = concat_batches(&schema, &batches).map_err(|reason| reason.to_string())?;
    let fact = |key: &str| facts.get(key).cloned().ok_or_else(|| format!("it has no {key}"));
    Ok(Results {
        build: Build { version: fact(VERSION_KEY)?, commit: fact(COMMIT_KEY)? },
        scenario: fact(SCENARIO_KEY)?,
        rows: rows_of(&batch, &names(&fact(VALUES_KEY)?)?, &names(&fact(METRICS_KEY)?)?)?,
        missing: 0,
    })
}

fn known_facts(metadata: Option<&Vec<KeyValue>>) -> Result<BTreeMap<String, String>, String> {
    let facts = metadata.ok_or("it carries no metadata of Lightlag")?;
    Ok(facts.iter().filter_map(|fact| Some((fact.key.clone(), fact.value.clone()?))).collect())
}

fn names(list: &str) -> Result<Vec<String>, String> {
    serde_json::from_str(list).map_err(|reason| reason.to_string())
}

fn rows_of(batch: &RecordBatch, values: &[String], metrics: &[String]) -> Result<Vec<Row>, String> {
    let points = integers(batch, COLUMNS[0].name)?;
    let seeds = integers(batch, COLUMNS[1].name)?;
    let values = columns(batch, values, text_at)?;
    let metrics = columns(batch, metrics, number_at)?;
    Ok((0..batch.num_rows())
        .map(|index| Row {
            point: points.value(index) as usize,
            seed: seeds.value(index),
            values: cells(&values, index),
            metrics: cells(&metrics, index),
        })
        .collect())
}

type Cells<N, T> = (N, Vec<Option<T>>);

fn columns<N: for<'n> From<&'n str>, T>(
    batch: &RecordBatch,
    names: &[String],
    at: fn(&ArrayRef, usize) -> Result<Option<T>, String>,
) -> Result<Vec<Cells<N, T>>, String> {
    let read = |name: &String| {
        let column = batch.column_by_name(name).ok_or_else(|| format!("it has no column {name}"))?;
        let cells = (0..column.len()).map(|index| at(column, index)).collect::<Result<_, _>>()?;
        Ok((N::from(name), cells))
    };
    names.iter().map(read).collect()
}

fn cells<N: Clone, T: Clone>(columns: &[Cells<N, T>], index: usize) -> Vec<(N, T)> {
    columns.iter().filter_map(|(name, cells)| Some((name.clone(), cells[index].clone()?))).collect()
}

fn text_at(column: &ArrayRef, index: usize) -> Result<Option<String>, String> {
    if column.is_null(index) {
        return Ok(None);
    }
    match column.data_type() {
        DataType::Utf8 => Ok(Some(column.as_string::<i32>().value(index).to_string())),
        DataType::Float64 => Ok(Some(column.as_primitive::<Float64Type>().value(index).to_string())),
        other => Err(format!("a scenario column has the type {other}")),
    }
}

fn number_at(column: &ArrayRef, index: usize) -> Result<Option<f64>, String> {
    let numbers =
        column.as_primitive_opt::<Float64Type>().ok_or_else(|| "a metric is not a number".to_string())?;
    // A metric that a run could not define is present, but not a number.
    Ok(Some(if numbers.is_null(index) { f64::NAN } else { numbers.value(index) }))
}

fn integers<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a UInt64Array, String> {
    batch
        .column_by_name(name)
        .and_then(|column| column.as_primitive_opt::<UInt64Type>())
        .ok_or_else(|| format!("it has no column {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Results {
        let row = |point: usize, seed, buffer: &str, router: &str, latency| Row {
            point,
            seed,
            values: vec![("buffer_kb".into(), buffer.into()), ("router".into(), router.into())],
            metrics: vec![("created".into(), 10.0), ("latency_avg".into(), latency)],
        };
        Results {
            build: Build { version: "0.1.0".into(), commit: "abc".into() },
            scenario: "name = \"x\"\n".into(),
            rows: vec![row(0, 1, "500", "epidemic", 0.1 + 0.2), row(1, 1, "1000", "prophet", f64::NAN)],
            missing: 0,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        sample().write(folder.path()).unwrap();
        let read = Results::read(folder.path()).unwrap();
        assert_eq!(read.rows[0], sample().rows[0]);
        assert_eq!((read.build, read.scenario), (sample().build, sample().scenario));
        assert_eq!(read.rows[1].value("buffer_kb"), Some("1000"));
        assert!(read.rows[1].metric("latency_avg").unwrap().is_nan());
    }

    #[test]
    fn same_rows_give_same_bytes() {
        assert_eq!(encode(&sample()).unwrap(), encode(&sample()).unwrap());
    }

    #[test]
    fn numbers_with_another_spelling_stay_text() {
        assert_eq!(plain_number("300"), Some(300.0));
        assert_eq!(plain_number("0.10"), None);
        assert_eq!(plain_number("500 kB"), None);
        assert_eq!(plain_number("NaN"), None);
    }

    #[test]
    fn a_foreign_file_is_told_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(super::super::RESULTS_FILE), "hello").unwrap();
        let said = Results::read(folder.path()).unwrap_err().to_string();
        assert!(said.contains("is not a table of results") && !said.contains('\n'), "{said}");
        let said = Results::read(&folder.path().join("missing")).unwrap_err().to_string();
        assert!(said.starts_with("cannot read"), "{said}");
    }
}
