//! Links of all kinds, for tests and properties.

use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Rate};
use lightlag_protocols::parameter::Value;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use proptest::prelude::*;

pub fn ms(n: i64) -> Duration {
    Duration::from_nanos(n * 1_000_000)
}

pub fn at(n: i64) -> Instant {
    Instant::ZERO + ms(n)
}

/// A link that does nothing but what it has to.
pub fn link(rate: u64, delay_ms: i64, queue: u64) -> LinkSpec {
    LinkSpec {
        rate: Rate::Constant(BitRate(rate)),
        delay: Delay::Constant(ms(delay_ms)),
        loss: Loss::NONE,
        queue: Discipline::drop_tail(Limit::Packets(queue)),
        reorder: None,
        duplicate: 0.0,
        jitter: Duration::ZERO,
    }
}

pub fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1_u64..40).prop_map(Limit::Packets),
        (3_000_u64..60_000).prop_map(|b| Limit::Bytes(Bytes(b)))
    ]
}

fn queues() -> impl Strategy<Value = Discipline> {
    (limits(), 0..3, 2_i64..50, 20_i64..300, any::<bool>()).prop_map(
        |(limit, which, target, interval, mark)| match which {
            0 => Discipline::drop_tail(limit),
            1 => Discipline::named("priority", limit, &[]).expect("a row of the table"),
            _ => Discipline::named(
                "codel",
                limit,
                &[
                    ("target", Value::Number(target as f64 / 1e3)),
                    ("interval", Value::Number(interval as f64 / 1e3)),
                    ("mark", Value::Flag(mark)),
                ],
            )
            .expect("in range"),
        },
    )
}

fn losses() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::NONE),
        (0.0..0.1).prop_map(Loss::uniform),
        Just(
            Loss::named(
                "gilbert_elliott",
                &[("to_bad", 0.01), ("to_good", 0.2), ("good", 0.0), ("bad", 0.6)]
            )
            .expect("in range")
        ),
        (0.0..0.01, 0.01..0.1).prop_map(|(least, most)| Loss::named(
            "by_delay",
            &[("least", least), ("most", most)]
        )
        .expect("in range")),
    ]
}

fn rates() -> impl Strategy<Value = Rate> {
    let windows = (1_i64..20, 1_i64..10).prop_map(|(on, off)| {
        let window = |n: i64| (at(1000 * n * (on + off)), at(1000 * (n * (on + off) + on)), BitRate(900_000));
        Rate::within(&(0..400).map(window).collect::<Vec<_>>())
    });
    let steps = Just(Rate::Table(vec![(at(0), BitRate(300_000)), (at(4_000), BitRate(2_000_000))]));
    prop_oneof![3 => (100_000_u64..5_000_000).prop_map(|rate| Rate::Constant(BitRate(rate))), 1 => windows, 1 => steps]
}

fn delays() -> impl Strategy<Value = Delay> {
    let curve = proptest::collection::vec(0_i64..400, 1..5).prop_map(|points| {
        Delay::Curve((0..).map(|n| at(1_000 * n)).zip(points.into_iter().map(ms)).collect())
    });
    let simple = || prop_oneof![2 => (0_i64..800).prop_map(|n| Delay::Constant(ms(n))), 1 => curve.clone()];
    let drawn = (simple(), 1_i64..50, 100_i64..500).prop_map(|(mean, deviation, every)| Delay::Normal {
        mean: Box::new(mean),
        deviation: ms(deviation),
        every: ms(every),
    });
    prop_oneof![3 => simple(), 1 => drawn]
}

pub fn links() -> impl Strategy<Value = LinkSpec> {
    let reorder = proptest::option::weighted(0.3, (0.0..0.2, (1_i64..50).prop_map(ms)));
    let duplicate = prop_oneof![2 => Just(0.0), 1 => 0.0..0.1];
    let jitter = prop_oneof![2 => Just(Duration::ZERO), 1 => (1_i64..50).prop_map(ms)];
    (rates(), delays(), losses(), queues(), reorder, duplicate, jitter).prop_map(
        |(rate, delay, loss, queue, reorder, duplicate, jitter)| LinkSpec {
            rate,
            delay,
            loss,
            queue,
            reorder,
            duplicate,
            jitter,
        },
    )
}
