//! CCID 3 beside a computation of RFC 5348 that shares no code with it.
//!
//! "Exactly the RFC's response" to losses means: losses that would have come within one round trip of the
//! first are one event (section 5.2); an event is reported as soon as it is found (section 6.1), and p with
//! it (5.4, 5.5); and what the sender then does is step 4 of section 4.3, to rounding.

use crate::dccp::line::{config, controller};
use lightlag_protocols::controllers::{Ack, Controller, ControllerEvent, Sent, TfrcReport};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::dccp::Ccid3Receiver;
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::dccp::Sequence;
use lightlag_protocols::wire::dccp::{Item, LossInterval, Options, intervals};
use proptest::prelude::*;

/// A sender, step by step as sections 4.2 to 4.4 have it. Times in seconds, rates in bytes a second.
struct Sender {
    s: f64,
    x: f64,
    x_bps: f64,
    r: f64,
    p: f64,
    x_recv_set: Vec<(f64, f64)>,
    tld: f64,
    timer: f64,
    idle: bool,
    has_heard: bool,
}

impl Sender {
    fn least(&self) -> f64 {
        self.s / 64.0
    }
    fn initial_rate(&self) -> f64 {
        (4.0 * self.s).min((2.0 * self.s).max(4380.0)) / self.r
    }
    fn rto(&self) -> f64 {
        (4.0 * self.r).max(2.0 * self.s / self.x)
    }
    fn greatest(&self) -> f64 {
        self.x_recv_set.iter().fold(0.0, |most, entry| most.max(entry.1))
    }
    fn maximize(&mut self, now: f64, x_recv: f64) {
        self.x_recv_set.push((now, x_recv));
        self.x_recv_set.retain(|entry| entry.1 != f64::INFINITY);
        self.x_recv_set = vec![(now, self.greatest())];
    }
    /// Section 3.1 with b = 1 and t_RTO = 4 R.
    fn equation(&self) -> f64 {
        let f = (2.0 * self.p / 3.0).sqrt()
            + 12.0 * (3.0 * self.p / 8.0).sqrt() * self.p * (1.0 + 32.0 * self.p * self.p);
        self.s / (self.r * f)
    }
    fn step_4(&mut self, now: f64, recv_limit: f64) {
        if self.p > 0.0 {
            self.x_bps = self.equation();
            self.x = self.x_bps.min(recv_limit).max(self.least());
        } else if !self.has_heard {
            (self.x, self.tld) = (self.initial_rate(), now);
        } else if now - self.tld >= self.r {
            self.x = (2.0 * self.x).min(recv_limit).max(self.initial_rate());
            self.tld = now;
        }
    }
    /// Section 4.3.
    fn on_feedback(&mut self, now: f64, sample: f64, p: f64, x_recv: f64, data_limited: bool) {
        self.r = 0.9 * self.r + 0.1 * sample;
        let rto = self.rto();
        let more_loss = p > self.p;
        self.p = p;
        let data_limited = data_limited && x_recv > 0.0;
        let recv_limit = if data_limited && more_loss {
            self.x_recv_set.iter_mut().for_each(|entry| entry.1 *= 0.5);
            self.maximize(now, 0.85 * x_recv);
            self.greatest()
        } else if data_limited {
            self.maximize(now, x_recv);
            2.0 * self.greatest()
        } else {
            self.x_recv_set.push((now, x_recv));
            let since = now - 2.0 * self.r;
            self.x_recv_set.retain(|entry| entry.0 >= since);
            2.0 * self.greatest()
        };
        self.step_4(now, recv_limit);
        self.has_heard = true;
        (self.timer, self.idle) = (now + rto, true);
    }
    /// Section 4.4.
    fn on_silence(&mut self, now: f64) {
        let (x_recv, recover_rate) = (self.greatest(), self.initial_rate());
        let slow = (self.p > 0.0 && x_recv < recover_rate) || (self.p == 0.0 && self.x < 2.0 * recover_rate);
        if !(slow && self.idle) {
            if self.p == 0.0 {
                self.x = (self.x / 2.0).max(self.least());
            } else {
                let limit = if self.x_bps > 2.0 * x_recv { x_recv } else { self.x_bps / 2.0 };
                let limit = limit.max(self.least());
                self.x_recv_set = vec![(now, limit / 2.0)];
                self.step_4(now, limit);
            }
        }
        (self.timer, self.idle) = (now + self.rto(), true);
    }
}

/// What happens: after how many ms, and how long the round trip took, in ms; what is reported, if anything.
#[derive(Clone, Debug)]
struct Step {
    after_ms: u32,
    rtt_ms: u32,
    report: Option<(f64, u32, bool)>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let p = prop_oneof![2 => Just(0.0), 3 => 1e-5..0.3_f64];
    let report = prop::option::weighted(0.8, (p, 0_u32..10_000_000, any::<bool>()));
    let step = (1_u32..2500, 40_u32..400, report);
    prop::collection::vec(
        step.prop_map(|(after_ms, rtt_ms, report)| Step { after_ms, rtt_ms, report }),
        1..80,
    )
}

fn after(s: f64) -> Instant {
    Instant::ZERO.saturating_add(Duration::from_secs_f64(s))
}

proptest! {
    #[test]
    fn a_sender_follows_the_rfc_from_report_to_report(steps in steps()) {
        let config = config("ccid3");
        let (segment, packet) = (config.segment().0 as f64, config.packet.0 as f64);
        let mut ours = controller("ccid3", &[("oscillation_reduction", false.into())], &config);
        // The handshake measures the first round trip, and a packet leaves.
        let start = 1000.0;
        ours.on_ack(&Ack { now: after(start), rtt: Some(Duration::from_secs_f64(0.1)), ..Ack::default() });
        let sends = |ours: &mut Box<dyn Controller>, at: f64| {
            ours.on_sent(&Sent { now: after(at), size: config.segment(), in_flight: config.segment() });
        };
        sends(&mut ours, start);
        let mut rfc = Sender {
            s: segment,
            x: 0.0,
            x_bps: 0.0,
            r: 0.1,
            p: 0.0,
            x_recv_set: vec![(start, f64::INFINITY)],
            tld: 0.0,
            timer: 0.0,
            idle: false,
            has_heard: false,
        };
        rfc.x = rfc.initial_rate();
        rfc.timer = start + rfc.rto();
        let mut now = start;
        for step in steps {
            now += f64::from(step.after_ms) / 1e3 + 1.7e-4;
            while rfc.timer <= now {
                let expires = ours.deadline().expect("a timer runs");
                prop_assert!((expires.as_secs_f64() - rfc.timer).abs() < 1e-6, "{expires:?} {}", rfc.timer);
                rfc.timer = expires.as_secs_f64();
                ours.on_event(expires, &ControllerEvent::Deadline);
                rfc.on_silence(expires.as_secs_f64());
            }
            match step.report {
                Some((p, x_recv, data_limited)) => {
                    let rtt = f64::from(step.rtt_ms) / 1e3;
                    let report = TfrcReport { loss_event_rate: p, receive_rate: Bytes(x_recv.into()) };
                    let rtt_span = Duration::from_secs_f64(rtt);
                    let (now, limited) = (after(now), !data_limited);
                    ours.on_ack(&Ack { now, rtt: Some(rtt_span), limited, report: Some(report), ..Ack::default() });
                    rfc.on_feedback(now.as_secs_f64(), rtt, p, x_recv.into(), data_limited);
                }
                None => {
                    sends(&mut ours, now);
                    rfc.idle = false;
                }
            }
            let x = ours.rate().expect("a rate").0 as f64 / 8.0 * segment / packet;
            prop_assert!((x / rfc.x - 1.0).abs() < 1e-3 || (x - rfc.x).abs() < 1.0, "{x} is not {}", rfc.x);
        }
    }
}

const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Sections 5.4 and 5.5: the open interval and up to eight closed ones, newest first, with their discounts;
/// gives p, and by how much the open one discounts the others.
fn loss_event_rate(open: f64, closed: &[(f64, f64)]) -> (f64, f64) {
    let count = closed.len().min(8);
    let mean = |parts: &[(f64, f64)]| {
        let total: f64 = parts.iter().map(|(length, weight)| length * weight).sum();
        total / parts.iter().map(|part| part.1).sum::<f64>()
    };
    let weighed: Vec<(f64, f64)> =
        (0..count).map(|index| (closed[index].0, WEIGHTS[index] * closed[index].1)).collect();
    let before = mean(&weighed);
    let discount = if open > 2.0 * before { (2.0 * before / open).max(0.25) } else { 1.0 };
    let mut with_open = vec![(open, WEIGHTS[0])];
    with_open.extend(
        (1..count).map(|index| (closed[index - 1].0, WEIGHTS[index] * closed[index - 1].1 * discount)),
    );
    (1.0 / mean(&with_open).max(before), discount)
}

#[test]
fn a_receiver_finds_the_events_and_the_rate_of_them_that_the_rfc_says() {
    let mut compared = 0;
    for seed in 0..40 {
        let mut draws = Stream::new(seed, "losses", 0);
        let loss = [0.002, 0.01, 0.05][seed as usize % 3];
        let (spacing_ms, rtt_ms) = (7, 100);
        let mut receiver = Ccid3Receiver::new(Instant::ZERO, Bytes(1456), Sequence::new(4998));
        // Numbers that came, and when, in ms.
        let mut came: Vec<(u64, f64)> = Vec::new();
        let mut settled = 0;
        let mut began: Vec<(u64, f64)> = Vec::new();
        let mut closed: Vec<(f64, f64)> = Vec::new();
        let (mut discount, mut outage) = (1.0, 0);
        for number in 0..6000_u64 {
            outage = if !began.is_empty() && draws.unit() < loss / 30.0 { 60 } else { outage.max(1) - 1 };
            if number > 0 && (draws.unit() < loss || outage > 0) {
                continue;
            }
            let at_ms = number * spacing_ms;
            let now = Instant::from_nanos(at_ms as i64 * 1_000_000);
            let ccval = (at_ms * 4 / rtt_ms % 16) as u8;
            let tells = receiver.on_data(now, Sequence::new(5000 + number), ccval, 0, 1456);
            came.push((number, at_ms as f64));
            // Section 5.1: what three later ones have overtaken is lost; section 5.2: when it would have
            // come.
            let events_before = began.len();
            while came.len() >= settled + 4 {
                let ((before, before_ms), (next, next_ms)) = (came[settled], came[settled + 1]);
                settled += 1;
                for lost in before + 1..next {
                    let share = (lost - before) as f64 / (next - before) as f64;
                    let lost_ms = before_ms + (next_ms - before_ms) * share;
                    let rtt = receiver.rtt().map_or(f64::INFINITY, |rtt| rtt.as_secs_f64() * 1e3);
                    if began.last().is_none_or(|event| lost_ms - event.1 > rtt + 1e-3) {
                        if let Some(event) = began.last() {
                            closed.iter_mut().for_each(|interval| interval.1 *= discount);
                            closed.insert(0, ((lost - event.0) as f64, 1.0));
                            discount = 1.0;
                        }
                        began.push((lost, lost_ms));
                    }
                }
            }
            if began.len() > events_before {
                assert!(tells, "seed {seed}: an event is reported at once, at {at_ms} ms");
            }
            let p = receiver.loss_event_rate();
            assert_eq!(p == 0.0, began.is_empty(), "seed {seed}, at {at_ms} ms");
            if began.is_empty() {
                continue;
            }
            let open = (number - began[began.len() - 1].0 + 1) as f64;
            if events_before == 0 {
                // The interval before the first loss stands for the rate that was reached (section 6.3.1).
                assert_eq!(began.len(), 1, "seed {seed}: it begins with one event");
                assert!(1.0 / p > open);
                closed.push((1.0 / p, 1.0));
            }
            let (rate, by_open) = loss_event_rate(open, &closed);
            discount = by_open;
            compared += 1;
            assert!((p / rate - 1.0).abs() < 1e-6, "seed {seed}, at {at_ms} ms: {p} is not {rate}");
        }
    }
    assert!(compared > 20_000, "{compared} rates");
}

#[test]
fn loss_intervals_are_told_in_numbers_and_in_data_from_the_first_report_on() {
    // RFC 4342, sections 6.1.1, 8.2 and 8.6.1.
    let mut receiver = Ccid3Receiver::new(Instant::ZERO, Bytes(1456), Sequence::new(98));
    let mut told = |number: u64, without_data: u64| {
        let now = Instant::from_nanos(number as i64 * 10_000_000);
        receiver.on_data(now, Sequence::new(number), (number / 2) as u8 & 15, without_data, 1456);
        let mut options = Vec::new();
        receiver.write(now, false, 900, &mut options);
        let found = Options::new(&options).find_map(|item| match item {
            Ok(Item::LossIntervals { skip, cells }) => Some((skip, intervals(cells).collect::<Vec<_>>())),
            _ => None,
        });
        found.expect("every report has the option")
    };
    let interval = |lossless, lossy, data| LossInterval { lossless, lossy, nonce: false, data };
    assert_eq!(
        told(100, 0),
        (0, vec![interval(3, 0, 0)]),
        "it begins with the first number of the connection"
    );
    (101..110).for_each(|number| assert_eq!(told(number, 0).0, 0));
    assert_eq!(told(111, 0), (2, vec![interval(12, 0, 0)]), "110 may still come");
    assert_eq!(told(112, 0).0, 3);
    let (skip, cells) = told(114, 1);
    assert_eq!((skip, cells[0].lossless, cells[0].lossy, cells[0].data), (0, 4, 1, 4), "113 had no data");
    assert_eq!((cells[1].lossless, cells[1].lossy), (12, 0), "98 to 109");
}
