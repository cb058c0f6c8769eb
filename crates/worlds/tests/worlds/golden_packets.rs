//! Whole runs of packets as text tables under version control: a change of behaviour is a visible diff.
//!
//! `UPDATE_GOLDEN=1 cargo test -p lightlag-worlds --test worlds golden_packets` rewrites them.

use crate::common::golden;
use lightlag_protocols::controllers::{self, Entry, Factory};
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::parameter::Value;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::{dccp, ltp, tcp, udpdtn};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::packets::{FlowSpec, Setup, Source, Span, Transport, run};
use std::collections::BTreeMap;
use std::fmt::Write;

const fn ms(n: i64) -> Duration {
    Duration::from_nanos(n * 1_000_000)
}

/// Flows of controllers that work with any transport are carried by TCP or by this.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Usual,
    Ltp,
}

fn transport(entry: &'static Entry, over: Over) -> Transport {
    let controller = Factory::resolve(entry.algorithm.name, &BTreeMap::new()).unwrap();
    if over == Over::Ltp {
        let config = ltp::Config { light: Some(ms(1000)), ..ltp::Config::new(1, 2, Bytes(1500)) };
        return Transport::Ltp { config, controller, block: Bytes(200_000) };
    }
    if entry.algorithm.only_with.contains(&"udpdtn") {
        return Transport::Udpdtn { config: udpdtn::Config::new(Bytes(1500)), controller };
    }
    let timers = tcp::Timers { first: ms(3000), margin: ms(200), least: ms(200), most: Duration::MAX };
    if entry.algorithm.only_with.contains(&"dccp") {
        let ccid = dccp::Ccid::of(entry.algorithm.name);
        let config = dccp::Config::new(Bytes(1500), dccp::IP_HEADER, ccid, timers);
        return Transport::Dccp { config, controller };
    }
    let config = tcp::Config::new(Bytes(1460), entry.needs.recovery, timers);
    Transport::Tcp { config, controller }
}

fn link(rate: Rate, delay: Delay, loss: Loss, queue: Discipline) -> LinkSpec {
    LinkSpec { rate, delay, loss, queue, reorder: None, duplicate: 0.0, jitter: Duration::ZERO }
}

/// Two flows of a controller over an access link and one that decides, and back.
fn setup(entry: &'static Entry, middle: &LinkSpec, (source, over): (Source, Over)) -> Setup {
    let quick = |delay_ms| {
        let (rate, delay) = (Rate::Constant(BitRate(10_000_000)), Delay::Constant(ms(delay_ms)));
        link(rate, delay, Loss::NONE, Discipline::drop_tail(Limit::Packets(1_000)))
    };
    let back = LinkSpec { queue: Discipline::drop_tail(Limit::Packets(1_000)), ..middle.clone() };
    let planned = entry.algorithm.only_with.contains(&"udpdtn") || over == Over::Ltp;
    let flow = |start: i64| FlowSpec {
        forward: vec![0, 1],
        backward: vec![2, 3],
        start: Instant::from_secs(start),
        stop: None,
        source,
        transport: transport(entry, over),
        planned_rate: planned.then_some(Rate::Constant(BitRate(1_000_000))),
        planned_round_trip: planned.then(|| middle.delay.least() * 2),
    };
    Setup {
        links: vec![quick(5), middle.clone(), back, quick(5)],
        flows: vec![flow(0), flow(10)],
        until: Instant::from_secs(600),
        until_complete: true,
        until_delivered: None,
        until_sent: None,
        seed: 7,
        sample_every: None,
    }
}

/// A row of each flow of each controller.
fn table(middle: &LinkSpec, source: Source, over: Over) -> String {
    let mut text = format!(
        "{:13} {:>4} {:>9} {:>11} {:>6} {:>8} {:>8} {:>8} {:>7} {:>5}\n",
        "controller",
        "flow",
        "delivered",
        "end_s",
        "sent",
        "repairs",
        "timeouts",
        "episodes",
        "dropped",
        "lost"
    );
    let is_file = matches!(source, Source::File(_));
    let fits = |entry: &&Entry| {
        let only = entry.algorithm.only_with;
        only.is_empty() || (is_file && (over == Over::Usual || only.contains(&"ltp")))
    };
    for entry in controllers::TABLE.iter().filter(fits) {
        let outcome = run(&setup(entry, middle, (source, over)), &mut ());
        for (index, flow) in outcome.flows.iter().enumerate() {
            let (dropped, lost) = (outcome.links[1].dropped, outcome.links[1].lost);
            writeln!(
                text,
                "{:13} {index:>4} {:>9} {:>11.6} {:>6} {:>8} {:>8} {:>8} {dropped:>7} {lost:>5}",
                entry.algorithm.name,
                flow.delivered.0,
                flow.end.as_secs_f64(),
                flow.sent,
                flow.repairs,
                flow.timeouts,
                flow.episodes,
            )
            .unwrap();
        }
    }
    text
}

const FILE: Source = Source::File(Bytes(3_000_000));

#[test]
fn two_flows_over_a_lossy_second_of_light_stay_as_they_were() {
    let queue = Discipline::drop_tail(Limit::Packets(60));
    let (rate, delay) = (Rate::Constant(BitRate(1_000_000)), Delay::Constant(ms(500)));
    golden::check(
        "packets_lossy.txt",
        &table(&link(rate, delay, Loss::uniform(0.002), queue), FILE, Over::Usual),
    );
}

#[test]
fn two_flows_over_contacts_and_a_growing_distance_stay_as_they_were() {
    let s = Instant::from_secs;
    let windows: Vec<_> = (0..20).map(|n| (s(40 * n), s(40 * n + 30), BitRate(1_000_000))).collect();
    let delay = Delay::Curve(vec![(s(0), ms(200)), (s(300), ms(1_200))]);
    let queue = Discipline::named(
        "codel",
        Limit::Packets(200),
        &[("target", Value::Number(0.05)), ("interval", Value::Number(1.0))],
    )
    .unwrap();
    golden::check(
        "packets_contacts.txt",
        &table(&link(Rate::within(&windows), delay, Loss::NONE, queue), FILE, Over::Usual),
    );
}

#[test]
fn two_sources_that_are_on_and_off_stay_as_they_were() {
    let queue = Discipline::drop_tail(Limit::Packets(20));
    let (rate, delay) = (Rate::Constant(BitRate(1_000_000)), Delay::Constant(ms(50)));
    let on = Span::Exponential(Duration::from_secs(5));
    let source = Source::OnOff { on, off: Span::Fixed(Duration::from_secs(3)), rate: BitRate(900_000) };
    golden::check("packets_on_off.txt", &table(&link(rate, delay, Loss::NONE, queue), source, Over::Usual));
}

#[test]
fn two_flows_of_ltp_over_a_lossy_second_of_light_stay_as_they_were() {
    let queue = Discipline::drop_tail(Limit::Packets(60));
    let (rate, delay) = (Rate::Constant(BitRate(1_000_000)), Delay::Constant(ms(500)));
    let middle = link(rate, delay, Loss::uniform(0.002), queue);
    golden::check("packets_ltp.txt", &table(&middle, FILE, Over::Ltp));
}
