//! The commands that use sockets: they need the feature `daemon`.

mod bundles;
mod emulate;
mod names;
mod transfer;

pub use bundles::{Bundles, ListenBundles, SendBundles};
pub use emulate::Emulate;
pub use names::{GetName, MakeKey, Names, PutName};
pub use transfer::{BenchLink, Pacing, Transfer};

use clap::Subcommand;

#[derive(Subcommand)]
pub enum Sockets {
    /// Send a file, or listen for files: over UDPDTN, which resumes where it was stopped, LTP, DCCP or TCP
    Transfer(Box<Transfer>),
    /// Send bundles to other implementations, or keep those that they send: LTP, UDP, DCCP, TCPCLv4
    #[command(subcommand)]
    Bundles(Bundles),
    /// Measure the throughput of LTP, DCCP or TCP to a listener, over minutes
    BenchLink(Box<BenchLink>),
    /// Put a link of a scenario, in real time, between programs: all their packets, or UDP datagrams only
    Emulate(Box<Emulate>),
    /// Get or put files as named data (NDN), through a forwarder or directly
    #[command(subcommand)]
    Names(Names),
}

impl Sockets {
    /// Whether it listens for connections, each with a thread of its own.
    pub fn listens(&self) -> bool {
        match self {
            Self::Transfer(options) => options.listen.is_some(),
            Self::Bundles(Bundles::Listen(_)) => true,
            _ => false,
        }
    }
}
