//! What can be typed.

#[cfg(feature = "daemon")]
pub mod sockets;

#[cfg(feature = "daemon")]
use sockets::Sockets;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A laboratory for congestion control where the network is late, lossy or absent.
///
/// Exit codes: 0 done; 1 the judge found a violation, or a transfer failed; 2 bad input, with one line
/// that says what, where and what would be right.
#[derive(Parser)]
#[command(name = "lightlag", version = crate::output::VERSION, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Subcommand)]
pub enum Verb {
    /// Run one scenario once and print its figures
    Run(Run),
    /// Explain what became of the bundles of a run: why they were lost, or the life of one
    Explain(Explain),
    /// Run every point of a scenario with every seed, on all cores; resumes where it was stopped
    Sweep(Sweep),
    /// Compute the most of a scenario's traffic that any mechanism and router can deliver, and how soon
    Bound(Bound),
    /// Compare two sweeps point by point, over common seeds
    Compare(Compare),
    /// Write The ONE's settings as a scenario in TOML, with comments: the same run
    Convert(Convert),
    /// List routers, mechanisms and controllers with their parameters
    List(List),
    /// Print the JSON Schema of scenarios in TOML, with which editors complete their keys
    Schema,
    /// Reproduce the figures and claims of a paper
    Study(Study),
    /// Check what all processes of a sweep have run, and write it as one table
    Merge(Merge),
    /// Write one HTML file about a sweep; it works without a network
    Report(Report),
    /// Analyse a capture of packets (pcap, pcapng): flows, round trips, losses and the reaction to each, pauses
    Capture(Capture),
    /// Print completions for a shell
    Completions(Completions),
    #[cfg(feature = "daemon")]
    #[command(flatten)]
    Sockets(Sockets),
    /// Refuse the commands of `Sockets`, which this build does not have
    #[cfg(not(feature = "daemon"))]
    #[command(
        name = "transfer",
        aliases = ["bundles", "bench-link", "emulate", "names"],
        hide = true,
        disable_help_flag = true
    )]
    Absent {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<std::ffi::OsString>,
    },
}

/// What a scenario is read from.
#[derive(Args)]
pub struct Source {
    /// A scenario in TOML, or The ONE's settings (several: later files override earlier ones)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Set a key of the scenario, as `--set nodes.walkers.buffer="1 MB"`; lists are swept
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub sets: Vec<(String, String)>,
    /// Read The ONE's settings without the working directory's default_settings.txt, which The ONE always reads first
    #[arg(long)]
    pub no_defaults: bool,
}

/// Which run of a scenario.
#[derive(Args)]
pub struct Which {
    /// Seed of movement and traffic [default: the file's first; for The ONE's settings, its very run]
    #[arg(long, allow_negative_numbers = true, value_parser = seed)]
    pub seed: Option<u64>,
    /// Which point, where lists make several, counted from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub point: Option<usize>,
}

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub which: Which,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write summary.json, series.parquet (of packets also series.html) and The ONE's report files here
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write every record of the run: .parquet, or .jsonl for people; packets also as .pcapng
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Where a .pcapng trace is captured: senders, receivers, drops, or a node's name [default: senders]
    #[arg(long, value_name = "WHERE", requires = "trace")]
    pub capture: Option<String>,
    /// Do not check the run with the judge
    #[arg(long)]
    pub no_judge: bool,
    /// Do not write The ONE's report files that the scenario asks for
    #[arg(long)]
    pub no_reports: bool,
}

#[derive(Args)]
pub struct Explain {
    /// A scenario in TOML or The ONE's settings, which is run again with its seed; or a trace that `run --trace` wrote (.parquet,
    /// .jsonl, or their folder)
    #[arg(required = true, value_name = "RUN")]
    pub files: Vec<PathBuf>,
    /// The life of one bundle, in sentences, by its number from 0 or, of a scenario, by its name
    #[arg(long, value_name = "ID", conflicts_with_all = ["lost", "why"], allow_hyphen_values = true)]
    pub bundle: Option<String>,
    /// With --bundle: all steps of all copies; else those of the copy that arrived first, or the first and the last
    #[arg(long, requires = "bundle")]
    pub all: bool,
    /// Which bundles were lost: causes, sizes, destinations, times, nodes
    #[arg(long, conflicts_with = "why")]
    pub lost: bool,
    /// The figures behind each cause of loss
    #[arg(long)]
    pub why: bool,
    /// Set a key of the scenario, as `--set nodes.walkers.buffer="1 MB"`
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub sets: Vec<(String, String)>,
    /// Read The ONE's settings without the working directory's default_settings.txt, which The ONE always reads first
    #[arg(long)]
    pub no_defaults: bool,
    #[command(flatten)]
    pub which: Which,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Convert {
    #[command(flatten)]
    pub source: Source,
    /// Which run, where `[a; b; c]` make several, counted from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub point: Option<usize>,
    /// The file to write [default: standard output, with file names relative to the working directory]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Args)]
pub struct Sweep {
    #[command(flatten)]
    pub source: Source,
    /// Folder of the results [default: out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seeds, as `1,2,5..9` [default: the scenario's]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub seeds: Option<String>,
    /// Do one part of the runs, as `2/7`: for several processes, or machines, with one folder; `lightlag merge` ends it
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub shard: Option<String>,
    /// Run nothing, and print a script for `sbatch`: an array of this many parts
    #[arg(long, value_name = "N", conflicts_with_all = ["shard", "json"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub slurm: Option<u32>,
    /// Runs at a time; 0 is one per core [default: 0]
    #[arg(long, allow_negative_numbers = true, value_parser = threads, default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// Do not check the runs with the judge
    #[arg(long)]
    pub no_judge: bool,
}

#[derive(Args)]
pub struct Merge {
    /// The folder of the sweep
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Args)]
pub struct Bound {
    #[command(flatten)]
    pub source: Source,
    /// Seeds, as `1,2,5..9` [default: the scenario's]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub seeds: Option<String>,
    /// Print one JSON object instead of a table, with the bounds under each seed
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Compare {
    /// Folder of a sweep
    pub first: PathBuf,
    /// Folder of another
    pub second: Option<PathBuf>,
    /// Within one sweep: compare the values of this axis with one of them, as `--by mechanism`
    #[arg(long, value_name = "AXIS", conflicts_with = "second")]
    pub by: Option<String>,
    /// With --by: the value that the others are compared with [default: the first]
    #[arg(long, value_name = "VALUE", requires = "by")]
    pub to: Option<String>,
    /// Metrics to compare, or `all` [default: four headlines]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct List {
    /// Only what has this in its name
    pub name: Option<String>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(after_help = crate::command::study::list())]
pub struct Study {
    #[arg(help = format!("One of {}", lightlag_studies::names()), required_unless_present = "list")]
    pub name: Option<String>,
    /// List the studies: paper, contents, duration
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Fewer seeds and points, and shorter runs: about a minute, more with downloaded traces
    #[arg(long)]
    pub quick: bool,
    /// Measure between two kernels in real time as well (adaptive; 20 minutes, as root)
    #[arg(long)]
    pub real: bool,
    /// Folder of the results [default: out/study/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Runs at a time; 0 is one per core [default: 0]
    #[arg(long, allow_negative_numbers = true, value_parser = threads, default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
}

#[derive(Args)]
pub struct Report {
    /// Folder of a sweep
    pub folder: PathBuf,
    /// The file to write [default: DIR/report.html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub struct Capture {
    /// The capture; - reads standard input
    pub file: PathBuf,
    /// Only flows with this: an address, a port, or tcp, tcpcl, udp, dccp, ltp, udpdtn; several must all hold
    #[arg(long = "filter", value_name = "WHAT")]
    pub filters: Vec<String>,
    /// A UDP port that carries DCCP (RFC 6773); may be given several times [default: 6511]
    #[arg(long = "dccp-port", value_name = "PORT")]
    pub dccp_ports: Vec<u16>,
    /// Shortest pause that is reported
    #[arg(long, value_name = "TIME", default_value = "200 ms", allow_hyphen_values = true)]
    pub pause: String,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write a row for each direction of each flow
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Write the DCCP in it as equivalent TCP, which tcptrace reads
    #[arg(long, value_name = "OUT.pcap")]
    pub to_tcp: Option<PathBuf>,
    /// Write the DCCP in it, also that in UDP, as IP protocol 33, which tshark dissects
    #[arg(long, value_name = "OUT.pcap")]
    pub to_dccp: Option<PathBuf>,
    /// Write a report with charts; it works without a network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    if key.trim().is_empty() {
        return Err("the key is empty; expected KEY=VALUE".to_owned());
    }
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "it is a whole number from 0 on".to_owned())
}

/// More threads than any machine has cores.
const THREADS_MAX: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let number = whole(text).ok().filter(|number| *number <= THREADS_MAX);
    number.ok_or_else(|| format!("it is a whole number from 0 (one per core) to {THREADS_MAX}"))
}
