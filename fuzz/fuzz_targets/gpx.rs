#![no_main]
//! Tracks of satellite receivers, alone and in several files.

use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::contacts::{Format, Part, Recorded, meet, traces};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let format = Format::new(Recorded::Positions, None, Duration::from_secs(1)).expect("the usual columns");
    let one = Part::new("a.gpx", bytes);
    let later = Part { offset: Duration::from_secs(3_600), ..Part::new("b.gpx", bytes) };
    for parts in [&[one][..], &[one, later]] {
        if let Ok(mut trace) = traces(parts, &format, None) {
            assert!(trace.fixes.iter().all(|fix| fix.at >= Instant::ZERO && fix.x.abs() <= 180.0));
            meet(&mut trace, 1_000.0, Duration::from_secs(600)).expect("few positions");
            assert!(trace.meetings.iter().all(|met| met.end >= met.start && met.start >= Instant::ZERO));
        }
    }
});
