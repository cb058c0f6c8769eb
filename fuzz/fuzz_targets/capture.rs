#![no_main]
//! Captures of any kind, analysed and rewritten.

use lightlag_capture::analysis::{Options, analyse};
use lightlag_capture::{to_dccp, to_tcp};
use lightlag_lab::captured::table;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(made) = analyse(bytes, Options { graphs: true, ..Options::default() }) {
        // A record has 16 bytes at least, and gzip makes at most 1,032 bytes of one.
        assert!(made.packets <= bytes.len() as u64 * 1032 / 16);
        for half in made.flows.iter().flat_map(|flow| [&flow.out, &flow.back]) {
            assert!(half.unique_bytes <= half.data_bytes);
            assert!(half.retransmitted_by_timeout <= half.retransmitted_packets);
        }
        let _ = table(&made);
        let _ = to_tcp(bytes, std::io::sink(), &[6511], None);
        let _ = to_dccp(bytes, std::io::sink(), &[6511], None);
    }
});
