//! The judge of names finds what is planted, and nothing in real runs.

mod planted;
mod real_runs;

use crate::judged::random::{at, link, ms};
use lightlag_judge::names::*;
use lightlag_lab::judged;
use lightlag_protocols::controllers::{self, Factory};
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::ndn::StampedAt;
use lightlag_protocols::ndn::{Clock, Config, ForwarderConfig, Names, Prefix, Producer, Requests};
use lightlag_protocols::record::names::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::names::{ConsumerSpec, LinkEnds, NodeSpec, ProducerSpec, Setup, run};
use std::collections::BTreeMap;

type Story = Vec<(Instant, Event)>;

#[derive(Default)]
struct Recorder(Story);

impl Observer for Recorder {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.0.extend(Event::of(record).map(|event| (now, event)));
    }
}

fn controlled(name: &str) -> Factory {
    Factory::resolve(name, &BTreeMap::new()).expect("it exists")
}

fn consumer(node: u32, controller: &str, requests: Requests, seed: u64) -> ConsumerSpec {
    ConsumerSpec {
        node,
        start: Instant::ZERO,
        stop: None,
        stop_after: None,
        requests,
        interest: Bytes(40),
        config: Config { seed: seed << 32, ..Config::new(Bytes(1000), Bytes(1050)) },
        controller: controlled(controller),
    }
}

fn producer(object: u64) -> Producer {
    Producer { object, segment: 1000, overhead: 50, freshness_ms: 500, site: None }
}

fn ends(from: u32, to: u32, back: u32, spec: LinkSpec) -> LinkEnds {
    LinkEnds { from, to, back, spec }
}

fn node(routes: Vec<(Prefix, u32, u32)>) -> NodeSpec {
    NodeSpec { forwarder: ForwarderConfig::default(), clock: Clock::default(), strips_stamps: false, routes }
}

fn story(setup: &Setup) -> Story {
    let mut recorder = Recorder::default();
    let outcome = run(setup, &mut recorder);
    recorder.0.push((outcome.ended, Event::End));
    recorder.0
}

fn judge(rules: NamesRules, story: &Story) -> NamesJudge {
    let mut judge = NamesJudge::new(rules);
    story.iter().for_each(|(now, event)| judge.on_event(*now, event));
    judge.close();
    judge
}

fn lines(judge: &NamesJudge) -> String {
    judge.findings().kept().iter().take(10).map(|violation| format!("{violation}\n")).collect()
}
