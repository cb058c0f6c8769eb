//! Runs of the world of messages, judged: every router with every mechanism under all rules.

use lightlag_judge::{Judge, JudgeRules, Kind};
use lightlag_lab::judged;
use lightlag_protocols::dtn::{
    Bundle, BundleId, NodeId, NodePolicy, Parameters, Propagation, Radio, mechanisms, routers,
};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::contacts::{Channel, Contact, Contacts, Course, Delay};
use lightlag_worlds::messages::{Node, Rules, Setup, run};
use std::collections::BTreeMap;
use std::sync::Arc;

const NODES: u64 = 8;
const UNTIL_S: f64 = 2_000.0;
const TICK: Duration = Duration::from_nanos(100_000_000);

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

/// Random contacts of up to a minute, on whole ticks.
fn meetings(delay_s: f64) -> Contacts {
    let mut random = Stream::new(1, "contacts", 0);
    let mut list: Vec<Contact> = (0..300)
        .map(|_| {
            let a = random.below(NODES);
            let b = (a + 1 + random.below(NODES - 1)) % NODES;
            let start = at(random.uniform(0.0, UNTIL_S)).round_up(TICK);
            let end = start + TICK * (1 + random.below(600) as i64);
            Contact { a: NodeId(a as u32), b: NodeId(b as u32), start, end, forward: 0, backward: 0 }
        })
        .collect();
    list.sort_by_key(|contact| (contact.start, contact.a, contact.b));
    let delay = Delay::Constant(Duration::from_secs_f64(delay_s));
    Contacts { list, channels: vec![Channel::steady(BitRate(2_500_000), delay)] }
}

/// Two hundred bundles that live for ten minutes.
fn traffic() -> Vec<Bundle> {
    let mut random = Stream::new(1, "traffic", 0);
    let one = |id: u32| {
        let source = random.below(NODES);
        let destination = (source + 1 + random.below(NODES - 1)) % NODES;
        let created = at(f64::from(id) * 9.0);
        Bundle {
            id: BundleId(id),
            source: NodeId(source as u32),
            destination: NodeId(destination as u32),
            size: Bytes(50_000 + random.below(50_000)),
            created,
            expires: created + Duration::from_secs(600),
        }
    };
    (0..200).map(one).collect()
}

fn setup(router: &str, mechanism: &str, rules: &Rules, policy: NodePolicy, delay_s: f64) -> Setup {
    let router = routers::TABLE.iter().find(|entry| entry.name == router).expect("a router");
    let mechanism = mechanisms::TABLE.iter().find(|entry| entry.name == mechanism).expect("a mechanism");
    let own =
        |name, declared| Parameters::resolve(name, declared, &BTreeMap::new()).expect("defaults are valid");
    let for_router = own(router.name, router.parameters);
    let for_mechanism = own(mechanism.name, mechanism.parameters);
    let node = Node {
        buffer: Bytes(500_000),
        router: Arc::new(move |context| router.built(&for_router, context)),
        mechanism: Arc::new(move |context| mechanism.built(&for_mechanism, context)),
        policy,
    };
    let contacts = meetings(delay_s);
    Setup {
        nodes: vec![node; NODES as usize],
        plan: Arc::new(contacts.plan()),
        revisions: Arc::default(),
        contacts: Arc::new(contacts),
        bundles: Arc::new(traffic()),
        replies: Arc::default(),
        until: at(UNTIL_S),
        seed: 1,
        rules: Rules { sample_every: Some(Duration::from_secs(10)), ..rules.clone() },
    }
}

fn judge_run(setup: &Setup) -> Judge {
    let mut judge = Judge::new(judged::bundles(setup));
    run(setup, &mut judge);
    judge.close();
    judge
}

fn expect_clean(what: &str, setup: &Setup) {
    let judge = judge_run(setup);
    let lines: Vec<String> = judge.findings().kept().iter().take(20).map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{what}:\n{}", lines.join("\n"));
}

fn expect_all_clean(rules: &Rules, policy: NodePolicy, delay_s: f64) {
    for router in routers::TABLE {
        for mechanism in mechanisms::TABLE {
            let what = format!("{} with {}", router.name, mechanism.name);
            expect_clean(&what, &setup(router.name, mechanism.name, rules, policy, delay_s));
        }
    }
}

#[test]
fn runs_under_the_rules_of_the_one_are_clean() {
    let rules = Rules { tick: Some(TICK), purge_every: Some(Duration::from_secs(60)), ..Rules::default() };
    expect_all_clean(&rules, NodePolicy { overfill: true, ..NodePolicy::default() }, 0.0);
}

#[test]
fn runs_on_exact_time_are_clean() {
    expect_all_clean(&Rules::default(), NodePolicy::default(), 0.0);
}

#[test]
fn runs_over_light_seconds_are_clean_whatever_the_radio() {
    let policy = NodePolicy { receipts: true, drop_memory: true, ..NodePolicy::default() };
    for radio in [Radio::Link, Radio::Direction] {
        expect_all_clean(&Rules { radio, ..Rules::default() }, policy, 3.0);
    }
}

#[test]
fn runs_with_stop_and_wait_are_clean() {
    let rules = Rules { propagation: Propagation::StopAndWait, ..Rules::default() };
    expect_all_clean(&rules, NodePolicy { deliver_past_buffer: true, ..NodePolicy::default() }, 1.0);
}

/// Half of the contacts have a rate that changes at random, the other half is subject to interference.
fn with_courses(mut setup: Setup) -> Setup {
    let mut random = Stream::new(7, "courses", 0);
    let mut contacts = Contacts::clone(&setup.contacts);
    for contact in &mut contacts.list {
        let delay = contacts.channels[0].delay.clone();
        let mut row = |at: i64| {
            let shift = Duration::from_nanos(random.below(1_000_000_000) as i64);
            (contact.start + Duration::from_secs(at * 2) + shift, BitRate(random.below(3) * 1_250_000))
        };
        let rows: Vec<(Instant, BitRate)> = (0..30).map(&mut row).collect();
        let course = if random.below(2) == 0 { Course::Table(rows.into()) } else { Course::Interference };
        contact.forward = contacts.channels.len() as u32;
        contact.backward = contact.forward;
        contacts.channels.push(Channel { rate: BitRate(2_500_000), course, delay });
    }
    setup.contacts = Arc::new(contacts);
    setup
}

#[test]
fn runs_over_links_whose_rate_varies_are_clean() {
    let purge_every = Some(Duration::from_secs(60));
    let overfill = NodePolicy { overfill: true, ..NodePolicy::default() };
    let stop_and_wait = Rules { propagation: Propagation::StopAndWait, ..Rules::default() };
    let terms = [
        (Rules { tick: Some(TICK), purge_every, ..Rules::default() }, overfill, 0.0),
        (Rules { radio: Radio::Link, ..Rules::default() }, NodePolicy::default(), 0.0),
        (Rules { radio: Radio::Direction, ..Rules::default() }, NodePolicy::default(), 2.0),
        (stop_and_wait, NodePolicy::default(), 1.0),
    ];
    for (rules, policy, delay_s) in &terms {
        for router in routers::TABLE {
            let setup = with_courses(setup(router.name, "none", rules, *policy, *delay_s));
            expect_clean(router.name, &setup);
        }
    }
}

#[test]
fn a_run_has_a_violation_when_it_is_judged_by_stricter_rules() {
    let real = setup("epidemic", "none", &Rules::default(), NodePolicy::default(), 0.0);
    let mut judge = Judge::new(JudgeRules { until: at(1_000.0), ..judged::bundles(&real) });
    run(&real, &mut judge);
    assert!(judge.findings().count(Kind::AfterEnd) > 0);
}
