//! The file of a trace.

use lightlag_judge::trace::{Names, TraceError, TraceRow, TraceWriter};
use lightlag_scenario::names::NameNetwork;
use lightlag_scenario::packets::{LinkPlan, Network};
use lightlag_scenario::{Error, Place, Result};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A file that is open, and empty.
pub struct TraceFile {
    path: PathBuf,
    pub file: BufWriter<File>,
}

impl TraceFile {
    /// Creates it and its folder; `names` are examples of names with ends that are known.
    ///
    /// # Errors
    /// If its name ends otherwise, or the file system refuses.
    pub fn create(path: &Path, names: &str) -> Result<Self> {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        if !is_known(end, names) {
            let (what, right) = unknown(path, end, names);
            return Err(Error::new(&place_of(path), what, right));
        }
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let file = folder.and_then(|()| File::create(path));
        let file = file.map_err(|error| failed(path, &TraceError::File(error)))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }
    /// Whether its name ends like this.
    pub fn ends_in(&self, end: &str) -> bool {
        self.path.extension().is_some_and(|found| found == end)
    }
    /// A writer of rows to it.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn rows<R: TraceRow>(self, names: Names) -> Result<TraceWriter<R, BufWriter<File>>> {
        match self.ends_in("parquet") {
            true => TraceWriter::parquet(self.file, names).map_err(|error| failed(&self.path, &error)),
            false => Ok(TraceWriter::json_lines(self.file, names)),
        }
    }
}

/// Whether one of the names ends like this.
fn is_known(end: &str, names: &str) -> bool {
    let mut ends = names.split([',', ' ']).filter_map(|name| name.strip_prefix("trace."));
    ends.any(|known| known == end)
}

/// What is wrong with a name that ends like this, and what is accepted.
fn unknown(path: &Path, end: &str, names: &str) -> (&'static str, String) {
    let better = match end {
        "pcap" => "pcapng",
        "json" => "jsonl",
        other => other,
    };
    match better {
        "pcapng" if !is_known(better, names) => {
            ("only scenarios of packets can be written as pcapng", format!("name it like {names}"))
        }
        _ if better != end => {
            ("unknown format of a trace", format!("name it {}", path.with_extension(better).display()))
        }
        _ => ("unknown format of a trace", format!("name it like {names}")),
    }
}

/// A trace that cannot be written, as an error of the option that names it.
pub fn failed(path: &Path, error: &TraceError) -> Error {
    Error::new(&place_of(path), error.to_string(), "name a file that can be written")
}

fn place_of(path: &Path) -> Place {
    Place::File(path.display().to_string().as_str().into())
}

/// What the trace of a network of packets names.
pub fn packet_trace_names(network: &Network) -> Names {
    let flows = network.flows.iter().map(|flow| flow.name.clone()).collect();
    Names { links: link_names(&network.links), flows, ..Names::default() }
}

/// What the trace of a network of named data names.
pub fn name_trace_names(network: &NameNetwork) -> Names {
    Names {
        nodes: network.nodes.iter().map(|node| node.name.clone()).collect(),
        links: link_names(&network.links),
        consumers: network.consumers.iter().map(|one| (one.name.clone(), one.node)).collect(),
        producers: network.producers.iter().map(|one| (one.name.clone(), one.spec.node)).collect(),
        prefixes: network.names.clone(),
        ..Names::default()
    }
}

/// Names of links and of the nodes at their ends.
fn link_names(links: &[LinkPlan]) -> Vec<[String; 3]> {
    links.iter().map(|link| [link.name.clone(), link.from.clone(), link.to.clone()]).collect()
}
