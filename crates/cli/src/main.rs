//! The `lightlag` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    lightlag_cli::main()
}

/// musl's allocator has one lock for all threads; the runs of a sweep would wait for each other.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
