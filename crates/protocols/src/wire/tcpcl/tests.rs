use super::*;
use proptest::prelude::*;

fn items() -> impl Strategy<Value = Vec<Item>> {
    let item = (any::<bool>(), any::<u16>(), prop::collection::vec(any::<u8>(), 0..20))
        .prop_map(|(is_critical, kind, value)| Item { is_critical, kind, value });
    prop::collection::vec(item, 0..4)
}

fn message() -> impl Strategy<Value = Message> {
    let flags = (any::<bool>(), any::<bool>(), 0..64_u8).prop_map(|(start, end, others)| Flags {
        start,
        end,
        others: others << 2,
    });
    prop_oneof![
        (flags.clone(), any::<u64>(), items(), any::<u64>()).prop_map(|(flags, transfer, items, length)| {
            let items = if flags.start { items } else { Vec::new() };
            Message::Segment(Segment { flags, transfer, items, length })
        }),
        (flags, any::<u64>(), any::<u64>()).prop_map(|(flags, transfer, length)| Message::Ack {
            flags,
            transfer,
            length
        }),
        (any::<u8>(), any::<u64>()).prop_map(|(reason, transfer)| Message::Refuse {
            reason: RefuseReason::from_number(reason),
            transfer
        }),
        Just(Message::Keepalive),
        (any::<bool>(), any::<u8>())
            .prop_map(|(reply, reason)| Message::Term { reply, reason: TermReason::from_number(reason) }),
        (any::<u8>(), any::<u8>()).prop_map(|(reason, message)| Message::Reject {
            reason: RejectReason::from_number(reason),
            message
        }),
        (any::<u16>(), any::<u64>(), any::<u64>(), "\\PC{0,30}", items()).prop_map(
            |(keepalive_s, segment_mru, transfer_mru, node, items)| {
                Message::Init(Init { keepalive_s, segment_mru, transfer_mru, node, items })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn messages_come_back_as_they_were_written(message in message(), rest in prop::collection::vec(any::<u8>(), 0..9)) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        let length = bytes.len();
        bytes.extend_from_slice(&rest);
        prop_assert_eq!(Message::read(&bytes), Ok(Some((message, length))));
        for cut in 0..length {
            prop_assert_eq!(Message::read(&bytes[..cut]), Ok(None), "cut at {}", cut);
        }
    }
    #[test]
    fn bytes_of_strangers_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200), number in 0..9_u8) {
        let _ = Contact::read(&bytes);
        let _ = Message::read(&bytes);
        let _ = Message::read(&[&[number], &bytes[..]].concat());
    }
}

#[test]
fn messages_are_those_of_the_figures_of_the_rfc() {
    let contact = Contact { version: VERSION, can_tls: false };
    assert_eq!(contact.to_bytes(), *b"dtn!\x04\x00");
    assert_eq!(Contact::read(b"dtn!\x04\x01!"), Ok(Some((Contact { version: 4, can_tls: true }, 6))));
    let segment = Segment {
        flags: Flags { start: true, ..Flags::default() },
        transfer: 5,
        items: Vec::new(),
        length: 3,
    };
    let mut bytes = Vec::new();
    Message::Segment(segment.with_total(9)).write(&mut bytes);
    let items = [0, 0, 0, 13, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 9];
    let right = [&[1, 2, 0, 0, 0, 0, 0, 0, 0, 5][..], &items, &[0, 0, 0, 0, 0, 0, 0, 3]].concat();
    assert_eq!(bytes, right);
}

#[test]
fn what_begins_otherwise_is_refused_at_once() {
    assert_eq!(Contact::read(b""), Ok(None));
    assert_eq!(Contact::read(b"dtn!\x04"), Ok(None));
    assert_eq!(Contact::read(b"GET"), Err(Malformed::Magic));
    assert_eq!(Message::read(&[0x40]), Err(Malformed::Type(0x40)));
}

#[test]
fn items_that_nobody_could_need_are_refused_before_they_have_come() {
    let mut bytes = vec![1, 2];
    bytes.extend([0; 8]);
    bytes.extend([0xff; 4]);
    assert_eq!(Message::read(&bytes), Err(Malformed::Items(u32::MAX)));
}
