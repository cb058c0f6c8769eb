//! Bytes on the wire, and the values that they stand for.

pub mod adaptive;
pub mod bundle;
pub mod dccp;
pub mod ltp;
pub mod ndn;
pub mod tcpcl;
pub mod udpdtn;
