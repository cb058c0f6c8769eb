#![no_main]
//! Segments of LTP, with and without authentication, and blocks of several bundles.

use lightlag_protocols::wire::bundle;
use lightlag_protocols::wire::ltp::Packet;
use lightlag_protocols::wire::ltp::aggregation::{bundle_length, read_capsules, write_capsule};
use lightlag_protocols::wire::ltp::auth::Key;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(packet) = Packet::read(bytes) {
        let again = packet.to_bytes();
        assert!(again.len() <= bytes.len(), "numbers are written in their shortest form");
        assert_eq!(Packet::read(&again).as_ref(), Ok(&packet));
        let key = Key::Hmac { id: vec![1], secret: vec![2; 20] };
        assert!(key.check(&packet, bytes).is_err(), "nobody guesses a key");
        let _ = Key::Null.check(&packet, bytes);
    }
    let mut read = |at: u64, out: &mut [u8]| {
        let from = at as usize;
        bytes.get(from..from + out.len()).is_some_and(|part| {
            out.copy_from_slice(part);
            true
        })
    };
    if let Ok(ends) = bundle::ends(bytes.len() as u64, 8, &mut read) {
        assert!(ends.len() <= 8 && ends.last() == Some(&(bytes.len() as u64)));
        let begins = [0].into_iter().chain(ends.iter().copied());
        for (from, to) in begins.zip(&ends) {
            assert_eq!(bundle::check(&bytes[from as usize..*to as usize]), Ok(()), "each is a bundle");
        }
    }
    if let Ok(units) = read_capsules(bytes, |_, unit| bundle_length(unit)) {
        let mut again = Vec::new();
        units.iter().for_each(|(service, unit)| write_capsule(*service, unit, &mut again));
        assert_eq!(read_capsules(&again, |_, unit| bundle_length(unit)), Ok(units));
    }
});
