//! DCCP in UDP (RFC 6773) rewritten as DCCP over IP (RFC 4340), which tools dissect: the headers of IP and UDP make
//! room for one of IP with protocol 33.
//!
//! In UDP the checksum of DCCP is zero (RFC 6773), as UDP has its own: here it is made, with zeros
//! in place of what the capture did not keep. DCCP that was captured over IP keeps the checksum that it had.

use super::analysis::{CaptureFile, Error};
use super::rewrite::{Found, Rewritten, each, ip_header, not_written, write, writer};
use lightlag_protocols::wire::dccp::{Addresses, IP_PROTOCOL, Packet};
use std::io::{Read, Write};

/// Rewrites the DCCP of a capture as packets of IP: that in UDP at these ports, and that over IP. `interface`: only that of one,
/// by its name or number.
///
/// # Errors
/// It cannot be read, or the other cannot be written.
pub fn to_dccp(
    from: impl Read,
    to: impl Write,
    ports: &[u16],
    interface: Option<&str>,
) -> Result<Rewritten, Error> {
    let mut to = writer(to).map_err(not_written)?;
    each(CaptureFile::open_only(from, interface)?, ports, |found| {
        let packet = if found.in_udp { with_checksum(found) } else { found.bytes.to_vec() };
        let cut = found.payload - found.packet.data.len();
        let mut kept = ip_header(found.ends, IP_PROTOCOL, packet.len() + cut);
        kept.extend(packet);
        write(&mut to, found.at_ns, &kept, cut)
    })
}

/// What was kept of a packet, with the checksum that the whole has.
fn with_checksum(found: &Found<'_>) -> Vec<u8> {
    let [source, destination] = found.ends.map(|end| end.ip());
    let mut data = found.packet.data.to_vec();
    let kept = data.len();
    data.resize(found.payload, 0);
    let whole = Packet { data: &data, ..found.packet };
    let mut bytes = whole.to_bytes(Some(&Addresses { source, destination }));
    bytes.truncate(bytes.len() - (found.payload - kept));
    bytes
}
