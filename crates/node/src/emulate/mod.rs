//! Links in real time, as scenarios of packets describe them: between two addresses, or between two kernels'
//! stacks.

mod datagrams;
mod device;
mod lateness;
mod memory;
mod namespaces;
mod packets;
mod programs;
mod urgency;

pub use datagrams::{Emulating, Emulator};
pub use device::DEVICE;
pub use lateness::Lateness;
pub use memory::most_under_way;
pub use namespaces::{ADDRESSES, Namespaces};
pub use packets::{Between, PacketEmulator, Passing, Second, Watcher};
pub use programs::{Ended, Programs};
