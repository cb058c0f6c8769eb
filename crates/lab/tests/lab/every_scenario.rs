//! Every scenario that comes with the repository is read, and becomes something that can run.

use lightlag_scenario::{Scenario, ScenarioFile};
use std::path::{Path, PathBuf};

/// All files below `folder` with one of these endings.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, endings, found);
        } else if path.extension().is_some_and(|end| endings.iter().any(|known| end == *known)) {
            found.push(path);
        }
    }
}

fn scenarios(below: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(below), &[ending], &mut found);
    found.sort();
    assert!(!found.is_empty());
    found
}

/// Whether it reads recorded contacts or maps that are not part of the repository.
fn needs_data(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    text.contains("../../out/traces/") || text.contains("= data/")
}

fn check(path: &Path) {
    if needs_data(path) {
        return crate::skip::skip("the traces and maps that others publish are not part of the repository");
    }
    let file = ScenarioFile::read(&[path]).unwrap_or_else(|error| panic!("{error}"));
    let points = match file.points() {
        // Maps of real places are fetched by the script beside the scenario, not kept here.
        Err(error) if error.what.starts_with("cannot find the file") && error.what.contains("/out/") => {
            return crate::skip::skip(error.what);
        }
        points => points.unwrap_or_else(|error| panic!("{error}")),
    };
    let seed = file.seeds().unwrap()[0];
    let mut first = true;
    for point in &points.list {
        let network = match &point.scenario {
            Scenario::Packets(network) => {
                return assert!(!network.flows.is_empty(), "{} sends nothing", path.display());
            }
            Scenario::Names(network) => {
                return assert!(!network.consumers.is_empty(), "{} requests nothing", path.display());
            }
            Scenario::Bundles(network) => network,
        };
        assert!(network.node_count() > 1, "{}", path.display());
        assert!(!network.traffic.is_empty(), "{} sends nothing", path.display());
        // Each error that shows only with a seed; contacts of movement are left to real runs.
        let seeded = network.seeded(seed).unwrap_or_else(|error| panic!("{error}"));
        assert!(!seeded.messages.is_empty(), "{} sends nothing", path.display());
        if std::mem::take(&mut first) {
            seeded.fleet().unwrap_or_else(|error| panic!("{error}"));
            if network.groups.iter().all(|group| group.radios.is_empty()) {
                assert!(!seeded.contacts().unwrap().list.is_empty(), "{}: no contacts", path.display());
            }
        }
    }
}

#[test]
fn every_toml_scenario_is_read() {
    scenarios("", "toml").iter().for_each(|path| check(path));
}

#[test]
fn every_settings_file_of_the_one_is_read() {
    scenarios("the_one", "txt").iter().for_each(|path| check(path));
}

#[test]
fn scenarios_of_the_guide_run() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let page = |name: &str| std::fs::read_to_string(guide.join(name)).unwrap();
    let text = page("scenarios.md") + &page("packets.md") + &page("names.md");
    let written: Vec<&str> =
        text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(written.len() > 1);
    let folder = tempfile::tempdir().unwrap();
    for scenario in written {
        let path = folder.path().join("guide.toml");
        std::fs::write(&path, scenario).unwrap();
        check(&path);
    }
}
