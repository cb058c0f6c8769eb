//! Captures of several interfaces.

use super::*;
use crate::Packets as Writer;

/// What two interfaces of an emulated link capture of a connection: each packet at its sender's side and, 50 ms later, at the
/// other one.
fn emulated() -> Vec<u8> {
    let mut passing: Vec<(i64, u32, Vec<u8>)> = Vec::new();
    for (at_ns, packet) in opened(1).into_iter().chain([(300 * MS, data(1)), (400 * MS, ack(1001))]) {
        // 10.0.0.1 is behind interface 0. Times are those of the client's side.
        let forward = packet[15] == CLIENT[3];
        passing.push((at_ns, 0, packet.clone()));
        passing.push((if forward { at_ns + 50 * MS } else { at_ns - 50 * MS }, 1, packet));
    }
    passing.sort_by_key(|one| one.0);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, "test", &["near", "far"]).unwrap();
    for (at_ns, interface, packet) in passing {
        writer.write(1_000_000_000 + at_ns, interface, true, &packet).unwrap();
    }
    writer.finish().unwrap();
    file
}

fn at(interface: Option<&str>) -> Result<Analysed, Error> {
    let options = Options { interface: interface.map(str::to_owned), ..Options::default() };
    analyse(&emulated()[..], options)
}

#[test]
fn a_packet_that_passes_two_interfaces_counts_once_at_that_of_the_first_packet() {
    let (both, near) = (at(None).unwrap(), at(Some("near")).unwrap());
    let (one, other) = (&both.flows[0], &near.flows[0]);
    assert_eq!((both.flows.len(), both.packets), (1, near.packets));
    assert_eq!((one.out.packets, one.back.packets), (other.out.packets, other.back.packets));
    assert_eq!(one.out.retransmitted_packets, 0);
    let rtt = |flow: &FlowFigures| flow.out.rtt_ms.map(|rtt| (rtt.samples, rtt.min, rtt.max));
    assert!(rtt(one).is_some_and(|rtt| rtt.0 > 0) && rtt(one) == rtt(other), "{:?}", rtt(one));
    let note = format!("{} packets were captured at a second interface as well and count once", near.packets);
    assert!(both.notes.iter().any(|line| line.starts_with(&note)), "{:?}", both.notes);
    assert!(near.notes.is_empty(), "{:?}", near.notes);
    assert!(!one.anomalies.iter().any(|line| line.contains("--interface")), "{:?}", one.anomalies);
}

#[test]
fn an_interface_is_chosen_by_name_or_number() {
    let (far, second) = (at(Some("far")).unwrap(), at(Some("1")).unwrap());
    assert_eq!(far.flows[0].out.rtt_ms, second.flows[0].out.rtt_ms);
    assert_ne!(far.flows[0].out.rtt_ms, at(Some("0")).unwrap().flows[0].out.rtt_ms);
    let wrong = at(Some("middle")).err().map(|error| error.to_string());
    assert_eq!(wrong.as_deref(), Some("has no interface `middle`; it has near, far"));
    let lone = Options { interface: Some("0".to_owned()), ..Options::default() };
    assert_eq!(analyse(&capture(&opened(1))[..], lone).unwrap().packets, opened(1).len() as u64);
}

#[test]
fn directions_that_pass_one_interface_each_are_one_flow() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, "test", &["up", "down"]).unwrap();
    for (at_ns, packet) in opened(1).into_iter().chain([(300 * MS, data(1)), (400 * MS, ack(1001))]) {
        let interface = u32::from(packet[15] != CLIENT[3]);
        writer.write(1_000_000_000 + at_ns, interface, true, &packet).unwrap();
    }
    writer.finish().unwrap();
    let made = analyse(&file[..], Options::default()).unwrap();
    assert!(made.notes.is_empty(), "{:?}", made.notes);
    assert!(made.flows.len() == 1 && made.flows[0].out.rtt_ms.is_some());
    assert_eq!(made.flows[0].out.lost_packets, None, "TCP does not say what is lost");
}
