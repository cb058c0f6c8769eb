//! What counts as sent again and as lost, and of which flows a window of one packet is reported.

use super::*;

/// A request without acknowledgement, as clients open with.
fn syn() -> Vec<u8> {
    segment(true, 0, |header| (header.syn, header.ack) = (true, false), 0)
}

fn fin(number: u32, payload: usize) -> Vec<u8> {
    segment(true, number, |header| (header.fin, header.acknowledgment_number) = (true, 1), payload)
}

fn sent_again(packets: &Packets) -> (u64, u64, u64, u64) {
    let out = &said(packets).flows[0].out;
    (out.retransmitted_packets, out.retransmitted_bytes, out.unique_bytes, out.out_of_order)
}

#[test]
fn data_captured_after_its_acknowledgement_is_not_sent_again() {
    let mut packets = opened(1);
    packets.extend([(200 * MS, data(1)), (300 * MS, ack(3001))]);
    // Two segments that the acknowledgement covers, captured behind it, and one of them indeed again.
    packets.extend([(301 * MS, data(1001)), (302 * MS, data(2001))]);
    packets.extend([(400 * MS, data(3001)), (700 * MS, data(2001)), (800 * MS, ack(4001))]);
    assert_eq!(sent_again(&packets), (1, 1000, 4000, 0));
    // Half of it was captured before the acknowledgement: that half is sent again.
    let mut packets = opened(1);
    packets.extend([(200 * MS, data(1)), (300 * MS, ack(2001)), (301 * MS, data(501))]);
    assert_eq!(sent_again(&packets), (1, 500, 1500, 0));
    // In a capture that begins within a connection, what lies below was never seen either.
    let packets = vec![(0, data(5001)), (MS, ack(6001)), (2 * MS, data(4001)), (3 * MS, data(4001))];
    assert_eq!(sent_again(&packets), (1, 1000, 2000, 1));
}

#[test]
fn repeated_syns_and_fins_count_as_sent_again() {
    let eleven: Packets = (0..11).map(|second| (second * 1000 * MS, syn())).collect();
    assert_eq!(sent_again(&eleven), (10, 10, 0, 0));
    let out = &said(&eleven).flows[0].out;
    assert_eq!((out.retransmitted_by_timeout, out.data_packets, out.pure_acks), (10, 0, 0));
    let mut packets = opened(1);
    packets.extend([(200 * MS, data(1)), (300 * MS, ack(1001))]);
    packets.extend([400, 800, 1600].map(|at| (at * MS, fin(1001, 0))));
    packets.push((1700 * MS, ack(1002)));
    assert_eq!(sent_again(&packets), (2, 2, 1000, 0));
    assert_eq!(said(&packets).flows[0].out.retransmitted_by_timeout, 2);
    let mut packets = opened(1);
    packets.extend([200, 800].map(|at| (at * MS, fin(1, 100))));
    assert_eq!(sent_again(&packets), (1, 101, 100, 0));
}

/// `count` packets of data, each acknowledged 100 ms after it left; `left`: when each leaves, in ms.
fn alone(count: u32, left: impl Fn(i64) -> i64, payload: usize, answer: usize) -> Packets {
    let mut packets = opened(1);
    // A full segment shows how much fits.
    packets.extend([(110 * MS, data(1)), (210 * MS, ack(1001))]);
    for index in 0..count {
        let at = 300 + left(index.into());
        let (number, back) = (1001 + index * payload as u32, 1 + index * answer as u32);
        let own = move |header: &mut TcpHeader| header.acknowledgment_number = back;
        packets.push((at * MS, segment(true, number, own, payload)));
        let next = move |header: &mut TcpHeader| header.acknowledgment_number = number + payload as u32;
        packets.push(((at + 100) * MS, segment(false, back, next, answer)));
    }
    packets
}

#[test]
fn a_window_of_one_packet_is_not_said_of_idle_and_interactive_flows() {
    let said_of = |packets: &Packets| {
        let flow = said(packets).flows.remove(0);
        flow.anomalies.iter().any(|text| text.starts_with("out: window of one packet"))
    };
    let at_once = |index: i64| index * 100;
    assert!(said_of(&alone(60, at_once, 1000, 0)), "it waits for each acknowledgement");
    assert!(!said_of(&alone(60, |index| index * 1000, 1000, 0)), "it is idle");
    assert!(!said_of(&alone(60, at_once, 1000, 200)), "it waits for answers");
    assert!(!said_of(&alone(60, at_once, 36, 0)), "someone types");
}

#[test]
fn a_loss_event_rate_that_rises_is_a_loss_in_every_figure() {
    let (first, server) = (100, 7);
    let mut packets = vec![(0, dccp(true, first, Body::Request { service: 1 }, None, 0))];
    let response = Body::Response { ack: Sequence::new(first), service: 1 };
    packets.push((50 * MS, dccp(false, server, response, None, 0)));
    // In packets per event: fewer mean a greater rate.
    for (number, interval) in (1..).zip([u32::MAX, 100, 100, 50, 80, 20]) {
        let at = number as i64 * 100 * MS;
        packets.push((at, dccp(true, first + number, Body::Data, None, 500)));
        let mut options = Vec::new();
        Item::LossEventRate(interval).write(&mut options);
        let sequence = Sequence::new(server + number);
        let body = Body::Ack { ack: Sequence::new(first + number) };
        let header =
            Header { source: 5001, destination: 20_000, ccval: 0, coverage: 0, short: false, sequence, body };
        let bytes = Packet { header, options: &options, data: &[] }.to_bytes(None);
        packets.push((at + 50 * MS, ip(false, IpNumber(33), &bytes)));
    }
    packets.sort_by_key(|packet| packet.0);
    let out = &said(&packets).flows[0].out;
    assert_eq!((out.lost_packets, out.losses.packets, out.losses.events), (Some(3), 3, 3));
}
