//! RaptorQ (RFC 6330) on blocks of symbols.

use raptorq::{
    EncodingPacket, ObjectTransmissionInformation, PayloadId, SourceBlockDecoder, SourceBlockEncoder,
    SourceBlockEncodingPlan,
};
use std::collections::BTreeMap;

/// A block is one object with one source block, without sub-blocks.
fn object(symbols: u32, symbol: u16) -> ObjectTransmissionInformation {
    ObjectTransmissionInformation::new(u64::from(symbols) * u64::from(symbol), symbol, 1, 1, 1)
}

/// Makes repairs. Solving for the intermediate symbols is planned once for each number of symbols, of
/// which a transfer has two.
#[derive(Default)]
pub struct Encoder {
    plans: BTreeMap<u16, SourceBlockEncodingPlan>,
}

impl Encoder {
    /// `count` repairs of a block from symbol `first` on; repairs are numbered after the source symbols.
    /// `block` has whole symbols.
    pub fn repairs(&mut self, block: &[u8], symbol: u16, first: u32, count: u32) -> Vec<Vec<u8>> {
        let symbols = (block.len() / usize::from(symbol)) as u32;
        let key = symbols as u16;
        let plan = self.plans.entry(key).or_insert_with(|| SourceBlockEncodingPlan::generate(key));
        let encoder = SourceBlockEncoder::with_encoding_plan(0, &object(symbols, symbol), block, plan);
        let packets = encoder.repair_packets(first - symbols, count);
        packets.into_iter().map(|packet| packet.split().1).collect()
    }
}

/// The block that these symbols are of, if they suffice: (which symbol, its bytes).
pub fn decode<'a>(symbols: u32, symbol: u16, here: impl Iterator<Item = (u32, &'a [u8])>) -> Option<Vec<u8>> {
    let length = u64::from(symbols) * u64::from(symbol);
    let mut decoder = SourceBlockDecoder::new(0, &object(symbols, symbol), length);
    decoder.decode(here.map(|(id, bytes)| EncodingPacket::new(PayloadId::new(0, id), bytes.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_symbols_that_are_two_more_than_the_block_has_give_it_back() {
        let symbol = 48_usize;
        for symbols in [1_u32, 2, 9, 10, 57, 300] {
            let block: Vec<u8> = (0..symbols as usize * symbol).map(|at| (at * 31 % 251) as u8).collect();
            let mut encoder = Encoder::default();
            let repairs = encoder.repairs(&block, symbol as u16, symbols, symbols + 2);
            let own = block.chunks(symbol).enumerate().map(|(id, bytes)| (id as u32, bytes));
            let made = (symbols..).zip(repairs.iter().map(Vec::as_slice));
            let mixed = own.filter(|(id, _)| id % 3 == 1).chain(made.clone());
            let mixed = mixed.take(symbols as usize + 2);
            assert_eq!(decode(symbols, symbol as u16, mixed).as_ref(), Some(&block), "{symbols}");
            let later = encoder.repairs(&block, symbol as u16, symbols + 1, 1);
            assert_eq!(later[0], repairs[1]);
            assert_eq!(decode(symbols, symbol as u16, made.take(symbols as usize - 1)), None);
        }
    }
}
