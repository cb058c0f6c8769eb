#![no_main]
//! The ONE's events, and the contacts that they make.

use lightlag_scenario::contacts::{connections, the_one_events};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(events) = the_one_events("events.txt", bytes) {
        for row in connections(&events).into_iter().flatten() {
            assert!(row.end > row.start);
        }
    }
});
