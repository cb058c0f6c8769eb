#![no_main]
//! Numbers with units, lists of seeds.

use lightlag_scenario::quantity as q;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(times) = q::times(text) {
        assert!(times.low <= times.high);
    }
    if let Ok(sizes) = q::sizes(text) {
        assert!(sizes.low <= sizes.high);
    }
    for bounds in ["m", "m/s", "s"].map(|unit| q::range_in_unit(text, unit)).into_iter().flatten() {
        assert!(bounds.low >= 0.0 && bounds.low <= bounds.high && bounds.high.is_finite());
    }
    let _ =
        (q::bit_rate(text), q::area(text), q::position(text), q::positive_time(text), q::plain_number(text));
    for unit in ["", "s", "B", "bit/s", "m", "m/s", "%"] {
        assert!(q::in_unit(text, unit).is_ok_and(f64::is_finite) || q::in_unit(text, unit).is_err());
    }
    let _ = lightlag_lab::sweep::seed_list(text);
});
