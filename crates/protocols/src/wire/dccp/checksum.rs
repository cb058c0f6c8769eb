//! The checksum of a header (RFC 4340, section 9.1) and the CRC of the data (section 9.3).

use super::IP_PROTOCOL;
use std::net::IpAddr;

/// The addresses of an IP packet: the checksum covers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Of the sender.
    pub source: IpAddr,
    /// Of the receiver.
    pub destination: IpAddr,
}

/// The sum of 16-bit words, not folded.
fn sum(bytes: &[u8]) -> u64 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let whole: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
    whole + rest.first().map_or(0, |byte| u64::from(*byte) << 8)
}

impl Addresses {
    /// The checksum of a packet of which the first `covered` bytes count, its own field as zero.
    pub(super) fn checksum(&self, packet: &[u8], covered: usize) -> u16 {
        let address = |address: &IpAddr| match address {
            IpAddr::V4(four) => sum(&four.octets()),
            IpAddr::V6(six) => sum(&six.octets()),
        };
        let length = packet.len() as u64;
        let pseudo = address(&self.source)
            + address(&self.destination)
            + u64::from(IP_PROTOCOL)
            + (length >> 16)
            + (length & 0xffff);
        let mut total = pseudo + sum(&packet[..6]) + sum(&packet[8..covered]);
        while total > 0xffff {
            total = (total >> 16) + (total & 0xffff);
        }
        !(total as u16)
    }
}

/// CRC-32C of the data, as the Data Checksum option has it (section 9.3; RFC 9260, appendix A).
pub fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8)
}

/// The polynomial of Castagnoli, reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;
const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}
