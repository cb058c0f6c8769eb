#![no_main]
//! Recorded traces: intervals, sightings and positions.

use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::contacts::{Format, Recorded, meet, trace};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for recorded in [Recorded::Intervals, Recorded::Sightings, Recorded::Positions] {
        let format = Format::new(recorded, None, Duration::from_secs(1)).expect("the usual columns");
        if let Ok(mut trace) = trace("trace.dat", bytes, &format) {
            meet(&mut trace, 10.0, Duration::from_secs(600)).expect("few positions");
            assert!(trace.meetings.iter().all(|met| met.end >= met.start && met.start >= Instant::ZERO));
        }
    }
});
