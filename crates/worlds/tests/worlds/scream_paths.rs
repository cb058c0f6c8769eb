//! Paths drawn from rates of 100 kbit/s to 100 Mbit/s and round trips of 5 ms to 2 s, and what a TCP flow of `scream`
//! gets and drops there.

use super::drawn_paths::Path;
use lightlag_protocols::math;
use lightlag_protocols::rng::Stream;
use lightlag_worlds::packets::run;

const PACKET: f64 = 8.0 * 1500.0;

/// Queues of a quarter to four of what is in flight, at least ten packets; every second path loses 1e-5 to 1e-2.
fn drawn(index: u64) -> Path {
    let mut draws = Stream::new(33, "scream paths", index);
    let mut between = |low: f64, high: f64| math::exp(math::log(low) + draws.unit() * math::log(high / low));
    let (rate, rtt_s) = (between(1e5, 1e8), between(5e-3, 2.0));
    let queue = (between(0.25, 4.0) * rate * rtt_s / PACKET).max(10.0) as u64;
    let loss = between(1e-5, 1e-2);
    Path::new(rate, rtt_s, queue, if draws.below(2) == 0 { loss } else { 0.0 })
}

/// Packets in flight that the laws explain in the second half of a run: those of the path, of a growth by one and a
/// fiftieth per round trip that lasts for the first half, or of a response to losses such as Reno's.
fn expected(path: &Path) -> f64 {
    let rounds = path.span_s / path.rtt_s / 2.0;
    let grown = (math::exp(0.02 * rounds.min(1_000.0)) - 1.0) / 0.02;
    let lossy = if path.loss > 0.0 { 1.0 / path.loss.sqrt() } else { f64::INFINITY };
    (path.rate * path.rtt_s / PACKET).min(grown).min(lossy)
}

#[test]
fn scream_drops_little_on_paths_drawn_at_random_and_delivers_what_its_laws_allow() {
    let mut full = 0;
    for index in 0..120 {
        let path = drawn(index);
        let (shares, dropped) = path.second_half(&["scream"]);
        let flight = shares[0] * path.rate * path.rtt_s / PACKET;
        let text = format!("{:.3} of the link, {dropped:.4} dropped: {path:?}", shares[0]);
        assert!(dropped < 0.005, "{text}");
        assert!(flight > 0.5 * expected(&path), "{text}");
        full += u32::from(shares[0] > 0.9);
    }
    assert!(full > 72, "{full} of 120");
}

#[test]
fn scream_alone_on_a_constant_link_fills_it_with_a_queue_of_half_its_target() {
    for rate in [1e5, 1e6, 1e7, 1e8] {
        for rtt_s in [0.005, 0.02, 0.1, 0.5, 2.0] {
            // The ramp to more packets is longer than the run.
            if rate * rtt_s / PACKET > 175.0 {
                continue;
            }
            let path = Path::new(rate, rtt_s, 100_000, 0.0);
            let (shares, dropped) = path.second_half(&["scream"]);
            let packets = run(&path.setup(&["scream"], path.span_s), &mut ()).links[0].queue_packets_max;
            assert!(shares[0] > 0.85 && dropped == 0.0, "{shares:?}: {path:?}");
            // Half of the target, a round trip's growth, and on slow links the least window.
            let most = 0.031 * rate / PACKET + 6.0;
            assert!(packets as f64 <= most, "{packets} packets: {path:?}");
        }
    }
}
