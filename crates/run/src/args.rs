//! What can be typed after `lightlag-run`; crates/manual includes it, too.

use clap::Parser;
use std::ffi::OsString;

/// Makes the TCP connections of a program go through lightlagd. Loopback, the link's own addresses and UDP are left alone.
#[derive(Parser)]
#[command(name = "lightlag-run", version, max_term_width = 100)]
pub struct Cli {
    /// Where the daemon takes SOCKS, host:port; else LIGHTLAG_SOCKS, else 127.0.0.1:1080
    #[arg(long, value_name = "ADDRESS", default_value = "", hide_default_value = true)]
    pub socks: String,
    /// 0 to 3; higher goes first
    #[arg(long, value_parser = priority)]
    pub priority: Option<u8>,
    /// Have it stored before it is acknowledged, and delivered though the program has left
    #[arg(long)]
    pub durable: bool,
    /// Milliseconds of one-way delay that the program bears
    #[arg(long, value_name = "MS")]
    pub delay: Option<u64>,
    /// By which of the other daemons
    #[arg(long, default_value = "", hide_default_value = true)]
    pub peer: String,
    /// Loopback goes through the daemon too
    #[arg(long)]
    pub also_loopback: bool,
    /// Say on standard error what each connection came to
    #[arg(long)]
    pub verbose: bool,
    /// What to run
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub words: Vec<OsString>,
}

fn priority(text: &str) -> Result<u8, String> {
    text.parse().ok().filter(|given| *given < 4).ok_or_else(|| "it must be 0 to 3".to_owned())
}
