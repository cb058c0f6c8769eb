//! Captures of packets.

use crate::error::ScenarioError;
use crate::interrupt::interruptible;
use lightlag_capture::analysis::{Analysed, Options, analyse};
use lightlag_lab::captured::{parquet_bytes, report, table};
use lightlag_lab::run::Progress;
use lightlag_scenario::{open_file, quantity};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};

/// What to make of a capture.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wanted {
    filters: Vec<String>,
    dccp_ports: Vec<u16>,
    interface: Option<String>,
    pause: String,
    /// Whether to make the report with charts, which takes memory.
    html: bool,
}

/// Text, JSON, a Parquet file of directions, and the report if it is wanted.
type Shown<'py> = (String, String, Bound<'py, PyBytes>, Option<String>);

/// Analyses a capture: pcap or pcapng.
///
/// # Errors
/// What is wrong with the file, a filter or the pause.
#[pyfunction]
pub fn analyse_capture(py: Python<'_>, path: PathBuf, wanted: Wanted) -> PyResult<Shown<'_>> {
    let html = wanted.html;
    let options = options(wanted)?;
    let read = path.clone();
    let work = move || analysed(&read, options);
    let analysed =
        interruptible(py, &Progress::default(), |_| Ok(()), work)?.map_err(ScenarioError::new_err)?;
    let bytes = parquet_bytes(&analysed).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let json =
        serde_json::to_string(&analysed).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let page = html.then(|| report(&analysed, &name).html());
    Ok((table(&analysed), json, PyBytes::new(py, &bytes), page))
}

fn analysed(path: &Path, options: Options) -> Result<Analysed, String> {
    let file = open_file(path).map_err(|why| format!("{} cannot be read: {why}", path.display()))?;
    analyse(file, options).map_err(|error| format!("{} {error}", path.display()))
}

fn options(wanted: Wanted) -> PyResult<Options> {
    let pause = quantity::positive_time(&wanted.pause)
        .map_err(|wrong| ScenarioError::new_err(format!("pause: {}; {}", wrong.what, wrong.right)))?;
    let unknown =
        |text: &str, right: String| ScenarioError::new_err(format!("filters: `{text}` is unknown; {right}"));
    let filter = |text: &String| text.parse().map_err(|right| unknown(text, right));
    let filters = wanted.filters.iter().map(filter).collect::<PyResult<_>>()?;
    let standard = Options {
        filters,
        interface: wanted.interface,
        pause_ns: pause.as_nanos(),
        graphs: wanted.html,
        ..Options::default()
    };
    let dccp_ports = wanted.dccp_ports;
    Ok(if dccp_ports.is_empty() { standard } else { Options { dccp_ports, ..standard } })
}
