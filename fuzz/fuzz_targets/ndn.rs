#![no_main]
//! What comes over a face: one packet of the link after the other, each with its length before it.

use lightlag_protocols::wire::ndn::control::{Response, prefix_of};
use lightlag_protocols::wire::ndn::metadata::Metadata;
use lightlag_protocols::wire::ndn::{Interest, LpPacket, Name, PACKET_MOST, Reassembler, Signed, Verifier};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (mut reassembler, mut rest) = (Reassembler::default(), bytes);
    while let Some(([high, low], after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (frame, after) = after.split_at(length);
        rest = after;
        let Ok(came) = LpPacket::read(frame) else { continue };
        let mut again = Vec::new();
        came.write(&mut again);
        // A packet that goes bare is read by itself.
        assert!(again == came.payload || LpPacket::read(&again) == Ok(came), "what was read can be written");
        if let Ok(Some((_, packet))) = reassembler.take(came) {
            assert!(packet.len() <= PACKET_MOST.max(frame.len()));
            read(&packet);
        }
    }
    read(bytes);
});

fn read(packet: &[u8]) {
    if let Ok(interest) = Interest::read(packet) {
        check_name(&interest.name);
        if interest.parameters.is_none() {
            let mut again = Vec::new();
            interest.write(&mut again);
            assert_eq!(Interest::read(&again), Ok(interest), "what was read can be written");
        }
    }
    if let Ok(signed) = Signed::read(packet) {
        check_name(&signed.data.name);
        let _ = Verifier::Nobody.verify(&signed.signature);
        let _ = (Metadata::read(signed.data.content), Response::read(signed.data.content));
    }
    let _ = prefix_of(packet);
    if let Ok(text) = std::str::from_utf8(packet)
        && let Ok(name) = text.parse()
    {
        check_name(&name);
    }
}

fn check_name(name: &Name) {
    assert_eq!(name.to_string().parse().as_ref(), Ok(name), "a name survives text");
}
