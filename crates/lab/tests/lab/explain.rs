//! Explanations of whole runs: what became of bundles adds up, and a trace says what the run says.

use lightlag_lab::bound::bound;
use lightlag_lab::explain::{Asked, Explanation, of_run, of_trace};
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_protocols::dtn::{mechanisms, routers};
use lightlag_scenario::{Catalogue, Scenario, ScenarioFile, Seed};
use proptest::prelude::*;

fn scenario(text: &str) -> Scenario {
    let file = ScenarioFile::from_toml("s.toml", text, ".".into(), Catalogue::default().into()).unwrap();
    file.points().unwrap().list.remove(0).scenario
}

/// Whether a mechanism supports a router, and both the contacts of moving nodes.
fn is_supported(text: &str) -> bool {
    let file = ScenarioFile::from_toml("s.toml", text, ".".into(), Catalogue::default().into()).unwrap();
    file.points().is_ok()
}

fn explained(scenario: &Scenario, asked: Asked) -> Explanation {
    of_run(scenario, Seed::Number(1), &ContactsCache::default(), asked, None).unwrap()
}

/// A scenario that loses for every cause: small buffers, short lives, short contacts, failures, light time.
#[derive(Clone, Debug)]
struct Drawn {
    router: &'static str,
    mechanism: &'static str,
    world: String,
    area: u32,
    buffer: u32,
    sizes: (u32, u32),
    lifetime: u32,
    range: u32,
}

impl Drawn {
    fn text(&self) -> String {
        let Self { router, mechanism, world, area, buffer, sizes: (least, more), lifetime, range } = self;
        format!(
            r#"
duration = "30 min"
router = "{router}"
mechanism = "{mechanism}"
buffer = "{buffer} kB"
[world]
{world}
[nodes.walker]
count = 12
mobility = {{ model = "random_waypoint", area = "{area} m x {area} m", speed = "0.5..3 m/s", pause = "0..60 s" }}
radio = {{ range = "{range} m", rate = "250 kbit/s" }}
[traffic.mail]
interval = "5..20 s"
size = "{least}..{} kB"
lifetime = "{lifetime} s"
"#,
            least + more
        )
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let names = (0..routers::TABLE.len(), 0..mechanisms::TABLE.len());
    let worlds = prop::sample::select(vec![
        "",
        "radio = \"link\"",
        "radio = \"direction\"",
        "contacts_fail = 0.3",
        "nodes_vanish = 0.4",
        "tick = \"100 ms\"\npurge_every = \"60 s\"",
        "send_order = \"fifo\"",
    ]);
    let numbers = (100..400_u32, 60..2_000_u32, (1..100_u32, 0..400_u32), 20..2_000_u32, 10..80_u32);
    (names, worlds, numbers).prop_map(|((router, mechanism), world, numbers)| {
        let (area, buffer, sizes, lifetime, range) = numbers;
        let (router, mechanism) = (routers::TABLE[router].name, mechanisms::TABLE[mechanism].name);
        Drawn { router, mechanism, world: world.to_owned(), area, buffer, sizes, lifetime, range }
    })
}

/// Names of fates and how many bundles have each.
fn fates(explanation: &Explanation) -> Vec<(String, u64)> {
    let fates = explanation.json["fates"].as_object().unwrap();
    fates.iter().map(|(name, count)| (name.clone(), count.as_u64().unwrap())).collect()
}

fn sum(groups: &serde_json::Value, key: &str) -> u64 {
    groups.as_array().unwrap().iter().map(|group| group[key].as_u64().unwrap()).sum()
}

fn check(text: &str) {
    if !is_supported(text) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.parquet");
    let scenario = scenario(text);
    let (seed, cache) = (Seed::Number(1), ContactsCache::default());
    let options = Options { traces: vec![path.clone()], ..Options::default() };
    let figures = run(&scenario, seed, &cache, &options).unwrap().figures;
    let figure = |name: &str| figures.get(name).unwrap() as u64;

    let summary = explained(&scenario, Asked::Summary);
    let fates = fates(&summary);
    assert_eq!(fates.iter().map(|fate| fate.1).sum::<u64>(), figure("created"), "{}", summary.text);
    let of = |name: &str| fates.iter().filter(|fate| fate.0 == name).map(|fate| fate.1).sum::<u64>();
    assert_eq!(of("delivered"), figure("delivered"));
    assert_eq!(of("too_large") + of("no_room") + of("waited"), figure("rejected"));
    // What is called unreachable is so by the bound, which is computed from the contacts themselves.
    let unreachable = of("no_contact") + of("no_path") + of("contacts_too_short");
    let reachable = bound(&scenario, seed, &cache).unwrap().reachable * figure("created") as f64;
    assert!(unreachable as f64 <= figure("created") as f64 - reachable + 0.5, "{unreachable}: {reachable}");

    let lost = explained(&scenario, Asked::Lost).json;
    for groups in ["sizes", "destinations", "times"] {
        assert_eq!(sum(&lost[groups], "created"), figure("created"), "{groups}");
        assert_eq!(sum(&lost[groups], "lost"), figure("created") - figure("delivered"), "{groups}");
    }
    assert_eq!(sum(&lost["nodes"], "copies_dropped"), figure("dropped_overflow"));
    assert_eq!(sum(&lost["nodes"], "copies_expired"), figure("dropped_expired"));
    let why = explained(&scenario, Asked::Why).json;
    assert_eq!(sum(&why["causes"], "bundles"), figure("created") - figure("delivered"));
    assert_eq!(why["transfers_begun"].as_u64(), Some(figure("started")));
    assert_eq!(why["transfers_cut_off"].as_u64(), Some(figure("aborted")));

    let last = (figure("created") as u32).saturating_sub(1);
    for asked in [Asked::Summary, Asked::Lost, Asked::Why, Asked::Bundle(0), Asked::Bundle(last)] {
        let of_trace = of_trace(&path, asked).unwrap();
        assert_eq!(of_trace, explained(&scenario, asked));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn what_became_of_bundles_adds_up_to_what_was_created(drawn in drawn()) {
        check(&drawn.text());
    }
}

#[test]
fn every_router_and_every_mechanism_can_be_explained() {
    let drawn = |router, mechanism| Drawn {
        router,
        mechanism,
        world: "contacts_fail = 0.1".to_owned(),
        area: 200,
        buffer: 400,
        sizes: (20, 100),
        lifetime: 400,
        range: 40,
    };
    routers::TABLE.iter().for_each(|router| check(&drawn(router.name, "none").text()));
    mechanisms::TABLE.iter().for_each(|mechanism| check(&drawn("spray_and_wait", mechanism.name).text()));
}

#[test]
fn a_trace_that_was_cut_off_and_a_bundle_that_is_not_there_are_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let drawn = Drawn {
        router: "epidemic",
        mechanism: "none",
        world: String::new(),
        area: 200,
        buffer: 400,
        sizes: (20, 100),
        lifetime: 400,
        range: 40,
    };
    let options = Options { traces: vec![path.clone()], ..Options::default() };
    run(&scenario(&drawn.text()), Seed::Number(1), &ContactsCache::default(), &options).unwrap();
    // A folder with one trace stands for it.
    assert_eq!(of_trace(folder.path(), Asked::Lost).unwrap(), of_trace(&path, Asked::Lost).unwrap());
    let wrong = of_trace(&path, Asked::Bundle(9_999)).unwrap_err().to_string();
    assert!(wrong.contains("bundle 9999 was not created; name one of 0 to"), "{wrong}");
    let rows = std::fs::read_to_string(&path).unwrap();
    let half = &rows[..rows[..rows.len() / 2].rfind('\n').unwrap() + 1];
    std::fs::write(&path, half).unwrap();
    let wrong = of_trace(&path, Asked::Summary).unwrap_err().to_string();
    assert!(wrong.contains("no row `end`"), "{wrong}");
    std::fs::write(folder.path().join("other.jsonl"), half).unwrap();
    let wrong = of_trace(folder.path(), Asked::Summary).unwrap_err().to_string();
    assert!(wrong.contains("several traces: other.jsonl, trace.jsonl"), "{wrong}");
    std::fs::write(folder.path().join("results.parquet"), "").unwrap();
    let wrong = of_trace(folder.path(), Asked::Summary).unwrap_err().to_string();
    assert!(
        wrong.contains("the folder is of a sweep, which keeps figures and no records; name its scenario"),
        "{wrong}"
    );
}

/// A link that loses and whose queue overflows, with the flow of a file.
const LOSSY: &str = r#"
duration = "100 s"
[links.space]
from = "earth"
to = "mars"
rate = "1 Mbit/s"
round_trip = "1 s"
queue = "5 packets"
loss = { model = "uniform", share = 0.02 }
[flows.file]
from = "earth"
to = "mars"
controller = "sack"
size = "10 MB"
"#;

const DATA: &str = r#"
duration = "20 s"
[links.hop]
from = "here"
to = "there"
rate = "1 Mbit/s"
delay = "10 ms"
queue = "3 packets"
[producers.library]
at = "there"
prefix = "/film"
object = "1 MB"
[consumers.reader]
at = "here"
object = "/film"
controller = { name = "fixed", window = "20 kB" }
"#;

#[test]
fn packets_that_were_offered_to_links_arrived_or_were_dropped_or_were_in_transit() {
    for text in [LOSSY, DATA] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.parquet");
        let scenario = scenario(text);
        let options = Options { traces: vec![path.clone()], ..Options::default() };
        let figures = run(&scenario, Seed::Number(1), &ContactsCache::default(), &options).unwrap().figures;
        for asked in [Asked::Summary, Asked::Lost, Asked::Why] {
            let made = explained(&scenario, asked);
            assert_eq!(of_trace(&path, asked).unwrap(), made);
            assert_eq!(
                made.json["delivered_bytes"].as_u64(),
                figures.get("delivered_bytes").map(|bytes| bytes as u64)
            );
            let number = |name: &str| made.json[name].as_u64().unwrap();
            let [full, marked, lost] = ["queue_full", "queue_management", "lost_on_link"].map(number);
            assert_eq!(number("offered"), number("arrived") + full + marked + lost + number("in_transit"));
            assert_eq!(sum(&made.json["links"], "offered"), number("offered"));
            if text == LOSSY {
                assert_eq!(Some((full + marked) as f64), figures.get("packets_dropped"));
                assert_eq!(Some(lost as f64), figures.get("packets_lost"));
                assert!(lost > 0, "{}", made.text);
            }
        }
        let error = of_trace(&path, Asked::Bundle(1)).unwrap_err().to_string();
        assert!(error.contains("the run has no bundles"), "{error}");
    }
}
