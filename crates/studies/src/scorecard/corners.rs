//! Named networks: places where controllers are known to break, and the ends of the space.

use super::change::{Change, Shape};
use super::space::{Arrival, Company, Losses, Network, PACKET_BITS, Plan, QueueKind, Traffic};

/// A link of this rate and round-trip time without faults, with a queue of one BDP.
fn plain(name: &str, rate_bit_s: f64, rtt_s: f64) -> Network {
    Network {
        name: name.to_owned(),
        rate_bit_s,
        scaled: 1.0,
        rtt_s,
        queue: QueueKind::DropTail,
        queue_packets: (rate_bit_s * rtt_s / PACKET_BITS).round().clamp(10.0, 10_000.0),
        loss: None,
        loss_back: false,
        return_ratio: 1.0,
        rate_change: None,
        delay_change: None,
        jitter_s: 0.0,
        outages: None,
        reorder: 0.0,
        duplicate: 0.0,
        plan: Plan::Absent,
        company: Company::Alone,
        others: 0,
        others_rtt: 1.0,
        arrival: Arrival::Together,
        on_off: None,
        traffic: Traffic::Endless,
        rounds: 0.0,
    }
}

fn change(shape: Shape, factor: f64, rounds: f64) -> Option<Change> {
    Some(Change { shape, factor, rounds })
}

fn of_its_kind(network: Network, apart: f64) -> Network {
    let arrival = if apart > 0.0 { Arrival::Apart(apart) } else { Arrival::Together };
    Network { company: Company::Own, others: 15, arrival, queue_packets: 100.0, plan: Plan::Right, ..network }
}

/// Every named network.
pub fn all() -> Vec<Network> {
    let random = |share| Some(Losses { share, burst: None });
    let list = vec![
        Network { queue_packets: 100.0, ..plain("unknown_240s", 1e6, 240.0) },
        Network { queue_packets: 100.0, ..plain("unknown_30s", 5e5, 30.0) },
        Network { delay_change: change(Shape::Flap, 200.0, 2.5), ..plain("flap_10ms_2s", 1e6, 0.01) },
        Network { delay_change: change(Shape::Ramp, 1.33, 60.0), ..plain("ramp_60_to_80ms", 1e7, 0.06) },
        Network { delay_change: change(Shape::Step, 10.0, 1.0), ..plain("rtt_times_10", 1e7, 0.06) },
        Network { return_ratio: 125.0, plan: Plan::Right, ..plain("return_8kbit", 1e6, 1.0) },
        of_its_kind(plain("sixteen_1s", 1e6, 1.0), 0.0),
        of_its_kind(plain("sixteen_600s", 1e6, 600.0), 0.0),
        of_its_kind(plain("sixteen_600s_apart", 1e6, 600.0), 2.5),
        Network { rate_change: change(Shape::Step, 5.0, 1.0), ..plain("grows_1_to_5mbit", 1e6, 1.0) },
        Network { jitter_s: 0.1, ..plain("jitter_100ms", 1e6, 1.0) },
        Network { loss: random(0.05), ..plain("loss_5_percent", 1e7, 0.05) },
        Network { loss: random(0.3), ..plain("loss_30_percent", 1e7, 0.05) },
        Network { queue_packets: 100.0, ..plain("rtt_10s", 1e6, 10.0) },
        plain("slowest_nearest", 1e3, 1e-3),
        plain("slowest_farthest", 1e3, 2400.0),
        plain("fastest_nearest", 1e10, 1e-3),
        Network { queue_packets: 4.0, ..plain("queue_of_4", 1e7, 0.05) },
        Network { queue: QueueKind::CoDel(false), queue_packets: 1000.0, ..plain("codel", 1e7, 0.05) },
        Network { company: Company::Tcp("cubic"), others: 1, ..plain("beside_cubic", 1e7, 0.05) },
        Network {
            company: Company::Tcp("cubic"),
            others: 1,
            arrival: Arrival::Visit,
            ..plain("cubic_visits", 1e7, 0.05)
        },
    ];
    list.into_iter().map(Network::affordable).collect()
}
