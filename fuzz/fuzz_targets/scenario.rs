#![no_main]
//! Scenarios in TOML; after a line `--set`, lines of KEY=VALUE.

use lightlag_scenario::ScenarioFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (text, sets) = text.split_once("\n--set\n").unwrap_or((text, ""));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds/contact_table").into();
    let Ok(mut file) = ScenarioFile::from_toml("scenario.toml", text, folder, Default::default()) else {
        return;
    };
    for (key, value) in sets.lines().filter_map(|line| line.split_once('=')) {
        let _ = file.set(key, value);
    }
    let _ = file.seeds();
    if let Err(error) = file.points() {
        assert!(!error.to_string().contains('\n'), "an error is one line: {error}");
    }
});
