//! `lightlag emulate`.

use crate::args::{Source, seed};
use clap::Args;
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use lightlag_scenario::quantity;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args)]
#[command(override_usage = "lightlag emulate PLAN.toml [OPTIONS] -- COMMAND [ARGS]...
       lightlag emulate PLAN.toml [OPTIONS] --between NETNS NETNS [-- COMMAND [ARGS]...]
       lightlag emulate PLAN.toml [OPTIONS] --listen [HOST:]PORT --to HOST:PORT")]
pub struct Emulate {
    #[command(flatten)]
    pub source: Source,
    /// Run this on the near side of the link, and exit when it exits: it has 10.77.0.1 and fd77::1, the far side
    /// 10.77.0.2 and fd77::2. Needs root
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Put the link between two network namespaces that are there, near and far, by their names. Needs root
    #[arg(long, value_names = ["NETNS", "NETNS"], num_args = 2, conflicts_with = "listen")]
    pub between: Vec<String>,
    /// Run this line of the shell on the far side, until the end
    #[arg(long, value_name = "COMMAND-LINE", conflicts_with = "listen")]
    pub far: Option<String>,
    /// Bytes of the largest packet on the link; less than 1280 leaves only IPv4
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1500 B",
        conflicts_with = "listen",
        allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub mtu: Bytes,
    /// Memory for packets in flight; a plan that could need more is rejected
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "2 GB",
        conflicts_with = "listen",
        allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub memory: Bytes,
    /// Write all packets that pass either side, a pcapng
    #[arg(long, value_name = "OUT.pcapng", conflicts_with = "listen")]
    pub capture: Option<PathBuf>,
    /// Write the traffic of each second and direction: .csv, or .parquet
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    pub table: Option<PathBuf>,
    /// Carry UDP datagrams only: where they come in
    #[arg(long, value_name = "[HOST:]PORT", requires = "to", conflicts_with = "command")]
    pub listen: Option<String>,
    /// Where datagrams go to
    #[arg(long, value_name = "HOST:PORT", requires = "listen")]
    pub to: Option<String>,
    /// Which link, by its name [default: the first]
    #[arg(long, value_name = "NAME")]
    pub link: Option<String>,
    /// Seed of delays and losses [default: the file's first]
    #[arg(long, allow_negative_numbers = true, value_parser = seed)]
    pub seed: Option<u64>,
    /// Stop after this time, as "10 s" [default: never]
    #[arg(long = "for", value_name = "TIME", allow_hyphen_values = true, value_parser = quantity::positive_time)]
    pub span: Option<Duration>,
    /// Print one JSON object at the end instead of lines
    #[arg(long)]
    pub json: bool,
}
