#![no_main]
//! State that peers exchange.

use lightlag_protocols::dtn::Table;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(table) = Table::from_bytes(bytes) {
        // NaN is not equal to itself, so the bytes are compared.
        let again = Table::from_bytes(&table.to_bytes()).expect("what was written can be read");
        assert_eq!(again.to_bytes(), table.to_bytes());
    }
});
