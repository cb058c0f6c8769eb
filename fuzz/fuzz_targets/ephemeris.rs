#![no_main]
//! Light times and what JPL Horizons exports.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(points) = lightlag_scenario::packets::ephemeris::read("earth_mars.txt", bytes) {
        assert!(points.is_sorted_by(|one, next| one.0 < next.0));
    }
});
