#![no_main]
//! What is kept of a file that is not whole.

use lightlag_node::transfer::{file_name, journal::Journal};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // The sum at the end is right in all that is worth reading.
    let mut sealed = bytes.to_vec();
    sealed.extend_from_slice(blake3::hash(bytes).as_bytes());
    for kept in [bytes, &sealed] {
        if let Some(journal) = Journal::from_bytes(kept) {
            assert_eq!(journal.to_bytes(), kept);
        }
    }
    if let Ok(name) = file_name(&String::from_utf8_lossy(bytes)) {
        assert!(!name.contains(['/', '\\', '\0']) && name != "." && name != ".." && name.len() < 255);
    }
});
