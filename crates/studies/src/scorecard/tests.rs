//! The networks that are drawn, and what their runs are measured by.

use super::adversary::{self, Effort};
use super::controllers::{CONTESTANTS, asked, find};
use super::measures::{self, measures};
use super::plan::{NETWORK, network, networks, scenario};
use super::space::{Company, Network, drawn};
use super::standing::standings;
use super::{claims, corners, text};
use crate::shared::runs::VARIANT;
use crate::shared::tests::results;
use lightlag_lab::results::Row;
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
        for contestant in CONTESTANTS.iter().filter(|contestant| contestant.plays(&network)) {
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
        let contestant = find("cubic").ok().unwrap();
        let made = scenario(&network, contestant).unwrap();
        let options = Options { judge: true, account: true, ..Options::default() };
        let outcome = run(&made, Seed::Number(1), &ContactsCache::default(), &options).unwrap();
        assert_eq!(outcome.violations, [""; 0], "{}", network.name);
        let found = measures(&network, contestant, &outcome);
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
        let contestant = find(name).ok().unwrap();
        let made = scenario(&network, contestant).unwrap();
        let options = Options { judge: false, account: true, ..Options::default() };
        measures(
            &network,
            contestant,
            &run(&made, Seed::Number(1), &ContactsCache::default(), &options).unwrap(),
        )
    };
    let of = |metrics: &[(lightlag_lab::results::Name, f64)], name: &str| {
        metrics.iter().find(|row| *row.0 == *name).map_or(f64::NAN, |row| row.1)
    };
    let cubic = measured("cubic");
    assert!(of(&cubic, measures::SHARE) > 0.5 && of(&cubic, measures::QUEUE_P95) > 0.3, "{cubic:?}");
    let ledbat = measured("ledbat");
    assert!(of(&ledbat, measures::SHARE) < 0.5 * of(&cubic, measures::SHARE), "{ledbat:?}");
}

/// Every measure of a run.
fn measured(network: &Network, name: &str) -> lightlag_lab::results::Metrics {
    let contestant = find(name).ok().unwrap();
    let made = scenario(network, contestant).unwrap();
    let options = Options { account: true, ..Options::default() };
    let outcome = run(&made, Seed::Number(1), &ContactsCache::default(), &options).unwrap();
    assert_eq!(outcome.violations, [""; 0], "{}", network.name);
    measures(network, contestant, &outcome)
}

fn of(metrics: &[(lightlag_lab::results::Name, f64)], name: &str) -> f64 {
    metrics.iter().find(|row| *row.0 == *name).map_or(f64::NAN, |row| row.1)
}

#[test]
fn names_play_all_networks_but_those_with_tcp_in_them() {
    let short_queue = find("short_queue_names").ok().unwrap();
    for index in 0..500 {
        let network = drawn(1, index);
        assert_eq!(short_queue.plays(&network), !matches!(network.company, Company::Tcp(_)));
    }
    let count = (0..500).filter(|index| short_queue.plays(&drawn(1, *index))).count();
    assert!((330..=370).contains(&count), "{count} of 500");
}

#[test]
fn a_controller_that_is_asked_for_comes_with_the_same_over_names() {
    let names = |name| asked(name).map(|all| all.iter().map(|one| one.name).collect::<Vec<_>>());
    assert_eq!(names("short_queue"), Ok(vec!["short_queue", "short_queue_names"]));
    assert_eq!(names("dcp"), Ok(vec!["dcp", "dcp_names"]));
    assert_eq!(names("dcp_names"), Ok(vec!["dcp_names"]));
    assert_eq!(names("icp"), Ok(vec!["icp_names"]));
    assert_eq!(names("cubic"), Ok(vec!["cubic"]));
    assert!(names("icq").is_err_and(|error| error.contains("icp_names")));
}

#[test]
fn interests_and_their_data_are_measured_as_packets_are() {
    let network = |name: &str| corners::all().into_iter().find(|network| network.name == name).unwrap();
    let filled = measured(&network("queue_of_4"), "aimd_names");
    assert!(of(&filled, measures::SHARE) > 0.5 && of(&filled, measures::DROPPED) > 0.0, "{filled:?}");
    let clean = measured(&network("rtt_times_10"), "short_queue_names");
    assert!(of(&clean, measures::SHARE) > 0.5, "{clean:?}");
    // An Interest of 24 bytes asks for a packet of 1500.
    assert!((of(&clean, measures::BACK) - 24.0 / 1500.0).abs() < 1e-9, "{clean:?}");
    let lossy = measured(&network("loss_30_percent"), "aimd_names");
    assert!((0.2..0.5).contains(&of(&lossy, measures::REPAIRED)), "{lossy:?}");
    // The return link carries 8 kbit/s of Interests, which ask for half of what the link could carry.
    let narrow = measured(&network("return_8kbit"), "short_queue_names");
    let (rounds, rate) = (130.0, 8_000.0 / 8.0 / 24.0);
    assert!(
        of(&narrow, measures::SHARE) > 0.9 && of(&narrow, measures::SENT) < 1.1 * rounds * rate,
        "{narrow:?}"
    );
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
    let places = [
        "the limits are kept by vegas in",
        "What is claimed",
        "<h3>The worst ten networks",
        "<h3>All controllers side by side",
    ];
    let places = places.map(|text| html.find(text).expect(text));
    assert!(places.is_sorted(), "{places:?}");
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn consumers_of_names_play_any_drawn_network_to_the_end_and_twice_alike(seed: u64, index in 0_u64..200_000) {
        let drawn = drawn(seed, index);
        // Names cannot play beside TCP; fewer packets, or a test takes minutes.
        let company = if matches!(drawn.company, Company::Tcp(_)) { Company::Own } else { drawn.company };
        let network = Network { company, rate_bit_s: (drawn.rate_bit_s / 20.0).max(1.0), on_off: None, ..drawn };
        for contestant in CONTESTANTS.iter().filter(|one| one.is_of_names()) {
            let once = measured(&network, contestant.name);
            prop_assert!(of(&once, measures::SHARE) >= 0.0, "{}: {once:?}", contestant.name);
            prop_assert_eq!(once, measured(&network, contestant.name));
        }
    }
}

#[test]
fn a_file_that_has_come_before_the_second_sample_is_measured() {
    let drawn = drawn(15_922_375_795_126_681_228, 74_223);
    let network = Network { rate_bit_s: drawn.rate_bit_s / 20.0, ..drawn };
    assert!(of(&measured(&network, "short_queue_names"), measures::SHARE) > 0.0);
}

#[test]
fn the_judge_expects_nothing_of_a_block_that_a_receiver_of_ltp_gave_up() {
    // Its report was acknowledged behind a queue of ten minutes that dropped; data of the block came later.
    assert!(of(&measured(&drawn(1, 8), "contact_rate_ltp"), measures::SENT) > 10_000.0);
}

#[test]
fn default_controllers_play_drawn_networks_to_the_end() {
    // On the first, an attempt once left the link below the rate, and contact_rate panicked.
    for index in 0..8 {
        let network = drawn(1, index);
        for contestant in CONTESTANTS.iter().filter(|one| one.is_default && one.plays(&network)) {
            let scenario = scenario(&network, contestant).unwrap();
            let (contacts, options) = (ContactsCache::default(), Options::default());
            let outcome = run(&scenario, Seed::Number(1), &contacts, &options).unwrap();
            assert_eq!(outcome.violations_total, 0, "{index}, {}: {:?}", contestant.name, outcome.violations);
        }
    }
}

#[test]
fn the_report_counts_each_network_in_which_queues_drop_too_much_and_which_of_them_are_excused() {
    let beside_tcp = |index: &u64| matches!(drawn(1, *index).company, Company::Tcp(_));
    let with = (0..99).find(beside_tcp).unwrap();
    let without = (0..99).find(|index| !beside_tcp(index)).unwrap();
    let row = |index: u64, controller: &str, dropped: f64| {
        let values = [(NETWORK, format!("s1_n{index}")), (VARIANT, controller.to_owned())];
        let values = values.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let metrics = vec![(measures::SHARE.into(), 0.9), (measures::DROPPED.into(), dropped)];
        Row { point: 0, seed: 1, values, metrics }
    };
    let of = |index| [row(index, "contact_rate", 0.1), row(index, "cubic", 0.2)];
    let results = results([of(with), of(without)].concat());
    let ([_, _, drops], _) = claims::sentences(&standings(&results), 2);
    let said = "What breaks them: queues drop too much under contact_rate in 100 % (34 to 100 %) (beside TCP in 1 of 2 no more \
                than CUBIC; at most 10 %).";
    assert_eq!(drops, said);
}
