#![no_main]
//! Packets of DCCP and their options.

use lightlag_protocols::wire::dccp::{Item, Options, Packet, drops, intervals, runs};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(packet) = Packet::read(bytes) else { return };
    let again = packet.to_bytes(None);
    assert_eq!(Packet::read(&again), Ok(packet), "what was read is written, but for reserved fields");
    let mut written = Vec::new();
    for item in packet.options().map_while(Result::ok) {
        match item {
            Item::AckVector { cells, .. } => assert!(runs(cells).all(|run| run.count <= 64)),
            Item::DataDropped(cells) => assert!(drops(cells).all(|run| run.count <= 128)),
            Item::LossIntervals { cells, .. } => assert_eq!(intervals(cells).count() * 9, cells.len()),
            _ => {}
        }
        item.write(&mut written);
    }
    let items = packet.options().map_while(Result::ok);
    assert!(items.eq(Options::new(&written).map_while(Result::ok)));
});
