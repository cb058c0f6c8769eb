use super::cells::{Grade, Measure, Standing, cells, columns, standings};
use super::networks::{KINDS, drawn, named};
use super::plan::{DESCRIBED, DEVELOPMENT, JUDGEMENT, plan, text};
use super::regret::{everywhere, ours, regrets};
use super::treatments::{MECHANISM, PARTS, Role, in_networks, name_without};
use super::{claims, tables};
use crate::shared::tests::results;
use lightlag_lab::report::Holds;
use lightlag_lab::results::{Results, Row};
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{Catalogue, Scenario, ScenarioFile, Seed};
use std::collections::BTreeSet;

fn scenario(text: &str) -> Result<Scenario, lightlag_scenario::Error> {
    let file = ScenarioFile::from_toml("network.toml", text, ".".into(), Catalogue::default().into())?;
    Ok(file.points()?.list.remove(0).scenario)
}

#[test]
fn a_network_is_a_function_of_seed_and_index_and_kinds_take_turns() {
    for index in 0..42 {
        let network = drawn(7, index);
        assert_eq!(network, drawn(7, index));
        assert_eq!(network.kind, KINDS[index as usize % KINDS.len()].0);
        assert_ne!(network.text, drawn(7, index + KINDS.len() as u64).text);
        assert_ne!(network.text, drawn(8, index).text);
    }
    assert_eq!(named("s7_n30"), Some(drawn(7, 30)));
    assert_eq!([named("s7"), named("n7_s3"), named("s7_nx")], [None, None, None]);
}

#[test]
fn networks_of_the_development_do_not_judge() {
    let texts = |seed| -> BTreeSet<String> {
        let body = |index| drawn(seed, index).text.lines().skip(1).collect::<Vec<_>>().join("\n");
        (0..98).map(body).collect()
    };
    let (development, judgement) = (texts(DEVELOPMENT), texts(JUDGEMENT));
    assert_eq!((development.len(), judgement.len()), (98, 98));
    assert!(development.is_disjoint(&judgement));
}

#[test]
fn every_drawn_network_is_a_valid_scenario() {
    let ours = &in_networks()[0];
    for seed in [DEVELOPMENT, JUDGEMENT, 987_654_321] {
        for network in (0..300).map(|index| drawn(seed, index)) {
            let made = scenario(&text(&network, ours));
            assert!(
                made.is_ok(),
                "{}: {}",
                network.name,
                made.err().map_or(String::new(), |why| why.to_string())
            );
        }
    }
}

#[test]
fn a_network_of_each_kind_is_played_to_the_end_and_keeps_to_the_rules() {
    let ours = &in_networks()[0];
    let mut delivering = 0;
    for index in 0..KINDS.len() as u64 {
        let network = drawn(3, index);
        let scenario = scenario(&text(&network, ours)).unwrap();
        let options = Options { judge: true, ..Options::default() };
        let outcome = run(&scenario, Seed::Number(1), &ContactsCache::default(), &options).unwrap();
        assert_eq!(outcome.violations, [""; 0], "{}", network.name);
        let of = |name: &str| outcome.metrics().iter().find(|one| *one.0 == *name).map_or(0.0, |one| one.1);
        assert!(of("created") >= 50.0, "{}: {} bundles", network.name, of("created"));
        delivering += usize::from(of("delivered") > 0.0);
    }
    assert!(delivering > 10, "{delivering}");
}

#[test]
fn every_cell_has_ours_its_parts_the_others_and_the_reference() {
    let points = plan(true, JUDGEMENT).unwrap();
    let value = |values: &[(String, String)], column: &str| {
        values.iter().find(|(name, _)| name == column).map_or(String::new(), |(_, value)| value.clone())
    };
    let rows = points.list.iter().enumerate().map(|(point, made)| Row {
        point,
        seed: 1,
        values: made.values.clone(),
        metrics: Vec::new(),
    });
    let results = results(rows.collect());
    let all = cells(&results);
    assert_eq!(all.len(), 98);
    for cell in &all {
        let count = |role| cell.of_role(role).count();
        let afner = usize::from(cell.router() == "epidemic");
        assert_eq!(
            [Role::Ours, Role::Part, Role::Reference, Role::Other].map(count),
            [1, PARTS.len(), 1, 6 + afner],
            "{}",
            cell.described()
        );
    }
    assert!(points.list.iter().all(|point| !value(&point.values, DESCRIBED).is_empty()));
}

#[test]
fn names_of_treatments_differ_and_each_other_has_receipts() {
    let all = in_networks();
    let names: BTreeSet<&str> = all.iter().map(|treatment| treatment.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    let others: Vec<_> = all.iter().filter(|treatment| treatment.role == Role::Other).collect();
    let bare: Vec<_> =
        others.iter().filter(|treatment| !treatment.receipts).map(|one| one.mechanism).collect();
    assert_eq!(bare, ["none"]);
    assert!(others.iter().all(|treatment| treatment.mechanism != MECHANISM));
}

/// Delivery ratio, delay, bytes sent for each of a hundred delivered.
type Numbers = [f64; 3];

/// A treatment of a cell with these numbers for seeds 1, 2, 3 and so on.
fn rows(point: usize, cell: [&str; 3], (treatment, role): (&str, Role), seeds: &[Numbers]) -> Vec<Row> {
    let row = |(seed, [ratio, delay, bytes]): (u64, Numbers)| {
        let metrics = [
            ("delivery_prob", ratio),
            ("censored_delay_avg", delay),
            ("sent_bytes", bytes - 7.0),
            ("control_bytes", 7.0),
            ("delivered_bytes", 100.0),
        ];
        let metrics = metrics.map(|(name, number)| (name.into(), number)).to_vec();
        Row { point, seed, values: columns(cell, treatment, role), metrics }
    };
    (1..).zip(seeds.iter().copied()).map(row).collect()
}

const OURS: (&str, Role) = (MECHANISM, Role::Ours);
const NONE: (&str, Role) = ("none + receipts", Role::Other);
const CREDIT: (&str, Role) = ("credit + receipts", Role::Other);
const BARE: (&str, Role) = ("none", Role::Other);
const RRCC: (&str, Role) = ("rrcc + receipts", Role::Other);
const GBSD: (&str, Role) = ("gbsd + receipts", Role::Reference);
const HERE: [&str; 3] = ["bus lines", "epidemic", "s9_n5"];
const THERE: [&str; 3] = ["moon", "prophet", "s9_n6"];

fn grades(standing: &Standing<'_>) -> [Option<Grade>; 3] {
    Measure::ALL.map(|measure| standing.by(measure).map(|found| found.grade))
}

#[test]
fn ours_is_compared_with_the_other_that_delivers_most_and_of_equals_the_fastest() {
    let mut all = rows(0, HERE, OURS, &[[0.5, 500.0, 100.0]]);
    all.extend(rows(1, HERE, BARE, &[[0.3, 100.0, 100.0]]));
    all.extend(rows(2, HERE, NONE, &[[0.4, 600.0, 100.0]]));
    all.extend(rows(3, HERE, RRCC, &[[0.4, 550.0, 100.0]]));
    all.extend(rows(4, HERE, GBSD, &[[0.9, 100.0, 100.0]]));
    assert_eq!(standings(&results(all))[0].other, RRCC.0);
}

#[test]
fn the_intervals_of_the_differences_say_what_is_better_and_worse() {
    let mut all = rows(0, HERE, OURS, &[[0.5, 500.0, 300.0], [0.6, 400.0, 310.0]]);
    all.extend(rows(1, HERE, CREDIT, &[[0.4, 600.0, 300.0], [0.45, 550.0, 300.0]]));
    let results = results(all);
    let all = standings(&results);
    // 300 bytes of the other, 300 and 310 of ours: the interval holds zero.
    assert_eq!(grades(&all[0]), [Some(Grade::Better), Some(Grade::Better), Some(Grade::AsGood)]);
    let found = all[0].by(Measure::Ratio).unwrap();
    assert!((found.mean - 0.125).abs() < 1e-9);
    let (low, high) = found.interval.unwrap();
    assert!((low - 0.1).abs() < 1e-9 && (high - 0.15).abs() < 1e-9);
}

#[test]
fn differences_that_matter_to_nobody_are_as_good() {
    let of = |ours: Numbers| {
        let mut all = rows(0, HERE, OURS, &[ours, ours]);
        all.extend(rows(1, HERE, NONE, &[[0.5, 1000.0, 100.0], [0.5, 1000.0, 100.0]]));
        grades(&standings(&results(all))[0])
    };
    assert_eq!(of([0.4985, 1001.5, 100.1]), [Some(Grade::AsGood); 3]);
    assert_eq!(of([0.4975, 1002.5, 100.3]), [Some(Grade::Worse); 3]);
    assert_eq!(of([0.5025, 997.5, 99.7]), [Some(Grade::Better); 3]);
}

#[test]
fn one_seed_alone_says_nothing() {
    let mut all = rows(0, HERE, OURS, &[[0.1, 1000.0, 100.0]]);
    all.extend(rows(1, HERE, NONE, &[[0.9, 10.0, 100.0]]));
    assert_eq!(grades(&standings(&results(all))[0]), [Some(Grade::AsGood); 3]);
}

#[test]
fn where_nothing_is_delivered_bytes_per_byte_are_not_compared() {
    let mut all = rows(0, HERE, OURS, &[[0.0, 1000.0, 100.0]]);
    all[0].metrics.retain(|(name, _)| **name != *"delivered_bytes");
    all[0].metrics.push(("delivered_bytes".into(), 0.0));
    all.extend(rows(1, HERE, NONE, &[[0.9, 10.0, 100.0]]));
    assert!(standings(&results(all))[0].by(Measure::Bytes).is_none());
}

/// Two networks: here ours is `ahead` of credit, there behind by 0.02; none is 0.3 and 0.1 below credit, rrcc runs here
/// alone, gbsd delivers all, and without either part ours delivers 0.01 less.
fn made_up(ahead: f64, names: [&str; 2]) -> Results {
    let mut all = Vec::new();
    let treatments =
        [(OURS, [0.5 + ahead, 0.58]), (NONE, [0.2, 0.5]), (CREDIT, [0.5, 0.6]), (GBSD, [1.0, 1.0])];
    for (number, [kind, router, _]) in [HERE, THERE].into_iter().enumerate() {
        let cell = [kind, router, names[number]];
        for (treatment, ratios) in treatments {
            let ratio = ratios[number];
            all.extend(rows(all.len(), cell, treatment, &[[ratio, 1.0, 300.0], [ratio, 1.0, 300.0]]));
        }
        for part in PARTS {
            let (name, ratio) = (name_without(part), treatments[0].1[number] - 0.01);
            let part = (name.as_str(), Role::Part);
            all.extend(rows(all.len(), cell, part, &[[ratio, 1.0, 300.0], [ratio, 1.0, 300.0]]));
        }
    }
    all.extend(rows(all.len(), [HERE[0], HERE[1], names[0]], RRCC, &[[0.1, 1.0, 900.0], [0.1, 1.0, 900.0]]));
    results(all)
}

const NAMES: [&str; 2] = ["s9_n5", "s9_n6"];

#[test]
fn regret_is_what_the_best_real_mechanism_of_a_network_delivers_more() {
    let results = made_up(0.2, NAMES);
    let standings = standings(&results);
    let all = regrets(&standings);
    let described: Vec<&str> = all.iter().map(|one| one.name).collect();
    let [margin, memory] = PARTS.map(name_without);
    assert_eq!(described, [OURS.0, CREDIT.0, NONE.0, RRCC.0, &margin, &memory, GBSD.0]);
    let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one} and {other}");
    let ours = ours(&all).unwrap();
    close(ours.regret(), 0.01);
    close(ours.ratio(), 0.64);
    close(ours.worst().unwrap().regret, 0.02);
    assert_eq!(ours.worst().unwrap().cell.case(), NAMES[1]);
    close(ours.near(), 0.5);
    close(ours.bytes().unwrap(), 3.0);
    close(all[1].regret(), 0.1);
    close(all[6].regret(), -0.35);
    let names: Vec<&str> = everywhere(&all).map(|one| one.name).collect();
    assert_eq!(names, [CREDIT.0, NONE.0], "rrcc does not run in both");
}

fn verdicts(results: &Results) -> Vec<Holds> {
    let standings = standings(results);
    claims::evaluate(&standings, &regrets(&standings)).into_iter().map(|verdict| verdict.holds).collect()
}

#[test]
fn claims_hold_by_their_margins() {
    use Holds::{No, Yes};
    // Behind by 0.02 in one of two networks; the worst regret 0.02 is a tenth of that of credit.
    assert_eq!(verdicts(&made_up(0.2, NAMES)), [No, Yes, Yes, Yes, Yes, Yes]);
    // Ahead by 0.03 in one network: of credit by 0.005 on average, and its worst regret is 0.03.
    assert_eq!(verdicts(&made_up(0.03, NAMES)), [No, Yes, Yes, No, No, Yes]);
    // Behind by 0.35, below none.
    assert_eq!(verdicts(&made_up(-0.35, NAMES)), [No, No, No, No, No, Yes]);
}

#[test]
fn networks_of_the_development_test_no_claim() {
    let found = verdicts(&made_up(0.2, ["s1_n5", "s1_n6"]));
    assert!(found.iter().all(|holds| matches!(holds, Holds::Untestable(_))), "{found:?}");
}

#[test]
fn where_ours_is_worse_there_is_a_scenario_that_can_be_played() {
    let results = made_up(0.2, NAMES);
    let standings = standings(&results);
    let table = tables::behind(&standings);
    let files = tables::files(&standings);
    assert_eq!((table.rows.len(), files.len()), (1, 1));
    assert_eq!(table.rows[0][0], files[0].name);
    assert_eq!(files[0].name, "worst/01_s9_n6.toml");
    assert!(files[0].text.contains("--set mechanism=credit --set receipts=true"), "{}", files[0].text);
    let scenario = scenario(&files[0].text).unwrap();
    assert_eq!(scenario.bundles().unwrap().groups[0].mechanism.entry.name, MECHANISM);
}

#[test]
fn every_kind_has_its_row_with_its_worst_network() {
    let results = made_up(0.2, NAMES);
    let table = tables::kinds(&standings(&results));
    let described: Vec<(&str, &str)> =
        table.rows.iter().map(|row| (row[0].as_str(), row[7].as_str())).collect();
    assert_eq!(described, [("bus lines", "0"), ("moon", "1")]);
    assert!(table.rows[1][6].starts_with("s9_n6, prophet, to credit"), "{:?}", table.rows[1]);
}
