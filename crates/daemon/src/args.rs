//! What can be typed after `lightlagd`. Part of the program, not of the library; crates/manual includes it, too.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Keeps application connections open while it moves them between TCP and a delay-tolerant datagram transport.
#[derive(Parser)]
#[command(name = "lightlagd", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Subcommand)]
pub enum Verb {
    /// Run until SIGTERM, Ctrl-C or `lightlagd stop`; SIGHUP reloads the settings
    Run(Settings),
    /// Make a private key and print its public half for the settings of the peer
    Keygen {
        /// File to make, with mode 0600; an existing file is not overwritten
        #[arg(default_value = "key.pem")]
        file: PathBuf,
    },
    /// Print the public half of a private key
    Key {
        /// File of the private key
        #[arg(default_value = "key.pem")]
        file: PathBuf,
    },
    /// Make keys and settings of two daemons on this machine, to try them
    Example {
        /// Folder in which `near` and `far` are made
        #[arg(default_value = "lightlagd-example")]
        folder: PathBuf,
    },
    /// Check the settings
    Check(Settings),
    /// Show peers, connections, the stack that carries them and why
    Status {
        #[command(flatten)]
        settings: Settings,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Check that the daemon answers (exit code 0, else 1); with --ready, that it can carry connections
    Health {
        #[command(flatten)]
        settings: Settings,
        /// Also check that a peer was heard and that data of durable connections can be stored
        #[arg(long)]
        ready: bool,
    },
    /// Choose the stack that carries connections with a peer: auto, tcp or udpdtn
    Switch {
        #[command(flatten)]
        settings: Settings,
        /// Name of the peer in the settings
        peer: String,
        /// Stack; `auto` follows the state of the path
        #[arg(value_parser = ["auto", "tcp", "udpdtn"])]
        stack: String,
    },
    /// Reload the settings
    Reload(Settings),
    /// Stop the daemon
    Stop(Settings),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub struct Settings {
    /// Settings file
    #[arg(short, long, default_value = "lightlagd.toml", value_name = "FILE")]
    pub config: PathBuf,
}
