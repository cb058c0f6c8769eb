use super::*;
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn sequence() -> impl Strategy<Value = Sequence> {
    any::<u64>().prop_map(Sequence::new)
}

fn body() -> impl Strategy<Value = Body> {
    let code = any::<u8>().prop_map(ResetCode::from_number);
    prop_oneof![
        any::<u32>().prop_map(|service| Body::Request { service }),
        (sequence(), any::<u32>()).prop_map(|(ack, service)| Body::Response { ack, service }),
        Just(Body::Data),
        sequence().prop_map(|ack| Body::Ack { ack }),
        sequence().prop_map(|ack| Body::DataAck { ack }),
        sequence().prop_map(|ack| Body::CloseReq { ack }),
        sequence().prop_map(|ack| Body::Close { ack }),
        (sequence(), code, any::<[u8; 3]>()).prop_map(|(ack, code, details)| Body::Reset {
            ack,
            code,
            details
        }),
        sequence().prop_map(|ack| Body::Sync { ack }),
        sequence().prop_map(|ack| Body::SyncAck { ack }),
    ]
}

prop_compose! {
    fn header()(
        source: u16,
        destination: u16,
        ccval in 0..16_u8,
        coverage in 0..3_u8,
        short: bool,
        sequence in sequence(),
        body in body(),
    ) -> Header {
        Header { source, destination, ccval, coverage, short: short && body.kind().may_be_short(), sequence, body }
    }
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..=most)
}

fn addresses() -> impl Strategy<Value = Addresses> {
    prop_oneof![
        any::<[[u8; 4]; 2]>()
            .prop_map(|[a, b]| [IpAddr::V4(Ipv4Addr::from(a)), IpAddr::V4(Ipv4Addr::from(b))]),
        any::<[[u8; 16]; 2]>()
            .prop_map(|[a, b]| [IpAddr::V6(Ipv6Addr::from(a)), IpAddr::V6(Ipv6Addr::from(b))]),
    ]
    .prop_map(|[source, destination]| Addresses { source, destination })
}

fn low(sequence: Sequence) -> Sequence {
    Sequence::new(sequence.get() & 0xff_ffff)
}

proptest! {
    #[test]
    fn what_is_written_is_read_again_and_a_flipped_bit_is_seen(
        header in header(),
        mut options in bytes(80),
        data in prop::collection::vec(any::<u8>(), 4..60),
        addresses in addresses(),
        flip in any::<prop::sample::Index>(),
    ) {
        pad(&mut options);
        let packet = Packet { header, options: &options, data: &data };
        let mut written = packet.to_bytes(Some(&addresses));
        prop_assert_eq!(written.len(), packet.size());
        let read = Packet::read(&written).unwrap();
        prop_assert_eq!((read.options, read.data), (&options[..], &data[..]));
        if header.short {
            prop_assert_eq!(read.header.sequence, low(header.sequence));
            prop_assert_eq!(read.header.extended(header.sequence, header.body.ack().unwrap_or_default()), Header { short: false, ..header });
        } else {
            prop_assert_eq!(read.header, header);
        }
        prop_assert_eq!(Packet::verify(&written, &addresses), Ok(()));
        let covered = written.len() - data.len() + if header.coverage == 0 { data.len() } else { usize::from(header.coverage - 1) * 4 };
        let bit = flip.index(written.len() * 8);
        written[bit / 8] ^= 1 << (bit % 8);
        let other = (4..6).contains(&(bit / 8));
        prop_assert_eq!(other || bit / 8 >= covered || Packet::verify(&written, &addresses).is_err(), true);
    }

    #[test]
    fn any_bytes_are_a_packet_or_a_reason(bytes in bytes(200)) {
        if let Ok(packet) = Packet::read(&bytes) {
            let again = packet.to_bytes(None);
            prop_assert_eq!(Packet::read(&again), Ok(packet));
            prop_assert!(packet.options().count() <= packet.options.len());
        }
    }

    #[test]
    fn options_are_read_as_they_were_written(
        blob in prop::collection::vec(any::<u8>(), 1..200),
        numbers in any::<[u32; 4]>(),
        count in 0_u64..1 << 48,
        flag: bool,
    ) {
        let mut cells = Vec::new();
        let interval = LossInterval { lossless: numbers[0] >> 8, lossy: numbers[1] >> 9, nonce: flag, data: numbers[2] >> 8 };
        interval.write(&mut cells);
        prop_assert_eq!(intervals(&cells).collect::<Vec<_>>(), [interval]);
        let acts = [Act::ChangeL, Act::ConfirmL, Act::ChangeR, Act::ConfirmR];
        let items = [
            Item::Mandatory,
            Item::Feature { act: acts[numbers[0] as usize % 4], feature: 3, values: &blob },
            Item::SlowReceiver,
            Item::InitCookie(&blob),
            Item::NdpCount(count),
            Item::AckVector { nonce: flag, cells: &blob },
            Item::DataDropped(&blob),
            Item::Timestamp(numbers[0]),
            Item::TimestampEcho { stamp: numbers[1], elapsed: flag.then_some(numbers[2]) },
            Item::ElapsedTime(numbers[3]),
            Item::DataChecksum(numbers[1]),
            Item::LossEventRate(numbers[0]),
            Item::LossIntervals { skip: 3, cells: &cells },
            Item::ReceiveRate(numbers[3]),
            Item::Unknown { kind: 99, value: &blob },
        ];
        let mut bytes = Vec::new();
        for item in &items {
            item.write(&mut bytes);
            if flag && *item != Item::Mandatory {
                pad(&mut bytes);
            }
        }
        prop_assert_eq!(Options::new(&bytes).map(Result::unwrap).collect::<Vec<_>>(), items);
    }

    #[test]
    fn distances_survive_the_wrap_of_48_bits(a: u64, ahead in -(1_i64 << 46)..1 << 46) {
        let first = Sequence::new(a);
        let second = Sequence::new(a.wrapping_add_signed(ahead));
        prop_assert_eq!(second.since(first), ahead);
        prop_assert_eq!(first.later(second), if ahead > 0 { second } else { first });
        let near = first.plus(ahead.unsigned_abs() % (1 << 22));
        prop_assert_eq!(first.extend(near.get() as u32 & 0xff_ffff), near);
        prop_assert_eq!(near.extend(first.get() as u32 & 0xff_ffff), first);
    }

    #[test]
    fn runs_are_read_as_they_were_written(count in 1_u64..=64, code in 0_u8..8, drops_count in 1_u64..=16) {
        for received in [Received::Yes, Received::Marked, Received::No] {
            let run = RunOfPackets { received, count };
            prop_assert_eq!(runs(&[run.cell()]).collect::<Vec<_>>(), [run]);
        }
        for code in [None, Some(code)] {
            let run = RunOfDrops { code, count: drops_count };
            prop_assert_eq!(drops(&[run.cell()]).collect::<Vec<_>>(), [run]);
        }
    }
}

#[test]
fn a_refused_packet_says_why_in_one_line() {
    let request = Header {
        source: 1,
        destination: 2,
        ccval: 0,
        coverage: 0,
        short: false,
        sequence: Sequence::new(7),
        body: Body::Request { service: 9 },
    };
    let bytes = Packet { header: request, options: &[], data: &[] }.to_bytes(None);
    let told = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        Packet::read(&bytes).unwrap_err().to_string()
    };
    assert_eq!(told(&|b| b.truncate(11)), "the DCCP header is cut off: 11 bytes came, it needs 12");
    assert_eq!(told(&|b| b.truncate(19)), "the DCCP header is cut off: 19 bytes came, it needs 20");
    assert_eq!(told(&|b| b[8] = 11 << 1 | 1), "the packet type is 11, the types of RFC 4340 are 0 to 9");
    assert_eq!(told(&|b| b[8] = 0), "a Request packet has a sequence number of 24 bits, it must have 48");
    assert_eq!(told(&|b| b[4] = 4), "Data Offset is 16 bytes, it must be from 20 to 20");
    assert_eq!(told(&|b| b[4] = 6), "Data Offset is 24 bytes, it must be from 20 to 20");
    assert_eq!(told(&|b| b[5] = 2), "CsCov is 2: its checksum covers more than the 0 bytes of data");
}

#[test]
fn nothing_is_read_after_an_option_with_a_length_that_cannot_be() {
    let bytes = [0, 2, 43, 4, 0, 9, 41, 1, 2, 2];
    let read: Vec<_> = Options::new(&bytes).collect();
    let refused = Malformed::OptionLength { kind: 41, at: 6, length: 1 };
    assert_eq!(read, [Ok(Item::SlowReceiver), Ok(Item::ElapsedTime(9)), Err(refused)]);
    assert_eq!(refused.to_string(), "option 41 at byte 6 of the options has a length of 1");
}

#[test]
fn a_mandatory_padding_is_padding() {
    // RFC 4340, section 5.8.2.
    let read: Vec<_> = Options::new(&[1, 0, 2, 1, 2, 1, 0, 0]).map(Result::unwrap).collect();
    assert_eq!(read, [Item::SlowReceiver, Item::Mandatory, Item::SlowReceiver]);
}

#[test]
fn the_crc_is_castagnolis() {
    assert_eq!(crc32c(b"123456789"), 0xe306_9283, "the check value of CRC-32C");
}

#[test]
fn a_data_checksum_is_in_the_order_of_sctp() {
    let mut bytes = Vec::new();
    Item::DataChecksum(crc32c(b"123456789")).write(&mut bytes);
    // 0xe3069283 is the check value of CRC-32C.
    assert_eq!(bytes, [44, 6, 0x83, 0x92, 0x06, 0xe3]);
}
