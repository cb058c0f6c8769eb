//! The rules of the repository that no compiler keeps.

use crate::lightlag::repository;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is written here; not what is built, downloaded or stored as data.
fn sources(ends: &[&str]) -> Vec<PathBuf> {
    const BUILT: &[&str] =
        &["target", "out", "site", "corpus", "artifacts", "node_modules", "dist", "reports"];
    let mut found = Vec::new();
    let mut folders = vec![repository("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the repository can be read") {
            let path = entry.expect("a folder lists its entries").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if name.starts_with('.') || BUILT.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if ends.iter().any(|end| name.ends_with(end)) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "there are files that end in {ends:?}");
    found
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Who may name whom in its manifest: arrows run down only.
const ARROWS: &[(&str, &[&str])] = &[
    ("protocols", &[]),
    ("worlds", &["protocols"]),
    ("scenario", &["protocols", "worlds"]),
    ("judge", &["protocols"]),
    ("capture", &["protocols"]),
    ("lab", &["protocols", "worlds", "scenario", "judge", "capture", "page"]),
    ("studies", &["protocols", "worlds", "scenario", "capture", "lab", "node"]),
    ("node", &["protocols"]),
    ("page", &[]),
    ("daemon", &["protocols", "node", "page"]),
    ("cli", &["protocols", "scenario", "capture", "lab", "studies", "node", "page"]),
    ("manual", &["cli"]),
    ("python", &["protocols", "scenario", "capture", "lab", "studies", "page"]),
    ("socket", &[]),
    ("run", &["socket"]),
    ("web", &["protocols", "worlds", "scenario", "judge", "lab", "page"]),
];

#[test]
fn arrows_between_crates_run_down_only() {
    let rooms = fs::read_dir(repository("crates")).expect("there are crates").count();
    assert_eq!(rooms, ARROWS.len(), "every crate has its arrows here");
    for (room, below) in ARROWS {
        let manifest = text(&repository(&format!("crates/{room}/Cargo.toml")));
        let named = manifest.lines().filter_map(|line| line.strip_prefix("lightlag-"));
        for other in named.map(|rest| rest.split(['.', ' ']).next().unwrap_or_default()) {
            assert!(below.contains(&other), "crates/{room} must not know crates/{other}");
        }
    }
}

/// What only `lightlagd` may bring into a build: a runtime, TLS, a database, a web server.
const OF_THE_DAEMON: &[&str] = &["axum", "hyper", "redb", "rustls", "tokio"];

#[test]
fn only_the_daemon_has_a_runtime_tls_and_a_database() {
    let manifest = text(&repository("crates/daemon/Cargo.toml"));
    for library in OF_THE_DAEMON {
        assert!(manifest.contains(&format!("\n{library} = ")), "crates/daemon does not name {library}");
    }
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--workspace", "--exclude", "lightlag-daemon"])
        .args(["--edges", "no-dev", "--prefix", "none", "--format", "{p}"])
        .current_dir(repository(""))
        .output()
        .expect("cargo starts");
    let (listed, said) = (String::from_utf8_lossy(&tree.stdout), String::from_utf8_lossy(&tree.stderr));
    assert!(tree.status.success() && listed.contains("lightlag-cli "), "cargo tree: {said}");
    for package in listed.lines().filter_map(|line| line.split(' ').next()) {
        assert!(
            !OF_THE_DAEMON.contains(&package),
            "a crate other than crates/daemon brings {package}: see cargo tree --workspace --exclude \
             lightlag-daemon --invert {package}"
        );
    }
}

#[test]
fn the_python_package_brings_no_sockets() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", "lightlag-python"])
        .args(["--edges", "no-dev", "--prefix", "none", "--format", "{p}"])
        .current_dir(repository(""))
        .output()
        .expect("cargo starts");
    let (listed, said) = (String::from_utf8_lossy(&tree.stdout), String::from_utf8_lossy(&tree.stderr));
    assert!(tree.status.success() && listed.contains("lightlag-studies "), "cargo tree: {said}");
    assert!(!listed.contains("lightlag-node "), "the feature `real` of crates/studies is on for Python");
}

#[test]
fn files_stay_small_enough_to_be_read() {
    for path in sources(&[".rs", ".py", ".sh", ".pyi"]) {
        let lines = text(&path).lines().count();
        assert!(lines <= 800, "{} has {lines} lines: split it", path.display());
    }
}

#[test]
fn links_in_documents_lead_somewhere() {
    for path in sources(&[".md"]) {
        let page = text(&path);
        let targets = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets {
            let file = target.split('#').next().unwrap_or_default();
            let file = match REPOSITORY.iter().find_map(|url| file.strip_prefix(url)) {
                Some(file) => repository(file),
                None if file.contains("://") => continue,
                None => path.parent().expect("a file has a folder").join(file),
            };
            assert!(file.exists(), "{}: there is no {target}", path.display());
        }
    }
}

/// Where files and folders of the repository can be seen from everywhere; pages of package registries show the README.
const REPOSITORY: [&str; 3] = [
    concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/"),
    concat!(env!("CARGO_PKG_REPOSITORY"), "/tree/main/"),
    "https://raw.githubusercontent.com/lightlag/lightlag/main/",
];

#[test]
fn the_readme_has_no_relative_links() {
    let page = text(&repository("README.md"));
    let targets: Vec<&str> = page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(targets.iter().filter(|target| target.starts_with(REPOSITORY[0])).count() > 40);
    let relative: Vec<_> = targets.iter().filter(|target| !target.contains("://")).collect();
    assert!(relative.is_empty(), "package registries show it elsewhere: {relative:?}");
}

#[test]
fn every_guide_and_decision_is_listed_in_the_manual() {
    let manual = text(&repository("mkdocs.yml"));
    for path in sources(&[".md"]) {
        let Ok(page) = path.strip_prefix(repository("docs")) else { continue };
        if page.starts_with("algorithms") {
            // Listed in algorithms/README.md; a new algorithm is one file and one line.
            continue;
        }
        assert!(manual.contains(&page.display().to_string()), "mkdocs.yml does not list {}", page.display());
    }
}

#[test]
fn no_path_of_anybodys_machine_is_written_down() {
    let homes =
        [["/ho", "me/"].concat(), ["/ro", "ot/"].concat(), ["/wo", "rk/"].concat(), ["/Use", "rs/"].concat()];
    for path in sources(&[".rs", ".py", ".pyi", ".md", ".toml", ".sh", ".txt", ".yml", ".html"]) {
        let text = text(&path);
        for home in &homes {
            assert!(!text.contains(home.as_str()), "{} names {home}", path.display());
        }
    }
}
