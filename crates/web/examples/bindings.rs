//! Builds the crate for a page and writes its JavaScript: `cargo run -p lightlag-web --example bindings -- FOLDER [PROFILE]`.
//!
//! `FOLDER/web` is for pages (an ES module), `FOLDER/node` for Node.

use std::path::{Path, PathBuf};
use std::process::Command;
use wasm_bindgen_cli_support::Bindgen;

/// What it is built for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Builds with a profile of the workspace, in a target folder of its own; gives the WebAssembly.
///
/// # Errors
/// What cargo says.
pub fn build(target_folder: &Path, profile: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = Command::new(cargo)
        .args([
            "rustc",
            "--quiet",
            "--lib",
            "--crate-type",
            "cdylib",
            "--target",
            TARGET,
            "--profile",
            profile,
        ])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .arg("--target-dir")
        .arg(target_folder)
        // Nobody debugs it, and it is built as a whole.
        .envs([("CARGO_PROFILE_DEV_DEBUG", "false"), ("CARGO_INCREMENTAL", "0")])
        .env_remove("RUSTFLAGS")
        .output()
        .map_err(|error| error.to_string())?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(target_folder.join(TARGET).join(folder).join("lightlag_web.wasm"))
}

/// Writes the JavaScript beside the WebAssembly: for Node, or for pages.
///
/// # Errors
/// What wasm-bindgen says.
pub fn bind(wasm: &Path, folder: &Path, for_node: bool) -> Result<(), String> {
    let mut bindgen = Bindgen::new();
    // Names of functions are a seventh of the size, and of use in traces of stacks only.
    bindgen.input_path(wasm).typescript(!for_node).remove_name_section(!for_node);
    let made = if for_node { bindgen.nodejs(true) } else { bindgen.web(true) };
    made.and_then(|bindgen| bindgen.generate(folder)).map_err(|error| format!("{error:#}"))
}

#[allow(dead_code, reason = "a test includes this file")]
fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("missing FOLDER")?);
    let profile = arguments.next().unwrap_or_else(|| "page".to_owned());
    let wasm = build(&folder.join("target"), &profile)?;
    bind(&wasm, &folder.join("web"), false)?;
    bind(&wasm, &folder.join("node"), true)
}
