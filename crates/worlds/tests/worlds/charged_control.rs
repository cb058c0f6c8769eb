//! Control data of mechanisms takes time on links where they ask to be charged for it.

use crate::common::{Net, delivered};
use lightlag_protocols::dtn::Radio;
use lightlag_protocols::dtn::{
    BufferDecision, Built, Bundle, BundleId, DropReason, Local, Mechanism, Needs, NodePolicy, Table,
};
use lightlag_protocols::record::bundles::Record;

/// Refuses bundles that do not fit, and sends a hundred numbers to peers.
struct Talkative;

fn numbers() -> Table {
    (0..100).map(|key| (key, 0.5)).collect()
}

impl Mechanism for Talkative {
    fn make_room(&mut self, _: &Local, _: &Bundle, _: Option<BundleId>) -> BufferDecision {
        BufferDecision::Refuse
    }
    fn state(&mut self, _: &Local) -> Option<Table> {
        Some(numbers())
    }
}

const CHARGED: Needs = Needs { charged: true, ..Needs::NONE };
const RECEIPTS: Needs = Needs { charged: false, receipts: true, ..CHARGED };
const FREE: Needs = Needs { charged: false, ..CHARGED };

fn run(net: Net, needs: Needs) -> Vec<(f64, Record)> {
    net.run_with(move |_| Built { algorithm: Box::new(Talkative), properties: needs })
}

fn control_bytes(run: &[(f64, Record)]) -> Vec<(f64, u32, u32, u64)> {
    let control = |(at, record): &(f64, Record)| match record {
        Record::Control { from, to, size } => Some((*at, from.0, to.0, size.get())),
        _ => None,
    };
    run.iter().filter_map(control).collect()
}

/// Seconds that a link of 2.5 Mbit/s needs.
fn seconds(bytes: u64) -> f64 {
    bytes as f64 * 8.0 / 2.5e6
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn a_charged_state_delays_the_first_bundle_by_its_bytes() {
    let net = || {
        let mut net = Net::new(2).contact(0, 1, 100.0, 200.0).bundle(0, 1, 50_000, 0.0);
        net.rules.radio = Radio::Direction;
        net
    };
    let bytes = numbers().to_bytes().len() as u64;
    let charged = run(net(), CHARGED);
    assert_eq!(control_bytes(&charged), [(100.0, 0, 1, bytes), (100.0, 1, 0, bytes)]);
    assert!(close(delivered(&charged)[0].0, 100.16 + seconds(bytes)));
    let free = run(net(), FREE);
    assert!(control_bytes(&free).is_empty());
    assert_eq!(delivered(&free)[0].0, 100.16);
}

#[test]
fn directions_that_share_a_link_share_the_time_of_its_control_data() {
    let net = Net::new(2).contact(0, 1, 100.0, 200.0).bundle(0, 1, 50_000, 0.0);
    let bytes = numbers().to_bytes().len() as u64;
    assert!(close(delivered(&run(net, CHARGED))[0].0, 100.16 + 2.0 * seconds(bytes)));
}

#[test]
fn a_link_that_was_idle_meanwhile_has_carried_its_control_data() {
    let net = Net::new(2).contact(0, 1, 100.0, 200.0).bundle(0, 1, 50_000, 150.0);
    assert!(close(delivered(&run(net, CHARGED))[0].0, 150.16));
}

#[test]
fn a_receipt_deletes_the_copy_and_takes_eight_bytes_of_each_link() {
    // 0 and 2 hold a copy when 1 gets it; 0 learns of it from 2.
    let net = || {
        Net::new(3)
            .contact(0, 2, 0.0, 10.0)
            .contact(2, 1, 20.0, 30.0)
            .contact(0, 2, 40.0, 50.0)
            .bundle(0, 1, 50_000, 0.0)
    };
    let acknowledged = run(net(), RECEIPTS);
    assert_eq!(control_bytes(&acknowledged), [(20.16, 1, 2, 8), (40.0, 2, 0, 8)]);
    let gone = |run: &[(f64, Record)]| {
        let acknowledged =
            |record: &Record| matches!(record, Record::Gone { reason: DropReason::Acknowledged, .. });
        run.iter().filter(|(_, record)| acknowledged(record)).count()
    };
    assert_eq!((gone(&acknowledged), gone(&run(net(), FREE))), (2, 0));
}

#[test]
fn receipts_by_habit_are_free_unless_the_mechanism_asks_to_be_charged() {
    let net = || {
        let mut net = Net::new(2).contact(0, 1, 0.0, 10.0).bundle(0, 1, 50_000, 0.0);
        net.policy = NodePolicy { receipts: true, ..NodePolicy::default() };
        net
    };
    assert!(control_bytes(&run(net(), FREE)).is_empty());
    let receipts = control_bytes(&run(net(), CHARGED)).into_iter().filter(|told| told.3 == 8).count();
    assert_eq!(receipts, 1);
}

#[test]
fn a_receipt_learnt_during_a_transfer_delays_the_next_one_only() {
    let mut net = Net::new(3).contact(0, 1, 0.0, 100.0).contact(1, 2, 0.0, 100.0);
    net.rules.radio = Radio::Direction;
    // Direct routing: 1 gets bundle 0 and sends the receipt to 2, to which it is sending bundles 1 and 2.
    let net =
        net.router("direct").bundle(0, 1, 50_000, 0.0).bundle(1, 2, 75_000, 0.0).bundle(1, 2, 75_000, 0.0);
    let run = run(net, RECEIPTS);
    let told = control_bytes(&run).iter().filter(|told| (told.1, told.2) == (1, 2)).count();
    // The receipt of bundle 0 after bundle 1, and nothing else before bundle 2 has come.
    assert!(told >= 1);
    let times = delivered(&run);
    assert!(close(times.iter().find(|d| d.1 == 1).unwrap().0, 0.24));
    assert!(close(times.iter().find(|d| d.1 == 2).unwrap().0, 0.48 + seconds(8)));
}

#[test]
fn what_is_charged_does_not_cross_a_direction_that_carries_nothing() {
    let net = Net::new(2).one_way(0, 1, 0.0, 100.0).bundle(0, 1, 50_000, 0.0);
    let run = run(net, Needs { receipts: true, ..CHARGED });
    assert!(control_bytes(&run).iter().all(|told| (told.1, told.2) == (0, 1)));
    assert_eq!(delivered(&run).len(), 1);
}
