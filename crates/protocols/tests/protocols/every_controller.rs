//! Every controller under any sequence of signals that is legal.

use lightlag_protocols::controllers::{
    self, Ack, ArrivalCounts, Cause, Controller, ControllerEvent, Entry, Flow, Loss, RateSample, Sent,
    TfrcReport, Window,
};
use lightlag_protocols::parameter::Parameters;
use lightlag_protocols::record::Observation;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SEGMENT: u64 = 1460;

/// What happens next, as numbers that the environment makes legal.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// As much as the window lets, at most this number of segments.
    Send { segments: u64 },
    /// This number of segments arrived, after this round trip.
    Acknowledge { segments: u64, rtt_ms: i64, flags: u8 },
    /// This number of segments is lost.
    Lose { segments: u64, cause: Cause, again: bool },
    /// Time passes.
    Wait { ms: i64 },
    /// Something rare happens.
    Event { event: ControllerEvent },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let cause = prop_oneof![Just(Cause::Gap), Just(Cause::Mark), Just(Cause::Timeout)];
    // From a microsecond's neighbourhood to the round trip to the outer planets.
    let ms = prop_oneof![1_i64..50, 50_i64..5_000, 5_000_i64..50_000_000];
    let step = prop_oneof![
        4 => (1_u64..200).prop_map(|segments| Step::Send { segments }),
        5 => (1_u64..200, ms.clone(), any::<u8>())
            .prop_map(|(segments, rtt_ms, flags)| Step::Acknowledge { segments, rtt_ms, flags }),
        2 => (1_u64..50, cause, any::<bool>()).prop_map(|(segments, cause, again)| Step::Lose { segments, cause, again }),
        2 => ms.prop_map(|ms| Step::Wait { ms }),
        1 => events().prop_map(|event| Step::Event { event }),
    ];
    proptest::collection::vec(step, 1..120)
}

/// Anything but a deadline, which has its time, and a plan without contact, after which nothing is sent.
fn events() -> impl Strategy<Value = ControllerEvent> {
    let rate = || (1_000_u64..1_000_000_000).prop_map(BitRate);
    prop_oneof![
        rate().prop_map(ControllerEvent::Plan),
        rate().prop_map(ControllerEvent::Handover),
        Just(ControllerEvent::ReceiverLimited),
        (0_u64..50 * SEGMENT, 0_i64..5_000).prop_map(|(size, at)| ControllerEvent::SpuriousLoss {
            lost_at: Instant::ZERO.saturating_add(ms(at)),
            size: Bytes(size),
        }),
    ]
}

/// What stamps from the future, of clocks that jump or of liars make: anything between −2147 and 2147 s.
fn absurd(rtt: Duration) -> Duration {
    Duration::from_nanos(i64::from((rtt.as_nanos() / 1_000).wrapping_mul(2_654_435_761) as i32) * 1_000)
}

fn ms(n: i64) -> Duration {
    Duration::from_nanos(n * 1_000_000)
}

fn built(entry: &'static Entry, planned: Option<u64>) -> Box<dyn Controller> {
    let parameters = Parameters::resolve(entry.algorithm.name, entry.algorithm.parameters, &BTreeMap::new())
        .expect("defaults are in range");
    let flow = Flow::new(Bytes(SEGMENT), Bytes(SEGMENT + 40))
        .planned(planned.map(BitRate), planned.map(|_| ms(1_000)))
        .seeded(1, 0);
    entry.build(&parameters, flow)
}

/// A transport that obeys its controller, as far as it can.
struct Environment {
    now: Instant,
    in_flight: u64,
    delivered: u64,
    controller: Box<dyn Controller>,
}

/// What a controller shows after a step.
type Shown = (Bytes, Option<BitRate>, Option<Instant>, u32, Vec<u64>);

impl Environment {
    fn play(&mut self, step: Step) {
        match step {
            Step::Send { segments } => self.send(segments),
            Step::Acknowledge { segments, rtt_ms, flags } => self.acknowledge(segments, ms(rtt_ms), flags),
            Step::Lose { segments, cause, again } => self.lose(segments, cause, again),
            Step::Wait { ms: n } => self.pass(ms(n)),
            Step::Event { event } => self.controller.on_event(self.now, &event),
        }
        self.pass(Duration::from_nanos(1));
    }
    /// Time advances to the next deadline at most, a few times.
    fn pass(&mut self, span: Duration) {
        let until = self.now.saturating_add(span);
        for _ in 0..20 {
            let Some(deadline) = self.controller.deadline().filter(|at| *at <= until) else { break };
            self.now = self.now.max(deadline);
            self.controller.on_event(self.now, &ControllerEvent::Deadline);
        }
        self.now = until;
    }
    fn send(&mut self, segments: u64) {
        for _ in 0..segments {
            if self.in_flight + SEGMENT > self.controller.window().0.min(1 << 40) {
                break;
            }
            self.in_flight += SEGMENT;
            let (now, in_flight) = (self.now, Bytes(self.in_flight));
            self.controller.on_sent(&Sent { now, size: Bytes(SEGMENT), in_flight });
        }
    }
    fn acknowledge(&mut self, segments: u64, rtt: Duration, flags: u8) {
        let flag = |bit: u8| flags & (1 << bit) != 0;
        let acked = (segments * SEGMENT).min(self.in_flight);
        let before = self.delivered;
        self.pass(Duration::from_nanos(rtt.as_nanos() / 4));
        self.in_flight -= acked;
        self.delivered += acked;
        let sample = RateSample { delivered: Bytes(acked), before: Bytes(before), interval: rtt };
        let window = Window {
            sent: Bytes(acked + SEGMENT),
            received: Bytes(acked),
            train: flag(0).then_some(BitRate(1_000_000)),
        };
        self.controller.on_ack(&Ack {
            now: self.now,
            acked: Bytes(acked),
            rtt: flag(1).then_some(rtt),
            one_way: flag(2)
                .then(|| if flag(6) { absurd(rtt) } else { Duration::from_nanos(rtt.as_nanos() / 2) }),
            responder: flag(6).then_some(u32::from(flags & 3)),
            in_flight: Bytes(self.in_flight),
            delivered: Bytes(self.delivered),
            sample: (flag(3) && acked > 0).then_some(sample),
            window: flag(4).then_some(window),
            arrivals: flag(5).then_some(ArrivalCounts {
                high: self.delivered / SEGMENT,
                low: self.delivered / SEGMENT / 2,
            }),
            ack_ratio: u64::from(flags & 3),
            report: flag(4).then_some(TfrcReport {
                loss_event_rate: if flag(5) { 1.0 / (1 + self.delivered / SEGMENT) as f64 } else { 0.0 },
                receive_rate: Bytes(acked),
            }),
            recovering: flag(5),
            recovered: flag(6),
            limited: flag(7),
        });
    }
    fn lose(&mut self, segments: u64, cause: Cause, again: bool) {
        let flight_size = self.in_flight;
        let lost = if cause == Cause::Timeout { flight_size } else { (segments * SEGMENT).min(flight_size) };
        self.in_flight -= lost;
        let (lost, flight_size, in_flight) = (Bytes(lost), Bytes(flight_size), Bytes(self.in_flight));
        self.controller.on_loss(&Loss {
            now: self.now,
            cause,
            lost,
            flight_size,
            in_flight,
            episode: !again,
            again,
        });
    }
    fn shown(&self) -> Shown {
        let mut seen = Observation::new();
        self.controller.observe(&mut seen);
        let values = seen.iter().map(|row| row.1.to_bits()).collect();
        let controller = &self.controller;
        (
            controller.window(),
            controller.rate(),
            controller.deadline(),
            controller.advice().probe_train,
            values,
        )
    }
}

/// A connection is open: that gave a first round trip, as it does in TCP.
fn begin(entry: &'static Entry, planned: Option<u64>) -> Environment {
    let now = Instant::ZERO.saturating_add(ms(100));
    let mut controller = built(entry, planned);
    controller.on_ack(&Ack { now, rtt: Some(ms(100)), ..Ack::default() });
    Environment { now, in_flight: 0, delivered: 0, controller }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]
    #[test]
    fn any_signals_leave_a_window_or_a_rate_to_go_on_with(
        steps in steps(),
        which in 0..controllers::TABLE.len(),
        planned in proptest::option::of(1_000_u64..1_000_000_000),
    ) {
        let entry = &controllers::TABLE[which];
        let name = entry.algorithm.name;
        let (mut one, mut other) = (begin(entry, planned), begin(entry, planned));
        for (number, step) in steps.into_iter().enumerate() {
            one.play(step);
            other.play(step);
            let shown = one.shown();
            prop_assert_eq!(&shown, &other.shown(), "{} differs from itself at step {}", name, number);
            let (window, rate, deadline, train, _) = shown;
            prop_assert!(window >= Bytes(SEGMENT), "{name}: a window of {window:?} at step {number}");
            // `fixed` is no control at all where nothing is given.
            prop_assert!(window < Bytes::MAX || rate.is_some() || name == "fixed", "{name}: nothing decides at step {number}");
            // Who lets nothing leave says when to ask again.
            prop_assert!(rate != Some(BitRate(0)) || deadline.is_some(), "{name}: stands still at step {number}");
            prop_assert!(rate < Some(BitRate(u64::MAX / 16)), "{name}: a rate of {rate:?} at step {number}");
            prop_assert!(train >= 1, "{name}: a train of none");
        }
    }
}
