//! What can be typed after `lightlag transfer` and `lightlag bench-link`.

use crate::args::key_value;
use clap::Args;
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_scenario::quantity;
use std::path::PathBuf;

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
    #[arg(long, value_name = "SIZE", conflicts_with = "file", value_parser = quantity::bytes)]
    pub max_size: Option<Bytes>,
    /// Listening without a key: most bytes of unfinished files that are kept, all together (udpdtn)
    /// [default: half of the disk]
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["file", "key_file"], value_parser = quantity::bytes)]
    pub max_partial: Option<Bytes>,
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
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = quantity::bit_rate)]
    pub rate: Option<BitRate>,
    /// Sending: a contact plan to follow: nothing leaves outside contacts. A scenario in TOML with [contacts.NAME], ION's
    /// contacts and ranges, or a table start_s,end_s,a,b,owlt_s,rate_bps; read again when it changes (udpdtn, ltp-udp)
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    pub plan: Option<PathBuf>,
    /// Sending: the nodes of the plan that this path connects [default: the only two]
    #[arg(long, value_name = "FROM,TO", requires = "plan")]
    pub plan_nodes: Option<String>,
    /// Sending: light-time RTT, as "240 s"; no timeout is shorter [default: that of the plan]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = quantity::time)]
    pub light: Option<Duration>,
    /// Sending: congestion controller; see `lightlag list` [default: contact_rate over udpdtn, and over ltp-udp with
    /// --rate or --plan; cubic over ltp-udp without; ccid2 over dccp and ltp-dccp]
    #[arg(long, value_name = "NAME")]
    pub controller: Option<String>,
    /// Sending: set a parameter of the controller, as `--set pull=0.1`
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = key_value)]
    pub sets: Vec<(String, String)>,
    /// Sending: give up after this time without an answer, as "1 h" [default: never]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = quantity::positive_time)]
    pub give_up: Option<Duration>,
    /// Sending: bytes of a packet, headers of IP and UDP included [default: 1500 B]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub packet_size: Option<Bytes>,
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
        allow_hyphen_values = true, value_parser = quantity::positive_time)]
    pub time: Duration,
    /// Sending: interval of the figures that both sides print [default: 10 s, or the whole of a shorter --time]
    #[arg(long, value_name = "TIME", conflicts_with = "listen", allow_hyphen_values = true, value_parser = quantity::positive_time)]
    pub every: Option<Duration>,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Write all datagrams of this side: a pcap that `lightlag capture` and tshark read
    #[arg(long, value_name = "OUT.pcap")]
    pub capture: Option<PathBuf>,
    /// Print one JSON object per interval, and one at the end
    #[arg(long)]
    pub json: bool,
}
