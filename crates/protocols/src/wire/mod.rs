//! Bytes on the wire, and the values that they stand for.

pub mod bundle;
pub mod dccp;
pub mod interval;
pub mod ltp;
pub mod ndn;
pub mod session;
pub mod tcpcl;
pub mod udpdtn;
