//! Files over UDPDTN: `lightlag transfer`.

mod accepted;
mod auth;
pub(crate) mod digests;
mod fec;
pub(crate) mod incoming;
pub mod journal;
pub(crate) mod listener;
mod memory;
mod name;
mod repairs;
pub(crate) mod sender;
pub(crate) mod source;
mod spill;
pub(crate) mod store;

pub use crate::error::Error;
pub use auth::Key;
pub(crate) use listener::Listener;
pub use listener::{Event, Finished};
pub use name::file_name;
pub(crate) use sender::send;
pub use sender::{Counted, Progress};

use lightlag_protocols::time::Duration;
use lightlag_protocols::transport::udpdtn::{self, DIGEST_BYTES, HEADER, UDP_HEADER};
use lightlag_protocols::units::Bytes;
use lightlag_protocols::wire::udpdtn::{BLOCK_SYMBOLS_MAX, BLOCKS_MAX};

pub use lightlag_protocols::wire::udpdtn::PORT;

/// Own symbols of a block, unless the file is too large for blocks so small. Larger blocks cost more to
/// decode and less to insure.
const BLOCK_SYMBOLS: u32 = 1024;

/// How a real node differs from a simulated one: see [`udpdtn::Real`]. `light` is the round trip that the
/// user promises.
pub fn real(light: Duration) -> udpdtn::Real {
    let ms = |n: i64| Duration::from_nanos(n * 1_000_000);
    udpdtn::Real {
        first_report: ms(20),
        noise: ms(4),
        tick: Duration::from_nanos(50_000),
        slack: ms(3),
        silence_first: (light * 2).saturating_add(ms(2000)),
        silence_most: (light * 2).saturating_add(ms(10_000)),
        pauses: true,
        decodes: true,
    }
}

/// How a file is cut, for packets of `packet` bytes with tags of `tag` bytes.
///
/// # Errors
/// One line if there is no room for data, or the file is too large for such packets.
pub fn config(
    length: Bytes,
    digest: [u8; DIGEST_BYTES],
    packet: Bytes,
    tag: usize,
    light: Duration,
) -> Result<udpdtn::Config, Error> {
    let mut config = udpdtn::Config::new(packet);
    config.symbol = packet.saturating_sub(UDP_HEADER + HEADER + Bytes(tag as u64));
    if config.symbol.0 == 0 || config.symbol.0 > u16::MAX.into() {
        let least = UDP_HEADER.0 + HEADER.0 + tag as u64 + 1;
        let what = format!("a packet of {} B; it must have {least} to 65507 B", packet.0);
        return Err(Error::Input(what));
    }
    let symbols = length.0.div_ceil(config.symbol.0).max(1);
    let needs = symbols.div_ceil(BLOCKS_MAX.into());
    let block_symbols = needs.next_multiple_of(BLOCK_SYMBOLS.into());
    config.block_symbols = u32::try_from(block_symbols).unwrap_or(u32::MAX);
    if config.block_symbols > BLOCK_SYMBOLS_MAX {
        let most = u64::from(BLOCKS_MAX) * u64::from(BLOCK_SYMBOLS_MAX) * config.symbol.0;
        let what =
            format!("{} bytes in packets of {} B; such packets carry at most {most}", length.0, packet.0);
        return Err(Error::Input(format!("{what}: send larger packets with --packet-size, or parts")));
    }
    config.digest = digest;
    config.real = real(light);
    Ok(config)
}
