//! Two engines of LTP over a line that loses, repeats, mixes up and interrupts.

mod at_ends;
mod line;
mod strangers;

use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ltp::{Config, End, Event, Reason, Unsendable};
use lightlag_protocols::units::{BitRate, Bytes};
use line::{Habits, Line, controller, ms};
use proptest::prelude::*;

fn config() -> Config {
    Config::new(1, 2, Bytes(1500))
}
fn fixed(bit_per_s: u64) -> Box<dyn lightlag_protocols::controllers::Controller> {
    controller("fixed", &[], Some(BitRate(bit_per_s)))
}

/// Sends blocks over a line and waits until all is quiet.
fn sends(config: &Config, habits: Habits, rate: u64, blocks: &[(u64, u64)], seed: u64) -> Line {
    let mut line = Line::new(config, fixed(rate), habits, seed);
    let sessions: Vec<_> = blocks
        .iter()
        .map(|(red, green)| (line.engines[0].send(1, *red, *green).expect("a session"), *red))
        .collect();
    line.run(Instant::from_secs(20_000_000));
    assert!(
        line.is_still(),
        "seed {seed}: {:?} {:?}",
        line.engines[0].sessions(),
        line.engines[1].sessions()
    );
    for (session, red) in sessions {
        assert!(line.seen[0].sent.contains(&session), "seed {seed}: {:?}", line.seen[0].cancelled);
        let here = line.seen[1].here.get(&session).map_or(0, |here| here.within(0, red));
        assert_eq!((here, line.seen[1].red.get(&session)), (red, (red > 0).then_some(&red)), "seed {seed}");
    }
    assert_eq!(line.engines.iter().map(|engine| engine.in_flight().0).sum::<u64>(), 0);
    line
}

/// A line as bad as a seed makes it, and what crosses it.
fn bad(seed: u64) -> (Config, Habits, Vec<(u64, u64)>) {
    let mut draws = lightlag_protocols::rng::Stream::new(seed, "bad", 0);
    let delay = Duration::from_nanos(1 << draws.below(40));
    let outages = (0..draws.below(4)).scan(Instant::from_secs(1), |at, _| {
        let from = *at + ms(draws.below(2_000_000) as i64);
        *at = from + ms(1 + draws.below(1_000_000) as i64);
        Some((from, *at))
    });
    let outages = outages.collect();
    let habits = Habits {
        delay,
        loss: draws.uniform(0.0, 0.2),
        repeats: draws.uniform(0.0, 0.3),
        mixes: Duration::from_nanos(draws.below(50_000_000) as i64),
        outages,
    };
    let config = Config {
        light: (draws.below(2) == 0).then_some(delay * 2),
        checkpoint_every: (draws.below(2) == 0).then(|| 1 + draws.below(200_000)),
        report_every: (draws.below(3) == 0).then(|| ms(1 + draws.below(20_000) as i64)),
        copies: Some(draws.below(4) as u32).filter(|copies| *copies > 0),
        tries: 60,
        ..Config::new(1, 2, Bytes(200 + draws.below(1300)))
    };
    let size = |draws: &mut lightlag_protocols::rng::Stream| {
        let bits = draws.below(20);
        draws.below(1 << bits)
    };
    let blocks = (0..1 + draws.below(8)).map(|_| (1 + size(&mut draws), size(&mut draws) * draws.below(2)));
    let blocks = blocks.collect();
    (config, habits, blocks)
}

#[test]
fn a_block_takes_a_round_trip_where_nothing_is_lost() {
    let config = Config { light: Some(ms(2000)), copies: Some(1), ..config() };
    let line = sends(&config, Habits::clean(ms(1000)), 1_000_000, &[(100_000, 0)], 1);
    let (sent, reports) = (line.engines[0].counts(), line.engines[1].counts());
    assert_eq!((sent.repairs, sent.timeouts, reports.reports, reports.timeouts), (0, 0, 1, 0));
    assert_eq!(line.seen[1].closed.len(), 1);
}

#[test]
fn blocks_arrive_whole_over_lines_as_bad_as_a_seed_makes_them() {
    for seed in 0..60 {
        let (config, habits, blocks) = bad(seed);
        sends(&config, habits, 1 << (16 + seed % 10), &blocks, seed);
    }
}

/// By hand: `cargo test --release -p lightlag-protocols --test protocols -- --ignored a_thousand`.
#[test]
#[ignore = "takes a minute"]
fn blocks_arrive_whole_over_a_thousand_bad_lines() {
    for seed in 0..1000 {
        let (config, habits, blocks) = bad(seed);
        sends(&config, habits, 1 << (16 + seed % 10), &blocks, seed);
    }
}

#[test]
fn a_block_of_64_mb_arrives_whole() {
    let habits = Habits { loss: 0.05, ..Habits::clean(ms(300)) };
    let config = Config { light: Some(ms(600)), ..config() };
    sends(&config, habits, 100_000_000, &[(64_000_000, 0)], 3);
}

#[test]
#[ignore = "takes a minute"]
fn a_block_of_1_gb_arrives_whole() {
    let habits = Habits { loss: 0.2, repeats: 0.01, mixes: ms(3), ..Habits::clean(ms(300)) };
    let config = Config { light: Some(ms(600)), checkpoint_every: Some(10_000_000), ..config() };
    sends(&config, habits, 1_000_000_000, &[(1_000_000_000, 0)], 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn every_block_up_to_a_few_segments_arrives_whole(
        red in 1_u64..4000, green in 0_u64..4000, loss in 0.0..0.2, seed in 0_u64..1 << 32,
    ) {
        let habits = Habits { loss, ..Habits::clean(ms(50)) };
        sends(&Config { tries: 60, ..config() }, habits, 1_000_000, &[(red, green)], seed);
    }
}

#[test]
fn every_controller_that_takes_part_brings_blocks_across() {
    for entry in lightlag_protocols::controllers::TABLE {
        let only = entry.algorithm.only_with;
        if !only.is_empty() && !only.contains(&"ltp") {
            continue;
        }
        let name = entry.algorithm.name;
        let habits = Habits { loss: 0.01, ..Habits::clean(ms(100)) };
        let mut line = Line::new(&config(), controller(name, &[], Some(BitRate(10_000_000))), habits, 5);
        for _ in 0..4 {
            line.engines[0].send(1, 300_000, 0).expect("a session");
        }
        line.run(Instant::from_secs(20_000));
        assert!(line.is_still(), "{name}: {:?} {:?}", line.engines[0].sessions(), line.engines[0].counts());
        assert_eq!(line.seen[1].red.len(), 4, "{name}");
    }
}

#[test]
fn timers_stand_still_while_the_link_is_down() {
    let outage = (Instant::from_secs(1), Instant::from_secs(100_000));
    let habits = Habits { outages: vec![outage], ..Habits::clean(ms(600)) };
    let config = Config { light: Some(ms(1200)), ..config() };
    let mut line = Line::new(&config, fixed(1_000_000), habits, 1);
    line.engines[0].send(1, 10_000, 0).expect("a session");
    // All has left and arrived; the report meets the outage.
    line.run(Instant::from_secs(99_000));
    assert_eq!((line.engines[0].counts().timeouts, line.engines[1].counts().timeouts), (0, 0));
    let carried = line.carried;
    assert_eq!(line.engines[0].deadline(), None);
    line.run(Instant::from_secs(100_001));
    assert_eq!(line.carried, carried, "the rest of the wait continues");
    line.run(Instant::from_secs(100_010));
    assert!(line.is_still());
    assert_eq!(line.engines[0].counts().repairs, 1);
}

#[test]
fn a_plan_without_a_contact_keeps_everything_back() {
    let mut line = Line::new(&config(), fixed(1_000_000), Habits::clean(ms(10)), 1);
    line.engines[0].on_plan(Instant::ZERO, BitRate(0));
    let session = line.engines[0].send(1, 5000, 0).expect("a session");
    line.engines[0].cancel(session, Reason::User);
    line.engines[0].send(1, 5000, 0).expect("a session");
    assert_eq!((line.engines[0].poll(Instant::from_secs(9)), line.engines[0].deadline()), (None, None));
}

#[test]
fn what_can_not_be_sent_is_told() {
    let mut config = config();
    config.quotas.exports = 2;
    let mut line = Line::new(&config, fixed(1000), Habits::clean(ms(10)), 1);
    let engine = &mut line.engines[0];
    assert_eq!(engine.send(1, 0, 0), Err(Unsendable::Empty));
    assert_eq!(engine.send(1, 1 << 62, 1), Err(Unsendable::TooLong));
    assert!(engine.send(1, 1, 0).is_ok() && engine.send(1, 0, 1).is_ok());
    assert_eq!(engine.send(1, 1, 0), Err(Unsendable::Busy));
    let tight = Config::new(1, 2, Bytes(45));
    let mut line = Line::new(&tight, fixed(1000), Habits::clean(ms(10)), 1);
    assert_eq!(line.engines[0].send(1, 1, 0), Err(Unsendable::NoRoom));
}

#[test]
fn a_session_is_cancelled_by_either_end_at_any_time() {
    for (end, by) in [(0, End::Sender), (1, End::Receiver)] {
        for at in (0..4000).step_by(97) {
            let habits = Habits { loss: 0.1, ..Habits::clean(ms(500)) };
            let mut line = Line::new(&config(), fixed(500_000), habits, at);
            let session = line.engines[0].send(1, 100_000, 10_000).expect("a session");
            line.run(Instant::ZERO + ms(at as i64));
            if line.engines[end].cancel(session, Reason::User) {
                assert!(!line.engines[end].cancel(session, Reason::System), "it is given up once");
            }
            line.run(Instant::from_secs(90_000));
            assert!(line.is_still(), "{by:?} at {at} ms: {:?}", line.engines[0].sessions());
            let told = Event::Cancelled { session, by, reason: Reason::User };
            for seen in line.seen.iter().filter(|seen| !seen.cancelled.is_empty()) {
                assert_eq!(seen.cancelled, [told]);
            }
            assert_eq!(line.engines[0].in_flight(), Bytes(0));
        }
    }
}

#[test]
fn a_peer_that_never_answers_costs_no_more_than_the_tries() {
    let habits = Habits { loss: 1.0, ..Habits::clean(ms(10)) };
    let config = Config { tries: 5, ..config() };
    let mut line = Line::new(&config, fixed(1_000_000), habits, 1);
    let session = line.engines[0].send(1, 5000, 0).expect("a session");
    line.run(Instant::from_secs(90_000));
    let told = Event::Cancelled { session, by: End::Sender, reason: Reason::Repeated };
    assert_eq!((line.seen[0].cancelled.clone(), line.is_still()), (vec![told], true));
    // Four segments of data, four checkpoints once more, and five cancellations.
    assert_eq!(line.carried, 4 + 4 + 5);
}

/// One block of 64 MB to Mars; gives the round trips until its sender knows that it is there, and the
/// segments of data that left for each that had to.
fn to_mars(loss: f64, copies: Option<u32>, seed: u64) -> (f64, f64) {
    let light = Duration::from_secs(960);
    let habits = Habits { loss, ..Habits::clean(Duration::from_secs(480)) };
    let config = Config { light: Some(light), copies, ..config() };
    let mut line = Line::new(&config, fixed(100_000_000), habits, seed);
    line.engines[0].send(1, 64_000_000, 0).expect("a session");
    let mut now = Instant::ZERO;
    while line.seen[0].sent.is_empty() {
        now += Duration::from_secs(10);
        line.run(now);
    }
    let least = 64_000_000_f64 / 1460.0;
    (now.as_secs_f64() / light.as_secs_f64(), line.engines[0].counts().sent as f64 / least)
}

#[test]
fn a_block_over_mars_takes_one_round_trip_for_its_repairs() {
    for seed in 0..20 {
        // Two are the least: of 44,000 segments some are lost. Data take 0.01 of a round trip to leave.
        let (rounds, sent) = to_mars(0.05, None, seed);
        assert!(rounds < 2.05 && sent < 1.6, "seed {seed}: {rounds} round trips, {sent} as many segments");
    }
}

/// By hand: `cargo test --release -p lightlag-protocols --test protocols -- --ignored --nocapture what_copies`.
#[test]
#[ignore = "prints figures"]
fn what_copies_cost_and_save() {
    for loss in [0.0, 0.01, 0.05, 0.1, 0.2] {
        for copies in [None, Some(1), Some(3)] {
            let seen: Vec<(f64, f64)> = (0..20).map(|seed| to_mars(loss, copies, seed)).collect();
            let mean = |of: fn(&(f64, f64)) -> f64| seen.iter().map(of).sum::<f64>() / seen.len() as f64;
            let most = seen.iter().map(|one| one.0).fold(0.0, f64::max);
            println!(
                "{loss} {copies:?}: {:.3} round trips, {most:.3} at most; {:.3}",
                mean(|o| o.0),
                mean(|o| o.1)
            );
        }
    }
}

#[test]
fn nothing_is_copied_on_a_lan_nor_where_a_window_decides() {
    let lan = Habits { loss: 0.05, ..Habits::clean(Duration::from_nanos(500_000)) };
    let config = Config { light: Some(ms(1)), ..config() };
    let line = sends(&config, lan, 100_000_000, &[(1_000_000, 0), (50_000, 0)], 7);
    assert_eq!(line.engines.iter().map(|engine| engine.counts().copies).sum::<u64>(), 0);
    let far = Habits { loss: 0.05, ..Habits::clean(Duration::from_secs(10)) };
    let config = Config { light: Some(Duration::from_secs(20)), ..config };
    for (name, repairs_are_copied) in [("new_reno", false), ("fixed", true)] {
        let mut line = Line::new(&config, controller(name, &[], Some(BitRate(10_000_000))), far.clone(), 7);
        line.engines[0].send(1, 500_000, 0).expect("a session");
        line.run(Instant::from_secs(100_000));
        assert!(line.is_still());
        assert_eq!(line.unasked_copies > 0, repairs_are_copied, "{name}: {}", line.unasked_copies);
    }
}

#[test]
fn small_units_leave_together_by_size_or_by_time() {
    use lightlag_protocols::transport::ltp::Aggregator;
    use lightlag_protocols::wire::ltp::aggregation::read_capsules;
    let mut collects = Aggregator::new(10, ms(500));
    let at = |n| Instant::ZERO + ms(n);
    assert_eq!((collects.push(at(0), 1, b"abc"), collects.deadline()), (None, Some(at(500))));
    assert_eq!(collects.push(at(100), 1, b"def"), None);
    let block = collects.push(at(200), 1, b"ghi").expect("it is full");
    let units = read_capsules(&block, |_, _| Some(3)).expect("capsules");
    assert_eq!(units, [(1, &b"abc"[..]), (1, b"def"), (1, b"ghi")]);
    assert_eq!((collects.deadline(), collects.poll(at(9999)), collects.flush()), (None, None, None));
    assert_eq!(collects.push(at(300), 7, b"jkl"), None);
    assert_eq!(collects.poll(at(799)), None);
    assert_eq!(collects.poll(at(800)), Some(b"\x07jkl".to_vec()));
}

#[test]
fn timers_follow_the_light_time() {
    for (light, tries) in [(ms(10_000), 1), (ms(60_000), 0)] {
        let config = Config { light: Some(ms(1000)), ..config() };
        let mut line = Line::new(&config, fixed(1_000_000), Habits::clean(ms(10_000)), 1);
        line.engines[0].on_light(light);
        line.engines[0].send(1, 1000, 0).expect("a session");
        line.run(Instant::from_secs(15));
        assert_eq!(line.engines[0].counts().timeouts, tries, "{light:?}");
    }
}
