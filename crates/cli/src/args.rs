//! What can be typed.

mod help;
#[cfg(feature = "daemon")]
pub mod sockets;

pub use help::command;
#[cfg(feature = "daemon")]
use sockets::Sockets;

use clap::{Args, Parser, Subcommand};
use lightlag_protocols::time::Duration;
use lightlag_scenario::quantity;
use std::path::PathBuf;

/// A laboratory for congestion control where the network is late, lossy or absent.
#[derive(Parser)]
#[command(name = "lightlag", version = crate::output::VERSION, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done; 1 the judge found a violation, or what was tried failed;
2 bad input, with one line that says where, what and what is accepted.
`lightlag VERB --help` has the options of a verb, and examples.")]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

/// The first sentence is what stands in the help; details stand at the options of a verb.
#[derive(Subcommand)]
pub enum Verb {
    /// Write a scenario with comments, which runs as it is
    New(New),
    /// Check scenarios without running them: all errors at once
    Validate(Validate),
    /// Write The ONE's settings as a scenario in TOML: the same run
    Convert(Convert),
    /// List routers, mechanisms, controllers and models, a sentence each
    List(List),
    /// Print the JSON Schema of scenarios, for editors
    Schema,
    /// Run one scenario once and print its figures
    Run(Run),
    /// Say what became of the bundles of a run, and why
    Explain(Explain),
    /// Run all points of a scenario with all seeds; resumes
    Sweep(Sweep),
    /// Check and join what several processes of a sweep have run
    Merge(Merge),
    /// Compute the most that any mechanism and router can deliver
    Bound(Bound),
    /// Compare two sweeps point by point, or two runs
    Compare(Compare),
    /// Write one HTML file about a sweep
    Report(Report),
    /// Show runs, scenarios and daemons in a browser
    View(View),
    /// Draw a figure of a sweep or a run: SVG, PDF, PNG or HTML
    Plot(Plot),
    /// Reproduce the figures and claims of a paper
    Study(Study),
    /// Analyse a capture of packets: flows, losses, pauses
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
    /// Write summary.json, scenario.json, series.parquet (of packets also series.html) and The ONE's report files here
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write every record of the run: .parquet, or .jsonl for people; packets also as .pcapng. May be given several times
    #[arg(long = "trace", value_name = "FILE")]
    pub traces: Vec<PathBuf>,
    /// Where a .pcapng trace is captured: senders, receivers, drops, or a node's name [default: senders]
    #[arg(long, value_name = "WHERE", requires = "traces")]
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
#[command(after_help = format!("Templates:\n{}", crate::command::new::list()))]
pub struct New {
    /// Which template; without one, they are listed
    pub template: Option<String>,
    /// The file to write; - prints it [default: TEMPLATE.toml, of the_one the_one.txt]
    pub file: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct Validate {
    /// Scenarios in TOML, or The ONE's settings: each file by itself
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The files are one scenario: The ONE's settings, of which later ones override earlier ones
    #[arg(long)]
    pub layers: bool,
    /// Set a key of each scenario first, as `--set nodes.walkers.buffer="1 MB"`
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub sets: Vec<(String, String)>,
    /// Read The ONE's settings without the working directory's default_settings.txt, which The ONE always reads first
    #[arg(long)]
    pub no_defaults: bool,
    /// Print one JSON object for each file instead of lines
    #[arg(long)]
    pub json: bool,
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
    /// Folder of a sweep or of `run --out`, or a file of `run --json`
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// Another one
    #[arg(value_name = "B")]
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
    /// Those with this in their names, with papers and parameters; or a kind, as mechanisms: a sentence on each, as on all without it
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
    /// Run one controller, and what it is compared with (scorecard)
    #[arg(long, value_name = "NAME")]
    pub controller: Option<String>,
    /// Draw other networks than those of the documented figures (scorecard, universal)
    #[arg(long, allow_negative_numbers = true, value_parser = seed)]
    pub seed: Option<u64>,
    /// Search for the networks in which the controller does worst (scorecard)
    #[arg(long, requires = "controller", conflicts_with = "real")]
    pub worst: bool,
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
pub struct View {
    /// Folder of a sweep or of `run --out`; a scenario, which the page runs; a trace (.parquet, .jsonl); or http://ADDRESS of a
    /// lightlagd. Two are shown side by side
    #[arg(required = true, num_args = 1..=2, value_name = "WHAT")]
    pub what: Vec<PathBuf>,
    #[command(flatten)]
    pub which: Which,
    /// Set a key of a scenario, as `--set nodes.walkers.buffer="1 MB"`
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub sets: Vec<(String, String)>,
    /// Read The ONE's settings without the working directory's default_settings.txt, which The ONE always reads first
    #[arg(long)]
    pub no_defaults: bool,
    /// Write one HTML file with the data in it, print its name and end
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "no_open"])]
    pub out: Option<PathBuf>,
    /// Port of this machine at which the page is served until Ctrl-C [default: a free one]
    #[arg(long, value_name = "PORT", allow_negative_numbers = true)]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
}

#[derive(Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub struct Plot {
    /// Folder of a sweep, or of `run --out` with a series
    pub folder: PathBuf,
    /// Which metric of a sweep, or number of a series; without --metric and --out, they are listed
    #[arg(long, value_name = "NAME", requires = "out")]
    pub metric: Option<String>,
    /// The file to write: .svg, .pdf, .png, .html, or .vl.json (Vega-Lite)
    #[arg(long, value_name = "FILE", requires = "metric")]
    pub out: Option<PathBuf>,
    /// Axis of the sweep that is horizontal [default: the first numeric one]
    #[arg(long, value_name = "AXIS")]
    pub x: Option<String>,
    /// Axis of the sweep whose values are curves or bars of their own [default: mechanism, or router]
    #[arg(long, value_name = "AXIS")]
    pub series: Option<String>,
    /// Heading [default: the metric]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Title of the horizontal axis [default: the axis, with its unit]
    #[arg(long, value_name = "TEXT")]
    pub x_title: Option<String>,
    /// Title of the vertical axis [default: the metric, with its unit]
    #[arg(long, value_name = "TEXT")]
    pub y_title: Option<String>,
    /// Width between the axes, in pixels, of a panel where there are several [default: 520; panels 280]
    #[arg(long, value_name = "PIXELS", allow_negative_numbers = true, value_parser = pixels)]
    pub width: Option<u32>,
    /// Height between the axes, in pixels, of a panel where there are several [default: 280; panels 200]
    #[arg(long, value_name = "PIXELS", allow_negative_numbers = true, value_parser = pixels)]
    pub height: Option<u32>,
}

#[derive(Args)]
pub struct Capture {
    /// The capture; - reads standard input
    pub file: PathBuf,
    #[arg(long = "filter", value_name = "WHAT", help = filter_help())]
    pub filters: Vec<String>,
    /// Only packets of this interface, by its name or, from 0, its number [default: each flow at the interface of its first packet]
    #[arg(long, value_name = "INTERFACE")]
    pub interface: Option<String>,
    /// A UDP port that carries DCCP (RFC 6773); may be given several times [default: 6511]
    #[arg(long = "dccp-port", value_name = "PORT")]
    pub dccp_ports: Vec<u16>,
    /// Shortest pause that is reported
    #[arg(long, value_name = "TIME", default_value = "200 ms", allow_hyphen_values = true, value_parser = quantity::positive_time)]
    pub pause: Duration,
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

fn filter_help() -> String {
    let protocols = lightlag_capture::analysis::Filter::protocols();
    format!(
        "Only flows with this: an address, a port, ADDRESS:PORT, or one of {protocols}; several must all hold"
    )
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

/// Sizes of figures: a printed page at 600 dots per inch has fewer.
const PIXELS_MAX: u32 = 10_000;

fn pixels(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|pixels| (1..=PIXELS_MAX).contains(pixels));
    number.ok_or_else(|| {
        format!("`{text}` is not a size in pixels; write a whole number from 1 to {PIXELS_MAX}")
    })
}

/// More threads than any machine has cores.
const THREADS_MAX: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let number = whole(text).ok().filter(|number| *number <= THREADS_MAX);
    number.ok_or_else(|| format!("it is a whole number from 0 (one per core) to {THREADS_MAX}"))
}
