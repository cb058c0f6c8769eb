//! Checkpoints at ends alone, for peers that give few reports a session.

use super::line::{Habits, Line, controller, ms};
use super::{bad, config, sends};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::Instant;
use lightlag_protocols::transport::Machine;
use lightlag_protocols::transport::ltp::{Checkpoints, Config, Content};
use lightlag_protocols::units::BitRate;

fn at_ends(config: Config) -> Config {
    Config { checkpoints: Checkpoints::AtEnds, ..config }
}

/// Runs a line that ends when its first engine has nothing to do, and gives what it was asked.
fn runs(name: &str, habits: Habits, blocks: &[u64], seed: u64) -> Line {
    let planned = Some(BitRate(20_000_000));
    let config = at_ends(Config { tries: 60, ..config() });
    let mut line = Line::new(&config, controller(name, &[], planned), habits, seed);
    for block in blocks {
        line.engines[0].send(1, *block, 0).expect("a session");
    }
    line.run(Instant::from_secs(1_000_000));
    assert!(line.is_still(), "{name}, seed {seed}: {:?}", line.engines[0].counts());
    assert_eq!(line.seen[0].sent.len(), blocks.len(), "{name}, seed {seed}: {:?}", line.seen[0].cancelled);
    line
}

#[test]
fn blocks_arrive_whole_over_bad_lines_with_checkpoints_at_ends() {
    for seed in 0..60 {
        let (config, habits, blocks) = bad(seed);
        sends(&at_ends(config), habits, 1 << (16 + seed % 10), &blocks, seed);
    }
}

#[test]
fn no_checkpoint_comes_before_the_red_part_has_ended_whatever_controls_the_rate() {
    for (index, entry) in lightlag_protocols::controllers::TABLE.iter().enumerate() {
        let only = entry.algorithm.only_with;
        if !only.is_empty() && !only.contains(&"ltp") {
            continue;
        }
        let mut draws = Stream::new(index as u64, "at ends", 0);
        let delay = ms(1 + draws.below(600) as i64);
        let habits = Habits { loss: draws.uniform(0.0, 0.05), ..Habits::clean(delay) };
        let blocks: Vec<u64> = (0..6).map(|_| 1 + draws.below(400_000)).collect();
        let line = runs(entry.algorithm.name, habits, &blocks, index as u64);
        for asked in line.asked.values() {
            let first = asked.iter().find(|one| one.report == 0).expect("the end of the red part");
            assert!(
                asked.iter().all(|one| one.report != 0 || one.ends_red),
                "{}: {first:?}",
                entry.algorithm.name
            );
        }
    }
}

#[test]
fn a_round_of_repairs_asks_once_though_its_reports_are_many() {
    // Of 14,000 segments 700 are lost: a report of their gaps takes many segments.
    let habits = Habits { loss: 0.05, ..Habits::clean(ms(500)) };
    for seed in 0..3 {
        let line = runs("fixed", habits.clone(), &[20_000_000], seed);
        let asked: Vec<_> = line.asked.values().flatten().collect();
        let mut serials: Vec<u64> = asked.iter().map(|one| one.serial).collect();
        serials.dedup();
        assert!(serials.len() <= 5 && asked.len() <= serials.len() + 3, "seed {seed}: {asked:?}");
        assert!(line.engines[1].counts().reports > 5, "seed {seed}: {:?}", line.engines[1].counts());
    }
}

#[test]
fn a_window_is_opened_by_probes_and_a_block_grows_it() {
    for name in ["cubic", "bbr"] {
        let line = runs(name, Habits::clean(ms(100)), &[4_000_000], 1);
        let (counts, asked) = (line.engines[0].counts(), line.asked.values().flatten().count());
        assert_eq!((asked, counts.repairs, counts.timeouts), (1, 0, 0), "{name}");
        assert!(counts.probes > 10 && counts.probes < counts.sent / 2, "{name}: {counts:?}");
        // With a fixed window of ten segments it would take 290 round trips.
        assert!(line.seen[0].sent.len() == 1 && line.now > Instant::ZERO);
    }
}

#[test]
fn probes_that_are_never_answered_do_not_stop_data() {
    let config = at_ends(Config { tries: 60, ..config() });
    let mut engine = lightlag_protocols::transport::ltp::Engine::new(config, controller("cubic", &[], None));
    engine.send(1, 200_000, 0).expect("a session");
    let (mut now, mut bytes) = (Instant::ZERO, 0);
    while bytes < 200_000 && now < Instant::from_secs(1_000_000) {
        while let Some(segment) = engine.poll(now) {
            if let Content::Data(data) = segment.content {
                bytes += data.length;
            }
        }
        now = engine.deadline().unwrap_or(Instant::MAX).max(now);
    }
    assert_eq!(bytes, 200_000);
}

#[test]
fn a_receiver_that_has_lost_what_it_reported_gets_it_again_in_most_cases() {
    let (mut restarts, mut complete) = (0, 0);
    for seed in 0..20 {
        let mut draws = Stream::new(seed, "restart", 0);
        let config = at_ends(Config { tries: 60, ..config() });
        let habits = Habits { loss: draws.uniform(0.05, 0.3), ..Habits::clean(ms(500)) };
        let mut line = Line::new(&config, controller("fixed", &[], Some(BitRate(20_000_000))), habits, seed);
        let length = 100_000 + draws.below(1_000_000);
        let session = line.engines[0].send(1, length, 0).expect("a session");
        // It has reported most of the block, and forgets all.
        line.run(Instant::ZERO + ms(1700 + draws.below(1500) as i64));
        let before = line.restart(&config, 1000 + seed);
        restarts += usize::from(!before.red.contains_key(&session) && !before.here.is_empty());
        line.run(Instant::from_secs(1_000_000));
        let counts = line.engines[0].counts();
        assert!(line.is_still() && line.seen[0].sent == [session], "seed {seed}: {counts:?}");
        let red = before.red.get(&session).or(line.seen[1].red.get(&session));
        complete += usize::from(red == Some(&length));
    }
    assert!(restarts > 10, "{restarts} of them in the middle");
    // Not in all: a sender that had heard of everything has closed the session.
    assert!(complete >= 19, "{complete} of 20 are complete");
}
