//! What can be typed after `lightlag bundles`.

use super::Pacing;
use clap::{Args, Subcommand};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::Bytes;
use lightlag_scenario::quantity;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum Bundles {
    /// Send files as bundles, one each; exit code 1 if one of them is not known to have arrived
    Send(Box<SendBundles>),
    /// Keep bundles that come, under the first half of their BLAKE3
    Listen(Box<ListenBundles>),
}

/// The convergence layer of a sender or a listener.
#[derive(Args)]
pub struct Layer {
    /// What carries bundles: ltp-udp, udp, ltp-dccp, dccp or tcp (TCPCLv4)
    #[arg(long, value_name = "TRANSPORT")]
    pub over: String,
    /// LTP: a file with a secret that both sides have; segments are authenticated with it, and others do not count (RFC 5327)
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// TCPCLv4: what this node calls itself [default: dtn://lightlag/]
    #[arg(long, value_name = "EID")]
    pub node: Option<String>,
    /// DCCP in IP packets of protocol 33, not in UDP; HOST:PORT names a port of DCCP then [default port:
    /// 4556 for dccp, 1113 for ltp-dccp]. Needs CAP_NET_RAW
    #[arg(long)]
    pub raw: bool,
    /// Print one JSON object per bundle
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct SendBundles {
    /// The bundles
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The listener [default port: 1113 for ltp-udp, 4556 for udp and tcp, 6511 for dccp and ltp-dccp]
    #[arg(long, value_name = "HOST:PORT")]
    pub to: String,
    #[command(flatten)]
    pub layer: Layer,
    /// Where they leave from, for peers that answer to a fixed place (ltp-udp, udp) [default: any port]
    #[arg(long, value_name = "[HOST:]PORT")]
    pub from: Option<String>,
    #[command(flatten)]
    pub pacing: Pacing,
    /// LTP: the number of our engine [default: drawn at random]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub engine: Option<u64>,
    /// LTP: the client service that the blocks are for [default: 1, bundles; with --aggregate and without --engine 2]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub service: Option<u64>,
    /// LTP: bytes at the end of each block that are green, not repaired [default: none]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub green: Option<Bytes>,
    /// LTP: collect bundles in blocks of about this size: for client service 1 (with --engine) one behind the other, for 2
    /// (without) as CCSDS 734.1-B-1 has it
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, conflicts_with = "green", value_parser = quantity::bytes)]
    pub aggregate: Option<Bytes>,
    /// Keep bundles that the receiver sends meanwhile to the same port, in this folder (ltp-udp) [default: refuse them]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// With --folder: exit when this number has come and all are sent [default: when all are sent and none is in transit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number, requires = "folder")]
    pub count: Option<u64>,
}

#[derive(Args)]
pub struct ListenBundles {
    /// Where [default: all addresses of this machine, the port as of `send --to`]
    #[arg(value_name = "[HOST:]PORT", default_value = "", hide_default_value = true)]
    pub at: String,
    #[command(flatten)]
    pub layer: Layer,
    /// Where bundles go
    #[arg(long, value_name = "DIR", default_value = "inbox")]
    pub folder: PathBuf,
    /// Exit after this number of bundles [default: never]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub count: Option<u64>,
    /// Largest bundle that is taken
    #[arg(long, value_name = "SIZE", default_value = "1 GB", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub max_size: Bytes,
    /// Most bytes of all files in the folder, each counted with 4096 or more, and of bundles that are still coming
    /// [default: half of what they and the free disk have]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub max_stored: Option<Bytes>,
    /// Also keep what is not a bundle, such as blocks of test tools
    #[arg(long)]
    pub opaque: bool,
    /// Bytes of a packet of ours, headers of IP and UDP included [default: 1500 B]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub packet_size: Option<Bytes>,
    /// LTP: where reports go, for engines that listen at another place than they send from (ltp-udp)
    #[arg(long, value_name = "HOST:PORT")]
    pub reply_to: Option<String>,
    /// LTP: give a block up after this time without a segment of it [default: 1 d]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = quantity::positive_time)]
    pub idle: Option<Duration>,
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("it is a whole number from 0 to {}", u64::MAX))
}
