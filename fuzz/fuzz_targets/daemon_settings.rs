#![no_main]
//! Settings of lightlagd; what is wrong with them is one line.

use lightlag_daemon::config::Config;
use lightlag_daemon::{Pattern, Target};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(why) = Config::parse("lightlagd.toml", text) {
        let line = why.to_string();
        assert!(!line.contains('\n') && line.starts_with("lightlagd.toml:"), "{line}");
    }
    let (pattern, target) = text.split_once(' ').unwrap_or((text, ""));
    let target = Target::parse(target);
    if let Ok(pattern) = Pattern::try_from(pattern.to_owned()) {
        let _ = pattern.contains(&target);
    }
});
