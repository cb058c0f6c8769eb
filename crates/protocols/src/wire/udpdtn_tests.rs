//! What is written can be read, and nothing else.

use super::*;
use crate::transport::udpdtn::UDP_HEADER;
use proptest::prelude::*;

fn stamps() -> impl Strategy<Value = Instant> {
    (0_i64..1 << 24).prop_map(|units| Instant::from_nanos(units * STAMP_UNIT_NS))
}

fn reports() -> impl Strategy<Value = Report> {
    let numbers = (any::<[u32; 5]>(), any::<u16>(), any::<u32>(), stamps());
    let way = prop::option::of(-ONE_WAY_MOST_US..=ONE_WAY_MOST_US);
    let blocks = prop::collection::vec(any::<(u16, u16)>(), 0..=REPORTED_BLOCKS_MAX);
    let digest = prop::option::of(any::<[u8; DIGEST_BYTES]>());
    (numbers, way, prop::option::of(any::<u64>()), blocks, any::<bool>(), digest).prop_map(
        |((numbers, first, held_us, sent_at), way, train, blocks, opened, digest)| Report {
            incarnation: numbers[0],
            sequence: numbers[1],
            highest: numbers[2],
            received: numbers[3],
            whole_below: numbers[4],
            first: first.into(),
            sent_at,
            held: Duration::from_nanos(i64::from(held_us) * 1000),
            one_way: way.map(|us| Duration::from_nanos(us * 1000)),
            train: train.map(BitRate),
            have: blocks.into_iter().map(|(symbols, beyond)| Here { symbols, beyond }).collect(),
            opened,
            complete: digest.is_some(),
            digest: digest.unwrap_or_default(),
        },
    )
}

fn check(packet: &Packet) -> Result<(), TestCaseError> {
    let bytes = packet.to_bytes();
    prop_assert_eq!(&Packet::read(&bytes).expect("what was written can be read"), packet);
    prop_assert_eq!(bytes.len() as u64, size(&packet.body));
    Ok(())
}

proptest! {
    #[test]
    fn data_that_were_written_can_be_read(
        session: u32, number: u32, block: u16, symbol: u16, stamp in stamps(), in_train: bool,
        code in 0..32_u8, payload: Vec<u8>,
    ) {
        let data = Data { number, block, symbol, stamp, in_train, report_every: interval::of(code) };
        check(&Packet { session, body: Body::Data(data, &payload) })?;
        let world = Datagram::Data {
            number, block: block.into(), symbol: symbol.into(), sent_at: stamp, in_train,
            report_every: interval::of(code),
        };
        let bytes = Packet { session, body: Body::Data(data, &payload) }.to_bytes();
        prop_assert_eq!(world.size(Bytes(payload.len() as u64)), UDP_HEADER + Bytes(bytes.len() as u64));
    }

    #[test]
    fn openings_that_were_written_can_be_read(
        session: u32, length in 0_u64..=1 << 40, symbol in 1024_u16.., digest: [u8; 32], name in "\\PC{0,60}",
        code in 0..32_u8,
    ) {
        let report_every = interval::of(code);
        let opening =
            Opening { length: Bytes(length), symbol, block_symbols: 16_384, digest, name: &name, report_every };
        check(&Packet { session, body: Body::Open(opening) })?;
        let world = Datagram::Open { length: Bytes(length), report_every };
        let body = Body::Open(Opening { name: "", ..opening });
        prop_assert_eq!(world.size(Bytes(0)), UDP_HEADER + Bytes(size(&body)));
    }

    #[test]
    fn reports_that_were_written_can_be_read(session: u32, report in reports()) {
        let world = Datagram::Report(Box::new(report.clone()));
        let body = Body::Report(Box::new(report));
        prop_assert_eq!(world.size(Bytes(0)), UDP_HEADER + Bytes(size(&body)));
        check(&Packet { session, body })?;
    }

    #[test]
    fn refusals_that_were_written_can_be_read(session: u32, reason in 0..Reason::ALL.len(), text in "\\PC{0,60}") {
        check(&Packet { session, body: Body::Refuse(Reason::ALL[reason], &text) })?;
        check(&Packet { session, body: Body::Unknown })?;
        prop_assert_eq!(Datagram::Unknown.size(Bytes(0)), UDP_HEADER + Bytes(size(&Body::Unknown)));
    }

    #[test]
    fn what_can_be_read_has_one_form(kind in 0..8_u8, low in 0..32_u8, mut bytes: Vec<u8>) {
        bytes.insert(0, kind << 5 | low);
        if let Ok(packet) = Packet::read(&bytes) {
            prop_assert_eq!(packet.to_bytes(), bytes);
        }
    }

    #[test]
    fn stamps_become_the_times_that_they_were(
        offset in -(1_i64 << 50)..1 << 50, steps in prop::collection::vec((0_i64..1 << 39, 0_i64..900_000_000_000), 1..50),
    ) {
        let mut unwrap = Unwrap::default();
        let (mut sent, mut constant) = (0_i64, None);
        // The first has the least one-way time.
        for (gap, late) in std::iter::once((0, 0)).chain(steps) {
            sent += gap;
            let now = Instant::from_nanos(sent + offset + late);
            let told = unwrap.sent_at(now, round_stamp(Instant::from_nanos(sent))).as_nanos();
            let off = told - sent;
            let first = *constant.get_or_insert(off);
            prop_assert!((off - first).abs() <= STAMP_UNIT_NS, "{off} {first}");
        }
    }
}

#[test]
fn a_file_of_a_terabyte_fits_and_one_that_does_not_is_refused() {
    let opening = |length, block_symbols| {
        let digest = [0; 32];
        let report_every = interval::of(0);
        let opening =
            Opening { length: Bytes(length), symbol: 1456, block_symbols, digest, name: "a", report_every };
        let bytes = Packet { session: 1, body: Body::Open(opening) }.to_bytes();
        Packet::read(&bytes).is_ok()
    };
    assert!(opening(1_000_000_000_000, 16_384));
    assert!(opening(0, 1));
    for (length, block_symbols) in [(u64::MAX, 16_384), (1_000_000_000_000, 1024), (5, 0), (5, 16_385)] {
        assert!(!opening(length, block_symbols), "{length} {block_symbols}");
    }
}

#[test]
fn every_proper_beginning_of_a_datagram_is_refused() {
    let report = Report { have: vec![Here::WHOLE; 3], complete: true, ..Report::default() };
    let bytes = Packet { session: 9, body: Body::Report(Box::new(report)) }.to_bytes();
    for end in 0..bytes.len() {
        // Entries of blocks may be missing: the digest is then read from what is left of them.
        let cut = Packet::read(&bytes[..end]);
        assert!(cut.is_err() || (bytes.len() - end).is_multiple_of(4), "{end}");
    }
}
