//! Every queue discipline under any sequence of packets.

use lightlag_protocols::link::Load;
use lightlag_protocols::link::queues::{Entry, Limit, Queue};
use lightlag_protocols::parameter::Parameters;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    number: u32,
    size: u64,
    priority: u8,
}

impl Load for Packet {
    fn size(&self) -> Bytes {
        Bytes(self.size)
    }
    fn priority(&self) -> u8 {
        self.priority
    }
}

/// Pushes a packet of this size and priority, or pops one, after some milliseconds.
type Step = (Option<(u64, u8)>, i64);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let packet = prop_oneof![
        2 => (40_u64..1500, 0_u8..3).prop_map(Some),
        1 => Just(None),
    ];
    proptest::collection::vec((packet, 0_i64..200), 1..200)
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1_u64..20).prop_map(Limit::Packets),
        (1_000_u64..20_000).prop_map(|b| Limit::Bytes(Bytes(b)))
    ]
}

/// Plays the steps; gives what left, in order, and what was dropped.
fn play(row: &Entry<Packet>, limit: Limit, steps: &[Step]) -> Result<(Vec<u32>, Vec<u32>), TestCaseError> {
    let defaults =
        Parameters::resolve(row.name, row.parameters, &BTreeMap::new()).expect("defaults are in range");
    let mut queue = (row.build)(&defaults, limit);
    let (mut now, mut waiting) = (Instant::ZERO, Vec::<Packet>::new());
    let (mut left, mut dropped) = (Vec::new(), Vec::new());
    for (index, (packet, ms)) in steps.iter().enumerate() {
        now = now.saturating_add(Duration::from_nanos(ms * 1_000_000));
        if let Some((size, priority)) = *packet {
            let packet = Packet { number: index as u32, size, priority };
            waiting.push(packet);
            if let Err(victim) = queue.push(now, packet) {
                prop_assert!(waiting.contains(&victim), "{}: drops what is not there", row.name);
                waiting.retain(|other| *other != victim);
                dropped.push(victim.number);
            }
        } else {
            let mut instead = Vec::new();
            let next = queue.pop(now, &mut instead);
            prop_assert!(row.drops_waiting || instead.is_empty(), "{}: drops waiting packets", row.name);
            for packet in instead.iter().chain(&next) {
                prop_assert!(waiting.contains(packet), "{}: gives what is not there", row.name);
                waiting.retain(|other| other != packet);
            }
            prop_assert!(
                next.is_some() || waiting.is_empty(),
                "{}: gives nothing though packets wait",
                row.name
            );
            if let Some(next) = next {
                let behind = |other: &Packet| {
                    let urgent = if row.by_priority {
                        next.priority.cmp(&other.priority)
                    } else {
                        std::cmp::Ordering::Equal
                    };
                    urgent.then(next.number.cmp(&other.number)).is_lt()
                };
                prop_assert!(waiting.iter().all(behind), "{}: {next:?} overtakes", row.name);
                left.push(next.number);
            }
            dropped.extend(instead.iter().map(|packet| packet.number));
        }
        prop_assert_eq!(queue.len(), waiting.len(), "{} miscounts", row.name);
        let fits = match limit {
            Limit::Packets(most) => (waiting.len() as u64) < most,
            Limit::Bytes(most) => waiting.iter().map(|packet| packet.size).sum::<u64>() <= most.0,
        };
        prop_assert!(fits, "{}: more waits than {limit:?}", row.name);
    }
    Ok((left, dropped))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn any_packets_leave_in_order_within_the_limit_and_none_is_lost_or_made(
        which in 0..Entry::<Packet>::TABLE.len(),
        limit in limits(),
        steps in steps(),
    ) {
        let row = &Entry::<Packet>::TABLE[which];
        let once = play(row, limit, &steps)?;
        prop_assert_eq!(once, play(row, limit, &steps)?, "{} differs from itself", row.name);
    }
}
