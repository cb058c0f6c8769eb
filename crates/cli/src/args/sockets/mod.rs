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
    /// Send a file, or listen for files: UDPDTN, LTP, DCCP, TCP
    Transfer(Box<Transfer>),
    /// Exchange bundles with other implementations
    #[command(subcommand)]
    Bundles(Bundles),
    /// Measure the throughput to a listener, over minutes
    BenchLink(Box<BenchLink>),
    /// Put a link of a scenario, in real time, between programs
    Emulate(Box<Emulate>),
    /// Get or put files as named data (NDN)
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
