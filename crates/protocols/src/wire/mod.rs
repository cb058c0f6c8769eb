//! Bytes on the wire, and the values that they stand for.

pub mod dccp;
pub mod ndn;
pub mod udpdtn;
