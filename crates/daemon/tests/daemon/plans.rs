//! Contact plans: the state of a path before anything is measured.

use super::pair::{Extra, Pair};
use super::streams::{Got, Target, exchange};
use std::thread;
use std::time::Duration;

fn plan(from: &str, to: &str, delay: &str) -> String {
    format!("[[peer.contact]]\nfrom = \"{from}\"\nto = \"{to}\"\ndelay = \"{delay}\"\n")
}

/// What carries connections when TCP has been there for long enough to be chosen.
fn carrier(pair: &Pair) -> String {
    thread::sleep(Duration::from_millis(1500));
    let peer = &pair.near.status()["peers"][0];
    assert!(!peer["tcp"].is_null());
    peer["history"].as_array().unwrap().last().unwrap()[1].as_str().unwrap().to_owned()
}

#[test]
fn outside_of_planned_contacts_and_where_a_long_delay_is_planned_datagrams_carry() {
    let over = plan("2001-01-01T00:00:00Z", "2001-01-02T00:00:00Z", "0s");
    let long = plan("2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "2min");
    for near in [over, long] {
        let pair = Pair::start(Extra { near: &near, ..Extra::default() });
        assert_eq!(carrier(&pair), "udpdtn");
        let target = Target::start(true);
        let (sent, back) = exchange(pair.connect(target.port, "").unwrap(), 3, 1_000_000);
        sent.unwrap();
        assert_eq!(back, Got { number: 3 ^ u64::MAX, length: 1_000_000, is_whole: true });
    }
}

#[test]
fn within_a_planned_contact_of_a_short_delay_nothing_changes() {
    let now = plan("2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "20ms");
    let pair = Pair::start(Extra { near: &now, ..Extra::default() });
    assert_eq!(carrier(&pair), "tcp");
}
