//! The laws of the controllers that consumers of names use, as the consumer sees them.

use lightlag_protocols::controllers::{self, Ack, Cause, Controller, Flow, Loss};
use lightlag_protocols::parameter::{Parameters, Value};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use std::collections::BTreeMap;

const SEGMENT: u64 = 1024;

fn ms(n: f64) -> Duration {
    Duration::from_secs_f64(n / 1e3)
}

/// A consumer that always has as much in flight as the window lets.
struct Consumer {
    controller: Box<dyn Controller>,
    now: Instant,
    delivered: u64,
}

impl Consumer {
    fn new(name: &str, given: &[(&str, Value)]) -> Self {
        let entry = controllers::find(name).expect("it is in the table");
        let given: BTreeMap<String, Value> =
            given.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
        let parameters = Parameters::resolve(name, entry.algorithm.parameters, &given).expect("in range");
        let (segment, packet) = (Bytes(SEGMENT), Bytes(SEGMENT + 34));
        let flow = Flow::new(segment, packet).seeded(1, 0);
        Self { controller: entry.build(&parameters, flow), now: Instant::from_secs(1), delivered: 0 }
    }
    fn window(&self) -> f64 {
        self.controller.window().0 as f64 / SEGMENT as f64
    }
    /// A Data comes a millisecond after the last one.
    fn data(&mut self, rtt: f64, one_way: Option<f64>, site: u32) {
        self.now += ms(1.0);
        self.delivered += SEGMENT;
        self.controller.on_ack(&Ack {
            now: self.now,
            acked: Bytes(SEGMENT),
            rtt: Some(ms(rtt)),
            one_way: one_way.map(ms),
            responder: Some(site),
            in_flight: Bytes((self.window() as u64 - 1) * SEGMENT),
            delivered: Bytes(self.delivered),
            limited: true,
            ..Ack::default()
        });
    }
    fn datas(&mut self, count: u32, rtt: f64, one_way: f64) {
        for _ in 0..count {
            self.data(rtt, Some(one_way), 1);
        }
    }
    fn loss(&mut self, cause: Cause, episode: bool) {
        let in_flight = Bytes(self.window() as u64 * SEGMENT);
        self.controller.on_loss(&Loss {
            now: self.now,
            cause,
            lost: Bytes(SEGMENT),
            flight_size: in_flight,
            in_flight,
            episode,
            again: false,
        });
    }
}

fn word(name: &'static str, value: &str) -> (&'static str, Value) {
    (name, Value::from(value))
}

#[test]
fn dcp_grows_by_one_segment_per_round_trip_at_an_empty_queue_and_holds_at_the_target() {
    let mut consumer = Consumer::new("dcp", &[("initial_window", Value::from(20.0))]);
    consumer.datas(20, 60.0, 30.0);
    assert!((20.8..=21.0).contains(&consumer.window()), "{}", consumer.window());
    // The delay creeps up to the target, as a queue's does.
    for tenth in 0..=500 {
        consumer.data(110.0, Some(30.0 + f64::from(tenth) / 10.0), 1);
    }
    let before = consumer.window();
    consumer.datas(200, 110.0, 80.0);
    assert!((consumer.window() - before).abs() < 0.5);
}

#[test]
fn dcp_starts_from_one_segment_at_a_timeout_but_not_at_a_mark() {
    let mut consumer = Consumer::new("dcp", &[("initial_window", Value::from(20.0))]);
    consumer.loss(Cause::Mark, true);
    assert_eq!(consumer.window(), 20.0);
    consumer.loss(Cause::Gap, true);
    assert_eq!(consumer.window(), 1.0);
}

#[test]
fn dcp_does_not_grow_where_the_flight_is_counted_after_the_arrival() {
    let mut consumer = Consumer::new("dcp", &[word("flight", "after")]);
    consumer.datas(1000, 60.0, 30.0);
    assert_eq!(consumer.window(), 2.0);
}

#[test]
fn dcp_forgets_the_base_when_a_site_with_another_clock_answers() {
    for (rule, recovers) in [("mad_margin", true), ("mark", true), ("off", false)] {
        let given = [word("new_site", rule), ("initial_window", Value::from(20.0))];
        let mut consumer = Consumer::new("dcp", &given);
        consumer.datas(300, 60.0, 30.0);
        let before = consumer.window();
        for _ in 0..300 {
            consumer.data(60.0, Some(5030.0), 2);
        }
        assert_eq!(consumer.window() > before, recovers, "{rule}");
    }
}

#[test]
fn dcp_does_not_mind_where_stamps_begin_anew() {
    let wrap = f64::from(u32::MAX) / 1e3 / 2.0;
    let mut consumer = Consumer::new("dcp", &[("initial_window", Value::from(20.0))]);
    consumer.datas(100, 60.0, wrap - 1.0);
    let before = consumer.window();
    // One millisecond more than the greatest difference is the least.
    consumer.datas(100, 60.0, -wrap);
    assert!(consumer.window() > before);
}

#[test]
fn aimd_halves_once_per_round_trip_or_at_each_timeout() {
    for (reading, left) in [("once", 50.0), ("each", 12.5)] {
        let given = [word("timeouts", reading), ("initial_window", Value::from(100.0))];
        let mut consumer = Consumer::new("aimd", &given);
        consumer.loss(Cause::Gap, true);
        consumer.loss(Cause::Gap, false);
        consumer.loss(Cause::Timeout, false);
        assert_eq!(consumer.window(), left, "{reading}");
        consumer.datas(13, 60.0, 30.0);
        assert!(consumer.window() < left + 1.1, "one segment per round trip");
    }
}

#[test]
fn icp_waits_for_the_mean_of_the_least_and_the_greatest_round_trip() {
    let mut consumer = Consumer::new("icp", &[("timeout_min", Value::from(0.0))]);
    assert_eq!(consumer.controller.advice().timeout, None);
    consumer.data(60.0, None, 1);
    consumer.data(100.0, None, 1);
    assert_eq!(consumer.controller.advice().timeout, Some(ms(80.0)));
    let before = consumer.window();
    consumer.loss(Cause::Gap, true);
    let cut = consumer.window();
    assert!(cut <= before.max(1.0));
    consumer.loss(Cause::Gap, false);
    assert_eq!(consumer.window(), cut, "once per timer");
}

#[test]
fn contug_adds_the_windows_of_the_sites_that_answer() {
    let mut consumer = Consumer::new("contug", &[("initial_window", Value::from(4.0))]);
    consumer.data(60.0, None, 1);
    assert_eq!(consumer.window(), 5.0);
    consumer.data(90.0, None, 2);
    assert_eq!(consumer.window(), 10.0);
    assert_eq!(consumer.controller.advice().timeout, Some(ms(200.0)));
    for _ in 0..500 {
        consumer.data(60.0, None, 2);
    }
    let alone = consumer.window();
    consumer.loss(Cause::Gap, true);
    assert!((consumer.window() - alone / 2.0).abs() <= 1.0, "the first site has fallen silent");
}

#[test]
fn pcon_is_cut_by_marks_once_per_window() {
    for (law, left) in [("bic", 80.0), ("cubic", 80.0), ("aimd", 50.0)] {
        let given = [word("law", law), ("initial_window", Value::from(1.0))];
        let mut consumer = Consumer::new("pcon", &given);
        consumer.datas(99, 60.0, 30.0);
        assert_eq!(consumer.window(), 100.0);
        consumer.loss(Cause::Mark, true);
        assert!((consumer.window() - left).abs() < 1.0, "{law}");
        consumer.loss(Cause::Gap, true);
        assert!((consumer.window() - left).abs() < 1.0, "{law}: held for one and a half round trips");
        consumer.datas(5000, 60.0, 30.0);
        assert!(consumer.window() > 100.0, "{law}");
    }
}

#[test]
fn ledbat_plus_plus_leaves_slow_start_before_the_target_and_then_gives_its_queue_up() {
    let mut consumer = Consumer::new("ledbat_plus_plus", &[]);
    consumer.datas(200, 60.0, 0.0);
    let before = consumer.window();
    assert!(before > 90.0, "half a segment per Data, as the base is half of two targets: {before}");
    // Three quarters of 60 ms.
    consumer.datas(10, 106.0, 0.0);
    let held = consumer.window();
    consumer.datas(210, 106.0, 0.0);
    assert_eq!(consumer.window(), 2.0, "two round trips later");
    consumer.datas(1000, 60.0, 0.0);
    assert!(consumer.window() >= held - 1.0, "and back to {held}");
}

#[test]
fn short_queue_waits_twice_a_round_trip_and_no_less_than_200_ms_more() {
    let mut consumer = Consumer::new("short_queue", &[]);
    consumer.data(60.0, Some(30.0), 1);
    assert_eq!(consumer.controller.advice().timeout, Some(ms(260.0)));
    let mut far = Consumer::new("short_queue", &[]);
    far.data(500.0, Some(250.0), 1);
    assert_eq!(far.controller.advice().timeout, Some(ms(1000.0)));
}

#[test]
fn short_queue_leaves_its_start_when_a_queue_builds_and_shrinks_while_it_stands() {
    let mut consumer = Consumer::new("short_queue", &[]);
    consumer.datas(30, 60.0, 30.0);
    let before = consumer.window();
    assert_eq!(before, 40.0);
    consumer.datas(10, 90.0, 60.0);
    assert!(consumer.window() < before);
    let after = consumer.window();
    consumer.datas(80, 90.0, 60.0);
    assert!(consumer.window() < after);
}

#[test]
fn short_queue_takes_a_delay_that_does_not_answer_to_its_window_for_a_new_way() {
    let mut consumer = Consumer::new("short_queue", &[]);
    consumer.datas(30, 60.0, 30.0);
    consumer.datas(120, 90.0, 60.0);
    let yielded = consumer.window();
    consumer.datas(4000, 90.0, 60.0);
    assert!(consumer.window() > 2.0 * yielded, "{yielded}, then {}", consumer.window());
}

#[test]
fn short_queue_does_not_care_what_clocks_of_sites_say() {
    let mut windows = Vec::new();
    for one_way in [30.0, 5030.0, -4970.0] {
        let mut consumer = Consumer::new("short_queue", &[]);
        consumer.datas(300, 60.0, 30.0);
        for _ in 0..300 {
            consumer.data(90.0, Some(one_way), 2);
        }
        windows.push(consumer.window());
    }
    assert!(windows.iter().all(|window| *window == windows[0]), "{windows:?}");
}
