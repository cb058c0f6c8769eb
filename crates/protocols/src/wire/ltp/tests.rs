//! Encoding of segments, and rejection of invalid bytes.

use super::aggregation::{Broken, bundle_length, capsule_size, read_capsules, write_capsule};
use super::auth::{Key, Unauthentic};
use super::*;
use hmac::{KeyInit, Mac};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = u64> {
    (0_u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)
}
fn serial() -> impl Strategy<Value = u64> {
    number().prop_map(|number| number.max(1))
}

fn color() -> impl Strategy<Value = Color> {
    let ends = prop_oneof![Just(Ends::Nothing), Just(Ends::Red), Just(Ends::Block)];
    prop_oneof![
        Just(Color::Red(None)),
        (serial(), number(), ends).prop_map(|(serial, report, ends)| Color::Red(Some(Checkpoint {
            serial,
            report,
            ends
        }))),
        any::<bool>().prop_map(|ends_block| Color::Green { ends_block }),
    ]
}

fn report() -> impl Strategy<Value = Report> {
    let claims = prop::collection::vec((0_u64..1 << 20, 1_u64..1 << 20), 0..20);
    (serial(), number(), 0_u64..1 << 40, claims, 0_u64..100).prop_map(
        |(serial, checkpoint, lower, steps, beyond)| {
            let mut at = 0;
            let claim = |(gap, length): (u64, u64)| {
                let offset = at + gap;
                at = offset + length + 1;
                Claim { offset, length }
            };
            let claims: Vec<Claim> = steps.into_iter().map(claim).collect();
            Report { serial, checkpoint, lower, upper: lower + at + beyond, claims }
        },
    )
}

/// A segment with the data that belong to it.
fn segment() -> impl Strategy<Value = (Segment, Vec<u8>)> {
    let end = || prop_oneof![Just(End::Sender), Just(End::Receiver)];
    let bytes = || prop::collection::vec(any::<u8>(), 0..300);
    let content = prop_oneof![
        4 => (number(), 0_u64..1 << 62, color(), bytes()).prop_map(|(service, offset, color, bytes)| {
            let length = bytes.len() as u64;
            (Content::Data(Data { service, offset, length, color }), bytes)
        }),
        2 => report().prop_map(|report| (Content::Report(Box::new(report)), vec![])),
        1 => serial().prop_map(|serial| (Content::ReportAck(serial), vec![])),
        1 => (end(), any::<u8>())
            .prop_map(|(end, code)| (Content::Cancel(end, Reason::from_code(code)), vec![])),
        1 => end().prop_map(|end| (Content::CancelAck(end), vec![])),
        1 => (prop::sample::select(vec![5_u8, 6, 10, 11]), bytes())
            .prop_map(|(kind, bytes)| (Content::Undefined { kind }, bytes)),
    ];
    (number(), number(), content).prop_map(|(originator, number, (content, bytes))| {
        (Segment { session: SessionId { originator, number }, content }, bytes)
    })
}

type Owned = Vec<(u8, Vec<u8>)>;

fn owned() -> impl Strategy<Value = Owned> {
    prop::collection::vec((2_u8.., prop::collection::vec(any::<u8>(), 0..200)), 0..4)
}
fn borrowed(list: &Owned) -> Vec<Extension<'_>> {
    list.iter().map(|(tag, value)| Extension { tag: *tag, value }).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read_back((segment, data) in segment(), header in owned(), trailer in owned()) {
        let undefined = matches!(segment.content, Content::Undefined { .. });
        let trailer = if undefined { vec![] } else { borrowed(&trailer) };
        let mut packet = Packet { header: borrowed(&header), trailer, ..Packet::new(segment, &data) };
        packet.unread_trailers = if undefined { 3 } else { 0 };
        let bytes = packet.to_bytes();
        prop_assert_eq!(Packet::read(&bytes), Ok(packet.clone()));
        for length in 0..bytes.len() {
            let cut = Packet::read(&bytes[..length]);
            prop_assert!(undefined || cut.is_err(), "{length} of {} bytes: {cut:?}", bytes.len());
        }
        let longer = [&bytes[..], &[0]].concat();
        prop_assert!(undefined || Packet::read(&longer) == Err(Malformed::Longer(1)));
    }

    #[test]
    fn a_segment_knows_its_size((segment, data) in segment()) {
        let mut head = Vec::new();
        segment.write_head(&mut head);
        prop_assert_eq!(segment.head_size(), head.len() as u64);
        let written = Packet::new(segment.clone(), &data).to_bytes();
        prop_assert_eq!(&written[..head.len()], &head[..]);
        if !matches!(segment.content, Content::Undefined { .. }) {
            prop_assert_eq!(segment.size(), written.len() as u64);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(packet) = Packet::read(&bytes) {
            // Numbers with leading zeros are read and written in their shortest form.
            let again = packet.to_bytes();
            prop_assert_eq!(Packet::read(&again), Ok(packet));
        }
        let _ = read_capsules(&bytes, |_, unit| bundle_length(unit));
    }

    #[test]
    fn a_number_is_read_back(value in number()) {
        let mut bytes = Vec::new();
        sdnv::write(value, &mut bytes);
        prop_assert_eq!(bytes.len(), sdnv::length(value));
        let mut reader = sdnv::Reader::new(&bytes);
        prop_assert_eq!(reader.sdnv("number"), Ok(value));
        prop_assert!(reader.rest().is_empty());
    }

    #[test]
    fn only_who_holds_the_key_makes_a_segment_that_is_believed(
        (segment, data) in segment(),
        header in owned(),
        secret in prop::collection::vec(any::<u8>(), 0..100),
        flip in any::<prop::sample::Index>(),
        null in any::<bool>(),
    ) {
        prop_assume!(!matches!(segment.content, Content::Undefined { .. }));
        let key = if null { Key::Null } else { Key::Hmac { id: vec![7], secret } };
        let packet = Packet { header: borrowed(&header), ..Packet::new(segment, &data) };
        let mut bytes = Vec::new();
        key.seal(&packet, &mut bytes);
        prop_assert_eq!(bytes.len() as u64, packet.to_bytes().len() as u64 + key.overhead());
        let sealed = Packet::read(&bytes).expect("what was written is read");
        prop_assert_eq!((&sealed.segment, sealed.data), (&packet.segment, packet.data));
        prop_assert_eq!(key.check(&sealed, &bytes), Ok(()));
        let other = Key::Hmac { id: vec![7], secret: b"another".to_vec() };
        prop_assert!(other.check(&sealed, &bytes).is_err());
        let at = flip.index(bytes.len());
        bytes[at] ^= 1;
        if let Ok(changed) = Packet::read(&bytes) {
            prop_assert!(key.check(&changed, &bytes).is_err(), "byte {at} was changed");
        }
    }

    #[test]
    fn capsules_are_read_back(units in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..9)) {
        // A unit that says how long it is: a byte string of CBOR, in an array without end as a bundle is.
        let bundle = |unit: &Vec<u8>| {
            let mut bytes = vec![0x9f, 0x59];
            bytes.extend((unit.len() as u16).to_be_bytes());
            bytes.extend(unit);
            bytes.push(0xff);
            bytes
        };
        let bundles: Vec<Vec<u8>> = units.iter().map(bundle).collect();
        let mut block = Vec::new();
        bundles.iter().for_each(|one| write_capsule(1, one, &mut block));
        let sizes: u64 = bundles.iter().map(|one| capsule_size(1, one)).sum();
        prop_assert_eq!(block.len() as u64, sizes);
        let read = read_capsules(&block, |_, unit| bundle_length(unit)).expect("a row of capsules");
        prop_assert_eq!(read, bundles.iter().map(|one| (1, &one[..])).collect::<Vec<_>>());
    }
}

#[test]
fn the_bytes_are_those_of_the_rfc() {
    let session = SessionId { originator: 300, number: 5 };
    let checkpoint = Checkpoint { serial: 200, report: 0, ends: Ends::Block };
    let data = Data { service: 1, offset: 128, length: 3, color: Color::Red(Some(checkpoint)) };
    let packet = Packet::new(Segment { session, content: Content::Data(data) }, b"abc");
    let bytes = [0x03, 0x82, 0x2c, 5, 0, 1, 0x81, 0, 3, 0x81, 0x48, 0, b'a', b'b', b'c'];
    assert_eq!(packet.to_bytes(), bytes);

    let claims = vec![Claim { offset: 0, length: 20 }, Claim { offset: 50, length: 50 }];
    let report = Report { serial: 9, checkpoint: 200, lower: 0, upper: 131, claims };
    let packet = Packet::new(Segment { session, content: Content::Report(Box::new(report)) }, &[]);
    let bytes = [0x08, 0x82, 0x2c, 5, 0, 9, 0x81, 0x48, 0x81, 3, 0, 2, 0, 20, 50, 50];
    assert_eq!(packet.to_bytes(), bytes);

    for (content, expected) in [
        (Content::ReportAck(9), &[0x09, 0x82, 0x2c, 5, 0, 9][..]),
        (Content::Cancel(End::Sender, Reason::Repeated), &[0x0c, 0x82, 0x2c, 5, 0, 2]),
        (Content::CancelAck(End::Sender), &[0x0d, 0x82, 0x2c, 5, 0]),
        (Content::Cancel(End::Receiver, Reason::Miscolored), &[0x0e, 0x82, 0x2c, 5, 0, 3]),
        (Content::CancelAck(End::Receiver), &[0x0f, 0x82, 0x2c, 5, 0]),
    ] {
        assert_eq!(Packet::new(Segment { session, content }, &[]).to_bytes(), expected);
    }
}

#[test]
fn what_is_no_segment_is_told_with_the_place() {
    for (bytes, told) in [
        (&[][..], "ends within the version and type that begins at byte 0"),
        (&[0x10, 1, 1, 0], "is of version 1, not 0"),
        (&[0x00, 0x81], "ends within the originator that begins at byte 1"),
        (
            &[0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            "the session number at byte 2 does not fit 64 bits",
        ),
        (&[0, 1, 1, 0, 1, 0, 9, 65], "ends within the data that begins at byte 7"),
        (&[1, 1, 1, 0, 1, 0, 1, 0, 0, 65], "the checkpoint serial number before byte 8 is zero"),
        (&[9, 1, 1, 0, 0], "the report serial number before byte 5 is zero"),
        (&[13, 1, 1, 0, 77, 78], "2 B follow the segment's end"),
        (&[8, 1, 1, 0, 1, 0, 5, 9, 0], "the report's lower bound 9 is above its upper bound 5"),
        (
            &[8, 1, 1, 0, 1, 0, 9, 0, 2, 0, 5, 4, 3],
            "claim 2 of the report (offset 4, length 3) overlaps the one before",
        ),
        (
            &[8, 1, 1, 0, 1, 0, 9, 0, 1, 5, 5],
            "claim 1 of the report (offset 5, length 5) reaches beyond the upper bound",
        ),
        (&[8, 1, 1, 0, 1, 0, 9, 0, 1, 5, 0], "claim 1 of the report (offset 5, length 0) is empty"),
        (&[8, 1, 1, 0, 1, 0, 9, 0, 0x7f], "ends within the claims counted that begins at byte 8"),
        (&[13, 1, 1, 0x10, 0, 5, 1], "ends within the value of an extension that begins at byte 6"),
    ] {
        assert_eq!(Packet::read(bytes).unwrap_err().to_string(), told, "{bytes:?}");
    }
}

#[test]
fn a_datagram_may_hold_several_segments() {
    // RFC 5326, section 5.
    let session = SessionId { originator: 1, number: 1 };
    let first = Packet::new(Segment { session, content: Content::ReportAck(1) }, &[]);
    let data = Data { service: 1, offset: 0, length: 3, color: Color::Red(None) };
    let second = Packet::new(Segment { session, content: Content::Data(data) }, b"abc");
    let bytes = [first.to_bytes(), second.to_bytes()].concat();
    let (read, taken) = Packet::read_first(&bytes).unwrap();
    assert_eq!((read, Packet::read(&bytes[taken..])), (first, Ok(second)));
    assert_eq!(Packet::read(&bytes), Err(Malformed::Longer(bytes.len() - taken)));
}

#[test]
fn authentication_that_is_missing_or_of_another_suite_is_told_by_name() {
    let key = Key::Hmac { id: vec![], secret: b"secret".to_vec() };
    let session = SessionId { originator: 1, number: 1 };
    let packet = Packet::new(Segment { session, content: Content::ReportAck(1) }, &[]);
    let plain = packet.to_bytes();
    assert_eq!(key.check(&packet, &plain), Err(Unauthentic::Missing));
    let mut null = Vec::new();
    Key::Null.seal(&packet, &mut null);
    let read = Packet::read(&null).unwrap();
    assert_eq!(key.check(&read, &null), Err(Unauthentic::Ciphersuite(auth::NULL)));
    assert!(!format!("{key:?}").contains("115"), "a secret is never printed: {key:?}");
}

/// An acknowledgement that names these, with values by these keys: the last covers all but itself, the others
/// all but the values.
fn sealed_by(names: &[&[u8]], keys: &[&Key]) -> Vec<u8> {
    let session = SessionId { originator: 1, number: 1 };
    let mut packet = Packet::new(Segment { session, content: Content::ReportAck(1) }, &[]);
    let name = |value| Extension { tag: auth::TAG, value };
    packet.header = names.iter().map(|value| name(value)).collect();
    let zeros = [0; auth::VALUE_BYTES];
    packet.trailer = keys.iter().map(|_| name(&zeros)).collect();
    let mut bytes = packet.to_bytes();
    let each = 2 + auth::VALUE_BYTES;
    let values = bytes.len() - keys.len() * each;
    for (number, key) in keys.iter().enumerate() {
        let secret = if let Key::Hmac { secret, .. } = key { &secret[..] } else { &auth::NULL_KEY[..] };
        let mut mac = hmac::Hmac::<sha1::Sha1>::new_from_slice(secret).unwrap();
        let at = values + number * each + 2;
        // The first covers no value at all, the last all of the others.
        let is_last = number + 1 == keys.len();
        let mut from = 0;
        for other in 0..keys.len() {
            let begin = values + other * each + 2;
            if other == number || !is_last {
                mac.update(&bytes[from..begin]);
                from = begin + auth::VALUE_BYTES;
            }
        }
        mac.update(&bytes[from..]);
        let value = mac.finalize().into_bytes();
        bytes[at..at + auth::VALUE_BYTES].copy_from_slice(&value[..auth::VALUE_BYTES]);
    }
    bytes
}

#[test]
fn one_right_value_of_several_is_enough_and_later_segments_need_not_name_the_key() {
    // RFC 5327, section 2.1.
    let key = |id: &[u8], secret: &[u8]| Key::Hmac { id: id.to_vec(), secret: secret.to_vec() };
    let (old, new, other) = (key(&[1], b"old"), key(&[2], b"new"), key(&[3], b"other"));
    let check = |key: &Key, bytes: &[u8]| key.check(&Packet::read(bytes).unwrap(), bytes);
    let both = sealed_by(&[&[0, 1], &[0, 2]], &[&old, &new]);
    assert_eq!((check(&old, &both), check(&new, &both)), (Ok(()), Ok(())));
    assert_eq!(check(&other, &both), Err(Unauthentic::OtherKey));
    let unnamed = sealed_by(&[], &[&old]);
    assert_eq!((check(&old, &unnamed), check(&new, &unnamed)), (Ok(()), Err(Unauthentic::Wrong)));
    let mut changed = unnamed;
    changed[1] ^= 4;
    assert_eq!(check(&old, &changed), Err(Unauthentic::Wrong));
}

#[test]
fn a_block_that_is_no_row_of_capsules_is_told_with_the_place() {
    let broken = read_capsules(&[1, 0x9f, 0xff, 1, 0x9f, 0x01], |_, unit| bundle_length(unit));
    assert_eq!(broken, Err(Broken::Unit { at: 3, service: 1 }));
    let nested = [0x9f; 100];
    assert_eq!(bundle_length(&nested), None);
    // A bundle of RFC 9171 is an array without end of byte strings and numbers.
    assert_eq!(bundle_length(&[0x9f, 0x82, 1, 0x42, 9, 9, 0xf5, 0xc1, 2, 0xff, 7]), Some(10));
}
