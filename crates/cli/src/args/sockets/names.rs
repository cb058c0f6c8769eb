//! What can be typed after `lightlag names`.

use crate::args::key_value;
use clap::{Args, Subcommand};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_scenario::quantity;
use std::path::PathBuf;

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
    /// The forwarder: udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH [default: $NDN_CLIENT_TRANSPORT, or
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
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub max_size: Option<Bytes>,
    /// Bytes that a datagram may carry
    #[arg(long, value_name = "SIZE", default_value = "1420 B", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub mtu: Bytes,
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
    #[arg(long, value_name = "SIZE", default_value = "8000 B", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub segment_size: Bytes,
    /// How fast Data leave at most, as "300 Mbit/s": bursts overflow the buffers of some forwarders' UDP
    /// sockets [default: as fast as they are asked for]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = quantity::bit_rate)]
    pub rate: Option<BitRate>,
    /// A private key that signs, as `lightlag names keygen` writes it [default: digests only]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Bytes that a datagram may carry
    #[arg(long, value_name = "SIZE", default_value = "1420 B", allow_hyphen_values = true, value_parser = quantity::bytes)]
    pub mtu: Bytes,
    /// Print one JSON object as soon as it is published
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct MakeKey {
    /// Where the private key goes
    pub file: PathBuf,
}
