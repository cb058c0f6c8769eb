//! What a datagram of UDPDTN begins with, as bytes.

use lightlag_protocols::transport::udpdtn::Datagram;

/// The bytes before the payload: none until datagrams have a codec, when this is the place to call it.
/// What is not told here is captured as a payload that was cut off.
pub fn head(_: &Datagram) -> Vec<u8> {
    Vec::new()
}
