//! Blocks, transfers, bundles and Interests.

use super::named::udp;
use super::*;
use lightlag_protocols::wire::ndn::{self, Headers, Interest, LpPacket, Nack, Name, Signer};
use lightlag_protocols::wire::tcpcl::{Contact, Flags, Init, Message, RefuseReason, Segment};

/// A bundle of version 7 with a payload of zeros, created at the second `created_s` after 2000.
fn bundle(created_s: u64, sequence: u8, payload: usize) -> Vec<u8> {
    let mut bytes = vec![0x9f, 0x88, 7, 0, 0];
    // To ipn:1.1, from ipn:2.1, reports to dtn:none.
    bytes.extend([0x82, 2, 0x82, 1, 1, 0x82, 2, 0x82, 2, 1, 0x82, 1, 0]);
    bytes.extend(
        [&[0x82, 0x1b][..], &(created_s * 1000).to_be_bytes(), &[sequence, 0x19, 0x27, 0x10]].concat(),
    );
    bytes.extend([0x85, 1, 1, 0, 0, 0x59]);
    bytes.extend((payload as u16).to_be_bytes());
    bytes.resize(bytes.len() + payload, 0);
    bytes.push(0xff);
    bytes
}

/// Some packets of each protocol.
pub fn every_kind() -> Packets {
    let mut packets = tcpcl_session();
    packets.extend([(0, udp(true, 4556, &bundle(0, 1, 50))), (MS, udp(true, 6363, &interest(1)))]);
    packets.extend([
        (2 * MS, udp(false, 6363, &ndn_data(name(1)))),
        (3 * MS, udp(true, 1113, &red(0, Some(7)))),
    ]);
    packets
}

fn messages(half: &HalfFigures) -> MessageFigures {
    half.messages.expect("it has messages")
}

#[test]
fn blocks_of_ltp_are_complete_when_reports_claim_all_of_them() {
    let carry = |forward: bool, bytes: &[u8]| udp(forward, 1113, bytes);
    let mut packets = ltp_with_a_loss(carry);
    let open = messages(&said(&packets).flows[0].out);
    assert_eq!((open.kind, open.sent, open.complete, open.lost), (Kind::Blocks, 1, Some(0), Some(0)));
    packets.push((203 * MS, carry(false, &report(&[(0, 3000)]))));
    let whole = messages(&said(&packets).flows[0].out);
    assert_eq!((whole.complete, whole.bytes, whole.delay_ms.unwrap().avg), (Some(1), 3000, 203.0));
    packets.pop();
    let cancel = Content::Cancel(ltp::End::Sender, ltp::Reason::User);
    packets.push((300 * MS, carry(true, &ltp_segment(cancel, 0))));
    let cancelled = messages(&said(&packets).flows[0].out);
    assert_eq!((cancelled.complete, cancelled.lost), (Some(0), Some(1)));
}

#[test]
fn bundles_in_udp_are_counted_and_known_when_they_come_again() {
    // The captures of these tests begin one second after 1970: no bundle has an age there.
    let packets: Packets = [1, 2, 1]
        .into_iter()
        .zip(0..)
        .map(|(sequence, at)| (at * MS, udp(true, 4556, &bundle(0, sequence, 500))))
        .collect();
    let size = bundle(0, 1, 500).len() as u64;
    let made = said(&packets);
    let out = &made.flows[0].out;
    assert_eq!((made.flows[0].protocol.name(), out.data_packets), ("BP-UDP", 3));
    assert_eq!((out.retransmitted_packets, out.retransmitted_bytes, out.unique_bytes), (1, size, 2 * size));
    let counted = messages(out);
    assert_eq!(
        (counted.kind, counted.sent, counted.sent_again, counted.bytes),
        (Kind::Bundles, 3, 1, 3 * size)
    );
    assert_eq!((counted.complete, counted.lost, counted.age_ms), (None, None, None));
    let since_2000_ns = 946_684_800_000 * MS;
    let later: Packets = vec![(since_2000_ns + 60_250 * MS, udp(true, 4556, &bundle(60, 1, 500)))];
    assert_eq!(messages(&said(&later).flows[0].out).age_ms.unwrap().avg, 1250.0);
    let odd = said(&vec![(0, udp(true, 4556, b"no bundle")), (MS, udp(true, 4556, &[0; 4]))]);
    let out = &odd.flows[0].out;
    assert_eq!((out.messages, out.data_packets, out.control_packets), (None, 1, 1));
}

#[test]
fn bundles_in_dccp_are_a_flow_beside_their_connection() {
    let carry = |number: u64, data: &[u8]| {
        let sequence = Sequence::new(number);
        let (source, destination) = (20_000, 5001);
        let header =
            Header { source, destination, ccval: 0, coverage: 0, short: false, sequence, body: Body::Data };
        ip(true, IpNumber(33), &Packet { header, options: &[], data }.to_bytes(None))
    };
    let request = Body::Request { service: lightlag_protocols::transport::dccp::SERVICE_BUNDLES };
    let packets = vec![
        (0, dccp(true, 100, request, None, 0)),
        (MS, carry(101, &bundle(0, 1, 100))),
        (2 * MS, carry(102, &[0; 4])),
        (3 * MS, carry(103, &bundle(0, 2, 100))),
    ];
    let made = said(&packets);
    assert_eq!(made.flows[1].protocol.name(), "BP-DCCP");
    assert_eq!(messages(&made.flows[1].out).sent, 2);
}

/// A session of TCPCL as streams: segments of at most 700 bytes, in order, one a millisecond.
struct Session {
    packets: Packets,
    numbers: [u32; 2],
}

impl Session {
    fn new() -> Self {
        let mut session = Self { packets: opened(1), numbers: [1, 1] };
        let contact = Contact { version: 4, can_tls: false }.to_bytes();
        let node = "ipn:1.0".to_owned();
        let init = Init { keepalive_s: 0, segment_mru: 1 << 20, transfer_mru: 1 << 20, node, items: vec![] };
        for forward in [true, false] {
            session.send(forward, &contact);
            session.say(forward, Message::Init(init.clone()), &[]);
        }
        session
    }
    fn send(&mut self, forward: bool, bytes: &[u8]) {
        for part in bytes.chunks(700) {
            let own = &mut self.numbers[usize::from(!forward)];
            let mut packet = segment(forward, *own, |_| (), part.len());
            packet[40..].copy_from_slice(part);
            *own += part.len() as u32;
            let at = self.packets.last().unwrap().0 + MS;
            self.packets.push((at, packet));
        }
    }
    fn say(&mut self, forward: bool, message: Message, data: &[u8]) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        self.send(forward, &[&bytes, data].concat());
    }
    fn transfer(&mut self, transfer: u64, bundle: &[u8]) {
        let (first, second) = bundle.split_at(bundle.len() / 2);
        for (data, start) in [(first, true), (second, false)] {
            let flags = Flags { start, end: !start, others: 0 };
            let length = data.len() as u64;
            let part = Segment { flags, transfer, items: vec![], length };
            self.say(true, Message::Segment(part), data);
        }
    }
    fn acknowledge(&mut self, transfer: u64, end: bool, length: u64) {
        let flags = Flags { start: !end, end, others: 0 };
        self.say(false, Message::Ack { flags, transfer, length }, &[]);
    }
}

fn tcpcl_session() -> Packets {
    let mut session = Session::new();
    let big = bundle(0, 1, 3000);
    session.transfer(1, &big);
    session.acknowledge(1, false, big.len() as u64 / 2);
    session.acknowledge(1, true, big.len() as u64);
    session.transfer(2, &bundle(0, 2, 3000));
    let reason = RefuseReason::Retransmit;
    session.say(false, Message::Refuse { reason, transfer: 2 }, &[]);
    session.transfer(3, &bundle(0, 2, 3000));
    session.packets
}

fn check_transfers(packets: &Packets) {
    let made = said(packets);
    let flow = &made.flows[0];
    assert_eq!((flow.protocol, flow.back.messages), (Protocol::Tcpcl, None));
    let counted = messages(&flow.out);
    assert_eq!((counted.kind, counted.sent, counted.sent_again), (Kind::Transfers, 3, 1));
    assert_eq!((counted.complete, counted.lost), (Some(1), Some(1)));
    assert_eq!(counted.bytes, 3 * bundle(0, 1, 3000).len() as u64);
    assert_eq!(counted.delay_ms.unwrap().samples, 1);
}

#[test]
fn transfers_of_tcpcl_are_acknowledged_refused_and_begun_again() {
    let packets = tcpcl_session();
    check_transfers(&packets);
    // First and last segment of the first bundle, then two acknowledgements.
    assert_eq!(messages(&said(&packets).flows[0].out).delay_ms.unwrap().avg, 7.0);
}

#[test]
fn transfers_are_read_out_of_order_sent_again_and_cut_short() {
    let mut mixed = tcpcl_session();
    // Segments change places, and some come twice.
    for first in [8, 12, 20] {
        let (one, two) = (mixed[first].1.clone(), mixed[first + 1].1.clone());
        (mixed[first].1, mixed[first + 1].1) = (two, one.clone());
        mixed.insert(first + 2, (mixed[first + 1].0, one));
    }
    check_transfers(&mixed);
    // Where only the first 200 bytes of each packet were kept, data are missing, but no message.
    let file = cut(&capture(&tcpcl_session()), 200);
    let out = &analyse(&file[..], Options::default()).unwrap().flows[0].out;
    assert_eq!((messages(out).sent, messages(out).complete), (3, Some(1)));
}

/// /a/`number`.
fn name(number: u64) -> Name<'static> {
    Name::default().with_generic(b"a").with_number(50, number)
}

fn interest(number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let lifetime = Some(lightlag_protocols::time::Duration::from_secs(1));
    Interest { name: name(number), nonce: Some(7), lifetime, ..Interest::default() }.write(&mut bytes);
    bytes
}

fn ndn_data(name: Name<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    ndn::Data { name, content: &[0; 500], ..ndn::Data::default() }.write(&Signer::Digest, &mut bytes);
    bytes
}

#[test]
fn interests_are_answered_sent_again_refused_or_lost() {
    let mut nack = Vec::new();
    let headers = Headers { nack: Some(Nack::NoRoute), ..Headers::default() };
    let refused = interest(3);
    LpPacket { headers, part: None, payload: &refused }.write(&mut nack);
    let mut prefix = Vec::new();
    Interest { name: name(9), can_be_prefix: true, ..Interest::default() }.write(&mut prefix);
    let sent = |at: i64, bytes: &[u8]| (at * MS, udp(true, 6363, bytes));
    let came = |at: i64, bytes: &[u8]| (at * MS, udp(false, 6363, bytes));
    let packets = vec![
        sent(0, &interest(1)),
        sent(1, &interest(2)),
        sent(2, &interest(3)),
        came(100, &ndn_data(name(1))),
        came(101, &nack),
        sent(400, &interest(2)),
        came(500, &ndn_data(name(2))),
        came(501, &ndn_data(name(2))),
        sent(600, &interest(4)),
        sent(601, &prefix),
        came(700, &ndn_data(name(9).with_number(50, 1))),
        sent(3000, &interest(5)),
    ];
    let made = said(&packets);
    let flow = &made.flows[0];
    assert_eq!(flow.protocol, Protocol::Ndn);
    let (counted, size) = (messages(&flow.out), ndn_data(name(1)).len() as u64);
    assert_eq!((counted.kind, counted.sent, counted.sent_again), (Kind::Interests, 7, 1));
    // The third was refused, nothing answered the fourth within its second, and the fifth still waits.
    assert_eq!((counted.complete, counted.lost), (Some(3), Some(2)));
    assert_eq!(
        (flow.out.retransmitted_packets, flow.out.lost_packets, flow.out.data_packets),
        (1, Some(2), 0)
    );
    let rtt = flow.out.rtt_ms.unwrap();
    assert_eq!((rtt.samples, rtt.min, rtt.max), (2, 99.0, 100.0));
    assert_eq!(counted.delay_ms.unwrap().max, 499.0);
    assert_eq!((flow.back.data_packets, flow.back.retransmitted_packets), (4, 1));
    assert_eq!(flow.back.retransmitted_bytes, size);
}

#[test]
fn data_in_fragments_answers_an_interest() {
    let data = ndn_data(name(1));
    // Two Interests in a datagram are two.
    let both =
        vec![(0, udp(true, 6363, &[interest(1), interest(2)].concat())), (MS, udp(false, 6363, &data))];
    let counted = messages(&said(&both).flows[0].out);
    assert_eq!((counted.sent, counted.complete), (2, Some(1)));
    let fragments = ndn::Fragments::new(&data, Headers::default(), 300, 0);
    let mut packets = vec![(0, udp(true, 6363, &interest(1)))];
    for index in 0..fragments.count() {
        let mut bytes = Vec::new();
        fragments.write(index, &mut bytes);
        packets.push(((50 + index as i64) * MS, udp(false, 6363, &bytes)));
    }
    let flow = &said(&packets).flows[0];
    assert_eq!((messages(&flow.out).complete, flow.back.data_packets), (Some(1), 1));
    // Where only 100 bytes of each packet were kept, the name is still there.
    let cut = cut(&capture(&packets), 100);
    let short = &analyse(&cut[..], Options::default()).unwrap().flows[0];
    assert_eq!(messages(&short.out), messages(&flow.out));
    assert_eq!(flow.back.unique_bytes, data.len() as u64);
}
