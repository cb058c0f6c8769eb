//! The runs on real sockets and between kernels; they need the feature `real`.

#[cfg(feature = "real")]
mod kernels;
#[cfg(feature = "real")]
mod sockets;

#[cfg(feature = "real")]
pub use self::{kernels::transfer, sockets::connect};

#[cfg(not(feature = "real"))]
const LEFT_OUT: &str = "this program is built without sockets; install it with them: cargo install lightlag-cli --features daemon";

/// Refuses to make connections of DCCP.
///
/// # Errors
/// Always.
#[cfg(not(feature = "real"))]
pub fn connect(_: Vec<crate::dccp::sockets::Connection>) -> Result<Vec<crate::dccp::sockets::Seen>, String> {
    Err(LEFT_OUT.to_owned())
}

/// Refuses to make transfers between kernels.
///
/// # Errors
/// Always.
#[cfg(not(feature = "real"))]
pub fn transfer(_: Vec<crate::adaptive::real::Transfer>) -> Result<Vec<crate::adaptive::real::Seen>, String> {
    Err(LEFT_OUT.to_owned())
}
