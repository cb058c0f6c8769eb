//! LTP over UDP (RFC 5326, section 5; RFC 7122, section 3.3) on a real socket.
//!
//! A [`Station`] is an engine with a socket: one end of one link. The bytes of blocks are read from and
//! written to whatever is a [`Blocks`]; [`files`] has folders of files.

pub mod files;
pub(crate) mod station;

pub use station::{Blocks, Settings, Station};
