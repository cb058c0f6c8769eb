//! `liblightlag`: the sockets API through `lightlagd`, so that connections stay while what carries them changes.
//!
//! C takes it by `lightlag.h`; see `man 3 lightlag`. There is no state but the socket: a descriptor that is not connected
//! yet holds its [`options`], and becomes a socket of the kernel, under the same number, once it is.

#[allow(unsafe_code, reason = "C hands over pointers and descriptors")]
pub mod abi;
mod control;
pub mod error;
pub mod options;
pub mod patient;
pub mod service;
pub mod socket;
pub mod socks;
