//! What a datagram of UDPDTN begins with, as bytes.

use lightlag_protocols::transport::udpdtn::{Config, Datagram};
use lightlag_protocols::wire::udpdtn::{Body, Data, Opening, Packet};

/// The bytes before the payload: those that a real node sends for a file without a name.
///
/// A flow without end has more blocks than two bytes can number; the numbers wrap.
pub fn head(datagram: &Datagram, session: u32, config: &Config) -> Vec<u8> {
    let body = match datagram {
        &Datagram::Data { number, block, symbol, sent_at, in_train, report_every } => {
            let (block, symbol) = (block as u16, symbol as u16);
            Body::Data(Data { number, block, symbol, stamp: sent_at, in_train, report_every }, &[])
        }
        &Datagram::Open { length, report_every } => Body::Open(Opening {
            length,
            symbol: config.symbol.0 as u16,
            block_symbols: config.block_symbols as u16,
            digest: config.digest,
            name: "",
            report_every,
        }),
        Datagram::Report(report) => Body::Report(report.clone()),
        Datagram::Unknown => Body::Unknown,
    };
    Packet { session, body }.to_bytes()
}
