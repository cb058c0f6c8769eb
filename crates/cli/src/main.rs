//! The `lightlag` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    lightlag_cli::main()
}
