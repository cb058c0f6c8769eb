//! The page in the repository is the one that the sources make.

use crate::digests::{bindings_for_page, jobs_of_the_repository, run_by};
use crate::{bindings, skip};
use lightlag_page::html;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const WASM: &str = "<script type=\"application/octet-stream\" id=\"wasm\">";

/// The page without the WebAssembly, and the WebAssembly, packed.
fn parts(page: &str) -> (String, &str) {
    let (before, rest) = page.split_once(WASM).expect("it has WebAssembly");
    let (wasm, after) = rest.split_once("</script>").expect("it ends");
    (format!("{before}{after}"), wasm)
}

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn run(command: &mut Command) {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [done.stdout, done.stderr].concat();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
}

/// What is not the same says what to do.
const AGAIN: &str = "crates/page/page.html.gz is old: make web";

#[test]
fn the_page_of_the_repository_is_that_of_its_sources() {
    let Some(bindings) = bindings_for_page() else { return };
    if !skip::has("npm") {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("out/web")).expect("it can be made");
    let copy = |from: &Path, to: &str| run(Command::new("cp").arg("-R").arg(from).arg(folder.join(to)));
    run(Command::new("cp").args(["-R", "--", "web", "scenarios"]).arg(&folder).current_dir(root("")));
    copy(bindings.parent().expect("it has a folder"), "out/web/web");
    let web = folder.join("web");
    let _ = std::fs::remove_dir_all(web.join("dist"));
    if !web.join("node_modules").is_dir() {
        let installed = Command::new("npm")
            .args(["ci", "--silent", "--no-fund", "--no-audit"])
            .current_dir(&web)
            .output();
        if !installed.is_ok_and(|done| done.status.success()) {
            skip::skip("npm cannot install the tools of the page");
            return;
        }
    }
    run(Command::new("npm").args(["run", "--silent", "build"]).current_dir(&web));
    let made = std::fs::read_to_string(web.join("dist/page.html")).expect("it is built");
    assert!(parts(&made).0 == parts(html()).0, "{AGAIN}");
}

#[test]
fn the_webassembly_of_the_page_gives_the_native_digests() {
    let Some(glue) = bindings_for_page() else { return };
    let packed = glue.with_file_name("embedded.wasm.gz.base64");
    std::fs::write(&packed, parts(html()).1).expect("the disk has room");
    let jobs = jobs_of_the_repository();
    let made = run_by("embedded.mjs", &[glue, &packed], &jobs);
    let mut count = 0;
    for (job, page) in jobs.iter().zip(made) {
        let native = job.native();
        let outcome = page["outcome"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        assert_eq!(outcome.as_ref(), Some(&native), "{}: {AGAIN}\n{page}", job.name);
        count += 1;
    }
    assert!(count > 10, "{} of {}", count, bindings::TARGET);
}
