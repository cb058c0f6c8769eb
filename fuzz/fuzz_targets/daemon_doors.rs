#![no_main]
//! What applications, strangers and the other daemon say to lightlagd: SOCKS5, datagrams, records.

use lightlag_daemon::fuzzing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzzing::socks(bytes);
    fuzzing::datagram(bytes);
    fuzzing::records(bytes);
});
