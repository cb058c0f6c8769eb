//! What is written can be read, whatever comes is read or refused, and known packets are read as others
//! read them.

use super::control::{self, Response};
use super::keys::key_id;
use super::metadata::Metadata;
use super::name::{NAME, kind};
use super::signature::{Info, Signature, Untrusted, sha256};
use super::tlv::{Reader, write_element, write_number_element};
use super::*;
use crate::time::Duration;
use p256::ecdsa::SigningKey;
use p256::pkcs8::DecodePrivateKey;
use proptest::prelude::*;

fn components() -> impl Strategy<Value = (u32, Vec<u8>)> {
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let digest = (1..=2_u32, prop::collection::vec(any::<u8>(), 32..=32));
    let other = prop_oneof![Just(8_u32), Just(8), Just(32), Just(50), Just(54), 3..=65_535_u32];
    prop_oneof![8 => (other, bytes), 1 => digest]
}

fn name_of(parts: &[(u32, Vec<u8>)]) -> Name<'static> {
    parts.iter().fold(Name::default(), |name, (kind, value)| name.with(Component { kind: *kind, value }))
}

fn names() -> impl Strategy<Value = Name<'static>> {
    prop::collection::vec(components(), 0..8).prop_map(|parts| name_of(&parts))
}

/// Without the digest that only an Interest with parameters may have.
fn plain_names() -> impl Strategy<Value = Name<'static>> {
    let digest = |part: &(u32, Vec<u8>)| part.0 == kind::PARAMETERS_DIGEST;
    prop::collection::vec(components(), 0..8)
        .prop_map(move |parts| name_of(&parts.into_iter().filter(|part| !digest(part)).collect::<Vec<_>>()))
}

fn spans() -> impl Strategy<Value = Option<Duration>> {
    prop::option::of((0..1_i64 << 40).prop_map(|ms| Duration::from_nanos(ms * 1_000_000)))
}

fn headers() -> impl Strategy<Value = Headers> {
    let token = prop::option::of(prop::collection::vec(any::<u8>(), 1..=32));
    let nack = prop::option::of(prop_oneof![
        Just(Nack::Unspecified),
        Just(Nack::Congestion),
        Just(Nack::Duplicate),
        Just(Nack::NoRoute),
        (151..u64::MAX).prop_map(Nack::Other),
    ]);
    (token, nack, any::<Option<u64>>(), any::<Option<u32>>(), any::<Option<u32>>()).prop_map(
        |(token, nack, mark, send_time, site)| Headers {
            pit_token: token.and_then(|bytes| PitToken::new(&bytes)),
            nack,
            mark,
            send_time,
            site,
        },
    )
}

fn key() -> Signer {
    let key = SigningKey::from_slice(&[7; 32]).expect("a key");
    Signer::Ecdsa(Box::new(key), "/k/KEY/1".parse().expect("a name"))
}

proptest! {
    #[test]
    fn names_survive_the_wire_and_text(name in names()) {
        prop_assert_eq!(&Name::read(name.bytes()).expect("it was written"), &name);
        let text = name.to_string();
        prop_assert_eq!(text.parse::<Name>().expect("it was written"), name, "{}", text);
    }

    #[test]
    fn text_is_a_name_or_refused(text in "\\PC{0,40}") {
        if let Ok(name) = text.parse::<Name>() {
            prop_assert_eq!(&name.to_string().parse::<Name>(), &Ok(name));
        }
    }

    #[test]
    fn a_name_begins_with_all_that_it_was_made_of(first in names(), second in names()) {
        let both = second.components().fold(first.clone(), |name, part| name.with(part));
        prop_assert!(both.starts_with(&first));
        prop_assert_eq!(both.after(&first), Some(second.as_ref()));
        prop_assert_eq!(first.starts_with(&both), second.is_empty());
        if let Some((front, last)) = both.split_last() {
            prop_assert_eq!(front.with(last), both);
        }
    }

    #[test]
    fn interests_that_were_written_can_be_read(
        name in plain_names(), can_be_prefix: bool, must_be_fresh: bool, nonce: Option<u32>, lifetime in spans(),
        hop_limit: Option<u8>, segment: u64,
    ) {
        let interest =
            Interest { name, can_be_prefix, must_be_fresh, nonce, lifetime, hop_limit, parameters: None };
        let mut bytes = Vec::new();
        interest.write(&mut bytes);
        prop_assert_eq!(&Interest::read(&bytes).expect("it was written"), &interest);
        bytes.clear();
        interest.write_segment(segment, &mut bytes);
        let name = interest.name.with_number(kind::SEGMENT, segment);
        prop_assert_eq!(Interest::read(&bytes).expect("it was written"), Interest { name, ..interest });
    }

    #[test]
    fn data_that_were_written_can_be_read(
        name in names(), content_type: Option<u64>, freshness in spans(), last in prop::option::of(components()),
        content: Vec<u8>, has_key: bool,
    ) {
        let final_block = last.as_ref().map(|(kind, value)| Component { kind: *kind, value });
        let data = Data { name, meta: Meta { content_type, freshness, final_block }, content: &content };
        let signer = if has_key { key() } else { Signer::Digest };
        let mut bytes = Vec::new();
        data.write(&signer, &mut bytes);
        let read = Signed::read(&bytes).expect("it was written");
        prop_assert_eq!(&read.data, &data);
        prop_assert_eq!(read.signature.kind, signer.kind());
        prop_assert_eq!(Verifier::Nobody.verify(&read.signature), Ok(()));
    }

    #[test]
    fn packets_of_the_link_that_were_written_can_be_read(
        headers in headers(), part: Option<(u64, u64, u64)>, payload: Vec<u8>,
    ) {
        let part = part.map(|(sequence, index, more)| {
            let index = index / 2;
            Part { sequence, index, count: index + 1 + more / 2 }
        });
        let packet = LpPacket { headers, part, payload: &payload };
        let mut bytes = Vec::new();
        packet.write(&mut bytes);
        if headers != Headers::default() || part.is_some() || payload.is_empty() {
            prop_assert_eq!(LpPacket::read(&bytes).expect("it was written"), packet);
        } else {
            prop_assert_eq!(bytes, payload);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(first in prop_oneof![Just(5_u8), Just(6), Just(100)], mut bytes: Vec<u8>) {
        bytes.truncate(250);
        let mut packet = vec![first, bytes.len() as u8];
        packet.append(&mut bytes);
        let _ = (Interest::read(&packet), Signed::read(&packet), LpPacket::read(&packet));
        let _ = (Metadata::read(&packet), Response::read(&packet), control::prefix_of(&packet));
    }

    #[test]
    fn spoilt_packets_are_read_or_refused(flips in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4)) {
        for good in [signed_interest(), signed_data(&key()), signed_data(&Signer::Digest)] {
            let mut bytes = good;
            for (at, flip) in &flips {
                let at = at % bytes.len();
                bytes[at] ^= flip;
            }
            let _ = Interest::read(&bytes);
            if let Ok(read) = Signed::read(&bytes) {
                let _ = Verifier::Nobody.verify(&read.signature);
            }
        }
    }

    #[test]
    fn fragments_make_the_packet_in_any_order(
        length in 1..=PACKET_MOST, mtu in 0..9000_usize, headers in headers(), order: Vec<u16>, sequence: u64,
    ) {
        let packet: Vec<u8> = (0..length).map(|n| n as u8).collect();
        let fragments = Fragments::new(&packet, headers, mtu, sequence);
        let mut all: Vec<usize> = (0..fragments.count()).collect();
        all.sort_by_key(|index| order.get(*index).copied());
        let (mut reassembler, mut whole) = (Reassembler::default(), None);
        for (seen, index) in all.iter().enumerate() {
            let mut bytes = Vec::new();
            fragments.write(*index, &mut bytes);
            prop_assert!(bytes.len() <= mtu.max(fragments::MTU_LEAST), "{} {mtu}", bytes.len());
            if headers == Headers::default() && fragments.count() == 1 {
                return Ok(());
            }
            let came = LpPacket::read(&bytes).expect("it was written");
            if let Some((headers, packet)) = reassembler.take(came).expect("it fits") {
                prop_assert_eq!(seen + 1, all.len());
                whole = Some((headers, packet.into_owned()));
            }
        }
        prop_assert_eq!(whole, Some((headers, packet)));
    }

    #[test]
    fn any_fragments_are_taken_or_refused_in_bounded_memory(
        parts in prop::collection::vec((any::<u16>(), 0..600_u64, 1..600_u64, 0..9000_usize), 1..600),
    ) {
        let (mut reassembler, bytes) = (Reassembler::default(), vec![1; 9000]);
        for (sequence, index, count, length) in parts {
            let part = Some(Part { sequence: sequence.into(), index: index % count, count });
            let came = LpPacket { part, payload: &bytes[..length], ..LpPacket::default() };
            if let Ok(Some((_, whole))) = reassembler.take(came) {
                prop_assert!(whole.len() <= 9000);
            }
        }
    }
}

fn signed_interest() -> Vec<u8> {
    let prefix: Name = "/a/b".parse().expect("a name");
    let info = Info { nonce: [1; 8], time: Duration::from_secs(1) };
    let mut bytes = Vec::new();
    control::register(&prefix, true, 7, &info, &Signer::Digest, &mut bytes);
    bytes
}

fn signed_data(signer: &Signer) -> Vec<u8> {
    let name = "/a/v=1/seg=0".parse().expect("a name");
    let final_block = Some(Component { kind: kind::SEGMENT, value: &[3] });
    let meta = Meta { final_block, freshness: Some(Duration::from_secs(1)), ..Meta::default() };
    let mut bytes = Vec::new();
    Data { name, meta, content: b"hello" }.write(signer, &mut bytes);
    bytes
}

#[test]
fn names_are_written_as_others_write_them() {
    for (text, bytes) in [
        ("/", &b""[..]),
        ("/a/b", b"\x08\x01a\x08\x01b"),
        ("/%00%2Fx", b"\x08\x03\0/x"),
        ("/...", b"\x08\0"),
        ("/.....", b"\x08\x02.."),
        ("/32=metadata", b"\x20\x08metadata"),
        ("/v=256/seg=0", b"\x36\x02\x01\0\x32\x01\0"),
        ("/54=%00%01", b"\x36\x02\0\x01"),
        ("/t=1/seq=2/off=3", b"\x38\x01\x01\x3a\x01\x02\x34\x01\x03"),
        ("/300=a", b"\xfd\x01\x2c\x01a"),
    ] {
        let name: Name = text.parse().expect(text);
        assert_eq!((name.bytes(), name.to_string().as_str()), (bytes, text));
    }
    let same = [("ndn:/a/", "/a"), ("/8=a", "/a"), ("/a%62", "/ab"), ("/50=%05", "/seg=5")];
    for (given, told) in same {
        assert_eq!(given.parse::<Name>().map(|name| name.to_string()).as_deref(), Ok(told));
    }
    assert!(Name::default() < "/a".parse().expect("a name"));
    let [short, long] = ["/b", "/aa"].map(|text| text.parse::<Name>().expect("a name"));
    assert!(short < long, "shorter components come first");
}

#[test]
fn what_is_no_name_is_refused_with_what_would_be_right() {
    for (text, words) in [
        ("", "begins with `/`"),
        ("a/b", "begins with `/`"),
        ("http:/a", "begins with `/`"),
        ("//a", "written as `...`"),
        ("/..", "written as `...`"),
        ("/%4", "two hexadecimal digits"),
        ("/%zz", "two hexadecimal digits"),
        ("/v=x", "a whole number"),
        ("/seg=-1", "a whole number"),
        ("/seg=18446744073709551616", "a whole number"),
        ("/a=b", "%3D"),
        ("/0=b", "%3D"),
        ("/65536=b", "%3D"),
        ("/1=b", "sha256digest="),
        ("/sha256digest=00", "64 hexadecimal digits"),
    ] {
        let line = text.parse::<Name>().expect_err(text).to_string();
        assert!(line.contains(words) && !line.contains('\n'), "{text}: {line}");
    }
}

#[test]
fn badly_written_numbers_are_refused() {
    for bytes in
        [&b"\xfd\0\x05\0"[..], b"\x05\xfd\0\0", b"\0\0", b"\xff\0\0\0\x01\0\0\0\0\0", b"\xfe\0\0\xff\xff\0"]
    {
        assert_eq!(Reader::new(bytes).read(), Err(Malformed::Number), "{bytes:x?}");
    }
    for bytes in [&b"\x05"[..], b"\x05\x01", b"\xfd\x01", b"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
        assert_eq!(Reader::new(bytes).read(), Err(Malformed::Truncated), "{bytes:x?}");
    }
}

/// A packet of this type with these fields.
fn packet(kind: u32, fields: &[(u32, &[u8])]) -> Vec<u8> {
    let (mut value, mut bytes) = (Vec::new(), Vec::new());
    fields.iter().for_each(|(kind, field)| write_element(*kind, field, &mut value));
    write_element(kind, &value, &mut bytes);
    bytes
}

#[test]
fn unknown_fields_are_skipped_unless_they_are_critical() {
    let name: (u32, &[u8]) = (NAME, b"\x08\x01a");
    let read = |fields: &[(u32, &[u8])]| Interest::read(&packet(5, fields)).map(|interest| interest.nonce);
    let nonce: (u32, &[u8]) = (10, &[0, 0, 0, 9]);
    assert_eq!(read(&[name, (128, b"x"), nonce, (130, b"")]), Ok(Some(9)));
    assert_eq!(read(&[name, (129, b"x"), nonce]), Err(Malformed::Critical(129)));
    assert_eq!(read(&[name, (30, b"x"), nonce]), Ok(Some(9)), "a forwarding hint is not looked at");
    assert_eq!(read(&[name, (28, b"x"), nonce]), Err(Malformed::Critical(28)));
    assert_eq!(read(&[name, nonce, nonce]), Err(Malformed::Order(10)));
    assert_eq!(read(&[name, nonce, (33, b"")]), Err(Malformed::Order(33)), "odd: critical");
    assert_eq!(read(&[name, nonce, (34, b"x"), (34, b"y")]), Ok(Some(9)), "even: skipped where it is late");
    assert_eq!(read(&[nonce]), Err(Malformed::Missing(NAME)));
    assert_eq!(read(&[name, (10, b"123")]), Err(Malformed::Length(10)));
    assert_eq!(read(&[name, (12, b"123")]), Err(Malformed::Length(12)));
    assert_eq!(read(&[name, (36, b"x")]), Err(Malformed::Digest), "its name has no digest");
    assert_eq!(read(&[(NAME, b"\x01\x01a")]), Err(Malformed::Length(1)));
    let mut bytes = packet(5, &[name]);
    bytes.push(0);
    assert_eq!(Interest::read(&bytes), Err(Malformed::Trailing));
    assert_eq!(Interest::read(&packet(6, &[name])), Err(Malformed::Kind(6)));
}

#[test]
fn headers_of_a_link_that_nobody_knows_are_skipped_or_refused_by_their_number() {
    let bare = packet(5, &[(NAME, b"\x08\x01a")]);
    let read = |fields: &[(u32, &[u8])]| LpPacket::read(&packet(100, fields)).map(|packet| packet.headers);
    for kind in [804, 812, 836, 848, 956 - 8] {
        assert_eq!(read(&[(kind, b"?"), (80, &bare)]), Ok(Headers::default()), "{kind}");
    }
    for kind in [64, 79, 128, 799, 801, 802, 853, 954, 960] {
        assert_eq!(read(&[(kind, b"?"), (80, &bare)]), Err(Malformed::Critical(kind)), "{kind}");
    }
    assert_eq!(read(&[(80, &bare), (832, b"\x01")]), Err(Malformed::Order(832)));
    assert_eq!(read(&[(832, b"\x01"), (832, b"\x01"), (80, &bare)]), Err(Malformed::Order(832)));
    assert_eq!(read(&[(82, b"\x02"), (83, b"\x02"), (80, &bare)]), Err(Malformed::Value(82)));
    assert_eq!(read(&[(83, b"\x02"), (80, &bare)]), Err(Malformed::Missing(81)));
    assert_eq!(read(&[(98, b""), (80, &bare)]), Err(Malformed::Length(98)));
    assert_eq!(read(&[(952, b"\x01"), (80, &bare)]), Err(Malformed::Length(952)));
    let stamped = read(&[(952, &[0, 0, 1, 0]), (956, &[0, 0, 0, 7]), (80, &bare)]);
    assert_eq!(stamped.map(|headers| (headers.send_time, headers.site)), Ok((Some(256), Some(7))));
    assert_eq!(LpPacket::read(&bare).map(|packet| packet.payload), Ok(&bare[..]), "bare packets are whole");
    assert_eq!(LpPacket::read(b"\x64\0").map(|packet| packet.payload), Ok(&[][..]), "an idle one");
    assert_eq!(LpPacket::read(b"\x07\0"), Err(Malformed::Kind(7)));
}

#[test]
fn data_of_another_library_are_read() {
    // As ndnd writes them: name, MetaInfo with type, freshness and last segment, content, digest.
    let mut value = Vec::new();
    write_element(NAME, b"\x08\x01a\x36\x01\x05\x32\x01\0", &mut value);
    write_element(20, b"\x18\x01\0\x19\x02\x0f\xa0\x1a\x03\x32\x01\x02", &mut value);
    write_element(21, b"hi", &mut value);
    write_element(22, b"\x1b\x01\0", &mut value);
    let digest = sha256(&[&value]);
    write_element(23, &digest, &mut value);
    let mut bytes = Vec::new();
    write_element(6, &value, &mut bytes);
    let read = Signed::read(&bytes).expect("it is right");
    assert_eq!(read.data.name.to_string(), "/a/v=5/seg=0");
    assert_eq!(read.data.content, b"hi");
    assert_eq!(read.data.meta.freshness, Some(Duration::from_secs(4)));
    assert_eq!(read.data.meta.final_block.and_then(|last| last.number_of(kind::SEGMENT)), Some(2));
    assert_eq!(Verifier::Nobody.verify(&read.signature), Ok(()));
}

fn trusting(key: &SigningKey) -> Verifier {
    Verifier::Ecdsa(Box::new(TrustedKey::new(*key.verifying_key(), None)))
}

#[test]
fn a_refused_signature_names_its_key_or_that_it_was_altered() {
    let Signer::Ecdsa(signing, _) = key() else { panic!("a key") };
    let verifying = *signing.verifying_key();
    let certificate: Name = "/k/KEY/1/issuer/v=1".parse().expect("a name");
    let ours = Name::default().with_generic(b"KEY").with_generic(&key_id(&verifying));
    let stranger = SigningKey::from_slice(&[8; 32]).expect("a key");
    let other = || "/k/KEY/1".parse::<Name>().expect("a name");
    let cases = [
        // What is trusted, the key in the signature, and what is said of content signed by an unknown key.
        (TrustedKey::new(verifying, None), other(), Untrusted::OtherKey(other())),
        (TrustedKey::new(verifying, Some(&certificate)), other(), Untrusted::Altered),
        (TrustedKey::new(verifying, None), ours, Untrusted::Altered),
        (
            TrustedKey::new(verifying, Some(&certificate)),
            Name::default(),
            Untrusted::OtherKey(Name::default()),
        ),
    ];
    for (trusted, named, said) in cases {
        let bytes = signed_data(&Signer::Ecdsa(Box::new(stranger.clone()), named));
        let read = Signed::read(&bytes).expect("it was written");
        let verifier = Verifier::Ecdsa(Box::new(trusted));
        assert_eq!(verifier.verify(&read.signature), Err(said));
        let without = Signature { key: None, ..read.signature };
        assert_eq!(verifier.verify(&without), Err(Untrusted::Wrong));
    }
}

#[test]
fn a_wrong_bit_in_what_is_signed_is_noticed() {
    let Signer::Ecdsa(signing, _) = key() else { panic!("a key") };
    let right = trusting(&signing);
    let stranger = SigningKey::from_slice(&[8; 32]).expect("a key");
    let stranger = trusting(&stranger);
    let good = signed_data(&key());
    let read = Signed::read(&good).expect("it was written");
    assert_eq!(right.verify(&read.signature), Ok(()));
    assert_eq!(
        stranger.verify(&read.signature),
        Err(Untrusted::OtherKey("/k/KEY/1".parse().expect("a name")))
    );
    assert_eq!(read.signature.key.as_ref().map(ToString::to_string).as_deref(), Some("/k/KEY/1"));
    let digest = signed_data(&Signer::Digest);
    let unsigned = Signed::read(&digest).expect("it was written");
    assert_eq!(right.verify(&unsigned.signature), Err(Untrusted::NoKey));
    for (bytes, verifier) in [(good, right), (digest, Verifier::Nobody)] {
        for bit in 0..bytes.len() * 8 {
            let mut spoilt = bytes.clone();
            spoilt[bit / 8] ^= 1 << (bit % 8);
            let same = Signed::read(&spoilt).is_ok_and(|read| {
                // Without a trusted key a digest of another type is not checked.
                let kind_kept = verifier != Verifier::Nobody || read.signature.kind == 0;
                kind_kept && verifier.verify(&read.signature).is_ok()
            });
            assert!(!same, "bit {bit}");
        }
    }
}

#[test]
fn a_key_of_openssl_signs() {
    let pem = "-----BEGIN PRIVATE KEY-----\n\
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgz/hGoMy3hfnnLLYc\n\
        Q0TPjCNX/gp0zy6xfVCajC5PUn6hRANCAARPMk+qo12uNVad+pra1o8GMLGpaIRU\n\
        jZObHo9KzypaJPrGc1/6BMcdbjpSl5jRjfneLE8wOXbHfAVM7Nc9heVT\n\
        -----END PRIVATE KEY-----\n";
    let key = SigningKey::from_pkcs8_pem(pem).expect("openssl wrote it");
    let verifier = trusting(&key);
    let bytes = signed_data(&Signer::Ecdsa(Box::new(key), Name::default()));
    let read = Signed::read(&bytes).expect("it was written");
    assert_eq!(verifier.verify(&read.signature), Ok(()));
}

#[test]
fn a_command_says_what_it_is_about_and_is_new_each_time() {
    let bytes = signed_interest();
    let interest = Interest::read(&bytes).expect("its digest is right");
    let text = interest.name.to_string();
    assert!(
        text.starts_with("/localhost/nfd/rib/register/h%08%07%06%08%01a%08%01b/params-sha256="),
        "{text}"
    );
    let parameters = interest.name.components().nth(4).expect("the parameters");
    let prefix = control::prefix_of(parameters.value).expect("they were written");
    assert_eq!(prefix.to_string(), "/a/b");
    for at in bytes.len() - 40..bytes.len() {
        let mut spoilt = bytes.clone();
        spoilt[at] ^= 1;
        assert!(Interest::read(&spoilt).is_err(), "byte {at}");
    }
}

#[test]
fn an_answer_of_a_forwarder_is_read() {
    let mut value = Vec::new();
    write_number_element(102, 403, &mut value);
    write_element(103, b"no", &mut value);
    let mut content = Vec::new();
    write_element(101, &value, &mut content);
    assert_eq!(Response::read(&content), Ok(Response { code: 403, text: "no".to_owned() }));
    assert_eq!(Response::read(b""), Err(Malformed::Missing(101)));
}

#[test]
fn metadata_that_were_written_can_be_read() {
    let name: Name = "/a/v=7".parse().expect("a name");
    let last = Some(Component { kind: kind::SEGMENT, value: &[9] });
    let mut content = Vec::new();
    Metadata { name: name.as_ref(), last }.write(&mut content);
    // What others add is skipped.
    write_number_element(0xf502, 1000, &mut content);
    assert_eq!(Metadata::read(&content), Ok(Metadata { name, last }));
}

#[test]
fn a_mark_on_any_fragment_counts() {
    let packet = vec![1; 3000];
    let fragments = Fragments::new(&packet, Headers::default(), 1420, 5);
    let mut reassembler = Reassembler::default();
    let mut told = None;
    for index in 0..fragments.count() {
        let mut bytes = Vec::new();
        fragments.write(index, &mut bytes);
        let mut came = LpPacket::read(&bytes).expect("it was written");
        came.headers.mark = (index == 1).then_some(1);
        let took = reassembler.take(came).expect("it fits");
        told = took.map(|(headers, whole)| (headers, whole.into_owned())).or(told);
    }
    let (headers, whole) = told.expect("it is whole");
    assert_eq!(headers.mark, Some(1));
    assert_eq!(whole, packet);
}

#[test]
fn packets_that_never_become_whole_are_given_up() {
    let mut reassembler = Reassembler::default();
    for sequence in 0..10_000 {
        let part = Some(Part { sequence: sequence * 10, index: 0, count: 3 });
        let came = LpPacket { part, payload: &[1; 1400], ..LpPacket::default() };
        assert_eq!(reassembler.take(came), Ok(None));
    }
    assert_eq!(reassembler.dropped(), 10_000 - 64);
    let part = Some(Part { sequence: 0, index: 0, count: 100_000 });
    let huge = LpPacket { part, payload: &[1; 10], ..LpPacket::default() };
    assert_eq!(reassembler.take(huge), Err(Malformed::TooLarge));
}
