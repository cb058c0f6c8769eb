//! What passes two devices of an emulated link as a capture: pcapng with an interface for each, packets from
//! their IP header on, whole. Times are in nanoseconds.

use super::begin;
use super::datagrams::of_writer;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use std::io::{self, Write};
use std::time::Duration;

/// Writes packets as they pass.
pub struct Packets<W: Write>(PcapNgWriter<W>);

impl<W: Write> Packets<W> {
    /// To `to`, from interfaces of these names. `program` is named in the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: W, program: &str, interfaces: &[&str]) -> io::Result<Self> {
        begin(to, program, DataLink::RAW, interfaces.iter().map(|name| (*name, None)))
            .map(Self)
            .map_err(of_writer)
    }
    /// Writes a packet captured at `at_ns`, in nanoseconds since 1970 (UTC). `comes`: the kernel sent it;
    /// else it went to the kernel.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, at_ns: i64, interface: u32, comes: bool, bytes: &[u8]) -> io::Result<()> {
        // The first two bits, as the kernel sees it: 1 inbound, 2 outbound.
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: Duration::from_nanos(at_ns.max(0) as u64),
            original_len: bytes.len() as u32,
            data: bytes.into(),
            options: vec![EnhancedPacketOption::Flags(if comes { 2 } else { 1 })],
        };
        self.0.write_pcapng_block(block).map(drop).map_err(of_writer)
    }
    /// Hands all on to what is below.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.0.into_inner().flush()
    }
}
