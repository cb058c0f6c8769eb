#![no_main]
//! WKT maps.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = lightlag_worlds::mobility::map::wkt::parse(bytes, "map.wkt");
});
