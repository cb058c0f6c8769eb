#![no_main]
//! Datagrams of UDPDTN.

use lightlag_protocols::time::Instant;
use lightlag_protocols::wire::udpdtn::{Packet, Unwrap, size};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(packet) = Packet::read(bytes) {
        assert_eq!(packet.to_bytes(), bytes, "a datagram has one form");
        assert_eq!(size(&packet.body), bytes.len() as u64);
        let _ = packet.datagram(&mut Unwrap::default(), Instant::from_secs(1));
    }
});
