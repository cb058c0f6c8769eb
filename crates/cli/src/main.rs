//! The `lightlag` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    lightlag_cli::main()
}

/// The allocator of musl is slow: the static program spends a multiple of glibc's time in it.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
