#![no_main]
//! The ONE's settings.

use lightlag_scenario::ScenarioFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds/wkt").into();
    let Ok(file) = ScenarioFile::from_the_one("settings.txt", bytes, folder, Default::default()) else {
        return;
    };
    if let Err(error) = file.points() {
        assert!(error.to_string().lines().count() <= 21, "errors fit a screen: {error}");
    }
});
