//! Under copy_value, copies at rest move to a node with room, and do not wander between small buffers.

use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{ScenarioFile, Seed};

/// The smallest trace found on which a move cost more than it gained: for one created bundle after another, two
/// nodes gave each other the same copies, 68 bytes sent for each that was delivered.
const FOUND: &str = "7 11 88122 89149\n4 11 129581 129895\n4 12 166292 166977\n4 12 187191 187590\n";

/// Bytes sent for each byte delivered.
fn paid(trace: &str, router: &str, buffer: &str) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("trace.dat"), trace).unwrap();
    let text = format!(
        r#"
        duration = "3 d"
        router = {router}
        mechanism = "copy_value"
        buffer = "{buffer}"
        application_buffer = "unlimited"
        world.control = "instant"
        nodes.n.count = 15
        contacts.trace = {{ kind = "intervals", file = "trace.dat", rate = "239 kbit/s" }}
        traffic.m = {{ interval = "1..175 s", size = "85..208 kB", lifetime = "1 d" }}
        "#
    );
    let path = folder.path().join("small.toml");
    std::fs::write(&path, text).unwrap();
    let file = ScenarioFile::read(&[&path]).unwrap();
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let outcome = run(&scenario, Seed::Own, &ContactsCache::default(), &Options::default()).unwrap();
    let metrics = outcome.metrics();
    let of =
        |name: &str| metrics.iter().find(|(known, _)| **known == *name).map(|(_, value)| *value).unwrap();
    assert!(of("delivered") > 0.0, "{router}, {buffer}");
    of("bytes_per_delivered_byte")
}

#[test]
fn copies_at_rest_do_not_wander() {
    let found = paid(FOUND, "\"direct\"", "267 kB");
    assert!(found < 8.0, "{found}");
}
