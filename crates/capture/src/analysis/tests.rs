//! Captures that the tests make themselves, and what is said of them.

use super::*;
use crate::{to_dccp, to_tcp};
use etherparse::{IpNumber, Ipv4Header, PacketBuilder, TcpHeader, TcpOptionElement};
use lightlag_protocols::wire::dccp::{
    Addresses, Body, Header, Item, Packet, Received, RunOfPackets, Sequence,
};
use lightlag_protocols::wire::ltp::{self, Checkpoint, Claim, Color, Content, Data, Ends, Report, SessionId};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, TsResolution};
use proptest::prelude::*;
use std::io::Write;
use std::time::Duration;

mod interfaces;
mod messages;
mod named;
mod sent_again;

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
const MS: i64 = 1_000_000;

/// (time in ns, packet of IP).
type Packets = Vec<(i64, Vec<u8>)>;

/// A capture of packets of IP.
fn capture(packets: &Packets) -> Vec<u8> {
    framed(packets, DataLink::RAW, &[], Endianness::Little, TsResolution::NanoSecond)
}

fn framed(
    packets: &Packets,
    datalink: DataLink,
    before: &[u8],
    endianness: Endianness,
    ts_resolution: TsResolution,
) -> Vec<u8> {
    let header = PcapHeader { datalink, endianness, ts_resolution, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for (at_ns, packet) in packets {
        let frame = [before, packet].concat();
        let at = Duration::from_nanos(1_000_000_000 + *at_ns as u64);
        writer.write_packet(&PcapPacket::new(at, frame.len() as u32, &frame)).unwrap();
    }
    writer.into_writer()
}

fn said(packets: &Packets) -> Analysed {
    analyse(&capture(packets)[..], Options::default()).unwrap()
}

fn ip(forward: bool, protocol: IpNumber, payload: &[u8]) -> Vec<u8> {
    let (source, destination) = if forward { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    let header = Ipv4Header::new(payload.len() as u16, 64, protocol, source, destination).unwrap();
    [&header.to_bytes()[..], payload].concat()
}

/// A segment from the client (data) or from the server (acknowledgements).
fn segment(forward: bool, number: u32, change: impl Fn(&mut TcpHeader), payload: usize) -> Vec<u8> {
    let ports = if forward { (20_000, 80) } else { (80, 20_000) };
    let mut header = TcpHeader::new(ports.0, ports.1, number, 60_000);
    header.ack = true;
    change(&mut header);
    ip(forward, IpNumber::TCP, &[&header.to_bytes()[..], &vec![0; payload]].concat())
}

fn data(number: u32) -> Vec<u8> {
    segment(true, number, |header| header.acknowledgment_number = 1, 1000)
}

fn ack(number: u32) -> Vec<u8> {
    segment(false, 1, |header| header.acknowledgment_number = number, 0)
}

/// Opens a connection whose data begin with `first`; the round trip is 100 ms at the client.
fn opened(first: u32) -> Packets {
    let syn = |header: &mut TcpHeader| (header.syn, header.ack) = (true, false);
    let syn_ack = |header: &mut TcpHeader| {
        (header.syn, header.acknowledgment_number) = (true, first);
    };
    vec![
        (0, segment(true, first.wrapping_sub(1), syn, 0)),
        (100 * MS, segment(false, 0, syn_ack, 0)),
        (100 * MS, segment(true, first, |header| header.acknowledgment_number = 1, 0)),
    ]
}

#[test]
fn every_form_of_file_says_the_same() {
    let mut packets = opened(1);
    packets.extend([(110 * MS, data(1)), (210 * MS, ack(1001))]);
    let raw = serde_json::to_value(said(&packets).flows).unwrap();
    for endianness in [Endianness::Little, Endianness::Big] {
        for resolution in [TsResolution::MicroSecond, TsResolution::NanoSecond] {
            let file = framed(&packets, DataLink::RAW, &[], endianness, resolution);
            let made = analyse(&file[..], Options::default()).unwrap();
            assert_eq!(serde_json::to_value(made.flows).unwrap(), raw);
        }
    }
}

#[test]
fn every_link_leads_to_the_same_flow() {
    let packets = vec![(0, data(1)), (MS, ack(1001))];
    let tagged = [&[0; 12][..], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0]].concat();
    let six_in_four = {
        let mut header = Ipv4Header::new(20, 64, IpNumber::IPV4, [1; 4], [2; 4]).unwrap();
        header.total_len = 0; // as a card that cuts packets itself leaves it
        header.to_bytes().to_vec()
    };
    for (link, before) in [
        (DataLink::ETHERNET, [&[0; 12][..], &[8, 0]].concat()),
        (DataLink::ETHERNET, tagged),
        (DataLink::NULL, vec![2, 0, 0, 0]),
        (DataLink::LOOP, vec![0, 0, 0, 2]),
        (DataLink::LINUX_SLL, [&[0; 14][..], &[8, 0]].concat()),
        (DataLink::from(276), [&[8, 0][..], &[0; 18]].concat()),
        (DataLink::RAW, six_in_four),
    ] {
        let file = framed(&packets, link, &before, Endianness::Little, TsResolution::NanoSecond);
        let made = analyse(&file[..], Options::default()).unwrap();
        assert_eq!(made.notes, Vec::<String>::new(), "{link:?}");
        let flow = &made.flows[0];
        assert_eq!(
            (flow.first.as_str(), flow.second.as_str()),
            ("10.0.0.1:20000", "10.0.0.2:80"),
            "{link:?}"
        );
        assert_eq!((flow.out.unique_bytes, flow.back.packets), (1000, 1), "{link:?}");
    }
}

#[test]
fn what_is_sent_again_is_counted_and_gives_no_round_trip() {
    let mut packets = opened(1);
    packets.extend([(110 * MS, data(1)), (111 * MS, data(1001)), (400 * MS, data(1)), (510 * MS, ack(2001))]);
    let out = &said(&packets).flows[0].out;
    assert_eq!((out.data_packets, out.retransmitted_packets, out.retransmitted_bytes), (3, 1, 1000));
    assert_eq!((out.unique_bytes, out.retransmitted_by_timeout), (2000, 1));
    // The opening alone: what was below the second segment was sent after it.
    assert_eq!(out.rtt_ms.unwrap().samples, 1);
    assert_eq!((out.pauses.count, out.pauses.timeout), (1, 1));
}

#[test]
fn numbers_may_wrap() {
    let first = u32::MAX - 2500;
    let mut packets = opened(first);
    let numbers = (0..10).map(|index| first.wrapping_add(index * 1000));
    for (number, at) in numbers.zip(0..) {
        packets.push(((110 + at) * MS, data(number)));
        packets.push(((210 + at) * MS, ack(number.wrapping_add(1000))));
    }
    packets.sort_by_key(|packet| packet.0);
    let out = &said(&packets).flows[0].out;
    assert_eq!((out.unique_bytes, out.retransmitted_packets, out.out_of_order), (10_000, 0, 0));
    assert_eq!(out.rtt_ms.unwrap().samples, 11);
    assert_eq!(out.rtt_ms.unwrap().max, 100.0);
    assert_eq!(out.outstanding.unwrap().max, 10_000);
}

/// A sender that keeps `window` packets in flight each round trip, loses one, and then keeps `after`.
fn one_loss(window: u32, after: u32) -> Packets {
    let mut packets = opened(1);
    let number = |packet: u32| 1 + packet * 1000;
    let mut at = 200 * MS;
    (0..window).for_each(|packet| packets.push((at, data(number(packet)))));
    at += 100 * MS;
    let block = |header: &mut TcpHeader| {
        header.acknowledgment_number = 1;
        let _ = header.set_options(&[
            TcpOptionElement::Noop,
            TcpOptionElement::Noop,
            TcpOptionElement::SelectiveAcknowledgement((number(1), number(window)), [None; 3]),
        ]);
    };
    packets.push((at, segment(false, 1, block, 0)));
    packets.push((at, data(1)));
    at += 100 * MS;
    packets.push((at, ack(number(window))));
    for round in 0..3 {
        let first = window + round * after;
        (first..first + after).for_each(|packet| packets.push((at + MS, data(number(packet)))));
        at += 100 * MS;
        packets.push((at, ack(number(first + after))));
    }
    packets
}

#[test]
fn the_reaction_to_a_loss_is_told() {
    let halved = &said(&one_loss(20, 10)).flows[0];
    let losses = &halved.out.losses;
    assert_eq!((losses.events, losses.packets, losses.reduced, losses.unanswered), (1, 1, 1, 0));
    assert_eq!((losses.list[0].window_before, losses.list[0].window_after), (20_000, Some(10_000)));
    assert_eq!(losses.list[0].found, Found::Acknowledgements);
    let stubborn = &said(&one_loss(20, 20)).flows[0];
    assert_eq!(stubborn.out.losses.unanswered, 1);
    let told = stubborn.anomalies.iter().any(|text| text.contains("no reaction to the loss at 0.300 s"));
    assert!(told, "{:?}", stubborn.anomalies);
}

#[test]
fn each_pause_has_its_cause() {
    let closed =
        segment(false, 1, |header| (header.acknowledgment_number, header.window_size) = (1001, 0), 0);
    for (packets, cause) in [
        (vec![(500 * MS, data(1001))], Cause::Timeout),
        (vec![(490 * MS, ack(1001)), (491 * MS, data(1001))], Cause::Acknowledgement),
        (vec![(210 * MS, ack(1001)), (900 * MS, data(1001))], Cause::Application),
        // The round trip is 100 ms: a timer takes longer after an acknowledgement.
        (vec![(120 * MS, data(1001)), (300 * MS, ack(1001)), (360 * MS, data(2001))], Cause::Acknowledgement),
        (vec![(120 * MS, data(1001)), (300 * MS, ack(1001)), (420 * MS, data(2001))], Cause::Timeout),
        (vec![(210 * MS, closed), (700 * MS, ack(1001)), (701 * MS, data(1001))], Cause::ZeroWindow),
    ] {
        let mut all = opened(1);
        all.push((110 * MS, data(1)));
        all.extend(packets);
        let made = said(&all);
        let found: Vec<Cause> = made.flows[0].out.pauses.list.iter().map(|pause| pause.cause).collect();
        assert_eq!(found, [cause]);
    }
}

/// Packets of DCCP: the client sends data, the server acknowledges.
fn dccp(forward: bool, number: u64, body: Body, cells: Option<Vec<u8>>, payload: usize) -> Vec<u8> {
    let (source, destination) = if forward { (20_000, 5001) } else { (5001, 20_000) };
    let sequence = Sequence::new(number);
    let header = Header { source, destination, ccval: 0, coverage: 0, short: false, sequence, body };
    let mut options = Vec::new();
    if let Some(cells) = &cells {
        Item::AckVector { nonce: false, cells }.write(&mut options);
    }
    let bytes = Packet { header, options: &options, data: &vec![0; payload] }.to_bytes(None);
    ip(forward, IpNumber(33), &bytes)
}

fn run(received: Received, count: u64) -> u8 {
    RunOfPackets { received, count }.cell()
}

/// Ten packets of which the fourth is lost, as the Ack Vector says.
fn dccp_with_a_loss() -> Packets {
    let (first, server) = ((1 << 48) - 5, 7);
    let number = |packet: u64| Sequence::new(first + 1 + packet).get();
    let acked = |packet| Sequence::new(number(packet));
    let mut packets = vec![
        (0, dccp(true, first, Body::Request { service: 1 }, None, 0)),
        (50 * MS, dccp(false, server, Body::Response { ack: Sequence::new(first), service: 1 }, None, 0)),
    ];
    let here = Sequence::new(server);
    (0..10).for_each(|packet| {
        let at = (60 + packet as i64) * MS;
        packets.push((at, dccp(true, number(packet), Body::DataAck { ack: here }, None, 500)));
    });
    let all = |count| vec![run(Received::Yes, count)];
    packets.push((110 * MS, dccp(false, server + 1, Body::Ack { ack: acked(2) }, Some(all(3)), 0)));
    let holed = vec![run(Received::Yes, 6), run(Received::No, 1), run(Received::Yes, 3)];
    packets.push((119 * MS, dccp(false, server + 2, Body::Ack { ack: acked(9) }, Some(holed), 0)));
    packets
}

#[test]
fn an_ack_vector_tells_of_losses() {
    let made = said(&dccp_with_a_loss());
    let flow = &made.flows[0];
    assert_eq!((flow.protocol, made.notes.len()), (Protocol::Dccp, 0));
    assert_eq!((flow.out.data_packets, flow.out.unique_bytes, flow.out.lost_packets), (10, 5000, Some(1)));
    assert_eq!((flow.out.losses.events, flow.out.losses.packets), (1, 1));
    let rtt = flow.out.rtt_ms.unwrap();
    // The opening, and two of data.
    assert_eq!((rtt.samples, rtt.min, rtt.max), (3, 48.0, 50.0));
    assert_eq!(flow.out.outstanding.unwrap().max, 10);
}

/// What a packet of IP carries, in UDP.
fn in_udp(packet: &[u8], ports: (u16, u16)) -> Vec<u8> {
    let mut bare = packet[20..].to_vec();
    // UDP has a checksum of its own (RFC 6773).
    bare[6..8].fill(0);
    let forward = packet[12..16] == CLIENT;
    let (source, destination) = if forward { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    let mut made = Vec::new();
    PacketBuilder::ipv4(source, destination, 64).udp(ports.0, ports.1).write(&mut made, &bare).unwrap();
    made
}

fn dccp_in_udp() -> Packets {
    let packets = dccp_with_a_loss();
    packets.iter().map(|(at, packet)| (*at, in_udp(packet, (6511, 6511)))).collect()
}

#[test]
fn dccp_in_udp_is_told_as_dccp_over_ip_is() {
    let (plain, inside) = (said(&dccp_with_a_loss()), said(&dccp_in_udp()));
    let (plain, inside) = (&plain.flows[0], &inside.flows[0]);
    assert_eq!((inside.protocol, &inside.first), (Protocol::DccpUdp, &plain.first));
    let told = |half: &HalfFigures| {
        (half.data_packets, half.unique_bytes, half.lost_packets, half.rtt_ms.map(|rtt| rtt.samples))
    };
    assert_eq!((told(&inside.out), told(&inside.back)), (told(&plain.out), told(&plain.back)));
}

#[test]
fn dccp_in_udp_becomes_packets_of_ip_with_right_checksums() {
    let mut rewritten = Vec::new();
    let done = to_dccp(&capture(&dccp_in_udp())[..], &mut rewritten, &[6511], None).unwrap();
    assert_eq!((done.packets, done.unread), (14, 0));
    let mut reader = pcap_file::pcap::PcapReader::new(&rewritten[..]).unwrap();
    while let Some(packet) = reader.next_packet() {
        let data = packet.unwrap().data;
        let (header, bytes) = Ipv4Header::from_slice(&data).unwrap();
        assert_eq!((header.protocol.0, header.header_checksum), (33, header.calc_header_checksum()));
        let (source, destination) = (header.source.into(), header.destination.into());
        Packet::verify(bytes, &Addresses { source, destination }).unwrap();
    }
    let made = analyse(&rewritten[..], Options::default()).unwrap();
    assert_eq!((made.flows[0].protocol, made.flows[0].out.lost_packets), (Protocol::Dccp, Some(1)));
}

/// The same capture, in which at most `keep` bytes of each packet were kept.
fn cut(file: &[u8], keep: usize) -> Vec<u8> {
    let mut cut = file[..24].to_vec();
    let mut rest = &file[24..];
    while let Some(head) = rest.get(..16) {
        let kept = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
        cut.extend([&head[..8], &(kept.min(keep) as u32).to_le_bytes(), &head[12..]].concat());
        cut.extend_from_slice(&rest[16..16 + kept.min(keep)]);
        rest = &rest[16 + kept..];
    }
    cut
}

#[test]
fn dccp_that_was_cut_keeps_its_length() {
    let cut = cut(&capture(&dccp_in_udp()), 20 + 8 + 40);
    let mut rewritten = Vec::new();
    assert_eq!(to_dccp(&cut[..], &mut rewritten, &[6511], None).unwrap().packets, 14);
    let made = analyse(&rewritten[..], Options::default()).unwrap();
    assert_eq!((made.flows[0].out.unique_bytes, made.flows[0].out.lost_packets), (5000, Some(1)));
}

#[test]
fn tcpcl_is_known_by_its_contact_header_at_any_port() {
    let mut packets = opened(1);
    let with = |bytes: &[u8]| {
        let mut packet = data(1);
        packet[40..40 + bytes.len()].copy_from_slice(bytes);
        packet
    };
    packets.push((110 * MS, with(b"dtn!\x04\x00")));
    assert_eq!(said(&packets).flows[0].protocol, Protocol::Tcpcl);
    let flows = |filter: &str| {
        let options = Options { filters: vec![filter.parse().unwrap()], ..Options::default() };
        analyse(&capture(&packets)[..], options).unwrap().flows.len()
    };
    assert_eq!((flows("tcpcl"), flows("tcp")), (1, 0));
    packets.pop();
    packets.push((110 * MS, with(b"GET /")));
    assert_eq!(said(&packets).flows[0].protocol, Protocol::Tcp);
}

/// A segment of LTP between the ports of a datagram protocol.
fn ltp_segment(content: Content, payload: usize) -> Vec<u8> {
    let session = SessionId { originator: 1, number: 9 };
    let segment = ltp::Segment { session, content };
    let mut bytes = Vec::new();
    segment.write_head(&mut bytes);
    bytes.resize(bytes.len() + payload, 0);
    bytes
}

fn red(offset: u64, checkpoint: Option<u64>) -> Vec<u8> {
    let checkpoint = checkpoint.map(|serial| Checkpoint { serial, report: 0, ends: Ends::Block });
    let data = Data { service: 1, offset, length: 1000, color: Color::Red(checkpoint) };
    ltp_segment(Content::Data(data), 1000)
}

fn report(claims: &[(u64, u64)]) -> Vec<u8> {
    let claims = claims.iter().map(|&(offset, length)| Claim { offset, length }).collect();
    let report = Report { serial: 5, checkpoint: 7, lower: 0, upper: 3000, claims };
    ltp_segment(Content::Report(Box::new(report)), 0)
}

/// Three pieces of a block of which the second is lost, and comes again.
fn ltp_with_a_loss(carry: impl Fn(bool, &[u8]) -> Vec<u8>) -> Packets {
    let sent = |at: i64, bytes: Vec<u8>| (at * MS, carry(true, &bytes));
    vec![
        sent(0, red(0, None)),
        sent(1, red(1000, None)),
        sent(2, red(2000, Some(7))),
        (102 * MS, carry(false, &report(&[(0, 1000), (2000, 1000)]))),
        sent(103, red(1000, Some(8))),
    ]
}

fn check_ltp(flow: &FlowFigures) {
    let out = &flow.out;
    assert_eq!((out.data_packets, out.unique_bytes), (4, 3000));
    assert_eq!((out.retransmitted_packets, out.retransmitted_bytes, out.lost_packets), (1, 1000, Some(1)));
    let rtt = out.rtt_ms.unwrap();
    assert_eq!((rtt.samples, rtt.avg), (1, 100.0));
    let outstanding = out.outstanding.unwrap();
    assert_eq!((outstanding.max, outstanding.avg), (3000, 1750.0));
}

#[test]
fn ltp_tells_what_reports_miss_and_what_is_outstanding() {
    let made = said(&ltp_with_a_loss(|forward, bytes| {
        let ((source, destination), ports) =
            if forward { ((CLIENT, SERVER), (20_000, 1113)) } else { ((SERVER, CLIENT), (1113, 20_000)) };
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4(source, destination, 64).udp(ports.0, ports.1);
        builder.write(&mut packet, bytes).unwrap();
        packet
    }));
    assert_eq!((made.flows.len(), made.flows[0].protocol), (1, Protocol::Ltp));
    check_ltp(&made.flows[0]);
}

#[test]
fn ltp_in_dccp_is_a_flow_beside_its_connection() {
    let numbers = std::cell::Cell::new(100);
    let carry = |forward: bool, data: &[u8]| {
        let (source, destination) = if forward { (20_000, 5001) } else { (5001, 20_000) };
        numbers.set(numbers.get() + 1);
        let sequence = Sequence::new(numbers.get());
        let header =
            Header { source, destination, ccval: 0, coverage: 0, short: false, sequence, body: Body::Data };
        ip(forward, IpNumber(33), &Packet { header, options: &[], data }.to_bytes(None))
    };
    let mut packets = vec![(0, dccp(true, 100, Body::Request { service: 7_107_696 }, None, 0))];
    packets.extend(ltp_with_a_loss(carry));
    packets.push((104 * MS, carry(true, &[0; 4])));
    let made = said(&packets);
    let spoken: Vec<_> = made.flows.iter().map(|flow| flow.protocol).collect();
    assert_eq!(spoken, [Protocol::Dccp, Protocol::LtpDccp]);
    check_ltp(&made.flows[1]);
    let options = Options { filters: vec!["ltp-dccp".parse().unwrap()], ..Options::default() };
    assert_eq!(analyse(&capture(&packets)[..], options).unwrap().flows.len(), 1);
}

#[test]
fn a_refused_acknowledgement_is_the_cause_of_a_pause() {
    let mut packets = dccp_with_a_loss();
    let sync = Body::Sync { ack: Sequence::new(9) };
    packets.push((120 * MS, dccp(true, 6, sync, None, 0)));
    packets.push((600 * MS, dccp(true, 7, Body::Data, None, 500)));
    let made = said(&packets);
    assert_eq!((made.flows[0].out.syncs, made.flows[0].out.pauses.refused), (1, 1));
    assert!(made.flows[0].anomalies.iter().any(|text| text.contains("with a Sync")));
}

#[test]
fn dccp_as_tcp_has_the_same_packets_bytes_and_blocks() {
    let mut rewritten = Vec::new();
    let done = to_tcp(&capture(&dccp_with_a_loss())[..], &mut rewritten, &[], None).unwrap();
    assert_eq!((done.packets, done.unread), (14, 0));
    let made = analyse(&rewritten[..], Options::default()).unwrap();
    let flow = &made.flows[0];
    assert_eq!((flow.protocol, made.notes.len()), (Protocol::Tcp, 0), "{:?}", made.notes);
    assert_eq!((flow.out.packets, flow.out.data_packets, flow.out.unique_bytes), (11, 10, 5000));
    assert_eq!((flow.back.packets, flow.back.sacks), (3, 1));
    assert_eq!((flow.out.retransmitted_packets, flow.out.out_of_order), (0, 0));
}

#[test]
fn only_the_first_closing_packet_of_a_side_is_a_fin() {
    let ack = Sequence::new(7);
    let mut packets = dccp_with_a_loss();
    for (at, number) in [(200, 6), (400, 7)] {
        packets.push((at * MS, dccp(true, number, Body::Close { ack }, None, 0)));
    }
    let code = lightlag_protocols::wire::dccp::ResetCode::Closed;
    let reset = Body::Reset { ack: Sequence::new(7), code, details: [0; 3] };
    packets.push((450 * MS, dccp(false, 10, reset, None, 0)));
    let mut rewritten = Vec::new();
    to_tcp(&capture(&packets)[..], &mut rewritten, &[], None).unwrap();
    let mut reader = pcap_file::pcap::PcapReader::new(&rewritten[..]).unwrap();
    let mut headers = Vec::new();
    while let Some(packet) = reader.next_packet() {
        headers.push(TcpHeader::from_slice(&packet.unwrap().data[20..]).unwrap().0);
    }
    let [close, again, reset] = &headers[14..] else { panic!("three packets close it") };
    assert_eq!((close.fin, again.fin, reset.fin), (true, false, true));
    assert_eq!(again.sequence_number, close.sequence_number.wrapping_add(1));
    assert_eq!(reset.acknowledgment_number, again.sequence_number);
}

#[test]
fn filters_choose_flows() {
    let mut packets = dccp_with_a_loss();
    packets.push((120 * MS, data(1)));
    let flows = |filter: &str| {
        let options = Options { filters: vec![filter.parse().unwrap()], ..Options::default() };
        analyse(&capture(&packets)[..], options).unwrap().flows.len()
    };
    assert_eq!((flows("tcp"), flows("dccp"), flows("10.0.0.2"), flows("80"), flows("::1")), (1, 1, 2, 1, 0));
    assert!("tpc".parse::<Filter>().unwrap_err().contains("one of tcp"));
}

#[test]
fn a_capture_that_is_cut_anywhere_is_read_up_to_there() {
    let file = capture(&dccp_with_a_loss());
    for end in 24..file.len() {
        let made = analyse(&file[..end], Options::default()).unwrap();
        let (whole, cut) = (file.len() == end, made.notes.iter().any(|note| note.contains("is cut")));
        assert!(whole || cut || made.packets < 14);
    }
}

#[test]
fn what_is_no_capture_is_refused_in_one_line() {
    for (bytes, words) in [
        (&b""[..], "is empty"),
        (b"\x1f\x8b\x08\0 and more", "damaged within its compressed head"),
        (&gzip(&gzip(b"hello, world")), "gunzip it first"),
        (&gzip(b"hello, world, this is text"), "not a capture"),
        (b"hello, world, this is text", "not a capture"),
        (b"\xd4\xc3\xb2\xa1\x02\0", "cut within its head"),
    ] {
        let line = analyse(bytes, Options::default()).unwrap_err().to_string();
        assert!(line.contains(words) && line.contains("pcapng"), "{line}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_compressed_capture_is_read_up_to_where_it_is_cut() {
    let file = capture(&one_loss(2000, 1000));
    let plain = analyse(&file[..], Options::default()).unwrap();
    let figures = |made: &Analysed| serde_json::to_value(&made.flows).unwrap();
    // In two members, as tools that append write it.
    let whole = [gzip(&file[..500]), gzip(&file[500..])].concat();
    let made = analyse(&whole[..], Options::default()).unwrap();
    assert_eq!((figures(&made), made.notes.len()), (figures(&plain), 0));
    let cut = analyse(&whole[..whole.len() - 100], Options::default()).unwrap();
    assert!(cut.packets > 100 && cut.packets <= plain.packets, "{} of {}", cut.packets, plain.packets);
    assert!(cut.notes.iter().any(|note| note.starts_with("the compressed file is cut")), "{:?}", cut.notes);
    let mut rewritten = Vec::new();
    let dccp = gzip(&capture(&dccp_with_a_loss()));
    assert_eq!(to_tcp(&dccp[..], &mut rewritten, &[], None).unwrap().packets, 14);
}

/// Zeros without end, compressed: a megabyte of them takes a kilobyte.
#[test]
fn a_capture_of_zeros_takes_no_memory() {
    let file = [capture(&vec![(0, data(1))]), vec![0; 64 << 20]].concat();
    let made = analyse(&gzip(&file)[..], Options::default()).unwrap();
    assert_eq!((made.packets, made.flows.len()), (1 + (64 << 20) / 16, 1));
}

#[test]
fn packets_that_cannot_be_read_are_counted() {
    let mut packets = vec![(0, data(1)), (2 * MS, vec![0x45; 10]), (MS, vec![0x60; 50])];
    packets.push((3 * MS, ip(true, IpNumber::ICMP, &[0; 8])));
    let mut fragment = data(1001);
    fragment[7] = 9;
    packets.push((4 * MS, fragment));
    let notes = said(&packets).notes.join("; ");
    for words in [
        "1 packet was kept too short",
        "1 packet is earlier than the one before it",
        "2 packets are of other transports and were skipped",
        "1 later fragment of an IP packet was",
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn round_trips_from_before_a_clock_was_set_are_not_taken() {
    let weeks = 2_000_000_000 * MS;
    let mut packets: Packets = opened(1).into_iter().map(|(at, packet)| (weeks + at, packet)).collect();
    // One packet from another time, then a clock that stays behind.
    packets.extend([(weeks + 200 * MS, data(1)), (0, data(1001)), (weeks + 300 * MS, ack(2001))]);
    packets.extend([(weeks + 400 * MS, data(2001)), (10 * MS, ack(3001))]);
    packets.extend([(20 * MS, data(3001)), (120 * MS, ack(4001))]);
    let analysed = said(&packets);
    let rtt = analysed.flows[0].out.rtt_ms.expect("two were measured");
    assert_eq!((rtt.samples, rtt.min, rtt.max), (2, 100.0, 100.0));
    assert_eq!(analysed.notes, ["2 packets are earlier than the one before them"]);
    // A flow that begins at a time that was not.
    let mut packets = opened(1);
    packets.iter_mut().skip(1).for_each(|packet| packet.0 += weeks);
    packets.insert(0, (weeks, ip(true, IpNumber::ICMP, &[0; 8])));
    assert_eq!(said(&packets).flows[0].out.rtt_ms, None);
}

#[test]
fn a_long_flow_has_bounded_series() {
    let mut series = series::Series::default();
    (0..1_000_000_i64).for_each(|index| series.add(index * 1000, index as u64, index as u64 + 1));
    assert!(series.cells().len() <= series::POINTS_MAX && series.cells().len() > 400);
    assert_eq!(series.cells().iter().map(|cell| cell.count).sum::<u64>(), 1_000_000);
    assert_eq!(series.cells().last().unwrap().high, 1_000_000);
}

#[test]
fn ipv6_with_extension_headers_is_read() {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(9, 10);
    builder.write(&mut packet, &[0; 30]).unwrap();
    // A hop-by-hop header of eight bytes before UDP.
    let next = std::mem::replace(&mut packet[6], 0);
    packet.splice(40..40, [next, 0, 1, 4, 0, 0, 0, 0]);
    packet[5] += 8;
    let made = said(&vec![(0, packet)]);
    assert_eq!((made.flows[0].protocol, made.flows[0].out.unique_bytes), (Protocol::Udp, 30));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), magic in 0..5usize) {
        let magics = [[0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0xa, 0xd, 0xd, 0xa], [0; 4], [0x4d, 0x3c, 0xb2, 0xa1]];
        let file = [&magics[magic][..], &bytes].concat();
        let _ = analyse(&file[..], Options { graphs: true, ..Options::default() });
    }

    #[test]
    fn no_change_makes_it_panic(places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut packets = one_loss(10, 5);
        packets.extend(dccp_with_a_loss());
        packets.extend(dccp_in_udp());
        packets.extend(messages::every_kind());
        let mut file = capture(&packets);
        for (place, byte) in places {
            let at = place.index(file.len());
            file[at] = byte;
        }
        if let Ok(made) = analyse(&file[..], Options { graphs: true, ..Options::default() }) {
            // A record is its header of 16 bytes at least: a damaged length lets zeros be read as empty records.
            prop_assert!(made.packets <= file.len() as u64 / 16);
            let _ = to_tcp(&file[..], Vec::new(), &[6511], None);
            let _ = to_dccp(&file[..], Vec::new(), &[6511], None);
        }
    }
}

/// A capture of DCCP in Linux 2.6, from the references; none, with the reason, where they are missing.
fn reference(name: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(crate::skip::reference(&format!("captures/{name}"))?).unwrap())
}

#[test]
fn the_faults_of_dccp_in_linux_are_named() {
    let Some(file) = reference("ccid2_RTOs.pcap.gz") else { return };
    let options = Options { pause_ns: 260 * MS, ..Options::default() };
    let made = analyse(&file[..], options).unwrap();
    let flow = &made.flows[0];
    assert_eq!((made.flows.len(), flow.out.data_packets, flow.out.syncs), (1, 12_536, 5));
    assert_eq!((flow.out.pauses.count, flow.out.pauses.refused), (5, 5));
    assert!((flow.out.alone.unwrap() - 0.965).abs() < 0.001, "{:?}", flow.out.alone);
    for words in ["window of one packet for 30.096 s", "5 pauses of 346 ms", "the sequence window was left"] {
        assert!(flow.anomalies.iter().any(|text| text.contains(words)), "{:?}", flow.anomalies);
    }
}

#[test]
fn the_losses_and_pauses_of_ccid3_in_linux_are_told() {
    let Some(file) = reference("ccid3_loss.pcap.gz") else { return };
    let options = Options { pause_ns: 50 * MS, ..Options::default() };
    let out = &analyse(&file[..], options).unwrap().flows[0].out;
    assert_eq!((out.data_packets, out.pauses.count, out.losses.events), (935, 104, 22));
    assert_eq!((out.lost_packets, out.losses.packets), (Some(23), 23));
    assert!((out.goodput_bit_per_s / 8.0 - 39_900.0).abs() < 50.0, "{}", out.goodput_bit_per_s);
    assert!(out.losses.list.iter().all(|loss| loss.found == Found::LossEventRate));
}
