//! The protocols of Lightlag on a real machine: sockets, files and the monotonic clock.
//!
//! A protocol is the same object that a simulated world runs. Here one loop per side owns a socket: it hands
//! over received packets, sends what the machine wants to send, writes and reads files, and sleeps until the
//! machine's deadline.

pub mod clock;
pub mod convergence;
pub mod emulate;
mod error;
mod files;
pub mod interrupt;
pub mod names;
mod places;
pub mod real_time;
mod refusals;
pub mod socket;
mod streams;
pub mod tap;
pub mod transfer;
pub mod transports;

pub use error::Error;
