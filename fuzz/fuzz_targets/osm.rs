#![no_main]
//! OpenStreetMap extracts.

use lightlag_worlds::mobility::map::{RoadMap, osm};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = RoadMap::from_osm(bytes, "map.osm.pbf", &osm::OsmOptions::default(), Default::default());
});
