//! A recorded trace is no plan: two records that agree up to an instant give the same run up to it, whatever comes later.

use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::rng::mix;
use lightlag_protocols::time::Instant;
use lightlag_scenario::{Catalogue, Scenario, ScenarioFile, Seed};
use lightlag_worlds::messages::run;

const NODES: u64 = 12;
const SPLIT_S: u64 = 2400;
const UNTIL_S: u64 = 6000;

/// Contacts as start, end, node, node: drawn from one number before [`SPLIT_S`] and from another one after it.
fn trace(early: u64, late: u64) -> Vec<[u64; 4]> {
    let mut contacts = Vec::new();
    for (pair, (a, b)) in (0..NODES).flat_map(|a| (a + 1..NODES).map(move |b| (a, b))).enumerate() {
        let mut at = 0;
        for turn in 0.. {
            let draw = |seed: u64, of: u64| mix(seed ^ mix(of ^ mix(turn ^ (pair as u64) << 20)));
            at += 60 + draw(if at < SPLIT_S { early } else { late }, 1) % 1800;
            let end = at + 10 + draw(if at < SPLIT_S { early } else { late }, 2) % 60;
            // A contact that lasts over the split would differ before it.
            let (start, end) = if at < SPLIT_S { (at, end.min(SPLIT_S)) } else { (at, end) };
            if end > UNTIL_S {
                break;
            }
            contacts.push([start, end, a, b]);
            at = end;
        }
    }
    contacts.sort_unstable();
    contacts
}

/// The trace as a file of this kind.
fn text(kind: &str, trace: &[[u64; 4]]) -> String {
    let lines = |line: fn(&[u64; 4]) -> String| trace.iter().map(line).collect::<String>();
    match kind {
        "table" => "start_s,end_s,a,b\n".to_owned() + &lines(|[s, e, a, b]| format!("{s},{e},{a},{b}\n")),
        "intervals" => lines(|[s, e, a, b]| format!("{a} {b} {s} {e}\n")),
        _ => {
            let mut events: Vec<(u64, bool, String)> = Vec::new();
            for [start, end, a, b] in trace {
                events.push((*start, true, format!("{start} CONN {a} {b} up\n")));
                events.push((*end, false, format!("{end} CONN {a} {b} down\n")));
            }
            events.sort();
            events.into_iter().map(|event| event.2).collect()
        }
    }
}

/// All records before the split.
#[derive(Default)]
struct Early(Vec<String>);

impl Observer for Early {
    fn on_record(&mut self, now: Instant, record: &Record) {
        if now < Instant::from_secs(SPLIT_S as i64) {
            self.0.push(format!("{now:?} {record:?}"));
        }
    }
}

/// The records before the split of every router with every mechanism.
fn early(kind: &str, more: &str, contacts: &[[u64; 4]]) -> Vec<(String, Vec<String>)> {
    let catalogue = Catalogue::default();
    let list = |names: Vec<&str>| format!("[\"{}\"]", names.join("\", \""));
    let planned = more.contains("true");
    let routers = catalogue.routers.iter().filter(|entry| planned || entry.only_with.is_empty());
    let routers = list(routers.map(|entry| entry.name.as_str()).collect());
    let mechanisms = list(catalogue.mechanisms.iter().map(|entry| entry.name.as_str()).collect());
    let text_of = format!(
        "duration = \"{UNTIL_S} s\"\nrouter = {routers}\nmechanism = {mechanisms}\nbuffer = \"300 kB\"\n\
         [nodes.n]\ncount = {NODES}\n[contacts.trace]\nkind = \"{kind}\"\nfirst_id = 0\nfile = \"trace\"\nrate = \"100 kbit/s\"\n{more}\n\
         [traffic.messages]\ninterval = \"10..20 s\"\nsize = \"20..50 kB\"\nlifetime = \"1 h\"\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("trace"), text(kind, contacts)).unwrap();
    let file =
        ScenarioFile::from_toml("s.toml", &text_of, folder.path().to_owned(), Catalogue::default().into());
    let points = file.and_then(|file| file.points()).unwrap_or_else(|error| panic!("{error}")).list;
    let mut all = Vec::new();
    for point in points {
        let Scenario::Bundles(network) = &point.scenario else { panic!("bundles") };
        let mut seen = Early::default();
        let setup = network.setup(Seed::Number(1)).unwrap();
        run(&setup, &mut seen);
        let (readers, nodes) = network.plan_readers(&setup.plan);
        assert!(planned || (readers.is_empty() && nodes == 0), "{readers:?}");
        assert!(readers.is_empty() || nodes == NODES as u32, "{readers:?}: {nodes} nodes");
        all.push((format!("{:?}", point.values), seen.0));
    }
    all
}

#[test]
fn what_happens_later_in_a_recorded_trace_changes_nothing_before_under_any_router_and_mechanism() {
    for (number, kind) in [(1, "table"), (2, "intervals"), (3, "the_one")] {
        let [one, other] = [10, 20].map(|late| early(kind, "", &trace(number, late)));
        assert!(one.len() > 20, "{} runs", one.len());
        // `passive` sends nothing.
        let silent = |run: &(String, Vec<String>)| run.1.len() < 400 && !run.0.contains("passive");
        assert_eq!(one.iter().find(|run| silent(run)).map(|run| (&run.0, run.1.len())), None);
        for (one, other) in one.iter().zip(&other) {
            let differs = one.1.iter().zip(&other.1).find(|(one, other)| one != other);
            assert!(one == other, "{kind} {}: {differs:?}", one.0);
        }
    }
}

#[test]
fn with_a_plan_later_contacts_are_known_to_those_that_say_so() {
    let [one, other] = [10, 20].map(|late| early("intervals", "plan = true", &trace(1, late)));
    let knows = |name: &str| {
        let differ = one.iter().zip(&other).filter(|(one, other)| one.0.contains(name) && one.1 != other.1);
        differ.count() > 0
    };
    assert!(knows("copy_value") && knows("contact_graph"));
    for (one, other) in one.iter().zip(&other) {
        let reads = ["copy_value", "contact_graph", "ion_forecast"].iter().any(|name| one.0.contains(name));
        assert!(reads || one.1 == other.1, "{} does not say that it reads the plan", one.0);
    }
}
