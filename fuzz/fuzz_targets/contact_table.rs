#![no_main]
//! Contacts as a table of comma-separated values.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(rows) = lightlag_scenario::contacts::table("contacts.csv", bytes) {
        assert!(rows.iter().all(|row| row.end > row.start));
    }
});
