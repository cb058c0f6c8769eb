//! The one place of transcendental functions: pure Rust, so that a result does not differ by
//! machine or C library.

pub use libm::{acos, asin, atan2, cbrt, cos, exp, hypot, log, log2, log10, pow, rint, sin, sqrt};
