#![no_main]
//! Contacts as lists of intervals.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(rows) = lightlag_scenario::contacts::intervals("trace.dat", bytes) {
        assert!(rows.iter().all(|row| row.end > row.start));
    }
});
