//! Protocols that are named and counted.

use super::*;

fn udp(forward: bool, port: u16, bytes: &[u8]) -> Vec<u8> {
    let ((source, destination), ports) =
        if forward { ((CLIENT, SERVER), (20_000, port)) } else { ((SERVER, CLIENT), (port, 20_000)) };
    let mut packet = Vec::new();
    PacketBuilder::ipv4(source, destination, 64).udp(ports.0, ports.1).write(&mut packet, bytes).unwrap();
    packet
}

fn protocols(made: &Analysed) -> Vec<&'static str> {
    made.flows.iter().map(|flow| flow.protocol.name()).collect()
}

#[test]
fn quic_is_known_by_its_opening_packet() {
    let opening = |version: [u8; 4]| [&[0xc3][..], &version, &[8], &[0; 1186]].concat();
    for version in [[0, 0, 0, 1], [0x6b, 0x33, 0x43, 0xcf], [0xff, 0, 0, 29]] {
        let packets = vec![
            (0, udp(true, 4433, &opening(version))),
            (50 * MS, udp(false, 4433, &opening(version))),
            (51 * MS, udp(true, 4433, &[0x41; 60])),
        ];
        let made = said(&packets);
        assert_eq!(protocols(&made), ["QUIC"]);
        let (out, back) = (&made.flows[0].out, &made.flows[0].back);
        assert_eq!((out.packets, out.unique_bytes, back.unique_bytes), (2, 1252, 1192));
        let options = Options { filters: vec!["quic".parse().unwrap()], ..Options::default() };
        assert_eq!(analyse(&capture(&packets)[..], options).unwrap().flows.len(), 1);
    }
    assert_eq!(protocols(&said(&vec![(0, udp(true, 443, &opening([9; 4])))])), ["UDP"]);
}

#[test]
fn multipath_tcp_is_known_by_its_option() {
    let capable = |header: &mut TcpHeader| {
        (header.syn, header.ack) = (true, false);
        header.set_options_raw(&[30, 4, 1, 1]).unwrap();
    };
    let mut packets = opened(1);
    packets[0].1 = segment(true, 0, capable, 0);
    packets.extend([(200 * MS, data(1)), (300 * MS, ack(1001))]);
    let made = said(&packets);
    assert_eq!((protocols(&made), made.flows[0].out.unique_bytes), (vec!["MPTCP"], 1000));
}

/// Chunks of SCTP between ports 20000 and 9.
fn sctp(forward: bool, chunks: &[Vec<u8>]) -> Vec<u8> {
    let ports: [u16; 2] = if forward { [20_000, 9] } else { [9, 20_000] };
    let ports = ports.map(u16::to_be_bytes).concat();
    ip(forward, IpNumber::SCTP, &[&ports[..], &[0; 8], &chunks.concat()].concat())
}

fn chunk(kind: u8, value: &[u8]) -> Vec<u8> {
    let length = (4 + value.len()) as u16;
    let mut bytes = [&[kind, 3][..], &length.to_be_bytes(), value].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[test]
fn sctp_counts_chunks_of_data_and_what_is_sent_again() {
    let data = |number: u32| chunk(0, &[&number.to_be_bytes()[..], &[0; 8], &[0; 101]].concat());
    let sack = |number: u32| chunk(3, &[&number.to_be_bytes()[..], &[0; 8]].concat());
    let packets = vec![
        (0, sctp(true, &[chunk(1, &[0; 16])])),
        (50 * MS, sctp(false, &[chunk(2, &[0; 16])])),
        (60 * MS, sctp(true, &[data(u32::MAX), data(0)])),
        (110 * MS, sctp(false, &[sack(u32::MAX)])),
        (400 * MS, sctp(true, &[data(0)])),
        (450 * MS, sctp(false, &[sack(0)])),
        (500 * MS, sctp(true, &[chunk(6, &[])])),
    ];
    let made = said(&packets);
    assert_eq!((protocols(&made), made.notes.len()), (vec!["SCTP"], 0));
    let (out, back) = (&made.flows[0].out, &made.flows[0].back);
    assert_eq!((out.data_packets, out.unique_bytes, out.data_bytes), (3, 202, 303));
    assert_eq!((out.retransmitted_packets, out.retransmitted_bytes, out.control_packets), (1, 101, 2));
    assert_eq!((out.rtt_ms.unwrap().samples, out.rtt_ms.unwrap().avg), (1, 50.0));
    assert_eq!((back.pure_acks, back.control_packets), (2, 1));
}
