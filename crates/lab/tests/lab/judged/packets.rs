//! The judge of packets finds what is planted, and nothing in real runs.

use crate::judged::random::{at, limits, link, links, ms};
use lightlag_judge::packets::{Event, Kind, PacketJudge, PacketRules, What};
use lightlag_judge::trace::PacketRow;
use lightlag_judge::trace::{Names, TraceRow, TraceWriter, read};
use lightlag_lab::judged;
use lightlag_protocols::controllers::{self, Entry, Factory};
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, DropCause, LinkSpec, Loss, Rate};
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::{dccp, ltp, tcp, udpdtn};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::packets::{FlowSpec, Setup, Source, Transport, run};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn carried(entry: &'static Entry, over: &str) -> Transport {
    let controller = Factory::resolve(entry.algorithm.name, &BTreeMap::new()).expect("defaults are valid");
    match over {
        "udpdtn" => {
            return Transport::Udpdtn { config: udpdtn::Config::new(Bytes(1500)), controller };
        }
        "ltp" => {
            let config = ltp::Config { light: Some(ms(250)), ..ltp::Config::new(1, 2, Bytes(1500)) };
            return Transport::Ltp { config, controller, block: Bytes(100_000) };
        }
        _ => {}
    }
    let timers = tcp::Timers { first: ms(3000), margin: ms(200), least: ms(200), most: Duration::MAX };
    if over.ends_with("dccp") {
        let ccid = dccp::Ccid::of(entry.algorithm.name);
        let config = dccp::Config::new(Bytes(1500), dccp::IP_HEADER, ccid, timers);
        if over == "dccp" {
            return Transport::Dccp { config, controller };
        }
        let ltp = ltp::Config { light: Some(ms(250)), ..ltp::Config::new(1, 2, Bytes(1484)) };
        return Transport::LtpDccp { ltp, dccp: config, controller, block: Bytes(100_000) };
    }
    let config = tcp::Config::new(Bytes(1460), entry.needs.recovery, timers);
    Transport::Tcp { config, controller }
}

/// Flows over two hops in each direction, each with its name of a controller.
fn setup(links: Vec<LinkSpec>, flows: &[(&str, &str, u64)], seed: u64) -> Setup {
    let half = links.len() as u32 / 2;
    let flow = |(index, &(name, over, size)): (usize, &(&str, &str, u64))| FlowSpec {
        forward: (0..half).collect(),
        backward: (half..2 * half).collect(),
        start: at(700 * index as i64),
        stop: None,
        source: Source::File(Bytes(size)),
        transport: carried(controllers::find(name).expect("it exists"), over),
        planned_rate: matches!(over, "udpdtn" | "ltp").then_some(Rate::Constant(BitRate(800_000))),
        planned_round_trip: matches!(over, "udpdtn" | "ltp").then_some(ms(250)),
    };
    Setup {
        links,
        flows: flows.iter().enumerate().map(flow).collect(),
        until: Instant::from_secs(3_000),
        until_complete: true,
        until_delivered: None,
        until_sent: None,
        seed,
        sample_every: None,
    }
}

/// Two hops with a short queue and losses.
fn plain() -> Setup {
    let mut links = vec![link(2_000_000, 10, 50), link(1_000_000, 100, 8)];
    links.extend([link(1_000_000, 100, 50), link(2_000_000, 10, 50)]);
    links[1].loss = Loss::uniform(0.02);
    setup(links, &[("sack", "tcp", 300_000), ("cubic", "tcp", 300_000)], 7)
}

fn priority(limit: Limit) -> Discipline {
    Discipline::named("priority", limit, &[]).expect("in range")
}

/// As `plain`, with copies of low priority beside data on queues of a discipline.
fn probing(discipline: fn(Limit) -> Discipline) -> Setup {
    let mut links = plain().links;
    links.iter_mut().for_each(|link| link.queue = discipline(Limit::Packets(9)));
    setup(links, &[("tcp_planet", "tcp", 2_000_000), ("sack", "tcp", 300_000)], 7)
}

#[derive(Default)]
struct Recorder(Vec<(Instant, Event)>);

impl Observer for Recorder {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.0.extend(Event::of(record).map(|event| (now, event)));
    }
}

type Story = Vec<(Instant, Event)>;

fn story(setup: &Setup) -> Story {
    let mut recorder = Recorder::default();
    let outcome = run(setup, &mut recorder);
    recorder.0.push((outcome.ended, Event::End));
    recorder.0
}

fn judge(rules: PacketRules, story: &Story) -> PacketJudge {
    let mut judge = PacketJudge::new(rules);
    story.iter().for_each(|(now, event)| judge.on_event(*now, event));
    judge.close();
    judge
}

fn lines(judge: &PacketJudge) -> String {
    judge.findings().kept().iter().take(10).map(|violation| format!("{violation}\n")).collect()
}

fn find(story: &Story, wanted: impl Fn(&Event) -> bool) -> usize {
    // Well inside of the run, not at its very start.
    let all: Vec<usize> = (0..story.len()).filter(|&at| wanted(&story[at].1)).collect();
    all[all.len() / 2]
}

fn last_hop(event: &Event) -> bool {
    matches!(event, Event::Arrived(1, packet) if packet.what == What::Data)
}

/// What is done to a sound story or to the rules that it kept.
type Plant = fn(&mut Story, &mut PacketRules);

const PLANTS: &[(Kind, Plant)] = &[
    (Kind::TimeBackwards, |story, _| {
        let at = find(story, |event| matches!(event, Event::Arrived(..)));
        story[at].0 = Instant::ZERO;
    }),
    (Kind::AfterEnd, |story, _| story.push((Instant::from_secs(2_900), Event::Delivered(0, 300_001)))),
    (Kind::EndMissing, |story, _| story.truncate(story.len() - 1)),
    (Kind::Unknown, |story, _| {
        let at = find(story, last_hop);
        if let Event::Arrived(link, _) = &mut story[at].1 {
            *link = 99;
        }
    }),
    (Kind::WrongLink, |story, _| {
        let at = find(story, |event| matches!(event, Event::Offered(0, _)));
        if let Event::Offered(link, _) = &mut story[at].1 {
            *link = 1;
        }
    }),
    (Kind::WrongEnd, |story, _| {
        let at = find(story, |event| matches!(event, Event::Offered(0, _)));
        if let Event::Offered(link, packet) = &mut story[at].1 {
            (*link, packet.forward) = (2, false);
        }
    }),
    (Kind::SentEarly, |_, rules| rules.flows[0].start = at(100)),
    (Kind::Unsupplied, |_, rules| rules.flows[0].bytes = Some(299_999)),
    (Kind::Forged, |story, _| {
        let at = find(story, |event| matches!(event, Event::Arrived(0, _)));
        story.remove(at);
    }),
    (Kind::NotForwarded, |story, _| {
        let at = find(story, |event| matches!(event, Event::Offered(1, _)));
        story.remove(at);
    }),
    (Kind::OutOfThinAir, |story, _| {
        let at = find(story, last_hop);
        let copy = story[at].clone();
        story.insert(at, copy);
    }),
    (Kind::FasterThanLight, |_, rules| rules.links[1].delay = Delay::Constant(ms(101))),
    (Kind::OverRate, |_, rules| rules.links[1].rate = Rate::Constant(BitRate(990_000))),
    (Kind::Overtaken, |_, rules| rules.links[1].queue = priority(Limit::Packets(9))),
    (Kind::WrongVictim, |_, rules| rules.links[1].queue = priority(Limit::Packets(9))),
    (Kind::NeverArrived, |story, _| {
        let at = find(story, last_hop);
        story.remove(at);
    }),
    (Kind::Overfull, |_, rules| rules.links[1].queue = Discipline::drop_tail(Limit::Packets(7))),
    (Kind::NothingToDrop, |story, _| {
        let at = find(story, |event| matches!(event, Event::Dropped(..)));
        let copy = story[at].clone();
        story.insert(at, copy);
    }),
    (Kind::DroppedEarly, |_, rules| rules.links[1].queue = Discipline::drop_tail(Limit::Packets(9))),
    (Kind::DroppedWithoutCause, |_, rules| rules.links[1].loss = Loss::NONE),
    (Kind::AcknowledgedUnarrived, |story, _| {
        let at = find(story, |event| matches!(event, Event::Offered(2, _)));
        if let Event::Offered(_, packet) = &mut story[at].1 {
            packet.ack += 200_000;
        }
    }),
    (Kind::DeliveredUnarrived, |story, _| {
        let at = find(story, |event| matches!(event, Event::Delivered(..)));
        if let Event::Delivered(_, total) = &mut story[at].1 {
            *total += 1;
        }
    }),
    (Kind::DeliveredTwice, |story, _| {
        let at = find(story, |event| matches!(event, Event::Delivered(..)));
        let copy = story[at].clone();
        story.insert(at, copy);
    }),
    (Kind::NeverDelivered, |story, _| {
        let at = find(story, |event| matches!(event, Event::Delivered(..)));
        story.remove(at);
    }),
];

#[test]
fn every_kind_of_violation_is_found_where_it_is_planted() {
    let setups = [plain(), probing(Discipline::drop_tail)];
    let sound = setups.each_ref().map(story);
    for (setup, sound) in setups.iter().zip(&sound) {
        let clean = judge(judged::packets(setup), sound);
        assert_eq!(clean.findings().total(), 0, "{}", lines(&clean));
    }
    for &(kind, plant) in PLANTS {
        let which = usize::from([Kind::Overtaken, Kind::WrongVictim].contains(&kind));
        let (mut told, mut rules) = (sound[which].clone(), judged::packets(&setups[which]));
        plant(&mut told, &mut rules);
        let judge = judge(rules, &told);
        assert!(judge.findings().count(kind) > 0, "{kind} was planted, found:\n{}", lines(&judge));
    }
    let planted: BTreeSet<Kind> = PLANTS.iter().map(|plant| plant.0).collect();
    assert_eq!(planted, Kind::ALL.iter().copied().collect());
}

#[test]
fn a_violation_tells_its_time_its_place_and_its_numbers_in_a_line() {
    let setup = plain();
    let mut rules = judged::packets(&setup);
    rules.link_names = vec!["access".into(), "space".into(), "space.back".into(), "access.back".into()];
    rules.links[1].delay = Delay::Constant(ms(101));
    let told = judge(rules, &story(&setup)).findings().kept()[0].to_string();
    let expected =
        "0.11048 s: faster_than_light: link space: offered at 0.01016 s, cannot have left before 0.01048 s";
    assert_eq!(told, expected);
}

#[test]
fn a_priority_that_a_trace_does_not_keep_is_seen() {
    let setup = probing(priority);
    let (mut told, rules) = (story(&setup), judged::packets(&setup));
    assert_eq!(judge(rules.clone(), &told).findings().total(), 0);
    let dropped = find(
        &told,
        |event| matches!(event, Event::Dropped(1, packet, DropCause::Full) if packet.priority == 1),
    );
    assert!(
        told[..dropped].iter().any(|row| matches!(&row.1, Event::Arrived(1, packet) if packet.priority == 1))
    );
    for (_, event) in &mut told {
        if let Event::Offered(_, packet) | Event::Arrived(_, packet) | Event::Dropped(_, packet, _) = event {
            packet.priority = 0;
        }
    }
    let judge = judge(rules, &told);
    assert!(
        judge.findings().count(Kind::NeverArrived) > 0 && judge.findings().count(Kind::WrongVictim) > 0,
        "{}",
        lines(&judge)
    );
}

#[test]
fn a_trace_in_a_file_is_judged_like_the_run() {
    let setup = probing(priority);
    let events = story(&setup);
    let file = tempfile::NamedTempFile::new().unwrap();
    let written = |mut trace: TraceWriter<PacketRow, Vec<u8>>| {
        let ended = run(&setup, &mut trace).ended;
        trace.put(ended, &Event::End);
        std::fs::write(&file, trace.finish().unwrap()).unwrap();
        read::<PacketRow>(file.path()).unwrap().collect::<Result<Story, _>>().unwrap()
    };
    let back = written(TraceWriter::parquet(Vec::new(), Names::default()).unwrap());
    assert_eq!(back, events);
    assert_eq!(written(TraceWriter::json_lines(Vec::new(), Names::default())), events);
    let mut rules = judged::packets(&setup);
    rules.links[1].loss = Loss::NONE;
    assert_eq!(judge(rules.clone(), &back).findings().kept(), judge(rules, &events).findings().kept());
}

#[test]
fn a_damaged_row_is_told_in_one_line() {
    let told = |line: &str| serde_json::from_str::<PacketRow>(line).unwrap().event().unwrap_err();
    assert_eq!(told(r#"{"time_ns":1,"kind":"dance"}"#), "unknown kind `dance`");
    assert_eq!(told(r#"{"time_ns":1,"kind":"delivered","flow":1}"#), "`delivered` without `bytes`");
    let row = r#"{"time_ns":1,"kind":"arrived","link":0,"flow":0,"forward":true,"hop":70000,"priority":0,"what":"data","bytes":1}"#;
    assert_eq!(told(row), "`hop` 70000 is too large");
}

// --- real runs ---------------------------------------------------------------------------------------

fn fits<T: ?Sized, C>(algorithm: &lightlag_protocols::parameter::Entry<T, C>, transport: &str) -> bool {
    // The controller of LTP in DCCP is DCCP's.
    let controlled = if transport == "ltp-dccp" { "dccp" } else { transport };
    algorithm.only_with.is_empty() || algorithm.only_with.contains(&controlled)
}

const TRANSPORTS: [&str; 5] = ["tcp", "dccp", "udpdtn", "ltp", "ltp-dccp"];

fn flows() -> impl Strategy<Value = Vec<(&'static str, &'static str, u64)>> {
    let flow = (0..controllers::TABLE.len(), 0..TRANSPORTS.len(), 1_u64..150_000).prop_map(
        |(which, first, size)| {
            let algorithm = &controllers::TABLE[which].algorithm;
            let mut turned = (0..TRANSPORTS.len()).map(|step| TRANSPORTS[(first + step) % TRANSPORTS.len()]);
            (algorithm.name, turned.find(|transport| fits(algorithm, transport)).unwrap_or("tcp"), size)
        },
    );
    proptest::collection::vec(flow, 1..4)
}

fn nothing_is_found(setup: &Setup) -> Result<(), TestCaseError> {
    let mut judge = PacketJudge::new(judged::packets(setup));
    let ended = run(setup, &mut judge).ended;
    judge.end(ended);
    prop_assert_eq!(judge.findings().total(), 0, "{}", lines(&judge));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn nothing_is_found_in_a_real_run(
        there in proptest::collection::vec(links(), 3),
        back in proptest::collection::vec(links(), 3),
        hops in 1_usize..4,
        flows in flows(),
        seed in any::<u64>(),
    ) {
        let links = there.into_iter().take(hops).chain(back.into_iter().take(hops)).collect();
        let mut setup = setup(links, &flows, seed);
        setup.until = Instant::from_secs(120);
        nothing_is_found(&setup)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn nothing_is_found_where_priorities_are_mixed(
        there in proptest::collection::vec(links(), 2),
        back in proptest::collection::vec(links(), 2),
        most in limits(),
        beside in flows(),
        size in 1_u64..400_000,
        seed in any::<u64>(),
    ) {
        let mut links: Vec<LinkSpec> = there.into_iter().chain(back).collect();
        links.iter_mut().for_each(|link| link.queue = priority(most));
        let flows: Vec<_> = [("tcp_planet", "tcp", size)].into_iter().chain(beside).collect();
        let mut setup = setup(links, &flows, seed);
        setup.until = Instant::from_secs(120);
        nothing_is_found(&setup)?;
    }
}

#[test]
fn equal_packets_that_overtake_each_other_are_not_taken_for_others() {
    for seed in 1..4 {
        let mut links = vec![link(1_000_000, 0, 100), link(1_000_000, 0, 100)];
        for link in &mut links {
            (link.reorder, link.duplicate) = (Some((1.0, ms(1))), 0.5);
        }
        let flows = [("cubic", "tcp", 300_000), ("new_reno", "tcp", 300_000)];
        nothing_is_found(&setup(links, &flows, seed)).unwrap();
    }
    let mut links = vec![link(1_000_000, 50, 100), link(1_000_000, 50, 100)];
    // The opening that is sent again comes first.
    links[0].delay = Delay::Curve(vec![(at(0), ms(100_000)), (at(1_000), ms(0))]);
    nothing_is_found(&setup(links, &[("cubic", "tcp", 300_000)], 1)).unwrap();
}

#[test]
fn nothing_is_found_with_any_controller() {
    for entry in controllers::TABLE {
        for over in TRANSPORTS {
            let name = entry.algorithm.name;
            if !fits(&entry.algorithm, over) {
                continue;
            }
            let setup = setup(plain().links, &[(name, over, 400_000); 2], 3);
            let judge = judge(judged::packets(&setup), &story(&setup));
            assert_eq!(judge.findings().total(), 0, "{name} over {over}: {}", lines(&judge));
        }
    }
}
