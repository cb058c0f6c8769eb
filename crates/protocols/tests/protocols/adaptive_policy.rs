//! The policy moves connections when it should, gives its reason, and does not flap.

use lightlag_protocols::session::{
    Context, DatagramsContext, Fate, Kind, PRIORITIES, Planned, Policy, PolicyConfig, StreamContext, Switch,
};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_protocols::wire::session::Hints;
use proptest::prelude::*;

/// Interval of contexts, in seconds.
const EVERY_S: f64 = 0.25;

fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

fn stream(rtt: f64, kilobytes: u64) -> Option<StreamContext> {
    let rate = Some(BitRate(kilobytes * 8000));
    Some(StreamContext { rtt: Some(seconds(rtt)), rate, ..StreamContext::default() })
}

fn datagrams(rtt: f64) -> Option<DatagramsContext> {
    Some(DatagramsContext { rtt: Some(seconds(rtt)), ..DatagramsContext::default() })
}

/// A policy and what it did, with the seconds.
struct Play {
    policy: Policy,
    at: f64,
    switches: Vec<(f64, Switch)>,
}

impl Play {
    fn new() -> Self {
        Self { policy: Policy::new(PolicyConfig::default()), at: 0.0, switches: Vec::new() }
    }
    /// Gives it the same context for `s` seconds.
    fn hold(&mut self, s: f64, context: &Context) {
        let until = self.at + s;
        while self.at < until {
            let now = Instant::ZERO + seconds(self.at);
            if let Some(switch) = self.policy.on_context(now, context) {
                self.switches.push((self.at, switch));
            }
            self.at += EVERY_S;
        }
    }
    fn reasons(&self) -> Vec<String> {
        self.switches.iter().map(|(_, switch)| switch.why.to_string()).collect()
    }
}

fn both(stream: Option<StreamContext>, datagrams: Option<DatagramsContext>) -> Context {
    Context { stream, datagrams, ..Context::default() }
}

#[test]
fn tcp_is_not_left_for_its_own_queue() {
    let mut play = Play::new();
    play.hold(5.0, &both(stream(0.01, 72), datagrams(0.0)));
    play.hold(300.0, &both(stream(0.9, 71), datagrams(0.0)));
    assert!(play.switches.is_empty(), "{:?}", play.reasons());
    play.hold(300.0, &both(stream(0.9, 31), datagrams(0.9)));
    assert_eq!(play.reasons(), ["round trip 900 ms, more than 500 ms, at 41 of 72 kB/s"]);
}

#[test]
fn a_stream_that_fills_its_own_queue_from_the_start_is_not_left() {
    let mut play = Play::new();
    play.hold(1.0, &both(stream(0.005, 0).map(|told| StreamContext { rate: None, ..told }), datagrams(0.0)));
    play.hold(3.0, &both(stream(0.7, 0).map(|told| StreamContext { rate: None, ..told }), datagrams(0.7)));
    play.hold(300.0, &both(stream(0.7, 70), datagrams(0.7)));
    assert!(play.switches.is_empty(), "{:?}", play.reasons());
    play.hold(10.0, &both(stream(0.9, 31), datagrams(0.9)));
    assert_eq!(play.reasons(), ["round trip 900 ms, more than 500 ms, at 41 of 70 kB/s"]);
}

#[test]
fn a_stream_that_never_reaches_what_datagrams_carried_is_held_up() {
    let mut play = Play::new();
    let known = datagrams(0.1).map(|told| DatagramsContext { rate: Some(BitRate(70 * 8000)), ..told });
    play.hold(1.0, &both(None, known));
    play.hold(5.0, &both(stream(0.1, 8), known));
    play.hold(10.0, &both(stream(3.2, 8), datagrams(3.2)));
    assert_eq!(play.reasons()[2..], ["round trip 3200 ms, more than 500 ms, at 8 of 70 kB/s"]);
}

#[test]
fn a_long_round_trip_without_a_queue_is_left_whoever_limits_the_rate() {
    let limited = stream(0.9, 2).map(|told| StreamContext { application_limited: true, ..told });
    for one in [limited, stream(0.9, 500)] {
        let mut play = Play::new();
        play.hold(10.0, &both(one, datagrams(0.9)));
        assert_eq!(play.reasons(), ["round trip 900 ms, more than 500 ms"], "{one:?}");
    }
}

#[test]
fn answers_go_by_what_the_other_side_sends() {
    let limited = stream(0.9, 2).map(|told| StreamContext { application_limited: true, ..told });
    let led = |leads| Context { leads: Some(leads), ..both(limited, datagrams(0.9)) };
    let mut play = Play::new();
    play.hold(60.0, &led(Kind::Stream));
    assert!(play.switches.is_empty(), "the queue is the other side's: {:?}", play.reasons());
    play.hold(10.0, &led(Kind::Datagrams));
    play.hold(10.0, &led(Kind::Stream));
    assert_eq!(play.reasons(), ["the other side sends by it"; 2]);
    play.hold(10.0, &Context { stream: None, ..led(Kind::Stream) });
    assert_eq!(play.reasons()[2..], ["TCP is not connected"], "what is not there carries no answers");
    let mut play = Play::new();
    let well = || both(stream(0.01, 72), datagrams(0.01));
    (0..20).for_each(|turn| {
        let leads = if turn % 2 == 0 { Kind::Datagrams } else { Kind::Stream };
        play.hold(1.0, &Context { leads: Some(leads), ..well() });
    });
    play.hold(1.0, &both(None, datagrams(0.01)));
    play.hold(3.0, &well());
    assert_eq!(play.policy.kind(), Kind::Stream, "the other side's haste is not this one's");
}

/// Packets of a stack, of which each second this number leaves and this share is lost.
fn lose(play: &mut Play, s: f64, share: f64, mut context: Context) {
    let mut fate = Fate::default();
    for _ in 0..(s as usize) {
        fate = Fate { sent: fate.sent + 200, lost: fate.lost + (200.0 * share) as u64 };
        context.stream.iter_mut().for_each(|stream| stream.fate = fate);
        context.datagrams.iter_mut().for_each(|datagrams| datagrams.fate = fate);
        play.hold(1.0, &context);
    }
}

fn carrying(rtt: f64, kilobytes: u64) -> Option<DatagramsContext> {
    datagrams(rtt).map(|known| DatagramsContext { rate: Some(BitRate(kilobytes * 8000)), ..known })
}

#[test]
fn a_stream_that_loses_is_left_if_datagrams_carry_more_until_nothing_is_lost() {
    let mut play = Play::new();
    lose(&mut play, 300.0, 0.05, both(stream(0.05, 100), carrying(0.05, 1000)));
    assert_eq!(play.reasons(), ["TCP loses 5.0 %, and carries 100 kB/s"]);
    lose(&mut play, 30.0, 0.0, both(stream(0.05, 1000), carrying(0.05, 1000)));
    assert_eq!(play.reasons()[1..], ["round trip 50 ms, less than 300 ms"]);
}

#[test]
fn where_datagrams_carry_no_more_the_stream_returns_and_they_are_tried_ever_more_rarely() {
    let mut play = Play::new();
    lose(&mut play, 3600.0, 0.05, both(stream(0.05, 1000), carrying(0.05, 1000)));
    let reasons = play.reasons();
    assert_eq!(reasons[1], "datagrams carry 1000 kB/s, TCP carried 1000");
    assert!((8..16).contains(&reasons.len()), "{reasons:?}");
    let limited = stream(0.05, 100).map(|known| StreamContext { application_limited: true, ..known });
    let mut play = Play::new();
    lose(&mut play, 300.0, 0.05, both(limited, carrying(0.05, 1000)));
    assert!(play.switches.is_empty(), "it carries all there is: {:?}", play.reasons());
    let mut play = Play::new();
    play.hold(1.0, &both(stream(0.05, 100), carrying(0.05, 1000)));
    lose(&mut play, 300.0, 0.01, both(stream(0.3, 1000), carrying(0.05, 1000)));
    assert!(play.switches.is_empty(), "it loses by its own queue: {:?}", play.reasons());
}

#[test]
fn back_off_silence_links_and_plans_are_reasons_of_their_own() {
    let well = both(stream(0.01, 72), datagrams(0.01));
    let with = |change: fn(&mut StreamContext)| {
        let mut context = well.clone();
        context.stream.iter_mut().for_each(change);
        context
    };
    let cases = [
        (with(|told| told.backoff = 2), "TCP's timer was doubled 2 times"),
        (with(|told| told.silent = seconds(2.0)), "no acknowledgement for 2000 ms, more than 1020 ms"),
        (Context { link: Some(false), ..well.clone() }, "the interface is down"),
        (Context { planned: Some(Planned::NoContact), ..well.clone() }, "the plan has no contact"),
        (
            Context { planned: Some(Planned::Delay(seconds(120.0))), ..well.clone() },
            "planned delay 120.0 s, more than 250 ms",
        ),
        (Context { stream: None, ..well.clone() }, "TCP is not connected"),
    ];
    for (context, why) in cases {
        let mut play = Play::new();
        play.hold(5.0, &well);
        play.hold(1.0, &context);
        assert_eq!(play.reasons(), [why]);
        play.hold(10.0, &well);
        assert_eq!(play.reasons()[1..], ["round trip 10 ms, less than 300 ms"]);
    }
}

#[test]
fn datagrams_that_nobody_answers_are_left_for_a_stream_that_is_answered() {
    let mut play = Play::new();
    let deaf = Some(DatagramsContext { silent: seconds(50.0), ..DatagramsContext::default() });
    play.hold(5.0, &both(None, deaf));
    assert!(play.policy.would_return(), "a side that can open a stream must open one");
    play.hold(5.0, &both(stream(0.1, 72), deaf));
    assert_eq!(play.policy.kind(), Kind::Stream);
    assert_eq!(play.reasons(), ["TCP is not connected", "round trip 100 ms, less than 300 ms"]);
    let mut play = Play::new();
    play.hold(1.0, &both(None, deaf));
    play.hold(1.0, &both(stream(0.4, 72), deaf));
    assert_eq!(play.reasons()[1..], ["datagrams not answered for 50.0 s, TCP is"]);
}

#[test]
fn hasty_returns_are_made_later_and_later_and_calm_makes_up_for_them() {
    let (well, ill) = (both(stream(0.01, 72), datagrams(0.01)), both(None, datagrams(0.01)));
    let mut play = Play::new();
    for _ in 0..600 {
        play.hold(1.0, &well);
        play.hold(1.0, &ill);
    }
    let hasty = play.switches.len();
    assert!(hasty < 60, "{hasty} switches in twenty minutes");
    play.hold(3600.0, &well);
    play.hold(1.0, &ill);
    let before = play.at;
    play.hold(100.0, &well);
    let (back, _) = play.switches[play.switches.len() - 1];
    assert!(back - before < 4.0, "after an hour of calm it came back after {} s", back - before);
}

#[test]
fn low_priorities_go_by_datagrams_while_higher_ones_fill_the_stream() {
    let hints = |priority, delay_most_ms| Hints { priority, delay_most_ms, ..Hints::default() };
    let mut play = Play::new();
    let full = Bytes(10_000_000);
    let mut context = both(stream(0.1, 72), datagrams(0.1));
    context.backlog[0] = full;
    play.hold(60.0, &context);
    assert_eq!(play.policy.kind_for(&hints(0, None)), Kind::Stream, "no other class has a backlog");
    context.backlog[2] = full;
    play.hold(60.0, &context);
    let kinds: Vec<Kind> = (0..PRIORITIES).map(|class| play.policy.kind_for(&hints(class, None))).collect();
    assert_eq!(kinds, [Kind::Datagrams, Kind::Datagrams, Kind::Stream, Kind::Stream]);
    assert_eq!(play.policy.kind_for(&hints(0, Some(100))), Kind::Stream, "it does not tolerate a long delay");
    context.backlog[2] = Bytes(0);
    play.hold(60.0, &context);
    assert_eq!(play.policy.kind_for(&hints(0, None)), Kind::Stream);
}

fn fate() -> impl Strategy<Value = Fate> {
    (0_u64..1000, 0_u64..100).prop_map(|(sent, lost)| Fate { sent, lost })
}

fn anything() -> impl Strategy<Value = Context> {
    let drawn =
        (prop::option::of(0.0..300.0_f64), 0_u32..4, 0.0..10.0_f64, any::<bool>(), 0_u64..100, fate());
    let stream = drawn.prop_map(|(rtt, backoff, silent, application_limited, rate, fate)| StreamContext {
        rtt: rtt.map(seconds),
        backoff: backoff.saturating_sub(1),
        silent: seconds(if silent < 5.0 { 0.0 } else { silent }),
        rate: Some(BitRate(rate * 8000)),
        application_limited,
        fate,
    });
    let known = prop::option::of(0_u64..1_000_000);
    let datagrams = (prop::option::of(0.0..1.0_f64), 0.0..200.0_f64, known, fate()).prop_map(
        |(rtt, silent, rate, fate)| DatagramsContext {
            rtt: rtt.map(seconds),
            silent: seconds(silent),
            rate: rate.map(BitRate),
            fate,
        },
    );
    let planned = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Planned::NoContact)),
        1 => (0.0..1.0_f64).prop_map(|delay| Some(Planned::Delay(seconds(delay)))),
    ];
    let backlog = prop::array::uniform4((0_u64..1_000_000).prop_map(Bytes));
    let link = prop::option::weighted(0.5, prop::bool::weighted(0.8));
    (prop::option::weighted(0.8, stream), prop::option::weighted(0.8, datagrams), link, planned, backlog)
        .prop_map(|(stream, datagrams, link, planned, backlog)| Context {
            stream,
            datagrams,
            link,
            planned,
            backlog,
            leads: None,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]
    #[test]
    fn whatever_it_is_told_it_takes_what_is_there_rests_between_returns_and_says_why(
        told in prop::collection::vec((anything(), 0.1..20.0_f64), 1..200)
    ) {
        let mut play = Play::new();
        let mut left: Option<f64> = None;
        for (context, span) in told {
            let before = play.switches.len();
            play.hold(span, &context);
            for (at, Switch { to, why }) in play.switches.split_off(before) {
                let line = why.to_string();
                prop_assert!(!line.is_empty() && !line.contains('\n'));
                if to == Kind::Stream {
                    prop_assert!(context.stream.is_some(), "{line}");
                    let rested = left.is_none_or(|left| at - left >= 2.0);
                    prop_assert!(rested || context.datagrams.is_none(), "back at {at} s, left at {left:?}: {line}");
                } else {
                    prop_assert!(context.datagrams.is_some(), "{line}");
                    left = context.stream.is_some().then_some(at).or(left);
                }
            }
            let there = |kind| match kind {
                Kind::Stream => context.stream.is_some(),
                Kind::Datagrams => context.datagrams.is_some(),
            };
            let either = context.datagrams.is_some() || (context.stream.is_some());
            if either && !(context.stream.is_some() && context.datagrams.is_some()) {
                prop_assert!(there(play.policy.kind()), "{:?} at {context:?}", play.policy.kind());
            }
            for priority in 0..PRIORITIES {
                let kind = play.policy.kind_for(&Hints { priority, ..Hints::default() });
                prop_assert!(there(kind) || !either, "priority {priority} by {kind:?}");
            }
            let highest = Hints { priority: PRIORITIES - 1, ..Hints::default() };
            prop_assert_eq!(play.policy.kind_for(&highest), play.policy.kind());
        }
    }
}
