//! Contacts that fail and nodes that vanish, from the text of a scenario to its results.

use lightlag_lab::bound::bound;
use lightlag_lab::metrics::Figures;
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{Catalogue, ScenarioFile, Seed};
use lightlag_worlds::messages::Setup;
use proptest::prelude::*;

fn file(world: &str) -> ScenarioFile {
    let text = format!(
        r#"
duration = "1 h"
seeds = [1, 2]
router = "epidemic"
buffer = "10 MB"
[world]
{world}
[nodes.walker]
count = 20
mobility = {{ model = "random_waypoint", area = "500 m x 500 m", speed = "0.5..1.5 m/s", pause = "0..120 s" }}
radio = {{ range = "50 m", rate = "2.5 Mbit/s" }}
[traffic.mail]
interval = "5..10 s"
size = "50..100 kB"
"#
    );
    ScenarioFile::from_toml("s.toml", &text, ".".into(), Catalogue::default().into()).unwrap()
}

fn setup(world: &str, seed: u64) -> Setup {
    file(world).points().unwrap().list[0].scenario.bundles().unwrap().setup(Seed::Number(seed)).unwrap()
}

fn figures(world: &str, seed: u64) -> Figures {
    let points = file(world).points().unwrap().list;
    let cache = ContactsCache::default();
    let outcome = run(&points[0].scenario, Seed::Number(seed), &cache, &Options::default()).unwrap();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome.figures
}

#[test]
fn about_the_share_of_contacts_that_was_said_does_not_take_place() {
    let (all, some) = (setup("", 1).contacts.list.len(), setup("contacts_fail = 0.2", 1).contacts.list.len());
    let share = some as f64 / all as f64;
    assert!((0.7..0.9).contains(&share), "{some} of {all}");
    let other = setup("contacts_fail = 0.2", 2);
    assert_ne!(other.contacts, setup("contacts_fail = 0.2", 1).contacts, "each seed has its own failures");
}

#[test]
fn more_failures_fail_what_fewer_do() {
    let [few, many] = ["contacts_fail = 0.2", "contacts_fail = 0.6"].map(|world| setup(world, 1).contacts);
    assert!(many.list.len() < few.list.len());
    assert!(many.list.iter().all(|contact| few.list.contains(contact)));
}

#[test]
fn a_network_of_which_much_fails_delivers_less() {
    let ratio = |world| figures(world, 1).get("delivery_prob").unwrap();
    let whole = ratio("");
    assert!(ratio("contacts_fail = 0.9") < whole);
    assert!(ratio("nodes_vanish = 0.8") < whole);
}

#[test]
fn nodes_that_have_vanished_meet_nobody_and_create_nothing() {
    let (whole, half) = (setup("", 1), setup("nodes_vanish = 0.5", 1));
    let missing: Vec<_> = {
        let key = |b: &lightlag_protocols::dtn::Bundle| (b.source, b.destination, b.created);
        let left: Vec<_> = half.bundles.iter().map(key).collect();
        whole.bundles.iter().filter(|b| !left.contains(&key(b))).map(|b| (b.source, b.created)).collect()
    };
    assert!(!missing.is_empty());
    for (node, since) in missing {
        assert!(half.contacts.list.iter().all(|c| (c.a != node && c.b != node) || c.start < since));
        assert!(half.bundles.iter().all(|b| b.source != node || b.created < since));
    }
    let numbers: Vec<u32> = half.bundles.iter().map(|b| b.id.0).collect();
    assert_eq!(numbers, (0..half.bundles.len() as u32).collect::<Vec<_>>());
}

#[test]
fn routers_that_plan_are_told_of_no_failure() {
    let planned = |fail: &str| {
        let text = format!(
            "duration = \"100 s\"\nrouter = \"contact_graph\"\nbuffer = \"1 MB\"\n[world]\ncontacts_fail = {fail}\n\
             [nodes.a]\n[nodes.b]\n[contacts.plan]\nkind = \"table\"\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\n\
             rows = [{{ a = \"a\", b = \"b\", start = \"0 s\", end = \"50 s\" }}]\n\
             [traffic.mail]\nevents = [{{ at = \"1 s\", from = \"a\", to = \"b\", size = \"1 kB\" }}]\n"
        );
        let file = ScenarioFile::from_toml("s.toml", &text, ".".into(), Catalogue::default().into()).unwrap();
        file.points().unwrap().list[0].scenario.bundles().unwrap().setup(Seed::Number(1)).unwrap()
    };
    let (whole, failed) = (planned("0"), planned("1"));
    assert_eq!(whole.plan, failed.plan);
    assert_eq!(whole.plan.contacts().len(), 2);
    assert_eq!((whole.contacts.list.len(), failed.contacts.list.len()), (1, 0));
}

#[test]
fn by_a_plan_that_does_not_happen_nothing_is_delivered_and_nothing_could_be() {
    let scenario = |happens: &str| {
        let text = format!(
            "duration = \"100 s\"\nrouter = \"contact_graph\"\nbuffer = \"1 MB\"\n[nodes.n]\ncount = 3\n\
             [contacts.early]\nkind = \"table\"\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\n\
             rows = [{{ a = \"n0\", b = \"n1\", start = \"5 s\", end = \"20 s\" }}]\n\
             [contacts.late]\nkind = \"table\"\n{happens}rate = \"1 Mbit/s\"\ndelay = \"0 s\"\n\
             rows = [{{ a = \"n1\", b = \"n2\", start = \"30 s\", end = \"50 s\" }}]\n\
             [traffic.mail]\nevents = [{{ at = \"1 s\", from = \"n0\", to = \"n2\", size = \"1 kB\" }}]\n"
        );
        let file = ScenarioFile::from_toml("s.toml", &text, ".".into(), Catalogue::default().into()).unwrap();
        file.points().unwrap().list.remove(0).scenario
    };
    let played = |happens: &str| {
        let (scenario, cache) = (scenario(happens), ContactsCache::default());
        let outcome = run(&scenario, Seed::Number(1), &cache, &Options::default()).unwrap();
        assert_eq!(outcome.violations, Vec::<String>::new());
        let bound = bound(&scenario, Seed::Number(1), &cache).unwrap();
        let of = |name: &str| outcome.figures.get(name).unwrap();
        ([of("relayed"), of("delivered"), of("encounters")], bound.bound, bound.reachable)
    };
    assert_eq!(played(""), ([2.0, 1.0, 2.0], Some(1.0), 1.0));
    assert_eq!(
        played("happens = false\n"),
        ([1.0, 0.0, 1.0], Some(0.0), 0.0),
        "the first hop was for nothing"
    );
}

#[test]
fn a_plan_that_is_wrong_is_corrected_in_time_or_not_and_some_nodes_know_better() {
    let played = |announced: &str| {
        let text = format!(
            "duration = \"100 s\"\nrouter = \"contact_graph\"\nbuffer = \"1 MB\"\n[nodes.n]\ncount = 4\n\
             [contacts.sure]\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\nrows = [\n\
             {{ a = \"n0\", b = \"n1\", start = \"5 s\", end = \"20 s\" }},\n\
             {{ a = \"n0\", b = \"n3\", start = \"30 s\", end = \"40 s\" }},\n\
             {{ a = \"n3\", b = \"n2\", start = \"50 s\", end = \"60 s\" }}]\n\
             [contacts.announced]\n{announced}rate = \"1 Mbit/s\"\ndelay = \"0 s\"\n\
             rows = [{{ a = \"n1\", b = \"n2\", start = \"30 s\", end = \"40 s\" }}]\n\
             [traffic.mail]\nevents = [{{ at = \"1 s\", from = \"n0\", to = \"n2\", size = \"1 kB\" }}]\n"
        );
        let file = ScenarioFile::from_toml("s.toml", &text, ".".into(), Catalogue::default().into()).unwrap();
        let scenario = file.points().unwrap().list.remove(0).scenario;
        let outcome =
            run(&scenario, Seed::Number(1), &ContactsCache::default(), &Options::default()).unwrap();
        assert_eq!(outcome.violations, Vec::<String>::new());
        ["delivered", "plan_nodes"].map(|name| outcome.figures.get(name).unwrap())
    };
    assert_eq!(played(""), [1.0, 4.0]);
    assert_eq!(played("happens = false\n"), [0.0, 4.0]);
    assert_eq!(played("happens = false\nknown_until = \"3 s\"\n"), [1.0, 4.0]);
    assert_eq!(played("happens = false\nknown_until = \"6 s\"\n"), [0.0, 4.0], "it has left for n1");
    assert_eq!(played("happens = false\nknown_to = \"n1..n3\"\n"), [1.0, 4.0], "its source knows better");
}

#[test]
fn shares_are_axes_and_what_is_no_share_is_refused_in_one_line() {
    assert_eq!(
        file("contacts_fail = [0.0, 0.5]\nnodes_vanish = [0, 0.1, 1]").points().unwrap().list.len(),
        6
    );
    for (wrong, what) in [
        ("contacts_fail = 1.5", "s.toml:7: `world.contacts_fail` is 1.5; it must be a number from 0 to 1"),
        ("nodes_vanish = -1", "s.toml:7: `world.nodes_vanish` is -1; it must be a number from 0 to 1"),
    ] {
        assert_eq!(file(wrong).points().unwrap_err().to_string(), what);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn zero_changes_nothing_and_one_leaves_nothing(seed in 0_u64..1_000) {
        let (plain, zero) = (setup("", seed), setup("contacts_fail = 0.0\nnodes_vanish = 0.0", seed));
        prop_assert_eq!(&plain.contacts, &zero.contacts);
        prop_assert_eq!(&plain.bundles, &zero.bundles);
        prop_assert_eq!(figures("", seed).json(), figures("contacts_fail = 0.0\nnodes_vanish = 0.0", seed).json());
        prop_assert!(setup("contacts_fail = 1.0", seed).contacts.list.is_empty());
        prop_assert_eq!(figures("contacts_fail = 1", seed).get("encounters"), Some(0.0));
    }
}
