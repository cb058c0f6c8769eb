//! The networks that are drawn, and what their runs are measured by.

use super::adversary::{self, Effort};
use super::controllers::{CONTESTANTS, find};
use super::measures::{self, measures};
use super::plan::{network, networks, scenario};
use super::space::{Network, drawn};
use super::{corners, text};
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{Catalogue, ScenarioFile, Seed};
use proptest::prelude::*;

#[test]
fn a_network_is_a_function_of_seed_and_index() {
    let text = |seed, index| text::scenario(&drawn(seed, index), &CONTESTANTS[0]);
    assert_eq!(text(7, 300), text(7, 300));
    assert_ne!(text(7, 300), text(7, 301));
    assert_ne!(text(7, 300), text(8, 300));
    assert_eq!(network("s7_n300"), Some(drawn(7, 300)));
    assert_eq!(network("codel").map(|network| network.name), Some("codel".to_owned()));
    assert_eq!(network("s7"), None);
}

#[test]
fn the_first_networks_are_spread_over_rates_and_round_trips() {
    let decades = |of: fn(&Network) -> f64| {
        let mut counts = [0; 7];
        (0..128).for_each(|index| {
            let network = drawn(1, index);
            counts[(of(&network).log10().floor() as usize).min(6)] += 1;
        });
        counts
    };
    let rates = decades(|network| network.rate_bit_s * network.scaled / 1e3);
    let round_trips = decades(|network| network.rtt_s / 1e-3);
    // 18 of 128 in each decade, of RTT 20 and fewer in the last, which is shorter.
    assert!(rates.iter().all(|count| (16..=21).contains(count)), "{rates:?}");
    assert!(round_trips[..6].iter().all(|count| (17..=23).contains(count)), "{round_trips:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_drawn_network_is_a_valid_scenario_for_every_controller(seed: u64, index in 0_u64..200_000) {
        let network = drawn(seed, index);
        for contestant in CONTESTANTS {
            let made = scenario(&network, contestant);
            prop_assert!(made.is_ok(), "{}", made.err().map_or(String::new(), |error| error.to_string()));
        }
    }

    #[test]
    fn no_network_takes_more_packets_than_the_budget(seed: u64, index in 0_u64..200_000) {
        let network = drawn(seed, index);
        let packets = text::rates(&network).iter().map(|row| row.1).fold(0.0, f64::max) * network.duration_s() / 12_000.0;
        prop_assert!(packets <= 1.01 * super::space::BUDGET_PACKETS, "{packets}");
        prop_assert!(network.rounds >= 40.0);
    }
}

#[test]
fn every_measure_is_there_of_every_named_network() {
    for network in corners::all() {
        let made = scenario(&network, find("cubic").ok().unwrap()).unwrap();
        let options = Options { judge: true, account: true, ..Options::default() };
        let outcome = run(&made, Seed::Number(1), &ContactsCache::default(), &options).unwrap();
        assert_eq!(outcome.violations, [""; 0], "{}", network.name);
        let found = measures(&network, &outcome);
        for name in [
            measures::SHARE,
            measures::SENT,
            measures::DROPPED,
            measures::REPAIRED,
            measures::QUEUE_P50,
            measures::QUEUE_P95,
            measures::SETTLE,
            measures::BACK,
        ] {
            let value = found.iter().find(|row| *row.0 == *name).map(|row| row.1);
            assert!(value.is_some_and(f64::is_finite), "{}: {name} is {value:?}", network.name);
        }
    }
}

#[test]
fn a_queue_that_is_filled_and_a_limit_that_is_reached_are_measured() {
    let network = corners::all().into_iter().find(|network| network.name == "beside_cubic").unwrap();
    let measured = |name| {
        let made = scenario(&network, find(name).ok().unwrap()).unwrap();
        let options = Options { judge: false, account: true, ..Options::default() };
        measures(&network, &run(&made, Seed::Number(1), &ContactsCache::default(), &options).unwrap())
    };
    let of = |metrics: &[(lightlag_lab::results::Name, f64)], name: &str| {
        metrics.iter().find(|row| *row.0 == *name).map_or(f64::NAN, |row| row.1)
    };
    let cubic = measured("cubic");
    assert!(of(&cubic, measures::SHARE) > 0.5 && of(&cubic, measures::QUEUE_P95) > 0.3, "{cubic:?}");
    let ledbat = measured("ledbat");
    assert!(of(&ledbat, measures::SHARE) < 0.5 * of(&cubic, measures::SHARE), "{ledbat:?}");
}

#[test]
fn all_names_of_networks_differ() {
    let mut names: Vec<String> = networks(true, 1).into_iter().map(|network| network.name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn the_guide_has_every_axis_with_its_values() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/scorecard.md");
    let guide = std::fs::read_to_string(page).unwrap();
    for axis in super::space::AXES {
        let row = format!("| {} | {} |", axis.name, axis.range);
        assert!(guide.contains(&row), "the guide has no row {row}");
    }
}

#[test]
fn the_worst_networks_are_scenarios_that_run_and_every_table_has_every_measure() {
    let folder = tempfile::tempdir().unwrap();
    let controller = Some("vegas");
    let order = crate::Order {
        quick: true,
        real: false,
        controller,
        seed: None,
        out: folder.path(),
        threads: 2,
        watch: None,
    };
    let study = crate::find("scorecard").ok().unwrap();
    let done = study.run(&order).unwrap();
    done.write(folder.path()).unwrap();
    assert_eq!(done.violations, 0);
    assert_eq!(done.scenarios.len(), super::WORST);
    for scenario in &done.scenarios {
        let file = lightlag_scenario::ScenarioFile::read(&[&folder.path().join(&scenario.name)]).unwrap();
        let point = file.points().unwrap().list.remove(0);
        let options = Options { judge: false, ..Options::default() };
        run(&point.scenario, Seed::Number(1), &ContactsCache::default(), &options).unwrap();
    }
    let measures = &super::tables::MEASURES[..10];
    for table in done.report.opening.iter().chain(&done.report.tables[..1]) {
        assert!(
            measures.iter().all(|measure| table.head.iter().any(|head| head == measure)),
            "{}",
            table.title
        );
    }
    let html = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    let [limits, worst] =
        ["the limits are kept by vegas in", "The worst ten networks"].map(|text| html.find(text));
    assert!(limits.is_some() && limits < worst && worst < html.find("What is claimed"));
}

#[test]
fn a_search_finds_worse_networks_than_those_it_begins_with_whatever_the_threads() {
    let search = |generations, threads| {
        let effort = Effort { population: 8, generations };
        adversary::worst("new_reno", 1, effort, threads).expect("it is on the scorecard")
    };
    let (before, after) = (search(0, 2), search(4, 2));
    assert_eq!(after.text(), search(4, 1).text());
    assert_eq!(after.runs, 40);
    assert!(
        after.found[0].grade < before.found[0].grade,
        "{} and {}",
        after.found[0].grade,
        before.found[0].grade
    );
    for file in after.files() {
        let made = ScenarioFile::from_toml(&file.name, &file.text, ".".into(), Catalogue::default().into());
        assert!(made.and_then(|file| file.points()).is_ok(), "{}", file.name);
    }
}

#[test]
fn default_controllers_play_drawn_networks_to_the_end() {
    // On the first, an attempt once left the link below the rate, and contact_rate panicked.
    for index in 0..8 {
        let network = drawn(1, index);
        for contestant in CONTESTANTS.iter().filter(|contestant| contestant.is_default) {
            let scenario = scenario(&network, contestant).unwrap();
            let (contacts, options) = (ContactsCache::default(), Options::default());
            let outcome = run(&scenario, Seed::Number(1), &contacts, &options).unwrap();
            assert_eq!(outcome.violations_total, 0, "{index}, {}: {:?}", contestant.name, outcome.violations);
        }
    }
}
