//! Every kind of violation is found where it is planted.

use super::*;
use lightlag_judge::trace::NameRow;
use lightlag_judge::trace::{Names as TraceNames, TraceRow, TraceWriter, read};
use lightlag_protocols::link::DropCause;
use lightlag_protocols::ndn::Refused;
use lightlag_protocols::parameter::Value;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A chain of four nodes: two consumers of the same at its head, one beside the producer at its end; a
/// store in the second node; losses, a short queue, and one that marks.
pub(super) fn plain() -> Setup {
    let mut names = Names::default();
    let root = names.intern_text("/data");
    let object = names.intern_text("/data/film");
    let mut specs = [link(8_000_000, 5, 60), link(8_000_000, 5, 60), link(4_000_000, 20, 60)]
        .into_iter()
        .flat_map(|there| [there.clone(), there])
        .collect::<Vec<_>>();
    specs[1].loss = Loss::uniform(0.02);
    specs[3].rate = Rate::Constant(BitRate(1_000_000));
    specs[3].queue = Discipline::drop_tail(Limit::Packets(8));
    let limit = Limit::Packets(50);
    specs[5].rate = Rate::Constant(BitRate(1_100_000));
    specs[5].queue = Discipline::named(
        "codel",
        limit,
        &[("target", Value::Number(0.005)), ("interval", Value::Number(0.05)), ("mark", Value::Flag(true))],
    )
    .expect("in range");
    let links = specs.into_iter().zip(0_u32..).map(|(spec, index)| {
        let (hop, back) = (index / 2, index ^ 1);
        if index % 2 == 0 { ends(hop, hop + 1, back, spec) } else { ends(hop + 1, hop, back, spec) }
    });
    let mut nodes: Vec<NodeSpec> =
        (0..4).map(|at| node(if at < 3 { vec![(root, 2 * at, 1)] } else { vec![] })).collect();
    nodes[1].forwarder.store = Bytes(30_000);
    nodes[3].clock = Clock { offset: ms(700), skew: 1e-5 };
    let requests = || Requests::object(object, Some(400));
    let mut consumers = vec![consumer(0, "sack", requests(), 1), consumer(0, "cubic", requests(), 2)];
    consumers.push(consumer(3, "sack", requests(), 3));
    consumers[1].start = at(30);
    Setup {
        nodes,
        links: links.collect(),
        producers: vec![ProducerSpec { node: 3, prefix: root, producer: producer(400_000) }],
        consumers,
        names,
        until: Instant::from_secs(3_000),
        until_complete: true,
        measure_from: Instant::ZERO,
        stamped_at: StampedAt::Wire,
        seed: 7,
        sample_every: None,
    }
}

/// Interests that go in a circle of three nodes.
fn circle() -> Setup {
    let mut setup = plain();
    let root = setup.producers[0].prefix;
    setup.links.truncate(4);
    setup.links.push(ends(2, 0, 5, link(8_000_000, 5, 60)));
    setup.links.push(ends(0, 2, 4, link(8_000_000, 5, 60)));
    setup.nodes[2].routes = vec![(root, 4, 1)];
    setup.nodes[1].forwarder.store = Bytes(0);
    setup.consumers.truncate(1);
    setup.until = Instant::from_secs(5);
    setup
}

fn find(story: &Story, wanted: impl Fn(&Event) -> bool) -> usize {
    find_pair(story, |event, _| wanted(event))
}

/// Well inside of the run, not at its very start: an event, and the one after it.
fn find_pair(story: &Story, wanted: impl Fn(&Event, &Event) -> bool) -> usize {
    let is_it = |at: &usize| wanted(&story[*at].1, &story[*at + 1].1);
    let all: Vec<usize> = (0..story.len() - 1).filter(is_it).collect();
    all[all.len() / 2]
}

fn is_data(event: &Event, on: u32) -> bool {
    matches!(event, Event::Offered(link, Carried::Data(..)) if *link == on)
}

fn comes(event: &Event, on: u32) -> bool {
    matches!(event, Event::Arrived(link, Carried::Data(..)) if *link == on)
}

fn data(event: &mut Event) -> &mut lightlag_protocols::ndn::Data {
    match event {
        Event::Offered(_, Carried::Data(data, _)) | Event::Arrived(_, Carried::Data(data, _)) => data,
        other => panic!("no Data: {other:?}"),
    }
}

/// What is done to a sound story or to the rules that it kept.
type Plant = fn(&mut Story, &mut NamesRules);

const OF_RECORDS: &[(Kind, Plant)] = &[
    (Kind::TimeBackwards, |story, _| {
        let at = find(story, |event| comes(event, 1));
        story[at].0 = Instant::ZERO;
    }),
    (Kind::AfterEnd, |story, _| story.push((Instant::from_secs(2_900), story[0].1))),
    (Kind::EndMissing, |story, _| story.truncate(story.len() - 1)),
    (Kind::Unknown, |story, _| {
        let at = find(story, |event| comes(event, 1));
        if let Event::Arrived(link, _) = &mut story[at].1 {
            *link = 99;
        }
    }),
];

const OF_INTERESTS: &[(Kind, Plant)] = &[
    (Kind::AskedOutOfTime, |_, rules| rules.consumers[0].start = at(500)),
    (Kind::InterestForged, |story, _| {
        let at = find_pair(story, |event, next| {
            matches!((event, next), (Event::Asked(0, _), Event::Offered(0, _)))
        });
        story.remove(at);
    }),
    (Kind::InterestChanged, |story, _| {
        let at = find(story, |event| matches!(event, Event::Offered(2, _)));
        if let Event::Offered(_, Carried::Interest(interest, _)) = &mut story[at].1 {
            interest.hop_limit += 1;
        }
    }),
    (Kind::WrongRoute, |_, rules| rules.nodes[0].routes.clear()),
    (Kind::NotAggregated, |story, _| {
        let at = find_pair(story, |event, next| {
            matches!(event, Event::Asked(1, _)) && !matches!(next, Event::Offered(..) | Event::Refused(..))
        });
        if let (now, Event::Asked(_, mut interest)) = story[at] {
            interest.hop_limit -= 1;
            story.insert(at + 1, (now, Event::Offered(0, Carried::Interest(interest, 40))));
        }
    }),
    (Kind::StorePassedOver, |_, rules| rules.nodes[2].forwarder.store = Bytes(1_000_000)),
    (Kind::Swallowed, |story, _| {
        let at = find(story, |event| matches!(event, Event::Offered(0, _)));
        story.remove(at);
    }),
    (Kind::TooManyPending, |_, rules| rules.nodes[0].forwarder.pending_max = 2),
    (Kind::RefusedWrongly, |story, _| {
        let at = find(story, |event| matches!(event, Event::Offered(2, _)));
        if let Event::Offered(_, Carried::Interest(interest, _)) = story[at].1 {
            story[at].1 = Event::Refused(1, 1, interest.name, Refused::NoRoute);
        }
    }),
];

const OF_DATA: &[(Kind, Plant)] = &[
    (Kind::Unsupplied, |_, rules| rules.producers[0].2.object = 200_000),
    (Kind::NotStored, |_, rules| rules.nodes[1].forwarder.store = Bytes(0)),
    (Kind::DataForged, |story, _| {
        let at = find_pair(story, |event, next| comes(event, 3) && is_data(next, 1));
        story.remove(at);
    }),
    (Kind::DataUnasked, |story, _| {
        let at = find(story, |event| is_data(event, 1));
        let copy = story[at];
        story.insert(at, copy);
    }),
    (Kind::DataChanged, |story, _| {
        let at = find(story, |event| is_data(event, 1));
        data(&mut story[at].1).print ^= 1;
    }),
    (Kind::MarkRemoved, |story, _| {
        let at = find(story, |event| {
            is_data(event, 3) && matches!(event, Event::Offered(_, Carried::Data(data, _)) if data.marked)
        });
        data(&mut story[at].1).marked = false;
    }),
    (Kind::MarkForged, |story, _| {
        let at = find(story, |event| {
            is_data(event, 3) && matches!(event, Event::Offered(_, Carried::Data(data, _)) if !data.marked)
        });
        data(&mut story[at].1).marked = true;
    }),
    (Kind::WrongStamp, |story, _| {
        let at = find(story, |event| comes(event, 5));
        let data = data(&mut story[at].1);
        data.stamp = data.stamp.map(|stamp| stamp + 100);
    }),
    (Kind::NotForwarded, |story, _| {
        let at = find(story, |event| is_data(event, 1));
        story.remove(at);
    }),
    (Kind::DeliveredUnasked, |story, _| {
        let at = find(story, |event| matches!(event, Event::Delivered(0, _)));
        let copy = story[at];
        story.insert(at, copy);
    }),
    (Kind::DeliveredUnarrived, |story, _| {
        let at = find_pair(story, |event, next| comes(event, 1) && matches!(next, Event::Delivered(..)));
        story.remove(at);
    }),
    (Kind::NeverDelivered, |story, _| {
        let at = find_pair(story, |event, next| comes(event, 1) && matches!(next, Event::Delivered(0, _)));
        story.remove(at + 1);
    }),
];

const OF_LINKS: &[(Kind, Plant)] = &[
    (Kind::OutOfThinAir, |story, _| {
        let at = find(story, |event| comes(event, 1));
        let copy = story[at];
        story.insert(at, copy);
    }),
    (Kind::FasterThanLight, |_, rules| rules.links[5].spec.delay = Delay::Constant(ms(21))),
    (Kind::OverRate, |_, rules| rules.links[3].spec.rate = Rate::Constant(BitRate(990_000))),
    (Kind::NeverArrived, |story, _| {
        let at = find(story, |event| comes(event, 3));
        story.remove(at);
    }),
    (Kind::Overfull, |_, rules| rules.links[3].spec.queue = Discipline::drop_tail(Limit::Packets(7))),
    (Kind::NothingToDrop, |story, _| {
        let at = find(story, |event| matches!(event, Event::Dropped(..)));
        let copy = story[at];
        story.insert(at, copy);
    }),
    (Kind::WrongVictim, |story, _| {
        let full = |event: &Event| matches!(event, Event::Dropped(3, _, DropCause::Full));
        let at = find(story, full);
        let before = story[..at - 1].iter().rev();
        let mut waiting = before.filter(|row| is_data(&row.1, 3)).map(|row| row.1);
        if let (Some(Event::Offered(_, other)), Event::Dropped(_, carried, _)) =
            (waiting.next(), &mut story[at].1)
        {
            *carried = other;
        }
    }),
    (Kind::DroppedEarly, |_, rules| rules.links[3].spec.queue = Discipline::drop_tail(Limit::Packets(9))),
    (Kind::DroppedWithoutCause, |_, rules| rules.links[1].spec.loss = Loss::NONE),
];

#[test]
fn every_kind_of_violation_is_found_where_it_is_planted() {
    let setup = plain();
    let sound = story(&setup);
    let clean = judge(judged::names(&setup), &sound);
    assert_eq!(clean.findings().total(), 0, "{}", lines(&clean));
    // What carries names has no priorities; what goes in a circle has a test of its own.
    let mut planted = BTreeSet::from([Kind::Overtaken, Kind::Looped]);
    for &(kind, plant) in [OF_RECORDS, OF_INTERESTS, OF_DATA, OF_LINKS].into_iter().flatten() {
        let (mut told, mut rules) = (sound.clone(), judged::names(&setup));
        plant(&mut told, &mut rules);
        let judge = judge(rules, &told);
        assert!(judge.findings().count(kind) > 0, "{kind} was planted, found:\n{}", lines(&judge));
        planted.insert(kind);
    }
    assert_eq!(planted, Kind::ALL.iter().copied().collect());
}

#[test]
fn an_interest_that_goes_in_a_circle_is_found() {
    let setup = circle();
    let (mut told, rules) = (story(&setup), judged::names(&setup));
    let clean = judge(rules.clone(), &told);
    assert_eq!(clean.findings().total(), 0, "{}", lines(&clean));
    let at = find(&told, |event| matches!(event, Event::Refused(0, _, _, Refused::Loop)));
    if let Event::Arrived(_, Carried::Interest(mut interest, size)) = told[at - 1].1 {
        interest.hop_limit -= 1;
        told[at].1 = Event::Offered(0, Carried::Interest(interest, size));
    }
    let judge = judge(rules, &told);
    assert!(judge.findings().count(Kind::Looped) > 0, "{}", lines(&judge));
}

#[test]
fn an_interest_goes_in_no_circle_that_takes_longer_than_its_lifetime() {
    let mut setup = circle();
    setup.links.iter_mut().for_each(|link| link.spec.delay = Delay::Constant(ms(700)));
    setup.consumers[0].config.lifetime = ms(100);
    setup.until = Instant::from_secs(30);
    let told = story(&setup);
    assert!(told.iter().any(|row| matches!(row.1, Event::Refused(0, _, _, Refused::Loop))));
    let judge = judge(judged::names(&setup), &told);
    assert_eq!(judge.findings().total(), 0, "{}", lines(&judge));
}

/// Something that a damaged trace may hold.
fn damage(story: &mut Story, what: u8, at: usize, number: u64) {
    let at = at % story.len();
    let other = number as usize % story.len();
    match what {
        0 => drop(story.remove(at)),
        1 => story.insert(at, story[other]),
        2 => story[at].0 = Instant::from_nanos(number as i64),
        3 => match &mut story[at].1 {
            Event::Offered(place, _) | Event::Arrived(place, _) | Event::Dropped(place, ..) => {
                *place = number as u32 % 8;
            }
            Event::Asked(place, _) | Event::Delivered(place, _) | Event::Produced(place, _) => {
                *place = number as u32 % 4;
            }
            Event::Refused(_, face, ..) => *face = number as u32,
            Event::Hit(node, _) => *node = number as u32 % 5,
            Event::End => {}
        },
        _ => match &mut story[at].1 {
            Event::Offered(_, carried) | Event::Arrived(_, carried) => alter(carried, number),
            Event::Asked(_, interest) => interest.lifetime_ms = number as u32,
            Event::Produced(_, data) => data.size = number as u32,
            Event::Refused(_, _, name, _) => name.prefix = Prefix(number as u32),
            _ => {}
        },
    }
}

fn alter(carried: &mut Carried, number: u64) {
    match carried {
        Carried::Interest(interest, size) => {
            interest.name.prefix = Prefix(number as u32);
            (interest.hop_limit, *size) = (number as u8, number as u32);
        }
        Carried::Data(data, due) => {
            (data.size, data.stamp) = (number as u32, Some(number as u32));
            *due = Some(Duration::from_nanos(number as i64));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_trace_makes_the_judge_panic(
        harm in proptest::collection::vec((0_u8..5, any::<usize>(), any::<u64>()), 1..40),
    ) {
        static SOUND: std::sync::OnceLock<Story> = std::sync::OnceLock::new();
        let mut told = SOUND.get_or_init(|| story(&plain())).clone();
        harm.iter().for_each(|&(what, at, number)| damage(&mut told, what, at, number));
        judge(judged::names(&plain()), &told);
    }
}

#[test]
fn a_trace_in_a_file_is_judged_like_the_run() {
    let setup = plain();
    let events = story(&setup);
    let file = tempfile::NamedTempFile::new().unwrap();
    let written = |mut trace: TraceWriter<NameRow, Vec<u8>>| {
        let ended = run(&setup, &mut trace).ended;
        trace.put(ended, &Event::End);
        std::fs::write(&file, trace.finish().unwrap()).unwrap();
        read::<NameRow>(file.path()).unwrap().collect::<Result<Story, _>>().unwrap()
    };
    let back = written(TraceWriter::parquet(Vec::new(), TraceNames::default()).unwrap());
    assert_eq!(back, events);
    assert_eq!(written(TraceWriter::json_lines(Vec::new(), TraceNames::default())), events);
    let mut rules = judged::names(&setup);
    rules.links[1].spec.loss = Loss::NONE;
    assert_eq!(judge(rules.clone(), &back).findings().kept(), judge(rules, &events).findings().kept());
}

#[test]
fn a_damaged_row_is_told_in_one_line() {
    let told = |line: &str| serde_json::from_str::<NameRow>(line).unwrap().event().unwrap_err();
    assert_eq!(told(r#"{"time_ns":1,"kind":"dance"}"#), "unknown kind `dance`");
    assert_eq!(told(r#"{"time_ns":1,"kind":"asked","consumer":1}"#), "`asked` without `hop_limit`");
    let row = r#"{"time_ns":1,"kind":"refused","node":0,"face":1,"prefix":1,"segment":0,"why":"spite"}"#;
    assert_eq!(told(row), "unknown reason `spite`");
}

#[test]
fn a_violation_tells_its_time_its_place_and_its_name_in_a_line() {
    let setup = plain();
    let mut rules = judged::names(&setup);
    rules.node_names = vec!["home".into(), "relay".into(), "ship".into(), "archive".into()];
    rules.nodes[0].routes.clear();
    let told = judge(rules, &story(&setup)).findings().kept()[0].to_string();
    assert_eq!(told, "0 s: wrong_route: node home: /data/film/seg=0 by face 0, not None");
}
