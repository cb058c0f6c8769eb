#![no_main]
//! ION's contact plans.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(plan) = lightlag_scenario::contacts::ion("plan.ionrc", bytes) {
        assert!(plan.contacts.iter().all(|contact| contact.end > contact.start && contact.rate.is_some_and(|rate| rate.0 > 0)));
    }
});
