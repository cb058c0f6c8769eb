//! Traces of whole runs, as other programs read them.

use lightlag_judge::trace::{NameRow, PacketRow, Row};
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{Catalogue, ScenarioFile, Seed};
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

const WALKERS: &str = r#"
duration = "20 min"
router = "epidemic"
buffer = "500 kB"
[world]
positions_every = "1 min"
[nodes.walker]
count = 12
mobility = { model = "random_waypoint", area = "200 m x 100 m", speed = "0.5..1.5 m/s", pause = "0..60 s" }
radio = { range = "40 m", rate = "2.5 Mbit/s" }
[traffic.mail]
interval = "5..20 s"
size = "50..100 kB"
lifetime = "5 min"
"#;

const LINK: &str = r#"
duration = "1000 s"
[links.space]
from = "earth"
to = "mars"
rate = "1 Mbit/s"
round_trip = "1 s"
queue = "5 packets"
[flows.file]
from = "earth"
to = "mars"
controller = "sack"
size = "1 MB"
"#;

const DATA: &str = r#"
duration = "100 s"
[links.hop]
from = "here"
to = "there"
rate = "1 Mbit/s"
delay = "10 ms"
[producers.library]
at = "there"
prefix = "/film"
object = "100 kB"
[consumers.reader]
at = "here"
object = "/film"
controller = { name = "fixed", window = "20 kB" }
"#;

/// Rows of the trace of a run, and its figures as JSON.
fn traced<R: DeserializeOwned>(text: &str) -> (Vec<R>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let file = ScenarioFile::from_toml("s.toml", text, ".".into(), Catalogue::default().into()).unwrap();
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let options = Options { traces: vec![path.clone()], ..Options::default() };
    let outcome = run(&scenario, Seed::Number(1), &ContactsCache::default(), &options).unwrap();
    assert_eq!(outcome.violations, [""; 0]);
    let rows = std::fs::read_to_string(path).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let plain = run(&scenario, Seed::Number(1), &ContactsCache::default(), &Options::default()).unwrap();
    assert_eq!(plain.figures.json(), outcome.figures.json(), "a trace changes nothing");
    (rows, outcome.figures.json())
}

#[test]
fn rows_of_bundles_name_the_nodes_and_the_holder_of_each_copy() {
    let (rows, _) = traced::<Row>(WALKERS);
    let named = |number: Option<u32>| number.map(|number| format!("walker{number}"));
    let mut held: BTreeSet<(String, u32)> = BTreeSet::new();
    for row in &rows {
        assert_eq!(
            (row.node_name.clone(), row.peer_name.clone()),
            (named(row.node), named(row.peer)),
            "{row:?}"
        );
        let copy = |name: &Option<String>| (name.clone().unwrap(), row.bundle.unwrap());
        match &*row.kind {
            "created" | "stored" => assert!(held.insert(copy(&row.holder)), "{row:?}"),
            "gone" => {
                assert_eq!(row.holder, None);
                assert!(held.remove(&copy(&row.node_name)), "{row:?}");
            }
            "started" | "aborted" | "sent" => {
                assert_eq!(row.holder, row.node_name);
                assert!(held.contains(&copy(&row.holder)), "{row:?}");
            }
            "delivered" => assert_eq!(row.holder, row.peer_name),
            _ => {}
        }
    }
    assert!(rows.iter().filter(|row| row.kind == "stored").count() > 10);
}

#[test]
fn positions_come_at_their_interval_and_agree_with_the_contacts() {
    let (rows, _) = traced::<Row>(WALKERS);
    let positions: Vec<&Row> = rows.iter().filter(|row| row.kind == "position").collect();
    assert_eq!(positions.len(), 12 * 21);
    assert!(rows.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns), "rows are in the order of time");
    assert_eq!(rows.iter().position(|row| row.kind == "position"), Some(12), "after the nodes");
    let mut linked: BTreeSet<(u32, u32)> = BTreeSet::new();
    let (mut at, mut compared) = (vec![(0.0, 0.0); 12], 0);
    for row in &rows {
        let pair = || (row.node.unwrap().min(row.peer.unwrap()), row.node.unwrap().max(row.peer.unwrap()));
        match &*row.kind {
            "contact_up" => drop(linked.insert(pair())),
            "contact_down" => drop(linked.remove(&pair())),
            "position" => {
                let node = row.node.unwrap();
                at[node as usize] = (row.x_m.unwrap(), row.y_m.unwrap());
                // Contacts of the very instant may come after its positions: at zero all do.
                for other in (0..node).filter(|_| node == 11 && row.time_ns > 0) {
                    let (dx, dy) = (at[11].0 - at[other as usize].0, at[11].1 - at[other as usize].1);
                    let distance = (dx * dx + dy * dy).sqrt();
                    compared += 1;
                    assert_eq!(
                        distance < 40.0,
                        linked.contains(&(other, 11)),
                        "{distance} m at {}",
                        row.time_ns
                    );
                }
            }
            _ => {}
        }
    }
    assert_eq!(compared, 11 * 20);
}

#[test]
fn without_an_interval_a_trace_has_no_positions() {
    let (rows, _) = traced::<Row>(&WALKERS.replace("positions_every", "sample_every"));
    assert!(rows.iter().all(|row| row.kind != "position"));
}

#[test]
fn rows_of_packets_name_the_link_its_ends_and_the_flow() {
    let (rows, figures) = traced::<PacketRow>(LINK);
    assert!(figures.contains("goodput_bit_per_s"));
    for row in rows.iter().filter(|row| row.link == Some(0)) {
        assert_eq!(row.link_name.as_deref(), Some("space"));
        assert_eq!((row.from_name.as_deref(), row.to_name.as_deref()), (Some("earth"), Some("mars")));
        assert_eq!(row.flow_name.as_deref(), Some("file"));
    }
    let holders = |kind: &str, link: u32| {
        let of = rows.iter().filter(move |row| row.kind == kind && row.link == Some(link));
        of.map(|row| row.holder.as_deref()).collect::<BTreeSet<_>>()
    };
    assert_eq!(holders("offered", 0), BTreeSet::from([Some("earth")]));
    assert_eq!(holders("arrived", 0), BTreeSet::from([Some("mars")]));
    assert_eq!(holders("dropped", 0), BTreeSet::from([None]));
    assert_eq!(holders("offered", 1), BTreeSet::from([Some("mars")]));
}

#[test]
fn rows_of_named_data_name_the_data_and_the_parties() {
    let (rows, _) = traced::<NameRow>(DATA);
    let first = |kind: &str| rows.iter().find(|row| row.kind == kind).unwrap_or_else(|| panic!("no {kind}"));
    let asked = first("asked");
    assert_eq!(asked.prefix_name.as_deref(), Some("/film"));
    assert_eq!((asked.consumer_name.as_deref(), asked.holder.as_deref()), (Some("reader"), Some("here")));
    let produced = first("produced");
    assert_eq!(
        (produced.producer_name.as_deref(), produced.holder.as_deref()),
        (Some("library"), Some("there"))
    );
    assert_eq!(first("arrived").holder.as_deref(), Some("there"));
    assert_eq!(first("delivered").node_name.as_deref(), Some("here"));
}
