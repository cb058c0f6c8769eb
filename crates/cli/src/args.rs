//! What can be typed.

mod bundles;
mod emulate;

pub use bundles::{Bundles, ListenBundles, SendBundles};
pub use emulate::Emulate;

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
    /// Send a file, or listen for files: over UDPDTN, which resumes where it was stopped, LTP, DCCP or TCP
    Transfer(Box<Transfer>),
    /// Send bundles to other implementations, or keep those that they send: LTP, UDP, DCCP, TCPCLv4
    #[command(subcommand)]
    Bundles(Bundles),
    /// Measure the throughput of LTP, DCCP or TCP to a listener, over minutes
    BenchLink(Box<BenchLink>),
    /// Analyse a capture of packets (pcap, pcapng): flows, round trips, losses and the reaction to each, pauses
    Capture(Capture),
    /// Put a link of a scenario, in real time, between programs: all their packets, or UDP datagrams only
    Emulate(Box<Emulate>),
    /// Get or put files as named data (NDN), through a forwarder or directly
    #[command(subcommand)]
    Names(Names),
}

/// What a scenario is read from.
impl Verb {
    /// Whether it listens for connections, each with a thread of its own.
    pub fn listens(&self) -> bool {
        match self {
            Self::Transfer(options) => options.listen.is_some(),
            Self::Bundles(bundles::Bundles::Listen(_)) => true,
            _ => false,
        }
    }
}

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
pub struct Transfer {
    /// The file to send
    #[arg(required_unless_present = "listen", requires = "to")]
    pub file: Option<PathBuf>,
    /// The listener [default port: 4561 for udpdtn and tcp, 1113 for ltp-udp, 6511 for dccp and ltp-dccp]
    #[arg(value_name = "HOST:PORT")]
    pub to: Option<String>,
    /// What carries it, the same at both sides: udpdtn, ltp-udp, ltp-dccp, dccp or tcp
    #[arg(long, value_name = "TRANSPORT", default_value = "udpdtn")]
    pub over: String,
    /// Listen for files [default: all addresses of this machine, the port as above]
    #[arg(long, value_name = "[HOST:]PORT", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["file", "to", "rate", "plan", "plan_nodes", "light", "controller", "sets", "give_up", "packet_size"])]
    pub listen: Option<String>,
    /// Listening: where files go
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "file")]
    pub folder: PathBuf,
    /// Listening: exit after the first transfer has ended
    #[arg(long, conflicts_with = "file")]
    pub once: bool,
    /// Listening: replace files of the same name
    #[arg(long, conflicts_with = "file")]
    pub overwrite: bool,
    /// Listening: largest file that is taken [default: what fits on the disk]
    #[arg(long, value_name = "SIZE", conflicts_with = "file")]
    pub max_size: Option<String>,
    /// Listening without a key: most bytes of unfinished files that are kept, all together (udpdtn)
    /// [default: half of the disk]
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["file", "key_file"])]
    pub max_partial: Option<String>,
    /// A file with a secret that both sides have: only datagrams tagged with it count (udpdtn)
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Sending: make each block whole before the next one begins (udpdtn)
    #[arg(long, conflicts_with = "listen")]
    pub in_order: bool,
    /// Write all datagrams of this side: a pcap that `lightlag capture` and tshark read
    #[arg(long, value_name = "OUT.pcap")]
    pub capture: Option<PathBuf>,
    /// Over dccp and ltp-dccp: in IP packets of protocol 33, not in UDP; HOST:PORT names a port of DCCP then
    /// [default port: 4561 for dccp, 1113 for ltp-dccp]. Needs CAP_NET_RAW
    #[arg(long)]
    pub raw: bool,
    /// Print one JSON object per transfer
    #[arg(long)]
    pub json: bool,
}

/// How fast what is sent may leave, and in what packets.
#[derive(Args, Clone)]
pub struct Pacing {
    /// Sending: rate of the contact plan, as "100 Mbit/s" [default: found by probing; bundles over udp: 1 Mbit/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<String>,
    /// Sending: a contact plan to follow: nothing leaves outside contacts. A scenario in TOML with [contacts.NAME], ION's
    /// contacts and ranges, or a table start_s,end_s,a,b,owlt_s,rate_bps; read again when it changes (udpdtn, ltp-udp)
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    pub plan: Option<PathBuf>,
    /// Sending: the nodes of the plan that this path connects [default: the only two]
    #[arg(long, value_name = "FROM,TO", requires = "plan")]
    pub plan_nodes: Option<String>,
    /// Sending: light-time RTT, as "240 s"; no timeout is shorter [default: that of the plan]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub light: Option<String>,
    /// Sending: congestion controller; see `lightlag list` [default: contact_rate over udpdtn, and over ltp-udp with
    /// --rate or --plan; cubic over ltp-udp without; ccid2 over dccp and ltp-dccp]
    #[arg(long, value_name = "NAME")]
    pub controller: Option<String>,
    /// Sending: set a parameter of the controller, as `--set pull=0.1`
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = key_value)]
    pub sets: Vec<(String, String)>,
    /// Sending: give up after this time without an answer, as "1 h" [default: never]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub give_up: Option<String>,
    /// Sending: bytes of a packet, headers of IP and UDP included [default: 1500 B]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub packet_size: Option<String>,
}

#[derive(Args)]
pub struct BenchLink {
    /// The listener [default port: 4561 for udpdtn and tcp, 1113 for ltp-udp, 6511 for dccp and ltp-dccp]
    #[arg(value_name = "HOST:PORT", required_unless_present = "listen")]
    pub to: Option<String>,
    /// What carries it, the same at both sides: udpdtn, ltp-udp, ltp-dccp, dccp or tcp
    #[arg(long, value_name = "TRANSPORT")]
    pub over: String,
    /// Receive and count [default: at all addresses of this machine, the port as above]
    #[arg(long, value_name = "[HOST:]PORT", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["to", "rate", "plan", "plan_nodes", "light", "controller", "sets", "give_up", "packet_size"])]
    pub listen: Option<String>,
    /// Listening: exit after the first measurement has ended
    #[arg(long, conflicts_with = "to")]
    pub once: bool,
    /// Sending: duration, from the first byte that the receiver gets
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1 min",
        conflicts_with = "listen",
        allow_hyphen_values = true
    )]
    pub time: String,
    /// Sending: interval of the figures that both sides print [default: 10 s, or the whole of a shorter --time]
    #[arg(long, value_name = "TIME", conflicts_with = "listen", allow_hyphen_values = true)]
    pub every: Option<String>,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Write all datagrams of this side: a pcap that `lightlag capture` and tshark read
    #[arg(long, value_name = "OUT.pcap")]
    pub capture: Option<PathBuf>,
    /// Print one JSON object per interval, and one at the end
    #[arg(long)]
    pub json: bool,
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

#[derive(Subcommand)]
pub enum Names {
    /// Get what a name names
    Get(Box<GetName>),
    /// Answer Interests for a file, until stopped
    Put(PutName),
    /// Make a signing key: FILE, and FILE.pub for receivers to trust
    Keygen(MakeKey),
}

#[derive(Args)]
pub struct GetName {
    /// Its name, as /a/b; with or without a version (v=...)
    pub name: String,
    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Who is asked: udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH [default: $NDN_CLIENT_TRANSPORT, or
    /// unix:///run/nfd/nfd.sock]
    #[arg(long, value_name = "URI")]
    pub face: Option<String>,
    /// How many Interests may be without an answer; see `lightlag list`
    #[arg(long, value_name = "NAME", default_value = "short_queue")]
    pub controller: String,
    /// Set a parameter of the controller, as `--set initial_window=4`
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = key_value)]
    pub sets: Vec<(String, String)>,
    /// A public key or certificate: only what its owner has signed is taken
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
    /// Take what anybody may have written: only digests are checked
    #[arg(long, conflicts_with = "trust")]
    pub insecure: bool,
    /// Largest object that is taken, as "5 GB" [default: 1 GB with --insecure, no limit with --trust]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub max_size: Option<String>,
    /// Bytes that a datagram may carry
    #[arg(long, value_name = "SIZE", default_value = "1420 B", allow_hyphen_values = true)]
    pub mtu: String,
    /// Print one JSON object at the end; needs -o
    #[arg(long, requires = "output")]
    pub json: bool,
}

#[derive(Args)]
pub struct PutName {
    /// Name of the file, as /a/b; a version is appended
    pub name: String,
    /// The file
    pub file: PathBuf,
    /// The forwarder that sends Interests here: udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH [default:
    /// $NDN_CLIENT_TRANSPORT, or unix:///run/nfd/nfd.sock]
    #[arg(long, value_name = "URI", conflicts_with = "listen")]
    pub face: Option<String>,
    /// Answer consumers here without a forwarder
    #[arg(long, value_name = "URI")]
    pub listen: Option<String>,
    /// Bytes of content in a segment
    #[arg(long, value_name = "SIZE", default_value = "8000 B", allow_hyphen_values = true)]
    pub segment_size: String,
    /// How fast Data leave at most, as "300 Mbit/s": bursts overflow the buffers of some forwarders' UDP
    /// sockets [default: as fast as they are asked for]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<String>,
    /// A private key that signs, as `lightlag names keygen` writes it [default: digests only]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Bytes that a datagram may carry
    #[arg(long, value_name = "SIZE", default_value = "1420 B", allow_hyphen_values = true)]
    pub mtu: String,
    /// Print one JSON object as soon as it is published
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct MakeKey {
    /// Where the private key goes
    pub file: PathBuf,
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
