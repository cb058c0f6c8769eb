//! Every loss model with any parameters.

use lightlag_protocols::link::Delay;
use lightlag_protocols::link::losses::{Loss, TABLE};
use lightlag_protocols::parameter::{Domain, Parameters, Value};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use proptest::prelude::*;

const PACKETS: usize = 4_000;

/// The row with parameters at these parts of their ranges, and a table over time if it takes one.
fn built(which: usize, parts: &[f64]) -> Loss {
    let row = &TABLE[which];
    let value = |part: f64, domain: &Domain| match *domain {
        Domain::Number(low, high) => Value::Number(low + part * (high - low)),
        Domain::Integer(low, high) => Value::Number((low + part * (high - low)).round()),
        Domain::Flag => Value::Flag(part < 0.5),
        Domain::OneOf(words) => Value::from(words[(part * (words.len() - 1) as f64) as usize]),
        Domain::Range(..) | Domain::Area | Domain::Position => panic!("no loss model has such a parameter"),
    };
    let given =
        row.model.parameters.iter().zip(parts).map(|(p, part)| (p.name.to_owned(), value(*part, &p.domain)));
    let parameters =
        Parameters::resolve(row.model.name, row.model.parameters, &given.collect()).expect("in range");
    let steps = parts.iter().enumerate().map(|(n, share)| (Instant::from_secs(n as i64), *share));
    Loss::new(row, parameters, if row.over_time { steps.collect() } else { Vec::new() })
}

/// Which of many packets are lost, one a millisecond.
fn fates(loss: &Loss, seed: u64, size: Bytes) -> Vec<bool> {
    let end = Instant::from_secs(8);
    let delay = Delay::Curve(vec![(Instant::ZERO, Duration::from_secs(1)), (end, Duration::from_secs(9))]);
    let Some(mut model) = loss.build(&delay, Stream::new(seed, "test", 0)) else {
        assert_eq!(loss.share_max(size), 0.0, "{loss:?} loses packets");
        return vec![false; PACKETS];
    };
    let at = |n: usize| Instant::ZERO.saturating_add(Duration::from_nanos(n as i64 * 1_000_000));
    (0..PACKETS).map(|n| model.loses(at(n), size)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_model_repeats_itself_and_keeps_to_its_greatest_share(
        which in 0..TABLE.len(),
        parts in proptest::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..0.1, 0.0..1.0], 8),
        seed in any::<u64>(),
        size in 40_u64..9_000,
    ) {
        let (loss, size, name) = (built(which, &parts), Bytes(size), TABLE[which].model.name);
        let fates_once = fates(&loss, seed, size);
        prop_assert_eq!(&fates_once, &fates(&loss, seed, size), "{} differs from itself", name);
        let most = loss.share_max(size);
        prop_assert!((0.0..=1.0).contains(&most), "{name}: a greatest share of {most}");
        let lost = fates_once.iter().filter(|lost| **lost).count() as f64;
        // Five deviations of a binomial draw.
        let bound = most * PACKETS as f64 + 5.0 * (most * (1.0 - most) * PACKETS as f64).sqrt();
        prop_assert!(lost <= bound, "{name}: lost {lost} of {PACKETS}, at most {most}");
    }
}
