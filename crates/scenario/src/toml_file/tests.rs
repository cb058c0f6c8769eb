//! Whole TOML scenarios.

use crate::{Catalogue, Interval, Points, ScenarioFile, Seed, TrafficKind};
use lightlag_protocols::record::bundles::ReplyKind;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

const WHOLE: &str = r#"
name = "streets"
duration = "4 h"
seeds = [1, 2]
router = { name = "spray_and_wait", copies = 4 }
receipts = true

[world]
tick = "0.1 s"
radio = "link"
propagation = "stop_and_wait"
send_order = "fifo"
sample_every = "60 s"

[nodes.walker]
count = 5
buffer = "500 kB"
mobility = { model = "random_waypoint", area = "1 km x 1 km", speed = "0.5..1.5 m/s", pause = "0..120 s", initial = "stationary_distribution" }
radio = { range = "150 m", rate = "2.5 Mbit/s" }

[nodes.kiosk]
buffer = "5 MB"
router = "epidemic"
mobility = { model = "stationary", at = "500 m, 500 m" }
radio = { range = "150 m", rate = "2.5 Mbit/s" }

[traffic.mail]
interval = "1..300 s"
size = "50..100 kB"
from = "walker0..walker3"
to = "kiosk"
lifetime = "2 h"
"#;

const TOLD: &str = r#"
duration = "30000 s"
router = "epidemic"
buffer = "4 MB"
[nodes.BS]
[nodes.Sat]
count = 2
[nodes.Rover]
count = 2
first = 1
[contacts.plan]
rate = "2.5 Mbit/s"
delay = "1 s"
pairs."BS all" = { delay = "240 s" }
pairs."Sat0 -> BS" = { rate = "1 Mbit/s" }
rows = [
  { a = "BS", b = "Sat0", start = "2000 s", end = "3000 s" },
  { a = "Sat1", b = "Rover1", start = "1 h", end = "2 h" },
]
[traffic.T1]
events = [{ at = "10 s", from = "BS", to = "Rover1", size = "50 kB" }]
"#;

fn file(text: &str) -> ScenarioFile {
    ScenarioFile::from_toml("s.toml", text, PathBuf::from("/missing"), Arc::new(Catalogue::default()))
        .unwrap()
}
fn points(text: &str) -> Points {
    file(text).points().unwrap()
}
fn told(text: &str) -> String {
    let read =
        ScenarioFile::from_toml("s.toml", text, PathBuf::from("/missing"), Arc::new(Catalogue::default()));
    read.and_then(|file| file.points()).map(|points| points.list.len()).unwrap_err().to_string()
}
/// The error of [`WHOLE`] with one piece replaced.
fn broken(from: &str, to: &str) -> String {
    assert!(WHOLE.contains(from), "{from}");
    told(&WHOLE.replacen(from, to, 1))
}

#[test]
fn a_whole_scenario_is_read_as_written() {
    let points = points(WHOLE);
    assert_eq!(points.list.len(), 1);
    let scenario = points.list[0].scenario.bundles().unwrap();
    assert_eq!(
        (scenario.head.name.as_str(), scenario.head.duration),
        ("streets", Duration::from_secs(14_400))
    );
    assert_eq!(scenario.rules.tick, Some(Duration::from_nanos(100_000_000)));
    let names: Vec<&str> = scenario.node_names().collect();
    assert_eq!(names, ["walker0", "walker1", "walker2", "walker3", "walker4", "kiosk"]);
    assert_eq!(scenario.groups[0].router.parameters.number("copies"), 4.0);
    assert_eq!(scenario.groups[1].router.entry.name, "epidemic");
    assert!(scenario.groups[1].policy.receipts);
    assert_eq!(scenario.groups[0].radios[0].rate, BitRate(2_500_000));
    assert!(scenario.groups[1].mobility.as_ref().unwrap().parameters.has("at"));
    let TrafficKind::Random(generator) = &scenario.traffic[0].kind else { panic!() };
    assert_eq!((generator.from.as_slice(), generator.to.as_slice()), (&[0, 1, 2, 3][..], &[5][..]));
    assert!(matches!(generator.interval, Interval::WholeSeconds(_)));
    assert_eq!(file(WHOLE).seeds().unwrap(), [Seed::Number(1), Seed::Number(2)]);
}

#[test]
fn a_setup_has_all_nodes_messages_with_lifetimes_and_contacts_that_its_seed_decides() {
    let scenario = points(WHOLE).list.remove(0).scenario.bundles().unwrap().clone();
    let setup = scenario.setup(Seed::Number(1)).unwrap();
    assert_eq!((setup.nodes.len(), setup.until), (6, Instant::from_secs(14_400)));
    assert!(!setup.contacts.list.is_empty() && setup.bundles.len() > 50);
    assert!(setup.bundles.iter().all(|b| b.expires - b.created == Duration::from_secs(7200)));
    assert!(setup.bundles.windows(2).all(|pair| pair[0].created <= pair[1].created));
    assert_eq!(setup.contacts, scenario.setup(Seed::Number(1)).unwrap().contacts);
    assert_ne!(setup.contacts, scenario.setup(Seed::Number(2)).unwrap().contacts);
    assert_ne!(
        scenario.seeded(Seed::Number(1)).unwrap().contacts_key(),
        scenario.seeded(Seed::Number(2)).unwrap().contacts_key()
    );
}

#[test]
fn the_files_own_seed_is_its_first() {
    let scenario = points(WHOLE).list.remove(0).scenario.bundles().unwrap().clone();
    assert_eq!(
        scenario.seeded(Seed::Own).unwrap().messages,
        scenario.seeded(Seed::Number(1)).unwrap().messages
    );
    assert_ne!(
        scenario.seeded(Seed::Own).unwrap().messages,
        scenario.seeded(Seed::Number(2)).unwrap().messages
    );
    assert_eq!(
        scenario.seeded(Seed::Own).unwrap().contacts_key(),
        scenario.seeded(Seed::Number(1)).unwrap().contacts_key()
    );
}

#[test]
fn told_contacts_have_the_rates_and_delays_of_their_pairs() {
    let scenario = points(TOLD).list.remove(0).scenario.bundles().unwrap().clone();
    assert_eq!(scenario.node_names().collect::<Vec<_>>(), ["BS", "Sat0", "Sat1", "Rover1", "Rover2"]);
    let contacts = scenario.seeded(Seed::Number(1)).unwrap().contacts().unwrap();
    let [first, second] = &contacts.list[..] else { panic!() };
    let channel = |index: u32| &contacts.channels[index as usize];
    assert_eq!(channel(first.forward).rate, BitRate(2_500_000));
    assert_eq!(channel(first.backward).rate, BitRate(1_000_000));
    assert_eq!(channel(first.forward).delay.at(Instant::ZERO), Duration::from_secs(240));
    assert_eq!(channel(second.forward).delay.at(Instant::ZERO), Duration::from_secs(1));
    // Without movement all seeds share their contacts.
    assert_eq!(
        scenario.seeded(Seed::Number(1)).unwrap().contacts_key(),
        scenario.seeded(Seed::Number(2)).unwrap().contacts_key()
    );
}

#[test]
fn lists_are_swept_and_combinations_that_a_mechanism_refuses_are_skipped() {
    let text = TOLD.replace(
        "router = \"epidemic\"",
        "router = [\"epidemic\", \"direct\"]\nmechanism = [\"none\", \"afner\"]",
    );
    let points = points(&text);
    let shown: Vec<String> = points
        .list
        .iter()
        .map(|point| point.values.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        shown,
        ["router=epidemic mechanism=none", "router=epidemic mechanism=afner", "router=direct mechanism=none"]
    );
    assert_eq!(
        points.skipped[0].reason.to_string(),
        "s.toml:4: mechanism `afner` refuses router `direct`; it works with: epidemic"
    );
    let alone = TOLD.replace("router = \"epidemic\"", "router = \"direct\"\nmechanism = \"afner\"");
    assert!(told(&alone).contains("refuses router `direct`"));
    // Points that differ in algorithms only share their contacts.
    let keys: Vec<String> = points
        .list
        .iter()
        .map(|p| p.scenario.bundles().unwrap().seeded(Seed::Number(1)).unwrap().contacts_key())
        .collect();
    assert!(keys.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(Arc::ptr_eq(
        &points.list[0].scenario.bundles().unwrap().contacts[0].list,
        &points.list[1].scenario.bundles().unwrap().contacts[0].list
    ));
}

#[test]
fn overrides_replace_add_and_sweep() {
    let mut file = file(WHOLE);
    file.set("nodes.walker.buffer", "2 MB").unwrap();
    file.set("router.copies", "[2, 8]").unwrap();
    file.set("world.send_order", "random").unwrap();
    let points = file.points().unwrap();
    assert_eq!(points.list.len(), 2);
    assert_eq!(points.list[1].values, [("router.copies".to_owned(), "8".to_owned())]);
    assert_eq!(points.list[0].scenario.bundles().unwrap().groups[0].buffer, Bytes(2_000_000));
    assert_eq!(
        file.set("nodes.walkr.buffer", "2 MB").unwrap_err().to_string(),
        "--set nodes.walkr.buffer: unknown group `walkr` of nodes; did you mean `walker`?"
    );
    file.set("world.tik", "1 s").unwrap();
    assert_eq!(
        file.points().unwrap_err().to_string(),
        "--set world.tik: unknown key `world.tik`; did you mean `tick`?"
    );
    let mut file = self::file(WHOLE);
    file.set("nodes.walker.buffer", "0 B").unwrap();
    assert!(file.points().unwrap_err().to_string().starts_with("--set nodes.walker.buffer: "));
}

#[test]
fn every_mistake_is_one_line_with_its_place() {
    let cases = [
        (
            "interval = \"1..300 s\"",
            "interval = \"1 us\"",
            "s.toml:27: the traffic creates more than 5000000 messages; ",
        ),
        ("duration = \"4 h\"", "duration = \"4\"", "s.toml:3: `duration`: `4` has no unit; "),
        ("duration = \"4 h\"", "duration = 4", "s.toml:3: `duration`: `4` has no unit; "),
        ("duration = \"4 h\"", "duration = \"-4 h\"", "s.toml:3: `duration`: `-4 h` is negative; "),
        ("duration = \"4 h\"", "duration = \"0 s\"", "s.toml:3: `duration`: `0 s` is zero; "),
        ("duration = \"4 h\"", "duration = nan", "s.toml:3: `duration`: "),
        ("duration = \"4 h\"", "duration = \"nan s\"", "s.toml:3: `duration`: "),
        (
            "duration = \"4 h\"",
            "durations = \"4 h\"",
            "s.toml:3: unknown key `durations`; did you mean `duration`?",
        ),
        ("duration = \"4 h\"\n", "", "s.toml:1: `duration` is missing; add `duration = \"12 h\"`"),
        ("seeds = [1, 2]", "seeds = [1, 1]", "s.toml:4: seed 1 comes twice; "),
        ("seeds = [1, 2]", "seeds = [-1]", "s.toml:4: "),
        ("seeds = [1, 2]", "seeds = []", "s.toml:4: the list of seeds is empty; "),
        ("seeds = [1, 2]", "seeds = 1", "s.toml:4: "),
        ("copies = 4", "copies = 0", "s.toml:5: parameter `copies` of `spray_and_wait` is 0; it must be "),
        ("copies = 4", "copy = 4", "s.toml:5: `spray_and_wait` has no parameter `copy`; "),
        (
            "spray_and_wait",
            "spray_and_wai",
            "s.toml:5: `router` is `spray_and_wai`, which is not known; did you mean",
        ),
        ("receipts = true", "receipts = 1", "s.toml:6: `receipts` is a whole number (`1`); "),
        ("tick = \"0.1 s\"", "tick = \"0 s\"", "s.toml:9: `world.tick`: "),
        ("radio = \"link\"", "radio = \"links\"", "s.toml:10: `world.radio` is `links`; it must be one of "),
        ("count = 5", "count = 0", "s.toml:16: `nodes.walker.count` is 0; it must be a whole number from 1 "),
        ("count = 5", "count = 5000000", "s.toml:16: "),
        ("buffer = \"500 kB\"", "buffer = \"0 B\"", "s.toml:17: the buffer holds nothing; "),
        ("buffer = \"500 kB\"\n", "", "s.toml:15: `nodes.walker.buffer` is missing; "),
        (
            "area = \"1 km x 1 km\"",
            "area = \"1 km\"",
            "s.toml:18: `nodes.walker.mobility.area`: `1 km` is not an area; ",
        ),
        (
            "speed = \"0.5..1.5 m/s\"",
            "speed = \"0..1.5 m/s\"",
            "s.toml:18: `nodes.walker.mobility.speed` reaches ",
        ),
        (
            "model = \"random_waypoint\"",
            "model = \"flight\"",
            "s.toml:18: `nodes.walker.mobility.model` is `flight`; ",
        ),
        (
            "initial =",
            "initially =",
            "s.toml:18: unknown key `nodes.walker.mobility.initially`; did you mean",
        ),
        ("range = \"150 m\"", "range = \"0 m\"", "s.toml:19: the radio has no range; "),
        (
            "rate = \"2.5 Mbit/s\"",
            "rate = \"2.5 Mbps\"",
            "s.toml:19: `nodes.walker.radio.rate`: `Mbps` is not a unit ",
        ),
        (
            "interval = \"1..300 s\"",
            "interval = \"0 s\"",
            "s.toml:28: messages would be created without end; ",
        ),
        (
            "size = \"50..100 kB\"",
            "size = \"50..100 MB\"",
            "s.toml:27: messages of 99999999 B fit in no buffer ",
        ),
        ("size = \"50..100 kB\"", "size = \"0..100 kB\"", "s.toml:29: messages could be empty; "),
        (
            "to = \"kiosk\"",
            "to = \"kiosks\"",
            "s.toml:31: `traffic.mail.to`: no node or group is called `kiosks`; did ",
        ),
        ("walker0..walker3", "walker3..walker0", "s.toml:30: `traffic.mail.from`: the range "),
        ("from = \"walker0..walker3\"", "from = \"kiosk\"", "s.toml:31: a node could only send to itself; "),
        ("[nodes.kiosk]", "[nodes.walker4]", "s.toml:15: two nodes are called `walker4`; "),
        ("[nodes.kiosk]", "[nodes.all]", "s.toml:21: `all` is not a name; "),
        ("[traffic.mail]", "[trafic.mail]", "s.toml:27: unknown key `trafic`; did you mean `traffic`?"),
        ("lifetime = \"2 h\"", "lifetime = [[1]]", "s.toml:32: `traffic.mail.lifetime` is a list of lists; "),
        ("name = \"streets\"", "name = 2020-01-01", "s.toml:2: a date has no meaning here; "),
        ("name = \"streets\"", "name = ", "s.toml:2: "),
    ];
    for (from, to, start) in cases {
        let error = broken(from, to);
        assert!(error.starts_with(start), "{to}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn mistakes_in_told_contacts_are_told() {
    let told_with = |from: &str, to: &str| {
        assert!(TOLD.contains(from), "{from}");
        told(&TOLD.replacen(from, to, 1))
    };
    let end = told_with("end = \"3000 s\"", "end = \"1000 s\"");
    assert_eq!(
        end,
        "s.toml:17: the contact ends at 1000 s but starts at 2000 s; its end must lie after its start"
    );
    assert!(told_with("b = \"Sat0\"", "b = \"Sat9\"").starts_with("s.toml:17: unknown node `Sat9`; "));
    let twice = told_with(
        "a = \"Sat1\", b = \"Rover1\", start = \"1 h\"",
        "a = \"Sat0\", b = \"BS\", start = \"2500 s\"",
    );
    assert!(
        twice.starts_with("s.toml:18: the contact starts at 2500 s, when the one of s.toml:17 "),
        "{twice}"
    );
    assert!(told_with("rate = \"2.5 Mbit/s\"\n", "").contains("has no rate"));
    assert!(told_with("\"BS all\"", "\"BS\"").starts_with("s.toml:14: `BS` is not a pair; "));
    assert!(told_with("to = \"Rover1\"", "to = \"BS\"").contains("source is its destination"));
    assert!(told_with("to = \"Rover1\"", "to = \"Rover\"").contains("names several nodes"));
    let file = told_with("rows = [", "kind = \"ion\"\nrows = [");
    assert!(file.contains("rows come with kind = \"table\" only"), "{file}");
    let lone = "duration = \"1 h\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\n[nodes.a]\n[nodes.b]\n";
    assert!(told(lone).starts_with("s.toml:4: no two nodes can ever meet; "), "{}", told(lone));
}

#[test]
fn an_application_has_storage_of_its_own_by_node_or_for_all_nodes() {
    let of = |root: &str, own: &str| {
        let text = format!(
            "duration = \"1 h\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\n{root}\n[nodes.a]\n{own}\n[nodes.b]\n\
             [contacts.c]\nrows = [{{ a = \"a\", b = \"b\", start = \"0 s\", end = \"9 s\", rate = \"1 Mbit/s\" }}]\n"
        );
        let network = points(&text).list.remove(0).scenario.bundles().unwrap().clone();
        [0, 1].map(|at| network.groups[at].policy.application_buffer.map(|size| size.get()))
    };
    assert_eq!(of("", ""), [Some(0); 2]);
    assert_eq!(
        of("application_buffer = \"none\"", "application_buffer = \"5 MB\""),
        [Some(5_000_000), Some(0)]
    );
    assert_eq!(of("application_buffer = \"1 kB\"", "application_buffer = \"unlimited\""), [None, Some(1000)]);
    let wrong = "duration = \"1 h\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\napplication_buffer = \"some\"\n[nodes.a]\n";
    assert!(told(wrong).starts_with("s.toml:4: `application_buffer`: "), "{}", told(wrong));
}

/// The contacts above with a second table of the pair BS and Sat0, from the middle of its contact on.
fn with_expected(lines: &str) -> String {
    let table = format!(
        "[contacts.expected]\nrate = \"1 Mbit/s\"\ndelay = \"1 s\"\n{lines}\n\
         rows = [{{ a = \"BS\", b = \"Sat0\", start = \"2500 s\", end = \"3500 s\" }}]\n"
    );
    TOLD.to_owned() + &table
}

#[test]
fn contacts_that_do_not_happen_are_known_but_there_are_none() {
    let wrong = with_expected("happens = false");
    let network = points(&wrong).list.remove(0).scenario.bundles().unwrap().clone();
    let setup = network.setup(Seed::Number(1)).unwrap();
    let real = points(TOLD).list.remove(0).scenario.bundles().unwrap().setup(Seed::Number(1)).unwrap();
    assert_eq!(setup.contacts, real.contacts);
    assert_eq!((setup.plan.contacts().len(), real.plan.contacts().len()), (6, 4));
    assert_eq!(
        network.seeded(Seed::Number(1)).unwrap().contacts_key(),
        points(TOLD).list[0].scenario.bundles().unwrap().seeded(Seed::Number(1)).unwrap().contacts_key(),
        "runs with and without them share their contacts"
    );
    let unknown = wrong.replacen("[contacts.plan]\n", "[contacts.plan]\nplan = false\n", 1);
    let network = points(&unknown).list.remove(0).scenario.bundles().unwrap().clone();
    let setup = network.setup(Seed::Number(1)).unwrap();
    assert_eq!((setup.contacts.list.len(), setup.plan.contacts().len()), (2, 2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    std::fs::write(&path, &wrong).unwrap();
    let between =
        |from, to| crate::contacts::ContactPlan::read(&path).unwrap().between(&path, Some((from, to)));
    assert_eq!(between("BS", "Sat0").unwrap().len(), 1, "senders on sockets wait for those that take place");
}

#[test]
fn contacts_that_nodes_neither_have_nor_know_are_refused_and_so_are_two_at_once_that_happen() {
    assert_eq!(
        told(&with_expected("happens = false\nplan = false")),
        "s.toml:25: `contacts.expected.happens`: nodes neither have nor know these contacts; say `plan = true` if nodes expect them"
    );
    assert!(told(&with_expected("happens = 1")).starts_with("s.toml:25: `contacts.expected.happens` is "));
    let overlap = told(&with_expected("happens = true"));
    assert!(overlap.contains("starts at 2500 s, when the one of s.toml:17"), "{overlap}");
    assert_eq!(told(&with_expected("")), overlap.replace("s.toml:27", "s.toml:26"));
}

#[test]
fn delays_can_change_over_time() {
    let text = TOLD.replace("delay = \"1 s\"", "delays = [[\"0 s\", \"300 s\"], [\"1 h\", \"310 s\"]]");
    let scenario = points(&text).list.remove(0).scenario.bundles().unwrap().clone();
    let delay = &scenario.contacts[0].list[1].forward.delay;
    assert_eq!(delay.at(Instant::from_secs(3601)), Duration::from_secs(310));
    let unsorted = TOLD.replace("delay = \"1 s\"", "delays = [[\"1 h\", \"300 s\"], [\"0 s\", \"310 s\"]]");
    assert!(told(&unsorted).contains("is not in order of time"));
}

#[test]
fn files_of_contacts_are_found_beside_the_scenario() {
    let folder = std::env::temp_dir().join(format!("lightlag-contacts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("plan.ion"), "a contact +0 +100 1 2 1000\na range +0 +100 1 2 5\n").unwrap();
    std::fs::write(folder.join("haggle.txt"), "1 2 10 20\n2 3 15 25\n").unwrap();
    std::fs::write(folder.join("links.txt"), "5 CONN 0 2 up\n9 CONN 0 2 down\n").unwrap();
    let text =
        "duration = \"1 h\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\n[nodes.n]\ncount = 3\n[contacts.c]\n";
    let list = |extra: &str| {
        let text = format!("{text}{extra}\n");
        let file =
            ScenarioFile::from_toml("s.toml", &text, folder.clone(), Arc::new(Catalogue::default())).unwrap();
        file.points()
            .map(|mut points| points.list.remove(0).scenario.bundles().unwrap().contacts[0].list.clone())
    };
    let ion = list("kind = \"ion\"\nfile = \"plan.ion\"").unwrap();
    assert_eq!((ion[0].forward.rate, ion[0].backward.rate), (BitRate(8000), BitRate(0)));
    let rate = "rate = \"1 Mbit/s\"";
    let haggle = list(&format!("kind = \"intervals\"\nfile = \"haggle.txt\"\n{rate}")).unwrap();
    assert_eq!((haggle.len(), haggle[1].a, haggle[1].b), (2, 1, 2));
    let late =
        list(&format!("kind = \"intervals\"\nfile = \"haggle.txt\"\norigin = \"12 s\"\n{rate}")).unwrap();
    assert_eq!((late[0].start, late[0].end), (Instant::ZERO, Instant::from_secs(8)));
    let links = list(&format!("kind = \"the_one\"\nfile = \"links.txt\"\n{rate}")).unwrap();
    assert_eq!((links[0].a, links[0].b), (0, 2));
    let missing = list("kind = \"ion\"\nfile = \"none.ion\"").unwrap_err().to_string();
    assert!(missing.starts_with("s.toml:8: cannot read "), "{missing}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn traces_are_read_as_their_projects_publish_them() {
    let folder = tempfile::tempdir().unwrap();
    let haggle = "1\t2\t100\t220\t1\t0\n2\t1\t150\t340\t1\t0\n2\t3\t400\t400\t1\t0\n1\t44\t100\t900\t1\t0\n";
    let hyccups = "1,16,1334127549000,96000\n16,1,1334127600000,60000\n30,1,1334127700000,1000\n";
    let nccu = "0 2 1418767200000 1418767560000\n2 0 1418767600000 1418767600000\n";
    let places = "1418767200 1418853600 0 20000 0 20000\n1418767200 2 0 0\n1418767300 2 0 0\n\
                  1418767200 3 30 40\n1418767300 3 30 40\n1418767200 4 900 900\n1418767300 4 900 900\n";
    let patterns = "31220\t1558\t1567\t3B\t3B\n31240\t1567\t1558\t3B\t3B\n31260\t1558\t1570\t3B\t4A\n";
    let skip = "kind = \"intervals\"\nunknown_nodes = \"skip\"";
    let millis = "unit = \"1 ms\"\norigin = \"first\"";
    for (text, keys, contacts, note) in [
        (haggle, skip.to_owned(), vec![[0, 1, 100, 340], [1, 2, 400, 520]], "last 120 s, the scan interval"),
        (
            hyccups,
            format!("kind = \"intervals\"\ncolumns = \"a b start duration\"\nids = \"all\"\n{millis}"),
            vec![[0, 1, 0, 111], [2, 0, 151, 152]],
            "3 lines; 1 joined with others of their pair: 2 contacts of 3 nodes, run from 1334127549 s",
        ),
        (
            "1,2,60000,5\n2,3,90000,10\n",
            "kind = \"intervals\"\ncolumns = \"a b start duration\"\nunit = \"1 ms\"\nduration_unit = \"1 s\"".to_owned(),
            vec![[0, 1, 60, 65], [1, 2, 90, 100]],
            "2 lines: 2 contacts of 3 nodes",
        ),
        (
            nccu,
            format!("kind = \"intervals\"\nfirst_id = 0\nsighting = \"2 min\"\n{millis}"),
            vec![[0, 2, 0, 360], [2, 0, 400, 520]],
            "1 without a duration last 120 s, by `sighting`",
        ),
        (
            places,
            "kind = \"positions\"\nids = \"all\"\norigin = \"first\"\nrange = \"53.1 m\"".to_owned(),
            vec![[0, 1, 0, 100]],
            "6 positions of 3 devices; 1 header: 1 contact of 2 nodes",
        ),
        (
            patterns,
            "kind = \"sightings\"\nids = \"all\"\norigin = \"first\"".to_owned(),
            vec![[0, 1, 0, 40], [0, 2, 40, 60]],
            "3 without a duration last 20 s, the scan interval",
        ),
    ] {
        std::fs::write(folder.path().join("trace.dat"), text).unwrap();
        let head = "duration = \"1 h\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\n[nodes.n]\ncount = 3\n[contacts.c]\n";
        let text = format!("{head}file = \"trace.dat\"\nrate = \"1 Mbit/s\"\n{keys}\n");
        let file =
            ScenarioFile::from_toml("s.toml", &text, folder.path().to_owned(), Arc::default()).unwrap();
        let point = file.points().unwrap_or_else(|error| panic!("{keys}: {error}")).list.remove(0);
        let source = &point.scenario.bundles().unwrap().contacts[0];
        let s = |at: Instant| at.as_nanos() / 1_000_000_000;
        let read: Vec<_> =
            source.list.iter().map(|c| [i64::from(c.a), i64::from(c.b), s(c.start), s(c.end)]).collect();
        assert_eq!(read, contacts, "{keys}");
        assert!(source.note.as_ref().unwrap().contains(note), "{:?}", source.note);
        assert!(!source.is_plan, "a record is no plan");
    }
}

/// The contacts that a scenario with these keys reads from these files, in seconds, and the line on how.
fn read_files(files: &[(&str, &str)], keys: &str) -> Result<(Vec<[i64; 4]>, String), String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let head =
        "duration = \"2 d\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\n[nodes.n]\ncount = 3\n[contacts.c]\n";
    let text = format!("{head}rate = \"1 Mbit/s\"\n{keys}\n");
    let file = ScenarioFile::from_toml("s.toml", &text, folder.path().to_owned(), Arc::default()).unwrap();
    let point = file.points().map_err(|error| error.to_string())?.list.remove(0);
    let source = &point.scenario.bundles().unwrap().contacts[0];
    let s = |at: Instant| at.as_nanos() / 1_000_000_000;
    let read = source.list.iter().map(|c| [i64::from(c.a), i64::from(c.b), s(c.start), s(c.end)]).collect();
    let note = source.note.as_ref().unwrap();
    Ok((
        read,
        note[note
            .find(folder.path().to_str().unwrap())
            .map_or(0, |at| at + folder.path().to_str().unwrap().len() + 1)..]
            .to_owned(),
    ))
}

#[test]
fn traces_of_many_files_are_read_together() {
    let sightings = "kind = \"sightings\"\nids = \"all\"\nsighting = \"20 s\"";
    let days = [("day1.dat", "0 1 2\n20 1 2\n"), ("day2.dat", "0 1 3\n"), ("day10.dat", "40 2 3\n")];
    let (read, note) =
        read_files(&days[..2], &format!("{sightings}\nfiles = [\"day*.dat\"]\nevery = \"1 d\"")).unwrap();
    assert_eq!(read, [[0, 1, 0, 40], [0, 2, 86_400, 86_420]]);
    assert!(note.starts_with("day1.dat and 1 more file: 3 lines; 3 without a duration last 20 s"), "{note}");
    let offsets = "offsets = [\"0 s\", \"1 h\", \"2 h\"]";
    let (read, _) = read_files(&days, &format!("{sightings}\nfiles = [\"day*.dat\"]\n{offsets}")).unwrap();
    assert_eq!(read, [[0, 1, 0, 40], [0, 2, 3600, 3620], [1, 2, 7240, 7260]], "day10 is the last one");
    let of_devices = [("logs/7.csv", "time,b\n0,9\n"), ("logs/9.csv", "10,12\n"), ("logs/12.csv", "500,7\n")];
    let (read, note) =
        read_files(&of_devices, &format!("{sightings}\ncolumns = \"time b\"\nfiles = [\"logs/*.csv\"]"))
            .unwrap();
    assert_eq!(read, [[0, 1, 0, 20], [1, 2, 10, 30], [2, 0, 500, 520]]);
    assert!(note.starts_with("logs/7.csv and 2 more files: 3 lines; 1 header; "), "{note}");
    for (keys, what) in [
        (
            "files = [\"day*.dat\"]\noffsets = [\"1 s\"]",
            "`contacts.c.offsets` has 1 times, and there are 3 files",
        ),
        (
            "files = [\"day*.dat\"]\noffsets = [\"1 s\"]\nevery = \"1 s\"",
            "both `offsets` and `every` are given",
        ),
        ("files = [\"day*.dat\"]\nfile = \"day1.dat\"", "both `file` and `files` are given"),
        ("file = \"day1.dat\"\nevery = \"1 s\"", "`contacts.c.every` needs `files`"),
        ("files = [\"night*.dat\"]", "no file is named like `night*.dat`"),
        ("files = [1]", "`contacts.c.files` is "),
        ("files = [\"day1.dat\"]\ndevices = \"files\"", "`contacts.c.devices` is a key of GPX files"),
        ("", "`contacts.c.file` is missing"),
    ] {
        let wrong = read_files(&days, &format!("{sightings}\n{keys}")).unwrap_err();
        assert!(wrong.contains(what) && wrong.lines().count() == 1, "{keys}: {wrong}");
    }
}

#[test]
fn tracks_of_satellite_receivers_make_contacts() {
    // Two walk towards each other along a meridian, from 200 m apart, at 1 m/s each; then one of them is away for an hour.
    let point = |s: u32, metres: f64| {
        let lat = 60.0 + metres / 111_195.0;
        format!(
            "<trkpt lat='{lat}' lon='25'><time>2024-05-01T{:02}:{:02}:{:02}Z</time></trkpt>\n",
            s / 3600,
            s / 60 % 60,
            s % 60
        )
    };
    let track = |points: &[(u32, f64)]| {
        let points: String = points.iter().map(|(s, metres)| point(*s, *metres)).collect();
        format!("<trk><trkseg>{points}</trkseg></trk>")
    };
    let ann = track(&[(0, 0.0), (100, 100.0), (200, 200.0), (3800, 200.0)]);
    let bob = track(&[(0, 200.0), (200, 0.0), (3800, 500.0)]);
    let keys = "kind = \"positions\"\nids = \"all\"\norigin = \"2024-05-01 00:00:00\"\nrange = \"50 m\"";
    let one = [("walk.gpx", format!("<gpx>{ann}{bob}</gpx>"))].map(|(name, text)| (name, &*text.leak()));
    let (read, note) = read_files(&one, &format!("{keys}\nfile = \"walk.gpx\"")).unwrap();
    assert_eq!(read, [[0, 1, 75, 124]]);
    assert_eq!(
        note,
        "walk.gpx: 2 tracks; 7 positions of 2 devices; 2 absences, longer than `gap` = 600 s: \
         1 contact of 2 nodes, run from 1714521600 s"
    );
    let two = [("ann.gpx", format!("<gpx>{ann}</gpx>")), ("bob.gpx", format!("<gpx>{bob}</gpx>"))]
        .map(|(name, text)| (name, &*text.leak()));
    let (read, _) = read_files(&two, &format!("{keys}\nfiles = \"*.gpx\"\ngap = \"2 h\"")).unwrap();
    assert_eq!(read, [[0, 1, 75, 124], [0, 1, 1280, 1999]], "a long gap is bridged: 500 m in an hour");
    let day = keys.replace(" 00:00:00", "");
    let (read, _) = read_files(&one, &format!("{day}\nfile = \"walk.gpx\"")).unwrap();
    assert_eq!(read, [[0, 1, 75, 124]], "a day begins at midnight");
    let wrong = read_files(&one, "file = \"walk.gpx\"").unwrap_err();
    assert!(wrong.contains("a GPX file has positions; say kind = \"positions\" and `range`"), "{wrong}");
}

#[test]
fn keys_of_traces_belong_to_traces() {
    let wrong = [
        ("rate = \"1 Mbit/s\"\nunit = \"1 ms\"", "`contacts.c.unit` is a key of traces"),
        ("kind = \"intervals\"\nrange = \"9 m\"", "`contacts.c.range` is a key of positions"),
        ("kind = \"positions\"", "`contacts.c.range` is missing"),
        ("kind = \"sightings\"\ncolumns = \"t a b\"", "`contacts.c.columns`: `t` is not a column"),
        ("kind = \"intervals\"\norigin = \"last\"", "`contacts.c.origin`: `last`"),
        (
            "kind = \"intervals\"\norigin = \"2024-05\"",
            "as a date like \"2024-05-01 12:00:00\", or as \"first\"",
        ),
        (
            "kind = \"intervals\"\ncolumns = \"a b start end\"\nduration_unit = \"1 s\"",
            "`contacts.c.duration_unit` needs a column `duration`",
        ),
        ("kind = \"positions\"\nrange = \"9 m\"\nduration_unit = \"1 s\"", "needs a column `duration`"),
    ];
    for (keys, what) in wrong {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("trace.dat"), "1 2 3 4\n1 2 9 10\n").unwrap();
        let head = "duration = \"1 h\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\n[nodes.n]\ncount = 3\n[contacts.c]\n";
        let text = format!("{head}file = \"trace.dat\"\n{keys}\n");
        let file =
            ScenarioFile::from_toml("s.toml", &text, folder.path().to_owned(), Arc::default()).unwrap();
        let error = file.points().unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

/// The contact tables of the interplanetary scenario, as a table and as The ONE's events.
#[test]
fn tables_and_events_of_the_reference_tell_the_same_contacts() {
    let Some(folder) = crate::skip::reference("contacts") else { return };
    let entries = std::fs::read_dir(&folder).unwrap();
    let nodes = "[nodes.BS]\n[nodes.Sat]\ncount = 2\n[nodes.Rover]\ncount = 2\nfirst = 1\n";
    let list = |contacts: String| {
        let text = format!(
            "duration = \"43200 s\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\n{nodes}[contacts.c]\n{contacts}"
        );
        let file =
            ScenarioFile::from_toml("s.toml", &text, folder.clone(), Arc::new(Catalogue::default())).unwrap();
        let list = file.points().unwrap().list.remove(0).scenario.bundles().unwrap().contacts[0].list.clone();
        list.iter().map(|c| (c.start, c.end, c.a.min(c.b), c.a.max(c.b))).collect::<Vec<_>>()
    };
    for path in entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().unwrap() == "csv") {
        let stem = path.file_stem().unwrap().to_string_lossy();
        let mut table = list(format!("file = \"{stem}.csv\""));
        let mut events = list(format!("kind = \"the_one\"\nfile = \"{stem}.one\"\nrate = \"2.5 Mbit/s\""));
        table.sort();
        events.sort();
        assert_eq!(table, events, "{stem}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// A scenario in which some bytes were changed is read or refused, but nothing panics.
    #[test]
    fn no_damage_panics(changes in prop::collection::vec((0..1000_usize, any::<char>()), 1..6), told in any::<bool>()) {
        let mut chars: Vec<char> = if told { TOLD } else { WHOLE }.chars().collect();
        for (at, c) in changes {
            let at = at % chars.len();
            chars[at] = c;
        }
        let text: String = chars.into_iter().collect();
        let catalogue = Arc::new(Catalogue::default());
        if let Ok(file) = ScenarioFile::from_toml("s.toml", &text, PathBuf::from("/missing"), catalogue) {
            let _ = (file.points(), file.seeds());
        }
    }
    #[test]
    fn no_override_panics(path in "[a-z._]{0,20}|nodes.walker.buffer|router.copies|seeds|world", value in ".{0,20}") {
        let mut file = file(WHOLE);
        let _ = file.set(&path, &value);
        let _ = (file.points(), file.seeds());
    }
}

#[test]
fn traffic_may_ask_for_replies_of_all_or_of_some_nodes() {
    let setup = |more: &str| {
        let points = points(&format!("{WHOLE}{more}"));
        points.list[0].scenario.bundles().unwrap().setup(Seed::Number(1)).unwrap()
    };
    let all = setup("reply = \"5 kB\"\n");
    assert!(!all.replies.is_empty() && all.bundles.len() == 2 * all.replies.len());
    let replies = &all.bundles[all.replies.len()..];
    assert!(replies.iter().all(|reply| reply.source.0 == 5 && reply.size.0 == 5000));
    assert!(all.replies.iter().all(|reply| reply.lifetime == Duration::from_secs(7200)));
    assert_eq!(setup("replies = [{ from = \"walker\", size = \"5 kB\" }]\n").replies.len(), 0);
    let some =
        setup("replies = [{ from = \"walker\", size = \"5 kB\" }, { from = \"kiosk\", size = \"1 kB\" }]\n");
    assert!(some.replies.len() == all.replies.len() && some.bundles.last().unwrap().size.0 == 1000);
    let ping = setup("shape = \"ping\"\nreply = \"5 kB\"\nreply_as = \"pong\"\n");
    assert!(ping.replies.iter().all(|reply| reply.kind == ReplyKind::Pong));
    for (more, what) in [
        ("reply_as = \"pong\"\n", "nothing replies"),
        ("reply = \"0 B\"\n", "the reply is empty"),
        ("reply = \"5 kB\"\nreplies = [{ from = \"kiosk\", size = \"1 kB\" }]\n", "give one of them"),
        ("reply = \"50 MB\"\n", "fit in no buffer"),
        ("replies = [{ from = \"rider\", size = \"1 kB\" }]\n", "no node or group is called `rider`"),
    ] {
        let error = told(&format!("{WHOLE}{more}"));
        assert!(error.contains(what), "{more}: {error}");
    }
}

#[test]
fn what_nodes_tell_each_other_takes_the_link_unless_a_scenario_has_it_instant() {
    use lightlag_worlds::messages::Control;
    let control = |text: &str| points(text).list.remove(0).scenario.bundles().unwrap().rules.control;
    assert_eq!(control(WHOLE), Control::Carried);
    let instant = WHOLE.replace("radio = \"link\"\n", "radio = \"link\"\ncontrol = \"instant\"\n");
    assert_eq!(control(&instant), Control::Instant);
}
