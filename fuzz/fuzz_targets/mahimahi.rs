#![no_main]
//! Traces of mahimahi.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(trace) = lightlag_scenario::packets::mahimahi::read("cell.down", bytes) {
        assert!(trace.at_ms().is_sorted() && trace.at_ms().last() > Some(&0));
    }
});
